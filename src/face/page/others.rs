//! Visibility, bytes that are read as nothing else, versions and compression: a line for each change.

use super::html::{self, Items};
use super::{ROOM_OF_LIST, Section, Sides};
use crate::op::compare::{Change, LumpChanges};

/// Lumps with at most this many lines are open.
const MOST_OPEN: usize = 50;

/// Whether a section lists a change.
type IsMeant = fn(&Change) -> bool;

pub(super) fn visibility(sides: &Sides<'_>) -> Option<Section> {
    section(sides, "visibility", "Visibility", |change| matches!(change, Change::Row(_)))
}

/// What no other section has.
pub(super) fn rest(sides: &Sides<'_>) -> Option<Section> {
    section(sides, "bytes", "Other bytes", |change| match change {
        Change::Entity(_) | Change::File(_) | Change::Light(_) => false,
        Change::Texture(_) | Change::Record(_) | Change::Row(_) => false,
        _ => true,
    })
}

fn section(sides: &Sides<'_>, id: &'static str, title: &'static str, is_meant: IsMeant) -> Option<Section> {
    let has_any = |lump: &&LumpChanges| lump.changes.iter().any(is_meant);
    let lumps: Vec<_> = sides.found.lumps.iter().filter(has_any).collect();
    if lumps.is_empty() {
        return None;
    }
    let mut count = 0;
    let mut items = Items::new(ROOM_OF_LIST);
    for lump in &lumps {
        let mut lines = Items::new((ROOM_OF_LIST / lumps.len()).saturating_sub(2000));
        let changes: Vec<_> = lump.changes.iter().filter(|change| is_meant(change)).collect();
        for change in &changes {
            lines.add(|| format!("<li>{}</li>\n", html::text(&change.line(&lump.lump).to_string())));
        }
        lines.and_more(lump.more);
        let all = changes.len() + lump.more;
        count += all;
        let (list, more) = lines.finish();
        let open = if all <= MOST_OPEN { " open" } else { "" };
        let (name, all) = (html::name(lump.lump.as_bytes()), html::count(all));
        items.add(|| {
            format!(
                "<details{open}><summary><code>{name}</code> <span class=\"count\">{all}</span></summary>\n\
                 <ul>\n{list}</ul>\n{more}</details>\n"
            )
        });
    }
    let (list, more) = items.finish();
    Some(Section { id, title, count, html: list + more.as_str() })
}
