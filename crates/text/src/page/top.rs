//! The map from above: its walls and floors as lines, and what changed.

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

use super::{Items, ROOM_OF_LIST, Sides, counted, records};
use crate::page;
use bspkit::bytes::{float, rounded};
use bspkit::content::entities::Entity;
use bspkit::content::polygons::Polygons;
use bspkit::dialect::Role;
use bspkit::op::compare::{Change, EntityChange, How};
use bspkit::record::{FieldInfo, Meaning, Shape};
use bspkit::{Bsp, Records};

// The map from above: its walls and floors as lines, and what changed.

/// The most lines of walls, and of floors.
const MOST_LINES: usize = 30_000;
/// The most faces of each kind that are highlighted, and the most lines of a brush model.
const MOST_FACES: usize = 5000;
/// The most marks of entities.
const MOST_MARKS: usize = 2000;
/// How many steps the longer side of the view has: lines are drawn to this precision.
const STEPS: f32 = 4000.0;
/// Coordinates beyond this are damage; engines end their worlds before.
const FARTHEST: f32 = 200_000.0;

/// A place on the view: to the east, and to the south.
type Flat = [i32; 2];

/// The part of the map that is drawn.
struct Frame {
    least: [f32; 2],
    most: [f32; 2],
}

impl Frame {
    fn include(&mut self, [x, y]: [f32; 2]) {
        for (axis, part) in [x, y].into_iter().enumerate() {
            if part.abs() <= FARTHEST {
                self.least[axis] = self.least[axis].min(part);
                self.most[axis] = self.most[axis].max(part);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.least[0] > self.most[0] || self.least[1] > self.most[1]
    }

    /// Units of the map in one step; at least one.
    fn step(&self) -> f32 {
        let side = (self.most[0] - self.least[0]).max(self.most[1] - self.least[1]);
        (side / STEPS).ceil().max(1.0)
    }

    /// A point in steps from the northwest corner.
    fn flat(&self, [x, y, _]: Point) -> Option<Flat> {
        let steps = |distance: f32| bspkit::bytes::integer((distance / self.step()).round());
        let is_near = x.abs() <= FARTHEST && y.abs() <= FARTHEST;
        if is_near { Some([steps(x - self.least[0])?, steps(self.most[1] - y)?]) } else { None }
    }

    fn size(&self) -> Flat {
        self.flat([self.most[0], self.least[1], 0.0]).unwrap_or([1, 1])
    }
}

/// An entity on the view.
struct Mark<'s> {
    entity: &'s EntityChange,
    class: &'static str,
    /// Where it was and is; one of these for one that is only in one map.
    places: [Option<Point>; 2],
    /// The brush model, and the map that has it.
    model: Option<(usize, usize)>,
}

pub(super) fn section(sides: &Sides<'_>) -> String {
    let outlines = sides.maps.map(Outlines::read);
    let (changes, _) = records::changes(sides);
    let shown = |entity: &&&EntityChange| entity.how != How::Rewritten;
    let marks: Vec<Mark<'_>> = changes.iter().filter(shown).filter_map(|entity| mark(sides, entity)).collect();
    let mut frame = Frame { least: [f32::INFINITY; 2], most: [f32::NEG_INFINITY; 2] };
    for face in outlines[1].world() {
        outlines[1].face(face).iter().flatten().for_each(|[x, y, _]| frame.include([*x, *y]));
    }
    marks.iter().flat_map(|mark| mark.places).flatten().for_each(|[x, y, _]| frame.include([x, y]));
    if frame.is_empty() {
        return String::new();
    }
    let ([walls, floors], left) = plan(&outlines[1], &frame);
    let highlights = highlights(sides, &outlines, &frame);
    let mut items = Items::new(ROOM_OF_LIST);
    for mark in marks.iter().take(MOST_MARKS) {
        items.add(|| draw(mark, &outlines, &frame));
    }
    items.and_more(marks.len().saturating_sub(MOST_MARKS));
    let (drawn, more) = items.finish();
    let [width, height] = frame.size();
    let margin = (width.max(height) / 40).max(8);
    let view = format!("{} {} {} {}", -margin, -margin, width + 2 * margin, height + 2 * margin);
    let notes = match left {
        0 => String::new(),
        left => format!("<p class=\"more\">{} are not drawn</p>\n", counted(left, "short line", "short lines")),
    };
    format!(
        "<section id=\"top\">\n<h2>From above</h2>\n{}<div class=\"map\"><svg viewBox=\"{view}\" role=\"group\" \
         aria-label=\"The map from above\">\n<path class=\"floor\" d=\"{floors}\"/>\n\
         <path class=\"wall\" d=\"{walls}\"/>\n{highlights}{drawn}</svg></div>\n{more}{notes}</section>\n",
        legend(&marks, &highlights, &frame),
    )
}

/// The lines of walls and floors, and how many are left out. A face that is a line from above is a wall.
fn plan(outlines: &Outlines<'_>, frame: &Frame) -> ([String; 2], usize) {
    let mut known = [(); 2].map(|()| HashSet::new());
    let mut lines = [const { Vec::new() }; 2];
    for face in outlines.world() {
        let edges = flat_lines(&outlines.face(face), frame);
        let (kind, edges) = match wall(&edges) {
            Some(line) => (0, vec![line]),
            None => (1, edges),
        };
        for [from, to] in edges {
            let line = if from <= to { [from, to] } else { [to, from] };
            if from != to && known[kind].insert(line) {
                lines[kind].push(line);
            }
        }
    }
    let is_wall = |line: &[Flat; 2]| known[0].contains(line);
    lines[1].retain(|line| !is_wall(line));
    let left = lines.iter().map(|lines| lines.len().saturating_sub(MOST_LINES)).sum();
    let paths = lines.map(|mut lines| {
        // The longest lines are kept, in an order that gives short paths.
        lines.sort_by_key(|line| std::cmp::Reverse(squared(*line)));
        lines.truncate(MOST_LINES);
        lines.sort_unstable();
        path(&lines)
    });
    (paths, left)
}

fn flat_lines(lines: &[[Point; 2]], frame: &Frame) -> Vec<[Flat; 2]> {
    lines.iter().filter_map(|[from, to]| Some([frame.flat(*from)?, frame.flat(*to)?])).collect()
}

fn squared([from, to]: [Flat; 2]) -> i64 {
    let part = |axis: usize| i64::from(to[axis]) - i64::from(from[axis]);
    part(0).pow(2) + part(1).pow(2)
}

/// The line that a vertical face is from above; `None` for other faces.
fn wall(edges: &[[Flat; 2]]) -> Option<[Flat; 2]> {
    let first = edges.first()?[0];
    let points = || edges.iter().flatten();
    let one = *points().max_by_key(|point| squared([first, **point]))?;
    let other = *points().max_by_key(|point| squared([one, **point]))?;
    let length = squared([one, other]);
    let [x, y] = [0, 1].map(|axis| i64::from(other[axis]) - i64::from(one[axis]));
    // No point is farther from the line than one step.
    let is_on = |point: &Flat| {
        let area = x * (i64::from(point[1]) - i64::from(one[1])) - y * (i64::from(point[0]) - i64::from(one[0]));
        area.pow(2) <= length
    };
    points().all(is_on).then_some([one, other])
}

/// A path of lines; a line that begins where the last one ends goes on.
fn path(lines: &[[Flat; 2]]) -> String {
    let (mut path, mut end) = (String::new(), None);
    for [from, to] in lines {
        if end != Some(*from) {
            path += &format!("M{} {}", from[0], from[1]);
        }
        path += &format!("l{} {}", to[0] - from[0], to[1] - from[1]);
        end = Some(*to);
    }
    path
}

/// The lines of a face in one direction around it, so that floors and ceilings above each other are filled both.
fn clockwise(mut lines: Vec<[Flat; 2]>) -> Vec<[Flat; 2]> {
    let area = |[from, to]: &[Flat; 2]| i64::from(from[0]) * i64::from(to[1]) - i64::from(from[1]) * i64::from(to[0]);
    if lines.iter().map(area).sum::<i64>() < 0 {
        lines.reverse();
        lines.iter_mut().for_each(|line| line.reverse());
    }
    lines
}

/// Faces whose records or whose light differ.
fn highlights(sides: &Sides<'_>, outlines: &[Outlines<'_>; 2], frame: &Frame) -> String {
    let faces = sides.maps[1].role(Role::Faces).map_or("", |slot| slot.name.as_str());
    let (mut lit, mut changed, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for (lump, change) in sides.found.lumps.iter().flat_map(|lump| lump.changes.iter().map(move |one| (lump, one))) {
        match change {
            Change::Light(light) if !light.is_page => lit.push(light.index),
            Change::Record(record) if lump.lump == faces && record.how == How::Removed => removed.push(record.index),
            Change::Record(record) if lump.lump == faces && (record.how != How::Moved || !record.fields.is_empty()) => {
                changed.push(record.index);
            }
            _ => {}
        }
    }
    let group = |class: &str, title: &str, side: usize, faces: &[usize]| {
        let faces = faces.iter().take(MOST_FACES).map(|face| flat_lines(&outlines[side].face(*face), frame));
        let lines: Vec<_> = faces.flat_map(clockwise).take(MOST_LINES).collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!("<path class=\"{class}\" d=\"{}\"><title>{title}</title></path>\n", path(&lines)),
        }
    };
    [
        group("lit", "faces with other light", 1, &lit),
        group("face", "faces that were added or changed", 1, &changed),
        group("face gone", "faces that were removed", 0, &removed),
    ]
    .concat()
}

