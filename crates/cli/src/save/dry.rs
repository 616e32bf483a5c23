//! What a save would do: its plan for `--dry-run` and `--json`, and the checksums before and after it.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::output::PathJson;
use anyhow::Result;
use bspkit::bytes::differences;
use bspkit::dialect::{Checksum, Sum, Use};
use bspkit::finding::Finding;
use bspkit::{Bsp, ChangeKind, Draft, Moved, Plan, SlotEdit};
use bspkit_ops::check::Stale;
use bspkit_ops::checksum::{self, Value};
use bspkit_ops::compare::{self, Comparison, Touched};
use bspkit_text::changes::ComparisonJson;
use serde::Serialize;

use super::Findings;
use crate::context::Context;
use crate::talk::{Job, count, shown};

// `--dry-run` prints the plan of a save; `--json` prints it for every save.

/// A plan to print.
pub(super) struct DryRun<'a> {
    pub(super) path: &'a Path,
    pub(super) target: Option<&'a Path>,
    pub(super) plan: &'a Plan<'a>,
    /// What the edit touches.
    pub(super) touched: &'a Comparison,
    pub(super) sums: Option<Sums>,
    /// The ranges that change, where they are printed. After the map was patched its bytes are the new ones.
    pub(super) changes: Vec<bspkit::file::Change>,
    /// How many bytes were written into the file.
    pub(super) written: Option<u64>,
    pub(super) warnings: Vec<String>,
    /// What the edit makes wrong.
    pub(super) findings: &'a Findings,
    /// The path of the old file, if it was kept.
    pub(super) backup: Option<&'a Path>,
}

impl super::Save {
    /// Whether anything says where to save, or that nothing is saved.
    pub(crate) fn has_output(&self) -> bool {
        self.output.is_some() || self.in_place() || self.dry_run
    }
}

#[derive(Serialize)]
pub(super) struct Document<'a> {
    #[serde(flatten)]
    output: PathJson,
    changed: bool,
    report: String,
    bytes: [usize; 2],
    #[serde(flatten)]
    touched: ComparisonJson,
    ranges: Vec<Stretch>,
    edits: &'a [SlotEdit],
    moved: &'a [Moved],
    checksums: &'a [Change],
    warnings: Vec<String>,
    findings: Vec<Finding>,
    references: Vec<Stale>,
    #[serde(flatten)]
    backup: Option<PathJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<u64>,
}

/// A range of the new file, and how it differs.
#[derive(Serialize)]
struct Stretch {
    offset: usize,
    bytes: usize,
    #[serde(flatten)]
    kind: ChangeKind,
}

impl Stretch {
    fn new(range: &Range<usize>, kind: ChangeKind) -> Self {
        Stretch { offset: range.start, bytes: range.len(), kind }
    }
}

/// The report about the sizes of a file that is not a map.
pub(super) fn sizes([old, new]: [&[u8]; 2]) -> String {
    match old == new {
        true => format!("nothing changes, {} bytes", new.len()),
        false => format!("{} bytes -> {} bytes", old.len(), new.len()),
    }
}

/// What an edit touches: counted for the report of a save, and named in a dry run and in JSON.
pub(super) fn touched(draft: &Draft<'_>, is_dry: bool, job: &Job<'_>) -> Result<Comparison> {
    let most = match (job.json, is_dry, job.talk.verbose) {
        // Of several maps only the numbers are printed.
        (false, true, false) if job.many => 0,
        (_, true, _) if job.lists_all => usize::MAX,
        (true, _, _) | (false, true, true) => 1000,
        (false, true, false) => 10,
        (false, false, _) if job.talk.quiet => return Ok(Comparison::default()),
        (false, false, _) => 0,
    };
    Ok(compare::draft(draft, most)?)
}

/// Prints what would change in a file that is not a map, in the same form as a plan.
pub(super) fn print_bytes(
    path: &Path,
    target: Option<&Path>,
    [old, new]: [&[u8]; 2],
    as_json: bool,
    backup: Option<&Path>,
    job: &mut Job<'_>,
) -> Result<()> {
    let mut ranges: Vec<_> = differences(old, new).collect();
    ranges.extend((old.len() < new.len()).then_some(old.len()..new.len()));
    let report = sizes([old, new]);
    if !as_json {
        job.line(format!("{}: {report}", shown(target.unwrap_or(path))));
        ranges.iter().for_each(|range| job.line(format!("{:>12} {:>12}  written", range.start, range.len())));
        return Ok(());
    }
    let written = |range: &Range<usize>| Stretch::new(range, ChangeKind::Written);
    let document = Document {
        output: PathJson::new("output", target),
        changed: old != new,
        bytes: [old.len(), new.len()],
        touched: ComparisonJson::of_bytes(ranges.iter().map(Range::len).sum()),
        ranges: ranges.iter().map(written).collect(),
        backup: backup.map(|path| PathJson::new("backup", Some(path))),
        ..nothing(old.len(), &report)
    };
    print_document(document, job)
}

