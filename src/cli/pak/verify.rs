//! `pak verify`: finds faults in embedded files.

use anyhow::{Error, Result};
use bspkit::ErrorKind;
use bspkit::content::pak::{self, Finding};
use bspkit::face::report::{FindingJson, PlaceJson};
use bspkit::op::check::Severity;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::{Few, count, shown};
use crate::cli::talk::{Code, Job};

/// Read every embedded file and report what is wrong or odd
///
/// A file is wrong if some engine or zip tool reads other bytes than the directory states, or cannot read it: a stale
/// checksum, damaged data, headers that contradict each other, a name that leads out of its folder, a compressed sound.
/// A file is odd if Valve's tools would not write it so, but all readers read it, or if `pak extract` does not write it
/// because of its name. Odd files do not change the exit status. Ten of a kind are listed; -v lists all.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak verify map.bsp
  bspkit pak verify tf/maps --json > findings.jsonl"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Verified {
    ok: bool,
    file_count: usize,
    findings: Vec<FindingJson>,
}

/// A fault of the whole pakfile.
fn of_all(code: &'static str, message: String) -> FindingJson {
    FindingJson::new(code, Severity::Error, PlaceJson::default(), message)
}

/// A finding about one file.
fn of_file(finding: Finding) -> FindingJson {
    let severity = if finding.severity == pak::Severity::Wrong { Severity::Error } else { Severity::Warning };
    let place = PlaceJson { file: finding.entry, ..PlaceJson::default() };
    FindingJson::new(finding.code, severity, place, finding.message)
}

impl Report for Verified {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let wrong = self.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        let odd = self.findings.len() - wrong;
        let word = job.talk.verdict(self.ok, if self.ok { "pass" } else { "fail" });
        let mut parts = vec![count(self.file_count, "file", "files")];
        parts.extend((wrong > 0).then(|| format!("{wrong} wrong")));
        parts.extend((odd > 0).then(|| format!("{odd} odd")));
        job.line(format!("{word} {} ({})", job.path, parts.join(", ")));
        let mut few = Few::new(job.talk.verbose);
        for FindingJson { code, severity, place, message, .. } in &self.findings {
            if !few.takes(code) {
                continue;
            }
            let word = if *severity == Severity::Error { "wrong" } else { "odd" };
            let file = place.file.map_or(String::new(), |index| format!("#{index} "));
            job.line(format!("     {word}: {file}{message}"));
        }
        few.rest().for_each(|rest| job.line(format!("     {rest}")));
        Ok(())
    }

    fn code(&self) -> Code {
        if self.ok { Code::Done } else { Code::Found }
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.maps().one_by_one().each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let (file_count, mut findings): (usize, Vec<FindingJson>) = match bsp.pak() {
            Ok(pak) => (pak.len(), pak.check(cx.options.jobs()).into_iter().map(of_file).collect()),
            // A map of another engine has no pakfile, which is not a fault of the map.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::new(error).context(format!("cannot verify the files in {}", shown(&map.path))));
            }
            Err(error) => (0, vec![of_all("unreadable", error.to_string())]),
        };
        findings.extend(super::damage(&bsp).map(|message| of_all("bounds", message)));
        let ok = findings.iter().all(|finding| finding.severity != Severity::Error);
        job.report(&Verified { ok, file_count, findings })
    })
}
