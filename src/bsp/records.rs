//! The records of a lump without their Rust type: lists by name, numbers by the names of fields.

use super::Bsp;
use crate::bytes::Data;
use crate::dialect::{Form, Role, Row, Span};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::{Slot, SlotId};
use crate::near;
use crate::record::{Number, Part, RecordInfo, Shape};

/// The records of a lump, or of one of its lists: [`Bsp::records`]. Numbers are read by the names of their fields, ours
/// or the engine's, whatever the struct of this map is.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let faces = map.records("faces")?;
/// let [first, count] = faces.columns(["first_edge", "edge_count"])?;
/// for face in 0..faces.len() {
///     assert!(first.get(face) >= 0 && count.get(face) >= 3);
/// }
/// let error = faces.columns(["edge_cuont"]).unwrap_err();
/// assert_eq!(error.to_string(), "FACES: there is no field edge_cuont; did you mean edge_count?");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Records<'a> {
    name: String,
    slot: SlotId,
    /// All bytes of the lump, little-endian.
    bytes: Data<'a>,
    span: Span,
}

/// Which records: those of a lump, by its number, its name or its role, or of a list in it as `LUMP.LIST`; or those
/// that have a [`Role`].
///
/// ```
/// use bspkit::dialect::Role;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// assert_eq!(map.records(Role::LeafFaces)?.name(), map.records("leaffaces")?.name());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListName<'n> {
    /// `LUMP` or `LUMP.LIST`.
    Named(&'n str),
    /// The lump of a role. If tools have left it out, the lump that others refer to instead.
    Role(Role),
}

impl<'n> From<&'n str> for ListName<'n> {
    fn from(name: &'n str) -> Self {
        ListName::Named(name)
    }
}

impl<'n> From<&'n String> for ListName<'n> {
    fn from(name: &'n String) -> Self {
        ListName::Named(name)
    }
}

impl From<Role> for ListName<'_> {
    fn from(role: Role) -> Self {
        ListName::Role(role)
    }
}

impl ListName<'_> {
    /// The error for a lump whose lists have these names, where one of them has to be named.
    ///
    /// ```
    /// let error = bspkit::ListName::several("game:sprp", &["game:sprp.leafs", "game:sprp.props"]);
    /// assert_eq!(error.to_string(), "game:sprp has several lists of records");
    /// ```
    pub fn several(lump: &str, names: &[impl AsRef<str>]) -> Error {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        Error::new(ErrorKind::Argument, format!("{lump} has several lists of records"))
            .with_hint(format!("name one of them: {}", names.join(", ")))
    }
}

