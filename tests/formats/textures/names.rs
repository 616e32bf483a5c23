//! Names of textures in maps of every family, and other names for them.

use bspkit::content::texture_names::Renaming;
use bspkit::{Bsp, ErrorKind, Layout};

use super::corpus;

const MAPS: [&str; 8] = [
    "goldsrc/own_rooms",
    "goldsrc/own_box",
    "q2/own_rooms",
    "q3/own_rooms",
    "source/room_v19",
    "source/room_v20_lzma",
    "source/room_v21",
    "source/room_l4d2",
];

fn open(name: &str) -> Bsp<'static> {
    Bsp::open(format!("tests/maps/{name}.bsp")).unwrap()
}

fn names(map: &Bsp<'_>) -> Vec<Vec<u8>> {
    map.texture_names().unwrap().iter().map(|name| name.name).collect()
}

fn renamed(map: &Bsp<'static>, old: &str, new: &str) -> Vec<u8> {
    let mut draft = map.draft();
    draft.texture_names().unwrap().rename(&Renaming::new(old, new).unwrap()).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

/// A law: every name is another one, of the same textures, and everything else is as it was.
fn law(map: &Bsp<'static>, rename: impl Fn(&Bsp<'static>, &str, &str) -> Vec<u8>) -> Result<(), String> {
    let old = names(map);
    let saved = Bsp::from_vec(rename(map, "**", "{1}x")).unwrap();
    let wanted: Vec<Vec<u8>> = old.iter().map(|name| [&name[..], b"x"].concat()).collect();
    if names(&saved) != wanted {
        return Err("other names than asked for".into());
    }
    let back = Bsp::from_vec(rename(&saved, "**x", "{1}")).unwrap();
    if names(&back) != old {
        return Err("the old names do not come back".into());
    }
    for slot in map.slots() {
        let is_names = |name: &str| ["TEX", "SHADERS", "FOGS"].iter().any(|part| name.starts_with(part));
        let unchanged = is_names(&slot.name) || map.bytes(slot.id).unwrap()[..] == saved.bytes(slot.id).unwrap()[..];
        if !unchanged {
            return Err(format!("{} is not about names and has changed", slot.name));
        }
    }
    Ok(())
}

#[test]
fn names_change_in_every_family_and_nothing_else_does() {
    for name in MAPS {
        let map = open(name);
        assert!(!names(&map).is_empty(), "{name}");
        assert_eq!(law(&map, renamed), Ok(()), "{name}");
    }
}

#[test]
fn the_law_sees_faults() {
    let map = open("q2/own_rooms");
    let nothing = |map: &Bsp<'static>, _: &str, _: &str| renamed(map, "none", "none");
    assert_eq!(law(&map, nothing).unwrap_err(), "other names than asked for");
    let one_way = |map: &Bsp<'static>, old: &str, new: &str| {
        renamed(map, if old == "**" { old } else { "none" }, new.trim_end_matches(|_| old != "**"))
    };
    assert_eq!(law(&map, one_way).unwrap_err(), "the old names do not come back");
    let more = |map: &Bsp<'static>, old: &str, new: &str| {
        let mut draft = map.draft();
        draft.texture_names().unwrap().rename(&Renaming::new(old, new).unwrap()).unwrap();
        draft.update(bspkit::dialect::quake2::PLANES, 0, |plane| plane.kind += 1).unwrap();
        draft.plan(Layout::Keep).unwrap().to_vec()
    };
    assert_eq!(law(&map, more).unwrap_err(), "PLANES is not about names and has changed");
}

