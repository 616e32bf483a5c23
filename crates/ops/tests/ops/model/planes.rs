//! Planes of copied models.

use bspkit::Bsp;
use bspkit_ops::models::{self, Copying};

use super::maps::saved;

/// A map whose planes are opposite pairs keeps them so: a new plane of a map where they are not comes with its
/// opposite, the plane that looks along an axis first. The planes are read from the bytes of the files.
#[test]
fn new_planes_are_pairs_where_all_are() {
    let planes = |map: &Bsp<'_>| {
        let bytes = map.bytes(map.slot("PLANES").unwrap().id).unwrap().to_vec();
        let float = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
        let numbers = |plane: &[u8]| [0, 4, 8, 12].map(|at| float(&plane[at..at + 4]));
        bytes.chunks_exact(16).map(numbers).collect::<Vec<_>>()
    };
    // The planes of the sides of the last brush, which the last model has.
    let last_sides = |map: &Bsp<'_>| {
        let bytes = map.bytes(map.slot("BRUSHSIDES").unwrap().id).unwrap().to_vec();
        let planes = planes(map);
        let number = |side: &[u8]| u32::from_le_bytes(side[..4].try_into().unwrap());
        let sides: Vec<_> = bytes.chunks_exact(8).map(|side| planes[number(side) as usize]).collect();
        sides[sides.len() - 6..].to_vec()
    };
    let map = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    let model = models::list(&map).unwrap().len() - 1;
    // One plane more makes that not all are pairs. All others are other planes than those of the map.
    let mut other = map.draft();
    let slot = map.slot("PLANES").unwrap().id;
    let mut bytes = map.bytes(slot).unwrap().to_vec();
    for (at, plane) in planes(&map).iter().enumerate() {
        bytes[16 * at + 12..16 * at + 16].copy_from_slice(&(plane[3] * 1.5).to_le_bytes());
    }
    bytes.extend_from_within(..16);
    other.set(slot, bytes).unwrap();
    let other = saved(&other);

    let mut draft = map.draft();
    Copying::default().run(&mut draft, &other, &[model]).unwrap();
    let after = saved(&draft);
    let (old, new) = (planes(&map), planes(&after));
    assert!(new.len() > old.len() && new[..old.len()] == old);
    for pair in new.chunks(2) {
        assert!((0..4).all(|at| pair[0][at] == -pair[1][at]), "{pair:?}");
        assert!(
            !pair[0].contains(&-1.0) || pair[0][..3].iter().filter(|number| **number != 0.0).count() > 1,
            "{pair:?}"
        );
    }
    assert_eq!(last_sides(&after), last_sides(&other));
    // What is there already is not added.
    let mut draft = after.draft();
    Copying::default().run(&mut draft, &other, &[model]).unwrap();
    assert_eq!(planes(&saved(&draft)), new);
}
