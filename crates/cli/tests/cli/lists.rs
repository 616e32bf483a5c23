//! Entities as JSON and in an editor: `ent import` and `ent edit`.

use bspkit::Bsp;

use super::room::{Room, entities, fixture};

#[cfg(unix)]
#[test]
fn a_list_goes_through_a_pipe_and_comes_back() {
    let room = Room::new();
    let map = room.read("q2.bsp");
    let run = room.shell("bspkit ent list q2.bsp --json | bspkit ent import q2.bsp - -o same.bsp --json").done();
    assert_eq!((run.json()["changed"].as_bool(), room.read("same.bsp") == map), (Some(false), true));
    let edit = "sed 's/\"200\"/\"123\"/' | bspkit ent import q2.bsp - -o out.bsp";
    let run = room.shell(&format!("bspkit ent list q2.bsp --json | {edit}")).done();
    assert!(run.err.starts_with("out.bsp: 1 entity, 1 value; ENTITIES"), "{}", run.err);
    room.bspkit("ent set q2.bsp light[light=200] light=123 -o set.bsp").done();
    assert!(room.read("out.bsp") == room.read("set.bsp"));
}

/// What a list of some entities leaves out is removed only among these.
#[test]
fn a_list_of_some_entities_is_about_these() {
    let room = Room::new();
    let mut list = room.bspkit("ent list q2.bsp light --json").done().json();
    assert_eq!(list["selector"], "light");
    let lights = list["entities"].as_array_mut().unwrap();
    assert!(lights.len() > 2);
    lights.remove(1);
    room.write("lights.json", list.to_string().as_bytes());
    let run = room.bspkit("ent import q2.bsp lights.json -o out.bsp").done();
    assert!(run.err.starts_with("out.bsp: 1 entity; ENTITIES"), "{}", run.err);
    let index = room.bspkit("ent list q2.bsp light --json").json()["entities"][1]["index"].to_string();
    room.bspkit(&format!("ent rm q2.bsp #{index} -o rm.bsp")).done();
    assert!(room.read("out.bsp") == room.read("rm.bsp"));
}

#[test]
fn several_maps_take_their_own_lists() {
    let room = Room::new();
    let lists = room.bspkit("ent list q2.bsp q3.bsp --json").done();
    room.write("all.json", lists.text().replace("\"origin\"", "\"origen\"").as_bytes());
    let run = room.bspkit("ent import q2.bsp q3.bsp goldsrc.bsp all.json -o out");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("goldsrc.bsp: the file has no entities of this map"), "{}", run.err);
    for name in ["q2.bsp", "q3.bsp"] {
        room.bspkit(&format!("ent list out/{name} [origen]")).done();
    }
    let run = room.bspkit("ent import q2.bsp all.json -o one.bsp").without_data(2);
    assert!(run.err.contains("the file has the entities of 2 maps, and only one map is given"), "{}", run.err);
}

#[test]
fn a_list_with_a_mistake_writes_nothing() {
    let room = Room::new();
    let good = room.bspkit("ent list q2.bsp --json").done();
    for (bad, says) in [
        (good.text().replacen("\"pairs\":[", "\"pairs\":[,", 1), "column 40: expected value"),
        (good.text().replacen("\"value\"", "\"vaule\"", 1), "unknown field `vaule`"),
        (good.text().replacen("\"index\":3,", "\"index\":300,", 1), "the map has no entity 300"),
        ("[]".to_owned(), "line 1, column 1: expected an object with `entities`"),
        (good.text().replacen("\"worldspawn\"", "\"light\"", 1), "worldspawn"),
        (good.text().replacen("\"worldspawn\"", "\"a\\\"b\"", 1), "quote"),
    ] {
        room.write("bad.json", bad.as_bytes());
        let names = room.names();
        let run = room.bspkit("ent import q2.bsp bad.json -o out.bsp").without_data(2);
        assert!(run.err.contains(says), "{says}: {}", run.err);
        assert_eq!(room.names(), names);
    }
    let other = room.bspkit("ent import q3.bsp good.json -o out.bsp");
    assert_eq!(other.code, Some(2));
    room.write("good.json", good.text().as_bytes());
    let run = room.bspkit("ent import q3.bsp good.json -o out.bsp").without_data(2);
    assert!(run.err.contains("the document is of another map"), "{}", run.err);
    // An edit that keeps every length would be taken back.
    room.bspkit("ent set q2.bsp light[light=200] light=123 -o set.bsp").done();
    let run = room.bspkit("ent import set.bsp good.json -o out.bsp").without_data(2);
    assert!(run.err.contains("not those that were listed"), "{}", run.err);
    let crc = good.json()["entities_crc32"].as_str().unwrap().to_owned();
    let text = good.text().replacen(&format!("\"entities_crc32\": \"{crc}\","), "", 1);
    assert_ne!(text, good.text());
    room.write("good.json", text.as_bytes());
    room.bspkit("ent import set.bsp good.json -o out.bsp").done();
    assert!(room.read("out.bsp") == room.read("q2.bsp"));
}

