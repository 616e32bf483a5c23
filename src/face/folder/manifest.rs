//! The manifest: the header of a map, and a file for each lump. The schema is docs/schema/manifest.schema.json.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::face::records::Format;
use crate::face::{input, shown};
use crate::{Error, ErrorKind, Result};

/// The name of the manifest in a folder.
pub(super) const NAME: &str = "manifest.json";

/// The description of a map: its header, and a file for each lump.
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
    /// The folder of the files.
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
}

/// A lump, a member of the game lump, a lump of Xash3D's extra header or a BSPX entry.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a lump: a JSON object")]
pub(super) struct Part {
    /// The name of the slot: `PLANES`, `game:sprp`, `extra:LIGHTVECS`, `bspx:RGBLIGHTING`.
    pub(super) lump: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
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
    /// Whether to add a NUL, for entity text that was written by hand.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) nul: bool,
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
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An error in a manifest, with its path in the document.
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
                other => Err(wrong("bspkit_manifest", format!("version {other} is not supported, only 1"))),
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
    /// The name of the part in error messages.
    pub(super) fn place(&self, index: usize) -> String {
        format!("lumps[{index}] ({})", self.lump)
    }
}

/// The path of a file that a manifest in `folder` names. A relative name must stay in that folder, so that an unknown
/// manifest cannot read other files unnoticed. An absolute path is allowed, since it is visible.
pub(super) fn resolve(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let path = Path::new(name);
    let leaves = path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    match path.is_absolute() {
        true => Ok(path.to_owned()),
        false if leaves || name.is_empty() => {
            Err(format!("`{name}` is outside the folder of the manifest: write an absolute path"))
        }
        false => Ok(folder.join(path)),
    }
}
