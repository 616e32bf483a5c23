//! Changes that are a line each: visibility, collision models, bytes that are read as nothing else, versions,
//! compression, words of directories, and places of lumps.

use super::html::{self, Items};
use super::{ROOM_OF_LIST, Section, Sides};
use crate::op::compare::{Change, LumpChanges};

/// Lumps with at most this many lines are open.
const MOST_OPEN: usize = 50;

/// Whether a section lists a change.
type IsMeant = fn(&Change) -> bool;

pub(super) fn sections(sides: &Sides<'_>) -> [Option<Section>; 4] {
    [
        section(sides, "visibility", "Visibility", |change| matches!(change, Change::Row(_))),
        section(sides, "physics", "Collision models", |change| matches!(change, Change::Solid(_))),
        section(sides, "bytes", "Other bytes", is_other),
        places(sides),
    ]
}

/// Whether no other section has a change.
fn is_other(change: &Change) -> bool {
    let has_section = matches!(
        change,
        Change::Entity(_)
            | Change::File(_)
            | Change::Light(_)
            | Change::Texture(_)
            | Change::Record(_)
            | Change::Row(_)
            | Change::Solid(_)
            | Change::Place(..)
    );
    !has_section
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
        changes.iter().for_each(|change| lines.add(|| line(change, &lump.lump)));
        // What is not listed is of the kind of the lump's content.
        let is_content = |change: &&&Change| !matches!(change, Change::Version(..) | Change::Word(_));
        let more = if changes.iter().any(|change| is_content(&change)) { lump.more } else { 0 };
        lines.and_more(more);
        let all = changes.len() + more;
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

fn line(change: &Change, lump: &str) -> String {
    format!("<li>{}</li>\n", html::text(&change.line(lump).to_string()))
}

/// Lumps that are at another place in the file.
fn places(sides: &Sides<'_>) -> Option<Section> {
    let mut items = Items::new(ROOM_OF_LIST / 4);
    let mut count = 0;
    for lump in &sides.found.lumps {
        for change in lump.changes.iter().filter(|change| matches!(change, Change::Place(..))) {
            count += 1;
            items.add(|| line(change, &lump.lump));
        }
    }
    let (list, more) = items.finish();
    let title = html::counted(count, "lump is", "lumps are");
    let html = format!("<details><summary>{title} at another offset</summary>\n<ul>\n{list}</ul>\n{more}</details>\n");
    (count > 0).then_some(Section { id: "places", title: "Moved in the file", count, html })
}
