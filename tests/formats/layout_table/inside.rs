//! Rows 13 and 14: how a slot is stored, and the blocks that are laid again inside.

use bspkit::bytes::ByteOrder;
use bspkit::dialect::{self, Role};
use bspkit::verify;
use bspkit::{Bsp, Builder, Compression, ErrorKind, Layout, SlotId};

use super::{assert_sound, sandwich, source_family, text, with_entities};

#[test]
fn row_13_what_was_compressed_is_compressed_again() {
    for dialect in source_family() {
        let builder = sandwich(dialect, &text(49)).compressed_lump(0, &text(400)).unwrap();
        let bytes = builder.build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        assert_eq!(*map.bytes(SlotId::Lump(0)).unwrap(), *text(400), "{}", dialect.name);
        let saved = with_entities(&map, text(700), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        let slot = new.role(Role::Entities).unwrap();
        assert_eq!(slot.unpacked, Some(700));
        assert!(slot.stored.len() < 300);
        // The dictionary is 2^24, on consoles 2^18.
        let dictionary = if new.byte_order() == ByteOrder::Big { [0, 0, 4, 0] } else { [0, 0, 0, 1] };
        assert_eq!(saved[slot.stored.start + 12..][..5], [[0x5D].as_slice(), &dictionary].concat());
        assert_sound(&map, &saved, Layout::Keep, &text(700));
        // The same text is no edit, though an encoder would give other bytes.
        assert!(with_entities(&map, text(400), Layout::Keep).unwrap().is_identity());
    }
}

#[test]
fn row_14_the_game_lump_is_laid_again_inside() {
    for dialect in source_family() {
        let builder = sandwich(dialect, &text(49))
            .game_lump(*b"sprp", 6, [5; 9])
            .compressed_game_lump(*b"dprp", 4, &[6; 200])
            .unwrap()
            .game_lump(*b"dplt", 0, [7; 6])
            .game_lump_end()
            .lump(40, [9; 22]);
        let bytes = builder.build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let lump = map.role(Role::GameLump).unwrap().clone();
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            for length in [9, 3, 22, 0] {
                let mut draft = map.draft();
                draft.set(map.slot("game:sprp").unwrap().id, vec![8; length]).unwrap();
                let saved = draft.plan(layout).unwrap().to_vec();
                let new = Bsp::parse(&saved).unwrap();
                assert_eq!(*new.bytes(new.slot("game:sprp").unwrap().id).unwrap(), vec![8; length]);
                for name in ["game:dprp", "game:dplt", "PAKFILE", "ENTITIES"] {
                    let (before, after) = (map.slot(name).unwrap(), new.slot(name).unwrap());
                    assert_eq!(*map.stored(before.id), *new.stored(after.id), "{name}");
                }
                // As tight as they were.
                let [sprp, dprp, dplt] = ["game:sprp", "game:dprp", "game:dplt"].map(|it| new.slot(it).unwrap());
                assert_eq!(usize::try_from(dprp.offset).unwrap(), usize::try_from(sprp.offset).unwrap() + length);
                assert_eq!(dplt.stored.start, dprp.stored.end);
                assert_eq!(new.role(Role::GameLump).unwrap().stored.end, dplt.stored.end);
                if layout == Layout::Keep {
                    assert_eq!(new.role(Role::GameLump).unwrap().offset, lump.offset);
                }
            }
        }
        let mut draft = map.draft();
        draft.set(map.slot("game:dprp").unwrap().id, vec![1; 333]).unwrap();
        let saved = draft.plan(Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(*new.bytes(new.slot("game:dprp").unwrap().id).unwrap(), [1; 333]);
        assert_eq!(new.decompressed_size(new.slot("game:dprp").unwrap().id), Some(333));
    }
}

#[test]
fn row_13_a_slot_may_be_packed_and_unpacked() {
    for dialect in source_family() {
        let bytes = sandwich(dialect, &text(400)).lump_version(0, 7).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let entities = SlotId::Lump(0);
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            let mut draft = map.draft();
            draft.set_compression(entities, Compression::Lzma).unwrap();
            assert_eq!(draft.compression(entities), Compression::Lzma);
            assert_eq!(draft.changes().unwrap(), [entities]);
            let saved = draft.plan(layout).unwrap().to_vec();
            let packed = Bsp::parse(&saved).unwrap();
            let slot = packed.slot("ENTITIES").unwrap();
            assert_eq!((slot.unpacked, slot.version), (Some(400), Some(7)), "{}", dialect.name);
            assert_eq!(*packed.bytes(entities).unwrap(), *text(400));
            for other in ["PLANES", "MODELS", "FACES"] {
                let id = map.slot(other).unwrap().id;
                assert_eq!(*packed.stored(id), *map.stored(id));
            }
            let mut draft = packed.draft();
            draft.set_compression(entities, Compression::Raw).unwrap();
            let saved = draft.plan(layout).unwrap().to_vec();
            let raw = Bsp::parse(&saved).unwrap();
            assert_eq!(raw.slot("ENTITIES").unwrap().unpacked, Some(0));
            assert_eq!(*raw.stored(entities), *text(400));
            if layout == Layout::Keep {
                assert_eq!(saved, bytes, "it fits where it was");
            }
        }
        // What is taken back, or is so already, is no edit.
        let mut draft = map.draft();
        draft.set_compression(entities, Compression::Raw).unwrap();
        assert!(draft.changes().unwrap().is_empty());
        draft.set_compression(entities, Compression::Lzma).unwrap();
        draft.set_compression(entities, Compression::Raw).unwrap();
        assert!(draft.plan(Layout::Keep).unwrap().is_identity());
        draft.set_compression(entities, Compression::Lzma).unwrap();
        draft.revert(entities);
        assert!(draft.plan(Layout::Keep).unwrap().is_identity());
    }
}

