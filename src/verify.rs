//! The round-trip laws: the promises of bspkit, tested on one map.
//!
//! Each law edits the map in memory, writes it, opens the result and compares. The writer is a parameter, so that tests
//! can plant faults in it and see each law fail.

mod order;
mod saved;
mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use indexmap::IndexMap;

use crate::bsp::Bsp;
use crate::bytes::{Data, Rope};
use crate::content::entities::Entities;
use crate::dialect::{EntityRules, Role};
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{Layout, Segment, Slot, SlotId};
use crate::record::RecordInfo;
// For tests, which plant faults in the code that the laws test.
#[doc(hidden)]
pub use saved::compare;
use saved::{Undo, undone};
use written::{Spare, Written};

/// By how many bytes the entity text grows or shrinks: odd amounts, below and above an alignment.
const RESIZES: [isize; 5] = [1, 7, 1021, -1, -1021];

/// The most bytes that may be decompressed for a law that reads every lump: a few bytes of a hostile map decompress to
/// very many.
const MOST_DECOMPRESSED: usize = 512 << 20;

/// How much an entity text may decompress to: laws compress it again and again. Real texts are far shorter.
const MOST_TEXT: usize = 4 << 20;

/// Laws that read every lump are skipped if that would take too long.
fn unpacks_in_time(bsp: &Bsp<'_>) -> Law {
    let sizes = bsp.slots().iter().map(|slot| bsp.memory_to_decompress(slot.id));
    match sizes.fold(0, usize::saturating_add) {
        0..=MOST_DECOMPRESSED => Ok(()),
        _ => Err(skipped("its lumps decompress to too much")),
    }
}

/// The map with lumps that are decompressed once, for laws about content; where that would take too long, the map.
fn decompressed<'a>(bsp: &Bsp<'a>) -> Bsp<'a> {
    let is_packed = |slot: &&Slot| !slot.bounds.is_damaged() && bsp.decompressed_size(slot.id).is_some();
    let packed = bsp.slots().iter().filter(is_packed).take_while(|_| unpacks_in_time(bsp).is_ok());
    let bytes: BTreeMap<_, _> = packed.filter_map(|slot| Some((slot.id, bsp.bytes(slot.id).ok()?.into()))).collect();
    if bytes.is_empty() { bsp.clone() } else { bsp.pending(&bytes, &BTreeMap::new()) }
}

/// Tests all laws on a map.
pub fn run(bsp: &Bsp<'_>) -> Outcome {
    run_on(bsp, &Subject::REAL)
}

/// Tests all laws on a map, with the code of a subject.
#[doc(hidden)]
pub fn run_on(bsp: &Bsp<'_>, subject: &Subject) -> Outcome {
    let mut records = IndexMap::new();
    let (spare, undo) = (&mut Spare::default(), &mut Undo::default());
    let plain = decompressed(bsp);
    let laws = [
        ("identity", identity(bsp, subject, spare)),
        ("cover", cover(bsp)),
        ("entities", entities(bsp, subject)),
        ("records", typed(&plain, subject, &mut records)),
        ("keep", edits(bsp, subject, Layout::Keep, spare, undo)),
        ("append", edits(bsp, subject, Layout::Append, spare, undo)),
        ("repack", repack(bsp, subject, spare, undo)),
        ("revert", revert(bsp, subject)),
        ("undo", undo.law()),
    ];
    let laws: Vec<_> = laws.into_iter().chain(moving(&plain, subject, None)).collect();
    Outcome { laws: verdicts(laws), records: records.into_iter().collect() }
}

/// Tests the laws of records that move on one list, or on one that the content of the map chooses.
#[doc(hidden)]
pub fn run_on_list(bsp: &Bsp<'_>, subject: &Subject, list: &str) -> Outcome {
    Outcome { laws: verdicts(moving(&decompressed(bsp), subject, Some(list)).into()), records: Vec::new() }
}

fn moving(bsp: &Bsp<'_>, subject: &Subject, only: Option<&str>) -> [(&'static str, Law); 3] {
    // Without all records it is not known what refers to what.
    let links = unpacks_in_time(bsp).and_then(|()| bsp.links().map_err(|error| skipped(error.to_string())));
    let links = match links {
        Ok(links) => links,
        Err(failure) => return ["reorder", "references", "splice"].map(|name| (name, Err(failure.clone()))),
    };
    let (reorder, references) = order::reorder(bsp, subject, &links, only);
    [("reorder", reorder), ("references", references), ("splice", order::splice(bsp, subject, &links, only))]
}

