//! Detects the dialect of a file: magic and version select candidates, and their probes decide. For other files tables
//! say what they are.

use super::{ALL, Dialect, Magic};
use crate::bytes::word;
use crate::error::{Error, ErrorKind, Hint, Result};
use crate::file::directory::DirectoryShape;

// Detects the dialect of a file: magic and version select candidates, and their probes decide.

/// The result of detection.
///
/// ```
/// let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp")?;
/// let found = bspkit::dialect::detect(&bytes)?;
/// assert_eq!((found.dialect.name, found.version), ("quake2", 38));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Detected {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The version number in the file.
    pub version: i32,
    /// How the lump directory is laid out.
    pub shape: DirectoryShape,
}

/// Detects the dialect of a file. It reads the directory and little more.
///
/// # Errors
/// [`ErrorKind::NotABsp`] and [`ErrorKind::Unsupported`] with one sentence that says what the file is;
/// [`ErrorKind::Ambiguous`] if several dialects fit.
pub fn detect(bytes: &[u8]) -> Result<Detected> {
    let with_version = ALL.iter().copied().filter(|dialect| dialect.claims(bytes));
    let mut found: Vec<Detected> = with_version.clone().filter_map(|dialect| dialect.accept(bytes)).collect();
    let bases: Vec<&str> = found.iter().filter_map(|one| Some(one.dialect.preferred_to?.name)).collect();
    found.retain(|one| !bases.contains(&one.dialect.name));
    match found[..] {
        [found] => Ok(found),
        [] => match with_version.clone().next() {
            None => Err(name(bytes)),
            Some(dialect) => Err(of_another(dialect)),
        },
        _ => Err(ambiguous(found.iter().map(|found| found.dialect))),
    }
}

/// The error for a map whose header is that of a dialect, and whose lumps are not.
fn of_another(dialect: &Dialect) -> Error {
    let relative = OTHERS
        .iter()
        .find(|(name, _)| *name == dialect.name)
        .map_or(String::new(), |(_, other)| format!(", such as {other}"));
    let message = format!(
        "the header is that of {} maps, and what the directory names is not: a map of another game{relative}",
        dialect.title
    );
    Error::new(ErrorKind::Unsupported, message)
}

/// Games whose maps begin as those of a dialect, and have other structs.
const OTHERS: [(&str, &str); 2] = [("quake3", "Soldier of Fortune"), ("raven", "SiN")];

fn ambiguous(candidates: impl Iterator<Item = &'static Dialect>) -> Error {
    let names: Vec<_> = candidates.map(|dialect| dialect.name).collect();
    let message = format!("the header does not tell which kind of map this is; it could be {}", names.join(" or "));
    Error::new(ErrorKind::Ambiguous, message).with_hint(Hint::Dialect(names))
}

impl Dialect {
    /// Whether the magic and the version belong to this dialect.
    fn claims(&self, bytes: &[u8]) -> bool {
        let magic = match self.magic {
            Magic::Ident(ident) => bytes.starts_with(&ident),
            Magic::VersionOnly => true,
        };
        magic && self.version_in(bytes).is_some_and(|version| self.versions.contains(&version))
    }

    /// The version that the start of a file states, where maps of this dialect have it.
    pub fn version_in(&self, bytes: &[u8]) -> Option<i32> {
        self.byte_order().word(bytes, self.version_at())
    }

    fn accept(&'static self, bytes: &[u8]) -> Option<Detected> {
        let shape = (self.probe)(bytes, self)?;
        Some(Detected { dialect: self, version: self.version_in(bytes)?, shape })
    }

    /// Reads a file as this dialect without detection, if it is long enough for a version.
    pub(crate) fn insist(&'static self, bytes: &[u8]) -> Result<Detected> {
        let version = self.version_in(bytes).ok_or_else(|| name(bytes))?;
        let shape = (self.probe)(bytes, self).unwrap_or(self.shapes[0]);
        Ok(Detected { dialect: self, version, shape })
    }
}

// Names the kind of a file that cannot be opened, in one sentence, from tables.

