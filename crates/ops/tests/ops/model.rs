//! Brush models that are listed, removed and copied from other maps.

mod copy;
mod plain;
mod remove;

use crate::{facts, maps, walk};
use bspkit::Draft;
use bspkit_ops::check;

/// Errors that the map did not have before.
fn new_errors(draft: &Draft<'_>) -> Vec<bspkit::finding::Finding> {
    let found = check::introduced(draft, &check::Options::default()).unwrap();
    found.into_iter().filter(|found| found.is_error()).collect()
}
