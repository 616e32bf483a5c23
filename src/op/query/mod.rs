//! Records by query: which ones they are, a field of each, and changes of that field.
//!
//! ```
//! use bspkit::op::query::{FieldChange, Query};
//!
//! let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
//! let names = map.dialect().game(map.version()).flags;
//! let water = Query::parse("faces[texinfo.texture~/water/i]")?;
//! assert!(!water.find(&map, names)?.is_empty());
//!
//! let mut draft = map.draft();
//! let records = FieldChange::parse("texinfo[texture~/water/i].flags|=WARP")?.apply(&mut draft, names)?;
//! assert!(records > 0);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod change;
mod parse;
mod path;
mod tables;
mod test;

use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use crate::record::{Cell, FlagNames, Meaning, Shape};
use crate::{Bsp, Error, ErrorKind, Result};
pub use change::Encode;
use change::{Operator, Value as NewValue};
use path::Path;
use tables::{Table, Tables};
use test::{All, Compiled};

/// Records of a lump, or a field of each.
///
/// | query | records |
/// |---|---|
/// | `planes[3]` | the one of this index |
/// | `planes[10..20]` | from 10 to 19; `[10..]` and `[..20]` have one end |
/// | `planes[*]` | all of them |
/// | `faces[side=1]` | where the field has this value: a number, flag names, a name |
/// | `planes[distance>8]`, `<`, `>=`, `<=` | where the number compares so |
/// | `texinfo[texture^=e1u1/]`, `$=`, `*=` | where the text starts with, ends with or contains this |
/// | `texinfo[texture~/re/i]` | where a regular expression matches in it; `i` ignores case |
/// | `texinfo[flags&SKY]` | where one of these flags is set |
/// | `faces[styles=32]` | where one item of the list passes |
/// | `brushsides[texinfo]` | where the index names a record |
/// | `faces[3..9][side=1]:not([plane=2])` | where all of these hold, and the one in the parentheses does not |
/// | `faces[side=1],[plane=2]` | where either holds |
///
/// A field that is the index of a record may be followed: `faces[texinfo.texture=sky]`. Runs and the children of nodes
/// may not. A record with a name answers to it where a field is compared with text: in Quake `texinfo[texture=sky]` is
/// the name of the texture with that index. Faces, brush sides and texinfo of all families answer to `texture`.
/// Fields have the engine's names too.
///
/// After the brackets comes the field, as in `faces[3].texinfo.texture`; without one it is the whole record.
///
/// ```
/// use bspkit::op::query::Query;
/// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
/// let names = map.dialect().game(map.version()).flags;
/// let all = Query::parse("texinfo[texture~/./]")?.find(&map, names)?;
/// assert_eq!(all.len(), map.records(map.slot("texinfo")?)?[0].count());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    text: String,
    lump: String,
    either: Vec<All>,
    /// The path of the field; empty for the whole record.
    field: String,
}

/// A change of a field of all records that a query finds: `planes[3].distance=-64.5`, `texinfo[..].flags|=WARP`,
/// `models[*].origin+=0 0 8`.
///
/// `=` sets a value; `+=`, `-=`, `*=` and `/=` calculate with each number of the field; `|=`, `&=` and `^=` combine
/// bits, and `&=~SKY` keeps all bits but these. A followed field changes in the record that it is in, once, however
/// many records lead there.
///
/// ```
/// use bspkit::op::query::FieldChange;
/// let error = FieldChange::parse("planes[3].distance:=8").unwrap_err();
/// assert!(error.to_string().contains("an operator"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    query: Query,
    operator: Operator,
    value: NewValue,
}

