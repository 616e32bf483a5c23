//! What rules do on maps, as findings: rules that match nothing, suspiciously much, or in another way than they look,
//! and names that nothing has after them.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use bspkit::bytes::escaped;
use bspkit::content::entities::Entities;
use bspkit_ops::check::unanswered;

use super::apply::{Work, edited, worked};
use super::{Action, Applied, At, Code, Finding, LEFT, LOOSE, MANY, NO_MAP, NO_MATCH, REFUSED, Rules, TARGET};

/// A map with fewer entities is too small to say that a rule matches much of it.
const FEW: usize = 10;

/// Tries rules on maps; nothing is changed.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
/// use bspkit_rules::{Format, Lint, Mode, Rules};
///
/// let entities = Entities::parse("{ \"classname\" \"worldspawn\" }\n\0", EntityRules::SOURCE)?;
/// let rules = Rules::read("r.cfg", b"{\n\"classname\" \"light\"\n}\n", Format::Stripper, Mode::Plugin);
/// let mut lint = Lint::default();
/// assert!(lint.try_on(&[&rules], &entities, "dm1").is_empty());
/// assert_eq!(lint.unmatched(&rules)[0].code.name, "rule-no-match");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lint {
    /// For each rule that was tried, by file and place, how many entities it matched on all maps.
    matched: BTreeMap<(String, At), usize>,
    /// The rules that were not tried on a map, since one before them, or they themselves, cannot be applied to it.
    untried: BTreeSet<(String, At)>,
    /// The number of maps, and the files that are for them.
    maps: usize,
    files: BTreeSet<String>,
}

impl Lint {
    /// Tries files on the entities of a map, and gives what is suspicious there, with the names of the files.
    pub fn try_on(&mut self, files: &[&Rules], entities: &Entities<'_>, map: &str) -> Vec<(String, Finding)> {
        let (report, work, done) = worked(files.iter().copied(), .., entities, map);
        let tried = match &done {
            Ok(()) => report.rules.len(),
            Err(failure) => failure.rule.unwrap_or(0),
        };
        let done = done.and_then(|()| edited(&work, entities));
        self.maps += 1;
        self.files.extend(files.iter().map(|file| file.name.clone()));
        let mut found = Vec::new();
        for (number, applied) in report.rules.iter().enumerate() {
            let (name, at) = (&applied.file.name, applied.rule.at);
            *self.matched.entry((name.clone(), at)).or_default() += applied.count;
            if number >= tried {
                self.untried.insert((name.clone(), at));
            }
            let mut find = |code, message: String| found.push((name.clone(), Finding { code, at, message }));
            let is_all = applied.matched.first() == Some(&0) && matches!(applied.rule.action, Action::Remove);
            if let Err(failure) = &done
                && failure.rule == Some(number)
            {
                let others = match report.rules.len().saturating_sub(tried + 1) {
                    0 => String::new(),
                    1 => "; the rule after it was not tried".to_owned(),
                    more => format!("; {more} rules after it were not tried"),
                };
                find(REFUSED, format!("the rule cannot be applied: {}{others}", failure.error));
            } else if is_all {
                find(MANY, "the rule matches worldspawn".to_owned());
            } else if entities.len() >= FEW && 2 * applied.count >= entities.len() {
                let message = format!("the rule matches {} of {} entities", applied.count, entities.len());
                find(MANY, message);
            }
            if applied.loose > 0 {
                let message =
                    format!("not every pair of the rule is in {} of the entities that it matches", applied.loose);
                find(LOOSE, message);
            }
        }
        if let Ok(Some(after)) = &done {
            for (rule, code, message) in names(&work, entities, after) {
                let Applied { file, rule, .. } = report.rules[rule];
                found.push((file.name.clone(), Finding { code, at: rule.at, message }));
            }
        }
        found
    }

    /// The rules of a file that matched nothing, and those that are for none of the maps.
    pub fn unmatched(&self, file: &Rules) -> Vec<Finding> {
        if self.maps == 0 {
            return Vec::new();
        }
        if !self.files.contains(&file.name) {
            let (at, message) = (At { line: 1, column: 1 }, "the file is for none of the maps".to_owned());
            return vec![Finding { code: NO_MAP, at, message }];
        }
        let found = |at: At| {
            let (code, message) = match self.matched.get(&(file.name.clone(), at)) {
                None => (NO_MAP, "the rule is for none of the maps"),
                Some(0) if self.untried.contains(&(file.name.clone(), at)) => return None,
                Some(0) => (NO_MATCH, "the rule matches nothing on any of the maps"),
                Some(_) => return None,
            };
            Some(Finding { code, at, message: message.to_owned() })
        };
        file.rules.iter().filter_map(|rule| found(rule.at)).collect()
    }

    /// Adds what another one has tried.
    pub fn join(&mut self, other: Lint) {
        self.maps += other.maps;
        self.untried.extend(other.untried);
        self.files.extend(other.files);
        other.matched.into_iter().for_each(|(rule, count)| *self.matched.entry(rule).or_default() += count);
    }
}

/// The targets and outputs that give a name which no entity has after the rules, with the rule that wrote it, or that
/// took the name away.
fn names(work: &Work<'_>, before: &Entities<'_>, after: &Entities<'_>) -> Vec<(usize, &'static Code, String)> {
    let mut known = HashSet::new();
    unanswered(before, |it| {
        known.insert(before.rules().as_found(it.name));
    });
    let (kept, takers) = (work.kept(), LazyCell::new(|| work.takers(before.rules())));
    let taker = |name: &[u8]| match name.split_last() {
        Some((b'*', start)) => {
            takers.range(start.to_vec()..).next().filter(|(taken, _)| taken.starts_with(start)).map(|(_, rule)| *rule)
        }
        _ => takers.get(name).copied(),
    };
    let (mut found, mut said) = (Vec::new(), HashSet::new());
    unanswered(after, |it| {
        let (key, name, found_as) = (escaped(it.key), escaped(it.name), after.rules().as_found(it.name));
        let writer = kept.get(it.entity).and_then(|entity| work.writer(*entity, it.pair));
        let (rule, code, message) = match writer {
            Some(rule) => {
                (Some(rule), TARGET, format!("the rule writes {key} for `{name}`, and no entity has this name"))
            }
            None if known.contains(&found_as) => return,
            None => {
                (taker(&found_as), LEFT, format!("no entity has the name `{name}` after the rule, and others give it"))
            }
        };
        if let Some(rule) = rule
            && said.insert((rule, found_as))
        {
            found.push((rule, code, message));
        }
    });
    found
}
