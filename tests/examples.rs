//! The examples do what they say.
//!
//! `cargo test` builds them into a folder beside that of the tests, unless it is told which tests to build.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bspkit::Bsp;
use bspkit::dialect::Role;

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
        assert!(left.iter().map(|entity| entity.text()).eq(after.iter().map(|entity| entity.text())), "{name}");
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
