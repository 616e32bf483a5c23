//! Errors of the library as exceptions: one class for each kind, with its place and its hint.

use std::error::Error as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bspkit::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    bspkit,
    BspError,
    PyException,
    "What can fail. `kind`, `place`, `hint`, `lump`, `record` and `offset` say more."
);

macro_rules! kinds {
    ($($name:ident = $kind:ident, $text:literal: $doc:literal,)*) => {
        $(create_exception!(bspkit, $name, BspError, $doc);)*

        fn of_kind(py: Python<'_>, kind: ErrorKind, message: String) -> (&'static str, PyErr) {
            let _ = py;
            match kind {
                $(ErrorKind::$kind => ($text, $name::new_err(message)),)*
                _ => ("other", BspError::new_err(message)),
            }
        }

        /// Adds the classes to the module.
        pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            let py = module.py();
            module.add("BspError", py.get_type::<BspError>())?;
            $(module.add(stringify!($name), py.get_type::<$name>())?;)*
            module.add("FaultError", py.get_type::<FaultError>())?;
            module.add("ClosedError", py.get_type::<ClosedError>())?;
            module.add("BusyError", py.get_type::<BusyError>())
        }
    };
}

kinds! {
    FileError = Io, "io": "Reading or writing a file failed.",
    NotABspError = NotABsp, "not-a-bsp": "The bytes are not a map of the BSP family.",
    UnsupportedError = Unsupported, "unsupported": "A map or a lump of a kind that is not supported.",
    AmbiguousError = Ambiguous, "ambiguous": "Several dialects fit; name one.",
    MalformedError = Malformed, "malformed": "The file contradicts itself.",
    NotFoundError = NotFound, "not-found": "The map does not have what was asked for.",
    ArgumentError = Argument, "argument": "An argument is not valid.",
    RefusedError = Refused, "refused": "An edit that no engine could read back, or that would destroy something.",
    DamagedError = Damaged, "damaged": "The map is damaged; an edit of it is only saved with `force=True`.",
    TooLargeError = TooLarge, "too-large": "A limit of the format or of the library is exceeded.",
}

create_exception!(bspkit, ClosedError, BspError, "The map was closed, so it cannot be used any more.");
create_exception!(
    bspkit,
    BusyError,
    BspError,
    "The map is in use by a call of the same thread, such as one that a finalizer interrupts."
);
create_exception!(bspkit, FaultError, BspError, "bspkit itself has a fault, which should be reported.");

/// The error of a map that was closed.
pub(crate) fn closed() -> Failure {
    let message = "the map was closed, so it cannot be used any more".to_owned();
    Failure(Python::attach(|py| with_attributes(py, "closed", ClosedError::new_err(message), None)))
}

/// The error of a map that the same thread works on already.
pub(crate) fn busy() -> Failure {
    let message =
        "the map is in use: this code, such as a finalizer, interrupts another call that works on it".to_owned();
    Failure(Python::attach(|py| with_attributes(py, "busy", BusyError::new_err(message), None)))
}

/// Does work of the library. A panic in it becomes an exception.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Res<T>) -> Res<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let what = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason is known");
        let message = format!("bspkit has a fault, please report it with the map: {what}");
        Err(Failure(Python::attach(|py| with_attributes(py, "fault", FaultError::new_err(message), None))))
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
        Failure(Python::attach(|py| exception(py, &error)))
    }
}

/// The exception of an error: its sentence with its causes.
fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    let (kind, exception) = of_kind(py, error.kind(), message);
    with_attributes(py, kind, exception, Some(error))
}

/// Gives an exception the attributes that all of ours have.
fn with_attributes(py: Python<'_>, kind: &str, exception: PyErr, error: Option<&Error>) -> PyErr {
    let value = exception.value(py);
    let place = error.and_then(Error::place);
    let set = || {
        value.setattr("kind", kind)?;
        value.setattr("hint", error.and_then(Error::hint).map(ToString::to_string))?;
        value.setattr("place", place.map(ToString::to_string))?;
        value.setattr("lump", place.and_then(|place| place.lump.clone()))?;
        value.setattr("record", place.and_then(|place| place.record))?;
        value.setattr("offset", place.and_then(|place| place.offset))
    };
    match set() {
        Ok(()) => exception,
        Err(failed) => failed,
    }
}
