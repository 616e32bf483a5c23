//! Brush models that are listed, removed and copied from other maps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../tests/follow/beside.rs"]
mod beside;
#[path = "model/copy.rs"]
mod copy;
#[path = "../../../tests/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
#[path = "../../../tests/follow/facts.rs"]
mod facts;
#[path = "../../../tests/follow/maps.rs"]
mod maps;
#[path = "model/plain.rs"]
mod plain;
#[path = "model/remove.rs"]
mod remove;
#[path = "../../../tests/follow/walk.rs"]
mod walk;

use bspkit::Draft;
use bspkit_ops::check;

/// Errors that the map did not have before.
fn new_errors(draft: &Draft<'_>) -> Vec<bspkit::finding::Finding> {
    let found = check::introduced(draft, &check::Options::default()).unwrap();
    found.into_iter().filter(|found| found.is_error()).collect()
}
