//! What a renaming does: the new name of each old one.

use std::fmt;
use std::sync::Arc;

use super::super::pattern::{Pattern, capture};
use crate::bytes::escaped;
use crate::error::{Error, ErrorKind, Place, Result};

/// A pattern of old names, and the new name; or any function of names.
///
/// ```
/// use bspkit::content::texture_names::Renaming;
/// let renaming = Renaming::new("e1u1/*", "e1u2/{1}")?;
/// assert_eq!(renaming.apply(b"E1U1/metal"), Some(b"e1u2/metal".to_vec()));
/// assert_eq!(renaming.apply(b"e2u1/metal"), None);
///
/// let lower = Renaming::by(|name| Some(name.to_ascii_lowercase()));
/// assert_eq!(lower.apply(b"E1U1/Metal"), Some(b"e1u1/metal".to_vec()));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone)]
pub struct Renaming(How);

#[derive(Clone)]
enum How {
    Pattern { old: Pattern, new: Vec<Piece> },
    Function(Arc<Function>),
}

type Function = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync;

#[derive(Clone, Debug)]
enum Piece {
    Text(Vec<u8>),
    /// The match of a wildcard, counted from 0.
    Capture(usize),
}

impl fmt::Debug for Renaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            How::Pattern { old, new } => f.debug_struct("Renaming").field("old", old).field("new", new).finish(),
            How::Function(_) => f.write_str("Renaming"),
        }
    }
}

impl Renaming {
    /// Reads a pattern of whole names and a new name, in which `{1}` is the text that the first wildcard matches. All
    /// other braces are letters.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no wildcard with that number.
    pub fn new(old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<Self> {
        let old = Pattern::whole(old);
        let (mut rest, mut text, mut pieces) = (new.as_ref(), Vec::new(), Vec::new());
        while let Some((first, tail)) = rest.split_first() {
            let Some((number, used)) = capture(rest) else {
                text.push(*first);
                rest = tail;
                continue;
            };
            let count = old.wildcards();
            let index = number.checked_sub(1).filter(|index| *index < count).ok_or_else(|| {
                let message = format!("{{{number}}} is not a wildcard of the old name, which has {count}");
                Error::new(ErrorKind::Argument, message).with_hint("*, ** and ? are wildcards, counted from 1")
            })?;
            pieces.extend([Piece::Text(std::mem::take(&mut text)), Piece::Capture(index)]);
            rest = &rest[used..];
        }
        pieces.push(Piece::Text(text));
        Ok(Renaming(How::Pattern { old, new: pieces }))
    }

    /// A function that gives the new name of a texture, or `None` if it keeps its name.
    pub fn by(new_name: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Renaming(How::Function(Arc::new(new_name)))
    }

    /// The new name of a texture; `None` if the pattern does not match.
    pub fn apply(&self, name: &[u8]) -> Option<Vec<u8>> {
        let (old, new) = match &self.0 {
            How::Pattern { old, new } => (old, new),
            How::Function(new_name) => return new_name(name),
        };
        let captures = old.captures(name)?;
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Capture(index) => captures.get(*index).map_or_else(Vec::new, |range| name[range.clone()].to_vec()),
        };
        Some(new.iter().flat_map(piece).collect())
    }

    /// The new name, if it fits this many bytes with the NUL after it.
    pub(super) fn checked(&self, lump: &str, index: usize, name: &[u8], size: usize) -> Result<Option<Vec<u8>>> {
        let Some(new) = self.apply(name) else { return Ok(None) };
        // The present name may stay, even if it breaks the rules.
        if new == name {
            return Ok(Some(new));
        }
        let why = match new.len() {
            0 => "is empty".to_owned(),
            _ if new.contains(&0) => "has a NUL".to_owned(),
            len if len >= size => format!("has {len} bytes; at most {} are possible", size - 1),
            _ => return Ok(Some(new)),
        };
        let message = format!("`{}` cannot be called `{}`: the new name {why}", escaped(name), escaped(&new));
        Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(lump).record(index)))
    }
}
