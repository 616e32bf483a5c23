//! WAD files: GoldSrc reads textures from them that maps only name (`wadinfo_t` and `lumpinfo_t` of the Half-Life SDK's
//! compilers). Quake's have the same form, and textures without palettes; its compilers read them.

mod add;

use std::collections::HashMap;

use super::textures::Miptex;
use crate::bytes::{Data, escaped, index, wide};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Field, Name, Record, records};

records! {
    /// `wadinfo_t`: the header of the file.
    pub struct WadHeader(12) {
        /// `WAD3`; `WAD2` in Quake, whose textures have no palettes.
        pub magic: [u8; 4] as "identification",
        /// How many entries the directory has.
        pub count: i32 as "numlumps",
        /// Where the directory begins.
        pub offset: i32 as "infotableofs",
    }

    /// `lumpinfo_t`: an entry of the directory.
    pub struct WadEntry(32) {
        /// Where its bytes begin.
        pub offset: i32 as "filepos",
        /// How many bytes are in the file.
        pub stored: i32 as "disksize",
        /// How many bytes after decompression.
        pub size: i32,
        /// Its kind: 0x43 is a texture with a palette, 0x44 in Quake's files one without.
        pub kind: u8 as "type",
        /// 0: no other value was ever used.
        pub compression: u8,
        /// Unused.
        pub padding: [u8; 2] as "pad1, pad2",
        /// Its name, in any case.
        pub name: Name<16>,
    }
}

/// A texture with a palette (`TYP_LUMPY` + 3).
const MIPTEX: u8 = 0x43;
/// A texture of Quake, without a palette (`TYP_MIPTEX` of wadlib.h).
const BARE: u8 = 0x44;

/// A WAD file. Textures can be added; all that is there stays.
///
/// ```
/// use bspkit::content::wad::Wad;
/// let wad = Wad::parse(std::fs::read("tests/maps/src/own_hl.wad")?)?;
/// let wall = wad.find("own_wall").unwrap();
/// assert_eq!(wad.miptex(wall)?.width(), 32);
/// assert!(wad.find("own_roof").is_none());
///
/// let mut new = Wad::new(true);
/// assert!(new.add(&wad.miptex(wall)?)?);
/// assert!(!new.add(&wad.miptex(wall)?)?, "it is there already");
/// assert_eq!(Wad::parse(new.to_bytes())?.entries().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Wad<'a> {
    bytes: Data<'a>,
    header: WadHeader,
    entries: Vec<WadEntry>,
    /// The first entry of each name, in lower case.
    names: HashMap<Vec<u8>, usize>,
    /// The bytes of the last entries, which were added.
    added: Vec<Vec<u8>>,
}

impl<'a> Wad<'a> {
    /// Reads the directory; the textures themselves are not read.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it is not a WAD file or the directory does not fit it.
    pub fn parse(bytes: impl Into<Data<'a>>) -> Result<Self> {
        let bytes = bytes.into();
        let wrong = |message: String| Error::new(ErrorKind::Malformed, message);
        let header = WadHeader::decode(&bytes).filter(|header| [*b"WAD3", *b"WAD2"].contains(&header.magic));
        let header = header.ok_or_else(|| wrong("it does not begin as a WAD file does, with WAD3 or WAD2".into()))?;
        let start = usize::try_from(header.offset).ok();
        let length = usize::try_from(header.count).ok().and_then(|count| count.checked_mul(WadEntry::SIZE));
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        let directory = start.zip(end).and_then(|(start, end)| bytes.get(start..end)).ok_or_else(|| {
            let WadHeader { count, offset, .. } = header;
            wrong(format!("{count} entries at offset {offset} do not fit the file's {} bytes", bytes.len()))
        })?;
        let entries: Vec<WadEntry> = directory.chunks_exact(WadEntry::SIZE).filter_map(WadEntry::decode).collect();
        let mut names = HashMap::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            names.entry(entry.name.text().to_ascii_lowercase()).or_insert(index);
        }
        Ok(Wad { bytes, header, entries, names, added: Vec::new() })
    }

    /// The header of the file, as it was read.
    pub fn header(&self) -> &WadHeader {
        &self.header
    }

    /// Whether its textures have palettes, as those of GoldSrc; Quake's have none.
    pub fn has_palettes(&self) -> bool {
        self.header.magic == *b"WAD3"
    }

    /// The entries, in the order of the directory.
    pub fn entries(&self) -> &[WadEntry] {
        &self.entries
    }

    /// The first entry of a name, as GoldSrc finds it: case does not count.
    pub fn find(&self, name: impl AsRef<[u8]>) -> Option<usize> {
        self.names.get(&name.as_ref().to_ascii_lowercase()).copied()
    }

    /// The texture of an entry.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such entry, or it is not a texture; [`ErrorKind::Malformed`] if its bytes
    /// are not in the file, or not a valid texture.
    pub fn miptex(&self, at: usize) -> Result<Miptex<'_>> {
        let no_entry =
            || Error::new(ErrorKind::NotFound, format!("there is no entry {at}, only {}", self.entries.len()));
        let entry = self.entries.get(at).ok_or_else(no_entry)?;
        let place = || Place::default().record(at);
        let name = escaped(entry.name.text()).to_string();
        let (wanted, with) = if self.has_palettes() { (MIPTEX, "with") } else { (BARE, "without") };
        if entry.kind != wanted {
            let message =
                format!("`{name}` is of kind {:#x}; textures {with} palettes are of kind {wanted:#x}", entry.kind);
            return Err(Error::new(ErrorKind::NotFound, message).at(place()));
        }
        if entry.compression != 0 {
            let message = format!("`{name}` is compressed, which no engine reads");
            return Err(Error::new(ErrorKind::Malformed, message).at(place()));
        }
        let start = u32::try_from(entry.offset).ok().map(index);
        let length = u32::try_from(entry.stored).ok().map(index);
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        let of_added = at.checked_sub(self.entries.len() - self.added.len()).map(|at| &self.added[at][..]);
        let of_file = || start.zip(end).and_then(|(start, end)| self.bytes.get(start..end));
        let bytes = of_added.or_else(of_file).ok_or_else(|| {
            let WadEntry { offset, stored, .. } = entry;
            let message =
                format!("`{name}`: {stored} bytes at {offset} are not in the file of {} bytes", wide(self.bytes.len()));
            Error::new(ErrorKind::Malformed, message).at(place())
        })?;
        let read = if self.has_palettes() { Miptex::read(bytes) } else { Miptex::read_bare(bytes) };
        let texture = read.map_err(|error| {
            Error::new(ErrorKind::Malformed, format!("`{name}` is not a valid texture")).at(place()).with_source(error)
        })?;
        match texture.is_embedded() {
            true => Ok(texture),
            false => Err(Error::new(ErrorKind::Malformed, format!("`{name}` has no pixels")).at(place())),
        }
    }
}
