//! Luxels: their bytes, the light that they mean, their brightness and color changed, and how much light there is.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::{Block, Image, Light, LightSet};
use crate::bytes::{amount, integer, nearest_byte, rounded};
use crate::dialect::LuxelForm;
use crate::error::{Error, ErrorKind, Result};

// Luxels: their bytes, and the light that they mean.

/// A luxel as it is in the file.
///
/// ```
/// use bspkit::content::lightmap::Luxel;
/// let bright = Luxel::Rgbe([128, 64, 0], 1);
/// assert_eq!(bright.linear(), [256.0 / 255.0, 128.0 / 255.0, 0.0]);
/// assert_eq!(bright.with_linear(bright.linear()), bright);
/// assert_eq!(Luxel::Rgb([255, 0, 7]).linear()[0], 1.0);
/// assert_eq!(Luxel::Grey(7).with_shown([90; 3]), Luxel::Grey(90));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Luxel {
    /// One number for all colors, as it is shown.
    Grey(u8),
    /// Red, green, blue, as they are shown: engines multiply the texture by them without conversion.
    Rgb([u8; 3]),
    /// Red, green, blue, and the power of two that they are multiplied by: linear light, in which 255 shows a texture
    /// unchanged (`ColorRGBExp32`).
    Rgbe([u8; 3], i8),
}

/// The gamma of the screens for which 8-bit light was made.
const SCREEN: f64 = 2.2;
/// The weights of red, green and blue in the brightness that the eye sees (Rec. 709).
const BRIGHTNESS: [f64; 3] = [0.2126, 0.7152, 0.0722];

impl Luxel {
    /// The luxel of this form at the start of some bytes; black if there are too few.
    pub fn read(form: LuxelForm, bytes: &[u8]) -> Self {
        match (form, bytes) {
            (LuxelForm::Rgbe, [red, green, blue, exponent, ..]) => {
                Luxel::Rgbe([*red, *green, *blue], i8::from_le_bytes([*exponent]))
            }
            (LuxelForm::Rgbe, _) => Luxel::Rgbe([0; 3], 0),
            (LuxelForm::Grey, _) => Luxel::Grey(bytes.first().copied().unwrap_or(0)),
            (LuxelForm::Rgb, [red, green, blue, ..]) => Luxel::Rgb([*red, *green, *blue]),
            (LuxelForm::Rgb, _) => Luxel::Rgb([0; 3]),
        }
    }

    /// Its bytes, and how many of them are used.
    pub(super) fn bytes(self) -> ([u8; 4], usize) {
        match self {
            Luxel::Grey(grey) => ([grey, 0, 0, 0], 1),
            Luxel::Rgb([red, green, blue]) => ([red, green, blue, 0], 3),
            Luxel::Rgbe([red, green, blue], exponent) => ([red, green, blue, exponent.to_le_bytes()[0]], 4),
        }
    }

    /// Its form.
    pub fn form(self) -> LuxelForm {
        match self {
            Luxel::Grey(_) => LuxelForm::Grey,
            Luxel::Rgb(_) => LuxelForm::Rgb,
            Luxel::Rgbe(..) => LuxelForm::Rgbe,
        }
    }

    /// The light that it means; 1 shows a texture unchanged.
    ///
    /// An 8-bit luxel is a value for a screen; its light is that value to the power of 2.2.
    pub fn linear(self) -> [f64; 3] {
        match self {
            Luxel::Grey(grey) => [(f64::from(grey) / 255.0).powf(SCREEN); 3],
            Luxel::Rgb(color) => color.map(|part| (f64::from(part) / 255.0).powf(SCREEN)),
            Luxel::Rgbe(color, exponent) => {
                let scale = f64::from(exponent).exp2() / 255.0;
                color.map(|part| f64::from(part) * scale)
            }
        }
    }

