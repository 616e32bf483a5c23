//! Entity text: read it, edit it, print it with every other byte as it was.
//!
//! Texts are bytes: all 34 maps measured that go beyond ASCII are in something other than UTF-8. Every text opens; its
//! mistakes are listed as [`Diagnostics`]. An edit that the dialect's engines could not read back is refused.
//!
//! ```
//! use bspkit::content::entities::Entities;
//! use bspkit::dialect::EntityRules;
//!
//! let text = "{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"light\"\n\"light\" \"300\"\n}\n\0";
//! let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE3)?;
//! entities.first_class("light")?.set("light", "200")?;
//! assert_eq!(entities.to_bytes(), text.replace("300", "200").as_bytes());
//! # Ok::<(), bspkit::Error>(())
//! ```

mod arrange;
mod arrangement;
mod edit;
mod key;
mod loose;
mod parse;
mod print;
mod rule;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::bytes::{self, short};
use crate::content::lens::{Content, Reader};
use crate::content::select::Selector;
use crate::dialect::{Dialect, EntityForm, EntityReference, EntityRules, Role, TextSyntax};
use crate::links::star;
use crate::{Data, Error, ErrorKind, Result, Rope, near};
pub(crate) use arrange::Ids;
pub use arrangement::{Arrangement, Beside};
pub use edit::{EntityMut, Output, OutputField};
pub use key::Key;
pub use loose::LooseModel;
use parse::{PairSpan, Source, Span};
pub use rule::{Diagnostic, DiagnosticKind, Diagnostics, Flaw};

/// The entities of a map, in the order of its text.
///
/// Cloning shares the text and all edits; it copies 24 bytes per entity.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
///
/// let entities = Entities::parse("{\n\"classname\" \"worldspawn\"\n}\n\0", EntityRules::QUAKE2)?;
/// assert_eq!(entities.len(), 1);
/// assert_eq!(entities.get(0).unwrap().class(), Some(&b"worldspawn"[..]));
/// assert!(!entities.is_edited());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Entities<'a> {
    source: Arc<Source<'a>>,
    rules: EntityRules,
    nodes: Vec<Node>,
    /// The bytes after the last entity's line, if they differ from the source.
    end: Option<Arc<[u8]>>,
}

/// An entity and the bytes around it.
#[derive(Clone, Debug)]
struct Node {
    body: Body,
    /// `None`: the bytes around it in the source.
    around: Option<Arc<Around>>,
}

#[derive(Clone, Debug)]
enum Body {
    /// As in the source, by the index there.
    Source(u32),
    Own(Arc<Own>),
}

/// The text of an entity that was edited or is new.
#[derive(Debug)]
struct Own {
    /// The index in the source.
    origin: Option<u32>,
    text: Vec<u8>,
    pairs: Vec<PairSpan>,
    /// The range between the braces.
    inside: Range<usize>,
}

/// The bytes before an entity, and the rest of its line.
#[derive(Clone, Debug, Default)]
struct Around {
    lead: Vec<u8>,
    trail: Vec<u8>,
}

iterator! {
    /// Entities in the order of the text: [`Entities::iter`].
    Iter: Entities => Entity<'l>
}

impl<'a> Content<'a> for Entities<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let slot = from.role(Role::Entities)?;
        if from.new_bytes(slot)?.is_none() {
            from.bsp().check_entity_compression(slot)?;
        }
        Entities::parse(from.own(slot)?, from.bsp().entity_rules())
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        if !self.is_edited() {
            return Ok(vec![None]);
        }
        // Without an old text there is no end of it to keep.
        let is_first = self.source.data.is_empty() && !self.is_empty();
        let text = if is_first { ended(self.to_bytes(), None) } else { self.to_bytes() };
        self.check_readable(&text)?;
        Ok(vec![Some(Rope::from(text))])
    }
}

/// A text that comes from outside of a map, as a map has it: without a NUL at its end it gets as many as the old text
/// has there, and one if the old text cannot be read. Engines read on until a NUL.
///
/// ```
/// use bspkit::content::entities::ended;
/// assert_eq!(ended(b"{}".to_vec(), Some(b"{ }\0\0")), b"{}\0\0");
/// assert_eq!(ended(b"{}\0".to_vec(), Some(b"{ }")), b"{}\0");
/// ```
pub fn ended(mut text: Vec<u8>, old: Option<&[u8]>) -> Vec<u8> {
    if !text.ends_with(b"\0") {
        let zeros = old.map(|old| old.iter().rev().take_while(|byte| **byte == 0).count());
        text.resize(text.len() + zeros.unwrap_or(1), 0);
    }
    text
}

