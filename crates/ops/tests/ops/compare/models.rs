//! Brush models with other numbers: they are named once, and the entities that have them did not change.

use bspkit::{Bsp, Draft};
use bspkit_ops::compare::{self, Change, Comparison};

use super::named::lines;
use super::{fixture, saved};

/// A map in which the models have another order, and all that refers to them follows.
fn reordered(name: &str, order: &[usize], edit: impl FnOnce(&mut Draft<'_>)) -> (Bsp<'static>, Comparison) {
    let map = fixture(name);
    let mut draft = map.draft();
    let lump = map.role(bspkit::dialect::Role::Models).unwrap().name.clone();
    draft.structure().force(true).reorder_list(&lump, order).unwrap();
    edit(&mut draft);
    let new = saved(&draft);
    let found = compare::maps(&map, &new, 1000).unwrap();
    (new, found)
}

fn of_entities(found: &Comparison) -> Vec<String> {
    lines(found).into_iter().filter(|line| line.starts_with("ENTITIES") || line.starts_with("entity")).collect()
}

#[test]
fn models_with_other_numbers_are_one_line() {
    for name in ["q1/own_rooms", "bsp2/own_rooms", "goldsrc/own_rooms", "q2/own_rooms"] {
        let (new, found) = reordered(name, &[0, 3, 1, 2, 4], |_| {});
        let entities: Vec<_> = found.lumps.iter().filter(|lump| lump.lump == "ENTITIES").collect();
        let [Change::Models(models)] = &entities[0].changes[..] else { panic!("{name}: {:?}", of_entities(&found)) };
        let pairs: Vec<_> = models.models.iter().map(|one| (one.old, one.new, one.is_certain)).collect();
        assert_eq!(pairs, [(1, 2, true), (2, 3, true), (3, 1, true)], "{name}");
        assert_eq!(of_entities(&found), ["ENTITIES: models renumbered: *1..*2 -> *2..*3, *3 -> *1"], "{name}");
        assert!(entities[0].touched.is_empty());
        // An independent look: the boxes of the models.
        let boxes = |map: &Bsp<'_>| -> Vec<Vec<u8>> {
            let models = map.records(bspkit::dialect::Role::Models).unwrap();
            (0..models.len()).map(|index| models.get(index).unwrap()[..24].to_vec()).collect()
        };
        let (before, after) = (boxes(&fixture(name)), boxes(&new));
        assert!(pairs.iter().all(|(old, new, _)| before[*old] == after[*new]), "{name}");
    }
}

#[test]
fn a_model_of_another_entity_is_a_change() {
    let (_, found) = reordered("q2/own_rooms", &[0, 2, 1, 3, 4], |draft| {
        let entities = draft.entities().unwrap();
        let door = entities.iter().position(|entity| entity.get("targetname") == Some(b"door1")).unwrap();
        entities.get_mut(door).unwrap().set("model", "*3").unwrap();
    });
    let lines = of_entities(&found);
    assert_eq!(lines[0], "ENTITIES: models renumbered: *2 -> *1", "{lines:?}");
    assert!(lines[1].ends_with("func_door \"door1\": model \"*1\" -> \"*3\"") && lines.len() == 2, "{lines:?}");
}

/// An entity whose text is that of another one with the same number.
#[test]
fn the_same_text_with_another_model_is_another_entity() {
    let map = fixture("q2/own_rooms");
    let with = |order: &[usize]| {
        let mut draft = map.draft();
        let entities = draft.entities().unwrap();
        let models = entities.index_by("model");
        for index in models.iter().filter(|(value, _)| value.starts_with(b"*")).flat_map(|(_, indices)| indices) {
            let mut entity = entities.get_mut(*index).unwrap();
            for key in ["targetname", "target", "angle", "sounds", "lip", "wait", "spawnflags", "_minlight", "origin"] {
                entity.unset(key).unwrap();
            }
            entity.set("classname", "func_wall").unwrap();
        }
        draft.structure().force(true).reorder_list("MODELS", order).unwrap();
        saved(&draft)
    };
    let found = compare::maps(&with(&[0, 1, 2, 3, 4]), &with(&[0, 4, 1, 2, 3]), 1000).unwrap();
    let lines = of_entities(&found);
    assert!(lines[0].contains("models renumbered: *1..*3 -> *2..*4, *4 -> *1"), "{lines:?}");
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[test]
fn collision_models_are_compared_by_the_content_of_their_models() {
    let map = fixture("source/room_v20");
    let mut draft = map.draft();
    let set = |draft: &mut Draft<'_>, lump: &str, bytes: Vec<u8>| draft.set(map.slot(lump).unwrap().id, bytes).unwrap();
    // The door once more, at another place, and a collision model for the first one.
    let models = map.bytes(map.slot("MODELS").unwrap().id).unwrap().to_vec();
    let mut copy = models[48..96].to_vec();
    copy[0..4].copy_from_slice(&(-800.0_f32).to_le_bytes());
    set(&mut draft, "MODELS", [models, copy].concat());
    let words = |words: [i32; 4]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let solids = [&4_i32.to_le_bytes()[..], b"VPHY", b"solid { }\0"].concat();
    set(&mut draft, "PHYSCOLLIDE", [words([1, 8, 10, 1]), solids, words([-1, -1, 0, 0])].concat());
    let old = saved(&draft);
    let mut draft = old.draft();
    draft.structure().force(true).reorder_list("MODELS", &[0, 2, 1]).unwrap();
    let physics = |draft: &Draft<'_>| -> Vec<String> {
        let found = compare::maps(&old, &saved(draft), 1000).unwrap();
        lines(&found).into_iter().filter(|line| line.starts_with("PHYSCOLLIDE")).collect()
    };
    let found = physics(&draft);
    let is_right = |line: &str| line.starts_with("PHYSCOLLIDE: models renumbered: ") && line.ends_with("*1 -> *2");
    assert!(found.len() == 1 && is_right(&found[0]), "{found:?}");
    draft.physics().unwrap().set_text(0, "solid { x }").unwrap();
    assert_eq!(physics(&draft), ["PHYSCOLLIDE[0] of model 2, 1 before: text"]);
}
