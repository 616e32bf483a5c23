//! `rules`: rule files for entities, and how commands read them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use bspkit::disk::input;
use bspkit::finding::Severity;
use bspkit::json::Head;
use bspkit_rules::files::{Reading as RulesReading, RuleFiles, map_name};
use bspkit_rules::record;
use bspkit_rules::{Application, At, Finding, Format, Lint, Mode, Rules, Since, State};
use bspkit_text::patch;
use clap::ValueEnum;
use indexmap::IndexMap;
use serde::Serialize;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};
use crate::context::Report;
use crate::maps::{Maps, Reading};
use crate::output;
use crate::talk::{Few, Job, count, json, shown};

// `rules`: rule files for entities.

/// Check and convert rule files for entities, such as those of Stripper:Source, and print what was applied
///
/// `ent apply` applies them to maps.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit rules lint clean.cfg maps
  bspkit rules convert clean.cfg --to patch
  bspkit rules status maps"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    Lint(LintArgs, run_lint),
    Convert(ConvertArgs, run_convert),
    Status(StatusArgs, run_status),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

// `rules convert`: rules in another format.

/// Convert a rule file to a patch, or a patch or another rule file to Stripper
///
/// What the other format cannot say is listed, and the exit status is 1. A patch means entities as they are before it,
/// and each of its selectors has to match; rules apply one after the other, to whatever matches. `may differ` names a
/// case in which the result does something else, if a map has it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit rules convert clean.cfg --to patch -o clean.json
  bspkit rules convert brighter.json --to stripper"
))]
pub(crate) struct ConvertArgs {
    /// A rule file, or a patch of `ent patch`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    to: To,
    #[command(flatten)]
    reading: RuleArgs,
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// The JSON of `ent patch`
    Patch,
    /// Stripper:Source
    Stripper,
}

fn run_convert(cx: &Context, args: &ConvertArgs) -> Result<Code> {
    let name = shown(&args.file);
    let text = input::read(&args.file)?;
    let is_patch =
        text.trim_ascii_start().starts_with(b"{") && text.windows(14).any(|part| part == b"\"bspkit_patch\"");
    let in_rules = |at: At| format!("{name}:{at}");
    let in_patch = |at: At| format!("{name}: operations[{}]", at.line - 1);
    let (result, lost, doubts, place): (Vec<u8>, _, Vec<_>, &dyn Fn(At) -> String) = match (is_patch, args.to) {
        (true, To::Patch) => bail!("{name} is a patch already"),
        (true, To::Stripper) => {
            let patch = patch::read(&text).with_context(|| format!("cannot read {name}"))?;
            let rules = Rules::from_patch(&name, &patch);
            let printed = rules.result.to_stripper();
            let lost: Vec<_> = rules.lost.into_iter().chain(printed.lost).collect();
            (printed.result, lost, rules.doubts, &in_patch)
        }
        (false, to) => {
            let rules = args.reading.reading().file(&args.file)?;
            if let Some(error) = rules.refusal() {
                return Err(error.into());
            }
            match to {
                To::Patch => {
                    let converted = rules.to_patch()?;
                    let patch = patch::write(&converted.result).into_bytes();
                    (patch, converted.lost, converted.doubts, &in_rules)
                }
                To::Stripper => {
                    let printed = rules.to_stripper();
                    (printed.result, printed.lost, printed.doubts, &in_rules)
                }
            }
        }
    };
    match output::file(args.output.as_ref()) {
        None => _ = cx.talk.stdout(&result)?,
        Some(path) => output::replace(path, [&*args.file], |mut file| file.write_all(&result))?,
    }
    for (at, what) in &lost {
        cx.talk.stderr(format!("cannot be said: {}: {what}\n", place(*at)).as_bytes());
    }
    for (at, doubt) in doubts {
        cx.talk.stderr(format!("may differ: {}: {doubt}\n", place(at)).as_bytes());
    }
    Ok(if lost.is_empty() { Code::Done } else { Code::Found })
}

// `rules lint`: finds mistakes in rule files.

/// Find mistakes in rule files; with maps, also rules that match nothing or suspiciously much, and files for other maps
///
/// Each finding has a code, a severity and a place. Ten of a kind are listed; all and notes with
/// -v, and in JSON. The exit status is 1 if there is a warning or an error. No map is changed.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit rules lint clean.cfg maps
  bspkit rules lint addons/stripper --mode strict --json"
))]
pub(crate) struct LintArgs {
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

#[derive(Serialize)]
struct Document<'d> {
    #[serde(flatten)]
    head: Head<'d>,
    findings: &'d [Found],
}

/// A finding in a file.
#[derive(Serialize)]
struct Found {
    code: &'static str,
    severity: Severity,
    place: FoundAt,
    message: String,
}

/// The place of a finding, and the map it is about.
#[derive(Serialize)]
struct FoundAt {
    file: String,
    #[serde(flatten)]
    at: At,
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<String>,
}

impl Found {
    fn new(file: &str, finding: Finding, map: Option<&str>) -> Self {
        let place = FoundAt { file: file.to_owned(), at: finding.at, map: map.map(str::to_owned) };
        Found { code: finding.code.name, severity: finding.code.severity, place, message: finding.message }
    }
}

