//! Lists of records that come back from text: a random edit of the text gives what the same edit gives that is made by
//! numbers, or it is refused.

use crate::{corpus, random};
use std::path::Path;

use bspkit::{Bsp, Draft, Result, Splice};
use bspkit_text::records::{Format, Lump, Numbers};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

const FOLLOWED: Numbers = Numbers::Followed { force: false, cascade: false };

/// How many lines are between two edits.
const BETWEEN: usize = 3;

#[derive(Clone, Debug)]
enum Edit {
    Remove,
    Insert(Index, u8),
    Change(Index, u8),
    Duplicate,
    MoveTo(Index),
    MoveAndChange(Index, Index, u8),
}

fn edits() -> impl Strategy<Value = Vec<(Index, Edit)>> {
    let byte = || (any::<Index>(), 1..=255_u8);
    let edit = prop_oneof![
        Just(Edit::Remove),
        byte().prop_map(|(at, byte)| Edit::Insert(at, byte)),
        byte().prop_map(|(at, byte)| Edit::Change(at, byte)),
        Just(Edit::Duplicate),
        any::<Index>().prop_map(Edit::MoveTo),
        (any::<Index>(), byte()).prop_map(|(to, (at, byte))| Edit::MoveAndChange(to, at, byte)),
    ];
    vec((any::<Index>(), edit), 1..5)
}

/// A record of the edited list: the old one that it is, and its bytes.
type Line = (Option<usize>, Vec<u8>);

/// The places of edits, so that lines are between them that nobody edits.
struct Places<'r> {
    taken: Vec<usize>,
    records: &'r [Vec<u8>],
}

impl Places<'_> {
    fn take(&mut self, at: Index) -> Option<usize> {
        let at = at.index(self.records.len());
        // Which of equal lines in a row is meant cannot be seen in the text.
        let near = &self.records[at.saturating_sub(1)..self.records.len().min(at + 2)];
        let is_one = near.iter().filter(|record| **record == self.records[at]).count() == 1;
        let is_free = is_one && self.taken.iter().all(|other| other.abs_diff(at) > BETWEEN);
        self.taken.extend(is_free.then_some(at));
        is_free.then_some(at)
    }
}

/// Makes edits of the records of a list, by their old numbers: those that are left, in the new order.
fn edited(records: &[Vec<u8>], edits: &[(Index, Edit)]) -> Vec<Line> {
    let mut places = Places { taken: Vec::new(), records };
    // What stands in the place of each old record, and after it.
    let mut slots: Vec<Vec<Line>> =
        records.iter().enumerate().map(|(at, record)| vec![(Some(at), record.clone())]).collect();
    let other = |at: usize, cell: &Index, byte: u8| {
        let mut bytes = records[at].clone();
        bytes[cell.index(records[at].len())] ^= byte;
        bytes
    };
    for (at, edit) in edits {
        // A number that moved and changed is another number.
        if matches!(edit, Edit::MoveAndChange(..)) && records[0].len() <= 4 {
            continue;
        }
        let Some(at) = places.take(*at) else { continue };
        match edit {
            // With the values of another record it is a copy of that one.
            Edit::Insert(cell, byte) | Edit::Change(cell, byte) | Edit::MoveAndChange(_, cell, byte)
                if records.contains(&other(at, cell, *byte)) => {}
            Edit::Remove => slots[at].clear(),
            Edit::Insert(cell, byte) => slots[at].push((None, other(at, cell, *byte))),
            Edit::Change(cell, byte) => slots[at][0].1 = other(at, cell, *byte),
            Edit::Duplicate => slots[at].push((None, records[at].clone())),
            Edit::MoveTo(to) | Edit::MoveAndChange(to, ..) => {
                if let Some(to) = places.take(*to) {
                    let mut line = slots[at].remove(0);
                    if let Edit::MoveAndChange(_, cell, byte) = edit {
                        line.1 = other(at, cell, *byte);
                    }
                    slots[to].push(line);
                }
            }
        }
    }
    slots.concat()
}

