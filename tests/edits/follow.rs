//! Edits of the order and the number of records, and what follows them.

mod beside;
mod copies;
mod facts;
mod gone;
mod hostile;
mod maps;
mod orders;
mod shuffle;
mod walk;

use crate::corpus;
use std::collections::{BTreeMap, BTreeSet};

use bspkit::dialect::{goldsrc, quake2};
use bspkit::{Bsp, Draft, ErrorKind};
use bspkit_ops::check;
use maps::{fixtures, real, saved};
use shuffle::Random;

fn inverse(order: &[usize]) -> Vec<usize> {
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, old)| back[*old] = new);
    back
}

/// Every list of a map in another order: the content is the same, the map has no new fault, and back again every byte
/// is as it was.
fn reorder_all(name: &str, map: &Bsp<'_>, seed: u64) -> Vec<String> {
    let mut draft = map.draft();
    let before = walk::walk(map);
    let (done, refusals) = shuffle::reorder_all(&mut draft, seed, &[]);
    let after = saved(&draft);
    let now = walk::walk(&after);
    for ((list, before), (_, now)) in before.lists.iter().zip(&now.lists) {
        let others = before.iter().filter(|color| now.binary_search(color).is_err()).count();
        assert_eq!(others, 0, "{name}: {others} of {} records of {list} are not what they were", before.len());
    }
    assert!(before == now, "{name}: the content is not the same");
    let mut errors = check::introduced(&draft, &check::Options::default()).unwrap();
    // In any other order than that of faces engines disagree on corners with normals; it is said.
    errors.retain(|finding| finding.code.name != "normal-order");
    assert!(errors.is_empty(), "{name}: {errors:#?}");
    for (list, order) in done.iter().rev() {
        draft.reorder_back(list, order);
    }
    let changes = draft.changes().unwrap();
    assert!(changes.is_empty(), "{name}: {changes:?} are not what they were");
    refusals
}

trait Back {
    fn reorder_back(&mut self, list: &str, order: &[usize]);
}

impl Back for Draft<'_> {
    fn reorder_back(&mut self, list: &str, order: &[usize]) {
        self.structure().reorder_list(list, &inverse(order)).unwrap();
    }
}

/// Refusals that are right for every map.
fn is_expected(refusal: &str) -> bool {
    ["belong to those of", "others refer to bytes in it", "is its meaning"].iter().any(|why| refusal.contains(why))
}

#[test]
fn content_follows_every_order_and_comes_back() {
    for (name, map) in fixtures() {
        for seed in 0..3 {
            let refusals = reorder_all(&name, &map, seed);
            let others: Vec<_> = refusals.iter().filter(|refusal| !is_expected(refusal)).collect();
            assert!(others.is_empty(), "{name}: {others:#?}");
        }
    }
}

/// Real maps; the larger ones only where that is asked for, since the walk takes its time.
#[test]
fn content_of_real_maps_follows() {
    let (mut refused, mut maps) = (BTreeMap::<String, usize>::new(), 0);
    for (name, map) in real(1 << 20, u64::MAX) {
        maps += 1;
        for refusal in reorder_all(&name, &map, 7).into_iter().filter(|why| !is_expected(why)) {
            let plain: String = refusal.chars().filter(|c| !c.is_ascii_digit()).collect();
            *refused.entry(plain).or_default() += 1;
        }
    }
    eprintln!("{maps} maps; refused: {refused:#?}");
}

/// The maps with rooms, and one more: the areas of the others are alike; here one portal has another number.
fn rooms() -> impl Iterator<Item = (String, Bsp<'static>)> {
    let mut draft = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap().draft();
    draft.update(quake2::AREAPORTALS, 1, |portal| portal.portal += 7).unwrap();
    let uneven = ("uneven".to_owned(), saved(&draft));
    fixtures().into_iter().filter(|(name, _)| name.contains("room")).chain([uneven])
}

