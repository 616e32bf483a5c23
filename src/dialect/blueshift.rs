//! Half-Life: Blue Shift, a relative of GoldSrc: the first two entries of the directory are exchanged, and nothing else
//! is different. ReHLDS detects that from the game's folder, Xash3D and this code from the content.

use super::{Dialect, GOLDSRC, Lump, goldsrc};
use crate::bytes::word;
use crate::file::Rules;

/// Blue Shift.
pub static BLUE_SHIFT: Dialect = Dialect {
    name: "blueshift",
    title: "GoldSrc (Blue Shift: entities and planes exchanged)",
    lumps: &LUMPS,
    rules: Rules { write_order: &[0, 10, 3, 5, 6, 7, 9, 11, 13, 12, 14, 8, 4, 1, 2], ..GOLDSRC.rules },
    preferred_to: Some(&GOLDSRC),
    probe: |bytes, dialect| is_swapped(bytes).then_some(dialect.shapes[0]),
    ..GOLDSRC
};

const LUMPS: [Lump; 15] = {
    let mut lumps = goldsrc::LUMPS;
    lumps.swap(0, 1);
    lumps
};

/// Whether the second lump is entity text and the first is not.
fn is_swapped(bytes: &[u8]) -> bool {
    let lump = |entry: usize| {
        let start = usize::try_from(word(bytes, entry)?).ok()?;
        let length = usize::try_from(word(bytes, entry + 4)?).ok()?;
        bytes.get(start..start.checked_add(length)?.min(bytes.len()))
    };
    !lump(4).is_some_and(is_entity_text) && lump(12).is_some_and(is_entity_text)
}

/// Whether bytes are entity text: a class is named in it, as Xash3D asks, or it begins like one: with a brace or a
/// comment, and no byte that only numbers have.
fn is_entity_text(bytes: &[u8]) -> bool {
    const ENOUGH: usize = 64;
    let start = bytes[..bytes.len().min(ENOUGH)].trim_ascii_start();
    let text = start.split(|byte| *byte == 0).next().unwrap_or_default();
    let begins_so = (text.starts_with(b"{") || text.starts_with(b"//"))
        && text.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace());
    begins_so || memchr::memmem::find(bytes, b"classname").is_some()
}
