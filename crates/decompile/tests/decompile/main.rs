//! Tests of the crate on the maps of this repository, on maps of games, and on sources that are made up.

mod fixtures;
mod proof;
mod texts;
