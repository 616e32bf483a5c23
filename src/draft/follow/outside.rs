//! References that are not numbers of records: blocks of physics, solids of displacements, rows of visibility, values
//! of entities, embedded files.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use super::apply::Changes;
use super::cascade::Needed;
use super::change::{Change, GONE, Source, Why};
use super::{Followed, FollowedRecords, Options, refused};
use crate::bsp::Bsp;
use crate::bytes::{Data, word};
use crate::content::entities::{Entities, Entity, LooseModel};
use crate::content::pak::Pak;
use crate::content::physics::PhysDisp;
use crate::content::visibility::{Column, Visibility};
use crate::dialect::{Dialect, EntityForm, Role, VisModel};
use crate::draft::Draft;
use crate::error::{ErrorKind, Result};
use crate::file::SlotId;
use crate::links::{Links, Site};

// References that are not numbers of records: blocks of physics, solids of displacements, rows of visibility.

/// What follows an edit beside the lists of records.
pub(super) struct Outside<'o, 'a> {
    pub(super) map: &'o Bsp<'a>,
    pub(super) links: &'o Links<'a>,
    pub(super) changes: &'o Changes,
    pub(super) options: &'o Options,
    /// The new bytes of slots.
    pub(super) new: &'o mut BTreeMap<SlotId, Vec<u8>>,
    pub(super) followed: &'o mut Followed,
}

impl Outside<'_, '_> {
    /// Numbers in content that is not an array. Those in blocks that are removed go with them.
    pub(super) fn places(&mut self) -> Result<()> {
        let (map, links, changes) = (self.map, self.links, self.changes);
        for (slot, name, lump, places) in &links.places {
            let site = links.referred(lump);
            let Some((site, change)) = site.and_then(|site| Some((site, changes.of.get(&site)?))) else { continue };
            let mut bytes = map.little_endian(*slot)?.to_vec();
            let gone = gone_blocks(links, changes, *slot, &bytes);
            let (mut gone, mut needed, mut count) = (gone.iter().peekable(), Needed::default(), 0);
            let mut removed = Vec::new();
            for at in places {
                while gone.next_if(|block| block.end <= *at).is_some() {}
                if gone.peek().is_some_and(|block| block.contains(at)) {
                    continue;
                }
                let old = word(&bytes, *at).unwrap_or(-1);
                match change.index(i64::from(old)) {
                    Ok(None) => continue,
                    Ok(Some(index)) => {
                        put(&mut bytes, *at, index);
                        count += 1;
                    }
                    Err(Why::Gone) => {
                        removed.push(*at);
                        needed.add(|| format!("{}[{old}]", links.sites[site].name), || format!("{name} at byte {at}"));
                    }
                    Err(why) => {
                        return Err(refused(name, format!("{lump}[{old}] at byte {at} cannot follow: {}", why.text())));
                    }
                }
            }
            if let Some(error) = needed.into_final_error() {
                let places = map.container().slot(*slot).and_then(|slot| map.row(slot).ok()?.order.places);
                if places.and_then(|places| (places.remove)(&mut bytes, &removed)).is_none() {
                    let hint = format!(
                        "a solid of {name} has no other piece, or is of a kind whose pieces cannot go alone; models go \
                         with their solids"
                    );
                    return Err(error.with_hint(hint));
                }
                self.followed.removed.push(FollowedRecords { lump: format!("{name}.pieces"), count: removed.len() });
                self.followed.warnings.push(format!(
                    "the solids of {name} whose pieces went keep their center of mass, their size and their hulls"
                ));
            }
            if count > 0 {
                self.followed.note(name, &lump.to_lowercase(), count);
            }
            if count + removed.len() > 0 {
                self.new.insert(*slot, bytes);
            }
        }
        Ok(())
    }

    /// Blocks with the index of a record: they get the new one, or are removed.
    pub(super) fn blocks(&mut self) -> Result<()> {
        let (map, links, changes) = (self.map, self.links, self.changes);
        for (slot, name, blocks) in &links.blocks {
            let Some(change) = links.referred(blocks.lump).and_then(|site| changes.of.get(&site)) else { continue };
            let mut bytes = match self.new.get(slot) {
                Some(bytes) => bytes.clone(),
                None => map.little_endian(*slot)?.to_vec(),
            };
            let unread = || refused(name, format!("it refers to {}, and its blocks cannot be read", blocks.lump));
            let found = (blocks.find)(&bytes).ok_or_else(unread)?;
            let (mut count, mut gone) = (0, Vec::new());
            for block in found {
                let old = word(&bytes, block.at).unwrap_or(-1);
                match change.index(i64::from(old)) {
                    Ok(None) => continue,
                    Ok(Some(index)) => put(&mut bytes, block.at, index),
                    Err(Why::Gone) => gone.push(block.range),
                    Err(why) => {
                        return Err(refused(
                            name,
                            format!("the block of {} {old} cannot follow: {}", blocks.lump, why.text()),
                        ));
                    }
                }
                count += 1;
            }
            if count > 0 {
                self.followed.note(name, "model", count);
                self.new.insert(*slot, without(&bytes, &gone));
            }
        }
        Ok(())
    }

