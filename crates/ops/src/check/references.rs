//! Numbers that refer to records: indices, runs, children of trees, items of lists; records to which none refers;
//! references to records that left their index.

use std::collections::HashMap;

use super::finding::{
    At, CHILD_RANGE, DISP_VERTS, EDGE_RANGE, ENTITY_MODEL, INDEX_BEYOND, INDEX_RANGE, LUMP_PARALLEL, RUN_RANGE, Sink,
    UNUSED_RECORDS,
};
use super::lumps::{Lumps, State};
use crate::align::{Hunk, hunks};
use crate::unused::Unused;
use bspkit::bytes::word;
use bspkit::content::entities::Entities;
use bspkit::dialect::{Each, EntityForm, Form, Role};
use bspkit::file::Slot;
use bspkit::finding::Code;
use bspkit::links::{How, Link, Links, Site};
use bspkit::record::{CountForm, Meaning, Number};
use bspkit::{Bsp, Draft, Result};

// Numbers that refer to records, in every way that a dialect declares: indices, runs, children of trees, items of
// arrays, blocks that belong to records, and lumps that run parallel to others.
//
// The first index of an empty run does not matter.

pub(super) fn check(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    let unnamed = unnamed_edge(lumps);
    for link in links.links.iter().filter(|link| is_known(link, &links.sites[link.to])) {
        let is_unnamed = unnamed == Some(links.sites[link.from].name.as_str());
        check_link(links, link, usize::from(is_unnamed), sink);
        check_room(links, link, sink);
    }
    check_blocks(lumps, links, sink);
    check_parallel(links, sink);
}

/// Whether it is known what the numbers mean: bits beside flags are unused in maps without such records, and with more
/// than 65,535 records the meaning of the first of a run in 16 bits is not known.
fn is_known(link: &Link, to: &Site<'_>) -> bool {
    match link.how {
        How::Bits(_) => !to.is_empty(),
        How::Run(..) => link.word.number != Number::U16 || to.len() <= usize::from(u16::MAX),
        _ => true,
    }
}

/// The lump of the edges if no surfedge names the first edge: then engines never read its ends. It is unused, since 0
/// has no sign.
fn unnamed_edge<'l>(lumps: &'l Lumps<'_>) -> Option<&'l str> {
    let (edges, surf_edges) = (lumps.role(Role::Edges)?, lumps.role(Role::SurfEdges)?);
    let [edge] = surf_edges.columns(["edge"]).ok()?;
    (0..surf_edges.len()).all(|index| edge.get(index) != 0).then_some(edges.name())
}

/// Checks one reference of all records from the first one on.
fn check_link(links: &Links<'_>, link: &Link, first: usize, sink: &mut Sink) {
    let (from, to) = (&links.sites[link.from], &links.sites[link.to]);
    let len = to.len();
    let most = i64::try_from(len).unwrap_or(i64::MAX);
    let mut look = |index: usize, record: &[u8], value: i64| {
        if let How::Run(word, count, _) = link.how {
            let count = count.of(word.get(record));
            if count == 0 || value >= 0 && count > 0 && value.saturating_add(count) <= most {
                return;
            }
        }
        let beyond = names_beyond(link, record, value, most).then_some((value, 1));
        let Some((named, count)) = link.stated(record, len).or(beyond).filter(|_| index >= first) else { return };
        if named >= 0 && count > 0 && named.saturating_add(count) <= most {
            return;
        }
        let offset = from.range.start + index * from.record.size + link.word.at;
        let at = At::lump(from.row.lump).record(index).offset(offset).field(&link.field);
        sink.add(code(link, named, most), at, || {
            format!("{}, and {} has {len}", sentence(link, record, (named, count)), to.name)
        });
    };
    from.outside(link.word, link.good(most), &mut look);
}

