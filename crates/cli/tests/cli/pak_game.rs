//! `pak missing`, `pak unused` and `pak fill`, with a small game that has everything that games have.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::room::{Room, fixture};
use super::vpk;

const STOCK: &str = "models/own/crate.mdl\nmodels/own/lamp.mdl\nmodels/own/grass.mdl\n\
    materials/detail/own_details.vmt // of the game\nmaterials/skybox/sky_own_01rt.vmt\nmaterials/skybox/sky_own_01lf.vmt\n\
    materials/skybox/sky_own_01bk.vmt\nmaterials/skybox/sky_own_01ft.vmt\nmaterials/skybox/sky_own_01up.vmt\n\
    materials/skybox/sky_own_01dn.vmt\n";

const GAME: &str = "--game steam/own --stock steam/stock.txt";

/// What the map needs and what neither it nor the game has.
const MISSING: [&str; 3] =
    ["materials/own/door.vmt", "materials/maps/room_v20/c0_0_0.vtf", "materials/own/ceiling_normal.vtf"];

/// A game with loose files, archives, a mod and a list of other names, and a map that it does not have all files of.
fn room() -> Room {
    let room = Room::empty();
    room.write("room_v20.bsp", &fixture("source/room_v20"));
    room.write("steam/stock.txt", STOCK.as_bytes());
    let paths = "game+mod own/addons/*\ngame |gameinfo_path|.\ngame |all_source_engine_paths|own/own_textures.vpk";
    room.write(
        "steam/own/gameinfo.txt",
        format!("GameInfo {{ FileSystem {{ SearchPaths {{\n{paths}\n}} }} }}").as_bytes(),
    );
    let write = |name: &str, text: &str| room.write(name, text.as_bytes());
    write("steam/own/Materials/Own/Floor.VMT", "LightmappedGeneric { $basetexture own/floor }");
    write("steam/own/Materials/Own/wall.vtf", "pixels");
    write("steam/own/materials/tools/toolsnodraw.vmt", "LightmappedGeneric { }");
    write(
        "steam/own/addons/a mod/materials/own/ceiling.vmt",
        "LightmappedGeneric\n{\n$basetexture own/ceiling\n$bumpmap own/ceiling_normal\n}",
    );
    let textures: [(&str, &[u8]); 2] =
        [("materials/own/floor.vtf", b"pixels"), ("materials/own/ceiling.vtf", b"pixels")];
    vpk::write(&room.path("steam/own/own_textures_dir.vpk"), 2, &textures);

    write("content/Materials/Own/Door.vmt", "LightmappedGeneric { $basetexture own/door $detail own/noise }");
    write("content/materials/own/door.vtf", "pixels of the door");
    write("content/materials/own/noise.vtf", "pixels");
    write("content/materials/own/ceiling_normal.vtf", "normals");
    write("content/materials/own/floor.vmt", "the game has it");
    write("content/materials/own/wall.vmt", "the map has it");
    write("content/materials/own/other.vmt", "the map does not need it");
    let cubemap: [(&str, &[u8]); 1] = [("materials/maps/room_v20/c0_0_0.vtf", b"reflections")];
    vpk::write(&room.path("more_dir.vpk"), 1, &cubemap);
    room
}

fn names(list: &serde_json::Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect()
}

fn packed(room: &Room, map: &str) -> Vec<String> {
    let list = room.bspkit(&format!("pak list {map} --json")).done().json();
    names(&list["files"]).into_iter().map(str::to_owned).collect()
}

