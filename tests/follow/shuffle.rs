//! Random orders that break no rule: what belongs together stays together.

use bspkit::bytes::ByteOrder;
use bspkit::record::{RecordInfo, Shape};
use bspkit::{Bsp, Draft, ErrorKind, Layout};

use super::facts::{Kind, facts};
use super::walk::places;

/// A generator of numbers that needs no seed from outside.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        (1..items.len()).rev().for_each(|at| items.swap(at, self.below(at + 1)));
    }
}

/// Records that belong together, and whether in any order.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: usize,
    end: usize,
    is_set: bool,
}

/// A list, and a range of its records.
pub(crate) type Together = (&'static str, std::ops::Range<usize>);

/// A list of a map: its name, its records.
pub(crate) fn lists(map: &Bsp<'_>) -> Vec<(String, &'static RecordInfo, Vec<u8>)> {
    let mut found = Vec::new();
    for slot in map.slots() {
        let (Ok(row), Ok(bytes), Ok(parts)) = (map.row(slot), map.bytes(slot.id), map.records(slot)) else { continue };
        let mut bytes = bytes.to_vec();
        if map.byte_order() == ByteOrder::Big {
            row.byte_swap(&mut bytes, ByteOrder::Big);
        }
        for part in parts {
            let dot = if part.list.is_empty() { "" } else { "." };
            let end = part.range.start + part.count() * part.record.size;
            found.push((
                format!("{}{dot}{}", slot.name, part.list),
                part.record,
                bytes[part.range.start..end].to_vec(),
            ));
        }
    }
    found
}

/// Brings every list of a map into a random order, one after the other: the orders, and the reasons for refusals. `sets`
/// are records that stay together for another reason than a reference.
pub(crate) fn reorder_all(
    draft: &mut Draft<'_>,
    seed: u64,
    sets: &[Together],
) -> (Vec<(String, Vec<usize>)>, Vec<String>) {
    let (mut random, mut done, mut refusals) = (Random(seed), Vec::new(), Vec::new());
    for (list, info, bytes) in lists(draft.bsp()).into_iter().filter(|(_, info, bytes)| bytes.len() > info.size) {
        let now = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let order = order_with(&now, &list, bytes.len() / info.size, sets, &mut random);
        match draft.structure().reorder_list(&list, &order) {
            Ok(_) => done.push((list, order)),
            Err(error) if error.kind() == ErrorKind::Refused => refusals.push(format!("{list}: {error}")),
            Err(error) => panic!("{list}: {error:?}"),
        }
    }
    (done, refusals)
}

/// An order for a list: record `i` is record `order[i]` of before.
pub(crate) fn order(map: &Bsp<'_>, name: &str, len: usize, random: &mut Random) -> Vec<usize> {
    order_with(map, name, len, &[], random)
}

fn order_with(map: &Bsp<'_>, name: &str, len: usize, sets: &[Together], random: &mut Random) -> Vec<usize> {
    let all = lists(map);
    let sets = sets.iter().filter(|(list, _)| *list == name);
    let mut groups: Vec<Group> =
        sets.map(|(_, range)| Group { start: range.start, end: range.end, is_set: true }).collect();
    let mut turns = Vec::new();
    for (from, field, kind, _) in facts(map.dialect().name).filter(|(.., to)| *to == name) {
        let Some((_, info, bytes)) = all.iter().find(|(list, ..)| list == from) else { continue };
        let number = |record: &[u8], field: &str| {
            let (at, shape) = places(info.fields, field).first().copied()?;
            let Shape::Number(number) = shape else { return None };
            number.integer(&record[at..])
        };
        for record in bytes.chunks_exact(info.size) {
            let count = match kind {
                Kind::Run(of, mask, shift) | Kind::Set(of, mask, shift) => {
                    (number(record, of).unwrap_or(0) & mask) >> shift
                }
                Kind::Turn(of) => number(record, of).unwrap_or(0),
                Kind::Power(triangles) => {
                    let side = 1_i64 << number(record, "power").unwrap_or(0).clamp(0, 8);
                    if *triangles { 2 * side * side } else { (side + 1) * (side + 1) }
                }
                _ => 0,
            };
            let (Some(first), 2..) = (number(record, field), count) else { continue };
            let Ok(start) = usize::try_from(first) else { continue };
            let end = start + usize::try_from(count).unwrap();
            if end <= len && matches!(kind, Kind::Turn(_)) {
                turns.push((start, end));
            } else if end <= len {
                groups.push(Group { start, end, is_set: matches!(kind, Kind::Set(..)) });
            }
        }
    }
    let is_source = map.dialect().rules.game_lump.is_some();
    let mut fixed = match name {
        "NODES" | "MODELS" | "EDGES" | "AREAS" | "AREAPORTALS" => 1,
        "LEAFS" if map.dialect().lumps.iter().any(|lump| lump.name == "SHADERS") => 0,
        "LEAFS" => 1,
        _ => 0,
    };
    fixed = fixed.min(len);
    if name == "PLANES"
        && len.is_multiple_of(2)
        && (is_source || map.dialect().lumps.iter().any(|lump| lump.name == "BRUSHES"))
    {
        groups.extend((0..len / 2).map(|pair| Group { start: 2 * pair, end: 2 * pair + 2, is_set: false }));
    }
    let mut order: Vec<usize> = (0..fixed).collect();
    match map.table(bspkit::dialect::goldsrc::MODELS) {
        // Leafs belong to the models one after the other.
        Ok(models) if name == "LEAFS" => {
            for model in &models {
                let end = (order.len() + usize::try_from(model.visible_leafs).unwrap_or(0)).min(len);
                order.extend(shuffled(order.len(), end, &[], random));
            }
            order.extend(order.len()..len);
        }
        _ if turns.is_empty() => order.extend(shuffled(fixed, len, &groups, random)),
        _ => {
            for (start, end) in turns {
                order.extend(order.len()..start);
                order.extend(shuffled(start, end, &groups, random));
            }
            order.extend(order.len()..len);
        }
    }
    order
}

/// The numbers of a range in a random order that keeps groups together.
fn shuffled(start: usize, end: usize, groups: &[Group], random: &mut Random) -> Vec<usize> {
    let inner: Vec<Group> = groups.iter().copied().filter(|group| group.start >= start && group.end <= end).collect();
    // A place within a group cannot be cut.
    let mut covered = vec![0_i32; end - start + 1];
    for group in &inner {
        covered[group.start + 1 - start] += 1;
        covered[group.end - start] -= 1;
    }
    let (mut segments, mut depth, mut from) = (Vec::new(), 0, start);
    for (at, change) in covered.iter().enumerate().skip(1) {
        depth += change;
        if depth == 0 {
            segments.push((from, start + at));
            from = start + at;
        }
    }
    random.shuffle(&mut segments);
    let segment = |(from, to): (usize, usize), random: &mut Random| -> Vec<usize> {
        let whole: Vec<&Group> = inner.iter().filter(|group| (group.start, group.end) == (from, to)).collect();
        let below: Vec<Group> = inner
            .iter()
            .copied()
            .filter(|group| group.start >= from && group.end <= to && (group.start, group.end) != (from, to))
            .collect();
        match !whole.is_empty() && whole.iter().all(|group| group.is_set) {
            true => shuffled(from, to, &below, random),
            false => (from..to).collect(),
        }
    };
    segments.into_iter().flat_map(|range| segment(range, random)).collect()
}
