//! `pak store`: decompresses embedded files.

use anyhow::Result;
use bspkit::content::pak::Pak;

use super::compress::{Which, each};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::talk::Code;

/// Store embedded files without compression
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak store map.bsp -o out.bsp
  bspkit pak store map.bsp 'sound/**' --in-place --backup"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    each(cx, &args.which, false, Pak::store)
}
