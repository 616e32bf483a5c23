//! How an edited list of records is read: which of its records are old ones, where they moved, which ones are new, and
//! which old ones are gone. What may be read in several ways is a doubt, which names the records.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use super::{Array, Hunk, aligned};
use bspkit::record::{Cell, RecordInfo};

/// An edited list: where each old record is.
///
/// ```
/// use bspkit::dialect::quake2::Edge;
/// use bspkit_ops::align::Reading;
/// use bspkit::record::Record;
/// let (old, new) = ([1, 0, 2, 0, 3, 0, 4, 0], [9, 0, 9, 0, 1, 0, 2, 0, 3, 0, 4, 0]);
/// let (reading, other) = Reading::all(&old, &new, Edge::INFO).unwrap();
/// assert_eq!((reading.added, other), (vec![0..1], None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The old records that are replaced, removed or added: the range of old ones and that of new ones, in the order of
    /// both. As many old as new ones are values that changed in place.
    pub spliced: Vec<Hunk>,
    /// Which record of the spliced list comes to each place, if some moved.
    pub order: Option<Vec<usize>>,
    /// Where the records that were added are in the new list, in the order of the readings.
    pub added: Vec<Range<usize>>,
}

/// Why it is not known which record is which. The ranges are those of old records and of new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The old records.
    pub old: Range<usize>,
    /// The new ones.
    pub new: Range<usize>,
    /// The reason.
    pub why: Why,
}

/// The reason of a [`Doubt`], which prints as the end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// As many records are replaced by fewer or more, which are different.
    Counts,
    /// Records moved to where others are gone, and new ones are elsewhere.
    MovedHere,
    /// Records that replace others are more like the neighbors of these.
    Shifted,
    /// A new record is like one that is gone.
    Changed,
    /// Several equal records, of which one moved.
    Equal,
    /// Several equal records in a row, of which some were removed or added.
    Row,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Counts => "their number is another one, and none of them stayed as it was",
            Why::MovedHere => "others moved there, and new ones are elsewhere",
            Why::Shifted => "they are more like the records beside those",
            Why::Changed => "one that is gone may have moved and changed",
            Why::Equal => "there are several equal ones, and one of them moved",
            Why::Row => "some of several equal ones in a row were removed or added",
        })
    }
}

impl Reading {
    /// Reads a new list beside the old one. There is a second reading if equal records are in a row and it is not
    /// known which of them were added or removed: the first one takes the last ones, as copies after the original, the
    /// second one the first ones.
    pub fn all(old: &[u8], new: &[u8], record: &RecordInfo) -> Result<(Self, Option<(Self, Doubt)>), Doubt> {
        let arrays = [Array { bytes: old, size: record.size }, Array { bytes: new, size: record.size }];
        let mut hunks = aligned(old, new, record.size);
        slide(&arrays, &mut hunks, Way::Down);
        let cells: Vec<Range<usize>> = Cell::all(record.fields).into_iter().map(|cell| cell.place).collect();
        let first = Reading::of(&arrays, &hunks, &cells)?;
        let down = hunks.clone();
        slide(&arrays, &mut hunks, Way::Up);
        let Some((down, up)) = down.iter().zip(&hunks).find(|(down, up)| down != up) else { return Ok((first, None)) };
        let (old, new) = (up.old.start..down.old.end, up.new.start..down.new.end);
        let doubt = Doubt { old, new, why: Why::Row };
        // The other way may lead to another doubt; then it does not count.
        Ok((first, Reading::of(&arrays, &hunks, &cells).ok().map(|second| (second, doubt))))
    }

    /// Whether each record is at its old index, and none was added or removed.
    pub fn is_in_place(&self) -> bool {
        self.order.is_none() && self.spliced.iter().all(|hunk| hunk.old == hunk.new)
    }

