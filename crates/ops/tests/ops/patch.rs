//! Patches and differences: that a difference leads where it says, that a patch does what it says, and that one that
//! does not fit says everything that does not.

mod model;
mod names;

use crate::{corpus, random};
use bspkit::content::entities::{Entities, Key};
use bspkit::dialect::EntityRules;
use bspkit::{Bsp, ErrorKind};
use bspkit_ops::diff::diff;
use bspkit_ops::patch::{Change, Expected, Match, Operation, Patch, Spot, Target};
use proptest::prelude::*;
use random::config;

fn parse(text: &[u8]) -> Entities<'_> {
    Entities::parse(text, EntityRules::QUAKE3).unwrap()
}

/// A text in the compilers' form.
fn text(entities: &[&[(&str, &str)]]) -> String {
    let pair = |(key, value): &(&str, &str)| format!("\"{key}\" \"{value}\"\n");
    let entity = |pairs: &&[(&str, &str)]| format!("{{\n{}}}\n", pairs.iter().map(pair).collect::<String>());
    format!("{}\0", entities.iter().map(entity).collect::<String>())
}

const WORLD: &[(&str, &str)] = &[("classname", "worldspawn"), ("message", "m")];
const LIGHT: &[(&str, &str)] = &[("classname", "light"), ("origin", "1 2 3"), ("light", "300")];
const DOOR: &[(&str, &str)] = &[("classname", "func_door"), ("model", "*1"), ("out", "a"), ("out", "b")];
const RELAY: &[(&str, &str)] = &[("targetname", "r"), ("classname", "relay")];

/// The law; and the patch, to be looked at.
#[track_caller]
fn leads(old: &str, new: &str) -> Patch {
    let (old, new) = (parse(old.as_bytes()), parse(new.as_bytes()));
    let patch = diff(&old, &new).unwrap();
    let got = patch.apply(&old).unwrap();
    assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(&new.to_bytes()), "{patch:#?}");
    patch
}

fn kinds(patch: &Patch) -> Vec<&'static str> {
    let kind = |operation: &Operation| match operation {
        Operation::Edit { .. } => "edit",
        Operation::Replace { .. } => "replace",
        Operation::Remove { .. } => "remove",
        Operation::Move { .. } => "move",
        Operation::Add { .. } => "add",
        Operation::AddText { .. } => "add text",
        Operation::Text { .. } => "text",
    };
    patch.operations.iter().map(kind).collect()
}

#[test]
fn entities_are_told_by_who_they_are() {
    let old = text(&[WORLD, LIGHT, DOOR, RELAY]);
    assert_eq!(kinds(&leads(&old, &old)), [""; 0]);
    // A value, a key, an order, an entity more and one less: one operation each.
    let brighter = [LIGHT[0], LIGHT[1], ("light", "200")];
    assert_eq!(kinds(&leads(&old, &text(&[WORLD, &brighter, DOOR, RELAY]))), ["edit"]);
    assert_eq!(kinds(&leads(&old, &text(&[WORLD, &brighter, RELAY, DOOR]))), ["edit", "move"]);
    assert_eq!(kinds(&leads(&old, &text(&[WORLD, RELAY, LIGHT, DOOR]))), ["move"]);
    assert_eq!(kinds(&leads(&old, &text(&[WORLD, DOOR, RELAY]))), ["remove"]);
    let null: &[_] = &[("classname", "info_null")];
    assert_eq!(kinds(&leads(&old, &text(&[WORLD, LIGHT, DOOR, null, null, RELAY, null]))), ["add"; 3]);
    let moved = [LIGHT[0], ("origin", "9 9 9"), LIGHT[2]];
    assert_eq!(kinds(&leads(&old, &text(&[WORLD, &moved, DOOR, RELAY]))), ["edit"]);
    let other = [RELAY[0], ("classname", "relay"), ("delay", "1")];
    assert_eq!(kinds(&leads(&old, &text(&[WORLD, &other, LIGHT, DOOR]))), ["edit", "move"]);
    // By `hammerid` before anything else.
    let (a, b) = ([("hammerid", "1"), ("origin", "0")], [("hammerid", "2"), ("origin", "1")]);
    let (a2, b2) = ([("hammerid", "1"), ("origin", "1")], [("hammerid", "2"), ("origin", "0")]);
    let patch = leads(&text(&[WORLD, &a, &b]), &text(&[WORLD, &a2, &b2]));
    assert_eq!(kinds(&patch), ["edit", "edit"]);
}

