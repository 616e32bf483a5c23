//! The same faults in Strata's wider numbers, which have other bits and other places.

use super::codes;
use super::making::*;

type Map = fn() -> Vec<u8>;

fn room() -> Vec<u8> {
    fixture("source/room_strata")
}

/// The room with a displacement on its first face, of a power, with so many neighbors in its first corner.
fn displaced(power: u8, corner: u8) -> Vec<u8> {
    let mut displacement = vec![0; 232];
    displacement[20] = power;
    // No neighbours.
    displacement[48..192].fill(0xFF);
    [128, 148, 168, 188].into_iter().for_each(|count: usize| displacement[count] = 0);
    displacement[128] = corner;
    let map = edited(&room(), "DISPINFO", |bytes| bytes.clone_from(&displacement));
    let map = edited(&map, "DISP_VERTS", |bytes| bytes.resize(25 * 20, 0));
    let map = edited(&map, "DISP_TRIS", |bytes| bytes.resize(32 * 2, 0));
    in_both(&map, 0, "displacement", 0)
}

fn physics(map: &[u8], bytes: &'static [u8]) -> Vec<u8> {
    edited(map, "PHYSDISP", |lump| *lump = bytes.to_vec())
}

const FAULTS: &[(&str, Map)] = &[
    // An area has 17 bits: of 9 this one would be 0.
    ("index-range", || with(&room(), "LEAFS", 7, "area_flags", 0x200)),
    ("index-range", || with(&room(), "LEAFS", 7, "area_flags", 2)),
    ("index-range", || with(&room(), "LEAFFACES", 0, "face", 0x1_0000)),
    ("index-range", || with(&room(), "OVERLAYS", 0, "texinfo", 99)),
    ("index-range", || edited(&room(), "OVERLAYS", |bytes| bytes[8] = 99)),
    ("index-range", || displaced(2, 1)),
    ("run-range", || with(&room(), "OVERLAYS", 0, "first_face", 1)),
    ("run-range", || in_both(&room(), 0, "shadows_primitive_count", 2)),
    ("run-range", || with(&room(), "LEAF_AMBIENT_INDEX", 8, "first", 0x1_0000)),
    ("run-range", || with(&room(), "LEAFS", 7, "leaf_face_count", 0x1_0000)),
    ("child-range", || with(&room(), "NODES", 3, "children[1]", 9999)),
    ("edge-range", || with(&room(), "SURFEDGES", 0, "edge", 0x1_0000)),
    ("count-misfit", || with(&room(), "BRUSHES", 0, "side_count", 7)),
    ("count-misfit", || with(&room(), "MODELS", 0, "face_count", 2)),
    ("disp-verts", || displaced(5, 0)),
    ("disp-face", || in_both(&displaced(2, 0), 0, "displacement", -1)),
    ("light-range", || with(&room(), "FACES", 0, "light_offset", 7000)),
    ("lump-ragged", || edited(&room(), "FACES", |bytes| bytes.push(0))),
    ("lump-ragged", || edited(&room(), "EDGES", |bytes| bytes.push(0))),
    ("lump-parallel", || physics(&room(), &[1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF])),
    ("phys-solids", || physics(&room(), &[1, 0, 0, 0])),
    ("phys-solids", || physics(&room(), &[1, 0, 0, 0, 9, 0, 0, 0])),
    ("vis-cluster", || with(&room(), "LEAFS", 7, "cluster", 5)),
];

/// Those look odd and are not.
const WHOLE: &[Map] = &[
    room,
    || with(&room(), "LEAFS", 7, "area_flags", 0x2_0001),
    || in_both(&room(), 0, "shadows_primitive_count", 0),
    || in_both(&room(), 0, "first_primitive", 77),
    || displaced(2, 0),
    || physics(&displaced(2, 0), &[1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
    || physics(&displaced(2, 0), &[1, 0, 0, 0, 1, 0, 0, 0, 7]),
];

#[test]
fn faults_in_wide_numbers_are_found_and_nothing_else() {
    let faults = FAULTS.iter().map(|(code, map)| (vec![*code], map));
    let all = faults.chain(WHOLE.iter().map(|map| (Vec::new(), map)));
    let wrong: Vec<_> = all
        .enumerate()
        .map(|(index, (wanted, map))| (index, wanted, codes(&map()).into_iter().collect::<Vec<_>>()))
        .filter(|(_, wanted, found)| wanted != found)
        .map(|(index, wanted, found)| format!("{index}, {wanted:?}: {found:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
