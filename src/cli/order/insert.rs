//! `records insert`: adds records from a file.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bspkit::face::records::{Format, Lump, list_name};
use bspkit::face::{folder, input};

use super::{Target, done, structure};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::records::formats;
use crate::cli::save::Save;
use crate::cli::show::shown;
use crate::cli::talk::Code;

/// Add records from a file, as `dump` prints them
///
/// The new records come before the record of this number, and belong to the sets of the record before them. Numbers in
/// them name what they name before the edit.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit records insert base1.bsp 'planes[10]' planes.jsonl -o out.bsp
  bspkit dump base1.bsp texinfo | head -1 | bspkit records insert base1.bsp 'texinfo[2]' - --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The place: the record that will follow the new ones
    #[arg(value_name = "LUMP[INDEX]")]
    records: Target,
    /// The file; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The format [default: from the extension, else json]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.spare(&args.file)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let list = list_name(draft.bsp(), &args.records.list)?;
        let names = folder::names(draft.bsp(), args.game.as_deref())?;
        let lump = Lump::find(draft.bsp(), &list)?;
        let named = args.file.extension().and_then(|extension| Format::of_extension(extension.to_str()?));
        let format = args.format.or(named).unwrap_or(Format::Json);
        let records = match args.file == Path::new("-") {
            true => lump.rows(format, names, BufReader::new(input::stdin())),
            false => lump.rows(format, names, BufReader::new(input::open(&args.file)?)),
        };
        let records = records.with_context(|| format!("cannot read {}", shown(&args.file)))?;
        let at = args.records.range.start;
        let followed = structure(draft, args.save.force).splice_list(&list, at..at, records)?;
        Ok(done(&followed, job))
    })
}
