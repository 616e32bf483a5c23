//! `checksum`, what saves say of sums, and `--fix-aas`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::room::{Room, fixture};

/// The sums of a map by name.
fn sums(room: &Room, map: &str) -> BTreeMap<String, String> {
    let document = room.run(&["checksum", map, "--json"]).done().json();
    let sums = document["checksums"].as_array().unwrap().iter();
    sums.map(|sum| (sum["name"].as_str().unwrap().into(), sum["value"].as_str().unwrap().into())).collect()
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// A CRC-32 bit by bit, as the definition has it: nothing of the crate's.
fn crc32(parts: &[&[u8]]) -> String {
    let crc = parts.iter().copied().flatten().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    });
    format!("{crc:#010x}")
}

#[test]
fn sums_of_lumps_leave_out_the_entities() {
    let room = Room::empty();
    let lump = |map: &[u8], entry: usize| {
        let (at, size) = (word(map, entry), word(map, entry + 4));
        map[at..at + size].to_vec()
    };
    let cases = [("goldsrc/own_rooms", 4, 8, 15, "goldsrc"), ("source/room_v20_lzma", 8, 16, 64, "source")];
    for (name, first, step, count, sum) in cases {
        let map = fixture(name);
        room.write("m.bsp", &map);
        let lumps: Vec<Vec<u8>> = (1..count).map(|index| lump(&map, first + step * index)).collect();
        assert_eq!(sums(&room, "m.bsp")[sum], crc32(&lumps.iter().map(Vec::as_slice).collect::<Vec<_>>()), "{name}");
    }
    // In a map of version 21 the order in the file is another one than that of the numbers.
    let map = fixture("source/room_v21");
    room.write("m.bsp", &map);
    let mut entries: Vec<usize> = (1..64).map(|index| 8 + 16 * index).collect();
    entries.sort_by_key(|entry| word(&map, *entry));
    let lumps: Vec<Vec<u8>> = entries.iter().map(|entry| lump(&map, *entry)).collect();
    let all = sums(&room, "m.bsp");
    assert_eq!(all["csgo"], crc32(&lumps.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    assert_ne!(all["csgo"], all["source"]);
}

/// Blue Shift's entities are the second lump, and it is that one which is left out.
#[test]
fn blue_shift_leaves_out_its_second_lump() {
    let room = Room::empty();
    let mut map = fixture("goldsrc/own_rooms");
    let (first, second) = (map[4..12].to_vec(), map[12..20].to_vec());
    map[4..12].copy_from_slice(&second);
    map[12..20].copy_from_slice(&first);
    room.write("bshift.bsp", &map);
    room.bspkit("ent set bshift.bsp worldspawn message=other -o out.bsp").done();
    assert_eq!(sums(&room, "bshift.bsp"), sums(&room, "out.bsp"));
    room.bspkit("set bshift.bsp planes[0].distance=77 -o out.bsp").done();
    assert_ne!(sums(&room, "bshift.bsp"), sums(&room, "out.bsp"));
}

/// Which sums an edit of entities, of visibility and of faces leaves alone, in every family.
#[test]
fn edits_change_the_sums_that_cover_them() {
    let room = Room::empty();
    let edits = [
        ("ent set m.bsp worldspawn message=x", 'e'),
        ("vis fill m.bsp", 'v'),
        ("set m.bsp planes[0].distance=77", 'p'),
    ];
    for (name, staying) in [
        ("q1/own_rooms", "quakeworld:e quakeworld2:ev entity-key:vp"),
        ("bsp2/own_rooms", "quakeworld:e quakeworld2:ev entity-key:vp"),
        ("q2/own_rooms", "quake2: entity-key:vp"),
        ("q3/own_rooms", "quake3:"),
        ("goldsrc/own_rooms", "goldsrc:e"),
        ("source/room_v19", "source:e source-md5:e"),
        ("source/room_v21", "source:e csgo:e source-md5:e"),
    ] {
        room.write("m.bsp", &fixture(name));
        let old = sums(&room, "m.bsp");
        for (edit, letter) in edits {
            let run = room.bspkit(&format!("{edit} -o out.bsp --layout append"));
            if room.read("m.bsp") == std::fs::read(room.path("out.bsp")).unwrap_or_default() || run.code != Some(0) {
                continue;
            }
            let new = sums(&room, "out.bsp");
            for (sum, stays) in staying.split(' ').map(|sum| sum.split_once(':').unwrap()) {
                assert_eq!(old[sum] == new[sum], stays.contains(letter), "{name}: {sum} by {edit}");
            }
        }
    }
}

#[test]
fn saves_say_what_becomes_of_sums_where_somebody_asks() {
    let room = Room::new();
    let edit = "ent set source.bsp worldspawn message=x -o out.bsp";
    assert!(!room.bspkit(edit).done().err.contains("checksum"));
    for more in ["--checksum", "-v", "--dry-run --checksum", "--dry-run -v"] {
        let said = room.bspkit(&format!("{edit} {more}")).done().err;
        assert!(said.contains("stays 0x") && said.contains("can still join") && said.contains("unverified"), "{said}");
    }
    assert!(!room.bspkit(&format!("{edit} -q --checksum")).done().err.contains("checksum"));
    let said = room.bspkit(&format!("{edit} --dry-run")).done().err;
    assert!(said.contains("checksum for Source stays; clients with the old map can still join"), "{said}");
    let said = room.bspkit("ent set q3.bsp worldspawn message=x --dry-run").done().err;
    assert!(said.contains("changes; clients need the new map") && !said.contains("0x"), "{said}");
    let sums = |edit: &str| -> Vec<Value> {
        let document = room.bspkit(&format!("{edit} --dry-run --json -q --checksum")).done().json();
        document["checksums"].as_array().unwrap().clone()
    };
    assert_eq!((&sums(edit)[0]["same"], &sums(edit)[1]["verified"]), (&true.into(), &false.into()));
    let quake3 = &sums("ent set q3.bsp worldspawn message=x")[0];
    assert_eq!(quake3["same"], false);
    // What is said before is what comes.
    room.bspkit("ent set q3.bsp worldspawn message=x -o out.bsp").done();
    assert_eq!(quake3["after"], room.bspkit("checksum out.bsp --json").done().json()["checksums"][0]["value"]);
}

/// A file of areas for a map, in which the head alone is real.
pub(crate) fn areas(room: &Room, map: &str, version: u8) -> Vec<u8> {
    let sum = room.run(&["checksum", map, "--json"]).done().json()["checksums"][0]["signed"].as_i64().unwrap();
    let mut head = i32::try_from(sum).unwrap().to_le_bytes().to_vec();
    head.extend([0xA5; 14 * 8]);
    if version == 5 {
        head.iter_mut().zip(0_usize..).for_each(|(byte, at)| *byte ^= (at * 119) as u8);
    }
    [b"EAAS".to_vec(), vec![version, 0, 0, 0], head, b"areas".to_vec()].concat()
}

const EDIT: &str = "ent set q3.bsp worldspawn message=x";

#[test]
fn areas_keep_up_with_the_map() {
    for version in [4, 5] {
        let room = Room::new();
        let old = areas(&room, "q3.bsp", version);
        room.write("q3.aas", &old);
        // Without the word nothing is touched, and it is said what to do.
        assert!(room.bspkit(&format!("{EDIT} -o out.bsp")).done().err.contains("or use --fix-aas"));
        assert!(!room.path("out.aas").exists());
        let said = room.bspkit(&format!("{EDIT} -o out.bsp --fix-aas --dry-run")).done().err;
        assert!(said.contains("out.aas: checksum 0x") && !room.path("out.aas").exists(), "{said}");
        let said = room.bspkit(&format!("{EDIT} -o out.bsp --fix-aas")).done().err;
        assert!(!said.contains("bots will refuse"), "{said}");
        assert_eq!((room.read("out.aas"), room.read("q3.aas")), (areas(&room, "out.bsp", version), old.clone()));
        room.bspkit(&format!("{EDIT} --in-place --backup --fix-aas")).done();
        assert_eq!((room.read("q3.aas"), room.read("q3.aas.bak")), (areas(&room, "q3.bsp", version), old));
        // Nothing to do twice.
        room.bspkit(&format!("{EDIT} --in-place --backup --fix-aas")).done();
        assert!(!room.path("q3.aas.bak.1").exists());
    }
}

#[test]
fn stale_and_foreign_areas_are_refused() {
    let room = Room::new();
    let map = room.read("q3.bsp");
    let mut stale = areas(&room, "q3.bsp", 5);
    stale[9] ^= 1;
    for (bytes, why) in [(&stale[..], "it is out of date"), (&b"text"[..], "not a file of areas")] {
        room.write("q3.aas", bytes);
        for to in ["-o out.bsp", "--in-place"] {
            let run = room.bspkit(&format!("{EDIT} --fix-aas {to}")).without_data(2);
            assert!(run.err.contains(why), "{}", run.err);
            assert!(!room.path("out.bsp").exists() && room.read("q3.bsp") == map && room.read("q3.aas") == bytes);
        }
    }
    room.write("q3.aas", &stale);
    room.bspkit(&format!("{EDIT} --fix-aas -o out.bsp --force")).done();
    assert_eq!(room.read("out.aas"), areas(&room, "out.bsp", 5));
    // The copy would stand where the old map's own file is.
    let run = room.bspkit(&format!("{EDIT} --fix-aas -o q3.new --force")).without_data(2);
    assert!(run.err.contains("belongs to the input map"), "{}", run.err);
    assert!(!room.path("q3.new").exists());
}

/// What would keep the file of areas from its new checksum is found before the map is saved.
#[test]
fn areas_that_cannot_be_written_refuse_the_save() {
    let room = Room::new();
    let (map, old) = (room.read("q3.bsp"), areas(&room, "q3.bsp", 5));
    room.write("q3.aas", &old);
    let mut rights = std::fs::metadata(room.path("q3.aas")).unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(room.path("q3.aas"), rights).unwrap();
    for options in ["", "--json", "--dry-run"] {
        let run = room.bspkit(&format!("{EDIT} --in-place --fix-aas {options}"));
        assert_eq!(run.code, Some(2), "{}", run.err);
        assert!(run.err.contains("q3.aas is read-only"), "{}", run.err);
        assert!(room.read("q3.bsp") == map && room.read("q3.aas") == old);
        assert!(options != "--json" || run.json()["error"].as_str().unwrap().contains("q3.aas"));
    }
    room.bspkit(&format!("{EDIT} --in-place --fix-aas --force")).done();
    assert_eq!(room.read("q3.aas"), areas(&room, "q3.bsp", 5));
}

#[test]
fn without_areas_there_is_a_word_and_the_save() {
    let room = Room::new();
    assert!(room.bspkit(&format!("{EDIT} -o out.bsp --fix-aas")).done().err.contains("q3.aas does not exist"));
    let run = room.bspkit("ent set q2.bsp worldspawn message=x -o none.bsp --fix-aas").without_data(2);
    assert!(run.err.contains("have no .aas file") && !room.path("none.bsp").exists(), "{}", run.err);
}
