//! Light of faces: luxels to be read and set, face by face or page by page, for every family.
//!
//! [`Light`] is a lens: it keeps the bytes of the lumps and knows where in them the luxels of each face are. Setting a
//! luxel changes its bytes and, if the face stores the average of its light, the average; nothing else. Bytes after a
//! face's luxels, between blocks and after the last block stay.

mod average;
mod luxel;
mod placed;
mod read;
mod sizes;

use std::fmt;
use std::ops::Range;

use super::lens::{Content, Reader};
use crate::bsp::Bsp;
use crate::bytes::{Data, Rope};
use crate::dialect::bspx::LIGHTING_E5BGR9;
use crate::dialect::{Averages, LuxelForm};
use crate::error::{Error, ErrorKind, Result};
use crate::file::SlotId;
use crate::record::Held;
pub use luxel::{Adjustment, LightStat, Luxel, StyleStat};
pub use read::SurfaceLight;
pub(super) use read::record_of;
pub use sizes::{Extents, Precision, USUAL_SHIFT, extents};
pub(super) use sizes::{Geometry, Room};

/// The light of a map.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit::content::lightmap::{Image, Luxel};
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// let light = draft.light()?;
/// let image = Image { set: 0, block: 3, style: 0, plane: 0 };
/// light.set(image, [1, 0], Luxel::Rgb([255, 0, 0]))?;
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
    faces_name: &'static str,
    placed_by: &'static str,
    /// The indices in [`Light::lumps`] of the lump with the luxels and of the faces with averages.
    lump: usize,
    faces: Option<usize>,
    form: LuxelForm,
    copy_of: Option<usize>,
    is_pages: bool,
    blocks: Vec<Block>,
    unlit: usize,
    claims: Vec<(usize, Range<usize>)>,
    faults: Vec<LightFault>,
}

impl LightSet {
    /// Its name if a map may have several sets: `ldr`, `hdr`, `decoupled`, `scaled`, `rgb`, `decoupled_rgb`,
    /// `scaled_rgb`; empty for the others.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The name of its lump.
    pub fn lump(&self) -> &'static str {
        self.lump_name
    }

    /// The name of the lump with the faces that it lights, or with the surfaces of pages.
    pub fn faces(&self) -> &'static str {
        self.faces_name
    }

    /// The name of the lump whose records say where the light of each face is: that of the faces, or one that runs
    /// parallel to it.
    pub fn placed_by(&self) -> &'static str {
        self.placed_by
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

    /// The bytes of the lump that faces without a block name, with the faces: those of the sky, of textures without
    /// light, and of luxels whose size is not known, which reach to what follows. Some engines read them. The offset
    /// may also have no meaning: some compilers leave any number there.
    ///
    /// ```
    /// let light = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.light()?;
    /// let (face, bytes) = &light.sets()[0].claims()[0];
    /// assert!(light.sets()[0].block_of(*face).is_none() && !bytes.is_empty());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn claims(&self) -> &[(usize, Range<usize>)] {
        &self.claims
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

    /// A luxel by its column and row.
    pub fn luxel(&self, image: Image, [x, y]: [usize; 2]) -> Option<Luxel> {
        let (set, [wide, high]) = (self.sets.get(image.set)?, self.block(image)?.size());
        let at = (x < wide && y < high).then(|| (y * wide + x) * set.form.bytes())?;
        Some(Luxel::read(set.form, self.bytes(image)?.get(at..at + set.form.bytes())?))
    }

    /// The bytes of an image's average, where its face keeps one.
    pub fn average(&self, image: Image) -> Option<Luxel> {
        let set = self.sets.get(image.set)?;
        let block = set.blocks.get(image.block)?;
        if image.style >= block.styles().len() || image.plane >= block.planes() {
            return None;
        }
        let place = block.averages(image.style).next()?;
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

impl Bsp<'_> {
    /// The lump with light in a form that [`Light`] does not have, if the map has one: the light of the others again,
    /// or the only one.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q1/own_rooms_bspx.bsp")?;
    /// assert_eq!(map.unread_light(), None);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn unread_light(&self) -> Option<&'static str> {
        let name = LIGHTING_E5BGR9.lump();
        self.slot(name).is_ok_and(|slot| !slot.stored.is_empty()).then_some(name)
    }
}

// Blocks: where the light of a face, or a page of light, is in its lump.

/// The most styles of a face, as engines read them (`MAXCPULIGHTMAPS` of FTE).
pub(super) const MOST_STYLES: usize = 16;

/// The light of one face or of one page: an image for each style and bump plane, one after the other.
///
/// ```
/// let light = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.light()?;
/// let block = &light.sets()[0].blocks()[0];
/// assert_eq!((block.styles(), block.planes()), (&[32, 2, 0][..], 1));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Block {
    index: usize,
    size: [usize; 2],
    shift: u8,
    styles: [u16; MOST_STYLES],
    style_count: usize,
    has_several_styles: bool,
    planes: usize,
    /// The offset of the luxels, and the size of the block from there on in bytes.
    offset: usize,
    len: usize,
    averages: Averages,
    /// Where the record of the face is in its lump.
    face_at: usize,
    /// Whether averages that are stored elsewhere are also before the block.
    has_both: bool,
    precision_is_single: bool,
    /// Whether its luxels are directions and no light.
    is_directions: bool,
}

