//! Rules applied, one after the other, to the pairs of the entities that they match; then the text is edited, once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeBounds;

use super::finder::Finder;
use super::lazyripent::{Act, Stored};
use super::{
    Action, Applied, Match, NewPair, Pair, PairCounts, Report, Rule, Rules, Step, Who, outputs, pattern, rules_for,
};
use bspkit::bytes::{index, short};
use bspkit::content::entities::{Entities, Entity, EntityMut};
use bspkit::dialect::EntityRules;
use bspkit::{Error, ErrorKind, Result};
use bspkit_ops::check::is_name;

// Rules applied, one after the other, to the pairs of entities. The text is edited afterwards, once (`door`).

/// How many entities are listed in a report, for all rules together.
const MOST_LISTED: usize = 1 << 20;

/// How many entities a map may have while rules add some for others; no text may have more.
const MOST_ENTITIES: usize = 131_072;

/// By how many bytes all entities together may grow, where each pair counts for some more: no more than a text of
/// entities may have, which bounds the pairs too.
const MOST_GROWTH: usize = 16 << 20;
const PAIR: usize = 16;

/// The entities on the way through the rules. Their numbers stay.
pub(super) struct Work<'e> {
    pub(super) old: Vec<Entity<'e>>,
    /// For each entity its pairs, if rules changed or added it.
    changed: Vec<Option<Changed<'e>>>,
    /// The rules that removed entities.
    pub(super) removed: HashMap<usize, usize>,
    /// What `store` keeps.
    stored: Stored,
    finder: Finder,
    listed: usize,
    /// By how many bytes the entities have grown.
    growth: usize,
}

/// An entity that rules changed or added.
struct Changed<'e> {
    pairs: Vec<Pair<'e>>,
    /// The last rule that did.
    by: Option<usize>,
}

impl Rules {
    /// Applies all rules to the entities of the map of this name: all of them or, after an error, none.
    ///
    /// # Errors
    /// [`bspkit::ErrorKind::Refused`] for an edit that no engine of the dialect could read back, or that removes
    /// worldspawn. The message names the rule.
    pub fn apply(&self, entities: &mut Entities<'_>, map: &str) -> Result<Report<'_>> {
        apply([self], entities, map)
    }
}

/// Applies the rules of several files, one file after the other, as [`Rules::apply`].
///
/// # Errors
/// As [`Rules::apply`].
pub fn apply<'r>(
    files: impl IntoIterator<Item = &'r Rules>,
    entities: &mut Entities<'_>,
    map: &str,
) -> Result<Report<'r>> {
    let Attempt { report, entities: done, .. } = attempt(files, .., entities, map)?;
    if let Some(done) = done {
        *entities = done;
    }
    Ok(report)
}

/// How much of what rules do to a map is new in it. What they undo themselves does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Entities and pairs that they add though the same ones are there.
    pub there: usize,
    /// Entities that they add and remove, and pairs that they add, set and remove, without those above.
    pub new: usize,
}

/// What rules would do to a map.
///
/// ```
/// use bspkit_rules::{Format, Mode, Rules, attempt};
/// let text = b"add:\n{\n\"classname\" \"light\"\n}\n";
/// let rules = Rules::parse("more.cfg", text, Format::Stripper, Mode::Plugin)?;
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let entities = map.entities()?;
/// let attempt = attempt([&rules], .., &entities, "own_rooms")?;
/// assert_eq!((attempt.effect.new, attempt.entities.unwrap().len()), (1, entities.len() + 1));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct Attempt<'r, 'a> {
    /// What each rule matched and did.
    pub report: Report<'r>,
    /// How much of that is new in the map.
    pub effect: Effect,
    /// The entities after the rules; `None` if nothing changes.
    pub entities: Option<Entities<'a>>,
}

