//! `rules lint`: finds mistakes in rule files.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use bspkit::face::report::Head;
use bspkit::face::rules::{RuleFiles, map_name};
use bspkit::op::check::Severity;
use bspkit::op::rules::{Finding, Lint};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::rule_files::RuleArgs;
use crate::cli::show::{count, json, shown};
use crate::cli::talk::Code;

/// Find mistakes in rule files; with maps, also rules that match nothing or suspiciously much, and files for other maps
///
/// Each finding has a code, a severity and a place. Notes are listed with -v, and in JSON. The exit status is 1 if
/// there is a warning or an error. No map is changed.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit rules lint clean.cfg maps
  bspkit rules lint addons/stripper --mode strict --json"
))]
pub(crate) struct Args {
    /// A rule file, or a folder with global_filters.cfg and maps/NAME.cfg
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Maps to try the rules on, and folders of maps
    #[arg(value_name = "MAP")]
    maps: Vec<PathBuf>,
    #[command(flatten)]
    reading: RuleArgs,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

/// A finding in a file, and the map it is about.
struct Found {
    file: String,
    finding: Finding,
    map: Option<String>,
}

#[derive(Serialize)]
struct Document<'d> {
    #[serde(flatten)]
    head: Head<'d>,
    findings: Vec<FoundJson<'d>>,
}

#[derive(Serialize)]
struct FoundJson<'d> {
    code: &'static str,
    severity: String,
    place: PlaceJson<'d>,
    message: &'d str,
}

#[derive(Serialize)]
struct PlaceJson<'d> {
    file: &'d str,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<&'d str>,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let files = RuleFiles::read(&args.path, args.reading.reading())?;
    let own = |file: &str, finding: Finding| Found { file: file.to_owned(), finding, map: None };
    let mut found: Vec<Found> = Vec::new();
    for rules in files.all() {
        found.extend(rules.findings.iter().cloned().map(|finding| own(&rules.name, finding)));
    }
    let mut failed = Code::Done;
    if !args.maps.is_empty() {
        let named: Vec<&Path> = args.maps.iter().map(PathBuf::as_path).collect();
        let tried = Mutex::new((Lint::default(), Vec::new()));
        failed = Maps::find(&named).each(cx, |map, job| {
            let name = map_name(&map.path);
            let entities = cx.open(&map.path)?.entities()?;
            let mut lint = Lint::default();
            let suspicious = lint.try_on(&files.of(&name), &entities, &name);
            let mut tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
            tried.0.join(lint);
            let with_map = |(file, finding)| Found { file, finding, map: Some(job.path.clone()) };
            tried.1.extend(suspicious.into_iter().map(with_map));
            Ok(Code::Done)
        })?;
        let (lint, suspicious) = tried.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.extend(suspicious);
        for rules in files.all() {
            found.extend(lint.unmatched(rules).into_iter().map(|finding| own(&rules.name, finding)));
        }
    }
    let order = |it: &Found| (it.file.clone(), it.finding.at, it.finding.code.name, it.map.clone());
    found.sort_by_cached_key(order);
    print(cx, args, &found)?;
    let is_found = found.iter().any(|it| it.finding.code.severity > Severity::Note);
    Ok(failed.max(if is_found { Code::Found } else { Code::Done }))
}

fn print(cx: &Context, args: &Args, found: &[Found]) -> Result<()> {
    if args.json {
        let findings = found.iter().map(|Found { file, finding, map }| FoundJson {
            code: finding.code.name,
            severity: finding.code.severity.to_string(),
            place: PlaceJson { file, line: finding.at.line, column: finding.at.column, map: map.as_deref() },
            message: &finding.message,
        });
        let mut text = json(&Document { head: Head::new(&args.path), findings: findings.collect() }, false)?;
        text.push(b'\n');
        cx.talk.stdout(&text)?;
        return Ok(());
    }
    let mut text = String::new();
    for Found { file, finding, map } in found {
        let severity = finding.code.severity;
        if severity > Severity::Note || cx.talk.verbose {
            let map = map.as_ref().map(|map| format!(" ({map})")).unwrap_or_default();
            text += &format!("{file}:{}: {severity}[{}]: {}{map}\n", finding.at, finding.code.name, finding.message);
        }
    }
    cx.talk.stdout(text.as_bytes())?;
    if !cx.talk.quiet {
        let number = |severity| found.iter().filter(|it| it.finding.code.severity == severity).count();
        let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
        let what = match (errors, warnings) {
            (0, 0) => "nothing wrong".to_owned(),
            _ => format!("{}, {}", count(errors, "error", "errors"), count(warnings, "warning", "warnings")),
        };
        cx.talk.stderr(format!("{}: {what}\n", shown(&args.path)).as_bytes());
    }
    Ok(())
}
