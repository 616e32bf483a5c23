//! The checksum in the file with a map's areas for bots (`.aas`). It is the third field of a header of 124 bytes
//! (`aas_header_t` of aasfile.h). In version 5 the bytes after the version are XORed with 119 times their index from
//! there (`AAS_DData` of be_aas_file.c).

use bspkit::record::Record;
use bspkit::record::declare::Codec;
use bspkit::records;
use bspkit::{Error, ErrorKind, Result};

records! {
    /// `aas_header_t`.
    struct Head(124) {
        /// `EAAS`.
        magic: [u8; 4],
        /// 4 or 5.
        version: i32,
        /// The checksum of the map.
        checksum: u32,
        /// Offset and length of each lump.
        lumps: [[i32; 2]; 14],
    }
}

/// The checksum of the map that a file of areas is for.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for another file, or another version than 4 and 5.
///
/// ```
/// use bspkit_game::aas;
/// let mut file = [b"EAAS".to_vec(), vec![4, 0, 0, 0, 7, 0, 0, 0], vec![0; 14 * 8]].concat();
/// assert_eq!(aas::checksum(&file)?, 7);
/// aas::set_checksum(&mut file, 8)?;
/// assert_eq!(aas::checksum(&file)?, 8);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn checksum(file: &[u8]) -> Result<u32> {
    let (head, mask) = head(file)?;
    Ok(head.checksum ^ mask)
}

/// Writes a map's checksum into a file of areas; nothing else in it changes.
///
/// # Errors
/// As [`checksum`].
pub fn set_checksum(file: &mut [u8], checksum: u32) -> Result<()> {
    let (mut head, mask) = head(file)?;
    head.checksum = checksum ^ mask;
    head.write(file);
    Ok(())
}

/// The header, and the value with which its checksum is XORed.
fn head(file: &[u8]) -> Result<(Head, u32)> {
    let unsupported = |message: String| Error::new(ErrorKind::Unsupported, message);
    let head = Head::decode(file).filter(|head| head.magic == *b"EAAS");
    let head = head.ok_or_else(|| unsupported("this is not a file of areas for bots (AAS)".to_owned()))?;
    match head.version {
        4 => Ok((head, 0)),
        5 => Ok((head, u32::from_le_bytes([0, 1, 2, 3].map(|at: u8| at.wrapping_mul(119))))),
        version => Err(unsupported(format!("this is a file of areas for bots of version {version}, not 4 or 5"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, checksum: [u8; 4]) -> Vec<u8> {
        [b"EAAS".to_vec(), vec![version, 0, 0, 0], checksum.to_vec(), vec![0xA5; 14 * 8 + 100]].concat()
    }

    #[test]
    fn both_versions_hold_the_sum_in_their_own_way() {
        let plain = file(4, [0x78, 0x56, 0x34, 0x12]);
        let disguised = file(5, [0x78, 0x56 ^ 119, 0x34 ^ 238, 0x12 ^ 101]);
        for old in [plain, disguised] {
            assert_eq!(checksum(&old).unwrap(), 0x1234_5678);
            let mut new = old.clone();
            set_checksum(&mut new, 0xFFFF_0001).unwrap();
            assert_eq!(checksum(&new).unwrap(), 0xFFFF_0001);
            assert_eq!((&new[..8], &new[12..]), (&old[..8], &old[12..]));
        }
    }

    #[test]
    fn other_files_are_refused() {
        for (bytes, why) in [
            (&b""[..], "not a file of areas"),
            (b"EAAS\x05\0\0\0\x01\0\0\0", "not a file of areas"),
            (&file(8, [0; 4]), "of version 8"),
            (&[&b"EAAT"[..], &[0; 200]].concat(), "not a file of areas"),
        ] {
            let error = checksum(bytes).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert!(set_checksum(&mut bytes.to_vec(), 1).is_err());
        }
    }
}
