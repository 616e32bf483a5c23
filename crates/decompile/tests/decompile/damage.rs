//! Damaged maps: what can be brought back is, the rest is named, and nothing panics.

use bspkit::Bsp;
use bspkit_decompile::source::{Format, read};
use bspkit_decompile::{Effort, Options, Proof, decompile, prove};
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
    let why = "no brush of the map can be brought back: a plane of it has no direction (brush 0 and 20 more)";
    assert_eq!(error.to_string(), why);
}

/// Puts a field of the first three records.
fn in_three(lump: &mut [u8], size: usize, at: usize, field: &[u8]) {
    lump.chunks_exact_mut(size).take(3).for_each(|record| record[at..at + field.len()].copy_from_slice(field));
}

/// A kind of what is left out, why, how many, and the numbers of the first ones.
type Left = (&'static str, &'static str, usize, Vec<usize>);

/// What is left out of a map, with the numbers of the first records, and how many faces its proof does not judge.
fn left_out(bytes: &[u8]) -> (Vec<Left>, Proof) {
    let map = Bsp::parse(bytes).unwrap();
    let found = decompile(&map, &Options::default()).unwrap();
    let proof = prove(&map, &found.text(), found.format, &Effort::default()).unwrap();
    let all = found.report.left_out.into_iter().map(|one| (one.kind, one.why, one.count, one.places));
    (all.collect(), proof)
}

#[test]
fn faces_that_cannot_be_read_are_named_and_not_proven() {
    let edges = "its edges or vertexes do not exist, or are too many";
    let texinfo = "its texinfo does not exist";
    let (far, none) = (9_999_999_i32.to_le_bytes(), 9999_i16.to_le_bytes());
    for (map, lump, size) in [("q1", "FACES", 20), ("q2", "FACES", 20), ("source", "FACES", 56)] {
        let file = if map == "source" { "source/room_v20.bsp".to_owned() } else { format!("{map}/own_rooms.bsp") };
        let whole = std::fs::read(format!("../../tests/maps/{file}")).unwrap();
        let (none_left, proof) = left_out(&whole);
        assert_eq!((none_left.len(), proof.faces.unread, proof.is_whole()), (0, 0, true), "{file}");
        let judged = proof.faces.judged;
        for (at, field, why) in [(4, &far[..], edges), (10, &none[..], texinfo)] {
            let bytes = with(&file, lump, |faces| in_three(faces, size, at, field));
            let (left, proof) = left_out(&bytes);
            assert_eq!(left, [("face", why, 3, vec![0, 1, 2])], "{file}");
            assert_eq!((proof.faces.unread, proof.is_whole()), (3, false), "{file}");
            assert!(proof.faces.judged <= judged, "{file}");
            let said = "faces of the map that cannot be read, and are not judged: 3";
            assert!(proof.differences().iter().any(|text| text == said), "{:?}", proof.differences());
        }
    }
    // All of them: edge counts that no map has.
    let bytes = with("q1/own_rooms.bsp", "FACES", |faces| {
        faces.chunks_exact_mut(20).for_each(|face| face[8..10].copy_from_slice(&32767_i16.to_le_bytes()));
    });
    let (left, proof) = left_out(&bytes);
    assert_eq!((left[0].0, left[0].1, left[0].2), ("face", edges, proof.faces.unread));
    assert!(proof.faces.unread > 100 && proof.faces.judged == 0);
}

#[test]
fn surfaces_that_cannot_be_read_are_named() {
    // The first surface of the map is a curve, which has a name of its own.
    for (at, why) in [(12, "its vertexes do not exist or are damaged"), (0, "its shader does not exist")] {
        let far = 9_999_999_i32.to_le_bytes();
        let bytes = with("q3/own_rooms.bsp", "SURFACES", |surfaces| in_three(surfaces, 104, at, &far));
        let (left, proof) = left_out(&bytes);
        assert_eq!(left[1], ("surface", why, 2, vec![1, 2]));
        assert_eq!(proof.faces.unread, 2);
    }
}

#[test]
fn sides_without_their_texture_or_alignment_are_named() {
    let gone = "it does not exist; the side has another one";
    for (file, size) in [("q2/own_rooms.bsp", 4), ("source/room_v20.bsp", 8)] {
        let bytes = with(file, "BRUSHSIDES", |sides| in_three(sides, size, 2, &9999_i16.to_le_bytes()));
        assert_eq!(left_out(&bytes).0, [("side texture", gone, 3, vec![0, 1, 2])], "{file}");
    }
    for number in [f32::NAN, f32::INFINITY] {
        for file in ["q1/own_rooms.bsp", "q2/own_rooms.bsp", "source/room_v20.bsp"] {
            let bytes = with(file, "TEXINFO", |texinfo| texinfo[0..4].copy_from_slice(&number.to_le_bytes()));
            let left = left_out(&bytes).0;
            let why = "its texture vectors are damaged; the side has a usual one";
            assert_eq!((left.len(), left[0].0, left[0].1), (1, "side alignment", why), "{file}: {left:?}");
        }
    }
}

#[test]
fn entities_whose_model_does_not_exist_are_named() {
    for (file, model) in [
        ("q1/own_rooms.bsp", "*1"),
        ("goldsrc/own_rooms.bsp", "*1"),
        ("q2/own_rooms.bsp", "*1"),
        ("q3/own_rooms.bsp", "*1"),
    ] {
        let map = Bsp::open(format!("../../tests/maps/{file}")).unwrap();
        let has_model = |entity: &bspkit::content::entities::Entity<'_>| entity.get("model") == Some(model.as_bytes());
        let entity = map.entities().unwrap().iter().find(has_model).unwrap().index();
        for far in ["*99", "*70000"] {
            let mut draft = map.draft();
            draft.entities().unwrap().get_mut(entity).unwrap().set("model", far).unwrap();
            let (left, _) = left_out(&draft.plan(bspkit::Layout::Keep).unwrap().to_vec());
            let own = ("model key", "the model that it names does not exist", 1, vec![entity]);
            assert!(left.contains(&own), "{file}, {far}: {left:?}");
        }
    }
}

#[test]
fn names_are_on_one_line() {
    for mark in [b'\n', b'\r', 0x1B, b'"'] {
        let bytes = with("q2/own_rooms.bsp", "TEXINFO", |texinfo| {
            texinfo.chunks_exact_mut(76).for_each(|texinfo| texinfo[41] = mark);
        });
        let map = Bsp::parse(&bytes).unwrap();
        for format in Format::ALL {
            let found = decompile(&map, &Options { format: Some(format), ..Options::default() }).unwrap();
            let back = read(&found.text(), format).unwrap();
            let sides = back.entities.iter().flat_map(|entity| &entity.brushes).flat_map(|brush| &brush.sides);
            assert!(sides.clone().count() > 100);
            assert!(sides.clone().all(|side| side.texture[1] == b'\''), "{format:?}");
            let left = found.report.left_out.iter().find(|left| left.kind == "side texture").unwrap();
            assert_eq!(left.count, found.report.side_count, "{format:?}");
        }
        assert!(!left_out(&bytes).1.is_whole());
    }
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