/// Where an entity is; `None` if it is at no place.
fn mark<'s>(sides: &Sides<'_>, change: &'s EntityChange) -> Option<Mark<'s>> {
    let of = |side: usize, index: usize| sides.entities[side].as_ref()?.get(index);
    let (old, new) = match change.how {
        How::Added => (None, of(1, change.index)),
        How::Removed => (of(0, change.index), None),
        _ => (of(0, change.from.unwrap_or(change.index)), of(1, change.index)),
    };
    let places = [&old, &new].map(|entity| entity.as_ref().and_then(origin));
    let model = |side: usize, entity: &Option<Entity<'_>>| {
        let model = entity.as_ref()?.text("model")?.strip_prefix('*')?.parse().ok()?;
        Some((side, model))
    };
    let model = model(1, &new).or_else(|| model(0, &old));
    let class = match change.how {
        How::Added => "added",
        How::Removed => "removed",
        _ => "changed",
    };
    (places.iter().any(Option::is_some) || model.is_some()).then_some(Mark { entity: change, class, places, model })
}

fn origin(entity: &Entity<'_>) -> Option<Point> {
    entity.vector("origin").map(|origin| origin.map(rounded))
}

fn draw(mark: &Mark<'_>, outlines: &[Outlines<'_>; 2], frame: &Frame) -> String {
    let mut shapes = String::new();
    if let Some((side, model)) = mark.model {
        let at = mark.places[side].unwrap_or_default();
        let faces = outlines[side].model(model).take(MOST_FACES).flat_map(|face| outlines[side].face(face));
        let lines: Vec<_> = faces.take(MOST_FACES).map(|line| line.map(|point| moved(point, at))).collect();
        shapes += &format!("<path class=\"model\" d=\"{}\"/>", path(&flat_lines(&lines, frame)));
    }
    let [old, new] = mark.places.map(|place| place.and_then(|place| frame.flat(place)));
    if let (Some(old), Some(new)) = (old, new)
        && old != new
    {
        shapes += &format!("<path class=\"way\" d=\"M{} {}L{} {}\"/>", old[0], old[1], new[0], new[1]);
        shapes += &format!("<path class=\"dot from\" d=\"M{} {}h0\"/>", old[0], old[1]);
    }
    if let Some([x, y]) = new.or(old) {
        shapes += &format!("<path class=\"dot\" d=\"M{x} {y}h0\"/>");
    }
    let what = match (mark.class, old.is_some() && new.is_some() && old != new) {
        ("changed", true) => "moved",
        (class, _) => class,
    };
    let class = mark.entity.class.as_deref().map(page::name).unwrap_or_default();
    let name = mark.entity.name.as_deref().map(page::name).unwrap_or_default();
    format!(
        "<a href=\"#{}\" class=\"{}\"><title>{what}: #{} {class} {name}</title>{shapes}</a>\n",
        records::anchor(mark.entity),
        mark.class,
        mark.entity.index,
    )
}

