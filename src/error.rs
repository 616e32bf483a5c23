//! The library's one error type: what is wrong, where, and what to do about it.
//!
//! [`Error`] is the size of a pointer, opaque, and carries an [`ErrorKind`] to branch on, the [`Place`] in the file if
//! it is known, a [`Hint`], and the cause. Messages are lower case, have no full stop and contain the values, so that a
//! program can print `error: cannot save dm4.bsp` and the causes below it. `{error}` is the sentence alone, `{error:?}`
//! the sentence, its causes and the hint, `{error:#?}` the fields.

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
///
/// A program whose `main` returns an error prints it with `{:?}`: the sentence, then the causes and the hint.
///
/// ```
/// use bspkit::{Error, ErrorKind, Hint};
/// let cause = Error::new(ErrorKind::Refused, "the file is read-only").with_hint(Hint::Force);
/// let error = Error::new(ErrorKind::Io, "cannot save dm4.bsp").with_source(cause);
/// let text = "cannot save dm4.bsp\n\nCaused by:\n    the file is read-only\n\nHint: it can be forced";
/// assert_eq!(format!("{error:?}"), text);
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<Hint>,
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
    /// A map of a kind that is not supported. The message says which kind.
    Unsupported,
    /// Several dialects fit; the caller has to name one.
    Ambiguous,
    /// The file contradicts itself at the place given.
    Malformed,
    /// The map does not have the requested lump, entity or key.
    NotFound,
    /// An argument is not valid: a selector, a lump name.
    Argument,
    /// An edit that no engine of the dialect could read back, or that would destroy something.
    Refused,
    /// The map is damaged, and an edit of it is only saved if the caller asks for that explicitly.
    Damaged,
    /// A limit of the format or of this library is exceeded, such as 2 GiB for a file.
    TooLarge,
}

/// What the caller can do about an error. It is data, so that each program can name its own options.
///
/// ```
/// use bspkit::{Bsp, ErrorKind, Hint};
/// let error = Bsp::open("tests/maps/q3/own_rooms.bsp")?.slot("no such lump").unwrap_err();
/// assert!(matches!(error.hint(), Some(Hint::Text(names)) if names.contains("ENTITIES")));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// Open the map as one of these dialects ([`crate::Bsp::open_as`]).
    Dialect(Vec<&'static str>),
    /// Force the operation: [`crate::SaveOptions::force`] for a save.
    Force,
    /// Replace the file that is there.
    Replace,
    /// Do what the sentence says, or force the operation.
    OrForce(String),
    /// Plan with [`crate::Layout::Keep`].
    Keep,
    /// Plan with [`crate::Layout::Append`].
    Append,
    /// Plan with [`crate::Layout::Repack`].
    Repack,
    /// Allow another number of records than the lump has.
    Resize,
    /// Change what is not clear in several steps, or take each record for the one with its number.
    Steps,
    /// Take the entities that are most like those of a patch, or merge the patch with what changed since its base.
    Guess,
    /// Remove what needs the removed records too ([`crate::Structure::cascade`]).
    Cascade,
    /// Copy a brush model with all that belongs to it (`bspkit-ops`: `models`).
    CopyModel,
    /// Copy or remove a brush model with its tree (`bspkit-ops`: `models`).
    Tree,
    /// Give this key apart from its value, so that nothing in it is read as an operator.
    LiteralKey(String),
    /// Allow a script more of this: `steps`, `time` or `memory`.
    Limit(&'static str),
    /// Allow a script to read files of a folder.
    AllowRead,
    /// All of these.
    Several(Vec<Hint>),
    /// A sentence.
    Text(String),
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hint::Dialect(names) => return write!(f, "name the dialect: {}", names.join(" or ")),
            Hint::Force => "it can be forced",
            Hint::Replace => "it can be replaced",
            Hint::OrForce(text) => return write!(f, "{text}; it can be forced too"),
            Hint::Keep => "use the layout keep",
            Hint::Append => "use the layout append",
            Hint::Repack => "use the layout repack",
            Hint::Resize => {
                "another number of records can be allowed; what refers to records by number does not follow"
            }
            Hint::Steps => {
                "make the changes one after the other; or each record can be taken for the one with its number"
            }
            Hint::Guess => "the entities that are most like these can be taken, or the patch merged by way of its base",
            Hint::Cascade => "what needs it can be removed too",
            Hint::CopyModel => "a model can be copied with all that belongs to it",
            Hint::Tree => "nodes and leafs are added and removed as whole trees, with the models that have them",
            Hint::LiteralKey(key) => return write!(f, "a key `{key}` can be given apart from its value"),
            Hint::Limit(what) => return write!(f, "the limit of {what} can be raised"),
            Hint::AllowRead => "files of a folder can be allowed",
            Hint::Several(hints) => {
                let lines: Vec<String> = hints.iter().map(Hint::to_string).collect();
                return f.write_str(&lines.join("\n"));
            }
            Hint::Text(text) => text,
        })
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Hint::Text(text.to_owned())
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Hint::Text(text)
    }
}

