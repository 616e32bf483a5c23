//! The sums of a map by which engines tell whether two files are the same map, and what an edit does to them.

use std::fmt;
use std::io::{self, Write};

use md4::Md4;
use md5::{Digest, Md5};

use crate::bsp::Bsp;
use crate::bytes::word;
use crate::dialect::{Checksum, Covers, Role, Sum};
use crate::error::{Error, ErrorKind, Result};
use crate::file::{Plan, Slot, SlotId};

/// A sum of a map.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q3/own_box.bsp")?;
/// let computed = bspkit::op::checksum::all(&map);
/// assert_eq!(computed[0].checksum.name, "quake3");
/// assert!(computed[0].value.to_string().starts_with("0x"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Computed {
    /// Which sum.
    pub checksum: &'static Checksum,
    /// What it is.
    pub value: Value,
}

/// What a sum comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Value {
    /// 32 bits.
    Number(u32),
    /// 16 bits, which are part of a file's name.
    Key(u16),
    /// An MD5.
    Digest([u8; 16]),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number:#010x}"),
            Value::Key(key) => write!(f, "{key:04x}"),
            Value::Digest(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// Every sum that engines of the map's dialect compare.
pub fn all(bsp: &Bsp<'_>) -> Vec<Computed> {
    let computed = |checksum| Computed { checksum, value: of(bsp, checksum) };
    bsp.dialect().checksums.iter().map(computed).collect()
}

/// A sum of a map, over the bytes as they stand in the file; of a lump that the file cuts off, over what is there.
pub fn of(bsp: &Bsp<'_>, checksum: &Checksum) -> Value {
    let file = bsp.container().bytes();
    let bytes = |slot: &Slot| &file[slot.stored.clone()];
    let parts = match checksum.covers {
        Covers::File => vec![file],
        Covers::Lumps { without, by_offset } => {
            let is_covered = |slot: &&Slot| match bsp.role_of(slot.id) {
                Some(role) => !without.contains(&role),
                None => matches!(slot.id, SlotId::Lump(_)),
            };
            let mut lumps: Vec<&Slot> = bsp.slots().iter().filter(is_covered).collect();
            if by_offset {
                lumps.sort_by_key(|slot| slot.offset);
            }
            lumps.into_iter().map(bytes).collect()
        }
        Covers::Header(at) => vec![file.get(at..at + 4).unwrap_or_default()],
        Covers::EntityText => {
            let text = bsp.role(Role::Entities).map_or(&[][..], bytes);
            vec![&text[..text.len().saturating_sub(1)]]
        }
    };
    sum(checksum.sum, &parts)
}

fn sum(sum: Sum, parts: &[&[u8]]) -> Value {
    match sum {
        Sum::BlockMd4 => Value::Number(parts.iter().map(|part| folded(Md4::digest(part).into())).fold(0, |a, b| a ^ b)),
        Sum::Crc32 => {
            let mut crc = crc32fast::Hasher::new();
            parts.iter().for_each(|part| crc.update(part));
            Value::Number(!crc.finalize())
        }
        Sum::Md5 => {
            let mut md5 = Md5::new();
            parts.iter().for_each(|part| md5.update(part));
            Value::Digest(md5.finalize().into())
        }
        Sum::Stored => {
            let word = parts.first().and_then(|part| word(part, 0));
            Value::Number(word.unwrap_or(0).cast_unsigned())
        }
        Sum::Crc16 => Value::Key(parts.iter().copied().flatten().fold(u16::MAX, |crc, byte| crc16(crc, *byte))),
    }
}

/// The words of an MD4 combined: `Com_BlockChecksum` of md4.c.
fn folded(digest: [u8; 16]) -> u32 {
    let (words, _) = digest.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).fold(0, |a, b| a ^ b)
}

fn crc16(crc: u16, byte: u8) -> u16 {
    (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| match crc & 0x8000 {
        0 => crc << 1,
        _ => crc << 1 ^ 0x1021,
    })
}

/// A sum of the whole file that a plan writes, which is not put together in memory for it.
///
/// # Errors
/// [`ErrorKind::Argument`] for a sum of something else than the file.
pub fn of_plan(plan: &Plan<'_>, checksum: &Checksum) -> Result<Value> {
    /// Takes what is written into the sum.
    struct Taken(Md4);

    impl Write for Taken {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    if (checksum.sum, checksum.covers) != (Sum::BlockMd4, Covers::File) {
        let message = format!("the sum {} is not of the whole file", checksum.name);
        return Err(Error::new(ErrorKind::Argument, message));
    }
    let mut taken = Taken(Md4::new());
    plan.write_to(&mut taken).map_err(|error| Error::io("cannot sum the new file", error))?;
    Ok(Value::Number(folded(taken.0.finalize().into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of published test vectors: RFC 1320 and 1321, and the catalogue of CRCs.
    #[test]
    fn sums_are_the_published_ones() {
        let words = [0xa448_017a_u32, 0xaf21_d852, 0x5fc1_0ae8, 0x7aa6_729d].map(u32::swap_bytes);
        let (abc, digits) = ([&b"a"[..], b"", b"bc"], [&b"1234"[..], b"56789"]);
        assert_eq!(Sum::BlockMd4.of(&[b"abc"]), Value::Number(words.into_iter().fold(0, |a, b| a ^ b)));
        assert_eq!(Sum::Md5.of(&abc).to_string(), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(Sum::Crc32.of(&digits), Value::Number(!0xcbf4_3926));
        assert_eq!(Sum::Crc16.of(&digits), Value::Key(0x29b1));
    }

    impl Sum {
        fn of(self, parts: &[&[u8]]) -> Value {
            sum(self, parts)
        }
    }
}
