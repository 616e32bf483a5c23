//! `Map.decompile` and `Map.prove`: the source of a map; `read_source` and `write_source`: texts of sources.

use bspkit_decompile::source::{Entity, Format, Source, read, write};
use bspkit_decompile::{Effort, Options, Outcome, Shares, decompile, prove};
use bspkit_ops::check::unreadable;
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
        let mut report = serde_json::to_value(Outcome::new(found.report, proof));
        let findings = unreadable(&map);
        if let (Ok(report), false) = (&mut report, findings.is_empty()) {
            report["findings"] = serde_json::json!(findings);
        }
        Ok((text, found.format.name(), report))
    })?;
    let report = report.map_err(|error| bspkit::Error::new(bspkit::ErrorKind::Argument, error.to_string()))?;
    let report = py.import("json")?.call_method1("loads", (report.to_string(),))?;
    let class = py.import("bspkit._types")?.getattr("Decompiled")?;
    Ok(class.call1((PyBytes::new(py, &text), format, report))?)
}

/// How far a source is that of a map.
pub(crate) fn proven<'py>(py: Python<'py>, shared: &Shared, text: &[u8], format: &str) -> Res<Bound<'py, PyAny>> {
    let draft = shared.snapshot()?;
    let proof = detached(py, || {
        let format = format.parse::<Format>()?;
        Ok(Shares::from(prove(&current(&draft)?, text, format, &Effort::default())?))
    })?;
    Ok(pythonize::pythonize(py, &proof).map_err(PyErr::from)?)
}

/// The entities of a source: dictionaries, with texts as bytes.
#[pyfunction]
pub(crate) fn read_source<'py>(py: Python<'py>, text: &[u8], format: &str) -> Res<Bound<'py, PyAny>> {
    let source = detached(py, || read(text, format.parse()?))?;
    Ok(pythonize::pythonize(py, &source.entities).map_err(PyErr::from)?)
}

/// The text of a source.
#[pyfunction]
pub(crate) fn write_source<'py>(
    py: Python<'py>,
    entities: &Bound<'py, PyAny>,
    format: &str,
) -> Res<Bound<'py, PyBytes>> {
    let entities: Vec<Entity> = pythonize::depythonize(entities).map_err(|error| {
        bspkit::Error::new(bspkit::ErrorKind::Argument, format!("no entities of a source: {error}"))
    })?;
    let text = detached(py, || Ok(write(&Source { entities }, format.parse()?)))?;
    Ok(PyBytes::new(py, &text))
}
