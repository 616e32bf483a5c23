//! Light that a model needs: the blocks of its faces, or the pages of its surfaces.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::closure::refused;
use crate::bsp::{Bsp, Links};
use crate::bytes::{Data, wide};
use crate::content::lens::View;
use crate::content::lightmap::{Light, LightSet};
use crate::dialect::{LightModel, LuxelForm};
use crate::error::Result;
use crate::file::SlotId;

/// The light of two maps, and what the target gets.
pub(super) struct NewLight<'o> {
    from: &'o Bsp<'o>,
    to: &'o Bsp<'o>,
    theirs: View<Light<'o>>,
    /// The lumps of the target with light, as they will be.
    lumps: BTreeMap<&'static str, Grown<'o>>,
    pages: HashMap<i64, i64>,
}

/// A lump that gets more bytes at its end.
struct Grown<'o> {
    slot: SlotId,
    old: Data<'o>,
    theirs: Data<'o>,
    added: Vec<u8>,
    /// The ranges of the other map's lump, in the order in which they were added, with their places.
    ranges: Vec<Range<usize>>,
    places: HashMap<(usize, usize), usize>,
}

/// The set of light with places in a lump of its own.
const DECOUPLED: &str = "decoupled";

impl Grown<'_> {
    /// Where a range of the other map's lump is, or would be put.
    fn next(&self, range: &Range<usize>) -> usize {
        let known = self.places.get(&(range.start, range.end));
        known.copied().unwrap_or(self.old.len() + self.added.len())
    }

    /// Where a range of the other map's lump is put.
    fn put(&mut self, range: Range<usize>) -> usize {
        let place = self.next(&range);
        *self.places.entry((range.start, range.end)).or_insert_with(|| {
            self.added.extend_from_slice(&self.theirs[range.clone()]);
            self.ranges.push(range);
            place
        })
    }
}

