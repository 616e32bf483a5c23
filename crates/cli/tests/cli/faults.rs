//! A kill and an error at each call of the system, in each way of writing: every file is the old one or the new one. The
//! faults come from strace, which shares no code with the program; docs/testing.md has the table.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bspkit::Bsp;

use super::checksum::areas;
use super::room::{Room, fixture};

/// A way of writing: its name, the commands that prepare it, and the command.
const WRITES: [(&str, &[&str], &str); 17] = [
    ("a new map", &[], "ent set q3.bsp worldspawn message=x -o out.bsp"),
    (
        "a map that is replaced",
        &["ent set q3.bsp worldspawn message=y -o out.bsp"],
        "ent set q3.bsp worldspawn message=x -o out.bsp",
    ),
    ("a map in place", &[], "ent set q3.bsp worldspawn message=x --in-place"),
    ("a map with a backup", &[], "ent set q3.bsp worldspawn message=x --in-place --backup"),
    ("a patch", &[], "ent set q3.bsp worldspawn message=x --in-place=patch"),
    (
        "a patch of a mapped file",
        &["load q3.bsp lighting light.bin -o large.bsp --force"],
        "ent set large.bsp worldspawn message=a_longer_text --in-place=patch",
    ),
    (
        "a patch that uses a hole",
        &["ent set q3.bsp worldspawn message=xy --in-place=patch"],
        "ent set q3.bsp worldspawn message=z --in-place=patch",
    ),
    ("a map and its areas", &[], "ent set q3.bsp worldspawn message=x --in-place --fix-aas"),
    ("maps into a folder", &[], "ent set q3.bsp q2.bsp worldspawn message=x -o folder"),
    ("rules and their record", &[], "ent apply q3.bsp --rules r.cfg --in-place"),
    (
        "a merge of git",
        &["ent set q3.bsp worldspawn message=x -o ours.bsp", "ent set q3.bsp worldspawn author=y -o theirs.bsp"],
        "git merge q3.bsp ours.bsp theirs.bsp",
    ),
    ("a text", &[], "ent export q3.bsp -o q3.ent"),
    ("a lump file", &[], "lmp export room_v20.bsp entities"),
    ("a folder", &[], "unpack goldsrc.bsp -o folder"),
    ("a map of a folder", &["unpack goldsrc.bsp -o folder"], "pack folder -o out.bsp"),
    ("a WAD file", &[], "tex export goldsrc.bsp -o textures.wad"),
    ("embedded files", &[], "pak extract room_v20.bsp -o files"),
];

/// The calls that open, write, sync, lock, name and remove.
const CALLS: [&str; 13] = [
    "openat",
    "write",
    "lseek",
    "fdatasync",
    "fsync",
    "flock",
    "ftruncate",
    "fchmod",
    "rename",
    "renameat2",
    "linkat",
    "unlink",
    "mkdir",
];

type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(room: &Room) -> Tree {
    let root = room.path(".");
    let files = room.names().into_iter().filter(|path| path.is_file());
    files.map(|path| (path.strip_prefix(&root).unwrap_or(&path).to_path_buf(), fs::read(&path).unwrap())).collect()
}

fn prepared(before: &[&str]) -> Room {
    let room = Room::new();
    room.write("r.cfg", b"add:\n{\n\"classname\" \"light\"\n}\n");
    room.write("light.bin", &vec![7; 400_000]);
    room.write("room_v20.bsp", &fixture("source/room_v20"));
    room.write("q3.aas", &areas(&room, "q3.bsp", 5));
    before.iter().for_each(|line| drop(room.bspkit(line).done()));
    room
}

/// A room with the same files.
fn copy(tree: &Tree) -> Room {
    let room = Room::empty();
    tree.iter().for_each(|(path, bytes)| room.write(path, bytes));
    room
}

/// The contents of a map, slot by slot: after a crash a patched map may have more bytes between them.
fn contents(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let map = Bsp::parse(bytes).ok()?;
    map.slots().iter().map(|slot| map.bytes(slot.id).ok().map(|bytes| bytes.to_vec())).collect()
}

/// What a fault left.
struct Left {
    was_hit: bool,
    killed: bool,
    code: Option<i32>,
    err: String,
    call: String,
}

/// Runs the command with a fault at the nth call of a kind.
fn run(room: &Room, line: &str, call: &str, fault: &str, nth: usize) -> Left {
    let log = room.path("strace.log");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(&log).args(["-e", &format!("trace={call}"), "-e"]);
    command.arg(format!("inject={call}:{fault}:when={nth}")).arg(env!("CARGO_BIN_EXE_bspkit"));
    // One thread, so that each run has the same calls.
    command.args(line.split_whitespace()).args(["-j", "1"]).current_dir(room.path("")).stdin(Stdio::null());
    let output = command.output().unwrap();
    let log_text = String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned();
    fs::remove_file(log).unwrap();
    let call = log_text.lines().find(|line| line.contains("INJECTED")).unwrap_or_default().to_owned();
    let killed = log_text.contains("killed by SIGKILL");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let stopped = log_text.contains("--- SIGTERM");
    Left { was_hit: killed || stopped || !call.is_empty(), killed, code: output.status.code(), err, call }
}

