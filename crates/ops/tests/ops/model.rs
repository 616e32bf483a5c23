//! Brush models that are listed, removed and copied from other maps.

mod copy;
mod left;
mod loose;
mod plain;
mod planes;
mod remove;

use crate::{facts, maps, walk};
use std::path::Path;

use bspkit::{Bsp, Draft};
use bspkit_ops::check;
use bspkit_ops::models::{Copying, Removal};

/// Errors that the map did not have before.
fn new_errors(draft: &Draft<'_>) -> Vec<bspkit::finding::Finding> {
    let found = check::introduced(draft, &check::Options::default()).unwrap();
    found.into_iter().filter(|found| found.is_error()).collect()
}

/// Faces without faces of their own for HDR have their light in the lump of that: it follows there, and where both lumps
/// are theirs, none of them is cut.
#[test]
fn light_follows_faces_in_maps_with_one_list_of_faces() {
    let luxels = |map: &Bsp<'_>| {
        let light = map.light().unwrap();
        let bytes = |image| light.bytes(image).unwrap().to_vec();
        light.images().map(|image| (light.sets()[image.set].lump(), bytes(image))).collect::<Vec<_>>()
    };
    let saved = |draft: &Draft<'_>, base: &Bsp<'_>| {
        let plan = draft.plan(bspkit::Layout::Keep).unwrap().to_vec();
        Bsp::from_data(plan.into(), Some(base.dialect())).unwrap()
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps/source");
    let hdr = Bsp::open(folder.join("room_v21.bsp")).unwrap();
    let mut draft = hdr.draft();
    Copying::default().run(&mut draft, &hdr, &[1]).unwrap();
    let both = saved(&draft, &hdr);
    let mut draft = both.draft();
    let removed = Removal::default().run(&mut draft, &[1]).unwrap();
    assert!(removed.light > 0);
    let last = saved(&draft, &both);
    // The copy has the light of the model that is gone.
    assert_eq!(luxels(&last), luxels(&hdr));

    let mut draft = Bsp::open(folder.join("room_v20.bsp")).unwrap().draft();
    let light = draft.bytes(draft.bsp().slot("LIGHTING").unwrap().id).unwrap();
    for (lump, bytes) in [("FACES_HDR", Vec::new()), ("LIGHTING_HDR", light.to_vec())] {
        let slot = draft.bsp().slot(lump).unwrap().id;
        draft.set(slot, bytes).unwrap();
    }
    let shared = saved(&draft, draft.bsp());
    let mut draft = shared.draft();
    let removed = Removal::default().run(&mut draft, &[1]).unwrap();
    assert_eq!(removed.light, 0);
    let (before, after) = (luxels(&shared), luxels(&saved(&draft, &shared)));
    assert!(after.len() < before.len() && after.iter().all(|image| before.contains(image)));
    let sets = |images: &[(&str, Vec<u8>)]| images.iter().filter(|(lump, _)| *lump == "LIGHTING_HDR").count();
    assert_eq!(sets(&after) * 2, after.len());
}
