//! Entities whose text is given byte for byte.

use std::sync::Arc;

use super::parse::Source;
use super::style::Style;
use super::{Body, Entities, EntityMut, Own, rule};
use crate::bytes::escaped;
use crate::dialect::EntityRules;
use crate::{Data, Error, ErrorKind, Result};

impl Entities<'_> {
    /// Adds an entity after the last one, from its text: braces, spacing and comments as they are. Its pairs are not
    /// checked; [`Entities::unreadable`] finds what no engine could read back.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the text is not one entity; as [`Entities::add`] for its place.
    pub fn add_text(&mut self, text: impl AsRef<[u8]>) -> Result<usize> {
        self.add_exact(self.ends(), text.as_ref())
    }

    /// Adds an entity after the last one. The ends of the order are given, which need not be those of the list.
    pub(super) fn add_exact(&mut self, ends: Option<(usize, usize)>, text: &[u8]) -> Result<usize> {
        let index = self.len();
        let body = Body::Own(Arc::new(Own::read(text, &self.rules)?));
        self.check_room(ends.map(|(_, last)| last), 1)?;
        self.add_body(ends, body)?;
        Ok(index)
    }
}

impl Entities<'_> {
    /// The text of an entity with these pairs, in the style of the entity of this index.
    ///
    /// # Errors
    /// As [`EntityMut::push`].
    pub(crate) fn text_like(&self, index: usize, pairs: &[(&[u8], &[u8])]) -> Result<Vec<u8>> {
        pairs.iter().try_for_each(|(key, value)| rule::check_pair(&self.rules, index, key, value))?;
        let style = self.get(index).as_ref().and_then(Style::of).unwrap_or_else(|| self.style_near(index));
        Ok(style.entity(pairs))
    }
}

impl EntityMut<'_, '_> {
    /// Gives the entity another text, from brace to brace: spacing and comments as they are. Its pairs are not checked;
    /// [`Entities::unreadable`] finds what no engine could read back.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the text is not one entity, besides those of all edits.
    pub fn set_text(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        let text = text.as_ref();
        if self.entity().bytes() == text {
            return Ok(());
        }
        let mut own = Own::read(text, &self.entities.rules)?;
        own.origin = match &self.entities.nodes[self.index].body {
            Body::Source(origin) => Some(*origin),
            Body::Own(old) => old.origin,
        };
        let source = &self.entities.source;
        let is_old = |origin: &u32| {
            let body = source.entities[crate::bytes::index(*origin)].body;
            source.data[body.range()] == *text
        };
        let body = match own.origin.filter(is_old) {
            Some(origin) => Body::Source(origin),
            None => Body::Own(Arc::new(own)),
        };
        self.put(body)
    }
}

impl Own {
    /// Reads an entity from its text.
    fn read(text: &[u8], rules: &EntityRules) -> Result<Own> {
        let source = Source::parse(Data::from(text), rules, |_| false)?;
        match &source.entities[..] {
            [placed] if placed.body.range() == (0..text.len()) && placed.inside.end() < text.len() => {
                let (pairs, inside) = (source.pairs(0).to_vec(), placed.inside.range());
                Ok(Own { origin: None, text: text.to_vec(), pairs, inside })
            }
            _ => {
                let shown = escaped(&text[..text.len().min(40)]);
                let message = format!("the text `{shown}` is not one entity from brace to brace");
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }
}
