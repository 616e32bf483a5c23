//! Real engines load what the program saved, and the edit is found in what they say.
//!
//! Every test takes the unedited map's verdict first. Engines run without any game's data, bounded in time, with
//! networking off or on the loopback only. Where one is not installed its tests are skipped with a notice;
//! `BSPKIT_REQUIRE_ENGINES=1` makes that a failure. They are programs of Linux.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code)]
#[path = "../../../tests/edits/follow/beside.rs"]
mod beside;
#[path = "engines/client.rs"]
mod client;
#[path = "engines/darkplaces.rs"]
mod darkplaces;
#[allow(dead_code)]
#[path = "../../../tests/edits/follow/facts.rs"]
mod facts;
#[path = "engines/follow.rs"]
mod follow;
#[path = "engines/guide.rs"]
mod guide;
#[path = "engines/ioquake3.rs"]
mod ioquake3;
#[path = "engines/light.rs"]
mod light;
#[path = "engines/maps.rs"]
mod maps;
#[path = "engines/models.rs"]
mod models;
#[cfg(feature = "see")]
#[path = "engines/picture.rs"]
mod picture;
#[allow(dead_code)]
#[path = "guide/room.rs"]
mod room;
#[path = "engines/run.rs"]
mod run;
#[allow(dead_code)]
#[path = "../../../tests/edits/follow/shuffle.rs"]
mod shuffle;
#[allow(dead_code)]
#[path = "../../../tests/edits/follow/walk.rs"]
mod walk;

use darkplaces::DarkPlaces;
use ioquake3::{Ioquake3, Probe};
use maps::LAYOUTS;
use run::{Seen, Verdict, same_lines};

const QUAKE: [&str; 6] =
    ["q1/own_box", "q1/own_rooms", "q1/own_rooms_bspx", "bsp2/own_box", "bsp2/own_rooms", "bsp2/own_rooms_2psb"];
const QUAKE2: [&str; 3] = ["q2/own_box", "q2/own_rooms", "q2/own_rooms_bspx"];
const GOLDSRC: [&str; 3] = ["goldsrc/own_box", "goldsrc/own_rooms", "goldsrc/own_rooms_sdhlt"];
const QUAKE3: [&str; 2] = ["q3/own_box", "q3/own_rooms"];

/// A class no game knows, standing where every fixture has air.
const MARKER: [&str; 3] = ["add", "classname=own_marker", "origin=100 100 40"];

#[test]
fn ioquake3_finds_the_edit() {
    let Some(engine) = Ioquake3::find() else { return };
    for name in QUAKE3 {
        let map = maps::fixture(name);
        let old = engine.play(&std::fs::read(&map).unwrap()).loaded(name);
        assert_eq!((old.gravity.as_str(), old.unknown.len()), ("800", 0), "{name} before the edit");
        assert!(old.lines.iter().any(|line| line.ends_with("info_player_deathmatch")), "{name}: no list of entities");
        for layout in LAYOUTS {
            let folder = tempfile::tempdir().unwrap();
            let edited = maps::edit(&map, layout, &[&["set", "worldspawn", "gravity=321"], &MARKER], folder.path());
            let case = format!("{name}, {layout}");
            let new = engine.play(&std::fs::read(edited).unwrap()).loaded(&case);
            assert_eq!(new.gravity, "321", "{case}");
            assert_eq!(new.unknown, ["own_marker"], "{case}");
            assert_ne!(new.checksum, old.checksum, "{case}: the engine read the old file");
            same_lines(&old.lines, &new.lines).unwrap_or_else(|difference| panic!("{case}: {difference}"));
        }
    }
}

/// The sum that the program prints is the one that the engine computes, and the one for which its bots take a file of areas.
#[test]
fn ioquake3_computes_the_same_checksum() {
    let Some(engine) = Ioquake3::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    for name in QUAKE3 {
        let map = maps::fixture(name);
        let edited = maps::edit(&map, "append", &[&["set", "worldspawn", "gravity=321"]], folder.path());
        for path in [map, edited] {
            let bytes = std::fs::read(&path).unwrap();
            let sum = maps::checksum(&path);
            assert_eq!(engine.play(&bytes).loaded(name).checksum, sum, "{name}");
            let sum: i32 = sum.parse().unwrap();
            for version in [4, 5] {
                assert!(engine.takes_areas(&bytes, &maps::areas(version, sum)), "{name}, version {version}");
                assert!(!engine.takes_areas(&bytes, &maps::areas(version, sum ^ 1)), "{name}, version {version}");
            }
        }
    }
}

