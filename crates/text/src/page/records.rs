//! Records, entities, embedded files and everything else that differs, as lists.

use super::{Items, Make, Room, Section, Sides, count, counted};
use crate::page;
use bspkit::content::entities::Entity;
use bspkit::record::Text;
use bspkit_ops::compare::{
    Change, EntityChange, FileChange, FileContent, How, KeyChange, LineChange, LumpChanges, RecordChange, TextChange,
};

// Records that differ, field by field, lump by lump.

/// Lumps with at most this many changes are open.
const MOST_OPEN: usize = 20;
/// The most fields of a record that are shown.
const MOST_FIELDS: usize = 100;
/// The most bytes of a field that are shown; a name may have more.
const MOST_OF_VALUE: usize = 500;

pub(super) fn section(sides: &Sides<'_>, room: Room) -> Option<Section> {
    let lumps: Vec<_> = sides.found.lumps.iter().filter(|lump| records(lump).next().is_some()).collect();
    let count = lumps.iter().map(|lump| lump.touched.records).sum();
    let (html, more) = parts(&lumps, room, part);
    (!lumps.is_empty()).then_some(Section { id: "records", title: "Records", count, more, html })
}

/// What is around the list of a lump.
const FRAME: Room = Room { bytes: 1500, nodes: 20 };

/// A part for each lump, and how much is not in these. Each lump has an equal part of the room that those before it
/// left.
fn parts(lumps: &[&LumpChanges], room: Room, part: impl Fn(&LumpChanges, Room) -> (String, usize)) -> (String, usize) {
    let (mut html, mut left, mut more) = (String::new(), room, 0);
    for (at, lump) in lumps.iter().enumerate() {
        let lumps = lumps.len() - at;
        let own = |all: usize, frame: usize| (all / lumps).saturating_sub(frame);
        let (part, rest) =
            part(lump, Room { bytes: own(left.bytes, FRAME.bytes), nodes: own(left.nodes, FRAME.nodes) });
        let nodes = page::nodes(&part);
        more += rest;
        if part.len() <= left.bytes && nodes <= left.nodes {
            left = Room { bytes: left.bytes - part.len(), nodes: left.nodes - nodes };
            html += &part;
        }
    }
    (html, more)
}

fn records(lump: &LumpChanges) -> impl Iterator<Item = &RecordChange> {
    lump.changes.iter().filter_map(|change| match change {
        Change::Record(record) => Some(record),
        _ => None,
    })
}

/// The records of a lump, and how many are left out.
fn part(lump: &LumpChanges, room: Room) -> (String, usize) {
    let mut items = Items::new(room);
    records(lump).for_each(|record| items.add(|| row(record)));
    items.and_more(lump.more);
    let left = items.more;
    let (list, more) = items.finish(&page::name(lump.lump.as_bytes()));
    let count = lump.touched.records;
    let (open, count) = (if count <= MOST_OPEN { " open" } else { "" }, page::count(count));
    let name = page::name(lump.lump.as_bytes());
    let html = format!(
        "<details{open}><summary><code>{name}</code> <span class=\"count\">{count}</span></summary>\n\
         <table class=\"records\"><thead><tr><th>Record</th><th>Field</th><th>Before</th><th>After</th></tr></thead>\n\
         {list}</table>\n{more}</details>\n"
    );
    (html, left)
}

