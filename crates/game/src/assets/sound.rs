//! Names of sounds.

/// The characters before the name of a sound file that say how it is played.
const PREFIXES: &[u8] = b"*#@<>^)(}$!?&~`+%";

/// Where the name of a sound begins, after the characters that say how it is played.
pub(crate) fn name_start(written: &[u8]) -> usize {
    written.iter().position(|byte| !PREFIXES.contains(byte)).unwrap_or(written.len())
}
