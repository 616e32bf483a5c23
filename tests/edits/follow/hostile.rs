//! Maps that were made to be hard: long chains, circles, runs over each other, numbers without records, random bytes.

use std::time::{Duration, Instant};

use bspkit::dialect::quake2::{self, AreaPortal, Brush, BrushSide, Face, Leaf, LeafBrush, Model, Node, Plane, TexInfo};
use bspkit::dialect::{QUAKE, QUAKE2, Role, quake};
use bspkit::record::{Name, Record};
use bspkit::{Bsp, Builder, Draft, ErrorKind};

use super::shuffle::{self, Random};
use super::{corpus, maps::saved};

fn texinfo(next: i32) -> TexInfo {
    TexInfo { vectors: [[1.0; 4]; 2], flags: 0, value: 0, texture: Name([0; 32]), next }
}

fn blank<R: Record>() -> R {
    R::read(&vec![0; R::SIZE])
}

fn builder(entities: &str) -> Builder {
    Builder::new(&QUAKE2).role(Role::Entities, format!("{{\n\"classname\" \"worldspawn\"\n}}\n{entities}\0")).unwrap()
}

fn built(builder: &Builder) -> Bsp<'static> {
    Bsp::from_vec(builder.build().unwrap()).unwrap()
}

/// A list as a tree: each node has the next one as a child.
fn tree(len: i32, is_circle: bool) -> Bsp<'static> {
    let end = if is_circle { 1 } else { -1 };
    let child = |index: i32| if index + 1 == len { end } else { index + 1 };
    let nodes: Vec<Node> = (0..len).map(|index| Node { children: [-1, child(index)], ..blank() }).collect();
    let map = builder("")
        .table(quake2::PLANES, &[blank::<Plane>(); 2])
        .and_then(|map| map.table(quake2::NODES, &nodes))
        .and_then(|map| map.table(quake2::LEAFS, &[blank::<Leaf>(); 2]))
        .and_then(|map| map.table(quake2::MODELS, &[Model { head_node: 0, ..blank() }]));
    built(&map.unwrap())
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// The time for eight times the work, in times of that for one. Of several tries the best counts: the machine may be
/// busy.
fn growth<T>(make: impl Fn(i32) -> T, len: i32, run: impl Fn(&T)) -> f64 {
    let (small, large) = (make(len), make(8 * len));
    let best = |map: &T| (0..5).map(|_| time(|| run(map))).min().unwrap().as_secs_f64();
    // A busy machine may be slow for a moment.
    (0..4).map(|_| best(&large) / best(&small)).find(|grown| *grown < MOST).unwrap_or(f64::INFINITY)
}

const MOST: f64 = 30.0;

/// However long a chain is, all that needs a removed record goes with it, in time by its length.
#[test]
fn a_long_chain_goes_at_once() {
    for is_circle in [false, true] {
        let map = tree(20_000, is_circle);
        let mut draft = map.draft();
        let error = draft.structure().splice_list("NODES", 19_999..20_000, Vec::new()).unwrap_err();
        assert!(error.to_string().contains("NODES[19998].children"), "{error}");
        // Model 0 needs node 0, and neither can go.
        let error = draft.structure().cascade(true).splice_list("NODES", 19_999..20_000, Vec::new()).unwrap_err();
        assert!(error.to_string().contains("has a meaning by its number"), "{error}");
        assert!(draft.changes().unwrap().is_empty());
    }
    let grown = growth(
        |len| tree(len, true),
        4_000,
        |map| {
            let last = map.table(quake2::NODES).unwrap().len() - 1;
            let mut draft = map.draft();
            draft.structure().cascade(true).splice_list("NODES", last..last + 1, Vec::new()).unwrap_err();
        },
    );
    assert!(grown < MOST, "eight times the nodes take {grown} times the time");
}

