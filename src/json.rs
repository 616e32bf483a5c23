//! Reports as JSON, with the same names of members in all outputs. The schemas are in `docs/schema`.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::bytes::escaped;

/// Bytes as a JSON string. If they are not UTF-8, the string is escaped, and the second value has the bytes in base64.
pub fn text_and_raw(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.into(), None),
        Err(_) => (escaped(bytes).to_string().into(), Some(base64(bytes))),
    }
}

// How fields are written: for `serialize_with`.

/// Bytes as members, for a field that is flattened: the text, and if they are not UTF-8, by the second name the bytes
/// in base64.
///
/// # Errors
/// Those of the serializer.
pub fn members<S: Serializer>(bytes: &[u8], [name, raw_name]: [&str; 2], serializer: S) -> Result<S::Ok, S::Error> {
    let (text, raw) = text_and_raw(bytes);
    let mut object = serializer.serialize_map(None)?;
    object.serialize_entry(name, &text)?;
    if let Some(raw) = raw {
        object.serialize_entry(raw_name, &raw)?;
    }
    object.end()
}

/// Bytes as the members `name` and `raw`, for a field that is flattened.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct File {
///     #[serde(flatten, serialize_with = "bspkit::json::name")]
///     name: Vec<u8>,
/// }
/// let json = serde_json::to_string(&File { name: b"caf\xe9".to_vec() })?;
/// assert_eq!(json, r#"{"name":"caf\\xe9","raw":"Y2Fm6Q=="}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// Those of the serializer.
pub fn name<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    members(bytes, ["name", "raw"], serializer)
}

/// Bytes as a string, which is escaped if they are not UTF-8.
///
/// # Errors
/// Those of the serializer.
pub fn text<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text_and_raw(bytes).0)
}

/// Bytes in base64, with padding.
pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The message of a JSON error, without its position.
///
/// ```
/// let error = serde_json::from_str::<u8>("[").unwrap_err();
/// assert_eq!(bspkit::json::syntax(&error), "invalid type: sequence, expected u8");
/// ```
pub fn syntax(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}

/// All members of a JSON object in their order, also several of one name.
///
/// ```
/// use bspkit::json::Members;
/// let Members(members) = serde_json::from_str(r#"{"b": 1, "a": [2], "b": 3}"#)?;
/// assert_eq!(members.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["b", "a", "b"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Members<'t>(pub Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'t> Visitor<'t> for All {
            type Value = Members<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Members<'t>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// A value in JSON: a string, and `raw` in base64 if the bytes are not UTF-8.
///
/// ```
/// use bspkit::json::ValueJson;
/// assert_eq!(serde_json::to_string(&ValueJson(b"wall"))?, r#"{"value":"wall"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct ValueJson<'v>(pub &'v [u8]);

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        members(self.0, ["value", "raw"], serializer)
    }
}

/// The start of every document: the version of the format, and the path of the map.
///
/// ```
/// use bspkit::json::Head;
/// let head = Head::new(std::path::Path::new("dm4.bsp"));
/// assert_eq!(serde_json::to_string(&head)?, r#"{"version":1,"path":"dm4.bsp"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Head<'p> {
    version: u32,
    path: Cow<'p, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_raw: Option<String>,
}

impl<'p> Head<'p> {
    /// The head of a document about this file.
    pub fn new(path: &'p Path) -> Self {
        let (path, path_raw) = text_and_raw(path.as_os_str().as_encoded_bytes());
        Head { version: 1, path, path_raw }
    }
}
