//! A copied model is what it was in its map, and everything else stays.

use std::collections::{BTreeMap, BTreeSet};

use bspkit::dialect::source21::FACEBRUSHLIST;
use bspkit::dialect::{self, Role, goldsrc, goldsrc::MODELS, quake2};
use bspkit::record::Shape;
use bspkit::{Bsp, Builder, Draft, ErrorKind, SlotId};
use bspkit_ops::models::{self, Copying, Removal};

use super::facts::facts;
use super::maps::{fixtures, real, saved};
use super::new_errors;
use super::plain::content;
use super::walk::{Walk, places};

fn copied<'a>(map: &Bsp<'a>, from: &Bsp<'_>, model: usize) -> Result<(Draft<'a>, usize), String> {
    let mut draft = map.draft();
    match Copying::default().run(&mut draft, from, &[model]) {
        // What the map does not have for light and textures changes no record.
        Ok(copied) => match copied.warnings.iter().find(|text| !text.contains("style") && !text.contains("WAD")) {
            // What the other map has no lump for.
            Some(warning) => Err(format!("warned: {warning}")),
            None => Ok((draft, copied.models[0].model)),
        },
        Err(error) if [ErrorKind::Refused, ErrorKind::Unsupported].contains(&error.kind()) => Err(error.to_string()),
        Err(error) => panic!("{error:?}"),
    }
}

/// The list with records that are not like any before.
fn strange(before: &Walk, now: &Walk) -> Option<String> {
    let is_known = |list: &[u64], color: &u64| list.binary_search(color).is_ok();
    let lists = before.lists.iter().zip(&now.lists);
    let found = lists.map(|((name, before), (_, now))| {
        let others = now.iter().filter(|color| !is_known(before, color)).count();
        (others > 0).then(|| format!("{others} of {} records of {name}", now.len()))
    });
    found.flatten().next()
}

/// All that was there is there, with the same numbers.
fn nothing_moves(name: &str, map: &Bsp<'_>, after: &Bsp<'_>) {
    let is_array = |slot: &&bspkit::Slot| map.row(slot).is_ok_and(|row| row.record().is_some());
    for slot in map.slots().iter().filter(is_array).filter(|slot| slot.name != "MODELS") {
        let bytes = |map: &Bsp<'_>| map.bytes(slot.id).unwrap().to_vec();
        assert!(bytes(after).starts_with(&bytes(map)), "{name}: {} does not begin with what it was", slot.name);
    }
    let (old, new) = (map.entities().unwrap(), after.entities().unwrap());
    for (old, new) in old.iter().zip(new.iter()) {
        assert!(old.pairs().map(|pair| (pair.key, pair.value)).eq(new.pairs().map(|pair| (pair.key, pair.value))));
    }
    let (old, new) = (models::list(map).unwrap(), models::list(after).unwrap());
    for (old, new) in old.iter().zip(&new) {
        assert_eq!((old.mins, old.maxs, old.faces, &old.entities), (new.mins, new.maxs, new.faces, &new.entities));
    }
    if let (Ok(old), Ok(new)) = (map.light(), after.light()) {
        for image in old.images().filter(|image| old.sets()[image.set].name() == new.sets()[image.set].name()) {
            assert_eq!(old.bytes(image), new.bytes(image), "{name}: {image:?}");
        }
    }
}

/// Copies a model within its map, and removes it again.
fn there_and_back(name: &str, map: &Bsp<'_>, model: usize) -> Result<(), String> {
    let (draft, number) = copied(map, map, model)?;
    let errors = new_errors(&draft);
    assert!(errors.is_empty(), "{name} *{model}: {errors:#?}");
    let after = saved(&draft);
    nothing_moves(name, map, &after);
    let (before, now) = (content(map), content(&after));
    assert_eq!(strange(&before, &now), None, "{name} *{model}");
    assert_eq!(models::list(&after).unwrap()[number].entities.len(), models::list(map).unwrap()[model].entities.len());

    let mut back = after.draft();
    Removal::default().run(&mut back, &[number]).unwrap();
    let back = saved(&back);
    // Missing hulls may have the number of clip nodes, which is another one.
    for slot in map.slots().iter().filter(|slot| slot.name != "MODELS" || super::plain::has_hulls(map)) {
        let same = map.bytes(slot.id).unwrap() == back.bytes(slot.id).unwrap();
        assert!(same, "{name} *{model}: {} is not what it was", slot.name);
    }
    Ok(())
}

