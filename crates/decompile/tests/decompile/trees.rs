//! Maps without brushes: what is made of their trees is proven, and is about as many brushes as their sources have.

use bspkit::dialect::goldsrc::{CLIPNODES, LEAFS, NODES, PLANES};
use bspkit::{Bsp, Draft, Layout};
use bspkit_decompile::source::{Brush, Format, Source, read};
use bspkit_decompile::{Effort, Options, decompile, prove};

use crate::corpus;
use crate::fixtures::{brushes, is_its_source, pairs};

const ROOT: &str = "../../tests/maps";

fn count(source: &Source) -> usize {
    source.entities.iter().map(|entity| entity.brushes.len()).sum()
}

#[test]
fn maps_with_a_list_of_brushes_are_their_sources() {
    for format in [None, Some(Format::Quake)] {
        is_its_source("q1/own_rooms_bspx.bsp", "q1/own_rooms.map", format);
    }
}

#[test]
fn trees_give_about_the_brushes_of_the_sources() {
    for (name, own, more) in [
        ("q1/own_box", "q1/own_box", 0),
        ("q1/own_rooms", "q1/own_rooms", 1),
        ("bsp2/own_box", "q1/own_box", 0),
        ("bsp2/own_rooms", "q1/own_rooms", 1),
        ("bsp2/own_rooms_2psb", "q1/own_rooms", 1),
        ("goldsrc/own_box", "goldsrc/own_box", 0),
        ("goldsrc/own_rooms", "goldsrc/own_rooms", 1),
        ("goldsrc/own_rooms_sdhlt", "goldsrc/own_rooms", 8),
    ] {
        let map = Bsp::open(format!("{ROOT}/{name}.bsp")).unwrap();
        let own = read(&std::fs::read(format!("{ROOT}/{own}.map")).unwrap(), Format::Quake).unwrap();
        let found = decompile(&map, &Options::default()).unwrap();
        let proof = prove(&map, &found.text(), found.format, &Effort::default()).unwrap();
        assert!(proof.is_whole() && proof.points.judged > 10_000, "{name}: {proof:?}");
        assert_eq!((found.report.left_out.len(), found.report.planes.whole), (0, found.report.planes.total));
        println!("{name}: {} brushes, {} in the source", count(&found.source), count(&own));
        assert!(count(&found.source) <= count(&own) + more, "{name}: {}", count(&found.source));
        for (found, own) in found.source.entities.iter().zip(&own.entities) {
            if !name.ends_with("sdhlt") {
                assert_eq!(pairs(found), pairs(own), "{name}");
            }
            // Doors and buttons are single boxes, and come back as they were.
            if own.brushes.len() == 1 {
                assert_eq!(brushes(found), brushes(own), "{name}");
            }
        }
    }
}

#[test]
fn the_sources_of_fixtures_are_proven_and_one_brush_less_is_not() {
    for family in ["q1", "goldsrc"] {
        let map = Bsp::open(format!("{ROOT}/{family}/own_rooms.bsp")).unwrap();
        let own = read(&std::fs::read(format!("{ROOT}/{family}/own_rooms.map")).unwrap(), Format::Quake).unwrap();
        let of = |source: &Source| {
            let text = bspkit_decompile::source::write(source, Format::Quake);
            prove(&map, &text, Format::Quake, &Effort { random_points: 4000, ..Effort::default() }).unwrap()
        };
        let proof = of(&own);
        assert_eq!(proof.points.agreeing, proof.points.judged, "{family}: {:?}", proof.worst_points);
        for entity in 0..own.entities.len() {
            for brush in 0..own.entities[entity].brushes.len() {
                let mut less = own.clone();
                less.entities[entity].brushes.remove(brush);
                assert!(!of(&less).is_whole(), "{family}: entity {entity}, brush {brush}");
            }
        }
    }
}

