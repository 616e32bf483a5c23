//! Embedded files whose names have a meaning to programs on a disk.

use std::fs;
use std::path::Path;
use std::process::Command;

use bspkit::{Bsp, Layout};

use super::room::Room;

/// Names with a meaning to some program or system, or that lead out of the folder.
const HOSTILE: [&str; 35] = [
    ".git/config",
    ".git/HEAD",
    ".GIT/hooks/post-index-change",
    ".git./config",
    ".git /config",
    ".git::$INDEX_ALLOCATION/config",
    "git~1/config",
    ".g\u{200c}it/config",
    "\u{200c}.git/config",
    "materials/.git/config",
    "materials\\.git\\HEAD",
    ".gitmodules",
    "HEAD",
    "materials/Head",
    "sound\\HEAD",
    ".bashrc",
    ".profile",
    ".envrc",
    "cfg/.env",
    "-rf",
    "materials/-o",
    "~/x",
    "~",
    "red\u{1b}[31m.vmt",
    "red\u{9b}31m.vmt",
    "a\u{202e}tmv.txt",
    "a\u{2066}b.txt",
    "a\u{200f}.txt",
    "new\nline",
    "nul",
    "COM1.txt",
    "dot.",
    "space ",
    "c:/x",
    "git.exe",
];

const PLAIN: [&str; 3] = ["materials/own/wall.vmt", "sound/hit.wav", "models/head/head.mdl"];

/// A map with all these files. Names that the library refuses are written over others.
fn hostile(room: &Room) {
    let map = Bsp::from_vec(room.read("source.bsp")).unwrap();
    let mut draft = map.draft();
    let pak = draft.pak().unwrap();
    pak.remove(&(0..pak.len()).collect::<Vec<_>>()).unwrap();
    for name in HOSTILE.iter().chain(&PLAIN).filter(|name| **name != "c:/x") {
        pak.add(name, format!("content of {}", name.escape_debug())).unwrap();
    }
    let renamed = [
        ("dd/dd/out.txt", "../../out.txt"),
        ("s/outer.txt", "/outer_.txt"),
        ("d_/x", "c:/x"),
        ("sound/hix.wav", "sound/HIT.wav"),
    ];
    for (stand_in, _) in renamed {
        pak.add(stand_in, "content").unwrap();
    }
    let mut bytes = draft.plan(Layout::Keep).unwrap().to_vec();
    for (from, to) in renamed {
        let places: Vec<usize> = memchr::memmem::find_iter(&bytes, from).collect();
        places.into_iter().for_each(|at| bytes[at..at + from.len()].copy_from_slice(to.as_bytes()));
    }
    room.write("hostile.bsp", &bytes);
}

/// The files below a folder, by their paths in it.
fn written(room: &Room, folder: &str) -> Vec<String> {
    let base = room.path(folder);
    let files = room.names().into_iter().filter(|path| path.is_file());
    files.filter_map(|path| path.strip_prefix(&base).ok().map(|path| path.to_str().unwrap().to_owned())).collect()
}

/// Whether `git status` in a folder runs what a `.git/config` in it says.
fn status_runs_the_monitor(room: &Room, folder: &str) -> bool {
    let ran = room.path("ran");
    let mut git = Command::new("git");
    git.arg("status").current_dir(room.path(folder)).env("GIT_CEILING_DIRECTORIES", room.path(""));
    assert!(git.output().is_ok(), "this test needs git");
    let is_there = ran.exists();
    drop(fs::remove_file(ran));
    is_there
}

#[test]
fn extract_writes_no_name_that_programs_act_on() {
    let room = Room::new();
    hostile(&room);
    let run = room.bspkit("pak extract hostile.bsp -o files -v");
    assert_eq!(run.code, Some(2), "{}", run.err);
    for name in &HOSTILE {
        let named = format!("cannot extract {}", bspkit::bytes::escaped(name.as_bytes()));
        assert!(run.err.contains(&named), "{named}: {}", run.err);
    }
    let plain = ["materials/own/wall.vmt", "models/head/head.mdl", "sound/HIT~2.wav", "sound/hit.wav"];
    assert_eq!(written(&room, "files"), plain);
    assert!(!room.path("out.txt").exists() && !Path::new("/outer_.txt").exists());
    assert!(run.err.ends_with(&format!("files: 4 files, {} not written\n", HOSTILE.len() + 2)), "{}", run.err);
    // Ten of a kind, then the count.
    let few = room.bspkit("pak extract hostile.bsp -o few");
    assert_eq!(few.err.matches("cannot extract").count(), 10);
    assert!(few.err.contains(&format!("and {} more (not written); -v lists them", HOSTILE.len() - 8)), "{}", few.err);
}

