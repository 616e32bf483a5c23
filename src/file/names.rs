//! Names of files that Windows does not allow, or takes for devices.

use std::path::{Component, Path, Prefix};

use crate::error::{Error, ErrorKind, Result};

/// Names that Windows reserves for devices, in any folder, in any case and with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Names that are reserved with a digit from 1 to 9 after them, or one of the superscript digits that Windows accepts.
const PORTS: [&str; 2] = ["com", "lpt"];
const SUPERSCRIPTS: [&str; 3] = ["\u{b9}", "\u{b2}", "\u{b3}"];

/// Whether Windows does not allow a byte in a file name. Slashes are not among these bytes: they part the names.
pub fn is_forbidden(byte: u8) -> bool {
    byte.is_ascii_control() || b"<>:\"|?*".contains(&byte)
}

/// Whether a file name is reserved for a device on Windows.
pub fn is_device(name: &[u8]) -> bool {
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default();
    let Ok(stem) = std::str::from_utf8(stem) else { return false };
    let stem = stem.trim_end().to_ascii_lowercase();
    let is_digit = |rest: &str| matches!(rest.as_bytes(), [b'1'..=b'9']) || SUPERSCRIPTS.contains(&rest);
    DEVICES.contains(&&*stem) || PORTS.iter().any(|port| stem.strip_prefix(port).is_some_and(is_digit))
}

/// Why Windows has no file of a name, or has another one.
///
/// ```
/// assert_eq!(bspkit::file::names::problem(b"aux.txt"), Some("its name is reserved for a device on Windows"));
/// assert_eq!(bspkit::file::names::problem(b"rooms.bsp"), None);
/// ```
pub fn problem(name: &[u8]) -> Option<&'static str> {
    match name {
        _ if name.contains(&0) => Some("its name contains a NUL"),
        _ if name.iter().any(|byte| byte.is_ascii_control()) => Some("its name contains a control character"),
        _ if name.contains(&b':') => Some("its name contains a colon, which Windows uses for drives and streams"),
        _ if name.iter().any(|byte| is_forbidden(*byte)) => {
            Some("its name contains one of the characters < > \" | ? *, which Windows does not allow")
        }
        [.., b'.' | b' '] => Some("a part of its name ends with a dot or a space, which Windows removes"),
        _ if is_device(name) => Some("its name is reserved for a device on Windows"),
        _ => None,
    }
}

/// Refuses to write to a path that Windows would take for a device, a stream or another file. Other systems have all
/// names.
///
/// # Errors
/// [`ErrorKind::Refused`], on Windows only.
pub fn refuse(path: &Path) -> Result<()> {
    match if cfg!(windows) { problem_of(path) } else { None } {
        None => Ok(()),
        Some(why) => {
            let error = Error::new(ErrorKind::Refused, format!("cannot write {}: {why}", path.display()));
            Err(error.with_hint("choose another name"))
        }
    }
}

/// The first problem of the names in a path. A path that starts with `\\?\` has none: Windows takes it as it is.
fn problem_of(path: &Path) -> Option<&'static str> {
    path.components()
        .take_while(|part| !matches!(part, Component::Prefix(prefix) if is_verbatim(prefix.kind())))
        .find_map(|part| match part {
            Component::Normal(name) => problem(name.as_encoded_bytes()),
            _ => None,
        })
}

fn is_verbatim(prefix: Prefix<'_>) -> bool {
    matches!(prefix, Prefix::Verbatim(_) | Prefix::VerbatimDisk(_) | Prefix::VerbatimUNC(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_known_in_any_case_and_with_any_extension() {
        for device in
            ["con", "NUL.txt", "Lpt1", "aux .c", "com9.vmt", "CONIN$", "conout$.bin", "COM\u{b9}", "lpt\u{b3}.a"]
        {
            assert!(is_device(device.as_bytes()), "{device}");
        }
        for plain in ["", "console", "nul1", "com0", "com10", "com\u{b5}", "a.con", "\u{e9}con"] {
            assert!(!is_device(plain.as_bytes()), "{plain}");
        }
        assert!(!is_device(b"\xffcon"));
    }

    #[test]
    fn every_name_of_a_path_is_looked_at() {
        for bad in ["NUL", "aux/a.bsp", "a/com1.txt", "../a./b", "a.bsp ", "a.bsp:stream", "what?.bsp"] {
            assert!(problem_of(Path::new(bad)).is_some(), "{bad}");
        }
        for good in ["a.bsp", "./a/../b.bsp", "/a/b c.bsp", "out/", ""] {
            assert_eq!(problem_of(Path::new(good)), None, "{good}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn drives_are_no_streams_and_long_paths_are_taken_as_they_are() {
        for good in [r"C:\a.bsp", r"C:a.bsp", r"\\server\share\a.bsp", r"\\?\C:\a.bsp.", r"\\?\C:\NUL"] {
            assert_eq!(problem_of(Path::new(good)), None, "{good}");
        }
        assert!(problem_of(Path::new(r"C:\a\NUL")).is_some());
    }
}
