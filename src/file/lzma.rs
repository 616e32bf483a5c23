//! LZMA as Source maps keep it: a header of 17 bytes, then a raw LZMA1 stream without an end marker.

use std::io::{Read, Write};

use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};

use super::directory::LzmaHeader;
use crate::bytes::{index, wide};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Field, Record};

/// The largest size of a decompressed piece in bytes, whatever its header says. The largest lumps that the engines load
/// have half of that.
pub const MOST_DECOMPRESSED: usize = 32 << 20;

/// The largest total of all decompressed pieces of a file of `size` bytes: 64 MiB, or 64 times the size if that is
/// more. Compression makes real files at most 50 times smaller.
pub(crate) fn most_in_total(size: usize) -> usize {
    size.saturating_mul(64).max(64 << 20)
}

/// The memory in bytes for decompressing a piece to this many bytes: the bytes, and a window of at most the same size.
pub(crate) fn memory_for(unpacked: usize) -> usize {
    unpacked.min(MOST_DECOMPRESSED).saturating_mul(2)
}

/// The widest window of the encoder in bytes, which takes twelve times as much memory.
const WIDEST_WINDOW: u32 = 1 << 23;

/// The memory in bytes for compressing this many bytes: the encoder's, and its output. Pieces that are too large are
/// refused before.
pub(crate) fn memory_to_compress(size: usize) -> usize {
    let size = size.min(MOST_DECOMPRESSED);
    index(window(size, DECLARED_DICTIONARY)).saturating_mul(12).saturating_add(size)
}

/// The encoder's window for this many bytes, if a dictionary of this size is declared.
fn window(size: usize, dictionary: u32) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX).clamp(4096, WIDEST_WINDOW.min(dictionary)).next_power_of_two()
}

/// The step in which memory is requested, in bytes: 1 MiB. A stream that ends early costs at most one step more than it
/// has.
const AT_ONCE: usize = 1 << 20;

/// The dictionary that every file for a PC declares, whatever the encoder used: 2^24 bytes.
pub(crate) const DECLARED_DICTIONARY: u32 = 1 << 24;

/// The size after decompression, if `stored` is one compressed piece. Bytes after it are padding, which engines do not
/// read and some files have.
///
/// ```
/// let packed = bspkit::file::lzma::compress(b"worldspawn", Default::default())?;
/// assert_eq!(bspkit::file::lzma::decompressed_size(&packed), Some(10));
/// assert_eq!(bspkit::file::lzma::decompressed_size(b"worldspawn"), None);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn decompressed_size(stored: &[u8]) -> Option<usize> {
    let header = LzmaHeader::decode(stored)?;
    let whole = index(header.packed).checked_add(LzmaHeader::SIZE).is_some_and(|size| size <= stored.len());
    (header.magic == *b"LZMA" && whole).then(|| index(header.unpacked))
}

/// Decompresses a piece. As in the engines, it ends when it has all bytes. The rest of the stream, such as an end
/// marker, is ignored.
///
/// # Errors
/// [`ErrorKind::Malformed`] if the header or the stream is wrong, [`ErrorKind::TooLarge`] above [`MOST_DECOMPRESSED`].
/// Memory grows with the bytes that are decoded, not with the size that the header states.
pub fn decompress(stored: &[u8]) -> Result<Vec<u8>> {
    let malformed = |what: &str| Error::new(ErrorKind::Malformed, format!("the LZMA data is damaged: {what}"));
    let size = decompressed_size(stored).ok_or_else(|| malformed("its header does not agree with its size"))?;
    let header = LzmaHeader::decode(stored).ok_or_else(|| malformed("its header does not agree with its size"))?;
    let stream = &stored[LzmaHeader::SIZE..][..index(header.packed)];
    decode(header.properties, stream, size).map(|(bytes, _)| bytes)
}

/// Decodes a raw stream to exactly this many bytes. It also returns how many bytes of the stream were not read. Memory
/// grows with the bytes that are decoded.
pub(crate) fn decode(properties: [u8; 5], stream: &[u8], size: usize) -> Result<(Vec<u8>, usize)> {
    decode_until(properties, stream, size, wide(size))
}

/// As [`decode`], of a stream with an end marker after these bytes.
///
/// # Errors
/// [`ErrorKind::Malformed`] also without the marker.
pub(crate) fn decode_marked(properties: [u8; 5], stream: &[u8], size: usize) -> Result<(Vec<u8>, usize)> {
    decode_until(properties, stream, size, u64::MAX)
}

