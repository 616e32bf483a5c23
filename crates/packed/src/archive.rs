//! The maps in an archive: ZIP files (`.zip`, `.pk3`, `.pk4`), PAK files of Quake and Quake II, and VPK files of
//! Source.
//!
//! A map in an archive has a path that goes on below that of the archive, as `pak0.pk3/maps/q3dm1.bsp`.
//!
//! ```
//! use bspkit_packed::archive;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("pak0.pak");
//! # let map = std::fs::read("../../tests/maps/q1/own_rooms.bsp")?;
//! # let mut name = [0_u8; 56];
//! # name[..14].copy_from_slice(b"maps/start.bsp");
//! # let place = [12_u32.to_le_bytes(), u32::try_from(map.len())?.to_le_bytes()].concat();
//! # let end = [12 + u32::try_from(map.len())?, 64].map(u32::to_le_bytes).concat();
//! # std::fs::write(&path, [b"PACK", &end[..], &map, &name, &place].concat())?;
//! assert_eq!(archive::maps(&path)?.maps, ["maps/start.bsp"]);
//! let (archive, name) = archive::part(&path.join("maps/start.bsp")).unwrap();
//! assert_eq!(archive::read(&archive, &name)?, map);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bspkit::bytes::index;
use bspkit::disk::input::cannot_read;
use bspkit::disk::shown;
use bspkit::file::names;
use bspkit::{Error, ErrorKind, Result};
use bspkit_game::Game;
use bspkit_game::assets::Files;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::{MOST, bounded, too_large};

/// How an archive is read.
#[derive(Clone, Copy)]
enum Kind {
    Zip,
    Pak,
    Vpk,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "zip" | "pk3" | "pk4" => Some(Kind::Zip),
            "pak" => Some(Kind::Pak),
            "vpk" => Some(Kind::Vpk),
            _ => None,
        }
    }
}

/// Whether a name is that of an archive.
///
/// ```
/// use bspkit_packed::archive::is_archive;
/// assert!(is_archive("baseq3/PAK0.PK3".as_ref()) && !is_archive("dm4.bsp".as_ref()));
/// ```
pub fn is_archive(path: &Path) -> bool {
    Kind::of(path).is_some()
}

/// The archive and the name in it, of a path that goes on below an archive; none if there is no such archive.
pub fn part(path: &Path) -> Option<(PathBuf, String)> {
    let above = path.ancestors().skip(1);
    let archive = above.filter(|above| is_archive(above)).find(|above| above.is_file())?;
    let inner = path.strip_prefix(archive).ok()?.to_str()?;
    Some((archive.to_path_buf(), inner.replace('\\', "/")))
}

/// The maps in an archive.
///
/// ```
/// let none = bspkit_packed::archive::Listing::default();
/// assert!(none.maps.is_empty() && none.left_out.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Their names (`*.bsp`), sorted; of a VPK file those in its folder `maps`.
    pub maps: Vec<String>,
    /// Those whose names are not those of files on a disk, and why.
    pub left_out: Vec<(String, &'static str)>,
}

/// The maps in an archive.
///
/// # Errors
/// [`ErrorKind::Io`]; [`ErrorKind::Malformed`] if it is not such an archive.
pub fn maps(path: &Path) -> Result<Listing> {
    let names = match kind(path)? {
        Kind::Zip => names_in_zip(open(path)?),
        Kind::Pak => names_in_pak(open(path)?),
        Kind::Vpk => {
            let names = vpk(path)?.names_in(b"maps").into_iter();
            Ok(names.filter_map(|name| String::from_utf8(name).ok()).collect())
        }
    };
    let mut names = names.map_err(|error| at(path, &error))?;
    names.retain(|name| name.len() > 4 && name.as_bytes()[name.len() - 4..].eq_ignore_ascii_case(b".bsp"));
    names.sort_unstable();
    names.dedup();
    let mut listing = Listing::default();
    for name in names {
        match names::path_hazard(name.as_bytes()) {
            None => listing.maps.push(name),
            Some(why) => listing.left_out.push((name, why)),
        }
    }
    Ok(listing)
}

/// The bytes of a file in an archive.
///
/// # Errors
/// [`ErrorKind::NotFound`] if it is not there; [`ErrorKind::TooLarge`] for more than [`MOST`] bytes;
/// [`ErrorKind::Malformed`]; [`ErrorKind::Io`].
pub fn read(path: &Path, name: &str) -> Result<Vec<u8>> {
    let found = match kind(path)? {
        Kind::Zip => read_in_zip(open(path)?, name),
        Kind::Pak => read_in_pak(open(path)?, name),
        Kind::Vpk => {
            let most = index(u32::try_from(MOST).unwrap_or(u32::MAX));
            vpk(path)?.read(name.as_bytes(), most).map(|bytes| bytes.map(|bytes| bytes.to_vec()))
        }
    };
    let missing = || Error::new(ErrorKind::NotFound, format!("{} has no {name}", shown(path)));
    found.map_err(|error| at(path, &error))?.ok_or_else(missing)
}

