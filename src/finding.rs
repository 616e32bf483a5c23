//! Findings: how serious they are, their codes, whose names never change their meaning, and their places. Whatever
//! reports faults of a map reports these: checks, the embedded files, policies, the program and Python.

use std::fmt;

use crate::error::Place;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Severity {
    /// Information; nothing is wrong.
    Note,
    /// Some engine or tool may not accept it, or no compiler writes it.
    Warning,
    /// An engine refuses the map, or reads bytes that do not exist.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// The code of one kind of finding.
///
/// ```
/// use bspkit::finding::{Code, Severity};
/// static UNLIT: Code = Code::new("unlit", Severity::Note, "a face has no light");
/// assert_eq!((UNLIT.name, UNLIT.severity), ("unlit", Severity::Note));
/// ```
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Code {
    /// Its name: lower case, with hyphens.
    #[cfg_attr(feature = "json", serde(rename = "code"))]
    pub name: &'static str,
    /// How serious its findings are.
    pub severity: Severity,
    /// Its meaning: a sentence without a capital and a full stop.
    pub meaning: &'static str,
}

impl Code {
    /// A code with this name, severity and meaning.
    pub const fn new(name: &'static str, severity: Severity, meaning: &'static str) -> Self {
        Code { name, severity, meaning }
    }
}

/// A fault and its place.
///
/// ```
/// use bspkit::finding::{Code, Finding, Severity};
/// static EMPTY: Code = Code::new("lump-empty", Severity::Error, "engines refuse a map without this lump");
/// let finding = Finding::new(&EMPTY, bspkit::Place::default().lump("TEXINFO"), "it is empty");
/// assert_eq!(finding.to_string(), "error[lump-empty] TEXINFO: it is empty");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of finding.
    pub code: &'static Code,
    /// The lump, the record or entity, and the offset in the lump, if they apply.
    pub place: Place,
    /// The fault: a sentence without a capital and a full stop.
    pub message: String,
    /// The number of findings that this one represents: more than one for the last of many of its kind in a lump.
    pub count: usize,
}

impl Finding {
    /// One finding.
    pub fn new(code: &'static Code, place: Place, message: impl Into<String>) -> Self {
        Finding { code, place, message: message.into(), count: 1 }
    }

    /// Whether its code is an error.
    pub fn is_error(&self) -> bool {
        self.code.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.code.severity, self.code.name)?;
        if let Some(lump) = &self.place.lump {
            write!(f, " {lump}")?;
            match (self.place.record, self.place.offset) {
                (Some(record), _) => write!(f, ", record {record}")?,
                (None, Some(offset)) => write!(f, ", offset {offset}")?,
                (None, None) => {}
            }
        } else if let Some(offset) = self.place.offset {
            write!(f, " offset {offset}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// In all documents: `code`, `severity`, `place`, `count` if it is not 1, and `message`.
///
/// ```
/// use bspkit::finding::{Code, Finding, Severity};
/// static ROW: Code = Code::new("row", Severity::Error, "a row ends early");
/// let finding = Finding::new(&ROW, bspkit::Place::default().entity(3), "row 3 ends early");
/// let text = r#"{"code":"row","severity":"error","place":{"entity":3},"message":"row 3 ends early"}"#;
/// assert_eq!(serde_json::to_string(&finding)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[cfg(feature = "json")]
impl serde::Serialize for Finding {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut object = serializer.serialize_struct("Finding", 5)?;
        object.serialize_field("code", self.code.name)?;
        object.serialize_field("severity", &self.code.severity)?;
        object.serialize_field("place", &self.place)?;
        match self.count {
            1 => object.skip_field("count")?,
            count => object.serialize_field("count", &count)?,
        }
        object.serialize_field("message", &self.message)?;
        object.end()
    }
}
