//! Records: values of one side put into the lists as the other side has them, record by record and field by field.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::light::{self, Light};
use super::values::Value;
use super::{Conflict, Desk, Side, Sides, Subject, is_same, twin};
use crate::align::lists::{Lists, motions};
use crate::align::moves::{self, GONE, LOST, Marks, Moves};
use crate::align::units::{Numbers, Unit};
use crate::luxels::offsets;
use bspkit::bytes::word;
use bspkit::content::pak::Pak;
use bspkit::dialect::{Role, VisModel};
use bspkit::file::{Slot, SlotId};
use bspkit::links::Links;
use bspkit::record::{Cell, Meaning, Shape};
use bspkit::{Bsp, Result};

/// The lists of the base and of both sides, and who has moved records of which.
pub(super) struct Records<'l, 'm, 'a> {
    /// The base, ours, theirs.
    sides: [&'l Lists<'m, 'a>; 3],
    units: [Vec<Vec<Unit<'l>>>; 3],
    /// How the merged map orders each list; `None` where no records moved.
    orders: Vec<Option<Order>>,
    /// Whether both sides moved the records, each in its own way, and it is not clear what both together are.
    is_torn: Vec<bool>,
    /// Lumps of light that both sides changed.
    light: BTreeMap<String, Light>,
}

/// The records of a list in the order of the merged map.
struct Order {
    leader: Leader,
    /// For each record its number in the base, ours and theirs; [`GONE`] where a map has none.
    rows: Vec<[usize; 3]>,
    /// How numbers of the base, ours and theirs become those of the merged map; `None` where they stay. Maps with the
    /// same numbers share it.
    numbers: [Option<Rc<Moves>>; 3],
    /// Where ours and theirs have the records of the base; `None` for a side that did not move any.
    own: [Option<Rc<Moves>>; 2],
}

/// Who moved the records of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leader {
    /// One side: 1 or 2.
    One(usize),
    /// Both, alike.
    Both,
    /// Each in its own way.
    Each,
}

impl Order {
    /// The order of one side.
    fn of(side: usize, moves: &Moves) -> Self {
        let row = |(at, old): (usize, &usize)| {
            let mut row = [if *old < LOST { *old } else { GONE }; 3];
            row[side] = at;
            row
        };
        let rows = moves.from.iter().enumerate().map(row).collect();
        let moves = Some(Rc::new(moves.clone()));
        let numbers = [0, 1, 2].map(|one| moves.clone().filter(|_| one != side));
        let own = [1, 2].map(|one| moves.clone().filter(|_| one == side));
        Order { leader: Leader::One(side), rows, numbers, own }
    }

    /// That of both sides, which moved the records alike.
    fn alike(moves: &Moves) -> Self {
        let rows = moves.from.iter().enumerate().map(|(at, old)| [if *old < LOST { *old } else { GONE }, at, at]);
        let (rows, moves) = (rows.collect(), Some(Rc::new(moves.clone())));
        Order { leader: Leader::Both, rows, numbers: [moves.clone(), None, None], own: [moves.clone(), moves] }
    }

    /// What both sides did to the records, together.
    fn woven(ours: &Moves, theirs: &Moves) -> Option<Self> {
        let rows = moves::woven(ours, theirs)?;
        let lens = [ours.place.len(), ours.from.len(), theirs.from.len()];
        let numbers = [0, 1, 2].map(|side: usize| {
            let mut place = vec![GONE; lens[side]];
            for (at, row) in rows.iter().enumerate() {
                if let Some(place) = place.get_mut(row[side]) {
                    *place = at;
                }
            }
            let moves = Moves::new(place, rows.len());
            Some(Rc::new(match side {
                0 => moves,
                1 => moves.with_names(ours),
                _ => moves.with_names(theirs),
            }))
        });
        let own = [ours, theirs].map(|moves| Some(Rc::new(moves.clone())));
        Some(Order { leader: Leader::Each, rows, numbers, own })
    }

