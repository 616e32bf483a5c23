//! `get`: one field of a record.

use std::path::PathBuf;

use anyhow::{Context, Result};
use bspkit::record;
use serde::Serialize;
use serde_json::value::RawValue;

use super::help;
use super::options::Options;
use super::records::{RecordPlace, game, print_value};
use super::show::{PathJson, json, shown};
use super::talk::{Code, Talk};

/// Print fields of records, one on a line
///
/// A number or a name is printed as it is; a list, a struct or a whole record as JSON.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit get base1.bsp 'planes[0].normal[2]'
  bspkit get base1.bsp 'faces[12].texinfo' 'faces[12].styles'
  bspkit get base1.bsp 'texinfo[3]' --json
  bspkit get c1m4.bsp 'game:sprp.props[0].origin'"
))]
pub(crate) struct Args {
    /// The map
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Which fields; without `.FIELD` the whole record
    #[arg(value_name = "LUMP[INDEX].FIELD", required = true, value_parser = RecordPlace::parse)]
    places: Vec<RecordPlace>,
    /// Whose names flags get
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    path: PathJson<'a>,
    values: Vec<ValueOf<'a>>,
}

#[derive(Serialize)]
struct ValueOf<'a> {
    lump: &'a str,
    index: usize,
    field: &'a str,
    value: Box<RawValue>,
}

pub(crate) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    let bsp = options.open(&args.map)?;
    let cannot = || format!("cannot read {}", shown(&args.map));
    let names = game(&bsp, args.game.as_deref()).with_context(cannot)?.flags;
    let mut lines = Vec::new();
    let mut values = Vec::new();
    for place in &args.places {
        let found = place.find(&bsp).with_context(cannot)?;
        let (bytes, part) = (&found.content.bytes[found.place()], found.part);
        let mut value = Vec::new();
        print_value(&mut value, part.shape, part.meaning, bytes, names)?;
        if args.json {
            let value = RawValue::from_string(String::from_utf8(value)?)?;
            values.push(ValueOf { lump: &place.lump, index: place.index, field: &place.field, value });
        } else {
            match found.is_single() {
                true => lines.extend(record::print(part.shape, part.meaning, bytes, names).to_string().into_bytes()),
                false => lines.append(&mut value),
            }
            lines.push(b'\n');
        }
    }
    if args.json {
        lines = json(&Document { path: PathJson::new(&args.map), values }, false)?;
        lines.push(b'\n');
    }
    talk.stdout(&lines)?;
    Ok(Code::Done)
}
