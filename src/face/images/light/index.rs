//! `light.json`: the positions of all images in the files of an export.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::face::images::{bad, read_file};
use crate::face::shown;
use crate::{Error, ErrorKind, Result};

/// The name of the file with the index, in the folder of an export.
pub const NAME: &str = "light.json";

/// The value of the member `kind`.
pub(super) const KIND: &str = "bspkit light";

/// A file with images; `I` is [`Rect`], or its text on one line.
#[derive(Serialize, Deserialize)]
pub(super) struct Sheet<I> {
    /// The light with the exact numbers of the map: a PNG or a Radiance picture.
    pub(super) file: String,
    /// A preview PNG, if the file is not a PNG.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shown: Option<String>,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) images: Vec<I>,
}

/// The light of one lump.
#[derive(Serialize, Deserialize)]
pub(super) struct Set<I> {
    /// Empty if the map has only one.
    pub(super) name: String,
    pub(super) lump: String,
    pub(super) files: Vec<Sheet<I>>,
}

/// The whole document.
#[derive(Serialize, Deserialize)]
pub(super) struct Document<I> {
    pub(super) kind: String,
    pub(super) version: u32,
    pub(super) map: String,
    pub(super) dialect: String,
    pub(super) sets: Vec<Set<I>>,
    /// The positions of surfaces on the pages. This is for the user; `import` does not read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) surfaces: Vec<I>,
}

/// The place of an image in a file. A page has no style.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Rect {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) face: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) page: Option<usize>,
    /// The style's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) style: Option<u8>,
    /// The index among the styles of the face, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) nth: usize,
    /// 0, or the number of a direction of a bumped face.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) plane: usize,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Rect {
    /// Its text, on one line.
    pub(super) fn to_line(self) -> Result<Box<RawValue>> {
        let text = serde_json::to_string(&self).and_then(RawValue::from_string);
        text.map_err(|error| bad("it cannot be written").with_source(error))
    }
}

/// The content of `light.json`: for each face, the file and the position of its light.
///
/// ```
/// use bspkit::face::images::light::Index;
/// assert!(Index::read("tests/maps".as_ref()).is_err()); // there is no light.json
/// ```
pub struct Index {
    pub(super) folder: PathBuf,
    pub(super) document: Document<Rect>,
}

impl Index {
    /// Reads the index in a folder.
    ///
    /// # Errors
    /// The file cannot be read, or is not an index.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let read = read_file(&path).and_then(|text| {
            let wrong = |error: serde_json::Error| Error::new(ErrorKind::Argument, error.to_string());
            let document: Document<Rect> = serde_json::from_slice(&text).map_err(wrong)?;
            match (&*document.kind, document.version) {
                (KIND, 1) => Ok(document),
                (kind, version) => Err(bad(format!("its kind is `{kind}`, version {version}, which is not supported"))),
            }
        });
        let document = read.map_err(|error| error.within(format!("cannot read {}", shown(&path))))?;
        Ok(Index { folder: folder.to_owned(), document })
    }

    /// The files that it names.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let sheets = self.document.sets.iter().flat_map(|set| &set.files);
        sheets.flat_map(|file| [Some(&file.file), file.shown.as_ref()]).flatten().map(|name| self.folder.join(name))
    }
}
