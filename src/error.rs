//! The library's one error type: what is wrong, where, and what to do about it.
//!
//! [`Error`] is the size of a pointer, opaque, and carries a [`ErrorKind`] to branch on, a [`Place`] in the
//! file where one is known, and the cause. Texts are lower case without a full stop, with the values in them,
//! so that a program can print `error: cannot save dm4.bsp` and the causes below it.

use std::fmt;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, what it is about, and where.
///
/// ```
/// let error = bspkit::Bsp::parse(b"no map at all").unwrap_err();
/// assert_eq!(error.kind(), bspkit::ErrorKind::NotABsp);
/// assert!(error.place().is_none());
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    place: Option<Place>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of failure that a caller may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing a file failed.
    Io,
    /// The bytes are not a map of the BSP family.
    NotABsp,
    /// A map, but of a kind that is not opened: the message says which.
    Unsupported,
    /// Several dialects fit; the caller has to name one.
    Ambiguous,
    /// The file contradicts itself at the place given.
    Malformed,
    /// What was asked for is not in the map: a lump, an entity, a key.
    NotFound,
    /// An argument cannot be understood: a selector, a lump name.
    Argument,
    /// An edit that no engine of the dialect could read back, or that would destroy something.
    Refused,
    /// Saving an edit of a damaged map needs the caller's explicit word.
    Damaged,
    /// A limit of the format or of this library: 2 GiB for a file, say.
    TooLarge,
}

/// Where in a file something is: each part where it is known.
///
/// ```
/// let place = bspkit::Place::default().lump("entities").offset(1540);
/// assert_eq!(place.to_string(), "entities, offset 1540");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The lump's name.
    pub lump: Option<String>,
    /// The index of the record or entity.
    pub record: Option<usize>,
    /// The offset in bytes from the start of the file, or of the lump where one is named.
    pub offset: Option<u64>,
}

impl Place {
    /// The place within the named lump.
    #[must_use]
    pub fn lump(mut self, name: impl Into<String>) -> Self {
        self.lump = Some(name.into());
        self
    }

    /// The place within the record of this index.
    #[must_use]
    pub fn record(mut self, index: usize) -> Self {
        self.record = Some(index);
        self
    }

    /// The place at this offset.
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(lump) = &self.lump {
            write!(f, "{lump}")?;
            separator = ", ";
        }
        if let Some(record) = self.record {
            write!(f, "{separator}record {record}")?;
            separator = ", ";
        }
        if let Some(offset) = self.offset {
            write!(f, "{separator}offset {offset}")?;
        }
        Ok(())
    }
}

impl Error {
    /// An error of a kind with its text: lower case, no full stop, values included.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), hint: None, place: None, source: None }))
    }

    /// Adds where it is.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// An error of the same kind that says what was being done, with this one as its cause.
    #[must_use]
    pub(crate) fn within(self, what: impl Into<String>) -> Self {
        Error::new(self.kind(), what).because(self)
    }

    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Error::new(ErrorKind::Io, what).because(source)
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it is, if that is known.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// What the user can do about it, if there is something.
    pub fn advice(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match &self.0.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, message, hint, place, source } = &*self.0;
        f.debug_struct("Error")
            .field("kind", kind)
            .field("message", message)
            .field("hint", hint)
            .field("place", place)
            .field("source", source)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
