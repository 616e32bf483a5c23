//! The checksums by which engines decide whether two files are the same map, and how an edit changes them.

use std::fmt;
use std::ops::Range;

use md4::Md4;
use md5::{Digest, Md5};

use bspkit::Bsp;
use bspkit::bytes::word;
use bspkit::dialect::{Checksum, Covers, Role, Sum, Use};
use bspkit::file::{Plan, SlotId};

/// A sum of a map.
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/q3/own_box.bsp")?;
/// let computed = bspkit_ops::checksum::all(&map);
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

/// The value of a sum.
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

#[cfg(feature = "json")]
impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The sum by which servers reject clients that have the map without the edit; nothing if they let them in. Where a sum
/// that is verified changes, it is that one. No sum is computed, but one that is in the file.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit_ops::checksum;
/// let title = |map: &str| -> bspkit::Result<_> {
///     let mut draft = Bsp::open(map)?.draft();
///     draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
///     Ok(checksum::clients_need(draft.bsp(), &draft.plan(Layout::Keep)?).map(|sum| sum.title))
/// };
/// assert_eq!(title("../../tests/maps/goldsrc/own_rooms.bsp")?, None); // the engine leaves out the entities
/// assert_eq!(title("../../tests/maps/q2/own_rooms.bsp")?, Some("Quake II"));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn clients_need(bsp: &Bsp<'_>, plan: &Plan<'_>) -> Option<&'static Checksum> {
    let of_clients = bsp.dialect().checksums.iter().filter(|checksum| checksum.use_of == Use::Clients);
    let changed = of_clients.filter(|checksum| !is_same(bsp, plan, checksum));
    changed.max_by_key(|checksum| checksum.is_verified)
}

/// Every sum that engines of the map's dialect compare.
pub fn all(bsp: &Bsp<'_>) -> Vec<Computed> {
    all_of(bsp, |checksum| of(bsp, checksum))
}

/// The same sums of the file that a plan would write; the file is not built in memory.
///
/// ```
/// use bspkit::Layout;
/// use bspkit_ops::checksum;
/// let map = bspkit::Bsp::open("../../tests/maps/q3/own_box.bsp")?;
/// let plan = map.draft().plan(Layout::Keep)?;
/// assert_eq!(checksum::all_of_plan(&map, &plan), checksum::all(&map));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn all_of_plan(bsp: &Bsp<'_>, plan: &Plan<'_>) -> Vec<Computed> {
    all_of(bsp, |checksum| of_plan(bsp, plan, checksum))
}

/// Whether the file that a plan for the map writes has the same bytes wherever a sum covers it. Nothing is hashed, and
/// what stays where it is is not read.
///
/// ```
/// use bspkit::Layout;
/// use bspkit_ops::checksum;
/// let map = bspkit::Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let sum = &map.dialect().checksums[0]; // the engine leaves out the entities
/// assert!(checksum::is_same(&map, &draft.plan(Layout::Keep)?, sum));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn is_same(bsp: &Bsp<'_>, plan: &Plan<'_>, checksum: &Checksum) -> bool {
    let file = bsp.container().bytes();
    let (old, new) = (ranges_of(bsp, checksum), ranges_of_plan(bsp, plan, checksum));
    old.len() == new.len()
        && old.into_iter().zip(new).all(|(old, new)| {
            let mut rest = &file[old];
            let is_next = |part: &[u8]| match rest.split_at_checked(part.len()) {
                Some((before, after)) => {
                    rest = after;
                    std::ptr::eq(before, part) || before == part
                }
                None => false,
            };
            plan.slice(new).all(is_next) && rest.is_empty()
        })
}

fn all_of(bsp: &Bsp<'_>, of: impl Fn(&'static Checksum) -> Value) -> Vec<Computed> {
    bsp.dialect().checksums.iter().map(|checksum| Computed { checksum, value: of(checksum) }).collect()
}

/// A sum of a map, over the bytes as they are in the file; for a lump that is cut off, over the bytes that exist.
pub fn of(bsp: &Bsp<'_>, checksum: &Checksum) -> Value {
    let file = bsp.container().bytes();
    sum(checksum.sum, ranges_of(bsp, checksum).into_iter().map(|range| std::iter::once(&file[range])))
}

fn ranges_of(bsp: &Bsp<'_>, checksum: &Checksum) -> Vec<Range<usize>> {
    let lumps: Vec<_> = bsp.slots().iter().map(|slot| (slot.offset, slot.stored.clone())).collect();
    ranges(bsp, checksum, &lumps, bsp.container().bytes().len())
}

