//! `get`: prints fields of records.

use anyhow::{Context as _, Result};
use bspkit::face::folder;
use bspkit::face::records::{CsvRows, value_json, value_text};
use bspkit::op::query::Query;
use bspkit::record::FlagNames;
use bspkit::{Bsp, Error, ErrorKind};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::value::RawValue;

use super::context::Context;
use super::help;
use super::maps::Reading;
use super::show::shown;
use super::talk::{Code, Job};

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
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The fields; without `.FIELD` the whole record
    #[arg(value_name = "LUMP[INDEX].FIELD", required = true)]
    queries: Vec<String>,
    /// How to print them
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: Format,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
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

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let queries = args.queries.iter().map(|text| Query::parse(text)).collect::<bspkit::Result<Vec<_>>>()?;
    let maps = args.reading.maps();
    if args.format == Format::Csv && (maps.many || queries.len() > 1) {
        let error = Error::new(ErrorKind::Argument, "CSV has the columns of one query on one map");
        return Err(error.with_hint("use --format json for several").into());
    }
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let cannot = || format!("cannot read {}", shown(&map.path));
        let names = folder::names(&bsp, args.game.as_deref()).with_context(cannot)?;
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
        counts.push(query.each(bsp, names, |index, value| -> Result<bool> {
            let value = RawValue::from_string(value_json(value, names))?;
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
                Format::Json => query.each(bsp, names, |index, value| -> Result<bool> {
                    let value = RawValue::from_string(value_json(value, names))?;
                    let path = many.then_some(&*job.path);
                    lines.push(serde_json::to_string(&ValueOf { path, lump, index, field, value })?);
                    Ok(true)
                })?,
                Format::Text => query.each(bsp, names, |index, value| -> Result<bool> {
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
