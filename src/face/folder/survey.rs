//! The files of a folder, by their paths below it. Case is ignored, as on many file systems.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest;
use super::manifest::wrong;
use crate::face::{input, shown};
use crate::{Error, ErrorKind};

/// The most files of a folder. A zip has at most 65,535, and a map fewer lumps than that.
const MOST_FILES: usize = 1 << 18;
/// The most folders within each other.
const DEEPEST: usize = 64;

/// A folder and its files. Files whose names start with a dot are not looked at.
#[derive(Debug)]
pub(super) struct Survey {
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
    pub(super) fn of(root: &Path) -> Result<Self, Vec<Error>> {
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
    pub(super) fn file(&self, name: &str) -> Result<&Path, String> {
        refuse_outside(name)?;
        let key = name.to_lowercase();
        let found = self.files.get(&key).ok_or_else(|| format!("the file {name} is missing"))?;
        self.used.borrow_mut().insert(key);
        Ok(&found.path)
    }

    /// Whether there is a folder of this name in it.
    pub(super) fn has_folder(&self, name: &str) -> bool {
        refuse_outside(name).is_ok() && (self.root.join(name).is_dir() || self.below(name).next().is_some())
    }

    /// The path of a folder in it.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// All bytes of a file that a manifest names.
    ///
    /// # Errors
    /// As [`Survey::file`], or the file cannot be read.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.file(name)?;
        input::read(path).map_err(|error| sentence(&error))
    }

    /// The files below a folder, with the paths below it.
    pub(super) fn below<'s>(&'s self, folder: &str) -> impl Iterator<Item = &'s str> {
        let start = format!("{}/", folder.to_lowercase());
        let files = self.files.range(start.clone()..).take_while(move |(key, _)| key.starts_with(&start));
        let length = folder.len() + 1;
        files.map(move |(_, found)| found.name.get(length..).unwrap_or_default())
    }

    /// Whether there is a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.contains_key(&name.to_lowercase())
    }

    /// The files that nothing named.
    pub(super) fn unused(&self) -> Vec<Error> {
        let used = self.used.borrow();
        let unused = self.files.iter().filter(|(key, _)| !used.contains(*key) && *key != manifest::NAME);
        unused.map(|(_, found)| wrong(&found.name, "the manifest does not name this file")).collect()
    }
}

/// Refuses a name that leads out of the folder.
pub(super) fn refuse_outside(name: &str) -> Result<(), String> {
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    match name.split('/').all(is_part) {
        true => Ok(()),
        false => Err(format!("`{name}` is not a path below the folder: write parts of a name with / between them")),
    }
}

/// An error and its causes as one sentence.
pub(super) fn sentence(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
