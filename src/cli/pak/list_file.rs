//! The list files of bspzip: pairs of lines, a name in the map and a path on disk.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bspkit::face::names::path;

/// A file to embed.
pub(super) struct New {
    pub(super) name: Vec<u8>,
    pub(super) path: PathBuf,
    /// Whether it was found in a folder and not named by the user.
    pub(super) is_found: bool,
}

/// The lines of a list. They end with LF or CRLF; the last line may have no end. A byte order mark at the start is
/// skipped, and so are empty lines at the end.
///
/// # Errors
/// The number of another empty line.
pub(crate) fn lines(text: &[u8]) -> Result<Vec<&[u8]>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut lines: Vec<&[u8]> =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    match lines.iter().position(|line| line.is_empty()) {
        Some(at) => bail!("line {} is empty", at + 1),
        None => Ok(lines),
    }
}

/// Reads a list of pairs.
pub(super) fn parse(text: &[u8]) -> Result<Vec<New>> {
    let lines = lines(text)?;
    if !lines.len().is_multiple_of(2) {
        bail!("it has {} lines, but each name needs a path on the next line", lines.len());
    }
    lines
        .chunks_exact(2)
        .map(|pair| Ok(New { name: pair[0].to_vec(), path: local(path(pair[1])?.as_os_str()), is_found: false }))
        .collect()
}

/// A path as this system has it: `\` is `/` where no file has it in its name.
pub(crate) fn local(path: &OsStr) -> PathBuf {
    let has_backslash = path.as_encoded_bytes().contains(&b'\\');
    match path.to_str().filter(|_| !cfg!(windows) && has_backslash && !Path::new(path).exists()) {
        Some(text) => text.replace('\\', "/").into(),
        None => path.into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_pairs_of_lines() {
        let pairs = |text: &str| -> Vec<_> {
            let list = parse(text.as_bytes()).unwrap();
            list.into_iter().map(|new| (String::from_utf8(new.name).unwrap(), new.path)).collect()
        };
        let path = if cfg!(windows) { "c:\\d" } else { "c:/d" };
        let expected = [("a b".to_owned(), PathBuf::from(path)), ("e".to_owned(), PathBuf::from("f"))];
        assert_eq!(pairs("a b\r\nc:\\d\r\ne\r\nf\r\n"), expected);
        assert_eq!(pairs("a b\nc:\\d\ne\nf"), expected);
        assert_eq!(pairs("\u{FEFF}a b\nc:\\d\ne\nf"), expected);
        assert_eq!(pairs(""), []);
        assert!(parse(b"a\nb\nc\n").is_err());
        assert!(parse(b"a\nb\n\n\nc\nd\n").is_err());
    }
}
