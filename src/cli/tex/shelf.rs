//! A collection of textures with pixels: a Quake or GoldSrc map, or a WAD file.

use std::path::Path;

use anyhow::{Context as _, Result};
use bspkit::bytes::escaped;
use bspkit::content::View;
use bspkit::content::textures::{Miptex, Textures};
use bspkit::content::wad::Wad;

use crate::cli::choose::Names;
use crate::cli::context::Context;
use crate::cli::show::shown;
use bspkit::face::input;

pub(super) enum Shelf {
    Map(View<Textures<'static>>),
    Wad(Wad<'static>),
}

/// Whether a path has this extension, in any case.
pub(super) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

pub(super) fn open_wad(path: &Path) -> Result<Wad<'static>> {
    let bytes = input::read(path)?;
    Wad::parse(bytes).with_context(|| format!("cannot open {}", shown(path)))
}

/// The names of the textures of a map.
pub(super) fn names_of(textures: &Textures<'_>) -> Names {
    named_as((0..textures.len()).map(|index| textures.name(index)))
}

/// Names of textures, which arguments give with escapes.
pub(super) fn named_as<'n>(names: impl Iterator<Item = Option<&'n [u8]>>) -> Names {
    let names = names.map(|name| name.map(<[u8]>::to_vec)).collect();
    Names { kind: "textures", names, has_escapes: true }
}

/// A texture in a message.
pub(super) fn named(index: usize, name: Option<&[u8]>) -> String {
    match name {
        Some(name) => format!("texture #{index} `{}`", escaped(name)),
        None => format!("texture #{index}"),
    }
}

impl Shelf {
    pub(super) fn open(cx: &Context, path: &Path) -> Result<Self> {
        if has_extension(path, "wad") {
            return open_wad(path).map(Shelf::Wad);
        }
        Ok(Shelf::Map(cx.open(path)?.textures()?))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Shelf::Map(textures) => textures.len(),
            Shelf::Wad(wad) => wad.entries().len(),
        }
    }

    pub(super) fn name(&self, index: usize) -> Option<&[u8]> {
        match self {
            Shelf::Map(textures) => textures.name(index),
            Shelf::Wad(wad) => wad.entries().get(index).map(|entry| entry.name.text()),
        }
    }

    pub(super) fn names(&self) -> Names {
        named_as((0..self.len()).map(|index| self.name(index)))
    }

    /// A texture; `None` if a legal entry has no texture.
    pub(super) fn get(&self, index: usize) -> bspkit::Result<Option<Miptex<'_>>> {
        match self {
            Shelf::Map(textures) => textures.get(index),
            Shelf::Wad(wad) => match wad.miptex(index) {
                // WAD files may also hold pictures and fonts.
                Err(error) if error.kind() == bspkit::ErrorKind::NotFound => Ok(None),
                texture => texture.map(Some),
            },
        }
    }
}
