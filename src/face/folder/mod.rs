//! A map as a folder: a file for every lump, and a manifest. The same lumps can be built from them.
//!
//! ```
//! use bspkit::Bsp;
//! use bspkit::face::folder::{self, Manifest};
//!
//! let map = Bsp::open("tests/maps/q3/own_rooms.bsp")?;
//! let folder = tempfile::tempdir().unwrap();
//! for file in folder::dump(&map, None, None)?.files {
//!     let mut out = std::fs::File::create(folder.path().join(&file.name)).unwrap();
//!     file.write(&map, &mut out)?;
//! }
//! let built = Manifest::read(&folder.path().join("manifest.json"))?.build()?;
//! assert_eq!(Bsp::from_vec(built.bytes)?.slots().len(), map.slots().len());
//! # Ok::<(), bspkit::Error>(())
//! ```

mod describe;
mod make;
mod manifest;

use std::collections::HashSet;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use describe::Dumped;
pub use make::Built;
pub use manifest::Manifest;

use crate::face::records::{Format, Lump, file_stems, told_by_name};
use crate::face::{input, shown};
use crate::record::FlagNames;
use crate::{Bsp, Draft, Error, ErrorKind, Result, Slot, SlotId};

/// The files of a map, and messages about them.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let dump = bspkit::face::folder::dump(&map, None, None)?;
/// assert_eq!(dump.files.last().unwrap().name, "manifest.json");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Dump {
    /// The files, in the order of the slots; the manifest is last.
    pub files: Vec<DumpFile>,
    /// Files that do not have the requested format: a sentence each.
    pub warnings: Vec<String>,
    /// Slots that cannot be read and have no file.
    pub failed: Vec<Error>,
}

/// A file of a folder.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let dump = bspkit::face::folder::dump(&map, None, None)?;
/// assert_eq!(dump.files[2].name, "02_PLANES.jsonl");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct DumpFile {
    /// Its name in the folder. Every operating system allows it, and it differs from the others even without regard to
    /// case.
    pub name: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Lump(SlotId, Format, FlagNames),
    Bytes(Vec<u8>),
}

/// The files of a map. Lumps with records have the `format`, or JSON by default. `game` selects the names of flags.
///
/// # Errors
/// The dialect has no such game.
pub fn dump(bsp: &Bsp<'_>, format: Option<Format>, game: Option<&str>) -> Result<Dump> {
    let names = names(bsp, game)?;
    let (mut files, mut dumped, mut warnings, mut failed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (slot, stem) in file_stems(bsp) {
        let read = read(bsp, slot, |error| warnings.push(format!("{error}: it is written as bytes")));
        let lump = match read {
            Ok(lump) => lump,
            Err(error) => {
                failed.push(error.within(format!("cannot dump {}", slot.name)));
                continue;
            }
        };
        let usual = lump.usual_format();
        let mut format = format.filter(|_| usual != Format::Raw).unwrap_or(usual);
        if format == Format::Csv && lump.records().len() > 1 {
            warnings.push(format!("{} has several lists of records: it is written as JSON", slot.name));
            format = Format::Json;
        }
        // If several structs have this name and size, `build` could not choose one.
        let record = told_by_name(bsp, slot).filter(|_| format != Format::Raw);
        if record.is_none() && format != Format::Raw {
            let why = "several structs of the dialect have the name and size of its records";
            warnings.push(format!("{}: {why}: it is written as bytes", slot.name));
            format = Format::Raw;
        }
        let name = format!("{stem}.{}", format.extension());
        let rest = if record.is_some() { lump.rest_bytes().to_vec() } else { Vec::new() };
        dumped.push(Dumped { slot, file: name.clone(), record, rest });
        files.push(DumpFile { name, content: Content::Lump(slot.id, format, names) });
    }
    let more = describe::describe(bsp, game, &dumped).into_iter();
    files.extend(more.map(|(name, bytes)| DumpFile { name, content: Content::Bytes(bytes) }));
    Ok(Dump { files, warnings, failed })
}

/// The names of flags in a game, or in the usual game of the map.
///
/// # Errors
/// The dialect has no such game.
pub fn names(bsp: &Bsp<'_>, game: Option<&str>) -> Result<FlagNames> {
    Ok(game.map_or_else(|| Ok(bsp.dialect().game(bsp.version())), |name| bsp.dialect().game_by_name(name))?.flags)
}

/// A lump with its records, or as bytes if its lists contradict its size.
fn read<'a>(bsp: &Bsp<'a>, slot: &Slot, misfit: impl FnOnce(Error)) -> Result<Lump<'a>> {
    Lump::read(bsp, slot).or_else(|error| Lump::raw(bsp, slot).inspect(|_| misfit(error)))
}

