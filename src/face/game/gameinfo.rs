//! The search paths of `gameinfo.txt`.
//!
//! Source: the comments in the files of the games themselves, and the description by Valve's developer community
//! (Gameinfo.txt). A path is below the folder of the engine, which is the one above the game's; `|gameinfo_path|` is
//! the folder of the file itself. `custom/*` means all folders and archives in `custom`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bytes::escaped;
use crate::content::assets::keyvalues::{KeyValues, Pair};
use crate::face::{input, names, shown};
use crate::{Error, ErrorKind, Result};

/// The parts of keys whose paths have content of the game. Others have programs, or places to write to.
const KINDS: [&[u8]; 3] = [b"game", b"mod", b"platform"];

/// Archives that the engines after the Orange Box mount in each folder, numbered from 1.
const MOST_NUMBERED: usize = 99;

/// More paths, and more entries of a folder with a wildcard, are not looked at.
const MOST_PATHS: usize = 4096;

const OF_FILE: &[u8] = b"|gameinfo_path|";
const OF_ENGINE: &[u8] = b"|all_source_engine_paths|";

/// Folders and archives in the order of the search paths, and what is missing.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) paths: Vec<PathBuf>,
    pub(super) faults: Vec<String>,
}

impl Found {
    fn add(&mut self, path: PathBuf) {
        if self.paths.len() < MOST_PATHS && !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }

    /// A folder, with the archives that engines mount in it.
    fn add_folder(&mut self, path: PathBuf) {
        let numbered = (1..=MOST_NUMBERED).map(|number| path.join(format!("pak{number:02}_dir.vpk")));
        let archives: Vec<PathBuf> = numbered.take_while(|archive| archive.is_file()).collect();
        self.add(path);
        archives.into_iter().for_each(|archive| self.add(archive));
    }
}

/// Finds everything that the `gameinfo.txt` of a folder names.
pub(super) fn search_paths(folder: &Path, found: &mut Found) -> Result<()> {
    let file = entry(folder, b"gameinfo.txt").filter(|file| file.is_file()).ok_or_else(|| no_game(folder))?;
    let text = KeyValues::parse(input::read(&file)?).map_err(|error| super::at(&file, &error))?;
    if let Some(fault) = text.fault() {
        found.faults.push(format!("{}: {fault}", shown(&file)));
    }
    let blocks = text.iter().find(|pair| pair.is_block() && pair.is("SearchPaths"));
    let paths = blocks.ok_or_else(|| super::cut(&file, "it has no block `SearchPaths`"))?;
    // The folder above may be named by a link or by `.`.
    let folder = folder.canonicalize().map_err(|error| input::cannot_read(folder, error))?;
    let engine = folder.parent().unwrap_or(&folder);
    for pair in paths.children().filter(|pair| pair.is_for_pc() && is_content(pair)) {
        let Some(value) = pair.value().map(<[u8]>::trim_ascii) else { continue };
        let is_prefix =
            |prefix: &[u8]| value.len() >= prefix.len() && value[..prefix.len()].eq_ignore_ascii_case(prefix);
        let (base, rest) = match value {
            _ if is_prefix(OF_FILE) => (&*folder, &value[OF_FILE.len()..]),
            _ if is_prefix(OF_ENGINE) => (engine, &value[OF_ENGINE.len()..]),
            _ => (engine, value),
        };
        expand(base, rest, &file, pair.line(), found)?;
    }
    Ok(())
}

/// Whether a key is one for content: `game+mod`, not `gamebin`.
fn is_content(pair: &Pair<'_, '_>) -> bool {
    let mut kinds = pair.key().split(|byte| *byte == b'+').map(|kind| kind.trim_ascii().to_ascii_lowercase());
    kinds.any(|kind| KINDS.contains(&&kind[..]))
}

fn expand(base: &Path, rest: &[u8], file: &Path, line: usize, found: &mut Found) -> Result<()> {
    let missing = |what: &str| format!("{}, line {line}: {what}", shown(file));
    let mut at = base.to_path_buf();
    let parts: Vec<&[u8]> = rest.split(|byte| matches!(byte, b'/' | b'\\')).collect();
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        match *part {
            [] | b"." => {}
            b".." => drop(at.pop()),
            b"*" if is_last => {
                at_each(&at, found);
                return Ok(());
            }
            part if part.contains(&b'*') => {
                found.faults.push(missing(&format!("the wildcard in `{}` is not read", escaped(rest))));
                return Ok(());
            }
            part => match entry(&at, part).or_else(|| archive(&at, part).filter(|_| is_last)) {
                Some(path) => at = path,
                // Without the folder it has no mods.
                None if parts.last() == Some(&&b"*"[..]) => return Ok(()),
                None => {
                    let path = at.join(names::path(part)?);
                    found.faults.push(missing(&format!("{} does not exist", shown(&path))));
                    return Ok(());
                }
            },
        }
    }
    if at.is_dir() {
        found.add_folder(at)
    } else {
        found.add(at)
    }
    Ok(())
}

/// All folders and archives in a folder, sorted by name. A folder that is missing has none.
fn at_each(folder: &Path, found: &mut Found) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_PATHS);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_by_key(|path| path.as_os_str().to_ascii_lowercase());
    for path in paths {
        if path.is_dir() {
            found.add_folder(path);
        } else if is_directory_of_archive(&path) {
            found.add(path);
        }
    }
}

/// Whether a file is an archive, or the directory of one, and not one of its numbered parts.
fn is_directory_of_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes().to_ascii_lowercase();
    let Some(stem) = name.strip_suffix(b".vpk") else { return false };
    let digits = stem.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    !(digits == 3 && stem[..stem.len() - 3].ends_with(b"_"))
}

/// The directory of an archive that is named without `_dir`.
fn archive(folder: &Path, name: &[u8]) -> Option<PathBuf> {
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix(b".vpk")?;
    entry(folder, &[stem, b"_dir.vpk"].concat())
}

/// An entry of a folder, by its name without regard to case.
fn entry(folder: &Path, name: &[u8]) -> Option<PathBuf> {
    let exact = folder.join(names::path(name).ok()?);
    if exact.exists() {
        return Some(exact);
    }
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut same = entries.filter(|entry| entry.file_name().as_encoded_bytes().eq_ignore_ascii_case(name));
    same.next().map(|entry| entry.path())
}

/// The error for a folder without `gameinfo.txt`, with the folders in it that have one.
fn no_game(folder: &Path) -> Error {
    let message = format!("{} is not the folder of a game: it has no gameinfo.txt", shown(folder));
    let inside = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_PATHS).map(|entry| entry.path());
    let mut games: Vec<String> =
        inside.filter(|path| entry(path, b"gameinfo.txt").is_some()).map(|path| shown(&path)).collect();
    games.sort();
    let hint = match games.is_empty() {
        true => "name the folder that has the file gameinfo.txt, such as `Team Fortress 2/tf`".to_owned(),
        false => format!("these folders in it have one: {}", games.join(", ")),
    };
    Error::new(ErrorKind::NotFound, message).with_hint(hint)
}
