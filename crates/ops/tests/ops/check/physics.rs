//! Collision models that an edit of brushes or displacements leaves behind.

use bspkit::{Bsp, Draft, Layout};
use bspkit_ops::check::{self, Options};
use bspkit_ops::models;

fn saved(draft: &Draft<'_>) -> Bsp<'static> {
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

/// The room, with these bytes of some lumps.
fn room(lumps: &[(&str, Vec<u8>)]) -> Bsp<'static> {
    let map = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
    let mut draft = map.draft();
    for (name, bytes) in lumps {
        draft.set(map.slot(name).unwrap().id, bytes.clone()).unwrap();
    }
    saved(&draft)
}

/// A collision model of the world with a solid of 8 bytes and an empty text, and the entry that ends the list.
fn solids() -> Vec<u8> {
    [0, 12, 4, 1, 8, 0, 0, 0, -1, -1, 0, 0].map(i32::to_le_bytes).concat()
}

/// The places of collision models that an edit leaves behind.
fn left(draft: &Draft<'_>) -> Vec<(String, Option<usize>)> {
    let found = check::introduced(draft, &Options::default()).unwrap();
    let found = found.into_iter().filter(|finding| finding.code.name == "phys-moved");
    found.map(|finding| (finding.place.lump.unwrap_or_default(), finding.place.record)).collect()
}

/// Sets a number in a record, by its offset.
fn set(draft: &mut Draft<'_>, lump: &str, at: usize, bytes: [u8; 4]) {
    let slot = draft.bsp().slot(lump).unwrap().id;
    let mut content = draft.bsp().bytes(slot).unwrap().to_vec();
    content[at..at + 4].copy_from_slice(&bytes);
    draft.set(slot, content).unwrap();
}

#[test]
fn a_moved_plane_leaves_the_solids_of_its_brushes() {
    let map = room(&[("PHYSCOLLIDE", solids())]);
    let side = map.table(bspkit::dialect::source::BRUSHSIDES).unwrap().get(0).unwrap();
    let plane = usize::from(side.plane) * 20;
    for (at, is_left) in [(0, true), (12, true), (16, false)] {
        let mut draft = map.draft();
        set(&mut draft, "PLANES", plane + at, 3.5_f32.to_le_bytes());
        let found = left(&draft);
        assert_eq!(found.contains(&("BRUSHES".to_owned(), Some(0))), is_left, "byte {at}: {found:?}");
        let brushes = map.records("brushes").unwrap().len();
        assert!(found.len() < brushes, "brushes with other planes are as they were: {found:?}");
    }
    // Fewer sides make another shape.
    let mut draft = map.draft();
    set(&mut draft, "BRUSHES", 4, 5_i32.to_le_bytes());
    assert_eq!(left(&draft), [("BRUSHES".to_owned(), Some(0))]);
    // Without a solid, nothing is left behind.
    let empty = room(&[]);
    let mut draft = empty.draft();
    set(&mut draft, "PLANES", plane + 12, 3.5_f32.to_le_bytes());
    assert!(left(&draft).is_empty());
}

/// A brush that came with a model of another map has a solid of its own, which an edit leaves behind as well.
#[test]
fn brushes_of_a_copied_model_are_looked_at() {
    let map = room(&[("PHYSCOLLIDE", solids())]);
    let from = room(&[]);
    let mut draft = map.draft();
    models::Copying::default().run(&mut draft, &from, &[1]).unwrap();
    assert_eq!(left(&draft), []);
    // Fewer sides of the new brush make another shape.
    let brushes = draft.bytes(map.slot("BRUSHES").unwrap().id).unwrap().len();
    let mut content = draft.bytes(map.slot("BRUSHES").unwrap().id).unwrap().to_vec();
    content[brushes - 8] -= 1;
    draft.set(map.slot("BRUSHES").unwrap().id, content).unwrap();
    assert_eq!(left(&draft), [("BRUSHES".to_owned(), Some(brushes / 12 - 1))]);
}

#[test]
fn planes_and_brushes_that_only_get_other_numbers_leave_nothing() {
    let map = room(&[("PHYSCOLLIDE", solids())]);
    let mut draft = map.draft();
    // Two sides of a brush in the other order.
    let sides = map.bytes(map.slot("BRUSHSIDES").unwrap().id).unwrap().to_vec();
    let turned = [&sides[8..16], &sides[..8], &sides[16..]].concat();
    draft.set(map.slot("BRUSHSIDES").unwrap().id, turned).unwrap();
    assert_eq!(left(&draft), []);

    let plane = map.records("planes").unwrap().len();
    let order: Vec<usize> = (0..plane / 2).rev().flat_map(|pair| [pair * 2, pair * 2 + 1]).collect();
    let mut draft = map.draft();
    draft.reorder(bspkit::dialect::source::PLANES, &order).unwrap();
    assert_eq!(left(&draft), []);
}

/// A model of another map comes with its solids.
#[test]
fn a_copied_model_leaves_nothing() {
    let map = room(&[("PHYSCOLLIDE", solids())]);
    let mut moved = map.draft();
    let side = map.table(bspkit::dialect::source::BRUSHES).unwrap().iter().last().unwrap().first_side;
    let sides = map.table(bspkit::dialect::source::BRUSHSIDES).unwrap();
    let plane = usize::from(sides.get(usize::try_from(side).unwrap()).unwrap().plane);
    moved.update(bspkit::dialect::source::PLANES, plane, |plane| plane.distance += 1.0).unwrap();
    moved.update(bspkit::dialect::source::PLANES, plane ^ 1, |plane| plane.distance -= 1.0).unwrap();
    let mut draft = map.draft();
    models::Copying::default().run(&mut draft, &saved(&moved), &[1]).unwrap();
    assert_eq!(left(&draft), []);
}

#[test]
fn a_moved_point_leaves_the_solid_of_its_displacement() {
    let mut displacements = vec![0; 2 * 176];
    // The powers: 25 points, then 81.
    displacements[20] = 2;
    displacements[176 + 20] = 3;
    let points = vec![0; (25 + 81) * 20];
    let lumps = [("DISPINFO", displacements), ("DISP_VERTS", points), ("PHYSDISP", vec![0; 20])];
    let map = room(&lumps);
    let edits = [("DISP_VERTS", 12, Some(0)), ("DISP_VERTS", 24 * 20, Some(0)), ("DISP_VERTS", 25 * 20 + 12, Some(1))];
    for (lump, at, record) in edits.into_iter().chain([("DISP_VERTS", 16, None), ("DISPINFO", 176, Some(1))]) {
        let mut draft = map.draft();
        set(&mut draft, lump, at, 8.0_f32.to_le_bytes());
        let expected: Vec<_> = record.map(|record| ("DISPINFO".to_owned(), Some(record))).into_iter().collect();
        assert_eq!(left(&draft), expected, "{lump} at {at}");
    }
}
