//! The tree of a map for pages: visibility by the bytes of the map, and brushes that only stop somebody in their places.

use bspkit::dialect::quake2;
use bspkit::{Bsp, Layout};
use bspkit_see::{Options, Scene, Spaces};

use crate::path;

fn spaces(bytes: &[u8]) -> Spaces {
    let map = Bsp::parse(bytes).unwrap();
    Scene::read(&map, &Options { spaces: true, ..Options::default() }).unwrap().spaces.unwrap()
}

/// A row of runs: a zero is followed by the number of zeros.
fn bits(row: &[u8], size: usize) -> Vec<u8> {
    let (mut bits, mut at) = (Vec::new(), 0);
    while bits.len() < size {
        let zeros = if row[at] == 0 { row[at + 1].into() } else { 0 };
        bits.extend(vec![0; zeros]);
        bits.extend((zeros == 0).then_some(row[at]));
        at += if zeros == 0 { 1 } else { 2 };
    }
    bits
}

#[test]
fn rows_are_those_of_the_map() {
    let bytes = std::fs::read(path("q2/own_rooms")).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    // Lump 3 begins with the number of clusters and two offsets for each.
    let lump = word(8 + 8 * 3);
    let (count, size) = (word(lump), word(lump).div_ceil(8));
    let spaces = spaces(&bytes);
    assert!(count > 1 && spaces.places.len() == count);
    for (cluster, row) in spaces.places.iter().enumerate() {
        let own = bits(&bytes[lump + word(lump + 4 + 8 * cluster)..], size);
        assert_eq!(bits(&spaces.rows[row.unwrap()], size), own, "cluster {cluster}");
    }
}

#[test]
fn brushes_that_only_stop_somebody_are_where_their_model_is() {
    let mut draft = Bsp::open(path("q2/own_rooms")).unwrap().draft();
    let count = draft.bsp().records("brushes").unwrap().len();
    for brush in 0..count {
        draft.update(quake2::BRUSHES, brush, |brush| brush.contents = 0x1_0000).unwrap();
    }
    draft.entities().unwrap().first_class("func_door").unwrap().set("origin", "100 -50 7").unwrap();
    let bytes = draft.plan(Layout::Keep).unwrap().to_vec();
    let map = Bsp::parse(&bytes).unwrap();
    let models = map.records("models").unwrap();
    let [mins, maxs] = models.columns(["mins", "maxs"]).unwrap();
    let entities = map.entities().unwrap();
    let door = entities.iter().find(|entity| entity.class() == Some(&b"func_door"[..])).unwrap();
    let model = door.text("model").unwrap()[1..].parse().unwrap();
    let [low, high]: [[f32; 3]; 2] = [mins.floats(model, 0), maxs.floats(model, 0)];
    let moved = [100.0, -50.0, 7.0];
    let wanted: [[f32; 2]; 3] = std::array::from_fn(|axis| [low[axis] + moved[axis], high[axis] + moved[axis]]);

    let spaces = spaces(&bytes);
    assert_eq!(spaces.clips.len(), count);
    assert!(spaces.clips.iter().all(|clip| clip.contents == "PLAYERCLIP"));
    let reach = |planes: &[[f32; 4]], axis: usize, sign: f32| {
        planes.iter().find(|plane| plane[axis] == sign).map(|plane| plane[3] * sign)
    };
    let boxes =
        spaces.clips.iter().map(|clip| [0, 1, 2].map(|axis| [-1.0, 1.0].map(|sign| reach(&clip.planes, axis, sign))));
    let wanted = wanted.map(|ends| ends.map(Some));
    assert_eq!(boxes.filter(|own| *own == wanted).count(), 1, "{wanted:?}");
}
