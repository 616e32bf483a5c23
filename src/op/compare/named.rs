//! What has an identity or a name: entities, and embedded files with the lines that differ.

use std::collections::{BTreeMap, HashMap};

use super::change::{
    BytesChange, Change, EntityChange, FileChange, How, KeyChange, LineChange, LumpChanges, TextChange,
};
use super::{Found, Sides};
use crate::bytes::{Data, short};
use crate::content::entities::{Entities, Entity, Pair};
use crate::content::pak::{Entry, Pak};
use crate::error::Result;
use crate::op::align::aligned;
use crate::op::diff::{longest_rise, paired};

// Entities, by identity.

/// How many pairs of entities are compared to find those that have the most in common.
const MOST_COMPARED: usize = 1 << 22;

pub(super) fn compare_entities(sides: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    // A draft that edits entities knows which are as they were, and nothing is read again.
    if let Some(edited) = sides.open.entities.filter(|edited| edited.is_read_from(old)) {
        let pairing: Vec<_> = (0..edited.len()).map(|index| edited.origin(index)).collect();
        return differ(&edited.original(), edited, &pairing, |index| edited.is_as_read(index), found);
    }
    let texts = [old, new];
    let Ok(old) = Entities::parse(old.clone(), sides.old.entity_rules()) else { return };
    let Ok(new) = Entities::parse(new.clone(), sides.new.entity_rules()) else { return };
    differ(&old, &new, &paired(&old, &new, MOST_COMPARED), |_| false, found);
    if sides.is_whole && !found.is_empty() {
        between([&old, &new], texts, found);
    }
}

/// Compares the text between entities, without white space, and the end of the text.
fn between(entities: [&Entities<'_>; 2], texts: [&Data<'_>; 2], found: &mut Found) {
    let [(old, old_end), (new, new_end)] = [0, 1].map(|side| around(entities[side], texts[side]));
    if old != new || texts[0][old_end..] != texts[1][new_end..] {
        let (old, range) = (texts[0].len() - old_end, new_end..texts[1].len());
        let count = old.max(range.len()).max(1);
        found.touched().bytes += count;
        found.add(|| Change::Bytes(BytesChange { range, old }));
    }
}

/// The text between entities, without white space, and where the last entity ends.
fn around(entities: &Entities<'_>, text: &[u8]) -> (Vec<u8>, usize) {
    let (mut around, mut end) = (Vec::new(), 0);
    for span in entities.iter().filter_map(|entity| entity.span()) {
        let between = text.get(end..span.start).unwrap_or_default();
        around.extend(between.iter().filter(|byte| !byte.is_ascii_whitespace()));
        end = span.end;
    }
    (around, end)
}

/// `is_same` knows entities of which nothing differs but perhaps the place.
fn differ(
    old: &Entities<'_>,
    new: &Entities<'_>,
    pairing: &[Option<usize>],
    is_same: impl Fn(usize) -> bool,
    found: &mut Found,
) {
    let stays = longest_rise(pairing);
    let mut is_kept = vec![false; old.len()];
    for (index, from) in pairing.iter().enumerate() {
        from.iter().for_each(|from| is_kept[*from] = true);
        let is_moved = !stays[index];
        if from.is_some() && !is_moved && is_same(index) {
            continue;
        }
        let Some(entity) = new.get(index) else { continue };
        let Some(before) = from.and_then(|from| old.get(from)) else {
            add(found, How::Added, &entity, None, whole(&entity, How::Added));
            continue;
        };
        if !is_moved && before.bytes() == entity.bytes() {
            continue;
        }
        let keys = keys(&before, &entity);
        let how = match (is_moved, keys.is_empty()) {
            (true, _) => How::Moved,
            (false, true) => How::Rewritten,
            (false, false) => How::Changed,
        };
        add(found, how, &entity, Some(before.index()), keys);
    }
    for entity in old.iter().filter(|entity| !is_kept[entity.index()]) {
        add(found, How::Removed, &entity, None, whole(&entity, How::Removed));
    }
}

