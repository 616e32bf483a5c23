//! Operations on whole maps: they find faults, compare, merge, patch, remove and copy. All are written against roles,
//! records and references, never against a dialect, and edit through a [`bspkit::Draft`].
//!
//! | what | where |
//! |---|---|
//! | the faults of a map, and those that an edit adds | [`check`] |
//! | what differs between two maps, or between a map and its draft | [`compare`] |
//! | the patch that leads from the entities of one map to those of another | [`diff`] |
//! | patches of entities: what they expect, and where they fit | [`patch`] |
//! | two edits of a map merged | [`merge`] |
//! | brush models: listed, removed, copied into another map | [`models`] |
//! | records that nothing needs, and a map without them | [`unused`], [`prune`] |
//! | the policy of a project | [`policy`] |
//! | what a collection of maps has | [`statistics`] |
//! | the sums by which engines compare maps | [`checksum`] |
//! | lumps in files of their own | [`lmp`] |
//! | which records of one list are which of another | [`align`] |
//!
//! Records by query, compression and the round-trip laws are modules of the library: [`bspkit::query`],
//! [`bspkit::compress`], [`bspkit::verify`].
//!
//! ```
//! use bspkit_ops::check;
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let mut draft = map.draft();
//! draft.entities()?.first_class("info_player_start")?.set("model", "*999")?;
//! let found = check::introduced(&draft, &check::Options::default())?;
//! assert_eq!(found[0].code.name, "entity-model");
//! # Ok::<(), bspkit::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod align;
pub mod check;
pub mod checksum;
pub mod compare;
mod cut;
pub mod diff;
pub mod lmp;
mod luxels;
pub mod merge;
pub mod models;
pub mod patch;
pub mod policy;
pub mod prune;
pub mod statistics;
pub mod unused;
