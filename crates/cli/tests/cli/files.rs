//! Bad inputs and bad disks: one message, exit 2, nothing lost.

use super::room::{Room, fixture};

#[test]
fn whatever_the_file_is_it_is_one_sentence() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    let files: [(&str, &[u8]); 8] = [
        ("empty", b""),
        ("short", &map[..6]),
        ("header", &map[..100]),
        ("garbage", &[0xa5; 5000]),
        ("text", b"// entity 0\n{\n}\n"),
        ("zip", b"PK\x03\x04rest of it"),
        ("respawn", b"rBSP\x25\0\0\0"),
        ("newer", b"VBSP\xff\0\0\0"),
    ];
    for (name, bytes) in files {
        room.write(name, bytes);
        for command in ["info", "ls", "verify", "ent list"] {
            let run = room.bspkit(&format!("{command} {name}")).without_data(2);
            assert!(run.err.starts_with(&format!("error: cannot open {name}\n  caused by: ")), "{name}: {}", run.err);
        }
        room.bspkit(&format!("cat {name} entities")).without_data(2);
        room.bspkit(&format!("ent set {name} * a=b -o out.bsp")).without_data(2);
        assert!(!room.path("out.bsp").exists());
    }
    let run = room.bspkit("info none.bsp").without_data(2);
    assert!(run.err.starts_with("error: cannot read "), "{}", run.err);
    for line in ["info .", "cat . 0", "ls .", "ent export .", "ent set . * a=b --in-place", "info . --shard 2/2"] {
        let run = room.bspkit(line).without_data(2);
        assert_eq!(run.err, "error: there is no map (*.bsp) in .\n", "{line}");
    }
}

#[test]
fn one_bad_map_does_not_stop_the_others() {
    let room = Room::new();
    let run = room.bspkit("verify none.bsp q3.bsp --json");
    assert_eq!(run.code, Some(1));
    assert_eq!(run.text().lines().count(), 2);
    assert!(run.text().contains("\"path\":\"q3.bsp\",\"ok\":true"), "{}", run.text());
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    let path = room.path("q3.bsp");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        eprintln!("skipped: the superuser reads everything");
        return;
    }
    let run = room.bspkit("info q3.bsp").without_data(2);
    assert!(run.err.starts_with("error: cannot read q3.bsp"), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let room = Room::new();
    let (names, map) = (room.names(), room.read("q3.bsp"));
    for place in ["-o out.bsp", "--in-place", "--in-place --backup"] {
        let line = format!("trap '' XFSZ; ulimit -f 20; bspkit ent set q3.bsp worldspawn message=x {place}");
        let run = room.shell(&line).without_data(2);
        assert!(run.err.contains("error: cannot save "), "{}", run.err);
        assert_eq!(room.names(), names, "{place}");
        assert_eq!(room.read("q3.bsp"), map);
    }
    let run = room.shell("trap '' XFSZ; ulimit -f 1; bspkit ent export q3.bsp -o out.ent").without_data(2);
    assert!(run.err.starts_with("error: cannot write out.ent"), "{}", run.err);
    assert_eq!(room.names(), names);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_a_failure() {
    let room = Room::new();
    for line in ["cat q2.bsp lighting", "info q2.bsp", "ent export q2.bsp", "--help", "ent --help", "--version"] {
        let run = room.shell(&format!("bspkit {line} > /dev/full")).without_data(2);
        assert!(run.err.starts_with("error: cannot write to stdout"), "{}", run.err);
    }
}

#[cfg(unix)]
#[test]
fn loops_of_links_end() {
    let room = Room::new();
    std::fs::create_dir(room.path("sub")).unwrap();
    std::os::unix::fs::symlink("..", room.path("sub/up")).unwrap();
    let run = room.bspkit("info . --json").done();
    assert_eq!(run.text().lines().count(), 4);
    std::os::unix::fs::symlink("self.bsp", room.path("self.bsp")).unwrap();
    let run = room.bspkit("info . --json");
    assert_eq!((run.code, run.text().lines().count()), (Some(1), 5), "{}", run.err);
}

/// What is read whole has an end, and none is larger than any map.
#[test]
#[cfg(target_os = "linux")]
fn files_without_an_end_are_refused() {
    let room = Room::new();
    let manifest = |file: &str| {
        let lump = format!("{{\"lump\": \"lighting\", \"file\": \"{file}\"}}");
        format!("{{\"bspkit_manifest\": 1, \"dialect\": \"quake2\", \"lumps\": [{lump}]}}")
    };
    room.write("f/manifest.json", manifest("large").as_bytes());
    for large in ["large", "f/large"] {
        std::fs::File::create(room.path(large)).unwrap().set_len(3 << 30).unwrap();
    }
    for command in [
        "pack f",
        "ent patch q3.bsp /dev/zero",
        "ent import q3.bsp large",
        "load q3.bsp planes /dev/zero",
        "lmp import source.bsp large",
    ] {
        let run = room.bspkit(&format!("{command} -o out.bsp")).without_data(2);
        assert!(run.err.contains("it has more bytes than any part of a map"), "{command}: {}", run.err);
        assert!(!room.path("out.bsp").exists());
    }
}

/// A map of nearly 2 GiB leaves a 32-bit machine no room for a copy.
#[cfg(all(target_os = "linux", target_pointer_width = "32"))]
#[test]
fn the_largest_map_needs_no_copy() {
    let room = Room::empty();
    room.write("map.bsp", &fixture("q2/own_rooms"));
    let file = std::fs::OpenOptions::new().write(true).open(room.path("map.bsp")).unwrap();
    file.set_len((2 << 30) - (64 << 10)).unwrap();
    for line in ["info map.bsp", "verify map.bsp", "check map.bsp", "ent set map.bsp worldspawn message=new --dry-run"]
    {
        room.bspkit(line).done();
    }
}
