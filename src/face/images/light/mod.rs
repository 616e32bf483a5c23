//! Light as images: files with the light of many faces or of one, and the index `light.json`.
//!
//! ```
//! use bspkit::face::images::light::{Index, export, import};
//!
//! let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
//! let light = map.light()?;
//! let folder = tempfile::tempdir().unwrap();
//! let export = export(&map, &light, "own_rooms.bsp", false, |_, _, _| true)?;
//! for file in export.files() {
//!     for (name, bytes) in export.encode(file)? {
//!         std::fs::write(folder.path().join(name), bytes).unwrap();
//!     }
//! }
//! std::fs::write(folder.path().join(bspkit::face::images::light::INDEX), export.index()).unwrap();
//!
//! let mut draft = map.draft();
//! let taken = import(draft.light()?, &Index::read(folder.path())?);
//! assert_eq!((taken.changed, taken.faults.len()), (0, 0));
//! # Ok::<(), bspkit::Error>(())
//! ```

mod export;
mod import;
mod index;
mod pack;

pub use export::{Export, export};
pub use import::{Imported, import};
pub use index::{Index, NAME as INDEX};
pub use pack::Sheet as File;