    /// Solids of displacements, which are in the order of these.
    pub(super) fn parts(&mut self) -> Result<()> {
        let (map, links, changes) = (self.map, self.links, self.changes);
        for (slot, name, parallel) in &links.parts {
            let Some(change) = links.referred(parallel.lump).and_then(|site| changes.of.get(&site)) else { continue };
            let version = map.container().slot(*slot).and_then(|slot| slot.version).unwrap_or(0);
            let solids = PhysDisp::parse(map.little_endian(*slot)?, version)?;
            if solids.is_empty() {
                continue;
            }
            if solids.len() != change.old_len() {
                let message =
                    format!("it has solids of {} displacements, and there are {}", solids.len(), change.old_len());
                return Err(refused(name, message));
            }
            let from = change.content.iter().map(|source| match source {
                Source::Old(old) | Source::New(_, Some(old)) => Some(*old),
                Source::New(_, None) => None,
            });
            let bytes =
                solids.rearranged(&from.collect::<Vec<_>>()).ok_or_else(|| refused(name, "it has too many solids"))?;
            self.followed.note(name, "solids", change.len());
            self.new.insert(*slot, bytes);
        }
        Ok(())
    }

    /// The rows of leafs, and their bits in the rows of others.
    pub(super) fn visibility(&mut self) -> Result<()> {
        let (map, links, changes) = (self.map, self.links, self.changes);
        let VisModel::Leafs(model) = map.dialect().visibility else { return Ok(()) };
        let (Some(leafs), Some(models)) = (map.role(Role::Leafs), map.role(Role::Models)) else { return Ok(()) };
        let Some(change) = links.site(&leafs.name).and_then(|site| changes.of.get(&site)) else { return Ok(()) };
        let Some(slot) = map.role(Role::Visibility).filter(|slot| slot.length != 0) else { return Ok(()) };
        let leaf_models = models.id;
        let models = match self.new.get(&models.id) {
            Some(bytes) => bytes.clone(),
            None => map.little_endian(models.id)?.to_vec(),
        };
        let count = word(&models, model.count_at).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        // A leaf that is replaced in its place is as visible as before.
        let mut before = vec![None; change.len()];
        for old in 0..change.old_len() {
            if let Some(before) = change.place(old).and_then(|place| before.get_mut(place)) {
                *before = Some(old);
            }
        }
        let columns: Vec<Column> = change
            .content
            .iter()
            .zip(&before)
            .skip(1)
            .take(count)
            .map(|source| match source {
                (Source::Old(old) | Source::New(_, Some(old)), _) | (Source::New(_, None), Some(old)) => {
                    Column::Old(*old)
                }
                (Source::New(_, None), None) => Column::Seen,
            })
            .collect();
        // Leafs of other models than the world have no rows.
        let is_same = |(at, column): (usize, &Column)| matches!(column, Column::Old(old) if *old == at + 1);
        let before = map.little_endian(leaf_models)?;
        if word(&before, model.count_at) == word(&models, model.count_at) && columns.iter().enumerate().all(is_same) {
            return Ok(());
        }
        let Some(leaf_bytes) = self.new.get_mut(&leafs.id) else { return Ok(()) };
        let rows = map.lens::<Visibility<'_>>();
        let bytes = rows.and_then(|rows| rows.rearranged(leaf_bytes, &columns, self.options.force));
        // Damaged rows cannot follow, and refuse the edit.
        let bytes = bytes.map_err(|error| match error.kind() {
            ErrorKind::Malformed => refused(&slot.name, format!("its rows cannot follow {}: {error}", leafs.name)),
            _ => error,
        })?;
        if bytes != *map.little_endian(slot.id)? {
            self.followed.note(&slot.name, "rows", count);
            self.new.insert(slot.id, bytes);
        }
        Ok(())
    }
}