/// Copies a model into another map and from there back: it is what it was.
fn over_and_back(name: &str, map: &Bsp<'_>, other: &Bsp<'_>, model: usize) -> Result<(), String> {
    let (draft, number) = copied(other, map, model)?;
    let errors = new_errors(&draft);
    assert!(errors.is_empty(), "{name} *{model}: {errors:#?}");
    let over = saved(&draft);
    nothing_moves(name, other, &over);
    let (draft, _) = copied(map, &over, number)?;
    assert_eq!(strange(&content(map), &content(&saved(&draft))), None, "{name} *{model}");
    Ok(())
}

fn is_expected(why: &str) -> bool {
    ["not all references", "a form that is not known", "the other one is of", "light in a file"]
        .iter()
        .any(|part| why.contains(part))
}

#[test]
fn copies_are_what_they_were_and_leave_nothing() {
    let mut count = 0;
    for (name, map) in fixtures() {
        let Ok(listed) = models::list(&map) else { continue };
        for model in 1..listed.len() {
            match there_and_back(&name, &map, model) {
                Ok(()) => count += 1,
                Err(why) => assert!(is_expected(&why), "{name} *{model}: {why}"),
            }
        }
    }
    assert!(count > 20, "{count}");
}

/// All models at once are what they are one by one: each with its records, light and entities.
#[test]
fn models_that_are_copied_at_once_are_those_that_are_copied_one_by_one() {
    let (mut count, mut several) = (0, 0);
    for (name, map) in fixtures().into_iter().chain(real(4 << 20, 0)) {
        let Ok(listed) = models::list(&map) else { continue };
        let all: Vec<usize> = (1..listed.len()).take(12).collect();
        let mut one_by_one = map.draft();
        let mut copies = all.iter().map(|model| Copying::default().force(true).run(&mut one_by_one, &map, &[*model]));
        let is_damaged = map.container().damaged().next().is_some();
        if is_damaged || all.len() < 2 || copies.try_for_each(|copied| copied.map(drop)).is_err() {
            continue;
        }
        let mut at_once = map.draft();
        let copied = Copying::default().force(true).run(&mut at_once, &map, &all).unwrap();
        let errors = new_errors(&at_once);
        assert!(errors.iter().all(|found| found.code.name.starts_with("limit")), "{name}: {errors:#?}");
        let (one_by_one, at_once) = (saved(&one_by_one), saved(&at_once));
        nothing_moves(&name, &map, &at_once);
        let (old, new) = (content(&one_by_one), content(&at_once));
        assert_eq!((strange(&old, &new), strange(&new, &old)), (None, None), "{name}");
        let (old, new) = (models::list(&one_by_one).unwrap(), models::list(&at_once).unwrap());
        assert_eq!(old.len(), new.len(), "{name}");
        for ((before, after), copy) in old.iter().zip(&new).skip(listed.len()).zip(&copied.models) {
            assert_eq!((before.mins, before.maxs, before.faces), (after.mins, after.maxs, after.faces), "{name}");
            let own =
                |model: &models::Model| model.entities.iter().map(|entity| entity.class.clone()).collect::<Vec<_>>();
            assert_eq!(own(before), own(after), "{name}: {copy:?}");
            assert_eq!(own(&listed[copy.from]), own(after), "{name}: {copy:?}");
        }
        (count, several) = (count + 1, several + all.len());
    }
    assert!(count > 5 && several > 20, "{count} maps, {several} models");
    let map = Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let error = Copying::default().run(&mut map.draft(), &map, &[1, 2, 1]).unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Argument, "*1 is named twice".to_owned()));
}