/// Identifies an image by its set, block, style and plane.
///
/// ```
/// let light = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.light()?;
/// let image = light.images().next().unwrap();
/// assert_eq!(light.bytes(image).unwrap().len(), light.block(image).unwrap().luxels() * 3);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs)]
pub struct Image {
    /// The index of the set in [`Light::sets`].
    pub set: usize,
    /// The index of the block in [`LightSet::blocks`].
    pub block: usize,
    /// The index in [`Block::styles`], not the style's number.
    pub style: usize,
    /// 0 for the light itself; 1 to 3 for the three directions of a bumped face.
    pub plane: usize,
}

/// Where an average is.
#[derive(Clone, Copy)]
struct AveragePlace {
    is_in_face: bool,
    at: usize,
}

impl Block {
    /// The face's index, or the page's.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Columns and rows of its images.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// How many luxels an image has.
    pub fn luxels(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// The size of its luxels in texels as a power of two: 4, but where `LMSHIFT` of BSPX says otherwise. It counts
    /// where engines compute the size of the light from the corners of the face ([`extents`]).
    pub fn shift(&self) -> u8 {
        self.shift
    }

    /// The numbers of its styles, at most 16.
    pub fn styles(&self) -> &[u16] {
        &self.styles[..self.style_count]
    }

    /// Whether surfaces name a page with several styles. Their light is side by side on it, and [`Block::styles`] has
    /// the least number.
    pub fn has_several_styles(&self) -> bool {
        self.has_several_styles
    }

    /// How many images each style has: 4 where the face is bumped, else 1.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// The bytes of the block in the lump: its luxels and the bytes that follow them, without averages.
    pub fn bytes(&self) -> Range<usize> {
        self.offset..self.offset + self.len
    }

    /// Whether it is a page of directions to the light ("deluxe map") and not of light: each such page follows
    /// the page of its light, and no surface names it.
    pub fn is_directions(&self) -> bool {
        self.is_directions
    }

    /// Whether its size was computed in single precision, since with double precision it would overlap the next block.
    pub fn is_in_single_precision(&self) -> bool {
        self.precision_is_single
    }

    /// The bytes of the block in the lump, with the averages before it.
    pub fn whole(&self) -> Range<usize> {
        self.offset - self.before()..self.offset + self.len
    }

    /// How many bytes before the block are averages.
    fn before(&self) -> usize {
        if self.averages == Averages::BeforeLight || self.has_both { 4 * self.style_count } else { 0 }
    }

    /// Where an image's luxels are.
    fn range(&self, image: Image, form: LuxelForm) -> Option<Range<usize>> {
        if image.style >= self.style_count || image.plane >= self.planes {
            return None;
        }
        let len = self.luxels() * form.bytes();
        let start = self.offset + (image.style * self.planes + image.plane) * len;
        Some(start..start + len)
    }

    /// Where the average of a style is.
    fn averages(&self, style: usize) -> impl Iterator<Item = AveragePlace> + use<> {
        let in_face = match self.averages {
            Averages::InFace(at) => Some(AveragePlace { is_in_face: true, at: self.face_at + at + 4 * style }),
            _ => None,
        };
        let before = self.offset.checked_sub(4 * (style + 1)).filter(|_| self.before() > 0);
        in_face.into_iter().chain(before.map(|at| AveragePlace { is_in_face: false, at }))
    }
}

// Faults of the light of a face.

/// A face whose light cannot be read.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit::dialect::quake2;
/// let mut draft = Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.update(quake2::FACES, 3, |face| face.light_offset = 1 << 30)?;
/// let map = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
/// let fault = map.light()?.sets()[0].faults()[0];
/// assert!(fault.to_string().starts_with("face 3: its light begins at 1073741824"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightFault {
    /// The face.
    pub face: usize,
    /// What is wrong.
    pub kind: LightFaultKind,
}

/// A fault of the light of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LightFaultKind {
    /// The face's texinfo index is out of range.
    Texinfo(i32),
    /// Its edges do not exist or lead to no corners.
    Edges,
    /// No size can be computed from its corners or its record.
    Size,
    /// It has more styles than engines read; how many.
    Styles(usize),
    /// The faces before it name too many edges, so it was not looked at: faces have edges of their own, and a map whose
    /// faces share thousands was made to take long.
    Shared,
    /// Not all of its light is in the lump.
    Range {
        /// The offset of the light.
        offset: i32,
        /// Columns and rows.
        size: [usize; 2],
        /// How many images it has.
        images: usize,
        /// Bytes of the lump.
        lump: usize,
    },
    /// Its page does not exist.
    Page {
        /// The page's number.
        page: i32,
        /// The number of pages.
        pages: usize,
    },
}

