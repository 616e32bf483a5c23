//! Rows: the known layouts of each lump, where records are in it, and how to detect which layout a given lump uses.

use std::ops::Range;

use super::{Block, Blocks, Dialect, Each, Holds, OrderFacts, Parallel, Places};
use crate::bytes::{ByteOrder, Data};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Record, RecordInfo, byte_swap, decode_in};

// Rows: the known layouts of each lump, and how to detect which one a given lump uses.

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
    pub fn parts(&self, bytes: &[u8]) -> Result<Vec<Span>> {
        match self.form {
            Form::Array(record) => Ok(vec![Span { list: "", record, range: 0..bytes.len(), count_at: None }]),
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

// Records within a lump: where they are, in one array or list by list.

/// A list of records within a lump.
///
/// ```
/// use bspkit::dialect::{ALL, Form, List};
/// let rows = ALL.iter().flat_map(|dialect| dialect.rows.iter().copied().flatten());
/// let lists = rows.filter_map(|row| match row.form { Form::Lists(lists) => Some(lists), _ => None });
/// let lists: Vec<&List> = lists.flatten().collect();
/// assert!(lists.iter().all(|list| list.record.size > 0));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct List {
    /// Its name.
    pub name: &'static str,
    /// The type of its records.
    pub record: &'static RecordInfo,
    /// Where its count is.
    pub counted: Counted,
    /// Whether each record only says that something belongs to a list.
    pub listed: bool,
    /// The lump or list that it runs parallel to.
    pub parallel: Option<Parallel>,
    /// A field: records with the same number in it follow each other.
    pub grouped: Option<&'static str>,
    /// What is before and after the index of a record in the names of embedded files that belong to it.
    pub files: &'static [(&'static str, &'static str)],
}

/// Where the count of a list is, in 32 bits.
///
/// ```
/// use bspkit::dialect::{Counted, Form, QUAKE2};
/// let row = QUAKE2.rows_of("bspx:FACENORMALS").next().unwrap();
/// let Form::Lists([vectors, corners]) = row.form else { unreachable!() };
/// assert_eq!((vectors.counted, corners.counted), (Counted::Before, Counted::Nowhere));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Counted {
    /// Directly before its records.
    Before,
    /// At this offset of the lump: the counts of all such lists come before the first list.
    At(usize),
    /// It has no count: it is the last list and continues to the end of the lump.
    Nowhere,
}

impl List {
    pub(super) const fn of<R: Record>(name: &'static str) -> Self {
        List {
            name,
            record: R::INFO,
            counted: Counted::Before,
            listed: false,
            parallel: None,
            grouped: None,
            files: &[],
        }
    }

    /// A list whose count is with the counts of other lists, before the first list.
    pub(super) const fn counted_at<R: Record>(name: &'static str, at: usize) -> Self {
        List { counted: Counted::At(at), ..List::of::<R>(name) }
    }

    /// A list that continues to the end of the lump.
    pub(super) const fn uncounted<R: Record>(name: &'static str) -> Self {
        List { counted: Counted::Nowhere, ..List::of::<R>(name) }
    }
}

impl List {
    /// Each record only says that something belongs to a list.
    pub(super) const fn listed(self) -> Self {
        List { listed: true, ..self }
    }

    /// Records with the same number in a field follow each other.
    pub(super) const fn grouped(self, field: &'static str) -> Self {
        List { grouped: Some(field), ..self }
    }

    /// Embedded files belong to records by the index in their names.
    pub(super) const fn files(self, files: &'static [(&'static str, &'static str)]) -> Self {
        List { files, ..self }
    }

    /// Records belong to those of another lump, or list, by their order.
    pub(super) const fn parallel(self, lump: &'static str, each: Each) -> Self {
        List { parallel: Some(Parallel { lump, each, fill: &[0] }), ..self }
    }
}

/// Where the lists of a lump are.
pub(super) fn parts(lists: &[List], bytes: &[u8]) -> Result<Vec<Span>, String> {
    match walk(lists, bytes, ByteOrder::Little) {
        (parts, None) => Ok(parts),
        (_, Some(without_room)) => Err(without_room.why),
    }
}

/// Byte-swaps the numbers of lists and their counts, as far as they fit into the lump.
pub(super) fn byte_swap_all(lists: &[List], bytes: &mut [u8], from: ByteOrder) {
    let (parts, without_room) = walk(lists, bytes, from);
    let counts = parts.iter().filter_map(|part| part.count_at);
    for count_at in counts.chain(without_room.and_then(|list| list.count_at)) {
        bytes[count_at..count_at + 4].reverse();
    }
    parts.into_iter().for_each(|part| byte_swap(part.record, &mut bytes[part.range]));
}

/// The first list that does not fit into its lump.
struct WithoutRoom {
    /// The offset of its count, if the lump has it.
    count_at: Option<usize>,
    /// A sentence that says what is wrong.
    why: String,
}

/// The lists of a lump, as far as they fit into it.
fn walk(lists: &[List], bytes: &[u8], order: ByteOrder) -> (Vec<Span>, Option<WithoutRoom>) {
    let mut at = 4 * lists.iter().filter(|list| matches!(list.counted, Counted::At(_))).count();
    let mut parts = Vec::with_capacity(lists.len());
    for List { name, record, counted, .. } in lists {
        let (count_at, start) = match counted {
            Counted::Before => (at, at + 4),
            Counted::At(count_at) => (*count_at, at),
            Counted::Nowhere => {
                parts.push(Span { list: name, record, range: at.min(bytes.len())..bytes.len(), count_at: None });
                break;
            }
        };
        let Some(count) = order.word(bytes, count_at) else {
            let why = format!("it ends before the number of {name}");
            return (parts, Some(WithoutRoom { count_at: None, why }));
        };
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(record.size));
        let end = length.and_then(|length| start.checked_add(length)).filter(|end| *end <= bytes.len());
        let Some(end) = end else {
            let why = format!("there is no room for {count} {name} of {} bytes", record.size);
            return (parts, Some(WithoutRoom { count_at: Some(count_at), why }));
        };
        parts.push(Span { list: name, record, range: start..end, count_at: Some(count_at) });
        at = end;
    }
    (parts, None)
}

