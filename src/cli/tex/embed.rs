//! `tex embed`: copies pixels from WAD files into a map.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::bytes::escaped;
use bspkit::content::wad::Wad;

use super::shelf::{has_extension, named, names_of, open_wad};
use super::{finding, nothing_else};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;

/// Embed the pixels of textures into a Quake or GoldSrc map that has only their names
///
/// The first WAD file with a texture of this name is used; case does not matter. Embedded textures stay as they are. A
/// texture that cannot be read, in the map or in the WAD file, is reported; the others are embedded, and the exit
/// status is 1. The key `wad` of worldspawn, with which the game requires the WAD files, is not changed.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex embed c1a0.bsp halflife.wad -o out.bsp
  bspkit tex embed c1a0.bsp own.wad halflife.wad '+*' '#3' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// WAD files (*.wad), and the textures [default: all]
    #[arg(value_name = "WAD|GLOB", required = true)]
    wads: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let (paths, patterns): (Vec<OsString>, Vec<OsString>) =
        args.wads.iter().cloned().partition(|text| has_extension(Path::new(text), "wad"));
    if paths.is_empty() {
        bail!("no WAD file is named: name a file that ends with .wad");
    }
    let mut wads: Vec<(PathBuf, Wad<'static>)> = Vec::new();
    for path in paths.into_iter().map(PathBuf::from) {
        args.save.spare(&path)?;
        let wad = open_wad(&path)?;
        wads.push((path, wad));
    }
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let textures = draft.textures()?;
        if let Some((path, wad)) = wads.iter().find(|(_, wad)| wad.has_palettes() != textures.has_palettes()) {
            let (own, with) = if wad.has_palettes() { ("GoldSrc", "have") } else { ("Quake", "have no") };
            bail!("{} is a WAD file of {own}, whose textures {with} palettes: the map is of another game", shown(path));
        }
        let names = names_of(textures);
        let chosen = names.chosen(&patterns, job);
        if chosen.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&patterns)));
        }
        let (mut embedded, mut absent, mut bad) = (0, Vec::new(), 0);
        for index in chosen {
            let name = named(index, names.names[index].as_deref());
            let result = (|| {
                let texture = match textures.get(index) {
                    // A damaged texture claims to have pixels, so it stays as it is.
                    Err(_) if textures.name(index).is_some() => None,
                    texture => texture?,
                };
                let Some(texture) = texture.filter(|texture| !texture.is_embedded()) else { return Ok(()) };
                let (own, size) = (texture.name().to_vec(), (texture.width(), texture.height()));
                let found = wads.iter().find_map(|(path, wad)| match wad.miptex(wad.find(&own)?) {
                    // The name may belong to a picture or a font.
                    Err(error) if error.kind() == bspkit::ErrorKind::NotFound => None,
                    texture => Some((path, texture)),
                });
                let Some((path, from)) = found else {
                    absent.push(own);
                    return Ok(());
                };
                let from = from.with_context(|| shown(path))?;
                if (from.width(), from.height()) != size {
                    let (width, height) = (from.width(), from.height());
                    let text = format!(
                        "{name} has {width} by {height} pixels in {}, but {} by {} in the map",
                        shown(path),
                        size.0,
                        size.1
                    );
                    job.warn_here(&text);
                }
                textures.embed(index, &from)?;
                embedded += 1;
                anyhow::Ok(())
            })();
            if let Err(error) = result {
                finding(job, &name, &error);
                bad += 1;
            }
        }
        if !absent.is_empty() {
            let all = absent.iter().map(|name| escaped(name).to_string()).collect::<Vec<_>>().join(", ");
            job.warn_here(&format!("no WAD file has {all}"));
        }
        match (embedded, absent.is_empty()) {
            (0, true) if bad > 0 => return Ok(nothing_else(bad)),
            (0, true) => return Ok(Edited::Same),
            (0, false) => return Ok(Edited::Nothing("nothing to embed".into())),
            _ => {}
        }
        Ok(Edited::With { what: format!("{} embedded", count(embedded, "texture", "textures")), is_whole: bad == 0 })
    })
}
