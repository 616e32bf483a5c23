//! `check`: what is wrong with maps, and where.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bspkit::dialect::ALL;
use bspkit::face::report::FindingJson;
use bspkit::op::check::{self, CODES, Code as FindingCode, Finding, Severity};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::{Serialize, Serializer};

use super::context::Context;
use super::help;
use super::maps::Maps;
use super::report::Report;
use super::show::{count, json};
use super::talk::{Code, Job};

/// Find what is wrong with maps
///
/// Reports what makes an engine refuse a map or read what is not there, and where. What the formats allow is no
/// finding, however odd. Notes are listed with -v, and in JSON. Exits with 1 where there is an error, or what is
/// denied.
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
    /// Exit with 1 for findings of this code as well, or of this severity and worse: warning, note; may be given
    /// several times
    #[arg(long, value_name = "CODE|SEVERITY", ignore_case = true, hide_possible_values = true,
        value_parser = codes(&["note", "warning", "error"]).try_map(|text| denied(&text)))]
    deny: Vec<Denied>,
    /// Leave out findings of this code; may be given several times
    #[arg(long, value_name = "CODE", ignore_case = true, hide_possible_values = true,
        value_parser = codes(&[]).try_map(|text| FindingCode::by_name(&text)))]
    allow: Vec<&'static FindingCode>,
    /// Whose limits hold, such as goldsrc, q2pro, et, source2013: of an unknown name the error lists those there are;
    /// maps of other dialects are checked as without it [default: the stock engine of the map's version]
    #[arg(long, value_name = "NAME", ignore_case = true, hide_possible_values = true, value_parser = engines())]
    engine: Option<String>,
    /// Print JSON: a document for one map, a line for each of several
    #[arg(long)]
    json: bool,
    /// List all codes with their severities, and nothing else
    #[arg(long)]
    codes: bool,
}

/// What counts for the exit status, beside errors.
#[derive(Clone, Copy)]
enum Denied {
    AtLeast(Severity),
    Code(&'static FindingCode),
}

fn denied(text: &str) -> Result<Denied, bspkit::Error> {
    let severities = [Severity::Note, Severity::Warning, Severity::Error];
    match severities.into_iter().find(|severity| severity.to_string().eq_ignore_ascii_case(text)) {
        Some(severity) => Ok(Denied::AtLeast(severity)),
        None => FindingCode::by_name(text).map(Denied::Code),
    }
}

/// All engines, by name.
fn engines() -> PossibleValuesParser {
    let mut names: Vec<&str> =
        ALL.iter().flat_map(|dialect| dialect.checks.engines).map(|engine| engine.name).collect();
    names.sort_unstable();
    names.dedup();
    PossibleValuesParser::new(names)
}

/// All codes of findings; with severities before them where these may stand for all of theirs.
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
    /// Whether one of them counts for the exit status.
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
    wanted.engine.clone_from(&args.engine);
    wanted.allowed.clone_from(&args.allow);
    let named: Vec<&Path> = args.maps.iter().map(PathBuf::as_path).collect();
    let maps = Maps::find(&named).json(args.json);
    let is_denied = |finding: &Finding| {
        finding.code.severity == Severity::Error
            || args.deny.iter().any(|denied| match denied {
                Denied::AtLeast(severity) => finding.code.severity >= *severity,
                Denied::Code(code) => finding.code == *code,
            })
    };
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let mut wanted = wanted.clone();
        // An engine of another dialect says nothing of this map.
        wanted.engine = wanted.engine.filter(|name| bsp.dialect().engine_by_name(name).is_ok());
        let findings = check::run(&bsp, &wanted)?;
        let is_denied = findings.iter().any(is_denied);
        job.report(&Checked { dialect: bsp.dialect().name, findings, is_denied })
    })
}

/// A line for each finding, and one that sums them up.
fn print(findings: &[Finding], job: &mut Job<'_>) {
    // What else is wrong with a file that was cut short may follow from that.
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
        job.line(format!("{}: {what} may follow from that; -v lists them", job.path));
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
