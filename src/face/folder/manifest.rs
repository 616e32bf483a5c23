//! The manifest: the header of a map, and a file for each lump. The schema is docs/schema/manifest.schema.json.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::face::input;
use crate::face::records::{Format, Members};
use crate::face::report::syntax;
use crate::{Error, ErrorKind};

/// The name of the manifest in a folder.
pub(super) const NAME: &str = "manifest.json";

/// The description of a map: its header, and a file for each lump.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a manifest: a JSON object")]
pub(super) struct Manifest {
    /// The version of the format: 1.
    pub(super) bspkit_manifest: u32,
    pub(super) dialect: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<i32>,
    /// The checksum in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) checksum: Option<u32>,
    /// The number of entries in the lump directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) entries: Option<usize>,
    /// The game whose flag names the files of records use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) game: Option<String>,
    pub(super) lumps: Vec<Part>,
    /// The order of the lumps in the file. The others follow in the usual order of the dialect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) order: Vec<String>,
    /// The alignment of the members of the game lump, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) align_game_lumps: Option<usize>,
    /// A trailer such as Bloodlines' patches write.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) trailer: bool,
    /// Bytes after everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tail: Option<String>,
    /// Whether the file is not padded to a multiple of 4 bytes, or of 2048 bytes on consoles.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) unpadded: bool,
    /// The line of each member in the file.
    #[serde(skip)]
    pub(super) lines: HashMap<String, usize>,
}

/// A lump, a member of the game lump, a lump of Xash3D's extra header or a BSPX entry.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a lump: a JSON object")]
pub(super) struct Part {
    /// The name of the slot: `PLANES`, `game:sprp`, `extra:LIGHTVECS`, `bspx:RGBLIGHTING`.
    pub(super) lump: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// The folder with the embedded files, for the pakfile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<String>,
    /// The names of embedded files that are not those of their files, by the paths of the files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) names: BTreeMap<String, String>,
    /// The folder with images of its content, which is in the folder `original`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) images: Option<String>,
    /// The format of the file, if it differs from the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format>,
    /// The type of the records in the file, if the lump may have several types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
    /// The size of a record, if several types have the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record_size: Option<usize>,
    /// Bytes after the last record, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rest: Option<String>,
    /// How many NULs follow the bytes of the file: 1 for entity text (.ent), otherwise 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) nuls: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    /// The flags of a member of the game lump.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) flags: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) compressed: bool,
    /// The alignment of its offset, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) align: Option<usize>,
    /// A file with the bytes before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) gap_before: Option<String>,
    /// The line of the manifest, and the index in it.
    #[serde(skip)]
    pub(super) line: usize,
    #[serde(skip)]
    pub(super) index: usize,
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A problem of a folder: the place, and what is wrong there.
pub(super) fn wrong(place: impl std::fmt::Display, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Argument, format!("{place}: {why}"))
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// All problems: the file cannot be read, or parts of it are wrong.
    pub(super) fn read(path: &Path) -> Result<Self, Vec<Error>> {
        let text = input::read(path).map_err(|error| vec![error])?;
        input::refuse_utf16(NAME.as_ref(), &text).map_err(|error| vec![error])?;
        let start = input::without_mark(&text);
        let text = std::str::from_utf8(start).map_err(|_| vec![wrong(NAME, "it is not UTF-8 text")])?;
        Manifest::parse(text)
    }

    fn parse(text: &str) -> Result<Self, Vec<Error>> {
        let at = |line: usize, error: &serde_json::Error| wrong(line_of(line + error.line()), syntax(error));
        let lumps = lumps(text);
        // The problems of all lumps, not only the first one.
        let read = lumps.iter().map(|(lump, line)| (serde_json::from_str::<Part>(lump), line));
        let problems: Vec<Error> =
            read.filter_map(|(part, line)| part.err().map(|error| at(line - 1, &error))).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut manifest: Manifest = serde_json::from_str(text).map_err(|error| vec![at(0, &error)])?;
        for (index, (part, (_, line))) in manifest.lumps.iter_mut().zip(&lumps).enumerate() {
            (part.line, part.index) = (*line, index);
        }
        manifest.lines = members(text).into_iter().map(|(name, raw)| (name, line_at(text, raw))).collect();
        if manifest.bspkit_manifest != 1 {
            let why = format!("version {} is not supported, only 1", manifest.bspkit_manifest);
            return Err(vec![manifest.wrong("bspkit_manifest", why)]);
        }
        Ok(manifest)
    }

