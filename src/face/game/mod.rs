//! The files of a game on disk: the search paths of its `gameinfo.txt`, loose folders, VPK archives, and lists of
//! names.
//!
//! Reading never stops at a part that is damaged or missing: it is named in [`Game::faults`] and skipped.
//!
//! ```
//! use bspkit::content::assets::Files;
//! use bspkit::face::game::Game;
//! let folder = tempfile::tempdir()?;
//! std::fs::create_dir_all(folder.path().join("own/Materials"))?;
//! std::fs::write(folder.path().join("own/Materials/Wall.vmt"), "VertexLitGeneric {}")?;
//! let paths = "GameInfo { FileSystem { SearchPaths { game |gameinfo_path|. } } }";
//! std::fs::write(folder.path().join("own/gameinfo.txt"), paths)?;
//!
//! let mut game = Game::default();
//! game.add_game(&folder.path().join("own"))?;
//! assert!(game.has(b"materials/wall.vmt") && !game.has(b"materials/floor.vmt"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod gameinfo;
mod loose;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::bytes::Data;
use crate::content::assets::{Files, normal_name};
use crate::face::{input, shown};
use crate::{Error, ErrorKind, Result};

use archive::Archive;
use gameinfo::Found;
use loose::Loose;

/// Files of a game, from any number of places; of several with one name the first is found.
#[derive(Debug, Default)]
pub struct Game {
    mounts: Vec<Mount>,
    faults: Vec<String>,
}

/// A place with files.
#[derive(Debug)]
enum Mount {
    Loose(Loose),
    Archive(Box<Archive>),
    /// Names, from a list.
    Names(PathBuf, HashSet<Vec<u8>>),
}

impl Mount {
    fn has(&self, name: &[u8]) -> bool {
        match self {
            Mount::Loose(folder) => folder.path(name).is_some(),
            Mount::Archive(archive) => archive.has(name),
            Mount::Names(_, names) => names.contains(name),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Mount::Loose(folder) => folder.root(),
            Mount::Archive(archive) => archive.path(),
            Mount::Names(path, _) => path,
        }
    }
}

impl Game {
    /// Adds all places that the `gameinfo.txt` of a game's folder names: folders and archives. Those that are missing
    /// or damaged are faults.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a folder without a `gameinfo.txt`; [`ErrorKind::Malformed`] for one without search
    /// paths.
    pub fn add_game(&mut self, folder: &Path) -> Result<()> {
        let mut found = Found::default();
        gameinfo::search_paths(folder, &mut found)?;
        self.faults.append(&mut found.faults);
        for path in found.paths {
            let is_archive = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vpk"));
            match is_archive {
                true => self.add_archive(&path).unwrap_or_else(|error| self.faults.push(describe(&error))),
                false => self.mounts.push(Mount::Loose(Loose::new(path))),
            }
        }
        Ok(())
    }

    /// Adds a folder of loose files, or an archive (`*_dir.vpk`, or one file with everything).
    ///
    /// # Errors
    /// Those of [`Vpk::parse`](crate::content::assets::vpk::Vpk::parse) with the path; [`ErrorKind::Io`] if there is
    /// neither a folder nor a file.
    pub fn add(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            self.mounts.push(Mount::Loose(Loose::new(path.to_path_buf())));
            return Ok(());
        }
        self.add_archive(path)
    }

    fn add_archive(&mut self, path: &Path) -> Result<()> {
        // A search path may name an archive that a folder has by itself.
        if self.mounts.iter().any(|mount| mount.path() == path) {
            return Ok(());
        }
        self.mounts.push(Mount::Archive(Box::new(Archive::open(path)?)));
        Ok(())
    }

    /// Adds the names of a list: one in each line; what follows `//` or `#` is a comment. The files cannot be read.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be read.
    pub fn add_names(&mut self, path: &Path) -> Result<()> {
        let text = input::read(path)?;
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
        let names = text.split(|byte| *byte == b'\n').map(|line| {
            let comment = line.windows(2).position(|two| two == b"//").unwrap_or(line.len());
            let comment = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len()).min(comment);
            normal_name(line[..comment].trim_ascii().trim_ascii_start())
        });
        self.mounts.push(Mount::Names(path.to_path_buf(), names.filter(|name| !name.is_empty()).collect()));
        Ok(())
    }

    /// Whether there is no place at all.
    pub fn is_empty(&self) -> bool {
        self.mounts.is_empty()
    }

    /// Everything that is missing or damaged, each in a sentence.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// The folder, archive or list that has a file.
    pub fn place(&self, name: &[u8]) -> Option<&Path> {
        self.mounts.iter().find(|mount| mount.has(name)).map(Mount::path)
    }
}

/// An error and its cause in one line.
fn describe(error: &Error) -> String {
    let cause = std::error::Error::source(error).map_or(String::new(), |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

impl Files for Game {
    fn has(&self, name: &[u8]) -> bool {
        self.mounts.iter().any(|mount| mount.has(name))
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        match self.mounts.iter().find(|mount| mount.has(name)) {
            Some(Mount::Loose(folder)) => folder.read(name, most).map(|bytes| bytes.map(Data::from)),
            Some(Mount::Archive(archive)) => archive.read(name, most).map(|bytes| bytes.map(Data::from)),
            Some(Mount::Names(..)) | None => Ok(None),
        }
    }
}

/// An error about a file on disk.
fn at(path: &Path, error: &Error) -> Error {
    Error::new(error.kind(), format!("{}: {error}", shown(path)))
}

/// The error for a file whose bytes are not there.
fn cut(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("{}: {what}", shown(path)))
}
