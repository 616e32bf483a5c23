//! Maps get another name: every path of theirs follows, nothing else changes, and renaming back gives the old bytes.

mod cases;
mod law;
mod levels;
mod random_maps;
mod resolve;
mod values;

use crate::{corpus, random, zip};
