//! `dump`, `load`, `get`, `set`: records as text, and nothing lost on the way.

use super::room::{Room, fixture, with_word};

/// Where a lump of the Quake II fixtures begins, and its size.
fn lump(map: &[u8], index: usize) -> (usize, usize) {
    let word = |at: usize| u32::from_le_bytes(map[at..at + 4].try_into().unwrap()) as usize;
    (word(8 + 8 * index), word(8 + 8 * index + 4))
}

/// The bytes at which two files of one size differ.
fn differences(one: &[u8], other: &[u8]) -> Vec<usize> {
    assert_eq!(one.len(), other.len());
    (0..one.len()).filter(|at| one[*at] != other[*at]).collect()
}

#[test]
#[cfg(unix)]
fn what_was_dumped_is_loaded_back_to_the_same_bytes() {
    let room = Room::new();
    for format in ["json", "csv"] {
        let line = format!(
            "bspkit dump q2.bsp planes --format {format} > p && bspkit load q2.bsp planes p --format {format} -o out.bsp"
        );
        room.shell(&line).done();
        assert_eq!(room.read("q2.bsp"), room.read("out.bsp"), "{format}");
    }
}

#[test]
fn junk_nans_and_unknown_flags_come_back() {
    let room = Room::new();
    let mut map = fixture("q2/own_rooms");
    let (planes, _) = lump(&map, 1);
    let (texinfo, _) = lump(&map, 5);
    for (at, bits) in [(0, 0xFFC0_1234_u32), (4, 0x8000_0000), (8, 0x7F80_0000), (12, 1), (16, 0xDEAD_BEEF)] {
        map[planes + at..planes + at + 4].copy_from_slice(&bits.to_le_bytes());
    }
    map[texinfo + 32..texinfo + 36].copy_from_slice(&0x8010_0404_u32.to_le_bytes());
    map[texinfo + 40..texinfo + 72].copy_from_slice(b"wall\0\"junk\",\\x41\n\xff\xe9\x01\0\0 end\0\0\0\0\0\0");
    room.write("junk.bsp", &map);
    for format in ["json", "csv"] {
        for lump in ["planes", "texinfo"] {
            let text = room.bspkit(&format!("dump junk.bsp {lump} --format {format}")).done();
            room.write("file", &text.out);
            room.bspkit(&format!("load junk.bsp {lump} file --format {format} -o out.bsp")).done();
            assert_eq!(room.read("out.bsp"), map, "{lump} by way of {format}");
        }
    }
    let get = |place: &str| room.run(&["get", "junk.bsp", place]).done().text().trim_end().to_owned();
    assert_eq!(get("planes[0].normal"), "[\"0xffc01234\",-0.0,\"0x7f800000\"]");
    assert_eq!(get("planes[0].distance"), "1e-45");
    assert_eq!(get("texinfo[0].flags"), "SKY|SCROLLFLIP|0x100400");
    assert_eq!(get("texinfo[0].texture"), r#"wall\x00"junk",\\x41\n\xff\xe9\x01\x00\x00 end"#);
}

#[test]
fn a_change_changes_its_field_and_nothing_else() {
    let room = Room::new();
    let map = fixture("q2/own_rooms");
    room.write("map.bsp", &map);
    let (planes, _) = lump(&map, 1);
    let text = room.bspkit("dump map.bsp planes").done().text().replacen("\"kind\":2", "\"kind\":5", 1);
    room.write("planes.jsonl", text.as_bytes());
    room.bspkit("load map.bsp planes planes.jsonl -o loaded.bsp").done();
    assert_eq!(differences(&map, &room.read("loaded.bsp")), [planes + 16]);
    room.bspkit("set map.bsp planes[0].kind=5 -o set.bsp").done();
    assert_eq!(room.read("loaded.bsp"), room.read("set.bsp"));
    // Several at once, in one lump and in others; what was set before is kept.
    room.bspkit("set map.bsp planes[0].kind=5 planes[1].kind=4 models[0].origin[2]=1 -o set.bsp").done();
    assert_eq!(differences(&map, &room.read("set.bsp")).len(), 4);
    // The engine's names are good too; the field's own name is printed.
    room.bspkit("set map.bsp planes[0].type=5 -o set.bsp").done();
    assert_eq!(room.read("loaded.bsp"), room.read("set.bsp"));
    assert_eq!(room.bspkit("get set.bsp planes[0].Type").done().text(), "5\n");
    assert!(room.bspkit("dump set.bsp planes").done().text().contains("\"kind\":5"));
    // What is there already is no edit.
    room.bspkit("set map.bsp planes[0].kind=2 -o same.bsp").done();
    assert_eq!(room.read("same.bsp"), map);
}

#[test]
fn a_file_that_is_wrong_changes_nothing() {
    let room = Room::new();
    let good = room.bspkit("dump q2.bsp faces").done();
    let good = good.text();
    let before = room.names();
    let cases = [
        ("not JSON", good.replacen('{', "[", 1), "line 1: invalid type: sequence, expected an object"),
        ("cut off", good[..good.len() - 10].to_owned(), "EOF while parsing"),
        ("a field too many", good.replacen("{", "{\"extra\":1,", 1), "line 1: there is no field extra"),
        ("a field too few", good.replacen("\"side\":0,", "", 1), "the field side is missing"),
        (
            "a field twice",
            good.replacen("\"side\":", "\"plane\":1,\"side\":", 1),
            "line 1: the field plane is given twice",
        ),
        (
            "a number too large",
            good.replacen("\"side\":0", "\"side\":40000", 1),
            "field side: `40000` is not a whole number",
        ),
        ("no number", good.replacen("\"side\":0", "\"side\":true", 1), "field side: `true` is not a whole number"),
        ("a list too long", good.replacen("255]", "255,255]", 1), "field styles: the list has 5 items"),
        ("no list", good.replacen("\"styles\":[", "\"styles\":1,\"x\":[", 1), "field styles: `1` is not a list of 4"),
        ("a record too many", format!("{good}{}", good.lines().last().unwrap()), "--resize"),
        ("nothing", String::new(), "the file has 0 records"),
    ];
    for (name, text, says) in cases {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().to_str().unwrap();
        let run = room.run(&["load", "q2.bsp", "faces", path, "--format", "json", "-o", "no.bsp"]).without_data(2);
        assert!(run.err.contains(says), "{name}: {}", run.err);
        assert_eq!(room.names(), before, "{name}");
    }
}

#[test]
fn more_records_are_loaded_where_that_is_asked_for() {
    let room = Room::new();
    let text = room.bspkit("dump q2.bsp vertexes").done().text().to_owned();
    room.write("more.jsonl", format!("{text}{{\"point\":[1,2,3]}}\n").as_bytes());
    room.bspkit("load q2.bsp vertexes more.jsonl --resize -o out.bsp").done();
    let last = room.bspkit("dump out.bsp vertexes").done();
    assert_eq!(last.text().lines().last(), Some("{\"point\":[1,2,3]}"));
    room.bspkit("verify out.bsp").done();
}

#[test]
fn a_ragged_lump_keeps_its_tail() {
    let room = Room::new();
    let map = fixture("q2/own_rooms");
    let (_, size) = lump(&map, 1);
    let ragged = with_word(map, 1, 1, i32::try_from(size - 7).unwrap());
    room.write("ragged.bsp", &ragged);
    let dump = room.bspkit("dump ragged.bsp planes").done();
    assert_eq!(dump.text().lines().count(), size / 20 - 1);
    assert!(dump.err.contains("13 bytes after the last record"), "{}", dump.err);
    room.write("planes.jsonl", &dump.out);
    room.bspkit("load ragged.bsp planes planes.jsonl -o out.bsp").done();
    assert_eq!(room.read("out.bsp"), ragged);
    let run = room.bspkit(&format!("get ragged.bsp planes[{}]", size / 20 - 1)).without_data(2);
    assert!(run.err.contains("it has only the records 0 to"), "{}", run.err);
}

#[test]
fn bytes_of_another_size_are_asked_for_too() {
    let room = Room::new();
    room.write("two.bin", &[0; 40]);
    let run = room.bspkit("load q2.bsp planes two.bin -o no.bsp").without_data(2);
    assert!(run.err.contains("the file has 40 bytes") && run.err.contains("--resize"), "{}", run.err);
    room.bspkit("load q2.bsp planes two.bin --resize -o out.bsp --force").done();
    room.write("text.bin", b"{ \"classname\" \"worldspawn\" }\0");
    room.bspkit("load q2.bsp entities text.bin -o out.bsp").done();
    // Faces that the models do not have make a lump that nobody can read.
    room.write("room.bsp", &fixture("source/room_v20"));
    let faces = room.bspkit("dump room.bsp faces --json").done().text().to_owned();
    room.write("more.jsonl", format!("{faces}{}", faces.lines().next().unwrap()).as_bytes());
    let run = room.bspkit("load room.bsp faces more.jsonl --resize -o out.bsp").without_data(2);
    assert!(run.err.contains("error[count-misfit] FACES: its"), "{}", run.err);
}

#[test]
fn empty_lists_are_dumped_as_nothing() {
    let room = Room::empty();
    let mut map = fixture("source/room_v20");
    map[8 + 16 * 9 + 4..8 + 16 * 9 + 8].fill(0);
    room.write("map.bsp", &map);
    for format in ["", " --json"] {
        let run = room.bspkit(&format!("dump map.bsp occlusion{format}")).done();
        assert_eq!((run.text(), run.err.as_str()), ("", ""));
    }
    let run = room.bspkit("unpack map.bsp -o folder").done();
    assert!(!run.err.contains("warning"), "{}", run.err);
    room.bspkit("pack folder -o out.bsp").done();
    assert_eq!(room.read("out.bsp"), map);
    let run = room.bspkit("get map.bsp occlusion.occluders[0]").without_data(2);
    assert!(run.err.contains("OCCLUSION"), "{}", run.err);
}

#[test]
fn a_field_that_is_missing_is_that_of_the_records_it_leads_to() {
    let room = Room::new();
    let run = room.bspkit("get q2.bsp faces[texinfo.nope=1]").without_data(2);
    assert!(
        run.err.contains("in the records of TEXINFO: there is no field nope; the fields are vectors"),
        "{}",
        run.err
    );
    let run = room.bspkit("get q2.bsp faces[nope=1]").without_data(2);
    assert!(run.err.contains("FACES: there is no field nope; the fields are plane"), "{}", run.err);
}

/// A model goes with all that only it has, whatever the command is; what names it goes only if that is asked for.
#[test]
fn records_rm_removes_a_model_as_model_rm_does() {
    let room = Room::new();
    for name in
        ["q2/own_rooms", "q1/own_rooms", "goldsrc/own_rooms", "q3/own_rooms", "source/room_v20", "source/room_v21"]
    {
        room.write("map.bsp", &fixture(name));
        let refused = room.bspkit("records rm map.bsp models[1] -o out.bsp").without_data(2);
        assert!(refused.err.contains("[1] is still needed: by ENTITIES["), "{name}: {}", refused.err);
        room.bspkit("records rm map.bsp models[1] --cascade -o one.bsp").done();
        room.bspkit("model rm map.bsp 1 -o other.bsp").done();
        assert_eq!(room.read("one.bsp"), room.read("other.bsp"), "{name}");
        room.bspkit("check one.bsp").done();
        for list in ["models", "planes"] {
            room.bspkit(&format!("records rm map.bsp {list}[1..99999999999] --cascade -o out.bsp")).without_data(2);
        }
        // A text without the model says nothing of what only it has.
        room.bspkit("ent rm map.bsp [model=*1] -o free.bsp").done();
        let models = room.bspkit("dump free.bsp models").done().text().to_owned();
        let kept: Vec<&str> = models.lines().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| line).collect();
        room.write("models.jsonl", kept.join("\n").as_bytes());
        let refused = room.bspkit("load free.bsp models models.jsonl --follow -o out.bsp").without_data(2);
        assert!(refused.err.contains("leaves its faces"), "{name}: {}", refused.err);
    }
}

