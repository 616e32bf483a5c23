//! Names of materials that no entry of the table has.

use super::cut::{Cut, cut};
use super::{Options, now};
use crate::content::texdata::STRINGS;
use crate::draft::Draft;
use crate::error::Result;

pub(super) fn prune(draft: &mut Draft<'_>, options: &Options) -> Result<()> {
    let map = now(draft)?;
    let Some(slot) = map.slots().iter().find(|slot| slot.name == STRINGS && slot.length != 0) else { return Ok(()) };
    if options.keeps(STRINGS) {
        return Ok(());
    }
    // A damaged offset may mean any bytes.
    let Some(kept) = map.texture_strings()?.extents() else { return Ok(()) };
    let bytes = map.bytes(slot.id)?;
    let gone = Cut::all_but(kept, bytes.len());
    match gone.is_nothing() {
        true => Ok(()),
        false => cut(draft, &map.links()?, slot.id, STRINGS, &bytes, &gone),
    }
}