fn add(found: &mut Found, how: How, entity: &Entity<'_>, from: Option<usize>, mut keys: Vec<KeyChange>) {
    found.count(how, 1, |touched| &mut touched.entities);
    if !matches!(how, How::Added | How::Removed) {
        found.touched().values += keys.len();
    }
    let most = found.most;
    found.add(|| {
        let more = keys.len().saturating_sub(most);
        keys.truncate(most);
        let (class, name) = (entity.class().map(<[u8]>::to_vec), entity.get("targetname").map(<[u8]>::to_vec));
        let from = from.filter(|from| *from != entity.index() || how == How::Moved);
        Change::Entity(EntityChange { how, index: entity.index(), from, class, name, keys, more })
    });
}

/// All pairs of an entity that only one map has.
fn whole(entity: &Entity<'_>, how: How) -> Vec<KeyChange> {
    let value = |pair: Pair<'_>, is: How| (how == is).then(|| pair.value.to_vec());
    let pairs = entity.pairs();
    let one = |pair: Pair<'_>| KeyChange {
        key: pair.key.to_vec(),
        old: value(pair, How::Removed),
        new: value(pair, How::Added),
    };
    pairs.map(one).collect()
}

/// The values that differ. Of several equal keys, pairs that both have are left out first; the others are matched in
/// their order.
fn keys(old: &Entity<'_>, new: &Entity<'_>) -> Vec<KeyChange> {
    let change = |key: &[u8], old: Option<&[u8]>, new: Option<&[u8]>| KeyChange {
        key: key.to_vec(),
        old: old.map(<[u8]>::to_vec),
        new: new.map(<[u8]>::to_vec),
    };
    let (mut old, mut new): (Vec<_>, Vec<_>) = (old.pairs().collect(), new.pairs().collect());
    if old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| old.key == new.key) {
        let both = old.into_iter().zip(new).filter(|(old, new)| old.value != new.value);
        return both.map(|(old, new)| change(new.key, Some(old.value), Some(new.value))).collect();
    }
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let room = old.len().min(new.len()) - same;
    let end = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(old, new)| old == new).count();
    // Most edits only add or only remove pairs in one place.
    if room == end {
        let removed = old[same..old.len() - end].iter().map(|pair| change(pair.key, Some(pair.value), None));
        let added = new[same..new.len() - end].iter().map(|pair| change(pair.key, None, Some(pair.value)));
        return removed.chain(added).collect();
    }
    let orders = other_orders([&old, &new]);
    old.drain(..same);
    new.drain(..same);
    let mut equal: HashMap<Pair<'_>, usize> = HashMap::new();
    new.iter().for_each(|pair| *equal.entry(*pair).or_default() += 1);
    let mut kept: HashMap<Pair<'_>, usize> = HashMap::new();
    let mut rest: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
    let mut gone = Vec::new();
    for pair in old {
        match equal.get_mut(&pair).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                *kept.entry(pair).or_default() += 1;
            }
            None => gone.push(pair),
        }
    }
    gone.iter().rev().for_each(|pair| rest.entry(pair.key).or_default().push(pair.value));
    let mut changes = Vec::new();
    for pair in new {
        match kept.get_mut(&pair).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => changes.push(change(pair.key, rest.get_mut(pair.key).and_then(Vec::pop), Some(pair.value))),
        }
    }
    // Of each key, the values at the end of the old list are left.
    for pair in gone {
        if let Some(value) = rest.get_mut(pair.key).and_then(Vec::pop) {
            changes.push(change(pair.key, Some(value), None));
        }
    }
    changes.extend(orders.into_iter().map(|(key, old, new)| change(key, Some(old), Some(new))));
    changes
}

/// A value in the place of another one of equal keys.
type Swapped<'e> = (&'e [u8], &'e [u8], &'e [u8]);

