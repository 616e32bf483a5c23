//! Image files: PNG with 8 bits a channel, and Radiance's pictures of light without bounds.

mod hdr;
mod png;

pub(crate) use hdr::{read_hdr, same_color, write_hdr};
pub(crate) use png::{read_png, write_png};

use std::fs;
use std::path::Path;

use anyhow::{Error, Result};
use bspkit::ErrorKind;

/// No image of light and no list of them is larger.
const MOST_BYTES: u64 = 1 << 28;

/// Reads a file that may be anything: nothing is waited for, and memory stays bounded.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    let there = fs::metadata(path)?;
    match there.is_file() {
        false => Err(bad("it is no plain file")),
        true if there.len() > MOST_BYTES => Err(bad(format!("its {} bytes are more than {MOST_BYTES}", there.len()))),
        true => Ok(fs::read(path)?),
    }
}

/// The refusal of an image of another size.
fn other_size(found: [usize; 2], expected: [usize; 2]) -> Error {
    let ([wide, high], [columns, rows]) = (found, expected);
    let message = format!("it has {wide} by {high} pixels, and {columns} by {rows} are expected");
    bspkit::Error::new(ErrorKind::Refused, message).into()
}

/// More pixels than the light of any face has; what claims more is not read.
const MOST_PIXELS: usize = 1 << 24;

/// Refuses a size that is not the expected one, before memory is set aside for it.
fn check_size(found: [usize; 2], expected: [usize; 2]) -> Result<()> {
    if found != expected {
        return Err(other_size(found, expected));
    }
    match found[0].checked_mul(found[1]) {
        Some(1..=MOST_PIXELS) => Ok(()),
        _ => Err(bad(format!("{} by {} pixels are too many or none", found[0], found[1]))),
    }
}

fn bad(message: impl Into<String>) -> Error {
    bspkit::Error::new(ErrorKind::Malformed, message).into()
}
