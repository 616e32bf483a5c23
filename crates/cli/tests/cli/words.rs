//! What people trip over: several maps, stdin and stdout, complete folders, exit codes, names that look like files.

use std::fs;

use super::room::{Room, Run, fixture};

/// Maps of two families, named and in a folder.
fn maps() -> Room {
    let room = Room::empty();
    for (name, map) in [("a.bsp", "q2/own_rooms"), ("b.bsp", "q3/own_rooms"), ("maps/c.bsp", "goldsrc/own_rooms")] {
        room.write(name, &fixture(map));
    }
    room
}

/// A shell's `*.bsp` is taken by every command; what follows the maps is what it is for one.
#[test]
fn every_command_takes_several_maps() {
    let room = maps();
    for (command, count) in [
        ("ent list a.bsp b.bsp worldspawn", 2),
        ("ent list a.bsp b.bsp maps/c.bsp", 3),
        ("ent get a.bsp b.bsp worldspawn classname", 2),
        ("ent get a.bsp maps worldspawn classname", 2),
        ("ent set a.bsp b.bsp worldspawn k=v --dry-run", 2),
        ("ent add a.bsp b.bsp model=maps/x.bsp classname=func_wall --dry-run", 2),
        ("ent unset a.bsp b.bsp worldspawn message --dry-run", 2),
        ("ent rm a.bsp maps b.bsp light --dry-run", 3),
        ("ent export a.bsp b.bsp", 2),
        ("cat -j 1 a.bsp maps b.bsp entities", 3),
        ("dump a.bsp b.bsp planes", 2),
        ("get a.bsp b.bsp planes[0].normal", 2),
        ("set a.bsp b.bsp planes[0].distance=1 --dry-run", 2),
        ("tex rename a.bsp b.bsp * x/{1} --dry-run", 2),
        ("vis fill a.bsp b.bsp --dry-run", 2),
        ("verify a.bsp b.bsp", 2),
    ] {
        let run = room.bspkit(&format!("{command} -v"));
        let all =
            run.err.lines().find(|line| line.ends_with("total")).unwrap_or_else(|| panic!("{command}: {}", run.err));
        assert_eq!(all.split_whitespace().next(), Some(&*count.to_string()), "{command}: {}", run.err);
        assert!(!run.err.contains("failed"), "{command}: {}", run.err);
    }
    // A folder that is called as a class is none of the maps.
    fs::create_dir(room.path("light")).unwrap();
    assert!(room.bspkit("ent list a.bsp light").done().text().starts_with("{\n\"classname\" \"light\""));
    // A map that is mistyped is not taken for something else.
    for command in ["ent list x.bsp light", "ent list a.bsp x.bsp light", "ent rm x.bsp a.bsp light --dry-run"] {
        let run = room.bspkit(command);
        assert!(run.err.contains("cannot read x.bsp") && run.err.contains("(os error 2)"), "{}", run.err);
    }
    let run = room.bspkit("ent rm a.bsp b.bsp --dry-run").without_data(2);
    assert!(run.err.contains("<SEL>"), "{}", run.err);
}

#[test]
fn a_map_may_come_from_stdin_and_go_to_stdout() {
    let room = maps();
    let map = room.read("a.bsp");
    let run = room.with_stdin("ent set - worldspawn message=piped -o -", &map).done();
    room.bspkit("ent set a.bsp worldspawn message=piped -o saved.bsp").done();
    assert!(run.out == room.read("saved.bsp") && run.err.starts_with("-: 1 entity, 1 value; ENTITIES"), "{}", run.err);
    assert!(!room.path("-").exists());
    assert!(room.with_stdin("info -", &map).done().text().starts_with("-: Quake II"));
    assert_eq!(room.bspkit("ent export a.bsp -o -").done().out, room.bspkit("ent export a.bsp").done().out);
    for (bad, says) in [
        ("ent set - worldspawn k=v --in-place", "stdin cannot be replaced"),
        ("ent set a.bsp b.bsp worldspawn k=v -o -", "only a single map can be written to stdout"),
        ("ent set a.bsp worldspawn k=v -o - --json", "only a single map can be written to stdout"),
        ("ent set - worldspawn k=v -o maps", "stdin has no file name"),
    ] {
        let run = room.bspkit(bad).without_data(2);
        assert!(run.err.contains(says), "{}", run.err);
    }
    // A file of that name has a path.
    fs::copy(room.path("a.bsp"), room.path("-")).unwrap();
    room.bspkit("info ./-").done();
}

