//! bspkit opens maps of the BSP family (Quake, Quake II, Quake III, GoldSrc, Source), lets you change exactly what you
//! mean to change, and writes them back with every other byte as it was.
//!
//! ```
//! use bspkit::{Bsp, Layout};
//!
//! let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
//! let map = Bsp::parse(&bytes)?; // reads the directory and nothing else
//! let mut draft = map.draft(); // pending edits; the map itself never changes
//! draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
//!
//! let plan = draft.plan(Layout::Keep)?; // pure: what a save would write
//! assert_eq!(plan.report().to_string(), "ENTITIES 1757 -> 1743 bytes, in place");
//! let saved = plan.to_vec(); // or plan.save("out.bsp"): atomic, with a backup if you like
//! assert_eq!(saved.len(), bytes.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Promises
//!
//! Without an edit, or with one that sets what is already there, a file does not change. This holds for damaged files
//! too. An edit changes its lump, the words of the directory that must change, padding, and the bytes that the lump no
//! longer uses. Bytes that no lump names are kept as content. No input makes the library panic; errors in the input are
//! reported and kept. [`verify`] tests these promises on any map.
//!
//! # Which level to use
//!
//! - A lens, for content that is not an array of records: entities, embedded files, light, textures, names, visibility,
//!   props, physics. To read: [`Bsp::entities`] and similar methods, which all call [`Bsp::lens`]. To edit:
//!   [`Draft::entities`] and similar methods, which all call [`Draft::edit`].
//! - A table, for records: faces, planes and every other array of structs. [`Bsp::table`] reads; [`Draft::table`] and
//!   [`Draft::update`] edit.
//! - Bytes, for a lump that you read and write yourself: [`Bsp::bytes`], [`Draft::set`].
//!
//! Use the first level that has what you need. Lenses and tables show all pending edits, and their users do not see the
//! byte order. Bytes have the byte order of the file, which is big-endian in a map for a console.
//!
//! # Limits
//!
//! Lumps that are arrays of structs are tables ([`Bsp::table`], [`Draft::table`]); other content has a module in
//! [`content`]. Lumps whose structs are not known well enough are bytes, and [`Bsp::row`] says why. Files may grow to 2
//! GiB; a compressed piece may have 32 MiB when it is decompressed. `docs/support.md` lists all limits.
//!
//! # Features
//!
//! All are on by default; who only edits maps says `default-features = false`. `json` has findings and other results
//! as JSON; `binrw` has the traits of that crate for records. `mmap` adds `Bsp::open_mapped`,
//! which maps a file where [`Bsp::open`] reads it, on Unix; without it the library forbids unsafe code. The program is
//! the crate `bspkit-cli`. Operations on whole maps (check, compare, merge, patch, prune) are the crate `bspkit-ops`,
//! scripts over maps are `bspkit-script`, rule files (Stripper and its relatives) `bspkit-rules`; what maps need of
//! their games is `bspkit-game`, maps in archives are `bspkit-packed`, meshes are `bspkit-see`, sources of maps are
//! `bspkit-decompile`, and maps as text, JSON, folders and images `bspkit-text`.
#![cfg_attr(not(feature = "mmap"), forbid(unsafe_code))]
#![cfg_attr(feature = "mmap", deny(unsafe_code))]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bsp;
mod builder;
pub mod bytes;
pub mod compress;
pub mod content;
pub mod dialect;
pub mod disk;
mod draft;
mod error;
pub mod file;
pub mod finding;
#[cfg(feature = "json")]
pub mod json;
pub mod links;
pub mod near;
pub mod query;
pub mod record;
pub mod threads;
pub mod verify;

pub use bsp::{Bsp, Column, Detection, ListName, Records};
pub use builder::Builder;
pub use bytes::{Data, Rope};
pub use draft::{
    Branch, Branches, Compression, Draft, Followed, FollowedField, FollowedRecords, Reference, ReferenceTree,
    References, Session, Splice, Structure,
};
pub use error::{Error, ErrorKind, Hint, Place, Result};
pub use file::{
    Bounds, Change, ChangeKind, Container, Layout, Moved, Plan, Report, SaveOptions, Segment, SegmentKind, Slot,
    SlotEdit, SlotId, Versioned,
};
pub use near::near;

// pest without its `std` feature asks for this name in the crate root.
extern crate alloc;

/// The README's example is a test too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