#[test]
fn row_13_new_bytes_are_stored_as_asked_for() {
    for dialect in source_family() {
        let bytes = sandwich(dialect, &text(400)).compressed_lump(1, &[1; 80]).unwrap().build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let [entities, planes] = [0, 1].map(SlotId::Lump);
        let saved = |edit: &dyn Fn(&mut bspkit::Draft<'_>)| {
            let mut draft = map.draft();
            edit(&mut draft);
            draft.plan(Layout::Keep).unwrap().to_vec()
        };
        let way_1 = saved(&|draft| {
            draft.set_compression(entities, Compression::Lzma).unwrap();
            draft.set_compression(planes, Compression::Raw).unwrap();
            draft.set(entities, text(300)).unwrap();
            draft.set(planes, vec![9; 60]).unwrap();
        });
        let way_2 = saved(&|draft| {
            draft.set(entities, text(300)).unwrap();
            draft.set(planes, vec![9; 60]).unwrap();
            draft.set_compression(entities, Compression::Lzma).unwrap();
            draft.set_compression(planes, Compression::Raw).unwrap();
        });
        assert_eq!(way_1, way_2, "{}", dialect.name);
        let new = Bsp::parse(&way_1).unwrap();
        assert_eq!((new.decompressed_size(entities), new.decompressed_size(planes)), (Some(300), None));
        assert_eq!(*new.bytes(entities).unwrap(), *text(300));
        assert_eq!((&*new.stored(planes), new.slots()[1].unpacked), (&[9; 60][..], Some(0)));

        // Nothing is never compressed.
        let emptied = saved(&|draft| {
            draft.set_compression(entities, Compression::Lzma).unwrap();
            draft.set(entities, Vec::new()).unwrap();
        });
        let slot = Bsp::parse(&emptied).unwrap().slots()[0].clone();
        assert_eq!((slot.length, slot.unpacked), (0, Some(0)));
        // Edits of the text find their way too, and back.
        let same = saved(&|draft| {
            draft.set_compression(entities, Compression::Lzma).unwrap();
            let text = draft.entities().unwrap();
            text.get_mut(0).unwrap().set("a", "b").unwrap();
            text.get_mut(0).unwrap().unset("a").unwrap();
        });
        assert_eq!(same, saved(&|draft| draft.set_compression(entities, Compression::Lzma).unwrap()));
    }
    for dialect in dialect::ALL {
        let bytes = sandwich(dialect, &text(49))
            .lump(if dialect.rules.game_lump.is_some() { 35 } else { 2 }, [0; 4])
            .build()
            .unwrap();
        let mut draft = Bsp::parse(&bytes).unwrap().draft();
        let whole = SlotId::Lump(if dialect.rules.game_lump.is_some() { 35 } else { 0 });
        assert_eq!(
            draft.set_compression(whole, Compression::Lzma).unwrap_err().kind(),
            ErrorKind::Refused,
            "{}",
            dialect.name
        );
    }
}