impl DumpFile {
    /// Writes the file's bytes.
    ///
    /// # Errors
    /// The slot cannot be read, or writing failed.
    pub fn write(&self, bsp: &Bsp<'_>, out: &mut dyn Write) -> Result<()> {
        let cannot = |error| Error::io(format!("cannot write {}", self.name), error);
        match &self.content {
            Content::Bytes(bytes) => out.write_all(bytes).map_err(cannot),
            Content::Lump(id, format, names) => match bsp.container().slot(*id) {
                None => Ok(()),
                Some(slot) => {
                    let lump = read(bsp, slot, drop)?;
                    lump.print(*format, names, |piece| out.write_all(piece).map(|()| true).map_err(cannot))
                }
            },
        }
    }
}

/// The files of a folder that belong to lumps of a map.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let files = bspkit::face::folder::find(&map, "docs/box".as_ref())?;
/// assert!(files.lumps.is_empty() && !files.others.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Files {
    /// The files of lumps, by their names.
    pub lumps: Vec<LumpFile>,
    /// Other files in the folder.
    pub others: Vec<PathBuf>,
}

/// A file with the content of a lump.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// for file in bspkit::face::folder::find(&map, "docs/box".as_ref())?.lumps {
///     file.load(&mut map.draft(), bspkit::face::folder::names(&map, None)?, false)?;
/// }
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct LumpFile {
    /// The path of the file.
    pub path: PathBuf,
    slot: SlotId,
    format: Format,
}

/// Finds the files of lumps in a folder that [`dump`] filled.
///
/// # Errors
/// The folder cannot be read, or two files are for the same lump.
pub fn find(bsp: &Bsp<'_>, folder: &Path) -> Result<Files> {
    let entries = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
    let mut paths = entries.map_err(|error| input::cannot_read(folder, error))?;
    paths.sort();
    let stems = file_stems(bsp);
    let mut found = Files::default();
    let mut seen = HashSet::new();
    // Skip the files that only `build` reads.
    for path in paths.into_iter().filter(|path| !describe::is_extra(path)) {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let format = path.extension().and_then(|extension| Format::of_extension(extension.to_str()?));
        let slot = stems.iter().find(|(_, known)| Some(known.as_str()) == stem).map(|(slot, _)| *slot);
        let (Some(slot), Some(format)) = (slot, format) else {
            found.others.push(path);
            continue;
        };
        if !seen.insert(slot.id) {
            let message = format!("{} is a second file for {}: leave one of the files out", shown(&path), slot.name);
            return Err(Error::new(ErrorKind::Argument, message));
        }
        found.lumps.push(LumpFile { path, slot: slot.id, format });
    }
    Ok(found)
}

impl LumpFile {
    /// Replaces the lump in a draft of the map with the content of the file. `resize` allows another number of records.
    ///
    /// # Errors
    /// The file cannot be read or does not fit the lump: the message says where and why.
    pub fn load<'a>(&self, draft: &mut Draft<'a>, names: FlagNames, resize: bool) -> Result<()> {
        let bsp: Bsp<'a> = draft.bsp().clone();
        let Some(slot) = bsp.container().slot(self.slot) else { return Ok(()) };
        let lump = match (self.format, Lump::read(&bsp, slot)) {
            (Format::Raw, Err(_)) => Lump::raw(&bsp, slot)?,
            (_, lump) => lump?,
        };
        let file = BufReader::new(input::open(&self.path)?);
        let cannot = |error: Error| error.within(format!("cannot load {} into {}", shown(&self.path), slot.name));
        lump.load(draft, self.format, names, resize, file).map_err(cannot)
    }
}
