//! What an edit touches, and what differs between two maps: everything that differs is named, and nothing else is.

mod files;
mod followed;
mod identity;
mod models;
mod rest;
mod whole;

use crate::{corpus, named, random};
use std::path::Path;

use bspkit::content::entities::Entities;
use bspkit::content::lightmap::Adjustment;
use bspkit::content::visibility::VisSet;
use bspkit::dialect::quake2;
use bspkit::{Bsp, Compression, Draft, ErrorKind, Layout};
use bspkit_ops::compare::{self, Change, Comparison, EntityChange, How, Touched};
use named::lines;
use proptest::prelude::*;
use random::config;

fn fixture(name: &str) -> Bsp<'static> {
    Bsp::open(format!("../../tests/maps/{name}.bsp")).unwrap()
}

fn saved(draft: &Draft<'_>) -> Bsp<'static> {
    Bsp::from_data(draft.plan(Layout::Keep).unwrap().to_vec().into(), Some(draft.bsp().dialect())).unwrap()
}

/// What the draft touches, which the saved map shows too.
#[track_caller]
fn touched(draft: &Draft<'_>) -> Comparison {
    let found = compare::draft(draft, 1000).unwrap();
    assert_eq!(compare::maps(draft.bsp(), &saved(draft), 1000).unwrap(), found);
    found
}

/// One byte in each slot, at its start, its middle and its end: that slot is named, and no other one.
fn every_slot_is_named(map: &Bsp<'static>, name: &str) {
    assert!(compare::maps(map, map, 10).unwrap().lumps.is_empty(), "{name}");
    for slot in map.slots() {
        let Ok(bytes) = map.bytes(slot.id) else { continue };
        let places = [0, bytes.len() / 2, bytes.len().saturating_sub(1)];
        for at in places.into_iter().take(if bytes.len() > 1 << 20 { 1 } else { 3 }).filter(|at| *at < bytes.len()) {
            let mut new = bytes.to_vec();
            new[at] ^= 1;
            let mut draft = map.draft();
            if draft.set(slot.id, new).is_err() {
                continue;
            }
            let found = compare::draft(&draft, 10).unwrap();
            let names: Vec<&str> = found.lumps.iter().map(|lump| &*lump.lump).collect();
            assert_eq!(names, [&*slot.name], "{name}, byte {at} of {}", slot.name);
            assert!(!found.touched().is_empty() && !found.lumps[0].changes.is_empty(), "{name}: {found:?}");
        }
    }
}

#[test]
fn every_slot_of_every_family_is_named() {
    for path in corpus::under(Path::new("../../tests/maps")) {
        every_slot_is_named(&Bsp::open(&path).unwrap(), &path.display().to_string());
    }
}

#[test]
fn every_slot_of_real_maps_is_named() {
    for path in corpus::maps() {
        if let Ok(map) = Bsp::open(&path) {
            every_slot_is_named(&map, &path.display().to_string());
        }
    }
}

#[test]
fn what_a_draft_does_to_entities_is_told_as_it_was_done() {
    let map = fixture("q2/own_rooms");
    let mut draft = map.draft();
    let entities = draft.entities().unwrap();
    let last = entities.len() - 1;
    entities.get_mut(1).unwrap().set("angle", "90").unwrap();
    entities.get_mut(1).unwrap().set("origin", "1 2 3").unwrap();
    entities.get_mut(2).unwrap().unset("origin").unwrap();
    entities.move_all_before(&[last], 1).unwrap();
    entities.remove_all(&[4]).unwrap();
    entities.add([("classname", "light"), ("targetname", "new")]).unwrap();
    let found = compare::draft(&draft, 1000).unwrap();
    let how = |change: &Change| match change {
        Change::Entity(EntityChange { how, index, from, keys, .. }) => (*how, *index, *from, keys.len()),
        other => panic!("{other:?}"),
    };
    let changes: Vec<_> = found.lumps[0].changes.iter().map(how).collect();
    assert_eq!(
        changes,
        [
            (How::Moved, 1, Some(last), 0),
            (How::Changed, 2, Some(1), 2),
            (How::Changed, 3, Some(2), 1),
            (How::Added, last, None, 2),
            (How::Removed, 3, None, 3),
        ]
    );
    assert_eq!(found.touched().to_string(), "5 entities, 3 values");
}

/// Lights on a grid that all move by the grid's step: by their values each one seems to be its neighbor.
#[test]
fn entities_that_take_the_place_of_others_are_not_mixed_up() {
    let map = fixture("q2/own_rooms");
    let mut draft = map.draft();
    let lights = "{\n\"classname\" \"light\"\n\"origin\" \"0 0 A\"\n}\n";
    let column: String = (0..5).map(|at| lights.replace('A', &(at * 8).to_string())).collect();
    let text = format!("{{\n\"classname\" \"worldspawn\"\n}}\n{column}\0");
    draft.set(map.slot("entities").unwrap().id, text.into_bytes()).unwrap();
    let mut draft = saved(&draft).draft();
    for index in 1..=5 {
        draft.entities().unwrap().get_mut(index).unwrap().set("origin", format!("0 0 {}", index * 8)).unwrap();
    }
    let found = compare::draft(&draft, 10).unwrap();
    assert_eq!(lines(&found)[0], "entity 1 light: origin \"0 0 0\" -> \"0 0 8\"");
    assert_eq!(found.touched().to_string(), "5 entities, 5 values");
}

#[test]
fn spacing_alone_is_not_a_value() {
    let map = fixture("q2/own_rooms");
    let mut draft = map.draft();
    let id = map.slot("entities").unwrap().id;
    let text = String::from_utf8(map.bytes(id).unwrap().to_vec()).unwrap();
    draft.set(id, text.replacen("\"classname\" ", "\"classname\"   ", 1).into_bytes()).unwrap();
    assert_eq!(lines(&touched(&draft)), ["entity 0 worldspawn rewritten with the same content"]);
    draft.set(id, text.replacen("}\n{", "}\n// lights\n{", 1).into_bytes()).unwrap();
    let found = touched(&draft);
    assert_eq!((found.touched().bytes, found.touched().entities), (10, 0), "{found:?}");
}

#[test]
fn fields_of_records_have_both_values() {
    let mut draft = fixture("q2/own_rooms").draft();
    draft.update(quake2::PLANES, 3, |plane| plane.distance = 8.5).unwrap();
    draft.update(quake2::TEXINFO, 0, |texinfo| texinfo.flags |= 1 << 31).unwrap();
    let found = touched(&draft);
    assert_eq!(lines(&found), ["PLANES[3]: distance 768 -> 8.5", "TEXINFO[0]: flags 0 -> SCROLLFLIP"]);
    assert_eq!(found.touched().to_string(), "2 records");
}

#[test]
fn records_that_are_gone_are_told_from_those_that_change() {
    let map = fixture("q2/own_rooms");
    let (id, mut draft) = (map.slot("planes").unwrap().id, map.draft());
    let mut planes = map.bytes(id).unwrap().to_vec();
    planes[40 * 20..][..4].copy_from_slice(&[1, 2, 3, 4]);
    planes.drain(10 * 20..12 * 20);
    draft.set(id, planes).unwrap();
    let found = touched(&draft);
    assert_eq!(lines(&found)[..1], ["PLANES[10..12] removed"]);
    assert!(lines(&found)[1].starts_with("PLANES[38]: normal[0] "), "{:?}", lines(&found));
    assert_eq!(found.touched().to_string(), "3 records");
    let few = compare::draft(&draft, 1).unwrap();
    assert_eq!((few.lumps[0].changes.len(), few.lumps[0].more, few.touched()), (1, 1, found.touched()));
}

#[test]
fn files_are_told_by_their_names_and_their_content() {
    let mut draft = fixture("source/room_v20").draft();
    let pak = draft.pak().unwrap();
    pak.remove(&(0..pak.len()).collect::<Vec<_>>()).unwrap();
    ["a.txt", "b.txt", "c.txt", "d.txt"].iter().for_each(|name| assert!(pak.add(name, format!("of {name}")).is_ok()));
    pak.add("long.txt", "x".repeat(400)).unwrap();
    let mut draft = saved(&draft).draft();
    let pak = draft.pak().unwrap();
    pak.add("a.txt", "other").unwrap();
    let at = |pak: &bspkit::content::pak::Pak<'_>, name: &str| pak.one(name).unwrap();
    pak.rename(at(pak, "b.txt"), "e.txt").unwrap();
    pak.remove(&[at(pak, "c.txt")]).unwrap();
    pak.add("new.txt", "new").unwrap();
    pak.compress(&[at(pak, "long.txt")], 1, Default::default()).unwrap();
    let found = touched(&draft);
    let mut lines = lines(&found);
    lines.sort();
    let wanted = [
        "PAKFILE: a.txt changed, 8 -> 5 bytes",
        "PAKFILE: b.txt -> e.txt, 8 bytes",
        "PAKFILE: c.txt removed, 8 bytes",
        "PAKFILE: long.txt rewritten with the same content, 400 bytes",
        "PAKFILE: new.txt added, 3 bytes",
    ];
    assert_eq!((&lines[..], found.touched().to_string()), (&wanted.map(str::to_owned)[..], "5 files".to_owned()));
}

#[test]
fn luxels_are_counted_for_each_face_and_page() {
    for name in ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
        let map = fixture(name);
        let mut draft = map.draft();
        let darker = Adjustment { gain: 0.5, ..Adjustment::default() };
        let light = draft.light().unwrap();
        let chosen = light.sets()[0].blocks()[1 % light.sets()[0].blocks().len()].index();
        let changed = light.adjust(&darker, |set, block, _| set.name() != "hdr" && block.index() == chosen).unwrap();
        let found = touched(&draft);
        assert_eq!(
            found.touched(),
            {
                let mut all = Touched::default();
                all.luxels = changed;
                all
            },
            "{name}"
        );
        let [Change::Light(light)] = &found.lumps[0].changes[..] else { panic!("{name}: {found:?}") };
        assert_eq!((light.index, light.luxels, light.is_page), (chosen, changed, name.starts_with("q3")), "{name}");
    }
}

