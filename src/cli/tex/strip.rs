//! `tex strip`: removes the pixels of textures from a map.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Error, Result};
use bspkit::{ErrorKind, Hint};

use super::shelf::{named, names_of};
use super::wad::Keeper;
use super::{finding, nothing_else};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::spare::spare;
use crate::cli::talk::Code;

/// Remove the pixels of textures from a GoldSrc map, and keep their names
///
/// The game then looks for the pixels in the WAD files of the key `wad` of worldspawn, which is not changed. Names,
/// order and sizes stay. Quake reads no WAD files, so a map of Quake needs --force. A texture that cannot be read is
/// reported and stays as it is; the others change, and the exit status is 1.
///
/// With --to, the pixels are first copied to a WAD file, byte for byte, so that `tex embed` puts them back. A texture
/// that differs from one of the same name in the file is reported and stays in the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex strip c1a0.bsp -o out.bsp
  bspkit tex strip c1a0.bsp '+*' '#3' -o out.bsp
  bspkit tex strip c1a0.bsp --to c1a0.wad -o out.bsp
  bspkit tex strip goldsrcs --to all.wad -o small"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The textures [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// The WAD file that keeps the pixels; a new one, or one that gets more textures
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.to.iter().try_for_each(|path| args.save.spare(path))?;
    let keeper = args.to.as_deref().map(Keeper::new);
    // Each map may add textures to the WAD file.
    let maps = if keeper.is_some() { args.maps.find().one_by_one() } else { args.maps.find() };
    args.save.each(cx, maps, |draft, map, job| {
        let textures = draft.textures()?;
        if !textures.has_palettes() && !args.save.force() {
            let message = "Quake reads the pixels from the map alone, whatever it says about them: without them it \
                           shows other bytes of the file";
            let hint = Hint::OrForce("leave them in the map".to_owned());
            return Err(bspkit::Error::new(ErrorKind::Refused, message).with_hint(hint).into());
        }
        if let Some(keeper) = &keeper {
            spare(keeper.path(), &map.path)?;
            keeper.open(textures.has_palettes())?;
        }
        let names = names_of(textures);
        let chosen = names.chosen(&args.patterns, job);
        if chosen.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&args.patterns)));
        }
        let (mut stripped, mut bad) = (0, 0);
        for index in chosen {
            let embedded = textures.get(index).map_err(Error::new);
            let embedded = embedded.map(|texture| texture.filter(|texture| texture.is_embedded()));
            let kept = embedded.and_then(|texture| match (&keeper, texture) {
                (Some(keeper), Some(texture)) => keeper.add(&texture).map(|()| true),
                (_, texture) => Ok(texture.is_some()),
            });
            match kept {
                Ok(true) => {
                    textures.strip(index)?;
                    stripped += 1;
                }
                Ok(false) => {}
                Err(error) => {
                    let name = named(index, names.names[index].as_deref());
                    finding(job, &name, &error);
                    bad += 1;
                }
            }
        }
        if stripped == 0 {
            return Ok(if bad > 0 { nothing_else(bad) } else { Edited::Same });
        }
        // The pixels are on disk before the map without them.
        if let Some(keeper) = keeper.as_ref().filter(|_| !args.save.dry_run) {
            keeper.save(job)?;
        }
        Ok(Edited::With { what: format!("{} stripped", count(stripped, "texture", "textures")), is_whole: bad == 0 })
    })
}
