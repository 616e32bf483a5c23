//! One door under libFuzzer: `BSPKIT_DOOR=entities cargo +nightly fuzz run door --features libfuzzer`.
#![no_main]

use std::sync::LazyLock;

use bspkit_fuzz::doors::{Door, all};
use libfuzzer_sys::fuzz_target;

static DOOR: LazyLock<Door> = LazyLock::new(|| {
    let name = std::env::var("BSPKIT_DOOR").expect("BSPKIT_DOOR names a door");
    all().into_iter().find(|door| door.name == name).expect("BSPKIT_DOOR names a door")
});

fuzz_target!(|bytes: &[u8]| (DOOR.enter)(bytes));
