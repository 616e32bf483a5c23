//! A comparison of two maps as one HTML page: what reviewers of a change see.
//!
//! The page is one file. It loads nothing, and its content security policy forbids it to. Without JavaScript it shows
//! the same content, except for the tools to compare images and to move the top view. Text of the maps is never markup.
//! The same maps give the same page, byte for byte.
//!
//! ```
//! use bspkit_text::page::page;
//! use bspkit_ops::compare;
//! let old = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let mut draft = old.draft();
//! draft.entities()?.first_class("light")?.set("light", "150")?;
//! let new = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
//!
//! let html = page(["old.bsp", "new.bsp"], [&old, &new], &compare::whole(&old, &new, 1000));
//! assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<mark>150</mark>"));
//! # Ok::<(), bspkit::Error>(())
//! ```

mod folder;
mod light;
mod records;
mod space;
mod top;

use std::collections::{HashMap, HashSet};
use std::fmt;

use md5::{Digest, Md5};

use bspkit::Bsp;
use bspkit::bytes::{escaped, is_unseen, wide};
use bspkit::content::View;
use bspkit::content::entities::Entities;
use bspkit_ops::compare::{Change, Comparison, LumpChanges};
pub use folder::{MapRow, folder};

/// The most bytes that a page has.
pub const MOST_BYTES: usize = 2_000_000;
/// How many differences of a lump a page may list; as many as fit are.
pub const MOST_CHANGES: usize = 5000;
/// The most elements that a page has: of larger ones browsers are slow.
pub const MOST_NODES: usize = 16_000;

/// What a part of the page may have at most. All parts together, with the style and the script, are a page.
#[derive(Clone, Copy)]
struct Room {
    bytes: usize,
    nodes: usize,
}

