//! Finds the entities that targets mean, and those that they may mean.

use std::collections::HashMap;
use std::fmt;

use super::{Expected, Match, PairKey, Target};
use crate::bytes::escaped;
use crate::content::entities::{Entities, Entity, Pair};
use crate::content::select::Index;

/// The length of a text in messages.
const SHOWN: usize = 60;
/// The most pairs that a target shows in messages.
const MOST_SHOWN: usize = 6;
/// Above this many comparisons of pairs, nothing is said of entities that may be meant.
const MOST_COMPARED: usize = 1 << 26;

/// The entities of a map, to be found by targets.
pub(in crate::op) struct Finder<'e> {
    pub(super) entities: Vec<Entity<'e>>,
    index: Index<'e>,
    /// The entities by all of their pairs.
    alike: Option<HashMap<Vec<u8>, Vec<usize>>>,
    compared: usize,
}

/// Whether a pair is the number of a brush model, which compilers give.
pub(in crate::op) fn is_brush_model(key: &[u8], value: &[u8]) -> bool {
    key.eq_ignore_ascii_case(b"model") && value.starts_with(b"*")
}

/// Pairs as one text, without numbers of brush models.
fn joined<'p>(pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> Vec<u8> {
    let mut text = Vec::new();
    for (key, value) in pairs.filter(|(key, value)| !is_brush_model(key, value)) {
        for part in [key, value] {
            text.extend_from_slice(&part.len().to_le_bytes());
            text.extend_from_slice(part);
        }
    }
    text
}

fn of_entity<'e>(entity: &Entity<'e>) -> impl Iterator<Item = (&'e [u8], &'e [u8])> {
    entity.pairs().map(|Pair { key, value, .. }| (key, value))
}

/// An entity that a target may mean.
pub(super) struct Candidate {
    pub(super) index: usize,
    /// How many of the pairs that are looked for it has.
    has: usize,
    of: usize,
}

impl<'e> Finder<'e> {
    pub(in crate::op) fn new(entities: &'e Entities<'_>) -> Self {
        Finder { entities: entities.iter().collect(), index: Index::new(entities), alike: None, compared: 0 }
    }

    /// All entities that have the pairs of a match.
    fn having(&mut self, on: &Match) -> Vec<usize> {
        match on.only {
            true => self.alike(on.pairs.iter().map(|(key, value)| (&key[..], &value[..]))).to_vec(),
            false => self.index.with_pairs(&on.pairs),
        }
    }

    /// The entities that have these pairs and no others, in the order of the map.
    pub(in crate::op) fn alike<'p>(&mut self, pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> &[usize] {
        let entities = &self.entities;
        let alike = self.alike.get_or_insert_with(|| {
            let mut alike: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
            entities.iter().for_each(|entity| alike.entry(joined(of_entity(entity))).or_default().push(entity.index()));
            alike
        });
        alike.get(&joined(pairs)).map_or(&[], Vec::as_slice)
    }

    /// The entities that a target means; or why they are not clear.
    pub(in crate::op) fn find(&mut self, target: &Target) -> Result<Vec<usize>, String> {
        let (found, count) = match target {
            Target::Index(index) if *index < self.entities.len() => return Ok(vec![*index]),
            Target::Index(index) => {
                return Err(format!("there is no entity #{index}: the map has {}", self.entities.len()));
            }
            Target::Match(Match { only: true, nth: Some(nth), count, pairs, .. }) => {
                // Many equal entities are not listed for each of them.
                let all = self.alike(pairs.iter().map(|(key, value)| (&key[..], &value[..])));
                return match all.get(nth.wrapping_sub(1)) {
                    Some(found) if all.len() == count.unwrap_or(all.len()) => Ok(vec![*found]),
                    _ => Err(other_number(target, all.len(), count.unwrap_or(*nth))),
                };
            }
            Target::Match(on) => (self.having(on), Some(on.count.unwrap_or(on.nth.unwrap_or(1).max(1)))),
            Target::Select(selector, count) => (self.index.select(selector), *count),
        };
        match (count, target) {
            (Some(count), _) if count != found.len() => Err(other_number(target, found.len(), count)),
            (None, _) if found.is_empty() => Err(format!("{target} means no entity")),
            (_, Target::Match(Match { nth: Some(nth), .. })) => match found.get(nth.wrapping_sub(1)) {
                Some(found) => Ok(vec![*found]),
                None => Err(other_number(target, found.len(), *nth)),
            },
            _ => Ok(found),
        }
    }

    /// The entity that a place is beside.
    pub(super) fn find_one(&mut self, target: &Target) -> Result<usize, String> {
        match self.find(target)?[..] {
            [one] => Ok(one),
            ref several => Err(format!("{target} means {} entities, and a place needs exactly one", several.len())),
        }
    }

    /// The entities that a target may mean which means none or too many, the best first. They have its class and at
    /// least half of the pairs that are looked for.
    pub(super) fn candidates(
        &mut self,
        on: &Match,
        expected: &[Expected],
        may_be: impl Fn(usize) -> bool,
    ) -> Vec<Candidate> {
        let mut pairs: Vec<(&[u8], &[u8])> = on.pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        pairs.extend(expected.iter().filter_map(|pair| Some((&pair.key.name[..], pair.value.as_deref()?))));
        pairs.sort_unstable();
        pairs.dedup();
        let class = pairs.iter().find(|(key, _)| key.eq_ignore_ascii_case(b"classname")).map(|(_, value)| *value);
        let mut all = Vec::new();
        for entity in self.entities.iter().filter(|entity| may_be(entity.index())) {
            let is_class = |class: &[u8]| entity.class().is_some_and(|found| found.eq_ignore_ascii_case(class));
            self.compared += 1;
            if self.compared > MOST_COMPARED {
                return Vec::new();
            }
            if !class.is_none_or(is_class) {
                continue;
            }
            self.compared += pairs.len() * entity.pairs().len();
            let has = pairs.iter().filter(|(key, value)| entity.all(key).any(|found| found == *value)).count();
            if 2 * has >= pairs.len() {
                all.push(Candidate { index: entity.index(), has, of: pairs.len() });
            }
        }
        let distance = |index: usize| on.index.map_or(index, |was| was.abs_diff(index));
        all.sort_by_key(|one| (std::cmp::Reverse(one.has), distance(one.index)));
        all
    }
}

