//! Collects findings: ten of a kind are kept, the others counted, so that a hostile map cannot fill the memory.

use std::collections::HashMap;
use std::hash::Hash;

use super::code::{Code, Severity};
use crate::bytes::wide;
use crate::error::Place;

/// A fault and its place.
///
/// ```
/// use bspkit::op::check;
/// let map = bspkit::Bsp::from_vec(bspkit::Builder::new(&bspkit::dialect::QUAKE2).build()?)?;
/// let findings = check::run(&map, &check::Options::default())?;
/// let finding: &check::Finding = &findings[0];
/// assert_eq!(finding.to_string(), "error[lump-empty] TEXINFO: it is empty, and engines refuse a map without it");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of finding.
    pub code: &'static Code,
    /// The lump, the record or entity, and the offset in the lump, if they apply.
    pub place: Place,
    /// The field of the record: `children[1]`.
    pub field: Option<String>,
    /// The fault: a sentence without a capital and a full stop.
    pub message: String,
    /// The number of findings that this one represents: more than one for the last of many of its kind in a lump.
    pub count: usize,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{}]", self.code.severity, self.code.name)?;
        if let Some(lump) = &self.place.lump {
            write!(f, " {lump}")?;
            match (self.place.record, self.place.offset) {
                (Some(record), _) => write!(f, ", record {record}")?,
                (None, Some(offset)) => write!(f, ", offset {offset}")?,
                (None, None) => {}
            }
        } else if let Some(offset) = self.place.offset {
            write!(f, " offset {offset}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The place of a finding in a map.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::op) struct At<'n> {
    pub(in crate::op) lump: Option<&'n str>,
    pub(in crate::op) record: Option<usize>,
    pub(in crate::op) offset: Option<usize>,
    pub(in crate::op) field: Option<&'n str>,
}

impl<'n> At<'n> {
    pub(in crate::op) fn lump(lump: &'n str) -> Self {
        At { lump: Some(lump), ..At::default() }
    }

    pub(in crate::op) fn record(self, record: usize) -> Self {
        At { record: Some(record), ..self }
    }

    pub(in crate::op) fn offset(self, offset: usize) -> Self {
        At { offset: Some(offset), ..self }
    }

    pub(in crate::op) fn field(self, field: &'n str) -> Self {
        At { field: Some(field), ..self }
    }
}

/// How many findings of a code are listed for a lump.
pub(in crate::op) const LISTED: usize = 10;

/// How many are compared one by one with those of another map.
pub(in crate::op) const COMPARED: usize = 1000;

struct Group {
    code: &'static Code,
    lump: Option<String>,
    listed: Vec<Finding>,
    total: usize,
}

impl Group {
    /// Leaves what another group does not have: first by the place, then, as records and entities may have moved, by
    /// the words.
    fn subtract(&mut self, old: Group) {
        let more = (self.total - self.listed.len()).saturating_sub(old.total - old.listed.len());
        let place = |found: &Finding| {
            let offset = found.place.offset.filter(|_| found.place.record.is_none());
            (found.place.record, offset, found.field.clone())
        };
        let old = retain_new(&mut self.listed, old.listed, place);
        retain_new(&mut self.listed, old, |found| found.message.clone());
        self.total = self.listed.len() + more;
    }
}

/// Removes each new finding that equals an old one, and gives the old ones that equal none.
fn retain_new<K: Eq + Hash>(new: &mut Vec<Finding>, old: Vec<Finding>, key: impl Fn(&Finding) -> K) -> Vec<Finding> {
    let mut by_key: HashMap<K, Vec<Finding>> = HashMap::new();
    for found in old {
        by_key.entry(key(&found)).or_default().push(found);
    }
    new.retain(|found| by_key.get_mut(&key(found)).and_then(Vec::pop).is_none());
    by_key.into_values().flatten().collect()
}

/// The findings so far.
pub(in crate::op) struct Sink {
    allowed: Vec<&'static Code>,
    /// How many of a code are listed for a lump.
    most: usize,
    groups: Vec<Group>,
}

impl Sink {
    pub(in crate::op) fn new(allowed: &[&'static Code], most: usize) -> Self {
        Sink { allowed: allowed.to_vec(), most, groups: Vec::new() }
    }

    pub(in crate::op) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether findings of this code are left out.
    pub(in crate::op) fn leaves_out(&self, code: &'static Code) -> bool {
        self.allowed.contains(&code)
    }

    pub(in crate::op) fn has_errors(&self) -> bool {
        self.groups.iter().any(|group| group.code.severity == Severity::Error)
    }

    /// The findings that an older sink does not have, ten of a kind.
    pub(in crate::op) fn without(mut self, old: Sink) -> Sink {
        let mut old: HashMap<_, Group> =
            old.groups.into_iter().map(|group| ((group.code.name, group.lump.clone()), group)).collect();
        self.groups.retain_mut(|group| {
            if let Some(old) = old.remove(&(group.code.name, group.lump.clone())) {
                group.subtract(old);
            }
            group.listed.truncate(LISTED);
            group.total > 0
        });
        self
    }

    /// Adds a finding; the sentence is only made if it is listed.
    pub(in crate::op) fn add(&mut self, code: &'static Code, at: At<'_>, message: impl FnOnce() -> String) {
        if let Some(group) = self.counted(code, at) {
            let place = Place { lump: group.lump.clone(), record: at.record, offset: at.offset.map(wide) };
            let field = at.field.map(str::to_owned);
            group.listed.push(Finding { code, place, field, message: message(), count: 1 });
        }
    }

    /// Counts a finding, and gives its group where the finding is to be listed.
    fn counted(&mut self, code: &'static Code, at: At<'_>) -> Option<&mut Group> {
        if self.allowed.contains(&code) {
            return None;
        }
        // Findings of a kind follow each other, so the group is most often the last one.
        let is_its = |group: &Group| std::ptr::eq(group.code, code) && group.lump.as_deref() == at.lump;
        let index = self.groups.iter().rposition(is_its).unwrap_or_else(|| {
            let lump = at.lump.map(str::to_owned);
            self.groups.push(Group { code, lump, listed: Vec::new(), total: 0 });
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        group.total += 1;
        (group.listed.len() < self.most).then_some(group)
    }

    pub(in crate::op) fn into_findings(self) -> Vec<Finding> {
        let all = self.groups.into_iter().map(|Group { code, lump, mut listed, total }| {
            let more = total - listed.len();
            if more > 0 {
                let place = Place { lump, ..Place::default() };
                let message = format!("and {more} more");
                listed.push(Finding { code, place, field: None, message, count: more });
            }
            listed
        });
        all.flatten().collect()
    }
}
