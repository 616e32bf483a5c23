//! Bytes of a file: how they are held and printed, and the checked conversions between sizes.
//!
//! Only this module converts a number to another width, and only this module converts bytes to text for people.

mod relay;

use std::fmt::{self, Write as _};
use std::ops::{Deref, Range};
use std::sync::Arc;

pub(crate) use relay::Relay;
pub use relay::{Differences, differences};

/// Bytes that are borrowed from the caller or shared between clones; cloning never copies them.
///
/// ```
/// use bspkit::Data;
/// let whole = Data::from(b"IBSP rest".to_vec());
/// let part = whole.slice(0..4);
/// assert_eq!(&*part, b"IBSP");
/// assert_eq!(part, Data::from("IBSP"));
/// ```
#[derive(Clone)]
pub struct Data<'a> {
    owner: Owner<'a>,
    range: Range<usize>,
}

#[derive(Clone)]
enum Owner<'a> {
    Borrowed(&'a [u8]),
    Shared(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

impl<'a> Data<'a> {
    /// Shares a buffer of any kind: a vector, a memory map.
    pub fn shared(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Data<'static> {
        let range = 0..owner.as_ref().len();
        Data { owner: Owner::Shared(Arc::new(owner)), range }
    }

    /// A part of the bytes, sharing the same buffer.
    ///
    /// # Panics
    /// If the range does not lie within the bytes.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Data<'a> {
        assert!(range.start <= range.end && range.end <= self.len(), "the range lies inside the data");
        let start = self.range.start + range.start;
        Data { owner: self.owner.clone(), range: start..start + range.len() }
    }

    /// The same bytes without a borrow: copied if they were borrowed, shared if they were shared.
    #[must_use]
    pub fn into_static(self) -> Data<'static> {
        match self.owner {
            Owner::Borrowed(bytes) => Data::from(bytes[self.range].to_vec()),
            Owner::Shared(owner) => Data { owner: Owner::Shared(owner), range: self.range },
        }
    }
}

impl Deref for Data<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let whole = match &self.owner {
            Owner::Borrowed(bytes) => bytes,
            Owner::Shared(owner) => (**owner).as_ref(),
        };
        &whole[self.range.clone()]
    }
}

impl AsRef<[u8]> for Data<'_> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Data({} bytes)", self.len())
    }
}

/// Bytes in parts, in order. A large slot of which only a small part is new needs no copy of the rest.
///
/// ```
/// use bspkit::{Data, Rope};
/// let old = Data::from(b"PK old files".to_vec());
/// let mut rope = Rope::from(old.slice(0..3));
/// rope.push(b"new files".to_vec());
/// assert_eq!((rope.len(), &*rope.to_data()), (12, &b"PK new files"[..]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rope<'a> {
    parts: Vec<Data<'a>>,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl<'a> Rope<'a> {
    /// An empty rope.
    pub fn new() -> Self {
        Rope::default()
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds bytes after the others.
    pub fn push(&mut self, part: impl Into<Data<'a>>) {
        let part = part.into();
        if !part.is_empty() {
            self.ends.push(self.len() + part.len());
            self.parts.push(part);
        }
    }

    /// The parts, none of them empty.
    pub fn parts(&self) -> impl Iterator<Item = &Data<'a>> {
        self.parts.iter()
    }

    /// All bytes in one piece. They are copied if there is more than one part.
    pub fn to_data(&self) -> Data<'a> {
        match &self.parts[..] {
            [] => Data::from(Vec::new()),
            [part] => part.clone(),
            _ => Data::from(self.to_vec()),
        }
    }

    /// The parts of a range, cut off where it begins and ends.
    pub(crate) fn slice(&self, range: Range<usize>) -> impl Iterator<Item = Data<'a>> {
        let first = self.ends.partition_point(|end| *end <= range.start);
        let parts = self.parts.iter().zip(&self.ends).skip(first).map(|(part, end)| (part, end - part.len()));
        let parts = parts.take_while(move |(_, start)| *start < range.end);
        parts.map(move |(part, start)| part.slice(range.start.saturating_sub(start)..part.len().min(range.end - start)))
    }

    /// Whether these bytes are at an offset. A part that shares its memory with them is not read.
    pub(crate) fn has(&self, offset: usize, bytes: &[u8]) -> bool {
        let mut at = 0;
        let is_same = |part: Data<'a>| {
            let other = &bytes[at..at + part.len()];
            at += part.len();
            std::ptr::eq(&*part, other) || *part == *other
        };
        offset + bytes.len() <= self.len() && self.slice(offset..offset + bytes.len()).all(is_same)
    }

    /// A copy of all bytes.
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.parts.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }
}

impl PartialEq<[u8]> for Rope<'_> {
    /// Compares the bytes. A part that shares its memory with the other side is not read.
    fn eq(&self, other: &[u8]) -> bool {
        self.len() == other.len() && self.has(0, other)
    }
}