/// Applies a part of the rules that are for a map, numbered over all files, to a copy of its entities.
///
/// # Errors
/// As [`Rules::apply`].
pub fn attempt<'r, 'a>(
    files: impl IntoIterator<Item = &'r Rules>,
    part: impl RangeBounds<usize>,
    entities: &Entities<'a>,
    map: &str,
) -> Result<Attempt<'r, 'a>> {
    let (report, done) = run(files, part, entities, map);
    match done {
        Ok((effect, entities)) => Ok(Attempt { report, effect, entities }),
        Err(failure) => Err(failure.named(&report)),
    }
}

/// What the rules do, and the entities after them; `None` if nothing changes.
fn run<'r, 'a>(
    files: impl IntoIterator<Item = &'r Rules>,
    part: impl RangeBounds<usize>,
    entities: &Entities<'a>,
    map: &str,
) -> (Report<'r>, std::result::Result<(Effect, Option<Entities<'a>>), Failure>) {
    let (report, work, done) = worked(files, part, entities, map);
    let done = done.and_then(|()| Ok((effect(&work), edited(&work, entities)?)));
    (report, done)
}

/// What the rules do, and the entities on the way; after an error as they were before the rule.
pub(super) fn worked<'r: 'e, 'e>(
    files: impl IntoIterator<Item = &'r Rules>,
    part: impl RangeBounds<usize>,
    entities: &'e Entities<'_>,
    map: &str,
) -> (Report<'r>, Work<'e>, std::result::Result<(), Failure>) {
    let mut report = Report::default();
    for (number, (file, rule)) in rules_for(files, map).enumerate() {
        if part.contains(&number) {
            let (matched, pairs) = (Vec::new(), PairCounts::default());
            report.rules.push(Applied { file, rule, matched, count: 0, loose: 0, pairs });
        }
    }
    let mut work = Work::new(entities, report.rules.iter().map(|applied| applied.rule));
    for number in 0..report.rules.len() {
        // What was asked before does not count.
        pattern::gave_up();
        let done = work.run(number, &mut report);
        let done = if pattern::gave_up() { Err(pattern::TOO_MANY.to_owned()) } else { done };
        if let Err(why) = done {
            let error = Error::new(ErrorKind::Refused, why);
            return (report, work, Err(Failure { error, rule: Some(number) }));
        }
    }
    (report, work, Ok(()))
}

/// What rules did to the entities in the end.
fn effect(work: &Work<'_>) -> Effect {
    type Pairs<'p> = Vec<(&'p [u8], &'p [u8])>;
    let (mut effect, mut gone) = (Effect::default(), HashMap::<Pairs<'_>, usize>::new());
    let old = |number: usize| -> Pairs<'_> { work.old[number].pairs().map(|pair| (pair.key, pair.value)).collect() };
    for number in work.removed.keys().filter(|number| **number < work.old.len()) {
        *gone.entry(old(*number)).or_default() += 1;
    }
    let mut added = HashMap::<Pairs<'_>, usize>::new();
    for (_, changed) in work.changed(work.old.len()..) {
        let pairs: Pairs<'_> = changed.pairs.iter().map(|pair| (&pair.key[..], &pair.value[..])).collect();
        match gone.get_mut(&pairs).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => *added.entry(pairs).or_default() += 1,
        }
    }
    // What the rules added before may match them now: an entity that is as they add it is theirs, whatever they do to
    // it.
    let mut own = HashSet::new();
    let kept = if added.is_empty() { 0 } else { work.old.len() };
    for number in (0..kept).filter(|number| !work.removed.contains_key(number)) {
        if let Some(count) = added.get_mut(&old(number)).filter(|count| **count > 0) {
            (*count, effect.there) = (*count - 1, effect.there + 1);
            own.insert(number);
        }
    }
    effect.new += gone.values().sum::<usize>() + added.values().sum::<usize>();
    for (number, changed) in work.changed(..work.old.len()).filter(|(number, _)| !own.contains(number)) {
        effect.add_pairs(&old(number), &changed.pairs);
    }
    effect
}

