//! Visibility of built maps: shared rows, gaps, rows longer than they are read, damage, noise.

use bspkit::content::visibility::{VisSet, Visibility};
use bspkit::dialect::{self, Dialect, Role};
use bspkit::{Bsp, Builder, Draft, ErrorKind, Layout};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{random, words};

/// A GoldSrc map with so many visible leafs, behind leaf 0; the offsets are theirs, those left out are -1.
pub(crate) fn leafs(visible: usize, offsets: &[i32], lump: &[u8]) -> Bsp<'static> {
    let mut leafs = vec![0xAB; 28 * (visible + 1)];
    for leaf in 0..=visible {
        let offset = offsets.get(leaf).copied().unwrap_or(-1);
        leafs[28 * leaf + 4..28 * leaf + 8].copy_from_slice(&offset.to_le_bytes());
    }
    let mut model = vec![0; 64];
    model[52..56].copy_from_slice(&i32::try_from(visible).unwrap().to_le_bytes());
    let builder =
        Builder::new(&dialect::GOLDSRC).lump(0, "{}\n\0").lump(4, lump.to_vec()).lump(10, leafs).lump(14, model);
    Bsp::from_vec(builder.build().unwrap()).unwrap()
}

fn with_lump(dialect: &'static Dialect, lump: &[u8]) -> Bsp<'static> {
    let index = dialect.role(Role::Visibility).unwrap();
    let bytes = Builder::new(dialect).lump(0, "{}\n\0").lump(index, lump.to_vec()).build().unwrap();
    Bsp::from_data(bytes.into(), Some(dialect)).unwrap()
}

fn clusters(lump: &[u8]) -> Bsp<'static> {
    with_lump(&dialect::QUAKE2, lump)
}

/// The visibility lump and the offsets of leafs as a draft has them.
fn laid(draft: &Draft<'_>) -> (Vec<u8>, Vec<i32>) {
    let leafs = draft.bytes(draft.bsp().slot("LEAFS").unwrap().id).unwrap();
    let offset = |leaf: &[u8]| i32::from_le_bytes(leaf[4..8].try_into().unwrap());
    (lump_of(draft), leafs.chunks_exact(28).map(offset).collect())
}

fn lump_of(draft: &Draft<'_>) -> Vec<u8> {
    draft.bytes(draft.bsp().role(Role::Visibility).unwrap().id).unwrap().to_vec()
}

/// The lens of a draft.
fn opened<'d>(draft: &'d mut Draft<'static>) -> &'d mut Visibility<'static> {
    draft.visibility().unwrap()
}

#[test]
fn a_row_that_grows_moves_those_behind() {
    // Leaf 0 has the offset of leaf 1 by accident, 0xEE are a gap, leaf 4 starts past the end, and stays so.
    let map = leafs(9, &[0, 0, 2, 5, 99, -1], &[0, 2, 1, 1, 0xEE, 3, 0, 1]);
    let mut draft = map.draft();
    assert!(
        opened(&mut draft)
            .row(VisSet::Pvs, 4)
            .unwrap_err()
            .to_string()
            .contains("row 4 of the PVS begins after the end")
    );
    assert_eq!(opened(&mut draft).problems().count(), 1);
    opened(&mut draft).set(VisSet::Pvs, 1, 1, true).unwrap();
    assert_eq!(laid(&draft), (vec![1, 0, 1, 1, 1, 0xEE, 3, 0, 1], vec![0, 0, 3, 6, 99, -1, -1, -1, -1, -1]));
    opened(&mut draft).set(VisSet::Pvs, 1, 9, true).unwrap();
    assert_eq!(laid(&draft), (vec![1, 1, 1, 1, 0xEE, 3, 0, 1], vec![0, 0, 2, 5, 99, -1, -1, -1, -1, -1]));
}

