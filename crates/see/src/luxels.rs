//! Where luxels come from: a set of light in the map, or images beside it.

use bspkit::bytes::index;
use bspkit::content::View;
use bspkit::content::lightmap::{Block, Image, Light, LightSet, USUAL_SHIFT};
use bspkit::dialect::LuxelForm;
use bspkit::{Bsp, Place};

use crate::atlas::MOST_LUXELS;
use crate::builder::{Findings, LIGHT, LIMIT, OUTSIDE};
use crate::images::Images;
use crate::options::Options;

/// The sets by their names, the best one first: engines that know finer light and colors prefer them.
const SETS: [&str; 8] = ["decoupled_rgb", "scaled_rgb", "rgb", "decoupled", "scaled", "", "ldr", "hdr"];

/// Luxels in blocks: of a face, or a page that several surfaces have.
pub(crate) enum Source<'a> {
    /// A set of the map's light.
    Map { light: View<Light<'a>>, set: usize },
    /// Images by the numbers of pages, in ascending order.
    Images(Vec<Page>),
}

pub(crate) struct Page {
    number: usize,
    size: [usize; 2],
    /// Red, green and blue, row by row.
    luxels: Vec<u8>,
}

impl<'a> Source<'a> {
    /// The light of a map that is shown; `None` if it has none.
    pub(crate) fn read(map: &Bsp<'a>, options: &Options<'_>, findings: &mut Findings) -> Option<Self> {
        let light = map.light().map_err(|error| findings.fail(&LIGHT, &error)).ok()?;
        let rank = |set: &LightSet| match options.hdr && set.name() == "hdr" {
            true => 0,
            false => SETS.iter().position(|name| *name == set.name()).map_or(SETS.len(), |at| at + 1),
        };
        // The faults are those of the best set, also where none of its light can be read and another one is shown.
        let lit = light.sets().iter().filter(|set| !set.blocks().is_empty() || !set.faults().is_empty());
        if let Some(set) = lit.min_by_key(|set| rank(set)) {
            for fault in set.faults() {
                findings.add(&LIGHT, Place::default().lump(set.faces()).record(fault.face), fault.kind.to_string());
            }
        }
        let filled = light.sets().iter().enumerate().filter(|(_, set)| !set.blocks().is_empty());
        let Some((number, set)) = filled.min_by_key(|(_, set)| rank(set)) else {
            if let Some(lump) = map.unread_light() {
                let message = "the light is in this lump, which is not read, and is not shown".to_owned();
                findings.add(&LIGHT, Place::default().lump(lump), message);
            }
            return images(map, options, findings).map(Source::Images);
        };
        let is_other = |block: &Block| block.has_several_styles() || block.styles() != [0];
        if set.is_pages() && set.blocks().iter().any(is_other) {
            findings.add(
                &LIMIT,
                Place::default().lump(set.lump()),
                "of pages the light of one style is shown".to_owned(),
            );
        }
        Some(Source::Map { light, set: number })
    }

    /// The set of the map's light.
    pub(crate) fn set(&self) -> Option<&LightSet> {
        match self {
            Source::Map { light, set } => Some(&light.sets()[*set]),
            Source::Images(_) => None,
        }
    }

    /// The number of blocks.
    pub(crate) fn len(&self) -> usize {
        match self {
            Source::Map { .. } => self.set().map_or(0, |set| set.blocks().len()),
            Source::Images(pages) => pages.len(),
        }
    }

    /// What a block is for.
    pub(crate) fn unit(&self) -> &'static str {
        if self.set().is_some_and(|set| !set.is_pages()) { "faces" } else { "pages" }
    }

    /// Where light is, for findings.
    pub(crate) fn spot(&self) -> Place {
        self.set().map_or_else(Place::default, |set| Place::default().lump(set.lump()))
    }

    /// The block of a face, or of the page of a number.
    pub(crate) fn block_of(&self, face: usize) -> Option<usize> {
        match self {
            Source::Map { .. } => self.set()?.block_of(face),
            Source::Images(pages) => pages.binary_search_by_key(&face, |page| page.number).ok(),
        }
    }

    /// The columns and rows of a block.
    pub(crate) fn size(&self, block: usize) -> [usize; 2] {
        match self {
            Source::Map { .. } => self.set().map_or([0; 2], |set| set.blocks()[block].size()),
            Source::Images(pages) => pages[block].size,
        }
    }

    /// The columns and rows of a block if it is a page, or that of a face that is shown; otherwise zeros.
    pub(crate) fn size_for(&self, block: usize, is_face: &dyn Fn(usize) -> bool) -> [usize; 2] {
        let is_shown = |set: &LightSet| set.is_pages() || is_face(set.blocks()[block].index());
        if self.set().is_none_or(is_shown) { self.size(block) } else { [0; 2] }
    }

    /// Whether the extents of the block's face were computed with numbers of single precision.
    pub(crate) fn is_in_single_precision(&self, block: usize) -> bool {
        self.set().is_some_and(|set| set.blocks()[block].is_in_single_precision())
    }

    /// The size of the luxels of a block in texels, as a power of two.
    pub(crate) fn shift(&self, block: usize) -> u8 {
        self.set().map_or(USUAL_SHIFT, |set| set.blocks()[block].shift())
    }

    /// The styles of a block. Of surfaces on pages the light of their first style is shown.
    pub(crate) fn styles(&self, block: usize) -> &[u16] {
        self.set().filter(|set| !set.is_pages()).map_or(&[0], |set| set.blocks()[block].styles())
    }

    /// How a luxel is stored.
    pub(crate) fn form(&self) -> LuxelForm {
        self.set().map_or(LuxelForm::Rgb, LightSet::form)
    }

    /// The luxels of a block in a style, row by row.
    pub(crate) fn luxels(&self, block: usize, style: u16) -> Option<&[u8]> {
        let at = self.styles(block).iter().position(|own| *own == style)?;
        match self {
            Source::Map { light, set } => light.bytes(Image { set: *set, block, style: at, plane: 0 }),
            Source::Images(pages) => Some(&pages[block].luxels),
        }
    }
}

/// The images of light that the surfaces of a map need, from the files of its game: `maps/NAME/lm_0000.tga` and so on.
fn images(map: &Bsp<'_>, options: &Options<'_>, findings: &mut Findings) -> Option<Vec<Page>> {
    let needed = map.light_files().unwrap_or_default();
    let (_, first) = needed.first()?;
    let found = options.files.zip(options.name).map(|(files, name)| (Images::new(files), name));
    let (mut pages, mut missing, mut left) = (Vec::new(), 0, MOST_LUXELS);
    for (number, file) in &needed {
        let image =
            found.as_ref().map_or(Ok(None), |(images, name)| images.find(format!("maps/{name}/{file}").as_bytes()));
        match image {
            Ok(Some(image)) => {
                // No more of them find a place.
                let Some(rest) = left.checked_sub(image.pixels.len() / 4) else {
                    findings.add(&LIMIT, Place::default(), format!("light from {file} on is not shown"));
                    break;
                };
                left = rest;
                let luxels = image.pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
                pages.push(Page { number: *number, size: image.size.map(index), luxels });
            }
            Ok(None) => missing += 1,
            Err(error) => findings.fail(&LIGHT, &error),
        }
    }
    if missing > 0 {
        let message =
            format!("light is in files beside the map, from {first} on; {missing} of {} are not found", needed.len());
        findings.add(&OUTSIDE, Place::default(), message);
    }
    (!pages.is_empty()).then_some(pages)
}