    /// The luxel of the same form with other light. Light that is too bright for the form becomes the brightest value;
    /// grey takes the brightness that the eye sees.
    #[must_use]
    pub fn with_linear(self, light: [f64; 3]) -> Self {
        let light = light.map(|part| if part > 0.0 { part } else { 0.0 });
        match self {
            Luxel::Grey(_) => {
                let [red, green, blue] = light;
                let [of_red, of_green, of_blue] = BRIGHTNESS;
                // Grey needs no weights; they would round it.
                let is_grey = red == green && green == blue;
                let light = if is_grey { red } else { red * of_red + green * of_green + blue * of_blue };
                Luxel::Grey(nearest_byte(255.0 * light.powf(1.0 / SCREEN)))
            }
            Luxel::Rgb(_) => Luxel::Rgb(light.map(|part| nearest_byte(255.0 * part.powf(1.0 / SCREEN)))),
            Luxel::Rgbe(..) => {
                let (color, exponent) = pack(light.map(|part| part * 255.0));
                Luxel::Rgbe(color, exponent)
            }
        }
    }

    /// The luxel as a screen shows it. The brightest value is light of 2, which is the limit of the engines; 1 shows a
    /// texture unchanged.
    pub fn shown(self) -> [u8; 3] {
        // A table by exponent and component: computing powers for each luxel would take most of the time of an export.
        static TABLE: OnceLock<Vec<[u8; 256]>> = OnceLock::new();
        match self {
            Luxel::Grey(grey) => [grey; 3],
            Luxel::Rgb(color) => color,
            Luxel::Rgbe(color, exponent) => {
                let table = TABLE.get_or_init(|| (i8::MIN..=i8::MAX).map(shown_with).collect());
                let parts = &table[usize::from(exponent.to_le_bytes()[0] ^ 0x80)];
                color.map(|part| parts[usize::from(part)])
            }
        }
    }

    /// The luxel of this form that displays as the given color, as in [`Luxel::shown`].
    #[must_use]
    pub fn with_shown(self, color: [u8; 3]) -> Self {
        match self {
            Luxel::Grey(_) => self.with_linear(Luxel::Rgb(color).linear()),
            Luxel::Rgb(_) => Luxel::Rgb(color),
            Luxel::Rgbe(..) => self.with_linear(color.map(|part| BRIGHTEST * (f64::from(part) / 255.0).powf(SCREEN))),
        }
    }
}

/// The shown value of each component with an exponent.
fn shown_with(exponent: i8) -> [u8; 256] {
    let scale = f64::from(exponent).exp2() / 255.0;
    let mut light = 0.0;
    [(); 256].map(|()| {
        let part: f64 = light * scale;
        light += 1.0;
        nearest_byte(255.0 * (part / BRIGHTEST).min(1.0).powf(1.0 / SCREEN))
    })
}

/// The most light that is shown; 1 shows a texture unchanged.
const BRIGHTEST: f64 = 2.0;

/// The nearest color with the exponent that keeps most of it.
fn pack(color: [f64; 3]) -> ([u8; 3], i8) {
    let (exponent, parts) = scaled(color);
    let parts = parts.map(|part| (part + 0.5).floor());
    // A component that rounds up to 256 needs the next exponent.
    match exponent.checked_add(1) {
        Some(next) if parts.iter().any(|part| *part >= 256.0) => (parts.map(|part| nearest_byte(part / 2.0)), next),
        _ => (parts.map(nearest_byte), exponent),
    }
}

/// A color as the compilers encode it: truncated, not rounded (`VectorToColorRGBExp32`).
pub(super) fn cut(light: [f64; 3]) -> Luxel {
    let (exponent, parts) = scaled(light.map(|part| part * 255.0));
    Luxel::Rgbe(parts.map(|part| nearest_byte(part.floor())), exponent)
}

