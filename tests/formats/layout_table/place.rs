//! Rows 1 to 6, 11 and 12: where an edited slot goes, and what is behind it; append and repack.

use bspkit::dialect::{self, Role};
use bspkit::file::directory::EntryFields;
use bspkit::{Bsp, Builder, ErrorKind, Layout, SaveOptions, SlotId};

use super::{LAYOUTS, assert_sound, at, last_end, padded, role, sandwich, source_family, text, with_entities};

#[test]
fn row_1_smaller_stays_and_leaves_zeros() {
    for dialect in dialect::ALL {
        let bytes = sandwich(dialect, &text(52)).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        for layout in [Layout::Keep, Layout::Append] {
            let saved = with_entities(&map, text(45), layout).unwrap().to_vec();
            let new = Bsp::parse(&saved).unwrap();
            let (start, _) = at(&map, Role::Entities);
            assert_eq!(at(&new, Role::Entities), (start, 45), "{}", dialect.name);
            let start = usize::try_from(start).unwrap();
            assert_eq!(saved[start + 45..start + 52], [0; 7]);
            assert_eq!(saved[start + 52..], bytes[start + 52..]);
            assert_sound(&map, &saved, layout, &text(45));
        }
    }
}

#[test]
fn row_2_grows_into_its_slack() {
    for dialect in dialect::ALL {
        let bytes = sandwich(dialect, &text(49)).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        for layout in [Layout::Keep, Layout::Append] {
            let plan = with_entities(&map, text(52), layout).unwrap();
            let saved = plan.to_vec();
            assert_eq!(saved.len(), bytes.len(), "{}", dialect.name);
            assert!(plan.report().moved.is_empty());
            let new = Bsp::parse(&saved).unwrap();
            assert_eq!(at(&new, Role::Entities), (at(&map, Role::Entities).0, 52));
            assert_sound(&map, &saved, layout, &text(52));
        }
    }
}

