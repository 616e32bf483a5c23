//! Brush models that a side removes: what is left is renumbered, and what the other side does goes with it.

use bspkit::content::lightmap::Light;
use bspkit::dialect::{Role, goldsrc, quake, quake3};
use bspkit::{Bsp, Draft, Layout};
use bspkit_ops::merge::merge;
use bspkit_ops::models::{Copying, Removal};

use super::{assert_same_content, edited, maps, merged, open, set, walk};

fn without(map: &Bsp<'static>, models: &[usize]) -> Bsp<'static> {
    edited(map, Layout::Keep, |draft| drop(Removal::default().run(draft, models).unwrap()))
}

/// Triggers of three models, alike apart from these.
fn with_triggers() -> Bsp<'static> {
    edited(&open("q3/own_rooms"), Layout::Keep, |draft| {
        let entities = draft.entities().unwrap();
        for model in ["*3", "*4", "*5"] {
            entities.select(&format!("[model={model}]")).unwrap().into_iter().for_each(|its| {
                entities.remove(its).unwrap();
            });
            entities.add([("classname", "trigger_hurt"), ("model", model)]).unwrap();
        }
    })
}

fn with_damage(draft: &mut Draft<'static>, model: &str) {
    let entities = draft.entities().unwrap();
    let its = entities.select(&format!("[model={model}]")).unwrap();
    entities.get_mut(its[0]).unwrap().set("dmg", "100").unwrap();
}

/// The lower corner of each model, and the damage of its trigger.
fn damages(map: &Bsp<'_>) -> Vec<([f32; 3], bool)> {
    let models = map.table(quake3::MODELS).unwrap();
    let triggers = map.entities().unwrap();
    let triggers = triggers.iter().filter(|entity| entity.class() == Some(b"trigger_hurt"));
    let corner = |model: &[u8]| {
        let number: usize = String::from_utf8(model[1..].to_vec()).unwrap().parse().unwrap();
        models.get(number).unwrap().mins
    };
    triggers.map(|it| (corner(it.get("model").unwrap()), it.get("dmg").is_some())).collect()
}

/// Of triggers that only their models tell apart, each side edits its own, whatever number this has then.
#[test]
fn an_edit_goes_with_its_model() {
    let base = with_triggers();
    let places: Vec<[f32; 3]> = damages(&base).into_iter().map(|(place, _)| place).collect();
    let ours = without(&base, &[3]);
    for (model, at) in [("*4", 1), ("*5", 2)] {
        let theirs = edited(&base, Layout::Keep, |draft| with_damage(draft, model));
        for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
            let (map, conflicts) = merged(&base, ours, theirs);
            assert_eq!(conflicts, [""; 0]);
            assert_eq!(damages(&map), [(places[1], at == 1), (places[2], at == 2)]);
        }
    }
    let theirs = edited(&base, Layout::Keep, |draft| with_damage(draft, "*3"));
    assert!(merged(&base, &ours, &theirs).1[0].contains("our side removes it, and theirs changes"));
    assert!(merged(&base, &theirs, &ours).1[0].contains("our side changes it, and theirs removes it"));
}

/// Of two models that are alike one is gone: nobody knows which one, so no edit goes to either.
#[test]
fn an_edit_of_one_of_two_models_that_are_alike_is_a_conflict() {
    let base = edited(&with_triggers(), Layout::Keep, |draft| {
        let empty = quake3::Model { brush_count: 0, ..draft.table(quake3::MODELS).unwrap().get(4).unwrap() };
        (4..6).for_each(|model| draft.update(quake3::MODELS, model, |record| *record = empty).unwrap());
    });
    let ours = edited(&base, Layout::Keep, |draft| {
        let entities = draft.entities().unwrap();
        let its = entities.select("[model=*4]").unwrap();
        entities.remove(its[0]).unwrap();
        draft.structure().remove(&[("MODELS", &[4])]).unwrap();
    });
    for model in ["*4", "*5"] {
        let theirs = edited(&base, Layout::Keep, |draft| with_damage(draft, model));
        for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
            let conflicts = merged(&base, ours, theirs).1;
            let is_it = |line: &String| line.contains("it is not known which one it is") || line.contains("removes it");
            assert!(conflicts.iter().any(is_it), "{model}: {conflicts:?}");
        }
    }
}

