//! Computes all that an edit changes, writes each list once, and puts all of it into the draft.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use super::cascade::Doubt;
use super::change::{self, Change, Source, Why};
use super::outside::{self, Files, Outside};
use super::{Edit, Followed, FollowedField, FollowedRecords, Options, cascade, refused};
use crate::bsp::Bsp;
use crate::bytes::{Data, Rope, short};
use crate::dialect::Each;
use crate::draft::Draft;
use crate::error::{Error, Hint, Result};
use crate::file::{Slot, SlotId};
use crate::links::{How, Link, Links, Site, Unless, plain};
use crate::record::{FieldInfo, Meaning, Order};

// Computes all that an edit changes, and puts it into the draft.

/// All lists that change, and the records that are new in them.
pub(super) struct Changes {
    pub(super) of: BTreeMap<usize, Change>,
    pub(super) fresh: BTreeMap<usize, Vec<u8>>,
    /// The new places of copies, by the old records, in lists that have any.
    copies: BTreeMap<usize, HashMap<usize, usize>>,
}

impl<'a> Draft<'a> {
    pub(super) fn follow(
        &mut self,
        options: &Options,
        plan: impl FnOnce(&Links<'a>) -> Result<Edit>,
    ) -> Result<Followed> {
        let map = self.view()?.unwrap_or_else(|| self.bsp.clone());
        let mut links = map.links()?;
        let sites: Vec<String> = links.sites.iter().map(|site| site.name.clone()).collect();
        let is_ignored = |field: String| options.ignored.contains(&field);
        links.links.retain(|link| !is_ignored(format!("{}.{}", sites[link.from], link.plain_field())));
        links.sites.iter_mut().filter(|site| is_ignored(site.name.clone())).for_each(|site| site.parallel = None);
        links.parts.retain(|(_, name, _)| !is_ignored(name.clone()));
        links.blocks.retain(|(_, name, _)| !is_ignored(name.clone()));
        links.places.retain(|(_, name, lump, _)| !is_ignored(format!("{name}.{}", lump.to_lowercase())));

        let edit = plan(&links)?;
        let mut followed = Followed::default();
        let (changes, doubts) = changes(&map, &links, edit, options, &mut followed)?;
        let mut new = Rewrite { links: &links, changes: &changes, followed: &mut followed }.all()?;
        let mut outside =
            Outside { map: &map, links: &links, changes: &changes, options, new: &mut new, followed: &mut followed };
        outside.places()?;
        outside.blocks()?;
        outside.parts()?;
        if !is_ignored("VISIBILITY".to_owned()) {
            outside.visibility()?;
        }
        if !is_ignored("ENTITIES".to_owned()) {
            outside::follow(outside)?;
        }
        let own = |(slot, bytes)| (slot, map.in_own_order(slot, Data::from(bytes)));
        let new: BTreeMap<SlotId, Data<'a>> = new.into_iter().map(own).collect();
        if changes.of.values().any(|change| change.len() != change.old_len()) {
            check_rows(&map, &links, &new, options)?;
        }
        let files = Files::of(&map, &links, &changes, &mut followed)?;
        // Now nothing else refuses the edit.
        followed.warnings.extend(cascade::settled(doubts, options)?);
        let moved = changes.of.keys().map(|site| links.sites[*site].row.lump.to_owned());
        self.followed.extend(moved.collect::<Vec<_>>());
        self.transaction(|draft| {
            new.into_iter().try_for_each(|(slot, bytes)| draft.set(slot, bytes))?;
            files.apply(draft)
        })?;
        Ok(followed)
    }
}

fn changes(
    map: &Bsp<'_>,
    links: &Links<'_>,
    edit: Edit,
    options: &Options,
    followed: &mut Followed,
) -> Result<(Changes, Vec<Doubt>)> {
    let removed = cascade::close(links, &edit, options)?;
    cascade::reached(links, &removed, &edit.removes(links))?;
    for site in removed.keys().chain(edit.lists.keys()) {
        cascade::target(links, &links.sites[*site])?;
    }
    let mut of = BTreeMap::new();
    for (site, gone) in removed.iter().filter(|(site, _)| !edit.lists.contains_key(site)) {
        let mut content = Vec::with_capacity(gone.len());
        content.extend((0..gone.len()).filter(|index| !gone[*index]).map(Source::Old));
        let change = Change::spliced(gone.len(), content, &[]);
        cascade::order(&links.sites[*site], &change, &[])?;
        of.insert(*site, change);
    }
    for (site, change) in edit.changes(links, &removed)? {
        cascade::together(links, site, &change, edit.records(site))?;
        of.insert(site, change);
    }
    for link in links.links.iter().filter(|link| edit.lists.contains_key(&link.from) && link.to != link.from) {
        if let Some(change) = of.get(&link.from).and_then(|change| change::follow(links, link, change)) {
            let [from, to] = [link.from, link.to].map(|site| &links.sites[site]);
            if edit.lists.contains_key(&link.to) {
                let message = format!("its order follows that of {}: give one of them another order", from.name);
                return Err(refused(&to.name, message));
            }
            cascade::order(to, &change, &[])?;
            of.insert(link.to, change);
        }
    }
    let listed: Vec<(usize, &Change)> = of.iter().map(|(site, change)| (*site, change)).collect();
    let doubts = cascade::doubts(map, links, &listed);
    for (site, change) in listed {
        let count = (0..change.old_len()).filter(|index| change.place(*index) == Some(super::change::GONE)).count();
        if count > 0 {
            followed.removed.push(FollowedRecords { lump: links.sites[site].name.clone(), count });
        }
    }
    let fresh = edit.lists.into_iter().map(|(site, list)| (site, list.records)).collect();
    let mut changes = Changes { of, fresh, copies: BTreeMap::new() };
    for (index, site) in links.sites.iter().enumerate() {
        parallel(links, index, site, &mut changes)?;
    }
    changes.of.retain(|_, change| !change.is_nothing());
    let copies = changes.of.iter().map(|(site, change)| (*site, change.copies()));
    changes.copies = copies.filter(|(_, copies)| !copies.is_empty()).collect();
    Ok((changes, doubts))
}

/// The change of a list whose records belong to those of a list that changes.
fn parallel(links: &Links<'_>, index: usize, site: &Site<'_>, changes: &mut Changes) -> Result<()> {
    let Some((parallel, (to, starts))) = site.parallel.zip(links.shares(index)) else { return Ok(()) };
    let Some(change) = changes.of.get(&to).filter(|_| parallel.each != Each::Part) else { return Ok(()) };
    let (master, none) = (&links.sites[to], Vec::new());
    let fresh = changes.fresh.get(&to).unwrap_or(&none);
    let total = starts.last().copied().unwrap_or(0);
    if total != site.len() {
        let message = format!(
            "its {} records belong to those of {}, which call for {total}: it cannot follow them",
            site.len(),
            master.name
        );
        return Err(refused(&site.name, message));
    }
    let new = |record: usize, _: Option<usize>| match parallel.each {
        Each::Several => site.len() / master.len().max(1),
        Each::Counted(field) => master.number(field, fresh.get(record * master.record.size..).unwrap_or_default()),
        _ => 1,
    };
    let own = change.expanded(|old| starts[old]..starts[old + 1], new);
    let mut bytes = Vec::new();
    let size = site.record.size;
    // Those of a twin are the records that were added to the other list.
    let mut others = change.added().into_iter();
    for (_, like) in own.fresh() {
        match (like, parallel.each) {
            (Some(like), _) => bytes.extend_from_slice(site.record(like)),
            (None, Each::Twin) if master.record.size == size => {
                let of = others.next().unwrap_or(0);
                let start = bytes.len();
                bytes.extend_from_slice(fresh.get(of * size..(of + 1) * size).unwrap_or(&vec![0; size]));
                // Its light is in another lump than that of the other record: it has none.
                for field in elsewhere(site) {
                    bytes[start + field.offset..][..field.shape.size()].fill(0xFF);
                }
            }
            _ => bytes.extend(parallel.fill.iter().cycle().take(size)),
        }
    }
    changes.of.insert(index, own);
    changes.fresh.insert(index, bytes);
    Ok(())
}

/// The fields with offsets in lumps that the list has instead of those of its struct.
fn elsewhere(site: &Site<'_>) -> impl Iterator<Item = &'static FieldInfo> {
    let is_elsewhere = |lump: &'static str| site.row.order.instead_of(lump) != lump;
    site.record
        .fields
        .iter()
        .filter(move |field| matches!(field.meaning, Meaning::Offset { lump } if is_elsewhere(lump)))
}

/// Structs that are detected from numbers of records must still be detected.
fn check_rows<'a>(map: &Bsp<'a>, links: &Links<'_>, new: &BTreeMap<SlotId, Data<'a>>, options: &Options) -> Result<()> {
    let new = new.iter().map(|(slot, bytes)| (*slot, Rope::from(bytes.clone()))).collect();
    let after = map.pending(&new, &BTreeMap::new());
    for (old, new) in map.slots().iter().zip(after.slots()).filter(|(_, new)| new.length > 0) {
        let Ok(row) = map.row(old) else { continue };
        let why = match after.row(new) {
            // The struct of an empty lump is the first one that it may have.
            Ok(other) if old.length == 0 && !std::ptr::eq(row, other) => "it would have other records".to_owned(),
            // Xash3D tells the two kinds of clip nodes by the length of their lump.
            Ok(other) if row.record().zip(other.record()).is_some_and(|(old, new)| old.size != new.size) => {
                format!("engines would take its records for those of {} bytes", other.record().map_or(0, |it| it.size))
            }
            Ok(_) => match misfit(map, links, &after, [old, new]).filter(|_| options.whole && !options.force) {
                Some(why) => return Err(why),
                None => continue,
            },
            Err(why) => why.to_string(),
        };
        let message = format!("after the edit {} could not be read: {why}", row.lump);
        return Err(refused(&old.name, message).with_hint(
            "the struct of a lump is detected from numbers of records that must agree, such as one leaf for each node \
             and model, and one more: one list cannot change alone",
        ));
    }
    Ok(())
}

/// Why a lump has another number of records after an edit than others call for, if it had the right one before.
fn misfit(map: &Bsp<'_>, links: &Links<'_>, after: &Bsp<'_>, [old, new]: [&Slot; 2]) -> Option<Error> {
    let misfit = |bsp: &Bsp<'_>, slot| bsp.detection(slot).misfit;
    let why = misfit(after, new).filter(|_| misfit(map, old).is_none())?;
    let error = refused(&old.name, format!("after the edit {} would not agree with other lumps: {why}", old.name));
    Some(match links.sites.iter().position(|site| site.slot == old.id).is_some_and(|site| links.is_tree(site)) {
        true => error.with_hint(Hint::Tree),
        false => error.with_hint("one list cannot change alone: `unpack` and `pack` edit several lists at once"),
    })
}

impl Followed {
    /// Adds what another edit, made after this one, changed.
    pub fn add(&mut self, other: Followed) {
        other.fields.iter().for_each(|field| self.note(&field.lump, &field.field, field.count));
        self.removed.extend(other.removed);
        self.warnings.extend(other.warnings);
    }

