//! Embedded files as files in a folder: their paths, and the pakfile that a folder makes.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::contents::Kind;
use super::manifest::Part;
use super::original::{Embedded, at, crc};
use super::survey::{Survey, refuse_outside};
use crate::bytes::{escaped, unescape};
use crate::content::pak::Pak;
use crate::dialect::Role;
use crate::face::names::Taken;
use crate::file::names::escape;
use crate::{Bsp, Result};

/// The folder that `unpack` writes embedded files to.
pub(super) const FOLDER: &str = "pak";

/// The most bytes of a name that becomes a path; some systems allow 255.
const LONGEST: usize = 180;

/// The paths of names below the folder: the name itself if every operating system allows it. All paths differ, even
/// without regard to case, and none is a folder of another one.
pub(super) fn paths<'n>(names: impl Iterator<Item = &'n [u8]>) -> Vec<String> {
    let wanted: Vec<String> = names.enumerate().map(|(index, name)| path(name, index)).collect();
    let mut taken = Taken::default();
    let mut folders = HashSet::new();
    for path in &wanted {
        for (end, _) in path.match_indices('/') {
            if folders.insert(path[..end].to_ascii_lowercase()) {
                taken.take(&path.as_bytes()[..end], usize::MAX);
            }
        }
    }
    let take =
        |(index, path): (usize, String)| String::from_utf8_lossy(&taken.take(path.as_bytes(), index).0).into_owned();
    wanted.into_iter().enumerate().map(take).collect()
}

fn path(name: &[u8], index: usize) -> String {
    let parts: Vec<String> = name.split(|byte| *byte == b'/').map(part).collect();
    let path = parts.join("/");
    if path.len() > LONGEST { format!("%long/{index}") } else { path }
}

/// A part of a path, without what is hazardous on a disk.
fn part(part: &[u8]) -> String {
    if part.is_empty() { "%".to_owned() } else { escape(part, |_| false) }
}

/// The embedded files of a map that become files, each with its bytes; `write` is given its path and its bytes. Returns
/// the part of the manifest that names them, and adds them to the index.
pub(super) fn unpack(
    bsp: &Bsp<'_>,
    pak: &Pak<'_>,
    start: usize,
    warnings: &mut Vec<String>,
    write: &mut dyn FnMut(&str, &[u8]) -> Result<()>,
) -> Result<(BTreeMap<String, String>, Vec<Embedded>)> {
    let (mut names, mut embedded) = (BTreeMap::new(), Vec::new());
    let is_folder = |name: &[u8], size: usize| size == 0 && name.ends_with(b"/");
    let entries: Vec<_> = pak.iter().filter(|entry| !is_folder(entry.name(), entry.size())).collect();
    let all: Vec<usize> = entries.iter().map(crate::content::pak::Entry::index).collect();
    if let Err(error) = pak.check_total_size(&all) {
        warnings.push(format!("{error}: embedded files stay in the folder `original`"));
        return Ok((names, embedded));
    }
    let paths = paths(entries.iter().map(|entry| entry.name()));
    for (entry, path) in entries.iter().zip(paths) {
        let data = match entry.data() {
            Ok(data) => data,
            Err(error) => {
                warnings.push(format!("{error}: it stays in the folder `original`"));
                continue;
            }
        };
        if path.as_bytes() != entry.name() {
            names.insert(path.clone(), escaped(entry.name()).to_string());
        }
        write(&format!("{FOLDER}/{path}"), &data)?;
        let range = entry.stored_range().map(|range| start + range.start..start + range.end);
        let same = range.filter(|range| bsp.container().bytes().get(range.clone()) == Some(&*data));
        embedded.push(Embedded { file: path, entry: entry.index(), at: same.as_ref().map(at), crc: crc(&data) });
    }
    Ok((names, embedded))
}

/// Checks the part of the pakfile, and that its files are there.
///
/// # Errors
/// The lump is not the pakfile, or has a file as well; the first file of a listed name that is missing.
pub(super) fn check(part: &Part, kind: &Kind, survey: &Survey) -> Result<()> {
    let Some(folder) = part.folder.as_deref() else { return Ok(()) };
    if kind.lump(&part.lump).is_none() || kind.lump(&part.lump) != kind.dialect.role(Role::Pak) {
        return Err(part.wrong("folder", "only the pakfile has a folder of embedded files"));
    }
    refuse_outside(folder).map_err(|why| part.wrong("folder", why))?;
    if part.file.is_some() || part.rest.is_some() || part.nuls.is_some() {
        return Err(part.wrong("folder", "the lump has a folder, so it has no `file`, `rest` or `nuls`"));
    }
    let is_missing = |path: &&String| !survey.has(&format!("{folder}/{path}"));
    match part.names.keys().find(is_missing) {
        Some(path) => Err(part.wrong("names", format!("the file {folder}/{path} is missing"))),
        None => Ok(()),
    }
}

/// The names of embedded files that a manifest lists, by their paths in lower case.
pub(super) struct Names<'p>(HashMap<String, &'p str>);

impl<'p> Names<'p> {
    pub(super) fn of(part: &'p Part) -> Self {
        Names(part.names.iter().map(|(path, name)| (path.to_lowercase(), name.as_str())).collect())
    }

    /// The name of an embedded file, from the path of its file.
    pub(super) fn name(&self, path: &str) -> Vec<u8> {
        let listed = self.0.get(&path.to_lowercase());
        listed.map_or_else(|| path.as_bytes().to_vec(), |name| unescape(name))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_path_that_every_system_allows() {
        for (name, path) in [
            (&b"materials/a b.vmt"[..], "materials/a b.vmt"),
            (b"", "%"),
            (b"/a", "%/a"),
            (b"../../a", "%2E%2E/%2E%2E/a"),
            (b"a\\b", "a%5Cb"),
            (b"c:/x", "c%3A/x"),
            (b"con", "%63on"),
            (b"a/NUL.txt", "a/%4EUL.txt"),
            (b"a./b ", "a%2E/b%20"),
            (b".", "%2E"),
            (b".git/config", "%2Egit/config"),
            (b"GIT~1/config", "GIT%7E1/config"),
            (b"-rf", "%2Drf"),
            (b"~/x", "%7E/x"),
            (b"git.exe", "git%2Eexe"),
            (b"50%", "50%25"),
            (b"caf\xe9\n\0", "caf%E9%0A%00"),
        ] {
            assert_eq!(super::path(name, 0), path);
        }
        assert_eq!(super::path(&[b'a'; 200], 7), "%long/7");
    }

    #[test]
    fn paths_differ_without_regard_to_case() {
        let names = [&b"a/b"[..], b"A/B", b"a", b"a/b/c", b"x", b"x"];
        assert_eq!(paths(names.into_iter()), ["a/b~2", "A/B~3", "a~2", "a/b/c", "x", "x~2"]);
    }
}
