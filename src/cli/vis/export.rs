//! `vis export`: writes visibility as an image.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use bspkit::Bsp;
use bspkit::face::images::visibility::{self, Kind, places};
use bspkit::face::put::stream;

use super::Set;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{MapArgs, MapFile};
use crate::cli::show::shown;
use crate::cli::spare::spare;
use crate::cli::talk::{Code, Job};

/// Write the visibility as an image: a white pixel means that the leaf or cluster of the row sees that of the column
///
/// In Quake and GoldSrc maps the first row and column are leaf 1, since leaf 0 is the solid leaf. A row that cannot be
/// read is black and is reported.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis export dm4.bsp dm4.png
  bspkit vis export base1.bsp heard.pbm --set phs
  bspkit vis export maps pictures"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The image file: .png or .pbm; for several maps: a folder, with MAP.png for each
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,
    /// Which visibility
    #[arg(long, value_name = "SET", default_value = "pvs")]
    set: Set,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.maps.find();
    if maps.many {
        maps.check_folder(&args.file)?;
    } else {
        Kind::of(&args.file).with_context(|| format!("cannot write {}", shown(&args.file)))?;
    }
    maps.each(cx, |map, job| export(&cx.open(&map.path)?, map, args, job))
}

fn export(bsp: &Bsp<'_>, map: &MapFile, args: &Args, job: &mut Job<'_>) -> Result<Code> {
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
    let file = &map.file_in(&args.file, "png")?;
    spare(file, &map.path)?;
    let kind = Kind::of(file)?;
    let mut unread = Vec::new();
    stream(file, args.force, |file| {
        unread = visibility::export(&visibility, set, kind, file)?;
        Ok(())
    })?;
    for error in &unread {
        job.warn_here(&error.to_string());
        job.code = Code::Found;
    }
    job.say(&format!("{}: {} by {} pixels", shown(file), places.len(), places.len()));
    Ok(job.code)
}