/// Whether a number in the place of a run is neither a record nor the number for none. Engines do not read it.
fn names_beyond(link: &Link, record: &[u8], value: i64, most: i64) -> bool {
    let (How::Perhaps, Meaning::RunOr { none, .. }) = (link.how, link.meaning) else { return false };
    value != none && !(0..most).contains(&value) && link.applies(record)
}

/// The code of a reference that names something that is not there.
fn code(link: &Link, first: i64, len: i64) -> &'static Code {
    match (link.meaning, link.how) {
        (Meaning::Child, _) => &CHILD_RANGE,
        (_, How::Signed) => &EDGE_RANGE,
        (_, How::Perhaps) => &INDEX_BEYOND,
        (_, How::Starred(_)) => &ENTITY_MODEL,
        (_, How::Run(_, count, _)) if matches!(count.form, CountForm::Vertexes | CountForm::Triangles) => {
            if (0..len).contains(&first) { &DISP_VERTS } else { &INDEX_RANGE }
        }
        (_, How::Run(..)) => &RUN_RANGE,
        _ => &INDEX_RANGE,
    }
}

fn sentence(link: &Link, record: &[u8], (first, count): (i64, i64)) -> String {
    let (field, value) = (&link.field, link.word.get(record));
    match (link.meaning, link.how) {
        (Meaning::Child, How::Leaf(_)) => format!("{field} is {value}, leaf {first}"),
        (Meaning::Child, _) => format!("{field} is {value}, a node"),
        (Meaning::Run { count: of, .. } | Meaning::RunOr { count: of, .. }, How::Run(..)) => match of.form {
            CountForm::Number | CountForm::Bits { .. } => format!("{field} is {first} and {} {count}", of.field),
            _ => format!("{field} is {first} for {count} records"),
        },
        (_, How::Starred(_)) => format!("{field} is *{first}"),
        (_, How::Bits(_)) => format!("{field} names {first}"),
        _ => format!("{field} is {value}"),
    }
}

/// Of an array that has a count there are not more items than it has room for.
fn check_room(links: &Links<'_>, link: &Link, sink: &mut Sink) {
    let How::Item(word, count) = link.how else { return };
    if !link.field.ends_with("[0]") {
        return;
    }
    let array = link.array();
    let room = links.links.iter().filter(|other| other.from == link.from && other.array() == array).count();
    let from = &links.sites[link.from];
    for (index, record) in from.records().enumerate() {
        let many = count.of(word.get(record));
        if usize::try_from(many).is_ok_and(|many| many > room) {
            let offset = from.range.start + index * from.record.size + link.word.at;
            sink.add(&RUN_RANGE, At::lump(from.row.lump).record(index).offset(offset).field(array), || {
                format!("it has {many} {array}, and room for {room}")
            });
        }
    }
}

/// Numbers in lumps without records, and blocks, each with the index of a record that it belongs to.
fn check_blocks(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    for (slot, _, target, places) in &links.places {
        let lump = lumps.all.iter().find(|lump| lump.slot.id == *slot);
        let Some((lump, to)) = lump.zip(links.referred(target)) else { continue };
        for at in places.iter().copied() {
            let number = word(&lump.bytes, at).unwrap_or(-1);
            if !usize::try_from(number).is_ok_and(|number| number < links.sites[to].len()) {
                sink.add(&INDEX_RANGE, At::lump(lump.name).offset(at), || {
                    format!("it refers to record {number} of {target}, which has {}", links.sites[to].len())
                });
            }
        }
    }
    for (slot, name, blocks) in &links.blocks {
        let lump = lumps.all.iter().find(|lump| lump.slot.id == *slot);
        let Some((lump, to)) = lump.zip(links.referred(blocks.lump)) else { continue };
        let len = links.sites[to].len();
        for (nth, block) in (blocks.find)(&lump.bytes).into_iter().flatten().enumerate() {
            let number = word(&lump.bytes, block.at).unwrap_or(-1);
            if usize::try_from(number).is_ok_and(|number| number < len) {
                continue;
            }
            sink.add(&INDEX_RANGE, At::lump(name).record(nth).offset(block.at), || {
                format!("it is for record {number} of {}, which has {len}", blocks.lump)
            });
        }
    }
}

