//! What sides and faces refer to for their looks: texinfo, or shaders in Quake III.

use bspkit::{Bsp, Column};

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
    /// Columns and rows of the texture, if the map says them (Quake, GoldSrc, Source).
    pub(crate) size: Option<[f64; 2]>,
}

/// All texinfo or shaders of a map; none if they cannot be read.
pub(crate) fn read(map: &Bsp<'_>) -> Vec<Look> {
    let Some(records) = map.looks_slot().and_then(|slot| map.any_records(slot.name.as_str())) else {
        return Vec::new();
    };
    let column = |name: &str| records.column(name).ok();
    let (value, luxels) = (column("value"), column("lightmap_vectors"));
    let vectors = column("vectors").or_else(|| column("texture_vectors"));
    let pair = |column: Column<'_>, at: usize| [0, 4].map(|first| column.floats(at, first));
    let is_material = map.slot("TEXDATA").is_ok();
    let size = sizes(map);
    let look = |(at, look): (usize, bspkit::content::looks::Look)| Look {
        size: look.texture.and_then(&size),
        name: if is_material { unpatched(&look.name) } else { look.name },
        flags: look.surface_flags,
        contents: look.content_flags,
        value: value.and_then(|column| i32::try_from(column.get(at)).ok()).unwrap_or(0),
        vectors: vectors.map(|column| pair(column, at)),
        luxels: luxels.map(|column| pair(column, at)),
    };
    map.looks().into_iter().enumerate().map(look).collect()
}

/// Columns and rows of textures by their numbers: those of texdata in Source, of the textures in the map otherwise.
fn sizes(map: &Bsp<'_>) -> impl Fn(usize) -> Option<[f64; 2]> {
    let side = |number: i64| u32::try_from(number).ok().filter(|side| *side > 0);
    let mut all: Vec<Option<[f64; 2]>> = Vec::new();
    if let Some(texdata) = map.any_records("TEXDATA") {
        if let Ok([wide, high]) = texdata.columns(["width", "height"]) {
            let size = |at| Some([side(wide.get(at))?.into(), side(high.get(at))?.into()]);
            all.extend((0..texdata.len()).map(size));
        }
    } else if let Ok(textures) = map.textures() {
        let size = |at| {
            let texture = textures.get(at).ok()??;
            Some([side(texture.width().into())?.into(), side(texture.height().into())?.into()])
        };
        all.extend((0..textures.len()).map(size));
    }
    move |texture| *all.get(texture)?
}

/// Whether q3map2 made a shader for the styled light of a surface: 32 hexadecimal digits are its name. The surface had
/// another one, which the side of the brush alone has.
pub(crate) fn is_made(name: &[u8]) -> bool {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    last.len() == 32 && last.iter().all(u8::is_ascii_hexdigit)
}

/// The name of a material before the compiler made a copy for the map (`maps/NAME/wall_-8_0_64`): without the folder
/// of the map, and without what the copy is for. A name in that folder that does not say what the copy is for is the
/// author's own.
fn unpatched(name: &[u8]) -> Vec<u8> {
    let Some(rest) = name.get(..5).filter(|start| start.eq_ignore_ascii_case(b"maps/")).map(|_| &name[5..]) else {
        return name.to_vec();
    };
    let Some(slash) = rest.iter().position(|byte| *byte == b'/') else { return name.to_vec() };
    let copy = &rest[slash + 1..];
    let mut rest = copy;
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
    rest = rest.strip_suffix(b"_wvt_patch").unwrap_or(rest);
    if rest.len() < copy.len() { rest.to_vec() } else { name.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_materials_have_their_own_names_again() {
        for (copy, name) in [
            ("maps/rooms/own/wall_-8_0_64", "own/wall"),
            ("maps/rooms/own/wall", "maps/rooms/own/wall"),
            ("maps/rooms/own/wall_1_2", "maps/rooms/own/wall_1_2"),
            ("maps/rooms/water/pool_depth_12", "water/pool"),
            ("MAPS/rooms/own/sand_wvt_patch", "own/sand"),
            ("own/wall_1_2_3", "own/wall_1_2_3"),
            ("maps/wall", "maps/wall"),
        ] {
            assert_eq!(unpatched(copy.as_bytes()), name.as_bytes());
        }
    }
}
