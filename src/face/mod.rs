//! Maps as text, JSON and images, and back: what programs show to users and read from them. The `bspkit` program uses
//! these modules, and other programs and language bindings can use them too. Most modules need the feature `json`,
//! `images` or `policy`.

#[cfg(feature = "json")]
pub mod changes;
#[cfg(feature = "json")]
pub mod ci;
#[cfg(feature = "json")]
pub mod entities;
#[cfg(feature = "json")]
pub mod folder;
#[cfg(feature = "images")]
pub mod images;
pub mod outline;
#[cfg(all(feature = "json", feature = "images"))]
pub mod page;
pub mod pak;
#[cfg(feature = "json")]
pub mod patch;
#[cfg(feature = "policy")]
pub mod policy;
#[cfg(feature = "json")]
pub mod records;
