//! The pages about the maps of two folders.

use std::path::Path;
use std::process::Command;

use super::html::tags;
use super::pairs::{edited, fixture};

fn bspkit(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_bspkit")).args(arguments).current_dir(folder).output().unwrap();
    (done.status.code(), String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap())
}

#[test]
fn two_folders_have_a_list_with_a_page_for_each_map_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let map = fixture("q2/own_rooms");
    let other = edited(&map, |draft| {
        draft.entities().unwrap().get_mut(0).unwrap().set("message", "planted").unwrap();
    });
    let put = |name: &str, map: &bspkit::Bsp<'_>| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, map.container().bytes()).unwrap();
    };
    put("a/same.bsp", &map);
    put("b/same.bsp", &map);
    put("a/in/a map & <b>.bsp", &map);
    put("b/in/a map & <b>.bsp", &other);
    put("a/gone.bsp", &map);
    put("b/new.bsp", &map);
    std::fs::write(folder.path().join("a/broken.bsp"), "no map").unwrap();
    std::fs::write(folder.path().join("b/broken.bsp"), "nor this").unwrap();
    let (code, text) = bspkit(folder.path(), &["diff", "a", "b", "--html", "review.html"]);
    assert_eq!(code, Some(1), "{text}");

    let list = std::fs::read_to_string(folder.path().join("review.html")).unwrap();
    let address = "review_files/in/a%20map%20%26%20%3Cb%3E.bsp.html";
    let links: Vec<String> = tags(&list)
        .into_iter()
        .filter(|tag| tag.name == "a")
        .flat_map(|tag| tag.attributes.into_iter().filter(|(key, _)| key == "href").map(|(_, value)| value))
        .collect();
    assert_eq!(links, [address], "{list}");
    for shown in [
        "1 map changed, 1 map added, 1 map removed, 1 map not compared, 1 map is the same.",
        "<code>in/a map &amp; &lt;b&gt;.bsp</code></a></td><td class=\"changed\">1 entity, 1 value; ",
        "<code>gone.bsp</code></td><td class=\"removed\">removed</td>",
        "<code>new.bsp</code></td><td class=\"added\">added</td>",
        "<code>broken.bsp</code></td><td class=\"removed\">not compared: ",
    ] {
        assert!(list.contains(shown), "no {shown}: {list}");
    }
    let page = std::fs::read_to_string(folder.path().join("review_files/in/a map & <b>.bsp.html")).unwrap();
    assert!(page.contains("<mark>planted</mark>") || page.contains("planted"), "{page:.1000}");
    let pages = std::fs::read_dir(folder.path().join("review_files")).unwrap().count();
    assert_eq!(pages, 1, "maps that are the same have no page");
}
