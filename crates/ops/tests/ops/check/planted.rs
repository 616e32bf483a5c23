//! Maps with one fault each, and maps that look faulty and are not.

use bspkit::{Bsp, Builder, SlotId, dialect};

pub(crate) use super::making::*;

pub(crate) type Fault = (&'static str, fn() -> Vec<u8>);

/// What is no fault.
pub(crate) const UNUSED: Fault = ("unused-records", || edited(&own("q2"), "VERTEXES", |bytes| bytes.extend([0; 24])));

/// For every other code at least one fault that is found by it and by no other.
pub(crate) const FAULTS: &[Fault] = &[
    ("file-cut", || cut(source(), 30)),
    ("lump-outside", || word(word(own("q2"), 16, 0, 1 << 30), 16, 1, 256)),
    ("lump-outside", || word(word(own("q2"), 16, 0, 160), 16, 1, -1)),
    ("lump-in-header", || word(word(own("q2"), 16, 0, 0), 16, 1, 8)),
    ("lump-overlap", || word(word(own("q2"), 16, 0, 200), 16, 1, 8)),
    ("lump-compression", || word(source(), 3, 3, 99)),
    ("lump-decompress", || word(fixture("source/room_v20_lzma"), 42, 3, 17)),
    ("lump-ragged", || edited(&own("q2"), "VERTEXES", |bytes| bytes.push(0))),
    ("lump-ragged", || edited(&source(), "FACES", |bytes| bytes.push(0))),
    ("lump-ragged", || edited(&source(), "LEAFS", |bytes| bytes.push(0))),
    ("lump-misfit", || edited(&source(), "OCCLUSION", |bytes| bytes[0] = 200)),
    ("lump-misfit", || widened()),
    ("count-misfit", || with(&source(), "MODELS", 0, "face_count", 2)),
    ("count-misfit", || with(&source(), "BRUSHES", 0, "side_count", 7)),
    ("count-misfit", || props(|names, _, _| names, -1)),
    ("count-misfit", || props(|names, _, _| names, 99_999_999)),
    ("count-misfit", || props(|_, leafs, _| leafs, i32::MAX)),
    ("count-misfit", || props(|_, _, props| props, i32::MAX)),
    ("count-misfit", || props(|_, _, props| props, -1)),
    ("count-misfit", || props(|_, _, props| props, 4)),
    ("light-kind", || with(&source(), "WORLDLIGHTS", 0, "kind", 7)),
    ("disp-verts", || with(&displaced(), "DISPINFO", 0, "power", 5)),
    ("lump-empty", || quake3_without(1)),
    ("lump-empty", || edited(&own("q2"), "entities", Vec::clear)),
    ("lump-empty", || edited(&own("goldsrc"), "entities", Vec::clear)),
    ("lump-empty", || edited(&source(), "entities", Vec::clear)),
    ("lump-unknown", || edited(&source(), "PHYSLEVEL", |bytes| bytes.push(0))),
    ("lump-unchecked", || expanding()),
    ("lump-parallel", || edited(&source(), "LEAFMINDISTTOWATER", |bytes| bytes.truncate(4))),
    ("lump-parallel", || edited(&source(), "VERTNORMALINDICES", |bytes| bytes.truncate(bytes.len() - 2))),
    ("lump-parallel", || edited(&displaced(), "PHYSDISP", |bytes| *bytes = vec![2, 0, 0xFF, 0xFF, 0xFF, 0xFF])),
    ("lump-version", || word(edited(&source(), "OCCLUSION", |bytes| bytes.resize(12, 0)), 9, 2, 7)),
    ("bspx-directory", || {
        let mut map = fixture("q2/own_rooms_bspx");
        let at = map.windows(4).rposition(|window| window == b"BSPX").unwrap();
        map[at + 4..at + 8].fill(0x7F);
        map
    }),
    ("game-directory", || edited(&source(), "GAME_LUMP", |bytes| bytes[2] = 1)),
    ("pak-directory", || edited(&source(), "PAKFILE", |bytes| bytes.fill(7))),
    ("index-beyond", || with(&fixture("source/room_v21"), "FACEBRUSHLIST", 3, "first", 500)),
    ("index-beyond", || with(&source(), "LEAF_AMBIENT_INDEX", 2, "first", 500)),
    ("index-range", || with(&own("q2"), "FACES", 3, "texinfo", 500)),
    ("index-range", || with(&own("goldsrc"), "TEXINFO", 3, "texture", 500)),
    ("index-range", || with(&own("goldsrc"), "CLIPNODES", 3, "children[1]", 5000)),
    ("index-range", || with(&source(), "LEAFS", 3, "area_flags", 100)),
    ("index-range", || with(&source(), "game:sprp", 1, "model", 2)),
    ("index-range", || {
        let fog: Vec<u8> = [0; 64].into_iter().chain(1_i32.to_le_bytes()).chain(99_i32.to_le_bytes()).collect();
        edited(&own("q3"), "FOGS", |bytes| bytes.extend(fog))
    }),
    ("index-range", || {
        // One solid of 4 bytes, for a model that is not there.
        let block = [9_i32, 8, 0, 1, 4, 0].into_iter().flat_map(i32::to_le_bytes).collect::<Vec<u8>>();
        edited(&source(), "PHYSCOLLIDE", |bytes| drop(bytes.splice(..0, block)))
    }),
    ("run-range", || with(&own("q2"), "LEAFS", 3, "leaf_face_count", 5000)),
    ("run-range", || with(&own("q3"), "BRUSHES", 1, "first_side", -1)),
    ("run-range", || in_both(&source(), 1, "primitive_count", 0x8001)),
    ("run-range", || {
        let map = source();
        let leaf = (0..16).find(|leaf| read(&map, "LEAF_AMBIENT_INDEX", *leaf, "count") > 0).unwrap();
        with(&map, "LEAF_AMBIENT_INDEX", leaf, "first", 200)
    }),
    ("run-range", || with(&source(), "game:sprp", 1, "leaf_count", 200)),
    ("index-range", || with(&source(), "game:dprp", 0, "model", 200)),
    ("run-range", || styled(3)),
    ("run-range", || occluder([0, 2], [0, 3])),
    ("run-range", || occluder([0, 1], [1, 3])),
    ("child-range", || with(&own("q2"), "NODES", 3, "children[1]", 9999)),
    ("child-range", || with(&own("q3"), "NODES", 3, "children[0]", -9999)),
    ("edge-range", || with(&own("q2"), "SURFEDGES", 3, "edge", -9999)),
    ("tree-cycle", || with(&own("q3"), "NODES", 3, "children[0]", 0)),
    ("tree-cycle", || with(&own("goldsrc"), "CLIPNODES", 5, "children[0]", 5)),
    ("tree-cycle", || with(&own("goldsrc"), "CLIPNODES", 5, "children[0]", 0)),
    ("index-range", || with(&own("q1"), "MODELS", 1, "clip_nodes[1]", 5000)),
    ("index-range", || with(&own("goldsrc"), "MODELS", 0, "clip_nodes[2]", 5000)),
    ("index-range", || {
        // In Quake the number of clip nodes stands for nothing.
        let map = own("q1");
        let count = Bsp::parse(&map).unwrap().records("CLIPNODES").unwrap().len();
        with(&map, "MODELS", 1, "clip_nodes[0]", i64::try_from(count).unwrap())
    }),
    ("world-head", || with(&own("q2"), "MODELS", 0, "head_node", 1)),
    ("node-faces", || {
        let map = own("q2");
        let node = (1..60).find(|node| read(&map, "NODES", *node, "face_count") > 0).unwrap();
        let next = (node + 1..60).find(|node| read(&map, "NODES", *node, "face_count") > 0).unwrap();
        let first = read(&map, "NODES", node, "first_face");
        with(&map, "NODES", next, "first_face", first)
    }),
    ("leaf-count", || with(&own("goldsrc"), "MODELS", 1, "visible_leafs", 100_000)),
    ("leaf-solid", || with(&own("goldsrc"), "LEAFS", 0, "contents", -1)),
    ("leaf-empty", || (1..68).fold(own("q2"), |map, leaf| with(&map, "LEAFS", leaf, "contents", 1))),
    ("vis-header", || edited(&own("q2"), "VISIBILITY", |bytes| bytes[3] = 1)),
    ("vis-header", || edited(&own("q3"), "VISIBILITY", |bytes| bytes.push(0))),
    ("vis-offset", || edited(&own("q2"), "VISIBILITY", |bytes| bytes[4] = 1)),
    ("vis-offset", || with(&own("goldsrc"), "LEAFS", 1, "visibility_offset", 5000)),
    ("vis-row", || {
        edited(&own("q2"), "VISIBILITY", |bytes| {
            let len = bytes.len();
            bytes[len - 1] = 0;
        })
    }),
    ("vis-cluster", || with(&own("q2"), "LEAFS", 3, "cluster", -2)),
    ("vis-cluster", || with(&source(), "LEAFS", 3, "cluster", -32_768)),
    ("vis-cluster", || with(&source(), "WORLDLIGHTS", 0, "cluster", 5000)),
    ("vis-cluster", || with(&own("q3"), "LEAFS", 3, "cluster", 500)),
    ("plane-normal", || with_float(&own("q2"), "PLANES", 0, "distance", f32::NAN)),
    ("plane-normal", || with_float(&own("q1"), "PLANES", axial(&own("q1")), "distance", f32::NEG_INFINITY)),
    ("vertex-point", || with_float(&own("q3"), "DRAWVERTS", 3, "point[1]", f32::INFINITY)),
    ("plane-kind", || with_float(&own("q2"), "PLANES", axial(&own("q2")), "normal[1]", 0.05)),
    ("light-range", || with(&own("q2"), "FACES", 3, "light_offset", 48_930)),
    ("light-range", || with(&own("goldsrc"), "FACES", 3, "light_offset", -9)),
    ("light-range", || in_both(&source(), 3, "luxel_size[0]", 2000)),
    ("light-range", || {
        let map = edited(&edited(&source(), "FACES_HDR", Vec::clear), "LIGHTING", Vec::clear);
        with(&map, "FACES", 3, "luxel_size[1]", 2000)
    }),
    ("light-page", || with(&own("q3"), "SURFACES", 3, "lightmap", 1)),
    ("light-extents", || stretched()),
    ("light-grid", || edited(&own("q3"), "LIGHTGRID", |bytes| bytes.truncate(160))),
    ("light-grid", || text(&own("q3"), "128 128 256", "128 128 128")),
    ("entity-record", || text(&own("q2"), "\"style\" \"1\"", "\"style\" \"7\"")),
    ("entity-record", || text(&source(), "{", "{\n\"portalnumber\" \"77\"")),
    ("entity-record", || text(&occluder([0, 1], [0, 3]), "{", "{\n\"occludernumber\" \"1\"")),
    ("entity-model", || text(&own("q2"), "\"*2\"", "\"*9\"")),
    ("entity-no-model", || text(&own("q2"), "\"model\" \"*2\"", "\"mangle\" \"*2\"")),
    ("entity-no-model", || entity(&own("q3"), "{\n\"classname\" \"trigger_hurt\"\n}\n")),
    ("entity-no-key", || entity(&own("q3"), "{\n\"classname\" \"target_speaker\"\n}\n")),
    ("entity-no-model", || entity(&own("q3"), "{\n\"classname\" \"func_static\"\n\"model\" \"models/box.md3\"\n}\n")),
    ("entity-no-extent", || entity(&own("q1"), "{\n\"classname\" \"trigger_hurt\"\n}\n")),
    ("entity-target", || entity(&own("q1"), "{\n\"classname\" \"func_timer\"\n\"target\" \"nowhere\"\n}\n")),
    ("entity-target", || entity(&source(), "{\n\"classname\" \"logic_auto\"\n\"OnMapSpawn\" \"no*,Open,,0,-1\"\n}\n")),
    ("entity-model", || text(&own("q2"), "\"*2\"", "\"*two\"")),
    ("entity-model", || {
        let map = own("q3");
        let parsed = Bsp::parse(&map).unwrap();
        let lumps = (0..17).map(|index| (index, parsed.bytes(SlotId::Lump(index)).unwrap().to_vec()));
        let shown = [[0; 64].as_slice(), b"*999", &[0; 60]].concat();
        let builder = Builder::new(&dialect::QUAKE3).shape(dialect::QUAKE3.shapes[1]);
        let lumps = lumps.chain([(17, shown)]);
        lumps.fold(builder, |builder, (index, bytes)| builder.lump(index, bytes)).build().unwrap()
    }),
    ("entity-world", || text(&own("q2"), "worldspawn", "worldspawm")),
    ("entity-no-spawn", || text(&source(), "info_player_start", "info_plaier_start")),
    ("entity-worlds", || entity(&own("q3"), "{\n\"Classname\" \"WorldSpawn\"\n}\n")),
    ("entity-two-classes", || entity(&source(), "{\n\"classname\" \"light\"\n\"classname\" \"info_null\"\n}\n")),
    ("entity-syntax", || text(&source(), "\"worldspawn\"\n", "\"worldspawn\"\n\"alone\"\n")),
    ("entity-structure", || text(&own("q2"), "\"worldspawn\"\n", "\"worldspawn\"\n\"alone\"\n")),
    ("entity-structure", || text(&own("q2"), "\n}\n{", "\n{")),
    ("entity-structure", || text(&own("q3"), "\n}\n{", "\n}\nwords\n{")),
    ("entity-structure", || text(&source(), "\n}\n{", "\n}\n}\n{")),
    ("entity-structure", || {
        edited(&own("goldsrc"), "entities", |bytes| {
            let end = bytes.iter().rposition(|byte| *byte == b'}').unwrap();
            bytes.remove(end);
        })
    }),
    ("entity-quotes", || text(&own("goldsrc"), "\"worldspawn\"", "\"worldspawn\" \"key\"value")),
    ("entity-brace", || pair(&own("q2"), "message2", "}")),
    ("entity-brace", || pair(&source(), "message2", "{")),
    ("entity-token", || pair(&own("q2"), "message2", &"x".repeat(1024))),
    ("entity-size", || (0..70).fold(own("q3"), |map, number| pair(&map, &format!("key{number}"), "x"))),
    ("entity-engines", || text(&own("goldsrc"), "{\n\"classname\" \"worldspawn\"", "{\"classname\" \"worldspawn\"")),
    ("entity-engines", || pair(&own("goldsrc"), "message2", "c:\\")),
    ("entity-engines", || (0..300).fold(own("goldsrc"), |map, number| pair(&map, &format!("key{number}"), "x"))),
    ("entity-structure", || text(&own("q2"), "\n}\n{\n", "\n}\n{x\n")),
    ("entity-class", || {
        edited(&source(), "entities", |bytes| {
            bytes.pop();
            bytes.extend(b"{\n\"Classname\" \"light\"\n}\n\0");
        })
    }),
    ("entity-letters", || pair(&own("q1"), "message2", "maps\\e1m1")),
    ("entity-end", || {
        edited(&own("q3"), "entities", |bytes| {
            assert_eq!(bytes.pop(), Some(0));
            bytes.resize(bytes.len().next_multiple_of(16), b'\n');
        })
    }),
    ("entity-nul", || edited(&own("q2"), "entities", |bytes| assert_eq!(bytes.pop(), Some(0)))),
    ("entity-tail", || edited(&own("q2"), "entities", |bytes| bytes.extend(b"old"))),
    ("entity-unread", || edited(&own("goldsrc"), "entities", |bytes| *bytes = b"{}".repeat(140_000))),
    ("limit", || edited(&own("q2"), "AREAS", |bytes| bytes.resize(257 * 8, 0))),
    ("limit", || {
        edited(&own("q2"), "entities", |bytes| {
            bytes.pop();
            bytes.extend(b"{\n\"classname\" \"light\"\n}\n".repeat(3000));
            bytes.push(0);
        })
    }),
    ("limit", || {
        edited(&own("q3"), "MODELS", |bytes| {
            let model = [&bytes[40..64], &[0; 16]].concat();
            bytes.extend(model.repeat(257 - bytes.len() / 40));
        })
    }),
    ("texinfo-chain", || frames(2)),
    ("texture-none", || edited(&own("goldsrc"), "TEXTURES", Vec::clear)),
    ("texture-name", || with_full_name("q1/own_rooms")),
    ("texture-name", || with_full_name("bsp2/own_rooms")),
    ("texture-name", || with_full_name("goldsrc/own_rooms")),
    ("texture-name", || edited(&own("q2"), "TEXINFO", |bytes| bytes[40..72].fill(b'x'))),
    ("texture-name", || edited(&own("q3"), "SHADERS", |bytes| bytes[..64].fill(b'x'))),
    ("texture-name", || {
        edited(&source(), "TEXDATA_STRING_DATA", |bytes| {
            bytes.pop();
            bytes.extend([b'x'; 200]);
            bytes.push(0);
        })
    }),
    ("texinfo-vector", || with_float(&own("goldsrc"), "TEXINFO", 3, "vectors[2]", f32::NAN)),
    ("texture-frames", || renamed(b"+1own_floor")),
    ("texture-frames", || renamed(b"+zown_floor")),
    ("texture-sky", || {
        edited(&own("q1"), "TEXTURES", |bytes| {
            let (_, at) = first_texture(bytes);
            bytes[at..at + 16].copy_from_slice(b"sky1\0own\0own\0ow\0");
        })
    }),
    ("texture-pixels", || without_pixels("q1/own_rooms")),
    ("texture-pixels", || without_pixels("bsp2/own_rooms")),
    ("texture-mips", || {
        edited(&own("goldsrc"), "TEXTURES", |bytes| {
            let (_, at) = first_texture(bytes);
            bytes[at + 28] = 41;
        })
    }),
    ("texture-size", || {
        edited(&own("goldsrc"), "TEXTURES", |bytes| {
            let (_, at) = first_texture(bytes);
            bytes[at + 16] = 17;
        })
    }),
    ("texture-place", || {
        edited(&own("goldsrc"), "TEXTURES", |bytes| {
            let (entry, _) = first_texture(bytes);
            bytes[entry + 3] = 1;
        })
    }),
    ("texture-place", || edited(&own("goldsrc"), "TEXTURES", |bytes| bytes[3] = 1)),
    ("face-edges", || with(&own("q2"), "FACES", 3, "edge_count", 2)),
    ("model-faces", || with(&own("q2"), "MODELS", 4, "face_count", 1)),
    ("model-brushes", || {
        let map = own("q3");
        with(&map, "MODELS", 0, "brush_count", read(&map, "MODELS", 0, "brush_count") - 1)
    }),
    ("brush-axes", || {
        let map = own("q3");
        with(&map, "BRUSHSIDES", 0, "plane", read(&map, "BRUSHSIDES", 1, "plane"))
    }),
    ("brush-axes", || with(&own("q3"), "BRUSHES", 1, "side_count", 5)),
    ("surface-kind", || with(&own("q3"), "SURFACES", 3, "kind", 0)),
    ("patch-size", || {
        let map = own("q3");
        let surface = first_surface(&map, 1);
        with(&map, "SURFACES", surface, "kind", 2)
    }),
    ("surface-triangles", || {
        let map = own("q3");
        let surface = first_surface(&map, 1);
        with(&map, "SURFACES", surface, "index_count", 4)
    }),
    ("surface-index", || {
        let map = own("q3");
        let first = read(&map, "SURFACES", first_surface(&map, 1), "first_index");
        with(&map, "DRAWINDEXES", usize::try_from(first).unwrap() + 2, "vertex", 1000)
    }),
    ("plane-kind", || with(&source(), "PLANES", 3, "kind", 5)),
    ("plane-kind", || with(&own("q2"), "PLANES", 3, "kind", -1)),
    ("plane-kind", || with(&own("q2"), "PLANES", axial(&own("q2")), "kind", 3)),
    ("index-range", || with(&own("q2"), "EDGES", 1, "vertexes[0]", 60_000)),
    ("index-range", || with(&with(&own("q2"), "EDGES", 0, "vertexes[0]", 60_000), "SURFEDGES", 3, "edge", 0)),
    ("index-range", || with(&own("q2"), "AREAPORTALS", 0, "portal", -1)),
    ("patch-side", || {
        let map = own("q3");
        let surface = first_surface(&map, 2);
        let map = with(&map, "SURFACES", surface, "patch_size[0]", 33);
        let map = with(&map, "SURFACES", surface, "patch_size[1]", 3);
        let map = with(&map, "SURFACES", surface, "first_vertex", 0);
        with(&map, "SURFACES", surface, "vertex_count", 99)
    }),
    ("plane-pair", || with_float(&source(), "PLANES", 3, "distance", 77.5)),
    ("group-order", || details([7, 8, 7])),
    ("twin-record", || with(&source(), "FACES_HDR", 0, "texinfo", 3)),
    ("disp-verts", || with(&displaced(), "DISPINFO", 0, "first_vertex", 1)),
    ("disp-face", || with(&displaced(), "DISPINFO", 0, "face", 1)),
    // A second face with the same displacement.
    ("disp-face", || {
        let (map, face) = (displaced(), read(&displaced(), "DISPINFO", 0, "face"));
        let other = usize::try_from(face).unwrap() + 1;
        ["FACES", "FACES_HDR"].iter().fold(map, |map, lump| with(&map, lump, other, "displacement", 0))
    }),
    ("index-range", || {
        let map = edited(&displaced(), "DISP_LIGHTMAP_SAMPLE_POSITIONS", |bytes| *bytes = vec![0; 8]);
        with(&map, "DISPINFO", 0, "first_sample_position", 9)
    }),
    ("surface-index", || primitive(0, 9)),
    ("surface-kind", || primitive(9, 0)),
    ("string-place", || edited(&source(), "TEXDATA_STRING_DATA", |bytes| assert_eq!(bytes.pop(), Some(0)))),
    ("phys-solids", || edited(&source(), "PHYSDISP", |bytes| *bytes = vec![1, 0, 9, 0])),
    ("phys-solids", || {
        edited(&source(), "PHYSCOLLIDE", |bytes| {
            bytes.splice(..0, [0_i32, 8, 0, 2, 4, 7].into_iter().flat_map(i32::to_le_bytes));
        })
    }),
    ("index-range", || with(&displaced(), "DISPINFO", 0, "first_vertex", 9999)),
    ("index-range", || corner(1)),
    ("string-place", || with(&source(), "TEXDATA_STRING_TABLE", 1, "offset", 9999)),
    ("phys-end", || edited(&source(), "PHYSCOLLIDE", |bytes| bytes[0] = 0)),
];

/// A face with one triangle of this kind, with this corner.
fn primitive(kind: u8, corner: u16) -> Vec<u8> {
    let mut map = source();
    let triangle = [&[kind, 0, 0, 0, 3, 0][..], &[0; 4]].concat();
    map = edited(&map, "PRIMITIVES", |bytes| *bytes = triangle);
    let corners = [0, 1, corner].into_iter().flat_map(u16::to_le_bytes).collect();
    map = edited(&map, "PRIMINDICES", |bytes| *bytes = corners);
    ["FACES", "FACES_HDR"].iter().fold(map, |map, lump| with(&map, lump, 3, "primitive_count", 1))
}

type Faults = (&'static [&'static str], fn() -> Vec<u8>);

