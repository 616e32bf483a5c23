//! Maps in which there is something to break.

use bspkit::dialect;
use bspkit::file::directory::EntryFields;
use bspkit::{Bsp, Builder};

pub(crate) const TEXT: &[u8] = b"{\n\"classname\" \"worldspawn\"\n\"OnUser1\" \"a,b\"\n\"OnUser1\" \"c,d\"\n}\n\0";

/// The text, long enough to shrink by a thousand bytes, and not canonical.
pub(crate) fn long_text() -> Vec<u8> {
    let mut text = TEXT.to_vec();
    text.splice(27..27, std::iter::repeat_n(b' ', 2100));
    text
}

/// A map in which there is something to break.
pub(crate) fn source() -> Vec<u8> {
    Builder::new(&dialect::SOURCE)
        .lump(1, f32::NAN.to_bits().wrapping_add(1).to_le_bytes().repeat(10))
        .lump(0, long_text())
        .lump_version(56, 22464)
        .lump(14, [2; 48])
        .gap_before(14, *b"stale text")
        .game_lump(*b"sprp", 6, [5; 9])
        .game_lump(*b"dprp", 4, [6; 12])
        .lump(40, [9; 22])
        .align(40, 2048)
        .order(&[1, 0, 14, 35, 40])
        .build()
        .unwrap()
}

pub(crate) fn with_bspx() -> Vec<u8> {
    Builder::new(&dialect::QUAKE2)
        .lump(1, [1; 40])
        .lump(0, long_text())
        .lump(13, [2; 48])
        .order(&[1, 0, 13])
        .bspx("RGBLIGHTING", [7; 5])
        .bspx("BRUSHLIST", [8; 9])
        .build()
        .unwrap()
}

pub(crate) fn bloodlines() -> Vec<u8> {
    Builder::new(&dialect::SOURCE17)
        .lump(1, [1; 40])
        .lump(0, long_text())
        .lump(40, [9; 22])
        .order(&[1, 40, 0])
        .trailer()
        .build()
        .unwrap()
}

pub(crate) fn console() -> Vec<u8> {
    Builder::new(&dialect::SOURCE360)
        .lump(1, [1; 40])
        .lump(0, long_text())
        .game_lump(*b"sprp", 6, [5; 9])
        .lump(40, [9; 22])
        .align(40, 2048)
        .order(&[1, 0, 35, 40])
        .build()
        .unwrap()
}

pub(crate) fn quake_live() -> Vec<u8> {
    Builder::new(&dialect::QUAKE3)
        .version(47)
        .shape(dialect::QUAKE3.shapes[1])
        .lump(1, [1; 72])
        .lump(0, long_text())
        .lump(17, [4; 128])
        .gap_before(1, *b"I LOVE MY Q3MAP2\0")
        .tail(*b"PK\x05\x06 a zip")
        .build()
        .unwrap()
}

pub(crate) fn shared() -> Vec<u8> {
    let whole = with_bspx();
    let entities = Bsp::parse(&whole).unwrap().slots()[0].clone();
    let fields = EntryFields { offset: entities.offset, length: entities.length, version: None, unpacked: None };
    Builder::new(&dialect::QUAKE2)
        .lump(1, [1; 40])
        .lump(0, long_text())
        .lump(13, [2; 48])
        .order(&[1, 0, 13])
        .entry(16, fields)
        .build()
        .unwrap()
}

pub(crate) fn compressed() -> Vec<u8> {
    Builder::new(&dialect::SOURCE).lump(1, [1; 40]).compressed_lump(0, TEXT).unwrap().build().unwrap()
}
