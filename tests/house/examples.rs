//! The examples do what they say.
//!
//! `cargo test` builds them into a folder beside that of the tests, unless it is told which tests to build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bspkit::dialect::{QUAKE2, Role, quake2};
use bspkit::{Bsp, ErrorKind};

#[test]
fn hello_says_what_is_in_a_map() {
    let own = said(&run("hello", &[]));
    assert!(own.starts_with("Quake III Arena, version 46\n"), "{own}");
    for map in fixtures() {
        let said = said(&run("hello", &[map.to_str().unwrap()]));
        let (map, name) = (Bsp::open(&map).unwrap(), map.display());
        assert!(said.starts_with(map.dialect().title), "{name}: {said}");
        for slot in map.slots() {
            let line = format!("{:>10} {:>10}  {}", slot.offset, slot.length, slot.name);
            assert!(said.lines().any(|said| said == line), "{name}: no line for {}: {said}", slot.name);
        }
        let entities = map.entities().unwrap().len();
        let (_, classes) = said.split_once(&format!("\n{entities} entities\n")).expect(&said);
        let counts = classes.lines().map(|line| line[..10].trim().parse::<usize>().unwrap());
        assert_eq!(counts.sum::<usize>(), entities, "{name}: {said}");
        assert!(classes.contains("         1  worldspawn\n"), "{name}: {said}");
    }
}

#[test]
fn rename_message_changes_the_message_only() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("renamed.bsp");
    for map in fixtures() {
        let name = map.display();
        let said = said(&run("rename_message", &[map.to_str().unwrap(), to.to_str().unwrap(), "The Place"]));
        assert!(said.contains("ENTITIES ") && said.contains(" bytes, "), "{name}: {said}");
        let (old, new) = (Bsp::open(&map).unwrap(), Bsp::open(&to).unwrap());
        assert_eq!(new.entities().unwrap().get(0).unwrap().get("message"), Some(&b"The Place"[..]), "{name}");
        assert_others_are_equal(&old, &new);
    }
}

#[test]
fn strip_entities_removes_what_is_selected() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("stripped.bsp");
    for map in fixtures() {
        let name = map.display();
        let (from, to) = (map.to_str().unwrap(), to.to_str().unwrap());
        let said = said(&run("strip_entities", &[from, to, "light*", "info_player_*[origin]"]));
        let (old, new) = (Bsp::open(&map).unwrap(), Bsp::open(to).unwrap());
        let (before, after) = (old.entities().unwrap(), new.entities().unwrap());
        let stays = |class: &[u8]| !class.starts_with(b"light") && !class.starts_with(b"info_player_");
        let left: Vec<_> = before.iter().filter(|entity| stays(entity.class().unwrap())).collect();
        assert!(left.len() < before.len(), "{name}: nothing to remove");
        assert!(left.iter().map(|entity| entity.bytes()).eq(after.iter().map(|entity| entity.bytes())), "{name}");
        let bytes = before.to_bytes().len() - after.to_bytes().len();
        let removed = before.len() - after.len();
        let line = format!("removed {removed} of {} entities, {bytes} bytes\n", before.len());
        assert!(said.starts_with(&line), "{name}: {said} instead of {line}");
        assert_others_are_equal(&old, &new);
    }
}

#[test]
fn examples_without_arguments_edit_a_map_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    for (example, line, file) in [
        ("rename_message", "ENTITIES ", "bspkit_renamed.bsp"),
        ("strip_entities", "removed 2 of 18 entities, 150 bytes\n", "bspkit_stripped.bsp"),
        ("repack_pak", "PAKFILE 1207 -> 1331 bytes, in place at the end", "bspkit_repacked.bsp"),
    ] {
        // The folder for temporary files, on Unix and on Windows.
        let output = command(example).env("TMPDIR", folder.path()).env("TMP", folder.path()).output().unwrap();
        assert!(said(&output).starts_with(line), "{}", said(&output));
        assert!(Bsp::open(folder.path().join(file)).is_ok(), "{example}");
    }
}

/// Records of the library in a struct of binrw, and a struct of the example's own, give what they got.
#[test]
fn binrw_streams_reads_what_it_wrote() {
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q2/own_rooms.bsp");
    let planes = Bsp::open(&map).unwrap().table(bspkit::dialect::quake2::PLANES).unwrap().len();
    let expected = format!("{planes} planes, equal: true\nteams [0, 1, 2]\n");
    assert_eq!(said(&run("binrw_streams", &[map.to_str().unwrap()])), expected);
}

