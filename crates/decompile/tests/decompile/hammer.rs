//! What a source of Hammer has besides brushes.

use bspkit::dialect::source::{DispInfo, DispVert, FACES, Overlay, TEXINFO};
use bspkit::record::Record as _;
use bspkit::{Bsp, Layout};
use bspkit_decompile::source::{Alignment, Entity, Format, Source, read};
use bspkit_decompile::{Effort, Options, decompile, prove};

const ROOT: &str = "../../tests/maps/source";
const MAPS: [&str; 6] = ["room_v19", "room_v20", "room_v20_lzma", "room_v21", "room_l4d2", "room_strata"];

fn room(name: &str) -> (Bsp<'static>, Source) {
    let map = Bsp::open(format!("{ROOT}/{name}.bsp")).unwrap();
    let found = decompile(&map, &Options::default()).unwrap();
    assert_eq!(found.format, Format::Vmf);
    let source = read(&found.text(), Format::Vmf).unwrap();
    assert_eq!(source, found.source);
    (map, source)
}

fn of_class<'s>(source: &'s Source, class: &str) -> Vec<&'s Entity> {
    source.entities.iter().filter(|entity| entity.class() == class.as_bytes()).collect()
}

#[test]
fn rooms_are_proven() {
    for name in MAPS {
        let (map, source) = room(name);
        let text = bspkit_decompile::source::write(&source, Format::Vmf);
        let proof = prove(&map, &text, Format::Vmf, &Effort::default()).unwrap();
        assert!(proof.is_whole(), "{name}: {proof:?}");
        assert!(proof.points.judged > 10_000);
    }
}

/// A room whose first brush has other contents, and on all sides the texinfo of its second side, on which is no face.
fn with_contents(contents: u32) -> (Bsp<'static>, Source, bspkit_decompile::Report) {
    let map = Bsp::open(format!("{ROOT}/room_v20.bsp")).unwrap();
    let (brushes, sides) = (map.slot("BRUSHES").unwrap(), map.slot("BRUSHSIDES").unwrap());
    let (mut brush_bytes, mut side_bytes) =
        (map.bytes(brushes.id).unwrap().to_vec(), map.bytes(sides.id).unwrap().to_vec());
    brush_bytes[8..12].copy_from_slice(&contents.to_le_bytes());
    let names = map.looks();
    let texinfo =
        |bytes: &[u8], side: usize| usize::from(u16::from_le_bytes([bytes[side * 8 + 2], bytes[side * 8 + 3]]));
    let is_unseen = |side: &usize| names[texinfo(&side_bytes, *side)].name.eq_ignore_ascii_case(b"tools/toolsnodraw");
    let unseen = (0..6).find(is_unseen).unwrap();
    let own = [side_bytes[unseen * 8 + 2], side_bytes[unseen * 8 + 3]];
    (0..6).for_each(|side| side_bytes[side * 8 + 2..side * 8 + 4].copy_from_slice(&own));
    let (brushes, sides) = (brushes.id, sides.id);
    let mut draft = map.draft();
    draft.set(brushes, brush_bytes).unwrap();
    draft.set(sides, side_bytes).unwrap();
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let found = decompile(&map, &Options::default()).unwrap();
    (map, found.source, found.report)
}

#[test]
fn brushes_have_materials_that_say_their_contents() {
    let materials = |source: &Source| -> Vec<Vec<u8>> {
        let brushes = source.entities.iter().flat_map(|entity| &entity.brushes);
        brushes
            .filter(|brush| brush.sides.iter().all(|side| side.texture == brush.sides[0].texture))
            .map(|brush| brush.sides[0].texture.to_ascii_lowercase())
            .collect()
    };
    for (contents, tool) in [
        (0x0001_0000, "tools/toolsplayerclip"),
        (0x0802_0000, "tools/toolsnpcclip"),
        (0x0803_0000, "tools/toolsclip"),
        (0x0800_0040, "tools/toolsblock_los"),
        (0x80, "tools/toolsblocklight"),
    ] {
        let (_, source, report) = with_contents(contents);
        assert!(materials(&source).contains(&tool.into()), "{tool}");
        assert!(report.left_out.is_empty() && report.notes.iter().any(|note| note.why.contains("other contents")));
    }
    // No material of the editors is a window.
    let (_, source, report) = with_contents(0x2);
    assert!(materials(&source).contains(&b"tools/toolsnodraw".to_vec()));
    assert!(report.left_out.iter().any(|left| left.kind == "brush" && left.places == [0]));
    let (_, _, report) = with_contents(0x1);
    let all = report.left_out.iter().chain(&report.notes);
    assert!(!all.clone().any(|one| one.kind == "brush"), "{:?}", all.collect::<Vec<_>>());
}

