//! Materials (`.vmt`): what they name. The keys whose value is a texture or a material are those of the shaders of the
//! Source SDK 2013 and of later games, as the Valve Developer Community lists them.
//!
//! ```
//! use bspkit_game::assets::keyvalues::KeyValues;
//! use bspkit_game::assets::material::{Mention, Names, mentions};
//! let text = "Water { $normalmap water/waves $bottommaterial own/below $reflecttexture _rt_WaterReflection }";
//! let text = KeyValues::parse(text)?;
//! let found: Vec<Mention> = mentions(&text).collect();
//! assert_eq!((found[0].names, found[0].file()), (Names::Texture, b"materials/water/waves.vtf".to_vec()));
//! assert_eq!((found[1].names, found[1].file()), (Names::Material, b"materials/own/below.vmt".to_vec()));
//! assert_eq!(found.len(), 2); // the reflection is drawn by the engine
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::keyvalues::{KeyValues, Pair};

/// What a value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Names {
    /// The material that this one patches, by its path from the game's folder. Only the shader `patch` has one.
    Include,
    /// Another material.
    Material,
    /// A texture.
    Texture,
    /// Perhaps a texture or a material: the key is not known, is that of a proxy, or is read by consoles and old cards
    /// alone; or the engine makes a texture of this name.
    Perhaps,
}

/// Keys whose value is a texture, without `$`.
const TEXTURES: &str = "basetexture basetexture2 basetexture3 basetexture4 texture texture2 texture3 texture4 \
    bumpmap bumpmap2 bumpmap3 bumpmap4 bumpmask normalmap normalmap2 normalmap3 envmap envmap2 envmapmask envmapmask2 \
    detail detail1 detail2 detailnormal detailmask selfillummask selfillumtexture selfillummap phongexponenttexture \
    phongwarptexture lightwarptexture ambientoccltexture blendmodulatetexture blendmodulatetexture2 \
    blendmodulatetexture3 parallaxmap heightmap reflecttexture refracttexture refracttinttexture dudvmap \
    flowmap flow_noise_texture emissiveblendtexture emissiveblendbasetexture emissiveblendflowtexture corneatexture \
    iris hdrbasetexture hdrcompressedtexture hdrcompressedtexture0 hdrcompressedtexture1 hdrcompressedtexture2 \
    fleshinteriortexture fleshinteriornoisetexture fleshbordertexture1d fleshnormaltexture fleshsubsurfacetexture \
    fleshcubetexture sheenmap sheenmapmask compress stretch bumpcompress bumpstretch decaltexture masks1 masks2 \
    maskstexture painttexture paintsplatnormalmap tintmasktexture opacitytexture stripetexture portalmasktexture \
    portalcolortexture staticblendtexture noisetexture noise spheretexturemap displacementmap layertexture \
    ramptexture warptexture weartexture grungetexture postexture aotexture surfacetexture exptexture \
    fresnelrangestexture emissiontexture mraotexture basenormalmap2 basenormalmap3 basenormalmap4 bendmap \
    flashlighttexture";

/// Keys whose value is a material, without `$`.
const MATERIALS: &str =
    "bottommaterial underwateroverlay crackmaterial fallbackmaterial modelmaterial material translucentmaterial";

/// The keys of both lists.
static KEYS: LazyLock<HashMap<&[u8], Names>> = LazyLock::new(|| {
    let all = [(TEXTURES, Names::Texture), (MATERIALS, Names::Material)];
    let rows = all.iter().flat_map(|(keys, names)| keys.split_ascii_whitespace().map(|key| (key.as_bytes(), *names)));
    rows.collect()
});

/// A value that names a file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Mention<'t, 'a> {
    /// What it names.
    pub names: Names,
    /// The key and the value.
    pub pair: Pair<'t, 'a>,
    /// The value without spaces around it.
    pub written: &'t [u8],
}

