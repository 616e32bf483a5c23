//! Records whose numbers follow what moved did not change: what differs is what the edit meant.

use bspkit::dialect::Role;
use bspkit::query::FieldChange;
use bspkit::{Bsp, Draft};
use bspkit_ops::compare::{self, Change, Comparison, How, RecordChange};
use bspkit_ops::{models, prune};

use super::{fixture, saved};

const MAPS: [&str; 5] = ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"];

fn records<'c>(found: &'c Comparison, lump: &str) -> Vec<&'c RecordChange> {
    let own = found.lumps.iter().filter(|own| own.lump == lump).flat_map(|lump| &lump.changes);
    own.filter_map(|change| if let Change::Record(record) = change { Some(record) } else { None }).collect()
}

/// How many records of a lump have other numbers and nothing else.
fn numbers(found: &Comparison, lump: &str) -> usize {
    let own = found.lumps.iter().filter(|own| own.lump == lump).flat_map(|lump| &lump.changes);
    own.map(|change| if let Change::Numbers(numbers) = change { numbers.count } else { 0 }).sum()
}

/// A map without the model of its door.
fn without_door(name: &str, edit: impl FnOnce(&mut Draft<'_>)) -> (Bsp<'static>, Bsp<'static>) {
    let map = fixture(name);
    let mut draft = map.draft();
    models::Removal::default().run(&mut draft, &[1]).unwrap();
    edit(&mut draft);
    let new = saved(&draft);
    (map, new)
}

#[test]
fn removed_records_change_no_others() {
    for name in MAPS {
        let (map, new) = without_door(name, |_| {});
        let found = compare::whole(&map, &new, 10_000);
        let mut all = 0;
        for lump in &found.lumps {
            let changed: Vec<_> =
                records(&found, &lump.lump).into_iter().filter(|record| record.how == How::Changed).collect();
            // In Quake III one leaf holds all of a model, and only its runs are empty now.
            let is_leaf = name.starts_with("q3") && lump.lump == "LEAFS" && changed.len() == 1;
            assert!(changed.is_empty() || is_leaf, "{name}: {changed:?}");
            all += numbers(&found, &lump.lump);
        }
        assert!(all > 0, "{name}");
        // An independent look: as many faces are gone as the model had, and their light with them.
        let faces = map.role(Role::Faces).unwrap().name.clone();
        let gone: usize = records(&found, &faces).iter().map(|record| record.count).sum();
        let count = |map: &Bsp<'_>| map.records(Role::Faces).unwrap().len();
        assert_eq!(gone, count(&map) - count(&new), "{name}");
    }
}

#[test]
fn light_of_faces_that_moved_is_the_same_light() {
    for name in ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "source/room_v20"] {
        let (map, new) = without_door(name, |_| {});
        let found = compare::whole(&map, &new, 10_000);
        let light = found.lumps.iter().flat_map(|lump| &lump.changes).filter_map(|change| match change {
            Change::Light(light) => Some(light),
            _ => None,
        });
        let light: Vec<_> = light.collect();
        assert!(!light.is_empty() && light.iter().all(|light| light.how == How::Removed), "{name}: {light:?}");
        // The luxels that are gone are those by which the light is smaller.
        let luxels = |map: &Bsp<'_>| -> usize {
            let light = map.light().unwrap();
            let blocks = light.sets().iter().flat_map(|set| set.blocks());
            blocks.map(|block| block.luxels() * block.styles().len() * block.planes()).sum()
        };
        let gone: usize = light.iter().map(|light| light.luxels).sum();
        assert_eq!(gone, luxels(&map) - luxels(&new), "{name}");
    }
}

/// The faces of maps that are lit for HDR alone have their light in another lump than the struct of a face says.
#[test]
fn light_of_hdr_that_moved_is_the_same_light() {
    let map = fixture("source/room_v21");
    let mut draft = map.draft();
    models::Copying::default().run(&mut draft, &map, &[1]).unwrap();
    let both = saved(&draft);
    let mut draft = both.draft();
    assert!(models::Removal::default().run(&mut draft, &[1]).unwrap().light > 0);
    let found = compare::whole(&both, &saved(&draft), 10_000);
    let changed: Vec<_> = records(&found, "FACES").into_iter().filter(|record| record.how == How::Changed).collect();
    assert!(changed.is_empty() && numbers(&found, "FACES") > 0, "{changed:?}");
}

