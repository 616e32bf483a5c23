//! Maps back to their sources: brushes, patches, displacements and entities, as editors open them and compilers take
//! them.
//!
//! [`decompile`] makes a [`source::Source`] of a map, and a [`Report`] of what it holds and what could not be brought
//! back. The module [`source`] reads and writes the texts: `.map` in four forms, and `.vmf`. [`prove`] reads such a
//! text again and compares it with the map, point by point and face by face.
//!
//! ```
//! use bspkit_decompile::{Options, decompile};
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let found = decompile(&map, &Options::default())?;
//! let door = found.source.entities.iter().find(|entity| entity.class() == b"func_door").unwrap();
//! assert_eq!(door.brushes[0].sides[0].texture, b"own/door");
//! # Ok::<(), bspkit::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod assemble;
mod boxes;
mod brush_list;
mod cells;
mod clips;
mod contents;
mod covers;
mod drawn;
mod dress;
mod entities;
mod geometry;
mod hammer;
mod joins;
mod law;
mod looks;
mod mapping;
mod materials;
mod models;
mod outcome;
mod patches;
mod pieces;
mod planes;
mod proof;
mod report;
mod shown;
mod solve;
pub mod source;
mod tools;
mod trees;

pub use assemble::{Decompiled, Options, decompile};
pub use dress::Sizes;
pub use law::law;
pub use outcome::{Outcome, Shares};
pub use proof::{Effort, Faces, Kept, Points, Proof, WrongFace, WrongPoint, prove};
pub use report::{Alignments, LeftOut, Planes, Report, UNKNOWN_SIZE};