fn verdicts(laws: Vec<(&'static str, Law)>) -> Vec<(&'static str, Verdict)> {
    let verdicts = laws.into_iter().map(|(name, result)| {
        let verdict = match result {
            Ok(()) => Verdict::Pass,
            Err(Failure::DoesNotApply(why)) => Verdict::Skipped(why),
            Err(Failure::Broken(what)) => Verdict::Fail(what),
        };
        (name, verdict)
    });
    verdicts.collect()
}

#[derive(Clone)]
enum Failure {
    /// The reason why the law cannot be tried.
    DoesNotApply(String),
    Broken(String),
}

type Law = Result<(), Failure>;

fn broken(what: impl Into<String>) -> Failure {
    Failure::Broken(what.into())
}

fn skipped(why: impl Into<String>) -> Failure {
    Failure::DoesNotApply(why.into())
}

/// An error of the library is a broken law, except a refusal that the map's own state explains.
fn error(bsp: &Bsp<'_>, doing: &str) -> impl Fn(Error) -> Failure + use<> {
    let explains = bsp.container().damaged().next().is_some() || bsp.container().has_immovable();
    let doing = doing.to_string();
    move |error| match error.kind() {
        ErrorKind::Refused if explains => skipped(format!("{doing}: {error}")),
        // There may be no memory for a copy of a map of nearly 2 GiB.
        ErrorKind::TooLarge => skipped(format!("{doing}: {error}")),
        _ => broken(format!("{doing}: {error}")),
    }
}

/// Without an edit, and with an edit that sets what is there, the file stays as it is.
fn identity<'a>(bsp: &Bsp<'a>, subject: &Subject, spare: &mut Spare<'a>) -> Law {
    let bytes = bsp.container().bytes();
    for layout in [Layout::Keep, Layout::Append] {
        // Its bytes are compared, not the parts that it is put together from.
        let file = spare.lay((subject.write)(&bsp.draft(), layout)).map_err(error(bsp, "save"))?;
        if let Some(at) = first_difference(bytes, file.bytes()) {
            return Err(broken(format!("{layout:?} without an edit differs at {at}")));
        }
        spare.give(file);
    }
    unpacks_in_time(bsp)?;
    let mut draft = bsp.draft();
    for slot in bsp.slots() {
        // A lump that cannot be decompressed cannot be set to what it is.
        let Ok(old) = bsp.bytes(slot.id) else { continue };
        draft.set(slot.id, old).map_err(|error| broken(error.to_string()))?;
    }
    let changes = draft.changes().map_err(|error| broken(error.to_string()))?;
    match changes.first() {
        Some(slot) => Err(broken(format!("setting {slot:?} to what it is counts as an edit"))),
        None => Ok(()),
    }
}

/// Every record decodes and encodes to its bytes; `counts` gets the number of records.
fn typed(bsp: &Bsp<'_>, subject: &Subject, counts: &mut IndexMap<&'static str, usize>) -> Law {
    unpacks_in_time(bsp)?;
    for slot in bsp.slots() {
        // A lump that cannot be decompressed or contradicts itself has no records to test.
        let (Ok(bytes), Ok(parts)) = (bsp.little_endian(slot.id), bsp.spans(slot)) else { continue };
        for part in parts {
            let records = &bytes[part.range.start..part.range.start + part.count() * part.record.size];
            if let Some(at) = first_difference(records, &(subject.reencode)(part.record, records)) {
                let (name, index) = (part.record.name, at / part.record.size);
                return Err(broken(format!("record {index} of {} ({name}) is encoded to other bytes", slot.name)));
            }
            *counts.entry(part.record.name).or_default() += part.count();
        }
    }
    Ok(())
}

fn cover(bsp: &Bsp<'_>) -> Law {
    covers(&bsp.container().segments(), bsp.slots(), bsp.container().bytes().len()).map_err(broken)
}

/// Whether segments lie one after the other, fill the file, and name every slot that covers them.
///
/// # Errors
/// What does not hold, in one sentence.
#[doc(hidden)]
pub fn covers(segments: &[Segment], slots: &[Slot], file_size: usize) -> Result<(), String> {
    let mut at = 0;
    for segment in segments {
        if segment.range.start != at || segment.range.is_empty() {
            return Err(format!("the segments do not meet at {at}"));
        }
        at = segment.range.end;
    }
    if at != file_size {
        return Err(format!("the segments end at {at} of {file_size}"));
    }
    for slot in slots {
        let named = segments.iter().filter(|segment| segment.slots.contains(&slot.id));
        let covered: usize = named.map(|segment| segment.range.len()).sum();
        if covered != slot.stored.len() {
            return Err(format!("segments name {covered} of the {} bytes of {}", slot.stored.len(), slot.name));
        }
    }
    Ok(())
}