#[test]
fn row_14_the_first_compressed_member_ends_the_list() {
    for dialect in source_family() {
        let builder = sandwich(dialect, &text(49))
            .game_lump(*b"sprp", 6, [5; 300])
            .game_lump(*b"dprp", 4, [6; 100])
            .game_lump(*b"dplt", 0, [])
            .lump(40, [9; 22]);
        for (ended, builder) in [(false, builder.clone()), (true, builder.game_lump_end().game_lump_end())] {
            let bytes = builder.build().unwrap();
            let map = Bsp::parse(&bytes).unwrap();
            let before = map.role(Role::GameLump).unwrap();
            for (layout, name) in [(Layout::Keep, "sprp"), (Layout::Append, "dprp"), (Layout::Repack, "sprp")] {
                let name = format!("game:{name}");
                let mut draft = map.draft();
                draft.set_compression(map.slot(&name).unwrap().id, Compression::Lzma).unwrap();
                let saved = draft.plan(layout).unwrap().to_vec();
                let new = Bsp::parse(&saved).unwrap();
                let (lump, members) = (new.role(Role::GameLump).unwrap(), new.slots().len() - dialect.lumps.len());
                assert_eq!(members, if ended { 5 } else { 4 }, "{}", dialect.name);
                let is_big = new.byte_order() == ByteOrder::Big;
                assert_eq!(saved[lump.stored.start + if is_big { 3 } else { 0 }], u8::try_from(members).unwrap());
                // The last entry is all zero, but that on consoles it says where the last member ends; bit 0 of the flags
                // of one is set; its length is that of its bytes.
                let entry = |index: usize| &saved[lump.stored.start + 4 + 16 * index..][..16];
                let end = if is_big { u32::try_from(lump.stored.len()).unwrap() } else { 0 };
                assert_eq!(entry(members - 1), [[0; 8].as_slice(), &end.to_be_bytes(), &[0; 4]].concat());
                let flags: Vec<u8> = (0..members).map(|index| entry(index)[if is_big { 5 } else { 4 }]).collect();
                assert_eq!(flags.iter().filter(|flag| **flag == 1).count(), 1, "{flags:?}");
                for slot in map.slots().iter().filter(|slot| slot.id != before.id) {
                    assert_eq!(*new.bytes(slot.id).unwrap(), *map.bytes(slot.id).unwrap(), "{} {layout:?}", slot.name);
                    assert_eq!(new.container().slot(slot.id).unwrap().version, slot.version);
                }
                // Members start at multiples of 4 after the directory, however tight they were.
                let [sprp, dprp] = ["game:sprp", "game:dprp"].map(|name| new.slot(name).unwrap());
                assert_eq!(sprp.stored.start, lump.stored.start + 4 + 16 * members);
                assert_eq!(
                    dprp.stored.start,
                    lump.stored.start + (sprp.stored.end - lump.stored.start).next_multiple_of(4)
                );
                assert_eq!(dprp.stored.end, lump.stored.end);
                assert_eq!(new.slot("game:dplt").unwrap().offset, i32::try_from(lump.stored.end).unwrap());
                assert!(verify::run(&new).is_ok());

                // Unpacked again the members are what they were; the end stays.
                let mut draft = new.draft();
                draft.set_compression(new.slot(&name).unwrap().id, Compression::Raw).unwrap();
                let saved = draft.plan(layout).unwrap().to_vec();
                let raw = Bsp::parse(&saved).unwrap();
                assert_eq!(raw.slots().len() - dialect.lumps.len(), members);
                for slot in map.slots().iter().filter(|slot| slot.id != before.id) {
                    assert_eq!(*raw.stored(slot.id), *map.stored(slot.id), "{} {layout:?}", slot.name);
                }
                let lump = raw.role(Role::GameLump).unwrap().stored.start;
                assert!((0..members).all(|index| saved[lump + 4 + 16 * index + 4] == 0), "no flag is set");
                assert!(!ended || layout != Layout::Keep || saved == bytes);
            }
        }
    }
}

