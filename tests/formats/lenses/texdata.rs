//! Names of materials: written over where they stood or behind the last string, and all others as they were.

use bspkit::bytes::ByteOrder;
use bspkit::content::texdata::TextureStrings;
use bspkit::{Bsp, Builder, Draft, ErrorKind, dialect};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{corpus, own_maps, random, saved, words};

/// That all names but one are what they were, in their order in the strings.
fn others_keep(old: (&[u8], &[u8]), new: (&[u8], &[u8]), but: usize) -> Result<(), String> {
    let lens = |(strings, table): (&[u8], &[u8])| TextureStrings::new(strings.to_vec(), table.to_vec());
    let (was, is) = (lens(old), lens(new));
    for index in (0..was.len()).filter(|index| *index != but) {
        if was.get(index).ok() != is.get(index).ok() {
            return Err(format!("{index} has another name"));
        }
    }
    Ok(())
}

/// A draft of a map with these lumps.
fn built(strings: &[u8], table: &[u8]) -> Draft<'static> {
    let builder = Builder::new(&dialect::SOURCE).lump(43, strings.to_vec()).lump(44, table.to_vec());
    Bsp::from_vec(builder.build().unwrap()).unwrap().draft()
}

/// Offsets of a map, little-endian.
fn in_order(map: &Bsp<'_>, mut offsets: Vec<u8>) -> Vec<u8> {
    if map.byte_order() == ByteOrder::Big {
        offsets.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    }
    offsets
}

/// Both lumps as a draft has them.
fn edited(draft: &Draft<'_>) -> (Vec<u8>, Vec<u8>) {
    let lump = |name: &str| draft.bytes(draft.bsp().slot(name).unwrap().id).unwrap().to_vec();
    (lump("TEXDATA_STRING_DATA"), in_order(draft.bsp(), lump("TEXDATA_STRING_TABLE")))
}

fn check(map: &Bsp<'_>, name: &str) -> usize {
    let Ok(names) = map.texture_strings() else { return 0 };
    let lumps = |map: &Bsp<'_>| edited(&map.draft());
    let (strings, table) = lumps(map);
    let problems = names.problems();
    if let Some(problem) = problems.first() {
        println!("{name}: {problem}, one of {}", problems.len());
    }
    let len = names.len();
    for index in [0, len / 2, len.saturating_sub(1)] {
        let Ok(old) = names.get(index).map(<[u8]>::to_vec) else { continue };
        for new in
            [&b"OWN/A"[..], b"own/a_rather_longer_name_than_those_that_are_there/of_a_wall", &vec![b'x'; old.len()]]
        {
            let mut draft = map.draft();
            draft.texture_strings().unwrap().rename(index, new).unwrap();
            let Some(saved) = saved(&draft, name) else { continue };
            assert_eq!(saved.texture_strings().unwrap().get(index).unwrap(), new, "{name}");
            let (new_strings, new_table) = lumps(&saved);
            others_keep((&strings, &table), (&new_strings, &new_table), index)
                .unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(new_strings.len() == strings.len(), new.len() == old.len(), "{name}");
            assert!(new_table == table || new.len() != old.len(), "{name}");
            // Named as before in the saved file, all of it is as before.
            let mut back = saved.draft();
            back.texture_strings().unwrap().rename(index, &old).unwrap();
            let (old_strings, old_table) = edited(&back);
            if saved.texture_strings().unwrap().problems().is_empty() {
                assert_eq!((old_strings, old_table), (strings.clone(), table.clone()), "{name}");
            }
        }
        let mut draft = map.draft();
        draft.texture_strings().unwrap().rename(index, "another").unwrap();
        draft.texture_strings().unwrap().rename(index, old).unwrap();
        assert!(!draft.texture_strings().unwrap().is_edited());
        assert!(draft.changes().unwrap().is_empty(), "{name}");
    }
    len
}

#[test]
fn names_of_own_maps() {
    for path in own_maps() {
        let map = Bsp::open(&path).unwrap();
        let names = check(&map, &path.display().to_string());
        assert_eq!(names > 0, map.slot("TEXDATA").is_ok(), "{}", path.display());
        assert!(map.texture_strings().is_err() || map.texture_strings().unwrap().problems().is_empty());
    }
}

#[test]
fn names_of_real_maps() {
    let (mut maps, mut names) = (0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let found = check(&map, &path.display().to_string());
        (maps, names) = (maps + usize::from(found > 0), names + found);
    }
    println!("{names} names in {maps} maps");
}

