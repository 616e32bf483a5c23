//! What is exported, looked at by code that shares nothing with it: a reader of glTF and a walk over the bytes of maps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../../tests/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
mod damage;
mod drawing;
mod faces;
mod glb;
mod light;
mod nodes;
mod raw;
mod real;
mod spaces;

use std::path::PathBuf;

use bspkit::Bsp;
use bspkit_see::{Format, Options, Scene, export};

/// The maps of the project whose faces the walk can read.
const FIXTURES: [&str; 14] = [
    "q1/own_rooms",
    "q1/own_box",
    "q1/own_rooms_bspx",
    "bsp2/own_rooms",
    "bsp2/own_box",
    "goldsrc/own_rooms",
    "goldsrc/own_box",
    "goldsrc/own_rooms_sdhlt",
    "q2/own_rooms",
    "q2/own_box",
    "qbism/own_rooms_qbism",
    "q3/own_rooms",
    "q3/own_box",
    "source/room_v20",
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps").join(name).with_extension("bsp")
}

/// A map as a binary glTF, by the names of its options.
fn exported(map: &Bsp<'_>, options: &Options<'_>) -> Vec<u8> {
    let scene = Scene::read(map, options).unwrap();
    assert!(scene.findings.is_empty(), "{:?}", scene.findings);
    export(&scene, Format::Glb, "map.glb").unwrap().remove(0).bytes
}
