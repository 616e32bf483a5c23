//! Layer 5: operations on whole maps, written against roles and slots, never against a dialect.

pub mod check;
pub mod compress;
pub mod lmp;
pub mod verify;
