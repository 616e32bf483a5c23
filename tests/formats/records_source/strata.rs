//! Strata's structs and those of versions 22, 23, 27 and 42: each is read where the lumps fit it, and nothing else is.

use bspkit::dialect::{CONTAGION, SOURCE22, STRATA, VITAMIN, source, source21, source22, strata};
use bspkit::record::{Record, RecordInfo};
use bspkit::{Bsp, Builder, Layout, SlotId};

use super::built::{built, model, read, why};

fn zeros<R: Record>() -> R {
    R::decode(&vec![0; R::SIZE]).unwrap()
}

/// The lumps of a map without anything in it but what the sums are made of: two nodes, a model with five faces, four leafs.
fn frame() -> Vec<(usize, Vec<u8>)> {
    vec![
        (5, vec![0; 2 * 48]),
        (7, vec![0; 5 * 72]),
        (10, vec![0; 4 * 56]),
        (14, model(5)),
        (18, source::Brush { side_count: 3, ..zeros() }.encode()),
        (19, vec![0; 3 * 16]),
    ]
}

fn with(lumps: &[(usize, Vec<u8>)]) -> Bsp<'static> {
    built(&STRATA, 25, &[frame(), lumps.to_vec()].concat())
}

#[test]
fn every_widened_lump_is_read() {
    let lumps = [
        (11, vec![0; 20]),
        (12, vec![0; 8]),
        (16, vec![0; 4]),
        (17, vec![0; 4]),
        (21, vec![0; 20]),
        (22, vec![0; 4]),
        (23, vec![0; 40]),
        (27, vec![0; 72]),
        (31, vec![0; 4]),
        (36, vec![0; 12]),
        (37, vec![0; 20]),
        (39, vec![0; 4]),
        (50, vec![0; 1124]),
        (51, vec![0; 32]),
        (52, vec![0; 32]),
        (55, vec![0; 28]),
        (56, vec![0; 28]),
        (58, vec![0; 360]),
    ];
    let map = with(&lumps);
    for lump in frame().iter().chain(&lumps).map(|(lump, _)| *lump) {
        let slot = map.container().slot(SlotId::Lump(lump)).unwrap();
        assert!(read(&map, &slot.name).is_ok(), "{}: {}", slot.name, why(&map, &slot.name));
    }
    assert_eq!((read(&map, "FACES"), read(&map, "LEAFS")), (Ok("Face"), Ok("Leaf")));
    // The keys are those of this dialect and of no other.
    assert_eq!((map.table(strata::FACES).unwrap().len(), map.table(strata::LEAFS).unwrap().len()), (5, 4));
    assert!(map.table(source::FACES).unwrap_err().to_string().contains("other records of that name"));
}

/// What has the sizes of other versions, or was cut, is not taken for what it is not.
#[test]
fn what_does_not_fit_stays_bytes() {
    for (lump, len, name) in [
        (5, 5 * 32, "NODES"),
        (7, 5 * 56, "FACES"),
        (10, 4 * 32, "LEAFS"),
        (19, 3 * 8, "BRUSHSIDES"),
        (11, 5 * 2, "FACEIDS"),
        (23, 5 * 4, "FACEBRUSHLIST"),
        (51, 4 * 4, "LEAF_AMBIENT_INDEX_HDR"),
        (58, 5 * 56, "FACES_HDR"),
        (60, 8, "OVERLAY_FADES"),
    ] {
        let map = with(&[(lump, vec![0; len])]);
        assert!(read(&map, name).is_err(), "{name} of {len} bytes");
    }
    let narrow = with(&[(7, vec![0; 5 * 56]), (16, vec![0; 4]), (12, vec![0; 8])]);
    assert!(why(&narrow, "LEAFFACES").contains("no known struct gives 280 bytes for the 5 faces"));
    assert!(read(&narrow, "EDGES").is_err());
    let lights = Builder::new(&STRATA).lump(54, [0; 104]).lump_version(54, 2).build().unwrap();
    assert!(why(&Bsp::parse(&lights).unwrap(), "WORLDLIGHTS_HDR").contains("100 bytes or 104"));
}

#[test]
fn displacements_are_wide_too() {
    let info = strata::DispInfo { power: 3, ..zeros() };
    let map = with(&[(26, info.encode()), (33, vec![0; 81 * 20])]);
    assert_eq!(map.table(strata::DISPINFO).unwrap().get(0).unwrap().power, 3);
    let map = with(&[(26, info.encode()), (33, vec![0; 80 * 20])]);
    assert_eq!(why(&map, "DISPINFO"), "its displacements have 81 vertexes, which 1600 bytes of them are not");
}

