//! A real browser opens the page: Chromium, which `BSPKIT_CHROMIUM` names or which is in PATH. Without one the test is
//! skipped with a notice; `BSPKIT_REQUIRE_CHROMIUM=1` makes that a failure.

use std::collections::HashSet;
use std::path::PathBuf;

use tempfile::TempDir;

use super::pairs::{self, edited, fixture, page};
use super::run;

/// What the test does on the page, as a user would, and what it sees. It is not part of the page.
const DRIVER: &str = include_str!("driver.js");

pub(super) struct Browser {
    program: PathBuf,
    folder: TempDir,
}

impl Browser {
    pub(super) fn find() -> Option<Self> {
        let named = std::env::var_os("BSPKIT_CHROMIUM").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
        let known = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
        let program = named.or_else(|| known.into_iter().find(|program| program.is_file()));
        if program.is_none() {
            let notice = "no Chromium is installed (BSPKIT_CHROMIUM): the page is not opened in a browser";
            assert!(std::env::var_os("BSPKIT_REQUIRE_CHROMIUM").is_none_or(|value| value != "1"), "{notice}");
            eprintln!("notice: {notice}");
        }
        program.map(|program| Browser { program, folder: tempfile::tempdir().unwrap() })
    }

    /// Opens a page, and returns the document after its scripts ran. Nothing is written to the console.
    fn document(&self, page: &str) -> String {
        let text = self.run(page, &["--dump-dom"]);
        assert!(!text.contains("CONSOLE"), "the console has: {text:.2000}");
        text
    }

    /// The document of a frame that is 390 pixels wide and has the page: browsers have no windows as narrow as that.
    fn narrow(&self, page: &str) -> String {
        std::fs::write(self.folder.path().join("inner.html"), page).unwrap();
        self.document(
            "<!DOCTYPE html><body><script>addEventListener('message', (event) => {
               document.documentElement.dataset.said = event.data;
             });</script><iframe src=\"inner.html\" style=\"width: 390px; height: 800px; border: 0\"></iframe></body>",
        )
    }

    /// The pixels of a page as the browser paints it, in a window of this size.
    pub(super) fn pixels(&self, page: &str, [columns, rows]: [usize; 2], more: &[&str]) -> Vec<u8> {
        let file = self.folder.path().join("screen.png");
        let window = [format!("--window-size={columns},{rows}"), format!("--screenshot={}", file.display())];
        let arguments: Vec<&str> = ["--hide-scrollbars"]
            .into_iter()
            .chain(window.iter().map(String::as_str))
            .chain(more.iter().copied())
            .collect();
        self.run(page, &arguments);
        let mut reader =
            png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file).unwrap())).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    }

    pub(super) fn run(&self, page: &str, arguments: &[&str]) -> String {
        let folder = self.folder.path();
        std::fs::write(folder.join("page.html"), page).unwrap();
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        let address = format!("file://{}", folder.join("page.html").display());
        let common = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--enable-logging=stderr",
            "--virtual-time-budget=5000",
            "--force-prefers-reduced-motion",
            &profile,
        ];
        let arguments: Vec<String> =
            common.iter().chain(arguments).chain([&address.as_str()]).map(|argument| (*argument).to_owned()).collect();
        let ended = run::run(&self.program, &arguments, folder);
        assert_eq!(ended.how, Ok(0), "{}", ended.text);
        ended.text
    }
}

/// The page with another script at its end, which has the nonce of the page or not.
fn with_script(page: &str, script: &str, has_nonce: bool) -> String {
    let nonce = page.split_once("style-src 'nonce-").unwrap().1.split_once('\'').unwrap().0;
    let nonce = if has_nonce { format!(" nonce=\"{nonce}\"") } else { String::new() };
    page.replacen("</body>", &format!("<script{nonce}>\n{script}</script>\n</body>"), 1)
}

/// A page with something of everything that the script works on.
fn planted() -> String {
    let old = fixture("goldsrc/own_rooms");
    let new = edited(&old, |draft| {
        let entities = draft.entities().unwrap();
        entities.get_mut(0).unwrap().set("message", "a planted message").unwrap();
        for (at, hostile) in pairs::HOSTILE.iter().cycle().take(12).enumerate() {
            let hostile = hostile.replace(['"', '\0'], "'");
            let origin = format!("{} 50 0", at * 40);
            entities.add([("classname", "light"), ("origin", &origin), ("message", &hostile)]).unwrap();
        }
        let mut image = draft.textures().unwrap().get(1).unwrap().unwrap().image().unwrap();
        image.pixels.iter_mut().for_each(|pixel| *pixel = pixel.wrapping_add(90));
        draft.textures().unwrap().set_image(1, &image, None).unwrap();
        draft.light().unwrap().adjust(&pairs::BRIGHTER, |_, block, _| block.index() < 20).unwrap();
    });
    page(&old, &new)
}

