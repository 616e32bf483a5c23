//! The page of `view` in a real browser: the map is shown, entities are found, and a click says what is there.

use std::path::{Path, PathBuf};
use std::process::Command;

use bspkit::content::visibility::VisSet;

use super::browser::Browser;
use super::pairs::HOSTILE;

/// Software draws the map where no graphics card is.
const DRAWN: [&str; 2] = ["--enable-unsafe-swiftshader", "--use-angle=swiftshader"];

/// The page with a script that runs as soon as the map is there.
fn driven(page: &str, script: &str) -> String {
    let script = format!(
        "<script>
        const ready = new MutationObserver(() => act());
        const act = () => {{
            if (document.body.dataset.state === 'loading') return;
            ready.disconnect();
            {script}
        }};
        ready.observe(document.body, {{ attributes: true }});
        act();
        </script></body>"
    );
    page.replacen("</body>", &script, 1)
}

/// It types into the search, and clicks into the middle of the map.
const DRIVER: &str = "
    const search = document.getElementById('search');
    search.value = 'info_player_start';
    search.dispatchEvent(new Event('input'));
    const view = document.getElementById('view');
    const box = view.getBoundingClientRect();
    const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, pointerId: 1, bubbles: true };
    view.dispatchEvent(new PointerEvent('pointerdown', at));
    view.dispatchEvent(new PointerEvent('pointerup', at));
";

/// What the page writes into the console. What the driver of the graphics card says is not the page's.
fn console(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains("CONSOLE") && !line.contains("GL Driver")).collect()
}

/// The document of a page with a map. The clock of the browser does not wait for images: on a busy machine its time may
/// be over before they are there, and then the page is opened again.
fn opened(browser: &Browser, page: &str) -> String {
    let open = || browser.run(page, &["--dump-dom", "--window-size=920,600", DRAWN[0], DRAWN[1]]);
    let is_there = |text: &String| !text.contains("data-state=\"loading\"");
    (0..6).map(|_| open()).find(is_there).expect("the map is loaded")
}

/// The page that the program makes of a map.
fn page_of(map: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("map.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
    assert!(command.args(["-q", "view"]).arg(map).arg("-o").arg(&out).status().unwrap().success());
    std::fs::read_to_string(out).unwrap()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/maps")).join(name).with_extension("bsp")
}

/// What the program writes of a map, with entities whose values are hostile.
fn page(name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let edited = folder.path().join("map.bsp");
    let mut draft = bspkit::Bsp::open(fixture(name)).unwrap().draft();
    let entities = draft.entities().unwrap();
    for hostile in HOSTILE {
        let hostile = hostile.replace(['"', '\0'], "'");
        entities.add([("classname", "light"), ("origin", "0 0 4000"), ("message", &hostile)]).unwrap();
    }
    std::fs::write(&edited, draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
    page_of(&edited)
}

#[test]
fn a_browser_shows_the_map_and_says_what_is_clicked() {
    let Some(browser) = Browser::find() else { return };
    for name in ["q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
        let text = opened(&browser, &driven(&page(name), DRIVER));
        assert_eq!(console(&text), [""; 0], "{name}");
        assert!(text.contains("data-state=\"ready\""), "{name}: {text:.2000}");
        assert!(text.contains("<dt>face</dt>") && text.contains("<dt>texture</dt>"), "{name}: nothing was clicked");
        assert!(text.contains("bspkit get"), "{name}");
        assert!(!text.contains("data-harm"), "{name}: a script of the map ran");
        let counted = text.split_once("id=\"count\">").unwrap().1.split_once('<').unwrap().0;
        assert!(counted.starts_with("1 of ") || name.starts_with("source"), "{name}: {counted}");
    }
}

/// What is in an element of the page that ended.
fn said<'t>(text: &'t str, id: &str) -> &'t str {
    text.split_once(&format!("id=\"{id}\"")).unwrap().1.split_once('>').unwrap().1.split_once('<').unwrap().0
}

/// All layers that are made when they are wanted, the density of textures, and classes.
const LAYERS: &str = "
    for (const layer of ['clip', 'leafs', 'portals', 'triggers', 'tool']) {
        document.querySelector(`#layers input[name=${layer}]`)?.click();
    }
    document.getElementById('dense').click();
    document.querySelector('#classes input[name=light]')?.click();
";

