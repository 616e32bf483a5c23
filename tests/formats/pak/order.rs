//! New names for many files, times, and orders: what is not meant keeps its bytes.

use bspkit::content::pak::{Moves, Order, Pak, Time, lookup_name};
use proptest::prelude::*;

use super::built::zips;
use super::faults::delicate;
use super::law::{compare, unedited};
use super::random;
use super::zip::{self, File, Zip};

const SEEDS: &str = "tests/proptest-regressions/pak.txt";

fn names(pak: &Pak<'_>) -> Vec<String> {
    pak.iter().map(|entry| String::from_utf8_lossy(entry.name()).into_owned()).collect()
}

fn pak_of(names: &[&str]) -> Pak<'static> {
    Pak::parse(Zip::of(names.iter().map(|name| File::new(name, name))).build()).unwrap()
}

/// All moves of the files that a pattern matches.
fn moves(pak: &Pak<'_>, old: &str, new: &str) -> Vec<(usize, Vec<u8>)> {
    let moves = Moves::new(old, new).unwrap();
    pak.iter().filter_map(|entry| Some((entry.index(), moves.apply(entry.name())?))).collect()
}

#[test]
fn wildcards_in_the_new_name_are_those_of_the_old_one() {
    for (old, new, name, moved) in [
        ("a/*", "b/*", "a/x.vmt", Some("b/x.vmt")),
        ("a/*", "b/*", "a/c/x.vmt", None),
        ("a/**", "b/**", "A\\C\\x.vmt", Some("b/C\\x.vmt")),
        ("a/*_?.v*", "b/{3}/{1}-{2}", "a/wall_1.vmt", Some("b/mt/wall-1")),
        ("a/*_?.v*", "b/*-?.*", "a/wall_1.vmt", Some("b/wall-1.mt")),
        ("**", "x/**", "a/b", Some("x/a/b")),
        ("**/old/**", "**/new/**", "materials/old/a/b.vmt", Some("materials/new/a/b.vmt")),
        ("**/old.txt", "**/new.txt", "old.txt", Some("new.txt")),
        ("a/**", "**/b", "a/c/d", Some("c/d/b")),
        ("*.txt", "*.cfg", "a/b/x.TXT", Some("a/b/x.cfg")),
        ("*.txt", "cfg/*.cfg", "a/b/x.txt", Some("cfg/x.cfg")),
        ("a/*", "b/all", "a/x", Some("b/all")),
        ("*", "x-*", "a/b", Some("a/x-b")),
        // After `=` there is a name, and the new one is as it is written.
        ("=*.txt", "x*.txt", "*.TXT", Some("x*.txt")),
        ("=*.txt", "{1}", "a.txt", None),
        ("=*.txt", "n.txt", "d/*.txt", None),
        ("=*.txt", "d/{1}", "*.txt", Some("d/{1}")),
    ] {
        let found = Moves::new(old, new).unwrap().apply(name.as_bytes());
        assert_eq!(found, moved.map(|name| name.as_bytes().to_vec()), "{old} {new} {name}");
    }
    assert!(
        Moves::new("a/*", "b/*/*").is_err() && Moves::new("*/*", "b/*").is_err() && Moves::new("a/*", "{2}").is_err()
    );
}

#[test]
fn files_swap_their_names_at_once() {
    let mut pak = pak_of(&["a/1", "b/1", "a/2", "c"]);
    let both = [moves(&pak, "a/*", "b/*"), moves(&pak, "b/*", "a/*")].concat();
    let before = pak.to_rope().unwrap().to_data().to_vec();
    pak.rename_all(&both).unwrap();
    assert_eq!(names(&pak), ["b/1", "a/1", "b/2", "c"]);
    let after = pak.to_rope().unwrap().to_data().to_vec();
    let data: Vec<_> = pak.iter().map(|entry| entry.data().unwrap().to_vec()).collect();
    assert_eq!(data, [&b"a/1"[..], b"b/1", b"a/2", b"c"]);
    // Back again is no edit.
    let back = [moves(&pak, "a/*", "b/*"), moves(&pak, "b/*", "a/*")].concat();
    pak.rename_all(&back).unwrap();
    assert!(!pak.is_edited());
    let mut again = Pak::parse(after).unwrap();
    again.rename_all(&back).unwrap();
    assert_eq!(again.to_rope().unwrap().to_data()[..], before[..]);
}

