//! Names of maps in paths: where they are, how the new one is spelled, and the files that engines look for by the name
//! of the map.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use bspkit::bytes::escaped;
use bspkit::content::pak::lookup_name;
use bspkit::dialect;
use bspkit::file::names::is_device;
use bspkit::{Error, ErrorKind, Result};

// Names of maps in paths: where they are, and how the new one is spelled.

/// The longest name of a map in bytes: `maps/NAME.bsp` with its NUL fits `MAX_QPATH`, which is 64 in Quake's family
/// (quakedef.h, qfiles.h, q_shared.h) and more in Source.
const LONGEST: usize = 54;

/// The longest name of a file on common systems.
const LONGEST_OLD: usize = 255;

/// Letters that shells, consoles, file systems or parsers of engines give a meaning of their own.
const REFUSED: &[u8] = b"/\\:*?\"<>|;'`{},%";

/// The old and the new name of a map.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) old: Vec<u8>,
    pub(super) new: Vec<u8>,
    pub(super) scope: Scope,
    /// Whether anything is changed; otherwise changes are only found.
    pub(super) writes: bool,
    /// Whether the new name is written as it was given, whatever the spelling of the old one.
    pub(super) is_as_given: bool,
}

/// Which paths are renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    All,
    /// Only those of cube maps.
    Cubemaps,
}

impl Names {
    pub(super) fn new(old: &[u8], new: &[u8]) -> Result<Self> {
        check_old(old)?;
        check(new)?;
        Ok(Names { old: old.to_vec(), new: new.to_vec(), scope: Scope::All, writes: true, is_as_given: false })
    }

    /// The renaming back, which only finds what would change.
    pub(super) fn back(&self) -> Self {
        Names { old: self.new.clone(), new: self.old.clone(), writes: false, ..*self }
    }

    /// The same with the new name as it was given: engines open the file of a level by the spelling of a key.
    pub(super) fn as_given(&self) -> Self {
        Names { is_as_given: true, ..self.clone() }
    }

    /// Whether a file of this kind is searched.
    pub(super) fn searches(&self, kind: Kind) -> bool {
        match self.scope {
            Scope::All => kind != Kind::Other,
            Scope::Cubemaps => kind == Kind::KeyValues,
        }
    }

    /// Whether these bytes are the old name, in letters of any case.
    pub(super) fn is_old(&self, name: &[u8]) -> bool {
        name.eq_ignore_ascii_case(&self.old)
    }

    /// The new name in place of an old one with this spelling: in lower case where the old one is, as compilers write
    /// it, otherwise as it was given.
    pub(super) fn spelled(&self, old: &[u8]) -> Vec<u8> {
        match self.is_as_given || old.iter().any(u8::is_ascii_uppercase) {
            true => self.new.clone(),
            false => self.new.to_ascii_lowercase(),
        }
    }

    /// Whether renaming back restores this spelling of the old name.
    pub(super) fn comes_back(&self, old: &[u8]) -> bool {
        self.back().spelled(&self.spelled(old)) == old
    }

    /// A text with the new name in these ranges.
    pub(super) fn replaced(&self, text: &[u8], ranges: &[Range<usize>]) -> Vec<u8> {
        let (mut new, mut at) = (Vec::with_capacity(text.len()), 0);
        for range in ranges {
            new.extend_from_slice(&text[at..range.start]);
            new.extend_from_slice(&self.spelled(&text[range.clone()]));
            at = range.end;
        }
        new.extend_from_slice(&text[at..]);
        new
    }

    /// Where a path names the folder of the map: a part of this name after a part `maps`, with more parts after it.
    pub(super) fn in_folders(&self, path: &[u8]) -> Vec<Range<usize>> {
        let parts = parts(path);
        let is_in_scope = |at: usize| match self.scope {
            Scope::All => true,
            Scope::Cubemaps => at + 2 == parts.len() && is_cubemap(&path[parts[at + 1].clone()]),
        };
        let is_own = |at: &usize| {
            let [before, own] = [at - 1, *at].map(|at| &path[parts[at].clone()]);
            before.eq_ignore_ascii_case(b"maps") && self.is_old(own) && is_in_scope(*at)
        };
        (1..parts.len().saturating_sub(1)).filter(is_own).map(|at| parts[at].clone()).collect()
    }

    /// Where the path of a file names the map: its folders, and the names under which engines look for files of a map.
    pub(super) fn in_file(&self, path: &[u8]) -> Vec<Range<usize>> {
        let mut ranges = self.in_folders(path);
        if self.scope == Scope::All && ranges.is_empty() {
            ranges.extend(in_file_name(path, &self.old));
        }
        ranges
    }