/// The values of equal keys that are the same ones in another order, which has a meaning: engines use the first or the
/// last one, or all of them one after the other.
fn other_orders<'e>(both: [&[Pair<'e>]; 2]) -> Vec<Swapped<'e>> {
    let [old, new] = both.map(|pairs| {
        let mut values: BTreeMap<Vec<u8>, Vec<Pair<'e>>> = BTreeMap::new();
        pairs.iter().for_each(|pair| values.entry(pair.key.to_ascii_lowercase()).or_default().push(*pair));
        values
    });
    let sorted = |pairs: &[Pair<'e>]| {
        let mut all: Vec<_> = pairs.iter().map(|pair| (pair.key, pair.value)).collect();
        all.sort_unstable();
        all
    };
    let mut swapped = Vec::new();
    for (key, before) in &old {
        let Some(after) = new.get(key).filter(|after| before.len() > 1 && sorted(before) == sorted(after)) else {
            continue;
        };
        let others = before.iter().zip(after).filter(|(before, after)| before.value != after.value);
        swapped.extend(others.map(|(before, after)| (after.key, before.value, after.value)));
    }
    swapped
}

// Embedded files, by name.

pub(super) fn compare_files(sides: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let end = new.len();
    if let (Ok(old), Ok(new)) = (read(old), read(new)) {
        compare_paks([&old, &new], sides.is_whole, end, found);
    }
}

/// Compares a pakfile with the same one as a draft edits it, of which nothing but its files is read.
pub(super) fn compare_edited(edited: &Pak<'_>, found: &mut Found) {
    let end = found.lump.sizes.1;
    compare_paks([&edited.original(), edited], false, end, found);
}

/// What differs between two pakfiles, also of maps of different games: files, their order, how they are stored and
/// their times, and the lines of text files. At most `most` differences are listed.
///
/// ```
/// use bspkit::content::pak::Pak;
/// use bspkit::op::compare;
/// let mut old = Pak::new(b"");
/// old.add("a.txt", "text")?;
/// let mut new = old.clone();
/// new.rename(0, "b.txt")?;
/// let found = compare::paks(&old, &new, 10);
/// assert_eq!(found.changes[0].line("pakfile").to_string(), "pakfile: a.txt -> b.txt, 4 bytes");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn paks(old: &Pak<'_>, new: &Pak<'_>, most: usize) -> LumpChanges {
    let mut found = Found { lump: LumpChanges { lump: "PAKFILE".to_owned(), ..LumpChanges::default() }, most };
    compare_paks([old, new], true, 0, &mut found);
    found.lump
}

