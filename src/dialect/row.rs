//! Rows: what is known of the content of a dialect's lumps, and by what it is told which of several structs a lump has.

use std::marker::PhantomData;
use std::ops::Range;

use crate::bytes::{ByteOrder, Data};
use crate::record::{Record, RecordInfo, decode_in, turn};

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
    pub(super) turn: Option<Turn>,
}

/// What turns the numbers of a lump around that has them in the order that is given; it reads what it has to before it
/// turns it, so that twice is not at all.
pub(super) type Turn = fn(&mut [u8], ByteOrder);

/// Whether a layout fits: the reason why not.
pub type Proof = fn(&Facts<'_>, &Row) -> Result<(), String>;

/// How the bytes of a lump are laid out.
///
/// ```
/// use bspkit::dialect::{Form, QUAKE2};
/// let row = QUAKE2.rows_of("ENTITIES").next().unwrap();
/// assert!(matches!(row.form, Form::Lens("text")));
/// ```
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

/// A list of records within a lump.
///
/// ```
/// use bspkit::dialect::{ALL, Form, List};
/// let rows = ALL.iter().flat_map(|dialect| dialect.rows.iter().copied().flatten());
/// let lists: Vec<&List> = rows.filter_map(|row| match row.form { Form::Lists(lists) => Some(lists), _ => None }).flatten().collect();
/// assert!(lists.iter().all(|list| list.record.size > 0));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct List {
    /// Its name.
    pub name: &'static str,
    /// What it is a list of.
    pub record: &'static RecordInfo,
    /// Where its count stands.
    pub counted: Counted,
}

/// Where the count of a list stands, in 32 bits.
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
    /// At this place of the lump, with the counts of other lists before the first of them.
    At(usize),
    /// Nowhere: it is the last list and goes on to the end of the lump.
    Nowhere,
}

impl List {
    pub(super) const fn of<R: Record>(name: &'static str) -> Self {
        List { name, record: R::INFO, counted: Counted::Before }
    }

    /// A list whose count stands with those of others before the first list.
    pub(super) const fn counted_at<R: Record>(name: &'static str, at: usize) -> Self {
        List { counted: Counted::At(at), ..List::of::<R>(name) }
    }

    /// A list that goes on to the end of the lump.
    pub(super) const fn uncounted<R: Record>(name: &'static str) -> Self {
        List { counted: Counted::Nowhere, ..List::of::<R>(name) }
    }
}

impl Row {
    const fn new(lump: &'static str, form: Form) -> Self {
        Row { lump, form, maps: &[], versions: &[], proof: None, turn: None }
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
    pub(super) const fn turned(self, turn: Turn) -> Self {
        Row { turn: Some(turn), ..self }
    }

    /// Turns the numbers of a lump of this form from a byte order into the other, in place: the border that the lumps of
    /// big-endian files pass when they are read, and again when they are written. Lists are turned as far as there is room
    /// for them; back it is the same.
    pub fn turn(&self, bytes: &mut [u8], from: ByteOrder) {
        match (self.form, self.turn) {
            (Form::Array(record), _) => turn(record, bytes),
            (Form::Lists(lists), _) => {
                let (parts, rest) = walk(lists, bytes, from);
                let missing = rest.err().and_then(|(count_at, _)| count_at);
                for count_at in parts.iter().filter_map(|part| part.count_at).chain(missing) {
                    bytes[count_at..count_at + 4].reverse();
                }
                parts.into_iter().for_each(|part| turn(part.record, &mut bytes[part.range]));
            }
            (Form::Lens(_), Some(turn)) => turn(bytes, from),
            (Form::Lens(_) | Form::Opaque(_), _) => {}
        }
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
    /// Which list has no room for what it says it has.
    pub fn parts(&self, bytes: &[u8]) -> Result<Vec<Records>, String> {
        match self.form {
            Form::Array(record) => Ok(vec![Records { list: "", record, range: 0..bytes.len(), count_at: None }]),
            // An empty lump has not even the counts of its lists.
            Form::Lists(_) if bytes.is_empty() => Ok(Vec::new()),
            Form::Lists(lists) => {
                let (parts, rest) = walk(lists, bytes, ByteOrder::Little);
                rest.map(|()| parts).map_err(|(_, why)| why)
            }
            Form::Lens(_) | Form::Opaque(_) => Ok(Vec::new()),
        }
    }
}

/// Where the lists of a lump stand, as far as there is room for them; of the first one without room where its count
/// stands, if that is there, and what is wrong.
fn walk(lists: &[List], bytes: &[u8], order: ByteOrder) -> (Vec<Records>, Result<(), (Option<usize>, String)>) {
    let mut at = 4 * lists.iter().filter(|list| matches!(list.counted, Counted::At(_))).count();
    let mut parts = Vec::with_capacity(lists.len());
    for List { name, record, counted } in lists {
        let (count_at, start) = match counted {
            Counted::Before => (at, at + 4),
            Counted::At(count_at) => (*count_at, at),
            Counted::Nowhere => {
                parts.push(Records { list: name, record, range: at.min(bytes.len())..bytes.len(), count_at: None });
                break;
            }
        };
        let Some(count) = order.word(bytes, count_at) else {
            return (parts, Err((None, format!("it ends before the number of {name}"))));
        };
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(record.size));
        let end = length.and_then(|length| start.checked_add(length)).filter(|end| *end <= bytes.len());
        let Some(end) = end else {
            let why = format!("there is no room for {count} {name} of {} bytes", record.size);
            return (parts, Err((Some(count_at), why)));
        };
        parts.push(Records { list: name, record, range: start..end, count_at: Some(count_at) });
        at = end;
    }
    (parts, Ok(()))
}

/// Where the records of a lump stand in its bytes, or those of a list in it.
///
/// ```
/// use bspkit::dialect::QUAKE2;
/// let row = QUAKE2.rows_of("PLANES").next().unwrap();
/// assert_eq!(row.parts(&[0; 45])?[0].count(), 2);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Records {
    /// The list's name; empty where the lump is one array.
    pub list: &'static str,
    /// What they are.
    pub record: &'static RecordInfo,
    /// Where in the lump's bytes they stand; a ragged lump has less than a record behind the last one.
    pub range: Range<usize>,
    /// Where in the lump's bytes their count stands, where they are a list that has one.
    pub count_at: Option<usize>,
}

