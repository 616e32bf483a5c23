//! Brush models that are listed, removed and copied from other maps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "follow/beside.rs"]
mod beside;
#[path = "model/copy.rs"]
mod copy;
#[path = "common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
#[path = "follow/facts.rs"]
mod facts;
#[path = "model/plain.rs"]
mod plain;
#[path = "model/remove.rs"]
mod remove;
#[path = "follow/walk.rs"]
mod walk;

use std::path::Path;

use bspkit::op::check;
use bspkit::{Bsp, Draft, Layout};

fn fixtures() -> Vec<(String, Bsp<'static>)> {
    let maps = corpus::under(Path::new("tests/maps"));
    maps.into_iter().map(|path| (path.display().to_string(), Bsp::open(&path).unwrap())).collect()
}

/// Real maps up to a size.
fn real(most: u64) -> impl Iterator<Item = (String, Bsp<'static>)> {
    let maps = corpus::maps().into_iter().filter(move |path| path.metadata().is_ok_and(|file| file.len() <= most));
    maps.filter_map(|path| Some((path.display().to_string(), Bsp::open(&path).ok()?)))
}

fn saved(draft: &Draft<'_>) -> Bsp<'static> {
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

/// Errors that the map did not have before.
fn new_errors(draft: &Draft<'_>) -> Vec<check::Finding> {
    let found = check::introduced(draft, &check::Options::default()).unwrap();
    found.into_iter().filter(|found| found.code.severity == check::Severity::Error).collect()
}