/// Compares the files of two pakfiles; the bytes of the new one end at `end`.
fn compare_paks([old, new]: [&Pak<'_>; 2], is_whole: bool, end: usize, found: &mut Found) {
    // Several files of one name are matched in their order.
    let mut known: HashMap<&[u8], Vec<Entry<'_, '_>>> = HashMap::new();
    old.iter().rev().for_each(|entry| known.entry(entry.name()).or_default().push(entry));
    let pairs: Vec<_> = new.iter().map(|entry| (entry, known.get_mut(entry.name()).and_then(Vec::pop))).collect();
    let mut gone: Vec<Entry<'_, '_>> = known.into_values().flatten().collect();
    gone.sort_by_key(Entry::index);
    // Files that are gone and are there under another name, by what the directory says of their content.
    let mut by_content: HashMap<(u32, usize), Vec<usize>> = HashMap::new();
    gone.iter().rev().for_each(|entry| by_content.entry(content(entry)).or_default().push(entry.index()));
    let mut is_moved = vec![false; old.len()];
    let stays = stays(is_whole, &pairs);
    for (entry, before) in pairs {
        let places = before.filter(|_| !stays[entry.index()]).map(|before| (before.index(), entry.index()));
        let (how, before) = match before {
            Some(before) => match difference(&before, &entry) {
                Some(how) => (how, Some(before)),
                None if places.is_some() => (How::Moved, Some(before)),
                None if is_whole && before.form() != entry.form() => (How::Rewritten, Some(before)),
                None => continue,
            },
            None => {
                let moved = by_content.get_mut(&content(&entry)).and_then(Vec::pop).and_then(|index| old.get(index));
                let moved = moved.filter(|before| difference(before, &entry) != Some(How::Changed));
                (if moved.is_some() { How::Moved } else { How::Added }, moved)
            }
        };
        before.iter().for_each(|before| is_moved[before.index()] = true);
        let from =
            before.as_ref().filter(|_| how == How::Moved && places.is_none()).map(|before| before.name().to_vec());
        let sizes = (before.map_or(0, |before| before.size()), entry.size());
        found.count(how, 1, |touched| &mut touched.files);
        let is_listed = is_whole && how == How::Changed && found.has_room();
        let text = before.filter(|_| is_listed).and_then(|before| text(&before, &entry, found.most));
        found.add(|| Change::File(FileChange { how, name: entry.name().to_vec(), from, sizes, places, text }));
    }
    for entry in gone.into_iter().filter(|entry| !is_moved[entry.index()]) {
        let (how, sizes) = (How::Removed, (entry.size(), 0));
        found.count(how, 1, |touched| &mut touched.files);
        let (from, places, text) = Default::default();
        found.add(|| Change::File(FileChange { how, name: entry.name().to_vec(), from, sizes, places, text }));
    }
    if is_whole && old.comment() != new.comment() {
        found.touched().bytes += old.comment().len().max(new.comment().len());
        let range = end.saturating_sub(new.comment().len())..end;
        found.add(|| Change::Bytes(BytesChange { range, old: old.comment().len() }));
    }
}

/// A file of the new map and the one of the old map with its name.
type Both<'e, 'p, 'a> = (Entry<'e, 'a>, Option<Entry<'p, 'a>>);

/// For each new file whether it is in its order. The order counts only if whole maps are compared.
fn stays(is_whole: bool, pairs: &[Both<'_, '_, '_>]) -> Vec<bool> {
    if !is_whole {
        return vec![true; pairs.len()];
    }
    let pairing: Vec<_> = pairs.iter().map(|(_, before)| before.as_ref().map(Entry::index)).collect();
    longest_rise(&pairing)
}

/// The lines that differ, if both files are text.
fn text(old: &Entry<'_, '_>, new: &Entry<'_, '_>, most: usize) -> Option<TextChange> {
    let is_small = old.size().max(new.size()) <= MOST_TEXT;
    let (old, new) = (old.data().ok().filter(|_| is_small)?, new.data().ok()?);
    (is_text(&old) && is_text(&new)).then(|| compare_lines(&old, &new, most))
}

/// A lump without bytes is a pakfile without files.
fn read<'a>(bytes: &Data<'a>) -> Result<Pak<'a>> {
    if bytes.is_empty() { Ok(Pak::new(b"")) } else { Pak::parse(bytes.clone()) }
}

fn content(entry: &Entry<'_, '_>) -> (u32, usize) {
    (entry.crc(), entry.size())
}

/// How two files differ: by their bytes as they are stored, or, if they are stored in different ways, by the checksum
/// and the size in the directory.
fn difference(old: &Entry<'_, '_>, new: &Entry<'_, '_>) -> Option<How> {
    let is_stored_alike = old.method() == new.method() && old.size() == new.size();
    match (old.stored(), new.stored()) {
        (Ok(before), Ok(after)) if is_stored_alike && (std::ptr::eq(&*before, &*after) || *before == *after) => None,
        (Ok(_), Ok(_)) if old.method() != new.method() && content(old) == content(new) => Some(How::Rewritten),
        (Err(_), Err(_)) if is_stored_alike && content(old) == content(new) => None,
        _ => Some(How::Changed),
    }
}

// Lines of text that differ.

/// Larger files are not compared line by line.
pub(super) const MOST_TEXT: usize = 4 << 20;

