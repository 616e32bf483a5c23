//! Damaged maps: what can be brought back is, the rest is named, and nothing panics.

use bspkit::Bsp;
use bspkit_decompile::source::{Format, read};
use bspkit_decompile::{Effort, Options, decompile, prove};
use proptest::prelude::*;

const MAPS: [&str; 8] = [
    "q2/own_rooms.bsp",
    "q3/own_rooms.bsp",
    "source/room_v20.bsp",
    "qbism/own_rooms_qbism.bsp",
    "q1/own_rooms.bsp",
    "q1/own_rooms_bspx.bsp",
    "bsp2/own_rooms.bsp",
    "goldsrc/own_rooms.bsp",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_damage_is_too_much(
        map in 0..MAPS.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = std::fs::read(format!("../../tests/maps/{}", MAPS[map])).unwrap();
        for (place, byte) in changes {
            // The directory stays as it is in most cases, so that the content is reached.
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let Ok(map) = Bsp::parse(&bytes) else { return Ok(()) };
        for format in [None, Some(Format::Quake)] {
            let Ok(found) = decompile(&map, &Options { format, ..Options::default() }) else { continue };
            let text = found.text();
            prop_assert!(read(&text, found.format).is_ok());
            let effort = Effort { random_points: 200, faces: 100, ..Effort::default() };
            let _ = prove(&map, &text, found.format, &effort);
        }
    }
}

/// A map whose lump of this name has other bytes.
fn with(name: &str, lump: &str, change: impl Fn(&mut [u8])) -> Vec<u8> {
    let bytes = std::fs::read(format!("../../tests/maps/{name}")).unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let slot = map.slot(lump).unwrap();
    let [start, length] = [slot.offset, slot.length].map(|number| usize::try_from(number).unwrap());
    let mut changed = bytes.clone();
    change(&mut changed[start..start + length]);
    changed
}

#[test]
fn brushes_whose_sides_do_not_exist_are_left_out() {
    let bytes = with("q2/own_rooms.bsp", "BRUSHES", |brushes| brushes[0..4].copy_from_slice(&[255, 255, 255, 127]));
    let found = decompile(&Bsp::parse(&bytes).unwrap(), &Options::default()).unwrap();
    assert_eq!((found.report.left_out.len(), found.report.left_out[0].count), (1, 1));
    assert_eq!(found.report.left_out[0].places, [0]);
    let proof = prove(&Bsp::parse(&bytes).unwrap(), &found.text(), found.format, &Effort::default()).unwrap();
    assert!(!proof.is_whole());
}

#[test]
fn brushes_of_too_few_sides_are_left_out() {
    let bytes = with("q2/own_rooms.bsp", "BRUSHES", |brushes| brushes[4] = 3);
    let found = decompile(&Bsp::parse(&bytes).unwrap(), &Options::default()).unwrap();
    assert_eq!(found.report.left_out[0].why, "it has fewer than four sides");
}

#[test]
fn planes_that_meet_nowhere_are_left_out() {
    let bytes = with("q2/own_rooms.bsp", "PLANES", |planes| planes.fill(0));
    let error = decompile(&Bsp::parse(&bytes).unwrap(), &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "no brush of the map can be brought back");
}

/// Every leaf names the same list of many brushes: each point of the proof would look at all of them.
#[test]
fn a_proof_has_a_bound() {
    let map = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    let slot = |name: &str| map.slot(name).unwrap().id;
    let count = 200_000;
    let mut leafs = map.bytes(slot("LEAFS")).unwrap().to_vec();
    let records = map.records("LEAFS").unwrap();
    let [first, number] = ["first_leaf_brush", "leaf_brush_count"].map(|name| records.column(name).unwrap());
    for leaf in 0..records.len() {
        leafs[first.at(leaf)..][..4].fill(0);
        leafs[number.at(leaf)..][..4].copy_from_slice(&i32::to_le_bytes(count));
    }
    let mut draft = map.draft();
    draft.set(slot("LEAFS"), leafs).unwrap();
    draft.set(slot("LEAFBRUSHES"), i32::to_le_bytes(0).repeat(usize::try_from(count).unwrap())).unwrap();
    let damaged = Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
    let source = decompile(&map, &Options::default()).unwrap();
    let start = std::time::Instant::now();
    let proof = prove(&damaged, &source.text(), Format::Quake3, &Effort::default()).unwrap();
    assert!(proof.points.unclear > 1000 && !proof.is_whole(), "{proof:?}");
    assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
}
