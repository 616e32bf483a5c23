//! `light`: what the commands refuse, and what they leave alone.

use bspkit::dialect::quake2;
use bspkit::dialect::source::{BRUSHSIDES, PLANES};
use bspkit::{Bsp, Layout};

use super::room::{Room, fixture};

/// A room with the pages of Quake II's light, and the picture's name.
fn exported() -> Room {
    let room = Room::new();
    room.bspkit("light export q2.bsp -o pages").done();
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

/// Light in the colors of vertexes is not adjusted: that is said.
#[test]
fn light_in_vertexes_is_said() {
    use bspkit::dialect::quake3;
    let room = Room::new();
    let bytes = fixture("q3/own_rooms");
    let map = Bsp::parse(&bytes).unwrap();
    let run = room.bspkit("light adjust q3.bsp --gain 0.5 -o dark.bsp").done();
    let wanted = format!(
        "{} surfaces stay as they are, on no page of light: what light they have is in the",
        map.vertex_lit().unwrap()
    );
    assert!(run.err.contains(&wanted), "{}", run.err);
    let run = room.bspkit("light adjust q3.bsp --gain 0.5 --faces 0 -o page.bsp").done();
    assert!(!run.err.contains("colors"), "{}", run.err);

    let mut draft = map.draft();
    for surface in 0..map.table(quake3::SURFACES).unwrap().len() {
        draft.update(quake3::SURFACES, surface, |surface| surface.lightmap = -3).unwrap();
    }
    draft.set(map.slot("LIGHTMAPS").unwrap().id, Vec::new()).unwrap();
    room.write("vertexes.bsp", &draft.plan(Layout::Keep).unwrap().to_vec());
    let run = room.bspkit("light adjust vertexes.bsp --gain 0.5 -o no.bsp");
    let run = run.without_data(1);
    assert!(run.err.contains("on no page, whose light, if any, is in the colors of their vertexes"), "{}", run.err);
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
        room.bspkit("light export map.bsp -o light --overwrite").done();
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

/// The number of luxels that a face reads follows from texinfos, corners and fields of faces; its light stays where it
/// is. Whatever way an edit of these comes, the map that is saved is warned of.
#[test]
fn every_door_says_that_light_is_left_behind() {
    let axes = ("texinfo", "TEXINFO", "vectors", "[[1,0,0,0],[0,-1,0,0]]", "[[0.5,0,0,0],[0,-1,0,0]]");
    let size = ("luxel_size", "[4,8]", "[5,5]");
    let of_size = |lump, file| (lump, file, size.0, size.1, size.2);
    let maps = [
        ("q2/own_rooms", "05_", 0, axes),
        ("goldsrc/own_rooms", "06_", 1, axes),
        ("source/room_v20", "07_", 4, of_size("faces", "FACES")),
        ("source/room_v20", "58_", 4, of_size("faces_hdr", "FACES_HDR")),
    ];
    for (map, number, record, edit) in maps {
        every_door_says("light-moved", &fixture(&format!("{map}.bsp")), number, record, edit);
    }
}

/// Objects collide with solids that the compiler made from the planes of brushes.
#[test]
fn every_door_says_that_solids_are_left_behind() {
    let map = Bsp::from_vec(fixture("source/room_v20.bsp")).unwrap();
    // A model with a solid of 8 bytes and an empty text, and the end of the list.
    let solids = [0, 12, 4, 1, 8, 0, 0, 0, -1, -1, 0, 0].map(i32::to_le_bytes).concat();
    let mut draft = map.draft();
    draft.set(map.slot("PHYSCOLLIDE").unwrap().id, solids).unwrap();
    let map = draft.plan(Layout::Keep).unwrap().to_vec();
    let read = Bsp::from_vec(map.clone()).unwrap();
    let plane = usize::from(read.table(BRUSHSIDES).unwrap().get(0).unwrap().plane);
    let distance = read.table(PLANES).unwrap().get(plane).unwrap().distance.to_string();
    every_door_says("phys-moved", &map, "01_", plane, ("planes", "PLANES", "distance", &distance, "12345.5"));
}

/// An edit of a field: the name of the lump in a command and in a file, the field, its old and its new value.
type FieldEdit<'t> = (&'t str, &'t str, &'t str, &'t str, &'t str);

fn every_door_says(code: &str, map: &[u8], number: &str, record: usize, (lump, file, field, old, new): FieldEdit<'_>) {
    let room = Room::new();
    room.write("map.bsp", map);
    let file = format!("{number}{file}");
    let text = String::from_utf8(room.bspkit(&format!("dump map.bsp {lump}")).done().out).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let [from, to] = [old, new].map(|value| format!("\"{field}\":{value}"));
    assert!(lines[record].contains(&from), "{lump}: {}", lines[record]);
    lines[record] = lines[record].replace(&from, &to);
    let json = lines.join("\n") + "\n";
    room.write("new.jsonl", json.as_bytes());
    let said = |door: &str, command: &str| {
        let run = room.bspkit(command).done();
        assert!(run.err.contains(code), "{lump}: {door}: {}", run.err);
    };
    said("set", &format!("set map.bsp {lump}[{record}].{field}={new} -o edited.bsp"));
    said("load", &format!("load map.bsp {lump} new.jsonl -o out.bsp"));
    assert!(room.read("out.bsp") == room.read("edited.bsp"), "{lump}");
    said("load --follow", &format!("load map.bsp {lump} new.jsonl --follow -o out.bsp"));
    for (format, extension) in [("csv", "csv"), ("raw", "bin")] {
        let text = room.bspkit(&format!("dump edited.bsp {lump} --format {format}")).done().out;
        room.write(format!("new.{extension}"), &text);
        said(format, &format!("load map.bsp {lump} new.{extension} -o out.bsp"));
    }
    let script = format!("let record = records(\"{lump}\")[{record}]; record.{field} = {new};");
    room.write("door.rhai", script.as_bytes());
    said("run", "run door.rhai map.bsp -o out.bsp");
    said("in place", &format!("set map.bsp {lump}[{record}].{field}={new} --dry-run"));
    for (folder, options) in [("text", ""), ("bytes", " --no-images --format raw")] {
        room.bspkit(&format!("unpack map.bsp -o {folder}{options} -q")).done();
        let (path, text) = match folder {
            "text" => (format!("{folder}/{file}.jsonl"), json.clone().into_bytes()),
            _ => (format!("{folder}/{file}.bin"), room.read("new.bin")),
        };
        assert!(room.path(&path).exists(), "{path}");
        room.write(&path, &text);
        said(&format!("pack of {folder}"), &format!("pack {folder} -o out.bsp"));
        assert!(room.read("out.bsp") == room.read("edited.bsp"), "{lump}: {folder}");
    }
}

#[test]
fn light_that_stays_beside_its_copy_is_named() {
    let room = Room::empty();
    room.write("m.bsp", &fixture("q1/own_rooms_bspx"));
    for (set, names) in [("rgb", "LIGHTING has the same light as rgb"), ("", "rgb has the same light as LIGHTING")] {
        let run = room.run(&["light", "adjust", "m.bsp", "--gain", "2", "--set", set, "-o", "out.bsp"]).done();
        assert!(run.err.contains(names), "{set}: {}", run.err);
    }
    let both = room.bspkit("light adjust m.bsp --gain 2 -o out.bsp").done();
    assert!(!both.err.contains("has the same light"), "{}", both.err);
}

/// The size of luxels says how much light a face reads.
#[test]
fn a_change_of_the_size_of_luxels_is_said() {
    let map = Bsp::from_vec(fixture("q1/own_rooms")).unwrap();
    let mut builder = bspkit::Builder::new(map.dialect());
    for slot in map.slots() {
        let bspkit::SlotId::Lump(lump) = slot.id else { continue };
        builder = builder.lump(lump, map.bytes(slot.id).unwrap().to_vec());
    }
    let faces = map.records("FACES").unwrap().len();
    let room = Room::empty();
    room.write("m.bsp", &builder.bspx("LMSHIFT", vec![4; faces]).build().unwrap());
    let run = room.bspkit("set m.bsp bspx:LMSHIFT[8].shift=5 -o out.bsp");
    assert!(run.err.contains("light-moved"), "{}", run.err);
}

/// A map whose lumps are those of another one, but for the light, which is in an entry of BSPX that is not read.
#[test]
fn light_that_is_not_read_is_named() {
    let map = Bsp::from_vec(fixture("q1/own_rooms")).unwrap();
    let mut builder = bspkit::Builder::new(map.dialect());
    for slot in map.slots().iter().filter(|slot| slot.name != "LIGHTING") {
        let bspkit::SlotId::Lump(lump) = slot.id else { continue };
        builder = builder.lump(lump, map.bytes(slot.id).unwrap().to_vec());
    }
    let room = Room::empty();
    let samples = map.slot("LIGHTING").unwrap().stored.len();
    room.write("m.bsp", &builder.bspx("LIGHTING_E5BGR9", vec![7; 4 * samples]).build().unwrap());
    let says = "it is in bspx:LIGHTING_E5BGR9, which is not read";
    let stat = room.bspkit("light stat m.bsp").done();
    assert!(stat.text().contains(says), "{}", stat.text());
    let stat = room.bspkit("light stat m.bsp --json").done().json();
    assert_eq!(stat["unread_lump"], "bspx:LIGHTING_E5BGR9");
    for command in ["light adjust m.bsp --gain 2 -o no.bsp", "light export m.bsp -o no"] {
        let run = room.bspkit(command).without_data(1);
        assert!(run.err.contains(says), "{command}: {}", run.err);
    }
    let export = room.bspkit("export m.bsp -o m.glb");
    assert!(export.err.contains("bspx:LIGHTING_E5BGR9"), "{}", export.err);
    assert!(export.err.contains("is not read, and is not shown"), "{}", export.err);
}

/// Two faces with the same luxels: each luxel is one change, and the other face is named.
#[test]
fn luxels_of_several_faces_are_counted_once() {
    use bspkit::dialect::goldsrc::FACES;
    let map = Bsp::from_vec(fixture("goldsrc/own_rooms")).unwrap();
    let (one, other) = {
        let light = map.light().unwrap();
        let blocks = light.sets()[0].blocks();
        let is_alike = |at: usize, other: usize| {
            blocks[at].size() == blocks[other].size() && blocks[at].styles() == blocks[other].styles()
        };
        let pairs = (0..blocks.len()).flat_map(|at| (at + 1..blocks.len()).map(move |other| (at, other)));
        let (at, other) = pairs.into_iter().find(|(at, other)| is_alike(*at, *other)).unwrap();
        (blocks[at].index(), blocks[other].index())
    };
    let mut draft = map.draft();
    let offset = map.table(FACES).unwrap().get(one).unwrap().light_offset;
    draft.update(FACES, other, |face| face.light_offset = offset).unwrap();
    let room = Room::empty();
    room.write("m.bsp", &draft.plan(Layout::Keep).unwrap().to_vec());
    let differing = || {
        let [old, new] = ["m.bsp", "out.bsp"].map(|name| Bsp::from_vec(room.read(name)).unwrap());
        let [old, new] = [&old, &new].map(|map| map.bytes(map.slot("LIGHTING").unwrap().id).unwrap());
        old.chunks_exact(3).zip(new.chunks_exact(3)).filter(|(old, new)| old != new).count()
    };
    let run = room.bspkit(&format!("light adjust m.bsp --gain 2 --faces {one} -o out.bsp")).done();
    assert!(run.err.contains(&format!("1 face that is not selected: {other}")), "{}", run.err);
    assert!(differing() > 1 && run.err.contains(&format!("{} luxels", differing())), "{}", run.err);
    let diff = room.bspkit("diff m.bsp out.bsp");
    assert!(diff.text().contains(&format!("{} luxels", differing())), "{}", diff.text());
    let run = room.bspkit(&format!("light adjust m.bsp --gain 2 --faces {one},{other} -o out.bsp")).done();
    assert!(!run.err.contains("not selected"), "{}", run.err);

    room.bspkit("light export m.bsp -o pages --by face").done();
    let image = room.names().into_iter().find(|path| path.ends_with(format!("faces/{one:05}_s0.png"))).unwrap();
    let (wide, high, mut painted) = pixels(&std::fs::read(&image).unwrap());
    painted[..3].iter_mut().for_each(|part| *part ^= 1);
    let mut encoder = png::Encoder::new(std::fs::File::create(&image).unwrap(), wide, high);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&painted).unwrap();
    let run = room.bspkit("light import m.bsp pages -o out.bsp").done();
    assert!(differing() == 1 && run.err.contains("1 luxel;"), "{}", run.err);
}