#[test]
fn pairs_change_by_key_and_number() {
    let old = text(&[WORLD, DOOR]);
    let with = |pairs: &[(&str, &str)]| text(&[WORLD, &[&DOOR[..2], pairs].concat()]);
    let changes = |new: &str| match &leads(&old, new).operations[..] {
        [Operation::Edit { changes, .. }] => changes.clone(),
        other => panic!("{other:?}"),
    };
    let key = |name: &str, nth| Key { name: name.into(), nth };
    let second = key("out", Some(2));
    assert_eq!(changes(&with(&[DOOR[2], ("out", "c")])), [Change::Set { key: second.clone(), value: b"c".to_vec() }]);
    assert_eq!(changes(&with(&[DOOR[2]])), [Change::Unset { key: second.clone() }]);
    assert_eq!(changes(&with(&[DOOR[3]])), [Change::Unset { key: key("out", Some(1)) }]);
    assert_eq!(changes(&with(&[DOOR[2], ("in", "b")])), [Change::Rename { key: second, to: b"in".to_vec() }]);
    let more = with(&[DOOR[2], DOOR[3], ("out", "b"), ("x", "")]);
    let added = Change::Add { key: b"out".to_vec(), value: b"b".to_vec() };
    assert_eq!(changes(&more), [added, Change::Set { key: key("x", None), value: Vec::new() }]);
    // No change of pairs gives another order of them.
    assert_eq!(kinds(&leads(&old, &with(&[("x", "1"), DOOR[2], DOOR[3]]))), ["replace"]);
}

#[test]
fn what_is_not_canonical_is_carried_as_it_is() {
    let old = text(&[WORLD, LIGHT, DOOR]);
    let door = "{\n\"classname\" \"func_door\"\n";
    assert_eq!(kinds(&leads(&old, &old.replace(door, "{ \"classname\"\t\"func_door\" // swings\n"))), ["replace"]);
    assert_eq!(kinds(&leads(&old, &old.replace("\0", "{ \"a\" b }\n\0"))), ["add text"]);
    for new in [
        old.replace("}\n{", "}\n\n{"),
        old.replace('\0', ""),
        old.replace('\0', "\0\0"),
        old.replace('\n', "\r\n"),
        "\0".to_owned(),
        String::new(),
        old.replace("}\n\0", ""),
    ] {
        assert_eq!(kinds(&leads(&old, &new)), ["text"], "{new}");
        leads(&new, &old);
    }
}

fn edit(index: usize, key: &str, old: Option<&str>, changes: Vec<Change>) -> Operation {
    let expect = vec![Expected { key: Key::literal(key), value: old.map(Into::into) }];
    Operation::Edit { on: Target::Index(index), expect, changes }
}

#[test]
fn everything_that_does_not_fit_is_said() {
    let old = text(&[WORLD, LIGHT, DOOR]);
    let operations = vec![
        edit(1, "light", Some("200"), Vec::new()),
        edit(1, "style", Some("1"), Vec::new()),
        edit(2, "model", None, Vec::new()),
        edit(7, "a", None, Vec::new()),
        Operation::Remove { on: Target::Select("info_*".parse().unwrap(), None), expect: Vec::new() },
        Operation::Remove { on: Target::Select("*".parse().unwrap(), Some(2)), expect: Vec::new() },
        Operation::Remove { on: Target::Match(Match::of([("classname", "x")])), expect: Vec::new() },
        Operation::Replace { on: Target::Index(1), old: Some(b"{ }".to_vec()), text: b"{}".to_vec() },
        Operation::Add { pairs: Vec::new(), to: Some(Spot::After(Target::Select("*".parse().unwrap(), None))) },
        Operation::Move { on: Target::Index(1), expect: Vec::new(), to: Spot::Before(Target::Index(1)) },
        Operation::Text { old: Some(1), text: Vec::new() },
    ];
    let patch = Patch { entities: Some(4), operations, result: None };
    let error = patch.apply(&parse(old.as_bytes())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.to_string(), "the patch does not fit: 12 of its expectations are not met");
    let hint = error.hint().unwrap().to_string();
    let told: Vec<&str> = hint.lines().collect();
    assert_eq!(told[0], "the map has 3 entities, and 4 were expected");
    assert_eq!(told[1], "operations[0]: #1: `light` is `300`, and `200` was expected");
    assert_eq!(told[2], "operations[1]: #1 has no `style`, and `1` was expected");
    assert_eq!(told[3], "operations[2]: #2: `model` is `*1`, and the key was expected not to be there");
    for (index, line) in told.iter().enumerate().skip(1) {
        assert!(line.starts_with(&format!("operations[{}]: ", index - 1)), "{line}");
    }
}

