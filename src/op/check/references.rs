//! Numbers that refer to other lumps: every field of every known record that is described as an index, the first of a
//! run, or a child in a tree.
//!
//! The first index of an empty run does not matter.

use super::code::{CHILD_RANGE, Code, EDGE_RANGE, INDEX_RANGE, RUN_RANGE};
use super::lumps::{Lump, Lumps, State};
use super::sink::{At, Sink};
use crate::bytes::wide;
use crate::dialect::{Form, Records, Role};
use crate::record::{Cell, Count, CountForm, Meaning, Number, Shape};

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    for lump in &lumps.all {
        for part in &lump.parts {
            check_part(lumps, lump, part, sink);
        }
    }
    check_edges(lumps, sink);
}

fn check_part(lumps: &Lumps<'_>, lump: &Lump<'_>, part: &Records, sink: &mut Sink) {
    let cells = Cell::all(part.record.fields);
    let bytes = lump.bytes.get(part.range.clone()).unwrap_or_default();
    for cell in &cells {
        let Shape::Number(number) = cell.shape else { continue };
        let values = Values { bytes, stride: part.record.size, offset: cell.place.start, number };
        let found = Found { lump: lump.name, start: part.range.start, cell };
        match cell.meaning {
            Meaning::Index { lump: target, none } => {
                let Some(count) = count(lumps, target) else { continue };
                let is_good = |value: i64| (0..count).contains(&value) || none.contains(&value);
                values.each(|record, value| {
                    if !(is_good(value) || record == 0 && is_unnamed_edge(lumps, lump)) {
                        found.report(&INDEX_RANGE, &values, record, sink, || {
                            format!("{} is {value}, and {target} has {count}", cell.path)
                        });
                    }
                });
            }
            // Negative numbers end the tree or the chain. Engines accept any of them.
            Meaning::Branch { lump: target } | Meaning::Next { lump: target } => {
                let Some(count) = count(lumps, target) else { continue };
                values.each(|record, value| {
                    if value >= count {
                        found.report(&INDEX_RANGE, &values, record, sink, || {
                            format!("{} is {value}, and {target} has {count}", cell.path)
                        });
                    }
                });
            }
            // Counts that share a field with flags are checked with the lists, those of displacements with these.
            Meaning::Run { count: Count { form: CountForm::Bits { .. }, .. }, .. } => {}
            Meaning::Run {
                lump: target,
                count: Count { form: CountForm::Vertexes | CountForm::Triangles, .. },
                ..
            } => {
                let Some(count) = count(lumps, target) else { continue };
                values.each(|record, value| {
                    if !(0..count).contains(&value) {
                        found.report(&INDEX_RANGE, &values, record, sink, || {
                            format!("{} is {value}, and {target} has {count}", cell.path)
                        });
                    }
                });
            }
            Meaning::Run { lump: target, count: many, .. } => {
                let field = many.field;
                let before = cell.path.rfind('.').map_or(0, |dot| dot + 1);
                let path = format!("{}{field}", &cell.path[..before]);
                let counts = cells.iter().find(|cell| cell.path == path);
                let Some(Shape::Number(number)) = counts.map(|cell| cell.shape) else { continue };
                let Some(count) = count(lumps, target) else { continue };
                let offset = counts.map_or(0, |cell| cell.place.start);
                let counts = Values { offset, number, ..values };
                values.each_with(&counts, |record, first, number| {
                    let many = many.of(number);
                    let is_good = many == 0 || (first >= 0 && many > 0 && first.saturating_add(many) <= count);
                    if !is_good {
                        found.report(&RUN_RANGE, &values, record, sink, || {
                            format!("{} is {first} and {field} {many}, and {target} has {count}", cell.path)
                        });
                    }
                });
            }
            Meaning::Child => {
                let of = |role| lumps.role_lump(role).and_then(|lump| count(lumps, lump.name));
                let (Some(nodes), Some(leafs)) = (of(Role::Nodes), of(Role::Leafs)) else { continue };
                values.each(|record, value| {
                    // Engines of Quake with more nodes than fit 15 bits read 16 bits without a sign: a number that is
                    // not a node is a leaf.
                    let is_far = number == Number::I16 && value < 0 && value + 0x1_0000 < nodes;
                    if !is_far && (value >= nodes || value < -leafs) {
                        found.report(&CHILD_RANGE, &values, record, sink, || {
                            let leaf = if value < 0 { format!("leaf {}", -1 - value) } else { format!("node {value}") };
                            format!("{} is {value}, {leaf}, and there are {nodes} nodes and {leafs} leafs", cell.path)
                        });
                    }
                });
            }
            // What fields share with flags, garbage in arrays and the like are checked with the lists.
            _ => {}
        }
    }
}

