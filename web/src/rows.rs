//! What the page shows, as JSON. Text of a map has escapes for bytes that are not UTF-8.

#![forbid(unsafe_code)]

use bspkit::bytes::escaped;
use bspkit::content::entities::Entity;
use bspkit::content::pak::Pak;
use bspkit::dialect::Span;
use bspkit::finding::Finding;
use bspkit::{Bsp, Plan};
use bspkit_ops::check::Stale;
use serde::Serialize;

/// As many ranges are listed.
const MOST_RANGES: usize = 200;

#[derive(Serialize)]
pub(crate) struct Info<'b> {
    name: &'b str,
    dialect: &'static str,
    title: &'static str,
    version: String,
    revision: Option<i32>,
    bytes: usize,
    lumps: Vec<LumpRow<'b>>,
}

#[derive(Serialize)]
struct LumpRow<'b> {
    name: &'b str,
    role: Option<&'static str>,
    offset: i32,
    bytes: i32,
    unpacked: Option<usize>,
    version: Option<i32>,
    record: Option<&'static str>,
    count: Option<usize>,
    /// What is wrong with its place.
    bounds: Option<String>,
}

impl<'b> Info<'b> {
    pub(crate) fn new(name: &'b str, map: &'b Bsp<'_>) -> Self {
        let lumps = map.slots().iter().map(|slot| {
            let spans = map.spans(slot).unwrap_or_default();
            LumpRow {
                name: &slot.name,
                role: map.role_of(slot.id).map(|role| role.name()),
                offset: slot.offset,
                bytes: slot.length,
                unpacked: map.decompressed_size(slot.id),
                version: slot.version,
                record: spans.first().map(|span| span.record.name),
                count: (!spans.is_empty()).then(|| spans.iter().map(Span::count).sum()),
                bounds: slot.bounds.is_damaged().then(|| slot.bounds.to_string()),
            }
        });
        let dialect = map.dialect();
        Info {
            name,
            dialect: dialect.name,
            title: dialect.title,
            version: dialect.version_name(map.version()).to_string(),
            revision: map.revision(),
            bytes: map.container().bytes().len(),
            lumps: lumps.collect(),
        }
    }
}

/// Entities that were found.
#[derive(Serialize)]
pub(crate) struct Lists {
    /// All entities of the map.
    pub(crate) total: usize,
    /// Those that match.
    pub(crate) matched: usize,
    /// Those that are listed.
    pub(crate) entities: Vec<Listed>,
    /// How many edits can be taken back.
    pub(crate) undo: usize,
}

#[derive(Serialize)]
pub(crate) struct Listed {
    index: usize,
    class: Option<String>,
    origin: Option<[f64; 3]>,
    pairs: Vec<[String; 2]>,
}

impl Listed {
    pub(crate) fn new(entity: &Entity<'_>) -> Self {
        let text = |bytes: &[u8]| escaped(bytes).to_string();
        Listed {
            index: entity.index(),
            class: entity.class().map(text),
            origin: entity.vector("origin"),
            pairs: entity.pairs().map(|pair| [text(pair.key), text(pair.value)]).collect(),
        }
    }
}

/// An embedded file.
#[derive(Serialize)]
pub(crate) struct FileRow {
    name: String,
    bytes: usize,
    stored: usize,
    method: String,
}

pub(crate) fn file_rows(files: &Pak<'_>) -> Vec<FileRow> {
    let row = |entry: bspkit::content::pak::Entry<'_, '_>| FileRow {
        name: escaped(entry.name()).to_string(),
        bytes: entry.size(),
        stored: entry.stored_size(),
        method: entry.method().to_string(),
    };
    files.iter().map(row).collect()
}

#[derive(Serialize)]
pub(crate) struct PictureRow {
    pub(crate) name: String,
    pub(crate) size: Option<[u32; 2]>,
}

#[derive(Default, Serialize)]
pub(crate) struct Pictures {
    pub(crate) textures: Vec<PictureRow>,
    pub(crate) light: Vec<PictureRow>,
    /// What cannot be read.
    pub(crate) notes: Vec<String>,
}

/// What a save changes.
#[derive(Serialize)]
pub(crate) struct Report {
    changed: bool,
    text: String,
    bytes: [usize; 2],
    /// Offset, length and kind of ranges of the new file.
    ranges: Vec<(usize, usize, String)>,
    /// How many more ranges there are.
    more: usize,
    /// Whether clients need the new map.
    clients: bool,
    /// Why the map is saved only on demand.
    force: Option<String>,
    warnings: Vec<String>,
    findings: Vec<String>,
}

impl Report {
    pub(crate) fn new(
        plan: &Plan<'_>,
        touched: String,
        clients: bool,
        force: Option<String>,
        findings: &[Finding],
        stale: &[Stale],
    ) -> Self {
        let report = plan.report();
        let changes = plan.changes();
        let range = |change: &bspkit::Change| (change.range.start, change.range.len(), change.kind.to_string());
        Report {
            changed: !plan.is_identity(),
            text: if touched.is_empty() { report.to_string() } else { format!("{touched}; {report}") },
            bytes: [report.size.0, report.size.1],
            ranges: changes.iter().take(MOST_RANGES).map(range).collect(),
            more: changes.len().saturating_sub(MOST_RANGES),
            clients,
            force,
            warnings: report.warnings.iter().cloned().chain(stale.iter().map(ToString::to_string)).collect(),
            findings: findings.iter().map(ToString::to_string).collect(),
        }
    }
}
