//! `tex`, where maps, files and arguments are not as they should be.

use png::{BitDepth, ColorType, Encoder};

use super::room::{Room, fixture};
use super::tex::room;

/// The place of a lump's entry in the directory of a map.
fn entry(map: &[u8], name: &str) -> usize {
    let slot = bspkit::Bsp::from_vec(map.to_vec()).unwrap();
    let slot = slot.slot(name).unwrap();
    let wanted = [slot.offset.to_le_bytes(), slot.length.to_le_bytes()].concat();
    map.windows(8).position(|bytes| bytes == wanted).unwrap()
}

fn word(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u32::from_le_bytes(*bytes[at..].first_chunk().unwrap())).unwrap()
}

/// An image of 32 by 32 in the colours of a palette, of which one is transparent.
fn transparent(index: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 32, 32);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette(vec![7; 768]);
    let mut alpha = vec![255; 256];
    alpha[usize::from(index)] = 0;
    encoder.set_trns(alpha);
    let mut writer = encoder.write_header().unwrap();
    let pixels: Vec<u8> = (0..1024_u32).map(|at| if at < 10 { index } else { 1 }).collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let room = room();
    room.bspkit("tex export goldsrc.bsp -o images").done();
    room.bspkit("tex export wall.wal -o wd --palette colormap.pcx").done();
    for (line, file) in [
        ("tex import goldsrc.bsp images -o images/sky.png", "images/sky.png"),
        ("tex import wall.wal wd --palette colormap.pcx -o wd/wall.png", "wd/wall.png"),
        ("tex import wall.wal wd/wall.png --palette colormap.pcx -o colormap.pcx", "colormap.pcx"),
        ("tex embed names.bsp own.wad -o own.wad", "own.wad"),
    ] {
        let before = room.read(file);
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains(&format!("{file} is an input file and would be replaced")), "{line}: {}", run.err);
        assert_eq!(room.read(file), before);
    }
}

#[test]
fn a_wal_file_takes_a_folder() {
    let room = room();
    room.bspkit("tex export wall.wal -o wd --palette colormap.pcx --mips").done();
    room.write("wd/other.png", b"mine");
    let run = room.bspkit("tex import wall.wal wd --palette colormap.pcx -o out.wal").done();
    assert!(run.err.contains("wd/other.png: left out: it does not have the name of the WAL file"), "{}", run.err);
    assert!(run.err.contains("nothing changes, 5540 bytes"), "{}", run.err);
    assert_eq!(room.read("out.wal"), room.read("wall.wal"));
    std::fs::create_dir(room.path("empty")).unwrap();
    let run = room.bspkit("tex import wall.wal empty --palette colormap.pcx -o no.wal").without_data(2);
    assert!(run.err.contains("the name must be wall.png"), "{}", run.err);
    // The file is called as it was asked for.
    room.bspkit("tex export wall.wal -o UP.PNG --palette colormap.pcx").done();
    assert_eq!(room.read("UP.PNG"), room.read("wd/wall.png"));
    assert!(room.names().iter().all(|path| !path.ends_with("UP.png")));
}

#[test]
fn a_dry_run_of_a_wal_file_says_what_would_change() {
    let room = room();
    let run = room.bspkit("tex import wall.wal --value 300 -o out.wal --dry-run").done();
    assert_eq!(run.text(), "out.wal: 5540 bytes -> 5540 bytes\n          96            2  written\n");
    let json = room.bspkit("tex import wall.wal --value 300 --dry-run --json").done().json();
    assert_eq!((json["changed"].as_bool(), json["output"].is_null()), (Some(true), true));
    assert_eq!(json["ranges"], serde_json::json!([{"offset": 96, "bytes": 2, "what": "written"}]));
    let run = room.bspkit("tex import wall.wal --value 0 --dry-run").done();
    assert_eq!(run.text(), "wall.wal: nothing changes, 5540 bytes\n");
    assert!(!room.path("out.wal").exists());
    let run = room.run(&["tex", "import", "wall.wal", "--name", r"a\x00b", "-o", "no.wal"]).without_data(2);
    assert!(run.err.contains("and no NUL"), "{}", run.err);
}

