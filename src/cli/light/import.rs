//! `light import`: reads light from images.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bspkit::Draft;
use bspkit::face::images::light::{self, INDEX, Index};

use super::{find_all, warn_of_copies};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::{Code, Job};

/// Replace the light with that in images, as `light export` writes them
///
/// Each image is compared with what `light export` would write now. A changed pixel changes only its luxel, and the
/// average color of the face if the map has it. If there are a `.hdr` and a `.png` with the same name, either can be
/// changed, and one of them can be missing. If an image is missing or has another size or depth, it is reported,
/// nothing is written and the exit status is 1; with --force the other images are imported. If a map has the same light
/// in grey and in color, a change in one is applied to the other.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light import base1.bsp pages -o out.bsp
  bspkit light import base1.bsp pages --dry-run
  bspkit light import maps lights -o edited"
))]
pub(super) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder with `light.json` and the images; for several maps: the folder that `light export` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let read = |folder: &Path| read(folder, &args.save);
    // For a single map, an unreadable folder is an error of the arguments and not of the map.
    let single = if args.maps.are_many() { None } else { Some(read(&args.folder)?) };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let Some(folder) = map.read_from(&args.folder, "") else {
            return Ok(Edited::Nothing("no light to import".to_owned()));
        };
        let own = if single.is_none() { Some(read(&folder)?) } else { None };
        let Some(index) = single.as_ref().or(own.as_ref()) else { bail!("the folder has no {}", INDEX) };
        import(draft, index, args, job)
    })
}

/// Reads the index of the images.
fn read(folder: &Path, save: &Save) -> Result<Index> {
    save.spare(&folder.join(INDEX))?;
    let index = Index::read(folder)?;
    index.files().try_for_each(|path| save.spare(&path))?;
    Ok(index)
}

fn import(draft: &mut Draft<'static>, index: &Index, args: &Args, job: &mut Job<'_>) -> Result<Edited> {
    let taken = light::import(draft.light()?, index);
    find_all("images", taken.faults.iter().cloned(), job);
    if !taken.faults.is_empty() && !args.save.force {
        let images = count(taken.faults.len(), "image", "images");
        return Ok(Edited::Nothing(format!("{images} cannot be imported, so nothing is changed")));
    }
    if taken.changed > 0 {
        warn_of_copies(draft.bsp(), job);
    }
    if taken.carried > 0 {
        let luxels = count(taken.carried, "luxel", "luxels");
        job.say(&format!("{}: {luxels} of the same light in another lump changed too", job.path));
    }
    Ok(Edited::Done)
}