    /// A problem of a member.
    pub(super) fn wrong(&self, member: &str, why: impl std::fmt::Display) -> Error {
        let name = member.split(['[', '.']).next().unwrap_or_default();
        let place = self.lines.get(name).map_or_else(|| NAME.to_owned(), |line| line_of(*line));
        wrong(place, format!("{member}: {why}"))
    }

    /// Its text: one line for each member, and for each lump.
    pub(super) fn text(&self) -> Vec<u8> {
        print(self)
    }
}

/// A JSON object with one line for each member, and for each object in a list.
pub(super) fn print(object: &impl Serialize) -> Vec<u8> {
    // Strings and numbers can always be written.
    let Ok(Value::Object(members)) = serde_json::to_value(object) else { return Vec::new() };
    let lines = members.into_iter().map(|(name, value)| match value {
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let items: Vec<_> = items.iter().map(|item| format!("    {}", line(item))).collect();
            format!("  \"{name}\": [\n{}\n  ]", items.join(",\n"))
        }
        value => format!("  \"{name}\": {}", line(&value)),
    });
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n")).into_bytes()
}

/// JSON on one line, with spaces.
fn line(value: &Value) -> String {
    let join = |items: Vec<String>| items.join(", ");
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{}: {}", Value::from(name.as_str()), line(value));
            format!("{{{}}}", join(members.iter().map(member).collect()))
        }
        Value::Array(items) => format!("[{}]", join(items.iter().map(line).collect())),
        value => value.to_string(),
    }
}

fn line_of(line: usize) -> String {
    format!("{NAME}, line {line}")
}

/// The members of an object; none if the text is wrong.
fn members(text: &str) -> Vec<(String, &RawValue)> {
    serde_json::from_str::<Members<'_>>(text).map_or_else(|_| Vec::new(), |members| members.0)
}

/// The text of each lump of a manifest, and its line.
fn lumps(text: &str) -> Vec<(&str, usize)> {
    let lumps = members(text).into_iter().find(|(name, _)| name == "lumps");
    let lumps = lumps.and_then(|(_, lumps)| serde_json::from_str::<Vec<&RawValue>>(lumps.get()).ok());
    lumps.unwrap_or_default().into_iter().map(|lump| (lump.get(), line_at(text, lump))).collect()
}

/// The line of a part of a text.
fn line_at(text: &str, part: &RawValue) -> usize {
    let offset = part.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

impl Part {
    /// The name of the part in messages.
    pub(super) fn place(&self) -> String {
        format!("{}: lumps[{}] ({})", line_of(self.line), self.index, self.lump)
    }

    /// A problem of a member of the part.
    pub(super) fn wrong(&self, member: &str, why: impl std::fmt::Display) -> Error {
        wrong(format!("{}.{member}", self.place()), why)
    }

    /// The format of its file.
    pub(super) fn file_format(&self) -> Format {
        let extension = self.file.as_deref().and_then(|file| file.rsplit_once('.')).map(|(_, extension)| extension);
        self.format.or(extension.and_then(Format::of_extension)).unwrap_or(Format::Raw)
    }

    /// Whether its file is entity text.
    pub(super) fn is_text(&self) -> bool {
        self.file.as_deref().is_some_and(|file| file.to_ascii_lowercase().ends_with(".ent"))
    }

    /// How many NULs follow the bytes of the file.
    pub(super) fn nul_count(&self) -> usize {
        self.nuls.map_or(usize::from(self.is_text()), usize::from)
    }
}