    /// Whether a side has the order already.
    fn is_of(&self, side: usize) -> bool {
        match self.leader {
            Leader::One(leader) => leader == side,
            Leader::Both => side > 0,
            Leader::Each => false,
        }
    }

    /// Whether both sides have the same records.
    fn is_alike(&self) -> bool {
        self.leader == Leader::Both
    }
}

/// A number that is read only together with a lump without records.
struct Tie {
    cell: Cell,
    /// Whether ours and theirs change the lump.
    changed: [bool; 2],
    lump: String,
}

impl<'l, 'm, 'a> Records<'l, 'm, 'a> {
    /// `None` if a side has other lists than the base, or records with other fields.
    pub(super) fn of(maps: &Sides<'_, 'a>, sides: [&'l Lists<'m, 'a>; 3], desk: &mut Desk<'_>) -> Result<Option<Self>> {
        let [base, ours, theirs] = sides;
        if !base.is_like(ours) || !base.is_like(theirs) {
            return Ok(None);
        }
        let (mine, other) = (motions(base, ours)?, motions(base, theirs)?);
        let count = base.lens.len();
        let mut is_torn = vec![false; count];
        let slot_of = |site: usize| base.links.sites[site].slot;
        // All lists of a lump are as one side has them.
        let moves = |motions: &[Option<Moves>], site: usize| {
            (0..count).any(|other| slot_of(other) == slot_of(site) && motions[other].is_some())
        };
        let mut orders = Vec::with_capacity(count);
        for site in 0..count {
            let order = match (moves(&mine, site), moves(&other, site)) {
                (true, true) if mine[site] == other[site] && ours.lens[site] == theirs.lens[site] => {
                    mine[site].as_ref().map(Order::alike)
                }
                (true, true) => {
                    let both = mine[site].as_ref().zip(other[site].as_ref());
                    let both = both.filter(|_| base.may_weave(site, &mine, &other));
                    let woven = both.and_then(|(ours, theirs)| Order::woven(ours, theirs));
                    woven.or_else(|| {
                        is_torn[site] = true;
                        mine[site].as_ref().map(|moves| Order::of(1, moves))
                    })
                }
                (true, false) => mine[site].as_ref().map(|moves| Order::of(1, moves)),
                (false, true) => other[site].as_ref().map(|moves| Order::of(2, moves)),
                (false, false) => None,
            };
            orders.push(order);
        }
        let units = sides.map(Lists::units);
        let own = |site: usize| {
            let order = orders[site].as_ref();
            let moves = |side: usize| order.and_then(|order| order.own[side].as_deref());
            (!is_torn[site]).then(|| [moves(0), moves(1)])
        };
        let light = light::merge(maps, base, own)?;
        for site in 0..count {
            // Luxels go where their faces go, and not by what they have.
            let is_lit = light.values().any(|light| light.slot == slot_of(site));
            if is_lit {
                (orders[site], is_torn[site]) = (None, false);
            }
            if is_torn[site] {
                let message = "both sides add, remove or move its records";
                let counts = sides.map(|side| side.lens[site]);
                desk.push(Conflict::lump(&base.links.sites[site].name, message).counted(counts));
            }
        }
        Ok(Some(Records { sides, units, orders, is_torn, light }))
    }

    /// The references of one map.
    pub(super) fn links(&self, side: usize) -> &'l Links<'a> {
        &self.sides[side].links
    }

    /// The slots with light that both sides changed, and what they become.
    pub(super) fn light(&self) -> impl Iterator<Item = (SlotId, Vec<u8>)> {
        self.light.values().map(|light| (light.slot, light.bytes.clone()))
    }

    /// How a side's numbers of records become those of the merged map.
    fn numbers(&self, side: usize) -> Vec<Option<&Moves>> {
        self.orders.iter().map(|order| order.as_ref()?.numbers[side].as_deref()).collect()
    }

    /// Whether any record has moved.
    pub(super) fn is_still(&self) -> bool {
        self.orders.iter().all(Option::is_none)
    }

    /// The moves of the list that values of entities and blocks name, for one side.
    pub(super) fn moves_of(&self, lump: &str, side: usize) -> Option<&Moves> {
        let site = self.sides[side].links.referred(lump)?;
        self.numbers(side)[site]
    }

    /// The lists that a slot has.
    fn lists(&self, slot: SlotId) -> Vec<usize> {
        let sites = self.sides[0].links.sites.iter().enumerate();
        sites.filter(|(_, site)| site.slot == slot).map(|(index, _)| index).collect()
    }

    /// The lists whose records moved that a lump without records refers to, with their orders.
    fn referred(&self, slot: &Slot) -> Vec<(usize, &Order)> {
        let links = &self.sides[0].links;
        let moved = self.orders.iter().enumerate().filter_map(|(site, order)| Some((site, order.as_ref()?)));
        let names = |site: usize| {
            let is_it = |lump: &str| links.referred(lump) == Some(site);
            links.blocks.iter().any(|(id, _, blocks)| *id == slot.id && is_it(blocks.lump))
                || links.places.iter().any(|(id, _, lump, _)| *id == slot.id && is_it(lump))
                || links.parts.iter().any(|(id, _, parallel)| *id == slot.id && is_it(parallel.lump))
                || links.doubts(site).any(|(name, _)| name == slot.name)
        };
        let is_it = |(site, order): &(usize, &Order)| {
            !order.is_alike() && (names(*site) || self.is_visibility(slot, *site, order))
        };
        moved.filter(is_it).collect()
    }

    /// Whether a slot has rows for leafs that moved.
    fn is_visibility(&self, slot: &Slot, site: usize, order: &Order) -> bool {
        let map = self.sides[0].map;
        let VisModel::Leafs(model) = map.dialect().visibility else { return false };
        let role = |role: Role| map.role(role).map(|slot| slot.id);
        if role(Role::Visibility) != Some(slot.id) || role(Role::Leafs) != Some(self.sides[0].links.sites[site].slot) {
            return false;
        }
        let models = role(Role::Models).and_then(|models| map.little_endian(models).ok());
        let count = models.and_then(|models| word(&models, model.count_at));
        let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        // The first leaf is solid, and has no row.
        order.own.iter().flatten().any(|moves| !moves.keeps(count.saturating_add(1)))
    }

    /// The side whose content of a lump without records is right in the merged map: the one that changed it, if the
    /// other side did not move records to which it refers.
    pub(super) fn right(&self, slot: &Slot, changed: [bool; 2]) -> Option<Side> {
        let moved = self.referred(slot);
        let is_right = |side: usize| moved.iter().all(|(_, order)| order.is_of(side));
        match changed {
            [true, false] if is_right(1) => Some(Side::Ours),
            [false, true] if is_right(2) => Some(Side::Theirs),
            [false, false] if is_right(1) => Some(Side::Ours),
            [false, false] if is_right(2) => Some(Side::Theirs),
            _ => None,
        }
    }

    /// As [`Self::right`], and ours if both sides changed it. `None` is a conflict.
    pub(super) fn beside(&self, slot: &Slot, changed: [bool; 2], desk: &mut Desk<'_>) -> Option<Side> {
        let side = if changed == [true, true] { Some(Side::Ours) } else { self.right(slot, changed) };
        if side.is_none() {
            let moved = self.referred(slot);
            let names: Vec<&str> =
                moved.iter().map(|(site, _)| self.sides[0].links.sites[*site].name.as_str()).collect();
            let names = names.join(" and ");
            desk.refuse(&slot.name, format!("it refers to records of {names}, which a side moves: it cannot follow"));
        }
        side
    }

    /// Embedded files that are named by the number of a record: a side that changes one, and the other side moved the
    /// records.
    pub(super) fn files(&self, sides: &Sides<'_, 'a>, desk: &mut Desk<'_>) {
        let Ok(base) = sides.base.lens::<Pak<'_>>() else { return };
        let moved = self.orders.iter().enumerate().filter_map(|(site, order)| Some((site, order.as_ref()?)));
        let maps = [sides.ours, sides.theirs];
        for (site, side) in moved.flat_map(|(site, order)| {
            let others = [1, 2].into_iter().filter(|side| !order.is_of(*side));
            others.map(move |side| (site, side))
        }) {
            let list = &self.sides[0].links.sites[site];
            let Ok(pak) = maps[side - 1].lens::<Pak<'_>>() else { continue };
            let is_its = |name: &[u8]| {
                list.files.iter().any(|(before, after)| {
                    let name = name.to_ascii_lowercase();
                    name.starts_with(&before.as_bytes().to_ascii_lowercase())
                        && name.ends_with(&after.as_bytes().to_ascii_lowercase())
                })
            };
            let files = |pak: &Pak<'_>| -> Vec<(Vec<u8>, u32)> {
                let its = pak.iter().filter(|entry| is_its(entry.name()));
                let mut all: Vec<_> = its.map(|entry| (entry.name().to_ascii_lowercase(), entry.crc())).collect();
                all.sort();
                all
            };
            if !list.files.is_empty() && files(&base) != files(&pak) {
                let message = format!(
                    "a side changes files that are named by the records of {}, and the other side moves these",
                    list.name
                );
                desk.refuse("PAKFILE", message);
            }
        }
    }

