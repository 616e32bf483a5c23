//! Notices about files whose names change on the way into a map, or that are left out.

use bspkit::bytes::escaped;
use bspkit::face::pak::Names;

use crate::cli::show::count;

/// Why names are stored in another form.
pub(super) const RENAMED: &str =
    "is stored in lower case and with / for \\, which is the same name for engines; --as-is keeps it";

/// Notices about files of a folder that are left out, one for each reason.
pub(super) fn left_out(names: &[Vec<u8>], how: Names) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&[u8]>)> = Vec::new();
    for (name, why) in names.iter().filter_map(|name| Some((&name[..], how.leaves_out(name)?))) {
        match by_reason.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((why, vec![name])),
        }
    }
    let notice = |(why, names): &(&str, Vec<&[u8]>)| {
        about(names.iter().copied(), &format!("is left out: {why}; --as-is embeds it"))
    };
    by_reason.iter().filter_map(notice).collect()
}

/// A notice about some files: the first name, and the number of others.
pub(super) fn about<'n>(mut names: impl Iterator<Item = &'n [u8]>, what: &str) -> Option<String> {
    let first = names.next()?;
    let more = match names.count() {
        0 => String::new(),
        more => format!(" (and {})", count(more, "other", "others")),
    };
    Some(format!("note: `{}`{more} {what}", escaped(first)))
}
