//! A map as bytes. This module finds slots and words, places changed slots, and writes a plan to the disk.
//!
//! Nothing here knows what a lump means. The dialect's rules about placement are data: [`Rules`].

mod backups;
mod container;
pub mod directory;
mod inside;
pub mod lzma;
pub mod names;
mod patch;
mod place;
mod plan;
mod read;
mod save;
mod slot;
mod target;
mod whole;

pub use backups::{backups, real_file, remove_backups, take_back};
pub use container::Container;
pub use container::directory as game_directory;
pub(crate) use container::{XASH_ENTRIES, member_name};
pub(crate) use place::{Edit, Edits, plan};
pub use plan::{Change, ChangeKind, Moved, Plan, Report, SlotEdit, Versioned};
pub use read::SideFile;
pub(crate) use read::{Access, read};
pub use save::{SaveOptions, Saved, Temporary, abandon, replace};
pub use slot::{Bounds, Segment, SegmentKind, Slot, SlotId};
pub(crate) use target::Origin;
pub(crate) use target::{is_read_only, read_only, there};

/// A dialect's rules about placement, as data.
///
/// ```
/// let rules = &bspkit::dialect::SOURCE.rules;
/// assert_eq!(rules.game_lump, Some(35));
/// assert_eq!(rules.write_order.last(), Some(&40));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rules {
    /// The lump that holds members with offsets.
    pub game_lump: Option<usize>,
    /// Whether those offsets are relative to the start of the game lump, so that it can move without a change of its
    /// bytes. Otherwise they are relative to the start of the file.
    pub relative_members: bool,
    /// Whether an Xash3D extra header may follow the header.
    pub extra_header: bool,
    /// The lump whose offset a Bloodlines trailer repeats.
    pub trailer_lump: Option<usize>,
    /// Lumps with a coarser alignment than 4.
    pub alignments: &'static [Alignment],
    /// The alignment of the file size: 4, or more on consoles. It applies only to files whose size is aligned already.
    pub end_alignment: usize,
    /// The lump that has to be first.
    pub first_lump: Option<usize>,
    /// The lumps that have to be last, in this order.
    pub last_lumps: &'static [usize],
    /// The dictionary that compressed lumps declare, in bytes.
    pub dictionary: u32,
    /// The order in which the dialect's compilers write lumps; lumps that are not in it follow by index.
    pub write_order: &'static [usize],
}

impl Rules {
    /// The rules of files for which only the order is known.
    pub(crate) const PLAIN: Rules = Rules {
        game_lump: None,
        relative_members: false,
        extra_header: false,
        trailer_lump: None,
        alignments: &[],
        end_alignment: 4,
        first_lump: None,
        last_lumps: &[],
        dictionary: lzma::DECLARED_DICTIONARY,
        write_order: &[],
    };

    /// The alignment that a file of this size keeps.
    pub(crate) fn end_alignment(&self, size: usize) -> usize {
        if size.is_multiple_of(self.end_alignment) { self.end_alignment } else { 4 }
    }

    /// The position that the members' offsets are relative to, in a game lump that begins at `base`.
    pub(crate) fn origin(&self, base: usize) -> usize {
        if self.relative_members { base } else { 0 }
    }
}

/// The alignment of one lump.
///
/// ```
/// let pak = &bspkit::dialect::SOURCE.rules.alignments[0];
/// assert_eq!((pak.lump, pak.bytes, pak.only_if_it_stood_so), (40, 2048, true));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Alignment {
    /// The lump's index.
    pub lump: usize,
    /// A power of two.
    pub bytes: usize,
    /// Whether it applies only to files in which the lump was aligned before.
    pub only_if_it_stood_so: bool,
}

/// How the changed slots of a draft are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// Nothing moves as far as possible. Bytes after a slot that grew move only if they hold no offsets that would
    /// change.
    #[default]
    Keep,
    /// A slot that does not fit its place moves to the end: the smallest difference.
    Append,
    /// The dialect's canonical order, without gaps.
    Repack,
    /// An edited slot is placed apart from its old bytes: in zeros between other slots, or after the end. A save over
    /// the file that the map was read from writes only what changes into that file, and the old map is whole until one
    /// sector of its directory is written: milliseconds, however large the file is. If an edit cannot be placed so, the
    /// plan is that of [`Self::Keep`], and [`Saved::whole`] says why.
    Patch,
}