/// Compilers leave any number in leaf 0, which nobody reads.
#[test]
fn leaf_0_keeps_its_word() {
    let map = leafs(9, &[3, 0, 3], &[0, 2, 0xEE, 1, 1]);
    let mut draft = map.draft();
    opened(&mut draft).set(VisSet::Pvs, 1, 1, true).unwrap();
    let (lump, offsets) = laid(&draft);
    assert_eq!((lump, &offsets[..3]), (vec![1, 0, 1, 0xEE, 1, 1], &[3, 0, 4][..]));
    assert_eq!(opened(&mut draft).row(VisSet::Pvs, 0).unwrap(), None);
}

#[test]
fn a_shared_row_is_detached() {
    let map = leafs(9, &[0, 0, 0, 3, 4], &[1, 0, 1, 1, 1, 2]);
    let mut draft = map.draft();
    opened(&mut draft).set(VisSet::Pvs, 1, 2, true).unwrap();
    assert_eq!(laid(&draft), (vec![1, 0, 1, 1, 1, 2, 3, 0, 1], vec![0, 6, 0, 3, 4, -1, -1, -1, -1, -1]));
    // Both that share it, alike: in place. They share it again.
    opened(&mut draft).set(VisSet::Pvs, 2, 2, true).unwrap();
    assert_eq!(laid(&draft), (vec![3, 0, 1, 1, 1, 2], vec![0, 0, 0, 3, 4, -1, -1, -1, -1, -1]));
    // Both, not alike: the first one stays.
    opened(&mut draft).set(VisSet::Pvs, 2, 3, true).unwrap();
    let (lump, offsets) = laid(&draft);
    assert_eq!((lump, &offsets[..3]), (vec![3, 0, 1, 1, 1, 2, 7, 0, 1], &[0, 0, 6][..]));
    // Rows 3 and 4 overlap: the byte that both need stays.
    let mut draft = map.draft();
    opened(&mut draft).set(VisSet::Pvs, 3, 2, true).unwrap();
    let (lump, offsets) = laid(&draft);
    assert_eq!((lump, &offsets[3..5]), (vec![1, 0, 1, 1, 1, 2, 3, 1], &[6, 4][..]));
}

#[test]
fn a_leaf_without_a_row_gets_one() {
    let map = leafs(9, &[0, 0], &[1, 0, 1]);
    let mut draft = map.draft();
    assert!(opened(&mut draft).sees(5, 3).unwrap() && opened(&mut draft).row(VisSet::Pvs, 5).unwrap().is_none());
    assert!(!opened(&mut draft).sees(5, 0).unwrap(), "leaf 0 has no bit");
    opened(&mut draft).set(VisSet::Pvs, 5, 3, true).unwrap();
    assert!(!opened(&mut draft).is_edited(), "it was visible before");
    opened(&mut draft).set(VisSet::Pvs, 5, 3, false).unwrap();
    assert_eq!(laid(&draft), (vec![1, 0, 1, 0xFB, 1], vec![0, 0, -1, -1, -1, 3, -1, -1, -1, -1]));
    opened(&mut draft).set(VisSet::Pvs, 5, 3, true).unwrap();
    assert!(!opened(&mut draft).is_edited());
}

#[test]
fn what_cannot_be_set_is_refused() {
    let kind = |result: bspkit::Result<()>| result.unwrap_err().kind();
    let map = leafs(9, &[0, 0], &[1, 0, 1]);
    let mut draft = map.draft();
    assert_eq!(kind(opened(&mut draft).set(VisSet::Pvs, 0, 1, false)), ErrorKind::Refused);
    assert_eq!(kind(opened(&mut draft).set(VisSet::Pvs, 1, 0, true)), ErrorKind::NotFound);
    assert_eq!(kind(opened(&mut draft).set(VisSet::Pvs, 1, 10, true)), ErrorKind::NotFound);
    assert_eq!(kind(opened(&mut draft).set(VisSet::Pvs, 10, 1, true)), ErrorKind::NotFound);
    assert_eq!(kind(opened(&mut draft).set(VisSet::Phs, 1, 1, true)), ErrorKind::NotFound);
    let other = leafs(30, &[], &[1]).visibility().unwrap().plain(true);
    assert_eq!(kind(opened(&mut draft).set_row(VisSet::Pvs, 1, other)), ErrorKind::Refused);
    let map = leafs(9, &[], &[]);
    let mut draft = map.draft();
    let none = opened(&mut draft);
    assert!(none.is_empty() && none.sees(1, 9).unwrap());
    assert_eq!(kind(none.set(VisSet::Pvs, 1, 2, false)), ErrorKind::Refused);
}

