//! Names of maps in paths: where they are, and how the new one is spelled.

use std::ops::Range;

use super::files::in_file_name;
use crate::bytes::escaped;
use crate::error::{Error, ErrorKind, Result};

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
        Ok(Names { old: old.to_vec(), new: new.to_vec(), scope: Scope::All, writes: true })
    }

    /// The renaming back, which only finds what would change.
    pub(super) fn back(&self) -> Self {
        Names { old: self.new.clone(), new: self.old.clone(), scope: self.scope, writes: false }
    }

    /// Whether these bytes are the old name, in letters of any case.
    pub(super) fn is_old(&self, name: &[u8]) -> bool {
        name.eq_ignore_ascii_case(&self.old)
    }

    /// The new name in place of an old one with this spelling: in lower case where the old one is, as compilers write
    /// it, otherwise as it was given.
    pub(super) fn spelled(&self, old: &[u8]) -> Vec<u8> {
        match old.iter().any(u8::is_ascii_uppercase) {
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
pub(in crate::op) fn is_cubemap(part: &[u8]) -> bool {
    let name = part.to_ascii_lowercase();
    let name = [&b".vtf"[..], b".tth", b".ttz"].iter().find_map(|end| name.strip_suffix(*end)).unwrap_or(&name);
    let name = name.strip_suffix(b".hdr").unwrap_or(name);
    name == b"cubemapdefault" || cubemap_origin(name).is_some()
}

/// The position in the name of a cube map: `c64_-12_0`.
pub(in crate::op) fn cubemap_origin(name: &[u8]) -> Option<[i32; 3]> {
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
        _ if name.len() > LONGEST => format!("it has {} bytes, and at most {LONGEST} are possible", name.len()),
        _ => match name.iter().find(is_bad) {
            Some(byte) => format!("it has `{}`, which no engine takes", escaped(&[*byte])),
            None => return Ok(()),
        },
    };
    Err(Error::new(ErrorKind::Refused, format!("no map can be called `{}`: {why}", escaped(name))))
}
