//! `ent apply`: applies rule files to the entities.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::face::rules::{RuleFiles, map_name};
use bspkit::op::check::Severity;
use bspkit::op::rules::{self, Action, Applied, Report};
use bspkit::{Error, ErrorKind};
use serde::Serialize;

use crate::cli::context::Context;
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
/// error, by none. A map that no rule matches is left as it is. With -v, --dry-run and --json the report lists what
/// each rule matched and did.
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
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let name = map_name(&map.path);
        let files = files.usable(&name)?;
        let entities = draft.entities()?;
        if args.save.force {
            entities.for_any_engine();
        }
        let report =
            rules::apply(files, entities, &name).with_context(|| format!("cannot apply {}", shown(&args.rules)))?;
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
            job.say(&format!("{}: no rule matches", job.path));
            return Ok(Edited::Same);
        }
        let rules = count(report.rules.len(), "rule", "rules");
        let what = format!("{matching} of {rules} matched {}", count(report.matched(), "entity", "entities"));
        Ok(Edited::With { what, is_whole: true })
    })
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
