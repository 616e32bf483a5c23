//! Materials that patch others: a texture that all patches of a material replace is loaded for none of them.

use std::collections::{HashMap, HashSet};

use super::{Need, Referrer};

/// Keys of a material, in lower case.
type Keys = HashSet<Vec<u8>>;

#[derive(Default)]
pub(super) struct Patches {
    /// The keys that a patch replaces, by its index.
    replaced: HashMap<usize, Keys>,
    /// The keys whose textures were taken for replaced, by the index of the material.
    passed: HashMap<usize, Keys>,
}

impl Patches {
    /// Notes the keys that a material replaces in the one that it patches.
    pub(super) fn note(&mut self, index: usize, replaced: Keys) {
        if !replaced.is_empty() {
            self.replaced.insert(index, replaced);
        }
    }

    /// The keys of a material that everything replaces that has named it so far.
    pub(super) fn replaced(&mut self, index: usize, material: &Need) -> Keys {
        let mut referrers = material.references.iter().map(|reference| &reference.referrer);
        let first = referrers.next().and_then(|first| self.of(first)).cloned().unwrap_or_default();
        let keys: Keys = referrers.fold(first, |mut keys, referrer| {
            let own = self.of(referrer);
            keys.retain(|key| own.is_some_and(|own| own.contains(key)));
            keys
        });
        self.passed.insert(index, keys.clone());
        keys
    }

    /// Whether a material has to be read again, since this referrer does not replace all that was passed over.
    pub(super) fn uses_more(&self, index: usize, referrer: &Referrer) -> bool {
        let passed = self.passed.get(&index).filter(|passed| !passed.is_empty());
        passed.is_some_and(|passed| self.of(referrer).is_none_or(|own| !passed.is_subset(own)))
    }

    fn of(&self, referrer: &Referrer) -> Option<&Keys> {
        match referrer {
            Referrer::File { index, .. } => self.replaced.get(index),
            _ => None,
        }
    }
}