impl Mention<'_, '_> {
    /// The path of the file from the game's folder.
    pub fn file(&self) -> Vec<u8> {
        match self.names {
            Names::Include => self.written.to_vec(),
            Names::Material => material_file(self.written),
            Names::Texture | Names::Perhaps => texture_file(self.written),
        }
    }

    /// The key in lower case, without the condition before it and without `$`.
    pub fn key(&self) -> Vec<u8> {
        bare(self.pair.key()).to_ascii_lowercase()
    }

    /// Whether it is the texture of reflections, which has a second file for HDR (`.hdr.vtf`).
    pub fn is_envmap(&self) -> bool {
        bare(self.pair.key()).eq_ignore_ascii_case(b"envmap")
    }
}

/// The file of a material that is named without its folder: `own/wall` is `materials/own/wall.vmt`.
pub fn material_file(name: &[u8]) -> Vec<u8> {
    of_materials(name, b".vmt")
}

/// The file of a texture that is named without its folder: `own/wall` is `materials/own/wall.vtf`.
pub fn texture_file(name: &[u8]) -> Vec<u8> {
    of_materials(name, b".vtf")
}

fn of_materials(name: &[u8], extension: &[u8]) -> Vec<u8> {
    let trimmed = name.iter().position(|byte| !matches!(byte, b'/' | b'\\')).map_or(&b""[..], |at| &name[at..]);
    let has = |folder: &[u8]| trimmed.get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder));
    let prefix: &[u8] = if has(b"materials/") || has(b"materials\\") { b"" } else { b"materials/" };
    let stem = trimmed.len().checked_sub(4).map(|at| trimmed.split_at(at));
    let stem = match stem {
        Some((stem, end)) if [&b".vmt"[..], b".vtf", b".spr"].iter().any(|known| end.eq_ignore_ascii_case(known)) => {
            stem
        }
        _ => trimmed,
    };
    [prefix, stem, extension].concat()
}

/// Everything that a material names, in the order of the text. Values for consoles alone are left out, and so are
/// blocks after the first one: engines do not look at them.
pub fn mentions<'t, 'a>(text: &'t KeyValues<'a>) -> impl Iterator<Item = Mention<'t, 'a>> {
    let is_patch = text.roots().find(Pair::is_block).is_some_and(|root| root.is("patch"));
    // The depth of the block for old cards around a pair.
    let mut old: Option<usize> = None;
    let mut roots = 0;
    let is_first = move |pair: &Pair<'_, '_>| {
        roots += usize::from(pair.depth() == 0 && pair.is_block());
        roots < 2 || pair.depth() == 0 && !pair.is_block()
    };
    text.iter().filter(Pair::is_for_pc).filter(is_first).filter_map(move |pair| {
        old = old.filter(|old| pair.depth() > *old);
        if old.is_none() && pair.is_block() && pair.depth() > 0 && is_for_old(pair.key()) {
            old = Some(pair.depth());
        }
        let written = pair.value()?.trim_ascii();
        let names = names(&pair, written, is_patch)?;
        let is_doubtful = old.is_some() || is_for_console(pair.key()) || is_made(written);
        Some(Mention { names: if is_doubtful { Names::Perhaps } else { names }, pair, written })
    })
}

/// The keys that a patch gives a value of its own, as [`Mention::key`] has them; none of another material. What the
/// patched material has for them is not loaded for the patch (`insert` and `replace` of the shader `patch`).
pub fn replaced(text: &KeyValues<'_>) -> HashSet<Vec<u8>> {
    let Some(root) = text.roots().find(Pair::is_block).filter(|root| root.is("patch")) else { return HashSet::new() };
    let blocks = root.children().filter(|block| block.is("insert") || block.is("replace"));
    let pairs = blocks.flat_map(|block| block.children()).filter(|pair| pair.is_for_pc() && pair.value().is_some());
    pairs.filter(|pair| !pair.key().contains(&b'?')).map(|pair| bare(pair.key()).to_ascii_lowercase()).collect()
}

