//! Directories of Valve's archives (`*_dir.vpk`), versions 1 and 2: which files there are, and where their bytes are.
//!
//! Source: the description of the format by Valve's developer community (VPK file format). A tree of extensions,
//! folders and names follows the header; each file has an entry of 18 bytes, and its first bytes may follow that entry.
//! The rest is in an archive `*_000.vpk` of that number, or in the same file after the tree.
//!
//! ```
//! use bspkit_game::assets::vpk::{Part, Vpk, VpkFile};
//! let entry = [&[0; 4][..], &[2, 0], &[0, 0], &[0; 4], &[3, 0, 0, 0], &[0xFF; 2], b"RI"].concat();
//! let tree = [&b"wav\0sound/own\0Hit\0"[..], &entry, b"\0\0\0"].concat();
//! let size = u32::try_from(tree.len()).unwrap().to_le_bytes();
//! let vpk = Vpk::parse([&b"\x34\x12\xAA\x55\x01\0\0\0"[..], &size, &tree].concat())?;
//! let file: VpkFile<'_> = vpk.get(b"sound/own/hit.wav").unwrap();
//! assert_eq!((vpk.len(), file.preload, file.rest), (1, &b"RI"[..], Part { archive: Some(0), offset: 0, size: 3 }));
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::HashMap;
use std::ops::Range;

use super::{check_size, normal_name};
use bspkit::bytes::{Data, escaped, index};
use bspkit::record::{Field, Record};
use bspkit::records;
use bspkit::{Error, ErrorKind, Result};

/// The first four bytes.
const SIGNATURE: u32 = 0x55AA_1234;

/// The end of each entry.
const TERMINATOR: u16 = 0xFFFF;

/// The number of an archive that means the file of the directory itself.
const OWN: u16 = 0x7FFF;

/// The longest name that engines look up (`MAX_PATH`), and more files and longer names in total than games have.
const LONGEST_NAME: usize = 260;
const MOST_FILES: usize = 1 << 20;
const MOST_OF_NAMES: usize = 128 << 20;

records! {
    /// The start of both versions.
    pub struct Header(12) {
        /// 0x55AA1234.
        pub signature: u32,
        /// 1 or 2.
        pub version: u32,
        /// The size of the tree in bytes.
        pub tree_size: u32,
    }

    /// What follows it in version 2.
    pub struct SecondHeader(16) {
        /// The bytes of files that follow the tree.
        pub data_size: u32,
        /// The bytes of checksums of parts of archives.
        pub archive_sums_size: u32,
        /// The bytes of checksums of this file.
        pub own_sums_size: u32,
        /// The bytes of the signature.
        pub signature_size: u32,
    }

    /// A file.
    pub struct FileEntry(18) {
        /// The CRC-32 of the whole file.
        pub crc: u32,
        /// How many of its first bytes follow this entry.
        pub preload_size: u16,
        /// The number of the archive that has the rest.
        pub archive: u16,
        /// Where the rest is in the archive.
        pub offset: u32,
        /// Its size in bytes.
        pub size: u32,
        /// 0xFFFF.
        pub terminator: u16,
    }
}

/// A directory of an archive. Names are in the form of [`normal_name`].
#[derive(Clone, Debug)]
pub struct Vpk<'a> {
    data: Data<'a>,
    /// Where files are that this file has itself.
    files_at: usize,
    files: HashMap<Vec<u8>, Place>,
}

/// Where a file is, as the directory states it.
#[derive(Clone, Debug)]
struct Place {
    preload: Range<usize>,
    entry: FileEntry,
}

/// A file of an archive: its first bytes, and where the rest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VpkFile<'v> {
    /// The first bytes, which the directory has.
    pub preload: &'v [u8],
    /// The rest.
    pub rest: Part,
    /// The CRC-32 of all bytes.
    pub crc: u32,
}

/// Where bytes are in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the archive; `None` for the file of the directory itself.
    pub archive: Option<u16>,
    /// The offset in that file in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub size: usize,
}

