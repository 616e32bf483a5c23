//! The trees of the models, from whose heads no node is reached twice, and the visibility lump.

use super::finding::{
    At, INDEX_RANGE, LEAF_COUNT, LEAF_EMPTY, LEAF_SOLID, LUMP_UNCHECKED, NODE_FACES, Sink, TREE_CYCLE, VIS_CLUSTER,
    VIS_HEADER, VIS_OFFSET, VIS_ROW, WORLD_HEAD,
};
use super::lumps::{Lump, Lumps, range};
use bspkit::Column;
use bspkit::bytes::{wide, word};
use bspkit::dialect::{Role, VisModel};
use bspkit::finding::Code;

// The trees of the models: from the head no node is reached twice, so that a walk ends. Children out of range are
// found by `references`.

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_trees(lumps, sink);
    check_clip_nodes(lumps, sink);
    check_hulls(lumps, sink);
    check_strict(lumps, sink);
    check_count(lumps, sink);
    check_leafs(lumps, sink);
}

fn check_trees(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(nodes), Some(models)) = (lumps.role(Role::Nodes), lumps.role(Role::Models)) else { return };
    let Ok([children]) = nodes.columns(["children"]) else { return };
    // If models have no head, there is one tree, and it begins at node 0.
    let heads: Vec<i64> = match models.columns(["head_node"]).or_else(|_| models.columns(["head_nodes"])) {
        Ok([heads]) => (0..models.len()).map(|model| heads.get(model)).collect(),
        Err(_) => vec![0],
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
            for item in 0..children.items() {
                let Some(child) = node(children.item(parent, item), nodes.len()) else { continue };
                if seen[child] == 0 {
                    seen[child] = walk;
                    stack.push(child);
                } else if seen[child] == walk {
                    let at = At::lump(nodes.name()).record(parent).offset(children.at(parent)).field("children");
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
    let Ok([children]) = nodes.columns(["children"]) else { return };
    // The nodes on the present path, and those that are complete.
    let (mut open, mut done) = (vec![false; nodes.len()], vec![false; nodes.len()]);
    let mut path: Vec<(usize, usize)> = Vec::new();
    for start in 0..nodes.len() {
        if !done[start] {
            open[start] = true;
            path.push((start, 0));
        }
        while let Some((parent, item)) = path.last_mut() {
            if *item == children.items() {
                (open[*parent], done[*parent]) = (false, true);
                path.pop();
                continue;
            }
            let (from, next) = (*parent, node(children.item(*parent, *item), nodes.len()));
            *item += 1;
            let Some(child) = next.filter(|child| !done[*child]) else { continue };
            if open[child] {
                let at = At::lump(nodes.name()).record(from).offset(children.at(from)).field("children");
                sink.add(&TREE_CYCLE, at, || format!("its child {child} leads back to it"));
            } else {
                open[child] = true;
                path.push((child, 0));
            }
        }
    }
}

/// The first clip node of each hull that engines read exists, or is a contents. In maps without clip nodes it is any
/// number.
fn check_hulls(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(nodes), Some(models)) = (lumps.named("CLIPNODES"), lumps.role(Role::Models)) else { return };
    let Ok([heads]) = models.columns(["clip_nodes"]) else { return };
    let most = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
    let last = if lumps.checks().count_is_no_hull { most } else { most - 1 };
    for (model, hull) in (0..models.len()).flat_map(|model| (0..lumps.checks().hulls).map(move |hull| (model, hull))) {
        let head = heads.item(model, hull);
        if head > last && most > 0 {
            let field = format!("clip_nodes[{hull}]");
            let at = At::lump(models.name()).record(model).offset(heads.at(model) + 4 * hull).field(&field);
            sink.add(&INDEX_RANGE, at, || format!("{field} is {head}, and CLIPNODES has {most}"));
        }
    }
}

/// The world's tree begins with node 0, and each face belongs to one node.
fn check_strict(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(nodes), Some(models)) = (lumps.role(Role::Nodes), lumps.role(Role::Models)) else { return };
    let heads = models.columns(["head_node"]).ok().filter(|_| lumps.checks().strict_tree);
    let Some([heads]) = heads.filter(|_| !models.is_empty()) else { return };
    // A head that is not a node is another fault.
    if let Some(head) = node(heads.get(0), nodes.len()).filter(|head| *head != 0) {
        let at = At::lump(models.name()).record(0).offset(heads.at(0)).field("head_node");
        sink.add(&WORLD_HEAD, at, || format!("the world's tree begins with node {head}"));
    }
    let Some(faces) = lumps.role(Role::Faces) else { return };
    let Ok([firsts, counts]) = nodes.columns(["first_face", "face_count"]) else { return };
    let mut owners = vec![None; faces.len()];
    for index in 0..nodes.len() {
        let Some(run) = range(firsts.get(index), counts.get(index), faces.len()) else { continue };
        for face in run {
            if let Some(owner) = owners[face].replace(index) {
                let at = At::lump(nodes.name()).record(index).offset(firsts.at(index)).field("first_face");
                sink.add(&NODE_FACES, at, || format!("its face {face} also belongs to node {owner}"));
                break;
            }
        }
    }
}