    /// Whether the records of a slot have to be put together one by one, if that side's are taken otherwise.
    pub(super) fn is_touched(&self, slot: SlotId, side: Side) -> bool {
        let side = index(side);
        let numbers = self.numbers(side);
        let is_lit = |site: usize| {
            let own = &self.sides[side].links.sites[site];
            self.light.keys().any(|lump| !offsets(self.sides[side].map, own, lump).is_empty())
        };
        let lists = self.lists(slot);
        let mut units = lists.iter().flat_map(|site| &self.units[side][*site]);
        units.any(|unit| unit.targets().any(|to| numbers[to].is_some())) || lists.iter().any(|site| is_lit(*site))
    }

    pub(super) fn has(&self, slot: SlotId) -> bool {
        !self.lists(slot).is_empty()
    }

    /// For each record of a slot in the merged map its number in the base, ours and theirs; [`GONE`] where a map has
    /// none. `None` if no records moved.
    pub(super) fn rows(&self, slot: SlotId) -> Option<&[[usize; 3]]> {
        self.lists(slot).into_iter().find_map(|site| Some(&self.orders[site].as_ref()?.rows[..]))
    }

    /// Where a side has a record of the base; [`GONE`] if it has removed it.
    pub(super) fn place(&self, slot: SlotId, side: Side, old: usize) -> usize {
        let own = |site: usize| self.orders[site].as_ref()?.own[index(side) - 1].as_ref();
        self.lists(slot).into_iter().find_map(own).map_or(old, |moves| moves.place.get(old).copied().unwrap_or(GONE))
    }

