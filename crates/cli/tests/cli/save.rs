//! Where a save goes, and that it goes nowhere else.

use std::fs;

use bspkit::Bsp;
use serde_json::json;

use super::room::{Room, entities, fixture, native, with_word};

const EDIT: [&str; 5] = ["ent", "set", "q3.bsp", "worldspawn", "message=The Place"];

#[test]
fn a_save_needs_a_place() {
    let room = Room::new();
    let names = room.names();
    let run = room.run(&EDIT).without_data(2);
    assert!(run.err.starts_with("error: no output given\n"), "{}", run.err);
    room.run(&[&EDIT[..], &["-o", "out.bsp", "--in-place"]].concat()).without_data(2);
    assert_eq!(room.names(), names);
}

#[test]
fn the_report_is_one_line_and_quiet_is_quiet() {
    let room = Room::new();
    let run = room.run(&[&EDIT[..], &["-o", "out.bsp"]].concat()).without_data(0);
    assert!(
        run.err.starts_with("out.bsp: 1 entity, 1 value; ENTITIES ") && run.err.lines().count() == 1,
        "{}",
        run.err
    );
    assert_eq!(room.run(&[&EDIT[..], &["-o", "out.bsp", "-q"]].concat()).without_data(0).err, "");
    assert!(room.read("out.bsp").windows(9).any(|bytes| bytes == b"The Place"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let room = Room::new();
    let (names, map) = (room.names(), room.read("q3.bsp"));
    for place in [&[][..], &["-o", "out.bsp"], &["--in-place", "--backup"]] {
        let run = room.run(&[&EDIT[..], &["--dry-run"], place].concat()).done();
        assert!(run.text().lines().count() > 1, "{}", run.text());
    }
    let run = room.run(&[&EDIT[..], &["--dry-run", "--json", "-o", "out.bsp", "--checksum"]].concat()).done().json();
    assert_eq!((&run["path"], &run["output"], &run["changed"]), (&json!("q3.bsp"), &json!("out.bsp"), &json!(true)));
    assert_eq!(run["edits"][0]["lump"], "ENTITIES");
    assert_eq!((room.names(), room.read("q3.bsp")), (names, map.clone()));

    // The changes it tells are those that a save makes.
    room.run(&[&EDIT[..], &["-o", "out.bsp"]].concat()).done();
    let mut new = room.read("out.bsp");
    new.resize(map.len(), 0);
    for change in run["ranges"].as_array().unwrap() {
        let at = change["offset"].as_u64().unwrap() as usize;
        let range = at..at + change["bytes"].as_u64().unwrap() as usize;
        new[range.clone()].copy_from_slice(&map[range]);
    }
    assert_eq!(new, map);

    // A save tells the same as it was told before.
    let saved = room.run(&[&EDIT[..], &["--json", "-o", "out.bsp", "--checksum"]].concat()).done();
    assert_eq!((saved.json(), saved.err), (run, String::new()));
}

#[test]
fn a_failed_command_writes_nothing() {
    let room = Room::new();
    let names = room.names();
    for (line, code) in [
        ("ent set q3.bsp light a=b -o out.bsp", 1),
        ("ent unset q3.bsp worldspawn nope -o out.bsp", 1),
        ("ent rename-key q3.bsp * nope new -o out.bsp", 1),
        ("ent rm q3.bsp light -o out.bsp", 1),
        ("ent mv q3.bsp path_corner --after light -o out.bsp", 1),
        ("ent mv q3.bsp worldspawn --after path_corner -o out.bsp", 2),
        ("ent mv q3.bsp worldspawn --after #5 -o out.bsp", 2),
        ("ent rm q3.bsp worldspawn -o out.bsp", 2),
        ("ent set q3.bsp worldspawn a=\" -o out.bsp", 2),
        ("ent set q3.bsp [ a=b -o out.bsp", 2),
        ("ent set q3.bsp worldspawn a -o out.bsp", 2),
        ("ent set q3.bsp worldspawn =b -o out.bsp", 2),
        ("ent set q3.bsp worldspawn a#0=b -o out.bsp", 2),
        ("ent add q3.bsp -o out.bsp", 2),
        ("ent import q3.bsp nofile -o out.bsp", 2),
        ("ent set q3.bsp worldspawn a=b -o no/such/folder/out.bsp", 2),
        ("ent set none.bsp worldspawn a=b -o out.bsp", 2),
        ("ent set q3.bsp worldspawn a=b --layout best -o out.bsp", 2),
        ("ent set q3.bsp * x=1 \x5c=\" -o out.bsp", 2),
    ] {
        room.bspkit(line).without_data(code);
        assert_eq!(room.names(), names, "{line}");
    }
}

#[test]
fn the_map_itself_is_only_replaced_in_place() {
    let room = Room::new();
    let map = room.read("q3.bsp");
    for output in ["q3.bsp", "./q3.bsp", "../gone/../q3.bsp", "."] {
        let folder = room.path(".").canonicalize().unwrap();
        let output = output.replace("../gone/..", &format!("../{}", folder.file_name().unwrap().to_str().unwrap()));
        let run = room.run(&[&EDIT[..], &["-o", &output]].concat()).without_data(2);
        assert!(run.err.contains("is the input map: use --in-place"), "{}", run.err);
        assert_eq!(run.err.lines().count(), 1);
    }
    let run = room.bspkit("ent export q3.bsp -o ./q3.bsp").without_data(2);
    assert_eq!(run.err.lines().count(), 1);
    assert_eq!(room.read("q3.bsp"), map);
    room.run(&[&EDIT[..], &["--in-place"]].concat()).done();
    assert_ne!(room.read("q3.bsp"), map);
}

#[test]
fn backups_are_numbered_and_never_overwritten() {
    let room = Room::new();
    let first = room.read("q3.bsp");
    let run = room.run(&[&EDIT[..], &["--in-place", "--backup"]].concat()).done();
    assert!(run.err.ends_with("the old file is q3.bsp.bak\n"), "{}", run.err);
    let second = room.read("q3.bsp");
    room.bspkit("ent set q3.bsp worldspawn message=2 --in-place --backup").done();
    room.bspkit("ent set q3.bsp worldspawn message=3 --in-place --backup=.old").done();
    assert_eq!((room.read("q3.bsp.bak"), room.read("q3.bsp.bak.1")), (first, second));
    assert_eq!(room.bspkit("ent get q3.bsp.old worldspawn message").done().text(), "2\n");
    // The suffix is not the next argument.
    room.bspkit("ent set --in-place --backup q3.bsp worldspawn message=4").done();
    // What is replaced by -o is kept as well.
    room.write("out.bsp", b"precious");
    room.run(&[&EDIT[..], &["-o", "out.bsp", "--backup"]].concat()).done();
    assert_eq!(room.read("out.bsp.bak"), b"precious");
}

#[test]
fn an_edit_that_changes_nothing_leaves_the_file_and_makes_a_copy() {
    let room = Room::new();
    let same = ["ent", "set", "q3.bsp", "worldspawn", "music=music/none.wav"];
    let old = fs::metadata(room.path("q3.bsp")).unwrap().modified().unwrap();
    let (map, names) = (room.read("q3.bsp"), room.names());
    let run = room.run(&[&same[..], &["--in-place", "--backup"]].concat()).done();
    assert_eq!(run.err, "q3.bsp: nothing changes, the file is left as it is\n");
    assert_eq!(fs::metadata(room.path("q3.bsp")).unwrap().modified().unwrap(), old);
    assert_eq!(room.names(), names);
    room.run(&[&same[..], &["-o", "out.bsp"]].concat()).done();
    assert_eq!(room.read("out.bsp"), map);
}

#[test]
fn folders_are_edited_into_folders() {
    let room = Room::empty();
    room.write("maps/a.bsp", &fixture("q2/own_rooms"));
    room.write("maps/deep/er/b.BSP", &fixture("q3/own_rooms"));
    room.write("maps/deep/c.txt", b"no map");
    let names = room.names();
    room.bspkit("ent set maps worldspawn message=x -o maps").without_data(2);
    room.bspkit("ent set maps worldspawn message=x -o maps/a.bsp").without_data(2);
    assert_eq!(room.names(), names);
    room.bspkit("ent set maps worldspawn message=x -o new/out").done();
    assert_eq!(room.bspkit("ent get new/out/deep/er/b.BSP worldspawn message").done().text(), "x\n");
    assert!(room.path("new/out/a.bsp").exists() && !room.path("new/out/deep/c.txt").exists());

    // Only one of the maps has it; the other one is not written where that is asked for.
    room.bspkit("ent unset maps worldspawn gridsize -o third --only-changed").done();
    assert_eq!(room.bspkit("ent unset maps worldspawn nosuch -o fourth").code, Some(1));
    assert!(!room.path("third/a.bsp").exists() && room.path("third/deep/er/b.BSP").exists());

    room.bspkit("ent set maps worldspawn message=y --in-place").done();
    assert_eq!(room.bspkit("ent get maps/a.bsp worldspawn message").done().text(), "y\n");
    let lines = room.bspkit("ent set maps worldspawn message=z --dry-run --json").done();
    assert!(lines.text().lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    assert_eq!(lines.text().lines().count(), 2);
}

/// A map that goes to stdout and that nobody reads is not saved. The name of an open file is not replaced.
#[cfg(unix)]
#[test]
fn a_map_that_stdout_does_not_take_is_an_error() {
    use std::process::Stdio;
    let room = Room::new();
    for (map, command) in [("q2.bsp", "ent set q2.bsp worldspawn a=b"), ("q2.bsp", "export q2.bsp")] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut run = room.command();
        run.args(command.split(' ')).args(["-o", "-"]).stdout(writer).stderr(Stdio::piped());
        let run = run.output().unwrap();
        let err = String::from_utf8(run.stderr).unwrap();
        assert_eq!((run.status.code(), err.contains("has closed it")), (Some(2), true), "{map}: {err}");
    }
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let run = room.bspkit(&format!("ent set q2.bsp worldspawn a=b -o {name}")).without_data(2);
        assert!(run.err.contains("it is the name of an open file") && run.err.contains("`-` is stdout"), "{}", run.err);
    }
}

/// What a save would refuse a dry run says, with the exit status of a refusal that is found.
#[test]
fn a_dry_run_of_a_save_that_would_be_refused_says_so() {
    let room = Room::new();
    let edit = "ent set q2.bsp worldspawn message=x";
    let refused = |arguments: &str, what: &str| {
        let run = room.bspkit(&format!("{arguments} --dry-run"));
        assert_eq!(run.code, Some(1), "{arguments}: {}", run.err);
        assert!(run.err.contains(what), "{arguments}: {}", run.err);
        // A program that reads the document learns it too.
        let document = room.bspkit(&format!("{arguments} --dry-run --json")).json();
        let warnings = document["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|it| it.as_str().unwrap().contains(what)), "{arguments}: {warnings:?}");
        assert_eq!(room.bspkit(arguments).code, Some(2), "{arguments}");
    };
    refused(&format!("{edit} -o none/out.bsp"), "it would not be saved: cannot write");
    let mut rights = std::fs::metadata(room.path("q2.bsp")).unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(room.path("q2.bsp"), rights).unwrap();
    refused(&format!("{edit} --in-place"), "is read-only");
    room.bspkit(&format!("{edit} --dry-run")).done();
    room.bspkit(&format!("{edit} --in-place --force --dry-run")).done();
    let cut = room.read("q2.bsp");
    room.write("cut.bsp", &cut[..60_000]);
    refused("set cut.bsp planes[0].distance=5 -o out.bsp", "saving needs --force");
    room.write("cut.bsp", &cut[..66_000]);
    room.bspkit("unpack cut.bsp -o tree");
    room.write("tree/00_ENTITIES.ent", b"{\n\"classname\" \"worldspawn\"\n}\n");
    refused("pack tree -o new.bsp", "it would not be saved: the map is damaged");
    room.bspkit("unpack q2.bsp -o whole").done();
    refused("pack whole -o q2.bsp", "is read-only");
}

#[test]
fn a_dry_run_of_several_maps_begins_with_a_summary() {
    let room = Room::empty();
    room.write("maps/a.bsp", &fixture("q2/own_rooms"));
    room.write("maps/b.bsp", &fixture("q3/own_rooms"));
    room.write("maps/c.bsp", &fixture("q3/own_rooms"));
    room.bspkit("ent set maps/c.bsp worldspawn message=x --in-place").done();
    room.write("maps/d.bsp", b"no map");
    let edit = "ent set maps worldspawn message=x --dry-run";
    let run = room.bspkit(edit);
    let lines: Vec<&str> = run.text().lines().collect();
    assert_eq!((run.code, lines.len()), (Some(1), 4), "{}", run.text());
    assert_eq!(lines[0], "2 of 4 maps change; 2 entities, 2 values; checksum changes: 2");
    assert!(lines[1].starts_with(&format!("{}: 1 entity, 1 value; ENTITIES ", native("maps/a.bsp"))), "{}", lines[1]);
    assert!(!run.text().contains("written") && !run.err.contains("clients"), "{}{}", run.text(), run.err);
    assert!(room.bspkit(&format!("{edit} --checksum")).err.contains("clients need the new map"));

    let run = room.bspkit(&format!("{edit} -v"));
    assert!(run.text().contains("  written") && run.text().ends_with(&format!("{}\n", lines[0])), "{}", run.text());
    let run = room.bspkit("ent set maps/a.bsp worldspawn message=x --dry-run").done();
    assert!(run.text().contains("  written") && !run.text().contains("maps change"), "{}", run.text());
    let run = room.bspkit("ent set maps/a.bsp maps/b.bsp nosuch k=v --dry-run");
    assert_eq!(run.text(), "0 of 2 maps change; checksum changes: 0\n");
}

#[test]
fn a_target_is_never_another_map_that_is_read() {
    let room = Room::empty();
    room.write("maps/a.bsp", &fixture("q2/own_rooms"));
    room.write("maps/sub/a.bsp", &fixture("q3/own_rooms"));
    let run = room.bspkit("ent set maps worldspawn message=x -o maps/sub").without_data(2);
    assert!(run.err.contains("maps/sub/a.bsp is the input map"), "{}", run.err);
    assert_eq!(room.read("maps/sub/a.bsp"), fixture("q3/own_rooms"));
}

/// Each map of a folder has its line: one that is saved, one that nothing matches in, one that stays, one that fails.
#[test]
fn saves_of_a_folder_are_lines_of_json() {
    let room = Room::empty();
    room.write("maps/a.bsp", &fixture("q2/own_rooms"));
    room.write("maps/b.bsp", &fixture("q3/own_rooms"));
    room.write("maps/c.bsp", b"no map");
    for dry in ["--dry-run", ""] {
        let run = room.bspkit(&format!("ent unset maps worldspawn gridsize --in-place --backup --json {dry}"));
        let lines: Vec<serde_json::Value> =
            run.text().lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
        assert_eq!((run.code, lines.len()), (Some(1), 3), "{dry}: {}", run.err);
        assert_eq!((&lines[0]["path"], &lines[0]["changed"]), (&json!(native("maps/a.bsp")), &json!(false)));
        assert!(lines[0]["report"].as_str().unwrap().contains("gridsize"), "{}", lines[0]);
        assert_eq!((&lines[1]["output"], &lines[1]["changed"]), (&json!(native("maps/b.bsp")), &json!(true)));
        let backup = if dry.is_empty() { json!(native("maps/b.bsp.bak")) } else { serde_json::Value::Null };
        assert_eq!(lines[1]["backup"], backup, "{dry}");
        assert!(lines[2]["error"].as_str().unwrap().contains(&native("maps/c.bsp")));
        assert!(!run.err.contains("ENTITIES"), "it is said once: {}", run.err);
    }
    assert!(!room.path("maps/a.bsp.bak").exists());
    assert_eq!(room.read("maps/b.bsp.bak"), fixture("q3/own_rooms"));
}

/// What is exported of one map never takes the place of another one, through links as well.
#[cfg(unix)]
#[test]
fn an_export_spares_all_maps_of_the_folder() {
    let room = Room::empty();
    let map = fixture("q3/own_rooms");
    ["maps/a.bsp", "maps/b.bsp"].iter().for_each(|name| room.write(name, &map));
    fs::create_dir(room.path("texts")).unwrap();
    std::os::unix::fs::symlink("../maps/b.bsp", room.path("texts/a.ent")).unwrap();
    let run = room.bspkit("ent export maps -o texts").without_data(2);
    assert!(run.err.contains("texts/a.ent is an input map"), "{}", run.err);
    assert_eq!(room.read("maps/b.bsp"), map);
    assert!(!room.path("texts/b.ent").exists());
}

#[test]
fn layouts_are_taken_by_name() {
    let room = Room::new();
    let long = format!("message={}", "x".repeat(200));
    for layout in ["keep", "append", "repack"] {
        let run = room.run(&["ent", "set", "q2.bsp", "worldspawn", &long, "--layout", layout, "-o", "out.bsp"]).done();
        assert!(run.err.starts_with("out.bsp: 1 entity, 1 value; ENTITIES "), "{}", run.err);
        let map = room.read("out.bsp");
        assert!(entities(&map).windows(200).any(|bytes| bytes == "x".repeat(200).as_bytes()), "{layout}");
        assert_eq!(room.bspkit("verify out.bsp").code, Some(0));
    }
}

/// A map of more than 256 KiB is mapped, a smaller one is read.
#[test]
fn a_patch_writes_only_the_changes_into_the_file() {
    let room = Room::new();
    let texts = ["short", &"a long text ".repeat(50), "", &"x".repeat(700)];
    room.write("light.bin", &vec![7; 400_000]);
    room.bspkit("load q3.bsp lighting light.bin -o large.bsp --force").done();
    room.write("plain.bsp", &fixture("q2/own_rooms"));
    for map in ["plain.bsp", "q3.bsp", "source.bsp", "large.bsp"] {
        let old = Bsp::from_vec(room.read(map)).unwrap();
        let light = old.bytes(old.slot("lighting").unwrap().id).unwrap();
        let of = |path: &str| fs::metadata(room.path(path)).unwrap();
        for text in texts.iter().cycle().take(12) {
            let message = format!("message={text}");
            let edit = ["ent", "set", map, "worldspawn", &message, "--in-place=patch", "--json"];
            let (bytes, planned) = (room.read(map), room.run(&[&edit[..], &["--dry-run"]].concat()).done().json());
            assert_eq!(room.read(map), bytes);
            let done = room.run(&edit).done().json();
            let written = done["written"].as_u64().unwrap();
            assert!(planned.get("written").is_none() && written < 16_000, "{map}: {written}");
            for same in ["report", "bytes", "ranges", "changes", "changed"] {
                assert_eq!(done[same], planned[same], "{map}: {same}");
            }
            assert_eq!(done["changed"], true);
            // The same edit made in the other way has the same content.
            room.write("before.bsp", &bytes);
            room.run(&["ent", "set", "before.bsp", "worldspawn", &message, "-o", "after.bsp"]).done();
            let [patched, other] = [map, "after.bsp"].map(|path| Bsp::from_vec(room.read(path)).unwrap());
            for slot in other.slots() {
                let is_same = patched.bytes(slot.id).unwrap() == other.bytes(slot.id).unwrap();
                // The game lump has offsets.
                assert!(is_same || slot.name == "GAME_LUMP", "{map}: {text}: {}", slot.name);
            }
        }
        assert!(of(map).len() < old.container().bytes().len() as u64 + 8000, "{map}: its size is bounded");
        let new = Bsp::from_vec(room.read(map)).unwrap();
        assert_eq!(new.bytes(new.slot("lighting").unwrap().id).unwrap(), light);
        assert_eq!(room.bspkit(&format!("verify {map}")).code, Some(0));
    }
    let run = room.bspkit("ent set q3.bsp worldspawn message=x --in-place=patch --backup").without_data(2);
    assert!(run.err.contains("cannot be used with --backup"), "{}", run.err);
    let run = room.bspkit("ent set q3.bsp worldspawn message=x --in-place=patch --layout repack").without_data(2);
    assert!(run.err.contains("cannot be used with the layout repack"), "{}", run.err);
}

/// Commands that open the map twice do not take their own patch for the work of another program.
#[test]
fn a_patch_of_a_map_that_is_opened_twice_is_ours() {
    let room = Room::new();
    room.write("light.bin", &vec![7; 400_000]);
    room.bspkit("pak add source.bsp materials/maps/source/wall.vmt=light.bin -o large.bsp").done();
    let run = room.bspkit("rename large.bsp attic --old source --in-place=patch").done();
    assert!(run.err.contains("1 file renamed"), "{}", run.err);
    let run = room.bspkit("rename large.bsp cellar --in-place=patch").done();
    assert!(run.err.contains("1 file renamed"), "{}", run.err);
    assert!(room.bspkit("pak list large.bsp").done().text().contains("maps/cellar/wall.vmt"));
    assert_eq!(room.bspkit("verify large.bsp").code, Some(0));
    room.bspkit("load q2.bsp lighting light.bin -o wide.bsp --force").done();
    room.bspkit("model copy wide.bsp *1 --from wide.bsp --in-place=patch").done();
    assert_eq!(room.bspkit("verify wide.bsp").code, Some(0));
}

/// Two sectors of the directory cannot be written at once.
#[test]
fn a_patch_that_is_not_possible_is_said() {
    let room = Room::new();
    room.write("v20.bsp", &fixture("source/room_v20"));
    let edit = ["set", "v20.bsp", "planes[0..20].distance=9", "leafmindisttowater[0].distance=7", "--force"];
    let planned = room.run(&[&edit[..], &["--in-place=patch", "--dry-run", "--json"]].concat()).done().json();
    assert!(planned["warnings"][0].as_str().unwrap().starts_with("the file would be written as a whole"), "{planned}");
    let run = room.run(&[&edit[..], &["--in-place=patch"]].concat()).done();
    let why = "v20.bsp: the file was written as a whole: bytes of the old map in more than one sector";
    assert!(run.err.contains(why), "{}", run.err);
    assert_eq!(room.bspkit("get v20.bsp leafmindisttowater[0].distance").done().text(), "7\n");
}

#[test]
fn a_damaged_map_is_saved_by_force_only() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    let damaged = with_word(map, 1, 0, 1 << 30);
    room.write("q3.bsp", &damaged);
    let names = room.names();
    let run = room.run(&[&EDIT[..4], &["message=x", "-o", "out.bsp"]].concat()).without_data(2);
    assert!(run.err.contains("hint: use --force"), "{}", run.err);
    let run = room.run(&[&EDIT[..4], &["message=x", "--dry-run"]].concat());
    assert!(run.code == Some(1) && run.err.contains("saving needs --force"), "{}", run.err);
    let run = room.run(&[&EDIT[..4], &["message=x", "--dry-run", "--json"]].concat());
    assert!(
        run.code == Some(1) && run.json()["warnings"].to_string().contains("saving needs --force"),
        "{}",
        run.text()
    );
    assert_eq!(room.names(), names);
    room.run(&[&EDIT[..4], &["message=x", "-o", "out.bsp", "--force"]].concat()).done();
    // A copy is no edit.
    let same = room.bspkit("ent get q3.bsp worldspawn message").done().text().trim_end().to_owned();
    room.run(&[&EDIT[..4], &[&format!("message={same}"), "-o", "same.bsp"]].concat()).done();
    assert_eq!(room.read("same.bsp"), damaged);
}

#[test]
fn an_aas_beside_the_map_is_a_warning() {
    let room = Room::new();
    let words = "holds a checksum of the whole map";
    let edit = |map: &str, out: &str| room.run(&["ent", "set", map, "worldspawn", "message=x", "-o", out]).done().err;
    assert!(!edit("q3.bsp", "out.bsp").contains(words));
    room.write("q3.aas", b"");
    assert!(edit("q3.bsp", "out.bsp").contains(" holds a checksum of the whole map"));
    fs::rename(room.path("q3.aas"), room.path("out.aas")).unwrap();
    assert!(edit("q3.bsp", "out.bsp").contains("warning: out.aas holds"));
    assert!(!edit("q2.bsp", "out.bsp").contains(words), "Quake II has none");
    let same = room.bspkit("ent set q3.bsp worldspawn music=music/none.wav -o out.bsp").done();
    assert!(!same.err.contains(words), "nothing changed");
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_links_are_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let room = Room::new();
    let mode = |name: &str| fs::metadata(room.path(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(room.path("q3.bsp"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(room.path("links")).unwrap();
    symlink("../q3.bsp", room.path("links/link.bsp")).unwrap();
    let run = room.run(&["ent", "set", "q3.bsp", "worldspawn", "message=x", "-o", "links/link.bsp"]).without_data(2);
    assert!(run.err.contains("is the input map"), "{}", run.err);
    room.run(&["ent", "set", "links/link.bsp", "worldspawn", "message=x", "--in-place"]).done();
    assert!(room.path("links/link.bsp").is_symlink());
    assert_eq!(mode("q3.bsp"), 0o640);
    assert_eq!(room.bspkit("ent get q3.bsp worldspawn message").done().text(), "x\n");

    // One map under two names is edited once.
    fs::create_dir(room.path("both")).unwrap();
    fs::rename(room.path("q3.bsp"), room.path("both/q3.bsp")).unwrap();
    symlink("q3.bsp", room.path("both/again.bsp")).unwrap();
    symlink(".", room.path("both/loop")).unwrap();
    let count = || room.bspkit("ent list both/q3.bsp own_new").out.iter().filter(|byte| **byte == b'{').count();
    room.bspkit("ent add both classname=own_new --in-place").done();
    assert_eq!(count(), 1);
}

/// Windows takes such a name for a device, a stream, or the name of another file.
#[cfg(windows)]
#[test]
fn names_that_windows_does_not_allow_are_refused_in_words() {
    let room = Room::new();
    let names = room.names();
    let refused = |arguments: &[&str]| {
        let run = room.run(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.err);
        assert!(run.err.contains("its name ") && run.err.contains("hint: choose another name"), "{}", run.err);
    };
    for name in ["NUL", "con", "aux.txt", "com1.bsp", "out/nul.bsp", "out.bsp.", "out.bsp ", "out.bsp:a", "a?.bsp"] {
        refused(&[&EDIT[..], &["-o", name]].concat());
        refused(&["ent", "export", "q3.bsp", "-o", name]);
        refused(&["ent", "diff", "q3.bsp", "q2.bsp", "-o", name]);
        refused(&["diff", "q3.bsp", "q3.bsp", "--html", name]);
        refused(&["ci", "q3.bsp", "--format", "sarif", "-o", name]);
    }
    for name in ["NUL", "con", "out/lpt1", "out:a"] {
        refused(&["unpack", "q3.bsp", "-o", name]);
        refused(&["light", "export", "q3.bsp", "-o", name]);
        refused(&["man", name]);
        refused(&["compress", "q3.bsp", "q2.bsp", "-o", name]);
    }
    assert_eq!(room.names(), names);
}

/// Each save with a backup is taken back, the last one first, to the byte; a map that cannot be read as well.
#[test]
fn undo_takes_back_what_was_saved() {
    let room = Room::empty();
    let old = fixture("q2/own_rooms");
    room.write("maps/a.bsp", &old);
    room.write("maps/b.bsp", &fixture("q3/own_rooms"));
    room.bspkit("ent set maps/a.bsp worldspawn message=One --in-place --backup -q").done();
    let one = room.read("maps/a.bsp");
    room.bspkit("ent set maps/a.bsp worldspawn message=Two --in-place --backup -q").done();
    room.write("maps/a.bsp", b"no map");
    assert_eq!(room.bspkit("backups list maps/a.bsp").done().text().lines().count(), 2);
    let listed = room.bspkit("backups list maps/a.bsp --json").done().json();
    assert_eq!(listed["backups"][0]["byte_count"], old.len());
    assert!(listed["backups"][1]["file"].as_str().is_some_and(|file| file.ends_with("a.bsp.bak.1")), "{listed}");
    let names = room.names();
    let run = room.bspkit("undo maps --dry-run");
    assert!(run.text().contains("would be again as in") && run.text().contains("cannot be read"), "{run:?}");
    assert!(run.err.contains("b.bsp: it has no backup"), "{run:?}");
    assert_eq!(room.names(), names);
    let run = room.bspkit("undo maps/a.bsp").done();
    assert!(run.text().contains("maps/a.bsp is again as in maps/a.bsp.bak.1"), "{run:?}");
    assert_eq!(room.read("maps/a.bsp"), one);
    let run = room.bspkit("undo maps/a.bsp --json").done().json();
    assert_eq!((&run["taken_back"], &run["touched"]["values"]), (&true.into(), &1.into()), "{run}");
    assert!(run["report"].as_str().is_some_and(|report| report.contains("1 entity, 1 value")), "{run}");
    assert_eq!(room.read("maps/a.bsp"), old);
    room.bspkit("undo maps/a.bsp").without_data(1);
    assert_eq!(room.names().len(), 3);
}

#[test]
fn the_oldest_backups_are_removed() {
    let room = Room::empty();
    room.write("a.bsp", &fixture("q2/own_rooms"));
    for number in 0..4 {
        room.bspkit(&format!("ent set a.bsp worldspawn message={number} --in-place --backup -q")).done();
    }
    let newest = room.read("a.bsp.bak.3");
    let run = room.bspkit("backups prune a.bsp --keep 1 --dry-run").done();
    assert!(run.text().contains("3 backups would be removed"), "{run:?}");
    room.bspkit("backups prune a.bsp --keep 1").done();
    assert_eq!(room.read("a.bsp.bak"), newest);
    assert!(!room.path("a.bsp.bak.1").exists());
    room.bspkit("backups prune a.bsp --keep 1").without_data(1);
    // What is missing in between is no reason to refuse: the highest number is the newest backup.
    room.write("a.bsp.bak.2", &fixture("q2/own_box"));
    let run = room.bspkit("undo a.bsp --force").done();
    assert!(run.text().contains("again as in a.bsp.bak.2"), "{run:?}");
    room.bspkit("undo --suffix .old a.bsp").without_data(1);
    std::fs::remove_file(room.path("a.bsp")).unwrap();
    for command in ["undo", "backups list"] {
        let run = room.bspkit(&format!("{command} a.bsp")).without_data(2);
        assert!(run.err.contains("a backup is there: a.bsp.bak; rename it"), "{}", run.err);
    }
}

/// A backup that is no whole map of the same game does not take the place of the map in silence.
#[test]
fn undo_refuses_what_is_no_backup_of_the_map() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    room.write("a.bsp", &map);
    for (backup, said) in [
        (&b"hello"[..], "cannot open a.bsp.bak"),
        (&b""[..], "cannot open a.bsp.bak"),
        (&map[..200], "a.bsp.bak is damaged"),
        (&fixture("q3/own_rooms")[..], "is a map of Quake III"),
    ] {
        room.write("a.bsp.bak", backup);
        let run = room.bspkit("undo a.bsp").without_data(2);
        assert!(run.err.contains(said) && !run.err.contains("save it anyway"), "{}", run.err);
        assert_eq!((&room.read("a.bsp"), &room.read("a.bsp.bak")[..]), (&map, backup));
    }
    room.bspkit("undo a.bsp --force").done();
    assert_eq!(room.read("a.bsp"), fixture("q3/own_rooms"));
    room.write("a.bsp", b"no map");
    room.write("a.bsp.bak", &map[..200]);
    room.bspkit("undo a.bsp").without_data(2);
    assert!(
        room.bspkit("ent set a.bsp worldspawn x=1 --in-place --backup=.bak.1").without_data(2).err.contains("second")
    );
}
