//! The maps whose own paths a map has: the name that it was compiled with.

use std::collections::BTreeMap;

use super::report::Owner;
use super::there;
use crate::bsp::Bsp;
use crate::content::pak::lookup_name;
use crate::error::Result;

/// The maps whose folders below `materials/maps` and `maps` are in a map, by the names of its embedded files and
/// textures. A compiled Source map has its own; most files first.
///
/// # Errors
/// Those of a pakfile or of names that cannot be read.
pub fn owners(bsp: &Bsp<'_>) -> Result<Vec<Owner>> {
    let mut found: BTreeMap<Vec<u8>, Owner> = BTreeMap::new();
    let mut count = |name: &[u8], prefix: &[u8], count: fn(&mut Owner) -> &mut usize| {
        let name = lookup_name(name);
        let Some(rest) = name.strip_prefix(prefix) else { return };
        let Some(end) = rest.iter().position(|byte| *byte == b'/').filter(|end| *end > 0) else { return };
        let name = rest[..end].to_vec();
        let owner = found.entry(name.clone()).or_insert(Owner { name, files: 0, textures: 0 });
        *count(owner) += 1;
    };
    if let Some(pak) = there(bsp.pak())? {
        pak.iter().for_each(|file| count(file.name(), b"materials/maps/", |owner| &mut owner.files));
    }
    if let Some(names) = there(bsp.texture_names())? {
        names.iter().for_each(|name| count(&name.name, b"maps/", |owner| &mut owner.textures));
    }
    let mut found: Vec<Owner> = found.into_values().collect();
    found.sort_by_key(|owner| std::cmp::Reverse(owner.files + owner.textures));
    Ok(found)
}
