//! Many additions, moves and removals of whole entities, each in time by what it moves.

use std::collections::HashSet;
use std::sync::Arc;

use super::arrange::{append_parted, staying};
use super::{Around, Entities, rule};
use crate::{Error, ErrorKind, Result};

/// Entities by numbers that stay theirs wherever they go: their indices at first, and those after them for new ones.
/// After an error it is of no more use.
///
/// ```
/// use bspkit::content::entities::{Arrangement, Beside, Entities};
/// let text = b"{ \"classname\" \"worldspawn\" }{ \"classname\" \"a\" }{ \"classname\" \"b\" }\0";
/// let entities = Entities::parse(&text[..], bspkit::dialect::EntityRules::SOURCE)?;
/// let mut arrangement = Arrangement::of(entities);
/// assert!(arrangement.try_move(2, Beside::Before(1)));
/// assert_eq!(arrangement.numbers(), [0, 2, 1]);
/// assert_eq!(arrangement.finish().get(1).unwrap().class(), Some(&b"b"[..]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct Arrangement<'a> {
    /// The nodes by their numbers, also of those that were removed.
    entities: Entities<'a>,
    order: Order,
}

/// A place directly beside an entity.
///
/// ```
/// use bspkit::content::entities::Beside;
/// assert_ne!(Beside::Before(3), Beside::After(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Before the entity with this number.
    Before(usize),
    /// After it.
    After(usize),
}

impl<'a> Arrangement<'a> {
    /// Entities as they are, with their indices as numbers.
    pub fn of(entities: Entities<'a>) -> Self {
        Arrangement { order: Order::new(entities.len()), entities }
    }

    /// The entities by their numbers, and the numbers in their order.
    pub(super) fn into_parts(self) -> (Entities<'a>, Vec<usize>) {
        let order = self.order.iter().collect();
        (self.entities, order)
    }

    /// The entities in their order.
    pub fn finish(self) -> Entities<'a> {
        let Arrangement { mut entities, order } = self;
        let mut old: Vec<_> = std::mem::take(&mut entities.nodes).into_iter().map(Some).collect();
        entities.nodes = order.iter().filter_map(|number| old[number].take()).collect();
        entities
    }
}

/// Single edits that are asked for one after the other.
impl<'a> Arrangement<'a> {
    /// The entities by their numbers, also those that were removed, to look at one or to edit its pairs.
    pub fn by_number(&mut self) -> &mut Entities<'a> {
        &mut self.entities
    }

    /// The numbers in the order of the entities.
    pub fn numbers(&self) -> Vec<usize> {
        self.order.iter().collect()
    }

    /// The first one.
    pub fn first(&self) -> Option<usize> {
        self.order.first()
    }

    /// The one after another one.
    pub fn after(&self, number: usize) -> Option<usize> {
        self.order.after(number)
    }

    /// A number that is larger for entities further to the end. It holds until the next edit.
    pub fn rank(&self, number: usize) -> u64 {
        self.order.label(number)
    }

    /// Removes one, if nothing can be wrong with that; else `false`, and no edit.
    pub fn try_remove(&mut self, number: usize) -> bool {
        let is_sure = self.is_between(number);
        if is_sure {
            self.take(&[number]);
        }
        is_sure
    }

    /// Copies one directly after itself, if nothing can be wrong with that; else nothing, and no edit.
    pub fn try_duplicate(&mut self, number: usize) -> Option<usize> {
        self.entities.check_room(Some(number), 1).ok()?;
        let copy = self.entities.copy_of(number, self.order.first() == Some(number)).ok()?;
        self.entities.nodes.push(copy);
        let copy = self.order.push();
        self.order.take(copy);
        self.order.put(copy, Some(number));
        self.part(number);
        self.part(copy);
        Some(copy)
    }

    /// Moves one, if nothing can be wrong with that; else `false`, and no edit.
    pub fn try_move(&mut self, number: usize, to: Beside) -> bool {
        let (before, target) = match to {
            Beside::Before(target) => (self.order.before(target), target),
            Beside::After(target) => (Some(target), target),
        };
        let is_sure = target != number && self.is_between(number) && before.is_some_and(|it| self.is_closed(it));
        is_sure && self.move_all(&[number], to).is_ok()
    }

    /// Whether it is not the first one, and it and the one before it have an end.
    fn is_between(&self, number: usize) -> bool {
        self.is_closed(number) && self.order.before(number).is_some_and(|before| self.is_closed(before))
    }
}