fn moved(point: Point, by: Point) -> Point {
    std::array::from_fn(|axis| point[axis] + by[axis])
}

/// What the colors mean, with counts, and the size of the view.
fn legend(marks: &[Mark<'_>], highlights: &str, frame: &Frame) -> String {
    let count = |class: &str| marks.iter().filter(|mark| mark.class == class).count();
    let entities = [("added", "added"), ("removed", "removed"), ("changed", "changed or moved")];
    let mut items = String::new();
    for (class, word) in entities.into_iter().filter(|(class, _)| count(class) > 0) {
        let entities = counted(count(class), "entity", "entities");
        items += &format!("<li class=\"{class}\">{entities} {word}</li>\n");
    }
    for (class, word) in [("lit", "listed faces with other light"), ("face", "listed faces that changed")] {
        if highlights.contains(&format!("class=\"{class}")) {
            items += &format!("<li class=\"{class}\">{word}</li>\n");
        }
    }
    let [width, height] = [0, 1].map(|axis| frame.most[axis] - frame.least[axis]);
    format!("<ul class=\"legend\">{items}<li class=\"size\">{width:.0} × {height:.0} units</li></ul>\n")
}

// The edges of faces as lines, for the view from above. Every family is read by the names and meanings of fields.

/// How many lines are read of a map in total: faces of a damaged map may all name the same edges.
const OUTLINE_MOST_LINES: usize = 1 << 22;

/// A point of the map in units.
pub(super) type Point = [f32; 3];

/// The faces of a map, and which of them each model has.
pub(super) struct Outlines<'a> {
    faces: Option<Faces<'a>>,
    models: Vec<Range<usize>>,
    left: Cell<usize>,
}

