//! The folder that a map is unpacked to: until all of it is there, it is not an unpacked map.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::survey::Survey;
use super::{Folder, manifest};
use crate::face::{input, put, shown};
use crate::{Error, ErrorKind, Result};

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
/// use bspkit::face::folder::{Folder, Target, unpack};
/// let base = tempfile::tempdir().unwrap();
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
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
    /// The names of all files, once the first one is written.
    names: Option<File>,
    new: HashSet<String>,
    /// The manifest, which is written last.
    manifest: Vec<u8>,
}

impl<'f> Target<'f> {
    /// A folder, with the files of the map that was unpacked to it before, completely or not. Nothing is written yet.
    pub fn new(folder: &'f Path) -> Self {
        let mut old = Folder::open(folder).map_or_else(|_| Vec::new(), |folder| folder.files());
        if let (Ok(names), Ok(survey)) = (input::text(&folder.join(UNFINISHED)), Survey::of(folder)) {
            old.extend(names.lines().filter(|name| survey.has(name)).map(str::to_owned));
        }
        let (made, new) = (HashSet::new(), HashSet::new());
        Target { folder, made, old, names: None, new, manifest: Vec::new() }
    }

    /// Writes a file, by its path below the folder. The first one takes the manifest of an older map away.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it cannot be written, or a folder of its path is a link.
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
