//! Patches of entities: what is to be done to which entities of a map, and what has to be there for it.
//!
//! All targets mean the entities as they are before the patch, and all expectations are tried before anything is
//! done: a patch fits a map as a whole, or does nothing and says everything that does not fit.

mod apply;
mod fit;

use crate::content::select::Selector;

/// What is to be done to the entities of a map.
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
    /// How many entities the map has to have.
    pub entities: Option<usize>,
    /// What is done, in this order: changes of entities, then additions and moves, and removals at the end.
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
        /// What each of them has to have.
        expect: Vec<Expected>,
        /// What is changed, one after the other.
        changes: Vec<Change>,
    },
    /// Gives an entity another text, byte for byte.
    Replace {
        /// Which entity: one.
        on: Target,
        /// The text that it has to have.
        old: Option<Vec<u8>>,
        /// From brace to brace.
        text: Vec<u8>,
    },
    /// Removes entities.
    Remove {
        /// Which entities.
        on: Target,
        /// What each of them has to have.
        expect: Vec<Expected>,
    },
    /// Moves entities, in the order that they have.
    Move {
        /// Which entities.
        on: Target,
        /// What each of them has to have.
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
    /// Takes the place of the whole lump; the only operation of its patch.
    Text {
        /// The CRC-32 of the bytes that are replaced.
        old: Option<u32>,
        /// The lump's bytes, with the NUL at their end.
        text: Vec<u8>,
    },
}

/// Which entities an operation is about.
///
/// ```
/// use bspkit::op::patch::Target;
/// let door = Target::Match(vec![(b"targetname".to_vec(), b"door_1".to_vec())], None);
/// assert_eq!(door.to_string(), "the entity with `targetname` `door_1`");
/// assert_eq!(Target::Index(17).to_string(), "#17");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Target {
    /// The one of this index.
    Index(usize),
    /// Those that have all these pairs: this many, one where nothing is said.
    Match(Vec<(Vec<u8>, Vec<u8>)>, Option<usize>),
    /// Those that a selector matches: this many, one or more where nothing is said.
    Select(Selector, Option<usize>),
}

/// A place beside an entity.
///
/// What several operations put after the same entity is in the order of the operations.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Spot {
    /// Directly before it.
    Before(Target),
    /// After it.
    After(Target),
}

/// A key of an entity: the first of equal ones, or the one of a number.
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

/// What an entity has to have before it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The key.
    pub key: PairKey,
    /// Its value; `None` where the key must not be there.
    pub value: Option<Vec<u8>>,
}

/// A change of an entity's pairs; keys are counted as they are after the changes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Sets a value; a key that is not there is added after the other ones.
    Set {
        /// The key.
        key: PairKey,
        /// The value.
        value: Vec<u8>,
    },
    /// Adds a pair after the other ones, whether the key is there already or not.
    Add {
        /// The key.
        key: Vec<u8>,
        /// The value.
        value: Vec<u8>,
    },
    /// Removes the pair of a number, or all pairs of a key; it has to be there.
    Unset {
        /// The key.
        key: PairKey,
    },
    /// Gives the pair of a number, or all pairs of a key, another key; it has to be there.
    Rename {
        /// The key.
        key: PairKey,
        /// The new one.
        to: Vec<u8>,
    },
}

impl From<&str> for PairKey {
    /// The key of this very name.
    fn from(name: &str) -> Self {
        PairKey { name: name.as_bytes().to_vec(), nth: None }
    }
}
