//! `compress` and `decompress`.

use bspkit::{Builder, dialect};

use super::room::{Room, SOURCE_TEXT, fixture};

fn map() -> Vec<u8> {
    let builder = Builder::new(&dialect::STRATA).lump(0, SOURCE_TEXT).lump(1, [1; 4000]).lump(59, [0; 4]);
    builder.game_lump(*b"sprp", 6, [5; 900]).lump(40, [9; 22]).build().unwrap()
}

fn room() -> Room {
    let room = Room::new();
    room.write("raw.bsp", &map());
    room
}

#[test]
fn a_map_shrinks_and_comes_back() {
    let room = room();
    let run = room.bspkit("compress raw.bsp -o small.bsp").without_data(0);
    assert!(run.err.starts_with("raw.bsp: 3 compressed, 1 would grow; "), "{}", run.err);
    assert!(room.read("small.bsp").len() + 4000 < room.read("raw.bsp").len());
    assert_eq!(room.bspkit("compress raw.bsp -o small.bsp -q").without_data(0).err, "");
    for lump in ["entities", "planes", "game:sprp", "MAP_FLAGS", "pak"] {
        let [old, new] = ["raw", "small"].map(|name| room.bspkit(&format!("cat {name}.bsp {lump}")).done().out);
        assert_eq!(old, new, "{lump}");
    }
    assert_eq!(room.bspkit("ent get small.bsp worldspawn world_maxs").done().text(), "1 2 3\n");
    assert!(room.bspkit("cat small.bsp planes --stored").done().out.starts_with(b"LZMA"));
    room.bspkit("verify small.bsp").done();
    let run = room.bspkit("decompress small.bsp -o large.bsp").without_data(0);
    assert!(run.err.starts_with("small.bsp: 3 decompressed, 1 as it was; "), "{}", run.err);
    assert_eq!(room.bspkit("cat large.bsp planes --stored").done().out, [1; 4000]);
    assert_eq!(room.bspkit("info small.bsp -j 1 --json").done().json()["dialect"], "strata");
}

#[test]
fn all_is_all_and_twice_is_nothing() {
    let room = room();
    let run = room.bspkit("compress raw.bsp --all -o all.bsp").without_data(0);
    assert!(run.err.starts_with("raw.bsp: 4 compressed; "), "{}", run.err);
    let run = room.bspkit("compress all.bsp --all --in-place").without_data(0);
    assert!(run.err.contains("all.bsp: nothing changes, the file is left as it is"), "{}", run.err);
    room.bspkit("compress all.bsp -o again.bsp").done();
    assert_eq!(room.read("all.bsp"), room.read("again.bsp"));
    room.bspkit("decompress raw.bsp -o same.bsp").done();
    assert_eq!(room.read("raw.bsp"), room.read("same.bsp"));
    let threads = |count: usize| {
        room.bspkit(&format!("compress raw.bsp --all -j {count} -o out.bsp")).done();
        room.read("out.bsp")
    };
    assert_eq!(threads(1), threads(5));
}

/// A lower level is a larger file; all of them have the same lumps.
#[test]
fn a_level_decides_the_size_and_nothing_else() {
    let room = Room::new();
    // A text whose repetitions are far apart and differ, so that a longer look for them pays.
    let words =
        (0..60_000_u32).map(|word| format!("{:x} ", word.wrapping_mul(2_654_435_761) >> 20)).collect::<String>();
    let map = Builder::new(&dialect::SOURCE).lump(0, SOURCE_TEXT).lump(43, words.clone());
    room.write("raw.bsp", &map.build().unwrap());
    let size = |level: &str| {
        room.bspkit(&format!("compress raw.bsp {level} -o out.bsp")).done();
        assert_eq!(room.bspkit("cat out.bsp TEXDATA_STRING_DATA").done().out, words.as_bytes());
        room.read("out.bsp").len()
    };
    let [least, usual, most] = ["--level 0", "--level 6", "--level 9"].map(size);
    assert!(least > usual && usual >= most, "{least} {usual} {most}");
    assert_eq!(size(""), usual);
    let run = room.bspkit("compress raw.bsp --level 10 -o out.bsp");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("10 is no level of compression: they are 0 to 9"), "{}", run.err);
}

#[test]
fn every_piece_is_told_where_one_asks() {
    let room = room();
    let run = room.bspkit("compress raw.bsp -v -o out.bsp").without_data(0);
    for line in ["      4000 ->", " PLANES compressed\n", " MAP_FLAGS would grow\n", " game:sprp compressed\n"] {
        assert!(run.err.contains(line), "{line}: {}", run.err);
    }
}

