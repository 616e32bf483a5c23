//! Embedded files as files in a folder: the path of each, the files of a folder with the names that they get, and a
//! pakfile that is made equal to a folder.
//!
//! ```
//! use bspkit::content::pak::Pak;
//! use bspkit::face::pak::{Names, sync};
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("Readme.TXT"), "read me")?;
//! let mut pak = Pak::new(b"");
//! let synced = sync(&mut pak, folder.path(), Names::Normal)?;
//! assert_eq!((synced.added, pak.get(0).unwrap().name()), (1, &b"readme.txt"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod extract;
mod found;
mod place;
mod sync;

pub use extract::{Extracted, extract};
pub use found::{FoundFile, Names, files_in};
pub use place::{Placed, paths};
pub use sync::{Synced, sync};