#[test]
fn clusters_have_two_rows() {
    let lump = [words(&[2, 20, 21, 20, 22]), vec![3, 1, 2, 9]].concat();
    let map = clusters(&lump);
    let mut draft = map.draft();
    assert!(
        opened(&mut draft).sees(0, 1).unwrap()
            && !opened(&mut draft).hears(0, 1).unwrap()
            && opened(&mut draft).hears(1, 1).unwrap()
    );
    opened(&mut draft).set(VisSet::Phs, 0, 0, false).unwrap();
    // One byte becomes two; what lies behind follows, the unknown byte at the end too.
    assert_eq!(lump_of(&draft), [words(&[2, 20, 21, 20, 23]), vec![3, 0, 1, 2, 9]].concat());
    opened(&mut draft).set(VisSet::Pvs, 1, 0, false).unwrap();
    assert_eq!(lump_of(&draft), [words(&[2, 20, 21, 25, 23]), vec![3, 0, 1, 2, 9, 2]].concat());
}

#[test]
fn a_damaged_row_is_reported_and_the_others_are_read() {
    // In the header, before the lump, without a length, cut, past the end, and one that can be read.
    let lump = [words(&[3, 8, -5, 28, 30, 99, 29]), vec![0, 0, 0]].concat();
    let map = clusters(&lump);
    let mut draft = map.draft();
    let problems: Vec<_> = opened(&mut draft).problems().map(|error| error.to_string()).collect();
    let expected = [
        "row 0 of the PVS begins within the header, at 8 (VISIBILITY, record 0)",
        "row 1 of the PVS has a run of 0 zeros (VISIBILITY, record 1, offset 28)",
        "row 2 of the PVS begins after the end of the lump, at 99 (VISIBILITY, record 2)",
        "row 0 of the PHS begins before the lump, at -5 (VISIBILITY, record 0)",
        "row 1 of the PHS runs past the end of the lump (VISIBILITY, record 1, offset 30)",
        "row 2 of the PHS has a run of 0 zeros (VISIBILITY, record 2, offset 29)",
    ];
    assert_eq!(problems, expected);
    assert!(opened(&mut draft).set(VisSet::Pvs, 0, 0, true).is_err(), "a bit of a row that is not known");
    {
        let visibility = opened(&mut draft);
        visibility.set_row(VisSet::Pvs, 0, visibility.plain(true))
    }
    .unwrap();
    let laid = lump_of(&draft);
    assert_eq!(laid, [words(&[3, 31, -5, 28, 30, 99, 29]), vec![0, 0, 0, 7]].concat());
    assert_eq!(clusters(&laid).visibility().unwrap().problems().count(), 4);
}

