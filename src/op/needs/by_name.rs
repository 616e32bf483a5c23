//! Files that engines look for by the name of the map.

use super::graph::Graph;
use super::{Kind, Referrer, Sure, entities, normal_name};
use crate::content::assets::material::material_file;
use crate::content::pak::Pak;

/// A larger text is not read.
const MOST_BYTES: usize = 1 << 20;

/// What is before and after the name of the map.
const FILES: &[(&str, &str)] = &[
    ("maps/", ".nav"),
    ("maps/graphs/", ".ain"),
    ("maps/", ".txt"),
    ("maps/", ".kv"),
    ("maps/", ".kv3"),
    ("maps/", ".jpg"),
    ("maps/", ".res"),
    ("maps/", ".lmp"),
    ("maps/", ".ent"),
    ("maps/", "_commentary.txt"),
    ("maps/", "_english.txt"),
    ("maps/", "_story.txt"),
    ("maps/", "_retake.txt"),
    ("maps/", "_retakes.txt"),
    ("maps/", "_cameras.txt"),
    ("maps/", "_whitelist.txt"),
    ("maps/", "_exclude.lst"),
    ("maps/", "_level_sounds.txt"),
    ("maps/", "_particles.txt"),
    ("maps/", "_ambient.txt"),
    ("maps/soundcache/", ".cache"),
    ("maps/soundcache/", ".manifest"),
    ("cfg/", ".cfg"),
    ("maps/cfg/", ".cfg"),
    ("media/", ".bik"),
    ("media/", ".webm"),
    ("media/", "_intro.bik"),
    ("resource/overviews/", ".txt"),
    ("resource/overviews/", ".dds"),
    ("resource/overviews/", "_radar.dds"),
    ("resource/overviews/", "_radar_spectate.dds"),
    ("resource/overviews/", "_lower_radar.dds"),
    ("resource/overviews/", "_higher_radar.dds"),
    ("materials/overviews/", ".vmt"),
    ("materials/overviews/", "_radar.vmt"),
    ("materials/vgui/maps/menu_photos_", ".vmt"),
    ("materials/vgui/maps/menu_thumb_", ".vmt"),
    ("materials/vgui/maps/", ".vmt"),
    ("materials/panorama/images/map_icons/map_icon_", ".svg"),
    ("materials/panorama/images/map_icons/screenshots/1080p/", ".png"),
    ("materials/panorama/images/map_icons/screenshots/720p/", ".png"),
    ("materials/panorama/images/map_icons/screenshots/360p/", ".png"),
    ("scripts/vscripts/", ".nut"),
    ("scripts/vscripts/maps/", ".nut"),
    ("scripts/population/", ".pop"),
    ("scripts/soundscapes_", ".txt"),
    ("particles/", "_manifest.txt"),
    ("materials/maps/", "/cubemapdefault.vtf"),
    ("materials/maps/", "/cubemapdefault.hdr.vtf"),
];

/// Packed files with the name of the map in one of these folders are looked for in some games, whatever follows it.
const FOLDERS: [&str; 7] = [
    "maps/",
    "resource/overviews/",
    "scripts/vscripts/",
    "scripts/population/",
    "materials/vgui/maps/",
    "scripts/soundscapes_",
    "materials/overviews/",
];

pub(super) fn collect(pak: &Pak<'_>, graph: &mut Graph<'_>) {
    let map = graph.map.clone();
    for (before, after) in FILES {
        let name = [before.as_bytes(), &map, after.as_bytes()].concat();
        graph.add(entities::of_extension(&name), &name, Referrer::MapName, b"", Sure::Optional);
    }
    for entry in pak.iter() {
        let name = normal_name(entry.name());
        let of_map = FOLDERS.iter().filter_map(|folder| name.strip_prefix(folder.as_bytes())?.strip_prefix(&map[..]));
        let is_of_map = of_map.into_iter().any(|rest| matches!(rest.first(), Some(b'_' | b'.' | b'/')));
        if is_of_map && graph.index(&name).is_none() {
            graph.add(entities::of_extension(&name), &name, Referrer::MapName, b"", Sure::Optional);
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
