//! What a source holds, and what could not be brought back.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::planes::Fit;

/// How many numbers of records are given of a kind; the others are counted.
const MOST_PLACES: usize = 20;

/// What a source holds, in numbers.
///
/// ```
/// use bspkit_decompile::{Options, decompile};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let report = decompile(&map, &Options::default())?.report;
/// assert!(report.brush_count > 18 && report.left_out.is_empty());
/// assert_eq!(report.planes.same, report.planes.total);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The dialect of the map.
    pub dialect: &'static str,
    /// The format of the source.
    pub format: &'static str,
    /// Entities of the source.
    pub entity_count: usize,
    /// Brushes of the source.
    pub brush_count: usize,
    /// Their sides.
    pub side_count: usize,
    /// Sides of brushes of the map that bound nothing: compilers add them.
    pub bevel_count: usize,
    /// Curved patches.
    pub patch_count: usize,
    /// Displacements.
    pub displacement_count: usize,
    /// How well the points of sides give their planes back.
    pub planes: Planes,
    /// Where alignments come from.
    pub alignments: Alignments,
    /// Brushes that were made for the source: those that compilers take away, as around the origin of a door.
    pub made_count: usize,
    /// What could not be brought back.
    pub left_out: Vec<LeftOut>,
    /// What the source has in another form than the map's compiler was given, and what was guessed.
    pub notes: Vec<LeftOut>,
}

/// How well the points of sides give their planes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Planes {
    /// All sides.
    pub total: usize,
    /// Sides whose points are whole numbers.
    pub whole: usize,
    /// Sides whose plane comes back to the same bits, computed in double precision.
    pub same: usize,
    /// Sides whose plane comes back within the errors of single precision, in which many compilers compute.
    pub near: usize,
}

/// Where alignments come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Alignments {
    /// From the texture vectors that the map has for the side.
    pub exact: usize,
    /// Solved from the vertexes that are drawn on the side.
    pub solved: usize,
    /// Nothing is drawn there, and the map does not say it: a usual one.
    pub usual: usize,
}

/// Something that could not be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// A word for it: `brush`, `surface`, `model`.
    pub kind: &'static str,
    /// Why.
    pub why: &'static str,
    /// How many.
    pub count: usize,
    /// The numbers of the first ones.
    pub places: Vec<usize>,
}

/// The note about sides whose texture has a size that the map does not say, so that the texture may lie otherwise.
pub const UNKNOWN_SIZE: &str = "the size of its texture is not known; 64 by 64 is taken";

/// What is counted while a source is made.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) report: Report,
    left_out: BTreeMap<(&'static str, &'static str), (usize, Vec<usize>)>,
    notes: BTreeMap<(&'static str, &'static str), (usize, Vec<usize>)>,
}

impl Counts {
    pub(crate) fn leave_out(&mut self, kind: &'static str, why: &'static str, place: usize) {
        count(self.left_out.entry((kind, why)).or_default(), place);
    }

    pub(crate) fn note(&mut self, kind: &'static str, why: &'static str, place: usize) {
        count(self.notes.entry((kind, why)).or_default(), place);
    }

    pub(crate) fn plane(&mut self, points: &[[f64; 3]; 3], fit: Fit) {
        let planes = &mut self.report.planes;
        planes.total += 1;
        planes.whole += usize::from(points.iter().flatten().all(|part| part.fract() == 0.0));
        planes.same += usize::from(fit == Fit::Same);
        planes.near += usize::from(fit == Fit::Near);
    }

    /// The reason that most brushes are not there, with the first of them; `None` if none is known.
    pub(crate) fn why_no_brush(&self) -> Option<String> {
        // What a compiler has lost is only noted.
        [&self.left_out, &self.notes].into_iter().find_map(|all| {
            let own = all.iter().filter(|((kind, _), _)| ["brush", "piece", "model"].contains(kind));
            let ((kind, why), (count, places)) = own.max_by_key(|(_, (count, _))| *count)?;
            let more = if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            Some(format!("{why} ({kind} {}{more})", places.first()?))
        })
    }

    pub(crate) fn finish(mut self) -> Report {
        self.report.left_out = list(self.left_out);
        self.report.notes = list(self.notes);
        self.report
    }
}

fn count((count, places): &mut (usize, Vec<usize>), place: usize) {
    *count += 1;
    if places.len() < MOST_PLACES {
        places.push(place);
    }
}

fn list(all: BTreeMap<(&'static str, &'static str), (usize, Vec<usize>)>) -> Vec<LeftOut> {
    let one = |((kind, why), (count, places))| LeftOut { kind, why, count, places };
    all.into_iter().map(one).collect()
}