#[test]
fn a_browser_shows_leafs_portals_and_brushes_that_only_stop_somebody() {
    let Some(browser) = Browser::find() else { return };
    // Two rooms with a door between them, of 2 to 12 leafs each, have so many places where leafs touch.
    for (name, portals, density) in [("q1/own_rooms", 13..60, true), ("q3/own_rooms", 6..60, false)] {
        let text = opened(&browser, &driven(&page_of(&fixture(name)), LAYERS));
        assert_eq!(console(&text), [""; 0], "{name}");
        let found = said(&text, "portals").strip_suffix(" portals").and_then(|number| number.parse().ok());
        assert!(found.is_some_and(|found| portals.contains(&found)), "{name}: {}", said(&text, "portals"));
        assert_eq!(said(&text, "density").contains("texels on a unit"), density, "{name}: {}", said(&text, "density"));
        assert!(text.contains("name=\"leafs\"") && text.contains("name=\"portals\""), "{name}");
    }
}

/// The size of the pictures of the map: both sides.
const SIDE: usize = 150;

/// Saves a picture, which goes into the document: as a file, and as brightness.
const PICTURE: &str = "
    HTMLAnchorElement.prototype.click = function () {
        const small = document.createElement('canvas').getContext('2d');
        small.canvas.width = small.canvas.height = SIDE;
        const view = document.getElementById('view');
        small.drawImage(view, 0, 0, SIDE, SIDE);
        document.body.dataset.aspect = view.width / view.height;
        const { data } = small.getImageData(0, 0, SIDE, SIDE);
        const gray = [];
        for (let at = 0; at < data.length; at += 4) gray.push(data[at] + data[at + 1] + data[at + 2]);
        document.body.dataset.gray = gray.join(' ');
        document.body.dataset.picture = this.href;
        document.body.dataset.name = this.download;
    };
    document.getElementById('picture').click();
";

/// What a page draws.
struct Drawn {
    /// The file.
    file: String,
    /// The brightness, row by row.
    gray: Vec<Vec<f64>>,
    /// How wide it is for its height.
    aspect: f64,
}

/// What a page draws after a script.
fn drawn(browser: &Browser, page: &str, script: &str) -> Drawn {
    let script = format!("{script}{}", PICTURE.replace("SIDE", &SIDE.to_string()));
    // The map is beside the controls, which have 320 columns.
    let text = opened(browser, &driven(page, &script));
    assert_eq!(console(&text), [""; 0]);
    let part = |name: &str| text.split_once(&format!("data-{name}=\"")).unwrap().1.split_once('"').unwrap().0;
    assert!(part("name").ends_with(".png") && part("picture").starts_with("data:image/png"), "{}", part("name"));
    let gray: Vec<f64> = part("gray").split(' ').map(|number| number.parse().unwrap()).collect();
    assert!(gray.iter().any(|pixel| *pixel != gray[0]), "nothing is drawn");
    Drawn {
        file: part("picture").to_owned(),
        gray: gray.chunks_exact(SIDE).map(<[f64]>::to_vec).collect(),
        aspect: part("aspect").parse().unwrap(),
    }
}

/// What is visible from a place is all that one sees there: with the other faces left out the picture is the same. With
/// rows in which nothing is visible it is not.
#[test]
fn a_browser_shows_the_same_with_only_what_is_visible() {
    let Some(browser) = Browser::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    for name in ["q1/own_rooms", "q2/own_rooms", "q3/own_rooms", "goldsrc/own_rooms"] {
        let shown = |page: &str, script: &str| drawn(&browser, page, script).file;
        let pvs = "document.getElementById('pvs').click();";
        let page = page_of(&fixture(name));
        let all = shown(&page, "");
        assert!(all == shown(&page, pvs), "{name}: something is missing");
        // One map is enough to see that the test can fail.
        if !name.starts_with("q1") {
            continue;
        }
        let mut draft = bspkit::Bsp::open(fixture(name)).unwrap().draft();
        let visibility = draft.visibility().unwrap();
        let (count, nothing) = (visibility.len(), visibility.plain(false));
        for place in 0..count {
            if visibility.row(VisSet::Pvs, place).unwrap().is_some() {
                visibility.set_row(VisSet::Pvs, place, nothing.clone()).unwrap();
            }
        }
        let blind = folder.path().join("blind.bsp");
        std::fs::write(&blind, draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
        let page = page_of(&blind);
        assert!(all != shown(&page, pvs), "{name}: the fault is not seen");
    }
}

/// The brightness of a picture, row by row.
fn image(file: &Path) -> Vec<Vec<f64>> {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file).unwrap())).read_info().unwrap();
    let columns = usize::try_from(reader.info().width).unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let gray = |pixel: &[u8]| pixel.iter().map(|part| f64::from(*part)).sum::<f64>();
    pixels.chunks_exact(3 * columns).map(|row| row.chunks_exact(3).map(gray).collect()).collect()
}

