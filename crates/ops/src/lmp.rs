//! Lump files: one lump of a Source map in its own file (`lumpfileheader_t` of bspfile.h). Engines from Episode One to
//! Left 4 Dead 2 load `<map>_l_0.lmp` and the following ones in place of the lumps of the map.

use bspkit::bytes::{ByteOrder, Data, index};
use bspkit::dialect::Role;
use bspkit::file::directory::{GameLumpEntry, LumpFileHeader};
use bspkit::file::{Layout, Slot, SlotId, lzma};
use bspkit::record::{Field, Record};
use bspkit::{Bsp, Compression, Draft, Error, ErrorKind, Place, Result};

/// A lump file.
///
/// ```
/// use bspkit_ops::lmp::LumpFile;
/// use bspkit::{Bsp, Builder, SlotId, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).lump(0, "{\n}\n\0").revision(7).build()?;
/// let file = LumpFile::export(&Bsp::parse(&bytes)?, SlotId::Lump(0))?;
/// assert_eq!((file.id, file.revision, &file.payload[..]), (0, 7, &b"{\n}\n\0"[..]));
/// assert_eq!(LumpFile::parse(&file.to_bytes()?)?, file);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LumpFile {
    /// The lump's index.
    pub id: usize,
    /// The lump's own version.
    pub version: i32,
    /// The revision of the map for which it was made.
    pub revision: i32,
    /// The lump's bytes, decompressed. A game lump has the offsets of the map from which it was exported.
    pub payload: Vec<u8>,
    /// Warnings about the file, for the user.
    pub warnings: Vec<String>,
}

/// The number of bytes that may be missing: some real files lack the NUL that their header counts.
const MAY_LACK: usize = 1;

