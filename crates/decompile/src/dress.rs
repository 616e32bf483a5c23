//! Sides of sources from sides of pieces: points, textures and alignments.

use std::collections::HashMap;

use crate::cells::box_planes;
use crate::geometry::{Plane, dot, length, mean, minus, plus};
use crate::looks::Look;
use crate::mapping::{Mapping, USUAL, of_alignment};
use crate::pieces::{Piece, PieceSide};
use crate::planes::{Fit, points};
use crate::report::{Counts, UNKNOWN_SIZE};
use crate::solve::Solver;
use crate::source::{Alignment, Brush, Format, Point, Side, SideNumbers, is_writable};
use crate::tools::{Family, Flags};

/// Columns and rows of textures, by their names.
pub type Sizes<'o> = &'o dyn Fn(&[u8]) -> Option<[u32; 2]>;

/// Units for each luxel that editors of Source begin with.
const LUXEL: f64 = 16.0;

/// A side that was written, in the axes of its model.
pub(crate) struct Placed {
    /// Its number in the source.
    pub(crate) id: u32,
    pub(crate) model: usize,
    pub(crate) ring: Vec<Point>,
    pub(crate) plane: Plane,
}

/// How sides are written.
pub(crate) struct Dress<'o> {
    pub(crate) format: Format,
    pub(crate) flags: Flags,
    pub(crate) looks: Vec<Look>,
    pub(crate) sizes: Option<Sizes<'o>>,
    /// How textures lie on sides that do not say it.
    pub(crate) solver: Option<Solver>,
    /// The sides that were written of the world and its models (`.vmf`).
    pub(crate) placed: Vec<Placed>,
    /// The points of planes that were there before: of sides on one plane they are the same.
    known: HashMap<([u32; 3], u32), ([Point; 3], Fit)>,
    next_id: u32,
}

impl<'o> Dress<'o> {
    pub(crate) fn new(format: Format, flags: Flags, looks: Vec<Look>, sizes: Option<Sizes<'o>>) -> Self {
        Dress { format, flags, looks, sizes, solver: None, placed: Vec::new(), known: HashMap::new(), next_id: 0 }
    }

    /// Keeps numbers up to this one for what has numbers of its own.
    pub(crate) fn keep_ids(&mut self, last: u32) {
        self.next_id = self.next_id.max(last);
    }

    /// A number that nothing else of the source has; 0 in texts without numbers.
    pub(crate) fn id(&mut self) -> u32 {
        if self.format != Format::Vmf {
            return 0;
        }
        self.next_id = self.next_id.saturating_add(1);
        self.next_id
    }

    /// A brush, moved to its place.
    pub(crate) fn brush(&mut self, piece: &Piece, origin: Point, counts: &mut Counts) -> Brush {
        let id = self.id();
        // A side without a texture has that of another one of the brush.
        let usual = piece.sides.iter().filter_map(|side| side.look).find(|look| *look < self.looks.len());
        let mut sides: Vec<Side> =
            piece.sides.iter().map(|side| self.side(piece, side, usual, origin, counts)).collect();
        if let Some(look) = piece.look {
            // Compilers go by the shader of the first side for the contents.
            match piece.sides.iter().position(|side| side.look == Some(look)) {
                Some(at) => sides[..=at].rotate_right(1),
                None => counts.note("brush", "the shader of its contents is on none of its sides", piece.number),
            }
        }
        counts.report.brush_count += 1;
        counts.report.side_count += piece.sides.len();
        Brush { id, sides }
    }

