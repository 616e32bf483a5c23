//! `pak rm`: removes embedded files.

use std::ffi::OsString;

use anyhow::Result;

use super::names_of;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Remove embedded files
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak rm map.bsp 'materials/maps/**' -o out.bsp
  bspkit pak rm map.bsp '*.vhv' --in-place --backup"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The files
    #[arg(value_name = "GLOB", required = true)]
    patterns: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        job.lists_all = true;
        let pak = draft.pak()?;
        let names = names_of(pak);
        let indices = names.chosen(&args.patterns, job);
        if indices.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&args.patterns)));
        }
        pak.remove(&indices)?;
        Ok(Edited::Done)
    })
}
