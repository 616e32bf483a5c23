//! Light of faces: where it stands on real maps, what an edit changes, and what is said where it cannot be read.

mod built;
mod copies;
mod faults;
mod laws;
mod scaled;

use crate::corpus;
use std::path::Path;

use bspkit::Bsp;

fn fixture(name: &str) -> Bsp<'static> {
    Bsp::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps").join(name).with_extension("bsp")).unwrap()
}

/// The fixtures and the corpus: every map whose light can be read.
fn lit_maps() -> Vec<(String, Bsp<'static>)> {
    let own = corpus::under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps"));
    let maps = own.into_iter().chain(corpus::maps());
    let open = |path: std::path::PathBuf| Some((path.display().to_string(), Bsp::open(&path).ok()?));
    maps.filter_map(open).filter(|(_, map)| map.light().is_ok_and(|light| !light.sets().is_empty())).collect()
}
