//! `check`, `checksum`: whether a map is as engines need it, and by what they know it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bspkit::Bsp;
use bspkit::dialect::{ALL, Role, Use};
use bspkit::disk::names;
use bspkit::finding::{Code as FindingCode, Finding, Severity};
use bspkit_game::assets::fgd::Fgd;
use bspkit_game::classes;
use bspkit_ops::check::{self, CODES, Denied};
use bspkit_ops::checksum::{self, Computed, Value};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::context::{Context, Report, read_fgd};
use super::help;
use super::maps::{Maps, Reading};
use super::save::how_to_list;
use super::talk::{Code, Job, MOST_OF_A_KIND, MOST_OF_ALL, count, json, shown};

// `check`: finds errors in maps.

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
  bspkit check dm4.bsp --fgd quake.fgd
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
        value_parser = codes(&[]).try_map(|text| check::code(&text)))]
    allow: Vec<&'static FindingCode>,
    #[command(flatten)]
    engine: EngineName,
    /// An FGD file of the game: also find classes that it does not have, and keys that look like typing errors
    #[arg(long, value_name = "FILE")]
    fgd: Option<PathBuf>,
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
    /// Use the limits of this engine [default: the stock engine of the map's version]
    ///
    /// Engines are goldsrc, q2pro, et, source2013 and others; an unknown name lists the valid ones. It has no effect on
    /// maps of other dialects.
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
    codes: &'static [&'static FindingCode],
}

#[derive(Serialize)]
struct Checked<'d> {
    dialect: &'static str,
    findings: Vec<Finding>,
    /// The findings that set the exit status to 1, besides errors.
    #[serde(skip)]
    deny: &'d [Denied],
}

impl Checked<'_> {
    fn denies(&self, finding: &Finding) -> bool {
        finding.is_error() || self.deny.iter().any(|denied| denied.includes(finding.code))
    }
}

impl Report for Checked<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        print(&self.findings, |finding| self.denies(finding), how_to_list, NOTHING, job);
        Ok(())
    }

    fn code(&self) -> Code {
        if self.findings.iter().any(|finding| self.denies(finding)) { Code::Found } else { Code::Done }
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.codes && args.json {
        let mut text = json(&Codes { version: 1, codes: CODES }, false)?;
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
    let most = if cx.talk.verbose { MOST_OF_ALL } else { MOST_OF_A_KIND };
    let mut wanted = check::Options::default().most(most);
    wanted.engine.clone_from(&args.engine.engine);
    wanted.allowed.clone_from(&args.allow);
    let named: Vec<&Path> = args.maps.iter().map(PathBuf::as_path).collect();
    let maps = Maps::find(&named).json(args.json);
    // To find these takes as long as all else, so a note that is not printed is not looked for.
    let unused = check::code("unused-records")?;
    if !(args.json || cx.talk.verbose || args.deny.iter().any(|denied| denied.includes(unused))) {
        wanted.allowed.push(unused);
    }
    let fgd = args.fgd.as_deref().map(|path| read_fgd(cx, path)).transpose()?;
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let mut wanted = wanted.clone();
        // An engine of another dialect has no limits for this map.
        wanted.engine = wanted.engine.filter(|name| bsp.dialect().engine_by_name(name).is_ok());
        let mut findings = check::run(&bsp, &wanted)?;
        if let Some(fgd) = &fgd {
            findings.extend(of_game(&bsp, fgd, &wanted.allowed, most));
        }
        job.report(&Checked { dialect: bsp.dialect().name, findings, deny: &args.deny })
    })
}

/// What an FGD file says about the entities of a map. An entity text that cannot be read is a finding of `check`.
pub(super) fn of_game(bsp: &Bsp<'_>, fgd: &Fgd, allowed: &[&FindingCode], most: usize) -> Vec<Finding> {
    let (Some(slot), Ok(entities)) = (bsp.role(Role::Entities), bsp.entities()) else { return Vec::new() };
    let mut found = classes::check(&entities, &slot.name, fgd);
    found.retain(|finding| !allowed.contains(&finding.code));
    check::few(found, most)
}

/// What is said if nothing is found.
pub(super) const NOTHING: &str = "nothing wrong";