#[test]
fn ranges_of_records_are_those_that_are_there() {
    let room = Room::new();
    room.shell("bspkit dump q2.bsp planes | head -1 > one.jsonl").done();
    for (line, why) in [
        ("records rm q2.bsp brushes[3..3] -o no.bsp", "names no record"),
        ("records rm q2.bsp brushes[0..999] -o no.bsp", "and no range 0..999"),
        ("records insert q2.bsp planes[3..20] one.jsonl -o no.bsp", "records are added before one record"),
    ] {
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains(why), "{line}: {}", run.err);
    }
}

#[test]
fn mv_names_the_number_that_records_cannot_get() {
    let room = Room::new();
    let run = room.bspkit("records mv q2.bsp planes[0..1] 9000 -o out.bsp").without_data(2);
    assert!(run.err.contains("planes has ") && run.err.contains("cannot get a number above"), "{}", run.err);
    let run = room.bspkit("records mv q2.bsp planes[0..9000] 0 -o out.bsp").without_data(2);
    assert!(run.err.contains("no range 0..9000"), "{}", run.err);
}

/// A list of numbers is written as JSON or as words, as `+=` takes it; one record too many is named in a hint.
#[test]
fn lists_are_json_or_words() {
    let room = Room::new();
    for (value, output) in [("[0,0,-1]", "json.bsp"), ("0 0 -1", "words.bsp")] {
        room.run(&["set", "q2.bsp", &format!("planes[0].normal={value}"), "-o", output]).done();
    }
    assert_eq!(room.read("json.bsp"), room.read("words.bsp"));
    room.run(&["set", "q2.bsp", "planes[0].normal=.5 +1 0x3f800000", "-o", "odd.bsp"]).done();
    assert_eq!(room.bspkit("get odd.bsp planes[0].normal").done().text().trim(), "[0.5,1,1]");
    let run = room.run(&["set", "q2.bsp", "planes[0].normal=0 1", "-o", "no.bsp"]).without_data(2);
    assert!(run.err.contains("there are 2 words, but 3 are needed"), "{}", run.err);
    let run = room.run(&["records", "rm", "q2.bsp", "planes[0],planes[1]", "-o", "no.bsp"]).without_data(2);
    assert!(run.err.contains("LUMP[2..5]"), "{}", run.err);
}

