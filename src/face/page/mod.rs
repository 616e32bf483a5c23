//! A comparison of two maps as one HTML page: what reviewers of a change see.
//!
//! The page is one file. It loads nothing, and its content security policy forbids it to. Without JavaScript it shows
//! the same content, except for the tools to compare images and to move the top view. Text of the maps is never markup.
//! The same maps give the same page, byte for byte.
//!
//! ```
//! use bspkit::face::page::page;
//! use bspkit::op::compare;
//! let old = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
//! let mut draft = old.draft();
//! draft.entities()?.first_class("light")?.set("light", "150")?;
//! let new = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
//!
//! let html = page(["old.bsp", "new.bsp"], [&old, &new], &compare::whole(&old, &new, 1000));
//! assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<mark>150</mark>"));
//! # Ok::<(), bspkit::Error>(())
//! ```

mod entities;
mod files;
mod html;
mod light;
mod others;
mod outline;
mod picture;
mod records;
mod sizes;
mod textures;
mod top;

use md5::{Digest, Md5};

use crate::bsp::Bsp;
use crate::content::entities::Entities;
use crate::content::lens::View;
use crate::op::compare::Comparison;
use picture::Room;

/// The most bytes that a page has.
pub const MOST_BYTES: usize = 32 << 20;

/// The most bytes of a table of sizes; a page has up to three.
const ROOM_OF_SIZES: usize = 1 << 18;
/// The most bytes of a list of changes; a page has one for each of its sections.
const ROOM_OF_LIST: usize = 2 << 20;
/// The most bytes of all images in base64, and the most pixels that are compared for them.
const ROOM_OF_IMAGES: Room = Room { bytes: 12 << 20, pixels: 1 << 23 };

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
    html: String,
}

/// The page about what differs between two maps. `names` are shown as the names of the maps. The page lists what the
/// comparison lists, as far as there is room, and has at most [`MOST_BYTES`] bytes.
pub fn page(names: [&str; 2], maps: [&Bsp<'_>; 2], found: &Comparison) -> String {
    let sides = Sides { names, maps, found, entities: maps.map(|map| map.entities().ok()) };
    let mut room = ROOM_OF_IMAGES;
    let sections = [
        entities::section(&sides),
        files::section(&sides),
        light::section(&sides, &mut room),
        textures::section(&sides, &mut room),
        records::section(&sides),
    ];
    let sections: Vec<Section> = sections.into_iter().chain(others::sections(&sides)).flatten().collect();
    let top = top::section(&sides);
    let mut body = head(&sides, &sections, !top.is_empty());
    body += &sizes::section(&sides);
    body += &top;
    for Section { id, title, count, html } in &sections {
        let count = html::count(*count);
        body += &format!(
            "<section id=\"{id}\">\n<h2>{title} <span class=\"count\">{count}</span></h2>\n{html}</section>\n"
        );
    }
    whole(&sides, &body)
}

/// The names of the maps, what differs in one line, and links to the sections.
fn head(sides: &Sides<'_>, sections: &[Section], has_top: bool) -> String {
    let names = sides.names.map(|name| format!("<code>{}</code>", html::name(name.as_bytes())));
    let title = if names[0] == names[1] { names[1].clone() } else { names.join(" → ") };
    let touched = sides.found.touched();
    let is_equal = sides.found.files.as_ref().is_some_and(|files| files.is_equal);
    let summary = match touched.is_empty() {
        _ if is_equal => "The files are equal, byte for byte.".to_owned(),
        true => "The content of the lumps is equal.".to_owned(),
        false => format!("{touched}."),
    };
    let kinds = sides.maps.map(|map| format!("{}, version {}", html::text(map.dialect().title), map.version()));
    let kind = if kinds[0] == kinds[1] { kinds[1].clone() } else { kinds.join(" → ") };
    let links = sections.iter().map(|Section { id, title, count, .. }| {
        format!("<a href=\"#{id}\">{title} <span class=\"count\">{}</span></a>\n", html::count(*count))
    });
    let top = if has_top { "<a href=\"#top\">From above</a>\n" } else { "" };
    format!(
        "<header>\n<p class=\"dialect\">{kind}</p>\n<h1>{title}</h1>\n\
         <p class=\"summary\">{}</p>\n<nav><a href=\"#sizes\">Sizes</a>\n{top}{}</nav>\n</header>\n",
        html::text(&summary),
        links.collect::<String>(),
    )
}

/// The document. Style and script have a nonce, so that no other ones run, whatever the maps contain.
fn whole(sides: &Sides<'_>, body: &str) -> String {
    let nonce: String = Md5::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    let names = sides.names.map(|name| html::name(name.as_bytes()));
    let title = if names[0] == names[1] { names[1].clone() } else { names.join(" → ") };
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