/// `end` is where the reader stops without an end marker.
fn decode_until(properties: [u8; 5], stream: &[u8], size: usize, end: u64) -> Result<(Vec<u8>, usize)> {
    let malformed = |what: &str| Error::new(ErrorKind::Malformed, format!("the LZMA data is damaged: {what}"));
    if size > MOST_DECOMPRESSED {
        let message = format!("the LZMA data would decompress to {size} bytes, more than {MOST_DECOMPRESSED}");
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    let [properties, dictionary @ ..] = properties;
    let limit = u32::try_from(size.max(4096)).unwrap_or(u32::MAX);
    let dictionary = u32::from_le_bytes(dictionary).min(limit.next_power_of_two());
    let reader = LzmaReader::new_with_props(stream, end, properties, dictionary, None);
    let mut reader = reader.map_err(|error| malformed(&error.to_string()))?;
    let mut bytes = Vec::new();
    while bytes.len() < size {
        let start = bytes.len();
        let step = (size - start).min(AT_ONCE);
        bytes.reserve_exact(step);
        bytes.resize(start + step, 0);
        reader.read_exact(&mut bytes[start..]).map_err(|error| malformed(&error.to_string()))?;
    }
    if end != wide(size) && !matches!(reader.read(&mut [0]), Ok(0)) {
        return Err(malformed("it has no end marker"));
    }
    // The reader reads ahead.
    let (remaining, ahead) = reader.into_parts();
    Ok((bytes, ahead.len() + remaining.len()))
}

/// Compresses a piece with the parameters that the engines read: lc 3, lp 0, pb 2, no end marker, a dictionary of 2^24
/// declared. The encoder's window fits the piece, which gives the same stream in less time.
///
/// # Errors
/// [`ErrorKind::TooLarge`] above [`MOST_DECOMPRESSED`], which could not be read back.
pub fn compress(bytes: &[u8], level: Level) -> Result<Vec<u8>> {
    compress_for(bytes, DECLARED_DICTIONARY, level)
}

/// As [`compress`], with another dictionary declared, which bounds the encoder's window.
pub(crate) fn compress_for(bytes: &[u8], dictionary: u32, level: Level) -> Result<Vec<u8>> {
    let too_large = |_| Error::new(ErrorKind::TooLarge, format!("{} bytes are too many to compress", bytes.len()));
    let unpacked = u32::try_from(bytes.len()).map_err(too_large)?;
    if bytes.len() > MOST_DECOMPRESSED {
        let message = format!(
            "{} bytes are too many to compress: at most {MOST_DECOMPRESSED} can be decompressed again",
            bytes.len()
        );
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    let mut packed = vec![0; LzmaHeader::SIZE];
    let properties = encode(bytes, dictionary, level, &mut packed)?;
    let stream = u32::try_from(packed.len() - LzmaHeader::SIZE).map_err(too_large)?;
    let header = LzmaHeader { magic: *b"LZMA", unpacked, packed: stream, properties };
    packed[..LzmaHeader::SIZE].copy_from_slice(&header.encode());
    Ok(packed)
}

/// How long a match must be to be taken without a look for a longer one, for each level. Level 6 with the 64 of other
/// encoders takes up to a fifth more time than liblzma; with 40 it takes as much or less, for at most a hundredth more
/// bytes (lumps of four maps, CPU time).
const NICE_LENGTHS: [u32; 10] = [128, 128, 273, 273, 16, 32, 40, 64, 128, 273];

/// How much time compression takes: from 0, the fastest, to 9, the smallest result. Readers take all of them alike. The
/// default is 6.
///
/// ```
/// use bspkit::file::lzma::Level;
/// assert!(Level::new(1)? < Level::default());
/// assert!(Level::new(10).is_err());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// A level.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] above 9.
    pub fn new(level: u8) -> Result<Self> {
        let wrong = || Error::new(ErrorKind::Argument, format!("{level} is no level of compression: they are 0 to 9"));
        (level < 10).then_some(Level(level)).ok_or_else(wrong)
    }
}

impl Default for Level {
    fn default() -> Self {
        Level(6)
    }
}

/// Appends the raw stream of a piece to `out` and returns its properties.
pub(crate) fn encode(bytes: &[u8], dictionary: u32, level: Level, out: &mut Vec<u8>) -> Result<[u8; 5]> {
    let too_large = |_| Error::new(ErrorKind::TooLarge, format!("{} bytes are too many to compress", bytes.len()));
    let unpacked = u32::try_from(bytes.len()).map_err(too_large)?;
    let mut options = LzmaOptions::with_preset(u32::from(level.0));
    options.nice_len = NICE_LENGTHS[usize::from(level.0)];
    options.dict_size = window(bytes.len(), dictionary);
    (options.lc, options.lp, options.pb) = (3, 0, 2);
    let mut properties = [options.get_props(), 0, 0, 0, 0];
    properties[1..].copy_from_slice(&dictionary.to_le_bytes());
    let encode = |out: &mut Vec<u8>| {
        let mut writer = LzmaWriter::new(out, &options, false, false, Some(u64::from(unpacked)))?;
        writer.write_all(bytes)?;
        writer.finish().map(drop)
    };
    encode(out).map_err(|error| Error::io("cannot compress", error))?;
    Ok(properties)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What Valve's and Strata's encoders give for this many zeros (seen in real maps).
    #[test]
    fn packs_what_engines_know() {
        let four = b"LZMA\x04\0\0\0\x07\0\0\0\x5d\0\0\0\x01\x00\x00\x68\x7e\x5e\x00\x00";
        assert_eq!(decompress(four).unwrap(), [0; 4]);
        let ours = compress(&[0; 4], Level::default()).unwrap();
        assert_eq!(ours[12..17], four[12..17]);
        assert_eq!(decompress(&ours).unwrap(), [0; 4]);
    }

    #[test]
    fn a_lie_about_the_size_is_an_error() {
        let mut packed = compress(b"some text, some text, some text", Level::default()).unwrap();
        packed[4..8].copy_from_slice(&30_000_000_u32.to_le_bytes());
        assert_eq!(decompress(&packed).unwrap_err().kind(), ErrorKind::Malformed);
        packed[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(decompress(&packed).unwrap_err().kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn what_could_not_be_read_back_is_not_packed() {
        assert_eq!(
            compress(&vec![0; MOST_DECOMPRESSED + 1], Level::default()).unwrap_err().kind(),
            ErrorKind::TooLarge
        );
    }

    #[test]
    fn bad_headers_and_streams_are_errors() {
        let text = b"some text, some text, some other text".repeat(20);
        let packed = compress(&text, Level::default()).unwrap();
        let stream = |bytes: &[u8]| {
            let mut whole = packed[..LzmaHeader::SIZE].to_vec();
            whole.extend(bytes);
            whole[8..12].copy_from_slice(&u32::try_from(bytes.len()).unwrap().to_le_bytes());
            whole
        };
        let with = |at: usize, byte: u8| {
            let mut whole = packed.clone();
            whole[at] = byte;
            whole
        };
        let body = &packed[LzmaHeader::SIZE..];
        let cases = [
            ("cut short", stream(&body[..body.len() / 2])),
            ("no stream", stream(&[])),
            ("one byte of it", stream(&body[..1])),
            ("not all of it", packed[..packed.len() - 1].to_vec()),
            ("lc, lp and pb of nothing", with(12, 255)),
            ("another magic", with(0, b'l')),
            ("a size too small", with(4, packed[4] - 1)),
            ("a size too large", with(4, packed[4] + 1)),
            ("a first byte that is not 0", with(LzmaHeader::SIZE, 7)),
        ];
        for (what, bytes) in cases {
            let error = decompress(&bytes).expect_err(what);
            assert_eq!(error.kind(), ErrorKind::Malformed, "{what}");
            assert!(!error.to_string().contains('\n'), "{what}");
        }
        // What comes after the piece is padding.
        assert_eq!(decompress(&[&packed[..], b"x"].concat()).unwrap(), text);
        // Readers stop when they have all bytes; an end marker may follow, which some encoders cannot leave out.
        assert_eq!(decompress(&stream(&[body, b"more bytes"].concat())).unwrap(), text);
        // A declared window larger than the piece is limited to the piece's size.
        let mut wide = packed.clone();
        wide[13..17].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(decompress(&wide).unwrap(), text);
    }

    #[test]
    fn bytes_after_the_stream_are_counted() {
        for size in [0_usize, 10, 3000, 2 << 20] {
            let packed = compress(&vec![7; size], Level::default()).unwrap();
            let header = LzmaHeader::decode(&packed).unwrap();
            for junk in [0, 8] {
                let stream = [&packed[LzmaHeader::SIZE..], &vec![1; junk][..]].concat();
                assert_eq!(decode(header.properties, &stream, size).unwrap().1, junk, "{size} bytes");
            }
        }
    }

    proptest! {
        #[test]
        fn what_was_packed_unpacks(bytes: Vec<u8>, run in 0_usize..5000) {
            let mut bytes = bytes;
            bytes.extend(std::iter::repeat_n(7, run));
            let packed = compress(&bytes, Level::default()).unwrap();
            prop_assert_eq!(decompressed_size(&packed), Some(bytes.len()));
            prop_assert_eq!(decompress(&packed).unwrap(), bytes);
        }

        #[test]
        fn noise_never_panics(noise: Vec<u8>) {
            let mut stored = compress(b"", Level::default()).unwrap();
            stored.extend(&noise);
            let packed = u32::try_from(stored.len() - 17).unwrap();
            stored[8..12].copy_from_slice(&packed.to_le_bytes());
            stored[4..8].copy_from_slice(&100_000_u32.to_le_bytes());
            let _ = decompress(&stored);
        }
    }
}
