//! `ent apply`: applies rule files to the entities.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use bspkit::content::entities::Entities;
use bspkit::face::rules::{RuleFiles, map_name, record};
use bspkit::file::replace;
use bspkit::op::check::Severity;
use bspkit::op::rules::{self, Action, Application, Applied, Known, Past, Record, Report, Rules, State};
use bspkit::{Bsp, Error, ErrorKind, SaveOptions};
use serde::Serialize;

use super::select::refuse_cut;
use crate::cli::context::{Context, is_stdin};
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::rule_files::RuleArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown, text_and_raw};
use crate::cli::talk::Code;

/// The most entities of a rule that are listed as text.
const LISTED: usize = 10;

/// Apply rule files to the entities, such as those of Stripper:Source
///
/// Files of stripper_qmm, Lazyripent2 and StripperCS2 are read too. A map is changed by all of its rules or, after an
/// error, by none. With -v, --dry-run and --json the report lists what each rule matched and did. The exit status is 1
/// if no rule matches.
///
/// Applying twice is once: MAP.rules.json beside the saved map records the rules, and `rules status` prints them. Rules
/// that were added at the end of the files are applied alone. Without the record, what rules would add is looked for in
/// the map. Where it cannot be known whether rules were applied, the map is refused, unless --again is given.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent apply dm4.bsp --rules clean.cfg -o out.bsp
  bspkit ent apply maps --rules addons/stripper -o edited
  bspkit ent apply maps --rules clean.cfg --mode strict --require-matches --dry-run
  bspkit ent apply dm4.bsp --rules triggers.rule -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// A rule file, or a folder with global_filters.cfg and maps/NAME.cfg; of the latter those apply whose names are
    /// the map's name or its beginning before an underscore, the shortest first
    #[arg(long, value_name = "PATH")]
    rules: PathBuf,
    #[command(flatten)]
    reading: RuleArgs,
    /// Refuse a map in which a rule matches nothing
    #[arg(long)]
    require_matches: bool,
    /// Apply all rules, also those that were applied to the map before
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    save: Save,
}

#[derive(Serialize)]
struct RuleJson<'r> {
    file: &'r str,
    line: usize,
    action: &'static str,
    count: usize,
    entities: Vec<EntityJson<'r>>,
    pairs: PairsJson,
}

#[derive(Serialize)]
struct EntityJson<'r> {
    index: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    added: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<std::borrow::Cow<'r, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targetname: Option<std::borrow::Cow<'r, str>>,
}

