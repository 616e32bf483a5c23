//! `git textconv`: a map as text for `git diff`.

use std::path::PathBuf;

use anyhow::Result;
use bspkit::ErrorKind;
use bspkit::bytes::for_terminal;
use bspkit::face::input;
use bspkit::face::outline::{not_a_map, outline};

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::talk::Code;

/// Print a map as text that git can compare
///
/// Prints the dialect, each lump with its number of records and a hash of its content, the embedded files, and the text
/// of the entities. There are no offsets in it, so that a map whose lumps only moved has the same text. A file that is
/// not a map gives one line that says what it is and exit status 0, since `git diff` stops if this command fails.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git textconv dm4.bsp
  git diff --textconv -- maps"
))]
pub(crate) struct Args {
    /// The map, a file
    #[arg(value_name = "MAP")]
    map: PathBuf,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    Maps::file(&args.map).each(cx, |map, job| {
        match cx.open(&map.path) {
            // Pagers pass on what a map could tell a terminal.
            Ok(bsp) => drop(job.write(for_terminal(&outline(&bsp)).as_bytes())?),
            Err(error) => {
                let own = error.chain().find_map(|cause| cause.downcast_ref::<bspkit::Error>());
                match own.filter(|own| own.kind() != ErrorKind::Io) {
                    Some(own) => drop(job.write(not_a_map(&input::read(&map.path)?, own).as_bytes())?),
                    None => return Err(error),
                }
            }
        }
        Ok(Code::Done)
    })
}