/// A compiler takes the contents of the first side.
#[test]
fn the_first_side_of_a_brush_says_its_contents() {
    let (map, ..) = with_contents(0x1);
    let look = |name: &[u8]| map.looks().iter().position(|look| look.name.eq_ignore_ascii_case(name)).unwrap();
    let sides = map.slot("BRUSHSIDES").unwrap().id;
    let mut bytes = map.bytes(sides).unwrap().to_vec();
    // The last side is a wall that is solid wherever it is; the others say clip.
    let wall = u16::try_from(look(b"own/floor")).unwrap().to_le_bytes();
    bytes[5 * 8 + 2..5 * 8 + 4].copy_from_slice(&wall);
    let strings = map.slot("TEXDATA_STRING_DATA").unwrap().id;
    let mut names = map.bytes(strings).unwrap().to_vec();
    let at = names.windows(17).position(|part| part.eq_ignore_ascii_case(b"tools/toolsnodraw")).unwrap();
    names[at..at + 17].copy_from_slice(b"tools/toolsclip\0\0");
    let mut draft = map.draft();
    draft.set(sides, bytes).unwrap();
    draft.set(strings, names).unwrap();
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let source = decompile(&map, &Options::default()).unwrap().source;
    let first = &source.entities[0].brushes[0].sides[0];
    assert_eq!(first.texture.to_ascii_lowercase(), b"own/floor");
}

/// A brush on which nothing is drawn is missed where it is left out.
#[test]
fn the_proof_misses_brushes_without_faces() {
    for path in crate::corpus::maps().into_iter().filter(|path| path.ends_with("source/csgo_tooltextures.bsp")) {
        let map = Bsp::open(path).unwrap();
        let whole = decompile(&map, &Options::default()).unwrap().source;
        let prove = |source: &Source| {
            let text = bspkit_decompile::source::write(source, Format::Vmf);
            prove(&map, &text, Format::Vmf, &Effort::default()).unwrap().is_whole()
        };
        assert!(prove(&whole));
        for tool in [&b"tools/toolsnodraw"[..], b"tools/toolsplayerclip", b"tools/toolsclip_metal"] {
            let (mut less, mut other) = (whole.clone(), whole.clone());
            let is_it = |brush: &bspkit_decompile::source::Brush| brush.sides.iter().all(|side| side.texture == tool);
            less.entities.iter_mut().for_each(|entity| entity.brushes.retain(|brush| !is_it(brush)));
            assert!(less != whole && !prove(&less), "{}", String::from_utf8_lossy(tool));
            let brushes = other.entities.iter_mut().flat_map(|entity| &mut entity.brushes);
            let sides = brushes.filter(|brush| is_it(brush)).flat_map(|brush| &mut brush.sides);
            sides.for_each(|side| side.texture = b"tools/toolshint".to_vec());
            assert!(!prove(&other), "{}", String::from_utf8_lossy(tool));
        }
    }
}

/// Maps that show all materials of the editors name them in a key of the world.
#[test]
fn real_maps_of_tool_textures_have_all_of_them_again() {
    for path in crate::corpus::maps().into_iter().filter(|path| path.to_string_lossy().contains("tooltextures")) {
        let map = Bsp::open(&path).unwrap();
        let source = decompile(&map, &Options::default()).unwrap().source;
        let sides = source.entities.iter().flat_map(|entity| &entity.brushes).flat_map(|brush| &brush.sides);
        let found: std::collections::HashSet<Vec<u8>> = sides.map(|side| side.texture.to_ascii_lowercase()).collect();
        let named = source.entities[0].get(b"textureNames").unwrap().to_ascii_lowercase();
        for name in named.split(|byte| matches!(byte, b' ' | b';')).filter(|name| name.starts_with(b"tools/tools")) {
            assert!(found.contains(name), "{}: {}", path.display(), String::from_utf8_lossy(name));
        }
    }
}