#[test]
fn own_lump_writes_and_reads_one_lump() {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q2/own_rooms.bsp");
    let to = folder.path().join("areas.bsp");
    let said = said(&run("own_lump", &[from.to_str().unwrap(), to.to_str().unwrap()]));
    assert_eq!(said, "team 1 at [64.0, 0.0, 8.0]\nteam 2 at [-64.0, 0.0, 8.0]\n");
    let (old, new) = (Bsp::open(&from).unwrap(), Bsp::open(&to).unwrap());
    assert_eq!(new.slot("POP").unwrap().length, 32);
    for slot in old.slots().iter().filter(|slot| slot.name != "POP") {
        assert_eq!(*old.stored(slot.id), *new.stored(slot.id), "{}", slot.name);
    }
}

#[test]
fn rename_textures_and_compare_agree() {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q3/own_rooms.bsp");
    let to = folder.path().join("renamed.bsp");
    let [from, to] = [&from, &to].map(|path| path.to_str().unwrap());
    let renamed = said(&run("rename_textures", &[from, "textures/own/**", "textures/mine/{1}", to]));
    let count: usize = renamed.strip_suffix(" names\n").unwrap().parse().unwrap();
    let compared = said(&run("compare", &[from, to]));
    assert_eq!(compared.lines().filter(|line| line.contains("-> textures/mine/")).count(), count, "{compared}");
    assert!(compared.starts_with("SHADERS: "), "{compared}");
    assert_eq!(said(&run("rename_textures", &[from, "textures/*", "x", to])).lines().count(), 2);
}

/// What is removed is in the file no more: a second look finds nothing.
#[test]
fn prune_removes_what_nothing_refers_to() {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q3/own_rooms.bsp");
    let to = folder.path().join("pruned.bsp");
    let [from, to] = [&from, &to].map(|path| path.to_str().unwrap());
    assert!(said(&run("prune", &[from, to])).contains("DRAWINDEXES: "));
    assert_eq!(said(&run("prune", &[to, to])), "");
}

#[test]
fn repack_pak_replaces_one_file_only() {
    let folder = tempfile::tempdir().unwrap();
    let (to, text) = (folder.path().join("repacked.bsp"), folder.path().join("text"));
    fs::write(&text, b"anew").unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/source/room_v20.bsp");
    let arguments = [&*from, &*to, Path::new("MATERIALS/own/wall.vmt"), &*text].map(|path| path.to_str().unwrap());
    assert!(said(&run("repack_pak", &arguments)).contains("       4  materials/own/wall.vmt\n"));
    let (old, new) = (Bsp::open(&from).unwrap(), Bsp::open(&to).unwrap());
    let (old, new) = (old.pak().unwrap(), new.pak().unwrap());
    assert_eq!(old.len(), new.len());
    for (before, after) in old.iter().zip(new.iter()) {
        let is_same = *before.data().unwrap() == *after.data().unwrap();
        assert_eq!(is_same, before.name() != b"materials/own/wall.vmt");
    }
}

#[test]
fn strip_entities_does_not_remove_the_world() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("stripped.bsp");
    let output = run("strip_entities", &[fixtures()[0].to_str().unwrap(), to.to_str().unwrap(), "*"]);
    assert!(!output.status.success());
    assert!(!to.exists());
}

#[test]
fn rename_all_changes_each_map_of_a_folder_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let maps: Vec<_> =
        fixtures().into_iter().take(3).enumerate().map(|(index, map)| (map, index.to_string())).collect();
    for (map, name) in &maps {
        fs::copy(map, path(&format!("{name}.bsp"))).unwrap();
    }
    fs::write(path("notes.txt"), "no map").unwrap();
    let arguments = [folder.path().to_str().unwrap(), "The Place"];
    assert_eq!(said(&run("rename_all", &arguments)).lines().count(), maps.len());
    for (map, name) in &maps {
        let new = Bsp::open(path(&format!("{name}.bsp"))).unwrap();
        assert_eq!(new.entities().unwrap().get(0).unwrap().text("message").as_deref(), Some("The Place"));
        assert_others_are_equal(&Bsp::open(map).unwrap(), &new);
    }
    assert_eq!(said(&run("rename_all", &arguments)), "", "the second time nothing changes");
}

#[test]
fn double_light_makes_every_luxel_brighter() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("bright.bsp");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q2/own_rooms.bsp");
    let said = said(&run("double_light", &[from.to_str().unwrap(), to.to_str().unwrap()]));
    assert!(said.ends_with(" luxels are brighter\n") && !said.starts_with('0'), "{said}");
    let (old, new) = (Bsp::open(&from).unwrap(), Bsp::open(&to).unwrap());
    for slot in old.slots() {
        let is_light = slot.id == old.role(Role::Lighting).unwrap().id;
        assert_eq!(*old.stored(slot.id) == *new.stored(slot.id), !is_light, "{}", slot.name);
    }
    let (old, new) = (old.stored(old.slot("lighting").unwrap().id), new.stored(new.slot("lighting").unwrap().id));
    assert!(old.iter().zip(new.iter()).all(|(old, new)| old <= new));
}

