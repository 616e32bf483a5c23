//! bspkit opens maps of the BSP family and writes them back with every byte nobody meant to change as it was.
#![cfg_attr(not(feature = "mmap"), forbid(unsafe_code))]
#![cfg_attr(feature = "mmap", deny(unsafe_code))]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

// pest without its `std` feature asks for this name in the crate root.
extern crate alloc;

mod bsp;
mod builder;
pub mod bytes;
pub mod content;
pub mod dialect;
mod draft;
mod error;
pub mod file;
pub mod op;
pub mod record;

pub use bsp::Bsp;
pub use builder::Builder;
pub use bytes::{Data, Rope};
pub use draft::{Draft, Packing};
pub use error::{Error, ErrorKind, Place, Result};
pub use file::{
    Bounds, Change, ChangeKind, Container, Layout, Moved, Plan, Report, SaveOptions, Segment, SegmentKind, Slot,
    SlotEdit, SlotId, Versioned,
};
