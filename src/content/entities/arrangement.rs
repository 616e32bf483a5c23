//! Many additions, moves and removals of whole entities, each in time by what it moves.

use std::collections::HashSet;
use std::sync::Arc;

use super::arrange::{append_parted, staying};
use super::order::Order;
use super::{Around, Entities, rule};
use crate::{Error, ErrorKind, Result};

/// Entities by numbers that stay theirs wherever they go: their indices at first, and those after them for new ones.
/// After an error it is of no more use.
pub(crate) struct Arrangement<'a> {
    /// The nodes by their numbers, also of those that were removed.
    entities: Entities<'a>,
    order: Order,
}

/// A place directly beside an entity.
#[derive(Clone, Copy)]
pub(crate) enum Beside {
    Before(usize),
    After(usize),
}

impl<'a> Arrangement<'a> {
    pub(crate) fn of(entities: Entities<'a>) -> Self {
        Arrangement { order: Order::new(entities.len()), entities }
    }

    /// The entities in their order.
    pub(crate) fn finish(self) -> Entities<'a> {
        let Arrangement { mut entities, order } = self;
        let mut old: Vec<_> = std::mem::take(&mut entities.nodes).into_iter().map(Some).collect();
        entities.nodes = order.iter().filter_map(|number| old[number].take()).collect();
        entities
    }

    /// As [`Entities::add`].
    pub(crate) fn add(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<usize> {
        self.entities.add_pairs(self.ends(), pairs)?;
        Ok(self.order.push())
    }

    /// As [`Entities::add_text`].
    pub(crate) fn add_text(&mut self, text: &[u8]) -> Result<usize> {
        self.entities.add_exact(self.ends(), text)?;
        Ok(self.order.push())
    }

    /// Whether entities are in this order.
    pub(crate) fn is_sorted(&self, numbers: &[usize]) -> bool {
        numbers.is_sorted_by_key(|number| self.order.label(*number))
    }

    /// As [`Entities::remove_all`].
    pub(crate) fn remove(&mut self, numbers: &[usize]) -> Result<()> {
        let had_world = self.has_world();
        let chosen = self.chosen(numbers)?;
        self.take(&chosen);
        self.check_world(had_world)
    }

    /// As [`Entities::move_all_before`] and [`Entities::move_all_after`].
    pub(crate) fn move_all(&mut self, numbers: &[usize], to: Beside) -> Result<()> {
        let had_world = self.has_world();
        let chosen = self.chosen(numbers)?;
        let (Beside::Before(target) | Beside::After(target)) = to;
        self.entities.check_index(target)?;
        let is_chosen: HashSet<usize> = chosen.iter().copied().collect();
        if is_chosen.contains(&target) {
            let message = format!("entity {target} cannot be moved before or after itself");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        if let Some(&open) = chosen.iter().find(|&&number| !self.is_closed(number)) {
            return Err(rule::not_closed(open, "it would swallow what follows its new place"));
        }
        let mut before = match to {
            Beside::Before(_) => self.order.before(target),
            Beside::After(_) => Some(target),
        };
        while let Some(number) = before.filter(|number| is_chosen.contains(number)) {
            before = self.order.before(number);
        }
        if let Some(before) = before.filter(|&before| !self.is_closed(before)) {
            return Err(rule::not_closed(before, "it would swallow what is moved after it"));
        }
        self.take(&chosen);
        let mut last = before;
        for &number in &chosen {
            self.order.put(number, last);
            last = Some(number);
        }
        before.into_iter().chain(chosen).for_each(|number| self.part(number));
        self.check_world(had_world)
    }

    /// Takes entities out, which are in their order. Spaces before one go with it, anything else stays before the
    /// next.
    fn take(&mut self, chosen: &[usize]) {
        let mut left = Vec::new();
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
        if let Some(last) = self.order.last() {
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
