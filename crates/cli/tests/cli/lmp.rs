//! `lmp`: lump files.

use bspkit::{Bsp, Builder, dialect};

use super::room::{Room, SOURCE_TEXT, fixture};

/// A lump file as a game has it.
fn lump_file(id: i32, version: i32, revision: i32, payload: &[u8]) -> Vec<u8> {
    let length = i32::try_from(payload.len()).unwrap();
    let header = [20, id, version, length, revision].map(i32::to_le_bytes);
    [&header.concat(), payload].concat()
}

fn map() -> Vec<u8> {
    let builder = Builder::new(&dialect::L4D2).revision(7).compressed_lump(0, SOURCE_TEXT).unwrap();
    let builder = builder.lump(18, [2; 36]).lump_version(18, 3).game_lump(*b"sprp", 9, [5; 30]);
    builder.game_lump(*b"dprp", 4, [6; 11]).lump(40, [9; 22]).build().unwrap()
}

fn room() -> Room {
    let room = Room::new();
    room.write("c1.bsp", &map());
    room
}

#[test]
fn lumps_go_out_with_their_header() {
    let room = room();
    let run = room.bspkit("lmp export c1.bsp entities BRUSHES").without_data(0);
    assert_eq!(run.err.lines().count(), 2, "{}", run.err);
    assert_eq!(room.read("c1_l_0.lmp"), lump_file(0, 0, 7, SOURCE_TEXT));
    assert_eq!(room.read("c1_l_1.lmp"), lump_file(18, 3, 7, &[2; 36]));
    let names = room.names();
    let run = room.bspkit("lmp export c1.bsp entities").without_data(2);
    assert!(run.err.contains("c1_l_0.lmp exists already"), "{}", run.err);
    assert_eq!(room.names(), names);
    room.bspkit("lmp export c1.bsp 0 game -o new/lumps").done();
    assert_eq!(room.read("new/lumps/c1_l_0.lmp"), room.read("c1_l_0.lmp"));
    let game = room.bspkit("cat c1.bsp game").done().out;
    assert_eq!(room.read("new/lumps/c1_l_1.lmp"), lump_file(35, 0, 7, &game));
    room.bspkit("lmp export c1.bsp 18 -o c1_l_0.lmp").done();
    assert_eq!(room.read("c1_l_0.lmp"), room.read("c1_l_1.lmp"));
    assert_eq!(room.bspkit("lmp export c1.bsp 18 -o c1_l_0.lmp -q").done().err, "");
}

#[test]
fn lumps_come_in_with_their_version() {
    let room = room();
    let text = b"{\n\"classname\" \"worldspawn\"\n\"message\" \"new\"\n}\n\0";
    room.write("c1_l_0.lmp", &lump_file(0, 0, 7, text));
    room.write("c1_l_1.lmp", &lump_file(18, 4, 7, &[0; 48]));
    let run = room.bspkit("lmp import c1.bsp c1_l_0.lmp c1_l_1.lmp -o out.bsp").without_data(0);
    assert!(!run.err.contains("warning") && run.err.contains("BRUSHES version 3 -> 4"), "{}", run.err);
    assert_eq!(room.bspkit("cat out.bsp entities").done().out, text);
    assert!(room.bspkit("cat out.bsp entities --stored").done().out.starts_with(b"LZMA"), "as it was stored");
    let bytes = room.read("out.bsp");
    let new = Bsp::parse(&bytes).unwrap();
    assert_eq!((new.slot("brushes").unwrap().version, new.revision()), (Some(4), Some(7)));
    assert_eq!(*new.stored(new.slot("brushes").unwrap().id), [0; 48]);
    room.bspkit("verify out.bsp").done();
    // What a map holds already is no edit.
    room.bspkit("lmp export c1.bsp entities brushes game -o lumps").done();
    let files = [0, 1, 2].map(|number| format!("lumps/c1_l_{number}.lmp"));
    let run = room.bspkit(&format!("lmp import c1.bsp {} --in-place", files.join(" "))).without_data(0);
    assert_eq!(run.err, "c1.bsp: nothing changes, the file is left as it is\n");
}

