//! Names that share bytes, names behind their lump, and names that stand in damage.

use bspkit::content::texture_names::Renaming;
use bspkit::content::textures::Textures;
use bspkit::record::Name;
use bspkit::{Bsp, Builder, Draft, ErrorKind, Layout, SlotId, dialect};

use super::built::{external, lump, miptex};

#[test]
fn a_shorter_name_leaves_nothing_of_the_old_one() {
    let set = |old: &[u8; 8], new: &[u8]| {
        let mut name = Name(*old);
        (name.set(new), name.0)
    };
    assert_eq!(set(b"metal\0\0\0", b"ab"), (true, *b"ab\0\0\0\0\0\0"));
    // Junk stays where the new name does not reach.
    assert_eq!(set(b"metal\0JK", b"ab"), (true, *b"ab\0\0\0\0JK"));
    assert_eq!(set(b"metal\0JK", b"metals"), (true, *b"metals\0K"));
    assert_eq!(set(b"ab\0JUNK!", b"ab"), (true, *b"ab\0JUNK!"));
    // The same name fits, whatever it is; others do not.
    assert_eq!(set(b"metal123", b"metal123"), (true, *b"metal123"));
    assert_eq!(set(b"metal123", b"metal1"), (true, *b"metal1\0\0"));
    assert_eq!(set(b"metal\0JK", b"eightbyt"), (false, *b"metal\0JK"));
    assert_eq!(set(b"metal\0JK", b"a\0b"), (false, *b"metal\0JK"));
}

#[test]
fn names_that_are_given_and_taken_back_are_the_old_bytes() {
    for name in ["goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
        let bytes = std::fs::read(format!("tests/maps/{name}.bsp")).unwrap();
        let rename = |bytes: &[u8], old: &str, new: &str| {
            let map = Bsp::from_vec(bytes.to_vec()).unwrap();
            let mut draft = map.draft();
            assert!(
                draft.texture_names().unwrap().rename(&Renaming::new(old, new).unwrap()).unwrap().count > 0,
                "{name}"
            );
            draft.plan(Layout::Keep).unwrap().to_vec()
        };
        let names = Bsp::from_vec(bytes.clone()).unwrap().texture_names().unwrap();
        let old = String::from_utf8(names.iter().last().unwrap().name).unwrap();
        for new in ["zz", "zzzzzzzzzzzzzzz"] {
            let renamed = rename(&bytes, &old, new);
            assert_ne!(renamed, bytes);
            assert!(rename(&renamed, new, &old) == bytes, "{name}: {old} {new}");
        }
    }
}

#[test]
fn one_place_is_written_once() {
    // Each with bytes of its own would be more than edits may have.
    let texture = miptex("wall", 256, 256, 1);
    let place = 4 + 4 * 5000;
    let bytes = lump(&vec![place; 5000], &texture);
    let mut textures = Textures::parse(&bytes[..]).unwrap();
    for index in 0..5000 {
        textures.rename(index, b"roof").unwrap();
    }
    let new = textures.to_bytes().unwrap();
    assert_eq!(new.len(), bytes.len());
    let changed: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != new[*at]).collect();
    let at = usize::try_from(place).unwrap();
    assert!(!changed.is_empty() && changed.iter().all(|byte| (at..at + 16).contains(byte)));
    // One that stays leaves the others one place of their own.
    textures.rename(7, b"wall").unwrap();
    let new = textures.to_bytes().unwrap();
    assert_eq!(new.len(), bytes.len().next_multiple_of(4) + texture.len());
    let new = Textures::parse(new).unwrap();
    assert_eq!(
        (new.name(6), new.name(7), new.name(4999)),
        (Some(&b"roof"[..]), Some(&b"wall"[..]), Some(&b"roof"[..]))
    );
}

#[test]
fn growth_has_an_end() {
    // Places that overlap: each texture would have to have bytes of its own.
    let (count, size) = (600_usize, 1024_usize);
    let header = |name: &str| miptex(name, 16, 16, 1)[..16].to_vec();
    let pixels = size * size;
    let mut content = vec![0; count * 40 + pixels * 2];
    for index in 0..count {
        let at = index * 40;
        content[at..at + 16].copy_from_slice(&header(&format!("t{index}")));
        let offsets = [size, size, 40, 40 + pixels, 40 + pixels * 5 / 4, 40 + pixels * 21 / 16];
        for (word, value) in offsets.into_iter().enumerate() {
            let value = u32::try_from(value).unwrap().to_le_bytes();
            content[at + 16 + 4 * word..at + 20 + 4 * word].copy_from_slice(&value);
        }
        let palette = at + 40 + pixels * 85 / 64;
        content[palette..palette + 2].copy_from_slice(&[0, 1]);
    }
    let start = 4 + 4 * count;
    let places: Vec<i32> = (0..count).map(|index| i32::try_from(start + 40 * index).unwrap()).collect();
    let mut textures = Textures::parse(lump(&places, &content)).unwrap();
    let error = (0..count).find_map(|index| textures.rename(index, b"new").err()).expect("no end");
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.to_string().contains("TEXTURES, record"), "{error}");
}