    /// Whether a text has the old name anywhere.
    pub(super) fn are_in(&self, text: &[u8]) -> bool {
        memchr::memmem::find(&text.to_ascii_lowercase(), &self.old.to_ascii_lowercase()).is_some()
    }

    /// Where a text has the old name as a word of its own. Underscores and hyphens are letters of words.
    pub(super) fn words(&self, text: &[u8]) -> Vec<Range<usize>> {
        let lower = text.to_ascii_lowercase();
        let is_letter = |at: Option<&u8>| at.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
        let is_word = |at: &usize| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            !is_letter(before) && !is_letter(text.get(at + self.old.len()))
        };
        let old = self.old.to_ascii_lowercase();
        memchr::memmem::find_iter(&lower, &old).filter(is_word).map(|at| at..at + self.old.len()).collect()
    }
}

/// The ranges of the parts of a path.
fn parts(path: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = (0..=path.len()).filter(|at| path.get(*at).is_none_or(|byte| matches!(byte, b'/' | b'\\')));
    ends.map(|end| std::mem::replace(&mut start, end + 1)..end).collect()
}

/// The path parts under which cube maps are: `c64_-12_0.vtf`, `c64_-12_0.hdr.vtf`, `cubemapdefault.vtf`, also without
/// the extension, as materials name them.
pub(crate) fn is_cubemap(part: &[u8]) -> bool {
    let name = part.to_ascii_lowercase();
    let name = [&b".vtf"[..], b".tth", b".ttz"].iter().find_map(|end| name.strip_suffix(*end)).unwrap_or(&name);
    let name = name.strip_suffix(b".hdr").unwrap_or(name);
    name == b"cubemapdefault" || cubemap_origin(name).is_some()
}

/// The position in the name of a cube map: `c64_-12_0`.
pub(crate) fn cubemap_origin(name: &[u8]) -> Option<[i32; 3]> {
    let numbers = std::str::from_utf8(name).ok()?.strip_prefix('c')?;
    let is_plain = |text: &&str| !text.starts_with('+');
    let numbers: Vec<i32> = numbers.split('_').filter(is_plain).map(|text| text.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Folders in `maps` that belong to no map, and `maps` itself.
const FOLDERS: [&[u8]; 4] = [b"maps", b"graphs", b"soundcache", b"cfg"];

/// Refuses an old name that no path can have. What engines do not load can still be the name of a file.
fn check_old(name: &[u8]) -> Result<()> {
    let why = match name {
        [] => "it is empty".to_owned(),
        _ if name.iter().any(|byte| matches!(byte, b'/' | b'\\' | 0)) => "it has a slash".to_owned(),
        [.., b'.', b'b' | b'B', b's' | b'S', b'p' | b'P'] => "a name has no extension".to_owned(),
        _ if FOLDERS.iter().any(|folder| name.eq_ignore_ascii_case(folder)) => "it is that of a folder".to_owned(),
        _ if name.len() > LONGEST_OLD => format!("it has {} bytes, and paths have at most {LONGEST_OLD}", name.len()),
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Refused, format!("no map is called `{}`: {why}", escaped(name))))
}

/// Refuses a name that no engine could load a map by.
fn check(name: &[u8]) -> Result<()> {
    let is_bad = |byte: &&u8| !byte.is_ascii_graphic() || REFUSED.contains(byte);
    let why = match name {
        [] => "it is empty".to_owned(),
        [b'.' | b'-', ..] => "it begins with a dot or a hyphen".to_owned(),
        [.., b'.'] => "it ends with a dot".to_owned(),
        [.., b'.', b'b' | b'B', b's' | b'S', b'p' | b'P'] => "a name has no extension".to_owned(),
        _ if FOLDERS.iter().any(|folder| name.eq_ignore_ascii_case(folder)) => "it is that of a folder".to_owned(),
        _ if is_device(name) => "it is that of a device on Windows".to_owned(),
        _ if name.len() > LONGEST => format!("it has {} bytes, and at most {LONGEST} are possible", name.len()),
        _ => match name.iter().find(is_bad) {
            Some(byte) => format!("it has `{}`, which no engine takes", escaped(&[*byte])),
            None => return Ok(()),
        },
    };
    Err(Error::new(ErrorKind::Refused, format!("no map can be called `{}`: {why}", escaped(name))))
}

// The files that engines look for by the name of the map, as data: renaming changes their names, and references, files
// that are missing and files that are not used go by them.

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
/// use bspkit_game::rename::FILES;
/// let soundscapes = FILES.iter().find(|(before, _)| *before == "scripts/soundscapes_");
/// assert_eq!(soundscapes.unwrap().1[0], ".txt");
/// ```
pub const FILES: &[(&str, &[&str])] = &[
    ("maps/", MAPS),
    ("maps/graphs/", &[".ain", ".nod", ".nrp"]),
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

/// What is before and after the name of the map: [`FILES`], and the files that edits make stale.
fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    static BESIDE: LazyLock<BTreeSet<(&str, &str)>> = LazyLock::new(|| {
        let files = dialect::ALL.iter().flat_map(|dialect| dialect.beside.iter().copied().flatten());
        files.map(|file| (file.folder, file.after)).collect()
    });
    rows().chain(BESIDE.iter().copied())
}

/// The rows of [`FILES`], one for each ending.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().flat_map(|(before, after)| after.iter().map(move |after| (*before, *after)))
}

