//! The Source rooms of the project: made by the example `source_room`, and true to what compilers write.
//!
//! Nothing here uses the example's structs: offsets are counted by hand, so that a field in the wrong place is seen.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use bspkit::verify;
use bspkit::{Bsp, Layout, SlotId};

const ROOMS: [&str; 6] = ["room_v19", "room_v20", "room_v21", "room_l4d2", "room_v20_lzma", "room_strata"];
/// Those with numbers of 16 bits.
const NARROW: [&str; 5] = ["room_v19", "room_v20", "room_v21", "room_l4d2", "room_v20_lzma"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/source").join(name).with_extension("bsp")
}

#[test]
fn the_example_makes_the_fixtures() {
    let test = std::env::current_exe().unwrap();
    let examples = test.parent().and_then(Path::parent).unwrap().join("examples");
    let program = examples.join("source_room").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "no {}, which `cargo build --examples` makes", program.display());
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(program).arg(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let mut made: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    let mut kept: Vec<_> = ROOMS.map(|name| OsString::from(format!("{name}.bsp"))).to_vec();
    made.sort();
    kept.sort();
    assert_eq!(made, kept);
    for name in ROOMS {
        let made = std::fs::read(folder.path().join(name).with_extension("bsp")).unwrap();
        assert!(made == std::fs::read(fixture(name)).unwrap(), "{name} differs");
        assert!(made.len() < 60_000, "{name} has {} bytes", made.len());
    }
}

#[test]
fn every_law_holds_on_the_rooms() {
    for name in ROOMS {
        let outcome = verify::run(&Bsp::open(fixture(name)).unwrap());
        assert!(
            outcome.laws.iter().all(|(_, verdict)| *verdict == verify::Verdict::Pass),
            "{name}: {:?}",
            outcome.laws
        );
    }
}

#[test]
fn the_compressed_twin_holds_the_same() {
    let (plain, twin) = (Bsp::open(fixture("room_v20")).unwrap(), Bsp::open(fixture("room_v20_lzma")).unwrap());
    for slot in plain.slots().iter().filter(|slot| !matches!(slot.id, SlotId::Lump(35 | 40)) && slot.length != 0) {
        assert!(twin.decompressed_size(slot.id).is_some(), "{} is not compressed", slot.name);
        assert_eq!(*twin.bytes(slot.id).unwrap(), *plain.bytes(slot.id).unwrap(), "{}", slot.name);
    }
    assert_eq!(twin.slots().len(), plain.slots().len() + 1, "the empty member at the end");
    assert_eq!(twin.slot("pak").unwrap().stored.start % 2048, 0);
}

/// Some lumps of real files have bytes after their stream: engines read as many as its header says.
#[test]
fn bytes_after_a_compressed_lump_are_padding() {
    let own = Bsp::open(fixture("room_v20_lzma")).unwrap();
    for name in ["ENTITIES", "PLANES", "FACES"] {
        let slot = own.slot(name).unwrap();
        let mut bytes = own.container().bytes().to_vec();
        let start = bytes.len().next_multiple_of(4);
        bytes.resize(start, 0);
        bytes.extend_from_slice(&own.stored(slot.id));
        bytes.extend([0; 4]);
        let SlotId::Lump(lump) = slot.id else { panic!("{name} is a lump") };
        let place = [start, slot.stored.len() + 4].map(|number| u32::try_from(number).unwrap().to_le_bytes()).concat();
        bytes[8 + 16 * lump..][..8].copy_from_slice(&place);
        let map = Bsp::from_vec(bytes).unwrap();
        assert_eq!(*map.bytes(slot.id).unwrap(), *own.bytes(slot.id).unwrap(), "{name}");
        assert_eq!(
            (map.compression_oddity(slot.id), map.draft().plan(Layout::Keep).unwrap().is_identity()),
            (None, true)
        );
        assert!(verify::run(&map).is_ok(), "{name}");
        let mut draft = map.draft();
        draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", "more").unwrap();
        let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        assert!(saved.entities().unwrap().iter().any(|entity| entity.get("message") == Some(b"more")), "{name}");
        let mut draft = map.draft();
        bspkit::compress::decompress(&mut draft, &Default::default()).unwrap();
        let plain = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        assert_eq!(*plain.stored(slot.id), *own.bytes(slot.id).unwrap(), "{name}");
    }
}

