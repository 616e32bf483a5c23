//! Folders of maps that people edit: right edits are those of other commands, and each wrong one is named.

use std::fs;
use std::path::Path;

use super::room::{Room, Run, fixture};

/// A room with maps, each with its folder.
fn unpacked(maps: &[(&str, &str)]) -> Room {
    let room = Room::empty();
    for (name, map) in maps {
        room.write(format!("{name}.bsp"), &fixture(map));
        room.bspkit(&format!("unpack {name}.bsp -o {name} -q")).done();
    }
    room
}

/// Replaces text in a file of a folder.
fn edit(room: &Room, file: &str, old: &str, new: &str) {
    let text = String::from_utf8(room.read(file)).unwrap();
    assert!(text.contains(old), "{file} has no {old}: {text}");
    room.write(file, text.replacen(old, new, 1).as_bytes());
}

fn files(folder: &Path, below: &str, found: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => files(&path, &format!("{name}/"), found),
            false => found.push((name, fs::read(&path).unwrap())),
        }
    }
}

fn tree(room: &Room, folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    files(&room.path(folder), "", &mut found);
    found
}

/// Packs a folder and makes the same edit by commands; both give the same map, and it is another one.
#[track_caller]
fn same_as(room: &Room, folder: &str, commands: &[&str]) -> Run {
    let run = room.bspkit(&format!("pack {folder} -o packed.bsp --force")).done();
    fs::copy(room.path(format!("{folder}.bsp")), room.path("edited.bsp")).unwrap();
    for command in commands {
        room.bspkit(&format!("{command} --in-place --force")).done();
    }
    assert!(room.read("packed.bsp") == room.read("edited.bsp"), "{commands:?}: {}", run.err);
    assert!(room.read("packed.bsp") != room.read(format!("{folder}.bsp")), "nothing was edited");
    run
}

#[test]
fn edited_text_is_imported() {
    let maps = [("q2", "q2/own_rooms"), ("q3", "q3/own_rooms"), ("source", "source/room_v20")];
    for (name, map) in maps.into_iter().chain([("lzma", "source/room_v20_lzma"), ("l4d2", "source/room_l4d2")]) {
        let room = unpacked(&[(name, map)]);
        let file = format!("{name}/00_ENTITIES.ent");
        edit(&room, &file, "\"classname\"", "\"message\" \"a longer text than before\"\n\"classname\"");
        same_as(&room, name, &[&format!("ent import edited.bsp {file}")]);
        // git and editors on Windows.
        let text = String::from_utf8(room.read(&file)).unwrap();
        room.write(&file, text.replace('\n', "\r\n").as_bytes());
        room.bspkit(&format!("pack {name} -o windows.bsp")).done();
        assert_eq!(room.read("windows.bsp"), room.read("packed.bsp"));
        room.write(&file, b"");
        let run = room.bspkit(&format!("pack {name} --dry-run"));
        assert!(run.code == Some(1) && run.text().contains("ENTITIES.ent"), "{}", run.text());
    }
}

#[test]
fn edited_records_are_loaded() {
    let room = unpacked(&[("q2", "q2/own_rooms_bspx"), ("source", "source/room_v20")]);
    edit(&room, "q2/01_PLANES.jsonl", "\"distance\":", "\"distance\":1");
    same_as(&room, "q2", &["load edited.bsp planes q2/01_PLANES.jsonl"]);
    let rows = String::from_utf8(room.read("q2/01_PLANES.jsonl")).unwrap();
    room.write("q2/01_PLANES.jsonl", rows.lines().take(5).collect::<Vec<_>>().join("\r\n").as_bytes());
    let run = room.bspkit("pack q2 -o no.bsp --force").without_data(2);
    assert!(run.err.contains("the file has 5 records, but PLANES has") && run.err.contains("--resize"), "{}", run.err);
    room.bspkit("pack q2 --resize -o packed.bsp --force").done();
    fs::copy(room.path("q2.bsp"), room.path("edited.bsp")).unwrap();
    let run = room.bspkit("load edited.bsp planes q2/01_PLANES.jsonl --resize --in-place --force").done();
    assert!(room.read("packed.bsp") == room.read("edited.bsp") && run.err.contains("PLANES"), "{}", run.err);
    edit(&room, "source/game-sprp.jsonl", "\"solid\":", "\"solid\":1");
    same_as(&room, "source", &["load edited.bsp game:sprp source/game-sprp.jsonl"]);
}

