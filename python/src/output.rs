//! Outputs of Source entities.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bspkit::content::entities::{Output as Fields, OutputField};
use bspkit::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::errors::Res;
use crate::text::{Text, shown};

/// An output of a Source entity: `door,Open,,0.5,-1`. Newer games have ESC (0x1B) between the fields.
#[pyclass(frozen, module = "bspkit")]
pub(crate) struct Output(Mutex<Fields>);

impl Output {
    /// The output that a value means.
    pub(crate) fn of(value: &[u8]) -> Option<Self> {
        Fields::parse(value).map(|fields| Output(Mutex::new(fields)))
    }

    // Nothing of Python is made while the fields are locked: a finalizer could run then, and use the same output.
    fn fields(&self) -> MutexGuard<'_, Fields> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.fields().to_bytes()
    }

    fn shown<'py>(&self, py: Python<'py>, field: OutputField) -> PyResult<Bound<'py, PyString>> {
        let text = self.fields().field(field).to_vec();
        shown(py, &text)
    }

    fn set(&self, field: OutputField, value: &Text) -> Res<()> {
        let done = self.fields().set(field, value);
        Ok(done?)
    }
}

fn separator_of(text: &Text) -> Res<u8> {
    match text.0[..] {
        [separator] => Ok(separator),
        _ => Err(Error::new(ErrorKind::Argument, "the separator of an output is one character: `,` or `\\x1b`").into()),
    }
}

#[pymethods]
impl Output {
    #[new]
    #[pyo3(signature = (target, input, parameter = None, delay = None, times = None, separator = None))]
    fn new(
        target: Text,
        input: Text,
        parameter: Option<Text>,
        delay: Option<Text>,
        times: Option<Text>,
        separator: Option<Text>,
    ) -> Res<Self> {
        let bytes = |text: Option<Text>, default: &[u8]| text.map_or_else(|| default.to_vec(), |text| text.0);
        let separator = separator.as_ref().map_or(Ok(Fields::COMMA), separator_of)?;
        let (delay, times) = (bytes(delay, b"0"), bytes(times, b"-1"));
        let fields = [&target.0[..], &input.0, &bytes(parameter, b""), &delay, &times];
        Ok(Output(Mutex::new(Fields::with_separator(separator, fields)?)))
    }

    /// The output that a value means; `None` if it is not an output.
    #[classmethod]
    fn parse(_class: &Bound<'_, PyType>, value: Text) -> Option<Self> {
        Output::of(&value.0)
    }

    /// The name of the entity that gets the input.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.shown(py, OutputField::Target)
    }

    #[setter]
    fn set_target(&self, value: Text) -> Res<()> {
        self.set(OutputField::Target, &value)
    }

    /// The input.
    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.shown(py, OutputField::Input)
    }

    #[setter]
    fn set_input(&self, value: Text) -> Res<()> {
        self.set(OutputField::Input, &value)
    }

    /// The parameter of the input.
    #[getter]
    fn parameter<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.shown(py, OutputField::Parameter)
    }

    #[setter]
    fn set_parameter(&self, value: Text) -> Res<()> {
        self.set(OutputField::Parameter, &value)
    }

    /// The delay in seconds.
    #[getter]
    fn delay(&self) -> f64 {
        self.fields().delay()
    }

    #[setter]
    fn set_delay(&self, value: Text) -> Res<()> {
        self.set(OutputField::Delay, &value)
    }

    /// How often it fires; -1 is always.
    #[getter]
    fn times(&self) -> f64 {
        self.fields().times()
    }

    #[setter]
    fn set_times(&self, value: Text) -> Res<()> {
        self.set(OutputField::Times, &value)
    }

    /// What is between the fields: `,` or `\x1b`.
    #[getter]
    fn separator(&self) -> char {
        char::from(self.fields().separator())
    }

    #[setter]
    fn set_separator(&self, value: Text) -> Res<()> {
        let separator = separator_of(&value)?;
        let done = self.fields().set_separator(separator);
        Ok(done?)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Output>().is_ok_and(|other| self.to_bytes() == other.get().to_bytes())
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        shown(py, &self.to_bytes())
    }

    fn __repr__(&self) -> String {
        format!("<bspkit.Output {}>", bspkit::bytes::escaped(&self.to_bytes()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let bytes = pyo3::types::PyBytes::new(slf.py(), &slf.get().to_bytes());
        Ok((slf.get_type().getattr("parse")?, PyTuple::new(slf.py(), [bytes])?))
    }
}
