//! Ctrl-C: every file is the old one or the new one, whole, and nothing else is left.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::room::{Room, fixture};

const PROGRAM: &str = env!("CARGO_BIN_EXE_bspkit");

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

/// Stops a child, and waits until it is still: a call of the system is done to its end first.
fn pause(child: &Child) {
    signal(child, "STOP");
    let is_still = || {
        let output = Command::new("ps").args(["-o", "state=", "-p", &child.id().to_string()]).output().unwrap();
        let state = String::from_utf8_lossy(&output.stdout);
        state.trim_start().starts_with(['T', 'Z'])
    };
    let waited = (0..5000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        is_still()
    });
    assert!(waited, "it does not stop");
}

/// `program` with the signals as a terminal gives them: a run of the tests by `nohup`, or behind a shell, ignores some, and a
/// child inherits that.
fn heeding(room: &Room, program: &str) -> Command {
    let mut command = Command::new(program);
    if cfg!(target_os = "linux") {
        command = Command::new("env");
        command.args(["--default-signal=HUP,INT,TERM", program]);
    }
    command.current_dir(room.path("")).stdin(Stdio::null());
    command
}

fn temporary(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".bspkit-")).count()
}

#[test]
fn a_batch_that_is_stopped_leaves_whole_files() {
    let room = Room::empty();
    let old = fixture("q2/own_rooms");
    let count = 400;
    for index in 0..count {
        room.write(format!("maps/{index:04}.bsp"), &old);
    }
    room.write("new.bsp", &old);
    room.bspkit("ent set new.bsp worldspawn message=new --in-place").done();
    let new = room.read("new.bsp");
    assert_ne!(old, new);

    let mut changed = 0;
    for name in ["INT", "TERM", "INT"] {
        let line = ["ent", "set", "maps", "worldspawn", "message=new", "--in-place", "-j", "2"];
        let mut child =
            heeding(&room, PROGRAM).args(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // Once something is said the run is in its midst.
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        signal(&child, name);
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
        assert_eq!(temporary(&room.path("maps")), 0);
        let files: Vec<Vec<u8>> = (0..count).map(|index| room.read(format!("maps/{index:04}.bsp"))).collect();
        assert!(files.iter().all(|file| *file == old || *file == new));
        let now = files.iter().filter(|file| **file == new).count();
        let number = |row: &str| {
            let line = said.lines().find(|line| line.contains(row)).unwrap_or("0");
            line.split_whitespace().next().unwrap().parse::<usize>().unwrap()
        };
        // What it says it has done is what is done.
        assert_eq!((number("  total"), number("  done") + number("  not started, ")), (count, count), "{said}");
        assert_eq!(now, changed.max(number("  done")), "{said}");
        assert!(number("  not started, ") > 0, "it was to be stopped in its midst: {said}");
        changed = now;
    }
}

/// A terminal that is closed stops a run as Ctrl-C does; one that was told to outlive it goes on, and so does what a shell
/// keeps Ctrl-C from.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_terminal_stops_the_run_unless_that_is_ignored() {
    let room = Room::empty();
    for index in 0..300 {
        room.write(format!("maps/{index:04}.bsp"), &fixture("q2/own_rooms"));
    }
    for (ignored, name) in [("", "HUP"), ("HUP", "HUP"), ("INT", "INT")] {
        let trap = if ignored.is_empty() { String::new() } else { format!("trap '' {ignored}; ") };
        let line = format!("{trap}exec \"$0\" ent set maps worldspawn message=new -o out");
        let mut command = heeding(&room, "sh");
        command.args(["-c", &line, PROGRAM]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        signal(&child, name);
        stderr.read_to_string(&mut said).unwrap();
        let code = if ignored.is_empty() { 130 } else { 0 };
        assert_eq!(child.wait().unwrap().code(), Some(code), "{ignored} {name}: {said}");
        assert_eq!(temporary(&room.path("out")), 0);
        fs::remove_dir_all(room.path("out")).unwrap();
    }
}

/// Where files may not be as large as a map the save fails, and what is half written goes away.
#[test]
fn a_limit_of_the_size_of_files_is_an_error() {
    let room = Room::empty();
    room.write("a.bsp", &fixture("q2/own_rooms"));
    let run = room.shell("ulimit -f 1; bspkit ent set a.bsp worldspawn message=new --in-place").without_data(2);
    assert!(run.err.contains("cannot write a.bsp"), "{}", run.err);
    assert_eq!((temporary(&room.path("")), room.read("a.bsp")), (0, fixture("q2/own_rooms")));
}

/// One signal where there is a single map, a second one where there are several: what is half written goes away at once.
#[test]
fn what_is_half_written_goes_away() {
    let room = Room::empty();
    room.write("maps/a.bsp", &fixture("q2/own_rooms"));
    // A hole in the disk that takes a while to be copied.
    let file = fs::OpenOptions::new().write(true).open(room.path("maps/a.bsp")).unwrap();
    file.set_len(1 << 30).unwrap();
    fs::create_dir(room.path("out")).unwrap();
    for (map, signals) in [("maps/a.bsp", 1), ("maps", 2)] {
        let line = ["ent", "set", map, "worldspawn", "message=new", "-o", "out"];
        let child = heeding(&room, PROGRAM).args(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let seen = (0..5000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            temporary(&room.path("out")) > 0
        });
        assert!(seen, "it is being written");
        for _ in 0..signals {
            assert!(!room.path("out/a.bsp").exists(), "written too fast for this test");
            signal(&child, "INT");
            std::thread::sleep(Duration::from_millis(30));
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert_eq!(fs::read_dir(room.path("out")).unwrap().count(), 0, "{said}");
        assert_eq!(said.contains("a second signal stops at once"), signals == 2, "{said}");
    }
}

/// A program that is killed cannot clean up. The next one that saves there does, but not of a program that still runs.
#[cfg(unix)]
#[test]
fn what_a_killed_program_left_is_removed_by_the_next_save() {
    let room = Room::empty();
    room.write("a.bsp", &fixture("q2/own_rooms"));
    // A hole in the disk that takes a while to be copied.
    room.write("large.bsp", &fixture("q2/own_rooms"));
    let file = fs::OpenOptions::new().write(true).open(room.path("large.bsp")).unwrap();
    file.set_len(1 << 30).unwrap();
    let save = |output: &str| {
        let line = ["ent", "set", "large.bsp", "worldspawn", "message=new", "-o", output];
        let before = room.names();
        let child = room.command().args(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let seen = (0..5000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            room.names().iter().any(|name| name.extension() == Some("tmp".as_ref()) && !before.contains(name))
        });
        assert!(seen, "it is being written");
        child
    };
    let mut killed = save("out.bsp");
    signal(&killed, "KILL");
    killed.wait().unwrap();
    assert_eq!((temporary(&room.path("")), room.path("out.bsp").exists()), (1, false));
    // A save that ended before the signal is tried again.
    let mut paused = save("out.bsp");
    pause(&paused);
    for _ in 0..5 {
        if room.path("out.bsp").exists() {
            signal(&paused, "CONT");
            paused.wait().unwrap();
            fs::remove_file(room.path("out.bsp")).unwrap();
            paused = save("out.bsp");
            pause(&paused);
        }
    }
    room.bspkit("ent set a.bsp worldspawn message=new --in-place").done();
    // One that was stopped before it could lock its file makes another one.
    assert!(temporary(&room.path("")) <= 1, "only the one that is being written is left");
    signal(&paused, "CONT");
    assert!(paused.wait().unwrap().success());
    assert_eq!(temporary(&room.path("")), 0);
}
