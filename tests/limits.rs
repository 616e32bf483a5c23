//! The limits: 2 GiB for a file, and what hostile input may cost.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use bspkit::{Bsp, ErrorKind, Layout};

/// A map of nearly 2 GiB, all but its beginning a hole in the disk.
#[cfg(all(unix, feature = "mmap"))]
#[test]
fn growth_past_2_gib_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.bsp");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q2/own_rooms.bsp");
    std::fs::copy(fixture, &path).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(0x7FFF_FFFF - 8).unwrap();

    let map = Bsp::open(&path).unwrap();
    let mut draft = map.draft();
    draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", "x".repeat(100)).unwrap();
    for layout in [Layout::Keep, Layout::Append] {
        let error = draft.plan(layout).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
        assert!(error.to_string().contains("2 GiB"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");
}

/// Opening costs the directory: a map of nearly 2 GiB opens as fast as a small one, though nobody could read it in
/// that time.
#[cfg(all(unix, feature = "mmap"))]
#[test]
fn opening_does_not_depend_on_the_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.bsp");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q3/own_rooms.bsp");
    std::fs::copy(fixture, &path).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0x7FFF_0000).unwrap();
    let fastest = (0..20).map(|_| {
        let start = std::time::Instant::now();
        Bsp::open(&path).unwrap();
        start.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest.as_millis() < 20, "{fastest:?}");
}

#[test]
fn hostile_entity_text_is_read_or_refused() {
    let plain = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q2/own_box.bsp")).unwrap();
    let map = Bsp::parse(&plain).unwrap();
    let entities = map.slot("entities").unwrap().id;
    let texts = ["{", "}", "\"", "\"\" ", "a ", "//", "{}", "{\"a\" \"b\"}", "\n"];
    for text in texts {
        let mut draft = map.draft();
        draft.set(entities, text.repeat(2_000_000 / text.len()).into_bytes()).unwrap();
        let hostile = draft.plan(Layout::Keep).unwrap().to_vec();
        let hostile = Bsp::parse(&hostile).unwrap();
        match hostile.entities() {
            Ok(read) => assert_eq!(read.to_bytes(), *hostile.bytes(entities).unwrap(), "{text}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::TooLarge, "{text}: {error}"),
        }
    }
}
