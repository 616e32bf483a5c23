//! The difference of two maps' entities as rules of Stripper:Source.
//!
//! Each entity that changes is matched by pairs that no other one has, before or after its own change, so that the
//! order of the rules does not matter. The rules are tried before they are given away: what they do not say is named.

use std::collections::{BTreeSet, HashMap};

use super::convert::{exactly, obstacle};
use super::finder::Finder;
use super::{Action, At, Expected, Format, Match, Mode, Need, NewPair, Rule, Rules, Step, Test};
use bspkit::bytes::escaped;
use bspkit::content::entities::{Entities, Entity};
use bspkit_ops::diff;

/// Keys that tell entities apart, the best ones first.
const TELLING: [&[&[u8]]; 9] = [
    &[b"hammerid"],
    &[b"targetname"],
    &[b"model"],
    &[b"origin"],
    &[b"classname", b"targetname"],
    &[b"classname", b"origin"],
    &[b"classname", b"model"],
    &[b"targetname", b"origin"],
    &[b"classname"],
];

/// The rules that make the entities of one map those of another.
#[derive(Clone, Debug)]
pub struct Difference {
    /// As text of Stripper:Source.
    pub text: Vec<u8>,
    /// How many entities are changed, added and removed.
    pub counts: [usize; 3],
    /// What the rules do not say.
    pub lost: Vec<String>,
}

/// The rules that make the entities of `old` those of `new`: the pairs of each, whatever the spacing.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
/// use bspkit_rules::difference;
///
/// let old = "{ \"classname\" \"worldspawn\" }\n{ \"classname\" \"light\" \"light\" \"300\" }\n\0";
/// let read = |text: String| Entities::parse(text.into_bytes(), EntityRules::QUAKE2);
/// let found = difference(&read(old.to_owned())?, &read(old.replace("300", "200"))?);
/// let rules = "modify:\n{\nmatch:\n{\n\"classname\" \"light\"\n}\nreplace:\n{\n\"light\" \"200\"\n}\n}\n";
/// assert_eq!(String::from_utf8_lossy(&found.text), rules);
/// assert!(found.lost.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn difference(old: &Entities<'_>, new: &Entities<'_>) -> Difference {
    let mut writer = Writer::new(old, new);
    let mut counts = [0; 3];
    let mut done: Vec<(Vec<Pair>, Plan)> = Vec::new();
    let mut is_done: HashMap<Vec<Pair>, Vec<usize>> = HashMap::new();
    for index in 0..old.len() {
        let plan = writer.plans[index].clone();
        plan.lost.iter().for_each(|what| writer.lose(index, what));
        if plan.is_nothing() {
            continue;
        }
        counts[if plan.is_removed { 2 } else { 0 }] += 1;
        // Equal entities with the same change share a rule.
        let pairs = writer.forms[index].clone();
        let known = is_done.entry(pairs.clone()).or_default();
        if known.iter().any(|number| done[*number].1 == plan) {
            continue;
        }
        known.push(done.len());
        done.push((pairs, plan.clone()));
        writer.rule(index, &plan);
    }
    for entity in new {
        if writer.pairing[entity.index()].is_none() {
            counts[1] += 1;
            writer.add(&entity);
        }
    }
    let printed = writer.rules.to_stripper();
    let mut lost = writer.lost;
    lost.extend(printed.lost.into_iter().map(|(_, what)| what));
    check(&printed.result, old, new, &writer.pairing, &writer.named, &mut lost);
    Difference { text: printed.result, counts, lost }
}

struct Writer {
    rules: Rules,
    /// For each new entity the old one.
    pairing: Vec<Option<usize>>,
    /// The pairs of the old entities, then those of the changed ones after their change.
    forms: Vec<Vec<Pair>>,
    /// The old entity of each form.
    owners: Vec<usize>,
    plans: Vec<Plan>,
    finder: Finder,
    lost: Vec<String>,
    /// The old entities that something is lost of.
    named: BTreeSet<usize>,
}

