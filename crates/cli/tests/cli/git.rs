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
        "bspkit git uninstall",
        "bspkit git uninstall --write; cat .gitattributes; git config --local --get-regexp bspkit",
        "git config --unset diff.bspkit.textconv; bspkit git uninstall; git config --local --get-regexp bspkit",
        "rm .gitattributes; bspkit git install --write -q >installed; bspkit git uninstall --write -q >uninstalled
         ls .gitattributes; grep -c bspkit .git/config",
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

/// A repository where a merge of the branch `one` into `two` stops at three conflicts.
fn stopped() -> Room {
    let room = repository();
    let lumps = ["ent set maps/rooms.bsp '#6' light=1 style=5", "set maps/rooms.bsp faces[3].side=1"];
    branch(&room, "one", &[lumps[0], lumps[1], "ent set maps/rooms.bsp '#7' light=1"]);
    let edits = ["ent set maps/rooms.bsp '#6' light=2 _color=1", "set maps/rooms.bsp faces[3].side=2"];
    branch(&room, "two", &[edits[0], edits[1], "ent rm maps/rooms.bsp '#7'"]);
    room
}

fn key(room: &Room, entity: &str, key: &str) -> String {
    sh(room, &format!("bspkit ent get maps/rooms.bsp '{entity}' {key}")).text().trim().to_owned()
}

const CHOICES: &str = ".git/bspkit-choices.json";

#[test]
fn conflicts_are_settled_one_by_one() {
    let room = stopped();
    let lines = [
        "git merge -q -m m one 2>&1 | grep -v '^Automatic\\|^warning: Cannot merge binary'",
        "git status --porcelain; git show two:maps/rooms.bsp | cmp - maps/rooms.bsp",
        "bspkit git resolve maps/rooms.bsp",
        "bspkit git resolve maps/rooms.bsp '#6'",
        "bspkit git resolve maps/rooms.bsp --ours '#17'",
        "bspkit git resolve maps/rooms.bsp --ours --theirs '#6'",
        "bspkit git resolve maps/rooms.bsp --ours '#6.light'",
        "cd maps; bspkit git resolve rooms.bsp --theirs light[light=250].light",
        "bspkit git resolve maps/rooms.bsp --base 'faces[3].side'",
        "git status --porcelain; git show two:maps/rooms.bsp | cmp - maps/rooms.bsp",
        "bspkit git resolve maps/rooms.bsp",
        "bspkit git resolve maps/rooms.bsp --theirs '#7'",
        "git status --porcelain; git diff --name-only --diff-filter=U; ls maps .git | grep -i 'bspkit\\|rooms'",
        "bspkit git resolve maps/rooms.bsp",
        "git commit -qm merged; git status --porcelain; bspkit verify maps -q && bspkit check maps -q",
    ];
    check("git_resolve", &room, &lines);
    let of = |entity: &str, name: &str| key(&room, entity, name);
    assert_eq!((of("#6", "light"), of("#6", "style"), of("#6", "_color")), ("1".into(), "5".into(), "1".into()));
    assert_eq!(of("#7", "light"), "1");
    let side = sh(&room, "bspkit get maps/rooms.bsp faces[3].side").text().to_owned();
    assert_eq!(side, sh(&room, "git show main:maps/rooms.bsp >old.bsp; bspkit get old.bsp faces[3].side").text());
}

/// A name that several entities with conflicts have is refused with their numbers, and each number settles one.
#[test]
fn resolve_refuses_a_name_of_several_entities() {
    let room = repository();
    let edit = |number: u32, pair: &str| format!("ent set maps/rooms.bsp '#{number}' {pair}");
    let twins = [6, 7].map(|number| format!("bspkit {} --in-place -q", edit(number, "targetname=twin")));
    sh(&room, &format!("{} && {} && git commit -qam twins", twins[0], twins[1]));
    branch(&room, "one", &[&edit(6, "light=1"), &edit(7, "light=1")]);
    branch(&room, "two", &[&edit(6, "light=2"), &edit(7, "light=2")]);
    try_sh(&room, "git merge -q -m m one");
    let before = room.read("maps/rooms.bsp");
    for name in ["[targetname=twin]", "[targetname=twin].light", "light"] {
        let run = try_sh(&room, &format!("bspkit git resolve maps/rooms.bsp --theirs '{name}'"));
        assert_eq!(run.code, Some(2), "{name}: {}", run.err);
        assert!(run.err.contains(&format!("{name} means several entities: #6.light, #7.light")), "{}", run.err);
    }
    assert!(!room.path(CHOICES).exists() && room.read("maps/rooms.bsp") == before);
    // A list is no choice.
    assert_eq!(try_sh(&room, "bspkit git resolve maps/rooms.bsp light").code, Some(1));
    sh(&room, "bspkit git resolve maps/rooms.bsp --theirs '#6.light'");
    sh(&room, "bspkit git resolve maps/rooms.bsp --ours '#7'");
    assert_eq!((key(&room, "#6", "light"), key(&room, "#7", "light")), ("1".to_owned(), "2".to_owned()));
}

