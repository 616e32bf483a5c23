//! Other readers of zips: Python's zipfile, unzip, 7z. Those that are missing are skipped with a notice, unless
//! `BSPKIT_REQUIRE_READERS=1`.

use std::path::Path;
use std::process::Command;

use bspkit::content::pak::{Method, Pak};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::zip::{File, Zip};

const PYTHON: &str = "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as zip:
    bad = zip.testzip()
    assert bad is None, bad
    print(len(zip.infolist()))
";

/// Runs a reader; `None` where there is none.
fn run(command: &mut Command) -> Option<String> {
    match command.output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(output.status.success(), "{command:?}: {text}");
            Some(text)
        }
        Err(error) => {
            let name = command.get_program().to_string_lossy().into_owned();
            assert!(std::env::var_os("BSPKIT_REQUIRE_READERS").is_none(), "{name}: {error}");
            eprintln!("notice: {name} is not here, so it reads nothing");
            None
        }
    }
}

/// Lets all of them read a pakfile.
pub(crate) fn check(bytes: &[u8], what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pak.zip");
    std::fs::write(&path, bytes).unwrap();
    let pak = Pak::parse(bytes).unwrap();
    // unzip finds nothing to do in an empty one, and calls that a warning; it does not know LZMA.
    let is_plain = !pak.is_empty() && pak.iter().all(|entry| entry.method() == Method::Stored);
    if let Some(text) = run(Command::new("python3").args(["-c", PYTHON]).arg(&path)) {
        assert_eq!(text.trim(), pak.len().to_string(), "{what}");
    }
    if is_plain {
        run(Command::new("unzip").arg("-tqq").arg(&path));
    }
    if !pak.is_empty() {
        run(seven_zip(&path).args(["t", "-y"]).arg(&path));
    }
}

/// 7z under the name that it has here.
fn seven_zip(_: &Path) -> Command {
    let names = ["7z", "7zz", "7za"];
    let is_here = |name: &&str| Command::new(name).output().is_ok();
    Command::new(names.into_iter().find(is_here).unwrap_or("7z"))
}

#[test]
fn others_read_what_we_write() {
    check(&Pak::parse(Zip::default().build()).unwrap().to_rope().unwrap().to_data(), "empty");
    let mut runner = TestRunner::deterministic();
    for round in 0..12 {
        let sizes = prop::collection::vec((0..3000_usize, any::<u8>()), 1..20).new_tree(&mut runner).unwrap().current();
        let file = |(at, (size, byte)): (usize, &(usize, u8))| {
            let extra = vec![0; if at % 3 == 0 { 4 } else { 0 }];
            let data: Vec<u8> = (0..*size).map(|at| byte.wrapping_add((at % 7) as u8)).collect();
            File { local_extra: extra.clone(), central_extra: extra, ..File::new(format!("folder/{at}.txt"), data) }
        };
        let comment = if round % 2 == 0 { Pak::XZP1.to_vec() } else { Vec::new() };
        let before = Zip { comment, ..Zip::of(sizes.iter().enumerate().map(file)) }.build();
        let mut pak = Pak::parse(before).unwrap();
        pak.add("new/one.vmt", &b"new"[..]).unwrap();
        pak.replace(0, &b"replaced"[..]).unwrap();
        pak.rename(pak.len() - 2, "renamed.txt").unwrap();
        if round % 3 == 0 {
            pak.remove(&[0]).unwrap();
        }
        check(&pak.to_rope().unwrap().to_data(), "edited");
        pak.compress(&(0..pak.len()).collect::<Vec<_>>(), 2, Default::default()).unwrap();
        check(&pak.to_rope().unwrap().to_data(), "compressed");
    }
}

/// Python writes LZMA with an end marker, and says so in the flags: the marker is no odd byte.
#[test]
fn a_marker_that_the_flags_announce_is_data() {
    const WRITE: &str = "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_LZMA) as zip:
    zip.writestr('a.txt', b'some text, some text, ' * 20)
    zip.writestr('empty.txt', b'')
";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pak.zip");
    if run(Command::new("python3").args(["-c", WRITE]).arg(&path)).is_none() {
        return;
    }
    let bytes = std::fs::read(&path).unwrap();
    let found = |bytes: &[u8]| Pak::parse(bytes).unwrap().check(1).iter().map(|it| it.to_string()).collect::<Vec<_>>();
    assert_eq!(found(&bytes), Vec::<String>::new());
    // The same bytes without the flag, and a marker that is none, are found.
    let mut plain = bytes.clone();
    let first = memchr::memmem::find(&plain, b"PK\x01\x02").unwrap();
    (plain[6], plain[first + 8]) = (0, 0);
    assert!(found(&plain)[0].contains("stored bytes are not part of its data"), "{:?}", found(&plain));
    let mut cut = bytes.clone();
    let end = memchr::memmem::find(&cut[1..], b"PK").unwrap();
    cut[end - 5..=end].iter_mut().for_each(|byte| *byte ^= 0x5a);
    assert!(!found(&cut).is_empty());
}