/// A fact that is left out is seen: for each field that refers to records, its target comes into another order.
#[test]
fn a_reference_that_does_not_follow_is_seen() {
    let (mut seen, mut unseen) = (BTreeSet::new(), BTreeSet::new());
    for (name, map) in rooms() {
        let before = walk::walk(&map);
        let lists = shuffle::lists(&map);
        for (list, info, bytes) in &lists {
            let order = shuffle::order(&map, list, bytes.len() / info.size, &mut Random(5));
            let mut draft = map.draft();
            let Ok(followed) = draft.structure().reorder_list(list, &order) else { continue };
            for field in &followed.fields {
                let fact = match field.field.as_str() {
                    "rows" | "solids" => field.lump.clone(),
                    "model" if field.lump == "ENTITIES" || !lists.iter().any(|(list, ..)| *list == field.lump) => {
                        field.lump.clone()
                    }
                    other => format!("{}.{other}", field.lump),
                };
                // Without it the faces would stay with their models.
                if list == "MODELS" && fact.starts_with("MODELS.") {
                    continue;
                }
                let mut draft = map.draft();
                let Ok(_) = draft.structure().ignore(&fact).reorder_list(list, &order) else { continue };
                let is_seen = walk::walk(&saved(&draft)) != before;
                if is_seen {
                    seen.insert(fact)
                } else {
                    unseen.insert(fact)
                };
            }
            for (other, ..) in facts::BESIDE.iter().filter(|(_, of, _)| of == list) {
                let Some((_, info, bytes)) = lists.iter().find(|(list, ..)| list == other) else { continue };
                let mut records = bytes.chunks_exact(info.size);
                let first = records.next();
                let mut draft = map.draft();
                let is_plain = records.all(|record| Some(record) == first);
                if is_plain || draft.structure().ignore(*other).reorder_list(list, &order).is_err() {
                    continue;
                }
                assert!(walk::walk(&saved(&draft)) != before, "{name}: nobody misses {other} where {list} moves");
                seen.insert((*other).to_owned());
            }
        }
    }
    // Some maps have records that are alike; another map shows the fact then.
    let missed: Vec<_> = unseen.difference(&seen).collect();
    assert!(missed.is_empty(), "nobody misses {missed:?}");
    assert!(seen.len() > 60, "{} {seen:#?}", seen.len());
}

/// Where the copies of a range may be: after each part of it, which ends at the border of a set.
fn copies(range: std::ops::Range<usize>) -> Vec<Vec<usize>> {
    let inner = range.len() - 1;
    let of = |borders: usize| {
        let (mut copies, mut place, mut start) = (Vec::new(), range.start, range.start);
        for record in range.clone() {
            place += 1;
            let is_border = record + 1 == range.end || borders >> (record - range.start) & 1 == 1;
            if is_border {
                let count = record + 1 - start;
                copies.extend(place..place + count);
                (place, start) = (place + count, record + 1);
            }
        }
        copies
    };
    (0..1 << inner).map(of).collect()
}

/// Copies of records are added after them and removed again.
#[test]
fn what_is_added_and_removed_leaves_nothing() {
    let (mut added, mut refused) = (0, BTreeMap::<String, String>::new());
    for (name, map) in fixtures() {
        let mut random = Random(3);
        for (list, info, bytes) in shuffle::lists(&map) {
            let len = bytes.len() / info.size;
            for _ in 0..if len > 0 { 4 } else { 0 } {
                let start = random.below(len);
                let mut end = (start + 1 + random.below(3)).min(len);
                let mut start = start;
                if list == "PLANES" {
                    (start, end) = (start / 2 * 2, end.next_multiple_of(2).min(len));
                }
                let mut draft = map.draft();
                if let Err(error) = draft.structure().duplicate_list(&list, start..end) {
                    assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {list}[{start}..{end}]: {error:?}");
                    refused.entry(format!("{} {list}", map.dialect().name)).or_insert(error.to_string());
                    continue;
                }
                let errors = check::introduced(&draft, &check::Options::default()).unwrap();
                let errors: Vec<_> = errors.iter().filter(|found| found.is_error()).collect();
                // Copies of nodes have the same faces, and in Source sums by which structs are detected are others now.
                let is_known = |code: &str| ["node-faces", "count-misfit"].contains(&code);
                let is_new = errors.iter().any(|found| !is_known(found.code.name));
                assert!(!is_new, "{name}: {list}[{start}..{end}]: {errors:#?}");
                let is_back = copies(start..end).into_iter().any(|copies| {
                    let mut draft = map.draft();
                    draft.structure().duplicate_list(&list, start..end).unwrap();
                    draft.structure().remove(&[(&list, &copies)]).is_ok() && draft.changes().unwrap().is_empty()
                });
                assert!(is_back, "{name}: {list}[{start}..{end}]");
                added += 1;
            }
        }
    }
    eprintln!("{added} added; refused: {refused:#?}");
    assert!(added > 300, "{added}");
}

