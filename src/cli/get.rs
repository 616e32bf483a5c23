//! `get`: prints fields of records.

use anyhow::{Context as _, Result};
use bspkit::face::folder;
use bspkit::face::records::FieldPath;
use serde::Serialize;
use serde_json::value::RawValue;

use super::context::Context;
use super::help;
use super::maps::Reading;
use super::show::shown;
use super::talk::Code;

/// Print fields of records, one per line
///
/// Numbers and names are printed as plain text; lists, structs and whole records as JSON.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit get base1.bsp 'planes[0].normal[2]'
  bspkit get base1.bsp 'faces[12].texinfo' 'faces[12].styles'
  bspkit get base1.bsp 'texinfo[3]' --json
  bspkit get c1m4.bsp 'game:sprp.props[0].origin'
  bspkit get maps 'planes[0].distance' --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The fields; without `.FIELD` the whole record
    #[arg(value_name = "LUMP[INDEX].FIELD", required = true)]
    places: Vec<FieldPath>,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
}

#[derive(Serialize)]
struct Values<'a> {
    values: Vec<ValueOf<'a>>,
}

#[derive(Serialize)]
struct ValueOf<'a> {
    lump: &'a str,
    index: usize,
    field: &'a str,
    value: Box<RawValue>,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.reading.maps();
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let cannot = || format!("cannot read {}", shown(&map.path));
        let names = folder::names(&bsp, args.game.as_deref()).with_context(cannot)?;
        let mut lines = Vec::new();
        let mut values = Vec::new();
        for place in &args.places {
            if args.reading.json {
                let value = RawValue::from_string(place.get_json(&bsp, names).with_context(cannot)?)?;
                values.push(ValueOf { lump: &place.lump, index: place.index, field: &place.field, value });
            } else {
                lines.push(place.get(&bsp, names).with_context(cannot)?);
            }
        }
        if args.reading.json {
            job.document(&Values { values })?;
        } else if maps.many {
            job.line(format!("{}:", job.path));
        }
        lines.iter().for_each(|line| job.line(line));
        Ok(Code::Done)
    })
}
