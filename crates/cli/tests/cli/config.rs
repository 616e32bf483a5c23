//! Defaults of a project: what they change, what they may not say, and how they are shown.

use bspkit_text::defaults::{KEYS, read};

use super::room::{Room, fixture};

/// A folder `maps` with two maps, and a file above it.
fn room(defaults: &str) -> Room {
    let room = Room::empty();
    room.write("maps/a.bsp", &fixture("q2/own_rooms"));
    room.write("maps/b.bsp", &fixture("q3/own_rooms"));
    room.write("bspkit.toml", defaults.as_bytes());
    room
}

const LONGER: &str = "message=a_name_that_is_longer_than_the_one_before_and_does_not_fit_into_its_place";

#[test]
fn a_default_is_as_if_it_were_on_the_command_line() {
    let room = room("[defaults]\nlayout = 'append'\n");
    for map in ["a", "b"] {
        let edit = |more: &str, out: &str| {
            let run = room.bspkit(&format!("ent set maps/{map}.bsp worldspawn {LONGER} -o {out} {more}"));
            assert_eq!(run.code, Some(0), "{run:?}");
            room.read(out)
        };
        let (by_file, by_option) = (edit("", "one"), edit("--layout append", "two"));
        assert_eq!(by_file, by_option);
        // The command line is stronger.
        let other = edit("--layout repack", "three");
        assert_ne!(by_file, other);
        std::fs::rename(room.path("bspkit.toml"), room.path("other.toml")).unwrap();
        assert_eq!(edit("--layout repack", "four"), other);
        std::fs::rename(room.path("other.toml"), room.path("bspkit.toml")).unwrap();
    }
}

#[test]
fn a_dialect_and_a_color_can_be_defaults() {
    let room = room("[defaults]\ndialect = 'quake3'\ncolor = 'always'\n");
    let dialect = |more: &str| room.bspkit(&format!("info maps/a.bsp --json {more}")).json()["dialect"].clone();
    assert_eq!((dialect(""), dialect("--dialect quake2")), ("quake3".into(), "quake2".into()));
    let run = room.bspkit("verify maps/b.bsp");
    assert!(String::from_utf8_lossy(&run.out).contains("\x1b["), "{run:?}");
    assert!(!String::from_utf8_lossy(&room.bspkit("verify maps/b.bsp --color never").out).contains("\x1b["));
    // A command without MAP takes the file above the files that it names.
    assert_eq!(room.bspkit("diff maps/a.bsp maps/b.bsp --json").json()["dialects"][0], "quake3");
}

#[test]
fn game_and_rules_can_be_defaults() {
    let room = room("[defaults]\nstock = ['stock.txt']\nrules = 'rules.cfg'\n");
    room.write("maps/room_v20.bsp", &fixture("source/room_v20"));
    room.write("stock.txt", b"materials/none.vmt\n");
    room.write("rules.cfg", b"add:\n{\n\"classname\" \"info_null\"\n}\n");
    let missing = room.bspkit("pak missing maps/room_v20.bsp --json");
    let named = room.bspkit("pak missing maps/room_v20.bsp --json --stock stock.txt");
    assert_eq!((missing.code, &missing.out), (named.code, &named.out));
    assert!(missing.code != Some(2), "{missing:?}");
    assert_eq!(room.bspkit("ent apply maps/a.bsp -o out.bsp").code, Some(0));
    assert_eq!(room.bspkit("ent list out.bsp info_null").code, Some(0));
    // Without the file it is still an error that no rules are named.
    std::fs::remove_file(room.path("bspkit.toml")).unwrap();
    let run = room.bspkit("ent apply maps/a.bsp -o out.bsp");
    assert!(run.code == Some(2) && run.err.contains("--rules"), "{run:?}");
}