fn run_lint(cx: &Context, args: &LintArgs) -> Result<Code> {
    let files = RuleFiles::read(&args.path, args.reading.reading())?;
    let mut found: Vec<Found> = Vec::new();
    for rules in files.all() {
        found.extend(rules.findings.iter().cloned().map(|finding| Found::new(&rules.name, finding, None)));
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
            let with_map = |(file, finding): (String, Finding)| Found::new(&file, finding, Some(&job.path));
            tried.1.extend(suspicious.into_iter().map(with_map));
            Ok(Code::Done)
        })?;
        let (lint, suspicious) = tried.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.extend(suspicious);
        for rules in files.all() {
            found.extend(lint.unmatched(rules).into_iter().map(|finding| Found::new(&rules.name, finding, None)));
        }
    }
    let order = |it: &Found| (it.place.file.clone(), it.place.at, it.code, it.place.map.clone());
    found.sort_by_cached_key(order);
    print(cx, args, &found)?;
    let is_found = found.iter().any(|it| it.severity > Severity::Note);
    Ok(failed.max(if is_found { Code::Found } else { Code::Done }))
}

fn print(cx: &Context, args: &LintArgs, found: &[Found]) -> Result<()> {
    if args.json {
        let mut text = json(&Document { head: Head::new(&args.path), findings: found }, false)?;
        text.push(b'\n');
        cx.talk.stdout(&text)?;
        return Ok(());
    }
    let (mut text, mut few) = (String::new(), Few::new(cx.talk.verbose));
    for Found { code, severity, place: FoundAt { file, at, map }, message } in found {
        if (*severity > Severity::Note || cx.talk.verbose) && few.takes(code) {
            let map = map.as_ref().map(|map| format!(" ({map})")).unwrap_or_default();
            text += &format!("{file}:{at}: {severity}[{code}]: {message}{map}\n");
        }
    }
    few.rest().for_each(|rest| text += &format!("{rest}\n"));
    cx.talk.stdout(text.as_bytes())?;
    if !cx.talk.quiet {
        let number = |severity| found.iter().filter(|it| it.severity == severity).count();
        let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
        let what = match (errors, warnings) {
            (0, 0) => "nothing wrong".to_owned(),
            _ => format!("{}, {}", count(errors, "error", "errors"), count(warnings, "warning", "warnings")),
        };
        cx.talk.stderr(format!("{}: {what}\n", shown(&args.path)).as_bytes());
    }
    Ok(())
}

// `rules status`: the rules that were applied to maps.

/// Print which rules `ent apply` has applied to maps
///
/// The record is MAP.rules.json beside the map. It counts only as long as the map is the one that it tells of.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit rules status dm4.bsp
  bspkit rules status maps --json"
))]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Status {
    state: &'static str,
    #[serde(skip)]
    sentence: &'static str,
    applied: Vec<Application>,
}

impl Report for Status {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let rules: usize = self.applied.iter().map(|one| one.rules.len()).sum();
        let were = if rules == 1 { "rule was" } else { "rules were" };
        match rules {
            0 => job.line(format!("{}: {}", job.path, self.sentence)),
            _ => job.line(format!("{}: {rules} {were} applied, and {}", job.path, self.sentence)),
        }
        for one in &self.applied {
            let mut files: IndexMap<&str, usize> = IndexMap::new();
            one.rules.iter().for_each(|rule| *files.entry(&rule.file).or_default() += 1);
            for (file, rules) in files {
                let file = bspkit::bytes::escaped(file.as_bytes()).to_string();
                job.line(format!("  {file}: {}", count(rules, "rule", "rules")));
            }
        }
        Ok(())
    }
}

fn run_status(cx: &Context, args: &StatusArgs) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let record = record::read(job.file)?;
        let (applied, since) = record.in_map(&State::of(&bsp)?);
        let (state, sentence) = match since {
            _ if record.applied.is_empty() => ("none", "no rules are recorded"),
            Since::Same => ("same", "the entities are as they were after that"),
            Since::Edited => ("edited", "the entities were edited since"),
            Since::Other => {
                ("other", "nothing of the record is in the map: it is another one, or the rules were taken back")
            }
        };
        job.report(&Status { state, sentence, applied })
    })
}

// How commands read rule files.

// How rule files are read. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(crate) struct RuleArgs {
    /// How Stripper files are read: as the plug-in does; strictly, so that whatever the plug-in would ignore is an
    /// error and every pair of a filter has to match; or as Lumper does
    #[arg(long, value_name = "MODE", default_value = "plugin")]
    mode: ModeName,
    /// The format [default: by the extension: .cfg, .ini, .rule, .jsonc]
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// Stripper:Source
    Stripper,
    /// stripper_qmm, for Quake III
    Qmm,
    /// Lazyripent2, for GoldSrc
    Lazyripent,
    /// StripperCS2
    Cs2,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeName {
    Plugin,
    Strict,
    Lumper,
}

impl RuleArgs {
    pub(crate) fn reading(&self) -> RulesReading {
        let mode = match self.mode {
            ModeName::Plugin => Mode::Plugin,
            ModeName::Strict => Mode::Strict,
            ModeName::Lumper => Mode::Lumper,
        };
        let format = self.format.map(|name| match name {
            FormatName::Stripper => Format::Stripper,
            FormatName::Qmm => Format::Qmm,
            FormatName::Lazyripent => Format::Lazyripent,
            FormatName::Cs2 => Format::Cs2,
        });
        RulesReading { mode, format }
    }
}
