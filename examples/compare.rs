//! Lists what differs between two versions of a map: entities, records by their fields, embedded files, light.
//!
//! ```sh
//! cargo run --example compare -- tests/maps/q2/own_rooms.bsp other.bsp
//! ```

use std::error::Error;

use bspkit::Bsp;
use bspkit_ops::compare;

/// The changes of each lump that are listed.
const MOST: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(old), Some(new)) = (arguments.next(), arguments.next()) else {
        return Err("usage: compare OLD NEW".into());
    };
    let found = compare::maps(&Bsp::open(old)?, &Bsp::open(new)?, MOST)?;
    for lump in &found.lumps {
        println!("{}: {} -> {} bytes", lump.lump, lump.sizes.0, lump.sizes.1);
        lump.lines().for_each(|line| println!("  {line}"));
    }
    Ok(())
}
