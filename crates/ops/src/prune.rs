//! Removes what nothing in a map needs: records, embedded textures, names of materials, luxels.
//!
//! Records are those that [`Unused`] finds. What is left follows, as after every edit of the order of records, and
//! everything that is referred to has the same content as before. `light`, `textures` and `names` are lumps that are
//! not arrays: bytes in them go if no record has them any more.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{self, Usage};
use super::unused::Unused;
use crate::cut::Cut;
use crate::luxels::{self, is_shared};
use crate::unused::entities_of;
use bspkit::content::texdata::STRINGS;
use bspkit::content::textures::Textures;
use bspkit::dialect::{Engine, Holds, Role};
use bspkit::file::SlotId;
use bspkit::links::{How, Links, Word};
use bspkit::record::{Cell, Meaning};
use bspkit::{Bsp, Draft, Error, ErrorKind, Place, Result};

/// What to remove, and what to keep.
///
/// ```
/// let options = bspkit_ops::prune::Options::default().keep("PLANES").light(true);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The lumps, or lists as `LUMP.list`, to which the removal is limited; all if there are none.
    pub only: Vec<String>,
    /// The lumps, or lists, of which nothing is removed.
    pub keep: Vec<String>,
    /// Whether light that no face refers to is removed too.
    pub light: bool,
    /// Whether to go on where lumps of unknown content may refer to the records that move.
    pub force: bool,
}

impl Options {
    /// Limits the removal to a lump, or a list as `LUMP.list`, and others that are named so.
    #[must_use]
    pub fn only(mut self, list: impl Into<String>) -> Self {
        self.only.push(list.into());
        self
    }

    /// Keeps a lump, or a list, as it is.
    #[must_use]
    pub fn keep(mut self, list: impl Into<String>) -> Self {
        self.keep.push(list.into());
        self
    }

    /// Removes light that no face refers to.
    #[must_use]
    pub fn light(mut self, light: bool) -> Self {
        self.light = light;
        self
    }

    /// Removes records and light although lumps of unknown content may refer to those that move; [`Pruned::warnings`]
    /// has the reasons.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    fn keeps(&self, list: &str) -> bool {
        !self.only.is_empty() && !is_among(&self.only, list) || is_among(&self.keep, list)
    }

    /// As the map names its lumps: the game lump means all that is in it.
    fn of(&self, map: &Bsp<'_>) -> Self {
        let outer = map.role(Role::GameLump).map(|slot| slot.name.clone());
        let members = |names: &[String]| names.iter().any(|name| Some(name) == outer.as_ref()).then(|| MEMBERS.into());
        let mut options = self.clone();
        options.only.extend(members(&self.only));
        options.keep.extend(members(&self.keep));
        options
    }
}

/// All members of the game lump.
const MEMBERS: &str = "game";

/// Whether a list, or its lump, is one of these names.
fn is_among(names: &[String], list: &str) -> bool {
    names.iter().any(|name| {
        let rest = list.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || name == MEMBERS && rest.starts_with(':'))
    })
}

/// What was removed.
///
/// ```
/// use bspkit_ops::prune::{Options, Pruned, prune};
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?.draft();
/// let pruned: Pruned = prune(&mut draft, &Options::default().only("DRAWINDEXES"))?;
/// assert_eq!((pruned.lumps.len(), pruned.lumps[0].before, pruned.bytes()), (1, 84, 24));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Pruned {
    /// The lumps and lists that have less now, in the order of the lumps.
    pub lumps: Vec<PrunedLump>,
    /// The limits of the engine of which the map uses less now.
    pub limits: Vec<Freed>,
    /// What stayed although it may be unused, and what may be wrong after a forced edit.
    pub warnings: Vec<String>,
}

/// A lump, or a list, that has less than before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PrunedLump {
    /// The lump, or the list in it as `LUMP.list`.
    pub lump: String,
    /// What is counted: `records`, `textures` or `bytes`.
    pub unit: &'static str,
    /// How many there were.
    pub before: usize,
    /// How many there are.
    pub after: usize,
    /// The bytes that are gone.
    pub bytes: usize,
}

/// A limit of which the map uses less.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Freed {
    /// The lump.
    pub lump: String,
    /// What is counted.
    pub unit: String,
    /// How many there were.
    pub before: usize,
    /// How many there are.
    pub after: usize,
    /// The most that the engine accepts.
    pub max: usize,
}

