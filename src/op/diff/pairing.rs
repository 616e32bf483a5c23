//! Matches the entities of two maps.

use std::collections::HashMap;

use super::longest_rise;
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
    pairing.by_place();
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

    /// Pairs entities with the same text. Those that are there once are found wherever they are; of several that are
    /// alike, each is paired with the one at its place between these, so that an edit of one is not one of another.
    fn by_place(&mut self) {
        let (old, new) = (self.old, self.new);
        let mut counts: HashMap<&[u8], [usize; 2]> = HashMap::new();
        old.iter().for_each(|entity| counts.entry(entity.bytes()).or_default()[0] += 1);
        new.iter().for_each(|entity| counts.entry(entity.bytes()).or_default()[1] += 1);
        let is_alone = |entity: &Entity<'_>| counts.get(entity.bytes()) == Some(&[1, 1]);
        let known: HashMap<&[u8], usize> =
            old.iter().filter(is_alone).map(|entity| (entity.bytes(), entity.index())).collect();
        for entity in new.iter() {
            let from = known.get(entity.bytes()).copied().filter(|from| !self.is_taken[*from]);
            if let Some(from) = from.filter(|_| self.found[entity.index()].is_none()) {
                self.take(entity.index(), from);
            }
        }
        let stays = longest_rise(&self.found);
        let kept = (0..new.len()).filter(|at| stays[*at]).filter_map(|at| Some((self.found[at]?, at)));
        let mut before = (0, 0);
        for after in kept.collect::<Vec<_>>().into_iter().chain([(old.len(), new.len())]) {
            self.between(before, after);
            before = (after.0 + 1, after.1 + 1);
        }
    }

    /// Pairs entities with the same text between two places of both maps: as far as they follow each other from the
    /// start and from the end, and, if there are as many in both maps, those at the same places.
    fn between(&mut self, before: (usize, usize), after: (usize, usize)) {
        let (old, new) = (self.old, self.new);
        let (many, more) = (after.0 - before.0, after.1 - before.1);
        let mut is_pair = |one: usize, other: usize| {
            let text = |entities: &'e Entities<'_>, index: usize| entities.get(index).map(|entity| entity.bytes());
            let is_same = self.found[other].is_none() && !self.is_taken[one] && text(old, one) == text(new, other);
            if is_same {
                self.take(other, one);
            }
            is_same
        };
        let least = many.min(more);
        let start = (0..least).take_while(|at| is_pair(before.0 + at, before.1 + at)).count();
        let end = (1..=least - start).take_while(|at| is_pair(after.0 - at, after.1 - at)).count();
        if many == more {
            (start..least - end).for_each(|at| _ = is_pair(before.0 + at, before.1 + at));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::EntityRules;

    fn paired(old: &str, new: &str) -> Vec<Option<usize>> {
        let read = |letters: &str| {
            let text: String = letters.chars().map(|letter| format!("{{\n\"classname\" \"{letter}\"\n}}\n")).collect();
            Entities::parse(text.into_bytes(), EntityRules::QUAKE2).unwrap()
        };
        pair(&read(old), &read(new), 1 << 20)
    }

    /// Each letter is an entity, and equal letters are alike.
    #[test]
    fn alike_entities_are_paired_by_their_places() {
        let all = |places: &[usize]| places.iter().map(|place| Some(*place)).collect::<Vec<_>>();
        assert_eq!(paired("waab", "waab"), all(&[0, 1, 2, 3]));
        assert_eq!(paired("waab", "wxab"), [Some(0), None, Some(2), Some(3)]);
        assert_eq!(paired("waab", "waxb"), [Some(0), Some(1), None, Some(3)]);
        assert_eq!(paired("waaaab", "wxaayb"), [Some(0), None, Some(2), Some(3), None, Some(5)]);
        assert_eq!(paired("waaab", "waab"), all(&[0, 1, 2, 4]));
        assert_eq!(paired("wabaca", "wabca"), all(&[0, 1, 2, 4, 5]));
        assert_eq!(paired("wab", "wba"), all(&[0, 2, 1]));
    }
}
