//! What a source of Hammer has besides brushes: displacements, overlays, props and more, which a map keeps in lumps of
//! their own.

mod displacements;
mod overlays;
mod places;
mod portals;

use std::collections::HashMap;

use bspkit::bytes::bits;
use bspkit::content::entities::Output;
use bspkit::{Bsp, Column, Result};

use crate::boxes;
use crate::drawn::Drawn;
use crate::dress::{Dress, Placed};
use crate::entities::{Given, Taken};
use crate::geometry::{clip, dot, double_area};
use crate::pieces::Piece;
use crate::report::Counts;
use crate::solve::edges;
use crate::source::{Brush, Entity};

pub(crate) use portals::Portals;

/// How far a face may be off its side, in units.
const OFF: f64 = 0.55;

/// Pairs of keys and values.
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// A pair of a key and what is printed.
fn pair(key: &str, value: impl std::fmt::Display) -> (Vec<u8>, Vec<u8>) {
    (key.as_bytes().to_vec(), value.to_string().into_bytes())
}

/// Numbers as Hammer writes them.
fn list(values: impl IntoIterator<Item = f32>) -> String {
    // Minus zero has no use.
    let all: Vec<String> = values.into_iter().map(|value| (value + 0.0).to_string()).collect();
    all.join(" ")
}