#[test]
fn models_go_from_map_to_map() {
    let (mut count, all) = (0, fixtures());
    for (name, map) in &all {
        let Ok(listed) = models::list(map) else { continue };
        for (other_name, other) in all.iter().filter(|(other, _)| other != name) {
            for model in 1..listed.len() {
                match over_and_back(&format!("{name} -> {other_name}"), map, other, model) {
                    Ok(()) => count += 1,
                    Err(why) => assert!(
                        is_expected(&why)
                            || map.dialect() != other.dialect()
                            || why.starts_with("warned: ")
                            || why.contains("sample"),
                        "{name} -> {other_name} *{model}: {why}"
                    ),
                }
                if map.dialect() != other.dialect() {
                    break;
                }
            }
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn models_of_real_maps_go_from_map_to_map() {
    let (mut done, mut refused, mut last) = (0, BTreeMap::<String, String>::new(), BTreeMap::new());
    for (name, map) in real(1 << 20, 8 << 20) {
        let Ok(listed) = models::list(&map) else { continue };
        let key = (map.dialect().name, map.version());
        if listed.len() > 1 {
            let other: Option<(String, Bsp<'static>)> = last.insert(key, (name.clone(), map.clone()));
            let model = listed.len() / 2;
            let mut tries = vec![there_and_back(&name, &map, model.max(1))];
            let has_twice = map.textures().is_ok_and(|textures| {
                let mut names: Vec<_> = (0..textures.len()).map(|at| textures.name(at)).collect();
                names.sort_unstable();
                names.windows(2).any(|pair| pair[0] == pair[1])
            });
            // Which one of two textures with the same name was meant is not known any more.
            if let Some((other_name, other)) = other.filter(|_| !has_twice) {
                tries.push(over_and_back(&format!("{name} -> {other_name}"), &map, &other, model.max(1)));
            }
            for one in tries {
                match one {
                    Ok(()) => done += 1,
                    Err(why) => drop(refused.insert(name.clone(), why)),
                }
            }
        }
    }
    eprintln!("{done} copied; refused: {refused:#?}");
}

/// Compilers leave any number for a hull that they do not make, the same in all models. In a map without clip nodes it
/// names nothing, and must not name one of the copy's.
#[test]
fn a_hull_of_the_world_that_is_missing_stays_missing() {
    for path in ["q1/own_rooms", "bsp2/own_rooms", "goldsrc/own_rooms"] {
        let map = Bsp::open(format!("../../tests/maps/{path}.bsp")).unwrap();
        let with = |hulls: fn([i32; 3]) -> [i32; 3], has_clip_nodes: bool| {
            let mut draft = map.draft();
            for model in 0..map.table(MODELS).unwrap().len() {
                draft.update(MODELS, model, |model| model.clip_nodes = hulls(model.clip_nodes)).unwrap();
            }
            if !has_clip_nodes {
                draft.set(map.slot("CLIPNODES").unwrap().id, Vec::new()).unwrap();
            }
            saved(&draft)
        };
        let (from, to) = (with(|[first, second, _]| [first, second, 0], true), with(|_| [0; 3], false));
        assert_eq!(over_and_back(path, &from, &to, 1), Ok(()), "{path}");
        let (draft, number) = copied(&to, &from, 1).unwrap();
        let hulls = saved(&draft).table(MODELS).unwrap().get(number).unwrap().clip_nodes;
        assert!(hulls[0] >= 0 && hulls[2] == -1, "{path}: {hulls:?}");
    }
}

/// Some compilers leave cluster 0 in the leafs of models. It stays where there are no rows to be found for it.
#[test]
fn clusters_stay_in_a_map_without_visibility() {
    let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    draft.set(map.slot("VISIBILITY").unwrap().id, Vec::new()).unwrap();
    for leaf in 0..map.table(quake2::LEAFS).unwrap().len() {
        draft.update(quake2::LEAFS, leaf, |leaf| leaf.cluster = leaf.cluster.max(0)).unwrap();
    }
    assert_eq!(there_and_back("no visibility", &saved(&draft), 1), Ok(()));
}

/// A number of a new record that names another one is noticed.
#[test]
fn a_wrong_number_is_seen() {
    let mut seen = 0;
    for path in ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms"] {
        let map = Bsp::open(format!("../../tests/maps/{path}.bsp")).unwrap();
        let (draft, _) = copied(&map, &map, 1).unwrap();
        let (before, after) = (content(&map), saved(&draft));
        for (lump, field, _, to) in facts(map.dialect().name) {
            let (Ok(slot), Ok(_)) = (after.slot(lump), after.slot(to)) else { continue };
            let (old, bytes) = (map.bytes(slot.id).unwrap().len(), after.bytes(slot.id).unwrap().to_vec());
            let Some(info) = after.row(slot).ok().and_then(|row| row.record()).filter(|_| bytes.len() > old) else {
                continue;
            };
            let Some((at, Shape::Number(number))) = places(info.fields, field).first().copied() else { continue };
            // A number that names nothing, and one that is right by chance, change nothing.
            let mut is_seen = false;
            for record in (old..bytes.len()).step_by(info.size) {
                let mut wrong = bytes.clone();
                let place = record + at..record + at + number.size();
                let value = number.integer(&bytes[place.clone()]).unwrap();
                wrong[place].copy_from_slice(&(value ^ 1).to_le_bytes()[..number.size()]);
                let mut draft = after.draft();
                draft.set(slot.id, wrong).unwrap();
                is_seen |= strange(&before, &content(&saved(&draft))).is_some();
            }
            assert!(is_seen, "{path}: no one misses {lump}.{field}");
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn what_cannot_be_copied_is_refused_by_name() {
    let open = |name: &str| Bsp::open(format!("../../tests/maps/{name}.bsp")).unwrap();
    let (q2, q1) = (open("q2/own_rooms"), open("q1/own_rooms"));
    let error = |map: &Bsp<'_>, from: &Bsp<'_>, model: usize| {
        let mut draft = map.draft();
        let error = Copying::default().run(&mut draft, from, &[model]).unwrap_err();
        assert!(draft.changes().unwrap().is_empty());
        error.to_string()
    };
    assert!(error(&q2, &q1, 1).contains("the map is of Quake II"), "{}", error(&q2, &q1, 1));
    assert!(error(&q2, &q2, 0).contains("the world"), "{}", error(&q2, &q2, 0));
    assert!(error(&q2, &q2, 7).contains("*1 to *4"), "{}", error(&q2, &q2, 7));
    let source = open("source/room_v20");
    let with = |solid: &[u8]| saved(&with_solid(&source, 1, solid));
    let (unknown, bound) = (with(b"VPHY\0\x01\x07\0"), with(&solid(1, 3)));
    assert!(error(&source, &unknown, 1).contains("a form that is not known"), "{}", error(&source, &unknown, 1));
    assert!(error(&source, &bound, 1).contains("materials of its map"), "{}", error(&source, &bound, 1));
    let of_world = with(&solid(0, 0));
    assert!(error(&source, &of_world, 1).contains("BRUSHES[0], which is not of the model"));

    // Damaged references of the other map.
    let mut draft = q2.draft();
    let face = usize::try_from(q2.table(bspkit::dialect::quake2::MODELS).unwrap().get(1).unwrap().first_face).unwrap();
    draft.update(bspkit::dialect::quake2::FACES, face, |face| face.texinfo = 1000).unwrap();
    let damaged = saved(&draft);
    assert!(
        error(&q2, &damaged, 1).contains(".texinfo names records that are not there"),
        "{}",
        error(&q2, &damaged, 1)
    );

    // The tree of the world, and a tree with a circle.
    let mut draft = q2.draft();
    draft.update(bspkit::dialect::quake2::MODELS, 1, |model| model.head_node = 0).unwrap();
    assert!(error(&q2, &saved(&draft), 1).contains("the tree of the world"));
    let head = usize::try_from(q2.table(bspkit::dialect::quake2::MODELS).unwrap().get(1).unwrap().head_node).unwrap();
    let mut draft = q2.draft();
    draft.update(bspkit::dialect::quake2::NODES, head, |node| node.children[0] = i32::try_from(head).unwrap()).unwrap();
    let (draft, _) = copied(&q2, &saved(&draft), 1).unwrap();
    assert!(!new_errors(&draft).is_empty());
}

/// The piece of a collision model with 12 triangles, as physics libraries of consoles have it.
fn solid(brush: i32, material: u8) -> Vec<u8> {
    let mut solid = vec![0; 60];
    solid[..8].copy_from_slice(b"VPHY\0\x01\x01\0");
    solid[48] = 48;
    solid[56..].copy_from_slice(b"MOPP");
    solid.extend([16 * 13, brush, 13 << 8, 12].map(i32::to_le_bytes).concat());
    solid.extend([[0, 0, 0, material], [0; 4], [0; 4], [0; 4]].concat().repeat(12));
    solid
}

/// The map with a collision model of one solid.
fn with_solid<'a>(map: &Bsp<'a>, model: i32, solid: &[u8]) -> Draft<'a> {
    let size = i32::try_from(solid.len()).unwrap();
    let text = b"solid { \"index\" \"0\" }\0";
    let head = [model, size + 4, i32::try_from(text.len()).unwrap(), 1, size].map(i32::to_le_bytes).concat();
    let end = [-1, -1, 0, 0].map(i32::to_le_bytes).concat();
    let mut draft = map.draft();
    draft.set(map.slot("PHYSCOLLIDE").unwrap().id, [&head, solid, text, &end].concat()).unwrap();
    draft
}

/// A copied collision model names the copied brush, and stands before the entry that ends the list.
#[test]
fn a_collision_model_names_the_brushes_of_the_copy() {
    let source = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
    let brushes = source.table(bspkit::dialect::source::BRUSHES).unwrap().len();
    // The model has the last one.
    let from = saved(&with_solid(&source, 1, &solid(i32::try_from(brushes - 1).unwrap(), 0)));
    for map in [&from, &source] {
        let (draft, number) = copied(map, &from, 1).unwrap();
        let after = saved(&draft);
        let physics = after.physics().unwrap();
        let last = physics.len() - 1;
        assert_eq!((physics.model(last).unwrap(), physics.rest().len()), (i32::try_from(number).unwrap(), 16));
        let pieces: Vec<Vec<u8>> = physics.solids(last).unwrap().map(<[u8]>::to_vec).collect();
        assert_eq!(pieces, [solid(i32::try_from(brushes).unwrap(), 0)]);
        assert!(new_errors(&draft).is_empty(), "{:?}", new_errors(&draft));
    }
}

/// A face of the copy names the copied brush, and none where it named one that is not copied.
#[test]
fn faces_name_the_brushes_of_the_copy() {
    let map = Bsp::open("../../tests/maps/source/room_v21.bsp").unwrap();
    let [faces, brushes] = [Role::Faces, Role::Brushes].map(|role| map.records(role).unwrap().len());
    let models = map.records(Role::Models).unwrap();
    let [first, count] = models.columns(["first_face", "face_count"]).unwrap().map(|column| column.get(1));
    let first = usize::try_from(first).unwrap();
    let mut draft = map.draft();
    // The model has the last brush; the first face names it, the second one a brush of the world, the third one none.
    let own = u16::try_from(brushes - 1).unwrap();
    for (at, brush) in [own, 0, 0xFFFF].into_iter().enumerate() {
        draft.update(FACEBRUSHLIST, first + at, |list| (list.count, list.first) = (1, brush)).unwrap();
    }
    let from = saved(&draft);
    for target in [&from, &map] {
        let (draft, _) = copied(target, &from, 1).unwrap();
        let after = saved(&draft);
        assert_eq!(after.records(Role::Brushes).unwrap().len(), brushes + 1);
        let list = after.table(FACEBRUSHLIST).unwrap();
        assert_eq!(list.len(), faces + usize::try_from(count).unwrap());
        let of = |at: usize| list.get(faces + at).map(|list| (list.count, list.first)).unwrap();
        let new = u16::try_from(brushes).unwrap();
        assert_eq!([of(0), of(1), of(2)], [(1, new), (1, 0xFFFF), (1, 0xFFFF)]);
    }
}

/// The entity of a copy: that of the other map, one of a class, or none.
#[test]
fn a_copy_has_the_entity_that_is_asked_for() {
    let map = Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let entities = |copying: Copying| {
        let mut draft = map.draft();
        copying.run(&mut draft, &map, &[1]).unwrap();
        let after = saved(&draft);
        let text = after.bytes(SlotId::Lump(0)).unwrap();
        String::from_utf8_lossy(&text).matches("\"*5\"").count()
    };
    assert_eq!([Copying::default(), Copying::default().class("func_wall")].map(entities), [1, 1]);
    assert_eq!(entities(Copying::default().without_entity()), 0);
}

/// An entity that names two models names both copies, or keeps the number of the one that is not copied, which is said.
#[test]
fn an_entity_of_two_models_names_both_copies() {
    let map = Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    draft.entities().unwrap().add([("classname", "func_wall"), ("model", "*1"), ("model", "*2")]).unwrap();
    let map = saved(&draft);
    let last = |models: &[usize]| {
        let mut draft = map.draft();
        let copied = Copying::default().run(&mut draft, &map, models).unwrap();
        let entities = draft.entities().unwrap();
        let index = *copied.models[0].entities.last().unwrap();
        let entity = entities.get(index).unwrap();
        let values = entity.all("model").map(|value| String::from_utf8_lossy(value).into_owned());
        (values.collect::<Vec<_>>(), copied.warnings)
    };
    let warning = "func_wall of *1 also has *2 as its model, which is not copied".to_owned();
    assert_eq!(last(&[1]), (vec!["*5".to_owned(), "*2".to_owned()], vec![warning]));
    assert_eq!(last(&[1, 2]), (vec!["*5".to_owned(), "*6".to_owned()], vec![]));
    // Case of keys does not matter, and neither do zeros before the number.
    draft.entities().unwrap().add([("classname", "func_wall"), ("Model", "*01"), ("note", "*1")]).unwrap();
    let (map, mut draft) = (saved(&draft), saved(&draft).draft());
    let copied = Copying::default().run(&mut draft, &map, &[1]).unwrap();
    let entity = draft.entities().unwrap().get(*copied.models[0].entities.last().unwrap()).unwrap();
    assert_eq!((entity.get("model"), entity.get("note")), (Some(&b"*5"[..]), Some(&b"*1"[..])));
}

/// What the other map has in its block of BSPX, and this one has not, is named, all of it. The names are read from the
/// bytes of the file.
#[test]
fn all_that_is_left_out_is_named() {
    let file = std::fs::read("../../tests/maps/q1/own_rooms_bspx.bsp").unwrap();
    let from = Bsp::parse(&file).unwrap();
    let map = Bsp::open("../../tests/maps/q1/own_rooms.bsp").unwrap();
    let block = file.windows(4).rposition(|four| four == b"BSPX").unwrap();
    let count = usize::from(file[block + 4]);
    let name = |entry: usize| {
        let name = &file[block + 8 + 32 * entry..][..24];
        format!("bspx:{}", String::from_utf8_lossy(name).trim_end_matches('\0'))
    };
    let names: BTreeSet<String> = (0..count).map(name).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let copied = Copying::default().run(&mut map.draft(), &from, &[1]).unwrap();
    let warning = |name: &String| format!("{name} is left out, since the map has none");
    assert_eq!(copied.warnings.into_iter().collect::<BTreeSet<_>>(), names.iter().map(warning).collect());
    assert!(Copying::default().run(&mut from.draft(), &from, &[1]).unwrap().warnings.is_empty());
}

/// Light that a map has in color alone is not left out without a word.
#[test]
fn light_in_color_alone_refuses_the_copy() {
    let map = Bsp::open("../../tests/maps/q1/own_rooms_bspx.bsp").unwrap();
    let mut draft = map.draft();
    draft.set(map.slot("LIGHTING").unwrap().id, Vec::new()).unwrap();
    let colored = saved(&draft);
    for (to, from) in [(&colored, &colored), (&map, &colored), (&colored, &map)] {
        let error = Copying::default().run(&mut to.draft(), from, &[1]).unwrap_err();
        assert!(error.kind() == ErrorKind::Refused && error.to_string().contains("alone"), "{error}");
        let copied = Copying::default().force(true).run(&mut to.draft(), from, &[1]).unwrap();
        assert!(copied.warnings.iter().any(|warning| warning.contains("alone")), "{copied:?}");
    }
    Copying::default().run(&mut map.draft(), &map, &[1]).unwrap();
}

/// Copied faces have the map's own textures of the same names: what that changes is said.
#[test]
fn a_texture_of_the_same_name_that_is_another_is_named() {
    let warnings = |game: &str, edit: &dyn Fn(&mut Vec<u8>, usize), is_back: bool| {
        let map = Bsp::open(format!("../../tests/maps/{game}/own_rooms.bsp")).unwrap();
        let slot = map.role(Role::Textures).unwrap().id;
        let mut bytes = map.bytes(slot).unwrap().to_vec();
        let number = |bytes: &[u8], at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        for texture in 0..map.textures().unwrap().len() {
            // Some are missing.
            if let Ok(start) = usize::try_from(number(&bytes, 4 + 4 * texture)) {
                edit(&mut bytes, start);
            }
        }
        let mut draft = map.draft();
        draft.set(slot, bytes).unwrap();
        let other = saved(&draft);
        let (to, from) = if is_back { (&other, &map) } else { (&map, &other) };
        Copying::default().run(&mut to.draft(), from, &[1]).unwrap().warnings
    };
    type Edit = fn(&mut Vec<u8>, usize);
    let pixel: Edit = |bytes, at| bytes[at + 40] ^= 1;
    let nothing: Edit = |_, _| {};
    let empty: Edit = |bytes, at| bytes[at + 24..at + 40].fill(0);
    let larger: Edit = |bytes, at| {
        bytes[at + 24..at + 40].fill(0);
        bytes[at + 16] = 64;
    };
    for game in ["q1", "goldsrc"] {
        assert_eq!(warnings(game, &nothing, false), [""; 0]);
        for (edit, is_back, why) in [
            (pixel, false, "(other pixels)"),
            (pixel, true, "(other pixels)"),
            (empty, true, "(no pixels, and some in the other map)"),
            (empty, false, "(pixels, and none in the other map)"),
            (larger, false, "32 by 32 pixels, and 64 by 32 in the other map: it has another scale"),
        ] {
            let warnings = warnings(game, &edit, is_back);
            let is_said = |text: &String| {
                text.starts_with("textures of the map take the place of others of the same name: `")
                    && text.contains(why)
            };
            assert!(warnings.len() == 1 && warnings.iter().any(is_said), "{game} {why}: {warnings:?}");
        }
    }
}

/// Textures that are missing have no name by which they could be the same in two maps.
#[test]
fn missing_textures_stay_as_many_as_they_were() {
    let map = Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let slot = map.role(Role::Textures).unwrap().id;
    let mut bytes = map.bytes(slot).unwrap().to_vec();
    let count = map.textures().unwrap().len();
    bytes[4..4 + 4 * count].fill(0xFF);
    let mut draft = map.draft();
    draft.set(slot, bytes).unwrap();
    let from = saved(&draft);
    /// The textures of the faces of models.
    fn textures(map: &Bsp<'_>, wanted: &[usize]) -> Vec<i32> {
        let (models, faces) = (map.table(MODELS).unwrap(), map.table(goldsrc::FACES).unwrap());
        let texinfo = map.table(goldsrc::TEXINFO).unwrap();
        let faces = wanted.iter().flat_map(|model| {
            let model = models.get(*model).unwrap();
            (model.first_face..model.first_face + model.face_count)
                .map(|face| faces.get(usize::try_from(face).unwrap()).unwrap())
        });
        faces.map(|face| texinfo.get(usize::from(face.texinfo.cast_unsigned())).unwrap().texture).collect()
    }
    /// The faces that have the same texture as the first one of these.
    fn alike(textures: &[i32]) -> Vec<usize> {
        textures.iter().map(|texture| textures.iter().position(|other| other == texture).unwrap()).collect()
    }
    let count = from.table(MODELS).unwrap().len();
    let wanted: Vec<usize> = (1..count).collect();
    let old = alike(&textures(&from, &wanted));
    assert!(old.iter().any(|first| *first > 0), "there are several textures");
    let mut to = map.clone();
    for _ in 0..2 {
        let mut draft = to.draft();
        let copied = Copying::default().run(&mut draft, &from, &wanted).unwrap();
        assert!(copied.warnings.iter().any(|warning| warning.contains("are missing in the other map")), "{copied:?}");
        assert!(copied.textures.is_empty());
        let after = saved(&draft);
        let new: Vec<usize> = copied.models.iter().map(|copy| copy.model).collect();
        assert_eq!(alike(&textures(&after, &new)), old);
        to = after;
    }
    // The map itself has them at the same places.
    let copied = Copying::default().run(&mut from.draft(), &from, &wanted).unwrap();
    assert!(copied.warnings.is_empty(), "{copied:?}");
}

/// A leaf without light of its own names one that has some. If both maps have that leaf, the copy names it too.
#[test]
fn a_leaf_keeps_the_one_whose_light_it_has() {
    let map = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
    let (draft, _) = copied(&map, &map, 1).unwrap();
    let after = saved(&draft);
    for list in [bspkit::dialect::source::LEAF_AMBIENT_INDEX, bspkit::dialect::source::LEAF_AMBIENT_INDEX_HDR] {
        let old = map.table(list).unwrap().len();
        let new: Vec<_> = after.table(list).unwrap().iter().skip(old).map(|leaf| (leaf.count, leaf.first)).collect();
        assert_eq!(new, [(0, 7); 7]);
    }
}

/// Fog is of a place of the other map: its brush belongs to the world. In a map that has the same fog it stays.
#[test]
fn a_copy_has_no_brush_of_a_fog() {
    let plain = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    let slot = |name: &str| plain.slot(name).unwrap().id;
    let surfaces = plain.records("SURFACES").unwrap();
    let model = models::list(&plain).unwrap().iter().position(|model| model.number > 0 && model.faces > 0).unwrap();
    let first = plain.records("MODELS").unwrap().column("first_surface").unwrap().index(model).unwrap();
    let mut draft = plain.draft();
    let mut fog = [0; 72];
    fog[..3].copy_from_slice(b"fog");
    fog[68..].copy_from_slice(&(-1_i32).to_le_bytes());
    draft.set(slot("FOGS"), fog.to_vec()).unwrap();
    let mut bytes = plain.bytes(slot("SURFACES")).unwrap().to_vec();
    let at = surfaces.column("fog").unwrap().at(first);
    bytes[at..at + 4].fill(0);
    draft.set(slot("SURFACES"), bytes).unwrap();
    let foggy = saved(&draft);
    for (map, fog, warnings) in [(&plain, -1, 1), (&foggy, 0, 0)] {
        let mut draft = map.draft();
        let copied = Copying::default().run(&mut draft, &foggy, &[model]).unwrap();
        assert_eq!(copied.warnings.len(), warnings, "{:?}", copied.warnings);
        let after = saved(&draft);
        let count = |map: &Bsp<'_>, name: &str| map.records(name).map_or(0, |records| records.len());
        assert_eq!(count(&after, "FOGS"), count(map, "FOGS"));
        let new = count(map, "SURFACES");
        assert_eq!(after.records("SURFACES").unwrap().column("fog").unwrap().get(new), fog);
        assert_eq!(new_errors(&draft).len(), 0);
    }
}

/// Where entries of BSPX say how large luxels are and how many styles a face has, a map without the same entries would
/// read other light: it is left out, or the copy is refused.
#[test]
fn light_is_copied_where_it_is_read_alike() {
    let map = Bsp::open("../../tests/maps/q1/own_rooms.bsp").unwrap();
    let faces = map.table(bspkit::dialect::quake::FACES).unwrap();
    let styles = |each: usize| [vec![0], vec![255; each - 1]].concat().repeat(faces.len());
    let entry = |name: &str| match name {
        "coarse" => ("LMSHIFT", vec![5; faces.len()]),
        "placed" => ("LMOFFSET", faces.iter().flat_map(|face| face.light_offset.to_le_bytes()).collect()),
        name => ("LMSTYLE", styles(name.len())),
    };
    let with = |entries: &str| {
        let mut builder = Builder::new(&dialect::QUAKE);
        for slot in map.slots() {
            let SlotId::Lump(lump) = slot.id else { continue };
            builder = builder.lump(lump, map.bytes(slot.id).unwrap().to_vec());
        }
        let entries = entries.split_whitespace().map(entry);
        let builder = entries.fold(builder, |builder, (name, bytes)| builder.bspx(name, bytes));
        Bsp::from_vec(builder.build().unwrap()).unwrap()
    };
    let is_lit = |to: &str, from: &str| {
        let (to, from) = (with(to), with(from));
        let mut draft = to.draft();
        let copied = Copying::default().run(&mut draft, &from, &[1]).map_err(|error| error.to_string())?;
        let (number, saved) = (copied.models[0].model, saved(&draft));
        let first = usize::try_from(saved.table(MODELS).unwrap().get(number).unwrap().first_face).unwrap();
        let face = saved.table(bspkit::dialect::quake::FACES).unwrap().get(first).unwrap();
        Ok::<_, String>(face.light_offset >= 0)
    };
    for (to, from, is_copied) in [
        ("", "", true),
        ("coarse", "coarse", true),
        ("", "coarse", false),
        ("coarse", "coarse placed", false),
        ("coarse placed", "coarse", false),
        ("coarse placed", "coarse placed", true),
        ("SSSSSSSS", "SSSSSSSS", true),
    ] {
        assert_eq!(is_lit(to, from), Ok(is_copied), "{to} from {from}");
    }
    assert!(is_lit("SSSSSSSS", "SSSSS").unwrap_err().contains("other records"));
}

/// Lists that belong to others, such as faces for HDR, and that the map has for none of its own records: they are left out.
#[test]
fn lists_that_the_map_has_for_none_of_its_records_stay_empty() {
    let from = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
    let empty = ["FACEIDS", "FACES_HDR", "LEAF_AMBIENT_INDEX", "LEAF_AMBIENT_INDEX_HDR"];
    let mut draft = from.draft();
    for name in empty.iter().chain(&["LEAF_AMBIENT_LIGHTING", "LEAF_AMBIENT_LIGHTING_HDR", "LIGHTING_HDR"]) {
        let slot = from.slot(name).unwrap().id;
        draft.set(slot, Vec::new()).unwrap();
    }
    let to = saved(&draft);
    let mut draft = to.draft();
    let copied = Copying::default().run(&mut draft, &from, &[1]).unwrap();
    let had: Vec<&&str> =
        empty.iter().filter(|name| !from.bytes(from.slot(name).unwrap().id).unwrap().is_empty()).collect();
    assert!(had.len() > 2, "{had:?}");
    for name in &had {
        assert!(
            copied.warnings.iter().any(|line| *line == format!("{name} is left out, since the map has none")),
            "{name}"
        );
    }
    let new = saved(&draft);
    assert!(had.iter().all(|name| new.bytes(new.slot(name).unwrap().id).unwrap().is_empty()));
    assert_eq!(new_errors(&draft), Vec::new());
}