#[derive(Serialize)]
struct PairsJson {
    removed: usize,
    set: usize,
    added: usize,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.spare(&args.rules)?;
    let files = RuleFiles::read(&args.rules, args.reading.reading())?;
    warn_of_findings(cx, &files);
    let done = Mutex::new(Vec::new());
    let code = args.save.each(cx, args.maps.find(), |draft, map, job| {
        let name = map_name(&map.path);
        let files = files.usable(&name)?;
        let baked = Baked::of(draft.bsp(), &map.path, &files, &name)?;
        refuse_cut(draft.bsp(), job)?;
        let entities = draft.entities()?;
        if args.save.force {
            entities.for_any_engine();
        }
        let cannot = || format!("cannot apply {}", shown(&args.rules));
        let (from, attempt) = match if args.again { Past::Open(0) } else { baked.past(&files, entities, &name) } {
            Past::Open(from) => (from, rules::attempt(files, from.., entities, &name).with_context(cannot)?),
            Past::Done(why) => {
                job.say(&format!("{}: not applied again: {why}; --again applies them", job.path));
                if job.json {
                    job.extra.insert("already".to_owned(), why.into());
                }
                baked.keep(map.target.as_deref(), &done);
                return Ok(Edited::Same);
            }
            Past::Unknown(why) => {
                let hint = "apply them to the map as it was before, or use --again to apply all of them to this one";
                return Err(Error::new(
                    ErrorKind::Refused,
                    format!("it cannot be known whether to apply {} again: {why}", shown(&args.rules)),
                )
                .with_hint(hint)
                .into());
            }
        };
        let report = attempt.report;
        if args.require_matches {
            require(&report)?;
        }
        if job.json {
            let rules = report.rules.iter().map(|applied| rule_json(applied, &report)).collect::<Vec<_>>();
            job.extra.insert("rules".to_owned(), serde_json::to_value(rules)?);
        } else {
            for applied in &report.rules {
                let line = format!("{}: {}", job.path, line(applied, &report));
                match args.save.dry_run {
                    true => job.line(line),
                    false if job.talk.verbose => job.say(&line),
                    false => {}
                }
            }
        }
        let matching = report.rules.iter().filter(|applied| applied.count > 0).count();
        if matching == 0 {
            return Ok(Edited::Nothing(format!("{}: no rule matches", job.path)));
        }
        let rules = count(report.rules.len(), "rule", "rules");
        let mut what = format!("{matching} of {rules} matched {}", count(report.matched(), "entity", "entities"));
        if from > 0 {
            what += &format!("; applied before: {}", count(from, "rule", "rules"));
        }
        if let Some(new) = attempt.entities {
            *entities = new;
        }
        baked.add(from, &entities.to_bytes(), map.target.as_deref(), &done);
        Ok(Edited::With { what, is_whole: true })
    })?;
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !args.save.dry_run {
        done.iter().for_each(|done| done.write(cx));
    }
    Ok(code)
}

/// What is known of a map and the rules for it.
struct Baked {
    record: Record,
    state: State,
    rules: Vec<Known>,
}

/// The record of a map that is to be saved.
struct NewRecord {
    map: PathBuf,
    record: Record,
    after: String,
}

impl Baked {
    fn of(bsp: &Bsp<'_>, map: &Path, files: &[&Rules], name: &str) -> Result<Self> {
        let record = if is_stdin(map) { Record::default() } else { record::read(map)? };
        Ok(Baked { record, state: State::of(bsp)?, rules: rules::known(files.iter().copied(), name) })
    }

    fn past(&self, files: &[&Rules], entities: &Entities<'_>, name: &str) -> Past {
        self.record.past(&self.state, &self.rules, |part| {
            let attempt = rules::attempt(files.iter().copied(), part, entities, name);
            attempt.ok().map(|attempt| attempt.effect)
        })
    }

    /// Keeps the record for a copy.
    fn keep(self, target: Option<&Path>, done: &Mutex<Vec<NewRecord>>) {
        let text_sum = self.state.entities.clone();
        self.put(None, text_sum, target, done);
    }

    /// Adds the rules from this one on to the record of the target.
    fn add(self, from: usize, text: &[u8], target: Option<&Path>, done: &Mutex<Vec<NewRecord>>) {
        let after = self.state.with_entities(text).entities;
        self.put(Some(from), after, target, done);
    }

    fn put(self, from: Option<usize>, after: String, target: Option<&Path>, done: &Mutex<Vec<NewRecord>>) {
        let Some(map) = target.filter(|map| !is_stdin(map)) else { return };
        let mut applied = self.record.in_map(&self.state).0.to_vec();
        let from = from.or(applied.is_empty().then_some(0));
        if let Some(from) = from {
            let (rules, before) = (self.rules[from..].to_vec(), self.state.entities);
            applied.push(Application { rules, before, after: after.clone() });
        }
        let record = Record { build: self.state.build, applied };
        let new = NewRecord { map: map.to_path_buf(), record, after };
        done.lock().unwrap_or_else(PoisonError::into_inner).push(new);
    }
}

