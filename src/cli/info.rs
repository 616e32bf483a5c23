//! `info`: the dialect and the lumps of a map.

use anyhow::Result;
use bspkit::dialect::{Form, Records, Role};
use bspkit::{Bsp, SegmentKind, Slot, SlotId};
use serde::Serialize;

use super::check::EngineName;
use super::context::Context;
use super::help;
use super::maps::Reading;
use super::report::Report;
use super::show::count;
use super::talk::{Code, Job};

mod limits;
mod table;

/// Show the dialect of a map, its lumps, and the bytes outside of lumps
///
/// Directory entries that overlap, are negative or lie outside the file are marked. All numbers are as the directory
/// states them.
///
/// With --limits: how much of each limit of the engine the map uses, in the limit's unit and in bytes. The limits are
/// those of `check`, which reports a number above one.
#[derive(clap::Args)]
#[command(mut_arg("engine", |engine| engine.requires("limits")), after_help = help!(
    "  bspkit info dm4.bsp
  bspkit info maps --json > maps.jsonl
  bspkit info dm4.bsp --limits
  bspkit info goldsrc.bsp --limits --engine sdhlt"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// Show how much of each limit of the engine is used, instead of the lumps
    #[arg(long)]
    limits: bool,
    #[command(flatten)]
    engine: EngineName,
}

#[derive(Serialize)]
struct Info<'a> {
    dialect: &'static str,
    title: &'static str,
    bsp_version: i32,
    revision: Option<i32>,
    bytes: usize,
    #[serde(rename = "lumps")]
    slots: Vec<SlotJson<'a>>,
    gaps: Vec<Stretch>,
    tail: Vec<Stretch>,
    /// The version as the dialect writes it.
    #[serde(skip)]
    version_name: String,
}

/// A slot, as a row of the table or in JSON.
#[derive(Serialize)]
struct SlotJson<'a> {
    index: usize,
    name: &'a str,
    role: Option<&'static str>,
    offset: i32,
    bytes: i32,
    version: Option<i32>,
    /// The size after decompression; only for a compressed slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpacked: Option<usize>,
    compressed: bool,
    /// The type of its records, if it is one array.
    record: Option<&'static str>,
    #[serde(rename = "record_count")]
    count: Option<usize>,
    /// The lists in it, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lists: Vec<ListJson>,
    /// The kind of its content, if it has no records.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'static str>,
    /// Why it is read only as bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    opaque: Option<String>,
    bounds: String,
    shared_with: Vec<&'a str>,
    over_header: bool,
    pinned: Option<&'static str>,
    /// How directory and bytes disagree about compression, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    compression_oddity: Option<&'static str>,
    #[serde(skip)]
    is_damaged: bool,
    #[serde(skip)]
    is_lump: bool,
}

/// A list of records within a slot.
#[derive(Serialize)]
struct ListJson {
    name: &'static str,
    record: &'static str,
    #[serde(rename = "record_count")]
    count: usize,
}

/// The known content of a slot.
#[derive(Default)]
struct Holds {
    record: Option<&'static str>,
    count: Option<usize>,
    lists: Vec<ListJson>,
    content: Option<&'static str>,
    opaque: Option<String>,
}

/// Bytes that no slot covers.
#[derive(Serialize)]
struct Stretch {
    offset: usize,
    bytes: usize,
    kind: String,
    zero: bool,
}

impl Report for Info<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let Info { dialect, title, version_name, bytes, .. } = self;
        let revision = self.revision.map(|revision| format!(", revision {revision}")).unwrap_or_default();
        job.line(format!("{}: {title} ({dialect}), version {version_name}{revision}, {bytes} bytes", job.path));
        table::print(&self.slots, job);
        print_rest(&self.gaps, &self.tail, job);
        if job.many {
            job.line("");
        }
        Ok(())
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        if args.limits {
            return limits::report(&bsp, args.engine.engine.as_deref(), job);
        }
        job.report(&Info {
            dialect: bsp.dialect().name,
            title: bsp.dialect().title,
            bsp_version: bsp.version(),
            revision: bsp.revision(),
            bytes: bsp.container().bytes().len(),
            slots: slots(&bsp),
            gaps: stretches(&bsp, is_gap),
            tail: stretches(&bsp, is_tail),
            version_name: bsp.dialect().version_name(bsp.version()).to_string(),
        })
    })
}

