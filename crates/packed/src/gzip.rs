//! Members of gzip (RFC 1952): a file is one or several, and its content is that of all of them, one after the other.

use std::io::{BufRead, BufReader, Read};

use bspkit::Result;
use flate2::bufread::GzDecoder;

use crate::{damaged, other_bytes, read_into};

/// The bytes of all members. Zeros may follow them, as tapes and some servers add them.
pub(crate) fn unpack(packed: impl Read) -> Result<Vec<u8>> {
    let mut source = BufReader::new(packed);
    let mut bytes = Vec::new();
    loop {
        read_into(&mut bytes, GzDecoder::new(&mut source))?;
        match first_that_is_not_zero(&mut source)? {
            (None, _) => return Ok(bytes),
            (Some(0x1F), true) => {}
            _ => return Err(other_bytes()),
        }
    }
}

/// The next byte that is not 0, which is not taken, and whether no zeros are before it; none at the end.
fn first_that_is_not_zero(source: &mut impl BufRead) -> Result<(Option<u8>, bool)> {
    let mut is_next = true;
    loop {
        let bytes = source.fill_buf().map_err(|error| damaged().with_source(error))?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let found = bytes.get(zeros).copied();
        is_next &= zeros == 0;
        if found.is_some() || bytes.is_empty() {
            return Ok((found, is_next));
        }
        source.consume(zeros);
    }
}