/// The blocks that go with removed records.
fn gone_blocks(links: &Links<'_>, changes: &Changes, slot: SlotId, bytes: &[u8]) -> Vec<Range<usize>> {
    let Some((_, _, blocks)) = links.blocks.iter().find(|(other, ..)| *other == slot) else { return Vec::new() };
    let Some(change) = links.referred(blocks.lump).and_then(|site| changes.of.get(&site)) else { return Vec::new() };
    let found = (blocks.find)(bytes).unwrap_or_default().into_iter();
    let is_gone = |at: usize| word(bytes, at).is_some_and(|old| change.index(i64::from(old)) == Err(Why::Gone));
    found.filter(|block| is_gone(block.at)).map(|block| block.range).collect()
}

/// Writes the index of a record.
fn put(bytes: &mut [u8], at: usize, index: i64) {
    let index = i32::try_from(index).unwrap_or(i32::MAX);
    bytes[at..at + 4].copy_from_slice(&index.to_le_bytes());
}

/// The bytes outside of these ranges, which are in their order.
fn without(bytes: &[u8], gone: &[Range<usize>]) -> Vec<u8> {
    let (mut kept, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for range in gone {
        kept.extend_from_slice(&bytes[at..range.start]);
        at = range.end;
    }
    kept.extend_from_slice(&bytes[at..]);
    kept
}

// Values of entities that refer to records.

/// The entities of a map; `None` if it has no text.
pub(super) fn read<'a>(map: &Bsp<'a>) -> Result<Option<(SlotId, Entities<'a>)>> {
    let Some(slot) = map.role(Role::Entities).filter(|slot| slot.length != 0) else { return Ok(None) };
    Ok(Some((slot.id, Entities::parse(map.bytes(slot.id)?, map.entity_rules())?)))
}

/// The numbers in a field of removed records that no other record has.
fn goes(site: &Site<'_>, field: &str, change: &Change) -> HashSet<i64> {
    let (mut gone, mut stays) = (HashSet::new(), HashSet::new());
    for (index, number) in site.column(field).into_iter().enumerate() {
        let to = if change.place(index) == Some(GONE) { &mut gone } else { &mut stays };
        to.insert(number);
    }
    gone.retain(|number| !stays.contains(number));
    gone
}

pub(super) fn follow(outside: Outside<'_, '_>) -> Result<()> {
    let Outside { map, links, changes, options, new: new_bytes, followed } = outside;
    let references = map.dialect().entity_references;
    let change_of = |lump: &str| links.referred(lump).and_then(|site| Some((site, changes.of.get(&site)?)));
    if !references.iter().any(|reference| change_of(reference.lump).is_some()) {
        return Ok(());
    }
    let Some((slot, mut entities)) = read(map)? else { return Ok(()) };
    let mut needed = Needed::default();
    // The new texts of values by entity and pair; `None` if the pair is removed.
    let mut edits: BTreeMap<usize, BTreeMap<usize, Option<String>>> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut whole: BTreeSet<usize> = BTreeSet::new();
    // The numbers in fields that go.
    let mut gone: BTreeMap<&str, HashSet<i64>> = BTreeMap::new();
    for value in entities.iter().flat_map(|entity| entity.record_values(map.dialect())) {
        let Some((site, change)) = change_of(value.reference.lump) else { continue };
        let target = &links.sites[site];
        let place = match value.reference.form {
            EntityForm::Field(field) if !change.removes() => {
                debug_assert!(target.record.field(field).is_some());
                continue;
            }
            EntityForm::Field(field) => {
                let gone = gone.entry(field).or_insert_with(|| goes(target, field, change));
                if gone.contains(&value.number) { Err(Why::Gone) } else { Ok(None) }
            }
            EntityForm::Starred | EntityForm::Index => change.index(value.number),
        };
        let new = match place {
            Ok(None) => continue,
            Ok(Some(index)) if value.reference.form == EntityForm::Starred => Some(format!("*{index}")),
            Ok(Some(index)) => Some(index.to_string()),
            // The first entity is the world.
            Err(Why::Gone) if options.cascade && value.reference.is_all && value.entity > 0 => {
                whole.insert(value.entity);
                continue;
            }
            Err(Why::Gone) if options.cascade => None,
            Err(Why::Gone) => {
                let what = || format!("{} {}", target.name, value.number);
                needed.add(what, || format!("ENTITIES[{}].{}", value.entity, value.reference.key));
                continue;
            }
            Err(why) => {
                let message = format!("ENTITIES[{}].{}: {}", value.entity, value.reference.key, why.text());
                return Err(refused("ENTITIES", message));
            }
        };
        *counts.entry(value.reference.key).or_default() += 1;
        edits.entry(value.entity).or_default().insert(value.pair, new);
    }
    if let Some(error) = needed.into_error() {
        return Err(error);
    }
    let is_gone = |entity: usize| whole.contains(&entity);
    let texts = entities.iter().filter(|entity| !is_gone(entity.index()));
    followed.warnings.extend(LooseModel::listed(texts.flat_map(|entity| loose(&entity, map.dialect(), &change_of))));
    for (entity, pairs) in &edits {
        let set = pairs.iter().filter_map(|(pair, new)| Some((*pair, new.as_ref()?.as_bytes())));
        let removed = pairs.iter().filter(|(_, new)| new.is_none()).map(|(pair, _)| *pair);
        entities.get_mut(*entity)?.set_values(&set.collect::<Vec<_>>())?;
        entities.get_mut(*entity)?.remove_pairs(&removed.collect::<Vec<_>>())?;
    }
    if !whole.is_empty() {
        entities.remove_all(&whole.iter().copied().collect::<Vec<_>>())?;
        followed.removed.push(FollowedRecords { lump: "ENTITIES".to_owned(), count: whole.len() });
    }
    for (key, count) in counts {
        followed.note("ENTITIES", key, count);
    }
    if entities.is_edited() {
        new_bytes.insert(slot, entities.to_bytes());
    }
    Ok(())
}

