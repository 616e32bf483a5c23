//! `git`: the real program compares, merges and rebases maps.

use super::room::{Room, Run, fixture};
use super::transcript::check;

/// A repository with maps, set up for them, with one commit on the branch `main`.
fn repository() -> Room {
    let room = Room::empty();
    room.write("maps/rooms.bsp", &fixture("q2/own_rooms"));
    room.write("maps/source.bsp", &fixture("source/room_v20"));
    sh(&room, "git init -q -b main . && git config user.name a && git config user.email a@example.com");
    sh(&room, "bspkit git install --write -q && git add . && git commit -qm base");
    room
}

/// A line of shell that has to succeed; no setting of the machine counts.
#[track_caller]
fn sh(room: &Room, line: &str) -> Run {
    try_sh(room, line).done()
}

fn try_sh(room: &Room, line: &str) -> Run {
    room.shell(&format!("export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_EDITOR=true; {line}"))
}

/// A commit of an edit on a branch that starts at `main`.
fn branch(room: &Room, name: &str, edits: &[&str]) {
    sh(room, &format!("git checkout -q -b {name} main"));
    edits.iter().for_each(|edit| drop(sh(room, &format!("bspkit {edit} --in-place -q"))));
    sh(room, &format!("git commit -qam {name}"));
}

#[test]
fn install_shows_and_then_writes() {
    let room = Room::empty();
    let lines = [
        "bspkit git install 2>&1 | sed 's/ [^ ]* is not in/ FOLDER is not in/'",
        "git init -q -b main . && printf '*.txt text' >.gitattributes",
        "bspkit git install",
        "cat .gitattributes; git config --local --get-regexp bspkit",
        "bspkit git install --write",
        "cat .gitattributes; git config --local --get-regexp bspkit",
        "bspkit git install --write",
        "git config diff.bspkit.textconv other; bspkit git install",
    ];
    check("git_install", &room, &lines);
}

/// Names that look like options, names in capitals, and a program that is not on the path.
#[test]
fn maps_of_any_name_are_compared_and_merged() {
    let room = repository();
    let names = ["maps/--help.bsp", "maps/-o.bsp", "--help.bsp", "ROOMS.BSP", "it's.bsp"];
    names.iter().for_each(|name| room.write(name, &fixture("q2/own_rooms")));
    sh(&room, "git add . && git commit -qm names");
    for (branch, key) in [("one", "light"), ("two", "_color")] {
        sh(&room, &format!("git checkout -q -b {branch} main"));
        for name in names {
            sh(&room, &format!("bspkit ent set \"./{name}\" '#6' {key}=7 --in-place -q"));
        }
        let diff = sh(&room, "git diff");
        assert_eq!(diff.text().matches("\n+\"").count(), names.len(), "{}", diff.text());
        sh(&room, &format!("git commit -qam {branch}"));
    }
    sh(&room, "git merge -q -m m one");
    for name in names {
        let get = |key: &str| sh(&room, &format!("bspkit ent get \"./{name}\" '#6' {key}")).text().trim().to_owned();
        assert_eq!((get("light"), get("_color")), ("7".to_owned(), "7".to_owned()), "{name}");
    }

    let line = "own=$(command -v bspkit); mkdir tools; ln -s \"$(command -v git)\" tools/git; PATH=$PWD/tools \"$own\" git install";
    let shown = sh(&room, line);
    assert!(shown.text().contains("bspkit' git merge --path=%P -- %O %A %B"), "{}", shown.text());
}