/// Light that is opened after half of the faces are gone is told by the faces of both maps.
#[test]
fn luxels_of_faces_that_are_gone_count_though_light_is_open() {
    let map = fixture("q2/own_rooms");
    let mut draft = map.draft();
    let faces = map.slot("FACES").unwrap().id;
    let half = draft.bytes(faces).unwrap().len() / 40 * 20;
    draft.set(faces, draft.bytes(faces).unwrap()[..half].to_vec()).unwrap();
    let darker = Adjustment { gain: 0.5, ..Adjustment::default() };
    draft.light().unwrap().adjust(&darker, |_, _, _| true).unwrap();
    assert!(touched(&draft).touched().luxels > 0);
}

#[test]
fn textures_and_rows_of_visibility_are_named() {
    let mut draft = fixture("goldsrc/own_rooms").draft();
    draft.textures().unwrap().rename(1, b"other").unwrap();
    let [line] = &lines(&touched(&draft))[..] else { panic!() };
    assert!(line.starts_with("TEXTURES[1]: ") && line.ends_with(" -> other"), "{line}");

    let mut draft = fixture("q3/own_rooms").draft();
    let sees = draft.visibility().unwrap().sees(1, 0).unwrap();
    draft.visibility().unwrap().set(VisSet::Pvs, 1, 0, !sees).unwrap();
    let (more, fewer) = if sees { (0, 1) } else { (1, 0) };
    assert_eq!(lines(&touched(&draft)), [format!("VISIBILITY: PVS of 1, {more} more visible, {fewer} fewer")]);
}

