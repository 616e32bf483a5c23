//! Planted faults of records that move: for every kind of reference one that does not follow.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use bspkit::verify::{Subject, run_on_list};
use bspkit::{Bsp, Draft, Result};

/// A list in another order, with all numbers that refer to it as they were.
pub(crate) fn alone(draft: &mut Draft<'_>, list: &str, order: &[usize]) -> Result<()> {
    let slot = draft.bsp().slot(list)?.id;
    let old = draft.bytes(slot)?.to_vec();
    let size = old.len() / order.len();
    let new: Vec<u8> = order.iter().flat_map(|index| old[index * size..(index + 1) * size].to_vec()).collect();
    draft.set(slot, new)
}

/// As it should be, but for the way back.
pub(crate) fn back_alone(draft: &mut Draft<'_>, list: &str, order: &[usize]) -> Result<()> {
    match draft.changes()?.is_empty() {
        true => (Subject::REAL.reorder)(draft, list, order),
        false => alone(draft, list, order),
    }
}

thread_local! {
    static IGNORED: RefCell<String> = const { RefCell::new(String::new()) };
}

fn forgetful(draft: &mut Draft<'_>, list: &str, order: &[usize]) -> Result<()> {
    let ignored = IGNORED.with_borrow(String::clone);
    draft.structure().ignore(ignored).reorder_list(list, order).map(drop)
}

/// Each kind of reference, the list that moves, and what does not follow it: without it a law fails.
const KINDS: &[(&str, &str, &str)] = &[
    ("an index", "TEXINFO", "FACES.texinfo"),
    ("an index in a list", "BRUSHES", "LEAFBRUSHES.brush"),
    ("a signed index", "EDGES", "SURFEDGES.edge"),
    ("a run", "SURFEDGES", "FACES.first_edge"),
    ("a set", "LEAFFACES", "LEAFS.first_leaf_face"),
    ("a node", "NODES", "NODES.children"),
    ("a leaf", "LEAFS", "NODES.children"),
    ("a clip node", "CLIPNODES", "CLIPNODES.children"),
    ("a head of a tree", "CLIPNODES", "MODELS.clip_nodes"),
    ("a name of a material", "TEXDATA_STRING_TABLE", "TEXDATA.name"),
    ("an entity", "MODELS", "ENTITIES"),
    ("brushes of models", "MODELS", "bspx:BRUSHLIST"),
    ("leafs of props", "game:sprp.leafs", "game:sprp.props.first_leaf"),
    ("a list in a game lump", "LEAFS", "game:sprp.leafs.leaf"),
    ("a model of a prop", "game:sprp.names", "game:sprp.props.model"),
    ("a corner of a face", "bspx:FACENORMALS.vectors", "bspx:FACENORMALS.corners.normal"),
    ("a parallel lump", "FACES", "FACEIDS"),
    ("a twin", "FACES", "FACES_HDR"),
    ("normals of the corners of faces", "FACES", "VERTNORMALINDICES"),
];

#[test]
fn a_reference_of_each_kind_that_does_not_follow_is_caught() {
    let maps = super::corpus::under(Path::new("tests/maps"));
    let mut caught = BTreeSet::new();
    for map in maps.iter().map(|path| Bsp::open(path).unwrap()) {
        for (kind, list, fact) in KINDS.iter().filter(|(.., fact)| map.slot(fact.split('.').next().unwrap()).is_ok()) {
            if caught.contains(kind) {
                continue;
            }
            IGNORED.set((*fact).to_owned());
            let outcome = run_on_list(&map, &Subject { reorder: forgetful, ..Subject::REAL }, list);
            if !outcome.is_ok() {
                assert!(run_on_list(&map, &Subject::REAL, list).is_ok(), "{kind}");
                caught.insert(kind);
            }
        }
    }
    let missed: Vec<_> = KINDS.iter().filter(|(kind, ..)| !caught.contains(kind)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
