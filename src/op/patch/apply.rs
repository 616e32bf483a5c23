//! Applies a patch, in memory, as a whole or not at all.

use std::collections::HashMap;

use super::fit::{Located, Meant, Search};
use super::{Change, Operation, Patch, Spot};
use crate::content::entities::{Arrangement, Beside, Entities, EntityMut};
use crate::{Error, ErrorKind, Result};

impl Patch {
    /// The lump's bytes after the patch, for [`Draft::set`](crate::Draft::set).
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if the patch does not fit; the hint lists all reasons. As the methods of [`Entities`] and
    /// [`EntityMut`] for edits that no engine could read back.
    pub fn apply(&self, entities: &Entities<'_>) -> Result<Vec<u8>> {
        self.locate(entities, Search::Exact)?.apply()
    }

    /// Applies the patch to entities that are being edited, which know then which of them are new.
    ///
    /// ```
    /// use bspkit::op::patch::{Operation, Patch, Target};
    /// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
    /// let remove = Operation::Remove { on: Target::Index(6), expect: Vec::new() };
    /// Patch { entities: None, operations: vec![remove] }.apply_to(draft.entities()?)?;
    /// assert_eq!(draft.changes()?.len(), 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Patch::apply`], and [`ErrorKind::Unsupported`] for a patch that is a whole text. The entities do not change
    /// then.
    pub fn apply_to(&self, entities: &mut Entities<'_>) -> Result<()> {
        let done = self.locate(entities, Search::Exact)?.entities()?;
        *entities = done;
        Ok(())
    }

    /// The entities after a patch that does not replace the whole text.
    pub(in crate::op) fn applied<'a>(&self, entities: &Entities<'a>) -> Result<Entities<'a>> {
        self.carry_out(entities, &self.locate(entities, Search::Exact)?.meant)
    }

    fn carry_out<'a>(&self, old: &Entities<'a>, meant: &[Meant]) -> Result<Entities<'a>> {
        let mut entities = old.clone();
        let all = || self.operations.iter().zip(meant).enumerate();
        for (at, (operation, Meant { on, .. })) in all() {
            for &index in on {
                let mut entity = entities.get_mut(index)?;
                match operation {
                    Operation::Edit { changes, .. } => {
                        changes.iter().try_for_each(|change| change.apply(&mut entity)).map_err(|e| in_place(at, e))?;
                    }
                    Operation::Replace { text, .. } => entity.set_text(text).map_err(|error| in_place(at, error))?,
                    _ => {}
                }
            }
        }
        let mut order = Order::of(entities);
        for (at, (operation, meant)) in all() {
            order.arrange(operation, meant).map_err(|error| in_place(at, error))?;
        }
        let removals = all().filter(|(_, (operation, _))| matches!(operation, Operation::Remove { .. }));
        let removed: Vec<usize> = removals.flat_map(|(_, (_, meant))| &meant.on).copied().collect();
        if !removed.is_empty() {
            order.entities.remove(&removed)?;
        }
        Ok(order.entities.finish())
    }
}

impl<'a> Located<'_, '_, 'a> {
    /// The lump's bytes after the patch, for [`Draft::set`](crate::Draft::set).
    ///
    /// # Errors
    /// As the methods of [`Entities`] and [`EntityMut`] for edits that no engine could read back.
    pub fn apply(&self) -> Result<Vec<u8>> {
        if let [Operation::Text { text, .. }] = &self.patch.operations[..] {
            return Ok(text.clone());
        }
        read_back(&self.patch.carry_out(self.entities, &self.meant)?)
    }

    /// The entities after the patch, which know which of them are new.
    ///
    /// # Errors
    /// As [`Located::apply`], and [`ErrorKind::Unsupported`] for a patch that is a whole text.
    pub fn entities(&self) -> Result<Entities<'a>> {
        if let [Operation::Text { .. }] = &self.patch.operations[..] {
            return Err(Error::new(ErrorKind::Unsupported, "the patch is a whole text, which replaces the lump"));
        }
        let done = self.patch.carry_out(self.entities, &self.meant)?;
        read_back(&done)?;
        Ok(done)
    }
}

/// The bytes of patched entities, if they are read as these entities.
fn read_back(done: &Entities<'_>) -> Result<Vec<u8>> {
    let bytes = done.to_bytes();
    let read = Entities::parse(&bytes[..], *done.rules())?.len();
    if read != done.len() {
        let message = format!("the patched text would be read as {read} entities instead of {}", done.len());
        return Err(Error::new(ErrorKind::Refused, message));
    }
    Ok(bytes)
}

fn in_place(operation: usize, error: Error) -> Error {
    Error::new(error.kind(), format!("operations[{operation}] cannot be carried out")).with_source(error)
}

impl Change {
    fn apply(&self, entity: &mut EntityMut<'_, '_>) -> Result<()> {
        let done = match self {
            Change::Add { key, value } => return entity.push(key, value),
            Change::Set { key, value } => {
                return match key.nth {
                    None => entity.set(&key.name, value),
                    Some(nth) if nth == entity.entity().all(&key.name).count() + 1 => entity.push(&key.name, value),
                    Some(nth) => entity.set_nth(&key.name, nth, value),
                };
            }
            Change::Unset { key } => match key.nth {
                Some(nth) => return entity.unset_nth(&key.name, nth),
                None => (entity.unset(&key.name)?, key),
            },
            Change::Rename { key, to } => match key.nth {
                Some(nth) => return entity.rename_nth(&key.name, nth, to),
                None => (entity.rename(&key.name, to)?, key),
            },
        };
        match done {
            (0, key) => Err(Error::new(ErrorKind::NotFound, format!("#{} has no {key}", entity.index()))),
            _ => Ok(()),
        }
    }
}

/// Additions and moves.
struct Order<'a> {
    entities: Arrangement<'a>,
    /// The entity that was put last after another one, and the inverse.
    last_after: HashMap<usize, usize>,
    is_after: HashMap<usize, usize>,
}

impl<'a> Order<'a> {
    fn of(entities: Entities<'a>) -> Self {
        Order { entities: Arrangement::of(entities), last_after: HashMap::new(), is_after: HashMap::new() }
    }

    fn arrange(&mut self, operation: &Operation, meant: &Meant) -> Result<()> {
        let new;
        let ids = match operation {
            Operation::Add { pairs, .. } => {
                let pairs: Vec<_> = pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
                new = [self.entities.add(&pairs)?];
                &new[..]
            }
            Operation::AddText { text, .. } => {
                new = [self.entities.add_text(text)?];
                &new[..]
            }
            Operation::Move { .. } => &meant.on[..],
            _ => return Ok(()),
        };
        let (Some(spot), Some(beside)) = (operation.spot(), meant.beside) else { return Ok(()) };
        match self.entities.is_sorted(ids) {
            true => self.put(ids, spot, beside),
            false => ids.iter().try_for_each(|id| self.put(&[*id], spot, beside)),
        }
    }

    /// Puts entities beside another one; their order stays.
    fn put(&mut self, ids: &[usize], spot: &Spot, beside: usize) -> Result<()> {
        let Some(&last) = ids.last() else { return Ok(()) };
        for id in ids {
            if let Some(other) = self.is_after.remove(id) {
                self.last_after.remove(&other);
            }
        }
        let to = match spot {
            Spot::Before(_) => Beside::Before(beside),
            Spot::After(_) => {
                let before = self.last_after.insert(beside, last);
                self.is_after.insert(last, beside);
                if let Some(before) = before {
                    self.is_after.remove(&before);
                }
                Beside::After(before.unwrap_or(beside))
            }
        };
        self.entities.move_all(ids, to)
    }
}
