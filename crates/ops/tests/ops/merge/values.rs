//! A vector, a color or a plane is one value: a merge has that of one side, or it is a conflict.

use bspkit::content::lightmap::Adjustment;
use bspkit::record::Cell;
use bspkit::{Bsp, Layout};
use bspkit_ops::merge::{Side, merge_with};

use super::{MAPS, edited, merged, open};

fn lit(base: &Bsp<'static>, gain: f64, tint: [f64; 3], faces: std::ops::Range<usize>) -> Bsp<'static> {
    edited(base, Layout::Keep, |draft| {
        let mut adjustment = Adjustment::default();
        (adjustment.gain, adjustment.tint) = (gain, tint);
        draft.light().unwrap().adjust(&adjustment, |_, block, _| faces.contains(&block.index())).unwrap();
    })
}

/// The luxels of all faces.
fn luxels(map: &Bsp<'_>) -> Vec<String> {
    let light = map.light().unwrap();
    let mut all = Vec::new();
    for image in light.images() {
        let [wide, high] = light.block(image).unwrap().size();
        let places = (0..high).flat_map(|y| (0..wide).map(move |x| [x, y]));
        all.extend(places.map(|place| format!("{:?}", light.luxel(image, place))));
    }
    all
}

#[test]
fn a_color_is_of_one_side() {
    const SIDES: [(f64, [f64; 3]); 3] = [(1.3, [1.0; 3]), (4.0, [1.0; 3]), (1.0, [1.0, 0.5, 1.0])];
    for name in ["source/room_v20", "source/room_v21", "q1/own_rooms_bspx", "q2/own_rooms_bspx", "q3/own_rooms"] {
        let base = open(name);
        for (mine, other) in [(0, 1), (1, 2), (2, 0)] {
            let ours = lit(&base, SIDES[mine].0, SIDES[mine].1, 0..usize::MAX);
            let theirs = lit(&base, SIDES[other].0, SIDES[other].1, 5..15);
            let (before, one, two) = (luxels(&base), luxels(&ours), luxels(&theirs));
            let by_both =
                (0..before.len()).any(|at| one[at] != before[at] && two[at] != before[at] && one[at] != two[at]);
            for side in Side::ALL {
                let mut asked = 0;
                let merged = merge_with(&base, &ours, &theirs, &mut |_| {
                    asked += 1;
                    Some(side)
                });
                let merged = merged.unwrap();
                assert_eq!(asked > 0, by_both, "{name}: {mine} {other}");
                let map = Bsp::from_vec(merged.draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
                let chosen = [&before, &one, &two][Side::ALL.iter().position(|one| *one == side).unwrap()];
                for (at, luxel) in luxels(&map).iter().enumerate() {
                    let is_settled = one[at] != before[at] && two[at] != before[at];
                    let right = match is_settled {
                        true if one[at] == two[at] => luxel == &one[at],
                        true => luxel == &chosen[at],
                        // A lump is settled as a whole where its luxels are bytes.
                        false => [&before[at], &one[at], &two[at]].contains(&luxel),
                    };
                    assert!(right, "{name}: {mine} {other} {side:?}: luxel {at} is {luxel}");
                }
            }
        }
    }
}

#[test]
fn light_of_different_faces_is_merged() {
    for name in MAPS {
        let base = open(name);
        let light = |first, second| {
            let (ours, theirs) = (lit(&base, 0.5, [1.0; 3], first), lit(&base, 0.4, [1.0; 3], second));
            (merged(&base, &ours, &theirs), luxels(&ours), luxels(&theirs))
        };
        // Quake III has pages, which many faces share.
        if base.light().unwrap().sets().iter().any(bspkit::content::lightmap::LightSet::is_pages) {
            continue;
        }
        let ((map, conflicts), one, two) = light(0..5, 8..30);
        assert_eq!(conflicts, [""; 0], "{name}");
        let before = luxels(&base);
        assert!(one != before && two != before, "{name}");
        for (at, luxel) in luxels(&map).iter().enumerate() {
            let expected = if one[at] == before[at] { &two[at] } else { &one[at] };
            assert_eq!(luxel, expected, "{name}: luxel {at}");
        }
        let ((_, conflicts), one, two) = light(0..10, 5..30);
        let by_both = (0..before.len()).any(|at| one[at] != before[at] && two[at] != before[at] && one[at] != two[at]);
        assert_eq!(!conflicts.is_empty(), by_both, "{name}: {conflicts:?}");
    }
}

/// Each side changes one number of a plane, or of another value with several.
#[test]
fn a_plane_and_a_vector_are_of_one_side() {
    for name in MAPS {
        let base = open(name);
        let set = |list: &str, path: &str| {
            edited(&base, Layout::Keep, |draft| {
                let slot = draft.bsp().slot(list).unwrap().id;
                let cells =
                    Cell::all(draft.bsp().row(draft.bsp().slot(list).unwrap()).unwrap().record().unwrap().fields);
                let cell = cells.iter().find(|cell| cell.path == path).unwrap();
                let mut bytes = draft.bytes(slot).unwrap().to_vec();
                bytes[cell.place.clone()][0] ^= 1;
                draft.set(slot, bytes).unwrap();
            })
        };
        for (list, one, two, is_one) in [
            ("planes", "normal[0]", "normal[2]", true),
            ("planes", "normal[1]", "distance", true),
            ("models", "mins[0]", "mins[1]", true),
            ("models", "mins[0]", "maxs[1]", false),
        ] {
            let (_, conflicts) = merged(&base, &set(list, one), &set(list, two));
            assert_eq!(!conflicts.is_empty(), is_one, "{name}: {list} {one} {two}: {conflicts:?}");
        }
    }
}
