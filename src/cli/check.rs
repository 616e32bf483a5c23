//! `check`: finds errors in maps.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bspkit::dialect::ALL;
use bspkit::face::report::FindingJson;
use bspkit::op::check::{self, CODES, Code as FindingCode, Denied, Finding, Severity};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::{Serialize, Serializer};

use super::context::Context;
use super::help;
use super::maps::Maps;
use super::report::Report;
use super::show::{count, json};
use super::talk::{Code, Job};

/// Find errors in maps
///
/// Reports each place that makes an engine refuse the map or read invalid data. Unusual data that the format allows is
/// not a finding. Notes are listed with -v, and in JSON. The exit status is 1 if there is an error or a finding that
/// --deny names.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit check dm4.bsp
  bspkit check maps --deny warning
  bspkit check maps --allow entity-nul --engine q3map2
  bspkit check maps --json > findings.jsonl"
))]
pub(crate) struct Args {
    /// Maps, and folders of maps
    #[arg(value_name = "MAP", required_unless_present = "codes")]
    maps: Vec<PathBuf>,
    /// Exit with 1 also for findings with this code, or of this severity and worse: warning, note; can be repeated
    #[arg(long, value_name = "CODE|SEVERITY", ignore_case = true, hide_possible_values = true,
        value_parser = codes(&["note", "warning", "error"]).try_map(|text| Denied::by_name(&text)))]
    deny: Vec<Denied>,
    /// Leave out findings with this code; can be repeated
    #[arg(long, value_name = "CODE", ignore_case = true, hide_possible_values = true,
        value_parser = codes(&[]).try_map(|text| FindingCode::by_name(&text)))]
    allow: Vec<&'static FindingCode>,
    #[command(flatten)]
    engine: EngineName,
    /// Print JSON: an indented document for one map, one line for each of several
    #[arg(long)]
    json: bool,
    /// Only list all codes with their severities
    #[arg(long)]
    codes: bool,
}

// The option that names an engine. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(super) struct EngineName {
    /// Use the limits of this engine, such as goldsrc, q2pro, et, source2013; an unknown name lists the valid ones; it
    /// has no effect on maps of other dialects [default: the stock engine of the map's version]
    #[arg(long, value_name = "NAME", ignore_case = true, hide_possible_values = true, value_parser = engines())]
    pub(super) engine: Option<String>,
}

/// All engines, by name.
fn engines() -> PossibleValuesParser {
    let mut names: Vec<&str> =
        ALL.iter().flat_map(|dialect| dialect.checks.engines).map(|engine| engine.name).collect();
    names.sort_unstable();
    names.dedup();
    PossibleValuesParser::new(names)
}

/// The valid values of an option that takes codes: these severities, then all codes.
fn codes(severities: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(severities.iter().copied().chain(CODES.iter().map(|code| code.name)))
}

#[derive(Serialize)]
struct Codes {
    version: u32,
    codes: Vec<CodeJson>,
}

#[derive(Serialize)]
struct CodeJson {
    code: &'static str,
    severity: String,
    meaning: &'static str,
}

#[derive(Serialize)]
struct Checked {
    dialect: &'static str,
    #[serde(serialize_with = "as_json")]
    findings: Vec<Finding>,
    /// Whether a finding sets the exit status to 1.
    #[serde(skip)]
    is_denied: bool,
}

fn as_json<S: Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(findings.iter().map(FindingJson::from))
}

impl Report for Checked {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        print(&self.findings, job);
        Ok(())
    }

    fn code(&self) -> Code {
        if self.is_denied { Code::Found } else { Code::Done }
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.codes && args.json {
        let codes = CODES.iter().map(|code| CodeJson {
            code: code.name,
            severity: code.severity.to_string(),
            meaning: code.meaning,
        });
        let mut text = json(&Codes { version: 1, codes: codes.collect() }, false)?;
        text.push(b'\n');
        cx.talk.stdout(&text)?;
        return Ok(Code::Done);
    }
    if args.codes {
        let mut text = String::new();
        for code in CODES {
            text += &format!("{:<18} {:<8} {}\n", code.name, code.severity.to_string(), code.meaning);
        }
        cx.talk.stdout(text.as_bytes())?;
        return Ok(Code::Done);
    }
    let mut wanted = check::Options::default();
    wanted.engine.clone_from(&args.engine.engine);
    wanted.allowed.clone_from(&args.allow);
    let named: Vec<&Path> = args.maps.iter().map(PathBuf::as_path).collect();
    let maps = Maps::find(&named).json(args.json);
    let is_denied = |finding: &Finding| {
        finding.code.severity == Severity::Error || args.deny.iter().any(|denied| denied.includes(finding.code))
    };
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let mut wanted = wanted.clone();
        // An engine of another dialect has no limits for this map.
        wanted.engine = wanted.engine.filter(|name| bsp.dialect().engine_by_name(name).is_ok());
        let findings = check::run(&bsp, &wanted)?;
        let is_denied = findings.iter().any(is_denied);
        job.report(&Checked { dialect: bsp.dialect().name, findings, is_denied })
    })
}

/// Prints a line for each finding, and a line with their numbers.
pub(super) fn print(findings: &[Finding], job: &mut Job<'_>) {
    // If the file was cut short, the other findings may be consequences of that.
    let is_cut = findings.first().is_some_and(|first| first.code.name == "file-cut");
    let listed = if is_cut && !job.talk.verbose { &findings[..1] } else { findings };
    for finding in listed {
        if finding.code.severity > Severity::Note || job.talk.verbose {
            let text = finding.to_string();
            let word = finding.code.severity.to_string();
            let rest = text.strip_prefix(&word).unwrap_or_default();
            let word = match finding.code.severity {
                Severity::Error => job.talk.verdict(false, &word),
                _ => word,
            };
            job.line(format!("{}: {word}{rest}", job.path));
        }
    }
    let more: usize = findings[listed.len()..].iter().map(|finding| finding.count).sum();
    if more > 0 {
        let what = count(more, "other finding", "other findings");
        job.line(format!("{}: {what} may be consequences of that; -v lists them", job.path));
    }
    let number = |severity| {
        let its = findings.iter().filter(|finding| finding.code.severity == severity);
        its.map(|finding| finding.count).sum::<usize>()
    };
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    let text = match (errors, warnings) {
        (0, 0) => "nothing wrong".to_owned(),
        (0, _) => count(warnings, "warning", "warnings"),
        (_, 0) => count(errors, "error", "errors"),
        _ => format!("{}, {}", count(errors, "error", "errors"), count(warnings, "warning", "warnings")),
    };
    let is_left = |finding: &&Finding| ["lump-unknown", "lump-unchecked", "lump-misfit"].contains(&finding.code.name);
    let left = findings.iter().filter(is_left).filter_map(|finding| finding.place.lump.as_deref());
    let left: BTreeSet<&str> = left.collect();
    let left = match left.len() {
        0 => String::new(),
        number => format!(", {} not checked in full", count(number, "lump", "lumps")),
    };
    job.say(&format!("{}: {text}{left}", job.path));
}