    pub(super) fn note(&mut self, lump: &str, field: &str, count: usize) {
        if count == 0 {
            return;
        }
        let field = plain(field);
        match self.fields.iter_mut().find(|known| known.lump == lump && known.field == field) {
            Some(known) => known.count = known.count.max(count),
            None => self.fields.push(FollowedField { lump: lump.to_owned(), field, count }),
        }
    }
}

// Writes the lists that change and those that refer to them: each list once, record by record.

pub(super) struct Rewrite<'r, 'a> {
    pub(super) links: &'r Links<'a>,
    pub(super) changes: &'r Changes,
    pub(super) followed: &'r mut Followed,
}

impl Rewrite<'_, '_> {
    /// The new bytes of all slots with records that change.
    pub(super) fn all(&mut self) -> Result<BTreeMap<SlotId, Vec<u8>>> {
        let links = self.links;
        let mut lists: BTreeMap<SlotId, Vec<(usize, Vec<u8>)>> = BTreeMap::new();
        for (index, site) in links.sites.iter().enumerate() {
            let active: Vec<&Link> = links
                .links
                .iter()
                .filter(|link| link.from == index && self.changes.of.contains_key(&link.to))
                .collect();
            if active.is_empty() && !self.changes.of.contains_key(&index) {
                continue;
            }
            let mut bytes = self.records(index);
            for group in active.chunk_by(|one, other| is_one_array(one, other)) {
                self.follow(site, group, &mut bytes)?;
            }
            lists.entry(site.slot).or_default().push((index, bytes));
        }
        Ok(lists.into_iter().map(|(slot, lists)| (slot, self.assemble(lists))).collect())
    }

