//! Every lump of every real map.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use bspkit::dialect::source;
use bspkit::record::{Cell, CountForm, Meaning, Shape};
use bspkit::{Bsp, Layout};

use super::{DIALECTS, corpus};

/// Lumps of undamaged maps that stay bytes.
const OPAQUE: &[&str] = &["PHYSLEVEL"];

/// Maps that are not what a compiler wrote: cut, changed, or made of noise.
const DAMAGED: &[&str] = &["damaged_", "fixture_map_nozip"];

#[test]
fn every_lump_of_every_map_is_known() {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut lenses: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut maps, mut unknown, mut astray) = (0, Vec::new(), BTreeMap::<String, usize>::new());
    for path in corpus::maps().into_iter().chain(corpus::under(Path::new("tests/maps/source"))) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        let Ok(map) = Bsp::parse(&bytes) else { continue };
        if !DIALECTS.iter().any(|dialect| dialect.name == map.dialect().name) {
            continue;
        }
        maps += 1;
        let is_whole = !DAMAGED.iter().any(|damaged| name.starts_with(damaged));
        let known = RefCell::new(BTreeMap::new());
        let count_of = |lump| *known.borrow_mut().entry(lump).or_insert_with(|| count(&map, lump));
        for slot in map.slots().iter().filter(|slot| !slot.stored.is_empty()) {
            let row = match map.row(slot) {
                Ok(row) => row,
                Err(why) => {
                    println!("{name} (version {}): {} of {} bytes: {why}", map.version(), slot.name, slot.stored.len());
                    if is_whole && !OPAQUE.contains(&&*slot.name) {
                        unknown.push(format!("{name}: {}: {why}", slot.name));
                    }
                    continue;
                }
            };
            if let bspkit::dialect::Form::Lens(what) = row.form {
                *lenses.entry(what).or_default() += 1;
            }
            let bytes = map.bytes(slot.id).unwrap();
            for part in map.spans(slot).unwrap_or_else(|error| panic!("{name}: {}: {error}", slot.name)) {
                let whole = &bytes[part.range.start..part.range.start + part.count() * part.record.size];
                assert_eq!((part.record.reencode)(whole), whole, "{name}: {}", slot.name);
                let (lumps, records) = counts.entry(part.record.name).or_default();
                (*lumps, *records) = (*lumps + 1, *records + part.count());
                if is_whole {
                    assert_eq!(whole.len(), part.range.len(), "{name}: {} is ragged", slot.name);
                    let cells = Cell::all(part.record.fields);
                    for record in whole.chunks_exact(part.record.size) {
                        lost_links(count_of, part.record.fields, &cells, record)
                            .for_each(|path| *astray.entry(format!("{name}: {}.{path}", slot.name)).or_default() += 1);
                    }
                }
            }
        }
    }
    println!("{maps} maps of Source; lumps and records of each kind:");
    for (record, (lumps, records)) in &counts {
        println!("  {record}: {lumps}, {records}");
    }
    println!("lumps without records: {lenses:?}");
    println!("links that lead nowhere: {astray:#?}");
    assert!(unknown.is_empty(), "{} lumps are not known:\n{}", unknown.len(), unknown.join("\n"));
    assert!(astray.is_empty(), "links lead nowhere: {astray:#?}");
}

/// The paths of fields that name records that are not there.
fn lost_links<'c>(
    count: impl Fn(&'static str) -> i64,
    fields: &'static [bspkit::record::FieldInfo],
    cells: &'c [Cell],
    record: &[u8],
) -> impl Iterator<Item = &'c str> {
    let number = |cell: &Cell| match cell.shape {
        Shape::Number(number) => number.integer(&record[cell.place.clone()]).unwrap_or(0),
        _ => 0,
    };
    let lost = cells.iter().filter(|cell| {
        let value = number(cell);
        match cell.meaning {
            Meaning::Index { lump, none, .. } if !lump.contains('.') => {
                !none.contains(&value) && !(0..count(lump)).contains(&value)
            }
            // Counts that are computed are checked elsewhere, and lists within lumps.
            Meaning::Run { lump, count: of, .. } if of.form == CountForm::Number && !lump.contains('.') => {
                assert!(fields.iter().any(|field| field.name == of.field), "no field {}", of.field);
                let of = cells.iter().find(|cell| cell.path == of.field).unwrap();
                let length = number(of);
                length != 0 && !(length > 0 && value >= 0 && value + length <= count(lump))
            }
            Meaning::Child if value >= 0 => value >= count("NODES"),
            Meaning::Child => -1 - value >= count("LEAFS"),
            _ => false,
        }
    });
    lost.map(|cell| cell.path.as_str()).collect::<Vec<_>>().into_iter()
}

/// How many records a lump has; as many as can be where they are not known.
fn count(map: &Bsp<'_>, lump: &str) -> i64 {
    let Ok(slot) = map.slot(lump) else { return 0 };
    let Ok(row) = map.row(slot) else { return i64::MAX };
    let len = map.decompressed_size(slot.id).unwrap_or(slot.stored.len());
    row.record().map_or(0, |record| i64::try_from(len / record.size).unwrap())
}

#[test]
fn a_link_that_leads_nowhere_would_be_seen() {
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let lost_of = |change: fn(&mut source::Face)| {
        let mut draft = map.draft();
        draft.table(source::FACES).unwrap().update(0, change).unwrap();
        let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let slot = saved.slot("FACES").unwrap();
        let (bytes, part) = (saved.bytes(slot.id).unwrap(), saved.spans(slot).unwrap().remove(0));
        let cells = Cell::all(part.record.fields);
        let count_of = |lump| count(&saved, lump);
        let lost = lost_links(count_of, part.record.fields, &cells, &bytes[..part.record.size]);
        lost.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(lost_of(|_| ()).is_empty());
    assert_eq!(lost_of(|face| face.texinfo = -1), ["texinfo"]);
    assert_eq!(lost_of(|face| face.plane = 9999), ["plane"]);
    assert_eq!(lost_of(|face| face.edge_count = -4), ["first_edge"]);
    assert_eq!(lost_of(|face| (face.displacement, face.original_face) = (0, -2)), ["displacement", "original_face"]);
    assert!(lost_of(|face| face.displacement = -1).is_empty());
}
