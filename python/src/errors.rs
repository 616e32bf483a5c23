//! Errors of the library as exceptions of `bspkit._errors`: one class for each kind, with its place and its hint.

use std::error::Error as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bspkit::{Error, ErrorKind, Hint};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The class of a kind.
fn class_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Io => "FileError",
        ErrorKind::NotABsp => "NotABspError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::Ambiguous => "AmbiguousError",
        ErrorKind::Malformed => "MalformedError",
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::Argument => "ArgumentError",
        ErrorKind::Refused => "RefusedError",
        ErrorKind::Damaged => "DamagedError",
        ErrorKind::TooLarge => "TooLargeError",
        _ => "BspError",
    }
}

/// A hint in terms of the module.
fn worded(hint: &Hint) -> String {
    match hint {
        Hint::OrForce(text) => format!("{text}; where a method has `force`, force=True does it too"),
        hint => hint.to_string(),
    }
}

/// The error of a map that was closed.
pub(crate) fn closed() -> Failure {
    let message = "the map was closed, so it cannot be used any more";
    Failure(Python::attach(|py| exception(py, "ClosedError", message, None)))
}

/// The error of a map that the same thread works on already.
pub(crate) fn busy() -> Failure {
    let message = "the map is in use: this code, such as a finalizer, interrupts another call that works on it";
    Failure(Python::attach(|py| exception(py, "BusyError", message, None)))
}

/// Does work of the library. A panic in it becomes an exception.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Res<T>) -> Res<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let what = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason is known");
        let message = format!("bspkit has a fault, please report it with the map: {what}");
        Err(Failure(Python::attach(|py| exception(py, "FaultError", &message, None))))
    })
}

/// Does long work of the library while other threads of Python run.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> bspkit::Result<T> + Send) -> Res<T> {
    guarded(|| Ok(py.detach(work)?))
}

/// A failure on the way to Python.
pub(crate) struct Failure(PyErr);

/// The result of a call from Python.
pub(crate) type Res<T> = Result<T, Failure>;

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure(error.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        // The sentence with its causes.
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Failure(Python::attach(|py| exception(py, class_of(error.kind()), &message, Some(&error))))
    }
}

/// An exception with the attributes that all of ours have.
fn exception(py: Python<'_>, class: &str, message: &str, error: Option<&Error>) -> PyErr {
    let place = error.and_then(Error::place);
    let made = || {
        let attributes = PyDict::new(py);
        attributes.set_item("hint", error.and_then(Error::hint).map(worded))?;
        attributes.set_item("place", place.map(ToString::to_string))?;
        attributes.set_item("lump", place.and_then(|place| place.lump.clone()))?;
        attributes.set_item("record", place.and_then(|place| place.record))?;
        attributes.set_item("offset", place.and_then(|place| place.offset))?;
        let number = error.map(|error| number(py, error)).transpose()?.flatten();
        py.import("bspkit._errors")?.call_method1("make", (class, message, number, attributes))
    };
    made().map_or_else(|failed| failed, PyErr::from_value)
}

/// The number by which the system names what failed.
fn number(py: Python<'_>, error: &Error) -> PyResult<Option<i32>> {
    let mut cause = error.source();
    while let Some(found) = cause {
        if let Some(found) = found.downcast_ref::<std::io::Error>() {
            let name = match found.kind() {
                std::io::ErrorKind::NotFound => "ENOENT",
                std::io::ErrorKind::PermissionDenied => "EACCES",
                std::io::ErrorKind::AlreadyExists => "EEXIST",
                std::io::ErrorKind::IsADirectory => "EISDIR",
                std::io::ErrorKind::NotADirectory => "ENOTDIR",
                std::io::ErrorKind::StorageFull => "ENOSPC",
                // Numbers of Windows are others.
                _ => return Ok(found.raw_os_error().filter(|_| cfg!(unix))),
            };
            return Ok(Some(py.import("errno")?.getattr(name)?.extract()?));
        }
        cause = found.source();
    }
    Ok(None)
}
