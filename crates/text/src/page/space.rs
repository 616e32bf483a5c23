//! The map in 3D: its longest edges, and what changed. The script of the page draws it; without it there is no section.

use std::collections::HashSet;
use std::fmt::Write;

use bspkit::bytes::integer;
use bspkit::content::outlines::{Outlines, Point};

use super::top::{FARTHEST, Faces, MOST_OF_MODEL, Mark};

/// The most bytes of edges, of each kind of faces, and of entities.
const ROOM_OF_EDGES: usize = 110_000;
const ROOM_OF_FACES: usize = 20_000;
const ROOM_OF_PLACES: usize = 20_000;

/// A place in whole units.
type Place = [i32; 3];

fn place(point: Point) -> Option<Place> {
    let near = |part: f32| integer(part.round()).filter(|_| part.abs() <= FARTHEST);
    Some([near(point[0])?, near(point[1])?, near(point[2])?])
}

/// Lists of numbers within a room of bytes.
struct Numbers {
    text: String,
    room: usize,
}

impl Numbers {
    fn new(room: usize) -> Self {
        Numbers { text: String::new(), room }
    }

    /// Adds a list as one; if there is no room for all of it, none of it, and `false`.
    fn add(&mut self, places: impl IntoIterator<Item = Place>) -> bool {
        let before = self.text.len();
        if before > 0 {
            self.text.push(',');
        }
        for (at, part) in places.into_iter().flatten().enumerate() {
            let space = if at > 0 { " " } else { "" };
            let _ = write!(self.text, "{space}{part}");
        }
        if self.text.len() > self.room {
            self.text.truncate(before);
            return false;
        }
        true
    }
}

/// The section; empty if the map has no edges. Everything in it is numbers.
pub(super) fn section(outlines: &[Outlines<'_>; 2], faces: &Faces, marks: &[Mark<'_>]) -> String {
    let (edges, left) = edges(&outlines[1]);
    if edges.is_empty() {
        return String::new();
    }
    let mut data = format!("data-edges=\"{edges}\"");
    let (mut left_faces, mut left_places) = (0, 0);
    for (name, side, faces) in [("lit", 1, &faces.lit), ("face", 1, &faces.changed), ("gone", 0, &faces.removed)] {
        let mut numbers = Numbers::new(ROOM_OF_FACES);
        left_faces += faces.len();
        for face in faces.iter().map_while(|face| outlines[side].face(*face)) {
            if let Some(corners) = face.iter().map(|line| place(line[0])).collect::<Option<Vec<_>>>() {
                left_faces -= usize::from(numbers.add(corners));
            }
        }
        if !numbers.text.is_empty() {
            let _ = write!(data, " data-{name}=\"{}\"", numbers.text);
        }
    }
    for class in ["added", "removed", "changed"] {
        let mut numbers = Numbers::new(ROOM_OF_PLACES);
        for mark in marks.iter().filter(|mark| mark.class == class) {
            let places = places(mark, outlines);
            if !places.is_empty() {
                left_places += usize::from(!numbers.add(places));
            }
        }
        if !numbers.text.is_empty() {
            let _ = write!(data, " data-{class}=\"{}\"", numbers.text);
        }
    }
    let kinds = [
        (left_faces, "face that differs", "faces that differ"),
        (left_places, "entity", "entities"),
        (left, "short edge", "short edges"),
    ];
    let left =
        kinds.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, more)| super::counted(count, one, more));
    let left: Vec<String> = left.collect();
    let note = match left.is_empty() {
        true => String::new(),
        false => format!("<p class=\"more\">Not drawn: {}</p>\n", left.join(", ")),
    };
    format!("<section id=\"space\" hidden>\n<h2>In 3D</h2>\n<div class=\"space\" {data}></div>\n{note}</section>\n")
}

/// Where an entity was and where it is; one with a brush model is in the middle of it.
fn places(mark: &Mark<'_>, outlines: &[Outlines<'_>; 2]) -> Vec<Place> {
    let middle = mark.model.and_then(|(side, model)| middle(&outlines[side], model));
    let points: Vec<Point> = mark.places.iter().flatten().copied().collect();
    let at = |point: &Point| {
        let by = middle.unwrap_or_default();
        place(std::array::from_fn(|axis| point[axis] + by[axis]))
    };
    match (points.is_empty(), middle) {
        (true, Some(middle)) => place(middle).into_iter().collect(),
        _ => points.iter().filter_map(at).collect(),
    }
}

/// The middle of the box around the edges of a model.
fn middle(outlines: &Outlines<'_>, model: usize) -> Option<Point> {
    let mut bounds: Option<[Point; 2]> = None;
    for point in outlines.lines(outlines.model(model)).flatten().take(MOST_OF_MODEL).flatten() {
        let [low, high] = bounds.unwrap_or([point; 2]);
        let axes = |choose: fn(f32, f32) -> f32, one: Point| std::array::from_fn(|axis| choose(one[axis], point[axis]));
        bounds = Some([axes(f32::min, low), axes(f32::max, high)]);
    }
    bounds.map(|[low, high]| std::array::from_fn(|axis| (low[axis] + high[axis]) / 2.0))
}

/// The longest edges of the world, each once, and how many are left out.
fn edges(outlines: &Outlines<'_>) -> (String, usize) {
    let mut known = HashSet::new();
    for [from, to] in outlines.lines(outlines.world()).flatten() {
        if let (Some(from), Some(to)) = (place(from), place(to))
            && from != to
        {
            known.insert(if from <= to { [from, to] } else { [to, from] });
        }
    }
    let mut all: Vec<[Place; 2]> = known.into_iter().collect();
    let squared =
        |[from, to]: &[Place; 2]| (0..3).map(|axis| (i64::from(to[axis]) - i64::from(from[axis])).pow(2)).sum::<i64>();
    // The order is the same in every run.
    all.sort_unstable_by_key(|edge| (std::cmp::Reverse(squared(edge)), *edge));
    let mut numbers = Numbers::new(ROOM_OF_EDGES);
    let mut taken = 0;
    for edge in &all {
        if !numbers.add(*edge) {
            break;
        }
        taken += 1;
    }
    (numbers.text, all.len() - taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_room() {
        let mut numbers = Numbers::new(14);
        let added: Vec<bool> = (0..3).map(|at| numbers.add([[at, -1, 20]])).collect();
        assert_eq!((numbers.text.as_str(), added), ("0 -1 20", vec![true, false, false]));
        assert_eq!(place([1.4, -2.6, 1e30]), None);
        assert_eq!(place([1.4, -2.6, f32::NAN]), None);
        assert_eq!(place([1.4, -2.6, 0.0]), Some([1, -3, 0]));
    }
}
