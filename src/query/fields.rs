//! Fields of records: paths to them, within a record and on over indices, tests of their values, and their changes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use super::{FieldChange, Query, Table, Tables, Value as QueryValue};
use crate::bytes::rounded;
use crate::content::assign::{self, calculate};
use crate::content::grammar;
use crate::content::select::Compare;
use crate::dialect::Alias;
use crate::draft::Draft;
use crate::record::{self, Cell, FlagNames, Meaning, Number, Part, Shape};
use crate::{Error, ErrorKind, Place, Result};

// Paths to fields: within a record, and on to the records that an index names.

/// The most records that a path leads over.
const MAX_STEPS: usize = 8;

/// A path to a field, compiled for a lump.
#[derive(Clone, Debug)]
pub(super) struct Path<'a> {
    start: Rc<Table<'a>>,
    steps: Vec<Step<'a>>,
    pub(super) end: End,
}

/// An index that is followed.
#[derive(Clone, Debug)]
struct Step<'a> {
    /// The offset of the number in the record.
    offset: usize,
    number: Number,
    /// Numbers that name no record.
    none: &'static [i64],
    to: Rc<Table<'a>>,
}

/// What is at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// The whole record.
    Record,
    Part(Part),
    /// The name of the record, which is not in it.
    Name,
}

impl<'a> Path<'a> {
    /// The path from records of a table. The error is a sentence.
    pub(super) fn of(tables: &Tables<'_, 'a>, start: &Rc<Table<'a>>, text: &str) -> Result<Self, String> {
        let mut path = Path { start: start.clone(), steps: Vec::new(), end: End::Record };
        if !text.is_empty() {
            let walked = path.walk(tables, text);
            // The records at the start are named by the caller.
            let of = |why: String| match path.steps.last() {
                Some(step) => format!("in the records of {}: {why}", step.to.name),
                None => why,
            };
            walked.map_err(of)?;
        }
        Ok(path)
    }

