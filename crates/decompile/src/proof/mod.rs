//! Whether a source is that of a map: by points and by faces. The text is read again, and nothing of what wrote it is
//! used.

mod by_map;
mod by_source;
mod kept;
mod points;
mod space;
mod surfaces;

use bspkit::{Bsp, Result};
use serde::Serialize;

use crate::assemble::family;
use crate::dress::Sizes;
use crate::looks;
use crate::source::{Format, Point, Source, read};
use crate::tools::Flags;
use by_map::ByMap;
use by_source::Models;
pub use kept::Kept;

/// How much of a map is looked at.
///
/// ```
/// use bspkit_decompile::Effort;
/// assert!(Effort::default().random_points > 1000);
/// ```
#[derive(Clone, Copy)]
pub struct Effort<'o> {
    /// Points at random in the box of the world; models have a share of them.
    pub random_points: usize,
    /// The most faces around which points are taken, and that are looked at for their textures; of more faces every
    /// second, third and so on is.
    pub faces: usize,
    /// What the points are drawn by: the same number gives the same points.
    pub seed: u64,
    /// Columns and rows of textures, where a text does not give shares of them and the map does, or the other way
    /// round.
    pub sizes: Option<Sizes<'o>>,
}

impl Default for Effort<'_> {
    fn default() -> Self {
        Effort { random_points: 20_000, faces: 20_000, seed: 1, sizes: None }
    }
}

impl std::fmt::Debug for Effort<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Effort")
            .field("random_points", &self.random_points)
            .field("faces", &self.faces)
            .finish_non_exhaustive()
    }
}

/// How far a source is that of a map.
///
/// ```
/// use bspkit_decompile::{Effort, Options, decompile, prove};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let found = decompile(&map, &Options::default())?;
/// let proof = prove(&map, &found.text(), found.format, &Effort::default())?;
/// assert!(proof.is_whole() && proof.points.judged > 1000);
/// assert_eq!((proof.points.share(), proof.faces.share()), (1.0, 1.0));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Proof {
    /// Points: the contents of their places.
    pub points: Points,
    /// Faces that are drawn.
    pub faces: Faces,
    /// Models of the map that no entity of the source has.
    pub models_left_out: usize,
    /// Curves of Quake III.
    pub patches: Kept,
    /// Displacements of Source.
    pub displacements: Kept,
    /// Entities, by their classes.
    pub entities: Kept,
    /// Brush models of Quake III, by their boxes.
    pub boxes: Kept,
    /// Points that do not agree: the first ones.
    pub worst_points: Vec<WrongPoint>,
    /// Faces that do not agree: those with the largest areas.
    pub worst_faces: Vec<WrongFace>,
}

impl Proof {
    /// Whether all that was judged agrees, and no face is left that cannot be judged.
    pub fn is_whole(&self) -> bool {
        self.points.judged == self.points.agreeing
            && self.faces.judged == self.faces.agreeing
            && self.faces.unread == 0
            && self.models_left_out == 0
            && self.kinds().iter().all(|(_, kept)| kept.is_whole())
    }

    fn kinds(&self) -> [(&'static str, Kept); 4] {
        [
            ("curves", self.patches),
            ("displacements", self.displacements),
            ("entities", self.entities),
            ("boxes of models", self.boxes),
        ]
    }

    /// What does not agree, a sentence for each kind, with its first place; none if all agrees.
    ///
    /// ```
    /// assert!(bspkit_decompile::Proof::default().differences().is_empty());
    /// ```
    pub fn differences(&self) -> Vec<String> {
        let at = |point: [f64; 3]| point.map(|part| format!("{part:.2}")).join(" ");
        let mut all = Vec::new();
        let Points { judged, agreeing, .. } = self.points;
        if let Some(WrongPoint { point, model, .. }) = self.worst_points.first() {
            let wrong = judged - agreeing;
            let place = at(*point);
            all.push(format!(
                "other contents than in the map at {wrong} of {judged} points: first at {place} of *{model}"
            ));
        }
        let Faces { judged, agreeing, .. } = self.faces;
        if let Some(WrongFace { face, texture, point, .. }) = self.worst_faces.first() {
            let (wrong, place) = (judged - agreeing, at(*point));
            let largest = format!("the largest is face {face} with `{texture}` at {place}");
            all.push(format!("another texture or alignment than in the map on {wrong} of {judged} faces: {largest}"));
        }
        if self.faces.unread > 0 {
            all.push(format!("faces of the map that cannot be read, and are not judged: {}", self.faces.unread));
        }
        for (kind, kept) in self.kinds() {
            if kept.missing() > 0 {
                all.push(format!("{} of {} {kind} of the map are missing in the source", kept.missing(), kept.judged));
            }
            if kept.added > 0 {
                all.push(format!("{kind} of the source that are not in the map: {}", kept.added));
            }
        }
        if self.models_left_out > 0 {
            all.push(format!("models of the map that no entity of the source has: {}", self.models_left_out));
        }
        all
    }
}

/// Points that were looked at.
///
/// ```
/// use bspkit_decompile::Points;
/// assert_eq!(Points::default().share(), 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Points {
    /// Points that were judged.
    pub judged: usize,
    /// Points whose contents agree.
    pub agreeing: usize,
    /// Points that are not judged: they are so near to a plane that rounding decides.
    pub unclear: usize,
    /// Points that are not judged: solid that no space is near, with which compilers fill the outside.
    pub outside: usize,
}

