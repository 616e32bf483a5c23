//! Replaces or adds an embedded file in a Source map. All other embedded files keep their bytes.
//!
//! ```sh
//! cargo run --example repack_pak -- maps/ctf_dm4.bsp repacked.bsp materials/my/wall.vmt wall.vmt
//! ```
//!
//! Without arguments it adds a text file to a map that comes with the project and saves to the folder for temporary
//! files. The pakfile is not copied in memory: its parts are written directly from the old map.

use std::error::Error;
use std::path::PathBuf;

use bspkit::{Bsp, Layout};

const OWN_MAP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maps/source/room_v20.bsp");

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let from = arguments.next().map_or(PathBuf::from(OWN_MAP), PathBuf::from);
    let to = arguments.next().map_or(std::env::temp_dir().join("bspkit_repacked.bsp"), PathBuf::from);
    let name = arguments.next().unwrap_or("maps/about.txt".to_owned());
    let bytes = arguments.next().map_or(Ok(b"Repacked by bspkit.\n".to_vec()), std::fs::read)?;

    let map = Bsp::open(from)?;
    let mut draft = map.draft();
    draft.pak()?.add(&name, bytes)?;

    let plan = draft.plan(Layout::Keep)?;
    println!("{}", plan.report());
    plan.save(&to)?;
    for file in Bsp::open(&to)?.pak()?.iter() {
        println!("{:>8}  {}", file.size(), bspkit::bytes::escaped(file.name()));
    }
    println!("saved to {}", to.display());
    Ok(())
}
