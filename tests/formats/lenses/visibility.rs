//! Visibility on real maps: the laws, and faults that show them failing.

use bspkit::bytes::ByteOrder;
use bspkit::content::visibility::{VisSet, Visibility, compress};
use bspkit::dialect::{Role, VisModel};
use bspkit::{Bsp, ErrorKind, Layout};

use super::{corpus, own_maps, saved};

/// What was looked at.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    rows: usize,
    damaged: usize,
    /// Rows by leaf whose bytes the compressor would write otherwise.
    odd: usize,
    edits: usize,
}

fn keys(visibility: &Visibility<'_>) -> Vec<(VisSet, usize)> {
    visibility.sets().iter().flat_map(|set| (0..visibility.len()).map(|index| (*set, index))).collect()
}

/// The bytes of a lump.
fn bytes(map: &Bsp<'_>, role: Role) -> Vec<u8> {
    let mut bytes = map.bytes(map.role(role).unwrap().id).unwrap().to_vec();
    // The count and the offsets of a console's.
    if map.byte_order() == ByteOrder::Big {
        let words = 1 + 2 * map.visibility().unwrap().len();
        bytes.chunks_exact_mut(4).take(words).for_each(<[u8]>::reverse);
    }
    bytes
}

/// That every row but one says what it said, in the bytes it had.
fn untouched(old: (&Visibility<'_>, &[u8]), new: (&Visibility<'_>, &[u8]), but: (VisSet, usize)) -> Result<(), String> {
    for key in keys(old.0).into_iter().filter(|key| *key != but) {
        let bytes = |(visibility, lump): (&Visibility<'_>, &[u8])| {
            visibility.extent(key.0, key.1).map(|range| range.map(|range| lump[range].to_vec())).ok()
        };
        if old.0.row(key.0, key.1).ok() != new.0.row(key.0, key.1).ok() {
            return Err(format!("{key:?} says something else"));
        }
        if bytes(old) != bytes(new) {
            return Err(format!("{key:?} has other bytes"));
        }
    }
    Ok(())
}

/// All laws on a map.
fn check(map: &Bsp<'_>, name: &str) -> Seen {
    let old = match map.visibility() {
        Ok(old) => old,
        Err(error) => {
            println!("{name}: {error}");
            assert_eq!(error.kind(), ErrorKind::Malformed, "{name}: {error}");
            return Seen::default();
        }
    };
    let lump = bytes(map, Role::Visibility);
    let mut seen = Seen::default();
    let is_exact = old.model() != VisModel::Matrix;
    for (set, index) in keys(&old) {
        match (old.row(set, index), old.extent(set, index)) {
            (Ok(Some(row)), Ok(Some(range))) => {
                seen.rows += 1;
                let is_same = if is_exact { compress(row.bytes()) == lump[range] } else { row.bytes() == &lump[range] };
                assert!(is_same || matches!(old.model(), VisModel::Leafs(_)), "{name}: {set:?} {index}");
                seen.odd += usize::from(!is_same);
            }
            (Ok(None), Ok(None)) => {}
            (Err(_), Err(_)) => seen.damaged += 1,
            other => panic!("{name}: {set:?} {index}: {other:?}"),
        }
    }
    assert_eq!(old.problems().count(), seen.damaged, "{name}");

    let with_rows: Vec<_> =
        keys(&old).into_iter().filter(|(set, index)| old.extent(*set, *index).is_ok_and(|it| it.is_some())).collect();
    // Three rows: the first, one in the middle, the last.
    let picks = [0, with_rows.len() / 2, with_rows.len().saturating_sub(1)];
    for key @ (set, index) in picks.into_iter().filter_map(|pick| with_rows.get(pick).copied()) {
        let mut draft = map.draft();
        let before = old.row(set, index).unwrap().unwrap();
        let Some(target) = (0..old.len()).rev().find(|to| before.clone().set(*to, true).is_ok()) else { continue };
        let was = before.sees(target);
        // A row of nothing and a row of everything differ most in size.
        for row in [old.plain(false), old.plain(true)] {
            draft.visibility().unwrap().set_row(set, index, row.clone()).unwrap();
            let Some(saved) = saved(&draft, name) else { continue };
            let again = saved.visibility().unwrap();
            assert_eq!(again.row(set, index).unwrap(), Some(row), "{name}: {key:?}");
            untouched((&old, &lump), (&again, &bytes(&saved, Role::Visibility)), key)
                .unwrap_or_else(|why| panic!("{name}: {why}"));
            seen.edits += 1;

            // Taken back in what was saved: rows that were tight are so again.
            let mut draft = saved.draft();
            draft.visibility().unwrap().set_row(set, index, before.clone()).unwrap();
            let range = old.extent(set, index).unwrap().unwrap();
            let is_exact = !is_exact || compress(before.bytes()) == lump[range.clone()];
            let is_alone = with_rows.iter().filter(|(set, index)| {
                old.extent(*set, *index)
                    .unwrap()
                    .is_some_and(|other| other.start < range.end && range.start < other.end)
            });
            if is_exact && is_alone.count() == 1 {
                let id = map.role(Role::Visibility).unwrap().id;
                assert!(
                    *draft.bytes(id).unwrap() == *map.bytes(id).unwrap(),
                    "{name}: {key:?} taken back gives other bytes"
                );
                if let Some(leafs) = map.role(Role::Leafs) {
                    assert!(*draft.bytes(leafs.id).unwrap() == *map.bytes(leafs.id).unwrap(), "{name}: {key:?} leafs");
                }
            }
        }
        let new = draft.visibility().unwrap();
        new.set_row(set, index, before).unwrap();
        new.set(set, index, target, !was).unwrap();
        assert!(new.is_edited());
        new.set(set, index, target, was).unwrap();
        assert!(!new.is_edited(), "{name}: {key:?}");
        assert!(draft.changes().unwrap().is_empty(), "{name}: {key:?}");
    }
    seen
}

