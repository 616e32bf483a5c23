//! `ci`: the laws, the findings and the policy of a project, for CI systems.

use std::collections::HashMap;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Error, Result};
use bspkit::face::ci::{Baseline, MapFindings, github, gitlab, json_lines, junit, sarif, summary};
use bspkit::file::replace;
use bspkit::op::check::Finding;
use bspkit::op::policy::{self, Policy};
use bspkit::{Bsp, SaveOptions};
use clap::ValueEnum;

use super::check;
use super::context::{Context, is_stdin};
use super::git::repository::Changed;
use super::help;
use super::maps::{MapArgs, MapFile, Maps};
use super::show::{count, shown};
use super::talk::{Code, Job};
use policies::Policies;

mod policies;

/// Check maps in CI: laws, findings and the policy of the project
///
/// Tests the laws of `verify`, finds the errors of `check`, and compares each map with the policy in `bspkit.toml`.
/// This file is searched in the folder of the map and in the folders above it. docs/policy.md lists its keys. Without a
/// policy everything that `check` does not refuse is allowed.
///
/// The exit status is 1 if a map has an error, a finding that the policy denies, or does not open.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ci maps
  bspkit ci maps --format sarif -o report.sarif
  bspkit ci maps --format github --changed-since HEAD^
  bspkit ci maps --baseline known.json --write-baseline
  bspkit ci maps --baseline known.json --format junit -o report.xml"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The policy for all maps [default: the nearest bspkit.toml in the folders above each map]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Leave out the findings in this file. They are recognized by map, code, lump and sentence, also after records and
    /// offsets have moved
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to the file of --baseline; the exit status is 0
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Check only maps that changed since this revision or are not tracked, as git says. For another branch, such as
    /// origin/main, these are the changes since the branches parted. If a policy has changed, all its maps are checked
    #[arg(long, value_name = "REV")]
    changed_since: Option<String>,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The file for the report; an existing file is replaced [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines for people
    Text,
    /// One line of JSON for each map
    Json,
    /// JUnit XML: one test case for each map
    Junit,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions; also a summary in the file that GITHUB_STEP_SUMMARY names
    Github,
    /// A code quality report of GitLab
    Gitlab,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let mut maps = args.maps.find();
    if let Some(rev) = &args.changed_since {
        retain_changed(&mut maps, args, rev)?;
        if maps.iter().next().is_none() && !cx.talk.quiet {
            cx.talk.stderr(format!("no map has changed since {rev}\n").as_bytes());
        }
    }
    let policies = Policies::load(&maps, args.policy.as_deref())?;
    let baseline = match args.baseline.as_deref().filter(|_| !args.write_baseline) {
        Some(path) => Some(read_baseline(path)?),
        None => None,
    };
    let streams = args.format == Format::Text && args.output.is_none();
    let all: Mutex<HashMap<PathBuf, MapFindings>> = Mutex::default();
    let keep = |map: &MapFile, findings: MapFindings| {
        all.lock().unwrap_or_else(PoisonError::into_inner).insert(map.path.clone(), findings);
    };
    let mut code = maps.each(cx, |map, job| {
        let policy = policies.of(map);
        let (found, opened) = look_at(cx, map, policy);
        let before = found.findings.len();
        let found = match (&baseline, &args.baseline) {
            (Some(baseline), Some(path)) => without_known(found, baseline, &path_in(map, path)),
            _ => found,
        };
        let is_known = before > 0 && found.findings.is_empty();
        let code = if found.denied() > 0 && !args.write_baseline { Code::Found } else { Code::Done };
        if streams && opened.is_ok() && !args.write_baseline {
            print(&found, job);
        }
        keep(map, found);
        match opened {
            Err(error) if !is_known && !args.write_baseline => Err(error),
            _ => Ok(code),
        }
    })?;
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let found: Vec<MapFindings> = maps.iter().filter_map(|map| all.remove(&map.path)).collect();
    if let (true, Some(path)) = (args.write_baseline, &args.baseline) {
        write_baseline(cx, path, &maps, &found)?;
        code = Code::Done;
    }
    if !streams {
        write_report(cx, args, &found)?;
    }
    Ok(code)
}

/// All findings about a map; the error if it cannot be opened or checked.
fn look_at(cx: &Context, map: &MapFile, policy: &Policy) -> (MapFindings, Result<()>) {
    let mut found = MapFindings { path: map.path.clone(), ..MapFindings::default() };
    let name = if is_stdin(&map.path) { Path::new("stdin") } else { &map.path };
    let name = name.file_stem().unwrap_or_default().to_string_lossy();
    let checked = cx.open(&map.path).and_then(|bsp: Bsp<'_>| {
        found.dialect = Some(bsp.dialect().name);
        Ok(policy::run(&bsp, &name, policy)?)
    });
    let (findings, result) = match checked {
        Ok(findings) => (findings, Ok(())),
        Err(error) => {
            let own = error.chain().find_map(|cause| cause.downcast_ref::<bspkit::Error>());
            (own.map(policy::unread).into_iter().collect(), Err(error))
        }
    };
    found.findings = findings.into_iter().map(|finding| (finding.clone(), policy.denies(&finding))).collect();
    (found, result)
}