impl<'a, T: Into<Data<'a>>> From<T> for Rope<'a> {
    fn from(part: T) -> Self {
        let mut rope = Rope::new();
        rope.push(part);
        rope
    }
}

/// Characters that are not seen or that change the order of the others: `Default_Ignorable_Code_Point` of Unicode,
/// among them those that HFS+ ignores in names and all marks of direction, and the separators of lines.
const UNSEEN: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Whether a person does not see a character, or sees others in another order because of it.
///
/// ```
/// assert!(bspkit::bytes::is_unseen('\u{202e}') && !bspkit::bytes::is_unseen('é'));
/// ```
pub fn is_unseen(character: char) -> bool {
    // Most text is ASCII.
    character >= '\u{ad}' && UNSEEN.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

/// Prints bytes so that a person can read them and [`unescape`] can read them back. Printable ASCII and valid UTF-8 are
/// unchanged, a line break is `\n`, a backslash is `\\`, and everything else is `\xNN`: control characters, characters
/// that are not seen ([`is_unseen`]), and bytes that are not UTF-8.
///
/// ```
/// use bspkit::bytes::escaped;
/// assert_eq!(escaped(b"caf\xe9\n").to_string(), r"caf\xe9\n");
/// ```
pub fn escaped(bytes: &[u8]) -> Escaped<'_> {
    Escaped(bytes)
}

/// The printed form that [`escaped`] gives.
///
/// ```
/// let printed: bspkit::bytes::Escaped<'_> = bspkit::bytes::escaped(b"a\0");
/// assert_eq!(printed.to_string(), r"a\x00");
/// ```
pub struct Escaped<'a>(&'a [u8]);

impl fmt::Debug for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Escaped(\"{self}\")")
    }
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            let mut rest = chunk.valid();
            while let Some(at) = rest.find(|c: char| !matches!(c, ' '..='[' | ']'..='~')) {
                let (plain, odd) = rest.split_at(at);
                f.write_str(plain)?;
                let mut after = odd.chars();
                match after.next() {
                    Some('\n') => f.write_str("\\n")?,
                    Some('\\') => f.write_str("\\\\")?,
                    Some(c) if c.is_control() || is_unseen(c) => {
                        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                            write!(f, "\\x{byte:02x}")?;
                        }
                    }
                    Some(c) => f.write_char(c)?,
                    None => {}
                }
                rest = after.as_str();
            }
            f.write_str(rest)?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// The text that a terminal shows for bytes: control characters, which could be commands to it, characters that are not
/// seen, and bytes that are not UTF-8 are escaped as by [`escaped`]; line breaks and tabs are not.
///
/// ```
/// use bspkit::bytes::for_terminal;
/// assert_eq!(for_terminal(b"a\tb\r\n\x1b[2Jc\\"), "a\tb\n\\x1b[2Jc\\");
/// ```
pub fn for_terminal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let plain = rest.iter().position(|byte| !matches!(byte, b' '..=b'~' | b'\n' | b'\t')).unwrap_or(rest.len());
        text.push_str(&String::from_utf8_lossy(&rest[..plain]));
        rest = &rest[plain..];
        // As far as the next byte that needs no look.
        let end = rest.iter().position(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')).unwrap_or(rest.len());
        let odd = &rest[..end];
        let odd = odd.strip_suffix(b"\r").filter(|_| rest.get(end) == Some(&b'\n')).unwrap_or(odd);
        text.push_str(&escaped(odd).to_string());
        rest = &rest[end..];
    }
    text
}

