//! Comparisons with one mistake each, which the law of comparisons has to see.

use bspkit::Bsp;
use bspkit_ops::compare::{Change, Comparison, Kind, LumpChanges, whole};

use super::maps::{bloodlines, compressed, console, shared, source, with_bspx};
use super::named::{Compare, every_byte_is_named};

/// The right comparison without some changes.
fn without(old: &Bsp<'_>, new: &Bsp<'_>, most: usize, is_lost: fn(&LumpChanges, &Change) -> bool) -> Comparison {
    let mut found = whole(old, new, most);
    for lump in &mut found.lumps {
        let changes = std::mem::take(&mut lump.changes);
        lump.changes = changes.into_iter().filter(|change| !is_lost(lump, change)).collect();
    }
    found.lumps.retain(|lump| !lump.changes.is_empty() || lump.more > 0);
    found
}

/// The name of a fault, the map on which it is seen, and a comparison that has it.
type Fault = (&'static str, fn() -> Vec<u8>, Compare);

const FAULTS: &[Fault] = &[
    ("the header is not compared", source, |old, new, most| {
        without(old, new, most, |lump, _| lump.kind == Kind::Header)
    }),
    ("gaps are not compared", source, |old, new, most| without(old, new, most, |lump, _| lump.kind == Kind::Gaps)),
    ("versions of lumps are not compared", source, |old, new, most| {
        without(old, new, most, |_, change| matches!(change, Change::Version(..)))
    }),
    ("words of lumps are not compared", source, |old, new, most| {
        without(old, new, most, |_, change| matches!(change, Change::Word(_)))
    }),
    ("members of the game lump are not compared", source, |old, new, most| {
        without(old, new, most, |lump, _| lump.lump.starts_with("game:"))
    }),
    ("entries of BSPX are not compared", with_bspx, |old, new, most| {
        without(old, new, most, |lump, _| lump.lump.starts_with("bspx:"))
    }),
    ("the pakfile is not compared", source, |old, new, most| without(old, new, most, |lump, _| lump.lump == "PAKFILE")),
    ("bytes of unknown meaning are not compared", with_bspx, |old, new, most| {
        without(old, new, most, |_, change| matches!(change, Change::Bytes(_)))
    }),
    ("records are not compared", with_bspx, |old, new, most| {
        without(old, new, most, |_, change| matches!(change, Change::Record(_)))
    }),
    ("of lumps that share bytes one is named", shared, |old, new, most| {
        let mut found = whole(old, new, most);
        found.lumps.truncate(1);
        found
    }),
    ("places are taken for changes", source, |old, new, most| {
        let mut found = whole(old, new, most);
        for lump in &mut found.lumps {
            for change in lump.changes.iter_mut().filter(|change| matches!(change, Change::Bytes(_))) {
                *change = Change::Place(0, 4);
            }
        }
        found
    }),
    ("a map differs from itself", source, |old, new, most| {
        let mut found = whole(old, new, most);
        found.lumps.resize(1, LumpChanges::default());
        found
    }),
    ("another lump is named too", source, |old, new, most| {
        let mut found = whole(old, new, most);
        if let Some(first) = found.lumps.first().cloned() {
            let mut other = first.clone();
            other.lump = "MODELS".to_owned();
            found.lumps.push(other);
        }
        found
    }),
];

#[test]
fn every_fault_of_a_comparison_is_seen() {
    for (name, map, wrong) in FAULTS {
        let bytes = map();
        let map = Bsp::parse(&bytes).unwrap();
        assert_eq!(every_byte_is_named(&map, 16, whole), Ok(()), "{name}: the right comparison fails");
        assert!(every_byte_is_named(&map, 16, *wrong).is_err(), "{name}: nobody sees it");
    }
}

#[test]
fn the_law_of_comparisons_holds_for_built_maps() {
    for map in [bloodlines, compressed, console, shared, source, with_bspx] {
        let bytes = map();
        assert_eq!(every_byte_is_named(&Bsp::parse(&bytes).unwrap(), 40, whole), Ok(()));
    }
}
