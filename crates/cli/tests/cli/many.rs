//! Whole folders of maps: every command takes them, the summary is true, parts are parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::room::{Room, Run, fixture, slashes};

/// A folder with maps of several families, some deeper than others.
fn folder() -> Room {
    let room = Room::empty();
    for (name, map) in [("a", "q2/own_rooms"), ("deep/b", "q3/own_rooms"), ("deep/er/c", "goldsrc/own_rooms")] {
        room.write(format!("maps/{name}.bsp"), &fixture(map));
    }
    room
}

/// What nobody could do anything with: empty, foreign, huge, cut, and links that lead nowhere.
fn spoil(room: &Room) {
    room.write("maps/bad/empty.bsp", b"");
    room.write("maps/bad/foreign.bsp", b"PK\x03\x04rest of a zip");
    room.write("maps/bad/titan.bsp", b"rBSP\x25\0\0\0");
    room.write("maps/bad/huge.bsp", b"");
    let huge = fs::OpenOptions::new().write(true).open(room.path("maps/bad/huge.bsp")).unwrap();
    huge.set_len(3 << 30).unwrap();
    room.write("maps/bad/large.bsp", &fixture("q2/own_rooms"));
    let large = fs::OpenOptions::new().write(true).open(room.path("maps/bad/large.bsp")).unwrap();
    large.set_len(3 << 30).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        symlink("nowhere.bsp", room.path("maps/bad/dangling.bsp")).unwrap();
        symlink("loop.bsp", room.path("maps/bad/loop.bsp")).unwrap();
        symlink("..", room.path("maps/bad/up")).unwrap();
        room.write("maps/bad/secret.bsp", b"");
        fs::set_permissions(room.path("maps/bad/secret.bsp"), fs::Permissions::from_mode(0o0)).unwrap();
    }
}

/// The table that a run ends with: maps by what became of them, and those that failed.
struct Summary {
    rows: BTreeMap<String, usize>,
    all: usize,
    failed: BTreeSet<String>,
}

