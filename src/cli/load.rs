//! `load`: reads the records of a lump from text.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::Draft;
use bspkit::face::folder;
use bspkit::face::records::{Format, Lump};
use bspkit::record::FlagNames;

use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::records::formats;
use super::save::{Edited, Save};
use super::show::shown;
use super::talk::Code;
use bspkit::face::input;

/// Replace the records of a lump with those in a file that `dump` wrote
///
/// Only changed values change the map, so `dump` and then `load` change nothing. The file must have every field of
/// every record. The format is detected from the extension: `.jsonl`, `.csv`, `.bin`. `pack` makes a
/// map from a folder with all lumps.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit load base1.bsp planes planes.jsonl -o out.bsp
  bspkit load base1.bsp texinfo texinfo.csv --in-place --backup
  bspkit dump base1.bsp models | sed 's/-16/-32/' | bspkit load base1.bsp models - --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// A lump, or a list in it
    #[arg(value_name = "LUMP")]
    lump: String,
    /// The file; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The format [default: from the extension; else json for a lump with records, raw for others]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// Accept a file with more or fewer records than the lump
    #[arg(long)]
    resize: bool,
    #[command(flatten)]
    save: Save,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.maps.are_many() {
        bail!("one file has the records of one map: `pack` makes many maps from their folders");
    }
    args.save.spare(&args.file)?;
    args.save.each(cx, args.maps.find(), |draft, _, _| {
        let names = folder::names(draft.bsp(), args.game.as_deref())?;
        let lump = Lump::find(draft.bsp(), &args.lump)?;
        let named = args.file.extension().and_then(|extension| Format::of_extension(extension.to_str()?));
        let format = args.format.or(named).unwrap_or(lump.usual_format());
        load(draft, &lump, format, names, args.resize, &args.file)?;
        Ok(Edited::Done)
    })
}

fn load(
    draft: &mut Draft<'static>,
    lump: &Lump<'static>,
    format: Format,
    names: FlagNames,
    resize: bool,
    path: &Path,
) -> Result<()> {
    let loaded = match path == Path::new("-") {
        true => lump.load(draft, format, names, resize, BufReader::new(input::stdin())),
        false => lump.load(draft, format, names, resize, BufReader::new(input::open(path)?)),
    };
    loaded.with_context(|| format!("cannot load {} into {}", shown(path), lump.name()))
}