/// Whether the lump is that of the edges and no surfedge names the first edge: then engines never read its ends.
fn is_unnamed_edge(lumps: &Lumps<'_>, lump: &Lump<'_>) -> bool {
    let is_edges = lumps.role_lump(Role::Edges).is_some_and(|edges| edges.name == lump.name);
    let surf_edges = lumps.role(Role::SurfEdges).filter(|_| is_edges);
    let edges = surf_edges.and_then(|view| Some((view.column("edge")?, view.len())));
    edges.is_some_and(|(edge, len)| (0..len).all(|index| edge.get(index) != 0))
}

/// How many records a lump has; `None` if that is not known.
fn count(lumps: &Lumps<'_>, name: &str) -> Option<i64> {
    let lump = lumps.referred(name)?;
    let row = lump.row.as_ref().ok()?;
    let count = match (row.form, &lump.state) {
        (Form::Array(record), State::Read) => lump.bytes.len() / record.size,
        _ => return None,
    };
    i64::try_from(count).ok()
}

/// A surfedge is an edge's index, or that times -1. The first edge is unused, since 0 has no sign.
fn check_edges(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(surf_edges), Some(edges)) = (lumps.role(Role::SurfEdges), lumps.role(Role::Edges)) else { return };
    let Some(field) = surf_edges.record.field("edge") else { return };
    let Shape::Number(number) = field.shape else { return };
    let values = Values { bytes: surf_edges.bytes, stride: surf_edges.record.size, offset: field.offset, number };
    let count = wide(edges.len());
    values.each(|record, edge| {
        if edge.unsigned_abs() >= count {
            let at = At::lump(surf_edges.name).record(record).offset(values.at(record)).field(field.name);
            sink.add(&EDGE_RANGE, at, || format!("it names edge {}, and there are {count}", edge.unsigned_abs()));
        }
    });
}

struct Found<'f> {
    lump: &'f str,
    /// The offset of the records in the lump.
    start: usize,
    cell: &'f Cell,
}

impl Found<'_> {
    #[cold]
    fn report(
        &self,
        code: &'static Code,
        values: &Values<'_>,
        record: usize,
        sink: &mut Sink,
        message: impl FnOnce() -> String,
    ) {
        let offset = self.start + values.at(record);
        sink.add(code, At::lump(self.lump).record(record).offset(offset).field(&self.cell.path), message);
    }
}

/// One number of every record.
#[derive(Clone, Copy)]
struct Values<'b> {
    bytes: &'b [u8],
    stride: usize,
    offset: usize,
    number: Number,
}

impl Values<'_> {
    fn at(&self, record: usize) -> usize {
        record * self.stride + self.offset
    }

    /// Calls a function for every integer. The type is matched once, not per integer.
    #[inline(always)]
    fn each(&self, mut hand: impl FnMut(usize, i64)) {
        macro_rules! each {
            ($type:ty) => {{
                for (index, record) in self.bytes.chunks_exact(self.stride).enumerate() {
                    if let Some(bytes) = record.get(self.offset..).and_then(|rest| rest.first_chunk()) {
                        hand(index, i64::from(<$type>::from_le_bytes(*bytes)));
                    }
                }
            }};
        }
        match self.number {
            Number::U8 => each!(u8),
            Number::I8 => each!(i8),
            Number::U16 => each!(u16),
            Number::I16 => each!(i16),
            Number::U32 => each!(u32),
            Number::I32 => each!(i32),
            Number::F32 => {}
        }
    }

    /// Calls a function for every integer with another one of the same record.
    #[inline(always)]
    fn each_with(&self, other: &Values<'_>, mut hand: impl FnMut(usize, i64, i64)) {
        let (offset, number) = (other.offset, other.number);
        self.each(|index, value| {
            let record = index * self.stride;
            let second = self.bytes.get(record + offset..record + self.stride).and_then(|rest| number.integer(rest));
            hand(index, value, second.unwrap_or(0));
        });
    }
}
