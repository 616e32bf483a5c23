//! What a save does to the disk: nothing is lost, whatever other programs and file systems do.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bspkit::file::replace;
use bspkit::{Bsp, Draft, Error, ErrorKind, Layout, SaveOptions};

const OLD: &[u8] = b"the old file";

/// A folder with a copy of a fixture in it.
fn room() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rooms.bsp");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q3/own_rooms.bsp"), &path).unwrap();
    (folder, path)
}

fn with_message(map: &Bsp<'static>, message: &str) -> Draft<'static> {
    let mut draft = map.draft();
    draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", message).unwrap();
    draft
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// An error as the program prints it, with its cause.
fn said(error: &Error) -> String {
    let cause = std::error::Error::source(error).map_or(String::new(), |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

/// Two edits of one map: the second one was made without the first one's result.
#[test]
fn an_edit_that_was_saved_meanwhile_is_not_lost() {
    let (folder, path) = room();
    let (one, other) = (Bsp::open(&path).unwrap(), Bsp::open(&path).unwrap());
    with_message(&one, "one").plan(Layout::Keep).unwrap().save(&path).unwrap();
    let first = fs::read(&path).unwrap();
    for map in [&other, &one] {
        for options in [SaveOptions::default(), SaveOptions::default().force(true).backup(".bak")] {
            let error = with_message(map, "other").plan(Layout::Keep).unwrap().save_with(&path, &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused);
            assert!(error.to_string().starts_with("another program has changed "), "{error}");
        }
    }
    assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (first, vec!["rooms.bsp".to_owned()]));
    // Under another name nothing is lost, and what is opened again is up to date.
    with_message(&other, "other").plan(Layout::Keep).unwrap().save(folder.path().join("other.bsp")).unwrap();
    with_message(&Bsp::open(&path).unwrap(), "two").plan(Layout::Keep).unwrap().save(&path).unwrap();
}

/// A draft goes on after a save: it is one of the saved file, and only what others do to that is refused.
#[test]
fn a_draft_is_edited_and_saved_again_and_again() {
    let (_folder, path) = room();
    let mut draft = Bsp::open(&path).unwrap().draft();
    let set = |draft: &mut Draft<'static>, message: &str| {
        draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", message).unwrap();
    };
    let save = |draft: &mut Draft<'static>, options: &SaveOptions| {
        draft.save_with(&path, Layout::Keep, options, |_, plan| Ok(plan.size())).map(|(_, size)| size)
    };
    for message in ["one", "a longer one", "two"] {
        set(&mut draft, message);
        let size = save(&mut draft, &SaveOptions::default()).unwrap();
        assert_eq!((draft.changes().unwrap(), draft.bsp().container().bytes().len()), (Vec::new(), size));
        assert_eq!(draft.plan(Layout::Keep).unwrap().to_vec(), fs::read(&path).unwrap());
    }
    let mut other = Bsp::open(&path).unwrap().draft();
    set(&mut other, "theirs");
    save(&mut other, &SaveOptions::default()).unwrap();
    set(&mut draft, "mine");
    for options in [SaveOptions::default(), SaveOptions::default().force(true)] {
        assert_eq!(save(&mut draft, &options).unwrap_err().kind(), ErrorKind::Refused);
        assert_eq!(draft.changes().unwrap().len(), 1, "the edit is pending");
    }
    save(&mut draft, &SaveOptions::default().over_changes(true)).unwrap();
    set(&mut draft, "on");
    save(&mut draft, &SaveOptions::default()).unwrap();
    assert_eq!(Bsp::open(&path).unwrap().draft().entities().unwrap().to_bytes(), draft.entities().unwrap().to_bytes());
}

#[test]
fn what_another_program_wrote_meanwhile_is_not_lost() {
    let append = |path: &Path| fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"more").unwrap();
    let put = |path: &Path| {
        let other = path.with_extension("new");
        fs::copy(path, &other).unwrap();
        fs::rename(&other, path).unwrap();
    };
    // Other content of the same size, and the old time put back.
    let disguise = |path: &Path| {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.seek(SeekFrom::End(-1)).unwrap();
        file.write_all(b"x").unwrap();
        file.set_modified(modified).unwrap();
    };
    type Change<'a> = (&'a str, &'a dyn Fn(&Path));
    let changes: [Change<'_>; 3] =
        [("appended", &append), ("replaced by an equal one", &put), ("of the same size and time", &disguise)];
    // Windows knows a file by its size and times alone, which a copy keeps: a file that equals the old one is not lost.
    for (what, change) in changes.into_iter().take(if cfg!(unix) { 3 } else { 1 }) {
        let (_folder, path) = room();
        let map = Bsp::open(&path).unwrap();
        change(&path);
        let theirs = fs::read(&path).unwrap();
        let error = with_message(&map, "x").plan(Layout::Keep).unwrap().save(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{what}");
        assert_eq!(fs::read(&path).unwrap(), theirs, "{what}");
    }
    // While the new file is written, a moment before the rename.
    for there in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ent");
        if there {
            fs::write(&path, OLD).unwrap();
        }
        let error = replace(&path, &SaveOptions::default(), |_| fs::write(&path, b"theirs"));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Refused);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"theirs".to_vec(), 1));
    }
}

