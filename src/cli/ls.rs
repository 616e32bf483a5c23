//! `ls`: all parts of the file in order.

use anyhow::Result;
use bspkit::{Bsp, Segment, SegmentKind, Slot};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::info::is_nested;
use super::maps::Reading;
use super::report::Report;
use super::talk::{Code, Job};

/// List all parts of the file in the order of their offsets
///
/// The list is complete: lumps, gaps between lumps, padding and everything after the last lump. Lumps that claim bytes
/// past the end of the file come last.
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
pub(super) struct List<'a> {
    bytes: usize,
    segments: Vec<SegmentJson<'a>>,
    damaged: Vec<Damaged<'a>>,
}

#[derive(Serialize)]
struct SegmentJson<'a> {
    offset: usize,
    bytes: usize,
    kind: String,
    #[serde(rename = "lumps")]
    slots: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zero: Option<bool>,
    /// Whether several lumps share it that are not parts of each other.
    #[serde(skip)]
    is_shared: bool,
    #[serde(skip)]
    is_lump: bool,
}

#[derive(Serialize)]
struct Damaged<'a> {
    #[serde(rename = "lump")]
    name: &'a str,
    offset: i32,
    bytes: i32,
    bounds: String,
}

impl<'a> List<'a> {
    pub(super) fn new(bsp: &'a Bsp<'_>) -> Self {
        List {
            bytes: bsp.container().bytes().len(),
            segments: bsp.container().segments().iter().map(|segment| segment_json(bsp, segment)).collect(),
            damaged: bsp.container().damaged().map(damage).collect(),
        }
    }
}

impl Report for List<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let width = self.bytes.to_string().len().max(6);
        job.line(format!("{:>width$} {:>width$}  what", "offset", "bytes"));
        for SegmentJson { offset, bytes, kind, slots, zero, is_shared, is_lump } in &self.segments {
            let what = match (is_lump, slots.len()) {
                (true, _) => slots.join(", "),
                (false, 0) => kind.clone(),
                (false, _) => format!("{kind}, under {}", slots.join(", ")),
            };
            let shared = if *is_shared { " (shared)" } else { "" };
            let zero = zero.map_or("", |zero| if zero { ", all zero" } else { ", not all zero" });
            job.line(format!("{offset:>width$} {bytes:>width$}  {what}{shared}{zero}"));
        }
        for Damaged { name, offset, bytes, bounds } in &self.damaged {
            job.line(format!("{offset:>width$} {bytes:>width$}  {name} {bounds}"));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| job.report(&List::new(&bsp)))
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
        is_shared: segment
            .slots
            .iter()
            .any(|id| segment.slots.iter().any(|other| other != id && !is_nested(bsp, *id, *other))),
        is_lump: segment.kind == SegmentKind::Slots,
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
