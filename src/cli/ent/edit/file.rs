//! The file that is edited: in a new folder that only its owner can read.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use bspkit::face::input;

use crate::cli::show::shown;

pub(super) struct File(PathBuf);

impl File {
    /// A file with this text, named after the map.
    pub(super) fn new(map: &Path, text: &[u8]) -> Result<Self> {
        let name = map.file_stem().map_or_else(|| "map".into(), OsString::from);
        let path = folder().context("cannot make a folder for the text")?.join(name).with_extension("ent");
        fs::write(&path, text).with_context(|| format!("cannot write {}", shown(&path)))?;
        Ok(File(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Runs the editor.
    pub(super) fn edit(&self) -> Result<()> {
        let named = ["VISUAL", "EDITOR"].iter().filter_map(std::env::var_os).find(|editor| !editor.is_empty());
        let editor = named.unwrap_or_else(|| if cfg!(windows) { "notepad" } else { "vi" }.into());
        let name = shown(Path::new(&editor));
        let status = command(&editor, &self.0).status().with_context(|| format!("cannot run the editor `{name}`"))?;
        match status.success() {
            true => Ok(()),
            false => bail!("the editor `{name}` failed: {status}"),
        }
    }

    pub(super) fn read(&self) -> Result<Vec<u8>> {
        Ok(input::read(&self.0)?)
    }

    /// Removes it with its folder; what cannot be removed stays.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.0);
        self.0.parent().map(fs::remove_dir);
    }
}

/// A shell splits the editor and its arguments, as git does it.
#[cfg(unix)]
fn command(editor: &OsString, file: &Path) -> Command {
    let mut script = editor.clone();
    script.push(" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(editor).arg(file);
    command
}

/// The program is the first word, or what is in the first quotes.
#[cfg(not(unix))]
fn command(editor: &OsString, file: &Path) -> Command {
    let text = editor.to_string_lossy();
    let (program, rest) = match text.strip_prefix('"').and_then(|text| text.split_once('"')) {
        Some((program, rest)) => (program, rest),
        None => text.split_once(' ').unwrap_or((&text, "")),
    };
    let mut command = Command::new(program);
    command.args(rest.split_whitespace()).arg(file);
    command
}

/// A new folder among the temporary files.
fn folder() -> io::Result<PathBuf> {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut number = 0;
    loop {
        let folder = std::env::temp_dir().join(format!("bspkit-{}-{number}", std::process::id()));
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(error) => return Err(error),
        }
    }
}
