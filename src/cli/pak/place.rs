//! Where an embedded file may go on disk: below the folder, under a name that every system takes for a plain file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Names that Windows gives to devices, in any folder and with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// What the names of ports end with: Windows takes the raised digits for the plain ones.
const PORTS: [&str; 12] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "\u{b9}", "\u{b2}", "\u{b3}"];

/// The parts of a file's path below the folder.
///
/// # Errors
/// Why the name leads to no such path.
pub(super) fn parts(name: &[u8]) -> Result<Vec<&[u8]>, String> {
    if name.is_empty() {
        return Err("its name is empty".into());
    }
    if matches!(name[0], b'/' | b'\\') {
        return Err("its name begins at the root".into());
    }
    let parts: Vec<&[u8]> = name.split(|byte| matches!(byte, b'/' | b'\\')).collect();
    match parts.iter().find_map(|part| problem(part)) {
        Some(why) => Err(why.into()),
        None => Ok(parts),
    }
}

fn problem(part: &[u8]) -> Option<&'static str> {
    let stem = part.split(|byte| *byte == b'.').next().unwrap_or_default().to_ascii_lowercase();
    let stem = std::str::from_utf8(&stem).unwrap_or_default().trim_end();
    let is_port = |prefix: &str| stem.strip_prefix(prefix).is_some_and(|digit| PORTS.contains(&digit));
    match part {
        [] => Some("its name has an empty part"),
        b"." | b".." => Some("its name climbs out of its folder"),
        _ if part.contains(&0) => Some("its name holds a NUL"),
        _ if part.iter().any(|byte| byte.is_ascii_control()) => Some("its name holds a control character"),
        _ if part.contains(&b':') => Some("its name has a colon, which names drives and streams"),
        _ if part.iter().any(|byte| b"<>\"|?*".contains(byte)) => {
            Some("its name has one of the characters < > \" | ? *, which Windows does not allow")
        }
        [.., b'.' | b' '] => Some("a part of its name ends with a dot or a space, which Windows drops"),
        _ if DEVICES.contains(&stem) || is_port("com") || is_port("lpt") => Some("its name is that of a device"),
        _ => None,
    }
}

/// Paths that are given away, as a disk that does not tell cases apart sees them.
///
/// For each path: the file that has it, and the number that the next file of that name is to try first.
#[derive(Default)]
pub(super) struct Taken(HashMap<Vec<u8>, (usize, usize)>);

impl Taken {
    /// The path for a file, and the file that has its own already, if one does: then it gets a number.
    pub(super) fn take(&mut self, index: usize, parts: &[&[u8]]) -> (Vec<Vec<u8>>, Option<usize>) {
        let mut path: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
        let last = parts.last().copied().unwrap_or_default();
        let dot = last.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0).unwrap_or(last.len());
        let wanted = path.join(&b'/').to_ascii_lowercase();
        let (first, mut number) = match self.0.entry(wanted.clone()) {
            Entry::Vacant(free) => {
                free.insert((index, 2));
                return (path, None);
            }
            Entry::Occupied(taken) => *taken.get(),
        };
        loop {
            path.pop();
            path.push([&last[..dot], format!("~{number}").as_bytes(), &last[dot..]].concat());
            number += 1;
            if let Entry::Vacant(free) = self.0.entry(path.join(&b'/').to_ascii_lowercase()) {
                free.insert((index, 2));
                break;
            }
        }
        // So that equal names do not try the same numbers again.
        self.0.insert(wanted, (first, number));
        (path, Some(first))
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

    #[test]
    fn names_that_collide_get_numbers() {
        let mut taken = Taken::default();
        let mut take = |index, name: &str| {
            let (path, first) = taken.take(index, &parts(name.as_bytes()).unwrap());
            (String::from_utf8(path.join(&b'/')).unwrap(), first)
        };
        assert_eq!(take(0, "a/b.vmt"), ("a/b.vmt".into(), None));
        assert_eq!(take(1, "A\\B.vmt"), ("A/B~2.vmt".into(), Some(0)));
        assert_eq!(take(2, "a/b.vmt"), ("a/b~3.vmt".into(), Some(0)));
        assert_eq!(take(3, "a/c"), ("a/c".into(), None));
        // A number that another file is called by is passed over.
        assert_eq!(take(4, "d~2"), ("d~2".into(), None));
        assert_eq!(take(5, "d"), ("d".into(), None));
        assert_eq!(take(6, "d"), ("d~3".into(), Some(5)));
        assert_eq!(take(7, "d~2"), ("d~2~2".into(), Some(4)));
    }

    /// Each file costs the same, however many have its name.
    #[test]
    fn equal_names_are_linear() {
        let mut taken = Taken::default();
        let start = std::time::Instant::now();
        (0..60_000).for_each(|index| drop(taken.take(index, &[&b"x"[..]])));
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
