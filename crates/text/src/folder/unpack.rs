//! Takes a map apart into files, in a folder that counts as an unpacked map only when all of it is there.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write as IoWrite};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::manifest::{self, Lines, Manifest, Original, Part, Stored, at, crc};
use super::pack::{Content, Kind};
use super::{Folder, Survey};
use crate::folder;
use crate::records::{Format, Lump, distinct_name, file_stems};
use bspkit::dialect::Role;
use bspkit::disk::{input, put, shown};
use bspkit::json::base64;
use bspkit::{Bsp, Data, Error, ErrorKind, Result, Slot, SlotId};
use bspkit_ops::check;

// Takes a map apart into files.

/// Larger lumps are written as bytes if nothing else is asked for.
const MOST_TEXT: usize = 64 << 10;
/// Larger lumps are never written as text, which takes up to ten times the memory.
const MOST_ASKED_TEXT: usize = 8 << 20;
/// The most bytes after the last record that a manifest holds.
const MOST_REST: usize = 64;

/// git must not change line ends: the files are the bytes of a map.
const ATTRIBUTES: &str = "* -text\n";

/// How a map is taken apart.
///
/// ```
/// let mut how = bspkit_text::folder::How::default();
/// how.text.push("faces".to_owned());
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct How {
    /// The format of records: JSON by default; `raw` writes no records.
    pub format: Option<Format>,
    /// Lumps whose records are written as text whatever their size is, by number, name or role; `all` is every lump.
    pub text: Vec<String>,
    /// Whether light, textures and visibility are written as bytes and not as images.
    pub no_images: bool,
    /// The game whose flag names are used; by default that of the dialect.
    pub game: Option<String>,
}

/// What [`unpack`] reports about a map.
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
/// let unpacked = bspkit_text::folder::unpack(&map, &Default::default(), |_, _| Ok(()))?;
/// assert!(unpacked.files > 15 && unpacked.warnings.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Unpacked {
    /// The number of files.
    pub files: usize,
    /// Content that has no file of its own, or not in the requested format: a sentence each.
    pub warnings: Vec<String>,
}

/// Takes a map apart. `write` is called for every file, with its path below the folder and its bytes; the manifest is
/// the last one. The same map always gives the same files.
///
/// # Errors
/// `how` names a lump or a game that the map does not have; or an error of `write`.
pub fn unpack(bsp: &Bsp<'_>, how: &How, mut write: impl FnMut(&str, &[u8]) -> Result<()>) -> Result<Unpacked> {
    let mut files = 0;
    let mut count = |name: &str, bytes: &[u8]| {
        files += 1;
        write(name, bytes)
    };
    let mut unpacker = Unpacker::new(bsp, how)?;
    unpacker.pictures(&mut count)?;
    unpacker.slots(&mut count)?;
    let Unpacker { manifest, original, warnings, .. } = unpacker;
    for (name, ranges) in original.kept() {
        let parts: Vec<&[u8]> = ranges.into_iter().map(|range| &bsp.container().bytes()[range]).collect();
        count(name, &parts.concat())?;
    }
    count(manifest::INDEX, &original.text())?;
    if let Some(text) = folder::text(bsp)? {
        count(folder::FINDINGS, text.as_bytes())?;
    }
    count(".gitattributes", ATTRIBUTES.as_bytes())?;
    count(manifest::NAME, &manifest.text())?;
    Ok(Unpacked { files, warnings })
}

