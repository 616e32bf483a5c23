//! Materials of faces, overlays and water, which the strings of texdata name, and cubemaps.

use super::graph::Graph;
use super::{Kind, Referrer, Sure};
use crate::bsp::Bsp;
use crate::bytes::word;
use crate::content::texdata::{STRINGS, TABLE};

const CUBEMAPS: &str = "CUBEMAPS";

pub(super) fn collect(map: &Bsp<'_>, graph: &mut Graph<'_>) {
    materials(map, graph);
    cubemaps(map, graph);
}

/// The textures of cubemaps, which the game writes; without one a surface reflects nothing.
fn cubemaps(map: &Bsp<'_>, graph: &mut Graph<'_>) {
    let Ok(slot) = map.slot(CUBEMAPS) else { return };
    let record = map.row(slot).ok().and_then(|row| row.record());
    let origin = record.and_then(|record| Some((record.size, record.field("origin")?.offset)));
    let (Some((size, origin)), Ok(bytes)) = (origin, map.bytes(slot.id)) else { return };
    let bytes = map.in_little_endian(slot.id, bytes);
    for (index, sample) in bytes.chunks_exact(size).enumerate() {
        let at = |axis: usize| word(sample, origin + 4 * axis).unwrap_or(0);
        let stem = format!("/c{}_{}_{}", at(0), at(1), at(2));
        for extension in [".vtf", ".hdr.vtf"] {
            for map in graph.maps.clone() {
                let name = [b"materials/maps/", &map[..], stem.as_bytes(), extension.as_bytes()].concat();
                graph.add(Kind::Texture, &name, Referrer::Record { lump: CUBEMAPS, index }, b"", Sure::Optional);
            }
        }
    }
}

fn materials(map: &Bsp<'_>, graph: &mut Graph<'_>) {
    let strings = match map.texture_strings() {
        Ok(strings) => strings,
        Err(error) => return graph.fault(STRINGS.as_bytes(), &error),
    };
    for index in 0..strings.len() {
        match strings.get(index) {
            Ok(written) => {
                let name = [b"materials/", written, b".vmt"].concat();
                graph.add(Kind::Material, &name, Referrer::Record { lump: TABLE, index }, written, Sure::Certain);
            }
            Err(error) => graph.fault(STRINGS.as_bytes(), &error),
        }
    }
}
