//! Rules that were applied before: what a record says of them, and what can be seen without one.
//!
//! Rules that add entities or pairs, and those that calculate, do it again each time. So a record beside the map says
//! which rules were applied, and sums of the entities say whether the map is still what it was then. Without a record,
//! or if the map was edited since, what the rules would add is looked for in the map.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use md5::{Digest, Md5};

use super::lazyripent::Verb;
use super::{Action, Effect, Expected, Rule, Rules, Step, Test, rules_for};
use bspkit::Bsp;
use bspkit::Result;
use bspkit::dialect::Role;

/// A rule as a record knows it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Known {
    /// The name of its file, without folders.
    pub file: String,
    /// Its line.
    pub line: usize,
    /// A sum of what it says, without its place and the comments around it.
    pub sum: String,
    /// Whether it adds something, or calculates, each time it is applied.
    pub adds: bool,
}

/// Rules that were applied to a map together.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Application {
    /// The rules in their order.
    pub rules: Vec<Known>,
    /// The sum of the entities before.
    pub before: String,
    /// The sum of the entities after.
    pub after: String,
}

/// What was applied to a map, in its order.
///
/// ```
/// use bspkit_rules::{Past, Record, State};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let now = State::of(&map)?;
/// assert_eq!(Record::default().past(&now, &[], |_| None), Past::Open(0));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// The sum of the planes, by which a map that was compiled again is known.
    pub build: String,
    /// What was applied.
    pub applied: Vec<Application>,
}

/// Which map it is, by sums.
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let state = bspkit_rules::State::of(&map)?;
/// assert_ne!(state.with_entities(b"{}").entities, state.entities);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The sum of the entities.
    pub entities: String,
    /// The sum of the planes.
    pub build: String,
}

/// What is known of rules and a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Past {
    /// The rules from this one on were not applied.
    Open(usize),
    /// All of them were applied, as the sentence says.
    Done(String),
    /// It cannot be known, for the reason in the sentence.
    Unknown(String),
}

/// How far a map is the one of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Its entities are as they were after the last application.
    Same,
    /// Its entities were edited since.
    Edited,
    /// It was compiled again, or nothing of the record was applied to it.
    Other,
}

/// The rules of some files that are for a map, as a record knows them.
pub fn known<'r>(files: impl IntoIterator<Item = &'r Rules>, map: &str) -> Vec<Known> {
    let of = |(file, rule): (&Rules, &Rule)| Known {
        file: file.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
        line: rule.at.line,
        sum: hex(&rule.said()),
        adds: rule.adds(),
    };
    rules_for(files, map).map(of).collect()
}

impl State {
    /// The state of a map.
    ///
    /// # Errors
    /// Its entities or planes cannot be read.
    pub fn of(bsp: &Bsp<'_>) -> Result<Self> {
        let sum = |role| bsp.role(role).map_or(Ok(String::new()), |slot| bsp.bytes(slot.id).map(|bytes| hex(&bytes)));
        Ok(State { entities: sum(Role::Entities)?, build: sum(Role::Planes)? })
    }

    /// The state with other entities.
    #[must_use]
    pub fn with_entities(&self, text: &[u8]) -> Self {
        State { entities: hex(text), build: self.build.clone() }
    }
}

impl Record {
    /// A sum of all that the record says: which map it is of cannot be seen in each of its sums alone.
    pub fn checksum(&self) -> String {
        let mut said = Said(Vec::new());
        said.word(&self.build);
        said.list(&self.applied, |said, one| {
            said.list(&one.rules, |said, rule| {
                let (line, adds) = (rule.line.to_string(), rule.adds.to_string());
                [&rule.file, &line, &rule.sum, &adds].into_iter().for_each(|word| said.word(word));
            });
            said.pair(one.before.as_bytes(), one.after.as_bytes());
        });
        hex(&said.0)
    }

    /// What of the record is in the map, and how sure that is.
    ///
    /// A record is written before its map. If the map was not written then, or two programs applied rules to the same
    /// entities, the record has applications that came to nothing: those after which no others, and not the map, go on.
    pub fn in_map(&self, now: &State) -> (Vec<Application>, Since) {
        let befores: HashSet<&str> = self.applied.iter().map(|one| &one.before[..]).collect();
        let goes_on = |one: &Application| one.after == now.entities || befores.contains(&one.after[..]);
        // Of several that began with the same entities those count that others go on from, or else the last one.
        let mut counts: HashMap<&str, (bool, usize)> = HashMap::new();
        for (number, one) in self.applied.iter().enumerate() {
            let best = counts.entry(&one.before).or_default();
            *best = (*best).max((goes_on(one), number));
        }
        let counts = |(number, one): &(usize, &Application)| {
            counts.get(&one.before[..]).is_none_or(|(on, last)| if *on { goes_on(one) } else { last == number })
        };
        let all = self.applied.iter().enumerate().filter(counts);
        let all: Vec<Application> = all.map(|(_, one)| one.clone()).collect();
        let (number, since) = self.last(&all, now);
        (all.into_iter().take(number).collect(), since)
    }

