//! The source of a map from its entities and pieces.

use std::collections::{HashMap, HashSet};

use bspkit::{Bsp, Error, ErrorKind, Result};

use crate::drawn::{self, Drawn};
use crate::dress::{Dress, Sizes, around};
use crate::entities::{self, Given, Taken};
use crate::hammer;
use crate::looks;
use crate::materials;
use crate::patches::{self, moved};
use crate::pieces::{self, Piece};
use crate::report::{Counts, Report};
use crate::solve::Solver;
use crate::source::{Brush, Entity, Format, Patch, Point, Source};
use crate::tools::{Family, Flags};
use crate::trees;

/// Half the size of the brushes that are drawn around an origin.
const HALF: f64 = 8.0;

/// What to make of a map.
///
/// ```
/// use bspkit_decompile::{Options, decompile, source::Format};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let options = Options { format: Some(Format::Quake), ..Options::default() };
/// assert_eq!(decompile(&map, &options)?.format, Format::Quake);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Options<'o> {
    /// The form of the text; `None` for the one that loses nothing in the map's family: [`Format::Vmf`] for Source,
    /// [`Format::BrushDef`] for Quake III and its relatives, [`Format::Valve`] for all others.
    pub format: Option<Format>,
    /// Columns and rows of textures by the names that sources have. Quake III needs them for every format but
    /// [`Format::BrushDef`], and the other families for that one alone.
    pub sizes: Option<Sizes<'o>>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("format", &self.format).finish_non_exhaustive()
    }
}

/// The source of a map.
///
/// ```
/// use bspkit_decompile::{Options, decompile};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let found = decompile(&map, &Options::default())?;
/// assert!(found.source.entities[0].brushes.len() > 10);
/// assert!(found.text().starts_with(b"// entity 0\n{\n\"classname\" \"worldspawn\"\n"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decompiled {
    /// The source.
    pub source: Source,
    /// The form that its alignments have.
    pub format: Format,
    /// What it holds, and what is left out.
    pub report: Report,
}

impl Decompiled {
    /// The text of the source.
    pub fn text(&self) -> Vec<u8> {
        crate::source::write(&self.source, self.format)
    }
}

/// Brings a map back to its source.
///
/// What cannot be brought back is left out, and the [`Report`] names it.
///
/// # Errors
/// [`ErrorKind::Malformed`] if nothing can be brought back; [`ErrorKind::Unsupported`] or [`ErrorKind::NotFound`] if
/// structs that are needed are not known or not there.
pub fn decompile(map: &Bsp<'_>, options: &Options<'_>) -> Result<Decompiled> {
    let family = family(map);
    let flags = Flags::new(map, family);
    let format = options.format.unwrap_or(match family {
        Family::Source => Format::Vmf,
        Family::Quake3 => Format::BrushDef,
        Family::Quake | Family::Quake2 => Format::Valve,
    });
    let mut counts = Counts::default();
    counts.report.dialect = map.dialect().name;
    counts.report.format = format.name();
    let mut dress = Dress::new(format, flags, looks::read(map), options.sizes);
    let mut drawn = drawn_of(map, family, &dress.looks, &mut counts)?;
    let pieces = pieces_of(map, family, &drawn, &mut dress, &mut counts)?;
    let (given, taken) = entities::read(map, family)?;
    entities::name_damage(map, &mut counts);
    let mut patches = Vec::new();
    if family == Family::Quake3 {
        dress.solver = Some(Solver::new(std::mem::take(&mut drawn), &dress.looks));
        patches = patches::read(map, &dress.looks, &mut counts)?;
        patches.sort_by_key(|(model, ..)| *model);
        if format == Format::Vmf {
            (0..patches.len()).for_each(|patch| counts.leave_out("patch", "a .vmf has no curves", patch));
            patches.clear();
        }
    }
    // Larger numbers than editors give are damage.
    let ids = given.iter().filter_map(|entity| entity.id).filter(|id| *id < 1 << 24);
    dress.keep_ids(if format == Format::Vmf { ids.max().unwrap_or(0) } else { 0 });
    let mut source = Source { entities: put_together(map, given, &taken, &pieces, &patches, &mut dress, &mut counts) };
    if family == Family::Source && format == Format::Vmf {
        hammer::add(map, &drawn, &mut source.entities, &taken, &mut dress, &mut counts)?;
    } else if family == Family::Source {
        hammer::leave_out(map, &mut counts);
    }
    if let Some(solver) = &dress.solver {
        let surfaces = solver.unexplained();
        surfaces.into_iter().for_each(|surface| {
            counts.leave_out("surface", "it lies on no brush: a model or terrain that a compiler merged", surface);
        });
    }
    // Medal of Honor: a source names static models as entities, and terrain as patches of its own.
    let static_models = map.any_records("STATICMODELDEF").map_or(0, |all| all.len());
    (0..static_models).for_each(|model| counts.leave_out("static model", "its entity is not made", model));
    if map.slot("TERRAIN").is_ok_and(|terrain| terrain.length > 0) {
        counts.leave_out("lump", "TERRAIN: its structs are not known", 0);
    }
    if counts.report.brush_count == 0 {
        let why = counts.why_no_brush().map_or_else(String::new, |why| format!(": {why}"));
        return Err(Error::new(ErrorKind::Malformed, format!("no brush of the map can be brought back{why}")));
    }
    if let Some(world) = source.entities.first_mut().filter(|_| format != Format::Vmf) {
        name_form(world, format);
    }
    counts.report.entity_count = source.entities.len();
    Ok(Decompiled { source, format, report: counts.finish() })
}