/// Collision models and normals of Source go with their models and faces.
#[test]
fn collision_models_and_normals_go_with_what_they_are_of() {
    let (mut seen, mut merged_maps) = (0, 0);
    for (name, map) in maps::real(2_000_000, 20_000_000).filter(|(_, map)| map.slot("PHYSCOLLIDE").is_ok()) {
        if map.role(Role::Models).is_none_or(|slot| map.bytes(slot.id).is_err()) {
            continue;
        }
        let pairs = pairs(&map);
        // Some models of a map, from the first to the last.
        for [one, two] in pairs.iter().step_by(pairs.len() / 3 + 1).copied() {
            let removed = |models: &[usize]| {
                let mut draft = map.draft();
                Removal::default().run(&mut draft, models).ok()?;
                Bsp::from_data(draft.plan(Layout::Keep).ok()?.to_vec().into(), Some(map.dialect())).ok()
            };
            let all = (removed(&[one]), removed(&[two]), removed(&[one, two]));
            let (Some(ours), Some(theirs), Some(both)) = all else { continue };
            let (merged, conflicts) = merged(&map, &ours, &theirs);
            seen += 1;
            if conflicts.is_empty() {
                merged_maps += 1;
                let bytes = |map: &Bsp<'_>, lump| map.slot(lump).map(|slot| map.bytes(slot.id).unwrap().to_vec()).ok();
                // A normal that both models have stays where each side removes one of them.
                let has_same = |lump| bytes(&merged, lump) == bytes(&both, lump);
                assert!(has_same("PHYSCOLLIDE"), "{name}: {one} and {two}");
                assert!(has_same("VERTNORMALINDICES") || !has_same("VERTNORMALS"), "{name}: {one} and {two}");
            }
        }
    }
    // Light without an owner and the like may still be a conflict.
    assert!(merged_maps * 4 >= seen * 3, "{merged_maps} of {seen}");
}

/// Compilers of GoldSrc give a model without hulls the end of the list of clip nodes: it goes with the end.
#[test]
fn the_end_of_a_list_stays_the_end() {
    let base = edited(&open("goldsrc/own_rooms"), Layout::Keep, |draft| {
        let end = i32::try_from(draft.table(quake::CLIPNODES).unwrap().len()).unwrap();
        draft.update(goldsrc::MODELS, 4, |model| model.clip_nodes = [end; 3]).unwrap();
        let entities = draft.entities().unwrap();
        for model in ["*3", "*4"] {
            entities.select(&format!("[model={model}]")).unwrap().into_iter().for_each(|its| {
                entities.remove(its).unwrap();
            });
            entities.add([("classname", "trigger_hurt"), ("model", model)]).unwrap();
        }
    });
    let ours = without(&base, &[3]);
    let theirs = edited(&base, Layout::Keep, |draft| with_damage(draft, "*4"));
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, [""; 0]);
        let models = map.table(goldsrc::MODELS).unwrap();
        let end = i32::try_from(map.table(quake::CLIPNODES).unwrap().len()).unwrap();
        assert_eq!((models.len(), models.get(3).unwrap().clip_nodes), (4, [end; 3]));
    }
}

/// The pairs of models that a map has beside the world.
fn pairs(map: &Bsp<'_>) -> Vec<[usize; 2]> {
    let slot = map.role(Role::Models).unwrap();
    let size = map.row(slot).unwrap().record().unwrap().size;
    let models = 1..map.bytes(slot.id).unwrap().len() / size;
    models.clone().flat_map(|one| models.clone().filter(move |two| *two != one).map(move |two| [one, two])).collect()
}

