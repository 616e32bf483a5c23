//! What a map has apart from numbers of records: the walk, with offsets of light replaced by the luxels there, and the
//! starts of empty runs by 0.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use bspkit::Bsp;
use bspkit::bytes::ByteOrder;
use bspkit::record::{RecordInfo, Shape};

use super::facts::{Kind, facts};
use super::walk::{places, walk};

/// The luxels of each face with light, as one number; the face's own offset is not part of it.
pub(crate) fn luxels(map: &Bsp<'_>) -> Vec<Vec<Option<u64>>> {
    let Ok(light) = map.light() else { return Vec::new() };
    let sets = light.sets().iter().enumerate().filter(|(_, set)| !set.is_pages());
    let of = |(nth, set): (usize, &bspkit::content::lightmap::LightSet)| {
        let last = set.blocks().iter().map(bspkit::content::lightmap::Block::index).max();
        let mut all = vec![None; last.map_or(0, |last| last + 1)];
        let mut hashers: Vec<DefaultHasher> = all.iter().map(|_| DefaultHasher::new()).collect();
        for image in light.images().filter(|image| image.set == nth) {
            let face = set.blocks()[image.block].index();
            (
                set.blocks()[image.block].size(),
                light.bytes(image),
                light.average(image).map(|luxel| format!("{luxel:?}")),
            )
                .hash(&mut hashers[face]);
            all[face] = Some(0);
        }
        all.iter().zip(hashers).map(|(lit, hasher)| lit.map(|_| hasher.finish())).collect()
    };
    sets.map(of).collect()
}

/// A missing hull is -1, or the number of clip nodes. One that a model shares with the world becomes -1 too: another map
/// may have none.
fn mark_hulls(map: &Bsp<'_>, info: &RecordInfo, models: &mut [u8]) {
    let clip_nodes = map.slot("CLIPNODES").ok().and_then(|slot| Some((slot, map.row(slot).ok()?.record()?)));
    let Some(len) = clip_nodes.map(|(slot, record)| map.bytes(slot.id).unwrap().len() / record.size) else { return };
    for (at, _) in places(info.fields, "clip_nodes") {
        let hull = |model: &[u8]| i32::from_le_bytes(model[at..at + 4].try_into().unwrap());
        let world = hull(models);
        for (index, model) in models.chunks_exact_mut(info.size).enumerate() {
            let is_there = usize::try_from(hull(model)).is_ok_and(|value| value < len);
            if !is_there || index > 0 && hull(model) == world {
                model[at..at + 4].copy_from_slice(&(-1_i32).to_le_bytes());
            }
        }
    }
}

/// The map with offsets of light that are the hash of the luxels there, and empty runs that start at 0.
pub(crate) fn marked(map: &Bsp<'_>) -> Bsp<'static> {
    let light = luxels(map);
    let mut draft = map.draft();
    for slot in map.slots() {
        let (Ok(row), Ok(bytes), Ok(parts)) = (map.row(slot), map.bytes(slot.id), map.spans(slot)) else { continue };
        let mut bytes = bytes.to_vec();
        let swap = |bytes: &mut [u8], from| {
            if map.byte_order() == ByteOrder::Big {
                row.byte_swap(bytes, from);
            }
        };
        swap(&mut bytes, ByteOrder::Big);
        for part in parts {
            let dot = if part.list.is_empty() { "" } else { "." };
            let name = format!("{}{dot}{}", slot.name, part.list);
            let records = &mut bytes[part.range.clone()];
            for (_, field, kind, _) in facts(map.dialect().name).filter(|(lump, ..)| *lump == name) {
                let (Kind::Run(of, ..) | Kind::Set(of, ..) | Kind::Turn(of)) = kind else { continue };
                let place = |field: &str| places(part.record.fields, field).first().copied();
                let (Some((first, shape)), Some((at, Shape::Number(count)))) = (place(field), place(of)) else {
                    continue;
                };
                for record in records.chunks_exact_mut(part.record.size) {
                    if count.integer(&record[at..]) == Some(0) {
                        record[first..first + shape.size()].fill(0);
                    }
                }
            }
            if slot.name == "MODELS" {
                mark_hulls(map, part.record, &mut bytes[part.range.clone()]);
            }
            let field = if slot.name.starts_with("bspx:") { "offset" } else { "light_offset" };
            let is_light =
                slot.name.starts_with("FACES") || ["bspx:DECOUPLED_LM", "bspx:LMOFFSET"].contains(&&*slot.name);
            let Some((at, _)) = places(part.record.fields, field).first().copied().filter(|_| is_light) else {
                continue;
            };
            for (face, record) in bytes[part.range.clone()].chunks_exact_mut(part.record.size).enumerate() {
                let hashes: Vec<_> = light.iter().map(|set| set.get(face).copied().flatten()).collect();
                let mark = u32::try_from(super::walk::hash(hashes) >> 34).unwrap();
                record[at..at + 4].copy_from_slice(&mark.to_le_bytes());
            }
        }
        swap(&mut bytes, ByteOrder::Little);
        draft.set(slot.id, bytes).unwrap();
    }
    super::maps::saved(&draft)
}

/// The records of each list of a map as they are apart from numbers.
pub(crate) fn content(map: &Bsp<'_>) -> super::walk::Walk {
    walk(&marked(map))
}

/// The records of `some` that are not in `all`, each as often as it is there; both are sorted.
pub(crate) fn missing(some: &[u64], all: &[u64]) -> usize {
    let mut all = all.iter().peekable();
    let mut missing = 0;
    for record in some {
        while all.next_if(|other| *other < record).is_some() {}
        if all.next_if_eq(&record).is_none() {
            missing += 1;
        }
    }
    missing
}

/// Whether no model has the number of clip nodes for a missing hull.
pub(crate) fn has_hulls(map: &Bsp<'_>) -> bool {
    let (Ok(models), Ok(nodes)) = (map.slot("MODELS"), map.slot("CLIPNODES")) else { return true };
    let Some(size) = map.row(nodes).ok().and_then(|row| Some(row.record()?.size)) else { return true };
    let (len, bytes) = (map.bytes(nodes.id).unwrap().len() / size, map.bytes(models.id).unwrap());
    let Some(info) = map.row(models).ok().and_then(|row| row.record()) else { return true };
    let numbers = bytes.chunks_exact(info.size).flat_map(|record| {
        let hulls = places(info.fields, "clip_nodes").into_iter();
        hulls.map(|(at, _)| i32::from_le_bytes(record[at..at + 4].try_into().unwrap()))
    });
    numbers.into_iter().all(|number| usize::try_from(number).is_ok_and(|number| number < len) || number < 0)
}
