//! Enters the doors with changed inputs for a time: `doors [--seconds N] [--seed N] [DOOR...]`. Each core enters one at a
//! time.
//!
//! An input that panics, or that takes longer than ten seconds, is written to `target/fuzz/found/DOOR-SEED-NUMBER`, and the
//! exit status is 1. `doors DOOR FILE|FOLDER...` enters a door with the bytes of files. `--list` prints the names of the
//! doors, `--write-seeds FOLDER DOOR` the inputs that a door starts from.

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bspkit_fuzz::doors::{Door, all};
use bspkit_fuzz::mutate::{Random, input};
use bspkit_fuzz::seeds::root;

/// An input that takes longer is found.
const SLOW: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let (mut seconds, mut seed, mut names, mut paths, mut seeds) = (1, 1, Vec::new(), Vec::new(), None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = |word: Option<String>| word.and_then(|word| word.parse().ok()).unwrap_or(1);
        match word.as_str() {
            "--seconds" => seconds = number(words.next()),
            "--seed" => seed = number(words.next()),
            "--write-seeds" => seeds = words.next(),
            "--list" => {
                all().iter().for_each(|door| println!("{}", door.name));
                return ExitCode::SUCCESS;
            }
            _ if Path::new(&word).exists() => paths.push(PathBuf::from(word)),
            _ => names.push(word),
        }
    }
    let doors: Vec<Door> =
        all().into_iter().filter(|door| names.is_empty() || names.iter().any(|name| name == door.name)).collect();
    match (&doors[..], seeds) {
        ([], _) => return ExitCode::FAILURE,
        ([door], Some(folder)) => {
            for (number, bytes) in door.seeds.iter().enumerate() {
                fs::write(Path::new(&folder).join(format!("seed-{number}")), bytes).expect("a seed can be written");
            }
            return ExitCode::SUCCESS;
        }
        ([door], None) if !paths.is_empty() => {
            enter_all(door, paths);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let (next, is_bad) = (AtomicUsize::new(0), AtomicBool::new(false));
    let enter = || {
        while let Some(door) = doors.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !run(door, Duration::from_secs(seconds), seed) {
                is_bad.store(true, Ordering::Relaxed);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(enter))));
    if is_bad.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Enters a door with files, and with all files of folders.
fn enter_all(door: &Door, mut paths: Vec<PathBuf>) {
    while let Some(path) = paths.pop() {
        match fs::read_dir(&path) {
            Ok(folder) => paths.extend(folder.flatten().map(|entry| entry.path())),
            Err(_) => (door.enter)(&fs::read(&path).expect("the file can be read")),
        }
    }
}

/// Enters a door for this time; `false` if something was found.
fn run(door: &Door, time: Duration, seed: u64) -> bool {
    let (start, mut random, mut count, mut found) = (Instant::now(), Random::new(seed), 0_u64, 0);
    let name = door.name;
    // The seeds themselves come first.
    let mut own = door.seeds.iter();
    while start.elapsed() < time && found < 3 {
        let bytes = own.next().cloned().unwrap_or_else(|| input(door.kind, &door.seeds, &mut random));
        let began = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| (door.enter)(&bytes)));
        count += 1;
        if done.is_err() || began.elapsed() > SLOW {
            found += 1;
            let why = if done.is_err() { "panics" } else { "is slow" };
            let folder = root().join("target/fuzz/found");
            let file = folder.join(format!("{name}-{seed}-{count}"));
            let saved = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, &bytes));
            println!("{name}: input {count} {why}, in {:?}: {} ({saved:?})", began.elapsed(), file.display());
        }
    }
    println!("{name}: {count} inputs, {found} found");
    let _ = std::io::stdout().flush();
    found == 0
}
