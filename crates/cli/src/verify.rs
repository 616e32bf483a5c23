//! `verify`: tests the round-trip laws.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use bspkit::verify::{self, Outcome, Verdict};
use bspkit_decompile::law;
use bspkit_decompile::source::{Format, Source, read};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::Reading;
use super::talk::{Code, Job, bad_argument, shown};

/// Test the round-trip laws on maps
///
/// Each map is read, edited and written in memory with every layout. All bytes that were not edited must stay the same.
/// Nothing is written to disk.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit verify dm4.bsp
  bspkit verify maps -j 4 --stats
  bspkit verify maps --json > laws.jsonl
  bspkit verify dm4.bsp --source"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// Print how many records of each type were decoded and encoded again
    #[arg(long)]
    stats: bool,
    /// Also test that FILE (.map or .vmf) is a source of the map; without FILE, that `decompile` makes one
    ///
    /// The law `source` compares contents of points, textures of faces, curves, displacements and classes of entities,
    /// as `decompile` does, and takes about as long. Other keys of entities are not compared.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    source: Option<Option<PathBuf>>,
}

/// The law of sources, which only `--source` tests.
const SOURCE: &str = "source";

#[derive(Serialize)]
struct Verified {
    ok: bool,
    dialect: Option<&'static str>,
    laws: serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "record_counts")]
    records: Option<serde_json::Map<String, serde_json::Value>>,
    error: Option<String>,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.reading.maps();
    let total: Mutex<BTreeMap<&str, usize>> = Mutex::default();
    let source = args.source.as_ref().map(|file| file.as_deref().map(source).transpose()).transpose()?;
    if maps.many && matches!(source, Some(Some(_))) {
        return Err(bad_argument(
            "one source is not that of several maps".to_owned(),
            "leave out the name of the file",
        ));
    }
    let code = maps.each(cx, |map, job| {
        let tried = cx.open(&map.path).map(|bsp| {
            let mut outcome = verify::run(&bsp);
            outcome.laws.extend(source.as_ref().map(|source| (SOURCE, law(&bsp, source.as_ref()))));
            (bsp.dialect().name, outcome)
        });
        if job.json {
            job.document(&Verified::new(&tried, args.stats))?;
        }
        let (dialect, outcome) = tried?;
        if !job.json {
            print(dialect, &outcome, job);
            if args.stats {
                let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                outcome.records.iter().for_each(|(name, count)| *total.entry(*name).or_default() += count);
                job.line(format!("     {}", counts(outcome.records.iter().copied())));
            }
        }
        Ok(if outcome.is_ok() { Code::Done } else { Code::Found })
    })?;
    if args.stats && !args.reading.json && maps.many {
        let total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
        cx.talk.stdout(format!("all maps: {}\n", counts(total.into_iter())).as_bytes())?;
    }
    Ok(code)
}

/// A source. All forms of a `.map` are read.
fn source(path: &Path) -> Result<Source> {
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", shown(path)))?;
    let format = Format::of_name(&path.to_string_lossy()).unwrap_or(Format::Quake);
    read(&text, format).with_context(|| format!("cannot read {} as a source", shown(path)))
}

impl Verified {
    /// The document of a map. It has all fields even if the map cannot be opened.
    fn new(tried: &Result<(&'static str, Outcome)>, with_records: bool) -> Self {
        let outcome = tried.as_ref().ok().map(|(_, outcome)| outcome);
        let laws = outcome.iter().flat_map(|outcome| &outcome.laws);
        let records = |outcome: &&Outcome| {
            outcome.records.iter().map(|(name, count)| (name.to_string(), (*count).into())).collect()
        };
        Verified {
            ok: outcome.is_some_and(Outcome::is_ok),
            dialect: tried.as_ref().ok().map(|(dialect, _)| *dialect),
            laws: laws.map(|(name, verdict)| (name.to_string(), verdict.to_string().into())).collect(),
            records: outcome.as_ref().filter(|_| with_records).map(records),
            error: tried.as_ref().err().map(|error| format!("{error:#}")),
        }
    }
}

fn counts<'n>(records: impl Iterator<Item = (&'n str, usize)>) -> String {
    let counts: Vec<_> = records.map(|(name, count)| format!("{count} {name}")).collect();
    if counts.is_empty() { "no records".to_owned() } else { counts.join(", ") }
}

fn print(dialect: &str, outcome: &Outcome, job: &mut Job<'_>) {
    let number = |wanted: fn(&Verdict) -> bool| outcome.laws.iter().filter(|(_, verdict)| wanted(verdict)).count();
    let failed = number(|verdict| matches!(verdict, Verdict::Fail(_)));
    let skipped = number(|verdict| matches!(verdict, Verdict::Skipped(_)));
    let mut parts = vec![format!("{} pass", outcome.laws.len() - failed - skipped)];
    parts.extend((failed > 0).then(|| format!("{failed} fail")));
    parts.extend((skipped > 0).then(|| format!("{skipped} skipped")));
    let word = job.talk.verdict(outcome.is_ok(), if outcome.is_ok() { "pass" } else { "fail" });
    job.line(format!("{word} {} ({dialect}: {})", job.path, parts.join(", ")));
    for (name, verdict) in &outcome.laws {
        // What was asked for has an answer.
        let is_asked = *name == SOURCE && matches!(verdict, Verdict::Skipped(_));
        if job.talk.verbose || is_asked || matches!(verdict, Verdict::Fail(_)) {
            job.line(format!("     {name}: {verdict}"));
        }
    }
}
