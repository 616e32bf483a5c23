//! Scripts: what they change is saved, and after an error the draft is as it was.

use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

use bspkit::Layout;
use bspkit_script::{Limits, Script, Settings};

use super::edits::{Choices, saved};
use super::twice::scratch;
use super::{all_maps, map};
use crate::seeds;

/// Statements that call every function of scripts, one a line.
pub static STATEMENTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let files = seeds::files("fuzz/seeds", &["statements.rhai"], 1 << 16);
    let lines = files.iter().flat_map(|text| seeds::lines(&String::from_utf8_lossy(text)));
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).collect()
});

/// A folder that scripts may read from.
static FOLDER: LazyLock<std::path::PathBuf> = LazyLock::new(|| {
    let folder = scratch().with_extension("read");
    let _ = fs::create_dir_all(&folder);
    fs::write(folder.join("own.txt"), b"a text\n\xFF\\").expect("a file can be written");
    fs::write(folder.join("own.bsp"), map(3).container().bytes()).expect("a file can be written");
    folder
});

fn run(text: &str, choices: &mut Choices<'_>) {
    let Ok(script) = Script::compile("script", text) else { return };
    let mut limits = Limits::default();
    (limits.steps, limits.time) = (20_000, Duration::from_secs(4));
    let all = all_maps();
    let mut draft = all[choices.below(all.len())].draft();
    let args: [&[&str]; 3] = [&["--axis", "x"], &["a", "--axis=y", "--no"], &[]];
    let settings =
        Settings::default().limits(limits).args(args[choices.below(3)].iter().copied()).path("maps/room.bsp");
    let settings = settings.for_any_engine(choices.below(3) == 0);
    let settings = if choices.below(4) == 0 { settings } else { settings.allow_read(&*FOLDER) };
    match script.run(&mut draft, &settings) {
        Ok(_) => drop(saved(&draft, Layout::Keep)),
        Err(error) => {
            let changes = draft.changes();
            assert!(changes.as_ref().is_ok_and(|changes| changes.is_empty()), "{error}: {changes:?}");
        }
    }
}

/// Any text.
pub fn any(bytes: &[u8]) {
    run(&String::from_utf8_lossy(bytes), &mut Choices::of(bytes));
}

/// Statements that the bytes choose, each in a block of its own.
pub fn statements(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let mut text = String::new();
    for _ in 0..=choices.below(5) {
        let line = &STATEMENTS[choices.below(STATEMENTS.len())];
        let safe = choices.below(3) != 0 && !line.starts_with("fn ");
        text += &if safe { format!("try {{ {line} }} catch {{}}\n") } else { format!("{line}\n") };
    }
    run(&text, &mut choices);
}
