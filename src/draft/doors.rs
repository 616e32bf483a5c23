//! Named methods for each lens: one on [`Bsp`] that reads, and one on [`Draft`] that edits in place.

use super::Draft;
use crate::bsp::Bsp;
use crate::content::bspx::{BrushList, LightOctrees};
use crate::content::disp::{LightmapAlphas, SamplePositions};
use crate::content::entities::Entities;
use crate::content::lens::View;
use crate::content::lightgrid::LightGrid;
use crate::content::lightmap::Light;
use crate::content::pak::Pak;
use crate::content::physics::{PhysDisp, Physics, SurfacePhysics};
use crate::content::props::{DetailProps, StaticProps};
use crate::content::texdata::TextureStrings;
use crate::content::texture_names::TextureNames;
use crate::content::textures::Textures;
use crate::content::visibility::Visibility;
use crate::error::Result;

macro_rules! doors {
    ($($(#[$doc:meta])* $name:ident: $lens:ident;)*) => {
        impl<'a> Bsp<'a> {
            $($(#[$doc])*
            ///
            #[doc = concat!("To look at; [`Draft::", stringify!($name), "`] edits it.")]
            ///
            /// # Errors
            /// As [`Bsp::lens`].
            pub fn $name(&self) -> Result<View<$lens<'a>>> {
                self.lens()
            })*
        }

        impl<'a> Draft<'a> {
            $($(#[$doc])*
            ///
            /// To edit in place, as [`Draft::edit`] says.
            ///
            /// # Errors
            /// As [`Draft::edit`].
            pub fn $name(&mut self) -> Result<&mut $lens<'a>> {
                self.edit()
            })*
        }
    };
}

doors! {
    /// The entity text.
    entities: Entities;
    /// The pakfile of a Source map: its embedded files. An empty lump is a pakfile without files.
    pak: Pak;
    /// The light of faces.
    light: Light;
    /// The light grid of a Quake III map.
    light_grid: LightGrid;
    /// The visible set, and the audible set, of each cluster or leaf.
    visibility: Visibility;
    /// The textures in a Quake or GoldSrc map.
    textures: Textures;
    /// The names of textures, in whichever lump the map has them.
    texture_names: TextureNames;
    /// The names of materials in a Source map, by the name index of texdata.
    texture_strings: TextureStrings;
    /// The static props of a Source map (`game:sprp`).
    static_props: StaticProps;
    /// The detail props of a Source map (`game:dprp`).
    detail_props: DetailProps;
    /// The collision models of a Source map (`PHYSCOLLIDE`).
    physics: Physics;
    /// The surface models of a Source map (`PHYSCOLLIDESURFACE`).
    surface_physics: SurfacePhysics;
    /// The collision models of displacements (`PHYSDISP`).
    phys_disp: PhysDisp;
    /// The position of each luxel on its displacement (`DISP_LIGHTMAP_SAMPLE_POSITIONS`).
    sample_positions: SamplePositions;
    /// The share of the second material in each luxel of a displacement (`DISP_LIGHTMAP_ALPHAS`).
    lightmap_alphas: LightmapAlphas;
    /// The brushes of the models (BSPX `BRUSHLIST`).
    brush_list: BrushList;
    /// The light of points in space (BSPX `LIGHTGRID_OCTREE`, or `LIGHTGRIDS`).
    light_octrees: LightOctrees;
}
