//! `dump`, `load`, `get`, `set`, `refs`: the records of a lump.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::content::entities::{Entity, LooseModel};
use bspkit::disk::input;
use bspkit::query::{FieldChange, Query};
use bspkit::record::FlagNames;
use bspkit::{Branches, Bsp, Draft, Error, ErrorKind, Followed, ReferenceTree};
use bspkit_text::folder;
use bspkit_text::records::{
    CsvRows, Format as RecordsFormat, Lump, Numbers, list_name, parse_value, value_json, value_text,
};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::value::RawValue;

use super::context::{self, Context, Report};
use super::help;
use super::maps::{MapArgs, MapFile, Reading};
use super::order::{Target, done, formats};
use super::save::{Edited, Save};
use super::talk::{Code, Head, Job, bad_argument, count, json, shown};

// `dump`: prints the records of a lump as text.

/// Print the records of a lump as text, without loss
///
/// JSON has one line per record, with an object. CSV has one column per number. A lump without records is printed as
/// bytes. `load` reads all of this back. Floats are the shortest decimals that give the same bits; NaN and infinities
/// are their bits in hex. Names end at their last byte that is not NUL. Flags are printed by name, and bits without a
/// name in hex. If a lump has several lists, each object names its list; LUMP.LIST is one of them.
///
/// For several maps, each map is one line of JSON with its records. `unpack` writes every lump to a folder.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit dump base1.bsp planes > planes.jsonl
  bspkit dump base1.bsp texinfo --format csv > texinfo.csv
  bspkit dump c1m4.bsp game:sprp.props | head -1
  bspkit dump maps models > models.jsonl"
))]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// A lump, or a list in it
    #[arg(value_name = "LUMP")]
    lump: String,
    /// The format [default: json for a lump with records, else raw]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<RecordsFormat>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "GAME")]
    flag_names: Option<String>,
}

impl DumpArgs {
    fn format(&self) -> Option<RecordsFormat> {
        if self.json { Some(RecordsFormat::Json) } else { self.format }
    }
}

pub(crate) fn run_dump(cx: &Context, args: &DumpArgs) -> Result<Code> {
    let maps = args.maps.find().json(true);
    if maps.many && args.format().is_some_and(|format| format != RecordsFormat::Json) {
        let error = Error::new(ErrorKind::Argument, "several maps can only be printed as JSON");
        return Err(error.with_hint("`unpack` writes files of any format, with a folder for each map").into());
    }
    maps.each(cx, |map, job| {
        let bsp = cx.open_said(&map.path, job)?;
        let names = folder::names(&bsp, args.flag_names.as_deref())?;
        let cannot = || format!("cannot dump {} of {}", args.lump, shown(&map.path));
        let content = Lump::find(&bsp, &args.lump).with_context(cannot)?;
        let format = match maps.many {
            true => RecordsFormat::Json,
            false => args.format().unwrap_or(content.usual_format()),
        };
        match maps.many {
            true => line(&content, names, map, job),
            false => content.print(format, names, |piece| job.write(piece)),
        }
        .with_context(cannot)?;
        warn_of_rest(&content, format, job);
        Ok(Code::Done)
    })
}

/// The start of the JSON line of a map, before its records.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    lump: &'a str,
    /// The records are added one by one, since there may be millions.
    records: [(); 0],
}

/// Prints all records of a map as one line.
fn line(content: &Lump<'_>, names: FlagNames, map: &MapFile, job: &mut Job<'_>) -> Result<()> {
    let head = Document { head: Head::new(&map.path), lump: content.name(), records: [] };
    let mut head = json(&head, true)?;
    head.truncate(head.len() - b"]}".len());
    let mut is_first = true;
    content.print(RecordsFormat::Json, names, |records| {
        if records.is_empty() && !is_first {
            return Ok(true);
        }
        let mut text = if is_first { head.clone() } else { b",".to_vec() };
        is_first = false;
        // A record contains no line break.
        let records = records.strip_suffix(b"\n").unwrap_or(records);
        text.extend(records.iter().map(|byte| if *byte == b'\n' { b',' } else { *byte }));
        job.write(&text)
    })?;
    job.write(b"]}\n").map(drop)
}

fn warn_of_rest(lump: &Lump<'_>, format: RecordsFormat, job: &mut Job<'_>) {
    let rest = lump.rest();
    if format != RecordsFormat::Raw && rest > 0 {
        let (bytes, are) = (count(rest, "byte", "bytes"), if rest == 1 { "is" } else { "are" });
        let text = format!("{}: {bytes} after the last record {are} not printed; `load` keeps them", lump.name());
        job.warn_here(&text);
    }
}