#[test]
fn planted_missing_files_are_found_and_nothing_else() {
    let room = room();
    let run = room.bspkit(&format!("pak missing room_v20.bsp {GAME} --json"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let json = run.json();
    let mut missing = names(&json["missing"]);
    let mut expected = MISSING;
    missing.sort_unstable();
    expected.sort_unstable();
    assert_eq!(missing, expected);
    assert_eq!((&json["ok"], &json["unresolved"], &json["faults"]), (&json!(false), &json!([]), &json!([])));

    // The tree of what refers to it.
    let run = room.bspkit(&format!("pak missing room_v20.bsp {GAME}"));
    let tree = "  materials/own/ceiling_normal.vtf (texture)\n    materials/own/ceiling.vmt, line 4\n      \
        TEXDATA_STRING_TABLE, record 1\n";
    assert!(run.text().contains(tree), "{}", run.text());
    assert!(run.text().starts_with("fail room_v20.bsp (3 of "), "{}", run.text());
}

/// All files below a folder, with their names.
fn files_below(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
        match entry.path().is_dir() {
            true => files_below(&entry.path(), &format!("{name}/"), files),
            false => files.push((name, fs::read(entry.path()).unwrap())),
        }
    }
}

/// The game of the tests of references, as loose files and as an archive: the map lacks the same two files.
#[test]
fn an_archive_has_what_the_loose_files_are() {
    let (room, game) = (room(), Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/game"));
    let mut files = Vec::new();
    files_below(&game, "", &mut files);
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    vpk::write(&room.path("pak01_dir.vpk"), 2, &files);
    for option in [format!("--game={}", game.display()), "--vpk=pak01_dir.vpk".to_owned()] {
        let run = room.run(&["pak", "missing", "room_v20.bsp", "--json", &option]);
        assert_eq!(run.code, Some(1), "{}", run.err);
        let json = run.json();
        let mut missing = names(&json["missing"]);
        missing.sort_unstable();
        assert_eq!(missing, ["materials/maps/room_v20/c0_0_0.vtf", "materials/own/wall.vtf"], "{option}");
        assert_eq!(names(&json["faults"]), ["scripts/game_sounds_broken.txt"]);
    }
}

#[test]
fn the_game_has_to_be_named_and_to_be_a_game() {
    let room = room();
    room.write("bad.vpk", b"no archive");
    room.write("q3.bsp", &fixture("q3/own_rooms"));
    for (line, said) in [
        ("pak missing room_v20.bsp", "name the game with --game DIR"),
        ("pak missing room_v20.bsp --game steam", "steam is not the folder of a game: it has no gameinfo.txt"),
        ("pak missing room_v20.bsp --game steam", "these folders in it have one: steam/own"),
        ("pak unused room_v20.bsp --game content", "such as `Team Fortress 2/tf`"),
        ("pak missing room_v20.bsp --vpk bad.vpk", "bad.vpk: the VPK directory does not begin"),
        ("pak missing room_v20.bsp --vpk none.vpk", "cannot read none.vpk"),
        ("pak missing room_v20.bsp --stock none.txt", "cannot read none.txt"),
        ("pak missing q3.bsp --stock steam/stock.txt", "references of Quake III Arena maps are not known"),
        ("pak fill room_v20.bsp --from nothing -o no.bsp", "cannot read nothing"),
        ("pak fill q3.bsp --from content -o no.bsp", "references of Quake III Arena maps are not known"),
    ] {
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains(said), "{line}: {}", run.err);
        assert!(!room.path("no.bsp").exists());
    }
    // A damaged archive among the search paths is a warning, and the rest is read.
    room.write("steam/own/own_textures_dir.vpk", b"no archive");
    let run = room.bspkit(&format!("pak missing room_v20.bsp {GAME} --json"));
    assert!(
        run.err.contains("warning: ") && run.err.contains("own_textures_dir.vpk: the VPK directory"),
        "{}",
        run.err
    );
    assert_eq!(names(&run.json()["missing"]).len(), MISSING.len() + 2);
}

#[test]
fn what_is_missing_and_found_is_embedded_with_what_it_refers_to() {
    let room = room();
    let line = format!("pak fill room_v20.bsp --from content --from more_dir.vpk {GAME}");
    let run = room.bspkit(&format!("{line} --dry-run"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    for said in [
        "  materials/own/door.vmt, 62 bytes, from content, for TEXDATA_STRING_TABLE, record 3\n",
        "  materials/own/noise.vtf, 6 bytes, from content, for materials/own/door.vmt, line 1, for TEXDATA",
        "  materials/maps/room_v20/c0_0_0.vtf, 11 bytes, from more_dir.vpk, for CUBEMAPS, record 0",
    ] {
        assert!(run.text().contains(said), "{said} is not in {}", run.text());
    }
    room.bspkit(&format!("{line} -o out.bsp")).without_data(0);
    let (before, mut after) = (packed(&room, "room_v20.bsp"), packed(&room, "out.bsp"));
    let mut new = after.split_off(before.len());
    assert_eq!(after, before);
    new.sort_unstable();
    let expected = [
        "materials/maps/room_v20/c0_0_0.vtf",
        "materials/own/ceiling_normal.vtf",
        "materials/own/door.vmt",
        "materials/own/door.vtf",
        "materials/own/noise.vtf",
    ];
    assert_eq!(new, expected);
    // Then nothing is missing and nothing is unused, and the same again is no edit.
    let run = room.bspkit(&format!("pak missing out.bsp {GAME} --map-name room_v20"));
    assert!(run.code == Some(0) && run.text().starts_with("pass out.bsp (0 of "), "{}", run.text());
    room.bspkit(&format!("pak unused out.bsp --map-name room_v20 {GAME}")).without_data(0);
    // Without the game it is not known what its materials refer to.
    let run = room.bspkit("pak unused out.bsp --map-name room_v20");
    assert!(run.text().starts_with("possible  #") && run.text().contains("ceiling_normal.vtf"), "{}", run.text());
    room.bspkit(&format!("{} --map-name room_v20 -o again.bsp", line.replace("room_v20.bsp", "out.bsp")))
        .without_data(0);
    assert_eq!(room.read("again.bsp"), room.read("out.bsp"));
    room.bspkit("pak verify out.bsp").done();
}

#[test]
fn what_is_left_out_is_not_followed() {
    let room = room();
    let line = format!("pak fill room_v20.bsp --from content {GAME} --dry-run --json");
    let document = |more: &str| room.bspkit(&format!("{line} {more}"));
    let run = document("");
    // The reflections are in the archive only.
    assert_eq!(run.code, Some(1));
    assert_eq!(names(&run.json()["missing"]), ["materials/maps/room_v20/c0_0_0.vtf"]);
    let json = document("--exclude **/door.vmt").json();
    assert_eq!(names(&json["packed"]), ["materials/own/ceiling_normal.vtf"]);
    assert_eq!(names(&json["missing"]), ["materials/maps/room_v20/c0_0_0.vtf"]);
    let json = document("--only *.vmt").json();
    assert_eq!(names(&json["packed"]), ["materials/own/door.vmt"]);
    assert_eq!(json["packed"][0]["bytes"], 62);
}

#[test]
fn planted_unused_files_are_found_and_nothing_else() {
    let room = room();
    room.write("x", b"text");
    room.write("notes.txt", b"the clock uses Chime.wav");
    let add = "pak add room_v20.bsp materials/own/old.vmt=x materials/own/old.vtf=x sound/own/bell.wav=x \
        sound/own/chime.wav=x scripts/readme.dat=x materials/own/floor.vmt=x materials/.ds_store=x notes.txt=notes.txt \
        materials/tools/toolsnodraw.vmt=x materials/effects/sun.vmt=x -q -o 1.bsp";
    room.bspkit(add).without_data(0);
    room.write("steam/own/materials/effects/sun.vmt", b"x");
    let run = room.run(&["ent", "add", "1.bsp", "classname=game_text", "message=ring the BELL", "-q", "-o", "2.bsp"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let run = room.bspkit(&format!("pak unused 2.bsp --map-name room_v20 {GAME} --json"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let json = run.json();
    let found: Vec<(&str, &str)> = json["unused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["name"].as_str().unwrap(), file["sure"].as_str().unwrap()))
        .collect();
    let expected = [
        ("materials/own/old.vmt", "likely"),
        ("materials/own/old.vtf", "likely"),
        ("sound/own/bell.wav", "possible"),
        ("sound/own/chime.wav", "possible"),
        ("scripts/readme.dat", "possible"),
        ("materials/.ds_store", "certain"),
        ("notes.txt", "possible"),
        ("materials/effects/sun.vmt", "possible"),
    ];
    assert_eq!(found, expected);
    let run = room.bspkit(&format!("pak unused 2.bsp --map-name room_v20 {GAME}"));
    assert!(
        run.text().contains(
            "likely    #3 materials/own/old.vmt, 4 bytes: nothing that may be loaded refers to it or has its name\n"
        ),
        "{}",
        run.text()
    );
    assert!(run.err.contains("8 of 13 files unused, "), "{}", run.err);
    room.bspkit("pak unused room_v20.bsp").without_data(0);
}

/// A map that was saved under another name has files by the old one: none of them is likely unused, and that is said.
#[test]
fn a_copied_map_knows_the_files_of_its_old_name() {
    let room = room();
    std::fs::copy(room.path("room_v20.bsp"), room.path("copy.bsp")).unwrap();
    for command in ["unused", "missing"] {
        let run = room.bspkit(&format!("pak {command} copy.bsp {GAME} --json"));
        assert!(run.err.contains("most paths in the map have the name `room_v20`"), "{command}: {}", run.err);
        let own = room.bspkit(&format!("pak {command} room_v20.bsp {GAME} --json"));
        assert_eq!(String::from_utf8_lossy(&run.out).matches("\"likely\"").count(), {
            String::from_utf8_lossy(&own.out).matches("\"likely\"").count()
        });
    }
}

/// Engines find names as they are written, but for case and slashes: other spellings of a path are no file to them, and
/// neither is a file that they cannot read. Both are certainly unused.
#[test]
fn files_that_engines_do_not_find_are_missing() {
    let room = room();
    room.write("wall.vtf", b"pixels");
    for spelling in ["./materials/own/wall.vtf", "materials//own/wall.vtf"] {
        room.write("list.txt", format!("{spelling}\nwall.vtf\n").as_bytes());
        room.bspkit("bspzip -addlist room_v20.bsp list.txt out.bsp").done();
        let refs = room.bspkit("pak refs out.bsp materials/own/wall.vtf --map-name room_v20").done();
        assert!(refs.text().starts_with("nowhere"), "{spelling}: {}", refs.text());
        let unused = room.bspkit("pak unused out.bsp --map-name room_v20");
        let line = unused.text().lines().find(|line| line.contains("wall.vtf")).unwrap().to_owned();
        assert!(line.starts_with("certain") && line.contains("engines look for no file of this name"), "{line}");
        room.write("c/materials/own/wall.vtf", b"pixels");
        let fill = "pak fill out.bsp --from c --only *wall.vtf --map-name room_v20 -o filled.bsp";
        room.bspkit(fill);
        assert!(packed(&room, "filled.bsp").contains(&"materials/own/wall.vtf".to_owned()), "{spelling}");
    }
}

/// A map that is cut off may refer to more files than it has the names of.
#[test]
fn of_a_map_that_is_cut_off_no_file_is_known_to_be_there() {
    let room = room();
    let map = room.read("room_v20.bsp");
    for length in [9_000, 20_000] {
        room.write("cut.bsp", &map[..length]);
        let run = room.bspkit("pak missing cut.bsp --stock /dev/null");
        assert_eq!(run.code, Some(1), "{length}: {}", run.err);
        assert!(run.text().starts_with("fail") && run.text().contains("the map is not whole"), "{}", run.text());
        assert!(run.err.contains("past the end of the file"), "{}", run.err);
        let document = room.bspkit("pak missing cut.bsp --stock /dev/null --json").json();
        assert!(document["ok"] == false && !document["faults"].as_array().unwrap().is_empty());
        for command in ["pak refs cut.bsp", "pak diff room_v20.bsp cut.bsp", "rename cut.bsp zz --old room_v20"] {
            assert!(room.bspkit(command).err.contains("cut.bsp"), "{command} says nothing");
        }
    }
}

/// An archive that is damaged gives no bytes: in the map their damage would not be seen any more.
#[test]
fn a_file_with_another_checksum_is_not_embedded() {
    let room = room();
    let door: [(&str, &[u8]); 1] = [("materials/own/wall.vtf", b"pixels of the wall")];
    vpk::write(&room.path("c_dir.vpk"), 1, &door);
    let mut part = room.read("c_000.vpk");
    *part.last_mut().unwrap() ^= 1;
    room.write("c_000.vpk", &part);
    let run = room.bspkit("pak fill room_v20.bsp --from c_dir.vpk --only *wall.vtf --stock /dev/null -o f.bsp");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("another checksum than its archive states"), "{}", run.err);
    assert!(!room.path("f.bsp").exists());
}

/// The console ends a command at a `;`: each one may name a file.
#[test]
fn each_of_several_console_commands_is_read() {
    let room = room();
    let outputs = [
        "OnMapSpawn=cc,Command,sv_cheats 1; r_screenoverlay effects/one,0,-1",
        "OnUser1=cc,Command,r_screenoverlay effects/two;play own/b.wav,0,-1",
        "OnUser2=cc,Command,r_screenoverlay off;,0,-1",
        "OnUser3=lamp,SpotlightTexture,effects/beam,0,-1",
    ];
    let mut arguments = vec!["ent", "add", "room_v20.bsp", "classname=logic_auto"];
    arguments.extend(outputs);
    arguments.extend(["-o", "c.bsp", "-q"]);
    room.run(&arguments).done();
    let refs = room.bspkit("pak refs c.bsp --map-name room_v20").done();
    let of_auto: Vec<_> = refs.text().lines().filter(|line| line.contains("logic_auto")).map(str::to_owned).collect();
    let has = |name: &str| of_auto.iter().any(|line| line.contains(name));
    for name in ["materials/effects/one.vmt", "materials/effects/two.vmt", "sound/own/b.wav", "effects/beam.vtf"] {
        assert!(has(name), "{name}: {of_auto:#?}");
    }
    assert!(!has(";") && !has("off"), "{of_auto:#?}");
}

/// Engines take the first block of a material.
#[test]
fn blocks_after_the_first_one_of_a_material_name_nothing() {
    let room = room();
    room.write("f.vmt", b"#base \"materials/own/base.vmt\"\nA { $basetexture own/one }\nB { $basetexture own/two }\n");
    room.bspkit("pak add room_v20.bsp materials/own/floor.vmt=f.vmt -o e.bsp -q").done();
    let refs = room.bspkit("pak refs e.bsp --map-name room_v20").done();
    assert!(refs.text().contains("own/one.vtf") && !refs.text().contains("own/two.vtf"), "{}", refs.text());
}
