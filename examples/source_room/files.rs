//! The embedded files, as Valve's tools write them: a zip without dates, nothing between its parts.

use bspkit::Result;
use bspkit::file::lzma;

use crate::records::{longs, shorts};

/// A zip of files, each compressed by itself if so asked.
pub(crate) fn zip(files: &[(String, String)], is_compressed: bool, comment: &[u8]) -> Result<Vec<u8>> {
    let (mut locals, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let offset = locals.len() as u32;
        let data = if is_compressed { packed(text.as_bytes())? } else { text.as_bytes().to_vec() };
        let (needs, method) = if is_compressed { (63, 14) } else { (10, 0) };
        // What it needs, flags, method, time and date; the sum; how long packed, unpacked, the name and more are.
        let sizes = [crc(text.as_bytes()), data.len() as u32, text.len() as u32].map(|number| number as i32);
        let file = [shorts(&[needs, 0, method, 0, 0]), longs(&sizes), shorts(&[name.len() as u16, 0])].concat();
        locals.extend([b"PK\x03\x04", &file[..], name.as_bytes(), &data].concat());
        // No comment, on disk 0, without attributes; where it is.
        let place = [shorts(&[0; 5]), longs(&[offset as i32])].concat();
        // Made by version 2.0 of the format.
        let made_by = [20, 0];
        directory.extend([b"PK\x01\x02", &made_by[..], &file, &place, name.as_bytes()].concat());
    }
    let (count, place) = (files.len() as u16, longs(&[directory.len() as i32, locals.len() as i32]));
    let end = [shorts(&[0, 0, count, count]), place, shorts(&[comment.len() as u16])].concat();
    Ok([&locals, &directory, &b"PK\x05\x06"[..], &end, comment].concat())
}

/// A zip's own header of LZMA data (the version of the encoder, the size of the properties, the properties), then the
/// stream of a compressed lump.
fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let lump = lzma::compress(bytes, Default::default())?;
    Ok([&[9, 38, 5, 0], &lump[12..]].concat())
}

/// The checksum of a zip's entries.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 })
    })
}