    /// The records of a list in their new order, with their old numbers.
    fn records(&self, index: usize) -> Vec<u8> {
        let site = &self.links.sites[index];
        let Some(change) = self.changes.of.get(&index) else { return site.bytes[site.range.clone()].to_vec() };
        let (size, none) = (site.record.size, Vec::new());
        let fresh = self.changes.fresh.get(&index).unwrap_or(&none);
        let mut bytes = Vec::with_capacity(change.len() * size);
        // What follows each other before and after is copied at once.
        let follows = |one: &Source, other: &Source| match (one, other) {
            (Source::Old(one), Source::Old(other)) | (Source::New(one, _), Source::New(other, _)) => one + 1 == *other,
            _ => false,
        };
        for sources in change.content.chunk_by(follows) {
            bytes.extend_from_slice(match sources[0] {
                Source::Old(old) => {
                    let start = site.range.start + old * size;
                    &site.bytes[start..start + sources.len() * size]
                }
                Source::New(new, _) => fresh.get(new * size..(new + sources.len()) * size).unwrap_or_default(),
            });
        }
        bytes
    }

    /// The slot's bytes with new lists.
    fn assemble(&self, mut lists: Vec<(usize, Vec<u8>)>) -> Vec<u8> {
        lists.sort_by_key(|(index, _)| self.links.sites[*index].range.start);
        let Some((first, _)) = lists.first() else { return Vec::new() };
        let site = &self.links.sites[*first];
        if lists.len() == 1 && site.range == (0..site.bytes.len()) {
            return lists.pop().map_or_else(Vec::new, |(_, bytes)| bytes);
        }
        let mut old = self.links.sites[*first].bytes.to_vec();
        for (index, bytes) in &lists {
            let site = &self.links.sites[*index];
            if let Some(at) = site.count_at {
                old[at..at + 4].copy_from_slice(&short(bytes.len() / site.record.size).to_le_bytes());
            }
        }
        let (mut new, mut at) = (Vec::with_capacity(old.len()), 0);
        for (index, bytes) in lists {
            let range = self.links.sites[index].range.clone();
            new.extend_from_slice(&old[at..range.start]);
            new.extend(bytes);
            at = range.end;
        }
        new.extend_from_slice(&old[at..]);
        new
    }