impl<'a> Vpk<'a> {
    /// Reads a directory. Bytes of files are not read.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] for a tree that is cut off or contradicts itself; [`ErrorKind::Unsupported`] for other
    /// versions; [`ErrorKind::TooLarge`] for more than 1,048,576 files or 128 MiB of names.
    pub fn parse(data: impl Into<Data<'a>>) -> Result<Self> {
        let data = data.into();
        let malformed = |what: &str| Error::new(ErrorKind::Malformed, format!("the VPK directory {what}"));
        let header = Header::decode(&data).filter(|header| header.signature == SIGNATURE);
        let header = header.ok_or_else(|| malformed("does not begin with the signature 0x55AA1234"))?;
        let tree_at = match header.version {
            1 => Header::SIZE,
            2 => Header::SIZE + SecondHeader::SIZE,
            version => {
                let message = format!("a VPK directory of version {version:#x}; 1 and 2 are known");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        };
        let files_at = tree_at.checked_add(index(header.tree_size)).filter(|end| *end <= data.len());
        let files_at = files_at.ok_or_else(|| {
            malformed(&format!("is cut off: it states {} bytes and has {}", header.tree_size, data.len()))
        })?;
        let tree = Tree { bytes: &data[..files_at], at: tree_at, files: HashMap::new(), name_bytes: 0 };
        let files = tree.read()?;
        Ok(Vpk { files, files_at, data })
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether it has no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether there is a file of this name.
    pub fn has(&self, name: &[u8]) -> bool {
        self.files.contains_key(name)
    }

    /// The names of all files, in no order.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.files.keys().map(|name| &name[..])
    }

    /// A file, by its name in the form of [`normal_name`].
    pub fn get(&self, name: &[u8]) -> Option<VpkFile<'_>> {
        let Place { preload, entry } = self.files.get(name)?;
        let (archive, start) = if entry.archive == OWN { (None, self.files_at) } else { (Some(entry.archive), 0) };
        let offset = bspkit::bytes::wide(start) + u64::from(entry.offset);
        let rest = Part { archive, offset, size: index(entry.size) };
        Some(VpkFile { preload: &self.data[preload.clone()], rest, crc: entry.crc })
    }
}

impl VpkFile<'_> {
    /// The whole size in bytes.
    pub fn size(&self) -> usize {
        self.preload.len() + self.rest.size
    }

    /// The bytes of the file, from a reader of a part.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for more than `most` bytes, before any is read; [`ErrorKind::Malformed`] for bytes with
    /// another checksum than the archive states; those of `read`.
    pub fn read(
        &self,
        name: &[u8],
        most: usize,
        read: impl FnOnce(Part, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Vec<u8>> {
        check_size(name, self.size(), most)?;
        let mut bytes = self.preload.to_vec();
        if self.rest.size > 0 {
            read(self.rest, &mut bytes)?;
        }
        // Some programs write none.
        if self.crc != 0 && crc32fast::hash(&bytes) != self.crc {
            let message = format!("`{}` has another checksum than its archive states", escaped(name));
            return Err(Error::new(ErrorKind::Malformed, message));
        }
        Ok(bytes)
    }
}

/// A tree that is read.
struct Tree<'t> {
    bytes: &'t [u8],
    at: usize,
    files: HashMap<Vec<u8>, Place>,
    name_bytes: usize,
}

impl<'t> Tree<'t> {
    /// Three levels of texts: extensions, folders, names. Each level ends with an empty text.
    fn read(mut self) -> Result<HashMap<Vec<u8>, Place>> {
        while let Some(extension) = self.text()? {
            while let Some(folder) = self.text()? {
                while let Some(name) = self.text()? {
                    self.file(folder, name, extension)?;
                }
            }
        }
        Ok(self.files)
    }

    fn cut(&self) -> Error {
        Error::new(ErrorKind::Malformed, format!("the VPK directory is cut off at offset {}", self.at))
    }

