//! Cube maps of Source maps: the places in the lump `CUBEMAPS`, and the embedded files with their images.
//!
//! The image of a place is `materials/maps/NAME/cX_Y_Z.vtf`, with `.hdr.vtf` for light of the high range, and
//! `cubemapdefault.vtf` is for everything without one. The game writes them (`buildcubemaps`).
//!
//! ```
//! use bspkit_game::cubemaps::{self, Cubemap, Stripped};
//! let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
//! let listed: Vec<Cubemap> = cubemaps::list(&map)?.samples;
//! assert_eq!((listed[0].origin, listed[0].size, listed[0].files.len()), ([0, 0, 0], 32, 0));
//!
//! let mut draft = map.draft();
//! draft.pak()?.add("materials/maps/room_v20/c0_0_0.vtf", "VTF")?;
//! let stripped: Stripped = cubemaps::strip(&mut draft, b"room_v20", false)?;
//! assert_eq!(stripped.files, [b"materials/maps/room_v20/c0_0_0.vtf"]);
//! assert_eq!(stripped.materials, [b"materials/maps/room_v20/own/wall_0_0_0.vmt"]);
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::{HashMap, HashSet};

use super::rename::names::{cubemap_origin, is_cubemap};
use super::rename::owners;
use crate::assets::keyvalues::KeyValues;
use crate::assets::utf16::Order;
use bspkit::Bsp;
use bspkit::Draft;
use bspkit::bytes::word;
use bspkit::content::pak::{Pak, lookup_name};
use bspkit::{Error, ErrorKind, Result};

/// Texels of a side where the lump has no size.
const USUAL_SIZE: usize = 32;

/// A larger material is not read.
const MOST_READ: usize = 1 << 20;

/// The cube maps of a map.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Listed {
    /// The places, in the order of the lump.
    pub samples: Vec<Cubemap>,
    /// The embedded images that belong to no place, by index: the default ones, and those of places that were removed.
    pub others: Vec<usize>,
}

/// A place where the light is reflected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cubemap {
    /// The index in the lump.
    pub index: usize,
    /// The position in units.
    pub origin: [i32; 3],
    /// The texels of a side of the image, as the map asks for them.
    pub size: usize,
    /// The embedded images of the place, by index.
    pub files: Vec<usize>,
}

/// What was removed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stripped {
    /// The names of the files that were removed.
    pub files: Vec<Vec<u8>>,
    /// How many of them the game does not build again: the map has no place for them.
    pub lost: usize,
    /// The materials that name one of them: until the game has built cube maps again, they reflect what the engine
    /// has in their place.
    pub materials: Vec<Vec<u8>>,
    /// The images of other maps, which stay: the game does not build them.
    pub others: Vec<Vec<u8>>,
}

/// The cube maps of a map.
///
/// # Errors
/// [`ErrorKind::NotFound`] if maps of the dialect have no such lump; [`ErrorKind::Unsupported`] if its struct is not
/// known; those of a pakfile that cannot be read.
pub fn list(bsp: &Bsp<'_>) -> Result<Listed> {
    let slot = bsp.slot("CUBEMAPS")?;
    let record = bsp.row(slot)?.record();
    let fields = record.and_then(|record| Some((record.size, record.field("origin")?, record.field("size")?)));
    let unknown = || Error::new(ErrorKind::Unsupported, "the struct of cube maps is not known");
    let (bytes, origin, size) = fields.ok_or_else(unknown)?;
    let lump = bsp.in_little_endian(slot.id, bsp.bytes(slot.id)?);
    let mut files: HashMap<[i32; 3], Vec<usize>> = HashMap::new();
    let mut others = Vec::new();
    let pak = bsp.pak()?;
    for index in images(&pak) {
        match pak.get(index).and_then(|file| origin_of(file.name())) {
            Some(origin) => files.entry(origin).or_default().push(index),
            None => others.push(index),
        }
    }
    let mut samples: Vec<Cubemap> = Vec::new();
    for (index, sample) in lump.chunks_exact(bytes).enumerate() {
        let at = |axis: usize| word(sample, origin.offset + 4 * axis).unwrap_or(0);
        let origin = [at(0), at(1), at(2)];
        let size = match sample.get(size.offset) {
            Some(power @ 1..=16) => 1 << (power - 1),
            _ => USUAL_SIZE,
        };
        // Of several samples at one place each has the image.
        let files = files.get(&origin).cloned().unwrap_or_default();
        samples.push(Cubemap { index, origin, size, files });
    }
    let there: HashSet<[i32; 3]> = samples.iter().map(|sample| sample.origin).collect();
    others.extend(files.into_iter().filter(|(origin, _)| !there.contains(origin)).flat_map(|(_, files)| files));
    others.sort_unstable();
    Ok(Listed { samples, others })
}

