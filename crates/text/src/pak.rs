//! Embedded files as files in a folder: the path of each, the files of a folder with the names that they get, and a
//! pakfile that is made equal to a folder.
//!
//! ```
//! use bspkit::content::pak::Pak;
//! use bspkit_text::pak::{Names, sync};
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("Readme.TXT"), "read me")?;
//! let mut pak = Pak::new(b"");
//! let synced = sync(&mut pak, folder.path(), Names::Normal)?;
//! assert_eq!((synced.added, pak.get(0).unwrap().name()), (1, &b"readme.txt"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use bspkit::bytes::escaped;
use bspkit::content::pak::{Entry, Pak, is_of_system, lookup_name};
use bspkit::disk::names::{Taken, path as os_path};
use bspkit::disk::put::{self, put};
use bspkit::disk::{input, shown};
use bspkit::file::names::{self, path_hazard};
use bspkit::threads::{WORKING_MEMORY, in_parallel_within};
use bspkit::{Error, ErrorKind, Result};

// Embedded files written to disk, only below the named folder.

/// An embedded file that [`extract`] wrote, or why it did not.
#[derive(Debug)]
#[non_exhaustive]
pub struct Extracted {
    /// The index of the embedded file.
    pub index: usize,
    /// Where it was written.
    pub path: Result<PathBuf>,
    /// What the user should know: another path than the name says, a wrong checksum.
    pub warnings: Vec<String>,
    /// Whether its bytes do not have the checksum that the directory states: they may be damaged.
    pub is_doubtful: bool,
}

/// Writes embedded files below a folder, decompressed, by the paths of [`paths`]. Folders are created. The result has
/// an entry for each file, in the order of `indices`; entries for folders are not in it.
///
/// A file is refused, and the others are written, if [`paths`] gives it no path, if its path contains a symbolic link,
/// or, without `force`, if there is a file with other bytes.
///
/// # Errors
/// [`Pak::check_total_size`]; [`ErrorKind::Io`] if the folder cannot be created.
///
/// ```
/// use bspkit::content::pak::Pak;
/// use bspkit_text::pak::extract;
/// let folder = tempfile::tempdir()?;
/// let mut pak = Pak::new(b"");
/// pak.add("sound\\hit.wav", "RIFF")?;
/// let done = extract(&pak, &[0], folder.path(), 1, false)?;
/// assert_eq!(done[0].path.as_deref().ok(), Some(&*folder.path().join("sound/hit.wav")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn extract(pak: &Pak<'_>, indices: &[usize], folder: &Path, threads: usize, force: bool) -> Result<Vec<Extracted>> {
    pak.check_total_size(indices)?;
    put::folder(folder)?;
    let mut made = HashSet::new();
    let planned = paths(pak, indices).into_iter().filter_map(|placed| plan(pak, placed, folder, &mut made));
    let all: Vec<Extracted> = planned.collect();
    let memory = |file: &Extracted| pak.get(file.index).map_or(0, |entry| entry.memory());
    let written =
        in_parallel_within(threads, WORKING_MEMORY, &all, memory, |file| match (pak.get(file.index), &file.path) {
            (Some(entry), Ok(path)) => write(&entry, path, force),
            _ => Ok(None),
        });
    let done = all.into_iter().zip(written).map(|(Extracted { index, path, mut warnings, .. }, written)| {
        let mut is_doubtful = false;
        let path = path.and_then(|path| {
            let wrong = written?;
            is_doubtful = wrong.is_some();
            warnings.extend(wrong);
            Ok(path)
        });
        let name = || pak.get(index).map_or(String::new(), |entry| escaped(entry.name()).to_string());
        let path = path.map_err(|error| error.within(format!("cannot extract {}", name())));
        Extracted { index, path, warnings, is_doubtful }
    });
    Ok(done.collect())
}