impl Pruned {
    /// The bytes that are gone in all.
    pub fn bytes(&self) -> usize {
        self.lumps.iter().map(|lump| lump.bytes).sum()
    }
}

/// Removes from a draft what nothing needs. A second time there is nothing left to remove.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit_ops::prune::{Options, prune};
/// let mut draft = Bsp::open("../../tests/maps/q3/own_rooms.bsp")?.draft();
/// let pruned = prune(&mut draft, &Options::default())?;
/// assert!(pruned.lumps.iter().any(|lump| lump.lump == "LEAFS" && lump.after < lump.before));
/// let mut again = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?.draft();
/// assert!(prune(&mut again, &Options::default())?.lumps.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// As [`Unused::of`] and [`bspkit::Structure::remove`]. The draft is unchanged then.
pub fn prune(draft: &mut Draft<'_>, options: &Options) -> Result<Pruned> {
    draft.transaction(|draft| {
        let before = now(draft)?;
        let options = &options.of(&before);
        let mut pruned = Pruned::default();
        let links = before.links()?;
        let doubtful = if options.force { Vec::new() } else { doubtful(&links) };
        let is_doubtful = |list: &str| doubtful.iter().any(|(lump, _)| *lump == list);
        let kept = kept(&before, &links, options, &|list| options.keeps(list) || is_doubtful(list));
        let entities = entities_of(&before)?;
        let unused = Unused::in_links(&before, &links, entities.as_ref(), &[], &|list| kept.contains(list));
        if !unused.lists.is_empty() {
            let edit = draft.structure().force(options.force).exact();
            pruned.warnings = edit.remove(&unused.to_remove())?.warnings;
        }
        let doubtful = doubtful.into_iter().filter(|(lump, _)| !options.keeps(lump));
        pruned.warnings.extend(doubtful.map(|(lump, why)| format!("{lump} stays as it is: {why}")));
        if before.dialect().owned.is_empty() {
            let title = before.dialect().title;
            let message = format!("not all references of {title} maps are known: no record is taken for unused");
            pruned.warnings.push(message);
        }
        prune_textures(draft, options, &mut pruned)?;
        prune_names(draft, options)?;
        prune_light(draft, options, &mut pruned)?;
        let after = now(draft)?;
        pruned.lumps = lumps_of(&before, &after)?;
        let engine = before.dialect().engine(before.version());
        pruned.limits = engine.map_or_else(Vec::new, |engine| limits(engine, &before, &after));
        Ok(pruned)
    })
}

/// The lists of which nothing is removed: those that are to be kept, those to whose records records or blocks of these
/// belong, those that have stretches of these, and the models if what models have is kept: with a model all of it goes.
fn kept(map: &Bsp<'_>, links: &Links<'_>, options: &Options, is_kept: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let mut kept: Vec<bool> = links.sites.iter().map(|site| is_kept(&site.name) || is_kept(site.row.lump)).collect();
    let keep = |lump: &str, kept: &mut Vec<bool>| {
        links.referred(lump).into_iter().for_each(|site| kept[site] = true);
    };
    let blocks = links.blocks.iter().map(|(_, name, blocks)| (name, blocks.lump));
    let parts = links.parts.iter().map(|(_, name, parallel)| (name, parallel.lump));
    for (_, lump) in blocks.chain(parts).filter(|(name, _)| is_among(&options.keep, name)) {
        keep(lump, &mut kept);
    }
    // Those that have stretches of a list are kept with it.
    let owners = |list: usize| {
        let runs = links.links.iter().filter(move |link| link.to == list && matches!(link.how, How::Run(..)));
        let parallel = links.sites[list].parallel.filter(|_| !links.sites[list].is_empty());
        runs.map(|link| link.from).chain(parallel.and_then(|parallel| links.referred(parallel.lump)))
    };
    let mut open: Vec<usize> = (0..kept.len()).filter(|list| kept[*list]).collect();
    while let Some(list) = open.pop() {
        for owner in owners(list) {
            if !std::mem::replace(&mut kept[owner], true) {
                open.push(owner);
            }
        }
    }
    let site_of = |role| map.role(role).and_then(|slot| links.sites.iter().position(|site| site.slot == slot.id));
    if let Some(models) = site_of(Role::Models) {
        let has = links.links.iter().filter(|link| link.from == models && link.to != models).map(|link| link.to);
        let has: Vec<usize> = has.chain([Role::Nodes, Role::Leafs].into_iter().filter_map(site_of)).collect();
        // What a list that would lose records refers to stays with these.
        let owned: Vec<usize> = map.dialect().owned.iter().filter_map(|lump| links.referred(lump)).collect();
        let listing = links.links.iter().filter(|link| has.contains(&link.to) && owned.contains(&link.from));
        if listing.map(|link| link.from).chain(has.iter().copied()).any(|list| list != models && kept[list]) {
            kept[models] = true;
        }
    }
    links.sites.iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(site, _)| site.name.clone()).collect()
}

