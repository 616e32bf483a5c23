//! `decompress`: decompresses lumps, for compilers and editors.

use anyhow::Result;
use bspkit::op::compress;

use super::compress::{Pak, each, how};
use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::save::Save;
use super::talk::Code;

/// Decompress the lumps and game lumps of a Source map
///
/// The compilers and most editors cannot read compressed lumps. The file is rewritten without gaps, as with `compress`.
#[derive(clap::Args)]
#[command(mut_arg("layout", |layout| layout.default_value("repack")), after_help = help!(
    "  bspkit decompress source.bsp -o out.bsp
  bspkit decompress sources --in-place --backup"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    pak: Pak,
    #[command(flatten)]
    save: Save,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let how = how(cx, &args.pak);
    each(cx, &args.maps, &args.save, |draft| compress::decompress(draft, &how))
}
