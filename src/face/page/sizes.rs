//! The sizes of the file and of each lump, before and after.

use std::collections::{HashMap, HashSet};

use super::html::{self, Items, count};
use super::{ROOM_OF_SIZES, Sides};
use crate::bytes::wide;
use crate::op::compare::{Change, LumpChanges};

/// A lump in both maps; `None` where a map does not have it.
struct Row<'s> {
    name: &'s str,
    sizes: [Option<usize>; 2],
}

pub(super) fn section(sides: &Sides<'_>) -> String {
    let rows = rows(sides);
    let sizes = || rows.iter().flat_map(|row| row.sizes).flatten();
    let largest = sizes().max().unwrap_or(1).max(1);
    let is_content = |lump: &&LumpChanges| lump.changes.iter().any(|change| !matches!(change, Change::Place(..)));
    let differing = sides.found.lumps.iter().filter(is_content).map(|lump| lump.lump.as_str());
    let differing: HashSet<&str> = differing.collect();
    let (changed, equal): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| row.sizes[0] != row.sizes[1] || differing.contains(row.name));
    let equal: Vec<_> = equal.into_iter().filter(|row| row.sizes != [Some(0); 2]).collect();
    let file = sides.maps.map(|map| map.container().bytes().len());
    let mut out = "<section id=\"sizes\">\n<h2>Sizes</h2>\n".to_owned();
    let whole = Row { name: "the whole file", sizes: file.map(Some) };
    out += &table(std::iter::once(&whole), file[0].max(file[1]).max(1), "");
    if !changed.is_empty() {
        let title = html::counted(changed.len(), "lump differs", "lumps differ");
        out += &table(changed.into_iter(), largest, &title);
    }
    if !equal.is_empty() {
        let title = html::counted(equal.len(), "lump is equal", "lumps are equal");
        out += &format!("<details><summary>{title}</summary>\n{}</details>\n", table(equal.into_iter(), largest, ""));
    }
    if let Some(files) = sides.found.files.as_ref().filter(|files| !files.skipped.is_empty()) {
        let names: Vec<String> = files.skipped.iter().map(|name| html::name(name.as_bytes())).collect();
        out += &format!("<p>The maps are of different dialects. Not compared: {}.</p>\n", names.join(", "));
    }
    out + "</section>\n"
}

/// The lumps of both maps in the order of the old one, then those that are new.
fn rows<'s>(sides: &Sides<'s>) -> Vec<Row<'s>> {
    let [old, new] = sides.maps;
    let mut others: HashMap<&str, Vec<usize>> = HashMap::new();
    new.slots().iter().enumerate().rev().for_each(|(at, slot)| others.entry(&slot.name).or_default().push(at));
    let mut is_paired = vec![false; new.slots().len()];
    let mut rows = Vec::new();
    for slot in old.slots() {
        let other = others.get_mut(&*slot.name).and_then(Vec::pop);
        other.into_iter().for_each(|at| is_paired[at] = true);
        let after = other.and_then(|at| new.slots().get(at)).map(|slot| slot.stored.len());
        rows.push(Row { name: &slot.name, sizes: [Some(slot.stored.len()), after] });
    }
    let added = new.slots().iter().zip(is_paired).filter(|(_, is_paired)| !is_paired);
    rows.extend(added.map(|(slot, _)| Row { name: &slot.name, sizes: [None, Some(slot.stored.len())] }));
    rows
}

fn table<'r>(rows: impl Iterator<Item = &'r Row<'r>>, largest: usize, caption: &str) -> String {
    let mut items = Items::new(ROOM_OF_SIZES);
    rows.for_each(|row| items.add(|| line(row, largest)));
    let (items, more) = items.finish();
    let caption = if caption.is_empty() { String::new() } else { format!("<caption>{caption}</caption>") };
    format!(
        "<table class=\"sizes\">{caption}<thead><tr><th>Lump</th><th class=\"n\">Before</th>\
         <th class=\"n\">After</th><th class=\"n\">Change</th><th class=\"bars\">Bytes</th></tr></thead>\n\
         <tbody>\n{items}</tbody></table>\n{more}"
    )
}

fn line(row: &Row<'_>, largest: usize) -> String {
    let [old, new] = row.sizes.map(|size| size.unwrap_or(0));
    let shown = row.sizes.map(|size| size.map_or("–".to_owned(), count));
    let change = match new.cmp(&old) {
        std::cmp::Ordering::Equal => "=".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", count(new - old)),
        std::cmp::Ordering::Less => format!("−{}", count(old - new)),
    };
    let class = if new > old { "added" } else { "removed" };
    format!(
        "<tr><td><code>{}</code></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n {}\">{change}</td>\
         <td class=\"bars\"><svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"old\" width=\"{}\" height=\"4\"/><rect class=\"new\" y=\"6\" width=\"{}\" height=\"4\"/></svg>\
         </td></tr>\n",
        html::name(row.name.as_bytes()),
        shown[0],
        shown[1],
        if old == new { "" } else { class },
        share(old, largest),
        share(new, largest),
    )
}

/// The length of a bar, of 1,000; what is there is seen.
fn share(size: usize, largest: usize) -> u64 {
    if size == 0 { 0 } else { (wide(size) * 1000 / wide(largest)).max(2) }
}
