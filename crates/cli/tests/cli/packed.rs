//! Maps that are compressed or in archives: read where they are, and written back in the same form.

use std::io::Write as _;
use std::process::Command;

use bspkit_packed::Form;

use super::room::{Room, fixture};

fn compressed(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    Form::of(name.as_ref()).unwrap().pack(bytes, &mut packed).unwrap();
    packed
}

const NAMES: [&str; 3] = ["a.bsp.gz", "a.bsp.bz2", "a.bsp.zst"];

#[test]
fn a_compressed_map_is_read_and_written_back() {
    for name in NAMES {
        let room = Room::empty();
        let map = fixture("q2/own_rooms");
        room.write("a.bsp", &map);
        room.write(name, &compressed(name, &map));
        let list = |path: &str| room.bspkit(&format!("ent list {path}")).out;
        assert_eq!(list(name), list("a.bsp"), "{name}");
        let piped = room.with_stdin("ent list -", &compressed(name, &map));
        assert_eq!((piped.code, piped.out), (Some(0), list("a.bsp")), "{name}");
        assert_eq!(room.bspkit(&format!("verify {name} -q")).code, Some(0));
        assert_eq!(room.bspkit("ent set a.bsp worldspawn message=new -o plain.bsp").code, Some(0));
        let edited = room.read("plain.bsp");
        let unpacked = |file: &str| Form::of(file.as_ref()).unwrap().unpack(&room.read(file)[..]).unwrap();
        // The name of the target says how it is written: compressed, plain, in another form.
        let run = room.bspkit(&format!("ent set {name} worldspawn message=new -o to_plain.bsp"));
        assert_eq!((run.code, room.read("to_plain.bsp")), (Some(0), edited.clone()), "{run:?}");
        let run = room.bspkit("ent set a.bsp worldspawn message=new -o out.bsp.bz2");
        assert_eq!((run.code, unpacked("out.bsp.bz2")), (Some(0), edited.clone()), "{run:?}");
        let run = room.bspkit(&format!("ent set {name} worldspawn message=new --in-place --backup"));
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(unpacked(name), edited);
        assert_eq!(room.read(format!("{name}.bak")), compressed(name, &map));
        // An edit that changes nothing leaves the file.
        let before = room.read(name);
        assert_eq!(room.bspkit(&format!("ent set {name} worldspawn message=new --in-place")).code, Some(0));
        assert_eq!(room.read(name), before);
        let run = room.bspkit(&format!("ent set {name} worldspawn message=x --in-place=patch"));
        assert!(run.code == Some(2) && run.err.contains("cannot be patched"), "{run:?}");
        // The name of the map is the one that engines know.
        let out = room.bspkit(&format!("ent export {name} a.bsp -o texts"));
        assert_eq!(out.code, Some(2), "two maps of one name: {out:?}");
        assert_eq!(room.bspkit(&format!("ent export {name} out.bsp.bz2 -o texts")).code, Some(0));
        assert!(room.path("texts/a.ent").exists() && room.path("texts/out.ent").exists());
    }
}

/// Other programs read what is written, and what they write is read.
#[test]
fn other_programs_agree() {
    for (program, name) in [("gzip", "a.bsp.gz"), ("bzip2", "a.bsp.bz2"), ("zstd", "a.bsp.zst")] {
        if Command::new(program).arg("--version").output().is_err() {
            println!("{program} is not installed; the test is skipped");
            continue;
        }
        let room = Room::empty();
        room.write("a.bsp", &fixture("q3/own_rooms"));
        assert_eq!(room.bspkit(&format!("ent set a.bsp worldspawn message=new -o {name}")).code, Some(0));
        assert_eq!(room.bspkit("ent set a.bsp worldspawn message=new -o plain.bsp").code, Some(0));
        let theirs = Command::new(program).args(["-d", "-c"]).arg(room.path(name)).output().unwrap();
        assert!(theirs.status.success() && theirs.stdout == room.read("plain.bsp"), "{program}");
        let packed = Command::new(program).args(["-c"]).arg(room.path("a.bsp")).output().unwrap();
        room.write(name, &packed.stdout);
        assert_eq!(room.bspkit(&format!("ent list {name}")).out, room.bspkit("ent list a.bsp").out);
    }
}