impl Arrangement<'_> {
    /// As [`Entities::add`].
    pub fn add(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<usize> {
        self.entities.add_pairs(self.ends(), pairs)?;
        Ok(self.order.push())
    }

    /// As [`Entities::add_text`].
    pub fn add_text(&mut self, text: &[u8]) -> Result<usize> {
        self.entities.add_exact(self.ends(), text)?;
        Ok(self.order.push())
    }

    /// Whether entities are in this order.
    pub fn is_sorted(&self, numbers: &[usize]) -> bool {
        numbers.is_sorted_by_key(|number| self.order.label(*number))
    }

    /// As [`Entities::remove_all`].
    pub fn remove(&mut self, numbers: &[usize]) -> Result<()> {
        let had_world = self.has_world();
        let chosen = self.chosen(numbers)?;
        self.take(&chosen);
        self.check_world(had_world)
    }

    /// As [`Entities::move_all_before`] and [`Entities::move_all_after`].
    pub fn move_all(&mut self, numbers: &[usize], to: Beside) -> Result<()> {
        let had_world = self.has_world();
        let chosen = self.chosen(numbers)?;
        let (Beside::Before(target) | Beside::After(target)) = to;
        self.entities.check_index(target)?;
        let is_chosen: HashSet<usize> = chosen.iter().copied().collect();
        if is_chosen.contains(&target) {
            let message = format!("entity {target} cannot be moved before or after itself");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        self.check_closed(&chosen)?;
        let mut before = match to {
            Beside::Before(_) => self.order.before(target),
            Beside::After(_) => Some(target),
        };
        while let Some(number) = before.filter(|number| is_chosen.contains(number)) {
            before = self.order.before(number);
        }
        self.check_takes(before)?;
        self.take(&chosen);
        let mut last = before;
        for &number in &chosen {
            self.order.put(number, last);
            last = Some(number);
        }
        before.into_iter().chain(chosen).for_each(|number| self.part(number));
        self.check_world(had_world)
    }

    /// As [`Entities::reorder`].
    pub fn reorder(&mut self, wanted: &[usize]) -> Result<()> {
        let had_world = self.has_world();
        let moved = self.moved(wanted)?;
        let mut is_moved = vec![false; wanted.len()];
        moved.iter().for_each(|number| is_moved[*number] = true);
        let chosen = self.chosen(&moved)?;
        self.check_closed(&chosen)?;
        self.take(&chosen);
        let mut last = None;
        for &number in wanted {
            if is_moved[number] {
                self.check_takes(last)?;
                self.order.put(number, last);
            }
            last = Some(number);
        }
        let pairs = wanted.windows(2).filter(|pair| pair.iter().any(|number| is_moved[*number]));
        pairs.for_each(|pair| self.part(pair[0]));
        moved.last().into_iter().for_each(|last| self.part(*last));
        self.check_world(had_world)
    }

    /// The entities that another order moves: those that would not be next if all before them were moved.
    fn moved(&self, wanted: &[usize]) -> Result<Vec<usize>> {
        let (mut moved, mut is_placed) = (Vec::new(), vec![false; self.entities.len()]);
        let mut rest = self.order.iter().peekable();
        for &number in wanted {
            while rest.next_if(|next| is_placed[*next]).is_some() {}
            match is_placed.get_mut(number) {
                Some(is_placed) if !*is_placed => *is_placed = true,
                _ => return Err(no_order(is_placed.len())),
            }
            if rest.next_if_eq(&number).is_none() {
                moved.push(number);
            }
        }
        if wanted.len() == is_placed.len() { Ok(moved) } else { Err(no_order(is_placed.len())) }
    }

    /// Takes entities out, which are in their order. Spaces before one go with it, anything else stays before the
    /// next.
    fn take(&mut self, chosen: &[usize]) {
        let mut left = Vec::new();
        let takes_last = !chosen.is_empty() && chosen.last().copied() == self.order.last();
        for (at, &number) in chosen.iter().enumerate() {
            let (before, after) = (self.order.before(number), self.order.after(number));
            self.order.take(number);
            let (lead, trail) = self.entities.around(&self.entities.nodes[number]);
            let stays = staying(lead);
            if stays > 0 {
                append_parted(&mut left, &lead[..stays]);
                let around = Around { lead: lead[stays..].to_vec(), trail: trail.to_vec() };
                self.entities.nodes[number].around = Some(Arc::new(around));
            }
            let Some(after) = after.filter(|after| chosen.get(at + 1) != Some(after)) else { continue };
            if !left.is_empty() {
                let (lead, trail) = self.entities.around(&self.entities.nodes[after]);
                append_parted(&mut left, lead);
                // Some engines take a brace in quotes for one, and a word directly before it would go on into it.
                let joins = left.last().is_some_and(|last| *last > b' ');
                if joins && self.entities.view(after).bytes().starts_with(b"\"") {
                    left.push(b' ');
                }
                let around = Around { lead: std::mem::take(&mut left), trail: trail.to_vec() };
                self.entities.nodes[after].around = Some(Arc::new(around));
            }
            if let Some(before) = before {
                self.part(before);
            }
        }
        if !left.is_empty() {
            append_parted(&mut left, self.entities.end_bytes());
            self.entities.end = Some(left.into());
        }
        if let Some(last) = self.order.last().filter(|_| takes_last) {
            self.part(last);
        }
    }

    fn part(&mut self, number: usize) {
        self.entities.part(number, self.order.after(number));
    }

    /// The entities in their order, if all of them can be taken out.
    fn chosen(&self, numbers: &[usize]) -> Result<Vec<usize>> {
        numbers.iter().try_for_each(|&number| self.entities.check_index(number))?;
        let mut chosen = numbers.to_vec();
        chosen.sort_by_key(|&number| self.order.label(number));
        chosen.dedup();
        for (at, &number) in chosen.iter().enumerate() {
            let before = self.order.before(number).filter(|before| at == 0 || chosen[at - 1] != *before);
            if let Some(before) = before.filter(|&before| !self.is_closed(before)) {
                return Err(rule::not_closed(before, "it would swallow what follows the next one"));
            }
        }
        Ok(chosen)
    }

    fn ends(&self) -> Option<(usize, usize)> {
        self.order.first().zip(self.order.last())
    }

    /// Whether entities may be put after others.
    fn check_closed(&self, chosen: &[usize]) -> Result<()> {
        match chosen.iter().find(|&&number| !self.is_closed(number)) {
            Some(&open) => Err(rule::not_closed(open, "it would swallow what follows its new place")),
            None => Ok(()),
        }
    }

    /// Whether others may be put after an entity.
    fn check_takes(&self, before: Option<usize>) -> Result<()> {
        match before.filter(|&before| !self.is_closed(before)) {
            Some(before) => Err(rule::not_closed(before, "it would swallow what is moved after it")),
            None => Ok(()),
        }
    }

    fn is_closed(&self, number: usize) -> bool {
        self.entities.view(number).is_closed()
    }

    /// Whether the first entity is worldspawn.
    fn has_world(&self) -> bool {
        rule::is_world(self.order.first().map(|first| self.entities.view(first)).as_ref())
    }

    fn check_world(&self, had_world: bool) -> Result<()> {
        match had_world && !self.has_world() {
            true => Err(rule::not_the_world(self.entities.rules())),
            false => Ok(()),
        }
    }
}

#[cold]
fn no_order(len: usize) -> Error {
    Error::new(ErrorKind::Argument, format!("an order names each of the {len} entities once"))
}

// The order of entities as a linked list: an entity is moved without a look at all others.

/// Where the labels end.
const END: u64 = 1 << 62;
/// The distance of labels at first.
const STEP: u64 = 1 << 40;

/// Entities by numbers that stay theirs wherever they go. Each has a label, and labels ascend in the order of the
/// list, so that two entities are compared without a walk. Where there is no label between two, those around are
/// spread over a larger range: M. Bender et al., "Two Simplified Algorithms for Maintaining Order in a List".
#[derive(Debug)]
pub(super) struct Order {
    /// Number n is row n + 1; row 0 is before the first entity and after the last one.
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    before: usize,
    after: usize,
    label: u64,
}

impl Order {
    /// Numbers from 0 up, in this order.
    pub(super) fn new(len: usize) -> Self {
        let mut order = Order { rows: vec![Row::default()] };
        for _ in 0..len {
            order.push();
        }
        order
    }

    /// Puts the next number last and returns it.
    pub(super) fn push(&mut self) -> usize {
        let number = self.rows.len() - 1;
        self.rows.push(Row::default());
        self.put(number, self.last());
        number
    }

    pub(super) fn first(&self) -> Option<usize> {
        self.rows[0].after.checked_sub(1)
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.rows[0].before.checked_sub(1)
    }

    pub(super) fn before(&self, number: usize) -> Option<usize> {
        self.rows[number + 1].before.checked_sub(1)
    }

    pub(super) fn after(&self, number: usize) -> Option<usize> {
        self.rows[number + 1].after.checked_sub(1)
    }

    /// A number that is larger the later the entity is.
    pub(super) fn label(&self, number: usize) -> u64 {
        self.rows[number + 1].label
    }

    /// From first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first(), |number| self.after(*number))
    }

    /// Takes an entity out of the list.
    pub(super) fn take(&mut self, number: usize) {
        let Row { before, after, .. } = self.rows[number + 1];
        self.rows[before].after = after;
        self.rows[after].before = before;
    }

    /// Puts an entity that is not in the list after another one, or first.
    pub(super) fn put(&mut self, number: usize, after: Option<usize>) {
        let before = after.map_or(0, |after| after + 1);
        if self.room(before) < 2 {
            self.spread(before);
        }
        let label = self.rows[before].label + (self.room(before) / 2).min(STEP);
        let after = self.rows[before].after;
        self.rows[number + 1] = Row { before, after, label };
        self.rows[before].after = number + 1;
        self.rows[after].before = number + 1;
    }

    /// The distance to the next label.
    fn room(&self, row: usize) -> u64 {
        let next = self.rows[row].after;
        (if next == 0 { END } else { self.rows[next].label }) - self.rows[row].label
    }

    /// Makes room after a row: gives the rows around it labels with even distances, in the smallest range of labels
    /// that is sparse enough for its size.
    fn spread(&mut self, row: usize) {
        let label = self.rows[row].label;
        let (mut first, mut last) = (row, row);
        let (mut count, mut most): (u64, u64) = (1, 1);
        for bits in 2..=END.ilog2() {
            most += most / 3 + 1;
            let start = label >> bits << bits;
            let end = start + (1 << bits);
            while first != 0 && self.rows[self.rows[first].before].label >= start {
                first = self.rows[first].before;
                count += 1;
            }
            while self.rows[last].after != 0 && self.rows[self.rows[last].after].label < end {
                last = self.rows[last].after;
                count += 1;
            }
            let step = (end - start) / (count + 1);
            if count > most || step < 2 {
                continue;
            }
            let (mut at, mut label) = (first, start);
            loop {
                self.rows[at].label = label;
                if at == last {
                    return;
                }
                (at, label) = (self.rows[at].after, label + step);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    /// Against a plain list; most entities go to a few places, so that labels run out there.
    #[test]
    fn an_order_is_that_of_a_plain_list() {
        let (mut order, mut list): (_, Vec<usize>) = (Order::new(50), (0..50).collect());
        let mut random = 7_u64;
        for turn in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if turn % 40 == 0 {
                list.push(order.push());
            }
            let below = |count: usize, bits: u32| usize::try_from(random >> bits).unwrap_or(0) % count;
            let number = if turn % 40 == 0 { list.len() - 1 } else { below(list.len(), 33) };
            order.take(number);
            list.retain(|other| *other != number);
            let at = [0, 1, list.len() / 2, below(list.len() + 1, 40)][turn / 64 % 4];
            order.put(number, at.checked_sub(1).map(|at| list[at]));
            list.insert(at, number);
            if turn % 50 == 0 {
                assert!(order.iter().eq(list.iter().copied()));
            }
            assert!(order.before(number) == at.checked_sub(1).map(|at| list[at]));
            assert!(order.after(number) == list.get(at + 1).copied());
            let labels: Vec<u64> = list.iter().map(|number| order.label(*number)).collect();
            assert!(turn % 10 > 0 || labels.is_sorted_by(|one, other| one < other));
        }
        assert_eq!((order.first(), order.last()), (list.first().copied(), list.last().copied()));
    }
}
