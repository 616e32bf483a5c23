//! Records that differ, field by field, lump by lump.

use super::html::{self, Items};
use super::{ROOM_OF_LIST, Section, Sides};
use crate::op::compare::{Change, How, LumpChanges, RecordChange};

/// Lumps with at most this many changes are open.
const MOST_OPEN: usize = 20;
/// The most fields of a record that are shown.
const MOST_FIELDS: usize = 100;
/// The most bytes of a field that are shown; a name may have more.
const MOST_OF_VALUE: usize = 500;

pub(super) fn section(sides: &Sides<'_>) -> Option<Section> {
    let lumps: Vec<_> = sides.found.lumps.iter().filter(|lump| records(lump).next().is_some()).collect();
    if lumps.is_empty() {
        return None;
    }
    let count = lumps.iter().map(|lump| lump.touched.records).sum();
    let mut items = Items::new(ROOM_OF_LIST);
    lumps.iter().for_each(|lump| items.add(|| part(lump, ROOM_OF_LIST / lumps.len())));
    let (list, more) = items.finish();
    Some(Section { id: "records", title: "Records", count, html: list + more.as_str() })
}

fn records(lump: &LumpChanges) -> impl Iterator<Item = &RecordChange> {
    lump.changes.iter().filter_map(|change| match change {
        Change::Record(record) => Some(record),
        _ => None,
    })
}

/// The records of a lump; the frame around them is small.
fn part(lump: &LumpChanges, room: usize) -> String {
    let mut items = Items::new(room.saturating_sub(2000));
    records(lump).for_each(|record| items.add(|| row(record)));
    items.and_more(lump.more);
    let (list, more) = items.finish();
    let count = lump.touched.records;
    let (open, count) = (if count <= MOST_OPEN { " open" } else { "" }, html::count(count));
    let name = html::name(lump.lump.as_bytes());
    format!(
        "<details{open}><summary><code>{name}</code> <span class=\"count\">{count}</span></summary>\n\
         <table class=\"records\"><thead><tr><th>Record</th><th>Field</th><th>Before</th><th>After</th></tr></thead>\n\
         {list}</table>\n{more}</details>\n"
    )
}

/// The rows of a record, in a part of the table of their own.
fn row(record: &RecordChange) -> String {
    let dot = if record.list.is_empty() { "" } else { "." };
    let to = if record.count > 1 { format!("..{}", record.index + record.count) } else { String::new() };
    let head = format!("{}{dot}[{}{to}]", html::text(record.list), record.index);
    let from = record.from.map(|from| format!(" from [{from}]")).unwrap_or_default();
    if record.fields.is_empty() {
        let class = match record.how {
            How::Added => "added",
            How::Removed => "removed",
            _ => "changed",
        };
        let how = format!("{}{from}", record.how);
        return format!("<tbody><tr><th>{head}</th><td colspan=\"3\" class=\"{class}\">{how}</td></tr></tbody>\n");
    }
    let rows = record.fields.iter().take(MOST_FIELDS).enumerate().map(|(at, field)| {
        let value = |text: String| html::value(text.as_bytes(), MOST_OF_VALUE);
        let head = if at == 0 { format!("{head}{from}") } else { String::new() };
        format!(
            "<tr><th>{head}</th><td><code>{}</code></td><td class=\"removed\"><code>{}</code></td>\
             <td class=\"added\"><code>{}</code></td></tr>",
            html::name(field.field.as_bytes()),
            value(field.old.to_string()),
            value(field.new.to_string()),
        )
    });
    let rows: String = rows.collect();
    let more = match record.fields.len().saturating_sub(MOST_FIELDS) {
        0 => String::new(),
        more => format!("<tr><th></th><td colspan=\"3\">… and {}</td></tr>", html::counted(more, "field", "fields")),
    };
    format!("<tbody>{rows}{more}</tbody>\n")
}