/// Reads back what [`escaped`] prints: `\n`, `\\` and `\xNN`. Any other backslash is kept, so most Windows paths can be
/// given as they are.
///
/// ```
/// use bspkit::bytes::unescape;
/// assert_eq!(unescape(r"caf\xe9\n"), b"caf\xe9\n");
/// assert_eq!(unescape(r"c:\maps"), b"c:\\maps");
/// ```
pub fn unescape(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    while let Some((&first, tail)) = rest.split_first() {
        let (bytes, used) = match (first, tail) {
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b'\\', ..]) => (b'\\', 2),
            (b'\\', [b'x', high, low, ..]) => match (hex_digit(*high), hex_digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (first, 1),
            },
            _ => (first, 1),
        };
        out.push(bytes);
        rest = &rest[used..];
    }
    out
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// `value` rounded up to a multiple of `alignment`, which is a power of two.
pub(crate) fn align_up(value: usize, alignment: usize) -> usize {
    debug_assert!(alignment.is_power_of_two());
    value.next_multiple_of(alignment)
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// A size or offset from the file as an index. A value that does not fit (on a 16-bit machine) becomes an index past
/// the end of every file.
pub fn index(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The bits of a number of 32 bits that may have a sign; 0 for one that does not fit.
///
/// ```
/// use bspkit::bytes::bits;
/// assert_eq!([bits(-1), bits(4), bits(i64::from(u32::MAX)), bits(i64::MAX)], [u32::MAX, 4, u32::MAX, 0]);
/// ```
pub fn bits(number: i64) -> u32 {
    i32::try_from(number).map_or_else(|_| u32::try_from(number).unwrap_or(0), i32::cast_unsigned)
}

/// An index as 32 bits, for tables with fewer entries. A value that does not fit becomes an index past the end of every
/// table.
pub fn short(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A size or offset as 64 bits, for messages and streams.
pub fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// The nearest 32-bit float. Engines round in the same way when they store a sum.
#[allow(clippy::cast_possible_truncation)]
pub fn rounded(value: f64) -> f32 {
    value as f32
}

/// A float as an integer; `None` if it is not whole or does not fit.
#[allow(clippy::cast_possible_truncation)]
pub fn integer(value: f32) -> Option<i32> {
    let limit = -2_147_483_648.0;
    (value >= limit && value < -limit && value.fract() == 0.0).then_some(value as i32)
}

/// The byte nearest to a number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn nearest_byte(value: f64) -> u8 {
    // The value is within 0 to 255, so the cast loses nothing.
    (value + 0.5).floor() as u8
}

/// The whole part of a number; 0 for one that is negative or no number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn whole_part(value: f64) -> usize {
    // The cast keeps to the range of its type.
    value.max(0.0) as usize
}

/// A count as a float, for averages.
#[allow(clippy::cast_precision_loss)]
pub fn amount(value: usize) -> f64 {
    value as f64
}

/// Which byte of a number is first in a file.
///
/// ```
/// use bspkit::bytes::ByteOrder;
/// use bspkit::dialect::{SOURCE, SOURCE360};
/// assert_eq!((SOURCE.byte_order(), SOURCE360.byte_order()), (ByteOrder::Little, ByteOrder::Big));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest byte is first: PCs and most other platforms.
    #[default]
    Little,
    /// The highest byte is first: the Xbox 360 and the PlayStation 3.
    Big,
}

impl ByteOrder {
    /// The signed 32-bit number at this offset. Every word of a directory is read with it.
    pub fn word(self, bytes: &[u8], at: usize) -> Option<i32> {
        word(bytes, at).map(|word| i32::from_le_bytes(self.word_bytes(word)))
    }

    /// The bytes of a signed 32-bit number. Every word of a directory is written with it.
    pub fn word_bytes(self, word: i32) -> [u8; 4] {
        match self {
            ByteOrder::Little => word.to_le_bytes(),
            ByteOrder::Big => word.to_be_bytes(),
        }
    }

    /// As [`ByteOrder::word`], for an unsigned 16-bit number.
    pub fn half(self, bytes: &[u8], at: usize) -> Option<u16> {
        let half = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            ByteOrder::Little => u16::from_le_bytes(half),
            ByteOrder::Big => u16::from_be_bytes(half),
        })
    }

    /// As [`ByteOrder::word_bytes`], for an unsigned 16-bit number.
    pub fn half_bytes(self, half: u16) -> [u8; 2] {
        match self {
            ByteOrder::Little => half.to_le_bytes(),
            ByteOrder::Big => half.to_be_bytes(),
        }
    }
}

/// A signed little-endian 32-bit number at this offset.
pub fn word(bytes: &[u8], at: usize) -> Option<i32> {
    let field = bytes.get(at..at.checked_add(4)?)?;
    Some(i32::from_le_bytes(field.try_into().ok()?))
}

/// A little-endian 32-bit float at this offset.
pub fn float(bytes: &[u8], at: usize) -> Option<f32> {
    word(bytes, at).map(|word| f32::from_ne_bytes(word.to_ne_bytes()))
}

/// A float as an index, without its fraction, as C's cast to `int` does it; `None` if an index cannot hold it.
pub(crate) fn whole(value: f32) -> Option<usize> {
    // Both limits are exact as floats.
    (value > -1.0 && value < 2_147_483_648.0).then_some(value as usize)
}

// What `Data` is made from and compared with.

impl<'a> From<&'a [u8]> for Data<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Data { range: 0..bytes.len(), owner: Owner::Borrowed(bytes) }
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Data<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Data::from(&bytes[..])
    }
}

impl<'a> From<&'a str> for Data<'a> {
    fn from(text: &'a str) -> Self {
        Data::from(text.as_bytes())
    }
}

impl From<String> for Data<'_> {
    fn from(text: String) -> Self {
        Data::shared(text)
    }
}

impl PartialEq for Data<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Data<'_> {}

impl From<Vec<u8>> for Data<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Data::shared(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn escaped_bytes_read_back(bytes: Vec<u8>) {
            prop_assert_eq!(unescape(&escaped(&bytes).to_string()), bytes);
        }
    }
}
