//! `pak sync`: makes the embedded files those of a folder.

use std::path::PathBuf;

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::face::pak::{self, Names};

use super::notices::{RENAMED, about, left_out};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Make the embedded files those of a folder
///
/// Files whose bytes differ are replaced, files that are missing in the folder are removed, and new files follow the
/// others. A file with the same bytes keeps its name, order, time and compression: after `pak extract`, `pak sync` of
/// the same folder changes nothing. Files that cannot be in a folder, because of their name or because they are
/// damaged, stay.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak sync map.bsp content --dry-run
  bspkit pak sync map.bsp content --in-place --backup"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder; for several maps, it has a folder for each, as `pak extract` makes them
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Keep case and backslashes of new names, and embed all files, also .DS_Store, Thumbs.db and .git
    #[arg(long)]
    as_is: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let names = if args.as_is { Names::AsIs } else { Names::Normal };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        job.lists_all = true;
        let Some(folder) = map.read_from(&args.folder, "") else {
            return Ok(Edited::Nothing("the folder has no folder for this map".to_owned()));
        };
        let pak = draft.pak()?;
        let old: Vec<Vec<u8>> = pak.iter().map(|entry| entry.name().to_vec()).collect();
        let synced = pak::sync(pak, &folder, names)?;
        for (index, why) in &synced.kept {
            job.warn_here(&format!("`{}` stays, since it cannot be in a folder: {why}", escaped(&old[*index])));
        }
        left_out(&synced.left_out, names).iter().for_each(|notice| job.say(notice));
        let renamed = about(synced.renamed.iter().map(|name| &name[..]), RENAMED);
        renamed.iter().for_each(|notice| job.say(notice));
        let (added, changed, removed) = (synced.added, synced.changed, synced.removed);
        let what = format!("{added} added, {changed} changed, {removed} removed, {} as they were", synced.same);
        Ok(Edited::With { what, is_whole: true })
    })
}
