//! How bytes and paths look: in talk, and in JSON.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Result;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bspkit::bytes::escaped;
use serde::Serialize;

/// A path on one line, whatever bytes are in it.
pub(crate) fn shown(path: &Path) -> String {
    match cfg!(windows) {
        true => path.display().to_string(),
        false => escaped(path.as_os_str().as_encoded_bytes()).to_string(),
    }
}

/// Bytes as a JSON string: as they are where they are UTF-8, else escaped, with all of them in base64 beside it.
pub(crate) fn text_and_raw(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.into(), None),
        Err(_) => (escaped(bytes).to_string().into(), Some(BASE64_STANDARD.encode(bytes))),
    }
}

/// A path in JSON.
#[derive(Serialize)]
pub(crate) struct PathJson<'p> {
    path: Cow<'p, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_raw: Option<String>,
}

impl<'p> PathJson<'p> {
    pub(crate) fn new(path: &'p Path) -> Self {
        let (path, path_raw) = text_and_raw(path.as_os_str().as_encoded_bytes());
        PathJson { path, path_raw }
    }
}

/// A value in JSON.
#[derive(Serialize)]
pub(crate) struct ValueJson<'v> {
    value: Cow<'v, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
}

impl<'v> ValueJson<'v> {
    pub(crate) fn new(bytes: &'v [u8]) -> Self {
        let (value, raw) = text_and_raw(bytes);
        ValueJson { value, raw }
    }
}

/// A document for one map, a line for one of several.
pub(crate) fn json(document: &impl Serialize, many: bool) -> Result<Vec<u8>> {
    Ok(if many { serde_json::to_vec(document)? } else { serde_json::to_vec_pretty(document)? })
}

/// `3 entities`, `1 entity`.
pub(crate) fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
