//! Random orders that break no rule: what belongs together stays together.

use bspkit::bytes::ByteOrder;
use bspkit::dialect::{Role, qbism, quake2, quake3, source, source17};
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
        let (Ok(row), Ok(bytes), Ok(parts)) = (map.row(slot), map.bytes(slot.id), map.spans(slot)) else { continue };
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
                Kind::Run(of, mask, shift) | Kind::Spare(of, mask, shift) | Kind::Set(of, mask, shift) => {
                    (number(record, of).unwrap_or(0) & mask) >> shift
                }
                Kind::Turn(of) | Kind::Several(of) => number(record, of).unwrap_or(0),
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
                groups.push(Group { start, end, is_set: matches!(kind, Kind::Set(..) | Kind::Several(_)) });
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
    groups.extend(together(map, name, len).into_iter().map(|group| Group {
        start: group.start,
        end: group.end,
        is_set: true,
    }));
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

/// Records that stay together, in any order, for another reason than a number that names them.
pub(crate) fn together(map: &Bsp<'_>, list: &str, len: usize) -> Vec<std::ops::Range<usize>> {
    match list {
        "BRUSHES" if map.dialect().role(Role::SurfEdges).is_some() => {
            model_brushes(map).into_iter().filter(|range| range.start < range.end).collect()
        }
        "game:dprp.objects" => {
            let leafs: Vec<u16> = match map.table(source::DETAIL_OBJECTS) {
                Ok(table) => table.iter().map(|object| object.leaf).collect(),
                Err(_) => map.table(source17::DETAIL_OBJECTS).unwrap().iter().map(|object| object.leaf).collect(),
            };
            let groups = leafs.chunk_by(|one, other| one == other).scan(0, |at, group| {
                *at += group.len();
                Some(*at - group.len()..*at)
            });
            groups.collect()
        }
        // The place of a record is its meaning.
        "LIGHTARRAY" => std::iter::once(0..len).collect(),
        "LIGHTGRID" if map.table(quake3::LIGHTGRID).is_ok() => std::iter::once(0..len).collect(),
        _ => Vec::new(),
    }
}

/// The brushes in the tree of each model of Quake II, as a range.
pub(crate) fn model_brushes(map: &Bsp<'_>) -> Vec<std::ops::Range<usize>> {
    type Tree = (Vec<[i32; 2]>, Vec<(usize, usize)>, Vec<usize>);
    let narrow = || -> Option<Tree> {
        let leafs = map.table(quake2::LEAFS).ok()?;
        let leafs = leafs.iter().map(|leaf| (leaf.first_leaf_brush.into(), leaf.leaf_brush_count.into()));
        let nodes = map.table(quake2::NODES).ok()?.iter().map(|node| node.children).collect();
        let listed = map.table(quake2::LEAFBRUSHES).ok()?;
        Some((nodes, leafs.collect(), listed.iter().map(|listed| listed.brush.into()).collect()))
    };
    let wide = || -> Option<Tree> {
        let size = |number: u32| usize::try_from(number).unwrap();
        let leafs = map.table(qbism::LEAFS).ok()?;
        let leafs = leafs.iter().map(|leaf| (size(leaf.first_leaf_brush), size(leaf.leaf_brush_count)));
        let nodes = map.table(qbism::NODES).ok()?.iter().map(|node| node.children).collect();
        let listed = map.table(qbism::LEAFBRUSHES).ok()?;
        Some((nodes, leafs.collect(), listed.iter().map(|listed| size(listed.brush)).collect()))
    };
    let Some((nodes, leafs, listed)) = narrow().or_else(wide) else { return Vec::new() };
    let of = |model: quake2::Model| {
        let (mut open, mut range) = (vec![model.head_node], std::ops::Range { start: usize::MAX, end: 0 });
        while let Some(child) = open.pop() {
            if let Ok(node) = usize::try_from(child) {
                open.extend(nodes[node]);
                continue;
            }
            let (first, count) = leafs[usize::try_from(-1 - child).unwrap()];
            for brush in &listed[first..first + count] {
                range = range.start.min(*brush)..range.end.max(brush + 1);
            }
        }
        range
    };
    let Ok(models) = map.table(quake2::MODELS) else { return Vec::new() };
    models.iter().map(of).collect()
}