    /// Whether both sides moved records of a slot, and it is a conflict.
    pub(super) fn is_torn(&self, slot: SlotId) -> bool {
        self.lists(slot).into_iter().any(|site| self.is_torn[site])
    }

    /// The side that moved records of a slot.
    pub(super) fn leader(&self, slot: SlotId) -> Option<Side> {
        let order = self.lists(slot).into_iter().find_map(|site| self.orders[site].as_ref());
        order.map(|order| if order.leader == Leader::One(2) { Side::Theirs } else { Side::Ours })
    }

    /// Whether each side moved records of a slot in its own way.
    pub(super) fn is_woven(&self, slot: SlotId) -> bool {
        let is_woven = |order: &Order| order.leader == Leader::Each;
        self.lists(slot).into_iter().any(|site| self.orders[site].as_ref().is_some_and(is_woven))
    }

    /// The little-endian bytes of a slot with the changes of both sides.
    pub(super) fn merge(&self, sides: &Sides<'_, 'a>, slot: &Slot, from: Side, desk: &mut Desk<'_>) -> Result<Vec<u8>> {
        let lists = self.lists(slot.id);
        let around = [0, 1, 2].map(|side| self.around(side, &lists));
        let mut lead = index(from);
        let is_changed = |side: usize| around[side] != around[0];
        // Where both sides have one order of records, the bytes around them are those of the side that changed them.
        let is_alike = || lists.iter().filter_map(|site| self.orders[*site].as_ref()).all(Order::is_alike);
        if is_changed(3 - lead) && !is_changed(lead) && is_alike() {
            lead = 3 - lead;
        }
        let other = 3 - lead;
        let Some(first) = lists.first().map(|site| &self.sides[lead].links.sites[*site]) else { return Ok(Vec::new()) };
        // A list that both sides moved is the only one of its lump.
        let woven =
            lists.iter().find_map(|site| self.orders[*site].as_ref().filter(|order| order.leader == Leader::Each));
        let mut merged = match woven {
            Some(order) => vec![0; order.rows.len() * first.record.size],
            None => first.bytes.to_vec(),
        };
        // What is put together record by record has the records alone.
        let is_lost = woven.is_some() && is_changed(lead);
        if is_lost || is_changed(other) && around[other] != around[lead] {
            let message = match is_changed(lead) && is_changed(other) {
                true => "their side and ours change the bytes around its records",
                false => "one side changes the bytes around its records, and the other one moves these",
            };
            desk.refuse(&slot.name, message);
        }
        for site in lists.into_iter().filter(|site| !self.is_torn[*site]) {
            let range = match woven {
                Some(_) => 0..merged.len(),
                None => self.sides[lead].links.sites[site].range.clone(),
            };
            self.list(sides, site, [lead, other], &mut merged[range], desk)?;
        }
        Ok(merged)
    }