// `load`: reads the records of a lump from text.

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
pub(crate) struct LoadArgs {
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
    format: Option<RecordsFormat>,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "GAME")]
    flag_names: Option<String>,
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

pub(crate) fn run_load(cx: &Context, args: &LoadArgs) -> Result<Code> {
    if args.maps.are_many() {
        bail!("one file has the records of one map: `pack` makes many maps from their folders");
    }
    args.save.spare(&args.file)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let names = folder::names(draft.bsp(), args.flag_names.as_deref())?;
        let lump = Lump::find(draft.bsp(), &args.lump)?;
        let named = args.file.extension().and_then(|extension| RecordsFormat::of_extension(extension.to_str()?));
        let format = args.format.or(named).unwrap_or(lump.usual_format());
        let (followed, is_asked) = load(draft, &lump, format, names, args)?;
        if is_asked {
            return Ok(done(&followed, job));
        }
        followed.warnings.iter().for_each(|warning| job.warn_here(warning));
        Ok(Edited::Done)
    })
}

/// What followed, and whether that was asked for.
fn load(
    draft: &mut Draft<'static>,
    lump: &Lump<'static>,
    format: RecordsFormat,
    names: FlagNames,
    args: &LoadArgs,
) -> Result<(Followed, bool)> {
    let mut file: Box<dyn BufRead> = match args.file == Path::new("-") {
        true => Box::new(BufReader::new(context::stdin()?)),
        false => Box::new(BufReader::new(input::open(&args.file)?)),
    };
    if format != RecordsFormat::Raw {
        let start = file.fill_buf().with_context(|| format!("cannot read {}", shown(&args.file)))?;
        input::refuse_utf16(&args.file, start)?;
    }
    let doing = || format!("cannot load {} into {}", shown(&args.file), lump.name());
    let numbers = args.numbers.of(args.save.force);
    let followed = lump.load(draft, format, names, numbers, file).with_context(doing)?;
    Ok((followed, matches!(numbers, Numbers::Followed { .. })))
}

// `get`: prints fields of records.

/// Print fields of records, one per line
///
/// LUMP[INDEX].FIELD prints the value of one record; numbers and names as plain text, lists, structs and whole records
/// as JSON. `[10..20]`, `[*]` and tests choose several, as in `bspkit set`: `[side=1]`, `[distance>8]`,
/// `[texture~/re/i]`, `[flags&SKY]`, `[texinfo.texture=sky]`. Then each line is LUMP[INDEX].FIELD=VALUE, as `set` takes
/// it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit get base1.bsp 'planes[0].normal[2]'
  bspkit get base1.bsp 'faces[12].texinfo' 'faces[12].styles'
  bspkit get base1.bsp 'texinfo[texture~/water/i].flags'
  bspkit get base1.bsp 'faces[texinfo.flags&SKY].texture' --format csv
  bspkit get base1.bsp 'texinfo[3]' --json
  bspkit get c1m4.bsp 'game:sprp.props[0].origin'
  bspkit get maps 'planes[0].distance' --json"
))]
pub(crate) struct GetArgs {
    #[command(flatten)]
    reading: Reading,
    /// The fields; without `.FIELD` the whole record
    #[arg(value_name = "LUMP[INDEX].FIELD", required = true)]
    queries: Vec<String>,
    /// How to print them
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: Format,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "GAME")]
    flag_names: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The value of one record, or lines LUMP[INDEX].FIELD=VALUE
    Text,
    /// One JSON object per line, one per record
    Json,
    /// A header line, then one line per record, with a column for each number; for one query on one map
    Csv,
}

#[derive(Serialize)]
struct Values<'a> {
    values: Vec<ValueOf<'a>>,
}

#[derive(Serialize)]
struct ValueOf<'a> {
    /// Of one of several maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    lump: &'a str,
    index: usize,
    field: &'a str,
    value: Box<RawValue>,
}

pub(crate) fn run_get(cx: &Context, args: &GetArgs) -> Result<Code> {
    let queries = args.queries.iter().map(|text| Query::parse(text)).collect::<bspkit::Result<Vec<_>>>()?;
    let maps = args.reading.maps();
    if args.format == Format::Csv && (maps.many || queries.len() > 1) {
        let error = Error::new(ErrorKind::Argument, "CSV has the columns of one query on one map");
        return Err(error.with_hint("use --format json for several").into());
    }
    maps.each(cx, |map, job| {
        let bsp = cx.open_said(&map.path, job)?;
        let cannot = || format!("cannot read {}", shown(&map.path));
        let names = folder::names(&bsp, args.flag_names.as_deref()).with_context(cannot)?;
        let counts = match args.reading.json {
            true => document(&queries, &bsp, names, job),
            false => args.format.print(&queries, &bsp, names, maps.many, job),
        };
        let counts = counts.with_context(cannot)?;
        let idle = queries.iter().zip(&counts).filter(|(_, count)| **count == 0).map(|(query, _)| query.to_string());
        let idle: Vec<_> = idle.collect();
        let what = format!("nothing matches {}", idle.join(" or "));
        match idle.len() {
            0 => Ok(Code::Done),
            count if count == queries.len() => Ok(job.nothing(&what)),
            _ => {
                job.warn_here(&what);
                Ok(Code::Done)
            }
        }
    })
}

