//! The program `git`, and what it says about files.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::cli::save::bad_argument;
use crate::cli::show::shown;

/// Runs git in a folder and gives what it prints.
pub(crate) fn git<A: AsRef<OsStr>>(folder: &Path, arguments: &[A]) -> Result<Vec<u8>> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output();
    let output = output.context("cannot run git")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("it failed without a message");
        bail!("git: {}", first.trim_start_matches("fatal: "));
    }
    Ok(output.stdout)
}

/// The folder of the repository that a folder belongs to.
pub(crate) fn top_level(folder: &Path) -> Result<PathBuf> {
    let top = git(folder, &["rev-parse", "--show-toplevel"])
        .with_context(|| format!("{} is not in a repository of git", shown(folder)))?;
    PathBuf::from(line(&top)?).canonicalize().context("cannot find the folder of the repository")
}

/// A line that git prints.
pub(crate) fn line(printed: &[u8]) -> Result<&str> {
    Ok(std::str::from_utf8(printed).context("git printed a name that is not UTF-8")?.trim_end_matches(['\r', '\n']))
}

/// The files that changed since a branch parted from a revision, in all repositories that are asked about.
pub(crate) struct Changed {
    rev: String,
    top_levels: HashMap<PathBuf, PathBuf>,
    files: HashMap<PathBuf, HashSet<PathBuf>>,
}

impl Changed {
    /// The files that changed since this revision.
    pub(crate) fn since(rev: &str) -> Result<Self> {
        if rev.starts_with('-') {
            bail!("a revision does not begin with a hyphen: {rev}");
        }
        Ok(Changed { rev: rev.to_owned(), top_levels: HashMap::new(), files: HashMap::new() })
    }

    /// Whether a file changed since the revision, or is new.
    pub(crate) fn has(&mut self, path: &Path) -> Result<bool> {
        let path = path.canonicalize().with_context(|| format!("cannot find {}", shown(path)))?;
        let folder = path.parent().unwrap_or(&path).to_path_buf();
        let top = match self.top_levels.get(&folder) {
            Some(top) => top.clone(),
            None => top_level(&folder)?,
        };
        self.top_levels.insert(folder, top.clone());
        if !self.files.contains_key(&top) {
            let files = changed(&top, &self.rev)?;
            self.files.insert(top.clone(), files);
        }
        Ok(self.files.get(&top).is_some_and(|files| files.contains(&path)))
    }
}

fn changed(top: &Path, rev: &str) -> Result<HashSet<PathBuf>> {
    let commit = git(top, &["rev-parse", "--verify", "--quiet", &format!("{rev}^{{commit}}")]).map_err(|_| {
        let hint = "a shallow clone has only the newest commits: fetch the revision first";
        bad_argument(format!("git does not know the revision {rev}"), hint)
    })?;
    // What the revision has got since the histories parted is not a change of this branch. A shallow clone may not know
    // where that was.
    let parted = git(top, &["merge-base", line(&commit)?, "HEAD"]).unwrap_or(commit);
    let differ = git(top, &["diff", "--name-only", "-z", "--no-renames", line(&parted)?, "--"])?;
    let new = git(top, &["ls-files", "-z", "--others", "--exclude-standard"])?;
    let names = differ.split(|byte| *byte == 0).chain(new.split(|byte| *byte == 0)).filter(|name| !name.is_empty());
    Ok(names.map(|name| top.join(path_of(name))).collect())
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(name).into()
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> PathBuf {
    String::from_utf8_lossy(name).into_owned().into()
}
