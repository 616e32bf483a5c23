//! Files that a command puts onto the disk beside no map: never over others, unless that was asked for.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Error, Result, bail};

use super::show::shown;

/// Writes a file. One that is there stays if it has these bytes already, and else is replaced where `force` says so; no
/// symbolic link is written through.
pub(crate) fn put(path: &Path, data: &[u8], force: bool) -> Result<()> {
    let cannot = || format!("cannot write {}", shown(path));
    let mut file = match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let there = fs::symlink_metadata(path).with_context(cannot)?;
            if !there.is_file() {
                bail!("{} is there and no plain file", shown(path));
            }
            let is_same = u64::try_from(data.len()) == Ok(there.len()) && fs::read(path).is_ok_and(|old| *old == *data);
            match force {
                _ if is_same => return Ok(()),
                false => return Err(Error::new(exists(path))),
                true => fs::remove_file(path).and_then(|()| File::create_new(path)),
            }
        }
        created => created,
    }
    .with_context(cannot)?;
    file.write_all(data).with_context(cannot)
}

fn exists(path: &Path) -> bspkit::Error {
    let message = format!("{} is there and has other bytes", shown(path));
    bspkit::Error::new(bspkit::ErrorKind::Refused, message).hint("--force replaces it")
}
