//! Light that a map has twice: a change in one copy is applied to the other.

use super::{Image, Light, Luxel};

impl Light<'_> {
    /// Applies changes of the light to its copies, and from a copy to its original, unless the target was edited too.
    /// Returns how many luxels it changed.
    ///
    /// `before` is the light as it was. A luxel that was equal in both is equal again. Otherwise each component is
    /// scaled as in the changed luxel, in linear light; if that component was black, it takes the new value.
    ///
    /// ```
    /// use bspkit::content::lightmap::{Image, Luxel};
    /// let map = bspkit::Bsp::open("tests/maps/q1/own_rooms_bspx.bsp")?;
    /// let before = map.light()?;
    /// let (image, copy) = [0, 1].map(|set| Image { set, block: 3, style: 0, plane: 0 }).into();
    /// assert_eq!(before.sets()[1].copy_of(), Some(0));
    /// let mut draft = map.draft();
    /// let light = draft.light()?;
    /// light.update(image, |_, _| Luxel::Grey(0));
    /// assert_eq!(light.carry(&before), before.block(copy).unwrap().luxels());
    /// assert_eq!(light.luxel(copy, [0, 0]), Some(Luxel::Rgb([0; 3])));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn carry(&mut self, before: &Light<'_>) -> usize {
        let pairs = self.sets.iter().enumerate().filter_map(|(copy, set)| Some((set.copy_of?, copy)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        pairs.into_iter().map(|(set, copy)| self.carry_between(set, copy, before)).sum()
    }

    fn carry_between(&mut self, set: usize, copy: usize, before: &Light<'_>) -> usize {
        let mut carried = 0;
        let images: Vec<Image> = self.sets.get(set).map(|found| found.images(set).collect()).unwrap_or_default();
        for image in images {
            // The sets need not have the same blocks: some may be beyond the end of one lump.
            let index = self.block(image).map_or(0, super::Block::index);
            let Some(block) = self.sets[copy].block_of(index) else { continue };
            let other = Image { set: copy, block, ..image };
            for (from, to) in [(image, other), (other, image)] {
                if self.bytes(from) != before.bytes(from) {
                    carried += self.carry_image(from, to, before);
                }
            }
        }
        carried
    }

    fn carry_image(&mut self, from: Image, to: Image, before: &Light<'_>) -> usize {
        let Some([wide, high]) = self.block(from).map(super::Block::size) else { return 0 };
        let luxels = |light: &Light<'_>| -> Vec<Option<Luxel>> {
            (0..wide * high).map(|at| light.luxel(from, [at % wide, at / wide])).collect()
        };
        let (old, new) = (luxels(before), luxels(self));
        self.update(to, |[x, y], now| {
            let at = y * wide + x;
            match (old.get(at).copied().flatten(), new.get(at).copied().flatten()) {
                (Some(old), Some(new)) if old != new && before.luxel(to, [x, y]) == Some(now) => carry(old, new, now),
                _ => now,
            }
        })
    }
}

/// The new value of a luxel whose copy was changed.
fn carry(old: Luxel, new: Luxel, now: Luxel) -> Luxel {
    if now == old {
        return new;
    }
    let (old, new, mut light) = (old.linear(), new.linear(), now.linear());
    for part in 0..3 {
        light[part] = if old[part] > 0.0 { light[part] * new[part] / old[part] } else { new[part] };
    }
    now.with_linear(light)
}
