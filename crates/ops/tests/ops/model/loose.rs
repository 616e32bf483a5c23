//! Values that may name a brush model, where nothing declares it: no number follows there, and that is said.

use bspkit::content::entities::Entity;
use bspkit::{Bsp, Draft};
use bspkit_ops::diff::diff;
use bspkit_ops::merge::merge;
use bspkit_ops::models::{self, Copying, Removal};

use super::maps::saved;

const WHY: &str = "which may name a model and does not follow";

fn open(name: &str) -> Bsp<'static> {
    Bsp::open(format!("../../tests/maps/{name}.bsp")).unwrap()
}

fn with<'a>(map: &Bsp<'a>, pairs: &[(&str, &str)]) -> Bsp<'a> {
    let mut draft = map.draft();
    draft.entities().unwrap().add(pairs.iter().copied()).unwrap();
    saved(&draft)
}

fn without<'a>(map: &Bsp<'a>, model: usize) -> Bsp<'a> {
    let mut draft = map.draft();
    Removal::default().run(&mut draft, &[model]).unwrap();
    saved(&draft)
}

#[test]
fn a_part_of_a_value_may_name_a_model() {
    for (value, numbers) in [
        ("*3", &[3][..]),
        ("* 3", &[3]),
        ("lift,SetModel,*3,0,-1", &[3]),
        ("lift,AddOutput,model *3,0,-1", &[3]),
        ("*3,*4", &[3, 4]),
        ("2*3", &[]),
        ("*3d", &[3]),
        ("*.vmt", &[]),
        ("*99999999999999999999", &[]),
    ] {
        let map = with(&open("q3/own_rooms"), &[("classname", "info_x"), ("OnUse", value)]);
        let entities = map.entities().unwrap();
        let loose = |entity: Entity<'_>| entity.loose_models(map.dialect());
        let found: Vec<_> = entities.iter().flat_map(loose).map(|model| model.number).collect();
        assert_eq!(found, numbers, "{value}");
    }
}

/// A key that is not known may name a model: its number does not follow, and that is said.
#[test]
fn a_removed_or_moved_model_under_another_key_is_a_doubt() {
    let map = open("q3/own_rooms");
    let mut draft = map.draft();
    let index = draft.entities().unwrap().add([("classname", "info_x"), ("othermodel", "*3")]).unwrap();
    let map = saved(&draft);
    let said = |edit: &dyn Fn(&mut Draft<'_>) -> Vec<String>| {
        let mut draft = map.draft();
        let warnings = edit(&mut draft);
        let texts = saved(&draft);
        let last = texts.entities().unwrap();
        let last = last.get(last.len() - 1).unwrap();
        assert_eq!(last.get("othermodel"), Some(&b"*3"[..]));
        warnings.into_iter().filter(|warning| warning.contains("othermodel")).collect::<Vec<_>>()
    };
    let without = |model: usize| said(&|draft| Removal::default().run(draft, &[model]).unwrap().followed.warnings);
    // Its own entity goes with the model, and this one has a smaller number then.
    let index = index - 1;
    assert_eq!(without(1), [format!("ENTITIES[{index}].othermodel is *3, {WHY}: that model is *2 now")]);
    assert_eq!(without(3), [format!("ENTITIES[{index}].othermodel is *3, {WHY}: that model is removed")]);
    assert_eq!(without(4), [""; 0]);
    let count = models::list(&map).unwrap().len();
    let order: Vec<usize> = [0, 2, 3, 1].into_iter().chain(4..count).collect();
    let moved = said(&|draft| draft.structure().reorder_list("MODELS", &order).unwrap().warnings);
    assert!(moved.len() == 1 && moved[0].ends_with("that model is *2 now"), "{moved:?}");
}

/// An advertisement of Quake Live names its model by a text, and stays.
#[test]
fn a_model_of_an_advertisement_stays() {
    let map = open("q3/own_rooms");
    let mut ad = [0; 128];
    ad[64..66].copy_from_slice(b"*1");
    // One entry more in the directory.
    let old = map.container().bytes().to_vec();
    let word = |at: usize| i32::from_le_bytes(old[at..at + 4].try_into().unwrap());
    let entries = (0..17).flat_map(|lump| [word(8 + 8 * lump) + 8, word(12 + 8 * lump)]);
    let last = [i32::try_from(old.len()).unwrap() + 8, 128];
    let directory: Vec<u8> = entries.chain(last).flat_map(i32::to_le_bytes).collect();
    let live = [&old[..4], &47_i32.to_le_bytes(), &directory, &old[8 + 8 * 17..], &ad].concat();
    let live = Bsp::from_vec(live).unwrap();
    let counts =
        |map: &Bsp<'_>| models::list(map).unwrap().iter().map(|model| model.count("BRUSHES")).collect::<Vec<_>>();
    assert_eq!(counts(&live), counts(&map));
    let error = Removal::default().run(&mut live.draft(), &[1]).unwrap_err().to_string();
    assert!(error.contains("MODELS[1] is still needed: by ADVERTISEMENTS[0].model"), "{error}");
    Removal::default().run(&mut live.draft(), &[2]).unwrap();
}