/// The same edit by numbers: values, then what is added and removed from the end to the start, then the order.
fn by_numbers(draft: &mut Draft<'_>, list: &str, records: &[Vec<u8>], lines: &[Line]) -> Result<()> {
    let slot = draft.bsp().slot(list)?.id;
    let mut all = draft.bytes(slot)?.to_vec();
    for (old, bytes) in lines.iter().filter_map(|(old, bytes)| Some(((*old)?, bytes))) {
        all[old * bytes.len()..(old + 1) * bytes.len()].copy_from_slice(bytes);
    }
    draft.set(slot, all)?;
    // A new line comes after the old one that was before it when it was written. Numbers in it are those before the edit,
    // so what is removed goes last.
    let mut after: Vec<Vec<&Line>> = vec![Vec::new(); records.len() + 1];
    let mut before = 0;
    let mut is_left = vec![false; records.len()];
    for line in lines {
        match line.0 {
            Some(old) => (before, is_left[old]) = (old + 1, true),
            None => after[before].push(line),
        }
    }
    let new = |at: usize| after[at].iter().flat_map(|line| line.1.clone()).collect();
    let places = (0..=records.len()).filter(|at| !after[*at].is_empty());
    if list == "CLIPNODES" {
        // A new one names others of the list by numbers that another new one would change.
        let splices = places.map(|at| Splice { range: at..at, records: new(at) }).collect();
        draft.structure().splice_lists(vec![(list, splices)])?;
    } else {
        places.rev().try_for_each(|at| draft.structure().splice_list(list, at..at, new(at)).map(drop))?;
    }
    // The places of the old records and the new ones, with those that go and without them.
    let (mut gone, mut all, mut next) = (Vec::new(), 0, 0);
    let mut old_places = vec![0; records.len()];
    let mut new_places: Vec<std::collections::VecDeque<usize>> = Vec::new();
    for at in 0..=records.len() {
        if at > 0 {
            old_places[at - 1] = next;
            gone.extend((!is_left[at - 1]).then_some(all));
            next += usize::from(is_left[at - 1]);
            all += 1;
        }
        new_places.push((next..next + after[at].len()).collect());
        (next, all) = (next + after[at].len(), all + after[at].len());
    }
    if !gone.is_empty() {
        draft.structure().remove(&[(list, &gone)])?;
    }
    let mut places = Vec::new();
    before = 0;
    for (old, _) in lines {
        match old {
            Some(old) => {
                places.push(old_places[*old]);
                before = old + 1;
            }
            None => places.push(new_places[before].pop_front().unwrap()),
        }
    }
    if !places.is_sorted() {
        draft.structure().reorder_list(list, &places)?;
    }
    Ok(())
}

/// Whether two drafts have the same content: where nothing belongs to a record, it does not matter where that begins, nor
/// which one of two equal rows of visibility a leaf has.
fn is_same<'a>(one: &Draft<'a>, other: &Draft<'a>) -> bool {
    let lines = |draft: &Draft<'_>, slot| {
        let map = Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
        let lump = Lump::read(&map, map.container().slot(slot).unwrap()).unwrap();
        let mut text = Vec::new();
        let mut write = |piece: &[u8]| {
            text.extend_from_slice(piece);
            Ok::<_, bspkit::Error>(true)
        };
        lump.print(lump.usual_format(), &[], &mut write).unwrap();
        let plain = |line: &str| match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line) {
            Ok(mut record) => {
                let is_empty = record.iter().any(|(name, value)| name.ends_with("_count") && *value == 0);
                record.retain(|name, _| !(is_empty && name.starts_with("first_") || name.starts_with("vis")));
                serde_json::to_string(&record).unwrap()
            }
            Err(_) => line.to_owned(),
        };
        String::from_utf8_lossy(&text).lines().map(plain).collect::<Vec<_>>()
    };
    let slots: std::collections::BTreeSet<_> = [one, other].iter().flat_map(|draft| draft.changes().unwrap()).collect();
    let is_equal = |slot| one.bytes(slot).unwrap() == other.bytes(slot).unwrap();
    slots.into_iter().all(|slot| is_equal(slot) || lines(one, slot) == lines(other, slot))
}

fn saved(draft: &Draft<'_>) -> Vec<(bspkit::SlotId, Vec<u8>)> {
    draft.changes().unwrap().into_iter().map(|slot| (slot, draft.bytes(slot).unwrap().to_vec())).collect()
}

#[derive(Debug, Default)]
struct Seen {
    same: usize,
    refused: usize,
    /// By-number readings that give another map: the comparison can fail.
    other: usize,
    wrong: Vec<String>,
}

