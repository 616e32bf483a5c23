//! The map from above: its walls and floors as lines, and what changed.

use std::collections::HashSet;

use super::{Items, ROOM_OF_MARKS, Section, Sides, counted, records, space};
use crate::page;
use bspkit::bytes::rounded;
use bspkit::content::entities::Entity;
use bspkit::content::outlines::{Outlines, Point};
use bspkit::dialect::Role;
use bspkit_ops::compare::{Change, EntityChange, How};

// The map from above: its walls and floors as lines, and what changed.

/// The most lines of walls, of floors, and of each kind of highlighted faces.
const MOST_LINES: usize = 15_000;
/// The most bytes of each of these.
const ROOM_OF_PATHS: [usize; 3] = [150_000, 100_000, 60_000];
/// The most faces of each kind that are highlighted.
const MOST_FACES: usize = 5000;
/// The most lines of a brush model.
pub(super) const MOST_OF_MODEL: usize = 100;
/// How many steps the longer side of the view has: lines are drawn to this precision.
const STEPS: f32 = 4000.0;
/// Coordinates beyond this are damage; engines end their worlds before.
pub(super) const FARTHEST: f32 = 200_000.0;

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
pub(super) struct Mark<'s> {
    entity: &'s EntityChange,
    pub(super) class: &'static str,
    /// Where it was and is; one of these for one that is only in one map.
    pub(super) places: [Option<Point>; 2],
    /// The brush model, and the map that has it.
    pub(super) model: Option<(usize, usize)>,
}

/// The view; entities that are in `sections` are linked to these.
pub(super) fn section(sides: &Sides<'_>, sections: &[Section]) -> String {
    let outlines = sides.maps.map(Outlines::read);
    let (changes, _) = records::changes(sides);
    let shown = |entity: &&&EntityChange| entity.how != How::Rewritten;
    let marks: Vec<Mark<'_>> = changes.iter().filter(shown).filter_map(|entity| mark(sides, entity)).collect();
    let mut frame = Frame { least: [f32::INFINITY; 2], most: [f32::NEG_INFINITY; 2] };
    let world = outlines[1].world();
    for [x, y, _] in outlines[1].lines(world).flatten().flatten() {
        frame.include([x, y]);
    }
    marks.iter().flat_map(|mark| mark.places).flatten().for_each(|[x, y, _]| frame.include([x, y]));
    if frame.is_empty() {
        return String::new();
    }
    let ([walls, floors], left) = plan(&outlines[1], &frame);
    let faces = Faces::of(sides);
    let highlights = highlights(&faces, &outlines, &frame);
    let listed = anchors(sections);
    let mut items = Items::new(ROOM_OF_MARKS);
    for mark in &marks {
        items.add(|| draw(mark, &outlines, &frame, &listed));
    }
    let (drawn, more) = items.finish("entities");
    let [width, height] = frame.size();
    let margin = (width.max(height) / 40).max(8);
    let view = format!("{} {} {} {}", -margin, -margin, width + 2 * margin, height + 2 * margin);
    let notes = match left {
        0 => String::new(),
        left => format!("<p class=\"more\">{} are not drawn</p>\n", counted(left, "short line", "short lines")),
    };
    let notes = match outlines.iter().any(Outlines::is_exhausted) {
        true => notes + "<p class=\"more\">Faces share too many corners; some are not drawn</p>\n",
        false => notes,
    };
    format!(
        "<section id=\"top\">\n<h2>From above</h2>\n{}<div class=\"map\"><svg viewBox=\"{view}\" role=\"group\" \
         aria-label=\"The map from above\">\n<path class=\"floor\" d=\"{floors}\"/>\n\
         <path class=\"wall\" d=\"{walls}\"/>\n{highlights}{drawn}</svg></div>\n{more}{notes}</section>\n{}",
        legend(&marks, &highlights, &frame),
        space::section(&outlines, &faces, &marks),
    )
}

/// The fragments of the page that entities have.
fn anchors(sections: &[Section]) -> HashSet<&str> {
    let html = sections.iter().filter(|section| section.id == "entities").map(|section| section.html.as_str());
    html.flat_map(|html| html.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next())).collect()
}