impl Effect {
    /// Adds the new state of the pairs of an entity. A pair that is removed and added again is not changed; one that
    /// gets another value and is added again was there.
    fn add_pairs(&mut self, before: &[(&[u8], &[u8])], pairs: &[Pair<'_>]) {
        let said = |key: &[u8], value: &[u8]| (key.to_ascii_lowercase(), value.to_vec());
        let mut values: Vec<Option<&[u8]>> = vec![None; before.len()];
        pairs
            .iter()
            .filter_map(|pair| Some((pair.origin()?, &*pair.value)))
            .for_each(|(at, now)| values[at] = Some(now));
        let is_set = |at: usize| values[at].is_some_and(|now| *now != *before[at].1);
        self.new += (0..before.len()).filter(|at| values[*at].is_none() || is_set(*at)).count();
        let added = || pairs.iter().filter(|pair| pair.origin.is_none());
        if added().next().is_none() {
            return;
        }
        let kept = pairs.iter().filter(|pair| pair.origin.is_some());
        let kept: HashSet<_> = kept.map(|pair| said(&pair.key, &pair.value)).collect();
        let mut lost: HashMap<_, Vec<usize>> = HashMap::new();
        for at in (0..before.len()).filter(|at| values[*at].is_none() || is_set(*at)) {
            lost.entry(said(before[at].0, before[at].1)).or_default().push(at);
        }
        for pair in added() {
            let pair = said(&pair.key, &pair.value);
            if kept.contains(&pair) {
                self.there += 1;
                continue;
            }
            match lost.get_mut(&pair).and_then(Vec::pop) {
                Some(at) => {
                    self.new -= 1;
                    self.there += usize::from(is_set(at));
                }
                None => self.new += 1,
            }
        }
    }
}

impl<'e> Work<'e> {
    pub(super) fn new<'r>(entities: &'e Entities<'_>, rules: impl Iterator<Item = &'r Rule>) -> Self {
        let mut finder = Finder::new(rules.map(|rule| &rule.on));
        let old: Vec<Entity<'e>> = entities.iter().collect();
        for entity in &old {
            finder.add(entity.index(), entity.pairs().map(|pair| (pair.key, pair.value, true)));
        }
        Work {
            changed: old.iter().map(|_| None).collect(),
            old,
            removed: HashMap::new(),
            stored: Stored::new(),
            finder,
            listed: 0,
            growth: 0,
        }
    }

    /// Applies one rule, by its number in the report.
    ///
    /// # Errors
    /// Why an action does not fit an entity.
    fn run<'r: 'e>(&mut self, number: usize, report: &mut Report<'r>) -> std::result::Result<(), String> {
        let Applied { file, rule, .. } = report.rules[number];
        match &rule.action {
            Action::Add(pairs) => {
                let pair = |pair: &'e NewPair| Pair::new(&pair.key, &pair.value, number);
                return self.add(number, pairs.iter().map(pair).collect(), report);
            }
            Action::AddFor(class, acts) if rule.on.tests.is_empty() => {
                return self.add_for(number, class, acts, None, report);
            }
            _ => {}
        }
        let mut matched = Vec::new();
        let all = self.changed.len();
        let candidates = self.finder.candidates(&rule.on).unwrap_or_else(|| (0..all).collect());
        for entity in candidates {
            if self.removed.contains_key(&entity) {
                continue;
            }
            let Some(is_exact) = self.holds(entity, &rule.on, file.hides_empty()) else { continue };
            if !matches!(rule.action, Action::AddFor(..)) {
                self.list(number, entity, report);
            }
            let applied = &mut report.rules[number];
            applied.loose += usize::from(!is_exact);
            match &rule.action {
                Action::Modify(steps) => self.modify(number, entity, steps, file.hides_empty(), applied)?,
                Action::Acts(_) | Action::AddFor(..) => matched.push(entity),
                _ => drop(self.removed.insert(entity, number)),
            }
        }
        match &rule.action {
            Action::Acts(acts) => self.act(number, acts, &matched, report),
            Action::AddFor(class, acts) => {
                matched.into_iter().try_for_each(|of| self.add_for(number, class, acts, Some(of), report))
            }
            _ => Ok(()),
        }
    }