    fn side(
        &mut self,
        piece: &Piece,
        side: &PieceSide,
        usual: Option<usize>,
        origin: Point,
        counts: &mut Counts,
    ) -> Side {
        let (id, (local, fit)) = (self.id(), self.points(side));
        counts.plane(&local, fit);
        let own = side.look.filter(|look| *look < self.looks.len());
        if own.is_none() && side.look.is_some() {
            counts.leave_out("side texture", "it does not exist; the side has another one", side.number);
        }
        let look = own.or(usual).map(|look| &self.looks[look]);
        let name = look.map(|look| self.name(&look.name)).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| self.tool(piece.contents));
        if !is_writable(&name) {
            counts.leave_out("side texture", "quotes and control characters of its name are written as '", side.number);
        }
        let plane = side.plane();
        let points = local.map(|point| plus(point, origin));
        // Compilers lay textures on the plane that they compute of the points.
        let moved = Plane { normal: plane.normal, distance: plane.distance + dot(plane.normal, origin) };
        let written = Plane::of_points(points).unwrap_or(moved);
        let unseen = self.flags.unseen();
        let (alignment, is_known) = match own.and_then(|own| Some((own, self.looks[own].vectors?))) {
            Some((own_look, vectors)) => {
                let mapping = Mapping::of_vectors(vectors);
                let is_good = mapping.is_finite() && mapping.has_axes();
                if !mapping.is_finite() {
                    let why = "its texture vectors are damaged; the side has a usual one";
                    counts.leave_out("side alignment", why, side.number);
                } else if !is_good {
                    counts.note("side", "its texture vectors have no length; it has usual ones", side.number);
                } else if !mapping.is_flat(&plane) && self.looks[own_look].flags & unseen == 0 {
                    counts.note("side", "its texture is drawn as lines, as in the map", side.number);
                }
                counts.report.alignments.exact += usize::from(is_good);
                (Some(mapping).filter(|_| is_good), is_good)
            }
            None => (self.drawn(piece, side).filter(|mapping| mapping.is_finite() && mapping.is_flat(&plane)), false),
        };
        match (is_known, &alignment) {
            (true, _) => {}
            (false, Some(_)) => counts.report.alignments.solved += 1,
            (false, None) => counts.report.alignments.usual += 1,
        }
        let size = self.size(&name).or(look.and_then(|look| look.size));
        // What is drawn gives shares of a texture, whose size only its file has.
        let in_shares = self.flags.family == Family::Quake3;
        let needs_size = in_shares != (self.format == Format::BrushDef);
        if needs_size && size.is_none() && alignment.is_some() {
            counts.note("side", UNKNOWN_SIZE, side.number);
        }
        let size = size.unwrap_or(USUAL);
        let mapping = match alignment {
            Some(mapping) if in_shares && !is_known => mapping.scaled(size),
            Some(mapping) => mapping,
            None => Mapping::default_of(&written, if in_shares { 0.5 } else { 1.0 }),
        };
        let mapping = mapping.moved(origin);
        let alignment = mapping.alignment(self.format, &written, size);
        let ring = side.ring.iter().map(|corner| plus(*corner, origin));
        if matches!(alignment, Alignment::Standard { .. })
            && !mapping.is_near(&of_alignment(&alignment, &written), ring)
        {
            counts.note("side", "the format cannot say how its texture lies; it has what comes near", side.number);
        }
        if self.format == Format::Vmf {
            self.placed.push(Placed { id, model: piece.model, ring: side.ring.clone(), plane });
        }
        Side {
            id,
            points,
            texture: name,
            alignment,
            numbers: self.numbers(piece, look),
            lightmap_scale: (self.format == Format::Vmf).then(|| luxel(look)),
            smoothing_groups: 0,
            displacement: None,
        }
    }

    fn drawn(&self, piece: &Piece, side: &PieceSide) -> Option<Mapping> {
        self.solver.as_ref()?.mapping(piece.model, side)
    }

    /// The name of a texture in a source.
    pub(crate) fn name(&self, name: &[u8]) -> Vec<u8> {
        const FOLDER: &[u8] = b"textures/";
        let is_in = self.flags.family == Family::Quake3
            && name.get(..FOLDER.len()).is_some_and(|start| start.eq_ignore_ascii_case(FOLDER));
        if is_in { name[FOLDER.len()..].to_vec() } else { name.to_vec() }
    }

    /// The tool texture for a volume: that of the map, if it has one of this name in another folder.
    fn tool(&self, contents: u32) -> Vec<u8> {
        let tool = self.flags.tool(contents).as_bytes();
        let last = |name: &'_ [u8]| name.rsplit(|byte| *byte == b'/').next().map(<[u8]>::to_ascii_lowercase);
        let wanted = last(tool);
        let own = self.looks.iter().find(|look| last(&look.name) == wanted);
        own.map_or_else(|| tool.to_vec(), |look| self.name(&look.name))
    }

    fn size(&self, name: &[u8]) -> Option<[f64; 2]> {
        let size = self.sizes?(name)?;
        size.iter().all(|side| *side > 0).then(|| size.map(f64::from))
    }

    fn points(&mut self, side: &PieceSide) -> ([Point; 3], Fit) {
        let key = (side.normal.map(f32::to_bits), side.distance.to_bits());
        *self.known.entry(key).or_insert_with(|| points(side.normal, side.distance, mean(&side.ring)))
    }

    fn numbers(&self, piece: &Piece, look: Option<&Look>) -> Option<SideNumbers> {
        match self.flags.family {
            Family::Quake | Family::Source => None,
            Family::Quake2 => Some(SideNumbers {
                contents: piece.contents.cast_signed(),
                flags: look.map_or(0, |look| look.flags.cast_signed()),
                value: look.map_or(0, |look| look.value),
            }),
            // Shaders say all but this.
            Family::Quake3 => {
                let contents = piece.contents & self.flags.contents("DETAIL");
                Some(SideNumbers { contents: contents.cast_signed(), flags: 0, value: 0 })
            }
        }
    }

    /// A box with one texture, as editors draw them.
    pub(crate) fn made(&mut self, [mins, maxs]: [Point; 2], contents: u32, counts: &mut Counts) -> Brush {
        let (id, texture) = (self.id(), self.tool(contents));
        let side = |(normal, distance): ([f32; 3], f32)| {
            let (points, _) = points(normal, distance, mins);
            let plane = crate::cells::plane(normal, distance);
            let alignment = Mapping::default_of(&plane, 1.0).alignment(self.format, &plane, USUAL);
            Side {
                id: self.id(),
                points,
                texture: texture.clone(),
                alignment,
                numbers: match self.flags.family {
                    Family::Quake2 => Some(SideNumbers { contents: contents.cast_signed(), ..SideNumbers::default() }),
                    Family::Quake3 => Some(SideNumbers::default()),
                    _ => None,
                },
                lightmap_scale: (self.format == Format::Vmf).then_some(LUXEL),
                smoothing_groups: 0,
                displacement: None,
            }
        };
        let sides = box_planes([mins, maxs].map(|corner| corner.map(bspkit::bytes::rounded))).map(side).to_vec();
        counts.report.made_count += 1;
        Brush { id, sides }
    }
}

