//! The open lenses of a draft. A lens is written into the draft's slots before other code reads these slots.

use std::collections::BTreeMap;

use super::Draft;
use crate::bsp::Bsp;
use crate::bytes::{ByteOrder, Rope};
use crate::content::lens::{Access, Open, Reader};
use crate::error::Result;
use crate::file::SlotId;

/// A lens, and the slots that it depends on.
#[derive(Clone, Debug)]
pub(super) struct Opened<'a> {
    pub(super) lens: Open<'a>,
    pub(super) access: Access,
}

impl<'a> Opened<'a> {
    /// The slots that the lens has changed, with their new bytes in the file's byte order.
    fn edits(&self, bsp: &Bsp<'a>) -> Result<Vec<(SlotId, Rope<'a>)>> {
        let new = self.access.writes.iter().zip(self.lens.edits()?);
        let new = new.filter_map(|(slot, bytes)| Some((*slot, bytes?)));
        Ok(match bsp.byte_order() {
            ByteOrder::Little => new.collect(),
            ByteOrder::Big => {
                new.map(|(slot, bytes)| (slot, Rope::from(bsp.in_own_order(slot, bytes.to_data())))).collect()
            }
        })
    }
}

impl<'a> Draft<'a> {
    /// Opens a lens, with the pending edits of all slots that it reads, and closes the open lenses that conflict with
    /// it.
    pub(super) fn open_lens(&mut self, read: impl FnOnce(&Reader<'_, 'a>) -> Result<Open<'a>>) -> Result<usize> {
        let new = |slot| Ok(self.new_bytes(slot)?.map(|bytes| bytes.to_data()));
        let from = Reader::new(&self.bsp, &new);
        let lens = read(&from)?;
        let access = from.into_access();
        self.close(|other| other.conflicts(&access))?;
        self.open.push(Opened { lens, access });
        Ok(self.open.len() - 1)
    }

    /// Closes lenses and writes their edits into the slots. After an error all of them are still open.
    pub(super) fn close(&mut self, is_meant: impl Fn(&Access) -> bool) -> Result<()> {
        let meant = self.open.iter().filter(|open| is_meant(&open.access));
        let edits = meant.map(|open| open.edits(&self.bsp)).collect::<Result<Vec<_>>>()?;
        self.open.retain(|open| !is_meant(&open.access));
        for (slot, bytes) in edits.into_iter().flatten() {
            put(&self.bsp, &mut self.slots, slot, bytes);
        }
        Ok(())
    }

    /// The new bytes of a slot, in the file's byte order; `None` if they are the map's own bytes.
    pub(super) fn new_bytes(&self, slot: SlotId) -> Result<Option<Rope<'a>>> {
        // At most one open lens can change a slot.
        if let Some(open) = self.open.iter().find(|open| open.access.writes.contains(&slot))
            && let Some((_, bytes)) = open.edits(&self.bsp)?.into_iter().find(|(own, _)| *own == slot)
        {
            return Ok(Some(bytes));
        }
        Ok(self.slots.get(&slot).cloned())
    }

    /// The new bytes of all slots that differ from the map's.
    pub(super) fn pending(&self) -> Result<BTreeMap<SlotId, Rope<'a>>> {
        let mut slots = self.slots.clone();
        for open in &self.open {
            for (slot, bytes) in open.edits(&self.bsp)? {
                put(&self.bsp, &mut slots, slot, bytes);
            }
        }
        Ok(slots)
    }
}

/// Replaces a slot's bytes. The map's own bytes are not an edit. A slot that cannot be decompressed differs from all
/// bytes.
pub(super) fn put<'a>(bsp: &Bsp<'a>, slots: &mut BTreeMap<SlotId, Rope<'a>>, slot: SlotId, bytes: Rope<'a>) {
    if bsp.bytes(slot).is_ok_and(|old| bytes == *old) {
        slots.remove(&slot);
    } else {
        slots.insert(slot, bytes);
    }
}
