//! Scripts: what they can do, what they cannot, and that the reference lists all of it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "script/arithmetic.rs"]
mod arithmetic;
#[path = "script/bounds.rs"]
mod bounds;
#[path = "script/content.rs"]
mod content;
#[path = "script/entities.rs"]
mod entities;
#[path = "script/examples.rs"]
mod examples;
#[path = "script/files.rs"]
mod files;
#[path = "script/order.rs"]
mod order;
#[path = "script/reference.rs"]
mod reference;

use std::path::Path;

use bspkit::{Bsp, Draft};
use bspkit_script::{Said, Script, Settings};

fn fixture(name: &str) -> Bsp<'static> {
    Bsp::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps").join(name)).unwrap()
}

/// Runs a script on a fixture.
fn run_on(map: &str, text: &str) -> (Draft<'static>, bspkit::Result<Said>) {
    let mut draft = fixture(map).draft();
    let said = Script::compile("test.rhai", text).and_then(|script| script.run(&mut draft, &Settings::default()));
    (draft, said)
}

/// Runs it on the Quake III fixture, and returns its reports.
fn reports(text: &str) -> Vec<String> {
    let (_, said) = run_on("q3/own_rooms.bsp", text);
    said.unwrap_or_else(|error| panic!("{text}: {error:?}")).reports.into_iter().map(|report| report.text).collect()
}

/// Runs it on the Quake III fixture, where it fails without an edit.
fn error(text: &str) -> String {
    let (draft, said) = run_on("q3/own_rooms.bsp", text);
    assert!(draft.changes().unwrap().is_empty(), "{text}");
    said.expect_err(text).to_string()
}

/// The entity text after a script.
fn text_after(text: &str) -> String {
    let (mut draft, said) = run_on("q3/own_rooms.bsp", text);
    said.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    String::from_utf8(draft.entities().unwrap().to_bytes().to_vec()).unwrap()
}