/// Light for high dynamic range is in a lump of its own: a new face has none there.
#[test]
fn a_new_face_has_no_light_of_another_lump() {
    let room = Room::new();
    room.write("v20.bsp", &fixture("source/room_v20"));
    let faces = room.bspkit("dump v20.bsp faces").done().text().to_owned();
    room.write("face.jsonl", faces.lines().last().unwrap().as_bytes());
    let get = |lump: &str| {
        let run = room.run(&["get", "out.bsp", &format!("{lump}[10].light_offset")]).done();
        run.text().trim_end().parse::<i32>().unwrap()
    };
    room.run(&["records", "insert", "v20.bsp", "faces[10]", "face.jsonl", "-o", "out.bsp"]).done();
    assert!(get("faces") > 0 && get("FACES_HDR") == -1, "{} and {}", get("faces"), get("FACES_HDR"));
    // A copy is like the face that it is of, in both lists.
    room.run(&["records", "dup", "v20.bsp", "faces[9]", "-o", "out.bsp"]).done();
    assert!(get("faces") > 0 && get("FACES_HDR") > 0);
}

/// A value that may name a model is none of its references, and is said: by `refs`, and where the model goes.
#[test]
fn values_that_may_name_a_model_are_said() {
    let room = Room::new();
    let words = ["ent", "add", "q2.bsp", "classname=info_x", "OnUse=lift,SetModel,*1,0,-1", "-o", "with.bsp"];
    room.run(&words).done();
    let index = room.bspkit("ent list with.bsp -c").done().text().trim().parse::<usize>().unwrap() - 1;
    let said = format!("ENTITIES[{index}].OnUse has *1 in it, which may name");
    let run = room.bspkit("refs with.bsp models[1]");
    assert!(run.err.contains(&format!("{said} it")), "{}", run.err);
    assert!(room.bspkit("refs with.bsp models[2]").err.is_empty());
    assert!(room.bspkit("model rm with.bsp *1 -o gone.bsp").done().err.contains("which may name a model"));
    // The patch between two maps writes the numbers of the new one.
    let run = room.bspkit("ent diff q2.bsp gone.bsp -o p.json").without_data(1);
    assert!(run.err.contains("which is another one in the new map, or none"), "{}", run.err);
    let run = room.bspkit("git merge q2.bsp gone.bsp with.bsp -o merged.bsp");
    assert!(run.err.contains("in theirs, ENTITIES["), "{}", run.err);
    room.bspkit("records rm q2.bsp texinfo[9] --cascade -o none.bsp").done();
}
