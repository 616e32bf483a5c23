//! The numbers of a record that mean something only together, and whether lumps of different sides fit together.

use std::collections::HashSet;
use std::ops::Range;

use super::moves::{Marks, Moves};
use super::{Conflict, Sides, is_same, twin};
use crate::check;
use bspkit::dialect::Row;
use bspkit::file::{Layout, Slot};
use bspkit::finding::Finding;
use bspkit::links::{How, Link, Links, Word};
use bspkit::record::{CountForm, Meaning};
use bspkit::{Bsp, Draft, Result};

// The numbers of a record that name records of other lists: those that mean something only together are one unit.

/// Numbers that are read together: an index, a run and its count, an array and the number of its items.
pub(super) struct Unit<'l> {
    links: Vec<&'l Link>,
    words: Vec<Word>,
    /// Their bytes in the record.
    pub(super) bytes: Vec<Range<usize>>,
}

/// The new places of each list's records, by the number of the list; `None` where numbers stay.
pub(super) type Numbers<'m> = [Option<&'m Moves>];

/// The units of the records of a list.
pub(super) fn units<'l>(links: &'l Links<'_>, from: usize) -> Vec<Unit<'l>> {
    let mut units: Vec<Unit<'l>> = Vec::new();
    for link in links.links.iter().filter(|link| link.from == from) {
        let mut own = Unit { links: Vec::new(), words: link.words(), bytes: vec![link.place()] };
        own.bytes.extend(own.words.iter().map(|word| word.at..word.at + word.number.size()));
        let touches = |unit: &Unit<'_>| {
            let overlaps = |one: &Range<usize>, other: &Range<usize>| one.start < other.end && other.start < one.end;
            unit.bytes.iter().any(|one| own.bytes.iter().any(|other| overlaps(one, other)))
        };
        let (together, rest): (Vec<_>, Vec<_>) = units.into_iter().partition(touches);
        units = rest;
        for unit in together {
            own.links.extend(unit.links);
            own.bytes.extend(unit.bytes);
            let new = unit.words.into_iter().filter(|word| own.words.iter().all(|own| own.at != word.at));
            let new: Vec<Word> = new.collect();
            own.words.extend(new);
        }
        own.links.push(link);
        units.push(own);
    }
    units
}

impl<'l> Unit<'l> {
    /// The path of the first field.
    pub(super) fn name(&self) -> &str {
        self.links.first().map_or("", |link| link.array())
    }

    /// Whether another unit has the same fields, of the same meaning.
    pub(super) fn is_like(&self, other: &Unit<'_>) -> bool {
        let both = self.links.iter().zip(&other.links);
        self.links.len() == other.links.len()
            && both.clone().all(|(one, two)| one.field == two.field && one.to == two.to)
    }

    /// The lists that it names records of.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        self.links.iter().map(|link| link.to)
    }

    /// What the numbers of a record mean, to be compared: two records of different maps have the same if they name the
    /// same records. Numbers that name records of lists in `hidden` are left out. `lens` has the numbers of records.
    pub(super) fn meaning(
        &self,
        record: &[u8],
        lens: &[usize],
        numbers: &Numbers<'_>,
        hidden: &[bool],
        marks: Marks,
        out: &mut Vec<i64>,
    ) {
        // The bits of each word that no link covers.
        let mut rest: Vec<i64> = self.words.iter().map(|word| word.get(record)).collect();
        for link in &self.links {
            let named = link.named(record, lens[link.to]);
            let is_item = matches!(link.how, How::Item(..));
            if !is_item || named.is_some() {
                out.push(i64::from(named.is_some()));
            }
            let Some((first, count)) = named else {
                match link.how {
                    How::Item(..) => self.cover(link, record, &mut rest),
                    How::Starred(_) => out.extend(record[link.place()].iter().map(|byte| i64::from(*byte))),
                    _ => {}
                }
                continue;
            };
            self.cover(link, record, &mut rest);
            if hidden[link.to] {
                continue;
            }
            match (link.how, numbers[link.to]) {
                (How::Run(..), Some(moves)) => out.extend(moves.marks(first, count, marks)),
                (How::Run(..), None) => out.extend([first, first.saturating_add(count - 1)]),
                (_, Some(moves)) => out.push(moves.mark(first, marks)),
                (_, None) => out.push(first),
            }
        }
        out.extend(rest);
    }

    /// Takes the bits that a link covers out of the words.
    fn cover(&self, link: &Link, record: &[u8], rest: &mut [i64]) {
        for (word, rest) in self.words.iter().zip(rest) {
            if word.at == link.word.at {
                *rest = match link.how {
                    How::Bits(mask) => *rest & !i64::from(mask),
                    How::Signed => i64::from(word.get(record) < 0),
                    _ => 0,
                };
            }
            if let How::Run(count, form, _) | How::Item(count, form) = link.how
                && count.at == word.at
            {
                match form.form {
                    CountForm::Number => *rest = 0,
                    CountForm::Bits { mask, .. } => *rest &= !i64::from(mask),
                    _ => {}
                }
            }
        }
    }

    /// Puts the numbers of a record of one side into the merged one, as the merged map numbers records.
    pub(super) fn put(
        &self,
        record: &[u8],
        lens: &[usize],
        numbers: &Numbers<'_>,
        merged: &mut [u8],
    ) -> Result<(), String> {
        for bytes in &self.bytes {
            merged[bytes.clone()].copy_from_slice(&record[bytes.clone()]);
        }
        let mut items: Vec<&'l Link> = Vec::new();
        let mut kept = Vec::new();
        for link in &self.links {
            let Some(moves) = numbers[link.to] else { continue };
            let Some((first, count)) = link.named(record, lens[link.to]) else {
                end_of_list(link, record, moves, merged);
                continue;
            };
            match link.how {
                How::Item(..) => {
                    items.push(link);
                    kept.push(moves.one(first)?);
                }
                How::Run(word, form, order) => {
                    let (first, many) = moves.run(first, count, order)?;
                    link.put(merged, first, lens[link.to])?;
                    if many != count {
                        let number = form.put(word.get(merged), many).filter(|number| word.put(merged, *number));
                        number.ok_or_else(|| format!("{many} records do not fit its count"))?;
                    }
                }
                _ => link.put(merged, moves.one(first)?, lens[link.to])?,
            }
        }
        items.into_iter().zip(kept).try_for_each(|(link, new)| link.put(merged, new, lens[link.to]))
    }
}

