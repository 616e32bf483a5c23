//! `tex strip`: removes the pixels of textures from a map.

use std::ffi::OsString;

use anyhow::Result;

use super::shelf::{named, names_of};
use super::{finding, nothing_else};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Remove the pixels of textures from a Quake or GoldSrc map, and keep their names
///
/// The game then looks for the pixels in the WAD files of the key `wad` of worldspawn, which is not changed. Names,
/// order and sizes stay. A texture that cannot be read is reported and stays as it is; the others change, and the exit
/// status is 1.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex strip c1a0.bsp -o out.bsp
  bspkit tex strip c1a0.bsp '+*' '#3' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The textures [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let textures = draft.textures()?;
        let names = names_of(textures);
        let chosen = names.chosen(&args.patterns, job);
        if chosen.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&args.patterns)));
        }
        let (mut stripped, mut bad) = (0, 0);
        for index in chosen {
            match textures.get(index).map(|texture| texture.is_some_and(|texture| texture.is_embedded())) {
                Ok(true) => {
                    textures.strip(index)?;
                    stripped += 1;
                }
                Ok(false) => {}
                Err(error) => {
                    let name = named(index, names.names[index].as_deref());
                    finding(job, &name, &error.into());
                    bad += 1;
                }
            }
        }
        if stripped == 0 {
            return Ok(if bad > 0 { nothing_else(bad) } else { Edited::Same });
        }
        Ok(Edited::With { what: format!("{} stripped", count(stripped, "texture", "textures")), is_whole: bad == 0 })
    })
}