#[test]
fn damage_behind_a_name_stays_where_it_is() {
    let mut bad = miptex("bad", 16, 16, 1);
    bad[28] ^= 4;
    let start = i32::try_from(12 + bad.len()).unwrap();
    let content = [&bad[..], &miptex("good", 16, 16, 2)].concat();
    let bytes = lump(&[12, start], &content);
    let mut textures = Textures::parse(&bytes[..]).unwrap();
    textures.rename(0, b"worse").unwrap();
    assert_eq!(textures.name(0), Some(&b"worse"[..]));
    let new = textures.to_bytes().unwrap();
    assert_eq!((&new[..12], &new[12..18], &new[28..]), (&bytes[..12], &b"worse\0"[..], &bytes[28..]));
    textures.rename(0, b"bad").unwrap();
    // One that cannot be told from its neighbour is refused by name.
    let mut textures =
        Textures::parse(lump(&[12, 28], &[b"one\0            two\0            ".as_slice(), &[9; 60]].concat()))
            .unwrap();
    textures.rename(0, b"x").unwrap();
    let error = textures.to_bytes().unwrap_err();
    assert!(error.to_string().contains("shares bytes") && error.to_string().contains("record 0"), "{error}");
    // And one whose name is cut off.
    let mut textures = Textures::parse(lump(&[8], b"cut off")).unwrap();
    assert_eq!(textures.rename(0, b"x").unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn what_is_said_to_be_behind_the_lump_stays_behind_it() {
    let small = external("small");
    let from = Textures::parse(lump(&[8], &miptex("from", 32, 32, 5))).unwrap();
    for behind in [56, 60, 1000, i32::MAX - 5] {
        let bytes = lump(&[16, behind, -1], &small);
        let mut textures = Textures::parse(&bytes[..]).unwrap();
        textures.embed(0, &from.get(0).unwrap().unwrap()).unwrap();
        let new = textures.to_bytes().unwrap();
        let mut read = Textures::parse(&new[..]).unwrap();
        assert!(read.get(0).is_ok() && read.get(1).is_err(), "{behind}");
        read.strip(0).unwrap();
        assert_eq!(read.to_bytes().unwrap().len(), bytes.len());
    }
}

/// Each name goes on to the end of the strings: what is held of them has to have an end.
#[test]
fn names_without_end_are_cut_and_told() {
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let starts: Vec<i32> = (0..20_000).collect();
    let lump = |name: &str| map.slot(name).unwrap().id;
    let mut draft = map.draft();
    draft.set(lump("TEXDATA_STRING_DATA"), [vec![b'a'; 19_999], vec![0]].concat()).unwrap();
    draft.set(lump("TEXDATA_STRING_TABLE"), table(&starts)).unwrap();
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let names: Vec<_> = saved.texture_names().unwrap().iter().collect();
    assert_eq!(names.len(), 20_000);
    assert!(names.iter().all(|name| name.name.len() <= 127));
    assert_eq!(names[0].problem.as_deref(), Some("the name has 19999 bytes; at most 127 are possible"));
    assert_eq!((names[19_872].problem.is_none(), names[19_871].problem.is_some()), (true, true));
    let renamed = saved.draft().texture_names().unwrap().rename(&Renaming::new("**", "{1}").unwrap()).unwrap();
    assert_eq!((renamed.count, renamed.left.len()), (1025, 18_975));
}

fn table(starts: &[i32]) -> Vec<u8> {
    starts.iter().flat_map(|start| start.to_le_bytes()).collect()
}

#[test]
fn strings_of_several_names_are_written_once() {
    let strings = b"wall\0roof\0";
    let builder = Builder::new(&dialect::SOURCE).lump(43, strings).lump(44, table(&[0, 0, 5, 0, 10, 11]));
    let mut draft = Bsp::from_vec(builder.build().unwrap()).unwrap().draft();
    let lumps = |draft: &Draft<'_>| [43, 44].map(|lump| draft.bytes(SlotId::Lump(lump)).unwrap().to_vec());
    let names = draft.texture_strings().unwrap();
    [0, 1, 3].into_iter().for_each(|index| names.rename(index, "floors").unwrap());
    let [new, places] = lumps(&draft);
    assert_eq!(new, b"floors\0roof\0");
    assert_eq!(places, table(&[0, 0, 7, 0, 12, 13]));
    // One that stays leaves the others one string of their own.
    draft.texture_strings().unwrap().rename(1, "wall").unwrap();
    let [new, places] = lumps(&draft);
    assert_eq!(new, b"wall\0roof\0floors\0");
    assert_eq!(places, table(&[10, 0, 5, 10, 17, 18]));
}
