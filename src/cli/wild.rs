//! Wildcards in arguments that the shell did not expand: those of Windows do not expand any.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use bspkit::content::pattern::Pattern;

/// The files that an argument with wildcards names, sorted; the argument itself if nothing matches, or if a file has
/// this name. `*` is any run of characters in a name and `?` is one; case does not matter. A name that begins with a
/// dot is found only by a dot.
pub(crate) fn expand(argument: &OsStr) -> Vec<OsString> {
    let path = Path::new(argument);
    if !is_wild(argument) || fs::symlink_metadata(path).is_ok() {
        return vec![argument.to_owned()];
    }
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        found = match part {
            Component::Normal(name) if is_wild(name) => found.iter().flat_map(|folder| entries(folder, name)).collect(),
            part => found.into_iter().map(|path| path.join(part)).filter(|path| path.exists()).collect(),
        };
    }
    match found.is_empty() {
        true => vec![argument.to_owned()],
        false => found.into_iter().map(PathBuf::into_os_string).collect(),
    }
}

/// Whether an argument has wildcards and names no file.
pub(crate) fn matches_nothing(path: &Path) -> bool {
    is_wild(path.as_os_str()) && fs::symlink_metadata(path).is_err()
}

fn is_wild(text: &OsStr) -> bool {
    text.as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?'))
}

/// The entries of a folder whose names match, sorted. A folder that cannot be read has none.
fn entries(folder: &Path, name: &OsStr) -> Vec<PathBuf> {
    let pattern = Pattern::whole(name.as_encoded_bytes());
    let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<OsString> = entries
        .filter(|entry| pattern.matches(entry.as_encoded_bytes()) && (is_hidden(name) || !is_hidden(entry)))
        .collect();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}
