//! Merges two edits of the same map: entities by identity, embedded files by name, and every other lump from the side
//! that changed it. What both sides changed is a conflict: it is listed, and the merged map has our side of it.
//!
//! ```
//! use bspkit::op::merge::merge;
//! use bspkit::{Bsp, Layout};
//! let base = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
//! let edited = |class: &str, key: &str, value: &str| {
//!     let mut draft = base.draft();
//!     draft.entities()?.first_class(class)?.set(key, value)?;
//!     Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())
//! };
//! let (ours, theirs) = (edited("light", "light", "150")?, edited("worldspawn", "message", "The Place")?);
//! let merged = merge(&base, &ours, &theirs)?;
//! assert!(merged.conflicts.is_empty());
//! let map = Bsp::from_vec(merged.draft.plan(Layout::Keep)?.to_vec())?;
//! assert_eq!(map.entities()?.get(0).unwrap().get("message"), Some(&b"The Place"[..]));
//!
//! let other = edited("light", "light", "200")?;
//! let conflict = &merge(&base, &ours, &other)?.conflicts[0];
//! assert_eq!(conflict.to_string(), "ENTITIES: #6 light: both sides change `light`");
//! # Ok::<(), bspkit::Error>(())
//! ```

mod entities;
mod files;
mod references;

use crate::Rope;
use crate::bsp::Bsp;
use crate::dialect::Role;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{SegmentKind, Slot, SlotId};

/// Something that both sides changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The lump; empty for what is outside of all lumps.
    pub lump: String,
    /// What both sides changed: a sentence without a capital and a full stop.
    pub message: String,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.lump.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "{}: {}", self.lump, self.message),
        }
    }
}

/// The result of a merge.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged<'a> {
    /// The edits that make our map the merged one; or those that make it from their map, if only they changed what is
    /// outside of all lumps.
    pub draft: Draft<'a>,
    /// Everything that both sides changed. The draft has our side of it.
    pub conflicts: Vec<Conflict>,
    /// The names of lumps that are as theirs.
    pub theirs: Vec<String>,
    /// The names of lumps that have changes of both sides.
    pub both: Vec<String>,
}

/// The base and the two sides.
struct Sides<'s, 'a> {
    base: &'s Bsp<'a>,
    ours: &'s Bsp<'a>,
    theirs: &'s Bsp<'a>,
}

/// Where the new content of a slot comes from.
enum Source<'a> {
    Ours,
    Theirs,
    /// Both.
    New(Rope<'a>),
}

/// Merges the changes from `base` to `theirs` with those from `base` to `ours`.
///
/// # Errors
/// [`ErrorKind::Refused`] if the maps are of different dialects or versions; as [`Draft::set`].
pub fn merge<'a>(base: &Bsp<'a>, ours: &Bsp<'a>, theirs: &Bsp<'a>) -> Result<Merged<'a>> {
    let sides = Sides { base, ours, theirs };
    sides.check_dialects()?;
    let mut conflicts = Vec::new();
    let carrier = sides.carrier(&mut conflicts);
    let (mut draft, mut taken, mut both) = (carrier.draft(), Vec::new(), Vec::new());
    for slot in carrier.slots().iter().filter(|slot| !is_container(carrier, slot)) {
        match sides.source(slot, &mut conflicts)? {
            Source::Ours => put(&mut draft, slot, ours)?,
            Source::Theirs => {
                put(&mut draft, slot, theirs)?;
                taken.push(slot.name.clone());
            }
            Source::New(bytes) => {
                draft.set(slot.id, bytes)?;
                both.push(slot.name.clone());
            }
        }
    }
    conflicts.extend(references::torn(&sides));
    if conflicts.is_empty() {
        conflicts.extend(references::introduced(&sides, &draft)?);
    }
    Ok(Merged { draft, conflicts, theirs: taken, both })
}

/// Gives a slot of the draft what it has in one of the maps.
fn put<'a>(draft: &mut Draft<'a>, slot: &Slot, from: &Bsp<'a>) -> Result<()> {
    let Some(other) = twin(from, slot).filter(|other| !is_same(draft.bsp(), slot, from, other)) else { return Ok(()) };
    draft.set(slot.id, from.bytes(other.id)?)?;
    if let Some(version) = other.version.filter(|_| other.version != slot.version) {
        draft.set_version(slot.id, version)?;
    }
    let compression = from.draft().compression(other.id);
    match compression == draft.compression(slot.id) {
        true => Ok(()),
        false => draft.set_compression(slot.id, compression),
    }
}