/// The version says how overlays are laid out; in version 3 both numbers stand before both lists.
#[test]
fn overlays_go_by_their_version() {
    let overlays = |version, bytes: Vec<u8>, beside: (usize, Vec<u8>)| {
        let builder = Builder::new(&STRATA).lump(45, bytes).lump_version(45, version).lump(beside.0, beside.1);
        Bsp::from_vec(builder.build().unwrap()).unwrap()
    };
    for (version, size, record) in [(0, 352, "Overlay"), (1, 356, "OverlayV1"), (2, 360, "OverlayV2")] {
        let map = overlays(version, vec![0; 2 * size], (60, vec![0; 16]));
        assert_eq!((read(&map, "OVERLAYS"), read(&map, "OVERLAY_FADES")), (Ok(record), Ok("OverlayFade")));
    }
    let number = |number: i32| number.to_le_bytes().to_vec();
    let overlay = |id| strata::Overlay { id, first_face: 1, face_count: 2, ..zeros() };
    let lump =
        [number(2), number(3), [7, 8, 9].map(number).concat(), overlay(4).encode(), overlay(5).encode()].concat();
    let map = overlays(3, lump.clone(), (60, vec![0; 16]));
    let ids: Vec<i32> = map.table(strata::OVERLAYS).unwrap().iter().map(|overlay| overlay.id).collect();
    assert_eq!((ids, read(&map, "OVERLAY_FADES")), (vec![4, 5], Ok("OverlayFade")));
    assert_eq!(map.table(strata::OVERLAY_FACES).unwrap().get(2).unwrap().face, 9);
    for (at, wrong) in [(0, 3), (0, 1), (0, -1), (4, 4), (4, i32::MAX)] {
        let mut lump = lump.clone();
        lump[at..at + 4].copy_from_slice(&number(wrong));
        assert!(read(&overlays(3, lump, (60, vec![])), "OVERLAYS").is_err(), "{wrong} at {at}");
    }
    assert!(read(&overlays(3, number(0), (60, vec![])), "OVERLAYS").is_err());

    // A list that grows says so where its number stands, and the other one behind it moves.
    let mut draft = map.draft();
    draft.table(strata::OVERLAY_FACES).unwrap().push_without_following(strata::OverlayFace { face: 10 });
    let longer = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let bytes = longer.bytes(longer.slot("OVERLAYS").unwrap().id).unwrap();
    assert_eq!(*bytes, [number(2), number(4), [7, 8, 9, 10].map(number).concat(), lump[20..].to_vec()].concat());
    let mut draft = longer.draft();
    draft.table(strata::OVERLAYS).unwrap().truncate_without_following(1);
    let fewer = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    assert_eq!(fewer.table(strata::OVERLAYS).unwrap().len(), 1);
    assert_eq!(fewer.table(strata::OVERLAY_FACES).unwrap().len(), 4);
}

#[test]
fn names_of_colors_are_a_list() {
    let names = [&[2, 0, 0, 0][..], &[b'c'; 128]].concat();
    let map =
        |names: Vec<u8>| Bsp::from_vec(Builder::new(&STRATA).game_lump(*b"clvr", 0, names).build().unwrap()).unwrap();
    assert_eq!(map(names.clone()).table(strata::COLOR_VARIABLES).unwrap().len(), 2);
    assert!(read(&map(names[..131].to_vec()), "game:clvr").is_err());
}

#[test]
fn bits_of_wide_numbers_are_edited_by_themselves() {
    let mut leaf = strata::Leaf { area_flags: u32::MAX, ..zeros() };
    assert_eq!((leaf.area(), leaf.flags()), (0x1_FFFF, 0x7FFF));
    leaf.set_area(0x2_0001);
    leaf.set_flags(5);
    assert_eq!(leaf.area_flags, 5 << 17 | 1);
    let face = strata::Face { shadows_primitive_count: 7, ..zeros() };
    assert!(face.primitives() == 3 && !face.has_no_dynamic_shadows());
}

