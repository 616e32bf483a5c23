//! Light, textures and visibility as images, and back.
//!
//! An image that was not changed gives the same bytes as before.

mod hdr;
pub mod light;
pub(super) mod rgb;
pub mod textures;
pub mod visibility;

use std::fs;
use std::path::Path;

use crate::{Error, ErrorKind, Result};

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 28;

/// Reads a file. Pipes and files that are too large are refused.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    let there = fs::metadata(path).map_err(unread)?;
    match there.is_file() {
        false => Err(bad("it is not a regular file")),
        true if there.len() > MOST_BYTES => Err(bad(format!("its {} bytes are more than {MOST_BYTES}", there.len()))),
        true => fs::read(path).map_err(unread),
    }
}

/// The most pixels of an image, which is more than the light of any face has.
const MOST_PIXELS: usize = 1 << 24;

/// Refuses a size that is not the expected one, before memory is allocated for it.
fn check_size(found: [usize; 2], expected: [usize; 2]) -> Result<()> {
    let ([wide, high], [columns, rows]) = (found, expected);
    if found != expected {
        return Err(refused(format!("it has {wide} by {high} pixels, but {columns} by {rows} are expected")));
    }
    match wide.checked_mul(high) {
        Some(1..=MOST_PIXELS) => Ok(()),
        _ => Err(bad(format!("{wide} by {high} is not a valid size: it must have 1 to {MOST_PIXELS} pixels"))),
    }
}

/// An error of the system while reading; the caller names the file.
fn unread(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Malformed, message)
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, message)
}

/// The width or height of an image as a number of the PNG format.
fn side(pixels: usize) -> Result<u32> {
    u32::try_from(pixels).map_err(|_| bad(format!("{pixels} pixels are too many")))
}

/// The width or height of an image as an index.
fn from_side(pixels: u32) -> Result<usize> {
    usize::try_from(pixels).map_err(|_| bad(format!("{pixels} pixels are too many")))
}

/// The error of a PNG file in plain words.
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
