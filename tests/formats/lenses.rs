//! Lenses on lumps that are not arrays: what is edited changes, all else keeps its bytes. On the fixtures, on built
//! lumps, on every map of the corpus (`BSPKIT_CORPUS`), and on noise.

mod disp;
mod doors;
mod lightgrid;
mod physics;
mod texdata;
mod visibility;
mod visibility_built;

use crate::{corpus, random};
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
