//! `light`: the baked light of faces.

mod adjust;
mod choose;
mod export;
mod import;
mod stat;

use std::path::Path;

use anyhow::Result;
use bspkit::Bsp;
use bspkit::content::lightmap::Light;

use super::context::Context;
use super::show::{Few, count, shown};
use super::talk::{Code, Job};
use super::{commands, help};

/// Show and change the baked light of faces
///
/// `export` writes light as images, and `import` reads them back; pixels that were not changed keep every byte. For
/// Quake II, GoldSrc and Quake III, the PNGs have the exact numbers of the map; for Quake, which has one number per
/// luxel, they are grey. Source light has no upper limit: it is in Radiance files (`.hdr`), each with a PNG that shows
/// light up to twice the level that leaves a texture unchanged. Either of the two can be edited.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit light stat base1.bsp
  bspkit light export base1.bsp light1
  bspkit light import base1.bsp light1 -o out.bsp
  bspkit light adjust base1.bsp --gain 1.5 --tint 1,0.9,0.8 -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Export(export),
    Import(import),
    Stat(stat),
    Adjust(adjust),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}

/// Reports every face whose light cannot be read.
fn say_faults(light: &Light<'_>, job: &mut Job<'_>) {
    for set in light.sets() {
        let faults = set.faults().iter().map(|fault| format!("{}: {fault}", set.lump()));
        find_all(&format!("faces of {}", set.lump()), faults, job);
    }
}

/// Reports findings of one kind: ten of them, and how many there are.
fn find_all(kind: &str, texts: impl Iterator<Item = String>, job: &mut Job<'_>) {
    let mut few = Few::new(job.talk.verbose);
    for text in texts {
        job.code = job.code.max(Code::Found);
        if few.takes(kind) {
            job.warn_here(&text);
        }
    }
    few.rest().for_each(|rest| job.warn_here(&rest));
}

/// Reports a finding.
fn find(text: &str, job: &mut Job<'_>) {
    job.warn_here(text);
    job.code = job.code.max(Code::Found);
}

/// A light file outside of the map, and whether it exists.
struct LightFile {
    path: String,
    is_there: bool,
}

/// The files outside of the map that hold its light.
fn light_files(bsp: &Bsp<'_>, map: &Path) -> Result<Vec<LightFile>> {
    let folder = map.with_extension("");
    let file = |name: String| {
        let path = folder.join(&name);
        LightFile { is_there: path.is_file(), path: shown(&path) }
    };
    Ok(bsp.light_files()?.into_iter().map(file).collect())
}

/// The message if the map has no light.
fn nothing(bsp: &Bsp<'_>, map: &Path) -> Result<String> {
    let files = light_files(bsp, map)?;
    let there = files.iter().filter(|file| file.is_there).count();
    Ok(match &files[..] {
        [] => "no light in the map".to_owned(),
        [first, ..] => {
            let files = count(files.len(), "file", "files");
            format!("no light in the map: it is in {files}, from {} on; {there} of them exist", first.path)
        }
    })
}

/// Warns of lumps that have the light again for some engines, or change its size. They are not edited.
fn warn_of_copies(bsp: &Bsp<'_>, job: &mut Job<'_>) {
    let copies = [("bspx:LIGHTING_E5BGR9", "has the light again"), ("bspx:LMSHIFT", "gives faces other luxel sizes")];
    for (name, what) in copies {
        if bsp.slot(name).is_ok_and(|slot| !slot.stored.is_empty()) {
            job.warn_here(&format!("{name} {what} and is not edited: engines that read it show the old light"));
        }
    }
}
