//! Where the maps of a dialect store the light of faces, and in what format.

use super::Key;
use crate::record::{Record, RecordInfo};

/// How a dialect's maps store the light of their faces.
///
/// ```
/// use bspkit::dialect::{LightModel, QUAKE2, QUAKE3};
/// assert!(matches!(QUAKE2.light, LightModel::Faces(faces) if faces.unlit == 4));
/// assert!(matches!(QUAKE3.light, LightModel::Pages(pages) if pages.size == 128));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum LightModel {
    /// Each lit face has its own block of luxels and its offset.
    Faces(&'static FaceLight),
    /// Pages of luxels that many surfaces share.
    Pages(&'static PageLight),
}

/// Light in blocks, one for each lit face.
///
/// ```
/// use bspkit::dialect::{LightModel, LuxelForm, QUAKE2};
/// let LightModel::Faces(light) = QUAKE2.light else { unreachable!() };
/// assert_eq!((light.luxels, light.lumps[0].light), (LuxelForm::Rgb, "LIGHTING"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FaceLight {
    /// The lumps with light, and those with the faces that point into them.
    pub lumps: &'static [LightLumps],
    /// The records that faces may be.
    pub faces: &'static [FaceForm],
    /// The records that the texinfo may be.
    pub textures: &'static [TextureForm],
    /// Whether the size of a face's light is computed from its corners; otherwise it is stored in the face.
    pub by_extents: bool,
    /// Flags of textures whose faces have no light or light of unknown format, whatever their offset is.
    pub unlit: i32,
    /// Flags of textures whose faces have luxels of a size that is not known.
    pub unsized_luxels: i32,
    /// Flags of textures whose faces have light that no engine reads, or that not all do: if it does not fit, or is a
    /// part of the light of other faces, the offset is taken for one without meaning, and nothing is wrong.
    pub unread: i32,
    /// The flag of a texture whose faces have four images for each style instead of one.
    pub bumped: i32,
    /// The format of a luxel.
    pub luxels: LuxelForm,
    /// Bytes of unknown meaning after the luxels of each face.
    pub extra: Option<ExtraLight>,
}

/// A lump with light, and the faces that point into it.
///
/// ```
/// use bspkit::dialect::{LightModel, SOURCE};
/// let LightModel::Faces(light) = SOURCE.light else { unreachable!() };
/// let hdr = &light.lumps[1];
/// assert_eq!(hdr.faces_of(|lump| Ok::<_, ()>(lump == "FACES")), Ok(Some("FACES")));
/// assert_eq!(hdr.faces_of(|_| Ok::<_, ()>(true)), Ok(Some("FACES_HDR")));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LightLumps {
    /// The name of this light if a map has several; empty if it has one.
    pub name: &'static str,
    /// The lump with the faces: the first of these that has any.
    pub faces: &'static [&'static str],
    /// The lump with the light.
    pub light: &'static str,
    /// The lump that has the offset and size of each face's light, if the faces do not have them.
    pub placed_by: Option<&'static str>,
    /// If the lump repeats the light of another lump, luxel by luxel: the format of its luxels. The offsets are those
    /// in the other lump.
    pub copied: Option<Copied>,
}

impl LightLumps {
    /// The lump with the faces: the first one that has any. `has_any` says whether a lump has.
    ///
    /// # Errors
    /// Those of `has_any`.
    pub fn faces_of<E>(&self, mut has_any: impl FnMut(&str) -> Result<bool, E>) -> Result<Option<&'static str>, E> {
        for lump in self.faces {
            if has_any(lump)? {
                return Ok(Some(lump));
            }
        }
        Ok(None)
    }
}

/// A copy of light in another format.
///
/// ```
/// use bspkit::dialect::{LightModel, LuxelForm, QUAKE};
/// let LightModel::Faces(light) = QUAKE.light else { unreachable!() };
/// let copy = light.lumps[3].copied.unwrap();
/// assert_eq!((copy.of, copy.luxels), ("", LuxelForm::Rgb));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Copied {
    /// The name of the light that it repeats.
    pub of: &'static str,
    /// The format of a luxel.
    pub luxels: LuxelForm,
}

