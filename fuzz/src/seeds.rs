//! Where inputs start: fixtures of the project.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below a folder of the project whose name ends so, by name, up to this size in bytes.
pub fn files(folder: &str, ends: &[&str], most: u64) -> Vec<Vec<u8>> {
    let (mut found, mut open) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if ends.iter().any(|end| path.to_string_lossy().ends_with(end))
                && entry.metadata().is_ok_and(|file| file.len() <= most)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// The maps of the project.
pub fn maps() -> Vec<Vec<u8>> {
    files("tests/maps", &[".bsp"], 1 << 20)
}

/// Texts, one a line.
pub fn lines(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}