#[test]
fn a_browser_shows_the_page_and_its_tools_work() {
    let Some(browser) = Browser::find() else { return };
    let page = planted();
    let document = browser.document(&page);
    assert!(document.contains("data-ready=\"yes\""), "the script did not run: {document:.2000}");
    assert!(document.contains("a planted message") && !document.contains("data-harm"), "{document:.2000}");

    let document = browser.document(&with_script(&page, DRIVER, true));
    let seen = document.split_once("data-seen=\"").expect("what the driver saw").1.split_once('"').unwrap().0;
    assert_eq!(seen.replace("&quot;", "'"), "ok", "the tools do not work");
}

#[test]
fn a_browser_paints_what_differs() {
    let Some(browser) = Browser::find() else { return };
    let page = planted();
    let colors = |pixels: &[u8]| pixels.chunks_exact(4).map(<[u8]>::to_vec).collect::<HashSet<_>>().len();
    let plain = browser.pixels(&page, [1000, 3000], &[]);
    assert!(colors(&plain) > 100, "{} colors", colors(&plain));
    let slid = |part: u32| {
        let script = format!(
            "document.querySelectorAll('section').forEach(section => section.hidden = section.id !== 'light');
             document.querySelector('#light [data-mode=slider]').click();
             const range = document.querySelector('#light input'); range.value = {part};
             range.dispatchEvent(new Event('input'));
             range.style.visibility = 'hidden';"
        );
        browser.pixels(&with_script(&page, &script, true), [1000, 3000], &[])
    };
    let [before, half, after] = [100, 50, 0].map(slid);
    let differing = |one: &[u8], other: &[u8]| one.iter().zip(other).filter(|(one, other)| one != other).count();
    let (all, part) = (differing(&before, &after), differing(&half, &after));
    assert!(part > 1000 && all > part + 1000, "{all} and {part} bytes of pixels differ");
}

/// On a screen of 390 pixels nothing is wider than it, and no text covers another one.
#[test]
fn a_browser_shows_the_page_on_a_narrow_screen() {
    let Some(browser) = Browser::find() else { return };
    let old = fixture("goldsrc/own_rooms");
    let much = edited(&old, |draft| {
        let entities = draft.entities().unwrap();
        entities.get_mut(0).unwrap().set("wad", "/a/very/long/path/of/a/texture/file.wad;".repeat(6)).unwrap();
        entities.get_mut(3).unwrap().set("a_key_with_a_name_that_is_longer_than_most_names_of_keys", "1").unwrap();
        draft.update(bspkit::dialect::goldsrc::PLANES, 3, |plane| plane.distance = -123_456.79).unwrap();
        draft.light().unwrap().adjust(&pairs::BRIGHTER, |_, block, _| block.index() < 20).unwrap();
    });
    for page in [planted(), page(&old, &much)] {
        let document = browser.narrow(&with_script(&page, NARROW, true));
        let seen = document.split_once("data-said=\"").expect("what the page said").1.split_once('"').unwrap().0;
        // The width of the view, that of the page beside its scroll bar, and what is wider.
        let (width, wider) = seen.strip_prefix("390 ").and_then(|rest| rest.split_once(' ')).unwrap();
        assert!(width.parse::<usize>().unwrap() <= 390 && wider.is_empty(), "{seen}");
    }
}

/// What is wider than the view, and cells of tables whose text is wider than they are.
const NARROW: &str = "addEventListener('load', () => {
  const wide = [...document.querySelectorAll('body *')].filter((one) => {
    const box = one.getBoundingClientRect();
    const isCell = one.matches('td, th') && one.scrollWidth > one.clientWidth + 1;
    return box.width > 0 && (box.right > innerWidth + 0.5 || isCell) && !one.closest('svg, .views');
  });
  const names = wide.slice(0, 3).map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 30)}`);
  parent.postMessage(`${innerWidth} ${document.documentElement.scrollWidth} ${names.join('; ')}`, '*');
});";

/// The content security policy holds if markup of a map ever gets through.
#[test]
fn a_browser_runs_no_other_script() {
    let Some(browser) = Browser::find() else { return };
    let harm = "document.documentElement.dataset.harm = 'yes';";
    let text = browser.run(&with_script(&planted(), harm, false), &["--dump-dom"]);
    assert!(text.contains("data-ready=\"yes\"") && !text.contains("data-harm"), "{text:.2000}");
    assert!(text.contains("Content Security Policy"), "the browser names the policy: {text:.2000}");
    let allowed = browser.document(&with_script(&planted(), harm, true));
    assert!(allowed.contains("data-harm=\"yes\""), "the test would not see a script that runs");
}

#[test]
fn an_error_on_the_console_would_be_seen() {
    let Some(browser) = Browser::find() else { return };
    let text = browser.run(&with_script(&planted(), "missing();", true), &["--dump-dom"]);
    assert!(text.contains("CONSOLE") && text.contains("missing is not defined"), "{text:.2000}");
}
