//! Light, textures and visibility as images, and back.
//!
//! An image that was not painted on gives the bytes that the map has already.

mod hdr;
pub mod light;
mod rgb;
pub mod textures;
pub mod visibility;

use std::fs;
use std::path::Path;

use crate::{Error, ErrorKind, Result};

/// No image and no list of images is larger.
const MOST_BYTES: u64 = 1 << 28;

/// Reads a file of any kind: a pipe is not waited for, and memory stays bounded.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    let there = fs::metadata(path).map_err(unread)?;
    match there.is_file() {
        false => Err(bad("it is not a plain file")),
        true if there.len() > MOST_BYTES => Err(bad(format!("its {} bytes are more than {MOST_BYTES}", there.len()))),
        true => fs::read(path).map_err(unread),
    }
}

/// More pixels than the light of any face has; what claims more is not read.
const MOST_PIXELS: usize = 1 << 24;

/// Refuses a size that is not the expected one, before memory is set aside for it.
fn check_size(found: [usize; 2], expected: [usize; 2]) -> Result<()> {
    let ([wide, high], [columns, rows]) = (found, expected);
    if found != expected {
        return Err(refused(format!("it has {wide} by {high} pixels, and {columns} by {rows} are expected")));
    }
    match wide.checked_mul(high) {
        Some(1..=MOST_PIXELS) => Ok(()),
        _ => Err(bad(format!("{wide} by {high} pixels are too many or none"))),
    }
}

/// A file that the system does not read; the caller says which.
fn unread(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Malformed, message)
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, message)
}

/// A side of an image as PNG has it.
fn side(pixels: usize) -> Result<u32> {
    u32::try_from(pixels).map_err(|_| bad(format!("{pixels} pixels are too many")))
}

/// A side of an image as memory has it.
fn from_side(pixels: u32) -> Result<usize> {
    usize::try_from(pixels).map_err(|_| bad(format!("{pixels} pixels are too many")))
}

/// What is wrong with a PNG, without the decoder's own words for what it keeps in memory.
fn damaged(error: png::DecodingError) -> Error {
    match error {
        png::DecodingError::IoError(_) => bad("it ends early"),
        error if error.to_string().contains("CRC") => bad("a checksum in it is wrong"),
        error => bad("it is not a PNG that can be read").with_source(error),
    }
}

fn unwritten(error: png::EncodingError) -> Error {
    Error::new(ErrorKind::Io, "cannot write the PNG").with_source(error)
}
