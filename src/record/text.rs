//! Records as text and back, without the loss of a bit.
//!
//! Floats are the shortest decimal that reads back to the same bits; NaN and infinities are the bits in hex. Names are
//! escaped and end with their last byte that is not NUL. Flags are names; bits without a name are in hex.

use std::fmt;
use std::ops::Range;

use super::meaning::{FlagKind, Meaning};
use super::shape::{self, FieldInfo, Number, Shape, find};
use crate::bytes::{escaped, unescape};
use crate::error::{Error, ErrorKind, Result};
use crate::near;

/// The bits of this kind of flags, each with its name.
///
/// ```
/// use bspkit::record::{FlagKind, flag_names};
/// let game = bspkit::dialect::QUAKE2.game(38);
/// let surface = flag_names(game.flags, FlagKind::Surface);
/// assert!(surface.contains(&(4, "SKY")));
/// ```
pub fn flag_names(all: FlagNames, kind: FlagKind) -> &'static [(u32, &'static str)] {
    all.iter().find(|(of, _)| *of == kind).map_or(&[], |(_, names)| names)
}

/// The names of flags, by kind.
pub type FlagNames = &'static [(FlagKind, &'static [(u32, &'static str)])];

/// One number or name of a record: where it is and what it means.
///
/// ```
/// use bspkit::dialect::quake2::Face;
/// use bspkit::record::{Cell, Record};
/// let cells = Cell::all(Face::INFO.fields);
/// assert_eq!(cells[4].path, "texinfo");
/// assert_eq!(cells[5].path, "styles[0]");
/// assert_eq!(cells[5].place, 12..13);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// Its name: `plane`, `normal[2]`, `edges[0].neighbors[1].span`.
    pub path: String,
    /// Its bytes in the record.
    pub place: Range<usize>,
    /// A number or a name.
    pub shape: Shape,
    /// The meaning of the number.
    pub meaning: Meaning,
}

/// The text form of a cell's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// A number, as JSON writes it.
    Number(String),
    /// Anything else.
    Word(String),
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Text::Number(text) | Text::Word(text)) = self;
        f.write_str(text)
    }
}

impl Cell {
    /// Every number and name of the fields, in the order of the file.
    pub fn all(fields: &[FieldInfo]) -> Vec<Cell> {
        shape::of(fields, |_| true)
    }

    /// Those whose numbers mean more than a quantity.
    pub fn meant(fields: &[FieldInfo]) -> Vec<Cell> {
        shape::of(fields, |meaning| meaning != Meaning::Plain)
    }

    /// The text form of the cell's bytes in a record.
    pub fn print(&self, record: &[u8], names: FlagNames) -> Text {
        print(self.shape, self.meaning, record.get(self.place.clone()).unwrap_or_default(), names)
    }

    /// Reads a text form and writes its bytes into a record.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`]; the message says what is expected.
    pub fn parse(&self, text: &str, record: &mut [u8], names: FlagNames) -> Result<()> {
        match record.get_mut(self.place.clone()) {
            Some(bytes) => parse(self.shape, self.meaning, text, bytes, names),
            None => Err(Error::new(ErrorKind::Argument, "the record is too short")),
        }
    }
}

/// The part of a record that a path names: `plane`, `normal`, `normal[2]`, `edges[0].neighbors[1]`. Fields have the
/// engine's names too: `firstedge` is `first_edge`.
///
/// ```
/// use bspkit::dialect::quake2::Face;
/// use bspkit::record::{Part, Record};
/// assert_eq!(Part::find(Face::INFO.fields, "styles[1]")?.offset, 13);
/// let error = Part::find(Face::INFO.fields, "styles[4]").unwrap_err();
/// assert_eq!(error.to_string(), "styles has the numbers 0 to 3, and no [4]");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// Its bytes in the record.
    pub offset: usize,
    /// Its layout.
    pub shape: Shape,
    /// The meaning of its numbers.
    pub meaning: Meaning,
}

