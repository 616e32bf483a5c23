//! Changes the message that players read while a map loads, and no other byte.
//!
//! ```sh
//! cargo run --example rename_message -- maps/dm4.bsp renamed.bsp "The Place"
//! ```
//!
//! Without arguments it takes a map that comes with the project and saves to the folder for temporary files.

use std::error::Error;
use std::path::PathBuf;

use bspkit::{Bsp, Layout};

const OWN_MAP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maps/q3/own_rooms.bsp");

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let from = arguments.next().map_or(PathBuf::from(OWN_MAP), PathBuf::from);
    let to = arguments.next().map_or(std::env::temp_dir().join("bspkit_renamed.bsp"), PathBuf::from);
    let message = arguments.next().unwrap_or("The Place".to_owned());

    let map = Bsp::open(from)?;
    let mut draft = map.draft();
    draft.entities()?.first_class("worldspawn")?.set("message", message)?;

    let plan = draft.plan(Layout::Keep)?;
    println!("{}", plan.report());
    plan.save(&to)?;
    println!("saved to {}", to.display());
    Ok(())
}
