//! Collision models of brush models.

use std::collections::HashMap;

use super::change::{Change, How, SolidChange};
use super::{Found, Sides};
use crate::bytes::Data;
use crate::content::physics::Physics;

pub(super) fn compare(_: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (Physics::parse(old.clone()), Physics::parse(new.clone())) else { return };
    // Several entries for one model are matched in their order.
    let model = |physics: &Physics<'_>, index: usize| physics.model(index).unwrap_or(-1);
    let mut known: HashMap<i32, Vec<usize>> = HashMap::new();
    (0..old.len()).rev().for_each(|index| known.entry(model(&old, index)).or_default().push(index));
    for index in 0..new.len() {
        let number = model(&new, index);
        match known.get_mut(&number).and_then(Vec::pop) {
            None => add(found, How::Added, index, number, Vec::new(), false),
            Some(before) => {
                let (solids, text) = (solids(&old, before, &new, index), old.text(before).ok() != new.text(index).ok());
                if text || !solids.is_empty() {
                    add(found, How::Changed, index, number, solids, text);
                }
            }
        }
    }
    let mut gone: Vec<usize> = known.into_values().flatten().collect();
    gone.sort_unstable();
    gone.into_iter().for_each(|index| add(found, How::Removed, index, model(&old, index), Vec::new(), false));
}

fn add(found: &mut Found, how: How, index: usize, model: i32, solids: Vec<usize>, text: bool) {
    found.count(how, 1, |touched| &mut touched.solids);
    found.add(|| Change::Solid(SolidChange { how, index, model, solids, text }));
}

/// The solids that differ, also those that only one of the models has. Without any if they cannot be read.
fn solids(old: &Physics<'_>, before: usize, new: &Physics<'_>, index: usize) -> Vec<usize> {
    let (Ok(mut old), Ok(mut new)) = (old.solids(before), new.solids(index)) else { return Vec::new() };
    let both = std::iter::from_fn(|| match (old.next(), new.next()) {
        (None, None) => None,
        (old, new) => Some(old != new),
    });
    both.enumerate().filter(|(_, differs)| *differs).map(|(index, _)| index).collect()
}