impl Writer {
    fn new(old: &Entities<'_>, new: &Entities<'_>) -> Self {
        let pairing = diff::pair(old, new);
        let mut forms: Vec<Vec<Pair>> = old.iter().map(|entity| pairs(&entity)).collect();
        let mut owners: Vec<usize> = (0..forms.len()).collect();
        let mut plans = vec![Plan { is_removed: true, ..Plan::default() }; old.len()];
        for entity in new {
            let Some(index) = pairing[entity.index()] else { continue };
            let after = pairs(&entity);
            plans[index] = Plan::between(&forms[index], &after);
            if !plans[index].is_nothing() {
                forms.push(after);
                owners.push(index);
            }
        }
        let mut finder = Finder::of_all_keys();
        for (number, form) in forms.iter().enumerate() {
            finder.add(number, seen(form).map(|(key, value)| (key, value, true)));
        }
        let rules = Rules::new("", Format::Stripper, Mode::Plugin);
        let (lost, named) = (Vec::new(), BTreeSet::new());
        Writer { rules, pairing, forms, owners, plans, finder, lost, named }
    }

    fn lose(&mut self, index: usize, what: &str) {
        self.lost.push(format!("#{index} of A: {what}"));
        self.named.insert(index);
    }

    fn rule(&mut self, index: usize, plan: &Plan) {
        let Some(on) = self.unique(index) else {
            let what = if plan.is_removed { "its removal" } else { "its change" };
            return self.lose(index, &format!("{what}: another entity has all of its pairs too"));
        };
        let action = if plan.is_removed { Action::Remove } else { self.action(index, plan) };
        if !matches!(&action, Action::Modify(steps) if steps.is_empty()) {
            self.rules.rules.push(Rule { at: At::default(), maps: Vec::new(), on, action });
        }
    }

    fn action(&mut self, index: usize, plan: &Plan) -> Action {
        let mut steps = Vec::new();
        let tests: Vec<Test> = plan.delete.iter().filter_map(|(pair, is_exact)| self.test(pair, *is_exact)).collect();
        if tests.len() < plan.delete.len() {
            self.lose(index, "the removal of pairs that are too long for a line");
        }
        if !tests.is_empty() {
            steps.push(Step::Delete(tests));
        }
        let replace = self.stored(index, &plan.replace);
        if !replace.is_empty() {
            steps.push(Step::Replace { pairs: replace, is_exact: false });
        }
        steps.extend(self.stored(index, &plan.insert).into_iter().map(Step::Insert));
        Action::Modify(steps)
    }

