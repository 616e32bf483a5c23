//! The embedded files, as Valve's tools write them: a zip without dates, nothing between its parts.

use bspkit::Result;
use bspkit::file::lzma;
use bspkit::record::Record;

use crate::records::{ZipEnd, ZipFile, ZipPlace};

/// A zip of files, each compressed by itself if so asked.
pub(crate) fn zip(files: &[(String, String)], is_compressed: bool, comment: &[u8]) -> Result<Vec<u8>> {
    let (mut locals, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let offset = locals.len() as u32;
        let data = if is_compressed { packed(text.as_bytes())? } else { text.as_bytes().to_vec() };
        let (needs, method) = if is_compressed { (63, 14) } else { (10, 0) };
        let file = ZipFile {
            needs,
            method,
            crc: crc(text.as_bytes()),
            packed: data.len() as u32,
            unpacked: text.len() as u32,
            name_size: name.len() as u16,
            ..ZipFile::default()
        };
        locals.extend([b"PK\x03\x04", &file.encode()[..], name.as_bytes(), &data].concat());
        let place = ZipPlace { offset, ..ZipPlace::default() };
        // Made by version 2.0 of the format.
        let made_by = [20, 0];
        let entry = [b"PK\x01\x02", &made_by[..], &file.encode(), &place.encode(), name.as_bytes()];
        directory.extend(entry.concat());
    }
    let end = ZipEnd {
        disks: [0; 2],
        counts: [files.len() as u16; 2],
        size: directory.len() as u32,
        offset: locals.len() as u32,
        comment_size: comment.len() as u16,
    };
    Ok([&locals, &directory, &b"PK\x05\x06"[..], &end.encode(), comment].concat())
}

/// A zip's own header of LZMA data (the version of the encoder, the size of the properties, the properties), then the
/// stream of a compressed lump.
fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let lump = lzma::pack(bytes)?;
    Ok([&[9, 38, 5, 0], &lump[12..]].concat())
}

/// The checksum of a zip's entries.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 })
    })
}