/// The rows of a record, in a part of the table of their own.
fn row(record: &RecordChange) -> String {
    let dot = if record.list.is_empty() { "" } else { "." };
    let to = if record.count > 1 { format!("..{}", record.index + record.count) } else { String::new() };
    let head = format!("{}{dot}[{}{to}]", page::text(record.list), record.index);
    let from = record.from.map(|from| format!(" from [{from}]")).unwrap_or_default();
    if record.fields.is_empty() {
        let class = match record.how {
            How::Added => "added",
            How::Removed => "removed",
            _ => "changed",
        };
        let names = record
            .names
            .iter()
            .map(|name| format!(" <code>{}</code>", page::value(name.to_string().as_bytes(), MOST_OF_VALUE)));
        let how = format!("{}{from}{}", record.how, names.collect::<String>());
        return format!("<tbody><tr><th>{head}</th><td colspan=\"3\" class=\"{class}\">{how}</td></tr></tbody>\n");
    }
    let rows = record.fields.iter().take(MOST_FIELDS).enumerate().map(|(at, field)| {
        let value = |number: &Text, which: usize| {
            let texture = field.textures.as_ref().map(|names| format!(" {}", names[which])).unwrap_or_default();
            page::value(format!("{number}{texture}").as_bytes(), MOST_OF_VALUE)
        };
        let head = if at == 0 { format!("{head}{from}") } else { String::new() };
        format!(
            "<tr><th>{head}</th><td><code>{}</code></td><td class=\"removed\"><code>{}</code></td>\
             <td class=\"added\"><code>{}</code></td></tr>",
            page::name(field.field.as_bytes()),
            value(&field.old, 0),
            value(&field.new, 1),
        )
    });
    let rows: String = rows.collect();
    let more = match record.fields.len().saturating_sub(MOST_FIELDS) {
        0 => String::new(),
        more => format!("<tr><th></th><td colspan=\"3\">… and {}</td></tr>", page::counted(more, "field", "fields")),
    };
    format!("<tbody>{rows}{more}</tbody>\n")
}

// Entities that were added, removed, moved or changed.

/// The most bytes of a value that are shown.
const MOST_OF_VALUE_SHOWN: usize = 1000;
/// The most pairs of an added or removed entity that are shown.
const MOST_PAIRS: usize = 60;

/// The most entities that are one item.
const MOST_ALIKE: usize = 50;

/// The groups of the section, in its order.
const GROUPS: [(How, &str); 5] = [
    (How::Changed, "Changed"),
    (How::Added, "Added"),
    (How::Removed, "Removed"),
    (How::Moved, "At another place in the list"),
    (How::Rewritten, "With the same content in another form"),
];

/// The entities that differ, and how many differ that the comparison does not list.
pub(super) fn changes<'s>(sides: &Sides<'s>) -> (Vec<&'s EntityChange>, usize) {
    let mut more = 0;
    let mut all = Vec::new();
    for lump in &sides.found.lumps {
        let before = all.len();
        all.extend(lump.changes.iter().filter_map(|change| match change {
            Change::Entity(entity) => Some(entity),
            _ => None,
        }));
        more += if all.len() > before { lump.more } else { 0 };
    }
    (all, more)
}

pub(super) fn section_entities(sides: &Sides<'_>, room: Room) -> Option<Section> {
    let (all, more) = changes(sides);
    if all.is_empty() {
        return None;
    }
    let mut items = Items::new(room);
    for (how, title) in GROUPS {
        let group: Vec<_> = all.iter().filter(|entity| entity.how == how).collect();
        if !group.is_empty() {
            let heading = format!("<h3>{title} <span class=\"count\">{}</span></h3>\n", page::count(group.len()));
            items.heading(&heading);
            // Entities that changed in the same way are one item.
            let is_alike =
                |one: &&&EntityChange, other: &&&EntityChange| !one.keys.is_empty() && one.keys == other.keys;
            for alike in group.chunk_by(is_alike).flat_map(|alike| alike.chunks(MOST_ALIKE)) {
                items.add_as(alike.len(), || entity_item(sides, alike));
            }
        }
    }
    items.and_more(more);
    let (count, more) = (all.len() + more, items.more);
    let (list, rest) = items.finish("entities");
    Some(Section { id: "entities", title: "Entities", count, more, html: list + rest.as_str() })
}

/// The fragment of the page with an entity.
pub(super) fn anchor(entity: &EntityChange) -> String {
    let side = if entity.how == How::Removed { "old" } else { "new" };
    format!("entity-{side}-{}", entity.index)
}