impl LumpFile {
    /// Exports a lump of a map: decompressed, with its version in the directory.
    ///
    /// The members of a game lump stay as they are stored, also compressed ones, with their offsets in the map.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for maps without lump files and slots that are not lumps of the directory,
    /// [`ErrorKind::Malformed`] for a lump that is damaged; as [`Bsp::bytes`].
    pub fn export(bsp: &Bsp<'_>, slot: SlotId) -> Result<Self> {
        let revision = revision(bsp)?;
        let no_lump = || Error::new(ErrorKind::NotFound, format!("the map has no {slot}"));
        let found = bsp.container().slot(slot).ok_or_else(no_lump)?;
        let (SlotId::Lump(id), Some(version)) = (slot, found.version) else {
            let message = "a lump file holds a whole lump of the directory, and this slot is not one";
            return Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(&found.name)));
        };
        if found.bounds.is_damaged() {
            let message = format!("{} {}", found.name, found.bounds);
            return Err(Error::new(ErrorKind::Malformed, message).at(Place::default().lump(&found.name)));
        }
        let payload = match bsp.role_of(slot) {
            Some(Role::GameLump) => unpacked_members(bsp, slot)?,
            _ => bsp.bytes(slot)?.to_vec(),
        };
        Ok(LumpFile { id, version, revision, payload, warnings: Vec::new() })
    }

    /// Reads a lump file.
    ///
    /// Many real files are slightly wrong. So a payload that is one byte short is accepted, and bytes after the payload
    /// are dropped; [`LumpFile::warnings`] says so. A compressed payload with the header of compressed lumps, as
    /// vbspinfo writes it, is decompressed.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] for anything else; as [`lzma::decompress`].
    ///
    /// ```
    /// use bspkit_ops::lmp::LumpFile;
    /// assert!(LumpFile::parse(b"an image of another game's").is_err());
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let malformed = |what: String| Error::new(ErrorKind::Malformed, what);
        let header = LumpFileHeader::decode(bytes);
        let LumpFileHeader { lump_offset, id, version, length, revision } = header.ok_or_else(|| {
            malformed(format!(
                "the lump file ends within its header: {} of {} bytes",
                bytes.len(),
                LumpFileHeader::SIZE
            ))
        })?;
        let no_lump_file = |what: String| malformed(format!("this is not a lump file of a Source map: {what}"));
        let start =
            usize::try_from(lump_offset).ok().filter(|start| (LumpFileHeader::SIZE..=bytes.len()).contains(start));
        let start =
            start.ok_or_else(|| no_lump_file(format!("its header says that the lump begins at {lump_offset}")))?;
        let id = usize::try_from(id).map_err(|_| no_lump_file(format!("its header says that it holds lump {id}")))?;
        let length = usize::try_from(length)
            .map_err(|_| no_lump_file(format!("its header says that the lump has {length} bytes")))?;

        let mut warnings = Vec::new();
        if start != LumpFileHeader::SIZE {
            warnings
                .push(format!("the lump begins at {start}, not at {} as in other lump files", LumpFileHeader::SIZE));
        }
        let there = &bytes[start..];
        if there.len() + MAY_LACK < length {
            return Err(malformed(format!("the lump file is cut short: {} of {length} bytes are there", there.len())));
        }
        if there.len() < length {
            warnings.push(format!("the header says {length} bytes, but the file has {}", there.len()));
        }
        if there.len() > length {
            let after = there.len() - length;
            warnings.push(format!("{after} bytes after the lump's {length} are dropped"));
        }
        let mut payload = there[..length.min(there.len())].to_vec();
        if lzma::decompressed_size(&payload).is_some() {
            payload = lzma::decompress(&payload)?;
            warnings.push("the lump is compressed in the file, which engines do not read; it is decompressed".into());
        }
        Ok(LumpFile { id, version, revision, payload, warnings })
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] past 2 GiB.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let too_large = |_| Error::new(ErrorKind::TooLarge, "a lump file has at most 2 GiB");
        let lump_offset = i32::try_from(LumpFileHeader::SIZE).map_err(too_large)?;
        let (id, length) = (i32::try_from(self.id), i32::try_from(self.payload.len()));
        let (id, length) = (id.map_err(too_large)?, length.map_err(too_large)?);
        let header = LumpFileHeader { lump_offset, id, version: self.version, length, revision: self.revision };
        Ok([&header.encode(), &self.payload[..]].concat())
    }

    /// Replaces the lump in a draft, with its version, and returns warnings for the user.
    ///
    /// An entity text without a NUL at its end gets one. The offsets in a game lump are rebased to the place of the
    /// map's lump: its members follow its directory and fill it, or they are where they fit in the map's lump.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for maps without lump files and game lumps whose offsets cannot be read,
    /// [`ErrorKind::NotFound`] for a lump that the map's directory has no entry for.
    ///
    /// ```
    /// use bspkit_ops::lmp::LumpFile;
    /// use bspkit::{Bsp, Builder, Layout, SlotId, dialect};
    /// let bytes = Builder::new(&dialect::SOURCE).lump(0, "{\n}\n\0").build()?;
    /// let map = Bsp::parse(&bytes)?;
    /// let mut file = LumpFile::export(&map, SlotId::Lump(0))?;
    /// file.payload = b"{\n\"classname\" \"worldspawn\"\n}\n\0".to_vec();
    ///
    /// let mut draft = map.draft();
    /// assert!(file.import(&mut draft)?.is_empty());
    /// let saved = draft.plan(Layout::Keep)?.to_vec();
    /// assert_eq!(Bsp::parse(&saved)?.entities()?.len(), 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn import(&self, draft: &mut Draft<'_>) -> Result<Vec<String>> {
        let mut warnings = self.warnings.clone();
        let revision = revision(draft.bsp())?;
        let slot = SlotId::Lump(self.id);
        let Some(found) = draft.bsp().container().slot(slot).cloned() else {
            let count = draft.bsp().container().shape().count;
            let message = format!("the lump file holds lump {}, and the map has {count} lumps", self.id);
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        if revision != self.revision {
            let made_for = self.revision;
            warnings.push(format!("the lump file was made for revision {made_for} of the map, and this is {revision}"));
        }
        let is_same = |own: LumpFile| (own.version, &own.payload) == (self.version, &self.payload);
        if !draft.changes()?.contains(&slot)
            && draft.bsp().role_of(slot) == Some(Role::GameLump)
            && Self::export(draft.bsp(), slot).is_ok_and(is_same)
        {
            // Members that are compressed in the map stay so.
            return Ok(warnings);
        }
        let mut payload = self.payload.clone();
        match draft.bsp().role_of(slot) {
            Some(Role::Entities) => {
                let end = payload.iter().rposition(|byte| !byte.is_ascii_whitespace());
                if !payload.contains(&0) {
                    payload.push(0);
                    warnings.push("the entity text has no NUL at its end: one is added".into());
                } else if end.is_some_and(|end| end + 1 < payload.len() && payload[end] == 0) {
                    warnings.push("the entity text continues after its NUL".into());
                }
            }
            Some(Role::GameLump) => {
                let to = usize::try_from(found.offset).unwrap_or(0);
                let refuse = |why: String| {
                    let message = format!("the game lump of the lump file cannot be moved to this map: {why}");
                    Error::new(ErrorKind::Refused, message).at(Place::default().lump(&found.name))
                };
                if let Some(reason) = draft.bsp().container().pinned(slot) {
                    return Err(refuse(format!("the map's own is pinned, as {reason}")));
                }
                rebase(&mut payload, to).map_err(refuse)?;
            }
            _ => {}
        }
        draft.transaction(|draft| {
            draft.set(slot, payload)?;
            draft.set_version(slot, self.version)
        })?;
        Ok(warnings)
    }
}