/// The exponent with which the largest component is at least 128 and less than 256, and the components with it.
fn scaled(color: [f64; 3]) -> (i8, [f64; 3]) {
    let most = color.into_iter().fold(0.0, f64::max);
    if most <= 0.0 {
        return (0, [0.0; 3]);
    }
    // The logarithm may be wrong in its last bit, and light may be too dark for any exponent.
    let guess = integer(rounded(most.log2().floor())).unwrap_or(0).saturating_sub(8);
    let mut exponent = i8::try_from(guess.max(i32::from(i8::MIN))).unwrap_or(i8::MAX);
    while exponent < i8::MAX && most >= 256.0 * f64::from(exponent).exp2() {
        exponent += 1;
    }
    let scale = f64::from(exponent).exp2();
    // Compilers compute in single precision: the mean of equal luxels is their value.
    (exponent, color.map(|part| f64::from(rounded(part / scale)).min(255.0 + 0.999)))
}

// Changes brightness and color of all luxels at once, in linear light.

/// A change of the light: each component of a luxel is multiplied by the gain and the tint and then raised to the power
/// 1/gamma, in linear light.
///
/// ```
/// use bspkit::content::lightmap::{Adjustment, Luxel};
/// let same = Adjustment::default();
/// assert_eq!(same.of(Luxel::Rgb([1, 2, 250])), Luxel::Rgb([1, 2, 250]));
/// let twice = Adjustment { gain: 2.0, ..same };
/// assert_eq!(twice.of(Luxel::Rgbe([200, 150, 100], 0)), Luxel::Rgbe([200, 150, 100], 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs)]
pub struct Adjustment {
    /// The factor for all light.
    pub gain: f64,
    /// Above 1, light below 1.0 becomes brighter; below 1, darker. Light of 1.0 shows a texture unchanged.
    pub gamma: f64,
    /// The factors for red, green and blue.
    pub tint: [f64; 3],
}

impl Default for Adjustment {
    fn default() -> Self {
        Adjustment { gain: 1.0, gamma: 1.0, tint: [1.0; 3] }
    }
}

impl Adjustment {
    /// Whether it changes nothing.
    pub fn is_none(&self) -> bool {
        *self == Adjustment::default()
    }

    fn check(&self) -> Result<()> {
        let factors = [self.gain, self.tint[0], self.tint[1], self.tint[2]];
        if !factors.iter().all(|factor| factor.is_finite() && *factor >= 0.0) {
            return Err(Error::new(ErrorKind::Argument, "factors of light are finite and not negative"));
        }
        if !(self.gamma.is_finite() && self.gamma > 0.0) {
            return Err(Error::new(ErrorKind::Argument, "gamma is finite and above 0"));
        }
        Ok(())
    }

    /// The luxel after the change; the same luxel if its light stays the same.
    #[must_use]
    pub fn of(&self, luxel: Luxel) -> Luxel {
        let old = luxel.linear();
        let mut new = old;
        for (part, tint) in new.iter_mut().zip(self.tint) {
            let scaled = *part * self.gain * tint;
            *part = if self.gamma == 1.0 { scaled } else { scaled.powf(1.0 / self.gamma) };
        }
        if new == old { luxel } else { luxel.with_linear(new) }
    }
}

