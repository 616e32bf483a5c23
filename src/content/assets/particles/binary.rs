//! The binary encodings of DMX, versions 1 to 5. They differ in where strings are: in the text (1), names of kinds and
//! attributes in a table (2, 3), all single strings in the table (4, 5), with wider counts and indices.

use super::{Element, MOST_ELEMENTS, too_many};
use crate::bytes::{ByteOrder, word};
use crate::error::{Error, ErrorKind, Place, Result};

/// A GUID.
const GUID: usize = 16;

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    version: u32,
    table: Vec<&'b [u8]>,
}

pub(super) fn elements(bytes: &[u8], version: u32) -> Result<Vec<Element>> {
    // The header is a line that ends with a NUL.
    let start = memchr::memchr(0, bytes).map_or(bytes.len(), |at| at + 1);
    let mut reader = Reader { bytes, at: start, version, table: Vec::new() };
    if version >= 2 {
        let count = if version >= 4 { reader.count()? } else { reader.half()? };
        // Each string has at least its NUL.
        reader.table = (0..count).map(|_| reader.text()).collect::<Result<_>>()?;
    }
    let count = reader.count()?;
    if count > MOST_ELEMENTS {
        return Err(too_many());
    }
    let mut elements = Vec::new();
    for _ in 0..count {
        let kind = reader.named()?.to_vec();
        let name = if version >= 4 { reader.named()? } else { reader.text()? }.to_vec();
        reader.skip(GUID)?;
        elements.push(Element { kind, name, ..Element::default() });
    }
    for element in &mut elements {
        for _ in 0..reader.count()? {
            reader.attribute(element)?;
        }
    }
    Ok(elements)
}

impl<'b> Reader<'b> {
    fn cut(&self) -> Error {
        Error::new(ErrorKind::Malformed, "the particle file is cut off or damaged")
            .at(Place::default().offset(crate::bytes::wide(self.at)))
    }

    fn skip(&mut self, length: usize) -> Result<()> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        self.at = end.ok_or_else(|| self.cut())?;
        Ok(())
    }

    fn word(&mut self) -> Result<i32> {
        let value = word(self.bytes, self.at).ok_or_else(|| self.cut())?;
        self.skip(4)?;
        Ok(value)
    }

    /// A number of things, each of which takes at least one byte.
    fn count(&mut self) -> Result<usize> {
        let count = usize::try_from(self.word()?).ok();
        count.filter(|count| *count <= self.bytes.len() - self.at).ok_or_else(|| self.cut())
    }

    fn half(&mut self) -> Result<usize> {
        let value = ByteOrder::Little.half(self.bytes, self.at).ok_or_else(|| self.cut())?;
        self.skip(2)?;
        Ok(usize::from(value))
    }

    fn text(&mut self) -> Result<&'b [u8]> {
        let rest = &self.bytes[self.at..];
        let length = memchr::memchr(0, rest).ok_or_else(|| self.cut())?;
        self.skip(length + 1)?;
        Ok(&rest[..length])
    }

    /// A string of the table; of the text where there is no table.
    fn named(&mut self) -> Result<&'b [u8]> {
        let index = match self.version {
            1 => return self.text(),
            2..=4 => self.half()?,
            _ => usize::try_from(self.word()?).map_err(|_| self.cut())?,
        };
        self.table.get(index).copied().ok_or_else(|| self.cut())
    }

    /// An element's index; `None` for one that is not in the file.
    fn element(&mut self) -> Result<Option<usize>> {
        let index = self.word()?;
        if index == -2 {
            self.text()?;
        }
        Ok(usize::try_from(index).ok())
    }

    fn attribute(&mut self, element: &mut Element) -> Result<()> {
        let name = self.named()?.to_vec();
        let kind = *self.bytes.get(self.at).ok_or_else(|| self.cut())?;
        self.skip(1)?;
        match kind {
            1 => {
                let index = self.element()?;
                element.elements.push((name, index.into_iter().collect()));
            }
            5 => {
                let value = if self.version >= 4 { self.named()? } else { self.text()? };
                element.strings.push((name, value.to_vec()));
            }
            6 => {
                let length = self.count()?;
                self.skip(length)?;
            }
            15 => {
                let count = self.count()?;
                let list = (0..count).map(|_| self.element()).collect::<Result<Vec<_>>>()?;
                element.elements.push((name, list.into_iter().flatten().collect()));
            }
            19 => {
                for _ in 0..self.count()? {
                    let value = self.text()?.to_vec();
                    element.strings.push((name.clone(), value));
                }
            }
            20 => {
                for _ in 0..self.count()? {
                    let length = self.count()?;
                    self.skip(length)?;
                }
            }
            2..=14 => self.skip(self.size(kind))?,
            16..=28 => {
                let count = self.count()?;
                self.skip(count.saturating_mul(self.size(kind - 14)))?;
            }
            _ => return Err(self.cut()),
        }
        Ok(())
    }

    /// The size of a value that always has the same: numbers, colours, vectors.
    fn size(&self, kind: u8) -> usize {
        match kind {
            4 => 1,
            // Before version 3 this is the number of an object, a GUID.
            7 if self.version < 3 => GUID,
            9 => 8,
            10 | 12 => 12,
            11 | 13 => 16,
            14 => 64,
            _ => 4,
        }
    }
}
