//! What surfaces look like: names, kinds, sizes, and pixels where they are in the map or beside it.

mod kinds;
mod pixels;
mod shaders;

use std::collections::HashMap;

use bspkit::bytes::{escaped, nearest_byte};
use bspkit::record::FlagKind;
use bspkit::{Bsp, Records};
use bspkit_game::assets::{Files, PakFiles};

use crate::builder::Findings;
use crate::parts::{Surface, Texture};
use kinds::Kinds;
use pixels::Pixels;

/// The textures of a map.
pub(crate) struct Textures {
    all: Vec<Texture>,
    /// The texture of each texinfo or shader.
    by: Vec<usize>,
    /// That of surfaces whose texinfo or shader does not exist.
    unknown: usize,
}

impl Textures {
    /// Reads the textures of all texinfo or shaders. Each is read once.
    pub(crate) fn read(map: &Bsp<'_>, files: Option<&dyn Files>, findings: &mut Findings) -> Self {
        let (looks, kinds) = (map.looks(), Kinds::of(map));
        let pak = map.pak().ok();
        let packed = pak.as_deref().map(PakFiles::new);
        let mut pixels = Pixels::new(map, files, packed.as_ref());
        let (mut all, mut by, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for look in looks {
            let (surface, opacity) = kinds.surface(&look.name, look.surface_flags, look.content_flags);
            // Textures of one name may have other pixels each, and each face names one by its index.
            let name = look.name.to_ascii_lowercase();
            let key = (name, look.texture, surface, nearest_byte(f64::from(opacity) * 255.0));
            let index = *known.entry(key).or_insert_with(|| {
                all.push(pixels.texture(&look.name, look.texture, surface, opacity, findings));
                all.len() - 1
            });
            by.push(index);
        }
        let unknown = all.len();
        all.push(plain(b"", Surface::Solid, 1.0));
        Textures { all, by, unknown }
    }

    /// The texture of a texinfo or shader.
    pub(crate) fn of(&self, look: Option<usize>) -> usize {
        look.and_then(|look| self.by.get(look)).copied().unwrap_or(self.unknown)
    }

    /// Whether there is such a texinfo or shader.
    pub(crate) fn has(&self, look: Option<usize>) -> bool {
        look.is_some_and(|look| look < self.by.len())
    }

    /// Columns and rows of a texture, if they are known.
    pub(crate) fn size(&self, texture: usize) -> Option<[u32; 2]> {
        self.all[texture].size
    }

    /// Whether light falls on surfaces with it.
    pub(crate) fn is_lit(&self, texture: usize) -> bool {
        !matches!(self.all[texture].surface, Surface::Sky | Surface::Liquid | Surface::Tool)
    }

    pub(crate) fn finish(self) -> Vec<Texture> {
        self.all
    }
}

/// A texture without pixels, in a color that its name gives.
pub(crate) fn plain(name: &[u8], surface: Surface, opacity: f32) -> Texture {
    Texture {
        name: escaped(name).to_string(),
        surface,
        size: None,
        picture: None,
        color: of_name(name).map(|part| f32::from(part) / 255.0).map(|part| part.powf(2.2)),
        opacity,
    }
}

/// A color as a screen shows it that depends on a name alone: never dark, and not too bright.
fn of_name(name: &[u8]) -> [u8; 3] {
    // FNV-1a, which spreads short names well.
    let hash = name
        .to_ascii_lowercase()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let [a, b, c, ..] = (hash ^ hash >> 29).to_le_bytes();
    [a, b, c].map(|byte| 96 + byte / 2)
}

/// The size and the mean color of a material, as texdata has them (Source).
fn texdata(texdata: &Records<'_>, index: usize) -> Option<([u32; 2], [f32; 3])> {
    let [width, height, reflectivity] = texdata.columns(["width", "height", "reflectivity"]).ok()?;
    let size = [width, height].map(|column| u32::try_from(column.get(index)).unwrap_or(0));
    Some((size, reflectivity.floats(index, 0)))
}

/// The bits of a game that have a name.
fn named_bits(map: &Bsp<'_>, kind: FlagKind, names: &[&str]) -> u32 {
    let all = map.dialect().game(map.version()).flags.iter().filter(|(own, _)| *own == kind);
    let own = all.flat_map(|(_, bits)| bits.iter()).filter(|(_, name)| names.contains(name));
    own.fold(0, |bits, (bit, _)| bits | bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_depend_on_names_alone() {
        assert_eq!(of_name(b"Wall"), of_name(b"wall"));
        let colors: std::collections::HashSet<_> = (0..100_u8).map(|byte| of_name(&[b'w', byte])).collect();
        assert!(colors.len() > 95, "{}", colors.len());
    }
}
