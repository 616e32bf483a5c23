//! Faults in entries of BSPX.

use super::making::{edited, fixture, read, with};
use super::planted::Fault;

pub(crate) const FAULTS: &[Fault] = &[
    ("lump-parallel", || edited(&quake(), "bspx:RGBLIGHTING", |bytes| bytes.truncate(bytes.len() - 3))),
    ("lump-parallel", || edited(&quake(), "bspx:LIGHTINGDIR", |bytes| bytes.push(0))),
    ("lump-parallel", || edited(&quake2(), "bspx:FACENORMALS", |bytes| bytes.extend([0; 12]))),
    ("lump-parallel", || renamed("LMSHIFT", vec![4; FACES + 1])),
    ("lump-parallel", || renamed("LMSTYLE", vec![255; 4 * FACES + 1])),
    ("lump-parallel", || renamed("DECOUPLED_LM", vec![255; 40 * (FACES - 1)])),
    ("lump-parallel", || renamed("VERTEXNORMALS", vec![0; 12])),
    ("lump-ragged", || renamed("ENVMAP", vec![0; 17])),
    ("lump-misfit", || edited(&quake2(), "bspx:FACENORMALS", |bytes| bytes[3] = 1)),
    ("lump-misfit", || edited(&quake2(), "bspx:LIGHTGRID_OCTREE", |bytes| bytes.truncate(700))),
    ("lump-misfit", || edited(&quake(), "bspx:BRUSHLIST", |bytes| bytes.truncate(20))),
    ("lump-misfit", || edited(&quake(), "bspx:BRUSHLIST", |bytes| bytes[0] = 2)),
    ("count-misfit", || edited(&quake(), "bspx:BRUSHLIST", |bytes| bytes[12] = 1)),
    ("index-range", || edited(&quake(), "bspx:BRUSHLIST", |bytes| bytes[4] = 99)),
    ("index-range", || with(&quake2(), "bspx:FACENORMALS", 3, "tangent", 6)),
    ("normal-order", || {
        let map = quake2();
        let second = read(&map, "FACES", 1, "first_edge");
        let first = read(&map, "FACES", 0, "first_edge");
        with(&with(&map, "FACES", 0, "first_edge", second), "FACES", 1, "first_edge", first)
    }),
    // The first child of the first node; 99 is a node, and the highest bit makes it a leaf.
    ("index-range", || {
        edited(&quake2(), "bspx:LIGHTGRID_OCTREE", |bytes| bytes[57..61].copy_from_slice(&[99, 0, 0, 0]))
    }),
    ("index-range", || {
        edited(&quake2(), "bspx:LIGHTGRID_OCTREE", |bytes| bytes[57..61].copy_from_slice(&[0, 9, 0, 0x80]))
    }),
    ("tree-cycle", || edited(&quake2(), "bspx:LIGHTGRID_OCTREE", |bytes| bytes[57..61].fill(0))),
    ("light-range", || renamed("DECOUPLED_LM", decoupled(46_000, [40, 40]))),
    ("light-range", || renamed("DECOUPLED_LM", decoupled(-2, [1, 1]))),
    ("light-range", || renamed("LMOFFSET", (0..FACES).flat_map(|_| 46_632_i32.to_le_bytes()).collect())),
    // The first luxel of each face is there.
    ("light-range", || renamed("LMOFFSET", (0..FACES).flat_map(|_| 46_629_i32.to_le_bytes()).collect())),
    ("light-range", || renamed("LMSHIFT", vec![0; FACES])),
];

/// What is legal in them.
pub(crate) fn legal() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("faces without light of their own", renamed("DECOUPLED_LM", decoupled(-1, [900, 900]))),
        ("light to the last byte", renamed("DECOUPLED_LM", decoupled(46_632 - 3 * 4, [1, 1]))),
        ("styles, however many", renamed("LMSTYLE", vec![255; 7 * FACES])),
        ("no cube map", renamed("SURFENVMAP", vec![255; 4 * FACES])),
        ("an empty entry", renamed("LMSHIFT", Vec::new())),
        ("an entry of another name", renamed("OWN_NAME", vec![1; 7])),
    ]
}

const FACES: usize = 116;

fn quake() -> Vec<u8> {
    fixture("q1/own_rooms_bspx")
}

fn quake2() -> Vec<u8> {
    fixture("q2/own_rooms_bspx")
}

/// The map of Quake II with an entry of another name and other bytes.
fn renamed(name: &str, bytes: Vec<u8>) -> Vec<u8> {
    let mut map = edited(&quake2(), "bspx:LIGHTINGDIR", |old| *old = bytes);
    let at = map.windows(11).rposition(|window| window == b"LIGHTINGDIR").unwrap();
    map[at..at + 24].fill(0);
    map[at..at + name.len()].copy_from_slice(name.as_bytes());
    map
}

/// Light of the same place and size for each face.
fn decoupled(offset: i32, size: [u16; 2]) -> Vec<u8> {
    let [wide, high] = size.map(u16::to_le_bytes);
    let record = [&wide[..], &high, &offset.to_le_bytes(), &[0; 32]].concat();
    (0..FACES).flat_map(|_| record.clone()).collect()
}