/// The file that an unfinished folder has.
fn unfinished(path: &Path) -> PathBuf {
    path.iter().next().map(|folder| Path::new(folder).join(".unpacking")).unwrap_or_default()
}

/// What is wrong with the files after a fault.
fn judge(left: &Left, [old, new, now]: [&Tree; 3], is_patch: bool) -> Result<(), String> {
    // A folder that was not finished says so, and is not packed.
    let is_unfinished = |path: &Path| now.contains_key(&unfinished(path));
    for (path, bytes) in now.iter().filter(|(path, _)| !is_unfinished(path)) {
        let is_temporary = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".bspkit-"));
        if is_temporary {
            // A program that is killed cannot remove it; the next save does.
            if !left.killed {
                return Err(format!("{} is left", path.display()));
            }
            continue;
        }
        let known: Vec<&Vec<u8>> = [old, new].into_iter().filter_map(|tree| tree.get(path)).collect();
        let is_same = |known: &&Vec<u8>| *known == bytes || is_patch && contents(known) == contents(bytes);
        if !known.iter().any(is_same) {
            return Err(format!("{} is neither the old file nor the new one", path.display()));
        }
    }
    if let Some(path) = old.keys().find(|path| !now.contains_key(*path)) {
        return Err(format!("{} is gone", path.display()));
    }
    if left.killed {
        return Ok(());
    }
    if left.code == Some(130) {
        let exact =
            |(path, bytes): (&PathBuf, &Vec<u8>)| now.get(path) == Some(bytes) || new.get(path) == now.get(path);
        return old.iter().all(exact).then_some(()).ok_or("it was stopped in the middle".to_owned());
    }
    if is_patch && left.code != Some(0) && old.iter().any(|(path, bytes)| now.get(path) != Some(bytes)) {
        return Err("it failed, and the files are not exactly the old ones".to_owned());
    }
    let is_new = new.iter().all(|(path, bytes)| {
        now.get(path).is_some_and(|now| now == bytes || is_patch && contents(now) == contents(bytes))
    });
    match left.code {
        Some(0) if !is_new => Err("it says that all is well, and the files are not the new ones".to_owned()),
        // Reports go to the first two files; without them nothing can be said.
        Some(0) => Ok(()),
        Some(101) | None => Err(format!("it ended with {:?}: {}", left.code, left.err)),
        Some(_) if left.err.contains("another program") && left.call.contains("(INJECTED)") && is_patch => {
            Err("it blames another program".to_owned())
        }
        Some(_) if left.err.trim().is_empty() && !left.call.contains("write(2") => Err("it says nothing".to_owned()),
        Some(_) => Ok(()),
    }
}

