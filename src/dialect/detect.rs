//! Detects the dialect of a file: magic and version select candidates, and their probes decide.

use super::{ALL, Dialect, Magic, foreign};
use crate::error::{Error, ErrorKind, Hint, Result};
use crate::file::directory::DirectoryShape;

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
            None => Err(foreign::name(bytes)),
            Some(_) => Err(ambiguous(with_version)),
        },
        _ => Err(ambiguous(found.iter().map(|found| found.dialect))),
    }
}

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

    pub(crate) fn version_in(&self, bytes: &[u8]) -> Option<i32> {
        self.byte_order().word(bytes, self.version_at())
    }

    fn accept(&'static self, bytes: &[u8]) -> Option<Detected> {
        let shape = (self.probe)(bytes, self)?;
        Some(Detected { dialect: self, version: self.version_in(bytes)?, shape })
    }

    /// Reads a file as this dialect without detection, if it is long enough for a version.
    pub(crate) fn insist(&'static self, bytes: &[u8]) -> Result<Detected> {
        let version = self.version_in(bytes).ok_or_else(|| foreign::name(bytes))?;
        let shape = (self.probe)(bytes, self).unwrap_or(self.shapes[0]);
        Ok(Detected { dialect: self, version, shape })
    }
}
