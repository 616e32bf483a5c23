//! `light`: what the commands refuse, and what they leave alone.

use bspkit::Bsp;
use bspkit::dialect::quake2;

use super::room::{Room, fixture};

/// A room with the pages of Quake II's light, and the picture's name.
fn exported() -> Room {
    let room = Room::new();
    room.bspkit("light export q2.bsp pages").done();
    room
}

#[test]
fn an_image_that_is_read_is_not_written_over() {
    let room = exported();
    let (map, image) = (room.read("q2.bsp"), room.read("pages/page_000.png"));
    for more in ["", " --force"] {
        let run = room.bspkit(&format!("light import q2.bsp pages -o pages/page_000.png{more}")).without_data(2);
        assert!(run.err.contains("is an input file and would be replaced"), "{}", run.err);
    }
    assert_eq!((room.read("q2.bsp"), room.read("pages/page_000.png")), (map, image));
}

#[test]
#[cfg(unix)]
fn what_is_no_plain_file_is_not_waited_for() {
    let room = exported();
    std::fs::remove_file(room.path("pages/page_000.png")).unwrap();
    room.shell("mkfifo pages/page_000.png v.png").done();
    let run = room.bspkit("light import q2.bsp pages -o no.bsp").without_data(1);
    assert!(run.err.contains("it is not a regular file"), "{}", run.err);
    let run = room.bspkit("vis import q2.bsp v.png -o no.bsp").without_data(2);
    assert!(run.err.contains("it is not a regular file"), "{}", run.err);
    let huge = std::fs::File::create(room.path("pages/light.json")).unwrap();
    huge.set_len(3 << 30).unwrap();
    let run = room.bspkit("light import q2.bsp pages -o no.bsp").without_data(2);
    assert!(run.err.contains("are more than"), "{}", run.err);
    assert!(!room.path("no.bsp").exists());
}

#[test]
fn where_nothing_is_meant_nothing_is_written() {
    let room = Room::new();
    for choice in ["--faces 9999", "--styles 250", "--faces 1-3 --styles 250"] {
        let run = room.bspkit(&format!("light adjust q2.bsp --gain 2 {choice} -o no.bsp")).without_data(1);
        assert!(run.err.contains("no light matches --set"), "{}", run.err);
    }
    assert!(!room.path("no.bsp").exists());
}

#[test]
fn a_lump_that_is_cut_off_is_not_an_empty_one() {
    let room = Room::new();
    let map = room.read("q2.bsp");
    let bsp = Bsp::parse(&map).unwrap();
    let first = ["LIGHTING", "VISIBILITY"].map(|name| bsp.slot(name).unwrap().stored.start).into_iter().min().unwrap();
    assert!(bsp.table(quake2::FACES).unwrap().len() > 1);
    room.write("cut.bsp", &map[..first]);
    for command in ["light stat cut.bsp", "vis stat cut.bsp", "vis fill cut.bsp --force -o no.bsp"] {
        let run = room.bspkit(command).without_data(2);
        assert!(run.err.contains("lies past the end of the file"), "{command}: {}", run.err);
    }
    let run = room.bspkit("vis import . v.png -o no.bsp").without_data(2);
    assert!(run.err.contains("several maps need a folder with an image for each"), "{}", run.err);
}

/// The pixels of a PNG file, and its size.
fn pixels(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(frame.buffer_size());
    (frame.width, frame.height, pixels)
}

/// The images of our own maps, pixel by pixel: their checksums are a golden file, which `BLESS=1` writes anew.
#[test]
fn images_of_own_maps_are_what_they_were() {
    let room = Room::empty();
    let mut text = String::new();
    for name in
        ["goldsrc/own_rooms", "q1/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20", "source/room_v21"]
    {
        room.write("map.bsp", &fixture(name));
        room.bspkit("light export map.bsp light --force").done();
        let mut images: Vec<_> =
            room.names().into_iter().filter(|path| path.extension() == Some("png".as_ref())).collect();
        images.sort();
        for path in images {
            let (wide, high, pixels) = pixels(&std::fs::read(&path).unwrap());
            let file = path.strip_prefix(room.path("light")).unwrap().to_str().unwrap().replace('\\', "/");
            let sum: u64 = pixels.iter().map(|byte| u64::from(*byte)).sum();
            let mixed = pixels.iter().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(*byte));
            text += &format!("{name} {file}: {wide} by {high}, sum {sum}, {mixed:08x}\n");
        }
        std::fs::remove_dir_all(room.path("light")).unwrap();
    }
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/light_images.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&golden).unwrap_or_default(), text);
}