#[test]
fn layouts_are_the_users() {
    let room = room();
    room.bspkit("compress raw.bsp --layout keep -o out.bsp").done();
    // Everything stays where it is: the game lump alone stands behind its place.
    let [old, new] = ["raw", "out"].map(|name| room.bspkit(&format!("info {name}.bsp --json")).done().json());
    assert_eq!(old["lumps"][1]["offset"], new["lumps"][1]["offset"]);
    let run = room.bspkit("compress raw.bsp --dry-run --json").done().json();
    assert_eq!((&run["changed"], run["edits"].as_array().unwrap().len()), (&true.into(), 3));
    assert!(run["bytes"][1].as_u64() < run["bytes"][0].as_u64());
}

#[test]
fn games_that_cannot_read_it_are_a_warning() {
    let room = room();
    let run = room.bspkit("compress source.bsp --all -o out.bsp").without_data(0);
    assert!(run.err.contains("warning: source.bsp: Team Fortress 2"), "{}", run.err);
    assert!(!room.bspkit("compress raw.bsp -o out.bsp").done().err.contains("warning"));
    // Nothing changes, so nothing is to be warned of.
    assert!(!room.bspkit("compress out.bsp -o again.bsp").done().err.contains("warning"));
}

#[test]
fn what_cannot_be_done_writes_nothing() {
    let room = room();
    let mut bad = Builder::new(&dialect::SOURCE).compressed_lump(1, &[1; 4000]).unwrap().build().unwrap();
    let at = 1036 + 12;
    bad[at] = 255;
    room.write("bad.bsp", &bad);
    let names = room.names();
    for (line, words) in [
        ("compress q3.bsp -o out.bsp", "no engine reads compressed lumps of Quake III Arena maps"),
        ("decompress goldsrc.bsp -o out.bsp", "no engine reads compressed lumps of GoldSrc maps"),
        ("compress raw.bsp --pak -o out.bsp", "the pakfile is not a zip"),
        ("decompress raw.bsp --pak -o out.bsp", "the pakfile is not a zip"),
        ("decompress bad.bsp -o out.bsp", "caused by: the LZMA data is damaged: invalid props byte (PLANES)"),
        ("compress raw.bsp", "no output given"),
        ("compress raw.bsp -o raw.bsp", "is the input map"),
        ("compress none.bsp -o out.bsp", "cannot read none.bsp"),
    ] {
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains(words), "{line}: {}", run.err);
        assert_eq!(room.names(), names, "{line}");
    }
}

#[test]
fn folders_are_compressed_into_folders() {
    let room = Room::empty();
    room.write("maps/a.bsp", &map());
    room.write("maps/deep/b.bsp", &map());
    room.bspkit("compress maps --all -o out").done();
    assert_eq!(room.read("out/a.bsp"), room.read("out/deep/b.bsp"));
    room.bspkit("decompress out --in-place").done();
    assert_eq!(room.bspkit("cat out/a.bsp planes --stored").done().out, [1; 4000]);
}

/// A repack of a map of which all is used leaves out what no lump names.
#[test]
fn prune_leaves_out_holes_where_nothing_is_unused() {
    let room = Room::new();
    room.bspkit("prune q3.bsp --layout repack -o small.bsp").done();
    room.bspkit("ent set small.bsp worldspawn message=longer --layout append -o holes.bsp").done();
    let run = room.bspkit("prune holes.bsp --layout repack -o again.bsp").done();
    assert!(run.err.contains("nothing is unused") && run.err.contains("dropped"), "{}", run.err);
    assert!(room.read("again.bsp").len() < room.read("holes.bsp").len());
    let run = room.bspkit("prune again.bsp --layout repack --in-place").done();
    assert!(run.err.contains("nothing changes, the file is left as it is"), "{}", run.err);
}

/// What stays as it is says why, also where nothing changes.
#[test]
fn what_is_left_alone_says_why() {
    let room = Room::empty();
    let mut map = fixture("source/room_v20_lzma");
    // The size in the header of the compressed planes.
    let at = map.windows(4).position(|bytes| bytes == b"LZMA").unwrap();
    map[at + 8..at + 12].copy_from_slice(&i32::MAX.to_le_bytes());
    room.write("cut.bsp", &map);
    let run = room.bspkit("decompress cut.bsp -o out.bsp");
    assert!(run.err.contains("is not changed"), "{}", run.err);
    room.write("large.dat", &vec![0; (32 << 20) + 1]);
    room.write("plain.bsp", &fixture("source/room_v20"));
    room.bspkit("pak add plain.bsp large.dat=large.dat -o large.bsp").done();
    let run = room.bspkit("pak compress large.bsp large.dat -o out.bsp");
    assert!(run.err.contains("it has 33554433 bytes, and at most 33554432 are compressed"), "{}", run.err);
}
