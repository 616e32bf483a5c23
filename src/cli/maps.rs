//! The maps that a command is about, and the work on each of them.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use anyhow::{Context, Error, Result, anyhow};

use super::show::shown;
use super::talk::{Code, Job, Talk};

/// A map to work on.
pub(crate) struct MapFile {
    pub(crate) path: PathBuf,
    /// The path below the folder that was named; the file's name where the map itself was.
    pub(crate) name: PathBuf,
}

/// What the arguments name, in their order; folders stand for the maps in them.
pub(crate) struct Maps {
    pub(crate) found: Vec<Result<MapFile>>,
    /// Whether there may be several: JSON is one line for each then.
    pub(crate) many: bool,
}

impl Maps {
    pub(crate) fn find(arguments: &[PathBuf]) -> Self {
        let mut maps = Maps { found: Vec::new(), many: arguments.len() > 1 };
        for path in arguments {
            if !path.is_dir() {
                let name = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
                maps.found.push(Ok(MapFile { path: path.clone(), name }));
                continue;
            }
            maps.many = true;
            let before = maps.found.len();
            maps.walk(path, Path::new(""), &mut HashSet::new());
            if maps.found.len() == before {
                maps.found.push(Err(anyhow!("there is no map (*.bsp) in {}", shown(path))));
            }
        }
        maps
    }

    /// Adds the maps of a folder and of those in it; `seen` ends loops of symbolic links.
    fn walk(&mut self, folder: &Path, name: &Path, seen: &mut HashSet<PathBuf>) {
        let entries = fs::canonicalize(folder).and_then(|real| match seen.insert(real) {
            true => fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect(),
            false => Ok(Vec::new()),
        });
        let mut entries: Vec<_> = match entries.with_context(|| format!("cannot read {}", shown(folder))) {
            Ok(entries) => entries,
            Err(error) => return self.found.push(Err(error)),
        };
        entries.sort();
        for entry in entries {
            let (path, name) = (folder.join(&entry), name.join(&entry));
            if path.is_dir() {
                self.walk(&path, &name, seen);
            } else if name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp")) {
                // A pipe would be waited for; what cannot be looked at says so when it is opened.
                self.found.push(match fs::metadata(&path) {
                    Ok(there) if !there.is_file() => Err(anyhow!("{} is no file", shown(&path))),
                    _ => Ok(MapFile { path, name }),
                });
            }
        }
    }

    /// Does the work on every map, on so many at once; what it says comes in the order of the maps, and one that
    /// fails does not stop the others.
    pub(crate) fn each(
        &self,
        jobs: usize,
        talk: &Talk,
        work: impl Fn(&MapFile, &mut Job<'_>) -> Result<Code> + Sync,
    ) -> Result<Code> {
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let take = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let found = self.found.get(index).filter(|_| !stop.load(Ordering::Relaxed))?;
            let path = found.as_ref().map_or(Path::new(""), |map| &map.path);
            let mut job = Job::new(talk, path);
            let result =
                found.as_ref().map_err(Failure::Known).and_then(|map| work(map, &mut job).map_err(Failure::New));
            match result {
                Ok(code) => job.code = job.code.max(code),
                Err(Failure::Known(error)) => job.fail(error),
                Err(Failure::New(error)) => job.fail(&error),
            }
            Some((index, job))
        };
        if jobs.min(self.found.len()) <= 1 {
            return write_all(talk, std::iter::from_fn(take));
        }
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..jobs.min(self.found.len()) {
                let (sender, take) = (sender.clone(), &take);
                scope.spawn(move || while take().is_some_and(|done| sender.send(done).is_ok()) {});
            }
            drop(sender);
            let result = write_all(talk, receiver.into_iter());
            stop.store(true, Ordering::Relaxed);
            result
        })
    }
}

enum Failure<'e> {
    Known(&'e Error),
    New(Error),
}

/// Writes what was said in order, until nobody reads on.
fn write_all<'t>(talk: &Talk, done: impl Iterator<Item = (usize, Job<'t>)>) -> Result<Code> {
    let mut waiting = BTreeMap::new();
    let (mut next, mut worst) = (0, Code::Done);
    for (index, job) in done {
        waiting.insert(index, job);
        while let Some(job) = waiting.remove(&next) {
            next += 1;
            worst = worst.max(job.code);
            let is_read = talk.stdout(&job.out);
            talk.stderr(&job.err);
            if !is_read? {
                return Ok(worst);
            }
        }
    }
    Ok(worst)
}

/// Whether two paths are one file, through symbolic links as well.
pub(crate) fn real_path(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