/// Prints a document, with what the command found and said before.
fn print_document(mut document: Document<'_>, job: &mut Job<'_>) -> Result<()> {
    document.findings.append(&mut job.findings);
    let mut said = std::mem::take(&mut job.warnings);
    said.retain(|text| !document.warnings.contains(text));
    document.warnings.splice(..0, said);
    job.document(&document)
}

/// A document that states that nothing changes, and why.
pub(super) fn nothing(size: usize, report: &str) -> Document<'static> {
    Document {
        output: PathJson::new("output", None),
        changed: false,
        report: report.to_owned(),
        bytes: [size, size],
        touched: ComparisonJson::default(),
        ranges: Vec::new(),
        edits: &[],
        moved: &[],
        checksums: &[],
        warnings: Vec::new(),
        findings: Vec::new(),
        references: Vec::new(),
        backup: None,
        written: None,
    }
}

/// Reports a map that is not saved since nothing changes in it.
pub(super) fn unsaved(plan: &Plan<'_>, summary: Option<&Arc<Mutex<Summary>>>, job: &mut Job<'_>) -> Result<()> {
    if job.json {
        let report = plan.report();
        print_document(nothing(report.size.0, &report.to_string()), job)?;
    }
    summary.iter().for_each(|summary| Summary::keep(summary, job));
    Ok(())
}

impl DryRun<'_> {
    pub(super) fn print(&self, job: &mut Job<'_>) -> Result<()> {
        if job.json {
            return print_document(self.document(), job);
        }
        job.line(format!("{}: {}", shown(self.target.unwrap_or(self.path)), self.report()));
        for lump in &self.touched.lumps {
            lump.changes.iter().for_each(|change| job.line(format!("  {}", change.line(&lump.lump))));
            if lump.more > 0 {
                job.line(format!("  {}: and {} more", lump.lump, lump.more));
            }
        }
        for change in &self.changes {
            let (offset, bytes) = (change.range.start, change.range.len());
            job.line(format!("{offset:>12} {bytes:>12}  {}", change.kind));
        }
        let place = self.target.unwrap_or(self.path);
        self.sums.iter().for_each(|sums| sums.say(place, job));
        Ok(())
    }

    /// Counts this map in the summary of several. With `--verbose` its details are printed, otherwise one line.
    pub(super) fn add_to(&self, summary: &Arc<Mutex<Summary>>, with_sums: bool, job: &mut Job<'_>) -> Result<()> {
        let place = self.target.unwrap_or(self.path);
        let mut own = Summary {
            changed: usize::from(!self.plan.is_identity()),
            touched: self.touched.touched(),
            sums: usize::from(self.sums.as_ref().is_some_and(Sums::any_changes)),
            ..Summary::default()
        };
        match job.talk.verbose {
            true => self.print(job)?,
            false => {
                own.lines = format!("{}: {}\n", shown(place), self.report()).into_bytes();
                // What the command itself says of the map follows its line.
                own.lines.append(&mut job.out);
                self.sums.iter().filter(|_| with_sums).for_each(|sums| sums.say(place, job));
            }
        }
        let summary = Arc::clone(summary);
        job.in_turn(move || Summary::of(&summary).add(own));
        Ok(())
    }

    /// The report in one line: what the edit touches, and how lumps are placed.
    pub(super) fn report(&self) -> String {
        let touched = self.touched.touched();
        let separator = if touched.is_empty() { "" } else { "; " };
        format!("{touched}{separator}{}", self.plan.report())
    }

    fn document(&self) -> Document<'_> {
        let report = self.plan.report();
        Document {
            output: PathJson::new("output", self.target),
            changed: !self.changes.is_empty() || report.size.0 != report.size.1,
            report: self.report(),
            bytes: [report.size.0, report.size.1],
            touched: ComparisonJson::new(self.touched),
            ranges: self.changes.iter().map(|change| Stretch::new(&change.range, change.kind)).collect(),
            edits: &report.edits,
            moved: &report.moved,
            checksums: self.sums.as_ref().map_or(&[], |sums| &sums.0),
            warnings: self.warnings.clone(),
            findings: self.findings.list.clone(),
            references: self.findings.stale.clone(),
            backup: self.backup.map(|path| PathJson::new("backup", Some(path))),
            written: self.written,
        }
    }
}

