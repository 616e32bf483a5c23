//! `light.json`: what is where in the files of an export.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The name of the file in the folder.
pub(super) const NAME: &str = "light.json";

/// What the first lines say it is.
pub(super) const KIND: &str = "bspkit light";

/// A file with images; `I` is [`Rect`], or its text on one line.
#[derive(Serialize, Deserialize)]
pub(super) struct Sheet<I> {
    /// The light in its own numbers: a PNG or a Radiance picture.
    pub(super) file: String,
    /// A PNG that shows it, where the file is no PNG.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shown: Option<String>,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) images: Vec<I>,
}

/// The light of one lump.
#[derive(Serialize, Deserialize)]
pub(super) struct Set<I> {
    /// Empty where the map has no other.
    pub(super) name: String,
    pub(super) lump: String,
    pub(super) files: Vec<Sheet<I>>,
}

/// The whole document.
#[derive(Serialize, Deserialize)]
pub(super) struct Index<I> {
    pub(super) kind: String,
    pub(super) version: u32,
    pub(super) map: String,
    pub(super) dialect: String,
    pub(super) sets: Vec<Set<I>>,
    /// Where on the pages surfaces lie: for people, `import` does not read it.
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
    /// Which of the face's styles, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) nth: usize,
    /// 0, or a direction of a bumped face.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) plane: usize,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Rect {
    /// Its text, on one line.
    pub(super) fn to_line(self) -> Result<Box<RawValue>> {
        Ok(RawValue::from_string(serde_json::to_string(&self)?)?)
    }
}