/// A folder of maps that is saved has all of them.
#[test]
fn a_folder_is_complete() {
    let room = maps();
    let run = room.bspkit("ent unset a.bsp b.bsp maps/c.bsp worldspawn gridsize -o out").without_data(0);
    assert!(run.err.contains("out: 2 maps copied unchanged"), "{}", run.err);
    assert_eq!(room.read("out/a.bsp"), room.read("a.bsp"));
    assert_eq!(room.read("out/c.bsp"), room.read("maps/c.bsp"));
    assert_ne!(room.read("out/b.bsp"), room.read("b.bsp"));
    room.bspkit("ent unset a.bsp b.bsp maps/c.bsp worldspawn gridsize -o some --only-changed").without_data(0);
    assert_eq!(fs::read_dir(room.path("some")).unwrap().count(), 1);
    // Where nothing matches in any of them, nothing is written.
    room.bspkit("ent unset a.bsp b.bsp worldspawn nothing -o none").without_data(1);
    assert!(!room.path("none").exists());
    // Two maps of one name would be one file.
    room.write("other/a.bsp", &fixture("q3/own_rooms"));
    let run = room.bspkit("ent set a.bsp other/a.bsp worldspawn k=v -o twins").without_data(2);
    assert!(run.err.contains("a.bsp and other/a.bsp have the same path in twins"), "{}", run.err);
    // On Windows and macOS these are one file.
    #[cfg(target_os = "linux")]
    {
        room.write("cases/a.bsp", &fixture("q2/own_rooms"));
        room.write("cases/A.bsp", &fixture("q2/own_box"));
        room.bspkit("unpack cases -o folders").done();
        let run = room.bspkit("pack folders -o packed").without_data(2);
        assert!(run.err.contains("have paths that differ only in case in packed"), "{}", run.err);
        assert!(run.err.contains("rename one"), "{}", run.err);
    }
}

/// With several maps 1 says that some failed or that nothing matched in any, and 2 that nothing could be done.
#[test]
fn one_rule_for_exit_codes() {
    let room = maps();
    for command in
        ["ent list {} [gridsize]", "ent get {} worldspawn gridsize", "ent unset {} worldspawn gridsize --dry-run"]
    {
        for (named, code) in [
            ("b.bsp", 0),
            ("a.bsp", 1),
            ("x.bsp", 2),
            ("a.bsp b.bsp", 0),
            ("a.bsp x.bsp", 1),
            ("b.bsp x.bsp", 1),
            ("x.bsp y.bsp", 2),
        ] {
            let run = room.bspkit(&command.replace("{}", named));
            assert_eq!(run.code, Some(code), "{command} {named}: {}", run.err);
        }
    }
    assert_eq!(room.bspkit("-q ent list a.bsp b.bsp nothing").without_data(1).err, "", "quiet is quiet");
}

#[test]
fn a_name_of_a_file_is_no_folder() {
    let room = maps();
    room.write("s.bsp", &fixture("source/room_v20"));
    for command in [
        "ent set a.bsp b.bsp worldspawn k=v -o out.bsp",
        "ent export a.bsp b.bsp -o out.ent",
        "pak extract s.bsp -o files.zip",
        "light export a.bsp -o light.png",
        "tex export maps/c.bsp -o out.png",
        "vis export a.bsp b.bsp -o out.png",
        "unpack a.bsp -o out.json",
    ] {
        let before = room.names();
        let run = room.bspkit(command).without_data(2);
        assert!(run.err.contains("looks like a file name"), "{command}: {}", run.err);
        assert_eq!(room.names(), before, "{command}");
    }
    room.bspkit("light export a.bsp -o light.png/").done();
    let run = room.bspkit("ent set a.bsp b.bsp worldspawn k=v -o a.bsp").without_data(2);
    assert!(run.err.contains("a.bsp is not a folder"), "{}", run.err);
}