impl NewRecord {
    /// Writes the record, if the file has the entities that it tells of.
    fn write(&self, cx: &Context) {
        let is_saved =
            cx.open(&self.map).and_then(|bsp| Ok(State::of(&bsp)?)).is_ok_and(|now| now.entities == self.after);
        let path = record::path(&self.map);
        let text = record::write(&self.record);
        if !is_saved || std::fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
            return;
        }
        if let Err(error) = replace(&path, &SaveOptions::default(), |mut file| file.write_all(text.as_bytes())) {
            let text = format!("{}: the rules are applied and not recorded: {error}", shown(&self.map));
            cx.talk.stderr(cx.talk.warning(&text).as_bytes());
        }
    }
}

/// Says how much of each file is not read as it looks; `rules lint` lists it.
fn warn_of_findings(cx: &Context, files: &RuleFiles) {
    for file in files.all().into_iter().filter(|file| file.refusal().is_none()) {
        let of = |severity| file.findings.iter().filter(|found| found.code.severity == severity).count();
        let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
        if errors + warnings > 0 {
            let [errors, warnings] = [count(errors, "error", "errors"), count(warnings, "warning", "warnings")];
            let text = format!("{}: {errors}, {warnings}; `bspkit rules lint` lists them", file.name);
            cx.talk.stderr(cx.talk.warning(&text).as_bytes());
        }
    }
}

/// Refuses a map in which a rule matches nothing.
fn require(report: &Report<'_>) -> Result<()> {
    let unmatched: Vec<String> = report.unmatched().collect();
    match unmatched.split_first() {
        None => Ok(()),
        Some((first, rest)) => {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
            let error = Error::new(ErrorKind::Refused, format!("the rule at {first} matches nothing{more}"));
            Err(if rest.is_empty() { error } else { error.with_hint(rest.join("\n")) }.into())
        }
    }
}

fn verb(action: &Action) -> [&'static str; 2] {
    match action {
        Action::Remove => ["remove", "removes"],
        Action::Add(_) | Action::AddFor(..) => ["add", "adds"],
        _ => ["modify", "changes"],
    }
}

fn rule_json<'r>(applied: &Applied<'r>, report: &'r Report<'_>) -> RuleJson<'r> {
    let entity = |index: &usize| {
        let who = report.entities.get(index);
        let text = |value: Option<&'r Vec<u8>>| value.map(|value| text_and_raw(value).0);
        let (class, name) = who.map_or((None, None), |who| (who.class.as_ref(), who.name.as_ref()));
        let added = who.is_some_and(|who| who.is_new);
        EntityJson { index: *index, added, class: text(class), targetname: text(name) }
    };
    let [removed, set, added] = applied.pairs;
    RuleJson {
        file: &applied.file.name,
        line: applied.rule.at.line,
        action: verb(&applied.rule.action)[0],
        count: applied.count,
        entities: applied.matched.iter().map(entity).collect(),
        pairs: PairsJson { removed, set, added },
    }
}

/// What a rule did, as a line of text.
fn line(applied: &Applied<'_>, report: &Report<'_>) -> String {
    let place = format!("{}:{}", applied.file.name, applied.rule.at.line);
    if applied.count == 0 {
        return format!("{place} matches nothing");
    }
    let shown = |index: &usize| {
        let who = report.entities.get(index);
        let class = who.and_then(|who| who.class.as_deref()).map(|class| format!(" {}", text_and_raw(class).0));
        let name = who.and_then(|who| who.name.as_deref()).map(|name| format!(" `{}`", text_and_raw(name).0));
        format!("#{index}{}{}", class.unwrap_or_default(), name.unwrap_or_default())
    };
    let listed: Vec<String> = applied.matched.iter().take(LISTED).map(shown).collect();
    let rest = applied.count - listed.len();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let pairs = match (&applied.rule.action, applied.pairs) {
        (Action::Modify(_) | Action::Acts(_), [removed, set, added]) => {
            format!(" (pairs: {removed} removed, {set} set, {added} added)")
        }
        _ => String::new(),
    };
    let entities = count(applied.count, "entity", "entities");
    format!("{place} {} {entities}{pairs}: {}{more}", verb(&applied.rule.action)[1], listed.join(", "))
}