impl fmt::Display for LightFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "face {}: {}", self.face, self.kind)
    }
}

impl fmt::Display for LightFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LightFaultKind::Texinfo(index) => write!(f, "its texinfo {index} does not exist"),
            LightFaultKind::Edges => f.write_str("its edges lead to no corners, so the size of its light is not known"),
            LightFaultKind::Size => f.write_str("the size of its light cannot be computed"),
            LightFaultKind::Styles(count) => {
                write!(f, "its light has {count} styles, and engines read {MOST_STYLES}")
            }
            LightFaultKind::Shared => f.write_str("the faces before it share too many edges, so it was not looked at"),
            LightFaultKind::Range { offset, size: [wide, high], images, lump } => write!(
                f,
                "its light begins at {offset}, {wide} by {high} luxels in {images} images, and the lump has \
                 {lump} bytes"
            ),
            LightFaultKind::Page { page, pages } => {
                write!(f, "its light is on page {page}, and there are {pages} pages")
            }
        }
    }
}

// Setting luxels; the averages follow.

impl Light<'_> {
    /// Changes luxels of an image, each by its column and row, and returns how many changed.
    ///
    /// A luxel keeps its bytes if `change` returns it unchanged. If the face stores the average of a style, and a luxel
    /// of the style differs from what was read, the average changes by as much as the mean of the style's luxels; an
    /// average that was their mean is their mean again. The directions of bumped faces do not count for the mean.
    ///
    /// ```
    /// use bspkit::ErrorKind;
    /// use bspkit::content::lightmap::{Image, Luxel};
    /// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
    /// let image = Image { set: 0, block: 0, style: 0, plane: 0 };
    /// assert!(draft.light()?.update(image, |_, _| Luxel::Rgb([9, 8, 7]))? > 0);
    /// let grey = draft.light()?.update(image, |_, _| Luxel::Grey(9)); // the light of this map has colors
    /// assert_eq!(grey.unwrap_err().kind(), ErrorKind::Argument);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such image. [`ErrorKind::Argument`] if `change` returns a luxel of a form
    /// that differs from [`LightSet::form`]; the luxels before it stay changed.
    pub fn update(&mut self, image: Image, change: impl FnMut([usize; 2], Luxel) -> Luxel) -> Result<usize> {
        let (changed, outcome) = self.put_luxels(image, change)?;
        if changed > 0 && image.plane == 0 {
            self.renew_average(image);
        }
        outcome.map(|()| changed)
    }

    /// Changes luxels of an image without its average. How many changed until all were asked for or one was refused.
    fn put_luxels(
        &mut self,
        image: Image,
        mut change: impl FnMut([usize; 2], Luxel) -> Luxel,
    ) -> Result<(usize, Result<()>)> {
        let found = self.sets.get(image.set).and_then(|set| {
            let block = set.blocks.get(image.block)?;
            Some((set.form, block.size()[0], block.range(image, set.form)?, self.lumps.get_mut(set.lump)?))
        });
        let Some((form, wide, range, lump)) = found else { return Err(self.no_image(image)) };
        let (mut changed, mut column, mut row, mut outcome) = (0, 0, 0, Ok(()));
        for at in range.step_by(form.bytes()) {
            let old = Luxel::read(form, &lump.held.get()[at..at + form.bytes()]);
            let new = change([column, row], old);
            if new.form() != form {
                let message =
                    format!("the luxels of this light are {}, and a new one is {}", form.name(), new.form().name());
                outcome = Err(Error::new(ErrorKind::Argument, message));
                break;
            }
            if new != old {
                let (bytes, len) = new.bytes();
                lump.held.put(at, &bytes[..len]);
                changed += 1;
            }
            column += 1;
            if column == wide {
                (column, row) = (0, row + 1);
            }
        }
        Ok((changed, outcome))
    }

    /// Gives a luxel another value and returns whether it changed.
    ///
    /// # Errors
    /// As [`Light::update`]; [`ErrorKind::NotFound`] if the image has no such column or row.
    pub fn set(&mut self, image: Image, [x, y]: [usize; 2], luxel: Luxel) -> Result<bool> {
        let [wide, high] = self.block(image).ok_or_else(|| self.no_image(image))?.size();
        if x >= wide || y >= high {
            let message = format!("the image has {wide} by {high} luxels, and none at {x}, {y}");
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        Ok(self.update(image, |at, old| if at == [x, y] { luxel } else { old })? > 0)
    }

    #[cold]
    fn no_image(&self, image: Image) -> Error {
        let Image { set, block, style, plane } = image;
        let message = match self.sets.get(set) {
            None => format!("there is no set of light {set}, but {}", self.sets.len()),
            Some(own) => match own.blocks.get(block) {
                None => format!("there is no block of light {block}, but {}", own.blocks.len()),
                Some(own) => format!(
                    "block {block} has {} styles and {} planes, and no style {style} with the plane {plane}",
                    own.styles().len(),
                    own.planes()
                ),
            },
        };
        Error::new(ErrorKind::NotFound, message)
    }
}