/// Runs that all have the same records are counted, not gone through.
#[test]
fn shared_runs_take_time_by_their_number() {
    let map = |len: i32| {
        let sides = vec![blank::<BrushSide>(); usize::try_from(len).unwrap()];
        let brush = Brush { first_side: 0, side_count: len, ..blank() };
        let brushes = vec![brush; usize::try_from(len).unwrap()];
        let listed: Vec<LeafBrush> = (0..len).map(|brush| LeafBrush { brush: u16::try_from(brush).unwrap() }).collect();
        let leaf = |first| Leaf { first_leaf_brush: first, leaf_brush_count: u16::try_from(len).unwrap(), ..blank() };
        let leafs = vec![leaf(0); 1_000];
        let map = builder("")
            .table(quake2::PLANES, &[blank::<Plane>(); 2])
            .and_then(|map| map.table(quake2::TEXINFO, &[texinfo(-1)]))
            .and_then(|map| map.table(quake2::LEAFS, &leafs))
            .and_then(|map| map.table(quake2::LEAFBRUSHES, &listed))
            .and_then(|map| map.table(quake2::BRUSHES, &brushes))
            .and_then(|map| map.table(quake2::BRUSHSIDES, &sides));
        built(&map.unwrap())
    };
    let grown = growth(map, 4_000, |map| {
        let mut draft = map.draft();
        draft.structure().splice_list("BRUSHES", 7..9, Vec::new()).unwrap();
        draft.structure().splice_list("LEAFBRUSHES", 3..4, Vec::new()).unwrap();
        // All brushes have these sides.
        draft.structure().splice_list("BRUSHSIDES", 0..1, Vec::new()).unwrap_err();
        let len = map.table(quake2::BRUSHES).unwrap().len() - 2;
        draft.structure().reorder_list("BRUSHES", &(0..len).rev().collect::<Vec<_>>()).unwrap();
    });
    assert!(grown < MOST, "eight times the brushes take {grown} times the time");
}

/// Many entities, and many pairs of one entity, that name models or portals which move or go.
#[test]
fn values_of_entities_take_time_by_their_number() {
    let map = |len: i32| {
        let pairs: String = (0..len).map(|model| format!("\"model\" \"*{}\"\n", 1 + model % 50)).collect();
        let portals: String = (0..len)
            .map(|style| format!("{{\n\"classname\" \"func_areaportal\"\n\"style\" \"{style}\"\n}}\n"))
            .collect();
        let portal = |portal: i32| AreaPortal { portal, ..blank() };
        let map = builder(&format!("{{\n{pairs}}}\n{portals}"))
            .table(quake2::MODELS, &[Model { head_node: -1, ..blank() }; 60])
            .and_then(|map| map.table(quake2::LEAFS, &[blank::<Leaf>(); 2]))
            .and_then(|map| map.table(quake2::AREAPORTALS, &(0..len).map(portal).collect::<Vec<_>>()));
        built(&map.unwrap())
    };
    let grown = growth(map, 2_000, |map| {
        let mut draft = map.draft();
        let order: Vec<usize> = std::iter::once(0).chain((1..60).rev()).collect();
        draft.structure().reorder_list("MODELS", &order).unwrap();
        draft.structure().cascade(true).splice_list("AREAPORTALS", 5..7, Vec::new()).unwrap();
        draft.structure().cascade(true).splice_list("MODELS", 20..30, Vec::new()).unwrap();
    });
    assert!(grown < MOST, "eight times the entities take {grown} times the time");
}

