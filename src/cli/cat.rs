//! `cat`: the bytes of one slot.

use anyhow::{Context as _, Result};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::Reading;
use super::show::{ValueJson, shown};
use super::talk::Code;

/// Print the bytes of a lump, decompressed; for several maps, one after the other
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cat dm4.bsp entities > dm4.ent
  bspkit cat dm4.bsp 2 | xxd | head
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
