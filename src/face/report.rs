//! Reports as JSON, with the same names of members in all outputs. The schemas are in `docs/schema`.

use std::borrow::Cow;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Serialize, Serializer};

use crate::bytes::escaped;
use crate::op::check::{Finding, Severity};

/// Bytes as a JSON string. If they are not UTF-8, the string is escaped, and the second value has the bytes in base64.
pub fn text_and_raw(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.into(), None),
        Err(_) => (escaped(bytes).to_string().into(), Some(base64(bytes))),
    }
}

/// Bytes in base64, with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The message of a JSON error, without its position.
///
/// ```
/// let error = serde_json::from_str::<u8>("[").unwrap_err();
/// assert_eq!(bspkit::face::report::syntax(&error), "invalid type: sequence, expected u8");
/// ```
pub fn syntax(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}

/// A value in JSON: a string, and `raw` in base64 if the bytes are not UTF-8.
///
/// ```
/// use bspkit::face::report::ValueJson;
/// assert_eq!(serde_json::to_string(&ValueJson::new(b"wall"))?, r#"{"value":"wall"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct ValueJson<'v> {
    value: Cow<'v, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
}

impl<'v> ValueJson<'v> {
    /// The value of these bytes.
    pub fn new(bytes: &'v [u8]) -> Self {
        let (value, raw) = text_and_raw(bytes);
        ValueJson { value, raw }
    }
}

/// The start of every document: the version of the format, and the path of the map.
///
/// ```
/// use bspkit::face::report::Head;
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

/// The place of a finding, as far as it is known.
///
/// ```
/// use bspkit::face::report::PlaceJson;
/// let place = PlaceJson { entity: Some(3), ..PlaceJson::default() };
/// assert_eq!(serde_json::to_string(&place)?, r#"{"entity":3}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct PlaceJson {
    /// The name of the lump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lump: Option<String>,
    /// The number of the record in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<usize>,
    /// The field of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The offset in bytes: in the lump, or in the file if no lump is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The number of the embedded file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
    /// The number of the entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<usize>,
}

/// Something wrong or odd in a map.
///
/// ```
/// use bspkit::face::report::{FindingJson, PlaceJson};
/// use bspkit::op::check::Severity;
/// let finding = FindingJson::new("visibility", Severity::Error, PlaceJson::default(), "row 3 ends early".to_owned());
/// let text = r#"{"code":"visibility","severity":"error","place":{},"message":"row 3 ends early"}"#;
/// assert_eq!(serde_json::to_string(&finding)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FindingJson {
    /// The kind of finding.
    pub code: &'static str,
    /// How serious it is.
    #[serde(serialize_with = "by_name")]
    pub severity: Severity,
    /// Where it is.
    pub place: PlaceJson,
    /// The number of such places, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// A sentence for the user.
    pub message: String,
}

fn by_name<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(severity)
}

impl FindingJson {
    /// One finding.
    pub fn new(code: &'static str, severity: Severity, place: PlaceJson, message: String) -> Self {
        FindingJson { code, severity, place, count: None, message }
    }
}

impl From<&Finding> for FindingJson {
    fn from(finding: &Finding) -> Self {
        let crate::Place { lump, record, offset, .. } = finding.place.clone();
        let place = PlaceJson { lump, record, offset, field: finding.field.clone(), ..PlaceJson::default() };
        let count = (finding.count != 1).then_some(finding.count);
        let (code, severity) = (finding.code.name, finding.code.severity);
        FindingJson { code, severity, place, count, message: finding.message.clone() }
    }
}
