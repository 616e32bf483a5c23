//! The page of `view` in a real browser: the map is shown, entities are found, and a click says what is there.

use std::path::Path;
use std::process::Command;

use super::browser::Browser;
use super::pairs::HOSTILE;

/// As soon as the map is there it types into the search, and clicks into the middle of the map.
const DRIVER: &str = "
const ready = new MutationObserver(() => act());
const act = () => {
    if (document.body.dataset.state === 'loading') return;
    ready.disconnect();
    const search = document.getElementById('search');
    search.value = 'info_player_start';
    search.dispatchEvent(new Event('input'));
    const view = document.getElementById('view');
    const box = view.getBoundingClientRect();
    const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, pointerId: 1, bubbles: true };
    view.dispatchEvent(new PointerEvent('pointerdown', at));
    view.dispatchEvent(new PointerEvent('pointerup', at));
};
ready.observe(document.body, { attributes: true });
act();
";

/// What the program writes of a map, with entities whose values are hostile.
fn page(name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let map = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/maps")).join(name).with_extension("bsp");
    let (edited, out) = (folder.path().join("map.bsp"), folder.path().join("map.html"));
    let mut draft = bspkit::Bsp::open(map).unwrap().draft();
    let entities = draft.entities().unwrap();
    for hostile in HOSTILE {
        let hostile = hostile.replace(['"', '\0'], "'");
        entities.add([("classname", "light"), ("origin", "0 0 4000"), ("message", &hostile)]).unwrap();
    }
    std::fs::write(&edited, draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
    assert!(command.args(["-q", "view"]).arg(&edited).arg("-o").arg(&out).status().unwrap().success());
    std::fs::read_to_string(out).unwrap()
}

#[test]
fn a_browser_shows_the_map_and_says_what_is_clicked() {
    let Some(browser) = Browser::find() else { return };
    for name in ["q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
        let page = page(name).replacen("</body>", &format!("<script>{DRIVER}</script></body>"), 1);
        let text = browser.run(&page, &["--dump-dom", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]);
        // What the driver of the graphics card says is not the page's.
        let console: Vec<&str> =
            text.lines().filter(|line| line.contains("CONSOLE") && !line.contains("GL Driver")).collect();
        assert!(console.is_empty(), "{name}: {console:?}");
        assert!(text.contains("data-state=\"ready\""), "{name}: {text:.2000}");
        assert!(text.contains("<dt>face</dt>") && text.contains("<dt>texture</dt>"), "{name}: nothing was clicked");
        assert!(text.contains("bspkit get"), "{name}");
        assert!(!text.contains("data-harm"), "{name}: a script of the map ran");
        let counted = text.split_once("id=\"count\">").unwrap().1.split_once('<').unwrap().0;
        assert!(counted.starts_with("1 of ") || name.starts_with("source"), "{name}: {counted}");
    }
}
