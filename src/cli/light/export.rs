//! `light export`: writes light as images.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::content::lightmap::{Block, LightSet};
use bspkit::face::images::light::{self, Export, INDEX};
use bspkit::face::put::{self, put, refuse};
use bspkit::threads::in_parallel;
use clap::ValueEnum;

use super::choose::Choice;
use super::{nothing, say_faults};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{MapArgs, MapFile};
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Write the light as images
///
/// DIR gets `light.json`, which lists for each face, style and bump direction the file and the position in it. The
/// images are `page_000.png` and so on; with --by face they are `faces/00012_s0.png` (face 12, style 0), and
/// `faces/00012_s0_b1.png` to `_b3` for the directions of bumped faces. If a map has several kinds of light, each has a
/// folder: `ldr`, `hdr`, `decoupled`, `rgb`. Source light is in `.hdr` files; the `.png` with the same name is a
/// preview that can be edited too. Faces with light outside the lump are reported and left out; then the exit status is
/// 1.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light export base1.bsp pages
  bspkit light export base1.bsp faces --by face --faces 12,20-25
  bspkit light export maps lights"
))]
pub(super) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder to write to, created if it is missing; for several maps, it gets a folder for each
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The content of each file; Quake III light is always in pages
    #[arg(long, value_name = "WHAT", default_value = "page")]
    by: By,
    #[command(flatten)]
    choice: Choice,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The light of many faces
    Page,
    /// The light of one face
    Face,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.maps.find().one_by_one();
    maps.check_folder(&args.folder)?;
    maps.each(cx, |map, job| export(&cx.open(&map.path)?, map, cx.options.jobs(), args, job))
}

fn export(bsp: &Bsp<'_>, map: &MapFile, threads: usize, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot export the light of {}", shown(&map.path));
    let light = bsp.light().with_context(cannot)?;
    say_faults(&light, job);
    args.choice.check(&light, job).with_context(cannot)?;
    let name = map.path.file_name().map(|name| shown(Path::new(name))).unwrap_or_default();
    let is_chosen = |set: &LightSet, block: &Block, style: usize| args.choice.has(set, block, style);
    let export = light::export(bsp, &light, &name, args.by == By::Face, is_chosen)?;
    if export.files().is_empty() {
        return Ok(job.nothing(&nothing(bsp, &map.path)?));
    }
    let folder = &map.place(&args.folder, "");
    let cannot = || format!("cannot export to {}", shown(folder));
    make_folders(folder, &export).with_context(cannot)?;
    refuse_others(folder, args.force, &export).with_context(cannot)?;
    let written = in_parallel(threads, export.files(), |file| {
        let mut files = export.encode(file)?.into_iter();
        files.try_for_each(|(name, bytes)| Ok(put(&folder.join(name), &bytes, args.force)?))
    });
    written.into_iter().collect::<Result<Vec<()>>>().with_context(cannot)?;
    put(&folder.join(INDEX), export.index(), args.force).with_context(cannot)?;
    let images: usize = export.files().iter().map(light::File::image_count).sum();
    let (images, files) = (count(images, "image", "images"), count(export.files().len(), "file", "files"));
    job.say(&format!("{}: {images} in {files}", shown(folder)));
    Ok(job.code)
}

fn make_folders(folder: &Path, export: &Export<'_, '_>) -> Result<()> {
    put::folder(folder)?;
    let mut below: Vec<PathBuf> =
        export.names().filter_map(|name| Some(Path::new(&name).parent()?.to_owned())).collect();
    below.sort_unstable();
    below.dedup();
    Ok(below.into_iter().try_for_each(|below| put::folder(&folder.join(below)))?)
}

/// Refuses existing files before anything is written.
fn refuse_others(folder: &Path, force: bool, export: &Export<'_, '_>) -> Result<()> {
    let mut paths = export.names().chain([INDEX.to_owned()]).map(|name| folder.join(name));
    paths.try_for_each(|path| Ok(refuse(&path, force)?))
}
