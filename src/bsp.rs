//! The front door: a map with its dialect.

mod content;
mod records;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::bytes::{ByteOrder, Data, Rope};
use crate::dialect::{self, Detected, Dialect, Role};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::directory::DirectoryShape;
use crate::file::{Access, Container, Origin, Plan, Slot, SlotId, lzma};
use crate::near;
pub use content::Detection;
use content::Memo;
pub use records::{Column, ListName, Records};

/// A map: its bytes, and what they are. Immutable and cheap to clone; changes are made in a [`crate::Draft`].
///
/// ```
/// let bytes = std::fs::read("tests/maps/goldsrc/own_rooms.bsp")?;
/// let map = bspkit::Bsp::parse(&bytes)?;
/// assert_eq!(map.dialect().name, "goldsrc");
/// assert!(map.bytes(map.slot("entities")?.id)?.starts_with(b"{"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bsp<'a> {
    container: Container<'a>,
    dialect: &'static Dialect,
    version: i32,
    memo: Arc<Memo>,
}

impl<'a> Bsp<'a> {
    /// Reads a map from borrowed bytes. Only the directory is read, so the cost does not depend on the size of the
    /// file.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`], [`ErrorKind::Unsupported`] or [`ErrorKind::Ambiguous`], with one sentence that says
    /// what the file is. A damaged map opens.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        Bsp::from_data(Data::from(bytes), None)
    }

    /// Reads a map from owned or borrowed bytes, as the given dialect or as the detected one.
    ///
    /// # Errors
    /// As [`Bsp::parse`].
    pub fn from_data(data: Data<'a>, dialect: Option<&'static Dialect>) -> Result<Self> {
        let detected = match dialect {
            Some(dialect) => dialect.insist(&data)?,
            None => dialect::detect(&data)?,
        };
        Bsp::with_shape(data, detected.dialect, detected.version, detected.shape)
    }

    /// Reads a map of which dialect, version and directory are known. Nothing is detected from its content.
    ///
    /// # Errors
    /// The directory names what the file does not have.
    pub fn with_shape(data: Data<'a>, dialect: &'static Dialect, version: i32, shape: DirectoryShape) -> Result<Self> {
        let opaque = dialect.opaque_game_lumps.iter().find(|(opaque, _)| *opaque == version).map(|(_, why)| *why);
        let container = Container::parse(data, shape, &dialect.rules, |index| dialect.lump_name(index), opaque)?;
        Ok(Bsp { container, dialect, version, memo: Arc::default() })
    }

    /// The map with other bytes and versions of slots, to be looked at: [`Container::pending`].
    pub(crate) fn pending(&self, bytes: &BTreeMap<SlotId, Rope<'a>>, versions: &BTreeMap<SlotId, i32>) -> Self {
        let container = self.container.pending(bytes, versions);
        let mut map = Bsp { container, memo: Arc::default(), ..self.clone() };
        map.memo = Arc::new(self.memo.of_pending(&map));
        map
    }

    /// The map that a save of a plan wrote. It is mapped if this one is.
    pub(crate) fn saved(&self, plan: &Plan<'a>, origin: Option<Origin>) -> Result<Self> {
        let is_mapped = self.is_mapped();
        let (data, origin) = match origin.as_ref().filter(|_| is_mapped).and_then(Origin::map) {
            Some((data, origin)) => (data, Some(origin)),
            // The plan was made from other bytes than this map has now.
            None if is_mapped && plan.layout() == crate::Layout::Patch => {
                return Err(Error::new(ErrorKind::Io, "another program wrote into the map after it was saved"));
            }
            None if is_mapped => (Data::from(plan.to_vec()), origin),
            None => (plan.to_data(), origin),
        };
        let detected = Detected { dialect: self.dialect, version: self.version, shape: self.container.shape() };
        let mut bsp = Bsp::with_shape(data, detected.dialect, detected.version, detected.shape)?;
        bsp.container.origin = origin.map(Arc::new);
        Ok(bsp)
    }

    /// The dialect.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The version number as it is in the file.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// The byte order of numbers in the file.
    pub fn byte_order(&self) -> ByteOrder {
        self.container.shape().order()
    }

    /// A warning for users who compress lumps or files of this map: it names the games that cannot read them.
    ///
    /// ```
    /// let portal = bspkit::Bsp::open("tests/maps/source/room_v21.bsp")?;
    /// assert!(portal.compression_caveat().unwrap().contains("Portal 2"));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn compression_caveat(&self) -> Option<&'static str> {
        let caveats = self.dialect.compression_caveats.iter();
        caveats.filter(|(version, _)| *version == self.version).map(|(_, caveat)| *caveat).next()
    }

    /// The map revision of a Source map: how often its source was saved.
    pub fn revision(&self) -> Option<i32> {
        self.byte_order().word(self.container.bytes(), self.dialect.revision_at?)
    }

    /// The container: slots, segments and words of the file.
    pub fn container(&self) -> &Container<'a> {
        &self.container
    }

    /// Whether the map's bytes are those of a mapped file ([`Bsp::open_mapped`]).
    pub fn is_mapped(&self) -> bool {
        self.container.origin.as_ref().is_some_and(|origin| origin.is_mapped())
    }

    /// Refuses a map from [`Bsp::open_mapped`] into whose file another program wrote since it was opened: what was read
    /// of it may be of both files. Saves look by themselves; who prints or sends what a map has looks afterwards.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// assert!(map.check_mapped().is_ok(), "bytes that were read are the map's own");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn check_mapped(&self) -> Result<()> {
        self.container.origin.as_ref().map_or(Ok(()), |origin| origin.check_mapped())
    }

    /// Every slot: lumps by index, then the entries of other directories.
    pub fn slots(&self) -> &[Slot] {
        self.container.slots()
    }

    /// The lump with this role, if the dialect has one.
    pub fn role(&self, role: Role) -> Option<&Slot> {
        self.slots().get(self.dialect.role(role)?)
    }

    /// The role of a slot, if it has one.
    pub fn role_of(&self, slot: SlotId) -> Option<Role> {
        match slot {
            SlotId::Lump(index) => self.dialect.lumps.get(index)?.role,
            _ => None,
        }
    }

    /// Finds a slot by number, by the dialect's name or by role, in upper or lower case: `0`, `MARKSURFACES`,
    /// `leaffaces`, `game:sprp`, `bspx:RGBLIGHTING`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] with the names there are.
    pub fn slot(&self, name: &str) -> Result<&Slot> {
        let by_number = || name.parse().ok().and_then(|index| self.container.slot(SlotId::Lump(index)));
        let by_name = || self.slots().iter().find(|slot| slot.name.eq_ignore_ascii_case(name));
        let by_role = || {
            let role = Role::ALL.iter().find(|role| role.name().eq_ignore_ascii_case(name))?;
            self.role(*role)
        };
        by_number().or_else(by_name).or_else(by_role).ok_or_else(|| {
            let mut names: Vec<&str> = self.slots().iter().map(|slot| slot.name.as_str()).collect();
            names.extend(self.dialect.role_names());
            let error = Error::new(ErrorKind::NotFound, format!("the map has no lump {name}"));
            match name.contains(['[', ',']) {
                true => {
                    error.with_hint("a lump is one name; records of it are LUMP[3], LUMP[2..5] or LUMP[field=value]")
                }
                false => error.with_hint(near::or_all(name, &names, "it has")),
            }
        })
    }

    /// A slot's bytes as they are in the file; empty for an id that the map does not have.
    pub fn stored(&self, slot: SlotId) -> Data<'a> {
        self.container.stored(slot)
    }

    /// The size after decompression, in bytes; `None` unless the directory and the slot's bytes both say that it is
    /// compressed.
    pub fn decompressed_size(&self, slot: SlotId) -> Option<usize> {
        let claimed = self.container.slot(slot)?.unpacked.filter(|size| *size != 0)?;
        let size = lzma::decompressed_size(&self.stored(slot))?;
        (usize::try_from(claimed) == Ok(size)).then_some(size)
    }

    /// How many bytes a slot takes when it is decompressed: 0 if it is not compressed, and if its directory says more
    /// than [`lzma::MOST_DECOMPRESSED`], which is refused before anything is decompressed.
    pub fn memory_to_decompress(&self, slot: SlotId) -> usize {
        self.decompressed_size(slot).filter(|size| *size <= lzma::MOST_DECOMPRESSED).unwrap_or(0)
    }

    /// The flags of a member of the game lump; bit 0 says that it is compressed.
    pub fn member_flags(&self, slot: SlotId) -> Option<u16> {
        self.container.slot(slot)?.flags(self.container.bytes())
    }

    /// The difference, if the directory and a slot's bytes disagree about whether it is compressed.
    pub fn compression_oddity(&self, slot: SlotId) -> Option<&'static str> {
        let found = self.container.slot(slot)?;
        let says_packed = match found.words.flags {
            Some(_) => self.member_flags(slot).is_some_and(|flags| flags & 1 != 0),
            None => found.unpacked.is_some_and(|size| size != 0),
        };
        let seems_packed = lzma::decompressed_size(&self.stored(slot)).is_some();
        match (says_packed, self.decompressed_size(slot).is_some(), seems_packed) {
            (true, false, true) => Some("is compressed to another size than the directory says"),
            (true, false, false) if self.stored(slot).starts_with(b"LZMA") => {
                Some("is compressed, and its header says that it has more bytes than there are")
            }
            (true, false, false) => Some("is compressed according to the directory, but its bytes are not"),
            (false, _, true) => Some("seems to be compressed, but not according to the directory"),
            _ => None,
        }
    }

    /// Compresses bytes for this map.
    pub(crate) fn pack(&self, bytes: &[u8], level: lzma::Level) -> Result<Vec<u8>> {
        lzma::compress_for(bytes, self.dialect.rules.dictionary, level)
    }

    /// The error for a slot whose bytes and directory disagree about its compression.
    pub(crate) fn odd_compression(&self, slot: SlotId, oddity: &str) -> Error {
        let name = self.container.slot(slot).map_or("", |slot| slot.name.as_str());
        let hint = "its stored bytes can be read as they are";
        Error::new(ErrorKind::Malformed, format!("{name} {oddity}")).at(Place::default().lump(name)).with_hint(hint)
    }

    /// A slot's bytes, decompressed if they are compressed. Numbers in them have the file's byte order, which
    /// [`crate::Draft::set`] expects too.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] or [`ErrorKind::TooLarge`] if they cannot be decompressed.
    pub fn bytes(&self, slot: SlotId) -> Result<Data<'a>> {
        let stored = self.stored(slot);
        let name = || self.container.slot(slot).map_or("", |slot| slot.name.as_str());
        // If a lump's bytes do not look compressed, the directory's claim is ignored and the bytes are used as they
        // are. For a member of the game lump this is an error, since its length has no meaning then.
        let found = self.container.slot(slot);
        let says_packed = found.is_some_and(|slot| slot.unpacked.is_some_and(|size| size != 0));
        let is_member = matches!(slot, SlotId::Game(_));
        let is_told = says_packed && (is_member || stored.starts_with(b"LZMA"));
        if let Some(oddity) = self.compression_oddity(slot).filter(|_| is_told) {
            return Err(self.odd_compression(slot, oddity));
        }
        match self.decompressed_size(slot) {
            None => Ok(stored),
            Some(_) => self.unpacked(slot).map_err(|error| error.at(Place::default().lump(name()))),
        }
    }
}