/// Displacements of Dota 2 have fields more, in each version others; INFRA has the usual ones, and other primitives.
#[test]
fn versions_22_and_23_are_told_by_what_they_say() {
    let info = |shift: &[usize]| {
        let usual = source::DispInfo { power: 2, first_alpha: -1, ..zeros() };
        let mut bytes = source::DispInfo {
            edges: [source::DispEdgeNeighbors {
                neighbors: [source::DispSubNeighbor { neighbor: 0xFFFF, ..zeros() }; 2],
            }; 4],
            allowed_vertexes: [u32::MAX; 10],
            ..usual
        }
        .encode();
        shift.iter().rev().for_each(|at| drop(bytes.splice(at..at, [0; 4])));
        bytes
    };
    let map = |version, info: Vec<u8>| {
        built(&SOURCE22, version, &[(7, vec![0; 56]), (14, model(1)), (26, info), (33, vec![0; 25 * 20])])
    };
    for (version, shift, record) in [
        (22, &[][..], Ok("DispInfo")),
        (22, &[48], Ok("DispInfoV22")),
        (22, &[36, 48], Err(())),
        (23, &[], Ok("DispInfo")),
        (23, &[36, 48], Ok("DispInfoV23")),
        (23, &[48], Err(())),
        // The field stands elsewhere: what is read as neighbors is none.
        (22, &[176], Err(())),
        (23, &[48, 48], Err(())),
    ] {
        assert_eq!(read(&map(version, info(shift)), "DISPINFO").map_err(drop), record, "{version} {shift:?}");
    }
    let primitives = |version, size: usize, at: usize, indices: usize| {
        let mut bytes = vec![0; 2 * size];
        (bytes[at], bytes[size + at]) = (3, 6);
        built(&SOURCE22, version, &[(37, bytes), (39, vec![0; 2 * indices])])
    };
    assert_eq!(read(&primitives(22, 16, 8, 9), "PRIMITIVES"), Ok("PrimitiveInfra"));
    assert_eq!(read(&primitives(22, 10, 4, 9), "PRIMITIVES"), Ok("Primitive"));
    assert!(read(&primitives(22, 16, 8, 8), "PRIMITIVES").is_err());
    assert!(read(&primitives(23, 16, 8, 9), "PRIMITIVES").is_err());
    // As records of 10 bytes these have 3 indices together as well, and vertexes that are not there.
    let shared = [[0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]; 5].concat();
    assert!(read(&built(&SOURCE22, 22, &[(37, shared), (39, vec![0; 2 * 3])]), "PRIMITIVES").is_err());
    let overlays = |size: usize, length: f32| {
        let mut overlay = vec![0; size];
        overlay[348..352].copy_from_slice(&length.to_le_bytes());
        built(&SOURCE22, 23, &[(45, overlay.repeat(2)), (60, vec![0; 16])])
    };
    assert_eq!(read(&overlays(356, 1.0), "OVERLAYS"), Ok("OverlayDota"));
    assert_eq!(read(&overlays(352, 1.0), "OVERLAYS"), Ok("Overlay"));
    assert_eq!(read(&overlays(356, 1.0), "OVERLAY_FADES"), Ok("OverlayFade"));
    assert!(why(&overlays(356, 2.0), "OVERLAYS").contains("normals of length 1"));
    let infra = built(&SOURCE22, 22, &[(22, vec![0; 4]), (1, vec![0; 20])]);
    assert_eq!((read(&infra, "PLANES"), infra.table(source22::PRIMITIVES_INFRA).is_ok()), (Ok("Plane"), true));
}

/// Everything that goes by the header goes by this one's.
#[test]
fn other_headers_are_read_and_written() {
    for (dialect, version, header) in [(&CONTAGION, 27_u8, 1040), (&VITAMIN, 42, 2060)] {
        let lumps = Builder::new(dialect).revision(9).lump(0, "{\n}\n\0").lump(1, [1; 40]).lump(59, [0; 4]);
        let bytes = lumps.lump(dialect.lumps.len() - 1, [7; 3]).build().unwrap();
        assert_eq!(bytes[4], version);
        assert_eq!(bytes[header - 4..header], [9, 0, 0, 0]);
        let map = Bsp::parse(&bytes).unwrap();
        assert_eq!(
            (map.dialect().name, map.revision(), map.container().shape().header_size()),
            (dialect.name, Some(9), header)
        );
        assert_eq!(map.slots().iter().map(|slot| slot.stored.start).filter(|at| *at > 0).min(), Some(header));
        assert_eq!(map.table(source::PLANES).unwrap().len(), 2);
        let mut draft = map.draft();
        draft.update(source::PLANES, 1, |plane| plane.kind = 5).unwrap();
        draft.set(SlotId::Lump(0), &b"{\n\"classname\" \"worldspawn\"\n}\n\0"[..]).unwrap();
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            let saved = draft.plan(layout).unwrap().to_vec();
            let saved = Bsp::parse(&saved).unwrap();
            assert_eq!((saved.revision(), saved.entities().unwrap().len()), (Some(9), 1), "{layout:?}");
            assert_eq!(saved.table(source::PLANES).unwrap().get(1).unwrap().kind, 5);
            let last = saved.container().slot(SlotId::Lump(dialect.lumps.len() - 1)).unwrap();
            assert_eq!(*saved.bytes(last.id).unwrap(), [7; 3]);
        }
    }
    assert_eq!(VITAMIN.lumps[127].name, "LUMP_127");
    let vitamin = built(&VITAMIN, 42, &[(64, vec![1]), (19, vec![0; 8])]);
    assert!(why(&vitamin, "LUMP_64").contains("is not published"));
    let sides: &RecordInfo = source21::BrushSideV21::INFO;
    assert_eq!(sides.size, 8);
}
