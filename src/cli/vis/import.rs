//! `vis import`: reads visibility from an image.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::Draft;
use bspkit::face::images::visibility;

use super::Set;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::shown;
use crate::cli::talk::Code;

/// Replace the visibility with that in an image, as `vis export` writes it
///
/// A row whose pixels were not changed keeps its bytes.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis import dm4.bsp vis.png -o out.bsp
  bspkit vis import base1.bsp heard.pbm --set phs --in-place --backup
  bspkit vis import maps pictures -o edited"
))]
pub(crate) struct Args {
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

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.maps.are_many() && !args.file.is_dir() {
        bail!("{} is not a folder: several maps need a folder with an image for each", shown(&args.file));
    }
    args.save.spare(&args.file)?;
    args.save.each(cx, args.maps.find(), |draft, map, _| match map.read_from(&args.file, "png") {
        Some(file) => import(draft, &file, args),
        None => Ok(Edited::Nothing("no image to import".to_owned())),
    })
}

fn import(draft: &mut Draft<'static>, file: &Path, args: &Args) -> Result<Edited> {
    let visibility = draft.visibility()?;
    if visibility::places(visibility).is_empty() {
        return Ok(Edited::Nothing("no visibility: everything is visible".to_owned()));
    }
    let set = args.set.into();
    let cannot = || format!("cannot import {}", shown(file));
    args.save.spare(file)?;
    visibility::import(visibility, set, file).with_context(cannot)?;
    Ok(Edited::Done)
}
