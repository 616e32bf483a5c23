//! The open lenses of a draft. A lens is written into the draft's slots before other code reads these slots.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

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

/// What decides the bytes of slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores<'a> {
    /// New bytes of slots, decompressed, in the file's byte order; never equal to the old ones.
    pub(super) slots: BTreeMap<SlotId, Rope<'a>>,
    /// Open lenses and tables. No open lens can change a slot that another open lens has read.
    pub(super) open: Vec<Opened<'a>>,
}

/// The stores, and the new bytes that follow from them, which a save needs several times. Whatever can change the
/// stores has them from `deref_mut`, where the bytes are forgotten.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending<'a> {
    stores: Stores<'a>,
    bytes: OnceLock<Arc<BTreeMap<SlotId, Rope<'a>>>>,
}

impl<'a> Deref for Pending<'a> {
    type Target = Stores<'a>;

    fn deref(&self) -> &Stores<'a> {
        &self.stores
    }
}

impl<'a> DerefMut for Pending<'a> {
    fn deref_mut(&mut self) -> &mut Stores<'a> {
        self.bytes.take();
        &mut self.stores
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
        self.stores.open.push(Opened { lens, access });
        Ok(self.stores.open.len() - 1)
    }

    /// Closes lenses and writes their edits into the slots. After an error all of them are still open.
    pub(super) fn close(&mut self, is_meant: impl Fn(&Access) -> bool) -> Result<()> {
        let meant = self.stores.open.iter().filter(|open| is_meant(&open.access));
        let edits = meant.map(|open| open.edits(&self.bsp)).collect::<Result<Vec<_>>>()?;
        self.stores.open.retain(|open| !is_meant(&open.access));
        for (slot, bytes) in edits.into_iter().flatten() {
            put(&self.bsp, &mut self.stores.slots, slot, bytes);
        }
        Ok(())
    }

    /// The new bytes of a slot, in the file's byte order; `None` if they are the map's own bytes.
    pub(super) fn new_bytes(&self, slot: SlotId) -> Result<Option<Rope<'a>>> {
        // At most one open lens can change a slot.
        if let Some(open) = self.stores.open.iter().find(|open| open.access.writes.contains(&slot))
            && let Some((_, bytes)) = open.edits(&self.bsp)?.into_iter().find(|(own, _)| *own == slot)
        {
            return Ok(Some(bytes));
        }
        Ok(self.stores.slots.get(&slot).cloned())
    }

    /// The new bytes of all slots that differ from the map's.
    pub(super) fn pending(&self) -> Result<Arc<BTreeMap<SlotId, Rope<'a>>>> {
        if let Some(bytes) = self.stores.bytes.get() {
            return Ok(Arc::clone(bytes));
        }
        let mut slots = self.stores.slots.clone();
        for open in &self.stores.open {
            for (slot, bytes) in open.edits(&self.bsp)? {
                put(&self.bsp, &mut slots, slot, bytes);
            }
        }
        Ok(Arc::clone(self.stores.bytes.get_or_init(|| Arc::new(slots))))
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
