//! Files that the program writes are not those that it reads.

use std::path::Path;

use anyhow::{Result, bail};

use super::maps::real_path;
use super::show::shown;

/// Refuses a path that is the input map.
pub(crate) fn spare(path: &Path, map: &Path) -> Result<()> {
    let real = |path: &Path| real_path(path).ok().flatten();
    match real(path).is_some() && real(path) == real(map) {
        true => bail!("{} is the input map: name another file", shown(path)),
        false => Ok(()),
    }
}
