//! The trees of the models: from its head no node is reached twice, so that a walk ends. Where a child leads to nothing
//! is the references' matter.

use super::code::{LEAF_EMPTY, LEAF_SOLID, TREE_CYCLE};
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::dialect::Role;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_trees(lumps, sink);
    check_leafs(lumps, sink);
}

fn check_trees(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(nodes), Some(models)) = (lumps.role(Role::Nodes), lumps.role(Role::Models)) else { return };
    let Some(children) = nodes.column("children") else { return };
    // Where models say no head, there is one tree, and it begins at node 0.
    let heads: Vec<i64> = match models.column("head_node").or_else(|| models.column("head_nodes")) {
        Some(heads) => (0..models.len()).map(|model| heads.get(model)).collect(),
        None => vec![0],
    };
    // The walk that came by first, counted from 1. A tree that an earlier model owns has been walked.
    let mut seen = vec![0_usize; nodes.len()];
    let mut stack = Vec::new();
    for (model, head) in heads.into_iter().enumerate() {
        let walk = model + 1;
        let Some(head) = node(head, nodes.len()).filter(|head| seen[*head] == 0) else { continue };
        seen[head] = walk;
        stack.push(head);
        while let Some(parent) = stack.pop() {
            for item in 0..children.items {
                let Some(child) = node(children.item(parent, item), nodes.len()) else { continue };
                if seen[child] == 0 {
                    seen[child] = walk;
                    stack.push(child);
                } else if seen[child] == walk {
                    let at = At::lump(nodes.name).record(parent).offset(children.at(parent)).field("children");
                    sink.add(&TREE_CYCLE, at, || {
                        format!("its child {child} is reached twice in the tree of model {model}")
                    });
                }
            }
        }
    }
}

fn node(child: i64, nodes: usize) -> Option<usize> {
    usize::try_from(child).ok().filter(|node| *node < nodes)
}

fn check_leafs(lumps: &Lumps<'_>, sink: &mut Sink) {
    let checks = lumps.checks();
    let Some(leafs) = lumps.role(Role::Leafs).filter(|leafs| leafs.len() > 0) else { return };
    let Some(contents) = leafs.column("contents") else { return };
    if let Some(solid) = checks.first_leaf.filter(|solid| contents.get(0) != *solid) {
        let at = At::lump(leafs.name).record(0).offset(contents.at(0)).field("contents");
        sink.add(&LEAF_SOLID, at, || format!("its contents are {}, not {solid}", contents.get(0)));
    }
    if checks.needs_empty_leaf && !(0..leafs.len()).any(|leaf| contents.get(leaf) == 0) {
        sink.add(&LEAF_EMPTY, At::lump(leafs.name), || "none of them has the contents 0".into());
    }
}
