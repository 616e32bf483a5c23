//! What sides and faces refer to for their looks: texinfo, or shaders in Quake III.

use std::collections::HashMap;

use bspkit::bytes::bits;
use bspkit::dialect::Role;
use bspkit::{Bsp, Column, Records};

/// What a texinfo or a shader says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Look {
    /// The name of the texture, as an editor has it.
    pub(crate) name: Vec<u8>,
    /// Flags of the surface.
    pub(crate) flags: u32,
    /// Flags of the volume, where they are beside those of the surface (Quake III).
    pub(crate) contents: u32,
    /// The strength of its light (Quake II).
    pub(crate) value: i32,
    /// How the texture lies, in texels; `None` for shaders.
    pub(crate) vectors: Option<[[f32; 4]; 2]>,
    /// How luxels lie (Source).
    pub(crate) luxels: Option<[[f32; 4]; 2]>,
}

/// All texinfo or shaders of a map; none if they cannot be read.
pub(crate) fn read(map: &Bsp<'_>) -> Vec<Look> {
    let role = if map.role(Role::TexInfo).is_some() { Role::TexInfo } else { Role::Textures };
    let Ok(looks) = map.records(role) else { return Vec::new() };
    let one_of = |names: [&str; 2]| names.into_iter().find_map(|name| looks.column(name).ok());
    let (flags, contents) = (one_of(["flags", "surface_flags"]), one_of(["content_flags", "contents"]));
    let (value, vectors) = (looks.column("value").ok(), one_of(["vectors", "texture_vectors"]));
    let luxels = looks.column("lightmap_vectors").ok();
    let number = |column: &Option<Column<'_>>, at: usize| column.map_or(0, |column| column.get(at));
    let pair = |column: &Column<'_>, at: usize| [0, 4].map(|first| column.floats(at, first));
    let names = names(map, &looks);
    (0..looks.len())
        .map(|at| Look {
            name: names(at),
            flags: bits(number(&flags, at)),
            contents: bits(number(&contents, at)),
            value: i32::try_from(number(&value, at)).unwrap_or(0),
            vectors: vectors.map(|column| pair(&column, at)),
            luxels: luxels.map(|column| pair(&column, at)),
        })
        .collect()
}

/// The names of textures by the number of a texinfo or shader.
fn names<'r>(map: &'r Bsp<'_>, looks: &'r Records<'_>) -> impl Fn(usize) -> Vec<u8> + use<'r> {
    let mut found: HashMap<String, HashMap<usize, Vec<u8>>> = HashMap::new();
    if let Ok(names) = map.texture_names() {
        for name in names.iter() {
            found.entry(name.lump).or_default().insert(name.index, name.name);
        }
    }
    // In Source a texinfo names a texdata, which names a string; in Quake and GoldSrc it names a texture.
    let texdata: Option<Vec<Option<usize>>> = map.any_records("TEXDATA").and_then(|texdata| {
        let name = texdata.column("name").ok()?;
        Some((0..texdata.len()).map(|at| name.index(at)).collect())
    });
    let own = found.remove(looks.name());
    let own_texdata = looks.column("texdata").ok();
    let texture = looks.column("texture").ok();
    move |at| {
        let name = match (&own, &texdata) {
            (Some(own), _) => own.get(&at).cloned(),
            (None, Some(texdata)) => own_texdata
                .and_then(|column| column.below(at, texdata.len()))
                .and_then(|data| texdata[data])
                .and_then(|name| found.get("TEXDATA_STRING_DATA")?.get(&name))
                .map(|name| unpatched(name)),
            (None, None) => texture
                .and_then(|column| column.index(at))
                .and_then(|texture| found.get("TEXTURES")?.get(&texture))
                .cloned(),
        };
        name.unwrap_or_default()
    }
}

/// Whether q3map2 made a shader for the styled light of a surface: 32 hexadecimal digits are its name. The surface had
/// another one, which the side of the brush alone has.
pub(crate) fn is_made(name: &[u8]) -> bool {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    last.len() == 32 && last.iter().all(u8::is_ascii_hexdigit)
}

/// The name of a material before the compiler made a copy for the map (`maps/NAME/wall_-8_0_64`): without the folder
/// of the map, and without what the copy is for.
fn unpatched(name: &[u8]) -> Vec<u8> {
    let Some(rest) = name.get(..5).filter(|start| start.eq_ignore_ascii_case(b"maps/")).map(|_| &name[5..]) else {
        return name.to_vec();
    };
    let Some(slash) = rest.iter().position(|byte| *byte == b'/') else { return name.to_vec() };
    let mut rest = &rest[slash + 1..];
    let is_number = |part: &[u8]| {
        let digits = part.strip_prefix(b"-").unwrap_or(part);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    let before_number = |text: &'_ [u8]| {
        let at = text.iter().rposition(|byte| *byte == b'_')?;
        is_number(&text[at + 1..]).then_some(at)
    };
    // The place of a cube map: three numbers.
    let place = before_number(rest).and_then(|at| before_number(&rest[..at])).and_then(|at| before_number(&rest[..at]));
    if let Some(at) = place {
        rest = &rest[..at];
    }
    // The depth of water, and a blend that was made plain.
    if let Some(at) = before_number(rest).filter(|at| rest[..*at].ends_with(b"_depth")) {
        rest = &rest[..at - b"_depth".len()];
    }
    rest.strip_suffix(b"_wvt_patch").unwrap_or(rest).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_materials_have_their_own_names_again() {
        for (copy, name) in [
            ("maps/rooms/own/wall_-8_0_64", "own/wall"),
            ("maps/rooms/own/wall", "own/wall"),
            ("maps/rooms/water/pool_depth_12", "water/pool"),
            ("MAPS/rooms/own/sand_wvt_patch", "own/sand"),
            ("own/wall_1_2_3", "own/wall_1_2_3"),
            ("maps/wall", "maps/wall"),
        ] {
            assert_eq!(unpatched(copy.as_bytes()), name.as_bytes());
        }
    }
}
