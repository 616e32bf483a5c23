//! Maps as text, JSON and images, and back: what programs show to users and read from them. The program `bspkit` uses
//! these modules, and other programs and language bindings can use them too.
//!
//! | what | where |
//! |---|---|
//! | records as JSON lines and CSV | [`records`] |
//! | entities, comparisons and patches as JSON | [`entities`], [`changes`], [`patch`] |
//! | a map as a folder, which is edited and packed again | [`folder`] |
//! | embedded files as files on disk | [`pak`] |
//! | light, textures and visibility as images (feature `images`) | `images` |
//! | a comparison as one HTML page (feature `images`) | `page` |
//! | a map as lines of text, for `git diff` | [`outline`] |
//! | the policy of a project as TOML, and one made from maps (feature `policy`) | `policy`, `starter` |
//! | the defaults of a project (feature `policy`) | `defaults` |
//! | tables for databases and data frames | [`rows`] |
//! | findings about many maps, in the formats of CI systems | [`ci`] |
//!
//! ```
//! use bspkit_text::records::{Format, Lump};
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let mut text = Vec::new();
//! Lump::find(&map, "models")?.print(Format::Json, &[], |piece| {
//!     text.extend_from_slice(piece);
//!     Ok::<_, bspkit::Error>(true)
//! })?;
//! assert!(text.starts_with(b"{\"mins\":["));
//! # Ok::<(), bspkit::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod changes;
pub mod ci;
#[cfg(feature = "policy")]
pub mod defaults;
pub mod entities;
pub mod folder;
#[cfg(feature = "images")]
pub mod images;
pub mod outline;
#[cfg(feature = "images")]
pub mod page;
pub mod pak;
pub mod patch;
#[cfg(feature = "policy")]
pub mod policy;
#[cfg(feature = "policy")]
mod project;
pub mod records;
pub mod rows;
#[cfg(feature = "policy")]
pub mod starter;