/// Editors and compilers know the form of a `.map` by a key of the world, which may be that of another form in the map.
fn name_form(world: &mut Entity, format: Format) {
    const KEY: &[u8] = b"mapversion";
    const VALVE: &[u8] = b"220";
    let is_valve = format == Format::Valve;
    world.pairs.retain(|(key, _)| is_valve || key != KEY);
    let own = world.pairs.iter_mut().filter(|(key, _)| key == KEY);
    let count = own.map(|(_, value)| *value = VALVE.to_vec()).count();
    if is_valve && count == 0 {
        world.pairs.push((KEY.to_vec(), VALVE.to_vec()));
    }
}

/// What is drawn of a map. Faces that cannot be read are named.
fn drawn_of(map: &Bsp<'_>, family: Family, looks: &[looks::Look], counts: &mut Counts) -> Result<Vec<Drawn>> {
    let faces = match drawn::read(map, looks) {
        Ok(faces) => faces,
        // Brushes say their textures there.
        Err(_) if matches!(family, Family::Quake2 | Family::Source) => {
            counts.leave_out("lump", "none of the faces of the map can be read", 0);
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let kind = if family == Family::Quake3 { "surface" } else { "face" };
    faces.unread.into_iter().for_each(|(face, why)| counts.leave_out(kind, why, face));
    Ok(faces.drawn)
}

/// The convex volumes of a map: the brushes that it keeps, or what its trees give.
fn pieces_of(
    map: &Bsp<'_>,
    family: Family,
    drawn: &[Drawn],
    dress: &mut Dress<'_>,
    counts: &mut Counts,
) -> Result<Vec<Piece>> {
    match (pieces::has_brushes(map), family) {
        (true, _) => {
            let contents = |look: usize| dress.looks.get(look).map_or(0, |look: &looks::Look| look.contents);
            let mut pieces = pieces::read(map, contents, counts)?;
            if family == Family::Source {
                materials::mend(&mut pieces, &mut dress.looks, counts);
            }
            Ok(pieces)
        }
        (false, Family::Quake) => trees::read(map, drawn, &mut dress.looks, counts),
        (false, _) => Err(Error::new(ErrorKind::Unsupported, "the map has no brushes")),
    }
}

/// By what a map has: shaders on sides, materials, brushes.
pub(crate) fn family(map: &Bsp<'_>) -> Family {
    let has = |lump: &str| map.slot(lump).is_ok();
    match (has("SHADERS"), has("TEXDATA"), has("BRUSHES")) {
        (true, ..) => Family::Quake3,
        (_, true, _) => Family::Source,
        (.., true) => Family::Quake2,
        _ => Family::Quake,
    }
}

/// Entities with their brushes.
fn put_together(
    map: &Bsp<'_>,
    given: Vec<Given>,
    taken: &[Taken],
    pieces: &[Piece],
    patches: &[(usize, usize, Patch)],
    dress: &mut Dress<'_>,
    counts: &mut Counts,
) -> Vec<Entity> {
    let mut of_model: Vec<Vec<&Piece>> = Vec::new();
    for piece in pieces {
        if of_model.len() <= piece.model {
            of_model.resize(piece.model + 1, Vec::new());
        }
        of_model[piece.model].push(piece);
    }
    let (mut of_entity, mut classes) = (HashMap::new(), Vec::new());
    if let Some(world) = of_model.first_mut() {
        for (entity, piece) in take_portals(map, world, &given, taken, dress, counts) {
            of_entity.entry(entity).or_insert_with(Vec::new).push(piece);
        }
        if dress.format == Format::Vmf || dress.flags.family == Family::Source {
            let class = |piece: &&Piece| hammer::class_of(piece, dress);
            classes = world.iter().filter_map(|piece| Some((class(piece)?, *piece))).collect();
            world.retain(|piece| class(piece).is_none());
        }
    }
    let mut ids = HashSet::new();
    let mut is_used = vec![false; of_model.len()];
    // Entities of a damaged map may all have the same model.
    let mut left = pieces.len().saturating_mul(2);
    let mut all = Vec::with_capacity(given.len());
    for (at, mut given) in given.into_iter().enumerate() {
        let mut brushes = Vec::new();
        if given.is_dangling {
            counts.leave_out("model key", "the model that it names does not exist", at);
        }
        let own = given.model.and_then(|model| Some((model, of_model.get(model)?)));
        if let Some((model, own)) = own {
            if own.len() > left {
                counts.leave_out("entity", "its model is that of too many others", at);
                given.model = None;
            } else {
                left -= own.len();
                is_used[model] = true;
                brushes.extend(own.iter().map(|piece| dress.brush(piece, given.origin, counts)));
            }
        }
        let own = of_entity.remove(&at).unwrap_or_default();
        brushes.extend(own.into_iter().map(|piece| dress.brush(piece, [0.0; 3], counts)));
        let curved = given.model.map(|model| curved(model, patches, given.origin, dress, counts)).unwrap_or_default();
        if let Some(origin) = origin_brush(&mut given, brushes.is_empty() && curved.is_empty(), dress, counts) {
            brushes.push(origin);
        }
        let connections = if dress.format == Format::Vmf { hammer::connections(&mut given.pairs) } else { Vec::new() };
        let own = given.id.filter(|id| dress.format == Format::Vmf && *id > 0 && *id < 1 << 24 && ids.insert(*id));
        let id = own.unwrap_or_else(|| dress.id());
        if dress.format == Format::Vmf {
            given.comments.drain(..).for_each(|_| counts.leave_out("comment", "a .vmf has none", at));
        }
        all.push(Entity { id, comments: given.comments, pairs: given.pairs, connections, brushes, patches: curved });
    }
    for (class, piece) in classes {
        let brush = dress.brush(piece, [0.0; 3], counts);
        all.push(hammer::with_brush(class, brush, dress));
    }
    for (model, pieces) in of_model.iter().enumerate().filter(|(model, _)| !is_used[*model]) {
        if !pieces.is_empty() {
            counts.leave_out("model", "no entity has it", model);
        }
    }
    all
}

/// Takes the brushes of area portals from the world: they are those of entities, by their numbers. Brushes whose entity
/// is not known stay.
fn take_portals<'p>(
    map: &Bsp<'_>,
    world: &mut Vec<&'p Piece>,
    given: &[Given],
    taken: &[Taken],
    dress: &Dress<'_>,
    counts: &mut Counts,
) -> Vec<(usize, &'p Piece)> {
    let bit = dress.flags.contents("AREAPORTAL");
    let entities: Vec<usize> = given.iter().enumerate().filter(|(_, own)| is_portal(own)).map(|(at, _)| at).collect();
    let all: Vec<&Piece> = world.iter().filter(|piece| piece.contents & bit != 0).copied().collect();
    if entities.is_empty() || all.is_empty() {
        return Vec::new();
    }
    let by_records = hammer::Portals::new(map, given, taken, &all);
    // Compilers keep the order of brushes.
    let in_order = all.len() == entities.len();
    let entity = |at: usize, piece: &Piece| by_records.of(piece.number).or_else(|| in_order.then(|| entities[at]));
    let found: Vec<_> = all.iter().enumerate().filter_map(|(at, piece)| Some((entity(at, piece)?, *piece))).collect();
    let numbers: HashSet<usize> = found.iter().map(|(_, piece)| piece.number).collect();
    all.iter().filter(|piece| !numbers.contains(&piece.number)).for_each(|piece| {
        counts.note("portal", "its entity is not known; it is written with the world", piece.number);
    });
    world.retain(|piece| !numbers.contains(&piece.number));
    found
}

fn is_portal(given: &Given) -> bool {
    const CLASS: &[u8] = b"func_areaportal";
    given.get(b"classname").is_some_and(|own| own.get(..CLASS.len()).is_some_and(|own| own.eq_ignore_ascii_case(CLASS)))
}

/// The patches of a model, at its place.
fn curved(
    model: usize,
    patches: &[(usize, usize, Patch)],
    origin: Point,
    dress: &Dress<'_>,
    counts: &mut Counts,
) -> Vec<Patch> {
    let start = patches.partition_point(|(own, ..)| *own < model);
    let own = patches[start..].iter().take_while(|(own, ..)| *own == model);
    let own =
        own.map(|(_, look, patch)| Patch { texture: dress.name(&dress.looks[*look].name), ..moved(patch, origin) });
    let own: Vec<Patch> = own.collect();
    counts.report.patch_count += own.len();
    own
}

/// The brush around the origin of a model that compilers move: they take it away and write the key.
fn origin_brush(given: &mut Given, is_empty: bool, dress: &mut Dress<'_>, counts: &mut Counts) -> Option<Brush> {
    if dress.flags.family == Family::Source || is_empty || given.origin == [0.0; 3] {
        return None;
    }
    given.pairs.retain(|(key, _)| !key.eq_ignore_ascii_case(b"origin"));
    let contents = dress.flags.contents("ORIGIN");
    Some(dress.made(around(given.origin, HALF), contents, counts))
}
