//! What a manifest says: a map's head, and a file for each lump. The schema is docs/schema/manifest.schema.json.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::face::records::Format;
use crate::face::{input, shown};
use crate::{Error, ErrorKind, Result};

/// The name of the manifest in a folder.
pub(super) const NAME: &str = "manifest.json";

/// What a map is made of: its header, and a file for each lump.
///
/// ```
/// use bspkit::face::folder::Manifest;
/// let built = Manifest::read("docs/box/manifest.json".as_ref())?.build()?;
/// let map = bspkit::Bsp::from_vec(built.bytes)?;
/// assert_eq!(map.dialect().name, built.dialect.name);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a manifest: a JSON object")]
pub struct Manifest {
    /// Where the files are.
    #[serde(skip)]
    pub(super) folder: PathBuf,
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
    /// How many entries the lump directory has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) entries: Option<usize>,
    /// Whose names flags have in files of records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) game: Option<String>,
    pub(super) lumps: Vec<Part>,
    /// The order of the lumps in the file; those that it does not name follow in the dialect's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) order: Vec<String>,
    /// What the offsets of the game lump's members are multiples of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) align_game_lumps: Option<usize>,
    /// A trailer such as Bloodlines' patches write.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) trailer: bool,
    /// Bytes after everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tail: Option<String>,
    /// Whether the file's size is no multiple of 4, or on consoles of 2048.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) unpadded: bool,
}

/// A lump, a member of the game lump, a lump of Xash3D's extra header or a BSPX entry.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a lump: a JSON object")]
pub(super) struct Part {
    /// What it is: `PLANES`, `game:sprp`, `extra:LIGHTVECS`, `bspx:RGBLIGHTING`.
    pub(super) lump: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// How the file is written, where its name does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format>,
    /// The records in the file, where the lump may have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
    /// Their size, where several have the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record_size: Option<usize>,
    /// Bytes after the last record, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rest: Option<String>,
    /// Whether a NUL follows, as after entity text that was written by hand.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) nul: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    /// The flags of a member of the game lump.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) flags: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) compressed: bool,
    /// What its offset is a multiple of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) align: Option<usize>,
    /// A file with bytes that come before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) gap_before: Option<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What is wrong with a manifest, and where in it.
pub(super) fn wrong(place: &str, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Argument, format!("{place}: {why}"))
}

impl Manifest {
    /// Reads a manifest; the files that it names are in its folder.
    ///
    /// # Errors
    /// The file cannot be read, or is not a manifest: the message says where and why.
    pub fn read(path: &Path) -> Result<Self> {
        let text = input::read(path)?;
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
        let wrong_text = |error: serde_json::Error| Error::new(ErrorKind::Argument, error.to_string());
        let read = serde_json::from_slice(text).map_err(wrong_text).and_then(|manifest: Manifest| {
            match manifest.bspkit_manifest {
                1 => Ok(manifest),
                other => Err(wrong("bspkit_manifest", format!("the version {other} is not known, only 1"))),
            }
        });
        let manifest = read.map_err(|error| error.within(format!("cannot read {}", shown(path))))?;
        Ok(Manifest { folder: path.parent().unwrap_or(Path::new("")).to_owned(), ..manifest })
    }

    /// Every file that it names.
    ///
    /// # Errors
    /// A name that leaves the manifest's folder.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let parts = self.lumps.iter().enumerate().flat_map(|(index, part)| {
            let place = part.place(index);
            let name = move |field| format!("{place}.{field}");
            [(name("file"), part.file.as_deref()), (name("gap_before"), part.gap_before.as_deref())]
        });
        let named = parts.chain([("tail".to_owned(), self.tail.as_deref())]);
        let named = named.filter_map(|(place, name)| Some((place, name?)));
        named.map(|(place, name)| resolve(&self.folder, name).map_err(|why| wrong(&place, why))).collect()
    }
}

impl Part {
    /// How the part is called where something is wrong with it.
    pub(super) fn place(&self, index: usize) -> String {
        format!("lumps[{index}] ({})", self.lump)
    }
}

/// Where a file is that a manifest in `folder` names. A name is of a file in that folder or below it, so that a
/// manifest from elsewhere reaches nothing else unseen; a whole path says plainly where it goes.
pub(super) fn resolve(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let path = Path::new(name);
    let leaves = path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    match path.is_absolute() {
        true => Ok(path.to_owned()),
        false if leaves || name.is_empty() => {
            Err(format!("`{name}` leaves the manifest's folder: say where it is by a whole path"))
        }
        false => Ok(folder.join(path)),
    }
}