/// What --fix-aas writes is taken, and what it replaces is not.
#[test]
fn ioquake3_takes_a_fixed_file_of_areas() {
    let Some(engine) = Ioquake3::find() else { return };
    for version in [4, 5] {
        let folder = tempfile::tempdir().unwrap();
        let [map, areas] = ["t.bsp", "t.aas"].map(|name| folder.path().join(name));
        std::fs::copy(maps::fixture(QUAKE3[0]), &map).unwrap();
        std::fs::write(&areas, maps::areas(version, maps::checksum(&map).parse().unwrap())).unwrap();
        let read = |path| std::fs::read(path).unwrap();
        assert!(engine.takes_areas(&read(&map), &read(&areas)));
        maps::bspkit(&["ent", "set", map.to_str().unwrap(), "worldspawn", "gravity=321", "--in-place"]);
        assert!(!engine.takes_areas(&read(&map), &read(&areas)), "the edit made it stale");
        std::fs::copy(maps::fixture(QUAKE3[0]), &map).unwrap();
        maps::bspkit(&["ent", "set", map.to_str().unwrap(), "worldspawn", "gravity=321", "--in-place", "--fix-aas"]);
        assert!(engine.takes_areas(&read(&map), &read(&areas)), "version {version}");
    }
}

#[test]
fn ioquake3_sees_the_rest_unchanged() {
    let Some(engine) = Probe::find() else { return };
    for name in QUAKE3 {
        let map = maps::fixture(name);
        let old = engine.load(&std::fs::read(&map).unwrap()).loaded(name);
        assert_eq!(old.entities, maps::entities_of(&map), "{name} before the edit");
        for layout in LAYOUTS {
            let folder = tempfile::tempdir().unwrap();
            let edited = maps::edit(&map, layout, &[&["set", "worldspawn", "gravity=321"]], folder.path());
            let case = format!("{name}, {layout}");
            let mut new = engine.load(&std::fs::read(edited).unwrap()).loaded(&case);
            assert_eq!(maps::take_value(&mut new.entities, "gravity"), "321", "{case}");
            assert_eq!(new.entities, old.entities, "{case}");
            same_lines(&old.lines, &new.lines).unwrap_or_else(|difference| panic!("{case}: {difference}"));
        }
    }
}

#[test]
fn darkplaces_finds_the_edit_in_quake_maps() {
    darkplaces_finds_the_edit(&QUAKE);
}

#[test]
fn darkplaces_finds_the_edit_in_quake2_maps() {
    darkplaces_finds_the_edit(&QUAKE2);
}

/// A map that `pack` made of text files alone.
#[test]
fn darkplaces_loads_a_map_from_text_files() {
    let Some(engine) = DarkPlaces::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("box.bsp");
    let unpacked = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/box");
    maps::bspkit(&["pack", unpacked.to_str().unwrap(), "-o", map.to_str().unwrap()]);
    let seen = engine.load(&std::fs::read(&map).unwrap()).loaded("docs/box");
    assert_eq!(seen.entities, maps::entities_of(&map));
}

#[test]
fn darkplaces_finds_the_edit_in_goldsrc_maps() {
    darkplaces_finds_the_edit(&GOLDSRC);
}

#[test]
fn darkplaces_finds_the_edit_in_quake3_maps() {
    darkplaces_finds_the_edit(&QUAKE3);
}

