//! Records that nothing needs: what is found, and that removing it changes nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/corpus.rs"]
#[allow(dead_code)]
mod corpus;

use std::collections::BTreeSet;
use std::path::Path;

use bspkit::op::check;
use bspkit::op::unused::Unused;
use bspkit::{Bsp, Draft, Layout};

fn fixtures() -> Vec<(String, Bsp<'static>)> {
    let maps = corpus::under(Path::new("tests/maps"));
    maps.into_iter().map(|path| (path.display().to_string(), Bsp::open(&path).unwrap())).collect()
}

fn saved(draft: &Draft<'_>) -> Bsp<'static> {
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

/// The maps of the corpus too, where there is one.
fn all_maps() -> Vec<(String, Bsp<'static>)> {
    let others =
        corpus::maps().into_iter().filter_map(|path| Some((path.display().to_string(), Bsp::open(path).ok()?)));
    fixtures().into_iter().chain(others).collect()
}

/// Removing all that is unused leaves nothing that is, and no fault.
#[test]
fn what_is_unused_goes_at_once() {
    let mut refused = Vec::new();
    for (name, map) in all_maps() {
        let unused = Unused::of(&map).unwrap();
        let mut draft = map.draft();
        let doubts = unused.lists.iter().any(|list| !list.doubts.is_empty());
        match draft.structure().force(doubts).remove(&unused.to_remove()) {
            Ok(_) => {}
            Err(error) if error.to_string().contains("not stored in the usual form") => {
                refused.push(name);
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        }
        let left = Unused::of(&saved(&draft)).unwrap();
        assert!(left.lists.is_empty(), "{name}: {left:#?}");
        let errors = check::introduced(&draft, &check::Options::default()).unwrap();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
    eprintln!("refused: {refused:?}");
}

/// Records at the end that nothing names are found in the lists whose records serve others, and go without a trace.
#[test]
fn planted_records_are_found() {
    let mut found = BTreeSet::new();
    for (name, map) in fixtures() {
        let before = Unused::of(&map).unwrap();
        for list in map.dialect().owned {
            let Ok((len, size)) = count(&map, list) else { continue };
            // The last of an odd number of planes would be in a pair with the first new one.
            let many = if *list == "PLANES" { 2 } else { 1 };
            if many == 2 && !len.is_multiple_of(2) {
                continue;
            }
            let mut draft = map.draft();
            let planted = match map.slot(list) {
                // What the last set of records ends with would get the new ones.
                Ok(slot) => {
                    let mut bytes = map.bytes(slot.id).unwrap().to_vec();
                    (0..many).for_each(|nth| bytes.extend(plane(nth, size)));
                    draft.set(slot.id, bytes).is_ok()
                }
                Err(_) => draft.structure().splice_list(list, len..len, vec![0; many * size]).is_ok(),
            };
            let planted = if planted { saved(&draft) } else { continue };
            // Structs are detected from the numbers of records, and lists that run parallel have fewer now.
            let Ok(unused) = Unused::of(&planted).map(|unused| unused.beyond(&before)) else { continue };
            if unused.list(list) != (len..len + many).collect::<Vec<_>>() || unused.lists.len() > 1 {
                assert!(map.dialect().rules.game_lump.is_some(), "{name}: {list}: {unused:?}");
                continue;
            }
            let mut draft = planted.draft();
            draft.structure().force(true).remove(&unused.to_remove()).unwrap();
            let after = saved(&draft);
            for (old, new) in map.slots().iter().zip(after.slots()) {
                assert_eq!(map.bytes(old.id).unwrap(), after.bytes(new.id).unwrap(), "{name}: {list}, {}", old.name);
            }
            found.insert(*list);
        }
    }
    assert!(found.len() > 30, "{} {found:?}", found.len());
}

/// One of two opposite planes, which is a record of other lumps as well.
fn plane(nth: usize, size: usize) -> Vec<u8> {
    let x = if nth == 0 { 1.0_f32 } else { -1.0 };
    let mut plane: Vec<u8> = [x, 0.0, 0.0, x].into_iter().flat_map(f32::to_le_bytes).collect();
    plane.resize(size, 0);
    plane
}

/// The number of records of a list, and the size of each.
fn count(map: &Bsp<'_>, list: &str) -> Result<(usize, usize), bspkit::Error> {
    let (lump, part) = match map.slot(list) {
        Ok(slot) => (slot, ""),
        Err(_) => {
            let (lump, part) = list.rsplit_once('.').unwrap_or((list, ""));
            (map.slot(lump)?, part)
        }
    };
    let parts = map.records(lump)?;
    let part = parts.iter().find(|records| records.list == part);
    part.map(|part| (part.count(), part.record.size)).ok_or_else(|| map.slot("no such list").unwrap_err())
}
