//! Files that a command writes and that are not maps: whole or not at all, and never over others, unless that was asked
//! for.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use bspkit::file::Temporary;

use super::maps::real_path;
use super::show::shown;

/// Writes a file. One that is there stays if it has these bytes already, and else is replaced where `force` says so; no
/// symbolic link is written through.
pub(crate) fn put(path: &Path, data: &[u8], force: bool) -> Result<()> {
    if let Ok(there) = fs::symlink_metadata(path) {
        if !there.is_file() {
            bail!("{} is there and no plain file", shown(path));
        }
        let is_same = u64::try_from(data.len()) == Ok(there.len()) && fs::read(path).is_ok_and(|old| *old == *data);
        match (is_same, force) {
            (true, _) => return Ok(()),
            (_, false) => return Err(Error::new(exists(path, "and has other bytes"))),
            (_, true) => {}
        }
    }
    stream(path, force, |file| Ok(file.write_all(data)?))
}

/// Writes a file piece by piece into another one beside it, which then takes its name: what is read while it is written
/// may be the file that is replaced.
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

/// Says no to a file that is there, unless it may be replaced.
pub(crate) fn refuse(path: &Path, force: bool) -> Result<()> {
    match !force && fs::symlink_metadata(path).is_ok() {
        true => Err(Error::new(exists(path, "already"))),
        false => Ok(()),
    }
}

/// Says no to a file that is the map which is read.
pub(crate) fn spare(path: &Path, map: &Path) -> Result<()> {
    let real = |path: &Path| real_path(path).ok().flatten();
    match real(path).is_some() && real(path) == real(map) {
        true => bail!("{} is the map that is read", shown(path)),
        false => Ok(()),
    }
}

fn exists(path: &Path, how: &str) -> bspkit::Error {
    let message = format!("{} is there {how}", shown(path));
    bspkit::Error::new(bspkit::ErrorKind::Refused, message).with_hint("--force replaces it")
}
