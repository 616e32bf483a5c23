//! Lists of records replaced by edited ones, with all that refers to the records: the one way for text that comes back,
//! whether it is a file or a folder of files.

use std::io::BufRead;
use std::ops::Range;

use super::{Format, List, Lump, other_size, read_all};
use bspkit::Splice;
use bspkit::bytes::{ByteOrder, Data};
use bspkit::record::{FlagNames, RecordInfo, byte_swap};
use bspkit::{Bsp, Draft, Error, ErrorKind, Followed, Hint, Result, SlotId};
use bspkit_ops::align::{Doubt, Hunk, Reading};
use bspkit_ops::models::Removal;

/// What happens to the numbers of records if a file has more or fewer of them, or has them in another order.
///
/// ```
/// use bspkit_text::records::Numbers;
/// assert_eq!(Numbers::default(), Numbers::Checked);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Such a file is refused: each record has to be the one with its number.
    #[default]
    Checked,
    /// Each record is taken for the one with its number. Nothing that refers to records follows; a warning says if
    /// records moved.
    Kept,
    /// Records are recognized by their content, and everything that refers to them follows; `force` and `cascade` are
    /// those of [`bspkit::Structure`].
    Followed {
        /// As [`bspkit::Structure::force`].
        force: bool,
        /// As [`bspkit::Structure::cascade`].
        cascade: bool,
    },
}

/// New lists of a lump.
pub(crate) struct NewLump {
    pub(crate) slot: SlotId,
    /// All bytes with the new lists, in the byte order of the map.
    pub(crate) bytes: Vec<u8>,
    pub(crate) lists: Vec<NewList>,
}

/// A new list of records, beside the old one. Numbers are little-endian.
pub(crate) struct NewList {
    /// `LUMP`, or `LUMP.list`.
    pub(crate) name: String,
    pub(crate) record: &'static RecordInfo,
    slot: SlotId,
    /// The offset of the old list in the bytes of the lump.
    start: usize,
    pub(crate) old: Vec<u8>,
    pub(crate) new: List,
    /// What errors begin with: the file.
    pub(crate) place: String,
}

impl<'a> Lump<'a> {
    /// Replaces the records of the lump in a draft with those of a file. Numbers in the file are those that the
    /// records have in the draft, before anything moves.
    ///
    /// Equal records are the same. Others replace those in whose place they are, or are new. What can be read in
    /// several ways is refused.
    ///
    /// ```
    /// use bspkit_text::records::{Format, Lump, Numbers};
    /// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
    /// let vertexes = Lump::find(&map, "vertexes")?;
    /// let mut text = b"{\"point\":[1,2,3]}\n".to_vec();
    /// vertexes.print(Format::Json, &[], |piece| {
    ///     text.extend_from_slice(piece);
    ///     Ok::<_, bspkit::Error>(true)
    /// })?;
    /// let mut draft = map.draft();
    /// let follow = Numbers::Followed { force: false, cascade: false };
    /// let followed = vertexes.load(&mut draft, Format::Json, &[], follow, &text[..])?;
    /// assert_eq!(followed.fields[0].lump, "EDGES");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The file cannot be read; or a line is wrong, which the message names with the reason; or the numbers of records
    /// would not be those of [`Numbers`]; or it is not known which record a line is. Also as
    /// [`bspkit::Structure::splice`].
    pub fn load(
        &self,
        draft: &mut Draft<'a>,
        format: Format,
        names: FlagNames,
        numbers: Numbers,
        mut file: impl BufRead,
    ) -> Result<Followed> {
        let view = draft.view()?;
        let current = match view.as_ref().and_then(|view| Some((view, view.container().slot(self.slot)?))) {
            Some((view, slot)) if !self.parts.is_empty() => {
                let now = Lump::read(view, slot)?;
                if self.parts.len() == 1 && now.parts.len() > 1 {
                    Lump::find(view, &format!("{}.{}", slot.name, self.parts[0].list))?
                } else {
                    now
                }
            }
            _ => self.clone(),
        };
        let lump = match format {
            Format::Raw => current.raw_lump(draft.bsp(), numbers, read_all(&mut file)?, "")?,
            Format::Json | Format::Csv => {
                let lists = current.lists(format, names, file)?;
                let bytes = Data::from(current.assemble(&lists)?);
                let bytes = draft.bsp().in_own_order(self.slot, bytes).to_vec();
                NewLump { slot: self.slot, bytes, lists: current.new_lists(lists, "") }
            }
        };
        take(draft, vec![lump], numbers).map_err(|problems| {
            let mut problems = problems.into_iter();
            problems.next().unwrap_or_else(|| Error::new(ErrorKind::Refused, "the records cannot be loaded"))
        })
    }

