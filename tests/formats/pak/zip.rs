//! Zips of every kind, made and read back without the library.

use std::ops::Range;

/// A file and everything that its records say.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) name: Vec<u8>,
    /// As it is stored.
    pub(crate) stored: Vec<u8>,
    pub(crate) size: u32,
    pub(crate) crc: u32,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    pub(crate) time: u16,
    pub(crate) local_extra: Vec<u8>,
    pub(crate) central_extra: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) attributes: u32,
    /// Bytes before its local header.
    pub(crate) gap: Vec<u8>,
    /// What stands behind the data and belongs to it.
    pub(crate) descriptor: Vec<u8>,
}

impl File {
    /// As Valve's writer makes it.
    pub(crate) fn new(name: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Self {
        let stored = data.as_ref().to_vec();
        File {
            name: name.as_ref().to_vec(),
            size: stored.len() as u32,
            crc: crc32(&stored),
            stored,
            method: 0,
            flags: 0,
            time: 0,
            local_extra: Vec::new(),
            central_extra: Vec::new(),
            comment: Vec::new(),
            attributes: 0,
            gap: Vec::new(),
            descriptor: Vec::new(),
        }
    }

    /// What local header and directory have in common.
    fn common(&self, extra: usize) -> Vec<u8> {
        let needs = if self.method == 14 { 63_u16 } else { 10 };
        let mut bytes = Vec::new();
        for word in [needs, self.flags, self.method, self.time, 0x21] {
            bytes.extend(word.to_le_bytes());
        }
        for word in [self.crc, self.stored.len() as u32, self.size] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend((extra as u16).to_le_bytes());
        bytes
    }
}

/// A zip in the making.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zip {
    pub(crate) files: Vec<File>,
    /// The places of the files, where they are not in the order of the directory.
    pub(crate) order: Vec<usize>,
    pub(crate) gap_before_directory: Vec<u8>,
    pub(crate) gap_before_end: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) behind: Vec<u8>,
    /// A console's: the directory states the extra fields and does not have them.
    pub(crate) is_console: bool,
}

impl Zip {
    pub(crate) fn of(files: impl IntoIterator<Item = File>) -> Self {
        Zip { files: files.into_iter().collect(), ..Zip::default() }
    }

    /// Whether a file is longer to engines than to others, and might not end before the directory.
    pub(crate) fn has_two_lengths(&self) -> bool {
        self.files.iter().any(|file| file.local_extra.len() < file.central_extra.len())
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut offsets = vec![0; self.files.len()];
        let order: Vec<usize> = match self.order.len() == self.files.len() {
            true => self.order.clone(),
            false => (0..self.files.len()).collect(),
        };
        for index in order {
            let file = &self.files[index];
            bytes.extend(&file.gap);
            offsets[index] = bytes.len() as u32;
            bytes.extend(b"PK\x03\x04");
            bytes.extend(file.common(file.local_extra.len()));
            for part in [&file.name, &file.local_extra, &file.stored, &file.descriptor] {
                bytes.extend(part);
            }
        }
        bytes.extend(&self.gap_before_directory);
        let directory = bytes.len();
        for (file, offset) in self.files.iter().zip(offsets) {
            let extra = if self.is_console { &file.local_extra } else { &file.central_extra };
            bytes.extend(b"PK\x01\x02\x14\0");
            bytes.extend(file.common(extra.len()));
            bytes.extend((file.comment.len() as u16).to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend(file.attributes.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
            bytes.extend(&file.name);
            if !self.is_console {
                bytes.extend(extra);
            }
            bytes.extend(&file.comment);
        }
        let size = bytes.len() - directory;
        bytes.extend(&self.gap_before_end);
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        let count = (self.files.len() as u16).to_le_bytes();
        bytes.extend([count, count].concat());
        bytes.extend((size as u32).to_le_bytes());
        bytes.extend((directory as u32).to_le_bytes());
        bytes.extend((self.comment.len() as u16).to_le_bytes());
        bytes.extend(&self.comment);
        bytes.extend(&self.behind);
        bytes
    }
}

/// A zip taken apart by its last end record.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) files: Vec<Found>,
    /// All bytes before the directory that belong to no file, one behind the other.
    pub(crate) gaps: Vec<u8>,
    /// Whether a file is longer to engines than to others.
    pub(crate) shares: bool,
    /// What stands between the directory and the end record.
    pub(crate) before_end: Vec<u8>,
    /// The end record's disks, and everything behind its counts and places.
    pub(crate) end: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) name: Vec<u8>,
    /// Local header, name, extra field, data, descriptor.
    pub(crate) local: Vec<u8>,
    /// The record of the directory with zeros for the offset.
    pub(crate) central: Vec<u8>,
    range: Range<usize>,
}

pub(crate) fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

pub(crate) fn half(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()))
}

/// Takes a zip apart; says what contradicts itself.
pub(crate) fn parts(bytes: &[u8]) -> Result<Parts, String> {
    let at = bytes.windows(4).rposition(|window| window == b"PK\x05\x06").ok_or("no end record")?;
    let (count, size, directory) = (half(bytes, at + 10), word(bytes, at + 12), word(bytes, at + 16));
    if half(bytes, at + 8) != count {
        return Err("two counts".into());
    }
    let mut files = Vec::new();
    let mut next = directory;
    let mut shares = false;
    for index in 0..count {
        if next + 46 > at || !bytes[next..].starts_with(b"PK\x01\x02") {
            return Err(format!("no record {index}"));
        }
        let record = &bytes[next..];
        let lengths = [28, 30, 32].map(|field| half(record, field));
        let mut central = record.get(..46 + lengths.iter().sum::<usize>()).ok_or("a cut record")?.to_vec();
        let (offset, stored, flags) = (word(&central, 42), word(&central, 20), half(&central, 8));
        central[42..46].fill(0);
        next += central.len();
        let local = bytes.get(offset..).filter(|local| local.len() >= 30 && local.starts_with(b"PK\x03\x04"));
        let local = local.ok_or_else(|| format!("no local header of record {index}"))?;
        shares |= half(local, 28) < lengths[1];
        let descriptor = if flags & 8 != 0 { 16 } else { 0 };
        let length = 30 + half(local, 26) + half(local, 28) + stored + descriptor;
        let local = local.get(..length).ok_or("a cut file")?.to_vec();
        let name = central[46..46 + lengths[0]].to_vec();
        files.push(Found { name, local, central, range: offset..offset + length });
    }
    if next - directory != size {
        return Err(format!("a directory of {} bytes that says {size}", next - directory));
    }
    let is_free = |at: &usize| !files.iter().any(|file| file.range.contains(at));
    // A map's pakfile is large, and few have a byte that is nobody's.
    let covered: usize = files.iter().map(|file| file.range.len()).sum();
    let gaps = match covered == directory {
        true => Vec::new(),
        false => (0..directory).filter(is_free).map(|at| bytes[at]).collect(),
    };
    let end = [&bytes[at..at + 8], &bytes[at + 20..]].concat();
    Ok(Parts { files, gaps, shares, before_end: bytes[next..at].to_vec(), end })
}

/// The CRC-32 of zips, bit by bit.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
