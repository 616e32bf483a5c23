//! Records within a lump: where they are, in one array or list by list.

use std::ops::Range;

use super::{Each, Parallel};
use crate::bytes::ByteOrder;
use crate::record::{Record, RecordInfo, byte_swap};

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
pub(super) fn parts(lists: &[List], bytes: &[u8]) -> Result<Vec<Records>, String> {
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
fn walk(lists: &[List], bytes: &[u8], order: ByteOrder) -> (Vec<Records>, Option<WithoutRoom>) {
    let mut at = 4 * lists.iter().filter(|list| matches!(list.counted, Counted::At(_))).count();
    let mut parts = Vec::with_capacity(lists.len());
    for List { name, record, counted, .. } in lists {
        let (count_at, start) = match counted {
            Counted::Before => (at, at + 4),
            Counted::At(count_at) => (*count_at, at),
            Counted::Nowhere => {
                parts.push(Records { list: name, record, range: at.min(bytes.len())..bytes.len(), count_at: None });
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
        parts.push(Records { list: name, record, range: start..end, count_at: Some(count_at) });
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
pub struct Records {
    /// The list's name; empty where the lump is one array.
    pub list: &'static str,
    /// Their type.
    pub record: &'static RecordInfo,
    /// Their range in the lump's bytes; in a ragged lump it ends with less than a record.
    pub range: Range<usize>,
    /// The offset of their count in the lump's bytes, if they are a list with a count.
    pub count_at: Option<usize>,
}

impl Records {
    /// The number of whole records.
    pub fn count(&self) -> usize {
        self.range.len() / self.record.size
    }
}