    /// The next text; `None` at the end of a level.
    fn text(&mut self) -> Result<Option<&'t [u8]>> {
        let rest = &self.bytes[self.at..];
        let end = memchr::memchr(0, rest).ok_or_else(|| self.cut())?;
        self.at += end + 1;
        Ok((end > 0).then_some(&rest[..end]))
    }

    fn file(&mut self, folder: &[u8], name: &[u8], extension: &[u8]) -> Result<()> {
        let entry = FileEntry::decode(&self.bytes[self.at..]).ok_or_else(|| self.cut())?;
        if entry.terminator != TERMINATOR {
            let message = format!("the VPK directory is damaged: the entry at offset {} has no end", self.at);
            return Err(Error::new(ErrorKind::Malformed, message));
        }
        let start = self.at + FileEntry::SIZE;
        let preload = start..start + usize::from(entry.preload_size);
        if preload.end > self.bytes.len() {
            return Err(self.cut());
        }
        self.at = preload.end;
        let length = folder.len() + name.len() + extension.len() + 2;
        if length > LONGEST_NAME {
            let message =
                format!("the VPK directory has a name of {length} bytes: {}…", escaped(&name[..name.len().min(40)]));
            return Err(Error::new(ErrorKind::Malformed, message));
        }
        self.name_bytes += length;
        if self.files.len() == MOST_FILES || self.name_bytes > MOST_OF_NAMES {
            let message =
                format!("the VPK directory has more than {MOST_FILES} files or {MOST_OF_NAMES} bytes of names");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        // A space is no text.
        let is_none = |text: &[u8]| text == b" ";
        let folder = if is_none(folder) { Vec::new() } else { [folder, b"/"].concat() };
        let extension = if is_none(extension) { Vec::new() } else { [b".", extension].concat() };
        let name = if is_none(name) { &[][..] } else { name };
        self.files.insert(normal_name([&folder, name, &extension].concat()), Place { preload, entry });
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vpk(version: u32, tree: &[u8], stated: u32, after: &[u8]) -> Vec<u8> {
        let header = Header { signature: SIGNATURE, version, tree_size: stated };
        let second = SecondHeader { data_size: 0, archive_sums_size: 0, own_sums_size: 0, signature_size: 0 };
        let second = if version == 2 { second.encode().to_vec() } else { Vec::new() };
        [&header.encode(), &second[..], tree, after].concat()
    }

    fn entry(preload: &[u8], archive: u16, offset: u32, size: u32) -> Vec<u8> {
        let preload_size = u16::try_from(preload.len()).unwrap();
        let entry = FileEntry { crc: 0, preload_size, archive, offset, size, terminator: TERMINATOR };
        [&entry.encode(), preload].concat()
    }

    /// A tree with one file.
    fn tree(extension: &str, folder: &str, name: &str, entry: &[u8]) -> Vec<u8> {
        let texts = format!("{extension}\0{folder}\0{name}\0");
        [texts.as_bytes(), entry, b"\0\0\0"].concat()
    }

    #[test]
    fn files_are_where_the_directory_says() {
        for (version, files_at) in [(1, 12), (2, 28)] {
            let tree = tree(" ", " ", "README", &entry(b"re", OWN, 3, 4));
            let size = u32::try_from(tree.len()).unwrap();
            let bytes = vpk(version, &tree, size, b"...ad m");
            let vpk = Vpk::parse(bytes.clone()).unwrap();
            let file = vpk.get(b"readme").unwrap();
            let offset = files_at + u64::from(size) + 3;
            assert_eq!(file.rest, Part { archive: None, offset, size: 4 });
            let read = |part: Part, out: &mut Vec<u8>| {
                out.extend_from_slice(&bytes[usize::try_from(part.offset).unwrap()..][..part.size]);
                Ok(())
            };
            assert_eq!(file.read(b"readme", 6, read).unwrap(), b"read m");
            assert_eq!(file.read(b"readme", 5, read).unwrap_err().kind(), ErrorKind::TooLarge);
        }
    }

    #[test]
    fn hostile_sizes_are_errors() {
        let good = tree("vmt", "materials", "wall", &entry(b"", 0, 0, 9));
        let size = u32::try_from(good.len()).unwrap();
        let kind = |bytes: Vec<u8>| Vpk::parse(bytes).map(|vpk| vpk.len()).map_err(|error| error.kind());
        assert_eq!(kind(vpk(1, &good, size, b"")), Ok(1));
        let malformed = Err(ErrorKind::Malformed);
        assert_eq!(kind(b"".to_vec()), malformed);
        assert_eq!(kind(vpk(1, &good, u32::MAX, b"")), malformed, "a tree of 4 GiB");
        assert_eq!(kind(vpk(1, &good, size + 1, b"")), malformed);
        assert_eq!(kind(vpk(1, &good, size - 1, b"")), malformed, "a level without an end");
        assert_eq!(kind(vpk(3, &good, size, b"")), Err(ErrorKind::Unsupported));
        // A file whose first bytes would be after the tree.
        let mut cut = good.clone();
        let at = cut.len() - 3 - FileEntry::SIZE;
        cut[at + 4..at + 6].copy_from_slice(&[0xFF, 0xFF]);
        assert_eq!(kind(vpk(1, &cut, size, &[0; 70000])), malformed);
        let mut no_end = good.clone();
        no_end[at + 16] = 0;
        assert_eq!(kind(vpk(1, &no_end, size, b"")), malformed);
        // One long folder for many files.
        let long = tree("vmt", &"x".repeat(1000), "wall", &entry(b"", 0, 0, 9));
        assert_eq!(kind(vpk(1, &long, u32::try_from(long.len()).unwrap(), b"")), malformed);
        // What a file claims is read only as far as its reader wants.
        let huge = tree("vmt", "m", "w", &entry(b"", 0, u32::MAX, u32::MAX));
        let huge = Vpk::parse(vpk(1, &huge, u32::try_from(huge.len()).unwrap(), b"")).unwrap();
        let nothing = |_: Part, _: &mut Vec<u8>| panic!("nothing is read");
        assert!(huge.get(b"m/w.vmt").unwrap().read(b"", 1 << 20, nothing).is_err());
    }

    proptest! {
        #[test]
        fn damage_never_panics(
            names in proptest::collection::vec("[a-c /.]{1,5}", 0..5),
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..6),
        ) {
            let mut all = b"vmt\0m\0".to_vec();
            for name in &names {
                all.extend([name.as_bytes(), b"\0", &entry(b"ab", 1, 2, 3)].concat());
            }
            all.extend(b"\0\0\0");
            let mut bytes = vpk(2, &all, u32::try_from(all.len()).unwrap(), b"rest");
            for (at, byte) in flips {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(vpk) = Vpk::parse(bytes) {
                let names: Vec<Vec<u8>> = vpk.names().map(<[u8]>::to_vec).collect();
                names.iter().for_each(|name| drop(vpk.get(name).unwrap().preload.to_vec()));
            }
        }
    }
}