/// The same slot of another map.
fn twin<'b>(bsp: &'b Bsp<'_>, slot: &Slot) -> Option<&'b Slot> {
    match slot.id {
        SlotId::Lump(_) | SlotId::Extra(_) => bsp.container().slot(slot.id),
        _ => bsp.slots().iter().find(|other| other.name == slot.name),
    }
}

fn is_same(one: &Bsp<'_>, slot: &Slot, other: &Bsp<'_>, twin: &Slot) -> bool {
    slot.version == twin.version && one.stored(slot.id)[..] == other.stored(twin.id)[..]
}

/// Whether a slot only holds other slots, which are merged one by one.
fn is_container(bsp: &Bsp<'_>, slot: &Slot) -> bool {
    let holds = |other: &Slot| {
        let is_inside = slot.stored.start <= other.stored.start && other.stored.end <= slot.stored.end;
        matches!(other.id, SlotId::Game(_)) && !other.stored.is_empty() && is_inside
    };
    slot.is_top_level() && bsp.slots().iter().any(holds)
}

/// What a map has outside of its lumps: the names of the slots, what is between them and after them, the revision.
fn outside<'b>(bsp: &'b Bsp<'_>) -> (Vec<&'b str>, Vec<u8>, Option<i32>) {
    let names = bsp.slots().iter().map(|slot| slot.name.as_str()).collect();
    let mut bytes = Vec::new();
    for segment in bsp.container().segments() {
        if matches!(segment.kind, SegmentKind::Gap | SegmentKind::BspxGap | SegmentKind::Tail) {
            // Lumps that shrink or move leave zeros, which are not content.
            bytes.extend(bsp.container().bytes()[segment.range].iter().filter(|byte| **byte != 0));
        }
    }
    (names, bytes, bsp.revision())
}

impl<'s, 'a> Sides<'s, 'a> {
    fn check_dialects(&self) -> Result<()> {
        let all = [("the base", self.base), ("ours", self.ours), ("theirs", self.theirs)];
        let first = |bsp: &Bsp<'_>| (bsp.dialect().name, bsp.version());
        if all.iter().all(|(_, bsp)| first(bsp) == first(self.base)) {
            return Ok(());
        }
        let kinds = all.map(|(what, bsp)| format!("{what} is {} version {}", bsp.dialect().name, bsp.version()));
        let message = format!("maps of different dialects cannot be merged: {}", kinds.join(", "));
        Err(Error::new(ErrorKind::Refused, message))
    }

    /// The map that the merged one is made from: theirs if only they changed what is outside of all lumps.
    fn carrier(&self, conflicts: &mut Vec<Conflict>) -> &'s Bsp<'a> {
        let (base, ours, theirs) = (outside(self.base), outside(self.ours), outside(self.theirs));
        if theirs == base || theirs == ours {
            return self.ours;
        }
        if ours == base {
            return self.theirs;
        }
        let message =
            "both sides change what is outside of all lumps: the list of lumps, bytes of no lump, the revision";
        conflicts.push(Conflict { lump: String::new(), message: message.to_owned() });
        self.ours
    }

    fn source(&self, slot: &Slot, conflicts: &mut Vec<Conflict>) -> Result<Source<'a>> {
        let twins = (twin(self.base, slot), twin(self.ours, slot), twin(self.theirs, slot));
        let (Some(base), Some(ours), Some(theirs)) = twins else {
            // Only the map that everything else is put into has it, or it was removed there.
            return Ok(if twins.1.is_some() { Source::Ours } else { Source::Theirs });
        };
        let by_theirs = !is_same(self.base, base, self.theirs, theirs);
        let by_ours = !is_same(self.base, base, self.ours, ours);
        match (by_ours, by_theirs) {
            (_, false) => return Ok(Source::Ours),
            (false, true) => return Ok(Source::Theirs),
            (true, true) if is_same(self.ours, ours, self.theirs, theirs) => return Ok(Source::Ours),
            (true, true) => {}
        }
        let merged = match self.ours.role_of(slot.id) {
            Some(Role::Entities) => entities::merge(self, slot, conflicts)?,
            Some(Role::Pak) => files::merge(self, slot, conflicts)?,
            _ => None,
        };
        if let Some(bytes) = merged {
            return Ok(Source::New(bytes));
        }
        if !conflicts.iter().any(|conflict| conflict.lump == slot.name) {
            let message = "both sides change it".to_owned();
            conflicts.push(Conflict { lump: slot.name.clone(), message });
        }
        Ok(Source::Ours)
    }
}
