//! One rule for all ways to make an edit, and messages that are true: what is refused by one is refused by all, and no
//! hint promises what it cannot do.

use bspkit::{Bsp, Layout};

use super::room::{Room, Run, entities, fixture};

/// A text without the world is refused by every command that replaces the text, and saved by all with `--force`.
#[test]
fn no_command_takes_the_world_away_unasked() {
    for (map, text) in
        [("q2", &b""[..]), ("q2", b"{\n\"classname\" \"light\"\n}\n"), ("source", b"{\n\"a\" \"b\"\n}\n")]
    {
        let room = Room::new();
        if map == "source" {
            room.write("source.bsp", &fixture("source/room_v20"));
        }
        room.write("new.ent", text);
        let mut lump = text.to_vec();
        lump.push(0);
        room.write("new.bin", &lump);
        room.bspkit(&format!("unpack {map}.bsp -o folder -q")).done();
        let own = std::fs::read_dir(room.path("folder")).unwrap().map(|entry| entry.unwrap().file_name());
        let own = own.into_iter().find(|name| name.to_str().unwrap().ends_with(".ent")).unwrap();
        room.write(std::path::Path::new("folder").join(own), text);
        let mut doors = vec![
            format!("ent import {map}.bsp new.ent"),
            format!("load {map}.bsp entities new.bin --resize"),
            "pack folder".to_owned(),
        ];
        if map == "source" {
            // A lump file of the entities, made of the bytes of its header.
            let head = [20_i32, 0, 0, i32::try_from(lump.len()).unwrap(), 1].map(i32::to_le_bytes).concat();
            room.write("new_l_0.lmp", &[head, lump].concat());
            doors.push("lmp import source.bsp new_l_0.lmp".to_owned());
        }
        let before = room.names();
        for door in doors {
            let run = room.bspkit(&format!("{door} -o no.bsp")).without_data(2);
            assert!(run.err.contains("worldspawn") && run.err.contains("--force"), "{door}: {}", run.err);
            assert_eq!(room.names(), before, "{door}");
            let run = room.bspkit(&format!("{door} -o forced.bsp --force")).done();
            assert!(run.err.contains("error[entity-no-world]"), "{door}: {}", run.err);
            let saved = room.read("forced.bsp");
            assert!(!entities(&saved).windows(10).any(|ten| ten == b"worldspawn"), "{door}");
            std::fs::remove_file(room.path("forced.bsp")).unwrap();
        }
    }
}

/// A pakfile with a file and a folder of one name, as a zip has them.
fn clash() -> Room {
    let room = Room::empty();
    let map = fixture("source/room_v20");
    let bsp = Bsp::parse(&map).unwrap();
    let mut draft = bsp.draft();
    for (name, bytes) in [("own/a", "file"), ("own/a/b.txt", "in the folder"), ("Own/A.txt", "other")] {
        draft.pak().unwrap().add(name, bytes).unwrap();
    }
    room.write("map.bsp", &draft.plan(Layout::Keep).unwrap().to_vec());
    room
}

/// A file that has the name of a folder gets a number, everywhere alike, and the folder leads back to the same map.
#[test]
fn a_file_and_a_folder_of_one_name_are_both_written() {
    let room = clash();
    let run = room.bspkit("pak extract map.bsp -o out").done();
    assert!(
        run.err.contains("`own/a` has the same name as a folder of other files: written to out/own/a~2"),
        "{}",
        run.err
    );
    assert_eq!(room.read("out/own/a~2"), b"file");
    assert_eq!(room.read("out/own/a/b.txt"), b"in the folder");
    room.bspkit("unpack map.bsp -o folder -q").done();
    assert_eq!(room.read("folder/pak/own/a~2"), b"file");
    room.bspkit("pack folder -o packed.bsp -q").done();
    assert_eq!(room.read("packed.bsp"), room.read("map.bsp"));
    let run = room.bspkit("pak sync map.bsp out -o synced.bsp").done();
    assert_eq!(room.read("synced.bsp"), room.read("map.bsp"), "{}", run.err);
    // Alone it keeps its name.
    room.bspkit("pak extract map.bsp -o alone own/a").done();
    assert_eq!(room.read("alone/own/a"), b"file");
}

/// What stands in the way is named for what it is, and nothing is offered that would not help.
#[test]
fn a_folder_in_the_way_is_called_a_folder() {
    let room = Room::new();
    room.write("map.bsp", &clash().read("map.bsp"));
    for folder in ["out/own/a~2", "images/OWN_WALL.png", "v.png", "all.wad", "pages/page_000.png"] {
        std::fs::create_dir_all(room.path(folder)).unwrap();
    }
    std::fs::create_dir_all(room.path("all.wad")).unwrap();
    for (line, said) in [
        ("pak extract map.bsp -o out", "out/own/a~2 is a folder"),
        ("tex export goldsrc.bsp -o images", "images/own_wall.png is a folder"),
        ("vis export q2.bsp -o v.png", "v.png is a folder"),
        ("light export q2.bsp -o pages", "pages/page_000.png is a folder"),
    ] {
        for more in ["", " --overwrite"] {
            let run = room.bspkit(&format!("{line}{more}")).without_data(2);
            assert!(run.err.to_lowercase().contains(said), "{line}{more}: {}", run.err);
            assert!(!run.err.contains("--overwrite"), "{line}{more}: {}", run.err);
        }
    }
}

