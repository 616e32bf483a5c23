//! What stays after models are removed is as it was.

use std::collections::BTreeMap;

use bspkit::dialect::quake3;
use bspkit::{Bsp, Draft, ErrorKind};
use bspkit_ops::models::{self, Removal};

use super::maps::{fixtures, real, saved};
use super::new_errors;
use super::plain::{content, missing};

/// Removes models; the reason if that is refused.
fn removed<'a>(map: &Bsp<'a>, gone: &[usize]) -> Result<Draft<'a>, String> {
    let mut draft = map.draft();
    match Removal::default().run(&mut draft, gone) {
        Ok(_) => Ok(draft),
        Err(error) if error.kind() == ErrorKind::Refused => Err(error.to_string()),
        Err(error) => panic!("{error:?}"),
    }
}

/// Everything that is there after the models are gone was there before, and what was left over before still is.
fn what_stays_is_as_it_was(name: &str, map: &Bsp<'_>, gone: &[usize]) -> Result<(), String> {
    let draft = removed(map, gone)?;
    let errors = new_errors(&draft);
    assert!(errors.is_empty(), "{name}: {errors:#?}");
    let after = saved(&draft);
    let (before, now) = (content(map), content(&after));
    // In Quake III leafs that no node has list the parts of models, and these lists get shorter.
    let has_trees = map.slot("SHADERS").is_err();
    let lists = before.lists.iter().zip(&now.lists).filter(|((list, _), _)| has_trees || list != "LEAFS");
    for ((list, before), (_, now)) in lists {
        let others = missing(now, before);
        assert_eq!(others, 0, "{name}: {others} of {} records of {list} are not what they were", now.len());
    }
    let models = |map: &Bsp<'_>| models::list(map).unwrap();
    let (old, new) = (models(map), models(&after));
    assert_eq!(new.len(), old.len() - gone.len(), "{name}");
    let stay = old.iter().filter(|model| !gone.contains(&model.number));
    for (old, new) in stay.zip(&new) {
        // Entities of removed models are gone: others have smaller numbers.
        let own = |model: &models::Model| -> Vec<(Vec<u8>, Vec<u8>)> {
            model.entities.iter().map(|entity| (entity.class.clone(), entity.name.clone())).collect()
        };
        assert_eq!((old.mins, old.maxs, old.faces, own(old)), (new.mins, new.maxs, new.faces, own(new)));
        // What it shared with a removed model may be its own now.
        assert!(new.bytes() >= old.bytes(), "{name}: *{} has {} of {} bytes", old.number, new.bytes(), old.bytes());
    }
    Ok(())
}