    /// The bytes of a slot that belong to no record.
    fn around(&self, side: usize, lists: &[usize]) -> Vec<u8> {
        let mut ranges: Vec<_> = lists.iter().map(|site| &self.sides[side].links.sites[*site]).collect();
        ranges.sort_by_key(|site| site.range.start);
        let (mut bytes, mut at) = (Vec::new(), 0);
        for site in &ranges {
            bytes.extend_from_slice(site.bytes.get(at..site.range.start).unwrap_or_default());
            if let Some(count) = site.count_at.filter(|count| (at..site.range.start).contains(count)) {
                let from = bytes.len() - (site.range.start - count);
                bytes[from..from + 4].fill(0);
            }
            at = site.range.end;
        }
        bytes.extend(ranges.first().and_then(|site| site.bytes.get(at..)).unwrap_or_default());
        bytes
    }

    /// The numbers of a list that are read together with lumps without records.
    fn ties(&self, sides: &Sides<'_, '_>, site: usize) -> Vec<Tie> {
        let own = &self.sides[0].links.sites[site];
        let visibility = sides.base.role(Role::Visibility).map(|slot| slot.name.clone());
        let is_matrix = !matches!(sides.base.dialect().visibility, VisModel::Leafs(_));
        let mut ties = Vec::new();
        for cell in Cell::all(own.record.fields) {
            let lumps = match cell.meaning {
                Meaning::Offset { lump } => {
                    sides.base.offset_lumps(own.row, lump).into_iter().map(str::to_owned).collect()
                }
                Meaning::Plain if cell.path == "cluster" && is_matrix => visibility.iter().cloned().collect(),
                _ => Vec::new(),
            };
            for lump in lumps {
                let Ok(slot) = sides.base.slot(&lump) else { continue };
                // How a lump is compressed says nothing of what it is.
                let is_alike = |one: &Bsp<'_>, other: &Bsp<'_>| {
                    let both = twin(one, slot).zip(twin(other, slot));
                    both.is_some_and(|(own, twin)| {
                        let contents = || one.bytes(own.id).ok().zip(other.bytes(twin.id).ok());
                        is_same(one, own, other, twin) || contents().is_some_and(|(one, other)| one == other)
                    })
                };
                if is_alike(sides.ours, sides.theirs) || self.light.contains_key(&lump) {
                    continue;
                }
                let changed = [sides.ours, sides.theirs].map(|side| !is_alike(sides.base, side));
                ties.push(Tie { cell: cell.clone(), changed, lump });
            }
        }
        ties
    }