/// What nothing needs is removed; what is needed is named; what needs it goes too if that is asked for.
#[test]
fn records_that_are_needed_stay() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    draft.splice(quake2::BRUSHES, 7..8, &[]).unwrap();
    let after = saved(&draft);
    let listed = |map: &Bsp<'_>, brush: u16| {
        map.table(quake2::LEAFBRUSHES).unwrap().iter().filter(|leaf| leaf.brush == brush).count()
    };
    assert!(listed(&map, 7) > 0);
    assert_eq!(
        after.table(quake2::LEAFBRUSHES).unwrap().len(),
        map.table(quake2::LEAFBRUSHES).unwrap().len() - listed(&map, 7)
    );
    assert_eq!(listed(&after, 7), listed(&map, 8));
    assert!(check::introduced(&draft, &check::Options::default()).unwrap().is_empty());

    let texinfo = usize::try_from(map.table(quake2::FACES).unwrap().get(3).unwrap().texinfo).unwrap();
    let error = draft.splice(quake2::TEXINFO, texinfo..texinfo + 1, &[]).unwrap_err().to_string();
    assert!(error.contains("is still needed: by FACES["), "{error}");
    let faces = draft.table(quake2::FACES).unwrap().len();
    let used =
        map.table(quake2::FACES).unwrap().iter().filter(|face| usize::try_from(face.texinfo) == Ok(texinfo)).count();
    let followed = draft.structure().cascade(true).splice(quake2::TEXINFO, texinfo..texinfo + 1, &[]).unwrap();
    assert_eq!(draft.table(quake2::FACES).unwrap().len(), faces - used);
    assert!(followed.removed.iter().any(|removed| removed.lump == "FACES" && removed.count == used), "{followed:?}");
    let mut errors = check::introduced(&draft, &check::Options::default()).unwrap();
    // In any other order than that of faces engines disagree on corners with normals; it is said.
    errors.retain(|finding| finding.code.name != "normal-order");
    assert!(errors.iter().all(|found| !found.is_error()), "{errors:#?}");

    // The pair of the entity, where its model goes.
    let mut draft = map.draft();
    let error = draft.splice(quake2::MODELS, 1..2, &[]).unwrap_err().to_string();
    assert!(error.contains("ENTITIES["), "{error}");
    draft.structure().cascade(true).splice(quake2::MODELS, 1..2, &[]).unwrap();
    let models = |map: &Bsp<'_>| map.entities().unwrap().iter().filter(|entity| entity.get("model").is_some()).count();
    assert_eq!(models(&saved(&draft)), models(&map) - 1);
}

