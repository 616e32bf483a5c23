//! VPK archives on disk: the directory in memory, and files that are read from its parts.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bspkit::disk::{input, shown};
use bspkit::{Error, ErrorKind, Result};

use crate::assets::vpk::{Part, Vpk};

#[derive(Debug)]
pub(super) struct Parts {
    path: PathBuf,
    directory: Vpk<'static>,
}

impl Parts {
    /// Opens the directory of an archive. Of one whose name ends in neither `_dir.vpk` nor a number the file with the
    /// directory is found as engines find it: `hl2_misc.vpk` means `hl2_misc_dir.vpk`, if that is there.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let path = directory(path);
        let directory = Vpk::parse(input::read(&path)?)
            .map_err(|error| Error::new(error.kind(), format!("{}: {error}", shown(&path))))?;
        Ok(Parts { path, directory })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.directory.names()
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.directory.has(name)
    }

    pub(super) fn read(&self, name: &[u8], most: usize) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.directory.get(name) else { return Ok(None) };
        file.read(name, most, |part, bytes| self.append(part, bytes)).map(Some)
    }

    /// Adds the bytes of a part.
    fn append(&self, part: Part, bytes: &mut Vec<u8>) -> Result<()> {
        let path = match part.archive {
            None => self.path.clone(),
            Some(number) => self.part(number),
        };
        let cannot = |error| input::cannot_read(&path, error);
        let mut file = File::open(&path).map_err(cannot)?;
        let end = part.offset.checked_add(bspkit::bytes::wide(part.size));
        let size = file.metadata().map_err(cannot)?.len();
        if end.is_none_or(|end| end > size) {
            let what = format!("it has {size} bytes, but the directory names {} at {}", part.size, part.offset);
            return Err(Error::new(ErrorKind::Malformed, format!("{}: {what}", shown(&path))));
        }
        file.seek(SeekFrom::Start(part.offset)).map_err(cannot)?;
        file.take(bspkit::bytes::wide(part.size)).read_to_end(bytes).map_err(cannot)?;
        Ok(())
    }

    /// The path of a numbered part.
    fn part(&self, number: u16) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default().as_encoded_bytes();
        let stem = stem.strip_suffix(b"_dir").unwrap_or(stem);
        let name = [stem, format!("_{number:03}.vpk").as_bytes()].concat();
        // A name that was a path's is one again.
        bspkit::disk::names::path(&name).map_or_else(|_| self.path.clone(), |name| self.path.with_file_name(name))
    }
}

/// The file with the directory.
pub(crate) fn directory(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default();
    let mut name = stem.to_os_string();
    name.push("_dir.vpk");
    let directory = path.with_file_name(name);
    let is_vpk = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vpk"));
    let may_be_part = is_vpk && !stem.as_encoded_bytes().ends_with(b"_dir");
    if may_be_part && directory.is_file() { directory } else { path.to_path_buf() }
}
