//! Textures: pixels in GoldSrc maps, WAD and WAL files, names in all maps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "textures/bad.rs"]
mod bad;
#[path = "textures/built.rs"]
mod built;
#[path = "common/corpus.rs"]
mod corpus;
#[path = "textures/files.rs"]
mod files;
#[path = "textures/laws.rs"]
mod laws;
#[path = "textures/names.rs"]
mod names;
#[path = "common/random.rs"]
mod random;
#[path = "textures/sharing.rs"]
mod sharing;
