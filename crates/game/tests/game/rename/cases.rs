//! Cases by name, and real maps.

use bspkit::{Bsp, ErrorKind, Layout};
use bspkit_game::rename::{FILES, Rename, Spot, owners};

use super::corpus;
use super::law::{all, rename};

const ROOMS: [&str; 6] = ["room_v19", "room_v20", "room_v20_lzma", "room_v21", "room_l4d2", "room_strata"];

pub(super) fn room(name: &str) -> Bsp<'static> {
    Bsp::open(format!("../../tests/maps/source/{name}.bsp")).unwrap()
}

#[test]
fn the_laws_hold_for_the_rooms() {
    for name in ROOMS {
        let old = owners(&room(name)).unwrap()[0].name.clone();
        for new in ["own_arena", "x", "room", "room_v20b", "a_name_that_is_longer_than_the_old_one_by_some_letters"] {
            let done =
                all(&room(name), &old, new.as_bytes(), &rename).unwrap_or_else(|error| panic!("{name} {new}: {error}"));
            assert!(done.unwrap().changes.len() >= 3, "{name}");
        }
    }
}

/// Every real map, by each of the names that its paths have.
#[test]
fn the_laws_hold_for_real_maps() {
    let (mut tried, mut changes) = (0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let Ok(found) = owners(&map) else { continue };
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned().into_bytes();
        for name in found.into_iter().map(|owner| owner.name).chain([stem]) {
            for new in ["own_arena", "b"] {
                // Names of files that no map can have.
                if Rename::new(&name, new).is_err() {
                    continue;
                }
                let done = all(&map, &name, new.as_bytes(), &rename);
                let done = done.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                tried += usize::from(done.is_some());
                changes += done.map_or(0, |done| done.changes.len());
            }
        }
    }
    eprintln!("{tried} renamings, {changes} changes");
    assert!(corpus::maps().is_empty() || tried > 100);
}

/// The guide lists every place where engines look for files by the name of a map.
#[test]
fn the_guide_has_the_table() {
    let guide = std::fs::read_to_string("../../docs/guide.md").unwrap();
    for (before, _) in FILES {
        assert!(guide.contains(&format!("`{before}NAME")), "no {before}NAME in docs/guide.md");
    }
}