/// The entity text prints as it was, also after every value was set to what it is.
fn entities(bsp: &Bsp<'_>, subject: &Subject) -> Law {
    let text = entity_text(bsp)?;
    let printed = (subject.reprint)(&text, bsp.entity_rules()).map_err(|error| match error.kind() {
        // A text beyond the limits is refused as a whole, and its bytes stay unchanged.
        ErrorKind::TooLarge => skipped(error.to_string()),
        _ => broken(error.to_string()),
    })?;
    match first_difference(&text, &printed) {
        Some(at) => Err(broken(format!("the printed text differs at {at}"))),
        None => Ok(()),
    }
}

/// The entity text grows and shrinks; everything else stays.
fn edits<'a>(bsp: &Bsp<'a>, subject: &Subject, layout: Layout, spare: &mut Spare<'a>, undo: &mut Undo) -> Law {
    let (slot, text) = (entities_id(bsp)?, entity_text(bsp)?);
    let mut why = Some(skipped("its entity text is too short"));
    for by in RESIZES {
        let Some(edited) = resized(&text, by) else { continue };
        let name = |what: String| broken(format!("{by:+} bytes: {what}"));
        let saved = match save(bsp, subject, slot, &edited, layout)
            .and_then(|file| spare.lay(Ok(file)).map_err(error(bsp, "save")))
        {
            Err(failure @ Failure::DoesNotApply(_)) => {
                why = why.map(|_| failure);
                continue;
            }
            saved => saved?,
        };
        undo.look_at(&saved, |saved| {
            undone(bsp, subject, (slot, &text), saved, layout, spare).map_err(|failure| match failure {
                Failure::Broken(what) => broken(format!("{layout:?}, {by:+} bytes and back: {what}")),
                failure => failure,
            })
        });
        saved::differ(bsp, &saved, Some(layout), Some((slot, &edited))).map_err(name)?;
        spare.give(saved);
        why = None;
    }
    why.map_or(Ok(()), Err)
}

/// After a repack every slot has its bytes, and a second repack changes nothing; also with an edit.
fn repack<'a>(bsp: &Bsp<'a>, subject: &Subject, spare: &mut Spare<'a>, undo: &mut Undo) -> Law {
    let once = spare.lay((subject.write)(&bsp.draft(), Layout::Repack)).map_err(error(bsp, "repack"))?;
    saved::differ(bsp, &once, Some(Layout::Repack), None).map_err(broken)?;
    let again = Bsp::from_data(Data::from(once.bytes()), Some(bsp.dialect())).map_err(error(bsp, "open"))?;
    let twice = (subject.write)(&again.draft(), Layout::Repack).map_err(error(bsp, "repack again"))?;
    if let Some(at) = first_other(once.bytes(), &twice) {
        return Err(broken(format!("repacking again changes the file at {at}")));
    }
    drop((again, twice));
    spare.give(once);
    edits(bsp, subject, Layout::Repack, spare, undo)
}

/// An edit that is undone before the save changes nothing.
fn revert(bsp: &Bsp<'_>, subject: &Subject) -> Law {
    let (slot, text) = (entities_id(bsp)?, entity_text(bsp)?);
    let edited = resized(&text, 1).ok_or_else(|| skipped("its entity text is too short"))?;
    let mut draft = bsp.draft();
    for way in ["revert", "setting the old text"] {
        draft.set(slot, edited.clone()).map_err(error(bsp, "edit"))?;
        match way {
            "revert" => draft.revert(slot),
            _ => draft.set(slot, text.clone()).map_err(error(bsp, "edit"))?,
        }
        let written = (subject.write)(&draft, Layout::Keep).map_err(error(bsp, "save"))?;
        if let Some(at) = first_other(bsp.container().bytes(), &written) {
            return Err(broken(format!("after {way} the file differs at {at}")));
        }
    }
    Ok(())
}

fn save<'m>(bsp: &Bsp<'m>, subject: &Subject, slot: SlotId, bytes: &[u8], layout: Layout) -> Result<Rope<'m>, Failure> {
    let mut draft = bsp.draft();
    draft.set(slot, bytes.to_vec()).map_err(error(bsp, "edit"))?;
    (subject.write)(&draft, layout).map_err(error(bsp, "save"))
}

fn entities_id(bsp: &Bsp<'_>) -> Result<SlotId, Failure> {
    bsp.role(Role::Entities).map(|slot| slot.id).ok_or_else(|| skipped("it has no entities"))
}

/// The entity text; a damaged compressed lump has none.
fn entity_text<'a>(bsp: &Bsp<'a>) -> Result<Data<'a>, Failure> {
    let slot = entities_id(bsp)?;
    if bsp.decompressed_size(slot).is_some_and(|size| size > MOST_TEXT) {
        return Err(skipped("its entity text decompresses to too much"));
    }
    bsp.bytes(slot).map_err(|error| skipped(error.to_string()))
}

