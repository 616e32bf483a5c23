//! References that are not numbers of records: blocks of physics, solids of displacements, rows of visibility.

use std::collections::BTreeMap;
use std::ops::Range;

use super::apply::Changes;
use super::cascade::Needed;
use super::change::{Source, Why};
use super::{Followed, Options, refused};
use crate::bsp::{Bsp, Links};
use crate::bytes::word;
use crate::content::physics::PhysDisp;
use crate::content::visibility::{Column, Visibility};
use crate::dialect::{Role, VisModel};
use crate::error::{ErrorKind, Result};
use crate::file::SlotId;

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
                        needed.add(|| format!("{}[{old}]", links.sites[site].name), || format!("{name} at byte {at}"));
                    }
                    Err(why) => {
                        return Err(refused(name, format!("{lump}[{old}] at byte {at} cannot follow: {}", why.text())));
                    }
                }
            }
            if let Some(error) = needed.into_final_error() {
                return Err(error.with_hint(format!("{name} is not an array: its parts cannot be removed one by one")));
            }
            if count > 0 {
                self.followed.note(name, &lump.to_lowercase(), count);
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
        let columns: Vec<Column> = change
            .content
            .iter()
            .skip(1)
            .take(count)
            .map(|source| match source {
                Source::Old(old) | Source::New(_, Some(old)) => Column::Old(*old),
                Source::New(_, None) => Column::Seen,
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