/// A game lump with decompressed members and the offsets that it would have in its place in the map.
fn unpacked_members(bsp: &Bsp<'_>, slot: SlotId) -> Result<Vec<u8>> {
    let packed = |slot: &&Slot| matches!(slot.id, SlotId::Game(_)) && bsp.decompressed_size(slot.id).is_some();
    let members: Vec<SlotId> = bsp.slots().iter().filter(packed).map(|slot| slot.id).collect();
    if members.is_empty() {
        return Ok(bsp.stored(slot).to_vec());
    }
    let mut draft = bsp.draft();
    for member in members {
        draft.set_compression(member, Compression::Raw)?;
    }
    let unpacked = draft.plan(Layout::Append)?.to_vec();
    let unpacked = Bsp::from_data(Data::from(unpacked), Some(bsp.dialect()))?;
    Ok(unpacked.stored(slot).to_vec())
}

/// The map's revision; only maps of dialects with lump files have one.
fn revision(bsp: &Bsp<'_>) -> Result<i32> {
    if bsp.byte_order() == ByteOrder::Big {
        let message = "lump files of consoles are not known, and neither is in which byte order they are";
        return Err(Error::new(ErrorKind::Refused, message));
    }
    bsp.revision().ok_or_else(|| {
        Error::new(ErrorKind::Refused, format!("{} has no lump files, only Source has", bsp.dialect().title))
    })
}

/// Rebases the offsets in a game lump to `to`. Its old offset is not in the file: of a lump that its members fill it is
/// known by the first one, and of any other it is `to` if the members fit there.
fn rebase(lump: &mut [u8], to: usize) -> Result<(), String> {
    let no_directory = || "its directory cannot be read".to_string();
    let count = lump.get(..4).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
    let count = index(count.ok_or_else(no_directory)?);
    let directory = count.checked_mul(GameLumpEntry::SIZE).and_then(|size| size.checked_add(4));
    let directory = directory.filter(|size| *size <= lump.len()).ok_or_else(no_directory)?;
    let length = lump.len();
    let entries = &mut lump[4..directory];
    let decoded = |entry: &[u8]| GameLumpEntry::decode(entry).filter(|entry| entry.id != 0);
    let members = || entries.chunks_exact(GameLumpEntry::SIZE).filter_map(decoded);
    let Some(first) = members().map(|entry| entry.offset).min() else { return Ok(()) };
    let end = members().map(|entry| i64::from(entry.offset) + i64::from(entry.length)).max().unwrap_or(0);
    let from = usize::try_from(first).ok().and_then(|first| first.checked_sub(directory));
    let mut from = from.ok_or_else(|| "its offsets do not count from the start of a map".to_string())?;
    // How far the members may be from the directory; padding follows them.
    let room = usize::try_from(end).ok().and_then(|end| (from + length).checked_sub(end)).unwrap_or(0);
    if room >= 4 {
        match from.checked_sub(to).filter(|gap| *gap <= room) {
            Some(_) => from = to,
            None => {
                return Err(format!(
                    "its members do not fill it, so that their place in its {length} bytes is not known"
                ));
            }
        }
    }
    for bytes in entries.chunks_exact_mut(GameLumpEntry::SIZE) {
        let Some(mut entry) = GameLumpEntry::decode(bytes) else { continue };
        let within = usize::try_from(entry.offset).ok().and_then(|at| at.checked_sub(from)).filter(|at| *at <= length);
        match within {
            Some(at) => entry.offset = i32::try_from(to + at).map_err(|_| "it would lie past 2 GiB".to_string())?,
            // The empty members that end a list may have any offset.
            None if entry.id == 0 => {}
            None => return Err("a member lies outside of it".to_string()),
        }
        bytes.copy_from_slice(&entry.encode());
    }
    Ok(())
}
