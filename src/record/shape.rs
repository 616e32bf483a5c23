//! The parts of a record as data: the fields' names, offsets and types, and the meaning of their numbers. Code that
//! treats all records alike (text forms, checks) uses this and not the structs.

use std::fmt;

use super::{Cell, Codec, Field, Meaning};
use crate::bytes::escaped;

/// The layout of a field in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A number, little-endian.
    Number(Number),
    /// A name in a field of this many bytes, NUL-terminated if it is shorter.
    Name(usize),
    /// An array: the shape of an item, and the number of items.
    Array(&'static Shape, usize),
    /// A struct within the record.
    Record(&'static [FieldInfo]),
}

impl Shape {
    /// Its size in bytes.
    pub const fn size(self) -> usize {
        match self {
            Shape::Number(number) => number.size(),
            Shape::Name(size) => size,
            Shape::Array(item, count) => item.size() * count,
            Shape::Record(fields) => {
                let (mut index, mut size) = (0, 0);
                while index < fields.len() {
                    size += fields[index].shape.size();
                    index += 1;
                }
                size
            }
        }
    }
}

/// The types of numbers in files.
///
/// ```
/// use bspkit::record::Number;
/// assert_eq!(Number::I16.integer(&[0xFE, 0xFF]), Some(-2));
/// assert_eq!(Number::F32.integer(&[0; 4]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Number {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
}

impl Number {
    /// Its size in bytes.
    pub const fn size(self) -> usize {
        match self {
            Number::U8 | Number::I8 => 1,
            Number::U16 | Number::I16 => 2,
            Number::U32 | Number::I32 | Number::F32 => 4,
        }
    }

    /// The first bytes as an integer; `None` for floats and if there are too few bytes.
    pub fn integer(self, bytes: &[u8]) -> Option<i64> {
        Some(match self {
            Number::U8 => i64::from(*bytes.first()?),
            Number::I8 => i64::from(i8::from_le_bytes([*bytes.first()?])),
            Number::U16 => i64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
            Number::I16 => i64::from(i16::from_le_bytes(*bytes.first_chunk()?)),
            Number::U32 => i64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
            Number::I32 => i64::from(i32::from_le_bytes(*bytes.first_chunk()?)),
            Number::F32 => return None,
        })
    }

    /// The smallest and the largest integer; `None` for floats.
    pub fn range(self) -> Option<(i64, i64)> {
        Some(match self {
            Number::U8 => (0, i64::from(u8::MAX)),
            Number::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
            Number::U16 => (0, i64::from(u16::MAX)),
            Number::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
            Number::U32 => (0, i64::from(u32::MAX)),
            Number::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Number::F32 => return None,
        })
    }
}

/// A field of a record.
///
/// ```
/// use bspkit::dialect::quake2::Face;
/// use bspkit::record::Record;
/// let field = Face::INFO.field("first_edge").unwrap();
/// assert_eq!((field.offset, field.shape.size()), (4, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name in Rust, in JSON and in CSV.
    pub name: &'static str,
    /// The engine's name for it, or its names for the items of an array, with `, ` between; empty if it is the same.
    pub engine: &'static str,
    /// Its offset in the record, in bytes.
    pub offset: usize,
    /// Its layout.
    pub shape: Shape,
    /// The meaning of its numbers.
    pub meaning: Meaning,
}

/// The field with this name, and the item of an array if the engine has a name for it. Our names come first. The
/// engine's names are compared without regard to case.
pub(crate) fn find(fields: &'static [FieldInfo], name: &str) -> Option<(&'static FieldInfo, Option<usize>)> {
    if name.is_empty() {
        return None;
    }
    let own = fields.iter().find(|field| field.name == name);
    own.map(|field| (field, None)).or_else(|| {
        fields.iter().find_map(|field| {
            let mut names = field.engine.split(", ");
            let item = names.clone().position(|engine| engine.eq_ignore_ascii_case(name))?;
            Some((field, names.nth(1).map(|_| item)))
        })
    })
}

