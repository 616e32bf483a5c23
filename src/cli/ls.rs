//! `ls`: the file from front to back.

use anyhow::Result;
use bspkit::{Bsp, Segment, SegmentKind, Slot};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::info::is_nested;
use super::maps::Reading;
use super::show::{Head, json};
use super::talk::{Code, Job};

/// List the file from front to back, with what covers each part
///
/// Nothing is left out: the list has the gaps between lumps, the padding and everything after the last lump. Lumps that
/// claim bytes past the end of the file come last.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ls dm4.bsp
  bspkit ls dm4.bsp --json | grep gap
  bspkit ls maps --json > segments.jsonl"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    size: usize,
    segments: Vec<SegmentJson<'a>>,
    damaged: Vec<Damaged<'a>>,
}

#[derive(Serialize)]
struct SegmentJson<'a> {
    offset: usize,
    bytes: usize,
    kind: String,
    slots: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zero: Option<bool>,
}

#[derive(Serialize)]
struct Damaged<'a> {
    name: &'a str,
    offset: i32,
    bytes: i32,
    bounds: String,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.reading.maps();
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        if args.reading.json {
            let damaged = bsp.container().damaged();
            let document = Document {
                head: Head::new(&map.path),
                size: bsp.container().bytes().len(),
                segments: bsp.container().segments().iter().map(|segment| segment_json(&bsp, segment)).collect(),
                damaged: damaged.map(damage).collect(),
            };
            job.line(json(&document, maps.many)?);
            return Ok(Code::Done);
        }
        if maps.many {
            job.line(format!("{}:", job.path));
        }
        print(&bsp, job);
        Ok(Code::Done)
    })
}

pub(crate) fn print(bsp: &Bsp<'_>, job: &mut Job<'_>) {
    let width = bsp.container().bytes().len().to_string().len().max(6);
    job.line(format!("{:>width$} {:>width$}  what", "offset", "bytes"));
    for segment in bsp.container().segments() {
        let SegmentJson { offset, bytes, kind, slots, zero } = segment_json(bsp, &segment);
        let what = match (segment.kind, slots.len()) {
            (SegmentKind::Slots, _) => slots.join(", "),
            (_, 0) => kind,
            _ => format!("{kind}, under {}", slots.join(", ")),
        };
        let is_shared = |id| segment.slots.iter().any(|other| *other != id && !is_nested(bsp, id, *other));
        let shared = if segment.slots.iter().any(|id| is_shared(*id)) { " (shared)" } else { "" };
        let zero = zero.map_or("", |zero| if zero { ", all zero" } else { ", not all zero" });
        job.line(format!("{offset:>width$} {bytes:>width$}  {what}{shared}{zero}"));
    }
    for slot in bsp.container().damaged() {
        let Slot { name, offset, length, bounds, .. } = slot;
        job.line(format!("{offset:>width$} {length:>width$}  {name} {bounds}"));
    }
}

fn segment_json<'b>(bsp: &'b Bsp<'_>, segment: &Segment) -> SegmentJson<'b> {
    let slot_name = |id| bsp.container().slot(id).map(|slot| slot.name.as_str());
    let bytes = &bsp.container().bytes()[segment.range.clone()];
    SegmentJson {
        offset: segment.range.start,
        bytes: segment.range.len(),
        kind: segment.kind.to_string(),
        slots: segment.slots.iter().filter_map(|id| slot_name(*id)).collect(),
        zero: is_unowned(segment.kind).then(|| bytes.iter().all(|byte| *byte == 0)),
    }
}

/// Whether such a segment is not part of the format.
fn is_unowned(kind: SegmentKind) -> bool {
    matches!(kind, SegmentKind::Gap | SegmentKind::Tail)
}

fn damage(slot: &Slot) -> Damaged<'_> {
    let Slot { name, offset, length, bounds, .. } = slot;
    Damaged { name, offset: *offset, bytes: *length, bounds: bounds.to_string() }
}