impl Summary {
    fn of(run: &Run) -> Self {
        let (_, table) = run.err.split_once("  result\n").unwrap_or_else(|| panic!("no table: {}", run.err));
        let (mut rows, mut all, mut failed) = (BTreeMap::new(), None, BTreeSet::new());
        for line in table.lines().filter(|line| !line.ends_with("copied unchanged")) {
            if let Some(path) = line.strip_prefix("failed: ") {
                assert!(failed.insert(path.to_owned()), "{path} twice");
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let (count, what) = (words[0].parse().unwrap(), words[2..].join(" "));
            match what.starts_with("total") {
                true => all = Some(count),
                false => drop(rows.insert(what, count)),
            }
        }
        let all = all.expect("a sum");
        assert_eq!(rows.values().sum::<usize>(), all, "{}", run.err);
        Summary { rows, all, failed }
    }

    fn failures(&self) -> usize {
        self.rows.iter().filter(|(what, _)| what.starts_with("failed: ")).map(|(_, count)| count).sum()
    }
}

fn lines(run: &Run) -> Vec<Value> {
    run.text().lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// Every reading command has a line for each map, and the summary counts what the lines say.
#[test]
fn a_folder_with_bad_files_ends_with_a_true_summary_and_1() {
    let room = folder();
    spoil(&room);
    let bad = fs::read_dir(room.path("maps/bad")).unwrap().count() - usize::from(cfg!(unix));
    for command in [
        "info maps",
        "ls maps",
        "cat maps entities",
        "verify maps",
        "check maps",
        "ent list maps",
        "dump maps models",
        "ent get maps worldspawn classname",
        "get maps planes[0]",
        "light stat maps",
        "vis stat maps",
        "tex list maps",
    ] {
        for jobs in ["-j1", "-j3"] {
            let run = room.bspkit(&format!("{command} --json {jobs}"));
            assert_eq!(run.code, Some(1), "{command}: {}", run.err);
            let (summary, lines) = (Summary::of(&run), lines(&run));
            let failed = lines.iter().filter(|line| line["error"].is_string());
            let failed: BTreeSet<_> = failed.map(|line| slashes(line["path"].as_str().unwrap())).collect();
            assert_eq!((lines.len(), summary.all), (3 + bad, 3 + bad), "{command}");
            assert_eq!((&failed, failed.len()), (&summary.failed, bad), "{command}");
            assert_eq!(summary.failures(), bad, "{command}: {}", run.err);
            assert!(!failed.contains("maps/a.bsp"));
        }
        let run = room.bspkit(&format!("{command} -q"));
        assert!(!run.err.contains("total"), "quiet is quiet: {}", run.err);
    }
    let run = room.bspkit("pak verify maps --json");
    assert_eq!((run.code, lines(&run).len(), Summary::of(&run).failures()), (Some(2), 3 + bad, 3 + bad));
    // What is too large for any directory is not read.
    let run = room.bspkit("info maps/bad/large.bsp").without_data(2);
    assert!(run.err.contains("2 GiB"), "{}", run.err);
}

#[test]
fn an_edit_of_a_folder_saves_what_can_be_saved() {
    let room = folder();
    spoil(&room);
    let run = room.bspkit("ent set maps worldspawn message=new -o out").without_data(1);
    let summary = Summary::of(&run);
    assert_eq!(summary.rows["done"], 3, "{}", run.err);
    assert_eq!(summary.failures() + 3, summary.all);
    for map in ["a", "deep/b", "deep/er/c"] {
        assert_eq!(room.bspkit(&format!("ent get out/{map}.bsp worldspawn message")).done().text(), "new\n");
    }
    assert!(!room.path("out/bad/empty.bsp").exists());
    let run = room.bspkit("ent unset maps worldspawn gridsize -o other").without_data(1);
    let summary = Summary::of(&run);
    assert_eq!(summary.rows["nothing matched"] + summary.rows["done"], 3, "{}", run.err);
    // That some have nothing to change is nothing bad, as long as one has.
    fs::remove_dir_all(room.path("maps/bad")).unwrap();
    room.bspkit("ent unset maps worldspawn gridsize -o third").without_data(0);
    room.bspkit("ent unset maps worldspawn none -o fourth").without_data(1);
    assert!(!room.path("fourth").exists());
}

/// Several maps are as many as one would be: what is exported of a folder is imported into it again, to the same bytes.
#[test]
fn what_is_exported_of_a_folder_is_imported_again() {
    let room = folder();
    room.write("maps/deep/b.BSP", &fixture("q2/own_rooms_bspx"));
    room.write("sources/s/room.bsp", &fixture("source/room_v20"));
    room.write("goldsrcs/c.bsp", &fixture("goldsrc/own_rooms"));
    for (export, import) in [
        ("ent export maps -o texts", "ent import maps texts"),
        ("light export maps -o light", "light import maps light"),
        ("light export sources -o light2 --by face", "light import sources light2"),
        ("tex export goldsrcs -o images --mips", "tex import goldsrcs images"),
        ("lmp export sources entities models -o lumps", "lmp import sources lumps"),
        ("vis export maps -o pictures", "vis import maps pictures"),
        ("pak extract sources -o files", "ent fmt sources --dry-run"),
    ] {
        let run = room.bspkit(export).done();
        let from = import.split_whitespace().find(|word| ["maps", "sources", "goldsrcs"].contains(word)).unwrap();
        Summary::of(&run);
        let saves = !import.contains("--dry-run");
        let run = room.bspkit(&format!("{import}{}", if saves { " -o out" } else { "" })).done();
        let all = Summary::of(&run).all;
        assert_eq!(all, room.names().iter().filter(|name| name.starts_with(room.path(from)) && name.is_file()).count());
        for name in room.names().into_iter().filter(|name| saves && name.starts_with(room.path(from)) && name.is_file())
        {
            let own = name.strip_prefix(room.path(from)).unwrap();
            assert_eq!(room.read(room.path("out").join(own)), fs::read(&name).unwrap(), "{import}: {own:?}");
        }
        fs::remove_dir_all(room.path("out")).ok();
    }
    for file in ["texts/deep/b.ent", "pictures/a.png", "lumps/s/room_l_1.lmp"] {
        assert!(room.path(file).is_file(), "{file}");
    }
    // Two maps of one name but for its extension have a place each. On Windows they are one file.
    if !cfg!(windows) {
        assert!(room.path("texts/deep/b.bsp.ent").is_file());
        assert_ne!(room.read("texts/deep/b.ent"), room.read("texts/deep/b.bsp.ent"));
    }
    // What is not there is left, and said.
    fs::remove_file(room.path("texts/a.ent")).unwrap();
    let run = room.bspkit("ent import maps texts -o out").without_data(0);
    assert!(run.err.contains("maps/a.bsp: no text to import"), "{}", run.err);
    assert_eq!(room.read("out/a.bsp"), room.read("maps/a.bsp"));
}

#[test]
fn a_lump_of_many_maps_is_lines_of_json() {
    let room = folder();
    for map in ["maps/a.bsp", "maps/deep/b.bsp"] {
        let single = room.bspkit(&format!("dump {map} planes")).done();
        let many = room.bspkit("dump maps planes").done();
        let line = lines(&many).into_iter().find(|line| slashes(line["path"].as_str().unwrap()) == map).unwrap();
        assert_eq!(line["records"].as_array().unwrap(), &lines(&single), "{map}");
        assert_eq!(line["lump"], "PLANES");
    }
    room.bspkit("dump maps planes --format csv").without_data(2);
    room.bspkit("load maps planes nothing -o out").without_data(2);
    let texts = room.bspkit("cat maps entities").done();
    let apart = ["a", "deep/b", "deep/er/c"].map(|map| room.bspkit(&format!("cat maps/{map}.bsp entities")).done().out);
    assert_eq!(texts.out, apart.concat());
    assert_eq!(room.bspkit("ent export maps").done().out, texts.out);

    // Much data is written as it comes, and in order nevertheless.
    let mut texts = Vec::new();
    for map in ["a", "deep/b", "deep/er/c"] {
        let text = format!("{{ \"classname\" \"info_null\" \"own\" \"{map}\" }}\n").repeat(25_000);
        let text = [b"{ \"classname\" \"worldspawn\" }\n", text.as_bytes(), b"\0"].concat();
        room.write("text", &text);
        room.bspkit(&format!("ent import maps/{map}.bsp text --in-place --layout append")).done();
        for index in (texts.len()..30).step_by(3) {
            fs::create_dir_all(room.path("large")).unwrap();
            fs::hard_link(room.path(format!("maps/{map}.bsp")), room.path(format!("large/{index:02}.bsp"))).unwrap();
        }
        texts.push(text);
    }
    for jobs in ["-j1", "-j3"] {
        assert!(room.bspkit(&format!("cat large entities {jobs}")).done().out == texts.concat().repeat(10), "{jobs}");
    }
}

#[test]
fn shards_are_disjoint_and_cover_everything() {
    let room = Room::empty();
    let map = fixture("q2/own_box");
    for index in 0..11 {
        room.write(format!("maps/{}/{index:02}.bsp", index % 3), &map);
    }
    // What is no map has its place by its name below the folder as well.
    #[cfg(unix)]
    std::os::unix::fs::symlink("/dev/null", room.path("maps/1/05.bsp")).unwrap();
    let all_of_them = if cfg!(unix) { 12 } else { 11 };
    let paths = |run: &Run| lines(run).iter().map(|line| line["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let all = paths(&room.bspkit("info maps --json"));
    assert_eq!(all.len(), all_of_them);
    fs::rename(room.path("maps"), room.path("elsewhere")).unwrap();
    for parts in [1, 2, 3, 11, 20] {
        let mut seen = Vec::new();
        for part in 1..=parts {
            let run = room.bspkit(&format!("info elsewhere --json --shard {part}/{parts} -j 2"));
            assert_eq!(Summary::of(&run).all, paths(&run).len());
            assert!(run.err.contains(&format!("part {part}/{parts} of {all_of_them}")), "{}", run.err);
            seen.extend(paths(&run));
        }
        let seen: Vec<_> = seen.iter().map(|path| path.replace("elsewhere", "maps")).collect();
        assert_eq!(seen, all, "{parts} parts");
    }
    for bad in ["0/3", "4/3", "1/0", "x", "1", "-1/2", "1/2/3"] {
        let run = room.bspkit(&format!("info elsewhere --shard={bad}")).without_data(2);
        assert!(run.err.contains("second of four") || run.err.contains("there is no part"), "{}", run.err);
    }
    for bad in ["0", "-1", "x", "257", "99999999999999999999"] {
        let run = room.bspkit(&format!("info elsewhere --jobs={bad}")).without_data(2);
        assert!(run.err.contains("the number must be from 1 to 256"), "{}", run.err);
    }
}

#[test]
fn going_on_is_the_rule_and_stopping_is_asked_for() {
    let room = folder();
    room.write("maps/b.bsp", b"bad");
    for option in ["", " --keep-going"] {
        let run = room.bspkit(&format!("info maps --json -j1{option}"));
        assert_eq!((run.code, lines(&run).len()), (Some(1), 4), "{}", run.err);
    }
    let run = room.bspkit("info maps --json -j1 --fail-fast");
    assert_eq!((run.code, lines(&run).len()), (Some(1), 2), "{}", run.err);
    let summary = Summary::of(&run);
    assert_eq!((summary.rows["not started, since the run was stopped"], summary.all), (2, 4));
    room.bspkit("info maps --fail-fast --keep-going").without_data(2);
    // One map that fails is a failure, and has no table.
    let run = room.bspkit("info maps/b.bsp --json");
    assert_eq!((run.code, run.json()["error"].is_string()), (Some(2), true));
    assert!(!run.err.contains("total"), "{}", run.err);
}

/// The bar is drawn on terminals alone, and no data is mixed with it.
#[cfg(target_os = "linux")]
#[test]
fn a_bar_is_drawn_on_a_terminal_only() {
    let room = folder();
    assert!(!room.bspkit("info maps --json").done().err.contains('\r'));
    if room.shell("command -v script").code != Some(0) {
        eprintln!("notice: no `script` to make a terminal with");
        return;
    }
    let on_terminal = |line: &str| room.shell(&format!("script -qec '{line}' /dev/null")).done().out;
    let seen = String::from_utf8(on_terminal("bspkit info maps --json >lines")).unwrap();
    assert!(seen.contains("\r\x1b[K[") && seen.contains("of 3 maps"), "{seen:?}");
    assert!(!room.read("lines").contains(&b'\r'));
    let before_table = seen.split("    maps ").next().unwrap();
    assert!(before_table.ends_with("\r\x1b[K"), "the bar is taken away: {seen:?}");
    for line in ["bspkit info maps --json -q", "bspkit info maps/a.bsp", "bspkit info maps --json 2>/dev/null"] {
        let seen = String::from_utf8(on_terminal(line)).unwrap();
        assert!(!seen.contains("\x1b[K"), "{line}: {seen:?}");
    }
}

/// What waits for a slow first map is bounded, and so is all else: a run over many maps takes no more than one over few.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat_over_many_maps() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    room.write("one/m.bsp", &map);
    let peak = |folder: &str, command: &str| -> usize {
        let line = format!(
            "bspkit {command} {folder} -j 2 -q >/dev/null & pid=$!; peak=0; more=1
            while [ $more = 1 ]; do more=0; while read -r key value unit; do
                case $key in VmHWM:) peak=$value; more=1;; esac
            done 2>/dev/null </proc/$pid/status; done 2>/dev/null; wait $pid; echo $? $peak"
        );
        let run = room.shell(&line).done();
        let words: Vec<&str> = run.text().split_whitespace().collect();
        assert_eq!(words[0], "0", "{}", run.err);
        words[1].parse().unwrap()
    };
    // A run over one map would end before it is measured.
    for (folder, count) in [("few", 200), ("many", 2_000)] {
        for index in 0..count {
            let path = room.path(format!("{folder}/{}/{index}.bsp", index % 10));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::hard_link(room.path("one/m.bsp"), path).unwrap();
        }
    }
    for command in ["info --json", "ent list", "verify"] {
        let (few, many) = (peak("few", command), peak("many", command));
        assert!(many < few.max(12 << 10) + (8 << 10), "{command}: {few} KiB for 200 maps, {many} for 2000");
    }
}

/// An output folder below the maps is read the next time; then its maps would be replaced, and that is refused.
#[test]
fn an_output_folder_below_the_maps_is_refused_once_it_has_maps() {
    let room = folder();
    room.bspkit("ent set maps #0 x=1 -o maps/out").done();
    let names = room.names();
    for to in ["maps/out", "maps", "maps/deep/.."] {
        let run = room.bspkit(&format!("ent set maps #0 x=2 -o {to}")).without_data(2);
        assert!(run.err.contains("outside of the folder of maps"), "{}", run.err);
    }
    assert_eq!(room.names(), names);
}

/// A folder that is there itself has its own name, also where a link to it comes first in the alphabet.
#[cfg(unix)]
#[test]
fn a_folder_counts_before_the_links_to_it() {
    use std::os::unix::fs::symlink;
    let room = folder();
    room.write("far/d.bsp", &fixture("q2/own_rooms"));
    symlink("deep", room.path("maps/current")).unwrap();
    symlink("../far", room.path("maps/b")).unwrap();
    let run = room.bspkit("ent list maps -l -q -- worldspawn").done();
    let files: Vec<_> = run.text().lines().map(slashes).collect();
    assert_eq!(files, ["maps/a.bsp", "maps/b/d.bsp", "maps/deep/b.bsp", "maps/deep/er/c.bsp"]);
    room.bspkit("ent set maps worldspawn a=b -o out -q").done();
    assert!(room.path("out/deep/er/c.bsp").exists() && room.path("out/b/d.bsp").exists());
    assert!(!room.path("out/current").exists());
}