    /// The lists of the lump beside new ones.
    pub(crate) fn new_lists(&self, lists: Vec<List>, place: &str) -> Vec<NewList> {
        let new = self.parts.iter().zip(lists).map(|(part, new)| {
            let dot = if part.list.is_empty() { "" } else { "." };
            let old = self.bytes[part.range.start..part.range.start + part.count() * part.record.size].to_vec();
            let name = format!("{}{dot}{}", self.name, part.list);
            let (slot, start) = (self.slot, part.range.start);
            NewList { name, record: part.record, slot, start, old, new, place: place.to_owned() }
        });
        new.collect()
    }

    /// New bytes; if they are whole records of the only array, or as many of all lists, the records. `place` is what
    /// errors begin with.
    pub(crate) fn raw_lump(&self, bsp: &Bsp<'_>, numbers: Numbers, bytes: Vec<u8>, place: &str) -> Result<NewLump> {
        let (old, new) = (self.bytes.len(), bytes.len());
        let mut lump = NewLump { slot: self.slot, bytes, lists: Vec::new() };
        if self.parts.is_empty() || numbers == Numbers::Kept && old != new {
            return Ok(lump);
        }
        if old != new && numbers == Numbers::Checked {
            return Err(other_size(format!("{place}the file has {new} bytes, but {} has {old}", self.name)));
        }
        let part = match self.one() {
            Ok(part) if part.count_at.is_none() && part.range.start == 0 => part,
            Ok(_) | Err(_) if old == new => {
                if bsp.byte_order() == ByteOrder::Little {
                    lump.lists = self.new_lists(self.as_many(&lump.bytes), place);
                }
                return Ok(lump);
            }
            Ok(_) => return Err(Error::new(ErrorKind::Unsupported, "bytes of a list with a count cannot be followed")),
            Err(error) => return Err(error),
        };
        let (size, rest) = (part.record.size, self.rest_bytes());
        let Some(records) = lump.bytes.strip_suffix(rest).filter(|records| records.len().is_multiple_of(size)) else {
            if old == new {
                return Ok(lump);
            }
            let message = format!("the file has {new} bytes, which are not whole records of {size}");
            return Err(Error::new(ErrorKind::Argument, message));
        };
        let mut records = records.to_vec();
        if bsp.byte_order() == ByteOrder::Big {
            byte_swap(part.record, &mut records);
        }
        lump.lists = self.new_lists(vec![List { bytes: records, lines: Vec::new() }], place);
        Ok(lump)
    }

    /// The lists in new bytes that have as many records as the old ones; none if other bytes differ too.
    fn as_many(&self, new: &[u8]) -> Vec<List> {
        let mut others = new.to_vec();
        let mut lists = Vec::new();
        for part in &self.parts {
            let range = part.range.start..part.range.start + part.count() * part.record.size;
            let (Some(old), Some(to)) = (self.bytes.get(range.clone()), others.get_mut(range)) else {
                return Vec::new();
            };
            lists.push(List { bytes: to.to_vec(), lines: Vec::new() });
            to.copy_from_slice(old);
        }
        if others == *self.bytes { lists } else { Vec::new() }
    }
}

