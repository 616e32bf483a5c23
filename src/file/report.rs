//! What a plan changes, in words and numbers.

use std::fmt;

use super::SlotId;
use crate::bytes::wide;

/// What a plan changes, in words and numbers.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// let mut draft = Bsp::parse(&bytes)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let plan = draft.plan(Layout::Keep)?;
/// assert!(plan.report().to_string().starts_with("ENTITIES"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The edited slots.
    pub edits: Vec<SlotEdit>,
    /// The lumps whose version in the directory changes.
    pub versions: Vec<Versioned>,
    /// Slots that move without being edited.
    pub moved: Vec<Moved>,
    /// The bytes between slots that a repack leaves out, and how many of them are not zero.
    pub dropped: (usize, usize),
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The size of the file before and after, in bytes.
    pub size: (usize, usize),
}

/// One edited slot of a [`Report`].
///
/// ```
/// # use bspkit::{Bsp, Layout};
/// # let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// # let mut draft = Bsp::parse(&bytes)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let plan = draft.plan(Layout::Keep)?;
/// let edit = &plan.report().edits[0];
/// assert_eq!((edit.name.as_str(), edit.sizes), ("ENTITIES", (1757, 1743)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SlotEdit {
    /// The slot's name.
    pub name: String,
    /// Which slot it is.
    pub slot: SlotId,
    /// Its bytes in the file before and after.
    pub sizes: (usize, usize),
    /// How it was placed.
    pub(crate) how: How,
}

/// A lump whose version changes: one line of a [`Report`].
///
/// ```
/// use bspkit::{Bsp, Builder, Layout, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).lump(14, [0; 48]).build()?;
/// let map = Bsp::parse(&bytes)?;
/// let mut draft = map.draft();
/// draft.set_version(map.slot("models")?.id, 1)?;
/// let plan = draft.plan(Layout::Keep)?;
/// let version = &plan.report().versions[0];
/// assert_eq!((version.name.as_str(), version.from, version.to), ("MODELS", 0, 1));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Versioned {
    /// The lump's name.
    pub name: String,
    /// Which lump it is.
    pub slot: SlotId,
    /// Its version before.
    pub from: i32,
    /// Its version after.
    pub to: i32,
}

/// A slot that moves: one line of a [`Report`].
///
/// ```
/// # use bspkit::{Bsp, Layout};
/// # let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// # let mut draft = Bsp::parse(&bytes)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let plan = draft.plan(Layout::Keep)?;
/// assert!(plan.report().moved.iter().all(|moved| (moved.to - moved.from) % 4 == 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Moved {
    /// The slot's name.
    pub name: String,
    /// Its offset before.
    pub from: i32,
    /// Its offset after.
    pub to: i32,
}

/// How an edited slot was placed: the rows of the layout table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    InPlace,
    Slack,
    Last,
    Shifted(usize),
    Appended,
    Detached,
    Repacked,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More edits than this are summed up.
        const MANY: usize = 8;
        let mut separator = "";
        if self.edits.len() > MANY {
            let sum = |size: fn(&SlotEdit) -> usize| self.edits.iter().map(size).map(wide).sum::<u64>();
            let (before, after) = (sum(|edit| edit.sizes.0), sum(|edit| edit.sizes.1));
            write!(f, "{} lumps {before} -> {after} bytes", self.edits.len())?;
            separator = "; ";
        } else {
            for SlotEdit { name, sizes: (before, after), how, .. } in &self.edits {
                write!(f, "{separator}{name} {before} -> {after} bytes, {how}")?;
                separator = "; ";
            }
        }
        for Versioned { name, from, to, .. } in &self.versions {
            write!(f, "{separator}{name} version {from} -> {to}")?;
            separator = "; ";
        }
        match &self.moved[..] {
            [] => {}
            [Moved { name, from, to }] => write!(f, "{separator}{name} moved from {from} to {to}")?,
            moved => {
                write!(f, "{separator}{} lumps moved", moved.len())?;
                let distance = |moved: &Moved| i64::from(moved.to) - i64::from(moved.from);
                if moved.windows(2).all(|pair| distance(&pair[0]) == distance(&pair[1])) {
                    write!(f, " by {}", distance(&moved[0]))?;
                }
            }
        }
        if !self.moved.is_empty() {
            separator = "; ";
        }
        if self.dropped.0 > 0 {
            let (bytes, content) = self.dropped;
            write!(f, "{separator}dropped {bytes} bytes between lumps, {content} of them not zero")?;
            separator = "; ";
        }
        match (self.size, separator) {
            ((before, after), "") if before == after => f.write_str("nothing changes"),
            ((before, after), _) if before == after => Ok(()),
            ((before, after), _) => write!(f, "{separator}file {before} -> {after} bytes"),
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::InPlace => f.write_str("in place"),
            How::Slack => f.write_str("in place, into the zeros after it"),
            How::Last => f.write_str("in place at the end"),
            How::Shifted(by) => write!(f, "in place, what follows it moves by {by}"),
            How::Appended => f.write_str("moved to the end"),
            How::Detached => f.write_str("copied to the end, others share its old bytes"),
            How::Repacked => f.write_str("rewritten"),
        }
    }
}
