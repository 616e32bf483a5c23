//! Rule files: `ent apply` and `rules`.

use super::room::{Room, entities};

const FILTER: &[u8] = b"filter:\n{\n\"classname\" \"light\"\n}\n";

fn classes(room: &Room, map: &str) -> String {
    let run = room.bspkit(&format!("ent get {map} * classname")).done();
    run.text().lines().collect::<Vec<_>>().join(" ")
}

#[test]
fn rules_are_applied_to_many_maps() {
    let room = Room::new();
    room.write("r.cfg", FILTER);
    room.bspkit("ent apply q2.bsp q3.bsp --rules r.cfg -o out").done();
    for map in ["q2.bsp", "q3.bsp"] {
        let left = classes(&room, &format!("out/{map}"));
        assert!(!left.split(' ').any(|class| class == "light"), "{left}");
        room.bspkit(&format!("verify out/{map}")).done();
    }
}

#[test]
fn a_map_that_no_rule_matches_is_left_as_it_is() {
    let room = Room::new();
    room.write("r.cfg", b"{\n\"classname\" \"none\"\n}\n");
    let before = room.read("q2.bsp");
    for target in ["--in-place --layout repack", "-o no.bsp"] {
        let run = room.bspkit(&format!("ent apply q2.bsp --rules r.cfg {target}")).without_data(1);
        assert!(run.err.contains("no rule matches"), "{}", run.err);
    }
    assert!(room.read("q2.bsp") == before && !room.path("no.bsp").exists());
    // Beside maps that change, the output folder has all.
    room.write("s/maps/q2.cfg", FILTER);
    room.bspkit("ent apply q2.bsp q3.bsp --rules s -o out").done();
    assert!(room.read("out/q3.bsp") == room.read("q3.bsp") && room.read("out/q2.bsp") != before);
    let run = room.bspkit("ent apply q2.bsp --rules r.cfg -o no.bsp --require-matches").without_data(2);
    assert!(run.err.contains("the rule at r.cfg:1 matches nothing"), "{}", run.err);
    assert!(!room.path("no.bsp").exists());
}

#[test]
fn what_is_not_read_as_it_looks_is_counted() {
    let room = Room::new();
    room.write("r.cfg", b"filter:\n{\n\"classname\" \"light\"\n\"style\" \"/*2/\"\n}\nAdd:\n");
    let run = room.bspkit("ent apply q2.bsp q3.bsp --rules r.cfg -o out").done();
    let line = "warning: r.cfg: 1 error, 1 warning; `bspkit rules lint` lists them\n";
    assert_eq!(run.err.matches(line).count(), 1, "{}", run.err);
}

#[test]
fn utf_16_is_named() {
    let room = Room::new();
    let utf16 = |text: &str| {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xFF, 0xFE].into_iter().chain(units).collect::<Vec<u8>>()
    };
    for name in ["r.cfg", "r.ini", "r.rule", "r.jsonc"] {
        room.write(name, &utf16("filter:\n{\n\"classname\" \"light\"\n}\n"));
        let run = room.bspkit(&format!("ent apply q2.bsp --rules {name} -o out.bsp")).without_data(2);
        assert!(run.err.contains(":1:1: the file is UTF-16, which no server reads"), "{}", run.err);
    }
    for (name, command) in [
        ("l.json", "ent import q2.bsp l.json -o out.bsp"),
        ("l.ent", "ent import q2.bsp l.ent -o out.bsp"),
        ("p.json", "ent patch q2.bsp p.json -o out.bsp"),
        ("r.json", "load q2.bsp PLANES r.json -o out.bsp"),
        ("r.csv", "load q2.bsp PLANES r.csv -o out.bsp"),
        ("s.rhai", "run s.rhai q2.bsp"),
        ("known.json", "ci q3.bsp --policy none.toml --baseline known.json"),
        ("bspkit.toml", "ci q2.bsp"),
    ] {
        room.write(name, &utf16("{}"));
        room.write("none.toml", b"\xEF\xBB\xBF[map]\n");
        let run = room.bspkit(command).without_data(2);
        assert!(run.err.contains(&format!("{name} is UTF-16 text, not UTF-8")), "{}", run.err);
    }
}

