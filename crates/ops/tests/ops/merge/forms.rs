//! How lumps and embedded files are stored: a change of that is one as any other.

use bspkit::content::pak::{Method, Order, Time};
use bspkit::dialect::Role;
use bspkit::file::SlotId;
use bspkit::{Bsp, Compression, Draft, Layout};

use super::{bytes, edited, merged, open, set};

type Edit = fn(&mut Draft<'static>);

/// What is stored of each embedded file: name, time, whether it is compressed, size.
fn files(map: &Bsp<'_>) -> Vec<(String, Time, bool, usize)> {
    let one = |file: bspkit::content::pak::Entry<'_, '_>| {
        (String::from_utf8_lossy(file.name()).into_owned(), file.time(), file.method() == Method::Lzma, file.size())
    };
    map.pak().unwrap().iter().map(one).collect()
}

const TIME: Time = Time { date: 0x42d4, time: 0x6000 };

/// Edits of how files are stored; none depends on another one.
const STORED: [Edit; 7] = [
    |draft| drop(draft.pak().unwrap().compress(&[0, 1, 2], 1, Default::default()).unwrap()),
    |draft| draft.pak().unwrap().set_time(&[0, 1], TIME).unwrap(),
    |draft| draft.pak().unwrap().sort(Order::Size).unwrap(),
    |draft| {
        let name = draft.pak().unwrap().get(1).unwrap().name().to_ascii_uppercase();
        draft.pak().unwrap().rename(1, name).unwrap();
    },
    |draft| draft.pak().unwrap().rename(1, "materials/own/moved.vmt").unwrap(),
    |draft| draft.pak().unwrap().replace(2, vec![b'x'; 600]).unwrap(),
    |draft| {
        let pak = draft.pak().unwrap();
        let index = pak.add("own/new.txt", vec![b'y'; 900]).unwrap();
        pak.compress(&[index], 1, Default::default()).unwrap();
        pak.set_time(&[index], TIME).unwrap();
    },
];

#[test]
fn how_files_are_stored_is_merged() {
    let base = open("source/room_v20");
    for (one, first) in STORED.iter().enumerate() {
        for (two, second) in STORED.iter().enumerate().filter(|(two, _)| *two != one) {
            // Both are names of the same file.
            if [3, 4].contains(&one) && [3, 4].contains(&two) {
                continue;
            }
            let (ours, theirs) = (edited(&base, Layout::Keep, first), edited(&base, Layout::Keep, second));
            let (map, conflicts) = merged(&base, &ours, &theirs);
            assert_eq!(conflicts, [""; 0], "{one} {two}");
            // The order last: indices of the other edits are those of the base.
            let (one_edit, other) = if one == 2 { (second, first) } else { (first, second) };
            let both = edited(&base, Layout::Keep, |draft| {
                one_edit(draft);
                other(draft);
            });
            let (mut found, mut expected) = (files(&map), files(&both));
            // A new file is nowhere in the order of the other side.
            if [one, two].contains(&2) && [one, two].iter().any(|edit| *edit >= 5) {
                found.sort();
                expected.sort();
            }
            assert_eq!(found, expected, "{one} {two}");
            assert!(map.pak().unwrap().check(1).iter().all(|finding| !finding.is_error()));
        }
    }
}

#[test]
fn a_file_that_both_sides_store_in_another_way_is_a_conflict() {
    let base = open("source/room_v20");
    let at = |time: Time| edited(&base, Layout::Keep, |draft| draft.pak().unwrap().set_time(&[0], time).unwrap());
    let (_, conflicts) = merged(&base, &at(TIME), &at(Time { date: 0x5000, time: 0 }));
    assert!(conflicts.len() == 1 && conflicts[0].contains("how"), "{conflicts:?}");
    let sorted = |order| edited(&base, Layout::Keep, |draft| draft.pak().unwrap().sort(order).unwrap());
    let [by_name, by_size] = [sorted(Order::Name), sorted(Order::Size)];
    let (_, conflicts) = merged(&base, &by_name, &by_size);
    let is_moved = |map: &Bsp<'_>| files(map) != files(&base);
    assert_eq!(conflicts.len(), usize::from(is_moved(&by_name) && is_moved(&by_size)), "{conflicts:?}");
}

/// A lump is compressed as the side has it that changed that, whichever side changes its content.
#[test]
fn the_compression_of_lumps_is_merged() {
    let unpack: Edit = |draft| {
        let slots: Vec<_> = draft.bsp().slots().iter().map(|slot| slot.id).collect();
        slots.into_iter().for_each(|slot| _ = draft.set_compression(slot, Compression::Raw));
    };
    let pack: Edit = |draft| drop(bspkit::compress::compress(draft, &Default::default()).unwrap());
    for (name, form) in [("source/room_v20_lzma", unpack), ("source/room_v20", pack)] {
        let base = open(name);
        let stored = edited(&base, Layout::Keep, form);
        let content: Edit = |draft| set(draft, 0, "message", "something else");
        let changed = edited(&base, Layout::Keep, content);
        let both = edited(&stored, Layout::Keep, content);
        for (ours, theirs) in [(&stored, &changed), (&changed, &stored)] {
            let (map, conflicts) = merged(&base, ours, theirs);
            assert_eq!(conflicts, [""; 0], "{name}");
            for (slot, twin) in map.slots().iter().zip(both.slots()) {
                assert_eq!(map.bytes(slot.id).unwrap(), both.bytes(twin.id).unwrap(), "{name} {}", slot.name);
                let [found, expected] = [&map, &both].map(|map| map.draft().compression(slot.id));
                assert_eq!(found, expected, "{name} {}", slot.name);
            }
        }
    }
}

/// A file whose checksum is that of other bytes is not taken for the one that was moved.
#[test]
fn a_moved_file_is_known_by_its_bytes() {
    let base = open("source/room_v20");
    let moved = edited(&base, Layout::Keep, |draft| draft.pak().unwrap().rename(2, "own/moved.txt").unwrap());
    let slot = moved.slot("pakfile").unwrap().id;
    let mut bytes = moved.bytes(slot).unwrap().to_vec();
    let at = moved.pak().unwrap().get(2).unwrap().stored_range().unwrap().start;
    bytes[at] ^= 1;
    let theirs = edited(&moved, Layout::Keep, |draft| draft.set(slot, bytes).unwrap());
    let ours = edited(&base, Layout::Keep, STORED[0]);
    let (map, conflicts) = merged(&base, &ours, &theirs);
    assert_eq!(conflicts, [""; 0]);
    let data = |map: &Bsp<'_>| {
        let pak = map.pak().unwrap();
        pak.get(pak.one("own/moved.txt").unwrap()).unwrap().data().unwrap().to_vec()
    };
    assert_eq!(data(&map), data(&theirs));
}

