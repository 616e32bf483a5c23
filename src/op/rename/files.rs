//! The files that engines look for by the name of the map, as data: renaming changes their names, and references, files
//! that are missing and files that are not used go by them.

use std::ops::Range;

use crate::content::pak::lookup_name;

/// What is before the name of the map in the path of a file, and what may be after it. A `*` is any letters but dots
/// and slashes, `#` a number. Files below a folder `maps/NAME/` are the map's as well, wherever that folder is.
///
/// The paths are those that engines and games put together from the name of the map: soundscapes, particles and levels
/// of sounds (Source SDK 2013), navigation (`.nav`, `.ain`), descriptions, overviews and radar images, menu photos,
/// scripts of game modes (Left 4 Dead 2), missions (Team Fortress 2), `.kv` and icons (Counter-Strike: Global
/// Offensive), `.res` and `_detail.txt` (GoldSrc), `.ent`, `.lit` and `.vis` (Quake), levelshots, `.arena` and `.aas`
/// (Quake III).
///
/// ```
/// use bspkit::op::rename::FILES;
/// let soundscapes = FILES.iter().find(|(before, _)| *before == "scripts/soundscapes_");
/// assert_eq!(soundscapes.unwrap().1[0], ".txt");
/// ```
pub const FILES: &[(&str, &[&str])] = &[
    ("maps/", MAPS),
    ("maps/graphs/", &[".ain", ".nod", ".nrp"]),
    ("bots/navigation/", &[".nav"]),
    ("maps/soundcache/", &[".cache", ".manifest", ".*"]),
    ("maps/cfg/", &[".cfg"]),
    ("cfg/", &[".cfg"]),
    ("scripts/soundscapes_", &[".txt", ".vsc"]),
    ("scripts/population/", &[".pop", "_*.pop"]),
    ("scripts/", &[".arena"]),
    ("scripts/vscripts/", VSCRIPTS),
    ("scripts/vscripts/maps/", &[".nut"]),
    ("particles/", &["_manifest.txt"]),
    (
        "resource/overviews/",
        &[
            ".txt",
            ".dds",
            "_radar.dds",
            "_radar_spectate.dds",
            "_lower_radar.dds",
            "_upper_radar.dds",
            "_higher_radar.dds",
            "_*.dds",
        ],
    ),
    ("overviews/", &[".txt", ".bmp", ".tga"]),
    ("materials/overviews/", &[".vmt", "_radar.vmt", ".*", "_radar.*", "_lower.*", "_upper.*", "_*.vmt", "_*.vtf"]),
    ("materials/vgui/maps/", &[".vmt", ".*"]),
    ("materials/vgui/maps/menu_photos_", &[".vmt", ".*"]),
    ("materials/vgui/maps/menu_thumb_", &[".vmt", ".*"]),
    ("materials/panorama/images/map_icons/map_icon_", &[".svg", ".*"]),
    ("materials/panorama/images/map_icons/screenshots/1080p/", &[".png"]),
    ("materials/panorama/images/map_icons/screenshots/720p/", &[".png"]),
    ("materials/panorama/images/map_icons/screenshots/360p/", &[".png"]),
    ("materials/maps/", &["/cubemapdefault.vtf", "/cubemapdefault.hdr.vtf"]),
    ("media/", &[".bik", ".webm", "_intro.bik", ".*"]),
    ("missions/", &[".txt"]),
    ("levelshots/", &[".*"]),
];

/// After the name in the folder `maps`. The last ones are languages of Steam.
const MAPS: &[&str] = &[
    ".nav",
    ".txt",
    ".kv",
    ".kv3",
    ".jpg",
    ".res",
    ".lmp",
    ".ent",
    ".*",
    ".bsp.bz2",
    ".bsp.rules.json",
    "@*.ent",
    "_particles.txt",
    "_level_sounds.txt",
    "_manifest.txt",
    "_commentary.txt",
    "_cameras.txt",
    "_story.txt",
    "_retake.txt",
    "_retakes.txt",
    "_whitelist.txt",
    "_ambient.txt",
    "_exclude.lst",
    "_detail.txt",
    "_l_#.lmp",
    "_h_#.lmp",
    "_s_#.lmp",
    "_brazilian.txt",
    "_bulgarian.txt",
    "_czech.txt",
    "_danish.txt",
    "_dutch.txt",
    "_english.txt",
    "_finnish.txt",
    "_french.txt",
    "_german.txt",
    "_greek.txt",
    "_hungarian.txt",
    "_italian.txt",
    "_japanese.txt",
    "_korean.txt",
    "_koreana.txt",
    "_norwegian.txt",
    "_polish.txt",
    "_portuguese.txt",
    "_romanian.txt",
    "_russian.txt",
    "_schinese.txt",
    "_spanish.txt",
    "_swedish.txt",
    "_tchinese.txt",
    "_thai.txt",
    "_turkish.txt",
    "_ukrainian.txt",
];

