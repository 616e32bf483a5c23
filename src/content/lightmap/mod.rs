//! Light of faces: luxels to be read and set, face by face or page by page, for every family.
//!
//! [`Light`] is a lens: it keeps the bytes of the lumps and knows where in them the luxels of each face are. Setting a
//! luxel changes its bytes and, if the face stores the average of its light, the average; nothing else. Bytes after a
//! face's luxels, between blocks and after the last block stay.

mod adjust;
mod block;
mod copies;
mod edit;
mod extents;
mod fault;
mod luxel;
mod pages;
mod read;
mod sizes;
mod stat;

pub use adjust::Adjustment;
pub use block::{Block, Image};
pub use extents::{Extents, Precision, extents};
pub use fault::{LightFault, LightFaultKind};
pub use luxel::Luxel;
pub use pages::SurfaceLight;
pub(super) use read::record_of;
pub(super) use sizes::{Geometry, Room};
pub use stat::{LightStat, StyleStat};

use std::ops::Range;

use super::lens::{Content, Reader};
use crate::bytes::{Data, Rope};
use crate::dialect::LuxelForm;
use crate::error::Result;
use crate::file::SlotId;
use crate::record::Held;

/// The light of a map.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit::content::lightmap::{Image, Luxel};
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// let light = draft.light()?;
/// let image = Image { set: 0, block: 3, style: 0, plane: 0 };
/// light.update(image, |[x, y], old| if [x, y] == [1, 0] { Luxel::Rgb([255, 0, 0]) } else { old });
///
/// let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
/// assert_eq!(saved.light()?.luxel(image, [1, 0]), Some(Luxel::Rgb([255, 0, 0])));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Light<'a> {
    /// The lumps with light or averages.
    lumps: Vec<LightLump<'a>>,
    sets: Vec<LightSet>,
}

#[derive(Clone, Debug)]
struct LightLump<'a> {
    slot: SlotId,
    held: Held<'a>,
}

/// The light of one lump, to which the faces of another lump point.
///
/// ```
/// let light = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.light()?;
/// let set = &light.sets()[0];
/// assert_eq!((set.name(), set.lump(), set.is_pages()), ("", "LIGHTMAPS", true));
/// assert_eq!(set.blocks()[0].size(), [128, 128]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LightSet {
    name: &'static str,
    lump_name: &'static str,
    /// The lump whose records say where the light is.
    faces_name: &'static str,
    /// The indices in [`Light::lumps`] of the lump with the luxels and of the faces with averages.
    lump: usize,
    faces: Option<usize>,
    form: LuxelForm,
    copy_of: Option<usize>,
    is_pages: bool,
    blocks: Vec<Block>,
    unlit: usize,
    faults: Vec<LightFault>,
}

impl LightSet {
    /// Its name if a map may have several sets: `ldr`, `hdr`, `decoupled`, `rgb`; empty for the others.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The name of its lump.
    pub fn lump(&self) -> &'static str {
        self.lump_name
    }

    /// The name of the lump whose records say where its light is: the faces, or the surfaces of pages.
    pub fn faces(&self) -> &'static str {
        self.faces_name
    }

    /// The form of its luxels.
    pub fn form(&self) -> LuxelForm {
        self.form
    }

    /// The set of which it is a copy, luxel by luxel, maybe in another form; [`Light::carry`] keeps both alike.
    pub fn copy_of(&self) -> Option<usize> {
        self.copy_of
    }

    /// Whether its blocks are pages that surfaces share, and not the light of one face each.
    pub fn is_pages(&self) -> bool {
        self.is_pages
    }

    /// The light of each lit face or of each page, in their order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The index in [`LightSet::blocks`] of the block of a face or a page.
    pub fn block_of(&self, index: usize) -> Option<usize> {
        self.blocks.binary_search_by_key(&index, Block::index).ok()
    }

    /// How many faces are not lit, and correctly so.
    pub fn unlit(&self) -> usize {
        self.unlit
    }

    /// How many faces there are: lit, unlit and faulty ones.
    pub(crate) fn face_count(&self) -> usize {
        self.blocks.len() + self.unlit + self.faults.len()
    }

    /// Faces whose light cannot be read, and why.
    pub fn faults(&self) -> &[LightFault] {
        &self.faults
    }

    /// Every image of every block.
    pub(crate) fn images(&self, set: usize) -> impl Iterator<Item = Image> {
        self.blocks.iter().enumerate().flat_map(move |(index, block)| {
            let planes = block.planes();
            (0..block.styles().len())
                .flat_map(move |style| (0..planes).map(move |plane| Image { set, block: index, style, plane }))
        })
    }
}

impl<'a> Content<'a> for Light<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let mut light = Light { lumps: Vec::new(), sets: Vec::new() };
        read::sets(from, &mut light)?;
        Ok(light)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(self.lumps.iter().map(|lump| lump.held.new_bytes()).collect())
    }
}

impl<'a> Light<'a> {
    /// The sets of light: one for most maps, none for a map that was never lit.
    pub fn sets(&self) -> &[LightSet] {
        &self.sets
    }

    /// Every image of every set.
    pub fn images(&self) -> impl Iterator<Item = Image> {
        self.sets.iter().enumerate().flat_map(|(index, set)| set.images(index))
    }

    /// The block of an image.
    pub fn block(&self, image: Image) -> Option<&Block> {
        self.sets.get(image.set)?.blocks.get(image.block)
    }

    /// The bytes of an image's luxels, row by row.
    pub fn bytes(&self, image: Image) -> Option<&[u8]> {
        let set = self.sets.get(image.set)?;
        let range = set.blocks.get(image.block)?.range(image, set.form)?;
        self.lumps.get(set.lump)?.held.get().get(range)
    }

    /// All bytes of a set's lump.
    pub(crate) fn luxels(&self, set: usize) -> &[u8] {
        self.sets.get(set).and_then(|set| self.lumps.get(set.lump)).map_or(&[], |lump| lump.held.get())
    }

    /// The range of an image's luxels in its lump.
    pub(crate) fn range(&self, image: Image) -> Option<Range<usize>> {
        let set = self.sets.get(image.set)?;
        set.blocks.get(image.block)?.range(image, set.form)
    }

    /// A luxel by its column and row.
    pub fn luxel(&self, image: Image, [x, y]: [usize; 2]) -> Option<Luxel> {
        let (set, [wide, high]) = (self.sets.get(image.set)?, self.block(image)?.size());
        let at = (x < wide && y < high).then(|| (y * wide + x) * set.form.bytes())?;
        Some(Luxel::read(set.form, self.bytes(image)?.get(at..at + set.form.bytes())?))
    }

    /// The bytes of an image's average, where its face keeps one.
    pub fn average(&self, image: Image) -> Option<Luxel> {
        let set = self.sets.get(image.set)?;
        let place = set.blocks.get(image.block)?.averages(image.style).next()?;
        let lump = if place.is_in_face { set.faces? } else { set.lump };
        Some(Luxel::read(set.form, self.lumps.get(lump)?.held.get().get(place.at..)?))
    }

    /// The index of a lump in `lumps`.
    fn hold(&mut self, from: &Reader<'_, 'a>, slot: SlotId, bytes: Data<'a>) -> usize {
        let place = self.lumps.iter().position(|lump| lump.slot == slot);
        place.unwrap_or_else(|| {
            from.claim(slot);
            self.lumps.push(LightLump { slot, held: Held::new(bytes) });
            self.lumps.len() - 1
        })
    }
}