#[test]
fn headers_that_lie_are_refused_and_cost_nothing() {
    for (dialect, lump) in [
        (&dialect::QUAKE2, words(&[-1])),
        (&dialect::QUAKE2, words(&[i32::MAX])),
        (&dialect::QUAKE2, words(&[1, 12])),
        (&dialect::QUAKE2, vec![1, 0]),
        (&dialect::SOURCE, words(&[1 << 28, 4, 4])),
        (&dialect::QUAKE3, words(&[1])),
        (&dialect::QUAKE3, words(&[-1, 8])),
        (&dialect::QUAKE3, words(&[8, -8])),
        (&dialect::QUAKE3, words(&[1, i32::MAX])),
        (&dialect::QUAKE3, words(&[i32::MAX, 0])),
        // Rows that are too short for so many clusters.
        (&dialect::QUAKE3, [words(&[i32::MAX, 1]), vec![1, 2]].concat()),
        (&dialect::QUAKE3, [words(&[9, 1]), vec![0; 9]].concat()),
    ] {
        let error = with_lump(dialect, &lump).visibility().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{} {lump:?}: {error}", dialect.name);
        assert!(error.place().is_some(), "{error}");
    }
    // Of a matrix that ends early the rows that are there are read.
    let map = with_lump(&dialect::QUAKE3, &[words(&[8, 1]), vec![1, 2]].concat());
    let mut draft = map.draft();
    assert!(opened(&mut draft).sees(1, 1).unwrap() && !opened(&mut draft).sees(1, 0).unwrap());
    assert_eq!(
        opened(&mut draft).problems().map(|error| error.to_string()).collect::<Vec<_>>(),
        ["row 2 of the PVS runs past the end of the lump (VISIBILITY, record 2, offset 10)"]
    );
    assert!(opened(&mut draft).row(VisSet::Pvs, 0x7FFF_FFFE).is_err());
    assert!({
        let visibility = opened(&mut draft);
        visibility.set_row(VisSet::Pvs, 2, visibility.plain(true)).is_err()
    });
    opened(&mut draft).set(VisSet::Pvs, 1, 7, true).unwrap();
    assert_eq!(lump_of(&draft)[8..], [1, 0x82]);
    let visible = |says: i32| {
        let mut model = vec![0; 64];
        model[52..56].copy_from_slice(&says.to_le_bytes());
        let builder = Builder::new(&dialect::GOLDSRC).lump(0, "{}\n\0").lump(10, vec![0; 28 * 4]).lump(14, model);
        Bsp::from_vec(builder.build().unwrap()).unwrap().visibility().map(|_| ())
    };
    assert!(visible(3).is_ok());
    assert_eq!([4, -1, i32::MAX].map(|says| visible(says).unwrap_err().kind()), [ErrorKind::Malformed; 3]);
}

/// An edit: from, to, sees.
type Edit = (usize, usize, bool);

proptest! {
    #![proptest_config(random::config(1000, "tests/formats/lenses/visibility.seeds"))]

    /// Rows that share, overlap and overshoot: whatever is edited, the matrix is as the edits say and all other rows
    /// have their bytes.
    #[test]
    fn edits_reach_what_they_name(
        lump in vec(prop_oneof![2 => Just(0u8), 1 => 1..4u8, 2 => any::<u8>()], 1..60),
        offsets in vec(-2..70i32, 12),
        edits in vec((1..12usize, 1..12usize, any::<bool>()), 0..8),
    ) {
        let map = leafs(11, &offsets, &lump);
        edits_hold(&map, &edits, VisSet::Pvs)?;
    }

    #[test]
    fn edits_of_clusters_reach_what_they_name(
        lump in vec(prop_oneof![2 => Just(0u8), 1 => 1..4u8, 2 => any::<u8>()], 1..60),
        offsets in vec(prop_oneof![1 => -2..100i32, 4 => 84..120i32], 20),
        edits in vec((0..10usize, 0..10usize, any::<bool>()), 0..8),
        phs: bool,
    ) {
        let map = clusters(&[words(&[10]), words(&offsets), lump].concat());
        edits_hold(&map, &edits, if phs { VisSet::Phs } else { VisSet::Pvs })?;
    }

    #[test]
    fn noise_is_read_or_refused(lump: Vec<u8>, edits in vec((0..9usize, 0..9usize, any::<bool>()), 1..3)) {
        for dialect in dialect::ALL {
            let map = with_lump(dialect, &lump);
            let mut draft = map.draft();
            if let Ok(visibility) = draft.visibility() {
                for (from, to, sees) in &edits {
                    let _ = visibility.set(VisSet::Pvs, *from, *to, *sees);
                }
                let _ = visibility.problems().count();
                draft.changes().unwrap();
            }
        }
    }
}

