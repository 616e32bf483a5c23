//! WAD and WAL files: the project's own, and damaged ones.

use bspkit::content::palette::Palette;
use bspkit::content::textures::{Image, Miptex};
use bspkit::content::wad::Wad;
use bspkit::content::wal::{Wal, WalHeader};
use bspkit::record::{Name, Record};
use bspkit::{Bsp, ErrorKind, Layout};

fn source(name: &str) -> Vec<u8> {
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/src").join(name)).unwrap()
}

fn palette() -> Palette {
    Palette::read(&source("q2/pics/colormap.pcx")).unwrap()
}

/// The compiler took the textures out of this WAD file, so they are the same to the last byte but for their places.
#[test]
fn a_map_has_what_the_wad_file_has() {
    let wad = Wad::parse(source("own_hl.wad")).unwrap();
    let map = Bsp::open("tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let textures = map.textures().unwrap();
    let mut draft = map.draft();
    let stripped = draft.textures().unwrap();
    for index in 1..textures.len() {
        let texture = textures.get(index).unwrap().unwrap();
        let entry = wad.find(texture.name().to_ascii_lowercase()).unwrap();
        let own = wad.miptex(entry).unwrap();
        assert_eq!(own.palette(), texture.palette());
        assert!((0..4).all(|level| own.pixels(level) == texture.pixels(level)), "{index}");
        stripped.strip(index).unwrap();
    }
    assert!(draft.textures().unwrap().get(1).unwrap().is_some_and(|texture| !texture.is_embedded()));
    let again = draft.textures().unwrap();
    for index in 1..again.len() {
        let entry = wad.find(again.name(index).unwrap()).unwrap();
        again.embed(index, &wad.miptex(entry).unwrap()).unwrap();
    }
    assert!(draft.plan(Layout::Keep).unwrap().is_identity());
}

#[test]
fn a_damaged_wad_file_gives_what_is_whole() {
    let good = source("own_hl.wad");
    let with = |at: usize, new: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        Wad::parse(bytes)
    };
    let directory = usize::try_from(u32::from_le_bytes(*good[8..].first_chunk().unwrap())).unwrap();
    for (at, new) in [(0, &b"WAD4"[..]), (4, &[0xFF; 4]), (4, &[0xFF, 0xFF, 0xFF, 0x7F]), (8, &[0xFF; 4]), (4, &[11])] {
        assert_eq!(with(at, new).unwrap_err().kind(), ErrorKind::Malformed, "{at}");
    }
    for (at, new, kind, says) in [
        (0, &[0xFF; 4][..], ErrorKind::Malformed, "are not in the file"),
        (4, &[0xFF, 0xFF, 0xFF, 0x7F][..], ErrorKind::Malformed, "are not in the file"),
        (4, &[200, 0, 0, 0], ErrorKind::Malformed, "`OWN_WALL` is not a valid texture"),
        (12, &[0x42], ErrorKind::NotFound, "is of kind 0x42"),
        (13, &[1], ErrorKind::Malformed, "compressed"),
    ] {
        let wad = with(directory + at, new).unwrap();
        let error = wad.miptex(0).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!((1..10).all(|entry| wad.miptex(entry).is_ok()));
    }
    assert_eq!(Wad::parse(good).unwrap().miptex(10).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_wal_file_changes_where_it_is_edited() {
    let old = source("q2/textures/own/water.wal");
    let mut wal = Wal::parse(old.clone()).unwrap();
    let same = Image::new(64, 64, wal.pixels(0).unwrap().to_vec()).unwrap();
    wal.set_image(&same, &palette()).unwrap();
    wal.update(|header| header.width = 5);
    assert_eq!(wal.bytes(), old);
    let mut image = same;
    image.pixels[65 * 3] ^= 1;
    wal.set_image(&image, &palette()).unwrap();
    let changed: Vec<usize> = (0..old.len()).filter(|at| wal.bytes()[*at] != old[*at]).collect();
    assert_eq!(changed.iter().filter(|at| **at < 100 + 64 * 64).collect::<Vec<_>>(), [&(100 + 65 * 3)]);
    let places = [100 + 65 * 3, 4196 + 33, 5220, 5476];
    assert!(changed.iter().all(|at| places.contains(at)), "{changed:?}");
    wal.update(|header| assert!(header.next_name.set(b"own/water2")));
    assert_eq!(Wal::parse(wal.bytes().to_vec()).unwrap().header().next_name.bytes(), b"own/water2");
}

#[test]
fn a_new_wal_file_is_one_that_is_read() {
    let image = Image::new(16, 32, (0..=255).chain(0..=255).collect()).unwrap();
    let mut wal = Wal::new(b"own/new", &image, &palette()).unwrap();
    assert_eq!(wal.bytes().len(), 100 + 16 * 32 * 85 / 64);
    assert_eq!(wal.header().offsets, [100, 612, 740, 772]);
    let read = Wal::parse(wal.bytes().to_vec()).unwrap();
    assert_eq!(read.pixels(0), Some(&image.pixels[..]));
    let larger = Image::new(32, 32, vec![9; 1024]).unwrap();
    wal.update(|header| header.flags = 0x8000_0004);
    wal.set_image(&larger, &palette()).unwrap();
    assert_eq!((wal.bytes().len(), wal.header().flags), (100 + 1360, 0x8000_0004));
    assert!(wal.pixels(3).unwrap().iter().all(|pixel| *pixel == 9));
    assert!(Wal::new(&[b'a'; 32], &image, &palette()).is_err());
    assert!(Wal::new(b"odd", &Image::new(8, 32, vec![0; 256]).unwrap(), &palette()).is_err());
}

#[test]
fn a_wal_file_that_lies_is_told() {
    let good = source("q2/textures/own/wall.wal");
    let with = |change: fn(&mut WalHeader)| {
        let mut header = WalHeader::decode(&good).unwrap();
        change(&mut header);
        [header.encode(), good[100..].to_vec()].concat()
    };
    let bad: [(&str, Vec<u8>); 7] = [
        ("99 bytes are too few for a header", good[..99].to_vec()),
        ("level 3 of 64 by 64", good[..good.len() - 1].to_vec()),
        ("size is 0 by 64", with(|header| header.width = 0)),
        ("does not fit", with(|header| header.height = u32::MAX)),
        ("level 2 of 64 by 64 at 4294967295", with(|header| header.offsets[2] = u32::MAX)),
        ("a level at 99 overlaps the bytes before it, which end at 100", with(|header| header.offsets[1] = 99)),
        ("overlaps the bytes before", with(|header| header.offsets[3] = header.offsets[2])),
    ];
    for (says, bytes) in bad {
        let error = Wal::parse(bytes).unwrap_err();
        assert!(error.to_string().contains(says), "{says}: {error}");
    }
    // Legal: bytes behind the levels, levels in another order, junk behind a name.
    let mut odd = [good.clone(), b"behind".to_vec()].concat();
    let mut header = WalHeader::decode(&good).unwrap();
    header.name = Name(*b"own\0junk behind the end.........");
    odd[..100].copy_from_slice(&header.encode());
    let mut wal = Wal::parse(odd.clone()).unwrap();
    wal.update(|header| header.width = 1);
    assert_eq!(wal.bytes(), odd);
}

/// The same texture is there once; one that differs in any pixel, copy, colour or size is another one.
#[test]
fn a_wad_file_tells_textures_of_one_name_apart() {
    let wad = Wad::parse(source("own_hl.wad")).unwrap();
    let texture = wad.miptex(wad.find("own_wall").unwrap()).unwrap();
    let bytes = texture.bytes();
    let mut new = Wad::new(true);
    assert!(new.add(&texture).unwrap());
    let renamed = texture.with_name(b"Own_Wall").unwrap();
    assert!(!new.add(&Miptex::read(&renamed).unwrap()).unwrap(), "case does not count");
    let unpadded = Miptex::read(&bytes[..bytes.len() - 2]).unwrap();
    assert!(!new.add(&unpadded).unwrap(), "padding does not count");
    let size = |level: usize| (32 >> level) * (32 >> level);
    let levels: Vec<usize> = (0..4).map(|level| 40 + (0..level).map(size).sum::<usize>()).collect();
    for at in [levels[0], levels[1] - 1, levels[1], levels[2], levels[3], bytes.len() - 3] {
        let mut other = bytes.to_vec();
        other[at] ^= 1;
        let error = new.add(&Miptex::read(&other).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{at}");
        assert!(error.to_string().contains("OWN_WALL"), "{error}");
    }
    assert_eq!(new.entries().len(), 1);
    // What has no pixels, no name, or no palette is refused, and nothing is added.
    for bad in [texture.without_pixels(), texture.with_name(b"").unwrap()] {
        assert_eq!(new.add(&Miptex::read(&bad).unwrap()).unwrap_err().kind(), ErrorKind::Refused);
    }
    let bare = Miptex::read_bare(bytes).unwrap();
    assert_eq!(new.add(&bare).unwrap_err().kind(), ErrorKind::Refused);
    let again = Wad::parse(new.to_bytes()).unwrap();
    assert_eq!((again.entries().len(), again.miptex(0).unwrap().bytes()), (1, bytes));
    assert_eq!(again.to_bytes(), new.to_bytes(), "without an addition nothing changes");
}
