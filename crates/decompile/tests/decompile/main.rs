//! Tests of the crate on the maps of this repository, on maps of games, and on sources that are made up.

#[path = "../../../../tests/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
mod fixtures;
mod proof;
mod texts;
mod trees;
