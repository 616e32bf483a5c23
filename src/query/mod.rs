//! Records by query: which ones they are, a field of each, and changes of that field.
//!
//! ```
//! use bspkit::query::{FieldChange, Query};
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

mod fields;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use pest::Parser;
use pest::iterators::Pair;

use crate::bytes::unescape;
use crate::content::grammar::{self, Grammar, Nest, Rule, offset};
use crate::content::select::{Compare, Expression, compared};
use crate::content::texture_names::TextureNames;
use crate::record::{Cell, FieldInfo, FlagNames, Meaning, Shape};
use crate::{Bsp, Error, ErrorKind, Records, Result};
pub use fields::Encode;
use fields::{All, Check, Compiled, Operator, Path, Test, Value as FieldsValue, Value as NewValue};

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
/// use bspkit::query::Query;
/// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
/// let names = map.dialect().game(map.version()).flags;
/// let all = Query::parse("texinfo[texture~/./]")?.find(&map, names)?;
/// assert_eq!(all.len(), map.spans(map.slot("texinfo")?)?[0].count());
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
/// use bspkit::query::FieldChange;
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
/// use bspkit::query::{Query, Value};
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
        query(text)
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
    pub fn each(
        &self,
        bsp: &Bsp<'_>,
        names: FlagNames,
        mut show: impl FnMut(usize, Value<'_>) -> Result<bool>,
    ) -> Result<usize> {
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
        change(text)
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

// Queries and changes from text.

const QUERY: &str = "query";
/// How many regular expressions a query may have: each takes up to a mebibyte.
const MAX_EXPRESSIONS: usize = 64;

fn query(text: &str) -> Result<Query> {
    let tree = Grammar::parse(Rule::query, text).map_err(|error| unreadable(text, offset(&error), false))?;
    place(text, tree.flat_map(Pair::into_inner)).map(|(query, _)| query)
}

fn change(text: &str) -> Result<FieldChange> {
    let tree = Grammar::parse(Rule::change, text).map_err(|error| unreadable(text, offset(&error), true))?;
    let (query, rest) = place(text, tree.flat_map(Pair::into_inner))?;
    let (mut sign, mut value) = ("=", ("", text.len()));
    for part in rest {
        match part.as_rule() {
            Rule::sign => sign = part.as_str(),
            Rule::whole => value = (part.as_str(), part.as_span().start()),
            _ => {}
        }
    }
    let operator = Operator::of(sign);
    let value = FieldsValue::new(operator, value.0).map_err(|why| grammar::wrong(QUERY, text, value.1, &why))?;
    Ok(FieldChange { query, operator, value })
}

/// The query in a text, and the parts after it.
fn place<'t>(text: &str, parts: impl Iterator<Item = Pair<'t, Rule>>) -> Result<(Query, Vec<Pair<'t, Rule>>)> {
    let (mut lump, mut path, mut rest, mut end) = ("", "", Vec::new(), text.len());
    let mut nest: Nest<'_, All> = Nest::new(QUERY, text);
    let (mut expressions, mut last) = (0, 0);
    for part in parts {
        let (at, letters) = (part.as_span().start(), part.as_str());
        if matches!(part.as_rule(), Rule::comma | Rule::not | Rule::close | Rule::bracket) {
            last = part.as_span().end();
        }
        match part.as_rule() {
            Rule::lump => lump = letters,
            Rule::comma => nest.comma(at)?,
            Rule::not => nest.open(at)?,
            Rule::close => {
                let either = nest.close(at)?;
                nest.last().0.push(Test::Not(either));
            }
            Rule::bracket => {
                let test = part.into_inner().next().map(|part| test(text, part)).transpose()?.flatten();
                let has_expression =
                    |test: &&Test| matches!(test, Test::Field { check: Check::Compare(Compare::Matches(_)), .. });
                expressions += test.iter().filter(has_expression).count();
                if expressions > MAX_EXPRESSIONS {
                    return Err(nest.wrong(at, &format!("there are more than {MAX_EXPRESSIONS} expressions")));
                }
                nest.last().0.extend(test);
            }
            Rule::path => (path, end) = (letters, part.as_span().end()),
            Rule::sign | Rule::whole => {
                end = end.min(at);
                rest.push(part);
            }
            _ => {}
        }
    }
    let either = nest.finish(last)?;
    let text = text[..end].to_owned();
    Ok((Query { text, lump: lump.to_owned(), either, field: path.to_owned() }, rest))
}

/// What is in a pair of brackets; `None` for `*`.
fn test(text: &str, part: Pair<'_, Rule>) -> Result<Option<Test>> {
    // Only a number with too many digits does not fit; no record has such an index.
    let index = |digits: &str, none: usize| if digits.is_empty() { none } else { digits.parse().unwrap_or(usize::MAX) };
    Ok(match part.as_rule() {
        Rule::one => Some(Test::One(index(part.as_str(), 0))),
        Rule::range => {
            let (start, end) = part.as_str().split_once("..").unwrap_or_default();
            Some(Test::Range(index(start, 0), index(end, usize::MAX)))
        }
        Rule::field => Some(field(text, part)?),
        _ => None,
    })
}

fn field(text: &str, part: Pair<'_, Rule>) -> Result<Test> {
    let (mut path, mut at, mut operator, mut source) = (String::new(), 0, "", ("", 0));
    let mut check = Check::Compare(Compare::Exists);
    for part in part.into_inner() {
        let (start, letters) = (part.as_span().start(), part.as_str());
        match part.as_rule() {
            Rule::path => (path, at) = (letters.to_owned(), start),
            Rule::bits | Rule::operator => operator = letters,
            Rule::expression => source = (letters, start),
            Rule::letters => {
                let compiled = Expression::at(source, letters == "i");
                let compiled = compiled.map_err(|(at, why)| grammar::wrong(QUERY, text, at, &why))?;
                check = Check::Compare(Compare::Matches(compiled));
            }
            Rule::value => {
                let value = part.into_inner().map(|text| text.as_str()).collect::<Vec<_>>().concat();
                check = match operator {
                    "&" => Check::Bits(value),
                    _ => Check::Compare(
                        compared(operator, unescape(&value)).map_err(|why| grammar::wrong(QUERY, text, start, &why))?,
                    ),
                };
            }
            _ => {}
        }
    }
    Ok(Test::Field { path, at, check })
}

/// The reason why the text cannot be read from here on.
fn unreadable(text: &str, at: usize, is_change: bool) -> Error {
    let (before, rest) = text.split_at(at);
    let form = if is_change {
        "LUMP[INDEX].FIELD=VALUE, as in planes[0].normal[2]=1"
    } else {
        "LUMP[INDEX].FIELD, as in planes[0].normal[2]"
    };
    let why = match rest {
        _ if !text.contains('[') => format!("a record is missing: write {form}"),
        _ if before.ends_with('[') => "an index, a range such as 3..9, `*` or a field is expected here".to_owned(),
        _ if rest.starts_with("!=") => "`!=` is written `:not([field=value])`".to_owned(),
        _ if rest.starts_with('~') => "an expression is written between slashes: `[field~/re/]`".to_owned(),
        _ if rest.starts_with('=') && !is_change => {
            "there is no value here: `get` prints fields, and `set` changes them".to_owned()
        }
        "" if before.contains("~/") && !before.contains("/]") && !before.contains("/i]") => {
            "it ends too early; `/]` is missing".to_owned()
        }
        "" if before.rfind('[') > before.rfind(']') => "it ends too early; a `]` is missing".to_owned(),
        "" if is_change => format!("an operator is missing: write {form}"),
        "" => "it ends too early".to_owned(),
        _ if before.ends_with(']') && is_change => "an operator is expected here: = += -= *= /= |= &= ^=".to_owned(),
        _ if is_change && before.rfind(']') < before.rfind('.') => {
            "a field, or an operator: = += -= *= /= |= &= ^=".to_owned()
        }
        _ => format!("`{}` is not expected here", rest.chars().next().unwrap_or_default()),
    };
    grammar::wrong(QUERY, text, at, &why)
}

// The records that a query reads: each lump is decompressed and byte-swapped once.

/// The lumps of a map that were opened.
struct Tables<'b, 'a> {
    bsp: &'b Bsp<'a>,
    names: FlagNames,
    open: RefCell<HashMap<String, Rc<Table<'a>>>>,
}

/// The records of a lump, or of a list in it.
#[derive(Debug)]
struct Table<'a> {
    /// The lump's name, and the list's after a dot.
    name: String,
    /// The lump's name in the dialect.
    lump: String,
    /// `None` for a lump whose items have names and are not records.
    records: Option<Records<'a>>,
    /// The names of the records, if these are not fields.
    names: Option<Vec<Vec<u8>>>,
}