#[test]
fn files_in_the_folder_pak_are_embedded_files() {
    let room = unpacked(&[("source", "source/room_v20")]);
    room.write("source/pak/materials/own/wall.vmt", b"\"LightmappedGeneric\" {}\n");
    room.write("wall.vmt", b"\"LightmappedGeneric\" {}\n");
    same_as(&room, "source", &["pak add edited.bsp materials/own/wall.vmt=wall.vmt"]);
    fs::remove_file(room.path("source/pak/maps/room_v20.txt")).unwrap();
    let run = same_as(
        &room,
        "source",
        &["pak add edited.bsp materials/own/wall.vmt=wall.vmt", "pak rm edited.bsp maps/room_v20.txt"],
    );
    assert!(run.err.contains("PAKFILE"), "{}", run.err);
    room.write("source/pak/new/file.txt", b"new");
    room.write("new", b"new");
    let commands =
        ["pak rm edited.bsp maps/room_v20.txt", "pak add edited.bsp materials/own/wall.vmt=wall.vmt new/file.txt=new"];
    same_as(&room, "source", &commands);
    let run = room.bspkit("pack source --dry-run --json").done().json();
    let edited = ["pak/maps/room_v20.txt (removed)", "pak/materials/own/wall.vmt", "pak/new/file.txt (added)"];
    assert_eq!(run["edited"], serde_json::json!(edited));

    // Names are those of `pak add`, and files of file managers stay outside.
    room.write("source/pak/new/Upper.TXT", b"new");
    room.write("source/pak/new/Thumbs.db", b"view");
    same_as(&room, "source", &[commands[0], &format!("{} new/upper.txt=new", commands[1])]);
    let run = room.bspkit("pack source --dry-run --json").done().json();
    let left = "pak/new/Thumbs.db (left out: file managers create it)";
    let upper = "pak/new/Upper.TXT (added as new/upper.txt)";
    assert_eq!(run["edited"], serde_json::json!([edited[0], edited[1], left, upper, edited[2]]));
}

#[test]
fn edited_images_are_imported() {
    let room = unpacked(&[("q2", "q2/own_rooms"), ("goldsrc", "goldsrc/own_rooms"), ("q3", "q3/own_rooms")]);
    for map in ["q2", "goldsrc", "q3"] {
        let copy = |from: &str, to: &str| fs::copy(room.path(from), room.path(to)).unwrap();
        // Another map's image of the same size is the edit.
        room.bspkit(&format!("light adjust {map}.bsp --gain 0.5 -o dark.bsp")).done();
        room.bspkit("unpack dark.bsp -o dark --overwrite -q").done();
        let light = tree(&room, "dark/light").into_iter().filter(|(name, _)| name != "light.json");
        for (name, bytes) in light {
            room.write(format!("{map}/light/{name}"), &bytes);
        }
        same_as(&room, map, &[&format!("light import edited.bsp {map}/light")]);
        room.bspkit(&format!("unpack {map}.bsp -o {map} --overwrite -q")).done();
        room.bspkit(&format!("vis fill {map}.bsp -o seen.bsp")).done();
        if room.read("seen.bsp") != room.read(format!("{map}.bsp")) {
            room.bspkit("vis export seen.bsp -o seen.png --overwrite").done();
            copy("seen.png", &format!("{map}/visibility/pvs.png"));
            same_as(&room, map, &["vis import edited.bsp seen.png"]);
        }
    }
    room.bspkit("unpack goldsrc.bsp -o goldsrc --overwrite -q").done();
    fs::copy(room.path("goldsrc/textures/OWN_FLOOR.png"), room.path("goldsrc/textures/OWN_WALL.png")).unwrap();
    same_as(&room, "goldsrc", &["tex import edited.bsp goldsrc/textures/OWN_WALL.png"]);
}

