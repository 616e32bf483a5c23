//! Brighter, darker, other colors: all luxels at once, in linear light.

use super::{Block, Image, Light, LightSet, Luxel};

/// What is to become of the light: each part of a luxel is multiplied with the gain and the tint and then raised to the
/// power of one by gamma, in linear light.
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
    /// What all light is multiplied with.
    pub gain: f64,
    /// Above 1 what is darker than a texture shown unchanged gets brighter, below 1 darker.
    pub gamma: f64,
    /// What red, green and blue are multiplied with.
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

    /// The luxel with other light; the same one where its light stays the same.
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
    /// Adjusts the light of all blocks and styles that are chosen (by the style's index in [`Block::styles`]), and says
    /// how many luxels are others now. A luxel that several faces share is adjusted once.
    pub fn adjust(&mut self, adjustment: &Adjustment, is_chosen: impl Fn(&LightSet, &Block, usize) -> bool) -> usize {
        let chosen: Vec<Image> = self
            .images()
            .filter(|image| {
                let set = &self.sets[image.set];
                is_chosen(set, &set.blocks[image.block], image.style)
            })
            .collect();
        let mut done: Vec<Vec<bool>> = self.lumps.iter().map(|lump| vec![false; lump.held.get().len()]).collect();
        // Bytes become what they become whatever luxel they are of; luxels with exponents often are as the one before.
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
                // Blocks that overlap by parts of a luxel are damaged; what was adjusted stays as it is then too.
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
