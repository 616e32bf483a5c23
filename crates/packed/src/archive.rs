//! The maps in an archive: ZIP files (`.zip`, `.pk3`, `.pk4`), PAK files of Quake and Quake II, and VPK files of
//! Source.
//!
//! A map in an archive has a path that goes on below that of the archive, as `pak0.pk3/maps/q3dm1.bsp`.
//!
//! ```
//! use bspkit_packed::archive::{self, Archives};
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
//! assert_eq!(Archives::default().read(&archive, &name)?, map);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bspkit::bytes::index;
use bspkit::disk::shown;
use bspkit::file::names;
use bspkit::{Error, ErrorKind, Result};
use bspkit_game::Archive;

use crate::MOST;

/// The archive and the name in it, of a path that goes on below an archive; none if there is no such archive.
pub fn part(path: &Path) -> Option<(PathBuf, String)> {
    let above = path.ancestors().skip(1);
    let archive = above.filter(|above| Archive::is_name(above)).find(|above| above.is_file())?;
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
    let archive = Archive::open(path)?;
    let is_map = |name: &&[u8]| name.len() > 4 && name[name.len() - 4..].eq_ignore_ascii_case(b".bsp");
    let is_shown = |name: &&[u8]| is_map(name) && (!is_vpk(path) || name.starts_with(b"maps/"));
    let names = archive.names().filter(is_shown).filter_map(|name| String::from_utf8(name.to_vec()).ok());
    let mut names: Vec<String> = names.collect();
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

/// Whether it is an archive of Source, in which maps are in one folder.
fn is_vpk(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vpk"))
}

/// The archive that was read last: maps come archive by archive, and the directory of each is read once.
///
/// ```
/// use bspkit_packed::archive::Archives;
/// let error = Archives::default().read("none.pk3".as_ref(), "maps/a.bsp").unwrap_err();
/// assert_eq!(error.kind(), bspkit::ErrorKind::Io);
/// ```
#[derive(Debug, Default)]
pub struct Archives {
    last: Mutex<Option<(PathBuf, Arc<Archive>)>>,
}

impl Archives {
    /// The bytes of a file in an archive.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if it is not there; [`ErrorKind::TooLarge`] for more than [`MOST`] bytes;
    /// [`ErrorKind::Malformed`]; [`ErrorKind::Io`].
    pub fn read(&self, path: &Path, name: &str) -> Result<Vec<u8>> {
        let most = index(u32::try_from(MOST).unwrap_or(u32::MAX));
        let missing = || Error::new(ErrorKind::NotFound, format!("{} has no {name}", shown(path)));
        self.open(path)?.read_exactly(name.as_bytes(), most)?.ok_or_else(missing)
    }

    fn open(&self, path: &Path) -> Result<Arc<Archive>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, archive)) if known == path => Ok(Arc::clone(archive)),
            _ => {
                let archive = Arc::new(Archive::open(path)?);
                *last = Some((path.to_path_buf(), Arc::clone(&archive)));
                Ok(archive)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The directory is read once: an archive with many maps takes time by their number, not by its square. Where a
    /// file that is open can be removed, that shows it.
    #[cfg(unix)]
    #[test]
    fn an_archive_is_opened_once_for_all_its_maps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pak0.pak");
        let entry = |name: &str, at: u32| {
            let mut name = name.as_bytes().to_vec();
            name.resize(56, 0);
            [name, at.to_le_bytes().to_vec(), 3_u32.to_le_bytes().to_vec()].concat()
        };
        let directory = [entry("maps/a.bsp", 12), entry("maps/b.bsp", 15)].concat();
        let head = [b"PACK".to_vec(), 18_u32.to_le_bytes().to_vec(), 128_u32.to_le_bytes().to_vec()].concat();
        std::fs::write(&path, [&head[..], b"onetwo", &directory].concat()).unwrap();
        let archives = Archives::default();
        assert_eq!(archives.read(&path, "maps/a.bsp").unwrap(), b"one");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(archives.read(&path, "maps/b.bsp").unwrap(), b"two");
        assert_eq!(archives.read(&path, "maps/c.bsp").unwrap_err().kind(), ErrorKind::NotFound);
    }
}
