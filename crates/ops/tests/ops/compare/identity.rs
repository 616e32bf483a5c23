//! Which entity of one map is which of another: an entity is only said to have changed if something speaks for it.

use bspkit::Bsp;
use bspkit_ops::compare::{self, Change, How};

use super::named::lines;
use super::{fixture, saved};

/// A map with this text of entities.
fn with_text(text: &str) -> Bsp<'static> {
    let map = fixture("q2/own_rooms");
    let mut draft = map.draft();
    draft.set(map.slot("ENTITIES").unwrap().id, [text.as_bytes(), &[0]].concat()).unwrap();
    saved(&draft)
}

/// An entity of these pairs.
fn entity(pairs: &[(&str, &str)]) -> String {
    let pairs: String = pairs.iter().map(|(key, value)| format!("\"{key}\" \"{value}\"\n")).collect();
    format!("{{\n{pairs}}}\n")
}

fn world(rest: &str) -> Bsp<'static> {
    with_text(&(entity(&[("classname", "worldspawn")]) + rest))
}

#[track_caller]
fn differ(old: &str, new: &str) -> Vec<String> {
    lines(&compare::maps(&world(old), &world(new), 1000).unwrap())
}

/// All origins differ, and one entity is gone: without a limit of comparisons, their targets say which is which.
#[test]
fn many_entities_are_not_paired_by_their_order() {
    const MANY: usize = 3000;
    let all = |scale: usize, without: usize| -> String {
        let one = |at: usize| {
            let (origin, target) = (format!("{} {} {scale}", at * scale, at % 7), format!("t{at}"));
            entity(&[("classname", "light"), ("origin", &origin), ("target", &target), ("style", "3")])
        };
        (1..MANY).filter(|at| *at != without).map(one).collect()
    };
    let found = compare::maps(&world(&all(8, 0)), &world(&all(9, 1000)), 10_000).unwrap();
    let changes = &found.lumps[0].changes;
    let hows = found.lumps[0].hows;
    assert_eq!((hows.removed, hows.added, hows.changed), (1, 0, MANY - 2), "{hows:?}");
    for change in changes {
        let Change::Entity(entity) = change else { panic!("{change:?}") };
        let is_place = |key: &[u8]| key == b"origin";
        let is_right = match entity.how {
            How::Removed => entity.index == 1000,
            _ => entity.keys.len() == 1 && is_place(&entity.keys[0].key),
        };
        assert!(is_right, "{entity:?}");
    }
}

/// Nothing says which light is which, so that none is said to have changed.
#[test]
fn many_entities_without_evidence_are_removed_and_added() {
    let all = |scale: i64, count: i64| -> String {
        let one = |at: i64| {
            let origin = format!("{} {} {}", at * scale, (at * at * scale) % 911, scale);
            entity(&[("classname", "light"), ("origin", &origin), ("light", "300")])
        };
        (1..=count).map(one).collect()
    };
    let found = compare::maps(&world(&all(8, 3000)), &world(&all(9, 2990)), 10).unwrap();
    let hows = found.lumps[0].hows;
    assert_eq!((hows.changed, hows.moved), (0, 0), "{hows:?}");
    assert_eq!((hows.removed, hows.added), (3000, 2990));
}

#[test]
fn entities_that_all_moved_by_one_distance_are_the_same_ones() {
    let all = |by: usize| -> String {
        let one = |at: usize| {
            let origin = format!("{} {} 64.5", at * 3 + by, at * at % 517);
            entity(&[("classname", "light"), ("origin", &origin), ("light", "300")])
        };
        (1..3000).map(one).collect()
    };
    let hows = compare::maps(&world(&all(0)), &world(&all(20_000)), 10).unwrap().lumps[0].hows;
    assert_eq!((hows.changed, hows.removed, hows.added), (2999, 0, 0), "{hows:?}");
}