/// The format of a luxel.
///
/// ```
/// use bspkit::dialect::LuxelForm;
/// assert_eq!([LuxelForm::Grey, LuxelForm::Rgb, LuxelForm::Rgbe].map(LuxelForm::bytes), [1, 3, 4]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LuxelForm {
    /// One number for all colors.
    Grey,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, and the power of two that they are multiplied with.
    Rgbe,
}

impl LuxelForm {
    /// How many bytes it has.
    pub const fn bytes(self) -> usize {
        match self {
            LuxelForm::Grey => 1,
            LuxelForm::Rgb => 3,
            LuxelForm::Rgbe => 4,
        }
    }

    /// Its name in JSON: `grey`, `rgb` or `rgbe`.
    pub const fn name(self) -> &'static str {
        match self {
            LuxelForm::Grey => "grey",
            LuxelForm::Rgb => "rgb",
            LuxelForm::Rgbe => "rgbe",
        }
    }
}

/// Bytes after the luxels of each face; the flags of the map say how many bytes per luxel.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExtraLight {
    /// The lump whose first byte has the flags.
    pub flags: &'static str,
    /// The bits that are used.
    pub mask: u8,
    /// Values of those bits, with the bytes per luxel that they mean; other values mean 0.
    pub bytes: &'static [(u8, usize)],
}

/// The fields of a face that its light depends on, independent of the record.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// use bspkit::dialect::LitFace;
/// let face: LitFace = map.table(bspkit::dialect::quake2::FACES)?.get(0)?.into();
/// assert_eq!(face.size, None);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LitFace {
    /// Its first edge in the surfedges.
    pub first_edge: i32,
    /// How many edges it has.
    pub edge_count: i32,
    /// Its texinfo.
    pub texinfo: i32,
    /// The styles of its light; 255 ends them.
    pub styles: [u8; 8],
    /// Where its light begins, in bytes.
    pub offset: i32,
    /// One less than the number of luxels in each direction, if the record has it; otherwise it is computed from the
    /// extents.
    pub size: Option<[i32; 2]>,
}

/// A record of faces, and how to get the fields from it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FaceForm {
    /// The record.
    pub record: &'static RecordInfo,
    /// Where the average light of its styles is, four bytes each.
    pub averages: Averages,
    pub(crate) read: fn(&[u8]) -> Option<LitFace>,
}

/// Where the average light of a face is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Averages {
    /// Nowhere.
    None,
    /// Before the face's block, that of the first style last.
    BeforeLight,
    /// In the face's record from this byte on, style by style; some maps also have them before the block.
    InFace(usize),
    /// It is not known whether the record's averages are before the block too: the light cannot be read.
    Unknown,
}

impl FaceForm {
    pub(super) const fn of<R: Record + Into<LitFace>>(averages: Averages) -> Self {
        FaceForm { record: R::INFO, averages, read: |bytes| R::decode(bytes).map(R::into) }
    }
}

/// The fields of a texinfo that light depends on.
///
/// ```
/// use bspkit::dialect::TextureLight;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let texture: TextureLight = map.table(bspkit::dialect::quake2::TEXINFO)?.get(0)?.into();
/// assert_eq!(texture.vectors[0][0].abs() + texture.vectors[0][1].abs(), 1.0);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextureLight {
    /// How s and t come from a point: x, y, z, offset, in texels.
    pub vectors: [[f32; 4]; 2],
    /// Its flags.
    pub flags: i32,
}

/// A record of texinfo, and how to get the fields from it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextureForm {
    /// The record.
    pub record: &'static RecordInfo,
    pub(crate) read: fn(&[u8]) -> Option<TextureLight>,
}

impl TextureForm {
    pub(super) const fn of<R: Record + Into<TextureLight>>() -> Self {
        TextureForm { record: R::INFO, read: |bytes| R::decode(bytes).map(R::into) }
    }
}