/// The range of a lump's records in its bytes, or of a list in it.
///
/// ```
/// use bspkit::dialect::QUAKE2;
/// let row = QUAKE2.rows_of("PLANES").next().unwrap();
/// assert_eq!(row.parts(&[0; 45])?[0].count(), 2);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Span {
    /// The list's name; empty where the lump is one array.
    pub list: &'static str,
    /// Their type.
    pub record: &'static RecordInfo,
    /// Their range in the lump's bytes; in a ragged lump it ends with less than a record.
    pub range: Range<usize>,
    /// The offset of their count in the lump's bytes, if they are a list with a count.
    pub count_at: Option<usize>,
}

impl Span {
    /// The number of whole records.
    pub fn count(&self) -> usize {
        self.range.len() / self.record.size
    }
}

// The facts that the proofs of rows may use.

/// The facts that a proof may use: the map's version and its other lumps.
///
/// [`crate::Bsp::row`] calls the proofs with the facts of a map.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let planes = map.slot("planes")?;
/// assert_eq!(map.row(planes).unwrap().lump, "PLANES");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Facts<'m> {
    pub(crate) dialect: &'static Dialect,
    pub(crate) version: i32,
    /// The byte order of the numbers in the file.
    pub(crate) order: ByteOrder,
    /// Whether sizes of lumps must be exact. If no row fits exactly, a few extra bytes are allowed.
    pub(crate) is_exact: bool,
    /// Whether the map's structs are known from other evidence. A wrong number is then a fault and not a sign of
    /// another struct. Only checks use this.
    pub(crate) is_likely: bool,
    pub(crate) lump_version: Option<i32>,
    pub(crate) len: &'m dyn Fn(&str) -> Option<usize>,
    pub(crate) bytes: &'m dyn Fn(&str) -> Option<Data<'m>>,
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut facts = f.debug_struct("Facts");
        facts.field("dialect", &self.dialect.name).field("version", &self.version);
        facts.field("lump_version", &self.lump_version).finish_non_exhaustive()
    }
}

impl<'m> Facts<'m> {
    /// The map's version.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// The version of the row's lump, if lumps have versions.
    pub fn lump_version(&self) -> Option<i32> {
        self.lump_version
    }

    /// The length of a lump, decompressed.
    pub fn len(&self, lump: &str) -> usize {
        (self.len)(lump).unwrap_or(0)
    }

    /// The bytes of a lump in the byte order of the file; empty if they cannot be read.
    pub fn bytes(&self, lump: &str) -> Data<'m> {
        (self.bytes)(lump).unwrap_or_else(|| Data::from(Vec::new()))
    }

    /// How many whole records of a size a lump has.
    pub(super) fn count(&self, lump: &str, size: usize) -> usize {
        self.len(lump) / size
    }

    fn decoded<'b, R: Record>(&self, bytes: &'b [u8]) -> impl Iterator<Item = R> + use<'b, R> {
        let order = self.order;
        bytes.chunks_exact(R::SIZE).filter_map(move |record| decode_in(order, record))
    }

    /// The sum of a number of every record of a lump.
    pub(super) fn sum<R: Record>(&self, lump: &str, number: impl Fn(R) -> i64) -> i64 {
        let bytes = self.bytes(lump);
        self.decoded(&bytes).map(number).fold(0, i64::saturating_add)
    }

    /// The largest number of any record of a lump; -1 if there is none.
    pub(super) fn most<R: Record>(&self, lump: &str, number: impl Fn(R) -> i64) -> i64 {
        let bytes = self.bytes(lump);
        self.decoded(&bytes).map(number).fold(-1, i64::max)
    }
}

// The rows of its base that a relative keeps: those of all lumps for which it has no rows of its own. If a lump of the
// relative may have either layout, the relative lists its rows before the base's instead.

type Slices = &'static [&'static [Row]];

/// How many rows are kept.
pub(super) const fn count(base: Slices, own: Slices) -> usize {
    let mut found = 0;
    let mut at = [0, 0];
    while let Some(row) = next(base, &mut at) {
        if !has(own, row.lump) {
            found += 1;
        }
    }
    found
}

/// The rows that are kept; as many as [`count`] says.
pub(super) const fn rows<const N: usize>(base: Slices, own: Slices) -> [Row; N] {
    let mut rows = [base[0][0]; N];
    let (mut found, mut at) = (0, [0, 0]);
    while let Some(row) = next(base, &mut at) {
        if !has(own, row.lump) {
            rows[found] = *row;
            found += 1;
        }
    }
    rows
}

const fn has(rows: Slices, lump: &str) -> bool {
    let mut at = [0, 0];
    while let Some(row) = next(rows, &mut at) {
        if is_same(row.lump, lump) {
            return true;
        }
    }
    false
}

/// The row at this position: a slice and an index in it. Moves the position to the next row.
const fn next(rows: Slices, at: &mut [usize; 2]) -> Option<&'static Row> {
    while at[0] < rows.len() {
        if at[1] < rows[at[0]].len() {
            at[1] += 1;
            return Some(&rows[at[0]][at[1] - 1]);
        }
        *at = [at[0] + 1, 0];
    }
    None
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
