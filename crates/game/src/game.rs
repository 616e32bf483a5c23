//! The files of a game on disk: the search paths of its `gameinfo.txt`, loose folders, VPK archives, and lists of
//! names.
//!
//! Reading never stops at a part that is damaged or missing: it is named in [`Game::faults`] and skipped.
//!
//! ```
//! use bspkit_game::assets::Files;
//! use bspkit_game::Game;
//! let folder = tempfile::tempdir()?;
//! std::fs::create_dir_all(folder.path().join("own/Materials"))?;
//! std::fs::write(folder.path().join("own/Materials/Wall.vmt"), "VertexLitGeneric {}")?;
//! let paths = "GameInfo { FileSystem { SearchPaths { game |gameinfo_path|. } } }";
//! std::fs::write(folder.path().join("own/gameinfo.txt"), paths)?;
//!
//! let mut game = Game::default();
//! game.add_game(&folder.path().join("own"))?;
//! assert!(game.has(b"materials/wall.vmt") && !game.has(b"materials/floor.vmt"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::archive::{Archive, vpk_directory};
use crate::assets::keyvalues::{KeyValues, Pair};
use crate::assets::{Files, is_in, normal_name};
use bspkit::bytes::{Data, escaped};
use bspkit::disk::{input, names, shown};
use bspkit::{Error, ErrorKind, Result};

/// Files of a game, from any number of places; of several with one name the first is found. These are the files that
/// every player has: what one player added or downloaded is not among them, unless it is asked for
/// ([`Game::of_this_machine`]).
#[derive(Debug, Default)]
pub struct Game {
    mounts: Vec<Mount>,
    faults: Vec<String>,
    has_own: bool,
}

/// A place with files.
#[derive(Debug)]
enum Mount {
    Loose(Loose),
    Archive(Box<Archive>),
    /// Names, from a list.
    Names(PathBuf, HashSet<Vec<u8>>),
}

impl Mount {
    fn has(&self, name: &[u8]) -> bool {
        match self {
            Mount::Loose(folder) => folder.path(name).is_some(),
            Mount::Archive(archive) => archive.has(name),
            Mount::Names(_, names) => names.contains(name),
        }
    }

    fn names_in(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        let is_inside = |name: &&[u8]| is_in(name, folder);
        match self {
            Mount::Loose(root) => {
                root.listing(folder).files.keys().map(|name| [folder, b"/", &name[..]].concat()).collect()
            }
            Mount::Archive(archive) => archive.normal_names().filter(is_inside).map(<[u8]>::to_vec).collect(),
            Mount::Names(_, names) => names.iter().filter(|name| is_in(name, folder)).cloned().collect(),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Mount::Loose(folder) => folder.root(),
            Mount::Archive(archive) => archive.path(),
            Mount::Names(path, _) => path,
        }
    }
}