fn edits_hold(map: &Bsp<'_>, edits: &[Edit], set: VisSet) -> Result<(), TestCaseError> {
    let old = map.visibility().unwrap();
    let mut draft = map.draft();
    let new = draft.visibility().unwrap();
    let mut edited = std::collections::BTreeMap::new();
    for (from, to, sees) in edits.iter().copied() {
        if new.set(set, from, to, sees).is_ok() {
            edited.insert((from, to), sees);
        }
    }
    let new = new.clone();
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let again = saved.visibility().unwrap();
    let bytes = |map: &Bsp<'_>| map.bytes(map.role(Role::Visibility).unwrap().id).unwrap().to_vec();
    for set_there in old.sets().iter().copied() {
        for from in 0..old.len() {
            let Ok(row) = old.row(set_there, from) else { continue };
            let mut expected = row.unwrap_or_else(|| old.plain(true));
            for (&(_, to), &sees) in edited.iter().filter(|((at, _), _)| *at == from && set_there == set) {
                expected.set(to, sees).unwrap();
            }
            let found = again.row(set_there, from).unwrap().unwrap_or_else(|| again.plain(true));
            prop_assert_eq!(&found, &expected, "{:?} {}", set_there, from);
            if old.row(set_there, from).unwrap() == new.row(set_there, from).unwrap() {
                let was = old.extent(set_there, from).unwrap().map(|range| bytes(map)[range].to_vec());
                let is = again.extent(set_there, from).unwrap().map(|range| bytes(&saved)[range].to_vec());
                prop_assert_eq!(was, is);
            }
        }
    }
    Ok(())
}

/// A row for each place would make lumps that engines refuse; all share one.
#[test]
fn what_is_filled_has_one_row() {
    let lump = |header: &[i32], rows: &[u8]| [&words(header), rows].concat();
    let filled = |map: &Bsp<'static>| {
        let mut draft = map.draft();
        let is_new = opened(&mut draft).fill().unwrap();
        assert!(!opened(&mut draft).fill().unwrap());
        assert_eq!(draft.plan(Layout::Keep).unwrap().is_identity(), !is_new);
        (is_new, draft)
    };
    // Leaf 3 has no row and keeps none; leaf 0 keeps its word.
    let (is_new, mut draft) = filled(&leafs(9, &[7, 0, 2, -1, 5], &[0, 2, 1, 1, 0xEE, 3, 0, 1]));
    assert_eq!((is_new, laid(&draft)), (true, (vec![0xFF, 1], vec![7, 0, 0, -1, 0, -1, -1, -1, -1, -1])));
    assert!((1..=9).all(|from| (1..=9).all(|to| opened(&mut draft).sees(from, to).unwrap())));

    // Two clusters, each with rows of its own, or with full ones already.
    let (is_new, draft) = filled(&clusters(&lump(&[2, 20, 21, 22, 23], &[1, 2, 3, 1])));
    assert_eq!((is_new, lump_of(&draft)), (true, lump(&[2, 20, 20, 20, 20], &[3])));
    let (is_new, draft) = filled(&clusters(&lump(&[2, 20, 21, 20, 21], &[3, 3])));
    assert_eq!((is_new, lump_of(&draft)), (false, lump(&[2, 20, 21, 20, 21], &[3, 3])));

    // A matrix, with a byte in each row that belongs to nothing.
    let (is_new, draft) = filled(&with_lump(&dialect::QUAKE3, &lump(&[2, 2], &[1, 9, 2, 9])));
    assert_eq!((is_new, lump_of(&draft)), (true, lump(&[2, 2], &[3, 0, 3, 0])));
}
