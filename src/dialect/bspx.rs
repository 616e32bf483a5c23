//! Entries of BSPX, the block of further lumps that compilers of the Quake family put after the lumps of a map
//! (bspx.txt of FTE; ericw-tools, Quakespasm, Q2PRO).
//!
//! Names are all that an entry is known by, and engines take it only where it has as many records as the map has of
//! what these are for: that is each row's proof.

use super::shared::{Face, WideFace};
use super::{Block, Each, Facts, Key, List, LitFace, Row};
use crate::bytes::word;
use crate::record::{Field, Gone, Meaning, Record, index, records};

macro_rules! entries {
    ($($name:ident: $record:ty = $doc:literal,)*) => {
        $(
            #[doc = $doc]
            pub const $name: Key<$record> = Key::new(concat!("bspx:", stringify!($name)));
        )*
    };
}

entries! {
    RGBLIGHTING: ColorSample = "The light in color, a sample for each of the lighting lump: what a `.lit` file has.",
    LIGHTING_E5BGR9: FloatSample = "The light without an upper end, a sample for each of the lighting lump.",
    LIGHTINGDIR: DirectionSample =
        "The direction of the light, one sample for each of the lighting lump, as in a `.lux` file.",
    LMSHIFT: LightShift = "How large the luxels of each face are.",
    LMOFFSET: LightOffset = "Where the light of each face begins, for readers of `LMSHIFT`.",
    LMSTYLE: LightStyles = "The styles of each face, where these are four.",
    LMSTYLE16: LightStyles16 = "The styles of each face in 16 bits, where these are four.",
    DECOUPLED_LM: DecoupledLight = "Light of each face that has luxels of any size and direction.",
    VERTEXNORMALS: VertexNormal = "The normal of each vertex.",
    ENVMAP: EnvMap = "Where cube maps were taken.",
    SURFENVMAP: SurfaceEnvMap = "The cube map of each face.",
}

/// The entries that say how much light a face has, beside what its corners say.
pub const LIGHT_SIZES: [&str; 3] = [LMSHIFT.lump(), LMSTYLE.lump(), LMSTYLE16.lump()];

/// The entries that say where the light of a face is.
pub const LIGHT_PLACES: [&str; 2] = [LMOFFSET.lump(), DECOUPLED_LM.lump()];

/// The styles of the faces where they are not four a face: as many in a row as there are for each.
pub const LMSTYLE_EACH: Key<LightStyle> = Key::new("bspx:LMSTYLE");
/// The styles of the faces in 16 bits where they are not four a face: as many in a row as there are for each.
pub const LMSTYLE16_EACH: Key<LightStyle16> = Key::new("bspx:LMSTYLE16");
/// The vectors that corners of faces refer to.
pub const NORMALS: Key<FaceNormal> = Key::list("bspx:FACENORMALS", "vectors");
/// The corners of all faces, in the order of the faces.
pub const CORNERS: Key<FaceCorner> = Key::list("bspx:FACENORMALS", "corners");

/// Quake: one byte per luxel.
pub(super) const GREY: &[Row] = &rows::<Face, 1>();
/// BSP2 and 2PSB.
pub(super) const GREY_WIDE: &[Row] = &rows::<WideFace, 1>();
/// GoldSrc and Quake II: three bytes per luxel.
pub(super) const COLOR: &[Row] = &rows::<Face, 3>();
/// Qbism.
pub(super) const COLOR_WIDE: &[Row] = &rows::<WideFace, 3>();

/// The rows of a dialect with these faces, whose light has this many bytes per sample.
const fn rows<F: Record + Into<LitFace>, const SAMPLE: usize>() -> [Row; 18] {
    const NORMALS: &[List] = &[
        List::of::<FaceNormal>("vectors"),
        List::uncounted::<FaceCorner>("corners").parallel("FACES", Each::Counted("edge_count")),
    ];
    [
        RGBLIGHTING.row().parallel("LIGHTING", Each::Several, &[0]).proved(by_sample::<SAMPLE>),
        LIGHTING_E5BGR9.row().parallel("LIGHTING", Each::Several, &[0]).proved(by_sample::<SAMPLE>),
        LIGHTINGDIR.row().parallel("LIGHTING", Each::Several, &[0]).proved(by_sample::<SAMPLE>),
        LMSHIFT.row().parallel("FACES", Each::One, &[4]).proved(by_face::<F>),
        LMOFFSET.row().parallel("FACES", Each::One, &[0xFF]).proved(by_face::<F>),
        LMSTYLE.row().parallel("FACES", Each::One, &[0xFF]).proved(by_face::<F>),
        LMSTYLE_EACH.row().parallel("FACES", Each::Several, &[0xFF]).proved(several_by_face::<F>),
        LMSTYLE16.row().parallel("FACES", Each::One, &[0xFF]).proved(by_face::<F>),
        LMSTYLE16_EACH.row().parallel("FACES", Each::Several, &[0xFF]).proved(several_by_face::<F>),
        DECOUPLED_LM.row().parallel("FACES", Each::One, NO_LIGHT).proved(by_face::<F>),
        VERTEXNORMALS.row().parallel("VERTEXES", Each::One, &[0]).proved(by_vertex),
        ENVMAP.row(),
        SURFENVMAP.row().parallel("FACES", Each::One, &[0xFF]).proved(by_face::<F>),
        Row::lists("bspx:FACENORMALS", NORMALS).proved(by_corner::<F>),
        Row::lens("bspx:BRUSHLIST", "brushes of the models").blocks("MODELS", brush_blocks),
        Row::lens("bspx:LIGHTGRID_OCTREE", "light grid in an octree"),
        Row::lens("bspx:LIGHTGRIDS", "light grids in octrees"),
        Row::opaque(
            "bspx:ZIP_PAKFILE",
            "it should be a zip archive, of which no map has been seen; its bytes are the archive",
        ),
    ]
}