/// A table of sizes; a page has up to three.
const ROOM_OF_SIZES: Room = Room { bytes: 60_000, nodes: 700 };
/// The marks of entities on the view from above.
const ROOM_OF_MARKS: Room = Room { bytes: 100_000, nodes: 1500 };
/// The images of light and of textures.
const ROOM_OF_IMAGES: light::Room = light::Room { bytes: 400_000, nodes: 2000, pixels: 1 << 20 };
/// The lists of light and of textures, all of a kind.
const ROOM_OF_LINES: Room = Room { bytes: 40_000, nodes: 400 };
/// All other lists. Each has an equal part, and what one does not need is for the others.
const ROOM_OF_LISTS: Room = Room { bytes: 600_000, nodes: 8500 };

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The two maps, and what differs.
struct Sides<'s> {
    names: [&'s str; 2],
    maps: [&'s Bsp<'s>; 2],
    found: &'s Comparison,
    entities: [Option<View<Entities<'s>>>; 2],
}

/// A part of the page with a heading.
struct Section {
    id: &'static str,
    title: &'static str,
    /// How many things differ.
    count: usize,
    /// How many of them are not on the page.
    more: usize,
    html: String,
}

/// Makes a section that has at most this.
type Make = fn(&Sides<'_>, Room) -> Option<Section>;

/// The page about what differs between two maps. `names` are shown as the names of the maps. The page lists what the
/// comparison lists, as far as there is room, says how much more there is, and has at most [`MOST_BYTES`] bytes and
/// [`MOST_NODES`] elements.
pub fn page(names: [&str; 2], maps: [&Bsp<'_>; 2], found: &Comparison) -> String {
    let sides = Sides { names, maps, found, entities: maps.map(|map| map.entities().ok()) };
    let mut images = ROOM_OF_IMAGES;
    let pictures = [light::section(&sides, &mut images), light::section_textures(&sides, &mut images)];
    let [entities, files, lists @ ..] = lists(&sides);
    let sections: Vec<Section> = [entities, files].into_iter().chain(pictures).chain(lists).flatten().collect();
    let top = top::section(&sides, &sections);
    let mut body = head(&sides, &sections, !top.is_empty());
    body += &section(&sides);
    body += &top;
    for Section { id, title, count, html, .. } in &sections {
        let count = self::count(*count);
        body += &format!(
            "<section id=\"{id}\">\n<h2>{title} <span class=\"count\">{count}</span></h2>\n{html}</section>\n"
        );
    }
    let names = sides.names.map(|name| self::name(name.as_bytes()));
    whole(&if names[0] == names[1] { names[1].clone() } else { names.join(" → ") }, &body)
}

/// The lists. Those that end before their equal part of the room give the rest of it to the others.
fn lists(sides: &Sides<'_>) -> [Option<Section>; 7] {
    let [visibility, physics, others] = records::OTHERS;
    let all: [Make; 7] = [
        records::section_entities,
        records::section_files,
        records::section,
        visibility,
        physics,
        others,
        records::places,
    ];
    let part = |room: Room, parts: usize| Room { bytes: room.bytes / parts, nodes: room.nodes / parts };
    let share = part(ROOM_OF_LISTS, all.len());
    let mut made = all.map(|make| make(sides, share));
    let is_cut = |section: &Option<Section>| section.as_ref().is_some_and(|section| section.more > 0);
    let (mut left, mut cut) = (ROOM_OF_LISTS, 0);
    for section in &made {
        match section.as_ref().filter(|section| section.more == 0) {
            Some(whole) => {
                left.bytes = left.bytes.saturating_sub(whole.html.len());
                left.nodes = left.nodes.saturating_sub(nodes(&whole.html));
            }
            None => cut += usize::from(is_cut(section)),
        }
    }
    for (section, make) in made.iter_mut().zip(all).filter(|(section, _)| is_cut(section)) {
        *section = make(sides, part(left, cut));
    }
    made
}

/// The names of the maps, what differs in one line, and links to the sections.
fn head(sides: &Sides<'_>, sections: &[Section], has_top: bool) -> String {
    let names = sides.names.map(|name| format!("<code>{}</code>", self::name(name.as_bytes())));
    let title = if names[0] == names[1] { names[1].clone() } else { names.join(" → ") };
    let touched = sides.found.touched();
    let is_equal = sides.found.files.as_ref().is_some_and(|files| files.is_equal);
    let summary = match touched.is_empty() {
        _ if is_equal => "The files are equal, byte for byte.".to_owned(),
        true => "The content of the lumps is equal.".to_owned(),
        false => format!("{touched}."),
    };
    let kinds = sides.maps.map(|map| format!("{}, version {}", text(map.dialect().title), map.version()));
    let kind = if kinds[0] == kinds[1] { kinds[1].clone() } else { kinds.join(" → ") };
    let links = sections.iter().map(|Section { id, title, count, .. }| {
        format!("<a href=\"#{id}\">{title} <span class=\"count\">{}</span></a>\n", self::count(*count))
    });
    let top = if has_top { "<a href=\"#top\">From above</a>\n" } else { "" };
    format!(
        "<header>\n<p class=\"dialect\">{kind}</p>\n<h1>{title}</h1>\n\
         <p class=\"summary\">{}</p>\n{}<nav><a href=\"#sizes\">Sizes</a>\n{top}{}</nav>\n</header>\n",
        text(&summary),
        left_out(sections),
        links.collect::<String>(),
    )
}

/// The sentence about what is not on the page, if anything is not.
fn left_out(sections: &[Section]) -> String {
    let cut: Vec<String> = sections
        .iter()
        .filter(|section| section.more > 0)
        .map(|section| format!("{} of {} in “{}”", count(section.more), count(section.count), section.title))
        .collect();
    match cut.is_empty() {
        true => String::new(),
        false => format!(
            "<p class=\"more\">This page does not list all that differs. Left out: {}. \
             <code>bspkit diff A B -v</code> lists up to 30,000 of each lump, and <code>--json</code> prints them as \
             data.</p>\n",
            cut.join(", "),
        ),
    }
}

/// The document. Style and script have a nonce, so that no other ones run, whatever the maps contain.
fn whole(title: &str, body: &str) -> String {
    let nonce: String = Md5::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; \
         form-action 'none'; img-src data:; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style nonce=\"{nonce}\">\n{STYLE}</style>\n</head>\n<body>\n{body}\
         <script nonce=\"{nonce}\">\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

// Text as HTML. Everything that comes from a map goes through `text` or `value`, so that none of it is markup.

/// The most bytes of a name that are shown: of a lump, a class, a key or a file.
const MOST_OF_NAME: usize = 200;

/// Text in which nothing is markup, in an element or in an attribute with quotes. Characters that are invisible or
/// change the direction of text are shown by their numbers.
fn text(text: &str) -> Text<'_> {
    Text(text)
}

struct Text<'t>(&'t str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            unseen if is_unseen(unseen) => write!(f, "{}", unseen.escape_unicode()),
            character => write!(f, "{character}"),
        })
    }
}

/// Bytes as text, up to this many of them.
fn value(bytes: &[u8], most: usize) -> String {
    match bytes.get(..most) {
        Some(start) if bytes.len() > most => {
            format!("{}<i>… {} bytes in all</i>", text(&escaped(start).to_string()), bytes.len())
        }
        _ => text(&escaped(bytes).to_string()).to_string(),
    }
}

/// A name as text, without markup, also for attributes.
fn name(bytes: &[u8]) -> String {
    match bytes.get(..MOST_OF_NAME) {
        Some(start) if bytes.len() > MOST_OF_NAME => format!("{}…", text(&escaped(start).to_string())),
        _ => text(&escaped(bytes).to_string()).to_string(),
    }
}