/// What an entity is called: its number, class and name.
fn title(entity: &EntityChange) -> String {
    let mut title = format!("<span class=\"index\">#{}</span>", entity.index);
    if let Some(class) = &entity.class {
        title += &format!(" <code>{}</code>", page::name(class));
    }
    if let Some(name) = &entity.name {
        title += &format!(" <code class=\"name\">{}</code>", page::name(name));
    }
    match (entity.how, entity.from) {
        (How::Moved | How::Changed, Some(from)) => {
            title + format!(" <span class=\"note\">#{from} before</span>").as_str()
        }
        _ => title,
    }
}

/// Entities that changed in the same way.
fn entity_item(sides: &Sides<'_>, alike: &[&&EntityChange]) -> String {
    let [first, others @ ..] = alike else { return String::new() };
    let (class, is_open) = match first.how {
        How::Added => ("added", false),
        How::Removed => ("removed", false),
        _ => ("changed", true),
    };
    let titles = others.iter().map(|entity| format!("<br><span id=\"{}\">{}</span>", anchor(entity), title(entity)));
    let (titles, open) = (title(first) + titles.collect::<String>().as_str(), if is_open { " open" } else { "" });
    let body = match first.how {
        How::Added => whole(sides, 1, first.index, class),
        How::Removed => whole(sides, 0, first.index, class),
        _ => keys(first),
    };
    let id = anchor(first);
    format!("<details class=\"entity {class}\" id=\"{id}\"{open}><summary>{titles}</summary>\n{body}</details>\n")
}

/// All pairs of an entity that only one map has.
fn whole(sides: &Sides<'_>, side: usize, index: usize, class: &str) -> String {
    let entity = sides.entities[side].as_ref().and_then(|entities| entities.get(index));
    let count = entity.as_ref().map_or(0, |entity| entity.pairs().len());
    let pairs = entity.iter().flat_map(Entity::pairs).take(MOST_PAIRS);
    let rows = pairs.map(|pair| {
        let (key, value) = (page::name(pair.key), page::value(pair.value, MOST_OF_VALUE_SHOWN));
        format!("<tr><th><code>{key}</code></th><td class=\"{class}\"><code>{value}</code></td></tr>\n")
    });
    format!(
        "<table class=\"keys\">{}</table>\n{}",
        rows.collect::<String>(),
        and_more(count.saturating_sub(MOST_PAIRS))
    )
}

fn keys(entity: &EntityChange) -> String {
    if entity.keys.is_empty() {
        return "<p class=\"note\">Its pairs are the same.</p>\n".to_owned();
    }
    let rows = entity.keys.iter().map(key);
    format!("<table class=\"keys\">{}</table>\n{}", rows.collect::<String>(), and_more(entity.more))
}

fn and_more(more: usize) -> String {
    match more {
        0 => String::new(),
        more => format!("<p class=\"more\">… and {}</p>\n", counted(more, "more pair", "more pairs")),
    }
}

fn key(change: &KeyChange) -> String {
    let (old, new) = match (&change.old, &change.new) {
        (Some(old), Some(new)) => {
            let (old, new) = marked(old, new);
            (Some(old), Some(new))
        }
        (old, new) => {
            let shown = |value: &Option<Vec<u8>>| value.as_ref().map(|value| page::value(value, MOST_OF_VALUE_SHOWN));
            (shown(old), shown(new))
        }
    };
    let cell = |class: &str, value: Option<String>| match value {
        Some(value) => format!("<td class=\"{class}\"><code>{value}</code></td>"),
        None => "<td class=\"none\">–</td>".to_owned(),
    };
    let name = page::name(&change.key);
    format!("<tr><th><code>{name}</code></th>{}{}</tr>\n", cell("removed", old), cell("added", new))
}

