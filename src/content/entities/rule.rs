//! Mistakes and oddities of an entity text, and what engines of the dialect cannot read.

use std::fmt;
use std::ops::Range;

use super::{Entities, Entity, Pair};
use crate::bytes::escaped;
use crate::dialect::{EntityRules, TextRule, TextTrait};
use crate::{Error, ErrorKind, Hint, Place, Result};

// Finds what engines of the dialect cannot read: applies the rules of its table to keys, values and entities.

pub(super) const WORLD: &[u8] = b"worldspawn";

/// Something in an entity that some or all engines of the dialect cannot read, or read in another way.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::{EntityRules, TextEffect};
///
/// let text = b"{\n\"classname\" \"worldspawn\"\n\"wad\" \"c:\\\\\"\n}\n\0";
/// let entities = Entities::parse(&text[..], EntityRules::GOLDSRC)?;
/// let flaw = entities.flaws().next().unwrap();
/// assert_eq!((flaw.rule.effect, flaw.rule.engines), (TextEffect::Differs, "Xash3D"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flaw {
    /// The rule, with the engines that it is about.
    pub rule: &'static TextRule,
    /// The index of the entity.
    pub entity: usize,
    /// What it is, in one sentence.
    pub message: String,
}

/// Checks the tokens of a pair that is to be written into the entity of this index.
pub(super) fn check_pair(rules: &EntityRules, index: usize, key: &[u8], value: &[u8]) -> Result<()> {
    check_key(rules, index, key)?;
    check_value(rules, index, value)
}

pub(super) fn check_key(rules: &EntityRules, index: usize, key: &[u8]) -> Result<()> {
    check_written(rules, index, "key", key)?;
    refuse(rules, index, |rule| rule.of_key(key))
}

pub(super) fn check_value(rules: &EntityRules, index: usize, value: &[u8]) -> Result<()> {
    check_written(rules, index, "value", value)?;
    refuse(rules, index, |rule| rule.of_value(value))
}

/// Refuses bytes that cannot be between quotes, whatever the table says.
fn check_written(rules: &EntityRules, index: usize, what: &str, token: &[u8]) -> Result<()> {
    let engines = rules.engines;
    let can_escape = rules.syntax.escaped.contains(&b'"');
    let (why, hint) = match rules.syntax.quote_in(token) {
        Some(at) if token[at] == b'\\' => {
            (format!("ends with a backslash, which for {engines} escapes the closing quote"), "leave it out")
        }
        Some(_) if can_escape => {
            (format!("contains a quote, where {engines} end it"), "put a backslash before it: \\\"")
        }
        Some(_) => {
            (format!("contains a quote, where {engines} end it"), "there is no escape for it: use ' or leave it out")
        }
        None if token.contains(&0) => (format!("contains a NUL, where {engines} end the text"), "leave it out"),
        None if token.first() == Some(&b'}') => (
            format!("begins with `}}`, which ends the entity for {engines} even in quotes"),
            "start it with another byte",
        ),
        None => return Ok(()),
    };
    Err(refused(format!("the {what} {} {why}", shown(token))).at(place(index)).with_hint(hint))
}

fn refuse(rules: &EntityRules, index: usize, of: impl Fn(&TextRule) -> Option<String>) -> Result<()> {
    let broken = rules.rules.iter().filter(|rule| rules.refuses(rule)).find_map(|rule| Some((rule, of(rule)?)));
    match broken {
        Some((rule, message)) => Err(refused(message).at(place(index)).with_hint(rule.hint())),
        None => Ok(()),
    }
}

impl TextRule {
    fn of_key(&self, key: &[u8]) -> Option<String> {
        let engines = self.engines;
        let what = match self.what {
            TextTrait::KeyLonger(most) if key.len() > most => self.too_long(key, most),
            TextTrait::BraceAlone if key == b"{" => {
                format!("is a lone `{{`, which {engines} take for an entity's start")
            }
            TextTrait::SpaceBehindKey if key.ends_with(b" ") => {
                format!("ends with a space, which {engines} cut off")
            }
            _ => return None,
        };
        Some(format!("the key {} {what}", shown(key)))
    }

    fn of_value(&self, value: &[u8]) -> Option<String> {
        let engines = self.engines;
        let what = match self.what {
            TextTrait::ValueLonger(most) if value.len() > most => self.too_long(value, most),
            TextTrait::BraceAlone if value == b"{" => {
                format!("is a lone `{{`, which {engines} take for an entity's start")
            }
            TextTrait::BackslashAtEnd if value.ends_with(b"\\") => {
                format!("ends with a backslash: {engines} reads on after the closing quote")
            }
            TextTrait::Backslash if loses_a_letter(value) => {
                format!("has a backslash; {engines} know only `\\n` and `\\\\` and lose the letter after any other")
            }
            _ => return None,
        };
        Some(format!("the value {} {what}", shown(value)))
    }

    /// The flaw of a pair as it is read.
    fn of_pair(&self, pair: Pair<'_>) -> Option<String> {
        // The game decodes the strings that it knows; `wad` and keys with an underscore are for tools.
        let is_for_tools = || pair.key.starts_with(b"_") || pair.key.eq_ignore_ascii_case(b"wad");
        match self.what {
            TextTrait::Backslash if is_for_tools() => None,
            _ => self.of_key(pair.key).or_else(|| self.of_value(pair.value)),
        }
    }

