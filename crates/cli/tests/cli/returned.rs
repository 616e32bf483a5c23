//! Records that come back from text: by `load`, and from the files of a folder. Both go one way.

use std::fs;

use super::room::{Room, fixture};

/// A room with a map and its folder.
fn room(map: &str, options: &str) -> Room {
    let room = Room::empty();
    room.write("map.bsp", &fixture(map));
    room.bspkit(&format!("unpack map.bsp -o map -q --no-images --text all {options}")).done();
    room
}

fn lines(room: &Room, file: &str) -> Vec<String> {
    String::from_utf8(room.read(file)).unwrap().lines().map(str::to_owned).collect()
}

fn write(room: &Room, file: &str, lines: &[String]) {
    room.write(file, (lines.join("\n") + "\n").as_bytes());
}

/// A texinfo with another value.
fn with_value(line: &str, value: u32) -> String {
    let cells: Vec<&str> = line.split(',').collect();
    let is_value = |(at, cell): (usize, &&str)| match cell.split_once(':') {
        Some((name, _)) if name == "\"value\"" => format!("{name}:{value}"),
        None if at == 9 && !line.starts_with('{') => value.to_string(),
        _ => (*cell).to_owned(),
    };
    cells.iter().enumerate().map(is_value).collect::<Vec<_>>().join(",")
}

/// What `get` says of a field of all records.
fn values(room: &Room, map: &str, field: &str) -> Vec<String> {
    let run = room.bspkit(&format!("get {map} {field}")).done();
    run.text().lines().map(|line| line.rsplit([' ', '=']).next().unwrap().to_owned()).collect()
}

/// The names of the textures of all faces, which an edit of the order of texinfo must not change.
fn textures(room: &Room, map: &str) -> Vec<String> {
    let texinfo = room.bspkit(&format!("dump {map} texinfo")).done().text().to_owned();
    let texinfo: Vec<&str> = texinfo.lines().collect();
    let faces = room.bspkit(&format!("dump {map} faces")).done().text().to_owned();
    let of = |face: &str| {
        let face: serde_json::Value = serde_json::from_str(face).unwrap();
        let at = usize::try_from(face["texinfo"].as_u64().unwrap()).unwrap();
        let texinfo: serde_json::Value = serde_json::from_str(texinfo[at]).unwrap();
        format!("{} {}", texinfo["texture"], texinfo["vectors"])
    };
    faces.lines().map(of).collect()
}

/// A text with a line more, one with another value, and one that moved: `load` and `pack` refuse it, and with `--follow`
/// both make the same map, where every face has the texture that it had.
#[test]
fn load_and_pack_follow_the_same_edits() {
    for (format, first) in [("", 0), ("--format csv", 1)] {
        let room = room("q2/own_rooms", format);
        let file = ["map/05_TEXINFO.jsonl", "map/05_TEXINFO.csv"][first];
        let mut text = lines(&room, file);
        let wanted = textures(&room, "map.bsp");
        text[first + 20] = with_value(&text[first + 20], 7);
        let new = with_value(&text[first + 3], 8);
        text.insert(first + 4, new);
        let moved = text.remove(first + 12);
        text.insert(first + 8, moved);
        write(&room, file, &text);
        let run = room.bspkit("pack map -o no.bsp").without_data(2);
        assert!(run.err.contains("--follow") && run.err.contains("--resize"), "{}", run.err);
        let run = room.bspkit(&format!("load map.bsp texinfo {file} -o no.bsp")).without_data(2);
        assert!(run.err.contains("--follow") && run.err.contains("--resize"), "{}", run.err);
        let run = room.bspkit("pack map -o packed.bsp --follow").done();
        assert!(run.err.contains("fields follow"), "{}", run.err);
        room.bspkit(&format!("load map.bsp texinfo {file} -o loaded.bsp --follow")).done();
        assert!(room.read("packed.bsp") == room.read("loaded.bsp"));
        assert_eq!(textures(&room, "loaded.bsp"), wanted);
        // By numbers, faces have other textures.
        room.bspkit("pack map -o kept.bsp --resize").done();
        room.bspkit(&format!("load map.bsp texinfo {file} -o loaded.bsp --resize")).done();
        assert!(room.read("kept.bsp") == room.read("loaded.bsp"));
        assert!(textures(&room, "kept.bsp") != wanted);
    }
}

