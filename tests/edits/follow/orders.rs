//! Planted faults of orders: two records of a run change places, and nothing follows. The walk has to see it where the
//! order has a meaning ([`Order`]), and where a record gets into another set.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use bspkit::bytes::ByteOrder;
use bspkit::dialect::{goldsrc, source};
use bspkit::record::{Meaning, Order, Shape};
use bspkit::{Bsp, Layout, SlotId};

use super::facts::{BESIDE, facts};
use super::maps::saved;
use super::{rooms, shuffle, walk};

/// How many pairs of records are tried for a field of a map.
const MOST_TRIED: usize = 4;

/// A field that names a run of records, the list of these, and the runs.
struct Runs {
    field: String,
    list: &'static str,
    order: Order,
    all: Vec<Range<usize>>,
}

/// The runs of a map, by the field that names them.
fn runs(map: &Bsp<'_>) -> Vec<Runs> {
    let lists = shuffle::lists(map);
    let mut found = Vec::new();
    for (name, info, bytes) in &lists {
        for field in info.fields {
            let (Meaning::Run { lump, count, order, .. } | Meaning::RunOr { lump, count, order, .. }) = field.meaning
            else {
                continue;
            };
            let Some((_, target, records)) = lists.iter().find(|(list, ..)| list == lump) else { continue };
            let len = records.len() / target.size;
            let number = |record: &[u8], field: &str| match walk::places(info.fields, field).first() {
                Some((at, Shape::Number(number))) => number.integer(&record[*at..]).unwrap_or(0),
                _ => 0,
            };
            let run = |record: &[u8]| {
                let first = usize::try_from(number(record, field.name)).ok()?;
                let count = usize::try_from(count.of(number(record, count.field))).ok()?;
                Some(first..first + count).filter(|run| !run.is_empty() && run.end <= len)
            };
            let all = bytes.chunks_exact(info.size).filter_map(run).collect();
            found.push(Runs { field: format!("{name}.{}", field.name), list: lump, order, all });
        }
    }
    found
}