    /// The table with the record at the end.
    pub(super) fn last(&self) -> &Rc<Table<'a>> {
        self.steps.last().map_or(&self.start, |step| &step.to)
    }

    /// The index of the record at the end; `None` if the path leads nowhere.
    pub(super) fn reach(&self, index: usize) -> Option<usize> {
        let (mut table, mut index) = (&self.start, index);
        for step in &self.steps {
            let number = step.number.integer(table.bytes_at(index, step.offset, step.number.size())?)?;
            index = usize::try_from(number).ok().filter(|index| *index < step.to.len())?;
            if step.none.contains(&number) {
                return None;
            }
            table = &step.to;
        }
        Some(index)
    }

    /// What is at the end, for a record at the start.
    pub(super) fn value(&self, index: usize) -> QueryValue<'_> {
        let found = self.reach(index).and_then(|index| match self.end {
            End::Name => self.last().names.as_ref()?.get(index).map(|name| QueryValue::Name(name)),
            _ => {
                let part = self.part()?;
                let bytes = self.last().bytes_at(index, part.offset, part.shape.size())?;
                Some(QueryValue::Part { shape: part.shape, meaning: part.meaning, bytes })
            }
        });
        found.unwrap_or(QueryValue::Nowhere)
    }

    /// The part of the record at the end.
    pub(super) fn part(&self) -> Option<Part> {
        match self.end {
            End::Part(part) => Some(part),
            End::Record => Part::find(self.last().fields()?, "").ok(),
            End::Name => None,
        }
    }

    /// The numbers and names at the end.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let Some((part, fields)) = self.part().zip(self.last().fields()) else { return Vec::new() };
        let place = part.offset..part.offset + part.shape.size();
        let cells = Cell::all(fields).into_iter().filter(|cell| place.contains(&cell.place.start));
        let moved = |cell: Cell| Cell { place: cell.place.start - place.start..cell.place.end - place.start, ..cell };
        cells.map(moved).collect()
    }

    fn walk(&mut self, tables: &Tables<'_, 'a>, text: &str) -> Result<(), String> {
        let mut before = "";
        for name in text.split('.') {
            self.step(tables, before, name)?;
            before = name;
        }
        Ok(())
    }

    /// One name of a path after another one, with the numbers of items after it.
    fn step(&mut self, tables: &Tables<'_, 'a>, before: &str, name: &str) -> Result<(), String> {
        self.follow(tables, before)?;
        let (offset, fields) = match self.end {
            End::Record => (0, self.last().fields()),
            End::Part(Part { shape: Shape::Record(fields), offset, .. }) => (offset, Some(fields)),
            End::Part(Part { shape: Shape::Array(..), .. }) => {
                return Err(format!("{before} is a list and has no {name}: name an item, as in {before}[0]"));
            }
            End::Part(_) | End::Name => return Err(format!("{before} is a name and has no {name}")),
        };
        let found = fields.map(|fields| Part::find(fields, name).map_err(|error| error.to_string()));
        match found {
            Some(Ok(part)) => {
                self.end = End::Part(Part { offset: offset + part.offset, ..part });
                Ok(())
            }
            _ if self.end == End::Record && self.last().names.is_some() && name.eq_ignore_ascii_case("name") => {
                self.end = End::Name;
                Ok(())
            }
            Some(Err(why)) if self.end == End::Record => self.alias(tables, name).unwrap_or(Err(why)),
            Some(Err(why)) => Err(why),
            None => Err(format!("there is no field {name}; the field is name")),
        }
    }

    /// The field that a name means in other families; `None` if it means nothing here.
    fn alias(&mut self, tables: &Tables<'_, 'a>, name: &str) -> Option<Result<(), String>> {
        let table = self.last().clone();
        let fields = table.fields()?;
        let is_there = |alias: &&Alias| Part::find(fields, alias.path.split('.').next().unwrap_or_default()).is_ok();
        let alias = Alias::of(&table.lump, name).find(is_there)?;
        Some(self.walk(tables, alias.path).and_then(|()| self.name(tables)))
    }

    /// Goes on to the name of the record that the number at the end refers to.
    pub(super) fn name(&mut self, tables: &Tables<'_, 'a>) -> Result<(), String> {
        if !matches!(self.end, End::Part(Part { shape: Shape::Number(_), .. })) {
            return Ok(());
        }
        self.follow(tables, "it")?;
        let table = self.last();
        let is_name = |fields: &'static [_]| {
            let mut fields = fields.iter();
            fields.find(|field: &&crate::record::FieldInfo| matches!(field.shape, Shape::Name(_)))
        };
        self.end = match (&table.names, table.fields().and_then(is_name)) {
            (Some(_), _) => End::Name,
            (None, Some(field)) => End::Part(Part { offset: field.offset, shape: field.shape, meaning: field.meaning }),
            (None, None) => return Err(format!("the records of {} have no names", table.name)),
        };
        Ok(())
    }

    /// Goes on to the record that the number at the end refers to; anything but a number stays.
    pub(super) fn follow(&mut self, tables: &Tables<'_, 'a>, field: &str) -> Result<(), String> {
        let End::Part(Part { offset, shape: Shape::Number(number), meaning }) = self.end else { return Ok(()) };
        let Some((lump, none)) = meaning.one() else {
            return Err(match meaning {
                Meaning::Run { .. } => format!("{field} is the first of several records and cannot be followed"),
                Meaning::Child => format!("{field} is a node or a leaf and cannot be followed"),
                _ => format!("{field} is not the index of a record and cannot be followed"),
            });
        };
        if self.steps.len() == MAX_STEPS {
            return Err(format!("the path leads over more than {MAX_STEPS} records"));
        }
        let to = tables.referred(lump).map_err(|error| error.to_string())?;
        self.steps.push(Step { offset, number, none, to });
        self.end = End::Record;
        Ok(())
    }
}

// Tests of records, compiled for a lump: each looks at one value in a bounded number of steps.

/// Conditions that all have to hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct All(pub(super) Vec<Test>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    One(usize),
    Range(usize, usize),
    Not(Vec<All>),
    Field {
        path: String,
        /// Where it is in the query.
        at: usize,
        check: Check,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Check {
    Compare(Compare),
    /// One of these bits is set.
    Bits(String),
}

impl All {
    pub(super) fn is_one(&self) -> bool {
        matches!(&self.0[..], [Test::One(_)])
    }
}

/// Conditions, compiled.
pub(super) struct Compiled<'a> {
    tests: Vec<CompiledTest<'a>>,
}

