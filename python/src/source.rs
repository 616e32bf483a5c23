//! `Map.decompile`: the source of a map.

use bspkit_decompile::source::Format;
use bspkit_decompile::{Effort, Options, Outcome, decompile, prove};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Res, detached};
use crate::shared::{Shared, current};

/// The text of the source, its format, and the report with the proof, as the program's `decompile --json` has them.
pub(crate) fn of<'py>(
    py: Python<'py>,
    shared: &Shared,
    format: Option<&str>,
    is_proved: bool,
) -> Res<Bound<'py, PyAny>> {
    let draft = shared.snapshot()?;
    let (text, format, report) = detached(py, || {
        let format = format.map(str::parse::<Format>).transpose()?;
        let map = current(&draft)?;
        let found = decompile(&map, &Options { format, ..Options::default() })?;
        let text = found.text();
        let proof = match is_proved {
            true => Some(prove(&map, &text, found.format, &Effort::default())?),
            false => None,
        };
        let report = serde_json::to_string(&Outcome::new(found.report, proof));
        Ok((text, found.format.name(), report))
    })?;
    let report = report.map_err(|error| bspkit::Error::new(bspkit::ErrorKind::Argument, error.to_string()))?;
    let report = py.import("json")?.call_method1("loads", (report,))?;
    let class = py.import("bspkit._types")?.getattr("Decompiled")?;
    Ok(class.call1((PyBytes::new(py, &text), format, report))?)
}
