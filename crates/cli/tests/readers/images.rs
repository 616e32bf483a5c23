//! Pillow and imageio read the images of an export as what they are, and what they write again is the same light.

use std::path::{Path, PathBuf};
use std::process::Command;

use bspkit::Bsp;
use bspkit::content::lightmap::{Light, Luxel};

use crate::{maps, missing, run};

fn python() -> Option<PathBuf> {
    let python = std::env::var_os("BSPKIT_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let has_them = Command::new(&python).args(["-c", "import PIL, imageio, cv2"]).output();
    if !has_them.is_ok_and(|output| output.status.success()) {
        return missing("Pillow or imageio", &format!("{} has not all of PIL, imageio and cv2", python.display()));
    }
    Some(python)
}

fn bspkit(arguments: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_bspkit")).args(arguments).output().unwrap();
    let words = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{arguments:?}: {words}");
    words
}

/// What is to be read in the pages of a set: the sum of all luxels, as shown or as light of which 256 count for one.
fn sums(light: &Light<'_>, name: &str) -> (f64, f64) {
    let (mut shown, mut bright) = (0.0, 0.0);
    for image in light.images().filter(|image| light.sets()[image.set].name() == name) {
        let [wide, high] = light.block(image).unwrap().size();
        for at in (0..wide * high).map(|at| [at % wide, at / wide]) {
            let luxel = light.luxel(image, at).unwrap();
            shown += luxel.shown().into_iter().map(f64::from).sum::<f64>();
            if let Luxel::Rgbe(color, exponent) = luxel {
                bright += color.into_iter().map(f64::from).sum::<f64>() * f64::from(exponent).exp2() / 256.0;
            }
        }
    }
    (shown, bright)
}

#[test]
fn others_read_the_images_and_write_them_again() {
    let Some(python) = python() else { return };
    for name in ["q2/own_rooms", "goldsrc/own_rooms", "q3/own_rooms", "source/room_v19", "source/room_v20"] {
        let map = maps::fixture(name);
        let folder = tempfile::tempdir().unwrap();
        let (path, out) = (map.display().to_string(), folder.path().join("out.bsp").display().to_string());
        let images = folder.path().join("light");
        let light = Bsp::open(&map).unwrap().light().unwrap();
        for by in ["page", "face"] {
            bspkit(&["light", "export", &path, "-o", &images.display().to_string(), "--by", by, "--overwrite"]);
            let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/readers/images.py");
            let words = ["-B".to_owned(), script.display().to_string(), images.display().to_string()];
            let ended = run::run(&python, &words, folder.path());
            assert_eq!(ended.how, Ok(0), "{name}: {}", ended.text);
            for set in light.sets() {
                let wanted = sums(&light, set.name());
                let of = |extension: &str| -> f64 {
                    let lines = ended.text.lines().filter_map(|line| line.strip_prefix("IMAGE "));
                    let start = if set.name().is_empty() { String::new() } else { format!("{}/", set.name()) };
                    let kind = if by == "face" && !set.is_pages() { "faces/" } else { "page_" };
                    let own = lines.map(|line| line.split(' ').collect::<Vec<_>>()).filter(|words| {
                        words[0].starts_with(&format!("{start}{kind}")) && words[0].ends_with(extension)
                    });
                    own.map(|words| words.last().unwrap().parse::<f64>().unwrap()).sum()
                };
                assert_eq!(of(".png"), wanted.0, "{name} by {by}: {}", ended.text);
                assert!((of(".hdr") - wanted.1).abs() <= 1e-6 * wanted.1, "{name} by {by}: {}, {wanted:?}", of(".hdr"));
            }
            let said = bspkit(&["light", "import", &path, &images.display().to_string(), "-o", &out]);
            assert!(said.contains(": nothing changes"), "{name} by {by}: {said}");
            assert!(std::fs::read(&map).unwrap() == std::fs::read(&out).unwrap(), "{name} by {by}");
            std::fs::remove_dir_all(&images).unwrap();
        }
    }
}
