//! `cat`: the bytes of one slot.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::file::replace;
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::Reading;
use super::show::{ValueJson, count, shown};
use super::spare::spare;
use super::talk::Code;

/// Print the bytes of a lump, decompressed; for several maps, one after the other
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cat dm4.bsp entities > dm4.ent
  bspkit cat dm4.bsp 2 | xxd | head
  bspkit cat source.bsp pakfile -o files.zip
  bspkit cat source.bsp game:sprp --stored > sprp.lzma
  bspkit cat quake2.bsp bspx:RGBLIGHTING > light
  bspkit cat maps entities --json > texts.jsonl"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The lump: a number, the dialect's name, or a role, in any case; also `game:sprp`, `bspx:RGBLIGHTING`
    #[arg(value_name = "LUMP")]
    lump: String,
    /// Print the bytes as they are in the file, not decompressed
    #[arg(long)]
    stored: bool,
    /// Write them to a file, which is replaced completely or not at all; only for a single map
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct Bytes<'a> {
    lump: &'a str,
    offset: i32,
    bytes: usize,
    stored: bool,
    #[serde(flatten)]
    value: ValueJson<'a>,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.output.is_some() && args.reading.maps().many {
        bail!("-o is for a single map: `unpack` writes the lumps of several maps");
    }
    args.reading.each(cx, |bsp, job| {
        let file = job.file;
        let cannot = || format!("cannot read {} of {}", args.lump, shown(file));
        let slot = bsp.slot(&args.lump).with_context(cannot)?;
        let bytes = if args.stored { bsp.stored(slot.id) } else { bsp.bytes(slot.id).with_context(cannot)? };
        if job.json {
            job.document(&Bytes {
                lump: &slot.name,
                offset: slot.offset,
                bytes: bytes.len(),
                stored: args.stored,
                value: ValueJson::new(&bytes),
            })?;
        } else if let Some(path) = &args.output {
            spare(path, file)?;
            replace(path, &SaveOptions::default(), |mut file| file.write_all(&bytes))?;
            job.say(&format!("{}: {}", shown(path), count(bytes.len(), "byte", "bytes")));
        } else {
            job.write(&bytes)?;
        }
        if slot.bounds.is_damaged() {
            let (name, claimed, there) = (&slot.name, slot.length, slot.stored.len());
            job.warn_here(&format!("{name} {}: only {there} of {claimed} bytes are in the file", slot.bounds));
        }
        Ok(Code::Done)
    })
}
