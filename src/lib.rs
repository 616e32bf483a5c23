//! bspkit opens maps of the BSP family and writes them back with every byte nobody meant to change as it was.
#![cfg_attr(not(feature = "mmap"), forbid(unsafe_code))]
#![cfg_attr(feature = "mmap", deny(unsafe_code))]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

// pest without its `std` feature asks for this name in the crate root.
extern crate alloc;

pub mod bytes;
pub mod content;
pub mod dialect;
mod error;

pub use bytes::Data;
pub use error::{Error, ErrorKind, Place, Result};
