//! Textures that are damaged: each is told by what is wrong with it, and the others are read. What is legal is not told.

use bspkit::ErrorKind;
use bspkit::content::textures::Textures;

use super::built::{external, lump, miptex};

fn with(mut bytes: Vec<u8>, at: usize, new: &[u8]) -> Vec<u8> {
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

#[test]
fn each_fault_has_its_sentence() {
    let good = miptex("good", 16, 16, 1);
    let word = |value: u32| value.to_le_bytes();
    let palette = 40 + 16 * 16 * 85 / 64;
    let cases: [(&str, Vec<u8>, &str); 11] = [
        ("cut header", good[..39].to_vec(), "39 bytes are too few for a header of 40"),
        ("no width", with(good.clone(), 16, &word(0)), "its size is 0 by 16, and engines need multiples of 16"),
        ("odd width", with(good.clone(), 16, &word(24)), "its size is 24 by 16, and engines need multiples of 16"),
        ("huge", with(good.clone(), 16, &[word(1 << 31), word(1 << 31)].concat()), "do not fit"),
        ("too high", with(good.clone(), 20, &word(64)), "the pixels of 16 by 64 and its smaller copies do not fit"),
        (
            "image elsewhere",
            with(good.clone(), 24, &word(44)),
            "the offset of the image is 44, and engines read it at 40",
        ),
        (
            "copy elsewhere",
            with(good.clone(), 32, &word(0)),
            "the offset of smaller copy 2 is 0, and engines read it at 360",
        ),
        ("copy far away", with(good.clone(), 36, &word(u32::MAX)), "the offset of smaller copy 3 is 4294967295"),
        ("few colours", with(good.clone(), palette, &[16, 0]), "its palette has 16 colours, and engines read 256"),
        ("no palette", good[..palette + 1].to_vec(), "it ends before its palette"),
        ("cut palette", good[..palette + 2 + 767].to_vec(), "its palette is cut short: 767 of 768 bytes are there"),
    ];
    for (name, bad, says) in cases {
        // The bad one stands last, where it may be cut; the good one before it.
        let start = i32::try_from(12 + good.len()).unwrap();
        let textures = Textures::parse(lump(&[12, start], &[good.clone(), bad].concat())).unwrap();
        assert_eq!(textures.get(0).unwrap().unwrap().bytes(), good, "{name}");
        let error = textures.get(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{name}");
        assert!(error.to_string().contains(says), "{name}: {error}");
        assert!(error.to_string().contains("(TEXTURES, record 1)"), "{name}: {error}");
    }
}

#[test]
fn places_outside_of_the_lump_are_told() {
    let good = miptex("good", 16, 16, 1);
    for place in [-2, 0, 15, 10_000, i32::MAX, i32::MIN] {
        let textures = Textures::parse(lump(&[16, place, -1], &good)).unwrap();
        assert!(textures.get(0).unwrap().is_some());
        let error = textures.get(1).unwrap_err().to_string();
        assert!(error.starts_with(&format!("its offset is {place}")), "{error}");
        assert!(textures.get(2).unwrap().is_none());
        assert_eq!(textures.get(3).unwrap_err().kind(), ErrorKind::NotFound);
    }
    for (bytes, says) in [
        (vec![1], "1 bytes are too few for the number"),
        (lump(&[], &[])[..3].to_vec(), "3 bytes"),
        (vec![2, 0, 0, 0, 9, 9, 9, 9], "no room for the offsets of 2"),
        (vec![0xFF; 64], "no room for the offsets of -1"),
        (vec![0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0], "no room for the offsets of 2147483647"),
    ] {
        assert!(Textures::parse(&bytes[..]).unwrap_err().to_string().contains(says), "{says}");
    }
}

#[test]
fn what_is_legal_is_no_finding() {
    // Missing, external, without padding behind the last palette, with junk in name and padding, no textures at all.
    let last = miptex("last", 16, 16, 1);
    let content = [external("wad"), last[..last.len() - 2].to_vec()].concat();
    let textures = Textures::parse(lump(&[-1, 16, 56], &content)).unwrap();
    assert!(textures.get(0).unwrap().is_none());
    assert!(!textures.get(1).unwrap().unwrap().is_embedded());
    assert!(textures.get(2).unwrap().unwrap().is_embedded());
    assert!(Textures::parse(&b""[..]).unwrap().is_empty());
    assert!(Textures::parse(&[0; 4][..]).unwrap().is_empty());
}

#[test]
fn an_edit_that_cannot_be_leaves_everything() {
    let bytes = lump(&[-1, 12], &miptex("wall", 16, 16, 1));
    let mut textures = Textures::parse(&bytes[..]).unwrap();
    assert_eq!(textures.rename(1, b"sixteen letters!").unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(textures.set_level(1, 1, &[0; 63]).unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(textures.set_level(1, 4, &[]).unwrap_err().kind(), ErrorKind::Refused);
    let odd = bspkit::content::textures::Image::new(24, 16, vec![0; 24 * 16]).unwrap();
    assert_eq!(textures.set_image(1, &odd, None).unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(textures.strip(0).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!textures.is_edited());
    assert_eq!(textures.to_bytes().unwrap(), bytes);
}
