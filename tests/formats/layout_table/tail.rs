//! Rows 7 to 10: what stands behind the last slot.

use bspkit::dialect::{self, Role};
use bspkit::file::directory::EntryFields;
use bspkit::verify;
use bspkit::{Bsp, Builder, Layout, SlotId};

use super::{assert_sound, at, last_end, padded, role, sandwich, text, with_entities};

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
        let bytes = builder.clone().build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let saved = with_entities(&map, text(55), Layout::Append).unwrap().to_vec();
        assert_eq!(saved.len(), padded(dialect, last_end(&map) + 56), "{}", dialect.name);
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

/// The last lump shares its first bytes with another one; emptied, it leaves nothing between that one and BSPX.
#[test]
fn row_7_bspx_follows_where_the_last_lump_is_emptied() {
    let whole = Builder::new(&dialect::QUAKE2).lump(0, text(49)).lump(1, [1; 40]).lump(13, [2; 48]).order(&[0, 1, 13]);
    let bytes = whole.bspx("RGBLIGHTING", [7; 5]).build().unwrap();
    let planes = Bsp::parse(&bytes).unwrap().slots()[1].stored.clone();
    // The planes reach 8 bytes into the last lump.
    let mut bytes = bytes;
    bytes[8 + 8 + 4..8 + 8 + 8].copy_from_slice(&48_u32.to_le_bytes());
    let map = Bsp::parse(&bytes).unwrap();
    assert_eq!((map.slots()[1].stored.len(), planes.len()), (48, 40));
    for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
        let mut draft = map.draft();
        draft.set(SlotId::Lump(13), Vec::new()).unwrap();
        let saved = draft.plan(layout).unwrap().to_vec();
        let new = Bsp::parse(&saved).unwrap();
        assert_eq!(*new.bytes(new.slot("bspx:RGBLIGHTING").unwrap().id).unwrap(), [7; 5], "{layout:?}");
        assert_eq!(*new.bytes(SlotId::Lump(1)).unwrap(), *map.bytes(SlotId::Lump(1)).unwrap());
        verify::compare(&map, &saved, Some(layout), Some((SlotId::Lump(13), &[]))).unwrap();
    }
}

/// The block is cut off: the first entry claims bytes behind the end, the second one begins there.
#[test]
fn row_11_nothing_is_put_behind_a_cut_bspx_entry() {
    let builder = Builder::new(&dialect::QUAKE2).lump(0, text(49)).lump(1, [1; 40]).order(&[0, 1]);
    let mut bytes = builder.bspx("RGBLIGHTING", [7; 50]).bspx("BRUSHLIST", [8; 9]).build().unwrap();
    let first = Bsp::parse(&bytes).unwrap().slot("bspx:RGBLIGHTING").unwrap().stored.start;
    bytes.truncate(first + 20);
    let map = Bsp::parse(&bytes).unwrap();
    let [light, brushes] = ["bspx:RGBLIGHTING", "bspx:BRUSHLIST"].map(|name| map.slot(name).unwrap().id);
    let mut draft = map.draft();
    draft.set(brushes, vec![9; 12]).unwrap();
    let error = draft.plan(Layout::Keep).unwrap_err();
    assert_eq!(error.kind(), bspkit::ErrorKind::Refused);
    assert!(error.to_string().starts_with("bspx:RGBLIGHTING runs past the end of the file"), "{error}");
    // New bytes for the entry that is cut off mend it.
    let mut draft = map.draft();
    draft.set(light, vec![6; 50]).unwrap();
    let saved = draft.plan(Layout::Keep).unwrap().to_vec();
    assert_eq!(*Bsp::parse(&saved).unwrap().bytes(light).unwrap(), [6; 50]);
}