fn slots<'b>(bsp: &'b Bsp<'_>) -> Vec<SlotJson<'b>> {
    let segments = bsp.container().segments();
    let in_header: Vec<SlotId> = segments
        .iter()
        .filter(|segment| segment.kind == SegmentKind::Header)
        .flat_map(|segment| segment.slots.iter().copied())
        .collect();
    let rows = bsp.slots().iter().map(|slot| {
        let others = bsp
            .slots()
            .iter()
            .filter(|other| other.id != slot.id && overlap(slot, other) && !is_nested(bsp, slot.id, other.id));
        let unpacked = bsp.decompressed_size(slot.id);
        let Holds { record, count, lists, content, opaque } = holds(bsp, slot);
        SlotJson {
            index: match slot.id {
                SlotId::Lump(index) | SlotId::Extra(index) | SlotId::Game(index) | SlotId::Bspx(index) => index,
                _ => 0,
            },
            name: &slot.name,
            role: bsp.role_of(slot.id).map(Role::name),
            offset: slot.offset,
            bytes: slot.length,
            version: slot.version,
            unpacked,
            compressed: unpacked.is_some(),
            record,
            count,
            lists,
            content,
            opaque,
            bounds: slot.bounds.to_string(),
            shared_with: others.map(|other| other.name.as_str()).collect(),
            over_header: in_header.contains(&slot.id),
            pinned: bsp.container().pinned(slot.id),
            compression_oddity: bsp.compression_oddity(slot.id),
            is_damaged: slot.bounds.is_damaged(),
            is_lump: matches!(slot.id, SlotId::Lump(_)),
        }
    });
    rows.collect()
}

fn holds(bsp: &Bsp<'_>, slot: &Slot) -> Holds {
    let size = bsp.decompressed_size(slot.id).unwrap_or(slot.stored.len());
    match bsp.row(slot) {
        Err(_) if size == 0 => Holds::default(),
        Err(why) => Holds { opaque: Some(why.to_string()), ..Holds::default() },
        Ok(row) => match row.form {
            Form::Array(record) => {
                Holds { record: Some(record.name), count: Some(size / record.size), ..Holds::default() }
            }
            Form::Lists(_) if size > 0 => match bsp.records(slot) {
                Ok(parts) => {
                    let list =
                        |part: Records| ListJson { name: part.list, record: part.record.name, count: part.count() };
                    Holds { lists: parts.into_iter().map(list).collect(), ..Holds::default() }
                }
                Err(error) => Holds { opaque: Some(error.to_string()), ..Holds::default() },
            },
            Form::Lens(what) => Holds { content: Some(what), ..Holds::default() },
            _ => Holds::default(),
        },
    }
}

fn overlap(one: &Slot, other: &Slot) -> bool {
    one.stored.start < other.stored.end && other.stored.start < one.stored.end
}

/// Whether one of two slots is a member of the other, whose bytes it covers by design.
pub(crate) fn is_nested(bsp: &Bsp<'_>, one: SlotId, other: SlotId) -> bool {
    let game = bsp.role(Role::GameLump).map(|slot| slot.id);
    let is_in = |child, parent| matches!(child, SlotId::Game(_)) && Some(parent) == game;
    is_in(one, other) || is_in(other, one)
}

fn is_gap(kind: SegmentKind) -> bool {
    kind == SegmentKind::Gap
}

fn is_tail(kind: SegmentKind) -> bool {
    use SegmentKind::{Bspx, BspxGap, Padding, Tail, Trailer};
    matches!(kind, Padding | Bspx | BspxGap | Trailer | Tail)
}

fn stretches(bsp: &Bsp<'_>, wanted: fn(SegmentKind) -> bool) -> Vec<Stretch> {
    let segments = bsp.container().segments().into_iter().filter(|segment| wanted(segment.kind));
    let stretches = segments.map(|segment| Stretch {
        offset: segment.range.start,
        bytes: segment.range.len(),
        kind: segment.kind.to_string(),
        zero: bsp.container().bytes()[segment.range].iter().all(|byte| *byte == 0),
    });
    stretches.collect()
}

fn print_rest(gaps: &[Stretch], tail: &[Stretch], job: &mut Job<'_>) {
    let (zero, content): (Vec<_>, Vec<_>) = gaps.iter().partition(|gap| gap.zero);
    if !zero.is_empty() {
        let bytes: usize = zero.iter().map(|gap| gap.bytes).sum();
        job.line(format!("gaps: {} of zeros, {}", zero.len(), count(bytes, "byte", "bytes")));
    }
    for Stretch { offset, bytes, .. } in content {
        job.line(format!("gap: {} at {offset}, not all zero", count(*bytes, "byte", "bytes")));
    }
    for Stretch { offset, bytes, kind, .. } in tail {
        job.line(format!("{kind}: {} at {offset}", count(*bytes, "byte", "bytes")));
    }
}
