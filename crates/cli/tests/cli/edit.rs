//! What each `ent` command does to the text.

use super::room::{Room, SOURCE_TEXT, entities};

/// The entity text after a command on `q3.bsp`.
#[track_caller]
fn edited(room: &Room, arguments: &[&str]) -> String {
    let mut all = vec!["ent", arguments[0], "q3.bsp"];
    all.extend_from_slice(&arguments[1..]);
    all.extend_from_slice(&["-o", "out.bsp"]);
    room.run(&all).done();
    String::from_utf8(entities(&room.read("out.bsp")).to_vec()).unwrap()
}

fn old(room: &Room) -> String {
    String::from_utf8(entities(&room.read("q3.bsp")).to_vec()).unwrap()
}

#[test]
fn set_changes_one_value_and_adds_what_is_not_there() {
    let room = Room::new();
    let text = old(&room);
    let new = edited(&room, &["set", "worldspawn", "message=The Place = here", "NEW=1"]);
    let expected = text
        .replace("rooms (q3), own fixture", "The Place = here")
        .replace("10165e88\"\n", "10165e88\"\n\"NEW\" \"1\"\n");
    assert_eq!(new, expected);
}

#[test]
fn pairs_are_taken_literally_and_in_the_order_given() {
    let room = Room::new();
    let new = edited(&room, &["add", "--pair", "a=b#2", "-1", "classname=x", "--pair", "", r"\n\x41\\", "last=1"]);
    assert_eq!(
        new,
        old(&room).replace('\0', "{\n\"a=b#2\" \"-1\"\n\"classname\" \"x\"\n\"\" \"\nA\\\"\n\"last\" \"1\"\n}\n\0")
    );
}

#[test]
fn equal_keys_are_counted() {
    let room = Room::new();
    let source = |arguments: &[&str]| {
        let run = room.run(&[&["ent"], arguments, &["-o", "out.bsp"]].concat()).done();
        (room.bspkit("ent get out.bsp logic_auto OnTrigger").text().to_owned(), run.err)
    };
    let (values, talk) = source(&["set", "source.bsp", "logic_auto", "ontrigger=x"]);
    assert_eq!(values, "x\nb,Open\n");
    assert!(talk.contains("warning: source.bsp: entity #1 has the key `ontrigger` 2 times"), "{talk}");
    let (values, talk) = source(&["set", "source.bsp", "logic_auto", "OnTrigger#2=x", "-q"]);
    assert_eq!((values.as_str(), talk.as_str()), ("a,Open\nx\n", ""));
    assert_eq!(source(&["set", "source.bsp", "logic_auto", "OnTrigger#3=c"]).0, "a,Open\nb,Open\nc\n");
    assert_eq!(source(&["unset", "source.bsp", "logic_auto", "OnTrigger#1"]).0, "b,Open\n");
    assert_eq!(source(&["rename-key", "source.bsp", "*", "OnTrigger#2", "OnUser1"]).0, "a,Open\n");
    let run = room.bspkit("ent unset source.bsp logic_auto OnTrigger OnTrigger#1 -o out.bsp").done();
    assert!(!run.err.contains("warning"), "{}", run.err);
    room.bspkit("ent get out.bsp logic_auto OnTrigger").without_data(1);

    std::fs::remove_file(room.path("out.bsp")).unwrap();
    let run = room.bspkit("ent set source.bsp logic_auto OnTrigger#4=x -o out.bsp").without_data(2);
    assert!(run.err.contains("no pair 4 of key `OnTrigger`: the entity has 2"), "{}", run.err);
    room.bspkit("ent add source.bsp classname=x a#2=1 -o out.bsp").without_data(2);
    assert!(!room.path("out.bsp").exists());
}

