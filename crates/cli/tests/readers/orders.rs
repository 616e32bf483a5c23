//! Maps whose records came into another order are the same maps to other readers: as many records of each kind, and the
//! same props in the same clusters.

use std::path::PathBuf;

use bspkit::{Bsp, Layout};

use crate::run::same_lines;
use crate::{Facts, Reader, maps, shuffle};

/// The facts without bytes, order and numbers of models.
fn plain(facts: &Facts) -> Facts {
    let mut plain: Facts = facts.iter().filter_map(|fact| one(fact)).collect();
    plain.sort();
    plain
}

fn one(fact: &str) -> Option<String> {
    let words: Vec<&str> = fact.split(' ').collect();
    match words[0] {
        "lump" | "member" => {
            let count = words.iter().skip(3).find(|word| word.parse::<usize>().is_ok());
            Some(format!("{} {} {}", words[0], words[1], count.unwrap_or(&"")))
        }
        "entity" => Some(fact.split("[\"model\", \"*").next().unwrap_or(fact).to_owned()),
        "map" | "count" | "prop" | "pak" | "failed" | "end" => Some(fact.to_owned()),
        _ => None,
    }
}

#[test]
fn another_order_is_the_same_map() {
    for reader in Reader::all() {
        let folder = tempfile::tempdir().unwrap();
        let (mut paths, mut before) = (Vec::<PathBuf>::new(), Vec::new());
        for room in reader.rooms {
            let map = Bsp::open(maps::fixture(room)).unwrap();
            let mut draft = map.draft();
            let (orders, _) = shuffle::reorder_all(&mut draft, 2, &[]);
            assert!(orders.len() > 20, "{room}: {}", orders.len());
            let path = folder.path().join(format!("{}.bsp", room.replace('/', "-")));
            std::fs::write(&path, draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
            paths.push(path);
            before.push(maps::fixture(room));
        }
        for ((room, old), new) in reader.rooms.iter().zip(reader.read(&before)).zip(reader.read(&paths)) {
            let case = format!("{}, {room}", reader.name);
            same_lines(&plain(&old), &plain(&new)).unwrap_or_else(|difference| panic!("{case}: {difference}"));
        }
    }
}

/// Leafs that do not follow in the lists of props are noticed.
#[test]
fn leafs_of_props_that_do_not_follow_are_noticed() {
    let Some(reader) = Reader::srctools() else { return };
    let room = maps::fixture("source/room_v20");
    let map = Bsp::open(&room).unwrap();
    let len = map.table(bspkit::dialect::source::LEAFS).unwrap().len();
    let order = shuffle::order(&map, "LEAFS", len, &mut shuffle::Random(2));
    let folder = tempfile::tempdir().unwrap();
    let saved = |fault: &str| {
        let mut draft = map.draft();
        draft.structure().ignore(fault).reorder_list("LEAFS", &order).unwrap();
        let path = folder.path().join("t.bsp");
        std::fs::write(&path, draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        plain(&reader.read_one(&path))
    };
    let before = plain(&reader.read_one(&room));
    assert!(before == saved("nothing"));
    assert!(before != saved("game:sprp.leafs.leaf"));
}