/// The models' leafs are all but the first one.
fn check_count(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(leafs), Some(models)) = (lumps.role(Role::Leafs), lumps.role(Role::Models)) else { return };
    let Ok([counts]) = models.columns(["visible_leafs"]) else { return };
    if models.is_empty() {
        return;
    }
    let sum = (0..models.len()).map(|model| counts.get(model)).fold(1, i64::saturating_add);
    let negative = (0..models.len()).find(|model| counts.get(*model) < 0);
    if i64::try_from(leafs.len()) != Ok(sum) || negative.is_some() {
        let model = negative.unwrap_or(0);
        let at = At::lump(models.name()).record(model).offset(counts.at(model)).field("visible_leafs");
        sink.add(&LEAF_COUNT, at, || {
            format!("leaf 0 and the models' leafs are {sum}, and there are {} leafs", leafs.len())
        });
    }
}

fn check_leafs(lumps: &Lumps<'_>, sink: &mut Sink) {
    let checks = lumps.checks();
    let Some(leafs) = lumps.role(Role::Leafs).filter(|leafs| !leafs.is_empty()) else { return };
    let Ok([contents]) = leafs.columns(["contents"]) else { return };
    if let Some(solid) = checks.first_leaf.filter(|solid| contents.get(0) != *solid) {
        let at = At::lump(leafs.name()).record(0).offset(contents.at(0)).field("contents");
        sink.add(&LEAF_SOLID, at, || format!("its contents are {}, not {solid}", contents.get(0)));
    }
    if checks.needs_empty_leaf && !(0..leafs.len()).any(|leaf| contents.get(leaf) == 0) {
        sink.add(&LEAF_EMPTY, At::lump(leafs.name()), || "none of them has the contents 0".into());
    }
}

// The visibility lump: its header, the offsets of its rows, and whether they can be decompressed. An empty one is
// legal in every format: then everything is visible.

pub(super) fn check_visibility(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(lump) = lumps.role_lump(Role::Visibility).filter(|lump| !lump.bytes.is_empty()) else { return };
    let clusters = match lumps.bsp.dialect().visibility {
        VisModel::Leafs(_) => return check_leafs_of_visibility(lumps, lump, sink),
        VisModel::Clusters => check_clusters(lump, sink),
        VisModel::Matrix => check_matrix(lump, sink),
        _ => return,
    };
    if let Some(clusters) = clusters {
        check_cluster_range(lumps, clusters, sink);
    }
}