/// Prints one document with all values, and returns how many each query finds.
fn document(queries: &[Query], bsp: &Bsp<'_>, names: FlagNames, job: &mut Job<'_>) -> Result<Vec<usize>> {
    let (mut values, mut counts) = (Vec::new(), Vec::new());
    for query in queries {
        let (lump, field) = (query.lump(), query.field());
        counts.push(query.each(bsp, names, |index, value| {
            let value = RawValue::from_string(value_json(value, names)).map_err(io::Error::from)?;
            values.push(ValueOf { path: None, lump, index, field, value });
            Ok(true)
        })?);
    }
    job.document(&Values { values })?;
    Ok(counts)
}

impl Format {
    /// Prints the values, and returns how many each query finds.
    fn print(
        self,
        queries: &[Query],
        bsp: &Bsp<'_>,
        names: FlagNames,
        many: bool,
        job: &mut Job<'_>,
    ) -> Result<Vec<usize>> {
        let (mut lines, mut counts) = (Vec::new(), Vec::new());
        for query in queries {
            let (lump, field) = (query.lump(), query.field());
            let dot = if field.is_empty() { "" } else { "." };
            let count = match self {
                Format::Csv => {
                    let mut rows = CsvRows::new(query, bsp, names)?;
                    let count = query.each(bsp, names, |index, value| rows.push(index, value).map(|()| true))?;
                    job.write(&rows.finish()?)?;
                    count
                }
                Format::Json => query.each(bsp, names, |index, value| {
                    let value = RawValue::from_string(value_json(value, names)).map_err(io::Error::from)?;
                    let path = many.then_some(&*job.path);
                    let line = serde_json::to_string(&ValueOf { path, lump, index, field, value });
                    lines.push(line.map_err(io::Error::from)?);
                    Ok(true)
                })?,
                Format::Text => query.each(bsp, names, |index, value| {
                    let place = || format!("{lump}[{index}]{dot}{field}");
                    lines.push(match value_text(value, names) {
                        Some(value) if query.is_one() => value,
                        Some(value) => format!("{}={value}", place()),
                        None => place(),
                    });
                    Ok(true)
                })?,
            };
            counts.push(count);
        }
        if many && self == Format::Text && !lines.is_empty() {
            job.line(format!("{}:", job.path));
        }
        lines.iter().for_each(|line| job.line(line));
        Ok(counts)
    }
}

// `set`: changes fields of records.

/// Change fields of records
///
/// LUMP[INDEX].FIELD=VALUE changes a field of one record. `[10..20]`, `[*]` and tests choose several: `[side=1]`,
/// `[distance>8]`, `<`, `>=`, `<=`, `[texture~/re/i]`, `[texture^=e1u1/]` (starts with), `$=` (ends with), `*=`
/// (contains), `[flags&SKY]` (one of these flags is set). They can follow each other, `:not([...])` excludes, and a
/// comma is for either. A field that is an index may be followed: `[texinfo.texture=sky]`. `bspkit get` takes the same
/// queries and prints the records.
///
/// A VALUE is a number, the bits of a number in hex, a name with escapes, flag names separated by `|`, or JSON for a
/// list, a struct or a whole record. `+=`, `-=`, `*=` and `/=` calculate with each number of the field, `|=`, `&=` and
/// `^=` combine flags; `&=~SKY` removes one. Only the field changes; indices in other records are not updated.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit set base1.bsp 'texinfo[3].texture=e1u1/metal1_1' -o out.bsp
  bspkit set base1.bsp 'texinfo[3].flags=SKY|NODRAW' 'texinfo[3].value=0' --in-place --backup
  bspkit set base1.bsp 'texinfo[texture~/water/i].flags|=WARP' -o out.bsp
  bspkit set base1.bsp 'texinfo[flags&SKY].flags&=~LIGHT' --dry-run
  bspkit set base1.bsp 'faces[texinfo.texture=e1u1/sky].light_offset=-1' --dry-run
  bspkit set base1.bsp 'planes[0].normal=[0,0,1]' 'models[1..].origin+=0 0 8' --dry-run
  bspkit set kingpin.bsp 'texinfo[3].flags=METAL' --flag-names kingpin -o out.bsp"
))]
pub(crate) struct SetArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The field, and its new value
    #[arg(value_name = "LUMP[INDEX].FIELD=VALUE", required = true)]
    changes: Vec<String>,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "GAME")]
    flag_names: Option<String>,
    #[command(flatten)]
    save: Save,
}

