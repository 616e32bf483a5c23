//! The commands that only read.

use std::process::Stdio;

use serde_json::{Value, json};

use super::room::{Room, Run, SOURCE_TEXT, entities, fixture, native, with_word};

fn named<'v>(slots: &'v Value, name: &str) -> &'v Value {
    slots.as_array().unwrap().iter().find(|slot| slot["name"] == name).unwrap()
}

#[test]
fn info_tells_what_a_map_is() {
    let room = Room::new();
    for (map, dialect, version, count) in
        [("q2.bsp", "quake2", 38, 22), ("q3.bsp", "quake3", 46, 18), ("goldsrc.bsp", "goldsrc", 30, 15)]
    {
        let info = room.bspkit(&format!("info {map} --json")).done().json();
        assert_eq!((&info["path"], &info["dialect"]), (&json!(map), &json!(dialect)));
        assert_eq!((&info["bsp_version"], &info["bytes"]), (&json!(version), &json!(room.read(map).len())));
        assert_eq!(info["lumps"].as_array().unwrap().len(), count, "{map}");
        let lump = named(&info["lumps"], "ENTITIES");
        assert_eq!((&lump["index"], &lump["role"]), (&json!(0), &json!("entities")));
        assert_eq!(lump["bytes"], entities(&room.read(map)).len());
    }
    let info = room.bspkit("info source.bsp --json").done().json();
    assert_eq!(info["revision"], 7);
    let lump = named(&info["lumps"], "ENTITIES");
    assert_eq!((&lump["compressed"], &lump["unpacked"]), (&json!(true), &json!(SOURCE_TEXT.len())));
    let member = named(&info["lumps"], "game:sprp");
    assert_eq!((&member["version"], &member["shared_with"]), (&json!(10), &json!([])));
}

/// The table is the one of `check`: what is above a limit here is a finding there.
#[test]
fn info_shows_how_full_the_tables_of_the_engine_are() {
    let room = Room::new();
    let limits = |line: &str| room.bspkit(&format!("info {line} --json")).done().json();
    let found = limits("q2.bsp --limits");
    assert_eq!((&found["engine"], &found["title"]), (&json!("quake2"), &json!("Quake II")));
    let of = |found: &Value, lump: &str, unit: &str| {
        let all = found["limits"].as_array().unwrap();
        all.iter().find(|limit| limit["lump"] == lump && limit["unit"] == unit).unwrap().clone()
    };
    let faces = of(&found, "FACES", "records");
    let slots = room.bspkit("info q2.bsp --json").done().json();
    let slot = named(&slots["lumps"], "FACES");
    assert_eq!((&faces["count"], &faces["bytes"]), (&slot["record_count"], &slot["bytes"]));
    assert_eq!((&faces["max"], &faces["max_bytes"]), (&json!(65_536), &json!(65_536 * 20)));
    assert_eq!(of(&found, "ENTITIES", "entities")["bytes"], Value::Null);
    assert_eq!(of(&limits("q2.bsp --limits --engine q2pro"), "FACES", "face-edges")["max"], 4_096);
    let leafs = |engine: &str| of(&limits(&format!("goldsrc.bsp --limits --engine {engine}")), "LEAFS", "records");
    assert_eq!((&leafs("goldsrc")["max"], &leafs("sdhlt")["max"]), (&json!(8_192), &json!(32_760)));
    // An engine of another dialect has no effect.
    assert_eq!(limits("q2.bsp --limits --engine sdhlt")["engine"], "quake2");

    // More portals than the engine has areas for.
    let records: String = (0..300).map(|_| "{\"portal\":0,\"other_area\":1}\n").collect();
    room.write("areas.jsonl", records.as_bytes());
    room.bspkit("load q2.bsp areaportals areas.jsonl --resize --force -o full.bsp").done();
    let full = of(&limits("full.bsp --limits --engine quake2-3.21"), "AREAPORTALS", "records");
    assert_eq!((&full["count"], &full["percent"]), (&json!(300), &json!(117.2)));
    let run = room.bspkit("check full.bsp --engine quake2-3.21");
    assert!(run.text().contains("300 records; Quake II 3.21 accepts 256"), "{}", run.text());
    assert!(room.bspkit("info q2.bsp --engine q2pro").without_data(2).err.contains("--limits"));
}

