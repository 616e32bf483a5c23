//! `ent apply`: applies rule files to the entities.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use bspkit::face::rules::{Bake, RuleFiles, Tried, map_name, save};
use bspkit::op::check::Severity;
use bspkit::op::rules::{Action, Applied, Record, Report, State};
use bspkit::{Error, ErrorKind};
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
        let path = Some(&*map.path).filter(|path| !is_stdin(path));
        let bake = Bake::of(draft.bsp(), path, files.usable(&name)?, &name)?;
        refuse_cut(draft.bsp(), job)?;
        let entities = draft.entities()?;
        if args.save.force {
            entities.for_any_engine();
        }
        let cannot = || format!("cannot apply {}", shown(&args.rules));
        let (from, attempt) = match bake.attempt(entities, args.again).with_context(cannot)? {
            Tried::Open { from, attempt } => (from, attempt),
            Tried::Done(why) => {
                job.say(&format!("{}: not applied again: {why}; --again applies them", job.path));
                if job.json {
                    job.extra.insert("already".to_owned(), why.into());
                }
                keep(bake.with(None, &entities.to_bytes()), map.target.as_deref(), &done);
                return Ok(Edited::Same);
            }
            Tried::Unknown(why) => {
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
        keep(bake.with(Some(from), &entities.to_bytes()), map.target.as_deref(), &done);
        Ok(Edited::With { what, is_whole: true })
    })?;
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !args.save.dry_run {
        done.iter().for_each(|done| done.write(cx));
    }
    Ok(code)
}

/// The record of a map that is to be saved.
struct NewRecord {
    map: PathBuf,
    record: Record,
    after: String,
}

/// Keeps the record for a map that is saved.
fn keep(bake: Bake<'_>, target: Option<&Path>, done: &Mutex<Vec<NewRecord>>) {
    let Some(map) = target.filter(|map| !is_stdin(map)) else { return };
    let (record, state) = bake.into_record();
    let new = NewRecord { map: map.to_path_buf(), record, after: state.entities };
    done.lock().unwrap_or_else(PoisonError::into_inner).push(new);
}

impl NewRecord {
    /// Writes the record, if the file has the entities that it tells of.
    fn write(&self, cx: &Context) {
        let is_saved =
            cx.open(&self.map).and_then(|bsp| Ok(State::of(&bsp)?)).is_ok_and(|now| now.entities == self.after);
        if !is_saved {
            return;
        }
        if let Err(error) = save(&self.map, &self.record) {
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
