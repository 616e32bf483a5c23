//! `cat`: the bytes of one slot.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;

use super::help;
use super::options::Options;
use super::show::{PathJson, ValueJson, json, shown};
use super::talk::{Code, Job, Talk};

/// Print a lump's bytes, decompressed
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cat dm4.bsp entities > dm4.ent
  bspkit cat dm4.bsp 2 | xxd | head
  bspkit cat source.bsp game:sprp --stored > sprp.lzma
  bspkit cat quake2.bsp bspx:RGBLIGHTING > light"
))]
pub(crate) struct Args {
    /// The map
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// A number, the dialect's name for a lump or its role, in any case; `game:sprp`, `bspx:RGBLIGHTING`
    #[arg(value_name = "LUMP")]
    lump: String,
    /// As it stands in the file: not decompressed
    #[arg(long)]
    stored: bool,
    /// Print JSON: the bytes as a string, and in base64 where they are no UTF-8
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    path: PathJson<'a>,
    name: &'a str,
    offset: i32,
    bytes: usize,
    stored: bool,
    #[serde(flatten)]
    value: ValueJson<'a>,
}

pub(crate) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    let bsp = options.open(&args.map)?;
    let cannot = || format!("cannot read {} of {}", args.lump, shown(&args.map));
    let slot = bsp.slot(&args.lump).with_context(cannot)?;
    let bytes = if args.stored { bsp.stored(slot.id) } else { bsp.bytes(slot.id).with_context(cannot)? };
    if args.json {
        let document = Document {
            path: PathJson::new(&args.map),
            name: &slot.name,
            offset: slot.offset,
            bytes: bytes.len(),
            stored: args.stored,
            value: ValueJson::new(&bytes),
        };
        let mut text = json(&document, false)?;
        text.push(b'\n');
        talk.stdout(&text)?;
    } else {
        talk.stdout(&bytes)?;
    }
    if slot.bounds.is_damaged() {
        let mut job = Job::new(talk, &args.map);
        let (name, claimed, there) = (&slot.name, slot.length, slot.stored.len());
        job.warn_here(&format!("{name} {}: {there} of {claimed} bytes are there", slot.bounds));
        talk.stderr(&job.err);
    }
    Ok(Code::Done)
}
