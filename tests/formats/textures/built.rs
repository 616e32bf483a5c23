//! Lumps that are built here: entries that share bytes, gaps, odd places. What was not edited reads as before.

use bspkit::content::textures::Textures;
use proptest::prelude::*;

use super::random;

/// A texture of GoldSrc as its bytes; `seed` makes it differ from others.
pub(crate) fn miptex(name: &str, width: usize, height: usize, seed: u8) -> Vec<u8> {
    let mut bytes = vec![0xEE; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes[name.len()] = 0;
    let size = width * height;
    let words = [width, height, 40, 40 + size, 40 + size + size / 4, 40 + size + size / 4 + size / 16];
    words.iter().for_each(|word| bytes.extend_from_slice(&u32::try_from(*word).unwrap().to_le_bytes()));
    let pixel = |at: usize| u8::try_from(at * 7 % 251).unwrap() ^ seed;
    bytes.extend((0..size * 85 / 64).map(pixel));
    bytes.extend_from_slice(&[0, 1]);
    bytes.extend((0..768).map(|at| u8::try_from(at % 256).unwrap().wrapping_add(seed)));
    bytes.extend_from_slice(b"PD");
    bytes
}

/// A texture whose pixels are elsewhere.
pub(crate) fn external(name: &str) -> Vec<u8> {
    let mut bytes = miptex(name, 16, 16, 0)[..24].to_vec();
    bytes.extend_from_slice(&[0; 16]);
    bytes
}

/// A lump: the places of entries as they are told, and the bytes behind the directory.
pub(crate) fn lump(places: &[i32], content: &[u8]) -> Vec<u8> {
    let mut bytes = i32::try_from(places.len()).unwrap().to_le_bytes().to_vec();
    places.iter().for_each(|place| bytes.extend_from_slice(&place.to_le_bytes()));
    bytes.extend_from_slice(content);
    bytes
}

/// What is read of every entry.
fn all(lump: &[u8]) -> Vec<Option<Vec<u8>>> {
    let textures = Textures::parse(lump).unwrap();
    (0..textures.len())
        .map(|index| textures.get(index).ok().flatten().map(|texture| texture.bytes().to_vec()))
        .collect()
}

#[derive(Clone, Debug)]
enum Place {
    Missing,
    Outside(i32),
    /// At a multiple of 4 somewhere in the content.
    Anywhere(usize),
    /// Where one of the textures stands.
    Texture(usize),
}

fn places() -> impl Strategy<Value = Vec<Place>> {
    let place = prop_oneof![
        1 => Just(Place::Missing),
        1 => prop_oneof![Just(-2), Just(1 << 30), Just(0), Just(7)].prop_map(Place::Outside),
        1 => (0_usize..2000).prop_map(Place::Anywhere),
        6 => (0_usize..5).prop_map(Place::Texture),
    ];
    proptest::collection::vec(place, 1..7)
}

#[derive(Clone, Copy, Debug)]
enum Edit {
    Strip,
    Rename,
    Texel,
    Embed,
}

fn edits() -> impl Strategy<Value = Vec<(usize, Edit)>> {
    let edit = prop_oneof![Just(Edit::Strip), Just(Edit::Rename), Just(Edit::Texel), Just(Edit::Embed)];
    proptest::collection::vec((0_usize..7, edit), 1..5)
}

proptest! {
    #![proptest_config(random::config(600, "tests/proptest-regressions/textures.txt"))]

    /// Whatever shares bytes with what: an edited texture reads as it was made, every other one as before.
    #[test]
    fn an_edit_is_about_its_texture_alone(places in places(), gap in 0_usize..9, edits in edits()) {
        let textures = [
            miptex("one", 16, 16, 1), external("two"), miptex("three", 32, 16, 3), miptex("four", 16, 48, 4), external("five"),
        ];
        let start = 4 + 4 * places.len();
        let mut content = Vec::new();
        let mut starts = Vec::new();
        for texture in &textures {
            content.resize(content.len() + gap, b'g');
            starts.push(start + content.len());
            content.extend_from_slice(texture);
        }
        let place = |place: &Place| match place {
            Place::Missing => -1,
            Place::Outside(place) => *place,
            Place::Anywhere(at) => i32::try_from(start + at).unwrap(),
            Place::Texture(index) => i32::try_from(starts[*index]).unwrap(),
        };
        let places: Vec<i32> = places.iter().map(place).collect();
        let bytes = lump(&places, &content);
        let mut wanted = all(&bytes);
        let mut lens = Textures::parse(&bytes[..]).unwrap();
        let other = miptex("other", 32, 32, 9);
        let other = Textures::parse(lump(&[8], &other)).unwrap();
        let other = other.get(0).unwrap().unwrap();
        for (index, edit) in edits {
            if index >= lens.len() || wanted[index].is_none() {
                continue;
            }
            let image = lens.get(index).unwrap().unwrap().image();
            match (edit, image) {
                (Edit::Strip, _) => lens.strip(index).unwrap(),
                (Edit::Rename, _) => lens.rename(index, b"another").unwrap(),
                (Edit::Embed, _) => lens.embed(index, &other).unwrap(),
                (Edit::Texel, Some(mut image)) => {
                    image.pixels[5] ^= 1;
                    lens.set_image(index, &image, None).unwrap();
                }
                (Edit::Texel, None) => {}
            }
            wanted[index] = Some(lens.get(index).unwrap().unwrap().bytes().to_vec());
        }
        let new = lens.to_bytes().unwrap();
        let read = all(&new);
        for (index, (wanted, read)) in wanted.iter().zip(&read).enumerate() {
            // What could not be read may read as anything, as long as nobody was told it could.
            if wanted.is_some() {
                prop_assert_eq!(wanted, read, "entry {}", index);
            }
        }
        if !lens.is_edited() {
            prop_assert_eq!(new, bytes);
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), count in -1_i32..9) {
        if let Some(first) = bytes.first_chunk_mut() {
            *first = count.to_le_bytes();
        }
        let Ok(mut textures) = Textures::parse(&bytes[..]) else { return Ok(()) };
        for index in 0..textures.len() {
            let _ = textures.name(index);
            if textures.get(index).is_ok_and(|texture| texture.is_some()) {
                textures.rename(index, b"x").unwrap();
            }
        }
        prop_assert!(textures.to_bytes().unwrap().len() >= bytes.len());
    }
}

#[test]
fn gaps_and_junk_stay_when_textures_grow() {
    let (one, two) = (external("one"), miptex("two", 16, 16, 2));
    let content = [b"gap!", &one[..], b"junk", &two, b"tail"].concat();
    let bytes = lump(&[16, 60], &content);
    let mut textures = Textures::parse(&bytes[..]).unwrap();
    let from = Textures::parse(lump(&[8], &miptex("from", 32, 32, 5))).unwrap();
    let from = from.get(0).unwrap().unwrap();
    textures.embed(0, &from).unwrap();
    let new = textures.to_bytes().unwrap();
    let grown = from.bytes().len() - 40;
    assert_eq!(new.len(), bytes.len() + grown);
    assert_eq!(&new[12..16], b"gap!");
    // All 16 bytes of the own name, junk included.
    assert_eq!(new[16..32], bytes[16..32]);
    assert_eq!(new[56 + grown..], bytes[56..]);
    assert_eq!(new[8..12], i32::try_from(60 + grown).unwrap().to_le_bytes());
    // And back again.
    let mut back = Textures::parse(&new[..]).unwrap();
    back.strip(0).unwrap();
    let back = back.to_bytes().unwrap();
    assert_eq!(back.len(), bytes.len());
    assert_eq!((&back[..32], &back[56..]), (&bytes[..32], &bytes[56..]));
}

#[test]
fn of_two_that_share_bytes_one_is_edited() {
    let bytes = lump(&[12, 12], &miptex("both", 16, 16, 1));
    let mut textures = Textures::parse(&bytes[..]).unwrap();
    textures.rename(1, b"own").unwrap();
    let new = textures.to_bytes().unwrap();
    let new = Textures::parse(&new[..]).unwrap();
    assert_eq!((new.name(0), new.name(1)), (Some(&b"both"[..]), Some(&b"own"[..])));
    assert_eq!(new.get(0).unwrap().unwrap().pixels(0), new.get(1).unwrap().unwrap().pixels(0));
}

#[test]
fn padding_and_the_name_stay_under_another_image() {
    let mut textures = Textures::parse(lump(&[8], &miptex("wall", 16, 16, 1))).unwrap();
    let image = bspkit::content::textures::Image::new(32, 16, vec![3; 512]).unwrap();
    textures.set_image(0, &image, None).unwrap();
    let new = textures.get(0).unwrap().unwrap();
    assert!(new.bytes().ends_with(b"PD"));
    assert_eq!(new.header().name.0[4..8], [0, 0xEE, 0xEE, 0xEE]);
}

/// Textures that follow each other without padding, as some compilers wrote them: most begin at odd places.
fn unpadded(count: usize) -> Vec<u8> {
    let mut content = Vec::new();
    let mut places = Vec::new();
    for at in 0..count {
        places.push(i32::try_from(4 + 4 * count + content.len()).unwrap());
        let texture = miptex(&format!("t{at}"), 16 * (1 + at % 3), 16, u8::try_from(at).unwrap());
        content.extend_from_slice(&texture[..texture.len() - 2]);
    }
    lump(&places, &content)
}

#[test]
fn strip_removes_all_pixels_of_unpadded_textures_and_embed_brings_them_back() {
    let old = unpadded(7);
    let own = all(&old);
    for (at, bytes) in own.iter().enumerate() {
        let whole = miptex(&format!("t{at}"), 16 * (1 + at % 3), 16, u8::try_from(at).unwrap());
        assert_eq!(bytes.as_deref(), Some(&whole[..whole.len() - 2]), "nothing of the next texture belongs to it");
    }
    let mut bare = Textures::parse(&old[..]).unwrap();
    (0..7).for_each(|index| bare.strip(index).unwrap());
    let bare = bare.to_bytes().unwrap();
    assert_eq!(bare.len(), 4 + 7 * (4 + 40));
    let mut back = Textures::parse(&bare[..]).unwrap();
    for (index, texture) in own.iter().enumerate() {
        let texture = bspkit::content::textures::Miptex::read(texture.as_ref().unwrap()).unwrap();
        back.embed(index, &texture).unwrap();
    }
    // Headers alone are aligned by chance: all that comes into such a lump is aligned, with padding behind it.
    let back = back.to_bytes().unwrap();
    for (now, own) in all(&back).iter().zip(&own) {
        let (now, own) = (now.as_ref().unwrap(), own.as_ref().unwrap());
        assert!(now.starts_with(own) && now[own.len()..].iter().all(|byte| *byte == 0) && now.len() < own.len() + 4);
    }
    // One texture alone: the others move, and stay as they are.
    for alone in 0..7 {
        let mut one = Textures::parse(&old[..]).unwrap();
        one.strip(alone).unwrap();
        let new = one.to_bytes().unwrap();
        assert_eq!(old.len() - new.len(), own[alone].as_ref().unwrap().len() - 40);
        let is_other = |index: &usize| *index != alone;
        assert!((0..7).filter(is_other).all(|index| all(&new)[index] == own[index]));
    }
}