/// A sum of the file that a plan for the map writes, as [`all_of_plan`].
pub fn of_plan(bsp: &Bsp<'_>, plan: &Plan<'_>, checksum: &Checksum) -> Value {
    sum(checksum.sum, ranges_of_plan(bsp, plan, checksum).into_iter().map(|range| plan.slice(range)))
}

fn ranges_of_plan(bsp: &Bsp<'_>, plan: &Plan<'_>, checksum: &Checksum) -> Vec<Range<usize>> {
    let shape = bsp.container().shape();
    let header: Vec<u8> = plan.slice(0..shape.header_size()).flatten().copied().collect();
    let number = |number: i32| usize::try_from(number).unwrap_or(0);
    let lumps: Vec<_> = shape
        .entries(&header)
        .map(|fields| {
            let start = number(fields.offset).min(plan.size());
            let end = start.saturating_add(number(fields.length)).min(plan.size());
            let is_there = fields.offset >= 0 && fields.length > 0;
            (fields.offset, if is_there { start..end } else { 0..0 })
        })
        .collect();
    ranges(bsp, checksum, &lumps, plan.size())
}

/// The ranges of a file that a sum covers; `lumps` has the offsets and sizes of lumps, by index.
fn ranges(bsp: &Bsp<'_>, checksum: &Checksum, lumps: &[(i32, Range<usize>)], size: usize) -> Vec<Range<usize>> {
    let one = match checksum.covers {
        Covers::File => 0..size,
        Covers::Lumps { without, by_offset } => {
            let is_covered = |index: usize| match bsp.role_of(SlotId::Lump(index)) {
                Some(role) => !without.contains(&role),
                None => true,
            };
            let directory = &lumps[..bsp.container().shape().count.min(lumps.len())];
            let mut lumps: Vec<_> = directory.iter().enumerate().filter(|(index, _)| is_covered(*index)).collect();
            if by_offset {
                lumps.sort_by_key(|(_, (offset, _))| *offset);
            }
            return lumps.into_iter().map(|(_, (_, range))| range.clone()).collect();
        }
        Covers::Header(at) => {
            if at + 4 <= size {
                at..at + 4
            } else {
                0..0
            }
        }
        Covers::EntityText => {
            let text = bsp.dialect().role(Role::Entities).and_then(|index| lumps.get(index));
            let text = text.map_or(0..0, |(_, range)| range.clone());
            text.start..text.end.saturating_sub(1).max(text.start)
        }
    };
    Vec::from([one])
}

/// The sum of several ranges, each given in parts.
fn sum<'p>(sum: Sum, ranges: impl Iterator<Item = impl Iterator<Item = &'p [u8]>>) -> Value {
    match sum {
        Sum::BlockMd4 => Value::Number(ranges.map(|parts| folded(digest::<Md4>(parts))).fold(0, |a, b| a ^ b)),
        Sum::Crc32 => {
            let mut crc = crc32fast::Hasher::new();
            ranges.flatten().for_each(|part| crc.update(part));
            Value::Number(!crc.finalize())
        }
        Sum::Md5 => Value::Digest(digest::<Md5>(ranges.flatten())),
        Sum::Stored => {
            let bytes: Vec<u8> = ranges.flatten().flatten().copied().collect();
            Value::Number(word(&bytes, 0).unwrap_or(0).cast_unsigned())
        }
        Sum::Crc16 => Value::Key(ranges.flatten().flatten().fold(u16::MAX, |crc, byte| crc16(crc, *byte))),
    }
}

fn digest<'p, D>(parts: impl Iterator<Item = &'p [u8]>) -> [u8; 16]
where
    D: Digest,
    md5::digest::Output<D>: Into<[u8; 16]>,
{
    let mut digest = D::new();
    parts.for_each(|part| digest.update(part));
    digest.finalize().into()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of published test vectors: RFC 1320 and 1321, and the catalogue of CRCs.
    #[test]
    fn sums_are_the_published_ones() {
        let words = [0xa448_017a_u32, 0xaf21_d852, 0x5fc1_0ae8, 0x7aa6_729d].map(u32::swap_bytes);
        let (abc, digits) = ([&b"a"[..], b"", b"bc"], [&b"1234"[..], b"56789"]);
        assert_eq!(of(Sum::BlockMd4, &[b"a", b"bc"]), Value::Number(words.into_iter().fold(0, |a, b| a ^ b)));
        assert_eq!(of(Sum::Md5, &abc).to_string(), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(of(Sum::Crc32, &digits), Value::Number(!0xcbf4_3926));
        assert_eq!(of(Sum::Crc16, &digits), Value::Key(0x29b1));
    }

    fn of(kind: Sum, parts: &[&[u8]]) -> Value {
        sum(kind, [parts.iter().copied()].into_iter())
    }
}