/// A run of no records begins at the end of the list if it would begin after that, which engines refuse.
fn end_of_list(link: &Link, record: &[u8], moves: &Moves, merged: &mut [u8]) {
    let wide = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let is_empty = matches!(link.how, How::Run(word, count, _) if count.of(word.get(record)) == 0);
    let (old, new) = (wide(moves.place.len()), wide(moves.from.len()));
    if is_empty && (new + 1..=old).contains(&link.word.get(record)) {
        let _ = link.word.put(merged, new);
    }
}

// Whether lumps of different sides fit together.

/// Lumps that one side changed whose records refer to those of a lump of which the other side changed the size: the
/// references name other records then.
pub(super) fn torn(sides: &Sides<'_, '_>) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    for (own, other, whose) in [(sides.ours, sides.theirs, "our"), (sides.theirs, sides.ours, "their")] {
        for slot in sides.base.slots() {
            let Some(changed) = twin(own, slot).filter(|twin| !is_same(sides.base, slot, own, twin)) else { continue };
            for target in targets(own, changed) {
                let resized = sides.base.slot(target).ok().filter(|slot| is_resized(sides.base, slot, other));
                if resized.is_some_and(|slot| !is_resized(sides.base, slot, own)) {
                    let message = format!(
                        "{whose} side changes it, and the other side the number of records of {target}, \
                         to which it refers"
                    );
                    conflicts.push(Conflict::lump(&slot.name, message));
                }
            }
        }
    }
    conflicts
}

/// The lumps that the records of a slot refer to.
fn targets(bsp: &Bsp<'_>, slot: &Slot) -> HashSet<&'static str> {
    let record = bsp.row(slot).ok().and_then(Row::record);
    let fields = record.iter().flat_map(|record| record.fields.iter());
    let lumps = fields.filter_map(|field| match field.meaning {
        Meaning::Run { lump, .. } => Some(lump),
        meaning => meaning.one().map(|(lump, _)| lump),
    });
    lumps.collect()
}

fn is_resized(base: &Bsp<'_>, slot: &Slot, side: &Bsp<'_>) -> bool {
    let size = |bsp: &Bsp<'_>, slot: &Slot| bsp.decompressed_size(slot.id).unwrap_or(slot.stored.len());
    twin(side, slot).is_some_and(|twin| size(base, slot) != size(side, twin))
}

/// Errors of the merged map that neither side has.
pub(super) fn introduced(sides: &Sides<'_, '_>, draft: &Draft<'_>) -> Result<Vec<Conflict>> {
    if draft.changes()?.is_empty() {
        return Ok(Vec::new());
    }
    let errors = |bsp: &Bsp<'_>| -> Result<Vec<Finding>> {
        let found = check::run(bsp, &check::Options::default())?;
        Ok(found.into_iter().filter(Finding::is_error).collect())
    };
    let bytes = draft.plan(Layout::Keep)?.to_vec();
    let merged = errors(&Bsp::from_data(bytes.into(), Some(sides.ours.dialect()))?)?;
    if merged.is_empty() {
        return Ok(Vec::new());
    }
    let key = |finding: &Finding| (finding.code.name, finding.place.lump.clone(), finding.message.clone());
    let known: HashSet<_> = errors(sides.ours)?.iter().chain(&errors(sides.theirs)?).map(key).collect();
    let new = merged.iter().filter(|finding| !known.contains(&key(finding)));
    let conflict = |finding: &Finding| {
        let message = format!("the merged map would have an error that neither side has: {}", finding.message);
        Conflict::lump(finding.place.lump.as_deref().unwrap_or_default(), message)
    };
    Ok(new.map(conflict).collect())
}
