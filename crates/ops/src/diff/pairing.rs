//! Which entities of one map are which of another: by identity, and by what they have in common. Two entities are only
//! said to be the same one if something speaks for it.

use std::cmp::Reverse;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use super::longest_rise;
use bspkit::content::entities::{Entities, Entity, Pair};
use indexmap::IndexMap;

/// Above this many comparisons of pairs, entities that nothing else identifies are paired by what only they have.
const MOST_COMPARED: usize = 1 << 26;

/// The total of all comparisons, as a multiple of those of one group.
const MOST_GROUPS: usize = 4;

/// The brush model of the new map that a brush model of the old one is, both as values of entities; `None` if it is
/// gone, or if that is not known.
pub(crate) type Models<'m> = &'m dyn Fn(&[u8]) -> Option<Vec<u8>>;

/// For each entity of the new map, in order, the index of the old one that it is: by `hammerid`, by `targetname` and
/// class, by `model`, by `origin`, and then by the pairs that they have in common. `None` for one that is new.
///
/// An entity has another class now if its `hammerid`, its `targetname` or its place says so, or a value that no other
/// one has.
///
/// ```
/// use bspkit::content::entities::Entities;
/// let parse = |text: &'static str| Entities::parse(text, bspkit::dialect::EntityRules::QUAKE2);
/// let old = parse("{\n\"classname\" \"light\"\n\"light\" \"300\"\n}\n")?;
/// let new = parse("{\n\"classname\" \"info_null\"\n}\n{\n\"classname\" \"light\"\n\"light\" \"200\"\n}\n")?;
/// assert_eq!(bspkit_ops::diff::pair(&old, &new), [None, Some(0)]);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn pair(old: &Entities<'_>, new: &Entities<'_>) -> Vec<Option<usize>> {
    paired(old, new, MOST_COMPARED, &|model| Some(model.to_vec()))
}

/// [`pair`], with another limit, and with the models that are known to have other numbers.
pub(crate) fn paired(
    old: &Entities<'_>,
    new: &Entities<'_>,
    most_compared: usize,
    models: Models<'_>,
) -> Vec<Option<usize>> {
    known(old, new, most_compared, models).found
}

/// Adds to a pairing of [`pair`] the entities that only their place identifies, if one of these is the old one.
pub(crate) fn add_by_place(
    old: &Entities<'_>,
    new: &Entities<'_>,
    pairing: &mut [Option<usize>],
    is_wanted: impl Fn(usize) -> bool,
) {
    let mut all = known(old, new, MOST_COMPARED, &|model| Some(model.to_vec()));
    all.at_their_places();
    for (own, found) in pairing.iter_mut().zip(all.found) {
        *own = own.or(found.filter(|old| is_wanted(*old)));
    }
}

/// The entities for which something besides their place speaks.
fn known<'e, 'a>(
    old: &'e Entities<'a>,
    new: &'e Entities<'a>,
    most_compared: usize,
    models: Models<'_>,
) -> Pairing<'e, 'a> {
    let mut pairing = Pairing::new(old, new, most_compared, models);
    let world = |entities: &Entities<'_>| {
        let class = entities.get(0).and_then(|first| first.class().map(<[u8]>::to_vec));
        class.is_some_and(|class| class.eq_ignore_ascii_case(b"worldspawn"))
    };
    if world(old) && world(new) {
        pairing.take(0, 0);
    }
    pairing.by_place();
    pairing.by_text();
    pairing.find_gaps();
    let own = |entity: &Entity<'_>, key: &str| entity.get(key).filter(|value| !value.is_empty()).map(<[u8]>::to_vec);
    let and_class = |entity: &Entity<'_>, key: &str| Some(vec![own(entity, key)?, entity.class()?.to_vec()]);
    pairing.by(|entity, _| and_class(entity, "hammerid"));
    pairing.alone(|entity| own(entity, "hammerid"));
    let model = |entity: &Entity<'_>, side: Side| {
        let model = entity.get("model").filter(|model| model.starts_with(b"*"))?;
        if side == Side::Old { models(model) } else { Some(model.to_vec()) }
    };
    pairing.by(|entity, side| {
        let mut identity = and_class(entity, "targetname")?;
        identity.push(model(entity, side)?);
        Some(identity)
    });
    pairing.by(|entity, _| and_class(entity, "targetname"));
    pairing.by(|entity, side| Some(vec![model(entity, side)?, entity.class()?.to_vec()]));
    pairing.by(|entity, _| and_class(entity, "origin"));
    pairing.alone(|entity| own(entity, "targetname"));
    pairing.at_one_place();
    pairing.by_class();
    pairing.by_what_only_they_have();
    pairing
}

