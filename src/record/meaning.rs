//! What the numbers of fields mean: which of them name records, and how.

use std::fmt;

/// The meaning of a field's numbers, as far as a check, a text form, or an edit that moves records needs it.
///
/// ```
/// use bspkit::dialect::quake2::Face;
/// use bspkit::record::{Gone, Meaning, Record};
/// let plane = Face::INFO.field("plane").unwrap();
/// assert_eq!(plane.meaning, Meaning::Index { lump: "PLANES", none: &[], gone: Gone::Needed });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// A quantity, or a number that is not checked.
    Plain,
    /// The index of a record. The numbers in `none` are legal too and name no record.
    Index {
        /// The lump with the records, by the dialect's name.
        lump: &'static str,
        /// Legal numbers that are not an index.
        none: &'static [i64],
        /// What becomes of it if the record is removed.
        gone: Gone,
    },
    /// The index of a record, if there is a record of this index; other numbers are legal and name nothing.
    Perhaps {
        /// The lump with the records.
        lump: &'static str,
        /// What becomes of it if the record is removed.
        gone: Gone,
    },
    /// The index of a record, if the records of a list that name this one have the same number in their field of this
    /// name; otherwise a number of another table, which names nothing.
    Twin {
        /// The lump with the records.
        lump: &'static str,
        /// The list with the records that name this one.
        list: &'static str,
        /// The field by which they name it.
        by: &'static str,
    },
    /// The index of a record, or that times -1.
    Signed {
        /// The lump with the records.
        lump: &'static str,
    },
    /// The index of a record in the low bits of the number.
    Bits {
        /// The lump with the records.
        lump: &'static str,
        /// The bits of the index.
        mask: u32,
    },
    /// The index of the first of several consecutive records. If their count is 0, any number is legal.
    Run {
        /// The lump with the records, or a list of records as `lump.list`.
        lump: &'static str,
        /// Their count, in a field of the same record.
        count: Count,
        /// What their order means.
        order: Order,
    },
    /// As a run of several records; if the count is this number, the index of a record in another lump.
    RunOr {
        /// The lump with the records of the run.
        lump: &'static str,
        /// Their count.
        count: Count,
        /// What their order means.
        order: Order,
        /// The count for which the number is an index.
        unless: i64,
        /// The lump that it is an index of.
        other: &'static str,
        /// The number for no record of that lump. It replaces one whose record is removed, since nothing needs it.
        none: i64,
    },
    /// The first items of an array are indices of records; the others are garbage.
    Items {
        /// The lump with the records.
        lump: &'static str,
        /// The number of items that are indices, in a field of the same record.
        count: Count,
    },
    /// How many records belong to this one: they follow those that belong to the records before it.
    Share {
        /// The lump with the records.
        lump: &'static str,
        /// The first records, which belong to none.
        skip: usize,
    },
    /// The index of a node; for a leaf, the index with all bits inverted.
    Child,
    /// The index of a record of the same tree; negative numbers end it.
    Branch {
        /// The lump with the records.
        lump: &'static str,
    },
    /// The index of the next record of a chain; 0 and negative numbers end it.
    Next {
        /// The lump with the records.
        lump: &'static str,
    },
    /// The index of a record of one of two lists, by another field: of the first list if that is 0.
    Either {
        /// The field.
        by: &'static str,
        /// The lists.
        lists: [&'static str; 2],
    },
    /// A name that is `*` and an index. Other names name nothing.
    Starred {
        /// The lump with the records.
        lump: &'static str,
    },
    /// The offset in bytes of something in a lump that is not found by index. It stays when records move.
    Offset {
        /// The lump.
        lump: &'static str,
    },
    /// Bits, each with a name.
    Flags(FlagKind),
}

impl Meaning {
    /// The lump in which a number is the index of one record, and the numbers that are none.
    pub fn one(self) -> Option<(&'static str, &'static [i64])> {
        match self {
            Meaning::Index { lump, none, .. } => Some((lump, none)),
            Meaning::Next { lump } => Some((lump, &[0])),
            Meaning::Perhaps { lump, .. } | Meaning::Branch { lump } => Some((lump, &[])),
            _ => None,
        }
    }
}

/// The number of records of a run, in a field beside the first index.
///
/// ```
/// use bspkit::dialect::source::DispInfo;
/// use bspkit::record::{Meaning, Record};
/// let Meaning::Run { count, .. } = DispInfo::INFO.field("first_vertex").unwrap().meaning else { unreachable!() };
/// assert_eq!((count.field, count.of(3)), ("power", 81));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The field.
    pub field: &'static str,
    /// How the count is computed from the number in it.
    pub form: CountForm,
}

/// How a count is computed from a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountForm {
    /// It is the number.
    Number,
    /// It is these bits of the number.
    Bits {
        /// The bits.
        mask: u32,
        /// How many lower bits there are.
        shift: u32,
    },
    /// The vertexes of a displacement of this power.
    Vertexes,
    /// The triangles of a displacement of this power.
    Triangles,
}

impl Count {
    pub(crate) const fn number(field: &'static str) -> Self {
        Count { field, form: CountForm::Number }
    }

    pub(crate) const fn bits(field: &'static str, mask: u32, shift: u32) -> Self {
        Count { field, form: CountForm::Bits { mask, shift } }
    }

    pub(crate) const fn vertexes(field: &'static str) -> Self {
        Count { field, form: CountForm::Vertexes }
    }

    pub(crate) const fn triangles(field: &'static str) -> Self {
        Count { field, form: CountForm::Triangles }
    }

