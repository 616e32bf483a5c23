//! Targets are named with `-o`, and an option means the same in every command.

use std::collections::BTreeMap;

use super::commands::COMMANDS;
use super::room::{Room, fixture};

/// A folder of maps and a single one, with what the commands need.
fn room() -> Room {
    let room = Room::new();
    room.write("maps/a.bsp", &fixture("q2/own_rooms"));
    room.write("maps/deep/b.bsp", &fixture("goldsrc/own_rooms"));
    room.write("room.bsp", &fixture("source/room_v20"));
    room.write("rooms/one.bsp", &fixture("source/room_v20"));
    room
}

/// The line that an error shows.
fn shown(err: &str) -> String {
    let line = err.lines().find_map(|line| line.split_once("with -o: bspkit "));
    line.unwrap_or_else(|| panic!("no right form: {err}")).1.to_owned()
}

/// The form with a target by its place is an error, before anything is printed or written, and the line that it shows
/// does what was meant.
#[test]
fn a_target_without_its_option_is_refused_with_the_right_line() {
    for (line, right, made) in [
        ("unpack q2.bsp dm4", "unpack q2.bsp -o dm4", "dm4/manifest.json"),
        ("unpack maps unpacked", "unpack maps -o unpacked", "unpacked/deep/b/manifest.json"),
        ("unpack q2.bsp q3.bsp two --format csv", "unpack q2.bsp q3.bsp -o two --format csv", "two/q3/manifest.json"),
        ("light export q2.bsp pages --by face", "light export q2.bsp -o pages --by face", "pages/light.json"),
        ("light export maps lights", "light export maps -o lights", "lights/a/light.json"),
        ("vis export q2.bsp v.png", "vis export q2.bsp -o v.png", "v.png"),
        ("vis export maps pictures", "vis export maps -o pictures", "pictures/deep/b.png"),
        ("tex export goldsrc.bsp images own_*", "tex export goldsrc.bsp -o images 'own_*'", "images/OWN_WALL.png"),
        ("tex export goldsrc.bsp all.wad", "tex export goldsrc.bsp -o all.wad", "all.wad"),
        ("pak extract room.bsp files", "pak extract room.bsp -o files", "files"),
        ("-q pak extract rooms files", "-q pak extract rooms -o files", "files/one"),
        ("man pages", "man -o pages", "pages/bspkit-ent-set.1"),
    ] {
        let room = room();
        let before = room.names();
        let run = room.bspkit(line).without_data(2);
        assert_eq!(room.names(), before, "{line}");
        let offered = shown(&run.err);
        assert_eq!(offered, right, "{line}: {}", run.err);
        assert!(run.err.starts_with("error: "), "{}", run.err);
        room.shell(&format!("bspkit {offered}")).done();
        assert!(room.path(made).exists(), "{line}: {made} is not there");
    }
    // Without any target the option is shown with the word that help has.
    let run = room().bspkit("pak extract room.bsp").without_data(2);
    assert_eq!(shown(&run.err), "pak extract room.bsp -o DIR");
    // A name with a space is one word.
    let run = room().run(&["unpack", "q2.bsp", "my folder"]).without_data(2);
    assert_eq!(shown(&run.err), "unpack q2.bsp -o 'my folder'");
}

/// Maps are several in every command that writes a target for each.
#[test]
fn each_of_several_maps_gets_a_folder() {
    let room = room();
    for (line, made) in [
        ("unpack maps rooms -o a", ["a/a/manifest.json", "a/deep/b/manifest.json", "a/one/manifest.json"]),
        ("light export maps rooms/one.bsp -o b", ["b/a/light.json", "b/deep/b/light.json", "b/a/page_000.png"]),
        ("vis export maps rooms -o c", ["c/a.png", "c/deep/b.png", "c/one.png"]),
    ] {
        room.bspkit(line).done();
        made.iter().for_each(|file| assert!(room.path(file).is_file(), "{line}: {file}"));
    }
    // A folder before `--` is a map, and what follows it is a pattern.
    room.bspkit("pak add rooms/one.bsp own/a.txt=maps/a.bsp --in-place -q").done();
    room.bspkit("pak extract rooms room.bsp -o d -- own/**").done();
    assert!(room.path("d/one/own/a.txt").is_file() && !room.path("d/room").exists());
}