impl Light<'_> {
    /// Adjusts the light of all chosen blocks and styles (by the style's index in [`Block::styles`]), and returns how
    /// many luxels changed. A luxel that several faces share is adjusted once. Averages that faces store are adjusted
    /// in the same way. Directions stay.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if a number of the adjustment is not finite, the gain or a part of the tint is negative,
    /// or the gamma is not above 0.
    pub fn adjust(
        &mut self,
        adjustment: &Adjustment,
        is_chosen: impl Fn(&LightSet, &Block, usize) -> bool,
    ) -> Result<usize> {
        adjustment.check()?;
        let chosen: Vec<Image> = self
            .images()
            .filter(|image| {
                let set = &self.sets[image.set];
                let block = &set.blocks[image.block];
                !block.is_directions && is_chosen(set, block, image.style)
            })
            .collect();
        let mut done: Vec<Vec<bool>> = self.lumps.iter().map(|lump| vec![false; lump.held.get().len()]).collect();
        // The result depends on the bytes alone, so results are reused; luxels with exponents often repeat the one
        // before.
        let table: Vec<Luxel> = (0..=u8::MAX).map(|byte| adjustment.of(Luxel::Rgb([byte; 3]))).collect();
        let greys: Vec<Luxel> = (0..=u8::MAX).map(|byte| adjustment.of(Luxel::Grey(byte))).collect();
        let byte = |part: usize, byte: u8| match table.get(usize::from(byte)) {
            Some(Luxel::Rgb(color)) => color[part],
            _ => byte,
        };
        let mut last = (Luxel::Rgb([0; 3]), adjustment.of(Luxel::Rgb([0; 3])));
        let mut changed = 0;
        for image in chosen {
            let set = &self.sets[image.set];
            let Some(range) = set.blocks[image.block].range(image, set.form) else { continue };
            let (size, wide) = (set.form.bytes(), set.blocks[image.block].size()[0]);
            let own = &mut done[set.lump][range];
            let (count, outcome) = self.put_luxels(image, |[x, y], old| {
                let at = (y * wide + x) * size;
                // Blocks that overlap by part of a luxel are damage; here too no byte is adjusted twice.
                if own[at..at + size].contains(&true) {
                    return old;
                }
                own[at..at + size].fill(true);
                if let Luxel::Rgb([red, green, blue]) = old {
                    return Luxel::Rgb([byte(0, red), byte(1, green), byte(2, blue)]);
                }
                if let Luxel::Grey(grey) = old {
                    return greys[usize::from(grey)];
                }
                if last.0 != old {
                    last = (old, adjustment.of(old));
                }
                last.1
            })?;
            outcome?;
            changed += count;
            if image.plane == 0 {
                self.adjust_average(image, adjustment, &mut done);
            }
        }
        Ok(changed)
    }

    /// The blocks with images that are not chosen and have luxels of images that are, so that [`Light::adjust`] changes
    /// them too: by the index of their set and their index in [`LightSet::blocks`], in ascending order.
    ///
    /// ```
    /// let light = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.light()?;
    /// assert!(light.shown_with(|_, block, _| block.index() == 0).is_empty());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn shown_with(&self, is_chosen: impl Fn(&LightSet, &Block, usize) -> bool) -> Vec<[usize; 2]> {
        let mut chosen: Vec<Vec<Range<usize>>> = vec![Vec::new(); self.lumps.len()];
        let mut others: Vec<(Image, Range<usize>)> = Vec::new();
        for image in self.images() {
            let set = &self.sets[image.set];
            let block = &set.blocks[image.block];
            let Some(range) = block.range(image, set.form) else { continue };
            match !block.is_directions && is_chosen(set, block, image.style) {
                true => chosen[set.lump].push(range),
                false => others.push((image, range)),
            }
        }
        for ranges in &mut chosen {
            ranges.sort_by_key(|range| range.start);
            let all = std::mem::take(ranges);
            for range in all {
                match ranges.last_mut().filter(|last| range.start <= last.end) {
                    Some(last) => last.end = last.end.max(range.end),
                    None => ranges.push(range),
                }
            }
        }
        others.retain(|(image, range)| {
            let ranges = &chosen[self.sets[image.set].lump];
            let next = ranges.partition_point(|chosen| chosen.end <= range.start);
            ranges.get(next).is_some_and(|chosen| chosen.start < range.end)
        });
        let mut blocks: Vec<[usize; 2]> = others.into_iter().map(|(image, _)| [image.set, image.block]).collect();
        blocks.dedup();
        blocks
    }
}

// How much light there is, by style.