    /// The count that a number means. A power that is not valid means no records.
    pub fn of(self, number: i64) -> i64 {
        let side = |power: i64| if (0..=8).contains(&power) { 1 << power } else { 0 };
        match self.form {
            CountForm::Number => number,
            CountForm::Bits { mask, shift } => (number & i64::from(mask)) >> shift,
            CountForm::Vertexes if side(number) == 0 => 0,
            CountForm::Vertexes => (side(number) + 1) * (side(number) + 1),
            CountForm::Triangles => 2 * side(number) * side(number),
        }
    }

    /// The number with another count in it; `None` if it has no room for the count.
    pub fn put(self, number: i64, count: i64) -> Option<i64> {
        let new = match self.form {
            CountForm::Number => count,
            CountForm::Bits { mask, shift } => number & !i64::from(mask) | (count << shift) & i64::from(mask),
            CountForm::Vertexes | CountForm::Triangles => number,
        };
        Some(new).filter(|new| self.of(*new) == count)
    }
}

/// What the order of the records of a run means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The records are parts of a whole: each of them is needed, in this order.
    Matters,
    /// The records are a set: they may have any order, and more or fewer of them may be there.
    Free,
    /// As [`Order::Free`]; the sets follow each other in the order of the records that have them.
    InTurn,
    /// As [`Order::Matters`], of a whole that the record can be without: if one of the records is removed, the run is
    /// empty, and the others go with it.
    Optional,
    /// As [`Order::Matters`], of a whole that shares them with no other: a copy of it has copies of them. The wholes
    /// follow each other in the order of the records that have them, since engines count on without the number.
    Own,
    /// As [`Order::Own`] in any order of the wholes, of the planes that bound a solid: one of two with the same bytes
    /// may come or go, since the solid is the same, but not among the first ones, of which there are this many.
    Planes(usize),
}

impl Order {
    /// Whether the records are parts of a whole, in this order.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Order::Matters | Order::Optional | Order::Own | Order::Planes(_))
    }

    /// Whether the whole shares its parts with no other.
    pub(crate) fn is_own(self) -> bool {
        matches!(self, Order::Own | Order::Planes(_))
    }
}

/// What becomes of a number that names a record if that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// Whoever has the number needs the record: it can only go with it.
    Needed,
    /// Whoever has the number can be without the record, and gets this number for none; but something is lost.
    Becomes(i64),
    /// Nothing is lost: no engine reads the number, or it means as little without the record. It gets this number.
    Forgotten(i64),
}

/// The index of a record in the lump.
pub(crate) const fn index(lump: &'static str) -> Meaning {
    Meaning::Index { lump, none: &[], gone: Gone::Needed }
}

/// The index of a record in the lump, or -1 for none.
pub(crate) const fn index_or_none(lump: &'static str) -> Meaning {
    Meaning::Index { lump, none: &[-1], gone: Gone::Becomes(-1) }
}

/// The index of a record in the lump, if there is a record of this index; it is needed then.
pub(crate) const fn perhaps(lump: &'static str) -> Meaning {
    Meaning::Perhaps { lump, gone: Gone::Needed }
}

/// The index of the first of several consecutive records in the lump, whose order matters.
pub(crate) const fn run(lump: &'static str, count: &'static str) -> Meaning {
    run_of(lump, Count::number(count))
}

/// As [`run`], for a count that is computed.
pub(crate) const fn run_of(lump: &'static str, count: Count) -> Meaning {
    Meaning::Run { lump, count, order: Order::Matters }
}

/// As [`run_of`], of records that are not needed.
pub(crate) const fn optional_run_of(lump: &'static str, count: Count) -> Meaning {
    Meaning::Run { lump, count, order: Order::Optional }
}

/// As [`run_of`], of records that no other whole has.
pub(crate) const fn own_run_of(lump: &'static str, count: Count) -> Meaning {
    Meaning::Run { lump, count, order: Order::Own }
}

/// The index of the first of several planes that bound a solid; the first ones, of this many, stay the first.
pub(crate) const fn planes(lump: &'static str, count: &'static str, first: usize) -> Meaning {
    Meaning::Run { lump, count: Count::number(count), order: Order::Planes(first) }
}

/// The index of the first of several consecutive records in the lump, in any order.
pub(crate) const fn set(lump: &'static str, count: &'static str) -> Meaning {
    Meaning::Run { lump, count: Count::number(count), order: Order::Free }
}

/// The index of the first of several consecutive records in the lump, which follow those of the record before.
pub(crate) const fn in_turn(lump: &'static str, count: &'static str) -> Meaning {
    Meaning::Run { lump, count: Count::number(count), order: Order::InTurn }
}

/// Which names a field's bits have; each dialect has lists of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FlagKind {
    /// Of surfaces: `SURF_SKY`.
    Surface,
    /// The contents of a volume: `CONTENTS_WATER`.
    Contents,
    /// Of Source's leafs: `LEAF_FLAGS_SKY`.
    Leaf,
    /// Of static props: `STATIC_PROP_NO_SHADOW`.
    Prop,
    /// Of triangles of displacements: `DISPTRI_TAG_WALKABLE`.
    Triangle,
    /// Of lights: whether they are in the ambient cube.
    Light,
    /// Of the map: `LVLFLAGS_`.
    Map,
}

impl fmt::Display for FlagKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FlagKind::Surface => "surface",
            FlagKind::Contents => "contents",
            FlagKind::Leaf => "leaf",
            FlagKind::Prop => "prop",
            FlagKind::Triangle => "triangle",
            FlagKind::Light => "light",
            FlagKind::Map => "map",
        })
    }
}
