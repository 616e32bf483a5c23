//! Entries of BSPX and what Xash3D adds: the values that stand in the bytes, as many as the map calls for, and nothing
//! else believed. On the fixtures, on built maps, on every map of the corpus (`BSPKIT_CORPUS`), and on noise.

use crate::{corpus, random};
use bspkit::content::bspx::{BrushList, LightOctree, LightPoint, OctreeFault};
use bspkit::dialect::{self, Dialect, GOLDSRC, QBISM, QUAKE, QUAKE2, bspx, goldsrc, xash};
use bspkit::{Bsp, Builder, ErrorKind, Layout, Slot};
use proptest::prelude::*;

const TEXT: &[u8] = b"{\n\"classname\" \"worldspawn\"\n}\n\0";

fn open(name: &str) -> Bsp<'static> {
    Bsp::open(format!("{}/tests/maps/{name}.bsp", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// An entry's bytes, found without the library.
fn entry(file: &[u8], name: &str) -> Vec<u8> {
    let block = file.windows(4).rposition(|window| window == b"BSPX").unwrap();
    let count = u32_at(file, block + 4);
    let entries = (0..count).map(|index| &file[block + 8 + 32 * index..][..32]);
    let is_it = |entry: &&[u8]| {
        entry[..24].strip_prefix(name.as_bytes()).is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
    };
    let entry = entries.into_iter().find(is_it).unwrap();
    file[u32_at(entry, 24)..][..u32_at(entry, 28)].to_vec()
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())).unwrap()
}

fn f32_at(bytes: &[u8], at: usize) -> f32 {
    f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn point_at(bytes: &[u8], at: usize) -> [f32; 3] {
    [0, 4, 8].map(|more| f32_at(bytes, at + more))
}

fn bytes_of(map: &Bsp<'_>, name: &str) -> Vec<u8> {
    map.bytes(map.slot(name).unwrap().id).unwrap().to_vec()
}

#[test]
fn values_are_what_stands_in_the_bytes() {
    let map = open("q1/own_rooms_bspx");
    let file = map.container().bytes();
    for (name, colors) in [
        ("RGBLIGHTING", map.table(bspx::RGBLIGHTING).unwrap().iter().map(|sample| sample.color).collect::<Vec<_>>()),
        ("LIGHTINGDIR", map.table(bspx::LIGHTINGDIR).unwrap().iter().map(|sample| sample.direction).collect()),
    ] {
        assert_eq!(colors.concat(), entry(file, name));
        assert_eq!(colors.len(), bytes_of(&map, "LIGHTING").len());
    }
    let map = open("q2/own_rooms_bspx");
    let normals = entry(map.container().bytes(), "FACENORMALS");
    let count = u32_at(&normals, 0);
    let (vectors, corners) = (map.table(bspx::NORMALS).unwrap(), map.table(bspx::CORNERS).unwrap());
    assert_eq!((vectors.len(), 4 + 12 * count + 12 * corners.len()), (count, normals.len()));
    let edges: usize = bytes_of(&map, "FACES").chunks(20).map(|face| usize::from(face[8])).sum();
    assert_eq!(corners.len(), edges);
    for (index, vector) in vectors.iter().enumerate() {
        assert_eq!(vector.vector, point_at(&normals, 4 + 12 * index));
    }
    for (index, corner) in corners.iter().enumerate() {
        let at = 4 + 12 * count + 12 * index;
        let found = [corner.normal, corner.tangent, corner.bitangent].map(|number| usize::try_from(number).unwrap());
        assert_eq!(found, [0, 4, 8].map(|more| u32_at(&normals, at + more)));
    }
}

/// Of every map with light of its own size: the luxels that the vectors give lie within the size that is said.
#[test]
fn decoupled_light_of_real_maps() {
    let (mut maps, mut lit) = (0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let Ok(slot) = map.slot("bspx:DECOUPLED_LM") else { continue };
        let places = map.table(bspx::DECOUPLED_LM).unwrap();
        let bytes = map.bytes(slot.id).unwrap();
        for (face, place) in places.iter().enumerate() {
            let record = &bytes[40 * face..40 * (face + 1)];
            let [wide, high] = [0, 2].map(|at| u16::from_le_bytes([record[at], record[at + 1]]));
            assert_eq!((place.size, place.offset.to_le_bytes()), ([wide, high], record[4..8].try_into().unwrap()));
            assert_eq!(place.vectors[1][3], f32_at(record, 36));
            lit += usize::from(place.offset >= 0);
        }
        maps += 1;
    }
    println!("{lit} lit faces in {maps} maps");
}

/// Brushes by hand: from each on to the next, until the entry ends.
fn check_brushes(bytes: &[u8]) -> usize {
    let list = BrushList::parse(bytes).unwrap();
    assert_eq!(list.to_bytes(), bytes);
    let (mut at, mut count) = (0, 0);
    for place in 0..list.len() {
        let head = list.model(place).unwrap();
        assert_eq!([head.version, head.model].map(|number| usize::try_from(number).unwrap()), [1, place]);
        assert_eq!(usize::try_from(head.brush_count).unwrap(), u32_at(bytes, at + 8));
        at += 16;
        for brush in list.brushes(place) {
            assert_eq!((brush.head.mins, brush.head.maxs), (point_at(bytes, at), point_at(bytes, at + 12)));
            assert_eq!(brush.head.contents.to_le_bytes(), bytes[at + 24..at + 26]);
            at += 28;
            for plane in &brush.planes {
                assert_eq!((plane.normal, plane.distance), (point_at(bytes, at), f32_at(bytes, at + 12)));
                at += 16;
            }
            count += 1;
        }
    }
    assert_eq!(at, bytes.len());
    count
}

/// Every point of every leaf is the one that the tree leads to, and nothing is left over.
fn check_octree(octree: &LightOctree<'_>) -> [usize; 3] {
    assert_eq!((octree.fault(), octree.rest()), (None, &[][..]));
    let (mut lit, mut occluded) = (0, 0);
    for leaf in 0..octree.len() {
        let head = octree.leaf(leaf).unwrap();
        let mut points = octree.leaf_points(leaf);
        let [mins, size] = [head.mins, head.size].map(|numbers| numbers.map(|number| u32::try_from(number).unwrap()));
        for z in 0..size[2] {
            for (x, y) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))) {
                let (here, found) = (points.next().unwrap(), octree.at([mins[0] + x, mins[1] + y, mins[2] + z]));
                let samples = |point: LightPoint<'_>| point.samples().collect::<Vec<_>>();
                let (found, here_samples) = (found.unwrap().unwrap(), samples(here));
                assert_eq!((found.is_occluded(), samples(found)), (here.is_occluded(), here_samples.clone()));
                assert!(here_samples.len() <= usize::from(octree.head().style_count).max(4));
                *if here.is_occluded() { &mut occluded } else { &mut lit } += 1;
            }
        }
        assert!(points.next().is_none());
    }
    assert_eq!(lit + occluded, octree.points());
    [octree.len(), lit, occluded]
}