impl Points {
    /// The share that agrees, 0 to 1.
    pub fn share(&self) -> f64 {
        share(bspkit::bytes::amount(self.agreeing), bspkit::bytes::amount(self.judged))
    }
}

/// Faces that were looked at.
///
/// ```
/// use bspkit_decompile::Faces;
/// assert_eq!(Faces::default().share(), 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Faces {
    /// Faces that were judged.
    pub judged: usize,
    /// Faces that sides of the same texture and alignment cover.
    pub agreeing: usize,
    /// The area of all of them, in square units.
    pub area: f64,
    /// The area that is covered so.
    pub covered: f64,
    /// Faces of the map that cannot be read, and are not judged.
    #[serde(skip_serializing_if = "is_zero")]
    pub unread: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Faces {
    /// The share of the area that agrees, 0 to 1.
    pub fn share(&self) -> f64 {
        share(self.covered, self.area)
    }
}

fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 1.0 }
}

/// A point that does not agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrongPoint {
    /// Where it is, in the axes of the model.
    pub point: [f64; 3],
    /// The model.
    pub model: usize,
    /// The `CONTENTS_` flags by the map.
    pub map: u32,
    /// The flags by the source.
    pub source: u32,
}

/// A face that does not agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrongFace {
    /// Its number in the map.
    pub face: usize,
    /// Its texture.
    pub texture: String,
    /// The middle of it.
    pub point: [f64; 3],
    /// Its area in square units.
    pub area: f64,
    /// How much of it is covered as it has to be.
    pub covered: f64,
    /// Whether sides cover it all, and only their texture or alignment is another one.
    pub is_covered: bool,
}

/// Compares the text of a source with the map that it is said to be of.
///
/// # Errors
/// [`bspkit::ErrorKind::Malformed`] if the text cannot be read, with its line; as [`crate::decompile`] if the map
/// cannot be read.
pub fn prove(map: &Bsp<'_>, text: &[u8], format: Format, effort: &Effort<'_>) -> Result<Proof> {
    compare(map, &read(text, format)?, effort)
}

/// Compares a source that was read with a map.
pub(crate) fn compare(map: &Bsp<'_>, source: &Source, effort: &Effort<'_>) -> Result<Proof> {
    let flags = Flags::new(map, family(map));
    let looks = looks::read(map);
    let by_map = ByMap::read(map, &looks, flags.contents("SOLID"))?;
    let models = Models::new(map, source, &flags, &looks)?;
    let crate::drawn::Faces { drawn, unread } = crate::drawn::read(map, &looks)?;
    let mut proof = Proof {
        models_left_out: models.left_out(),
        patches: kept::patches(map, source, &looks),
        displacements: kept::displacements(map, source),
        entities: kept::entities(map, source),
        boxes: kept::boxes(map, &models),
        faces: Faces { unread: unread.len(), ..Faces::default() },
        ..Proof::default()
    };
    points::judge(map, &by_map, &models, &drawn, &flags, effort, &mut proof);
    surfaces::judge(map, &models, &drawn, &looks, &flags, effort, &mut proof);
    Ok(proof)
}

/// Numbers that look random and are the same each time (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        let [a, b, c, d, ..] = self.next().to_le_bytes();
        f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX)
    }

    fn within(&mut self, mins: Point, maxs: Point) -> Point {
        std::array::from_fn(|axis| mins[axis] + (maxs[axis] - mins[axis]) * self.share())
    }
}
