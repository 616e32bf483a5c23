//! Whether a source has what points and flat faces do not show: the curves, displacements and entities of the map, as
//! its own records have them.

use std::collections::HashMap;
use std::hash::Hash;

use bspkit::Bsp;
use bspkit::bytes::integer;
use bspkit::dialect::Role;
use bspkit::dialect::quake3::Surface;
use serde::Serialize;

use super::by_source::Models;
use super::space::Space;
use crate::looks::{Look, is_made};
use crate::source::Source;

/// How exactly points and distances are compared: parts of a unit.
const PARTS: f64 = 64.0;

/// By how much shares of a texture count more than units: a texel of a usual texture.
const TEXELS: f64 = 64.0;

/// How far the box of a model may be off its brushes, in units.
const BOX: f64 = 1.5;

/// More points than any curve or displacement has.
const MOST: usize = 1 << 16;

/// Things of a kind.
///
/// ```
/// assert_eq!(bspkit_decompile::Kept::default().missing(), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Kept {
    /// How many the map has.
    pub judged: usize,
    /// How many of them the source has.
    pub agreeing: usize,
    /// How many more of them the source has; of entities those of classes that compilers do not take away.
    pub added: usize,
}

impl Kept {
    /// How many the source does not have.
    pub fn missing(&self) -> usize {
        self.judged - self.agreeing
    }

    /// Each of the source is that of one of the map.
    fn of<K: Hash + Eq>(map: impl IntoIterator<Item = K>, source: impl IntoIterator<Item = K>) -> Self {
        Kept::without(map, source, |_| false)
    }

    /// The same, where some of the source may be gone from the map.
    fn without<K: Hash + Eq>(
        map: impl IntoIterator<Item = K>,
        source: impl IntoIterator<Item = K>,
        may_be_gone: impl Fn(&K) -> bool,
    ) -> Self {
        let mut left: HashMap<K, usize> = HashMap::new();
        for key in source {
            *left.entry(key).or_default() += 1;
        }
        let mut kept = Kept::default();
        for key in map {
            kept.judged += 1;
            if let Some(count) = left.get_mut(&key).filter(|count| **count > 0) {
                *count -= 1;
                kept.agreeing += 1;
            }
        }
        kept.added = left.iter().filter(|(key, _)| !may_be_gone(key)).map(|(_, count)| count).sum();
        kept
    }

    /// Whether the source has what the map has, and nothing else of the kind.
    pub fn is_whole(&self) -> bool {
        self.missing() == 0 && self.added == 0
    }
}

/// A number in parts of a unit; `None` for one that is damaged.
fn parts(value: f64) -> Option<i32> {
    integer(bspkit::bytes::rounded((value * PARTS).round()))
}

/// Curves, by their sizes and the steps from each control point to the next, in space and on the texture: their models
/// may be moved, and whole textures added; and by their textures, where these are not made by the compiler.
pub(super) fn patches(map: &Bsp<'_>, source: &Source, looks: &[Look]) -> Kept {
    type Key = ([usize; 2], Vec<Option<i32>>);
    let key = |size: [usize; 2], points: Vec<[f64; 5]>| -> Key {
        let steps = points.windows(2).flat_map(|two| {
            (0..5).map(|axis| parts((two[1][axis] - two[0][axis]) * if axis < 3 { 1.0 } else { TEXELS }))
        });
        (size, steps.collect())
    };
    let of_source: Vec<(Key, Vec<u8>)> = source
        .entities
        .iter()
        .flat_map(|entity| &entity.patches)
        .map(|patch| (key(patch.size, patch.points.clone()), patch.texture.to_ascii_lowercase()))
        .collect();
    let mut names: HashMap<&Key, Vec<&Vec<u8>>> = HashMap::new();
    for (key, name) in &of_source {
        names.entry(key).or_default().push(name);
    }
    let mut of_map = || -> Option<Vec<(Key, Vec<u8>)>> {
        let (surfaces, vertexes) = (map.any_records(Role::Faces)?, map.any_records(Role::Vertexes)?);
        let [kind, size, first, count] =
            surfaces.columns(["kind", "patch_size", "first_vertex", "vertex_count"]).ok()?;
        let [shader] = surfaces.columns(["shader"]).ok()?;
        let [point, texture] = vertexes.columns(["point", "texture"]).ok()?;
        let curved = (0..surfaces.len()).filter(|at| kind.get(*at) == i64::from(Surface::PATCH));
        // Curves of a damaged map may all have the same points.
        let mut left = vertexes.len().saturating_mul(2);
        let curve = |at: usize| {
            let own = [0, 1].map(|axis| usize::try_from(size.item(at, axis)).unwrap_or(0));
            let points = crate::models::range(first.get(at), count.get(at), vertexes.len()).unwrap_or(0..0);
            let points = if points.len() <= left.min(MOST) { points } else { 0..0 };
            left -= points.len();
            let place = |at: usize| {
                let ([x, y, z], [s, t]) = (point.floats::<3>(at, 0), texture.floats::<2>(at, 0));
                [x, y, z, s, t].map(f64::from)
            };
            let key = key(own, points.map(place).collect());
            let name = shader.below(at, looks.len()).map(|look| plain_name(&looks[look].name)).unwrap_or_default();
            // Of a made shader the texture is not known: any is right.
            let any = names.get_mut(&key).filter(|_| is_made(&name)).and_then(Vec::pop);
            let name = any.cloned().unwrap_or(name);
            (key, name)
        };
        Some(curved.map(curve).collect())
    };
    let of_map = of_map().unwrap_or_default();
    alike(of_map, of_source.clone())
}

