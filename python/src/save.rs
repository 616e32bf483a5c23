//! Saves: a file, or the bytes of one.

use std::path::PathBuf;

use bspkit::op::{check, compare};
use bspkit::{Error, ErrorKind, Layout, SaveOptions};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Res, detached, guarded};
use crate::report::SaveReport;
use crate::shared::Shared;

/// The arguments of a save.
pub(crate) struct Saving<'a> {
    pub(crate) path: Option<PathBuf>,
    pub(crate) layout: &'a str,
    pub(crate) backup: Option<String>,
    pub(crate) dry_run: bool,
    pub(crate) force: bool,
}

/// Saves a map, while other threads of Python run.
pub(crate) fn save(py: Python<'_>, shared: &Shared, saving: Saving<'_>) -> Res<SaveReport> {
    let Saving { path, layout, backup, dry_run, force } = saving;
    let layout = layout_named(layout)?;
    if path.is_none() && !dry_run {
        let message = "the map was opened from bytes: give save a path, or use to_bytes";
        return Err(Error::new(ErrorKind::Argument, message).into());
    }
    let draft = shared.snapshot()?;
    let mut options = SaveOptions::default().force(force);
    if let Some(suffix) = backup {
        options = options.backup(suffix);
    }
    detached(py, || {
        let (plan, touched) = (draft.plan(layout)?, compare::draft(&draft, 0)?.touched());
        let findings = check::introduced(&draft, &check::Options::default())?;
        if !force {
            refuse(&findings)?;
        }
        let saved = match &path {
            Some(path) if !dry_run => Some(plan.save_with(path, &options)?),
            _ => None,
        };
        Ok(SaveReport::new(&plan, touched.to_string(), &findings, saved))
    })
}

/// The bytes that a save would write.
pub(crate) fn to_bytes<'py>(py: Python<'py>, shared: &Shared, layout: &str) -> Res<Bound<'py, PyBytes>> {
    let (draft, layout) = (shared.snapshot()?, layout_named(layout)?);
    let plan = detached(py, || draft.plan(layout))?;
    // The file is written into Python's object: it is in memory once.
    let write = |mut bytes: &mut [u8]| Ok(py.detach(|| plan.write_to(&mut bytes))?);
    guarded(|| Ok(PyBytes::new_with(py, plan.size(), write)?))
}

fn layout_named(name: &str) -> Res<Layout> {
    match name {
        "keep" => Ok(Layout::Keep),
        "append" => Ok(Layout::Append),
        "repack" => Ok(Layout::Repack),
        _ => {
            let message = format!("`{name}` is not a layout: they are keep, append and repack");
            Err(Error::new(ErrorKind::Argument, message).into())
        }
    }
}

/// Refuses a save whose edits add errors to the map.
fn refuse(findings: &[check::Finding]) -> bspkit::Result<()> {
    let mut errors = findings.iter().filter(|finding| finding.code.severity == check::Severity::Error);
    match errors.next() {
        Some(first) => {
            let message = format!("the edit would add errors to the map, such as {first}");
            Err(Error::new(ErrorKind::Refused, message).with_hint(bspkit::Hint::Force))
        }
        None => Ok(()),
    }
}