/// The path of a file whose folders are there; nothing for an entry of a folder that was created.
fn plan(pak: &Pak<'_>, placed: Placed, folder: &Path, made: &mut HashSet<PathBuf>) -> Option<Extracted> {
    let Placed { index, path, is_folder, first } = placed;
    let entry = pak.get(index)?;
    let path = path.map_err(|why| Error::new(ErrorKind::Refused, why)).and_then(|path| {
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let above = if is_folder { parts.len() } else { parts.len().saturating_sub(1) };
        let mut path = make_folders(folder, &parts[..above], made)?;
        parts[above..].iter().try_for_each(|last| os_path(last).map(|last| path.push(last)))?;
        Ok(path)
    });
    if is_folder && path.is_ok() {
        return None;
    }
    let mut warnings = Vec::new();
    if let (Some(first), Ok(path)) = (first, &path) {
        let (own, place) = (escaped(entry.name()), shown(path));
        let other = pak.get(first).map(|other| format!("file #{first}, `{}`", escaped(other.name())));
        let other = other.unwrap_or_else(|| "a folder of other files".to_owned());
        warnings.push(format!("`{own}` has the same name as {other}: written to {place}"));
    }
    Some(Extracted { index, path, warnings, is_doubtful: false })
}

/// Creates the folders of a path below `base`. Symbolic links are refused.
fn make_folders(base: &Path, parts: &[&[u8]], made: &mut HashSet<PathBuf>) -> Result<PathBuf> {
    let mut path = base.to_path_buf();
    for part in parts {
        path.push(os_path(part)?);
        if made.contains(&path) {
            continue;
        }
        let refused = |why: &str| Err(Error::new(ErrorKind::Refused, format!("{} is {why}", shown(&path))));
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_symlink() => return refused("a symbolic link, which is not followed"),
            Ok(there) if there.is_dir() => {}
            Ok(_) => return refused("a file, but a folder is needed"),
            Err(_) => put::folder(&path)?,
        }
        made.insert(path.clone());
    }
    Ok(path)
}

/// Writes a file; a warning if its bytes do not have the checksum of the directory.
fn write(entry: &Entry<'_, '_>, path: &Path, force: bool) -> Result<Option<String>> {
    let data = entry.data()?;
    put(path, &data, force)?;
    let warning = || format!("`{}` does not have the checksum that the directory states", escaped(entry.name()));
    Ok((!entry.has_crc_of(&data)).then(warning))
}

// The files of a folder, which can become embedded files.

/// How embedded files get their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// In lower case and with `/` for `\`, the form in which engines look them up. Files that file managers create are
    /// left out, and those whose names are hazardous on a disk.
    Normal,
    /// As they are written, and all of them.
    AsIs,
}

impl Names {
    /// The name of an embedded file.
    ///
    /// ```
    /// use bspkit_text::pak::Names;
    /// assert_eq!(Names::Normal.name(b"Materials\\Wall.vmt"), b"materials/wall.vmt");
    /// assert_eq!(Names::AsIs.name(b"Materials\\Wall.vmt"), b"Materials\\Wall.vmt");
    /// ```
    pub fn name(self, written: &[u8]) -> Vec<u8> {
        if self == Names::Normal { lookup_name(written) } else { written.to_vec() }
    }

    /// Why a file that was found in a folder is left out: file managers create it, or no map should write such a file
    /// to somebody's disk ([`path_hazard`]).
    ///
    /// ```
    /// use bspkit_text::pak::Names; assert!(Names::Normal.leaves_out(b"materials/Thumbs.db").is_some() &&
    /// Names::Normal.leaves_out(b".env").is_some()); assert_eq!(Names::Normal.leaves_out(b"materials/wall.vmt"), None);
    /// ```
    pub fn leaves_out(self, path: &[u8]) -> Option<&'static str> {
        match self {
            Names::AsIs => None,
            Names::Normal if is_of_system(path) => Some("file managers and version control create it"),
            Names::Normal => path_hazard(path),
        }
    }
}

/// A file below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundFile {
    /// The path below the folder, with `/` between its parts.
    pub name: Vec<u8>,
    /// The path on disk.
    pub path: PathBuf,
}

/// Refuses files of which two have the same name for engines: only one of them could be embedded.
///
/// # Errors
/// [`ErrorKind::Refused`].
///
/// ```
/// let names: [&[u8]; 2] = [b"a.txt", b"A.txt"];
/// assert!(bspkit_text::pak::refuse_twice(names.into_iter()).is_err());
/// ```
pub fn refuse_twice<'n>(names: impl Iterator<Item = &'n [u8]>) -> Result<()> {
    let mut first: HashMap<Vec<u8>, &[u8]> = HashMap::new();
    for name in names {
        if let Some(other) = first.insert(lookup_name(name), name) {
            let message = match other == name {
                true => format!("two of the files have the name `{}`", escaped(name)),
                false => format!("`{}` and `{}` have the same name for engines", escaped(other), escaped(name)),
            };
            return Err(Error::new(ErrorKind::Refused, message).with_hint("leave one of them out"));
        }
    }
    Ok(())
}