enum Faces<'a> {
    /// Rings of edges.
    Rings(Polygons<'a>),
    Surfaces(Surfaces<'a>),
}

/// Surfaces of Quake III and its relatives: triangles, and patches of control points.
struct Surfaces<'a> {
    surfaces: Records<'a>,
    corners: Records<'a>,
    indexes: Records<'a>,
    first_vertex: &'static FieldInfo,
    vertex_count: &'static FieldInfo,
    first_index: &'static FieldInfo,
    index_count: &'static FieldInfo,
    patch: &'static FieldInfo,
}

impl<'a> Outlines<'a> {
    pub(super) fn read(map: &Bsp<'a>) -> Self {
        let faces = match map.polygons() {
            Ok(polygons) => Some(Faces::Rings(polygons)),
            Err(_) => Surfaces::read(map).map(Faces::Surfaces),
        };
        let all = faces.as_ref().map_or(0, Faces::len);
        // What a model claims beyond the faces that there are is damage.
        let there = |faces: Range<usize>| faces.start.min(all)..faces.end.min(all);
        let models = models(map).unwrap_or_default().into_iter().map(there).collect();
        Outlines { faces, models, left: Cell::new(OUTLINE_MOST_LINES) }
    }

    /// The faces of a model; 0 is the world.
    pub(super) fn model(&self, index: usize) -> Range<usize> {
        self.models.get(index).cloned().unwrap_or_default()
    }

