//! The maps on which edits of records are tried, and what an edit makes of them.

use std::path::Path;

use bspkit::{Bsp, Draft, Layout};

use super::corpus;

/// The maps of the repository, with their paths.
pub(crate) fn fixtures() -> Vec<(String, Bsp<'static>)> {
    // Tests of a crate run in its folder.
    let folder = ["tests/maps", "../../tests/maps"].into_iter().map(Path::new).find(|folder| folder.is_dir());
    let maps = corpus::under(folder.unwrap());
    maps.into_iter().map(|path| (path.display().to_string(), Bsp::open(&path).unwrap())).collect()
}

/// The maps of the corpus that open, up to a size in bytes; with `BSPKIT_LARGE`, up to the second one.
pub(crate) fn real(most: u64, large: u64) -> impl Iterator<Item = (String, Bsp<'static>)> {
    let most = if std::env::var_os("BSPKIT_LARGE").is_some() { large } else { most };
    let maps = corpus::maps().into_iter().filter(move |path| path.metadata().is_ok_and(|file| file.len() <= most));
    maps.filter_map(|path| Some((path.display().to_string(), Bsp::open(&path).ok()?)))
}

/// The map that a draft saves.
pub(crate) fn saved(draft: &Draft<'_>) -> Bsp<'static> {
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}