#[test]
fn names_that_share_bytes_are_parted() {
    // `a/b`, the `b` at its end, `c` twice, and a last one without an end.
    let names = TextureStrings::new(&b"a/b\0c\0dd"[..], words(&[0, 2, 4, 4, 6, 99, -1]));
    let problems: Vec<_> = names.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "c is also the name of 2 (TEXDATA_STRING_TABLE, record 3)",
            "no NUL ends the name (TEXDATA_STRING_TABLE, record 4)",
            "name 5 begins at 99, and the strings have 8 bytes (TEXDATA_STRING_TABLE, record 5, offset 20)",
            "name 6 begins at -1, and the strings have 8 bytes (TEXDATA_STRING_TABLE, record 6, offset 24)",
        ]
    );
    let renamed = |index: usize, name: &str| {
        let mut draft = built(b"a/b\0c\0dd", &words(&[0, 2, 4, 4, 6, 99, -1]));
        draft.texture_strings().unwrap().rename(index, name).unwrap();
        edited(&draft)
    };
    assert_eq!(renamed(0, "x/y"), (b"a/b\0c\0dd\0x/y\0".to_vec(), words(&[9, 2, 4, 4, 6, 99, -1])));
    assert_eq!(renamed(1, "y"), (b"a/b\0c\0dd\0y\0".to_vec(), words(&[0, 9, 4, 4, 6, 99, -1])));
    // One that nobody shares is written over, and what is behind it moves.
    let rename = |index: usize, name: &str| {
        let mut draft = built(b"a/b\0c\0dd\0", &words(&[0, 4, 6, 99, 4, -1]));
        draft.texture_strings().unwrap().rename(index, name).unwrap();
        edited(&draft)
    };
    assert_eq!(rename(0, "x"), (b"x\0c\0dd\0".to_vec(), words(&[0, 2, 4, 99, 2, -1])));
    assert_eq!(rename(0, ""), (b"\0c\0dd\0".to_vec(), words(&[0, 1, 3, 99, 1, -1])));
    assert_eq!(rename(2, "longer"), (b"a/b\0c\0longer\0".to_vec(), words(&[0, 4, 6, 99, 4, -1])));
    assert_eq!(rename(1, "longer"), (b"a/b\0c\0dd\0longer\0".to_vec(), words(&[0, 9, 6, 99, 4, -1])));
    assert_eq!(renamed(3, "e"), (b"a/b\0c\0dd\0e\0".to_vec(), words(&[0, 2, 4, 9, 6, 99, -1])));
    assert_eq!(renamed(4, "ee"), (b"a/b\0c\0ee".to_vec(), words(&[0, 2, 4, 4, 6, 99, -1])));
    assert_eq!(renamed(5, "f"), (b"a/b\0c\0dd\0f\0".to_vec(), words(&[0, 2, 4, 4, 6, 9, -1])));
    let kind = |name: &[u8]| names.clone().rename(0, name).unwrap_err().kind();
    assert_eq!([kind(b"a\0b"), kind(&[b'a'; 128])], [ErrorKind::Refused; 2]);
    assert_eq!(names.clone().rename(7, "x").unwrap_err().kind(), ErrorKind::NotFound);
    assert!(names.clone().rename(0, [b'a'; 127]).is_ok());
    assert_eq!(names.find("A/B").collect::<Vec<_>>(), [0]);
}

#[test]
fn a_shared_name_written_over_breaks_the_law() {
    let old = (&b"a/b\0c\0"[..], &words(&[0, 2, 4])[..]);
    let why = others_keep(old, (b"a/x\0c\0", old.1), 0).unwrap_err();
    assert_eq!(why, "1 has another name");
    let why = others_keep(old, (b"x\0b\0c\0", &words(&[0, 2, 2])), 0).unwrap_err();
    assert_eq!(why, "2 has another name");
}

proptest! {
    #![proptest_config(random::config(500, "tests/formats/lenses/texdata.seeds"))]

    #[test]
    fn whatever_is_there_others_keep(
        strings in vec(prop_oneof![1 => Just(0u8), 2 => b'a'..b'd'], 0..30),
        table in vec(-2..32i32, 1..8),
        renames in vec((0..8usize, "[a-c]{0,4}"), 0..5),
    ) {
        let table = words(&table);
        let mut draft = built(&strings, &table);
        let names = draft.texture_strings().unwrap();
        let old = names.clone();
        let mut expected = std::collections::BTreeMap::new();
        for (index, name) in renames {
            if names.rename(index, &name).is_ok() {
                expected.insert(index, name.into_bytes());
            }
        }
        let _ = names.problems();
        let (new_strings, new_table) = edited(&draft);
        let new = TextureStrings::new(new_strings, new_table);
        for index in 0..old.len() {
            let was = expected.get(&index).cloned().or_else(|| old.get(index).ok().map(<[u8]>::to_vec));
            // A place past the strings may be within them once they have grown, if it was no place before.
            if was.is_some() {
                prop_assert_eq!(new.get(index).ok().map(<[u8]>::to_vec), was);
            }
        }
    }
}
