//! Patches of entities: operations on entities of a map, and what they expect.
//!
//! All targets refer to the entities before the patch, and all expectations are checked first: a patch is applied as a
//! whole, or not at all with an error that lists everything that does not fit, and the entities that may be meant.
//!
//! The patches of [`diff`](super::diff::diff) name entities as people do, so that they fit maps with more, fewer or
//! moved entities. [`Patch::locate`] says where each was found, and guesses on request.

mod fit;
mod numbers;
mod twice;

use std::collections::HashMap;

use bspkit::content::entities::{Arrangement, Beside, Entities, EntityMut, Key};
use bspkit::content::select::Selector;
use bspkit::{Error, ErrorKind, Result};
use fit::Meant;
pub use fit::{ALREADY, Found, Located, Search};
pub(super) use fit::{Finder, is_brush_model};

/// Operations on the entities of a map.
///
/// ```
/// use bspkit::content::entities::{Entities, Key};
/// use bspkit::dialect::EntityRules;
/// use bspkit_ops::patch::{Change, Expected, Operation, Patch, Target};
///
/// let text = b"{\n\"classname\" \"worldspawn\"\n\"gravity\" \"800\"\n}\n\0";
/// let entities = Entities::parse(&text[..], EntityRules::QUAKE2)?;
/// let patch = Patch {
///     entities: Some(1),
///     operations: vec![Operation::Edit {
///         on: Target::Index(0),
///         expect: vec![Expected { key: Key::literal("gravity"), value: Some(b"800".to_vec()) }],
///         changes: vec![Change::Set { key: Key::literal("gravity"), value: b"100".to_vec() }],
///     }],
///     result: None,
/// };
/// assert_eq!(patch.apply(&entities)?, b"{\n\"classname\" \"worldspawn\"\n\"gravity\" \"100\"\n}\n\0");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    /// How many entities the map must have.
    pub entities: Option<usize>,
    /// The operations. They are done in this order: changes of entities, additions and moves, removals.
    pub operations: Vec<Operation>,
    /// The CRC-32 of the entity lump's bytes that the patch leads to, from the map that it was made for: a map that has
    /// these bytes has the patch already.
    pub result: Option<u32>,
}

/// One operation of a [`Patch`].
///
/// ```
/// use bspkit_ops::patch::{Operation, Target};
/// let remove = Operation::Remove { on: Target::Select("info_null".parse()?, None), expect: Vec::new() };
/// # assert_eq!(remove.clone(), remove);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Changes pairs of entities.
    Edit {
        /// Which entities.
        on: Target,
        /// What each of them must have.
        expect: Vec<Expected>,
        /// The changes, in order.
        changes: Vec<Change>,
    },
    /// Replaces the text of an entity, byte for byte.
    Replace {
        /// Which entity: one.
        on: Target,
        /// The text that it must have.
        old: Option<Vec<u8>>,
        /// From brace to brace.
        text: Vec<u8>,
    },
    /// Removes entities.
    Remove {
        /// Which entities.
        on: Target,
        /// What each of them must have.
        expect: Vec<Expected>,
    },
    /// Moves entities; their order stays.
    Move {
        /// Which entities.
        on: Target,
        /// What each of them must have.
        expect: Vec<Expected>,
        /// Where to.
        to: Spot,
    },
    /// Adds an entity.
    Add {
        /// Its pairs in order, written as the entities beside it are.
        pairs: Vec<(Vec<u8>, Vec<u8>)>,
        /// Where to; `None` is after the last entity.
        to: Option<Spot>,
    },
    /// Adds an entity of this text, byte for byte.
    AddText {
        /// From brace to brace.
        text: Vec<u8>,
        /// Where to; `None` is after the last entity.
        to: Option<Spot>,
    },
    /// Replaces the whole lump; it must be the only operation of its patch.
    Text {
        /// The CRC-32 of the bytes that are replaced.
        old: Option<u32>,
        /// The lump's bytes, with the NUL at their end.
        text: Vec<u8>,
    },
}

/// The entities of an operation.
///
/// ```
/// use bspkit_ops::patch::{Match, Target};
/// let door = Target::Match(Match::of([("targetname", "door_1")]));
/// assert_eq!(door.to_string(), "the entity with `targetname` `door_1`");
/// assert_eq!(Target::Index(17).to_string(), "#17");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The entity with this index.
    Index(usize),
    /// The entities that have some pairs.
    Match(Match),
    /// The entities that a selector matches, with their expected number; at least one by default.
    Select(Selector, Option<usize>),
}

