//! The numbers of a record that name records of other lists: those that mean something only together are one unit.

use std::ops::Range;

use super::moves::{Marks, Moves};
use bspkit::links::{How, Link, Links, Word};
use bspkit::record::CountForm;

/// Numbers that are read together: an index, a run and its count, an array and the number of its items.
pub(crate) struct Unit<'l> {
    links: Vec<&'l Link>,
    words: Vec<Word>,
    /// Their bytes in the record.
    pub(crate) bytes: Vec<Range<usize>>,
}

/// The new places of each list's records, by the number of the list; `None` where numbers stay.
pub(crate) type Numbers<'m> = [Option<&'m Moves>];

/// The units of the records of a list.
pub(crate) fn units<'l>(links: &'l Links<'_>, from: usize) -> Vec<Unit<'l>> {
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
    pub(crate) fn name(&self) -> &str {
        self.links.first().map_or("", |link| link.array())
    }

    /// Whether another unit has the same fields, of the same meaning.
    pub(crate) fn is_like(&self, other: &Unit<'_>) -> bool {
        let both = self.links.iter().zip(&other.links);
        self.links.len() == other.links.len()
            && both.clone().all(|(one, two)| one.field == two.field && one.to == two.to)
    }

    /// What it says.
    pub(crate) fn links(&self) -> impl Iterator<Item = &'l Link> {
        self.links.iter().copied()
    }

    /// The lists that it names records of.
    pub(crate) fn targets(&self) -> impl Iterator<Item = usize> {
        self.links.iter().map(|link| link.to)
    }

    /// What the numbers of a record mean, to be compared: two records of different maps have the same if they name the
    /// same records. Numbers that name records of lists in `hidden` are left out. `lens` has the numbers of records.
    pub(crate) fn meaning(
        &self,
        record: &[u8],
        lens: &[usize],
        numbers: &Numbers<'_>,
        hidden: &[bool],
        marks: Marks<'_>,
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
                    // Where a run of no records begins says nothing.
                    How::Run(..) if is_empty_run(link, record) => {
                        self.cover(link, record, &mut rest);
                        if let Marks::Blurred(ends) = marks {
                            let end = i64::try_from(ends[link.to]).unwrap_or(i64::MAX);
                            out.push(link.word.get(record).min(end));
                        }
                    }
                    // Some tools write the number of records for none.
                    How::Perhaps if is_end(link, record, lens[link.to]) => self.cover(link, record, &mut rest),
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
    pub(crate) fn put(
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
                beyond(link, record, moves, merged);
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

/// Whether a link of a record is a run that names no records.
fn is_empty_run(link: &Link, record: &[u8]) -> bool {
    matches!(link.how, How::Run(word, count, _) if count.of(word.get(record)) == 0)
}

/// Whether a number is the number of records of the list, and so names none.
fn is_end(link: &Link, record: &[u8], len: usize) -> bool {
    link.applies(record) && i64::try_from(len) == Ok(link.word.get(record))
}

/// Moves a number that names no record, and stays so: the start of a run of no records to the end of the list if it
/// would be after that, which engines refuse; the number of records to that of the merged list.
fn beyond(link: &Link, record: &[u8], moves: &Moves, merged: &mut [u8]) {
    let wide = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let (old, new, number) = (wide(moves.place.len()), wide(moves.from.len()), link.word.get(record));
    let is_late = is_empty_run(link, record) && (new + 1..=old).contains(&number);
    let is_missing = matches!(link.how, How::Perhaps) && link.applies(record);
    if is_late || is_missing && (number == old || (old..new).contains(&number)) {
        let _ = link.word.put(merged, new);
    }
}