/// The map with two records of a list in each other's place; `None` if they have the same bytes.
fn swapped(map: &Bsp<'_>, list: &str, one: usize, other: usize) -> Option<Bsp<'static>> {
    let (lump, own) = list.split_once('.').unwrap_or((list, ""));
    let slot = map.slot(lump).ok()?;
    let part = map.spans(slot).ok()?.into_iter().find(|part| part.list == own)?;
    let (mut bytes, size) = (map.bytes(slot.id).ok()?.to_vec(), part.record.size);
    let [one, other] = [one, other].map(|record| part.range.start + record * size);
    if bytes[one..one + size] == bytes[other..other + size] {
        return None;
    }
    (0..size).for_each(|at| bytes.swap(one + at, other + at));
    let mut draft = map.draft();
    draft.set(slot.id, bytes).unwrap();
    Some(saved(&draft))
}

/// Whether the walk sees that one of these pairs of records is swapped; `None` if no pair has different bytes.
fn is_seen(
    map: &Bsp<'_>,
    before: &walk::Walk,
    list: &str,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> Option<bool> {
    let edited = pairs.filter_map(|(one, other)| swapped(map, list, one, other)).take(MOST_TRIED);
    edited.map(|edited| walk::walk(&edited) != *before).reduce(|one, other| one || other)
}

#[test]
fn an_order_that_has_a_meaning_is_seen_if_it_breaks() {
    // What was tried, and by what name: seen on some map, seen on none.
    let mut tried: BTreeMap<(&str, String), bool> = BTreeMap::new();
    let mut free = BTreeSet::new();
    for (name, map) in rooms().filter(|(_, map)| map.byte_order() == ByteOrder::Little) {
        let before = walk::walk(&map);
        for Runs { field, list, order, all } in runs(&map) {
            let within = || all.iter().flat_map(|run| (run.start + 1..run.end).map(|at| (at - 1, at)));
            // The last record of a run and the first one of the next run.
            let between = || all.windows(2).map(|two| (two[0].end - 1, two[1].start));
            // Runs may share records.
            let is_parted =
                |(one, other): &(usize, usize)| all.iter().any(|run| run.contains(one) != run.contains(other));
            let (kind, seen) = match order {
                Order::Matters | Order::Optional | Order::Own | Order::Planes(_) => {
                    ("within", is_seen(&map, &before, list, within()))
                }
                _ => {
                    // The order of a set that nothing else names is no content: the walk is not blind, and not restless.
                    let named = facts(map.dialect().name).filter(|(.., to)| *to == list).count();
                    if named == 1 && !BESIDE.iter().any(|(one, other, _)| [*one, *other].contains(&list)) {
                        let is_other = is_seen(&map, &before, list, within().filter(|pair| !is_parted(pair)));
                        assert!(is_other != Some(true), "{name}: {field}: a set in another order is other content");
                        free.extend(is_other.map(|_| field.clone()));
                    }
                    ("between", is_seen(&map, &before, list, between().filter(is_parted)))
                }
            };
            if let Some(seen) = seen {
                *tried.entry((kind, field)).or_default() |= seen;
            }
        }
    }
    let missed: Vec<_> = tried.iter().filter(|(_, seen)| !**seen).map(|(what, _)| what).collect();
    assert!(missed.is_empty(), "nobody misses the order of {missed:?}");
    let count = |kind: &str| tried.keys().filter(|(of, _)| *of == kind).count();
    assert!(count("within") > 5 && count("between") > 11 && free.len() > 4, "{tried:?}, {free:?}");
}

/// Two displacements of 4 and of 8 squares to a side, on the first faces of the room.
fn displaced() -> Bsp<'static> {
    let room = Bsp::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/source/room_v20.bsp")).unwrap();
    let mut draft = room.draft();
    let one = |power: u8, vertex: i32, triangle: i32, face: u16| {
        let mut bytes = vec![0; 176];
        bytes[12..16].copy_from_slice(&vertex.to_le_bytes());
        bytes[16..20].copy_from_slice(&triangle.to_le_bytes());
        bytes[20] = power;
        bytes[36..38].copy_from_slice(&face.to_le_bytes());
        // No neighbors.
        bytes[48..136].fill(0xFF);
        [104, 114, 124, 134].into_iter().for_each(|count: usize| bytes[count] = 0);
        bytes
    };
    let vertexes: Vec<u8> = (0..25 + 81).flat_map(|vertex: u8| [[vertex; 4]; 5]).flatten().collect();
    draft.set(SlotId::Lump(26), [one(2, 0, 0, 0), one(3, 25, 32, 1)].concat()).unwrap();
    draft.set(SlotId::Lump(33), vertexes).unwrap();
    draft.set(SlotId::Lump(48), vec![0; 2 * (32 + 128)]).unwrap();
    for lump in [7, 58] {
        let mut faces = draft.bytes(SlotId::Lump(lump)).unwrap().to_vec();
        (0..2_u8).for_each(|face| faces[56 * usize::from(face) + 12..][..2].copy_from_slice(&[face, 0]));
        draft.set(SlotId::Lump(lump), faces).unwrap();
    }
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

/// A range that goes over the border of a set: each copy is in the sets of its original, and in no other.
#[test]
fn copies_of_a_range_are_in_the_sets_of_their_originals() {
    // The leafs for high dynamic range name another list than their struct says.
    let is_set =
        |runs: &Runs| matches!(runs.order, Order::Free | Order::InTurn) && runs.field != "LEAF_AMBIENT_INDEX_HDR.first";
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (name, map) in rooms() {
        for runs in runs(&map).into_iter().filter(is_set) {
            let borders: BTreeSet<usize> = runs.all.windows(2).map(|pair| pair[0].end).collect();
            for border in borders.into_iter().take(MOST_TRIED) {
                let len = runs.all.iter().map(|run| run.end).max().unwrap_or(0);
                let range = border.saturating_sub(2)..(border + 2).min(len);
                let mut draft = map.draft();
                if draft.structure().duplicate_list(runs.list, range.clone()).is_err() {
                    continue;
                }
                let after = saved(&draft);
                let new = self::runs(&after).into_iter().find(|new| new.field == runs.field).unwrap().all;
                let records = |map: &Bsp<'_>| {
                    let lists = shuffle::lists(map);
                    let (_, info, bytes) = lists.iter().find(|(list, ..)| *list == runs.list).unwrap();
                    bytes.chunks_exact(info.size).map(<[u8]>::to_vec).collect::<Vec<_>>()
                };
                let (old_records, new_records) = (records(&map), records(&after));
                for (old, new) in runs.all.iter().zip(&new) {
                    let at = format!("{name} {} {old:?} with copies of {range:?}", runs.field);
                    let copied = old.clone().filter(|record| range.contains(record));
                    let wanted: Vec<usize> = old.clone().chain(copied).collect();
                    assert_eq!(new.len(), wanted.len(), "{at}");
                    // Lists of numbers are not edited otherwise.
                    if runs.list.starts_with("LEAF") || runs.list == "MARKSURFACES" {
                        let mut wanted: Vec<_> = wanted.into_iter().map(|record| &old_records[record]).collect();
                        let mut found: Vec<_> = new_records[new.clone()].iter().collect();
                        wanted.sort_unstable();
                        found.sort_unstable();
                        assert_eq!(found, wanted, "{at}");
                    }
                }
                *counts.entry(runs.field.clone()).or_default() += 1;
            }
        }
    }
    let fields = ["MODELS.first_face", "MODELS.first_brush", "NODES.first_face", "LEAFS.first_leaf_brush"];
    for field in fields.into_iter().chain(["LEAFS.first_mark_surface"]) {
        assert!(counts.contains_key(field), "{counts:?}");
    }

    let map = Bsp::open("tests/maps/q1/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    draft.structure().whole().duplicate_list("FACES", 96..100).unwrap();
    let faces: Vec<_> = saved(&draft).table(goldsrc::MODELS).unwrap().iter().collect();
    let faces: Vec<_> = faces.iter().skip(1).take(3).map(|model| (model.first_face, model.face_count)).collect();
    assert_eq!(faces, [(92, 8), (100, 8), (108, 6)]);
    // Each of them is on a node of its own.
    draft.structure().whole().remove(&[("FACES", &[97, 99, 101, 103])]).unwrap();
    let changes = draft.changes().unwrap();
    assert!(changes.is_empty(), "{changes:?}");
}

/// Copies of displacements name each other, and nobody else: the neighbors of their originals name these.
#[test]
fn neighbors_of_displacements_are_neighbors_of_each_other() {
    const SIZE: usize = 176;
    let map = displaced();
    let mut draft = map.draft();
    let mut infos = draft.bytes(SlotId::Lump(26)).unwrap().to_vec();
    for (disp, other) in [(0, 1_u8), (1, 0)] {
        let own = &mut infos[disp * SIZE..(disp + 1) * SIZE];
        // The second neighbor of the first edge, and the first of the last corner.
        own[48 + 6..][..2].copy_from_slice(&[other, 0]);
        own[96 + 30..][..2].copy_from_slice(&[other, 0]);
        own[96 + 38] = 1;
    }
    draft.set(SlotId::Lump(26), infos).unwrap();
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    // The neighbors that each displacement names, on edges and at corners.
    let neighbors = |range: Range<usize>| {
        let mut draft = map.draft();
        draft.structure().duplicate_list("DISPINFO", range).unwrap();
        let infos = draft.bytes(SlotId::Lump(26)).unwrap().to_vec();
        let of = |info: &[u8]| {
            let number = |at: usize| u16::from_le_bytes(info[at..at + 2].try_into().unwrap());
            let edges = (0..8).map(|at| number(48 + 6 * at)).filter(|other| *other != 0xFFFF).collect::<Vec<_>>();
            let corner =
                |at: usize| (0..usize::from(info[96 + 10 * at + 8])).map(move |of| number(96 + 10 * at + 2 * of));
            (edges, (0..4).flat_map(corner).collect::<Vec<_>>())
        };
        infos.chunks_exact(SIZE).map(of).collect::<Vec<_>>()
    };
    let with = |other: u16| (vec![other], vec![other]);
    assert_eq!(neighbors(0..1), [with(2), (vec![], vec![]), with(0)]);
    assert_eq!(neighbors(1..2), [with(1), with(0), (vec![], vec![])]);
    assert_eq!(neighbors(0..2), [with(1), with(0), with(3), with(2)]);
}

/// The engine reads the vertexes of displacements one after the other, whatever their numbers are.
#[test]
fn vertexes_go_with_their_displacements() {
    let map = displaced();
    let mut draft = map.draft();
    draft.structure().reorder_list("DISPINFO", &[1, 0]).unwrap();
    let [infos, vertexes] = [26, 33].map(|lump| draft.bytes(SlotId::Lump(lump)).unwrap().to_vec());
    let number = |at: usize| i32::from_le_bytes(infos[at..at + 4].try_into().unwrap());
    assert_eq!([number(12), number(16), number(20)], [0, 0, 3]);
    assert_eq!([number(176 + 12), number(176 + 16), number(176 + 20)], [81, 128, 2]);
    assert_eq!((vertexes[0], vertexes[20 * 81]), (25, 0));
    draft.structure().reorder_list("DISPINFO", &[1, 0]).unwrap();
    assert!(draft.changes().unwrap().is_empty());
    let alone = map.draft().structure().reorder_list("DISP_VERTS", &(25..106).chain(0..25).collect::<Vec<_>>());
    assert!(alone.unwrap_err().to_string().contains("follow those of the record before"));
}

/// The faces from which others were cut name their texinfos, or those of a table as it was before the compiler made it
/// smaller: then no number is one of the map.
#[test]
fn original_faces_keep_what_they_name() {
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let pairs = |map: &Bsp<'_>| -> Vec<(i16, i16)> {
        let (faces, originals) = (map.table(source::FACES).unwrap(), map.table(source::ORIGINALFACES).unwrap());
        let own = faces.iter().filter_map(|face| Some((usize::try_from(face.original_face).ok()?, face.texinfo)));
        own.map(|(at, texinfo)| (texinfo, originals.get(at).unwrap().texinfo)).collect()
    };
    let texinfos = map.table(source::TEXINFO).unwrap().len();
    let order: Vec<usize> = (1..texinfos).chain([0]).collect();
    assert!(pairs(&map).iter().all(|(one, other)| one == other));

    let mut draft = map.draft();
    draft.structure().reorder_list("TEXINFO", &order).unwrap();
    let moved = saved(&draft);
    assert!(pairs(&moved).iter().all(|(one, other)| one == other));
    assert_ne!(pairs(&moved), pairs(&map));

    // One number that is no index of the map says that all are of another table.
    let mut draft = map.draft();
    draft.update(source::ORIGINALFACES, 11, |face| face.texinfo = 3000).unwrap();
    let other = saved(&draft);
    let mut draft = other.draft();
    draft.structure().reorder_list("TEXINFO", &order).unwrap();
    let second = |map: &Bsp<'_>| map.table(source::ORIGINALFACES).unwrap().iter().map(|it| it.texinfo).collect();
    let (before, after): (Vec<i16>, Vec<i16>) = (second(&other), second(&saved(&draft)));
    assert_eq!(before, after);
}