#[test]
fn a_game_lump_that_one_side_cuts_is_merged_alike_from_both_sides() {
    let base = open("source/room_v20");
    let lump = base.role(Role::GameLump).unwrap().id;
    let members: Vec<_> = base.slots().iter().filter(|slot| matches!(slot.id, SlotId::Game(_))).collect();
    let list = 4 + 16 * members.len();
    for length in [list, list + 200, base.bytes(lump).unwrap().len() - 1] {
        let cut = edited(&base, Layout::Keep, |draft| {
            let bytes = draft.bytes(lump).unwrap()[..length].to_vec();
            draft.set(lump, bytes).unwrap();
        });
        for member in &members {
            let changed = edited(&base, Layout::Keep, |draft| {
                let mut bytes = draft.bytes(member.id).unwrap().to_vec();
                *bytes.last_mut().unwrap() ^= 1;
                draft.set(member.id, bytes).unwrap();
            });
            let [one, other] = [(&cut, &changed), (&changed, &cut)].map(|(ours, theirs)| merged(&base, ours, theirs));
            assert_eq!(one.1.len(), other.1.len(), "{length} {}: {:?} {:?}", member.name, one.1, other.1);
            assert!(!one.1.is_empty() || bytes(&one.0) == bytes(&other.0), "{length} {}", member.name);
        }
    }
}
