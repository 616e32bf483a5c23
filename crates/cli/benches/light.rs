//! The speed of exporting and importing light, compared with a copy of the same bytes: `cargo bench --bench light`.
//!
//! The maps are those in `BSPKIT_CORPUS` (by default `tests/corpus`), or the fixtures if there are none: for each
//! format of luxels the map with the most light.

#[path = "../../../benches/core/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../../../benches/core/maps.rs"]
#[allow(dead_code)]
mod maps;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use bspkit::Bsp;
use bspkit::content::lightmap::{Adjustment, Light};

use harness::{Group, Outcome, Work, in_bytes};
use maps::Map;

fn main() -> Outcome {
    let turns = if std::env::args().any(|argument| argument == "--bench") {
        21
    } else {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
        1
    };
    let mut largest: BTreeMap<String, (usize, Map)> = BTreeMap::new();
    for map in maps::at_hand()?.into_iter().filter(|map| !map.is_damaged) {
        let Ok(light) = Bsp::open_mapped(&map.path, None).and_then(|bsp| bsp.light()) else { continue };
        let Some(set) = light.sets().first() else { continue };
        let kind = format!("{:?}{}", set.form(), if set.is_pages() { ", pages" } else { "" });
        let (bytes, lumps) = (bytes(&light), light.sets().len());
        if lumps > 0 && largest.get(&kind).is_none_or(|(most, _)| *most < bytes) {
            largest.insert(kind, (bytes, map));
        }
    }
    largest.values().try_for_each(|(bytes, map)| measure(map, *bytes, turns))
}

/// Bytes of all luxels.
fn bytes(light: &Light<'_>) -> usize {
    light.images().filter_map(|image| Some(light.bytes(image)?.len())).sum()
}

fn measure(map: &Map, bytes: usize, turns: usize) -> Outcome {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (images, out) = (folder.path().join("light"), folder.path().join("out.bsp").display().to_string());
    let bsp = Bsp::open_mapped(&map.path, None)?;
    let light = bsp.light()?;
    let program = |verb: &str, more: &[&str]| -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
        let done = command
            .args(["-q", "light", verb])
            .arg(&map.path)
            .args((verb == "export").then_some("-o"))
            .arg(&images as &Path)
            .args(more)
            .status()?;
        if done.success() { Ok(()) } else { Err(format!("{verb} fails").into()) }
    };
    program("export", &[])?;
    let (work, source) = (Work::Bytes(bytes), vec![7_u8; bytes]);
    let mut group = Group::new(format!("{} of light in {}", in_bytes(bytes), map.name()));
    let copy = group.reference("memcpy", work, || Ok(black_box(&source).to_vec()));
    group.row("`Bsp::light`", work, copy, || Ok(bsp.light()?));
    group.row("every image read", work, copy, || {
        let mut all = Vec::with_capacity(bytes);
        light.images().filter_map(|image| light.bytes(image)).for_each(|luxels| all.extend_from_slice(luxels));
        Ok(all)
    });
    group.row("every luxel compared", work, copy, || {
        let mut light = Light::clone(&light);
        let images: Vec<_> = light.images().collect();
        let changed: bspkit::Result<usize> =
            images.into_iter().map(|image| light.update(image, |_, old| black_box(old))).sum();
        Ok(changed?)
    });
    group.row("every luxel adjusted", work, copy, || {
        let mut light = Light::clone(&light);
        Ok(light.adjust(&Adjustment { gain: 0.9, ..Adjustment::default() }, |_, _, _| true)?)
    });
    group.row("`bspkit light export`", work, copy, || program("export", &["--overwrite"]));
    group.row("`bspkit light import`", work, copy, || program("import", &["-o", &out]));
    group.measure(turns)?;
    Ok(())
}