pub(crate) fn run_set(cx: &Context, args: &SetArgs) -> Result<Code> {
    let changes = args.changes.iter().map(|text| FieldChange::parse(text)).collect::<bspkit::Result<Vec<_>>>()?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let names = folder::names(draft.bsp(), args.flag_names.as_deref())?;
        let mut idle = Vec::new();
        for change in &changes {
            let changed = change.apply_with(draft, names, parse_value);
            if changed.with_context(|| format!("cannot set {}", change.query()))? == 0 {
                idle.push(change.query().to_string());
            }
        }
        let what = format!("nothing matches {}", idle.join(" or "));
        match idle.len() {
            0 => Ok(Edited::Done),
            count if count == changes.len() => Ok(Edited::Nothing(what)),
            _ => {
                job.warn_here(&what);
                Ok(Edited::Done)
            }
        }
    })
}

// `refs`: what refers to a record, and what it refers to, as a tree.

/// Print what refers to a record, and what it refers to
///
/// Beside the fields of records these are values of entities, collision models, and lumps that run parallel. Each
/// reference is followed on in the same direction, of several records from the first one. A record that is on the way
/// already is marked as a cycle. Of each record the first ten references are printed; -v prints all, at most 2000 in
/// each direction.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit refs base1.bsp 'models[1]'
  bspkit refs base1.bsp 'faces[12]' --depth 4
  bspkit refs base1.bsp 'planes[3]' --depth 1 -v
  bspkit refs base1.bsp 'planes[3]' --json"
))]
pub(crate) struct RefsArgs {
    #[command(flatten)]
    reading: Reading,
    /// The record
    #[arg(value_name = "LUMP[INDEX]")]
    record: Target,
    /// How many references to follow one after the other
    #[arg(long, value_name = "N", default_value_t = 2)]
    depth: usize,
}

#[derive(Serialize)]
struct Refs {
    lump: String,
    record: usize,
    #[serde(flatten)]
    tree: ReferenceTree,
}

fn print_all(job: &mut Job<'_>, branches: &Branches, indent: usize) {
    for branch in &branches.branches {
        let cycle = if branch.is_cycle { "  (cycle)" } else { "" };
        job.line(format!("{:indent$}{}  {}{cycle}", "", branch.reference, branch.reference.field));
        print_all(job, &branch.next, indent + 2);
    }
    if branches.more > 0 {
        // With -v too there is an end: the size of the list has a bound.
        let hint = if job.talk.verbose { "" } else { "; -v prints them" };
        job.line(format!("{:indent$}and {} more{hint}", "", branches.more));
    }
}

impl Report for Refs {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        job.line(format!("{}: {}[{}]", job.path, self.lump, self.record));
        for (title, branches) in [("refers to", &self.tree.to), ("is referred to by", &self.tree.by)] {
            if !branches.branches.is_empty() {
                job.line(format!("  {title}"));
                print_all(job, branches, 4);
            }
        }
        Ok(())
    }

    fn code(&self) -> Code {
        Code::Done
    }
}

/// Values of entities that may name the record, where no reference is declared.
fn loose(bsp: &Bsp<'_>, lump: &str, record: usize) -> Vec<String> {
    let Ok(entities) = bsp.entities() else { return Vec::new() };
    let said = |entity: Entity<'_>| -> Vec<String> {
        let models = entity.loose_models(bsp.dialect()).into_iter();
        let named = models.filter(|model| model.lump == lump && usize::try_from(model.number) == Ok(record));
        named.map(|model| format!("{}, which may name it", model.text(&entity))).collect()
    };
    LooseModel::listed(entities.iter().flat_map(said))
}

pub(crate) fn run_refs(cx: &Context, args: &RefsArgs) -> Result<Code> {
    if args.record.range.len() != 1 {
        return Err(bad_argument("references are those of one record".to_owned(), "name it as LUMP[INDEX]"));
    }
    // A way through a tree of nodes is as long as the tree is deep; 64 levels are more than anybody reads.
    let (depth, most) = (args.depth.clamp(1, 64), if cx.talk.verbose { usize::MAX } else { 10 });
    args.reading.each(cx, |bsp, job| {
        let (lump, record) = (list_name(&bsp, &args.record.list)?, args.record.range.start);
        let tree = bsp.draft().reference_tree(&lump, record, depth, most)?;
        for said in loose(&bsp, &lump, record) {
            job.warn_here(&said);
        }
        job.report(&Refs { lump, record, tree })
    })
}