/// As many lines as before, one of them gone and another one new elsewhere.
#[test]
fn a_text_with_as_many_lines_is_no_list_of_other_values() {
    let room = room("q2/own_rooms", "");
    let mut text = lines(&room, "map/05_TEXINFO.jsonl");
    let new = with_value(&text[3], 9);
    text.remove(20);
    text.insert(4, new);
    write(&room, "map/05_TEXINFO.jsonl", &text);
    for command in ["pack map", "load map.bsp texinfo map/05_TEXINFO.jsonl"] {
        let run = room.bspkit(&format!("{command} -o no.bsp")).without_data(2);
        let said =
            "from line 5 on, records do not have their numbers in TEXINFO: some moved, or were removed and added";
        assert!(run.err.contains(said), "{}", run.err);
        // By numbers it is possible, and then texinfos of faces are others: no number is out of range.
        let run = room.bspkit(&format!("{command} -o kept.bsp --resize")).done();
        let said = "from line 5 on, records do not have their numbers in TEXINFO, and what refers to them stays";
        assert!(run.err.contains(said), "{}", run.err);
    }
    let planes = room.bspkit("cat map.bsp planes").done().out;
    room.write("planes.bin", &[&planes[40..], &planes[..40]].concat());
    let run = room.bspkit("load map.bsp planes planes.bin --format raw --resize -o kept.bsp --force").done();
    assert!(
        run.err.contains("from record 0 of the file on, records do not have their numbers in PLANES"),
        "{}",
        run.err
    );
    room.bspkit("unpack map.bsp -o again").done();
    let run = room.bspkit("pack again -o same.bsp --resize").done();
    assert!(!run.err.contains("records do not have"), "{}", run.err);
}

#[test]
fn an_unclear_text_is_refused_with_its_lines() {
    let room = room("q2/own_rooms", "");
    let old = lines(&room, "map/05_TEXINFO.jsonl");
    let mut counts = old.clone();
    counts.splice(5..8, [with_value(&old[5], 1), with_value(&old[6], 2)]);
    let mut here = old.clone();
    here[6] = old[20].clone();
    here[20] = with_value(&old[20], 4);
    for (text, said) in [
        (counts, "it is not known which records lines 6 to 7 and TEXINFO[5..8] are: their number is another one"),
        (here, "it is not known which records line 7 and TEXINFO[6] are"),
    ] {
        write(&room, "map/05_TEXINFO.jsonl", &text);
        for command in ["pack map", "load map.bsp texinfo map/05_TEXINFO.jsonl"] {
            let run = room.bspkit(&format!("{command} --follow -o no.bsp")).without_data(2);
            assert!(run.err.contains(said) && run.err.contains("one after the other"), "{}", run.err);
        }
    }
}

/// Numbers in all files are those of the original map: a face that was edited by hand names the texinfo that it named
/// before a line was removed.
#[test]
fn numbers_in_all_files_are_those_before_the_edit() {
    let room = room("q2/own_rooms", "");
    let mut texinfo = lines(&room, "map/05_TEXINFO.jsonl");
    texinfo.insert(4, with_value(&texinfo[3], 9));
    write(&room, "map/05_TEXINFO.jsonl", &texinfo);
    let mut faces = lines(&room, "map/06_FACES.jsonl");
    let old = values(&room, "map.bsp", "faces[3].texinfo")[0].clone();
    faces[3] = faces[3].replace(&format!("\"texinfo\":{old}"), "\"texinfo\":20");
    write(&room, "map/06_FACES.jsonl", &faces);
    room.bspkit("pack map -o packed.bsp --follow").done();
    room.bspkit("set map.bsp faces[3].texinfo=20 -o set.bsp").done();
    room.bspkit("load set.bsp texinfo map/05_TEXINFO.jsonl -o loaded.bsp --follow").done();
    assert!(room.read("packed.bsp") == room.read("loaded.bsp"));
    assert_eq!(values(&room, "packed.bsp", "faces[3].texinfo"), ["21"]);
}

/// A line is removed in one file, and all that needed it names another one, by hand, in two other files.
#[test]
fn what_needs_a_removed_line_can_be_edited_in_other_files() {
    let room = room("q2/own_rooms", "");
    let mut text = lines(&room, "map/05_TEXINFO.jsonl");
    text.remove(5);
    write(&room, "map/05_TEXINFO.jsonl", &text);
    let run = room.bspkit("pack map -o no.bsp --follow").without_data(2);
    assert!(run.err.contains("TEXINFO[5] is still needed"), "{}", run.err);
    for file in ["map/06_FACES.jsonl", "map/15_BRUSHSIDES.jsonl"] {
        let text: Vec<String> = lines(&room, file)
            .iter()
            .map(|line| line.replace("\"texinfo\":5,", "\"texinfo\":9,").replace("\"texinfo\":5}", "\"texinfo\":9}"))
            .collect();
        write(&room, file, &text);
    }
    room.bspkit("pack map -o packed.bsp --follow --force").done();
    room.bspkit("load map.bsp faces map/06_FACES.jsonl -o 1.bsp --force").done();
    room.bspkit("load 1.bsp brushsides map/15_BRUSHSIDES.jsonl -o 2.bsp --force").done();
    room.bspkit("load 2.bsp texinfo map/05_TEXINFO.jsonl --follow -o 3.bsp --force").done();
    assert!(room.read("packed.bsp") == room.read("3.bsp"));
    let both =
        |map: &str| [values(&room, map, "faces[*].texinfo"), values(&room, map, "brushsides[*].texinfo")].concat();
    // The numbers in the files are the old ones: 9 is now 8.
    let wanted = |old: &String| match old.parse::<i64>().unwrap() {
        5 => "8".to_owned(),
        old => (old - i64::from(old > 5)).to_string(),
    };
    assert_eq!(both("packed.bsp"), both("map.bsp").iter().map(wanted).collect::<Vec<_>>());
}