/// Archives of each kind, with two maps and a file that is none.
fn archives(room: &Room) -> Vec<&'static str> {
    let maps = [("maps/one.bsp", fixture("q3/own_rooms")), ("maps/two.bsp", fixture("q2/own_rooms"))];
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes) in &maps {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.start_file("readme.txt", options).unwrap();
    zip.write_all(b"text").unwrap();
    let zip = zip.finish().unwrap().into_inner();
    room.write("pak0.pk3", &zip);
    room.write("maps.zip", &zip);
    // PAK of Quake: the files, and then the directory.
    let (mut files, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in &maps {
        let mut entry = [0; 64];
        entry[..name.len()].copy_from_slice(name.as_bytes());
        entry[56..60].copy_from_slice(&u32::try_from(12 + files.len()).unwrap().to_le_bytes());
        entry[60..].copy_from_slice(&u32::try_from(bytes.len()).unwrap().to_le_bytes());
        directory.extend(entry);
        files.extend(bytes);
    }
    let place = [12 + files.len(), directory.len()].map(|it| u32::try_from(it).unwrap().to_le_bytes()).concat();
    room.write("pak0.pak", &[b"PACK", &place[..], &files, &directory].concat());
    vec!["pak0.pk3", "maps.zip", "pak0.pak"]
}

/// An archive is one, however often it is named.
#[test]
fn an_archive_that_is_named_twice_is_one() {
    let room = Room::empty();
    std::fs::create_dir(room.path("maps")).unwrap();
    for archive in archives(&room) {
        let once = room.bspkit(&format!("checksum {archive}")).done();
        for twice in [format!("./{archive}"), format!("maps/../{archive}"), format!("./{archive}/maps/one.bsp")] {
            let run = room.bspkit(&format!("checksum {archive} {twice}")).done();
            assert_eq!(run.text(), once.text(), "{twice}");
        }
    }
}

#[test]
fn maps_are_read_in_their_archives() {
    let room = Room::empty();
    room.write("one.bsp", &fixture("q3/own_rooms"));
    let expected = room.bspkit("ent list one.bsp").out;
    for archive in archives(&room) {
        let run = room.bspkit(&format!("ent list -c -q {archive} -- info_player_start"));
        let text = String::from_utf8_lossy(&run.out).replace('\\', "/");
        assert_eq!(text, format!("{archive}/maps/one.bsp:1\n{archive}/maps/two.bsp:1\n"), "{run:?}");
        assert_eq!(room.bspkit(&format!("ent list {archive}/maps/one.bsp")).out, expected);
        assert_eq!(room.bspkit(&format!("verify {archive} -q")).code, Some(0));
        // Edits go elsewhere; the archive stays, byte for byte.
        let before = room.read(archive);
        let run = room.bspkit(&format!("ent set {archive} worldspawn message=new -o out_{archive}/"));
        assert_eq!(run.code, Some(0), "{run:?}");
        let run = room.bspkit(&format!("ent set {archive} light light=7 -o only_{archive}/"));
        assert_eq!(run.code, Some(0), "{run:?}");
        // The map without a light is copied out of the archive.
        assert_eq!(room.read(format!("only_{archive}/maps/one.bsp")), fixture("q3/own_rooms"));
        for out in [archive, &format!("new_{archive}")] {
            let run = room.bspkit(&format!("ent set {archive}/maps/one.bsp worldspawn message=new -o {out} --force"));
            assert!(run.code == Some(2) && run.err.contains("archive"), "{run:?}");
        }
        let run = room.bspkit(&format!("ent set {archive} worldspawn message=new --in-place"));
        assert!(run.code == Some(2) && run.err.contains("in an archive"), "{run:?}");
        assert_eq!(room.read(archive), before);
        let run = room.bspkit(&format!("ent get out_{archive}/maps/two.bsp worldspawn message"));
        assert_eq!(run.out, b"new\n");
        // The policy and the defaults above the archive are those of its maps.
        room.write("bspkit.toml", b"[map]\ndialects = ['quake3']\n[defaults]\ncolor = 'always'\n");
        let run = room.bspkit(&format!("ci {archive}"));
        let text = String::from_utf8_lossy(&run.out);
        assert!(run.code == Some(1) && text.contains("policy-dialect") && text.contains("\x1b["), "{run:?}");
        assert!(room.bspkit(&format!("config {archive}/maps/one.bsp")).text().starts_with("bspkit.toml\n"));
        std::fs::remove_file(room.path("bspkit.toml")).unwrap();
        // The table of many maps has their sizes, not that of the archive.
        let run = room.bspkit(&format!("verify {archive}"));
        let bytes = run.err.lines().find_map(|line| line.strip_suffix("total")?.split_whitespace().nth(1));
        let stats = room.bspkit(&format!("stats {archive} --json")).done().json();
        assert_eq!(bytes, Some(stats["bytes"].to_string().as_str()), "{run:?}");
        let run = room.bspkit(&format!("info {archive}/maps/none.bsp"));
        assert_eq!(run.code, Some(2), "{run:?}");
    }
}

/// A name that leads out of a folder is a map that failed, and is written nowhere. `\\` parts a name as `/` does.
#[test]
fn odd_names_in_archives_are_said() {
    let room = Room::empty();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for name in ["../evil.bsp", "maps/good.bsp", "aux.bsp"] {
        zip.start_file(name, options).unwrap();
        zip.write_all(&fixture("q2/own_rooms")).unwrap();
    }
    room.write("odd.zip", &zip.finish().unwrap().into_inner());
    let run = room.bspkit("ent set odd.zip worldspawn message=new -o out/");
    assert!(run.code == Some(1) && run.err.contains("is left out"), "{run:?}");
    assert!(room.path("out/maps/good.bsp").exists() && !room.path("evil.bsp").exists());
}

/// A new name keeps the form of the file.
#[test]
fn a_renamed_map_stays_compressed() {
    let room = Room::empty();
    room.write("room_v20.bsp.gz", &compressed("a.gz", &fixture("source/room_v20")));
    // The slash makes it a folder, which is made.
    let run = room.bspkit("rename room_v20.bsp.gz own_arena -o out/");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(Form::Gzip.unpack(&room.read("out/own_arena.bsp.gz")[..]).is_ok(), "{run:?}");
}

/// Every command that writes a map writes it in the form that the name of the target says.
#[test]
fn packed_and_merged_maps_are_compressed_too() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    room.write("a.bsp", &map);
    for command in ["unpack a.bsp -o folder", "pack folder -o b.bsp.bz2", "ent set a.bsp light light=7 -o c.bsp.gz"] {
        assert_eq!(room.bspkit(command).code, Some(0), "{command}");
    }
    assert_eq!(Form::Bzip2.unpack(&room.read("b.bsp.bz2")[..]).unwrap(), map);
    assert_eq!(room.bspkit("pack folder -o b.zip").code, Some(2));
    // A merge of two edits, each of another entity.
    room.write("base.bsp.gz", &compressed("a.gz", &map));
    for (edit, file) in [("light light=7", "ours"), ("worldspawn message=new", "theirs")] {
        assert_eq!(room.bspkit(&format!("ent set a.bsp {edit} -o {file}.bsp.gz")).code, Some(0));
    }
    let run = room.bspkit("git merge base.bsp.gz ours.bsp.gz theirs.bsp.gz");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(Form::Gzip.unpack(&room.read("ours.bsp.gz")[..]).is_ok());
    assert_eq!(room.bspkit("ent get ours.bsp.gz worldspawn message").out, b"new\n");
    assert_eq!(room.bspkit("ent get ours.bsp.gz light light").out, b"7\n7\n7\n");
    let run = room.bspkit("ent set c.bsp.gz light light=8 --in-place --backup");
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = room.bspkit("undo c.bsp.gz");
    assert!(run.code == Some(2) && run.err.contains("rename it"), "{run:?}");
}