    fn of(arrays: &[Array<'_>; 2], hunks: &[Hunk], cells: &[Range<usize>]) -> Result<Self, Doubt> {
        let moves = moves(arrays, hunks, cells.len() == 1)?;
        let left: Vec<[Vec<usize>; 2]> = hunks.iter().map(|hunk| moves.left(hunk)).collect();
        let total = left.iter().fold([0, 0], |[old, new], left| [old + left[0].len(), new + left[1].len()]);
        let mut spliced: Vec<Hunk> = Vec::new();
        let mut in_place: Vec<InPlace> = Vec::new();
        for (at, (hunk, [old, new])) in hunks.iter().zip(&left).enumerate() {
            let mut own = Vec::new();
            let doubt = |why| Doubt { old: hunk.old.clone(), new: hunk.new.clone(), why };
            match (old.len(), new.len()) {
                (0, 0) => {}
                (one, other) if one == other => {
                    in_place.extend(old.iter().zip(new).map(|(old, new)| InPlace { old: *old, new: *new, hunk: at }));
                    old.iter().zip(new).for_each(|(old, new)| push(&mut own, *old..old + 1, *new..new + 1));
                }
                (_, 0) if hunk.new.is_empty() || total[1] == 0 => {
                    old.iter().for_each(|old| push(&mut own, *old..old + 1, hunk.new.start..hunk.new.start));
                }
                (0, _) if hunk.old.is_empty() || total[0] == 0 => {
                    new.iter().for_each(|new| push(&mut own, hunk.old.start..hunk.old.start, *new..new + 1));
                }
                (0, _) | (_, 0) => return Err(doubt(Why::MovedHere)),
                _ => return Err(doubt(Why::Counts)),
            }
            spliced.append(&mut own);
        }
        if let Some((was, is)) = like_another(arrays, &in_place, cells) {
            return Err(match was.hunk == is.hunk {
                true => Doubt { old: hunks[is.hunk].old.clone(), new: hunks[is.hunk].new.clone(), why: Why::Shifted },
                false => Doubt { old: was.old..was.old + 1, new: is.new..is.new + 1, why: Why::Changed },
            });
        }
        let of = |side: fn(&Hunk) -> [&Range<usize>; 2]| -> Vec<usize> {
            let alone = spliced.iter().map(side).filter(|[_, other]| other.is_empty());
            alone.flat_map(|[own, _]| own.clone()).collect()
        };
        let (gone, new) = (of(|hunk| [&hunk.old, &hunk.new]), of(|hunk| [&hunk.new, &hunk.old]));
        if let Some((gone, new)) = moved_and_changed(arrays, &gone, &new, cells) {
            return Err(Doubt { old: gone..gone + 1, new: new..new + 1, why: Why::Changed });
        }
        let added = spliced.iter().filter(|hunk: &&Hunk| hunk.old.is_empty()).map(|hunk| hunk.new.clone()).collect();
        let order = (!moves.from.is_empty()).then(|| order(arrays, hunks, &moves, &spliced));
        Ok(Reading { spliced, order, added })
    }
}

/// Adds one record to the spliced ones, or to the last range of them if it goes on.
fn push(spliced: &mut Vec<Hunk>, old: Range<usize>, new: Range<usize>) {
    match spliced.last_mut().filter(|last| {
        let is_same = (last.old.len() == last.new.len()) == (old.len() == new.len());
        is_same && last.old.end == old.start && last.new.end == new.start
    }) {
        Some(last) => (last.old.end, last.new.end) = (old.end, new.end),
        None => spliced.push(Hunk { old, new }),
    }
}

/// Records with the same content at another place.
#[derive(Default)]
struct Moves {
    /// By the new index the old one.
    from: HashMap<usize, usize>,
    /// By the old index the new one.
    to: HashMap<usize, usize>,
}

impl Moves {
    /// The records of a hunk that did not move: the old ones and the new ones.
    fn left(&self, hunk: &Hunk) -> [Vec<usize>; 2] {
        [
            hunk.old.clone().filter(|old| !self.to.contains_key(old)).collect(),
            hunk.new.clone().filter(|new| !self.from.contains_key(new)).collect(),
        ]
    }
}

/// The records that moved: those with a content that is in both lists once, among what differs. Where others were, a
/// record of one number is another value.
fn moves([old, new]: &[Array<'_>; 2], hunks: &[Hunk], is_number: bool) -> Result<Moves, Doubt> {
    // The last place of each content in both arrays, and how often it is there.
    let mut known: HashMap<&[u8], [(usize, usize); 2]> = HashMap::new();
    for hunk in hunks.iter().filter(|hunk| !is_number || hunk.old.is_empty() || hunk.new.is_empty()) {
        for (array, range, side) in [(old, &hunk.old, 0), (new, &hunk.new, 1)] {
            for index in range.clone() {
                let place = &mut known.entry(array.get(index)).or_default()[side];
                *place = (index, place.1 + 1);
            }
        }
    }
    known.retain(|_, [old, new]| old.1 > 0 && new.1 > 0);
    let mut equal: Vec<[usize; 2]> = Vec::new();
    let mut at = 0;
    for stays in hunks.iter().map(|hunk| hunk.old.clone()).chain(std::iter::once(old.len()..old.len())) {
        let others = (at..stays.start).filter_map(|index| known.get(old.get(index)));
        equal.extend(others.map(|[old, new]| [old.0, new.0]));
        at = stays.end;
    }
    equal.extend(known.values().filter(|[old, new]| old.1 > 1 || new.1 > 1).map(|[old, new]| [old.0, new.0]));
    if let Some([old, new]) = equal.into_iter().min() {
        return Err(Doubt { old: old..old + 1, new: new..new + 1, why: Why::Equal });
    }
    let pairs = || known.values().map(|[old, new]| (old.0, new.0));
    Ok(Moves { from: pairs().map(|(old, new)| (new, old)).collect(), to: pairs().collect() })
}

/// A record that is taken for an old one with other values, and the hunk of both.
struct InPlace {
    old: usize,
    new: usize,
    hunk: usize,
}

/// A record that was at another place and one that is more like it than like the old one at its own place: the lines
/// between may have been removed and added, or two lines may have changed places. In another hunk it has to be more
/// like it than the record that is at its place now, too. Numbers alone are compared with the ones beside them.
fn like_another<'p>(
    [old, new]: &[Array<'_>; 2],
    in_place: &'p [InPlace],
    cells: &[Range<usize>],
) -> Option<(&'p InPlace, &'p InPlace)> {
    let is_number = cells.len() == 1;
    // A value that all of them have does not count.
    let first = old.get(in_place.first()?.old);
    let records = || in_place.iter().flat_map(|pair| [old.get(pair.old), new.get(pair.new)]);
    let tells =
        |cell: &&Range<usize>| records().any(|record| record.get((*cell).clone()) != first.get((*cell).clone()));
    let cells: Vec<&Range<usize>> = cells.iter().filter(tells).collect();
    let alike = |was: &InPlace, is: &InPlace| {
        let (was, is) = (old.get(was.old), new.get(is.new));
        cells.iter().filter(|cell| was.get((**cell).clone()) == is.get((**cell).clone())).count()
    };
    let own: Vec<usize> = in_place.iter().map(|pair| alike(pair, pair)).collect();
    let reach = if is_number { 1 } else { (MOST_PAIRS / in_place.len()).max(1) };
    in_place.iter().enumerate().find_map(|(at, is)| {
        let near = at.saturating_sub(reach)..in_place.len().min(at.saturating_add(reach + 1));
        near.filter(|other| *other != at && own[at] < cells.len()).find_map(|other| {
            let was = &in_place[other];
            let is_near = was.hunk == is.hunk;
            if is_number && !is_near {
                return None;
            }
            let alike = alike(was, is);
            (alike > own[at] && (is_near || alike > own[other])).then_some((was, is))
        })
    })
}

/// The most pairs of records that are compared to find those that moved and changed.
const MOST_PAIRS: usize = 1 << 22;

/// A record that is gone, and a new one that is at least as much like it as like any other old one: it may have moved
/// and have other values. Who adds a record copies one that stays.
fn moved_and_changed(
    [old, all]: &[Array<'_>; 2],
    gone: &[usize],
    new: &[usize],
    cells: &[Range<usize>],
) -> Option<(usize, usize)> {
    let (first_gone, first_new) = (*gone.first()?, *new.first()?);
    if cells.len() > 1 && new.len().saturating_mul(old.len()) > MOST_PAIRS {
        return Some((first_gone, first_new));
    }
    let alike = |index: usize, record: &[u8]| {
        let other = old.get(index);
        cells.iter().filter(|cell| record.get((*cell).clone()) == other.get((*cell).clone())).count()
    };
    let mut is_gone = vec![false; old.len()];
    gone.iter().for_each(|index| is_gone[*index] = true);
    new.iter().find_map(|index| {
        let record = all.get(*index);
        let (best, of) = gone.iter().map(|gone| (alike(*gone, record), *gone)).max()?;
        let is_like_other = || (0..old.len()).any(|other| !is_gone[other] && alike(other, record) > best);
        (best > 0 && cells.len() > 1 && !is_like_other()).then_some((of, *index))
    })
}

/// Which record of the spliced list comes to each place of the new one.
fn order([old, new]: &[Array<'_>; 2], hunks: &[Hunk], moves: &Moves, spliced: &[Hunk]) -> Vec<usize> {
    let mut place_of_old = vec![usize::MAX; old.len()];
    // The places of records that replace others or are added, by their new index.
    let mut place_of_new = vec![usize::MAX; new.len()];
    let (mut next, mut at) = (0, 0);
    let mut take = |to: &mut usize| {
        *to = next;
        next += 1;
    };
    for hunk in spliced {
        place_of_old[at..hunk.old.start].iter_mut().for_each(&mut take);
        place_of_new[hunk.new.clone()].iter_mut().for_each(&mut take);
        at = hunk.old.end;
    }
    place_of_old[at..].iter_mut().for_each(take);
    let mut stays = 0;
    let mut next_hunk = hunks.iter().peekable();
    for (index, place) in place_of_new.iter_mut().enumerate() {
        while let Some(hunk) = next_hunk.next_if(|hunk| hunk.new.end <= index) {
            stays = hunk.old.end;
        }
        let is_inside = next_hunk.peek().is_some_and(|hunk| hunk.new.start <= index);
        match moves.from.get(&index) {
            Some(from) => *place = place_of_old[*from],
            None if is_inside => {}
            None => {
                *place = place_of_old[stays];
                stays += 1;
            }
        }
    }
    place_of_new
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Up,
    Down,
}

/// Slides records that were only removed, or only added, along equal ones as far as possible.
fn slide([old, new]: &[Array<'_>; 2], hunks: &mut [Hunk], way: Way) {
    let count = hunks.len();
    for step in 0..count {
        let at = if way == Way::Up { step } else { count - 1 - step };
        let before = at.checked_sub(1).map_or(0, |before| hunks[before].old.end);
        let after = hunks.get(at + 1).map_or(old.len(), |after| after.old.start);
        let hunk = &mut hunks[at];
        let (array, range) = match (hunk.old.is_empty(), hunk.new.is_empty()) {
            (false, true) => (old, hunk.old.clone()),
            (true, false) => (new, hunk.new.clone()),
            _ => continue,
        };
        let room = if way == Way::Up { hunk.old.start - before } else { after - hunk.old.end };
        let steps = (0..room).take_while(|step| match way {
            Way::Up => array.get(range.start - step - 1) == array.get(range.end - step - 1),
            Way::Down => array.get(range.start + step) == array.get(range.end + step),
        });
        let steps = steps.count();
        let moved = |range: &Range<usize>| match way {
            Way::Up => range.start - steps..range.end - steps,
            Way::Down => range.start + steps..range.end + steps,
        };
        *hunk = Hunk { old: moved(&hunk.old), new: moved(&hunk.new) };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use bspkit::dialect::quake2;
    use bspkit::record::Record;

    /// Reads words of four letters, which are records of two numbers each.
    fn read(old: &str, new: &str) -> Result<(Reading, Option<Doubt>), Why> {
        let bytes = |words: &str| words.replace(' ', "").into_bytes();
        let read = Reading::all(&bytes(old), &bytes(new), quake2::Edge::INFO).map_err(|doubt| doubt.why)?;
        Ok((read.0, read.1.map(|(_, doubt)| doubt)))
    }

    fn spliced(old: &str, new: &str) -> Vec<[usize; 4]> {
        let (reading, doubt) = read(old, new).unwrap();
        assert_eq!((reading.order, doubt), (None, None));
        reading.spliced.iter().map(|hunk| [hunk.old.start, hunk.old.end, hunk.new.start, hunk.new.end]).collect()
    }

    #[test]
    fn separate_edits_are_read_separately() {
        assert_eq!(spliced("aaaa bbbb cccc dddd", "aaaa bbbb cccc dddd"), [[0; 4]; 0]);
        assert_eq!(spliced("aaaa bbbb cccc dddd", "aaaa bbbx cccc dddd"), [[1, 2, 1, 2]]);
        // A line after the first one, another value in the fourth, and the last one gone.
        let edited = "aaaa xxxx bbbb cccc ddxx eeee";
        assert_eq!(spliced("aaaa bbbb cccc dddd eeee ffff", edited), [[1, 1, 1, 2], [3, 4, 4, 5], [5, 6, 6, 6]]);
        assert_eq!(spliced("aaaa bbbb cccc dddd eeee", "bbbb cccc eeee"), [[0, 1, 0, 0], [3, 4, 2, 2]]);
    }

    #[test]
    fn moved_records_are_found() {
        let (reading, _) = read("aaaa bbbb cccc dddd eeee", "bbbb cccc dddd aaaa eeee").unwrap();
        assert_eq!((reading.spliced.len(), reading.order), (0, Some(vec![1, 2, 3, 0, 4])));
        let (reading, _) =
            read("aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii", "bbbb cccc aaaa dddd eexx ffff ffxx gggg hhhh")
                .unwrap();
        assert_eq!(reading.order, Some(vec![1, 2, 0, 3, 4, 5, 6, 7, 8]));
        assert_eq!(reading.spliced.iter().map(|hunk| hunk.old.clone()).collect::<Vec<_>>(), [4..5, 6..6, 8..9]);
        assert!(reading.added.len() == 1 && reading.added[0] == (6..7));
    }

    #[test]
    fn what_is_not_clear_is_a_doubt() {
        let doubt = |old, new| read(old, new).unwrap_err();
        assert_eq!(doubt("aaaa bbbb cccc dddd eeee", "aaaa xxxx eeee"), Why::Counts);
        let swapped = doubt("aaaa bbbb cccc dddd eeee ffff", "aaaa dddd cccc bbxx eeee ffff");
        assert!(matches!(swapped, Why::MovedHere | Why::Changed), "{swapped:?}");
        assert_eq!(doubt("aabb ccdd eeff gghh", "ccdd eeff gghh aaxx"), Why::Changed);
        assert_eq!(doubt("aaaa bbcc ddee ffgg hhhh", "aaaa ddxx ffxx yyyy hhhh"), Why::Shifted);
        // One is gone, the next one changed, and a new one follows: values that all have do not count.
        assert_eq!(doubt("aaaa bb00 cc00 hhhh", "aaaa ccxx dd00 hhhh"), Why::Shifted);
        // Two changed places, and both have another value.
        assert_eq!(doubt("aaaa bbcc dddd eeff gggg", "aaaa eexx dddd bbyy gggg"), Why::Changed);
        assert_eq!(doubt("aaaa bbbb aaaa cccc dddd", "bbbb aaaa cccc dddd aaaa"), Why::Equal);
    }

    #[test]
    fn equal_records_in_a_row_have_two_readings() {
        let (first, doubt) = read("aaaa bbbb", "aaaa aaaa bbbb").unwrap();
        assert!(first.added.len() == 1);
        assert_eq!((first.added[0].clone(), doubt.unwrap().new), (1..2, 0..2));
        let (first, doubt) = read("aaaa bbbb bbbb cccc", "aaaa bbbb cccc").unwrap();
        assert_eq!((first.spliced[0].old.clone(), doubt.unwrap().old), (2..3, 1..3));
    }
}
