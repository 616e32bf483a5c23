//! Detects which of several layouts a lump has from how the lumps agree. Version numbers are sometimes wrong; these
//! sums hold in every undamaged map.

use super::geometry::{Brush, Model};
use crate::dialect::shared::SurfEdge;
use crate::dialect::{Facts, Row};
use crate::record::Field;

const FACES: &str = "FACES";

/// The size of the records that the dialect has for a lump.
fn size_in(facts: &Facts<'_>, lump: &str) -> usize {
    facts.sizes(lump).next().unwrap_or(1)
}

/// How a proof ends: the reason why not.
type Fit = Result<(), String>;

/// How many faces the models have in all.
fn faces_of_models(facts: &Facts<'_>) -> i64 {
    facts.sum("MODELS", |model: Model| i64::from(model.face_count))
}

/// How many faces there are for what has a record for each of them: where the structs are known, as many as are
/// there.
fn faces_for(facts: &Facts<'_>, row: &Row) -> i64 {
    let len = facts.len(FACES);
    let known = facts.sizes(FACES).filter(|size| len > 0 && len.is_multiple_of(*size));
    let mut counts = known.filter_map(|size| i64::try_from(len / size).ok());
    let is_told = facts.is_likely && row.lump != FACES;
    counts.next().filter(|_| is_told).unwrap_or_else(|| faces_of_models(facts))
}

/// Whether the map as a whole has the known structs: more of the sums hold than do not, or nearly hold, as after edits.
/// In a game with other structs none would hold: their sizes differ by more than a tenth.
pub(in crate::dialect) fn is_usual(facts: &Facts<'_>) -> bool {
    let are = |lump: &str, wanted: i64| {
        let len = facts.len(lump);
        let is_it = |size: usize| {
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
            len.is_multiple_of(size) && (len / size).abs_diff(wanted) <= wanted / 10
        };
        (len > 0 && wanted > 0).then(|| facts.sizes(lump).any(is_it))
    };
    let last_edge = facts.most("SURFEDGES", |edge: SurfEdge| i64::from(edge.edge.unsigned_abs()));
    let sides = facts.sum("BRUSHES", |brush: Brush| i64::from(brush.side_count));
    let sums = [
        are(FACES, faces_of_models(facts)),
        are("LEAFS", leafs_of_tree(facts)),
        are("EDGES", last_edge.saturating_add(1)),
        are("BRUSHSIDES", sides),
    ];
    let number = |wanted: bool| sums.iter().flatten().filter(|holds| **holds == wanted).count();
    number(true) > number(false)
}

/// How many leafs the tree has: one more than nodes and models.
fn leafs_of_tree(facts: &Facts<'_>) -> i64 {
    let inner = facts.count("NODES", size_in(facts, "NODES")) + facts.count("MODELS", Model::SIZE);
    i64::try_from(inner).map_or(i64::MAX, |inner| inner.saturating_add(1))
}

/// Whether this many bytes are one record of this size for each leaf of the tree. If the nodes or models are ragged,
/// the last one may count or not.
fn are_leafs(facts: &Facts<'_>, len: usize, size: usize) -> bool {
    let is_ragged = |lump: &str, size: usize| !facts.is_exact && !facts.len(lump).is_multiple_of(size);
    let ragged = [("NODES", size_in(facts, "NODES")), ("MODELS", Model::SIZE)];
    let more = ragged.into_iter().filter(|(lump, size)| is_ragged(lump, *size)).count();
    let least = leafs_of_tree(facts);
    (0..=more).filter_map(|more| i64::try_from(more).ok()).any(|more| is_made_of(facts, len, size, least + more))
}

/// Whether this many bytes are exactly `count` times `size`; in a ragged lump less than one record may be extra or
/// missing.
fn is_made_of(facts: &Facts<'_>, len: usize, size: usize, count: i64) -> bool {
    let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
    bytes.is_some_and(|bytes| len == bytes || !facts.is_exact && len.abs_diff(bytes) < size)
}

fn exactly(facts: &Facts<'_>, row: &Row, count: i64, of_what: &str) -> Fit {
    let (len, size) = (facts.len(row.lump), size_of_record(row));
    match is_made_of(facts, len, size, count) {
        true => Ok(()),
        false => Err(format!("its {len} bytes are not {size} for each of the {count} {of_what}")),
    }
}

fn size_of_record(row: &Row) -> usize {
    row.record().map_or(0, |record| record.size)
}

/// Records of this size, as many as the models have faces.
pub(in crate::dialect) fn faces_of_this_size(facts: &Facts<'_>, row: &Row) -> Fit {
    exactly(facts, row, faces_for(facts, row), "faces of the models")
}

/// A record for each face of the models, in a lump with only one known size.
pub(in crate::dialect) fn one_a_face(facts: &Facts<'_>, row: &Row) -> Fit {
    exactly(facts, row, faces_for(facts, row), "faces of the models")
}