/// One side gives models other numbers, and the other one adds a value with the number of before.
#[test]
fn a_merge_says_values_that_the_other_side_moves_away_from() {
    for name in ["q2/own_rooms", "goldsrc/own_rooms", "q3/own_rooms"] {
        let base = open(name);
        let added = |value| with(&base, &[("classname", "info_x"), ("othermodel", value)]);
        let (one, three) = (without(&base, 1), added("*3"));
        for (side, ours, theirs) in [("theirs", &one, &three), ("ours", &three, &one)] {
            let merged = merge(&base, ours, theirs).unwrap();
            assert!(merged.conflicts.is_empty(), "{name}: {:?}", merged.conflicts);
            let index = three.entities().unwrap().len() - 1;
            let said = format!("in {side}, ENTITIES[{index}].othermodel is *3, {WHY}: that model is *2 now");
            assert_eq!(merged.doubts, [said], "{name}");
        }
        let merged = merge(&base, &one, &added("*1")).unwrap();
        assert!(merged.doubts.len() == 1 && merged.doubts[0].contains("removes"), "{:?}", merged.doubts);
        // What the base has was a doubt when the models got other numbers, and what names the same model is none.
        let old = with(&base, &[("classname", "info_y"), ("othermodel", "*3")]);
        let edited = with(&old, &[("classname", "light")]);
        assert!(merge(&old, &without(&old, 1), &edited).unwrap().doubts.is_empty());
        let last = models::list(&base).unwrap().len() - 1;
        assert!(merge(&base, &without(&base, last), &three).unwrap().doubts.is_empty());
    }
}

#[test]
fn a_copied_model_keeps_other_values_as_they_are() {
    let map = open("q1/own_rooms");
    let mut draft = map.draft();
    let entities = draft.entities().unwrap();
    let door = entities.iter().find(|entity| entity.get("model") == Some(b"*1")).unwrap().index();
    entities.get_mut(door).unwrap().set("othermodel", "*4").unwrap();
    let from = saved(&draft);
    let said = |models: &[usize]| {
        let mut draft = map.draft();
        let copied = Copying::default().run(&mut draft, &from, models).unwrap();
        let index = copied.models[0].entities[0];
        let doubts = copied.warnings.into_iter().filter(|warning| warning.contains("othermodel"));
        (index, copied.models.last().unwrap().model, doubts.collect::<Vec<_>>())
    };
    let (index, _, doubts) = said(&[1]);
    assert_eq!(doubts, [format!("ENTITIES[{index}].othermodel is *4, {WHY}: that model is not copied")]);
    let (index, new, doubts) = said(&[1, 4]);
    assert_eq!(doubts, [format!("ENTITIES[{index}].othermodel is *4, {WHY}: that model is *{new} here")]);
}

/// A patch writes the numbers of the map that it leads to, and changes no models.
#[test]
fn a_patch_between_maps_with_other_models_is_a_doubt() {
    let old = open("q2/own_rooms");
    let new = without(&old, 1);
    let others = |new: &Bsp<'_>| {
        let patch = diff(&old.entities().unwrap(), &new.entities().unwrap()).unwrap();
        patch.other_models(&old, new).unwrap()
    };
    assert!(!others(&new).is_empty());
    assert!(others(&new).iter().all(|other| other.contains("another one in the new map")));
    assert!(others(&with(&old, &[("classname", "func_wall"), ("model", "*3")])).is_empty());
    // The last model of the old map, which the new one does not have.
    let last = models::list(&new).unwrap().len();
    for value in [format!("*{last}"), format!("* {last}"), format!("lift,SetModel,*{last},0,-1")] {
        let more = with(&new, &[("classname", "info_x"), ("othermodel", &value)]);
        assert_eq!(others(&more).len(), others(&new).len() + 1, "{value}");
    }
}