#[cfg(unix)]
#[test]
fn git_status_runs_nothing_in_extracted_and_unpacked_folders() {
    let room = Room::new();
    let config = format!("[core]\n\tfsmonitor = \"touch {} #\"\n", room.path("ran").display());
    let repository = [
        (".git/config", &*config),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/objects/a", ""),
        (".git/refs/a", ""),
    ];
    // A folder of any name is a repository if these files are in it.
    let config = format!("{config}\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n");
    let bare = [("config", &*config), ("HEAD", "ref: refs/heads/main\n"), ("objects/a", ""), ("refs/a", "")];
    // The attacks work where the files are written.
    repository.iter().for_each(|(name, text)| room.write(format!("known/{name}"), text.as_bytes()));
    bare.iter().for_each(|(name, text)| room.write(format!("bare/{name}"), text.as_bytes()));
    for folder in ["known", "bare"] {
        assert!(status_runs_the_monitor(&room, folder), "the attack of this test does not work: {folder}");
    }

    let map = Bsp::from_vec(room.read("source.bsp")).unwrap();
    let mut draft = map.draft();
    for spelling in [".git", ".GIT", "git~1", ".g\u{200c}it"] {
        for (name, text) in &repository {
            draft.pak().unwrap().add(name.replace(".git", spelling), text.as_bytes()).unwrap();
        }
    }
    for folder in ["", "cfg/", "cfg/below\\"] {
        for (name, text) in &bare {
            draft.pak().unwrap().add(format!("{folder}{name}"), text.as_bytes()).unwrap();
        }
    }
    room.write("hostile.bsp", &draft.plan(Layout::Keep).unwrap().to_vec());
    assert_eq!(room.bspkit("pak extract hostile.bsp -o files").code, Some(2));
    room.bspkit("unpack hostile.bsp -o map").done();
    for folder in ["files", "files/cfg", "files/cfg/below", "files/cfg/below/objects", "map/pak", "map/pak/cfg"] {
        assert!(!status_runs_the_monitor(&room, folder), "{folder}");
    }
    room.bspkit("pack map -o again.bsp").done();
    assert_eq!(room.read("again.bsp"), room.read("hostile.bsp"));
}

#[test]
fn unpack_escapes_what_extract_refuses() {
    let room = Room::new();
    hostile(&room);
    room.bspkit("unpack hostile.bsp -o map").done();
    let files = written(&room, "map/pak");
    assert_eq!(files.len(), HOSTILE.len() + PLAIN.len() + 3, "{files:?}");
    // A number parts names that are one on some systems.
    for part in files.iter().flat_map(|path| path.split('/')).filter(|part| !part.contains("~2")) {
        assert_eq!(bspkit::file::names::hazard(part.as_bytes()), None, "{part}");
    }
    room.bspkit("pack map -o again.bsp").done();
    assert_eq!(room.read("again.bsp"), room.read("hostile.bsp"));
}