/// What git, an editor and another file system do to a folder without an edit.
#[test]
fn a_folder_survives_windows() {
    for map in ["q1/own_rooms", "q2/own_rooms_bspx", "q3/own_rooms", "goldsrc/own_rooms", "source/room_v20_lzma"] {
        let room = unpacked(&[("map", map)]);
        room.bspkit("unpack map.bsp -o again -q").done();
        assert!(tree(&room, "map") == tree(&room, "again"), "two unpacks differ");
        for (name, bytes) in tree(&room, "map") {
            let is_text = [".ent", ".jsonl", ".json"].iter().any(|end| name.ends_with(end));
            if is_text {
                let text = String::from_utf8(bytes).unwrap().replace('\n', "\r\n");
                room.write(format!("map/{name}"), text.as_bytes());
            }
            let upper = name.to_uppercase();
            if name.starts_with("01_PLANES") {
                fs::rename(room.path(format!("map/{name}")), room.path(format!("map/{upper}"))).unwrap();
            }
        }
        room.bspkit("pack map -o same.bsp").done();
        assert_eq!(room.read("same.bsp"), room.read("map.bsp"), "{map}");
    }
}

/// Names that a file system cannot hold come back; so do files that nobody can read.
#[test]
fn odd_names_of_embedded_files_come_back() {
    let names: [&[u8]; 11] =
        [b"a/b.vmt", b"A/B.VMT", b"a", b"../up", b"/root", b"con", b"c:\\x", b"dot.", b"\xff\n", b".git/x", b"x%20"];
    let mut pak = bspkit::content::pak::Pak::new(b"XZP1 0");
    let stored = |index: usize| format!("file{index:03}").into_bytes();
    for (index, name) in names.iter().enumerate() {
        pak.add(format!("{index:0width$}", width = name.len()), stored(index)).unwrap();
    }
    let mut bytes = pak.to_rope().unwrap().to_data().to_vec();
    // The names are written over, since no edit takes them.
    for (index, name) in names.iter().enumerate() {
        let old = format!("{index:0width$}", width = name.len()).into_bytes();
        let spots: Vec<usize> =
            bytes.windows(old.len()).enumerate().filter(|(_, it)| *it == old).map(|(at, _)| at).collect();
        for at in spots {
            let is_name = |size: usize, mark: &[u8]| at >= size && bytes[at - size..].starts_with(mark);
            if is_name(30, b"PK\x03\x04") || is_name(46, b"PK\x01\x02") {
                bytes[at..at + name.len()].copy_from_slice(name);
            }
        }
    }
    let map = bspkit::Builder::new(&bspkit::dialect::SOURCE).lump(0, "{\n}\n\0").lump(40, bytes).build().unwrap();
    let room = Room::empty();
    room.write("map.bsp", &map);
    room.bspkit("unpack map.bsp -o map").done();
    let inside: Vec<_> = tree(&room, "map/pak").into_iter().map(|(name, _)| name).collect();
    assert_eq!(inside.len(), names.len(), "{inside:?}");
    let plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\:*?\"<>|".contains(&byte));
    assert!(inside.iter().all(plain), "{inside:?}");
    room.bspkit("pack map -o same.bsp").done();
    assert_eq!(room.read("same.bsp"), map);
    // A file with a listed name keeps that name.
    let path = inside.iter().find(|name| name.contains("root")).unwrap();
    room.write(format!("map/pak/{path}"), b"new");
    room.bspkit("pack map -o new.bsp").done();
    let list = room.bspkit("pak list new.bsp").done();
    assert!(list.text().contains("/root"), "{}", list.text());
}

#[test]
fn many_maps_have_a_folder_each() {
    let room = Room::new();
    for name in ["q2.bsp", "q3.bsp", "source.bsp"] {
        room.write(format!("maps/deep/{name}"), &room.read(name));
    }
    room.bspkit("unpack maps -o folders").done();
    room.bspkit("pack folders -o packed").done();
    room.bspkit("pack folders/deep/q2 folders/deep/q3 -o two").done();
    for name in ["q2.bsp", "q3.bsp", "source.bsp"] {
        assert_eq!(room.read(format!("packed/deep/{name}")), room.read(name));
    }
    assert_eq!(room.read("two/q2.bsp"), room.read("q2.bsp"));
    fs::remove_file(room.path("folders/deep/q3/original/map.bin")).unwrap();
    let run = room.bspkit("pack folders -o third");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(room.path("third/deep/q2.bsp").exists() && !room.path("third/deep/q3.bsp").exists());
}