/// Units for each luxel on a side.
pub(crate) fn luxel(look: Option<&Look>) -> f64 {
    let rows = look.and_then(|look| look.luxels);
    let slope = rows.map_or(0.0, |[[a, b, c, _], _]| length([a, b, c].map(f64::from)));
    let scale = (1.0 / slope).round();
    // The scale is a whole number of units in every editor.
    if slope > 0.0 && (1.0..=4096.0).contains(&scale) { scale } else { LUXEL }
}

/// A box around a point.
pub(crate) fn around(point: Point, half: f64) -> [Point; 2] {
    [minus(point, [half; 3]), plus(point, [half; 3])]
}

/// Whether an alignment is a matrix; sides of a brush have one form.
pub(crate) fn is_matrix(alignment: &Alignment) -> bool {
    matches!(alignment, Alignment::Matrix(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A side at 45 degrees whose plane in the map faces another axis most than that of its points, with texture
    /// vectors; and what is noted of it.
    fn tilted(vectors: [[f32; 4]; 2]) -> (Mapping, Mapping, Vec<Point>, usize) {
        let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
        let flags = Flags::new(&map, Family::Quake2);
        let look = Look { name: b"wall".to_vec(), vectors: Some(vectors), ..Look::default() };
        let ring = vec![[0.0, 0.0, 64.0], [64.0, 0.0, 64.0], [64.0, 64.0, 0.0], [0.0, 64.0, 0.0]];
        let (normal, distance) = ([0.0, 0.707_106_9, 0.707_106_65], 45.254_833);
        let side = PieceSide { number: 0, normal, distance, look: Some(0), ring: ring.clone() };
        let piece = Piece { number: 0, model: 0, contents: 1, look: None, sides: vec![side] };
        let mut counts = Counts::default();
        let mut dress = Dress::new(Format::Quake, flags, vec![look], None);
        let side = dress.brush(&piece, [0.0; 3], &mut counts).sides.remove(0);
        assert!(side.points.iter().flatten().all(|part| part.fract() == 0.0), "{:?}", side.points);
        let back = of_alignment(&side.alignment, &Plane::of_points(side.points).unwrap());
        (Mapping::of_vectors(vectors), back, ring, counts.finish().notes.len())
    }

    #[test]
    fn textures_lie_on_the_plane_of_the_points() {
        let (own, back, ring, notes) = tilted([[1.0, 0.0, 0.0, 8.0], [0.0, -1.0, 0.0, 0.0]]);
        assert!(own.is_near(&back, ring.into_iter()) && notes == 0, "{back:?}");
    }

    #[test]
    fn a_side_that_a_format_cannot_say_is_noted() {
        let (own, back, ring, notes) = tilted([[1.0, 0.0, 0.0, 8.0], [0.5, -1.0, 0.0, 0.0]]);
        assert!(!own.is_near(&back, ring.into_iter()) && notes == 1, "{back:?}");
    }
}