#[test]
fn what_is_damaged_is_refused() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    for name in NAMES {
        let packed = compressed(name, &map);
        for (what, bytes) in [("cut", &packed[..packed.len() / 2]), ("empty", &[][..]), ("plain", &map[..])] {
            room.write(name, bytes);
            let run = room.bspkit(&format!("info {name}"));
            assert!(run.code == Some(2) && run.err.contains("cannot open"), "{name} {what}: {run:?}");
        }
    }
    for archive in archives(&room) {
        let whole = room.read(archive);
        for (what, bytes) in
            [("cut", &whole[..whole.len() / 2]), ("empty", &[][..]), ("text", &b"this is no archive"[..])]
        {
            room.write(archive, bytes);
            let run = room.bspkit(&format!("info {archive}"));
            assert_eq!(run.code, Some(2), "{archive} {what}: {run:?}");
        }
    }
    // More than the limit: zeros that are few bytes in the file.
    let mut stream = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![0; 1 << 20];
    (0..513).for_each(|_| stream.write_all(&zeros).unwrap());
    room.write("bomb.bsp.gz", &stream.finish().unwrap());
    let run = room.bspkit("info bomb.bsp.gz");
    assert!(run.code == Some(2) && run.err.contains("more than 536870912 bytes"), "{run:?}");
}