#[test]
fn brushes_and_grids_of_all_maps() {
    let mut paths = corpus::under("tests/maps".as_ref());
    paths.extend(corpus::maps());
    let (mut brushes, mut grids, mut sum) = (0, 0, [0; 3]);
    for path in paths {
        let Ok(map) = Bsp::open(&path) else { continue };
        if map.slot("bspx:BRUSHLIST").is_ok() {
            assert!(map.brush_list().is_ok());
            brushes += check_brushes(&bytes_of(&map, "bspx:BRUSHLIST"));
        }
        let Ok(octrees) = map.light_octrees() else { continue };
        let mut bytes = Vec::new();
        let is_one = map.slot("bspx:LIGHTGRID_OCTREE").is_ok();
        for octree in octrees.iter() {
            let own = octree.to_bytes();
            if !is_one {
                bytes.extend(u32::try_from(own.len()).unwrap().to_le_bytes());
            }
            bytes.extend(own);
            sum.iter_mut().zip(check_octree(octree)).for_each(|(sum, count)| *sum += count);
        }
        let name = if is_one { "bspx:LIGHTGRID_OCTREE" } else { "bspx:LIGHTGRIDS" };
        assert!(bytes == bytes_of(&map, name), "{}", path.display());
        grids += octrees.len();
    }
    let [leafs, lit, occluded] = sum;
    println!("{brushes} brushes; {lit} lit and {occluded} occluded points in {leafs} leafs of {grids} grids");
    assert!(brushes > 16 && lit > 100);
}

