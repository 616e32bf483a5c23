//! Names of files: which ones Windows does not allow, and which ones of a map are not written to a disk.
//!
//! A map comes from other people, and so do the names in it: of embedded files, textures, lumps. The names of files on
//! a disk have a meaning to programs: `.git/config` runs commands for whoever looks at the state of a repository,
//! `.bashrc` at the start of a shell, `-rf` is an option after `*`. [`path_hazard`] is the one rule for all that writes
//! or embeds files by such names, and [`escape`] gives the name that is written where a file may have another one.

use std::fmt::Write as _;
use std::path::{Component, Path, Prefix};

use crate::bytes::is_unseen;
use crate::error::{Error, ErrorKind, Result};

/// Names that Windows reserves for devices, in any folder, in any case and with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Names that are reserved with a digit from 1 to 9 after them, or one of the superscript digits that Windows accepts.
const PORTS: [&str; 2] = ["com", "lpt"];
const SUPERSCRIPTS: [&str; 3] = ["\u{b9}", "\u{b2}", "\u{b3}"];

/// Extensions of what Windows starts when a shell in the folder is asked for a program of that name, or opens when the
/// folder is shown. No engine loads such files from a map.
const PROGRAMS: [&str; 25] = [
    "bat",
    "cmd",
    "com",
    "cpl",
    "dll",
    "exe",
    "hta",
    "jse",
    "library-ms",
    "lnk",
    "msc",
    "msi",
    "pif",
    "ps1",
    "scf",
    "scr",
    "searchconnector-ms",
    "theme",
    "themepack",
    "url",
    "vbe",
    "vbs",
    "website",
    "wsf",
    "wsh",
];

/// Files that the file manager of Windows reads by itself.
const READ_UNASKED: [&str; 2] = ["autorun.inf", "desktop.ini"];

/// The file that makes a folder with `objects` and `refs` beside it a bare repository of Git, whatever the folder is
/// called. Git then obeys the file `config` there, which names programs to run.
const REPOSITORY: &str = "HEAD";

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

/// Why a name of a map is not that of a file or folder on a disk, on any system: a part of a path, without slashes.
///
/// ```
/// use bspkit::file::names::hazard;
/// for name in [".git", "git~1", ".bashrc", "-rf", "~", "..", "a\u{202e}b.vmt", "git.exe", "nul"] {
///     assert!(hazard(name.as_bytes()).is_some());
/// }
/// assert_eq!(hazard(b"wall 1.vmt"), None);
/// ```
pub fn hazard(part: &[u8]) -> Option<&'static str> {
    match part {
        [] => Some("its name has an empty part"),
        _ if part.len() > LONGEST => Some("a part of its name has more than 255 bytes, which no disk takes"),
        b"." | b".." => Some("its name contains . or .., which leads out of its folder"),
        [b'.', ..] => Some("a part of its name begins with a dot: shells and version control read such files unasked"),
        [b'-', ..] => Some("a part of its name begins with a hyphen, which programs take for an option"),
        [b'~', ..] => Some("a part of its name begins with a tilde, which shells take for a home folder"),
        _ if part.iter().any(|byte| matches!(byte, b'/' | b'\\')) => Some("its name contains a slash"),
        _ if letters(part).into_iter().any(char::is_control) => Some(match std::str::from_utf8(part) {
            Ok(_) => "its name contains a control character",
            Err(_) => "its name is not UTF-8 and has a byte that terminals take for a control character",
        }),
        _ if letters(part).into_iter().any(is_unseen) => {
            Some("its name contains a character that is not shown or changes the order of others")
        }
        _ if is_short(part) => Some("its name may be the short name of another file on Windows"),
        _ if is_program(part) => Some("its name is one that systems run or open unasked"),
        _ => problem(part),
    }
}

/// The longest name of a file in bytes, on all usual file systems.
const LONGEST: usize = 255;

/// Why the name of a file in a map is not that of a file on a disk: the last part of a path.
///
/// ```
/// use bspkit::file::names::{file_hazard, hazard};
/// assert!(file_hazard(b"HEAD").is_some() && file_hazard(b"nul").is_some());
/// assert_eq!((file_hazard(b"head.vtf"), hazard(b"head")), (None, None));
/// ```
pub fn file_hazard(name: &[u8]) -> Option<&'static str> {
    match name.eq_ignore_ascii_case(REPOSITORY.as_bytes()) {
        true => Some("its name is that of the file that makes a folder a repository, whose settings run programs"),
        false => hazard(name),
    }
}

/// Why a path of a file in a map, with `/` or `\` between its parts, is not that of a file on a disk.
///
/// ```
/// use bspkit::file::names::path_hazard;
/// assert!(path_hazard(b"cfg/.git/config").is_some() && path_hazard(b"/etc/passwd").is_some());
/// assert!(path_hazard(b"cfg/HEAD").is_some());
/// assert_eq!(path_hazard(b"materials\\wall.vmt"), None);
/// ```
pub fn path_hazard(path: &[u8]) -> Option<&'static str> {
    let slash = path.iter().rposition(|byte| matches!(byte, b'/' | b'\\'));
    match slash {
        _ if path.is_empty() => Some("its name is empty"),
        None => file_hazard(path),
        Some(at) => folder_hazard(&path[..at]).or_else(|| file_hazard(&path[at + 1..])),
    }
}

