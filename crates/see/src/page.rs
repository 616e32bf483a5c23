//! A page that shows a map in a browser: one file, which needs no server and loads nothing.

use bspkit::json::base64;
use bspkit::{Error, ErrorKind, Result};

use crate::export::{Format, export};
use crate::scene::Scene;

/// The frame of the page, with words in double braces in the places of its parts.
const FRAME: &str = include_str!("../page/page.html");
/// What one uses to fly and to search, which the page for maps (`web`) has too.
const CONTROLS: &str = include_str!("../page/controls.html");
/// three.js and what shows the map, made by `page/build.sh`.
const SCRIPT: &str = include_str!("../page/viewer.min.js");

const LICENCE: &str = include_str!("../page/three.LICENSE");

/// A page that shows a scene: one flies through it, selects faces and entities, and hides layers. `title` is the name
/// of the map for people, `file` the one in commands that the page offers. The page runs no code but its own: names and
/// values of the map are text.
///
/// ```
/// use bspkit_see::{Options, Scene, page};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let scene = Scene::read(&map, &Options::default())?;
/// let page = String::from_utf8(page(&scene, "<rooms>", "rooms.bsp")?).unwrap();
/// assert!(page.contains("<title>&lt;rooms&gt;</title>") && page.contains("data-file=\"rooms.bsp\""));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// As [`crate::export`].
pub fn page(scene: &Scene, title: &str, file: &str) -> Result<Vec<u8>> {
    let files = export(scene, Format::Glb, title)?;
    let map = files.first().map(|file| base64(&file.bytes)).unwrap_or_default();
    let mut page = Vec::with_capacity(FRAME.len() + SCRIPT.len() + map.len());
    let mut rest = FRAME;
    while let Some((before, after)) = rest.split_once("{{") {
        page.extend_from_slice(before.as_bytes());
        let (word, after) = after.split_once("}}").unwrap_or((after, ""));
        match word {
            "title" => page.extend_from_slice(escaped(title).as_bytes()),
            "file" => page.extend_from_slice(escaped(file).as_bytes()),
            "map" => page.extend_from_slice(map.as_bytes()),
            "controls" => page.extend_from_slice(CONTROLS.as_bytes()),
            "licence" => page.extend_from_slice(LICENCE.as_bytes()),
            "script" => page.extend_from_slice(SCRIPT.as_bytes()),
            _ => return Err(Error::new(ErrorKind::Malformed, format!("the page has no part {word}"))),
        }
        rest = after;
    }
    page.extend_from_slice(rest.as_bytes());
    Ok(page)
}

/// A text in HTML. What one does not see is shown as its number.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            letter if letter.is_control() || bspkit::bytes::is_unseen(letter) => {
                html.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            letter => html.push(letter),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text() {
        let page = page(&Scene::default(), "</title><script>alert(1)</script>\u{202e}", "\" onload=\"x").unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(!page.contains("<script>alert") && page.contains("\\u{202e}") && !page.contains("\" onload"));
        assert_eq!(page.matches("<script").count(), 2);
        assert!(!SCRIPT.to_lowercase().contains("</script"));
    }

    #[test]
    fn the_licence_is_in_the_page() {
        assert!(SCRIPT.contains("SPDX-License-Identifier: MIT") && SCRIPT.contains("Three.js Authors"));
        let page = String::from_utf8(page(&Scene::default(), "a", "b").unwrap()).unwrap();
        assert!(page.contains(LICENCE) && LICENCE.contains("Permission is hereby granted") && !LICENCE.contains("--"));
    }
}
