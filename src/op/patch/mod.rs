//! Patches of entities: operations on entities of a map, and what they expect.
//!
//! All targets refer to the entities before the patch, and all expectations are checked first: a patch is applied as a
//! whole, or not at all with an error that lists everything that does not fit, and the entities that may be meant.
//!
//! The patches of [`diff`](super::diff::diff) name entities as people do, so that they fit maps with more, fewer or
//! moved entities. [`Patch::locate`] says where each was found, and guesses on request.

mod apply;
mod find;
mod fit;

pub(in crate::op) use find::{Finder, is_brush_model};
pub use fit::{Found, Located, Search};

use crate::content::select::Selector;

/// Operations on the entities of a map.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
/// use bspkit::op::patch::{Change, Expected, Operation, PairKey, Patch, Target};
///
/// let text = b"{\n\"classname\" \"worldspawn\"\n\"gravity\" \"800\"\n}\n\0";
/// let entities = Entities::parse(&text[..], EntityRules::QUAKE2)?;
/// let patch = Patch {
///     entities: Some(1),
///     operations: vec![Operation::Edit {
///         on: Target::Index(0),
///         expect: vec![Expected { key: PairKey::from("gravity"), value: Some(b"800".to_vec()) }],
///         changes: vec![Change::Set { key: PairKey::from("gravity"), value: b"100".to_vec() }],
///     }],
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
}

/// One operation of a [`Patch`].
///
/// ```
/// use bspkit::op::patch::{Operation, Target};
/// let remove = Operation::Remove { on: Target::Select("info_null".parse()?, None), expect: Vec::new() };
/// # assert_eq!(remove.clone(), remove);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
/// use bspkit::op::patch::{Match, Target};
/// let door = Target::Match(Match::of([("targetname", "door_1")]));
/// assert_eq!(door.to_string(), "the entity with `targetname` `door_1`");
/// assert_eq!(Target::Index(17).to_string(), "#17");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
/// use bspkit::op::patch::{Match, Target};
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
#[non_exhaustive]
pub enum Spot {
    /// Directly before it.
    Before(Target),
    /// After it.
    After(Target),
}

/// A key of an entity: the first of equal keys, or the one with a number.
///
/// ```
/// use bspkit::op::patch::PairKey;
/// let second = PairKey { name: b"OnTrigger".to_vec(), nth: Some(2) };
/// assert_eq!(second.to_string(), "`OnTrigger#2`");
/// assert_eq!(PairKey::from("light").to_string(), "`light`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairKey {
    /// The key; case does not matter.
    pub name: Vec<u8>,
    /// Which of equal keys, from 1.
    pub nth: Option<usize>,
}

/// What an entity must have before it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The key.
    pub key: PairKey,
    /// Its value; `None` if the entity must not have the key.
    pub value: Option<Vec<u8>>,
}

/// A change of the pairs of an entity. Numbers of keys refer to the state after the previous changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Sets a value; a missing key is added after the others.
    Set {
        /// The key.
        key: PairKey,
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
        key: PairKey,
    },
    /// Renames the key of the pair with a number, or of all pairs of a key; it must exist.
    Rename {
        /// The key.
        key: PairKey,
        /// The new one.
        to: Vec<u8>,
    },
}

impl From<&str> for PairKey {
    /// The key with exactly this name.
    fn from(name: &str) -> Self {
        PairKey { name: name.as_bytes().to_vec(), nth: None }
    }
}
