//! Image files: PNG with 8 bits a channel, and Radiance's pictures of light without bounds.

mod hdr;
mod png;

pub(crate) use hdr::{read_hdr, same_color, write_hdr};
pub(crate) use png::{read_png, write_png};

use anyhow::Error;
use bspkit::ErrorKind;

/// The refusal of an image of another size.
fn other_size(found: [usize; 2], expected: [usize; 2]) -> Error {
    let ([wide, high], [columns, rows]) = (found, expected);
    let message = format!("it has {wide} by {high} pixels, and {columns} by {rows} are expected");
    bspkit::Error::new(ErrorKind::Refused, message).into()
}

fn bad(message: impl Into<String>) -> Error {
    bspkit::Error::new(ErrorKind::Malformed, message).into()
}