/// The lumps whose records lumps of unknown content may name, or damaged ones, with the reasons. A lump that may name
/// any record refuses the whole edit instead.
fn doubtful(links: &Links<'_>) -> Vec<(&'static str, String)> {
    let lumps = links.unknown.iter().filter_map(|(name, holds, why)| match holds {
        Holds::Only(lumps) => Some(lumps.iter().map(move |lump| (*lump, format!("{name} may refer to it, and {why}")))),
        _ => None,
    });
    let is_there = |lump: &str| links.referred(lump).is_some_and(|site| !links.sites[site].is_empty());
    let damaged = links.sites.iter().enumerate().flat_map(|(index, site)| {
        let why = |(name, why)| match name == site.name {
            true => (site.row.lump, format!("it {why}")),
            false => (site.row.lump, format!("{name} may refer to it, and {why}")),
        };
        links.damage(index).map(why).collect::<Vec<_>>()
    });
    let mut all: Vec<_> = lumps.flatten().chain(damaged).filter(|(lump, _)| is_there(lump)).collect();
    let mut seen = BTreeSet::new();
    all.retain(|doubt| seen.insert(doubt.clone()));
    all
}

/// The map with the edits of a draft.
fn now<'a>(draft: &Draft<'a>) -> Result<Bsp<'a>> {
    Ok(draft.view()?.unwrap_or_else(|| draft.bsp().clone()))
}

/// The lumps and lists that differ in size.
fn lumps_of(before: &Bsp<'_>, after: &Bsp<'_>) -> Result<Vec<PrunedLump>> {
    let mut found = Vec::new();
    let slots = before.slots().iter().zip(after.slots());
    for (old, new) in slots.filter(|(_, new)| after.container().is_pending(new.id)) {
        let (was, is) = (before.bytes(old.id)?.len(), after.bytes(new.id)?.len());
        if was == is {
            continue;
        }
        let lists = before.spans(old).unwrap_or_default();
        let left: BTreeMap<&str, usize> =
            after.spans(new).unwrap_or_default().iter().map(|list| (list.list, list.count())).collect();
        for list in &lists {
            let (was, is) = (list.count(), left.get(list.list).copied().unwrap_or(0));
            if was != is {
                let dot = if list.list.is_empty() { "" } else { "." };
                found.push(PrunedLump {
                    lump: format!("{}{dot}{}", old.name, list.list),
                    unit: "records",
                    before: was,
                    after: is,
                    bytes: was.saturating_sub(is) * list.record.size,
                });
            }
        }
        if lists.is_empty() {
            let bytes = was.saturating_sub(is);
            let is_textures = before.role(Role::Textures).is_some_and(|slot| slot.id == old.id);
            let counts = before.textures().ok().zip(after.textures().ok()).filter(|_| is_textures);
            let (unit, before, after) = match counts {
                Some((before, after)) => ("textures", before.len(), after.len()),
                None => ("bytes", was, is),
            };
            found.push(PrunedLump { lump: old.name.clone(), unit, before, after, bytes });
        }
    }
    Ok(found)
}

/// The limits of which less is used.
fn limits(engine: &'static Engine, before: &Bsp<'_>, after: &Bsp<'_>) -> Vec<Freed> {
    let after = check::usage(after, engine);
    let count = |usage: &Usage| after.iter().find(|other| std::ptr::eq(other.limit, usage.limit)).map(|it| it.count);
    let freed = |usage: Usage| {
        let after = count(&usage).filter(|after| *after < usage.count)?;
        let (lump, unit) = (usage.limit.lump.to_owned(), usage.limit.unit.to_string());
        Some(Freed { lump, unit, before: usage.count, after, max: usage.limit.most })
    };
    check::usage(before, engine).into_iter().filter_map(freed).collect()
}