    /// What a run of this field becomes with too few records.
    fn single<'s>(&'s self, link: &'s Link, unless: Unless) -> Option<Single<'s>> {
        let is_index = |other: &&Link| other.from == link.to && other.to == unless.other;
        let fresh = self.changes.fresh.get(&link.to).map_or(&[][..], |fresh| &fresh[..]);
        let index = self.links.links.iter().find(is_index);
        Some(Single { unless, index, site: &self.links.sites[link.to], fresh })
    }

    /// Makes the numbers of a field follow, or the items of an array.
    fn follow(&mut self, site: &Site<'_>, group: &[&Link], bytes: &mut [u8]) -> Result<()> {
        let Some(link) = group.first() else { return Ok(()) };
        let Some(change) = self.changes.of.get(&link.to) else { return Ok(()) };
        let target = &self.links.sites[link.to].name;
        let one = link.unless.and_then(|unless| self.single(link, unless));
        let follow = Follow { link, change, one, emptied: Cell::new(0) };
        let turn = change::blocks(self.links, link);
        let own = self.changes.of.get(&link.from);
        let start = turn.as_ref().and_then(|blocks| blocks.first()).map_or(0, |(first, _)| *first);
        let mut next = i64::try_from(start).unwrap_or(i64::MAX);
        let mut count = 0;
        let all_copies = self.changes.copies.get(&link.to);
        let copies = all_copies.filter(|_| is_between_copies(link));
        for (index, record) in bytes.chunks_exact_mut(site.record.size).enumerate() {
            let is_copy = || matches!(own.and_then(|own| own.content.get(index)), Some(Source::New(_, Some(_))));
            let copy = copies.filter(|_| is_copy()).and_then(|copies| follow.copy(record, copies));
            let followed = match link.how {
                _ if let Some(copy) = copy => link.put(record, copy, change.old_len()).map(|()| true),
                How::Item(..) => items(group, change, all_copies.filter(|_| is_copy()), record),
                How::Share(_) => {
                    let old = own.map_or(Some(index), |own| own.content.get(index).and_then(|source| source.old()));
                    let blocks = turn.as_ref().ok_or_else(|| NOT_ALL.to_owned());
                    blocks.and_then(|blocks| match old.and_then(|old| blocks.get(old)) {
                        Some(block) => follow.share(record, *block, &mut next),
                        None => Ok(false),
                    })
                }
                _ => follow.record(record),
            };
            let followed = followed.and_then(|changed| match (&turn, link.how) {
                (Some(_), How::Run(..)) => follow.in_turn(record, &mut next).map(|()| changed),
                _ => Ok(changed),
            });
            match followed {
                Ok(changed) => count += usize::from(changed),
                Err(why) => {
                    let message = format!("{}[{index}].{} cannot follow {target}: {why}", site.name, link.field);
                    return Err(refused(&site.name, message));
                }
            }
        }
        let emptied = follow.emptied.get();
        self.followed.note(&site.name, &link.field, count);
        if emptied > 0 && !link.is_weak() {
            let field = plain(&link.field);
            let records = if emptied == 1 { "record" } else { "records" };
            let warning =
                format!("{}.{field} of {emptied} {records} named what is removed, and names nothing now", site.name);
            self.followed.warnings.push(warning);
        }
        Ok(())
    }
}

/// Whether copies that have such a number name the copy of what their originals name.
fn is_between_copies(link: &Link) -> bool {
    cascade::is_number(link) || matches!(link.how, How::Run(_, _, order) if order.is_own())
}

/// Whether two links are items of one array.
pub(super) fn is_one_array(one: &Link, other: &Link) -> bool {
    matches!((one.how, other.how), (How::Item(..), How::Item(..))) && one.array() == other.array()
}

/// One field, record after record.
struct Follow<'f> {
    link: &'f Link,
    change: &'f Change,
    /// Of a run that may become an index.
    one: Option<Single<'f>>,
    /// How many records named what goes, and name nothing now.
    emptied: Cell<usize>,
}