/// Mappers of GoldSrc call keys of one entity `door1` and `door1#1`.
#[test]
fn keys_that_end_in_a_number_are_meant_where_an_entity_has_them() {
    let room = Room::new();
    let add =
        "ent add q3.bsp --pair classname multi_manager --pair door1 0 --pair door1#1 1 --pair lamp#1 2 -o many.bsp";
    room.bspkit(add).done();
    let text = |arguments: &str| {
        room.bspkit(&format!("ent {arguments} -o out.bsp")).done();
        let all = String::from_utf8(entities(&room.read("out.bsp")).to_vec()).unwrap();
        all[all.find("multi_manager").unwrap()..].split('}').next().unwrap().replace('\n', " ")
    };
    let rest = |pairs: &str| format!("multi_manager\" {pairs} ");
    let set = |key: &str| text(&format!("set many.bsp multi_manager {key}=9"));
    assert_eq!(set("door1#1"), rest(r#""door1" "0" "door1#1" "9" "lamp#1" "2""#));
    assert_eq!(set("DOOR1#1"), rest(r#""door1" "0" "door1#1" "9" "lamp#1" "2""#));
    assert_eq!(set("door1"), rest(r#""door1" "9" "door1#1" "1" "lamp#1" "2""#));
    assert_eq!(set("door1#2"), rest(r#""door1" "0" "door1#1" "1" "lamp#1" "2" "door1" "9""#));
    assert_eq!(set("lamp#1"), rest(r#""door1" "0" "door1#1" "1" "lamp#1" "9""#));
    room.bspkit("ent set many.bsp multi_manager bell#1=9 -o out.bsp").without_data(2);
    assert_eq!(text("unset many.bsp multi_manager door1#1"), rest(r#""door1" "0" "lamp#1" "2""#));
    assert_eq!(text("rename-key many.bsp multi_manager lamp#1 lamp"), rest(r#""door1" "0" "door1#1" "1" "lamp" "2""#));
    assert_eq!(room.bspkit("ent get many.bsp multi_manager door1#1").text(), "1\n");
    let patch = r#"{"bspkit_patch": 1, "operations": [{"op": "edit", "on": {"select": "multi_manager"},
        "expect": [{"key": "lamp#1", "value": "2"}],
        "changes": [{"do": "set", "key": "door1#1", "value": "7"}, {"do": "unset", "key": "lamp#1"}]}]}"#;
    room.write("many.json", patch.as_bytes());
    assert_eq!(text("patch many.bsp many.json"), rest(r#""door1" "0" "door1#1" "7""#));

    // Where both are there, the number counts, and the other is named.
    room.bspkit("ent add q3.bsp --pair classname multi_manager --pair a 0 --pair a 1 --pair a#2 2 -o many.bsp").done();
    let run = room.bspkit("ent set many.bsp multi_manager a#2=9 -o out.bsp").done();
    assert!(run.err.contains(r"has also a key that is called `a#2`; \x23 for # in KEY means that one"), "{}", run.err);
    for edit in ["unset many.bsp multi_manager a#2", "rename-key many.bsp multi_manager a#2 b"] {
        let run = room.bspkit(&format!("ent {edit} -o out.bsp")).done();
        assert!(run.err.contains("has also a key that is called `a#2`"), "{}", run.err);
    }
    assert_eq!(set("a#2"), rest(r#""a" "0" "a" "9" "a#2" "2""#));
    assert_eq!(set(r"a\x232"), rest(r#""a" "0" "a" "1" "a#2" "9""#));
}

#[test]
fn unset_and_rename_touch_only_their_pairs() {
    let room = Room::new();
    let text = old(&room);
    assert_eq!(edited(&room, &["unset", "*", "angle"]).matches("\"angle\"").count(), 0);
    let without = text.lines().filter(|line| !line.starts_with("\"angle\"")).collect::<Vec<_>>().join("\n");
    assert_eq!(edited(&room, &["unset", "*", "ANGLE", "angle"]), without);
    assert_eq!(edited(&room, &["rename-key", "*", "angle", "yaw"]), text.replace("\"angle\"", "\"yaw\""));
    // Other letters are the same key.
    let run = room.bspkit("ent rename-key q3.bsp * angle ANGLE -o out.bsp").done();
    assert!(!run.err.contains("more than once"), "{}", run.err);
    let run = room.bspkit("ent rename-key q3.bsp worldspawn message music -o out.bsp").done();
    assert!(run.err.contains("1 entity has the key music more than once now"), "{}", run.err);
    let run = room.bspkit("ent unset q3.bsp worldspawn music nope -o out.bsp").done();
    assert!(run.err.contains("warning: q3.bsp: no entity that matches worldspawn has `nope`"), "{}", run.err);
}

#[test]
fn entities_are_copied_removed_and_moved() {
    let room = Room::new();
    let classes = |name: &str| room.bspkit(&format!("ent get {name} * classname")).done().text().to_owned();
    let old = classes("q3.bsp");
    edited(&room, &["dup", "path_corner"]);
    assert_eq!(classes("out.bsp"), old.replace("path_corner\n", "path_corner\npath_corner\n"));
    assert_eq!(edited(&room, &["dup", "#17"]).matches("\"origin\" \"128 0 120\"").count(), 2);
    edited(&room, &["rm", "info_player_*[angle=180]"]);
    assert_eq!(classes("out.bsp"), old.replace("info_player_deathmatch\n", ""));
    edited(&room, &["mv", "path_corner", "--after", "worldspawn"]);
    let moved = "worldspawn\npath_corner\npath_corner\n";
    assert_eq!(classes("out.bsp"), old.replace("path_corner\n", "").replace("worldspawn\n", moved));
    edited(&room, &["mv", "#1", "--before", "func_door"]);
    let before = "info_player_start\nfunc_door\n";
    assert_eq!(classes("out.bsp"), old.replace("info_player_start\n", "").replace("func_door\n", before));
}

#[test]
fn export_and_import_are_inverse_with_and_without_the_nul() {
    let room = Room::new();
    for map in ["q2.bsp", "q3.bsp", "goldsrc.bsp", "source.bsp"] {
        let text = room.bspkit(&format!("ent export {map}")).done().out;
        room.bspkit(&format!("ent export {map} -o text.ent")).done();
        assert_eq!(room.read("text.ent"), text);
        let bare: Vec<u8> = text.iter().copied().filter(|byte| *byte != 0).collect();
        room.write("bare.ent", &bare);
        for file in ["text.ent", "bare.ent"] {
            room.bspkit(&format!("ent import {map} {file} -o out.bsp")).done();
            assert_eq!(room.read("out.bsp"), room.read(map), "{map} {file}");
        }
    }
    assert_eq!(room.bspkit("ent export source.bsp").done().out, SOURCE_TEXT);
}

#[test]
fn as_many_nuls_are_added_as_there_were() {
    let room = Room::new();
    room.write("text.ent", b"{\n\"classname\" \"worldspawn\"\n}\n");
    for (old, new) in [(&b"{}\n"[..], ""), (b"{}\n\0", "\0"), (b"{}\0\0\0", "\0\0\0"), (b"", "")] {
        room.write("old.ent", old);
        room.bspkit("ent import q3.bsp text.ent -o base.bsp").done();
        // What has no NUL can only be had by a lump's own bytes.
        let mut map = room.read("base.bsp");
        let at = u32::from_le_bytes(map[8..12].try_into().unwrap()) as usize;
        map[at..at + old.len()].copy_from_slice(old);
        map[12..16].copy_from_slice(&u32::try_from(old.len()).unwrap().to_le_bytes());
        room.write("old.bsp", &map);
        room.bspkit("ent import old.bsp text.ent -o out.bsp").done();
        let expected = ["{\n\"classname\" \"worldspawn\"\n}\n", new].concat();
        assert_eq!(entities(&room.read("out.bsp")), expected.as_bytes(), "{old:?}");
    }
}

#[test]
fn import_takes_what_engines_stop_at_only_if_forced() {
    let room = Room::new();
    room.write("text.ent", b"{\n\"classname\" \"worldspawn\"\n\"wait\"\n}\n\0");
    let run = room.bspkit("ent import q3.bsp text.ent -o out.bsp").without_data(2);
    assert!(run.err.contains("Quake 3 engines stop at the text: a key has no value"), "{}", run.err);
    let run = room.bspkit("ent import q3.bsp text.ent -o out.bsp --force").done();
    assert!(
        run.err.contains("the edit adds error[entity-structure] ENTITIES, record 0: a key has no value"),
        "{}",
        run.err
    );
    assert_eq!(entities(&room.read("out.bsp")), room.read("text.ent"));
    // A brace that touches a word: some engines read it, those of Quake III do not.
    room.write("text.ent", b"{\"classname\" \"worldspawn\"}\n\0");
    let run = room.bspkit("ent import q3.bsp text.ent -o new.bsp").without_data(2);
    assert!(run.err.contains("Quake 3 engines stop at the text: a brace is part of a word"), "{}", run.err);
    room.bspkit("ent import goldsrc.bsp text.ent -o new.bsp").done();
}

#[test]
fn what_is_not_entity_text_is_refused_in_one_sentence() {
    let room = Room::new();
    for (text, what) in [
        (&b"{\"entities\": [{\"classname\": \"light\"}]}"[..], "line 1, column 38: missing field `version`"),
        (b"[{}]", "line 1, column 1: expected an object with `entities`"),
        (b"PK\x03\x04\0\0", "the file is not entity text: it looks like binary data"),
    ] {
        room.write("text.ent", text);
        let run = room.bspkit("ent import q3.bsp text.ent -o out.bsp").without_data(2);
        assert!(run.err.contains(what), "{}", run.err);
        assert_eq!(run.err.matches("caused by").count(), 1, "{}", run.err);
    }
}

#[test]
fn keys_like_operators_are_refused_and_can_be_given_as_they_are() {
    let room = Room::new();
    for (pair, key) in [("message:=2", "message:"), ("message==2", "message"), ("x~s|a=b|c|", "x~s|a"), ("=2", "")] {
        let run = room.bspkit(&format!("ent set q3.bsp worldspawn {pair} -o out.bsp")).without_data(2);
        assert!(run.err.contains(&format!("hint: --pair '{key}' VALUE")), "{}", run.err);
        room.bspkit(&format!("ent add q3.bsp {pair} -o out.bsp")).without_data(2);
    }
    room.bspkit("ent set q3.bsp worldspawn --pair message* 2 -o out.bsp").done();
    assert_eq!(room.bspkit("ent get out.bsp worldspawn message*").done().text(), "2\n");
    room.bspkit("ent add q3.bsp --pair a: {classname} -o out.bsp").done();
    assert_eq!(room.bspkit("ent get out.bsp [a:] a:").done().text(), "{classname}\n");
}

#[test]
fn values_are_calculated_rewritten_and_filled_in() {
    let room = Room::new();
    let text = old(&room);
    let new = edited(&room, &["set", "path_corner", "origin+=0 0 8", "target~s/^p(\\d)/{classname}_{1}/"]);
    assert_eq!(new.matches("\"path_corner_").count(), text.matches("\"target\" \"p").count());
    let back = edited(&room, &["set", "[origin]", "origin*=2", "origin/=2", "classname={classname}"]);
    assert_eq!(back, text);
    let new = edited(&room, &["add", "classname=light", "targetname={classname}_1"]);
    assert!(new.ends_with("{\n\"classname\" \"light\"\n\"targetname\" \"light_1\"\n}\n\0"), "{new}");
    for wrong in ["angle+=1", "a#2=1", "a={b}"] {
        room.bspkit(&format!("ent add q3.bsp classname=x {wrong} -o no.bsp")).without_data(2);
    }
}

#[test]
fn what_cannot_be_calculated_is_left_or_refused() {
    let room = Room::new();
    let run = room.run(&["ent", "set", "q3.bsp", "*", "angle*=2", "-o", "out.bsp"]).done();
    assert!(run.err.contains("warning: q3.bsp: entity #0: `angle` stays: the entity does not have it"), "{}", run.err);
    let run = room.run(&["ent", "set", "q3.bsp", "*", "angle*=2", "--strict", "-o", "no.bsp"]).without_data(2);
    assert!(run.err.contains("values stay as they are; entity #0: `angle` stays"), "{}", run.err);
    room.run(&["ent", "set", "q3.bsp", "[angle]", "angle*=2", "--strict", "-o", "out.bsp"]).done();
    room.run(&["ent", "set", "q3.bsp", "*", "classname*=2", "-o", "no.bsp"]).without_data(1);
    room.run(&["ent", "set", "q3.bsp", "*", "classname~s/nope/x/", "-o", "no.bsp"]).without_data(1);
    room.run(&["ent", "set", "q3.bsp", "[angle]", "zero=0", "angle/={zero}", "-o", "no.bsp"]).without_data(2);
    assert!(!room.path("no.bsp").exists());
}

#[test]
fn pairs_are_removed_by_their_value() {
    let room = Room::new();
    let text = old(&room);
    let new = edited(&room, &["unset", "*", "angle=180"]);
    assert_eq!(new, text.replace("\"angle\" \"180\"\n", ""));
    assert_eq!(edited(&room, &["unset", "*", "angle~/^1.0$/", "angle>=1000"]), new);
    room.bspkit("ent unset q3.bsp * angle=181 -o no.bsp").without_data(1);
}

#[test]
fn import_refuses_what_no_engine_could_read_back() {
    let room = Room::new();
    for text in [
        "{ \"classname\" \"light\" }",
        "{ \"classname\" \"worldspawn }",
        "{ \"classname\" \"worldspawn\" \"a\" \"}\" }",
        "",
    ] {
        room.write("text.ent", text.as_bytes());
        let names = room.names();
        let run = room.bspkit("ent import q3.bsp text.ent -o out.bsp").without_data(2);
        assert!(run.err.contains("--force saves it anyway"), "{}", run.err);
        assert_eq!(room.names(), names);
        room.bspkit("ent import q3.bsp text.ent -o out.bsp --force").done();
        std::fs::remove_file(room.path("out.bsp")).unwrap();
    }
    room.bspkit("ent import q3.bsp text.ent -o text.ent --force").without_data(2);
}

#[test]
fn a_byte_order_mark_is_imported_only_where_one_was() {
    let room = Room::new();
    let old = room.read("q3.bsp");
    room.write("text.ent", &[b"\xEF\xBB\xBF", entities(&old)].concat());
    room.bspkit("ent import q3.bsp text.ent -o same.bsp").done();
    assert_eq!(room.read("same.bsp"), old);

    room.bspkit("load q3.bsp ENTITIES text.ent --format raw -o marked.bsp").done();
    assert!(entities(&room.read("marked.bsp")).starts_with(b"\xEF\xBB\xBF{"));
    room.bspkit("ent import marked.bsp text.ent -o same.bsp").done();
    assert_eq!(room.read("same.bsp"), room.read("marked.bsp"));
}

#[test]
fn fmt_prints_the_compilers_form_and_loses_nothing_unasked() {
    let room = Room::new();
    let run = room.bspkit("ent fmt q3.bsp -o out.bsp").done();
    assert_eq!(run.err, "out.bsp: nothing changes\n");
    room.write("text.ent", b"{ classname worldspawn // a comment\n}\0");
    room.bspkit("ent import q3.bsp text.ent -o odd.bsp").done();
    let names = room.names();
    let run = room.bspkit("ent fmt odd.bsp -o new.bsp").without_data(2);
    assert!(run.err.contains("a comment"), "{}", run.err);
    assert_eq!(room.names(), names);
    room.bspkit("ent fmt odd.bsp -o new.bsp --force").done();
    assert_eq!(entities(&room.read("new.bsp")), b"{\n\"classname\" \"worldspawn\"\n}\n\0");
}

#[test]
fn broken_entities_that_are_edited_are_named() {
    let room = Room::new();
    room.write("text.ent", b"{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"light\"\n\"odd\"\n}\n\0");
    room.bspkit("ent import q3.bsp text.ent -o odd.bsp --force").done();
    let run = room.bspkit("ent set odd.bsp light light=1 -o out.bsp -q").done();
    assert!(run.err.contains("a key has no value (entity 1"), "{}", run.err);
    assert_eq!(room.bspkit("ent set odd.bsp worldspawn light=1 -o out.bsp -q").done().err, "");
    let run = room.bspkit("ent set odd.bsp worldspawn light=1 -o out.bsp -q -v").done();
    assert!(run.err.contains("a key has no value (entity 1"), "{}", run.err);
}

#[test]
fn a_file_whose_name_begins_with_a_dash_needs_two() {
    let room = Room::new();
    room.write("-f.bsp", &room.read("q3.bsp"));
    room.bspkit("info -f.bsp").without_data(2);
    room.bspkit("info -- -f.bsp").done();
    room.run(&["ent", "set", "-o", "out.bsp", "--", "-f.bsp", "worldspawn", "-x=-y"]).done();
    assert_eq!(room.bspkit("ent get out.bsp worldspawn -- -x").done().text(), "-y\n");
}

#[cfg(unix)]
#[test]
fn arguments_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let room = Room::new();
    let latin = OsStr::from_bytes(b"message=caf\xe9\\n");
    let path = OsStr::from_bytes(b"caf\xe9.bsp");
    let words = ["ent", "set", "q3.bsp", "worldspawn", "-o"].map(OsStr::new);
    room.run(&[&words[..], &[path, latin]].concat()).done();
    let run = room.run(&[OsStr::new("ent"), OsStr::new("get"), path, OsStr::new("worldspawn"), OsStr::new("message")]);
    assert_eq!(run.done().out, b"caf\xe9\n\n");
    let info = room.run(&[OsStr::new("info"), path, OsStr::new("--json")]).done().json();
    assert_eq!((&info["path"], &info["path_raw"]), (&"caf\\xe9.bsp".into(), &"Y2Fm6S5ic3A=".into()));
}

/// Two pairs with one key are two values where engines read one: that is said.
#[test]
fn a_key_that_is_there_already_is_said() {
    let room = Room::new();
    let run = room.bspkit("ent rename-key q2.bsp #8 light style -o new.bsp").done();
    assert!(run.err.contains("1 entity has the key style more than once now"), "{}", run.err);
    assert!(!room.bspkit("ent rename-key q2.bsp #8 light other -o other.bsp").done().err.contains("more than once"));
    let run = room.run(&["ent", "set", "q2.bsp", "#8", " light=5", "-o", "x.bsp"]).without_data(2);
    assert!(run.err.contains("begins with a space"), "{}", run.err);
}