/// Maps of related formats: the first bytes of the file, the version if only one is meant, and the name.
const MAPS: &[(&[u8], Option<i32>, &str)] = &[
    (b"rBSP", None, "a map of a Respawn game (Titanfall, Apex Legends), whose lumps are in files beside it"),
    (b"PSBr", None, "a console map of a Respawn game (Titanfall, Apex Legends)"),
    (b"PSBV", None, "a console map of the Source engine, of another version than 19 and 20"),
    (b"QBSP", None, "a map of a Quake II engine's own, of another version than 38"),
    (b"RBSP", None, "a map like those of Raven's games, of another version than 1"),
    (b"FBSP", None, "a map like those of QFusion, of another version than 1"),
    (b"FAKK", Some(19), "a map of the demo of Star Trek: Elite Force II"),
    (b"FAKK", None, "a map like those of F.A.K.K.2 and Alice, of another version than 12 and 42"),
    (b"EF2!", None, "a map of Star Trek: Elite Force II"),
    (b"2015", None, "a map of Medal of Honor: Allied Assault, of another version than 17, 18 and 19"),
    (b"EALA", None, "a map of Medal of Honor's expansions, of another version than 21"),
    (b"FART", None, "a map of VitaminSource, of a later version than 42"),
    (b"IBSP", Some(69), "a map of Quake2World"),
    (b"VBSP", Some(100), "a Source map of Counter-Strike Online 2"),
    (&23_i32.to_le_bytes(), None, "a map of a pre-release Quake"),
    (&28_i32.to_le_bytes(), None, "a map of a pre-release Quake"),
];

/// Other files that are found under the name of a map.
const FILES: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "a zip archive (pk3): the map has to be taken out of it first"),
    (b"BZh", "compressed with bzip2, as download servers keep maps: unpack it first"),
    (b"\x1f\x8b", "compressed with gzip: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first"),
    (b"\xfd7zXZ\0", "compressed with xz: unpack it first"),
    (b"\x04\x22\x4d\x18", "compressed with LZ4: unpack it first"),
    (b"7z\xbc\xaf", "a 7-Zip archive: the map has to be taken out of it first"),
    (b"Rar!", "a RAR archive: the map has to be taken out of it first"),
    (b"IDP3", "a Quake III model"),
    (b"IDP2", "a Quake II model"),
    (b"IDPO", "a Quake model"),
    (b"IDST", "a model of Half-Life or Source"),
    (b"VTF\0", "a Source texture"),
    (b"WAD3", "a texture archive (WAD3)"),
    (b"version https://git-lfs", "a pointer of Git LFS: the map itself was not downloaded"),
    (b"<!DOCTYPE", "a web page: the download went wrong"),
    (b"<html", "a web page: the download went wrong"),
    (b"// ", "text, perhaps the source of a map: it has to be compiled first"),
    (b"{", "text, perhaps the source of a map: it has to be compiled first"),
    (b"versioninfo", "the source of a Source map (VMF): it has to be compiled first"),
];

/// The error for a file that no dialect accepts; it names the kind of the file.
pub(super) fn name(bytes: &[u8]) -> Error {
    if bytes.is_empty() {
        return Error::new(ErrorKind::NotABsp, "the file is empty");
    }
    let version = word(bytes, 4);
    let map = MAPS.iter().find(|(magic, only, _)| bytes.starts_with(magic) && (only.is_none() || *only == version));
    if let Some((_, _, what)) = map {
        return Error::new(ErrorKind::Unsupported, format!("this is {what}, which is not opened"));
    }
    if is_encrypted(bytes) {
        let message = "this is an encrypted map of Tactical Intervention, which is not opened";
        return Error::new(ErrorKind::Unsupported, message);
    }
    if let Some((_, what)) = FILES.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Error::new(ErrorKind::NotABsp, format!("this is not a map but {what}"));
    }
    for (magic, family) in [(b"IBSP", "Quake"), (b"VBSP", "Source")] {
        if let (true, Some(version)) = (bytes.starts_with(magic), version) {
            let message = format!("this is a map of the {family} family of version {version}, which is not known");
            return Error::new(ErrorKind::Unsupported, message);
        }
    }
    Error::new(ErrorKind::NotABsp, "this is not a map of the BSP family")
}

/// Tactical Intervention encrypts the whole file with a key of 32 bytes by XOR, so the key is visible where the plain
/// text is zero.
fn is_encrypted(bytes: &[u8]) -> bool {
    let Some(key) = bytes.get(384..416) else { return false };
    if crate::bytes::is_zero(key) {
        return false;
    }
    let plain = bytes.iter().zip(key).take(4).map(|(byte, key)| byte ^ key);
    plain.eq(b"VBSP".iter().copied()) && bytes[416..].len() > 32
}