/// A new name of the file changes nothing in it.
#[cfg(unix)]
#[test]
fn a_file_that_gets_another_name_meanwhile_is_saved() {
    let (folder, path) = room();
    let map = Bsp::open(&path).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::hard_link(&path, folder.path().join("other.bsp")).unwrap();
    with_message(&map, "x").plan(Layout::Keep).unwrap().save(&path).unwrap();
}

#[test]
fn a_read_only_file_is_replaced_by_force_only() {
    let (folder, path) = room();
    let old = fs::read(&path).unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let plan = with_message(&Bsp::open(&path).unwrap(), "x").plan(Layout::Keep).unwrap();
    let error = plan.save(&path).unwrap_err();
    assert_eq!((error.kind(), error.to_string().ends_with("rooms.bsp is read-only")), (ErrorKind::Refused, true));
    assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (old.clone(), 1));
    plan.save_with(&path, &SaveOptions::default().force(true)).unwrap();
    assert_ne!(fs::read(&path).unwrap(), old);
    assert!(fs::metadata(&path).unwrap().permissions().readonly(), "it stays so");
}

// Windows keeps a file that is open until it is closed.
#[cfg(unix)]
#[test]
fn a_save_that_fails_leaves_no_backup() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ent");
    fs::write(&path, OLD).unwrap();
    let options = SaveOptions::default().backup(".bak");
    // The temporary file is gone when it is to be renamed.
    let error = replace(&path, &options, |_| {
        let temporary = names(folder.path()).into_iter().find(|name| name.ends_with(".tmp")).unwrap();
        fs::remove_file(folder.path().join(temporary))
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Io);
    assert_eq!((names(folder.path()), fs::read(&path).unwrap()), (vec!["a.ent".to_owned()], OLD.to_vec()));
}

