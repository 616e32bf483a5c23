//! Maps whose directories point at odd places: what edits of them do was wrong once.

use bspkit::dialect::{self, Role};
use bspkit::verify;
use bspkit::{Bsp, Builder, Compression, ErrorKind, Layout, SlotId};

const LAYOUTS: [Layout; 3] = [Layout::Keep, Layout::Append, Layout::Repack];

fn text(length: usize) -> Vec<u8> {
    let mut text = b"{\n\"classname\" \"worldspawn\"\n}\n\0".to_vec();
    text.splice(28..28, std::iter::repeat_n(b' ', length - text.len()));
    text
}

fn overwritten(mut bytes: Vec<u8>, at: usize, word: usize) -> Vec<u8> {
    bytes[at..at + 4].copy_from_slice(&i32::try_from(word).unwrap().to_le_bytes());
    bytes
}

/// Edits the entities under each layout; what is refused is refused with a reason, what is saved obeys the laws.
fn assert_sound(bytes: &[u8], may_refuse: &[Layout]) {
    let map = Bsp::parse(bytes).unwrap();
    let outcome = verify::run(&map);
    assert!(outcome.is_ok(), "{outcome:?}");
    for layout in LAYOUTS {
        for length in [40, 60, 3000] {
            let mut draft = map.draft();
            draft.set(map.role(Role::Entities).unwrap().id, text(length)).unwrap();
            match draft.plan(layout) {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Refused);
                    assert!(may_refuse.contains(&layout), "{layout:?} {length}: {error}");
                }
                Ok(plan) => {
                    let (saved, slot) = (plan.to_vec(), map.role(Role::Entities).unwrap().id);
                    verify::compare(&map, &saved, Some(layout), Some((slot, &text(length)))).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_bspx_entry_in_a_gap_between_lumps_stays_an_entry() {
    let builder = Builder::new(&dialect::QUAKE2).lump(1, [1; 40]).lump(0, text(50)).lump(13, [2; 48]);
    let builder = builder.gap_before(13, [7; 20]).order(&[1, 0, 13]);
    let bytes = builder.bspx("RGBLIGHTING", [5; 8]).bspx("LIGHTINGDIR", [6; 20]).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let word = bytes.windows(4).position(|window| window == b"BSPX").unwrap() + 8 + 32 + 24;
    let gap = map.role(Role::Entities).unwrap().stored.end;
    let bytes = overwritten(bytes, word, gap);
    assert_eq!(*Bsp::parse(&bytes).unwrap().stored(SlotId::Bspx(1)), [7; 20]);
    assert_sound(&bytes, &[]);
}

#[test]
fn a_bspx_entry_that_shares_the_entities_keeps_their_bytes() {
    let builder = Builder::new(&dialect::QUAKE2).lump(1, [1; 40]).lump(0, text(50)).lump(13, [2; 48]);
    let bytes = builder.order(&[1, 0, 13]).bspx("LMSHIFT", [6; 20]).build().unwrap();
    let entities = Bsp::parse(&bytes).unwrap().role(Role::Entities).unwrap().stored.start;
    let word = bytes.windows(4).position(|window| window == b"BSPX").unwrap() + 8 + 24;
    assert_sound(&overwritten(bytes, word, entities + 4), &[]);
}

#[test]
fn a_bspx_entry_over_its_own_directory_pins_the_block() {
    let bytes = Builder::new(&dialect::QUAKE2).lump(0, text(50)).bspx("LMSHIFT", [6; 20]).build().unwrap();
    let block = bytes.windows(4).position(|window| window == b"BSPX").unwrap();
    assert_sound(&overwritten(bytes, block + 8 + 24, block + 4), &LAYOUTS);
}

#[test]
fn a_member_outside_of_the_game_lump_keeps_its_bytes_and_its_place() {
    let builder = Builder::new(&dialect::SOURCE).lump(1, [1; 40]).lump(0, text(50)).lump(14, [2; 48]);
    let builder = builder.game_lump(*b"sprp", 6, [5; 9]).game_lump(*b"dprp", 4, [6; 12]);
    let bytes = builder.order(&[1, 0, 14, 35]).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let word = map.role(Role::GameLump).unwrap().stored.start + 4 + 8;
    // Over the entities, over another lump, before everything: each is a slot, and none may move.
    for role in [Role::Entities, Role::Models, Role::Planes] {
        let place = map.role(role).unwrap().stored.start;
        let odd = overwritten(bytes.clone(), word, place);
        let odd_map = Bsp::parse(&odd).unwrap();
        assert_eq!(odd_map.slot("game:sprp").unwrap().stored, place..place + 9);
        assert!(odd_map.container().pinned(SlotId::Game(0)).is_some());
        assert_sound(&odd, &LAYOUTS);
        // Its own edit would have to lay the lump again.
        let mut draft = odd_map.draft();
        draft.set(SlotId::Game(1), vec![1; 40]).unwrap();
        assert_eq!(draft.plan(Layout::Keep).unwrap_err().kind(), ErrorKind::Refused);
    }
}

#[test]
fn a_lump_that_shares_the_game_lumps_directory_sees_no_offset_change() {
    let builder = Builder::new(&dialect::SOURCE).lump(1, [1; 40]).lump(0, text(50)).lump(7, [2; 56]);
    let bytes = builder.game_lump(*b"sprp", 6, [5; 9]).order(&[1, 0, 35, 7]).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let (faces, game_lump) = (map.container().shape().entry_offset(7), map.role(Role::GameLump).unwrap());
    let shared = overwritten(bytes.clone(), faces, game_lump.stored.start + 2);
    assert!(Bsp::parse(&shared).unwrap().container().pinned(SlotId::Lump(35)).is_some());
    assert_sound(&shared, &LAYOUTS);
}

#[test]
fn a_trailer_with_padding_before_it_follows_the_entities() {
    let builder = Builder::new(&dialect::SOURCE17).lump(1, [1; 40]).lump(0, text(49)).order(&[1, 0]).trailer();
    let plain = builder.build().unwrap();
    let mut bytes = plain[..plain.len() - 10].to_vec();
    bytes.extend([0; 3]);
    bytes.extend(&plain[plain.len() - 10..]);
    let map = Bsp::parse(&bytes).unwrap();
    for layout in LAYOUTS {
        let mut draft = map.draft();
        draft.set(SlotId::Lump(1), vec![3; 60]).unwrap();
        let saved = draft.plan(layout).unwrap().to_vec();
        let entities = Bsp::parse(&saved).unwrap().slots()[0].offset;
        assert_eq!(saved[saved.len() - 10..saved.len() - 6], entities.to_le_bytes(), "{layout:?}");
    }
}

#[test]
fn a_map_that_was_cut_short_keeps_its_dialect() {
    for dialect in dialect::ALL {
        let builder = Builder::new(dialect).lump(1, [1; 40]).lump(0, text(50)).lump(7, [2; 560]).lump(4, [3; 80]);
        let whole = builder.build().unwrap();
        let header = dialect.shapes[0].header_size();
        for end in [header, header + 40, whole.len() - 1] {
            if let Ok(found) = dialect::detect(&whole[..end]) {
                // Blue Shift is told by its text alone.
                let is_told = dialect.name == found.dialect.name || dialect.name == "blueshift";
                assert!(is_told, "{} cut at {end} reads as {}", dialect.name, found.dialect.name);
            }
        }
    }
}

#[test]
fn an_18th_entry_does_not_depend_on_the_files_size() {
    let dialect = &dialect::QUAKE3;
    let builder = Builder::new(dialect).version(47).shape(dialect.shapes[1]).lump(0, text(50)).lump(17, [4; 128]);
    let whole = builder.build().unwrap();
    for end in [whole.len(), whole.len() - 100, whole.len() - 150] {
        assert_eq!(Bsp::parse(&whole[..end]).unwrap().container().shape().count, 18, "cut at {end}");
    }
}

/// A lump over the directory cannot keep its bytes while the directory changes: saving must be forced, and the report
/// names it. An edit that changes no word under the lump needs no force.
#[test]
fn a_lump_over_the_directory_does_not_change_in_silence() {
    let builder = Builder::new(&dialect::SOURCE).lump(0, text(50)).lump(1, [1; 40]).lump(14, [2; 48]);
    let bytes = builder.order(&[0, 1, 14]).build().unwrap();
    // The game lump, which has words of its own, is no exception.
    let places = [((4, 1032), 3000, true), ((1000, 36), 3000, false), ((8, 4), 40, false), ((8, 4), 3000, true)];
    for ((place, length, changes), lump) in places.into_iter().flat_map(|case| [(case, 63), (case, 35)]) {
        let bytes = overwritten(overwritten(bytes.clone(), 8 + lump * 16, place.0), 8 + lump * 16 + 4, place.1);
        let map = Bsp::parse(&bytes).unwrap();
        let mut draft = map.draft();
        draft.set(map.role(Role::Entities).unwrap().id, text(length)).unwrap();
        let plan = draft.plan(Layout::Append).unwrap();
        let (old, new) = (map.stored(SlotId::Lump(lump)), Bsp::from_vec(plan.to_vec()).unwrap());
        assert_eq!(*old != *new.stored(SlotId::Lump(lump)), changes, "{place:?} {length}");
        assert_eq!(plan.report().overwritten.len(), usize::from(changes), "{place:?} {length}");
        assert_eq!(plan.needs_force().is_some_and(|why| why.contains("over words of a directory")), changes);
        assert_eq!(plan.check_force(false).is_err(), changes);
        assert!(plan.check_force(true).is_ok());
    }
}

/// The offset of the entry of a member of the game lump.
fn entry_of_member(map: &Bsp<'_>, member: usize) -> usize {
    map.role(Role::GameLump).unwrap().stored.start + 4 + 16 * member
}

/// Members with the same bytes, or one within another: an edit gives the edited one its own.
#[test]
fn a_member_that_shares_its_bytes_gets_its_own() {
    let builder = Builder::new(&dialect::SOURCE).lump(1, [1; 40]).lump(0, text(50)).lump(14, [2; 48]);
    let builder =
        builder.game_lump(*b"sprp", 6, [5; 12]).game_lump(*b"dprp", 4, [6; 12]).game_lump(*b"aaaa", 4, [7; 9]);
    let bytes = builder.order(&[1, 0, 14, 35]).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let first = map.slot("game:sprp").unwrap().stored.start;
    for (start, length) in [(first, 12), (first + 2, 8)] {
        let entry = entry_of_member(&map, 1);
        let shared = overwritten(overwritten(bytes.clone(), entry + 8, start), entry + 12, length);
        let odd = Bsp::parse(&shared).unwrap();
        for (edited, other) in [("game:sprp", "game:dprp"), ("game:dprp", "game:sprp")] {
            for (new, layout) in
                [vec![9; 12], vec![9; 8], vec![9; 40]].iter().flat_map(|new| LAYOUTS.map(|it| (new, it)))
            {
                let mut draft = odd.draft();
                let slot = |map: &Bsp<'_>, name: &str| map.slot(name).unwrap().id;
                draft.set(slot(&odd, edited), new.clone()).unwrap();
                let saved = Bsp::from_vec(draft.plan(layout).unwrap().to_vec()).unwrap();
                let bytes = |map: &Bsp<'_>, name: &str| map.bytes(slot(map, name)).unwrap().to_vec();
                assert_eq!(bytes(&saved, edited), *new, "{edited} {layout:?}");
                for name in [other, "game:aaaa"] {
                    assert_eq!(bytes(&saved, name), bytes(&odd, name), "{edited} {name} {layout:?}");
                }
            }
        }
    }
}

/// Engines measure a compressed member by the place of the next one of the list. One that shares its bytes, or that is
/// after the next one, cannot be compressed; raw ones can be edited.
#[test]
fn a_member_that_engines_would_measure_wrong_is_not_compressed() {
    let of = |id: &[u8; 4], byte| (*id, vec![byte; 400]);
    let builder = Builder::new(&dialect::SOURCE).lump(1, [1; 40]).lump(0, text(50)).lump(14, [2; 48]);
    let builder = [of(b"sprp", 5), of(b"dprp", 6), of(b"aaaa", 7)]
        .into_iter()
        .fold(builder, |builder, (id, bytes)| builder.game_lump(id, 4, bytes));
    let bytes = builder.order(&[1, 0, 14, 35]).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let starts = ["game:sprp", "game:dprp", "game:aaaa"].map(|name| map.slot(name).unwrap().stored.start);
    // The places of the three in the list, and which of them can be compressed.
    for (places, can) in [
        ([0, 1, 2], [true, true, true]),
        ([0, 0, 2], [false, false, true]),
        ([1, 0, 2], [false, true, true]),
        ([0, 2, 1], [true, false, true]),
        ([0, 1, 1], [true, false, true]),
    ] {
        let odd = (0..3).fold(bytes.clone(), |bytes, member| {
            overwritten(bytes, entry_of_member(&map, member) + 8, starts[places[member]])
        });
        let odd = Bsp::parse(&odd).unwrap();
        for (member, can) in can.into_iter().enumerate() {
            for layout in LAYOUTS {
                let mut draft = odd.draft();
                draft.set_compression(SlotId::Game(member), Compression::Lzma).unwrap();
                let planned = draft.plan(layout);
                assert_eq!(planned.is_ok(), can, "{places:?} {member} {layout:?}");
                let Ok(plan) = planned else {
                    assert_eq!(planned.unwrap_err().kind(), ErrorKind::Refused);
                    continue;
                };
                let bytes = plan.to_vec();
                let saved = Bsp::parse(&bytes).unwrap();
                for member in 0..3 {
                    let slot = SlotId::Game(member);
                    assert_eq!(saved.bytes(slot).unwrap(), odd.bytes(slot).unwrap(), "{places:?} {member} {layout:?}");
                }
                assert_eq!(
                    engine_reads(&saved, &bytes, member),
                    Some(vec![5 + u8::try_from(places[member]).unwrap(); 400])
                );
            }
        }
    }
}

/// A compressed member as Source reads it: from its own offset to the offset of the next one of the list.
fn engine_reads(map: &Bsp<'_>, bytes: &[u8], member: usize) -> Option<Vec<u8>> {
    let word = |member: usize| {
        let at = entry_of_member(map, member) + 8;
        usize::try_from(i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())).unwrap()
    };
    let end = match word(member + 1) {
        0 => map.role(Role::GameLump).unwrap().stored.end,
        next => next,
    };
    let room = bytes.get(word(member)..end)?;
    // The header: `LZMA`, the size of what is packed, the size of the packed bytes, five bytes of properties.
    let packed = u32::from_le_bytes(room.get(8..12)?.try_into().unwrap());
    let stored = room.get(..17 + usize::try_from(packed).unwrap())?;
    bspkit::file::lzma::decompress(stored).ok()
}
