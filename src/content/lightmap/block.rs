//! Blocks: where the light of a face, or a page of light, is in its lump.

use std::ops::Range;

use crate::dialect::{Averages, LuxelForm};

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
    pub(super) index: usize,
    pub(super) size: [usize; 2],
    pub(super) styles: [u8; 8],
    pub(super) style_count: usize,
    pub(super) planes: usize,
    /// The offset of the luxels, and the size of the block from there on in bytes.
    pub(super) offset: usize,
    pub(super) len: usize,
    pub(super) averages: Averages,
    /// Where the record of the face is in its lump.
    pub(super) face_at: usize,
    /// Whether averages that are stored elsewhere are also before the block.
    pub(super) has_both: bool,
    pub(super) precision_is_single: bool,
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
    /// The index of the set in [`super::Light::sets`].
    pub set: usize,
    /// The index of the block in [`super::LightSet::blocks`].
    pub block: usize,
    /// The index in [`Block::styles`], not the style's number.
    pub style: usize,
    /// 0 for the light itself; 1 to 3 for the three directions of a bumped face.
    pub plane: usize,
}

/// Where an average is.
#[derive(Clone, Copy)]
pub(super) struct AveragePlace {
    pub(super) is_in_face: bool,
    pub(super) at: usize,
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

    /// The numbers of its styles.
    pub fn styles(&self) -> &[u8] {
        &self.styles[..self.style_count]
    }

    /// How many images each style has: 4 where the face is bumped, else 1.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// The bytes of the block in the lump: its luxels and the bytes that follow them, without averages.
    pub fn bytes(&self) -> Range<usize> {
        self.offset..self.offset + self.len
    }

    /// Whether its size was computed in single precision, since with double precision it would overlap the next block.
    pub fn is_in_single_precision(&self) -> bool {
        self.precision_is_single
    }

    /// The bytes of the block in the lump, with the averages before it.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.offset - self.before()..self.offset + self.len
    }

    /// How many bytes before the block are averages.
    pub(super) fn before(&self) -> usize {
        if self.averages == Averages::BeforeLight || self.has_both { 4 * self.style_count } else { 0 }
    }

    /// Where an image's luxels are.
    pub(super) fn range(&self, image: Image, form: LuxelForm) -> Option<Range<usize>> {
        if image.style >= self.style_count || image.plane >= self.planes {
            return None;
        }
        let len = self.luxels() * form.bytes();
        let start = self.offset + (image.style * self.planes + image.plane) * len;
        Some(start..start + len)
    }

    /// Where the average of a style is.
    pub(super) fn averages(&self, style: usize) -> impl Iterator<Item = AveragePlace> + use<> {
        let in_face = match self.averages {
            Averages::InFace(at) => Some(AveragePlace { is_in_face: true, at: self.face_at + at + 4 * style }),
            _ => None,
        };
        let before = self.offset.checked_sub(4 * (style + 1)).filter(|_| self.before() > 0);
        in_face.into_iter().chain(before.map(|at| AveragePlace { is_in_face: false, at }))
    }
}
