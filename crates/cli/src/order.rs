//! `records`: the order and the number of records.

use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bspkit::disk::input;
use bspkit::{Draft, Error, ErrorKind, Followed, Structure};
use bspkit_ops::models::{self, Gone};
use bspkit_text::folder;
use bspkit_text::records::{Format, Lump, list_name};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::context::{self, Context};
use super::save::Edited;
use super::talk::{Code, Job, bad_argument, count};
use super::{commands, help};
use crate::maps::MapArgs;
use crate::model::gone;
use crate::save::Save;
use crate::talk::shown;

/// Insert, remove, duplicate and move records; everything that refers to them follows
///
/// Indices, ranges, values of entities, rows of visibility and lumps that run parallel get the new numbers. If one of
/// them cannot follow, nothing is changed, and the message names it.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit records rm base1.bsp 'brushes[7]' -o out.bsp
  bspkit records dup base1.bsp 'texinfo[3]' -o out.bsp
  bspkit records mv base1.bsp 'texinfo[3..6]' 0 --in-place --backup
  bspkit records insert base1.bsp 'planes[10]' planes.jsonl -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    Insert(InsertArgs, run_insert),
    Rm(RmArgs, run_rm),
    Dup(DupArgs, run_dup),
    Mv(MvArgs, run_mv),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

/// Starts an edit with the options of the command.
fn structure<'d>(draft: &'d mut Draft<'static>, force: bool) -> Structure<'d, 'static> {
    draft.structure().force(force).whole()
}

/// What followed, for the report.
pub(super) fn done(followed: &Followed, job: &mut Job<'_>) -> Edited {
    followed.warnings.iter().for_each(|warning| job.warn_here(warning));
    Edited::With { what: sentence(followed), is_whole: true }
}

/// What followed, as a sentence.
pub(super) fn sentence(followed: &Followed) -> String {
    let removed: Vec<String> =
        followed.removed.iter().map(|removed| format!("{} of {}", removed.count, removed.lump)).collect();
    let removed = if removed.is_empty() { String::new() } else { format!("removed {}; ", removed.join(", ")) };
    let fields = count(followed.fields.len(), "field follows", "fields follow");
    format!("{removed}{fields}")
}

// Records that arguments name: `brushes[7]`, `faces[10..20]`.

/// A lump, or a list in it, and a range of records.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) list: String,
    pub(crate) range: Range<usize>,
}

impl std::str::FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not LUMP[INDEX] or LUMP[START..END]");
        let (list, range) = text.strip_suffix(']').and_then(|text| text.rsplit_once('[')).ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let range = match range.split_once("..") {
            Some((start, end)) => number(start)?..number(end)?,
            None => {
                let index = number(range)?;
                index..index.checked_add(1).ok_or_else(wrong)?
            }
        };
        if list.is_empty() || range.end < range.start {
            return Err(wrong());
        }
        if range.is_empty() {
            return Err(format!("`{text}` names no record: a range ends before its second number"));
        }
        Ok(Target { list: list.to_owned(), range })
    }
}

impl Target {
    /// The error for a range that the lump does not have.
    fn outside(&self, len: usize) -> anyhow::Error {
        let Range { start, end } = self.range;
        let message = format!("{} has {len} records, and no range {start}..{end}", self.list);
        Error::new(ErrorKind::Argument, message).into()
    }
}

// `records insert`: adds records from a file.

/// Add records from a file, as `dump` prints them
///
/// The new records come before the record of this number, and belong to the sets of the record before them. Where that
/// is the last one of a whole, such as the edges of a face, they are in no set. Numbers in them name what they name
/// before the edit.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit records insert base1.bsp 'planes[10]' planes.jsonl -o out.bsp
  bspkit dump base1.bsp texinfo | head -1 | bspkit records insert base1.bsp 'texinfo[2]' - --dry-run"
))]
pub(crate) struct InsertArgs {
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
    #[arg(long, value_name = "GAME")]
    flag_names: Option<String>,
    #[command(flatten)]
    save: Save,
}

fn run_insert(cx: &Context, args: &InsertArgs) -> Result<Code> {
    if args.records.range.len() != 1 {
        let message = "records are added before one record".to_owned();
        return Err(bad_argument(message, "name it as LUMP[INDEX]"));
    }
    args.save.spare(&args.file)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let list = list_name(draft.bsp(), &args.records.list)?;
        let names = folder::names(draft.bsp(), args.flag_names.as_deref())?;
        let lump = Lump::find(draft.bsp(), &list)?;
        let named = args.file.extension().and_then(|extension| Format::of_extension(extension.to_str()?));
        let format = args.format.or(named).unwrap_or(Format::Json);
        let records = match args.file == Path::new("-") {
            true => lump.rows(format, names, BufReader::new(context::stdin()?)),
            false => lump.rows(format, names, BufReader::new(input::open(&args.file)?)),
        };
        let records = records.with_context(|| format!("cannot read {}", shown(&args.file)))?;
        let at = args.records.range.start;
        let followed = structure(draft, args.save.force).splice_list(&list, at..at, records)?;
        Ok(done(&followed, job))
    })
}