/// Some tools write the number of clip nodes for a hull that a model does not have. More clip nodes give it none.
#[test]
fn the_number_of_records_stays_a_missing_record() {
    let map = Bsp::open("tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    let count = i32::try_from(map.table(goldsrc::CLIPNODES).unwrap().len()).unwrap();
    draft.update(goldsrc::MODELS, 1, |model| model.clip_nodes = [count, count, -1]).unwrap();
    draft.structure().duplicate_list("CLIPNODES", 2..5).unwrap();
    let hulls = |draft: &Draft<'_>| saved(draft).table(goldsrc::MODELS).unwrap().get(1).unwrap().clip_nodes;
    assert_eq!(hulls(&draft), [count + 3, count + 3, -1]);
    draft.structure().splice_list("CLIPNODES", 5..8, Vec::new()).unwrap();
    assert!(hulls(&draft)[0] >= count);
}

/// An order that breaks a rule is refused with the rule.
#[test]
fn orders_that_break_a_rule_are_refused() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let room = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let swap_in = |map: &Bsp<'_>, list: &str, one: usize, other: usize| {
        let len = shuffle::lists(map)
            .into_iter()
            .find(|(name, ..)| name == list)
            .map(|(_, info, bytes)| bytes.len() / info.size);
        let mut order: Vec<usize> = (0..len.unwrap()).collect();
        order.swap(one, other);
        map.draft().structure().reorder_list(list, &order).unwrap_err().to_string()
    };
    let swap = |list: &str, one: usize, other: usize| swap_in(&map, list, one, other);
    for list in ["NODES", "LEAFS", "MODELS", "EDGES", "AREAS", "AREAPORTALS"] {
        assert!(swap(list, 0, 1).contains("has a meaning by its number"), "{list}");
    }
    assert!(swap_in(&room, "PLANES", 2, 3).contains("opposite pairs"));
    assert!(swap("SURFEDGES", 0, 1).contains("another order"));
    assert!(swap("BRUSHSIDES", 0, 20).contains("another order"));
    let (last, faces) = (map.table(quake2::MODELS).unwrap().get(0).unwrap().face_count, swap("FACES", 0, 40));
    assert!(last > 40 && faces.contains("together"), "{faces}");
    let error = map.draft().reorder(quake2::PLANES, &[0, 0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

/// A number that was out of range stays if nothing near it moves, and is refused where it would name another record.
#[test]
fn damaged_references_are_not_repaired() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let planes = map.table(quake2::PLANES).unwrap().len();
    let mut draft = map.draft();
    draft.update(quake2::FACES, 3, |face| face.plane = u16::try_from(planes).unwrap()).unwrap();
    let damaged = saved(&draft);
    let mut draft = damaged.draft();
    let order: Vec<usize> = (0..planes / 2).rev().flat_map(|pair| [2 * pair, 2 * pair + 1]).collect();
    draft.reorder(quake2::PLANES, &order).unwrap();
    assert_eq!(usize::from(draft.table(quake2::FACES).unwrap().get(3).unwrap().plane), planes);
    let error = draft.structure().duplicate_list("PLANES", 0..2).unwrap_err().to_string();
    assert!(error.contains("FACES[3].plane") && error.contains("names records that are not there"), "{error}");
}

/// A lump of unknown content may refer to anything.
#[test]
fn what_is_not_known_is_not_followed() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let lumps = (1..19).map(|lump| (lump, map.bytes(bspkit::SlotId::Lump(lump)).unwrap().to_vec()));
    let builder =
        lumps.fold(bspkit::Builder::new(&bspkit::dialect::QUAKE2), |builder, (lump, bytes)| builder.lump(lump, bytes));
    let text = map.bytes(bspkit::SlotId::Lump(0)).unwrap().to_vec();
    let other = Bsp::from_vec(builder.lump(0, text).bspx("SECRET", [1, 2, 3]).build().unwrap()).unwrap();
    let order: Vec<usize> = (0..map.table(quake2::TEXINFO).unwrap().len()).rev().collect();
    let error = other.draft().reorder(quake2::TEXINFO, &order).unwrap_err();
    assert!(error.to_string().contains("bspx:SECRET may refer to TEXINFO"), "{error}");
    let followed = other.draft().structure().force(true).reorder(quake2::TEXINFO, &order).unwrap();
    assert_eq!(followed.warnings.len(), 1);
}

/// Who refers to a record is whoever changes if it moves.
#[test]
fn references_are_those_that_follow() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let references = map.draft().references(quake2::TEXINFO, 0).unwrap();
    let faces = map.table(quake2::FACES).unwrap().iter().filter(|face| face.texinfo == 0).count();
    assert_eq!(references.by.iter().filter(|by| by.lump == "FACES").count(), faces);
    let to = map.draft().references(quake2::FACES, 3).unwrap().to;
    assert!(to.iter().any(|to| to.lump == "SURFEDGES" && to.count > 2 && to.field == "first_edge"), "{to:?}");
    assert_eq!(map.draft().references_of("faces", 100_000).unwrap_err().kind(), ErrorKind::NotFound);
}

