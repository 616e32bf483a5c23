//! WAD files that `tex export` and `tex strip` write: no pixel is lost, and other readers see the same textures.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use bspkit::Bsp;
use bspkit::content::wad::Wad;

use super::corpus;
use super::room::{Room, Run, fixture};
use super::tex::room;

fn word(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u32::from_le_bytes(*bytes[at..].first_chunk().unwrap())).unwrap()
}

fn lump(map: &[u8]) -> Vec<u8> {
    let map = Bsp::from_vec(map.to_vec()).unwrap();
    map.bytes(map.slot("TEXTURES").unwrap().id).unwrap().to_vec()
}

/// Pixels go to a WAD file and come back; `spoil` is what happens to the file meanwhile.
fn comes_back(map: &[u8], spoil: impl FnOnce(&mut Vec<u8>)) -> Option<bool> {
    let room = Room::empty();
    room.write("map.bsp", map);
    room.bspkit("tex strip map.bsp --wad kept.wad -o bare.bsp --force -q");
    let mut wad = std::fs::read(room.path("kept.wad")).ok()?;
    assert!(lump(&room.read("bare.bsp")).len() < lump(map).len());
    spoil(&mut wad);
    room.write("kept.wad", &wad);
    room.bspkit("tex embed bare.bsp kept.wad -o back.bsp --force -q");
    Some(std::fs::read(room.path("back.bsp")).is_ok_and(|back| lump(&back) == lump(map)))
}

const MAPS: [&str; 5] =
    ["goldsrc/own_rooms", "goldsrc/own_rooms_sdhlt", "q1/own_rooms", "q1/own_rooms_bspx", "bsp2/own_rooms"];

#[test]
fn what_is_stripped_to_a_wad_file_comes_back_to_the_last_byte() {
    for map in MAPS.map(fixture) {
        assert_eq!(comes_back(&map, |_| {}), Some(true));
        // The law sees every byte: of an image, of the last smaller copy, of the last colour.
        let first = |wad: &[u8]| word(wad, word(wad, 8));
        let last = |wad: &[u8]| first(wad) + word(wad, word(wad, 8) + 4) - 3;
        for place in [&(|wad: &[u8]| first(wad) + 40) as &dyn Fn(&[u8]) -> usize, &last] {
            let spoil = |wad: &mut Vec<u8>| {
                let at = place(wad);
                wad[at] ^= 1;
            };
            assert_eq!(comes_back(&map, spoil), Some(false));
        }
    }
    let real = corpus::maps().into_iter().filter_map(|path| Some((std::fs::read(&path).ok()?, path)));
    let has_pixels = |map: &[u8]| Bsp::from_vec(map.to_vec()).is_ok_and(|map| map.has_textures());
    let results =
        real.filter(|(map, _)| has_pixels(map)).filter_map(|(map, path)| Some((comes_back(&map, |_| {})?, path)));
    let results: Vec<(bool, PathBuf)> = results.collect();
    assert!(results.iter().all(|(is_back, _)| *is_back), "{results:?}");
    eprintln!("{} real maps had pixels, and have them again", results.len());
}

