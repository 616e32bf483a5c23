//! Removes what nothing in a map needs: records, embedded textures, names of materials, luxels.
//!
//! Records are those that [`Unused`] finds. What is left follows, as after every edit of the order of records, and
//! everything that is referred to has the same content as before. `light`, `textures` and `names` are lumps that are
//! not arrays: bytes in them go if no record has them any more.

mod cut;
mod light;
mod names;
mod textures;

use std::collections::BTreeMap;

use super::check::{self, Usage};
use super::unused::Unused;
use crate::bsp::Bsp;
use crate::dialect::{Engine, Holds, Role};
use crate::draft::Draft;
use crate::error::Result;

/// What to remove, and what to keep.
///
/// ```
/// let options = bspkit::op::prune::Options::default().keep("PLANES").light(true);
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

    /// Removes records although lumps of unknown content may refer to those that move; [`Pruned::warnings`] has the
    /// reasons.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    fn keeps(&self, list: &str) -> bool {
        let is_in = |names: &[String]| {
            names.iter().any(|name| {
                list.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        !self.only.is_empty() && !is_in(&self.only) || is_in(&self.keep)
    }
}

/// What was removed.
///
/// ```
/// use bspkit::op::prune::{Options, Pruned, prune};
/// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
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
/// use bspkit::op::prune::{Options, prune};
/// let mut draft = Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
/// let pruned = prune(&mut draft, &Options::default())?;
/// assert!(pruned.lumps.iter().any(|lump| lump.lump == "LEAFS" && lump.after < lump.before));
/// let mut again = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?.draft();
/// assert!(prune(&mut again, &Options::default())?.lumps.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// As [`Unused::of`] and [`crate::Structure::remove`]. The draft is unchanged then.
pub fn prune(draft: &mut Draft<'_>, options: &Options) -> Result<Pruned> {
    draft.transaction(|draft| {
        let before = now(draft)?;
        let mut pruned = Pruned::default();
        let doubtful = if options.force { Vec::new() } else { doubtful(&before)? };
        let is_doubtful = |list: &str| doubtful.iter().any(|(lump, _)| *lump == list);
        let unused = Unused::keeping(&before, &|list| options.keeps(list) || is_doubtful(list))?;
        if !unused.lists.is_empty() {
            let edit = draft.structure().force(options.force).exact();
            pruned.warnings = edit.remove(&unused.to_remove())?.warnings;
        }
        let kept = doubtful.into_iter().filter(|(lump, _)| !options.keeps(lump));
        pruned.warnings.extend(kept.map(|(lump, why)| format!("{lump} stays as it is: {why}")));
        textures::prune(draft, options, &mut pruned)?;
        names::prune(draft, options)?;
        light::prune(draft, options, &mut pruned)?;
        let after = now(draft)?;
        pruned.lumps = lumps(&before, &after)?;
        let engine = before.dialect().engine(before.version());
        pruned.limits = engine.map_or_else(Vec::new, |engine| limits(engine, &before, &after));
        Ok(pruned)
    })
}

/// The lumps whose records lumps of unknown content may name, with the reasons. A lump that may name any record refuses
/// the whole edit instead.
fn doubtful(map: &Bsp<'_>) -> Result<Vec<(&'static str, String)>> {
    let links = map.links()?;
    let lumps = links.unknown.iter().filter_map(|(name, holds, why)| match holds {
        Holds::Only(lumps) => Some(lumps.iter().map(move |lump| (*lump, format!("{name} may refer to it, and {why}")))),
        _ => None,
    });
    let is_there = |lump: &str| links.referred(lump).is_some_and(|site| links.sites[site].len() > 0);
    Ok(lumps.flatten().filter(|(lump, _)| is_there(lump)).collect())
}

/// The map with the edits of a draft.
fn now<'a>(draft: &Draft<'a>) -> Result<Bsp<'a>> {
    Ok(draft.view()?.unwrap_or_else(|| draft.bsp().clone()))
}

/// The lumps and lists that differ in size.
fn lumps(before: &Bsp<'_>, after: &Bsp<'_>) -> Result<Vec<PrunedLump>> {
    let mut found = Vec::new();
    let slots = before.slots().iter().zip(after.slots());
    for (old, new) in slots.filter(|(_, new)| after.container().is_pending(new.id)) {
        let (was, is) = (before.bytes(old.id)?.len(), after.bytes(new.id)?.len());
        if was == is {
            continue;
        }
        let lists = before.records(old).unwrap_or_default();
        let left: BTreeMap<&str, usize> =
            after.records(new).unwrap_or_default().iter().map(|list| (list.list, list.count())).collect();
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
