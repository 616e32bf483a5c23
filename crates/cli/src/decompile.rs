//! `decompile`: a map back to the source that it was compiled from.

use std::path::{Path, PathBuf};

use crate::output::PathJson;
use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::disk::put::put;
use bspkit::finding::Finding;
use bspkit_decompile::source::Format;
use bspkit_decompile::{Effort, LeftOut, Options, Outcome, Proof, UNKNOWN_SIZE, decompile, prove};
use bspkit_ops::check::unreadable;
use serde::Serialize;

use super::context::{Context, is_stdin};
use super::help;
use super::talk::{Code, Job, bad_argument, count, shown};
use crate::context::Report;
use crate::maps::Reading;
use crate::output::spare;
use crate::see::say_findings;

/// Write the source of a map: brushes, patches, displacements and entities, for editors and compilers
///
/// The end of FILE says what is written: `.vmf` for Hammer, `.map` for TrenchBroom, NetRadiant, J.A.C.K. and others.
/// A `.map` has the form that loses nothing in the family of the map: brush primitives for Quake III and its relatives,
/// Valve 220 for all others. --format names another one: `quake` (one angle and scale for each side), `valve`, `quake3`
/// (as `quake`, with patches), `brushdef`, `vmf`. Several maps go to a folder.
///
/// The text is then read again and compared with the map: the contents of points at random, near all corners and on
/// both sides of all faces, and the texture and alignment of all faces that are drawn. The shares that agree are
/// printed.
///
/// What cannot be brought back is named and left out; then the exit status is 1. Nothing is written if no brush can be
/// brought back.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit decompile base1.bsp -o base1.map
  bspkit decompile c1a0.bsp -o c1a0.map
  bspkit decompile base1.bsp -o quake.map --format quake
  bspkit decompile base1.bsp -o base1.map --overwrite --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The file to write; for several maps a folder
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,
    /// The form of the source [default: by the end of FILE and the family of the map]
    #[arg(long, value_name = "quake|valve|quake3|brushdef|vmf")]
    format: Option<Format>,
    /// Do not compare the source with the map
    #[arg(long)]
    no_proof: bool,
    /// Replace existing files
    #[arg(long)]
    overwrite: bool,
}

#[derive(Serialize)]
struct Decompiled {
    #[serde(flatten)]
    file: PathJson,
    byte_count: usize,
    #[serde(flatten)]
    made: Outcome,
    /// The faults for which a part of the map cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Finding>,
}

impl Report for Decompiled {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        job.say(&self.sentence());
        Ok(())
    }

    fn code(&self) -> Code {
        let is_proved = self.made.proof.as_ref().is_none_or(|shares| shares.proof.is_whole());
        let is_whole = self.made.report.left_out.is_empty() && self.findings.is_empty();
        if is_whole && is_proved { Code::Done } else { Code::Found }
    }
}

impl Decompiled {
    fn sentence(&self) -> String {
        let of = &self.made.report;
        let mut parts = vec![count(of.entity_count, "entity", "entities"), count(of.brush_count, "brush", "brushes")];
        let more = [(of.patch_count, "patch", "patches"), (of.displacement_count, "displacement", "displacements")];
        parts.extend(
            more.into_iter().filter(|(number, ..)| *number > 0).map(|(number, one, all)| count(number, one, all)),
        );
        if let Some(shares) = &self.made.proof {
            parts.push(format!("{} of points agree", percent(shares.point_share)));
            parts.push(match shares.proof.faces.judged > 0 {
                true => format!("{} of the area of faces", percent(shares.area_share)),
                false => "no face to compare".to_owned(),
            });
        }
        format!("{}: {}", self.file, parts.join(", "))
    }
}

/// A share in percent, not rounded up to all.
fn percent(share: f64) -> String {
    let value = (share * 10_000.0).floor() / 100.0;
    format!("{value} %")
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.reading.maps().one_by_one();
    if maps.many {
        maps.check_folder(&args.output)?;
    }
    let to_stdout = is_stdin(&args.output);
    if to_stdout && maps.many {
        return Err(bad_argument("only one source can go to stdout".to_owned(), "use -o FOLDER"));
    }
    if to_stdout && args.reading.json {
        return Err(bad_argument("the source and the report cannot both go to stdout".to_owned(), "leave out --json"));
    }
    if !maps.many && !to_stdout {
        args.check_name()?;
    }
    maps.each(cx, |map, job| {
        let bsp = cx.open_said(&map.path, job)?;
        let cannot = || format!("cannot decompile {}", shown(&map.path));
        let format = args.format(&bsp, maps.many || to_stdout);
        let found = decompile(&bsp, &Options { format, ..Options::default() }).with_context(cannot)?;
        let text = found.text();
        let proof = match args.no_proof {
            true => None,
            false => Some(prove(&bsp, &text, found.format, &Effort::default()).with_context(cannot)?),
        };
        let findings = unreadable(&bsp);
        say_findings(&findings, job);
        say_left_out(&found.report.left_out, job);
        for note in found.report.notes.iter().filter(|note| note.why == UNKNOWN_SIZE) {
            job.warn_here(&format!("{}: {UNKNOWN_SIZE}", count(note.count, "side", "sides")));
        }
        proof.iter().flat_map(Proof::differences).for_each(|what| job.warn_here(&what));
        let target = map.file_in(&args.output, found.format.extension())?;
        let made = Decompiled {
            file: PathJson::new("file", Some(&target)),
            byte_count: text.len(),
            made: Outcome::new(found.report, proof),
            findings,
        };
        if to_stdout {
            job.deliver(&text)?;
            job.say(&made.sentence());
            return Ok(made.code());
        }
        spare(&target, [&*map.path])?;
        put(&target, &text, args.overwrite).with_context(|| format!("cannot write {}", shown(&target)))?;
        job.report(&made)
    })
}

/// Reports what is left out: how many of each kind, and which.
fn say_left_out(all: &[LeftOut], job: &mut Job<'_>) {
    for one in all {
        let places: Vec<String> = one.places.iter().take(5).map(usize::to_string).collect();
        let more = if one.count > places.len() { ", ..." } else { "" };
        let kind = match one.kind {
            "brush" => count(one.count, "brush is", "brushes are"),
            "entity" => count(one.count, "entity is", "entities are"),
            "part of the entities" => count(one.count, "part of the entities is", "parts of the entities are"),
            "patch" => count(one.count, "patch is", "patches are"),
            kind => count(one.count, &format!("{kind} is"), &format!("{kind}s are")),
        };
        job.warn_here(&format!("{kind} left out ({}{more}): {}", places.join(", "), one.why));
    }
}

impl Args {
    /// The form of a source; `None` for the usual one of the family.
    fn format(&self, map: &Bsp<'_>, is_free: bool) -> Option<Format> {
        let by_name = || self.output.file_name().and_then(|name| Format::of_name(&name.to_string_lossy()));
        match self.format {
            Some(format) => Some(format),
            None if is_free => None,
            // A `.map` of a map whose usual source is a `.vmf`.
            None => by_name().or_else(|| map.slot("TEXDATA").is_ok().then_some(Format::Valve)),
        }
    }

    fn check_name(&self) -> Result<()> {
        let end = Path::new(&self.output).extension().map(|end| end.to_ascii_lowercase());
        let is_known = Format::ALL.iter().any(|format| end.as_deref() == Some(format.extension().as_ref()));
        if is_known || self.format.is_some() {
            return Ok(());
        }
        let message = format!("the name of {} does not say what to write", shown(&self.output));
        Err(bad_argument(message, "let it end in .map or .vmf, or use --format"))
    }
}
