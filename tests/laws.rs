//! The laws on maps that nobody made: built at random over all dialects, then damaged at random.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/random.rs"]
mod random;

use bspkit::dialect::{self, Dialect, Role};
use bspkit::file::directory::EntryFields;
use bspkit::op::compress;
use bspkit::op::verify::{self, Verdict};
use bspkit::{Bsp, Builder, Layout, SlotId};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};

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

const LAYOUTS: [Layout; 3] = [Layout::Keep, Layout::Append, Layout::Repack];

/// A plan for a map: what a builder is told.
#[derive(Clone)]
struct Recipe {
    dialect: &'static Dialect,
    shape: Index,
    version: Index,
    text: String,
    lumps: std::collections::BTreeMap<usize, Vec<u8>>,
    compressed: bool,
    order: Option<Vec<usize>>,
    gap: Option<(Index, Vec<u8>)>,
    unaligned: Option<Index>,
    aliases: Vec<(Index, Index, i32, i32)>,
    members: Vec<Vec<u8>>,
    extra: bool,
    bspx: Vec<Vec<u8>>,
    trailer: bool,
    tail: Vec<u8>,
    padded: bool,
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.build();
        write!(f, "{} {:?}", self.dialect.name, self.text)?;
        let Ok(map) = Bsp::parse(&bytes) else { return write!(f, " which does not open") };
        for segment in map.container().segments() {
            write!(f, "\n  {:?} {:?} {:?}", segment.range, segment.kind, segment.slots)?;
        }
        Ok(())
    }
}

fn recipes() -> impl Strategy<Value = Recipe> {
    let small = || vec(any::<u8>(), 0..40);
    let first = (
        select(dialect::ALL),
        any::<Index>(),
        any::<Index>(),
        "(\\{\n(\"[a-z]{1,9}\" \"[ -!#-z]{0,30}\"\n){0,4}\\}\n){0,4}\0{0,2}",
        btree_map(1..64_usize, small(), 0..8),
        prop::bool::weighted(0.2),
        prop::option::of(Just((0..64).collect::<Vec<usize>>()).prop_shuffle()),
        prop::option::of((any::<Index>(), small())),
    );
    let second = (
        prop::option::of(any::<Index>()),
        vec((any::<Index>(), any::<Index>(), -8..8_i32, -8..8_i32), 0..2),
        vec(small(), 0..3),
        prop::bool::weighted(0.3),
        vec(small(), 0..3),
        any::<bool>(),
        prop_oneof![3 => Just(Vec::new()), 1 => small(), 1 => Just(vec![0; 2])],
        any::<bool>(),
    );
    (first, second).prop_map(|(first, second)| {
        let (dialect, shape, version, text, lumps, compressed, order, gap) = first;
        let (unaligned, aliases, members, extra, bspx, trailer, tail, padded) = second;
        Recipe {
            dialect,
            shape,
            version,
            text,
            lumps,
            compressed,
            order,
            gap,
            unaligned,
            aliases,
            members,
            extra,
            bspx,
            trailer,
            tail,
            padded,
        }
    })
}

impl Recipe {
    /// Whether a failure is the recipe's own: entries or bytes of noise where a Quake III map may have an 18th entry
    /// make the directory read as a sibling's after an edit.
    fn explains(&self, verdict: &Verdict) -> bool {
        let is_ambiguous = self.dialect.name == "quake3" && self.gap.is_some();
        (!self.aliases.is_empty() || is_ambiguous) && verdict.to_string().contains("the saved file reads as")
    }

    fn build(&self) -> Vec<u8> {
        let Recipe { dialect, .. } = self;
        let shape = *self.shape.get(dialect.shapes);
        let entities = dialect.role(Role::Entities).unwrap();
        let is_source = dialect.rules.game_lump.is_some();
        let mut builder = Builder::new(dialect).shape(shape).version(*self.version.get(dialect.versions));
        for (lump, bytes) in self.lumps.iter().filter(|(lump, _)| **lump < shape.count && **lump != entities) {
            builder = builder.lump(*lump, bytes.clone());
        }
        builder = if self.compressed && is_source {
            builder.compressed_lump(entities, self.text.as_bytes()).unwrap()
        } else {
            builder.lump(entities, self.text.as_bytes())
        };
        if let Some(order) = &self.order {
            let order: Vec<usize> = order.iter().copied().filter(|lump| *lump < shape.count).collect();
            builder = builder.order(&order);
        }
        if let Some((lump, bytes)) = &self.gap {
            builder = builder.gap_before(lump.index(shape.count), bytes.clone());
        }
        if let Some(lump) = &self.unaligned {
            builder = builder.align(lump.index(shape.count), 1);
        }
        if is_source {
            for (index, bytes) in self.members.iter().enumerate() {
                builder = match index {
                    1 => builder.compressed_game_lump(*b"dprp", 4, bytes).unwrap().game_lump_end(),
                    _ => builder.game_lump(*b"sprp", 6, bytes.clone()),
                };
            }
        }
        if self.extra && dialect.rules.extra_header {
            builder = builder.extra(1, [1; 7]).extra(4, [2; 4]);
        }
        for (index, bytes) in self.bspx.iter().enumerate() {
            builder = builder.bspx(&format!("LUMP_{index}"), bytes.clone());
        }
        if self.trailer && is_source && self.bspx.is_empty() {
            builder = builder.trailer();
        } else {
            builder = builder.tail(self.tail.clone());
        }
        if !self.padded {
            builder = builder.unpadded();
        }
        let mut bytes = builder.build().unwrap();
        // Entries that share, overlap, overrun: one lump's place with a little difference becomes another's.
        let fields: Vec<EntryFields> = shape.entries(&bytes).collect();
        for (from, to, offset, length) in &self.aliases {
            let (from, to) = (from.index(shape.count), to.index(shape.count));
            if to != entities {
                let EntryFields { offset: old, length: old_length, version, .. } = fields[from];
                let aliased =
                    EntryFields { offset: old + offset, length: old_length + length, version, unpacked: Some(0) };
                let (at, entry) = (shape.entry_offset(to), shape.entry.write(aliased));
                bytes[at..at + entry.len()].copy_from_slice(&entry);
            }
        }
        bytes
    }
}

proptest! {
    #![proptest_config(random::config(400, "tests/laws.proptest-regressions"))]

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
            draft.set(slot, new.clone()).unwrap();
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