/// Why a path of a folder in a map, with `/` or `\` between its parts, is not that of a folder on a disk.
///
/// ```
/// use bspkit::file::names::folder_hazard;
/// assert!(folder_hazard(b"cfg/.git").is_some() && folder_hazard(b"/etc").is_some());
/// assert_eq!(folder_hazard(b"materials/head"), None);
/// ```
pub fn folder_hazard(path: &[u8]) -> Option<&'static str> {
    match path {
        [] | [b'/' | b'\\', ..] => Some("its name is an absolute path"),
        _ => path.split(|byte| matches!(byte, b'/' | b'\\')).find_map(hazard),
    }
}

/// A name as a part of a path that has no [`file_hazard`]: printable ASCII, with `%` and two hex digits for `%` itself,
/// for what is hazardous, and for the bytes that `is_odd` names. Different names give different results. An empty name
/// gives an empty one. The result has up to three times the bytes of the name, and no disk takes more than 255.
///
/// ```
/// use bspkit::file::names::escape;
/// assert_eq!(escape(b".git", |_| false), "%2Egit");
/// assert_eq!(escape(b"a.b", |byte| byte == b'.'), "a%2Eb");
/// ```
pub fn escape(part: &[u8], is_odd: impl Fn(u8) -> bool) -> String {
    let (is_device, has_short_form, is_program) = (is_device(part), is_short(part), is_program(part));
    let is_named = is_device || part.eq_ignore_ascii_case(REPOSITORY.as_bytes());
    let extension = part.iter().rposition(|byte| *byte == b'.');
    let mut out = String::with_capacity(part.len());
    for (at, byte) in part.iter().enumerate() {
        let is_plain = (b' '..=b'~').contains(byte) && !is_forbidden(*byte) && !b"/\\%".contains(byte);
        let is_first = at == 0 && (is_named || b".-~".contains(byte));
        let is_last = at + 1 == part.len() && b". ".contains(byte);
        let is_mark = has_short_form && *byte == b'~' || is_program && Some(at) == extension;
        if is_plain && !is_first && !is_last && !is_mark && !is_odd(*byte) {
            out.push(char::from(*byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    // Without its first dot a name can have the form of a short one.
    if is_short(out.as_bytes()) { out.replace('~', "%7E") } else { out }
}

/// The letters of a name. Bytes that are not UTF-8 are those of a code page with one byte for a letter, as terminals
/// take them that know no other.
fn letters(part: &[u8]) -> Vec<char> {
    match std::str::from_utf8(part) {
        Ok(text) => text.chars().collect(),
        Err(_) => part.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Whether a name has the form of a short name: at most eight letters with `~` and a number at their end, and an
/// extension of at most three.
fn is_short(part: &[u8]) -> bool {
    let dot = part.iter().position(|byte| *byte == b'.').unwrap_or(part.len());
    let (stem, extension) = part.split_at(dot);
    let digits = stem.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let has_number = digits > 0 && stem[..stem.len() - digits].ends_with(b"~");
    has_number && stem.len() <= 8 && extension.len() <= 4
}

fn is_program(part: &[u8]) -> bool {
    let extension = part.iter().rposition(|byte| *byte == b'.').map_or(&b""[..], |dot| &part[dot + 1..]);
    let is_any = |known: &[&str], name: &[u8]| known.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    is_any(&PROGRAMS, extension) || is_any(&READ_UNASKED, part)
}

/// Refuses to write to a path that Windows would take for a device, a stream or another file, and to the name of an
/// open file: a new file cannot take its place. All other names are those of files on other systems.
///
/// # Errors
/// [`ErrorKind::Refused`].
pub fn refuse(path: &Path) -> Result<()> {
    let (why, hint) = match path {
        _ if cfg!(windows) => (problem_of(path), "choose another name"),
        path if is_open(path) => (Some("it is the name of an open file"), "`-` is stdout"),
        _ => return Ok(()),
    };
    let error = |why| Error::new(ErrorKind::Refused, format!("cannot write {}: {why}", path.display()));
    why.map_or(Ok(()), |why| Err(error(why).with_hint(hint)))
}

/// Whether a path names a file that the program, or another one, has open.
fn is_open(path: &Path) -> bool {
    let is_named = ["/dev/stdin", "/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name));
    let folder = path.parent().filter(|folder| folder.ends_with("fd"));
    is_named || folder.is_some_and(|folder| folder == Path::new("/dev/fd") || folder.starts_with("/proc"))
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_not_replaced() {
        for (path, is_open) in [
            ("/dev/stdout", true),
            ("/dev/fd/63", true),
            ("/proc/self/fd/1", true),
            ("/proc/12/fd/1", true),
            ("/dev/null", false),
            ("maps/fd/1", false),
            ("/dev/shm/stdout", false),
        ] {
            assert_eq!(super::is_open(Path::new(path)), is_open, "{path}");
            assert_eq!(refuse(Path::new(path)).is_err(), is_open && !cfg!(windows), "{path}");
        }
    }

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

    /// Names that a hostile map may have, each with a meaning to some program or system.
    const HOSTILE: &[&[u8]] = &[
        b"",
        b".",
        b"..",
        b".git",
        b".GIT",
        b".git.",
        b".git ",
        b".git::$INDEX_ALLOCATION",
        b"git~1",
        b"GIT~1",
        b"GI7EBA~1",
        b".gitmodules",
        b"gitmod~1",
        b".bashrc",
        b".profile",
        b".envrc",
        b".a",
        b"-rf",
        b"--checkpoint=1",
        b"~",
        b"~x",
        ".g\u{200c}it".as_bytes(),
        "\u{200c}.git".as_bytes(),
        "\u{feff}.git".as_bytes(),
        "a\u{202e}tmv".as_bytes(),
        "a\u{2066}b".as_bytes(),
        "a\u{200f}".as_bytes(),
        "a\u{2028}b".as_bytes(),
        "a\u{9b}31m".as_bytes(),
        b"a\x9b31m\xff",
        b"a\nb",
        b"\x1b[2J",
        b"a\x7f",
        b"a\0b",
        b"con",
        b"NUL.txt",
        b"aux .c",
        b"com9.vmt",
        b"conin$",
        "lpt\u{b3}".as_bytes(),
        b"a.",
        b"a ",
        b"c:",
        b"c:a",
        b"a:b",
        b"a<b",
        b"a|b",
        b"what?",
        b"a*",
        b"say \"x\"",
        b"git.exe",
        b"Git.BAT",
        b"a.lnk",
        b"desktop.ini",
        b"AutoRun.inf",
        b"nul.exe",
        b"-a~1.exe",
        b"HEAD",
        b"head",
        b"a.SearchConnector-ms",
    ];

    #[test]
    fn hazard_knows_every_hostile_name_and_escape_cures_it() {
        for name in HOSTILE {
            let shown = crate::bytes::escaped(name);
            assert!(file_hazard(name).is_some(), "{shown}");
            assert!(path_hazard(&[b"a/b/", *name].concat()).is_some(), "{shown}");
            let is_of_files = name.eq_ignore_ascii_case(b"head");
            assert_eq!(path_hazard(&[b"a/b/", *name, b"/c"].concat()).is_none(), is_of_files, "{shown}");
            assert_eq!(folder_hazard(&[b"a/b/", *name].concat()).is_none(), is_of_files, "{shown}");
            let escaped = escape(name, |_| false);
            assert!(escaped.is_empty() || file_hazard(escaped.as_bytes()).is_none(), "{shown}: {escaped}");
            assert_eq!(unescape(&escaped), *name, "{shown}: {escaped}");
        }
        for plain in [
            "a",
            "a b.vmt",
            "head.vtf",
            "...a",
            "console",
            "com0",
            "a~b",
            "caf\u{e9}",
            "c64_-12_0.vtf",
            "x~2wall.vmt",
            "a.b-c",
        ] {
            let is_dotted = plain.starts_with('.');
            assert_eq!(file_hazard(plain.as_bytes()).is_some(), is_dotted, "{plain}");
        }
        // Letters of a code page.
        assert_eq!(hazard(b"caf\xe9.vmt"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_name_is_escaped_to_one_without_hazard(
            name in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
            ends in "[.~ -]{0,2}(git~1|con|HEAD|a\\.exe)?[.~ -]{0,2}",
        ) {
            let ends = ends.as_bytes();
            for name in [&name[..], ends, &[ends, &name].concat(), &[&name, ends].concat()] {
                let escaped = escape(name, |_| false);
                let is_long = escaped.len() > LONGEST;
                let is_hazard = file_hazard(escaped.as_bytes()).is_some();
                proptest::prop_assert_eq!(is_hazard, name.is_empty() || is_long, "{}", escaped);
                proptest::prop_assert!(escaped.len() <= 3 * name.len());
                proptest::prop_assert_eq!(unescape(&escaped), name);
            }
        }
    }

    fn unescape(text: &str) -> Vec<u8> {
        let mut bytes = text.bytes();
        let mut out = Vec::new();
        while let Some(byte) = bytes.next() {
            let digit =
                |bytes: &mut std::str::Bytes<'_>| u8::try_from(char::from(bytes.next().unwrap()).to_digit(16).unwrap());
            match byte {
                b'%' => out.push(16 * digit(&mut bytes).unwrap() + digit(&mut bytes).unwrap()),
                _ => out.push(byte),
            }
        }
        out
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