/// What becomes of the first number of a run that has so few records left that it is an index of another list.
struct Single<'f> {
    unless: Unless,
    /// The number of the other list in the records of the run.
    index: Option<&'f Link>,
    site: &'f Site<'f>,
    fresh: &'f [u8],
}

impl Single<'_> {
    /// The number, as it was before the edit: it follows then, as other indices do.
    fn number(&self, first: i64, change: &Change) -> i64 {
        let left = usize::try_from(first).ok().filter(|_| self.unless.count == 1);
        let record = left.and_then(|left| change.content.get(left)).and_then(|source| match source {
            Source::Old(old) => Some(self.site.record(*old)),
            Source::New(new, _) => self.fresh.chunks_exact(self.site.record.size).nth(*new),
        });
        record.zip(self.index).map_or(self.unless.none, |(record, link)| link.word.get(record))
    }
}

impl Follow<'_> {
    /// Makes the numbers of a record follow; whether they changed.
    fn record(&self, record: &mut [u8]) -> Result<bool, String> {
        let Follow { link, change, .. } = *self;
        let Some((first, count)) = link.named(record, change.old_len()) else { return Ok(self.beyond(record)) };
        let why = |why: Why| why.text().to_owned();
        if let How::Run(word, form, order) = link.how {
            let Some((new, many)) = change.run(first, count, order).map_err(why)? else { return Ok(false) };
            if many != count {
                let number = form.put(word.get(record), many).filter(|number| word.put(record, *number));
                number.ok_or_else(|| format!("{many} records do not fit its count"))?;
            }
            if let Some(one) = self.one.as_ref().filter(|one| one.unless.count == many) {
                let number = one.number(new, change);
                return match link.word.put(record, number) {
                    true => Ok(true),
                    false => Err(format!("{number} does not fit")),
                };
            }
            if new != first {
                link.put(record, new, change.old_len())?;
            }
            return Ok(true);
        }
        match change.index(first) {
            Ok(None) => Ok(false),
            Ok(Some(new)) => link.put(record, new, change.old_len()).map(|()| true),
            Err(Why::Gone) => match link.none().filter(|none| link.word.put(record, *none)) {
                Some(_) => {
                    self.emptied.set(self.emptied.get() + 1);
                    Ok(true)
                }
                None => Err(why(Why::Gone)),
            },
            Err(reason) => Err(why(reason)),
        }
    }

    /// The first of the copies of what a record names, if all of it is copied and together.
    fn copy(&self, record: &[u8], copies: &HashMap<usize, usize>) -> Option<i64> {
        let (first, count) = self.link.named(record, self.change.old_len())?;
        let copy = |old: i64| copies.get(&usize::try_from(old).ok()?).and_then(|new| i64::try_from(*new).ok());
        // Copies are in blocks, with old records between them.
        let (start, last) = (copy(first)?, copy(first.checked_add(count - 1)?)?);
        (last - start == count - 1).then_some(start)
    }

    /// Moves a number that names no record, and stays so: the start of a run of no records to the end of the list if it
    /// would be after that, which engines refuse; the number of a missing record past the records that are added. Some
    /// tools write the number of records for none, and so it stays. Whether it was moved.
    fn beyond(&self, record: &mut [u8]) -> bool {
        let wide = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let (old, new) = (wide(self.change.old_len()), wide(self.change.len()));
        if matches!(self.link.how, How::Perhaps) && self.link.applies(record) {
            let number = self.link.word.get(record);
            return old != new && (number == old || (old..new).contains(&number)) && self.link.word.put(record, new);
        }
        let is_empty = matches!(self.link.how, How::Run(word, count, _) if count.of(word.get(record)) == 0);
        let is_empty = is_empty && self.link.applies(record);
        is_empty && (new + 1..=old).contains(&self.link.word.get(record)) && self.link.word.put(record, new)
    }

    /// A count of records that follow those of the records before.
    fn share(&self, record: &mut [u8], (first, count): (usize, usize), next: &mut i64) -> Result<bool, String> {
        let wide = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        if count == 0 {
            return Ok(false);
        }
        let found = self.change.run(wide(first), wide(count), Order::Free).map_err(|why| why.text().to_owned())?;
        let (new, many) = found.unwrap_or((wide(first), wide(count)));
        if many > 0 && new != *next {
            return Err(NOT_IN_TURN.to_owned());
        }
        *next += many;
        match many == wide(count) || self.link.word.put(record, many) {
            true => Ok(many != wide(count)),
            false => Err(format!("{many} records do not fit its count")),
        }
    }

    /// Whether the records that belong to this one follow those of the one before.
    fn in_turn(&self, record: &[u8], next: &mut i64) -> Result<(), String> {
        let (first, count) = self.link.named(record, self.change.len()).unwrap_or((*next, 0));
        let is_next = first == *next;
        *next = first.saturating_add(count);
        if is_next { Ok(()) } else { Err(NOT_IN_TURN.to_owned()) }
    }
}