/// The hint of an error helps: with --force the same edit is saved.
fn is_saved_with_force(room: &Room, line: &str) -> Run {
    let run = room.bspkit(&format!("{line} -o no.bsp")).without_data(2);
    if run.err.contains("use --force") {
        let forced = room.bspkit(&format!("{line} --force -o forced.bsp")).done();
        assert!(forced.err.contains("warning: "), "{line}: {}", forced.err);
    } else {
        let forced = room.bspkit(&format!("{line} --force -o forced.bsp")).without_data(2);
        assert_eq!(forced.err, run.err, "{line}");
    }
    run
}

#[test]
fn no_hint_promises_what_force_cannot_do() {
    let room = Room::new();
    let numbers = |numbers: &[i32]| numbers.iter().copied().flat_map(i32::to_le_bytes).collect::<Vec<u8>>();
    let solid = [&b"VPHY\0\x01\x05\0"[..], &[b'Q'; 40]].concat();
    let size = i32::try_from(solid.len()).unwrap();
    let model = |model: i32, claims: i32| [numbers(&[model, claims, 4, 1, size]), solid.clone(), vec![0; 4]].concat();
    let end = numbers(&[-1, -1, 0, 0]);
    // Solids of a layout that nobody knows, of one model, of two, and with sizes that are too large.
    for (name, lump, helps) in [
        ("one", [model(0, size + 4), end.clone()].concat(), [true, true]),
        ("two", [model(0, size + 4), model(1, size + 4), end].concat(), [true, true]),
        ("bad", model(0, size + 400), [true, false]),
    ] {
        room.write("source.bsp", &fixture("source/room_v20"));
        room.write("phys.bin", &lump);
        room.bspkit("load source.bsp PHYSCOLLIDE phys.bin --format raw --resize --in-place --force -q").done();
        for (line, helps) in [("records rm source.bsp brushes[3]", helps[0]), ("model rm source.bsp *1", helps[1])] {
            let run = is_saved_with_force(&room, line);
            assert_eq!(run.err.contains("use --force"), helps, "{name}: {line}: {}", run.err);
        }
        for line in ["records mv source.bsp brushes[3] 1", "records rm source.bsp models[1] --cascade"] {
            is_saved_with_force(&room, line);
        }
    }
}

/// Ten of a kind are printed, and of the rest the number; -v prints all, in every command.
#[test]
fn ten_of_a_kind_are_printed_and_then_the_number() {
    let room = Room::new();
    let world = "{\n\"classname\" \"worldspawn\"\n}\n";
    let many = |each: &dyn Fn(usize) -> String| world.to_owned() + &(0..40).map(each).collect::<String>();
    room.write(
        "targets.ent",
        many(&|at| format!("{{\n\"classname\" \"trigger_relay\"\n\"target\" \"n{at}\"\n}}\n")).as_bytes(),
    );
    room.write(
        "models.ent",
        many(&|at| format!("{{\n\"classname\" \"func_door\"\n\"model\" \"*{}\"\n}}\n", 100 + at)).as_bytes(),
    );
    room.bspkit("ent import q2.bsp models.ent -o bad.bsp --force -q").done();
    room.bspkit("tex export goldsrc.bsp -o images --mips -q").done();
    room.bspkit("set q2.bsp faces[*].light_offset=9000000 -o dark.bsp --force -q").done();
    for name in room.names().into_iter().filter(|name| name.extension().is_some_and(|it| it == "png")) {
        std::fs::write(name, b"no picture").unwrap();
    }
    for (line, mark, all) in [
        ("ent import q2.bsp targets.ent -o out.bsp", "note[entity-target]", 40),
        ("ent import q2.bsp models.ent -o out.bsp", "error[entity-model]", 40),
        ("check bad.bsp", "error[entity-model]", 40),
        ("ent set q2.bsp * message={nobody} -o out.bsp", "stays: it needs the key", 20),
        ("tex import goldsrc.bsp images -o out.bsp", "cannot read the PNG", 40),
        ("light stat dark.bsp", "dark.bsp: LIGHTING: face", 98),
    ] {
        let lines = |more: &str| {
            let run = room.bspkit(&format!("{line}{more}"));
            let text = format!("{}{}", run.err, run.text());
            let found = text.lines().filter(|line| line.contains(mark) && !line.contains(" more")).count();
            (found, text)
        };
        let (found, text) = lines("");
        assert_eq!(found, 10, "{line}: {text}");
        assert!(text.lines().any(|line| line.contains(&format!("and {} more", all - 10))), "{line}: {text}");
        assert!(text.contains("-v lists them"), "{line}: {text}");
        let (found, text) = lines(" -v");
        assert_eq!(found, all, "{line}: {text}");
        assert!(!text.contains(" more"), "{line}: {text}");
    }
}