impl<'a> Entities<'a> {
    /// What is saved can be read again: single edits look at their entity alone.
    fn check_readable(&self, text: &[u8]) -> Result<()> {
        let pairs: usize = self.iter().map(|entity| entity.pairs.len()).sum();
        parse::check_limits(memchr::memchr(0, text).unwrap_or(text.len()), self.len(), pairs)
    }

    /// Reads an entity lump. The text ends at the first NUL; what follows is kept.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a text of more than 16 MiB, 131,072 entities or 1,048,576 pairs. Nothing else is an
    /// error.
    pub fn parse(content: impl Into<Data<'a>>, rules: EntityRules) -> Result<Self> {
        let source = Source::parse(content.into(), &rules, DiagnosticKind::is_problem)?;
        Ok(Entities::of(Arc::new(source), rules))
    }

    /// The first entity, and perhaps others: what comes after it is not read.
    ///
    /// # Errors
    /// As [`Entities::parse`], of what is read.
    pub(crate) fn parse_first(content: Data<'a>, rules: EntityRules) -> Result<Self> {
        const START: usize = 4096;
        let mut len = START;
        loop {
            let some = Entities::parse(content.slice(0..len.min(content.len())), rules)?;
            // What is before the second one cannot be read in another way.
            if some.len() > 1 || len >= content.len() {
                return Ok(some);
            }
            len = len.saturating_mul(4);
        }
    }

    fn of(source: Arc<Source<'a>>, rules: EntityRules) -> Self {
        // Fewer than MAX_ENTITIES.
        let nodes = (0..short(source.entities.len())).map(|index| Node { body: Body::Source(index), around: None });
        Entities { nodes: nodes.collect(), source, rules, end: None }
    }

    /// How many entities there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no entity.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All entities.
    pub fn iter(&self) -> Iter<'_, 'a> {
        self.into_iter()
    }

