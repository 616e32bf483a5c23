//! The files that engines look for by the name of the map, as data.

/// What is before the name of the map in the path of a file, and what may be after it. `.*` is one extension, `#` a
/// number. Files
/// below a folder `maps/NAME/` are the map's as well, wherever that folder is.
///
/// The paths are those that engines and games put together from the name of the map: soundscapes, particles and levels
/// of sounds (Source SDK 2013), navigation (`.nav`, `.ain`), descriptions, overviews and radar images, menu photos,
/// scripts of game modes (Left 4 Dead 2), `.res` and `_detail.txt` (GoldSrc), `.ent`, `.lit` and `.vis` (Quake),
/// levelshots, `.arena` and `.aas` (Quake III).
///
/// ```
/// use bspkit::op::rename::FILES;
/// let soundscapes = FILES.iter().find(|(before, _)| *before == "scripts/soundscapes_");
/// assert_eq!(soundscapes.unwrap().1, [".txt"]);
/// ```
pub const FILES: &[(&str, &[&str])] = &[
    ("maps/", MAPS),
    ("maps/graphs/", &[".ain"]),
    ("maps/soundcache/", &[".*"]),
    ("maps/cfg/", &[".cfg"]),
    ("cfg/", &[".cfg"]),
    ("scripts/soundscapes_", &[".txt"]),
    ("scripts/", &[".arena"]),
    ("scripts/vscripts/", VSCRIPTS),
    (
        "resource/overviews/",
        &[".txt", ".dds", "_radar.dds", "_radar_spectate.dds", "_lower_radar.dds", "_upper_radar.dds"],
    ),
    ("overviews/", &[".txt", ".bmp", ".tga"]),
    ("materials/overviews/", &[".*", "_radar.*", "_lower.*", "_upper.*"]),
    ("materials/vgui/maps/", &[".*"]),
    ("materials/vgui/maps/menu_photos_", &[".*"]),
    ("materials/vgui/maps/menu_thumb_", &[".*"]),
    ("media/", &[".*"]),
    ("missions/", &[".txt"]),
    ("levelshots/", &[".*"]),
];

/// After the name in the folder `maps`. The last ones are languages of Steam.
const MAPS: &[&str] = &[
    ".*",
    "_particles.txt",
    "_level_sounds.txt",
    "_manifest.txt",
    "_commentary.txt",
    "_cameras.txt",
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
