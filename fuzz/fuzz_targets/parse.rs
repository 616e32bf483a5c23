//! Any bytes: they open or are refused, and the round-trip laws hold for what opens.
#![no_main]

use bspkit::Bsp;
use bspkit::verify;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let outcome = verify::run(&map);
    assert!(outcome.is_ok(), "{outcome:?}");
});
