//! Enters the doors with changed inputs for a time: `doors [--seconds N] [--seed N] [DOOR...]`.
//!
//! An input that panics, or that takes longer than ten seconds, is written to `found/DOOR-NUMBER`, and the exit status
//! is 1. `doors DOOR FILE` enters a door with the bytes of a file.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bspkit_fuzz::doors::{Door, all};
use bspkit_fuzz::mutate::{Random, input};

/// An input that takes longer is found.
const SLOW: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let (mut seconds, mut seed, mut names, mut file) = (1, 1, Vec::new(), None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
        match word.as_str() {
            "--seconds" => seconds = number(),
            "--seed" => seed = number(),
            _ if Path::new(&word).is_file() => file = Some(word),
            _ => names.push(word),
        }
    }
    let doors: Vec<Door> =
        all().into_iter().filter(|door| names.is_empty() || names.iter().any(|name| name == door.name)).collect();
    if let (Some(file), [door]) = (&file, &doors[..]) {
        let bytes = std::fs::read(file).expect("the file can be read");
        (door.enter)(&bytes);
        return ExitCode::SUCCESS;
    }
    let all_good = doors.iter().fold(true, |good, door| run(door, Duration::from_secs(seconds), seed) && good);
    if all_good && !doors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Enters a door for this time; `false` if something was found.
fn run(door: &Door, time: Duration, seed: u64) -> bool {
    let (start, mut random, mut count, mut found) = (Instant::now(), Random::new(seed), 0_u64, 0);
    let name = door.name;
    // The seeds themselves come first.
    let mut own = door.seeds.iter();
    while start.elapsed() < time && found < 3 {
        let bytes = own.next().cloned().unwrap_or_else(|| input(&door.seeds, &mut random));
        let began = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| (door.enter)(&bytes)));
        count += 1;
        if done.is_err() || began.elapsed() > SLOW {
            found += 1;
            let why = if done.is_err() { "panics" } else { "is slow" };
            let file = format!("found/{name}-{seed}-{count}");
            let saved = std::fs::create_dir_all("found").and_then(|()| std::fs::write(&file, &bytes));
            println!("{name}: input {count} {why}, in {:?}: {file} ({saved:?})", began.elapsed());
        }
    }
    println!("{name}: {count} inputs, {found} found");
    let _ = std::io::stdout().flush();
    found == 0
}
