//! Where commands write: `-` is stdout everywhere or refused, other files than maps, and stdin once.

use std::fs;

use super::room::{Room, fixture};

#[test]
fn a_dash_is_stdout_for_every_text() {
    let room = Room::new();
    room.write("clean.cfg", b"filter:\n{\n\"classname\" \"light\"\n}\n");
    room.bspkit("ent set q2.bsp worldspawn message=x -o ours.bsp").done();
    room.bspkit("ent set q2.bsp light light=9 -o theirs.bsp").done();
    let before = room.names();
    for (line, code) in [
        ("cat q2.bsp entities", 0),
        ("ent export q2.bsp", 0),
        ("ent diff q2.bsp ours.bsp", 1),
        ("rules convert clean.cfg --to patch", 0),
        ("ci q2.bsp --format json", 0),
        ("ci q2.bsp --init", 0),
        ("git merge q2.bsp ours.bsp theirs.bsp", 0),
    ] {
        let run = room.bspkit(&format!("{line} -o -"));
        assert!(run.code == Some(code) && !run.out.is_empty(), "{line}: {run:?}");
        assert_eq!(room.names(), before, "{line}");
    }
    // What is read from there is the merged map.
    let merged = room.shell("bspkit git merge q2.bsp ours.bsp theirs.bsp -o - | bspkit ent get - worldspawn message");
    assert_eq!(merged.done().text().trim(), "x");
}

#[test]
fn a_dash_is_refused_where_files_are_written() {
    let room = Room::new();
    let before = room.names();
    for line in [
        "tex export q1.bsp -o -",
        "lmp export source.bsp entities -o -",
        "man -o -",
        "light export q1.bsp -o -",
        "pak extract source.bsp -o -",
        "unpack q1.bsp -o -",
        "diff q1.bsp q2.bsp --html -",
        "tex strip goldsrc.bsp --wad - -o out.bsp",
        "ci q1.bsp --baseline - --write-baseline",
    ] {
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains("`-` is stdin or stdout"), "{line}: {}", run.err);
        assert_eq!(room.names(), before, "{line}");
    }
    // A folder of this name changes nothing.
    fs::create_dir(room.path("-")).unwrap();
    let run = room.bspkit("ent set q2.bsp worldspawn message=x -o -").done();
    assert!(!run.out.is_empty());
    assert!(!room.path("-/q2.bsp").exists());
    let run = room.bspkit("ent set q2.bsp worldspawn message=x -o - --backup").without_data(2);
    assert!(run.err.contains("--backup"), "{}", run.err);
}

/// A hint names only options that the command has.
#[test]
fn a_read_only_file_stays() {
    let room = Room::new();
    room.bspkit("vis export q2.bsp -o vis.png").done();
    for (name, line) in [
        ("a.txt", "ent export q2.bsp -o a.txt"),
        ("b.txt", "cat q2.bsp entities -o b.txt"),
        ("c.json", "ent diff q2.bsp q3.bsp -o c.json"),
        ("d.json", "ci q2.bsp --format json -o d.json"),
        ("e.html", "diff q2.bsp q3.bsp --html e.html"),
        ("f.map", "decompile q2.bsp -o f.map --overwrite"),
        ("g.png", "vis export q2.bsp -o g.png --overwrite"),
        ("h.wad", "tex export goldsrc.bsp -o h.wad --overwrite"),
    ] {
        room.write(name, b"old");
        let path = room.path(name);
        let mut rights = fs::metadata(&path).unwrap().permissions();
        rights.set_readonly(true);
        fs::set_permissions(&path, rights).unwrap();
        let run = room.bspkit(line);
        assert!(run.code == Some(2) && run.err.contains("is read-only"), "{line}: {run:?}");
        assert!(run.err.contains("make it writable") && !run.err.contains("--force"), "{line}: {}", run.err);
        assert_eq!(room.read(name), b"old", "{line}");
    }
}

#[test]
fn stdin_is_read_once() {
    let room = Room::new();
    for line in [
        "info - -",
        "ent import - - -o x.bsp",
        "records insert - planes[0] - -o x.bsp",
        "model copy - *1 --from - -o x.bsp",
    ] {
        let run =
            room.shell(&format!("bspkit {} <q2.bsp", line.replace("planes[0]", "'planes[0]'").replace("*1", "'*1'")));
        let is_refused = run.err.contains("only one file can be read from stdin");
        assert!(is_refused && run.code.is_some_and(|code| code > 0), "{line}: {run:?}");
    }
    assert!(!room.path("x.bsp").exists());
}

#[test]
fn undo_says_in_json_that_there_is_no_backup() {
    let room = Room::empty();
    room.write("a.bsp", &fixture("q2/own_rooms"));
    let run = room.bspkit("undo a.bsp --json");
    assert_eq!(run.code, Some(1));
    let document = run.json();
    assert!(document["backup"].is_null() && document["taken_back"] == false, "{document}");
}

#[test]
fn a_wrong_game_of_flags_is_refused_for_maps_too() {
    let room = Room::new();
    room.bspkit("tex list goldsrc.bsp --flag-names quake2").done();
    room.bspkit("tex list goldsrc.bsp --flag-names foo").without_data(2);
}

/// The stem of `...bsp` is `..`: what belongs to the map stays in the folder that is named.
#[test]
fn a_map_of_dots_has_a_folder_of_its_own() {
    let room = Room::empty();
    for name in ["in/...bsp", "in/..bsp", "in/a.bsp"] {
        room.write(name, &fixture("goldsrc/own_rooms"));
    }
    for line in ["unpack in -o made/out", "tex export in -o made/out", "light export in -o made/out"] {
        room.bspkit(line).done();
        let beside: Vec<_> = fs::read_dir(room.path("made")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(beside, ["out"], "{line}");
        let mut inside: Vec<_> =
            fs::read_dir(room.path("made/out")).unwrap().map(|it| it.unwrap().file_name()).collect();
        inside.sort();
        assert_eq!(inside.len(), 3, "{line}: {inside:?}");
        fs::remove_dir_all(room.path("made")).unwrap();
    }
}

/// `foo.bsp` and `foo/x.bsp`: neither has its files in the folder of the other.
#[test]
fn a_map_and_a_folder_of_its_name_are_apart() {
    let room = Room::empty();
    let maps =
        [("in/foo.bsp", "goldsrc/own_rooms"), ("in/foo/original.bsp", "q2/own_rooms"), ("in/Bar.bsp", "q3/own_rooms")];
    maps.iter().for_each(|(name, map)| room.write(name, &fixture(map)));
    room.bspkit("unpack in -o out").done();
    room.bspkit("pack out -o again").done();
    for (name, map) in maps {
        assert!(room.read(name.replace("in/", "again/")) == fixture(map), "{name}");
    }
    // A folder with other files is that of the map.
    room.write("beside/own.bsp", &room.read("in/foo.bsp"));
    room.bspkit("unpack beside -o beside").done();
    room.bspkit("unpack beside -o beside --overwrite").done();
    assert!(room.path("beside/own/manifest.json").exists());
}

/// A symbolic link or a device is not replaced by a file.
#[cfg(unix)]
#[test]
fn what_is_no_file_stays() {
    let room = Room::new();
    room.write("real.png", b"old");
    std::os::unix::fs::symlink("real.png", room.path("link.png")).unwrap();
    for force in ["", " --overwrite"] {
        let run = room.bspkit(&format!("vis export q2.bsp -o link.png{force}")).without_data(2);
        assert!(run.err.contains("is a symbolic link"), "{}", run.err);
    }
    assert!(room.path("link.png").is_symlink());
    assert_eq!(room.read("real.png"), b"old");
}
