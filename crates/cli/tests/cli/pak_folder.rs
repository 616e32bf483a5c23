//! Embedded files by the folder: moves, times, orders, `pak sync`, `pak diff`.

use std::process::Command;

use serde_json::json;

use super::room::Room;

const FILES: [(&str, &str); 6] = [
    ("content/materials/maps/old/a.vmt", "\"VMT\" {}"),
    ("content/materials/maps/old/b.vmt", "\"VMT\" { }"),
    ("content/materials/maps/old/sky/up.vtf", "pixels of the sky"),
    ("content/sound/hit.wav", "RIFF"),
    ("content/cfg/map.cfg", "sv_gravity 800"),
    ("content/readme.txt", "text text text text text text text text text text text text"),
];

/// A room with a map that has files, some of them compressed and with times.
fn room() -> Room {
    let room = Room::new();
    FILES.iter().for_each(|(name, text)| room.write(name, text.as_bytes()));
    room.bspkit("pak add source.bsp content -o 1.bsp -q").without_data(0);
    room.bspkit("pak compress 1.bsp -o 2.bsp -q");
    room.bspkit("pak set-time 2.bsp 2013-06-20T12:34:56 *.vmt -o map.bsp -q").without_data(0);
    room
}

fn files(room: &Room, map: &str) -> Vec<serde_json::Value> {
    room.bspkit(&format!("pak list {map} --json")).done().json()["files"].as_array().unwrap().clone()
}

fn names(room: &Room, map: &str) -> Vec<String> {
    files(room, map).iter().map(|file| file["name"].as_str().unwrap().to_owned()).collect()
}

/// What Python's zipfile reads of each file: name, time, method, CRC, and the bytes of its local record.
const PYTHON: &str = "
import sys, zipfile, json
data = open(sys.argv[1], 'rb').read()
with zipfile.ZipFile(sys.argv[1]) as zip:
    out = []
    for info in zip.infolist():
        at = info.header_offset
        extra = sum(int.from_bytes(data[at + n:at + n + 2], 'little') for n in (26, 28))
        record = data[at:at + 30 + extra + info.compress_size]
        out.append([info.filename, info.date_time, info.compress_type, info.CRC, record.hex()])
    print(json.dumps(out))
";

/// The files of a map as Python reads them; `None` where there is no Python.
fn as_python(room: &Room, map: &str) -> Option<Vec<serde_json::Value>> {
    let zip = room.path("python.zip");
    std::fs::write(&zip, room.bspkit(&format!("cat {map} pakfile")).done().out).unwrap();
    match Command::new("python3").args(["-c", PYTHON]).arg(&zip).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(serde_json::from_slice(&output.stdout).unwrap())
        }
        Err(error) => {
            assert!(std::env::var_os("BSPKIT_REQUIRE_READERS").is_none(), "{error}");
            None
        }
    }
}

#[test]
fn many_files_move_in_one_save() {
    let room = room();
    let line = "pak mv map.bsp materials/maps/old/** materials/maps/new/** *.txt *.md -o out.bsp";
    let run = room.bspkit(line).without_data(0);
    assert!(run.err.contains("map.bsp: 4 files renamed"), "{}", run.err);
    let moved: Vec<String> =
        names(&room, "map.bsp").into_iter().map(|name| name.replace("/old/", "/new/").replace(".txt", ".md")).collect();
    assert_eq!(names(&room, "out.bsp"), moved);
    if let (Some(old), Some(new)) = (as_python(&room, "map.bsp"), as_python(&room, "out.bsp")) {
        for (old, new) in old.iter().zip(&new) {
            assert_eq!([1, 2, 3].map(|at| &old[at]), [1, 2, 3].map(|at| &new[at]), "time, method and CRC");
            assert_eq!(old[4] == new[4], old[0] == new[0], "{new}");
        }
    }
    // Back again: the same file.
    room.bspkit("pak mv out.bsp materials/maps/new/** materials/maps/old/** *.md *.txt --in-place -q").without_data(0);
    assert_eq!(room.read("out.bsp"), room.read("map.bsp"));

    let run = room.bspkit("pak mv map.bsp materials/maps/old/* x/* --dry-run");
    for line in ["  PAKFILE: materials/maps/old/a.vmt -> x/a.vmt, 8 bytes\n", "materials/maps/old/b.vmt -> x/b.vmt"] {
        assert!(run.text().contains(line), "{}", run.text());
    }
    let before = room.names();
    let run = room.bspkit("pak mv map.bsp *.vmt cfg/map.cfg -o no.bsp").without_data(2);
    assert!(run.err.contains("2 new names are in use"), "{}", run.err);
    assert!(
        run.err.contains("hint: `cfg/map.cfg` for `materials/maps/old/a.vmt`: file #0, `cfg/map.cfg`"),
        "{}",
        run.err
    );
    for (line, code) in [
        ("pak mv map.bsp a b c -o no.bsp", 2),
        ("pak mv map.bsp *.vmt */* -o no.bsp", 2),
        ("pak mv map.bsp *.nope x nope y -o no.bsp", 1),
    ] {
        room.bspkit(line).without_data(code);
        assert_eq!(room.names(), before, "{line}");
    }
    let run = room.bspkit("pak mv map.bsp *.nope x readme.txt README.txt -o out.bsp").without_data(0);
    assert!(run.err.contains("warning: map.bsp: nothing matches *.nope"), "{}", run.err);
}