/// Every entry of a map is known, and where it is an array has what its row says.
#[test]
fn every_entry_of_all_maps_is_known() {
    let mut paths = corpus::under("tests/maps".as_ref());
    paths.extend(corpus::maps());
    let mut seen = 0;
    for path in paths {
        let Ok(map) = Bsp::open(&path) else { continue };
        for slot in map.slots().iter().filter(|slot: &&Slot| slot.name.starts_with("bspx:")) {
            assert!(map.row(slot).is_ok(), "{} {}: {:?}", path.display(), slot.name, map.row(slot));
            seen += 1;
        }
    }
    assert!(seen >= 6);
}

/// A map of so many faces and vertexes, with so many bytes of light.
fn built(dialect: &'static Dialect, faces: usize, vertexes: usize, light: usize) -> Builder {
    let lump = |name: &str| dialect.lumps.iter().position(|lump| lump.name == name).unwrap();
    let face = dialect.rows_of("FACES").find_map(dialect::Row::record).unwrap().size;
    Builder::new(dialect)
        .lump(lump("ENTITIES"), TEXT)
        .lump(lump("FACES"), vec![0; face * faces])
        .lump(lump("VERTEXES"), vec![0; 12 * vertexes])
        .lump(lump("LIGHTING"), vec![9; light])
}

/// Each entry has the records of its name where it has as many as the map calls for, and bytes where not.
#[test]
fn as_many_as_the_map_calls_for() {
    // What there are three of, five of, and of the luxels seven.
    let (faces, vertexes, luxels) = (3, 5, 7);
    let entries = [
        ("RGBLIGHTING", "ColorSample", 3, luxels),
        ("LIGHTING_E5BGR9", "FloatSample", 4, luxels),
        ("LIGHTINGDIR", "DirectionSample", 3, luxels),
        ("LMSHIFT", "LightShift", 1, faces),
        ("LMOFFSET", "LightOffset", 4, faces),
        ("LMSTYLE", "LightStyles", 4, faces),
        ("LMSTYLE16", "LightStyles16", 8, faces),
        ("DECOUPLED_LM", "DecoupledLight", 40, faces),
        ("VERTEXNORMALS", "VertexNormal", 12, vertexes),
        ("SURFENVMAP", "SurfaceEnvMap", 4, faces),
    ];
    for (dialect, luxel) in
        [(&QUAKE, 1), (&dialect::BSP2, 1), (&dialect::PSB2, 1), (&GOLDSRC, 3), (&QUAKE2, 3), (&QBISM, 3)]
    {
        for (name, record, size, count) in entries {
            let map = built(dialect, faces, vertexes, luxel * luxels);
            for (bytes, is_known) in
                [(size * count, true), (size * count + size, false), (size * count - 1, false), (0, true)]
            {
                let map = Bsp::from_vec(map.clone().bspx(name, vec![1; bytes]).build().unwrap()).unwrap();
                let row = map.row(map.slot(&format!("bspx:{name}")).unwrap());
                let context = format!("{} {name} {bytes}: {row:?}", dialect.name);
                match row {
                    Ok(row) => assert!(is_known && row.record().unwrap().name == record, "{context}"),
                    // Four styles too many may be one more for each of four faces, but there are three.
                    Err(why) => assert!(!is_known && why.to_string().contains("bytes are not"), "{context}"),
                }
            }
        }
    }
}

/// Where a compiler left the lighting lump out, the copy is all the light there is.
#[test]
fn a_copy_without_the_light_is_what_it_is() {
    let map = Bsp::from_vec(built(&QUAKE, 1, 1, 0).bspx("RGBLIGHTING", [7; 30]).build().unwrap()).unwrap();
    assert_eq!(map.table(bspx::RGBLIGHTING).unwrap().len(), 10);
}

#[test]
fn styles_are_any_number_a_face() {
    for (each, four) in [(1, false), (2, false), (3, false), (4, true), (8, false), (16, false)] {
        let map = built(&QUAKE, 3, 1, 9).bspx("LMSTYLE", vec![255; 3 * each]).bspx("LMSTYLE16", vec![255; 6 * each]);
        let map = Bsp::from_vec(map.build().unwrap()).unwrap();
        match four {
            true => {
                assert_eq!(map.table(bspx::LMSTYLE).unwrap().get(2).unwrap().styles, [255; 4]);
                assert_eq!(map.table(bspx::LMSTYLE16).unwrap().get(2).unwrap().styles, [65_535; 4]);
            }
            false => {
                assert_eq!(map.table(bspx::LMSTYLE_EACH).unwrap().len(), 3 * each);
                assert_eq!(map.table(bspx::LMSTYLE16_EACH).unwrap().len(), 3 * each);
            }
        }
    }
}

