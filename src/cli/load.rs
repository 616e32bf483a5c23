//! `load`: reads the records of a lump from text.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::face::records::{Format, Lump, Numbers};
use bspkit::face::{folder, input};
use bspkit::record::FlagNames;
use bspkit::{Draft, Followed};

use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::order::done;
use super::records::formats;
use super::save::{Edited, Save};
use super::show::shown;
use super::talk::Code;

/// Replace the records of a lump with those in a file that `dump` wrote
///
/// Only changed values change the map, so `dump` and then `load` change nothing. The file must have every field of
/// every record, and each record must be the one with its number. The format is detected from the extension: `.jsonl`,
/// `.csv`, `.bin`. `pack` makes a map from a folder with all lumps.
///
/// With `--follow` records may be added, removed and moved, and everything that refers to them is updated. Equal
/// records are the same ones; those between them get other values, or are added or removed. If it is not known which
/// record a line is, it is refused. With `--resize` each line is taken for the record with its number: references stay
/// as they are, and what no longer fits is listed.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit load base1.bsp planes planes.jsonl -o out.bsp
  bspkit load base1.bsp texinfo texinfo.csv --in-place --backup
  bspkit dump base1.bsp leaffaces | sed 3d | bspkit load base1.bsp leaffaces - --follow --dry-run
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
    #[command(flatten)]
    numbers: NumberArgs,
    #[command(flatten)]
    save: Save,
}

/// What happens to the numbers of records.
#[derive(clap::Args)]
pub(super) struct NumberArgs {
    /// Take each line for the record with its number; there may be more or fewer of them
    #[arg(long)]
    resize: bool,
    /// Accept records that were added, removed or moved, and update everything that refers to them
    #[arg(long, conflicts_with = "resize")]
    follow: bool,
    /// With --follow, remove what needs a removed record too
    #[arg(long, requires = "follow")]
    cascade: bool,
}

impl NumberArgs {
    pub(super) fn of(&self, force: bool) -> Numbers {
        match self {
            NumberArgs { resize: true, .. } => Numbers::Kept,
            NumberArgs { follow: true, cascade, .. } => Numbers::Followed { force, cascade: *cascade },
            _ => Numbers::Checked,
        }
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.maps.are_many() {
        bail!("one file has the records of one map: `pack` makes many maps from their folders");
    }
    args.save.spare(&args.file)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let names = folder::names(draft.bsp(), args.game.as_deref())?;
        let lump = Lump::find(draft.bsp(), &args.lump)?;
        let named = args.file.extension().and_then(|extension| Format::of_extension(extension.to_str()?));
        let format = args.format.or(named).unwrap_or(lump.usual_format());
        match load(draft, &lump, format, names, args)? {
            Some(followed) => Ok(done(&followed, job)),
            None => Ok(Edited::Done),
        }
    })
}

/// What followed, if that was asked for.
fn load(
    draft: &mut Draft<'static>,
    lump: &Lump<'static>,
    format: Format,
    names: FlagNames,
    args: &Args,
) -> Result<Option<Followed>> {
    let mut file: Box<dyn BufRead> = match args.file == Path::new("-") {
        true => Box::new(BufReader::new(input::stdin())),
        false => Box::new(BufReader::new(input::open(&args.file)?)),
    };
    if format != Format::Raw {
        let start = file.fill_buf().with_context(|| format!("cannot read {}", shown(&args.file)))?;
        input::refuse_utf16(&args.file, start)?;
    }
    let doing = || format!("cannot load {} into {}", shown(&args.file), lump.name());
    let numbers = args.numbers.of(args.save.force);
    let followed = lump.load(draft, format, names, numbers, file).with_context(doing)?;
    Ok(matches!(numbers, Numbers::Followed { .. }).then_some(followed))
}