/// All files below a folder, also those that [`is_of_system`], each folder's sorted by name.
///
/// # Errors
/// [`ErrorKind::Io`] if the folder cannot be read; [`ErrorKind::Refused`] for a symbolic link below it, since it can
/// lead out of the folder, and for what is neither a file nor a folder.
pub fn files_in(folder: &Path) -> Result<Vec<FoundFile>> {
    let mut found = Vec::new();
    let mut waiting = vec![FoundFile { name: Vec::new(), path: folder.to_path_buf() }];
    while let Some(FoundFile { name, path }) = waiting.pop() {
        let there = match name.is_empty() {
            true => fs::metadata(&path),
            false => fs::symlink_metadata(&path),
        };
        let there = there.map_err(|error| input::cannot_read(&path, error))?;
        let refused = |what: &str| Err(Error::new(ErrorKind::Refused, format!("{} {what}", shown(&path))));
        match there {
            _ if there.is_dir() => waiting.extend(entries(&path, &name)?.into_iter().rev()),
            // A repository may have links.
            _ if !there.is_file() && is_of_system(&name) => {}
            _ if there.is_symlink() => return refused("is a symbolic link, which is not followed"),
            _ if !there.is_file() => return refused("is neither a file nor a folder"),
            _ => found.push(FoundFile { name, path }),
        }
    }
    Ok(found)
}

fn entries(folder: &Path, below: &[u8]) -> Result<Vec<FoundFile>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| input::cannot_read(folder, error))?;
    let mut names: Vec<OsString> = entries.into_iter().map(|entry| entry.file_name()).collect();
    names.sort();
    let prefix = if below.is_empty() { Vec::new() } else { [below, b"/"].concat() };
    let found =
        |file: OsString| FoundFile { name: [&prefix[..], file.as_encoded_bytes()].concat(), path: folder.join(&file) };
    Ok(names.into_iter().map(found).collect())
}

// The path of an embedded file on disk: below the folder, with a name that every operating system allows for a file.

/// Where an embedded file is below a folder.
///
/// ```
/// use bspkit::content::pak::Pak;
/// use bspkit_text::pak::paths;
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
    /// The file that has the same name without regard to case, or [`FOLDER`](bspkit::disk::names::FOLDER) for a folder
    /// of other files; this one got a number then.
    pub first: Option<usize>,
}

/// The paths of embedded files. All paths differ, also without regard to case, and none is a folder of another one.
pub fn paths(pak: &Pak<'_>, indices: &[usize]) -> Vec<Placed> {
    let wanted = indices.iter().filter_map(|index| pak.get(*index)).map(|entry| {
        // An entry for a folder has no bytes.
        let is_folder = entry.size() == 0 && entry.name().ends_with(b"/");
        let why = match entry.name().strip_suffix(b"/").filter(|_| is_folder) {
            Some(bare) => names::folder_hazard(bare),
            None => path_hazard(entry.name()),
        };
        let path = entry.name().iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect::<Vec<_>>();
        Placed { index: entry.index(), path: why.map_or(Ok(path), |why| Err(why.into())), is_folder, first: None }
    });
    let mut placed: Vec<Placed> = wanted.collect();
    let mut taken = Taken::of_folders(placed.iter().filter_map(|placed| placed.path.as_deref().ok()));
    for Placed { index, path, is_folder, first } in &mut placed {
        let Ok(path) = path else { continue };
        if *is_folder {
            path.pop();
            continue;
        }
        (*path, *first) = taken.take(path, *index);
    }
    placed
}

// A pakfile that is made equal to a folder.

/// What [`sync`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Synced {
    /// How many files are new.
    pub added: usize,
    /// How many files have other bytes.
    pub changed: usize,
    /// How many files are gone.
    pub removed: usize,
    /// How many files are as they were.
    pub same: usize,
    /// The new files whose names are not as they are in the folder: the path there.
    pub renamed: Vec<Vec<u8>>,
    /// The files of the folder that are not embedded: [`Names::leaves_out`] says why.
    pub left_out: Vec<Vec<u8>>,
    /// The embedded files that cannot be files of a folder, by their indices before, and why. They stay.
    pub kept: Vec<(usize, String)>,
}