impl<'a> Bsp<'a> {
    /// The records of a lump that a map need not have: `None` if it has none, or if they cannot be read.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// assert!(map.any_records("areas").is_some() && map.any_records("dispinfo").is_none());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn any_records<'n>(&self, of: impl Into<ListName<'n>>) -> Option<Records<'a>> {
        self.records(of).ok().filter(|records| !records.is_empty())
    }

    /// The records of a lump, or of a list in it. An empty lump that is an array has no records.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has no such lump or list, [`ErrorKind::Argument`] if the lump has several
    /// lists and none is named, [`ErrorKind::Unsupported`] if it has no records, [`ErrorKind::Malformed`] if its lists
    /// do not fit; otherwise as [`Bsp::bytes`].
    pub fn records<'n>(&self, of: impl Into<ListName<'n>>) -> Result<Records<'a>> {
        let (slot, list) = self.list_of(of.into())?;
        let mut lists = self.lists_of(slot, list)?;
        match (lists.pop(), lists.is_empty()) {
            (Some(records), true) => Ok(records),
            (Some(last), false) => {
                let names: Vec<&str> = lists.iter().chain([&last]).map(Records::name).collect();
                Err(ListName::several(&slot.name, &names))
            }
            (None, _) => {
                let why = match self.row(slot).map(|row| row.form) {
                    Err(why) => why.to_string(),
                    Ok(Form::Lens(what)) => format!("it holds {what}"),
                    Ok(_) => "it is empty".to_owned(),
                };
                Err(Error::new(ErrorKind::Unsupported, format!("{} has no records: {why}", slot.name)))
            }
        }
    }

    /// The records of a lump, list by list: one for an array, none for content of another kind.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
    /// let lists = map.lists("game:sprp")?;
    /// let names: Vec<&str> = lists.iter().map(|list| list.name()).collect();
    /// assert_eq!(names, ["game:sprp.names", "game:sprp.leafs", "game:sprp.props"]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bsp::records`], but for the number of lists.
    pub fn lists<'n>(&self, of: impl Into<ListName<'n>>) -> Result<Vec<Records<'a>>> {
        let (slot, list) = self.list_of(of.into())?;
        self.lists_of(slot, list)
    }

    /// The slot of `LUMP` or `LUMP.LIST`, and the list if one is named; whether there is such a list is not looked at.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
    /// let (slot, list) = map.list_named("game:sprp.names")?;
    /// assert_eq!((slot.name.as_str(), list), ("game:sprp", Some("names")));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bsp::slot`].
    pub fn list_named<'n>(&self, name: &'n str) -> Result<(&Slot, Option<&'n str>)> {
        match (self.slot(name), name.rsplit_once('.')) {
            (Err(error), Some((lump, list))) => self.slot(lump).map(|slot| (slot, Some(list))).map_err(|_| error),
            (slot, _) => slot.map(|slot| (slot, None)),
        }
    }

    fn list_of<'n>(&self, of: ListName<'n>) -> Result<(&Slot, Option<&'n str>)> {
        match of {
            ListName::Named(name) => self.list_named(name),
            ListName::Role(role) => {
                let none =
                    || Error::new(ErrorKind::NotFound, format!("the map has no lump of the role {}", role.name()));
                let slot = self.role(role).ok_or_else(none)?;
                Ok((self.referred(&slot.name).and_then(|name| self.named(name)).unwrap_or(slot), None))
            }
        }
    }

    fn lists_of(&self, slot: &Slot, list: Option<&str>) -> Result<Vec<Records<'a>>> {
        let Ok(row) = self.row(slot) else { return list.map_or(Ok(Vec::new()), |list| Err(no_list(slot, list, &[]))) };
        let all = Records::lists(slot, row, self.little_endian(slot.id)?)?;
        let Some(list) = list else { return Ok(all) };
        let names: Vec<&str> = all.iter().map(Records::list).filter(|name| !name.is_empty()).collect();
        match all.iter().find(|records| !list.is_empty() && records.list().eq_ignore_ascii_case(list)) {
            Some(records) => Ok(vec![records.clone()]),
            None => Err(no_list(slot, list, &names)),
        }
    }

    /// The lump that numbers refer to which name this one: another one, or none, if tools have left it out.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// assert_eq!(map.referred("FACES"), Some("FACES"));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn referred<'n>(&self, lump: &'n str) -> Option<&'n str> {
        let left_out = self.dialect().checks.left_out.iter().find(|(left_out, _)| *left_out == lump);
        match left_out.filter(|_| self.named(lump).is_some_and(|slot| slot.length == 0)) {
            Some((_, other)) => *other,
            None => Some(lump),
        }
    }
}

fn no_list(slot: &Slot, list: &str, known: &[&str]) -> Error {
    let error = Error::new(ErrorKind::NotFound, format!("{} has no list {list}", slot.name));
    if known.is_empty() { error } else { error.with_hint(near::or_all(list, known, "it has")) }
}

impl<'a> Records<'a> {
    /// The lists of a slot with this row and these bytes, which are little-endian. [`Bsp::lists`] takes the row and the
    /// bytes that the map has; this is for a row that is only likely ([`Bsp::detection`]), and for other bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if a list does not fit.
    pub fn lists(slot: &Slot, row: &'static Row, bytes: Data<'a>) -> Result<Vec<Self>> {
        let spans = row.parts(&bytes).map_err(|error| error.at(Place::default().lump(&slot.name)))?;
        let records = spans.into_iter().map(|span| {
            let dot = if span.list.is_empty() { "" } else { "." };
            let name = format!("{}{dot}{}", slot.name, span.list);
            Records { name, slot: slot.id, bytes: bytes.clone(), span }
        });
        Ok(records.collect())
    }

