//! Embedded files, by name, with the lines that differ.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::Range;

use super::change::{BytesChange, Change, FileChange, FileContent, How, LineChange, LumpChanges, TextChange};
use super::lumps::compare_bytes_at;
use super::{Found, Sides};
use crate::align::aligned;
use crate::diff::longest_rise;
use bspkit::Result;
use bspkit::bytes::{Data, short};
use bspkit::content::pak::{Entry, Method, Pak};

pub(super) fn compare_files(sides: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let end = new.len();
    let bytes = [old, new];
    if let (Ok(old), Ok(new)) = (read(old), read(new)) {
        compare_paks([&old, &new], sides.is_whole, end, found);
        if sides.is_whole {
            compare_gaps([&old, &new], bytes, found);
        }
    }
}

/// The ranges of the bytes that belong to no file, without those of zeros, which are added and left out for alignment.
pub(crate) fn filled_gaps(pak: &Pak<'_>, bytes: &[u8]) -> Vec<Range<usize>> {
    let mut gaps = pak.gaps();
    gaps.retain(|gap| bytes[gap.clone()].iter().any(|byte| *byte != 0));
    gaps
}

/// Compares the bytes that belong to no file.
fn compare_gaps([one, other]: [&Pak<'_>; 2], [old, new]: [&Data<'_>; 2], found: &mut Found) {
    let [before, after] = [filled_gaps(one, old), filled_gaps(other, new)];
    if before.len() == after.len() {
        for (before, after) in before.into_iter().zip(after) {
            let both = [&old[before], &new[after.clone()]];
            if both[0] != both[1] {
                compare_bytes_at(both, after.start, found);
            }
        }
        return;
    }
    let all = |bytes: &[u8], gaps: &[Range<usize>]| {
        gaps.iter().flat_map(|gap| bytes[gap.clone()].to_vec()).collect::<Vec<_>>()
    };
    let place = after.first().map_or(new.len(), |gap| gap.start);
    compare_bytes_at([&all(old, &before), &all(new, &after)], place, found);
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
/// use bspkit_ops::compare;
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
    let mut room = if is_whole { MOST_READ } else { MOST_READ_OF_DRAFT };
    // Of several files of one name those with the same content are the same, and the others are matched in their order.
    let mut pairs: Vec<_> = new.iter().map(|entry| (entry, None)).collect();
    let others = matched(&mut pairs, old.iter(), true);
    let mut gone = matched(&mut pairs, others.into_iter(), false);
    let stays = stays(is_whole, &pairs);
    renamed(&mut pairs, &mut gone, &mut room);
    for (entry, before) in pairs {
        let name = entry.name().to_vec();
        let Some(before) = before else {
            found.count(How::Added, 1, |touched| &mut touched.files);
            found.add(|| Change::File(FileChange { name, ..FileChange::whole(How::Added, (0, entry.size())) }));
            continue;
        };
        let content = same(&before, &entry, &mut room);
        let from = (before.name() != entry.name()).then(|| before.name().to_vec());
        let places = (from.is_none() && !stays[entry.index()]).then_some((before.index(), entry.index()));
        let is_stored_alike = !is_whole && before.method() == entry.method() || before.is_stored_as(&entry);
        let how = match content {
            _ if from.is_some() => How::Moved,
            FileContent::Changed => How::Changed,
            _ if places.is_some() => How::Moved,
            FileContent::Same | FileContent::SameChecksum if is_stored_alike => continue,
            FileContent::Same | FileContent::SameChecksum => How::Rewritten,
        };
        found.count(how, 1, |touched| &mut touched.files);
        let is_listed = is_whole && content == FileContent::Changed && found.has_room();
        let text = if is_listed { text(&before, &entry, found.most) } else { None };
        let sizes = (before.size(), entry.size());
        found.add(|| Change::File(FileChange { how, name, from, sizes, content, places, text }));
    }
    for entry in gone {
        found.count(How::Removed, 1, |touched| &mut touched.files);
        let name = entry.name().to_vec();
        found.add(|| Change::File(FileChange { name, ..FileChange::whole(How::Removed, (entry.size(), 0)) }));
    }
    if is_whole && old.comment() != new.comment() {
        found.touched().bytes += old.comment().len().max(new.comment().len());
        let range = end.saturating_sub(new.comment().len())..end;
        found.add(|| Change::Bytes(BytesChange { range, old: old.comment().len() }));
    }
}

/// A file of the new map and the one of the old map with its name.
type Both<'e, 'p, 'a> = (Entry<'e, 'a>, Option<Entry<'p, 'a>>);

/// Pairs new files with old ones of the same name, and of the same content if that counts, in their order. The old
/// files that are left are returned.
fn matched<'e, 'p, 'a, 'b>(
    pairs: &mut [(Entry<'e, 'a>, Option<Entry<'p, 'b>>)],
    old: impl DoubleEndedIterator<Item = Entry<'p, 'b>>,
    by_content: bool,
) -> Vec<Entry<'p, 'b>> {
    let content = |crc: u32, size: usize| by_content.then_some((crc, size));
    let mut known: HashMap<_, Vec<Entry<'p, 'b>>> = HashMap::new();
    for entry in old.rev() {
        known.entry((entry.name(), content(entry.crc(), entry.size()))).or_default().push(entry);
    }
    for (entry, before) in pairs.iter_mut().filter(|(_, before)| before.is_none()) {
        *before = known.get_mut(&(entry.name(), content(entry.crc(), entry.size()))).and_then(Vec::pop);
    }
    let mut left: Vec<_> = known.into_values().flatten().collect();
    left.sort_by_key(Entry::index);
    left
}

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

