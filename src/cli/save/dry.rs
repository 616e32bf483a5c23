//! `--dry-run`: the plan, printed.

use std::path::Path;

use anyhow::Result;
use bspkit::{ChangeKind, Plan};
use serde::Serialize;

use crate::cli::show::{PathJson, json, shown};
use crate::cli::talk::Job;

/// A plan that is looked at only.
pub(super) struct DryRun<'a> {
    pub(super) path: &'a Path,
    pub(super) target: Option<&'a Path>,
    pub(super) plan: &'a Plan<'a>,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    path: PathJson<'a>,
    output: Option<String>,
    changed: bool,
    report: String,
    size: [usize; 2],
    changes: Vec<ChangeJson>,
    edits: Vec<EditJson<'a>>,
    moved: Vec<MovedJson<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct ChangeJson {
    offset: usize,
    bytes: usize,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<usize>,
}

#[derive(Serialize)]
struct EditJson<'a> {
    name: &'a str,
    bytes: [usize; 2],
}

#[derive(Serialize)]
struct MovedJson<'a> {
    name: &'a str,
    offset: [i32; 2],
}

impl DryRun<'_> {
    pub(super) fn print(&self, as_json: bool, many: bool, job: &mut Job<'_>) -> Result<()> {
        if as_json {
            job.line(json(&self.document(), many)?);
            return Ok(());
        }
        job.line(format!("{}: {}", shown(self.target.unwrap_or(self.path)), self.plan.report()));
        for change in self.plan.changes() {
            let (offset, bytes) = (change.range.start, change.range.len());
            job.line(format!("{offset:>12} {bytes:>12}  {}", change.kind));
        }
        Ok(())
    }

    fn document(&self) -> Document<'_> {
        let report = self.plan.report();
        let changes = self.plan.changes().into_iter().map(|change| {
            let (what, from) = match change.kind {
                ChangeKind::Moved { from } => ("moved", Some(from)),
                ChangeKind::Zeroed => ("zeroed", None),
                _ => ("written", None),
            };
            ChangeJson { offset: change.range.start, bytes: change.range.len(), what, from }
        });
        Document {
            path: PathJson::new(self.path),
            output: self.target.map(shown),
            changed: !self.plan.is_identity(),
            report: report.to_string(),
            size: [report.size.0, report.size.1],
            changes: changes.collect(),
            edits: report.edits.iter().map(|e| EditJson { name: &e.name, bytes: [e.sizes.0, e.sizes.1] }).collect(),
            moved: report.moved.iter().map(|m| MovedJson { name: &m.name, offset: [m.from, m.to] }).collect(),
            warnings: &report.warnings,
        }
    }
}