fn other_number(target: &Target, found: usize, expected: usize) -> String {
    let were = if expected == 1 { "was" } else { "were" };
    match target {
        Target::Match(on) if on.nth.is_some() => {
            let all = Match { nth: None, count: Some(expected), ..on.clone() };
            let is = if found == 1 { "is" } else { "are" };
            format!("{all}: there {is} {found}, and {expected} {were} expected")
        }
        _ => format!("{target} means {}, and {expected} {were} expected", number(found)),
    }
}

fn number(entities: usize) -> String {
    match entities {
        0 => "no entity".to_owned(),
        1 => "1 entity".to_owned(),
        several => format!("{several} entities"),
    }
}

impl Candidate {
    /// `#19 light, which has 3 of 4 pairs`
    pub(super) fn shown(&self, finder: &Finder<'_>) -> String {
        let class = finder.entities.get(self.index).and_then(Entity::class).map(|class| format!(" {}", escaped(class)));
        format!("#{}{}, which has {} of {} pairs", self.index, class.unwrap_or_default(), self.has, self.of)
    }

    /// Whether another one is as good by its pairs.
    pub(super) fn is_as_good(&self, other: &Self) -> bool {
        self.has == other.has
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Index(index) => write!(f, "#{index}"),
            Target::Select(selector, _) => write!(f, "{selector}"),
            Target::Match(on) => on.fmt(f),
        }
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.nth, self.count) {
            (Some(nth), Some(count)) if count != 1 => write!(f, "entity {nth} of {count} with")?,
            (Some(nth), None) => write!(f, "entity {nth} of those with")?,
            (None, Some(count)) if count != 1 => f.write_str("entities with")?,
            _ => f.write_str("the entity with")?,
        }
        if self.only {
            f.write_str(if self.pairs.is_empty() { " no pairs" } else { " only" })?;
        }
        let shown_pairs = self.pairs.iter().take(MOST_SHOWN);
        shown_pairs.clone().try_for_each(|(key, value)| write!(f, " {} {}", shown(key), shown(value)))?;
        match self.pairs.len().checked_sub(MOST_SHOWN) {
            Some(more @ 1..) => write!(f, " and {more} more"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for PairKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nth = self.nth.map(|nth| format!("#{nth}")).unwrap_or_default();
        write!(f, "`{}{nth}`", escaped(&self.name))
    }
}

/// The start of a text, on one line.
pub(super) fn shown(text: &[u8]) -> String {
    let dots = if text.len() > SHOWN { "..." } else { "" };
    format!("`{}{dots}`", escaped(&text[..text.len().min(SHOWN)]))
}