#[test]
fn later_numbers_win() {
    let room = room();
    for number in [0, 2, 10] {
        room.write(format!("c1_l_{number}.lmp"), &lump_file(18, 3, 7, &[number; 12]));
    }
    let run = room.bspkit("lmp import c1.bsp c1_l_10.lmp c1_l_0.lmp c1_l_2.lmp -o out.bsp").without_data(0);
    assert_eq!(run.err.matches("overrides it").count(), 2, "{}", run.err);
    assert_eq!(room.bspkit("cat out.bsp brushes").done().out, [10; 12]);
    room.write("any.lmp", &lump_file(18, 3, 7, &[77; 12]));
    room.bspkit("lmp import c1.bsp c1_l_10.lmp any.lmp -o out.bsp").done();
    assert_eq!(room.bspkit("cat out.bsp brushes").done().out, [77; 12]);
}

#[test]
fn game_lumps_find_their_new_place() {
    let room = room();
    let builder = Builder::new(&dialect::L4D2).revision(7).lump(0, SOURCE_TEXT).lump(1, [1; 777]);
    let builder = builder.game_lump(*b"sprp", 9, [8; 50]).compressed_game_lump(*b"dprp", 4, &[9; 200]).unwrap();
    room.write("other.bsp", &builder.game_lump_end().build().unwrap());
    room.bspkit("lmp export other.bsp game -o other.lmp").done();
    for layout in ["keep", "append", "repack"] {
        let run = room.bspkit(&format!("lmp import c1.bsp other.lmp -o out.bsp --layout {layout}")).done();
        assert!(!run.err.contains("warning"), "{}", run.err);
        assert_eq!(room.bspkit("cat out.bsp game:sprp").done().out, [8; 50], "{layout}");
        assert_eq!(room.bspkit("cat out.bsp game:dprp").done().out, [9; 200], "{layout}");
        room.bspkit("verify out.bsp").done();
    }
    for (name, at, bytes) in
        [("count", 20, [255; 4]), ("console", 32, [36, 0, 0, 0]), ("outside", 48, [255, 255, 255, 0])]
    {
        let mut file = room.read("other.lmp");
        file[at..at + 4].copy_from_slice(&bytes);
        room.write("bad.lmp", &file);
        let run = room.bspkit("lmp import c1.bsp bad.lmp -o bad.bsp").without_data(2);
        assert!(run.err.contains("the game lump of the lump file cannot be moved"), "{name}: {}", run.err);
        assert!(!room.path("bad.bsp").exists());
    }
}

#[test]
fn files_that_are_a_little_off_are_taken_with_a_warning() {
    let room = room();
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n\0";
    let with = |word: usize, value: i32| {
        let mut file = lump_file(0, 0, 7, text);
        file[4 * word..4 * word + 4].copy_from_slice(&value.to_le_bytes());
        file
    };
    let short = lump_file(0, 0, 7, text);
    let packed = bspkit::file::lzma::compress(text, Default::default()).unwrap();
    for (file, words) in [
        (short[..short.len() - 1].to_vec(), "no NUL at its end: one is added"),
        (lump_file(0, 0, 7, &text[..text.len() - 1]), "no NUL at its end: one is added"),
        (lump_file(0, 0, 7, &[&text[..], b"\n"].concat()), "continues after its NUL"),
        ([&short[..], b"\n"].concat(), "1 bytes after the lump's 30 are dropped"),
        (with(4, 9), "made for revision 9 of the map, and this is 7"),
        (lump_file(0, 0, 7, &packed), "it is decompressed"),
    ] {
        room.write("a.lmp", &file);
        let run = room.bspkit("lmp import c1.bsp a.lmp -o out.bsp").without_data(0);
        assert!(run.err.contains(words) && run.err.starts_with("warning: a.lmp: "), "{words}: {}", run.err);
        let lump = room.bspkit("cat out.bsp entities").done().out;
        assert_eq!(
            lump.strip_suffix(b"\n").filter(|_| words.starts_with("continues")).unwrap_or(&lump),
            text,
            "{words}"
        );
    }
}