    fn too_long(&self, token: &[u8], most: usize) -> String {
        let is_one = !self.engines.ends_with("engines") && !self.engines.contains(" and ");
        let read = if is_one { "reads" } else { "read" };
        format!("is {} bytes long; {} {read} no more than {most}", token.len(), self.engines)
    }

    /// The amount that the rule counts in an entity, and its limit.
    fn measure(&self, entity: &Entity<'_>) -> Option<(usize, usize)> {
        Some(match self.what {
            TextTrait::MorePairs(most) => (entity.pairs().len(), most),
            TextTrait::MoreBytes(most) => {
                (entity.pairs().map(|pair| pair.key.len() + pair.value.len() + 2).sum(), most)
            }
            TextTrait::NoClass => (usize::from(entity.pairs().all(|pair| pair.key != b"classname")), 0),
            TextTrait::EmptyClass => (usize::from(entity.class() == Some(b"")), 0),
            _ => return None,
        })
    }

    /// Whether it counts something in whole entities.
    fn is_of_entities(&self) -> bool {
        use TextTrait::{EmptyClass, MoreBytes, MorePairs, NoClass};
        matches!(self.what, MorePairs(_) | MoreBytes(_) | NoClass | EmptyClass)
    }

    /// The message for an entity over the limit.
    fn of_entity(&self, size: usize, most: usize) -> String {
        let engines = self.engines;
        match self.what {
            TextTrait::MorePairs(_) => format!("the entity has {size} pairs; the limit of {engines} is {most}"),
            TextTrait::MoreBytes(_) => {
                format!("the entity has {size} bytes of keys and values; the limit of {engines} is {most}")
            }
            TextTrait::EmptyClass => format!("the entity's class is empty; {engines} stops there"),
            _ => format!("the entity has no key `classname` in this case; {engines} stop there"),
        }
    }

    fn hint(&self) -> Hint {
        let text = match self.what {
            TextTrait::KeyLonger(_) | TextTrait::ValueLonger(_) => "shorten it, or spread it over several pairs",
            TextTrait::BraceAlone => "add another byte to it",
            TextTrait::NoClass | TextTrait::EmptyClass => "give it a class",
            _ => "remove pairs that the game does not read",
        };
        match self.effect {
            crate::dialect::TextEffect::Unreadable => Hint::from(text),
            _ => Hint::OrForce(text.to_owned()),
        }
    }
}

/// Whether a backslash is followed by something other than `n` and a backslash.
fn loses_a_letter(value: &[u8]) -> bool {
    let mut rest = value;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        match rest.get(at + 1) {
            Some(b'n' | b'\\') => rest = &rest[at + 2..],
            _ => return true,
        }
    }
    false
}

/// Pairs that no rule is about: most of them, which then need no look at each rule.
struct Plain {
    /// The lengths that no rule finds too long.
    key: usize,
    value: usize,
}

impl Plain {
    fn of(rules: &EntityRules) -> Self {
        let mut plain = Plain { key: usize::MAX, value: usize::MAX };
        for rule in rules.rules {
            match rule.what {
                TextTrait::KeyLonger(most) => plain.key = plain.key.min(most),
                TextTrait::ValueLonger(most) => plain.value = plain.value.min(most),
                _ => {}
            }
        }
        plain
    }

    fn holds(&self, pair: &Pair<'_>) -> bool {
        pair.key.len() <= self.key
            && pair.value.len() <= self.value
            && !matches!(pair.key, b"{" | [.., b' '])
            && pair.value != b"{"
            && memchr::memchr(b'\\', pair.value).is_none()
    }
}

/// The flaws of an entity as it is read: of some of its pairs, and of the whole.
fn flaws_of(rules: &EntityRules, entity: &Entity<'_>, pairs: Range<usize>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let index = entity.index();
    let plain = Plain::of(rules);
    for pair in entity.pairs_in(pairs).filter(|pair| !plain.holds(pair)) {
        let mut last = None;
        for rule in rules.rules {
            // Of several limits on length, only the largest one that is exceeded is reported.
            let kind = std::mem::discriminant(&rule.what);
            if last != Some(kind)
                && let Some(message) = rule.of_pair(pair)
            {
                flaws.push(Flaw { rule, entity: index, message });
                last = Some(kind);
            }
        }
    }
    for rule in rules.rules {
        if let Some((size, most)) = rule.measure(entity).filter(|(size, most)| size > most) {
            flaws.push(Flaw { rule, entity: index, message: rule.of_entity(size, most) });
        }
    }
    flaws
}

