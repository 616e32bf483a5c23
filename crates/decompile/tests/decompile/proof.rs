//! The proof: it holds for what is written and for the sources of the fixtures, and every planted fault breaks it.

use bspkit::Bsp;
use bspkit_decompile::source::{Alignment, Brush, Format, Source, read, write};
use bspkit_decompile::{Effort, Options, Proof, decompile, prove};

const ROOT: &str = "../../tests/maps";

fn of(map: &Bsp<'_>, source: &Source, format: Format) -> Proof {
    let effort = Effort { random_points: 4000, ..Effort::default() };
    prove(map, &write(source, format), format, &effort).unwrap()
}

/// A map with its source, as it was decompiled.
fn rooms(map: &str) -> (Bsp<'static>, Source, Format) {
    let map = Bsp::open(format!("{ROOT}/{map}")).unwrap();
    let found = decompile(&map, &Options::default()).unwrap();
    (map, found.source, found.format)
}

#[test]
fn what_is_written_is_proven() {
    for name in
        ["q2/own_box.bsp", "q2/own_rooms.bsp", "qbism/own_rooms_qbism.bsp", "q3/own_box.bsp", "q3/own_rooms.bsp"]
    {
        let (map, source, format) = rooms(name);
        let proof = of(&map, &source, format);
        assert!(proof.is_whole(), "{name}: {proof:?}");
        assert!(proof.points.judged > 3000 && proof.faces.judged > 10);
    }
}

#[test]
fn the_source_of_a_fixture_is_proven_and_one_brush_less_is_not() {
    for name in ["q2/own_rooms", "q3/own_rooms"] {
        let map = Bsp::open(format!("{ROOT}/{name}.bsp")).unwrap();
        let own = read(&std::fs::read(format!("{ROOT}/{name}.map")).unwrap(), Format::Quake).unwrap();
        let proof = of(&map, &own, Format::Quake);
        assert_eq!(proof.points.judged, proof.points.agreeing, "{name} {:?}", proof.worst_points);
        assert!(proof.points.judged > 3000 && proof.models_left_out == 0);
        for entity in 0..own.entities.len() {
            for brush in 0..own.entities[entity].brushes.len() {
                let mut less = own.clone();
                // The area portal holds nothing that a point is in.
                if less.entities[entity].class() == b"func_areaportal" {
                    continue;
                }
                less.entities[entity].brushes.remove(brush);
                let proof = of(&map, &less, Format::Quake);
                let is_found = proof.points.agreeing < proof.points.judged || proof.models_left_out > 0;
                assert!(is_found, "{name} entity {entity}, brush {brush}");
            }
        }
    }
}

fn moved(brush: &mut Brush, by: [f64; 3]) {
    for point in brush.sides.iter_mut().flat_map(|side| &mut side.points) {
        point.iter_mut().zip(by).for_each(|(part, by)| *part += by);
    }
}

#[test]
fn a_brush_moved_by_a_unit_is_found() {
    let (map, source, format) = rooms("q2/own_rooms.bsp");
    for axis in 0..3 {
        let mut by = [0.0; 3];
        by[axis] = 1.0;
        let mut wrong = source.clone();
        moved(&mut wrong.entities[0].brushes[12], by);
        let proof = of(&map, &wrong, format);
        assert!(proof.points.agreeing < proof.points.judged, "axis {axis}");
        assert!(proof.worst_points.iter().all(|point| point.map != point.source));
    }
}

#[test]
fn a_side_left_out_is_found() {
    let (map, source, format) = rooms("q2/own_rooms.bsp");
    for side in 0..6 {
        let mut wrong = source.clone();
        wrong.entities[0].brushes[12].sides.remove(side);
        assert!(!of(&map, &wrong, format).is_whole(), "side {side}");
    }
}

#[test]
fn exchanged_axes_are_found() {
    let (map, source, format) = rooms("q2/own_rooms.bsp");
    let mut wrong = source;
    for side in &mut wrong.entities[0].brushes[0].sides {
        if let Alignment::Axes { axes, .. } = &mut side.alignment {
            axes.swap(0, 1);
        }
    }
    let proof = of(&map, &wrong, format);
    assert_eq!(proof.points.agreeing, proof.points.judged);
    assert!(proof.faces.agreeing < proof.faces.judged && proof.worst_faces.iter().all(|face| face.is_covered));
}

#[test]
fn another_texture_is_found() {
    let (map, source, format) = rooms("q2/own_rooms.bsp");
    let mut wrong = source;
    wrong.entities[0].brushes[0].sides.iter_mut().for_each(|side| side.texture = b"own/crate".to_vec());
    assert!(of(&map, &wrong, format).faces.share() < 0.99);
}

