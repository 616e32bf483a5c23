//! Finds programs and runs them bounded in time, ended by their own process handle.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::maps::Entity;

/// An engine needs a fraction of a second for a fixture; a slow machine gets plenty.
const LIMIT: Duration = Duration::from_secs(30);
/// An engine that prints more than this is running in circles: a fixture makes it print less than 100 KB.
const MOST_OUTPUT: u64 = 8 << 20;

/// How a program ended and what it printed, both streams in one.
pub(crate) struct Ended {
    pub(crate) how: Result<i32, String>,
    pub(crate) text: String,
}

/// Runs a program to its end in `folder`, which also is its home.
///
/// Its output goes to a file, so it cannot stall on a full pipe.
pub(crate) fn run(program: &Path, arguments: &[String], folder: &Path) -> Ended {
    run_with(program, arguments, folder, &[])
}

/// Runs a program as [`run`] does, with these variables set.
pub(crate) fn run_with(program: &Path, arguments: &[String], folder: &Path, settings: &[(&str, &str)]) -> Ended {
    let output = folder.join("output.txt");
    let file = File::create(&output).unwrap();
    let child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
    let how = wait(child, &output);
    // Engines print in Latin-1 or worse; what is compared is ASCII.
    Ended { how, text: String::from_utf8_lossy(&std::fs::read(&output).unwrap()).into_owned() }
}

/// The exit code, or a sentence on why there is none.
fn wait(mut child: Child, output: &Path) -> Result<i32, String> {
    let start = Instant::now();
    let why = loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().ok_or_else(|| format!("crashed: {status}"));
        }
        if start.elapsed() > LIMIT {
            break format!("still running after {} seconds", LIMIT.as_secs());
        }
        if std::fs::metadata(output).is_ok_and(|file| file.len() > MOST_OUTPUT) {
            break "prints without end".to_owned();
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    // It may have ended by itself in this moment: then there is nothing to kill.
    let _ = child.kill();
    child.wait().unwrap();
    Err(why)
}

/// A program from `PATH` or from the place its package puts it.
///
/// Where it is missing, the test is skipped with a notice, unless `BSPKIT_REQUIRE_ENGINES=1` makes that a failure.
pub(crate) fn find(name: &str, place: &str, package: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .chain([PathBuf::from(place)])
        .find(|path| path.is_file());
    if found.is_none() {
        let notice = format!("{name} is missing (Debian package {package}): no engine loads the saved maps");
        assert!(std::env::var_os("BSPKIT_REQUIRE_ENGINES").is_none_or(|value| value != "1"), "{notice}");
        eprintln!("skipped: {notice}");
    }
    found
}

/// What one of our game programs was told by its engine.
pub(crate) struct Seen {
    /// The entities as the engine holds them.
    pub(crate) entities: Vec<Entity>,
    /// All else it printed about the map.
    pub(crate) lines: Vec<String>,
}

/// What an engine said to a map.
pub(crate) enum Verdict<T> {
    /// It loaded the map and saw this in it.
    Loaded(T),
    /// It refused the map or fell over it, for this reason.
    Refused(String),
}

impl<T> Verdict<T> {
    /// What the engine saw. `map` is named where it refused.
    pub(crate) fn loaded(self, map: &str) -> T {
        match self {
            Verdict::Loaded(seen) => seen,
            Verdict::Refused(reason) => panic!("{map}: refused: {reason}"),
        }
    }

    /// Why the engine refused. `map` is named where it did not.
    pub(crate) fn refused(self, map: &str) -> String {
        match self {
            Verdict::Loaded(_) => panic!("{map}: loaded, but it is broken"),
            Verdict::Refused(reason) => reason,
        }
    }
}

/// The first line in which two outputs differ, as an error.
pub(crate) fn same_lines(before: &[String], after: &[String]) -> Result<(), String> {
    for index in 0..before.len().max(after.len()) {
        let (old, new) = (before.get(index), after.get(index));
        if old != new {
            let show = |line: Option<&String>| line.map_or("nothing".to_owned(), |text| format!("{text:?}"));
            return Err(format!("line {}: {} became {}", index + 1, show(old), show(new)));
        }
    }
    Ok(())
}
