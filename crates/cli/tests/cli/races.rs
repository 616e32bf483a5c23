//! Several programs at one map: real processes, at once.

use std::process::Stdio;

use super::room::{Room, fixture};

/// Of edits that run at once each one is in the map, or its process says that it failed.
#[test]
fn edits_at_once_are_saved_or_refused() {
    let mut refused = [0; 2];
    for turn in 0..24 {
        let way = ["--in-place", "--in-place=patch"][turn % 2];
        let room = Room::empty();
        room.write("map.bsp", &fixture("q3/own_rooms"));
        let edit = |key: usize| {
            let mut command = room.command();
            command.args(["ent", "set", "map.bsp", "worldspawn", &format!("key{key}=x"), way]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let runs: Vec<_> = (0..4).map(edit).collect();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let runs: Vec<_> = runs.into_iter().map(|run| run.wait_with_output().unwrap()).collect();
        for (key, run) in runs.into_iter().enumerate() {
            let (code, err) = (run.status.code(), text(run.stderr));
            let is_there = room.bspkit(&format!("ent get map.bsp worldspawn key{key}")).code == Some(0);
            assert_eq!(is_there, code == Some(0), "key{key}: {err}");
            if code != Some(0) {
                refused[turn % 2] += 1;
                assert_eq!(code, Some(2), "{err}");
                let reasons = ["another program has changed map.bsp meanwhile", "another program wrote into map.bsp"];
                assert!(reasons.iter().any(|reason| err.contains(reason)), "{err}");
            }
        }
        assert_eq!(room.names().len(), 1);
    }
    assert!(refused.iter().all(|refused| *refused > 0), "no two of the edits ever met: {refused:?}");
}

/// Programs that write one baseline at once: it has the findings of all of them.
#[test]
fn a_baseline_that_is_written_at_once_has_all_findings() {
    let room = Room::empty();
    (0..8).for_each(|number| room.write(format!("maps/bad{number}.bsp"), b"no map"));
    let write = |number: usize| {
        let mut command = room.command();
        let map = format!("maps/bad{number}.bsp");
        command.args(["ci", &map, "--baseline", "known.json", "--write-baseline", "-q"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let runs: Vec<_> = (0..8).map(write).collect();
    runs.into_iter().for_each(|mut run| assert_eq!(run.wait().unwrap().code(), Some(0)));
    room.bspkit("ci maps --baseline known.json -q").without_data(0);
    assert_eq!(String::from_utf8(room.read("known.json")).unwrap().matches("\"path\"").count(), 8);
}

/// A program that keeps a lock for a moment is waited for.
#[cfg(target_os = "linux")]
#[test]
fn a_lock_is_waited_for() {
    use rustix::fs::{FlockOperation, flock};
    let room = Room::empty();
    room.write("map.bsp", &fixture("q3/own_rooms"));
    let file = std::fs::File::open(room.path("map.bsp")).unwrap();
    flock(&file, FlockOperation::LockExclusive).unwrap();
    let mut command = room.command();
    command.args(["ent", "set", "map.bsp", "worldspawn", "message=x", "--in-place"]);
    let mut run = command.stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(run.try_wait().unwrap().is_none(), "it did not wait");
    drop(file);
    assert!(run.wait().unwrap().success());
    let message = room.bspkit("ent get map.bsp worldspawn message").done();
    assert_eq!(message.text(), "x\n");
}

/// What the program says of a read-only map, a map with two names, and a folder that is not there.
#[cfg(unix)]
#[test]
fn what_stands_in_the_way_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::empty();
    room.write("map.bsp", &fixture("q3/own_rooms"));
    let mode = |mode| std::fs::set_permissions(room.path("map.bsp"), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o444);
    for place in ["--in-place", "-o other.bsp"] {
        std::fs::copy(room.path("map.bsp"), room.path("other.bsp")).unwrap();
        let line = format!("ent set map.bsp worldspawn message=x {place}");
        let run = room.bspkit(&line).without_data(2);
        assert!(run.err.contains("is read-only\n  hint: make it writable, or use --force"), "{}", run.err);
        room.bspkit(&format!("{line} --force")).done();
        std::fs::remove_file(room.path("other.bsp")).unwrap();
    }
    mode(0o644);
    std::fs::hard_link(room.path("map.bsp"), room.path("two.bsp")).unwrap();
    let run = room.bspkit("ent set map.bsp worldspawn message=y --in-place").done();
    assert!(run.err.contains("warning: map.bsp: the old file has 1 other name"), "{}", run.err);
    let run = room.bspkit("ent set map.bsp worldspawn message=z -o no/such/out.bsp").without_data(2);
    assert!(run.err.ends_with("caused by: there is no folder no/such\n"), "{}", run.err);
}

/// Maps whose textures go to one WAD file at once: no pixel is lost, whoever comes first.
#[test]
fn strips_to_one_wad_at_once_keep_all_pixels() {
    const RUNS: usize = 6;
    for round in 0..6 {
        let room = Room::empty();
        let original = fixture("goldsrc/own_rooms");
        if round % 2 == 1 {
            room.write("all.wad", b"WAD3\0\0\0\0\x0c\0\0\0");
        }
        for run in 0..RUNS {
            room.write(format!("{run}.bsp"), &original);
            let rename = format!("tex rename {run}.bsp own_wall own_{run} -o {run}.bsp --in-place");
            room.bspkit(&rename.replace(&format!("-o {run}.bsp "), "")).done();
        }
        let strip = |run: usize| {
            let mut command = room.command();
            let map = format!("{run}.bsp");
            command.args(["tex", "strip", &map, "--wad", "all.wad", "-o", &format!("bare{map}")]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let runs: Vec<_> = (0..RUNS).map(strip).collect();
        for run in runs {
            let run = run.wait_with_output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        }
        for run in 0..RUNS {
            room.bspkit(&format!("tex embed bare{run}.bsp all.wad -o back.bsp -q")).done();
            let is_back = room.read("back.bsp") == room.read(format!("{run}.bsp"));
            assert!(is_back, "round {round}, run {run}");
        }
    }
}

/// A file that the system cannot look at does not count as one that does not exist: a loop of links stands for a
/// faulty disk.
#[cfg(unix)]
#[test]
fn side_files_that_cannot_be_read_are_not_replaced() {
    let room = Room::empty();
    room.write("goldsrc.bsp", &fixture("goldsrc/own_rooms"));
    room.write("q3.bsp", &fixture("q3/own_rooms"));
    for name in ["kept.wad", "goldsrc.res", "q3.aas"] {
        std::os::unix::fs::symlink(name, room.path(name)).unwrap();
    }
    for line in [
        "tex strip goldsrc.bsp --wad kept.wad -o out.bsp",
        "res goldsrc.bsp",
        "res goldsrc.bsp --overwrite",
        "ent set q3.bsp worldspawn message=x --in-place --fix-aas",
    ] {
        let run = room.bspkit(line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        assert!(run.err.contains("cannot read ") && run.err.contains("symbolic links"), "{line}: {}", run.err);
    }
    assert!(["kept.wad", "goldsrc.res", "q3.aas"].iter().all(|name| room.path(name).is_symlink()));
    assert_eq!(room.read("q3.bsp"), fixture("q3/own_rooms"));
    assert!(!room.path("out.bsp").exists());
}

/// A program that runs is mapped into memory, without being open.
#[cfg(windows)]
#[test]
fn a_file_that_is_mapped_stays() {
    use std::io::Write;

    use bspkit::SaveOptions;
    use bspkit::file::replace;
    let (room, map) = (Room::empty(), fixture("q3/own_rooms"));
    let program = room.path("run.exe");
    std::fs::copy(env!("CARGO_BIN_EXE_bspkit"), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    let mut run = command.args(["info", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let error = replace(&program, &SaveOptions::default(), |mut file| file.write_all(&map)).unwrap_err();
    let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(format!("{error}: {cause}").contains("another program "), "{error:?}");
    drop(run.stdin.take());
    run.wait().unwrap();
    replace(&program, &SaveOptions::default(), |mut file| file.write_all(&map)).unwrap();
    assert_eq!(room.names(), [program]);
}
