//! The layout table, row by row: what an edit of a slot does to the file, with the offsets that have to come out.
//!
//! Each row runs over every dialect to which it applies.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use bspkit::dialect::{self, Dialect, Role};
use bspkit::file::directory::EntryFields;
use bspkit::op::verify;
use bspkit::{Bsp, Builder, ErrorKind, Layout, Packing, Plan, SaveOptions, SlotId};

const TEXT: &[u8] = b"{\n\"classname\" \"worldspawn\"\n}\n\0";

fn role(dialect: &Dialect, role: Role) -> usize {
    dialect.role(role).unwrap()
}

/// A map with planes before the entities and models, faces behind: 40, `text`, 64 and 12 bytes.
fn sandwich(dialect: &'static Dialect, text: &[u8]) -> Builder {
    let [planes, entities, models, faces] =
        [Role::Planes, Role::Entities, Role::Models, Role::Faces].map(|it| role(dialect, it));
    Builder::new(dialect)
        .lump(planes, [1; 40])
        .lump(entities, text)
        .lump(models, [2; 64])
        .lump(faces, [3; 12])
        .order(&[planes, entities, models, faces])
}

fn text(length: usize) -> Vec<u8> {
    let mut text = TEXT.to_vec();
    text.splice(28..28, std::iter::repeat_n(b' ', length - TEXT.len()));
    text
}

fn with_entities<'a>(map: &Bsp<'a>, bytes: Vec<u8>, layout: Layout) -> bspkit::Result<Plan<'a>> {
    let mut draft = map.draft();
    draft.set(SlotId::Lump(role(map.dialect(), Role::Entities)), bytes)?;
    draft.plan(layout)
}

/// Offset and length of a lump as the directory says them.
fn at(map: &Bsp<'_>, name: Role) -> (i32, i32) {
    let slot = map.role(name).unwrap();
    (slot.offset, slot.length)
}

/// Whatever a row says, the general law holds too.
fn assert_sound(old: &Bsp<'_>, saved: &[u8], layout: Layout, text: &[u8]) {
    let entities = SlotId::Lump(role(old.dialect(), Role::Entities));
    verify::compare(old, saved, Some(layout), Some((entities, text))).unwrap();
}

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
            assert_eq!(saved.len(), usize::try_from(start).unwrap() + size, "{}", dialect.name);
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
        assert_eq!(saved.len(), bytes.len() + 8);
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

fn source_family() -> impl Iterator<Item = &'static Dialect> {
    dialect::ALL.iter().copied().filter(|dialect| dialect.rules.game_lump.is_some())
}