#[test]
fn a_merge_across_a_corner_is_found() {
    let (map, source, format) = rooms("q2/own_rooms.bsp");
    let mut wrong = source;
    // The smallest convex volume around the floor and a wall: the floor with the top of the wall.
    let sides = wrong.entities[0].brushes.iter_mut().flat_map(|brush| &mut brush.sides);
    let mut tops = sides.filter(|side| side.texture == b"own/floor" && side.points.iter().all(|point| point[2] == 0.0));
    tops.next().unwrap().points.iter_mut().for_each(|point| point[2] = 192.0);
    assert!(of(&map, &wrong, format).points.share() < 0.9);
}

#[test]
fn a_curve_a_displacement_and_an_entity_less_are_found() {
    let (map, source, format) = rooms("q3/own_rooms.bsp");
    assert_eq!(of(&map, &source, format).patches.judged, 1);
    let mut less = source.clone();
    less.entities.iter_mut().for_each(|entity| entity.patches.clear());
    assert_eq!(of(&map, &less, format).patches.missing(), 1);
    let mut bent = source.clone();
    bent.entities.iter_mut().flat_map(|entity| &mut entity.patches).for_each(|patch| patch.points[4][2] += 1.0);
    assert!(!of(&map, &bent, format).is_whole());
    let mut fewer = source.clone();
    fewer.entities.retain(|entity| entity.class() != b"info_player_start");
    assert_eq!(of(&map, &fewer, format).entities.missing(), 1);

    let map = crate::hammer::laid();
    let found = decompile(&map, &Options::default()).unwrap();
    let (source, format) = (found.source, found.format);
    let own = of(&map, &source, format).displacements;
    assert_eq!((own.judged, own.missing()), (1, 0));
    let mut flat = source.clone();
    let sides = |source: &mut Source, work: &dyn Fn(&mut bspkit_decompile::source::Side)| {
        let brushes = source.entities.iter_mut().flat_map(|entity| &mut entity.brushes);
        brushes.flat_map(|brush| &mut brush.sides).for_each(work);
    };
    sides(&mut flat, &|side| {
        if let Some(grid) = &mut side.displacement {
            grid.distances[0] += 1.0;
        }
    });
    assert!(of(&map, &flat, format).displacements.missing() > 0);
    let mut none = source.clone();
    sides(&mut none, &|side| side.displacement = None);
    assert_eq!(of(&map, &none, format).displacements.missing(), own.judged);
}

#[test]
fn a_model_that_no_entity_has_is_found() {
    let (map, source, format) = rooms("q2/own_rooms.bsp");
    let mut wrong = source;
    let door = wrong.entities.iter().position(|entity| entity.class() == b"func_door").unwrap();
    wrong.entities[door].brushes.clear();
    assert!(!of(&map, &wrong, format).is_whole());
}

/// The published source of a fixture with one fault.
fn with_fault(name: &str, fault: impl FnOnce(&mut Source)) -> Proof {
    let map = Bsp::open(format!("{ROOT}/{name}.bsp")).unwrap();
    let mut own = read(&std::fs::read(format!("{ROOT}/{name}.map")).unwrap(), Format::Quake).unwrap();
    fault(&mut own);
    prove(&map, &write(&own, Format::Quake), Format::Quake, &Effort::default()).unwrap()
}

#[test]
fn a_floor_of_lava_is_found() {
    for contents in [8, 16, 32, 0x1_0000] {
        for brush in [0, 3, 13] {
            let proof = with_fault("q2/own_rooms", |own| {
                for side in &mut own.entities[0].brushes[brush].sides {
                    side.numbers.as_mut().unwrap().contents = contents;
                }
            });
            assert!(proof.points.agreeing < proof.points.judged, "brush {brush}, contents {contents}");
        }
    }
}

#[test]
fn each_world_brush_has_its_texture_and_its_place() {
    for name in ["q2/own_rooms", "q3/own_rooms"] {
        let count = with_fault(name, |_| {});
        assert!(count.is_whole(), "{count:?}");
        let own = read(&std::fs::read(format!("{ROOT}/{name}.map")).unwrap(), Format::Quake).unwrap();
        for brush in 0..own.entities[0].brushes.len() {
            let other = with_fault(name, |own| {
                own.entities[0].brushes[brush].sides.iter_mut().for_each(|side| side.texture = b"own/other".to_vec());
            });
            let texture = String::from_utf8_lossy(&own.entities[0].brushes[brush].sides[0].texture).into_owned();
            // Nothing is drawn of clips, and what they hold is not compared.
            if texture.contains("clip") {
                continue;
            }
            assert!(!other.is_whole(), "{name}: brush {brush} with {texture}");
            let up = with_fault(name, |own| moved(&mut own.entities[0].brushes[brush], [0.0, 0.0, 1.0]));
            assert!(up.points.agreeing < up.points.judged || !up.is_whole(), "{name}: brush {brush} with {texture}");
        }
    }
}