enum CompiledTest<'a> {
    Range(Range<usize>, bool),
    Not(Vec<Compiled<'a>>),
    Field(Box<Path<'a>>, Holds, FlagNames),
}

/// What a value has to be.
enum Holds {
    /// It is there.
    There,
    /// A number with these bytes, or a float equal to it.
    Number(Vec<u8>),
    /// The text form of the value, or of the number in decimals.
    Text(Compare),
    Decimal(Compare),
    Bits(i64),
}

impl<'a> Compiled<'a> {
    pub(super) fn new(all: &All, tables: &Tables<'_, 'a>, table: &Rc<Table<'a>>, text: &str) -> Result<Self> {
        let tests = all.0.iter().map(|test| {
            Ok(match test {
                Test::One(index) => CompiledTest::Range(*index..index.saturating_add(1), true),
                Test::Range(start, end) => CompiledTest::Range(*start..*end, false),
                Test::Not(either) => {
                    let either = either.iter().map(|all| Compiled::new(all, tables, table, text));
                    CompiledTest::Not(either.collect::<Result<_>>()?)
                }
                Test::Field { path, at, check } => {
                    let (path, holds) = field(tables, table, path, check)
                        .map_err(|why| grammar::wrong("query", text, *at, &format!("{}: {why}", table.name)))?;
                    CompiledTest::Field(Box::new(path), holds, tables.names)
                }
            })
        });
        Ok(Compiled { tests: tests.collect::<Result<_>>()? })
    }

    /// The indices that come into question.
    pub(super) fn range(&self, table: &Table<'_>) -> Result<Range<usize>> {
        let len = table.len();
        let mut whole = 0..len;
        for test in &self.tests {
            let CompiledTest::Range(range, is_one) = test else { continue };
            if *is_one && range.start >= len {
                return Err(no_record(table, range.start));
            }
            whole = whole.start.max(range.start)..whole.end.min(range.end);
        }
        Ok(whole)
    }

    pub(super) fn holds(&self, index: usize) -> bool {
        self.tests.iter().all(|test| match test {
            CompiledTest::Range(range, _) => range.contains(&index),
            CompiledTest::Not(either) => !either.iter().any(|all| all.holds(index)),
            CompiledTest::Field(path, Holds::There, _) => path.reach(index).is_some(),
            CompiledTest::Field(path, holds, names) => holds.value(path.value(index), names),
        })
    }
}

fn no_record(table: &Table<'_>, index: usize) -> Error {
    let there = match table.len().checked_sub(1) {
        None => "no records".to_owned(),
        Some(last) => format!("only the records 0 to {last}"),
    };
    Error::new(ErrorKind::NotFound, format!("{} has no record {index}: it has {there}", table.name))
}

/// The path of a test and what its value has to be. An index that is compared with text is followed to a name.
fn field<'a>(
    tables: &Tables<'_, 'a>,
    table: &Rc<Table<'a>>,
    path: &str,
    check: &Check,
) -> Result<(Path<'a>, Holds), String> {
    let mut path = Path::of(tables, table, path)?;
    let is_index =
        |path: &Path<'_>| matches!(scalar(path), Some((Shape::Number(_), meaning)) if meaning.one().is_some());
    let holds = match check {
        Check::Compare(Compare::Exists) => {
            if is_index(&path) {
                path.follow(tables, "it")?;
            }
            return Ok((path, Holds::There));
        }
        Check::Bits(flags) => match scalar(&path) {
            Some((Shape::Number(number), meaning)) if number != Number::F32 => {
                Holds::Bits(bits(number, meaning, flags, tables)?)
            }
            _ => return Err("it has no flags".to_owned()),
        },
        Check::Compare(Compare::Equal(value)) => match (scalar(&path), text_of(value)) {
            (Some((shape @ Shape::Number(number), meaning)), text) => {
                let mut bytes = vec![0; number.size()];
                match record::fill(shape, meaning, &text, &mut bytes, tables.names) {
                    Ok(()) => Holds::Number(bytes),
                    Err(why) if is_index(&path) => {
                        path.name(tables).map_err(|_| why)?;
                        Holds::Text(Compare::Equal(value.clone()))
                    }
                    Err(why) => return Err(why),
                }
            }
            _ => Holds::Text(Compare::Equal(value.clone())),
        },
        Check::Compare(compare @ Compare::Number(..)) => Holds::Decimal(compare.clone()),
        Check::Compare(compare) => {
            if is_index(&path) {
                path.name(tables)?;
            }
            Holds::Text(compare.clone())
        }
    };
    match (path.end, scalar(&path)) {
        (End::Name, _) | (_, Some(_)) => Ok((path, holds)),
        _ => Err("it is a struct: name a field of it".to_owned()),
    }
}

