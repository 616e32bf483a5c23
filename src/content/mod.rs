//! Lenses: what is inside a lump that is no array of records.

pub mod entities;
pub mod select;
