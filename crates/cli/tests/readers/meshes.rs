//! Khronos' glTF validator and assimp read what `export` writes, and find nothing wrong with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{corpus, run};

/// Says that a program is missing.
fn missing<T>(name: &str, why: &str) -> Option<T> {
    let notice = format!("{name} is missing ({why}): it does not read meshes");
    assert!(std::env::var_os("BSPKIT_REQUIRE_GLTF").is_none_or(|value| value != "1"), "{notice}");
    eprintln!("skipped: {notice}");
    None
}

/// The folder in which the validator is installed.
fn validator() -> Option<PathBuf> {
    let why = "BSPKIT_GLTF names no folder with the npm package gltf-validator";
    let folder = std::env::var_os("BSPKIT_GLTF").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join("node_modules/gltf-validator").is_dir());
    folder.or_else(|| missing("gltf-validator", why))
}

/// All maps of the project, and the real ones.
fn maps() -> Vec<PathBuf> {
    let own = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/maps");
    [corpus::under(&own), corpus::maps()].concat()
}

/// Exports a map; `false` if it is refused, which is for damage alone.
fn export(map: &Path, to: &Path, more: &[&str]) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
    let out = command.arg("export").arg(map).arg("-o").arg(to).arg("--overwrite").args(more).output().unwrap();
    let words = String::from_utf8_lossy(&out.stderr).into_owned();
    match out.status.code() {
        Some(0 | 1) => true,
        Some(2) => {
            println!("{}: {words}", map.display());
            assert!(words.starts_with("error: cannot"), "{words}");
            false
        }
        code => panic!("{}: {code:?} {words}", map.display()),
    }
}

#[test]
fn the_validator_finds_nothing() {
    let Some(validator) = validator() else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/readers/gltf.cjs");
    let (mut files, mut refused) = (Vec::new(), 0);
    for (index, map) in maps().iter().enumerate() {
        // One in eight as a text, with the other options.
        let (name, more): (_, &[&str]) = match index % 8 {
            1 => (format!("{index}.gltf"), &["--hdr"]),
            3 => (format!("{index}.glb"), &["--merge"]),
            5 => (format!("{index}.glb"), &["--no-light"]),
            _ => (format!("{index}.glb"), &[]),
        };
        match export(map, &folder.path().join(&name), more) {
            true => files.push((name, map.clone())),
            false => refused += 1,
        }
    }
    let words = [script.display().to_string(), validator.display().to_string()];
    let words: Vec<String> = words.into_iter().chain(files.iter().map(|(name, _)| name.clone())).collect();
    let ended = run::run(Path::new("node"), &words, folder.path());
    assert_eq!(ended.how, Ok(0), "{}", ended.text);
    let lines: Vec<&str> = ended.text.lines().filter(|line| line.starts_with("GLTF ")).collect();
    assert_eq!(lines.len(), files.len(), "{}", ended.text);
    for (line, (name, map)) in lines.iter().zip(&files) {
        assert!(line.starts_with(&format!("GLTF {name} errors 0 warnings 0 ")), "{}: {line}", map.display());
    }
    println!("{} files without an error or a warning, {refused} maps refused", files.len());
}

#[test]
fn assimp_opens_all_forms() {
    if !Command::new("assimp").arg("version").output().is_ok_and(|output| output.status.success()) {
        let _: Option<()> = missing("assimp", "it is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
        let map = crate::maps::fixture(name);
        let triangles = |file: &str| {
            assert!(export(&map, &folder.path().join(file), &[]));
            let out = Command::new("assimp").arg("info").arg(file).current_dir(folder.path()).output().unwrap();
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            assert!(out.status.success(), "{name}: {text}");
            let line = text.lines().find(|line| line.starts_with("Faces:")).unwrap_or_else(|| panic!("{text}"));
            line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
        };
        let counts = ["a.glb", "b.gltf", "c.obj"].map(triangles);
        assert!(counts[0] > 20 && counts[0] == counts[1] && counts[2] > 20, "{name}: {counts:?}");
    }
}

/// The pictures of textures in pakfiles are, pixel by pixel, what srctools reads in the same files.
#[test]
fn textures_of_pakfiles_are_what_srctools_reads() {
    let python = std::env::var_os("BSPKIT_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let has_it = Command::new(&python).args(["-c", "import srctools, PIL"]).output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        let _: Option<()> = crate::missing("srctools", "there is no Python with srctools and Pillow");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut words = vec!["-B".to_owned()];
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/readers/vtf.py");
    words.push(script.display().to_string());
    for (index, map) in corpus::maps().iter().enumerate() {
        let (files, to) = (folder.path().join(format!("{index}")), folder.path().join(format!("{index}.gltf")));
        let mut extract = Command::new(env!("CARGO_BIN_EXE_bspkit"));
        let extract =
            extract.args(["-q", "pak", "extract"]).arg(map).arg("-o").arg(&files).args(["--", "**.vmt", "**.vtf"]);
        if extract.output().unwrap().status.success() && export(map, &to, &["--no-light"]) {
            words.extend([to, files].map(|path| path.display().to_string()));
        }
    }
    let ended = run::run(&python, &words, folder.path());
    assert_eq!(ended.how, Ok(0), "{}", ended.text);
    let lines: Vec<&str> = ended.text.lines().filter(|line| line.starts_with("VTF ")).collect();
    assert!(lines.iter().all(|line| line.split(' ').nth(2) == Some("same")), "{}", ended.text);
    println!("{} textures are the same", lines.len());
}
