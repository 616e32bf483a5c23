//! `vis`: visibility.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::content::visibility::{VisSet, Visibility};
use bspkit::dialect::{Role, VisModel};
use bspkit::disk::put::stream;
use bspkit::finding::{Code as FindingCode, Finding};
use bspkit::{Bsp, Draft, Place};
use bspkit_ops::check;
use bspkit_text::images::visibility::{self, Kind, places};
use clap::ValueEnum;
use serde::Serialize;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};
use crate::context::Report;
use crate::maps::{MapArgs, MapFile, Reading};
use crate::output::spare;
use crate::save::{Edited, Save};
use crate::talk::{Job, count, shown};

/// Show and change visibility: which parts of a map are visible from which
///
/// The PVS lists, for each leaf (Quake, GoldSrc) or cluster of leafs (Quake II, Quake III, Source), which others may be
/// visible from there. Quake II and Source also have the PHS, which lists those that may be heard; Source calls it PAS.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit vis stat maps
  bspkit vis export dm4.bsp -o vis.png
  bspkit vis import dm4.bsp vis.png -o out.bsp
  bspkit vis fill dm4.bsp -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    Stat(StatArgs, run_stat),
    Export(ExportArgs, run_export),
    Import(ImportArgs, run_import),
    Fill(FillArgs, run_fill),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

/// The set of rows: visible or audible.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    /// What is visible
    Pvs,
    /// What is audible (Quake II, Source)
    Phs,
}

impl From<Set> for VisSet {
    fn from(set: Set) -> Self {
        match set {
            Set::Pvs => VisSet::Pvs,
            Set::Phs => VisSet::Phs,
        }
    }
}

// `vis stat`: counts what is visible.

/// Print from how many leafs or clusters how many others are visible
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis stat dm4.bsp
  bspkit vis stat maps --json > vis.jsonl"
))]
pub(crate) struct StatArgs {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Stat {
    /// The places that have rows: leafs or clusters.
    rows_are: &'static str,
    place_count: usize,
    bytes: usize,
    sets: Vec<SetJson>,
    /// Rows that cannot be read.
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct SetJson {
    set: &'static str,
    row_count: usize,
    /// Places without a row, from where everything is visible.
    without_row_count: usize,
    /// The number of places that are visible from one place.
    least: usize,
    most: usize,
    mean: f64,
}

impl Report for Stat {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let (rows_are, places) = (self.rows_are, self.place_count);
        if places == 0 {
            job.line(format!("{}: no visibility, everything is visible", job.path));
        }
        let whole = f64::from(u32::try_from(places)?);
        for SetJson { set, without_row_count, least, most, mean, .. } in &self.sets {
            let bare = match without_row_count {
                0 => String::new(),
                bare => format!(", {} without a row", count(*bare, "place", "places")),
            };
            let (path, percent) = (&job.path, 100.0 * mean / whole);
            job.line(format!(
                "{path}: {set} of {places} {rows_are}: {least} to {most} visible, {mean:.1} on average \
                 ({percent:.1} %){bare}"
            ));
        }
        for finding in &self.findings {
            if job.takes("rows") {
                job.warn_here(&finding.message);
            }
        }
        Ok(())
    }

    fn code(&self) -> Code {
        if self.findings.is_empty() { Code::Done } else { Code::Found }
    }
}

fn run_stat(cx: &Context, args: &StatArgs) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let cannot = || format!("cannot read the visibility of {}", shown(job.file));
        let visibility = bsp.visibility().with_context(cannot)?;
        let places = places(&visibility);
        let (code, mut findings) = (check::code("vis-row")?, Vec::new());
        let sets = visibility.sets().iter().filter(|_| !places.is_empty());
        let bytes = bsp.role(Role::Visibility).map_or(Ok(0), |slot| bsp.bytes(slot.id).map(|bytes| bytes.len()))?;
        job.report(&Stat {
            rows_are: if matches!(visibility.model(), VisModel::Leafs(_)) { "leafs" } else { "clusters" },
            place_count: places.len(),
            bytes,
            sets: sets.map(|set| of_set(&visibility, *set, &places, (code, &mut findings))).collect(),
            findings,
        })
    })
}

