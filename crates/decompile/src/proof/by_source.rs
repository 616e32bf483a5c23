//! The models of a map as volumes of a source.

use std::collections::{HashMap, VecDeque};

use bspkit::dialect::Role;
use bspkit::{Bsp, Result};

use super::by_map::ByTextures;
use super::space::{Space, Volume};
use crate::boxes::Box3;
use crate::geometry::mean;
use crate::looks::Look;
use crate::materials;
use crate::pieces;
use crate::report::Counts;
use crate::source::{Brush, Entity, Point, Source};
use crate::tools::{Family, Flags};

/// The volumes of each model.
pub(super) struct Models {
    spaces: Vec<Option<Space>>,
    /// Whether the entity of a model has curves.
    curved: Vec<bool>,
    /// The box of the world.
    pub(super) world: Box3,
}

impl Models {
    pub(super) fn new(map: &Bsp<'_>, source: &Source, flags: &Flags, looks: &[Look]) -> Result<Self> {
        let count = map.records(Role::Models)?.len();
        let contents = Contents::new(map, flags, looks)?;
        let mut volumes: Vec<Option<Vec<Volume>>> = (0..count).map(|_| None).collect();
        if let Some(world) = volumes.first_mut() {
            *world = Some(Vec::new());
        }
        let mut curved = vec![false; count];
        let owners = owners(map, source)?;
        for (at, entity) in source.entities.iter().enumerate() {
            let model = owners.get(at).copied().flatten();
            let (model, origin) = match model {
                Some(model) if model > 0 => (model, origin(entity, flags)),
                // Brushes of entities that have no model are the world's.
                _ => (0, [0.0; 3]),
            };
            let Some(own) = volumes.get_mut(model) else { continue };
            curved[model] |= !entity.patches.is_empty();
            if own.as_ref().is_some_and(|_| model > 0) {
                // Several entities have this model; the first one shows it.
                continue;
            }
            let brushes = entity.brushes.iter().filter(|brush| !is_origin(brush, flags));
            // Of a brush with a displacement compilers take the face alone.
            let is_face = |brush: &Brush| brush.sides.iter().any(|side| side.displacement.is_some());
            let class = entity.class().to_ascii_lowercase();
            let own_contents = |brush: &Brush| match () {
                () if is_face(brush) => 0,
                // Compilers go by the class alone.
                () if class.starts_with(b"func_areaportal") => flags.contents("AREAPORTAL"),
                () => contents.of(model, brush),
            };
            let made = brushes.filter_map(|brush| Volume::of(brush, own_contents(brush), origin));
            own.get_or_insert_default().extend(made);
        }
        let spaces: Vec<_> = volumes.into_iter().map(|volumes| volumes.map(Space::new)).collect();
        let world = spaces.first().and_then(Option::as_ref).and_then(Space::limits).unwrap_or_default();
        Ok(Models { spaces, curved, world })
    }

    pub(super) fn get(&self, model: usize) -> Option<&Space> {
        self.spaces.get(model)?.as_ref()
    }

    pub(super) fn has_curves(&self, model: usize) -> bool {
        self.curved.get(model).is_some_and(|is_curved| *is_curved)
    }

    pub(super) fn len(&self) -> usize {
        self.spaces.len()
    }

    pub(super) fn left_out(&self) -> usize {
        self.spaces.iter().filter(|space| space.is_none()).count()
    }
}

/// The model of each entity of the source. Those with models are, class by class, in the order that the map has them;
/// compilers take others away, and a source has more of them at its end.
fn owners(map: &Bsp<'_>, source: &Source) -> Result<Vec<Option<usize>>> {
    let mut of_class: HashMap<Vec<u8>, VecDeque<usize>> = HashMap::new();
    for (at, entity) in source.entities.iter().enumerate().skip(1) {
        if !entity.brushes.is_empty() || !entity.patches.is_empty() {
            of_class.entry(entity.class().to_ascii_lowercase()).or_default().push_back(at);
        }
    }
    let mut owners = vec![None; source.entities.len()];
    let models = map.role(Role::Models).map(|slot| slot.name.clone()).unwrap_or_default();
    for entity in map.entities()?.iter() {
        let values = entity.record_values(map.dialect());
        let number = values.iter().find(|value| value.reference.lump == models).map(|value| value.number);
        let Some(model) = number.and_then(|number| usize::try_from(number).ok()).filter(|model| *model > 0) else {
            continue;
        };
        let class = entity.class().unwrap_or_default().to_ascii_lowercase();
        if let Some(at) = of_class.get_mut(&class).and_then(VecDeque::pop_front) {
            owners[at] = Some(model);
        }
    }
    Ok(owners)
}