#[test]
fn all_names_in_use_are_listed_and_nothing_changes() {
    let mut pak = pak_of(&["a/1.vmt", "a/2.vmt", "a/3.vmt", "b/1.vmt", "B\\2.VMT"]);
    let error = pak.rename_all(&moves(&pak, "a/*", "b/*")).unwrap_err();
    assert!(error.to_string().starts_with("2 new names are in use"), "{error}");
    let hint = error.hint().unwrap().to_string();
    assert_eq!(
        hint.lines().collect::<Vec<_>>(),
        [
            "`b/1.vmt` for `a/1.vmt`: file #3, `b/1.vmt`, has that name",
            r"`b/2.vmt` for `a/2.vmt`: file #4, `B\\2.VMT`, has that name",
        ]
    );
    let error = pak.rename_all(&moves(&pak, "a/*", "c")).unwrap_err();
    assert!(error.hint().unwrap().to_string().contains("file #0, `a/1.vmt`, would also have that name"), "{error:?}");
    assert!(!pak.is_edited());
    // Names that were the same before are no reason to refuse other moves.
    let mut twins = Pak::parse(delicate().build()).unwrap();
    twins.rename_all(&[(0, b"other.vmt".to_vec())]).unwrap();
    assert!(twins.rename_all(&[(3, b"B.vmt".to_vec())]).is_err());
}

#[test]
fn a_time_changes_nothing_else() {
    let before = delicate().build();
    let mut pak = Pak::parse(&before[..]).unwrap();
    let time = Time::parse("2013-06-20T12:34:56").unwrap();
    pak.set_time(&[0, 2], time).unwrap();
    assert_eq!((pak.get(0).unwrap().time(), pak.get(2).unwrap().time()), (time, time));
    let after = pak.to_rope().unwrap().to_data().to_vec();
    let mut expected = unedited(&pak);
    for index in [0, 2] {
        expected[index].as_before = None;
    }
    compare(&before, &after, &expected).unwrap();
    let (old, new) = (zip::parts(&before).unwrap(), zip::parts(&after).unwrap());
    for index in [0, 2] {
        let (mut local, mut central) = (old.files[index].local.clone(), old.files[index].central.clone());
        let words = [time.time.to_le_bytes(), time.date.to_le_bytes()].concat();
        local[10..14].copy_from_slice(&words);
        central[12..16].copy_from_slice(&words);
        assert_eq!((&new.files[index].local, &new.files[index].central), (&local, &central));
    }
    // The old time again is the old file.
    for index in [0, 2] {
        let old = Pak::parse(&before[..]).unwrap().get(index).unwrap().time();
        pak.set_time(&[index], old).unwrap();
    }
    assert!(!pak.is_edited());
}

/// The index of each file in the sorted order, found by sorting pairs of names and numbers.
fn sorted(pak: &Pak<'_>, order: Order) -> Vec<Vec<u8>> {
    let mut keys: Vec<(Vec<u8>, Vec<u8>, usize)> = Vec::new();
    for entry in pak.iter() {
        let name = lookup_name(entry.name());
        let last = name.rsplit(|byte| *byte == b'/').next().unwrap().to_vec();
        let extension = last.rsplitn(2, |byte| *byte == b'.').next().filter(|it| it.len() < last.len());
        let key = match order {
            Order::Type => extension.unwrap_or_default().to_vec(),
            Order::Size => (entry.size() as u32).to_be_bytes().to_vec(),
            _ => Vec::new(),
        };
        keys.push((key, name, entry.index()));
    }
    keys.sort();
    keys.into_iter().map(|(_, name, _)| name).collect()
}

/// The records of each file, local and in the directory, and the bytes that belong to no file.
type Contents = (Vec<[Vec<u8>; 2]>, [Vec<u8>; 3]);

/// What the files of a zip are, without their places.
fn contents(zip: &[u8]) -> Contents {
    let parts = zip::parts(zip).unwrap();
    let mut files: Vec<_> = parts.files.into_iter().map(|file| [file.local, file.central]).collect();
    files.sort();
    let mut gaps = parts.gaps;
    gaps.sort_unstable();
    (files, [gaps, parts.before_end, parts.end])
}

fn is_in_order(zip: &[u8]) -> bool {
    let offsets = Pak::parse(zip).unwrap().iter().map(|entry| entry.record().local_offset).collect::<Vec<_>>();
    offsets.is_sorted()
}