/// The base has nothing of what both sides add, so that it cannot be chosen.
#[test]
fn resolve_refuses_the_base_of_an_added_entity_and_file() {
    let add = |what: &str| format!("ent add maps/rooms.bsp classname=light targetname=new origin='0 0 0' light={what}");
    let file = |room: &Room, what: &str| room.write("a.txt", what.as_bytes());
    for (map, name) in [("maps/rooms.bsp", "added[0]"), ("maps/source.bsp", "PAKFILE/own/a.txt")] {
        let room = repository();
        for (branch_name, what) in [("one", "1"), ("two", "2")] {
            file(&room, what);
            match map.contains("rooms") {
                true => branch(&room, branch_name, &[&add(what)]),
                false => branch(&room, branch_name, &["pak add maps/source.bsp own/a.txt=a.txt"]),
            }
        }
        try_sh(&room, "git merge -q -m m one");
        for which in [name, ""] {
            let run = try_sh(&room, &format!("bspkit git resolve {map} --base {which}"));
            assert_eq!(run.code, Some(2), "{}{}", run.text(), run.err);
            assert!(run.err.contains(&format!("{name} is not in the base: both sides add it")), "{}", run.err);
        }
        assert!(!room.path(CHOICES).exists());
        sh(&room, &format!("bspkit git resolve {map} --theirs '{name}' && git commit -qm merged"));
        match map.contains("rooms") {
            true => assert_eq!(key(&room, "[targetname=new]", "light"), "1"),
            false => assert_eq!(
                sh(&room, "bspkit pak extract maps/source.bsp -o out own/a.txt -q; cat out/own/a.txt").text(),
                "1"
            ),
        }
    }
}

/// Each of the three choices gives the content of that map.
#[test]
fn each_side_can_be_taken_as_a_whole() {
    for (side, light, is_there) in [("ours", "2", 0), ("theirs", "1", 1), ("base", "250", 1)] {
        let room = stopped();
        try_sh(&room, "git merge -q -m m one");
        sh(&room, &format!("bspkit git resolve maps/rooms.bsp --{side} && git commit -qm merged"));
        assert_eq!(key(&room, "#6", "light"), light, "{side}");
        // What only one side changed is there in any case.
        assert_eq!((key(&room, "#6", "style"), key(&room, "#6", "_color")), ("5".to_owned(), "1".to_owned()), "{side}");
        let lights = |from: &str| {
            let line =
                format!("git show {from}:maps/rooms.bsp >at.bsp; bspkit ent list at.bsp light | grep -c classname");
            sh(&room, &line).text().trim().parse::<i32>().unwrap()
        };
        assert_eq!(lights("HEAD"), lights("HEAD^") + is_there, "{side}");
    }
}

/// Both branches merged a commit of the other one and kept their own value: what both changed is a conflict again.
#[test]
fn branches_that_were_merged_crosswise_are_a_conflict() {
    let room = repository();
    branch(&room, "a", &["ent set maps/rooms.bsp '#6' light=11"]);
    branch(&room, "b", &["ent set maps/rooms.bsp '#6' light=22"]);
    let keep = |other: &str| {
        try_sh(&room, &format!("git merge -q -m m {other}"));
        sh(&room, "bspkit git resolve maps/rooms.bsp --ours -q && git commit -qam settled");
    };
    sh(&room, "git checkout -q a");
    keep("b");
    sh(&room, "git checkout -q b");
    keep("a~1");
    for (own, other) in [("a", "b"), ("b", "a")] {
        let run = try_sh(&room, &format!("git checkout -q {own} && git merge -q -m m {other}"));
        assert_ne!(run.code, Some(0), "{own}: {}", key(&room, "#6", "light"));
        assert!(try_sh(&room, "bspkit git resolve maps/rooms.bsp").text().contains(": 1 conflict, 0 settled\n"));
        sh(&room, "git merge --abort");
    }
}