    /// The entity of this index.
    pub fn get(&self, index: usize) -> Option<Entity<'_>> {
        (index < self.len()).then(|| self.view(index))
    }

    /// After this call an edit is refused only if no engine of the dialect could read it back. By default it is refused
    /// if any known engine could not.
    pub fn for_any_engine(&mut self) {
        self.rules = self.rules.for_any_engine();
    }

    /// Mistakes and oddities of the text as it was read; edits do not change the list.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.source.diagnostics
    }

    /// How the dialect's engines read entity text.
    pub fn rules(&self) -> &EntityRules {
        &self.rules
    }

    /// The indices of all entities that a selector matches, as `bspkit ent list` takes it.
    ///
    /// ```
    /// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
    /// let entities = draft.entities()?;
    /// for index in entities.select("light:not([target]), info_player_*")? {
    ///     entities.get_mut(index)?.set("spawnflags", "1")?;
    /// }
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Selector::parse`].
    pub fn select(&self, selector: &str) -> Result<Vec<usize>> {
        Ok(self.matching(&Selector::parse(selector)?))
    }

    /// The indices of all entities that a selector matches: [`Entities::select`] with a selector that was read before.
    pub fn matching(&self, selector: &Selector) -> Vec<usize> {
        self.iter().filter(|entity| selector.matches(entity)).map(|entity| entity.index()).collect()
    }

    /// The first entity of a class, to edit it. Case does not matter.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has none.
    pub fn first_class(&mut self, class: impl AsRef<[u8]>) -> Result<EntityMut<'_, 'a>> {
        let class = class.as_ref();
        let found = self.iter().position(|entity| entity.class().is_some_and(|own| own.eq_ignore_ascii_case(class)));
        match found {
            Some(index) => Ok(EntityMut::new(self, index)),
            None => {
                let message = format!("no entity has the class `{}`", crate::bytes::escaped(class));
                let classes: Vec<_> = self.iter().filter_map(|entity| entity.class()).collect();
                Err(near::or_none(Error::new(ErrorKind::NotFound, message), class, classes))
            }
        }
    }

    /// Edits one entity after the other; stops at the first error.
    ///
    /// ```
    /// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
    /// draft.entities()?.for_each_mut(|entity| match entity.class() {
    ///     Some(b"worldspawn") => entity.set("message", "The Place"),
    ///     _ => Ok(()),
    /// })?;
    /// assert_eq!(draft.changes()?.len(), 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `edit`; what was edited before stays edited.
    pub fn for_each_mut(&mut self, mut edit: impl FnMut(&mut EntityMut<'_, 'a>) -> Result<()>) -> Result<()> {
        (0..self.len()).try_for_each(|index| edit(&mut EntityMut::new(self, index)))
    }

    /// The entity of this index, to edit it.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer entities.
    pub fn get_mut(&mut self, index: usize) -> Result<EntityMut<'_, 'a>> {
        self.check_index(index)?;
        Ok(EntityMut::new(self, index))
    }

    /// For each value of a key, the entities that have it in the order of the text; for example the entities of each
    /// `targetname`. The case of the key does not matter; the case of the value does.
    pub fn index_by(&self, key: impl AsRef<[u8]>) -> BTreeMap<Vec<u8>, Vec<usize>> {
        let key = key.as_ref();
        let mut map = BTreeMap::<Vec<u8>, Vec<usize>>::new();
        for entity in self.iter() {
            for value in entity.all(key) {
                match map.get_mut(value) {
                    Some(indices) if indices.last() == Some(&entity.index()) => {}
                    Some(indices) => indices.push(entity.index()),
                    None => {
                        map.insert(value.to_vec(), vec![entity.index()]);
                    }
                }
            }
        }
        map
    }

    /// Whether it was read from these bytes, and not from others that a draft had for them.
    pub fn is_read_from(&self, bytes: &[u8]) -> bool {
        std::ptr::eq(&*self.source.data, bytes) || *self.source.data == *bytes
    }

    /// The entities as they were read, without the edits. With [`Entities::origin`] it says what an edit did.
    ///
    /// ```
    /// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
    /// let entities = draft.entities()?;
    /// let count = entities.len();
    /// entities.remove(1)?;
    /// assert_eq!((entities.origin(1), entities.original().len()), (Some(2), count));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn original(&self) -> Self {
        Entities::of(Arc::clone(&self.source), self.rules)
    }

    /// The index that an entity had in the text that was read; `None` for a new one.
    pub fn origin(&self, index: usize) -> Option<usize> {
        let origin = match &self.nodes.get(index)?.body {
            Body::Source(origin) => Some(*origin),
            Body::Own(own) => own.origin,
        };
        origin.map(bytes::index)
    }

    fn check_index(&self, index: usize) -> Result<()> {
        if index < self.len() {
            return Ok(());
        }
        let message = match self.len() {
            0 => format!("no entity {index}: the map has none"),
            len => format!("no entity {index}: the last one is {}", len - 1),
        };
        Err(Error::new(ErrorKind::NotFound, message))
    }

    fn view(&self, index: usize) -> Entity<'_> {
        self.view_of(index, &self.nodes[index].body)
    }

    fn view_of<'e>(&'e self, index: usize, body: &'e Body) -> Entity<'e> {
        let (bytes, pairs, origin, own) = match body {
            Body::Source(origin) => {
                (&self.source.data[..], self.source.pairs(bytes::index(*origin)), Some(*origin), None)
            }
            Body::Own(own) => (&own.text[..], &own.pairs[..], own.origin, Some(own)),
        };
        let placed = origin.map(|origin| &self.source.entities[bytes::index(origin)]);
        let span = placed.map(|placed| placed.body.range());
        let (range, inside) = match (own, placed) {
            (Some(own), _) => (0..own.text.len(), own.inside.clone()),
            (None, Some(placed)) => (placed.body.range(), placed.inside.range()),
            (None, None) => (0..0, 0..0),
        };
        Entity { index, bytes, range, inside, syntax: &self.rules.syntax, pairs, span, is_own: own.is_some() }
    }
}