/// Several faults, with all codes that are found.
pub(crate) const TOGETHER: &[Faults] = &[
    (&["texture-mips", "texture-place"], || {
        edited(&own("q1"), "TEXTURES", |bytes| {
            let (_, at) = first_texture(bytes);
            bytes[at + 16..at + 24].copy_from_slice(&[0xF0, 0xFF, 0xFF, 0xFF].repeat(2));
        })
    }),
    (&["index-range", "run-range"], || corner(5)),
    (&["count-misfit", "lump-parallel"], || edited(&source(), "FACES_HDR", |bytes| bytes.truncate(bytes.len() - 56))),
    (&["count-misfit", "run-range"], || with(&source(), "MODELS", 0, "face_count", 30_000)),
    (&["count-misfit", "run-range"], || with(&source(), "MODELS", 0, "face_count", -1)),
    (&["count-misfit", "run-range"], || {
        let map = (0..16).fold(source(), |map, face| in_both(&map, face, "first_edge", 0x7FFF_FFFF));
        with(&map, "MODELS", 0, "face_count", 17)
    }),
    // The unpacked size of NODES lies, so that nothing is known of what the leafs should be.
    (&["lump-decompress"], || word(fixture("source/room_v20_lzma"), 5, 3, 17)),
    (&["lump-decompress", "lump-unchecked"], || bombs(&[49, 57, 59])),
    (&["count-misfit", "disp-verts"], || edited(&displaced(), "DISP_VERTS", |bytes| bytes.truncate(480))),
    (&["count-misfit", "child-range", "lump-parallel"], || {
        let map = (0..13).fold(source(), |map, node| with(&map, "NODES", node, "children[1]", 9999));
        edited(&map, "LEAFS", |bytes| bytes.truncate(bytes.len() - 32))
    }),
    (&["count-misfit", "run-range"], || with(&source(), "LEAF_AMBIENT_INDEX", 7, "count", 30_000)),
];