#[test]
fn row_2_no_slack_where_somebody_left_bytes() {
    for dialect in dialect::ALL {
        let models = role(dialect, Role::Models);
        let bytes = sandwich(dialect, &text(48)).gap_before(models, [0, 0, 0, 7]).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let saved = with_entities(&map, text(50), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(at(&new, Role::Models).0, at(&map, Role::Models).0 + 4, "{}", dialect.name);
        let models = usize::try_from(at(&new, Role::Models).0).unwrap();
        assert_eq!(saved[models - 4..models], [0, 0, 0, 7]);
        assert_sound(&map, &saved, Layout::Keep, &text(50));
    }
}

#[test]
fn row_3_the_last_lump_stays_and_the_file_follows() {
    for dialect in dialect::ALL {
        let [planes, entities] = [Role::Planes, Role::Entities].map(|it| role(dialect, it));
        let order = [planes, entities];
        let bytes = Builder::new(dialect).lump(planes, [1; 40]).lump(entities, text(50)).order(&order).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let (start, _) = at(&map, Role::Entities);
        for (length, size) in [(53, 56), (41, 44), (50, 52)] {
            let saved = with_entities(&map, text(length), Layout::Keep).unwrap().to_vec();
            assert_eq!(saved.len(), padded(dialect, usize::try_from(start).unwrap() + size), "{}", dialect.name);
            let new = Bsp::parse(&saved).unwrap();
            assert_eq!(at(&new, Role::Entities), (start, i32::try_from(length).unwrap()));
            assert_sound(&map, &saved, Layout::Keep, &text(length));
        }
    }
}

#[test]
fn row_4_what_is_behind_shifts_by_one_multiple() {
    for dialect in dialect::ALL {
        let bytes = sandwich(dialect, &text(49)).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let saved = with_entities(&map, text(58), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(at(&new, Role::Planes), at(&map, Role::Planes), "{}", dialect.name);
        assert_eq!(at(&new, Role::Entities).0, at(&map, Role::Entities).0);
        // 9 bytes more, 3 of them in the padding: 6, so 8.
        assert_eq!(at(&new, Role::Models).0, at(&map, Role::Models).0 + 8);
        assert_eq!(at(&new, Role::Faces).0, at(&map, Role::Faces).0 + 8);
        assert_eq!(saved.len(), padded(dialect, last_end(&map) + 8));
        assert_sound(&map, &saved, Layout::Keep, &text(58));
    }
}

#[test]
fn row_4_what_stood_unaligned_keeps_its_remainder() {
    for dialect in dialect::ALL {
        let [models, faces] = [Role::Models, Role::Faces].map(|it| role(dialect, it));
        let bytes = sandwich(dialect, &text(49)).align(models, 1).align(faces, 1).unpadded().build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        assert_eq!(at(&map, Role::Models).0 % 4, 1, "{}", dialect.name);
        let saved = with_entities(&map, text(50), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(at(&new, Role::Models).0, at(&map, Role::Models).0 + 4);
        assert_eq!(at(&new, Role::Faces).0, at(&map, Role::Faces).0 + 4);
        assert_eq!(saved.len(), bytes.len() + 4);
        assert_sound(&map, &saved, Layout::Keep, &text(50));
    }
}

#[test]
fn row_4_a_pakfile_at_2048_stays_at_2048() {
    for dialect in source_family() {
        let bytes = sandwich(dialect, &text(49)).lump(40, [9; 22]).align(40, 2048).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        // The directory of some is longer than that.
        let first = i32::try_from(dialect.shapes[0].header_size().next_multiple_of(2048)).unwrap();
        assert_eq!(at(&map, Role::Pak).0, first, "{}", dialect.name);
        let long = text(1900);
        let saved = with_entities(&map, long.clone(), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(at(&new, Role::Models).0, at(&map, Role::Models).0 + 2048);
        assert_eq!(at(&new, Role::Pak).0, first + 2048);
        assert_sound(&map, &saved, Layout::Keep, &long);

        // Lump 62 asks for multiples of 16 and pulls everything behind with it.
        let bytes = sandwich(dialect, &text(49)).lump(62, [9; 22]).align(62, 16).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let saved = with_entities(&map, text(53), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(at(&new, Role::Models).0, at(&map, Role::Models).0 + 16);
        assert_sound(&map, &saved, Layout::Keep, &text(53));
    }
}

#[test]
fn row_4_a_lump_that_was_empty_gets_its_alignment() {
    for dialect in source_family() {
        for (length, layout) in [49, 53, 57, 61].into_iter().flat_map(|it| LAYOUTS.map(|layout| (it, layout))) {
            let bytes = sandwich(dialect, &text(length)).build().unwrap();
            let map = Bsp::parse(&bytes).unwrap();
            let mut draft = map.draft();
            draft.set(SlotId::Lump(62), vec![9; 22]).unwrap();
            let saved = draft.plan(layout).unwrap().to_vec();
            let new = Bsp::parse(&saved).unwrap();
            let slot = new.container().slot(SlotId::Lump(62)).unwrap();
            assert_eq!((slot.offset % 16, slot.length), (0, 22), "{}, {layout:?}, {length}", dialect.name);
        }
    }
}

#[test]
fn row_5_a_game_lump_behind_does_not_move() {
    for dialect in source_family().filter(|dialect| !dialect.rules.relative_members) {
        let builder = sandwich(dialect, &text(49)).game_lump(*b"sprp", 6, [5; 9]).game_lump(*b"dprp", 4, [6; 12]);
        let bytes = builder.build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let (start, _) = at(&map, Role::Entities);
        let end = map.role(Role::GameLump).unwrap().stored.end;
        let saved = with_entities(&map, text(53), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(at(&new, Role::GameLump), at(&map, Role::GameLump), "{}", dialect.name);
        assert_eq!(at(&new, Role::Entities), (i32::try_from(end.next_multiple_of(4)).unwrap(), 53));
        let hole = usize::try_from(start).unwrap();
        assert_eq!(saved[hole..hole + 49], [0; 49]);
        assert_sound(&map, &saved, Layout::Keep, &text(53));

        // One without members holds no offset, but stays as well.
        let bytes = sandwich(dialect, &text(49)).lump(35, [0; 4]).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let saved = with_entities(&map, text(53), Layout::Keep).unwrap().to_vec();
        assert_eq!(at(&Bsp::parse(&saved).unwrap(), Role::GameLump), at(&map, Role::GameLump));
    }
}

/// Where its offsets are its own it moves like any other lump, and no byte of it changes.
#[test]
fn row_5_a_game_lump_of_its_own_offsets_moves() {
    for dialect in source_family().filter(|dialect| dialect.rules.relative_members) {
        let builder = sandwich(dialect, &text(49)).game_lump(*b"sprp", 6, [5; 9]).game_lump(*b"dprp", 4, [6; 12]);
        let bytes = builder.lump(40, [9; 22]).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let lump = map.role(Role::GameLump).unwrap();
        for (layout, by) in [(Layout::Keep, 4), (Layout::Append, 0), (Layout::Repack, 0)] {
            let saved = with_entities(&map, text(53), layout).unwrap().to_vec();
            let new = Bsp::parse(&saved).unwrap();
            assert_eq!(*new.stored(lump.id), *map.stored(lump.id), "{} {layout:?}", dialect.name);
            if layout != Layout::Repack {
                assert_eq!(new.role(Role::GameLump).unwrap().offset, lump.offset + by);
            }
            assert_eq!(at(&new, Role::Pak).0, new.slots().iter().map(|slot| slot.offset).max().unwrap(), "{layout:?}");
            assert_sound(&map, &saved, layout, &text(53));
        }
    }
}

#[test]
fn row_6_a_pinned_slot_never_moves() {
    for dialect in source_family() {
        let bytes = sandwich(dialect, &text(49)).lump(35, [0xEE; 30]).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        assert!(map.container().pinned(SlotId::Lump(35)).is_some(), "{}", dialect.name);
        let saved = with_entities(&map, text(53), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(at(&new, Role::GameLump), at(&map, Role::GameLump));
        assert_sound(&map, &saved, Layout::Keep, &text(53));

        // Repack would move it, and so would its own growth with something behind.
        let error = with_entities(&map, text(53), Layout::Repack).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().starts_with("GAME_LUMP cannot be moved"), "{error}");
        let with_pak = sandwich(dialect, &text(49)).lump(35, [0xEE; 32]).lump(40, [9; 22]).build().unwrap();
        let map = Bsp::parse(&with_pak).unwrap();
        let mut draft = map.draft();
        draft.set(SlotId::Lump(35), vec![0xEE; 40]).unwrap();
        assert_eq!(draft.plan(Layout::Append).unwrap_err().kind(), ErrorKind::Refused);
        assert!(draft.plan(Layout::Keep).is_ok(), "in its place it may grow");
    }
}

#[test]
fn row_6_dark_messiahs_game_lump_is_pinned() {
    let bytes =
        sandwich(&dialect::SOURCE, &text(49)).version(0x0004_0014).game_lump(*b"sprp", 6, [5; 9]).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    assert!(map.container().pinned(SlotId::Lump(35)).unwrap().contains("Dark Messiah"));
    let saved = with_entities(&map, text(53), Layout::Keep).unwrap().to_vec();
    assert_eq!(at(&Bsp::parse(&saved).unwrap(), Role::GameLump), at(&map, Role::GameLump));
}

#[test]
fn row_6_what_an_unread_extra_header_may_name_never_moves() {
    for dialect in [&dialect::GOLDSRC, &dialect::BLUE_SHIFT] {
        let mut bytes = sandwich(dialect, &text(49)).extra(5, [7; 20]).build().unwrap();
        let known = Bsp::parse(&bytes).unwrap();
        assert_sound(&known, &with_entities(&known, text(53), Layout::Keep).unwrap().to_vec(), Layout::Keep, &text(53));

        // The version of P2:Savior, and whatever comes after 4.
        for version in [2, 5] {
            bytes[128..132].copy_from_slice(&[version, 0, 0, 0]);
            let map = Bsp::parse(&bytes).unwrap();
            for layout in LAYOUTS {
                let error = with_entities(&map, text(53), layout).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Refused);
                assert!(error.to_string().contains(&format!("version {version}")), "{error}");
            }
            for layout in [Layout::Keep, Layout::Append] {
                let saved = with_entities(&map, text(45), layout).unwrap().to_vec();
                assert_sound(&map, &saved, layout, &text(45));
                assert_eq!((saved.len(), &saved[124..228]), (bytes.len(), &bytes[124..228]));
                assert!(saved.ends_with(&[7; 20]));
            }
        }
    }
}

#[test]
fn row_11_nothing_is_put_behind_an_overrun() {
    for dialect in dialect::ALL {
        let faces = role(dialect, Role::Faces);
        let whole = sandwich(dialect, &text(49)).build().unwrap();
        let slot = Bsp::parse(&whole).unwrap().slots()[faces].clone();
        let fields = EntryFields { offset: slot.offset, length: 1000, version: Some(0), unpacked: Some(0) };
        let bytes = sandwich(dialect, &text(49)).entry(faces, fields).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        assert_eq!(map.container().damaged().count(), 1, "{}", dialect.name);

        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.bsp");
        for length in [45, 52, 60] {
            let plan = with_entities(&map, text(length), Layout::Keep).unwrap();
            assert_eq!(plan.save(&target).unwrap_err().kind(), ErrorKind::Damaged);
            assert!(!target.exists());
            plan.save_with(&target, &SaveOptions::default().force(true)).unwrap();
            let saved = std::fs::read(&target).unwrap();
            assert_sound(&map, &saved, Layout::Keep, &text(length));
            let overrun = Bsp::parse(&saved).unwrap().slots()[faces].clone();
            assert_eq!(overrun.length, 1000);
            assert_eq!(overrun.stored.end, saved.len(), "nothing stands behind it");
            std::fs::remove_file(&target).unwrap();
        }
        for layout in [Layout::Append, Layout::Repack] {
            assert_eq!(with_entities(&map, text(60), layout).unwrap_err().kind(), ErrorKind::Refused);
        }
        // The overrunning lump itself may be edited: then it no longer overruns.
        let mut draft = map.draft();
        draft.set(SlotId::Lump(faces), vec![4; 24]).unwrap();
        let saved = draft.plan(Layout::Keep).unwrap().to_vec();
        assert_eq!(Bsp::parse(&saved).unwrap().container().damaged().count(), 0);
    }
}

#[test]
fn row_12_a_shared_slot_is_detached() {
    for dialect in dialect::ALL {
        let [faces, models] = [Role::Faces, Role::Models].map(|it| role(dialect, it));
        let whole = sandwich(dialect, &text(49)).build().unwrap();
        let entities = Bsp::parse(&whole).unwrap().role(Role::Entities).unwrap().clone();
        // One lump is the same bytes, one overlaps their end.
        let same = EntryFields { offset: entities.offset, length: 49, version: Some(0), unpacked: Some(0) };
        let over = EntryFields { offset: entities.offset + 40, length: 30, version: Some(0), unpacked: Some(0) };
        for (lump, fields) in [(faces, same), (models, over)] {
            let bytes = sandwich(dialect, &text(49)).entry(lump, fields).build().unwrap();
            let map = Bsp::parse(&bytes).unwrap();
            for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
                for length in [45, 49, 60] {
                    let mut edited = text(length);
                    edited[1] = b'\t';
                    let saved = with_entities(&map, edited.clone(), layout).unwrap().to_vec();
                    let new = Bsp::parse(&saved).unwrap();
                    assert_eq!(*new.stored(SlotId::Lump(lump)), *map.stored(SlotId::Lump(lump)), "{}", dialect.name);
                    assert_eq!(*new.stored(entities.id), *edited);
                    if layout != Layout::Repack {
                        let end = map.slots().iter().map(|slot| slot.stored.end).max().unwrap();
                        assert_eq!(new.role(Role::Entities).unwrap().stored.start, end.next_multiple_of(4));
                        assert_sound(&map, &saved, layout, &edited);
                    }
                }
            }
        }
    }
}

#[test]
fn append_moves_the_edited_slot_alone() {
    for dialect in dialect::ALL {
        let bytes = sandwich(dialect, &text(49)).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let plan = with_entities(&map, text(53), Layout::Append).unwrap();
        assert!(plan.report().moved.is_empty(), "{}", dialect.name);
        let new_bytes = plan.to_vec();
        let new = Bsp::parse(&new_bytes).unwrap();
        assert_eq!(new.role(Role::Entities).unwrap().stored.start, last_end(&map));
    }
}

#[test]
fn repack_follows_the_dialects_order_without_gaps() {
    for dialect in dialect::ALL {
        let models = role(dialect, Role::Models);
        let bytes = sandwich(dialect, &text(49)).gap_before(models, *b"stale text of before").build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let plan = map.draft().plan(Layout::Repack).unwrap();
        // The three zeros behind the text come back but where the text goes last.
        let used = [Role::Planes, Role::Entities, Role::Models, Role::Faces].map(|it| role(dialect, it));
        let last = dialect.rules.write_order.iter().rfind(|lump| used.contains(lump));
        let is_last = last == Some(&role(dialect, Role::Entities));
        assert_eq!(plan.report().dropped, (if is_last { 23 } else { 20 }, 20), "{}", dialect.name);
        let saved = plan.to_vec();
        let new = Bsp::parse(&saved).unwrap();
        let mut lumps: Vec<_> = new.slots().iter().filter(|slot| !slot.stored.is_empty()).collect();
        lumps.sort_by_key(|slot| slot.stored.start);
        let order: Vec<usize> = lumps
            .iter()
            .map(|slot| match slot.id {
                SlotId::Lump(lump) => lump,
                _ => unreachable!(),
            })
            .collect();
        let expected: Vec<usize> =
            dialect.rules.write_order.iter().copied().filter(|lump| order.contains(lump)).collect();
        assert_eq!(order, expected, "{}", dialect.name);
        let mut at = map.container().shape().header_size();
        for lump in lumps {
            assert_eq!(lump.stored.start, at.next_multiple_of(4), "{}", dialect.name);
            at = lump.stored.end;
        }
        let again = Bsp::parse(&saved).unwrap();
        let plan = again.draft().plan(Layout::Repack).unwrap();
        assert!(plan.is_identity());
        // Zeros between lumps that come back are not said to be left out.
        assert_eq!(plan.report().to_string(), "nothing changes", "{}", dialect.name);
    }
}

#[test]
fn several_edits_at_once() {
    for dialect in source_family() {
        let builder = sandwich(dialect, &text(49)).game_lump(*b"sprp", 6, [5; 9]).lump(40, [9; 22]);
        let bytes = builder.bspx("LMSHIFT", [7; 5]).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            let mut draft = map.draft();
            let edits = [
                ("PLANES", vec![4; 50]),
                ("ENTITIES", text(80)),
                ("game:sprp", vec![1; 40]),
                ("PAKFILE", vec![2; 7]),
                ("bspx:LMSHIFT", vec![3; 8]),
            ];
            for (name, bytes) in &edits {
                draft.set(map.slot(name).unwrap().id, bytes.clone()).unwrap();
            }
            let saved = draft.plan(layout).unwrap().to_vec();
            let new = Bsp::parse(&saved).unwrap();
            for (name, bytes) in &edits {
                assert_eq!(
                    *new.bytes(new.slot(name).unwrap().id).unwrap(),
                    **bytes,
                    "{} {layout:?} {name}",
                    dialect.name
                );
            }
            for name in ["MODELS", "FACES"] {
                assert_eq!(*new.stored(new.slot(name).unwrap().id), *map.stored(map.slot(name).unwrap().id));
            }
        }
    }
}
