//! One door under libFuzzer, which keeps inputs that reach new code: see `fuzz/run`.
#![no_main]

use std::sync::LazyLock;

use bspkit_fuzz::doors::{Door, all};
use bspkit_fuzz::mutate::{Random, changed};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

static DOOR: LazyLock<Door> = LazyLock::new(|| {
    let name = std::env::var("BSPKIT_DOOR").expect("BSPKIT_DOOR names a door");
    all().into_iter().find(|door| door.name == name).expect("BSPKIT_DOOR names a door")
});

fuzz_target!(|bytes: &[u8]| (DOOR.enter)(bytes));

// Every other input is changed by what knows maps and texts, the others by libFuzzer.
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    if seed % 2 == 0 {
        return fuzzer_mutate(data, size, most);
    }
    let mut bytes = data[..size].to_vec();
    changed(DOOR.kind, &mut bytes, &DOOR.seeds, &mut Random::new(u64::from(seed)));
    bytes.truncate(most);
    data[..bytes.len()].copy_from_slice(&bytes);
    bytes.len()
});
