//! Textures in a map, and lists of their names.

use super::change::{Change, TextureChange};
use super::{Found, Sides};
use crate::bytes::Data;
use crate::content::textures::Textures;

/// A texture's name, and its bytes after the name.
type Texture<'t> = (Option<Vec<u8>>, Option<&'t [u8]>);

pub(super) fn compare(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.textures(), sides.new.textures()) else { return };
    for index in 0..old.len().max(new.len()) {
        add(index, texture(&old, index), texture(&new, index), found);
    }
}

fn texture<'t>(textures: &'t Textures<'_>, index: usize) -> Texture<'t> {
    /// How many bytes a name has.
    const NAME: usize = 16;
    if index >= textures.len() {
        return (None, None);
    }
    let image = textures.get(index).ok().flatten().and_then(|texture| texture.bytes().get(NAME..));
    (textures.name(index).map(<[u8]>::to_vec), image)
}

/// Compares the names of a list.
pub(super) fn compare_strings(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.texture_names(), sides.new.texture_names()) else { return };
    let (mut old, mut new) = (old.iter(), new.iter());
    for index in 0.. {
        let (before, after) = (old.next(), new.next());
        if before.is_none() && after.is_none() {
            break;
        }
        add(index, (before.map(|name| name.name), None), (after.map(|name| name.name), None), found);
    }
}

fn add(index: usize, (old, old_image): Texture<'_>, (new, new_image): Texture<'_>, found: &mut Found) {
    let image = old_image != new_image;
    if old != new || image {
        found.touched().textures += 1;
        found.add(|| Change::Texture(TextureChange { index, old, new, image }));
    }
}