/// A number with a comma before every three digits.
fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with the word for one or for several.
fn counted(number: usize, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// How many elements HTML has.
fn nodes(html: &str) -> usize {
    let bytes = html.as_bytes();
    memchr::memchr_iter(b'<', bytes).filter(|at| bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic)).count()
}

/// Items of a list, as far as there is room; the others are counted.
struct Items {
    html: String,
    /// The room in all, and what is left of it.
    room: Room,
    left: Room,
    more: usize,
    is_full: bool,
}

impl Items {
    fn new(room: Room) -> Self {
        Items { html: String::new(), room, left: room, more: 0, is_full: false }
    }

    /// Adds an item. After the first one that has no room, all are only counted.
    fn add(&mut self, item: impl FnOnce() -> String) {
        self.add_as(1, item);
    }

    /// Adds an item that counts as this many.
    fn add_as(&mut self, count: usize, item: impl FnOnce() -> String) {
        if self.is_full {
            self.more += count;
            return;
        }
        let item = item();
        let nodes = nodes(&item);
        if item.len() <= self.left.bytes && nodes <= self.left.nodes {
            self.put(&item, nodes);
            return;
        }
        self.more += count;
        // An item that is much larger than others does not end the list.
        self.is_full = item.len() <= self.room.bytes / 4 && nodes <= self.room.nodes / 4;
    }

    fn put(&mut self, item: &str, nodes: usize) {
        self.left.bytes -= item.len();
        self.left.nodes -= nodes;
        self.html += item;
    }

    /// Adds a heading, which is not an item.
    fn heading(&mut self, heading: &str) {
        let nodes = nodes(heading);
        if !self.is_full && heading.len() <= self.left.bytes && nodes <= self.left.nodes {
            self.put(heading, nodes);
        }
    }

    /// Counts items that are not listed elsewhere either.
    fn and_more(&mut self, more: usize) {
        self.more += more;
    }

    /// The items, and the sentence about those that have no room, with the part of the program's output that has them.
    fn finish(self, only: &str) -> (String, String) {
        let more = match self.more {
            0 => String::new(),
            more => format!(
                "<p class=\"more\">… and {} more (<code>bspkit diff A B -v --only {only}</code>)</p>\n",
                count(more)
            ),
        };
        (self.html, more)
    }
}

// The sizes of the file and of each lump, before and after.

/// A lump in both maps; `None` where a map does not have it.
struct Row<'s> {
    name: &'s str,
    sizes: [Option<usize>; 2],
}

fn section(sides: &Sides<'_>) -> String {
    let rows = rows(sides);
    let sizes = || rows.iter().flat_map(|row| row.sizes).flatten();
    let largest = sizes().max().unwrap_or(1).max(1);
    // No program reads the offset of an empty lump.
    let is_place = |change: &Change| match change {
        Change::Place(..) => true,
        Change::Word(word) => word.name == "offset",
        _ => false,
    };
    let is_content = |lump: &&LumpChanges| lump.changes.iter().any(|change| !is_place(change));
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
        let title = counted(changed.len(), "lump differs", "lumps differ");
        out += &table(changed.into_iter(), largest, &title);
    }
    if !equal.is_empty() {
        let title = counted(equal.len(), "lump is equal", "lumps are equal");
        out += &format!("<details><summary>{title}</summary>\n{}</details>\n", table(equal.into_iter(), largest, ""));
    }
    if let Some(files) = sides.found.files.as_ref().filter(|files| !files.skipped.is_empty()) {
        let names: Vec<String> = files.skipped.iter().map(|name| self::name(name.as_bytes())).collect();
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
    let (items, more) = items.finish("places");
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
        name(row.name.as_bytes()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        let shown = value(b"</td><script>alert('1')</script>\"&\xff\n\xe2\x80\xae", 1000);
        let wanted = "&lt;/td&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;\\xff\\n\\xe2\\x80\\xae";
        assert_eq!(shown, wanted);
        assert_eq!(value(b"abcdef", 3), "abc<i>… 6 bytes in all</i>");
        assert_eq!(value("é".as_bytes(), 1), "\\xc3<i>… 2 bytes in all</i>");
    }

    #[test]
    fn lists_end_with_a_count() {
        let mut items = Items::new(Room { bytes: 8, nodes: 1 });
        for item in ["abc", "a long one", "<p>", "<br>", "f", ""] {
            items.add(|| item.to_owned());
        }
        items.and_more(1000);
        let more = "<p class=\"more\">… and 1,002 more (<code>bspkit diff A B -v --only light</code>)</p>\n";
        assert_eq!(items.finish("light"), ("abc<p>f".to_owned(), more.to_owned()));
        assert_eq!(nodes("<p class=\"a\">x &lt; y<br><i>z</i></p>"), 3);
    }
}
