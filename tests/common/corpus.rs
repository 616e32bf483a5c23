//! The real maps that laws are tried on: those in the folder `BSPKIT_CORPUS`, `tests/corpus` where that is not set.

use std::path::{Path, PathBuf};

/// The folder, which need not be there.
pub(crate) fn folder() -> PathBuf {
    let named = std::env::var_os("BSPKIT_CORPUS").map(PathBuf::from);
    // Tests of a crate run in its folder.
    let beside =
        || ["tests/corpus", "../../tests/corpus"].into_iter().map(PathBuf::from).find(|folder| folder.is_dir());
    named.or_else(beside).unwrap_or_else(|| "tests/corpus".into())
}

/// The maps in it, in order; a notice where there is none.
pub(crate) fn maps() -> Vec<PathBuf> {
    let folder = folder();
    let maps = under(&folder);
    if maps.is_empty() {
        eprintln!("notice: no corpus in {}; set BSPKIT_CORPUS to a folder of maps", folder.display());
    }
    maps
}

/// The maps below a folder, in order.
pub(crate) fn under(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    let is_map = |path: &PathBuf| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp"));
    found.into_iter().flat_map(|path| if path.is_dir() { under(&path) } else { vec![path] }).filter(is_map).collect()
}