/// Numbers that name no record stay where nothing changes for them, and stop the edit by name where it would.
#[test]
fn numbers_without_records_stay_or_are_refused() {
    let face = |first_edge: i32, edge_count: i16| Face { first_edge, edge_count, ..blank() };
    let faces = [face(0, 4), face(2, 20_000), face(-3, 5), face(i32::MAX, 9), face(3, 4)];
    let surfedges = vec![quake2::SurfEdge { edge: 1 }; 10];
    let map = builder("")
        .table(quake2::PLANES, &[blank::<Plane>(); 2])
        .and_then(|map| map.table(quake2::TEXINFO, &[texinfo(-1)]))
        .and_then(|map| map.table(quake2::FACES, &faces))
        .and_then(|map| map.table(quake2::SURFEDGES, &surfedges))
        .and_then(|map| map.table(quake2::EDGES, &[blank::<quake2::Edge>(); 3]));
    let map = built(&map.unwrap());
    let mut draft = map.draft();
    draft.structure().duplicate_list("EDGES", 2..3).unwrap();
    let error = draft.structure().duplicate_list("SURFEDGES", 9..10).unwrap_err();
    assert!(error.to_string().contains("FACES[1].first_edge"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Refused);
    let now = saved(&draft);
    assert!(now.table(quake2::FACES).unwrap().iter().eq(faces));
}

/// The models say together how many leafs there are. Where that is another number, nobody knows whose a leaf is.
#[test]
fn leafs_stay_where_the_models_count_others() {
    let map = |counts: [i32; 2]| {
        let models = counts.map(|visible_leafs| quake::Model { visible_leafs, ..blank() });
        let map = Builder::new(&QUAKE)
            .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")
            .and_then(|map| map.table(quake::LEAFS, &[blank::<quake::Leaf>(); 4]))
            .and_then(|map| map.table(quake::MODELS, &models));
        built(&map.unwrap())
    };
    let (good, bad) = (map([2, 1]), map([2, 9]));
    let mut draft = good.draft();
    draft.structure().duplicate_list("LEAFS", 2..3).unwrap();
    let counts =
        saved(&draft).table(quake::MODELS).unwrap().iter().map(|model| model.visible_leafs).collect::<Vec<_>>();
    assert_eq!(counts.iter().sum::<i32>(), 4);
    for edit in [
        |draft: &mut Draft<'_>| draft.structure().duplicate_list("LEAFS", 2..3).map(drop),
        |draft: &mut Draft<'_>| draft.structure().remove(&[("LEAFS", &[2])]).map(drop),
    ] {
        let mut draft = bad.draft();
        let error = edit(&mut draft).unwrap_err();
        assert!(error.to_string().contains("counts of all records together"), "{error}");
        assert_eq!(draft.changes().unwrap(), []);
    }
}

/// Random bytes in the records of all maps: every edit ends, and what it does comes back.
#[test]
fn random_bytes_neither_loop_nor_panic() {
    let mut random = Random(11);
    let small = |path: &std::path::PathBuf| path.metadata().is_ok_and(|file| file.len() < 300_000);
    let real: Vec<_> = corpus::maps().into_iter().filter(small).collect();
    let own = corpus::under(std::path::Path::new("tests/maps"));
    let (mut done, mut refused) = (0, 0);
    for path in own.into_iter().chain(real) {
        let Ok(map) = Bsp::open(&path) else { continue };
        let mut bytes = map.container().bytes().to_vec();
        for (_, info, list) in shuffle::lists(&map) {
            let Some(start) = bytes.windows(list.len().max(1)).position(|window| window == list) else { continue };
            for _ in 0..list.len() / info.size / 30 {
                bytes[start + random.below(list.len())] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)];
            }
        }
        let Ok(map) = Bsp::from_vec(bytes) else { continue };
        for (list, info, bytes) in shuffle::lists(&map).into_iter().filter(|(_, info, bytes)| bytes.len() > info.size) {
            let (len, at) = (bytes.len() / info.size, random.below(bytes.len() / info.size));
            let mut draft = map.draft();
            let mut is_done = |result: Result<_, bspkit::Error>| match result {
                Ok(_) => done += 1,
                Err(error) => {
                    let is_known = matches!(error.kind(), ErrorKind::Refused | ErrorKind::Malformed);
                    assert!(is_known, "{}: {list}: {error:?}", path.display());
                    refused += 1;
                }
            };
            is_done(draft.structure().force(true).cascade(true).splice_list(&list, at..at + 1, Vec::new()));
            is_done(map.draft().structure().force(true).duplicate_list(&list, at..at + 1));
            let order: Vec<usize> = (0..len).rev().collect();
            let mut draft = map.draft();
            let result = draft.structure().force(true).reorder_list(&list, &order);
            if result.is_ok() {
                draft.structure().force(true).reorder_list(&list, &order).unwrap();
                assert!(draft.changes().unwrap().is_empty(), "{}: {list}", path.display());
            }
            is_done(result);
            map.draft().references_of(&list, at).unwrap();
        }
    }
    eprintln!("{done} edits, {refused} refused");
    assert!(done > 100 && refused > 100, "{done} {refused}");
}
