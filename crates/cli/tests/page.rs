//! A comparison as an HTML page: what differs is on it, text of maps is never markup, nothing is loaded, and a real
//! browser shows it (`page/browser.rs`).
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "page/browser.rs"]
mod browser;
#[path = "page/folder.rs"]
mod folder;
#[path = "page/hostile.rs"]
mod hostile;
#[path = "page/html.rs"]
mod html;
#[allow(dead_code)]
#[path = "engines/maps.rs"]
mod maps;
#[path = "page/pairs.rs"]
mod pairs;
#[allow(dead_code)]
#[path = "engines/run.rs"]
mod run;
#[cfg(feature = "see")]
#[path = "page/view.rs"]
mod view;

use bspkit::content::visibility::VisSet;
use bspkit::{Bsp, Draft};
use bspkit_text::page::{MOST_BYTES, MOST_NODES};
use html::{Tag, tags};
use pairs::{FAMILIES, edited, fixture, page};

/// The bounds of every page.
#[track_caller]
fn bounded(page: &str) {
    let nodes = tags(page).len();
    assert!(page.len() <= MOST_BYTES && nodes <= MOST_NODES, "{} bytes, {nodes} elements", page.len());
}

/// A page whose tags are closed in the right order, and that loads nothing.
#[track_caller]
fn checked(old: &Bsp<'_>, new: &Bsp<'_>) -> String {
    let page = page(old, new);
    bounded(&page);
    let tags = tags(&page);
    for Tag { name, attributes } in &tags {
        for (key, value) in attributes {
            match key.as_str() {
                "src" => assert!(value.starts_with("data:image/png;base64,"), "{name} loads {value:.100}"),
                "href" => assert!(value.starts_with('#'), "{name} leads to {value}"),
                "style" | "srcset" | "action" | "data" => panic!("<{name} {key}={value}>"),
                key => assert!(!key.starts_with("on"), "<{name} {key}={value}>"),
            }
        }
    }
    assert_eq!(tags.iter().filter(|tag| tag.name == "script").count(), 1, "the page has one script");
    let known = [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "nav",
        "section",
        "h1",
        "h2",
        "h3",
        "p",
        "a",
        "code",
        "span",
        "ul",
        "li",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "div",
        "pre",
        "figure",
        "figcaption",
        "img",
        "svg",
        "path",
        "rect",
        "mark",
        "i",
        "br",
        "script",
    ];
    let unknown = tags.iter().find(|tag| !known.contains(&tag.name.as_str()));
    assert!(unknown.is_none(), "{unknown:?}");
    page
}

#[test]
fn what_differs_in_each_family_is_on_the_page() {
    for name in FAMILIES {
        let (old, lit) = (fixture(name), if name.starts_with("q3") { 0 } else { 3 });
        let new = edited(&old, |draft| {
            let entities = draft.entities().unwrap();
            entities.get_mut(0).unwrap().set("message", "planted").unwrap();
            let placed = entities.iter().position(|entity| entity.vector("origin").is_some()).unwrap();
            entities.get_mut(placed).unwrap().set("origin", "12 34 56").unwrap();
            draft.light().unwrap().adjust(&pairs::BRIGHTER, |_, block, _| block.index() == lit).unwrap();
        });
        let page = checked(&old, &new);
        for planted in [
            "planted",
            "<mark>12 34 56</mark>",
            "class=\"way\"",
            "<h2>Light ",
            "<figure class=\"images pair\">",
            "<path class=\"wall\" d=\"M",
        ] {
            assert!(page.contains(planted), "{name}: no {planted}");
        }
        let place = if lit == 0 { "<title>page 0</title>" } else { "<title>face 3, style " };
        assert!(page.contains(place), "{name}: no {place}");
        assert_eq!(page, self::page(&old, &new), "{name}: another page of the same maps");
    }
}