// Numbers of records that follow.

/// The numbers of all records that have this meaning for a lump, by list.
fn numbers(
    map: &Bsp<'_>,
    links: &Links<'_>,
    lump: &str,
    named: fn(Meaning) -> Option<&'static str>,
) -> Vec<(usize, Word)> {
    let mut found = Vec::new();
    for (index, site) in links.sites.iter().enumerate() {
        for cell in Cell::meant(site.record.fields) {
            if named(cell.meaning).is_some_and(|usual| map.offset_lumps(site.row, usual).contains(&lump)) {
                found.extend(Word::of(cell.place.start, cell.shape).map(|word| (index, word)));
            }
        }
    }
    found
}

/// The offsets in a lump.
fn offsets(map: &Bsp<'_>, links: &Links<'_>, lump: &str) -> Vec<(usize, Word)> {
    numbers(map, links, lump, |meaning| match meaning {
        Meaning::Offset { lump } => Some(lump),
        _ => None,
    })
}

/// Gives numbers of records new values.
fn renumber(
    draft: &mut Draft<'_>,
    links: &Links<'_>,
    numbers: &[(usize, Word)],
    new: impl Fn(i64) -> i64,
) -> Result<()> {
    let mut slots: BTreeMap<SlotId, Vec<u8>> = BTreeMap::new();
    for (index, word) in numbers {
        let site = &links.sites[*index];
        let bytes = slots.entry(site.slot).or_insert_with(|| site.bytes.to_vec());
        for (at, record) in bytes[site.range.clone()].chunks_exact_mut(site.record.size).enumerate() {
            let old = word.get(record);
            if !word.put(record, new(old)) {
                let message = format!("{} does not fit its field", new(old));
                return Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(&site.name).record(at)));
            }
        }
    }
    slots.into_iter().try_for_each(|(slot, bytes)| draft.set_little_endian(slot, bytes))
}

// Luxels of no face.

fn prune_light(draft: &mut Draft<'_>, options: &Options, pruned: &mut Pruned) -> Result<()> {
    let map = now(draft)?;
    let Some(light) = Some(()).filter(|()| options.light).and_then(|()| map.light().ok()) else { return Ok(()) };
    let mut lumps: Vec<&str> = light.sets().iter().filter(|set| !set.is_pages()).map(|set| set.lump()).collect();
    lumps.dedup();
    let links = map.links()?;
    for lump in lumps.into_iter().filter(|lump| !options.keeps(lump)) {
        let Some(slot) = map.slots().iter().find(|slot| slot.name == lump) else { continue };
        let sets = || light.sets().iter().filter(|set| set.lump() == lump);
        // Offsets of copies are those of the luxels that they are copies of, and go with these.
        if offsets(&map, &links, lump).is_empty() || is_shared(&map, &links, lump) {
            continue;
        }
        if let Some((name, why)) = links.unknown_of(lump).next().filter(|_| !options.force) {
            pruned.warnings.push(format!("{lump} stays: {name} may be for its luxels, and {why}"));
            continue;
        }
        let faults = sets().map(|set| set.faults().len()).sum::<usize>();
        if faults > 0 {
            pruned.warnings.push(format!("{lump} stays: the light of {faults} faces cannot be found"));
            continue;
        }
        // Engines differ in what they read of the light of faces that others draw without.
        let claims = sets().flat_map(|set| set.claims().iter().map(|(_, bytes)| bytes.clone()));
        let kept: Vec<_> = sets().flat_map(|set| set.blocks()).map(|block| block.whole()).chain(claims).collect();
        let bytes = map.little_endian(slot.id)?;
        let gone = Cut::all_but(kept.clone(), bytes.len());
        // Without any luxels a map is as bright as can be.
        if gone.is_nothing() || kept.is_empty() {
            continue;
        }
        let mut held = None;
        let done = draft.transaction(|draft| {
            let count = luxels::cut(draft, lump, &gone)?;
            held = lumps_of(&map, &now(draft)?)?.into_iter().find(|other| is_among(&options.keep, &other.lump));
            match &held {
                Some(_) => Err(Error::new(ErrorKind::Refused, "a lump that is kept would follow")),
                None => Ok(count),
            }
        });
        match held {
            Some(other) => pruned.warnings.push(format!("{lump} stays: {} is kept, and would follow it", other.lump)),
            None if done? == 0 => {
                let why = "a lump runs parallel to it, sample by sample, and cannot follow";
                pruned.warnings.push(format!("{lump} stays: {why}"));
            }
            None => {}
        }
    }
    Ok(())
}