const NOT_IN_TURN: &str = "its records would not follow those of the record before";
const NOT_ALL: &str = "the counts of all records together are not the number of records";

/// The items of an array that are indices; those of removed records are left out. A copy names the copies of what its
/// original names.
fn items(
    group: &[&Link],
    change: &Change,
    copies: Option<&HashMap<usize, usize>>,
    record: &mut [u8],
) -> Result<bool, String> {
    let (mut kept, mut count, mut changed) = (0, 0_i64, false);
    for link in group {
        let Some((old, _)) = link.named(record, change.old_len()) else { break };
        count += 1;
        let copy = copies.and_then(|copies| i64::try_from(*copies.get(&usize::try_from(old).ok()?)?).ok());
        let new = match (copy, change.index(old)) {
            (Some(copy), _) => copy,
            (None, Err(Why::Gone)) => continue,
            (None, new) => new.map_err(|why| why.text().to_owned())?.unwrap_or(old),
        };
        let to = group[kept];
        kept += 1;
        if to.word.get(record) != new {
            to.put(record, new, change.old_len())?;
            changed = true;
        }
    }
    let left = i64::try_from(kept).unwrap_or(i64::MAX);
    if let (Some(How::Item(word, form)), true) = (group.first().map(|link| link.how), left < count) {
        let number = form.put(word.get(record), left).filter(|number| word.put(record, *number));
        number.ok_or_else(|| format!("{left} items do not fit their count"))?;
        changed = true;
    }
    Ok(changed)
}
