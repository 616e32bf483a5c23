//! The law that a map and its source hold the same space and show the same faces.

use bspkit::Bsp;
use bspkit::verify::Verdict;

use crate::assemble::{Options, decompile};
use crate::proof::{Effort, Proof, prove};
use crate::source::Format;

/// Compares a map with the text of a source, or with the source that [`decompile`] makes of it.
///
/// The law is skipped where nothing could be brought back from the map: it has neither brushes nor a tree, or these are
/// damaged. A text that cannot be read breaks it.
///
/// ```
/// use bspkit::verify::Verdict;
/// use bspkit_decompile::{law, source::Format};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// assert_eq!(law(&map, None), Verdict::Pass);
/// let source = std::fs::read("../../tests/maps/q2/own_rooms.map")?;
/// assert_eq!(law(&map, Some((&source, Format::Quake))), Verdict::Pass);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn law(map: &Bsp<'_>, source: Option<(&[u8], Format)>) -> Verdict {
    let proof = match source {
        Some((text, format)) => {
            prove(map, text, format, &Effort::default()).map_err(|error| Verdict::Fail(error.to_string()))
        }
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
