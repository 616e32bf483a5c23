//! Opens a map and prints its dialect, its slots, and its entities by class.
//!
//! ```sh
//! cargo run --example hello -- maps/dm4.bsp
//! ```
//!
//! Without a map it opens one that comes with the project.

use std::collections::BTreeMap;
use std::error::Error;

use bspkit::Bsp;
use bspkit::bytes::escaped;

const OWN_MAP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maps/q3/own_rooms.bsp");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).unwrap_or(OWN_MAP.into());
    let map = Bsp::open(path)?;
    println!("{}, version {}", map.dialect().title, map.version());

    println!("\n    offset      bytes  slot");
    for slot in map.slots() {
        println!("{:>10} {:>10}  {}", slot.offset, slot.length, slot.name);
    }

    let entities = map.entities()?;
    let mut classes = BTreeMap::new();
    for entity in entities.iter() {
        *classes.entry(entity.class().unwrap_or(b"(no class)")).or_insert(0) += 1;
    }
    println!("\n{} entities", entities.len());
    for (class, count) in classes {
        println!("{count:>10}  {}", escaped(class));
    }
    Ok(())
}