    /// The faces of the world; all faces if the models cannot be read.
    pub(super) fn world(&self) -> Range<usize> {
        self.models.first().cloned().unwrap_or(0..self.faces.as_ref().map_or(0, Faces::len))
    }

    /// The lines around a face, which is one polygon or several triangles; none if it cannot be read.
    pub(super) fn face(&self, face: usize) -> Vec<[Point; 2]> {
        let lines = match &self.faces {
            _ if self.left.get() == 0 => Vec::new(),
            Some(Faces::Rings(polygons)) => ring(&polygons.get(face).unwrap_or_default()),
            Some(Faces::Surfaces(surfaces)) => surfaces.lines(face).unwrap_or_default(),
            None => Vec::new(),
        };
        // A face that cannot be read takes time as well.
        self.left.set(self.left.get().saturating_sub(lines.len().max(1)));
        lines
    }
}

impl Faces<'_> {
    fn len(&self) -> usize {
        match self {
            Faces::Rings(polygons) => polygons.len(),
            Faces::Surfaces(surfaces) => surfaces.surfaces.len(),
        }
    }
}

fn ring(corners: &[Point]) -> Vec<[Point; 2]> {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|(from, to)| [*from, *to]).collect()
}

/// The faces of each model, by the field that is a run of faces.
fn models(map: &Bsp<'_>) -> Option<Vec<Range<usize>>> {
    let models = map.records(Role::Models).ok()?;
    let faces = map.role(Role::Faces)?.name.as_str();
    let (first, count) = models.info().fields.iter().find_map(|field| match field.meaning {
        Meaning::Run { lump, count, .. } if lump == faces => Some((field, models.info().field(count.field)?)),
        _ => None,
    })?;
    let range = |index: usize| {
        let start = self::index(&models, index, first, 0)?;
        Some(start..start.checked_add(self::index(&models, index, count, 0)?)?)
    };
    Some((0..models.len()).map(|index| range(index).unwrap_or_default()).collect())
}

impl<'a> Surfaces<'a> {
    fn read(map: &Bsp<'a>) -> Option<Self> {
        let surfaces = map.records(Role::Faces).ok()?;
        let field = |name: &str| surfaces.info().field(name);
        Some(Surfaces {
            corners: map.records(Role::Vertexes).ok()?,
            indexes: map.records(Role::DrawIndexes).ok()?,
            first_vertex: field("first_vertex")?,
            vertex_count: field("vertex_count")?,
            first_index: field("first_index")?,
            index_count: field("index_count")?,
            patch: field("patch_size")?,
            surfaces,
        })
    }

    fn lines(&self, surface: usize) -> Option<Vec<[Point; 2]>> {
        /// More corners than any surface of a real map has.
        const MOST: usize = 1 << 16;
        let number = |field: &'static FieldInfo, item| index(&self.surfaces, surface, field, item);
        let (first, count) = (number(self.first_vertex, 0)?, number(self.vertex_count, 0)?.min(MOST));
        let (first_index, index_count) = (number(self.first_index, 0)?, number(self.index_count, 0)?.min(MOST));
        let corner = |index: usize| point(&self.corners, first.checked_add(index).filter(|_| index < count)?);
        if index_count > 0 {
            let only = self.indexes.info().fields.first()?;
            let corners = (0..index_count).map_while(|at| index(&self.indexes, first_index.checked_add(at)?, only, 0));
            let corners: Vec<usize> = corners.collect();
            let edges = boundary(corners.as_chunks::<3>().0);
            return Some(edges.into_iter().filter_map(|[from, to]| Some([corner(from)?, corner(to)?])).collect());
        }
        let [wide, high] = [number(self.patch, 0)?, number(self.patch, 1)?];
        if wide.checked_mul(high) != Some(count) || wide < 2 || high < 2 {
            return Some(Vec::new());
        }
        // Around the grid of control points.
        let top = (0..wide).chain((1..high).map(|row| row * wide + wide - 1));
        let bottom = (0..wide - 1).rev().map(|column| (high - 1) * wide + column);
        let around = top.chain(bottom).chain((1..high - 1).rev().map(|row| row * wide));
        Some(ring(&around.map(corner).collect::<Option<Vec<_>>>()?))
    }
}