/// The brush around two brushes: what a merge across a corner would make.
fn around(one: &Brush, other: &Brush) -> Brush {
    let mut all = one.clone();
    for axis in 0..3 {
        let limit = |brush: &Brush, pick: fn(f64, f64) -> f64| {
            let parts = brush
                .sides
                .iter()
                .filter(|side| side.points.iter().all(|point| (point[axis] - side.points[0][axis]).abs() < 1e-9));
            parts.map(|side| side.points[0][axis]).reduce(pick).unwrap()
        };
        let [low, high] =
            [limit(one, f64::min).min(limit(other, f64::min)), limit(one, f64::max).max(limit(other, f64::max))];
        let [first, last] = [limit(one, f64::min), limit(one, f64::max)];
        for point in all.sides.iter_mut().flat_map(|side| {
            let is_flat = side.points.iter().all(|point| (point[axis] - side.points[0][axis]).abs() < 1e-9);
            if is_flat { side.points.iter_mut() } else { [].iter_mut() }
        }) {
            point[axis] = if (point[axis] - first).abs() < 1e-9 {
                low
            } else if (point[axis] - last).abs() < 1e-9 {
                high
            } else {
                point[axis]
            };
        }
    }
    all
}

#[test]
fn a_merge_across_a_corner_is_found() {
    let map = Bsp::open(format!("{ROOT}/q1/own_rooms.bsp")).unwrap();
    // Of two walls that meet in a corner, the box around both has the room in it.
    let own = read(&std::fs::read(format!("{ROOT}/q1/own_rooms.map")).unwrap(), Format::Quake).unwrap();
    let mut wrong = own.clone();
    let merged = around(&own.entities[0].brushes[3], &own.entities[0].brushes[5]);
    wrong.entities[0].brushes[3] = merged;
    let text = bspkit_decompile::source::write(&wrong, Format::Quake);
    let proof = prove(&map, &text, Format::Quake, &Effort::default()).unwrap();
    assert!(proof.points.share() < 0.9, "{:?}", proof.points);
}

/// A box of a room with a clip brush from 96 to 160 in x and y and up to 64: what stops players there is added to their
/// tree, as a compiler does it.
fn with_clip(height: f32) -> Bsp<'static> {
    let map = Bsp::open(format!("{ROOT}/q1/own_box.bsp")).unwrap();
    let mut draft = map.draft();
    let mut first = 0;
    {
        let mut planes = draft.table(PLANES).unwrap();
        let like = planes.get(0).unwrap();
        first += planes.len();
        for (axis, distance) in [(0, 80.0), (0, 176.0), (1, 80.0), (1, 176.0), (2, height + 24.0)] {
            let mut normal = [0.0; 3];
            normal[axis] = 1.0;
            let mut plane = like;
            (plane.normal, plane.distance) = (normal, distance);
            planes.push_without_following(plane);
        }
    }
    let mut nodes = draft.table(CLIPNODES).unwrap();
    // Where the first hull of players is empty.
    let space = (0..nodes.len()).find(|node| nodes.get(*node).unwrap().children.contains(&-1)).unwrap();
    let first_new = i16::try_from(nodes.len()).unwrap();
    nodes
        .update(space, |node| {
            let child = node.children.iter_mut().find(|child| **child == -1).unwrap();
            *child = first_new;
        })
        .unwrap();
    let like = nodes.get(0).unwrap();
    for at in 0..5_i16 {
        let (inner, is_last) = (if at == 4 { -2 } else { first_new + at + 1 }, at == 4);
        let mut node = like;
        node.plane = i32::try_from(first).unwrap() + i32::from(at);
        // The brush is in front of its low planes and behind its high ones.
        node.children = if at % 2 == 1 || is_last { [-1, inner] } else { [inner, -1] };
        nodes.push_without_following(node);
    }
    drop(nodes);
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

#[test]
fn a_clip_brush_comes_back() {
    for height in [64.0, 24.0] {
        let map = with_clip(height);
        let found = decompile(&map, &Options::default()).unwrap();
        let is_clip = |brush: &&Brush| brush.sides.iter().all(|side| side.texture == b"clip");
        let clips: Vec<&Brush> = found.source.entities[0].brushes.iter().filter(is_clip).collect();
        assert_eq!((clips.len(), found.report.left_out.len()), (1, 0), "{:?}", found.report);
        let has = |axis: usize, value: f64| {
            clips[0].sides.iter().any(|side| side.points.iter().all(|point| (point[axis] - value).abs() < 1e-6))
        };
        assert!(has(0, 96.0) && has(0, 160.0) && has(1, 96.0) && has(1, 160.0) && has(2, f64::from(height)));
        assert!(prove(&map, &found.text(), found.format, &Effort::default()).unwrap().is_whole());
    }
}