#[test]
fn arguments_that_do_nothing_are_refused() {
    let room = maps();
    let run = room.bspkit("light adjust a.bsp -o out.bsp").without_data(2);
    assert!(run.err.contains("--gain") && run.err.contains("--tint"), "{}", run.err);
    let run = room.bspkit("ent set a.bsp worldspawn k=v --fix-aas -o out.bsp").without_data(2);
    assert!(run.err.contains("--fix-aas is for Quake III maps"), "{}", run.err);
    assert!(!room.path("out.bsp").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for target in ["b.bsp --in-place", "a.bsp -o b.bsp"] {
            fs::set_permissions(room.path("b.bsp"), fs::Permissions::from_mode(0o444)).unwrap();
            let (map, how) = target.split_once(' ').unwrap();
            let command = format!("ent set {map} worldspawn k=v {how}");
            let run = room.bspkit(&command).without_data(2);
            assert!(run.err.contains("read-only") && run.err.contains("--force"), "{}", run.err);
            room.bspkit(&format!("{command} --force")).done();
        }
    }
}

/// A dialect that is named is meant by everything that the command does.
#[test]
fn the_dialect_that_is_named_counts() {
    let room = maps();
    let mut map = room.read("a.bsp");
    map[4] = 39;
    room.write("odd.bsp", &map);
    room.bspkit("info odd.bsp").without_data(2);
    room.bspkit("verify odd.bsp --dialect quake2").done();
    let planes = room.bspkit("dump odd.bsp planes --dialect quake2").done().out;
    let lines: Vec<&[u8]> = planes.split_inclusive(|byte| *byte == b'\n').collect();
    room.write("more.jsonl", &[&planes[..], lines[0]].concat());
    for layout in ["keep", "repack"] {
        let load =
            format!("load odd.bsp planes more.jsonl --resize --layout {layout} --dialect quake2 -o out.bsp --force");
        room.bspkit(&load).done();
        let count = room.bspkit("dump out.bsp planes --dialect quake2").done().text().lines().count();
        assert_eq!(count, lines.len() + 1);
    }
}

/// 1,000 folders deep takes no 1,000 times as long as one, and no stack. (Wine takes minutes to find a path that long.)
#[cfg(unix)]
#[test]
fn deep_folders_are_walked_in_linear_time() {
    let room = Room::empty();
    let deep = "d/".repeat(1_000);
    fs::create_dir_all(room.path(&deep)).unwrap();
    room.write(format!("{deep}x.bsp"), &fixture("q2/own_box"));
    let since = std::time::Instant::now();
    room.bspkit("ent list d worldspawn").done();
    assert!(since.elapsed().as_secs() < 5, "{:?}", since.elapsed());
}

/// Where no thread can be started, here for want of room for its stack, the first one does all the work.
#[test]
fn no_thread_is_needed() {
    let room = maps();
    for command in ["verify -j 8 a.bsp b.bsp maps", "light export a.bsp -o light -j 8 --by face"] {
        let mut run = room.command();
        run.args(command.split_whitespace()).env("RUST_MIN_STACK", "9000000000000");
        Run::of(&mut run).done();
    }
}

#[test]
fn completions_know_the_values() {
    let room = Room::empty();
    let script = room.bspkit("completions bash").done();
    for value in ["q2pro", "entity-nul", "quake2"] {
        assert!(script.text().contains(value), "{value}");
    }
}

/// Shells of Windows leave wildcards as they are, and so do quotes.
#[test]
fn wildcards_that_the_shell_leaves_are_expanded() {
    let room = maps();
    room.write("maps/deep/d.BSP", &fixture("q2/own_rooms"));
    room.write(".hidden.bsp", &fixture("q2/own_rooms"));
    for (argument, count) in [("*.bsp", 2), ("?.BSP", 2), ("*/*.bsp", 1), ("m*/d*/*", 1), ("*.bsp maps/*.bsp", 3)] {
        let run = room.bspkit(&format!("verify {argument} -v"));
        let verified = run.text().lines().filter(|line| line.starts_with("pass ")).count();
        assert_eq!((run.code, verified), (Some(0), count), "{argument}: {} {}", run.text(), run.err);
    }
    // The operands after the maps are not names of files.
    room.write("info_1.txt", b"");
    let run = room.bspkit("ent list *.bsp info_*").done();
    assert!(run.text().contains("info_player"), "{}", run.text());
    let run = room.bspkit("verify x*.bsp").without_data(2);
    assert_eq!(run.err, "error: no file matches x*.bsp\n");
    // A name may have a wildcard where the system allows it.
    if cfg!(unix) {
        room.write("[*].bsp", &fixture("q2/own_rooms"));
        assert_eq!(room.bspkit("verify [*].bsp").done().text().lines().count(), 1);
    }
}

