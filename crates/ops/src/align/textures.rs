//! Textures in the map as records of a list: the numbers of faces follow them.

use std::sync::OnceLock;

use super::lists::Lists;
use bspkit::bytes::Data;
use bspkit::content::textures::Textures;
use bspkit::dialect::{Form, Role, Row};
use bspkit::file::Slot;
use bspkit::links::Content;
use bspkit::record::{Name, Record};
use bspkit::{Bsp, Result};

bspkit::records! {
    /// A texture in a map as records are compared: by its name and its bytes.
    struct Texture(24) {
        name: Name<16>,
        length: u32,
        checksum: u32,
    }
}

/// Textures as records of a lump; the row of the lump itself is another one.
static ROW: OnceLock<Row> = OnceLock::new();

/// The lump with the textures of a map; in other families their names are records.
pub(crate) fn slot_of<'m>(map: &'m Bsp<'_>) -> Option<&'m Slot> {
    map.role(Role::Textures).filter(|_| map.has_textures())
}

/// The lists of several maps, with their textures if those of all can be read.
pub(crate) fn with_textures<'m, 'a, const N: usize>(maps: [&'m Bsp<'a>; N]) -> Result<[Lists<'m, 'a>; N]> {
    let all = maps.map(content);
    let are_known = all.iter().all(Option::is_some);
    let mut all = all.into_iter();
    each(maps, |map| {
        let own = all.next().flatten().filter(|_| are_known);
        let is_it = |slot: &Slot| slot_of(map).is_some_and(|own| own.id == slot.id);
        Ok(Lists::with(map, map.links_with(|slot| own.clone().filter(|_| is_it(slot)))?))
    })
}

/// What `read` reads of each map.
pub(crate) fn each<M, T, const N: usize>(maps: [M; N], read: impl FnMut(M) -> Result<T>) -> Result<[T; N]> {
    let read: Vec<T> = maps.into_iter().map(read).collect::<Result<_>>()?;
    Ok(read.try_into().unwrap_or_else(|_| unreachable!("one for each map")))
}

/// The textures of a map as records; `None` if it has none, or if their directory cannot be read.
fn content<'a>(map: &Bsp<'a>) -> Option<Content<'a>> {
    let slot = slot_of(map)?;
    let row = map.row(slot).ok()?;
    let row = ROW.get_or_init(|| {
        let mut row = *row;
        row.form = Form::Array(Texture::INFO);
        row
    });
    let textures = map.lens::<Textures<'_>>().ok()?;
    let mut bytes = Vec::with_capacity(textures.len() * Texture::INFO.size);
    for index in 0..textures.len() {
        let mut name = [0; 16];
        let own = textures.name(index).unwrap_or_default();
        name.iter_mut().zip(own).for_each(|(byte, own)| *byte = *own);
        // What is missing or damaged has no bytes that are known to be its own.
        let texture = textures.get(index).ok().flatten();
        let own = texture.as_ref().map_or(&[][..], |texture| texture.bytes());
        let length = u32::try_from(own.len()).unwrap_or(u32::MAX);
        bytes.extend(Texture { name: Name(name), length, checksum: crc32fast::hash(own) }.encode());
    }
    let bytes = Data::from(bytes);
    Some(Content { row, lists: bspkit::Records::lists(slot, row, bytes.clone()).ok()?, bytes })
}
