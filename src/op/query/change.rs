//! Changes of a field of many records.

use std::collections::BTreeSet;

use super::path::{End, Path};
use super::tables::Tables;
use super::{FieldChange, Query};
use crate::bytes::rounded;
use crate::content::assign::{self, calculate};
use crate::draft::Draft;
use crate::record::{self, FlagNames, Meaning, Number, Part, Shape};
use crate::{Error, ErrorKind, Place, Result};

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
        let mut bytes = table.bytes.to_vec();
        for target in &targets {
            let start = table.start(*target) + part.offset;
            let field = bytes.get_mut(start..start + part.shape.size());
            field.map_or(Ok(()), |field| edit.make(field)).map_err(|why| {
                let place = Place::default().lump(&table.name).record(*target);
                Error::new(ErrorKind::Argument, why).at(place)
            })?;
        }
        let slot = table.slot;
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
