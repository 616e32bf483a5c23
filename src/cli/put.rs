//! Writes files that are not maps: completely or not at all, and over existing files only on request.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use bspkit::file::Temporary;

use super::maps::real_path;
use super::show::shown;

/// Writes a file. An existing file with the same bytes is left as it is; another one is replaced only with `force`. A
/// symbolic link is not followed.
pub(crate) fn put(path: &Path, data: &[u8], force: bool) -> Result<()> {
    if let Ok(there) = fs::symlink_metadata(path) {
        if !there.is_file() {
            bail!("{} exists and is not a regular file", shown(path));
        }
        let is_same = u64::try_from(data.len()) == Ok(there.len()) && fs::read(path).is_ok_and(|old| *old == *data);
        match (is_same, force) {
            (true, _) => return Ok(()),
            (_, false) => return Err(Error::new(exists(path, "with other content"))),
            (_, true) => {}
        }
    }
    stream(path, force, |file| Ok(file.write_all(data)?))
}

/// Writes a file in pieces: first to a temporary file in the same folder, which then gets its name. So the file that is
/// replaced can be read during the write.
pub(crate) fn stream(path: &Path, force: bool, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let cannot = || format!("cannot write {}", shown(path));
    refuse(path, force)?;
    let temporary = Temporary::beside(path).with_context(cannot)?;
    let mut file = BufWriter::new(temporary.file());
    write(&mut file).with_context(cannot)?;
    file.into_inner().map_err(io::IntoInnerError::into_error).with_context(cannot)?;
    let named = match force {
        true => temporary.persist(path),
        false => temporary.persist_new(path),
    };
    match named {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::new(exists(path, "already"))),
        named => named.with_context(cannot),
    }
}

/// Refuses an existing file, except with `force`.
pub(crate) fn refuse(path: &Path, force: bool) -> Result<()> {
    match !force && fs::symlink_metadata(path).is_ok() {
        true => Err(Error::new(exists(path, "already"))),
        false => Ok(()),
    }
}

/// Refuses a path that is the input map.
pub(crate) fn spare(path: &Path, map: &Path) -> Result<()> {
    let real = |path: &Path| real_path(path).ok().flatten();
    match real(path).is_some() && real(path) == real(map) {
        true => bail!("{} is the input map: name another file", shown(path)),
        false => Ok(()),
    }
}

fn exists(path: &Path, how: &str) -> bspkit::Error {
    let message = format!("{} exists {how}", shown(path));
    bspkit::Error::new(bspkit::ErrorKind::Refused, message).with_hint("--force replaces it")
}