impl Bsp<'static> {
    /// Opens a map. The whole file is read: what other programs do with it later changes nothing here.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], also if another program writes into the file meanwhile; or as [`Bsp::parse`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Bsp::open_file(path.as_ref(), None, Access::Read)
    }

    /// Opens a map as the given dialect, without detection.
    ///
    /// # Errors
    /// As [`Bsp::open`].
    pub fn open_as(path: impl AsRef<Path>, dialect: &'static Dialect) -> Result<Self> {
        Bsp::open_file(path.as_ref(), Some(dialect), Access::Read)
    }

    /// Opens a map, and maps the file where [`Bsp::open`] reads it: nothing is read before it is needed, which for
    /// large files saves time and memory. Small files, files that cannot be mapped, and all files on Windows are read.
    ///
    /// Mapped bytes are the file's. If another program writes into the file while the map is in use, they change
    /// ([`Bsp::check_mapped`] notices it); if another program shortens the file, the system ends the process by SIGBUS,
    /// unless the process handles that signal, as the program `bspkit` does. Only a file that is replaced as a whole,
    /// as saves do it, changes nothing. Who cannot make sure of that uses [`Bsp::open`].
    ///
    /// # Errors
    /// As [`Bsp::open`].
    #[cfg(feature = "mmap")]
    pub fn open_mapped(path: impl AsRef<Path>, dialect: Option<&'static Dialect>) -> Result<Self> {
        Bsp::open_file(path.as_ref(), dialect, Access::Map)
    }

    fn open_file(path: &Path, dialect: Option<&'static Dialect>, access: Access) -> Result<Self> {
        let (data, origin) = crate::file::read(path, access)?;
        let mut bsp = Bsp::from_data(data, dialect)?;
        bsp.container.origin = origin.map(Arc::new);
        Ok(bsp)
    }

    /// Reads a map from a vector of bytes.
    ///
    /// # Errors
    /// As [`Bsp::parse`].
    pub fn from_vec(bytes: Vec<u8>) -> Result<Self> {
        Bsp::from_data(Data::from(bytes), None)
    }
}