#[test]
fn row_4_a_pakfile_at_2048_stays_at_2048() {
    for dialect in source_family() {
        let bytes = sandwich(dialect, &text(49)).lump(40, [9; 22]).align(40, 2048).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        assert_eq!(at(&map, Role::Pak).0, 2048, "{}", dialect.name);
        let long = text(1900);
        let saved = with_entities(&map, long.clone(), Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(at(&new, Role::Models).0, at(&map, Role::Models).0 + 2048);
        assert_eq!(at(&new, Role::Pak).0, 4096);
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
fn row_5_a_game_lump_behind_does_not_move() {
    for dialect in source_family() {
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
fn row_7_bspx_follows_the_last_lump() {
    for dialect in dialect::ALL {
        let builder = sandwich(dialect, &text(49)).bspx("RGBLIGHTING", [7; 5]).bspx("BRUSHLIST", [8; 9]);
        for (builder, padded) in [(builder.clone(), true), (builder.unpadded(), false)] {
            let bytes = builder.build().unwrap();
            let map = Bsp::parse(&bytes).unwrap();
            for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
                for length in [51, 53, 60, 37] {
                    let saved = with_entities(&map, text(length), layout).unwrap().to_vec();
                    let new = Bsp::parse(&saved).unwrap();
                    let end = (0..4).map(|lump| new.slots()[lump].stored.end).max().unwrap();
                    let end = new
                        .slots()
                        .iter()
                        .filter(|slot| matches!(slot.id, SlotId::Lump(_)))
                        .fold(end, |end, slot| end.max(slot.stored.end));
                    let block = end.next_multiple_of(4);
                    assert_eq!(saved[block..block + 4], *b"BSPX", "{} {layout:?}", dialect.name);
                    let first = new.slot("bspx:RGBLIGHTING").unwrap();
                    assert_eq!(first.stored.start, block + 8 + 2 * 32);
                    assert_eq!(new.slot("bspx:BRUSHLIST").unwrap().stored.start, first.stored.start + 8);
                    assert_eq!(saved.len().is_multiple_of(4), padded);
                    assert_sound(&map, &saved, layout, &text(length));
                }
            }
        }
    }
}

#[test]
fn row_8_bloodlines_trailer_says_where_the_entities_are() {
    let trailed = |order: &[usize]| {
        let builder = Builder::new(&dialect::SOURCE17).lump(1, [1; 40]).lump(0, text(49)).lump(40, [9; 22]);
        let builder = builder.lump(4, [4; 12]).gap_before(40, [0; 30]).game_lump(*b"sprp", 4, [5; 9]).trailer();
        builder.order(order).build().unwrap()
    };
    for (order, entities_last) in [([1, 4, 35, 40, 0], true), ([1, 0, 4, 40, 35], false)] {
        let bytes = trailed(&order);
        let map = Bsp::parse(&bytes).unwrap();
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            for (lump, length) in [(0, 53), (0, 40), (4, 30), (40, 41), (40, 7)] {
                let mut draft = map.draft();
                let new_bytes = if lump == 0 { text(length) } else { vec![9; length] };
                draft.set(SlotId::Lump(lump), new_bytes.clone()).unwrap();
                let saved = draft.plan(layout).unwrap().to_vec();
                let new = Bsp::parse(&saved).unwrap();
                let trailer = &saved[saved.len() - 10..];
                assert_eq!(trailer[4..], *b"QnDbTm");
                assert_eq!(trailer[..4], at(&new, Role::Entities).0.to_le_bytes(), "{layout:?} {lump}");
                let end = new.role(Role::Entities).unwrap().stored.end;
                assert!(!entities_last || end == saved.len() - 10, "{layout:?} {lump} {length}");
                verify::compare(&map, &saved, Some(layout), Some((SlotId::Lump(lump), &new_bytes))).unwrap();
            }
        }
    }
}

#[test]
fn row_9_the_end_is_padded_as_it_was() {
    for dialect in dialect::ALL {
        let faces = role(dialect, Role::Faces);
        let builder = sandwich(dialect, &text(49)).lump(faces, [3; 13]);
        let padded = builder.clone().build().unwrap();
        let map = Bsp::parse(&padded).unwrap();
        let saved = with_entities(&map, text(55), Layout::Append).unwrap().to_vec();
        assert_eq!(saved.len(), padded.len() + 56, "{}", dialect.name);
        let unpadded = builder.unpadded().build().unwrap();
        let map = Bsp::parse(&unpadded).unwrap();
        let saved = with_entities(&map, text(55), Layout::Append).unwrap().to_vec();
        assert_eq!(saved.len(), unpadded.len().next_multiple_of(4) + 55, "{}", dialect.name);
    }
}

#[test]
fn row_10_an_unknown_tail_stays_last_and_the_report_says_so() {
    for dialect in dialect::ALL {
        let tail = b"PK\x05\x06 something appended";
        let bytes = sandwich(dialect, &text(49)).tail(*tail).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            let plan = with_entities(&map, text(55), layout).unwrap();
            let saved = plan.to_vec();
            assert!(saved.ends_with(tail), "{}", dialect.name);
            let new = Bsp::parse(&saved).unwrap();
            let end = new.slots().iter().map(|slot| slot.stored.end).max().unwrap();
            assert_eq!(end, saved.len() - tail.len());
            assert_eq!(plan.report().warnings.len(), 1, "{:?}", plan.report());
            assert_sound(&map, &saved, layout, &text(55));
        }
        let in_place = with_entities(&map, text(45), Layout::Keep).unwrap();
        assert!(in_place.report().warnings.is_empty());
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
        assert_eq!(saved[slot.stored.start + 12..slot.stored.start + 17], [0x5D, 0, 0, 0, 1]);
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
        assert_eq!(new.unpacked_size(new.slot("game:dprp").unwrap().id), Some(333));
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
            draft.set_packing(entities, Packing::Lzma).unwrap();
            assert_eq!(draft.packing(entities), Packing::Lzma);
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
            draft.set_packing(entities, Packing::Raw).unwrap();
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
        draft.set_packing(entities, Packing::Raw).unwrap();
        assert!(draft.changes().unwrap().is_empty());
        draft.set_packing(entities, Packing::Lzma).unwrap();
        draft.set_packing(entities, Packing::Raw).unwrap();
        assert!(draft.plan(Layout::Keep).unwrap().is_identity());
        draft.set_packing(entities, Packing::Lzma).unwrap();
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
            draft.set_packing(entities, Packing::Lzma).unwrap();
            draft.set_packing(planes, Packing::Raw).unwrap();
            draft.set(entities, text(300)).unwrap();
            draft.set(planes, vec![9; 60]).unwrap();
        });
        let way_2 = saved(&|draft| {
            draft.set(entities, text(300)).unwrap();
            draft.set(planes, vec![9; 60]).unwrap();
            draft.set_packing(entities, Packing::Lzma).unwrap();
            draft.set_packing(planes, Packing::Raw).unwrap();
        });
        assert_eq!(way_1, way_2, "{}", dialect.name);
        let new = Bsp::parse(&way_1).unwrap();
        assert_eq!((new.unpacked_size(entities), new.unpacked_size(planes)), (Some(300), None));
        assert_eq!(*new.bytes(entities).unwrap(), *text(300));
        assert_eq!((&*new.stored(planes), new.slots()[1].unpacked), (&[9; 60][..], Some(0)));

        // Nothing is never compressed.
        let emptied = saved(&|draft| {
            draft.set_packing(entities, Packing::Lzma).unwrap();
            draft.set(entities, Vec::new()).unwrap();
        });
        let slot = Bsp::parse(&emptied).unwrap().slots()[0].clone();
        assert_eq!((slot.length, slot.unpacked), (0, Some(0)));
        // Edits of the text find their way too, and back.
        let same = saved(&|draft| {
            draft.set_packing(entities, Packing::Lzma).unwrap();
            let text = draft.entities().unwrap();
            text.entity_mut(0).unwrap().set("a", "b").unwrap();
            text.entity_mut(0).unwrap().unset("a").unwrap();
        });
        assert_eq!(same, saved(&|draft| draft.set_packing(entities, Packing::Lzma).unwrap()));
    }
    for dialect in dialect::ALL {
        let bytes = sandwich(dialect, &text(49))
            .lump(if dialect.rules.game_lump.is_some() { 35 } else { 2 }, [0; 4])
            .build()
            .unwrap();
        let mut draft = Bsp::parse(&bytes).unwrap().draft();
        let whole = SlotId::Lump(if dialect.rules.game_lump.is_some() { 35 } else { 0 });
        assert_eq!(draft.set_packing(whole, Packing::Lzma).unwrap_err().kind(), ErrorKind::Refused, "{}", dialect.name);
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
                draft.set_packing(map.slot(&name).unwrap().id, Packing::Lzma).unwrap();
                let saved = draft.plan(layout).unwrap().to_vec();
                let new = Bsp::parse(&saved).unwrap();
                let (lump, members) = (new.role(Role::GameLump).unwrap(), new.slots().len() - 64);
                assert_eq!(members, if ended { 5 } else { 4 }, "{}", dialect.name);
                assert_eq!(saved[lump.stored.start], u8::try_from(members).unwrap());
                // The last entry is all zero; bit 0 of the flags of one is set; its length is that of its bytes.
                let entry = |index: usize| &saved[lump.stored.start + 4 + 16 * index..][..16];
                assert_eq!(entry(members - 1), [0; 16]);
                let flags: Vec<u8> = (0..members).map(|index| entry(index)[4]).collect();
                assert_eq!(flags.iter().filter(|flag| **flag == 1).count(), 1, "{flags:?}");
                for slot in map.slots().iter().filter(|slot| slot.id != before.id) {
                    assert_eq!(*new.bytes(slot.id).unwrap(), *map.bytes(slot.id).unwrap(), "{} {layout:?}", slot.name);
                    assert_eq!(new.container().slot(slot.id).unwrap().version, slot.version);
                }
                // Members stand as tight as they did, behind the directory.
                let [sprp, dprp] = ["game:sprp", "game:dprp"].map(|name| new.slot(name).unwrap());
                assert_eq!(sprp.stored.start, lump.stored.start + 4 + 16 * members);
                assert_eq!((dprp.stored.start, dprp.stored.end), (sprp.stored.end, lump.stored.end));
                assert_eq!(new.slot("game:dplt").unwrap().offset, i32::try_from(lump.stored.end).unwrap());
                assert!(verify::run(&new).is_ok());

                // Unpacked again the members are what they were; the end stays.
                let mut draft = new.draft();
                draft.set_packing(new.slot(&name).unwrap().id, Packing::Raw).unwrap();
                let saved = draft.plan(layout).unwrap().to_vec();
                let raw = Bsp::parse(&saved).unwrap();
                assert_eq!(raw.slots().len() - 64, members);
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
fn append_moves_the_edited_slot_alone() {
    for dialect in dialect::ALL {
        let bytes = sandwich(dialect, &text(49)).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let plan = with_entities(&map, text(53), Layout::Append).unwrap();
        assert!(plan.report().moved.is_empty(), "{}", dialect.name);
        let new_bytes = plan.to_vec();
        let new = Bsp::parse(&new_bytes).unwrap();
        assert_eq!(new.role(Role::Entities).unwrap().stored.start, bytes.len());
    }
}

#[test]
fn repack_follows_the_dialects_order_without_gaps() {
    for dialect in dialect::ALL {
        let models = role(dialect, Role::Models);
        let bytes = sandwich(dialect, &text(49)).gap_before(models, *b"stale text of before").build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let plan = map.draft().plan(Layout::Repack).unwrap();
        assert_eq!(plan.report().dropped, (20 + 3, 20), "{}", dialect.name);
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
        assert!(Bsp::parse(&saved).unwrap().draft().plan(Layout::Repack).unwrap().is_identity());
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

#[test]
fn an_empty_slots_word_stays_unless_it_would_lie_past_the_end() {
    // The 18th entry of a newer q3map2: the file's size, nothing there.
    let dialect = &dialect::QUAKE3;
    let plain = sandwich(dialect, &text(49)).shape(dialect.shapes[1]);
    let size = i32::try_from(plain.build().unwrap().len()).unwrap();
    let eighteenth = EntryFields { offset: size, length: 0, version: None, unpacked: None };
    let bytes = plain.entry(17, eighteenth).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    assert_eq!(map.container().shape().count, 18);
    let offset_after = |lump: Role, length: usize| {
        let mut draft = map.draft();
        draft.set(map.role(lump).unwrap().id, vec![b' '; length]).unwrap();
        let saved = draft.plan(Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(new.container().shape().count, 18);
        (new.slots()[17].offset, saved.len())
    };
    assert_eq!(offset_after(Role::Faces, 40), (size, bytes.len() + 28));
    let (offset, shrunk) = offset_after(Role::Faces, 4);
    assert_eq!((usize::try_from(offset).unwrap(), shrunk), (bytes.len() - 8, bytes.len() - 8));
}