/// The numbers or names that a path leads to: of a list, its items.
fn scalar(path: &Path<'_>) -> Option<(Shape, Meaning)> {
    let part = path.part()?;
    let mut shape = part.shape;
    while let Shape::Array(item, _) = shape {
        shape = *item;
    }
    matches!(shape, Shape::Number(_) | Shape::Name(_)).then_some((shape, part.meaning))
}

fn text_of(value: &[u8]) -> String {
    crate::bytes::escaped(value).to_string()
}

fn bits(number: Number, meaning: Meaning, flags: &str, tables: &Tables<'_, '_>) -> Result<i64, String> {
    let mut bytes = vec![0; number.size()];
    record::fill(Shape::Number(number), meaning, flags, &mut bytes, tables.names)?;
    Ok(number.integer(&bytes).unwrap_or_default())
}

impl Holds {
    fn value(&self, value: QueryValue<'_>, names: FlagNames) -> bool {
        match (value, self) {
            (QueryValue::Nowhere, _) => false,
            (QueryValue::Name(name), Holds::Text(compare) | Holds::Decimal(compare)) => compare.holds(name),
            (QueryValue::Name(_), _) => false,
            (QueryValue::Part { shape: Shape::Array(item, _), meaning, bytes }, _) => {
                let mut items = bytes.chunks_exact(item.size().max(1));
                items.any(|bytes| self.value(QueryValue::Part { shape: *item, meaning, bytes }, names))
            }
            (QueryValue::Part { shape, meaning, bytes }, _) => self.scalar(shape, meaning, bytes, names),
        }
    }

    fn scalar(&self, shape: Shape, meaning: Meaning, bytes: &[u8], names: FlagNames) -> bool {
        let print = |meaning| record::print(shape, meaning, bytes, names).to_string();
        match (self, shape) {
            (Holds::Bits(bits), Shape::Number(number)) => number.integer(bytes).is_some_and(|own| own & bits != 0),
            (Holds::Number(other), Shape::Number(Number::F32)) => bytes == other || float(bytes) == float(other),
            (Holds::Number(other), _) => bytes == other,
            (Holds::Text(compare) | Holds::Decimal(compare), Shape::Name(_)) => {
                compare.holds(bytes.split(|byte| *byte == 0).next().unwrap_or(bytes))
            }
            (Holds::Text(compare), _) => compare.holds(print(meaning).as_bytes()),
            // The number of the query is rounded as that of `=` is, so that what is equal is neither less nor greater.
            (Holds::Decimal(Compare::Number(order, other)), Shape::Number(Number::F32)) => {
                float(bytes).is_some_and(|own| order.holds(own, rounded(*other)))
            }
            (Holds::Decimal(compare), _) => compare.holds(print(Meaning::Plain).as_bytes()),
            (Holds::Bits(_) | Holds::There, _) => false,
        }
    }
}

fn float(bytes: &[u8]) -> Option<f32> {
    bytes.first_chunk().map(|bytes| f32::from_le_bytes(*bytes))
}

// Changes of a field of many records.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operator {
    Set,
    Calculate(assign::Operator),
    Bits(Combine),
}

/// How bits are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Combine {
    Or,
    And,
    Xor,
}

/// What a field is set to or combined with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    text: String,
    /// The numbers of a calculation.
    numbers: Vec<f64>,
    /// Whether the bits are inverted.
    is_inverted: bool,
}

/// Reads a value of this layout and writes its bytes; the error is a sentence.
pub type Encode = fn(Shape, Meaning, &str, &mut [u8], FlagNames) -> Result<(), String>;