/// Maps that are whole however they look.
pub(crate) fn legal() -> Vec<(&'static str, Vec<u8>)> {
    let goldsrc = own("goldsrc");
    let q2 = own("q2");
    let q3 = own("q3");
    let clip_nodes = Bsp::parse(&goldsrc).unwrap().records("CLIPNODES").unwrap().len();
    vec![
        (
            "a hull of GoldSrc that is not there",
            with(&goldsrc, "MODELS", 1, "clip_nodes[2]", i64::try_from(clip_nodes).unwrap()),
        ),
        ("a hull that is one volume", with(&own("q1"), "MODELS", 1, "clip_nodes[0]", -2)),
        ("a hull that Quake does not read", with(&own("q1"), "MODELS", 1, "clip_nodes[2]", 5000)),
        ("hulls of a map without clip nodes", {
            let map = with(&own("q1"), "MODELS", 1, "clip_nodes[0]", 5000);
            edited(&map, "CLIPNODES", Vec::clear)
        }),
        ("a displacement", displaced()),
        ("ends of an edge that no surfedge names", with(&q2, "EDGES", 0, "vertexes[0]", 60_000)),
        ("a normal that is almost axial", {
            let plane = axial(&q2);
            with(&with_float(&q2, "PLANES", plane, "normal[0]", 0.99998), "PLANES", plane, "kind", 3)
        }),
        ("a normal whose other parts are almost 0", with_float(&q2, "PLANES", axial(&q2), "normal[1]", 1e-9)),
        ("a small map", quake3_without(99)),
        (
            "a run without records begins anywhere",
            with(&with(&q3, "SURFACES", 1, "fog", -1), "LEAFS", 0, "first_leaf_brush", {
                assert_eq!(read(&q3, "LEAFS", 0, "leaf_brush_count"), 0);
                99_999
            }),
        ),
        ("frames in a ring, and a chain that ends", frames(0)),
        ("frames that end with any negative number", with(&q2, "TEXINFO", 3, "next", -7)),
        ("a detail prop with light of two styles", styled(2)),
        ("an occluder", occluder([0, 1], [0, 3])),
        ("detail props by their leafs, in any order of these", details([8, 8, 7])),
        ("two entries for the same bytes", {
            let map = Bsp::parse(&q2).unwrap();
            let light = map.slot("LIGHTING").unwrap();
            let (at, len) = (light.offset, light.length);
            word(word(q2.clone(), 16, 0, at), 16, 1, len)
        }),
        ("equal keys", pair(&pair(&source(), "OnUser1", "a"), "OnUser1", "b")),
        ("no quotes, a comment, a CR", text(&q2, "\"worldspawn\"\n", "\"worldspawn\" // here\r\nkey value\r\n")),
        ("bytes beyond ASCII", pair(&q2, "message2", "\u{e9}")),
        ("two NULs", edited(&q2, "entities", |bytes| bytes.push(0))),
        ("lit in high range alone, with faces for it", {
            edited(&with(&source(), "FACES", 3, "light_offset", 99_999), "LIGHTING", Vec::clear)
        }),
        ("lit in high range alone, without", {
            let map = source();
            let faces = Bsp::parse(&map).unwrap();
            let faces = faces.bytes(faces.slot("FACES_HDR").unwrap().id).unwrap().to_vec();
            let map = edited(&source(), "FACES", |bytes| bytes.clone_from(&faces));
            edited(&edited(&map, "FACES_HDR", Vec::clear), "LIGHTING", Vec::clear)
        }),
        ("never lit", edited(&goldsrc, "LIGHTING", Vec::clear)),
        ("light of files", edited(&with(&q3, "SURFACES", 1, "lightmap", 40), "LIGHTMAPS", Vec::clear)),
        ("no light grid", edited(&q3, "LIGHTGRID", Vec::clear)),
        ("not vised", edited(&q2, "VISIBILITY", Vec::clear)),
        ("not vised either", edited(&goldsrc, "VISIBILITY", Vec::clear)),
        ("no clip nodes of a hull", with(&goldsrc, "MODELS", 1, "clip_nodes[2]", -1)),
        ("contents that no list has", with(&goldsrc, "CLIPNODES", 3, "children[1]", -33)),
        ("a texture that is not there", edited(&goldsrc, "TEXTURES", |bytes| bytes[4..8].fill(0xFF))),
        ("original faces with texinfo of another table", with(&source(), "ORIGINALFACES", 0, "texinfo", 3000)),
        ("a model in a file", pair(&q2, "model", "models/monsters/tank/tris.md2")),
        (
            "a prop of no leafs",
            with(&with(&source(), "game:sprp", 1, "leaf_count", 0), "game:sprp", 1, "first_leaf", 9999),
        ),
    ]
}
