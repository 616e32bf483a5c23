//! Rows: the known layouts of each lump, and how to detect which one a given lump uses.

use super::list::{byte_swap_all, parts};
use super::{Block, Blocks, Each, Facts, Holds, List, OrderFacts, Parallel, Places, Records};
use crate::bytes::{ByteOrder, Data};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{RecordInfo, byte_swap};

/// One possible layout of a lump.
///
/// A lump may have several rows, for other map versions and other games. Rows of the lump's own version are tried
/// first. The first row whose proof holds is taken; if no proof holds, the lump is bytes.
///
/// ```
/// use bspkit::dialect::{Form, QUAKE2};
/// let row = QUAKE2.rows_of("PLANES").next().unwrap();
/// assert!(matches!(row.form, Form::Array(record) if record.size == 20));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The lump, by the dialect's name; `game:sprp` for members.
    pub lump: &'static str,
    /// The layout of its content.
    pub form: Form,
    /// The map versions that it applies to; if empty, all versions of the dialect.
    pub maps: &'static [i32],
    /// The lump versions that it applies to; if empty, all versions.
    pub versions: &'static [i32],
    /// The condition under which the row is accepted.
    pub proof: Option<Proof>,
    /// Whether the proof is a sum that an edit of records changes: if it does not hold in a map that otherwise has the
    /// usual structs, the row is accepted.
    pub is_summed: bool,
    /// What moves with it, and which order it has.
    pub order: OrderFacts,
    /// If the content is not records: the function that byte-swaps its numbers.
    pub(super) byte_swap: Option<ByteSwap>,
}

/// Byte-swaps the numbers of a lump that are in the given byte order. It reads counts before it swaps them, so applying
/// it twice restores the input.
pub(super) type ByteSwap = fn(&mut [u8], ByteOrder);