/// A value that grows, one that shrinks, an entity more: each with each layout.
fn darkplaces_finds_the_edit(names: &[&str]) {
    let Some(engine) = DarkPlaces::find() else { return };
    let long = format!("The Place {}", "longer than before ".repeat(20).trim_end());
    for name in names {
        let map = maps::fixture(name);
        let old = engine.load(&std::fs::read(&map).unwrap()).loaded(name);
        assert_eq!(old.entities, maps::entities_of(&map), "{name} before the edit");
        for layout in LAYOUTS {
            let folder = tempfile::tempdir().unwrap();
            let load = |step: &[&str], case: &str| {
                let edited = maps::edit(&map, layout, &[step], folder.path());
                engine.load(&std::fs::read(edited).unwrap()).loaded(case)
            };
            for message in [long.as_str(), "x"] {
                let case = format!("{name}, {layout}, a message of {} bytes", message.len());
                let new = load(&["set", "worldspawn", &format!("message={message}")], &case);
                let mut entities = old.entities.clone();
                let value = entities[0].iter_mut().find(|(key, _)| key == "message").unwrap();
                message.clone_into(&mut value.1);
                assert_eq!(new.entities, entities, "{case}");
                same_lines(&darkplaces::lines_with_message(message, &old.lines), &new.lines)
                    .unwrap_or_else(|difference| panic!("{case}: {difference}"));
            }
            let case = format!("{name}, {layout}, an entity more");
            let mut new = load(&MARKER, &case);
            same_lines(&old.lines, &darkplaces::lines_without("own_marker", &new.lines))
                .unwrap_or_else(|difference| panic!("{case}: {difference}"));
            let marker = [("classname", "own_marker"), ("origin", "100 100 40")];
            let marker = marker.map(|(key, value)| (key.to_owned(), value.to_owned()));
            assert_eq!(maps::take_entity(&mut new.entities, "own_marker"), marker, "{case}");
            assert_eq!(new.entities, old.entities, "{case}");
        }
    }
}

#[test]
fn a_broken_map_is_refused() {
    let (quake3, darkplaces) = (Ioquake3::find(), DarkPlaces::find());
    if let Some(engine) = quake3 {
        let reason = engine.play(&maps::with_wrong_version(&maps::fixture("q3/own_rooms"))).refused("ioquake3");
        assert!(reason.contains("wrong version number (55 should be 46)"), "{reason}");
    }
    if let Some(engine) = darkplaces {
        for name in ["q1/own_rooms", "bsp2/own_rooms", "q2/own_rooms", "goldsrc/own_rooms", "q3/own_rooms"] {
            engine.load(&maps::with_wrong_version(&maps::fixture(name))).refused(name);
        }
    }
}

/// A law that cannot fail is no law: each lump in turn is said to lie where it does not, and the engine must refuse
/// the map or see something else in it.
///
/// The numbers are of lumps on which nothing depends that the engine says without a picture: other tests must guard
/// them.
#[test]
fn a_lump_in_the_wrong_place_is_noticed() {
    if let Some(engine) = DarkPlaces::find() {
        let load = |map: &[u8]| engine.load(map);
        // Lighting, the faces of leafs, areas and their portals.
        lumps_are_noticed("q2/own_rooms", load, &[7, 9, 17, 18]);
        // Lighting, the faces of leafs; visibility, as all rooms see each other.
        lumps_are_noticed("q1/own_rooms", load, &[4, 8, 11]);
        lumps_are_noticed("bsp2/own_rooms_2psb", load, &[4, 8, 11]);
        // Lighting, the faces of leafs.
        lumps_are_noticed("goldsrc/own_rooms", load, &[8, 11]);
        // The surfaces of leafs, lightmaps, the light grid.
        lumps_are_noticed("q3/own_rooms", load, &[5, 14, 15]);
    }
    if let Some(engine) = Probe::find() {
        // Shaders, the indices of drawn triangles, lightmaps, the light grid, visibility (all rooms see each other).
        lumps_are_noticed("q3/own_rooms", |map| engine.load(map), &[1, 11, 14, 15, 16]);
    }
}

/// `blind` lists the lumps whose wrong place may stay unnoticed.
fn lumps_are_noticed(name: &str, load: impl Fn(&[u8]) -> Verdict<Seen>, blind: &[usize]) {
    let map = maps::fixture(name);
    let old = load(&std::fs::read(&map).unwrap()).loaded(name);
    let (mut differing, mut missed) = (Vec::new(), Vec::new());
    for number in maps::lumps(&map) {
        if let Verdict::Loaded(new) = load(&maps::with_stale_offset(&map, number)) {
            let same = new.entities == old.entities && same_lines(&old.lines, &new.lines).is_ok();
            if same { missed.push(number) } else { differing.push(number) }
        }
    }
    assert!(missed.iter().all(|number| blind.contains(number)), "{name}: nothing was noticed in lumps {missed:?}");
    assert!(!differing.is_empty(), "{name}: every broken copy was refused, so no comparison was tried");
}
