//! Files of games: what maps need, and new names.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../../tests/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
mod game;
mod needs;
#[path = "../../../../tests/common/random.rs"]
#[allow(dead_code)]
mod random;
mod rename;
#[path = "../../../../tests/common/vpk.rs"]
mod vpk;
#[path = "../../../../tests/formats/pak/zip.rs"]
#[allow(dead_code)]
mod zip;