/// The help of each option, with the commands that have it. An option that several commands have stands once, or the
/// lines say the same of different things: this is for people to read when it changes.
#[test]
fn an_option_means_the_same_in_every_command() {
    let room = Room::empty();
    let mut options: BTreeMap<String, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    for command in COMMANDS {
        let help = room.bspkit(&format!("{command} --help")).done();
        let own = help.text().split("\nOptions of every command:").next().unwrap().to_owned();
        let mut found: Vec<(String, String)> = Vec::new();
        for line in own.lines() {
            let name = line.get(6..).filter(|_| line.starts_with("  -") || line.starts_with("      --"));
            match name.filter(|name| name.starts_with("--")) {
                Some(name) => {
                    let end = name.find([' ', '[', '=']).unwrap_or(name.len());
                    found.push((name[..end].to_owned(), name[end..].trim().to_owned()));
                }
                None if line.starts_with("          ") => {
                    if let Some((_, text)) = found.last_mut() {
                        *text = format!("{text} {}", line.trim());
                    }
                }
                None => {}
            }
        }
        for (name, text) in found {
            options.entry(name).or_default().entry(text.trim().to_owned()).or_default().push(command);
        }
    }
    let mut text = String::new();
    for (name, meanings) in options.iter().filter(|(_, meanings)| meanings.len() > 1) {
        text += &format!("{name}\n");
        for (meaning, commands) in meanings {
            text += &format!("  {}: {meaning}\n", commands.join(", "));
        }
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/options.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n"), text);
    // A word that replaces a file is not the one that saves in spite of a doubt.
    for (name, word) in [("--force", "Replace existing"), ("--overwrite", "damaged")] {
        let of = &options[name];
        assert!(!of.keys().any(|meaning| meaning.contains(word)), "{of:?}");
    }
}

/// What a command reads is not what it writes over: maps, policies, lists, scripts, files of folders.
#[test]
fn no_command_writes_over_what_it_reads() {
    let room = Room::new();
    room.write("policy.toml", b"[entities]\n");
    room.write("list.txt", b"cfg/a.txt\nfile.txt\n");
    room.write("file.txt", b"one");
    room.write("d/x.txt", b"two");
    room.write("script.rhai", b"for e in entities { e[\"_seen\"] = \"1\"; }");
    std::fs::create_dir(room.path("maps")).unwrap();
    std::fs::copy(room.path("q2.bsp"), room.path("maps/q2.bsp")).unwrap();
    let all = |room: &Room| {
        let files = [
            "q2.bsp",
            "maps/q2.bsp",
            "source.bsp",
            "goldsrc.bsp",
            "policy.toml",
            "list.txt",
            "file.txt",
            "d/x.txt",
            "script.rhai",
        ];
        files.map(|file| std::fs::read(room.path(file)).unwrap())
    };
    let before = all(&room);
    for line in [
        "ci q2.bsp --format sarif -o q2.bsp",
        "ci maps --format junit -o maps/q2.bsp",
        "ci maps --format json -o ./maps/../maps/q2.bsp",
        "ci q2.bsp --baseline q2.bsp --write-baseline",
        "ci q2.bsp --policy policy.toml --format json -o policy.toml",
        "run script.rhai q2.bsp -o script.rhai",
        "pak add source.bsp cfg/b.txt=file.txt -o file.txt",
        "pak add source.bsp --list list.txt -o list.txt",
        "pak sync source.bsp d -o d/x.txt",
        "tex strip goldsrc.bsp --wad new.wad -o new.wad",
        "tex strip goldsrc.bsp --wad d/../new.wad -o new.wad",
    ] {
        let run = room.bspkit(line);
        let why = ["is an input file", "is the input map", "would be written twice"];
        assert!(run.code == Some(2) && why.iter().any(|why| run.err.contains(why)), "{line}: {}", run.err);
        assert!(all(&room) == before && !room.path("new.wad").exists(), "{line}");
    }
}

/// The map that is filled may be in the folder of the game; only a file that it takes is an input.
#[test]
fn a_map_is_filled_into_its_game() {
    let room = Room::new();
    room.write("room_v20.bsp", &fixture("source/room_v20"));
    room.shell("mkdir -p tf/maps tf/materials/own; echo a.txt >stock.txt").done();
    room.write("tf/materials/own/floor.vmt", b"LightmappedGeneric\n{\n}\n");
    let fill = |out: &str| room.bspkit(&format!("pak fill room_v20.bsp --from tf --stock stock.txt -o {out}"));
    let first = fill("tf/maps/out.bsp");
    assert!(first.err.contains("1 file embedded"), "{}", first.err);
    let again = fill("tf/maps/out.bsp");
    assert_eq!(again.code, first.code, "{}", again.err);
    let over = fill("tf/materials/own/floor.vmt");
    assert!(over.code == Some(2) && over.err.contains("is an input file"), "{}", over.err);
    assert!(std::fs::read(room.path("tf/materials/own/floor.vmt")).unwrap().starts_with(b"Lightmapped"));
}

/// A suffix that makes the old file a map, or leads elsewhere, is refused; so is stdout where a folder is written.
#[test]
fn targets_that_mean_something_else_are_refused() {
    let room = Room::new();
    for line in [
        "ent set q2.bsp worldspawn a=b --in-place --backup=.bsp",
        "ent set q2.bsp worldspawn a=b --in-place --backup=.old.BSP",
        "ent set q2.bsp worldspawn a=b --in-place --backup=",
        "ent set q2.bsp worldspawn a=b --in-place --backup=/../../x",
        "light export q2.bsp -o -",
        "unpack q2.bsp -o -",
        "pak extract source.bsp -o -",
    ] {
        let run = room.bspkit(line);
        let why = ["the suffix is empty", "has no slashes", "would be a map", "is stdin or stdout"];
        assert!(run.code == Some(2) && why.iter().any(|why| run.err.contains(why)), "{line}: {}", run.err);
        assert!(!room.path("-").exists(), "{line}");
    }
}