/// A door has no origin: it is in the middle of its model. What has no room is counted.
#[test]
fn what_changed_is_in_the_space() {
    let old = fixture("q2/own_rooms");
    let new = edited(&old, |draft| {
        draft.entities().unwrap().first_class("func_door").unwrap().set("speed", "77").unwrap();
    });
    let page = checked(&old, &new);
    let space = page.split_once("<div class=\"space\"").unwrap().1.split_once("</section>").unwrap().0;
    // The box of the model is 258 -32 0 to 270 32 96.
    assert!(space.contains(" data-changed=\"264 0 48\"") && !space.contains("Not drawn"), "{:.300}", space);

    let many = edited(&old, |draft| {
        let entities = draft.entities().unwrap();
        for at in 0..1000 {
            entities.add([("classname", "light"), ("origin", &format!("{} 123456 -123456", 100_000 + at))]).unwrap();
        }
    });
    let page = checked(&old, &many);
    let space = page.split_once("<div class=\"space\"").unwrap().1.split_once("</section>").unwrap().0;
    let drawn = space.split_once("data-added=\"").unwrap().1.split_once('"').unwrap().0.split(',').count();
    assert!(drawn > 100 && space.contains(&format!("Not drawn: {}", printed(1000 - drawn))), "{drawn}");
}

#[test]
fn equal_maps_have_a_page() {
    for name in FAMILIES {
        let map = fixture(name);
        let page = checked(&map, &map);
        assert!(page.contains("The files are equal, byte for byte.") && !page.contains("class=\"changed\""), "{name}");
    }
}

#[test]
fn every_kind_of_content_has_its_section() {
    let old = fixture("goldsrc/own_rooms");
    let new = edited(&old, |draft| {
        let textures = draft.textures().unwrap();
        let mut image = textures.get(1).unwrap().unwrap().image().unwrap();
        image.pixels[0] ^= 1;
        textures.set_image(1, &image, None).unwrap();
        draft.update(bspkit::dialect::goldsrc::PLANES, 3, |plane| plane.distance = 8.5).unwrap();
    });
    let page = checked(&old, &new);
    for planted in ["<figcaption><code>OWN_FLOOR</code>", "<td><code>distance</code></td>", "<code>8.5</code>"] {
        assert!(page.contains(planted), "no {planted}");
    }
    let old = fixture("source/room_v20");
    let new = edited(&old, |draft| {
        let pak = draft.pak().unwrap();
        let text = pak.get(pak.find("materials/own/wall.vmt")[0]).unwrap().data().unwrap().to_vec();
        let text = String::from_utf8(text).unwrap().replace("own/wall", "own/other");
        pak.add("materials/own/wall.vmt", text.into_bytes()).unwrap();
        pak.add("scripts/new.txt", &b"new"[..]).unwrap();
    });
    let page = checked(&old, &new);
    assert!(
        page.contains("<span class=\"added\">+ \t&quot;$basetexture&quot; &quot;own/other&quot;</span>"),
        "no line"
    );
    assert!(page.contains("<code>scripts/new.txt</code> <span class=\"note\">added, 3 bytes</span>"));
    let old = fixture("q2/own_rooms");
    let new = edited(&old, |draft| draft.visibility().unwrap().set(VisSet::Pvs, 8, 0, false).unwrap());
    let page = checked(&old, &new);
    assert!(
        page.contains("<li>VISIBILITY: PVS of 8, 0 more visible, 1 fewer</li>"),
        "{}",
        &page[page.find("VISIBILITY: ").unwrap()..][..100]
    );
    let box_map = checked(&fixture("q2/own_rooms"), &fixture("q2/own_box"));
    assert!(box_map.contains("class=\"face gone\"") && box_map.contains("<h2>Moved in the file "));
    let other = checked(&fixture("q2/own_rooms"), &fixture("q3/own_rooms"));
    assert!(other.contains("The maps are of different dialects."));
}