#[test]
fn a_merge_that_is_given_up_leaves_nothing() {
    let room = stopped();
    let before = sh(&room, "git status --porcelain; ls -A . maps").text().to_owned();
    try_sh(&room, "git merge -q -m m one");
    sh(&room, "bspkit git resolve maps/rooms.bsp --theirs '#6'");
    assert!(room.path(CHOICES).exists());
    sh(&room, "git merge --abort");
    assert_eq!(sh(&room, "git status --porcelain; ls -A . maps").text(), before);
    sh(&room, "git show two:maps/rooms.bsp | cmp - maps/rooms.bsp");
    // The same merge again begins without choices.
    try_sh(&room, "git merge -q -m m one");
    assert!(!room.path(CHOICES).exists());
    assert!(try_sh(&room, "bspkit git resolve maps/rooms.bsp").text().contains(": 3 conflicts, 0 settled\n"));

    // In a rebase too. Without the driver, what was settled of other maps is forgotten at the next call.
    sh(&room, "bspkit git resolve maps/rooms.bsp --theirs '#6' && git merge --abort");
    branch(&room, "other", &["ent set maps/rooms.bsp '#6' light=7"]);
    try_sh(&room, "git checkout -q two && git -c merge.bspkit.driver=false merge -q other");
    assert!(try_sh(&room, "bspkit git resolve maps/rooms.bsp").text().contains(": 1 conflict, 0 settled\n"));
    assert!(!room.path(CHOICES).exists());
    sh(&room, "bspkit git resolve maps/rooms.bsp --theirs '#7'; git merge --abort");
    let run = try_sh(&room, "git checkout -q -b three one && git rebase -q two");
    assert_ne!(run.code, Some(0));
    assert!(try_sh(&room, "bspkit git resolve maps/rooms.bsp").text().contains(": 3 conflicts, 0 settled\n"));
    assert!(!room.path(CHOICES).exists());
    sh(&room, "git rebase --abort");
    assert_eq!(sh(&room, "git status --porcelain; ls -A . maps").text(), before);
}

/// The map was edited while the conflict lasted: it is not replaced.
#[test]
fn an_edited_map_is_not_replaced() {
    let room = stopped();
    try_sh(&room, "git merge -q -m m one");
    sh(&room, "bspkit ent set maps/rooms.bsp worldspawn message=edited --in-place -q");
    let edited = room.read("maps/rooms.bsp");
    let run = try_sh(&room, "bspkit git resolve maps/rooms.bsp --theirs");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("maps/rooms.bsp was changed after the merge had stopped"), "{}", run.err);
    assert_eq!(room.read("maps/rooms.bsp"), edited);
    // The choices are kept.
    sh(&room, "git checkout -q --ours maps/rooms.bsp && bspkit git resolve maps/rooms.bsp");
    assert_eq!(key(&room, "#6", "light"), "1");
}

/// The program `git-lfs`, with hooks and filters of the repository alone; `None`, with a notice, where it is missing.
fn with_lfs() -> Option<Room> {
    if std::process::Command::new("git-lfs").arg("version").output().is_err() {
        let notice = "git-lfs is not installed: the test is skipped";
        assert!(std::env::var_os("BSPKIT_REQUIRE_LFS").is_none_or(|value| value != "1"), "{notice}");
        eprintln!("{notice}");
        return None;
    }
    let room = repository();
    sh(&room, "git lfs install --local && git lfs track '*.bsp' && touch maps/*");
    sh(&room, "git add . && git add --renormalize . && git commit -qm lfs");
    Some(room)
}

/// What git has of a map is a pointer, and the folder has the map.
fn assert_kept_by_lfs(room: &Room, rev: &str) {
    let kept = sh(room, &format!("git show {rev}:maps/rooms.bsp"));
    assert!(kept.text().starts_with("version https://git-lfs"), "{rev}: {} bytes", kept.out.len());
    assert!(room.read("maps/rooms.bsp").starts_with(b"IBSP"));
    assert_eq!(sh(room, "git status --porcelain").text(), "");
    sh(room, "git lfs fsck && bspkit verify maps -q");
}

