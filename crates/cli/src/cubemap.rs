//! `cubemap`: the cube maps of Source maps.

use std::ffi::OsString;

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::disk::names;
use bspkit_game::cubemaps;
use serde::Serialize;

use super::context::Context;
use super::talk::{Code, bad_argument};
use super::{commands, help};
use crate::context::Report;
use crate::maps::{MapArgs, Reading};
use crate::pak::Packed;
use crate::rename::{Task, failed, json, old_name, renaming};
use crate::save::{Edited, Save};
use crate::talk::{Job, count};

/// List, remove and rename the cube maps of Source maps
///
/// A cube map is a place in the lump CUBEMAPS, and an embedded image that the game writes for it:
/// `materials/maps/NAME/cX_Y_Z.vtf`, with `.hdr.vtf` for light of the high range.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit cubemap list map.bsp
  bspkit cubemap strip map.bsp -o out.bsp
  bspkit cubemap rename map.bsp own_arena --old old -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    List(ListArgs, run_list),
    Strip(StripArgs, run_strip),
    Rename(RenameArgs, run_rename),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

// `cubemap list`: places and images of cube maps.

/// List cube maps: the position, the size in texels, and the embedded images
///
/// Embedded images that belong to no place come last: the default ones, and those of places that are gone.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cubemap list map.bsp
  bspkit cubemap list source.bsp --json"
))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Cubemaps<'a> {
    cubemaps: Vec<Cubemap<'a>>,
    /// Images that belong to no place.
    others: Vec<Packed<'a>>,
}

/// A place, with its files and not only their numbers.
#[derive(Serialize)]
struct Cubemap<'a> {
    index: usize,
    origin: [i32; 3],
    size: usize,
    files: Vec<Packed<'a>>,
}

impl Report for Cubemaps<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let files = |files: &[Packed<'_>]| match files {
            [] => "-".to_owned(),
            files => files.iter().map(|file| escaped(file.name).to_string()).collect::<Vec<_>>().join(", "),
        };
        if !self.cubemaps.is_empty() {
            job.line(format!("{:>6} {:>22} {:>6}  images", "#", "position", "size"));
        }
        for cubemap in &self.cubemaps {
            let [x, y, z] = cubemap.origin;
            let (index, size, place) = (cubemap.index, cubemap.size, format!("{x} {y} {z}"));
            job.line(format!("{index:>6} {place:>22} {size:>6}  {}", files(&cubemap.files)));
        }
        if !self.others.is_empty() {
            job.line(format!("{:>6} {:>22} {:>6}  {}", "-", "-", "-", files(&self.others)));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.cubemaps.is_empty() || !self.others.is_empty()).then(|| format!("{path}:"))
    }
}

fn run_list(cx: &Context, args: &ListArgs) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let listed = cubemaps::list(&bsp)?;
        let pak = bsp.pak()?;
        let files = |indices: &[usize]| indices.iter().filter_map(|index| Packed::get(&pak, *index)).collect();
        let samples = listed.samples.iter();
        let cubemaps = samples.map(|sample| Cubemap {
            index: sample.index,
            origin: sample.origin,
            size: sample.size,
            files: files(&sample.files),
        });
        job.report(&Cubemaps { cubemaps: cubemaps.collect(), others: files(&listed.others) })
    })
}

// `cubemap rename`: gives the images of cube maps the name of another map.

/// Rename the images of cube maps, and the paths in materials that name them
///
/// Engines look for the images by the file name of the map. This is the part of `rename` that a map needs whose file
/// was renamed: names of textures and materials stay.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cubemap rename map.bsp own_arena --old old -o out.bsp
  bspkit cubemap rename map.bsp map --dry-run"
))]
pub(crate) struct RenameArgs {
    #[command(flatten)]
    map: MapArgs,
    /// The new name
    #[arg(value_name = "NEW")]
    new: OsString,
    /// The old name [default: that of the file, or the one name that the paths in the map have]
    #[arg(long, value_name = "OLD")]
    old: Option<OsString>,
    #[command(flatten)]
    save: Save,
}

fn run_rename(cx: &Context, args: &RenameArgs) -> Result<Code> {
    if args.map.are_many() {
        return Err(bad_argument("several maps cannot have one name".into(), "name one map"));
    }
    let old = match old_name(cx, args.map.first(), args.old.as_deref()) {
        Ok(old) => old,
        Err(error) => return failed(cx, args.map.first(), args.save.json, error),
    };
    let rename = renaming(&old, &args.new, args.old.is_some())?.only_cubemaps().merging(args.save.force);
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

// `cubemap strip`: removes the images of cube maps.

/// Remove the embedded images of cube maps, so that the game builds them again
///
/// The default images (`cubemapdefault.vtf`) stay unless --default is given; the compiler makes them, and not the game.
/// Images of another map stay. The own ones are in the folder with the name of the file; without such a folder, in that
/// with the name that the textures of the map have, or in those with an image of a place of the map. Places and
/// materials stay: until `buildcubemaps` has run in the game, materials that name a removed image reflect what the
/// engine has in its place. Other embedded textures stay, while `bspzip -deletecubemaps` removes all of them.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cubemap strip map.bsp -o out.bsp
  bspkit cubemap strip map.bsp --in-place --backup
  bspkit cubemap strip map.bsp --default --dry-run"
))]
pub(crate) struct StripArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// Remove the default images too
    #[arg(long = "default")]
    with_default: bool,
    #[command(flatten)]
    save: Save,
}

fn run_strip(cx: &Context, args: &StripArgs) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        job.lists_all = true;
        let stripped = cubemaps::strip(draft, names::of_map(&map.path).as_encoded_bytes(), args.with_default)?;
        if !stripped.others.is_empty() {
            let others = count(stripped.others.len(), "image of another map stays", "images of other maps stay");
            let first = escaped(&stripped.others[0]);
            job.warn_here(&format!("{others}, which the game does not make: {first}"));
        }
        if stripped.files.is_empty() {
            return Ok(Edited::Nothing("no image of a cube map of the map is embedded".to_owned()));
        }
        let images = count(stripped.files.len(), "image", "images");
        let materials = count(stripped.materials.len(), "material names", "materials name");
        let made = match (stripped.lost, stripped.files.len() - stripped.lost) {
            (0, _) => "`buildcubemaps` in the game makes them anew".to_owned(),
            (_, 0) => "the map has no place for them, so that the game does not make them anew".to_owned(),
            (lost, _) => {
                format!("`buildcubemaps` in the game makes them anew, but not {lost} for which the map has no place")
            }
        };
        let what = format!("{images} removed; {materials} a removed image; {made}");
        Ok(Edited::With { what, is_whole: true })
    })
}
