//! Whether lumps of different sides fit together.

use std::collections::HashSet;

use super::{Conflict, Sides, is_same, twin};
use crate::check::{self, FILE_CUT};
use bspkit::dialect::Row;
use bspkit::file::{Layout, Slot};
use bspkit::finding::Finding;
use bspkit::record::Meaning;
use bspkit::{Bsp, Draft, Result};

/// Lumps that one side changed whose records refer to those of a lump of which the other side changed the size: the
/// references name other records then.
pub(super) fn torn(sides: &Sides<'_, '_>) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    for (own, other, whose) in [(sides.ours, sides.theirs, "our"), (sides.theirs, sides.ours, "their")] {
        for slot in sides.base.slots() {
            let Some(changed) = twin(own, slot).filter(|twin| !is_same(sides.base, slot, own, twin)) else { continue };
            for target in targets(own, changed) {
                let resized = sides.base.slot(target).ok().filter(|slot| is_resized(sides.base, slot, other));
                if resized.is_some_and(|slot| !is_resized(sides.base, slot, own)) {
                    let message = format!(
                        "{whose} side changes it, and the other side the number of records of {target}, \
                         to which it refers"
                    );
                    conflicts.push(Conflict::lump(&slot.name, message));
                }
            }
        }
    }
    conflicts
}

/// The lumps that the records of a slot refer to.
fn targets(bsp: &Bsp<'_>, slot: &Slot) -> HashSet<&'static str> {
    let record = bsp.row(slot).ok().and_then(Row::record);
    let fields = record.iter().flat_map(|record| record.fields.iter());
    let lumps = fields.filter_map(|field| match field.meaning {
        Meaning::Run { lump, .. } => Some(lump),
        meaning => meaning.one().map(|(lump, _)| lump),
    });
    lumps.collect()
}

fn is_resized(base: &Bsp<'_>, slot: &Slot, side: &Bsp<'_>) -> bool {
    let size = |bsp: &Bsp<'_>, slot: &Slot| bsp.decompressed_size(slot.id).unwrap_or(slot.stored.len());
    twin(side, slot).is_some_and(|twin| size(base, slot) != size(side, twin))
}

/// Errors of the merged map: conflicts for those that neither side has, and sentences about those that only theirs has.
pub(super) fn introduced(sides: &Sides<'_, '_>, draft: &Draft<'_>) -> Result<(Vec<Conflict>, Vec<String>)> {
    if draft.changes()?.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let errors = |bsp: &Bsp<'_>| -> Result<Vec<Finding>> {
        let found = check::run(bsp, &check::Options::default())?;
        Ok(found.into_iter().filter(Finding::is_error).collect())
    };
    let bytes = draft.plan(Layout::Keep)?.to_vec();
    let merged = errors(&Bsp::from_data(bytes.into(), Some(sides.ours.dialect()))?)?;
    if merged.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    // How much of a file is missing is another number where other lumps have other sizes.
    let message = |finding: &Finding| Some(finding.message.clone()).filter(|_| finding.code.name != FILE_CUT.name);
    let key = |finding: &Finding| (finding.code.name, finding.place.lump.clone(), message(finding));
    let known = |side: &Bsp<'_>| -> Result<HashSet<_>> { Ok(errors(side)?.iter().map(key).collect()) };
    let (ours, theirs) = (known(sides.ours)?, known(sides.theirs)?);
    let (mut conflicts, mut taken) = (Vec::new(), Vec::new());
    for finding in merged.iter().filter(|finding| !ours.contains(&key(finding))) {
        if theirs.contains(&key(finding)) {
            taken.push(format!("the merged map has an error of their side: {finding}"));
        } else {
            let message = format!("the merged map would have an error that neither side has: {}", finding.message);
            conflicts.push(Conflict::lump(finding.place.lump.as_deref().unwrap_or_default(), message));
        }
    }
    Ok((conflicts, taken))
}