/// Statistics of one set of light.
///
/// ```
/// let light = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.light()?;
/// let stat = light.stat(0).unwrap();
/// assert_eq!((stat.styles[&0].faces, light.sets()[0].blocks().len()), (82, 108));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LightStat {
    /// Pairs of blocks that overlap in part: a block, and one that begins within it.
    #[cfg_attr(feature = "json", serde(rename = "overlap_count"))]
    pub overlaps: usize,
    /// Blocks that begin at the same offset as another one.
    #[cfg_attr(feature = "json", serde(rename = "shared_count"))]
    pub shared: usize,
    /// Blocks whose size was computed in single precision.
    #[cfg_attr(feature = "json", serde(rename = "single_precision_count"))]
    pub single: usize,
    /// Pages of directions ([`Block::is_directions`]), of which nothing else is counted.
    #[cfg_attr(feature = "json", serde(rename = "direction_page_count"))]
    pub directions: usize,
    /// Pages with light of several styles ([`Block::has_several_styles`]), which count for one of them.
    #[cfg_attr(feature = "json", serde(rename = "mixed_page_count"))]
    pub mixed: usize,
    /// Bytes of the lump that belong to no block of any set, and that no other face names ([`LightSet::claims`]).
    #[cfg_attr(feature = "json", serde(rename = "unowned_bytes"))]
    pub unowned: usize,
    /// By the style's number.
    #[cfg_attr(feature = "json", serde(serialize_with = "styles"))]
    pub styles: BTreeMap<u16, StyleStat>,
}

/// Styles in JSON: a list, each with its number.
#[cfg(feature = "json")]
fn styles<S: serde::Serializer>(styles: &BTreeMap<u16, StyleStat>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(serde::Serialize)]
    struct Numbered<'s> {
        style: u16,
        #[serde(flatten)]
        stat: &'s StyleStat,
    }
    serializer.collect_seq(styles.iter().map(|(style, stat)| Numbered { style: *style, stat }))
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
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StyleStat {
    /// Blocks that have it.
    #[cfg_attr(feature = "json", serde(rename = "face_count"))]
    pub faces: usize,
    /// Those of them that are bumped.
    #[cfg_attr(feature = "json", serde(rename = "bumped_count"))]
    pub bumped: usize,
    /// Luxels.
    #[cfg_attr(feature = "json", serde(rename = "luxel_count"))]
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
        let directions = of.blocks.iter().filter(|block| block.is_directions).count();
        let mut stat = LightStat { directions, ..LightStat::default() };
        // The light of a byte is computed once, not per luxel.
        let table: Vec<f64> = (0..=u8::MAX).map(|byte| Luxel::Rgb([byte; 3]).linear()[0]).collect();
        for (block, found) in of.blocks.iter().enumerate().filter(|(_, found)| !found.is_directions) {
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
        let ranges = |set: &LightSet| -> Vec<_> {
            let mut ranges: Vec<_> =
                set.blocks.iter().map(|block| (block.bytes().start - block.before(), block.bytes().end)).collect();
            ranges.sort_unstable();
            ranges
        };
        let (mut end, mut last) = (0, None);
        for (start, stop) in ranges(of) {
            match last == Some(start) {
                true => stat.shared += 1,
                false => stat.overlaps += usize::from(start < end),
            }
            (last, end) = (Some(start), end.max(stop));
        }
        // Other sets may have their light in the same lump.
        let own = || self.sets.iter().filter(|set| set.lump == of.lump);
        let claims = own().flat_map(|set| set.claims.iter().map(|(_, bytes)| (bytes.start, bytes.end)));
        let mut owned: Vec<_> = own().flat_map(ranges).chain(claims).collect();
        owned.sort_unstable();
        let mut end = 0;
        for (start, stop) in owned {
            stat.unowned += start.saturating_sub(end);
            end = end.max(stop);
        }
        let lump = self.lumps.get(of.lump)?.held.get().len();
        stat.unowned += lump - end.min(lump);
        stat.mixed = of.blocks.iter().filter(|block| block.has_several_styles()).count();
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