    /// The pairs that can be written; the others are lost.
    fn stored(&mut self, index: usize, pairs: &[Pair]) -> Vec<NewPair> {
        let mut new = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            match obstacle(key, value, true) {
                None => new.push(NewPair { at: At::default(), key: key.clone(), value: value.clone() }),
                Some(why) => self.lose(index, &format!("the pair {}: {why}", shown(key, value))),
            }
        }
        new
    }

    fn add(&mut self, entity: &Entity<'_>) {
        let mut new = Vec::new();
        for (key, value) in pairs(entity) {
            match obstacle(&key, &value, true) {
                None => new.push(NewPair { at: At::default(), key, value }),
                Some(why) => {
                    let index = entity.index();
                    self.lost.push(format!("#{index} of B, which is new: the pair {}: {why}", shown(&key, &value)));
                }
            }
        }
        let (at, on) = (At::default(), Match::default());
        self.rules.rules.push(Rule { at, maps: Vec::new(), on, action: Action::Add(new) });
    }

    /// Tests that hold for this entity, and for others only if they change in the same way.
    fn unique(&mut self, index: usize) -> Option<Match> {
        let form = self.forms[index].clone();
        for keys in TELLING {
            let find = |key: &&[u8]| form.iter().find(|(other, _)| other.eq_ignore_ascii_case(key));
            let Some(pairs) = keys.iter().map(find).collect::<Option<Vec<&Pair>>>() else { continue };
            let Some(tests) = pairs.into_iter().map(|pair| self.test(pair, false)).collect() else { continue };
            let on = Match { tests, need: Need::Count };
            if self.is_unique(index, &on) {
                return Some(on);
            }
        }
        for is_exact in [false, true] {
            let tests: Vec<Test> = form.iter().filter_map(|pair| self.test(pair, is_exact)).collect();
            let on = Match { tests, need: Need::Count };
            if self.is_unique(index, &on) {
                return Some(on);
            }
        }
        None
    }

    fn is_unique(&self, index: usize, on: &Match) -> bool {
        let fits = |number: &usize| on.holds(seen(&self.forms[*number])).is_some();
        let is_twin = |number: &usize| {
            let owner = self.owners[*number];
            owner == index || (self.forms[owner] == self.forms[index] && self.plans[owner] == self.plans[index])
        };
        let candidates = self.finder.candidates(on);
        !on.tests.is_empty()
            && fits(&index)
            && candidates.is_some_and(|numbers| numbers.iter().filter(|number| fits(number)).all(is_twin))
    }

    /// A test that a pair passes; `None` if none can be written.
    fn test(&mut self, (key, value): &Pair, is_exact: bool) -> Option<Test> {
        let value = match obstacle(key, value, false) {
            None if !is_exact || !value.iter().any(u8::is_ascii_alphabetic) => Expected::Is(value.clone()),
            _ if value.is_empty() => return None,
            _ => {
                let text = exactly(value, is_exact);
                obstacle(key, &text[..text.len() - 1], false).map_or(Some(()), |_| None)?;
                Expected::Like(self.rules.pattern(At::default(), &text[1..text.len() - 1])?)
            }
        };
        Some(Test { at: At::default(), key: key.clone(), is_exact: false, value, is_negated: false })
    }
}

fn pairs(entity: &Entity<'_>) -> Vec<Pair> {
    entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
}

/// The pairs that the plug-in sees.
fn seen(pairs: &[Pair]) -> impl Iterator<Item = (&[u8], &[u8])> + Clone {
    let pairs = pairs.iter().map(|(key, value)| (&key[..], &value[..]));
    pairs.filter(|(key, value)| !key.is_empty() && !value.is_empty())
}

fn shown(key: &[u8], value: &[u8]) -> String {
    let dots = if value.len() > 40 { "..." } else { "" };
    format!("`{}` `{}{dots}`", escaped(key), escaped(&value[..value.len().min(40)]))
}

// What makes the pairs of one entity those of another: deletions, replacements and insertions, in this order.

/// A key and a value.
type Pair = (Vec<u8>, Vec<u8>);

/// What is done to an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Plan {
    is_removed: bool,
    /// The pairs to delete, and whether the case of the value matters.
    delete: Vec<(Pair, bool)>,
    replace: Vec<Pair>,
    insert: Vec<Pair>,
    /// What no rule can do.
    lost: Vec<String>,
}

impl Plan {
    /// The changes of an entity that stays.
    fn between(old: &[Pair], new: &[Pair]) -> Plan {
        let mut plan = Plan::default();
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for (key, _) in old.iter().chain(new) {
            let key = key.to_ascii_lowercase();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            let of = |pairs: &[Pair]| -> Vec<Pair> {
                pairs.iter().filter(|(other, _)| other.eq_ignore_ascii_case(&key)).cloned().collect()
            };
            plan.change(&of(old), &of(new));
        }
        plan
    }

    fn is_nothing(&self) -> bool {
        !self.is_removed && self.delete.is_empty() && self.replace.is_empty() && self.insert.is_empty()
    }

