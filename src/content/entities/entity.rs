//! An entity as it is read.

use std::borrow::Cow;
use std::ops::Range;

use super::parse::PairSpan;
use super::token::Span;
use crate::dialect::TextSyntax;

/// One entity: its pairs in order, its text, and its place in the lump.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
///
/// let text = b"{\n\"classname\" \"logic_auto\"\n\"OnSpawn\" \"a,Open\"\n\"OnSpawn\" \"b,Open\"\n}\n\0";
/// let entities = Entities::parse(&text[..], EntityRules::SOURCE)?;
/// let entity = entities.get(0).unwrap();
/// assert_eq!(entity.get("onspawn"), Some(&b"a,Open"[..]));
/// assert_eq!(entity.all("OnSpawn").count(), 2);
/// assert_eq!(entity.text("classname").as_deref(), Some("logic_auto"));
/// assert_eq!(entity.span(), Some(0..66));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Entity<'e> {
    pub(super) index: usize,
    /// The bytes to which the spans refer: the whole source or the entity's own text.
    pub(super) bytes: &'e [u8],
    pub(super) range: Range<usize>,
    /// The range between the braces.
    pub(super) inside: Range<usize>,
    pub(super) syntax: &'e TextSyntax,
    pub(super) pairs: &'e [PairSpan],
    pub(super) span: Option<Range<usize>>,
    /// Whether it has a text of its own instead of the source's.
    pub(super) is_own: bool,
}

/// A key and its value, without quotes.
///
/// ```
/// use bspkit::content::entities::{Entities, Pair};
/// use bspkit::dialect::EntityRules;
///
/// let entities = Entities::parse("{ \"skill\" \"2\" }\0", EntityRules::QUAKE2)?;
/// let pair = entities.get(0).unwrap().pairs().next();
/// assert_eq!(pair, Some(Pair { key: b"skill", value: b"2" }));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair<'e> {
    /// The key.
    pub key: &'e [u8],
    /// The value.
    pub value: &'e [u8],
}

impl<'e> Entity<'e> {
    /// The position among the entities.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The value of the first `classname`.
    pub fn class(&self) -> Option<&'e [u8]> {
        self.get("classname")
    }

    /// The first value of a key, whose case does not matter.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&'e [u8]> {
        let key = key.as_ref();
        self.pairs().find(|pair| pair.key.eq_ignore_ascii_case(key)).map(|pair| pair.value)
    }

    /// The first value of a key as text; bytes that are not UTF-8 are shown as `\u{FFFD}`.
    pub fn text(&self, key: impl AsRef<[u8]>) -> Option<Cow<'e, str>> {
        self.get(key).map(String::from_utf8_lossy)
    }

    /// The first value of a key as a number; `None` where it is something else.
    pub fn number(&self, key: impl AsRef<[u8]>) -> Option<f64> {
        number(std::str::from_utf8(self.get(key)?).ok()?.trim())
    }

    /// The first value of a key as three numbers, such as an `origin`; `None` where it is something else.
    pub fn vector(&self, key: impl AsRef<[u8]>) -> Option<[f64; 3]> {
        let value = std::str::from_utf8(self.get(key)?).ok()?;
        let numbers: Vec<f64> = value.split_whitespace().map(number).collect::<Option<_>>()?;
        numbers.try_into().ok()
    }

    /// All values of a key, in order. Case does not matter.
    pub fn all(&self, key: impl AsRef<[u8]>) -> impl Iterator<Item = &'e [u8]> {
        self.pairs().filter(move |pair| pair.key.eq_ignore_ascii_case(key.as_ref())).map(|pair| pair.value)
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = Pair<'e>> + ExactSizeIterator + Clone + use<'e> {
        self.pairs_in(0..self.pairs.len())
    }

    /// Some of the pairs; none if there are not as many.
    pub(crate) fn pairs_in(
        &self,
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Pair<'e>> + ExactSizeIterator + Clone + use<'e> {
        let (bytes, syntax) = (self.bytes, self.syntax);
        let inner = move |span: Span| unquoted(&bytes[span.range()], syntax).0;
        let pairs = self.pairs.get(range).unwrap_or_default();
        pairs.iter().map(move |pair| Pair { key: inner(pair.key), value: inner(pair.value) })
    }

    /// Whether a pair of this entity is the same as a pair of another one.
    pub(crate) fn has_pair_of(&self, at: usize, other: &Entity<'_>, other_at: usize) -> bool {
        let (Some(own), Some(pair)) = (self.pairs.get(at), other.pairs.get(other_at)) else { return false };
        // Most are the same letter by letter.
        self.bytes.get(own.key.start()..own.value.end()) == other.bytes.get(pair.key.start()..pair.value.end())
            || self.pairs_in(at..at + 1).eq(other.pairs_in(other_at..other_at + 1))
    }

    /// The bytes from the opening to the closing brace; to the last token if the closing brace is missing.
    pub fn bytes(&self) -> &'e [u8] {
        &self.bytes[self.range.clone()]
    }

    /// Whether it was edited, or is new.
    pub fn is_edited(&self) -> bool {
        self.is_own
    }

    /// The bytes of the entity in the lump that was read; `None` for a new one.
    pub fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }

    /// Whether the entity has a closing brace.
    pub fn is_closed(&self) -> bool {
        self.inside.end < self.range.end
    }
}

/// A finite number.
pub(super) fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A token without its quotes, and whether it has a closing one.
pub(super) fn unquoted<'t>(token: &'t [u8], syntax: &TextSyntax) -> (&'t [u8], bool) {
    match token {
        // Only an escape can make the last quote a letter.
        [b'"', inner @ .., b'"'] if syntax.escaped.is_empty() || syntax.quote_in(inner).is_none() => (inner, true),
        [b'"', inner @ ..] => (inner, false),
        word => (word, true),
    }
}