/// Each side removes another model, with its light: the merge is the removal of both.
#[test]
fn two_sides_remove_a_model_each() {
    let mut merged_maps = 0;
    for name in ["q1/own_rooms", "bsp2/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms"] {
        let base = open(name);
        for [one, two] in pairs(&base) {
            let (ours, theirs, both) = (without(&base, &[one]), without(&base, &[two]), without(&base, &[one, two]));
            let (map, conflicts) = merged(&base, &ours, &theirs);
            assert_eq!(conflicts, [""; 0], "{name}: {one} and {two}");
            merged_maps += 1;
            assert_eq!(walk::walk(&map).entities, walk::walk(&both).entities, "{name}: {one} and {two}");
            for role in [Role::Lighting, Role::Faces, Role::Models, Role::Leafs, Role::Nodes, Role::Brushes] {
                let len = |map: &Bsp<'_>| map.role(role).map(|slot| map.bytes(slot.id).unwrap().len());
                assert_eq!(len(&map), len(&both), "{name}: {one} and {two}: {role:?}");
            }
        }
    }
    assert_eq!(merged_maps, 4 * 12 + 20);
}

/// Lumps that have to follow nothing are of no side, or of one.
#[test]
fn only_lumps_with_changes_of_both_sides_are_said_to_be_of_both() {
    let base = open("q3/own_rooms");
    let (ours, theirs) = (edited(&base, Layout::Keep, |draft| set(draft, 0, "message", "x")), without(&base, &[1]));
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let merged = merge(&base, ours, theirs).unwrap();
        assert_eq!(merged.both, ["ENTITIES"]);
        let is_of_theirs = merged.theirs.contains(&"MODELS".to_owned());
        assert_eq!(is_of_theirs, theirs.bytes(theirs.slot("MODELS").unwrap().id).unwrap().len() == 5 * 40);
    }
}

/// One side gives a texture another name, which moves all names after it; the other removes a model with the last use of
/// another texture.
#[test]
fn a_name_of_a_texture_is_merged_with_one_that_goes() {
    let base = open("source/room_v20");
    let rename = |map: &Bsp<'static>| {
        edited(map, Layout::Keep, |draft| draft.texture_strings().unwrap().rename(0, "own/newfloor_longer").unwrap())
    };
    let (ours, theirs) = (without(&base, &[1]), rename(&base));
    let both = rename(&ours);
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, [""; 0]);
        assert_same_content(&map, &both, "names");
    }
}

/// One side changes the light of all faces, in all forms of it, and the other removes a model with its light.
#[test]
fn light_that_changes_is_merged_with_a_model_that_goes() {
    for name in ["source/room_v20", "source/room_v21", "q1/own_rooms_bspx", "q2/own_rooms_bspx", "goldsrc/own_rooms"] {
        let base = open(name);
        let darker = |map: &Bsp<'static>| {
            edited(map, Layout::Keep, |draft| {
                let light = draft.edit::<Light<'_>>().unwrap();
                for image in light.images().collect::<Vec<_>>() {
                    light.update(image, |_, luxel| luxel.with_linear(luxel.linear().map(|part| part / 2.0))).unwrap();
                }
            })
        };
        let (ours, theirs) = (without(&base, &[1]), darker(&base));
        let both = darker(&ours);
        for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
            let (map, conflicts) = merged(&base, ours, theirs);
            assert_eq!(conflicts, [""; 0], "{name}");
            assert_same_content(&map, &both, name);
        }
    }
}

/// How a lump is compressed, and rows of visibility that new leafs do not have, are nothing that a copy depends on.
#[test]
fn a_copied_model_is_merged_with_compression_and_visibility() {
    let copied = |base: &Bsp<'static>, from: &Bsp<'static>, model: usize| {
        edited(base, Layout::Keep, |draft| drop(Copying::default().run(draft, from, &[model]).unwrap()))
    };
    let base = open("source/room_v20_lzma");
    let plain =
        edited(&base, Layout::Keep, |draft| drop(bspkit::compress::decompress(draft, &Default::default()).unwrap()));
    let fuller = copied(&base, &base, 1);
    for (ours, theirs) in [(&plain, &fuller), (&fuller, &plain)] {
        assert_eq!(merged(&base, ours, theirs).1, Vec::<String>::new());
    }
    for name in ["q1/own_rooms", "goldsrc/own_rooms"] {
        let base = open(name);
        let seen = edited(&base, Layout::Keep, |draft| assert!(draft.visibility().unwrap().fill().unwrap()));
        let fuller = copied(&base, &base, 2);
        for (ours, theirs) in [(&seen, &fuller), (&fuller, &seen)] {
            assert_eq!(merged(&base, ours, theirs).1, Vec::<String>::new(), "{name}");
        }
    }
}
