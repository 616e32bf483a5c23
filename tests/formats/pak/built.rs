//! Random edits of random zips.

use bspkit::content::pak::{Method, Pak};
use bspkit::dialect::{self, Role};
use bspkit::verify;
use bspkit::{Bsp, Builder, ErrorKind, Layout};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::law::{self, Expected};
use super::random;
use super::zip::{File, Zip};

const SEEDS: &str = "tests/proptest-regressions/pak.txt";

#[derive(Clone, Debug)]
enum Edit {
    Add(Vec<u8>, Vec<u8>),
    Replace(Index, Vec<u8>),
    /// With the bytes that it has.
    Same(Index),
    Remove(Vec<Index>),
    Rename(Index, Vec<u8>),
    Compress(Vec<Index>, usize),
    Store(Vec<Index>),
}

fn names() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => "[abAB]{1,2}([/\\\\][cdC]{1,2}){0,2}\\.(vmt|wav|txt)".prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..12),
        1 => Just(b"../up".to_vec()),
    ]
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => vec(any::<u8>(), 0..40),
        1 => Just(Vec::new()),
        2 => ("[a-c ]{1,9}", 1..60_usize).prop_map(|(text, times)| text.repeat(times).into_bytes()),
    ]
}

fn files() -> impl Strategy<Value = File> {
    let bits = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let small = || vec(any::<u8>(), 0..5);
    (names(), data(), any::<u16>(), small(), small(), small(), any::<u32>(), bits).prop_map(
        |(name, data, time, extra, comment, gap, attributes, (is_plain, is_stale, is_packed, has_both, has_gap))| {
            let mut file = File::new(name, &data);
            if is_packed && !data.is_empty() {
                let packed = bspkit::file::lzma::compress(&data, Default::default()).unwrap();
                file.stored = [b"\x15\x03\x05\0", &packed[12..]].concat();
                file.method = 14;
            }
            if is_plain {
                return file;
            }
            (file.time, file.attributes, file.comment) = (time, attributes, comment);
            file.central_extra = extra.clone();
            file.local_extra = if has_both { extra } else { Vec::new() };
            if is_stale {
                file.crc ^= 1;
            }
            if has_gap {
                file.gap = gap;
            }
            file
        },
    )
}

pub(crate) fn zips() -> impl Strategy<Value = Zip> {
    let comments = prop_oneof![Just(Vec::new()), Just(vec![0; 4]), Just(Pak::XZP1.to_vec())];
    let small = || prop_oneof![3 => Just(Vec::new()), 1 => vec(any::<u8>(), 0..5)];
    (vec(files(), 0..7), comments, small(), small(), small(), any::<bool>()).prop_map(
        |(files, comment, gap_before_directory, gap_before_end, behind, is_reversed)| {
            let order = if is_reversed { (0..files.len()).rev().collect() } else { Vec::new() };
            Zip { files, order, gap_before_directory, gap_before_end, comment, behind, is_console: false }
        },
    )
}

fn edits() -> impl Strategy<Value = Edit> {
    let index = any::<Index>;
    prop_oneof![
        (names(), data()).prop_map(|(name, data)| Edit::Add(name, data)),
        (index(), data()).prop_map(|(index, data)| Edit::Replace(index, data)),
        index().prop_map(Edit::Same),
        vec(index(), 1..3).prop_map(Edit::Remove),
        (index(), names()).prop_map(|(index, name)| Edit::Rename(index, name)),
        (vec(index(), 0..4), 1..3_usize).prop_map(|(indices, threads)| Edit::Compress(indices, threads)),
        vec(index(), 0..4).prop_map(Edit::Store),
    ]
}