    /// The name: `LUMP`, or `LUMP.LIST` if the lump has lists.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the list; empty if the lump is one array.
    pub fn list(&self) -> &'static str {
        self.span.list
    }

    /// The slot of the lump.
    pub fn slot(&self) -> SlotId {
        self.slot
    }

    /// Their struct.
    pub fn info(&self) -> &'static RecordInfo {
        self.span.record
    }

    /// Where they are in the lump.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// The number of whole records.
    pub fn len(&self) -> usize {
        self.span.count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes of the lump, decompressed, with little-endian numbers.
    pub fn lump(&self) -> &Data<'a> {
        &self.bytes
    }

    /// The bytes of a record, with little-endian numbers.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(self.place(index)?)
    }

    /// The place of a record in the bytes of the lump.
    pub fn place(&self, index: usize) -> Option<std::ops::Range<usize>> {
        (index < self.len()).then(|| {
            let start = self.span.range.start + index * self.info().size;
            start..start + self.info().size
        })
    }

    /// The bytes of each record.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.bytes[self.span.range.clone()].chunks_exact(self.info().size)
    }

    /// The numbers in some fields of every record. A field may be a path: `origin[2]`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the struct has no such field, with names that are close;
    /// [`ErrorKind::Unsupported`] if a field is no number and no list of numbers.
    pub fn columns<const N: usize>(&self, fields: [&str; N]) -> Result<[Column<'_>; N]> {
        let mut columns = [Column { bytes: &[], start: 0, size: 1, offset: 0, number: Number::U8, items: 0 }; N];
        for (column, field) in columns.iter_mut().zip(fields) {
            *column = self.column(field)?;
        }
        Ok(columns)
    }

    /// The numbers in a field of every record.
    ///
    /// # Errors
    /// As [`Records::columns`].
    pub fn column(&self, field: &str) -> Result<Column<'_>> {
        let info = self.info();
        let Part { offset, shape, .. } = Part::find(info.fields, field)
            .map_err(|error| Error::new(error.kind(), format!("{}: {error}", self.name)))?;
        let Some((number, items)) = flatten(shape) else {
            return Err(Error::new(ErrorKind::Unsupported, format!("{}: {field} has no numbers", self.name)));
        };
        let bytes = &self.bytes[self.span.range.clone()];
        Ok(Column { bytes, start: self.span.range.start, size: info.size, offset, number, items })
    }
}

fn flatten(shape: Shape) -> Option<(Number, usize)> {
    match shape {
        Shape::Number(number) => Some((number, 1)),
        Shape::Array(item, count) => flatten(*item).map(|(number, items)| (number, items * count)),
        _ => None,
    }
}

/// The numbers in a field of every record: [`Records::columns`]. Those of an array, or of arrays in an array, are its
/// items.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let planes = map.records("planes")?;
/// let [normal] = planes.columns(["normal"])?;
/// assert_eq!((normal.items(), normal.at(1)), (3, 20));
/// assert!((0..3).any(|axis| normal.float(1, axis) != 0.0));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Column<'r> {
    bytes: &'r [u8],
    start: usize,
    size: usize,
    offset: usize,
    number: Number,
    items: usize,
}

impl<'r> Column<'r> {
    /// The number of a record, or the first of several; 0 if there is no such record, and for floats.
    #[inline]
    pub fn get(&self, record: usize) -> i64 {
        self.item(record, 0)
    }

    /// One of several numbers of a record; 0 as for [`Column::get`].
    #[inline]
    pub fn item(&self, record: usize, item: usize) -> i64 {
        self.place(record, item).and_then(|bytes| self.number.integer(bytes)).unwrap_or(0)
    }

    /// One of several floats of a record; 0 if there is no such record, and for integers.
    #[inline]
    pub fn float(&self, record: usize, item: usize) -> f32 {
        let is_float = matches!(self.number, Number::F32);
        let bytes = self.place(record, item).filter(|_| is_float).and_then(|bytes| bytes.first_chunk().copied());
        f32::from_le_bytes(bytes.unwrap_or_default())
    }

    /// Some floats of a record, from one on; 0 as for [`Column::float`].
    pub fn floats<const N: usize>(&self, record: usize, first: usize) -> [f32; N] {
        std::array::from_fn(|item| self.float(record, first.saturating_add(item)))
    }

    /// The number of a record as an index; `None` if it is negative.
    pub fn index(&self, record: usize) -> Option<usize> {
        usize::try_from(self.get(record)).ok()
    }

    /// The number of a record as an index of a list of this length; `None` if the list does not have it.
    pub fn below(&self, record: usize, len: usize) -> Option<usize> {
        self.index(record).filter(|index| *index < len)
    }

    /// How many numbers each record has.
    pub fn items(&self) -> usize {
        self.items
    }

    /// The offset of a record's field in the lump; `usize::MAX` for a record so far off that there is no such number.
    pub fn at(&self, record: usize) -> usize {
        record.saturating_mul(self.size).saturating_add(self.start + self.offset)
    }

    #[inline]
    fn place(&self, record: usize, item: usize) -> Option<&'r [u8]> {
        let start = record.checked_mul(self.size)?;
        let record = self.bytes.get(start..start.checked_add(self.size)?)?;
        (item < self.items).then(|| record.get(self.offset + item * self.number.size()..)).flatten()
    }
}
