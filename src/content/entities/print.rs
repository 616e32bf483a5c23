//! Prints an entity text: the original with the edits in it, or the compilers' form.

use std::sync::Arc;

use super::parse::Source;
use super::style::Style;
use super::{Body, DiagnosticKind, Diagnostics, Entities, Node, rule};
use crate::bytes::index;
use crate::{Data, Result};

impl Entities<'_> {
    /// The lump's bytes: those that were read, with the edits.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.source.data.len());
        self.chunks().for_each(|chunk| bytes.extend_from_slice(chunk));
        bytes
    }

    /// Whether [`Entities::to_bytes`] differs from the bytes that were read.
    pub fn is_edited(&self) -> bool {
        let mut rest = &self.source.data[..];
        let same = self.chunks().all(|chunk| match rest.strip_prefix(chunk) {
            Some(remaining) => {
                rest = remaining;
                true
            }
            None => false,
        });
        !same || !rest.is_empty()
    }

    /// The lump's bytes in the form that compilers write: an entity is a line `{`, a line `"key" "value"` for each
    /// pair, and a line `}`. NULs and other bytes after the text stay as they are.
    ///
    /// The text of a compiler is already in this form, byte for byte. [`Entities::lost_in_canonical`] lists what this
    /// form drops.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) with the place if the dialect's engines would read the
    /// canonical form in another way. For example, a word with a quote in it cannot be between quotes.
    ///
    /// ```
    /// use bspkit::content::entities::Entities;
    /// use bspkit::dialect::EntityRules;
    ///
    /// let entities = Entities::parse("{ classname \"light\" }", EntityRules::QUAKE2)?;
    /// assert_eq!(entities.canonical()?, b"{\n\"classname\" \"light\"\n}\n");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn canonical(&self) -> Result<Vec<u8>> {
        let style = Style::canonical();
        let mut bytes = Vec::with_capacity(self.source.data.len());
        for entity in self.iter() {
            bytes.extend_from_slice(b"{\n");
            for pair in entity.pairs() {
                style.pair(pair.key, pair.value, &mut bytes);
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(b"}\n");
        }
        bytes.extend_from_slice(self.tail());
        let again = Entities::parse(&bytes[..], self.rules)?;
        let is_same = |index: usize| match (self.get(index), again.get(index)) {
            (Some(old), Some(new)) => old.pairs().eq(new.pairs()),
            _ => false,
        };
        match (0..self.len().max(again.len())).find(|&index| !is_same(index)) {
            Some(index) => {
                let message =
                    format!("{} would read the canonical form of this entity in another way", self.rules.engines);
                Err(rule::refused(message)
                    .at(rule::place(index))
                    .with_hint("set the values that have a quote in them first"))
            }
            None => Ok(bytes),
        }
    }

    /// Lists what [`Entities::canonical`] drops: comments, tokens outside entities and keys without a value. The spans
    /// refer to [`Entities::to_bytes`].
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the edited text exceeds the limits of
    /// [`Entities::parse`].
    pub fn lost_in_canonical(&self) -> Result<Diagnostics> {
        let text = Data::from(self.to_bytes());
        Ok(Source::parse(text, &self.rules, DiagnosticKind::is_lost_in_canonical)?.diagnostics)
    }

    fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let nodes = self.nodes.iter().enumerate().flat_map(|(index, node)| {
            let (lead, trail) = self.around(node);
            [lead, self.view(index).bytes(), trail]
        });
        nodes.chain([self.end_bytes(), self.tail()])
    }

    /// The bytes before an entity, and the rest of its line.
    pub(super) fn around<'e>(&'e self, node: &'e Node) -> (&'e [u8], &'e [u8]) {
        let origin = match &node.body {
            Body::Source(origin) => Some(*origin),
            Body::Own(own) => own.origin,
        };
        match (&node.around, origin) {
            (Some(around), _) => (&around.lead, &around.trail),
            (None, Some(origin)) => (self.source.lead(index(origin)), self.source.trail(index(origin))),
            (None, None) => (b"", b""),
        }
    }

    /// The bytes after the last entity's line.
    pub(super) fn end_bytes(&self) -> &[u8] {
        self.end.as_ref().map_or_else(|| self.source.end(), Arc::as_ref)
    }

    /// The NUL that ends the text, and what follows.
    fn tail(&self) -> &[u8] {
        &self.source.data[self.source.text_len..]
    }
}
