//! The laws on maps that nobody made: built at random over all dialects, then damaged at random.

use crate::{corpus, random, recipe};
use bspkit::compress;
use bspkit::dialect::{self, Dialect, Role};
use bspkit::verify::{self, Verdict};
use bspkit::{Bsp, ErrorKind, Layout, SlotId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use recipe::recipes;

/// Magic and version of what opens, and of what does not.
const MAGICS: &[&[u8]] = &[
    b"IBSP\x26\0\0\0",
    b"IBSP\x2e\0\0\0",
    b"VBSP\x14\0\0\0",
    b"VBSP\x15\0\0\0",
    b"PSBV\0\0\0\x14",
    b"\x1e\0\0\0",
    b"rBSP",
    b"",
];

const SOURCES: &[&Dialect] = &[
    &dialect::SOURCE17,
    &dialect::SOURCE,
    &dialect::SOURCE21,
    &dialect::L4D2,
    &dialect::SOURCE22,
    &dialect::STRATA,
    &dialect::CONTAGION,
    &dialect::VITAMIN,
    &dialect::SOURCE360,
];

const LAYOUTS: [Layout; 4] = [Layout::Keep, Layout::Append, Layout::Repack, Layout::Patch];

proptest! {
    #![proptest_config(random::config(400, "tests/proptest-regressions/laws.txt"))]

    #[test]
    fn laws_hold_on_built_maps(recipe in recipes()) {
        let bytes = recipe.build();
        // Aliases may make a directory that reads as another dialect's; what opens has to obey.
        if let Ok(map) = Bsp::parse(&bytes) {
            let outcome = verify::run(&map);
            let broken = outcome.laws.iter().any(|(_, law)| matches!(law, Verdict::Fail(_)) && !recipe.explains(law));
            prop_assert!(!broken, "{outcome:?}");
        } else {
            prop_assert!(!recipe.aliases.is_empty());
        }
    }

    #[test]
    fn any_slot_may_be_edited(recipe in recipes(), slot: Index, new in vec(any::<u8>(), 0..90)) {
        let bytes = recipe.build();
        let Ok(map) = Bsp::parse(&bytes) else { return Ok(()) };
        let slot = slot.get(map.slots()).id;
        // A game lump's own bytes are members and offsets; they are edited as members.
        prop_assume!(map.role(Role::GameLump).map(|lump| lump.id) != Some(slot));
        // Empty bytes for an empty slot and the like are no edit; an edit of text may turn a map into Blue Shift's.
        prop_assume!(map.dialect().rules.game_lump.is_some() || !matches!(slot, SlotId::Lump(0 | 1)));
        for layout in LAYOUTS {
            let mut draft = map.draft();
            if let Err(error) = draft.set(slot, new.clone()) {
                // The entry that ends the list of members is no lump, wherever it is.
                let name = &map.container().slot(slot).unwrap().name;
                prop_assert!(name == r"game:\x00\x00\x00\x00" && error.kind() == ErrorKind::Refused, "{error:?}");
                return Ok(());
            }
            let explained = map.container().damaged().next().is_some() || map.container().has_immovable();
            match draft.plan(layout) {
                Err(error) => prop_assert!(explained, "{error:?}"),
                Ok(plan) => {
                    let saved = plan.to_vec();
                    prop_assert_eq!(saved.len(), plan.size());
                    if let Err(what) = verify::compare(&map, &saved, Some(layout), Some((slot, &new))) {
                        // A member of id 0 is a dummy whose bytes nobody has; a lump over the header is noise that
                        // may read as a sibling's without it.
                        let is_dummy = map.container().slot(slot).unwrap().name == r"game:\x00\x00\x00\x00";
                        let is_noise = recipe.explains(&Verdict::Fail(what.clone()));
                        prop_assert!(is_dummy || is_noise, "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn any_map_may_be_compressed_and_back(mut recipe in recipes(), dialect in select(SOURCES), all: bool) {
        (recipe.dialect, recipe.aliases) = (dialect, Vec::new());
        let bytes = recipe.build();
        let map = Bsp::parse(&bytes).unwrap();
        let game_lump = map.role(Role::GameLump).unwrap().id;
        if map.container().pinned(game_lump).is_some() {
            return Ok(());
        }
        for layout in LAYOUTS {
            let mut draft = map.draft();
            compress::compress(&mut draft, &compress::Options::default().all(all)).unwrap();
            let small = draft.plan(layout).unwrap().to_vec();
            let small = Bsp::parse(&small).unwrap();
            let mut draft = small.draft();
            compress::decompress(&mut draft, &compress::Options::default()).unwrap();
            let large = draft.plan(layout).unwrap().to_vec();
            let large = Bsp::parse(&large).unwrap();
            for slot in map.slots().iter().filter(|slot| slot.id != game_lump) {
                let bytes = map.bytes(slot.id).unwrap();
                prop_assert_eq!(&*small.bytes(slot.id).unwrap(), &*bytes, "{}, {:?}", slot.name, layout);
                prop_assert_eq!(&*large.stored(slot.id), &*bytes, "{}, {:?}", slot.name, layout);
                prop_assert_eq!(large.container().slot(slot.id).unwrap().version, slot.version);
            }
        }
    }

    #[test]
    fn damage_never_panics_and_never_breaks_a_law(
        recipe in recipes(),
        cut: Option<Index>,
        flips in vec((any::<Index>(), any::<u8>()), 0..12),
        in_directory: bool,
    ) {
        let mut bytes = recipe.build();
        let reach = if in_directory { bytes.len().min(300) } else { bytes.len() };
        for (at, byte) in flips {
            // Magic and version stay, so that something opens.
            let at = at.index(reach);
            if at >= 8 {
                bytes[at] = byte;
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(map) = Bsp::parse(&bytes) {
            let outcome = verify::run(&map);
            // A directory of noise may read as one dialect before an edit and as its sibling behind it.
            let sibling = |verdict: &Verdict| verdict.to_string().contains("the saved file reads as");
            let broken = outcome.laws.iter().any(|(_, law)| matches!(law, Verdict::Fail(_)) && !sibling(law));
            prop_assert!(!broken, "{outcome:?}");
        }
    }

    #[test]
    fn noise_is_an_error_or_opens(noise in vec(any::<u8>(), 0..3000), magic in select(MAGICS)) {
        let bytes = [magic, &noise].concat();
        if let Ok(map) = Bsp::parse(&bytes) {
            let outcome = verify::run(&map);
            prop_assert!(outcome.is_ok(), "{outcome:?}");
        }
    }
}

#[test]
fn everything_may_cross_threads() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Bsp<'static>>();
    assert_send_sync::<bspkit::Draft<'static>>();
    assert_send_sync::<bspkit::Plan<'static>>();
    assert_send_sync::<bspkit::Error>();
}

#[test]
fn an_error_is_the_size_of_a_pointer() {
    assert_eq!(size_of::<bspkit::Error>(), size_of::<usize>());
}

/// The word of each lump of own and, where there are some, real maps leads past the end of the file, for all or half of
/// its bytes: what other lumps refer to it by is not known then, and is not edited.
#[test]
fn laws_hold_on_maps_that_lost_a_lump() {
    let own = ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"];
    let own = own.map(|name| format!("tests/maps/{name}.bsp").into());
    let real = corpus::maps().into_iter().filter(|path| path.metadata().is_ok_and(|file| file.len() < 50_000));
    let mut tried = 0;
    for path in real.chain(own) {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(map) = Bsp::parse(&bytes) else { continue };
        for slot in map.slots().iter().filter(|slot| slot.is_top_level() && slot.stored.len() > 1) {
            // The directory has the offset before the length.
            let words = [slot.stored.start, slot.stored.len()].map(|word| u32::try_from(word).unwrap().to_le_bytes());
            let Some(at) = bytes[..2048.min(bytes.len())].windows(8).position(|found| found == words.as_flattened())
            else {
                continue;
            };
            for past in [bytes.len() + 400, (bytes.len() - slot.stored.len() / 2) & !3] {
                let mut cut = bytes.clone();
                cut[at..at + 4].copy_from_slice(&u32::try_from(past).unwrap().to_le_bytes());
                let Ok(map) = Bsp::parse(&cut) else { continue };
                let outcome = verify::run(&map);
                assert!(outcome.is_ok(), "{}, {}: {outcome:?}", path.display(), slot.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}