#[test]
fn diff_and_log_show_what_changed() {
    let room = repository();
    let edit = "bspkit ent set maps/rooms.bsp 'light[style=2]' light=350 --in-place -q";
    let lines = [
        &format!("{edit}; git diff | tail -n +3"),
        "git commit -qam brighter; git log -p --format=%s -1 | tail -n +3",
        "bspkit pak add maps/source.bsp own/a.txt=.gitattributes --in-place -q; git diff | tail -n +3",
        "bspkit ent set maps/source.bsp worldspawn skyname=x --layout append -o maps/moved.bsp -q
         bspkit ent set maps/moved.bsp worldspawn skyname=sky_own_01 --in-place -q
         bspkit git textconv maps/source.bsp >a; bspkit git textconv maps/moved.bsp >b; diff a b",
        "echo '<<<<<<< HEAD' >maps/note.bsp; bspkit git textconv maps/note.bsp",
        "git add maps/note.bsp; git diff --cached maps/note.bsp | tail -n +3",
        "bspkit git textconv maps/source.bsp | sed -n '1,6p;/embedded/,/^$/p'",
        "bspkit git textconv maps/none.bsp",
    ];
    check("git_diff", &room, &lines.map(|line| line as &str));
}

#[test]
fn git_merges_what_two_branches_edit() {
    let room = repository();
    branch(
        &room,
        "light",
        &["ent set maps/rooms.bsp '#6' light=350", "ent add maps/rooms.bsp classname=info_null origin=1"],
    );
    let edits = [
        "ent set maps/rooms.bsp '#6' _color=1",
        "ent rm maps/rooms.bsp '#10'",
        "set maps/rooms.bsp texinfo[1].value=7",
        "pak add maps/source.bsp own/a.txt=.gitattributes",
    ];
    branch(&room, "color", &edits);
    // Both orders of the branches, and a rebase, give the same content.
    let mut texts = Vec::new();
    for line in [
        "git checkout -q -b one light && git merge -q -m m color",
        "git checkout -q -b two color && git merge -q -m m light",
        "git checkout -q -b three color && git rebase -q light",
        "git checkout -q -b four light && git cherry-pick color",
    ] {
        let run = sh(&room, line);
        assert!(!run.err.contains("CONFLICT"), "{}", run.err);
        assert_eq!(sh(&room, "git status --porcelain").text(), "");
        texts.push(
            sh(&room, "bspkit git textconv maps/rooms.bsp; bspkit git textconv maps/source.bsp").text().to_owned(),
        );
    }
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:#?}");
    let get = |what: &str| sh(&room, &format!("bspkit {what}")).text().trim().to_owned();
    assert_eq!(get("ent get maps/rooms.bsp '#6' light"), "350");
    assert_eq!(get("ent get maps/rooms.bsp '#6' _color"), "1");
    assert_eq!(get("get maps/rooms.bsp texinfo[1].value"), "7");
    assert_eq!(get("ent list maps/rooms.bsp info_null | wc -l"), "4");
    assert!(get("pak list maps/source.bsp").contains("own/a.txt"));
    sh(&room, "bspkit verify maps && bspkit check maps");
}

