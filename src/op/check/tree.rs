//! The trees of the models: from the head no node is reached twice, so that a walk ends. Children out of range are
//! found by `references`.

use super::code::{LEAF_COUNT, LEAF_EMPTY, LEAF_SOLID, NODE_FACES, TREE_CYCLE, WORLD_HEAD};
use super::lumps::{Lumps, range};
use super::sink::{At, Sink};
use crate::dialect::Role;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_trees(lumps, sink);
    check_clip_nodes(lumps, sink);
    check_strict(lumps, sink);
    check_count(lumps, sink);
    check_leafs(lumps, sink);
}

fn check_trees(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(nodes), Some(models)) = (lumps.role(Role::Nodes), lumps.role(Role::Models)) else { return };
    let Some(children) = nodes.column("children") else { return };
    // If models have no head, there is one tree, and it begins at node 0.
    let heads: Vec<i64> = match models.column("head_node").or_else(|| models.column("head_nodes")) {
        Some(heads) => (0..models.len()).map(|model| heads.get(model)).collect(),
        None => vec![0],
    };
    // The first walk that reached the node, counted from 1. A tree of an earlier model is not walked again.
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

/// Compilers share equal clip nodes, so that one may be reached twice; but never from itself.
fn check_clip_nodes(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(nodes) = lumps.named("CLIPNODES") else { return };
    let Some(children) = nodes.column("children") else { return };
    // The nodes on the present path, and those that are complete.
    let (mut open, mut done) = (vec![false; nodes.len()], vec![false; nodes.len()]);
    let mut path: Vec<(usize, usize)> = Vec::new();
    for start in 0..nodes.len() {
        if !done[start] {
            open[start] = true;
            path.push((start, 0));
        }
        while let Some((parent, item)) = path.last_mut() {
            if *item == children.items {
                (open[*parent], done[*parent]) = (false, true);
                path.pop();
                continue;
            }
            let (from, next) = (*parent, node(children.item(*parent, *item), nodes.len()));
            *item += 1;
            let Some(child) = next.filter(|child| !done[*child]) else { continue };
            if open[child] {
                let at = At::lump(nodes.name).record(from).offset(children.at(from)).field("children");
                sink.add(&TREE_CYCLE, at, || format!("its child {child} leads back to it"));
            } else {
                open[child] = true;
                path.push((child, 0));
            }
        }
    }
}

/// The world's tree begins with node 0, and each face belongs to one node.
fn check_strict(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(nodes), Some(models)) = (lumps.role(Role::Nodes), lumps.role(Role::Models)) else { return };
    let heads = models.column("head_node").filter(|_| lumps.checks().strict_tree);
    let Some(heads) = heads.filter(|_| models.len() > 0) else { return };
    // A head that is not a node is another fault.
    if let Some(head) = node(heads.get(0), nodes.len()).filter(|head| *head != 0) {
        let at = At::lump(models.name).record(0).offset(heads.at(0)).field("head_node");
        sink.add(&WORLD_HEAD, at, || format!("the world's tree begins with node {head}"));
    }
    let Some(faces) = lumps.role(Role::Faces) else { return };
    let (Some(firsts), Some(counts)) = (nodes.column("first_face"), nodes.column("face_count")) else { return };
    let mut owners = vec![None; faces.len()];
    for index in 0..nodes.len() {
        let Some(run) = range(firsts.get(index), counts.get(index), faces.len()) else { continue };
        for face in run {
            if let Some(owner) = owners[face].replace(index) {
                let at = At::lump(nodes.name).record(index).offset(firsts.at(index)).field("first_face");
                sink.add(&NODE_FACES, at, || format!("its face {face} also belongs to node {owner}"));
                break;
            }
        }
    }
}

/// The models' leafs are all but the first one.
fn check_count(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(leafs), Some(models)) = (lumps.role(Role::Leafs), lumps.role(Role::Models)) else { return };
    let Some(counts) = models.column("visible_leafs").filter(|_| models.len() > 0) else { return };
    let sum = (0..models.len()).map(|model| counts.get(model)).fold(1, i64::saturating_add);
    let negative = (0..models.len()).find(|model| counts.get(*model) < 0);
    if i64::try_from(leafs.len()) != Ok(sum) || negative.is_some() {
        let model = negative.unwrap_or(0);
        let at = At::lump(models.name).record(model).offset(counts.at(model)).field("visible_leafs");
        sink.add(&LEAF_COUNT, at, || {
            format!("leaf 0 and the models' leafs are {sum}, and there are {} leafs", leafs.len())
        });
    }
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