#[test]
fn faces_lists_corners_that_lie_on_the_plane_of_each_face() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q2/own_rooms.bsp");
    let said = said(&run("faces", &[from.to_str().unwrap()]));
    let map = Bsp::open(&from).unwrap();
    let (faces, planes, polygons) =
        (map.table(quake2::FACES).unwrap(), map.table(quake2::PLANES).unwrap(), map.polygons().unwrap());
    assert_eq!((polygons.len(), said.lines().count()), (faces.len(), 2 * faces.len()));
    for (index, face) in faces.iter().enumerate() {
        let corners = polygons.get(index).unwrap();
        assert!(said.contains(&format!("face {index}: {corners:?}\n")), "{index}");
        let plane = planes.get(usize::from(face.plane)).unwrap();
        for corner in &corners {
            let distance: f32 = corner.iter().zip(plane.normal).map(|(part, normal)| part * normal).sum();
            assert!((distance - plane.distance).abs() < 0.1, "face {index}: {corner:?}");
        }
    }
    assert_eq!(polygons.get(faces.len()).unwrap_err().kind(), ErrorKind::NotFound);
    let quake3 = Bsp::open("tests/maps/q3/own_rooms.bsp").unwrap();
    assert_eq!(quake3.polygons().unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn build_map_builds_what_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("box.bsp");
    assert_eq!(said(&run("build_map", &[path.to_str().unwrap()])), "6 brush sides\n");
    let map = Bsp::open(&path).unwrap();
    assert_eq!(map.dialect(), &QUAKE2);
    assert_eq!(map.table(quake2::PLANES).unwrap().get(5).unwrap().normal, [0.0, 0.0, -1.0]);
    assert_eq!(map.table(quake2::BRUSHES).unwrap().get(0).unwrap().side_count, 6);
}

#[test]
fn an_error_of_main_is_a_sentence() {
    let output = run("hello", &["no/such/map.bsp"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("Error: cannot ") && text.contains("\n\nCaused by:\n    "), "{text}");
    assert!(!text.contains("Error {"), "{text}");
}

#[test]
fn ci_check_passes_good_maps_and_fails_others() {
    let good = run("ci_check", &[]);
    assert_eq!(good.status.code(), Some(0));
    let count = fixtures().len();
    assert!(said(&good).ends_with(&format!("\n{count} maps, 0 failed\n")), "{}", said(&good));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_eq!(run("ci_check", &[path]).status.code(), Some(1), "a folder without maps");
    fs::create_dir(folder.path().join("more")).unwrap();
    fs::copy(&fixtures()[0], folder.path().join("more/good.bsp")).unwrap();
    assert_eq!(run("ci_check", &[path]).status.code(), Some(0), "a good map in a folder inside");
    fs::write(folder.path().join("bad.BSP"), "no map").unwrap();
    let bad = run("ci_check", &[path]);
    assert_eq!(bad.status.code(), Some(1));
    let said = String::from_utf8(bad.stdout).unwrap();
    assert!(said.lines().any(|line| line.starts_with("FAILED ") && line.contains("bad.BSP: ")), "{said}");
    assert!(said.ends_with("\n2 maps, 1 failed\n"), "{said}");
}

/// All fixtures, with the folder of their family.
fn fixtures() -> Vec<PathBuf> {
    let mut maps = Vec::new();
    for family in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps")).unwrap() {
        let family = family.unwrap().path();
        if family.is_dir() {
            let files = fs::read_dir(family).unwrap().map(|file| file.unwrap().path());
            maps.extend(files.filter(|file| file.extension().is_some_and(|extension| extension == "bsp")));
        }
    }
    assert!(!maps.is_empty());
    maps.sort();
    maps
}

fn run(example: &str, arguments: &[&str]) -> Output {
    command(example).args(arguments).output().unwrap()
}

fn command(example: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap().join("examples");
    let program = folder.join(example).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "no {}, which `cargo build --examples` makes", program.display());
    Command::new(program)
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn assert_others_are_equal(old: &Bsp<'_>, new: &Bsp<'_>) {
    let entities = old.role(Role::Entities).unwrap().id;
    assert_eq!(old.slots().len(), new.slots().len());
    for slot in old.slots().iter().filter(|slot| slot.id != entities) {
        assert_eq!(*old.stored(slot.id), *new.stored(slot.id), "{}", slot.name);
    }
}