/// Whether a block is for cards that are older than those of DirectX 9: `<dx90`, `Water_dx80`.
fn is_for_old(key: &[u8]) -> bool {
    let ends = [&b"_dx6"[..], b"_dx7", b"_dx8", b"_dx80", b"_dx81"];
    let ends_with = |end: &[u8]| key.len() > end.len() && key[key.len() - end.len()..].eq_ignore_ascii_case(end);
    key.first() == Some(&b'<') || ends.into_iter().any(ends_with)
}

/// Whether a key has a condition that is not true on a PC: `360?$detail`.
fn is_for_console(key: &[u8]) -> bool {
    let condition = key.iter().position(|byte| *byte == b'?').map(|end| &key[..end]);
    condition.is_some_and(|condition| [&b"360"[..], b"ps3"].iter().any(|own| condition.eq_ignore_ascii_case(own)))
}

/// Textures that the engine makes itself and finds before a file of their name (`CTextureManager::Init`).
fn is_made(name: &[u8]) -> bool {
    let made = ["error", "white", "black", "grey", "gray", "normalize"];
    made.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(name))
}

fn names(pair: &Pair<'_, '_>, written: &[u8], is_patch: bool) -> Option<Names> {
    let key = pair.key();
    if is_patch && pair.depth() == 1 && pair.is("include") {
        return Some(Names::Include);
    }
    let name = bare(key);
    // Textures with an underscore are drawn by the engine; `env_cubemap` is the nearest cubemap of the map.
    let is_value = !written.is_empty() && !matches!(written[0], b'_' | b'[' | b'{' | b'$' | b'-');
    let is_number = written.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b' '));
    if !is_value || is_number || written.eq_ignore_ascii_case(b"env_cubemap") {
        return None;
    }
    Some(KEYS.get(&name.to_ascii_lowercase()[..]).copied().unwrap_or(Names::Perhaps))
}

/// A key without the condition before it (`gpu>=1?$detail`) and without `$`; empty for a key without `$`.
fn bare(key: &[u8]) -> &[u8] {
    let key = key.rsplit(|byte| *byte == b'?').next().unwrap_or(key);
    key.strip_prefix(b"$").unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_no_pc_loads_as_a_file_is_a_doubt() {
        let text = "X { $basetexture White 360?$envmap a/b srgb?$detail a/c <dx90 { $bumpmap a/d \
            sub { $bumpmap a/e } } $bumpmap a/f X_DX80 { $basetexture a/g } >=dx90 { $detail a/h } }";
        let text = KeyValues::parse(text).unwrap();
        let certain = mentions(&text).filter(|found| found.names == Names::Texture);
        let certain: Vec<_> = certain.map(|found| found.written).collect();
        assert_eq!(certain, [&b"a/c"[..], b"a/f", b"a/h"]);
        assert_eq!(mentions(&text).count(), 8);
    }

    #[test]
    fn values_that_are_not_files_are_left_out() {
        let text = "X { $envmap env_cubemap $basetexture _rt_Camera $detail \"\" $envmapmask \"[1 1 1]\" $bumpmap 0.5 \
            $surfaceprop metal/x include a/b $alpha 1 360?$detail a [$X360] \
            sub { include c \"srgb?$Detail\" \" A\\B.vtf \" } Proxies { T { $odd a/b frames c\\d \
             texturevar $basetexture } } }";
        let text = KeyValues::parse(text).unwrap();
        let found: Vec<_> = mentions(&text).map(|found| (found.names, found.file())).collect();
        let expected: [(Names, &[u8]); 6] = [
            (Names::Perhaps, b"materials/metal/x.vtf"),
            (Names::Perhaps, b"materials/a/b.vtf"),
            (Names::Perhaps, b"materials/c.vtf"),
            (Names::Texture, b"materials/A\\B.vtf"),
            (Names::Perhaps, b"materials/a/b.vtf"),
            (Names::Perhaps, b"materials/c\\d.vtf"),
        ];
        assert_eq!(found, expected.map(|(names, file)| (names, file.to_vec())));
    }
}