// `records rm`: removes records.

/// Remove records
///
/// Lists of what belongs together get shorter, and parts that nothing else uses go too: the sides of a brush, and all
/// that only a model has. A record that something still needs is refused with what needs it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit records rm base1.bsp 'brushes[7]' -o out.bsp
  bspkit records rm base1.bsp 'leaffaces[10..12]' --in-place --backup
  bspkit records rm base1.bsp 'texinfo[3]' --cascade --dry-run"
))]
pub(crate) struct RmArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The records
    #[arg(value_name = "LUMP[RANGE]")]
    records: Target,
    /// Remove what needs them too; a field that may be empty is emptied
    #[arg(long)]
    cascade: bool,
    #[command(flatten)]
    save: Save,
}

fn run_rm(cx: &Context, args: &RmArgs) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let list = list_name(draft.bsp(), &args.records.list)?;
        let range = args.records.range.clone();
        let len = Lump::find(draft.bsp(), &list)?.records().iter().map(bspkit::dialect::Span::count).sum();
        if range.end > len {
            return Err(args.records.outside(len));
        }
        let all: Vec<usize> = range.collect();
        Ok(match models::remove_records(draft, &list, &all, args.cascade, args.save.force)? {
            Gone::Models(removed) => gone(&removed, job),
            Gone::Records(followed) => done(&followed, job),
        })
    })
}

// `records dup`: duplicates records.

/// Add copies of records after them
///
/// A copy is where its original is: in the same sets, and in the lists of leafs that name it. A range over the border
/// of a set, such as the faces of two models, is copied part by part: the copies of each part follow it. What only the
/// original has is copied too: the sides of a brush, a displacement with its face. Records that another one has as a
/// whole, such as the edges of a face, are copied with that one alone. `model copy` copies brush models.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit records dup base1.bsp 'texinfo[3]' -o out.bsp
  bspkit records dup base1.bsp 'planes[4..6]' --dry-run"
))]
pub(crate) struct DupArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The records
    #[arg(value_name = "LUMP[RANGE]")]
    records: Target,
    #[command(flatten)]
    save: Save,
}

fn run_dup(cx: &Context, args: &DupArgs) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let list = list_name(draft.bsp(), &args.records.list)?;
        let followed = structure(draft, args.save.force).duplicate_list(&list, args.records.range.clone())?;
        Ok(done(&followed, job))
    })
}

// `records mv`: moves records.

/// Move records to another place in their lump
///
/// Orders that have a meaning are refused: a record whose number is reserved, records of a face or brush that would not
/// be together, planes that would not be in pairs.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit records mv base1.bsp 'texinfo[3]' 0 -o out.bsp
  bspkit records mv base1.bsp 'texinfo[3..6]' 10 --dry-run"
))]
pub(crate) struct MvArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The records
    #[arg(value_name = "LUMP[RANGE]")]
    records: Target,
    /// The number that the first of them gets
    #[arg(value_name = "INDEX")]
    to: usize,
    #[command(flatten)]
    save: Save,
}

fn run_mv(cx: &Context, args: &MvArgs) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let list = list_name(draft.bsp(), &args.records.list)?;
        let lump = Lump::find(draft.bsp(), &list)?;
        let len = lump.records().first().map_or(0, bspkit::dialect::Span::count);
        let range = args.records.range.clone();
        if range.end > len {
            return Err(args.records.outside(len));
        }
        if args.to > len - range.len() {
            let (list, last) = (&args.records.list, len - range.len());
            let message = format!(
                "{list} has {len} records, so the first of these {} cannot get a number above {last}",
                range.len()
            );
            return Err(Error::new(ErrorKind::Argument, message).into());
        }
        let mut order: Vec<usize> = (0..len).filter(|index| !range.contains(index)).collect();
        order.splice(args.to..args.to, range);
        let followed = structure(draft, args.save.force).reorder_list(&list, &order)?;
        Ok(done(&followed, job))
    })
}

// The values of `--format`.

/// Reads a format by its name.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    let value = |name, help| PossibleValue::new(name).help(help);
    let values = [
        value("json", "One JSON object per line, one per record"),
        value("csv", "A header line, then one line per record"),
        value("raw", "The bytes of the lump"),
    ];
    PossibleValuesParser::new(values).map(|name| match &*name {
        "csv" => Format::Csv,
        "raw" => Format::Raw,
        _ => Format::Json,
    })
}
