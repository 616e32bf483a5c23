//! Bytes of maps as Python's strings: UTF-8, and other bytes as surrogates, as Python has them in file names.

use bspkit::bytes::rounded;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PyMemoryView, PySet, PyString};

use crate::errors::Res;
use crate::output::Output;

/// The string of bytes. `bytes.decode("utf-8", "surrogateescape")` is the same.
pub(crate) fn shown<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text)),
        Err(_) => Ok(PyString::from_encoded_object(
            PyBytes::new(py, bytes).as_any(),
            Some(c"utf-8"),
            Some(c"surrogateescape"),
        )?),
    }
}

/// Text from Python: a string, bytes, a number, a truth value, or a sequence of numbers (`0.5 1 2`).
pub(crate) struct Text(pub(crate) Vec<u8>);

impl Text {
    /// As a selector, in which bytes that are not UTF-8 are `\xNN`.
    pub(crate) fn as_selector(&self) -> String {
        let mut text = String::new();
        for part in self.0.utf8_chunks() {
            text.push_str(part.valid());
            part.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
        }
        text
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        text_of(&value.to_owned()).map(Text).map_err(PyErr::from)
    }
}

/// Bytes: an object of Python with a buffer, whatever its items are.
pub(crate) struct Raw(pub(crate) Vec<u8>);

impl<'a, 'py> FromPyObject<'a, 'py> for Raw {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let bytes = PyMemoryView::from(&value)?.call_method0("tobytes")?;
        Ok(Raw(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
    }
}

fn text_of(value: &Bound<'_, PyAny>) -> Res<Vec<u8>> {
    if let Ok(text) = value.cast::<PyString>() {
        if let Ok(text) = text.to_str() {
            return Ok(text.as_bytes().to_vec());
        }
        let bytes = value.call_method1("encode", ("utf-8", "surrogateescape"))?;
        return Ok(bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes().to_vec());
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
        let bytes = value.py().get_type::<PyBytes>().call1((value,))?;
        return Ok(bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes().to_vec());
    }
    // They have no order.
    if value.is_instance_of::<PyDict>() || value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
        return Err(wrong_type(value).into());
    }
    if let Ok(flag) = value.extract::<bool>() {
        return Ok(if flag { b"1".to_vec() } else { b"0".to_vec() });
    }
    if let Ok(number) = value.extract::<f64>() {
        return number_text(value, number);
    }
    if let Ok(output) = value.cast::<Output>() {
        return Ok(output.get().to_bytes());
    }
    // NumPy's arrays, tuples, lists and the vectors of this module.
    if let Ok(numbers) = value.try_iter() {
        let mut text = Vec::new();
        for number in numbers {
            let number = number?;
            let Ok(plain) = number.extract::<f64>() else {
                return Err(wrong_type(&number).into());
            };
            if !text.is_empty() {
                text.push(b' ');
            }
            text.extend(number_text(&number, plain)?);
        }
        return Ok(text);
    }
    Err(wrong_type(value).into())
}

/// A number in the shortest form that reads back as the same, with 32 bits if it has no more; whole numbers without a
/// point.
fn number_text(value: &Bound<'_, PyAny>, number: f64) -> Res<Vec<u8>> {
    if !number.is_finite() {
        let message = format!("{number} is not a number that a map can have");
        return Err(bspkit::Error::new(bspkit::ErrorKind::Argument, message).into());
    }
    if let Ok(whole) = value.extract::<i128>() {
        return Ok(whole.to_string().into_bytes());
    }
    // One that was read from an array of 32 bits is as short as there.
    let short = rounded(number);
    let is_short = number.fract() != 0.0 && f64::from(short).to_bits() == number.to_bits();
    Ok(if is_short { short.to_string() } else { number.to_string() }.into_bytes())
}

fn wrong_type(value: &Bound<'_, PyAny>) -> PyErr {
    let message =
        format!("a value is text, bytes, a number or a sequence of numbers, and not {}", crate::shown_type(value));
    pyo3::exceptions::PyTypeError::new_err(message)
}
