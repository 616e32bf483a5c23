//! Doors entered with changed inputs for a time.

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::doors::Door;
use crate::mutate::{Random, input};
use crate::seeds::root;

/// An input that takes longer is found.
const SLOW: Duration = Duration::from_secs(10);

/// Enters each door for this time, each core one at a time; `false` if something was found. The same seed makes the same
/// inputs.
pub fn enter_for(doors: &[Door], time: Duration, seed: u64) -> bool {
    let (next, is_bad) = (AtomicUsize::new(0), AtomicBool::new(false));
    let enter = || {
        while let Some(door) = doors.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !one(door, time, seed) {
                is_bad.store(true, Ordering::Relaxed);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(enter))));
    !is_bad.into_inner()
}

/// Enters a door for this time; `false` if something was found.
fn one(door: &Door, time: Duration, seed: u64) -> bool {
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
