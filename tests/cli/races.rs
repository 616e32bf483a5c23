//! Several programs at one map: real processes, at once.

use std::process::Stdio;

use super::room::{Room, fixture};

/// Of edits that run at once each one is in the map, or its process says that it failed.
#[test]
fn edits_at_once_are_saved_or_refused() {
    let mut refused = 0;
    for _ in 0..12 {
        let room = Room::empty();
        room.write("map.bsp", &fixture("q3/own_rooms"));
        let edit = |key: usize| {
            let mut command = room.command();
            command.args(["ent", "set", "map.bsp", "worldspawn", &format!("key{key}=x"), "--in-place"]);
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
                refused += 1;
                assert_eq!(code, Some(2), "{err}");
                assert!(err.contains("another program has changed map.bsp meanwhile"), "{err}");
            }
        }
        assert_eq!(room.names().len(), 1);
    }
    assert!(refused > 0, "no two of the edits ever met");
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