/// Entities by their pairs.
///
/// ```
/// use bspkit_ops::patch::{Match, Target};
/// let wall = Match { only: true, nth: Some(2), count: Some(3), ..Match::of([("classname", "func_wall")]) };
/// assert_eq!(Target::Match(wall).to_string(), "entity 2 of 3 with only `classname` `func_wall`");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Match {
    /// They have all these pairs. Keys compare without case.
    pub pairs: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether they have these pairs in this order, in this case, and no others. The number of a brush model
    /// (`model` `*3`) does not count, since compilers give another one.
    pub only: bool,
    /// How many of them there must be; one by default.
    pub count: Option<usize>,
    /// Which of them is meant, in the order of the map from 1; all of them by default.
    pub nth: Option<usize>,
    /// The index of the entity in the map that the patch was made from. It decides nothing if the entity is found.
    pub index: Option<usize>,
}

impl Match {
    /// The entity that has all these pairs.
    pub fn of<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> Self {
        let pairs = pairs.into_iter().map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec()));
        Match { pairs: pairs.collect(), ..Match::default() }
    }
}

/// A place beside an entity.
///
/// If several operations put entities after the same entity, the order of the operations is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Spot {
    /// Directly before it.
    Before(Target),
    /// After it.
    After(Target),
}

/// What an entity must have before it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The key.
    pub key: Key,
    /// Its value; `None` if the entity must not have the key.
    pub value: Option<Vec<u8>>,
}

/// A change of the pairs of an entity. Numbers of keys refer to the state after the previous changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Sets a value; a missing key is added after the others.
    Set {
        /// The key.
        key: Key,
        /// The value.
        value: Vec<u8>,
    },
    /// Adds a pair after the others, even if the key exists.
    Add {
        /// The key.
        key: Vec<u8>,
        /// The value.
        value: Vec<u8>,
    },
    /// Removes the pair with a number, or all pairs of a key; it must exist.
    Unset {
        /// The key.
        key: Key,
    },
    /// Renames the key of the pair with a number, or of all pairs of a key; it must exist.
    Rename {
        /// The key.
        key: Key,
        /// The new one.
        to: Vec<u8>,
    },
}

// Applies a patch, in memory, as a whole or not at all.

impl Patch {
    /// The lump's bytes after the patch, for [`Draft::set`](bspkit::Draft::set).
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
    /// use bspkit_ops::patch::{Operation, Patch, Target};
    /// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
    /// let remove = Operation::Remove { on: Target::Index(6), expect: Vec::new() };
    /// Patch { entities: None, operations: vec![remove], result: None }.apply_to(draft.entities()?)?;
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
    pub(super) fn applied<'a>(&self, entities: &Entities<'a>) -> Result<Entities<'a>> {
        let located = self.locate(entities, Search::Exact)?;
        if located.already { Ok(entities.clone()) } else { self.carry_out(entities, &located.meant) }
    }

    fn carry_out<'a>(&self, old: &Entities<'a>, meant: &[Meant]) -> Result<Entities<'a>> {
        let mut entities = old.clone();
        let all = || self.operations.iter().zip(meant).enumerate();
        let mut gone: HashMap<usize, usize> = HashMap::new();
        for (at, (operation, Meant { on, .. })) in all() {
            for &index in on {
                let is_edit = matches!(operation, Operation::Edit { .. } | Operation::Replace { .. });
                if let Some(earlier) = gone.get(&index).filter(|_| is_edit) {
                    let message = format!("operations[{earlier}] removes entity {index}");
                    return Err(in_place(at, Error::new(ErrorKind::Refused, message)));
                }
                if matches!(operation, Operation::Remove { .. }) {
                    gone.insert(index, at);
                }
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
    /// The lump's bytes after the patch, for [`Draft::set`](bspkit::Draft::set).
    ///
    /// # Errors
    /// As the methods of [`Entities`] and [`EntityMut`] for edits that no engine could read back.
    pub fn apply(&self) -> Result<Vec<u8>> {
        if let [Operation::Text { text, .. }] = &self.patch.operations[..] {
            return Ok(text.clone());
        }
        if self.already {
            return Ok(self.entities.to_bytes());
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
        if self.already {
            return Ok(self.entities.clone());
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
            Change::Set { key, value } => return key.set(entity, value),
            Change::Unset { key } => (key.unset(entity)?, key),
            Change::Rename { key, to } => (key.rename(entity, to)?, key),
        };
        match done {
            (0, key) => Err(Error::new(ErrorKind::NotFound, format!("#{} has no `{key}`", entity.index()))),
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