/// A tree goes on from each reference, ends where it comes to a record that is on the way, and says what it leaves out.
#[test]
fn a_tree_of_references_ends() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    let tree = draft.reference_tree("MODELS", 1, 2, 3).unwrap();
    let faces = tree.to.branches.iter().find(|branch| branch.reference.lump == "FACES").unwrap();
    let to = draft.references_of("FACES", faces.reference.record).unwrap().to;
    assert_eq!(faces.next.branches.len() + faces.next.more, to.len());
    assert!(faces.next.branches.iter().all(|branch| branch.next.branches.is_empty()));
    assert_eq!(draft.reference_tree("MODELS", 1, 1, 3).unwrap().to.branches[0].next, bspkit::Branches::default());

    // Two frames of a texture that follow each other for ever.
    draft.update(quake2::TEXINFO, 1, |texinfo| texinfo.next = 2).unwrap();
    draft.update(quake2::TEXINFO, 2, |texinfo| texinfo.next = 1).unwrap();
    let tree = draft.reference_tree("TEXINFO", 1, 50, 20).unwrap();
    let two = &tree.to.branches[0];
    assert_eq!((two.reference.to_string(), two.is_cycle), ("TEXINFO[2]".to_owned(), false));
    assert!(two.next.branches[0].is_cycle && two.next.branches[0].next.branches.is_empty());

    // All that leads to a plane is bounded.
    let tree = draft.reference_tree("PLANES", 0, 64, usize::MAX).unwrap();
    fn count(branches: &bspkit::Branches) -> usize {
        branches.branches.iter().map(|branch| 1 + count(&branch.next)).sum()
    }
    assert!(count(&tree.by) <= 2000);
}

/// Embedded files with the light of static props have the index of a prop in their name.
#[test]
fn light_of_static_props_follows_them() {
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let count = shuffle::lists(&map).into_iter().find(|(list, ..)| list == "game:sprp.props");
    let count = count.map(|(_, info, bytes)| bytes.len() / info.size).unwrap();
    assert!(count >= 2, "{count}");
    let mut draft = map.draft();
    for index in 0..count {
        draft.pak().unwrap().add(format!("sp_{index}.vhv"), format!("light of {index}").into_bytes()).unwrap();
    }
    draft.pak().unwrap().add("sp_hdr_1.vhv", b"bright light of 1".to_vec()).unwrap();
    draft.pak().unwrap().add("sp_hdr_0.360.vhv", b"light of 0 on a console".to_vec()).unwrap();
    draft.pak().unwrap().add("sp_x.vhv", b"of no prop".to_vec()).unwrap();
    let map = saved(&draft);
    let mut draft = map.draft();
    let order: Vec<usize> = (0..count).rev().collect();
    let followed = draft.structure().reorder_list("game:sprp.props", &order).unwrap();
    assert!(followed.fields.iter().any(|field| field.field == "names"), "{followed:?}");
    let text = |draft: &mut Draft<'_>, name: &str| {
        let pak = draft.pak().unwrap();
        let index = *pak.find(name).first()?;
        Some(String::from_utf8(pak.get(index).unwrap().data().unwrap().to_vec()).unwrap())
    };
    assert_eq!(text(&mut draft, "sp_0.vhv"), Some(format!("light of {}", count - 1)));
    assert_eq!(text(&mut draft, &format!("sp_hdr_{}.vhv", count - 2)).unwrap(), "bright light of 1");
    assert_eq!(text(&mut draft, &format!("sp_hdr_{}.360.vhv", count - 1)).unwrap(), "light of 0 on a console");
    assert_eq!(text(&mut draft, "sp_x.vhv").unwrap(), "of no prop");
    draft.structure().reorder_list("game:sprp.props", &order).unwrap();
    assert!(draft.changes().unwrap().is_empty());

    let mut copied = map.draft();
    copied.structure().duplicate_list("game:sprp.props", 0..1).unwrap();
    assert_eq!(text(&mut copied, "sp_0.vhv").unwrap(), "light of 0");
    assert_eq!(text(&mut copied, "sp_1.vhv").unwrap(), "light of 0");
    assert_eq!(text(&mut copied, "sp_2.vhv").unwrap(), "light of 1");
    assert_eq!(text(&mut copied, &format!("sp_{count}.vhv")), Some(format!("light of {}", count - 1)));
    assert_eq!(text(&mut copied, "sp_hdr_2.vhv").unwrap(), "bright light of 1");
    assert_eq!(text(&mut copied, "sp_hdr_1.vhv"), None);

    draft.structure().splice_list("game:sprp.props", 0..1, Vec::new()).unwrap();
    assert_eq!(text(&mut draft, "sp_0.vhv").unwrap(), "light of 1");
    assert_eq!(text(&mut draft, &format!("sp_{}.vhv", count - 1)), None);
}

