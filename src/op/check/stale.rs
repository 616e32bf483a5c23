//! References by index to records that left their index.
//!
//! Whoever adds or removes records in the middle of a lump leaves all references to later records as they were: they
//! stay in range, so no other check finds them, and name other records.

use std::collections::HashMap;

use super::lumps::Lumps;
use crate::bsp::{Bsp, Links, Site};
use crate::content::entities::Entities;
use crate::dialect::{EntityForm, Form, Role};
use crate::draft::{Draft, entity_values};
use crate::error::Result;
use crate::file::Slot;
use crate::op::align::{Hunk, hunks};

/// The references of one field that an edit should have updated.
///
/// ```
/// use bspkit::op::check;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let planes = map.slot("planes")?.id;
/// let mut draft = map.draft();
/// draft.set(planes, map.bytes(planes)?[20..].to_vec())?; // without the first plane
/// let stale: Vec<check::Stale> = check::stale(&draft)?;
/// let faces = stale.iter().find(|stale| stale.lump == "FACES").unwrap();
/// assert_eq!((faces.field.as_str(), faces.target.as_str()), ("plane", "PLANES"));
/// assert!(faces.moved > 0);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Stale {
    /// The lump with the references.
    pub lump: String,
    /// The field that has them.
    pub field: String,
    /// The lump whose records were added or removed.
    pub target: String,
    /// How many references name another record than before.
    pub moved: usize,
    /// How many name a record that is not there any more.
    pub missing: usize,
}

impl std::fmt::Display for Stale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stale { lump, field, target, moved, missing } = self;
        write!(f, "{lump}.{field}: ")?;
        let s = |count: usize| if count == 1 { ("reference", "names") } else { ("references", "name") };
        let ((noun, verb), (other_noun, other_verb)) = (s(*moved), s(*missing));
        match (moved, missing) {
            (_, 0) => write!(f, "{moved} {noun} {verb} another record of {target} than before"),
            (0, _) => write!(f, "{missing} {other_noun} {other_verb} a record that {target} no longer has"),
            _ => write!(
                f,
                "{moved} {noun} {verb} another record of {target} than before, {missing} {other_verb} one that is gone"
            ),
        }
    }
}

/// The references by index that name other records after the edits of a draft, or none, because records were added to
/// a lump or removed from it. References that the draft changes are not listed.
///
/// # Errors
/// Those of an open lens that cannot be written.
pub fn stale(draft: &Draft<'_>) -> Result<Vec<Stale>> {
    let old = draft.bsp();
    let Some(map) = draft.view()? else { return Ok(Vec::new()) };
    let is_resized = |id| {
        let slots = map.container().slot(id).zip(old.container().slot(id)).filter(|_| map.container().is_pending(id));
        slots.is_some_and(|(new, before)| map.len(new) != old.len(before))
    };
    // Nothing names records of entities, of files or of light by index: then no other lump is read.
    let may_have_records =
        |slot: &Slot| !map.row(slot).is_ok_and(|row| !matches!(row.form, Form::Array(_) | Form::Lists(_)));
    if !map.slots().iter().any(|slot| is_resized(slot.id) && may_have_records(slot)) {
        return Ok(Vec::new());
    }
    let (old, new) = (Lumps::read(old, |_| true).links(), Lumps::read(&map, |_| true).links());
    let targets = new.sites.iter().enumerate();
    let targets = targets.filter(|(_, site)| is_resized(site.slot) && !draft.has_followed(site.row.lump));
    let targets: HashMap<usize, Target> =
        targets.filter_map(|(index, new)| Some((index, Target::of(old.named(&new.name)?, new)?))).collect();
    let mut search = Search { old: &old, new: &new, targets, found: Vec::new() };
    if !search.targets.is_empty() {
        (0..new.sites.len()).for_each(|from| search.list(from));
        search.entities(&map)?;
    }
    Ok(search.found)
}

/// Records to which others refer, before and after.
struct Target {
    /// For each old index, up to and without it: how many records left their index.
    displaced: Vec<usize>,
    /// How many records there are now.
    len: usize,
}

impl Target {
    /// `None` if it has as many records as before, or other ones.
    fn of(before: &Site<'_>, after: &Site<'_>) -> Option<Self> {
        if (before.record.type_id)() != (after.record.type_id)() || before.len() == after.len() {
            return None;
        }
        let mut displaced = Vec::with_capacity(before.len() + 1);
        displaced.push(0);
        let mut total = 0;
        let hunks = hunks(before.all(), after.all(), after.record.size);
        for (index, place) in new_places(&hunks, before.len()).into_iter().enumerate() {
            // An equal record at the same index is as good.
            let is_there = place == Some(index) || before.record(index) == after.record(index);
            total += usize::from(!is_there);
            displaced.push(total);
        }
        Some(Target { displaced, len: after.len() })
    }