#[test]
fn props_and_cube_maps_are_entities_again() {
    for name in MAPS {
        let (map, source) = room(name);
        let props = of_class(&source, "prop_static");
        let lens = map.static_props().unwrap();
        assert_eq!(props.len(), lens.len(), "{name}");
        for (at, prop) in props.iter().enumerate() {
            let own = lens.get(at).unwrap();
            let text = |key: &[u8]| String::from_utf8(prop.get(key).unwrap().to_vec()).unwrap();
            assert_eq!(text(b"skin"), own.skin.to_string());
            assert_eq!(text(b"solid"), own.solid.to_string());
            let numbers: Vec<f32> = text(b"origin").split(' ').map(|part| part.parse().unwrap()).collect();
            assert_eq!(numbers, own.origin);
            assert!(text(b"model").ends_with(".mdl"));
        }
        assert_eq!(of_class(&source, "env_cubemap").len(), map.records("CUBEMAPS").unwrap().len());
    }
}

#[test]
fn outputs_stand_in_blocks() {
    for name in MAPS {
        let (map, source) = room(name);
        let entities = map.entities().unwrap();
        let outputs = entities.iter().flat_map(|entity| entity.pairs());
        let outputs = outputs.filter(|pair| bspkit::content::entities::Output::parse(pair.value).is_some()).count();
        let found: usize = source.entities.iter().map(|entity| entity.connections.len()).sum();
        assert!(found == outputs && found >= 4, "{name}: {found} of {outputs}");
    }
}

#[test]
fn numbers_are_unique_and_sides_have_axes() {
    for name in MAPS {
        let (_, source) = room(name);
        let brushes = || source.entities.iter().flat_map(|entity| &entity.brushes);
        let mut ids: Vec<u32> = source.entities.iter().map(|entity| entity.id).collect();
        ids.extend(brushes().map(|brush| brush.id));
        ids.extend(brushes().flat_map(|brush| &brush.sides).map(|side| side.id));
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert!(ids.len() == count && ids[0] > 0, "{name}");
        assert!(brushes().flat_map(|brush| &brush.sides).all(|side| matches!(side.alignment, Alignment::Axes { .. })));
        assert!(source.entities.iter().all(|entity| entity.get(b"hammerid").is_none()));
    }
}

/// The room with a displacement of 25 points on one face, and an overlay with a name on another one.
pub(crate) fn laid() -> Bsp<'static> {
    let map = Bsp::open(format!("{ROOT}/room_v20.bsp")).unwrap();
    let polygons = map.polygons().unwrap();
    let faces = map.records("FACES").unwrap();
    let [texinfo] = faces.columns(["texinfo"]).unwrap();
    let square: Vec<usize> = (0..faces.len()).filter(|at| polygons.get(*at).unwrap().len() == 4).collect();
    let [rough, signed] = [square[0], square[1]];
    let corners = polygons.get(rough).unwrap();
    let middle = polygons.get(signed).unwrap()[0];
    let look = i16::try_from(texinfo.get(signed)).unwrap();

    let mut info = DispInfo::decode(&[0; 176]).unwrap();
    (info.start, info.power, info.face) = (corners[0], 2, u16::try_from(rough).unwrap());
    let point = |at: u8| {
        let mut point = DispVert::decode(&[0; 20]).unwrap();
        (point.direction, point.distance, point.alpha) = ([0.0, 0.0, 1.0], f32::from(at), f32::from(at) * 2.0);
        point
    };
    let mut overlay = Overlay::decode(&[0; 352]).unwrap();
    (overlay.id, overlay.texinfo, overlay.face_count_order) = (7, look, 1);
    overlay.faces[0] = i32::try_from(signed).unwrap();
    (overlay.u, overlay.v, overlay.origin, overlay.normal) = ([0.0, 1.0], [0.0, 1.0], middle, [0.0, 0.0, 1.0]);

    let mut draft = map.draft();
    let mut set = |lump: &str, bytes: Vec<u8>| draft.set(map.slot(lump).unwrap().id, bytes).unwrap();
    set("DISPINFO", info.encode());
    set("DISP_VERTS", (0..25).flat_map(|at| point(at).encode()).collect());
    set("DISP_TRIS", vec![0; 64]);
    set("OVERLAYS", overlay.encode());
    draft.update(FACES, rough, |face| face.displacement = 0).unwrap();
    // A luxel of 40 units.
    let of_rough = usize::try_from(texinfo.get(rough)).unwrap();
    let luxels = [[0.0, 0.025, 0.0, 0.0], [0.0, 0.0, 0.025, 0.0]];
    draft.update(TEXINFO, of_rough, |texinfo| texinfo.lightmap_vectors = luxels).unwrap();
    let pairs = [("classname", "info_overlay_accessor"), ("OverlayID", "7"), ("targetname", "sign")];
    draft.entities().unwrap().add(pairs.into_iter().chain([("sides", "12345"), ("material", "old")])).unwrap();
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