#[test]
fn a_conflict_stops_git_and_is_written_beside() {
    let room = repository();
    let lumps = ["ent set maps/rooms.bsp '#6' light=1 style=5", "set maps/rooms.bsp faces[3].side=1"];
    branch(&room, "one", &lumps);
    branch(&room, "two", &["ent set maps/rooms.bsp '#6' light=2 _color=1", "set maps/rooms.bsp faces[3].side=2"]);
    let run = try_sh(&room, "git merge -q -m m one");
    assert_eq!(run.code, Some(1), "{}", run.err);
    let said = format!("{}{}", run.text(), run.err);
    for line in [
        "maps/rooms.bsp: conflict: ENTITIES: #6 light: both sides change `light`\n",
        "maps/rooms.bsp: conflict: FACES[3]: both sides change `side`\n",
        "CONFLICT (content): Merge conflict in maps/rooms.bsp\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    // The map is ours, and beside it is what could be merged.
    assert_eq!(
        sh(&room, "git status --porcelain").text(),
        "UU maps/rooms.bsp\n?? maps/rooms.conflicts.txt\n?? maps/rooms.merged.bsp\n"
    );
    sh(&room, "git show two:maps/rooms.bsp | cmp - maps/rooms.bsp");
    let list = String::from_utf8(room.read("maps/rooms.conflicts.txt")).unwrap();
    assert_eq!(list, "ENTITIES: #6 light: both sides change `light`\nFACES[3]: both sides change `side`\n");
    let get =
        |key: &str| sh(&room, &format!("bspkit ent get maps/rooms.merged.bsp '#6' {key}")).text().trim().to_owned();
    assert_eq!((get("light"), get("style"), get("_color")), ("2".to_owned(), "5".to_owned(), "1".to_owned()));
    // The user takes it as it is, and git goes on.
    sh(
        &room,
        "mv maps/rooms.merged.bsp maps/rooms.bsp && rm maps/rooms.conflicts.txt && git add . && git commit -qm m",
    );

    // In a rebase too.
    let run = try_sh(&room, "git checkout -q -b three one && git rebase -q two^1");
    assert_ne!(run.code, Some(0));
    sh(&room, "git rebase --abort && rm maps/rooms.conflicts.txt maps/rooms.merged.bsp");
    assert_eq!(sh(&room, "git status --porcelain").text(), "");
}

#[test]
fn merge_without_git() {
    let room = Room::new();
    let set = |name: &str, what: &str| sh(&room, &format!("bspkit {what} -o {name} -q"));
    set("light.bsp", "ent set q2.bsp '#6' light=350");
    set("message.bsp", "ent set q2.bsp worldspawn message=mine");
    set("other.bsp", "ent set q2.bsp '#6' light=1");
    room.write("text.bsp", b"text");
    let lines = [
        "bspkit git merge q2.bsp light.bsp message.bsp -o out.bsp; bspkit ent diff q2.bsp out.bsp | grep -c '\"do\"'",
        "cp light.bsp in_place.bsp; bspkit git merge q2.bsp in_place.bsp message.bsp; cmp in_place.bsp out.bsp",
        "bspkit git merge q2.bsp light.bsp q2.bsp -o same.bsp; cmp same.bsp light.bsp",
        "bspkit git merge q2.bsp light.bsp other.bsp -o no.bsp; ls no.*",
        "bspkit git merge q2.bsp light.bsp q3.bsp -o no.bsp",
        "bspkit git merge q2.bsp text.bsp light.bsp",
        "bspkit git merge none.bsp q2.bsp light.bsp",
        "bspkit git merge q2.bsp light.bsp message.bsp -o q2.bsp",
        "bspkit git merge q2.bsp light.bsp",
    ];
    check("git_merge", &room, &lines);
}

/// Git asks the driver for maps that cannot be merged too; the reason is said, and nothing is lost.
#[test]
fn other_dialects_are_not_merged() {
    let room = repository();
    sh(&room, "git checkout -q -b q3 main");
    room.write("maps/rooms.bsp", &fixture("q3/own_rooms"));
    sh(&room, "git commit -qam q3");
    branch(&room, "light", &["ent set maps/rooms.bsp '#6' light=1"]);
    let run = try_sh(&room, "git merge -q -m m q3");
    assert_ne!(run.code, Some(0));
    assert!(
        run.err.contains("maps of different dialects cannot be merged: the base is quake2 version 38"),
        "{}",
        run.err
    );
    assert_eq!(sh(&room, "git status --porcelain").text(), "UU maps/rooms.bsp\n");
    sh(&room, "git show light:maps/rooms.bsp | cmp - maps/rooms.bsp");
}

#[test]
fn a_map_that_both_sides_added_has_no_base() {
    let room = repository();
    for (branch, light) in [("one", 1), ("two", 2)] {
        sh(&room, &format!("git checkout -q -b {branch} main && cp maps/rooms.bsp maps/new.bsp"));
        sh(&room, &format!("bspkit ent set maps/new.bsp light light={light} --in-place -q"));
        sh(&room, &format!("git add . && git commit -qm {branch}"));
    }
    let run = try_sh(&room, "git merge one");
    assert_eq!(run.code, Some(1));
    let said = format!("{}{}", run.text(), run.err);
    assert!(said.contains("cannot merge maps/new.bsp: both sides added it, and there is no base"), "{said}");
    sh(&room, "git checkout -q --ours maps/new.bsp && git add maps/new.bsp && git commit -qm merged");
}
