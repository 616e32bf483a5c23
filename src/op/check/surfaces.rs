//! Quake III's surfaces: known kinds, patches with the right number of points, triangles with corners that exist.
//!
//! Surfaces may share runs of indexes, and the first index of a surface without indexes has no meaning: both are legal.

use super::code::{INDEX_RANGE, PATCH_SIDE, PATCH_SIZE, SURFACE_INDEX, SURFACE_KIND, SURFACE_TRIANGLES};
use super::lumps::{Lumps, View, range};
use super::sink::{At, Sink};
use crate::bytes::word;
use crate::dialect::Role;
use crate::dialect::quake3::Surface;

/// The visible side of a fog's brush; -1 for none. A fog without a brush is everywhere.
fn check_fogs(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(fogs), Some(brushes)) = (lumps.role(Role::Fogs), lumps.role(Role::Brushes)) else { return };
    let columns = || Some((fogs.column("brush")?, fogs.column("visible_side")?, brushes.column("side_count")?));
    let Some((of, sides, counts)) = columns() else { return };
    for fog in 0..fogs.len() {
        let side = sides.get(fog);
        let brush = usize::try_from(of.get(fog)).ok().filter(|brush| *brush < brushes.len());
        if let Some(count) = brush.map(|brush| counts.get(brush)).filter(|count| !(-1..*count).contains(&side)) {
            let at = At::lump(fogs.name).record(fog).offset(sides.at(fog)).field("visible_side");
            sink.add(&INDEX_RANGE, at, || format!("visible_side is {side}, and its brush has {count}"));
        }
    }
}

/// The most points of a patch (`MAX_PATCH_VERTS`).
const MOST_POINTS: i64 = 1024;
/// The most points of a side (`MAX_PATCH_SIZE`, 32, which is even).
const MOST_SIDE: i64 = 31;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_fogs(lumps, sink);
    let (Some(surfaces), Some(indexes)) = (lumps.role(Role::Faces), lumps.role(Role::DrawIndexes)) else { return };
    let column = |name| surfaces.column(name);
    let columns = || Some((column("kind")?, column("vertex_count")?, column("patch_size")?));
    let Some((kinds, vertexes, patches)) = columns() else { return };
    let (Some(firsts), Some(counts)) = (column("first_index"), column("index_count")) else { return };
    let extremes = Extremes::of(&indexes);
    for surface in 0..surfaces.len() {
        let at = At::lump(surfaces.name).record(surface);
        let vertexes = vertexes.get(surface);
        let kind = i32::try_from(kinds.get(surface)).unwrap_or(0);
        if !(Surface::PLANAR..=Surface::FOLIAGE).contains(&kind) {
            sink.add(&SURFACE_KIND, at.offset(kinds.at(surface)).field("kind"), || format!("its kind is {kind}"));
            continue;
        }
        if kind == Surface::PATCH {
            let [width, height] = [0, 1].map(|item| patches.item(surface, item));
            let is_side = |side: i64| side >= 3 && side % 2 == 1;
            let points = width.saturating_mul(height);
            if width.max(height) > MOST_SIDE {
                sink.add(&PATCH_SIDE, at.offset(patches.at(surface)).field("patch_size"), || {
                    format!("it is a patch of {width} by {height} points; a side can have {MOST_SIDE}")
                });
            }
            if !is_side(width) || !is_side(height) || points != vertexes || points > MOST_POINTS {
                sink.add(&PATCH_SIZE, at.offset(patches.at(surface)).field("patch_size"), || {
                    format!("it is a patch of {width} by {height} points, and has {vertexes}")
                });
            }
        }
        if kind == Surface::PATCH || kind == Surface::FLARE {
            continue;
        }
        if counts.get(surface) % 3 != 0 {
            sink.add(&SURFACE_TRIANGLES, at.offset(counts.at(surface)).field("index_count"), || {
                format!("its triangles have {} corners", counts.get(surface))
            });
        }
        let Some(run) = range(firsts.get(surface), counts.get(surface), indexes.len()) else { continue };
        if run.is_empty() {
            continue;
        }
        let (least, most) = extremes.within(run);
        if least < 0 || i64::from(most) >= vertexes {
            sink.add(&SURFACE_INDEX, at.offset(firsts.at(surface)).field("first_index"), || {
                format!("its triangles have corners from {least} to {most}, and it has {vertexes} vertexes")
            });
        }
    }
}

/// The least and the largest index of any run, found by blocks: surfaces may share runs as long as the lump, and there
/// may be many of them.
struct Extremes<'b> {
    bytes: &'b [u8],
    /// Of 64 indexes each.
    small: Vec<(i32, i32)>,
    /// Of 4,096 each.
    large: Vec<(i32, i32)>,
}

const SMALL: usize = 64;
const LARGE: usize = SMALL * SMALL;
const NONE: (i32, i32) = (i32::MAX, i32::MIN);

impl<'b> Extremes<'b> {
    fn of(indexes: &View<'b>) -> Self {
        let bytes = indexes.bytes;
        let small: Vec<_> = bytes
            .chunks(SMALL * 4)
            .map(|block| {
                block
                    .chunks_exact(4)
                    .filter_map(|bytes| word(bytes, 0))
                    .fold(NONE, |sum, index| both(sum, (index, index)))
            })
            .collect();
        let large = small.chunks(SMALL).map(|block| block.iter().copied().fold(NONE, both)).collect();
        Extremes { bytes, small, large }
    }

    fn within(&self, run: std::ops::Range<usize>) -> (i32, i32) {
        let (mut at, mut found) = (run.start, NONE);
        while at < run.end {
            let fits = |size: usize| at.is_multiple_of(size) && at + size <= run.end;
            let (size, next) = if fits(LARGE) {
                (LARGE, self.large.get(at / LARGE).copied())
            } else if fits(SMALL) {
                (SMALL, self.small.get(at / SMALL).copied())
            } else {
                (1, word(self.bytes, at * 4).map(|index| (index, index)))
            };
            found = both(found, next.unwrap_or(NONE));
            at += size;
        }
        found
    }
}

fn both(one: (i32, i32), other: (i32, i32)) -> (i32, i32) {
    (one.0.min(other.0), one.1.max(other.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::quake3::DrawIndex;
    use crate::record::Record;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn extremes_are_those_of_the_run(seed in 0..1000_i32, start in 0..9000_usize, len in 1..9000_usize) {
            let indexes: Vec<i32> = (0..20_000).map(|index: i32| index.wrapping_mul(7919 + seed) % 5000).collect();
            let bytes: Vec<u8> = indexes.iter().flat_map(|index| index.to_le_bytes()).collect();
            let view = View { name: "", bytes: &bytes, record: DrawIndex::INFO };
            let run = &indexes[start..start + len];
            let wanted = (*run.iter().min().unwrap(), *run.iter().max().unwrap());
            prop_assert_eq!(Extremes::of(&view).within(start..start + len), wanted);
        }
    }
}