impl Records {
    /// How many whole ones there are.
    pub fn count(&self) -> usize {
        self.range.len() / self.record.size
    }
}

/// A lump or a list in one, with the type of its records: what [`crate::Bsp::table`] and [`crate::Draft::table`] are
/// asked with. The consts of the dialects' modules.
///
/// ```
/// use bspkit::dialect::quake2;
/// assert_eq!(quake2::FACES.lump(), "FACES");
/// ```
#[derive(Debug)]
pub struct Key<R> {
    pub(super) lump: &'static str,
    list: &'static str,
    record: PhantomData<fn() -> R>,
}

impl<R> Clone for Key<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Key<R> {}

impl<R: Record> Key<R> {
    pub(crate) const fn new(lump: &'static str) -> Self {
        Key::list(lump, "")
    }

    pub(super) const fn list(lump: &'static str, list: &'static str) -> Self {
        Key { lump, list, record: PhantomData }
    }

    /// A row for the lump.
    pub(super) const fn row(self) -> Row {
        Row::new(self.lump, Form::Array(R::INFO))
    }

    /// The lump's name.
    pub fn lump(&self) -> &'static str {
        self.lump
    }

    /// The list's name; empty where the lump is one array.
    pub fn list_name(&self) -> &'static str {
        self.list
    }
}

/// What a proof may look at: the map's version and its other lumps.
///
/// Proofs are asked through [`crate::Bsp::row`], which gives them the map at hand.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let planes = map.slot("planes")?;
/// assert_eq!(map.row(planes).unwrap().lump, "PLANES");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Facts<'m> {
    pub(crate) version: i32,
    /// How the numbers of the lumps lie in the file.
    pub(crate) order: ByteOrder,
    /// Whether lumps have to have their size to the last byte; where nothing does, a few bytes too many are allowed.
    pub(crate) is_exact: bool,
    /// Whether the map's structs are known by other evidence, so that a number that is wrong is taken for a fault and not
    /// for another struct: what checks go by, and nothing else.
    pub(crate) is_likely: bool,
    pub(crate) lump_version: Option<i32>,
    pub(crate) len: &'m dyn Fn(&str) -> Option<usize>,
    pub(crate) bytes: &'m dyn Fn(&str) -> Option<Data<'m>>,
}

impl<'m> Facts<'m> {
    /// The map's version.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// The version of the lump that the row is asked for, where lumps have one.
    pub fn lump_version(&self) -> Option<i32> {
        self.lump_version
    }

    /// The length of a lump, decompressed.
    pub fn len(&self, lump: &str) -> usize {
        (self.len)(lump).unwrap_or(0)
    }

    /// The bytes of the row's lump as it says they are, its numbers little-endian; nothing where they cannot be read.
    pub(super) fn own(&self, row: &Row) -> Data<'m> {
        let bytes = self.bytes(row.lump);
        match self.order {
            ByteOrder::Little => bytes,
            ByteOrder::Big => {
                let mut bytes = bytes.to_vec();
                row.turn(&mut bytes, ByteOrder::Big);
                Data::from(bytes)
            }
        }
    }

    /// The bytes of a lump as they are; nothing where they cannot be read.
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

    /// The largest number of any record of a lump; -1 where there is none.
    pub(super) fn most<R: Record>(&self, lump: &str, number: impl Fn(R) -> i64) -> i64 {
        let bytes = self.bytes(lump);
        self.decoded(&bytes).map(number).fold(-1, i64::max)
    }
}

/// Declares keys: `NAME: Record = "its doc",` for the lump of that name.
macro_rules! keys {
    ($($name:ident: $record:ty = $doc:literal,)*) => {
        $(
            #[doc = $doc]
            pub const $name: $crate::dialect::Key<$record> = $crate::dialect::Key::new(stringify!($name));
        )*
    };
}

pub(crate) use keys;