/// Lumps with records for those of another lump, or none.
fn check_parallel(links: &Links<'_>, sink: &mut Sink) {
    for (index, site) in links.sites.iter().enumerate() {
        let Some((to, starts)) = links.shares(index) else { continue };
        let (have, want) = (site.len(), starts.last().copied().unwrap_or(0));
        if have == want || site.parallel.is_some_and(|parallel| parallel.each == Each::Part) {
            continue;
        }
        let (other, counted) = (&links.sites[to], site.parallel.map(|parallel| parallel.each));
        sink.add(&LUMP_PARALLEL, At::lump(&site.name), || match counted {
            Some(Each::Counted(field)) => {
                format!("it has {have} records, and the {field} of {} is {want} in total", other.name)
            }
            Some(Each::Several) => {
                format!("it has {have} records, which is not a multiple of the {} of {}", other.len(), other.name)
            }
            _ => format!("it has {have} records, and {} has {want}", other.name),
        });
    }
}

// Records to which nothing refers.

pub(super) fn check_unused(lumps: &Lumps<'_>, links: &Links<'_>, entities: Option<&Entities<'_>>, sink: &mut Sink) {
    // Whatever is broken may refer to them.
    if sink.leaves_out(&UNUSED_RECORDS)
        || sink.has_errors()
        || !lumps.all.iter().all(|lump| matches!(lump.state, State::Read) && !lump.is_guess)
        || entities.is_none() && lumps.role_lump(Role::Entities).is_some_and(|lump| !lump.bytes.is_empty())
    {
        return;
    }
    // What lumps of unknown content may refer to is not known.
    let unused = Unused::in_links(lumps.bsp, links, entities, &[], &|_| false);
    for list in unused.lists.iter().filter(|list| list.doubts.is_empty()) {
        sink.add(&UNUSED_RECORDS, At::lump(&list.lump), || {
            let name = list.list.strip_prefix(&list.lump).unwrap_or_default().trim_start_matches('.');
            let of = if name.is_empty() { String::new() } else { format!(" of its {name}") };
            format!("nothing refers to {} of {} records{of}; `prune` removes them", list.records.len(), list.total)
        });
    }
}

// References by index to records that left their index.
//
// Whoever adds or removes records in the middle of a lump leaves all references to later records as they were: they
// stay in range, so no other check finds them, and name other records.

/// The references of one field that an edit should have updated.
///
/// ```
/// use bspkit_ops::check;
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
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
        slots.is_some_and(|(new, before)| map.size(new) != old.size(before))
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
        search.files(&map);
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
        if before.record != after.record || before.len() == after.len() {
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
        let before = before.filter(|before| before.record == site.record);
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
        for value in entities.iter().flat_map(|entity| entity.record_values(map.dialect())) {
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

    /// Embedded files whose names have the number of a record, such as the light of a static prop.
    fn files(&mut self, map: &Bsp<'_>) {
        let Some(slot) = map.role(Role::Pak).filter(|slot| slot.length != 0) else { return };
        for (index, target) in &self.targets {
            let site = &self.new.sites[*index];
            let Some(pak) = Some(site).filter(|site| !site.files.is_empty()).and_then(|_| map.pak().ok()) else {
                continue;
            };
            for (_, number) in pak.iter().filter_map(|entry| site.named_by_file(entry.name())) {
                let stale = i64::try_from(number).ok().and_then(|number| target.is_stale(number, 1));
                let counts = stale.map_or((0, 0), |is_gone| (usize::from(!is_gone), usize::from(is_gone)));
                add(&mut self.found, &slot.name, "names", &site.name, counts);
            }
        }
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