#[test]
fn compression_and_versions_are_changes_too() {
    let map = fixture("source/room_v20");
    let mut draft = map.draft();
    let planes = map.slot("planes").unwrap().id;
    draft.set_compression(planes, Compression::Lzma).unwrap();
    draft.set_version(map.slot("models").unwrap().id, 7).unwrap();
    let found = touched(&draft);
    assert_eq!(lines(&found), ["PLANES: compressed", "MODELS: version 0 -> 7"]);
    assert!(found.touched().is_empty());
}

#[test]
fn maps_of_two_dialects_are_refused() {
    let error = compare::maps(&fixture("q2/own_rooms"), &fixture("q3/own_rooms"), 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

/// One thing done to an entity.
#[derive(Clone, Debug)]
enum Edit {
    Set(usize, u8),
    Remove(usize),
    Move(usize, usize),
    Add,
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = 1..100_usize;
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(at, value)| Edit::Set(at, value)),
        at.clone().prop_map(Edit::Remove),
        (at.clone(), at).prop_map(|(at, to)| Edit::Move(at, to)),
        Just(Edit::Add),
    ]
}

proptest! {
    #![proptest_config(config(200, "tests/proptest-regressions/compare.txt"))]

    /// Random edits of entities, beside a list of who they were.
    #[test]
    fn edits_of_entities_are_told_as_they_were_done(edits in proptest::collection::vec(edit(), 1..12)) {
        let map = fixture("q2/own_rooms");
        let mut draft = map.draft();
        let old = map.entities().unwrap();
        let entities: &mut Entities<'_> = draft.entities().unwrap();
        let mut who: Vec<Option<usize>> = (0..entities.len()).map(Some).collect();
        for edit in edits {
            let at = |number: usize, who: &[Option<usize>]| 1 + number % (who.len() - 1);
            match edit {
                Edit::Set(number, value) => {
                    entities.get_mut(at(number, &who)).unwrap().set("light", value.to_string()).unwrap();
                }
                Edit::Remove(_) if who.len() < 4 => {}
                Edit::Remove(number) => {
                    entities.remove_all(&[at(number, &who)]).unwrap();
                    who.remove(at(number, &who));
                }
                Edit::Move(from, to) => {
                    let (from, to) = (at(from, &who), at(to, &who));
                    if from != to {
                        entities.move_all_after(&[from], to).unwrap();
                        let moved = who.remove(from);
                        who.insert(if from < to { to } else { to + 1 }, moved);
                    }
                }
                Edit::Add => {
                    entities.add([("classname", "info_null")]).unwrap();
                    who.push(None);
                }
            }
        }
        let entities = entities.clone();
        let found = compare::draft(&draft, 1000).unwrap();
        let changes: Vec<&EntityChange> = found.lumps.iter().flat_map(|lump| &lump.changes).map(|change| match change {
            Change::Entity(change) => change,
            other => panic!("{other:?}"),
        }).collect();
        let of = |how: How| changes.iter().filter(|change| change.how == how).map(|change| change.index).collect::<Vec<_>>();
        let at = |is: fn(&Option<usize>) -> bool| who.iter().enumerate().filter(|(_, who)| is(who)).map(|(at, _)| at).collect::<Vec<_>>();
        prop_assert_eq!(of(How::Added), at(Option::is_none));
        prop_assert_eq!(of(How::Removed), (0..old.len()).filter(|index| !who.contains(&Some(*index))).collect::<Vec<_>>());
        // Those that are not moved are in their old order, and they have their old values unless they changed.
        let moved = of(How::Moved);
        let stayed: Vec<usize> = who.iter().enumerate().filter(|(at, _)| !moved.contains(at)).filter_map(|(_, who)| *who).collect();
        prop_assert!(stayed.is_sorted(), "{:?} {:?}", who, moved);
        for (index, from) in who.iter().enumerate().filter_map(|(index, from)| Some((index, (*from)?))) {
            let (before, after) = (old.get(from).unwrap(), entities.get(index).unwrap());
            let change = changes.iter().find(|change| change.index == index && change.how != How::Removed);
            let is_same = before.get("light") == after.get("light");
            prop_assert_eq!(change.is_none_or(|change| change.keys.is_empty()), is_same, "{}", index);
            prop_assert!(change.is_none_or(|change| change.from == (from != index || change.how == How::Moved).then_some(from)));
        }
    }
}

