//! What the guide and the README show is what the program prints. `BLESS=1 cargo test --test guide` writes the output
//! in `docs/guide.md` and `README.md` anew, and draws `docs/run.svg` from it: read the difference before you commit it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "guide/picture.rs"]
mod picture;
#[path = "guide/room.rs"]
mod room;

use std::fs;

use room::{command, commands, folder_to_try, project, read, run, sections};
use tempfile::TempDir;

/// What the picture shows, on the maps of the guide.
const PICTURE: [&str; 5] = [
    "bspkit info q3.bsp | head -5",
    "bspkit ent get q3.bsp worldspawn message",
    "bspkit ent set q3.bsp worldspawn message='The Place' -o out.bsp",
    "bspkit ent diff q3.bsp out.bsp > changes.json",
    "bspkit verify out.bsp -v | head -4",
];

#[test]
fn the_guide_shows_what_the_program_prints() {
    let guide = read("docs/guide.md");
    let now = with_output(&guide);
    // So that BLESS does not take a command that the program no longer has.
    assert!(!now.contains("try '--help'"), "a command of the guide has wrong arguments:\n{now}");
    for section in sections(&guide) {
        let fences = section.lines().filter(|line| line.starts_with("```")).count();
        assert!(fences.is_multiple_of(2), "a block is not closed in the section {:?}", section.lines().next());
    }
    compare("docs/guide.md", &guide, &now);
}

#[test]
fn the_jobs_show_what_the_program_prints() {
    let jobs = read("docs/jobs.md");
    let now = with_output(&jobs);
    assert!(!now.contains("try '--help'"), "a command of the jobs has wrong arguments:\n{now}");
    compare("docs/jobs.md", &jobs, &now);
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let readme = read("README.md");
    assert!(readme.contains("```console\n$ bspkit "), "the README shows an edit");
    compare("README.md", &readme, &with_output(&readme));
}

#[test]
fn the_picture_is_of_a_real_run() {
    let folder = folder_to_try();
    sections(&read("docs/guide.md"))[1].lines().filter_map(command).for_each(|line| drop(run(&folder, line)));
    let lines: Vec<_> = PICTURE.iter().map(|line| (*line, run(&folder, line))).collect();
    compare("docs/run.svg", &read("docs/run.svg"), &picture::svg(&lines));
}

/// Every command of the program has a place in the guide.
#[test]
fn the_guide_has_every_command() {
    let (guide, folder) = (read("docs/guide.md"), folder_to_try());
    let help = run(&folder, "bspkit --help");
    let commands = help.split_once("Look:\n").unwrap().1.split_once("\nTopics:\n").unwrap().0;
    let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for name in names.map(|line| line.split_whitespace().next().unwrap()).filter(|name| *name != "help") {
        assert!(guide.contains(&format!("$ bspkit {name} ")), "no example of `{name}` in docs/guide.md");
    }
}

#[test]
fn links_lead_to_files() {
    let mut seen = 0;
    for page in [
        "README.md",
        "ARCHITECTURE.md",
        "docs/guide.md",
        "docs/jobs.md",
        "docs/support.md",
        "docs/testing.md",
        "docs/formats.md",
        "docs/scripts.md",
        "docs/policy.md",
        "docs/crates.md",
    ] {
        let text = read(page);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let file = project(page).parent().unwrap().join(target.split('#').next().unwrap());
            assert!(file.exists(), "{page} links to {target}, which does not exist");
            seen += 1;
        }
    }
    assert!(seen > 10);
}

#[test]
fn a_changed_output_would_be_seen() {
    let text = "# A\n```console\n$ echo one\ntwo\n$ false\n```\nwords\n";
    assert_eq!(with_output(text), "# A\n```console\n$ echo one\none\n$ false\n[exit 1]\n```\nwords\n");
}

#[track_caller]
fn compare(path: &str, old: &str, new: &str) {
    if std::env::var_os("BLESS").is_some() {
        return fs::write(project(path), new).unwrap();
    }
    let first = old.lines().zip(new.lines()).find(|(old, new)| old != new);
    assert!(old == new, "{path} differs (BLESS=1 writes it anew); first {first:?}");
}

/// The text with the output that its commands have now. Each section has a folder of its own, in which the commands of
/// the first section have run.
fn with_output(text: &str) -> String {
    let sections = sections(text);
    let first = sections.get(1).copied().unwrap_or_default();
    let with_first = |section: &str| {
        let folder = folder_to_try();
        if section != first {
            commands(first).for_each(|line| drop(run(&folder, line)));
        }
        section_with_output(section, &folder)
    };
    sections.into_iter().map(with_first).collect()
}

fn section_with_output(section: &str, folder: &TempDir) -> String {
    let (mut text, mut in_block) = (String::new(), false);
    for line in section.split_inclusive('\n') {
        if line.starts_with("```") {
            in_block = line.starts_with("```console");
        }
        match command(line) {
            Some(command) if in_block => text += &format!("$ {command}\n{}", run(folder, command)),
            _ if in_block && !line.starts_with("```") => (),
            _ => text += line,
        }
    }
    text
}