#[test]
fn an_error_says_what_the_system_says() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: PathBuf| said(&replace(path, &SaveOptions::default(), |_| Ok(())).unwrap_err());
    let missing = folder.path().join("no/such");
    let what = said(missing.join("a.ent"));
    assert!(what.ends_with(&format!("a.ent: there is no folder {}", missing.display())), "{what}");
    assert!(what.starts_with("cannot write "), "{what}");
    let file = folder.path().join("file");
    fs::write(&file, OLD).unwrap();
    let what = said(file.join("a.ent"));
    // To Windows a file in the place of a folder is a missing folder.
    assert!(what.contains(if cfg!(windows) { "there is no folder" } else { "os error" }), "{what}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn hard_links_are_warned_of() {
        let (folder, path) = room();
        fs::hard_link(&path, folder.path().join("one.bsp")).unwrap();
        let plan = with_message(&Bsp::open(&path).unwrap(), "x").plan(Layout::Keep).unwrap();
        let saved = plan.save_with(&path, &SaveOptions::default()).unwrap();
        assert_eq!(saved.warnings, ["the old file has 1 other name (hard links), which keep the old content"]);
        let again = with_message(&Bsp::open(&path).unwrap(), "y").plan(Layout::Keep).unwrap();
        assert_eq!(again.save_with(&path, &SaveOptions::default()).unwrap().warnings, [""; 0]);
    }

    /// What is written into another name of the old file does not change the backup.
    #[test]
    fn a_backup_is_no_other_name_of_a_file() {
        let (folder, path) = room();
        let (other, old) = (folder.path().join("one.bsp"), fs::read(&path).unwrap());
        fs::hard_link(&path, &other).unwrap();
        let options = SaveOptions::default().backup(".bak");
        let plan = with_message(&Bsp::open(&path).unwrap(), "x").plan(Layout::Keep).unwrap();
        let backup = plan.save_with(&path, &options).unwrap().backup.unwrap();
        fs::write(&other, b"other").unwrap();
        assert_eq!(fs::read(backup).unwrap(), old);
    }

    /// A second name may be a backup, which a killed program left.
    #[test]
    fn a_file_with_other_names_is_not_patched() {
        let (folder, path) = room();
        let (other, old) = (folder.path().join("one.bsp"), fs::read(&path).unwrap());
        fs::hard_link(&path, &other).unwrap();
        let plan = with_message(&Bsp::open(&path).unwrap(), "x").plan(Layout::Patch).unwrap();
        let saved = plan.save_with(&path, &SaveOptions::default()).unwrap();
        assert!(saved.whole.is_some_and(|why| why.contains("hard links")));
        assert_eq!(fs::read(other).unwrap(), old);
        assert_ne!(fs::read(path).unwrap(), old);
    }

    /// Nobody may read the new file, or the backup, who may not read the old one: not while it is written either.
    #[test]
    fn nobody_else_reads_a_private_file() {
        let (folder, path) = room();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let saved = replace(&path, &SaveOptions::default().backup(".bak"), |mut file| {
            for name in names(folder.path()) {
                assert_eq!(mode(&folder.path().join(&name)), 0o600, "{name}");
            }
            file.write_all(b"new")
        });
        assert_eq!((mode(&path), mode(&saved.unwrap().backup.unwrap())), (0o600, 0o600));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn extended_attributes_stay() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let (_folder, path) = room();
        if setxattr(&path, "user.origin", b"vbsp\0 3", XattrFlags::empty()).is_err() {
            eprintln!("skipped: the file system has no extended attributes");
            return;
        }
        let plan = with_message(&Bsp::open(&path).unwrap(), "x").plan(Layout::Keep).unwrap();
        assert_eq!(plan.save_with(&path, &SaveOptions::default()).unwrap().warnings, [""; 0]);
        let mut value = [0; 20];
        let length = getxattr(&path, "user.origin", &mut value[..]).unwrap();
        assert_eq!(value[..length], *b"vbsp\0 3");
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::File;
    use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    const READ: u32 = 1;
    const WRITE: u32 = 2;

    /// A file that is open as games open their maps: others may read and write it, but not replace it.
    fn open(path: &Path) -> File {
        File::options().read(true).share_mode(READ | WRITE).open(path).unwrap()
    }

    #[test]
    fn a_map_that_a_game_has_open_stays() {
        let (folder, path) = room();
        let old = fs::read(&path).unwrap();
        let plan = with_message(&Bsp::open(&path).unwrap(), "new").plan(Layout::Keep).unwrap();
        let game = open(&path);
        let start = Instant::now();
        let error = plan.save_with(&path, &SaveOptions::default().backup(".bak")).unwrap_err();
        assert!(
            said(&error).ends_with("another program has it open, perhaps the game: close it there first"),
            "{error:?}"
        );
        assert!((2..20).contains(&start.elapsed().as_secs()), "it is tried for a while, and not forever");
        assert_eq!((names(folder.path()), fs::read(&path).unwrap()), (vec!["rooms.bsp".to_owned()], old));
        drop(game);
        plan.save(&path).unwrap();
    }

    #[test]
    fn a_map_that_is_open_for_a_moment_is_replaced() {
        let (_folder, path) = room();
        let plan = with_message(&Bsp::open(&path).unwrap(), "new").plan(Layout::Keep).unwrap();
        let other = open(&path);
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(300));
                drop(other);
            });
            plan.save(&path).unwrap();
        });
        assert_eq!(fs::read(&path).unwrap(), *plan.to_data());
    }

    #[test]
    fn a_map_that_nobody_else_may_read_gets_a_sentence() {
        let (_folder, path) = room();
        let _other = File::options().read(true).share_mode(0).open(&path).unwrap();
        let error = Bsp::open(&path).unwrap_err();
        assert!(said(&error).contains("another program has it open"), "{error:?}");
    }

    #[test]
    fn the_read_only_attribute_stays() {
        let (folder, path) = room();
        let set = |is_set| {
            let mut permissions = fs::metadata(&path).unwrap().permissions();
            permissions.set_readonly(is_set);
            fs::set_permissions(&path, permissions).unwrap();
        };
        let is_set = || fs::metadata(&path).unwrap().permissions().readonly();
        let plan = with_message(&Bsp::open(&path).unwrap(), "new").plan(Layout::Keep).unwrap();
        set(true);
        assert_eq!(plan.save(&path).unwrap_err().kind(), ErrorKind::Refused);
        let game = open(&path);
        plan.save_with(&path, &SaveOptions::default().force(true)).unwrap_err();
        assert!(is_set(), "a failed save changes nothing");
        drop(game);
        let plan = with_message(&Bsp::open(&path).unwrap(), "new").plan(Layout::Keep).unwrap();
        plan.save_with(&path, &SaveOptions::default().force(true)).unwrap();
        assert_eq!((is_set(), fs::read(&path).unwrap()), (true, plan.to_data().to_vec()));
        set(false);
        assert_eq!(names(folder.path()), ["rooms.bsp"]);
    }

    #[test]
    fn hidden_files_stay_hidden() {
        const HIDDEN: u32 = 2;
        let (_folder, path) = room();
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let mut hidden = File::options().write(true).create(true).attributes(HIDDEN).open(&path).unwrap();
        hidden.write_all(&bytes).unwrap();
        drop(hidden);
        let plan = with_message(&Bsp::open(&path).unwrap(), "new").plan(Layout::Keep).unwrap();
        plan.save(&path).unwrap();
        assert_ne!(fs::metadata(&path).unwrap().file_attributes() & HIDDEN, 0);
    }

    #[test]
    fn paths_may_be_long() {
        let (folder, path) = room();
        let mut long = folder.path().to_path_buf();
        for _ in 0..8 {
            long.push("d".repeat(50));
        }
        fs::create_dir_all(&long).unwrap();
        let target = long.join("rooms.bsp");
        with_message(&Bsp::open(&path).unwrap(), "x").plan(Layout::Keep).unwrap().save(&target).unwrap();
        let plan = with_message(&Bsp::open(&target).unwrap(), "y").plan(Layout::Keep).unwrap();
        plan.save_with(&target, &SaveOptions::default().backup(".bak")).unwrap();
        assert_eq!(names(&long), ["rooms.bsp", "rooms.bsp.bak"]);
    }
}