struct Unpacker<'b, 'a> {
    bsp: &'b Bsp<'a>,
    how: &'b How,
    kind: Kind,
    /// The slots whose records are text whatever their size is; `None`: all.
    text: Option<Vec<SlotId>>,
    /// Bytes that must be there before slots can be read: the header, and the directory of the game lump.
    directories: Vec<Range<usize>>,
    /// The slots that are shown by images, with the folders of these.
    shown: Vec<(SlotId, &'static str)>,
    manifest: Manifest,
    original: Original,
    warnings: Vec<String>,
}

type Write<'w> = &'w mut dyn FnMut(&str, &[u8]) -> Result<()>;

impl<'b, 'a> Unpacker<'b, 'a> {
    fn new(bsp: &'b Bsp<'a>, how: &'b How) -> Result<Self> {
        let is_all = how.text.iter().any(|name| name.eq_ignore_ascii_case("all"));
        let text = how.text.iter().filter(|_| !is_all).map(|name| Ok(bsp.slot(name)?.id));
        let text = text.collect::<Result<Vec<_>>>()?;
        let bytes = bsp.container().bytes();
        let members = bsp.slots().iter().filter(|slot| matches!(slot.id, SlotId::Game(_))).count();
        let game = bsp.role(Role::GameLump).map_or(0..0, |slot| slot.stored.clone());
        let game = game.start..game.end.min(game.start + bspkit::file::game_directory(members));
        Ok(Unpacker {
            bsp,
            how,
            kind: Kind {
                dialect: bsp.dialect(),
                version: bsp.version(),
                names: super::names(bsp, how.game.as_deref())?,
            },
            text: (!is_all).then_some(text),
            directories: vec![0..bsp.container().header_end(), game],
            shown: Vec::new(),
            manifest: head(bsp, how),
            original: Original { bspkit_original: 1, size: bytes.len(), crc: crc(bytes), ..Original::default() },
            warnings: Vec::new(),
        })
    }

    #[cfg(feature = "images")]
    fn pictures(&mut self, write: Write<'_>) -> Result<()> {
        if self.how.no_images {
            return Ok(());
        }
        let images = &mut self.original.images;
        self.shown = super::pictures::unpack(self.bsp, &mut |name, bytes| {
            images.push(manifest::Picture::new(name, bytes));
            write(name, bytes)
        })?;
        Ok(())
    }

    #[cfg(not(feature = "images"))]
    fn pictures(&mut self, _: Write<'_>) -> Result<()> {
        Ok(())
    }

    fn slots(&mut self, write: Write<'_>) -> Result<()> {
        let bsp = self.bsp;
        for (slot, stem) in file_stems(bsp) {
            let part = self.placed(slot);
            // Compilers write the versions of empty lumps too, and a new map needs them. The first lump of an extra
            // header shows that there is one.
            let is_listed = matches!(slot.id, SlotId::Game(_) | SlotId::Bspx(_) | SlotId::Extra(0));
            let is_listed = is_listed || part.version.is_some();
            if slot.stored.is_empty() && !is_listed {
                continue;
            }
            match bsp.bytes(slot.id) {
                Err(error) => self.warnings.push(format!("{error}: its bytes stay in the folder `original`")),
                Ok(_) if slot.stored.is_empty() => self.manifest.lumps.push(part),
                Ok(bytes) => {
                    let part = self.content(slot, &stem, &bytes, part, write)?;
                    self.manifest.lumps.push(part);
                }
            }
        }
        Ok(())
    }

