//! The names of image files: each names a texture and a mip level, and every operating system allows it.

use std::path::Path;

use bspkit::disk::names::Taken;
use bspkit::file::names;

/// The name of a texture as a part of a file name. What is hazardous on a disk is written as `%` and two hex digits,
/// and so are the dot before the level and the `~` before a number.
pub fn escape(name: &[u8]) -> String {
    match name {
        // A name contains no NUL, so no other name gives this.
        [] => "%00".to_owned(),
        [b' ', rest @ ..] => format!("%20{}", names::escape(rest, is_mark)),
        _ => names::escape(name, is_mark),
    }
}

fn is_mark(byte: u8) -> bool {
    b".~".contains(&byte)
}

/// The names of the files for all textures, without extension. If names differ only in case, the later ones have `~`
/// and a number. Other names contain no `~`.
///
/// ```
/// use bspkit_text::images::textures::file_name::stems;
/// let stems = stems(["wall", "*lava", "WALL"].into_iter().map(|name| Some(name.as_bytes())));
/// assert_eq!(stems.into_iter().flatten().collect::<Vec<_>>(), ["wall", "%2Alava", "WALL~2"]);
/// ```
pub fn stems<'n>(names: impl Iterator<Item = Option<&'n [u8]>>) -> Vec<Option<String>> {
    let mut taken = Taken::default();
    let stem = |(index, name): (usize, Option<&[u8]>)| {
        let stem = escape(name?);
        String::from_utf8(taken.take(stem.as_bytes(), index).0).ok()
    };
    names.enumerate().map(stem).collect()
}

/// The file name for a level of a texture.
pub fn with_level(stem: &str, level: usize) -> String {
    if level == 0 { format!("{stem}.png") } else { format!("{stem}.mip{level}.png") }
}

/// The stem and the level of a file name; `None` if it is not the name of a PNG file.
pub fn parse(path: &Path) -> Option<(String, usize)> {
    let name = path.file_name()?.to_str()?;
    let (stem, extension) = name.rsplit_once('.')?;
    if !extension.eq_ignore_ascii_case("png") {
        return None;
    }
    let level = |level: &str| matches!(level, "mip1" | "mip2" | "mip3").then(|| level[3..].parse().ok()).flatten();
    let split = stem.rsplit_once('.').and_then(|(stem, last)| Some((stem.to_owned(), level(last)?)));
    Some(split.unwrap_or_else(|| (stem.to_owned(), 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_a_file_and_no_two_are_one() {
        let names: [&[u8]; 12] = [
            b"",
            b"+0btn",
            b"{fence",
            b"!water",
            b"*lava",
            b"a/b",
            b"..",
            b"con",
            b"a~1",
            b"\xff\x01",
            b" x ",
            b"100%",
        ];
        let stems = names.map(escape);
        let wanted = [
            "%00", "+0btn", "{fence", "!water", "%2Alava", "a%2Fb", "%2E%2E", "%63on", "a%7E1", "%FF%01", "%20x%20",
            "100%25",
        ];
        assert_eq!(stems, wanted);
    }

    #[test]
    fn a_file_says_its_level() {
        let parse = |name: &str| parse(Path::new(name));
        assert_eq!(parse("dir/wall.png"), Some(("wall".into(), 0)));
        assert_eq!(parse("wall.mip2.PNG"), Some(("wall".into(), 2)));
        assert_eq!(parse("wall.mip4.png"), Some(("wall.mip4".into(), 0)));
        assert_eq!(parse("wall.tga"), None);
    }
}
