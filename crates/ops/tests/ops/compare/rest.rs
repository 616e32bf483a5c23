//! Bytes that are read as nothing else are named beside what else changed in their lump.

use bspkit::{Bsp, Data};
use bspkit_ops::compare;

use super::{fixture, lines};

/// The lines of the differences after bytes of a lump were changed in their places.
fn flipped(name: &str, lump: &str, places: &[usize]) -> Vec<String> {
    let map = fixture(name);
    let start = map.slot(lump).unwrap().stored.start;
    let mut bytes = map.container().bytes().to_vec();
    places.iter().for_each(|at| bytes[start + at] ^= 1 << (at % 8));
    let new = Bsp::from_data(Data::from(bytes), Some(map.dialect())).unwrap();
    lines(&compare::whole(&map, &new, 100))
}

#[test]
fn a_byte_beside_another_change_is_named() {
    for (name, lump, read, rest) in [
        ("q1/own_rooms", "LIGHTING", 3005, 6579),
        ("q1/own_rooms", "VISIBILITY", 49, 2),
        ("source/room_v21", "LIGHTING_HDR", 759, 2),
        ("goldsrc/own_rooms", "TEXTURES", 13476, 59),
    ] {
        let bytes = format!("{lump}: 1 byte at {rest}");
        let [alone, other, both] = [&[read][..], &[rest], &[read, rest]].map(|places| flipped(name, lump, places));
        assert!(alone.len() == 1 && !alone[0].contains(" byte"), "{name}: {alone:?}");
        assert_eq!(other, std::slice::from_ref(&bytes), "{name}");
        assert_eq!(both, [alone, other].concat(), "{name}");
    }
}

/// The lines of the differences between two entity texts of a map.
fn texts(old: &str, new: &str) -> Vec<String> {
    let map = fixture("q2/own_rooms");
    let with = |text: &str| {
        let mut draft = map.draft();
        draft.set(map.slot("ENTITIES").unwrap().id, text.as_bytes().to_vec()).unwrap();
        super::saved(&draft)
    };
    lines(&compare::whole(&with(old), &with(new), 100))
}

#[test]
fn text_between_entities_is_named_where_it_is() {
    let world = "{\n\"classname\" \"worldspawn\"\n}\n";
    let light = |light: &str| format!("{{\n\"classname\" \"light\"\n\"light\" \"{light}\"\n}}\n");
    let (old, changed) = (format!("{world}{}\0", light("250")), light("999"));
    let changes = |new: String| {
        let mut lines = texts(&old, &new);
        assert!(lines.remove(0).contains("light \"250\" -> \"999\""), "{new}");
        lines
    };
    assert_eq!(changes(format!("{world}{changed}\0")), [""; 0]);
    assert_eq!(changes(format!("// hello\n{world}{changed}\0")), ["ENTITIES: 9 bytes added at 0"]);
    let between = world.len();
    assert_eq!(changes(format!("{world}  {changed}\0")), [format!("ENTITIES: 2 bytes added at {between}")]);
    let tail = between + changed.len() - 1;
    assert_eq!(changes(format!("{world}{}\n\0", changed)), [format!("ENTITIES: 1 byte added at {}", tail + 1)]);
    // White space comes with an entity that is new; other text is named.
    assert_eq!(changes(format!("{world}{changed}{}\0", light("1"))).len(), 1);
    let found = changes(format!("{world}{changed}// new\n{}\0", light("1")));
    assert!(found.len() == 2 && found[1].contains("5 bytes added at"), "{found:?}");
}

#[test]
fn bytes_between_embedded_files_are_named() {
    let map = fixture("source/room_v20");
    let pak = map.slot("PAKFILE").unwrap().id;
    let old = map.bytes(pak).unwrap().to_vec();
    // Before the directory, whose place and that of the end record go on.
    let end = old.windows(4).rposition(|word| word == b"PK\x05\x06").unwrap();
    let start = u32::from_le_bytes(old[end + 16..end + 20].try_into().unwrap());
    let at = usize::try_from(start).unwrap();
    let mut new = [&old[..at], b"MIDDLE", &old[at..]].concat();
    new[end + 22..end + 26].copy_from_slice(&(start + 6).to_le_bytes());
    for is_edited in [false, true] {
        let mut draft = map.draft();
        draft.set(pak, new.clone()).unwrap();
        let with_gap = super::saved(&draft);
        let mut draft = with_gap.draft();
        if is_edited {
            draft.pak().unwrap().replace(0, b"other".to_vec()).unwrap();
        }
        let found = lines(&compare::whole(&map, &super::saved(&draft), 100));
        let gap: Vec<_> = found.iter().filter(|line| line.contains("6 bytes added at")).collect();
        assert!(gap.len() == 1 && found.len() > usize::from(is_edited), "{found:?}");
    }
}
