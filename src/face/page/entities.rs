//! Entities that were added, removed, moved or changed.

use super::html::{self, Items, counted};
use super::{ROOM_OF_LIST, Section, Sides};
use crate::content::entities::Entity;
use crate::op::compare::{Change, EntityChange, How, KeyChange};

/// The most bytes of a value that are shown.
const MOST_OF_VALUE: usize = 2000;
/// The most pairs of an added or removed entity that are shown.
const MOST_PAIRS: usize = 200;

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

pub(super) fn section(sides: &Sides<'_>) -> Option<Section> {
    let (all, more) = changes(sides);
    if all.is_empty() {
        return None;
    }
    let mut items = Items::new(ROOM_OF_LIST);
    for (how, title) in GROUPS {
        let group: Vec<_> = all.iter().filter(|entity| entity.how == how).collect();
        if !group.is_empty() {
            let heading = format!("<h3>{title} <span class=\"count\">{}</span></h3>\n", html::count(group.len()));
            items.heading(heading);
            // Entities that changed in the same way are one item.
            let is_alike =
                |one: &&&EntityChange, other: &&&EntityChange| !one.keys.is_empty() && one.keys == other.keys;
            for alike in group.chunk_by(is_alike).flat_map(|alike| alike.chunks(MOST_ALIKE)) {
                items.add_as(alike.len(), || item(sides, alike));
            }
        }
    }
    items.and_more(more);
    let (list, rest) = items.finish();
    Some(Section { id: "entities", title: "Entities", count: all.len() + more, html: list + rest.as_str() })
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
        title += &format!(" <code>{}</code>", html::name(class));
    }
    if let Some(name) = &entity.name {
        title += &format!(" <code class=\"name\">{}</code>", html::name(name));
    }
    match (entity.how, entity.from) {
        (How::Moved | How::Changed, Some(from)) => {
            title + format!(" <span class=\"note\">#{from} before</span>").as_str()
        }
        _ => title,
    }
}

/// Entities that changed in the same way.
fn item(sides: &Sides<'_>, alike: &[&&EntityChange]) -> String {
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
        let (key, value) = (html::name(pair.key), html::value(pair.value, MOST_OF_VALUE));
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
            let shown = |value: &Option<Vec<u8>>| value.as_ref().map(|value| html::value(value, MOST_OF_VALUE));
            (shown(old), shown(new))
        }
    };
    let cell = |class: &str, value: Option<String>| match value {
        Some(value) => format!("<td class=\"{class}\"><code>{value}</code></td>"),
        None => "<td class=\"none\">–</td>".to_owned(),
    };
    let name = html::name(&change.key);
    format!("<tr><th><code>{name}</code></th>{}{}</tr>\n", cell("removed", old), cell("added", new))
}

/// Two values in which the part that differs is marked. What is equal at the ends is cut at spaces and commas, so that
/// whole words are marked.
fn marked(old: &[u8], new: &[u8]) -> (String, String) {
    if old.len().max(new.len()) > MOST_OF_VALUE {
        return (html::value(old, MOST_OF_VALUE), html::value(new, MOST_OF_VALUE));
    }
    let is_mark = |byte: &u8| matches!(byte, b' ' | b',' | b'/' | b'\x1b' | b'\n');
    let equal = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let start = old[..equal].iter().rposition(is_mark).map_or(0, |at| at + 1);
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let equal = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let end = old_rest[old_rest.len() - equal..].iter().position(is_mark).map_or(0, |at| equal - at);
    let show = |value: &[u8]| {
        let middle = value.len() - end;
        let part = |bytes: &[u8]| html::value(bytes, MOST_OF_VALUE);
        format!("{}<mark>{}</mark>{}", part(&value[..start]), part(&value[start..middle]), part(&value[middle..]))
    };
    (show(old), show(new))
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