impl Entities<'_> {
    /// The parts of all entities, in order, that some or all engines of the dialect cannot read, or read in another
    /// way. Not included: whether the first entity is worldspawn, and mistakes of the text itself
    /// ([`Entities::diagnostics`]).
    pub fn flaws(&self) -> impl Iterator<Item = Flaw> + '_ {
        self.iter().flat_map(|entity| flaws_of(&self.rules, &entity, 0..entity.pairs().len()))
    }

    /// The flaws of one of these entities: of some of its pairs, and of the whole.
    pub fn flaws_of(&self, entity: &Entity<'_>, pairs: Range<usize>) -> Vec<Flaw> {
        flaws_of(&self.rules, entity, pairs)
    }

    /// What an edit would refuse. Text that was not made by edits, from the map or from [`crate::Draft::set`], may
    /// contain it.
    pub fn unreadable(&self) -> impl Iterator<Item = Error> + '_ {
        let no_world = (!is_world(self.get(0).as_ref())).then(|| not_the_world(&self.rules));
        let refused_flaw = |flaw: Flaw| {
            let error = refused(flaw.message).at(place(flaw.entity)).with_hint(flaw.rule.hint());
            self.rules.refuses(flaw.rule).then_some(error)
        };
        let braces = self.iter().flat_map(|entity| braced(&self.rules, &entity));
        no_world.into_iter().chain(braces).chain(self.flaws().filter_map(refused_flaw))
    }
}

/// Values of an entity that engines take for its closing brace.
fn braced(rules: &EntityRules, entity: &Entity<'_>) -> Vec<Error> {
    let is_brace = |pair: &Pair<'_>| pair.value.first() == Some(&b'}');
    let check = |pair: Pair<'_>| check_written(rules, entity.index(), "value", pair.value).err();
    entity.pairs().filter(is_brace).filter_map(check).collect()
}

/// Whether [`check_size`] can refuse anything.
pub(super) fn limits_entities(rules: &EntityRules) -> bool {
    rules.rules.iter().any(|rule| rules.refuses(rule) && rule.is_of_entities())
}

/// Checks an entity against the limits of the rules; one that was over a limit already may stay so but not grow.
pub(super) fn check_size(rules: &EntityRules, before: Option<&Entity<'_>>, after: &Entity<'_>) -> Result<()> {
    refuse(rules, after.index(), |rule| {
        let (size, most) = rule.measure(after)?;
        let old = before.and_then(|before| rule.measure(before)).map_or(0, |(size, _)| size);
        (size > most && size > old).then(|| rule.of_entity(size, most))
    })
}

/// Whether an entity, the first one of a map, is the world.
pub(super) fn is_world(entity: Option<&Entity<'_>>) -> bool {
    entity.is_some_and(Entity::is_world)
}

pub(super) fn not_the_world(rules: &EntityRules) -> Error {
    refused(format!("the first entity would no longer be worldspawn, which {} require", rules.engines))
        .at(place(0))
        .with_hint("edit the pairs of worldspawn, or put other entities after it")
}

pub(super) fn not_closed(index: usize, what: &str) -> Error {
    refused(format!("the entity has no closing brace, so {what}"))
        .at(place(index))
        .with_hint("the canonical form of the text closes it")
}

pub(super) fn refused(message: String) -> Error {
    Error::new(ErrorKind::Refused, message)
}

pub(super) fn place(index: usize) -> Place {
    Place::default().lump("entities").record(index)
}

/// A token on one line; a long one is shortened.
fn shown(token: &[u8]) -> String {
    let dots = if token.len() > 40 { "..." } else { "" };
    format!("`{}{dots}`", escaped(&token[..token.len().min(40)]))
}

// Mistakes and oddities of an entity text. The text is read in spite of them.

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

    /// The first thousand, entity by entity.
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

    /// Adds those of the next piece of the text, which starts with the entity of this index.
    pub(super) fn append(&mut self, next: Diagnostics, first: usize) {
        self.total += next.total;
        let listed = next.listed.into_iter().take(Self::LISTED - self.listed.len());
        self.listed.extend(listed.map(|one| Diagnostic { entity: one.entity.map(|index| first + index), ..one }));
    }
}

impl<'d> IntoIterator for &'d Diagnostics {
    type Item = &'d Diagnostic;
    type IntoIter = std::slice::Iter<'d, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::ALL;

    #[test]
    fn no_rule_is_about_a_plain_pair() {
        let long = [b"x".repeat(40), b"x".repeat(300), b"x".repeat(1200), b"x".repeat(5000), b"x".repeat(70_000)];
        let odd = ["", "a", "{", "}", "{}", " ", "a ", " a", "a\\b", "a\\", "\\n", "\"", "caf\u{e9}", "wad", "_a"];
        let tokens = || odd.iter().map(|text| text.as_bytes()).chain(long.iter().map(Vec::as_slice));
        let (mut flawed, mut plain) = (0, 0);
        for rules in ALL.iter().map(|dialect| dialect.text) {
            for pair in tokens().flat_map(|key| tokens().map(move |value| Pair { key, value })) {
                let has_flaw = rules.rules.iter().any(|rule| rule.of_pair(pair).is_some());
                assert!(!has_flaw || !Plain::of(&rules).holds(&pair), "{}: {pair:?}", rules.engines);
                flawed += usize::from(has_flaw);
                plain += usize::from(Plain::of(&rules).holds(&pair));
            }
        }
        assert!(flawed > 100 && plain > 100, "{flawed} {plain}");
    }
}