    /// Writes the content of a slot, and returns the part that names it.
    fn content(&mut self, slot: &Slot, stem: &str, bytes: &Data<'a>, part: Part, write: Write<'_>) -> Result<Part> {
        let is_packed = self.bsp.decompressed_size(slot.id).is_some();
        let role = self.bsp.role_of(slot.id);
        let mut stored = Stored { lump: slot.name.clone(), at: at(&slot.stored), crc: crc(bytes), ..Stored::default() };
        let mut is_kept = is_packed || role == Some(Role::GameLump) || self.is_shared(slot);
        // The old records say which light a face had, and which shape a solid was made from.
        is_kept |= check::places_light(self.bsp, slot) || check::places_solids(self.bsp, slot);
        let shown = self.shown.iter().find(|(id, _)| *id == slot.id).map(|(_, folder)| (*folder).to_owned());
        let part = match role {
            _ if shown.is_some() => {
                is_kept = true;
                Part { images: shown, ..part }
            }
            Some(Role::Entities) => {
                stored.lines = Lines::of(bytes);
                self.entities(stem, bytes, part, write)?
            }
            Some(Role::Pak) if !is_packed => match self.bsp.pak() {
                Ok(pak) => {
                    is_kept = true;
                    let (names, files) =
                        folder::unpack_embedded(self.bsp, &pak, slot.stored.start, &mut self.warnings, write)?;
                    self.original.embedded = files;
                    Part { folder: Some(folder::FOLDER.to_owned()), names, ..part }
                }
                Err(error) => {
                    self.warnings.push(format!("{error}: it is written as bytes"));
                    raw(stem, bytes, part, write)?
                }
            },
            _ => {
                let part = self.records(slot, stem, bytes, part, write)?;
                // Records that were edited, as text or as bytes, are found by the old ones.
                is_kept |= Lump::read(self.bsp, slot).is_ok_and(|lump| !lump.records().is_empty());
                part
            }
        };
        stored.kept = is_kept.then(|| format!("original/{stem}.bin"));
        self.original.slots.push(stored);
        Ok(part)
    }

    /// Whether a slot shares bytes with another slot or a directory. An edit leaves these bytes, so they must be known.
    fn is_shared(&self, slot: &Slot) -> bool {
        let overlaps =
            |other: &Range<usize>| !other.is_empty() && slot.stored.start < other.end && other.start < slot.stored.end;
        let game_lump = self.bsp.role(Role::GameLump).map(|slot| slot.id);
        let others = self.bsp.slots().iter().filter(|other| other.id != slot.id && Some(other.id) != game_lump);
        self.directories.iter().chain(others.map(|other| &other.stored)).any(overlaps)
    }

    fn entities(&self, stem: &str, bytes: &[u8], part: Part, write: Write<'_>) -> Result<Part> {
        let nuls = bytes.iter().rev().take(usize::from(u8::MAX)).take_while(|byte| **byte == 0).count();
        let file = format!("{stem}.ent");
        write(&file, &bytes[..bytes.len() - nuls])?;
        let nuls = u8::try_from(nuls).ok().filter(|nuls| *nuls != 1);
        Ok(Part { file: Some(file), nuls, ..part })
    }

    /// Writes records as text if the text gives the bytes back, otherwise the bytes.
    fn records(&mut self, slot: &Slot, stem: &str, bytes: &[u8], part: Part, write: Write<'_>) -> Result<Part> {
        let is_asked = self.text.as_ref().is_none_or(|text| text.contains(&slot.id));
        let most = if is_asked { MOST_ASKED_TEXT } else { MOST_TEXT };
        if self.how.format == Some(Format::Raw) || bytes.len() > most {
            if is_asked && bytes.len() > most {
                self.warnings.push(format!("{} is too large for text: it is written as bytes", slot.name));
            }
            return raw(stem, bytes, part, write);
        }
        let lump = match Lump::read(self.bsp, slot) {
            Ok(lump) if lump.records().is_empty() => return raw(stem, bytes, part, write),
            Ok(lump) => lump,
            Err(error) => {
                self.warnings.push(format!("{error}: it is written as bytes"));
                return raw(stem, bytes, part, write);
            }
        };
        let format = self.how.format.filter(|_| lump.records().len() == 1).unwrap_or(Format::Json);
        let mut text = Vec::new();
        lump.print(format, self.kind.names, |piece| {
            text.extend_from_slice(piece);
            Ok::<_, Error>(true)
        })?;
        match self.named(slot, &lump, format, &text, bytes, part) {
            Ok(part) => {
                let file = format!("{stem}.{}", format.extension());
                write(&file, &text)?;
                Ok(Part { file: Some(file), ..part })
            }
            Err(part) => {
                let why = "its text would not give the same bytes";
                self.warnings.push(format!("{}: {why}: it is written as bytes", slot.name));
                raw(stem, bytes, *part, write)
            }
        }
    }