/// Each leaf of the world except the first one has the offset of its row; -1 for none.
fn check_leafs_of_visibility(lumps: &Lumps<'_>, lump: &Lump<'_>, sink: &mut Sink) {
    let (Some(leafs), Some(models)) = (lumps.role(Role::Leafs), lumps.role(Role::Models)) else { return };
    let (Ok([offsets]), Ok([visible])) = (leafs.columns(["visibility_offset"]), models.columns(["visible_leafs"]))
    else {
        return;
    };
    // The engine reads no more leafs than there are.
    let visible = usize::try_from(visible.get(0)).unwrap_or(0).min(leafs.len());
    let mut rows = Rows::new(lump, visible.div_ceil(8), "leaf");
    for leaf in 1..leafs.len() {
        let offset = offsets.get(leaf);
        if offset == -1 {
            continue;
        }
        let at = At::lump(leafs.name()).record(leaf).offset(offsets.at(leaf)).field("visibility_offset");
        match usize::try_from(offset).ok().filter(|offset| *offset < lump.bytes.len()) {
            // Rows of models other than the world are not read.
            Some(offset) if leaf <= visible => rows.add(offset, leaf),
            Some(_) => {}
            None => sink.add(&VIS_OFFSET, at, || {
                format!("its row begins at {offset}, and the lump has {} bytes", lump.bytes.len())
            }),
        }
    }
    rows.check(sink);
}

/// `numclusters`, two offsets for each, then the rows.
fn check_clusters(lump: &Lump<'_>, sink: &mut Sink) -> Option<usize> {
    let len = lump.bytes.len();
    let count = word(&lump.bytes, 0);
    let clusters = count.and_then(|count| usize::try_from(count).ok());
    let header = clusters.and_then(|clusters| clusters.checked_mul(8)?.checked_add(4)).filter(|header| *header <= len);
    let (Some(clusters), Some(header)) = (clusters, header) else {
        header_is_wrong(&VIS_HEADER, lump, sink, || match count {
            Some(count) => format!("its {len} bytes have no room for the offsets of {count} clusters"),
            None => format!("its {len} bytes have no room for the number of clusters"),
        });
        return None;
    };
    let mut rows = Rows::new(lump, clusters.div_ceil(8), "cluster");
    for index in 0..clusters * 2 {
        let (at, what) = (4 + index * 4, if index % 2 == 0 { "visible" } else { "audible" });
        let offset = word(&lump.bytes, at).unwrap_or(0);
        match usize::try_from(offset).ok().filter(|offset| (header..len).contains(offset)) {
            Some(offset) => rows.add(offset, index / 2),
            None => sink.add(&VIS_OFFSET, At::lump(lump.name).record(index / 2).offset(at), || {
                format!("its row of {what} clusters begins at {offset}, and rows can be from {header} to {len}")
            }),
        }
    }
    rows.check(sink);
    Some(clusters)
}

/// `numClusters`, `clusterBytes`, then `numClusters` rows of `clusterBytes` bytes.
fn check_matrix(lump: &Lump<'_>, sink: &mut Sink) -> Option<usize> {
    let len = lump.bytes.len();
    let (Some(count), Some(stride)) = (word(&lump.bytes, 0), word(&lump.bytes, 4)) else {
        header_is_wrong(&VIS_HEADER, lump, sink, || format!("its {len} bytes have no room for its header"));
        return None;
    };
    let (rows, row) = (usize::try_from(count).ok(), usize::try_from(stride).ok());
    let size = rows.zip(row).and_then(|(rows, row)| rows.checked_mul(row)?.checked_add(8));
    if size != Some(len) {
        header_is_wrong(&VIS_HEADER, lump, sink, || format!("its {len} bytes are not {count} rows of {stride} bytes"));
        return None;
    }
    let clusters = rows?;
    if row? < clusters.div_ceil(8) {
        header_is_wrong(&VIS_HEADER, lump, sink, || {
            format!("rows of {stride} bytes have no room for {count} clusters")
        });
    }
    Some(clusters)
}

fn header_is_wrong(code: &'static Code, lump: &Lump<'_>, sink: &mut Sink, message: impl FnOnce() -> String) {
    sink.add(code, At::lump(lump.name).offset(0), message);
}

