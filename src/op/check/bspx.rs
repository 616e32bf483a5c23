//! Entries of BSPX: their number of records, which has to match other lumps, and their references.
//!
//! Engines ignore an entry that does not fit its map, so they read nothing outside of it; but its effect is missing.

use super::code::{COUNT_MISFIT, INDEX_RANGE, LIGHT_RANGE, LUMP_MISFIT, LUMP_PARALLEL, TREE_CYCLE};
use super::lumps::{Lump, Lumps};
use super::sink::{At, Sink};
use crate::bytes::wide;
use crate::content::bspx::{BrushList, LightOctree, OctreeFault};
use crate::dialect::{FaceLight, LightModel, Role};
use crate::error::Error;
use crate::file::SlotId;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    for lump in lumps.all.iter().filter(|lump| matches!(lump.slot.id, SlotId::Bspx(_)) && !lump.bytes.is_empty()) {
        check_fit(lumps, lump, sink);
        match lump.name {
            "bspx:BRUSHLIST" => check_brushes(lump, sink),
            "bspx:LIGHTGRID_OCTREE" => {
                check_octrees(lump, LightOctree::parse(lump.bytes.clone()).map(|one| vec![one]), sink)
            }
            "bspx:LIGHTGRIDS" => check_octrees(lump, LightOctree::parse_all(lump.bytes.clone()), sink),
            _ => {}
        }
    }
    check_places(lumps, sink);
}

/// An entry whose row does not fit: its number of records differs from the faces, vertexes, luxels or edges.
fn check_fit(lumps: &Lumps<'_>, lump: &Lump<'_>, sink: &mut Sink) {
    let mut proved = lumps.bsp.dialect().rows_of(lump.name).filter(|row| row.proof.is_some()).peekable();
    if proved.peek().is_none() || lump.slot.bounds.is_damaged() {
        return;
    }
    if let Err(why) = lumps.bsp.row(lump.slot) {
        let is_cut = proved.any(|row| row.parts(&lump.bytes).is_err());
        sink.add(if is_cut { &LUMP_MISFIT } else { &LUMP_PARALLEL }, At::lump(lump.name), || why.to_string());
    }
}

fn check_brushes(lump: &Lump<'_>, sink: &mut Sink) {
    let list = match BrushList::parse(lump.bytes.clone()) {
        Ok(list) => list,
        Err(error) => return misfit(lump, &error, sink),
    };
    for (place, head) in (0..list.len()).filter_map(|place| Some((place, list.model(place)?))) {
        let at = At::lump(lump.name).record(place);
        let planes: u64 = list.brushes(place).map(|brush| wide(brush.planes.len())).sum();
        if planes != u64::from(head.plane_count) {
            let said = head.plane_count;
            sink.add(&COUNT_MISFIT, at, || format!("its brushes have {planes} planes, and it states {said}"));
        }
    }
}

fn check_octrees(lump: &Lump<'_>, octrees: Result<Vec<LightOctree<'_>>, Error>, sink: &mut Sink) {
    let octrees = match octrees {
        Ok(octrees) => octrees,
        Err(error) => return misfit(lump, &error, sink),
    };
    for (place, fault) in octrees.iter().enumerate().filter_map(|(place, octree)| Some((place, octree.fault()?))) {
        let at = At::lump(lump.name).record(place);
        match fault {
            OctreeFault::NoChild(node, child) => sink.add(&INDEX_RANGE, at, || {
                let from = node.map_or("its head".to_owned(), |node| format!("node {node}"));
                format!(
                    "{from} has the child {child:#x}, and there are {} nodes and {} leafs",
                    octrees[place].nodes().count(),
                    octrees[place].len()
                )
            }),
            OctreeFault::Twice(node) => sink.add(&TREE_CYCLE, at, || format!("node {node} is reached twice")),
        }
    }
}

fn misfit(lump: &Lump<'_>, error: &Error, sink: &mut Sink) {
    sink.add(&LUMP_MISFIT, At::lump(lump.name), || error.to_string());
}

/// Light that an entry places for the faces is in the lighting lump, or, if that was left out, in its copy in color.
fn check_places(lumps: &Lumps<'_>, sink: &mut Sink) {
    let LightModel::Faces(FaceLight { unlit, luxels, by_extents: true, .. }) = lumps.bsp.dialect().light else {
        return;
    };
    let len = |name: &str| lumps.lump(name).map_or(0, |lump| lump.bytes.len());
    let (bytes, unlit) = (luxels.bytes(), i64::from(*unlit));
    let room = match lumps.role_lump(Role::Lighting).map_or(0, |light| light.bytes.len()) {
        0 => len("bspx:RGBLIGHTING") / 3 * bytes,
        room => room,
    };
    let (Some(faces), Some(texinfos)) = (lumps.role(Role::Faces), lumps.role(Role::TexInfo)) else { return };
    let columns = || Some((faces.column("styles")?, faces.column("texinfo")?, texinfos.column("flags")?));
    let Some((styles, texinfo, flags)) = columns().filter(|_| room > 0) else { return };
    // The first style always has light; the style count is checked elsewhere.
    let has_others = len("bspx:LMSTYLE") + len("bspx:LMSTYLE16") > 0;
    let images = |face: usize| {
        let is_lit = usize::try_from(texinfo.get(face)).is_ok_and(|texinfo| flags.get(texinfo) & unlit == 0);
        let count = (0..styles.items).take_while(|item| styles.item(face, *item) != 255).count();
        match (is_lit, has_others) {
            (false, _) => 0,
            (true, true) => count.min(1),
            (true, false) => count,
        }
    };
    for name in ["bspx:DECOUPLED_LM", "bspx:LMOFFSET"] {
        let Some(places) = lumps.named(name) else { continue };
        let Some(offsets) = places.column("offset") else { continue };
        let sizes = places.column("size");
        for face in 0..places.len().min(faces.len()) {
            let (offset, images) = (offsets.get(face), images(face));
            if offset == -1 || images == 0 {
                continue;
            }
            // Without a size there has to be at least one luxel.
            let [wide, high] = sizes.map_or([1, 1], |sizes| [sizes.item(face, 0), sizes.item(face, 1)]);
            let block = i64::try_from(bytes * images).map_or(0, |image| wide * high * image);
            if offset < 0 || !usize::try_from(offset + block).is_ok_and(|end| end <= room) {
                let at = At::lump(name).record(face).offset(offsets.at(face)).field("offset");
                sink.add(&LIGHT_RANGE, at, || {
                    format!(
                        "its light begins at {offset}, {wide} by {high} luxels in {images} styles, and there are \
                             {room} bytes of it"
                    )
                });
            }
        }
    }
}
