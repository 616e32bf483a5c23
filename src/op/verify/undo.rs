//! Undoing a saved edit: a law that is tested on the files of the other laws.

use super::{Failure, Law, Spare, Subject, broken, compare, error, save, skipped};
use crate::bsp::Bsp;
use crate::bytes::Data;
use crate::file::{Layout, SlotId};

/// The law that setting the old text in a saved file restores it; tested on every file that the laws of edits save.
#[derive(Default)]
pub(super) struct Undo {
    tried: bool,
    broken: Option<Failure>,
    skipped: Option<Failure>,
}

impl Undo {
    /// Tests it on a file, unless it has failed before.
    pub(super) fn look_at(&mut self, saved: &[u8], law: impl FnOnce(&[u8]) -> Law) {
        if self.broken.is_some() {
            return;
        }
        match law(saved) {
            Ok(()) => self.tried = true,
            Err(failure @ Failure::DoesNotApply(_)) => self.skipped = Some(failure),
            Err(broken) => self.broken = Some(broken),
        }
    }

    pub(super) fn law(&mut self) -> Law {
        match (self.broken.take(), self.tried) {
            (Some(broken), _) => Err(broken),
            (None, true) => Ok(()),
            (None, false) => Err(self.skipped.take().unwrap_or_else(|| skipped("no edit could be tried"))),
        }
    }
}

/// Setting the old text in the saved file gives every slot its old bytes.
pub(super) fn undone(
    bsp: &Bsp<'_>,
    subject: &Subject,
    (slot, text): (SlotId, &[u8]),
    saved: &[u8],
    layout: Layout,
    spare: &mut Spare,
) -> Law {
    // If the last lump is emptied again, padding remains where there was none.
    if text.is_empty() {
        return Err(skipped("it has no entity text"));
    }
    let edited = Bsp::from_data(Data::from(saved), Some(bsp.dialect())).map_err(error(bsp, "open"))?;
    let undone = save(&edited, subject, slot, text, layout, spare)?;
    compare(bsp, &undone, None, Some((slot, text))).map_err(broken)?;
    spare.give(undone);
    Ok(())
}