/// Two values in which the part that differs is marked. What is equal at the ends is cut at spaces and commas, so that
/// whole words are marked.
fn marked(old: &[u8], new: &[u8]) -> (String, String) {
    if old.len().max(new.len()) > MOST_OF_VALUE_SHOWN {
        return (page::value(old, MOST_OF_VALUE_SHOWN), page::value(new, MOST_OF_VALUE_SHOWN));
    }
    let is_mark = |byte: &u8| matches!(byte, b' ' | b',' | b'/' | b'\x1b' | b'\n');
    let equal = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let start = old[..equal].iter().rposition(is_mark).map_or(0, |at| at + 1);
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let equal = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let end = old_rest[old_rest.len() - equal..].iter().position(is_mark).map_or(0, |at| equal - at);
    let show = |value: &[u8]| {
        let middle = value.len() - end;
        let part = |bytes: &[u8]| page::value(bytes, MOST_OF_VALUE_SHOWN);
        format!("{}<mark>{}</mark>{}", part(&value[..start]), part(&value[start..middle]), part(&value[middle..]))
    };
    (show(old), show(new))
}

// Embedded files that were added, removed, moved or changed, with the lines that differ.

/// The most bytes of a line that are shown.
const MOST_OF_LINE: usize = 500;
/// The most bytes of the lines of one file.
const MOST_OF_LINES: Room = Room { bytes: 30_000, nodes: 300 };

pub(super) fn section_files(sides: &Sides<'_>, room: Room) -> Option<Section> {
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
    let mut items = Items::new(room);
    all.iter().for_each(|file| items.add(|| file_item(file)));
    items.and_more(more);
    let (count, more) = (all.len() + more, items.more);
    let (list, rest) = items.finish("files");
    Some(Section { id: "files", title: "Embedded files", count, more, html: list + rest.as_str() })
}

fn file_item(file: &FileChange) -> String {
    let (class, word) = match file.how {
        How::Added => ("added", "added"),
        How::Removed => ("removed", "removed"),
        How::Moved if file.content == FileContent::Changed => ("changed", "moved and changed"),
        How::Moved => ("changed", "moved"),
        How::Rewritten if file.content == FileContent::SameChecksum => {
            ("changed", "stored in another form, with the same checksum")
        }
        How::Rewritten => ("changed", "stored in another form"),
        How::Changed => ("changed", "changed"),
    };
    let from = file.from.as_ref().map(|from| format!("<code>{}</code> → ", page::name(from))).unwrap_or_default();
    let (old, new) = (count(file.sizes.0), count(file.sizes.1));
    let sizes = match file.how {
        How::Added => new,
        How::Removed => old,
        _ if old == new => new,
        _ => format!("{old} → {new}"),
    };
    let name = page::name(&file.name);
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
    let mut items = Items::new(MOST_OF_LINES);
    text.hunks.iter().for_each(|hunk| items.add(|| place(hunk)));
    items.and_more(text.more);
    let (list, more) = items.finish("files");
    format!("<pre class=\"lines\">{list}</pre>\n{more}")
}

fn place(hunk: &LineChange) -> String {
    let mut html = format!("<span class=\"place\">line {} → {}</span>", hunk.at.0 + 1, hunk.at.1 + 1);
    for (class, mark, lines) in [("removed", "−", &hunk.old), ("added", "+", &hunk.new)] {
        for line in lines {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let shown: Vec<String> =
                line.split(|byte| *byte == b'\t').map(|part| page::value(part, MOST_OF_LINE)).collect();
            html += &format!("<span class=\"{class}\">{mark} {}</span>", shown.join("\t"));
        }
    }
    html
}

// Changes that are a line each: visibility, collision models, bytes that are read as nothing else, versions,
// compression, words of directories, and places of lumps.

/// Lumps with at most this many lines are open.
const OTHERS_MOST_OPEN: usize = 50;

/// Whether a section lists a change.
type IsMeant = fn(&Change) -> bool;

/// Visibility, collision models, and what no other section has.
pub(super) const OTHERS: [Make; 3] = [
    |sides, room| others(sides, room, ["visibility", "Visibility"], |change| matches!(change, Change::Row(_))),
    |sides, room| others(sides, room, ["physics", "Collision models"], |change| matches!(change, Change::Solid(_))),
    |sides, room| others(sides, room, ["bytes", "Other changes"], is_other),
];

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

