//! Matches the entities of two maps.

use std::collections::HashMap;

use crate::content::entities::{Entities, Entity};

/// The keys that identify an entity.
pub(super) const IDENTIFYING: [&[u8]; 5] = [b"classname", b"hammerid", b"targetname", b"model", b"origin"];

struct Pairing<'e, 'a> {
    old: &'e Entities<'a>,
    new: &'e Entities<'a>,
    /// For each new entity the old one.
    found: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

/// For each new entity the old one that it matches. Above `most_compared` comparisons of pairs, the entities of a class
/// that nothing else identifies are paired in order.
pub(in crate::op) fn pair(old: &Entities<'_>, new: &Entities<'_>, most_compared: usize) -> Vec<Option<usize>> {
    let (found, is_taken) = (vec![None; new.len()], vec![false; old.len()]);
    let mut pairing = Pairing { old, new, found, is_taken };
    let world = |entities: &Entities<'_>| {
        let class = entities.get(0).and_then(|first| first.class().map(<[u8]>::to_vec));
        class.is_some_and(|class| class.eq_ignore_ascii_case(b"worldspawn"))
    };
    if world(old) && world(new) {
        pairing.take(0, 0);
    }
    pairing.by(|entity| Some(vec![entity.bytes()]));
    pairing.by(|entity| Some(vec![entity.get("hammerid")?]));
    pairing.by(|entity| Some(vec![entity.get("targetname")?, entity.class()?]));
    pairing.by(|entity| Some(vec![entity.get("model").filter(|model| model.starts_with(b"*"))?, entity.class()?]));
    pairing.by(|entity| Some(vec![entity.get("origin")?, entity.class()?]));
    pairing.by(|entity| Some(vec![entity.get("origin")?]));
    pairing.by_likeness(most_compared);
    pairing.found
}

impl<'e> Pairing<'e, '_> {
    fn take(&mut self, new: usize, old: usize) {
        self.found[new] = Some(old);
        self.is_taken[old] = true;
    }

    /// The ones that are not paired yet.
    fn rest(&self) -> (Vec<Entity<'e>>, Vec<Entity<'e>>) {
        let (old, new) = (self.old, self.new);
        let old = old.iter().filter(|entity| !self.is_taken[entity.index()]).collect();
        (old, new.iter().filter(|entity| self.found[entity.index()].is_none()).collect())
    }

    /// Pairs entities with equal identities; several with the same identity are paired in order.
    fn by(&mut self, identify: impl Fn(&Entity<'e>) -> Option<Vec<&'e [u8]>>) {
        let (old, new) = self.rest();
        let mut known: HashMap<Vec<&[u8]>, Vec<usize>> = HashMap::new();
        for entity in old.iter().rev() {
            if let Some(identity) = identify(entity) {
                known.entry(identity).or_default().push(entity.index());
            }
        }
        for entity in &new {
            if let Some(old) = identify(entity).and_then(|identity| known.get_mut(&identity)?.pop()) {
                self.take(entity.index(), old);
            }
        }
    }

    /// Pairs the entities of a class that have the most pairs in common, if these are at least half of their pairs.
    fn by_likeness(&mut self, most_compared: usize) {
        let (old, new) = self.rest();
        let mut known: HashMap<Option<Vec<u8>>, Vec<&Entity<'e>>> = HashMap::new();
        let class = |entity: &Entity<'_>| entity.class().map(<[u8]>::to_ascii_lowercase);
        old.iter().for_each(|entity| known.entry(class(entity)).or_default().push(entity));
        let mut groups: HashMap<Option<Vec<u8>>, Vec<&Entity<'e>>> = HashMap::new();
        new.iter().for_each(|entity| groups.entry(class(entity)).or_default().push(entity));
        for (class, group) in groups {
            let Some(known) = known.get(&class) else { continue };
            let pairs =
                |entities: &[&Entity<'_>]| entities.iter().map(|entity| entity.pairs().len() + 1).sum::<usize>();
            if pairs(known).saturating_mul(pairs(&group)) > most_compared {
                known.iter().zip(&group).for_each(|(old, new)| self.take(new.index(), old.index()));
                continue;
            }
            let mut likes = Vec::new();
            for (old, new) in known.iter().flat_map(|old| group.iter().map(move |new| (old, new))) {
                let common = common(old, new);
                if 2 * common >= old.pairs().len().max(new.pairs().len()) {
                    likes.push((common, old.index(), new.index()));
                }
            }
            likes.sort_by_key(|&(common, old, new)| (std::cmp::Reverse(common), old, new));
            for (_, old, new) in likes {
                if !self.is_taken[old] && self.found[new].is_none() {
                    self.take(new, old);
                }
            }
        }
    }
}

/// How many pairs two entities have in common.
fn common(old: &Entity<'_>, new: &Entity<'_>) -> usize {
    old.pairs().filter(|pair| new.all(pair.key).any(|value| value == pair.value)).count()
}
