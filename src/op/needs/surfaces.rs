//! Materials of faces, overlays and water: all are named by the strings of texdata.

use super::graph::Graph;
use super::{Kind, Referrer, Sure};
use crate::bsp::Bsp;
use crate::content::texdata::{STRINGS, TABLE};

pub(super) fn collect(map: &Bsp<'_>, graph: &mut Graph<'_>) {
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