/// Light of Quake III that is in files beside the map, in the archive of both.
#[test]
#[cfg(feature = "see")]
fn a_map_in_an_archive_has_the_files_of_the_archive() {
    let room = Room::empty();
    let map = fixture("q3/own_rooms");
    let bsp = bspkit::Bsp::parse(&map).unwrap();
    let slot = bsp.slot("LIGHTMAPS").unwrap().id;
    let mut draft = bsp.draft();
    draft.set(slot, Vec::new()).unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("maps/rooms.bsp", options).unwrap();
    zip.write_all(&draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
    for (at, page) in bsp.bytes(slot).unwrap().chunks(128 * 128 * 3).enumerate() {
        let mut tga = vec![0; 18];
        (tga[2], tga[12], tga[14], tga[16], tga[17]) = (2, 128, 128, 24, 0x20);
        page.chunks(3).for_each(|luxel| tga.extend([luxel[2], luxel[1], luxel[0]]));
        zip.start_file(format!("maps/rooms/lm_{at:04}.tga"), options).unwrap();
        zip.write_all(&tga).unwrap();
    }
    room.write("pak.pk3", &zip.finish().unwrap().into_inner());
    room.write("rooms.bsp", &map);
    room.bspkit("view rooms.bsp -o one.png --png 80x60").done();
    let run = room.bspkit("view pak.pk3/maps/rooms.bsp -o other.png --png 80x60").done();
    assert!(!run.err.contains("not found"), "{}", run.err);
    assert_eq!(room.read("one.png"), room.read("other.png"));
}

/// What belongs to a map is found by its name, however its file is compressed.
#[test]
fn a_compressed_map_has_the_name_of_the_map() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    room.write("own_rooms.bsp", &map);
    room.write("own_rooms.bsp.gz", &compressed("a.gz", &map));
    room.write("rules/maps/own_rooms.cfg", b"add:\n{\n\"classname\" \"info_null\"\n}\n");
    for file in ["own_rooms.bsp", "own_rooms.bsp.gz"] {
        let run = room.bspkit(&format!("ent apply {file} --rules rules --dry-run")).done();
        assert!(run.text().contains("rules/maps/own_rooms.cfg:2 adds 1 entity"), "{run:?}");
        let run = room.bspkit(&format!("rules lint rules {file}"));
        assert!(!run.text().contains("rule-no-map"), "{run:?}");
    }
    room.write("name.rhai", b"print(map.name);");
    assert!(room.bspkit("run name.rhai own_rooms.bsp.gz").err.contains("own_rooms\n"));
    // Files beside the map, and the advice of a renaming.
    room.write("own_rooms.ent", b"{\n\"classname\" \"worldspawn\"\n}\n");
    let edit = "ent set own_rooms.bsp.gz worldspawn message=x --in-place";
    assert!(room.bspkit(edit).err.contains("own_rooms.ent"), "{:?}", room.bspkit(edit));
    let run = room.bspkit("rename own_rooms.bsp.gz arena -o other.bsp");
    assert!(run.err.contains("rename other.bsp to arena.bsp\n"), "{run:?}");
    room.write("room.bsp.gz", &compressed("a.gz", &fixture("source/room_v20")));
    room.bspkit("lmp export room.bsp.gz entities").done();
    assert!(room.path("room_l_0.lmp").exists());
    let input = fixture("source/room_v20");
    let run = room.with_stdin("lmp export - entities", &input);
    assert!(run.code == Some(2) && run.err.contains("stdin has no file name"), "{run:?}");
}

/// A record of rules is beside a map, and a map in an archive has nothing beside it.
#[test]
fn rules_are_applied_to_a_map_in_an_archive() {
    let room = Room::empty();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("maps/own_rooms.bsp", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(&fixture("q2/own_rooms")).unwrap();
    room.write("p.pk3", &zip.finish().unwrap().into_inner());
    room.write("r.cfg", b"add:\n{\n\"classname\" \"info_null\"\n}\n");
    room.bspkit("ent apply p.pk3/maps/own_rooms.bsp --rules r.cfg -o out.bsp").done();
    assert!(room.bspkit("ent list out.bsp info_null").text().contains("info_null"));
}