/// A reader of a review sees what is new without another tool, and equal keys in another order are another content.
#[test]
fn pairs_of_new_and_gone_entities_and_the_order_of_equal_keys_are_listed() {
    let map = fixture("q2/own_rooms");
    let lines = |edit: &dyn Fn(&mut Draft<'_>)| {
        let mut draft = map.draft();
        edit(&mut draft);
        let found = touched(&draft);
        let all = found.lumps[0].changes.iter().map(|change| change.line("ENTITIES").to_string());
        (all.collect::<Vec<_>>(), found.touched())
    };
    let (added, counts) = lines(&|draft| {
        draft.entities().unwrap().add([("classname", "info_null"), ("origin", "1 2 3"), ("x", "y")]).unwrap();
    });
    assert_eq!(added, ["entity 20 info_null added: origin \"1 2 3\"; x \"y\""]);
    assert_eq!((counts.entities, counts.values), (1, 0));
    let (removed, _) = lines(&|draft| draft.entities().unwrap().remove(6).unwrap());
    assert!(removed[0].starts_with("entity 6 light removed: origin \""), "{removed:?}");

    let text = |first: &str, second: &str| {
        let pairs = format!("\"out\" \"{first}\"\n\"x\" \"1\"\n\"out\" \"{second}\"\n\"y\" \"2\"\n");
        format!("{{\n\"classname\" \"worldspawn\"\n{pairs}}}\n\0").into_bytes()
    };
    let id = map.role(bspkit::dialect::Role::Entities).unwrap().id;
    let mut draft = map.draft();
    draft.set(id, text("a", "b")).unwrap();
    let old = saved(&draft);
    let other =
        String::from_utf8(text("b", "a")).unwrap().replace("\"x\" \"1\"\n", "").replace("\"y\"", "\"x\" \"1\"\n\"y\"");
    draft.set(id, other.into_bytes()).unwrap();
    let found = compare::maps(&old, &saved(&draft), 10).unwrap();
    let line = found.lumps[0].changes[0].line("ENTITIES").to_string();
    assert_eq!(line, "entity 0 worldspawn: out \"a\" -> \"b\"; out \"b\" -> \"a\"");
}