/// Prints a line for each finding, with what is said after it, and a line with their numbers. Notes are printed with
/// `-v`, and if they are denied. `nothing` is said if there are only such notes, or no finding.
pub(super) fn print(
    findings: &[Finding],
    is_denied: impl Fn(&Finding) -> bool,
    after: fn(&Finding) -> &'static str,
    nothing: &str,
    job: &mut Job<'_>,
) {
    // If the file was cut short, the other findings may be consequences of that.
    let is_cut = findings.first().is_some_and(|first| first.code.name == "file-cut");
    let listed = if is_cut && !job.talk.verbose { &findings[..1] } else { findings };
    for finding in listed {
        if finding.code.severity > Severity::Note || job.talk.verbose || is_denied(finding) {
            let text = finding.to_string();
            let word = finding.code.severity.to_string();
            let rest = text.strip_prefix(&word).unwrap_or_default();
            let word = match finding.code.severity {
                Severity::Error => job.talk.verdict(false, &word),
                _ => word,
            };
            job.line(format!("{}: {word}{rest}{}", job.path, after(finding)));
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
    let is_denied_note = |finding: &&Finding| finding.code.severity == Severity::Note && is_denied(finding);
    let denied = findings.iter().filter(is_denied_note).map(|finding| finding.count).sum();
    let kinds = [
        (number(Severity::Error), "error", "errors"),
        (number(Severity::Warning), "warning", "warnings"),
        (denied, "denied note", "denied notes"),
    ];
    let said = kinds.into_iter().filter(|(number, ..)| *number > 0);
    let said: Vec<String> = said.map(|(number, one, more)| count(number, one, more)).collect();
    let text = if said.is_empty() { nothing.to_owned() } else { said.join(", ") };
    let is_left = |finding: &&Finding| ["lump-unknown", "lump-unchecked", "lump-misfit"].contains(&finding.code.name);
    let left = findings.iter().filter(is_left).filter_map(|finding| finding.place.lump.as_deref());
    let left: BTreeSet<&str> = left.collect();
    let left = match left.len() {
        0 => String::new(),
        number => format!(", {} not checked in full", count(number, "lump", "lumps")),
    };
    job.say(&format!("{}: {text}{left}", job.path));
}

// `checksum`: the checksums that engines compare between server and client.

/// Print the checksums that server and client compare
///
/// Quake II and III compare a checksum of the whole file. QuakeWorld, GoldSrc and Source leave out the entities, so
/// that a server can edit them alone. Quake engines that load entity files look for a file with the checksum of the
/// entity text in its name. "Unverified" marks a checksum that no engine source or engine output confirms. Writing
/// commands print how the checksums change with -v, --checksum and --dry-run.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit checksum dm4.bsp
  bspkit checksum maps --json > sums.jsonl"
))]
pub(crate) struct ChecksumArgs {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Checksums {
    dialect: &'static str,
    #[serde(skip)]
    title: &'static str,
    checksums: Vec<ChecksumJson>,
}

impl Report for Checksums {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let none = if self.checksums.is_empty() { "; no checksum of these maps is known" } else { "" };
        job.line(format!("{}: {}{none}", job.path, self.title));
        for ChecksumJson { name, title, value, signed, file, verified } in &self.checksums {
            let value = signed.map_or_else(|| value.clone(), |signed| format!("{value} ({signed})"));
            let value = file.clone().unwrap_or(value);
            let doubt = if *verified { "" } else { ", unverified" };
            job.line(format!("  {name:<12} {value}  {title}{doubt}"));
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct ChecksumJson {
    name: &'static str,
    title: &'static str,
    value: String,
    /// The number as Quake's engines print and send it, if it has 32 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<i32>,
    /// The file that engines look for, if the checksum is in its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    verified: bool,
}

pub(crate) fn run_checksum(cx: &Context, args: &ChecksumArgs) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let checksums = checksum::all(&bsp).iter().map(|computed| checksum_as_json(computed, job.file)).collect();
        job.report(&Checksums { dialect: bsp.dialect().name, title: bsp.dialect().title, checksums })
    })
}

fn checksum_as_json(computed: &Computed, path: &Path) -> ChecksumJson {
    let Computed { checksum, value, .. } = computed;
    ChecksumJson {
        name: checksum.name,
        title: checksum.title,
        value: value.to_string(),
        signed: signed(value),
        file: file(checksum.use_of, &value.to_string(), path),
        verified: checksum.is_verified,
    }
}

/// Engines print their checksums as signed numbers.
fn signed(value: &Value) -> Option<i32> {
    match value {
        Value::Number(number) => Some(number.cast_signed()),
        _ => None,
    }
}

/// The name of the entity file with this key.
fn file(use_of: Use, key: &str, path: &Path) -> Option<String> {
    let stem = Path::new(names::of_map(path));
    (use_of == Use::FileName).then(|| format!("{}@{key}.ent", shown(stem)))
}
