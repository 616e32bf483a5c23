//! Files beside or within maps that maps refer to: where they are found ([`Files`]), and what they refer to themselves.
//!
//! Each reader takes the bytes of one file, goes only as far as references need, and has bounds: a damaged file is an
//! error that its user can name and skip.

pub mod fgd;
mod files;
pub mod keyvalues;
pub mod material;
pub mod model;
pub mod particles;
pub mod vpk;

pub use files::{Files, PakFiles, Stack, normal_name};
