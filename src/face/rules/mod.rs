//! Rule files of every format, also those that are JSON.
//!
//! ```
//! use bspkit::face::rules;
//! use bspkit::op::rules::{Format, Mode};
//!
//! let text = br#"{ "filter": [ { "classname": "light" } ] } // JSON with comments"#;
//! let rules = rules::read("clean.jsonc", text, rules::detect("clean.jsonc", text), Mode::Plugin);
//! assert_eq!((rules.format, rules.rules.len()), (Format::Cs2, 1));
//! ```

mod bake;
mod folder;
mod jsonc;
pub mod record;

pub use bake::{Bake, Tried, save};
pub use folder::{Reading, RuleFiles, map_name};

use crate::op::rules::{Format, Mode, Rules};

/// Formats by the extensions of their files.
const EXTENSIONS: [(&str, Format); 5] = [
    ("cfg", Format::Stripper),
    ("ini", Format::Qmm),
    ("rule", Format::Lazyripent),
    ("jsonc", Format::Cs2),
    ("json", Format::Cs2),
];

/// The format of a file: by the extension of its name, or by what it begins with; Stripper:Source if neither says.
pub fn detect(name: &str, text: &[u8]) -> Format {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let known = EXTENSIONS.iter().find(|(known, _)| extension.as_deref() == Some(*known));
    let start = text.trim_ascii_start();
    let in_braces = start.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let is_json = || {
        in_braces.is_some_and(|inside| {
            [&b"\"filter\""[..], b"\"add\"", b"\"modify\""].iter().any(|word| inside.starts_with(word))
        })
    };
    known.map(|(_, format)| *format).unwrap_or(if is_json() { Format::Cs2 } else { Format::Stripper })
}

/// Reads a file with all its findings, as [`Rules::read`], of any format.
pub fn read(name: &str, text: &[u8], format: Format, mode: Mode) -> Rules {
    match format {
        Format::Cs2 if !super::input::is_utf16(text) => jsonc::read(name, text),
        _ => Rules::read(name, text, format, mode),
    }
}