/// One line is gone, the next one has another value, and a new one is behind it: the lines are as many, and two of them
/// are more like other records than like those in whose place they are.
#[test]
fn edits_of_lines_beside_each_other_are_not_values() {
    let room = room("q2/own_rooms", "");
    let mut text = lines(&room, "map/05_TEXINFO.jsonl");
    let gone = text.remove(20);
    text[20] = with_value(&text[20], 777);
    text.insert(21, with_value(&gone, 888));
    write(&room, "map/05_TEXINFO.jsonl", &text);
    for command in ["pack map", "load map.bsp texinfo map/05_TEXINFO.jsonl"] {
        let run = room.bspkit(&format!("{command} --follow --cascade -o no.bsp")).without_data(2);
        assert!(run.err.contains("it is not known which records lines 21 to 22"), "{}", run.err);
    }
}

/// Bytes of records go the way of text: records that moved are refused, or followed.
#[test]
fn bytes_of_records_go_the_way_of_load() {
    let room = Room::empty();
    room.write("map.bsp", &fixture("q2/own_rooms"));
    room.bspkit("unpack map.bsp -o map -q --format raw --no-images").done();
    let mut bytes = room.read("map/05_TEXINFO.bin");
    bytes[2 * 76..4 * 76].rotate_left(76);
    assert!(bytes != room.read("map/05_TEXINFO.bin"));
    room.write("map/05_TEXINFO.bin", &bytes);
    for command in ["pack map", "load map.bsp texinfo map/05_TEXINFO.bin --format raw"] {
        let run = room.bspkit(&format!("{command} -o no.bsp")).without_data(2);
        assert!(run.err.contains("records do not have their numbers in TEXINFO"), "{}", run.err);
        room.bspkit(&format!("{command} --follow -o followed.bsp")).done();
        assert_eq!(textures(&room, "followed.bsp"), textures(&room, "map.bsp"));
        room.bspkit(&format!("{command} --resize -o kept.bsp")).done();
        assert!(textures(&room, "kept.bsp") != textures(&room, "map.bsp"));
    }
    // A value in its place is a value.
    let mut bytes = room.read("map/original/05_TEXINFO.bin");
    bytes[3 * 76 + 36] ^= 1;
    room.write("map/05_TEXINFO.bin", &bytes);
    room.bspkit("pack map -o valued.bsp").done();
    assert_eq!(textures(&room, "valued.bsp"), textures(&room, "map.bsp"));
}

/// What someone added to a folder is not lost to another map.
#[test]
fn an_unpack_over_added_files_is_refused() {
    let room = room("source/room_v20", "");
    room.write("map/pak/own/note.txt", b"mine\n");
    let run = room.bspkit("unpack map.bsp -o map --overwrite").without_data(2);
    assert!(run.err.contains("pak/own/note.txt"), "{}", run.err);
    assert_eq!(room.read("map/pak/own/note.txt"), b"mine\n");
    room.bspkit("pack map -o mine.bsp").done();
    assert!(room.bspkit("pak list mine.bsp").done().text().contains("own/note.txt"));
    fs::remove_file(room.path("map/pak/own/note.txt")).unwrap();
    room.bspkit("unpack map.bsp -o map --overwrite").done();
}

/// Records whose bytes are in a file have no lines: more or fewer of them are refused, as `load` does.
#[test]
fn bytes_of_another_size_are_refused() {
    let room = Room::empty();
    room.write("map.bsp", &fixture("q2/own_rooms"));
    room.bspkit("unpack map.bsp -o map -q --format raw --no-images").done();
    let planes = room.read("map/01_PLANES.bin");
    room.write("map/01_PLANES.bin", &planes[..planes.len() - 40]);
    let run = room.bspkit("pack map -o no.bsp --force").without_data(2);
    assert!(run.err.contains("01_PLANES.bin") || run.err.contains("(PLANES)"), "{}", run.err);
    assert!(run.err.contains("--resize"), "{}", run.err);
    room.bspkit("pack map -o out.bsp --force --resize").done();
}

