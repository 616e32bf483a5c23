//! `compress`: compresses lumps. Also the code that `decompress` shares with it.

use anyhow::Result;
use bspkit::op::compress::{self, Report};
use bspkit::{Draft, ErrorKind};

use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::save::{Edited, Save};
use super::talk::{Code, Job};

/// Compress the lumps and game lumps of a Source map with LZMA if that makes them smaller
///
/// Compressed lumps stay as they are. The file is rewritten without gaps, so that it becomes smaller; with --layout
/// keep every lump stays at its offset. For servers and clients, the compressed map is a different map.
#[derive(clap::Args)]
#[command(mut_arg("layout", |layout| layout.default_value("repack")), after_help = help!(
    "  bspkit compress source.bsp -o out.bsp
  bspkit compress source.bsp --all -o out.bsp
  bspkit compress sources -o packed -v"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// Compress even if the result is larger, as bspzip does; some servers require it
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    pak: Pak,
    #[command(flatten)]
    save: Save,
}

// The option of both commands. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(super) struct Pak {
    /// Also process the files in the pakfile
    #[arg(long)]
    pak: bool,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let how = how(cx, &args.pak).all(args.all);
    each(cx, &args.maps, &args.save, |draft| compress::compress(draft, &how))
}

pub(super) fn how(cx: &Context, pak: &Pak) -> compress::Options {
    let how = compress::Options::default().pak(pak.pak);
    match cx.options.jobs {
        Some(threads) => how.threads(threads),
        None => how,
    }
}

pub(super) fn each(
    cx: &Context,
    maps: &MapArgs,
    save: &Save,
    work: impl Fn(&mut Draft<'static>) -> bspkit::Result<Report> + Sync,
) -> Result<Code> {
    save.each(cx, maps.find().one_by_one(), |draft, _, job| {
        let is_packable = |error: &bspkit::Error| error.kind() != ErrorKind::Refused;
        let report = work(draft).map_err(|error| match is_packable(&error) {
            true => anyhow::Error::new(error).context("a lump cannot be read"),
            false => anyhow::Error::new(error),
        })?;
        tell(&report, job);
        Ok(if report.changed().next().is_some() { Edited::Done } else { Edited::Same })
    })
}

fn tell(report: &Report, job: &mut Job<'_>) {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for piece in &report.pieces {
        let outcome = piece.outcome.to_string();
        match counts.iter_mut().find(|(name, _)| *name == outcome) {
            Some((_, count)) => *count += 1,
            None => counts.push((outcome.clone(), 1)),
        }
        if job.talk.verbose {
            let (before, after) = piece.sizes;
            job.say(&format!("{:>10} -> {:>10}  {} {outcome}", before, after, piece.name));
        }
    }
    if report.changed().next().is_some() {
        report.warnings.iter().for_each(|warning| job.warn_here(warning));
    }
    let counts: Vec<String> = counts.into_iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    let (before, after) = report.sizes();
    if !counts.is_empty() {
        job.say(&format!("{}: {}; {before} -> {after} bytes", job.path, counts.join(", ")));
    }
}
