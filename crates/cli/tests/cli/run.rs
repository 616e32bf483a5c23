//! `run`: scripts over maps, under the rules of every command that saves.
#![cfg(feature = "script")]

use serde_json::json;

use super::room::{Room, fixture};

fn room(scripts: &[(&str, &str)]) -> Room {
    let room = Room::new();
    scripts.iter().for_each(|(name, text)| room.write(name, text.as_bytes()));
    room
}

#[test]
fn a_folder_gets_every_map_and_arguments_follow_two_dashes() {
    let room =
        room(&[("s.rhai", "if map.dialect == args.only { entities[1].x = args[2]; } report(map.name, args.len())")]);
    std::fs::create_dir(room.path("maps")).unwrap();
    ["q2.bsp", "q3.bsp"].iter().for_each(|map| std::fs::rename(room.path(map), room.path("maps").join(map)).unwrap());
    let run = room.bspkit("run s.rhai maps goldsrc.bsp -o out -j 2 -- --only quake3 9 --dry-run -o no.bsp").done();
    assert_eq!(run.text(), "q2 6\nq3 6\ngoldsrc 6\n");
    for map in ["q2.bsp", "goldsrc.bsp"] {
        let old = if map == "q2.bsp" { "maps/q2.bsp" } else { map };
        assert_eq!(room.read(format!("out/{map}")), room.read(old), "{map}");
    }
    assert_eq!(room.bspkit("ent get out/q3.bsp #1 x").done().text(), "9\n");
    assert!(!room.path("no.bsp").exists());
    // Several maps that are named, and arguments that end like maps.
    let run = room.bspkit("run s.rhai maps/q2.bsp goldsrc.bsp -- --only a.bsp b.bsp").done();
    assert_eq!(run.text(), "q2 3\ngoldsrc 3\n");
}

#[test]
fn a_map_that_does_not_change_is_not_written() {
    let room =
        room(&[("s.rhai", "entities[1].x = 1; entities[1].remove(\"x\"); entities[0].classname = \"worldspawn\";")]);
    let modified = || room.path("q3.bsp").metadata().unwrap().modified().unwrap();
    let before = modified();
    for layout in ["keep", "repack"] {
        let run = room.bspkit(&format!("run s.rhai q3.bsp --in-place --backup --layout {layout}")).done();
        assert!(run.err.contains("nothing changes, the file is left as it is"), "{}", run.err);
    }
    assert_eq!((modified(), room.path("q3.bsp.bak").exists()), (before, false));
    // Nor where it finds something.
    room.write("found.rhai", b"finding(\"odd\");");
    let run = room.bspkit("run found.rhai q3.bsp --in-place --backup --layout repack");
    assert_eq!((run.code, modified(), room.path("q3.bsp.bak").exists()), (Some(1), before, false));
    room.bspkit("run s.rhai q3.bsp -o same.bsp --layout repack").done();
    assert_eq!(room.read("same.bsp"), fixture("q3/own_rooms"));
}

#[test]
fn without_an_output_a_script_only_reads() {
    let room = room(&[("edit.rhai", "entities[1].x = 1; report(1)"), ("read.rhai", "report(entities.len())")]);
    assert_eq!(room.bspkit("run read.rhai q3.bsp").done().text(), "18\n");
    let run = room.bspkit("run edit.rhai q3.bsp");
    assert_eq!((run.code, run.text()), (Some(2), ""));
    assert!(run.err.contains("the script changes q3.bsp, and no output is given"), "{}", run.err);
    assert_eq!(room.read("q3.bsp"), fixture("q3/own_rooms"));
}

#[test]
fn a_script_that_fails_on_one_map_writes_the_others() {
    let room = room(&[("s.rhai", "entities[1].x = 1; if map.name == \"q2\" { throw `no ${map.name}`; }")]);
    let run = room.bspkit("run s.rhai q2.bsp q3.bsp -o out");
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("cannot edit q2.bsp\n  caused by: s.rhai:1:42: no q2"), "{}", run.err);
    assert!(room.path("out/q3.bsp").exists() && !room.path("out/q2.bsp").exists());
}