impl Part {
    /// Finds a part by its path.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; the message names the fields or items that exist.
    pub fn find(fields: &'static [FieldInfo], path: &str) -> Result<Part> {
        let mut part = Part { offset: 0, shape: Shape::Record(fields), meaning: Meaning::Plain };
        let mut rest = path;
        while !rest.is_empty() {
            let before = &path[..path.len() - rest.len()];
            rest = match rest.strip_prefix('[').map(|rest| rest.split_once(']').unwrap_or((rest, ""))) {
                Some((number, remaining)) => {
                    part = part.item(before, number)?;
                    remaining
                }
                None => {
                    let name = if before.is_empty() { rest } else { rest.strip_prefix('.').unwrap_or(rest) };
                    let end = name.find(['.', '[']).unwrap_or(name.len());
                    part = part.field(before, &name[..end])?;
                    &name[end..]
                }
            };
        }
        Ok(part)
    }

    fn item(self, before: &str, number: &str) -> Result<Part> {
        let Shape::Array(item, count) = self.shape else { return Err(missing(format!("{before} is not a list"))) };
        let index = number.parse::<usize>().ok().filter(|index| *index < count).ok_or_else(|| {
            missing(format!("{before} has the numbers 0 to {}, and no [{number}]", count.saturating_sub(1)))
        })?;
        Ok(Part { offset: self.offset + item.size() * index, shape: *item, ..self })
    }

    fn field(self, before: &str, name: &str) -> Result<Part> {
        let fields = match self.shape {
            Shape::Record(fields) => fields,
            Shape::Array(..) => return Err(missing(format!("{before} is a list: name an item, as in {before}[0]"))),
            _ => return Err(missing(format!("{before} has no parts"))),
        };
        let (field, item) = find(fields, name).ok_or_else(|| {
            let names: Vec<_> = fields.iter().map(|field| field.name).collect();
            missing(format!("there is no field {name}; {}", near::or_all(name, &names, "the fields are")))
        })?;
        let part = Part { offset: self.offset + field.offset, shape: field.shape, meaning: field.meaning };
        item.map_or(Ok(part), |item| part.item(field.name, &item.to_string()))
    }
}

fn missing(message: String) -> Error {
    Error::new(ErrorKind::NotFound, message)
}

/// The text form of a number or name; other shapes have none.
pub fn print(shape: Shape, meaning: Meaning, bytes: &[u8], names: FlagNames) -> Text {
    match (shape, meaning) {
        (Shape::Number(Number::F32), _) => print_float(bytes),
        (Shape::Number(number), Meaning::Flags(kind)) => {
            Text::Word(print_flags(bits(number, bytes), flag_names(names, kind)))
        }
        (Shape::Number(number), _) => Text::Number(number.integer(bytes).unwrap_or_default().to_string()),
        _ => {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            Text::Word(escaped(&bytes[..end]).to_string())
        }
    }
}

fn print_float(bytes: &[u8]) -> Text {
    let number = f32::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default());
    if !number.is_finite() {
        return Text::Word(format!("{:#010x}", number.to_bits()));
    }
    // `Debug` writes exponents and keeps the sign of zero. A whole number reads back the same without `.0`.
    let text = format!("{number:?}");
    let whole = text.strip_suffix(".0").filter(|whole| *whole != "-0");
    Text::Number(whole.map_or_else(|| text.clone(), str::to_owned))
}

fn bits(number: Number, bytes: &[u8]) -> u32 {
    let mut all = [0; 4];
    for (to, from) in all.iter_mut().zip(bytes.iter().take(number.size())) {
        *to = *from;
    }
    u32::from_le_bytes(all)
}

fn print_flags(bits: u32, names: &[(u32, &str)]) -> String {
    let mut rest = bits;
    let mut words = Vec::new();
    for (bit, name) in names {
        if rest & bit != 0 {
            words.push((*name).to_owned());
            rest &= !bit;
        }
    }
    if rest != 0 {
        words.push(format!("{rest:#x}"));
    }
    if words.is_empty() { "0".to_owned() } else { words.join("|") }
}