impl<'o> NewLight<'o> {
    pub(super) fn new(from: &'o Bsp<'_>, to: &'o Bsp<'_>) -> Result<Self> {
        let names: Vec<&'static str> = match from.dialect().light {
            LightModel::Faces(model) => {
                model.lumps.iter().filter(|lumps| lumps.copied.is_none()).map(|lumps| lumps.light).collect()
            }
            LightModel::Pages(model) => vec![model.lump],
        };
        let mut lumps = BTreeMap::new();
        for name in names {
            let (Ok(slot), Ok(other)) = (to.slot(name), from.slot(name)) else { continue };
            let (old, theirs) = (to.little_endian(slot.id)?, from.little_endian(other.id)?);
            lumps.insert(
                name,
                Grown { slot: slot.id, old, theirs, added: Vec::new(), ranges: Vec::new(), places: HashMap::new() },
            );
        }
        Ok(NewLight { from, to, theirs: from.lens::<Light<'_>>()?, lumps, pages: HashMap::new() })
    }

    /// The new offset of the light of a face; `None` if it cannot be copied. Faces of a list may have light in several
    /// lumps, at one offset; without a list, the light is that of a face whose places are in a lump of their own.
    pub(super) fn block(&mut self, lump: &'static str, list: Option<&str>, face: usize, old: i64) -> Option<i64> {
        let is_it = |set: &&LightSet| match list {
            Some(list) => set.faces() == list && set.copy_of().is_none() && set.name() != DECOUPLED,
            None => set.lump() == lump && set.name() == DECOUPLED,
        };
        let LightModel::Faces(model) = self.from.dialect().light else { return Some(old) };
        let is_read = |list: &str| model.lumps.iter().any(|lumps| lumps.faces.contains(&list));
        if list.is_some_and(|list| !is_read(list)) {
            // Faces before they were split: no engine reads their light.
            return Some(old);
        }
        let (mut ranges, mut is_unlit) = (Vec::new(), false);
        for set in self.theirs.sets().iter().filter(is_it) {
            match set.block_of(face) {
                Some(block) => {
                    let block = &set.blocks()[block];
                    let (range, start) = (block.whole(), block.bytes().start);
                    let is_there = |grown: &&Grown<'_>| !grown.old.is_empty() && range.end <= grown.theirs.len();
                    let (name, grown) = self.lumps.iter().find(|(name, _)| **name == set.lump())?;
                    let grown = Some(grown).filter(is_there)?;
                    ranges.push((*name, range.clone(), grown.next(&range) + (start - range.start)));
                }
                // Compilers leave any number where a face has no light; most write -1 or 0.
                None => is_unlit = !set.faults().iter().any(|fault| fault.face == face),
            }
        }
        let Some((.., place)) = ranges.first().cloned() else {
            return (is_unlit || [-1, 0].contains(&old)).then_some(if is_unlit && old == 0 { 0 } else { -1 });
        };
        if ranges.iter().any(|(.., other)| *other != place) {
            return None;
        }
        for (name, range, _) in ranges {
            self.lumps.get_mut(name)?.put(range);
        }
        i64::try_from(place).ok()
    }

    /// The new number of a page; the reason if it cannot be copied.
    pub(super) fn page(&mut self, old: i64) -> Result<i64, String> {
        let LightModel::Pages(model) = self.from.dialect().light else { return Ok(old) };
        if old < 0 {
            return Ok(old);
        }
        if let Some(place) = self.pages.get(&old) {
            return Ok(*place);
        }
        let Some(grown) = self.lumps.get_mut(model.lump) else { return Err("has light in no lump".to_owned()) };
        if grown.theirs.is_empty() {
            return Err("has its light in a file beside the other map".to_owned());
        }
        if grown.old.is_empty() && self.to.light_files().is_ok_and(|files| !files.is_empty()) {
            return Err("has light, and the light of the map is in files beside it".to_owned());
        }
        let size = model.size * model.size * LuxelForm::Rgb.bytes();
        let start = usize::try_from(old).ok().and_then(|page| page.checked_mul(size));
        let range =
            start.map(|start| start..start.saturating_add(size)).filter(|range| range.end <= grown.theirs.len());
        let range = range.ok_or_else(|| format!("names the page {old}, which is not there"))?;
        let page = &grown.theirs[range.clone()];
        // Pages begin at multiples of their size; bytes after the last one stay before the new ones.
        let known = grown.old.chunks_exact(size).position(|other| other == page);
        let place = match known {
            Some(known) => known,
            None if grown.old.len().is_multiple_of(size) => grown.put(range) / size,
            None => return Err("has light on a page, and those of the map are not whole".to_owned()),
        };
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        self.pages.insert(old, place);
        Ok(place)
    }

    /// How many bytes of light the target gets.
    pub(super) fn bytes(&self) -> usize {
        self.lumps.values().map(|grown| grown.added.len()).sum()
    }

    /// The lumps with light, and those that run parallel to them.
    pub(super) fn lumps(&self, own: &Links<'_>, theirs: &Links<'_>) -> Result<BTreeMap<SlotId, Vec<u8>>> {
        let mut new = BTreeMap::new();
        for (name, grown) in self.lumps.iter().filter(|(_, grown)| !grown.added.is_empty()) {
            new.insert(grown.slot, [&grown.old[..], &grown.added[..]].concat());
            for site in
                own.sites.iter().filter(|site| site.parallel.is_some_and(|other| other.lump == *name) && site.len() > 0)
            {
                let other = theirs.named(&site.name).filter(|other| other.len() > 0);
                let added = match other {
                    Some(other) => scaled(&other.bytes, &grown.theirs, &grown.ranges),
                    // Light in color that is the same for all colors.
                    None if site.bytes.len() == 3 * grown.old.len() && site.name.ends_with("RGBLIGHTING") => {
                        Some(grown.added.iter().flat_map(|luxel| [*luxel; 3]).collect())
                    }
                    None => None,
                };
                let added = added.ok_or_else(|| {
                    let message = format!("it has a sample for each of {name}, and the other map has none");
                    refused(&site.name, message)
                })?;
                new.insert(site.slot, [&site.bytes[..], &added[..]].concat());
            }
        }
        Ok(new)
    }

    /// The lump in which one of the maps alone has its light, since the one that it is a copy of is empty.
    pub(super) fn is_in_copy(&self) -> Option<&'static str> {
        let LightModel::Faces(model) = self.from.dialect().light else { return None };
        let has = |map: &Bsp<'_>, lump: &str| map.slot(lump).is_ok_and(|slot| slot.length != 0);
        let copies = model.lumps.iter().filter(|lumps| lumps.copied.is_some());
        let is_alone = |map: &Bsp<'_>, copy: &str| has(map, copy) && !self.lumps.keys().any(|lump| has(map, lump));
        copies.map(|lumps| lumps.light).find(|copy| is_alone(self.from, copy) || is_alone(self.to, copy))
    }

    /// Whether the light of the target is in no lump, so that faces cannot get any.
    pub(super) fn is_dark(&self) -> bool {
        self.lumps.values().all(|grown| grown.old.is_empty())
    }
}

/// The bytes of a parallel lump for ranges of a lump.
fn scaled(bytes: &[u8], of: &[u8], ranges: &[Range<usize>]) -> Option<Vec<u8>> {
    let at = |at: usize| {
        let scaled = wide(at).checked_mul(wide(bytes.len()))?;
        let len = wide(of.len());
        scaled.is_multiple_of(len).then(|| usize::try_from(scaled / len).ok())?
    };
    let parts = ranges.iter().map(|range| bytes.get(at(range.start)?..at(range.end)?));
    Some(parts.collect::<Option<Vec<_>>>()?.concat())
}