/// A dry run of several maps begins with a summary, also where the command has something of its own to say.
#[test]
fn a_dry_run_of_several_maps_says_first_how_many_change() {
    let room = Room::empty();
    for name in ["q1/own_rooms", "q2/own_rooms", "source/room_v20"] {
        room.write(format!("maps/{}.bsp", name.replace('/', "_")), &fixture(name));
    }
    for line in ["prune maps --dry-run", "ent set maps worldspawn message=x --dry-run", "vis fill maps --dry-run"] {
        let run = room.bspkit(line).done();
        let first = run.text().lines().next().unwrap();
        assert!(first.contains(" of 3 maps change"), "{line}: {}", run.text());
    }
    let run = room.bspkit("prune maps --dry-run").done();
    let text = run.text();
    let [map, table] = ["maps/q1_own_rooms.bsp: ", "lump "].map(|mark| text.find(mark).unwrap_or(usize::MAX));
    assert!(map < table && table < text.len(), "a table follows the line of its map: {text}");
}

/// A wrong order of words is an error that shows the right one.
#[test]
fn words_in_a_wrong_order_are_answered_with_the_right_one() {
    let room = Room::new();
    room.write("d1/a.bsp", &fixture("q2/own_rooms"));
    room.write("d2/b.bsp", &fixture("q2/own_box"));
    room.write("s.rhai", b"let world = entities.first(\"worldspawn\"); world.message = \"x\";");
    for (line, right) in [
        ("dump planes q2.bsp", "bspkit dump q2.bsp planes"),
        ("cat planes q2.bsp", "bspkit cat q2.bsp planes"),
        ("get planes[0].distance q2.bsp", "bspkit get q2.bsp 'planes[0].distance'"),
        ("ent set light q2.bsp light=3 -o x.bsp", "bspkit ent set q2.bsp light light=3 -o x.bsp"),
        ("tex rename a q2.bsp b -o x.bsp", "bspkit tex rename q2.bsp a b -o x.bsp"),
        ("rename own q2.bsp", "bspkit rename q2.bsp own"),
        ("ent list worldspawn q2.bsp", "bspkit ent list q2.bsp worldspawn"),
        ("ent list worldspawn d1", "bspkit ent list d1 worldspawn"),
        ("ent get worldspawn d1 message", "bspkit ent get d1 worldspawn message"),
        ("cat entities d1", "bspkit cat d1 entities"),
        ("pak extract px source.bsp", "bspkit pak extract source.bsp -o px"),
        ("records mv texinfo[1] 0 q2.bsp --dry-run", "bspkit records mv q2.bsp 'texinfo[1]' 0 --dry-run"),
        ("ent set d1 d2 worldspawn a=b -o o", "bspkit ent set FOLDER FOLDER -o OUT -- SEL KEY=VALUE"),
        ("run q2.bsp s.rhai", "write the script, and then the maps"),
        ("rules lint q2.bsp s.rhai", "is a map, and no file with rules"),
        ("rules convert q2.bsp --to patch", "is a map, and no file with rules"),
        ("ent apply q2.bsp --rules q3.bsp --dry-run", "is a map, and no file with rules"),
    ] {
        let before = room.names();
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains(right), "{line}: {}", run.err);
        assert_eq!(room.names(), before, "{line}");
        if let Some(right) = right.strip_prefix("bspkit ").filter(|right| !right.contains("FOLDER")) {
            let run = room.shell(&format!("bspkit {right}"));
            assert!(run.code.is_some_and(|code| code < 2) || line.contains("tex"), "{right}: {}", run.err);
        }
    }
    room.bspkit("ent set d1 d2 -o o -- worldspawn a=b").done();
    // What is said of one map holds for all.
    let run = room.bspkit("run s.rhai d1/a.bsp d2/b.bsp").without_data(2);
    assert_eq!(run.err.matches("no output is given").count(), 1, "{}", run.err);
}

/// A class that engines refuse a map for, if a key is missing, is refused in every command that makes such an entity.
#[test]
fn what_engines_refuse_a_map_for_is_refused_in_every_command() {
    let room = Room::new();
    let doors = [
        ("ent unset q2.bsp func_door model", "entity-no-model"),
        ("ent add q3.bsp classname=trigger_hurt", "entity-no-model"),
        ("ent add q3.bsp classname=target_speaker", "entity-no-key"),
        ("ent set q3.bsp #1 classname=target_speaker", "entity-no-key"),
    ];
    for (door, code) in doors {
        let run = room.bspkit(&format!("{door} -o no.bsp")).without_data(2);
        assert!(run.err.contains(code), "{door}: {}", run.err);
        assert!(!room.path("no.bsp").exists(), "{door}");
    }
    room.bspkit("ent add q3.bsp classname=target_speaker noise=own/wind.wav -o yes.bsp").done();
}