#[test]
fn names_that_no_engine_takes_are_refused() {
    for name in [
        "",
        "a b",
        "a/b",
        "a\\b",
        "a:b",
        "a\"b",
        "caf\u{e9}",
        ".a",
        "-a",
        "a.",
        "a*b",
        "a;b",
        "a.bsp",
        "Maps",
        "con",
        "Com1.x",
        &"a".repeat(55),
    ] {
        let error = Rename::new("a", name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{name}");
    }
    for name in ["a", "$2000$", "rc_deathmatch2_ALPHA", "starwars~2", "a.b", "a-b", "a+b", &"a".repeat(54)] {
        Rename::new(name, name).unwrap();
    }
}

#[test]
fn rename_takes_any_old_name_that_a_file_can_have() {
    for old in ["two words", "-a", ".hidden", "caf\u{e9}", "a;b", "50%"] {
        let file = Rename::new(old, "new").unwrap().file(format!("maps/{old}.nav"));
        assert_eq!(file.as_deref(), Some(&b"maps/new.nav"[..]), "{old}");
        assert!(Rename::new("old", old).is_err(), "{old}");
    }
    for old in ["", "a/b", "a\\b", "a.bsp", "graphs"] {
        assert!(Rename::new(old, "new").is_err(), "{old}");
    }
}

/// Films name nothing, and other files of unknown forms may be too large to be searched: that is no failure.
#[test]
fn large_files_of_unknown_forms_are_no_failure() {
    let with = |names: &[&str]| {
        let mut draft = room("room_v20").draft();
        for name in names {
            draft.pak().unwrap().add(*name, vec![7; 17_000_000]).unwrap();
        }
        Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
    };
    let map = with(&["media/intro.MP4", "media/intro.webm", "media/own.form"]);
    let renamed = rename(&map, b"room_v20", b"zoo").unwrap().1;
    let said: Vec<String> = renamed.unsearched.iter().map(ToString::to_string).collect();
    assert_eq!((renamed.problems.len(), said), (0, vec!["`media/own.form` is not searched for names".to_owned()]));
    let cubemaps = Rename::new("room_v20", "zoo").unwrap().only_cubemaps().apply(&mut map.draft()).unwrap();
    assert!(cubemaps.problems.is_empty() && cubemaps.unsearched.is_empty(), "{cubemaps:?}");
    // A text that is edited has to be searched, but for what has no texts.
    let map = with(&["scripts/own.txt"]);
    assert_eq!(rename(&map, b"room_v20", b"zoo").unwrap().1.problems.len(), 1);
}

/// Texts in UTF-16 with a mark change as others do, and stay in UTF-16; others that have the name are listed.
#[test]
fn texts_in_utf16_are_renamed_or_listed() {
    let text = |name: &str| {
        let path = format!("materials/maps/{name}/own/wall_0_0_0.vmt");
        format!("patch {{\r\ninclude \"{path}\" // caf\u{e9} room_v20\r\n}}")
    };
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let marked = |name: &str| format!("\u{FEFF}{}", text(name));
    let with = |name: &str, bytes: Vec<u8>| {
        let mut draft = room("room_v20").draft();
        draft.pak().unwrap().add(name, bytes).unwrap();
        Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
    };
    let file = "materials/own/p.vmt";
    for (old, new) in
        [(little(&marked("room_v20")), little(&marked("zoo"))), (big(&marked("room_v20")), big(&marked("zoo")))]
    {
        let map = with(file, old.clone());
        let renamed = all(&map, b"room_v20", b"zoo", &rename).unwrap().unwrap();
        let spot = Spot::Text { file: file.into(), line: 2 };
        assert!(renamed.changes.iter().any(|change| change.place == spot), "{renamed:?}");
        assert!(renamed.left.iter().any(|left| left.place == spot), "the name in the comment stays: {renamed:?}");
        let saved = Bsp::from_vec(rename(&map, b"room_v20", b"zoo").unwrap().0).unwrap();
        let pak = saved.pak().unwrap();
        let found = pak.iter().find(|entry| entry.name() == file.as_bytes()).unwrap();
        assert_eq!(*found.data().unwrap(), *new);
        // One byte is left over, or half a letter: nothing is changed, and the file is named.
        for end in [&b" "[..], b"\xD8\xD8"] {
            let renamed = rename(&with(file, [&old[..], end].concat()), b"room_v20", b"zoo").unwrap().1;
            assert!(renamed.problems.iter().any(|error| error.to_string().contains(file)), "{renamed:?}");
        }
    }
    for bytes in [little(&text("room_v20")), big(&text("room_v20"))] {
        let renamed = rename(&with(file, bytes.clone()), b"room_v20", b"zoo").unwrap().1;
        assert!(renamed.problems.iter().any(|error| error.to_string().contains(file)), "{renamed:?}");
        // Of texts that are not edited the lines are listed.
        let renamed = rename(&with("scripts/x.nut", bytes), b"room_v20", b"zoo").unwrap().1;
        let spot = Spot::Text { file: b"scripts/x.nut".to_vec(), line: 2 };
        assert!(renamed.left.iter().any(|left| left.place == spot), "{renamed:?}");
    }
    let renamed = rename(&with(file, little("X { own/wall }")), b"room_v20", b"zoo").unwrap().1;
    assert!(renamed.problems.is_empty());
}

/// Of files whose form is not known, texts are searched for the name, and others for paths with it.
#[test]
fn the_name_in_files_of_any_form_is_listed() {
    let text = b"first line\nSound \"maps/room_v20/wind.wav\"\n";
    let bytes = b"\0\x01maps/room_v20/wind.wav\0";
    let left = |file: &str, bytes: &[u8]| {
        let mut draft = room("room_v20").draft();
        draft.pak().unwrap().add(file, bytes.to_vec()).unwrap();
        let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        rename(&map, b"room_v20", b"zoo").unwrap().1.left
    };
    for file in ["scripts/population/other.pop", "a.ini", "scripts/a.html", "a"] {
        let spot = Spot::Text { file: file.into(), line: 2 };
        assert!(left(file, text).iter().any(|left| left.place == spot), "{file}");
        let spot = Spot::Bytes { file: file.into(), offset: 7 };
        assert!(left(file, bytes).iter().any(|left| left.place == spot), "{file}");
    }
    let is_named = |file: &str| left(file, text).iter().any(|left| format!("{:?}", left.place).contains("wind"));
    assert!(!is_named("sound/wind.wav") && !is_named("a.vtf"));
}

/// Files that engines do not find by the name of the map, in folders with its name: they stay, and are listed.
#[test]
fn folders_with_the_name_are_listed() {
    let mut draft = room("room_v20").draft();
    draft.pak().unwrap().add("sound/room_v20/amb.wav", "RIFF").unwrap();
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let (saved, renamed) = rename(&map, b"room_v20", b"zoo").unwrap();
    assert!(Bsp::from_vec(saved).unwrap().pak().unwrap().one("sound/room_v20/amb.wav").is_ok());
    let index = map.pak().unwrap().one("sound/room_v20/amb.wav").unwrap();
    assert!(renamed.left.iter().any(|left| left.place == Spot::File { index }), "{:?}", renamed.left);
}