impl Game {
    /// A game as it is on this machine: search paths in `custom`, and those of downloads, are read too.
    ///
    /// ```
    /// use bspkit_game::{Game, assets::Files};
    /// let folder = tempfile::tempdir()?;
    /// std::fs::create_dir_all(folder.path().join("own/custom/mine/materials"))?;
    /// std::fs::write(folder.path().join("own/custom/mine/materials/wall.vmt"), "VertexLitGeneric {}")?;
    /// let paths = "GameInfo { FileSystem { SearchPaths { game |gameinfo_path|custom/* } } }";
    /// std::fs::write(folder.path().join("own/gameinfo.txt"), paths)?;
    ///
    /// let (mut all, mut here) = (Game::default(), Game::of_this_machine());
    /// all.add_game(&folder.path().join("own"))?;
    /// here.add_game(&folder.path().join("own"))?;
    /// assert!(here.has(b"materials/wall.vmt") && !all.has(b"materials/wall.vmt"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_this_machine() -> Self {
        Game { has_own: true, ..Game::default() }
    }

    /// Adds the folder of a game: of Source as [`add_source_game`](Self::add_source_game); of another game, which has
    /// no `gameinfo.txt`, its archives (`*.pak`, `*.pk3`, `*.pk4`), the last by name first as engines search them, and
    /// then its loose files. An archive is taken for the game too.
    ///
    /// # Errors
    /// Those of [`add_source_game`](Self::add_source_game) and [`add`](Self::add). An archive in the folder that cannot
    /// be read is a fault.
    pub fn add_game(&mut self, folder: &Path) -> Result<()> {
        if !folder.is_dir() {
            return self.add(folder);
        }
        if entry(folder, b"gameinfo.txt").is_some() {
            return self.add_source_game(folder);
        }
        for archive in archives_in(folder) {
            self.add_archive(&archive).unwrap_or_else(|error| self.faults.push(describe(&error)));
        }
        self.add(folder)
    }

    /// Adds all places that the `gameinfo.txt` of a game's folder names: folders and archives. Those that are missing
    /// or damaged are faults.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a folder without a `gameinfo.txt`; [`ErrorKind::Malformed`] for one without search
    /// paths.
    pub fn add_source_game(&mut self, folder: &Path) -> Result<()> {
        let mut found = Found::default();
        search_paths(folder, self.has_own, &mut found)?;
        self.faults.append(&mut found.faults);
        for path in found.paths {
            let is_archive = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vpk"));
            match is_archive {
                true => self.add_archive(&path).unwrap_or_else(|error| self.faults.push(describe(&error))),
                false => self.mounts.push(Mount::Loose(Loose::new(path))),
            }
        }
        Ok(())
    }

    /// Adds a folder of loose files, or an [`Archive`].
    ///
    /// # Errors
    /// Those of [`Archive::open`]; [`ErrorKind::Io`] if there is neither a folder nor a file.
    pub fn add(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            self.mounts.push(Mount::Loose(Loose::new(path.to_path_buf())));
            return Ok(());
        }
        self.add_archive(path)
    }

    fn add_archive(&mut self, path: &Path) -> Result<()> {
        // A search path may name an archive that a folder has by itself.
        let path = &vpk_directory(path);
        if self.mounts.iter().any(|mount| mount.path() == path) {
            return Ok(());
        }
        self.mounts.push(Mount::Archive(Box::new(Archive::open(path)?)));
        Ok(())
    }

    /// Adds the names of a list: one in each line; what follows `//` or `#` is a comment. The files cannot be read.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be read.
    pub fn add_names(&mut self, path: &Path) -> Result<()> {
        let text = input::read(path)?;
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
        let names = text.split(|byte| *byte == b'\n').map(|line| {
            let comment = line.windows(2).position(|two| two == b"//").unwrap_or(line.len());
            let comment = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len()).min(comment);
            normal_name(line[..comment].trim_ascii().trim_ascii_start())
        });
        self.mounts.push(Mount::Names(path.to_path_buf(), names.filter(|name| !name.is_empty()).collect()));
        Ok(())
    }

    /// Whether there is no place at all.
    pub fn is_empty(&self) -> bool {
        self.mounts.is_empty()
    }

    /// Everything that is missing or damaged, each in a sentence.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// The folder, archive or list that has a file.
    pub fn place(&self, name: &[u8]) -> Option<&Path> {
        self.mounts.iter().find(|mount| mount.has(name)).map(Mount::path)
    }
}

/// An error and its cause in one line.
fn describe(error: &Error) -> String {
    let cause = std::error::Error::source(error).map_or(String::new(), |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

impl Files for Game {
    fn has(&self, name: &[u8]) -> bool {
        self.mounts.iter().any(|mount| mount.has(name))
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        match self.mounts.iter().find(|mount| mount.has(name)) {
            Some(Mount::Loose(folder)) => folder.read(name, most).map(|bytes| bytes.map(Data::from)),
            Some(Mount::Archive(archive)) => archive.read(name, most).map(|bytes| bytes.map(Data::from)),
            Some(Mount::Names(..)) | None => Ok(None),
        }
    }

    fn names_in(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        self.mounts.iter().flat_map(|mount| mount.names_in(folder)).collect()
    }
}

/// An error about a file on disk.
fn at(path: &Path, error: &Error) -> Error {
    Error::new(error.kind(), format!("{}: {error}", shown(path)))
}

/// The error for a file whose bytes are not there.
fn cut(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("{}: {what}", shown(path)))
}

// The search paths of `gameinfo.txt`.
//
// Source: the comments in the files of the games themselves, and the description by Valve's developer community
// (Gameinfo.txt). A path is below the folder of the engine, which is the one above the game's; `|gameinfo_path|` is
// the folder of the file itself. `custom/*` means all folders and archives in `custom`.

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
struct Found {
    paths: Vec<PathBuf>,
    faults: Vec<String>,
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

/// Finds everything that the `gameinfo.txt` of a folder names, or what of it every player has.
fn search_paths(folder: &Path, has_own: bool, found: &mut Found) -> Result<()> {
    let file = entry(folder, b"gameinfo.txt").filter(|file| file.is_file()).ok_or_else(|| no_game(folder))?;
    let text = KeyValues::parse(input::read(&file)?).map_err(|error| at(&file, &error))?;
    if let Some(fault) = text.fault() {
        found.faults.push(format!("{}: {fault}", shown(&file)));
    }
    let blocks = text.iter().find(|pair| pair.is_block() && pair.is("SearchPaths"));
    let paths = blocks.ok_or_else(|| cut(&file, "it has no block `SearchPaths`"))?;
    // The folder above may be named by a link or by `.`.
    let folder = folder.canonicalize().map_err(|error| input::cannot_read(folder, error))?;
    let engine = folder.parent().unwrap_or(&folder);
    for pair in paths.children().filter(|pair| pair.is_for_pc() && is_content(pair)) {
        let Some(value) = pair.value().map(<[u8]>::trim_ascii) else { continue };
        if !has_own && is_own(&pair, value) {
            continue;
        }
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

/// The archives in the folder of a game that is not one of Source, in the order in which its engine searches them.
fn archives_in(folder: &Path) -> Vec<PathBuf> {
    let is_archive = |path: &PathBuf| {
        let is_kind = |kind: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(kind));
        ["pak", "pk3", "pk4"].into_iter().any(is_kind) && path.is_file()
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_PATHS);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_archive).collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.as_os_str().to_ascii_lowercase()));
    paths
}