#[test]
fn names_that_cannot_be_read_are_told() {
    let room = Room::empty();
    let mut map = fixture("source/room_v20");
    let (strings, table) = (entry(&map, "TEXDATA_STRING_DATA"), entry(&map, "TEXDATA_STRING_TABLE"));
    let at = word(&map, table);
    map[at..at + 4].copy_from_slice(&999_i32.to_le_bytes());
    map[at + 4..at + 8].copy_from_slice(&(-1_i32).to_le_bytes());
    assert!(word(&map, strings + 4) < 999);
    room.write("source.bsp", &map);
    let run = room.bspkit("tex list source.bsp");
    assert_eq!(run.code, Some(1));
    for says in ["(#0: name 0 begins at 999, and", "(#1: name 1 begins at -1, and", "OWN/Door"] {
        assert!(run.text().contains(says), "{says}\n{}", run.text());
    }
    let json = room.bspkit("tex list source.bsp --json").json();
    assert_eq!((json["findings"][1]["place"]["record"].as_u64(), json["findings"][2].is_null()), (Some(1), true));
    let run = room.run(&["tex", "rename", "source.bsp", "own/door", "own/gate", "-o", "out.bsp", "--force"]);
    let run = run.without_data(1);
    assert!(run.err.contains("not renamed: name 0 begins at 999") && run.err.contains("1 name renamed"), "{}", run.err);
    assert!(room.bspkit("tex list out.bsp").text().contains("own/gate"));
    // Half a record behind the last one.
    let mut map = fixture("q2/own_rooms");
    let at = entry(&map, "TEXINFO") + 4;
    let length = u32::try_from(word(&map, at) - 10).unwrap();
    map[at..at + 4].copy_from_slice(&length.to_le_bytes());
    room.write("q2.bsp", &map);
    let run = room.bspkit("tex list q2.bsp");
    assert_eq!(run.code, Some(1));
    assert!(run.text().contains("66 bytes are not a whole record of 76"), "{}", run.text());
    let run = room.run(&["tex", "rename", "q2.bsp", "own/*", "mine/{1}", "-o", "o.bsp", "--force"]).without_data(1);
    assert!(run.err.contains("66 bytes are not a whole record of 76"), "{}", run.err);
}