/// A name in a field of fixed size, with the bytes that follow its NUL.
///
/// ```
/// use bspkit::record::Name;
/// let mut name = Name(*b"wall\0old");
/// assert_eq!(name.bytes(), b"wall");
/// assert_eq!(name.to_string(), "wall"); // other bytes than text are escaped
/// assert!(name.set(b"floor"));
/// assert_eq!(name.0, *b"floor\0ld"); // what is after the new NUL stays
/// assert!(!name.set(b"too long"));
/// ```
#[cfg_attr(feature = "binrw", binrw::binrw)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<const N: usize>(pub [u8; N]);

impl<const N: usize> Name<N> {
    /// The bytes before the first NUL.
    pub fn bytes(&self) -> &[u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or(&self.0)
    }

    /// Replaces the name; returns false if there is no room or the name has a NUL. The rest of the old name is
    /// overwritten with NULs. Bytes after the old name's NUL are kept where the new name does not reach. Setting the
    /// same name changes nothing.
    #[must_use]
    pub fn set(&mut self, name: &[u8]) -> bool {
        write_name(&mut self.0, name)
    }
}

/// The bytes before the first NUL, other bytes than text escaped.
impl<const N: usize> fmt::Display for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(self.bytes()).fmt(f)
    }
}

/// Writes a name into its field, as [`Name::set`] says.
pub(crate) fn write_name(field: &mut [u8], name: &[u8]) -> bool {
    let old = memchr::memchr(0, field).unwrap_or(field.len());
    if field[..old] == *name {
        return true;
    }
    let fits = name.len() < field.len() && !name.contains(&0);
    if fits {
        field[..name.len()].copy_from_slice(name);
        // No part of the old name is kept.
        let end = old.max(name.len() + 1);
        field[name.len()..end].fill(0);
    }
    fits
}

impl<const N: usize> Field for Name<N> {
    const SIZE: usize = N;
    const SHAPE: Shape = Shape::Name(N);
}

impl<const N: usize> Codec for Name<N> {
    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        Name(<[u8; N]>::read(bytes))
    }

    #[inline(always)]
    fn write(&self, bytes: &mut [u8]) {
        self.0.write(bytes);
    }
}

// The cells of records: all numbers and names of their fields, or those of some meanings.

/// The cells of a meaning for which the function is true.
pub(super) fn of(fields: &[FieldInfo], is_wanted: fn(Meaning) -> bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for field in fields.iter().filter(|field| has(field.shape, field.meaning, is_wanted)) {
        collect(field.name.to_owned(), field.offset, field.shape, field.meaning, is_wanted, &mut cells);
    }
    cells
}

fn has(shape: Shape, meaning: Meaning, is_wanted: fn(Meaning) -> bool) -> bool {
    match shape {
        Shape::Number(_) | Shape::Name(_) => is_wanted(meaning),
        Shape::Array(item, _) => has(*item, meaning, is_wanted),
        Shape::Record(fields) => fields.iter().any(|field| has(field.shape, field.meaning, is_wanted)),
    }
}

fn collect(
    path: String,
    offset: usize,
    shape: Shape,
    meaning: Meaning,
    is_wanted: fn(Meaning) -> bool,
    cells: &mut Vec<Cell>,
) {
    match shape {
        Shape::Number(_) | Shape::Name(_) => {
            cells.push(Cell { path, place: offset..offset + shape.size(), shape, meaning });
        }
        Shape::Array(item, count) => {
            let size = item.size();
            for index in 0..count {
                collect(format!("{path}[{index}]"), offset + index * size, *item, meaning, is_wanted, cells);
            }
        }
        Shape::Record(fields) => {
            for field in fields.iter().filter(|field| has(field.shape, field.meaning, is_wanted)) {
                let (path, offset) = (format!("{path}.{}", field.name), offset + field.offset);
                collect(path, offset, field.shape, field.meaning, is_wanted, cells);
            }
        }
    }
}
