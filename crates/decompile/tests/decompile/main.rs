//! Tests of the crate on the maps of this repository, on maps of games, and on sources that are made up.

mod damage;
mod fixtures;
mod hammer;
mod proof;
mod texts;