/// Puts new lists of records into a draft. All numbers in them are those before the edit, whichever list they are in.
///
/// # Errors
/// All lists that cannot be read, or what refuses the edit; then the draft stays as it is.
pub(crate) fn take<'a>(draft: &mut Draft<'a>, lumps: Vec<NewLump>, numbers: Numbers) -> Result<Followed, Vec<Error>> {
    let one = |error| vec![error];
    let (mut plain, mut edits, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    let mut warnings = Vec::new();
    for lump in lumps {
        if numbers == Numbers::Kept {
            warnings.extend(lump.lists.iter().filter_map(NewList::moved));
        }
        let mut read = Vec::new();
        for list in lump.lists.iter().filter(|_| numbers != Numbers::Kept) {
            match list.read(numbers) {
                Ok(edit) => read.push(edit),
                Err(error) => problems.push(error),
            }
        }
        let is_in_place = read.iter().all(|(first, _)| first.is_in_place());
        plain.push((lump.slot, lump.bytes, is_in_place));
        if !is_in_place {
            edits.extend(lump.lists.into_iter().zip(read).map(|(list, (first, second))| Edit { list, first, second }));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let before = draft.clone();
    let mut kept = draft.clone();
    for (slot, bytes, is_in_place) in plain {
        if is_in_place {
            draft.set(slot, bytes.clone()).map_err(one)?;
        }
        kept.set(slot, bytes).map_err(one)?;
    }
    let mut stays = Followed::default();
    stays.warnings = warnings;
    let followed = match numbers {
        _ if edits.is_empty() || numbers == Numbers::Kept => Ok(stays),
        Numbers::Kept => Ok(Followed::default()),
        Numbers::Followed { force, cascade } => follow(draft, &edits, force, cascade).map_err(one),
        Numbers::Checked => match follow(draft, &edits, false, false).and_then(|_| is_same(draft, &kept)) {
            // Nothing refers to what moved.
            Ok(true) => Ok(Followed::default()),
            _ => Err(edits.iter().filter_map(Edit::other_numbers).collect()),
        },
    };
    followed.inspect_err(|_| *draft = before)
}

/// The first place from which on records do not have their numbers.
fn moved_from(reading: &Reading) -> Option<usize> {
    let spliced = reading.spliced.iter().find(|hunk| hunk.old != hunk.new).map(|hunk| hunk.new.start);
    let moved = reading.order.iter().flatten().enumerate().find(|(new, old)| new != *old).map(|(new, _)| new);
    spliced.into_iter().chain(moved).min()
}

/// A list with the ways to read it.
struct Edit {
    list: NewList,
    first: Reading,
    second: Option<(Reading, Doubt)>,
}

type Read = (Reading, Option<(Reading, Doubt)>);

impl NewList {
    fn read(&self, numbers: Numbers) -> Result<Read> {
        let (old, new) = (self.old.len() / self.record.size, self.new.bytes.len() / self.record.size);
        if old != new && numbers == Numbers::Checked {
            let message = format!("{}the file has {new} records, but {} has {old}", self.place, self.name);
            return Err(other_size(message));
        }
        Reading::all(&self.old, &self.new.bytes, self.record).map_err(|doubt| self.unclear(&doubt))
    }

    /// A warning if records come to other numbers while the list keeps its length: then no number is out of range, and
    /// all that refer to them name other records.
    fn moved(&self) -> Option<String> {
        if self.old.len() != self.new.bytes.len() {
            return None;
        }
        let first = match self.read(Numbers::Kept) {
            Ok((first, _)) => first,
            Err(doubt) => return Some(doubt.to_string()),
        };
        let at = moved_from(&first)?;
        Some(format!(
            "{}from {} on, records do not have their numbers in {}, and what refers to them stays as it is",
            self.place,
            self.lines(&(at..at + 1)),
            self.name
        ))
    }

    fn unclear(&self, doubt: &Doubt) -> Error {
        let (here, were) = (self.lines(&doubt.new), self.records(&doubt.old));
        let message = format!("{}it is not known which records {here} and {were} are: {}", self.place, doubt.why);
        Error::new(ErrorKind::Ambiguous, message).with_hint(Hint::Steps)
    }

    /// The lines of new records.
    fn lines(&self, range: &Range<usize>) -> String {
        let line = |index: usize| self.new.lines.get(index).copied();
        match (line(range.start), range.end.checked_sub(1).and_then(line)) {
            _ if range.is_empty() => match line(range.start) {
                Some(next) => format!("those before line {next}"),
                None => "those at the end".to_owned(),
            },
            (Some(first), Some(last)) if first == last => format!("line {first}"),
            (Some(first), Some(last)) => format!("lines {first} to {last}"),
            _ if range.len() == 1 => format!("record {} of the file", range.start),
            _ => format!("records {} to {} of the file", range.start, range.end - 1),
        }
    }

    /// The names of old records.
    fn records(&self, range: &Range<usize>) -> String {
        match range.len() {
            0 => format!("those before {}[{}]", self.name, range.start),
            1 => format!("{}[{}]", self.name, range.start),
            _ => format!("{}[{}..{}]", self.name, range.start, range.end),
        }
    }
}

impl Edit {
    fn name(&self) -> &str {
        &self.list.name
    }

    /// The error that records have other numbers, if they do.
    fn other_numbers(&self) -> Option<Error> {
        let at = moved_from(&self.first)?;
        let (here, list) = (self.list.lines(&(at..at + 1)), &self.list);
        let message = format!(
            "{}from {here} on, records do not have their numbers in {}: some moved, or were removed and added",
            list.place, list.name
        );
        Some(other_size(message))
    }
}

/// Makes an edit in the way that is possible. If several are, they have to give the same map.
fn follow(draft: &mut Draft<'_>, edits: &[Edit], force: bool, cascade: bool) -> Result<Followed> {
    let before = draft.clone();
    let firsts: Vec<(&NewList, &Reading)> = edits.iter().map(|edit| (&edit.list, &edit.first)).collect();
    let first = apply(draft, &firsts, force, cascade);
    let Some((list, doubt)) = edits.iter().find_map(|edit| Some((&edit.list, &edit.second.as_ref()?.1))) else {
        return first;
    };
    let reading = |edit: &Edit| edit.second.as_ref().map_or_else(|| edit.first.clone(), |(second, _)| second.clone());
    let seconds: Vec<Reading> = edits.iter().map(reading).collect();
    let seconds: Vec<(&NewList, &Reading)> = edits.iter().map(|edit| &edit.list).zip(&seconds).collect();
    let mut other = before.clone();
    let second = apply(&mut other, &seconds, force, cascade);
    match (&first, second) {
        (Ok(_), Ok(_)) => {
            let swapped: Result<bool> = swap(&mut other, edits).and_then(|()| is_same(draft, &other));
            if swapped.is_ok_and(|is_same| is_same) {
                return first;
            }
            *draft = before;
            Err(list.unclear(doubt))
        }
        // Of equal records, one that nothing needs can go. A copy comes after the original.
        (Err(_), Ok(second)) if is_removed_only(edits) => {
            *draft = other;
            Ok(second)
        }
        _ => first,
    }
}

/// Whether the two readings add the same records.
fn is_removed_only(edits: &[Edit]) -> bool {
    edits.iter().all(|edit| edit.second.as_ref().is_none_or(|(second, _)| second.added == edit.first.added))
}

/// Makes an edit: what is replaced, removed and added, and then the moves.
fn apply(draft: &mut Draft<'_>, lists: &[(&NewList, &Reading)], force: bool, cascade: bool) -> Result<Followed> {
    // A record that is gone and a new one may be one that moved and changed: what needs it must not go.
    let is_both = |(_, reading): &&(&NewList, &Reading)| {
        !reading.added.is_empty() && reading.spliced.iter().any(|hunk| hunk.new.is_empty())
    };
    let both = lists.iter().find(is_both).filter(|_| cascade);
    draft.transaction(|draft| {
        lists.iter().try_for_each(|(list, reading)| list.set_values(draft, reading))?;
        let mut followed = Followed::default();
        let spliced = lists.iter().map(|(list, reading)| (list.name.as_str(), list.splices(reading)));
        let spliced: Vec<(&str, Vec<Splice>)> = spliced.filter(|(_, splices)| !splices.is_empty()).collect();
        for (list, splices) in &spliced {
            Removal::refuse_alone(draft.bsp(), list, splices)?;
        }
        if !spliced.is_empty() {
            let structure = draft.structure().force(force).cascade(cascade && both.is_none());
            followed = structure.splice_lists(spliced).map_err(|error| match both {
                Some((list, _)) => {
                    let message = format!("{}{error}; and {} has new records too", list.place, list.name);
                    let hint = "a record that is gone may be a new one that moved and changed: remove records, and add \
                                others, in separate steps";
                    Error::new(error.kind(), message).with_hint(hint)
                }
                None => error,
            })?;
        }
        let orders: Vec<(&str, &[usize])> =
            lists.iter().filter_map(|(list, reading)| Some((list.name.as_str(), reading.order.as_deref()?))).collect();
        if !orders.is_empty() {
            let moved = draft.structure().force(force).reorder_lists(&orders).map_err(|error| match error.kind() {
                ErrorKind::Argument => {
                    let message = "other records go with those that are removed, and some moved too";
                    Error::new(ErrorKind::Refused, message).with_hint(Hint::Steps)
                }
                _ => error,
            })?;
            followed.add(moved);
        }
        Ok(followed)
    })
}

/// Whether records get other values in their place.
fn is_change(hunk: &&Hunk) -> bool {
    hunk.old.len() == hunk.new.len()
}

impl NewList {
    /// Sets the values that changed, before any record moves.
    fn set_values(&self, draft: &mut Draft<'_>, reading: &Reading) -> Result<()> {
        let size = self.record.size;
        let mut changes = reading.spliced.iter().filter(is_change).peekable();
        if changes.peek().is_none() {
            return Ok(());
        }
        let mut bytes = draft.bsp().in_little_endian(self.slot, draft.bytes(self.slot)?).to_vec();
        for hunk in changes {
            let to = self.start + hunk.old.start * size..self.start + hunk.old.end * size;
            let new = &self.new.bytes[hunk.new.start * size..hunk.new.end * size];
            bytes.get_mut(to).into_iter().for_each(|to| to.copy_from_slice(new));
        }
        draft.set_little_endian(self.slot, bytes)
    }

    fn splices(&self, reading: &Reading) -> Vec<Splice> {
        let size = self.record.size;
        let splice = |hunk: &Hunk| Splice {
            range: hunk.old.clone(),
            records: self.new.bytes[hunk.new.start * size..hunk.new.end * size].to_vec(),
        };
        reading.spliced.iter().filter(|hunk| !is_change(hunk)).map(splice).collect()
    }
}

/// Exchanges equal records of the second reading, so that the old ones are where the first reading has them.
fn swap(draft: &mut Draft<'_>, edits: &[Edit]) -> Result<()> {
    let mut orders: Vec<(&str, Vec<usize>)> = Vec::new();
    for edit in edits {
        let Some((second, _)) = &edit.second else { continue };
        let mut order: Vec<usize> = (0..edit.list.new.bytes.len() / edit.list.record.size).collect();
        for (down, up) in edit.first.added.iter().zip(&second.added) {
            if down.len() != up.len() || up.start > down.start {
                return Err(Error::new(ErrorKind::Ambiguous, "the two readings add different records"));
            }
            order[up.start..down.end].rotate_left(up.len());
        }
        if edit.first.added.len() != second.added.len() {
            return Err(Error::new(ErrorKind::Ambiguous, "the two readings add different records"));
        }
        if order.iter().enumerate().any(|(new, old)| new != *old) {
            orders.push((edit.name(), order));
        }
    }
    let orders: Vec<(&str, &[usize])> = orders.iter().map(|(name, order)| (*name, &order[..])).collect();
    if orders.is_empty() { Ok(()) } else { draft.structure().force(true).reorder_lists(&orders).map(drop) }
}

/// Whether two drafts give the same map.
fn is_same(one: &Draft<'_>, other: &Draft<'_>) -> Result<bool> {
    let slots = one.changes()?;
    let mut is_same = slots == other.changes()?;
    for slot in slots {
        is_same = is_same && *one.bytes(slot)? == *other.bytes(slot)?;
    }
    Ok(is_same)
}