/// The file may come with maps of a stranger.
#[test]
fn what_writes_or_leaves_the_folder_is_refused() {
    for (line, message) in [
        ("output = 'x.bsp'", "no key `output`"),
        ("in_place = true", "no key `in_place`"),
        ("force = true", "no key `force`"),
        ("backup = true", "no key `backup`"),
        ("allow_read = ['.']", "no key `allow_read`"),
        ("game = '../game'", "leads out of the folder"),
        ("game = 'a/../../game'", "leads out of the folder"),
        ("stock = ['a.txt', '/etc/passwd']", "leads out of the folder"),
        ("fgd = 'C:/games/a.fgd'", "leads out of the folder"),
        ("rules = '..\\x.cfg'", "leads out of the folder"),
        ("vpk = ''", "leads out of the folder"),
        ("layout = 'patch'", "`patch` is not a value"),
        ("color = 'sometimes'", "`sometimes` is not a value"),
        ("dialect = 'doom'", "doom"),
        ("rules = ['a.cfg']", "a string is needed here"),
    ] {
        let room = room(&format!("[defaults]\n{line}\n"));
        let run = room.bspkit("info maps/a.bsp");
        assert!(run.code == Some(2) && run.err.contains(message) && run.out.is_empty(), "{line}: {run:?}");
        assert!(run.err.contains("bspkit.toml"), "{run:?}");
        // Help is there all the same.
        assert_eq!(room.bspkit("info maps/a.bsp --help").code, Some(0));
    }
    // A path concerns the commands that have the option.
    let room = self::room("[defaults]\nrules = 'nowhere'\n");
    assert_eq!(room.bspkit("info maps/a.bsp").code, Some(0));
    let run = room.bspkit("ent apply maps/a.bsp -o out.bsp");
    assert!(run.code == Some(2) && run.err.contains("cannot find nowhere"), "{run:?}");
    let room = self::room("[default]\nlayout = 'append'\n");
    let run = room.bspkit("info maps/a.bsp");
    assert!(run.code == Some(2) && run.err.contains("did you mean defaults?"), "{run:?}");
    let room = self::room("layout = 'append'\n");
    let run = room.bspkit("info maps/a.bsp");
    assert!(run.code == Some(2) && run.err.contains("write it below [defaults]"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_of_the_folder() {
    let room = Room::empty();
    room.write("project/a.bsp", &fixture("q2/own_rooms"));
    room.write("project/bspkit.toml", b"[defaults]\nrules = 'rules.cfg'\n");
    room.write("secret.cfg", b"remove:\n{\n\"classname\" \"light\"\n}\n");
    std::os::unix::fs::symlink(room.path("secret.cfg"), room.path("project/rules.cfg")).unwrap();
    let run = room.bspkit("ent apply project/a.bsp -o out.bsp");
    assert!(run.code == Some(2) && run.err.contains("a link that leads out"), "{run:?}");
    std::fs::remove_file(room.path("project/bspkit.toml")).unwrap();
    assert_eq!(room.bspkit("ent apply project/a.bsp --rules project/rules.cfg -o out.bsp").code, Some(0));
}

#[test]
fn maps_with_different_defaults_are_refused_together() {
    let room = Room::empty();
    for (folder, layout) in [("one", "append"), ("two", "append"), ("three", "keep")] {
        room.write(format!("{folder}/a.bsp"), &fixture("q2/own_rooms"));
        room.write(format!("{folder}/bspkit.toml"), format!("[defaults]\nlayout = '{layout}'\n").as_bytes());
    }
    room.write("four/a.bsp", &fixture("q2/own_rooms"));
    // Only an option that the command has is looked at, and it can be named.
    assert_eq!(room.bspkit("info one/a.bsp three/a.bsp four/a.bsp").code, Some(0));
    room.write("five/a.bsp", &fixture("q2/own_rooms"));
    room.write("five/bspkit.toml", b"[defaults]\ndialect = 'quake2'\n");
    let run = room.bspkit("info one/a.bsp five/a.bsp");
    assert!(run.code == Some(2) && run.err.contains("different defaults for --dialect"), "{run:?}");
    // What holds for each is shown nevertheless.
    let run = room.bspkit("config one/a.bsp three/a.bsp four five");
    assert!(run.code == Some(0) && run.text().contains("dialect  quake2"), "{run:?}");
    let edit = |maps: &str| room.bspkit(&format!("ent set {maps} worldspawn message=new --dry-run"));
    assert_eq!(edit("one/a.bsp two/a.bsp").code, Some(0));
    for maps in ["one/a.bsp three/a.bsp", "one/a.bsp four/a.bsp", "four/a.bsp one/a.bsp"] {
        let run = edit(maps);
        assert!(run.code == Some(2) && run.err.contains("different defaults for --layout"), "{maps}: {run:?}");
        // An option that is named has no default.
        assert_eq!(edit(&format!("{maps} --layout append")).code, Some(0), "{maps}");
        assert_eq!(edit(&format!("{maps} --layout=keep")).code, Some(0), "{maps}");
        assert_eq!(edit(&format!("{maps} -- --layout keep")).code, Some(2), "{maps}");
    }
}

/// A policy and defaults are parts of one file, and a mistake in one does not concern the other.
#[test]
fn policies_and_defaults_share_the_file() {
    let room = room("[defaults]\nlayout = 'append'\n[entities]\nmax_cont = 1\n");
    assert_eq!(room.bspkit("info maps/a.bsp").code, Some(0));
    let run = room.bspkit("ci maps/a.bsp");
    assert!(run.code == Some(2) && run.err.contains("max_count"), "{run:?}");
    room.write("bspkit.toml", b"[defaults]\nlayout = 'append'\n[entities]\nmax_count = 1\n");
    let run = room.bspkit("ci maps/a.bsp");
    assert!(run.code == Some(1), "{run:?}");
}

#[test]
fn config_shows_what_holds() {
    let room = room("[defaults]\nlayout = 'append'\nstock = ['stock.txt', 'more/own.txt']\n");
    room.write("stock.txt", b"");
    room.write("more/own.txt", b"");
    let run = room.bspkit("config maps");
    let lines: Vec<String> =
        String::from_utf8(run.out).unwrap().replace('\\', "/").lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "bspkit.toml",
            "  color    auto (built in)",
            "  dialect  -",
            "  layout   append",
            "  game     -",
            "  vpk      -",
            "  stock    stock.txt more/own.txt",
            "  fgd      -",
            "  rules    -"
        ]
    );
    let document = room.bspkit("config maps/a.bsp --json").json();
    assert_eq!(document["file"], "bspkit.toml");
    assert_eq!(document["defaults"][2]["values"][0], "append");
    assert_eq!(document["defaults"][2]["from"], "file");
    assert_eq!(room.bspkit("config none").code, Some(2));
}

#[test]
fn each_key_is_read_and_is_in_the_documents() {
    let page = include_str!("../../../../docs/policy.md");
    for key in KEYS {
        let value = match key.name {
            "color" => "auto",
            "dialect" => "quake2",
            "layout" => "keep",
            _ => "a",
        };
        let found = read("p.toml", &format!("defaults.{} = '{value}'", key.name)).unwrap();
        assert_eq!(found.values, [(key, vec![value.to_owned()])]);
        assert!(page.contains(&format!("| `{}` |", key.name)), "docs/policy.md: {}", key.name);
    }
}
