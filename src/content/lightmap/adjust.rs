//! Changes brightness and color of all luxels at once, in linear light.

use super::{Block, Image, Light, LightSet, Luxel};

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
    /// many luxels changed. A luxel that several faces share is adjusted once.
    pub fn adjust(&mut self, adjustment: &Adjustment, is_chosen: impl Fn(&LightSet, &Block, usize) -> bool) -> usize {
        let chosen: Vec<Image> = self
            .images()
            .filter(|image| {
                let set = &self.sets[image.set];
                is_chosen(set, &set.blocks[image.block], image.style)
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
            let done = &mut done[set.lump][range];
            changed += self.update(image, |[x, y], old| {
                let at = (y * wide + x) * size;
                // Blocks that overlap by part of a luxel are damage; here too no byte is adjusted twice.
                if done[at..at + size].contains(&true) {
                    return old;
                }
                done[at..at + size].fill(true);
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
            });
        }
        changed
    }
}