/// A curve: its size and steps, and its texture.
type Curve = (([usize; 2], Vec<Option<i32>>), Vec<u8>);

/// How many steps of curves are compared that are not equal.
const MOST_STEPS: usize = 1 << 24;

/// Curves whose steps are equal, or off by what rounding makes of them: a step may be at the border of two parts.
fn alike(map: Vec<Curve>, source: Vec<Curve>) -> Kept {
    let mut equal: HashMap<&Curve, usize> = HashMap::new();
    source.iter().for_each(|curve| *equal.entry(curve).or_default() += 1);
    let mut kept = Kept { judged: map.len(), ..Kept::default() };
    let mut others = Vec::new();
    for curve in &map {
        match equal.get_mut(curve).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                kept.agreeing += 1;
            }
            None => others.push(curve),
        }
    }
    let mut left: HashMap<([usize; 2], &[u8]), Vec<&Curve>> = HashMap::new();
    for (curve, count) in equal {
        left.entry((curve.0.0, &curve.1)).or_default().extend(std::iter::repeat_n(curve, count));
    }
    let mut budget = MOST_STEPS;
    let mut is_near = |one: &Curve, other: &Curve| {
        let Some(rest) = budget.checked_sub(one.0.1.len()) else { return false };
        budget = rest;
        let is_step = |(one, other): (&Option<i32>, &Option<i32>)| match (one, other) {
            (Some(one), Some(other)) => one.abs_diff(*other) <= 1,
            (one, other) => one == other,
        };
        one.0.1.len() == other.0.1.len() && one.0.1.iter().zip(&other.0.1).all(is_step)
    };
    for curve in others {
        let Some(left) = left.get_mut(&(curve.0.0, &curve.1[..])) else { continue };
        if let Some(at) = left.iter().position(|other| is_near(curve, other)) {
            left.swap_remove(at);
            kept.agreeing += 1;
        }
    }
    kept.added = left.values().map(Vec::len).sum();
    kept
}

/// The name of a shader in a source, in lower case.
pub(super) fn plain_name(name: &[u8]) -> Vec<u8> {
    let name = name.to_ascii_lowercase();
    name.strip_prefix(b"textures/").unwrap_or(&name).to_vec()
}

/// The boxes of brush models that have no tree (Quake III): those of their brushes. Models with curves are not judged.
pub(super) fn boxes(map: &Bsp<'_>, models: &Models) -> Kept {
    let mut kept = Kept::default();
    if map.role(Role::DrawIndexes).is_none() {
        return kept;
    }
    let all = crate::models::boxes(map);
    for (model, own) in all.iter().enumerate().skip(1) {
        let Some([mins, maxs]) = models.get(model).filter(|_| !models.has_curves(model)).and_then(Space::whole) else {
            continue;
        };
        let is_near = |one: &[f32; 3], other: &[f64; 3]| {
            one.iter().zip(other).all(|(one, other)| (f64::from(*one) - other).abs() < BOX)
        };
        kept.judged += 1;
        kept.agreeing += usize::from(is_near(&own[0], &mins) && is_near(&own[1], &maxs));
    }
    kept
}

