//! The page about two folders of maps: what differs in each map, with links to the pages about these.

use super::{Items, Room, count, counted, name, text};

/// The rows of the table.
const ROOM_OF_MAPS: Room = Room { bytes: 1_500_000, nodes: 15_000 };

/// A map of two folders.
///
/// ```
/// use bspkit_text::page::{MapRow, folder};
/// let mut row = MapRow::new("dm4.bsp", "changed");
/// row.what = "1 entity, 1 value".to_owned();
/// row.page = Some("review_files/dm4.html".to_owned());
/// let html = folder(["release", "work"], &[row], 3);
/// assert!(html.contains("<a href=\"review_files/dm4.html\"><code>dm4.bsp</code></a>"));
/// assert!(html.contains("3 maps are the same"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct MapRow {
    /// Its path below the folders.
    pub name: String,
    /// What happened to it: `changed`, `added`, `removed`, `failed`.
    pub how: &'static str,
    /// What differs, in one line; why it could not be compared.
    pub what: String,
    /// The sizes of the files in bytes, as far as they are there.
    pub sizes: [Option<usize>; 2],
    /// The address of its page.
    pub page: Option<String>,
}

impl MapRow {
    /// A map to which this happened.
    pub fn new(name: impl Into<String>, how: &'static str) -> Self {
        MapRow { name: name.into(), how, ..MapRow::default() }
    }
}

/// The page about the maps of two folders that differ, in the order that is given; `equal` other ones are the same.
/// `names` are shown as the names of the folders. It has at most [`MOST_BYTES`](super::MOST_BYTES) bytes and
/// [`MOST_NODES`](super::MOST_NODES) elements.
pub fn folder(names: [&str; 2], maps: &[MapRow], equal: usize) -> String {
    let names = names.map(|folder| format!("<code>{}</code>", name(folder.as_bytes())));
    let of = |how: &str| maps.iter().filter(|map| map.how == how).count();
    let words = [("changed", "changed"), ("added", "added"), ("removed", "removed"), ("failed", "not compared")];
    let counts = words.into_iter().filter(|(how, _)| of(how) > 0);
    let counts: Vec<String> = counts.map(|(how, word)| format!("{} {word}", counted(of(how), "map", "maps"))).collect();
    let same = match equal {
        0 => String::new(),
        1 => "1 map is the same".to_owned(),
        equal => format!("{} maps are the same", count(equal)),
    };
    let summary: Vec<String> = counts.into_iter().chain((!same.is_empty()).then_some(same)).collect();
    let mut items = Items::new(ROOM_OF_MAPS);
    maps.iter().for_each(|map| items.add(|| row(map)));
    let more = items.more;
    let rest = match more {
        0 => String::new(),
        more => format!(
            "<p class=\"more\">… and {} (<code>bspkit diff A B --stat</code>)</p>\n",
            counted(more, "more map", "more maps")
        ),
    };
    let table = match maps.is_empty() {
        true => String::new(),
        false => format!(
            "<table class=\"maps\"><thead><tr><th>Map</th><th>What differs</th><th class=\"n\">Before</th>\
             <th class=\"n\">After</th></tr></thead>\n<tbody>\n{}</tbody></table>\n{rest}",
            items.html
        ),
    };
    let body = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"summary\">{}.</p>\n</header>\n{table}",
        names.join(" → "),
        if summary.is_empty() { "No maps".to_owned() } else { summary.join(", ") },
    );
    super::whole(&names.join(" → ").replace("<code>", "").replace("</code>", ""), &body)
}

fn row(map: &MapRow) -> String {
    let title = format!("<code>{}</code>", name(map.name.as_bytes()));
    let title = match &map.page {
        Some(page) => format!("<a href=\"{}\">{title}</a>", text(page)),
        None => title,
    };
    let [old, new] = map.sizes.map(|size| size.map_or("–".to_owned(), count));
    let class = match map.how {
        "added" => "added",
        "removed" | "failed" => "removed",
        _ => "changed",
    };
    let what = if map.what.is_empty() { map.how.to_owned() } else { text(&map.what).to_string() };
    format!(
        "<tr><td>{title}</td><td class=\"{class}\">{what}</td><td class=\"n\">{old}</td>\
         <td class=\"n\">{new}</td></tr>\n"
    )
}
