//! A map as a folder: ordinary files, a manifest, and what it takes to make the very same map again.
//!
//! `manifest.json` is what people read and write: the dialect, and a file for each lump. Entities are text, records are
//! JSON lines or CSV, embedded files are files, everything else is bytes. What is default is absent.
//! The folder `original` holds what no such file has: bytes between lumps, directories, compressed streams, the
//! structure of the pakfile, and an index with the place and the checksum of each slot. A map is packed from the
//! original bytes; files whose content differs from the index are an edit of that map, laid out by
//! [`Layout::Keep`](bspkit::Layout::Keep). A folder without `original` is a new map, which the builder lays out.
//!
//! A file counts as edited if its content differs, not its text: records are parsed, and the line ends of entity text
//! are restored. So the manifest has neither offsets nor checksums, and a person can write it. The old records are
//! kept, since they say which record a new one is. Numbers in all files are those of the original map; records are
//! added, removed and moved last, in all lists at once.
//!
//! ```
//! use bspkit::Bsp;
//! use bspkit_text::folder::{Folder, How, unpack};
//!
//! let bytes = std::fs::read("../../tests/maps/source/room_v20.bsp").unwrap();
//! let folder = tempfile::tempdir().unwrap();
//! unpack(&Bsp::parse(&bytes)?, &How::default(), |name, bytes| {
//!     let path = folder.path().join(name);
//!     std::fs::create_dir_all(path.parent().unwrap()).unwrap();
//!     std::fs::write(path, bytes).unwrap();
//!     Ok(())
//! })?;
//! let packed = Folder::read(folder.path()).unwrap().pack(Default::default()).unwrap();
//! assert_eq!(packed.draft.plan(Default::default())?.to_vec(), bytes);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod make;
mod manifest;
mod pack;
#[cfg(feature = "images")]
mod pictures;
mod unpack;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::ci::Baseline;
use crate::records::Numbers;
use bspkit::bytes::{escaped, unescape};
use bspkit::content::pak::{Pak, lookup_name};
use bspkit::dialect::{self, Dialect, Role};
use bspkit::disk::names::Taken;
use bspkit::disk::{input, shown};
use bspkit::file::directory::DirectoryShape;
use bspkit::file::names::escape;
use bspkit::finding::Finding;
use bspkit::record::FlagNames;
use bspkit::{Bsp, Draft, Error, ErrorKind, Followed, Result};
use bspkit_ops::check;
use make::Making;
use manifest::{Embedded, Manifest, Original, Part, at, crc, wrong};
use pack::{Kind, Packing};
pub use unpack::{How, Target, Unpacked, unpack};

/// The names of flags in a game, or in the usual game of the map.
///
/// # Errors
/// The dialect has no such game.
pub fn names(bsp: &Bsp<'_>, game: Option<&str>) -> Result<FlagNames> {
    flag_names(bsp.dialect(), bsp.version(), game)
}

fn flag_names(dialect: &Dialect, version: i32, game: Option<&str>) -> Result<FlagNames> {
    Ok(game.map_or_else(|| Ok(dialect.game(version)), |name| dialect.game_by_name(name))?.flags)
}

/// Whether a folder has a manifest, or would have one if the unpack had not stopped.
pub fn is_unpacked(folder: &Path) -> bool {
    folder.join(manifest::NAME).is_file() || unpack::is_unfinished(folder)
}

/// A folder with a manifest.
///
/// ```
/// use bspkit_text::folder::Folder;
/// let packed = Folder::read("../../docs/box".as_ref()).unwrap().pack(Default::default()).unwrap();
/// assert!(packed.is_new && packed.warnings.is_empty());
/// ```
#[derive(Debug)]
pub struct Folder {
    survey: Survey,
    manifest: Manifest,
    original: Option<Original>,
    kind: Kind,
    shape: DirectoryShape,
}

