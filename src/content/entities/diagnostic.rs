//! Mistakes and oddities of an entity text. The text is read in spite of them.

use std::fmt;
use std::ops::Range;

/// The kind of a [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A quote that nothing closes: the string runs to the end of the text.
    UnterminatedQuote,
    /// The text ends inside an entity.
    MissingClosingBrace,
    /// A `{` inside an entity; it is read as the start of the next one.
    NestedBrace,
    /// The last token of an entity is a key and has no value.
    KeyWithoutValue,
    /// A key, a value or a closing brace outside entities.
    StrayToken,
    /// A brace that opens or closes an entity inside a word or a string; the rest of the word or string is not read.
    BraceInToken,
    /// A brace directly beside a word or another brace: other engines read both as one word.
    TouchingBrace,
    /// A key or value without quotes.
    UnquotedToken,
    /// A comment. It is harmless, and only listed if it would be lost.
    Comment,
    /// Bytes other than NUL after the NUL that ends the text.
    BytesBehindNul,
    /// No NUL after the text.
    NoNul,
    /// More than one NUL after the text.
    ManyNuls,
}

impl DiagnosticKind {
    pub(super) fn is_problem(self) -> bool {
        self != DiagnosticKind::Comment
    }

    /// Whether the game engines stop at it.
    pub fn stops_engines(self) -> bool {
        use DiagnosticKind::{BraceInToken, KeyWithoutValue, MissingClosingBrace, NestedBrace, StrayToken};
        matches!(self, BraceInToken | KeyWithoutValue | MissingClosingBrace | NestedBrace | StrayToken)
    }

    pub(super) fn is_lost_in_canonical(self) -> bool {
        use DiagnosticKind::{BraceInToken, Comment, KeyWithoutValue, StrayToken};
        matches!(self, BraceInToken | Comment | KeyWithoutValue | StrayToken)
    }
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DiagnosticKind::UnterminatedQuote => "a quote is never closed",
            DiagnosticKind::MissingClosingBrace => "the closing brace is missing",
            DiagnosticKind::NestedBrace => "an opening brace is inside an entity",
            DiagnosticKind::KeyWithoutValue => "a key has no value",
            DiagnosticKind::StrayToken => "a token is outside entities",
            DiagnosticKind::BraceInToken => "a brace is part of a word or is in quotes",
            DiagnosticKind::TouchingBrace => "a brace touches another token",
            DiagnosticKind::UnquotedToken => "a key or value has no quotes",
            DiagnosticKind::Comment => "a comment",
            DiagnosticKind::BytesBehindNul => "there are bytes after the NUL that ends the text",
            DiagnosticKind::NoNul => "the text does not end with a NUL",
            DiagnosticKind::ManyNuls => "the text ends with more than one NUL",
        })
    }
}

/// A mistake or oddity in an entity text, and its place.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
///
/// let entities = Entities::parse("{ classname light }\0", EntityRules::QUAKE2)?;
/// let first = entities.diagnostics().iter().next().unwrap();
/// assert_eq!(first.to_string(), "a key or value has no quotes (entity 0, offset 2)");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind.
    pub kind: DiagnosticKind,
    /// Where, in bytes from the start of the lump.
    pub span: Range<usize>,
    /// The index of the entity that contains it.
    pub entity: Option<usize>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (", self.kind)?;
        if let Some(entity) = self.entity {
            write!(f, "entity {entity}, ")?;
        }
        write!(f, "offset {})", self.span.start)
    }
}

/// The diagnostics of a text: the first thousand, and the number of all.
///
/// ```
/// use bspkit::content::entities::{Diagnostics, Entities};
/// use bspkit::dialect::EntityRules;
///
/// let entities = Entities::parse("{\n}\n", EntityRules::GOLDSRC)?;
/// let diagnostics: &Diagnostics = entities.diagnostics();
/// assert_eq!(diagnostics.total(), 1);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    listed: Vec<Diagnostic>,
    total: usize,
}

impl Diagnostics {
    /// A text full of mistakes must not fill the memory.
    const LISTED: usize = 1000;

    /// The first thousand, in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.listed.iter()
    }

    /// The number of all, also of those that are not listed.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub(super) fn push(&mut self, kind: DiagnosticKind, span: Range<usize>, entity: Option<usize>) {
        self.total += 1;
        if self.listed.len() < Self::LISTED {
            self.listed.push(Diagnostic { kind, span, entity });
        }
    }
}

impl<'d> IntoIterator for &'d Diagnostics {
    type Item = &'d Diagnostic;
    type IntoIter = std::slice::Iter<'d, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
