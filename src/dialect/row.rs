//! Rows: what is known of the content of a dialect's lumps, and by what it is told which of several structs a lump has.

use super::list::{byte_swap_all, parts};
use super::{Facts, List, Records};
use crate::bytes::{ByteOrder, Data};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{RecordInfo, byte_swap};

/// One way in which a lump can be laid out.
///
/// A lump may have several rows: other map versions, other games. Those of the lump's own version are tried before
/// others, and one is taken where its proof holds; where none does, the lump stays bytes.
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
    /// What is in it.
    pub form: Form,
    /// The map versions that it is known from; all of the dialect's where there are none.
    pub maps: &'static [i32],
    /// The lump versions that it goes by; any where there are none.
    pub versions: &'static [i32],
    /// What else has to hold for it to be believed.
    pub proof: Option<Proof>,
    /// Of what is no records: what turns the numbers in it from the byte order of a file into the other.
    pub(super) byte_swap: Option<ByteSwap>,
}

/// What turns the numbers of a lump around that has them in the order that is given; it reads what it has to before it
/// turns it, so that twice is not at all.
pub(super) type ByteSwap = fn(&mut [u8], ByteOrder);

/// Whether a layout fits: the reason why not.
pub type Proof = fn(&Facts<'_>, &Row) -> Result<(), String>;

/// How the bytes of a lump are laid out.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Form {
    /// Records one behind the other.
    Array(&'static RecordInfo),
    /// Several lists, each a count of 32 bits and so many records, as [`List::counted`] says.
    Lists(&'static [List]),
    /// No records; what it is called, and a module of `content` may know more.
    Lens(&'static str),
    /// Not known well enough; the reason.
    Opaque(&'static str),
}

impl Row {
    pub(super) const fn new(lump: &'static str, form: Form) -> Self {
        Row { lump, form, maps: &[], versions: &[], proof: None, byte_swap: None }
    }

    pub(super) const fn lists(lump: &'static str, lists: &'static [List]) -> Self {
        Row::new(lump, Form::Lists(lists))
    }

    pub(super) const fn lens(lump: &'static str, what: &'static str) -> Self {
        Row::new(lump, Form::Lens(what))
    }

    pub(super) const fn opaque(lump: &'static str, why: &'static str) -> Self {
        Row::new(lump, Form::Opaque(why))
    }

    /// The row only holds for these map versions.
    pub(super) const fn maps(self, maps: &'static [i32]) -> Self {
        Row { maps, ..self }
    }

    /// The row goes by these lump versions.
    pub(super) const fn versions(self, versions: &'static [i32]) -> Self {
        Row { versions, ..self }
    }

    /// The row is only believed where this holds.
    pub(super) const fn proved(self, proof: Proof) -> Self {
        Row { proof: Some(proof), ..self }
    }

    /// So the numbers in it are turned, where it is no records.
    pub(super) const fn byte_swapped(self, byte_swap: ByteSwap) -> Self {
        Row { byte_swap: Some(byte_swap), ..self }
    }

    /// Turns the numbers of a lump of this form from a byte order into the other, in place: the border that the lumps
    /// of big-endian files pass when they are read, and again when they are written. Lists are turned as far as there
    /// is room for them; back it is the same.
    pub fn byte_swap(&self, bytes: &mut [u8], from: ByteOrder) {
        match (self.form, self.byte_swap) {
            (Form::Array(record), _) => byte_swap(record, bytes),
            (Form::Lists(lists), _) => byte_swap_all(lists, bytes, from),
            (Form::Lens(_), Some(byte_swap)) => byte_swap(bytes, from),
            (Form::Lens(_) | Form::Opaque(_), _) => {}
        }
    }

    /// Whether it is known where numbers are in a lump of this form.
    pub(crate) fn has_numbers(&self) -> bool {
        matches!(self.form, Form::Array(_) | Form::Lists(_)) || self.byte_swap.is_some()
    }

    /// Whether it holds for maps of this version.
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

    /// Where the records of this form stand in a lump's bytes, list by list.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] with the list that has no room for what it says it has.
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

impl<'m> Facts<'m> {
    /// The bytes of the row's lump as it says they are, its numbers little-endian; nothing where they cannot be read.
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