    fn list(
        &self,
        sides: &Sides<'_, 'a>,
        site: usize,
        [lead, other]: [usize; 2],
        merged: &mut [u8],
        desk: &mut Desk<'_>,
    ) -> Result<()> {
        let all = [0, 1, 2].map(|side| &self.sides[side].links.sites[site]);
        let size = all[0].record.size;
        let name = &all[0].name;
        let ties = self.ties(sides, site);
        let light = self.light.iter().map(|(lump, light)| (light, offsets(sides.base, all[0], lump)));
        let light: Vec<(&Light, Vec<usize>)> = light.filter(|(_, fields)| !fields.is_empty()).collect();
        // A record as a map has it, with offsets of light as the merged map has them.
        let record = |side: usize, place: usize| {
            let mut record = Cow::from(all[side].record(place));
            for (light, fields) in &light {
                light.put(side, fields, record.to_mut());
            }
            record
        };
        let numbers = [0, 1, 2].map(|side| self.numbers(side));
        let hidden = vec![false; self.orders.len()];
        let of_unit = |cell: &Cell| {
            self.units[0][site].iter().any(|unit| {
                unit.bytes.iter().any(|bytes| bytes.start <= cell.place.start && cell.place.end <= bytes.end)
            })
        };
        let plain: Vec<Cell> = Cell::all(all[0].record.fields).into_iter().filter(|cell| !of_unit(cell)).collect();
        let targets = || self.units[0][site].iter().flat_map(Unit::targets);
        let is_same = |one: Option<&Moves>, other: Option<&Moves>| match (one, other) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let is_alike = [0, 1, 2].map(|side: usize| targets().all(|to| is_same(numbers[0][to], numbers[side][to])));
        let is_renumbered = [0, 1, 2].map(|side: usize| targets().any(|to| numbers[side][to].is_some()));
        let values = Value::all(&plain);
        let (numbers, hidden, plain, values, ties) = (&numbers, &hidden[..], &plain[..], &values[..], &ties[..]);
        let row = Row { records: self, site, numbers, hidden, plain, values, ties, name, is_alike, is_renumbered };
        let order = self.orders[site].as_ref();
        for (at, out) in merged.chunks_exact_mut(size).enumerate() {
            let places = order.map_or([at; 3], |order| order.rows.get(at).copied().unwrap_or([GONE; 3]));
            let is_there = |side: usize| places[side] < LOST;
            let first = if is_there(lead) { lead } else { other };
            out.copy_from_slice(&record(first, places[first]));
            if places.iter().all(|place| *place < LOST) {
                let three = [0, 1, 2].map(|side| record(side, places[side]));
                row.merge(places[0], three.each_ref().map(|record| &record[..]), [lead, other], out, desk);
            } else {
                let theirs = is_there(3 - first).then(|| record(3 - first, places[3 - first]));
                row.new_one(places[first], [first, 3 - first], theirs.as_deref(), out, desk);
            }
        }
        let Some(own) = order.filter(|order| !order.is_alike()).map(|order| &order.own) else { return Ok(()) };
        for (side, moves) in own.iter().enumerate().filter_map(|(side, moves)| Some((side + 1, moves.as_ref()?))) {
            let place = |old: usize| own[2 - side].as_ref().map_or(old, |moves| moves.place[old]);
            for old in (0..all[0].len()).filter(|old| moves.place[*old] >= LOST && place(*old) < LOST) {
                if row.has_changed(&record(0, old), &record(3 - side, place(old)), 3 - side) {
                    let [mine, theirs] = if side == 1 { ["our", "theirs"] } else { ["their", "ours"] };
                    let message = format!("{mine} side removes or replaces it, and {theirs} changes it");
                    let subject = Subject::Record(name.clone(), old, String::new());
                    desk.push(Conflict { subject, ..Conflict::lump(name, message) });
                }
            }
        }
        Ok(())
    }
}

pub(super) fn index(side: Side) -> usize {
    Side::ALL.iter().position(|one| *one == side).unwrap_or(0)
}