#[test]
fn everything_else_stays() {
    let mut count = 0;
    for (name, map) in fixtures() {
        let Ok(listed) = models::list(&map) else { continue };
        for model in 1..listed.len() {
            match what_stays_is_as_it_was(&name, &map, &[model]) {
                Ok(()) => count += 1,
                Err(why) if map.dialect().owned.is_empty() => assert!(why.contains("not all references"), "{why}"),
                Err(why) => panic!("{name}: {why}"),
            }
        }
        if !map.dialect().owned.is_empty() && listed.len() > 2 {
            let all: Vec<usize> = (1..listed.len()).collect();
            what_stays_is_as_it_was(&name, &map, &all).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn everything_else_of_real_maps_stays() {
    let (mut done, mut refused) = (0, BTreeMap::<String, String>::new());
    for (name, map) in real(1 << 20, 8 << 20) {
        let Ok(listed) = models::list(&map) else { continue };
        if listed.len() < 2 {
            continue;
        }
        let (some, last) = (listed.len() / 2, listed.len() - 1);
        for gone in [vec![some.max(1)], vec![1, last]] {
            let mut gone = gone;
            gone.dedup();
            match what_stays_is_as_it_was(&name, &map, &gone) {
                Ok(()) => done += 1,
                Err(why) => drop(refused.insert(name.clone(), why)),
            }
        }
    }
    eprintln!("{done} removed; refused: {refused:#?}");
}

#[test]
fn only_models_that_are_there_go() {
    let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
    let error = |model: usize| Removal::default().run(&mut map.draft(), &[model]).unwrap_err();
    assert_eq!(error(0).kind(), ErrorKind::Refused);
    assert!(error(0).to_string().contains("the world"), "{}", error(0));
    assert_eq!(error(5).kind(), ErrorKind::NotFound);
    assert!(error(5).to_string().contains("*1 to *4"), "{}", error(5));
    let mut draft = map.draft();
    Removal::default().run(&mut draft, &[2, 9]).unwrap_err();
    assert!(draft.changes().unwrap().is_empty());
}

/// Engines refuse a model without faces whose first face is after the end of the list.
#[test]
fn runs_of_no_records_start_within_the_list() {
    let map = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    let after = saved(&removed(&map, &[1]).unwrap());
    let surfaces = i32::try_from(after.table(quake3::SURFACES).unwrap().len()).unwrap();
    let models: Vec<_> = after.table(quake3::MODELS).unwrap().iter().collect();
    assert!(models.iter().any(|model| model.surface_count == 0), "{models:?}");
    assert!(models.iter().all(|model| model.first_surface + model.surface_count <= surfaces), "{models:?}");
}

/// Several entities with one model: they go too, or lose the model.
#[test]
fn entities_go_or_lose_the_model() {
    let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    let copy = draft.entities().unwrap().duplicate(10).unwrap();
    let map = saved(&draft);
    let before = map.entities().unwrap().len();
    let mut draft = map.draft();
    let removed = Removal::default().run(&mut draft, &[2]).unwrap();
    assert_eq!(removed.entities, [10, copy]);
    let after = saved(&draft);
    assert_eq!(after.entities().unwrap().len(), before - 2);
    assert!(after.entities().unwrap().iter().all(|entity| entity.class() != Some(b"func_button")));

    // Engines of Quake II end with an error where a button has no model.
    let error = Removal::default().keep_entity(true).run(&mut map.draft(), &[2]).unwrap_err();
    assert!(error.kind() == ErrorKind::Refused && error.to_string().contains("PF_setmodel: NULL"), "{error}");
    let mut draft = map.draft();
    let removed = Removal::default().keep_entity(true).force(true).run(&mut draft, &[2]).unwrap();
    assert!(removed.followed.warnings.iter().any(|warning| warning.contains("#10, a func_button")), "{removed:?}");
    let after = saved(&draft);
    let texts = after.entities().unwrap();
    assert!([10, copy].iter().all(|index| texts.get(*index).unwrap().get("model").is_none()));

    // Other games load such a map, and a class that is not known may not need it.
    let map = Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    let entity = models::list(&map).unwrap()[2].entities[0].index;
    let removed = Removal::default().keep_entity(true).run(&mut draft, &[2]).unwrap();
    assert!(removed.followed.warnings.iter().any(|warning| warning.contains("does nothing")), "{removed:?}");
    let mut draft = map.draft();
    draft.entities().unwrap().get_mut(entity).unwrap().set("classname", "own_class").unwrap();
    let removed = Removal::default().keep_entity(true).run(&mut draft, &[2]).unwrap();
    assert!(removed.followed.warnings.is_empty(), "{removed:?}");
}

/// A plane that a node of the world has stays with the other one of its pair, which only the model has.
#[test]
fn a_pair_of_planes_stays_if_one_of_it_is_needed() {
    let map = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    let planes = |map: &Bsp<'_>| map.table(quake3::PLANES).unwrap().iter().collect::<Vec<_>>();
    // A pair of the model: a node of the world gets one half of it.
    let count = planes(&map).len();
    let mut plane = planes(&map)[0];
    (plane.normal, plane.distance) = ([0.6, 0.8, 0.0], 500.0);
    let mut other = plane;
    (other.normal, other.distance) = ([-0.6, -0.8, 0.0], -500.0);
    let numbers = [plane, other].into_iter().flat_map(|plane| [&plane.normal[..], &[plane.distance]].concat());
    let bytes = numbers.flat_map(f32::to_le_bytes).collect();
    let mut draft = map.draft();
    draft.structure().splice_list("PLANES", count..count, bytes).unwrap();
    let brush = map.table(quake3::MODELS).unwrap().get(1).unwrap().first_brush;
    let side = map.table(quake3::BRUSHES).unwrap().get(usize::try_from(brush).unwrap()).unwrap().first_side;
    let number = |half: usize| i32::try_from(count + half).unwrap();
    draft.update(quake3::BRUSHSIDES, usize::try_from(side).unwrap(), |side| side.plane = number(1)).unwrap();
    let gone = saved(&draft);
    draft.update(quake3::NODES, 1, |node| node.plane = number(0)).unwrap();
    let stays = saved(&draft);
    for (map, left) in [(gone, 0), (stays, 2)] {
        let mut draft = map.draft();
        Removal::default().run(&mut draft, &[1]).unwrap();
        let own = planes(&saved(&draft)).into_iter().filter(|one| [plane, other].contains(one)).count();
        assert_eq!(own, left);
    }
}

/// What a list says of a model goes with it, pairs of planes as well.
#[test]
fn a_list_says_what_a_removal_takes() {
    let mut count = 0;
    for (name, map) in crate::maps::fixtures().into_iter().chain(crate::maps::real(1 << 20, u64::MAX)) {
        let Ok(listed) = models::list(&map) else { continue };
        for model in listed.iter().skip(1).take(3) {
            let mut draft = map.draft();
            if Removal::default().run(&mut draft, &[model.number]).is_err() {
                continue;
            }
            let after = crate::maps::saved(&draft);
            for own in &model.records {
                let of = |map: &Bsp<'_>| map.links().unwrap().named(&own.list).map_or(0, |site| site.len());
                let (was, is) = (of(&map), of(&after));
                assert!(was - is >= own.count, "{name} *{} {}: {was} -> {is}, {}", model.number, own.list, own.count);
                if own.list == "PLANES" {
                    assert_eq!(was - is, own.count, "{name} *{}", model.number);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 10, "{count}");
}
