//! Maps get another name: every path of theirs follows, nothing else changes, and renaming back gives the old bytes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "rename/cases.rs"]
mod cases;
#[path = "../../../tests/common/corpus.rs"]
mod corpus;
#[path = "rename/law.rs"]
mod law;
#[path = "rename/levels.rs"]
mod levels;
#[path = "../../../tests/common/random.rs"]
mod random;
#[path = "rename/random_maps.rs"]
mod random_maps;
#[path = "rename/resolve.rs"]
mod resolve;
#[allow(dead_code)]
#[path = "../../../tests/pak/zip.rs"]
mod zip;
