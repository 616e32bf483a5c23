//! Embedded files that were added, removed, moved or changed, with the lines that differ.

use super::html::{self, Items, count};
use super::{ROOM_OF_LIST, Section, Sides};
use crate::op::compare::{Change, FileChange, How, LineChange, TextChange};

/// The most bytes of a line that are shown.
const MOST_OF_LINE: usize = 500;
/// The most bytes of the lines of one file.
const ROOM_OF_LINES: usize = 1 << 17;

pub(super) fn section(sides: &Sides<'_>) -> Option<Section> {
    let (mut all, mut more) = (Vec::new(), 0);
    for lump in &sides.found.lumps {
        let before = all.len();
        all.extend(lump.changes.iter().filter_map(|change| match change {
            Change::File(file) => Some(file),
            _ => None,
        }));
        more += if all.len() > before { lump.more } else { 0 };
    }
    if all.is_empty() {
        return None;
    }
    let mut items = Items::new(ROOM_OF_LIST);
    all.iter().for_each(|file| items.add(|| item(file)));
    items.and_more(more);
    let (list, rest) = items.finish();
    Some(Section { id: "files", title: "Embedded files", count: all.len() + more, html: list + rest.as_str() })
}

fn item(file: &FileChange) -> String {
    let (class, word) = match file.how {
        How::Added => ("added", "added"),
        How::Removed => ("removed", "removed"),
        How::Moved => ("changed", "moved"),
        How::Rewritten => ("changed", "stored in another form"),
        How::Changed => ("changed", "changed"),
    };
    let from = file.from.as_ref().map(|from| format!("<code>{}</code> → ", html::name(from))).unwrap_or_default();
    let (old, new) = (count(file.sizes.0), count(file.sizes.1));
    let sizes = match file.how {
        How::Added => new,
        How::Removed => old,
        _ if old == new => new,
        _ => format!("{old} → {new}"),
    };
    let name = html::name(&file.name);
    let title = format!("{from}<code>{name}</code> <span class=\"note\">{word}, {sizes} bytes</span>");
    match &file.text {
        Some(text) => {
            format!("<details class=\"file {class}\" open><summary>{title}</summary>\n{}</details>\n", lines(text))
        }
        None => format!("<div class=\"file {class}\">{title}</div>\n"),
    }
}

/// The lines that differ, place by place.
fn lines(text: &TextChange) -> String {
    let mut items = Items::new(ROOM_OF_LINES);
    text.hunks.iter().for_each(|hunk| items.add(|| place(hunk)));
    items.and_more(text.more);
    let (list, more) = items.finish();
    format!("<pre class=\"lines\">{list}</pre>\n{more}")
}

fn place(hunk: &LineChange) -> String {
    let mut html = format!("<span class=\"place\">line {} → {}</span>", hunk.at.0 + 1, hunk.at.1 + 1);
    for (class, mark, lines) in [("removed", "−", &hunk.old), ("added", "+", &hunk.new)] {
        for line in lines {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let shown: Vec<String> =
                line.split(|byte| *byte == b'\t').map(|part| html::value(part, MOST_OF_LINE)).collect();
            html += &format!("<span class=\"{class}\">{mark} {}</span>", shown.join("\t"));
        }
    }
    html
}
