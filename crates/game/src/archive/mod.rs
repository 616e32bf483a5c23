//! Archives of games: PAK files of Quake and its relatives, ZIP files (`.pk3` of Quake III, `.pk4`, `.zip`), and VPK
//! files of Source.
//!
//! ```
//! use bspkit_game::Archive;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("pak0.pak");
//! # let mut name = [0_u8; 56];
//! # name[..16].copy_from_slice(b"Textures/own.txt");
//! # let place = [12_u32, 5].map(u32::to_le_bytes).concat();
//! # std::fs::write(&path, [b"PACK", &[17, 64].map(u32::to_le_bytes).concat()[..], b"hello", &name, &place].concat())?;
//! let archive = Archive::open(&path)?;
//! assert!(archive.names().eq([b"Textures/own.txt"]));
//! assert_eq!(archive.read(b"textures/own.txt", 1 << 20)?, Some(b"hello".to_vec()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod pak;
mod vpk;
mod zip;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bspkit::bytes::wide;
use bspkit::disk::{input, shown};
use bspkit::{Error, ErrorKind, Result};

use crate::assets::normal_name;
pub(crate) use vpk::directory as vpk_directory;

/// A file that can be read from any place.
trait Source: Read + Seek + Send {}

impl<R: Read + Seek + Send> Source for R {}

/// How an archive is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// An archive whose directory is in memory. Its files are read when they are asked for.
///
/// ```
/// use bspkit_game::Archive;
/// assert!(Archive::is_name("baseq3/PAK0.PK3".as_ref()) && !Archive::is_name("dm4.bsp".as_ref()));
/// ```
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Vpk(vpk::Parts),
    Listed(Listed),
}

/// A PAK or a ZIP file.
#[derive(Debug)]
struct Listed {
    names: Vec<Vec<u8>>,
    /// By the name as engines look it up; of several with one name the first.
    by_name: HashMap<Vec<u8>, usize>,
    files: Mutex<Files>,
}

#[derive(Debug)]
enum Files {
    Zip(Box<zip::Zip>),
    Pak(pak::Pak),
}

impl Archive {
    /// Whether a name is that of an archive: `.pak`, `.pk3`, `.pk4`, `.zip` or `.vpk`.
    pub fn is_name(path: &Path) -> bool {
        Kind::of(path).is_some()
    }

    /// Opens an archive and reads its directory. Of a VPK file in parts that is the file `*_dir.vpk`, which is
    /// opened for another name too if it is there, as engines do it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the name is not that of an archive; [`ErrorKind::Io`]; [`ErrorKind::Malformed`] if it
    /// is not such an archive. The path is named.
    pub fn open(path: &Path) -> Result<Self> {
        match Kind::of(path) {
            Some(Kind::Vpk) => {
                let parts = vpk::Parts::open(path)?;
                Ok(Archive { path: parts.path().to_path_buf(), content: Content::Vpk(parts) })
            }
            _ => Archive::over(path, File::open(path).map_err(|error| input::cannot_read(path, error))?),
        }
    }

    /// An archive over a file that is open. The name says its form; VPK files cannot be read in this way, as they
    /// have more than one file.
    ///
    /// # Errors
    /// As [`Archive::open`].
    pub fn over(path: &Path, file: impl Read + Seek + Send + 'static) -> Result<Self> {
        let file: Box<dyn Source> = Box::new(file);
        let at = |error: Error| Error::new(error.kind(), format!("{}: {error}", shown(path)));
        let (names, files) = match Kind::of(path) {
            Some(Kind::Zip) => {
                let zip = zip::Zip::new(file).map_err(at)?;
                (zip.names(), Files::Zip(Box::new(zip)))
            }
            Some(Kind::Pak) => {
                let pak = pak::Pak::new(file).map_err(at)?;
                (pak.names(), Files::Pak(pak))
            }
            _ => {
                return Err(Error::new(ErrorKind::Argument, format!("{} is not an archive", shown(path))));
            }
        };
        let mut by_name = HashMap::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            by_name.entry(normal_name(name)).or_insert(index);
        }
        let content = Content::Listed(Listed { names, by_name, files: Mutex::new(files) });
        Ok(Archive { path: path.to_path_buf(), content })
    }

    /// The path of the archive; of a VPK file in parts that of its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of all files as the archive has them, with `/` between their parts.
    pub fn names(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        match &self.content {
            Content::Vpk(parts) => Box::new(parts.names()),
            Content::Listed(listed) => Box::new(listed.names.iter().map(Vec::as_slice)),
        }
    }

    /// The names of all files as engines look them up ([`normal_name`]), in any order.
    pub fn normal_names(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        match &self.content {
            Content::Vpk(parts) => Box::new(parts.names()),
            Content::Listed(listed) => Box::new(listed.by_name.keys().map(Vec::as_slice)),
        }
    }

    /// Whether it has a file of this [`normal_name`].
    pub fn has(&self, name: &[u8]) -> bool {
        match &self.content {
            Content::Vpk(parts) => parts.has(name),
            Content::Listed(listed) => listed.by_name.contains_key(name),
        }
    }

    /// The bytes of the file of this [`normal_name`]; `None` if it has none.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a file of more than `most` bytes; [`ErrorKind::Malformed`]; [`ErrorKind::Io`]. The
    /// path is named.
    pub fn read(&self, name: &[u8], most: usize) -> Result<Option<Vec<u8>>> {
        match &self.content {
            Content::Vpk(parts) => parts.read(name, most),
            Content::Listed(listed) => {
                listed.by_name.get(name).map(|index| self.bytes(listed, *index, most)).transpose()
            }
        }
    }

    /// The bytes of the file that has exactly this name, of those of [`Archive::names`].
    ///
    /// # Errors
    /// As [`Archive::read`].
    pub fn read_exactly(&self, name: &[u8], most: usize) -> Result<Option<Vec<u8>>> {
        match &self.content {
            Content::Vpk(parts) => parts.read(name, most),
            Content::Listed(listed) => {
                let first = listed.by_name.get(&normal_name(name)).copied();
                let is_own = |index: &usize| listed.names[*index] == name;
                // Of several names that engines take for one, only the first one is listed.
                let index = first.filter(is_own).or_else(|| first.and_then(|_| (0..listed.names.len()).find(is_own)));
                index.map(|index| self.bytes(listed, index, most)).transpose()
            }
        }
    }

    fn bytes(&self, listed: &Listed, index: usize, most: usize) -> Result<Vec<u8>> {
        let mut files = listed.files.lock().unwrap_or_else(PoisonError::into_inner);
        let read = match &mut *files {
            Files::Zip(zip) => zip.read(index, most),
            Files::Pak(pak) => pak.read(index, most),
        };
        let name = || String::from_utf8_lossy(&listed.names[index]).into_owned();
        read.map_err(|error| Error::new(error.kind(), format!("{}, {}: {error}", shown(&self.path), name())))
    }
}

/// All bytes of a reader.
///
/// # Errors
/// [`ErrorKind::TooLarge`] for more than `most` bytes; [`ErrorKind::Malformed`].
fn bounded(reader: impl Read, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = reader.take(wide(most).saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Error::new(ErrorKind::Malformed, format!("it cannot be read: {error}")))?;
    if bytes.len() > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: usize) -> Error {
    Error::new(ErrorKind::TooLarge, format!("it has more than the {most} bytes that are read"))
}