    /// How many of these applications are in the map.
    fn last(&self, all: &[Application], now: &State) -> (usize, Since) {
        if let Some(last) = all.iter().rposition(|one| one.after == now.entities) {
            return (last + 1, Since::Same);
        }
        if let Some(first) = all.iter().position(|one| one.before == now.entities) {
            return (first, if first == 0 { Since::Other } else { Since::Edited });
        }
        match self.build == now.build {
            true if !all.is_empty() => (all.len(), Since::Edited),
            _ => (0, Since::Other),
        }
    }

    /// Puts what is recorded of the same map by now before what is new, in its order. Nothing is left out: what another
    /// program has written down may still come true.
    pub(crate) fn join(&mut self, now: Record) {
        if now.build == self.build {
            let new: Vec<_> = self.applied.drain(..).filter(|one| !now.applied.contains(one)).collect();
            self.applied = now.applied.into_iter().chain(new).collect();
        }
    }

    /// Whether rules were applied to a map. `try_on` says what a part of them would do to it now, or nothing if they do
    /// not fit.
    pub fn past(&self, now: &State, rules: &[Known], mut try_on: impl FnMut(Range<usize>) -> Option<Effect>) -> Past {
        let (applied, since) = self.in_map(now);
        let applied = &applied[..];
        let (open, used) = matched(applied, rules);
        if open > 0 && since == Since::Edited {
            let what = "the rules are recorded as applied to this map, and its entities were edited since";
            // Rules that add nothing may be applied once more: they do to what is new what they did to the rest.
            let adds = rules[..open].iter().any(|rule| rule.adds);
            match try_on(0..open) {
                Some(Effect { new: 0, .. }) => {}
                _ if !adds => return Past::Open(0),
                Some(Effect { there: 1.., .. }) => {
                    return Past::Unknown(format!("{what}: a part of what they do is there now, and a part is not"));
                }
                _ => return Past::Unknown(format!("{what}: what they add is not there now")),
            }
        }
        if open == rules.len() && open > 0 {
            return Past::Done("the rules are recorded as applied to this map".to_owned());
        }
        let sums: HashMap<&str, &Known> = adding(applied).map(|old| (&old.sum[..], old)).collect();
        let unused = applied.iter().zip(&used).filter(|(_, used)| !**used).map(|(one, _)| one);
        let files: HashMap<&str, &Known> = adding(unused).map(|old| (&old.file[..], old)).collect();
        for rule in &rules[open..] {
            let twice = sums.get(&rule.sum[..]);
            if let Some(old) = twice.or(files.get(&rule.file[..])) {
                let (place, old) = (format!("{}:{}", rule.file, rule.line), format!("{}:{}", old.file, old.line));
                return Past::Unknown(match twice {
                    Some(_) => format!("the rule at {place} is recorded as applied to this map, then at {old}"),
                    None => format!("{} was applied to this map when it had other rules (that at {old})", rule.file),
                });
            }
        }
        match try_on(open..rules.len()) {
            Some(Effect { there: 1.., new: 0 }) => {
                Past::Done("all that the rules would add is in the map already".to_owned())
            }
            Some(Effect { there: there @ 1.., .. }) => Past::Unknown(format!(
                "{there} of the entities and pairs that the rules would add are in the map already, and it has no \
                 record of these rules"
            )),
            _ => Past::Open(open),
        }
    }
}

fn adding<'a>(applied: impl IntoIterator<Item = &'a Application>) -> impl Iterator<Item = &'a Known> {
    applied.into_iter().flat_map(|one| &one.rules).filter(|old| old.adds)
}

/// How many of the first rules are those of applications, and which applications are used for that.
fn matched(applied: &[Application], rules: &[Known]) -> (usize, Vec<bool>) {
    let (mut open, mut used) = (0, vec![false; applied.len()]);
    let same = |one: &[Known], other: &[Known]| one.iter().map(|it| &it.sum).eq(other.iter().map(|it| &it.sum));
    while open < rules.len() {
        let rest = &rules[open..];
        let length = |one: &Application| one.rules.len().min(rest.len());
        let fits =
            |(_, one): &(usize, &Application)| length(one) > 0 && same(&one.rules[..length(one)], &rest[..length(one)]);
        let unused = applied.iter().enumerate().filter(|(number, _)| !used[*number]);
        let Some((number, one)) = unused.filter(fits).max_by_key(|(_, one)| length(one)) else { break };
        open += length(one);
        used[number] = true;
    }
    (open, used)
}

