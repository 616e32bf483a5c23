//! The faults for which a part of a map cannot be read, whoever reads it.

use bspkit::Bsp;
use bspkit::finding::{Code, Finding};

use super::finding::{
    COUNT_MISFIT, DISP_FACE, DISP_VERTS, EDGE_RANGE, ENTITY_STRUCTURE, FACE_EDGES, FILE_CUT, GAME_DIRECTORY,
    INDEX_RANGE, LIGHT_PAGE, LIGHT_RANGE, LUMP_DECOMPRESS, LUMP_IN_HEADER, LUMP_MISFIT, LUMP_OUTSIDE, LUMP_RAGGED,
    PATCH_SIZE, RUN_RANGE, STRING_PLACE, SURFACE_INDEX, SURFACE_KIND, TEXTURE_PLACE,
};
use super::{Options, run};

/// Faults of what is drawn or written down: bytes that are missing, and numbers that name nothing.
static UNREADABLE: [&Code; 22] = [
    &FILE_CUT,
    &LUMP_OUTSIDE,
    &LUMP_IN_HEADER,
    &LUMP_DECOMPRESS,
    &LUMP_RAGGED,
    &LUMP_MISFIT,
    &GAME_DIRECTORY,
    &COUNT_MISFIT,
    &INDEX_RANGE,
    &RUN_RANGE,
    &EDGE_RANGE,
    &FACE_EDGES,
    &SURFACE_KIND,
    &SURFACE_INDEX,
    &PATCH_SIZE,
    &DISP_VERTS,
    &DISP_FACE,
    &STRING_PLACE,
    &TEXTURE_PLACE,
    &LIGHT_RANGE,
    &LIGHT_PAGE,
    &ENTITY_STRUCTURE,
];

/// The findings of [`run`] for which a part of the map cannot be read: what a program shows or writes of such a map may
/// lack it. Faults at which only an engine stops are not among them.
///
/// ```
/// use bspkit::dialect::quake2;
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// assert!(bspkit_ops::check::unreadable(&map).is_empty());
/// let mut draft = map.draft();
/// draft.update(quake2::MODELS, 1, |model| model.face_count = 9999)?;
/// let broken = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// assert_eq!(bspkit_ops::check::unreadable(&broken)[0].code.name, "run-range");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn unreadable(bsp: &Bsp<'_>) -> Vec<Finding> {
    // Only an engine that is named could be unknown.
    let mut findings = run(bsp, &Options::default()).unwrap_or_default();
    findings.retain(is_unreadable);
    findings
}

/// Whether a finding is one of those of [`unreadable`].
pub fn is_unreadable(finding: &Finding) -> bool {
    UNREADABLE.contains(&finding.code)
}
