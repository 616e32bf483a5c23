//! Lenses on lumps that are not arrays: what is edited changes, all else keeps its bytes. On the fixtures, on built
//! lumps, on every map of the corpus (`BSPKIT_CORPUS`), and on noise.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/corpus.rs"]
mod corpus;
#[path = "common/random.rs"]
mod random;

#[path = "lenses/disp.rs"]
mod disp;
#[path = "lenses/doors.rs"]
mod doors;
#[path = "lenses/lightgrid.rs"]
mod lightgrid;
#[path = "lenses/physics.rs"]
mod physics;
#[path = "lenses/texdata.rs"]
mod texdata;
#[path = "lenses/visibility.rs"]
mod visibility;
#[path = "lenses/visibility_built.rs"]
mod visibility_built;

use std::path::{Path, PathBuf};

use bspkit::{Bsp, Draft, ErrorKind, Layout};

/// The fixtures.
fn own_maps() -> Vec<PathBuf> {
    corpus::under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps"))
}

/// Numbers as they stand in files.
fn words(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The map that a save of the draft would give; a notice where the map is so damaged that there can be none.
fn saved(draft: &Draft<'_>, name: &str) -> Option<Bsp<'static>> {
    match draft.plan(Layout::Keep) {
        Ok(plan) => Some(Bsp::from_data(plan.to_vec().into(), Some(draft.bsp().dialect())).unwrap()),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
            println!("{name} cannot be saved: {error}");
            None
        }
    }
}
