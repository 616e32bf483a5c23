//! What faces and sides of brushes refer to for their looks: texinfo, or shaders in Quake III.

use std::collections::HashMap;

use crate::bsp::Bsp;
use crate::bytes::bits;
use crate::dialect::Role;
use crate::file::Slot;

/// What a texinfo says, or a shader in Quake III.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?;
/// let looks = map.looks();
/// assert!(looks.iter().any(|look| look.name.eq_ignore_ascii_case(b"own_wall") && look.texture.is_some()));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Look {
    /// The name of the texture, shader or material, as the map has it; empty if it cannot be read.
    pub name: Vec<u8>,
    /// The index of its texture (Quake, GoldSrc) or of its texdata (Source).
    pub texture: Option<usize>,
    /// `SURF_` flags.
    pub surface_flags: u32,
    /// `CONTENTS_` flags, where they are beside those of the surface (Quake III).
    pub content_flags: u32,
}

impl Bsp<'_> {
    /// The lump that faces and sides refer to for their looks.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
    /// assert_eq!(map.looks_slot().unwrap().name, "SHADERS");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn looks_slot(&self) -> Option<&Slot> {
        self.role(Role::TexInfo).or_else(|| self.role(Role::Textures))
    }

    /// All texinfo, or all shaders in Quake III, in their order; none if they cannot be read.
    pub fn looks(&self) -> Vec<Look> {
        let Some(looks) = self.looks_slot().and_then(|slot| self.any_records(slot.name.as_str())) else {
            return Vec::new();
        };
        let flags = |names: [&str; 2]| {
            let column = names.into_iter().find_map(|name| looks.column(name).ok());
            move |index: usize| column.map_or(0, |column| bits(column.get(index)))
        };
        let (surface, contents) = (flags(["flags", "surface_flags"]), flags(["content_flags", "contents"]));
        let mut names: HashMap<String, HashMap<usize, Vec<u8>>> = HashMap::new();
        for name in self.texture_names().iter().flat_map(|names| names.iter()) {
            names.entry(name.lump).or_default().insert(name.index, name.name);
        }
        let own = names.get(looks.name());
        // In Source a texinfo names a texdata, which names a string; in Quake and GoldSrc it names a texture.
        let texdata = self.any_records("TEXDATA");
        let strings = texdata.as_ref().and_then(|texdata| Some((texdata.column("name").ok()?, texdata.len())));
        let column = |name: &str| looks.column(name).ok();
        let look = |index: usize| {
            let (name, texture) = match (own, &strings) {
                (Some(own), _) => (own.get(&index), None),
                (None, Some((string, count))) => {
                    let texdata = column("texdata").and_then(|column| column.below(index, *count));
                    let string = texdata.and_then(|texdata| string.index(texdata));
                    (string.and_then(|string| names.get("TEXDATA_STRING_DATA")?.get(&string)), texdata)
                }
                (None, None) => {
                    let texture = column("texture").and_then(|column| column.index(index));
                    (texture.and_then(|texture| names.get("TEXTURES")?.get(&texture)), texture)
                }
            };
            let name = name.cloned().unwrap_or_default();
            Look { name, texture, surface_flags: surface(index), content_flags: contents(index) }
        };
        (0..looks.len()).map(look).collect()
    }
}
