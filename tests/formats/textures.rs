//! Textures: pixels in GoldSrc maps, WAD and WAL files, names in all maps.

mod bad;
mod built;
mod files;
mod laws;
mod names;
mod sharing;

use crate::{corpus, random};
