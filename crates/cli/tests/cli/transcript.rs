//! What lines of shell print, compared with a golden file: `BLESS=1` writes the file anew.

use std::fmt::Write;
use std::path::Path;

use super::room::{Room, slashes};

/// Runs lines of shell and compares what they print with a golden file. Lines of stderr are marked with `!`. A line that
/// this system has no shell for stands as it is in the file.
#[track_caller]
pub(crate) fn check(name: &str, room: &Room, lines: &[&str]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("txt");
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let mut expected = golden.split("\n\n$ ");
    let mut text = String::new();
    for line in lines {
        let expected = expected.next().unwrap_or_default();
        let Some(run) = room.line(line) else {
            writeln!(text, "$ {}\n", expected.trim_start_matches("$ ").trim_end_matches('\n')).unwrap();
            continue;
        };
        writeln!(text, "$ {line}").unwrap();
        text += &String::from_utf8_lossy(&run.out);
        if !run.out.is_empty() && !run.out.ends_with(b"\n") {
            text += "\n";
        }
        for words in run.err.lines() {
            writeln!(text, "! {words}").unwrap();
        }
        if run.code != Some(0) {
            writeln!(text, "[exit {}]", run.code.unwrap()).unwrap();
        }
        text += "\n";
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
        return;
    }
    let (golden, text) = (portable(&golden), portable(&text));
    if golden != text {
        let first = golden.lines().zip(text.lines()).find(|(old, new)| old != new);
        panic!("{} differs (BLESS=1 writes it anew); first {first:?}\n{text}", path.display());
    }
}

/// On Windows: paths with slashes, and errors of the system without its words, which are in the user's language.
fn portable(text: &str) -> String {
    if !cfg!(windows) {
        return text.to_owned();
    }
    let without_words = |line: &str| match line.split_once(" (os error ") {
        Some((before, _)) => before.rsplit_once(": ").map_or("", |(before, _)| before).to_owned() + "\n",
        None => line.to_owned() + "\n",
    };
    slashes(text).lines().map(without_words).collect()
}