/// How alike the page and a picture are, whatever their brightness and contrast: 1 for the same. The
/// page sees 75 degrees, the picture 90.
fn alike(page: &Drawn, picture: &[Vec<f64>]) -> f64 {
    let high = 37.5_f64.to_radians().tan();
    // Where in the picture a part of the page is, from -1 to 1.
    let place = |off: f64, len: usize| (off.abs() < 1.0).then(|| ((off + 1.0) / 2.0 * len as f64) as usize);
    let off = |at: usize, share: f64| (2.0 * (at as f64 + 0.5) / SIDE as f64 - 1.0) * share;
    let mut pairs = Vec::new();
    for (y, row) in page.gray.iter().enumerate() {
        for (x, pixel) in row.iter().enumerate() {
            let Some(own) = place(off(y, high), picture.len()).map(|y| &picture[y]) else { continue };
            pairs.extend(place(off(x, high * page.aspect), own.len()).map(|x| (*pixel, own[x])));
        }
    }
    let count = pairs.len() as f64;
    let (one, other) =
        pairs.iter().fold((0.0, 0.0), |(one, other), pair| (one + pair.0 / count, other + pair.1 / count));
    let sums = pairs
        .iter()
        .map(|pair| (pair.0 - one, pair.1 - other))
        .fold([0.0; 3], |sums, (one, other)| [sums[0] + one * other, sums[1] + one * one, sums[2] + other * other]);
    sums[0] / (sums[1] * sums[2]).sqrt()
}

/// The page and `view --png` draw with no code in common: from the same place they show the same.
#[test]
fn a_browser_shows_what_the_picture_of_the_program_shows() {
    let Some(browser) = Browser::find() else { return };
    let rows = 300;
    let folder = tempfile::tempdir().unwrap();
    for name in ["q1/own_rooms", "q2/own_rooms", "q3/own_rooms", "goldsrc/own_rooms", "source/room_v20"] {
        let entities = bspkit::Bsp::open(fixture(name)).unwrap().entities().unwrap().to_owned();
        let start = entities.iter().find(|entity| entity.class() == Some(&b"info_player_start"[..])).unwrap();
        let origin = String::from_utf8_lossy(start.get("origin").unwrap()).replace(' ', ",");
        // Boxes of entities and props are on the page alone.
        let script = format!(
            "location.hash = '{origin},30,10';
            dispatchEvent(new Event('hashchange'));
            for (const name of ['entities', 'props']) document.querySelector(`#layers [name=${{name}}]`)?.click();"
        );
        let page = drawn(&browser, &page_of(&fixture(name)), &script);
        let likeness = |turned: f64| {
            let file = folder.path().join("map.png");
            let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
            command.args(["-q", "view", "--overwrite", "--png", &format!("{rows}x{rows}"), "-o"]).arg(&file);
            command.arg(format!("--from={origin},{},10", 30.0 + turned)).arg(fixture(name));
            assert!(command.status().unwrap().success());
            alike(&page, &image(&file))
        };
        let (same, others) = (likeness(0.0), [8.0, 180.0].map(likeness));
        println!("{name}: {same}, turned {others:?}");
        assert!(same > 0.9 && others.iter().all(|other| *other < same - 0.05), "{name}: {same}, turned {others:?}");
    }
}

/// An address that is no place, what is held before it is wanted, a name that a shell takes apart.
#[test]
fn a_browser_takes_what_people_do() {
    const ACTS: &str = "
        const click = (selector) => document.querySelector(selector).click();
        const said = {};
        location.hash = '#100%';
        dispatchEvent(new Event('hashchange'));
        click('#hold');
        click('#pvs');
        said.held = document.getElementById('seen').textContent;
        click('#found button:nth-child(2)');
        said.command = document.querySelector('#info').textContent;
        document.body.dataset.said = JSON.stringify(said);
    ";
    let Some(browser) = Browser::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("it's $(here).bsp");
    std::fs::copy(fixture("q2/own_rooms"), &map).unwrap();
    let text = opened(&browser, &driven(&page_of(&map), ACTS));
    assert_eq!(console(&text), [""; 0]);
    assert!(text.contains("data-state=\"ready\""));
    let said = text.split_once("data-said=\"").unwrap().1.split_once('"').unwrap().0.replace("&quot;", "\"");
    let said: serde_json::Value = serde_json::from_str(&said.replace("&amp;", "&")).unwrap();
    assert!(said["held"].as_str().unwrap().contains(" sees "), "{said}");
    assert!(said["command"].as_str().unwrap().contains("it'\\''s $(here).bsp' '#"), "{said}");
}