#[test]
fn a_name_that_does_not_fit_is_refused_whole() {
    for (map, most) in [("goldsrc/own_rooms", 15), ("q2/own_rooms", 31), ("q3/own_rooms", 63), ("source/room_v20", 127)]
    {
        let map = open(map);
        let try_length = |length: usize| {
            let mut draft = map.draft();
            let result = draft.texture_names().unwrap().rename(&Renaming::new("**", "n".repeat(length)).unwrap());
            assert_eq!(draft.changes().unwrap().is_empty(), result.is_err());
            result
        };
        assert!(try_length(most).unwrap().count > 0);
        let error = try_length(most + 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(
            error.to_string().contains(&format!("the new name has {} bytes; at most {most} are possible", most + 1)),
            "{error}"
        );
        assert!(error.to_string().contains("record"), "{error}");
        assert!(try_length(0).unwrap_err().to_string().contains("is empty"));
    }
}

#[test]
fn wildcards_and_numbers() {
    let apply = |old: &str, new: &str, name: &str| {
        Renaming::new(old, new).unwrap().apply(name.as_bytes()).map(|name| String::from_utf8(name).unwrap())
    };
    assert_eq!(apply("e1u1/*", "e1u2/{1}", "e1u1/metal"), Some("e1u2/metal".into()));
    assert_eq!(apply("*/*_?", "{2}{3}/{1}{1}", "a/b_1"), Some("b1/aa".into()));
    assert_eq!(apply("**/metal", "{1}wood", "metal"), Some("wood".into()));
    assert_eq!(apply("**/metal", "{1}wood", "a/b/metal"), Some("a/b/wood".into()));
    // A pattern is of the whole name; braces without a number are letters.
    assert_eq!(apply("metal", "wood", "e1u1/metal"), None);
    assert_eq!(apply("*", "x", "e1u1/metal"), None);
    assert_eq!(apply("{fence", "{fence{}{x}{", "{FENCE"), Some("{fence{}{x}{".into()));
    for (old, new) in [("a", "{1}"), ("*", "{2}"), ("*", "{0}"), ("*", "{1}{9}")] {
        assert_eq!(Renaming::new(old, new).unwrap_err().kind(), ErrorKind::Argument, "{old} {new}");
    }
}

/// Junk behind a NUL is nobody's: it stays where the new name does not reach.
#[test]
fn what_stands_behind_a_name_stays() {
    let map = open("q2/own_rooms");
    let mut draft = map.draft();
    let junk = *b"own/wall\0junk stays here, all of";
    draft.update(bspkit::dialect::quake2::TEXINFO, 0, |texinfo| texinfo.texture.0 = junk).unwrap();
    draft.texture_names().unwrap().rename(&Renaming::new("own/wall", "own/roof").unwrap()).unwrap();
    let name = draft.table(bspkit::dialect::quake2::TEXINFO).unwrap().get(0).unwrap().texture;
    assert_eq!(&name.0, b"own/roof\0junk stays here, all of");
}

#[test]
fn real_maps_keep_their_names_where_they_get_the_same() {
    let (mut maps, mut count) = (0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let Ok(names) = map.texture_names() else { continue };
        let mut draft = map.draft();
        let Ok(renamed) = draft.texture_names().unwrap().rename(&Renaming::new("**", "{1}").unwrap()) else { continue };
        let number = renamed.count;
        assert!(draft.plan(Layout::Keep).is_ok_and(|plan| plan.is_identity()), "{}", path.display());
        assert!(number <= names.iter().count());
        (maps, count) = (maps + 1, count + number);
    }
    eprintln!("{count} names in {maps} maps");
}

/// Engines stop at a frame of an animation whose first one has another name.
#[test]
fn frames_that_lose_their_first_are_named() {
    let map = open("goldsrc/own_rooms");
    let names = names(&map);
    let rename = |draft: &mut bspkit::Draft<'_>, old: &[u8], new: &str| {
        draft.texture_names().unwrap().rename(&Renaming::new(old, new).unwrap()).unwrap().frames
    };
    let mut draft = map.draft();
    assert!(rename(&mut draft, &names[0], "+0button").is_empty());
    assert!(rename(&mut draft, &names[1], "+1Button").is_empty());
    assert_eq!(rename(&mut draft, b"+0button", "lever"), ["`+1BUTTON` exists, but the frame before it is missing"]);
    // That it is so already is not said again; together they may go.
    assert!(rename(&mut draft, b"lever", "handle").is_empty());
    assert!(rename(&mut draft, b"handle", "+0button").is_empty());
    assert!(rename(&mut draft, b"+?button", "+{1}lever").is_empty());
}