#[test]
fn differences_are_listed_with_the_exit_status_of_diff() {
    let room = room();
    let same = room.bspkit("pak diff map.bsp map.bsp").without_data(0);
    assert!(same.err.contains("no file differs"), "{}", same.err);
    room.write("new.txt", b"new");
    room.bspkit("pak mv map.bsp sound/hit.wav sound/hurt.wav -o 3.bsp -q").without_data(0);
    room.bspkit("pak add 3.bsp new.txt=new.txt cfg/map.cfg=new.txt -o 4.bsp -q").without_data(0);
    room.bspkit("pak rm 4.bsp *.vtf -o other.bsp -q").without_data(0);
    let run = room.bspkit("pak diff map.bsp other.bsp");
    assert_eq!(run.code, Some(1));
    assert_eq!(
        run.text().lines().collect::<Vec<_>>(),
        [
            "PAKFILE: cfg/map.cfg changed, 14 -> 3 bytes",
            "PAKFILE: sound/hit.wav -> sound/hurt.wav, 4 bytes",
            "PAKFILE: new.txt added, 3 bytes",
            "PAKFILE: materials/maps/old/sky/up.vtf removed, 17 bytes",
        ]
    );
    let json = room.bspkit("pak diff map.bsp other.bsp --json").json();
    assert_eq!((&json["same"], &json["touched"]["files"]), (&json!(false), &json!(4)));
    assert_eq!(json["changes"][1]["from"], "sound/hit.wav");
    // Another way to store a file, and another time, are not other content.
    let times = room.bspkit("pak diff 2.bsp map.bsp");
    assert_eq!((times.code, times.text().matches("a.vmt rewritten with the same content").count()), (Some(1), 1));
    let stored = room.bspkit("pak diff 1.bsp map.bsp");
    assert!(stored.text().contains("readme.txt rewritten with the same content"), "{}", stored.text());
    room.bspkit("pak diff map.bsp q3.bsp").without_data(2);
    room.bspkit("pak diff map.bsp none.bsp").without_data(2);
}

#[test]
fn times_are_set_by_pattern_and_like_another_file() {
    let room = room();
    let times = |map: &str| -> Vec<String> {
        files(&room, map).iter().map(|file| file["time"].as_str().unwrap().to_owned()).collect()
    };
    let time = "2013-06-20T12:34:56";
    assert_eq!(times("map.bsp"), ["none", time, time, "none", "none", "none"]);
    room.bspkit("pak set-time map.bsp none -o none.bsp -q").without_data(0);
    assert_eq!(room.read("none.bsp"), room.read("2.bsp"));
    room.bspkit("pak set-time map.bsp like:materials/maps/old/A.VMT #0 *.wav -o out.bsp -q").without_data(0);
    assert_eq!(times("out.bsp"), [time, time, time, "none", "none", time]);
    room.bspkit("pak set-time map.bsp @1371731697 cfg/** -o out.bsp -q").without_data(0);
    assert_eq!(times("out.bsp"), [time, time, time, "none", "none", "none"]);
    let run = room.bspkit("pak set-time map.bsp none --dry-run");
    assert!(
        run.text().contains("  materials/maps/old/a.vmt: 2013-06-20T12:34:56 -> none, 8 bytes\n"),
        "{}",
        run.text()
    );
    if let (Some(old), Some(new)) = (as_python(&room, "map.bsp"), as_python(&room, "out.bsp")) {
        assert_eq!(new[0][1], json!([2013, 6, 20, 12, 34, 56]));
        assert_eq!(old[1..], new[1..]);
    }
    for (line, code) in [
        ("pak set-time map.bsp yesterday -o no.bsp", 2),
        ("pak set-time map.bsp @0 -o no.bsp", 2),
        ("pak set-time map.bsp @x -o no.bsp", 2),
        ("pak set-time map.bsp like:nothing -o no.bsp", 2),
        ("pak set-time map.bsp none *.nope -o no.bsp", 1),
    ] {
        room.bspkit(line).without_data(code);
        assert!(!room.path("no.bsp").exists());
    }
}

