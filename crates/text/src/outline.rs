//! A map as lines of text, for `git diff`: what it is, its lumps with hashes of their content, its embedded files and
//! its entities. The same content gives the same text wherever it is in the file.

use std::io::{self, Read};

use md5::{Digest, Md5};

use bspkit::Bsp;
use bspkit::Error;
use bspkit::bytes::{escaped, wide};
use bspkit::content::entities::Entities;
use bspkit::dialect::Role;
use bspkit::file::{SegmentKind, Slot};

/// The text of a map. It does not have offsets, since these change with every edit.
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let text = bspkit_text::outline::outline(&map);
/// assert!(text.starts_with(b"Quake II (quake2), version 38\n"));
/// assert!(String::from_utf8_lossy(&text).contains("\n20 entities:\n{\n\"classname\" \"worldspawn\"\n"));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn outline(bsp: &Bsp<'_>) -> Vec<u8> {
    let revision = bsp.revision().map(|revision| format!(", revision {revision}")).unwrap_or_default();
    let mut text = format!("{} ({}), version {}{revision}\n", bsp.dialect().title, bsp.dialect().name, bsp.version());
    text += "\nlumps:\n";
    for slot in bsp.slots().iter().filter(|slot| !slot.stored.is_empty()) {
        text += &lump(bsp, slot);
    }
    let mut rest = Vec::new();
    for segment in bsp.container().segments() {
        if matches!(segment.kind, SegmentKind::Gap | SegmentKind::BspxGap | SegmentKind::Tail) {
            // Lumps that shrink or move leave zeros, which are not content.
            rest.extend(bsp.container().bytes()[segment.range].iter().filter(|byte| **byte != 0));
        }
    }
    if !rest.is_empty() {
        text += &format!("outside of lumps: {} bytes that are not zero, md5 {}\n", rest.len(), hash(&rest));
    }
    text += &files(bsp);
    let mut text = text.into_bytes();
    text.extend(entities(bsp));
    text
}

/// The line for a file that is not a map, with the reason.
///
/// ```
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// let line = bspkit_text::outline::not_a_map(&b"text"[..], &error)?;
/// assert_eq!(line, "not a map: 4 bytes, md5 1cb251ec0d568de6a929b520c4aed8d1: this is not a map of the BSP family\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of the reader.
pub fn not_a_map(mut file: impl Read, why: &Error) -> io::Result<String> {
    let (mut sum, mut size, mut part) = (Md5::new(), 0_u64, vec![0; 1 << 16]);
    loop {
        let len = match file.read(&mut part) {
            Ok(0) => return Ok(format!("not a map: {size} bytes, md5 {}: {why}\n", digits(&sum.finalize()))),
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        sum.update(&part[..len]);
        size += wide(len);
    }
}

/// A line about a lump. Members of the game lump have lines of their own.
fn lump(bsp: &Bsp<'_>, slot: &Slot) -> String {
    let version = slot.version.filter(|version| *version != 0).map(|version| format!(" version {version}"));
    let content = match bsp.bytes(slot.id) {
        // The words of the game lump change with every edit, and its members have lines.
        Ok(_) if bsp.role_of(slot.id) == Some(Role::GameLump) => "a list".to_owned(),
        Ok(bytes) => {
            let parts = bsp.spans(slot).unwrap_or_default();
            let records: usize = parts.iter().map(|part| part.count()).sum();
            let records = if parts.is_empty() { String::new() } else { format!("{records} records, ") };
            format!("{records}{} bytes, md5 {}", bytes.len(), hash(&bytes))
        }
        Err(error) => format!("cannot be decompressed: {error}"),
    };
    let is_packed = bsp.decompressed_size(slot.id).is_some();
    let compressed = if is_packed { ", compressed" } else { "" };
    // What the directory says beside that, in damaged maps.
    let size = slot.unpacked.filter(|size| *size != 0 && !is_packed).map(|size| format!(", decompressed size {size}"));
    let flags = bsp.member_flags(slot.id).map(|flags| flags & !1).filter(|flags| *flags != 0);
    let flags = flags.map(|flags| format!(", flags {flags}")).unwrap_or_default();
    let (version, size) = (version.unwrap_or_default(), size.unwrap_or_default());
    format!("{}{version}: {content}{compressed}{size}{flags}\n", slot.name)
}

fn files(bsp: &Bsp<'_>) -> String {
    let Some(pak) = bsp.role(Role::Pak).and_then(|_| bsp.pak().ok()).filter(|pak| !pak.is_empty()) else {
        return String::new();
    };
    let mut text = "\nembedded files:\n".to_owned();
    for entry in pak.iter() {
        let (name, size, method) = (escaped(entry.name()), entry.size(), entry.method());
        text += &format!("{name}: {size} bytes, crc {:08x}, {method}\n", entry.crc());
    }
    text
}

/// The text of the entities as it is, up to the NUL.
fn entities(bsp: &Bsp<'_>) -> Vec<u8> {
    let Some(bytes) = bsp.role(Role::Entities).and_then(|slot| bsp.bytes(slot.id).ok()) else { return Vec::new() };
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let count = Entities::parse(bytes.clone(), bsp.entity_rules()).map_or(0, |entities| entities.len());
    let mut text = format!("\n{count} entities:\n").into_bytes();
    text.extend_from_slice(&bytes[..end]);
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text
}

fn hash(bytes: &[u8]) -> String {
    digits(&Md5::digest(bytes))
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_means_nothing_is_shown() {
        let mut bytes = std::fs::read("../../tests/maps/source/room_v20.bsp").unwrap();
        let before = outline(&Bsp::parse(&bytes).unwrap());
        // The decompressed size of lump 7.
        bytes[8 + 16 * 7 + 12] = 1;
        let after = outline(&Bsp::parse(&bytes).unwrap());
        assert_ne!(String::from_utf8(before).unwrap(), String::from_utf8(after).unwrap());
    }
}
