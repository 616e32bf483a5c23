//! How much light there is, by style.

use std::collections::BTreeMap;

use super::{Image, Light, Luxel};
use crate::bytes::{amount, nearest_byte};

/// Statistics of one set of light.
///
/// ```
/// let light = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.light()?;
/// let stat = light.stat(0).unwrap();
/// assert_eq!((stat.styles[&0].faces, light.sets()[0].blocks().len()), (76, 98));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LightStat {
    /// By the style's number.
    pub styles: BTreeMap<u8, StyleStat>,
    /// Pairs of blocks that overlap in part: a block, and one that begins within it.
    pub overlaps: usize,
    /// Blocks that begin at the same offset as another one.
    pub shared: usize,
    /// Blocks whose size was computed in single precision.
    pub single: usize,
    /// Bytes of the lump that belong to no block.
    pub unowned: usize,
}

/// Statistics of one style, without the directions of bumped faces.
///
/// ```
/// let light = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.light()?;
/// let style = &light.stat(0).unwrap().styles[&0];
/// assert_eq!(style.histogram.iter().sum::<usize>(), style.luxels);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StyleStat {
    /// Blocks that have it.
    pub faces: usize,
    /// Those of them that are bumped.
    pub bumped: usize,
    /// Luxels.
    pub luxels: usize,
    /// The least of red, green and blue, in linear light.
    pub least: [f64; 3],
    /// The most.
    pub most: [f64; 3],
    /// The mean.
    pub mean: [f64; 3],
    /// The number of luxels by shown brightness (of the brightest component), in 16 steps from black to the brightest
    /// value.
    pub histogram: [usize; 16],
}

impl Default for StyleStat {
    fn default() -> Self {
        StyleStat {
            faces: 0,
            bumped: 0,
            luxels: 0,
            least: [f64::INFINITY; 3],
            most: [0.0; 3],
            mean: [0.0; 3],
            histogram: [0; 16],
        }
    }
}

impl Light<'_> {
    /// Computes the statistics of a set.
    pub fn stat(&self, set: usize) -> Option<LightStat> {
        let of = self.sets.get(set)?;
        let mut stat = LightStat::default();
        // The light of a byte is computed once, not per luxel.
        let table: Vec<f64> = (0..=u8::MAX).map(|byte| Luxel::Rgb([byte; 3]).linear()[0]).collect();
        for (block, found) in of.blocks.iter().enumerate() {
            for (style, number) in found.styles().iter().enumerate() {
                let entry = stat.styles.entry(*number).or_default();
                entry.faces += 1;
                entry.bumped += usize::from(found.planes() > 1);
                let bytes = self.bytes(Image { set, block, style, plane: 0 }).unwrap_or_default();
                for luxel in bytes.chunks_exact(of.form.bytes()).map(|bytes| Luxel::read(of.form, bytes)) {
                    let light = match luxel {
                        Luxel::Grey(grey) => [table[usize::from(grey)]; 3],
                        Luxel::Rgb(color) => color.map(|part| table[usize::from(part)]),
                        Luxel::Rgbe(..) => luxel.linear(),
                    };
                    entry.add(light, luxel);
                }
            }
        }
        for style in stat.styles.values_mut() {
            style.mean = style.mean.map(|sum| sum / amount(style.luxels.max(1)));
            style.least = style.least.map(|least| if least.is_finite() { least } else { 0.0 });
        }
        let mut ranges: Vec<_> =
            of.blocks.iter().map(|block| (block.bytes().start - block.before(), block.bytes().end)).collect();
        ranges.sort_unstable();
        let lump = self.lumps.get(of.lump)?.held.get().len();
        let mut end = 0;
        let mut last = None;
        for (start, stop) in ranges {
            match last == Some(start) {
                true => stat.shared += 1,
                false if start < end => stat.overlaps += 1,
                false => stat.unowned += start - end,
            }
            (last, end) = (Some(start), end.max(stop));
        }
        stat.unowned += lump - end.min(lump);
        stat.single = of.blocks.iter().filter(|block| block.is_in_single_precision()).count();
        Some(stat)
    }
}

impl StyleStat {
    fn add(&mut self, light: [f64; 3], luxel: Luxel) {
        self.luxels += 1;
        for (axis, part) in light.into_iter().enumerate() {
            self.least[axis] = self.least[axis].min(part);
            self.most[axis] = self.most[axis].max(part);
            self.mean[axis] += part;
        }
        let brightest = match luxel {
            Luxel::Grey(grey) => grey,
            Luxel::Rgb(color) => color.into_iter().max().unwrap_or(0),
            Luxel::Rgbe(..) => luxel.shown().into_iter().max().unwrap_or(nearest_byte(0.0)),
        };
        self.histogram[usize::from(brightest / 16)] += 1;
    }
}
