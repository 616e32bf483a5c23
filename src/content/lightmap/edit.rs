//! Setting luxels, and the averages that follow from them.

use std::ops::Range;

use super::{Image, Light, Luxel, luxel};
use crate::bytes::amount;
use crate::dialect::LuxelForm;

impl Light<'_> {
    /// Changes luxels of an image, each by its column and row, and returns how many changed.
    ///
    /// A luxel keeps its bytes if `change` returns it unchanged or in another form. If the face stores the average of a
    /// style, and a luxel of the style differs from what was read, the average becomes the mean of the style's luxels
    /// in the precision of its form. The directions of bumped faces do not count for the mean.
    pub fn update(&mut self, image: Image, mut change: impl FnMut([usize; 2], Luxel) -> Luxel) -> usize {
        let Some(set) = self.sets.get(image.set) else { return 0 };
        let Some(block) = set.blocks.get(image.block) else { return 0 };
        let (form, [wide, _]) = (set.form, block.size());
        let Some(range) = block.range(image, form) else { return 0 };
        let Some(lump) = self.lumps.get_mut(set.lump) else { return 0 };
        let (mut changed, mut column, mut row) = (0, 0, 0);
        for at in range.step_by(form.bytes()) {
            let old = Luxel::read(form, &lump.held.get()[at..at + form.bytes()]);
            let new = change([column, row], old);
            if new != old && new.form() == form {
                let (bytes, len) = new.bytes();
                lump.held.put(at, &bytes[..len]);
                changed += 1;
            }
            column += 1;
            if column == wide {
                (column, row) = (0, row + 1);
            }
        }
        if changed > 0 && image.plane == 0 {
            self.renew_average(image);
        }
        changed
    }

    /// Gives a luxel another value and returns whether it changed.
    pub fn set(&mut self, image: Image, [x, y]: [usize; 2], luxel: Luxel) -> bool {
        self.update(image, |at, old| if at == [x, y] { luxel } else { old }) > 0
    }

    fn renew_average(&mut self, image: Image) {
        let Some(set) = self.sets.get(image.set) else { return };
        let Some(block) = set.blocks.get(image.block) else { return };
        let Some(range) = block.range(image, set.form) else { return };
        if block.averages(image.style).next().is_none() {
            return;
        }
        let is_as_read = {
            let held = &self.lumps[set.lump].held;
            held.get()[range.clone()] == held.original()[range.clone()]
        };
        let mean = mean(set.form, &self.lumps[set.lump].held.get()[range]);
        for place in block.averages(image.style) {
            let Some(lump) = (if place.is_in_face { set.faces } else { Some(set.lump) }) else { continue };
            let held = &mut self.lumps[lump].held;
            let Range { start, end } = place.at..place.at + set.form.bytes();
            let (mut bytes, len) = mean.bytes();
            if let Some(old) = held.original().get(start..end).filter(|_| is_as_read) {
                bytes[..len].copy_from_slice(old);
            }
            if held.get().len() >= end {
                held.put(start, &bytes[..len]);
            }
        }
    }
}

/// The mean light of luxels.
fn mean(form: LuxelForm, bytes: &[u8]) -> Luxel {
    let mut sum = [0.0; 3];
    let luxels = bytes.chunks_exact(form.bytes());
    let count = amount(luxels.len().max(1));
    for luxel in luxels {
        let light = Luxel::read(form, luxel).linear();
        sum.iter_mut().zip(light).for_each(|(sum, part)| *sum += part);
    }
    let mean = sum.map(|part| part / count);
    match form {
        LuxelForm::Rgbe => luxel::cut(mean),
        LuxelForm::Grey => Luxel::Grey(0).with_linear(mean),
        LuxelForm::Rgb => Luxel::Rgb([0; 3]).with_linear(mean),
    }
}
