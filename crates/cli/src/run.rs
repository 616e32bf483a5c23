//! `run`: runs a script on maps.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use bspkit::disk::input;
use bspkit::finding::{Code as FindingCode, Finding, Severity};
use bspkit::{Draft, Place};
use bspkit_script::{Limits, Said, Script, Settings};
use serde::Serialize;
use serde_json::Value;

use super::context::{Context, is_stdin};
use super::help;
use super::maps::{MapArgs, MapFile};
use super::save::{Edited, Save};
use super::talk::{Code, Job, bad_argument, shown};

/// Run a script on maps
///
/// The script is in the language Rhai. It reads and changes entities, embedded files, texture names, lumps, records and
/// light; docs/scripts.md lists all it can call. It runs once for each map. If it fails, nothing is written for that
/// map. What it reports is printed on stdout.
///
/// Without -o, --in-place and --dry-run the script must not change the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit run mirror.rhai dm4.bsp -o out.bsp -- --axis x
  bspkit run statistics.rhai maps
  bspkit run deathmatch.rhai maps -o edited --only-changed
  bspkit run merge.rhai dm4.bsp --allow-read maps -o out.bsp -- --from 3.bsp"
))]
pub(crate) struct Args {
    /// The script
    #[arg(value_name = "SCRIPT")]
    script: PathBuf,
    #[command(flatten)]
    maps: MapArgs,
    /// Words for the script, which it sees as `args`: `--axis x` is `args.axis`
    #[arg(value_name = "ARGS", last = true)]
    args: Vec<String>,
    /// Let the script read the files of this folder, and of folders in it
    #[arg(long, value_name = "DIR")]
    allow_read: Option<PathBuf>,
    /// The most steps of the script for one map
    #[arg(long, value_name = "N", default_value_t = Limits::default().steps)]
    max_steps: u64,
    /// The most seconds for one map
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().time.as_secs())]
    max_time: u64,
    /// The most memory of the whole program while scripts run, in MiB (measured on Linux)
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().memory >> 20)]
    max_memory: u64,
    #[command(flatten)]
    save: Save,
}

/// The document of a script that changes nothing.
#[derive(Serialize)]
struct Document {
    findings: Vec<Finding>,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.script.extension().is_some_and(|it| it.eq_ignore_ascii_case("bsp")) {
        let message = format!("{} is a map, and the script comes first", shown(&args.script));
        return Err(bad_argument(message, "write the script, and then the maps"));
    }
    args.save.spare(&args.script)?;
    let script = Script::compile(shown(&args.script), input::text(&args.script)?)?;
    if args.save.has_output() {
        let takes_stdout = args.save.file().is_some_and(is_stdin);
        return args.save.each(cx, args.maps.find(), |draft, map, job| {
            let said = args.run(&script, draft, map, job)?;
            tell(&said, takes_stdout, job);
            Ok(Edited::with(draft.changes()?.is_empty(), String::new(), said.findings.is_empty()))
        });
    }
    let is_refused = AtomicBool::new(false);
    args.maps.find().json(args.save.json).each(cx, |map, job| {
        let mut draft = cx.open(&map.path)?.draft();
        let cannot = || format!("cannot run it on {}", shown(&map.path));
        let said = args.run(&script, &mut draft, map, job).with_context(cannot)?;
        if !draft.changes()?.is_empty() {
            // What is said of one map holds for all of them.
            if is_refused.swap(true, Ordering::Relaxed) && !job.json {
                job.failure = Some("no output given");
                return Ok(Code::Failed);
            }
            let message = format!("the script changes {}, and no output is given", shown(&map.path));
            return Err(bad_argument(message, "use -o FILE, --in-place or --dry-run"));
        }
        tell(&said, false, job);
        if job.json {
            let findings = std::mem::take(&mut job.findings);
            job.document(&Document { findings })?;
        }
        Ok(if said.findings.is_empty() { Code::Done } else { Code::Found })
    })
}

impl Args {
    fn run(&self, script: &Script, draft: &mut Draft<'static>, map: &MapFile, job: &mut Job<'_>) -> Result<Said> {
        let mut limits = Limits::default();
        limits.steps = self.max_steps;
        limits.time = Duration::from_secs(self.max_time);
        limits.memory = self.max_memory.saturating_mul(1 << 20);
        let settings = Settings::default().args(self.args.clone()).path(&map.path).limits(limits);
        let settings = settings.for_any_engine(self.save.force);
        let settings = self.allow_read.iter().fold(settings, |settings, folder| settings.allow_read(folder));
        let mut said = Said::default();
        let done = script.run_into(draft, &settings, &mut said);
        if done.is_err() {
            // What it printed shows how far it came.
            said.messages.iter().for_each(|message| job.say(message));
        }
        done?;
        Ok(said)
    }
}

/// Prints what a script said: data on stdout, unless the map is written there.
fn tell(said: &Said, takes_stdout: bool, job: &mut Job<'_>) {
    said.messages.iter().for_each(|message| job.say(message));
    if job.json {
        let reports: Vec<Value> = said.reports.iter().map(|report| report.json.clone()).collect();
        job.extra.insert("reports".to_owned(), reports.into());
        job.findings = findings(said);
        return;
    }
    let lines = said.reports.iter().map(|report| report.text.clone());
    let found = said.findings.iter().map(|found| {
        let place = found.entity.map(|index| format!(" (entity {index})")).unwrap_or_default();
        format!("{}: {}{place}", job.path, found.message)
    });
    for line in lines.chain(found).collect::<Vec<_>>() {
        match takes_stdout {
            true => job.say(&line),
            false => job.line(line),
        }
    }
}

static SCRIPT: FindingCode = FindingCode::new("script", Severity::Warning, "a script reports it");

fn findings(said: &Said) -> Vec<Finding> {
    let finding = |found: &bspkit_script::Found| {
        let mut place = Place::default();
        place.entity = found.entity;
        Finding::new(&SCRIPT, place, found.message.clone())
    };
    said.findings.iter().map(finding).collect()
}