/// An unpack that stops leaves a folder that `pack` refuses, and that the next one replaces completely.
#[test]
fn an_unfinished_folder_is_refused() {
    let room = room("source/room_v20", "");
    room.write("other.bsp", &fixture("q2/own_rooms"));
    // The name of a file is taken by a folder.
    fs::create_dir_all(room.path("map/original/map.bin")).unwrap_err();
    fs::remove_file(room.path("map/original/map.bin")).unwrap();
    fs::create_dir_all(room.path("map/original/map.bin/in")).unwrap();
    let run = room.bspkit("unpack other.bsp -o map --overwrite").without_data(2);
    assert!(run.err.contains("cannot write"), "{}", run.err);
    let said = "a map was unpacked here and not to the end";
    for command in ["pack map -o no.bsp", "pack . -o maps", "diff map other.bsp"] {
        let run = room.bspkit(command);
        assert!(run.code == Some(2) && run.err.contains(said), "{command}: {}", run.err);
    }
    fs::remove_dir_all(room.path("map/original/map.bin")).unwrap();
    room.bspkit("unpack other.bsp -o map --overwrite").done();
    room.bspkit("pack map -o packed.bsp").done();
    assert!(room.read("packed.bsp") == room.read("other.bsp"));
    assert!(!room.path("map/pak").join("maps/room_v20.txt").exists());
}

#[test]
fn a_missing_folder_of_embedded_files_is_refused() {
    let room = room("source/room_v20", "");
    fs::rename(room.path("map/pak"), room.path("pak")).unwrap();
    let run = room.bspkit("pack map -o no.bsp").without_data(2);
    assert!(run.err.contains("there is no folder pak") && run.err.contains("embedded files"), "{}", run.err);
    fs::create_dir(room.path("map/pak")).unwrap();
    let run = room.bspkit("pack map -o out.bsp").done();
    assert!(run.err.contains("all embedded files are removed"), "{}", run.err);
    fs::remove_dir(room.path("map/pak")).unwrap();
    fs::rename(room.path("pak"), room.path("map/pak")).unwrap();
    for name in ["../", "..", "/etc", "pak/../..", "c:/x"] {
        let manifest = String::from_utf8(room.read("map/manifest.json")).unwrap();
        room.write(
            "map/manifest.json",
            manifest.replace("\"folder\": \"pak\"", &format!("\"folder\": \"{name}\"")).as_bytes(),
        );
        let run = room.bspkit("pack map -o no.bsp").without_data(2);
        assert!(run.err.contains(&format!("`{name}` is not a path below the folder")), "{}", run.err);
        room.write("map/manifest.json", manifest.as_bytes());
    }
}

#[test]
fn utf16_is_named_in_every_file() {
    for file in ["map/00_ENTITIES.ent", "map/05_TEXINFO.jsonl", "map/manifest.json", "map/original/findings.json"] {
        let room = room("q2/own_rooms", "");
        if !room.path(file).exists() {
            room.write(file, b"{}");
        }
        let text = String::from_utf8(room.read(file)).unwrap();
        let utf16: Vec<u8> = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        room.write(file, &utf16);
        let run = room.bspkit("pack map -o no.bsp").without_data(2);
        assert!(run.err.contains("UTF-16"), "{file}: {}", run.err);
    }
}

/// What is printed or saved of a map that was cut off is not all of it.
#[test]
fn commands_say_that_a_map_is_cut_off() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    room.write("cut.bsp", &map[..map.len() / 4]);
    for command in
        ["dump cut.bsp planes", "get cut.bsp planes[0]", "tex list cut.bsp", "model list cut.bsp", "checksum cut.bsp"]
    {
        let run = room.bspkit(command);
        assert!(run.err.contains("the file is cut off: "), "{command}: {}", run.err);
    }
    room.write("whole.bsp", &map);
    assert!(!room.bspkit("dump whole.bsp planes").done().err.contains("cut off"));
}

/// The entities of a map that was cut off are not an empty text.
#[test]
fn entities_that_are_cut_off_are_refused() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    room.write("cut.bsp", &map[..20_000]);
    room.write("r.cfg", b"remove:\n{\n \"classname\" \"nothing\"\n}\n");
    for command in [
        "ent list cut.bsp",
        "ent get cut.bsp light",
        "ent export cut.bsp",
        "ent set cut.bsp light light=1 -o no.bsp",
        "ent add cut.bsp classname=light -o no.bsp",
        "ent apply cut.bsp --rules r.cfg -o no.bsp",
        "ent fmt cut.bsp -o no.bsp",
    ] {
        let run = room.bspkit(command).without_data(2);
        assert!(
            run.err.contains("ENTITIES lies past the end of the file: the file is cut off"),
            "{command}: {}",
            run.err
        );
    }
    room.write("cut.bsp", &map[..map.len() - 300]);
    let run = room.bspkit("ent list cut.bsp worldspawn").done();
    assert!(run.err.contains("ENTITIES runs past the end of the file"), "{}", run.err);
}