/// The rows of [`FILES`] whose whole name follows from that of the map.
pub(crate) fn named_by(map: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let exact = rows().filter(|(_, after)| !after.contains(['*', '#']));
    exact.map(move |(before, after)| [before.as_bytes(), map, after.as_bytes()].concat())
}

/// Where the path of a file has the name of a map by the table.
pub(crate) fn in_file_name(path: &[u8], map: &[u8]) -> Option<Range<usize>> {
    let folded = lookup_name(path);
    files().find_map(|(before, after)| {
        let start = end_of(&folded, before)?;
        let (name, tail) = folded[start..].split_at_checked(map.len())?;
        let is_named = name.eq_ignore_ascii_case(map) && is_tail(tail, after.as_bytes());
        is_named.then_some(start..start + map.len())
    })
}

/// Where a path goes on after what it begins with, in which a part `*` is any folder.
fn end_of(path: &[u8], before: &str) -> Option<usize> {
    let mut at = 0;
    let mut parts = before.split('/').peekable();
    while let Some(part) = parts.next() {
        let is_folder = parts.peek().is_some();
        at += match part {
            "*" => memchr::memchr(b'/', &path[at..])?,
            _ => path[at..].starts_with(part.as_bytes()).then_some(part.len())?,
        };
        if is_folder {
            at += path[at..].starts_with(b"/").then_some(1)?;
        }
    }
    Some(at)
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
    /// Of which form it is, its bytes say: a text or not.
    Unknown,
    /// Pixels, sounds, films, shapes or letters: a file that names no other files.
    Other,
}

const KEY_VALUES: [&str; 5] = ["vmt", "txt", "res", "kv", "vdf"];
const TEXTS: [&str; 14] =
    ["nut", "lua", "cfg", "lst", "ent", "rad", "vcd", "gi", "json", "xml", "js", "css", "arena", "shader"];
const BINARIES: [&str; 4] = ["mdl", "pcf", "dmx", "ani"];
const NAMELESS: [&str; 38] = [
    "vtf", "png", "jpg", "jpeg", "tga", "bmp", "gif", "ico", "dds", "webp", "psd", "wav", "mp3", "ogg", "flac", "wma",
    "m4a", "aac", "opus", "mp4", "m4v", "webm", "bik", "bk2", "avi", "wmv", "mov", "mpg", "mpeg", "ogv", "roq", "cin",
    "phy", "vvd", "vhv", "ttf", "otf", "vfont",
];

impl Kind {
    pub(super) fn of(name: &[u8]) -> Kind {
        let extension = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        let is_of = |list: &[&str]| list.iter().any(|known| extension.eq_ignore_ascii_case(known.as_bytes()));
        match () {
            () if is_of(&KEY_VALUES) => Kind::KeyValues,
            () if is_of(&TEXTS) => Kind::Text,
            () if is_of(&BINARIES) => Kind::Binary,
            () if is_of(&NAMELESS) => Kind::Other,
            () => Kind::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an edit makes stale goes with the map to another name.
    #[test]
    fn files_beside_a_map_are_in_the_table() {
        for file in dialect::ALL.iter().flat_map(|dialect| dialect.beside.iter().copied().flatten()) {
            let path = [file.folder, "rooms", file.after].concat().replace(['*', '#'], "0");
            assert!(in_file_name(path.as_bytes(), b"rooms").is_some(), "{path}");
        }
        for path in ["rcbot2/waypoints/rooms.rcw", "rcbot2/waypoints/tf/more/rooms.rcw", "bots/map/rooms.bot"] {
            assert_eq!(in_file_name(path.as_bytes(), b"rooms"), None, "{path}");
        }
    }
}