/// The value of a field.
///
/// ```
/// use bspkit::op::query::{Query, Value};
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let mut seen = 0;
/// Query::parse("planes[*].normal[2]")?.each(&map, &[], |_, value| {
///     assert!(matches!(value, Value::Part { bytes, .. } if bytes.len() == 4));
///     seen += 1;
///     Ok(true)
/// })?;
/// assert!(seen > 0);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'v> {
    /// A part of a record, with its bytes, little-endian.
    Part {
        /// Its layout.
        shape: Shape,
        /// The meaning of its numbers.
        meaning: Meaning,
        /// Its bytes.
        bytes: &'v [u8],
    },
    /// The name of a record, which is not in the record itself.
    Name(&'v [u8]),
    /// The path to it leads nowhere: an index names no record.
    Nowhere,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it cannot be read; the hint marks the place.
    pub fn parse(text: &str) -> Result<Self> {
        parse::query(text)
    }

    /// The lump, as it is written.
    pub fn lump(&self) -> &str {
        &self.lump
    }

    /// The path of the field; empty for the whole record.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Whether it names one record by its index, and nothing else.
    pub fn is_one(&self) -> bool {
        matches!(&self.either[..], [all] if all.is_one())
    }

    /// The indices of the records. `names` are the names of flags: [`Dialect::game`](crate::dialect::Dialect::game).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has no such lump, list, record or field, [`ErrorKind::Unsupported`] if the
    /// lump has no records; [`ErrorKind::Argument`] if a value does not fit its field.
    pub fn find(&self, bsp: &Bsp<'_>, names: FlagNames) -> Result<Vec<usize>> {
        let tables = Tables::new(bsp, names);
        let table = tables.open(&self.lump)?;
        self.indices(&tables, &table)
    }

    /// Gives the field of each record, in order, until the function returns `false`. Returns the number of records.
    ///
    /// # Errors
    /// As [`Query::find`]; those of the function.
    pub fn each<E: From<Error>>(
        &self,
        bsp: &Bsp<'_>,
        names: FlagNames,
        mut show: impl FnMut(usize, Value<'_>) -> Result<bool, E>,
    ) -> Result<usize, E> {
        let tables = Tables::new(bsp, names);
        let table = tables.open(&self.lump)?;
        let indices = self.indices(&tables, &table)?;
        let path = self.path(&tables, &table)?;
        for index in &indices {
            if !show(*index, path.value(*index))? {
                break;
            }
        }
        Ok(indices.len())
    }

    /// The numbers and names in the field, as columns of a table: with the record's paths, and places from the start of
    /// the field. A name that is not in a record has no columns.
    ///
    /// # Errors
    /// As [`Query::find`].
    pub fn cells(&self, bsp: &Bsp<'_>, names: FlagNames) -> Result<Vec<Cell>> {
        let tables = Tables::new(bsp, names);
        let table = tables.open(&self.lump)?;
        Ok(self.path(&tables, &table)?.cells())
    }

    fn path<'a>(&self, tables: &Tables<'_, 'a>, table: &Rc<Table<'a>>) -> Result<Path<'a>> {
        Path::of(tables, table, &self.field)
            .map_err(|why| Error::new(ErrorKind::NotFound, format!("{}: {why}", table.name)))
    }

    fn indices<'a>(&self, tables: &Tables<'_, 'a>, table: &Rc<Table<'a>>) -> Result<Vec<usize>> {
        let either = self.either.iter().map(|all| Compiled::new(all, tables, table, &self.text));
        let either = either.collect::<Result<Vec<_>>>()?;
        let mut found = Vec::new();
        for all in &either {
            found.extend(all.range(table)?.filter(|index| all.holds(*index)));
        }
        if either.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }
}

impl FieldChange {
    /// Reads a change.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it cannot be read; the hint marks the place.
    pub fn parse(text: &str) -> Result<Self> {
        parse::change(text)
    }

    /// The records and their field.
    pub fn query(&self) -> &Query {
        &self.query
    }
}

impl fmt::Display for Query {
    /// As it was read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Query {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Query::parse(text)
    }
}

impl FromStr for FieldChange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        FieldChange::parse(text)
    }
}
