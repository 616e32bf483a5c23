//! Tests of records, compiled for a lump: each looks at one value in a bounded number of steps.

use std::ops::Range;
use std::rc::Rc;

use super::Value;
use super::path::{End, Path};
use super::tables::{Table, Tables};
use crate::content::grammar;
use crate::content::select::Compare;
use crate::record::{self, FlagNames, Meaning, Number, Shape};
use crate::{Error, ErrorKind, Result};

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
    fn value(&self, value: Value<'_>, names: FlagNames) -> bool {
        match (value, self) {
            (Value::Nowhere, _) => false,
            (Value::Name(name), Holds::Text(compare) | Holds::Decimal(compare)) => compare.holds(name),
            (Value::Name(_), _) => false,
            (Value::Part { shape: Shape::Array(item, _), meaning, bytes }, _) => {
                let mut items = bytes.chunks_exact(item.size().max(1));
                items.any(|bytes| self.value(Value::Part { shape: *item, meaning, bytes }, names))
            }
            (Value::Part { shape, meaning, bytes }, _) => self.scalar(shape, meaning, bytes, names),
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
            (Holds::Decimal(compare), _) => compare.holds(print(Meaning::Plain).as_bytes()),
            (Holds::Bits(_) | Holds::There, _) => false,
        }
    }
}

fn float(bytes: &[u8]) -> Option<f32> {
    bytes.first_chunk().map(|bytes| f32::from_le_bytes(*bytes))
}