#[test]
fn the_own_maps_keep_their_rows() {
    for path in own_maps() {
        let seen = check(&Bsp::open(&path).unwrap(), &path.display().to_string());
        assert_eq!(seen.damaged, 0, "{}", path.display());
        println!("{}: {seen:?}", path.display());
    }
}

#[test]
fn every_real_map_keeps_its_rows() {
    let mut sums: std::collections::BTreeMap<&str, (usize, Seen)> = Default::default();
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let seen = check(&map, &path.display().to_string());
        if seen.damaged > 0 {
            println!("{}: {} damaged rows", path.display(), seen.damaged);
        }
        let (maps, sum) = sums.entry(map.dialect().name).or_default();
        *maps += 1;
        sum.rows += seen.rows;
        sum.damaged += seen.damaged;
        sum.odd += seen.odd;
        sum.edits += seen.edits;
    }
    for (dialect, (maps, sum)) in sums {
        println!("{dialect}: {maps} maps, {sum:?}");
    }
}

#[test]
fn offsets_that_do_not_follow_break_the_law() {
    let map = Bsp::open("tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let old = map.visibility().unwrap();
    let lump = bytes(&map, Role::Visibility);
    let key = (VisSet::Pvs, 1);
    let mut draft = map.draft();
    draft.visibility().unwrap().set_row(key.0, key.1, old.plain(false)).unwrap();
    let id = map.role(Role::Visibility).unwrap().id;
    let new = draft.bytes(id).unwrap();
    assert_ne!(new.len(), lump.len(), "the fault needs a row of another length");
    let good = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    untouched((&old, &lump), (&good.visibility().unwrap(), &bytes(&good, Role::Visibility)), key).unwrap();

    // The fault: the lump is written and the leafs are not.
    let mut draft = map.draft();
    draft.set(id, new).unwrap();
    let bad = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    assert!(untouched((&old, &lump), (&bad.visibility().unwrap(), &bytes(&bad, Role::Visibility)), key).is_err());
}

#[test]
fn a_row_compressed_anew_breaks_the_law() {
    // A row of 2 bytes whose run passes its end, as compilers of the HLT family write it.
    let map = super::visibility_built::leafs(9, &[0, 3, 3], &[1, 0, 9, 0, 7]);
    let bytes_of = |lump: &[u8]| super::visibility_built::leafs(9, &[0, 3, 3], lump);
    let old = map.visibility().unwrap();
    let compressed = bytes_of(&[1, 0, 1, 0, 2]);
    let new = compressed.visibility().unwrap();
    let key = (VisSet::Pvs, 5);
    let why = untouched((&old, &[1, 0, 9, 0, 7]), (&new, &[1, 0, 1, 0, 2]), key).unwrap_err();
    assert!(why.contains("other bytes"), "{why}");
}