/// Light in square pages, red, green, blue; where the lump is empty the pages are files beside the map.
///
/// ```
/// use bspkit::dialect::{LightModel, QUAKE3};
/// let LightModel::Pages(light) = QUAKE3.light else { unreachable!() };
/// assert_eq!(light.lump, "LIGHTMAPS");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PageLight {
    /// The lump with the pages.
    pub lump: &'static str,
    /// Columns and rows of a page.
    pub size: usize,
    /// In place of a page: the colors of the vertexes are the light.
    pub by_vertex: i32,
    /// The surfaces that lie on the pages.
    pub surfaces: SurfaceForm,
    /// Their corners.
    pub vertexes: CornerForm,
    /// The name of a file with a page, in a folder beside the map with the map's name: `lm_` and a number of four
    /// digits.
    pub files: (&'static str, &'static str),
}

/// The fields of a surface that its light depends on, independent of the record.
///
/// ```
/// use bspkit::dialect::{LitSurface, quake3};
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let surface: LitSurface = map.table(quake3::SURFACES)?.get(0)?.into();
/// assert_eq!(surface.pages, [0, -1, -1, -1]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LitSurface {
    /// The pages of its light, one for each style; negative for none.
    pub pages: [i32; 4],
    /// The numbers of these styles; 254 and 255 for none.
    pub styles: [u8; 4],
    /// Its first vertex.
    pub first_vertex: i32,
    /// How many vertexes it has.
    pub vertex_count: i32,
}

/// A record of surfaces, and how to get the fields from it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SurfaceForm {
    /// The lump.
    pub lump: &'static str,
    /// The record.
    pub record: &'static RecordInfo,
    pub(crate) read: fn(&[u8]) -> Option<LitSurface>,
}

impl SurfaceForm {
    pub(super) const fn of<R: Record + Into<LitSurface>>(key: Key<R>) -> Self {
        SurfaceForm { lump: key.lump, record: R::INFO, read: |bytes| R::decode(bytes).map(R::into) }
    }
}

/// A record of corners, and how to get their positions on the pages from it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CornerForm {
    /// The lump.
    pub lump: &'static str,
    /// The record.
    pub record: &'static RecordInfo,
    pub(crate) read: fn(&[u8]) -> Option<[[f32; 2]; 4]>,
}

impl CornerForm {
    pub(super) const fn of<R: Record + Into<[[f32; 2]; 4]>>(key: Key<R>) -> Self {
        CornerForm { lump: key.lump, record: R::INFO, read: |bytes| R::decode(bytes).map(R::into) }
    }
}

/// Light as in Quake, in color: the number of luxels is computed from the extents of the face.
pub(super) const fn by_extents(faces: &'static [FaceForm], textures: &'static [TextureForm], unlit: i32) -> FaceLight {
    const FACES: &[&str] = &["FACES"];
    const DECOUPLED: Option<&str> = Some("bspx:DECOUPLED_LM");
    const SCALED: Option<&str> = Some("bspx:LMOFFSET");
    const RGB: &str = "bspx:RGBLIGHTING";
    FaceLight {
        lumps: &[
            LightLumps { name: "", faces: FACES, light: "LIGHTING", placed_by: None, copied: None },
            // Finer light that ericw-tools adds; the faces do not refer to it.
            LightLumps { name: "decoupled", faces: FACES, light: "LIGHTING", placed_by: DECOUPLED, copied: None },
            // Light with luxels of other sizes (`LMSHIFT`) beside that of the faces, for readers that know it.
            LightLumps { name: "scaled", faces: FACES, light: "LIGHTING", placed_by: SCALED, copied: None },
            // The light in color, which engines prefer if they know it; some maps have only this.
            LightLumps {
                name: "rgb",
                faces: FACES,
                light: RGB,
                placed_by: None,
                copied: Some(Copied { of: "", luxels: LuxelForm::Rgb }),
            },
            LightLumps {
                name: "decoupled_rgb",
                faces: FACES,
                light: RGB,
                placed_by: DECOUPLED,
                copied: Some(Copied { of: "decoupled", luxels: LuxelForm::Rgb }),
            },
            LightLumps {
                name: "scaled_rgb",
                faces: FACES,
                light: RGB,
                placed_by: SCALED,
                copied: Some(Copied { of: "scaled", luxels: LuxelForm::Rgb }),
            },
        ],
        faces,
        textures,
        by_extents: true,
        unlit,
        unsized_luxels: 0,
        unread: 0,
        bumped: 0,
        luxels: LuxelForm::Rgb,
        extra: None,
    }
}
