//! Lock files of crates outside of the workspace: each knows all dependencies of ours. Otherwise a build with
//! `--locked` fails there, and no test makes all of these builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The lock files below a folder, without those of builds.
fn locks(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules"].contains(&&*name) && !name.starts_with('.') {
            locks(&path, found);
        } else if name == "Cargo.lock" {
            found.push(path);
        }
    }
}

/// The names in the tables of dependencies that every user of a crate gets.
fn dependencies(manifest: &str) -> Vec<String> {
    let (mut names, mut is_in) = (Vec::new(), false);
    for line in manifest.lines() {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            is_in = table == "dependencies";
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_in && !line.starts_with([' ', '#'])) {
            if value.contains("optional = true") {
                continue;
            }
            let package = value.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
            names.push(package.unwrap_or(name.trim().trim_end_matches(".workspace")).to_owned());
        }
    }
    names
}

/// The packages of a lock file that are in this repository, with the names of their dependencies.
fn packages(lock: &str) -> BTreeMap<String, Vec<String>> {
    let value = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let own = lock.split("[[package]]").skip(1).filter(|package| !package.contains("\nsource = "));
    let own = own.map(|package| {
        let name = package.lines().find(|line| line.starts_with("name = ")).map(value).unwrap();
        let listed = package.lines().filter(|line| line.starts_with(" \"")).map(value);
        (name, listed.map(|one| one.split(' ').next().unwrap_or_default().to_owned()).collect())
    });
    own.collect()
}

#[test]
fn every_lock_file_knows_the_dependencies_of_our_crates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    locks(root, &mut found);
    let mut manifests: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    for folder in crates.chain([root.to_owned()]) {
        let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let name = text.lines().find_map(|line| line.strip_prefix("name = \"")).unwrap().trim_end_matches('"');
        manifests.insert(name.to_owned(), dependencies(&text));
    }
    assert!(found.len() >= 8 && manifests["bspkit-game"].contains(&"crc32fast".to_owned()), "{found:?}");
    let mut compared = 0;
    for path in found {
        for (name, listed) in packages(&fs::read_to_string(&path).unwrap()) {
            let Some(needed) = manifests.get(&name) else { continue };
            compared += 1;
            let missing: Vec<_> = needed.iter().filter(|one| !listed.contains(one)).collect();
            assert!(missing.is_empty(), "{}: {name} has no {missing:?}: run cargo metadata there", path.display());
        }
    }
    assert!(compared > 20, "{compared}");
}