/// A selector that has the form of something else gets the right form.
#[test]
fn a_selector_that_matches_nothing_names_the_right_form() {
    let room = maps();
    for (selector, form) in [
        ("classname=light", "did you mean `light`?"),
        ("17", "did you mean `#17`?"),
        ("#999", "the map has no entity #999, the last one is #"),
        ("origin", "[origin] matches"),
        ("maps", "it is a file or folder"),
    ] {
        let code = if form.starts_with("did") { 2 } else { 1 };
        let run = room.bspkit(&format!("ent list a.bsp {selector}")).without_data(code);
        assert!(run.err.contains(form), "{selector}: {}", run.err);
    }
}

/// Nothing is printed before the order of the words is right.
#[test]
fn a_selector_before_the_maps_is_an_error_that_shows_the_order() {
    let room = maps();
    let run = room.bspkit("ent list worldspawn a.bsp").without_data(2);
    assert!(run.err.contains("maps come first") && run.err.contains("ent list a.bsp worldspawn"), "{}", run.err);
    let run = room.bspkit("ent set worldspawn a.bsp k=v -o out").without_data(2);
    assert!(run.err.contains("<MAP...> <SEL> <KEY=VALUE>..."), "{}", run.err);
    assert!(!room.path("out").exists());
}

/// `--` separates folders from the selector.
#[test]
fn folders_before_two_dashes_are_maps() {
    let room = maps();
    room.bspkit("ent set -o out maps a.bsp -- worldspawn k=v").done();
    let text = |command: &str| String::from_utf8(room.bspkit(command).done().out).unwrap();
    assert!(text("ent list maps a.bsp -- worldspawn").contains("// a.bsp"));
    assert!(!text("ent list a.bsp -- worldspawn").contains("\"light\""));
}

/// Stdin may be the first one of several maps.
#[test]
fn stdin_is_one_of_several_maps() {
    let room = Room::new();
    let map = room.read("q2.bsp");
    for line in ["info - q3.bsp --json", "info q3.bsp - --json"] {
        let run = room.with_stdin(line, &map).done();
        let paths: Vec<&str> =
            run.text().lines().map(|line| if line.contains("\"quake2\"") { "-" } else { "q3" }).collect();
        let order = if line.starts_with("info -") { ["-", "q3"] } else { ["q3", "-"] };
        assert_eq!(paths, order, "{line}");
    }
}

/// A word more than a command takes is not looked for as a map, and a new name that ends like a map is called that.
#[test]
fn a_word_too_many_is_no_map() {
    let room = Room::new();
    let run = room.bspkit("ent get q2.bsp worldspawn message sky").without_data(2);
    assert!(run.err.contains("unexpected argument 'sky'"), "{}", run.err);
    let run = room.bspkit("rename q2.bsp arena.bsp -o out.bsp").without_data(2);
    assert!(run.err.contains("arena.bsp counts as a map, as it ends like one: leave out its extension"), "{}", run.err);
}

/// A name of a file may have what a terminal obeys, and a word of the command line may be one.
#[test]
fn a_wrong_word_tells_a_terminal_nothing() {
    let room = Room::new();
    let odd = "\u{1b}[35mred\u{1b}]0;title\u{7}";
    for line in [vec![odd], vec!["info", "q2.bsp", "--dialect", odd], vec!["ent", odd]] {
        // Colors are asked for: without a terminal nothing of the kind is printed.
        let run = Run::of(room.command().args(&line).env("CLICOLOR_FORCE", "1"));
        assert_eq!(run.code, Some(2), "{run:?}");
        let obeyed = ["\u{1b}[35m", "\u{1b}]0;", "\u{7}"];
        assert!(run.err.contains("red") && !obeyed.iter().any(|text| run.err.contains(text)), "{:?}", run.err);
    }
}