/// What the records of a list are merged with.
struct Row<'r, 'l, 'm, 'a> {
    records: &'r Records<'l, 'm, 'a>,
    site: usize,
    numbers: &'r [Vec<Option<&'r Moves>>; 3],
    hidden: &'r [bool],
    plain: &'r [Cell],
    /// The same cells as values.
    values: &'r [Value],
    ties: &'r [Tie],
    name: &'r str,
    /// For each side, whether it has the numbers of the base for all that the list refers to, and whether some of its
    /// numbers are others in the merged map.
    is_alike: [bool; 3],
    is_renumbered: [bool; 3],
}

impl Row<'_, '_, '_, '_> {
    fn lens(&self, side: usize) -> &[usize] {
        &self.records.sides[side].lens
    }

    fn numbers(&self, side: usize) -> &Numbers<'_> {
        &self.numbers[side]
    }

    fn meaning(&self, unit: usize, side: usize, record: &[u8]) -> Vec<i64> {
        let mut meaning = Vec::new();
        let own = &self.records.units[side][self.site][unit];
        own.meaning(record, self.lens(side), self.numbers(side), self.hidden, Marks::Exact, &mut meaning);
        meaning
    }

    /// Whether a side changed a record that the other side removed.
    fn has_changed(&self, base: &[u8], record: &[u8], side: usize) -> bool {
        let units = 0..self.records.units[0][self.site].len();
        // An offset in a lump that the side changed is another one for this alone.
        let is_moved = |cell: &Cell| self.ties.iter().any(|tie| tie.cell == *cell && tie.changed[side - 1]);
        let differs = |cell: &&Cell| base[cell.place.clone()] != record[cell.place.clone()];
        self.plain.iter().filter(differs).any(|cell| !is_moved(cell))
            || units.into_iter().any(|unit| self.meaning(unit, 0, base) != self.meaning(unit, side, record))
    }

    fn conflict(&self, old: usize, field: &str, message: String, values: [Option<Vec<u8>>; 3]) -> Conflict {
        Conflict::lump(self.name, message).with(Subject::Record(self.name.to_owned(), old, field.to_owned()), values)
    }

    fn merge(&self, old: usize, three: [&[u8]; 3], [lead, other]: [usize; 2], out: &mut [u8], desk: &mut Desk<'_>) {
        let units = &self.records.units;
        if three[other] == three[0] && self.is_alike[other] && !self.is_renumbered[lead] {
            return;
        }
        for value in self.values {
            let differs = |one: usize, other: usize| value.differs(three[one], three[other]);
            if differs(1, 2) && differs(0, 1) && differs(0, 2) {
                let message = format!("both sides change `{}`", value.name);
                let cells: Vec<&Cell> = value.cells.iter().collect();
                let side = desk.decide(self.conflict(old, &value.name, message, self.texts(&three, &cells)));
                value.copy(three[index(side)], out);
            } else if differs(other, 0) {
                value.copy(three[other], out);
            }
        }
        for tie in self.ties {
            let changed = [1, 2].map(|side| three[side][tie.cell.place.clone()] != three[0][tie.cell.place.clone()]);
            self.tie(old, tie, changed, desk);
        }
        for (unit, own) in units[lead][self.site].iter().enumerate() {
            let meaning = [0, 1, 2].map(|side| self.meaning(unit, side, three[side]));
            let is_lead = meaning[other] == meaning[0] || meaning[other] == meaning[lead];
            // Of two that mean the same, the one that can be said in the merged map.
            let both = [lead, other];
            let from: &[usize] = match (is_lead, meaning[lead] == meaning[0]) {
                (true, _) if meaning[other] == meaning[lead] => &both,
                (true, _) => &both[..1],
                (false, true) => &both[1..],
                (false, false) => &[],
            };
            let values = || {
                let is_within = |cell: &&Cell| {
                    own.bytes.iter().any(|place| place.start <= cell.place.start && cell.place.end <= place.end)
                };
                let cells = Cell::all(self.records.sides[0].links.sites[self.site].record.fields);
                self.texts(&three, &cells.iter().filter(is_within).collect::<Vec<_>>())
            };
            if from.is_empty() {
                let message = format!("both sides change `{}`", own.name());
                let side = index(desk.decide(self.conflict(old, own.name(), message, values())));
                if let Err(why) = self.put(unit, side, three[side], out) {
                    desk.push(self.dangling(old, own.name(), side, &why, values()));
                }
                continue;
            }
            let mut why = None;
            let is_done = from
                .iter()
                .any(|side| self.put(unit, *side, three[*side], out).map_err(|error| why = Some(error)).is_ok());
            if let Some(why) = why.filter(|_| !is_done) {
                desk.push(self.dangling(old, own.name(), from[0], &why, values()));
            }
        }
    }

    fn put(&self, unit: usize, side: usize, record: &[u8], out: &mut [u8]) -> std::result::Result<(), String> {
        self.records.units[side][self.site][unit].put(record, self.lens(side), self.numbers(side), out)
    }

    fn texts(&self, three: &[&[u8]; 3], cells: &[&Cell]) -> [Option<Vec<u8>>; 3] {
        let map = self.records.sides[0].map;
        let names = map.dialect().game(map.version()).flags;
        three.map(|record| {
            let texts: Vec<String> = cells.iter().map(|cell| cell.print(record, names).to_string()).collect();
            Some(texts.join(" ").into_bytes())
        })
    }

    fn dangling(&self, old: usize, field: &str, side: usize, why: &str, values: [Option<Vec<u8>>; 3]) -> Conflict {
        let whose = if side == 1 { "our" } else { "their" };
        let message = format!("`{field}` of {whose} side cannot follow: {why}");
        Conflict { can_settle: false, ..self.conflict(old, field, message, values) }
    }

    /// A number of one side that is read with a lump of the other one.
    fn tie(&self, record: usize, tie: &Tie, changed: [bool; 2], desk: &mut Desk<'_>) {
        for (side, whose) in [(0, "our"), (1, "their")] {
            if changed[side] && tie.changed[1 - side] {
                let message = format!("{whose} side changes `{}`, and the other side {}", tie.cell.path, tie.lump);
                let subject = Subject::Record(self.name.to_owned(), record, tie.cell.path.clone());
                desk.push(Conflict { subject, ..Conflict::lump(self.name, message) });
            }
        }
    }

    /// A record that is new.
    fn new_one(
        &self,
        at: usize,
        [lead, other]: [usize; 2],
        theirs: Option<&[u8]>,
        out: &mut [u8],
        desk: &mut Desk<'_>,
    ) {
        let record = out.to_vec();
        let units = 0..self.records.units[0][self.site].len();
        let mut say = |message: String| {
            let subject = Subject::Record(self.name.to_owned(), at, String::new());
            desk.push(Conflict { subject, ..Conflict::lump(self.name, message) });
        };
        if let Some(theirs) = theirs {
            let differs = self.plain.iter().any(|cell| theirs[cell.place.clone()] != record[cell.place.clone()])
                || units.clone().any(|unit| self.meaning(unit, lead, &record) != self.meaning(unit, other, theirs));
            if differs {
                say("both sides add it, with other values".to_owned());
            }
        }
        let whose = if lead == 1 { "our" } else { "their" };
        for unit in units {
            if let Err(why) = self.put(unit, lead, &record, out) {
                let name = self.records.units[lead][self.site][unit].name();
                say(format!("`{name}` of the new record of {whose} side cannot follow: {why}"));
            }
        }
        // A negative number says that there is nothing.
        let names = |tie: &&Tie| match tie.cell.shape {
            Shape::Number(number) => number.integer(&record[tie.cell.place.clone()]).is_none_or(|number| number >= 0),
            _ => true,
        };
        for tie in self.ties.iter().filter(|tie| theirs.is_none() && tie.changed[other - 1]).filter(names) {
            say(format!("{whose} side adds it with `{}`, and the other side changes {}", tie.cell.path, tie.lump));
        }
    }
}