#[test]
fn what_is_there_may_stay_and_what_becomes_one_is_told() {
    let room = room();
    let mut map = room.read("goldsrc.bsp");
    let at = map.windows(9).position(|bytes| bytes == b"OWN_WALL\0").unwrap();
    map[at..at + 16].copy_from_slice(b"sixteen_letters\xff");
    room.write("odd.bsp", &map);
    room.run(&["tex", "rename", "odd.bsp", "**", "{1}", "-o", "same.bsp"]).done();
    assert_eq!(room.read("same.bsp"), map);
    // Escapes are read as they are printed.
    assert!(room.bspkit("tex list odd.bsp").done().text().contains(r"sixteen_letters\xff"));
    let run = room.run(&["tex", "list", "odd.bsp", "--only", r"sixteen*\xff"]).done();
    assert_eq!(run.text().lines().count(), 2);
    room.run(&["tex", "rename", "odd.bsp", r"sixteen_letters\xff", r"a\xfe", "-o", "out.bsp"]).done();
    assert_eq!(room.read("out.bsp")[at..at + 16], *b"a\xfe\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let run = room.run(&["tex", "rename", "goldsrc.bsp", "own_*", "one", "-o", "one.bsp"]).done();
    assert!(run.err.contains("become one name, `one`"), "{}", run.err);
    let run = room.run(&["tex", "rename", "goldsrc.bsp", "own_wall", "Own_Floor", "-o", "one.bsp"]).done();
    assert!(run.err.contains("`OWN_FLOOR`, `OWN_WALL` become one name, `own_floor`"), "{}", run.err);
    let run = room.run(&["tex", "rename", "goldsrc.bsp", "own_wall", "own_roof", "-o", "two.bsp"]).done();
    assert!(!run.err.contains("warning"), "{}", run.err);
    // Nothing is said to be done that is not.
    let run = room.run(&["tex", "rename", "goldsrc.bsp", "own_wall", "x", "-o", "no/folder/x.bsp"]).without_data(2);
    assert!(!run.err.contains("renamed"), "{}", run.err);
}

/// What could not be read again is not written.
#[test]
fn images_have_one_limit() {
    let room = room();
    let (width, height) = (4112_u32, 4096_u32);
    let mut wal = room.read("wall.wal")[..100].to_vec();
    let pixels = width * height;
    let words = [width, height, 100, 100 + pixels, 100 + pixels * 5 / 4, 100 + pixels * 21 / 16];
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    wal[32..56].copy_from_slice(&words);
    wal.resize(wal.len() + usize::try_from(pixels / 64 * 85).unwrap(), 1);
    room.write("large.wal", &wal);
    let run = room.bspkit("tex export large.wal -o large --palette colormap.pcx").without_data(2);
    assert!(run.err.contains("its 4112 by 4096 pixels are more than 16777216"), "{}", run.err);
}

#[test]
fn holes_of_a_palette_are_holes_or_warned_of() {
    let room = room();
    room.write("img/{OWN_GRATE.png", &transparent(3));
    room.bspkit("tex import goldsrc.bsp img --quantize -o out.bsp").done();
    let map = bspkit::Bsp::from_vec(room.read("out.bsp")).unwrap();
    let image = map.textures().unwrap().get(8).unwrap().unwrap().image().unwrap();
    assert!(image.pixels[..10].iter().all(|pixel| *pixel == 255) && image.pixels[10..].iter().all(|it| *it != 255));
    for (name, index, warns) in [("{OWN_GRATE", 3, true), ("{OWN_GRATE", 255, false), ("OWN_WALL", 255, true)] {
        room.write("one/x.txt", b"");
        std::fs::remove_dir_all(room.path("one")).unwrap();
        room.write(format!("one/{name}.png"), &transparent(index));
        let run = room.bspkit("tex import goldsrc.bsp one -o out.bsp").done();
        assert_eq!(run.err.contains("become solid"), warns, "{name} {index}: {}", run.err);
    }
}

/// Two files for one texture: which one is meant is not known.
#[test]
fn two_files_with_other_pixels_for_a_texture_are_refused() {
    let room = room();
    room.bspkit("tex export goldsrc.bsp -o images sky").done();
    room.bspkit("tex export goldsrc.bsp -o same.wad").done();
    let mut other = room.read("same.wad");
    let at = other.windows(3).position(|bytes| bytes == b"sky").unwrap();
    let pixel = at + word(&other, at + 24);
    other[pixel] ^= 1;
    room.write("other.wad", &other);
    room.bspkit("tex import goldsrc.bsp same.wad images -o out.bsp").done();
    room.bspkit("tex import goldsrc.bsp same.wad same.wad -o out.bsp").done();
    for files in ["same.wad other.wad", "images other.wad", "other.wad images/sky.png"] {
        let run = room.bspkit(&format!("tex import goldsrc.bsp {files} -o no.bsp")).without_data(2);
        assert!(run.err.contains("have other pixels for texture #3 `sky`: leave one out"), "{files}: {}", run.err);
        assert!(!room.path("no.bsp").exists());
    }
}

/// A name that stays the same one is not renamed.
#[test]
fn names_that_do_not_change_are_not_counted() {
    let room = room();
    let run = room.bspkit("tex rename goldsrc.bsp ** {1} -o same.bsp").done();
    assert!(!run.err.contains("renamed"), "{}", run.err);
    assert_eq!(room.read("same.bsp"), room.read("goldsrc.bsp"));
    let run = room.bspkit("tex rename goldsrc.bsp s** s{1} -o same.bsp").done();
    assert!(!run.err.contains("renamed"), "{}", run.err);
}
