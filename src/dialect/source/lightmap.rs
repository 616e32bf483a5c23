//! Where the light of faces is (vrad of the Source SDK 2013; the bytes after the luxels and Bloodlines' averages
//! by how the blocks of real maps follow each other).

use super::faces::Face;
use super::surface::TexInfo;
use crate::dialect::light::{
    Averages, ExtraLight, FaceForm, FaceLight, LightLumps, LitFace, LuxelForm, TextureForm, TextureLight,
};

/// Version 18 is missing: no lit map of it was available.
pub(super) const LIGHT: FaceLight = with_faces(&[FaceForm::of::<Face>(Averages::BeforeLight)]);

const TEXTURES: &[TextureForm] = &[TextureForm::of::<TexInfo>()];

/// The light with other faces that refer to it.
pub(in crate::dialect) const fn with_faces(faces: &'static [FaceForm]) -> FaceLight {
    FaceLight {
        lumps: &[
            LightLumps { name: "ldr", faces: &["FACES"], light: "LIGHTING", placed_by: None, copied: None },
            // A map that was compiled only for this light has no second faces.
            LightLumps {
                name: "hdr",
                faces: &["FACES_HDR", "FACES"],
                light: "LIGHTING_HDR",
                placed_by: None,
                copied: None,
            },
        ],
        faces,
        textures: TEXTURES,
        by_extents: false,
        unlit: 0,
        // SURF_SKY2D, SURF_SKY, SURF_NOLIGHT.
        unread: 2 | 4 | 0x400,
        // SURF_BUMPLIGHT.
        bumped: 0x800,
        luxels: LuxelForm::Rgbe,
        // Counter-Strike: Global Offensive and Strata Source: probably how much sunlight a luxel gets.
        extra: Some(ExtraLight { flags: "MAP_FLAGS", mask: 0x7C, bytes: &[(0x04, 1), (0x7C, 4)] }),
    }
}

impl From<Face> for LitFace {
    fn from(face: Face) -> Self {
        let [a, b, c, d] = face.styles;
        LitFace {
            first_edge: face.first_edge,
            edge_count: face.edge_count.into(),
            texinfo: face.texinfo.into(),
            styles: [a, b, c, d, 255, 255, 255, 255],
            offset: face.light_offset,
            size: Some(face.luxel_size),
        }
    }
}

impl From<TexInfo> for TextureLight {
    fn from(texinfo: TexInfo) -> Self {
        TextureLight { vectors: texinfo.lightmap_vectors, flags: texinfo.flags }
    }
}