/// New planes come in opposite pairs, as the old ones do, wherever they come in.
#[test]
fn pairs_of_planes_stay_opposite() {
    let planes = |map: &Bsp<'_>| {
        let (_, record, bytes) = shuffle::lists(map).into_iter().find(|(name, ..)| name == "PLANES").unwrap();
        let numbers = move |plane: &[u8]| -> Vec<f32> {
            plane[..16].chunks(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
        };
        bytes.chunks(record.size).map(|plane| (plane.to_vec(), numbers(plane))).collect::<Vec<_>>()
    };
    for name in ["q3/own_rooms", "source/room_v20", "source/room_v21"] {
        let map = Bsp::open(format!("tests/maps/{name}.bsp")).unwrap();
        let old = planes(&map);
        let pair = [&old[0].0[..], &old[1].0].concat();
        let equal = [&old[0].0[..], &old[0].0].concat();
        let mut draft = map.draft();
        let mut refused = |at: std::ops::Range<usize>, records: &[u8]| {
            let error = draft.structure().splice_list("PLANES", at.clone(), records.to_vec()).err();
            let error = error.unwrap_or_else(|| panic!("{name}: {at:?} was taken")).to_string();
            assert!(error.contains("opposite pairs"), "{name}: {error}");
        };
        refused(1..1, &pair);
        refused(2..2, &equal);
        refused(2..3, &old[0].0);
        let error = map.draft().structure().duplicate_list("PLANES", 1..3).unwrap_err().to_string();
        assert!(error.contains("opposite pairs"), "{name}: {error}");
        // One of a pair may get another kind, and whole pairs come in between pairs.
        draft.structure().splice_list("PLANES", 2..3, old[2].0.clone()).unwrap();
        draft.structure().splice_list("PLANES", 4..4, pair).unwrap();
        draft.structure().duplicate_list("PLANES", 2..4).unwrap();
        let new = planes(&saved(&draft));
        assert_eq!(new.len(), old.len() + 4, "{name}");
        let is_opposite = |pair: &[(Vec<u8>, Vec<f32>)]| pair[0].1.iter().zip(&pair[1].1).all(|(a, b)| a + b == 0.0);
        assert!(new.chunks(2).all(is_opposite), "{name}");
    }
}

/// Nothing can be added to the edges of a face: a copy of one would be in no set.
#[test]
fn a_part_of_a_whole_is_copied_with_the_whole_alone() {
    for (name, list, range) in [
        ("q1/own_rooms", "SURFEDGES", 2..3),
        ("q1/own_rooms", "SURFEDGES", 0..3),
        ("q3/own_rooms", "DRAWINDEXES", 17..18),
        ("source/room_v20", "SURFEDGES", 3..4),
    ] {
        let map = Bsp::open(format!("tests/maps/{name}.bsp")).unwrap();
        let error = map.draft().structure().whole().duplicate_list(list, range.clone()).unwrap_err().to_string();
        assert!(error.contains("a copy would be in no set"), "{name}: {error}");
        map.draft().structure().whole().force(true).duplicate_list(list, range).unwrap();
    }
    let map = Bsp::open("tests/maps/q1/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    draft.structure().whole().duplicate_list("FACES", 0..1).unwrap();
}