fn kind(path: &Path) -> Result<Kind> {
    let unknown = || Error::new(ErrorKind::Argument, format!("{} is no archive", shown(path)));
    Kind::of(path).ok_or_else(unknown)
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| cannot_read(path, error))
}

/// An error with the path of the archive.
fn at(path: &Path, error: &Error) -> Error {
    Error::new(error.kind(), format!("{}: {error}", shown(path)))
}

fn vpk(path: &Path) -> Result<Game> {
    let mut game = Game::default();
    game.add(path)?;
    Ok(game)
}

// ZIP.

fn malformed(error: &ZipError) -> Error {
    Error::new(ErrorKind::Malformed, error.to_string())
}

/// The names of all files in a ZIP file.
///
/// # Errors
/// [`ErrorKind::Malformed`].
#[doc(hidden)]
pub fn names_in_zip(file: impl Read + Seek) -> Result<Vec<String>> {
    let zip = ZipArchive::new(file).map_err(|error| malformed(&error))?;
    Ok(zip.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect())
}

#[doc(hidden)]
pub fn read_in_zip(file: impl Read + Seek, name: &str) -> Result<Option<Vec<u8>>> {
    let mut zip = ZipArchive::new(file).map_err(|error| malformed(&error))?;
    // Some programs write `\\` between the parts of a name.
    let is_it = |own: &str| own == name || own.contains('\\') && own.replace('\\', "/") == name;
    let Some(index) = zip.file_names().position(|own| own.is_ok_and(|own| is_it(&own))) else { return Ok(None) };
    bounded(zip.by_index(index).map_err(|error| malformed(&error))?).map(Some)
}

// PAK: `PACK`, the offset and the length of the directory; in it for each file a name of 56 bytes, offset and length.

/// The bytes of the header and of an entry.
const HEADER: u32 = 12;
const ENTRY: usize = 64;
const NAME: usize = 56;

/// More bytes of directories are not read: engines take a few thousand files.
const MOST_DIRECTORY: u32 = 64 << 20;

struct Entry {
    name: String,
    start: u32,
    length: u32,
}

fn cut() -> Error {
    Error::new(ErrorKind::Malformed, "the archive is cut short")
}

/// Bytes of a file, from an offset on; an error if the file ends before.
fn bytes_at(file: &mut (impl Read + Seek), start: u32, length: u32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(start.into())).and_then(|_| file.take(length.into()).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(Error::new(ErrorKind::Io, "the archive cannot be read").with_source(error)),
        Ok(read) if read < index(length) => Err(cut()),
        Ok(_) => Ok(bytes),
    }
}

fn entries(file: &mut (impl Read + Seek)) -> Result<Vec<Entry>> {
    let header = bytes_at(file, 0, HEADER)?;
    let place = word(&header, 4).zip(word(&header, 8)).filter(|_| header.starts_with(b"PACK"));
    let Some((start, length)) = place else {
        return Err(Error::new(ErrorKind::Malformed, "it is not a PAK file"));
    };
    if length > MOST_DIRECTORY {
        return Err(too_large());
    }
    let directory = bytes_at(file, start, length)?;
    let entry = |entry: &[u8]| {
        let name = entry.get(..NAME)?.split(|byte| *byte == 0).next()?;
        let name = std::str::from_utf8(name).ok()?.to_owned();
        Some(Entry { name, start: word(entry, NAME)?, length: word(entry, NAME + 4)? })
    };
    Ok(directory.chunks_exact(ENTRY).filter_map(entry).collect())
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[doc(hidden)]
pub fn names_in_pak(mut file: impl Read + Seek) -> Result<Vec<String>> {
    Ok(entries(&mut file)?.into_iter().map(|entry| entry.name).collect())
}

#[doc(hidden)]
pub fn read_in_pak(mut file: impl Read + Seek, name: &str) -> Result<Option<Vec<u8>>> {
    let entries = entries(&mut file)?;
    let Some(entry) = entries.into_iter().find(|entry| entry.name == name) else { return Ok(None) };
    if u64::from(entry.length) > MOST {
        return Err(too_large());
    }
    bytes_at(&mut file, entry.start, entry.length).map(Some)
}