#[test]
fn another_class_is_a_change_if_something_speaks_for_it() {
    let old = [("classname", "trigger_once"), ("origin", "8 8 8"), ("message", "the gate opens"), ("wait", "2")];
    let new = [("classname", "trigger_relay"), ("origin", "16 8 8"), ("message", "the gate opens"), ("wait", "2")];
    let wanted =
        "entity 1 trigger_relay: classname \"trigger_once\" -> \"trigger_relay\"; origin \"8 8 8\" -> \"16 8 8\"";
    assert_eq!(differ(&entity(&old), &entity(&new)), [wanted]);
    // The name.
    let named = |class: &str, origin: &str| entity(&[("classname", class), ("targetname", "gate"), ("origin", origin)]);
    let wanted = "entity 1 func_b \"gate\": classname \"func_a\" -> \"func_b\"; origin \"1 0 0\" -> \"2 0 0\"";
    assert_eq!(differ(&named("func_a", "1 0 0"), &named("func_b", "2 0 0")), [wanted]);
    // The place, if no other entity is there.
    let at = |class: &str, origin: &str| entity(&[("classname", class), ("origin", origin), (class, "1")]);
    assert_eq!(differ(&at("a", "5 5 5"), &at("b", "5 5 5")).len(), 1);
}

#[test]
fn another_class_is_another_entity_if_nothing_speaks_for_it() {
    let one = |class: &str, origin: &str| entity(&[("classname", class), ("origin", origin), ("wait", "2")]);
    let found = differ(&one("a", "8 8 8"), &one("b", "16 8 8"));
    assert_eq!(
        found,
        ["entity 1 b added: origin \"16 8 8\"; wait \"2\"", "entity 1 a removed: origin \"8 8 8\"; wait \"2\""]
    );
    // Many entities are at the origin.
    let at = |class: &str| entity(&[("classname", class), ("origin", "0 0 0"), (class, "1")]);
    assert_eq!(differ(&at("a"), &at("b")).len(), 2);
    let place = |class: &str| {
        entity(&[("classname", "marker"), ("origin", "5 5 5"), ("x", "1")]) + &at(class).replace('0', "5")
    };
    assert_eq!(differ(&place("a"), &place("b")).len(), 2);
}

/// Of several with one name the ones that have the most in common are the same.
#[test]
fn entities_of_one_name_are_told_apart_by_what_they_have_in_common() {
    let one = |origin: &str, health: &str| {
        entity(&[("classname", "func_wall"), ("targetname", "w"), ("origin", origin), ("health", health)])
    };
    let old = [one("1 0 0", "10"), one("2 0 0", "20"), one("3 0 0", "30")].concat();
    let new = [one("2 0 0", "25"), one("3 0 0", "30")].concat();
    let found = differ(&old, &new);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], "entity 1 func_wall \"w\", 2 before: health \"20\" -> \"25\"");
    assert!(found[1].starts_with("entity 1 func_wall \"w\" removed"), "{found:?}");
}

/// Of two that are as much alike, the one between the same others.
#[test]
fn an_entity_is_the_one_between_the_same_others() {
    let light = |origin: &str| entity(&[("classname", "light"), ("origin", origin), ("light", "300")]);
    let mark = |name: &str| entity(&[("classname", "info_null"), ("targetname", name)]);
    let old = [light("1 0 0"), mark("a"), light("2 0 0"), mark("b"), light("3 0 0")].concat();
    let new = [mark("a"), light("9 0 0"), mark("b"), light("3 0 0")].concat();
    let found = differ(&old, &new);
    assert_eq!(found[0], "entity 2 light, 3 before: origin \"2 0 0\" -> \"9 0 0\"", "{found:?}");
    assert!(found.len() == 2 && found[1].starts_with("entity 1 light removed"), "{found:?}");
}

/// Values that every entity of a class has say nothing.
#[test]
fn props_with_another_model_at_another_place_are_other_ones() {
    let prop = |origin: &str, model: &str, skin: &str| {
        let defaults =
            [("fademaxdist", "0"), ("fademindist", "-1"), ("fadescale", "1"), ("health", "0"), ("solid", "6")];
        let own = [("classname", "prop_dynamic"), ("origin", origin), ("model", model), ("skin", skin)];
        entity(&[&own[..], &defaults].concat())
    };
    let found = differ(&prop("1 0 0", "models/a.mdl", "1"), &prop("9 9 9", "models/b.mdl", "0"));
    assert!(found.len() == 2 && found[0].contains(" added: ") && found[1].contains(" removed: "), "{found:?}");
    // One that only moved, and one with another model at its place.
    assert_eq!(differ(&prop("1 0 0", "models/a.mdl", "1"), &prop("9 9 9", "models/a.mdl", "1")).len(), 1);
    assert_eq!(differ(&prop("1 0 0", "models/a.mdl", "1"), &prop("1 0 0", "models/b.mdl", "0")).len(), 1);
}