#[test]
fn operations_do_what_they_say() {
    let old = text(&[WORLD, LIGHT, DOOR, RELAY]);
    let apply = |operations: Vec<Operation>| {
        let patch = Patch { entities: None, operations, result: None };
        patch.apply(&parse(old.as_bytes())).map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let named = |name: &str| vec![(b"classname".to_vec(), name.as_bytes().to_vec())];
    let add = |name, to| Operation::Add { pairs: named(name), to };
    let at = Target::Match(Match::of([("classname", "light")]));
    let after = |target: &Target| Some(Spot::After(target.clone()));
    let new = apply(vec![
        add("one", after(&at)),
        Operation::Move { on: Target::Index(3), expect: Vec::new(), to: Spot::After(at.clone()) },
        add("two", after(&at)),
        add("three", Some(Spot::Before(Target::Index(3)))),
        add("last", None),
        Operation::Remove { on: at.clone(), expect: Vec::new() },
    ]);
    let class = |name: &'static str| [("classname", name)];
    let expected: [&[(&str, &str)]; 7] =
        [WORLD, &class("one"), &class("three"), RELAY, &class("two"), DOOR, &class("last")];
    assert_eq!(new.unwrap(), text(&expected));

    // What cannot be done is an error with its place, and so is what no engine could read back.
    let unset = |key: &str| edit(1, "light", Some("300"), vec![Change::Unset { key: Key::literal(key) }]);
    let error = apply(vec![unset("light"), unset("nope")]).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::NotFound, "operations[1] cannot be carried out")
    );
    let remove = Operation::Remove { on: Target::Index(0), expect: Vec::new() };
    assert_eq!(apply(vec![remove]).unwrap_err().kind(), ErrorKind::Refused);
    let open = Operation::Replace { on: Target::Index(1), old: None, text: b"{ \"a\" \"b\"".to_vec() };
    assert_eq!(apply(vec![open]).unwrap_err().kind(), ErrorKind::Argument);
    let two = Operation::Replace { on: Target::Index(1), old: None, text: b"{ } { }".to_vec() };
    assert_eq!(apply(vec![two]).unwrap_err().kind(), ErrorKind::Argument);
}

type Pairs = Vec<(&'static str, &'static str)>;

/// Many at once stand as if each had been moved alone, whatever stands between them.
#[test]
fn entities_that_are_moved_together_keep_their_order() {
    let lights: String = (0..6)
        .map(|at| format!("{{ \"classname\" \"light\" \"n\" \"{at}\" }}\n// {at}\n \n{{ \"a\" \"{at}\" }} "))
        .collect();
    let text = format!("{{ \"classname\" \"worldspawn\" }}\n{lights}\0");
    let entities = parse(text.as_bytes());
    let apply = |operations| Patch { entities: None, operations, result: None }.apply(&entities).unwrap();
    let moved = |on, to: &Spot| Operation::Move { on, expect: Vec::new(), to: to.clone() };
    for beside in [0, 2, 6, 8, 12] {
        let spots = [Spot::After(Target::Index(beside)), Spot::Before(Target::Index(beside))];
        for to in spots.into_iter().take(if beside == 0 { 1 } else { 2 }) {
            let together = vec![moved(Target::Select("light".parse().unwrap(), None), &to)];
            let alone = |index: usize| moved(Target::Index(index), &to);
            let alone: Vec<Operation> = entities.select("light").unwrap().into_iter().map(alone).collect();
            // Once more what no longer stands in the order that it had.
            let last = moved(Target::Index(11), &Spot::After(Target::Index(0)));
            let again = |mut operations: Vec<Operation>| {
                operations.insert(0, last.clone());
                operations
            };
            assert_eq!(apply(together.clone()), apply(alone.clone()), "{to:?}");
            assert_eq!(apply(again(together)), apply(again(alone)), "{to:?}");
        }
    }
}