/// A list with one record for each record of a lump of the map; checks report other numbers.
fn parallel(facts: &Facts<'_>, row: &Row, count: usize, of: &str) -> Result<(), String> {
    let (len, size) = (facts.len(row.lump), row.record().map_or(1, |record| record.size));
    match facts.is_likely || count.checked_mul(size) == Some(len) {
        true => Ok(()),
        false => Err(format!("its {len} bytes are not {size} for each of the {count} {of}")),
    }
}

fn by_face<F: Record>(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    parallel(facts, row, facts.count("FACES", F::SIZE), "faces")
}

fn by_vertex(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    parallel(facts, row, facts.count("VERTEXES", 12), "vertexes")
}

/// If the lighting lump was left out, which is an option of compilers, the number of samples is not known.
fn by_sample<const SAMPLE: usize>(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    match facts.count("LIGHTING", SAMPLE) {
        0 => Ok(()),
        samples => parallel(facts, row, samples, "luxels of LIGHTING"),
    }
}

/// The same number of records for each face, whatever it is.
fn several_by_face<F: Record>(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    let (len, size) = (facts.len(row.lump), row.record().map_or(1, |record| record.size));
    let faces = facts.count("FACES", F::SIZE);
    match facts.is_likely || (faces > 0 && len.is_multiple_of(faces * size)) {
        true => Ok(()),
        false => Err(format!("its {len} bytes are not the same number of styles for each of the {faces} faces")),
    }
}

/// The corners take what the vectors leave, and the faces have as many edges.
fn by_corner<F: Record + Into<LitFace>>(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    let parts = row.parts(&facts.bytes(row.lump)).map_err(|error| error.to_string())?;
    let edges = facts.sum::<F>("FACES", |face| i64::from(face.into().edge_count));
    let Some(corners) = parts.last().map(|corners| &corners.range) else { return Ok(()) };
    match usize::try_from(edges).ok().and_then(|edges| edges.checked_mul(FaceCorner::SIZE)) == Some(corners.len()) {
        true => Ok(()),
        false => Err(format!(
            "the {} bytes after its vectors are not {} for each of the {edges} edges of faces",
            corners.len(),
            FaceCorner::SIZE
        )),
    }
}

/// A new face has no light of its own: no size, and the offset -1.
const NO_LIGHT: &[u8] = &{
    let mut bytes = [0; DecoupledLight::SIZE];
    let mut at = 4;
    while at < 8 {
        bytes[at] = 0xFF;
        at += 1;
    }
    bytes
};

/// The models of `BRUSHLIST`.
fn brush_blocks(bytes: &[u8]) -> Option<Vec<Block>> {
    let number = |at: usize| usize::try_from(word(bytes, at)?).ok();
    let (mut blocks, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let (start, brushes) = (at, number(at + 8)?);
        at = at.checked_add(BrushListModel::SIZE)?;
        for _ in 0..brushes {
            let planes = u16::from_le_bytes(*bytes.get(at.checked_add(BrushListBrush::SIZE)? - 2..)?.first_chunk()?);
            at += BrushListBrush::SIZE + usize::from(planes) * BrushListPlane::SIZE;
        }
        blocks.push(Block { range: start..at, at: start + 4 });
    }
    (at == bytes.len()).then_some(blocks)
}

