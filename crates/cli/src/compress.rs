//! `compress`, `decompress`, `prune`: the size of a map.

use anyhow::Result;
use bspkit::compress::{self, Report};
use bspkit::file::lzma::Level;
use bspkit::{Bsp, Draft, ErrorKind};
use bspkit_ops::prune::{Freed, Options, Pruned, PrunedLump, prune};
use bspkit_text::records::list_name;

use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::save::{Edited, Save};
use super::talk::{Code, Job};

// `compress`: compresses lumps. Also the code that `decompress` shares with it.

/// Compress the lumps and game lumps of a Source map with LZMA if that makes them smaller
///
/// Compressed lumps stay as they are. The file is rewritten without gaps, so that it becomes smaller; with --layout
/// keep every lump stays at its offset. For servers and clients, the compressed map is a different map.
#[derive(clap::Args)]
#[command(mut_arg("layout", |layout| layout.default_value("repack")), after_help = help!(
    "  bspkit compress source.bsp -o out.bsp
  bspkit compress source.bsp --all -o out.bsp
  bspkit compress source.bsp --pak --level 1 -o out.bsp
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
    effort: Effort,
    #[command(flatten)]
    save: Save,
}

// Also of `pak compress`. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(super) struct Effort {
    /// How hard to try: 0 is the fastest, 9 gives the smallest map
    #[arg(long, value_name = "0-9", default_value = "6", value_parser = level)]
    pub(super) level: Level,
}

fn level(text: &str) -> std::result::Result<Level, String> {
    let level = text.parse().map_err(|_| "it is not a number from 0 to 9".to_owned())?;
    Level::new(level).map_err(|error| error.to_string())
}

// The option of both commands. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(super) struct Pak {
    /// Also process the files in the pakfile
    #[arg(long)]
    pak: bool,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let how = how(cx, &args.pak).all(args.all).level(args.effort.level);
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
        Ok(if report.changed().next().is_some() { Edited::Done } else { Edited::same() })
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
    report.warnings.iter().for_each(|warning| job.warn_here(warning));
    let counts: Vec<String> = counts.into_iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    let (before, after) = report.sizes();
    if !counts.is_empty() {
        job.say(&format!("{}: {}; {before} -> {after} bytes", job.path, counts.join(", ")));
    }
}

// `decompress`: decompresses lumps, for compilers and editors.

/// Decompress the lumps and game lumps of a Source map
///
/// The compilers and most editors cannot read compressed lumps. The file is rewritten without gaps, as with `compress`.
#[derive(clap::Args)]
#[command(mut_arg("layout", |layout| layout.default_value("repack")), after_help = help!(
    "  bspkit decompress source.bsp -o out.bsp
  bspkit decompress sources --in-place --backup"
))]
pub(crate) struct DecompressArgs {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    pak: Pak,
    #[command(flatten)]
    save: Save,
}

pub(crate) fn run_decompress(cx: &Context, args: &DecompressArgs) -> Result<Code> {
    let how = how(cx, &args.pak);
    each(cx, &args.maps, &args.save, |draft| compress::decompress(draft, &how))
}

// `prune`: removes what nothing needs.

/// Remove what nothing in a map needs
///
/// These go: planes, texture entries and their names, vertexes, edges, brushes, nodes and lists to which nothing
/// refers, models that no entity names with all that belongs to them, and embedded textures that no face has. What
/// entities name stays, a model under any key, and so do animated textures of which one frame is used. Everything that
/// stays has the same content.
///
/// The table has the lumps that get smaller and the limits of the engine that are won back. If a lump of unknown
/// content may refer to records that would move, the map is refused; --keep leaves these records, --force moves them.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit prune base1.bsp --dry-run
  bspkit prune base1.bsp --light -o out.bsp
  bspkit prune maps --keep planes --in-place --backup
  bspkit prune goldsrc.bsp --only textures -o out.bsp"
))]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// Remove only from this lump, by number, name or role, or from this list as LUMP.LIST; can be repeated
    #[arg(long, value_name = "LUMP")]
    only: Vec<String>,
    /// Remove nothing from this lump, or list; can be repeated
    #[arg(long, value_name = "LUMP")]
    keep: Vec<String>,
    /// Also remove light that no face refers to, except in pages (Quake III) and in lumps where several lists
    /// have places (BSPX); offsets of light change
    #[arg(long)]
    light: bool,
    #[command(flatten)]
    save: Save,
}

impl PruneArgs {
    fn options(&self, map: &Bsp<'_>) -> Result<Options> {
        let mut options = Options::default().light(self.light).force(self.save.force);
        for name in &self.only {
            options = options.only(list_name(map, name)?);
        }
        for name in &self.keep {
            options = options.keep(list_name(map, name)?);
        }
        Ok(options)
    }
}

pub(crate) fn run_prune(cx: &Context, args: &PruneArgs) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let options = args.options(draft.bsp())?;
        let pruned = prune(draft, &options)?;
        pruned.warnings.iter().for_each(|warning| job.warn_here(warning));
        if job.json {
            let mut document = serde_json::to_value(&pruned)?;
            document["bytes"] = pruned.bytes().into();
            job.extra.insert("prune".to_owned(), document);
        }
        if pruned.lumps.is_empty() {
            job.say(&format!("{}: nothing is unused", job.path));
            // A repack leaves out the holes of earlier edits.
            return Ok(Edited::Done);
        }
        let lines = table(&pruned).into_iter().chain(limits(&pruned));
        match args.save.dry_run {
            true if !job.json => lines.for_each(|line| job.line(line)),
            _ => lines.for_each(|line| job.say(&line)),
        }
        // In its place a smaller lump leaves a hole. What is compressed may get larger.
        let is_packed = draft.bsp().slots().iter().any(|slot| draft.bsp().decompressed_size(slot.id).is_some());
        let holes = if args.save.keeps_places() && !is_packed {
            "; `--layout repack` makes the file smaller by them"
        } else {
            ""
        };
        Ok(Edited::With { what: format!("{} bytes were not needed{holes}", pruned.bytes()), is_whole: true })
    })
}

/// What goes, lump by lump.
fn table(pruned: &Pruned) -> Vec<String> {
    let width = pruned.lumps.iter().map(|lump| lump.lump.len()).max().unwrap_or(0).max(4);
    let line = |[lump, before, after, unit, bytes]: [&str; 5]| {
        format!("{lump:<width$}  {before:>9}  {after:>9}  {unit:<8}  {bytes:>9}")
    };
    let row = |PrunedLump { lump, unit, before, after, bytes, .. }: &PrunedLump| {
        line([lump, &before.to_string(), &after.to_string(), unit, &bytes.to_string()])
    };
    let head = line(["lump", "before", "after", "of", "bytes won"]);
    std::iter::once(head).chain(pruned.lumps.iter().map(row)).collect()
}

/// Which limits of the engine are won back.
fn limits(pruned: &Pruned) -> Vec<String> {
    let row = |Freed { lump, unit, before, after, max, .. }: &Freed| {
        format!("limit of {lump}: {before} -> {after} of {max} {unit}")
    };
    pruned.limits.iter().map(row).collect()
}
