//! Detail props: `game:dprp`.

use std::ops::Range;

use super::{Lists, NAME, member, names};
use crate::bytes::{Data, Rope};
use crate::content::lens::{Content, Reader};
use crate::error::{Error, ErrorKind, Place, Result};

const LUMP: &str = "game:dprp";
const SPRITE: usize = 32;

/// The detail props of a map: models and sprites that vbsp places on some materials.
///
/// ```
/// let bytes = std::fs::read("tests/maps/source/room_v20.bsp")?;
/// let details = bspkit::Bsp::parse(&bytes)?.detail_props()?;
/// assert_eq!((details.len(), details.sprite_count()), (2, 1));
/// assert_eq!(details.names().next(), Some(&b"models/own/grass.mdl"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DetailProps<'a> {
    bytes: Data<'a>,
    version: u16,
    names: Range<usize>,
    sprites: usize,
    objects: Range<usize>,
    len: usize,
}

impl<'a> Content<'a> for DetailProps<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let (slot, version) = member(from.bsp(), LUMP, "detail props")?;
        DetailProps::parse(from.bytes(slot)?, version)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(Vec::new())
    }
}

impl<'a> DetailProps<'a> {
    /// Reads the lists of a member of this version. Only their counts are decoded.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a version other than 2 and 4, [`ErrorKind::Malformed`] if a list does not fit.
    pub fn parse(bytes: impl Into<Data<'a>>, version: u16) -> Result<Self> {
        let bytes = bytes.into();
        // Version 2 is Bloodlines', some of whose maps have four bytes after the objects.
        let (has_sprites, size) = match version {
            2 => (false, 40),
            4 => (true, 52),
            _ => {
                let message = format!("detail props of version {version} are not known, only versions 2 and 4");
                return Err(Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(LUMP)));
            }
        };
        let mut lists = Lists { bytes: &bytes, lump: LUMP, at: 0 };
        let (names, _) = lists.next("model names", NAME)?;
        let sprites = if has_sprites { lists.next("sprites", SPRITE)?.1 } else { 0 };
        let (objects, len) = lists.next("objects", size)?;
        Ok(DetailProps { bytes, version, names, sprites, objects, len })
    }

    /// The version of the game lump's member.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many sprites objects choose from.
    pub fn sprite_count(&self) -> usize {
        self.sprites
    }

    /// The names of the models, each as far as its first NUL.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        names(&self.bytes[self.names.clone()])
    }

    /// All bytes of an object.
    pub fn record(&self, index: usize) -> Option<&[u8]> {
        let size = self.objects.len().checked_div(self.len)?;
        self.bytes[self.objects.clone()].chunks_exact(size).nth(index)
    }

    /// The bytes after the last object.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.objects.end..]
    }
}