/// Whether a brush is only there to say where its entity turns.
fn is_origin(brush: &Brush, flags: &Flags) -> bool {
    let bit = flags.contents("ORIGIN");
    let says = |side: &crate::source::Side| match side.numbers {
        Some(numbers) if flags.family == Family::Quake2 => numbers.contents.cast_unsigned() & bit != 0,
        _ => {
            let name = side.texture.to_ascii_lowercase();
            name.ends_with(b"origin")
        }
    };
    !brush.sides.is_empty() && brush.sides.iter().all(says)
}

/// Where an entity is: the middle of its origin brush, or its key.
fn origin(entity: &Entity, flags: &Flags) -> Point {
    if let Some(brush) = entity.brushes.iter().find(|brush| is_origin(brush, flags)) {
        let planes = brush.sides.iter().filter_map(|side| crate::geometry::Plane::of_points(side.points));
        let rings = crate::geometry::faces(&planes.collect::<Vec<_>>());
        let corners: Vec<Point> = rings.into_iter().flatten().collect();
        return mean(&corners);
    }
    let parts = entity.get(b"origin").and_then(|value| std::str::from_utf8(value).ok());
    let numbers: Vec<f64> = parts.unwrap_or_default().split_whitespace().filter_map(|part| part.parse().ok()).collect();
    numbers.try_into().unwrap_or_default()
}

/// The contents that a compiler gives a brush of the source.
enum Contents<'r> {
    /// The names of its textures do (Quake, GoldSrc).
    Names,
    /// The text says them (Quake II): what says none is solid, but for hints.
    Said { none: u32, solid: u32, hints: u32 },
    /// The shader on its first side does (Quake III).
    Shader(&'r [Look]),
    /// The materials do (Source).
    Textures(ByTextures),
}

impl<'r> Contents<'r> {
    fn new(map: &Bsp<'_>, flags: &Flags, looks: &'r [Look]) -> Result<Self> {
        Ok(match flags.family {
            Family::Quake => Contents::Names,
            Family::Quake2 => {
                let bits = |names: &[&str]| names.iter().fold(0, |bits, name| bits | flags.contents(name));
                Contents::Said {
                    none: !bits(&["DETAIL", "TRANSLUCENT"]),
                    solid: bits(&["SOLID"]).max(1),
                    hints: flags.surface("HINT") | flags.surface("SKIP"),
                }
            }
            Family::Quake3 => Contents::Shader(looks),
            Family::Source => {
                let mut all = ByTextures::default();
                for piece in pieces::read(map, |_| 0, &mut Counts::default())? {
                    let looks = piece.sides.iter().filter_map(|side| looks.get(side.look?));
                    let names = looks.map(|look| look.name.to_ascii_lowercase()).collect();
                    all.add(piece.model, names, piece.contents);
                }
                Contents::Textures(all)
            }
        })
    }

    fn of(&self, model: usize, brush: &Brush) -> u32 {
        match self {
            Contents::Names => crate::contents::of_brush(brush),
            Contents::Said { none, solid, hints } => {
                let numbers = brush.sides.first().and_then(|side| side.numbers).unwrap_or_default();
                let own = numbers.contents.cast_unsigned();
                let is_hint = numbers.flags.cast_unsigned() & hints != 0;
                if own & none == 0 && !is_hint { own | solid } else { own }
            }
            Contents::Shader(looks) => {
                let Some(first) = brush.sides.first() else { return 0 };
                let is_its = |look: &&Look| {
                    let name = look.name.strip_prefix(b"textures/").unwrap_or(&look.name);
                    name.eq_ignore_ascii_case(&first.texture)
                };
                looks.iter().find(is_its).map_or(1, |look| look.contents)
            }
            Contents::Textures(all) => {
                let names = || brush.sides.iter().map(|side| &side.texture[..]);
                materials::said_by_all(names())
                    .unwrap_or_else(|| all.of(model, names().map(<[u8]>::to_ascii_lowercase).collect()))
            }
        }
    }
}
