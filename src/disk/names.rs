//! Names of files on disk: from bytes, and numbers that make equal names different.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::Result;

/// A path on disk from its bytes.
///
/// # Errors
/// [`crate::ErrorKind::Argument`] for bytes that are not UTF-8, on systems where paths are text.
#[cfg(unix)]
pub fn path(bytes: &[u8]) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// A path on disk from its bytes.
///
/// # Errors
/// [`crate::ErrorKind::Argument`] for bytes that are not UTF-8, on systems where paths are text.
#[cfg(not(unix))]
pub fn path(bytes: &[u8]) -> Result<PathBuf> {
    use crate::{Error, ErrorKind};
    let not_text = |_| {
        let message = format!("the path {} is not UTF-8", crate::bytes::escaped(bytes));
        Error::new(ErrorKind::Argument, message)
    };
    std::str::from_utf8(bytes).map(PathBuf::from).map_err(not_text)
}

/// The path that a map has in a game: without what follows `.bsp` and says how the file is compressed.
///
/// ```
/// use bspkit::disk::names;
/// assert_eq!(names::in_game("maps/dm4.bsp.gz".as_ref()), std::path::Path::new("maps/dm4.bsp"));
/// assert_eq!(names::in_game("maps/dm4.bsp".as_ref()), std::path::Path::new("maps/dm4.bsp"));
/// ```
pub fn in_game(path: &Path) -> PathBuf {
    if is_longer(path) { path.with_extension("") } else { path.to_path_buf() }
}

/// The name of a map: that of its file in a game without the extension. Files that belong to it have this name.
///
/// ```
/// assert_eq!(bspkit::disk::names::of_map("maps/dm4.bsp.gz".as_ref()), "dm4");
/// ```
pub fn of_map(path: &Path) -> &OsStr {
    let stem = path.file_stem().unwrap_or_default();
    if is_longer(path) { Path::new(stem).file_stem().unwrap_or_default() } else { stem }
}

/// Whether the name goes on after `.bsp`.
fn is_longer(path: &Path) -> bool {
    let is_bsp = |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp"));
    !is_bsp(path) && path.file_stem().is_some_and(|stem| is_bsp(Path::new(stem)))
}

/// Names that are in use. Case is ignored, as on many file systems.
///
/// ```
/// let mut taken = bspkit::disk::names::Taken::default();
/// assert_eq!(taken.take(b"wall.png", 0), (b"wall.png".to_vec(), None));
/// assert_eq!(taken.take(b"Wall.png", 1), (b"Wall~2.png".to_vec(), Some(0)));
/// ```
#[derive(Debug, Default)]
pub struct Taken(HashMap<Vec<u8>, Holder>);

/// The owner of the name of a folder.
pub const FOLDER: usize = usize::MAX;

/// The owner of a name, and the number for the next request of the same name.
#[derive(Debug)]
struct Holder {
    owner: usize,
    next: usize,
}

impl Taken {
    /// The names of all folders of these paths, which no file can have: their owner is [`FOLDER`].
    ///
    /// ```
    /// use bspkit::disk::names::{FOLDER, Taken};
    /// let mut taken = Taken::of_folders([&b"a/b/wall.vmt"[..]].into_iter());
    /// assert_eq!(taken.take(b"a/B", 0), (b"a/B~2".to_vec(), Some(FOLDER)));
    /// ```
    pub fn of_folders<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut taken = Taken::default();
        for path in paths {
            // Of a folder whose name is taken those above are too.
            for (end, _) in path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/') {
                let holder = Holder { owner: FOLDER, next: 2 };
                if taken.0.insert(path[..end].to_ascii_lowercase(), holder).is_some() {
                    break;
                }
            }
        }
        taken
    }

    /// A name for `owner`: the requested one if it is free, otherwise the first free one of `NAME~2.EXT`, `NAME~3.EXT`
    /// and so on, together with the owner of the requested name.
    ///
    /// A number is tried only once for a name, so that many equal names take linear time.
    pub fn take(&mut self, name: &[u8], owner: usize) -> (Vec<u8>, Option<usize>) {
        let key = name.to_ascii_lowercase();
        let Some(holder) = self.0.get(&key) else {
            self.0.insert(key, Holder { owner, next: 2 });
            return (name.to_vec(), None);
        };
        let (first, mut number) = (holder.owner, holder.next);
        let numbered = loop {
            let numbered = with_number(name, number);
            number += 1;
            if !self.0.contains_key(&numbered.to_ascii_lowercase()) {
                break numbered;
            }
        };
        self.0.insert(numbered.to_ascii_lowercase(), Holder { owner, next: 2 });
        self.0.insert(key, Holder { owner: first, next: number });
        (numbered, Some(first))
    }
}

/// A path with a number before its extension.
fn with_number(path: &[u8], number: usize) -> Vec<u8> {
    let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let dot = path[start..].iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0);
    let (stem, extension) = path.split_at(dot.map_or(path.len(), |at| start + at));
    [stem, format!("~{number}").as_bytes(), extension].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_get_numbers() {
        let mut taken = Taken::default();
        let mut take = |name: &str, owner| {
            let (name, first) = taken.take(name.as_bytes(), owner);
            (String::from_utf8_lossy(&name).into_owned(), first)
        };
        assert_eq!(take("a/b.vmt", 0), ("a/b.vmt".into(), None));
        assert_eq!(take("A/B.vmt", 1), ("A/B~2.vmt".into(), Some(0)));
        assert_eq!(take("a/b~3.vmt", 2), ("a/b~3.vmt".into(), None));
        assert_eq!(take("a/b.vmt", 3), ("a/b~4.vmt".into(), Some(0)));
        assert_eq!(take("a/b~2.vmt", 4), ("a/b~2~2.vmt".into(), Some(1)));
        assert_eq!(take("a.b/.c", 5), ("a.b/.c".into(), None));
        assert_eq!(take("a.b/.c", 6), ("a.b/.c~2".into(), Some(5)));
    }

    /// With a search from 2 for each name this would take minutes.
    #[test]
    fn equal_names_take_linear_time() {
        let mut taken = Taken::default();
        let last = (0..200_000).map(|owner| taken.take(b"x.vmt", owner).0).last();
        assert_eq!(last, Some(b"x~200000.vmt".to_vec()));
    }
}