impl<'b, 'a> Tables<'b, 'a> {
    fn new(bsp: &'b Bsp<'a>, names: FlagNames) -> Self {
        Tables { bsp, names, open: RefCell::default() }
    }

    /// The records of `LUMP` or `LUMP.LIST`.
    fn open(&self, name: &str) -> Result<Rc<Table<'a>>> {
        if let Some(table) = self.open.borrow().get(name) {
            return Ok(table.clone());
        }
        let table = Rc::new(self.read(name)?);
        self.open.borrow_mut().insert(name.to_owned(), table.clone());
        Ok(table)
    }

    /// The records that numbers refer to that name this lump: those of another one, if it is left out.
    fn referred(&self, lump: &str) -> Result<Rc<Table<'a>>> {
        self.open(self.bsp.referred(lump).unwrap_or(lump))
    }

    fn read(&self, name: &str) -> Result<Table<'a>> {
        let (slot, _) = self.bsp.list_named(name)?;
        let has_names = TextureNames::NAMED.contains(&&*slot.name);
        let names = has_names.then(|| self.bsp.texture_names().ok()).flatten();
        let names = names.and_then(|names| names.of_records(&slot.name));
        let records = match self.bsp.records(name) {
            Err(error) if error.kind() == ErrorKind::Unsupported && names.is_some() => None,
            records => Some(records?),
        };
        let name = records.as_ref().map_or(&*slot.name, Records::name).to_owned();
        Ok(Table { name, lump: slot.name.clone(), records, names })
    }
}

impl Table<'_> {
    fn len(&self) -> usize {
        match (&self.records, &self.names) {
            (Some(records), _) => records.len(),
            (None, names) => names.as_ref().map_or(0, Vec::len),
        }
    }

    fn fields(&self) -> Option<&'static [FieldInfo]> {
        self.records.as_ref().map(|records| records.info().fields)
    }

    /// The bytes of a record from this offset on.
    fn bytes_at(&self, index: usize, offset: usize, size: usize) -> Option<&[u8]> {
        self.records.as_ref()?.get(index)?.get(offset..offset + size)
    }
}
