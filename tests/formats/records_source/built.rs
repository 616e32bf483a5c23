//! Built maps: which of several structs a lump is read as, whatever the versions say, and what is said where none fits.

use bspkit::dialect::{Dialect, SOURCE, SOURCE17, SOURCE21, source, source17, source21};
use bspkit::record::Record;
use bspkit::{Bsp, Builder, ErrorKind, Layout};

/// A room of the project with other 32-bit numbers in its directory: of lump, place in the entry, number.
fn room(name: &str, patches: &[(usize, usize, i32)]) -> Bsp<'static> {
    let mut bytes = std::fs::read(format!("{}/tests/maps/source/{name}.bsp", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for (lump, at, number) in patches {
        let at = 8 + 16 * lump + at;
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    Bsp::from_vec(bytes).unwrap()
}

const LENGTH: usize = 4;
const VERSION: usize = 8;

/// What a lump is read as: the struct, or the reason why not.
pub(super) fn read(map: &Bsp<'_>, lump: &str) -> Result<&'static str, String> {
    map.row(map.slot(lump).unwrap())
        .map(|row| super::records_of(row).last().unwrap().1.name)
        .map_err(|why| why.to_string())
}

pub(super) fn why(map: &Bsp<'_>, lump: &str) -> String {
    read(map, lump).unwrap_err()
}

/// A map of lumps; their versions are 0.
pub(super) fn built(dialect: &'static Dialect, version: i32, lumps: &[(usize, Vec<u8>)]) -> Bsp<'static> {
    let builder = Builder::new(dialect).version(version);
    let builder = lumps.iter().fold(builder, |builder, (index, bytes)| builder.lump(*index, bytes.clone()));
    Bsp::from_vec(builder.build().unwrap()).unwrap()
}

/// One model with so many faces.
pub(super) fn model(faces: i32) -> Vec<u8> {
    source::Model { face_count: faces, ..source::Model::decode(&[0; 48]).unwrap() }.encode()
}

#[test]
fn versions_that_lie_are_found_out() {
    for version in [0, 1, 7] {
        let late = room("room_v20", &[(10, VERSION, version), (15, VERSION, version), (54, VERSION, version)]);
        assert_eq!(late.table(source::LEAFS).unwrap().get(0).unwrap().contents, 1);
        assert_eq!(late.table(source::WORLDLIGHTS).unwrap().get(1).unwrap().style, 32);
        assert_eq!(read(&late, "WORLDLIGHTS_HDR"), Ok("WorldLight"));
        let early = room("room_v19", &[(10, VERSION, version)]);
        assert_eq!(early.table(source::LEAFS_V0).unwrap().len(), early.table(source::NODES).unwrap().len() + 3);
        assert_eq!(read(&room("room_v21", &[(54, VERSION, version)]), "WORLDLIGHTS_HDR"), Ok("WorldLightV1"));
        let indexed = room("room_v20", &[(56, VERSION, version)]);
        assert_eq!(read(&indexed, "LEAF_AMBIENT_LIGHTING"), Ok("LeafAmbientSample"));
    }
    let mut patched = std::fs::read("tests/maps/source/room_v20.bsp").unwrap();
    for version in [18, 19] {
        patched[4] = version;
        let map = Bsp::parse(&patched).unwrap();
        assert_eq!((read(&map, "FACES"), read(&map, "LEAFS")), (Ok("Face"), Ok("Leaf")));
    }
}

#[test]
fn where_nothing_fits_the_reason_is_said() {
    let whole = room("room_v20", &[]);
    let faces = i32::try_from(whole.slot("FACES").unwrap().stored.len()).unwrap();
    let cut = room("room_v20", &[(7, LENGTH, faces - 60)]);
    let (count, cut_len) = (faces / 56, faces - 60);
    assert_eq!(
        why(&cut, "FACES"),
        format!("its {cut_len} bytes are not 56 for each of the {count} faces of the models")
    );
    assert_eq!(
        why(&cut, "ORIGINALFACES"),
        format!(
            "it has the struct of the faces, and their {cut_len} bytes are not 56 for each of the {count} faces of the models"
        )
    );
    assert!(why(&cut, "EDGES").starts_with("games with another struct of faces have another one here too"));
    assert_eq!((read(&cut, "FACES_HDR"), read(&cut, "FACEIDS")), (Ok("Face"), Ok("FaceId")));
    assert_eq!(cut.table(source::FACES).unwrap_err().kind(), bspkit::ErrorKind::Unsupported);

    let nodes = i32::try_from(whole.slot("NODES").unwrap().stored.len()).unwrap();
    // One wrong sum is an edit, if most are right.
    let edited = room("room_v20", &[(5, LENGTH, nodes - 32)]);
    assert_eq!((read(&edited, "LEAFS"), read(&edited, "NODES")), (Ok("Leaf"), Ok("Node")));
    assert_eq!(read(&edited, "LEAF_AMBIENT_LIGHTING"), Ok("LeafAmbientSample"));
    let fewer = room("room_v20", &[(5, LENGTH, nodes - 4 * 32), (7, LENGTH, faces - 60)]);
    assert!(why(&fewer, "LEAFS").contains("leafs that the nodes and models call for"));
    assert!(why(&fewer, "NODES").contains("call for"));
    assert!(why(&fewer, "LEAF_AMBIENT_INDEX").contains("leafs of the tree"));
    assert!(why(&fewer, "LEAF_AMBIENT_LIGHTING").contains("does not say whose its samples are"));

    let light = source::WorldLight { kind: 6, ..source::WorldLight::decode(&[0; 88]).unwrap() };
    let strange = built(&SOURCE, 20, &[(15, light.encode())]);
    assert_eq!(why(&strange, "WORLDLIGHTS"), "as lights of 88 bytes, light 0 is of no kind there is");
    assert_eq!(
        why(&built(&SOURCE, 20, &[(54, vec![0; 87])]), "WORLDLIGHTS_HDR"),
        "its 87 bytes are not a multiple of 88"
    );
    assert_eq!(read(&built(&SOURCE, 20, &[(54, vec![0; 89])]), "WORLDLIGHTS_HDR"), Ok("WorldLight"));
}

/// A lump of lists without a byte has no counts either, and is no damage.
#[test]
fn empty_lumps_have_empty_lists() {
    let empty = room("room_v20", &[(9, LENGTH, 0)]);
    assert_eq!(empty.spans(empty.slot("OCCLUSION").unwrap()).unwrap().len(), 0);
    assert!(empty.table(source::OCCLUDERS).unwrap().is_empty());
    assert!(empty.table(source::OCCLUDER_VERTEXES).unwrap().is_empty());
    // Where there are no counts none can be changed.
    assert!(empty.draft().table(source::OCCLUDERS).is_err());
}

/// Less than a record too much or missing is no reason to know nothing of a lump; what refers to it is read as well.
#[test]
fn ragged_lumps_are_still_what_they_are() {
    let whole = room("room_v20", &[]);
    let length = |lump: &str| i32::try_from(whole.slot(lump).unwrap().stored.len()).unwrap();
    let lumps = [
        ("NODES", 5, "Node"),
        ("FACES", 7, "Face"),
        ("LEAFS", 10, "Leaf"),
        ("MODELS", 14, "Model"),
        ("BRUSHSIDES", 19, "BrushSide"),
    ];
    for (lump, index, record) in lumps {
        for more in [-7, 3] {
            // Without its faces a model's place among the others is not known.
            if (lump, more) == ("MODELS", -7) {
                continue;
            }
            let map = room("room_v20", &[(index, LENGTH, length(lump) + more)]);
            for (lump, _, record) in lumps {
                assert_eq!(read(&map, lump), Ok(record), "{lump} where another is ragged");
            }
            let parts = map.spans(map.slot(lump).unwrap()).unwrap();
            let (count, size) = (parts[0].count(), parts[0].record.size);
            assert_eq!((parts[0].record.name, count), (record, (length(lump) + more) as usize / size));
            let saved = map.draft().plan(Layout::Keep).unwrap().to_vec();
            assert_eq!(saved, map.container().bytes(), "{lump}");
        }
    }
    // What the file cuts off is told by what it claims to be.
    let bytes = whole.container().bytes();
    let last = whole.slots().iter().max_by_key(|slot| slot.stored.start).unwrap().stored.start;
    let cut = Bsp::parse(&bytes[..last - 1]).unwrap();
    for (lump, _, record) in lumps {
        assert_eq!(read(&cut, lump), Ok(record));
    }
    let faces = whole.slot("FACES").unwrap().stored.clone();
    let cut = Bsp::parse(&bytes[..faces.end - 60]).unwrap();
    if cut.slot("MODELS").unwrap().bounds == bspkit::Bounds::Inside {
        assert_eq!(cut.table(source::FACES).unwrap().len(), faces.len() / 56 - 2);
    }
}

#[test]
fn faces_are_told_by_the_models() {
    for (dialect, version, size, faces, original) in [
        (&SOURCE17, 17, 104, Ok("Face"), Ok("OriginalFace")),
        (&SOURCE17, 17, 56, Ok("Face"), Ok("OriginalFace")),
        (&SOURCE17, 17, 68, Err(()), Err(())),
        (&SOURCE, 18, 72, Ok("FaceV18"), Ok("OriginalFaceV18")),
        (&SOURCE, 18, 56, Ok("Face"), Ok("OriginalFace")),
        (&SOURCE, 19, 56, Ok("Face"), Ok("OriginalFace")),
        // Vindictus.
        (&SOURCE, 20, 72, Err(()), Err(())),
        (&SOURCE, 20, 104, Err(()), Err(())),
    ] {
        // Nine of 56 are seven of 72: only the models tell.
        let lumps =
            [(14, model(63)), (7, vec![0; 63 * size]), (27, vec![0; 7 * size]), (12, vec![0; 8]), (16, vec![0; 4])];
        let map = built(dialect, version, &lumps);
        let name = format!("{version}, {size}");
        assert_eq!(read(&map, "FACES").map_err(drop), faces, "{name}");
        assert_eq!(read(&map, "ORIGINALFACES").map_err(drop), original, "{name}");
        for (lump, record) in [("EDGES", "Edge"), ("LEAFFACES", "LeafFace")] {
            assert_eq!(read(&map, lump).map_err(drop), faces.map(|_| record), "{name}: {lump}");
        }
    }
    let map = built(&SOURCE17, 17, &[(14, model(1)), (7, vec![7; 104]), (22, vec![0; 16]), (25, vec![1, 0])]);
    assert_eq!(map.table(source17::FACES).unwrap().get(0).unwrap().night, [7; 8]);
    assert_eq!(map.table(source17::CLUSTERPORTALS).unwrap().get(0).unwrap().portal, 1);
    assert_eq!(map.table(source17::PORTALS).unwrap().len(), 1);
}

#[test]
fn displacements_have_as_many_vertexes_as_there_are() {
    let info = source::DispInfo { power: 2, ..source::DispInfo::decode(&[0; 176]).unwrap() };
    let with = |info: source::DispInfo, verts: usize, blends: usize| {
        let lumps = [(26, info.encode()), (33, vec![0; verts * 20]), (63, vec![0; blends * 80])];
        built(&SOURCE21, 21, &lumps)
    };
    let map = with(info, 25, 25);
    assert_eq!((read(&map, "DISPINFO"), read(&map, "DISP_MULTIBLEND")), (Ok("DispInfo"), Ok("DispMultiblend")));
    let map = with(info, 24, 25);
    assert_eq!(why(&map, "DISPINFO"), "its displacements have 25 vertexes, which 480 bytes of them are not");
    assert_eq!(
        why(&map, "DISP_MULTIBLEND"),
        "its 2000 bytes are not 80 for each of the 24 vertexes of the displacements"
    );
    let map = with(source::DispInfo { power: 31, ..info }, 25, 0);
    assert_eq!(why(&map, "DISPINFO"), "displacement 0 has the power 31, not 2, 3 or 4");
}

#[test]
fn what_is_beside_others_goes_by_them() {
    let flagged = |flags: u8| built(&SOURCE21, 21, &[(59, vec![flags, 0, 0, 0]), (8, vec![0; 8]), (53, vec![0; 8])]);
    assert_eq!(read(&flagged(3), "LIGHTING"), Ok("ColorRgbExp32"));
    assert!(why(&flagged(8), "LIGHTING").contains("more than colors"));
    // Three leafs: a solid one, and one for each of a node and a model.
    let leafs = |index: Vec<u8>, light: Vec<u8>| {
        built(&SOURCE, 20, &[(14, model(0)), (5, vec![0; 32]), (10, vec![0; 96]), (52, index), (56, light)])
    };
    assert_eq!(read(&leafs(vec![], vec![0; 72]), "LEAF_AMBIENT_LIGHTING"), Ok("LeafAmbientCube"));
    assert_eq!(read(&leafs(vec![0; 12], vec![0; 56]), "LEAF_AMBIENT_LIGHTING"), Ok("LeafAmbientSample"));
    assert!(read(&leafs(vec![0; 12], vec![0; 72]), "LEAF_AMBIENT_LIGHTING").is_err());
    assert!(read(&leafs(vec![], vec![0; 56]), "LEAF_AMBIENT_LIGHTING").is_err());
    // Occluders of version 1 have 36 bytes.
    for (len, fits) in [(12, true), (16, false), (48, false), (52, true)] {
        let mut lists = vec![0; len];
        lists[0] = u8::from(len >= 48);
        assert_eq!(read(&built(&SOURCE, 18, &[(9, lists)]), "OCCLUSION").is_ok(), fits, "{len}");
    }
    let swarm = built(&SOURCE21, 21, &[(14, model(2)), (22, vec![0; 4]), (23, vec![0; 12])]);
    assert!(why(&swarm, "FACEBRUSHES").starts_with("FACEBRUSHLIST does not say"));
    let portal = built(&SOURCE21, 21, &[(14, model(2)), (22, vec![0; 4]), (23, vec![0; 8])]);
    assert_eq!(portal.table(source21::FACEBRUSHES).unwrap().len(), 2);
    let mesa = built(&SOURCE21, 21, &[(45, vec![0; 352]), (61, vec![0; 80])]);
    assert_eq!(why(&mesa, "OVERLAY_SYSTEM_LEVELS"), "its 80 bytes are not 4 for each of the 1 overlays");
}

#[test]
fn what_games_lay_out_in_another_way_stays_bytes() {
    let dark_messiah = built(&SOURCE, 0x0004_0014, &[(14, vec![0; 52]), (6, vec![0; 96]), (1, vec![0; 20])]);
    assert!(why(&dark_messiah, "MODELS").starts_with("Dark Messiah's"));
    assert!(why(&dark_messiah, "TEXINFO").starts_with("Dark Messiah's"));
    assert_eq!(read(&dark_messiah, "PLANES"), Ok("Plane"));
}

/// Static props: names, leafs of a size, and two props of a size; a list between them where one is asked for.
fn props(leaf: usize, size: usize, between: &[u8], fill: &dyn Fn(&mut [u8])) -> Vec<u8> {
    let mut props = vec![0; 2 * size];
    props.chunks_exact_mut(size).for_each(fill);
    let count = |count: u8| vec![count, 0, 0, 0];
    [count(1), vec![b'm'; 128], between.to_vec(), count(3), vec![0; 3 * leaf], count(2), props].concat()
}

fn read_props(version: u16, member: Vec<u8>) -> Result<&'static str, String> {
    let map = Builder::new(&SOURCE).version(20).game_lump(*b"sprp", version, member).build().unwrap();
    let map = Bsp::from_vec(map).unwrap();
    let row = read(&map, "game:sprp");
    // The lens knows what the row knows, and says the same of the rest.
    match (&row, map.static_props()) {
        (Ok(_), props) => assert_eq!(props.unwrap().len(), 2),
        (Err(why), Err(error)) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert_eq!(error.to_string(), format!("the content of game:sprp is not known: {why} (game:sprp)"));
        }
        (Err(why), Ok(_)) => panic!("the lens reads version {version}; the row does not: {why}"),
    }
    row
}

#[test]
fn static_props_are_told_by_version_and_size() {
    let none = |_: &mut [u8]| {};
    for (version, leaf, size, is) in [
        (4, 2, 56, "StaticPropV4"),
        (5, 2, 60, "StaticPropV5"),
        (6, 2, 64, "StaticPropV6"),
        (7, 2, 68, "StaticPropV7"),
        (7, 2, 72, "StaticPropV10"),
        (8, 2, 68, "StaticPropV8"),
        (9, 2, 72, "StaticPropV9"),
        (10, 2, 72, "StaticPropV10"),
        (10, 2, 76, "StaticPropV10Csgo"),
        (12, 4, 80, "StaticPropV11"),
        (13, 4, 88, "StaticPropV13"),
    ] {
        assert_eq!(read_props(version, props(leaf, size, &[], &none)), Ok(is), "{version}, {size}");
    }
    let scaled = |prop: &mut [u8]| prop[76..80].copy_from_slice(&1.5_f32.to_le_bytes());
    assert_eq!(read_props(11, props(2, 80, &[], &scaled)), Ok("StaticPropV11"));
    let names = [[1, 0, 0, 0].to_vec(), vec![b'x'; 128]].concat();
    for (version, size, between, game) in [
        (5, 188, &[][..], "The Ship"),
        (6, 192, &[], "Bloody Good Time"),
        (6, 136, &[], "Dark Messiah"),
        (9, 76, &[], "Dear Esther"),
        (11, 76, &[], "Black Mesa"),
        (11, 80, &[], "Black Mesa"),
        (7, 68, &names, "Zeno Clash"),
        (6, 60, &[], "Vindictus"),
        (14, 72, &[], "version 14 are not known"),
    ] {
        let why = read_props(version, props(2, size, between, &none)).unwrap_err();
        assert!(why.contains(game), "{version}, {size}: {why}");
    }
    let member = props(2, 72, &[], &none);
    assert!(read_props(9, member[..member.len() - 1].to_vec()).is_err());
}

#[test]
fn details_have_a_version_too() {
    let read = |dialect, version, map, member: &[u8]| {
        let map = Builder::new(dialect).version(map).game_lump(*b"dprp", version, member.to_vec()).build().unwrap();
        self::read(&Bsp::from_vec(map).unwrap(), "game:dprp")
    };
    assert_eq!(read(&SOURCE, 4, 20, &[0; 12]), Ok("DetailObject"));
    assert!(read(&SOURCE, 4, 20, &[0; 13]).is_err());
    assert_eq!(read(&SOURCE, 3, 20, &[0; 12]), Err("detail props of version 3 are not known".to_owned()));
    let object = [&[0; 4][..], &[1, 0, 0, 0], &[7; 40]].concat();
    assert_eq!(read(&SOURCE17, 2, 17, &object), Ok("DetailObject"));
    assert_eq!(read(&SOURCE17, 2, 17, &[&object[..], &[9; 4]].concat()), Ok("DetailObject"));
    assert!(read(&SOURCE17, 2, 17, &[&object[..], &[9; 5]].concat()).is_err());
}

#[test]
fn bits_within_a_number_are_edited_by_themselves() {
    let map = room("room_v20", &[]);
    let mut draft = map.draft();
    let mut leafs = draft.table(source::LEAFS).unwrap();
    leafs.update(7, |leaf| leaf.set_flags(5)).unwrap();
    leafs.update(7, |leaf| leaf.set_area(0x3FF)).unwrap();
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let leaf = saved.table(source::LEAFS).unwrap().get(7).unwrap();
    assert_eq!((leaf.area(), leaf.flags(), leaf.area_flags), (0x1FF, 5, 0x0BFF));
    let face = map.table(source::FACES).unwrap().get(0).unwrap();
    let face = source::Face { primitive_count: 0x8003, ..face };
    assert!(face.primitives() == 3 && face.has_no_dynamic_shadows());
    let overlay = source::Overlay::decode(&[0xFF; 352]).unwrap();
    assert_eq!((overlay.faces_used(), overlay.render_order()), (0x3FFF, 3));
}