#[test]
fn info_marks_what_is_wrong_with_the_directory() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    let size = i32::try_from(map.len()).unwrap();
    for (name, bytes, lump, mark) in [
        ("overrun.bsp", with_word(map.clone(), 1, 1, size), "PLANES", "runs past the end of the file"),
        ("outside.bsp", with_word(map.clone(), 1, 0, size + 4), "PLANES", "lies past the end of the file"),
        ("negative.bsp", with_word(map.clone(), 1, 1, -8), "PLANES", "has a negative offset or length"),
        ("header.bsp", with_word(map.clone(), 1, 0, 16), "PLANES", "covers the header"),
        ("shared.bsp", with_word(map.clone(), 1, 0, 1480), "PLANES", "shares bytes with LEAFS"),
    ] {
        room.write(name, &bytes);
        let text = room.bspkit(&format!("info {name}")).done();
        let row = text.text().lines().find(|line| line.split_whitespace().nth(1) == Some(lump)).unwrap();
        assert!(row.contains(mark), "{name}: {row}");
        let info = room.bspkit(&format!("info {name} --json")).done().json();
        let slot = named(&info["lumps"], lump);
        let marks =
            [slot["bounds"].as_str().unwrap(), &slot["shared_with"].to_string(), &slot["over_header"].to_string()];
        assert!(marks.iter().any(|found| *found != "inside" && *found != "[]" && *found != "false"), "{name}: {slot}");
        assert_eq!(slot["bytes"], if name == "overrun.bsp" { size } else { slot["bytes"].as_i64().unwrap() as i32 });
    }
    let ls = room.bspkit("ls outside.bsp").done();
    assert!(ls.text().lines().last().unwrap().ends_with("PLANES lies past the end of the file"));
}

#[test]
fn ls_leaves_no_byte_out() {
    let room = Room::new();
    for map in ["q2.bsp", "q3.bsp", "goldsrc.bsp", "source.bsp"] {
        let ls = room.bspkit(&format!("ls {map} --json")).done().json();
        let mut at = 0;
        for segment in ls["segments"].as_array().unwrap() {
            assert_eq!(segment["offset"], at, "{map}");
            at += segment["bytes"].as_u64().unwrap();
        }
        assert_eq!(at, room.read(map).len() as u64, "{map}");
        let lines = room.bspkit(&format!("ls {map}")).done().text().lines().count();
        assert_eq!(lines, ls["segments"].as_array().unwrap().len() + 1);
    }
}

#[test]
fn cat_gives_bytes_and_nothing_else() {
    let room = Room::new();
    let map = room.read("q3.bsp");
    for lump in ["0", "ENTITIES", "entities", "Entities"] {
        assert_eq!(room.run(&["cat", "q3.bsp", lump]).done().out, entities(&map));
    }
    assert_eq!(room.bspkit("cat source.bsp game:sprp").done().out, b"PROPDATA");
    assert_eq!(room.bspkit("cat source.bsp entities").done().out, SOURCE_TEXT);
    assert_eq!(room.bspkit("cat source.bsp entities --stored").done().out, entities(&room.read("source.bsp")));
    let json = room.bspkit("cat q2.bsp planes --json").done().json();
    assert!(json["raw"].is_string(), "{json}");
    assert_eq!(json["bytes"], room.bspkit("cat q2.bsp planes").done().out.len());
    room.bspkit("cat q3.bsp pakfile").without_data(2);
}

#[test]
fn cat_warns_of_a_damaged_lump_and_gives_what_is_there() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    let at = map.len() - 10;
    room.write("m.bsp", &with_word(with_word(map.clone(), 1, 0, at as i32), 1, 1, 99));
    let run = room.bspkit("cat m.bsp planes").done();
    assert_eq!(run.out, map[at..]);
    assert!(run.err.contains("only 10 of 99 bytes are in the file"), "{}", run.err);
}