impl Rule {
    /// Whether it adds something each time, or calculates with what is there.
    fn adds(&self) -> bool {
        match &self.action {
            Action::Add(_) | Action::AddFor(..) => true,
            Action::Remove => false,
            Action::Modify(steps) => steps.iter().any(|step| matches!(step, Step::Insert(_))),
            Action::Acts(acts) => acts.iter().any(|act| {
                let is_state =
                    matches!(act.verb, Verb::Replace | Verb::Remove | Verb::BitSet | Verb::BitClear | Verb::Store);
                !is_state || act.value.contains(&b'{')
            }),
        }
    }

    /// What it says, as bytes that are equal for equal rules alone.
    fn said(&self) -> Vec<u8> {
        let mut said = Said(Vec::new());
        said.list(&self.maps, |said, map| said.bytes(map.to_ascii_lowercase().as_bytes()));
        said.word(&format!("{:?}", self.on.need));
        said.tests(&self.on.tests);
        match &self.action {
            Action::Remove => said.word("remove"),
            Action::Add(pairs) => {
                said.word("add");
                said.list(pairs, |said, pair| said.pair(&pair.key, &pair.value));
            }
            Action::Modify(steps) => {
                said.word("modify");
                said.list(steps, Said::step);
            }
            Action::Acts(acts) => {
                said.word("acts");
                said.list(acts, Said::act);
            }
            Action::AddFor(class, acts) => {
                said.word("add for");
                said.bytes(class);
                said.list(acts, Said::act);
            }
        }
        said.0
    }
}

/// Parts with their lengths.
struct Said(Vec<u8>);

impl Said {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes.len().to_string().as_bytes());
        self.0.push(b':');
        self.0.extend_from_slice(bytes);
    }

    fn word(&mut self, word: &str) {
        self.bytes(word.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], one: impl Fn(&mut Said, &T)) {
        self.word(&items.len().to_string());
        items.iter().for_each(|item| one(self, item));
    }

    fn pair(&mut self, key: &[u8], value: &[u8]) {
        self.bytes(key);
        self.bytes(value);
    }

    fn tests(&mut self, tests: &[Test]) {
        self.list(tests, |said, test| {
            said.word(&format!("{} {}", test.is_exact, test.is_negated));
            let (kind, value) = match &test.value {
                Expected::Any => ("any", &b""[..]),
                Expected::Nothing => ("nothing", &b""[..]),
                Expected::Is(value) => ("is", &value[..]),
                Expected::IsExactly(value) => ("is exactly", &value[..]),
                Expected::Like(pattern) => ("like", pattern.text()),
                Expected::Output(pattern) => ("output", pattern.text()),
            };
            said.word(kind);
            said.pair(&test.key, value);
        });
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Delete(tests) => {
                self.word("delete");
                self.tests(tests);
            }
            Step::Replace { pairs, is_exact } => {
                self.word(&format!("replace {is_exact}"));
                self.list(pairs, |said, pair| said.pair(&pair.key, &pair.value));
            }
            Step::Insert(pair) => {
                self.word("insert");
                self.pair(&pair.key, &pair.value);
            }
            Step::Outputs { tests, key, parts } => {
                self.word("outputs");
                self.tests(tests);
                let given = [key].into_iter().chain(parts).enumerate();
                let given: Vec<_> = given.filter_map(|(place, part)| Some((place, part.as_ref()?))).collect();
                self.list(&given, |said, (place, part)| said.pair(place.to_string().as_bytes(), part));
            }
            Step::Set { pair, is_exact } => {
                self.word(&format!("set {is_exact}"));
                self.pair(&pair.key, &pair.value);
            }
        }
    }

    fn act(&mut self, act: &super::lazyripent::Act) {
        self.word(&format!("{:?}", act.verb));
        self.pair(&act.key, &act.value);
    }
}

fn hex(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    /// The sums that md5sum prints of the two lumps, and each of them counts in the checksum of a record.
    #[test]
    fn a_record_tells_the_sums_of_its_map() {
        let state = State::of(&Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap()).unwrap();
        assert_eq!(state.entities, "97424bce22d647665857a878d2fa7d06");
        assert_eq!(state.build, "dbd8e6ac8300ec1e119f3587422fbda7");
        assert_eq!(state.with_entities(b"{}").entities, "99914b932bd37a50b983c5e7c90ae93b");
        let rule = Known { file: "r.cfg".into(), line: 1, sum: "s".into(), adds: true };
        let one = Application { rules: vec![rule], before: "b".into(), after: "a".into() };
        let record = Record { build: "p".into(), applied: vec![one] };
        let faults: [fn(&mut Record); 7] = [
            |record| record.build.push('x'),
            |record| record.applied[0].before.push('x'),
            |record| record.applied[0].after.push('x'),
            |record| record.applied[0].rules[0].sum.push('x'),
            |record| record.applied[0].rules[0].line = 2,
            |record| record.applied[0].rules[0].adds = false,
            |record| record.applied.clear(),
        ];
        for (number, fault) in faults.iter().enumerate() {
            let mut wrong = record.clone();
            fault(&mut wrong);
            assert_ne!(wrong.checksum(), record.checksum(), "fault {number}");
        }
    }
}