/// Displacements, by their powers and the distances of their points, sorted: rows may begin at another corner.
pub(super) fn displacements(map: &Bsp<'_>, source: &Source) -> Kept {
    type Key = (u32, Vec<Option<i32>>);
    let key = |power: u32, distances: Vec<f64>| -> Key {
        let mut all: Vec<_> = distances.into_iter().map(parts).collect();
        all.sort_unstable();
        (power, all)
    };
    let sides = source.entities.iter().flat_map(|entity| &entity.brushes).flat_map(|brush| &brush.sides);
    let of_source = sides.filter_map(|side| side.displacement.as_deref());
    let of_source = of_source.map(|own| key(own.power, own.distances.clone()));
    let of_map = || -> Option<Vec<Key>> {
        let (infos, points) = (map.any_records("DISPINFO")?, map.any_records("DISP_VERTS"));
        let [power, first] = infos.columns(["power", "first_vertex"]).ok()?;
        let distance = points.as_ref().and_then(|points| points.column("distance").ok());
        let len = points.as_ref().map_or(0, |points| points.len());
        let mut left = len.saturating_mul(2);
        let grid = |at: usize| {
            let power = u32::try_from(power.get(at)).ok().filter(|power| *power <= 4).unwrap_or(0);
            let side = (1_i64 << power) + 1;
            let range = crate::models::range(first.get(at), side * side, len).unwrap_or(0..0);
            let range = if range.len() <= left { range } else { 0..0 };
            left -= range.len();
            key(power, range.filter_map(|at| Some(f64::from(distance.as_ref()?.float(at, 0)))).collect())
        };
        Some((0..infos.len()).map(grid).collect())
    };
    Kept::of(of_map().unwrap_or_default(), of_source)
}

/// Classes of which compilers may take entities away, or the beginnings of their names: what they make brushes, props,
/// overlays and light of.
const TAKEN: [&[u8]; 19] = [
    b"func_group",
    b"func_detail",
    b"func_ladder",
    b"func_instance",
    b"func_viscluster",
    b"func_areaportal",
    b"func_illusionary_visblocker",
    b"light",
    b"misc_model",
    b"misc_external_map",
    b"_",
    b"info_compile_parameters",
    b"info_hullshape",
    b"info_null",
    b"info_overlay",
    b"info_no_dynamic_shadow",
    b"info_lighting",
    b"prop_",
    b"env_cubemap",
];

/// Entities, by their classes, the world apart: compilers take the first entity for it. They give an overlay that has
/// a name another class.
pub(super) fn entities(map: &Bsp<'_>, source: &Source) -> Kept {
    let class = |(at, own): (usize, &[u8])| match own.to_ascii_lowercase() {
        own if own == b"worldspawn" => (at == 0, own),
        own if own == b"info_overlay_accessor" => (false, b"info_overlay".to_vec()),
        own => (false, own),
    };
    let Ok(entities) = map.entities() else { return Kept::default() };
    let of_map = entities.iter().map(|entity| class((entity.index(), entity.class().unwrap_or_default())));
    let of_source = source.entities.iter().enumerate().map(|(at, entity)| class((at, entity.class())));
    Kept::without(of_map, of_source, |(_, own)| TAKEN.iter().any(|taken| own.starts_with(taken)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(steps: &[i32], texture: &str) -> Curve {
        (([3, 3], steps.iter().copied().map(Some).collect()), texture.as_bytes().to_vec())
    }

    /// Rounding makes a step one part longer or shorter, not two, and no curve is counted twice.
    #[test]
    fn curves_are_the_same_but_for_rounding() {
        let kept = |map: Vec<Curve>, source: Vec<Curve>| {
            let kept = alike(map, source);
            (kept.agreeing, kept.missing(), kept.added)
        };
        let one = || curve(&[10, 20], "pipe");
        assert_eq!(kept(vec![one()], vec![curve(&[11, 19], "pipe")]), (1, 0, 0));
        assert_eq!(kept(vec![one()], vec![curve(&[12, 20], "pipe")]), (0, 1, 1));
        assert_eq!(kept(vec![one()], vec![curve(&[10, 20], "wall")]), (0, 1, 1));
        assert_eq!(kept(vec![one(), one()], vec![one()]), (1, 1, 0));
        assert_eq!(kept(vec![one(), curve(&[11, 20], "pipe")], vec![one(), one()]), (2, 0, 0));
    }
}