/// The map of a folder.
///
/// ```
/// let folder = bspkit_text::folder::Folder::read("../../docs/box".as_ref()).unwrap();
/// let bytes = folder.pack(Default::default()).unwrap().draft.plan(Default::default())?.to_vec();
/// assert_eq!(bspkit::Bsp::from_vec(bytes)?.dialect().name, "quake2");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Packed {
    /// The original map with the edits; a new map without edits.
    pub draft: Draft<'static>,
    /// The files and properties that differ from the original, sorted.
    pub edited: Vec<String>,
    /// Parts of the map that may be wrong: a sentence each.
    pub warnings: Vec<String>,
    /// What [`check`] finds in the map and did not find in the original one.
    pub findings: Vec<Finding>,
    /// What followed records that were added, removed or moved.
    pub followed: Followed,
    /// Whether the folder does not say how an original map was laid out.
    pub is_new: bool,
}

impl Folder {
    /// Lists a folder and reads its manifest.
    ///
    /// # Errors
    /// All problems of the manifest, and of what is in the folder: symbolic links, names that differ only in case. A
    /// folder to which a map was not unpacked to the end.
    pub fn read(path: &Path) -> Result<Self, Vec<Error>> {
        if unpack::is_unfinished(path) {
            let why = "a map was unpacked here and not to the end: files are missing, or of another map";
            let hint = "unpack the map again, over this folder";
            return Err(vec![manifest::wrong(unpack::UNFINISHED, why).with_hint(hint)]);
        }
        Folder::open(path)
    }

    /// As [`Folder::read`], whether it is complete or not.
    fn open(path: &Path) -> Result<Self, Vec<Error>> {
        let survey = Survey::of(path)?;
        if !survey.has(manifest::NAME) {
            return Err(vec![manifest::wrong(
                manifest::NAME,
                "the folder has no such file, so it is not an unpacked map",
            )]);
        }
        let manifest = Manifest::read(&path.join(manifest::NAME))?;
        let original = Original::read(&survey).map_err(|error| vec![error])?;
        let one = |error: Error| vec![error];
        let dialect = dialect::by_name(&manifest.dialect).map_err(|error| {
            let hint = error.hint().map(ToString::to_string).unwrap_or_default();
            one(manifest.wrong("dialect", &error).with_hint(hint))
        })?;
        let version = manifest.version.unwrap_or(dialect.versions[0]);
        let names = flag_names(dialect, version, manifest.game.as_deref())
            .map_err(|error| one(manifest.wrong("game", error)))?;
        let shape = shape(&manifest, dialect).map_err(one)?;
        Ok(Folder { survey, manifest, original, kind: Kind { dialect, version, names }, shape })
    }

    /// The files in it that belong to the map, by their paths below the folder.
    pub fn files(&self) -> Vec<String> {
        let Manifest { lumps, tail, .. } = &self.manifest;
        let parts = lumps.iter().flat_map(|part| part.file.iter().chain(&part.gap_before)).chain(tail).cloned();
        let folders = lumps.iter().filter_map(|part| part.folder.as_ref());
        let images = self.original.iter().flat_map(|original| original.images.iter().map(|image| image.file.clone()));
        let embedded = folders.flat_map(|folder| self.survey.below(folder).map(move |path| format!("{folder}/{path}")));
        let original = self.original.iter().flat_map(|original| original.kept());
        let original = original.map(|(name, _)| name.to_owned()).chain([manifest::INDEX, FINDINGS].map(str::to_owned));
        parts.chain(embedded).chain(images).chain(original).filter(|name| self.survey.has(name)).collect()
    }

    /// The embedded files that were added to it since a map was unpacked there.
    fn added(&self) -> Vec<String> {
        let Some(original) = &self.original else { return Vec::new() };
        let known: HashSet<String> = original.embedded.iter().map(|file| file.file.to_lowercase()).collect();
        let folders = self.manifest.lumps.iter().filter_map(|part| part.folder.as_ref());
        let files = folders.flat_map(|folder| self.survey.below(folder).map(move |path| (folder, path)));
        let added = files.filter(|(_, path)| !known.contains(&path.to_lowercase()));
        added.map(|(folder, path)| format!("{folder}/{path}")).collect()
    }