#[test]
fn curves_and_triggers_are_where_and_what_they_were() {
    let name = "q3/own_rooms";
    let world = |fault: fn(&mut Source)| with_fault(name, fault);
    let texture = world(|own| own.entities[0].patches[0].texture = b"own/door".to_vec());
    let twice = world(|own| {
        let patch = own.entities[0].patches[0].clone();
        own.entities[0].patches.push(patch);
    });
    let coordinates = world(|own| own.entities[0].patches[0].points[3][3] += 0.25);
    for (proof, judged) in [(&texture, 1), (&coordinates, 1), (&twice, 1)] {
        assert!(proof.patches.judged == judged && !proof.patches.is_whole(), "{:?}", proof.patches);
    }
    assert_eq!((twice.patches.agreeing, twice.patches.added), (1, 1));
    let trigger = |fault: fn(&mut Brush)| {
        with_fault(name, |own| {
            let of_class = |entity: &&mut bspkit_decompile::source::Entity| entity.class() == b"trigger_multiple";
            fault(&mut own.entities.iter_mut().find(of_class).unwrap().brushes[0]);
        })
    };
    assert!(trigger(|_| {}).is_whole());
    for fault in
        [|brush: &mut Brush| moved(brush, [8.0, 0.0, 0.0]), |brush: &mut Brush| moved(brush, [0.0, 500.0, 0.0])]
    {
        let proof = trigger(fault);
        assert_eq!(proof.boxes.missing(), 1, "{proof:?}");
    }
}

/// A cube with a corner at a place.
fn cube([x, y, z]: [i32; 3], side: i32) -> Brush {
    let far = [x + side, y + side, z + side];
    let points = |[a, b, c]: [[i32; 3]; 3]| {
        let point = |[x, y, z]: [i32; 3]| format!("( {x} {y} {z} )");
        format!("{} {} {} own/floor 0 0 0 1 1 0 0 0", point(a), point(b), point(c))
    };
    let [u, v, w] = far;
    let sides = [
        [[x, y, z], [x, y + 1, z], [x, y, z + 1]],
        [[u, y, z], [u, y, z + 1], [u, y + 1, z]],
        [[x, y, z], [x, y, z + 1], [x + 1, y, z]],
        [[x, v, z], [x + 1, v, z], [x, v, z + 1]],
        [[x, y, z], [x + 1, y, z], [x, y + 1, z]],
        [[x, y, w], [x, y + 1, w], [x + 1, y, w]],
    ];
    let text = format!("{{\n\"classname\" \"worldspawn\"\n{{\n{}\n}}\n}}\n", sides.map(points).join("\n"));
    read(text.as_bytes(), Format::Quake).unwrap().entities.remove(0).brushes.remove(0)
}

/// A brush in the open, with no face of the map near: points are taken where the source has something, too.
#[test]
fn a_brush_more_is_found_however_small() {
    for side in [1, 2, 4, 8, 16, 64] {
        let proof = with_fault("q2/own_rooms", |own| own.entities[0].brushes.push(cube([100, 50, 100], side)));
        assert!(proof.points.agreeing < proof.points.judged, "{side}: {:?}", proof.points);
    }
    // Also where the effort is too small for the sides of all.
    let (map, mut source, format) = rooms("q2/own_rooms.bsp");
    let effort = Effort { random_points: 0, faces: 1, ..Effort::default() };
    let whole = prove(&map, &write(&source, format), format, &effort).unwrap();
    assert!(whole.is_whole() && whole.points.judged > 20, "{:?}", whole.points);
    source.entities[0].brushes.push(cube([100, 50, 100], 16));
    let proof = prove(&map, &write(&source, format), format, &effort).unwrap();
    assert!(proof.points.agreeing < proof.points.judged, "{:?}", proof.points);
}

#[test]
fn another_world_and_more_entities_are_found() {
    let of_class = |class: &str| {
        let text = format!("{{\n\"classname\" \"{class}\"\n}}\n");
        read(text.as_bytes(), Format::Quake).unwrap().entities.remove(0)
    };
    type Fault<'f> = &'f dyn Fn(&mut Source);
    let faults: [(&str, Fault<'_>); 4] = [
        ("a monster", &|own| own.entities.push(of_class("monster_soldier"))),
        ("a second world", &|own| own.entities.push(of_class("worldspawn"))),
        ("the world at the end", &|own| own.entities.rotate_left(1)),
        ("another first entity", &|own| {
            own.entities.insert(0, of_class("func_wall"));
            own.entities[0].pairs.clear();
        }),
    ];
    for (name, fault) in faults {
        let proof = with_fault("q2/own_rooms", fault);
        assert!(proof.entities.added > 0 && !proof.differences().is_empty(), "{name}: {:?}", proof.entities);
    }
    // Compilers take these away.
    for class in ["func_group", "func_detail", "light", "misc_model", "info_null"] {
        let proof = with_fault("q2/own_rooms", |own| own.entities.push(of_class(class)));
        assert!(proof.is_whole(), "{class}: {:?}", proof.entities);
    }
}