/// The edges that only one triangle has.
fn boundary(triangles: &[[usize; 3]]) -> Vec<[usize; 2]> {
    let edges = |[a, b, c]: &[usize; 3]| [[*a, *b], [*b, *c], [*c, *a]].map(|[a, b]| [a.min(b), a.max(b)]);
    let mut all: Vec<[usize; 2]> = triangles.iter().flat_map(edges).collect();
    all.sort_unstable();
    all.chunk_by(|one, other| one == other).filter(|same| same.len() == 1).map(|same| same[0]).collect()
}

/// An item of a field that is not negative; item 0 of a field that is not an array.
fn index(records: &Records<'_>, record: usize, field: &'static FieldInfo, item: usize) -> Option<usize> {
    let number = match field.shape {
        Shape::Number(number) => number,
        Shape::Array(Shape::Number(number), count) if item < count => *number,
        _ => return None,
    };
    let bytes = records.get(record)?.get(field.offset + item * number.size()..)?;
    usize::try_from(number.integer(bytes)?).ok()
}

/// The field `point`.
fn point(records: &Records<'_>, record: usize) -> Option<Point> {
    let at = records.info().field("point")?.offset;
    let bytes = records.get(record)?;
    Some([float(bytes, at)?, float(bytes, at + 4)?, float(bytes, at + 8)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_of_triangles_has_four_edges() {
        assert_eq!(boundary(&[[0, 1, 2], [2, 1, 3]]), [[0, 1], [0, 2], [1, 3], [2, 3]]);
    }

    #[test]
    fn every_family_has_lines() {
        for name in ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
            let map = Bsp::open(format!("../../tests/maps/{name}.bsp")).unwrap();
            let outlines = Outlines::read(&map);
            let world = outlines.world();
            assert!(!world.is_empty() && world == outlines.model(0), "{name}");
            let drawn = world.filter(|face| outlines.face(*face).len() >= 3).count();
            assert!(drawn > 5, "{name}: {drawn} faces");
        }
    }

    #[test]
    fn a_vertical_face_is_a_line() {
        let square =
            |points: [Flat; 4]| -> Vec<[Flat; 2]> { (0..4).map(|at| [points[at], points[(at + 1) % 4]]).collect() };
        assert_eq!(wall(&square([[0, 0], [30, 40], [30, 40], [0, 0]])), Some([[30, 40], [0, 0]]));
        assert_eq!(wall(&square([[0, 0], [30, 0], [30, 40], [0, 40]])), None);
    }

    #[test]
    fn faces_have_one_direction() {
        let square = vec![[[0, 0], [2, 0]], [[2, 0], [2, 2]], [[2, 2], [0, 0]]];
        let back: Vec<[Flat; 2]> = square.iter().rev().map(|[from, to]| [*to, *from]).collect();
        assert_eq!(clockwise(back), square);
        assert_eq!(clockwise(square.clone()), square);
    }

    #[test]
    fn paths_go_on() {
        assert_eq!(path(&[[[1, 2], [3, 4]], [[3, 4], [3, 0]], [[0, 0], [1, 1]]]), "M1 2l2 2l0 -4M0 0l1 1");
    }

    #[test]
    fn what_is_far_away_is_not_drawn() {
        let mut frame = Frame { least: [f32::INFINITY; 2], most: [f32::NEG_INFINITY; 2] };
        for place in [[0.0, 0.0], [8000.0, -100.0], [f32::NAN, f32::INFINITY], [1e30, 0.0]] {
            frame.include(place);
        }
        assert_eq!((frame.step(), frame.size()), (2.0, [4000, 50]));
        assert_eq!(frame.flat([8000.0, 0.0, 5.0]), Some([4000, 0]));
        assert_eq!(frame.flat([f32::NAN, 0.0, 0.0]), None);
    }
}
