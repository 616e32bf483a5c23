//! A map that is saved under another file name, and the maps that lead to it.

use std::path::Path;

use super::{MapFile, Maps, Trouble, real_path, walk};

impl Maps {
    /// One map, which is saved under another file name, and the other maps in a folder.
    pub(crate) fn renamed(map: &Path, name: &Path, folder: Option<&Path>) -> Self {
        let mut maps = Maps::find(&[map]);
        let Some(folder) = folder else {
            maps.found.iter_mut().flatten().for_each(|map| map.name = name.to_path_buf());
            return maps;
        };
        let real = |path: &Path| real_path(path).ok().flatten();
        let own = real(map);
        let is_own = |found: &Result<MapFile, Trouble>| found.as_ref().is_ok_and(|found| real(&found.path) == own);
        let (same, others): (Vec<_>, Vec<_>) = walk::folder(folder).into_iter().partition(is_own);
        // In the folder it keeps its place, and only the last part of its name changes.
        let name =
            same.iter().flatten().next().map_or_else(|| name.to_path_buf(), |same| same.name.with_file_name(name));
        maps.found.iter_mut().flatten().for_each(|map| (map.name, map.is_one_of_many) = (name.clone(), true));
        maps.found.extend(others.into_iter().filter(|found| !is_empty_folder(found)));
        maps.many = true;
        maps
    }
}

/// Whether this says that a folder has no maps.
fn is_empty_folder(found: &Result<MapFile, Trouble>) -> bool {
    found.as_ref().is_err_and(|trouble| !trouble.is_map)
}