fn of_set(
    visibility: &Visibility<'_>,
    set: VisSet,
    places: &[usize],
    (code, findings): (&'static FindingCode, &mut Vec<Finding>),
) -> SetJson {
    let (mut counts, mut without_row, mut sum, mut rows) = (Vec::new(), 0, 0.0, 0.0);
    for place in places {
        match visibility.row(set, *place) {
            Ok(None) => without_row += 1,
            Ok(Some(row)) => {
                counts.push(row.iter().count());
                rows += 1.0;
                sum += row.iter().map(|_| 1.0).sum::<f64>();
            }
            Err(error) => findings.push(Finding::new(code, Place::default().record(*place), error.to_string())),
        }
    }
    let (least, most) = (counts.iter().min(), counts.iter().max());
    SetJson {
        set: set.name(),
        row_count: counts.len(),
        without_row_count: without_row,
        least: least.copied().unwrap_or(0),
        most: most.copied().unwrap_or(0),
        mean: if rows > 0.0 { sum / rows } else { 0.0 },
    }
}

// `vis export`: writes visibility as an image.

/// Write the visibility as an image: a white pixel means that the leaf or cluster of the row sees that of the column
///
/// In Quake and GoldSrc maps the first row and column are leaf 1, since leaf 0 is the solid leaf. A row that cannot be
/// read is black and is reported.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis export dm4.bsp -o dm4.png
  bspkit vis export base1.bsp -o heard.pbm --set phs
  bspkit vis export maps -o pictures"
))]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The image file: .png or .pbm; for several maps: a folder, with MAP.png for each
    #[arg(short, long, value_name = "FILE|DIR", required = true)]
    output: PathBuf,
    /// Which visibility
    #[arg(long, value_name = "SET", default_value = "pvs")]
    set: Set,
    /// Replace existing files
    #[arg(long)]
    overwrite: bool,
}

fn run_export(cx: &Context, args: &ExportArgs) -> Result<Code> {
    let maps = args.maps.find();
    if maps.many {
        maps.check_folder(&args.output)?;
    } else {
        Kind::of(&args.output).with_context(|| format!("cannot write {}", shown(&args.output)))?;
    }
    maps.each(cx, |map, job| export(&cx.open_said(&map.path, job)?, map, args, job))
}

fn export(bsp: &Bsp<'_>, map: &MapFile, args: &ExportArgs, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot export the visibility of {}", shown(&map.path));
    let visibility = bsp.visibility().with_context(cannot)?;
    let places = places(&visibility);
    if places.is_empty() {
        return Ok(job.nothing("no visibility: everything is visible"));
    }
    let set = args.set.into();
    if !visibility.sets().contains(&set) {
        bail!("{} has no PHS: use --set pvs", shown(&map.path));
    }
    let file = &map.file_in(&args.output, "png")?;
    spare(file, [&*map.path])?;
    let kind = Kind::of(file)?;
    let mut unread = Vec::new();
    stream(file, args.overwrite, |file| {
        unread = visibility::export(&visibility, set, kind, file)?;
        Ok(())
    })?;
    for error in &unread {
        if job.takes("rows") {
            job.warn_here(&error.to_string());
        }
        job.code = Code::Found;
    }
    job.say(&format!("{}: {} by {} pixels", shown(file), places.len(), places.len()));
    Ok(job.code)
}

// `vis import`: reads visibility from an image.

/// Replace the visibility with that in an image, as `vis export` writes it
///
/// A row whose pixels were not changed keeps its bytes. Pixels have to be black or white: others are refused.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis import dm4.bsp vis.png -o out.bsp
  bspkit vis import base1.bsp heard.pbm --set phs --in-place --backup
  bspkit vis import maps pictures -o edited"
))]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The image file: .png or .pbm; for several maps: the folder that `vis export` wrote
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,
    /// Which visibility
    #[arg(long, value_name = "SET", default_value = "pvs")]
    set: Set,
    #[command(flatten)]
    save: Save,
}

fn run_import(cx: &Context, args: &ImportArgs) -> Result<Code> {
    if args.maps.are_many() && !args.file.is_dir() {
        bail!("{} is not a folder: several maps need a folder with an image for each", shown(&args.file));
    }
    args.save.spare(&args.file)?;
    args.save.each(cx, args.maps.find(), |draft, map, job| match map.read_from(&args.file, "png") {
        Some(file) => import(draft, &file, args, job),
        None => Ok(Edited::Nothing("no image to import".to_owned())),
    })
}

fn import(draft: &mut Draft<'static>, file: &Path, args: &ImportArgs, job: &mut Job<'_>) -> Result<Edited> {
    let before = draft.bsp().visibility().map_or(0, |visibility| visibility.unheard().count());
    let visibility = draft.visibility()?;
    if visibility::places(visibility).is_empty() {
        return Ok(Edited::Nothing("no visibility: everything is visible".to_owned()));
    }
    let set = args.set.into();
    let cannot = || format!("cannot import {}", shown(file));
    args.save.spare(file)?;
    visibility::import(visibility, set, file).with_context(cannot)?;
    let unheard = visibility.unheard().count();
    if unheard > before {
        let places = count(unheard, "cluster has", "clusters have");
        job.warn_here(&format!("{places} something visible that is not audible: import an image with --set phs too"));
    }
    Ok(Edited::Done)
}

// `vis fill`: makes everything visible from everywhere.

/// Make everything visible and audible from everywhere
///
/// Use it if things disappear that should be visible; the game then draws more. Leafs or clusters share one compressed
/// row, so the map does not grow.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis fill dm4.bsp -o out.bsp
  bspkit vis fill maps -o filled"
))]
pub(crate) struct FillArgs {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    save: Save,
}

fn run_fill(cx: &Context, args: &FillArgs) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        if !draft.visibility()?.fill()? {
            job.say(&format!("{}: everything is visible already", job.path));
            return Ok(Edited::same());
        }
        Ok(Edited::Done)
    })
}