    /// Each action on all entities that matched, then the next one.
    fn act<'r: 'e>(
        &mut self,
        number: usize,
        acts: &'e [Act],
        matched: &[usize],
        report: &mut Report<'r>,
    ) -> std::result::Result<(), String> {
        let Applied { file, .. } = report.rules[number];
        for act in acts {
            for &entity in matched {
                let mut stored = std::mem::take(&mut self.stored);
                let (changed, counts) = (self.change(entity), &mut report.rules[number].pairs);
                let before = size(&changed.pairs);
                let done = act.apply(&mut changed.pairs, None, (&file.name, &mut stored), number, counts);
                let after = size(&changed.pairs);
                if done.is_ok() {
                    changed.by = Some(number);
                }
                self.stored = stored;
                done.map_err(|why| format!("#{entity}: {why} (line {})", act.at.line))?;
                self.grow(before, after)?;
            }
        }
        matched.iter().for_each(|entity| self.find_again(*entity, number));
        Ok(())
    }

    /// Adds an entity whose values may refer to those of another one.
    fn add_for<'r: 'e>(
        &mut self,
        number: usize,
        class: &'e [u8],
        acts: &'e [Act],
        of: Option<usize>,
        report: &mut Report<'r>,
    ) -> std::result::Result<(), String> {
        let file = report.rules[number].file;
        // Rules that match what they added would double the entities each time.
        if self.changed.len() >= MOST_ENTITIES {
            return Err(format!("the map would have more than {MOST_ENTITIES} entities"));
        }
        let of = of.map(|of| self.change(of).pairs.clone());
        let mut pairs = vec![Pair::new(b"classname", class, number)];
        let mut counts = PairCounts::default();
        for act in acts {
            let stored = (&file.name[..], &mut self.stored);
            let done = act.apply(&mut pairs, of.as_deref(), stored, number, &mut counts);
            done.map_err(|why| format!("the added entity: {why} (line {})", act.at.line))?;
        }
        self.add(number, pairs, report)
    }

    /// Counts what an entity has grown by.
    ///
    /// # Errors
    /// All entities together have grown too much.
    fn grow(&mut self, before: usize, after: usize) -> std::result::Result<(), String> {
        self.growth = (self.growth + after).saturating_sub(before);
        match self.growth > MOST_GROWTH {
            true => Err("the rules would write more than any text of entities may have".to_owned()),
            false => Ok(()),
        }
    }