/// The most bytes of all files of a comparison that are decompressed, or read to find files with other names.
const MOST_READ: usize = 64 << 20;
/// The same where the content of lumps alone is compared, as each save does.
const MOST_READ_OF_DRAFT: usize = 1 << 20;

fn take(room: &mut usize, amount: usize) -> bool {
    let has_room = amount <= *room;
    *room -= if has_room { amount } else { 0 };
    has_room
}

/// Whether two files have the same content: by their bytes as they are stored, and, if they are stored in different
/// ways, by their bytes. Beyond the room for these, and where neither can be read, only by what the directory states.
fn same(old: &Entry<'_, '_>, new: &Entry<'_, '_>, room: &mut usize) -> FileContent {
    let stated = |file: &Entry<'_, '_>| (content(file), file.is_encrypted());
    if stated(old) != stated(new) {
        return FileContent::Changed;
    }
    let is_stored_alike = old.method() == new.method();
    match (old.stored(), new.stored()) {
        (Ok(before), Ok(after)) if is_stored_alike && (std::ptr::eq(&*before, &*after) || *before == *after) => {
            FileContent::Same
        }
        (Err(_), Err(_)) if is_stored_alike => FileContent::SameChecksum,
        (Ok(_), Ok(_)) if [old, new].iter().any(|file| file.method() != Method::Stored) => {
            match take(room, old.size().saturating_add(new.size())) {
                false => FileContent::SameChecksum,
                true if matches!((old.data(), new.data()), (Ok(old), Ok(new)) if *old == *new) => FileContent::Same,
                true => FileContent::Changed,
            }
        }
        _ => FileContent::Changed,
    }
}

// Files with other names.

/// The size of the pieces by which files that are not text are compared, in bytes.
const PIECE: usize = 64;

/// Pairs files that are new with those that are gone: with the same content, and then with pieces of it that no other
/// of these files has, if most of it is the same.
fn renamed<'e, 'p, 'a>(pairs: &mut [Both<'e, 'p, 'a>], gone: &mut Vec<Entry<'p, 'a>>, room: &mut usize) {
    let mut by_content: HashMap<(u32, usize), Vec<Entry<'p, 'a>>> = HashMap::new();
    gone.iter().rev().for_each(|entry| by_content.entry(content(entry)).or_default().push(*entry));
    for (entry, before) in pairs.iter_mut().filter(|(_, before)| before.is_none()) {
        let Some(candidates) = by_content.get_mut(&content(entry)) else { continue };
        if candidates.last().is_some_and(|old| same(old, entry, room) != FileContent::Changed) {
            *before = candidates.pop();
        }
    }
    let leave = |pairs: &[Both<'e, 'p, 'a>], gone: &mut Vec<Entry<'p, 'a>>| {
        let is_moved: HashSet<usize> = pairs.iter().filter_map(|(_, before)| Some(before.as_ref()?.index())).collect();
        gone.retain(|entry| !is_moved.contains(&entry.index()));
    };
    leave(pairs, gone);
    let added: Vec<usize> = (0..pairs.len()).filter(|at| pairs[*at].1.is_none()).collect();
    let old: Vec<HashSet<u64>> = gone.iter().map(|entry| pieces(entry, room)).collect();
    let new: Vec<HashSet<u64>> = added.iter().map(|at| pieces(&pairs[*at].0, room)).collect();
    for (old, new) in with_pieces(&old, &new) {
        pairs[added[new]].1 = Some(gone[old]);
    }
    leave(pairs, gone);
}

/// What a file consists of: its lines, or pieces of one size. Nothing beyond the room for that.
fn pieces(entry: &Entry<'_, '_>, room: &mut usize) -> HashSet<u64> {
    let data = Some(entry).filter(|entry| take(room, entry.size())).and_then(|entry| entry.data().ok());
    let Some(data) = data else { return HashSet::new() };
    let hash = |piece: &[u8]| {
        let mut hasher = DefaultHasher::new();
        piece.hash(&mut hasher);
        hasher.finish()
    };
    let has_content = |piece: &&[u8]| piece.iter().any(|byte| *byte != piece[0]);
    match is_text(&data) {
        true => split(&data).into_iter().map(<[u8]>::trim_ascii).filter(has_content).map(hash).collect(),
        false => data.chunks(PIECE).filter(has_content).map(hash).collect(),
    }
}

/// The pairs of files that alone have a piece, and nothing in common with others that these do not have, if at least
/// half of their pieces are the same.
fn with_pieces(old: &[HashSet<u64>], new: &[HashSet<u64>]) -> Vec<(usize, usize)> {
    let mut known: HashMap<u64, [Vec<usize>; 2]> = HashMap::new();
    for (side, files) in [old, new].into_iter().enumerate() {
        for (at, pieces) in files.iter().enumerate() {
            // A piece of several files says nothing.
            pieces.iter().for_each(|piece| {
                let files = &mut known.entry(*piece).or_default()[side];
                files.extend((files.len() < 2).then_some(at));
            });
        }
    }
    let mut votes: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for both in known.values() {
        if let ([old], [new]) = (&both[0][..], &both[1][..]) {
            *votes.entry((*old, *new)).or_default() += 1;
        }
    }
    let mut likely: Vec<_> = votes.into_iter().map(|(pair, votes)| (std::cmp::Reverse(votes), pair)).collect();
    likely.sort_unstable();
    let (mut is_old_taken, mut is_new_taken) = (vec![false; old.len()], vec![false; new.len()]);
    let mut pairs = Vec::new();
    for (_, (before, after)) in likely {
        let common = old[before].intersection(&new[after]).count();
        if is_old_taken[before] || is_new_taken[after] || 2 * common < old[before].len().max(new[after].len()) {
            continue;
        }
        (is_old_taken[before], is_new_taken[after]) = (true, true);
        pairs.push((before, after));
    }
    pairs
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
