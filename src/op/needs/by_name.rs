//! Files that engines look for by the name of the map.

use super::graph::Graph;
use super::{Kind, Referrer, Sure, entities, normal_name};
use crate::content::assets::material::material_file;
use crate::content::pak::Pak;
use crate::op::rename::files;

/// A larger text is not read.
const MOST_BYTES: usize = 1 << 20;

/// Adds the files of the table that engines look for, and those of the pakfile that fit a row of it.
pub(super) fn collect(pak: &Pak<'_>, graph: &mut Graph<'_>) {
    for map in graph.maps.clone() {
        for name in files::named_by(&map) {
            graph.add(entities::of_extension(&name), &name, Referrer::MapName, b"", Sure::Optional);
        }
        for entry in pak.iter() {
            let name = normal_name(entry.name());
            if files::in_file_name(&name, &map).is_some() && graph.index(&name).is_none() {
                graph.add(entities::of_extension(&name), &name, Referrer::MapName, b"", Sure::Optional);
            }
        }
    }
}

/// The material of an overview, which its text names.
pub(super) fn expand_overview(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    if !(name.starts_with(b"resource/overviews/") && name.ends_with(b".txt")) {
        return;
    }
    let Some(text) = graph.text(&name, MOST_BYTES) else { return };
    for pair in text.iter().filter(|pair| pair.is("material")) {
        let Some(written) = pair.value() else { continue };
        let referrer = Referrer::File { index, line: Some(pair.line()) };
        let radar = [b"resource/", written, b"_radar.dds"].concat();
        graph.add(Kind::Texture, &radar, referrer.clone(), written, Sure::Optional);
        graph.add(Kind::Material, &material_file(written), referrer, written, Sure::Likely);
    }
}