#[test]
fn a_folder_with_files_needs_force() {
    let room = unpacked(&[("q2", "q2/own_rooms")]);
    room.write("q2/notes.txt", b"mine");
    let run = room.bspkit("unpack q2.bsp -o q2").without_data(2);
    assert!(run.err.contains("the folder is not empty") && run.err.contains("--overwrite"), "{}", run.err);
    room.bspkit("unpack q2.bsp -o q2 --overwrite --no-images --format raw").done();
    assert!(room.path("q2/01_PLANES.bin").exists() && !room.path("q2/01_PLANES.jsonl").exists());
    assert!(!room.path("q2/light/light.json").exists());
    assert_eq!(room.read("q2/notes.txt"), b"mine");
    let run = room.bspkit("pack q2 -o no.bsp").without_data(2);
    assert!(run.err.contains("notes.txt: the manifest does not name this file"), "{}", run.err);
    fs::remove_file(room.path("q2/notes.txt")).unwrap();
    room.bspkit("pack q2 -o same.bsp").done();
    assert_eq!(room.read("same.bsp"), room.read("q2.bsp"));
    room.bspkit("unpack q2.bsp -o other --dry-run").done();
    assert!(!room.path("other").exists());
}

/// The name of the file in the folder is another one than that in the map, so that the manifest lists it.
#[test]
fn an_embedded_file_with_an_escaped_name_is_removed_with_its_file() {
    let room = unpacked(&[]);
    room.write("room.bsp", &fixture("source/room_v20"));
    room.write("f", b"text");
    room.bspkit("pak add room.bsp con.txt=f A/con.txt=f -o odd.bsp").done();
    room.bspkit("unpack odd.bsp -o odd").done();
    fs::remove_file(room.path("odd/pak/%63on.txt")).unwrap();
    room.bspkit("pack odd -o new.bsp").done();
    let names = |map: &str| room.bspkit(&format!("pak list {map} --names")).done().text().to_owned();
    let left: Vec<String> = names("odd.bsp").lines().filter(|name| *name != "con.txt").map(str::to_owned).collect();
    assert_eq!(names("new.bsp").lines().collect::<Vec<_>>(), left);
    assert!(left.len() < names("odd.bsp").lines().count());
    // A name that was never in the map is a mistake, and the only one that is named.
    edit(&room, "odd/manifest.json", "%63on.txt", "other.txt");
    let run = room.bspkit("pack odd -o no.bsp").without_data(2);
    assert!(run.err.contains("the file pak/other.txt is missing"), "{}", run.err);
    assert!(!run.err.contains("does not name this file"), "{}", run.err);
}

/// The folder of a map, and one mistake in it.
struct Mistake {
    file: &'static str,
    what: fn(&Room),
    said: &'static [&'static str],
}