/// A record is changed, one is added, and what is not of that entry keeps its bytes wherever it comes to stand.
#[test]
fn edits_move_the_other_entries() {
    let map = open("q2/own_rooms_bspx");
    for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
        let mut draft = map.draft();
        draft.update(bspx::CORNERS, 7, |corner| corner.tangent = 1).unwrap();
        let vector = map.table(bspx::NORMALS).unwrap().get(0).unwrap();
        draft.table(bspx::NORMALS).unwrap().push_without_following(vector);
        let saved = Bsp::from_vec(draft.plan(layout).unwrap().to_vec()).unwrap();
        let (vectors, corners) = (saved.table(bspx::NORMALS).unwrap(), saved.table(bspx::CORNERS).unwrap());
        assert_eq!((vectors.len(), corners.len(), corners.get(7).unwrap().tangent), (7, 496, 1));
        for name in ["bspx:LIGHTGRID_OCTREE", "bspx:LIGHTINGDIR", "FACES"] {
            assert_eq!(bytes_of(&saved, name), bytes_of(&map, name), "{layout:?} {name}");
        }
        // Shorter by a corner the entry fits no more.
        let mut draft = saved.draft();
        let len = corners.len();
        draft.table(bspx::CORNERS).unwrap().truncate_without_following(len - 1);
        let broken = Bsp::from_vec(draft.plan(layout).unwrap().to_vec()).unwrap();
        let error = broken.table(bspx::CORNERS).unwrap_err();
        assert!(error.to_string().contains("are not 12 for each of the 496 edges"), "{error}");
    }
}

fn octree_bytes() -> Vec<u8> {
    bytes_of(&open("q2/own_rooms_bspx"), "bspx:LIGHTGRID_OCTREE")
}

/// Cut anywhere an octree is refused, and never read past its end; so are brushes but between two models.
#[test]
fn what_is_cut_is_refused() {
    let octree = octree_bytes();
    for len in (0..octree.len()).filter(|len| len % 7 == 0 || *len < 400) {
        assert_eq!(LightOctree::parse(&octree[..len]).unwrap_err().kind(), ErrorKind::Malformed, "{len}");
    }
    let mut longer = octree.clone();
    longer.extend([1, 2, 3]);
    assert_eq!(LightOctree::parse(&longer[..]).unwrap().rest(), [1, 2, 3]);
    let brushes = bytes_of(&open("q1/own_rooms_bspx"), "bspx:BRUSHLIST");
    let whole = (0..brushes.len()).filter(|len| BrushList::parse(&brushes[..*len]).is_ok()).count();
    assert_eq!(whole, 5);
    // The fixture's brushes are boxes: one with a plane of its own.
    let head = [1_u32, 0, 1, 1].map(u32::to_le_bytes).concat();
    let cut = [&head[..], &[0; 24], &(-2_i16).to_le_bytes(), &1_u16.to_le_bytes(), &[0; 16]].concat();
    assert_eq!(BrushList::parse(&cut[..]).unwrap().brushes(0).next().unwrap().planes.len(), 1);
    for len in 1..cut.len() {
        assert_eq!(BrushList::parse(&cut[..len]).unwrap_err().kind(), ErrorKind::Malformed, "{len}");
    }
    let mut other = brushes;
    other[0] = 2;
    assert_eq!(BrushList::parse(&other[..]).unwrap_err().kind(), ErrorKind::Unsupported);
}

/// Where the root's children are said to be.
const CHILDREN: usize = 45 + 12;

#[test]
fn circles_and_children_that_are_not_there_are_told() {
    let old = octree_bytes();
    let with = |child: u32| {
        let mut bytes = old.clone();
        (0..8).for_each(|index| bytes[CHILDREN + 4 * index..][..4].copy_from_slice(&child.to_le_bytes()));
        bytes
    };
    let circle = with(0);
    let circle = LightOctree::parse(&circle[..]).unwrap();
    assert_eq!(circle.fault(), Some(OctreeFault::Twice(0)));
    assert!(circle.at([0; 3]).unwrap_err().to_string().contains("cycle"));
    for child in [1 << 29, (1 << 31) + 100_000] {
        let bytes = with(child);
        let octree = LightOctree::parse(&bytes[..]).unwrap();
        assert_eq!(octree.fault(), Some(OctreeFault::NoChild(Some(0), child)));
        assert!(!octree.at([0; 3]).is_ok_and(|point| point.is_some()));
    }
    let nothing = with(1 << 30);
    let octree = LightOctree::parse(&nothing[..]).unwrap();
    assert!(octree.fault().is_none() && octree.at([0; 3]).unwrap().is_none());
}