/// A lump as records of `size` bytes.
struct Lump {
    bytes: Vec<u8>,
    size: usize,
}

impl Lump {
    fn of(map: &Bsp<'_>, index: usize, size: usize) -> Self {
        let bytes = map.bytes(SlotId::Lump(index)).unwrap().to_vec();
        assert_eq!(bytes.len() % size, 0, "lump {index}");
        Lump { bytes, size }
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.size
    }

    fn long(&self, record: usize, at: usize) -> i32 {
        let at = record * self.size + at;
        i32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    fn short(&self, record: usize, at: usize) -> u16 {
        let at = record * self.size + at;
        u16::from_le_bytes(self.bytes[at..at + 2].try_into().unwrap())
    }

    fn float(&self, record: usize, at: usize) -> f32 {
        f32::from_bits(self.long(record, at) as u32)
    }

    fn byte(&self, record: usize, at: usize) -> u8 {
        self.bytes[record * self.size + at]
    }

    fn vector(&self, record: usize, at: usize) -> [f32; 3] {
        [0, 4, 8].map(|part| self.float(record, at + part))
    }

    /// Where ranges `(first, count)` of all records lie one behind the other and cover so many.
    fn assert_parts(&self, first: usize, count: usize, total: usize) {
        let mut next = 0;
        for record in 0..self.len() {
            assert_eq!(self.long(record, first), next, "record {record}");
            next += self.long(record, count);
        }
        assert_eq!(next as usize, total);
    }
}

fn dot(one: [f32; 3], other: [f32; 3]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// What holds in every map that compilers wrote holds in these.
#[test]
fn the_rooms_are_as_compilers_write_them() {
    for name in NARROW {
        let map = Bsp::open(fixture(name)).unwrap();
        let is_v19 = map.version() == 19;
        let lump = |index, size| Lump::of(&map, index, size);
        let (planes, vertexes, edges, surf_edges) = (lump(1, 20), lump(3, 12), lump(12, 4), lump(13, 4));
        let (faces, originals, nodes) = (lump(7, 56), lump(27, 56), lump(5, 32));
        let (leafs, models, brushes, sides) =
            (lump(10, if is_v19 { 56 } else { 32 }), lump(14, 48), lump(18, 12), lump(19, 8));
        let (tex_infos, tex_data) = (lump(6, 72), lump(2, 32));

        // Planes come in opposite pairs.
        assert_eq!(planes.len() % 2, 0);
        for pair in (0..planes.len()).step_by(2) {
            assert_eq!(planes.vector(pair, 0).map(|part| 0.0 - part), planes.vector(pair + 1, 0), "{name}");
            assert_eq!(0.0 - planes.float(pair, 12), planes.float(pair + 1, 12), "{name}");
            let kind = planes.long(pair, 16);
            assert_eq!((kind, planes.vector(pair, 0)[kind as usize]), (planes.long(pair + 1, 16), 1.0), "{name}");
        }
        assert_eq!(leafs.len(), nodes.len() + models.len() + 1, "{name}");
        models.assert_parts(40, 44, faces.len());
        brushes.assert_parts(0, 4, sides.len());
        let largest = (0..surf_edges.len()).map(|at| surf_edges.long(at, 0).unsigned_abs()).max().unwrap();
        assert_eq!(edges.len(), largest as usize + 1, "{name}");
        assert!((0..surf_edges.len()).all(|at| surf_edges.long(at, 0) != 0) && edges.long(0, 0) == 0, "{name}");

        // A face lies on its plane, and its corners run clockwise where it is seen.
        let corners = |lump: &Lump, face: usize| -> Vec<[f32; 3]> {
            let (first, count) = (lump.long(face, 4) as usize, usize::from(lump.short(face, 8)));
            let at = (first..first + count).map(|at| {
                let edge = surf_edges.long(at, 0);
                let end = if edge < 0 { 2 } else { 0 };
                vertexes.vector(edges.short(edge.unsigned_abs() as usize, end).into(), 0)
            });
            at.collect()
        };
        for (lump, count) in [(&faces, faces.len()), (&originals, originals.len())] {
            for face in 0..count {
                let plane = usize::from(lump.short(face, 0));
                let (normal, distance) = (planes.vector(plane, 0), planes.float(plane, 12));
                let points = corners(lump, face);
                assert!(points.iter().all(|point| dot(normal, *point) == distance), "{name}: face {face}");
                let edge = |index: usize| {
                    let (from, to) = (points[index], points[(index + 1) % points.len()]);
                    [0, 1, 2].map(|axis| to[axis] - from[axis])
                };
                let ([a, b, c], [d, e, f]) = (edge(0), edge(1));
                assert!(dot(normal, [b * f - c * e, c * d - a * f, a * e - b * d]) < 0.0, "{name}: face {face}");
                assert_eq!(usize::from(lump.byte(face, 2)), plane & 1, "{name}: face {face}");
                assert!(usize::from(lump.short(face, 10)) < tex_infos.len(), "{name}: face {face}");
            }
        }
        for face in 0..faces.len() {
            assert!((0..originals.len() as i32).contains(&faces.long(face, 44)), "{name}: face {face}");
            let (own, original) = (faces.short(face, 0), originals.short(faces.long(face, 44) as usize, 0));
            assert_eq!(own, original, "{name}: face {face} and what it was cut from");
        }
        assert!((0..originals.len()).all(|face| originals.long(face, 44) == -1), "{name}");

        // Every node and every leaf but the first hangs in one tree, and faces lie on their nodes' planes.
        let (mut seen_nodes, mut seen_leafs) = (vec![0; nodes.len()], vec![0; leafs.len()]);
        let mut todo: Vec<i32> = (0..models.len()).map(|model| models.long(model, 36)).collect();
        while let Some(child) = todo.pop() {
            match usize::try_from(child) {
                Ok(node) => {
                    seen_nodes[node] += 1;
                    assert_eq!(nodes.long(node, 0) % 2, 0, "{name}: node {node}");
                    let first = usize::from(nodes.short(node, 24));
                    for face in first..first + usize::from(nodes.short(node, 26)) {
                        let plane = i32::from(faces.short(face, 0) & !1);
                        assert_eq!(plane, nodes.long(node, 0), "{name}: face {face}");
                    }
                    todo.extend([nodes.long(node, 4), nodes.long(node, 8)]);
                }
                Err(_) => seen_leafs[(-1 - child) as usize] += 1,
            }
        }
        assert!(seen_nodes.iter().all(|times| *times == 1), "{name}: {seen_nodes:?}");
        assert!(seen_leafs[0] == 0 && seen_leafs[1..].iter().all(|times| *times == 1), "{name}: {seen_leafs:?}");
        assert_eq!((leafs.long(0, 0), leafs.short(0, 4)), (1, 0), "{name}: leaf 0 is solid and in cluster 0");
        let (leaf_faces, leaf_brushes) = (lump(16, 2), lump(17, 2));
        for leaf in 0..leafs.len() {
            let end = |first, count| usize::from(leafs.short(leaf, first) + leafs.short(leaf, count));
            assert!(end(20, 22) <= leaf_faces.len() && end(24, 26) <= leaf_brushes.len(), "{name}: leaf {leaf}");
        }
        assert!((0..leaf_faces.len()).all(|at| usize::from(leaf_faces.short(at, 0)) < faces.len()), "{name}");
        assert!((0..leaf_brushes.len()).all(|at| usize::from(leaf_brushes.short(at, 0)) < brushes.len()), "{name}");

        // Parallel arrays.
        let edge_count: usize = (0..faces.len()).map(|face| usize::from(faces.short(face, 8))).sum();
        let (normals, normal_indices) = (lump(30, 12), lump(31, 2));
        assert_eq!(normal_indices.len(), edge_count, "{name}");
        assert!((0..edge_count).all(|at| usize::from(normal_indices.short(at, 0)) < normals.len()), "{name}");
        assert_eq!((lump(11, 2).len(), lump(47, 2).len()), (faces.len(), faces.len()), "{name}");
        assert_eq!(lump(46, 2).len(), leafs.len(), "{name}");
        if map.dialect().name == "source21" {
            assert_eq!(lump(23, 4).len(), faces.len(), "{name}");
        }

        // The names of the materials.
        let (names, offsets) = (lump(43, 1), lump(44, 4));
        let mut next = 0;
        for text in names.bytes.split_inclusive(|byte| *byte == 0).enumerate() {
            assert_eq!(offsets.long(text.0, 0) as usize, next, "{name}");
            next += text.1.len();
        }
        assert_eq!((offsets.len(), names.bytes.last()), (tex_data.len(), Some(&0)), "{name}");
        assert!((0..tex_infos.len()).all(|at| (tex_infos.long(at, 68) as usize) < tex_data.len()), "{name}");

        // Light fills its lump block by block; the faces of the high range differ in nothing but their light.
        let high_faces = lump(58, 56);
        let fills = |faces: &Lump, light: usize| {
            let mut at = 0;
            for face in 0..faces.len() {
                let styles = (16..20).take_while(|style| faces.byte(face, *style) != 255).count();
                let flags = tex_infos.long(faces.short(face, 10).into(), 64);
                let luxels = (faces.long(face, 36) + 1) * (faces.long(face, 40) + 1);
                at += 4 * styles;
                assert_eq!(faces.long(face, 20) as usize, at, "{name}: face {face}");
                at += 4 * styles * luxels as usize * if flags & 0x800 == 0 { 1 } else { 4 };
            }
            assert_eq!(lump(light, 1).len(), at, "{name}: lump {light}");
        };
        match (lump(8, 1).len(), lump(53, 1).len(), high_faces.len()) {
            (_, 0, 0) => fills(&faces, 8),
            (0, _, 0) => fills(&faces, 53),
            _ => {
                fills(&faces, 8);
                fills(&high_faces, 53);
                for (one, other) in faces.bytes.chunks(56).zip(high_faces.bytes.chunks(56)) {
                    assert_eq!((&one[..16], &one[24..]), (&other[..16], &other[24..]), "{name}");
                }
            }
        }
        let lamps = lump(54, if map.version() == 21 { 100 } else { 88 }).len();
        assert_eq!(lamps, if lump(53, 1).len() == 0 { 0 } else { 2 }, "{name}");
        for (index, samples) in [(52, 56), (51, 55)] {
            let (index, samples) = (lump(index, 4), lump(samples, 28));
            assert!(index.len() == 0 || index.len() == leafs.len(), "{name}");
            let count: usize = (0..index.len()).map(|leaf| usize::from(index.short(leaf, 0))).sum();
            assert_eq!(count, samples.len(), "{name}");
        }

        // Rows of visibility behind their offsets, tight; the last record of the physics ends them.
        let visibility = lump(4, 1);
        let clusters = i32::from_le_bytes(visibility.bytes[..4].try_into().unwrap());
        assert_eq!((clusters, visibility.len()), (2, 4 + 8 * 2 + 4), "{name}");
        assert!((0..leafs.len()).all(|leaf| i32::from(leafs.short(leaf, 4) as i16) < clusters), "{name}");
        assert!(lump(29, 1).bytes.ends_with(&[[0xFF; 8], [0; 8]].concat()), "{name}");
    }
}

#[test]
fn entities_keep_what_readers_like_to_lose() {
    for name in ROOMS {
        let map = Bsp::open(fixture(name)).unwrap();
        let entities = map.entities().unwrap();
        let text = map.bytes(SlotId::Lump(0)).unwrap();
        assert_eq!(*entities.canonical().unwrap(), *text, "{name}");
        let world = entities.get(0).unwrap();
        assert_eq!(world.pairs().next().unwrap().key, b"world_maxs", "{name}");
        assert_eq!(world.get("mapversion").unwrap(), map.revision().unwrap().to_string().as_bytes(), "{name}");
        let relay = entities.iter().find(|entity| entity.class() == Some(b"logic_relay")).unwrap();
        let outputs: Vec<_> = relay.pairs().filter(|pair| pair.key == b"OnTrigger").map(|pair| pair.value).collect();
        assert!(outputs.len() == 4 && outputs[2] == outputs[3], "{name}");
        let separator = if map.version() >= 21 { 0x1B } else { b',' };
        assert!(outputs.iter().all(|output| output.iter().filter(|byte| **byte == separator).count() == 4), "{name}");
    }
}

/// A number of a record: where it stands, and how many bytes it has; a minus for one with a sign, 0 for a float.
type Number = (usize, isize);

/// A lump, the sizes of its records in both forms, and where the same number stands in both.
type Widened = (usize, [usize; 2], &'static [[Number; 2]]);

/// Lumps whose numbers Strata widened.
const WIDENED: &[Widened] = &[
    (
        5,
        [32, 48],
        &[
            [(0, -4), (0, -4)],
            [(4, -4), (4, -4)],
            [(8, -4), (8, -4)],
            [(12, -2), (12, 0)],
            [(22, -2), (32, 0)],
            [(24, 2), (36, 4)],
            [(26, 2), (40, 4)],
            [(28, -2), (44, -2)],
        ],
    ),
    (7, [56, 72], FACE),
    (27, [56, 72], FACE),
    (58, [56, 72], FACE),
    (
        10,
        [32, 56],
        &[
            [(0, -4), (0, -4)],
            [(4, -2), (4, -4)],
            [(6, 2), (8, 4)],
            [(8, -2), (12, 0)],
            [(18, -2), (32, 0)],
            [(20, 2), (36, 4)],
            [(22, 2), (40, 4)],
            [(24, 2), (44, 4)],
            [(26, 2), (48, 4)],
            [(28, -2), (52, -4)],
        ],
    ),
    (11, [2, 4], ONE),
    (12, [4, 8], &[[(0, 2), (0, 4)], [(2, 2), (4, 4)]]),
    (16, [2, 4], ONE),
    (17, [2, 4], ONE),
    (19, [8, 16], &[[(0, 2), (0, 4)], [(2, -2), (4, -4)]]),
    (31, [2, 4], ONE),
    (51, [4, 8], &[[(0, 2), (0, 4)], [(2, 2), (4, 4)]]),
    (52, [4, 8], &[[(0, 2), (0, 4)], [(2, 2), (4, 4)]]),
];

const ONE: &[[Number; 2]] = &[[(0, 2), (0, 4)]];

const FACE: &[[Number; 2]] = &[
    [(0, 2), (0, 4)],
    [(2, 1), (4, 1)],
    [(3, 1), (5, 1)],
    [(4, -4), (8, -4)],
    [(8, -2), (12, -4)],
    [(10, -2), (16, -4)],
    [(12, -2), (20, -4)],
    [(14, -2), (24, -4)],
    [(16, 4), (28, 4)],
    [(20, -4), (32, -4)],
    [(24, 4), (36, 4)],
    [(28, -4), (40, -4)],
    [(36, -4), (48, -4)],
    [(40, -4), (52, -4)],
    [(44, -4), (56, -4)],
    [(52, 4), (68, 4)],
];

/// Strata's room is that of Left 4 Dead 2, which has the same light, with wider numbers.
#[test]
fn the_wide_room_says_the_same() {
    let (narrow, wide) = (Bsp::open(fixture("room_l4d2")).unwrap(), Bsp::open(fixture("room_strata")).unwrap());
    let number = |bytes: &[u8], (at, size): Number| -> f64 {
        let long = |count: usize| {
            let mut long = [0; 8];
            long[..count].copy_from_slice(&bytes[at..at + count]);
            i64::from_le_bytes(long)
        };
        match size {
            0 => f32::from_bits(long(4) as u32).into(),
            size => {
                let (value, bits) = (long(size.unsigned_abs()), 64 - 8 * size.unsigned_abs());
                (if size < 0 { value << bits >> bits } else { value }) as f64
            }
        }
    };
    for (index, [small, large], numbers) in WIDENED {
        let lumps = [&narrow, &wide].map(|map| map.bytes(SlotId::Lump(*index)).unwrap());
        let count = lumps[0].len() / small;
        assert_eq!(lumps[1].len(), count * large, "lump {index}");
        assert!(count > 0, "lump {index}");
        for (record, (one, other)) in lumps[0].chunks(*small).zip(lumps[1].chunks(*large)).enumerate() {
            for [old, new] in *numbers {
                assert_eq!(number(one, *old), number(other, *new), "lump {index}, record {record}, at {}", old.0);
            }
        }
    }
    // The same struct in both.
    for lump in [1, 3, 6, 8, 13, 14, 15, 18, 20, 30, 42, 46, 47, 53, 54, 55, 56] {
        let [one, other] = [&narrow, &wide].map(|map| map.bytes(SlotId::Lump(lump)).unwrap());
        assert_eq!(*one, *other, "lump {lump}");
    }
    let overlays = wide.bytes(SlotId::Lump(45)).unwrap();
    assert_eq!((overlays.len(), &overlays[..16]), (124, &[1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0][..]));
    assert_eq!(wide.bytes(SlotId::Lump(28)).unwrap().len(), 4);
}
