//! Files on the disk that engines find by the name of a map.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use bspkit::op::rename::{FILES, Rename};

/// The most files of a folder that are looked at.
const MOST: usize = 100_000;

/// The files beside a map that have its name, with their new paths: in its folder, and, if that is called `maps`, in
/// all folders where engines look for files of a map.
pub(super) fn files(map: &Path, rename: &Rename) -> Vec<(PathBuf, PathBuf)> {
    let folder = map.parent().unwrap_or(Path::new(""));
    let is_maps = folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case("maps"));
    let mut folders: Vec<&str> =
        FILES.iter().map(|(before, _)| before.rsplit_once('/').map_or("", |(folder, _)| folder)).collect();
    folders.sort_unstable();
    folders.dedup();
    let mut found = Vec::new();
    for name in folders {
        let place = match name.strip_prefix("maps") {
            Some(below) => folder.join(below.trim_start_matches('/')),
            None if is_maps => folder.with_file_name("").join(name),
            None => continue,
        };
        found.extend(in_folder(&place, name, rename));
    }
    found.retain(|(old, _)| old != map);
    found.sort();
    found
}

/// The files of one folder, which engines know by this name.
fn in_folder(place: &Path, name: &str, rename: &Rename) -> Vec<(PathBuf, PathBuf)> {
    let here = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    let Ok(entries) = fs::read_dir(here) else { return Vec::new() };
    let renamed = |entry: fs::DirEntry| {
        let file = entry.file_name();
        let path = [name.as_bytes(), b"/", file.as_encoded_bytes()].concat();
        // A folder of the map is known by the files in it.
        let inner: &[u8] = if entry.path().is_dir() { b"/x" } else { b"" };
        let new = rename.file([&path, inner].concat())?;
        let new = new.strip_suffix(inner)?.rsplit(|byte| *byte == b'/').next()?.to_vec();
        let new = String::from_utf8(new).ok()?;
        (OsStr::new(&new) != file).then(|| (place.join(&file), place.join(new)))
    };
    entries.take(MOST).flatten().filter_map(renamed).collect()
}
