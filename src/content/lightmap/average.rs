//! The averages of light that faces store.
//!
//! For many faces the average of the compiler is not the mean of their luxels: it may be of the patches that light was
//! bounced from. So it is not computed again from the luxels; it changes as they do.

use std::ops::Range;

use super::luxel::{self, Adjustment};
use super::{Image, Light, Luxel};
use crate::bytes::amount;
use crate::dialect::LuxelForm;

impl Light<'_> {
    /// The averages of an image: the index of the lump of each, and its bytes there.
    fn averages(&self, image: Image) -> Vec<(usize, Range<usize>)> {
        let Some(set) = self.sets.get(image.set) else { return Vec::new() };
        let Some(block) = set.blocks.get(image.block) else { return Vec::new() };
        let places = block.averages(image.style).filter_map(|place| {
            let lump = if place.is_in_face { set.faces? } else { set.lump };
            let range = place.at..place.at + set.form.bytes();
            (self.lumps.get(lump)?.held.get().len() >= range.end).then_some((lump, range))
        });
        places.collect()
    }

    /// The averages of an image after a change of its luxels: as read if these are as read.
    pub(super) fn renew_average(&mut self, image: Image) {
        let places = self.averages(image);
        let Some(set) = self.sets.get(image.set).filter(|_| !places.is_empty()) else { return };
        let Some(range) = set.blocks.get(image.block).and_then(|block| block.range(image, set.form)) else { return };
        let (form, held) = (set.form, &self.lumps[set.lump].held);
        let [old, new] = [held.original(), held.get()].map(|bytes| &bytes[range.clone()]);
        let means = (old != new).then(|| [old, new].map(|luxels| mean(form, luxels)));
        for (lump, place) in places {
            let held = &mut self.lumps[lump].held;
            let read = Luxel::read(form, &held.original()[place.clone()]);
            let renewed = means.map_or(read, |[old, new]| follow(read, old, new));
            let (bytes, len) = renewed.bytes();
            held.put(place.start, &bytes[..len]);
        }
    }

    /// Adjusts the averages of an image, except those of which a byte is done: another image has them too.
    pub(super) fn adjust_average(&mut self, image: Image, adjustment: &Adjustment, done: &mut [Vec<bool>]) {
        let Some(form) = self.sets.get(image.set).map(|set| set.form) else { return };
        for (lump, place) in self.averages(image) {
            let done = &mut done[lump][place.clone()];
            if done.contains(&true) {
                continue;
            }
            done.fill(true);
            let held = &mut self.lumps[lump].held;
            let (bytes, len) = adjustment.of(Luxel::read(form, &held.get()[place.clone()])).bytes();
            held.put(place.start, &bytes[..len]);
        }
    }
}

/// The average whose luxels had one mean and have another one now. It changes by the same factor, but grows by no more
/// light than the mean: that of almost black luxels may be any number of times their mean. An average that is the mean,
/// as precisely as it can be stored, is the mean again.
fn follow(average: Luxel, old: [f64; 3], new: [f64; 3]) -> Luxel {
    let read = average.linear();
    if is_close(average, old) {
        return stored(average, new);
    }
    let part = |at: usize| match new[at] - old[at] {
        0.0 => read[at],
        more if more > 0.0 && (old[at] <= 0.0 || read[at] > old[at]) => read[at] + more,
        _ => read[at] * (new[at] / old[at]),
    };
    stored(average, [part(0), part(1), part(2)])
}

/// Whether a stored average is this light: each part of it by less than one step.
fn is_close(average: Luxel, light: [f64; 3]) -> bool {
    let (Luxel::Rgbe(_, exponent), Luxel::Rgbe(_, other)) = (average, stored(average, light)) else {
        return average == stored(average, light);
    };
    let step = f64::from(exponent.min(other)).exp2() / 255.0;
    average.linear().into_iter().zip(light).all(|(part, light)| (part - light).abs() < step)
}

/// Light as an average of the same form: with an exponent it is cut, as the compilers do it.
fn stored(form: Luxel, light: [f64; 3]) -> Luxel {
    match form {
        Luxel::Rgbe(..) => luxel::cut(light),
        form => form.with_linear(light),
    }
}

/// The mean light of luxels.
fn mean(form: LuxelForm, bytes: &[u8]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    let luxels = bytes.chunks_exact(form.bytes());
    let count = amount(luxels.len().max(1));
    for luxel in luxels {
        let light = Luxel::read(form, luxel).linear();
        sum.iter_mut().zip(light).for_each(|(sum, part)| *sum += part);
    }
    sum.map(|part| part / count)
}
