//! The text of JSON documents and of counts.

use anyhow::Result;
use serde::Serialize;

pub(crate) use bspkit::face::report::{Head, ValueJson, text_and_raw};
pub(crate) use bspkit::face::shown;

/// An indented document for a single map, one line for each of several.
pub(crate) fn json(document: &impl Serialize, many: bool) -> Result<Vec<u8>> {
    Ok(if many { serde_json::to_vec(document)? } else { serde_json::to_vec_pretty(document)? })
}

/// `3 entities`, `1 entity`.
pub(crate) fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
