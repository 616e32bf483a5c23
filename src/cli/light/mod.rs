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
use super::show::{count, shown};
use super::talk::{Code, Job};
use super::{commands, help};

/// See and change the baked light of faces
///
/// `export` writes it as images, `import` takes images back: what was not painted on keeps every byte. Quake II's,
/// GoldSrc's and Quake III's light are PNGs of the very numbers in the map; Quake's has one for all colors and is grey.
/// Source's has no upper end: that is in Radiance pictures (`.hdr`), and beside each is a PNG that shows it up to twice
/// what leaves a texture unchanged. Either may be painted on.
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

/// Names every face whose light cannot be read, which is a finding.
fn say_faults(light: &Light<'_>, job: &mut Job<'_>) {
    for set in light.sets() {
        for fault in set.faults() {
            find(&format!("{}: {fault}", set.lump()), job);
        }
    }
}

/// Says what is wrong.
fn find(text: &str, job: &mut Job<'_>) {
    job.warn_here(text);
    job.code = job.code.max(Code::Found);
}

/// A file beside a map, and whether it is there.
struct LightFile {
    path: String,
    is_there: bool,
}

/// The files beside the map that its light is in.
fn light_files(bsp: &Bsp<'_>, map: &Path) -> Result<Vec<LightFile>> {
    let folder = map.with_extension("");
    let file = |name: String| {
        let path = folder.join(&name);
        LightFile { is_there: path.is_file(), path: shown(&path) }
    };
    Ok(bsp.light_files()?.into_iter().map(file).collect())
}

/// Why there is nothing to be done.
fn nothing(bsp: &Bsp<'_>, map: &Path) -> Result<String> {
    let files = light_files(bsp, map)?;
    let there = files.iter().filter(|file| file.is_there).count();
    Ok(match &files[..] {
        [] => "there is no light".to_owned(),
        [first, ..] => {
            let files = count(files.len(), "file", "files");
            format!(
                "there is no light but in {files} beside it from {} on, {there} of them there, and none",
                first.path
            )
        }
    })
}

/// Lumps that repeat the light for some engines, or say that it is another one, and stay as they are.
fn warn_of_copies(bsp: &Bsp<'_>, job: &mut Job<'_>) {
    let copies =
        [("bspx:LIGHTING_E5BGR9", "has the light again"), ("bspx:LMSHIFT", "gives faces luxels of other sizes")];
    for (name, what) in copies {
        if bsp.slot(name).is_ok_and(|slot| !slot.stored.is_empty()) {
            job.warn_here(&format!("{name} {what} and stays as it is: an engine that reads it shows that"));
        }
    }
}