    /// Makes the map. The numbers of records in all files are those of the original map, whichever records were added,
    /// removed or moved; `numbers` says what happens then.
    ///
    /// # Errors
    /// All problems, each with its file and line: files that are missing, that nothing names, or that have another
    /// content than their names say; properties that the original map cannot have; records that [`Numbers`] does not
    /// allow, or of which it is not known which ones they are.
    pub fn pack(&self, numbers: Numbers) -> Result<Packed, Vec<Error>> {
        let Folder { survey, manifest, kind, shape, .. } = self;
        match &self.original {
            Some(original) => Packing::new(survey, manifest, original, kind, *shape).pack(numbers),
            None => Making { survey, manifest, kind, shape: *shape }.make(),
        }
    }
}

/// The shape of the directory with this number of entries.
fn shape(manifest: &Manifest, dialect: &Dialect) -> Result<DirectoryShape> {
    let entries = manifest.entries.unwrap_or(dialect.shapes[0].count);
    let shape = dialect.shapes.iter().find(|shape| shape.count == entries);
    shape.copied().ok_or_else(|| {
        let known: Vec<_> = dialect.shapes.iter().map(|shape| shape.count.to_string()).collect();
        manifest.wrong("entries", format!("a directory of {} has {}", dialect.title, known.join(" or ")))
    })
}

