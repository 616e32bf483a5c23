//! What each edit does, one by one.

use bspkit::content::pak::{Method, Pak, Pattern};
use bspkit::dialect::{self, Dialect};
use bspkit::{Bsp, Builder, ErrorKind, Layout};

use super::faults::delicate;
use super::zip::{File, Zip, crc32, half, word};

fn bytes(pak: &Pak<'_>) -> Vec<u8> {
    pak.to_rope().unwrap().to_data().to_vec()
}

fn map(dialect: &'static Dialect, version: i32, pak: &[u8]) -> Vec<u8> {
    let builder = Builder::new(dialect).version(version).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0");
    builder.lump(40, pak).build().unwrap()
}

#[test]
fn a_new_file_is_as_valves_writer_makes_it() {
    let mut pak = Pak::new(b"");
    pak.add("a.vmt", &b"data"[..]).unwrap();
    let valve = File { time: 0, ..File::new("a.vmt", "data") };
    let mut expected = Zip::of([valve]).build();
    // The test's files have a date.
    expected[12..14].fill(0);
    let directory = 30 + 5 + 4;
    expected[directory + 14..directory + 16].fill(0);
    assert_eq!(bytes(&pak), expected);

    pak.replace(0, vec![b'x'; 500]).unwrap();
    pak.compress(&[0], 1, Default::default()).unwrap();
    let zip = bytes(&pak);
    assert_eq!((half(&zip, 4), half(&zip, 6), half(&zip, 8)), (63, 0, 14));
    assert_eq!((word(&zip, 14), word(&zip, 22)), (crc32(&[b'x'; 500]) as usize, 500));
    assert_eq!(zip[35 + 2..35 + 9], *b"\x05\0\x5d\0\0\0\x01");
    pak.store(&[0], 1).unwrap();
    assert_eq!(pak.get(0).unwrap().method(), Method::Stored);
}

#[test]
fn a_new_pakfile_ends_as_those_of_its_time() {
    for (dialect, version, comment) in [
        (&dialect::SOURCE17, 17, &b""[..]),
        (&dialect::SOURCE, 19, &[]),
        (&dialect::SOURCE, 20, &Pak::XZP1),
        (&dialect::SOURCE21, 21, &Pak::XZP1),
    ] {
        let file = map(dialect, version, b"");
        let map = Bsp::parse(&file).unwrap();
        assert_eq!(map.pak().unwrap().comment(), comment);
        let mut draft = map.draft();
        let added = draft.pak().unwrap().add("a", &b"b"[..]).unwrap();
        draft.pak().unwrap().remove(&[added]).unwrap();
        assert!(draft.plan(Layout::Keep).unwrap().is_identity(), "what is taken out again was no edit");
        draft.pak().unwrap().add("a", &b"b"[..]).unwrap();
        let saved = draft.plan(Layout::Keep).unwrap().to_vec();
        assert_eq!(Bsp::parse(&saved).unwrap().pak().unwrap().comment(), comment);
    }
    let file = std::fs::read("tests/maps/q3/own_rooms.bsp").unwrap();
    let error = Bsp::parse(&file).unwrap().pak().unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::NotFound, "Quake III Arena maps have no pakfile".into()));
}

#[test]
fn what_is_set_back_is_no_edit() {
    let before = delicate().build();
    let mut pak = Pak::parse(&before[..]).unwrap();
    pak.replace(0, &b"stale"[..]).unwrap();
    assert!(!pak.is_edited(), "the bytes that it has, whatever its CRC");
    pak.replace(0, &b"other"[..]).unwrap();
    pak.rename(2, "materials/c.vmt").unwrap();
    assert!(pak.is_edited());
    pak.replace(0, &b"stale"[..]).unwrap();
    pak.rename(2, "Materials\\B.VMT").unwrap();
    assert!(!pak.is_edited());
    assert_eq!(bytes(&pak), before);

    let file = map(&dialect::SOURCE, 20, &before);
    let map = Bsp::parse(&file).unwrap();
    let mut draft = map.draft();
    draft.pak().unwrap().rename(0, "x").unwrap();
    assert_eq!(draft.changes().unwrap().len(), 1);
    draft.pak().unwrap().rename(0, "a.vmt").unwrap();
    assert!(draft.changes().unwrap().is_empty());
    draft.pak().unwrap().remove(&[1]).unwrap();
    draft.revert(map.slot("pakfile").unwrap().id);
    assert!(draft.changes().unwrap().is_empty());
}