/// Runs `ent edit` with a shell script as the editor; the temporary files are in the room.
#[cfg(unix)]
fn edit(room: &Room, script: &str, arguments: &str) -> super::room::Run {
    room.write("editor.sh", format!("printf '%s' \"$1\" >$PWD/told\n{script}\n").as_bytes());
    std::fs::create_dir_all(room.path("tmp")).unwrap();
    let line = format!("TMPDIR=$PWD/tmp VISUAL= EDITOR='sh editor.sh --wait' bspkit ent edit {arguments}");
    // The file is the last argument, after those of the editor.
    let line = line.replace("editor.sh --wait", "editor.sh \"--wait\"");
    room.shell(&line)
}

/// The files that are left for the user.
#[cfg(unix)]
fn kept(room: &Room) -> Vec<String> {
    let is_file = |path: &std::path::PathBuf| path.starts_with(room.path("tmp")) && path.is_file();
    room.names().into_iter().filter(is_file).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[cfg(unix)]
#[test]
fn the_text_is_edited_and_saved() {
    let room = Room::new();
    let run = edit(&room, "sed -i 's/\"200\"/\"123\"/' \"$2\"", "q2.bsp -o out.bsp").done();
    assert_eq!(room.read("told"), b"--wait");
    assert!(run.err.contains("  entity 8 light \"lamp\": light \"200\" -> \"123\"\n"), "{}", run.err);
    assert!(run.err.contains("out.bsp: 1 entity, 1 value; ENTITIES"), "{}", run.err);
    room.bspkit("ent set q2.bsp light[light=200] light=123 -o set.bsp").done();
    assert!(room.read("out.bsp") == room.read("set.bsp"));
    assert_eq!((kept(&room).len(), std::fs::read_dir(room.path("tmp")).unwrap().count()), (0, 0));
    // The chosen entities alone are in the file.
    let run = edit(
        &room,
        "grep -c classname \"$2\" >count; sed -i 's/\"light\" \"200\"/\"light\" \"123\"/' \"$2\"",
        "q2.bsp light -o some.bsp",
    );
    run.done();
    assert_eq!(room.read("count"), b"3\n");
    assert!(room.read("some.bsp") == room.read("set.bsp"));
    // Entities may be added and removed.
    let add = "printf '{\\n\"classname\" \"info_null\"\\n}\\n' >\"$2\"";
    let run = edit(&room, add, "q2.bsp light --dry-run").done();
    assert!(run.text().starts_with("q2.bsp: 4 entities; ENTITIES"), "{}", run.text());
    assert_eq!(kept(&room), ["{\n\"classname\" \"info_null\"\n}\n"], "a dry run keeps the text");
}

#[cfg(unix)]
#[test]
fn an_edit_that_fails_loses_nothing() {
    let room = Room::new();
    let map = room.read("q2.bsp");
    // Unchanged, and an editor that fails.
    let run = edit(&room, "true", "q2.bsp -o out.bsp").without_data(1);
    assert!(run.err.contains("q2.bsp: the text is not changed"), "{}", run.err);
    let run = edit(&room, "printf '\\n' >>\"$2\"", "source.bsp logic_auto -o out.bsp");
    assert!(run.code == Some(1) || run.code == Some(0), "{}", run.err);
    let run = edit(&room, "exit 3", "q2.bsp -o none.bsp").without_data(2);
    assert!(run.err.contains("nothing is written") && run.err.contains("exit status: 3"), "{}", run.err);
    assert_eq!(kept(&room), [""; 0]);
    let run = edit(&room, "echo mine >\"$2\"; exit 1", "q2.bsp -o none.bsp").without_data(2);
    assert!(run.err.contains("the text is not taken, and is kept in "), "{}", run.err);
    assert_eq!(kept(&room), ["mine\n"]);
    std::fs::remove_dir_all(room.path("tmp")).unwrap();
    // A text that engines cannot read: the place with a mark below it.
    let run = edit(&room, "sed -i 's/^\"light\" \"250\"$/\"light\"/' \"$2\"", "q2.bsp -o none.bsp").without_data(2);
    let kept_in = run.err.split("kept in ").nth(1).unwrap().lines().next().unwrap().to_owned();
    assert!(std::fs::read_to_string(&kept_in).unwrap().contains("\"light\"\n"), "{kept_in}");
    let mark = run.err.lines().position(|line| line.trim() == "^^^^^^^").expect(&run.err);
    assert_eq!(run.err.lines().nth(mark - 1).unwrap().trim(), "\"light\"");
    assert!(run.err.lines().nth(mark - 2).unwrap().ends_with(": a key has no value"), "{}", run.err);
    // So with some entities; and what is only between them would be lost.
    let run = edit(&room, "sed -i 's/^}$//' \"$2\"", "q2.bsp light -o none.bsp").without_data(2);
    assert!(run.err.contains("the text is broken"), "{}", run.err);
    let run = edit(&room, "echo '// note' >>\"$2\"", "q2.bsp light -o none.bsp").without_data(2);
    assert!(run.err.contains("text outside of entities would be lost"), "{}", run.err);
    // An error of the save keeps the text too.
    let run = edit(&room, "sed -i 's/\"200\"/\"123\"/' \"$2\"", "q2.bsp -o q2.bsp");
    assert_eq!(run.code, Some(2), "{}", run.err);
    room.write("fixed.bsp", b"");
    let mut only_read = std::fs::metadata(room.path("fixed.bsp")).unwrap().permissions();
    only_read.set_readonly(true);
    std::fs::set_permissions(room.path("fixed.bsp"), only_read).unwrap();
    let run = edit(&room, "sed -i 's/\"200\"/\"123\"/' \"$2\"", "q2.bsp -o fixed.bsp").without_data(2);
    assert!(run.err.contains("the edited text is in "), "{}", run.err);
    // Forced, a text that engines do not read is saved.
    edit(&room, "sed -i 's/^\"light\" \"250\"$/\"light\"/' \"$2\"", "q2.bsp -o forced.bsp --force").done();
    assert!(!room.path("none.bsp").exists() && room.read("q2.bsp") == map);
    assert!(String::from_utf8_lossy(entities(&room.read("forced.bsp"))).contains("\"light\"\n"));
    for (arguments, says) in [
        ("q2.bsp q3.bsp -o out", "only one map can be edited at a time"),
        ("- -o out.bsp", "cannot come from stdin"),
        ("q2.bsp", "no output given"),
    ] {
        let run = edit(&room, "true", arguments).without_data(2);
        assert!(run.err.contains(says), "{}", run.err);
    }
}

#[cfg(unix)]
#[test]
fn an_empty_text_is_not_an_edit() {
    let room = Room::new();
    for arguments in ["q2.bsp -o none.bsp", "q2.bsp light -o none.bsp"] {
        let run = edit(&room, ": >\"$2\"", arguments).without_data(2);
        assert!(run.err.contains("the text is empty: nothing is written"), "{}", run.err);
    }
    assert!(kept(&room).is_empty() && !room.path("none.bsp").exists());
}

/// Editors of Windows change line ends and add a mark.
#[cfg(unix)]
#[test]
fn line_ends_stay() {
    let room = Room::new();
    let windows = "sed -i 's/$/\\r/; 1s/^/\\xef\\xbb\\xbf/; s/\"200\"/\"123\"/' \"$2\"";
    for (arguments, out) in [("q2.bsp -o out.bsp", "out.bsp"), ("q2.bsp light -o some.bsp", "some.bsp")] {
        edit(&room, windows, arguments).done();
        room.bspkit("ent set q2.bsp light[light=200] light=123 -o set.bsp").done();
        assert!(room.read(out) == room.read("set.bsp"), "{arguments}");
    }
}

/// The list of a map that is not UTF-8 has its bytes beside the text.
#[test]
fn bytes_that_are_not_text_come_back() {
    let room = Room::empty();
    let map = Bsp::from_vec(fixture("q2/own_rooms")).unwrap();
    let mut draft = map.draft();
    draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", b"caf\xe9").unwrap();
    room.write("map.bsp", &draft.plan(bspkit::Layout::Keep).unwrap().to_vec());
    let list = room.bspkit("ent list map.bsp --json").done().text().replace("\"250\"", "\"251\"");
    room.write("list.json", list.as_bytes());
    room.bspkit("ent import map.bsp list.json -o out.bsp").done();
    assert!(entities(&room.read("out.bsp")).windows(6).any(|bytes| bytes == b"\"caf\xe9\""));
}
