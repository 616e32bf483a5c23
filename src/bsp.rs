//! The front door: a map with its dialect.

mod link;
mod links;

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::bytes::{ByteOrder, Data, Rope};
use crate::dialect::{self, Detected, Dialect, Facts, Form, Key, List, Records, Role, Row};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::{Access, Bounds, Container, Origin, Plan, Slot, SlotId, lzma};
use crate::near;
use crate::record::{Record, Table};
pub(crate) use link::{How, Link, Unless, Word, star};
pub(crate) use links::{Links, Site};

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
        Bsp::with_shape(data, &detected)
    }

    /// Reads a map of which dialect, version and directory are known. Nothing is detected from its content.
    pub(crate) fn with_shape(data: Data<'a>, detected: &Detected) -> Result<Self> {
        let Detected { dialect, version, shape } = *detected;
        let opaque = dialect.opaque_game_lumps.iter().find(|(opaque, _)| *opaque == version).map(|(_, why)| *why);
        let container = Container::parse(data, shape, &dialect.rules, |index| dialect.lump_name(index), opaque)?;
        Ok(Bsp { container, dialect, version })
    }

    /// The map with other bytes and versions of slots, to be looked at: [`Container::pending`].
    pub(crate) fn pending(&self, bytes: &BTreeMap<SlotId, Rope<'a>>, versions: &BTreeMap<SlotId, i32>) -> Self {
        Bsp { container: self.container.pending(bytes, versions), ..self.clone() }
    }

    /// The map that a save of a plan wrote. It is mapped if this one is.
    pub(crate) fn saved(&self, plan: &Plan<'a>, origin: Option<Origin>) -> Result<Self> {
        let is_mapped = self.is_mapped();
        let (data, origin) = match origin.as_ref().filter(|_| is_mapped).and_then(Origin::map) {
            Some((data, origin)) => (data, Some(origin)),
            None if is_mapped => (Data::from(plan.to_vec()), origin),
            None => (plan.to_data(), origin),
        };
        let detected = Detected { dialect: self.dialect, version: self.version, shape: self.container.shape() };
        let mut bsp = Bsp::with_shape(data, &detected)?;
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
            Error::new(ErrorKind::NotFound, format!("the map has no lump {name}"))
                .with_hint(near::or_all(name, &names, "it has"))
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
            (true, false, false) => Some("is compressed according to the directory, but its bytes are not"),
            (false, _, true) => Some("seems to be compressed, but not according to the directory"),
            _ => None,
        }
    }

    /// Compresses bytes for this map.
    pub(crate) fn pack(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        lzma::compress_for(bytes, self.dialect.rules.dictionary)
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
            Some(_) => {
                lzma::decompress(&stored).map(Data::from).map_err(|error| error.at(Place::default().lump(name())))
            }
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

// Lumps as records: which row of the dialect's table describes a lump, and the records themselves.

/// The result of [`Bsp::detection`] for a lump.
pub(crate) struct Detection {
    pub(crate) row: Result<&'static Row, String>,
    /// If the row was chosen although its proof failed: the reason.
    pub(crate) misfit: Option<String>,
    /// Whether the detection needs another lump that cannot be read.
    pub(crate) is_unread: bool,
    /// Whether no row fits, and the row is that of a map of the usual structs.
    pub(crate) is_guess: bool,
}

impl Detection {
    pub(crate) fn plainly(row: Result<&'static Row, String>) -> Self {
        Detection { row, misfit: None, is_unread: false, is_guess: false }
    }
}

impl<'a> Bsp<'a> {
    /// The row of the dialect's table that describes a slot's content. If several structs are known for a lump, the
    /// struct is detected from how the sizes of the lumps agree.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with a sentence that says why the content is not known.
    pub fn row(&self, slot: &Slot) -> Result<&'static Row> {
        // The proofs of several rows read the same lumps, which may have to be decompressed.
        let read: RefCell<HashMap<SlotId, Result<Data<'a>, String>>> = RefCell::default();
        let bytes = |id: SlotId| {
            read.borrow_mut().entry(id).or_insert_with(|| self.bytes(id).map_err(|error| error.to_string())).clone()
        };
        self.detection(slot, &bytes, |facts, row| row.is_summed && (self.dialect().checks.is_usual)(facts))
            .row
            .map_err(|why| Error::new(ErrorKind::Unsupported, why))
    }

    /// As [`Self::row`], with lumps that have been read already. If no row fits the lump, but `is_usual` says of a row
    /// that the map as a whole has the known structs, the row of the lump's own version is taken, provided that the
    /// lump is whole records of it.
    pub(crate) fn detection(
        &self,
        slot: &Slot,
        read: &dyn Fn(SlotId) -> Result<Data<'a>, String>,
        is_usual: impl Fn(&Facts<'_>, &Row) -> bool,
    ) -> Detection {
        let version = self.version();
        let rows = self.dialect().rows_of(&slot.name);
        let rows = rows.filter(|row| row.is_of(version));
        let is_its_version = |row: &&Row| slot.version.is_some_and(|version| row.versions.contains(&version));
        let mut rows: Vec<&'static Row> = rows.collect();
        // Rows of the lump's version come first, then rows of any version.
        rows.sort_by_key(|row| if is_its_version(row) { 0 } else { 1 + usize::from(!row.versions.is_empty()) });
        let unread: RefCell<Option<String>> = RefCell::default();
        let miss = |slot: &Slot, error: &str| {
            let why = || format!("its content is detected from {}, which cannot be read: {error}", slot.name);
            unread.borrow_mut().get_or_insert_with(why);
        };
        let len = |name: &str| {
            let other = self.named(name)?;
            if let Some(oddity) = self.compression_oddity(other.id).filter(|_| other.id != slot.id) {
                miss(other, &format!("it {oddity}"));
            }
            Some(self.claimed_len(other))
        };
        let bytes = |name: &str| {
            let other = self.named(name)?;
            read(other.id).map_err(|error| miss(other, &error)).ok()
        };
        let own_len = self.claimed_len(slot);
        let is_whole = |row: &Row| row.record().is_some_and(|record| own_len.is_multiple_of(record.size));
        let is_ragged = !rows.iter().any(|row| is_whole(row));
        let facts = |is_exact, is_likely| Facts {
            dialect: self.dialect(),
            version,
            order: self.byte_order(),
            lump_version: slot.version,
            is_exact,
            is_likely,
            len: &len,
            bytes: &bytes,
        };
        let mut why = None;
        // First require exact sizes, then allow trailing bytes: a ragged lump is still described by its row.
        for (is_exact, row) in [true, false].into_iter().flat_map(|exact| rows.iter().map(move |row| (exact, *row))) {
            // A lump of whole records of one struct is not a ragged lump of another.
            if !is_exact && row.record().is_some() && !is_ragged && !is_whole(row) {
                continue;
            }
            let facts = facts(is_exact, false);
            let holds = match row.proof {
                _ if own_len == 0 => Ok(()),
                Some(proof) => proof(&facts, row),
                None if row.versions.is_empty() || is_its_version(&row) => Ok(()),
                None => Err(format!("its version {} is not known", slot.version.unwrap_or(0))),
            };
            match (holds, row.form) {
                (Ok(()), Form::Opaque(why)) => return Detection::plainly(Err(why.to_owned())),
                (Ok(()), _) => return Detection::plainly(Ok(row)),
                (Err(reason), _) => why = why.or(Some(reason)),
            }
        }
        let unread = unread.take();
        let why = unread.clone().or(why).unwrap_or_else(|| "its content is not known".to_owned());
        let facts = facts(true, true);
        let likely = rows.iter().copied().filter(|row| is_whole(row) && row.proof.is_some());
        let likely: Vec<&'static Row> = likely.take_while(|row| is_usual(&facts, row)).collect();
        let misfit = |row: &Row| row.proof.and_then(|proof| proof(&facts, row).err());
        let fits = likely.iter().copied().find(|row| misfit(row).is_none());
        match fits.or(likely.first().copied()) {
            Some(row) => {
                let misfit = misfit(row).filter(|_| unread.is_none());
                Detection { row: Ok(row), misfit, is_unread: unread.is_some(), is_guess: true }
            }
            None => Detection { is_unread: unread.is_some(), ..Detection::plainly(Err(why)) },
        }
    }

    /// A slot's bytes as [`Bsp::bytes`] returns them, but with all known numbers little-endian, also in a big-endian
    /// file. Records and lenses are read from these.
    pub(crate) fn little_endian(&self, slot: SlotId) -> Result<Data<'a>> {
        self.bytes(slot).map(|bytes| self.in_little_endian(slot, bytes))
    }

    /// Converts a slot's bytes from the file's byte order to little-endian.
    pub(crate) fn in_little_endian<'b>(&self, slot: SlotId, bytes: Data<'b>) -> Data<'b> {
        self.by_row(slot, bytes, ByteOrder::Big)
    }

    /// Converts a slot's bytes from little-endian to the file's byte order.
    pub(crate) fn in_own_order<'b>(&self, slot: SlotId, bytes: Data<'b>) -> Data<'b> {
        self.by_row(slot, bytes, ByteOrder::Little)
    }

    fn by_row<'b>(&self, slot: SlotId, bytes: Data<'b>, from: ByteOrder) -> Data<'b> {
        if self.byte_order() == ByteOrder::Little {
            return bytes;
        }
        match self.container().slot(slot).and_then(|slot| self.row(slot).ok()) {
            Some(row) => self.byte_swapped(row, bytes, from),
            None => bytes,
        }
    }

    /// The bytes of a lump that this row describes, byte-swapped if the file is big-endian.
    pub(crate) fn byte_swapped<'b>(&self, row: &Row, bytes: Data<'b>, from: ByteOrder) -> Data<'b> {
        match self.byte_order() {
            ByteOrder::Big if row.has_numbers() => {
                let mut bytes = bytes.to_vec();
                row.byte_swap(&mut bytes, from);
                Data::from(bytes)
            }
            _ => bytes,
        }
    }

    /// The ranges of records in a slot's bytes: one for an array, one per list for lists, none for other content.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if a list does not fit; otherwise as [`Bsp::bytes`].
    pub fn records(&self, slot: &Slot) -> Result<Vec<Records>> {
        match self.row(slot) {
            Ok(row) => self.parts(row, slot, &self.byte_swapped(row, self.bytes(slot.id)?, ByteOrder::Big)),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The records of a lump.
    ///
    /// ```
    /// use bspkit::dialect::quake2;
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// assert_eq!(map.table(quake2::MODELS)?.get(0)?.first_face, 0);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has no such lump, [`ErrorKind::Unsupported`] if it has other records or
    /// none, [`ErrorKind::Malformed`] if a list does not fit; otherwise as [`Bsp::bytes`].
    pub fn table<R: Record>(&self, key: Key<R>) -> Result<Table<'a, R>> {
        let (slot, row) = self.keyed(key)?;
        let bytes = self.byte_swapped(row, self.bytes(slot)?, ByteOrder::Big);
        let is_list = |list: &List| list.name == key.list_name() && (list.record.type_id)() == TypeId::of::<R>();
        match row.form {
            // An empty lump does not even have the counts of its lists.
            Form::Lists(lists) if bytes.is_empty() && lists.iter().any(is_list) => Ok(Table::new(key.lump(), bytes)),
            _ => self.part(key, row, &bytes).map(|(part, _)| Table::new(key.lump(), bytes.slice(part))),
        }
    }

    /// The slot of a key and the row that describes it.
    pub(crate) fn keyed<R: Record>(&self, key: Key<R>) -> Result<(SlotId, &'static Row)> {
        let slot = self.slot(key.lump())?;
        let row = self.known_row(slot)?;
        Ok((slot.id, row))
    }

    /// As [`Bsp::row`], with an error that names the slot.
    pub(crate) fn known_row(&self, slot: &Slot) -> Result<&'static Row> {
        self.row(slot).map_err(|why| {
            let message = format!("the content of {} is not known: {why}", slot.name);
            Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(&slot.name))
        })
    }

    /// The range of a key's records in the bytes of its slot, and the offset of their count if they have one.
    pub(crate) fn part<R: Record>(
        &self,
        key: Key<R>,
        row: &'static Row,
        bytes: &[u8],
    ) -> Result<(std::ops::Range<usize>, Option<usize>)> {
        let parts = row.parts(bytes).map_err(|error| error.at(Place::default().lump(key.lump())))?;
        let part = parts.into_iter().find(|part| part.list == key.list_name());
        let part = part.filter(|part| (part.record.type_id)() == TypeId::of::<R>());
        let part = part.ok_or_else(|| self.other_records(key.lump(), row, R::INFO.name))?;
        Ok((part.range, part.count_at))
    }

    fn other_records(&self, lump: &str, row: &Row, asked: &str) -> Error {
        let there = match row.form {
            Form::Array(record) if record.name == asked => "other records of that name".to_owned(),
            Form::Array(record) => format!("records of the type {}", record.name),
            Form::Lists(lists) => {
                let names: Vec<_> = lists.iter().map(|list| format!("{} ({})", list.name, list.record.name)).collect();
                format!("the lists {}", names.join(", "))
            }
            Form::Lens(what) => what.to_owned(),
            Form::Opaque(_) => "bytes".to_owned(),
        };
        let message = format!("{lump} of this map holds {there}, not {asked}");
        Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(lump))
    }

    /// As [`Row::parts`], with an error that names the slot.
    pub(crate) fn parts(&self, row: &Row, slot: &Slot, bytes: &Data<'_>) -> Result<Vec<Records>> {
        row.parts(bytes).map_err(|error| error.at(Place::default().lump(&slot.name)))
    }

    fn named(&self, name: &str) -> Option<&Slot> {
        self.slots().iter().find(|slot| slot.name == name)
    }

    /// The size of a slot in bytes, decompressed. For a truncated slot it is the length that the directory claims: its
    /// type does not depend on the truncation.
    fn claimed_len(&self, slot: &Slot) -> usize {
        match slot.bounds {
            Bounds::Overrun | Bounds::Outside => usize::try_from(slot.length).unwrap_or(0),
            _ => self.len(slot),
        }
    }

    /// The size of a slot in bytes, decompressed.
    pub(crate) fn len(&self, slot: &Slot) -> usize {
        self.decompressed_size(slot.id).unwrap_or(slot.stored.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::SOURCE360;
    use crate::{Bsp, Builder, Data};

    /// Byte-swapping noise twice restores it, in lumps whose numbers are located by other numbers.
    #[test]
    fn noise_that_is_swapped_twice_is_as_it_was() {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        let mut swapped = 0;
        for len in 0..400_usize {
            let mut noise = || -> Vec<u8> {
                // Small numbers at the start, so that counts mean something.
                (0..len)
                    .map(|at| if at % 4 == 3 { next() % 8 } else { if next() % 4 == 0 { next() } else { 0 } })
                    .collect()
            };
            let lumps = [4, 9, 28, 29, 1, 45].map(|lump| (lump, noise()));
            let builder = Builder::new(&SOURCE360).game_lump(*b"sprp", 6, noise()).game_lump(*b"dprp", 4, noise());
            let builder = lumps.iter().fold(builder, |builder, (lump, bytes)| builder.lump(*lump, bytes.clone()));
            let map = Bsp::from_vec(builder.lump_version(9, 2).build().unwrap()).unwrap();
            for slot in map.slots() {
                let (stored, little) = (map.bytes(slot.id).unwrap(), map.little_endian(slot.id).unwrap());
                swapped += usize::from(*stored != *little);
                assert_eq!(*map.in_own_order(slot.id, Data::clone(&little)), *stored, "{len}: {}", slot.name);
            }
        }
        assert!(swapped > 1000);
    }
}
