//! Embedded files that were added, removed, moved or changed.

use super::html::{self, Items, count};
use super::{ROOM_OF_LIST, Section, Sides};
use crate::op::compare::{Change, FileChange, How};

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
    all.iter().for_each(|file| items.add(|| row(file)));
    items.and_more(more);
    let (list, rest) = items.finish();
    let html = format!(
        "<table class=\"files\"><thead><tr><th>File</th><th></th><th class=\"n\">Before</th><th class=\"n\">After</th></tr>\
         </thead>\n<tbody>\n{list}</tbody></table>\n{rest}"
    );
    Some(Section { id: "files", title: "Embedded files", count: all.len() + more, html })
}

fn row(file: &FileChange) -> String {
    let (class, word) = match file.how {
        How::Added => ("added", "added"),
        How::Removed => ("removed", "removed"),
        How::Moved => ("changed", "moved"),
        How::Rewritten => ("changed", "stored in another form"),
        How::Changed => ("changed", "changed"),
    };
    let name = html::name(&file.name);
    let from = file.from.as_ref().map(|from| format!("<code>{}</code> → ", html::name(from))).unwrap_or_default();
    let size = |is_there: bool, size: usize| if is_there { count(size) } else { "–".to_owned() };
    format!(
        "<tr><td>{from}<code>{name}</code></td><td class=\"{class}\">{word}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td></tr>\n",
        size(file.how != How::Added, file.sizes.0),
        size(file.how != How::Removed, file.sizes.1),
    )
}