#[test]
fn findings_are_the_exit_status() {
    let room = room(&[("s.rhai", "finding(\"odd\", entities[2]); report(#{n: 1.5}); entities[1].x = 1;")]);
    let run = room.bspkit("run s.rhai q3.bsp -o out.bsp");
    assert_eq!((run.code, run.text()), (Some(1), "{\"n\":1.5}\nq3.bsp: odd (entity 2)\n"));
    let run = room.bspkit("run s.rhai q3.bsp --dry-run --json");
    let place = json!({"entity": 2});
    let finding = json!({"code": "script", "severity": "warning", "place": place, "message": "odd"});
    assert_eq!(
        (run.code, &run.json()["findings"], &run.json()["reports"]),
        (Some(1), &json!([finding]), &json!([{"n": 1.5}]))
    );
}

/// A map that a script leaves as it is has its findings and its line, also where it is not saved.
#[test]
fn only_changed_does_not_hide_what_was_found() {
    let room = room(&[("s.rhai", "finding(\"odd\"); report(map.name); if map.name == \"q3\" { entities[1].x = 1; }")]);
    for how in ["-o out", "-o none --dry-run"] {
        let run = room.bspkit(&format!("run s.rhai q2.bsp q3.bsp --only-changed {how}"));
        assert_eq!((run.code, run.text().matches("odd").count()), (Some(1), 2), "{how}: {}", run.text());
        let run = room.bspkit(&format!("run s.rhai q2.bsp q3.bsp --only-changed --json {how}"));
        let lines: Vec<serde_json::Value> =
            run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said =
            lines.iter().map(|line| json!([line["changed"], line["reports"][0], line["findings"][0]["message"]]));
        let expected = [json!([false, "q2", "odd"]), json!([true, "q3", "odd"])];
        assert_eq!((run.code, said.collect::<Vec<_>>()), (Some(1), expected.to_vec()), "{how}");
    }
    assert!(room.path("out/q3.bsp").exists() && !room.path("out/q2.bsp").exists() && !room.path("none").exists());
}

#[test]
fn a_map_on_stdout_is_alone_there() {
    let room = room(&[("s.rhai", "report(\"data\"); print(\"message\"); entities[1].x = 1;")]);
    let run = room.with_stdin("run s.rhai - -o -", &room.read("q3.bsp"));
    assert_eq!(run.code, Some(0));
    assert!(run.out.starts_with(b"IBSP") && run.err.starts_with("message\ndata\n"), "{}", run.err);
}

#[test]
fn scripts_that_cannot_be_read_are_refused() {
    let room = room(&[("bad.rhai", "let x = ;")]);
    room.write("bytes.rhai", b"report(\"\xff\")");
    for (script, message) in [
        ("bad.rhai", "bad.rhai:1:9: unexpected ';'\n  hint: let x = ;\n                ^"),
        ("bytes.rhai", "bytes.rhai is not UTF-8"),
        ("none.rhai", "cannot read none.rhai"),
        (".", "cannot read ."),
    ] {
        let run = room.bspkit(&format!("run {script} q3.bsp --dry-run"));
        assert_eq!(run.code, Some(2));
        assert!(run.err.contains(message), "{}", run.err);
    }
    let run = room.bspkit("run bad.rhai q3.bsp --max-steps 5 --max-time 1 --max-memory 100 --dry-run");
    assert_eq!(run.code, Some(2));
}

/// What a script printed before it stopped shows how far it came; the map stays.
#[test]
fn a_script_that_stops_has_said_what_it_printed() {
    let room = room(&[("stops.rhai", "print(\"so far\"); entities[0].message = \"new\"; throw \"no further\";")]);
    let names = room.names();
    for how in ["", " -o out.bsp"] {
        let run = room.bspkit(&format!("run stops.rhai q2.bsp{how}")).without_data(2);
        let at = |words: &str| run.err.find(words).unwrap_or_else(|| panic!("{words}: {}", run.err));
        assert!(at("so far") < at("no further"), "{}", run.err);
    }
    assert_eq!(room.names(), names);
}