fn without_known(mut found: MapFindings, baseline: &Baseline, path: &str) -> MapFindings {
    let denied: Vec<(Finding, bool)> = std::mem::take(&mut found.findings);
    let new = baseline.new_ones(path, denied.iter().map(|(finding, _)| finding.clone()).collect());
    found.known = denied.len() - new.len();
    let is_denied = |finding: &Finding| denied.iter().any(|(other, denied)| *denied && other == finding);
    found.findings = new.into_iter().map(|finding| (finding.clone(), is_denied(&finding))).collect();
    found
}

fn print(found: &MapFindings, job: &mut Job<'_>) {
    let findings: Vec<Finding> = found.findings.iter().map(|(finding, _)| finding.clone()).collect();
    let known = count(found.known, "finding is", "findings are");
    match (found.known, &findings[..]) {
        (0, _) => check::print(&findings, job),
        (_, []) => job.say(&format!("{}: nothing new; {known} in the baseline", job.path)),
        _ => {
            check::print(&findings, job);
            job.say(&format!("{}: {known} in the baseline", job.path));
        }
    }
}

/// The path of a map as the baseline has it: relative to the baseline's folder if the map is in it.
fn path_in(map: &MapFile, baseline: &Path) -> String {
    let folder = baseline.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |path: &Path| path.canonicalize().ok();
    let inner =
        real(&map.path).zip(real(folder)).and_then(|(map, folder)| Some(map.strip_prefix(folder).ok()?.to_owned()));
    let path = inner.unwrap_or_else(|| map.path.clone()).to_string_lossy().into_owned();
    if cfg!(windows) { path.replace('\\', "/") } else { path }
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let text = bspkit::face::input::text(path)?;
    Baseline::read(&text).with_context(|| format!("cannot read {}", shown(path)))
}

fn write_baseline(cx: &Context, path: &Path, maps: &Maps, found: &[MapFindings]) -> Result<()> {
    let mut baseline = Baseline::default();
    for map in maps.iter() {
        let its = found.iter().filter(|found| found.path == map.path);
        let findings: Vec<Finding> = its.flat_map(|map| &map.findings).map(|(finding, _)| finding.clone()).collect();
        baseline.add(&path_in(map, path), &findings);
    }
    let text = baseline.write();
    replace(path, &SaveOptions::default(), |mut file| file.write_all(text.as_bytes()))?;
    let number = found.iter().map(|map| map.findings.len()).sum();
    if !cx.talk.quiet {
        cx.talk.stderr(format!("{}: {}\n", shown(path), count(number, "finding", "findings")).as_bytes());
    }
    Ok(())
}

fn write_report(cx: &Context, args: &Args, found: &[MapFindings]) -> Result<()> {
    let report = match args.format {
        Format::Text => text(found),
        Format::Json => json_lines(found),
        Format::Junit => junit(found),
        Format::Sarif => sarif(found),
        Format::Github => github(found),
        Format::Gitlab => gitlab(found),
    };
    match &args.output {
        None => drop(cx.talk.stdout(report.as_bytes())?),
        Some(path) => replace(path, &SaveOptions::default(), |mut file| file.write_all(report.as_bytes())).map(drop)?,
    }
    let summary_file = env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from);
    if let Some(path) = summary_file.filter(|_| args.format == Format::Github) {
        let written = OpenOptions::new().append(true).create(true).open(&path);
        let written = written.and_then(|mut file| file.write_all(summary(found).as_bytes()));
        written.with_context(|| format!("cannot write {}", shown(&path)))?;
    }
    Ok(())
}

/// All findings, one line each.
fn text(found: &[MapFindings]) -> String {
    let lines = found
        .iter()
        .flat_map(|map| map.findings.iter().map(|(finding, _)| format!("{}: {finding}\n", shown(&map.path))));
    lines.collect()
}

/// Keeps the maps that git says have changed, and those whose policy has.
fn retain_changed(maps: &mut Maps, args: &Args, rev: &str) -> Result<()> {
    let mut changed = Changed::since(rev)?;
    let mut failed: Option<Error> = None;
    maps.retain(|map| {
        let mut has_changed = || -> Result<bool> {
            let policy = args.policy.clone().map_or_else(|| policies::find(map), |policy| Ok(Some(policy)))?;
            Ok(changed.has(&map.path)? || policy.map_or(Ok(false), |policy| changed.has(&policy))?)
        };
        has_changed().unwrap_or_else(|error| {
            failed.get_or_insert(error);
            false
        })
    });
    failed.map_or(Ok(()), Err)
}
