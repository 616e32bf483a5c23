//! A look at the new file where an edited lump shares its bytes with another one: it is read again before it counts as
//! planned. Such maps are damaged or odd, and rare.

use std::collections::HashSet;

use super::Draft;
use crate::bsp::Bsp;
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Hint, Place, Result};
use crate::file::{Layout, Plan, Slot, SlotId};

impl Draft<'_> {
    /// Refuses a plan by which a lump would not have its content in the new file.
    pub(super) fn look_at_shared(&self, plan: &Plan<'_>) -> Result<()> {
        if !self.shares_bytes(plan) {
            return Ok(());
        }
        let new = Bsp::from_data(plan.to_vec().into(), Some(self.bsp.dialect()));
        let edited: HashSet<SlotId> = plan.report().edits.iter().map(|edit| edit.slot).collect();
        let is_kept = |slot: &&Slot| {
            let twin = new.as_ref().ok().and_then(|new| Some((new, new.container().slot(slot.id)?)));
            twin.is_some_and(|(new, twin)| match edited.contains(&slot.id) {
                true => self.bytes(slot.id).is_ok_and(|own| new.bytes(twin.id).is_ok_and(|found| *own == *found)),
                false => self.bsp.stored(slot.id) == new.stored(twin.id),
            })
        };
        let is_free = |slot: &&Slot| {
            self.holds_others(slot) || plan.report().overwritten.contains(&slot.name) || slot.bounds.is_damaged()
        };
        match self.bsp.slots().iter().filter(|slot| !is_free(slot)).find(|slot| !is_kept(slot)) {
            None => Ok(()),
            Some(slot) => {
                let message = format!("{} shares its bytes with another lump, and would lose some of them", slot.name);
                let error = Error::new(ErrorKind::Refused, message).at(Place::default().lump(&*slot.name));
                Err(if plan.layout() == Layout::Keep { error } else { error.with_hint(Hint::Keep) })
            }
        }
    }

    /// Whether an edited slot and another one have bytes in common. The game lump has those of its members.
    fn shares_bytes(&self, plan: &Plan<'_>) -> bool {
        let edited: HashSet<SlotId> = plan.report().edits.iter().map(|edit| edit.slot).collect();
        let share = |is_meant: &dyn Fn(&&Slot) -> bool| {
            let mut slots: Vec<&Slot> =
                self.bsp.slots().iter().filter(|slot| !slot.stored.is_empty()).filter(is_meant).collect();
            slots.sort_by_key(|slot| slot.stored.start);
            let (mut end, mut end_of_edited) = (0, 0);
            slots.into_iter().any(|slot| {
                let is_edited = edited.contains(&slot.id);
                let shares = slot.stored.start < if is_edited { end } else { end_of_edited };
                end = end.max(slot.stored.end);
                end_of_edited = end_of_edited.max(if is_edited { slot.stored.end } else { 0 });
                shares
            })
        };
        share(&|slot| !self.holds_others(slot)) || share(&|slot| !matches!(slot.id, SlotId::Game(_)))
    }

    /// Whether a slot only holds others.
    fn holds_others(&self, slot: &Slot) -> bool {
        self.bsp.role(Role::GameLump).is_some_and(|lump| lump.id == slot.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, dialect};

    /// A planted fault: the plan of another edit.
    #[test]
    fn a_plan_that_loses_bytes_of_a_shared_lump_is_refused() {
        let mut bytes = Builder::new(&dialect::QUAKE2).lump(1, [1; 40]).lump(2, [2; 40]).build().unwrap();
        let map = |bytes: &[u8]| Bsp::from_vec(bytes.to_vec()).unwrap();
        let planned = |map: &Bsp<'static>, byte: u8| {
            let mut draft = map.draft();
            draft.set(SlotId::Lump(1), vec![byte; 40]).unwrap();
            let plan = draft.plan(Layout::Keep).unwrap();
            (draft, plan)
        };
        let looked = |map: &Bsp<'static>| {
            let ((draft, plan), (_, other)) = (planned(map, 7), planned(map, 8));
            (draft.look_at_shared(&plan).is_ok(), draft.look_at_shared(&other).is_ok())
        };
        assert_eq!(looked(&map(&bytes)), (true, true), "nothing is shared, so that nothing is read again");
        // Lump 2 begins in the middle of lump 1.
        let entry = |lump: usize| 8 + 8 * lump;
        let start = u32::from_le_bytes(bytes[entry(1)..][..4].try_into().unwrap()) + 20;
        bytes[entry(2)..][..4].copy_from_slice(&start.to_le_bytes());
        assert_eq!(looked(&map(&bytes)), (true, false));
    }
}