#[test]
fn maps_in_git_lfs_are_compared_and_merged() {
    let Some(room) = with_lfs() else { return };
    // The line of Git LFS is behind ours, and the last one counts.
    let install = sh(&room, "bspkit git install");
    assert_eq!(install.text(), ".gitattributes: *.[bB][sS][pP] -text diff=bspkit merge=bspkit\n");
    sh(&room, "bspkit git install --write && git commit -qam attributes");
    assert_eq!(sh(&room, "bspkit git install 2>&1").text(), ".: is set up already\n");
    assert_eq!(
        sh(&room, "grep -c bspkit .gitattributes; tail -n 1 .gitattributes").text(),
        "1\n*.[bB][sS][pP] -text diff=bspkit merge=bspkit\n"
    );
    assert_kept_by_lfs(&room, "main");

    branch(&room, "one", &["ent set maps/rooms.bsp '#6' light=1 style=5"]);
    assert!(sh(&room, "git log -p -1").text().contains("\n+\"light\" \"1\"\n"));
    branch(&room, "two", &["ent set maps/rooms.bsp '#6' _color=1", "model rm maps/rooms.bsp '*2'"]);
    assert_kept_by_lfs(&room, "two");
    // What fits together needs nobody: in a merge, a rebase and a cherry-pick.
    for line in [
        "git checkout -q -b merge two && git merge -q -m m one",
        "git checkout -q -b rebase two && git rebase -q one",
        "git checkout -q -b pick one && git cherry-pick two",
    ] {
        let run = sh(&room, line);
        assert!(run.err.contains("maps/rooms.bsp: merged: "), "{line}: {}", run.err);
        assert_eq!((key(&room, "#6", "light"), key(&room, "#6", "_color")), ("1".to_owned(), "1".to_owned()), "{line}");
        assert_kept_by_lfs(&room, "HEAD");
    }
}

#[test]
fn conflicts_of_maps_in_git_lfs_are_settled_and_given_up() {
    let Some(room) = with_lfs() else { return };
    sh(&room, "bspkit git install --write -q && git commit -qam attributes");
    branch(&room, "one", &["ent set maps/rooms.bsp '#6' light=1 style=5"]);
    branch(&room, "two", &["ent set maps/rooms.bsp '#6' light=2 _color=1"]);
    let before = sh(&room, "ls -A . maps .git").text().to_owned();
    let run = try_sh(&room, "git merge -q -m m one");
    assert!(run.err.contains("    ours    2\n    theirs  1\n"), "{}", run.err);
    assert_eq!(key(&room, "#6", "light"), "2");
    sh(&room, "git merge --abort");
    assert_eq!(sh(&room, "ls -A . maps .git | grep -v ORIG_HEAD").text(), before);
    assert_kept_by_lfs(&room, "HEAD");

    try_sh(&room, "git merge -q -m m one");
    assert!(try_sh(&room, "bspkit git resolve maps/rooms.bsp").text().contains("    theirs  1\n"));
    sh(&room, "bspkit git resolve maps/rooms.bsp --theirs light && git commit -qm merged");
    assert_eq!((key(&room, "#6", "light"), key(&room, "#6", "_color")), ("1".to_owned(), "1".to_owned()));
    assert_kept_by_lfs(&room, "HEAD");

    // Maps that were not downloaded are no maps, and nothing is lost.
    sh(
        &room,
        "GIT_LFS_SKIP_SMUDGE=1 git clone -q \"file://$PWD\" copy && cd copy && git config user.name a && git config user.email a@example.com",
    );
    let clone =
        "cd copy && git lfs install --local --skip-smudge >/dev/null && bspkit git install --write -q >/dev/null";
    sh(&room, &format!("{clone}; git checkout -q -b again origin/two^1"));
    let run = try_sh(&room, "cd copy && GIT_LFS_SKIP_SMUDGE=1 git merge -q -m m origin/one");
    assert!(run.err.contains("this is a pointer of Git LFS, and not the map"), "{}", run.err);
    sh(&room, "cd copy && git lfs fetch --all >/dev/null && git lfs install --local --force >/dev/null");
    sh(
        &room,
        "cd copy && bspkit git resolve maps/rooms.bsp --theirs && git commit -qm merged && bspkit verify maps/rooms.bsp -q",
    );

    let uninstall = sh(&room, "bspkit git uninstall --write -q; cat .gitattributes");
    assert!(uninstall.text().ends_with("\n*.bsp filter=lfs diff=lfs merge=lfs -text\n"), "{}", uninstall.text());
}