/// The lines of walls and floors, and how many are left out. A face that is a line from above is a wall.
fn plan(outlines: &Outlines<'_>, frame: &Frame) -> ([String; 2], usize) {
    let mut known = [(); 2].map(|()| HashSet::new());
    let mut lines = [const { Vec::new() }; 2];
    for face in outlines.lines(outlines.world()) {
        let edges = flat_lines(&face, frame);
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
    let mut left = 0;
    let [walls, floors] = lines;
    let paths = [(walls, ROOM_OF_PATHS[0]), (floors, ROOM_OF_PATHS[1])].map(|(lines, room)| {
        let (path, more) = longest(lines, room);
        left += more;
        path
    });
    (paths, left)
}

/// A path of the longest lines, in an order that gives short paths, and how many have no room.
fn longest(mut lines: Vec<[Flat; 2]>, room: usize) -> (String, usize) {
    lines.sort_by_key(|line| std::cmp::Reverse(squared(*line)));
    let (all, mut most) = (lines.len(), lines.len().min(MOST_LINES));
    loop {
        lines.truncate(most);
        let mut shown = lines.clone();
        shown.sort_unstable();
        let path = path(&shown);
        if path.len() <= room {
            return (path, all - most);
        }
        most = most * 3 / 4;
    }
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

/// Faces whose records or whose light differ, by their numbers: those that were removed in the old map.
pub(super) struct Faces {
    pub(super) lit: Vec<usize>,
    pub(super) changed: Vec<usize>,
    pub(super) removed: Vec<usize>,
}

impl Faces {
    fn of(sides: &Sides<'_>) -> Self {
        let lump = sides.maps[1].role(Role::Faces).map_or("", |slot| slot.name.as_str());
        let mut faces = Faces { lit: Vec::new(), changed: Vec::new(), removed: Vec::new() };
        let changes = sides.found.lumps.iter().flat_map(|lump| lump.changes.iter().map(move |one| (lump, one)));
        for (own, change) in changes {
            match change {
                Change::Light(light) if !light.is_page => faces.lit.push(light.index),
                Change::Record(record) if own.lump == lump && record.how == How::Removed => {
                    faces.removed.push(record.index);
                }
                Change::Record(record)
                    if own.lump == lump && (record.how != How::Moved || !record.fields.is_empty()) =>
                {
                    faces.changed.push(record.index);
                }
                _ => {}
            }
        }
        faces
    }
}

fn highlights(faces: &Faces, outlines: &[Outlines<'_>; 2], frame: &Frame) -> String {
    let group = |class: &str, title: &str, side: usize, faces: &[usize]| {
        let faces = faces.iter().take(MOST_FACES).map_while(|face| outlines[side].face(*face));
        let mut lines: Vec<_> = faces.flat_map(|face| clockwise(flat_lines(&face, frame))).take(MOST_LINES).collect();
        // A path that is cut in a face is filled as well.
        while path(&lines).len() > ROOM_OF_PATHS[2] {
            lines.truncate(lines.len() * 3 / 4);
        }
        match lines.is_empty() {
            true => String::new(),
            false => format!("<path class=\"{class}\" d=\"{}\"><title>{title}</title></path>\n", path(&lines)),
        }
    };
    [
        group("lit", "faces with other light", 1, &faces.lit),
        group("face", "faces that were added or changed", 1, &faces.changed),
        group("face gone", "faces that were removed", 0, &faces.removed),
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

fn draw(mark: &Mark<'_>, outlines: &[Outlines<'_>; 2], frame: &Frame, listed: &HashSet<&str>) -> String {
    let mut shapes = String::new();
    if let Some((side, model)) = mark.model {
        let at = mark.places[side].unwrap_or_default();
        let lines = outlines[side].lines(outlines[side].model(model)).flatten().take(MOST_OF_MODEL);
        let lines: Vec<_> = lines.map(|line| line.map(|point| moved(point, at))).collect();
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
    let anchor = records::anchor(mark.entity);
    let link = if listed.contains(anchor.as_str()) { format!(" href=\"#{anchor}\"") } else { String::new() };
    format!(
        "<a{link} class=\"{}\"><title>{what}: #{} {class} {name}</title>{shapes}</a>\n",
        mark.class, mark.entity.index,
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

#[cfg(test)]
mod tests {
    use super::*;

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