#[test]
fn a_folder_has_files_for_all_maps_and_for_beginnings_of_names() {
    let room = Room::new();
    let add = |name: &str| format!("add:\n{{\n\"classname\" \"{name}\"\n}}\n").into_bytes();
    room.write("s/global_filters.cfg", &add("all"));
    for name in ["cp", "cp_dust", "cp_dust_v2", "dust", "cp_", "CP", "cp_dust_v"] {
        if cfg!(windows) && name == "CP" {
            continue; // It would be the file `cp.cfg`.
        }
        room.write(format!("s/maps/{name}.cfg"), &add(&format!("of:{name}")));
    }
    room.write("s/maps/cp.txt", b"{\n}\n");
    room.write("cp_dust_v2.bsp", &room.read("q2.bsp"));
    room.bspkit("ent apply cp_dust_v2.bsp --rules s -o out.bsp").done();
    assert!(classes(&room, "out.bsp").ends_with(" target_speaker all of:cp of:cp_dust of:cp_dust_v2"));
    // Where no name is the same, case does not matter.
    room.write("s/maps/Q3.CFG", &add("of:q3"));
    room.bspkit("ent apply q3.bsp --rules s -o out3.bsp").done();
    assert!(classes(&room, "out3.bsp").ends_with(" all of:q3"));
    // A file with a fault stops the maps that it is for, and no others.
    room.write("s/maps/cp.cfg", b"{\n\"a\" \"/a(?R)?/\"\n}\n");
    let run = room.bspkit("ent apply cp_dust_v2.bsp q2.bsp --rules s -o out");
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("s/maps/cp.cfg:2:8: the regular expression /a(?R)?/ cannot be used"), "{}", run.err);
    assert!(classes(&room, "out/q2.bsp").ends_with(" all"));
    assert!(!room.path("out/cp_dust_v2.bsp").exists());
    let run = room.bspkit("ent apply q2.bsp --rules out -o x.bsp").without_data(2);
    assert!(run.err.contains("out has neither global_filters.cfg nor a maps/NAME.cfg"), "{}", run.err);
}

#[test]
fn what_engines_cannot_read_changes_nothing() {
    let room = Room::new();
    room.write("r.cfg", b"{\n\"classname\" \"light\"\n}\n{\n\"classname\" \"worldspawn\"\n}\n");
    let run = room.bspkit("ent apply q2.bsp --rules r.cfg -o out.bsp").without_data(2);
    assert!(run.err.contains("the rule at r.cfg:4:1 cannot be applied"), "{}", run.err);
    assert!(!room.path("out.bsp").exists());
    // Rules are not taken for a target.
    let run = room.bspkit("ent apply q2.bsp --rules r.cfg -o r.cfg").without_data(2);
    assert!(run.err.contains("r.cfg is an input file"), "{}", run.err);
}

#[test]
fn modes_differ() {
    let room = Room::new();
    room.write("r.cfg", b"filter:\n{\n\"classname\" \"/light_?/\"\n\"origin\" \"/^128/\"\n} // end\n");
    for (mode, code) in [("plugin", 0), ("strict", 0), ("lumper", 2)] {
        let run = room.bspkit(&format!("ent apply q2.bsp --rules r.cfg --mode {mode} -o {mode}.bsp"));
        assert_eq!(run.code, Some(code), "{}", run.err);
    }
    assert_eq!(entities(&room.read("plugin.bsp")), entities(&room.read("strict.bsp")));
}

#[test]
fn lint_exits_with_1_on_findings() {
    let room = Room::new();
    room.write("r.cfg", FILTER);
    room.bspkit("rules lint r.cfg q2.bsp q3.bsp").done();
    room.write("r.cfg", b"{\n\"classname\" \"none\" // note\n}\n");
    room.bspkit("rules lint r.cfg").done();
    assert_eq!(room.bspkit("rules lint r.cfg q2.bsp").code, Some(1));
    let run = room.bspkit("rules lint r.cfg q2.bsp --json");
    assert_eq!(run.code, Some(1));
    let codes: Vec<_> = run.json()["findings"].as_array().unwrap().iter().map(|it| it["code"].clone()).collect();
    assert_eq!(codes, ["rule-no-match", "rule-rest"]);
    // A file for a map that does not exist.
    room.write("s/maps/q3.cfg", FILTER);
    room.write("s/maps/q4.cfg", FILTER);
    let run = room.bspkit("rules lint s q2.bsp q3.bsp");
    assert!(run.text().contains("s/maps/q4.cfg:1:1: warning[rule-no-map]"), "{}", run.text());
    assert_eq!(run.code, Some(1));
    room.bspkit("rules lint s").done();
    room.write("r.rule", b"map q4 { match \"classname\" \"light\" remove-entity }\n");
    let run = room.bspkit("rules lint r.rule q2.bsp");
    assert!(run.text().contains("r.rule:1:8: warning[rule-no-map]"), "{}", run.text());
    let before = room.read("q2.bsp");
    room.bspkit("rules lint none.cfg").without_data(2);
    assert!(room.read("q2.bsp") == before);
}

#[test]
fn a_difference_as_rules_leads_where_it_says() {
    let room = Room::new();
    room.bspkit("ent set q2.bsp light light=1 -o b.bsp -q").done();
    room.bspkit("ent rm b.bsp item_* --in-place -q").done();
    let run = room.bspkit("ent diff q2.bsp b.bsp --as stripper -o d.cfg");
    assert_eq!(run.code, Some(1), "{}", run.err);
    room.bspkit("ent apply q2.bsp --rules d.cfg --mode strict --require-matches -o c.bsp").done();
    room.bspkit("ent diff b.bsp c.bsp --as stripper").done();
    // What cannot be said is named, and the exit status differs.
    room.bspkit("ent set b.bsp worldspawn message=/x/ --in-place -q").done();
    let run = room.bspkit("ent diff q2.bsp b.bsp --as stripper -o e.cfg");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("Stripper cannot say: #0 of A: the pair `message` `/x/`"), "{}", run.err);
}
