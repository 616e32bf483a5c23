//! Embedded textures that no face has.

use std::collections::{BTreeMap, BTreeSet};

use super::cut::{numbers, renumber};
use super::{Options, Pruned, now};
use crate::content::textures::Textures;
use crate::dialect::Role;
use crate::draft::{Draft, follow::entities};
use crate::error::Result;
use crate::record::Meaning;

pub(super) fn prune(draft: &mut Draft<'_>, options: &Options, pruned: &mut Pruned) -> Result<()> {
    let map = now(draft)?;
    let Some(slot) = map.role(Role::Textures).filter(|slot| slot.length != 0 && map.has_textures()) else {
        return Ok(());
    };
    if options.keeps(&slot.name) {
        return Ok(());
    }
    let (links, textures) = (map.links()?, map.lens::<Textures<'_>>()?);
    let fields = numbers(&links, &slot.name, |meaning| match meaning {
        Meaning::Index { lump, .. } => Some(lump),
        _ => None,
    });
    let mut used = vec![false; textures.len()];
    for (index, word) in &fields {
        let site = &links.sites[*index];
        for record in site.records() {
            if let Some(used) = usize::try_from(word.get(record)).ok().and_then(|index| used.get_mut(index)) {
                *used = true;
            }
        }
    }
    let values: BTreeSet<Vec<u8>> = match entities::read(&map)? {
        Some((_, texts)) => {
            texts.iter().flat_map(|entity| entity.pairs().map(|pair| lower(pair.value)).collect::<Vec<_>>()).collect()
        }
        None => BTreeSet::new(),
    };
    let names: Vec<Option<Vec<u8>>> = (0..textures.len()).map(|index| textures.name(index).map(lower)).collect();
    for (used, name) in used.iter_mut().zip(&names) {
        *used |= name.as_ref().is_some_and(|name| values.contains(name));
    }
    // Engines go from one frame to the others.
    let families: BTreeSet<&[u8]> =
        used.iter().zip(&names).filter(|(used, _)| **used).filter_map(|(_, name)| family(name.as_ref()?)).collect();
    for (used, name) in used.iter_mut().zip(&names) {
        *used |= name.as_ref().and_then(|name| family(name)).is_some_and(|family| families.contains(family));
    }
    if used.iter().all(|used| *used) {
        return Ok(());
    }
    let Some(bytes) = textures.only(&used)? else {
        pruned.warnings.push(format!("{} stays: textures in it are damaged", slot.name));
        return Ok(());
    };
    let mut next = 0_i64;
    let places: BTreeMap<i64, i64> = (0_i64..)
        .zip(&used)
        .filter(|(_, used)| **used)
        .map(|(old, _)| {
            next += 1;
            (old, next - 1)
        })
        .collect();
    let len = i64::try_from(used.len()).unwrap_or(i64::MAX);
    // What was out of range stays so.
    renumber(draft, &links, &fields, |old| {
        places.get(&old).copied().unwrap_or(if old < 0 { old } else { old.max(len) })
    })?;
    draft.set(slot.id, bytes)
}

fn lower(name: &[u8]) -> Vec<u8> {
    name.to_ascii_lowercase()
}

/// The name without the frame of an animated texture, or without the number of a random one (`-0name`).
fn family(name: &[u8]) -> Option<&[u8]> {
    matches!(name.first(), Some(b'+' | b'-')).then(|| name.get(2..)).flatten()
}
