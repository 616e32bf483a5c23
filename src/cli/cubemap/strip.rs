//! `cubemap strip`: removes the images of cube maps.

use anyhow::Result;
use bspkit::op::cubemaps;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Remove the embedded images of cube maps, so that the game builds them again
///
/// The default images (`cubemapdefault.vtf`) stay unless --default is given. Places and materials stay: until
/// `buildcubemaps` has run in the game, materials that name a removed image reflect what the engine has in its place.
/// Other embedded textures stay, while `bspzip -deletecubemaps` removes all of them.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cubemap strip map.bsp -o out.bsp
  bspkit cubemap strip map.bsp --in-place --backup
  bspkit cubemap strip map.bsp --default --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// Remove the default images too
    #[arg(long = "default")]
    with_default: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        job.lists_all = true;
        let stripped = cubemaps::strip(draft, args.with_default)?;
        if stripped.files.is_empty() {
            return Ok(Edited::Nothing("no image of a cube map is embedded".to_owned()));
        }
        let images = count(stripped.files.len(), "image", "images");
        let materials = count(stripped.materials.len(), "material names", "materials name");
        let what =
            format!("{images} removed; {materials} a removed image; `buildcubemaps` in the game makes them anew");
        Ok(Edited::With { what, is_whole: true })
    })
}
