//! Maps that another program writes into or shortens while the program reads them: real processes, at many moments.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::room::{Room, Run, fixture};

const SIZE: usize = 24 << 20;

/// A map of a size that is mapped: behind the last lump there are bytes of nobody, which every save copies.
fn large() -> Vec<u8> {
    let mut bytes = fixture("q3/own_rooms");
    bytes.extend((0..SIZE).map(|index| (index % 251) as u8));
    bytes
}

/// Lets the program edit the entities of a map in an "editor" that does something else.
fn edited(room: &Room, editor: &str, target: &str) -> Run {
    let line = format!("EDITOR='sh editor.sh' VISUAL= bspkit ent edit map.bsp {target}");
    room.write("editor.sh", format!("{editor}\nsed -i 's/}}/\"a\" \"b\" }}/' \"$1\"\n").as_bytes());
    let done = room.shell(&line);
    fs::remove_file(room.path("editor.sh")).unwrap();
    done
}

fn temporary(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".bspkit-")).count()
}

/// The editor is between the first look at the map and the save. Whatever it does to the file, its content is not lost,
/// and no new file has bytes of both.
#[test]
fn a_save_of_a_map_that_was_written_into_is_refused() {
    let written = "another program wrote into";
    let shortened = "another program shortened map.bsp while it was read, or its disk failed";
    let changed = "another program has changed map.bsp meanwhile";
    // A program that replaces the file as a whole changes nothing of what is mapped.
    let cases = [
        (": > map.bsp", "--in-place", shortened),
        (": > map.bsp", "-o out.bsp", shortened),
        (": > map.bsp; cp other.bsp map.bsp", "-o out.bsp", shortened),
        ("sleep 0.02; cat same.bsp > map.bsp", "--in-place", changed),
        ("sleep 0.02; cat same.bsp > map.bsp", "-o out.bsp", written),
        ("sleep 0.02; cat same.bsp > map.bsp", "-o -", written),
        ("mv same.bsp map.bsp", "--in-place", changed),
        ("mv same.bsp map.bsp", "-o out.bsp", ""),
    ];
    for (editor, target, sentence) in cases {
        let room = Room::empty();
        let old = large();
        room.write("map.bsp", &old);
        room.write("other.bsp", &fixture("q3/own_rooms"));
        room.write("same.bsp", &old.iter().map(|byte| byte ^ 1).collect::<Vec<u8>>());
        let done = edited(&room, editor, target);
        assert_eq!(temporary(&room.path("")), 0, "{editor} {target}");
        if sentence.is_empty() {
            assert_eq!(done.code, Some(0), "{}", done.err);
            assert!(room.read("out.bsp").ends_with(&old[old.len() - SIZE..]));
            continue;
        }
        assert_eq!(done.code, Some(2), "{editor} {target}: {}", done.err);
        assert!(done.err.contains(sentence), "{editor} {target}: {}", done.err);
        assert!(!room.path("out.bsp").exists(), "{editor} {target}");
        let now = room.read("map.bsp");
        assert!(now.is_empty() || now == fixture("q3/own_rooms") || now.len() == old.len(), "{editor} {target}");
    }
}

/// Ends a run that hangs.
fn wait(mut child: Child) -> Run {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the program hangs");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Run::from(child.wait_with_output().unwrap())
}

/// The file is shortened, or a new one is copied over it, at any moment of a run.
#[test]
fn a_file_that_is_shortened_at_any_moment_ends_the_run_with_a_sentence() {
    let room = Room::empty();
    let (old, new) = (large(), fixture("q2/own_rooms"));
    let commands = [
        "ent set map.bsp worldspawn message=new --in-place",
        "ent set map.bsp worldspawn message=new -o out.bsp",
        "verify map.bsp map.bsp -j 2",
        "diff map.bsp other.bsp",
        "cat map.bsp ENTITIES",
        "check map.bsp",
    ];
    room.write("other.bsp", &old);
    let mut said = 0;
    for turn in 0..commands.len() * 12 {
        let command = commands[turn % commands.len()];
        room.write("map.bsp", &old);
        let _ = fs::remove_file(room.path("out.bsp"));
        let mut program: Command = room.command();
        program.args(command.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = program.spawn().unwrap();
        // The moments are spread over the whole run, which takes 40 ms or more.
        std::thread::sleep(Duration::from_micros(u64::try_from(turn * 7919 % 60_000).unwrap()));
        match turn % 2 {
            0 => fs::write(room.path("map.bsp"), b"").unwrap(),
            _ => fs::write(room.path("map.bsp"), &new).unwrap(),
        }
        let done = wait(child);
        assert!(matches!(done.code, Some(0..=2)), "{command}: {:?} {}", done.code, done.err);
        let is_seen = done.err.contains("while it was read") || done.err.contains("meanwhile");
        said += usize::from(is_seen);
        assert_eq!(temporary(&room.path("")), 0, "{command}: {}", done.err);
        let target = if command.ends_with("out.bsp") { "out.bsp" } else { "map.bsp" };
        let is_saved = command.starts_with("ent set") && done.code == Some(0);
        match room.path(target).exists().then(|| room.read(target)) {
            // What a save wrote is the whole map, unless the other program wrote over it afterwards.
            Some(now) if now.len() >= SIZE => {
                assert_eq!(now[now.len() - SIZE..], old[old.len() - SIZE..], "{command}");
            }
            // The program started after the other one was done.
            Some(now) => assert!(now.is_empty() && target == "map.bsp" || now.starts_with(&new[..8]), "{command}"),
            None => assert!(!is_saved, "{command}: nothing is there"),
        }
    }
    assert!(said > 6, "the file was hardly ever shortened in time: {said}");
}