/// After the name of a script: the modes of Left 4 Dead 2.
const VSCRIPTS: &[&str] = &[
    ".nut",
    ".nuc",
    "_coop.nut",
    "_realism.nut",
    "_versus.nut",
    "_survival.nut",
    "_scavenge.nut",
    "_teamversus.nut",
    "_teamscavenge.nut",
];

/// The files of the table whose whole name follows from that of the map.
pub(in crate::op) fn named_by(map: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let rows = FILES.iter().flat_map(|(before, after)| after.iter().map(move |after| (before, after)));
    let exact = rows.filter(|(_, after)| !after.contains(['*', '#']));
    exact.map(move |(before, after)| [before.as_bytes(), map, after.as_bytes()].concat())
}

/// Where the path of a file has the name of a map by the table.
pub(in crate::op) fn in_file_name(path: &[u8], map: &[u8]) -> Option<Range<usize>> {
    let folded = lookup_name(path);
    FILES.iter().find_map(|(before, after)| {
        let rest = folded.strip_prefix(before.as_bytes())?;
        let (name, tail) = rest.split_at_checked(map.len())?;
        let is_named = name.eq_ignore_ascii_case(map) && after.iter().any(|after| is_tail(tail, after.as_bytes()));
        is_named.then_some(before.len()..before.len() + map.len())
    })
}

/// Whether the rest of a name is as the table says.
fn is_tail(tail: &[u8], after: &[u8]) -> bool {
    let Some(at) = after.iter().position(|byte| matches!(byte, b'*' | b'#')) else { return tail == after };
    let middle = tail.strip_prefix(&after[..at]).and_then(|rest| rest.strip_suffix(&after[at + 1..]));
    middle.is_some_and(|middle| {
        let fits = |byte: &u8| if after[at] == b'#' { byte.is_ascii_digit() } else { !matches!(byte, b'.' | b'/') };
        !middle.is_empty() && middle.iter().all(fits)
    })
}

/// The folders in which engines look for a file that a text names without them.
pub(super) const ROOTS: [&str; 8] =
    ["", "materials/", "models/", "sound/", "scripts/", "scripts/vscripts/", "resource/", "media/"];

/// How a file is searched for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Keys and values, which are edited.
    KeyValues,
    /// Another text, in which names are listed.
    Text,
    /// Bytes with paths in them, which are listed.
    Binary,
    /// A file that names no other files.
    Other,
}

const KEY_VALUES: [&str; 5] = ["vmt", "txt", "res", "kv", "vdf"];
const TEXTS: [&str; 14] =
    ["nut", "lua", "cfg", "lst", "ent", "rad", "vcd", "gi", "json", "xml", "js", "css", "arena", "shader"];
const BINARIES: [&str; 4] = ["mdl", "pcf", "dmx", "ani"];

impl Kind {
    pub(super) fn of(name: &[u8]) -> Kind {
        let extension = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        let is_of = |list: &[&str]| list.iter().any(|known| extension.eq_ignore_ascii_case(known.as_bytes()));
        match () {
            () if is_of(&KEY_VALUES) => Kind::KeyValues,
            () if is_of(&TEXTS) => Kind::Text,
            () if is_of(&BINARIES) => Kind::Binary,
            () => Kind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;

    /// What an edit makes stale goes with the map to another name.
    #[test]
    fn files_beside_a_map_are_in_the_table() {
        for file in dialect::ALL.iter().flat_map(|dialect| dialect.beside.iter().copied().flatten()) {
            let path = [file.folder, "rooms", file.after].concat().replace(['*', '#'], "0");
            assert!(in_file_name(path.as_bytes(), b"rooms").is_some(), "{path}");
        }
    }
}