fn damaged(change: impl FnOnce(&mut Draft<'_>)) -> bspkit::Result<bspkit_decompile::Decompiled> {
    let map = Bsp::open(format!("{ROOT}/goldsrc/own_rooms.bsp")).unwrap();
    let mut draft = map.draft();
    change(&mut draft);
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    decompile(&map, &Options::default())
}

#[test]
fn a_tree_that_leads_back_is_left_out_and_named() {
    let found = damaged(|draft| draft.update(NODES, 5, |node| node.children = [0, 5]).unwrap()).unwrap();
    let why = "its tree is damaged; parts of it are missing";
    assert!(found.report.left_out.iter().any(|left| left.why == why), "{:?}", found.report);
    let error = damaged(|draft| draft.update(NODES, 0, |node| node.children = [0, 0]).unwrap());
    assert!(error.is_ok_and(|found| found.report.left_out.iter().any(|left| left.why == why)));
}

#[test]
fn planes_that_are_no_numbers_are_left_out() {
    let found = damaged(|draft| draft.update(PLANES, 0, |plane| plane.normal[0] = f32::NAN).unwrap());
    assert!(found.is_ok_and(|found| !found.report.left_out.is_empty()));
}

#[test]
fn a_map_without_anything_solid_says_so() {
    let nothing = |draft: &mut Draft<'_>| {
        let mut leafs = draft.table(LEAFS).unwrap();
        for leaf in 0..leafs.len() {
            leafs.update(leaf, |leaf| leaf.contents = -1).unwrap();
        }
    };
    // What stops players is still there.
    let found = damaged(nothing).unwrap();
    let all = found.source.entities.iter().flat_map(|entity| &entity.brushes).flat_map(|brush| &brush.sides);
    assert!(found.report.brush_count > 0 && all.into_iter().all(|side| side.texture == b"clip"));
    let map = Bsp::open(format!("{ROOT}/goldsrc/own_rooms.bsp")).unwrap();
    let error = damaged(|draft| {
        nothing(draft);
        draft.set(map.slot("CLIPNODES").unwrap().id, Vec::new()).unwrap();
    });
    assert_eq!(error.unwrap_err().to_string(), "no brush of the map can be brought back");
}

/// Maps of games, where the corpus is.
#[test]
fn real_maps_without_brushes_are_proven() {
    let (mut maps, mut whole) = (0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        if map.slot("CLIPNODES").is_err() {
            continue;
        }
        let start = std::time::Instant::now();
        let Ok(found) = decompile(&map, &Options::default()) else {
            println!("{}: nothing", path.display());
            continue;
        };
        let seconds = start.elapsed().as_secs_f64();
        let effort = Effort { random_points: 10_000, faces: 4000, ..Effort::default() };
        let proof = prove(&map, &found.text(), found.format, &effort).unwrap();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        println!(
            "{name}: points {:.6}, area {:.6}, {} brushes, {seconds:.2} s",
            proof.points.share(),
            proof.faces.share(),
            found.report.brush_count,
        );
        assert!(proof.points.share() > 0.9999, "{name}: {:?}", proof.worst_points);
        // Faces within sky or in space are of no brush.
        assert!(proof.faces.share() > 0.85, "{name}: {:?}", proof.worst_faces);
        maps += 1;
        whole += usize::from(proof.is_whole());
    }
    println!("{maps} maps, {whole} of them whole");
}

/// Parts of a hull that are thinner than a player give no brush; that players cannot be there is said.
#[test]
fn what_stops_players_and_is_not_written_is_named() {
    for path in crate::corpus::maps().into_iter().filter(|path| path.ends_with("goldsrc/scoutmap.bsp")) {
        let report = decompile(&Bsp::open(path).unwrap(), &Options::default()).unwrap().report;
        let said = report.left_out.iter().find(|left| left.kind == "clip" && left.why.starts_with("players cannot be"));
        assert_eq!(said.unwrap().count, 2);
    }
}
