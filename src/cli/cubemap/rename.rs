//! `cubemap rename`: gives the images of cube maps the name of another map.

use std::ffi::OsString;

use anyhow::Result;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::rename::{Task, failed, json, old_name, renaming};
use crate::cli::save::{Edited, Save, bad_argument};
use crate::cli::talk::Code;

/// Rename the images of cube maps, and the paths in materials that name them
///
/// Engines look for the images by the file name of the map. This is the part of `rename` that a map needs whose file
/// was renamed: names of textures and materials stay.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cubemap rename map.bsp own_arena --from old -o out.bsp
  bspkit cubemap rename map.bsp map --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    map: MapArgs,
    /// The new name
    #[arg(value_name = "NEW")]
    new: OsString,
    /// The old name [default: that of the file, or the one name that the paths in the map have]
    #[arg(long, value_name = "OLD")]
    from: Option<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.map.are_many() {
        return Err(bad_argument("several maps cannot have one name".into(), "name one map"));
    }
    let old = match old_name(cx, args.map.first(), args.from.as_deref()) {
        Ok(old) => old,
        Err(error) => return failed(cx, args.map.first(), args.save.json, error),
    };
    let rename = renaming(&old, &args.new, args.from.is_some())?.only_cubemaps().merging(args.save.force);
    args.save.each(cx, args.map.find(), |draft, _, job| {
        let task = Task::of_cubemaps(rename.apply(draft)?);
        if job.json {
            job.extra.insert("rename".to_owned(), json(&task.renamed, &[])?);
        }
        match args.save.dry_run {
            true if !job.json => task.list(job),
            _ => task.say(job),
        }
        if task.has_nothing() {
            return Ok(Edited::Nothing(format!("no cube map: {}", task.nothing())));
        }
        let is_whole = task.renamed.problems.is_empty();
        Ok(Edited::With { what: format!("{} renamed", task.renamed.summary()), is_whole })
    })
}