#[test]
fn what_is_no_lump_file_is_one_sentence() {
    let room = room();
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n\0";
    let with = |word: usize, value: i32| {
        let mut file = lump_file(0, 0, 7, text);
        file[4 * word..4 * word + 4].copy_from_slice(&value.to_le_bytes());
        file
    };
    let cut = lump_file(0, 0, 7, text);
    let cases = [
        (Vec::new(), "ends within its header: 0 of 20 bytes"),
        (b"palette".to_vec(), "ends within its header"),
        (with(0, 0), "this is not a lump file of a Source map: its header says that the lump begins at 0"),
        (with(0, 1 << 30), "the lump begins at 1073741824"),
        (with(1, -1), "it holds lump -1"),
        (with(1, 64), "holds lump 64, and the map has 64 lumps"),
        (with(3, -5), "the lump has -5 bytes"),
        (with(3, i32::MAX), "cut short: 30 of 2147483647 bytes are there"),
        (cut[..40].to_vec(), "cut short: 20 of 30 bytes"),
        (vec![0x55; 768], "this is not a lump file"),
    ];
    let names = room.names();
    for (file, words) in cases {
        room.write("a.lmp", &file);
        let run = room.bspkit("lmp import c1.bsp a.lmp -o out.bsp").without_data(2);
        assert!(run.err.contains(words), "{words}: {}", run.err);
        std::fs::remove_file(room.path("a.lmp")).unwrap();
        assert_eq!(room.names(), names);
    }
    room.write("a.lmp", &cut);
    for (line, words) in [
        ("lmp import q3.bsp a.lmp -o out.bsp", "Quake III Arena has no lump files, only Source has"),
        ("lmp import c1.bsp none.lmp -o out.bsp", "cannot read none.lmp"),
        ("lmp export q3.bsp entities", "has no lump files"),
        ("lmp export c1.bsp game:sprp", "a lump file holds a whole lump of the directory"),
        ("lmp export c1.bsp 99", "the map has no lump 99"),
        ("lmp export c1.bsp 0 1 -o b.lmp", "several lumps cannot be written to one file"),
        ("lmp export c1.bsp 0 -o c1.bsp", ""),
    ] {
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains(words), "{line}: {}", run.err);
        assert!(!room.path("out.bsp").exists() && !room.path("b.lmp").exists());
    }
    assert_eq!(room.read("c1.bsp"), map());
}

/// What is exported and imported again is the same: members that are compressed in the map stay so.
#[test]
fn an_unchanged_game_lump_stays_compressed() {
    let room = Room::empty();
    room.write("m.bsp", &fixture("source/room_v20_lzma"));
    room.bspkit("lmp export m.bsp game_lump -o lumps").done();
    let run = room.bspkit("lmp import m.bsp lumps/m_l_0.lmp -o out.bsp").done();
    assert!(run.err.contains("nothing changes"), "{}", run.err);
    assert!(room.read("out.bsp") == room.read("m.bsp"));
}

/// The folder of `lmp export`, of one map too.
#[test]
fn a_folder_has_the_files_of_a_map_by_its_name() {
    let room = Room::empty();
    room.write("a.bsp", &super::room::fixture("source/room_v20"));
    std::fs::create_dir(room.path("new")).unwrap();
    room.bspkit("ent set a.bsp worldspawn own=1 -o new/a.bsp").done();
    room.bspkit("lmp export new/a.bsp ENTITIES -o lumps/").done();
    room.bspkit("lmp import a.bsp lumps -o out.bsp").done();
    assert_eq!(room.bspkit("ent get out.bsp worldspawn own").text(), "1\n");
    std::fs::rename(room.path("lumps/a_l_0.lmp"), room.path("lumps/b_l_0.lmp")).unwrap();
    let run = room.bspkit("lmp import a.bsp lumps -o out.bsp");
    assert!(run.code == Some(1) && run.err.contains("no lump file for this map"), "{run:?}");
}