/// The checksum in the header of a map.
fn checksum(bsp: &Bsp<'_>) -> Option<u32> {
    let at = bsp.dialect().stored_checksum_at()?;
    bsp.container().bytes().get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

// What `check` finds in a map and did not find when the map was unpacked. The old bytes of edited slots are not known,
// so the folder keeps the old findings.

/// The file with the findings in the original map, if there are some.
const FINDINGS: &str = "original/findings.json";

/// The text of the file.
fn text(bsp: &Bsp<'_>) -> Result<Option<String>> {
    let findings = check::run(bsp, &of_faults()?)?;
    let mut known = Baseline::default();
    known.set("", &findings);
    Ok((!findings.is_empty()).then(|| known.write()))
}

/// How many findings of a kind are compared one by one.
const COMPARED: usize = 1000;

/// An edit is not at fault if it leaves something that nothing refers to.
fn of_faults() -> Result<check::Options> {
    Ok(check::Options::default().allow("unused-records")?.most(COMPARED))
}

/// Reads the file.
fn known(survey: &Survey) -> Result<Baseline, Error> {
    if !survey.has(FINDINGS) {
        return Ok(Baseline::default());
    }
    let text = survey.read(FINDINGS).map_err(|why| wrong(FINDINGS, why))?;
    input::refuse_utf16(FINDINGS.as_ref(), &text)?;
    let text = String::from_utf8(text).map_err(|_| wrong(FINDINGS, "it is not UTF-8 text"))?;
    Baseline::read(&text).map_err(|error| wrong(FINDINGS, sentence(&error)))
}

/// What is found in the map with its edits and is not known.
fn new_ones(draft: &Draft<'_>, known: &Baseline) -> Result<Vec<Finding>> {
    let Some(view) = draft.view()? else { return Ok(Vec::new()) };
    let mut found = check::of_edit(known.new_ones("", check::run(&view, &of_faults()?)?));
    // The old bytes of all on which the light of faces and collision models depend are kept.
    found.extend(check::left_behind(draft, &view, &of_faults()?));
    Ok(found)
}

// The files of a folder, by their paths below it. Case is ignored, as on many file systems.

/// The most files of a folder. A zip has at most 65,535, and a map fewer lumps than that.
const MOST_FILES: usize = 1 << 18;
/// The most folders within each other.
const DEEPEST: usize = 64;

/// A folder and its files. Files whose names start with a dot are not looked at.
#[derive(Debug)]
struct Survey {
    root: PathBuf,
    /// The files, by their paths in lower case.
    files: BTreeMap<String, Found>,
    /// The files that something named.
    used: RefCell<HashSet<String>>,
}

#[derive(Debug)]
struct Found {
    /// The path below the folder, with slashes.
    name: String,
    path: PathBuf,
}

impl Survey {
    /// Lists a folder.
    ///
    /// # Errors
    /// All problems: folders that cannot be read, symbolic links, names that differ only in case, too many files.
    fn of(root: &Path) -> Result<Self, Vec<Error>> {
        let mut survey = Survey { root: root.to_owned(), files: BTreeMap::new(), used: RefCell::default() };
        let mut problems = Vec::new();
        let mut folders = vec![(root.to_owned(), String::new(), 0)];
        while let Some((folder, below, depth)) = folders.pop() {
            let entries = fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let mut entries = match entries {
                Ok(entries) => entries,
                Err(error) => {
                    problems.push(input::cannot_read(&folder, error));
                    continue;
                }
            };
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let path = entry.path();
                let file_name = entry.file_name();
                let Some(name) = file_name.to_str() else {
                    problems.push(wrong(shown(&path), "its name is not UTF-8 text, so no manifest can name it"));
                    continue;
                };
                if name.starts_with('.') {
                    continue;
                }
                let name = format!("{below}{name}");
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && depth < DEEPEST => folders.push((path, format!("{name}/"), depth + 1)),
                    Ok(kind) if kind.is_dir() => problems.push(wrong(name, "there are too many folders above it")),
                    Ok(kind) if kind.is_symlink() => {
                        problems.push(wrong(name, "it is a symbolic link, which is not followed"));
                    }
                    Ok(kind) if kind.is_file() => problems.extend(survey.add(name, path)),
                    Ok(_) => problems.push(wrong(name, "it is not a regular file")),
                    Err(error) => problems.push(input::cannot_read(&path, error)),
                }
            }
            if survey.files.len() > MOST_FILES {
                problems.push(Error::new(ErrorKind::TooLarge, format!("the folder has more than {MOST_FILES} files")));
                break;
            }
        }
        if problems.is_empty() { Ok(survey) } else { Err(problems) }
    }

    fn add(&mut self, name: String, path: PathBuf) -> Option<Error> {
        let key = name.to_lowercase();
        if let Some(other) = self.files.get(&key) {
            return Some(wrong(name, format!("it differs only in case from {}", other.name)));
        }
        self.files.insert(key, Found { name, path });
        None
    }

    /// The path of a file that a manifest names.
    ///
    /// # Errors
    /// The reason: the name leads out of the folder, or there is no such file.
    fn file(&self, name: &str) -> Result<&Path, String> {
        refuse_outside(name)?;
        let key = name.to_lowercase();
        let found = self.files.get(&key).ok_or_else(|| format!("the file {name} is missing"))?;
        self.used.borrow_mut().insert(key);
        Ok(&found.path)
    }

    /// Whether there is a folder of this name in it.
    fn has_folder(&self, name: &str) -> bool {
        refuse_outside(name).is_ok() && (self.root.join(name).is_dir() || self.below(name).next().is_some())
    }

    /// The path of a folder in it.
    fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// All bytes of a file that a manifest names.
    ///
    /// # Errors
    /// As [`Survey::file`], or the file cannot be read.
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.file(name)?;
        input::read(path).map_err(|error| sentence(&error))
    }

    /// The files below a folder, with the paths below it.
    fn below<'s>(&'s self, folder: &str) -> impl Iterator<Item = &'s str> {
        let start = format!("{}/", folder.to_lowercase());
        let files = self.files.range(start.clone()..).take_while(move |(key, _)| key.starts_with(&start));
        let length = folder.len() + 1;
        files.map(move |(_, found)| found.name.get(length..).unwrap_or_default())
    }

    /// Whether there is a file of this name.
    fn has(&self, name: &str) -> bool {
        self.files.contains_key(&name.to_lowercase())
    }

    /// Counts the files below a folder as named.
    fn take_all(&self, folder: &str) {
        let keys = self.below(folder).map(|path| format!("{folder}/{path}").to_lowercase());
        self.used.borrow_mut().extend(keys);
    }

    /// The files that nothing named.
    fn unused(&self) -> Vec<Error> {
        let used = self.used.borrow();
        let unused = self.files.iter().filter(|(key, _)| !used.contains(*key) && *key != manifest::NAME);
        unused.map(|(_, found)| wrong(&found.name, "the manifest does not name this file")).collect()
    }
}

/// Refuses a name that leads out of the folder.
fn refuse_outside(name: &str) -> Result<(), String> {
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    match name.split('/').all(is_part) {
        true => Ok(()),
        false => Err(format!("`{name}` is not a path below the folder: write parts of a name with / between them")),
    }
}

