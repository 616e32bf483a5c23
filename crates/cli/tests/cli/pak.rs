//! The commands on embedded files.

use std::fs;

use serde_json::json;

use super::room::{Room, Run};

/// A room with a map that has files, and files to embed.
fn room() -> Room {
    let room = Room::new();
    room.write("wall.vmt", b"LightmappedGeneric {}");
    room.write("noise.wav", &b"RIFF".repeat(100));
    room.write("content/materials/a.vmt", &b"text ".repeat(200));
    room.write("content/sound/b.wav", &b"RIFF".repeat(100));
    room.write("content/c.txt", b"c");
    room.bspkit("pak add source.bsp content -o map.bsp").without_data(0);
    room
}

fn names(room: &Room, map: &str) -> Vec<String> {
    let list = room.bspkit(&format!("pak list {map} --json")).done().json();
    list["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap().to_owned()).collect()
}

/// A pakfile of files stored as they are, in a map.
fn map_of(files: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut pak = Vec::new();
    let mut directory = Vec::new();
    for (name, data) in files {
        let word = |value: usize| (value as u32).to_le_bytes();
        let length = (name.len() as u16).to_le_bytes();
        let sizes = [&crc32fast::hash(data).to_le_bytes()[..], &word(data.len()), &word(data.len()), &length].concat();
        let offset = word(pak.len());
        pak.extend([b"PK\x03\x04\x0a\0\0\0\0\0\0\0\0\0", &sizes[..], &[0; 2], name, data].concat());
        directory.extend([b"PK\x01\x02\x14\0\x0a\0\0\0\0\0\0\0\0\0", &sizes[..], &[0; 12], &offset, name].concat());
    }
    let (count, at) = ((files.len() as u16).to_le_bytes(), (pak.len() as u32).to_le_bytes());
    let end =
        [b"PK\x05\x06\0\0\0\0", &count[..], &count, &(directory.len() as u32).to_le_bytes(), &at, &[0; 2]].concat();
    map_with(&[pak, directory, end].concat())
}

fn map_with(pak: &[u8]) -> Vec<u8> {
    let builder = bspkit::Builder::new(&bspkit::dialect::SOURCE).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0");
    builder.lump(40, pak).build().unwrap()
}

#[test]
fn files_are_listed_as_the_directory_has_them() {
    let room = room();
    let run = room.bspkit("pak list map.bsp").done();
    let lines: Vec<_> = run.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert_eq!(lines[0], ["#", "bytes", "stored", "method", "crc", "name"]);
    assert_eq!(lines[1][..4], ["0", "1", "1", "stored"]);
    assert_eq!(names(&room, "map.bsp"), ["c.txt", "materials/a.vmt", "sound/b.wav"]);
    assert_eq!(room.bspkit("pak list map.bsp *.VMT").done().text().lines().count(), 2);
    room.bspkit("pak list map.bsp nope").without_data(1);
    room.bspkit("pak list source.bsp").without_data(0);

    room.write("odd.bsp", &map_of(&[(b"caf\xe9", b"x")]));
    let odd = room.bspkit("pak list odd.bsp --json").done().json();
    assert_eq!(odd["files"][0]["name"], r"caf\xe9");
    assert_eq!(odd["files"][0]["raw"], "Y2Fm6Q==");
    assert_eq!((&odd["files"][0]["offset"], &odd["console"], &odd["comment"]), (&json!(0), &json!(false), &json!("")));

    let run = room.bspkit("pak list q3.bsp").without_data(2);
    assert!(run.err.contains("Quake III Arena maps have no pakfile"), "{}", run.err);
}

#[test]
fn the_line_that_people_start_with() {
    let room = room();
    room.bspkit("pak add map.bsp materials/my/wall.vmt=wall.vmt -o out.bsp").without_data(0);
    assert!(room.bspkit("pak verify out.bsp").done().text().starts_with("pass out.bsp (4 files)\n"));
    assert_eq!(names(&room, "out.bsp")[3], "materials/my/wall.vmt");
    room.bspkit("verify out.bsp").done();
    // The same again is no edit; another case is the same file.
    let run = room.bspkit("pak add out.bsp Materials/My/WALL.vmt=wall.vmt --in-place").without_data(0);
    assert!(run.err.contains("nothing changes"), "{}", run.err);
    let run = room.bspkit("pak add out.bsp C.TXT=wall.vmt --in-place --backup").without_data(0);
    assert!(run.err.contains("1 file embedded, 1 of them replaced old files"), "{}", run.err);
    assert_eq!(names(&room, "out.bsp").len(), 4);
    assert!(room.path("out.bsp.bak").exists());
}

#[test]
fn lists_are_read_as_bspzip_reads_them() {
    let room = room();
    room.write("list.txt", b"a/one.vmt\r\nwall.vmt\r\nb/two.wav\r\nnoise.wav\r\n");
    room.bspkit("pak add map.bsp --list list.txt -o out.bsp").without_data(0);
    assert_eq!(names(&room, "out.bsp")[3..], ["a/one.vmt", "b/two.wav"]);
    let before = room.names();
    room.write("list.txt", b"a/one.vmt\nwall.vmt\nb/two.wav\n");
    let run = room.bspkit("pak add map.bsp --list list.txt -o other.bsp").without_data(2);
    assert!(run.err.contains("it has 3 lines"), "{}", run.err);
    room.write("list.txt", b"a/one.vmt\nwall.vmt\nb/two.wav\nnone.wav\n");
    room.bspkit("pak add map.bsp --list list.txt -o other.bsp").without_data(2);
    assert_eq!(room.names(), before);
}

#[test]
fn files_go_and_change_their_names() {
    let room = room();
    room.bspkit("pak rm map.bsp sound/** #0 nope -o out.bsp").without_data(0);
    assert_eq!(names(&room, "out.bsp"), ["materials/a.vmt"]);
    room.bspkit("pak mv map.bsp C.TXT d/e.txt -o out.bsp").without_data(0);
    assert_eq!(names(&room, "out.bsp"), ["d/e.txt", "materials/a.vmt", "sound/b.wav"]);
    room.bspkit("pak mv out.bsp #0 D/e.txt --in-place").without_data(0);
    assert_eq!(names(&room, "out.bsp")[0], "D/e.txt");
    let before = room.names();
    for (line, code) in [
        ("pak rm map.bsp nope #9 -o x.bsp", 1),
        ("pak mv map.bsp nope x -o x.bsp", 1),
        ("pak mv map.bsp c.txt ../c.txt -o x.bsp", 2),
        ("pak mv map.bsp c.txt Materials/A.vmt -o x.bsp", 2),
        ("pak add map.bsp nothing -o x.bsp", 2),
        ("pak add map.bsp a=none -o x.bsp", 2),
        ("pak add map.bsp /a=wall.vmt -o x.bsp", 2),
        ("pak add map.bsp -o x.bsp", 2),
        ("pak add map.bsp a=wall.vmt", 2),
        ("pak add q3.bsp a=wall.vmt -o x.bsp", 2),
        ("pak compress map.bsp nope -o x.bsp", 1),
        ("pak store map.bsp --not ** -o x.bsp", 1),
    ] {
        room.bspkit(line).without_data(code);
        assert_eq!(room.names(), before, "{line}");
    }
}

#[test]
fn what_shrinks_is_compressed_but_sounds() {
    let room = room();
    let methods = |map: &str| -> Vec<String> {
        let list = room.bspkit(&format!("pak list {map} --json")).done().json();
        list["files"].as_array().unwrap().iter().map(|file| file["method"].as_str().unwrap().to_owned()).collect()
    };
    let run = room.bspkit("pak compress map.bsp -o out.bsp -j 2").without_data(0);
    // Not every game with maps of this version reads them, as for lumps.
    assert!(run.err.starts_with("warning: map.bsp: Team Fortress 2, "), "{}", run.err);
    assert!(run.err.contains("\nmap.bsp: 1 of 3 files compressed, 1000 -> "), "{}", run.err);
    assert_eq!(methods("out.bsp"), ["stored", "lzma", "stored"]);
    room.bspkit("pak verify out.bsp").done();
    assert!(!room.bspkit("pak store out.bsp -o stored.bsp").without_data(0).err.contains("warning"));
    assert!(!room.bspkit("pak compress out.bsp -o again.bsp").without_data(0).err.contains("warning"), "nothing to do");
    assert_eq!(room.read("stored.bsp"), room.read("map.bsp"));
    room.bspkit("pak compress map.bsp --not *.vmt -o out.bsp").without_data(0);
    assert_eq!(room.read("out.bsp"), room.read("map.bsp"));
}

#[test]
fn files_come_out_as_they_went_in() {
    let room = room();
    room.bspkit("pak compress map.bsp --in-place").without_data(0);
    room.bspkit("pak extract map.bsp -o out").without_data(0);
    for name in ["c.txt", "materials/a.vmt", "sound/b.wav"] {
        assert_eq!(room.read(format!("out/{name}")), room.read(format!("content/{name}")), "{name}");
    }
    // The same files once more are no trouble; others are.
    room.bspkit("pak extract map.bsp -o out").without_data(0);
    room.write("out/c.txt", b"mine");
    let run = room.bspkit("pak extract map.bsp -o out c.txt").without_data(2);
    assert!(run.err.contains("exists with other content") && run.err.contains("--overwrite"), "{}", run.err);
    assert_eq!(room.read("out/c.txt"), b"mine");
    room.bspkit("pak extract map.bsp -o out c.txt --overwrite").without_data(0);
    assert_eq!(room.read("out/c.txt"), b"c");
    let names = room.names();
    room.bspkit("pak extract map.bsp -o elsewhere nope").without_data(1);
    assert_eq!(room.names(), names);
}

#[test]
fn nothing_leaves_the_folder() {
    let room = Room::empty();
    let bad: [&[u8]; 12] = [
        b"../up.txt",
        b"a/../../up.txt",
        b"..\\up.txt",
        b"/tmp/up.txt",
        b"\\up.txt",
        b"c:/up.txt",
        b"c:up.txt",
        b"nul\0.txt",
        b"nul",
        b"a/COM1.txt",
        b"dot.",
        b"",
    ];
    let files: Vec<(&[u8], &[u8])> =
        bad.iter().map(|name| (*name, &b"bad"[..])).chain([(&b"ok.txt"[..], &b"ok"[..])]).collect();
    room.write("maps/bad.bsp", &map_of(&files));
    let run = room.bspkit("pak extract maps/bad.bsp -o deep/out -v").without_data(2);
    assert_eq!(run.err.matches("error: cannot extract").count(), bad.len(), "{}", run.err);
    let names: Vec<_> =
        ["deep", "deep/out", "deep/out/ok.txt", "maps", "maps/bad.bsp"].map(|name| room.path(name)).into();
    assert_eq!(room.names(), names);
    assert_eq!(room.bspkit("pak verify maps/bad.bsp").code, Some(1));
}

#[test]
fn names_that_differ_in_case_do_not_overwrite_each_other() {
    let room = Room::empty();
    room.write("map.bsp", &map_of(&[(b"A/b.txt", b"1"), (b"a\\B.txt", b"2"), (b"a/b.txt", b"3"), (b"empty/", b"")]));
    let run = room.bspkit("pak extract map.bsp -o out").without_data(0);
    assert_eq!(run.err.matches("has the same name as file #0").count(), 2, "{}", run.err);
    let read = |name: &str| fs::read(room.path("out").join(name)).unwrap();
    assert_eq!((read("A/b.txt"), read("a/B~2.txt"), read("a/b~3.txt")), (b"1".into(), b"2".into(), b"3".into()));
    assert!(room.path("out/empty").is_dir());
}

#[cfg(unix)]
#[test]
fn links_are_not_written_through() {
    let room = Room::empty();
    room.write("map.bsp", &map_of(&[(b"dir/a.txt", b"1"), (b"file.txt", b"2"), (b"c.txt", b"3")]));
    fs::create_dir(room.path("out")).unwrap();
    fs::create_dir(room.path("elsewhere")).unwrap();
    room.write("precious.txt", b"precious");
    std::os::unix::fs::symlink(room.path("elsewhere"), room.path("out/dir")).unwrap();
    std::os::unix::fs::symlink(room.path("precious.txt"), room.path("out/file.txt")).unwrap();
    let run = room.bspkit("pak extract map.bsp -o out --overwrite").without_data(2);
    assert!(run.err.contains("out/dir is a symbolic link"), "{}", run.err);
    assert_eq!(room.read("precious.txt"), b"precious");
    assert_eq!(fs::read_dir(room.path("elsewhere")).unwrap().count(), 0);
    assert_eq!(room.read("out/c.txt"), b"3");
}

#[test]
fn what_is_wrong_is_said_and_never_repaired() {
    let room = Room::empty();
    let mut map = map_of(&[(b"a.txt", b"first"), (b"sub\\b.txt", b"second")]);
    let at = map.windows(5).position(|bytes| bytes == b"first").unwrap();
    map[at] = b'F';
    room.write("map.bsp", &map);
    let run: Run = room.bspkit("pak verify map.bsp");
    assert_eq!(run.code, Some(1));
    assert!(
        run.text().starts_with("fail map.bsp (2 files, 1 wrong, 1 odd)\n     wrong: #0 `a.txt`: its CRC is "),
        "{run:?}"
    );
    let json = room.bspkit("pak verify map.bsp --json").json();
    assert_eq!(
        (&json["ok"], &json["findings"][0]["code"], &json["findings"][0]["place"]["file"]),
        (&json!(false), &json!("crc"), &json!(0))
    );
    // The stale CRC stays, whatever happens beside it.
    room.bspkit("pak rm map.bsp sub/b.txt -o out.bsp").without_data(0);
    let crc = |map: &str| room.bspkit(&format!("pak list {map} --json")).done().json()["files"][0]["crc"].clone();
    assert_eq!(crc("out.bsp"), crc("map.bsp"));
    let run = room.bspkit("pak extract map.bsp -o out a.txt").without_data(1);
    assert!(run.err.contains("does not have the checksum"), "{}", run.err);

    for (name, pak) in [("none.bsp", &b"no zip at all"[..]), ("cut.bsp", b"PK\x03\x04 and no more")] {
        room.write(name, &map_with(pak));
        let run = room.bspkit(&format!("pak verify {name}"));
        assert_eq!((run.code, run.text().lines().count()), (Some(1), 2), "{run:?}");
        let before = room.names();
        for line in ["list NAME", "extract NAME -o out2", "rm NAME * -o x.bsp", "add NAME a=none.bsp -o x.bsp"] {
            let run = room.bspkit(&format!("pak {}", line.replace("NAME", name))).without_data(2);
            assert!(run.err.contains("the pakfile is "), "{}", run.err);
        }
        assert_eq!(room.names(), before);
    }
}

/// After `=` a star is a letter, in every command on embedded files, and the new name is as it is written.
#[test]
fn a_file_with_a_star_in_its_name_is_moved_alone() {
    let room = Room::empty();
    let files = ["=a.txt", "=b.txt", "d/*.txt", "*.txt", "c.txt"];
    room.write("p.bsp", &map_of(&files.map(|name| (name.as_bytes(), &b"text"[..]))));
    for (old, new, moved) in [
        ("=*.txt", "x*.txt", "*.txt"),
        ("=*.txt", "n.txt", "*.txt"),
        ("=*.txt", "{1}", "*.txt"),
        ("=C.txt", "n.txt", "c.txt"),
        ("==a.txt", "n.txt", "=a.txt"),
    ] {
        room.bspkit(&format!("pak mv p.bsp {old} {new} -o q.bsp")).without_data(0);
        let wanted = files.map(|name| if name == moved { new } else { name });
        assert_eq!(names(&room, "q.bsp"), wanted, "{old} {new}");
        room.bspkit(&format!("pak rm p.bsp {old} -o q.bsp")).without_data(0);
        let wanted: Vec<&str> = files.into_iter().filter(|name| *name != moved).collect();
        assert_eq!(names(&room, "q.bsp"), wanted, "{old}");
    }
    let run = room.bspkit("pak mv p.bsp =a.txt n.txt -o r.bsp").without_data(1);
    assert!(run.err.contains("nothing matches =a.txt"), "{}", run.err);
}