#[test]
fn a_displacement_and_an_overlay_come_back() {
    let map = laid();
    let found = decompile(&map, &Options::default()).unwrap();
    assert!(found.report.left_out.is_empty(), "{:?}", found.report.left_out);
    let source = read(&found.text(), Format::Vmf).unwrap();
    let sides = || source.entities.iter().flat_map(|entity| &entity.brushes).flat_map(|brush| &brush.sides);
    let grids: Vec<_> = sides().filter_map(|side| side.displacement.as_deref()).collect();
    assert_eq!((grids.len(), grids[0].power, grids[0].distances.len()), (1, 2, 25));
    let scale = sides().find(|side| side.displacement.is_some()).unwrap().lightmap_scale;
    assert_eq!(scale, Some(40.0));
    assert_eq!((grids[0].distances[24], grids[0].alphas[24], grids[0].normals[3]), (24.0, 48.0, [0.0, 0.0, 1.0]));

    let signs = of_class(&source, "info_overlay");
    assert!(signs.len() == 1 && of_class(&source, "info_overlay_accessor").is_empty());
    let values = |key: &str| -> Vec<&[u8]> {
        let own = signs[0].pairs.iter().filter(|(own, _)| own.eq_ignore_ascii_case(key.as_bytes()));
        own.map(|(_, value)| &value[..]).collect()
    };
    assert_eq!(values("targetname"), [b"sign"]);
    // What the record says holds, and stands once: compilers take the last of equal keys.
    assert!(values("material").len() == 1 && values("material") != [b"old"]);
    let id: u32 = String::from_utf8(values("sides")[0].to_vec()).unwrap().parse().unwrap();
    assert!(values("sides").len() == 1 && sides().any(|side| side.id == id), "{id}");

    // Tags that do not exist are named.
    let mut draft = map.draft();
    draft.set(map.slot("DISP_TRIS").unwrap().id, vec![0; 62]).unwrap();
    let cut = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let left = decompile(&cut, &Options::default()).unwrap().report.left_out;
    assert!(left.iter().any(|left| left.kind == "displacement" && left.why.contains("tags")), "{left:?}");

    // A `.map` has neither, and says so.
    let options = Options { format: Some(Format::Valve), ..Options::default() };
    let kinds: Vec<_> = decompile(&map, &options).unwrap().report.left_out.iter().map(|left| left.kind).collect();
    assert!(kinds.contains(&"displacement") && kinds.contains(&"overlay") && kinds.contains(&"prop"), "{kinds:?}");
}

