//! Maps whose records came into another order, or lost records that nothing needs, are the same maps to the engines:
//! the same entities, surfaces, traces and sights, and the same pixels.
//!
//! `load`, `same` and `Drawn` are for the tests of other edits too.

use std::collections::BTreeSet;
use std::path::Path;

use bspkit::dialect::quake2;
use bspkit::{Bsp, Layout};
use bspkit_ops::unused::Unused;

use crate::client::{Client, differing};
use crate::darkplaces::DarkPlaces;
use crate::ioquake3::{Ioquake3, Probe};
use crate::run::{Seen, Verdict, same_lines};
use crate::{GOLDSRC, QUAKE, QUAKE2, QUAKE3, maps, shuffle};

/// An edit that no engine may notice: what it is called, and the map after it.
type Edit = (&'static str, fn(&Path) -> Vec<u8>);

const EDITS: &[Edit] = &[("every list in another order", |map| reordered(map, 1)), ("pruned", pruned)];

/// What no engine says without a picture: faces are drawn where leafs list them. The sides of brushes have the texinfo
/// of faces, and the areas of the rooms are alike.
const BLIND: &[(&str, &[&str])] = &[
    ("q1/own_rooms", QUAKE_BLIND),
    ("bsp2/own_rooms", QUAKE_BLIND),
    ("goldsrc/own_rooms", QUAKE_BLIND),
    (
        "q2/own_rooms",
        &[
            "FACES.plane to PLANES",
            "BRUSHSIDES.texinfo to TEXINFO",
            "NODES.first_face to FACES",
            "LEAFFACES.face to FACES",
            "LEAFS.first_leaf_face to LEAFFACES",
            "LEAFS.area to AREAS",
            "AREAPORTALS.other_area to AREAS",
            "AREAS.first_portal to AREAPORTALS",
        ],
    ),
    ("q3/own_rooms", &["BRUSHSIDES.shader to SHADERS"]),
];
const QUAKE_BLIND: &[&str] =
    &["FACES.plane to PLANES", "MARKSURFACES.face to FACES", "LEAFS.first_mark_surface to MARKSURFACES"];

/// References that do not follow and are seen in a picture.
const DRAWN: &[(&str, &str)] = &[
    ("q1/own_rooms", "MARKSURFACES.face to FACES"),
    ("bsp2/own_rooms", "FACES.first_edge to SURFEDGES"),
    ("goldsrc/own_rooms", "EDGES.vertexes to VERTEXES"),
    ("q2/own_rooms", "LEAFFACES.face to FACES"),
    ("q3/own_rooms", "LEAFSURFACES.surface to SURFACES"),
];

/// Every list of a map in a random order.
fn reordered(map: &Path, seed: u64) -> Vec<u8> {
    let map = Bsp::open(map).unwrap();
    let mut draft = map.draft();
    let (orders, _) = shuffle::reorder_all(&mut draft, seed, &brushes_of_models(&map));
    assert!(orders.len() > 5, "only {} lists came into another order", orders.len());
    draft.plan(Layout::Keep).unwrap().to_vec()
}

/// A map without what nothing needs: that of the fixture, and copies of records that were added for this.
fn pruned(map: &Path) -> Vec<u8> {
    let map = Bsp::open(map).unwrap();
    let mut draft = map.draft();
    let mut added = 0;
    for (list, range) in [("PLANES", 2..4), ("TEXINFO", 0..1), ("VERTEXES", 1..2), ("SHADERS", 0..1), ("EDGES", 1..2)] {
        added += usize::from(draft.structure().duplicate_list(list, range).is_ok());
    }
    let larger = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let unused = Unused::of(&larger).unwrap();
    assert!(added > 1 && unused.lists.len() >= added, "{unused:?}");
    let mut draft = larger.draft();
    draft.structure().remove(&unused.to_remove()).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

/// In maps of Quake II DarkPlaces takes all brushes between the first and the last one of a model's leafs for the model's,
/// so that they stay together; other engines go by the leafs alone.
fn brushes_of_models(map: &Bsp<'_>) -> Vec<shuffle::Together> {
    let (Ok(models), Ok(nodes), Ok(leafs)) =
        (map.table(quake2::MODELS), map.table(quake2::NODES), map.table(quake2::LEAFS))
    else {
        return Vec::new();
    };
    let listed = map.table(quake2::LEAFBRUSHES).unwrap();
    let of = |model: quake2::Model| {
        let (mut open, mut brushes) = (vec![model.head_node], BTreeSet::new());
        while let Some(child) = open.pop() {
            match usize::try_from(child) {
                Ok(node) => open.extend(nodes.get(node).unwrap().children),
                Err(_) => {
                    let leaf = leafs.get(usize::try_from(-1 - child).unwrap()).unwrap();
                    let first = usize::from(leaf.first_leaf_brush);
                    let own = first..first + usize::from(leaf.leaf_brush_count);
                    brushes.extend(own.map(|at| usize::from(listed.get(at).unwrap().brush)));
                }
            }
        }
        Some(("BRUSHES", *brushes.first()?..brushes.last()? + 1))
    };
    models.iter().filter_map(of).collect()
}

/// What one engine saw of a map.
pub(crate) struct Loaded {
    pub(crate) engine: &'static str,
    /// The entities; the numbers of models are left out.
    pub(crate) entities: Vec<maps::Entity>,
    /// What the engine printed, without the numbers and the order of records.
    pub(crate) lines: Vec<String>,
}

/// Has every engine that reads a map load it; one that refuses it fails the test.
pub(crate) fn load(case: &str, map: &[u8]) -> Vec<Loaded> {
    verdicts(map)
        .into_iter()
        .map(|(engine, verdict)| plain(engine, verdict.loaded(&format!("{case}, {engine}"))))
        .collect()
}

/// What every engine says to a map.
fn verdicts(map: &[u8]) -> Vec<(&'static str, Verdict<Seen>)> {
    let mut all: Vec<_> = DarkPlaces::find().into_iter().map(|engine| ("DarkPlaces", engine.load(map))).collect();
    if map.starts_with(b"IBSP\x2e") {
        all.extend(Probe::find().map(|engine| ("ioquake3", engine.load(map))));
        all.extend(Ioquake3::find().map(|engine| {
            let played = match engine.play(map) {
                Verdict::Loaded(played) => Verdict::Loaded(Seen { entities: Vec::new(), lines: played.lines }),
                Verdict::Refused(why) => Verdict::Refused(why),
            };
            ("ioquake3 with its game", played)
        }));
    }
    all
}

fn plain(engine: &'static str, seen: Seen) -> Loaded {
    let mut entities = seen.entities;
    for (_, value) in entities.iter_mut().flatten().filter(|(key, value)| key == "model" && value.starts_with('*')) {
        value.truncate(1);
    }
    let mut lines: Vec<String> = seen.lines.iter().map(|line| without_numbers(line)).collect();
    // The surfaces of one model come one after the other, in the order of the records.
    let is_listed = |line: &String| line.starts_with("PROBE surface ") || line.starts_with("PROBE model ");
    lines.chunk_by_mut(|one, other| is_listed(one) && is_listed(other)).for_each(<[String]>::sort);
    Loaded { engine, entities, lines }
}

/// A line without the numbers of models and of records. DarkPlaces counts leafs up to the last one of the world.
fn without_numbers(line: &str) -> String {
    if let Some((kind, counts)) = line.strip_prefix("Stats for ").and_then(|stats| stats.split_once(": ")) {
        let of_map = ["nodes", "leafs", "vertices", "edges", "surfedges"];
        let counts = counts.split(", ").filter(|count| !of_map.iter().any(|records| count.ends_with(records)));
        return format!("{kind}: {}", counts.collect::<Vec<_>>().join(", "));
    }
    let words = line.split(' ').map(|word| match word.strip_prefix('*') {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => "*",
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The first thing that an engine sees in another way.
pub(crate) fn difference(before: &[Loaded], after: &[Loaded]) -> Option<String> {
    before.iter().zip(after).find_map(|(old, new)| {
        let found = match old.entities == new.entities {
            true => same_lines(&old.lines, &new.lines).err(),
            false => Some("other entities".to_owned()),
        };
        found.map(|found| format!("{}: {found}", old.engine))
    })
}

/// Every engine loads both maps and sees the same in them.
#[allow(dead_code)]
pub(crate) fn same(case: &str, before: &[u8], after: &[u8]) {
    if let Some(difference) = difference(&load(case, before), &load(case, after)) {
        panic!("{case}: {difference}");
    }
}

/// What a player sees of a map, with light and without.
pub(crate) struct Drawn {
    lit: Vec<u8>,
    unlit: Vec<u8>,
}

impl Drawn {
    pub(crate) fn new(client: &Client, case: &str, map: &[u8]) -> Self {
        let draw = |light: &str| client.picture_with(map, light).unwrap_or_else(|why| panic!("{case}: {why}"));
        Drawn { lit: draw("r_fullbright 0"), unlit: draw("r_fullbright 1") }
    }

    /// Nothing looks another way. The engine gives each face a place in textures of its own, in the order of the faces,
    /// and so rounds light in another way: a few pixels may differ by 1 of 255, and none does where light is off.
    pub(crate) fn assert_same(&self, case: &str, after: &Self) {
        let most = self.lit.iter().zip(&after.lit).map(|(old, new)| old.abs_diff(*new)).max();
        let count = differing(&self.lit, &after.lit);
        assert!(most <= Some(1) && count < 40, "{case}: {count} pixels differ, by up to {most:?}");
        assert_eq!(differing(&self.unlit, &after.unlit), 0, "{case}: pixels differ without light");
    }
}

#[test]
fn no_engine_notices_another_order() {
    for name in [&QUAKE[..], &QUAKE2, &GOLDSRC, &QUAKE3].concat() {
        let map = maps::fixture(name);
        let before = load(name, &std::fs::read(&map).unwrap());
        for (edit, edited) in EDITS {
            let case = format!("{name}, {edit}");
            if let Some(difference) = difference(&before, &load(&case, &edited(&map))) {
                panic!("{case}: {difference}");
            }
        }
    }
}

#[test]
fn another_order_is_drawn_to_the_same_pixels() {
    let Some(client) = Client::find() else { return };
    let draw = |name: &str, fault: &str| {
        let map = maps::fixture(name);
        let before = Drawn::new(&client, name, &std::fs::read(&map).unwrap());
        for (edit, edited) in EDITS {
            let case = format!("{name}, {edit}");
            before.assert_same(&case, &Drawn::new(&client, &case, &edited(&map)));
        }
        let faults = faults(&Bsp::open(&map).unwrap());
        let (_, wrong) = faults.iter().find(|(name, _)| name == fault).unwrap();
        let is_seen = client.picture(wrong).map_or(true, |wrong| differing(&before.lit, &wrong) > 400);
        assert!(is_seen, "{name}: {fault} is not followed, and the picture is the same");
    };
    std::thread::scope(|scope| DRAWN.iter().for_each(|(name, fault)| drop(scope.spawn(move || draw(name, fault)))));
}

/// A law that cannot fail is no law: one reference after the other does not follow, and an engine must refuse the map
/// or see something else in it.
#[test]
fn a_reference_that_does_not_follow_is_noticed() {
    // One engine alone misses more.
    if DarkPlaces::find().is_none() || Probe::find().is_none() {
        return;
    }
    for (name, blind) in BLIND {
        let path = maps::fixture(name);
        let before = load(name, &std::fs::read(&path).unwrap());
        let mut missed = Vec::new();
        for (fault, map) in faults(&Bsp::open(&path).unwrap()) {
            let is_noticed = |((engine, verdict), before): ((&'static str, Verdict<Seen>), &Loaded)| match verdict {
                Verdict::Refused(_) => true,
                Verdict::Loaded(seen) => difference(std::slice::from_ref(before), &[plain(engine, seen)]).is_some(),
            };
            if !verdicts(&map).into_iter().zip(&before).any(is_noticed) {
                missed.push(fault);
            }
        }
        assert!(missed == *blind, "{name}: no engine notices {missed:?}");
    }
}

/// A map for each reference that does not follow where the list that it leads to comes into another order.
fn faults(map: &Bsp<'_>) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (list, info, bytes) in shuffle::lists(map) {
        let order = shuffle::order(map, &list, bytes.len() / info.size, &mut shuffle::Random(1));
        let Ok(followed) = map.draft().structure().reorder_list(&list, &order) else { continue };
        for field in followed.fields {
            let fact = match field.field.as_str() {
                "rows" => field.lump,
                "model" if field.lump == "ENTITIES" => field.lump,
                // Without the others the faces stay with their models.
                _ if list == "MODELS" => continue,
                name => format!("{}.{name}", field.lump),
            };
            let mut draft = map.draft();
            if draft.structure().ignore(&fact).reorder_list(&list, &order).is_ok() {
                all.push((format!("{fact} to {list}"), draft.plan(Layout::Keep).unwrap().to_vec()));
            }
        }
    }
    all
}