/// What is said of values that may name a model and do not follow, since nothing declares what their key is for.
fn loose<'c>(
    entity: &Entity<'_>,
    dialect: &Dialect,
    change_of: &impl Fn(&str) -> Option<(usize, &'c Change)>,
) -> Vec<String> {
    let said = |model: LooseModel| {
        let (_, change) = change_of(model.lump)?;
        let now = match change.index(model.number) {
            Ok(None) => return None,
            Ok(Some(index)) => format!("that model is *{index} now"),
            Err(Why::Gone) => "that model is removed".to_owned(),
            Err(why) => why.text().to_owned(),
        };
        Some(model.doubt(entity, &now))
    };
    entity.loose_models(dialect).into_iter().filter_map(said).collect()
}

// Embedded files with the index of a record in their name, such as the light of static props.

/// What becomes of embedded files, by their index.
#[derive(Default)]
pub(super) struct Files<'a> {
    renamed: Vec<(usize, Vec<u8>)>,
    removed: Vec<usize>,
    /// The files of records that are copied.
    added: Vec<(Vec<u8>, Data<'a>)>,
}

impl<'a> Files<'a> {
    pub(super) fn of(map: &Bsp<'a>, links: &Links<'_>, changes: &Changes, followed: &mut Followed) -> Result<Self> {
        let mut files = Files::default();
        let Some(slot) = map.role(Role::Pak).filter(|slot| slot.length != 0) else { return Ok(files) };
        for (site, change) in &changes.of {
            let site = &links.sites[*site];
            if site.files.is_empty() {
                continue;
            }
            let Ok(pak) = map.lens::<Pak<'a>>() else {
                followed
                    .warnings
                    .push(format!("{} cannot be read: files named by {} do not follow", slot.name, site.name));
                continue;
            };
            let copies = change.copies();
            for (file, entry) in pak.iter().enumerate() {
                let name = entry.name();
                let Some((place, number)) = site.named_by_file(name) else { continue };
                let named =
                    |number: usize| [&name[..place.start], number.to_string().as_bytes(), &name[place.end..]].concat();
                let place = change.place(number);
                match place {
                    Some(GONE) => files.removed.push(file),
                    Some(new) if new != number => files.renamed.push((file, named(new))),
                    _ => {}
                }
                if let Some(copy) = copies.get(&number).filter(|copy| place != Some(**copy)) {
                    match entry.data() {
                        Ok(data) => files.added.push((named(*copy), data)),
                        Err(error) => {
                            let name = name.escape_ascii();
                            let record = format!("{} {copy}", site.name);
                            followed.warnings.push(format!("{name} cannot be read, and {record} has none: {error}"));
                        }
                    }
                }
            }
        }
        let count = files.renamed.len() + files.removed.len() + files.added.len();
        followed.note(&slot.name, "names", count);
        Ok(files)
    }

    pub(super) fn apply(self, draft: &mut Draft<'a>) -> Result<()> {
        if self.renamed.is_empty() && self.removed.is_empty() && self.added.is_empty() {
            return Ok(());
        }
        let pak = draft.pak()?;
        // Files that go may have the names that others get.
        let kept = |index: usize| index - self.removed.iter().filter(|removed| **removed < index).count();
        let renamed: Vec<_> = self.renamed.into_iter().map(|(index, name)| (kept(index), name)).collect();
        pak.remove(&self.removed)?;
        pak.rename_all(&renamed)?;
        self.added.into_iter().try_for_each(|(name, data)| pak.add(name, data).map(|_| ()))
    }
}
