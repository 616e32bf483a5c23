//! Maps and the files of their games: what a map needs of them, and what goes with another name of a map.
//!
//! | what | where |
//! |---|---|
//! | the files of a game on disk, as one source of files | [`Game`] |
//! | archives of games: PAK, PK3, VPK | [`Archive`] |
//! | files that maps refer to, and what they refer to themselves: materials, models, particles, FGD, VPK | [`assets`] |
//! | what a Source map refers to, and which of it can be embedded | [`needs`] |
//! | what players need to load a map: the `.res` file | [`res`] |
//! | another name for a map | [`rename`] |
//! | the places and images of cube maps | [`cubemaps`] |
//! | classes and keys that a game does not have, by its FGD file | [`classes`] |
//! | files beside a map that an edit makes stale | [`beside`] |
//! | the checksum in a file of areas for bots | [`aas`] |
//!
//! ```
//! use bspkit_game::needs::{self, Options};
//! let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
//! let needs = needs::find(&map, &Options::new("room_v20"))?;
//! assert!(needs.get("materials/own/floor.vmt").is_some());
//! # Ok::<(), bspkit::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod aas;
mod archive;
pub mod assets;
pub mod beside;
pub mod classes;
pub mod cubemaps;
mod game;
pub mod needs;
pub mod rename;
pub mod res;

pub use archive::Archive;
pub use game::Game;
