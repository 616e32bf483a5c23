//! Where commands write: what may not be replaced, other files than maps, and paths in reports.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bspkit::json::text_and_raw;
use bspkit::{Hint, SaveOptions};
use bspkit_game::Archive;
use bspkit_packed::archive;
use clap::builder::{PathBufValueParser, TypedValueParser};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::context::is_stdin;
use super::maps::{real_input, real_path};
use super::talk::{bad_argument, shown};

// Files that the program writes are not those that it reads.

/// The error for an input file that would be replaced.
pub(crate) fn would_be_replaced(output: &Path) -> anyhow::Error {
    bad_argument(format!("{} is an input file and would be replaced: name another", shown(output)), "")
}

/// Refuses a path that is one of the input files.
pub(crate) fn spare<'p>(output: &Path, read: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    // Most outputs are new files.
    let Some(real) = real_path(output).ok().flatten() else { return Ok(()) };
    let is_it = |read: &Path| real_input(read).as_ref() == Some(&real);
    if read.into_iter().any(is_it) { Err(would_be_replaced(output)) } else { Ok(()) }
}

/// Refuses a target whose name is that of an archive, or that is in one: archives are read and not written.
pub(crate) fn refuse_archive(target: &Path) -> Result<()> {
    let is_in_archive = Archive::is_name(target) || archive::part(target).is_some();
    let message = || format!("{} is an archive by its name, and a map is not written into one", shown(target));
    if is_in_archive { Err(bad_argument(message(), "name a map (*.bsp) or a folder")) } else { Ok(()) }
}

// Other files than maps, and folders.

/// The file that `-o` names; none for stdout, which is `-` too.
pub(crate) fn file(output: Option<&PathBuf>) -> Option<&Path> {
    output.map(PathBuf::as_path).filter(|output| !is_stdin(output))
}

/// Writes another file than a map, completely or not at all, and over no input file.
pub(crate) fn replace<'p>(
    path: &Path,
    read: impl IntoIterator<Item = &'p Path>,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<()> {
    spare(path, read)?;
    bspkit::file::replace(path, &SaveOptions::default(), write).map_err(unforced)?;
    Ok(())
}

/// The error of a command that has no --force.
pub(crate) fn unforced(error: bspkit::Error) -> bspkit::Error {
    match error.hint() {
        Some(Hint::OrForce(instead)) => {
            let instead = Hint::Text(instead.clone());
            error.with_hint(instead)
        }
        _ => error,
    }
}

/// The value of an option that names something on a disk.
pub(crate) fn on_disk() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match is_stdin(&path) {
        true => Err("`-` is stdin or stdout, and something on a disk is needed"),
        false => Ok(path),
    })
}

// Paths in JSON.

/// A path as a member of this name: as it is, so that a program can open it. If it is not UTF-8, it is escaped, and
/// `NAME_raw` has its bytes in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathJson {
    name: &'static str,
    path: Option<PathBuf>,
}

impl PathJson {
    /// The member of this name; `null` without a path.
    pub(crate) fn new(name: &'static str, path: Option<&Path>) -> Self {
        PathJson { name, path: path.map(Path::to_owned) }
    }
}

impl fmt::Display for PathJson {
    /// As messages show it: on one line. Nothing without a path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.as_deref().map_or(Ok(()), |path| f.write_str(&shown(path)))
    }
}

impl Serialize for PathJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (text, raw) = self.path.as_deref().map(|path| text_and_raw(path.as_os_str().as_encoded_bytes())).unzip();
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry(self.name, &text)?;
        if let Some(raw) = raw.flatten() {
            object.serialize_entry(&format!("{}_raw", self.name), &raw)?;
        }
        object.end()
    }
}