/// Other attributes count more: of a folder, or of the clone alone.
#[test]
fn install_warns_of_maps_with_other_attributes() {
    let room = repository();
    room.write("maps/.gitattributes", b"source.bsp merge=ours\n");
    let install = sh(&room, "bspkit git install");
    let warning = "1 map has other attributes in a file that counts more: git check-attr -a maps/source.bsp";
    assert!(install.err.contains(warning), "{}", install.err);
    // So does a map that git does not have yet.
    room.write("new/.gitattributes", b"*.bsp binary\n");
    room.write("new/q2.bsp", &room.read("maps/rooms.bsp"));
    let install = sh(&room, "bspkit git install");
    assert!(install.err.contains("2 maps have other attributes"), "{}", install.err);
}

/// A later line of the same file may be about some maps alone: the line of maps becomes the last one. Lines about other
/// things stay after it, and a link in the place of the file is not written through.
#[test]
fn the_line_of_maps_is_the_last_one_about_maps() {
    let room = repository();
    let last = |room: &Room| String::from_utf8(room.read(".gitattributes")).unwrap().lines().last().unwrap().to_owned();
    for pattern in ["maps/*.bsp", "/maps/big.bsp", "maps/**"] {
        sh(&room, &format!("echo '{pattern} filter=x diff=x merge=x -text' >> .gitattributes"));
        assert!(room.bspkit("git install").done().text().contains("merge=bspkit"), "{pattern}");
        room.bspkit("git install --write").done();
        assert!(last(&room).starts_with("*.[bB]"), "{pattern}");
        assert!(room.bspkit("git install").done().err.contains("is set up already"));
        assert!(!sh(&room, "git check-attr merge maps/big.bsp").text().contains("merge: x"));
    }
    sh(&room, "echo '* text=auto' >> .gitattributes");
    room.bspkit("git install --write").done();
    assert!(last(&room).starts_with("*.[bB]"));
    sh(
        &room,
        "printf '# maps\\n*.txt text eol=lf\\n*.h linguist-language=C\\nmaps/* export-ignore\\n' >> .gitattributes",
    );
    assert!(room.bspkit("git install --write").done().err.contains("is set up already"));
    #[cfg(unix)]
    {
        sh(&room, "mv .gitattributes outside && ln -s outside .gitattributes");
        let before = room.read("outside");
        for command in ["git install --write", "git uninstall --write"] {
            let run = room.bspkit(command).without_data(2);
            assert!(run.err.contains("is a symbolic link, which git does not follow"), "{}", run.err);
        }
        assert!(room.read("outside") == before);
    }
}