    /// An entity, to change its pairs.
    fn change(&mut self, entity: usize) -> &mut Changed<'e> {
        let old = &self.old;
        self.changed[entity].get_or_insert_with(|| {
            let pair = |(at, pair): (usize, bspkit::content::entities::Pair<'e>)| Pair {
                key: pair.key.into(),
                value: pair.value.into(),
                origin: Some(short(at)),
                by: None,
            };
            Changed { pairs: old[entity].pairs().enumerate().map(pair).collect(), by: None }
        })
    }

    /// The entities of these numbers that rules changed or added, and that are still there.
    fn changed(&self, numbers: impl RangeBounds<usize>) -> impl Iterator<Item = (usize, &Changed<'e>)> {
        let (start, end) = (numbers.start_bound().cloned(), numbers.end_bound().cloned());
        let all = self.changed.iter().enumerate().filter(move |(number, _)| (start, end).contains(number));
        let all = all.filter_map(|(number, changed)| Some((number, changed.as_ref()?)));
        all.filter(|(number, _)| !self.removed.contains_key(number))
    }

    /// The numbers of the entities that are there after the rules, in their order.
    pub(super) fn kept(&self) -> Vec<usize> {
        (0..self.changed.len()).filter(|number| !self.removed.contains_key(number)).collect()
    }

    /// The rule that wrote a pair of an entity, by its number after the rules.
    pub(super) fn writer(&self, entity: usize, pair: usize) -> Option<usize> {
        self.changed[entity].as_ref()?.pairs.get(pair)?.by.map(index)
    }

    /// The names that entities had before the rules, as games compare them, with the last rule that removed or changed
    /// one.
    pub(super) fn takers(&self, rules: &EntityRules) -> BTreeMap<Vec<u8>, usize> {
        let mut takers = BTreeMap::new();
        for entity in &self.old {
            let number = entity.index();
            let by = || self.changed[number].as_ref().and_then(|changed| changed.by);
            let Some(rule) = self.removed.get(&number).copied().or_else(by) else { continue };
            for pair in entity.pairs().filter(|pair| is_name(pair.key)) {
                let last = takers.entry(rules.as_found(pair.value)).or_insert(rule);
                *last = rule.max(*last);
            }
        }
        takers
    }

    fn holds(&self, entity: usize, on: &Match, hides_empty: bool) -> Option<bool> {
        match &self.changed[entity] {
            Some(changed) => {
                let seen = changed.pairs.iter().filter(|pair| pair.is_seen(hides_empty));
                on.holds(seen.map(|pair| (&pair.key[..], &pair.value[..])))
            }
            None => {
                let seen = self.old[entity].pairs().filter(|pair| !hides_empty || !is_empty(pair.key, pair.value));
                on.holds(seen.map(|pair| (pair.key, pair.value)))
            }
        }
    }

    fn list(&mut self, number: usize, entity: usize, report: &mut Report<'_>) {
        let applied = &mut report.rules[number];
        applied.count += 1;
        if self.listed < MOST_LISTED {
            self.listed += 1;
            applied.matched.push(entity);
        }
        report.entities.entry(entity).or_insert_with(|| self.who(entity));
    }

    fn who(&self, entity: usize) -> Who {
        let value = |key: &[u8]| match &self.changed[entity] {
            Some(changed) => {
                let mut pairs = changed.pairs.iter();
                pairs.find(|pair| pair.key.eq_ignore_ascii_case(key)).map(|pair| pair.value.to_vec())
            }
            None => self.old[entity].get(key).map(<[u8]>::to_vec),
        };
        Who { is_new: entity >= self.old.len(), class: value(b"classname"), name: value(b"targetname") }
    }

    fn add(&mut self, number: usize, pairs: Vec<Pair<'e>>, report: &mut Report<'_>) -> std::result::Result<(), String> {
        let (entity, len, after) = (self.changed.len(), pairs.len(), size(&pairs));
        self.changed.push(Some(Changed { pairs, by: Some(number) }));
        self.find_again(entity, number);
        self.list(number, entity, report);
        report.rules[number].pairs.added += len;
        self.grow(0, after)
    }

    /// Adds the pairs of an entity to the finder that a rule wrote, with the others of their keys, which are counted.
    fn find_again(&mut self, entity: usize, by: usize) {
        let Some(Changed { pairs, .. }) = &self.changed[entity] else { return };
        let is_new = |pair: &Pair<'_>| pair.by.map(index) == Some(by);
        let new: Vec<&Pair<'_>> = pairs.iter().filter(|pair| is_new(pair) && self.finder.has(&pair.key)).collect();
        let is_of_new = |pair: &&Pair<'_>| match &new[..] {
            [only] => only.key.eq_ignore_ascii_case(&pair.key),
            _ => true,
        };
        if !new.is_empty() {
            let rows = pairs.iter().filter(is_of_new).map(|pair| (&*pair.key, &*pair.value, is_new(pair)));
            self.finder.add(entity, rows);
        }
    }

    fn modify(
        &mut self,
        number: usize,
        entity: usize,
        steps: &'e [Step],
        hides_empty: bool,
        applied: &mut Applied<'_>,
    ) -> std::result::Result<(), String> {
        let changed = self.change(entity);
        let counts = applied.pairs;
        let (mut before, mut after) = (0, 0);
        for step in steps {
            let (gone, new) = step.apply(&mut changed.pairs, number, hides_empty, &mut applied.pairs);
            (before, after) = (before + gone, after + new);
        }
        if counts == applied.pairs {
            return Ok(());
        }
        changed.by = Some(number);
        self.find_again(entity, number);
        self.grow(before, after)
    }
}

