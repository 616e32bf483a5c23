//! `pak verify`: what is wrong or odd about the embedded files.

use std::path::PathBuf;

use anyhow::{Error, Result};
use bspkit::ErrorKind;
use bspkit::content::pak::{Finding, Weight};
use serde::{Serialize, Serializer};

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::show::{Head, count, json, shown};
use crate::cli::talk::Code;

/// Read every embedded file and say what is wrong or odd
///
/// Wrong is what some reader, an engine or a zip tool, gets other bytes of than the directory promises, or none: a
/// stale checksum, damaged data, headers that contradict each other, a name that leaves its folder, a compressed sound.
/// Odd is what Valve's tools do not do and everything reads; it does not change the exit status.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak verify map.bsp
  bspkit pak verify tf/maps --json > findings.jsonl"
))]
pub(crate) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Print JSON: a document for a map, a line for each of a folder
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    ok: bool,
    files: usize,
    findings: Vec<FindingJson>,
}

#[derive(Serialize)]
struct FindingJson {
    #[serde(serialize_with = "by_name")]
    weight: Weight,
    code: &'static str,
    file: Option<usize>,
    message: String,
}

impl FindingJson {
    /// What is wrong with the pakfile as a whole.
    fn of_all(code: &'static str, message: String) -> Self {
        FindingJson { weight: Weight::Wrong, code, file: None, message }
    }
}

impl From<Finding> for FindingJson {
    fn from(finding: Finding) -> Self {
        let Finding { weight, code, entry, message, .. } = finding;
        FindingJson { weight, code, file: entry, message }
    }
}

fn by_name<S: Serializer>(weight: &Weight, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(weight)
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = Maps::of(&args.map).json(args.json).one_by_one();
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let (files, mut findings): (usize, Vec<FindingJson>) = match bsp.pak() {
            Ok(pak) => (pak.len(), pak.check(cx.options.jobs()).into_iter().map(FindingJson::from).collect()),
            // A map of another engine is no fault of its own.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::new(error).context(format!("cannot verify the files in {}", shown(&map.path))));
            }
            Err(error) => (0, vec![FindingJson::of_all("unreadable", error.to_string())]),
        };
        findings.extend(super::damage(&bsp).map(|message| FindingJson::of_all("bounds", message)));
        let is_wrong = |finding: &&FindingJson| finding.weight == Weight::Wrong;
        let wrong = findings.iter().filter(is_wrong).count();
        if args.json {
            let document = Document { head: Head::new(&map.path), ok: wrong == 0, files, findings };
            job.line(json(&document, maps.many)?);
        } else {
            let word = job.talk.verdict(wrong == 0, if wrong == 0 { "pass" } else { "fail" });
            let odd = findings.len() - wrong;
            let mut parts = vec![count(files, "file", "files")];
            parts.extend((wrong > 0).then(|| format!("{wrong} wrong")));
            parts.extend((odd > 0).then(|| format!("{odd} odd")));
            job.line(format!("{word} {} ({})", job.path, parts.join(", ")));
            for FindingJson { weight, file, message, .. } in &findings {
                let file = file.map_or(String::new(), |index| format!("#{index} "));
                job.line(format!("     {weight}: {file}{message}"));
            }
        }
        Ok(if wrong == 0 { Code::Done } else { Code::Found })
    })
}
