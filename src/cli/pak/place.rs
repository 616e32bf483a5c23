//! The path of an embedded file on disk: below the folder, with a name that every operating system allows for a file.

use bspkit::face::names::is_device;

/// The parts of a file's path below the folder.
///
/// # Errors
/// The reason why the name gives no such path.
pub(super) fn parts(name: &[u8]) -> Result<Vec<&[u8]>, String> {
    if name.is_empty() {
        return Err("its name is empty".into());
    }
    if matches!(name[0], b'/' | b'\\') {
        return Err("its name is an absolute path".into());
    }
    let parts: Vec<&[u8]> = name.split(|byte| matches!(byte, b'/' | b'\\')).collect();
    match parts.iter().find_map(|part| problem(part)) {
        Some(why) => Err(why.into()),
        None => Ok(parts),
    }
}

fn problem(part: &[u8]) -> Option<&'static str> {
    match part {
        [] => Some("its name has an empty part"),
        b"." | b".." => Some("its name contains . or .., which leads out of its folder"),
        _ if part.contains(&0) => Some("its name contains a NUL"),
        _ if part.iter().any(|byte| byte.is_ascii_control()) => Some("its name contains a control character"),
        _ if part.contains(&b':') => Some("its name contains a colon, which Windows uses for drives and streams"),
        _ if part.iter().any(|byte| b"<>\"|?*".contains(byte)) => {
            Some("its name contains one of the characters < > \" | ? *, which Windows does not allow")
        }
        [.., b'.' | b' '] => Some("a part of its name ends with a dot or a space, which Windows removes"),
        _ if is_device(part) => Some("its name is reserved for a device on Windows"),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_below_its_folder() {
        for bad in [
            "",
            "/a",
            "\\a",
            "..",
            "a/../b",
            "..\\a",
            "c:/a",
            "c:a",
            "a//b",
            "a/",
            "./a",
            "a\0b",
            "a\nb",
            "con",
            "a/NUL.txt",
            "Lpt1",
            "a.",
            "a /b",
            "aux .c",
            "com9.vmt",
            "conin$",
            "CONOUT$.txt",
            "com\u{b9}",
            "a/lpt\u{b3}.vmt",
            "a<b",
            "what?.vmt",
            "a*",
            "say \"x\"",
        ] {
            assert!(parts(bad.as_bytes()).is_err(), "{bad}");
        }
        for good in ["a", "a/b.c", "a\\b", "...a", ".a", "console/nul1", "com0", "a~2", "caf\u{e9}"] {
            assert!(parts(good.as_bytes()).is_ok(), "{good}");
        }
        assert_eq!(parts(b"a\\b/\xff.vmt").unwrap(), [&b"a"[..], b"b", b"\xff.vmt"]);
    }
}