/// A cluster of -1 sees nothing. In the first leaf, and in solid leafs of models, the number 0 may have no meaning.
fn check_cluster_range(lumps: &Lumps<'_>, clusters: usize, sink: &mut Sink) {
    let Some(leafs) = lumps.role(Role::Leafs) else { return };
    // The lights of Source's world have a cluster too.
    for lights in ["WORLDLIGHTS", "WORLDLIGHTS_HDR"].into_iter().filter_map(|name| lumps.named(name)) {
        if let Ok([column]) = lights.columns(["cluster"]) {
            let is_wrong =
                |cluster: i64| cluster < -1 || u64::try_from(cluster).is_ok_and(|cluster| cluster >= wide(clusters));
            check_column(lights.name(), &column, lights.len(), clusters, is_wrong, sink);
        }
    }
    let Ok([column]) = leafs.columns(["cluster"]) else { return };
    let is_wrong = |cluster: i64| match u64::try_from(cluster) {
        Ok(cluster) => cluster > 0 && cluster >= wide(clusters),
        Err(_) => cluster != -1,
    };
    check_column(leafs.name(), &column, leafs.len(), clusters, is_wrong, sink);
}

fn check_column(
    name: &str,
    column: &Column<'_>,
    len: usize,
    clusters: usize,
    is_wrong: impl Fn(i64) -> bool,
    sink: &mut Sink,
) {
    for leaf in 0..len {
        let cluster = column.get(leaf);
        if is_wrong(cluster) {
            let at = At::lump(name).record(leaf).offset(column.at(leaf)).field("cluster");
            sink.add(&VIS_CLUSTER, at, || format!("its cluster is {cluster}, and the visibility lump has {clusters}"));
        }
    }
}

/// The lump of compressed rows: bytes are stored as they are, except that a 0 is followed by the number of zeros.
struct Rows<'l> {
    lump: &'l Lump<'l>,
    /// The bytes of a decompressed row.
    size: usize,
    /// The offsets of the rows, and the owner of each.
    starts: Vec<(usize, usize)>,
    /// The kind of owner.
    whose: &'static str,
}

impl<'l> Rows<'l> {
    fn new(lump: &'l Lump<'l>, size: usize, whose: &'static str) -> Self {
        Rows { lump, size, starts: Vec::new(), whose }
    }

    fn add(&mut self, start: usize, of: usize) {
        self.starts.push((start, of));
    }

    /// Leafs may share rows, but compilers' rows do not overlap; if all of them do, the check stops before it takes
    /// long.
    fn check(mut self, sink: &mut Sink) {
        self.starts.sort_unstable();
        // A shared row belongs to the first of its leafs or clusters.
        self.starts.dedup_by_key(|(start, _)| *start);
        let mut room = self.lump.bytes.len().saturating_mul(4);
        for (start, of) in &self.starts {
            let bytes = self.lump.bytes.get(*start..).unwrap_or_default();
            match row_length(bytes, self.size, room) {
                Ok(used) => room -= used,
                Err(Stop::NoRoom) => {
                    return sink.add(&LUMP_UNCHECKED, At::lump(self.lump.name).offset(*start), || {
                        "its rows overlap; from this row on they were not checked".into()
                    });
                }
                Err(Stop::Wrong(at, why)) => {
                    room = room.saturating_sub(at);
                    sink.add(&VIS_ROW, At::lump(self.lump.name).offset(start + at), || {
                        format!("the row of {} {of}, which begins at {start}, {why}", self.whose)
                    });
                }
            }
        }
    }
}

enum Stop {
    NoRoom,
    Wrong(usize, &'static str),
}

/// The length of a stored row in bytes.
fn row_length(bytes: &[u8], size: usize, room: usize) -> Result<usize, Stop> {
    let (mut at, mut made) = (0, 0);
    while made < size {
        if at >= room {
            return Err(Stop::NoRoom);
        }
        match bytes.get(at..) {
            Some([0, 0, ..]) => return Err(Stop::Wrong(at, "has a run of 0 zeros")),
            // A run may pass the end of the row: some compilers write rows that are longer than the engine reads.
            Some([0, count, ..]) => (at, made) = (at + 2, made + usize::from(*count)),
            Some([0] | []) | None => return Err(Stop::Wrong(at, "goes beyond the lump")),
            Some(_) => (at, made) = (at + 1, made + 1),
        }
    }
    Ok(at)
}