/// Whether all numbers of a record in these columns are finite: of damaged maps others are.
fn are_finite(columns: &[&Column<'_>], record: usize) -> bool {
    columns.iter().all(|column| (0..column.items()).all(|item| column.float(record, item).is_finite()))
}

/// The outputs of an entity, which are in a block of their own.
pub(crate) fn connections(pairs: &mut Pairs) -> Pairs {
    let is_output = |(_, value): &(Vec<u8>, Vec<u8>)| Output::parse(value).is_some();
    let (outputs, others) = std::mem::take(pairs).into_iter().partition(is_output);
    *pairs = others;
    outputs
}

/// An entity with brushes of the world that the compiler took from it.
pub(crate) fn with_brush(class: &str, brush: Brush, dress: &mut Dress<'_>) -> Entity {
    Entity { id: dress.id(), pairs: vec![pair("classname", class)], brushes: vec![brush], ..Entity::default() }
}

/// The class that brushes of the world with these contents were of, where sides do not say contents; `None` for those
/// of the world itself.
pub(crate) fn class_of(piece: &Piece, dress: &Dress<'_>) -> Option<&'static str> {
    let has = |name: &str| piece.contents & dress.flags.contents(name) != 0;
    match () {
        () if has("LADDER") => Some("func_ladder"),
        () if has("DETAIL") => Some("func_detail"),
        () => None,
    }
}

/// Adds what a map has in lumps of its own.
pub(crate) fn add(
    map: &Bsp<'_>,
    faces: &[Drawn],
    entities: &mut Vec<Entity>,
    taken: &[Taken],
    dress: &mut Dress<'_>,
    counts: &mut Counts,
) -> Result<()> {
    let made = displacements::read(map, faces, dress, counts);
    if let Some(world) = entities.first_mut() {
        counts.report.displacement_count += made.len();
        world.brushes.extend(made);
    }
    portals::occluders(map, entities, taken, dress, counts);
    let sides = Sides::new(std::mem::take(&mut dress.placed));
    smooth(map, faces, &sides, entities)?;
    overlays::add(map, faces, &sides, entities, dress, counts);
    places::cubemaps(map, entities, dress);
    places::props(map, entities, dress, counts);
    if map.any_records("DISP_MULTIBLEND").is_some_and(|blends| !blends.is_empty()) {
        let displacements = map.any_records("DISPINFO").map_or(0, |all| all.len());
        (0..displacements)
            .for_each(|number| counts.note("displacement", "how its four textures blend is not written", number));
    }
    without_shadows(map, counts)?;
    if let Some(objects) = map.any_records("game:dprp.objects") {
        counts.note("details", "compilers scatter them over materials", objects.len());
    }
    Ok(())
}

/// Names the faces on which nothing that moves has a shadow.
fn without_shadows(map: &Bsp<'_>, counts: &mut Counts) -> Result<()> {
    let records = map.drawn_faces()?;
    let Ok(primitives) = records.column("primitive_count") else { return Ok(()) };
    (0..records.len())
        .filter(|face| bits(primitives.get(*face)) & 0x8000 != 0)
        .for_each(|face| counts.note("face", "that nothing has a shadow on it is not written", face));
    Ok(())
}

/// Gives sides the smoothing groups of the faces on them.
fn smooth(map: &Bsp<'_>, faces: &[Drawn], sides: &Sides, entities: &mut [Entity]) -> Result<()> {
    let records = map.drawn_faces()?;
    let Ok(groups) = records.column("smoothing_groups") else { return Ok(()) };
    let mut found: HashMap<u32, u32> = HashMap::new();
    for face in faces {
        let own = bits(groups.get(face.number));
        let on = if own == 0 { Vec::new() } else { sides.of(face) };
        on.into_iter().for_each(|side| *found.entry(side).or_default() |= own);
    }
    let brushes = entities.iter_mut().flat_map(|entity| &mut entity.brushes);
    for side in brushes.flat_map(|brush| &mut brush.sides) {
        side.smoothing_groups = found.get(&side.id).copied().unwrap_or(side.smoothing_groups);
    }
    Ok(())
}

/// Names what only a `.vmf` has.
pub(crate) fn leave_out(map: &Bsp<'_>, counts: &mut Counts) {
    let kinds = [
        ("displacement", "DISPINFO"),
        ("overlay", "OVERLAYS"),
        ("overlay", "OVERLAYS.overlays"),
        ("cube map", "CUBEMAPS"),
        ("prop", "game:sprp.props"),
    ];
    for (kind, lump) in kinds {
        let count = map.any_records(lump).map_or(0, |records| records.len());
        (0..count).for_each(|number| counts.leave_out(kind, "only a .vmf has it", number));
    }
}

/// The sides of the source by their places.
struct Sides {
    all: Vec<Placed>,
    boxes: boxes::Boxes,
}

impl Sides {
    fn new(all: Vec<Placed>) -> Self {
        let boxes = boxes::Boxes::new(all.iter().map(|side| boxes::of_points(&side.ring)).collect());
        Sides { all, boxes }
    }

    /// The numbers of the sides that a face lies on.
    fn of(&self, face: &Drawn) -> Vec<u32> {
        let near = self.boxes.within(boxes::grown(boxes::of_points(&face.ring), OFF)).map(|at| &self.all[at]);
        let lies_on = |side: &&Placed| {
            side.model == face.model
                && dot(side.plane.normal, face.plane.normal) > 0.999
                && face.ring.iter().all(|corner| side.plane.height(*corner).abs() < OFF)
                && {
                    let cuts = edges(&side.ring, &side.plane, 0.0);
                    let cut = |ring: Vec<_>, plane| if ring.is_empty() { ring } else { clip(&ring, plane) };
                    double_area(&cuts.iter().fold(face.ring.clone(), cut)) > 0.1
                }
        };
        near.filter(lies_on).map(|side| side.id).collect()
    }
}

/// The entities of a class whose numbers were taken, with the numbers.
fn numbers(entities: &[Given], taken: &[Taken], class: &[u8], key: &[u8]) -> Vec<(usize, i64)> {
    let numbered = entities.iter().enumerate().filter(|(_, given)| {
        given
            .get(b"classname")
            .is_some_and(|own| own.get(..class.len()).is_some_and(|start| start.eq_ignore_ascii_case(class)))
    });
    numbered.filter_map(|(at, _)| Some((at, crate::entities::taken_number(taken, at, key)?))).collect()
}