// A dry run of several maps begins with what changes in all of them. So the line of each map is kept until then;
// details can be long, and are printed at once.

/// What a dry run of several maps would change.
#[derive(Default)]
pub(super) struct Summary {
    pub(super) maps: usize,
    changed: usize,
    touched: Touched,
    /// Maps of which clients compare a checksum that changes.
    sums: usize,
    lines: Vec<u8>,
}

impl Summary {
    pub(super) fn of(shared: &Mutex<Summary>) -> MutexGuard<'_, Summary> {
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what the command said of a map in which nothing matched until the summary is printed.
    pub(super) fn keep(summary: &Arc<Mutex<Summary>>, job: &mut Job<'_>) {
        if job.talk.verbose || job.out.is_empty() {
            return;
        }
        let (summary, lines) = (Arc::clone(summary), std::mem::take(&mut job.out));
        job.in_turn(move || Summary::of(&summary).add(Summary { lines, ..Summary::default() }));
    }

    fn add(&mut self, other: Summary) {
        self.changed += other.changed;
        self.touched += other.touched;
        self.sums += other.sums;
        self.lines.extend(other.lines);
    }

    pub(super) fn print(&self, cx: &Context) -> Result<()> {
        let (changed, verb) = (self.changed, if self.changed == 1 { "changes" } else { "change" });
        let mut text = format!("{changed} of {} {verb}", count(self.maps, "map", "maps"));
        if !self.touched.is_empty() {
            text += &format!("; {}", self.touched);
        }
        let head = format!("{text}; checksum changes: {}\n", self.sums);
        cx.talk.stdout(&[head.as_bytes(), &self.lines].concat()).map(drop)
    }
}

// The checksums by which engines compare maps, before and after an edit.
//
// A map of 200 MB is saved in 0.2 seconds, but its checksums before and after take 0.8 seconds. So they are computed
// only with `--checksum` or `-v`; a dry run says whether the bytes change that they cover.

/// The checksums of a map before and after an edit.
pub(super) struct Sums(Vec<Change>);

#[derive(Serialize)]
struct Change {
    name: &'static str,
    title: &'static str,
    /// Its value, if it was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Value>,
    #[serde(rename = "same")]
    is_same: bool,
    #[serde(rename = "verified")]
    is_verified: bool,
    #[serde(skip)]
    use_of: Use,
}

impl Sums {
    /// Whether the checksums change, and their values if they are wanted or cost nothing.
    pub(super) fn new(bsp: &Bsp<'_>, plan: &Plan<'_>, are_wanted: bool) -> Self {
        let change = |checksum: &'static Checksum| {
            let is_same = checksum::is_same(bsp, plan, checksum);
            let values = (are_wanted || matches!(checksum.sum, Sum::Stored | Sum::Crc16)).then(|| {
                let before = checksum::of(bsp, checksum);
                [before, if is_same { before } else { checksum::of_plan(bsp, plan, checksum) }]
            });
            let is_same = values.map_or(is_same, |[before, after]| before == after);
            let (before, after) = values.map(Into::into).unzip();
            let Checksum { name, title, is_verified, use_of, .. } = *checksum;
            Change { name, title, before, after, is_same, is_verified, use_of }
        };
        Sums(bsp.dialect().checksums.iter().map(change).collect())
    }

    /// Whether a checksum changes that clients or servers compare.
    fn any_changes(&self) -> bool {
        self.0.iter().any(|change| !change.is_same && change.use_of == Use::Clients)
    }

    /// A line for each.
    pub(super) fn say(&self, place: &Path, job: &mut Job<'_>) {
        for Change { title, before, after, is_same, is_verified, use_of, .. } in &self.0 {
            let what = match use_of {
                Use::FileName => "key of",
                _ => "checksum for",
            };
            let change = match (is_same, before.zip(*after)) {
                (true, Some((value, _))) => format!("stays {value}"),
                (true, None) => "stays".to_owned(),
                (false, Some((before, after))) => format!("{before} -> {after}"),
                (false, None) => "changes".to_owned(),
            };
            let then = match (use_of, is_same) {
                (Use::FileName, true) => "engines still find the files for the old map",
                (Use::FileName, false) => "engines no longer find the files for the old map",
                (Use::Servers, false) => "clients send the second sum",
                (_, true) => "clients with the old map can still join",
                (_, false) => "clients need the new map",
            };
            let doubt = if *is_verified { "" } else { " (unverified)" };
            job.say(&format!("{}: {what} {title} {change}; {then}{doubt}", shown(place)));
        }
    }
}