#[test]
fn text_of_maps_is_not_markup() {
    for hostile in pairs::HOSTILE {
        let plain = &*hostile.replace('"', "'").replace('\0', "");
        let old = fixture("goldsrc/own_rooms");
        let new = edited(&old, |draft| {
            let entities = draft.entities().unwrap();
            let mut world = entities.get_mut(0).unwrap();
            world.set("message", plain).unwrap();
            let mut light = entities.first_class("light").unwrap();
            for key in ["classname", "targetname", "own"] {
                light.set(key, plain).unwrap();
            }
            entities.add([("classname", plain)]).unwrap();
            draft.textures().unwrap().rename(1, &plain.as_bytes()[..plain.len().min(15)]).unwrap();
        });
        checked(&old, &new);
        let old = fixture("source/room_v20");
        let new = edited(&old, |draft| {
            let pak = draft.pak().unwrap();
            pak.add(format!("materials/{plain}.vmt"), &b"x"[..]).unwrap();
            pak.add("materials/own/wall.vmt", hostile.as_bytes().to_vec()).unwrap();
        });
        checked(&old, &new);
        let names = [hostile, hostile];
        tags(&bspkit_text::page::page(names, [&old, &new], &bspkit_ops::compare::whole(&old, &new, 10)));
    }
}

/// A map in which very much differs gives a page of bounded size that says how much more there is.
#[test]
fn the_page_is_bounded() {
    let old = fixture("q2/own_rooms");
    let text = |word: &str| {
        let mut text = "{\n\"classname\" \"worldspawn\"\n}\n".to_owned();
        for at in 0..10_000 {
            let value = format!("{word}{at}{}", "<&".repeat(400));
            text += &format!("{{\n\"classname\" \"light\"\n\"origin\" \"{at} 0 0\"\n\"k\" \"{value}\"\n}}\n");
        }
        text.into_bytes()
    };
    let set = |word: &str| {
        edited(&old, |draft: &mut Draft<'_>| {
            let slot = old.slot("ENTITIES").unwrap().id;
            draft.set(slot, [text(word), vec![0]].concat()).unwrap();
        })
    };
    let page = checked(&set("a"), &set("b"));
    assert!(page.len() > 300_000, "{} bytes", page.len());
    // What is listed and what is counted are all that differs.
    let listed = page.matches("<details class=\"entity ").count();
    let (_, entities) = page.split_once("<section id=\"entities\">").unwrap();
    let (_, more) = entities.split_once("<p class=\"more\">… and ").unwrap();
    let more: usize = more.split(' ').next().unwrap().replace(',', "").parse().unwrap();
    assert_eq!(listed + more, 10_000, "{listed} are listed");
    // The head says so too, with the command that lists them.
    let (head, _) = page.split_once("<section id=").unwrap();
    let more = printed(more);
    assert!(
        head.contains(&format!("Left out: {more} of 10,000 in “Entities”. <code>bspkit diff A B -v</code>")),
        "{head}"
    );
}

/// A number as the page prints it.
fn printed(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

/// What every section of the page can have at once: of all of it the page has a part.
#[test]
fn a_page_with_much_of_everything_is_bounded() {
    let old = fixture("goldsrc/own_rooms");
    let set = |seed: u32| {
        edited(&old, |draft| {
            let mut text = "{\n\"classname\" \"worldspawn\"\n}\n".to_owned();
            for at in 0..5000 {
                let origin = format!("{} {} {}", at % 800, (at * 7) % 140, seed);
                text += &format!("{{\n\"classname\" \"l{at}\"\n\"origin\" \"{origin}\"\n\"k\" \"{seed}\"\n}}\n");
            }
            draft.set(old.slot("ENTITIES").unwrap().id, [text.as_bytes(), &[0]].concat()).unwrap();
            for (lump, size) in [("PLANES", 20), ("VERTEXES", 12), ("CLIPNODES", 8), ("NODES", 24), ("LEAFS", 28)] {
                let byte = |at: u32| at.wrapping_mul(seed).to_le_bytes()[1];
                let bytes: Vec<u8> = (0..size * 6000).map(byte).collect();
                draft.set(old.slot(lump).unwrap().id, bytes).unwrap();
            }
        })
    };
    let page = checked(&set(40_507), &set(70_001));
    assert!(page.contains("<section id=\"records\">") && page.contains("This page does not list all that differs."));
}
