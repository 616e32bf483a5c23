//! `tex`: pixels by way of PNG files and back, names, and what is refused as a whole.

use std::path::PathBuf;
use std::process::Command;

use bspkit::Bsp;

use super::corpus;
use super::room::{Room, fixture};

fn source(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/maps/src").join(name))
        .unwrap()
}

/// A room with GoldSrc maps, a WAD and a WAL file, and a palette.
pub(crate) fn room() -> Room {
    let room = Room::new();
    room.write("names.bsp", &fixture("goldsrc/own_box"));
    room.write("own.wad", &source("own_hl.wad"));
    room.write("wall.wal", &source("q2/textures/own/wall.wal"));
    room.write("water.wal", &source("q2/textures/own/water.wal"));
    room.write("colormap.pcx", &source("q2/pics/colormap.pcx"));
    room
}

/// A Python with Pillow, which nobody here wrote.
fn pillow() -> Option<PathBuf> {
    let python = std::env::var_os("BSPKIT_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let has_it = Command::new(&python).args(["-c", "import PIL.Image"]).output();
    if has_it.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let notice = format!("Pillow is missing ({} has no package PIL): it does not read the images", python.display());
    assert!(std::env::var_os("BSPKIT_REQUIRE_READERS").is_none_or(|value| value != "1"), "{notice}");
    eprintln!("skipped: {notice}");
    None
}

#[track_caller]
fn python(room: &Room, program: &PathBuf, script: &str) -> String {
    let output = Command::new(program).args(["-c", script]).current_dir(room.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_is_exported_is_imported_back_to_the_same_bytes() {
    let room = room();
    for mips in ["", "--mips"] {
        room.bspkit(&format!("tex export goldsrc.bsp -o images {mips}")).done();
        room.bspkit("tex import goldsrc.bsp images -o out.bsp").done();
        assert_eq!(room.read("goldsrc.bsp"), room.read("out.bsp"));
    }
    for name in ["wall", "water"] {
        room.bspkit(&format!("tex export {name}.wal -o wal --palette colormap.pcx --mips")).done();
        let images = (1..4).map(|level| format!("wal/{name}.mip{level}.png")).collect::<Vec<_>>().join(" ");
        let line = format!("tex import {name}.wal wal/{name}.png {images} --palette colormap.pcx -o out.wal");
        room.bspkit(&line).done();
        assert_eq!(room.read(format!("{name}.wal")), room.read("out.wal"));
    }
}

/// The textures of Quake have the game's palette, which is built in, or the one that --palette gives.
#[test]
fn textures_of_quake_have_the_palette_of_the_game() {
    let room = room();
    std::fs::write(room.path("q1.bsp"), super::room::fixture("q1/own_rooms")).unwrap();
    for (line, code, says) in [
        ("tex export q1.bsp -o own", 0, "with the palette of Quake"),
        ("tex import q1.bsp own -o own.bsp", 0, "with the palette of Quake"),
        ("tex export q1.bsp -o images --palette colormap.pcx --mips", 0, ""),
        ("tex import q1.bsp images -o no.bsp", 1, "palette"),
        ("tex import q1.bsp images --palette colormap.pcx -o same.bsp", 0, ""),
        ("tex strip q1.bsp own_wall -o bare.bsp", 2, "Quake reads the pixels from the map alone"),
        (
            "tex strip q1.bsp own_wall -o bare.bsp --force",
            0,
            "`own_wall` is 32 by 32 pixels, and none of them are here",
        ),
        ("tex rename q1.bsp own_wall mine -o named.bsp", 0, ""),
    ] {
        let run = room.bspkit(line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.err.contains(says), "{line}: {}", run.err);
    }
    assert_eq!(room.read("q1.bsp"), room.read("same.bsp"));
    assert_eq!(room.read("q1.bsp"), room.read("own.bsp"));
    // The image has the colors of the game: those of a row of grey, of the two that follow it, and the last one.
    let image = png::Decoder::new(std::io::Cursor::new(room.read("own/own_wall.png"))).read_info().unwrap();
    let palette = image.info().palette.clone().unwrap();
    for (index, color) in
        [(0, [0, 0, 0]), (15, [235, 235, 235]), (16, [15, 11, 7]), (251, [255, 0, 0]), (255, [159, 91, 83])]
    {
        assert_eq!(palette[3 * index..3 * index + 3], color, "{index}");
    }
    let map = Bsp::from_vec(room.read("named.bsp")).unwrap();
    assert!(map.texture_names().unwrap().iter().any(|name| name.name == b"mine"));
    assert!(room.read("bare.bsp").len() < room.read("q1.bsp").len());
}

#[test]
fn real_maps_come_back_from_images() {
    let mut count = 0;
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let Ok(textures) = map.textures() else { continue };
        let is_embedded = |index| textures.get(index).is_ok_and(|texture| texture.is_some_and(|it| it.is_embedded()));
        if !(0..textures.len()).any(is_embedded) {
            continue;
        }
        let (room, path_text) = (Room::empty(), path.to_str().unwrap());
        let palette = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/maps/src/q2/pics/colormap.pcx");
        let colors: &[&str] = if textures.has_palettes() { &[] } else { &["--palette", palette] };
        room.run(&[&["tex", "export", path_text, "-o", "images", "--mips", "-q"], colors].concat()).done();
        room.run(&[&["tex", "import", path_text, "images", "-o", "out.bsp", "--force", "-q"], colors].concat()).done();
        assert_eq!(std::fs::read(&path).unwrap(), room.read("out.bsp"), "{}", path.display());
        count += 1;
    }
    eprintln!("{count} maps with pixels came back");
}

#[test]
fn pillow_sees_the_pixels_and_what_it_paints_is_taken() {
    let Some(program) = pillow() else { return };
    let room = room();
    room.bspkit("tex export goldsrc.bsp -o images --mips").done();
    let map = Bsp::from_vec(room.read("goldsrc.bsp")).unwrap();
    let textures = map.textures().unwrap();
    let wall = (0..textures.len()).find(|index| textures.name(*index) == Some(b"OWN_WALL")).unwrap();
    let texture = textures.get(wall).unwrap().unwrap();
    for level in 0..4 {
        let name = if level == 0 { "OWN_WALL.png".to_owned() } else { format!("OWN_WALL.mip{level}.png") };
        let script = format!(
            "from PIL import Image\ni=Image.open('images/{name}')\nprint(i.mode,*i.size,i.tobytes().hex(),bytes(i.getpalette()).hex())"
        );
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (pixels, palette) = (texture.pixels(level).unwrap(), texture.palette().unwrap());
        let size = 32 >> level;
        assert_eq!(
            python(&room, &program, &script).trim(),
            format!("P {size} {size} {} {}", hex(pixels), hex(&palette.0))
        );
    }
    // Pillow drops colours from the end and takes fewer bits where it can; that is no other palette.
    let paint = "from PIL import Image\ni=Image.open('images/OWN_WALL.png')\ni.putpixel((3,5),1)\ni.save('images/OWN_WALL.png',bits=8)\nj=i.point(lambda x:x%4)\nj.save('OWN_DOOR.png',bits=2)";
    python(&room, &program, paint);
    room.bspkit("tex import goldsrc.bsp images/OWN_WALL.png -o out.bsp").done();
    let saved = Bsp::from_vec(room.read("out.bsp")).unwrap();
    let new = saved.textures().unwrap();
    let mut wanted = texture.image().unwrap();
    wanted.pixels[5 * 32 + 3] = 1;
    assert_eq!(new.get(wall).unwrap().unwrap().image(), Some(wanted));
    assert_eq!(new.get(wall).unwrap().unwrap().palette(), texture.palette());
    room.bspkit("tex import goldsrc.bsp OWN_DOOR.png -o out.bsp").done();
    let saved = Bsp::from_vec(room.read("out.bsp")).unwrap();
    let new = saved.textures().unwrap();
    let door = (0..new.len()).find(|index| new.name(*index) == Some(b"OWN_DOOR")).unwrap();
    let door = new.get(door).unwrap().unwrap().image().unwrap();
    assert!(door.pixels.iter().all(|pixel| *pixel < 4));
    // Colours without a palette are demanded to have one, or taken by --quantize: the same colours change nothing.
    python(
        &room,
        &program,
        "from PIL import Image\nImage.open('images/OWN_CEIL.png').convert('RGB').save('OWN_CEIL.png')",
    );
    let run = room.bspkit("tex import goldsrc.bsp OWN_CEIL.png -o no.bsp").without_data(1);
    assert!(run.err.contains("it has no palette"), "{}", run.err);
    room.bspkit("tex import goldsrc.bsp OWN_CEIL.png --quantize -o out.bsp").done();
    assert_eq!(room.read("out.bsp"), room.read("goldsrc.bsp"));
}

#[test]
fn images_that_cannot_be_taken_are_all_named_and_nothing_is_written() {
    let room = room();
    room.bspkit("tex export goldsrc.bsp -o images --mips").done();
    std::fs::copy(room.path("images/OWN_WALL.mip1.png"), room.path("images/OWN_FLOOR.png")).unwrap();
    std::fs::copy(room.path("images/OWN_WALL.png"), room.path("images/OWN_DOOR.mip2.png")).unwrap();
    let image = room.read("images/sky.png");
    room.write("images/sky.png", &image[..image.len() / 2]);
    room.write("images/AAATRIGGER.png", b"no image");
    room.write("images/notes.txt", b"mine");
    room.write("images/other.png", b"mine");
    let before = room.names();
    let run = room.bspkit("tex import goldsrc.bsp images -o no.bsp").without_data(1);
    for says in [
        "OWN_FLOOR.png: texture #1 `OWN_FLOOR`: it has 16 by 16 pixels, but the texture 32 by 32; --any-size accepts it",
        "OWN_DOOR.mip2.png: texture #6 `OWN_DOOR`: it has 32 by 32 pixels, but the texture 8 by 8\n",
        "sky.png: texture #3 `sky`: cannot read the PNG images/sky.png",
        "AAATRIGGER.png: texture #9 `AAATRIGGER`: cannot read the PNG images/AAATRIGGER.png",
        "other.png: left out: no texture has this name",
        "4 of 40 images cannot be imported, so nothing is changed",
    ] {
        assert!(run.err.contains(says), "{says}\n{}", run.err);
    }
    assert_eq!(room.names(), before);
    let run = room.bspkit("tex import goldsrc.bsp images/other.png -o no.bsp").without_data(1);
    assert!(run.err.contains("no texture of the map has a file of this name"), "{}", run.err);
    let run = room.bspkit("tex import goldsrc.bsp images/none.png -o no.bsp").without_data(2);
    assert!(run.err.contains("cannot read images/none.png"), "{}", run.err);
    assert_eq!(room.names(), before);
}

/// An image with a palette says with its numbers where holes are, and one with none of them closes all.
#[test]
fn closed_holes_are_said() {
    let room = room();
    let image = |color: png::ColorType, pixels: &[u8]| {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 32, 32);
        encoder.set_color(color);
        if color == png::ColorType::Indexed {
            encoder.set_palette(vec![9; 768]);
        }
        encoder.write_header().unwrap().write_image_data(pixels).unwrap();
        room.write("{OWN_GRATE.png", &file);
    };
    let half: Vec<u8> = (0..1024).flat_map(|at| [10, 20, 30, if at < 512 { 0 } else { 255 }]).collect();
    image(png::ColorType::Rgba, &half);
    room.run(&["tex", "import", "goldsrc.bsp", "{OWN_GRATE.png", "--quantize", "-o", "holes.bsp"]).done();
    for (color, closes) in [(255, false), (3, true)] {
        image(png::ColorType::Indexed, &[color; 1024]);
        let run = room.run(&["tex", "import", "holes.bsp", "{OWN_GRATE.png", "-o", "out.bsp"]).done();
        assert_eq!(run.err.contains("the texture has no holes any more"), closes, "{color}: {}", run.err);
    }
}

#[test]
fn a_damaged_texture_is_named_and_the_rest_goes_on() {
    let room = room();
    let mut map = room.read("goldsrc.bsp");
    let bsp = Bsp::from_vec(map.clone()).unwrap();
    let lump = usize::try_from(bsp.slot("TEXTURES").unwrap().offset).unwrap();
    let entry = |index: usize| u32::from_le_bytes(*map[lump + 4 + 4 * index..].first_chunk().unwrap());
    let (third, fourth) = (entry(3), entry(4));
    // A copy that is said to be elsewhere, and a palette of 15 colours.
    map[lump + usize::try_from(third).unwrap() + 28] ^= 4;
    map[lump + usize::try_from(fourth).unwrap() + 40 + 32 * 32 * 85 / 64 + 1] = 0;
    room.write("bad.bsp", &map);
    let run = room.bspkit("tex export bad.bsp -o images").without_data(1);
    assert!(run.err.contains("texture #3 `sky`: the offset of smaller copy 1 is"), "{}", run.err);
    assert!(run.err.contains("texture #4 `OWN_WALL`: its palette has 0 colours"), "{}", run.err);
    assert!(room.path("images/OWN_DOOR.png").exists() && !room.path("images/sky.png").exists());
    let run = room.bspkit("tex list bad.bsp --json");
    assert_eq!(run.code, Some(1));
    let list = run.json();
    let is = |index: usize| list["textures"][index]["is"].as_str().unwrap().to_owned();
    assert_eq!([is(0), is(2), is(3), is(4), is(5)], ["missing", "embedded", "damaged", "damaged", "embedded"]);
    room.bspkit("tex import bad.bsp images -o out.bsp").done();
    assert_eq!(room.read("out.bsp"), map);
    let run = room.bspkit("tex strip bad.bsp -o small.bsp --force").without_data(1);
    for says in ["texture #3 `sky`: ", "texture #4 `OWN_WALL`: ", "8 textures stripped"] {
        assert!(run.err.contains(says), "{says}\n{}", run.err);
    }
    let list = room.bspkit("tex list small.bsp --json").json();
    let is: Vec<&str> = (1..6).map(|index| list["textures"][index]["is"].as_str().unwrap()).collect();
    assert_eq!(is, ["external", "external", "damaged", "damaged", "external"]);
    // One that is left alone is nobody's business, and a name has nothing to do with what is behind it.
    room.bspkit("tex embed small.bsp own.wad -o large.bsp --force").done();
    assert_eq!(room.read("large.bsp"), map);
    room.run(&["tex", "rename", "bad.bsp", "own_wall", "MY_WALL", "-o", "named.bsp", "--force"]).done();
    let named = room.read("named.bsp");
    let changed: Vec<usize> = (0..map.len()).filter(|at| map[*at] != named[*at]).collect();
    let at = lump + usize::try_from(fourth).unwrap();
    assert!(named.len() == map.len() && !changed.is_empty(), "{changed:?}");
    assert!(changed.iter().all(|byte| (at..at + 16).contains(byte)), "{changed:?}");
    room.run(&["tex", "strip", "bad.bsp", "#3", "-o", "no.bsp"]).without_data(1);
    assert!(!room.path("no.bsp").exists());
    // Where the place itself is wrong there is no name: that is told, and the rest goes on.
    let at = lump + 4 + 4 * 3;
    map[at..at + 4].copy_from_slice(&0x00FF_FFFF_u32.to_le_bytes());
    room.write("worse.bsp", &map);
    let run = room.run(&["tex", "rename", "worse.bsp", "own_*", "my_{1}", "-o", "out.bsp", "--force"]).without_data(1);
    assert!(run.err.contains("not renamed: its offset is 16777215"), "{}", run.err);
    assert!(room.bspkit("tex list out.bsp").text().contains("my_"));
}

#[test]
fn files_stay_below_the_folder_and_over_nothing() {
    let room = room();
    let mut map = room.read("goldsrc.bsp");
    let place = |map: &[u8], name: &[u8]| map.windows(name.len()).position(|window| window == name).unwrap();
    for (old, new) in [
        (&b"OWN_FLOOR\0"[..], &b"../../out\0"[..]),
        (b"OWN_CEIL\0", b"own_wall\0"),
        (b"OWN_DOOR\0", b"*a/\xff:.\x01\0"),
    ] {
        let at = place(&map, old);
        map[at..at + new.len()].copy_from_slice(new);
    }
    room.write("odd.bsp", &map);
    room.bspkit("tex export odd.bsp -o images").done();
    let mut names: Vec<String> = std::fs::read_dir(room.path("images"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in
        ["%2E%2E%2F%2E%2E%2Fout.png", "own_wall.png", "OWN_WALL~2.png", "%2Aa%2F%FF%3A%2E%01.png", "{OWN_GRATE.png"]
    {
        assert!(names.iter().any(|own| own == name), "{name}: {names:?}");
    }
    assert_eq!(names.len(), 10);
    room.bspkit("tex import odd.bsp images -o out.bsp").done();
    assert_eq!(room.read("out.bsp"), map);
    // Once more is no harm; other bytes stay unless that is asked for.
    room.bspkit("tex export odd.bsp -o images").done();
    room.write("images/sky.png", b"mine");
    let run = room.bspkit("tex export odd.bsp -o images").without_data(2);
    assert!(run.err.contains("exists with other content"), "{}", run.err);
    assert_eq!(room.read("images/sky.png"), b"mine");
    room.bspkit("tex export odd.bsp -o images --overwrite").done();
    #[cfg(unix)]
    {
        std::fs::remove_file(room.path("images/sky.png")).unwrap();
        std::os::unix::fs::symlink(room.path("q2.bsp"), room.path("images/sky.png")).unwrap();
        room.bspkit("tex export odd.bsp -o images --overwrite").without_data(2);
        assert_eq!(room.read("q2.bsp"), fixture("q2/own_rooms_bspx"));
    }
}

#[test]
fn pixels_go_out_of_a_map_and_in_again() {
    let room = room();
    room.bspkit("tex strip goldsrc.bsp -o small.bsp").done();
    assert!(room.read("small.bsp").len() < room.read("goldsrc.bsp").len());
    room.bspkit("tex embed small.bsp own.wad -o large.bsp").done();
    assert_eq!(room.read("large.bsp"), room.read("goldsrc.bsp"));
    // Some of them.
    room.bspkit("tex strip goldsrc.bsp own_w* #7 -o some.bsp").done();
    let list = room.bspkit("tex list some.bsp --json").done().json();
    let external: Vec<u64> =
        (0..11).filter(|at| list["textures"][at]["is"] == "external").map(|at| at as u64).collect();
    assert_eq!(external, [4, 7]);
    // Nothing to do is no edit; a WAD file without the textures is a finding.
    room.bspkit("tex embed goldsrc.bsp own.wad -o same.bsp").done();
    assert_eq!(room.read("same.bsp"), room.read("goldsrc.bsp"));
    let mut wad = room.read("own.wad");
    wad[4..8].copy_from_slice(&0_u32.to_le_bytes());
    room.write("none.wad", &wad);
    let run = room.bspkit("tex embed names.bsp none.wad -o no.bsp").without_data(1);
    assert!(run.err.contains("no WAD file has OWN_FLOOR, OWN_CEIL, OWN_WALL"), "{}", run.err);
    room.bspkit("tex embed names.bsp none.wad own.wad -o full.bsp").done();
    room.bspkit("verify full.bsp").done();
    // A damaged entry is named, and the others are taken.
    let mut wad = room.read("own.wad");
    wad[12 + 16] = 24;
    room.write("bad.wad", &wad);
    let run = room.bspkit("tex embed names.bsp bad.wad -o most.bsp").without_data(1);
    assert!(run.err.contains("`OWN_WALL` is not a valid texture") && run.err.contains("embedded"), "{}", run.err);
    assert!(room.path("most.bsp").exists());
    // A picture of the name is no texture: the next WAD file has one.
    let mut wad = room.read("own.wad");
    let directory = usize::try_from(u32::from_le_bytes(*wad[8..].first_chunk().unwrap())).unwrap();
    (directory..wad.len()).step_by(32).for_each(|entry| wad[entry + 12] = 0x46);
    room.write("fonts.wad", &wad);
    room.bspkit("tex embed names.bsp fonts.wad own.wad -o other.bsp").done();
    assert_eq!(room.read("other.bsp"), room.read("full.bsp"));
}

#[test]
fn wal_files_are_made_and_changed() {
    let room = room();
    room.bspkit("tex export water.wal -o water.png --palette colormap.pcx").done();
    std::fs::create_dir_all(room.path("textures/own")).unwrap();
    let line = "tex import water.png --palette colormap.pcx --flags WARP|TRANS33 --contents WATER --value -3 --next own/water2 -o textures/own/new.wal";
    room.bspkit(line).done();
    let list = room.bspkit("tex list textures/own/new.wal --json").done().json();
    let texture = &list["textures"][0];
    assert_eq!((texture["name"].as_str(), texture["next_name"].as_str()), (Some("own/new"), Some("own/water2")));
    assert_eq!((texture["flags"].as_str(), texture["contents"].as_str()), (Some("WARP|TRANS33"), Some("WATER")));
    assert_eq!((texture["value"].as_i64(), texture["width"].as_i64()), (Some(-3), Some(64)));
    // One field; what is there already is no change.
    room.bspkit("tex import wall.wal --value 300 -o out.wal").done();
    let (old, new) = (room.read("wall.wal"), room.read("out.wal"));
    assert_eq!((0..old.len()).filter(|at| old[*at] != new[*at]).collect::<Vec<_>>(), [96, 97]);
    room.bspkit("tex import wall.wal --value 0 --name own/wall -o out.wal").done();
    assert_eq!(room.read("out.wal"), old);
    room.bspkit("tex import wall.wal --value 5 --in-place --backup").done();
    assert_eq!(room.read("wall.wal.bak"), old);
    for (line, code, says) in [
        ("tex export wall.wal -o x", 2, "a WAL file has no palette"),
        ("tex export wall.wal -o x --palette wall.wal", 2, "are not a palette"),
        ("tex import wall.wal -o no.wal", 2, "nothing to change"),
        ("tex import wall.wal --flags SKI -o no.wal", 2, "`SKI` is neither a flag"),
        ("tex import wall.wal --value 5", 2, "no output given"),
        ("tex import wall.wal --value 5 -o wall.wal", 2, "use --in-place to replace it"),
        ("tex import wall.wal images/nothing.png --palette colormap.pcx -o no.wal", 1, "cannot read"),
        ("tex import water.png --palette colormap.pcx -o no.png", 2, "-o NAME.wal"),
        (
            "tex import goldsrc.bsp water.png --palette colormap.pcx -o no.bsp",
            2,
            "the textures of this map have palettes",
        ),
    ] {
        let run = room.bspkit(line).without_data(code);
        assert!(run.err.contains(says), "{line}: {}", run.err);
        assert!(!room.path("no.wal").exists());
    }
    let wal = room.read("water.wal");
    room.write("cut.wal", &wal[..wal.len() - 1]);
    let run = room.bspkit("tex list cut.wal").without_data(2);
    assert!(run.err.contains("level 3 of 64 by 64"), "{}", run.err);
    room.bspkit("tex export cut.wal -o x --palette colormap.pcx").without_data(2);
}

#[test]
fn names_change_by_one_command_in_every_family() {
    let room = room();
    room.write("source2.bsp", &fixture("source/room_v20"));
    for (map, old, new) in [
        ("q2.bsp", "own/*", "mine/{1}"),
        ("q3.bsp", "textures/own/*", "textures/mine/{1}"),
        ("goldsrc.bsp", "own_*", "my_{1}"),
        ("source2.bsp", "**", "{1}_x"),
    ] {
        room.run(&["tex", "rename", map, old, new, "-o", "out.bsp"]).done();
        room.bspkit("verify out.bsp").done();
        assert_ne!(room.read(map), room.read("out.bsp"));
        let run = room.run(&["tex", "rename", map, "nothing", "else", "-o", "no.bsp"]).without_data(1);
        assert!(run.err.contains("no texture has a name like `nothing`"), "{}", run.err);
        let long = "n".repeat(200);
        let run = room.run(&["tex", "rename", map, old, &long, "-o", "no.bsp"]).without_data(2);
        assert!(run.err.contains("the new name has 200 bytes"), "{}", run.err);
        assert!(!room.path("no.bsp").exists());
    }
    let run = room.run(&["tex", "rename", "q2.bsp", "own/*", "x{2}", "-o", "no.bsp"]).without_data(2);
    assert!(run.err.contains("{2} is not a wildcard"), "{}", run.err);
}

/// No shadow darkens the last 32 colors of Quake: a picture without a palette gets none of them by being near.
#[test]
fn a_picture_does_not_become_fullbright() {
    let room = Room::empty();
    room.write("q1.bsp", &super::room::fixture("q1/own_rooms"));
    let colors: Vec<u8> = (0..32 * 32_u32)
        .flat_map(|at| [255 - at % 32 * 3, 255 - at / 32 * 5, at % 7 * 30].map(|part| u8::try_from(part).unwrap()))
        .collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 32, 32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&colors).unwrap();
    room.write("own_wall.png", &file);
    room.bspkit("tex import q1.bsp own_wall.png --quantize -o out.bsp").done();
    let map = Bsp::from_vec(room.read("out.bsp")).unwrap();
    let textures = map.textures().unwrap();
    let wall = (0..textures.len()).find(|index| textures.name(*index) == Some(b"own_wall")).unwrap();
    let wall = textures.get(wall).unwrap().unwrap();
    for level in 0..4 {
        assert!(wall.pixels(level).unwrap().iter().all(|pixel| *pixel < 224), "{level}");
    }
    // Without the rule the nearest colors are among them.
    let pixels: Vec<[u8; 3]> = colors.as_chunks::<3>().0.to_vec();
    let nearest = bspkit::content::palette::reduce(&pixels, &bspkit::content::palette::Palette::QUAKE);
    assert!(nearest.iter().any(|pixel| *pixel >= 224));
    // A painted square of both kinds is not fullbright in its mip levels, unless half of it is.
    let mut painted = wall.image().unwrap();
    painted
        .pixels
        .iter_mut()
        .enumerate()
        .for_each(|(at, pixel)| *pixel = if at % 2 + at / 32 % 2 == 0 { 251 } else { 15 });
    let mut draft = map.draft();
    let textures = draft.textures().unwrap();
    let index = (0..textures.len()).find(|index| textures.name(*index) == Some(b"own_wall")).unwrap();
    textures.set_image(index, &painted, Some(&bspkit::content::palette::Palette::QUAKE)).unwrap();
    let level = textures.get(index).unwrap().unwrap().pixels(1).unwrap().to_vec();
    assert!(level.iter().all(|pixel| *pixel < 224), "{level:?}");
}

/// After `=` a star is a letter: the names of Quake's liquids have one.
#[test]
fn a_liquid_alone_is_renamed() {
    let room = Room::empty();
    room.write("q1.bsp", &super::room::fixture("q1/own_rooms"));
    room.bspkit("tex rename q1.bsp own_floor *lava1 -o a.bsp -q").done();
    room.bspkit("tex rename a.bsp own_wall xlava1 -o b.bsp -q").done();
    room.bspkit("tex rename b.bsp =*LAVA1 *slime0 -o c.bsp -q").done();
    let names = room.bspkit("tex list c.bsp").done();
    let has = |name: &str| names.text().split_whitespace().any(|word| word == name);
    assert!(has("*slime0") && has("xlava1") && !has("*lava1"), "{}", names.text());
    let none = room.bspkit("tex rename c.bsp =*lava1 *slime1 -o d.bsp");
    assert!(none.err.contains("no texture has a name like `=*lava1`"), "{}", none.err);
}

/// Engines of Quake and GoldSrc draw a face by the first letters of its texture's name.
#[test]
fn a_name_or_size_with_which_engines_draw_something_else_is_said() {
    let room = room();
    room.write("q1.bsp", &fixture("q1/own_rooms"));
    for (line, says) in [
        (
            "tex rename q1.bsp own_wall sky_wall",
            "engines draw `sky_wall` as the sky by the new name, and not as a wall",
        ),
        ("tex rename q1.bsp =*own_water water", "engines draw `water` as a wall by the new name, and not as a liquid"),
        ("tex rename goldsrc.bsp own_wall {wall", "engines draw `{wall` as a fence with holes by the new name"),
        ("tex rename goldsrc.bsp own_wall !wall", "engines draw `!wall` as a liquid by the new name"),
    ] {
        let run = room.bspkit(&format!("{line} -o out.bsp")).done();
        assert!(run.err.contains(says), "{line}: {}", run.err);
    }
    for line in ["tex rename q1.bsp own_wall !wall", "tex rename q1.bsp sky_own SKY4"] {
        assert!(!room.bspkit(&format!("{line} -o out.bsp")).done().err.contains("engines draw"), "{line}");
    }
    // `check` has the size of a wall that became a sky, and of a sky with new pixels.
    room.bspkit("tex export q1.bsp own_wall -o images").done();
    std::fs::rename(room.path("images/own_wall.png"), room.path("images/sky_own.png")).unwrap();
    let run = room.bspkit("tex import q1.bsp images --any-size -o out.bsp").done();
    assert!(run.err.contains("not all engines draw a sky that is not 256 by 128 pixels"), "{}", run.err);
    assert!(room.bspkit("check out.bsp").text().contains("texture-sky"));
    assert!(!room.bspkit("check q1.bsp").text().contains("texture-sky"));
}

/// The name of another texture: one texture has changed, and the other one has not.
#[test]
fn a_texture_that_gets_the_name_of_another_is_the_only_change() {
    let room = Room::empty();
    room.write("own_rooms.bsp", &fixture("q1/own_rooms"));
    let report = room.bspkit("tex rename own_rooms.bsp own_wall trigger -o out.bsp --json").done().json();
    let changes = report["changes"].as_array().unwrap();
    let names = [&changes[0]["old"], &changes[0]["new"]];
    assert_eq!((changes.len(), names), (1, [&"own_wall".into(), &"trigger".into()]), "{report}");
    // What is said on stderr is in the document too.
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(1), "{report}");
}

/// Two textures of one name: an index means one of them.
#[test]
fn one_of_two_textures_of_one_name_is_renamed_by_its_index() {
    let room = Room::empty();
    for (name, fixture_name) in [("q1.bsp", "q1/own_rooms"), ("goldsrc.bsp", "goldsrc/own_rooms")] {
        room.write("m.bsp", &fixture(fixture_name));
        let names = |file: &str| -> Vec<String> {
            let list = room.bspkit(&format!("tex list {file} --json")).done().json();
            let all = list["textures"].as_array().unwrap().iter();
            all.map(|texture| texture["name"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let old = names("m.bsp");
        // The first one of these maps is missing and has no name.
        let [one, other] = [1, 2].map(|index| old[index].as_str());
        assert!(old[0].is_empty() && one != other);
        room.run(&["tex", "rename", "m.bsp", &format!("={other}"), one, "-o", name]).done();
        room.run(&["tex", "rename", name, "#2", "second", "-o", "out.bsp"]).done();
        let mut wanted = old.clone();
        wanted[2] = "second".to_owned();
        assert_eq!(names("out.bsp"), wanted);
        for index in [0, 99] {
            let run = room.run(&["tex", "rename", name, &format!("#{index}"), "second", "-o", "no.bsp"]);
            let run = run.without_data(1);
            assert!(run.err.contains(&format!("no texture with a name has the index {index}")), "{}", run.err);
        }
        room.run(&["tex", "rename", name, "#1", "{1}", "-o", "no.bsp"]).without_data(2);
    }
    // Where records have the names, textures have no index.
    room.write("q2.bsp", &fixture("q2/own_rooms"));
    let run = room.run(&["tex", "rename", "q2.bsp", "#1", "second", "-o", "no.bsp"]).without_data(1);
    assert!(run.err.contains("no texture has a name like `#1`"), "{}", run.err);
}