#[test]
fn an_order_moves_whole_files() {
    let room = room();
    for (order, first, last) in [
        ("name", "cfg/map.cfg", "sound/hit.wav"),
        ("type", "cfg/map.cfg", "sound/hit.wav"),
        ("size", "sound/hit.wav", "readme.txt"),
    ] {
        room.bspkit(&format!("pak sort map.bsp {order} -o out.bsp -q")).without_data(0);
        let names = names(&room, "out.bsp");
        assert_eq!((names[0].as_str(), names[5].as_str()), (first, last), "{order}");
        room.bspkit("pak verify out.bsp").done();
        let moved = room.bspkit("pak diff map.bsp out.bsp");
        assert!(moved.text().lines().all(|line| line.contains(" in the list to ")), "{}", moved.text());
        if let (Some(mut old), Some(mut new)) = (as_python(&room, "map.bsp"), as_python(&room, "out.bsp")) {
            old.sort_by_key(ToString::to_string);
            new.sort_by_key(ToString::to_string);
            assert_eq!(old, new);
        }
        let run = room.bspkit(&format!("pak sort out.bsp {order} --in-place")).without_data(0);
        assert!(run.err.contains("nothing changes"), "{}", run.err);
    }
    room.bspkit("pak sort map.bsp speed -o no.bsp").without_data(2);
}

#[test]
fn the_folder_of_extract_changes_nothing() {
    let room = room();
    room.bspkit("pak extract map.bsp -o files -q").without_data(0);
    let run = room.bspkit("pak sync map.bsp files -o out.bsp").without_data(0);
    assert!(run.err.contains("0 added, 0 changed, 0 removed, 6 as they were"), "{}", run.err);
    assert_eq!(room.read("out.bsp"), room.read("map.bsp"));
    // Without files there is nothing either way.
    room.bspkit("pak extract source.bsp -o none -q").without_data(0);
    room.bspkit("pak sync source.bsp none -o out.bsp -q").without_data(0);
    assert_eq!(room.read("out.bsp"), room.read("source.bsp"));
}