/// Entities with keys and values from so few that they meet, in spacing that is odd now and then.
fn map() -> impl Strategy<Value = Vec<u8>> {
    let key =
        prop::sample::select(vec!["classname", "origin", "targetname", "hammerid", "model", "out", "OUT", "a#2", ""]);
    let value = prop::sample::select(vec!["light", "1", "2", "*1", "*2", "r", "", "{", "\u{e9}", "}"]);
    let pairs = prop::collection::vec((key, value), 0..6);
    let space = prop_oneof![20 => Just("\n"), 1 => Just(" "), 1 => Just("\r\n"), 1 => Just(" // x\n"), 1 => Just("")];
    let entity = (pairs, space.clone(), space).prop_map(|(pairs, inner, outer): (Pairs, _, _)| {
        let pair = |(key, value): (&str, &str)| format!("\"{key}\" \"{value}\"{inner}");
        format!("{{{inner}{}}}{outer}", pairs.into_iter().map(pair).collect::<String>())
    });
    let end = prop_oneof![20 => Just("\0"), 1 => Just(""), 1 => Just("\0\0"), 1 => Just("{ \"a"), 1 => Just("stray\0")];
    let world = prop_oneof![9 => Just("{\n\"classname\" \"worldspawn\"\n}\n"), 1 => Just("")];
    let all = (world, prop::collection::vec(entity, 0..8), end);
    all.prop_map(|(world, entities, end)| [world, &entities.concat(), end].concat().into_bytes())
}

proptest! {
    #![proptest_config(config(1500, "tests/proptest-regressions/patch.txt"))]

    #[test]
    fn a_difference_leads_to_the_other_text(old in map(), new in map(), source: bool) {
        let rules = if source { EntityRules::SOURCE } else { EntityRules::QUAKE3 };
        let old = Entities::parse(&old[..], rules).unwrap();
        let patch = diff(&old, &Entities::parse(&new[..], rules).unwrap()).unwrap();
        prop_assert_eq!(patch.apply(&old).unwrap(), new);
    }
}

/// Of maps that follow each other, versions of one map among them.
#[test]
fn differences_of_real_maps_lead_from_one_to_the_other() {
    let maps = corpus::maps();
    let (mut count, mut whole) = (0, 0);
    for two in maps.windows(2) {
        let [Ok(old), Ok(new)] = [&two[0], &two[1]].map(Bsp::open) else { continue };
        let (Ok(from), Ok(to)) = (old.entities(), new.entities()) else { continue };
        if old.dialect().name != new.dialect().name {
            continue;
        }
        for (from, to) in [(&from, &to), (&to, &from)] {
            let patch = diff(from, to).unwrap();
            assert!(patch.apply(from).unwrap() == to.to_bytes(), "{:?}", two);
            count += 1;
            let is_whole = matches!(patch.operations[..], [Operation::Text { .. }]);
            whole += usize::from(is_whole);
            if is_whole {
                eprintln!("the whole text: {two:?}");
            }
        }
    }
    eprintln!("{count} differences, {whole} of them the whole text");
}

/// An edit of an entity that an earlier operation removes would be lost.
#[test]
fn a_removed_entity_is_not_edited() {
    let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
    let set = Change::Set { key: Key::literal("light"), value: b"1".to_vec() };
    let edit = Operation::Edit { on: Target::Index(7), expect: Vec::new(), changes: vec![set] };
    let remove = Operation::Remove { on: Target::Index(7), expect: Vec::new() };
    let apply = |operations: [&Operation; 2]| {
        let operations = operations.map(Operation::clone).to_vec();
        Patch { entities: None, operations, result: None }.apply_to(map.draft().entities().unwrap())
    };
    apply([&edit, &remove]).unwrap();
    let error = apply([&remove, &edit]).unwrap_err();
    assert_eq!(error.to_string(), "operations[1] cannot be carried out");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "operations[0] removes entity 7");
}