/// An error and its causes as one sentence.
fn sentence(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

// Embedded files as files in a folder: their paths, and the pakfile that a folder makes.

/// The folder that `unpack` writes embedded files to.
const FOLDER: &str = "pak";

/// The most bytes of a name that becomes a path; some systems allow 255.
const LONGEST: usize = 180;

/// The paths of names below the folder: the name itself if every operating system allows it. All paths differ, even
/// without regard to case, and none is a folder of another one.
fn paths<'n>(names: impl Iterator<Item = &'n [u8]>) -> Vec<String> {
    let wanted: Vec<String> = names.enumerate().map(|(index, name)| path(name, index)).collect();
    let mut taken = Taken::of_folders(wanted.iter().map(String::as_bytes));
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
fn unpack_embedded(
    bsp: &Bsp<'_>,
    pak: &Pak<'_>,
    start: usize,
    warnings: &mut Vec<String>,
    write: &mut dyn FnMut(&str, &[u8]) -> Result<()>,
) -> Result<(BTreeMap<String, String>, Vec<Embedded>)> {
    let (mut names, mut embedded) = (BTreeMap::new(), Vec::new());
    let is_folder = |name: &[u8], size: usize| size == 0 && name.ends_with(b"/");
    let entries: Vec<_> = pak.iter().filter(|entry| !is_folder(entry.name(), entry.size())).collect();
    let all: Vec<usize> = entries.iter().map(bspkit::content::pak::Entry::index).collect();
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

/// Checks the part of the pakfile, and that its files are there. Those of the original map may be removed.
///
/// # Errors
/// The lump is not the pakfile, or has a file as well; the first file of a listed name that is missing.
fn check(part: &Part, kind: &Kind, survey: &Survey, known: &[Embedded]) -> Result<()> {
    let Some(folder) = part.folder.as_deref() else { return Ok(()) };
    if kind.lump(&part.lump).is_none() || kind.lump(&part.lump) != kind.dialect.role(Role::Pak) {
        return Err(part.wrong("folder", "only the pakfile has a folder of embedded files"));
    }
    refuse_outside(folder).map_err(|why| part.wrong("folder", why))?;
    if part.file.is_some() || part.rest.is_some() || part.nuls.is_some() {
        return Err(part.wrong("folder", "the lump has a folder, so it has no `file`, `rest` or `nuls`"));
    }
    let known: HashSet<String> = known.iter().map(|file| file.file.to_lowercase()).collect();
    let is_missing = |path: &&String| !survey.has(&format!("{folder}/{path}")) && !known.contains(&path.to_lowercase());
    match part.names.keys().find(is_missing) {
        Some(path) => Err(part.wrong("names", format!("the file {folder}/{path} is missing"))),
        None => Ok(()),
    }
}

/// The names of embedded files that a manifest lists, by their paths in lower case.
struct Names<'p>(HashMap<String, &'p str>);

impl<'p> Names<'p> {
    fn of(part: &'p Part) -> Self {
        Names(part.names.iter().map(|(path, name)| (path.to_lowercase(), name.as_str())).collect())
    }

    /// The name of an embedded file, from the path of its file.
    fn name(&self, path: &str) -> Vec<u8> {
        self.listed(path).unwrap_or_else(|| path.as_bytes().to_vec())
    }

    /// The name that the manifest says.
    fn listed(&self, path: &str) -> Option<Vec<u8>> {
        self.0.get(&path.to_lowercase()).map(|name| unescape(name))
    }
}

/// The names that embedded files have already, as engines look them up, with the path of each file.
#[derive(Default)]
struct InPak(HashMap<Vec<u8>, String>);

impl InPak {
    fn keep(&mut self, name: &[u8], path: &str) {
        self.0.entry(lookup_name(name)).or_insert_with(|| path.to_owned());
    }

    /// Takes a name for a new file; why it is not free.
    fn take(&mut self, name: &[u8], path: &str) -> Result<(), String> {
        match self.0.insert(lookup_name(name), path.to_owned()) {
            None => Ok(()),
            Some(other) => {
                let name = escaped(name);
                Err(format!("{other} and {path} have the same name for engines, `{name}`: only one can be embedded"))
            }
        }
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
