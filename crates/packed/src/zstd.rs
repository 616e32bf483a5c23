//! Frames of Zstandard (RFC 8878): a file is one or several, and its content is that of all of them, in their order.

use std::io::{BufReader, Cursor, Read};

use bspkit::Result;
use bspkit::bytes::wide;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::{MOST, damaged, other_bytes, too_large};

/// The first four bytes of a frame, and of one that readers skip but for its lowest four bits.
const FRAME: u32 = 0xFD2F_B528;
const SKIPPED: u32 = 0x184D_2A50;

/// How many bytes are decoded before they are taken out of the decoder.
const PIECE: usize = 1 << 20;

/// The bytes of all frames, each of which has the size and the checksum that it says.
pub(crate) fn unpack(packed: impl Read) -> Result<Vec<u8>> {
    let mut source = BufReader::new(packed);
    let mut bytes = Vec::new();
    let mut is_first = true;
    while let Some(magic) = magic(&mut source)? {
        match magic {
            FRAME => frame(&mut source, &mut bytes)?,
            magic if magic & !0xF == SKIPPED => skip(&mut source)?,
            _ if is_first => return Err(damaged()),
            _ => return Err(other_bytes()),
        }
        is_first = false;
    }
    if is_first { Err(damaged()) } else { Ok(bytes) }
}

/// The four bytes with which a frame begins; none at the end.
fn magic(source: &mut impl Read) -> Result<Option<u32>> {
    let mut start = Vec::new();
    source.take(4).read_to_end(&mut start).map_err(|error| damaged().with_source(error))?;
    match (start.first_chunk(), start.is_empty()) {
        (Some(magic), _) => Ok(Some(u32::from_le_bytes(*magic))),
        (None, true) => Ok(None),
        (None, false) => Err(damaged()),
    }
}

fn skip(source: &mut impl Read) -> Result<()> {
    let mut length = [0; 4];
    source.read_exact(&mut length).map_err(|_| damaged())?;
    let length = u64::from(u32::from_le_bytes(length));
    let skipped = std::io::copy(&mut source.take(length), &mut std::io::sink());
    if skipped.is_ok_and(|skipped| skipped == length) { Ok(()) } else { Err(damaged()) }
}

/// Adds the bytes of a frame, whose magic number was read.
fn frame(source: &mut impl Read, bytes: &mut Vec<u8>) -> Result<()> {
    let mut descriptor = [0];
    source.read_exact(&mut descriptor).map_err(|_| damaged())?;
    // The upper two bits say how long the size is that is written, and the third one that there is one in any case.
    let says_size = descriptor[0] >> 5 != 0;
    let start = Cursor::new([&FRAME.to_le_bytes()[..], &descriptor].concat());
    // What the decoder says of damage are the names of its own types.
    let mut decoder = FrameDecoder::new();
    decoder.init(start.chain(&mut *source)).map_err(|_| damaged())?;
    let before = bytes.len();
    while !decoder.is_finished() {
        decoder.decode_blocks(&mut *source, BlockDecodingStrategy::UptoBytes(PIECE)).map_err(|_| damaged())?;
        if wide(bytes.len() + decoder.can_collect()) > MOST {
            return Err(too_large());
        }
        decoder.collect_to_writer(&mut *bytes).map_err(|_| damaged())?;
    }
    decoder.collect_to_writer(&mut *bytes).map_err(|_| damaged())?;
    let is_whole = !says_size || decoder.content_size() == wide(bytes.len() - before);
    let sums = [decoder.get_checksum_from_data(), decoder.get_calculated_checksum()];
    let is_as_written = sums[0].is_none() || sums[0] == sums[1];
    if is_whole && is_as_written { Ok(()) } else { Err(damaged()) }
}
