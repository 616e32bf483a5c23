//! Values with the values of other keys in them.

use crate::bytes::unescape;
use crate::content::entities::Key;

/// A value with holes for other values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(Vec<u8>),
    /// The value of another key.
    Hole(Key),
    /// A group of the match of an expression; 0 is the whole match.
    Group(usize),
}

/// Gives the value of another key.
pub(super) type Values<'v> = &'v dyn Fn(&Key) -> Option<&'v [u8]>;
/// Gives a group of a match.
pub(super) type Groups<'g> = &'g dyn Fn(usize) -> &'g [u8];

impl Template {
    pub(super) fn new(pieces: Vec<Piece>) -> Self {
        Template(pieces)
    }

    /// The bytes as they are.
    pub(super) fn literal(bytes: Vec<u8>) -> Self {
        Template(vec![Piece::Text(bytes)])
    }

    /// The text, if nothing in it depends on an entity.
    pub(super) fn constant(&self) -> Option<Vec<u8>> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Hole(_) | Piece::Group(_) => None,
        };
        self.0.iter().map(text).collect::<Option<Vec<_>>>().map(|texts| texts.concat())
    }

    /// Adds the text, up to this many bytes; the error is the reason why it cannot.
    pub(super) fn fill(
        &self,
        values: Values<'_>,
        groups: Groups<'_>,
        to: &mut Vec<u8>,
        most: usize,
    ) -> Result<(), Unfilled> {
        for piece in &self.0 {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Hole(key) => values(key).ok_or_else(|| Unfilled::Missing(key.to_string()))?,
                Piece::Group(group) => groups(*group),
            };
            if to.len() + text.len() > most {
                return Err(Unfilled::TooLong);
            }
            to.extend_from_slice(text);
        }
        Ok(())
    }
}

/// Why a template has no text for an entity.
#[derive(Debug)]
pub(super) enum Unfilled {
    /// The entity does not have this key.
    Missing(String),
    TooLong,
}

/// The bytes of a text between holes: escapes, and those of braces and slashes.
pub(super) fn unescaped(text: &str) -> Vec<u8> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some(brace @ ('{' | '}' | '/')) => plain.push(brace),
                Some(other) => plain.extend(['\\', other]),
                None => plain.push('\\'),
            },
            (letter, _) => plain.push(letter),
        }
    }
    unescape(&plain)
}