/// How many lines are listed for each change that may be listed.
const LINES: usize = 4;

/// Whether a file seems to be text: it has no control characters but tabs and line breaks.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() <= MOST_TEXT && bytes.iter().all(|byte| *byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r' | 12))
}

/// The lines that differ; about `most` places are listed. Lines that both texts have once are matched, and what is
/// between them counts as replaced.
pub(super) fn compare_lines(old: &[u8], new: &[u8], most: usize) -> TextChange {
    let (old, new) = (split(old), split(new));
    let mut numbers = HashMap::new();
    let mut number = |lines: &[&'_ [u8]]| -> Vec<u8> {
        let of = |line: &&[u8]| {
            let next = short(numbers.len());
            (*numbers.entry(line.to_vec()).or_insert(next)).to_le_bytes()
        };
        lines.iter().map(of).collect::<Vec<_>>().concat()
    };
    let (old_numbers, new_numbers) = (number(&old), number(&new));
    let mut change = TextChange::default();
    let mut room = most.saturating_mul(LINES);
    for hunk in aligned(&old_numbers, &new_numbers, 4) {
        change.removed += hunk.old.len();
        change.added += hunk.new.len();
        if room == 0 {
            change.more += 1;
            continue;
        }
        let mut listed = |lines: &[&[u8]]| {
            let listed: Vec<Vec<u8>> = lines.iter().take(room).map(|line| line.to_vec()).collect();
            room -= listed.len();
            listed
        };
        let at = (hunk.old.start, hunk.new.start);
        let all = hunk.old.len() + hunk.new.len();
        let (old, new) = (listed(&old[hunk.old]), listed(&new[hunk.new]));
        change.more += usize::from(old.len() + new.len() < all);
        change.hunks.push(LineChange { at, old, new });
    }
    change
}

/// The lines, without line feeds.
fn split(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    // A line feed ends a line; nothing is after the last one.
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_that_differ_are_listed_with_their_places() {
        let change = compare_lines(b"a\nb\nc\nd\n", b"a\nx\nc\nd\ne\n", 10);
        assert_eq!((change.added, change.removed, change.more), (2, 1, 0));
        let [first, last] = &change.hunks[..] else { panic!("{change:?}") };
        assert_eq!((first.at, &first.old[..], &first.new[..]), ((1, 1), &[b"b".to_vec()][..], &[b"x".to_vec()][..]));
        assert_eq!((last.at, last.old.len(), &last.new[..]), ((4, 4), 0, &[b"e".to_vec()][..]));
    }

    #[test]
    fn a_text_that_is_all_new_is_cut_off() {
        let [old, new] = ["old", "new"].map(|word| (0..100).map(|line| format!("{word} {line}\n")).collect::<String>());
        let change = compare_lines(old.as_bytes(), new.as_bytes(), 2);
        assert_eq!((change.added, change.removed, change.more), (100, 100, 1));
        assert_eq!(change.hunks.iter().map(|hunk| hunk.old.len() + hunk.new.len()).sum::<usize>(), 8);
    }

    proptest! {
        /// The old text with its hunks replaced is the new one.
        #[test]
        fn hunks_lead_from_one_text_to_the_other(old in "([a-d]\n){0,20}", new in "([a-d]\n){0,20}") {
            let change = compare_lines(old.as_bytes(), new.as_bytes(), 1000);
            let (old, mut made, mut at) = (split(old.as_bytes()), Vec::new(), 0);
            for hunk in &change.hunks {
                made.extend(old[at..hunk.at.0].iter().map(|line| line.to_vec()));
                prop_assert_eq!(made.len(), hunk.at.1);
                made.extend(hunk.new.iter().cloned());
                at = hunk.at.0 + hunk.old.len();
            }
            made.extend(old[at..].iter().map(|line| line.to_vec()));
            prop_assert_eq!(made, split(new.as_bytes()));
        }
    }
}
