//! The references of a map: which records there are, and which numbers of theirs name records of which lump, compiled
//! from what the dialect declares beside its structs and rows.

use std::ops::Range;

use super::Bsp;
use super::link::{How, Link, Test, When, Word};
use crate::bytes::{ByteOrder, Data};
use crate::dialect::{Blocks, Form, Holds, Parallel, Role, Row};
use crate::error::Result;
use crate::file::SlotId;
use crate::record::{Cell, Count, Meaning, Number, RecordInfo, Shape};

/// The records of a lump, or of a list in it.
pub(crate) struct Site<'a> {
    pub(crate) slot: SlotId,
    /// `LUMP`, or `LUMP.list`.
    pub(crate) name: String,
    pub(crate) row: &'static Row,
    pub(crate) record: &'static RecordInfo,
    /// The bytes of the whole slot, with numbers little-endian.
    pub(crate) bytes: Data<'a>,
    /// The range of the whole records in them.
    pub(crate) range: Range<usize>,
    /// The offset of their count, if they have one.
    pub(crate) count_at: Option<usize>,
    pub(crate) listed: bool,
    pub(crate) parallel: Option<Parallel>,
}

impl Site<'_> {
    /// How many records it has.
    pub(crate) fn len(&self) -> usize {
        self.range.len() / self.record.size
    }

    /// The bytes of a record; empty if there is none.
    pub(crate) fn record(&self, index: usize) -> &[u8] {
        let start = self.range.start + index * self.record.size;
        self.bytes.get(start..start + self.record.size).unwrap_or_default()
    }
}

/// All references between the records of a map.
pub(crate) struct Links<'a> {
    pub(crate) sites: Vec<Site<'a>>,
    pub(crate) links: Vec<Link>,
    /// Lumps with blocks that belong to records.
    pub(crate) blocks: Vec<(SlotId, String, Blocks)>,
    /// Lumps with parts that belong to records, in a form of their own.
    pub(crate) parts: Vec<(SlotId, String, Parallel)>,
    /// Lumps in which others refer to bytes.
    pub(crate) offsets: Vec<&'static str>,
    /// Lumps that may refer to records in an unknown way, with the reason.
    pub(crate) unknown: Vec<(String, Holds, String)>,
    /// Lumps that tools leave out, with those that others refer to instead.
    replaced: Vec<(&'static str, &'static str)>,
}

impl<'a> Bsp<'a> {
    /// The references between the records of the map.
    pub(crate) fn links(&self) -> Result<Links<'a>> {
        let mut all = Links {
            sites: Vec::new(),
            links: Vec::new(),
            blocks: Vec::new(),
            parts: Vec::new(),
            offsets: Vec::new(),
            unknown: Vec::new(),
            replaced: self.replaced(),
        };
        for slot in self.slots() {
            let row = match self.row(slot) {
                Ok(row) if slot.length != 0 || row.record().is_some() => row,
                _ if slot.length == 0 => continue,
                Ok(row) => row,
                Err(why) => {
                    all.unknown.push((slot.name.clone(), Holds::Unknown, why.to_string()));
                    continue;
                }
            };
            if row.order.holds != Holds::Nothing {
                let why = "its numbers are not declared one by one".to_owned();
                all.unknown.push((slot.name.clone(), row.order.holds, why));
            }
            all.blocks.extend(row.order.blocks.map(|blocks| (slot.id, slot.name.clone(), blocks)));
            if let (Form::Lens(_), Some(parallel)) = (row.form, row.order.parallel) {
                all.parts.push((slot.id, slot.name.clone(), parallel));
            }
            if matches!(row.form, Form::Array(_) | Form::Lists(_)) {
                let bytes = self.byte_swapped(row, self.bytes(slot.id)?, ByteOrder::Big);
                all.add(slot.id, &slot.name, row, self.parts(row, slot, &bytes)?, &bytes);
            }
        }
        all.compile(self);
        Ok(all)
    }

    /// Lumps that tools have left out, with those that numbers refer to instead.
    fn replaced(&self) -> Vec<(&'static str, &'static str)> {
        let is_empty = |lump: &str| self.slots().iter().any(|slot| slot.name == lump && slot.length == 0);
        let left_out = self.dialect().checks.left_out.iter();
        left_out.filter_map(|(lump, other)| Some((*lump, (*other)?))).filter(|(lump, _)| is_empty(lump)).collect()
    }
}

impl<'a> Links<'a> {
    fn add(
        &mut self,
        slot: SlotId,
        name: &str,
        row: &'static Row,
        parts: Vec<crate::dialect::Records>,
        bytes: &Data<'a>,
    ) {
        let lists = if let Form::Lists(lists) = row.form { lists } else { &[] };
        for part in parts {
            let list = lists.iter().find(|list| list.name == part.list);
            let dot = if part.list.is_empty() { "" } else { "." };
            self.sites.push(Site {
                slot,
                name: format!("{name}{dot}{}", part.list),
                row,
                record: part.record,
                bytes: bytes.clone(),
                range: part.range.start..part.range.start + part.count() * part.record.size,
                count_at: part.count_at,
                listed: list.map_or(row.order.listed, |list| list.listed),
                parallel: list.map_or(row.order.parallel, |list| list.parallel),
            });
        }
    }