#[test]
fn row_14_a_bspx_entry_is_laid_again_inside() {
    for dialect in dialect::ALL {
        let bytes = sandwich(dialect, &text(49)).bspx("LMSHIFT", [7; 5]).bspx("BRUSHLIST", [8; 9]).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        for length in [5, 6, 11, 1, 0] {
            let mut draft = map.draft();
            draft.set(map.slot("bspx:LMSHIFT").unwrap().id, vec![9; length]).unwrap();
            let saved = draft.plan(Layout::Keep).unwrap().to_vec();
            let new = Bsp::parse(&saved).unwrap();
            assert_eq!(*new.stored(new.slot("bspx:LMSHIFT").unwrap().id), vec![9; length], "{}", dialect.name);
            let other = new.slot("bspx:BRUSHLIST").unwrap();
            assert_eq!(*new.stored(other.id), [8; 9]);
            assert_eq!(other.stored.start % 4, 0);
            assert_eq!(saved.len() % 4, 0);
            let end = bytes.iter().zip(&saved).position(|(old, new)| old != new).unwrap();
            assert!(
                end >= map
                    .slots()
                    .iter()
                    .filter(|slot| matches!(slot.id, SlotId::Lump(_)))
                    .map(|slot| slot.stored.end)
                    .max()
                    .unwrap(),
                "no lump is touched"
            );
        }
    }
}

#[test]
fn a_version_is_a_word_of_its_own() {
    for dialect in source_family() {
        let bytes = sandwich(dialect, &text(49)).lump_version(7, 1).bspx("LMSHIFT", [7; 5]).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let faces = map.slot("faces").unwrap().id;
        for layout in [Layout::Keep, Layout::Append] {
            let mut draft = map.draft();
            draft.set_version(faces, 2).unwrap();
            let plan = draft.plan(layout).unwrap();
            let saved = plan.to_vec();
            assert_eq!(plan.report().to_string(), "FACES version 1 -> 2", "{}", dialect.name);
            assert_eq!(bytes.iter().zip(&saved).filter(|(old, new)| old != new).count(), 1);
            assert_eq!(
                (saved.len(), Bsp::parse(&saved).unwrap().slot("faces").unwrap().version),
                (bytes.len(), Some(2))
            );
            draft.set_version(faces, 1).unwrap();
            assert!(draft.plan(layout).unwrap().is_identity());
        }
        let mut draft = map.draft();
        draft.set_version(faces, 0x0102_0304).unwrap();
        draft.set(SlotId::Lump(0), text(90)).unwrap();
        let saved = draft.plan(Layout::Repack).unwrap().to_vec();
        assert_eq!(Bsp::parse(&saved).unwrap().slot("faces").unwrap().version, Some(0x0102_0304));
        let bspx = map.slot("bspx:LMSHIFT").unwrap().id;
        assert_eq!(draft.set_version(bspx, 1).unwrap_err().kind(), ErrorKind::Refused);
    }
}

/// The entry of zeros behind compressed members holds nothing, and what were put there would not be read again.
#[test]
fn the_end_of_a_list_of_members_takes_no_bytes() {
    let bytes = Builder::new(&dialect::SOURCE).lump(0, text(49)).game_lump(*b"sprp", 6, [5; 900]).build().unwrap();
    let mut draft = Bsp::parse(&bytes).unwrap().draft();
    draft.set_compression(SlotId::Game(0), Compression::Lzma).unwrap();
    let saved = draft.plan(Layout::Keep).unwrap().to_vec();
    let map = Bsp::parse(&saved).unwrap();
    let mut draft = map.draft();
    let error = draft.set(SlotId::Game(1), vec![1; 4]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    draft.set(SlotId::Game(1), Vec::new()).unwrap();
    assert!(draft.changes().unwrap().is_empty());
}