impl<'w> Pair<'w> {
    /// A pair that a rule adds.
    fn new(key: &'w [u8], value: &'w [u8], by: usize) -> Self {
        Pair { key: key.into(), value: value.into(), origin: None, by: Some(short(by)) }
    }

    /// Whether rules see it: the program whose rules they are may leave out empty pairs of the map, but not those that
    /// rules wrote.
    pub(super) fn is_seen(&self, hides_empty: bool) -> bool {
        !hides_empty || self.by.is_some() || !is_empty(&self.key, &self.value)
    }

    /// What it takes, with what it takes beside its bytes.
    pub(super) fn size(&self) -> usize {
        self.key.len() + self.value.len() + PAIR
    }
}

impl Step {
    /// Changes the pairs of an entity; counts those that were removed, changed and added. Returns what the pairs took
    /// that are gone, and what the new ones take.
    fn apply<'w>(
        &'w self,
        pairs: &mut Vec<Pair<'w>>,
        number: usize,
        hides_empty: bool,
        counts: &mut PairCounts,
    ) -> (usize, usize) {
        let is_seen = |pair: &Pair<'_>| pair.is_seen(hides_empty);
        let (mut gone, mut new) = (0, 0);
        let mut set = |pair: &mut Pair<'w>, value: &'w [u8]| {
            if *pair.value != *value {
                gone += pair.value.len();
                new += value.len();
                (pair.value, pair.by) = (value.into(), Some(short(number)));
                counts.set += 1;
            }
        };
        let added = match self {
            Step::Delete(tests) => {
                let before = pairs.len();
                let is_hit = |pair: &Pair<'_>| tests.iter().any(|test| test.passes(&pair.key, &pair.value));
                pairs.retain(|pair| {
                    let stays = !is_seen(pair) || !is_hit(pair);
                    gone += if stays { 0 } else { pair.size() };
                    stays
                });
                counts.removed += before - pairs.len();
                None
            }
            Step::Replace { pairs: new, is_exact } => {
                for pair in pairs.iter_mut().filter(|pair| is_seen(pair)) {
                    if let Some(new) = new.iter().find(|new| same(&new.key, &pair.key, *is_exact)) {
                        set(pair, &new.value);
                    }
                }
                None
            }
            Step::Insert(pair) => Some(pair),
            Step::Outputs { tests, key, parts } => {
                return outputs::change(pairs, tests, (key.as_deref(), parts), (number, hides_empty), counts);
            }
            Step::Set { pair: new, is_exact } => {
                let mut is_there = false;
                for pair in pairs.iter_mut().filter(|pair| same(&new.key, &pair.key, *is_exact)) {
                    is_there = true;
                    set(pair, &new.value);
                }
                (!is_there).then_some(new)
            }
        };
        if let Some(added) = added {
            let pair = Pair::new(&added.key, &added.value, number);
            new += pair.size();
            pairs.push(pair);
            counts.added += 1;
        }
        (gone, new)
    }
}

fn is_empty(key: &[u8], value: &[u8]) -> bool {
    key.is_empty() || value.is_empty()
}

/// What pairs take, with what they take beside their bytes.
fn size(pairs: &[Pair<'_>]) -> usize {
    pairs.iter().map(Pair::size).sum()
}

fn same(one: &[u8], other: &[u8], is_exact: bool) -> bool {
    if is_exact { one == other } else { one.eq_ignore_ascii_case(other) }
}

// What rules did, as edits of the text: each entity once, with all of its changes, then additions and removals.
//
// An entity may pass through a state that no engine reads, such as one without a class between a deletion and an
// insertion. Only the result is checked.

/// An edit that is refused, and the rule that wants it, by its number in the report.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    pub(super) rule: Option<usize>,
}