records! {
    /// A sample of `RGBLIGHTING`.
    pub struct ColorSample(3) {
        /// Red, green, blue.
        pub color: [u8; 3],
    }

    /// A sample of `LIGHTING_E5BGR9`.
    pub struct FloatSample(4) {
        /// From the lowest bit on red, green and blue in nine bits each and in five the exponent that they share; 1
        /// leaves a texture as it is.
        pub light: u32,
    }

    /// A sample of `LIGHTINGDIR`.
    pub struct DirectionSample(3) {
        /// The direction on the surface, from -1 (0) to 1 (255) along each axis.
        pub direction: [u8; 3],
    }

    /// A face's `LMSHIFT`.
    pub struct LightShift(1) {
        /// A luxel has 2 to the power of this texels; 4 where nothing says otherwise.
        pub shift: u8,
    }

    /// A face's `LMOFFSET`.
    pub struct LightOffset(4) {
        /// Where in the lighting lump its light begins, in bytes; -1 for none.
        pub offset: i32 => Meaning::Offset { lump: "LIGHTING" },
    }

    /// A face's `LMSTYLE`.
    pub struct LightStyles(4) {
        /// The styles of its light; 255 ends them.
        pub styles: [u8; 4],
    }

    /// One style of a face's `LMSTYLE`.
    pub struct LightStyle(1) {
        /// The style; 255 for none.
        pub style: u8,
    }

    /// A face's `LMSTYLE16`.
    pub struct LightStyles16(8) {
        /// The styles of its light; 65535 ends them.
        pub styles: [u16; 4],
    }

    /// One style of a face's `LMSTYLE16`.
    pub struct LightStyle16(2) {
        /// The style; 65535 for none.
        pub style: u16,
    }

    /// A face's `DECOUPLED_LM`. Its own `light_offset` is for readers that do not know this.
    pub struct DecoupledLight(40) {
        /// Columns and rows of its luxels.
        pub size: [u16; 2],
        /// Where in the lighting lump its light begins, in bytes; -1 for none.
        pub offset: i32 => Meaning::Offset { lump: "LIGHTING" },
        /// How column and row come from a point: x, y, z, offset, in luxels.
        pub vectors: [[f32; 4]; 2],
    }

    /// A vertex's `VERTEXNORMALS`.
    pub struct VertexNormal(12) {
        /// Its normal.
        pub normal: [f32; 3],
    }

    /// An `env_cubemap`.
    pub struct EnvMap(16) {
        /// Where it was taken.
        pub origin: [f32; 3],
        /// How many pixels its sides have in each direction.
        pub size: i32 as "cubesize",
    }

    /// A face's `SURFENVMAP`.
    pub struct SurfaceEnvMap(4) {
        /// The cube map that it reflects, 0xFFFFFFFF for none.
        pub map: u32 => Meaning::Index { lump: "bspx:ENVMAP", none: &[0xFFFF_FFFF], gone: Gone::Becomes(0xFFFF_FFFF) },
    }

    /// A vector of `FACENORMALS`.
    pub struct FaceNormal(12) {
        /// The vector, of length 1.
        pub vector: [f32; 3],
    }

    /// A corner of a face in `FACENORMALS`: indices of the vectors before.
    pub struct FaceCorner(12) {
        /// Its normal.
        pub normal: u32 => index("bspx:FACENORMALS.vectors"),
        /// Along the texture's columns.
        pub tangent: u32 => index("bspx:FACENORMALS.vectors"),
        /// Along its rows.
        pub bitangent: u32 => index("bspx:FACENORMALS.vectors"),
    }

    /// The brushes of a model in `BRUSHLIST`; they follow it.
    pub struct BrushListModel(16) {
        /// 1.
        pub version: u32,
        /// The model.
        pub model: u32 => index("MODELS"),
        /// How many brushes it has.
        pub brush_count: u32 as "numbrushes",
        /// How many planes all of them have.
        pub plane_count: u32 as "numplanes",
    }

    /// A brush of `BRUSHLIST`; its planes follow it.
    pub struct BrushListBrush(28) {
        /// Its box.
        pub mins: [f32; 3],
        /// Its box.
        pub maxs: [f32; 3],
        /// What it holds, as Quake's leafs say it; -8 for what stops players and nothing else.
        pub contents: i16,
        /// How many planes it has beside those of its box.
        pub plane_count: u16 as "numplanes",
    }

    /// A plane of a brush of `BRUSHLIST`, facing out.
    pub struct BrushListPlane(16) {
        /// The direction it faces, of length 1.
        pub normal: [f32; 3],
        /// Its distance from the origin.
        pub distance: f32 as "dist",
    }

    /// What an octree of light begins with.
    pub struct LightOctreeHead(45) {
        /// How far apart the points are.
        pub step: [f32; 3],
        /// Their number in each dimension.
        pub size: [i32; 3],
        /// Where the first one is.
        pub mins: [f32; 3],
        /// The most styles that a point has.
        pub style_count: u8 as "num_styles",
        /// Where the tree begins, as a child of a node says it.
        pub root: u32,
        /// How many nodes follow.
        pub node_count: u32,
    }

    /// A node of an octree of light.
    pub struct LightOctreeNode(44) {
        /// The point that divides it, in points from the first one.
        pub middle: [u32; 3],
        /// What lies below and from it on, z counting once, y twice and x four times: a node, with the highest bit a
        /// leaf, with the next one nothing.
        pub children: [u32; 8],
    }

    /// A leaf of an octree of light; its points follow it, x fastest and z slowest.
    pub struct LightOctreeLeaf(24) {
        /// The first point, in points from the first one of all.
        pub mins: [i32; 3],
        /// Their number in each dimension.
        pub size: [i32; 3],
    }
}
