//! Notices about files whose names change on the way into a map, or that are left out.

use bspkit::bytes::escaped;

use crate::cli::show::count;

/// Why files of a folder are left out.
pub(super) const LEFT_OUT: &str = "is left out, since file managers and version control create it; --as-is embeds it";

/// Why names are stored in another form.
pub(super) const RENAMED: &str =
    "is stored in lower case and with / for \\, which is the same name for engines; --as-is keeps it";

/// A notice about some files: the first name, and the number of others.
pub(super) fn about<'n>(mut names: impl Iterator<Item = &'n [u8]>, what: &str) -> Option<String> {
    let first = names.next()?;
    let more = match names.count() {
        0 => String::new(),
        more => format!(" (and {})", count(more, "other", "others")),
    };
    Some(format!("note: `{}`{more} {what}", escaped(first)))
}