/// Checks whether a layout fits the map; the error is the reason why not. It is a sentence and not an [`Error`], which
/// needs a kind and the lump: [`crate::Bsp::row`] adds these.
pub type Proof = fn(&Facts<'_>, &Row) -> Result<(), String>;

/// How the bytes of a lump are laid out.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Form {
    /// An array of records.
    Array(&'static RecordInfo),
    /// Several lists, each a 32-bit count and this many records, as [`List::counted`] says.
    Lists(&'static [List]),
    /// Not records; the name of the content. A module of `content` may read it.
    Lens(&'static str),
    /// Not known well enough, with the reason.
    Opaque(&'static str),
}

impl Row {
    pub(super) const fn new(lump: &'static str, form: Form) -> Self {
        Row {
            lump,
            form,
            maps: &[],
            versions: &[],
            proof: None,
            is_summed: false,
            order: OrderFacts::NONE,
            byte_swap: None,
        }
    }

    pub(super) const fn lists(lump: &'static str, lists: &'static [List]) -> Self {
        Row::new(lump, Form::Lists(lists))
    }

    pub(super) const fn lens(lump: &'static str, what: &'static str) -> Self {
        Row::new(lump, Form::Lens(what))
    }

    pub(super) const fn opaque(lump: &'static str, why: &'static str) -> Self {
        Row::new(lump, Form::Opaque(why)).holds(Holds::Unknown)
    }

    /// The row applies only to these map versions.
    pub(super) const fn maps(self, maps: &'static [i32]) -> Self {
        Row { maps, ..self }
    }

    /// The row applies only to these lump versions.
    pub(super) const fn versions(self, versions: &'static [i32]) -> Self {
        Row { versions, ..self }
    }

    /// The row is accepted if this sum holds, or most others of the map do.
    pub(super) const fn summed(self, proof: Proof) -> Self {
        Row { proof: Some(proof), is_summed: true, ..self }
    }

    /// The row is accepted only if this proof holds.
    pub(super) const fn proved(self, proof: Proof) -> Self {
        Row { proof: Some(proof), ..self }
    }

    /// Sets the function that byte-swaps content that is not records.
    pub(super) const fn byte_swapped(self, byte_swap: ByteSwap) -> Self {
        Row { byte_swap: Some(byte_swap), ..self }
    }

    /// Byte-swaps the numbers of a lump of this form in place; `from` is the order that they have before. Lumps of
    /// big-endian files are byte-swapped when they are read, and again when they are written. Lists are byte-swapped as
    /// far as they fit into the lump, in the same way in both directions.
    pub fn byte_swap(&self, bytes: &mut [u8], from: ByteOrder) {
        match (self.form, self.byte_swap) {
            (Form::Array(record), _) => byte_swap(record, bytes),
            (Form::Lists(lists), _) => byte_swap_all(lists, bytes, from),
            (Form::Lens(_), Some(byte_swap)) => byte_swap(bytes, from),
            (Form::Lens(_) | Form::Opaque(_), _) => {}
        }
    }

    /// Whether the positions of numbers in a lump of this form are known.
    pub(crate) fn has_numbers(&self) -> bool {
        matches!(self.form, Form::Array(_) | Form::Lists(_)) || self.byte_swap.is_some()
    }

    /// Whether it applies to maps of this version.
    pub(crate) fn is_of(&self, version: i32) -> bool {
        self.maps.is_empty() || self.maps.contains(&version)
    }

    /// The record of an array.
    pub fn record(&self) -> Option<&'static RecordInfo> {
        match self.form {
            Form::Array(record) => Some(record),
            _ => None,
        }
    }

    /// The ranges of the records in a lump's bytes, list by list.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] with the list whose records do not fit into the lump.
    pub fn parts(&self, bytes: &[u8]) -> Result<Vec<Records>> {
        match self.form {
            Form::Array(record) => Ok(vec![Records { list: "", record, range: 0..bytes.len(), count_at: None }]),
            // An empty lump has not even the counts of its lists.
            Form::Lists(_) if bytes.is_empty() => Ok(Vec::new()),
            Form::Lists(lists) => parts(lists, bytes).map_err(|why| Error::new(ErrorKind::Malformed, why)),
            Form::Lens(_) | Form::Opaque(_) => Ok(Vec::new()),
        }
    }
}

impl Row {
    /// This many records at the start have a special meaning by their index.
    pub(super) const fn fixed(self, fixed: usize) -> Self {
        Row { order: OrderFacts { fixed, ..self.order }, ..self }
    }

    /// Records 2n and 2n + 1 are pairs.
    pub(super) const fn paired(self) -> Self {
        Row { order: OrderFacts { paired: true, ..self.order }, ..self }
    }

    /// The place of each record is its meaning.
    pub(super) const fn placed(self) -> Self {
        Row { order: OrderFacts { placed: true, ..self.order }, ..self }
    }

    /// The records of a model are one stretch.
    pub(super) const fn stretched(self) -> Self {
        Row { order: OrderFacts { stretched: true, ..self.order }, ..self }
    }

    /// Each record only says that something belongs to a list.
    pub(super) const fn listed(self) -> Self {
        Row { order: OrderFacts { listed: true, ..self.order }, ..self }
    }

    /// Records belong to those of another lump by their order.
    pub(super) const fn parallel(self, lump: &'static str, each: Each, fill: &'static [u8]) -> Self {
        Row { order: OrderFacts { parallel: Some(Parallel { lump, each, fill }), ..self.order }, ..self }
    }

    /// Its fields refer to other lumps than the struct names.
    pub(super) const fn instead(self, instead: &'static [(&'static str, &'static str)]) -> Self {
        Row { order: OrderFacts { instead, ..self.order }, ..self }
    }

    /// What its content may refer to, beside what fields say.
    pub(super) const fn holds(self, holds: Holds) -> Self {
        Row { order: OrderFacts { holds, ..self.order }, ..self }
    }

    /// It has blocks that belong to records of another lump.
    pub(super) const fn blocks(self, lump: &'static str, find: fn(&[u8]) -> Option<Vec<Block>>) -> Self {
        Row { order: OrderFacts { blocks: Some(Blocks { lump, find }), ..self.order }, ..self }
    }

    /// It has numbers of records of another lump.
    pub(super) const fn places(self, places: Places) -> Self {
        Row { order: OrderFacts { places: Some(places), ..self.order }, ..self }
    }
}

impl<'m> Facts<'m> {
    /// The bytes of the row's lump, with little-endian numbers; empty if they cannot be read.
    pub(super) fn own(&self, row: &Row) -> Data<'m> {
        let bytes = self.bytes(row.lump);
        match self.order {
            ByteOrder::Little => bytes,
            ByteOrder::Big => {
                let mut bytes = bytes.to_vec();
                row.byte_swap(&mut bytes, ByteOrder::Big);
                Data::from(bytes)
            }
        }
    }

    /// The sizes of the records that a lump may have in maps of this version.
    pub(super) fn sizes<'n>(&self, lump: &'n str) -> impl Iterator<Item = usize> + use<'n> {
        let version = self.version();
        let rows = self.dialect.rows_of(lump).filter(move |row| row.is_of(version));
        rows.filter_map(|row| Some(row.record()?.size))
    }
}
