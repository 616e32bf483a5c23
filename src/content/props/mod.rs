//! Props in the game lump of Source maps: models that are in the world ([`StaticProps`], `game:sprp`) and the
//! small things on the ground ([`DetailProps`], `game:dprp`).
//!
//! Both are lenses: they keep the bytes and the places of the lists in them. Bytes without a name here stay as they
//! are: fields that games have added, padding that was never written, letters after the end of a name.

mod details;
mod statics;
mod variant;

pub use details::DetailProps;
pub use statics::{StaticProp, StaticProps};
pub use variant::{ExtraList, VARIANTS, Variant};

use std::ops::Range;

use crate::bsp::Bsp;
use crate::bytes::word;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::SlotId;

/// The member of this name, and its version.
fn member(bsp: &Bsp<'_>, name: &str, what: &str) -> Result<(SlotId, u16)> {
    let slot = bsp.slots().iter().find(|slot| slot.name == name);
    let version = slot.and_then(|slot| slot.version).and_then(|version| u16::try_from(version).ok());
    let none = || Error::new(ErrorKind::NotFound, format!("the map has no {what} ({name})"));
    slot.map(|slot| slot.id).zip(version).ok_or_else(none)
}

/// The bytes of a model's name in the file.
const NAME: usize = 128;

/// Reads one list after another: a count, then this many items of a size.
struct Lists<'b> {
    bytes: &'b [u8],
    lump: &'static str,
    at: usize,
}

impl Lists<'_> {
    /// Where the items of the next list are, and how many there are.
    fn next(&mut self, what: &str, size: usize) -> Result<(Range<usize>, usize)> {
        let count = self.count(what)?;
        let end = count.checked_mul(size).and_then(|length| self.at.checked_add(length));
        let Some(end) = end.filter(|end| *end <= self.bytes.len()) else {
            let message = format!("there is no room for {count} {what} of {size} bytes");
            return Err(self.error(message, self.at - 4));
        };
        let items = self.at..end;
        self.at = end;
        Ok((items, count))
    }

    fn count(&mut self, what: &str) -> Result<usize> {
        let Some(word) = word(self.bytes, self.at) else {
            return Err(self.error(format!("it ends before the number of {what}"), self.at));
        };
        let count = usize::try_from(word).map_err(|_| self.error(format!("it says it has {word} {what}"), self.at))?;
        self.at += 4;
        Ok(count)
    }

    fn error(&self, message: String, at: usize) -> Error {
        let offset = u64::try_from(at).unwrap_or(u64::MAX);
        Error::new(ErrorKind::Malformed, message).at(Place::default().lump(self.lump).offset(offset))
    }
}

/// The names in a list of them.
fn names(list: &[u8]) -> impl ExactSizeIterator<Item = &[u8]> {
    list.chunks_exact(NAME).map(|field| field.split(|byte| *byte == 0).next().unwrap_or(field))
}
