//! `vis import`: what is visible from where, from a picture.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use bspkit::Draft;

use super::picture::Picture;
use super::{Set, places};
use crate::cli::help;
use crate::cli::options::Options;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job, Talk};

/// Take what is visible from a picture that `vis export` wrote
///
/// A row whose pixels are as `vis export` would write them keeps its bytes.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis import dm4.bsp vis.png -o out.bsp
  bspkit vis import base1.bsp heard.pbm --set phs --in-place --backup"
))]
pub(crate) struct Args {
    /// The map
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// The picture: .png or .pbm
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which rows
    #[arg(long, value_name = "SET", default_value = "pvs")]
    set: Set,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    if args.map.is_dir() {
        bail!("{} is a folder; vis import takes one map", shown(&args.map));
    }
    args.save.spare(&args.file)?;
    args.save.each(options, talk, &args.map, |draft, job| import(draft, args, job))
}

fn import(draft: &mut Draft<'static>, args: &Args, job: &mut Job<'_>) -> Result<Edited> {
    let mut visibility = draft.visibility()?;
    let places = places(&visibility);
    if places.is_empty() {
        return Ok(Edited::Nothing("no visibility: everything is visible".to_owned()));
    }
    let set = args.set.into();
    let cannot = || format!("cannot take {}", shown(&args.file));
    let mut picture = Picture::open(&args.file, places.len()).with_context(cannot)?;
    let mut changed = 0;
    for place in &places {
        let bits = picture.row().with_context(cannot)?;
        // What was exported: a row that is not there shows everything, one that cannot be read nothing.
        let old = match visibility.row(set, *place) {
            Ok(row) => row.unwrap_or_else(|| visibility.plain(true)),
            Err(_) => visibility.plain(false),
        };
        let mut new = old.clone();
        for (bit, to) in places.iter().enumerate() {
            let sees = bits[bit / 8] & (1 << (bit % 8)) != 0;
            if sees != old.sees(*to) {
                new.set(*to, sees)?;
            }
        }
        if new != old {
            visibility.set_row(set, *place, new)?;
            changed += 1;
        }
    }
    draft.set_visibility(&visibility)?;
    job.say(&format!("{}: {} changed", shown(&args.file), count(changed, "row", "rows")));
    Ok(Edited::Done)
}