/// A value that another edit changes in a record that moved is named, with the field alone.
#[test]
fn a_change_of_a_record_that_moved_is_named() {
    for (name, lump, field) in [
        ("q1/own_rooms", "FACES", "texinfo"),
        ("goldsrc/own_rooms", "FACES", "texinfo"),
        ("q2/own_rooms", "FACES", "texinfo"),
        ("q3/own_rooms", "BRUSHES", "shader"),
        ("source/room_v20", "TEXINFO", "texdata"),
    ] {
        let (map, new) = without_door(name, |_| {});
        let last = new.lists(lump).unwrap()[0].len() - 1;
        let mut draft = new.draft();
        let change = FieldChange::parse(&format!("{lump}[{last}].{field}=0")).unwrap();
        assert_eq!(change.apply(&mut draft, &[]).unwrap(), 1);
        let edited = saved(&draft);
        let found = compare::whole(&map, &edited, 10_000);
        let changed: Vec<_> = records(&found, lump).into_iter().filter(|record| record.how == How::Changed).collect();
        let [change] = &changed[..] else { panic!("{name}: {changed:?}") };
        // Light of another size is at another place, even where it begins as before.
        let fields = change.fields.iter().map(|field| field.field.as_str());
        let fields: Vec<_> = fields.filter(|field| *field != "light_offset").collect();
        assert_eq!((change.index, fields), (last, vec![field]), "{name}");
    }
}

/// A shader comes in before others, all numbers follow it, and one record gets it: that record changed, and no other one,
/// also where its number stays the same.
#[test]
fn a_record_that_gets_an_added_shader_is_the_one_that_changed() {
    let map = fixture("q3/own_rooms");
    let size = 72;
    let shaders = map.bytes(map.slot("SHADERS").unwrap().id).unwrap().to_vec();
    // Lists whose records name a shader, their sizes, and the place of the number.
    let lists = [("BRUSHES", 12, 8), ("BRUSHSIDES", 8, 4), ("SURFACES", 104, 0)];
    let number = |bytes: &[u8], at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    for at in 0..shaders.len() / size {
        let first = i32::try_from(at).unwrap();
        for (own, own_size, place) in lists {
            let bytes = map.bytes(map.slot(own).unwrap().id).unwrap();
            let users = |record: &usize| number(&bytes, record * own_size + place) == first;
            let users: Vec<usize> = (0..bytes.len() / own_size).filter(users).collect();
            for who in [users.first(), users.last()].into_iter().flatten().copied() {
                let mut draft = map.draft();
                let mut new = shaders.clone();
                let mut shader = shaders[at * size..(at + 1) * size].to_vec();
                shader[..4].copy_from_slice(b"new/");
                new.splice(at * size..at * size, shader);
                draft.set(map.slot("SHADERS").unwrap().id, new).unwrap();
                for (list, size, place) in lists {
                    let mut bytes = map.bytes(map.slot(list).unwrap().id).unwrap().to_vec();
                    for (index, record) in bytes.chunks_exact_mut(size).enumerate() {
                        let old = number(record, place);
                        let follows = old >= first && (list, index) != (own, who);
                        record[place..place + 4].copy_from_slice(&(old + i32::from(follows)).to_le_bytes());
                    }
                    draft.set(map.slot(list).unwrap().id, bytes).unwrap();
                }
                let found = compare::whole(&map, &saved(&draft), 10_000);
                let all: Vec<_> =
                    lists.iter().flat_map(|(list, ..)| records(&found, list)).map(|record| record.index).collect();
                assert_eq!(all, [who], "shader {at}, {own}[{who}]: {:?}", found.lumps);
                assert_eq!(records(&found, own).len(), 1, "shader {at}, {own}[{who}]");
            }
        }
    }
}