/// Whose entity it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

struct Pairing<'e, 'a> {
    old: &'e Entities<'a>,
    new: &'e Entities<'a>,
    /// For each new entity the old one.
    found: Vec<Option<usize>>,
    is_taken: Vec<bool>,
    /// For each old entity whether its model has another number now, so that its text is not that of the same entity.
    has_other_model: Vec<bool>,
    /// For each old and each new entity how many entities before it have their text and their order: two with the same
    /// number are between the same ones.
    gaps: [Vec<usize>; 2],
    most_compared: usize,
    /// How many more comparisons there may be.
    room: usize,
}

/// The values by which entities are distinguished.
type Identity = Vec<Vec<u8>>;

/// Entities of both maps that may be the same ones.
type Group<'e> = [Vec<Entity<'e>>; 2];

impl<'e, 'a> Pairing<'e, 'a> {
    fn new(old: &'e Entities<'a>, new: &'e Entities<'a>, most_compared: usize, models: Models<'_>) -> Self {
        let (found, is_taken) = (vec![None; new.len()], vec![false; old.len()]);
        let room = most_compared.saturating_mul(MOST_GROUPS);
        let gaps = [Vec::new(), Vec::new()];
        // The same text, with another model.
        let is_other = |entity: Entity<'_>| {
            let model = entity.get("model").filter(|model| model.starts_with(b"*"));
            model.is_some_and(|model| models(model).as_deref() != Some(model))
        };
        let has_other_model = old.iter().map(is_other).collect();
        Pairing { old, new, found, is_taken, has_other_model, gaps, most_compared, room }
    }

    fn take(&mut self, new: usize, old: usize) {
        self.found[new] = Some(old);
        self.is_taken[old] = true;
    }

    fn is_free(&self, new: usize, old: usize) -> bool {
        !self.is_taken[old] && self.found[new].is_none()
    }

    /// The ones that are not paired yet.
    fn rest(&self) -> Group<'e> {
        let (old, new) = (self.old, self.new);
        let old = old.iter().filter(|entity| !self.is_taken[entity.index()]).collect();
        [old, new.iter().filter(|entity| self.found[entity.index()].is_none()).collect()]
    }

    /// Pairs entities with the same text. Those that are there once are found wherever they are; of several that are
    /// alike, each is paired with the one at its place between these, so that an edit of one is not one of another.
    fn by_place(&mut self) {
        let (old, new) = (self.old, self.new);
        let mut counts: HashMap<&[u8], [usize; 2]> = HashMap::new();
        let kept = || old.iter().filter(|entity| !self.has_other_model[entity.index()]);
        kept().for_each(|entity| counts.entry(entity.bytes()).or_default()[0] += 1);
        new.iter().for_each(|entity| counts.entry(entity.bytes()).or_default()[1] += 1);
        let is_alone = |entity: &Entity<'_>| counts.get(entity.bytes()) == Some(&[1, 1]);
        let known: HashMap<&[u8], usize> =
            kept().filter(is_alone).map(|entity| (entity.bytes(), entity.index())).collect();
        for entity in new.iter() {
            let from = known.get(entity.bytes()).copied();
            if let Some(from) = from.filter(|from| self.is_free(entity.index(), *from)) {
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
            let is_same = self.is_free(other, one) && !self.has_other_model[one] && text(old, one) == text(new, other);
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

    /// Pairs entities with the same text in their order.
    fn by_text(&mut self) {
        let [old, new] = self.rest();
        let mut known: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for entity in old.iter().rev().filter(|entity| !self.has_other_model[entity.index()]) {
            known.entry(entity.bytes()).or_default().push(entity.index());
        }
        for entity in &new {
            if let Some(old) = known.get_mut(entity.bytes()).and_then(Vec::pop) {
                self.take(entity.index(), old);
            }
        }
    }

    fn find_gaps(&mut self) {
        let stays = longest_rise(&self.found);
        let mut is_kept = [vec![false; self.old.len()], stays];
        let kept: Vec<usize> =
            self.found.iter().zip(&is_kept[1]).filter_map(|(from, is_kept)| from.filter(|_| *is_kept)).collect();
        kept.into_iter().for_each(|from| is_kept[0][from] = true);
        self.gaps = is_kept.map(|is_kept| {
            let mut before = 0;
            let count = |is_kept: bool| {
                before += usize::from(is_kept);
                before
            };
            is_kept.into_iter().map(count).collect()
        });
    }

    /// Pairs entities with equal identities. Of several with the same identity those are paired that have the most in
    /// common, and the others in their order, if there are as many in both maps.
    fn by(&mut self, identify: impl Fn(&Entity<'e>, Side) -> Option<Identity>) {
        let mut groups: HashMap<Identity, Group<'e>> = HashMap::new();
        for (at, (side, entities)) in [Side::Old, Side::New].into_iter().zip(self.rest()).enumerate() {
            for entity in entities {
                if let Some(identity) = identify(&entity, side) {
                    groups.entry(identity).or_default()[at].push(entity);
                }
            }
        }
        for [old, new] in in_order(groups.into_values()) {
            match (&old[..], &new[..]) {
                ([old], [new]) => self.take(new.index(), old.index()),
                _ => {
                    self.by_likeness(&old, &new);
                    let old: Vec<_> = old.iter().filter(|old| !self.is_taken[old.index()]).collect();
                    let new: Vec<_> = new.iter().filter(|new| self.found[new.index()].is_none()).collect();
                    if old.len() == new.len() {
                        old.iter().zip(&new).for_each(|(old, new)| self.take(new.index(), old.index()));
                    }
                }
            }
        }
    }

    /// Pairs entities that alone have an identity in their maps, whatever their class is.
    fn alone(&mut self, identify: impl Fn(&Entity<'e>) -> Option<Vec<u8>>) {
        let mut known: HashMap<Vec<u8>, Only> = HashMap::new();
        for (side, entities) in [self.old, self.new].into_iter().enumerate() {
            for entity in entities.iter() {
                if let Some(identity) = identify(&entity) {
                    known.entry(identity).or_default().see(side, entity.index());
                }
            }
        }
        for (old, new) in sorted(known.values().filter_map(Only::pair)) {
            if self.is_free(new, old) {
                self.take(new, old);
            }
        }
    }

    /// Pairs entities of two classes at one place: if no other ones are there, or if half of their pairs are the same.
    fn at_one_place(&mut self) {
        let place = |entity: &Entity<'e>| entity.get("origin").filter(|origin| !origin.is_empty());
        let mut known: HashMap<&[u8], Only> = HashMap::new();
        let mut all: HashMap<&[u8], usize> = HashMap::new();
        for (side, entities) in [self.old, self.new].into_iter().enumerate() {
            entities.iter().filter_map(|entity| place(&entity)).for_each(|place| *all.entry(place).or_default() += 1);
            for entity in &self.rest()[side] {
                if let Some(place) = place(entity) {
                    known.entry(place).or_default().see(side, entity.index());
                }
            }
        }
        let found = known.iter().filter_map(|(place, only)| Some((only.pair()?, all.get(place) == Some(&2))));
        for ((old, new), is_alone) in sorted(found) {
            let (Some(before), Some(after)) = (self.old.get(old), self.new.get(new)) else { continue };
            let is_somewhere = before.vector("origin").is_some_and(|origin| origin != [0.0; 3]);
            if is_alone && is_somewhere || is_like(&before, &after) {
                self.take(new, old);
            }
        }
    }

    /// Pairs the entities of a class that have the most pairs in common and may be the same ones.
    fn by_class(&mut self) {
        let mut groups: BTreeMap<Option<Vec<u8>>, Group<'e>> = BTreeMap::new();
        for (side, entities) in self.rest().into_iter().enumerate() {
            for entity in entities {
                let class = entity.class().map(<[u8]>::to_ascii_lowercase);
                groups.entry(class).or_default()[side].push(entity);
            }
        }
        groups.into_values().for_each(|[old, new]| self.by_likeness(&old, &new));
    }

    /// Pairs entities that have the most pairs in common, if they may be the same ones. Of several that are
    /// as much alike those are paired that are between the same other ones.
    fn by_likeness(&mut self, old: &[Entity<'e>], new: &[Entity<'e>]) {
        let [before, after] = [old, new].map(kinds);
        let pairs = |kinds: &[Kind<'_>]| kinds.iter().map(|kind| kind.entity.pairs().len() + 1).sum::<usize>();
        let compared = pairs(&before).saturating_mul(pairs(&after)).saturating_add(old.len() * after.len());
        if compared > self.most_compared.min(self.room) {
            self.by_traits(old, new);
            return;
        }
        self.room -= compared;
        // By how much they have in common: kinds of old entities with those of new ones.
        let mut levels: BTreeMap<Reverse<usize>, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for (one, old) in before.iter().enumerate() {
            for (other, new) in after.iter().enumerate() {
                if let Some(common) = likeness(&old.entity, &new.entity) {
                    levels.entry(Reverse(common)).or_default().entry(one).or_default().push(other);
                }
            }
        }
        let mut free: Vec<Free> = after.iter().map(|kind| Free::of(&kind.members, &self.gaps[1])).collect();
        for kinds in levels.values() {
            let members =
                kinds.iter().flat_map(|(one, others)| before[*one].members.iter().map(move |old| (*old, others)));
            let members = sorted(members);
            for is_elsewhere in [false, true] {
                for (old, others) in members.iter().filter(|(old, _)| !self.is_taken[*old]).collect::<Vec<_>>() {
                    let gap = self.gaps[0][*old];
                    let firsts = others.iter().filter_map(|kind| {
                        let first = if is_elsewhere { free[*kind].first() } else { free[*kind].first_in(gap) };
                        Some((first?, *kind))
                    });
                    if let Some((new, kind)) = firsts.min() {
                        free[kind].take(new, self.gaps[1][new]);
                        self.take(new, *old);
                    }
                }
            }
        }
    }

    /// As by likeness, in time by the number of pairs. Those are paired that alone have all their pairs but one value,
    /// those that alone have a pair, and those that were all moved by the same distance.
    fn by_traits(&mut self, old: &[Entity<'e>], new: &[Entity<'e>]) {
        self.by_trait(old, new, but_one);
        self.by_trait(old, new, |entity| entity.pairs().map(|pair| hash(&pair)).collect());
        let but_place = |entity: &Entity<'_>| {
            let others = entity.pairs().filter(|pair| !pair.key.eq_ignore_ascii_case(b"origin"));
            others.map(|pair| hash(&pair)).fold(0, u64::wrapping_add)
        };
        let mut groups: HashMap<u64, Group<'e>> = HashMap::new();
        for (side, entities) in [old, new].into_iter().enumerate() {
            for entity in entities.iter().filter(|entity| entity.vector("origin").is_some()) {
                let is_free =
                    if side == 0 { !self.is_taken[entity.index()] } else { self.found[entity.index()].is_none() };
                if is_free {
                    groups.entry(but_place(entity)).or_default()[side].push(entity.clone());
                }
            }
        }
        for [old, new] in in_order(groups.into_values()) {
            let ways = old.iter().zip(&new).filter_map(|(old, new)| way(old, new));
            let ways: Vec<_> = ways.collect();
            let is_one_way = |way: &[f64; 3]| way.iter().zip(ways[0]).all(|(one, first)| (one - first).abs() < NEAR);
            if old.len() == new.len() && ways.iter().all(is_one_way) {
                old.iter().zip(&new).for_each(|(old, new)| self.take(new.index(), old.index()));
            }
        }
    }

    /// Pairs entities with a trait that no other ones of these have, unless they have one with others too.
    fn by_trait(&mut self, old: &[Entity<'e>], new: &[Entity<'e>], traits: impl Fn(&Entity<'e>) -> Vec<u64>) {
        let mut known: HashMap<u64, Only> = HashMap::new();
        for (side, entities) in [old, new].into_iter().enumerate() {
            for entity in entities {
                traits(entity).into_iter().for_each(|one| known.entry(one).or_default().see(side, entity.index()));
            }
        }
        self.agreed(known.values().filter_map(Only::pair));
    }

    /// Pairs entities of any class with a pair that no other entities of the maps have.
    fn by_what_only_they_have(&mut self) {
        if self.rest().iter().any(Vec::is_empty) {
            return;
        }
        let mut known: HashMap<Pair<'e>, Only> = HashMap::new();
        for (side, entities) in [self.old, self.new].into_iter().enumerate() {
            for entity in entities.iter() {
                for pair in entity.pairs().filter(|pair| !pair.value.is_empty()) {
                    known.entry(pair).or_default().see(side, entity.index());
                }
            }
        }
        self.agreed(known.values().filter_map(Only::pair));
    }

    /// Pairs entities of a class that are between the same other ones, if nothing else of the class is there, or as
    /// many entities with the same keys: an entity of which all that tells it from others was edited is still this one.
    fn at_their_places(&mut self) {
        if self.rest().iter().any(Vec::is_empty) {
            return;
        }
        self.find_gaps();
        let mut groups: BTreeMap<(usize, Vec<u8>), Group<'e>> = BTreeMap::new();
        for (side, entities) in self.rest().into_iter().enumerate() {
            for entity in entities {
                let Some(class) = entity.class().map(<[u8]>::to_ascii_lowercase) else { continue };
                groups.entry((self.gaps[side][entity.index()], class)).or_default()[side].push(entity);
            }
        }
        let keys = |entity: &Entity<'_>| entity.pairs().map(|pair| pair.key.to_ascii_lowercase()).collect::<Vec<_>>();
        for [old, new] in groups.into_values() {
            let mut both = old.iter().zip(&new);
            if old.len() == new.len() && (old.len() == 1 || both.all(|(old, new)| keys(old) == keys(new))) {
                old.iter().zip(&new).for_each(|(old, new)| self.take(new.index(), old.index()));
            }
        }
    }

    /// Pairs entities for which something speaks, and nothing for another one, if half of their pairs are the same.
    fn agreed(&mut self, evidence: impl Iterator<Item = (usize, usize)>) {
        let (mut of_old, mut of_new): (HashMap<usize, Option<usize>>, HashMap<usize, Option<usize>>) =
            Default::default();
        for (old, new) in evidence.filter(|(old, new)| self.is_free(*new, *old)) {
            for (one, other, known) in [(old, new, &mut of_old), (new, old, &mut of_new)] {
                match known.entry(one) {
                    Entry::Vacant(entry) => drop(entry.insert(Some(other))),
                    Entry::Occupied(mut entry) if *entry.get() != Some(other) => *entry.get_mut() = None,
                    Entry::Occupied(_) => {}
                }
            }
        }
        for (old, new) in sorted(of_old.into_iter().filter_map(|(old, new)| Some((old, new?)))) {
            let (Some(before), Some(after)) = (self.old.get(old), self.new.get(new)) else { continue };
            if of_new.get(&new) == Some(&Some(old)) && is_like(&before, &after) {
                self.take(new, old);
            }
        }
    }
}

/// Entities with the same text.
struct Kind<'e> {
    entity: Entity<'e>,
    /// Their indices, in order.
    members: Vec<usize>,
}

/// The kinds of entities, in the order of their first ones: many entities are often of a few kinds.
fn kinds<'e>(entities: &[Entity<'e>]) -> Vec<Kind<'e>> {
    let mut kinds: IndexMap<&[u8], Kind<'e>> = IndexMap::new();
    for entity in entities {
        let kind = kinds.entry(entity.bytes());
        kind.or_insert_with(|| Kind { entity: entity.clone(), members: Vec::new() }).members.push(entity.index());
    }
    kinds.into_values().collect()
}

/// The entities of a kind that are not paired yet, by their gaps and by their indices.
struct Free {
    by_gap: BTreeSet<(usize, usize)>,
    all: BTreeSet<usize>,
}

impl Free {
    fn of(members: &[usize], gaps: &[usize]) -> Self {
        let by_gap = members.iter().map(|index| (gaps[*index], *index)).collect();
        Free { by_gap, all: members.iter().copied().collect() }
    }

    fn first(&self) -> Option<usize> {
        self.all.first().copied()
    }

    fn first_in(&self, gap: usize) -> Option<usize> {
        self.by_gap.range((gap, 0)..(gap + 1, 0)).next().map(|(_, index)| *index)
    }

    fn take(&mut self, index: usize, gap: usize) {
        self.by_gap.remove(&(gap, index));
        self.all.remove(&index);
    }
}

/// The entities of both maps that have something, as far as it is one of each.
#[derive(Default)]
struct Only {
    count: [usize; 2],
    index: [usize; 2],
}

impl Only {
    /// An entity may have it several times.
    fn see(&mut self, side: usize, index: usize) {
        if self.count[side] == 0 || self.index[side] != index {
            self.count[side] += 1;
            self.index[side] = index;
        }
    }

    fn pair(&self) -> Option<(usize, usize)> {
        (self.count == [1, 1]).then_some((self.index[0], self.index[1]))
    }
}

/// Groups by their first new entities, without those that only one map has.
fn in_order<'e>(groups: impl Iterator<Item = Group<'e>>) -> Vec<Group<'e>> {
    let mut groups: Vec<Group<'e>> = groups.filter(|group| group.iter().all(|side| !side.is_empty())).collect();
    groups.sort_unstable_by_key(|[_, new]| new[0].index());
    groups
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// For each pair of an entity a number for all of its pairs without the value of this one.
fn but_one(entity: &Entity<'_>) -> Vec<u64> {
    let all = entity.pairs().map(|pair| hash(&pair)).fold(0, u64::wrapping_add);
    entity.pairs().map(|pair| all.wrapping_sub(hash(&pair)).wrapping_add(hash(&pair.key))).collect()
}

