//! What is drawn of a map, in every family: meshes with textures, light and entities, and files of other programs.
//!
//! [`Scene::read`] reads a map: the polygons of Quake, GoldSrc, Quake II and Source, the triangles and curved patches
//! of Quake III and its relatives, the displacements of Source; for each vertex the texture and light coordinates that
//! the engine uses; the luxels of all faces on a few pages, an image for each style; the entities and props with their
//! places. [`export`] writes a scene as glTF 2.0 or as an OBJ, [`page()`] as a page for browsers, and [`draw`] as a
//! picture.
//!
//! A scene has the axes and units of the map: x to the east, y to the north, z up. Files have the axes of glTF: x to
//! the right, y up, z to the viewer. One unit is [`METRES`] long.
//!
//! ```
//! use bspkit_see::{Format, Options, Scene, export};
//! let map = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
//! let scene = Scene::read(&map, &Options::default())?;
//! assert!(scene.models[0].triangles() > 20 && scene.findings.is_empty());
//!
//! let files = export(&scene, Format::Glb, "own_rooms.glb")?;
//! assert!(files.len() == 1 && files[0].bytes.starts_with(b"glTF"));
//! # Ok::<(), bspkit::Error>(())
//! ```
//!
//! A damaged map gives what can be shown; [`Scene::findings`] says what is left out. The number of vertices, luxels and
//! pixels is bounded, whatever a map claims.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod atlas;
mod bezier;
mod builder;
mod chosen;
mod displacement;
#[cfg(feature = "images")]
mod drawing;
mod entities;
mod export;
mod files;
mod gltf;
mod images;
mod light;
mod luxels;
mod obj;
mod options;
mod page;
mod parts;
mod picture;
mod placed;
mod points;
mod reading;
mod rings;
mod scene;
mod shape;
mod spaces;
mod surfaces;
mod textures;
mod vtf;

pub use chosen::Only;
#[cfg(feature = "images")]
pub use drawing::{View, draw};
pub use export::{Format, Summary, export};
pub use files::{File, METRES};
pub use options::Options;
pub use page::page;
pub use parts::{LightImage, LightPages, Model, Part, Surface, Texture, Vertex};
pub use picture::{Alpha, Picture};
pub use placed::{Placed, What};
pub use scene::Scene;
pub use spaces::{Clip, SpaceLeaf, SpaceNode, Spaces};