/// The name of the texture that a number names, by the bytes of the lumps alone.
fn texture_of(map: &Bsp<'_>, field: &str, number: usize) -> String {
    let lump = |name: &str| map.bytes(map.slot(name).unwrap().id).unwrap().to_vec();
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let text = |bytes: &[u8]| {
        let name = bytes.split(|byte| *byte == 0).next().unwrap();
        String::from_utf8(name.to_vec()).unwrap()
    };
    match (field, map.slot("TEXDATA").is_ok(), map.slot("TEXTURES").is_ok()) {
        ("shader", ..) => text(&lump("SHADERS")[number * 72..]),
        ("texinfo", true, _) => texture_of(map, "texdata", word(&lump("TEXINFO"), number * 72 + 68)),
        ("texdata", ..) => {
            let string = word(&lump("TEXDATA"), number * 32 + 12);
            text(&lump("TEXDATA_STRING_DATA")[word(&lump("TEXDATA_STRING_TABLE"), string * 4)..])
        }
        ("texinfo", _, true) => texture_of(map, "texture", word(&lump("TEXINFO"), number * 40 + 32)),
        ("texture", ..) => {
            let all = lump("TEXTURES");
            text(&all[word(&all, 4 + number * 4)..])
        }
        _ => text(&lump("TEXINFO")[number * 76 + 40..]),
    }
}

/// A number that names a texture is shown with the name of it.
#[test]
fn textures_that_records_name_are_said_by_name() {
    for (name, change) in [
        ("q1/own_rooms", "faces[9].texinfo"),
        ("q1/own_rooms", "texinfo[1].texture"),
        ("goldsrc/own_rooms", "faces[9].texinfo"),
        ("q2/own_rooms", "faces[9].texinfo"),
        ("q3/own_rooms", "surfaces[9].shader"),
        ("q3/own_rooms", "brushsides[9].shader"),
        ("source/room_v20", "faces[9].texinfo"),
        ("source/room_v20", "texinfo[1].texdata"),
    ] {
        let map = fixture(name);
        let changed = |to: usize| {
            let mut draft = map.draft();
            let change = FieldChange::parse(&format!("{change}={to}")).unwrap();
            assert_eq!(change.apply(&mut draft, &[]).unwrap(), 1, "{name}");
            Some(compare::draft(&draft, 10).unwrap()).filter(|found| !found.lumps.is_empty())
        };
        let found = changed(1).or_else(|| changed(2)).unwrap();
        let line = found.lumps[0].changes[0].line("LUMP").to_string();
        let field = change.split('.').nth(1).unwrap();
        let (before, after) = line.split_once(&format!(": {field} ")).unwrap().1.split_once(" -> ").unwrap();
        for said in [before, after] {
            let (number, texture) = said.split_once(' ').unwrap();
            let wanted = texture_of(&map, field, number.parse().unwrap());
            assert!(!wanted.is_empty() && texture == format!("\"{wanted}\""), "{name}: {line}");
        }
    }
}

/// Light and a texture that nothing needs are gone: no record names another texture or other light.
#[test]
fn what_was_not_needed_is_gone_and_nothing_else_changed() {
    for (name, gone) in [("q1/own_rooms", 103), ("goldsrc/own_rooms", 321), ("q2/own_rooms", 501)] {
        let map = fixture(name);
        let mut draft = map.draft();
        prune::prune(&mut draft, &prune::Options::default().light(true)).unwrap();
        for found in [compare::draft(&draft, 1000).unwrap(), compare::whole(&map, &saved(&draft), 1000)] {
            let lump = |role: Role| map.role(role).unwrap().name.clone();
            let (faces, light) = (lump(Role::Faces), lump(Role::Lighting));
            assert_eq!(numbers(&found, &faces), differing(&map, &saved(&draft)), "{name}");
            assert!(records(&found, &faces).is_empty() && records(&found, "TEXINFO").is_empty(), "{name}");
            let changes = found.lumps.iter().filter(|lump| lump.lump == light).flat_map(|lump| &lump.changes);
            let bytes = changes.map(|change| match change {
                Change::Bytes(bytes) if bytes.range.is_empty() => bytes.old,
                other => panic!("{name}: {other:?}"),
            });
            assert_eq!(bytes.sum::<usize>(), gone, "{name}");
        }
    }
}

/// How many faces have other bytes.
fn differing(map: &Bsp<'_>, new: &Bsp<'_>) -> usize {
    let size = map.row(map.role(Role::Faces).unwrap()).unwrap().record().unwrap().size;
    let [old, new] = [map, new].map(|map| map.bytes(map.role(Role::Faces).unwrap().id).unwrap());
    old.chunks(size).zip(new.chunks(size)).filter(|(old, new)| old != new).count()
}