/// Ways that differ by less are the same; places are printed with few digits.
const NEAR: f64 = 0.01;

/// The way from the place of one entity to that of another.
fn way(old: &Entity<'_>, new: &Entity<'_>) -> Option<[f64; 3]> {
    let (from, to) = (old.vector("origin")?, new.vector("origin")?);
    Some(std::array::from_fn(|axis| to[axis] - from[axis]))
}

/// The keys by which people distinguish the entities of a class.
const TELLING: [&str; 4] = ["hammerid", "targetname", "model", "origin"];

/// How many pairs two entities have in common, if they may be the same one: at least half of their pairs, or three
/// quarters if several of these keys have other values. Most values of an entity are those of every other one.
fn likeness(old: &Entity<'_>, new: &Entity<'_>) -> Option<usize> {
    let (common, all) = (common(old, new), old.pairs().len().max(new.pairs().len()));
    let is_other = |key: &&&str| matches!((old.get(key), new.get(key)), (Some(old), Some(new)) if old != new);
    let is_enough = match TELLING.iter().filter(is_other).count() {
        0 | 1 => 2 * common >= all,
        _ => 4 * common >= 3 * all,
    };
    is_enough.then_some(common)
}

fn is_like(old: &Entity<'_>, new: &Entity<'_>) -> bool {
    likeness(old, new).is_some()
}

