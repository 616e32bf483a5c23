//! The path of an embedded file on disk: below the folder, with a name that every operating system allows for a file.

use crate::content::pak::Pak;
use crate::face::names::Taken;
use crate::file::names;

/// Where an embedded file is below a folder.
///
/// ```
/// use bspkit::content::pak::Pak;
/// use bspkit::face::pak::paths;
/// let mut pak = Pak::new(b"");
/// pak.add("sound\\hit.wav", "RIFF")?;
/// assert_eq!(paths(&pak, &[0])[0].path.as_deref(), Ok(&b"sound/hit.wav"[..]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placed {
    /// The index of the embedded file.
    pub index: usize,
    /// The path, with `/` between its parts, or the reason why it has no path.
    pub path: Result<Vec<u8>, String>,
    /// Whether it is an entry for a folder.
    pub is_folder: bool,
    /// The file that has the same name without regard to case; this one got a number then.
    pub first: Option<usize>,
}

/// The paths of embedded files. All paths differ, also without regard to case.
pub fn paths(pak: &Pak<'_>, indices: &[usize]) -> Vec<Placed> {
    let mut taken = Taken::default();
    let placed = indices.iter().filter_map(|index| pak.get(*index)).map(|entry| {
        // An entry for a folder has no bytes.
        let bare = entry.name().strip_suffix(b"/").filter(|_| entry.size() == 0);
        let (index, is_folder) = (entry.index(), bare.is_some());
        match parts(bare.unwrap_or(entry.name())) {
            Err(why) => Placed { index, path: Err(why), is_folder, first: None },
            Ok(parts) if is_folder => Placed { index, path: Ok(parts.join(&b'/')), is_folder, first: None },
            Ok(parts) => {
                let (path, first) = taken.take(&parts.join(&b'/'), index);
                Placed { index, path: Ok(path), is_folder, first }
            }
        }
    });
    placed.collect()
}

/// The parts of a file's path below the folder.
///
/// # Errors
/// The reason why the name gives no such path.
fn parts(name: &[u8]) -> Result<Vec<&[u8]>, String> {
    match names::path_hazard(name) {
        Some(why) => Err(why.into()),
        None => Ok(name.split(|byte| matches!(byte, b'/' | b'\\')).collect()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_below_its_folder() {
        for bad in [
            "",
            "/a",
            "\\a",
            "..",
            "a/../b",
            "..\\a",
            "c:/a",
            "c:a",
            "a//b",
            "a/",
            "./a",
            "a\0b",
            "a\nb",
            "con",
            "a/NUL.txt",
            "Lpt1",
            "a.",
            "a /b",
            "aux .c",
            "com9.vmt",
            "conin$",
            "CONOUT$.txt",
            "com\u{b9}",
            "a/lpt\u{b3}.vmt",
            "a<b",
            "what?.vmt",
            "a*",
            "say \"x\"",
            ".git/config",
            "a/.GIT/config",
            "a/git~1/config",
            ".bashrc",
            "-rf",
            "~/x",
            "a\u{202e}b",
            "a\u{9b}b",
        ] {
            assert!(parts(bad.as_bytes()).is_err(), "{bad}");
        }
        for good in ["a", "a/b.c", "a\\b", "console/nul1", "com0", "wall~b", "caf\u{e9}"] {
            assert!(parts(good.as_bytes()).is_ok(), "{good}");
        }
        assert_eq!(parts(b"a\\b/\xff.vmt").unwrap(), [&b"a"[..], b"b", b"\xff.vmt"]);
    }
}