// Names of materials that no entry of the table has.

fn prune_names(draft: &mut Draft<'_>, options: &Options) -> Result<()> {
    let map = now(draft)?;
    let Some(slot) = map.slots().iter().find(|slot| slot.name == STRINGS && slot.length != 0) else { return Ok(()) };
    if options.keeps(STRINGS) {
        return Ok(());
    }
    // A damaged offset may mean any bytes.
    let Some(kept) = map.texture_strings()?.extents() else { return Ok(()) };
    let bytes = map.bytes(slot.id)?;
    let gone = Cut::all_but(kept, bytes.len());
    if gone.is_nothing() {
        return Ok(());
    }
    let links = map.links()?;
    let offsets = offsets(&map, &links, &slot.name);
    draft.set_little_endian(slot.id, gone.left(&bytes))?;
    renumber(draft, &links, &offsets, |old| gone.offset(old))
}

// Embedded textures that no face has.

fn prune_textures(draft: &mut Draft<'_>, options: &Options, pruned: &mut Pruned) -> Result<()> {
    let map = now(draft)?;
    let Some(slot) = map.role(Role::Textures).filter(|slot| slot.length != 0 && map.has_textures()) else {
        return Ok(());
    };
    if options.keeps(&slot.name) {
        return Ok(());
    }
    let (links, textures) = (map.links()?, map.lens::<Textures<'_>>()?);
    let fields = numbers(&map, &links, &slot.name, |meaning| match meaning {
        Meaning::Index { lump, .. } => Some(lump),
        _ => None,
    });
    let mut used = vec![false; textures.len()];
    for (index, word) in &fields {
        let site = &links.sites[*index];
        for record in site.records() {
            if let Some(used) = usize::try_from(word.get(record)).ok().and_then(|index| used.get_mut(index)) {
                *used = true;
            }
        }
    }
    let values: BTreeSet<Vec<u8>> = match entities_of(&map)? {
        Some(texts) => {
            texts.iter().flat_map(|entity| entity.pairs().map(|pair| lower(pair.value)).collect::<Vec<_>>()).collect()
        }
        None => BTreeSet::new(),
    };
    let names: Vec<Option<Vec<u8>>> = (0..textures.len()).map(|index| textures.name(index).map(lower)).collect();
    for (used, name) in used.iter_mut().zip(&names) {
        *used |= name.as_ref().is_some_and(|name| values.contains(name));
    }
    // Engines go from one frame to the others.
    let families: BTreeSet<&[u8]> =
        used.iter().zip(&names).filter(|(used, _)| **used).filter_map(|(_, name)| family(name.as_ref()?)).collect();
    for (used, name) in used.iter_mut().zip(&names) {
        *used |= name.as_ref().and_then(|name| family(name)).is_some_and(|family| families.contains(family));
    }
    if used.iter().all(|used| *used) {
        return Ok(());
    }
    if let Some((name, why)) = links.torn_text().filter(|_| !options.force) {
        pruned.warnings.push(format!("{} stays as it is: {name} may name its textures, and {why}", slot.name));
        return Ok(());
    }
    let Some(bytes) = textures.only(&used)? else {
        pruned.warnings.push(format!("{} stays: textures in it are damaged", slot.name));
        return Ok(());
    };
    let mut next = 0_i64;
    let places: BTreeMap<i64, i64> = (0_i64..)
        .zip(&used)
        .filter(|(_, used)| **used)
        .map(|(old, _)| {
            next += 1;
            (old, next - 1)
        })
        .collect();
    let len = i64::try_from(used.len()).unwrap_or(i64::MAX);
    // What was out of range stays so.
    renumber(draft, &links, &fields, |old| {
        places.get(&old).copied().unwrap_or(if old < 0 { old } else { old.max(len) })
    })?;
    draft.set(slot.id, bytes)
}

fn lower(name: &[u8]) -> Vec<u8> {
    name.to_ascii_lowercase()
}

/// The name without the frame of an animated texture, or without the number of a random one (`-0name`).
pub(crate) fn family(name: &[u8]) -> Option<&[u8]> {
    matches!(name.first(), Some(b'+' | b'-')).then(|| name.get(2..)).flatten()
}
