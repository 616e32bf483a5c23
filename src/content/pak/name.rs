//! Names: which ones are the same to an engine, and which ones no engine could look up.

use crate::bytes::escaped;
use crate::{Error, ErrorKind, Result};

/// The longest path that engines look up, without the NUL after it (`MAX_PATH`).
const LONGEST: usize = 259;

/// Files that file managers and version control create, in lower case.
const FILES: [&[u8]; 8] = [
    b".ds_store",
    b".directory",
    b".gitattributes",
    b".gitignore",
    b".gitkeep",
    b"desktop.ini",
    b"ehthumbs.db",
    b"thumbs.db",
];

/// Folders of the same kind.
const FOLDERS: [&[u8]; 9] = [
    b"$recycle.bin",
    b".fseventsd",
    b".git",
    b".hg",
    b".spotlight-v100",
    b".svn",
    b".trashes",
    b"__macosx",
    b"system volume information",
];

/// Whether a file is one that file managers, archivers or version control create, by its path with `/`.
///
/// ```
/// use bspkit::content::pak::is_of_system;
/// assert!(is_of_system(b"materials/Thumbs.db") && is_of_system(b"__MACOSX/a.vmt") && is_of_system(b"._a.vmt"));
/// assert!(!is_of_system(b"materials/a.vmt"));
/// ```
pub fn is_of_system(path: &[u8]) -> bool {
    let path = path.to_ascii_lowercase();
    let mut parts = path.rsplit(|byte| *byte == b'/');
    let last = parts.next().unwrap_or_default();
    FILES.contains(&last) || last.starts_with(b"._") || parts.any(|part| FOLDERS.contains(&part))
}

/// A name in the form in which engines look it up: names that are equal in this form are the same file to them.
///
/// ```
/// use bspkit::content::pak::lookup_name;
/// assert_eq!(lookup_name("Materials\\My\\Wall.vmt"), b"materials/my/wall.vmt");
/// ```
pub fn lookup_name(name: impl AsRef<[u8]>) -> Vec<u8> {
    name.as_ref().iter().map(|byte| folded(*byte)).collect()
}

/// A letter as engines compare it.
pub(in crate::content) fn folded(byte: u8) -> u8 {
    if byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() }
}

/// Whether two names are the same to engines.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    // Names in a pakfile often have the same beginning and different ends.
    one.len() == other.len()
        && one.iter().rev().zip(other.iter().rev()).all(|(one, other)| folded(*one) == folded(*other))
}

/// Why no engine looks for a file of this name, or no tool can put it on a disk.
pub(super) fn problem(name: &[u8]) -> Option<&'static str> {
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let mut parts = name.split(is_slash);
    match name {
        [] => Some("is empty"),
        _ if name.contains(&0) => Some("holds a NUL"),
        [first, ..] if is_slash(first) => Some("begins at the root, where engines find no file"),
        [_, b':', ..] => Some("names a drive, where engines find no file"),
        _ if parts.any(|part| part == b"..") => Some("leaves its folder with `..`"),
        _ if name.len() > LONGEST => Some("is longer than the 259 bytes that engines look up"),
        _ => None,
    }
}

/// Refuses names that no engine looks for.
pub(super) fn check(name: &[u8]) -> Result<()> {
    let problem = problem(name).or_else(|| name.ends_with(b"/").then_some("is that of a folder"));
    match problem {
        Some(why) => {
            let message = format!("no file can be called `{}`: the name {why}", escaped(name));
            Err(Error::new(ErrorKind::Refused, message))
        }
        None => Ok(()),
    }
}
