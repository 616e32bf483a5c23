//! `vis`: pictures of what is visible, and back.

use bspkit::Bsp;
use bspkit::content::visibility::VisSet;

use super::corpus;
use super::room::Room;

/// The packed bits of a PBM file, behind its header of two lines.
fn pixels(file: &[u8]) -> usize {
    file.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1
}

#[test]
fn what_was_exported_comes_back_to_the_same_bytes() {
    let room = Room::new();
    for map in ["q2.bsp", "q3.bsp", "goldsrc.bsp"] {
        for picture in ["v.png", "v.pbm"] {
            room.bspkit(&format!("vis export {map} -o {picture} --overwrite")).done();
            room.bspkit(&format!("vis import {map} {picture} -o out.bsp")).done();
            assert_eq!(room.read(map), room.read("out.bsp"), "{map} by way of {picture}");
        }
    }
}

#[test]
fn real_maps_come_back_to_the_same_bytes() {
    let room = Room::empty();
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let Ok(visibility) = map.visibility() else { continue };
        if visibility.is_empty() || map.container().damaged().next().is_some() {
            continue;
        }
        for set in visibility.sets() {
            let (path, name) = (path.to_str().unwrap(), set.name().to_lowercase());
            room.run(&["vis", "export", path, "-o", "v.pbm", "--overwrite", "--set", &name]).done();
            room.run(&["vis", "import", path, "v.pbm", "-o", "out.bsp", "--set", &name]).done();
            assert_eq!(room.read("out.bsp"), map.container().bytes(), "{path}, {name}");
        }
    }
}

#[test]
fn one_pixel_is_one_bit() {
    let room = Room::new();
    for (map, first) in [("q2.bsp", 0), ("q3.bsp", 0), ("goldsrc.bsp", 1)] {
        room.bspkit(&format!("vis export {map} -o v.pbm --overwrite")).done();
        let mut picture = room.read("v.pbm");
        let start = pixels(&picture);
        let old =
            Bsp::parse(&room.read(map)).unwrap().visibility().unwrap().row(VisSet::Pvs, first + 2).unwrap().unwrap();
        let stride = old.bytes().len().min((picture.len() - start) / 3);
        let side =
            std::str::from_utf8(&picture[3..start]).unwrap().split(' ').next().unwrap().parse::<usize>().unwrap();
        assert!(stride >= side.div_ceil(8));
        // Row 2, column 5.
        picture[start + 2 * side.div_ceil(8)] ^= 0x80 >> 5;
        room.write("v.pbm", &picture);
        room.bspkit(&format!("vis import {map} v.pbm -o out.bsp")).done();
        room.bspkit("verify out.bsp").done();
        let (old, new) = (room.read(map), room.read("out.bsp"));
        let (old, new) = (Bsp::parse(&old).unwrap(), Bsp::parse(&new).unwrap());
        let (was, is) = (old.visibility().unwrap(), new.visibility().unwrap());
        for from in first..first + side {
            for to in first..first + side {
                let differs = was.sees(from, to).unwrap() != is.sees(from, to).unwrap();
                assert_eq!(differs, (from, to) == (first + 2, first + 5), "{map}: {from} to {to}");
            }
        }
        for slot in old.slots().iter().filter(|slot| !["VISIBILITY", "LEAFS"].contains(&&*slot.name)) {
            assert_eq!(*old.stored(slot.id), *new.stored(slot.id), "{map}: {}", slot.name);
        }
    }
}

#[test]
fn filled_maps_show_everything() {
    let room = Room::new();
    for map in ["q2.bsp", "goldsrc.bsp"] {
        room.bspkit(&format!("vis fill {map} -o out.bsp")).done();
        let stat = room.bspkit("vis stat out.bsp --json").done().json();
        for set in stat["sets"].as_array().unwrap() {
            assert_eq!(set["least"], stat["place_count"], "{map}: {stat}");
        }
        room.bspkit("check out.bsp --deny warning").done();
    }
}

#[test]
fn what_is_visible_and_not_audible_is_said() {
    let room = Room::new();
    room.bspkit("vis export q2.bsp -o v.pbm --set phs").done();
    let picture = room.read("v.pbm");
    let start = pixels(&picture);
    let warned = |pixel: u8| {
        let plain = [&picture[..start], &vec![pixel; picture.len() - start]].concat();
        room.write("plain.pbm", &plain);
        let run = room.bspkit("vis import q2.bsp plain.pbm -o out.bsp --set phs").done();
        run.err.contains("clusters have something visible that is not audible")
    };
    // All of it is audible, or nothing.
    assert_eq!([0, 0xFF].map(warned).iter().filter(|warned| **warned).count(), 1);
}

#[test]
fn pictures_that_do_not_fit_change_nothing() {
    let room = Room::new();
    room.bspkit("vis export q3.bsp -o q3.png").done();
    room.bspkit("vis export goldsrc.bsp -o goldsrc.pbm").done();
    room.write("cut.pbm", &room.read("goldsrc.pbm")[..20]);
    room.write("text.png", b"no picture");
    room.bspkit("vis export goldsrc.bsp -o goldsrc.png").done();
    let grey = {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(room.read("goldsrc.png")));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let (wide, high) = reader.info().size();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels.iter_mut().skip(wide as usize).filter(|pixel| **pixel == 0xFF).for_each(|pixel| *pixel = 120);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, wide, high);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
        file
    };
    room.write("grey.png", &grey);
    let before = room.names();
    for (map, picture, says) in [
        ("goldsrc.bsp", "q3.png", "the map needs"),
        ("goldsrc.bsp", "cut.pbm", "it ends early"),
        ("goldsrc.bsp", "text.png", "not a PNG"),
        ("goldsrc.bsp", "grey.png", "the pixel in row 1, column "),
        ("goldsrc.bsp", "goldsrc.bsp", "<FILE|DIR>"),
        ("goldsrc.bsp", "missing.png", "(os error 2)"),
    ] {
        let run = room.bspkit(&format!("vis import {map} {picture} -o no.bsp")).without_data(2);
        assert!(run.err.contains(says), "{picture}: {}", run.err);
    }
    let run = room.bspkit("vis export q2.bsp -o q3.png").without_data(2);
    assert!(run.err.contains("--overwrite"), "{}", run.err);
    let run = room.bspkit("vis export goldsrc.bsp -o new.png --set phs").without_data(2);
    assert!(run.err.contains("has no PHS"), "{}", run.err);
    assert_eq!(room.names(), before);
}
