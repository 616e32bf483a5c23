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
use super::talk::{Code, Job};
use bspkit::face::input;

/// Replace the records of a lump with those in a file that `dump` wrote
///
/// Only changed values change the map, so `dump` and then `load` change nothing. The file must have every field of
/// every record. The format is detected from the extension: `.jsonl`, `.csv`, `.bin`. With --all, each map loads its
/// folder that `dump --all` wrote.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit load base1.bsp planes planes.jsonl -o out.bsp
  bspkit load base1.bsp texinfo texinfo.csv --in-place --backup
  bspkit dump base1.bsp models | sed 's/-16/-32/' | bspkit load base1.bsp models - --dry-run
  bspkit load --all base1.bsp folder -o out.bsp
  bspkit load --all maps dumped -o loaded"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// A lump, or a list in it; with --all: the folder with the files of the lumps
    #[arg(value_name = "LUMP|DIR")]
    what: PathBuf,
    /// The file; `-` is stdin
    #[arg(value_name = "FILE", required_unless_present = "all", conflicts_with = "all")]
    file: Option<PathBuf>,
    /// Load every file of a folder that `dump --all` wrote
    #[arg(long)]
    all: bool,
    /// The format [default: from the extension; else json for a lump with records, raw for others]
    #[arg(long, value_name = "FORMAT", conflicts_with = "all", value_parser = formats())]
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
    if args.maps.are_many() && !args.all {
        bail!("several maps need --all, with the folder that `dump --all` wrote");
    }
    args.file.iter().try_for_each(|file| args.save.spare(file))?;
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let names = folder::names(draft.bsp(), args.game.as_deref())?;
        match &args.file {
            Some(file) => {
                let lump = args.what.to_str().context("the name of a lump is text")?;
                let lump = Lump::find(draft.bsp(), lump)?;
                let named = file.extension().and_then(|extension| Format::of_extension(extension.to_str()?));
                let format = args.format.or(named).unwrap_or(lump.usual_format());
                load(draft, &lump, format, names, args.resize, file)?;
                Ok(Edited::Done)
            }
            None => match map.read_from(&args.what, "") {
                Some(folder) => all(draft, names, &folder, args, job),
                None => Ok(Edited::Nothing("no folder to load".to_owned())),
            },
        }
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

fn all(draft: &mut Draft<'static>, names: FlagNames, folder: &Path, args: &Args, job: &mut Job<'_>) -> Result<Edited> {
    let files = folder::find(draft.bsp(), folder)?;
    files.others.iter().for_each(|path| job.warn(&format!("{}: ignored: not the file of a lump", shown(path))));
    for file in &files.lumps {
        args.save.spare(&file.path)?;
        file.load(draft, names, args.resize)?;
    }
    match files.lumps.is_empty() {
        true => Ok(Edited::Nothing(format!("{} has no file of a lump, so nothing is loaded", shown(folder)))),
        false => Ok(Edited::Done),
    }
}
