//! What methods return: lumps, findings, and the report of a save.

use std::path::PathBuf;

use bspkit::file::Saved;
use bspkit::{Bsp, Plan, Slot};
use bspkit_game::beside::StaleFile;
use pyo3::prelude::*;

/// A lump, or something else of a map that has bytes and a name.
#[pyclass(frozen, get_all, module = "bspkit")]
pub(crate) struct Lump {
    name: String,
    /// What it is for, across dialects.
    role: Option<String>,
    /// The offset in the directory.
    offset: i32,
    /// The number of bytes in the file.
    size: usize,
    /// The number of bytes when it is decompressed.
    decompressed_size: Option<usize>,
    version: Option<i32>,
    /// The type of its records.
    record: Option<&'static str>,
    /// The number of its records.
    count: Option<usize>,
}

impl Lump {
    pub(crate) fn new(bsp: &Bsp<'_>, slot: &Slot) -> Self {
        let parts = bsp.spans(slot).unwrap_or_default();
        Lump {
            name: slot.name.clone(),
            role: bsp.role_of(slot.id).map(|role| role.to_string()),
            offset: slot.offset,
            size: slot.stored.len(),
            decompressed_size: bsp.decompressed_size(slot.id),
            version: slot.version,
            record: parts.first().map(|part| part.record.name),
            count: (!parts.is_empty()).then(|| parts.iter().map(bspkit::dialect::Span::count).sum()),
        }
    }
}

#[pymethods]
impl Lump {
    fn __repr__(&self) -> String {
        let records = match (self.record, self.count) {
            (Some(record), Some(count)) => format!(", {count} of {record}"),
            _ => String::new(),
        };
        format!("<bspkit.Lump {}, {} bytes{records}>", self.name, self.size)
    }
}

/// One finding of a check.
#[pyclass(frozen, get_all, module = "bspkit")]
pub(crate) struct Finding {
    /// The kind of finding, such as `index-range`.
    code: &'static str,
    /// `error`, `warning` or `note`.
    severity: String,
    message: String,
    lump: Option<String>,
    /// The index of the record or entity.
    record: Option<usize>,
    /// The offset in the lump.
    offset: Option<u64>,
    field: Option<String>,
    /// How many findings this one stands for.
    count: usize,
    text: String,
}

impl Finding {
    pub(crate) fn new(finding: &bspkit::finding::Finding) -> Self {
        Finding {
            code: finding.code.name,
            severity: finding.code.severity.to_string(),
            message: finding.message.clone(),
            lump: finding.place.lump.clone(),
            record: finding.place.record,
            offset: finding.place.offset,
            field: finding.place.field.clone(),
            count: finding.count,
            text: finding.to_string(),
        }
    }
}

#[pymethods]
impl Finding {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<bspkit.Finding {}>", self.text)
    }
}

/// What a save did, or with `dry_run=True` what it would do.
#[pyclass(frozen, get_all, module = "bspkit")]
pub(crate) struct SaveReport {
    /// Whether the file has the same bytes as before.
    unchanged: bool,
    /// What was touched: `1 entity, 1 value`.
    touched: String,
    /// The names of the edited lumps, each with its bytes in the file before and after.
    edits: Vec<(String, usize, usize)>,
    /// The ranges of the new file that differ: start, end, and how (`written`, `zeroed`, `moved from N`).
    ranges: Vec<(usize, usize, String)>,
    /// The bytes of the file before and after.
    size: (usize, usize),
    /// How many bytes were written; 0 for a dry run.
    written: u64,
    /// The backup of the replaced file.
    backup: Option<PathBuf>,
    /// What the user should know.
    warnings: Vec<String>,
    /// What is wrong with the map by this edit.
    findings: Vec<Py<Finding>>,
    text: String,
}

impl SaveReport {
    pub(crate) fn new(plan: &Plan<'_>, touched: String, findings: &[bspkit::finding::Finding]) -> Self {
        let report = plan.report();
        let text = if touched.is_empty() { report.to_string() } else { format!("{touched}; {report}") };
        let findings = Python::attach(|py| {
            findings.iter().filter_map(|finding| Py::new(py, Finding::new(finding)).ok()).collect()
        });
        SaveReport {
            unchanged: plan.is_identity(),
            touched,
            written: 0,
            edits: report.edits.iter().map(|edit| (edit.name.clone(), edit.sizes.0, edit.sizes.1)).collect(),
            ranges: plan
                .changes()
                .into_iter()
                .map(|change| (change.range.start, change.range.end, change.kind.to_string()))
                .collect(),
            size: report.size,
            backup: None,
            warnings: report.warnings.clone(),
            findings,
            text,
        }
    }

    /// Adds files beside the map that it makes stale.
    pub(crate) fn stale(&mut self, files: impl Iterator<Item = StaleFile>) {
        self.warnings.extend(files.map(|file| file.to_string()));
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Adds what is known after the save.
    pub(crate) fn saved(&mut self, saved: Saved) {
        self.backup = saved.backup;
        self.written = saved.written;
        self.warnings.extend(saved.warnings);
        self.warnings.extend(saved.whole.map(|why| format!("the file was written as a whole: {why}")));
    }
}

#[pymethods]
impl SaveReport {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<bspkit.SaveReport {}>", self.text)
    }
}
