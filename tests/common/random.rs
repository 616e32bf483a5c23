//! How random tests run: the same cases each time, so that a run says something of the code and not of chance;
//! `PROPTEST_RNG_SEED` and `PROPTEST_CASES` look for others.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

/// So many cases, and the file for what has failed once.
pub(crate) fn config(cases: u32, seeds: &'static str) -> ProptestConfig {
    let default = ProptestConfig {
        max_shrink_iters: 4000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(seeds))),
        ..ProptestConfig::default()
    };
    match std::env::var_os("PROPTEST_RNG_SEED").or(std::env::var_os("PROPTEST_CASES")) {
        Some(_) => default,
        None => ProptestConfig { cases, rng_seed: RngSeed::Fixed(1), ..default },
    }
}
