//! Tests of the crate on the maps of this repository, on maps of games, and on sources that are made up.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../../tests/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
mod damage;
mod fixtures;
mod hammer;
mod proof;
mod real;
mod texts;
mod trees;
