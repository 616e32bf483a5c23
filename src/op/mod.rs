//! Layer 5: operations on whole maps, written against roles and slots, never against a dialect.

pub mod align;
pub mod check;
pub mod checksum;
pub mod compare;
pub mod compress;
pub mod diff;
pub mod lmp;
pub(crate) mod luxels;
pub mod merge;
pub mod models;
pub mod patch;
pub mod policy;
pub mod prune;
pub mod query;
pub mod unused;
pub mod verify;
