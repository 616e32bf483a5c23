//! How fast records are reordered, removed and looked up, with all references to them, beside decoding all records of
//! the map and beside memcpy of the file: `cargo bench --bench follow`.
//!
//! The maps are the largest one of Quake III and the largest one of Source in `BSPKIT_CORPUS` (by default
//! `tests/corpus`, or else the fixtures), and one of 200 MB, built for this, in which nearly all bytes are records.

#[path = "core/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "follow/large.rs"]
mod large;
#[path = "core/maps.rs"]
#[allow(dead_code)]
mod maps;

use std::hint::black_box;

use bspkit::Bsp;
use bspkit::dialect::{Key, quake3, source};
use bspkit::record::Record;
use bspkit_ops::unused::Unused;

use harness::{Group, Outcome, Work, in_bytes};

fn main() -> Outcome {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (turns, surfaces) = if is_bench { (11, 600_000) } else { (1, 600) };
    if !is_bench {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
    }
    let mut maps = maps::at_hand()?;
    let mut largest = |dialect: &str| {
        maps.retain(|map| !map.is_damaged);
        let is_it = |map: &&maps::Map| {
            Bsp::open_mapped(&map.path, None).is_ok_and(|bsp| bsp.dialect().name == dialect && decode(&bsp).is_ok())
        };
        maps.iter().rev().find(is_it).map(|map| (map.name(), map.path.clone()))
    };
    for (name, path) in ["quake3", "source"].into_iter().filter_map(&mut largest) {
        measure(&name, &Bsp::open_mapped(&path, None)?, turns)?;
    }
    measure("a built map", &Bsp::from_vec(large::map(surfaces)?)?, turns)
}

fn measure(name: &str, map: &Bsp<'_>, turns: usize) -> Outcome {
    let bytes = map.container().bytes();
    let faces = if map.dialect().name == "quake3" { "SURFACES" } else { "FACES" };
    let order = order(map)?;
    let title = format!("{name}, {}: {} {faces}", in_bytes(bytes.len()), order.len());
    let mut group = Group::new(title);
    let work = Work::Bytes(bytes.len());
    let records = group.reference("decode all records", work, || decode(map));
    group.row("memcpy of the file", work, records, || Ok(black_box(bytes.to_vec()).len()));
    let reorder = group.row("reorder all faces", work, records, || {
        let mut draft = map.draft();
        draft.structure().force(true).reorder_list(faces, &order)?;
        Ok(draft)
    });
    let splice = brush(map).map(|brush| {
        group.row("remove a brush", work, records, move || {
            let mut draft = map.draft();
            draft.structure().force(true).cascade(true).splice_list("BRUSHES", brush..brush + 1, Vec::new())?;
            Ok(draft)
        })
    });
    let prune = group.row("find and remove what nothing needs", work, records, || {
        let mut draft = map.draft();
        draft.structure().force(true).remove(&Unused::of(map)?.to_remove())?;
        Ok(draft)
    });
    let references =
        group.row("references of a plane", work, records, || Ok(map.draft().references_of("PLANES", 8)?));
    let measured = group.measure(turns)?;
    let rows =
        [("reorder", Some(reorder)), ("remove", splice), ("prune", Some(prune)), ("references", Some(references))];
    for (what, row) in rows.into_iter().filter_map(|(what, row)| Some((what, row?))) {
        let ratio = measured.ratio(row, records);
        let is_met = if ratio < 10.0 { "met" } else { "missed" };
        println!("aim: {what} in less than 10 times of decoding: {ratio:.1}, {is_met}");
    }
    Ok(())
}

/// The faces of each model, or of each node, back to front.
fn order(map: &Bsp<'_>) -> Outcome<Vec<usize>> {
    let (runs, len): (Vec<(i32, i32)>, usize) = if map.dialect().name == "quake3" {
        let models = map.table(quake3::MODELS)?;
        let runs = models.iter().map(|model| (model.first_surface, model.surface_count));
        (runs.collect(), map.table(quake3::SURFACES)?.len())
    } else {
        let nodes = map.table(source::NODES)?;
        let runs = nodes.iter().map(|node| (i32::from(node.first_face), i32::from(node.face_count)));
        (runs.collect(), map.table(source::FACES)?.len())
    };
    let mut order: Vec<usize> = (0..len).collect();
    for (first, count) in runs {
        let (first, count) = (usize::try_from(first)?, usize::try_from(count)?);
        order[first..first + count].reverse();
    }
    Ok(order)
}

/// A brush that can be removed with what needs it. Collision models of Source keep theirs.
fn brush(map: &Bsp<'_>) -> Option<usize> {
    let is_free = |brush: &usize| {
        let mut draft = map.draft();
        let structure = draft.structure().force(true).cascade(true);
        structure.splice_list("BRUSHES", *brush..brush + 1, Vec::new()).is_ok()
    };
    (7..40).find(is_free)
}

fn all<R: Record>(map: &Bsp<'_>, key: Key<R>) -> Outcome<usize> {
    let table = map.table(key)?;
    for record in &table {
        black_box(record);
    }
    Ok(table.len())
}

fn decode(map: &Bsp<'_>) -> Outcome<usize> {
    macro_rules! sum {
        ($($module:ident: $($key:ident)*;)*) => { 0 $($(+ all(map, $module::$key)?)*)* };
    }
    Ok(match map.dialect().name {
        "quake3" => {
            sum!(quake3: SHADERS PLANES NODES LEAFS LEAFSURFACES LEAFBRUSHES MODELS BRUSHES BRUSHSIDES DRAWVERTS
            DRAWINDEXES FOGS SURFACES LIGHTGRID;)
        }
        _ => sum!(source: TEXDATA TEXINFO CUBEMAPS TEXDATA_STRING_TABLE OVERLAYS PLANES VERTEXES EDGES SURFEDGES MODELS
            BRUSHES BRUSHSIDES VERTNORMALS VERTNORMALINDICES FACES ORIGINALFACES PRIMITIVES PRIMVERTS PRIMINDICES
            LIGHTING WORLDLIGHTS DISPINFO DISP_VERTS DISP_TRIS NODES LEAFS LEAFFACES LEAFBRUSHES AREAS AREAPORTALS
            LEAFWATERDATA CLIPPORTALVERTS LEAFMINDISTTOWATER;),
    })
}