/// Edits every array of a map that has enough records.
fn try_edits(name: &str, map: &Bsp<'static>, edits: &[(Index, Edit)], seen: &mut Seen) {
    for slot in map.slots() {
        let Ok(lump) = Lump::read(map, slot) else { continue };
        let [part] = lump.records() else { continue };
        let size = part.record.size;
        let is_big = map.byte_order() == bspkit::bytes::ByteOrder::Big;
        if is_big || part.count() < 8 || part.count() > 20_000 || part.count_at.is_some() || slot.name == "NODES" {
            continue;
        }
        let bytes = map.bytes(slot.id).unwrap();
        let records: Vec<Vec<u8>> = bytes[part.range.clone()].chunks_exact(size).map(<[u8]>::to_vec).collect();
        let lines = edited(&records, edits);
        let rest = &bytes[part.range.start + part.count() * size..];
        let mut text: Vec<u8> = lines.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        text.extend_from_slice(rest);
        if text == bytes[..] {
            continue;
        }
        let mut draft = map.draft();
        let loaded = lump.load(&mut draft, Format::Raw, &[], FOLLOWED, &text[..]);
        let mut other = map.draft();
        let made = by_numbers(&mut other, &slot.name, &records, &lines);
        let is_other = |draft: &Draft<'static>| saved(draft) != saved(&other) && !is_same(draft, &other);
        let mut kept = map.draft();
        let is_kept = lump.load(&mut kept, Format::Raw, &[], Numbers::Kept, &text[..]).is_ok();
        match (loaded, made) {
            (Ok(_), Ok(())) if is_other(&draft) => {
                let differs = |(slot, bytes): &(bspkit::SlotId, Vec<u8>)| {
                    let other = other.bytes(*slot).unwrap();
                    let at = bytes.iter().zip(other.iter()).position(|(one, other)| one != other);
                    (*bytes != *other).then(|| format!("{slot:?} {} {} {at:?}", bytes.len(), other.len()))
                };
                let differ: Vec<String> = saved(&draft).iter().filter_map(differs).collect();
                seen.wrong.push(format!("{name} {}: another map: {differ:?} {edits:?}", slot.name));
            }
            // A number is no more than its value: where it did not move, others have another one.
            (Ok(_), Err(_)) if size <= 4 && part.record.fields.len() == 1 => {}
            // One edit after the other may meet rows of visibility that the values broke; all at once meet them once.
            (Ok(_), Err(error)) if error.to_string().contains("VISIBILITY") => {}
            (Ok(_), Err(error)) => seen.wrong.push(format!("{name} {}: by numbers {error}; {edits:?}", slot.name)),
            (Ok(_), Ok(())) => {
                seen.same += 1;
                seen.other += usize::from(is_kept && is_other(&kept));
            }
            (Err(_), _) => {
                assert!(draft.changes().unwrap().is_empty(), "{name} {}: a part of an edit is left", slot.name);
                seen.refused += 1;
            }
        }
    }
}

fn fixture(name: &str) -> Bsp<'static> {
    Bsp::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps").join(name).with_extension("bsp")).unwrap()
}

const FIXTURES: [&str; 5] =
    ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms_bspx", "q3/own_rooms", "source/room_v20"];

proptest! {
    #![proptest_config(random::config(24, "tests/proptest-regressions/loaded.txt"))]

    #[test]
    fn an_edited_text_is_the_same_edit_or_refused(which in 0..FIXTURES.len(), edits in edits()) {
        let mut seen = Seen::default();
        try_edits(FIXTURES[which], &fixture(FIXTURES[which]), &edits, &mut seen);
        prop_assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
    }
}

/// The edits above are no empty claim: most of them are made, and a reading by numbers gives another map.
#[test]
fn an_edit_of_each_kind_is_made_and_seen() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = Seen::default();
    for name in FIXTURES {
        let edits = edits().new_tree(&mut runner).unwrap().current();
        try_edits(name, &fixture(name), &edits, &mut seen);
    }
    assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
    assert!(seen.same > seen.refused / 2 && seen.other > 5, "{seen:?}");
}

/// The same on real maps.
#[test]
fn edited_texts_of_real_maps_are_the_same_edits_or_refused() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = Seen::default();
    for path in corpus::maps() {
        if std::fs::metadata(&path).unwrap().len() > 1 << 20 {
            continue;
        }
        let Ok(map) = Bsp::open(&path) else { continue };
        let edits = edits().new_tree(&mut runner).unwrap().current();
        try_edits(&path.display().to_string(), &map, &edits, &mut seen);
    }
    println!("{} the same, {} refused, {} others by number", seen.same, seen.refused, seen.other);
    assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
}