fn can_trace() -> bool {
    let works = |room: &Room| {
        let mut command = Command::new("strace");
        let command = command.args(["-f", "-qq", "-o", "log", "-e", "inject=openat:error=EIO:when=999", "true"]);
        command.current_dir(room.path("")).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let works = works(&Room::empty());
    let is_required = std::env::var_os("BSPKIT_REQUIRE_STRACE").is_some_and(|value| value == "1");
    assert!(works || !is_required, "strace does not run");
    if !works {
        eprintln!("notice: strace does not run here; no fault is injected");
    }
    works
}

/// All faults in one way of writing; how many there were of each kind.
fn faults(name: &str, before: &[&str], line: &str, found: &mut Vec<String>) -> [usize; 2] {
    let room = prepared(before);
    let old = tree(&room);
    let done = room.bspkit(line);
    assert_eq!(done.code, Some(0), "{name}: {}", done.err);
    let new = tree(&room);
    assert_ne!(old, new, "{name}");
    let mut counts = [0; 2];
    for call in CALLS {
        for fault in ["signal=SIGKILL", "error=EIO", "error=ENOSPC", "signal=SIGTERM"] {
            if fault == "signal=SIGTERM" && !["write", "fdatasync", "lseek"].contains(&call) {
                continue;
            }
            if fault == "error=ENOSPC" && !["write", "fdatasync", "mkdir"].contains(&call) {
                continue;
            }
            for nth in 1..400 {
                let room = copy(&old);
                let left = run(&room, line, call, fault, nth);
                if !left.was_hit {
                    break;
                }
                counts[usize::from(fault.starts_with("error"))] += 1;
                let now = tree(&room);
                if now.contains_key(Path::new("folder/.unpacking")) {
                    assert_ne!(room.bspkit("pack folder -o packed.bsp").code, Some(0), "{name}: it is packed");
                }
                if let Err(wrong) = judge(&left, [&old, &new, &now], line.contains("=patch")) {
                    found.push(format!("{name}, {fault} at {call} {nth}: {wrong}\n  {}\n  {}", left.call, left.err));
                }
            }
        }
    }
    counts
}

#[test]
fn a_fault_at_any_call_leaves_old_or_new_files() {
    if !can_trace() {
        return;
    }
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((name, before, line)) = WRITES.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut wrong = Vec::new();
            let [kills, errors] = faults(name, before, line, &mut wrong);
            println!("| {name} | {kills} | {errors} |");
            assert!(kills > 5 && errors > 5, "{name}: {kills}, {errors}");
            found.lock().unwrap().extend(wrong);
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A disk of memory, for as long as the value lives; `None` where nothing may be mounted.
struct Disk(PathBuf);

impl Disk {
    fn of(folder: PathBuf, size: usize) -> Option<Self> {
        fs::create_dir(&folder).unwrap();
        let mut command = Command::new("mount");
        let command = command.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&folder);
        let is_there = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        is_there.then_some(Disk(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// A disk that is full, or that becomes full at any page of what is written, leaves the old files and says why.
#[test]
fn a_full_disk_leaves_old_or_new_files() {
    const PAGE: usize = 4096;
    for (name, before, line) in WRITES.iter().filter(|(name, ..)| !name.contains("backup")) {
        let room = prepared(before);
        let old = tree(&room);
        room.bspkit(line).done();
        let new = tree(&room);
        let pages = |tree: &Tree| tree.values().map(|bytes| bytes.len().div_ceil(PAGE)).sum::<usize>();
        let (mut failed, mut done) = (0, 0);
        let most = pages(&old) + pages(&new) + 64;
        for free in (0..8).chain((8..most).step_by(most / 8)) {
            let small = Room::empty();
            let Some(disk) = Disk::of(small.path("disk"), (pages(&old) + free) * PAGE) else {
                eprintln!("notice: no disk can be mounted here; none becomes full");
                return;
            };
            for (path, bytes) in &old {
                fs::create_dir_all(disk.0.join(path).parent().unwrap()).unwrap();
                fs::write(disk.0.join(path), bytes).unwrap();
            }
            let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
            let output = command.args(line.split_whitespace()).current_dir(&disk.0).output().unwrap();
            let now: Tree =
                tree(&small).into_iter().map(|(path, it)| (path.strip_prefix("disk").unwrap().into(), it)).collect();
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_done = output.status.success();
            (failed, done) = (failed + usize::from(!is_done), done + usize::from(is_done));
            assert!(is_done || err.contains("No space left"), "{name}, {free} pages: {err}");
            let left = Left { was_hit: true, killed: false, code: output.status.code(), err, call: String::new() };
            if let Err(wrong) = judge(&left, [&old, &new, &now], line.contains("=patch")) {
                panic!("{name}, {free} pages: {wrong}\n{}", left.err);
            }
        }
        assert!(done > 0 && (failed > 0 || line.contains("=patch")), "{name}: {failed} failed, {done} done");
    }
}

/// The check sees what it is for.
#[test]
fn other_files_and_silence_would_be_seen() {
    let (old, new) = (fixture("q3/own_rooms"), fixture("q2/own_rooms"));
    let tree = |bytes: &[u8]| Tree::from([(Path::new("a.bsp").to_path_buf(), bytes.to_vec())]);
    let left = |killed, code, err: &str| Left { was_hit: true, killed, code, err: err.to_owned(), call: String::new() };
    let judged = |left: &Left, now: &Tree| judge(left, [&tree(&old), &tree(&new), now], false).err();
    assert_eq!(judged(&left(true, None, ""), &tree(&old)), None);
    assert_eq!(judged(&left(false, Some(0), ""), &tree(&new)), None);
    let half = tree(&old[..old.len() / 2]);
    assert!(judged(&left(true, None, ""), &half).unwrap().contains("neither"));
    assert!(judged(&left(true, None, ""), &Tree::new()).unwrap().contains("gone"));
    assert!(judged(&left(false, Some(0), ""), &tree(&old)).unwrap().contains("all is well"));
    assert!(judged(&left(false, Some(2), ""), &tree(&old)).unwrap().contains("nothing"));
    let mut more = tree(&old);
    more.insert(".bspkit-a.tmp".into(), Vec::new());
    assert_eq!(judged(&left(true, None, ""), &more), None);
    assert!(judged(&left(false, Some(2), "error"), &more).unwrap().contains("left"));
}