    /// The changes of the pairs of one key.
    fn change(&mut self, old: &[Pair], new: &[Pair]) {
        if old == new {
            return;
        }
        // Pairs without a value are not seen by rules, which cannot remove them.
        let (old, hidden): (Vec<&Pair>, Vec<&Pair>) = old.iter().partition(|pair| !is_hidden(pair));
        for (key, _) in hidden.iter().filter(|pair| !new.contains(pair)) {
            self.lost.push(format!("the removal or change of `{}`, which has no value", escaped(key)));
        }
        let mut left = hidden;
        let mut seen = |pair: &&Pair| match left.iter().position(|other| other == pair) {
            Some(at) => {
                left.remove(at);
                false
            }
            None => true,
        };
        let new: Vec<&Pair> = new.iter().filter(|pair| !is_hidden(pair) || seen(pair)).collect();
        if let ([(key, _)], [(same, value)]) = (&old[..], &new[..])
            && key == same
        {
            self.replace.push((key.clone(), value.clone()));
            return;
        }
        // Equal keys keep their order, if those that stay are the first ones.
        let kept = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let is_twice = |pair: &&&Pair| old[..kept].contains(*pair);
        let kept = if old[kept..].iter().any(|pair| is_twice(&pair)) { 0 } else { kept };
        for pair in &old[kept..] {
            let is_like = |other: &&Pair| other.1.eq_ignore_ascii_case(&pair.1);
            let is_exact = old[..kept].iter().any(is_like);
            if !self.delete.iter().any(|(other, _)| other == *pair) {
                self.delete.push(((*pair).clone(), is_exact));
            }
        }
        self.insert.extend(new[kept..].iter().map(|pair| (*pair).clone()));
    }
}

fn is_hidden((key, value): &&Pair) -> bool {
    key.is_empty() || value.is_empty()
}

// Whether rules say the whole difference: they are applied, and the result is compared.

/// How many entities are named.
const NAMED: usize = 100;

/// Adds what the result of the rules does not have of `new`, unless it is named already.
fn check(
    text: &[u8],
    old: &Entities<'_>,
    new: &Entities<'_>,
    pairing: &[Option<usize>],
    named: &BTreeSet<usize>,
    lost: &mut Vec<String>,
) {
    let mut result = old.clone();
    result.for_any_engine();
    let rules = Rules::read("the rules", text, Format::Stripper, Mode::Plugin);
    if let Err(error) = rules.apply(&mut result, "") {
        let why = std::error::Error::source(&error).map(|why| format!(": {why}")).unwrap_or_default();
        return lost.push(format!("{error}{why}"));
    }
    let list = |entities: &Entities<'_>| -> Vec<Vec<Pair>> { entities.iter().map(|entity| pairs(&entity)).collect() };
    let (result, new) = (list(&result), list(new));
    if result == new {
        return;
    }
    let sorted = |pairs: &Vec<Pair>| {
        let mut pairs = pairs.clone();
        pairs.sort();
        pairs
    };
    let mut left: HashMap<Vec<Pair>, Vec<usize>> = HashMap::new();
    for (index, pairs) in result.iter().enumerate().rev() {
        left.entry(sorted(pairs)).or_default().push(index);
    }
    let (mut missing, mut shuffled, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (index, pairs) in new.iter().enumerate() {
        match left.get_mut(&sorted(pairs)).and_then(Vec::pop) {
            Some(place) => {
                places.push(place);
                if result[place] != *pairs {
                    shuffled.push(index);
                }
            }
            None if pairing[index].is_some_and(|old| named.contains(&old)) => {}
            None => missing.push(index),
        }
    }
    // What a new entity lacks is named already.
    let is_unnamed = |index: &usize| lost.is_empty() || pairing[*index].is_some();
    if missing.iter().any(is_unnamed) {
        lost.push(format!("the pairs of {} of B", some(&missing)));
    }
    if !shuffled.is_empty() {
        lost.push(format!("the order of the pairs of {} of B", some(&shuffled)));
    }
    if !places.is_sorted() {
        lost.push("the order of the entities: rules add entities after the last one".to_owned());
    }
    if lost.is_empty() {
        lost.push(format!("the number of entities: {} instead of {}", result.len(), new.len()));
    }
}

fn some(indices: &[usize]) -> String {
    let listed: Vec<String> = indices.iter().take(NAMED).map(|index| format!("#{index}")).collect();
    let more = indices.len() - listed.len();
    if more > 0 { format!("{} and {more} more", listed.join(", ")) } else { listed.join(", ") }
}
