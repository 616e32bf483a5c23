//! Text with commands in it, and the folder in which these run: of the test of the guide, and of the engines that load
//! the maps of the guide.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(project(path)).unwrap_or_default()
}

pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// A text in its sections: each from one heading of the second level to the next.
pub(crate) fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("\n## ").map(|(at, _)| at + 1).collect();
    starts.insert(0, 0);
    starts.push(text.len());
    starts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect()
}

pub(crate) fn commands(section: &str) -> impl Iterator<Item = &str> {
    section.lines().filter_map(command)
}

pub(crate) fn command(line: &str) -> Option<&str> {
    line.strip_prefix("$ ").map(str::trim_end)
}

/// A folder from which the maps of the project are found as in a checkout.
pub(crate) fn folder_to_try() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for shared in ["tests", "docs", "examples"] {
        symlink(project(shared), folder.path().join(shared)).unwrap();
    }
    folder
}

/// What a terminal shows of a line of shell, and the exit status where it is not 0.
pub(crate) fn run(folder: &TempDir, line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_bspkit"));
    let mut path = OsString::from(program.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {line}")])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match output.status.code() {
        Some(0) => text,
        code => format!("{text}[exit {}]\n", code.unwrap()),
    }
}
