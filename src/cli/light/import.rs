//! `light import`: images as light.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bspkit::Draft;
use bspkit::face::images::light::{self, INDEX, Index};

use super::{find, warn_of_copies};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::{Code, Job};

/// Take the light from images that `light export` wrote
///
/// Each image is compared with what an export would write now: a pixel that is the same leaves its luxel as it is, and
/// another one changes that luxel alone, with the average of the face where the map keeps one. Of `.hdr` and `.png` of
/// one name either may be changed, and a file that is not there changes nothing while the other is. Where images have
/// another size or depth or are missing, each is named, nothing is written and the exit status is 1; with --force the
/// others are taken. Where a map has its light in grey and in color, what was painted in one changes the other as much.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light import base1.bsp pages -o out.bsp
  bspkit light import base1.bsp pages --dry-run
  bspkit light import maps lights -o edited"
))]
pub(super) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder with `light.json` and the images; for a folder of maps the one that `light export` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let read = |folder: &Path| read(folder, &args.save);
    // Of one map, what cannot be read is no fault of that.
    let single = if args.maps.are_many() { None } else { Some(read(&args.folder)?) };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let Some(folder) = map.read_from(&args.folder, "") else {
            return Ok(Edited::Nothing("there is no light of its own to take".to_owned()));
        };
        let own = if single.is_none() { Some(read(&folder)?) } else { None };
        let Some(index) = single.as_ref().or(own.as_ref()) else { bail!("there is no {}", INDEX) };
        import(draft, index, args, job)
    })
}

/// Reads what says where in which file the light is.
fn read(folder: &Path, save: &Save) -> Result<Index> {
    save.spare(&folder.join(INDEX))?;
    let index = Index::read(folder)?;
    index.files().try_for_each(|path| save.spare(&path))?;
    Ok(index)
}

fn import(draft: &mut Draft<'static>, index: &Index, args: &Args, job: &mut Job<'_>) -> Result<Edited> {
    let taken = light::import(draft.light()?, index);
    taken.faults.iter().for_each(|fault| find(fault, job));
    if !taken.faults.is_empty() && !args.save.force {
        let images = count(taken.faults.len(), "image", "images");
        return Ok(Edited::Nothing(format!("{images} cannot be taken, so no light is changed")));
    }
    if taken.changed > 0 {
        warn_of_copies(draft.bsp(), job);
    }
    job.say(&format!("{}: {} changed", job.path, count(taken.changed, "luxel", "luxels")));
    if taken.carried > 0 {
        let luxels = count(taken.carried, "luxel", "luxels");
        job.say(&format!("{}: {luxels} of the same light elsewhere changed with them", job.path));
    }
    Ok(Edited::Done)
}