/// The decoder of `tests/readers/wad.py`, which knows nothing of this program.
#[track_caller]
fn decoded(wad: &Path) -> Option<Run> {
    let python = std::env::var_os("BSPKIT_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/readers/wad.py");
    let Ok(output) = Command::new(&python).arg(script).arg(wad).output() else {
        let notice = format!("there is no Python ({}): it does not read WAD files", python.display());
        assert!(std::env::var_os("BSPKIT_REQUIRE_READERS").is_none_or(|value| value != "1"), "{notice}");
        eprintln!("skipped: {notice}");
        return None;
    };
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(Run { code: output.status.code(), out: output.stdout, err })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn an_independent_decoder_sees_the_textures_of_the_map() {
    for name in MAPS {
        let (room, bytes) = (Room::empty(), fixture(name));
        room.write("map.bsp", &bytes);
        room.bspkit("tex export map.bsp -o all.wad").done();
        let Some(run) = decoded(&room.path("all.wad")) else { return };
        let map = Bsp::from_vec(bytes).unwrap();
        let textures = map.textures().unwrap();
        let mut expected = String::new();
        for texture in (0..textures.len()).filter_map(|index| textures.get(index).unwrap()) {
            let levels: Vec<String> = (0..4).map(|level| hex(texture.pixels(level).unwrap())).collect();
            let palette = texture.palette().map_or("-".to_owned(), |palette| hex(&palette.0));
            let name = String::from_utf8(texture.name().to_vec()).unwrap();
            let (width, height) = (texture.width(), texture.height());
            writeln!(expected, "{name} {width} {height} {} {palette}", levels.join(" ")).unwrap();
        }
        assert_eq!(run.done().text(), expected, "{name}");
    }
}

#[test]
fn a_wad_file_gets_more_textures_and_keeps_all_it_has() {
    let room = room();
    let old = room.read("own.wad");
    let new_name = |from: &str| room.bspkit(&format!("tex rename goldsrc.bsp OWN_WALL mine -o {from}")).done();
    new_name("named.bsp");
    let run = room.bspkit("tex strip named.bsp --wad own.wad -o bare.bsp").done();
    assert!(run.err.contains("own.wad: 11 textures"), "{}", run.err);
    let wad = room.read("own.wad");
    let directory = word(&old, 8);
    assert_eq!(wad[12..directory], old[12..directory], "what was there stays");
    let parsed = Wad::parse(wad.clone()).unwrap();
    assert_eq!(parsed.entries().last().unwrap().name.bytes(), b"mine");
    assert_eq!(parsed.entries()[..10], Wad::parse(old.clone()).unwrap().entries()[..]);
    if let Some(run) = decoded(&room.path("own.wad")) {
        run.done();
    }
    // The same textures again change nothing.
    room.bspkit("tex strip named.bsp --wad own.wad -o again.bsp").done();
    assert_eq!(room.read("own.wad"), wad);
    // A directory before the textures is not written over; it is only no longer used.
    let mut front = [&old[..12], &old[directory..], &old[12..directory]].concat();
    front[8..12].copy_from_slice(&12_u32.to_le_bytes());
    let moved = u32::try_from(old.len() - directory).unwrap();
    for at in (12..12 + old.len() - directory).step_by(32) {
        let offset = u32::try_from(word(&front, at)).unwrap() + moved;
        front[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    }
    room.write("front.wad", &front);
    room.bspkit("tex strip named.bsp --wad front.wad -o bare.bsp").done();
    assert_eq!(room.read("front.wad")[12..front.len()], front[12..]);
    room.bspkit("tex embed bare.bsp front.wad -o back.bsp").done();
    assert_eq!(lump(&room.read("back.bsp")), lump(&room.read("named.bsp")));
}

/// The map with one other pixel in a texture.
fn repainted(room: &Room) {
    let map = Bsp::from_vec(room.read("goldsrc.bsp")).unwrap();
    let mut draft = map.draft();
    let textures = draft.textures().unwrap();
    let wall = (0..textures.len()).find(|index| textures.name(*index) == Some(b"OWN_WALL")).unwrap();
    let mut image = textures.get(wall).unwrap().unwrap().image().unwrap();
    image.pixels[0] ^= 1;
    textures.set_image(wall, &image, None).unwrap();
    room.write("painted.bsp", &draft.plan(bspkit::Layout::Keep).unwrap().to_vec());
}

#[test]
fn another_texture_of_the_same_name_is_refused_by_name() {
    let room = room();
    repainted(&room);
    let wad = room.read("own.wad");
    let run = room.bspkit("tex strip painted.bsp --wad own.wad -o bare.bsp").without_data(1);
    assert!(run.err.contains("`OWN_WALL`") && run.err.contains("another texture with the name"), "{}", run.err);
    assert_eq!(room.read("own.wad"), wad);
    // It stays in the map, and the map still has all pixels.
    let list = room.bspkit("tex list bare.bsp --json").done().json();
    let embedded = list["textures"].as_array().unwrap().iter().filter(|texture| texture["is"] == "embedded");
    assert_eq!(embedded.map(|texture| texture["name"].clone()).collect::<Vec<_>>(), ["OWN_WALL"]);
    room.bspkit("tex embed bare.bsp own.wad -o back.bsp").done();
    assert_eq!(lump(&room.read("back.bsp")), lump(&room.read("painted.bsp")));
    // Maps together: the first one wins.
    let run = room.bspkit("tex export goldsrc.bsp painted.bsp -o both.wad");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("both.wad: 10 textures") && run.err.contains("`OWN_WALL`"), "{}", run.err);
    let both = Wad::parse(room.read("both.wad")).unwrap();
    let own = Wad::parse(wad).unwrap();
    let [both_wall, own_wall] = [&both, &own].map(|wad| wad.miptex(wad.find("own_wall").unwrap()).unwrap());
    assert_eq!(both_wall.image(), own_wall.image());
}

#[test]
fn a_wad_file_replaces_the_pixels_of_a_map() {
    let room = room();
    repainted(&room);
    for map in ["goldsrc", "painted"] {
        room.bspkit(&format!("tex export {map}.bsp -o {map}.wad")).done();
        room.bspkit(&format!("tex import {map}.bsp {map}.wad -o same.bsp")).done();
        assert_eq!(room.read("same.bsp"), room.read(format!("{map}.bsp")));
    }
    room.bspkit("tex import goldsrc.bsp painted.wad -o out.bsp").done();
    assert_eq!(lump(&room.read("out.bsp")), lump(&room.read("painted.bsp")));
    // A map that has only the names gets the pixels; entries that the map does not know are counted.
    room.bspkit("tex strip goldsrc.bsp own_wall -o bare.bsp").done();
    room.bspkit("tex rename bare.bsp own_floor mine -o named.bsp").done();
    let run = room.bspkit("tex import named.bsp painted.wad -o full.bsp").done();
    assert!(run.err.contains("1 entry left out"), "{}", run.err);
    let list = room.bspkit("tex list full.bsp --json").done().json();
    assert!(list["textures"].as_array().unwrap().iter().all(|texture| texture["is"] != "external"));
    // Two textures of one name get the pixels that the file has for it.
    let mut twin = room.read("goldsrc.bsp");
    let other = twin.windows(9).position(|part| part.eq_ignore_ascii_case(b"own_ceil\0")).unwrap();
    twin[other..other + 9].copy_from_slice(b"OWN_WALL\0");
    room.write("twin.bsp", &twin);
    let run = room.bspkit("tex import twin.bsp painted.wad -o twins.bsp").done();
    assert!(run.err.contains(", and gets the same pixels"), "{}", run.err);
    room.write("none.wad", b"WAD3\0\0\0\0\x0c\0\0\0");
    let run = room.bspkit("tex import goldsrc.bsp none.wad -o no.bsp").without_data(1);
    assert!(run.err.contains("has no texture of the map"), "{}", run.err);
    room.write("q1.bsp", &fixture("q1/own_rooms"));
    let run = room.bspkit("tex import q1.bsp own.wad -o no.bsp").without_data(2);
    assert!(run.err.contains("its pixels are for another palette"), "{}", run.err);
    assert!(!room.path("no.bsp").exists());
}

#[test]
fn wad_files_that_do_not_fit_are_refused_before_anything_is_written() {
    let room = room();
    room.write("q1.bsp", &fixture("q1/own_rooms"));
    room.bspkit("tex export q1.bsp -o q1.wad").done();
    room.bspkit("tex strip q1.bsp -o bare_q1.bsp --force").done();
    room.bspkit("tex strip goldsrc.bsp -o bare.bsp").done();
    room.write("broken.wad", b"WAD3\xff\xff\xff\x7f\0\0\0\0");
    let names = room.names();
    for (line, code, says) in [
        ("tex strip goldsrc.bsp --wad q1.wad -o no.bsp", 2, "a WAD file of Quake, and the map is of GoldSrc"),
        ("tex strip q1.bsp --wad own.wad --force -o no.bsp", 2, "a WAD file of GoldSrc, and the map is of Quake"),
        ("tex strip goldsrc.bsp --wad broken.wad -o no.bsp", 2, "do not fit"),
        ("tex strip goldsrc.bsp --wad no/own.wad -o no.bsp", 2, "no/own.wad"),
        ("tex strip goldsrc.bsp --wad goldsrc.bsp -o no.bsp", 2, "is an input file"),
        ("tex strip goldsrc.bsp --wad bare.bsp -o bare.bsp", 2, "is an input file"),
        ("tex strip goldsrc.bsp --wad new.wad --dry-run", 0, ""),
        ("tex strip q2.bsp --wad new.wad -o no.bsp", 2, "no textures in them"),
        ("tex embed bare.bsp q1.wad -o no.bsp", 2, "a WAD file of Quake, whose textures have no palettes"),
        ("tex embed bare_q1.bsp own.wad -o no.bsp", 2, "a WAD file of GoldSrc, whose textures have palettes"),
        ("tex export goldsrc.bsp -o q1.wad", 2, "--overwrite replaces it"),
        ("tex export goldsrc.bsp none.bsp -o new.wad none*", 1, "nothing matches"),
        ("tex export bare.bsp -o new.wad", 1, "no texture with pixels"),
        ("tex export goldsrc.bsp -o new.wad --mips", 2, "all mip levels"),
        ("tex export q1.bsp goldsrc.bsp -o new2.wad", 1, "has a palette"),
    ] {
        let run = room.bspkit(line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.err.contains(says), "{line}: {}", run.err);
        let more: Vec<_> = room.names().into_iter().filter(|name| !names.contains(name)).collect();
        assert!(more.iter().all(|name| name.ends_with("new2.wad")), "{line}: {more:?}");
    }
    // A WAD file is a collection too.
    room.bspkit("tex export own.wad -o copy.wad own_*").done();
    assert_eq!(Wad::parse(room.read("copy.wad")).unwrap().entries().len(), 4);
}
