//! Records whose numbers follow what moved did not change: what differs is what the edit meant.

use bspkit::dialect::Role;
use bspkit::query::FieldChange;
use bspkit::{Bsp, Draft};
use bspkit_ops::compare::{self, Change, Comparison, How, RecordChange};
use bspkit_ops::models;

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