/// Reads a text form, as [`print()`] writes it or a number in hex, and writes its bytes.
///
/// # Errors
/// [`ErrorKind::Argument`]; the message says what is expected.
pub fn parse(shape: Shape, meaning: Meaning, text: &str, to: &mut [u8], names: FlagNames) -> Result<()> {
    fill(shape, meaning, text, to, names).map_err(|why| Error::new(ErrorKind::Argument, why))
}

/// As [`parse`], for callers that add the place.
///
/// # Errors
/// The reason, a part of a sentence.
pub fn fill(shape: Shape, meaning: Meaning, text: &str, to: &mut [u8], names: FlagNames) -> Result<(), String> {
    match (shape, meaning) {
        (Shape::Number(Number::F32), _) => to.copy_from_slice(&parse_float(text)?),
        (Shape::Number(number), Meaning::Flags(kind)) => {
            let bits = parse_flags(text, flag_names(names, kind))?;
            let (low, high) = (bits.to_le_bytes(), number.size());
            if low[high..].iter().any(|byte| *byte != 0) {
                return Err(format!("the flags {bits:#x} do not fit {high} bytes"));
            }
            to.copy_from_slice(&low[..high]);
        }
        (Shape::Number(number), _) => {
            let integer = parse_integer(text, number)?;
            to.copy_from_slice(&integer.to_le_bytes()[..number.size()]);
        }
        (Shape::Name(size), _) => {
            let name = unescape(text);
            if name.len() > size {
                return Err(format!("the name has {} bytes, and there is room for {size}", name.len()));
            }
            to.fill(0);
            to[..name.len()].copy_from_slice(&name);
        }
        _ => return Err("it is not a single number or name".into()),
    }
    Ok(())
}

fn parse_float(text: &str) -> Result<[u8; 4], String> {
    if let Some(bits) = hex(text) {
        let bits = bits.ok().and_then(|bits| u32::try_from(bits).ok());
        return bits.map(u32::to_le_bytes).ok_or_else(|| format!("`{text}` is not a 32-bit number in hex"));
    }
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) && !text.contains("inf");
    let number = text.parse::<f32>().ok().filter(|number| is_number && !number.is_nan());
    let number = number.ok_or_else(|| format!("`{text}` is not a number (write NaN and infinities as bits in hex)"))?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    if number.is_infinite() || number == 0.0 && digits.contains(|c: char| ('1'..='9').contains(&c)) {
        return Err(format!("`{text}` is too large or too small for a 32-bit float"));
    }
    Ok(number.to_le_bytes())
}

fn parse_integer(text: &str, number: Number) -> Result<i64, String> {
    let (least, most) = number.range().unwrap_or_default();
    let wrong = || format!("`{text}` is not a whole number from {least} to {most}");
    match hex(text) {
        // Hex gives the bits, also those of a negative number.
        Some(bits) => {
            let bits = bits.map_err(|_| wrong())?;
            let fits = bits <= most - least;
            fits.then_some(bits).ok_or_else(wrong)
        }
        None => text.parse().ok().filter(|value| (least..=most).contains(value)).ok_or_else(wrong),
    }
}

fn parse_flags(text: &str, names: &[(u32, &str)]) -> Result<u32, String> {
    let mut bits = 0;
    for word in text.split('|').map(str::trim) {
        let named = names.iter().find(|(_, name)| name.eq_ignore_ascii_case(word)).map(|(bit, _)| *bit);
        let number = || match hex(word) {
            Some(bits) => bits.ok().and_then(|bits| u32::try_from(bits).ok()),
            None => {
                word.parse::<u32>().ok().or_else(|| Some(u32::from_le_bytes(word.parse::<i32>().ok()?.to_le_bytes())))
            }
        };
        bits |= named.or_else(number).ok_or_else(|| {
            let names: Vec<_> = names.iter().map(|(_, name)| *name).collect();
            format!("`{word}` is neither a flag nor a number; {}", near::or_all(word, &names, "the flags are"))
        })?;
    }
    Ok(bits)
}