/// The groups of a face are those of the side that it lies on, and of no other one.
#[test]
fn smoothing_groups_come_back() {
    let map = Bsp::open(format!("{ROOT}/room_v20.bsp")).unwrap();
    let before = decompile(&map, &Options::default()).unwrap().source;
    let polygons = map.polygons().unwrap();
    for number in 0..map.records("FACES").unwrap().len() {
        let mut draft = map.draft();
        draft.update(FACES, number, |face| face.smoothing_groups = 0x8000_0001).unwrap();
        let smooth = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let found = decompile(&smooth, &Options::default()).unwrap();
        let source = read(&found.text(), Format::Vmf).unwrap();
        let sides = |source: &Source| -> Vec<_> {
            let brushes = source.entities.iter().flat_map(|entity| &entity.brushes);
            brushes.flat_map(|brush| brush.sides.clone()).collect()
        };
        let (old, new) = (sides(&before), sides(&source));
        assert_eq!(old.len(), new.len());
        let differ: Vec<_> = new.iter().zip(&old).filter(|(new, old)| new != old).map(|(new, _)| new).collect();
        assert!(differ.iter().all(|side| side.smoothing_groups == 0x8000_0001));
        // The plane of the side holds all corners of the face.
        let corners = polygons.get(number).unwrap();
        let is_model =
            map.records("MODELS").unwrap().columns(["first_face"]).unwrap()[0].get(1) <= i64::try_from(number).unwrap();
        let [side] = &differ[..] else { panic!("face {number}: {differ:?}") };
        let [a, b, c] = side.points;
        let [u, v] = [[a, b], [c, b]].map(|[one, other]| [0, 1, 2].map(|axis| one[axis] - other[axis]));
        let normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let height = |point: [f64; 3]| normal.iter().zip(point).map(|(one, other)| one * other).sum::<f64>();
        let is_on = corners.iter().all(|corner| (height(corner.map(f64::from)) - height(a)).abs() < 1.0);
        assert!(is_on || is_model, "face {number}");
    }
}

/// A prop and an overlay at no place are named, and nothing of them is written.
#[test]
fn places_that_are_no_numbers_are_left_out() {
    let map = laid();
    let whole = decompile(&map, &Options::default()).unwrap().source;
    let bytes = |number: f32, count: usize| number.to_le_bytes().repeat(count);
    let mut draft = map.draft();
    let mut overlay = map.bytes(map.slot("OVERLAYS").unwrap().id).unwrap().to_vec();
    let at = map.records("OVERLAYS").unwrap().column("origin").unwrap().at(0);
    overlay[at..at + 12].copy_from_slice(&bytes(f32::NAN, 3));
    draft.set(map.slot("OVERLAYS").unwrap().id, overlay).unwrap();
    let slot = map.slot("game:sprp").unwrap().id;
    let mut props = map.bytes(slot).unwrap().to_vec();
    let at = map.records("game:sprp.props").unwrap().column("angles").unwrap().at(1);
    props[at..at + 4].copy_from_slice(&bytes(f32::INFINITY, 1));
    draft.set(slot, props).unwrap();
    let damaged = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let found = decompile(&damaged, &Options::default()).unwrap();
    let left: Vec<_> = found.report.left_out.iter().map(|left| (left.kind, left.count)).collect();
    assert_eq!(left, [("overlay", 1), ("prop", 1)]);
    let text = String::from_utf8(found.text()).unwrap();
    assert!(!text.contains("NaN") && !text.contains("inf\"") && !text.contains("inf "));
    let count = |source: &Source| of_class(source, "prop_static").len();
    assert_eq!(count(&found.source) + 1, count(&whole));
}

/// Without the flag the place of a prop's light has any content; what a compiler reads from keys is there.
#[test]
fn a_prop_is_as_its_flags_say() {
    let map = laid();
    let records = map.records("game:sprp.props").unwrap();
    let [flags, place] = ["flags", "lighting_origin"].map(|name| records.column(name).unwrap().at(0));
    let with = |bits: u8| {
        let slot = map.slot("game:sprp").unwrap().id;
        let mut props = map.bytes(slot).unwrap().to_vec();
        props[flags] = bits;
        props[place..place + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        let mut draft = map.draft();
        draft.set(slot, props).unwrap();
        let edited = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        decompile(&edited, &Options::default()).unwrap().source
    };
    let count = records.len();
    assert_eq!([0, 2].map(|bits| of_class(&with(bits), "prop_static").len()), [count, count - 1]);
}