/// The text with this many more line breaks before its end, or this many bytes less; at least half of it is left.
fn resized(text: &[u8], by: isize) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let count = by.unsigned_abs();
    let mut edited = text.to_vec();
    if by > 0 {
        edited.splice(end..end, std::iter::repeat_n(b'\n', count));
    } else {
        let start = end.checked_sub(count).filter(|start| *start >= text.len() / 2)?;
        edited.drain(start..end);
    }
    Some(edited)
}

/// As [`first_difference`], of a file in parts; those that share their memory with the other side are not read.
fn first_other(old: &[u8], new: &Rope<'_>) -> Option<usize> {
    if *new == *old { None } else { first_difference(old, &new.to_vec()) }
}

fn first_difference(old: &[u8], new: &[u8]) -> Option<usize> {
    if old == new {
        return None;
    }
    Some(old.iter().zip(new).position(|(old, new)| old != new).unwrap_or(old.len().min(new.len())))
}

// The results of the laws.

/// The results of the laws on one map.
///
/// ```
/// let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// let outcome = bspkit::verify::run(&bspkit::Bsp::parse(&bytes)?);
/// assert!(outcome.is_ok());
/// assert_eq!(outcome.law("identity"), Some(&bspkit::verify::Verdict::Pass));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The verdicts by the names of the laws, in the order of the tests.
    pub laws: Vec<(&'static str, Verdict)>,
    /// How many records of each type there are.
    pub records: Vec<(&'static str, usize)>,
}

/// The result of one law.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not apply, with the reason: the map is damaged or pinned in a way that forbids the edit.
    Skipped(String),
    /// It does not hold, with the difference.
    Fail(String),
}

impl Outcome {
    /// The verdict of a law; `None` if there is no law of this name.
    pub fn law(&self, name: &str) -> Option<&Verdict> {
        self.laws.iter().find(|(law, _)| *law == name).map(|(_, verdict)| verdict)
    }

    /// Whether no law failed.
    pub fn is_ok(&self) -> bool {
        !self.laws.iter().any(|(_, verdict)| matches!(verdict, Verdict::Fail(_)))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Pass => f.write_str("pass"),
            Verdict::Skipped(why) => write!(f, "skipped: {why}"),
            Verdict::Fail(what) => write!(f, "fail: {what}"),
        }
    }
}

// The code that the laws test.

/// Makes the file of a draft, in parts: bytes of the map are not copied.
#[doc(hidden)]
pub type Write = for<'a> fn(&Draft<'a>, Layout) -> Result<Rope<'a>>;

/// The code that the laws test: how drafts are written, entity texts printed, records moved.
///
/// ```
/// use bspkit::verify::{Subject, run_on};
/// let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// // A writer that always writes the old file breaks the laws of every edit.
/// let subject = Subject { write: |draft, _| Ok(draft.bsp().container().bytes().to_vec().into()), ..Subject::REAL };
/// let outcome = run_on(&bspkit::Bsp::parse(&bytes)?, &subject);
/// assert!(!outcome.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Makes the file of a draft.
    pub write: Write,
    /// Prints an entity text after each value was set to what it is.
    pub reprint: fn(&[u8], EntityRules) -> Result<Vec<u8>>,
    /// Decodes records and encodes them again.
    pub reencode: fn(&RecordInfo, &[u8]) -> Vec<u8>,
    /// Brings the records of a list into another order.
    pub reorder: fn(&mut Draft<'_>, &str, &[usize]) -> Result<()>,
    /// Replaces a range of the records of a list by others.
    pub splice: fn(&mut Draft<'_>, &str, Range<usize>, Vec<u8>) -> Result<()>,
}

impl Subject {
    /// The code of the library.
    pub const REAL: Subject = Subject {
        write: |draft, layout| Ok(draft.plan(layout)?.to_rope()),
        reprint: |text, rules| {
            let mut entities = Entities::parse(text, rules)?;
            for index in 0..entities.len() {
                let pairs: Vec<_> = match entities.get(index) {
                    Some(entity) => {
                        let pairs = entity.pairs().take(MOST_PAIRS);
                        pairs.map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
                    }
                    None => Vec::new(),
                };
                let mut entity = entities.get_mut(index)?;
                let mut seen: IndexMap<Vec<u8>, usize> = IndexMap::new();
                for (key, value) in pairs {
                    let nth = seen.entry(key.to_ascii_lowercase()).or_default();
                    *nth += 1;
                    entity.set_nth(&key, *nth, &value)?;
                }
            }
            Ok(entities.to_bytes())
        },
        reencode: |record, bytes| (record.reencode)(bytes),
        reorder: |draft, list, order| draft.structure().reorder_list(list, order).map(drop),
        splice: |draft, list, range, records| draft.structure().splice_list(list, range, records).map(drop),
    };
}

/// How many pairs of an entity are set to their own value: finding the n-th of equal keys costs n.
const MOST_PAIRS: usize = 256;