    /// The site of a name.
    pub(crate) fn site(&self, name: &str) -> Option<usize> {
        self.sites.iter().position(|site| site.name == name)
    }

    /// The site that references to a lump lead to.
    pub(crate) fn referred(&self, lump: &str) -> Option<usize> {
        let other = self.replaced.iter().find(|(left_out, _)| *left_out == lump);
        let name = other.map_or(lump, |(_, other)| other);
        // Of several lists the last one has what the lump is named after.
        self.site(name).or_else(|| self.sites.iter().rposition(|site| site.row.lump == name))
    }

    fn compile(&mut self, bsp: &Bsp<'a>) {
        let referred = |name: &str| self.referred(name);
        let role = |role: Role| referred(bsp.dialect().lumps.get(bsp.dialect().role(role)?)?.name);
        let (nodes, leafs) = (role(Role::Nodes), role(Role::Leafs));
        let node_count = nodes.and_then(|nodes| i64::try_from(self.sites[nodes].len()).ok()).unwrap_or(0);
        let (mut links, mut offsets) = (Vec::new(), Vec::new());
        for (from, site) in self.sites.iter().enumerate() {
            let cells = Cell::all(site.record.fields);
            for cell in &cells {
                let target = |lump: &'static str| {
                    let instead = site.row.order.instead.iter().find(|(usual, _)| *usual == lump);
                    referred(instead.map_or(lump, |(_, other)| other))
                };
                let beside = |name: &str| {
                    let before = cell.path.rfind('.').map_or(0, |dot| dot + 1);
                    let path = format!("{}{name}", &cell.path[..before]);
                    cells.iter().find(|cell| cell.path == path).and_then(Word::of)
                };
                let word = match cell.shape {
                    Shape::Number(number) => Word { at: cell.place.start, number },
                    _ => Word { at: cell.place.start, number: Number::U8 },
                };
                let mut push = |to: Option<usize>, how: How, when: Option<When>| {
                    let field = cell.path.clone();
                    links.extend(to.map(|to| Link { from, to, field, word, how, when }));
                };
                let when = |count: Count, test: Test| Some(When { word: beside(count.field)?, count, test });
                match cell.meaning {
                    Meaning::Index { lump, none } => push(target(lump), How::Index(none), None),
                    Meaning::Perhaps { lump } => push(target(lump), How::Perhaps, None),
                    Meaning::Signed { lump } => push(target(lump), How::Signed, None),
                    Meaning::Bits { lump, mask } => push(target(lump), How::Bits(mask), None),
                    Meaning::Branch { lump } => push(target(lump), How::Node, None),
                    Meaning::Next { lump } => push(target(lump), How::Next, None),
                    Meaning::Share { lump, skip } => push(target(lump), How::Share(skip), None),
                    Meaning::Starred { lump } => push(target(lump), How::Starred(cell.shape.size()), None),
                    Meaning::Child => {
                        push(nodes, How::Node, None);
                        push(leafs, How::Leaf(node_count), None);
                    }
                    Meaning::Run { lump, count, order } => {
                        let Some(word) = beside(count.field) else { continue };
                        push(target(lump), How::Run(word, count, order), None);
                    }
                    Meaning::RunOr { lump, count, order, unless, other } => {
                        let Some(word) = beside(count.field) else { continue };
                        push(target(lump), How::Run(word, count, order), when(count, Test::IsNot(unless)));
                        push(target(other), How::Perhaps, when(count, Test::Is(unless)));
                    }
                    Meaning::Either { by, lists: [first, second] } => {
                        let by = Count::number(by);
                        push(target(first), How::Index(&[]), when(by, Test::Is(0)));
                        push(target(second), How::Index(&[]), when(by, Test::IsNot(0)));
                    }
                    Meaning::Items { lump, count } => {
                        let Some(item) = item(&cell.path) else { continue };
                        let array = &cell.path[..cell.path.rfind('[').unwrap_or(0)];
                        let before = array.rfind('.').map_or(0, |dot| dot + 1);
                        let path = format!("{}{}", &array[..before], count.field);
                        let Some(word) = cells.iter().find(|cell| cell.path == path).and_then(Word::of) else {
                            continue;
                        };
                        let test = Test::Above(item);
                        push(target(lump), How::Item(word, count), Some(When { word, count, test }));
                    }
                    Meaning::Offset { lump } => {
                        let instead = site.row.order.instead.iter().find(|(usual, _)| *usual == lump);
                        offsets.push(instead.map_or(lump, |(_, other)| other));
                    }
                    _ => {}
                }
            }
        }
        self.links = links;
        self.offsets = offsets;
    }
}

/// The number of an item in a path: 3 of `faces[3]`.
fn item(path: &str) -> Option<i64> {
    path.strip_suffix(']')?.rsplit_once('[')?.1.parse().ok()
}
