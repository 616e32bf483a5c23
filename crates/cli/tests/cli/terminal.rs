//! What a person at a terminal gets: the pager, colors, and the progress of one map.

use std::path::Path;
use std::process::{Command, Stdio};

use super::room::Room;

const PAGER: &str = "sed s/^/page:/";

/// The output of a program on a terminal of its own, which `script` (util-linux) makes.
fn on_terminal(room: &Room, line: &str, pager: &str) -> Option<String> {
    let script = Path::new("/usr/bin/script");
    if !script.exists() {
        println!("notice: there is no `script`; nothing is tried on a terminal");
        return None;
    }
    let mut command = Command::new(script);
    let line = line.replace("bspkit", room.command().get_program().to_str().unwrap());
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(room.path(""))
        .env("BSPKIT_PAGER", pager)
        .stdin(Stdio::null());
    let output = command.env_remove("NO_COLOR").env("TERM", "xterm").output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap().replace('\r', ""))
}

#[test]
fn a_pager_gets_what_is_listed() {
    let room = Room::new();
    let paged = |line: &str| room.command().args(line.split(' ')).env("BSPKIT_PAGER", PAGER).output().unwrap();
    let plain = room.bspkit("info q3.bsp").done();
    let plain = plain.text();
    let pages = String::from_utf8(paged("info q3.bsp --paging always").stdout).unwrap();
    assert_eq!(pages, plain.lines().map(|line| format!("page:{line}\n")).collect::<String>());
    for line in ["info q3.bsp", "info q3.bsp --paging never"] {
        assert_eq!(paged(line).stdout, plain.as_bytes(), "{line}");
    }
    // The exit status is that of the command.
    assert_eq!(paged("diff q3.bsp q2.bsp --paging always").status.code(), Some(1));
    assert_eq!(paged("info missing.bsp --paging always").status.code(), Some(2));
}

#[test]
fn a_pager_that_is_left_or_missing_is_no_failure() {
    let room = Room::new();
    for (pager, first) in
        [("head -n 1", "out: "), ("true", ""), ("", "out: "), ("cat", "out: "), ("no_such_pager", "out: ")]
    {
        let output = room
            .command()
            .args(["verify", ".", "--paging", "always", "-v"])
            .env("BSPKIT_PAGER", pager)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{pager}");
        assert_eq!(text.is_empty(), first.is_empty(), "{pager}: {text}");
    }
}

#[test]
fn what_a_terminal_shows() {
    let room = Room::new();
    let Some(text) = on_terminal(&room, "bspkit info q3.bsp", PAGER) else { return };
    assert!(text.starts_with("page:\x1b[1mq3.bsp\x1b[0m: Quake III"), "{text}");
    // Whoever edits a map gets no pager.
    let text = on_terminal(&room, "bspkit ent set q3.bsp worldspawn message=x -o out.bsp", PAGER).unwrap();
    assert!(!text.contains("page:") && room.path("out.bsp").exists(), "{text}");
    let text = on_terminal(&room, "bspkit diff q3.bsp out.bsp", PAGER).unwrap();
    assert!(text.contains("page:\x1b[1mENTITIES\x1b[0m: 1 entity"), "{text}");
    let text = on_terminal(&room, "TERM=dumb bspkit info q3.bsp", PAGER).unwrap();
    assert!(!text.contains("page:") && text.contains("Quake III"), "{text}");
    // Messages are on the pages.
    let text = on_terminal(&room, "bspkit info q3.bsp missing.bsp", PAGER).unwrap();
    assert!(text.contains("page:\x1b[1;31merror:\x1b[0m"), "{text}");
}

/// The file says that it runs at its own address alone (`ET_EXEC`), so that nothing in it is corrected at a start.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn the_program_has_a_fixed_address() {
    let program = std::fs::read(Room::empty().command().get_program()).unwrap();
    assert_eq!((&program[..4], &program[16..18]), (&b"\x7fELF"[..], &[2, 0][..]));
}
