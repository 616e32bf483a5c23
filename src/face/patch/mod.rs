//! Patches of entities as JSON. The schema is `docs/schema/patch.schema.json`.
//!
//! ```
//! use bspkit::face::patch;
//!
//! let text = br#"{"bspkit_patch": 1, "operations": [{"op": "edit", "on": {"index": 0},
//!     "changes": [{"do": "set", "key": "message", "value": "The Place"}]}]}"#;
//! let patch = patch::read(text)?;
//! assert_eq!(patch.operations.len(), 1);
//! assert_eq!(patch::read(patch::write(&patch).as_bytes())?, patch);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod read;
mod write;

use crate::op::patch::Patch;
use crate::{Error, ErrorKind, Result};

/// Reads a patch. An unknown member is refused.
///
/// # Errors
/// The text is not a patch: the message says where and why.
pub fn read(text: &[u8]) -> Result<Patch> {
    read::read(text).map_err(|why| Error::new(ErrorKind::Argument, why))
}

/// The patch as indented JSON.
pub fn write(patch: &Patch) -> String {
    format!("{:#}\n", write::write(patch))
}