    /// Whether one of these records is not at its index any more, and whether it names one that is not there at all.
    fn is_stale(&self, first: i64, count: i64) -> Option<bool> {
        let first = usize::try_from(first).ok()?;
        let end = first.checked_add(usize::try_from(count).ok()?)?;
        let displaced = self.displaced.get(end)? - self.displaced.get(first)?;
        (displaced > 0).then_some(end > self.len)
    }
}

/// For each old record its new index, if it is still there.
fn new_places(hunks: &[Hunk], len: usize) -> Vec<Option<usize>> {
    let mut places = Vec::with_capacity(len);
    let mut new = 0;
    for hunk in hunks {
        let equal = hunk.old.start - places.len();
        places.extend((0..equal).map(|at| Some(new + at)));
        places.extend(
            hunk.old.clone().enumerate().map(|(at, _)| Some(hunk.new.start + at).filter(|at| *at < hunk.new.end)),
        );
        new = hunk.new.end;
    }
    let equal = len - places.len();
    places.extend((0..equal).map(|at| Some(new + at)));
    places
}

struct Search<'s, 'a> {
    old: &'s Links<'a>,
    new: &'s Links<'a>,
    /// By the number of the list.
    targets: HashMap<usize, Target>,
    found: Vec<Stale>,
}

impl Search<'_, '_> {
    /// Looks at the references of a list.
    fn list(&mut self, from: usize) {
        let site = &self.new.sites[from];
        let links = self.new.links.iter().filter(|link| link.from == from && self.targets.contains_key(&link.to));
        let mut links = links.peekable();
        let before = self.old.named(&site.name);
        let before = before.filter(|before| (before.record.type_id)() == (site.record.type_id)());
        let (Some(before), true) = (before, links.peek().is_some()) else { return };
        // The old index of each new record.
        let places = new_places(&hunks(site.all(), before.all(), site.record.size), site.len());
        for link in links {
            let Some(target) = self.targets.get(&link.to) else { continue };
            let (mut moved, mut missing) = (0, 0);
            for (record, old) in site.records().zip(&places) {
                let named = link.named(record, target.len);
                // What the edit changed, or added, is as it is wanted.
                let Some((first, count)) =
                    named.filter(|_| old.is_some_and(|old| link.named(before.record(old), target.len) == named))
                else {
                    continue;
                };
                match target.is_stale(first, count) {
                    Some(true) => missing += 1,
                    Some(false) => moved += 1,
                    None => {}
                }
            }
            add(&mut self.found, &site.name, link.array(), &self.new.sites[link.to].name, (moved, missing));
        }
    }

    /// Values of entities, such as the model `*12`.
    fn entities(&mut self, map: &Bsp<'_>) -> Result<()> {
        let Some(slot) = map.role(Role::Entities).filter(|slot| slot.length > 0) else { return Ok(()) };
        let Ok(entities) = Entities::parse(map.bytes(slot.id)?, map.entity_rules()) else { return Ok(()) };
        for value in entities.iter().flat_map(|entity| entity_values(map, &entity)) {
            let Some(site) = self.new.referred(value.reference.lump) else { continue };
            let Some(target) = self.targets.get(&site) else { continue };
            let counts = match target.is_stale(value.number, 1) {
                _ if matches!(value.reference.form, EntityForm::Field(_)) => continue,
                Some(true) => (0, 1),
                Some(false) => (1, 0),
                None => continue,
            };
            add(&mut self.found, &slot.name, value.reference.key, &self.new.sites[site].name, counts);
        }
        Ok(())
    }
}

/// Counts references of a field; items of an array are counted together.
fn add(found: &mut Vec<Stale>, lump: &str, field: &str, target: &str, (moved, missing): (usize, usize)) {
    if moved + missing == 0 {
        return;
    }
    let is_it = |stale: &&mut Stale| stale.lump == lump && stale.field == field && stale.target == target;
    match found.iter_mut().find(is_it) {
        Some(stale) => (stale.moved, stale.missing) = (stale.moved + moved, stale.missing + missing),
        None => {
            let (lump, field, target) = (lump.to_owned(), field.to_owned(), target.to_owned());
            found.push(Stale { lump, field, target, moved, missing });
        }
    }
}
