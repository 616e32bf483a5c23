//! Numbers in texts: every digit that is needed, and no more.

use std::io::Write as _;

/// A point or a direction, in the axes of the map.
pub(crate) type Point = [f64; 3];

/// Writes the shortest decimal that is read as the same number.
pub(crate) fn number(out: &mut Vec<u8>, value: f64) {
    // Minus zero and what is not a number have no place in a source.
    let value = if value == 0.0 || !value.is_finite() { 0.0 } else { value };
    // Writing to a vector does not fail.
    let _ = write!(out, "{value}");
}

/// Numbers with blanks between them.
pub(super) fn numbers(out: &mut Vec<u8>, values: impl IntoIterator<Item = f64>) {
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        number(out, value);
    }
}

/// Reads a decimal; `None` for what is not a finite number.
pub(super) fn parse(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Whether a name of a texture can be written as it is: without quotes, and on one line.
pub(crate) fn is_writable(name: &[u8]) -> bool {
    !name.iter().any(is_mark)
}

fn is_mark(byte: &u8) -> bool {
    *byte == b'"' || byte.is_ascii_control()
}

/// The name of a texture as it can be written.
pub(crate) fn writable(name: &[u8]) -> Vec<u8> {
    name.iter().map(|byte| if is_mark(byte) { b'\'' } else { *byte }).collect()
}

/// Bytes as they can be between quotes.
pub(super) fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    out.extend(text.iter().map(|byte| if *byte == b'"' { b'\'' } else { *byte }));
    out.push(b'"');
}
