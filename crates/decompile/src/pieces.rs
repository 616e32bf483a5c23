//! Convex volumes of a map: its brushes, without the sides that compilers add.

use std::collections::HashSet;

use bspkit::bytes::bits;
use bspkit::dialect::Role;
use bspkit::{Bsp, Column, Records, Result};

use crate::boxes::{Boxes, grown, of_points};
use crate::geometry::{Plane, faces, is_face, is_open};
use crate::models::{boxes, owners, planes, range};
use crate::report::Counts;
use crate::source::Point;

/// More sides than a brush of any compiler has. A brush is cut in a time that grows with the square of them.
pub(crate) const MOST_SIDES: usize = 512;

/// A convex volume of a map.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Its number in the map.
    pub(crate) number: usize,
    /// The model that it belongs to.
    pub(crate) model: usize,
    /// Its `CONTENTS_` flags.
    pub(crate) contents: u32,
    /// The shader that gives them (Quake III).
    pub(crate) look: Option<usize>,
    pub(crate) sides: Vec<PieceSide>,
}

/// A side of a piece, in the place that it has in the map.
#[derive(Clone, Debug)]
pub(crate) struct PieceSide {
    /// The number of its record.
    pub(crate) number: usize,
    pub(crate) normal: [f32; 3],
    pub(crate) distance: f32,
    /// Its texinfo or shader.
    pub(crate) look: Option<usize>,
    /// Its corners.
    pub(crate) ring: Vec<Point>,
}

impl PieceSide {
    pub(crate) fn plane(&self) -> Plane {
        Plane { normal: self.normal.map(f64::from), distance: f64::from(self.distance) }
    }
}

/// Whether a map keeps its brushes.
pub(crate) fn has_brushes(map: &Bsp<'_>) -> bool {
    let has = |role: Role| map.records(role).is_ok_and(|records| !records.is_empty());
    has(Role::Brushes) && has(Role::BrushSides)
}

struct Sides<'r> {
    plane: Column<'r>,
    look: Column<'r>,
    bevel: Option<Column<'r>>,
}

impl<'r> Sides<'r> {
    fn new(sides: &'r Records<'_>) -> Result<Self> {
        let [plane] = sides.columns(["plane"])?;
        let look = match sides.column("texinfo").ok() {
            Some(look) => look,
            None => sides.columns(["shader"])?[0],
        };
        Ok(Sides { plane, look, bevel: sides.column("bevel").ok() })
    }

    /// The flag is the lowest byte; another byte beside it may say other things.
    fn is_bevel(&self, side: usize) -> bool {
        self.bevel.is_some_and(|bevel| bits(bevel.get(side)) & 0xFF != 0)
    }
}

/// The brushes of a map.
pub(crate) fn read(map: &Bsp<'_>, contents_of_look: impl Fn(usize) -> u32, counts: &mut Counts) -> Result<Vec<Piece>> {
    let (brushes, sides) = (map.records(Role::Brushes)?, map.records(Role::BrushSides)?);
    let planes = planes(map)?;
    let [first, count] = brushes.columns(["first_side", "side_count"])?;
    let (contents, shader) = (brushes.column("contents").ok(), brushes.column("shader").ok());
    let columns = Sides::new(&sides)?;
    let owners = owners(map, brushes.len())?;
    // Brushes of a damaged map may all name the same sides.
    let mut left = sides.len().saturating_mul(2);
    let (mut found, mut homeless) = (Vec::with_capacity(brushes.len()), Vec::new());
    for (number, owner) in owners.into_iter().enumerate() {
        let Some(range) = range(first.get(number), count.get(number), sides.len()) else {
            counts.leave_out("brush", "its sides do not exist", number);
            continue;
        };
        if range.len() > MOST_SIDES {
            counts.leave_out("brush", "it has too many sides", number);
            continue;
        }
        let Some(more) = left.checked_sub(range.len()) else {
            counts.leave_out("brush", "it has sides of other brushes", number);
            continue;
        };
        left = more;
        if range.is_empty() {
            // Compilers write some of these for what bounds nothing.
            counts.note("brush", "it has no sides", number);
            continue;
        }
        let contents = match (contents, shader) {
            (Some(contents), _) => bits(contents.get(number)),
            (None, Some(shader)) => shader.index(number).map_or(0, &contents_of_look),
            (None, None) => 0,
        };
        let mut all = Vec::with_capacity(range.len());
        let mut is_whole = true;
        for side in range {
            match columns.plane.below(side, planes.len()).map(|plane| planes[plane]) {
                Some((normal, distance)) => all.push(PieceSide {
                    number: side,
                    normal,
                    distance,
                    look: columns.look.index(side),
                    ring: Vec::new(),
                }),
                None => is_whole = false,
            }
        }
        if !is_whole {
            counts.leave_out("brush", "a plane of it does not exist", number);
            continue;
        }
        let is_bevel: Vec<bool> = all.iter().map(|side| columns.is_bevel(side.number)).collect();
        match bounded(all, &is_bevel, counts) {
            Ok(sides) => {
                if owner.is_none() {
                    homeless.push(found.len());
                }
                let model = owner.unwrap_or(0);
                let look = shader.and_then(|shader| shader.index(number));
                found.push(Piece { number, model, contents, look, sides });
            }
            // What a compiler has lost bounds nothing in the game.
            Err(why) if owner.is_none() => counts.note("brush", why, number),
            Err(why) => counts.leave_out("brush", why, number),
        }
    }
    find_homes(map, &mut found, &homeless, counts);
    Ok(found)
}

