//! The text that a map was compiled from: entities with brushes, patches and displacements, as editors keep them.
//!
//! [`Source`] is a model of `.map` and `.vmf` texts, and knows nothing of compiled maps. [`write()`] and [`read`]
//! change it to text and back, and keep every digit: what was written is read as an equal value. Serde reads and writes
//! it too, with names and values as bytes.
//!
//! ```
//! use bspkit_decompile::source::{Format, read, write};
//! let text = b"{\n\"classname\" \"worldspawn\"\n{\n( 0 0 8 ) ( 0 1 8 ) ( 1 0 8 ) own/floor 0 0 0 1 1\n}\n}\n";
//! let source = read(text, Format::Quake)?;
//! let side = &source.entities[0].brushes[0].sides[0];
//! assert_eq!((side.points[1], &side.texture[..]), ([0.0, 1.0, 8.0], &b"own/floor"[..]));
//! assert_eq!(read(&write(&source, Format::Quake), Format::Quake)?, source);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod map_reader;
mod map_writer;
mod numbers;
mod serial;
mod vmf_reader;
mod vmf_writer;
mod words;

use std::str::FromStr;

use bspkit::{Error, ErrorKind, Result, near};
use serde::{Deserialize, Serialize};

pub(crate) use numbers::{Point, is_writable, writable};

/// The form of a text.
///
/// ```
/// use bspkit_decompile::source::Format;
/// assert_eq!("valve".parse::<Format>()?, Format::Valve);
/// assert_eq!(Format::of_name("rooms.VMF"), Some(Format::Vmf));
/// assert!("rmf".parse::<Format>().is_err() && Format::of_name("rooms.map").is_none());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `.map` with the alignment of Quake: an offset, an angle and a scale on the axes nearest to the plane. Sides may
    /// end with the contents, flags and value of Quake II.
    Quake,
    /// `.map` with the two axes of a texture in brackets, as Valve's editors began to write it (Valve 220).
    Valve,
    /// As [`Format::Quake`], with patches and with the three numbers at the end of a side.
    Quake3,
    /// `.map` with brush primitives (`brushDef`): a matrix that gives shares of the texture, whatever its size.
    BrushDef,
    /// `.vmf` of Hammer.
    Vmf,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] = [Format::Quake, Format::Valve, Format::Quake3, Format::BrushDef, Format::Vmf];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            Format::Quake => "quake",
            Format::Valve => "valve",
            Format::Quake3 => "quake3",
            Format::BrushDef => "brushdef",
            Format::Vmf => "vmf",
        }
    }

    /// How names of its files end, without the dot.
    pub fn extension(self) -> &'static str {
        if self == Format::Vmf { "vmf" } else { "map" }
    }

    /// The format that the end of a file's name alone gives: `.vmf` is one, and `.map` may be any of the others.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        end.eq_ignore_ascii_case(Format::Vmf.extension()).then_some(Format::Vmf)
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = Format::ALL.map(|format| (format.name(), format));
        near::one_of(text, all, "a format of sources", "the formats are")
    }
}

/// The source of a map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// The entities in their order; the world is the first one.
    pub entities: Vec<Entity>,
}

/// An entity.
///
/// ```
/// use bspkit_decompile::source::Entity;
/// let light = Entity { pairs: vec![(b"classname".to_vec(), b"light".to_vec())], ..Entity::default() };
/// assert_eq!((light.get(b"ClassName"), light.get(b"origin")), (Some(&b"light"[..]), None));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entity {
    /// Its number in a `.vmf`; 0 where it has none.
    pub id: u32,
    /// The comments before it, line by line, without the marks that begin them (`.map`).
    #[serde(with = "serial::all")]
    pub comments: Vec<Vec<u8>>,
    /// Its keys and values, in their order.
    #[serde(with = "serial::pairs")]
    pub pairs: Vec<(Vec<u8>, Vec<u8>)>,
    /// What its outputs call, in their order (`.vmf`).
    #[serde(with = "serial::pairs")]
    pub connections: Vec<(Vec<u8>, Vec<u8>)>,
    /// Its brushes.
    pub brushes: Vec<Brush>,
    /// Its curved patches (Quake III).
    pub patches: Vec<Patch>,
}

impl Entity {
    /// The first value of a key, whose case does not matter.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.pairs.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| &value[..])
    }

    /// Its class; empty if it has none.
    pub fn class(&self) -> &[u8] {
        self.get(b"classname").unwrap_or_default()
    }
}

/// A convex volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Brush {
    /// Its number in a `.vmf`; 0 where it has none.
    pub id: u32,
    /// Its sides.
    pub sides: Vec<Side>,
}