// An entity as it is read.

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
    index: usize,
    /// The bytes to which the spans refer: the whole source or the entity's own text.
    bytes: &'e [u8],
    range: Range<usize>,
    /// The range between the braces.
    inside: Range<usize>,
    syntax: &'e TextSyntax,
    pairs: &'e [PairSpan],
    span: Option<Range<usize>>,
    /// Whether it has a text of its own instead of the source's.
    is_own: bool,
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
        self.all(key).next()
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
        let (bytes, syntax, pairs) = (self.bytes, self.syntax, self.pairs);
        // Values of other keys are not looked at.
        let its = move |pair: &&PairSpan| pair.has_key(bytes, syntax, key.as_ref());
        pairs.iter().filter(its).map(move |pair| unquoted(&bytes[pair.value.range()], syntax).0)
    }

    /// Whether it is the world, if it is the first one of a map.
    pub fn is_world(&self) -> bool {
        self.class().is_some_and(|class| class.eq_ignore_ascii_case(rule::WORLD))
    }

    /// The values that refer to records, by the references that a dialect has in entities.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
    /// let entities = map.entities()?;
    /// let values = entities.iter().flat_map(|entity| entity.record_values(map.dialect()));
    /// assert!(values.into_iter().all(|value| value.reference.lump == "MODELS"));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn record_values(&self, dialect: &Dialect) -> Vec<RecordValue> {
        let mut found = Vec::new();
        for reference in dialect.entity_references {
            let number = |value: &[u8]| match reference.form {
                EntityForm::Starred => star(value),
                EntityForm::Index | EntityForm::Field(_) => {
                    std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok())
                }
            };
            for pair in self.numbers_of(reference.key.as_bytes()) {
                if !reference.class.is_empty() && self.class() != Some(reference.class.as_bytes()) {
                    break;
                }
                let number = self.pairs_in(pair..pair + 1).next().and_then(|pair| number(pair.value));
                found.extend(number.map(|number| RecordValue { reference, entity: self.index, pair, number }));
            }
        }
        found
    }

    /// The numbers of the pairs of a key.
    fn numbers_of(&self, key: &[u8]) -> impl Iterator<Item = usize> {
        let is_its = |pair: &PairSpan| pair.has_key(self.bytes, self.syntax, key);
        self.pairs.iter().enumerate().filter(move |(_, pair)| is_its(pair)).map(|(number, _)| number)
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = Pair<'e>> + ExactSizeIterator + Clone + use<'e> {
        self.pairs_in(0..self.pairs.len())
    }

    /// Some of the pairs; none if there are not as many.
    pub fn pairs_in(
        &self,
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Pair<'e>> + ExactSizeIterator + Clone + use<'e> {
        let (bytes, syntax) = (self.bytes, self.syntax);
        let inner = move |span: Span| unquoted(&bytes[span.range()], syntax).0;
        let pairs = self.pairs.get(range).unwrap_or_default();
        pairs.iter().map(move |pair| Pair { key: inner(pair.key), value: inner(pair.value) })
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

    /// Whether the entity has a closing brace, and not one in a string that goes to the end of the text.
    pub fn is_closed(&self) -> bool {
        let close = &self.bytes[self.inside.end..self.range.end];
        !close.is_empty() && unquoted(close, self.syntax).1
    }
}

/// A value of an entity that refers to a record: [`Entity::record_values`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordValue {
    /// Which values of which key refer to the records of which lump.
    pub reference: &'static EntityReference,
    /// The index of the entity.
    pub entity: usize,
    /// Its place among all pairs of the entity.
    pub pair: usize,
    /// The number in it.
    pub number: i64,
}

/// A finite number.
fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

impl PairSpan {
    /// Whether it is a pair of this key, in any case. Most others have another length, with up to two quotes.
    #[inline]
    fn has_key(&self, bytes: &[u8], syntax: &TextSyntax, key: &[u8]) -> bool {
        let quotes = self.key.range().len().wrapping_sub(key.len());
        quotes <= 2 && unquoted(&bytes[self.key.range()], syntax).0.eq_ignore_ascii_case(key)
    }
}

/// A token without its quotes, and whether it has a closing one.
#[inline]
fn unquoted<'t>(token: &'t [u8], syntax: &TextSyntax) -> (&'t [u8], bool) {
    match token {
        // Only an escape can make the last quote a letter.
        [b'"', inner @ .., b'"'] if syntax.escaped.is_empty() || syntax.quote_in(inner).is_none() => (inner, true),
        [b'"', inner @ ..] => (inner, false),
        word => (word, true),
    }
}
