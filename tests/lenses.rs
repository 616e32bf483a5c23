//! Lenses on lumps that are no arrays: what is edited changes, all else keeps its bytes. On the fixtures, on built
//! lumps, on every map of the corpus (`BSPKIT_CORPUS`), and on noise.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/corpus.rs"]
mod corpus;
#[path = "common/random.rs"]
mod random;

#[path = "lenses/visibility.rs"]
mod visibility;
#[path = "lenses/visibility_built.rs"]
mod visibility_built;

use std::path::{Path, PathBuf};

/// The fixtures.
fn own_maps() -> Vec<PathBuf> {
    corpus::under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps"))
}

/// Numbers as they stand in files.
fn words(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