proptest! {
    #![proptest_config(random::config(300, SEEDS))]

    #[test]
    fn an_order_changes_only_places(zip in zips(), number in 0..3_usize, has_new: bool, is_less: bool) {
        let order = [Order::Name, Order::Type, Order::Size][number];
        let mut pak = Pak::parse(zip.build()).unwrap();
        if has_new {
            let _ = pak.add("M/new.vmt", "new file");
        }
        if is_less && !pak.is_empty() {
            pak.remove(&[0]).unwrap();
        }
        let Ok(before) = pak.to_rope().map(|rope| rope.to_data().to_vec()) else { return Ok(()) };
        let wanted = sorted(&pak, order);
        let twins = |pak: &Pak<'_>, name: &[u8]| -> Vec<Vec<u8>> {
            let twins = pak.iter().filter(|entry| lookup_name(entry.name()) == name);
            twins.map(|entry| [entry.name(), &entry.crc().to_le_bytes()].concat()).collect()
        };
        let twins_before: Vec<_> = wanted.iter().map(|name| twins(&pak, name)).collect();
        pak.sort(order).unwrap();
        let Ok(after) = pak.to_rope().map(|rope| rope.to_data().to_vec()) else {
            prop_assert!(zip.has_two_lengths());
            return Ok(());
        };
        let found: Vec<_> = pak.iter().map(|entry| lookup_name(entry.name())).collect();
        if !has_twins(&wanted) {
            prop_assert_eq!(&found, &wanted);
            if !zip.has_two_lengths() {
                prop_assert!(is_in_order(&after));
            }
        }
        let twins_after: Vec<_> = wanted.iter().map(|name| twins(&pak, name)).collect();
        prop_assert_eq!(twins_before, twins_after);
        if !zip.has_two_lengths() {
            prop_assert_eq!(contents(&before), contents(&after));
        }
        let mut again = Pak::parse(after.clone()).unwrap();
        again.sort(order).unwrap();
        if let Ok(rope) = again.to_rope() {
            prop_assert!(rope == after[..]);
        } else {
            prop_assert!(zip.has_two_lengths());
        }
    }
}

fn has_twins(sorted: &[Vec<u8>]) -> bool {
    sorted.iter().collect::<std::collections::HashSet<_>>().len() < sorted.len()
}

/// What the comparison above is for: a byte that changes on the way is seen.
#[test]
fn a_fault_of_a_writer_is_seen() {
    let before = delicate().build();
    let mut pak = Pak::parse(&before[..]).unwrap();
    pak.sort(Order::Size).unwrap();
    let right = pak.to_rope().unwrap().to_data().to_vec();
    assert_eq!(contents(&before), contents(&right));
    assert!(right != before);
    let directory = zip::word(&right, right.windows(4).rposition(|it| it == b"PK\x05\x06").unwrap() + 16);
    for (what, at) in [("a time", directory + 12), ("a CRC", directory + 16), ("data", 40), ("a gap", directory - 1)] {
        let mut wrong = right.clone();
        wrong[at] ^= 1;
        assert!(contents(&before) != contents(&wrong), "{what}");
    }
}

#[test]
fn what_is_in_order_is_no_edit() {
    let mut pak = pak_of(&["a.vmt", "b.vmt", "c.vtf"]);
    for order in [Order::Name, Order::Type, Order::Size] {
        pak.sort(order).unwrap();
        assert!(!pak.is_edited());
    }
    let mut pak = pak_of(&["b.vtf", "a.vtf", "c.vmt"]);
    pak.sort(Order::Type).unwrap();
    assert_eq!(names(&pak), ["c.vmt", "a.vtf", "b.vtf"]);
    let after = pak.to_rope().unwrap().to_data().to_vec();
    let expected = Zip::of(["c.vmt", "a.vtf", "b.vtf"].map(|name| File::new(name, name))).build();
    assert_eq!(after, expected);
}

/// Zip tools write entries of folders; what moves the files moves them too.
#[test]
fn the_entry_of_a_folder_gets_a_new_name() {
    let zip = Zip::of([File::new("maps/alpha/", ""), File::new("maps/alpha/x.vmt", "x")]).build();
    let mut pak = Pak::parse(zip).unwrap();
    pak.rename_all(&[(0, b"maps/beta/".to_vec()), (1, b"maps/beta/x.vmt".to_vec())]).unwrap();
    assert_eq!(names(&pak), ["maps/beta/", "maps/beta/x.vmt"]);
    assert!(pak.rename_all(&[(1, b"maps/beta/y/".to_vec())]).is_err(), "a file does not become a folder");
    assert!(pak.rename_all(&[(0, b"../".to_vec())]).is_err());
}