fn others(sides: &Sides<'_>, room: Room, [id, title]: [&'static str; 2], is_meant: IsMeant) -> Option<Section> {
    let has_any = |lump: &&LumpChanges| lump.changes.iter().any(is_meant);
    let lumps: Vec<_> = sides.found.lumps.iter().filter(has_any).collect();
    let count = lumps.iter().map(|lump| lines_of(lump, is_meant).count() + more_of(lump, is_meant)).sum();
    let (html, more) = parts(&lumps, room, |lump, room| other_part(lump, room, is_meant));
    (!lumps.is_empty()).then_some(Section { id, title, count, more, html })
}

fn lines_of(lump: &LumpChanges, is_meant: IsMeant) -> impl Iterator<Item = &Change> {
    lump.changes.iter().filter(move |change| is_meant(change))
}

/// How many more changes there are. What is not listed is of the kind of the lump's content.
fn more_of(lump: &LumpChanges, is_meant: IsMeant) -> usize {
    let is_content = |change: &Change| {
        !matches!(change, Change::Version(..) | Change::Word(_) | Change::Models(_) | Change::Numbers(_))
    };
    if lines_of(lump, is_meant).any(is_content) { lump.more } else { 0 }
}

fn other_part(lump: &LumpChanges, room: Room, is_meant: IsMeant) -> (String, usize) {
    let mut lines = Items::new(room);
    lines_of(lump, is_meant).for_each(|change| lines.add(|| line(change, &lump.lump)));
    let more = more_of(lump, is_meant);
    lines.and_more(more);
    let (all, left) = (lines_of(lump, is_meant).count() + more, lines.more);
    let open = if all <= OTHERS_MOST_OPEN { " open" } else { "" };
    let (name, all) = (page::name(lump.lump.as_bytes()), page::count(all));
    let (list, more) = lines.finish(&name);
    let html = format!(
        "<details{open}><summary><code>{name}</code> <span class=\"count\">{all}</span></summary>\n\
         <ul>\n{list}</ul>\n{more}</details>\n"
    );
    (html, left)
}

fn line(change: &Change, lump: &str) -> String {
    format!("<li>{}</li>\n", page::text(&change.line(lump).to_string()))
}

/// Lumps that are at another place in the file.
pub(super) fn places(sides: &Sides<'_>, room: Room) -> Option<Section> {
    let mut items = Items::new(room);
    let mut count = 0;
    for lump in &sides.found.lumps {
        for change in lump.changes.iter().filter(|change| matches!(change, Change::Place(..))) {
            count += 1;
            items.add(|| line(change, &lump.lump));
        }
    }
    let more = items.more;
    let (list, rest) = items.finish("places");
    let title = page::counted(count, "lump is", "lumps are");
    let html = format!("<details><summary>{title} at another offset</summary>\n<ul>\n{list}</ul>\n{rest}</details>\n");
    (count > 0).then_some(Section { id: "places", title: "Moved in the file", count, more, html })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_are_marked() {
        let marked = |old: &str, new: &str| marked(old.as_bytes(), new.as_bytes());
        let both = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        assert_eq!(marked("8 16 24", "8 19 24"), both("8 <mark>16</mark> 24", "8 <mark>19</mark> 24"));
        assert_eq!(marked("a b", "a b c"), both("a <mark>b</mark>", "a <mark>b c</mark>"));
        assert_eq!(marked("100", "1000"), both("<mark>100</mark>", "<mark>1000</mark>"));
        assert_eq!(marked("", "x"), both("<mark></mark>", "<mark>x</mark>"));
        assert_eq!(marked("a a a", "a a"), both("a <mark>a a</mark>", "a <mark>a</mark>"));
        assert_eq!(marked("x\x1by", "x\x1bz").1, "x\\x1b<mark>z</mark>");
    }
}