/// Git keeps pointers, and any filter keeps the maps.
#[test]
fn pointers_of_maps_are_merged_by_their_content() {
    let room = repository();
    let clean = "#!/bin/sh\ncat >\"$1/new\"; sum=$(cksum <\"$1/new\" | tr -d ' '); mv \"$1/new\" \"$1/$sum\"
        printf 'version https://git-lfs.github.com/spec/v1\\noid %s\\n' $sum";
    room.write(".git/kept/clean", clean.as_bytes());
    room.write(".git/kept/smudge", b"#!/bin/sh\ncat \"$1/$(sed -n 's/oid //p')\"\n");
    let filter = |what: &str| format!("git config filter.own.{what} \"sh '$PWD/.git/kept/{what}' '$PWD/.git/kept'\"");
    sh(&room, &format!("{}; {}", filter("clean"), filter("smudge")));
    sh(&room, "sed -i 's/$/ filter=own/' .gitattributes; touch maps/*; git add --renormalize . && git commit -qm lfs");
    assert!(sh(&room, "git show main:maps/rooms.bsp").text().starts_with("version https://git-lfs"));
    branch(&room, "one", &["ent set maps/rooms.bsp '#6' light=1 style=5"]);
    branch(&room, "two", &["ent set maps/rooms.bsp '#6' light=2 _color=1"]);
    branch(&room, "three", &["ent set maps/rooms.bsp '#7' light=3"]);
    // What fits together is merged, and git keeps a pointer of it.
    sh(&room, "git merge -q -m m one");
    assert_eq!((key(&room, "#6", "style"), key(&room, "#7", "light")), ("5".to_owned(), "3".to_owned()));
    assert!(sh(&room, "git show HEAD:maps/rooms.bsp").text().starts_with("version https://git-lfs"));
    sh(&room, "git checkout -q two");
    let run = try_sh(&room, "git merge -q -m m one");
    assert!(run.err.contains("    theirs  1\n"), "{}", run.err);
    assert!(try_sh(&room, "bspkit git resolve maps/rooms.bsp").text().contains("    theirs  1\n"));
    sh(&room, "bspkit git resolve maps/rooms.bsp --theirs light && git commit -qm merged");
    assert_eq!((key(&room, "#6", "light"), key(&room, "#6", "_color")), ("1".to_owned(), "1".to_owned()));
    assert_eq!(sh(&room, "git status --porcelain").text(), "");
    assert!(sh(&room, "git show HEAD:maps/rooms.bsp").text().starts_with("version https://git-lfs"));
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

/// A merge brings the other side's edits, and with them what they make stale beside the map.
#[test]
fn merges_name_files_that_do_not_fit_any_more() {
    let room = repository();
    room.write("maps/q1.bsp", &fixture("q1/own_rooms"));
    room.write("maps/q1.lit", b"QLIT");
    sh(&room, "git add . && git commit -qm q1");
    branch(&room, "theirs", &["light adjust maps/q1.bsp --gain 2"]);
    branch(&room, "ours", &["ent set maps/q1.bsp worldspawn message=mine", "ent set maps/rooms.bsp '#1' a=1"]);
    let merge = sh(&room, "git merge -qm merged theirs 2>&1");
    assert!(String::from_utf8_lossy(&merge.out).contains("maps/q1.lit"), "{}", String::from_utf8_lossy(&merge.out));
    let files =
        "for rev in main theirs; do git show $rev:maps/q1.bsp >$rev.bsp; done; git show ours~1:maps/q1.bsp >o.bsp";
    sh(&room, &format!("{files}; printf QLIT >o.lit; cp o.lit m.lit"));
    assert!(room.bspkit("git merge main.bsp o.bsp theirs.bsp -o m.bsp").done().err.contains("m.lit"));
    // An edit of entities makes no light stale.
    assert!(!room.bspkit("git merge main.bsp theirs.bsp o.bsp -o m.bsp").done().err.contains("m.lit"));

    branch(&room, "one", &["light adjust maps/q1.bsp --gain 3", "ent set maps/q1.bsp worldspawn message=one"]);
    branch(&room, "two", &["ent set maps/q1.bsp worldspawn message=two"]);
    assert_eq!(try_sh(&room, "git merge -qm three one").code, Some(1));
    assert!(sh(&room, "bspkit git resolve maps/q1.bsp --theirs").err.contains("maps/q1.lit"));
}

/// Pagers pass on what they get: the text of a map for `git diff` has no commands of a terminal in it.
#[test]
fn the_text_for_git_has_no_commands_of_a_terminal() {
    let room = Room::new();
    room.write("x.ent", "{\n\"classname\" \"worldspawn\"\n\"message\" \"\u{1b}]0;x\u{7}\u{202e}\"\n}\n".as_bytes());
    room.bspkit("ent import q2.bsp x.ent -o x.bsp --force -q").done();
    let text = room.bspkit("git textconv x.bsp").done().text().to_owned();
    assert!(text.contains("worldspawn") && !text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
}

/// What a map that was cut short has not is no change of that side: the merge is refused, and the side is named.
#[test]
fn a_damaged_map_is_not_merged() {
    let room = repository();
    let map = fixture("q1/own_rooms");
    room.write("base.bsp", &map);
    room.write("cut.bsp", &map[..3000]);
    sh(&room, "bspkit ent set base.bsp worldspawn message=x -o edited.bsp -q");
    for (maps, side) in [
        ("cut.bsp base.bsp edited.bsp", "the base"),
        ("base.bsp cut.bsp edited.bsp", "ours"),
        ("base.bsp edited.bsp cut.bsp", "theirs"),
    ] {
        let run = try_sh(&room, &format!("bspkit git merge {maps} -o merged.bsp"));
        assert_eq!(run.code, Some(2), "{}", run.err);
        assert!(run.err.contains(&format!("cannot merge merged.bsp: {side} is damaged: ")), "{}", run.err);
        assert!(!run.err.contains("--force"), "{}", run.err);
    }
}