#[test]
fn twins_are_kept_and_told_apart() {
    let before = delicate().build();
    let mut pak = Pak::parse(&before[..]).unwrap();
    assert_eq!(pak.find("B.VMT"), [3, 4, 5]);
    assert_eq!(pak.find("B.vmt"), [5, 3, 4], "the one that is spelled so comes first");
    assert_eq!(pak.find("materials/b.vmt"), [2]);
    assert_eq!(pak.one("B.vmt").unwrap(), 5);
    for name in ["b.vmt", "b.VMT"] {
        let error = pak.add(name, &b"which"[..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.hint().unwrap().to_string().contains("#4 b.vmt"), "{error:?}");
    }
    pak.add("B.vmt", &b"mine"[..]).unwrap();
    let data: Vec<_> = pak.iter().map(|entry| entry.data().unwrap().to_vec()).collect();
    assert_eq!(data[3..], [b"three".to_vec(), b"twin".to_vec(), b"mine".to_vec()]);
    assert_eq!(pak.select(&Pattern::new("b.vm?")), [2, 3, 4, 5]);
}

#[test]
fn a_replaced_file_keeps_its_turn_and_name() {
    let before = Zip::of(["a", "b", "c"].map(|name| File::new(name, name))).build();
    let mut pak = Pak::parse(&before[..]).unwrap();
    pak.add("B", &b"longer"[..]).unwrap();
    let after = bytes(&pak);
    let offsets: Vec<_> = Pak::parse(&after[..]).unwrap().iter().map(|entry| entry.record().local_offset).collect();
    assert_eq!(offsets, [0, 32, 69]);
    assert_eq!(pak.get(1).unwrap().name(), b"b");
}

#[test]
fn what_is_compressed_stays_so_and_sounds_never_are() {
    let text = b"some text ".repeat(50);
    let mut pak = Pak::new(b"");
    for name in ["a.vmt", "b.WAV", "c.mp3", "d.ogg", "e.ani", "f.vcs", "wav", "g.tiny"] {
        let data = if name == "g.tiny" { b"x".to_vec() } else { text.clone() };
        pak.add(name, data).unwrap();
    }
    let all: Vec<usize> = (0..pak.len()).collect();
    let packed = pak.compress(&all, 2, Default::default()).unwrap();
    assert_eq!((packed.changed, packed.kept, packed.failed.len()), (2, 6, 0));
    let methods: Vec<_> = pak.iter().map(|entry| entry.method()).collect();
    assert_eq!((methods[0], methods[6]), (Method::Lzma, Method::Lzma));
    pak.replace(0, b"another text ".repeat(40)).unwrap();
    assert_eq!(pak.get(0).unwrap().method(), Method::Lzma);
    assert_eq!(&*pak.get(0).unwrap().data().unwrap(), b"another text ".repeat(40));

    let zip = bytes(&pak);
    let again = Pak::parse(&zip[..]).unwrap();
    let mut other = again.clone();
    assert_eq!(other.compress(&all, 1, Default::default()).unwrap().changed, 0);
    assert!(!other.is_edited(), "what is as wanted is not touched");
    assert!(again.check(2).iter().all(|finding| !finding.is_error()));
}

#[test]
fn threads_do_not_change_the_result() {
    let files = (0..40).map(|at: usize| File::new(format!("{at}.txt"), format!("{at} ").repeat(at * 7)));
    let before = Zip::of(files).build();
    let all: Vec<usize> = (0..40).collect();
    let packed = |threads| {
        let mut pak = Pak::parse(&before[..]).unwrap();
        pak.compress(&all, threads, Default::default()).unwrap();
        bytes(&pak)
    };
    assert_eq!(packed(1), packed(7));
    let mut pak = Pak::parse(packed(2)).unwrap();
    pak.store(&all, 3).unwrap();
    // The date that the test's files have is kept as well.
    assert_eq!(bytes(&pak), before);
}

#[test]
fn a_consoles_pakfile_is_read_and_not_edited() {
    let file = |name: &str, pad| File { local_extra: vec![0; pad], ..File::new(name, format!("data of {name}")) };
    let comment = b"XZP2 2048\0\0\0\0".to_vec();
    let zip =
        Zip { is_console: true, comment, ..Zip::of([file("a", 1997), file("b/c.vmt", 12), file("d", 0)]) }.build();
    let mut pak = Pak::parse(&zip[..]).unwrap();
    assert!(pak.is_console());
    assert_eq!(&*pak.get(1).unwrap().data().unwrap(), b"data of b/c.vmt");
    assert_eq!(pak.check(1), []);
    let error = pak.add("e", &b""[..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.to_string(), "the pakfile is a console's (XZP2 2048): its files can be read but not edited");
    for result in [pak.remove(&[0]), pak.rename(0, "x"), pak.replace(0, &b""[..]), pak.store(&[0], 1).map(drop)] {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Refused);
    }
}

#[test]
fn names_that_no_engine_looks_for_are_refused() {
    let mut pak = Pak::new(b"");
    let long = "x".repeat(260);
    for name in ["", "/a", "\\a", "c:/a", "..", "a/../b", "a\\..\\b", "a\0b", "folder/", &long] {
        assert_eq!(pak.add(name, &b""[..]).unwrap_err().kind(), ErrorKind::Refused, "{name}");
    }
    assert!(!pak.is_edited());
    pak.add("caf\u{e9}\\A.b", &b""[..]).unwrap();
    assert_eq!(pak.rename(0, "..").unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(pak.replace(1, &b""[..]).unwrap_err().kind(), ErrorKind::NotFound);
}

/// With a search through all names for each file this would take minutes.
#[test]
fn many_names_take_linear_time() {
    let mut pak = Pak::new(b"");
    for index in 0..60_000 {
        pak.add(format!("materials/own/wall_{index}.vmt"), "").unwrap();
    }
    for index in 0..60_000 {
        pak.add(format!("Materials\\own\\wall_{index}.VMT"), "x").unwrap();
    }
    assert_eq!(pak.len(), 60_000);
    for index in 0..60_000 {
        pak.rename(index, format!("materials/own/floor_{index}.vmt")).unwrap();
    }
    assert_eq!(pak.one("materials/own/floor_7.vmt").unwrap(), 7);
    assert!(pak.find("materials/own/wall_7.vmt").is_empty());
}

proptest::proptest! {
    /// Whatever was edited, a name leads to the files that have it.
    #[test]
    fn lookups_follow_edits(edits in proptest::collection::vec((0_u8..6, 0_usize..6, 0_usize..6), 0..60)) {
        const NAMES: [&str; 6] = ["a.txt", "A.TXT", "b/c.vmt", "b\\C.vmt", "d.wav", "e"];
        let mut pak = Pak::new(b"");
        for (edit, one, two) in edits {
            let at = if pak.is_empty() { 0 } else { one % pak.len() };
            match edit {
                0 => drop(pak.add(NAMES[one], NAMES[two])),
                1 => drop(pak.remove(&[at])),
                2 => drop(pak.rename(at, NAMES[two])),
                3 => drop(pak.sort(bspkit::content::pak::Order::Size)),
                4 => drop(pak.replace(at, NAMES[two])),
                _ => pak = pak.clone(),
            }
            // More lookups than those that go through all names.
            for name in NAMES.iter().cycle().take(12) {
                let key = bspkit::content::pak::lookup_name(name);
                let has_name = |entry: &bspkit::content::pak::Entry<'_, '_>| bspkit::content::pak::lookup_name(entry.name()) == key;
                let expected: Vec<usize> = pak.iter().filter(has_name).map(|entry| entry.index()).collect();
                let mut found = pak.find(name);
                found.sort_unstable();
                proptest::prop_assert_eq!(found, expected);
            }
        }
    }
}

/// The flag of a name in UTF-8 is about the name: without it readers take the name for that of another code page.
#[test]
fn a_replaced_file_keeps_the_flag_of_its_name() {
    let name = "materials/\u{fc}.vmt";
    let files = vec![File { flags: 1 << 11, ..File::new(name, "old") }, File::new("b.txt", "old")];
    let mut pak = Pak::parse(Zip::of(files).build()).unwrap();
    [0, 1].into_iter().for_each(|index| pak.replace(index, "new").unwrap());
    let again = Pak::parse(pak.to_rope().unwrap().to_data().to_vec()).unwrap();
    let flags: Vec<u16> = again.iter().map(|file| file.record().flags).collect();
    let local: Vec<u16> = again.iter().map(|file| file.local().unwrap().flags).collect();
    assert_eq!((flags, local), (vec![1 << 11, 0], vec![1 << 11, 0]));
}