    /// The part with as few words about the records as give the bytes back from the text; as an error, the part itself.
    fn named(
        &self,
        slot: &Slot,
        lump: &Lump<'_>,
        format: Format,
        text: &[u8],
        bytes: &[u8],
        part: Part,
    ) -> Result<Part, Box<Part>> {
        let rest = lump.rest_bytes();
        let (name, size) = distinct_name(self.bsp, slot).unzip();
        let mut part = Part { rest: (!rest.is_empty()).then(|| base64(rest)), ..part };
        for (record, record_size) in [(None, None), (name.clone(), None), (name, size)] {
            (part.record, part.record_size) = (record, record_size);
            let read = self.kind.records(&part, format, text);
            let is_same = |read: Content| bytes.strip_prefix(&read.bytes[..]) == Some(rest);
            if rest.len() <= MOST_REST && read.is_ok_and(is_same) {
                return Ok(part);
            }
        }
        Err(Box::new(Part { rest: None, record: None, record_size: None, ..part }))
    }

    /// A part of the manifest without its content.
    fn placed(&self, slot: &Slot) -> Part {
        let mut part = Part { lump: slot.name.clone(), ..Part::default() };
        part.version = slot.version.filter(|version| *version != 0);
        part.compressed = self.bsp.decompressed_size(slot.id).is_some();
        if let SlotId::Game(_) = slot.id {
            // Bit 0 is the member `compressed`.
            part.flags = self.bsp.member_flags(slot.id).unwrap_or(0) & !1;
        }
        part
    }
}

/// The manifest without its lumps.
fn head(bsp: &Bsp<'_>, how: &How) -> Manifest {
    let dialect = bsp.dialect();
    Manifest {
        bspkit_manifest: 1,
        dialect: dialect.name.to_owned(),
        version: Some(bsp.version()).filter(|version| *version != dialect.versions[0]),
        revision: bsp.revision().filter(|revision| *revision != 0),
        checksum: super::checksum(bsp).filter(|checksum| *checksum != 0),
        entries: Some(bsp.container().shape().count).filter(|count| *count != dialect.shapes[0].count),
        game: how.game.clone(),
        ..Manifest::default()
    }
}

fn raw(stem: &str, bytes: &[u8], part: Part, write: Write<'_>) -> Result<Part> {
    let file = format!("{stem}.bin");
    write(&file, bytes)?;
    Ok(Part { file: Some(file), ..part })
}

// The folder that a map is unpacked to: until all of it is there, it is not an unpacked map.

/// The file that is there while a map is unpacked: the names of all files that are in the folder, or may be.
pub(super) const UNFINISHED: &str = ".unpacking";

/// Whether a map was unpacked to a folder, and not to the end.
pub(super) fn is_unfinished(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(UNFINISHED)).is_ok()
}

/// A folder that a map is unpacked to. An unpack that stops before [`Target::finish`] leaves a folder that
/// [`Folder::read`] refuses.
///
/// ```
/// use bspkit_text::folder::{Folder, Target, unpack};
/// let base = tempfile::tempdir().unwrap();
/// let map = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
/// let mut target = Target::new(base.path());
/// unpack(&map, &Default::default(), |name, bytes| target.write(name, bytes))?;
/// assert!(Folder::read(base.path()).is_err());
/// target.finish()?;
/// assert!(Folder::read(base.path()).is_ok());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct Target<'f> {
    folder: &'f Path,
    made: HashSet<PathBuf>,
    /// The files of the map that was there before.
    old: Vec<String>,
    /// The files that someone added to that map, which nothing else may have.
    added: Vec<String>,
    /// The names of all files, once the first one is written.
    names: Option<File>,
    new: HashSet<String>,
    /// The manifest, which is written last.
    manifest: Vec<u8>,
}

