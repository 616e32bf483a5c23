//! The law that a map and its source hold the same space and show the same faces.

use bspkit::Bsp;
use bspkit::verify::Verdict;

use crate::assemble::{Options, decompile};
use crate::proof::{Effort, Proof, compare, prove};
use crate::source::Source;

/// Compares a map with a source, or with the text of the one that [`decompile`] makes of it.
///
/// Without a source the law is skipped where nothing could be brought back from the map: it has neither brushes nor a
/// tree, or these are damaged. A source of such a map breaks it, as nothing shows that it is its source.
///
/// ```
/// use bspkit::verify::Verdict;
/// use bspkit_decompile::{law, source::{Format, read}};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// assert_eq!(law(&map, None), Verdict::Pass);
/// let source = read(&std::fs::read("../../tests/maps/q2/own_rooms.map")?, Format::Quake)?;
/// assert_eq!(law(&map, Some(&source)), Verdict::Pass);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn law(map: &Bsp<'_>, source: Option<&Source>) -> Verdict {
    let proof = match source {
        Some(source) => compare(map, source, &Effort::default()).map_err(|error| Verdict::Fail(error.to_string())),
        None => of_map(map).map_err(|error| Verdict::Skipped(error.to_string())),
    };
    match proof.map(|proof| proof.differences()) {
        Ok(differences) if differences.is_empty() => Verdict::Pass,
        Ok(differences) => Verdict::Fail(differences.join("; ")),
        Err(verdict) => verdict,
    }
}

fn of_map(map: &Bsp<'_>) -> bspkit::Result<Proof> {
    let found = decompile(map, &Options::default())?;
    prove(map, &found.text(), found.format, &Effort::default())
}