/// The number after `0x`, if the text begins with that.
fn hex(text: &str) -> Option<Result<i64, std::num::ParseIntError>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    // The parser would accept a sign here.
    Some(if digits.starts_with(['+', '-']) { "".parse() } else { i64::from_str_radix(digits, 16) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: FlagNames = &[(FlagKind::Surface, &[(4, "SKY"), (1, "LIGHT"), (0x8000_0000, "LAST")])];

    fn cases() -> Vec<(Shape, Meaning)> {
        let numbers = [Number::U8, Number::I8, Number::U16, Number::I16, Number::U32, Number::I32, Number::F32];
        let plain = numbers.map(|number| (Shape::Number(number), Meaning::Plain));
        let flags = numbers.map(|number| (Shape::Number(number), Meaning::Flags(FlagKind::Surface)));
        [&plain[..], &flags[..6], &[(Shape::Name(16), Meaning::Plain)]].concat()
    }

    proptest! {
        #[test]
        fn any_bytes_print_and_read_back(bytes: [u8; 16]) {
            for (shape, meaning) in cases() {
                let bytes = &bytes[..shape.size()];
                let text = print(shape, meaning, bytes, NAMES).to_string();
                let mut back = vec![0xEE; bytes.len()];
                prop_assert!(parse(shape, meaning, &text, &mut back, NAMES).is_ok(), "{:?} {}", shape, text);
                prop_assert_eq!(&back, bytes, "{:?} {}", shape, text);
            }
        }
    }

    #[test]
    fn floats_are_short_and_keep_their_bits() {
        let float = |value: f32| print_float(&value.to_le_bytes());
        let number = |text: &str| Text::Number(text.into());
        assert_eq!(float(0.1), number("0.1"));
        assert_eq!(float(64.0), number("64"));
        assert_eq!(float(-0.0), number("-0.0"));
        assert_eq!(float(1e38), number("1e38"));
        assert_eq!(float(f32::INFINITY), Text::Word("0x7f800000".into()));
        assert_eq!(float(f32::from_bits(0xFFC0_1234)), Text::Word("0xffc01234".into()));
    }

    #[test]
    fn what_is_no_value_is_refused_with_what_would_be_one() {
        let wrong = |number, meaning, text: &str| parse(Shape::Number(number), meaning, text, &mut [0; 4], NAMES);
        let message = |result: Result<()>| result.unwrap_err().to_string();
        assert_eq!(
            message(wrong(Number::U16, Meaning::Plain, "65536")),
            "`65536` is not a whole number from 0 to 65535"
        );
        assert_eq!(
            message(wrong(Number::U16, Meaning::Plain, "0x10000")),
            "`0x10000` is not a whole number from 0 to 65535"
        );
        assert_eq!(message(wrong(Number::I8, Meaning::Plain, "0x-1")), "`0x-1` is not a whole number from -128 to 127");
        assert!(message(wrong(Number::F32, Meaning::Plain, "nan")).starts_with("`nan` is not a number"));
        assert!(message(wrong(Number::F32, Meaning::Plain, "-inf")).starts_with("`-inf` is not a number"));
        assert!(message(wrong(Number::F32, Meaning::Plain, "1e99")).ends_with("for a 32-bit float"));
        assert!(message(wrong(Number::F32, Meaning::Plain, "-1e-60")).ends_with("for a 32-bit float"));
        assert!(message(wrong(Number::U32, Meaning::Flags(FlagKind::Surface), "SKI")).ends_with("did you mean SKY?"));
        assert!(message(wrong(Number::U32, Meaning::Flags(FlagKind::Surface), "X")).ends_with("SKY, LIGHT, LAST"));
        assert_eq!(
            message(parse(Shape::Name(4), Meaning::Plain, "longer", &mut [0; 4], NAMES)),
            "the name has 6 bytes, and there is room for 4"
        );
    }
}