/// Whether a key is one for content: `game+mod`, not `gamebin`.
fn is_content(pair: &Pair<'_, '_>) -> bool {
    let mut kinds = pair.key().split(|byte| *byte == b'+').map(|kind| kind.trim_ascii().to_ascii_lowercase());
    kinds.any(|kind| KINDS.contains(&&kind[..]))
}

/// Whether a path has what one player added (`custom`) or got from servers (a key with `download`).
fn is_own(pair: &Pair<'_, '_>, path: &[u8]) -> bool {
    let is = |part: &[u8], name: &[u8]| part.trim_ascii().eq_ignore_ascii_case(name);
    let after_prefix = path.rsplit(|byte| *byte == b'|').next().unwrap_or_default();
    pair.key().split(|byte| *byte == b'+').any(|kind| is(kind, b"download"))
        || after_prefix.split(|byte| matches!(byte, b'/' | b'\\')).any(|part| is(part, b"custom"))
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

// A folder of loose files, in which names are found without regard to case, as games find them on Windows.

/// A folder whose folders are listed when a name in them is looked for, once.
#[derive(Debug)]
struct Loose {
    root: PathBuf,
    /// By the path below the folder, in lower case.
    listed: Mutex<HashMap<Vec<u8>, Arc<Listing>>>,
}

/// What is in a folder, by names in lower case. Several folders may have names that differ only in case.
#[derive(Debug, Default)]
struct Listing {
    files: HashMap<Vec<u8>, PathBuf>,
    folders: HashMap<Vec<u8>, Vec<PathBuf>>,
}

impl Listing {
    /// Lists folders; those that cannot be read have nothing in them.
    fn of(paths: &[PathBuf]) -> Self {
        let mut listing = Listing::default();
        for entry in paths.iter().filter_map(|path| fs::read_dir(path).ok()).flatten().flatten() {
            let (name, path) = (entry.file_name().as_encoded_bytes().to_ascii_lowercase(), entry.path());
            // Only links need a second look.
            let is_folder = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => path.is_dir(),
                kind => kind.is_ok_and(|kind| kind.is_dir()),
            };
            match is_folder {
                true => listing.folders.entry(name).or_default().push(path),
                false => drop(listing.files.entry(name).or_insert(path)),
            }
        }
        listing
    }
}

impl Loose {
    fn new(root: PathBuf) -> Self {
        Loose { root, listed: Mutex::default() }
    }

    fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a file on disk.
    fn path(&self, name: &[u8]) -> Option<PathBuf> {
        let end = name.iter().rposition(|byte| *byte == b'/');
        let (folder, file) = end.map_or((&[][..], name), |end| (&name[..end], &name[end + 1..]));
        self.listing(folder).files.get(file).cloned()
    }

    fn listing(&self, folder: &[u8]) -> Arc<Listing> {
        let known = |folder: &[u8]| self.listed.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned();
        // The longest part of the path that is listed already.
        let mut end = folder.len();
        let mut found = loop {
            match known(&folder[..end]) {
                Some(listing) => break listing,
                None if end == 0 => break self.keep(&[], Listing::of(std::slice::from_ref(&self.root))),
                None => end = folder[..end].iter().rposition(|byte| *byte == b'/').unwrap_or(0),
            }
        };
        while end < folder.len() {
            let start = if end == 0 { 0 } else { end + 1 };
            let next = folder[start..].iter().position(|byte| *byte == b'/').map_or(folder.len(), |at| start + at);
            let Some(inner) = found.folders.get(&folder[start..next]) else { return Arc::default() };
            found = self.keep(&folder[..next], Listing::of(inner));
            end = next;
        }
        found
    }

    fn keep(&self, folder: &[u8], listing: Listing) -> Arc<Listing> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(listed.entry(folder.to_vec()).or_insert_with(|| Arc::new(listing)))
    }

    /// The bytes of a file of at most this size.
    fn read(&self, name: &[u8], most: usize) -> Result<Option<Vec<u8>>> {
        let Some(path) = self.path(name) else { return Ok(None) };
        let cannot = |error| input::cannot_read(&path, error);
        // Opening a pipe would wait for a writer.
        if !fs::metadata(&path).map_err(cannot)?.is_file() {
            return Err(Error::new(ErrorKind::Io, format!("{} is not a regular file", shown(&path))));
        }
        let mut bytes = Vec::new();
        let limit = bspkit::bytes::wide(most).saturating_add(1);
        fs::File::open(&path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(cannot)?;
        if bytes.len() > most {
            let message = format!("{} has more than the {most} bytes that are read", shown(&path));
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(Some(bytes))
    }
}