impl Operator {
    pub(super) fn of(sign: &str) -> Self {
        match sign {
            "=" => Operator::Set,
            "|=" => Operator::Bits(Combine::Or),
            "&=" => Operator::Bits(Combine::And),
            "^=" => Operator::Bits(Combine::Xor),
            sign => Operator::Calculate(assign::Operator::of(sign)),
        }
    }
}

impl Combine {
    fn apply(self, one: u8, other: u8) -> u8 {
        match self {
            Combine::Or => one | other,
            Combine::And => one & other,
            Combine::Xor => one ^ other,
        }
    }
}

impl Value {
    pub(super) fn new(operator: Operator, text: &str) -> Result<Self, String> {
        let inner = text.strip_prefix('~').filter(|_| matches!(operator, Operator::Bits(_)));
        let mut numbers = Vec::new();
        if let Operator::Calculate(operator) = operator {
            let number = |word: &str| word.parse().ok().filter(|number: &f64| number.is_finite());
            let read: Option<Vec<f64>> = text.split_whitespace().map(number).collect();
            numbers =
                read.filter(|numbers| !numbers.is_empty()).ok_or("a number is expected here, or several: `0 0 8`")?;
            if operator == assign::Operator::Divide && numbers.contains(&0.0) {
                return Err("nothing can be divided by 0".to_owned());
            }
        }
        Ok(Value { text: inner.unwrap_or(text).to_owned(), numbers, is_inverted: inner.is_some() })
    }
}

impl FieldChange {
    /// Changes the field of each record, and returns how many records have it. A value is a number, the bits of a
    /// number in hex, a name with escapes, or names of flags.
    ///
    /// # Errors
    /// As [`Query::find`]; [`ErrorKind::Argument`] if the value does not fit the field or a result does not;
    /// [`ErrorKind::Refused`] for a name that is not in a record. Nothing has changed then.
    pub fn apply(&self, draft: &mut Draft<'_>, names: FlagNames) -> Result<usize> {
        self.apply_with(draft, names, record::fill)
    }

    /// As [`FieldChange::apply`], with a function that reads values of any layout for `=`.
    ///
    /// # Errors
    /// As [`FieldChange::apply`].
    pub fn apply_with(&self, draft: &mut Draft<'_>, names: FlagNames, encode: Encode) -> Result<usize> {
        let view = draft.view()?;
        let bsp = view.as_ref().unwrap_or(draft.bsp());
        let tables = Tables::new(bsp, names);
        let table = tables.open(&self.query.lump)?;
        let indices = self.query.indices(&tables, &table)?;
        let path = self.query.path(&tables, &table)?;
        let part = writable(&path, &self.query)?;
        let targets: BTreeSet<usize> = indices.into_iter().filter_map(|index| path.reach(index)).collect();
        if targets.is_empty() {
            return Ok(0);
        }
        let table = path.last();
        let edit = Edit::new(self, part, names, encode).map_err(|why| Error::new(ErrorKind::Argument, why))?;
        let Some(records) = &table.records else { return Ok(0) };
        let (slot, mut bytes) = (records.slot(), records.lump().to_vec());
        for target in &targets {
            let field = records.place(*target).and_then(|place| {
                let start = place.start + part.offset;
                bytes.get_mut(start..start + part.shape.size())
            });
            field.map_or(Ok(()), |field| edit.make(field)).map_err(|why| {
                let place = Place::default().lump(&table.name).record(*target);
                Error::new(ErrorKind::Argument, why).at(place)
            })?;
        }
        draft.set_little_endian(slot, bytes)?;
        Ok(targets.len())
    }
}

/// The part at the end of a path, if it is in a record.
fn writable(path: &Path<'_>, query: &Query) -> Result<Part> {
    match (path.end, path.part()) {
        (End::Name, _) | (_, None) => {
            let message = format!("{query} is the name of a record, and not in the record itself");
            Err(Error::new(ErrorKind::Refused, message).with_hint("rename the texture itself"))
        }
        (_, Some(part)) => Ok(part),
    }
}

