//! What both sides changed, and who decides which side it gets.

use crate::bytes::escaped;

/// One of three maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The map that both sides were made from.
    Base,
    /// Our map.
    Ours,
    /// Their map.
    Theirs,
}

impl Side {
    /// All of them; [`Conflict::values`] are in this order.
    pub const ALL: [Side; 3] = [Side::Base, Side::Ours, Side::Theirs];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Side::Base => "base",
            Side::Ours => "ours",
            Side::Theirs => "theirs",
        }
    }
}

/// What a conflict is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// What is outside of all lumps.
    Outside,
    /// A lump as a whole.
    Lump,
    /// An entity, by its index in the base, or the value of a key of it.
    Entity(usize, Option<Vec<u8>>),
    /// An entity that both sides add, by its place among those that theirs adds.
    Added(usize),
    /// A record of a list, by its index in the base, and a field of it.
    Record(String, usize, String),
    /// An embedded file.
    File(Vec<u8>),
}

/// Something that both sides changed.
///
/// ```
/// use bspkit::op::merge::{Conflict, merge};
/// use bspkit::{Bsp, Layout};
/// let base = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let edited = |light: &str| {
///     let mut draft = base.draft();
///     draft.entities()?.first_class("light")?.set("light", light)?;
///     Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())
/// };
/// let merged = merge(&base, &edited("1")?, &edited("2")?)?;
/// let conflict: &Conflict = &merged.conflicts[0];
/// assert_eq!(conflict.name(), "#6.light");
/// let [before, ours, theirs] = conflict.values.as_ref().unwrap();
/// assert_eq!((ours.as_deref(), theirs.as_deref()), (Some(&b"1"[..]), Some(&b"2"[..])));
/// # assert!(before.is_some());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The lump; empty for what is outside of all lumps.
    pub lump: String,
    /// What it is about.
    pub subject: Subject,
    /// What both sides changed: a sentence without a capital and a full stop.
    pub message: String,
    /// What the base, ours and theirs have; `None` for what one does not have. Of lumps and embedded files it is their
    /// size and checksum, of lists the number of records.
    pub values: Option<[Option<Vec<u8>>; 3]>,
    /// Whether it can be settled alone: by taking what one of the three maps has.
    pub can_settle: bool,
}

impl Conflict {
    pub(super) fn lump(lump: &str, message: impl Into<String>) -> Self {
        let subject = if lump.is_empty() { Subject::Outside } else { Subject::Lump };
        Conflict { lump: lump.to_owned(), subject, message: message.into(), values: None, can_settle: false }
    }

    /// Adds how many records a list has in each map.
    pub(super) fn counted(self, counts: [usize; 3]) -> Self {
        let count = |count: usize| Some(format!("{count} record{}", if count == 1 { "" } else { "s" }).into_bytes());
        Conflict { values: Some(counts.map(count)), ..self }
    }

    pub(super) fn with(self, subject: Subject, values: [Option<Vec<u8>>; 3]) -> Self {
        let values = values.iter().any(Option::is_some).then_some(values);
        Conflict { subject, values, can_settle: true, ..self }
    }

    /// Its name among all conflicts of the merge: `#6.light`, `#6`, `added[0]`, `FACES[3].side`, `ENTITIES`,
    /// `PAKFILE/own/a.txt`; empty for what is outside of all lumps. Several conflicts of one entity or record as a
    /// whole share its name.
    pub fn name(&self) -> String {
        match &self.subject {
            Subject::Outside => String::new(),
            Subject::Lump => self.lump.clone(),
            Subject::Entity(index, None) => format!("#{index}"),
            Subject::Entity(index, Some(key)) => format!("#{index}.{}", escaped(key)),
            Subject::Added(place) => format!("added[{place}]"),
            Subject::Record(list, index, field) if field.is_empty() => format!("{list}[{index}]"),
            Subject::Record(list, index, field) => format!("{list}[{index}].{field}"),
            Subject::File(name) => format!("{}/{}", self.lump, escaped(name)),
        }
    }
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.subject {
            Subject::Record(list, index, _) => write!(f, "{list}[{index}]: {}", self.message),
            _ if self.lump.is_empty() => f.write_str(&self.message),
            _ => write!(f, "{}: {}", self.lump, self.message),
        }
    }
}

/// How many conflicts are listed; more are counted.
const MOST: usize = 10_000;

/// Collects conflicts, unless one is settled.
pub(super) struct Desk<'d> {
    conflicts: Vec<Conflict>,
    more: usize,
    settle: &'d mut dyn FnMut(&Conflict) -> Option<Side>,
}

impl<'d> Desk<'d> {
    pub(super) fn new(settle: &'d mut dyn FnMut(&Conflict) -> Option<Side>) -> Self {
        Desk { conflicts: Vec::new(), more: 0, settle }
    }

    pub(super) fn push(&mut self, conflict: Conflict) {
        match self.conflicts.len() < MOST {
            true => self.conflicts.push(conflict),
            false => self.more += 1,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.conflicts.len() + self.more
    }

    pub(super) fn conflicts(mut self) -> Vec<Conflict> {
        if self.more > 0 {
            self.conflicts.push(Conflict::lump("", format!("{} more conflicts are not listed", self.more)));
        }
        self.conflicts
    }

    /// The side that something gets that both changed: ours, if it is not settled.
    pub(super) fn decide(&mut self, conflict: Conflict) -> Side {
        let side = if conflict.can_settle { (self.settle)(&conflict) } else { None };
        side.unwrap_or_else(|| {
            self.push(conflict);
            Side::Ours
        })
    }

    /// A conflict that cannot be settled alone.
    pub(super) fn refuse(&mut self, lump: &str, message: impl Into<String>) {
        self.push(Conflict::lump(lump, message));
    }
}