/// Makes a pakfile equal to a folder: files whose bytes differ are replaced, those that are missing in the folder are
/// removed, and new ones follow the others, sorted by name. Files with the same bytes keep everything: name, order,
/// time and how they are stored. So the folder to which all files were written, by the paths of [`paths`], changes
/// nothing.
///
/// # Errors
/// As [`files_in`] and [`Pak::check_total_size`]; [`ErrorKind::Refused`] if two files of the folder have the same name
/// to engines, if a name cannot be embedded, for a folder without files, which would remove everything, and if of
/// embedded files with the same name one would go and one with a number would stay: the other would lose its number.
pub fn sync<'a>(pak: &mut Pak<'a>, folder: &Path, names: Names) -> Result<Synced> {
    let all: Vec<usize> = (0..pak.len()).collect();
    pak.check_total_size(&all)?;
    let placed = paths(pak, &all);
    let found = files_in(folder)?;
    if !folder.is_dir() {
        return Err(Error::new(ErrorKind::Refused, format!("{} is not a folder", shown(folder))));
    }
    let is_file = |placed: &Placed| !placed.is_folder && placed.path.is_ok();
    if found.iter().all(|file| names.leaves_out(&file.name).is_some()) && placed.iter().any(is_file) {
        let message = format!("there is no file in {}", shown(folder));
        return Err(Error::new(ErrorKind::Refused, message).with_hint("`pak rm MAP '**'` removes all files"));
    }
    refuse_twice(found.iter().map(|file| &*file.name))?;
    let mut on_disk: HashMap<Vec<u8>, &FoundFile> = found.iter().map(|file| (lookup_name(&file.name), file)).collect();
    let mut synced = Synced::default();
    let (mut gone, mut numbered) = (Vec::new(), Vec::new());
    for Placed { index, path, is_folder, first } in placed {
        let file = path.as_ref().ok().filter(|_| !is_folder).and_then(|path| on_disk.remove(&lookup_name(path)));
        match (path, file) {
            (Ok(path), None) if is_folder && folder.join(bspkit::disk::names::path(&path)?).is_dir() => {
                synced.same += 1
            }
            (_, Some(file)) => {
                numbered.extend(first.map(|_| (index, file)));
                synced.replace(pak, index, file)?;
            }
            (Err(why), None) => synced.kept.push((index, why)),
            (Ok(_), None) => match pak.get(index).map(|entry| entry.data()) {
                Some(Err(error)) => synced.kept.push((index, error.to_string())),
                _ => gone.push(index),
            },
        }
    }
    keep_numbers(pak, &gone, &numbered)?;
    pak.remove(&gone)?;
    synced.removed = gone.len();
    let new = found.iter().filter(|file| on_disk.contains_key(&lookup_name(&file.name)));
    for file in new {
        synced.add(pak, file, names)?;
    }
    Ok(synced)
}

/// Refuses to remove a file if another one has its name with a number in the folder: its path would be another one
/// afterwards, and the next time it would be taken for a new file.
fn keep_numbers(pak: &Pak<'_>, gone: &[usize], numbered: &[(usize, &FoundFile)]) -> Result<()> {
    let engine_name = |index: usize| lookup_name(pak.get(index).map_or(&[][..], |entry| entry.name()));
    // The first of a name; those after a file do not change its number.
    let names: HashMap<Vec<u8>, usize> = gone.iter().rev().map(|index| (engine_name(*index), *index)).collect();
    for (index, file) in numbered {
        let Some(other) = names.get(&engine_name(*index)).filter(|other| *other < index) else { continue };
        let name = escaped(pak.get(*other).map_or(&[][..], |entry| entry.name())).to_string();
        let message = format!(
            "`{}` has its number since the map also has `{name}`, which is not in the folder",
            escaped(&file.name)
        );
        let hint = format!("remove it with `pak rm MAP '#{other}'`, and write the embedded files to a new folder");
        return Err(Error::new(ErrorKind::Refused, message).with_hint(hint));
    }
    Ok(())
}