#[test]
fn one_edit_in_the_folder_changes_one_file() {
    let room = room();
    room.bspkit("pak extract map.bsp -o files -q").without_data(0);
    room.write("files/materials/maps/old/b.vmt", b"\"Other\" {}");
    let run = room.bspkit("pak sync map.bsp files --dry-run");
    assert!(run.text().contains("  PAKFILE: materials/maps/old/b.vmt changed, 9 -> 10 bytes\n"), "{}", run.text());
    room.bspkit("pak sync map.bsp files -o out.bsp -q").without_data(0);
    assert_eq!(names(&room, "out.bsp"), names(&room, "map.bsp"));
    if let (Some(old), Some(new)) = (as_python(&room, "map.bsp"), as_python(&room, "out.bsp")) {
        let other: Vec<&str> =
            old.iter().zip(&new).filter(|(old, new)| old != new).map(|(old, _)| old[0].as_str().unwrap()).collect();
        assert_eq!(other, ["materials/maps/old/b.vmt"]);
    }
    // Files that are gone and new: the others stay.
    std::fs::remove_file(room.path("files/sound/hit.wav")).unwrap();
    room.write("files/Scripts\u{20}x/NEW.txt", b"new");
    room.write("files/.DS_Store", b"x");
    room.write("files/__MACOSX/materials/._a.vmt", b"x");
    room.write("files/.git/config", b"x");
    let run = room.bspkit("pak sync map.bsp files -o out.bsp").without_data(0);
    assert!(run.err.contains("note: `.DS_Store` (and 2 others) is left out"), "{}", run.err);
    assert!(run.err.contains("note: `Scripts x/NEW.txt` is stored in lower case"), "{}", run.err);
    assert!(run.err.contains("1 added, 1 changed, 1 removed, 4 as they were"), "{}", run.err);
    let mut expected = names(&room, "map.bsp");
    expected.retain(|name| name != "sound/hit.wav");
    expected.push("scripts x/new.txt".to_owned());
    assert_eq!(names(&room, "out.bsp"), expected);
    room.bspkit("pak sync map.bsp files --as-is -o out.bsp -q").without_data(0);
    assert!(names(&room, "out.bsp").contains(&"Scripts x/NEW.txt".to_owned()));
    assert!(names(&room, "out.bsp").contains(&".git/config".to_owned()));
    // What is embedded already and cannot be in a folder stays.
    let run = room.bspkit("pak extract out.bsp -o again").without_data(2);
    assert!(
        run.err.contains("cannot extract .git/config") && run.err.contains("6 files, 3 not written"),
        "{}",
        run.err
    );
    room.bspkit("pak sync out.bsp again -o same.bsp -q").without_data(0);
    assert_eq!(room.read("same.bsp"), room.read("out.bsp"));
}

#[test]
fn folders_that_cannot_be_pakfiles_are_refused() {
    let room = room();
    std::fs::create_dir(room.path("empty")).unwrap();
    let before = room.names();
    for (line, said) in [
        ("pak sync map.bsp empty -o no.bsp", "there is no file in empty"),
        ("pak sync map.bsp nothing -o no.bsp", "cannot read nothing"),
        ("pak sync q3.bsp content -o no.bsp", "have no pakfile"),
    ] {
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains(said), "{line}: {}", run.err);
        assert_eq!(room.names(), before, "{line}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(room.path("source.bsp"), room.path("content/link.txt")).unwrap();
        for line in ["pak sync map.bsp content -o no.bsp", "pak add map.bsp content -o no.bsp"] {
            let run = room.bspkit(line).without_data(2);
            assert!(run.err.contains("content/link.txt is a symbolic link, which is not followed"), "{}", run.err);
        }
        std::fs::remove_file(room.path("content/link.txt")).unwrap();
        if !room.path("content/README.TXT").exists() {
            room.write("content/README.TXT", b"x");
            let run = room.bspkit("pak sync map.bsp content -o no.bsp").without_data(2);
            assert!(run.err.contains("have the same name for engines"), "{}", run.err);
        }
    }
}

/// A file is no folder, and a folder with nothing to embed does not mean that all files go.
#[test]
fn nothing_is_removed_without_a_folder_of_files() {
    let room = room();
    let old = room.read("map.bsp");
    room.write("list.txt", b"a list");
    room.write("only/.DS_Store", b"x");
    std::fs::create_dir(room.path("empty")).unwrap();
    for (folder, what) in [("list.txt", "is not a folder"), ("only", "there is no file"), ("empty", "there is no file")]
    {
        let run = room.bspkit(&format!("pak sync map.bsp {folder} --in-place")).without_data(2);
        assert!(run.err.contains(what), "{}", run.err);
        assert!(room.read("map.bsp") == old, "{folder}");
    }
}

/// What cannot be in a folder stays, also where there is nothing else; what can be is not removed by an empty folder.
#[test]
fn an_empty_folder_takes_nothing_that_cannot_be_in_it() {
    let room = Room::new();
    room.write("a.txt", b"text");
    room.bspkit("pak add source.bsp .git/config=a.txt -o odd.bsp -q").done();
    room.bspkit("pak add source.bsp a.txt=a.txt -o full.bsp -q").done();
    std::fs::create_dir(room.path("empty")).unwrap();
    room.bspkit("pak sync odd.bsp empty -o 2.bsp").done();
    assert_eq!(room.bspkit("pak list 2.bsp --json").done().json()["files"].as_array().unwrap().len(), 1);
    room.bspkit("pak sync full.bsp empty -o 3.bsp").without_data(2);
}
