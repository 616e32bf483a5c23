//! WAD files: GoldSrc reads textures from them that maps only name (`wadinfo_t` and `lumpinfo_t` of the Half-Life SDK's
//! compilers). Quake's have the same form, and textures without palettes; its compilers read them.

use std::collections::HashMap;

use super::textures::Miptex;
use crate::bytes::{Data, escaped, index, wide};
use crate::content::textures::LEVELS;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Field, Name, Record, records};

/// The WAD files that a map names: the value of `wad` of worldspawn, without the folders of its author's disk.
///
/// ```
/// let names: Vec<&[u8]> = bspkit::content::wad::named(b"\\half-life\\valve\\own.wad;d:/x/Other.wad;").collect();
/// assert_eq!(names, [&b"own.wad"[..], b"Other.wad"]);
/// ```
pub fn named(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let paths = value.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let names = paths.filter_map(|path| path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next());
    names.filter(|name| !name.is_empty())
}

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
            names.entry(entry.name.bytes().to_ascii_lowercase()).or_insert(index);
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
        let name = entry.name.to_string();
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

// New entries. They are laid after all that is there, each at a multiple of 4, and the new directory after them.

/// Where lumps begin.
const ALIGNMENT: usize = 4;

impl Wad<'_> {
    /// A file without entries: GoldSrc's, whose textures have palettes, or Quake's.
    pub fn new(has_palettes: bool) -> Wad<'static> {
        let magic = if has_palettes { *b"WAD3" } else { *b"WAD2" };
        let header = WadHeader { magic, count: 0, offset: i32::try_from(WadHeader::SIZE).unwrap_or_default() };
        let bytes = Data::from(header.encode());
        Wad { bytes, header, entries: Vec::new(), names: HashMap::new(), added: Vec::new() }
    }

    /// Adds a texture with its pixels, byte for byte. Returns false, and adds nothing, if an entry of this name has the
    /// same image, smaller copies and palette.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if an entry of this name is another one, for a texture without pixels or without a name,
    /// and for one of another game: with a palette or without; [`ErrorKind::TooLarge`] if the file would be larger than
    /// 2 GiB. As [`Wad::miptex`] if the entry of this name cannot be read.
    pub fn add(&mut self, texture: &Miptex<'_>) -> Result<bool> {
        let name = escaped(texture.name()).to_string();
        let refused = |why: String| Err(Error::new(ErrorKind::Refused, why));
        if texture.has_palette() != self.has_palettes() {
            let has = if texture.has_palette() { "a palette" } else { "no palette" };
            let magic = String::from_utf8_lossy(&self.header.magic).into_owned();
            return refused(format!("`{name}` has {has}, and does not belong into a file of kind {magic}"));
        }
        if !texture.is_embedded() {
            return refused(format!("`{name}` has no pixels"));
        }
        if let Some(at) = self.find(texture.name()) {
            return match is_same(&self.miptex(at)?, texture) {
                true => Ok(false),
                false => refused(format!("the WAD file has another texture with the name `{name}`")),
            };
        }
        let mut own = Name([0; 16]);
        if texture.name().is_empty() || !own.set(texture.name()) {
            return refused(format!("a WAD file cannot have the name `{name}`"));
        }
        let too_large = || Error::new(ErrorKind::TooLarge, "a WAD file cannot be larger than 2 GiB");
        let bytes = texture.bytes().to_vec();
        let start = self.end();
        let directory = (self.entries.len() + 1).saturating_mul(WadEntry::SIZE);
        let end = start.saturating_add(bytes.len()).saturating_add(ALIGNMENT).saturating_add(directory);
        let word = |number: usize| i32::try_from(number).map_err(|_| too_large());
        let (offset, size, _) = (word(start)?, word(bytes.len())?, word(end)?);
        let kind = if self.has_palettes() { MIPTEX } else { BARE };
        let entry = WadEntry { offset, stored: size, size, kind, compression: 0, padding: [0; 2], name: own };
        self.names.insert(texture.name().to_ascii_lowercase(), self.entries.len());
        self.entries.push(entry);
        self.added.push(bytes);
        Ok(true)
    }

    /// Whether textures were added.
    pub fn is_edited(&self) -> bool {
        !self.added.is_empty()
    }

    /// The textures that were added, in their order.
    ///
    /// # Errors
    /// As [`Wad::miptex`].
    pub fn added(&self) -> impl Iterator<Item = Result<Miptex<'_>>> {
        (self.entries.len() - self.added.len()..self.entries.len()).map(|at| self.miptex(at))
    }

    /// The file. Without an addition these are the bytes that were read. A directory at the end of the old file gives
    /// way to the new one; one at another place stays, unused.
    pub fn to_bytes(&self) -> Vec<u8> {
        if !self.is_edited() {
            return self.bytes.to_vec();
        }
        let mut out = self.bytes[..self.old_end()].to_vec();
        for bytes in &self.added {
            out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
            out.extend_from_slice(bytes);
        }
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
        // `add` has checked that both numbers fit.
        let [count, offset] = [self.entries.len(), out.len()].map(|number| i32::try_from(number).unwrap_or_default());
        let header = WadHeader { count, offset, ..self.header };
        out[..WadHeader::SIZE].copy_from_slice(&header.encode());
        self.entries.iter().for_each(|entry| out.extend_from_slice(&entry.encode()));
        out
    }

    /// Where the next entry begins.
    fn end(&self) -> usize {
        let last = self.entries.last().filter(|_| self.is_edited());
        let end = last.map_or_else(|| self.old_end(), |last| place(last.offset) + place(last.stored));
        end.next_multiple_of(ALIGNMENT)
    }

    /// Where the old bytes end that stay: before the directory, if it is the last thing in the file.
    fn old_end(&self) -> usize {
        let start = place(self.header.offset);
        let old = &self.entries[..self.entries.len() - self.added.len()];
        let is_last = start + old.len() * WadEntry::SIZE == self.bytes.len() && start >= WadHeader::SIZE;
        let is_free = old.iter().all(|entry| place(entry.offset).saturating_add(place(entry.stored)) <= start);
        if is_last && is_free { start } else { self.bytes.len() }
    }
}

/// A word as an offset or a size; a negative one is 0.
fn place(word: i32) -> usize {
    u32::try_from(word).map_or(0, index)
}

/// Whether two textures look the same, in all sizes. Padding does not count, nor how the name is written.
fn is_same(one: &Miptex<'_>, other: &Miptex<'_>) -> bool {
    let size = |texture: &Miptex<'_>| (texture.width(), texture.height());
    size(one) == size(other)
        && one.palette() == other.palette()
        && (0..LEVELS).all(|level| one.pixels(level) == other.pixels(level))
}
