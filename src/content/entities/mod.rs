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
mod diagnostic;
mod edit;
mod entity;
mod exact;
mod ids;
mod key;
mod order;
mod output;
mod parse;
mod print;
mod rule;
mod splice;
mod style;
mod token;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use arrangement::{Arrangement, Beside};
pub use diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
pub use edit::EntityMut;
pub use entity::{Entity, Pair};
pub use ids::Ids;
pub use key::Key;
pub use output::{Output, OutputField};
pub use rule::Flaw;

use crate::bytes::{self, short};
use crate::content::lens::{Content, Reader};
use crate::content::select::Selector;
use crate::dialect::{EntityRules, Role};
use crate::near;
use crate::{Data, Error, ErrorKind, Result, Rope};
use parse::{PairSpan, Source};

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
        Ok(vec![self.is_edited().then(|| Rope::from(self.to_bytes()))])
    }
}

impl<'a> Entities<'a> {
    /// Reads an entity lump. The text ends at the first NUL; what follows is kept.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a text of more than 16 MiB, 131,072 entities or 1,048,576 pairs. Nothing else is an
    /// error.
    pub fn parse(content: impl Into<Data<'a>>, rules: EntityRules) -> Result<Self> {
        let source = Source::parse(content.into(), &rules, DiagnosticKind::is_problem)?;
        Ok(Entities::of(Arc::new(source), rules))
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

    /// The indices of all entities that a selector matches.
    pub fn select(&self, selector: &Selector) -> Vec<usize> {
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

    /// Whether it was read from these bytes.
    pub(crate) fn is_read_from(&self, bytes: &[u8]) -> bool {
        std::ptr::eq(&*self.source.data, bytes) || *self.source.data == *bytes
    }

    /// The entities as they were read.
    pub(crate) fn original(&self) -> Self {
        Entities::of(Arc::clone(&self.source), self.rules)
    }

    /// The index that an entity had in the text that was read; `None` for a new one.
    pub(crate) fn origin(&self, index: usize) -> Option<usize> {
        let origin = match &self.nodes.get(index)?.body {
            Body::Source(origin) => Some(*origin),
            Body::Own(own) => own.origin,
        };
        origin.map(bytes::index)
    }

    /// Whether nothing of an entity was edited but perhaps its place.
    pub(crate) fn is_as_read(&self, index: usize) -> bool {
        self.nodes.get(index).is_some_and(|node| matches!(node.body, Body::Source(_)))
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
