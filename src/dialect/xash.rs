//! What Xash3D adds to GoldSrc's maps with an extra header after the usual one: twelve more lumps, flags of 16 bits,
//! and clip nodes with numbers of 32 bits (bspfile.h and mod_bmodel.c of xash3d-fwgs).

use super::shared::WideClipNode;
use super::{Facts, Key, Row, TextureLight};
use crate::record::{FlagKind, Meaning, index, index_or_none, records};

/// Lump 6 of a map with the extra header.
pub const TEXINFO: Key<TexInfoXash> = Key::new("TEXINFO");
/// Lump 9 of a map with the extra header, where its length says so.
pub const CLIPNODES: Key<WideClipNode> = Key::new("CLIPNODES");

pub(super) const ROWS: &[Row] = &[
    TEXINFO.row().proved(|facts, _| match is_extended(facts) {
        true => Ok(()),
        false => Err("its flags have 32 bits".to_owned()),
    }),
    CLIPNODES.row().proved(|facts, _| match has_wide_clip_nodes(facts) {
        true => Ok(()),
        false => Err("its clip nodes have 8 bytes".to_owned()),
    }),
    unknown("extra:LIGHTVECS"),
    unknown("extra:FACEINFO"),
    unknown("extra:CUBEMAPS"),
    unknown("extra:VERTNORMALS"),
    unknown("extra:LEAF_LIGHTING"),
    unknown("extra:WORLDLIGHTS"),
    unknown("extra:COLLISION"),
    unknown("extra:AINODES"),
    unknown("extra:SHADOWMAP"),
    unknown("extra:VERTEX_LIGHT"),
    Row::opaque("extra:UNUSED0", "Xash3D has no use for it"),
    Row::opaque("extra:UNUSED1", "Xash3D has no use for it"),
];

const fn unknown(lump: &'static str) -> Row {
    Row::opaque(lump, "only Xash3D's name for it is known: its structs are not, and no map with one was available")
}

/// Whether the map has the extra header.
pub(super) fn is_extended(facts: &Facts<'_>) -> bool {
    (facts.len)("extra:LIGHTVECS").is_some()
}

/// The engine decides by the length.
pub(super) fn has_wide_clip_nodes(facts: &Facts<'_>) -> bool {
    const MOST: usize = 32767;
    let len = facts.len("CLIPNODES");
    is_extended(facts) && (!len.is_multiple_of(8) || len / 12 >= MOST)
}

impl From<TexInfoXash> for TextureLight {
    fn from(texinfo: TexInfoXash) -> Self {
        TextureLight { vectors: texinfo.vectors, flags: texinfo.flags.into() }
    }
}

records! {
    /// `dtexinfo_t`.
    pub struct TexInfoXash(40) {
        /// How s and t come from a point: x, y, z, offset, in texels.
        pub vectors: [[f32; 4]; 2] as "vecs",
        /// The index of its texture in the texture lump's directory.
        pub texture: i32 as "miptex" => index("TEXTURES"),
        /// `TEX_` flags.
        pub flags: i16 => Meaning::Flags(FlagKind::Surface),
        /// The index of its `dfaceinfo_t` in the extra header's lump, -1 for none.
        pub face_info: i16 as "faceinfo" => index_or_none("extra:FACEINFO"),
    }
}