impl<'f> Target<'f> {
    /// A folder, with the files of the map that was unpacked to it before, completely or not. Nothing is written yet.
    pub fn new(folder: &'f Path) -> Self {
        let (mut old, added) = match Folder::open(folder) {
            Ok(folder) => (folder.files(), folder.added()),
            Err(_) => (Vec::new(), Vec::new()),
        };
        if let (Ok(names), Ok(survey)) = (input::text(&folder.join(UNFINISHED)), Survey::of(folder)) {
            old.extend(names.lines().filter(|name| survey.has(name)).map(str::to_owned));
        }
        let (made, new) = (HashSet::new(), HashSet::new());
        Target { folder, made, old, added, names: None, new, manifest: Vec::new() }
    }

    /// Writes a file, by its path below the folder. The first one takes the manifest of an older map away.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it cannot be written, or a folder of its path is a link. [`ErrorKind::Refused`] if someone
    /// added embedded files to the map that was there before.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        if self.names.is_none() {
            self.names = Some(self.begin()?);
        }
        self.new.insert(name.to_lowercase());
        if name == manifest::NAME {
            self.manifest = bytes.to_vec();
            return Ok(());
        }
        let path = self.folder.join(name);
        let failed = |error| Error::new(ErrorKind::Io, format!("cannot write {}", shown(&path))).with_source(error);
        if let Some(names) = &mut self.names {
            names.write_all(format!("{name}\n").as_bytes()).map_err(failed)?;
        }
        self.make_folders(name).map_err(failed)?;
        // A file with the name may be a link; the link is replaced, and not what it leads to.
        match fs::symlink_metadata(&path) {
            Ok(there) if !there.is_dir() => fs::remove_file(&path).map_err(failed)?,
            _ => {}
        }
        let file = File::create_new(&path).map_err(failed)?;
        (&file).write_all(bytes).map_err(failed)
    }

    /// Removes the files of the older map that the new one does not have, and writes the manifest.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if something cannot be removed or written.
    pub fn finish(self) -> Result<()> {
        if self.names.is_none() {
            return Ok(());
        }
        for name in self.old.iter().filter(|name| !self.new.contains(&name.to_lowercase())) {
            self.remove(name)?;
        }
        put::put(&self.folder.join(manifest::NAME), &self.manifest, true)?;
        drop(self.names);
        remove(&self.folder.join(UNFINISHED))
    }

    /// Says that the folder is not complete, and only then takes the manifest away.
    fn begin(&self) -> Result<File> {
        if let Some(first) = self.added.first() {
            let (folder, count) = (shown(self.folder), self.added.len());
            let message = match count {
                1 => format!("{folder} has an embedded file that was added since a map was unpacked there: {first}"),
                _ => format!(
                    "{folder} has {count} embedded files that were added since a map was unpacked there: {first}, …"
                ),
            };
            return Err(Error::new(ErrorKind::Refused, message).with_hint("pack the folder, or move these files away"));
        }
        put::folder(self.folder)?;
        let path = self.folder.join(UNFINISHED);
        let names: String = self.old.iter().map(|name| format!("{name}\n")).collect();
        put::put(&path, names.as_bytes(), true)?;
        self.remove(manifest::NAME)?;
        let failed = |error| Error::io(format!("cannot write {}", shown(&path)), error);
        fs::OpenOptions::new().append(true).open(&path).map_err(failed)
    }

    fn remove(&self, name: &str) -> Result<()> {
        remove(&self.folder.join(name))
    }

    /// Creates the folders of a file. Symbolic links are refused.
    fn make_folders(&mut self, name: &str) -> io::Result<()> {
        let mut path = self.folder.to_owned();
        let folders = name.split('/').count() - 1;
        for part in name.split('/').take(folders) {
            path.push(part);
            if !self.made.insert(path.clone()) {
                continue;
            }
            match fs::symlink_metadata(&path) {
                Ok(there) if there.is_dir() => {}
                Ok(_) => {
                    return Err(io::Error::new(io::ErrorKind::NotADirectory, "a folder of its path is not a folder"));
                }
                Err(_) => fs::create_dir(&path)?,
            }
        }
        Ok(())
    }
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(format!("cannot remove {}", shown(path)), error))
        }
        _ => Ok(()),
    }
}
