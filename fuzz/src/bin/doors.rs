//! Enters the doors with changed inputs for a time: `doors [--seconds N] [--seed N] [DOOR...]`. Each core enters one at a
//! time.
//!
//! An input that panics, or that takes longer than ten seconds, is written to `target/fuzz/found/DOOR-SEED-NUMBER`, and the
//! exit status is 1. `doors DOOR FILE|FOLDER...` enters a door with the bytes of files. `--list` prints the names of the
//! doors, `--write-seeds FOLDER DOOR` the inputs that a door starts from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bspkit_fuzz::doors::{Door, all};
use bspkit_fuzz::run::enter_for;

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
    if enter_for(&doors, Duration::from_secs(seconds), seed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
