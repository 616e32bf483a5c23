//! Maps that nobody made: built at random over all dialects.

use bspkit::dialect::{self, Dialect, Role};
use bspkit::file::directory::EntryFields;
use bspkit::verify::Verdict;
use bspkit::{Bsp, Builder};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A plan for a map: what a builder gets.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) dialect: &'static Dialect,
    pub(crate) shape: Index,
    pub(crate) version: Index,
    pub(crate) text: String,
    pub(crate) lumps: std::collections::BTreeMap<usize, Vec<u8>>,
    pub(crate) compressed: bool,
    pub(crate) order: Option<Vec<usize>>,
    pub(crate) gap: Option<(Index, Vec<u8>)>,
    pub(crate) unaligned: Option<Index>,
    pub(crate) aliases: Vec<(Index, Index, i32, i32)>,
    pub(crate) members: Vec<Vec<u8>>,
    pub(crate) extra: bool,
    pub(crate) bspx: Vec<Vec<u8>>,
    pub(crate) trailer: bool,
    pub(crate) tail: Vec<u8>,
    pub(crate) padded: bool,
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

pub(crate) fn recipes() -> impl Strategy<Value = Recipe> {
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
    #[allow(dead_code)]
    pub(crate) fn explains(&self, verdict: &Verdict) -> bool {
        let is_ambiguous = self.dialect.name == "quake3" && self.gap.is_some();
        (!self.aliases.is_empty() || is_ambiguous) && verdict.to_string().contains("the saved file reads as")
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let Recipe { dialect, .. } = self;
        let shape = *self.shape.get(dialect.shapes);
        let entities = dialect.role(Role::Entities).unwrap();
        let is_source = dialect.rules.game_lump.is_some();
        let mut builder = Builder::new(dialect).shape(shape).version(*self.version.get(dialect.versions));
        // The game lump has members, or bytes of noise.
        let is_other = |lump: usize| self.members.is_empty() || dialect.rules.game_lump != Some(lump);
        let lumps = self.lumps.iter().filter(|(lump, _)| **lump < shape.count && **lump != entities);
        for (lump, bytes) in lumps.filter(|(lump, _)| is_other(**lump)) {
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