#[test]
fn everything_that_is_wrong_is_named_and_nothing_is_written() {
    fn json(room: &Room, old: &str, new: &str) {
        edit(room, "map/manifest.json", old, new);
    }
    let mistakes = [
        Mistake {
            file: "missing",
            what: |room| fs::remove_file(room.path("map/01_PLANES.jsonl")).unwrap(),
            said: &["manifest.json, line 6: lumps[1] (PLANES).file: the file 01_PLANES.jsonl is missing"],
        },
        Mistake {
            file: "renamed, and bad text in another one",
            what: |room| {
                fs::rename(room.path("map/01_PLANES.jsonl"), room.path("map/planes.jsonl")).unwrap();
                edit(room, "map/03_VERTEXES.jsonl", "{\"point\"", "{\"pint\"");
            },
            said: &[
                "01_PLANES.jsonl is missing",
                "planes.jsonl: the manifest does not name this file",
                "line 8: lumps[3] (VERTEXES).file: 03_VERTEXES.jsonl: line 1: there is no field pint",
            ],
        },
        Mistake {
            file: "bad JSON",
            what: |room| edit(room, "map/01_PLANES.jsonl", "{", "["),
            said: &["01_PLANES.jsonl: line 1"],
        },
        Mistake {
            file: "two mistakes in the manifest",
            what: |room| {
                json(room, "\"lump\": \"PLANES\"", "\"lmp\": \"PLANES\"");
                json(room, "\"lump\": \"VERTEXES\"", "\"lump\": 3");
            },
            said: &["manifest.json, line 6: unknown field `lmp`", "manifest.json, line 8: invalid type: integer `3`"],
        },
        Mistake {
            file: "no JSON",
            what: |room| room.write("map/manifest.json", b"{"),
            said: &["manifest.json, line 1"],
        },
        Mistake {
            file: "a path out of the folder",
            what: |room| json(room, "\"file\": \"01_PLANES.jsonl\"", "\"file\": \"../map.bsp\""),
            said: &["`../map.bsp` is not a path below the folder", "01_PLANES.jsonl: the manifest does not name"],
        },
        Mistake {
            file: "a whole path",
            what: |room| json(room, "\"file\": \"01_PLANES.jsonl\"", "\"file\": \"/etc/passwd\""),
            said: &["`/etc/passwd` is not a path below the folder"],
        },
        Mistake {
            file: "names that differ in case",
            what: |room| room.write("map/01_planes.jsonl", b""),
            said: &["01_planes.jsonl: it differs only in case from 01_PLANES.jsonl"],
        },
        Mistake {
            file: "an image of another size",
            what: |room| {
                fs::copy(room.path("map/visibility/pvs.png"), room.path("map/light/page_000.png")).unwrap();
            },
            said: &["page_000.png", "pixels"],
        },
        Mistake {
            file: "an image that is not one",
            what: |room| room.write("map/visibility/pvs.png", b"PNG"),
            said: &["visibility: pvs.png"],
        },
        Mistake {
            file: "a missing image",
            what: |room| fs::remove_file(room.path("map/light/page_000.png")).unwrap(),
            said: &["lumps[8] (LIGHTING).images: the file light/page_000.png is missing"],
        },
        Mistake {
            file: "an index of another map",
            what: |room| edit(room, "map/original/index.json", "\"at\": [", "\"at\": [1"),
            said: &["original"],
        },
        Mistake {
            file: "another original",
            what: |room| room.write("map/original/map.bin", &room.read("map/original/map.bin").to_ascii_uppercase()),
            said: &["original: its files are not those of the map that was unpacked"],
        },
        Mistake {
            file: "a layout for an original",
            what: |room| json(room, "\"lumps\": [", "\"unpadded\": true, \"lumps\": ["),
            said: &["manifest.json, line 4: unpadded: the folder `original` says how the map is laid out"],
        },
        Mistake {
            file: "a slot that the map does not have",
            what: |room| {
                json(
                    room,
                    "\"lumps\": [",
                    "\"lumps\": [\n{\"lump\": \"bspx:NEW\", \"file\": \"01_PLANES.jsonl\", \"format\": \"raw\"},",
                )
            },
            said: &["(bspx:NEW): the original map has no such slot"],
        },
    ];
    let fresh = unpacked(&[("fresh", "goldsrc/own_rooms")]);
    for Mistake { file, what, said } in mistakes {
        if cfg!(windows) && file == "names that differ in case" {
            continue; // There is only one file of the two names.
        }
        let room = Room::empty();
        for (name, bytes) in tree(&fresh, "fresh") {
            room.write(format!("map/{name}"), &bytes);
        }
        room.bspkit("pack map -o right.bsp").done();
        what(&room);
        let run = room.bspkit("pack map -o no.bsp").without_data(2);
        assert!(said.iter().all(|said| run.err.contains(said)), "{file}: {}", run.err);
        assert!(!room.path("no.bsp").exists(), "{file}");
        assert_eq!(room.bspkit("pack map --dry-run").code, Some(2), "{file}");
    }
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let room = unpacked(&[("map", "goldsrc/own_rooms")]);
    room.write("secret", b"secret");
    fs::remove_file(room.path("map/01_PLANES.jsonl")).unwrap();
    symlink("../secret", room.path("map/01_PLANES.jsonl")).unwrap();
    symlink("..", room.path("map/up")).unwrap();
    let run = room.bspkit("pack map -o no.bsp").without_data(2);
    for said in ["01_PLANES.jsonl: it is a symbolic link", "up: it is a symbolic link"] {
        assert!(run.err.contains(said), "{}", run.err);
    }
    // A link where a file is written is replaced; a link to a folder is refused.
    room.bspkit("unpack map.bsp -o map --overwrite").done();
    assert_eq!(room.read("secret"), b"secret");
    fs::remove_dir_all(room.path("map/light")).unwrap();
    fs::create_dir(room.path("elsewhere")).unwrap();
    symlink("../elsewhere", room.path("map/light")).unwrap();
    room.bspkit("unpack map.bsp -o map --overwrite").without_data(2);
    assert_eq!(fs::read_dir(room.path("elsewhere")).unwrap().count(), 0);
    room.bspkit("unpack map.bsp -o map/light").without_data(2);
}