impl Synced {
    fn replace(&mut self, pak: &mut Pak<'_>, index: usize, file: &FoundFile) -> Result<()> {
        let bytes = input::read(&file.path)?;
        let is_same = |entry: bspkit::content::pak::Entry<'_, '_>| entry.data().is_ok_and(|data| *data == *bytes);
        if pak.get(index).is_some_and(is_same) {
            self.same += 1;
            return Ok(());
        }
        self.changed += 1;
        pak.replace(index, bytes)
    }

    fn add(&mut self, pak: &mut Pak<'_>, file: &FoundFile, names: Names) -> Result<()> {
        if names.leaves_out(&file.name).is_some() {
            self.left_out.push(file.name.clone());
            return Ok(());
        }
        let name = names.name(&file.name);
        if let [other, ..] = pak.find(&name)[..] {
            let (own, other) = (escaped(&name), escaped(pak.get(other).map_or(&[], |entry| entry.name())));
            let message = format!("`{own}` and the embedded file `{other}` have the same name for engines");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        if name != file.name {
            self.renamed.push(file.name.clone());
        }
        pak.add(&name, input::read(&file.path)?)?;
        self.added += 1;
        Ok(())
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
            assert!(path_hazard(bad.as_bytes()).is_some(), "{bad}");
        }
        for good in ["a", "a/b.c", "a\\b", "console/nul1", "com0", "wall~b", "caf\u{e9}"] {
            assert!(path_hazard(good.as_bytes()).is_none(), "{good}");
        }
        let mut pak = Pak::new(b"");
        pak.add(b"a\\b/\xff.vmt", "").unwrap();
        assert_eq!(paths(&pak, &[0])[0].path.as_deref(), Ok(&b"a/b/\xff.vmt"[..]));
    }

    /// The folder cannot have such a file, so the map keeps it.
    #[test]
    fn a_name_that_no_disk_takes_stays() {
        let long = [b'n'; 256];
        let mut pak = Pak::new(b"");
        pak.add(long, "long").unwrap();
        pak.add("b.txt", "b").unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.txt"), "b").unwrap();
        let synced = sync(&mut pak, folder.path(), Names::Normal).unwrap();
        assert_eq!((synced.kept.len(), synced.removed, pak.len()), (1, 0, 2));
        assert!(path_hazard(&[b'n'; 255]).is_none() && path_hazard(&[b'n'; 256]).is_some());
    }

    /// Of three files with one name, the folder has the second one alone: it would be the first one afterwards.
    #[test]
    fn a_file_does_not_lose_its_number_in_silence() {
        let mut pak = Pak::new(b"");
        for (name, bytes) in [("b.txt", "1"), ("a.txt", "2"), ("c.txt", "3"), ("d.txt", "4")] {
            pak.add(name, bytes).unwrap();
        }
        let mut zip: Vec<u8> = pak.to_rope().unwrap().parts().flat_map(|part| part.to_vec()).collect();
        for (from, to) in [(b"c.txt", b"A.txt"), (b"d.txt", b"A.TXT")] {
            while let Some(at) = memchr::memmem::find(&zip, from) {
                zip[at..at + 5].copy_from_slice(to);
            }
        }
        let mut pak = Pak::parse(zip).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for Placed { index, path, .. } in paths(&pak, &[0, 1, 2, 3]) {
            let path = String::from_utf8(path.unwrap()).unwrap();
            fs::write(folder.path().join(path), &*pak.get(index).unwrap().data().unwrap()).unwrap();
        }
        let same = |pak: &mut Pak<'_>| sync(pak, folder.path(), Names::AsIs).map(|synced| synced.same);
        assert_eq!(same(&mut pak.clone()).ok(), Some(4));
        fs::remove_file(folder.path().join("b.txt")).unwrap();
        assert_eq!(same(&mut pak).ok(), Some(3));
        // The last one has no number that another one needs.
        let mut fewer = pak.clone();
        let last = folder.path().join(String::from_utf8(paths(&pak, &[0, 1, 2])[2].path.clone().unwrap()).unwrap());
        fs::rename(&last, folder.path().with_extension("kept")).unwrap();
        assert_eq!(same(&mut fewer).ok(), Some(2));
        fs::rename(folder.path().with_extension("kept"), &last).unwrap();
        fs::remove_file(folder.path().join("a.txt")).unwrap();
        let error = same(&mut pak).unwrap_err();
        assert!(error.to_string().contains("since the map also has `a.txt`"), "{error}");
        assert_eq!(pak.len(), 3);
    }
}