/// A change that is ready for its field.
enum Edit<'c> {
    /// These bytes.
    Set(Vec<u8>),
    /// For each number: its place, and the bytes that it is combined with.
    Bits(Combine, Vec<u8>),
    Calculate(assign::Operator, Vec<(usize, Number)>, Vec<(&'c str, f64)>),
}

impl<'c> Edit<'c> {
    fn new(change: &'c FieldChange, part: Part, names: FlagNames, encode: Encode) -> Result<Self, String> {
        let (text, size) = (&change.value.text, part.shape.size());
        match change.operator {
            Operator::Set => {
                let mut bytes = vec![0; size];
                let is_single = matches!(part.shape, Shape::Number(_) | Shape::Name(_));
                let encode = if is_single { record::fill } else { encode };
                encode(part.shape, part.meaning, text, &mut bytes, names)?;
                Ok(Edit::Set(bytes))
            }
            Operator::Bits(combine) => {
                let mut with = vec![0; size];
                for (at, number) in numbers(part.shape)? {
                    if number == Number::F32 {
                        return Err("it is a float, and has no bits to set".to_owned());
                    }
                    record::fill(Shape::Number(number), part.meaning, text, &mut with[at..at + number.size()], names)?;
                }
                if change.value.is_inverted {
                    with.iter_mut().for_each(|byte| *byte = !*byte);
                }
                Ok(Edit::Bits(combine, with))
            }
            Operator::Calculate(_) if matches!(part.meaning, Meaning::Flags(_)) => {
                Err("flags are combined with |=, &= and ^=".to_owned())
            }
            Operator::Calculate(operator) => {
                let places = numbers(part.shape)?;
                let words: Vec<_> = text.split_whitespace().zip(change.value.numbers.iter().copied()).collect();
                if words.len() > 1 && words.len() != places.len() {
                    return Err(format!("it has {} numbers, and the operand {}", places.len(), words.len()));
                }
                Ok(Edit::Calculate(operator, places, words))
            }
        }
    }

    fn make(&self, field: &mut [u8]) -> Result<(), String> {
        match self {
            Edit::Set(bytes) => field.copy_from_slice(bytes),
            Edit::Bits(combine, with) => {
                field.iter_mut().zip(with).for_each(|(byte, with)| *byte = combine.apply(*byte, *with));
            }
            Edit::Calculate(operator, places, words) => {
                for ((at, number), word) in places.iter().zip(words.iter().cycle()) {
                    calculated(*number, *operator, *word, &mut field[*at..at + number.size()])?;
                }
            }
        }
        Ok(())
    }
}

/// The numbers of a field: one, or the items of a list.
fn numbers(shape: Shape) -> Result<Vec<(usize, Number)>, String> {
    match shape {
        Shape::Number(number) => Ok(vec![(0, number)]),
        Shape::Array(item, count) => {
            let inner = numbers(*item)?;
            let places =
                (0..count).flat_map(|index| inner.iter().map(move |(at, number)| (index * item.size() + at, *number)));
            Ok(places.collect())
        }
        Shape::Name(_) => Err("it is a name, and can only be set with =".to_owned()),
        Shape::Record(_) => Err("it is a struct: name a field of it".to_owned()),
    }
}

/// Replaces a number by the result. Whole numbers are calculated exactly, floats as engines do it: in 64 bits, rounded
/// to 32. A float that does not change keeps its bits.
fn calculated(
    number: Number,
    operator: assign::Operator,
    (word, operand): (&str, f64),
    to: &mut [u8],
) -> Result<(), String> {
    use assign::Operator::{Add, Divide, Multiply, Subtract};
    if let Some(old) = number.integer(to) {
        let new = calculate(&old.to_string(), operator, word)?;
        return record::fill(Shape::Number(number), Meaning::Plain, &new, to, &[]);
    }
    let old = f32::from_le_bytes(to.first_chunk().copied().unwrap_or_default());
    let wide = f64::from(old);
    let new = rounded(match operator {
        Add => wide + operand,
        Subtract => wide - operand,
        Multiply => wide * operand,
        Divide => wide / operand,
    });
    if !old.is_finite() || !new.is_finite() {
        let why =
            if old.is_finite() { "the result is too large for a 32-bit float" } else { "it is not a finite number" };
        return Err(format!("{why}: {old} {operator} {word}"));
    }
    if new != old {
        to.copy_from_slice(&new.to_le_bytes());
    }
    Ok(())
}
