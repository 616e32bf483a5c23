//! Saves: a file, or the bytes of one.

use bspkit::{Draft, Error, ErrorKind, Layout, Plan, SaveOptions};
use bspkit_game::beside;
use bspkit_ops::{check, compare};
use bspkit_packed::Form;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Res, detached, guarded};
use crate::report::SaveReport;
use crate::shared::{Home, Shared};

/// The arguments of a save.
pub(crate) struct Saving<'a> {
    pub(crate) home: Option<Home>,
    pub(crate) layout: &'a str,
    pub(crate) backup: Option<String>,
    pub(crate) dry_run: bool,
    pub(crate) force: bool,
}

/// Saves a map, while other threads of Python run. Those that use this map wait.
pub(crate) fn save(py: Python<'_>, shared: &Shared, saving: Saving<'_>) -> Res<SaveReport> {
    let Saving { home, layout, backup, dry_run, force } = saving;
    let layout = layout_named(layout)?;
    let target = home.as_ref().map(|home| home.absolute.clone());
    let home = match home {
        _ if dry_run => None,
        Some(home) => Some(home),
        None => {
            let message = "the map was opened from bytes: give save a path, or use to_bytes";
            return Err(Error::new(ErrorKind::Argument, message).into());
        }
    };
    if target.as_deref().and_then(Form::of).is_some() {
        let message = "a map is saved as it is, and a file of this name is a compressed one";
        let hint = "give a name that ends with .bsp, and compress the file, or use the program";
        return Err(Error::new(ErrorKind::Argument, message).with_hint(hint).into());
    }
    let mut options = SaveOptions::default().force(force).over_changes(force);
    if let Some(suffix) = backup {
        options = options.backup(suffix);
    }
    let report = |draft: &Draft<'static>, plan: &Plan<'static>| -> bspkit::Result<SaveReport> {
        let findings = check::admit(draft, plan, force)?;
        let mut report = SaveReport::new(plan, compare::draft(draft, 0)?.touched().to_string(), &findings);
        report.stale(target.iter().flat_map(|target| beside::stale(draft, plan, target, target)));
        Ok(report)
    };
    let Some(home) = home else {
        let draft = shared.snapshot()?;
        return detached(py, || {
            let plan = draft.plan(layout)?;
            target.iter().try_for_each(|target| plan.check_target(target, &options))?;
            let mut report = report(&draft, &plan)?;
            plan.whole()
                .into_iter()
                .for_each(|why| report.warn(format!("the file would be written as a whole: {why}")));
            Ok(report)
        });
    };
    let place = home.absolute.clone();
    // Of a map that is saved in its place the record is written first: if the program ends in between, nothing is
    // applied twice.
    let is_in_place = shared.home().is_some_and(|home| home.absolute == place);
    let record = shared.with(|state| Ok(state.baked().clone()))?.filter(|_| is_in_place);
    let report = |draft: &Draft<'static>, plan: &Plan<'static>| {
        let report = report(draft, plan)?;
        if record.is_some() {
            plan.check_force(force)?;
            plan.check_target(&place, &options)?;
        }
        record.iter().try_for_each(|record| bspkit_rules::save(&place, record, true))?;
        Ok(report)
    };
    let mut report = shared.long(py, |draft| {
        let (saved, mut report) = draft.save_with(&home.absolute, layout, &options, report)?;
        report.saved(saved);
        shared.move_to(home);
        Ok(report)
    })?;
    let record = shared.with(|state| {
        state.is_restructured = false;
        Ok(state.baked().take())
    })?;
    if let Some(record) = record
        && !is_in_place
        && let Err(error) = bspkit_rules::save(&place, &record, false)
    {
        report.warn(format!("{}: the rules are applied and not recorded: {error}", place.display()));
    }
    Ok(report)
}

/// The bytes that a save would write.
pub(crate) fn to_bytes<'py>(py: Python<'py>, shared: &Shared, layout: &str, force: bool) -> Res<Bound<'py, PyBytes>> {
    let (draft, layout) = (shared.snapshot()?, layout_named(layout)?);
    let plan = detached(py, || {
        let plan = draft.plan(layout)?;
        check::admit(&draft, &plan, force)?;
        Ok(plan)
    })?;
    // The file is written into Python's object: it is in memory once.
    let write = |mut bytes: &mut [u8]| Ok(py.detach(|| plan.write_to(&mut bytes))?);
    let bytes = guarded(|| Ok(PyBytes::new_with(py, plan.size(), write)?))?;
    draft.bsp().check_mapped()?;
    Ok(bytes)
}

fn layout_named(name: &str) -> Res<Layout> {
    match name {
        "keep" => Ok(Layout::Keep),
        "append" => Ok(Layout::Append),
        "repack" => Ok(Layout::Repack),
        "patch" => Ok(Layout::Patch),
        _ => {
            let message = format!("`{name}` is not a layout: they are keep, append, repack and patch");
            Err(Error::new(ErrorKind::Argument, message).into())
        }
    }
}