/// Above this many pairs, those of two entities are sorted to compare them.
const MOST_PAIRS: usize = 32;

/// How many pairs two entities have in common.
fn common(old: &Entity<'_>, new: &Entity<'_>) -> usize {
    if old.pairs().len().min(new.pairs().len()) <= MOST_PAIRS {
        let new: Vec<Pair<'_>> = new.pairs().collect();
        return old.pairs().filter(|pair| new.contains(pair)).count();
    }
    let [old, new] = [old, new].map(|entity| sorted(entity.pairs().map(|pair| (pair.key, pair.value))));
    old.iter().filter(|pair| new.binary_search(pair).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bspkit::dialect::EntityRules;
    use proptest::prelude::*;

    fn paired(old: &str, new: &str) -> Vec<Option<usize>> {
        let read = |letters: &str| {
            let text: String = letters.chars().map(|letter| format!("{{\n\"classname\" \"{letter}\"\n}}\n")).collect();
            Entities::parse(text.into_bytes(), EntityRules::QUAKE2).unwrap()
        };
        super::paired(&read(old), &read(new), 1 << 20, &|model| Some(model.to_vec()))
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

    /// Each entity with each one: the rule by which likeness is defined.
    fn naive(pairing: &mut Pairing<'_, '_>) {
        let [old, new] = pairing.rest();
        let mut likes = Vec::new();
        for (old, new) in old.iter().flat_map(|old| new.iter().map(move |new| (old, new))) {
            if let Some(common) = likeness(old, new) {
                let is_elsewhere = pairing.gaps[0][old.index()] != pairing.gaps[1][new.index()];
                likes.push((Reverse(common), is_elsewhere, old.index(), new.index()));
            }
        }
        likes.sort_unstable();
        for (.., old, new) in likes {
            if pairing.is_free(new, old) {
                pairing.take(new, old);
            }
        }
    }

    /// Digits are values of four keys.
    fn texts(numbers: &[u16]) -> Entities<'static> {
        let text = numbers.iter().map(|number| {
            let pairs = [1, 5, 25, 125].map(|by| format!("\"key{by}\" \"{}\"\n", number / by % 5));
            format!("{{\n{}}}\n", pairs[..1 + usize::from(number / 625 % 4)].concat())
        });
        Entities::parse(text.collect::<String>().into_bytes(), EntityRules::QUAKE2).unwrap()
    }

    proptest! {
        #[test]
        fn kinds_are_paired_as_single_entities_are(
            old in proptest::collection::vec(0_u16..2500, 0..30),
            new in proptest::collection::vec(0_u16..2500, 0..30),
            few in 2_u16..2500,
        ) {
            let [old, new] = [old, new].map(|list| texts(&list.iter().map(|number| number % few).collect::<Vec<_>>()));
            let prepared = || {
                let mut pairing = Pairing::new(&old, &new, 1 << 20, &|model| Some(model.to_vec()));
                pairing.by_place();
                pairing.find_gaps();
                pairing
            };
            let (mut one, mut other) = (prepared(), prepared());
            let [rest, others] = one.rest();
            one.by_likeness(&rest, &others);
            naive(&mut other);
            prop_assert_eq!(one.found, other.found);
        }
    }
}
