//! `info`, `ls`, `cat`: the dialect and the lumps of a map, the parts of the file in order, and the bytes of one slot.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use bspkit::dialect::{Form, Role, Span, Unit, Whose};
use bspkit::{Bsp, Segment, SegmentKind, Slot, SlotId};
use bspkit_ops::check::{self, Usage};
use serde::Serialize;

use super::check::EngineName;
use super::context::{Context, Report};
use super::help;
use super::maps::Reading;
use super::output;
use super::talk::{Code, Job, ValueJson, count, shown};

// `info`: the dialect and the lumps of a map.

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
    #[serde(flatten)]
    holds: Holds,
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
#[derive(Default, Serialize)]
struct Holds {
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
        let path = job.talk.title(&job.path);
        job.line(format!("{path}: {title} ({dialect}), version {version_name}{revision}, {bytes} bytes"));
        print(&self.slots, job);
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
            return report(&bsp, args.engine.engine.as_deref(), job);
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
            holds: holds(bsp, slot),
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
            Form::Lists(_) if size > 0 => match bsp.spans(slot) {
                Ok(parts) => {
                    let list = |part: Span| ListJson { name: part.list, record: part.record.name, count: part.count() };
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

// `info --limits`: how full the tables of the engine are.

#[derive(Serialize)]
struct Limits {
    dialect: &'static str,
    engine: &'static str,
    title: &'static str,
    limits: Vec<LimitJson>,
}

#[derive(Serialize)]
struct LimitJson {
    lump: &'static str,
    unit: &'static str,
    /// The key whose values are counted, or the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<&'static str>,
    /// `engine` or `compiler`.
    whose: &'static str,
    count: usize,
    /// How many of these may not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsure: Option<usize>,
    max: usize,
    percent: f64,
    /// The bytes of `count` and of `max` units, if all units have one size.
    bytes: Option<usize>,
    max_bytes: Option<usize>,
}

impl LimitJson {
    /// What is counted, in words.
    fn units(&self) -> String {
        self.of.map_or_else(|| self.unit.to_owned(), |of| format!("{} {of}", self.unit))
    }
}

impl From<&Usage> for LimitJson {
    fn from(usage: &Usage) -> Self {
        let Usage { limit, count, unsure, unit_bytes, .. } = *usage;
        let unit = match limit.unit {
            Unit::Records => "records",
            Unit::Bytes => "bytes",
            Unit::Entities => "entities",
            Unit::InGame => "in-game",
            Unit::Textures => "textures",
            Unit::FaceEdges => "face-edges",
            Unit::Values(_) => "values",
            Unit::OfClass(_) => "class",
        };
        // Tenths are enough, and stay short as text.
        let percent = (usage.percent() * 10.0).round() / 10.0;
        let bytes = |units: usize| unit_bytes.map(|size| units.saturating_mul(size));
        LimitJson {
            lump: limit.lump,
            unit,
            of: match limit.unit {
                Unit::Values(of) | Unit::OfClass(of) => Some(of),
                _ => None,
            },
            whose: match limit.whose {
                Whose::Compiler => "compiler",
                _ => "engine",
            },
            count,
            unsure: (unsure > 0).then_some(unsure),
            max: limit.most,
            percent,
            bytes: bytes(count),
            max_bytes: bytes(limit.most),
        }
    }
}

impl Report for Limits {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let wide = |lump: &dyn Fn(&LimitJson) -> usize| self.limits.iter().map(lump).max().unwrap_or(0).max(4);
        let width = wide(&|limit| limit.lump.len());
        let units = wide(&|limit| limit.units().len()).max(10);
        let line = |cells: [&str; 7]| {
            let [lump, used, max, unit, bytes, full, whose] = cells;
            format!("{lump:<width$}  {used:>9}  {max:>9}  {unit:<units$}  {bytes:>21}  {full:>7}  {whose}")
                .trim_end()
                .to_owned()
        };
        job.line(format!("{}: limits of {} ({})", job.path, self.title, self.engine));
        job.line(line(["lump", "used", "max", "unit", "of bytes", "full", "limit of"]));
        for limit in &self.limits {
            let LimitJson { lump, whose, count, unsure, max, percent, bytes, max_bytes, .. } = limit;
            let bytes = bytes.zip(*max_bytes).map(|(used, max)| format!("{used} / {max}")).unwrap_or_default();
            let least = unsure.map(|unsure| format!("{}-", count.saturating_sub(unsure))).unwrap_or_default();
            let (count, most, full) = (format!("{least}{count}"), max.to_string(), format!("{percent:.1}%"));
            job.line(line([lump, &count, &most, &limit.units(), &bytes, &full, whose]));
        }
        if job.many {
            job.line("");
        }
        Ok(())
    }
}

/// Prints how much of each limit of an engine the map uses; an engine of another dialect has no effect.
fn report(bsp: &Bsp<'_>, engine: Option<&str>, job: &mut Job<'_>) -> Result<Code> {
    let dialect = bsp.dialect();
    let named = engine.and_then(|name| dialect.engine_by_name(name).ok());
    let Some(engine) = named.or_else(|| dialect.engine(bsp.version())) else {
        bail!("{}: no limits of engines are known for {}", shown(job.file), dialect.title);
    };
    let limits = check::usage(bsp, engine).iter().map(LimitJson::from).collect();
    job.report(&Limits { dialect: dialect.name, engine: engine.name, title: engine.title, limits })
}

// The table of slots. Empty columns are left out.

struct Column {
    name: &'static str,
    is_number: bool,
    cell: fn(&SlotJson<'_>) -> String,
}

const COLUMNS: [Column; 10] = [
    Column { name: "#", is_number: true, cell: |slot| if slot.is_lump { slot.index.to_string() } else { "".into() } },
    Column { name: "name", is_number: false, cell: |slot| slot.name.to_owned() },
    Column { name: "role", is_number: false, cell: |slot| slot.role.unwrap_or_default().to_owned() },
    Column { name: "offset", is_number: true, cell: |slot| slot.offset.to_string() },
    Column { name: "bytes", is_number: true, cell: |slot| slot.bytes.to_string() },
    Column { name: "version", is_number: true, cell: |slot| slot.version.map(|n| n.to_string()).unwrap_or_default() },
    Column { name: "unpacked", is_number: true, cell: |slot| slot.unpacked.map(|n| n.to_string()).unwrap_or_default() },
    Column { name: "count", is_number: true, cell: |slot| slot.holds.count.map(|n| n.to_string()).unwrap_or_default() },
    Column { name: "holds", is_number: false, cell: table_holds },
    Column { name: "marks", is_number: false, cell: marks },
];

/// The content of a slot.
fn table_holds(slot: &SlotJson<'_>) -> String {
    let Holds { record, lists, content, opaque, .. } = &slot.holds;
    let lists: Vec<_> = lists.iter().map(|list| format!("{} {}", list.count, list.name)).collect();
    match (record.or(*content), opaque) {
        (Some(what), _) => what.to_owned(),
        (None, Some(_)) => "bytes".to_owned(),
        (None, None) => lists.join(", "),
    }
}

/// Errors and peculiarities of a slot.
fn marks(slot: &SlotJson<'_>) -> String {
    let mut marks = Vec::new();
    marks.extend(slot.is_damaged.then(|| slot.bounds.clone()));
    marks.extend(slot.over_header.then(|| "covers the header".to_owned()));
    marks.extend((!slot.shared_with.is_empty()).then(|| format!("shares bytes with {}", some(&slot.shared_with))));
    marks.extend(slot.compression_oddity.map(str::to_owned));
    marks.extend(slot.holds.opaque.clone());
    marks.extend(slot.pinned.map(|why| format!("never moves: {why}")));
    marks.join("; ")
}

/// The first few names, and the number of the others.
fn some(names: &[&str]) -> String {
    match names {
        [one, two, three, _, rest @ ..] if !rest.is_empty() => {
            format!("{one}, {two}, {three} and {} more", rest.len() + 1)
        }
        names => names.join(", "),
    }
}

fn print(slots: &[SlotJson<'_>], job: &mut Job<'_>) {
    let filled = COLUMNS.iter().map(|column| Filled::new(column, slots));
    let columns: Vec<Filled> = filled.filter(|column| column.cells.iter().any(|cell| !cell.is_empty())).collect();
    let row = |cell: &dyn Fn(&Filled) -> String| -> String {
        let line: String = columns.iter().map(|column| column.aligned(&cell(column))).collect();
        line.trim_end().to_owned()
    };
    job.line(job.talk.title(&row(&|column| column.name.to_owned())));
    for (index, slot) in slots.iter().enumerate() {
        let line = row(&|column| column.cells[index].clone());
        job.line(if slot.is_damaged { job.talk.verdict(false, &line) } else { line });
    }
}

/// A column with the cells of every slot.
struct Filled {
    name: &'static str,
    is_number: bool,
    cells: Vec<String>,
    width: usize,
}

impl Filled {
    fn new(column: &Column, slots: &[SlotJson<'_>]) -> Self {
        let cells: Vec<String> = slots.iter().map(column.cell).collect();
        let widths = cells.iter().map(|cell| cell.chars().count());
        let width = widths.chain([column.name.len()]).max().unwrap_or(0);
        Filled { name: column.name, is_number: column.is_number, cells, width }
    }

    fn aligned(&self, text: &str) -> String {
        let width = self.width;
        if self.is_number { format!("{text:>width$}  ") } else { format!("{text:<width$}  ") }
    }
}

// `ls`: all parts of the file in order.

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
pub(crate) struct LsArgs {
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

pub(crate) fn run_ls(cx: &Context, args: &LsArgs) -> Result<Code> {
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

// `cat`: the bytes of one slot.

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
pub(crate) struct CatArgs {
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

pub(crate) fn run_cat(cx: &Context, args: &CatArgs) -> Result<Code> {
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
                value: ValueJson(&bytes),
            })?;
        } else if let Some(path) = output::file(args.output.as_ref()) {
            output::replace(path, [file], |mut file| file.write_all(&bytes))?;
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