#[test]
fn verify_tells_law_by_law() {
    let room = Room::new();
    for map in ["q2.bsp", "q3.bsp", "goldsrc.bsp", "source.bsp"] {
        let run = room.bspkit(&format!("verify {map} --json")).done().json();
        assert_eq!((&run["ok"], &run["error"]), (&json!(true), &Value::Null));
        assert_eq!(run["laws"]["identity"], "pass");
        let text = room.bspkit(&format!("verify {map}")).done();
        assert!(text.text().starts_with(&format!("pass {map} (")), "{}", text.text());
    }
    room.write("bad.bsp", b"IBSP");
    let run = room.bspkit("verify bad.bsp --json");
    assert_eq!(run.code, Some(2));
    assert!(run.err.starts_with("error: cannot open bad.bsp\n"), "{}", run.err);
    let json = run.json();
    assert_eq!((&json["ok"], &json["dialect"], &json["laws"]), (&json!(false), &Value::Null, &json!({})));
    assert!(json["error"].as_str().unwrap().contains("cannot open bad.bsp: "), "{json}");
}

#[test]
fn several_maps_are_lines_in_order_whatever_the_number_of_threads() {
    let room = Room::empty();
    for index in 0..20 {
        room.write(format!("maps/{index:02}/m.BSP"), &fixture(["q2/own_box", "q3/own_rooms"][index % 2]));
    }
    room.write("maps/07/bad.bsp", b"no map");
    room.write("maps/readme.txt", b"no map either");
    let runs: Vec<Run> = ["1", "2", "7", "40"].map(|jobs| room.run(&["info", "maps", "--json", "-j", jobs])).into();
    for run in &runs {
        assert_eq!(run.code, Some(1), "one of them is bad");
        assert_eq!((&run.out, &run.err), (&runs[0].out, &runs[0].err));
    }
    let lines: Vec<Value> = runs[0].text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let paths: Vec<_> = lines.iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!(paths.len(), 21);
    assert!(
        lines.iter().filter(|line| line["error"].is_string()).all(|line| line["path"] == native("maps/07/bad.bsp"))
    );
    assert!(paths.is_sorted());
    assert_eq!(runs[0].err.lines().next(), Some("error: cannot open maps/07/bad.bsp"));
}

#[test]
fn ent_list_gives_the_text_as_it_stands() {
    let room = Room::new();
    let text = entities(&room.read("q3.bsp")).to_vec();
    let listed = room.bspkit("ent list q3.bsp").done().out;
    assert_eq!(listed, text.strip_suffix(b"\0").unwrap());
    let numbered = room.bspkit("ent list q3.bsp -n path_*").done();
    assert!(numbered.text().starts_with("// #13\n{\n\"classname\" \"path_corner\""), "{}", numbered.text());
    assert_eq!(numbered.text().matches("// #").count(), 2);

    let json = room.bspkit("ent list q3.bsp --json").done().json();
    let entity = &json["entities"][13];
    assert_eq!(entity["index"], 13);
    assert_eq!(entity["pairs"][0], json!({"key": "classname", "value": "path_corner"}));
    let span = [0, 1].map(|side| entity["span"][side].as_u64().unwrap() as usize);
    assert!(text[span[0]..span[1]].starts_with(b"{") && text[span[0]..span[1]].ends_with(b"}"));
    assert_eq!(json["findings"], json!([]));
}

/// A search by line finds whole entities in JSON too.
#[test]
fn ent_list_and_ent_get_give_each_entity_on_a_line_of_json() {
    let room = Room::new();
    for command in ["ent list q2.bsp --json", "ent get q2.bsp * --json"] {
        let run = room.bspkit(command).done();
        let document = run.json();
        let listed = document["entities"].as_array().unwrap();
        let lines: Vec<&str> = run.text().lines().filter(|line| line.contains("\"pairs\"")).collect();
        assert_eq!(lines.len(), listed.len(), "{}", run.text());
        for (line, entity) in lines.into_iter().zip(listed) {
            let own: Value = serde_json::from_str(line.trim().trim_end_matches(',')).unwrap();
            assert_eq!(&own, entity, "{command}");
        }
    }
}

#[test]
fn ent_get_gives_values_one_on_a_line() {
    let room = Room::new();
    assert_eq!(room.bspkit("ent get q3.bsp path_corner target").done().text(), "p2\np1\n");
    assert_eq!(room.bspkit("ent get source.bsp logic_auto OnTrigger").done().text(), "a,Open\nb,Open\n");
    assert_eq!(room.bspkit("ent get source.bsp logic_auto ontrigger#2").done().text(), "b,Open\n");
    assert_eq!(
        room.bspkit("ent get source.bsp *").done().text(),
        "\"world_maxs\" \"1 2 3\"\n\"classname\" \"worldspawn\"\n\n\"OnTrigger\" \"a,Open\"\n\"OnTrigger\" \"b,Open\"\n\
         \"classname\" \"logic_auto\"\n"
    );
    let json = room.bspkit("ent get source.bsp * OnTrigger --json").done().json();
    assert_eq!(json["entities"], json!([{"index": 1, "values": [{"value": "a,Open"}, {"value": "b,Open"}]}]));
    let json = room.bspkit("ent get source.bsp #0 --json").done().json();
    assert_eq!(json["entities"][0]["pairs"][0], json!({"key": "world_maxs", "value": "1 2 3"}));
}