/// A side of a brush.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Its number in a `.vmf`; 0 where it has none.
    #[serde(default)]
    pub id: u32,
    /// Three points of its plane, clockwise as seen from outside.
    pub points: [[f64; 3]; 3],
    /// The name of its texture, shader or material.
    #[serde(with = "serial::one")]
    pub texture: Vec<u8>,
    /// How the texture lies.
    pub alignment: Alignment,
    /// The numbers at the end of a side in Quake II and III; `None` where the text has none.
    #[serde(default)]
    pub numbers: Option<SideNumbers>,
    /// Units for each luxel (`.vmf`).
    #[serde(default)]
    pub lightmap_scale: Option<f64>,
    /// Groups of sides that are lit as one curve (`.vmf`).
    #[serde(default)]
    pub smoothing_groups: u32,
    /// The displacement on it (`.vmf`).
    #[serde(default)]
    pub displacement: Option<Box<Displacement>>,
}

/// What a side says of its volume and surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideNumbers {
    /// `CONTENTS_` flags of the brush.
    pub contents: i32,
    /// `SURF_` flags of the side.
    pub flags: i32,
    /// The strength of its light.
    pub value: i32,
}

/// How a texture lies on a side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alignment {
    /// On the axes that are nearest to the plane.
    Standard {
        /// Texels by which it is moved.
        offset: [f64; 2],
        /// Degrees by which it is rotated.
        rotation: f64,
        /// Units for each texel.
        scale: [f64; 2],
    },
    /// On two axes: a texel is `point * axis / scale + offset`.
    Axes {
        /// For s and for t x, y, z and the offset in texels.
        axes: [[f64; 4]; 2],
        /// Degrees; for the display of editors alone (Valve 220).
        rotation: f64,
        /// Units for each texel.
        scale: [f64; 2],
    },
    /// A matrix from the plane to shares of the texture (brush primitives).
    Matrix([[f64; 3]; 2]),
}

/// A curved patch of Quake III.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The name of its shader, with its folder below `textures/`.
    #[serde(with = "serial::one")]
    pub texture: Vec<u8>,
    /// The numbers of columns and rows of control points, both odd.
    pub size: [usize; 2],
    /// x, y, z, s and t of each control point, row after row.
    pub points: Vec<[f64; 5]>,
    /// Its `CONTENTS_` flags.
    #[serde(default)]
    pub contents: i32,
}

/// A displacement of Source: a grid of `2^power + 1` points along each side.
///
/// ```
/// use bspkit_decompile::source::Displacement;
/// assert_eq!(Displacement { power: 3, ..Displacement::default() }.side(), 9);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Displacement {
    /// 2 to 4.
    pub power: u32,
    /// The corner of the side at which the first row begins.
    pub start: [f64; 3],
    /// Its flags: which of physics, hulls and rays pass.
    pub flags: u32,
    /// How far all points are lifted off.
    pub elevation: f64,
    /// Whether the tools subdivided it.
    pub is_subdivided: bool,
    /// The direction in which each point is moved.
    pub normals: Vec<[f64; 3]>,
    /// How far it is moved there.
    pub distances: Vec<f64>,
    /// How far it is moved before.
    pub offsets: Vec<[f64; 3]>,
    /// The directions of the subdivided surface.
    pub offset_normals: Vec<[f64; 3]>,
    /// How much of the second texture is seen, 0 to 255.
    pub alphas: Vec<f64>,
    /// Flags of each triangle.
    pub triangle_tags: Vec<u32>,
    /// Which points neighbors allow to be split.
    pub allowed_vertexes: [i32; 10],
}

impl Displacement {
    /// How many points each row has; 0 for a power that is out of range.
    pub fn side(&self) -> usize {
        if (1..=6).contains(&self.power) { (1 << self.power) + 1 } else { 0 }
    }
}

/// Writes a source. The same source gives the same bytes.
///
/// Alignments that the format does not have are written in the form that they are in: compilers that know several forms
/// go by the brackets. Quotes within names and values have no form in these texts, and are written as `'`.
pub fn write(source: &Source, format: Format) -> Vec<u8> {
    match format {
        Format::Vmf => vmf_writer::write(source),
        _ => map_writer::write(source, format),
    }
}

/// Reads a text.
///
/// # Errors
/// [`ErrorKind::Malformed`] with the line for what is not of this format; [`ErrorKind::TooLarge`] for a text of more
/// than 1 GiB.
pub fn read(text: &[u8], format: Format) -> Result<Source> {
    const MOST_BYTES: usize = 1 << 30;
    if text.len() > MOST_BYTES {
        let message = format!("a source of {} bytes; at most {MOST_BYTES} are read", text.len());
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    match format {
        Format::Vmf => vmf_reader::read(text),
        _ => map_reader::read(text),
    }
}