/// Gives brushes that are in no leaf to models without brushes whose boxes they are in: compilers leave leafs of some
/// triggers empty. The game never meets the others, and in the world they would be where nothing is.
fn find_homes(map: &Bsp<'_>, pieces: &mut Vec<Piece>, homeless: &[usize], counts: &mut Counts) {
    let is_homeless: HashSet<usize> = homeless.iter().copied().collect();
    let owned = pieces.iter().enumerate().filter(|(at, _)| !is_homeless.contains(at));
    let has_brushes: HashSet<usize> = owned.map(|(_, piece)| piece.model).chain([0]).collect();
    let limits = boxes(map);
    let empty: Vec<usize> = (0..limits.len()).filter(|model| !has_brushes.contains(model)).collect();
    let wide = |model: &usize| grown(limits[*model].map(|corner| corner.map(f64::from)), 2.0);
    let homes = Boxes::new(empty.iter().map(wide).collect());
    let mut lost = HashSet::new();
    for at in homeless {
        let own = of_points(pieces[*at].sides.iter().flat_map(|side| &side.ring));
        let is_in = |home: &usize| {
            let [mins, maxs] = wide(&empty[*home]);
            (0..3).all(|axis| mins[axis] <= own[0][axis] && own[1][axis] <= maxs[axis])
        };
        match homes.within(own).take(64).filter(is_in).min() {
            Some(home) => pieces[*at].model = empty[home],
            None => {
                lost.insert(pieces[*at].number);
                counts.leave_out("brush", "it is in no leaf: the game never meets it", pieces[*at].number);
            }
        }
    }
    pieces.retain(|piece| !lost.contains(&piece.number));
}

/// The sides that bound a volume, with their corners.
pub(crate) fn bounded(
    mut sides: Vec<PieceSide>,
    is_bevel: &[bool],
    counts: &mut Counts,
) -> std::result::Result<Vec<PieceSide>, &'static str> {
    if !sides.iter().all(|side| side.plane().is_finite()) {
        return Err("a plane of it has no direction");
    }
    let all = sides.len();
    let mut own = Vec::with_capacity(all);
    let mut bevels = is_bevel.iter();
    sides.retain(|side| {
        let is_own = !bevels.next().copied().unwrap_or(false);
        if is_own {
            own.push(side.plane());
        }
        is_own
    });
    if sides.len() < 4 {
        return Err("it has fewer than four sides");
    }
    let rings = faces(&own);
    if rings.iter().any(|ring| is_open(ring)) {
        return Err("its sides do not close");
    }
    sides.iter_mut().zip(rings).for_each(|(side, ring)| side.ring = ring);
    sides.retain(|side| is_face(&side.ring));
    counts.report.bevel_count += all - sides.len();
    match sides.len() < 4 {
        true => Err("its sides bound no volume"),
        false => Ok(sides),
    }
}
