//! Light that goes out as images and comes back is drawn as before, and light that was painted over is not.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::client::{Client, differing};
use crate::maps;

fn bspkit(arguments: &[&str]) {
    let out = Command::new(env!("CARGO_BIN_EXE_bspkit")).arg("light").args(arguments).output().unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Paints over every image, upside down brightness.
fn paint(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "png") {
            continue;
        }
        let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        pixels.chunks_exact_mut(3).for_each(|pixel| pixel[0] = 255 - pixel[0]);
        let mut encoder = png::Encoder::new(std::fs::File::create(&path).unwrap(), info.width, info.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    }
}

#[test]
fn a_picture_shows_the_light_that_was_painted_and_nothing_else() {
    let Some(client) = Client::find() else { return };
    for name in ["q2/own_rooms", "goldsrc/own_rooms", "q3/own_rooms"] {
        let map = maps::fixture(name);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let draw =
            |map: &Path| client.picture(&std::fs::read(map).unwrap()).unwrap_or_else(|why| panic!("{name}: {why}"));
        let before = draw(&map);
        assert_eq!(differing(&before, &draw(&map)), 0, "{name}: no picture is like another, with no edit at all");
        // Laid anew, so that it is another file.
        bspkit(&["export", &map.display().to_string(), "-o", &path("light")]);
        bspkit(&["import", &map.display().to_string(), &path("light"), "-o", &path("same.bsp"), "--layout", "repack"]);
        assert_eq!(differing(&before, &draw(Path::new(&path("same.bsp")))), 0, "{name}: light out and in again");
        paint(Path::new(&path("light")));
        bspkit(&["import", &map.display().to_string(), &path("light"), "-o", &path("painted.bsp")]);
        let painted = differing(&before, &draw(Path::new(&path("painted.bsp"))));
        assert!(painted > 1000, "{name}: {painted} pixels differ");
    }
}