#[test]
fn errors_that_an_edit_adds_are_refused() {
    let room = unpacked(&[("q2", "q2/own_rooms")]);
    let wrong = |file: &str, old: &str, new: &str, said: &str| {
        let before = room.read(file);
        edit(&room, file, old, new);
        let run = room.bspkit("pack q2 -o no.bsp").without_data(2);
        assert!(run.err.contains("the edit would add 1 error to the map"), "{}", run.err);
        assert!(run.err.contains(said), "{}", run.err);
        assert!(!room.path("no.bsp").exists());
        let run = room.bspkit("pack q2 --dry-run");
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert!(run.err.contains(said) && run.err.contains("saving it needs --force"), "{}", run.err);
        let run = room.bspkit("pack q2 -o forced.bsp --force --json").done();
        assert!(run.text().contains("\"severity\": \"error\""), "{}", run.text());
        assert_eq!(room.bspkit("check forced.bsp").code, Some(1));
        room.write(file, &before);
    };
    wrong("q2/00_ENTITIES.ent", "\"style\" \"32\"\n}", "\"style\" \"32\"\n", "error[entity-structure]");
    wrong("q2/06_FACES.jsonl", "\"plane\":", "\"plane\":99", "error[index-range] FACES, record 0");
    // What was wrong before is not refused, also if it moves.
    room.bspkit("pack q2 -o old.bsp -q").done();
    room.bspkit("set old.bsp faces[3].plane=60000 --in-place --force -q").done();
    room.bspkit("unpack old.bsp -o old -q").done();
    edit(&room, "old/00_ENTITIES.ent", "\"light\" \"250\"", "\"light\" \"90\"");
    edit(&room, "old/06_FACES.jsonl", "\"side\":0", "\"side\":1");
    let run = room.bspkit("pack old -o new.bsp").done();
    assert!(!run.err.contains("warning"), "{}", run.err);
    edit(&room, "old/06_FACES.jsonl", "\"plane\":", "\"plane\":99");
    let run = room.bspkit("pack old -o no.bsp").without_data(2);
    assert!(run.err.contains("would add 1 error") && run.err.contains("FACES, record 0: plane"), "{}", run.err);
    room.write("old/original/findings.json", b"[]");
    let run = room.bspkit("pack old -o no.bsp").without_data(2);
    assert!(run.err.contains("original/findings.json: it is not a baseline"), "{}", run.err);
}

#[test]
fn a_byte_order_mark_before_entities_is_left_out() {
    let room = unpacked(&[("q2", "q2/own_rooms")]);
    let text = room.read("q2/00_ENTITIES.ent");
    room.write("q2/00_ENTITIES.ent", &[b"\xEF\xBB\xBF", &text[..]].concat());
    room.bspkit("pack q2 -o same.bsp").done();
    assert!(room.read("same.bsp") == room.read("q2.bsp"));
}

#[test]
fn a_folder_without_a_manifest_is_named() {
    let room = unpacked(&[("q2", "q2/own_rooms")]);
    fs::remove_file(room.path("q2/manifest.json")).unwrap();
    let run = room.bspkit("pack q2 -o out.bsp").without_data(2);
    assert!(
        run.err.contains("manifest.json: the folder has no such file, so it is not an unpacked map"),
        "{}",
        run.err
    );
}
