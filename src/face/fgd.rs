//! FGD files with the files that they include.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::bytes::escaped;
use crate::content::assets::fgd::Fgd;
use crate::disk::{input, shown};

/// More files are not read.
const MOST_FILES: usize = 64;

/// Reads an FGD file and those that it includes, which are looked for in its folder; a file is read once. The second
/// value has a sentence for each included file that was skipped.
///
/// # Errors
/// The file itself cannot be read; more classes or keys than [`Fgd::read`] takes.
///
/// ```
/// let (fgd, skipped) = bspkit::face::fgd::read("tests/game/own.fgd".as_ref())?;
/// assert!(skipped.is_empty());
/// assert!(fgd.typed_keys().any(|key| key == (b"own_jukebox", b"record", b"sound")));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn read(path: &Path) -> Result<(Fgd, Vec<String>)> {
    let (mut fgd, mut skipped) = (Fgd::default(), Vec::new());
    let mut seen = HashSet::from([path.to_path_buf()]);
    let mut waiting: Vec<PathBuf> =
        fgd.read(&input::read(path)?)?.iter().rev().filter_map(|name| in_folder(path, name, &mut skipped)).collect();
    while let Some(next) = waiting.pop() {
        if seen.len() == MOST_FILES {
            skipped.push(format!("{} is skipped: at most {MOST_FILES} files are read", shown(&next)));
            break;
        }
        if !seen.insert(next.clone()) {
            continue;
        }
        match input::read(&next) {
            Ok(text) => {
                waiting.extend(fgd.read(&text)?.iter().rev().filter_map(|name| in_folder(&next, name, &mut skipped)))
            }
            Err(error) => skipped.push(format!("an included file is skipped: {error}")),
        }
    }
    Ok((fgd, skipped))
}

/// The path of an included file, which does not leave the folder.
fn in_folder(from: &Path, name: &[u8], skipped: &mut Vec<String>) -> Option<PathBuf> {
    let text = std::str::from_utf8(name).ok().map(|name| name.replace('\\', "/"));
    let is_inside = |name: &String| {
        let parts = Path::new(name).components().collect::<Vec<_>>();
        !parts.is_empty() && parts.iter().all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    let path = text.filter(is_inside).map(|name| from.with_file_name(name));
    if path.is_none() {
        skipped.push(format!("the included file `{}` is skipped: it is not in the folder of the first", escaped(name)));
    }
    path
}
