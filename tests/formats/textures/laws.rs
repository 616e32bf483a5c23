//! Laws of pixels, tried on the fixtures and on real maps, and faults that they see.

use bspkit::content::palette::Palette;
use bspkit::content::textures::{Image, Miptex, Textures};
use bspkit::{Bsp, Layout};

use super::corpus;

/// Colours for textures that have none of their own.
fn greys(texture: &Miptex<'_>) -> Option<Palette> {
    let mut colors = [0; 768];
    colors.iter_mut().enumerate().for_each(|(at, part)| *part = u8::try_from(at / 3).unwrap());
    (!texture.has_palette()).then_some(Palette(colors))
}

type Save = fn(&Bsp<'static>, &Textures<'static>) -> Vec<u8>;

fn save(map: &Bsp<'static>, textures: &Textures<'static>) -> Vec<u8> {
    let mut draft = map.draft();
    *draft.textures().unwrap() = textures.clone();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

/// The indices of textures with pixels.
fn embedded(textures: &Textures<'_>) -> Vec<usize> {
    let is_embedded = |index: &usize| textures.get(*index).is_ok_and(|it| it.is_some_and(|it| it.is_embedded()));
    (0..textures.len()).filter(is_embedded).collect()
}

/// Where the lump begins: the third entry of the directory behind the version.
fn lump_at(map: &Bsp<'_>) -> usize {
    usize::try_from(map.slot("TEXTURES").unwrap().offset).unwrap()
}

/// What every texture has already is no edit.
fn identity(map: &Bsp<'static>, bytes: &[u8], save: Save) -> Result<(), String> {
    let mut textures = Textures::clone(&map.textures().unwrap());
    for index in embedded(&textures) {
        let texture = textures.get(index).unwrap().unwrap();
        let (image, palette) = (texture.image().unwrap(), texture.palette());
        let level = texture.pixels(2).unwrap().to_vec();
        textures.set_image(index, &image, palette.as_ref()).unwrap();
        textures.set_level(index, 2, &level).unwrap();
    }
    match save(map, &textures) == bytes {
        true => Ok(()),
        false => Err("the map changed".into()),
    }
}

/// A texel that changes changes its own byte, and in each smaller copy at most the one that it is a part of.
fn one_texel(map: &Bsp<'static>, bytes: &[u8], save: Save) -> Result<usize, String> {
    let textures = map.textures().unwrap();
    let places: Vec<usize> = embedded(&textures);
    for index in &places {
        let texture = textures.get(*index).unwrap().unwrap();
        let mut image = texture.image().unwrap();
        let (width, height) = (usize::try_from(image.width).unwrap(), usize::try_from(image.height).unwrap());
        let (x, y) = (width - 1, height / 2);
        image.pixels[y * width + x] ^= 0x55;
        let start = texture.bytes().as_ptr().addr();
        let mut edited = Textures::clone(&textures);
        edited.set_image(*index, &image, greys(&texture).as_ref()).unwrap();
        let new = save(map, &edited);
        if new.len() != bytes.len() {
            return Err(format!("texture {index}: the size of the map changed"));
        }
        let lump = map.bytes(map.slot("TEXTURES").unwrap().id).unwrap();
        let mut at = lump_at(map) + (start - lump.as_ptr().addr()) + 40;
        let mut legal = Vec::new();
        for level in 0..4 {
            legal.push(at + (y >> level) * (width >> level) + (x >> level));
            at += (width >> level) * (height >> level);
        }
        let changed: Vec<usize> = (0..bytes.len()).filter(|at| new[*at] != bytes[*at]).collect();
        if changed.first() != Some(&legal[0]) || !changed.iter().all(|at| legal.contains(at)) {
            return Err(format!("texture {index}: {changed:?} changed, not {legal:?}"));
        }
    }
    Ok(places.len())
}

/// What is stripped and embedded again is as it was; in between all other slots are.
fn strip_and_embed(map: &Bsp<'static>, bytes: &[u8], save: Save) -> Result<(), String> {
    let textures = map.textures().unwrap();
    let mut stripped = Textures::clone(&textures);
    for index in embedded(&textures) {
        stripped.strip(index).unwrap();
    }
    let saved = Bsp::from_vec(save(map, &stripped)).unwrap();
    let lumps = map.slots().iter().filter(|slot| slot.name != "TEXTURES");
    for slot in lumps {
        if map.bytes(slot.id).ok().map(|old| old.to_vec()) != saved.bytes(slot.id).ok().map(|new| new.to_vec()) {
            return Err(format!("{} changed", slot.name));
        }
    }
    let mut again = Textures::clone(&saved.textures().unwrap());
    for index in 0..textures.len() {
        let (old, new) = (textures.get(index), again.get(index));
        let (Ok(Some(old)), Ok(Some(new))) = (old, new) else { continue };
        if new.is_embedded() || new.header().name != old.header().name {
            return Err(format!("texture {index} is not its name alone"));
        }
        if old.is_embedded() {
            again.embed(index, &old).unwrap();
        }
    }
    let back = Bsp::from_vec(save(&saved, &again)).unwrap();
    let lump = |map: &Bsp<'_>| map.bytes(map.slot("TEXTURES").unwrap().id).unwrap().to_vec();
    let _ = bytes;
    match lump(&back) == lump(map) {
        true => Ok(()),
        false => Err("the lump does not come back".into()),
    }
}

fn fixture(name: &str) -> (Bsp<'static>, Vec<u8>) {
    let name = if name.contains('/') { name.to_owned() } else { format!("goldsrc/{name}") };
    let bytes = std::fs::read(format!("tests/maps/{name}.bsp")).unwrap();
    (Bsp::from_vec(bytes.clone()).unwrap(), bytes)
}

#[test]
fn the_fixtures_keep_the_laws() {
    for name in ["own_rooms", "own_rooms_sdhlt", "own_box", "q1/own_rooms", "bsp2/own_rooms"] {
        let (map, bytes) = fixture(name);
        assert_eq!(identity(&map, &bytes, save), Ok(()), "{name}");
        assert!(one_texel(&map, &bytes, save).is_ok(), "{name}");
        assert_eq!(strip_and_embed(&map, &bytes, save), Ok(()), "{name}");
    }
}

#[test]
fn real_maps_keep_the_laws() {
    let (mut maps, mut textures) = (0, 0);
    for path in corpus::maps() {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(map) = Bsp::from_vec(bytes.clone()) else { continue };
        if !map.textures().is_ok_and(|textures| !textures.is_empty()) {
            continue;
        }
        let place = path.display();
        assert_eq!(identity(&map, &bytes, save), Ok(()), "{place}");
        textures += one_texel(&map, &bytes, save).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(strip_and_embed(&map, &bytes, save), Ok(()), "{place}");
        maps += 1;
    }
    eprintln!("{textures} textures with pixels in {maps} maps with textures");
}

/// A save that changes a byte of the lump more than it should.
fn careless(map: &Bsp<'static>, textures: &Textures<'static>) -> Vec<u8> {
    let mut saved = save(map, textures);
    let at = saved.len() - 30;
    saved[at] ^= 1;
    saved
}

/// A save that leaves the directory of textures as it was.
fn without_directory(map: &Bsp<'static>, textures: &Textures<'static>) -> Vec<u8> {
    let mut draft = map.draft();
    let slot = map.slot("TEXTURES").unwrap().id;
    let mut lump = textures.to_bytes().unwrap();
    let old = map.bytes(slot).unwrap();
    let end = 4 + 4 * textures.len();
    lump[..end].copy_from_slice(&old[..end]);
    draft.set(slot, lump).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

#[test]
fn the_laws_see_faults() {
    let (map, bytes) = fixture("own_rooms");
    assert!(identity(&map, &bytes, careless).is_err());
    assert!(one_texel(&map, &bytes, careless).is_err());
    assert!(strip_and_embed(&map, &bytes, without_directory).is_err());
}

/// The smaller copies of an image that is new as a whole follow it.
#[test]
fn smaller_copies_follow() {
    let (map, _) = fixture("own_rooms");
    let mut textures = Textures::clone(&map.textures().unwrap());
    let color = textures.get(1).unwrap().unwrap().pixels(0).unwrap()[0];
    let image = Image::new(48, 16, vec![color; 48 * 16]).unwrap();
    textures.set_image(1, &image, None).unwrap();
    let new = textures.get(1).unwrap().unwrap();
    assert_eq!((new.width(), new.height()), (48, 16));
    assert!((0..4).all(|level| new.pixels(level).unwrap().iter().all(|pixel| *pixel == color)));
    let saved = Bsp::from_vec(save(&map, &textures)).unwrap();
    let read = saved.textures().unwrap();
    for index in (0..textures.len()).filter(|index| *index != 1) {
        let bytes = |textures: &Textures<'_>| textures.get(index).unwrap().map(|texture| texture.bytes().to_vec());
        assert_eq!(bytes(&read), bytes(&map.textures().unwrap()), "{index}");
    }
}