/// Makes an edit, and in the list of what is expected as well.
fn apply(pak: &mut Pak<'_>, expected: &mut Vec<Expected>, edit: &Edit) {
    let len = pak.len();
    let fresh = |name: &[u8], data: &[u8]| Expected { as_before: None, name: name.into(), data: Some(data.into()) };
    let replace = |expected: &mut Vec<Expected>, at: usize, new: &[u8]| {
        if expected[at].data.as_deref() != Some(new) {
            expected[at] = fresh(&expected[at].name.clone(), new);
        }
    };
    match edit {
        Edit::Add(name, data) => match pak.add(name, data.clone()) {
            Ok(at) if at == len => expected.push(fresh(name, data)),
            Ok(at) => replace(expected, at, data),
            Err(_) => {}
        },
        Edit::Replace(at, data) if len > 0 => {
            pak.replace(at.index(len), data.clone()).unwrap();
            replace(expected, at.index(len), data);
        }
        Edit::Same(at) if len > 0 => {
            if let Ok(data) = pak.get(at.index(len)).unwrap().data() {
                pak.replace(at.index(len), data.to_vec()).unwrap();
            }
        }
        Edit::Remove(indices) if len > 0 => {
            let mut indices: Vec<usize> = indices.iter().map(|at| at.index(len)).collect();
            pak.remove(&indices).unwrap();
            indices.sort_unstable();
            indices.dedup();
            indices.into_iter().rev().for_each(|at| drop(expected.remove(at)));
        }
        Edit::Rename(at, name) if len > 0 => {
            let at = at.index(len);
            if pak.rename(at, name).is_ok() && expected[at].name != *name {
                expected[at] = Expected { as_before: None, name: name.clone(), data: expected[at].data.clone() };
            }
        }
        Edit::Compress(indices, _) | Edit::Store(indices) if len > 0 => {
            let indices: Vec<usize> = indices.iter().map(|at| at.index(len)).collect();
            let methods = |pak: &Pak<'_>| -> Vec<Method> { pak.iter().map(|entry| entry.method()).collect() };
            let before = methods(pak);
            match edit {
                Edit::Compress(_, threads) => pak.compress(&indices, *threads, Default::default()).unwrap(),
                _ => pak.store(&indices, 1).unwrap(),
            };
            let changed = before.into_iter().zip(methods(pak)).map(|(before, after)| before != after);
            for (expected, _) in expected.iter_mut().zip(changed).filter(|(_, changed)| *changed) {
                expected.as_before = None;
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(random::config(500, SEEDS))]

    #[test]
    fn untouched_files_keep_their_bytes(zip in zips(), edits in vec(edits(), 1..8)) {
        let before = zip.build();
        let mut pak = Pak::parse(&before[..]).unwrap();
        prop_assert!(pak.to_rope().unwrap() == before[..]);
        let mut expected = law::unedited(&pak);
        for edit in &edits {
            apply(&mut pak, &mut expected, edit);
            let after = match pak.to_rope() {
                Ok(rope) => rope.to_data(),
                Err(error) => {
                    prop_assert!(zip.has_two_lengths() && error.kind() == ErrorKind::Refused, "{error:?}");
                    return Ok(());
                }
            };
            prop_assert_eq!(law::compare(&before, &after, &expected), Ok(()), "{:?}", edit);
        }
        // Nobody's bytes are copied before they are written.
        let _ = pak.check(2);
    }

    #[test]
    fn all_other_slots_keep_theirs(zip in zips(), edits in vec(edits(), 1..4), is_last: bool, is_empty: bool) {
        let bytes = if is_empty { Vec::new() } else { zip.build() };
        let order: &[usize] = if is_last { &[1, 0, 35, 40] } else { &[1, 40, 0, 14, 35] };
        let builder = Builder::new(&dialect::SOURCE).lump(1, [1; 40]).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0");
        let builder = builder.lump(14, [3; 48]).lump(40, bytes).game_lump(*b"sprp", 6, [5; 9]).order(order);
        let file = builder.build().unwrap();
        let map = Bsp::parse(&file).unwrap();
        let slot = map.role(Role::Pak).unwrap().id;
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            let mut draft = map.draft();
            let mut expected = law::unedited(&map.pak().unwrap());
            edits.iter().for_each(|edit| apply(draft.pak().unwrap(), &mut expected, edit));
            let Ok(new) = draft.bytes(slot) else {
                prop_assert!(zip.has_two_lengths());
                return Ok(());
            };
            let saved = draft.plan(layout).unwrap().to_vec();
            prop_assert_eq!(verify::compare(&map, &saved, Some(layout), Some((slot, &new))), Ok(()));
            let names = |pak: &Pak<'_>| pak.iter().map(|entry| entry.name().to_vec()).collect::<Vec<_>>();
            let wanted: Vec<_> = expected.into_iter().map(|file| file.name).collect();
            prop_assert_eq!(names(&Bsp::parse(&saved).unwrap().pak().unwrap()), wanted);
        }
    }

    #[test]
    fn damage_never_panics(
        zip in zips(),
        flips in vec((any::<Index>(), any::<u8>()), 0..9),
        cut: Option<Index>,
        is_console: bool,
        edits in vec(edits(), 0..4),
    ) {
        let comment = if is_console { b"XZP2 2048".to_vec() } else { zip.comment.clone() };
        let mut bytes = Zip { is_console, comment, ..zip }.build();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(mut pak) = Pak::parse(bytes.clone()) {
            let _ = pak.check(1);
            prop_assert!(pak.to_rope().unwrap() == bytes[..]);
            for edit in &edits {
                let len = pak.len();
                let _ = match edit {
                    Edit::Replace(at, data) if len > 0 => pak.replace(at.index(len), data.clone()),
                    Edit::Remove(at) if len > 0 => pak.remove(&[at[0].index(len)]),
                    Edit::Rename(at, name) if len > 0 => pak.rename(at.index(len), name),
                    Edit::Add(name, data) => pak.add(name, data.clone()).map(drop),
                    Edit::Compress(..) => pak.compress(&(0..len).collect::<Vec<_>>(), 1, Default::default()).map(drop),
                    Edit::Store(..) => pak.store(&(0..len).collect::<Vec<_>>(), 1).map(drop),
                    _ => Ok(()),
                };
                if let Ok(rope) = pak.to_rope() {
                    let again = Pak::parse(rope.to_data()).unwrap();
                    prop_assert_eq!(again.len(), pak.len());
                    for (one, other) in again.iter().zip(pak.iter()) {
                        prop_assert_eq!(one.name(), other.name());
                        if let Ok(data) = other.data() {
                            prop_assert_eq!(&*one.data().unwrap(), &*data);
                        }
                    }
                }
            }
        }
    }
}