impl Failure {
    /// The error with the place of the rule.
    pub(super) fn named(self, report: &Report<'_>) -> Error {
        match self.rule.and_then(|rule| report.rules.get(rule)) {
            Some(applied) => {
                let (file, at) = (&applied.file.name, applied.rule.at);
                let message = format!("the rule at {file}:{at} cannot be applied");
                Error::new(self.error.kind(), message).with_source(self.error)
            }
            None => self.error,
        }
    }
}

/// The entities after the rules; `None` if nothing changes.
pub(super) fn edited<'a>(work: &Work<'_>, old: &Entities<'a>) -> std::result::Result<Option<Entities<'a>>, Failure> {
    let mut entities = old.clone();
    let by = |rule: Option<&usize>| {
        let rule = rule.copied();
        move |error: Error| Failure { error, rule }
    };
    for (number, Changed { pairs, by: rule }) in work.changed(..work.old.len()) {
        let mut last = *rule;
        let mut entity = entities.get_mut(number).map_err(by(last.as_ref()))?;
        let done = entity.all_at_once(|entity| write(entity, pairs, work.old[number].pairs().len(), &mut last));
        done.map_err(by(last.as_ref()))?;
    }
    for (_, Changed { pairs, by: rule }) in work.changed(work.old.len()..) {
        let pairs = pairs.iter().map(|pair| (&*pair.key, &*pair.value));
        entities.add(pairs).map_err(by(rule.as_ref()))?;
    }
    let removed: Vec<usize> = work.removed.keys().copied().filter(|number| *number < work.old.len()).collect();
    if !removed.is_empty() {
        let first = removed.iter().min().and_then(|first| work.removed.get(first));
        entities.remove_all(&removed).map_err(by(first))?;
    }
    if !entities.is_edited() && !old.is_edited() {
        return Ok(None);
    }
    let read = Entities::parse(entities.to_bytes(), *entities.rules()).map_err(by(None))?.len();
    if read != entities.len() {
        let message = format!("the new text would be read as {read} entities instead of {}", entities.len());
        return Err(by(None)(Error::new(ErrorKind::Refused, message)));
    }
    Ok(Some(entities))
}

/// Gives an entity these pairs. Values and additions come first, so that the pairs keep their numbers, and new pairs
/// their neighbours' style. After an error `by` is the rule.
fn write(entity: &mut EntityMut<'_, '_>, pairs: &[Pair<'_>], before: usize, by: &mut Option<usize>) -> Result<()> {
    let last = *by;
    let old = entity.entity();
    let old: Vec<&[u8]> = old.pairs().map(|pair| pair.value).collect();
    let is_new = |pair: &&Pair<'_>| pair.by.is_some() && pair.origin().is_none_or(|origin| *old[origin] != *pair.value);
    for pair in pairs.iter().filter(is_new) {
        *by = pair.by.map(index);
        entity.check_pair(pair.origin.is_none().then_some(&pair.key), &pair.value)?;
    }
    *by = last;
    let mut is_kept = vec![false; before];
    pairs.iter().filter_map(Pair::origin).for_each(|origin| is_kept[origin] = true);
    let written = |pair: &'_ Pair<'_>| pair.by.and(pair.origin()).is_some();
    let written = pairs.iter().filter(|pair| written(pair));
    let written: Vec<_> = written.filter_map(|pair| Some((pair.origin()?, &*pair.value))).collect();
    entity.set_values(&written)?;
    let added = pairs.iter().filter(|pair| pair.origin.is_none()).map(|pair| (&*pair.key, &*pair.value));
    let added: Vec<_> = added.collect();
    if !added.is_empty() {
        entity.push_all(&added)?;
    }
    let removed: Vec<usize> = (0..before).filter(|origin| !is_kept[*origin]).collect();
    entity.remove_pairs(&removed)
}