/// The struct of the faces, in a lump whose number of faces is independent.
pub(in crate::dialect) fn like_the_faces(facts: &Facts<'_>, row: &Row) -> Fit {
    let (faces, count, size) = (facts.len(FACES), faces_of_models(facts), size_of_record(row));
    let len = facts.len(row.lump);
    let is_known = faces == 0 || facts.is_likely || is_made_of(facts, faces, size, count);
    match (is_known, if facts.is_exact { len % size.max(1) } else { 0 }) {
        (true, 0) => Ok(()),
        (true, _) => Err(format!("its {len} bytes are not a multiple of {size}")),
        (false, _) => Err(format!(
            "it has the struct of the faces, and their {faces} bytes are not {size} for each of the {count} faces of \
             the models"
        )),
    }
}

/// The faces have a known size. Vindictus has version 20 like others, but widened faces and other structs.
pub(in crate::dialect) fn with_known_faces(facts: &Facts<'_>, _: &Row) -> Fit {
    let (faces, count) = (facts.len(FACES), faces_of_models(facts));
    match faces == 0 || facts.is_likely || facts.sizes(FACES).any(|size| is_made_of(facts, faces, size, count)) {
        true => Ok(()),
        false => Err(format!(
            "games with another struct of faces have another one here too, and no known struct gives {faces} bytes for \
             the {count} faces of the models"
        )),
    }
}

/// Leafs of this size, as many as the tree has.
pub(in crate::dialect) fn leafs_of_this_size(facts: &Facts<'_>, row: &Row) -> Fit {
    one_for_leafs(facts, row, "leafs that the nodes and models call for")
}

/// A record for each leaf, for a list beside the leafs.
pub(in crate::dialect) fn one_a_leaf(facts: &Facts<'_>, row: &Row) -> Fit {
    one_for_leafs(facts, row, "leafs of the tree")
}

fn one_for_leafs(facts: &Facts<'_>, row: &Row, of_what: &str) -> Fit {
    let (len, size) = (facts.len(row.lump), size_of_record(row));
    // In an edited map there are as many as leafs, whatever the tree calls for.
    let is_beside = |leaf: usize| {
        let leafs = facts.len("LEAFS");
        row.lump != "LEAFS" && leafs.is_multiple_of(leaf) && len > 0 && leafs / leaf * size == len && is_usual(facts)
    };
    match are_leafs(facts, len, size) || facts.sizes("LEAFS").any(is_beside) {
        true => Ok(()),
        false => exactly(facts, row, leafs_of_tree(facts), of_what),
    }
}

/// Nodes whose tree has as many leafs as the map.
pub(in crate::dialect) fn nodes_of_this_size(facts: &Facts<'_>, row: &Row) -> Fit {
    let (len, leafs, wanted) = (facts.len(row.lump), facts.len("LEAFS"), leafs_of_tree(facts));
    let node = size_in(facts, "NODES");
    let fits = facts.sizes("LEAFS").any(|size| are_leafs(facts, leafs, size));
    match (fits || facts.is_likely) && (len % node == 0 || !facts.is_exact) {
        true => Ok(()),
        false => Err(format!(
            "its {len} bytes as nodes of {node} call for {wanted} leafs, which {leafs} bytes of leafs are not"
        )),
    }
}

/// As many sides as the brushes have.
pub(in crate::dialect) fn sides_of_brushes(facts: &Facts<'_>, row: &Row) -> Fit {
    let sides = facts.sum("BRUSHES", |brush: Brush| i64::from(brush.side_count));
    exactly(facts, row, sides, "sides of the brushes")
}

/// A record for each record of another lump.
pub(in crate::dialect) fn one_for_each(facts: &Facts<'_>, row: &Row, lump: &str, size: usize, of_what: &str) -> Fit {
    let count = i64::try_from(facts.count(lump, size)).unwrap_or(i64::MAX);
    exactly(facts, row, count, of_what)
}

/// A record for each record of another lump, which has one of these sizes.
pub(in crate::dialect) fn one_for_one_of(
    facts: &Facts<'_>,
    row: &Row,
    lump: &str,
    sizes: &[usize],
    of_what: &str,
) -> Fit {
    let len = facts.len(lump);
    let mut fits = sizes.iter().filter(|size| len.is_multiple_of(**size));
    match fits.any(|size| one_for_each(facts, row, lump, *size, of_what).is_ok()) {
        true => Ok(()),
        false => {
            Err(format!("its {} bytes are not {} for each of the {of_what}", facts.len(row.lump), size_of_record(row)))
        }
    }
}

/// Lists that end where the lump does, or this many bytes before.
pub(in crate::dialect) fn ends(facts: &Facts<'_>, row: &Row, spare: &[usize]) -> Fit {
    let bytes = facts.own(row);
    let end = row.parts(&bytes).map_err(|error| error.to_string())?.last().map_or(0, |list| list.range.end);
    let left = bytes.len() - end;
    match spare.contains(&left) {
        true => Ok(()),
        false => Err(format!("{left} bytes are left after its lists")),
    }
}

/// Lists that end where the lump does.
pub(in crate::dialect) fn ends_with_its_lists(facts: &Facts<'_>, row: &Row) -> Fit {
    ends(facts, row, &[0])
}