#[test]
fn nothing_that_matches_is_exit_1() {
    let room = Room::new();
    for (line, words) in [
        ("ent list q3.bsp light", "q3.bsp: nothing matches light\n"),
        ("ent get q3.bsp #99", "q3.bsp: nothing matches #99: the map has no entity #99, the last one is #17\n"),
        ("ent get q3.bsp worldspawn nope", "q3.bsp: no entity that matches worldspawn has the key `nope`\n"),
        ("ent get q3.bsp worldspawn music#2", "q3.bsp: no entity that matches worldspawn has the key `music#2`\n"),
    ] {
        assert_eq!(room.bspkit(line).without_data(1).err, words);
    }
    let json = room.bspkit("ent list q3.bsp light --json");
    assert_eq!((json.code, &json.json()["entities"]), (Some(1), &json!([])));
}

#[test]
fn what_is_no_utf8_is_escaped_beside_its_bytes() {
    let room = Room::new();
    room.run(&["ent", "set", "q3.bsp", "worldspawn", r"message=caf\xe9", r"\xff=\\", "-o", "out.bsp"]).done();
    let json = room.bspkit("ent list out.bsp worldspawn --json").done().json();
    let pairs = json["entities"][0]["pairs"].as_array().unwrap().clone();
    let message = pairs.iter().find(|pair| pair["key"] == "message").unwrap();
    assert_eq!(*message, json!({"key": "message", "value": r"caf\xe9", "raw": "Y2Fm6Q=="}));
    assert_eq!(pairs.last().unwrap(), &json!({"key": r"\xff", "value": "\\", "key_raw": "/w=="}));
    assert_eq!(room.bspkit("ent get out.bsp worldspawn message").done().out, b"caf\xe9\n");
}

#[test]
fn a_closed_pipe_is_silent_and_no_failure() {
    let room = Room::new();
    for line in
        ["cat q2.bsp lighting", "info .", "verify .", "ent list q3.bsp", "ent export q3.bsp", "ls q2.bsp", "--help"]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = room.command().args(line.split(' ')).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{line}");
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let room = Room::new();
    room.write("bad.bsp", b"");
    for (option, colourful) in [("--color=auto", false), ("--color=never", false), ("--color=always", true)] {
        let run = room.run(&["verify", option, "q3.bsp", "bad.bsp"]);
        assert_eq!(run.text().contains("\x1b["), colourful, "{option}");
        assert_eq!(run.err.contains("\x1b["), colourful, "{option}");
    }
}

#[test]
fn the_dialect_can_be_named() {
    let room = Room::new();
    assert_eq!(room.bspkit("info q3.bsp --dialect QUAKE3 --json").done().json()["dialect"], "quake3");
    assert_eq!(room.bspkit("info q3.bsp --dialect quake2 --json").done().json()["dialect"], "quake2");
    let run = room.bspkit("info q3.bsp --dialect quake9").without_data(2);
    assert!(run.err.contains("goldsrc"), "{}", run.err);
}

/// Lumps that lie past the end of the file are not empty ones.
#[test]
fn what_a_cut_map_has_not_is_not_listed_as_nothing() {
    let room = Room::new();
    for (map, bytes) in [("goldsrc.bsp", 30_000), ("q2.bsp", 2000), ("q3.bsp", 200)] {
        let cut = room.read(map)[..bytes].to_vec();
        room.write("cut.bsp", &cut);
        for line in ["tex list cut.bsp", "tex list cut.bsp --json", "ent list cut.bsp", "model list cut.bsp"] {
            let run = room.bspkit(line);
            assert_eq!(run.code, Some(2), "{map} {line}: {}", run.text());
            assert!(run.err.contains("lies past the end of the file"), "{map} {line}: {}", run.err);
        }
    }
}