/// Where in a file something is. Each part is given if it is known.
///
/// ```
/// let place = bspkit::Place::default().lump("entities").offset(1540);
/// assert_eq!(place.to_string(), "entities, offset 1540");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Place {
    /// The lump's name.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub lump: Option<String>,
    /// The index of the record, or of the entity in a lump of entities.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub record: Option<usize>,
    /// The field of the record: `children[1]`.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub field: Option<String>,
    /// The offset in bytes from the start of the lump if one is named, otherwise from the start of the file.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub offset: Option<u64>,
    /// The index of the embedded file.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub file: Option<usize>,
    /// The index of the entity, if no lump is named.
    #[cfg_attr(feature = "json", serde(skip_serializing_if = "Option::is_none"))]
    pub entity: Option<usize>,
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

    /// The place in the embedded file of this index.
    #[must_use]
    pub fn file(mut self, index: usize) -> Self {
        self.file = Some(index);
        self
    }

    /// The place in the entity of this index.
    #[must_use]
    pub fn entity(mut self, index: usize) -> Self {
        self.entity = Some(index);
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.lump.clone(),
            self.record.map(|index| format!("record {index}")),
            self.field.clone(),
            self.offset.map(|offset| format!("offset {offset}")),
            self.file.map(|index| format!("file {index}")),
            self.entity.map(|index| format!("entity {index}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

impl Error {
    /// An error of this kind with this message: lower case, no full stop, values included.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), hint: None, place: None, source: None }))
    }

    /// Sets the place that [`Error::place`] returns.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
    }

    /// Sets the hint that [`Error::hint`] returns.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets a hint with a line for each of these; of more than ten the first ones and the number of the others. Nothing
    /// is set if there are none.
    ///
    /// ```
    /// use bspkit::{Error, ErrorKind};
    /// let others = (2..20).map(|line| format!("line {line}"));
    /// let error = Error::new(ErrorKind::Argument, "line 1: no number").with_list(others);
    /// assert!(error.hint().unwrap().to_string().ends_with("line 11\nand 8 more"));
    /// ```
    #[must_use]
    pub fn with_list(self, lines: impl IntoIterator<Item = String>) -> Self {
        const MOST: usize = 10;
        let mut lines = lines.into_iter();
        let mut listed: Vec<String> = lines.by_ref().take(MOST).collect();
        let more = lines.count();
        listed.extend((more > 0).then(|| format!("and {more} more")));
        if listed.is_empty() { self } else { self.with_hint(listed.join("\n")) }
    }

    /// Sets the cause that [`std::error::Error::source`] returns.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// An error of the same kind that names the operation, with this error as its cause.
    #[must_use]
    pub fn within(self, what: impl Into<String>) -> Self {
        Error::new(self.kind(), what).with_source(self)
    }

    /// An error of the file system that names the operation, with the cause.
    #[must_use]
    pub fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Error::new(ErrorKind::Io, what).with_source(source)
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The place in the file, if it is known.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// What the caller can do about it, if there is something.
    pub fn hint(&self) -> Option<&Hint> {
        self.0.hint.as_ref()
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
    /// The message, the causes and the hints, as a failing `main` prints them. `{:#?}` prints the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, message, hint, place, source } = &*self.0;
        if f.alternate() {
            let mut fields = f.debug_struct("Error");
            fields.field("kind", kind).field("message", message).field("hint", hint).field("place", place);
            return fields.field("source", source).finish();
        }
        write!(f, "{self}")?;
        let mut hints: Vec<&Hint> = hint.iter().collect();
        let mut cause = std::error::Error::source(self);
        if cause.is_some() {
            f.write_str("\n\nCaused by:")?;
        }
        while let Some(error) = cause {
            write!(f, "\n    {error}")?;
            hints.extend(error.downcast_ref::<Error>().and_then(Error::hint));
            cause = error.source();
        }
        hints.into_iter().try_for_each(|hint| write!(f, "\n\nHint: {hint}"))
    }
}

/// An error of the file system whose operation is not named, so that `?` takes it; [`Error::io`] names the operation.
///
/// ```
/// fn about(path: &str) -> bspkit::Result<Vec<u8>> {
///     Ok(std::fs::read(path)?)
/// }
/// let error = about("tests/maps/no-such-file").unwrap_err();
/// assert_eq!(error.kind(), bspkit::ErrorKind::Io);
/// ```
impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Error::io("cannot read or write a file", source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