/// Removes the embedded images of the map's own places. The default images stay unless `with_default`. The lump and the
/// materials stay, so the game can build the images again. `own` is the name of the map. Where no images are in a
/// folder of that name, its own ones are in the folder that its textures name, and without such, in those with an image
/// of one of its places.
///
/// # Errors
/// [`ErrorKind::Refused`] for the pakfile of a console, and those of a pakfile that cannot be read.
pub fn strip(draft: &mut Draft<'_>, own: &[u8], with_default: bool) -> Result<Stripped> {
    // Without places that can be read, each image may be of one.
    let listed = list(draft.bsp()).ok();
    let places = listed.map(|listed| listed.samples.iter().map(|sample| sample.origin).collect::<HashSet<_>>());
    let owners = owners(draft.bsp()).unwrap_or_default().into_iter();
    let compiled: Vec<Vec<u8>> = owners.filter(|owner| owner.textures > 0).map(|owner| owner.name).collect();
    let pak = draft.pak()?;
    let is_made = |name: &[u8]| {
        origin_of(name).is_some_and(|origin| places.as_ref().is_none_or(|places| places.contains(&origin)))
    };
    let (mut found, mut own_folders) = (Vec::new(), HashSet::new());
    for index in images(pak) {
        let Some(name) = pak.get(index).map(|file| file.name().to_vec()) else { continue };
        let folder = folder_of(&name);
        if is_made(&name) {
            own_folders.insert(folder.clone());
        }
        found.push((index, folder, name));
    }
    let folders: HashSet<Vec<u8>> = found.iter().map(|(_, folder, _)| folder.clone()).collect();
    let named = |name: Vec<u8>| Some(HashSet::from([name])).filter(|names| names.is_subset(&folders));
    if let Some(own) = named(lookup_name(own)).or_else(|| compiled.into_iter().find_map(named)) {
        own_folders = own;
    } else if folders.len() == 1 {
        own_folders = folders;
    }
    let (mut stripped, mut indices) = (Stripped::default(), Vec::new());
    for (index, folder, name) in found {
        if !own_folders.contains(&folder) {
            stripped.others.push(name);
        } else if with_default || origin_of(&name).is_some() {
            stripped.lost += usize::from(!is_made(&name));
            indices.push(index);
            stripped.files.push(name);
        }
    }
    let names: HashSet<Vec<u8>> = stripped.files.iter().map(lookup_name).collect();
    stripped.materials = if names.is_empty() { Vec::new() } else { naming(pak, &names) };
    pak.remove(&indices)?;
    Ok(stripped)
}

/// The name of the map whose image it is: the folder in `materials/maps`.
fn folder_of(name: &[u8]) -> Vec<u8> {
    lookup_name(name).split(|byte| *byte == b'/').nth(2).unwrap_or_default().to_vec()
}

/// The embedded images of cube maps.
fn images(pak: &Pak<'_>) -> Vec<usize> {
    let is_image = |name: &[u8]| {
        let name = lookup_name(name);
        let parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
        let [b"materials", b"maps", _, last] = parts[..] else { return false };
        // A material can have such a name too.
        last.contains(&b'.') && !last.ends_with(b".vmt") && is_cubemap(last)
    };
    pak.iter().filter(|file| is_image(file.name())).map(|file| file.index()).collect()
}

/// The position in the name of an image; `None` for a default one.
fn origin_of(name: &[u8]) -> Option<[i32; 3]> {
    let name = lookup_name(name);
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    cubemap_origin(last.split(|byte| *byte == b'.').next()?)
}

/// The materials that name one of these files. One that cannot be read is left out.
fn naming(pak: &Pak<'_>, names: &HashSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let is_named = |path: &[u8]| {
        let path = lookup_name(path);
        let mut ends = [&b""[..], b".vtf", b".hdr.vtf"].into_iter();
        ends.any(|end| names.contains(&[b"materials/", &path[..], end].concat()))
    };
    let names_one = |text: &[u8]| {
        let decoded = Order::of_text(text).map(|order| order.decode(text));
        let read = KeyValues::parse(decoded.as_deref().unwrap_or(text)).ok()?;
        read.iter().filter_map(|pair| pair.value()).any(is_named).then_some(())
    };
    let is_material = |name: &[u8]| lookup_name(name).ends_with(b".vmt");
    let materials = pak.iter().filter(|file| is_material(file.name()) && file.size() <= MOST_READ);
    let found = materials.filter(|file| file.data().ok().and_then(|text| names_one(&text)).is_some());
    found.map(|file| file.name().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_material_in_utf16_that_names_a_removed_image_is_listed() {
        let map = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
        let mut draft = map.draft();
        let pak = draft.pak().unwrap();
        pak.add("materials/maps/room_v20/c0_0_0.vtf", "VTF").unwrap();
        let text = "\u{FEFF}\"UnlitGeneric\" { \"$envmap\" \"maps/room_v20/c0_0_0\" }";
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        pak.add("materials/wide.vmt", units).unwrap();
        assert!(strip(&mut draft, b"room_v20", false).unwrap().materials.contains(&b"materials/wide.vmt".to_vec()));
    }

    #[test]
    fn images_that_the_game_does_not_build_stay_or_are_counted() {
        let map = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
        let stripped = |files: &[&str], own: &[u8], with_default| {
            let mut draft = map.draft();
            let pak = draft.pak().unwrap();
            for file in files {
                pak.add(format!("materials/maps/{file}.vtf"), "VTF").unwrap();
            }
            let done = strip(&mut draft, own, with_default).unwrap();
            let left = draft.pak().unwrap().iter().filter(|file| file.name().ends_with(b".vtf")).count();
            assert_eq!(left + done.files.len(), files.len());
            (done.files.len(), done.lost, done.others.len())
        };
        let mine = ["room_v20/c0_0_0", "other/c0_0_0", "other/c64_0_32", "room_v20/c1_1_1", "room_v20/cubemapdefault"];
        assert_eq!(stripped(&mine, b"Room_V20", false), (2, 1, 2));
        assert_eq!(stripped(&mine, b"room_v20", true), (3, 2, 2));
        // A copy of the map has the images of the old name.
        assert_eq!(stripped(&["room_v20/c0_0_0", "other/c64_0_32"], b"copy", false), (1, 0, 1));
        assert_eq!(stripped(&["other/c64_0_32"], b"copy", false), (1, 1, 0));
    }
}