#[test]
fn add_and_sync_leave_out_what_extract_refuses() {
    let room = Room::new();
    for name in [".git/config", ".env", "cfg/.bashrc", "git~1/config", "-rf", "git.exe", "materials/own/wall.vmt"] {
        room.write(format!("content/{name}"), b"a file of the folder");
    }
    let names = |map: &str| -> Vec<String> {
        let map = Bsp::open(room.path(map)).unwrap();
        map.pak().unwrap().iter().map(|file| String::from_utf8_lossy(file.name()).into_owned()).collect()
    };
    let before = names("source.bsp").len();
    let run = room.bspkit("pak add source.bsp content -o added.bsp").done();
    assert_eq!(names("added.bsp")[before..], ["materials/own/wall.vmt"]);
    for said in [
        "`.git/config` is left out: file managers",
        "`-rf` is left out: a part",
        "`.env` (and 1 other) is left out: a part",
    ] {
        assert!(run.err.contains(said), "{said}: {}", run.err);
    }
    room.bspkit("pak sync source.bsp content -o synced.bsp").done();
    assert_eq!(names("synced.bsp"), ["materials/own/wall.vmt"]);
    // What is asked for by name is done, and said.
    let run = room.bspkit("pak add source.bsp .git/config=content/.env -o named.bsp").done();
    assert!(run.err.contains("`.git/config` is embedded, but `pak extract` does not write it: a part"), "{}", run.err);
    let run = room.bspkit("pak verify named.bsp").done();
    assert!(run.text().contains("it is not written to a disk: a part of its name begins with a dot"), "{}", run.text());
    room.bspkit("pak add source.bsp content --as-is -o as_is.bsp").done();
    assert_eq!(names("as_is.bsp").len(), before + 7);
}

#[cfg(unix)]
#[test]
fn extract_follows_no_link_in_the_folder() {
    let room = Room::new();
    hostile(&room);
    fs::create_dir_all(room.path("files")).unwrap();
    fs::create_dir_all(room.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(room.path("elsewhere"), room.path("files/materials")).unwrap();
    std::os::unix::fs::symlink(room.path("elsewhere/hit"), room.path("files/sound")).unwrap();
    let run = room.bspkit("pak extract hostile.bsp -o files --overwrite -v");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("is a symbolic link, which is not followed"), "{}", run.err);
    assert_eq!(written(&room, "elsewhere"), [""; 0]);
}

#[test]
fn fill_takes_no_file_that_extract_refuses() {
    let room = Room::new();
    room.write("content/.git/config.raw", b"a secret");
    room.bspkit("ent add source.bsp classname=color_correction filename=.git/config.raw -o asks.bsp").done();
    let run = room.bspkit("pak fill asks.bsp --from content -o filled.bsp");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(memchr::memmem::find(&room.read("filled.bsp"), b"a secret").is_none(), "{}", run.err);
    assert!(run.err.contains(".git/config.raw is missing"), "{}", run.err);
}

/// A name that no engine looks for is said to be one, by whatever command it is given.
#[test]
fn names_that_engines_look_for_in_another_form_are_warned_of() {
    let room = Room::new();
    room.write("a.txt", b"text");
    room.write("list.txt", b"own//b.txt\na.txt\n");
    let warned = |line: &str, name: &str| {
        let run = room.bspkit(line).done();
        assert!(run.err.contains(&format!("engines look for no file called `{name}`")), "{line}: {run:?}");
    };
    warned("pak add source.bsp ./own/a.txt=a.txt -o 2.bsp", "./own/a.txt");
    warned("pak add source.bsp --list list.txt -o 2.bsp", "own//b.txt");
    warned("pak mv 2.bsp own//b.txt own/./a.txt -o 3.bsp", "own/./a.txt");
    let fine = room.bspkit("pak add source.bsp own/a.txt=a.txt -o 2.bsp").done();
    assert!(!fine.err.contains("engines look"), "{fine:?}");
    // A name with the sign for names is suggested as one gives it.
    room.write("signs.txt", b"=eq.txt\na.txt\n");
    room.bspkit("pak add source.bsp --list signs.txt -o eq.bsp").done();
    let none = room.bspkit("pak rm eq.bsp =eq.txt -o 3.bsp --force");
    assert!(none.err.contains("did you mean ==eq.txt?"), "{none:?}");
    room.bspkit("pak rm eq.bsp ==eq.txt -o 3.bsp --force").done();
}

/// Letters of a name that is not UTF-8 are bytes that terminals may take for others, and so is said.
#[test]
fn bytes_that_are_no_letters_of_utf_8_are_named_as_such() {
    use bspkit::file::names::hazard;
    assert!(hazard(b"\x84\x94.vmt").unwrap().contains("is not UTF-8"));
    assert_eq!(hazard(b"\xE4\xF6.vmt"), None);
    assert_eq!(hazard("\u{84}.vmt".as_bytes()), Some("its name contains a control character"));
}