proptest! {
    #![proptest_config(random::config(256, "tests/proptest-regressions/bspx.txt"))]

    /// Bytes that changed here and there are refused, or read and written to themselves.
    #[test]
    fn noise_is_refused_or_kept(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let flipped = |mut bytes: Vec<u8>, most: usize| {
            let most = most.min(bytes.len());
            flips.iter().for_each(|(at, byte)| bytes[at.index(most)] ^= byte);
            bytes
        };
        for most in [200, usize::MAX] {
            let bytes = flipped(octree_bytes(), most);
            if let Ok(octree) = LightOctree::parse(&bytes[..]) {
                prop_assert!(octree.to_bytes() == bytes);
                let _ = (octree.fault(), octree.at([1, 2, 3]));
            }
            let mut grids = u32::try_from(octree_bytes().len()).unwrap().to_le_bytes().to_vec();
            grids.extend(flipped(octree_bytes(), most));
            for octree in LightOctree::parse_all(grids).into_iter().flatten() {
                prop_assert_eq!(octree.to_bytes().len(), octree_bytes().len());
            }
            let bytes = flipped(bytes_of(&open("q1/own_rooms_bspx"), "bspx:BRUSHLIST"), most);
            if let Ok(list) = BrushList::parse(&bytes[..]) {
                prop_assert!(list.to_bytes() == bytes);
            }
        }
    }
}

/// A GoldSrc map with Xash3D's extra header or without, and clip nodes of so many bytes.
fn clip_nodes(is_extended: bool, len: usize) -> Bsp<'static> {
    let map = Builder::new(&GOLDSRC).lump(0, TEXT).lump(6, vec![2; 40]).lump(9, vec![0; len]);
    let map = if is_extended { map.extra(0, [1, 2, 3]) } else { map };
    Bsp::from_vec(map.build().unwrap()).unwrap()
}

/// Xash3D tells clip nodes by their length, and flags by the header that it adds.
#[test]
fn structs_of_xash_are_told_by_its_header() {
    for (is_extended, len, is_wide) in [
        (false, 24, false),
        (false, 12, false),
        (false, 12 * 40_000, false),
        (true, 24, false),
        (true, 0, false),
        (true, 12, true),
        (true, 12 * 32_768, true),
    ] {
        let map = clip_nodes(is_extended, len);
        assert_eq!(map.slots().iter().any(|slot| slot.name == "extra:LIGHTVECS"), is_extended);
        match is_wide {
            true => assert_eq!(map.table(xash::CLIPNODES).unwrap().len(), len / 12, "{is_extended} {len}"),
            false => assert_eq!(map.table(goldsrc::CLIPNODES).unwrap().len(), len / 8, "{is_extended} {len}"),
        }
        match is_extended {
            true => {
                let texinfo = map.table(xash::TEXINFO).unwrap().get(0).unwrap();
                assert_eq!((texinfo.flags, texinfo.face_info), (0x0202, 0x0202));
                assert_eq!(map.table(goldsrc::TEXINFO).unwrap_err().kind(), ErrorKind::Unsupported);
                let why = map.row(map.slot("extra:LIGHTVECS").unwrap()).unwrap_err().to_string();
                assert!(why.contains("no map with one was available"), "{why}");
            }
            false => assert_eq!(map.table(goldsrc::TEXINFO).unwrap().get(0).unwrap().flags, 0x0202_0202),
        }
    }
}

/// An edit after which the engine would take the records for others is refused with that reason.
#[test]
fn clip_nodes_of_xash_keep_their_kind() {
    let map = clip_nodes(true, 12 * 5);
    let mut draft = map.draft();
    let error = draft.structure().splice_list("CLIPNODES", 4..5, Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("records for those of 8 bytes"), "{error}");
    draft.structure().splice_list("CLIPNODES", 3..5, Vec::new()).unwrap_err();
}
