//! Removes every entity that one of several selectors matches, for example all lights, or all entities of a game mode.
//!
//! ```sh
//! cargo run --example strip_entities -- maps/dm4.bsp stripped.bsp 'light*' 'item_*[spawnflags=2048]'
//! ```
//!
//! A selector is a class, with `*` and `?` as wildcards, and tests of keys. Without arguments the example removes the
//! items of a map that comes with the project, and saves to the folder for temporary files.

use std::error::Error;
use std::path::PathBuf;

use bspkit::content::select::Selector;
use bspkit::{Bsp, Layout};

const OWN_MAP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maps/q3/own_rooms.bsp");

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let from = arguments.next().map_or(PathBuf::from(OWN_MAP), PathBuf::from);
    let to = arguments.next().map_or(std::env::temp_dir().join("bspkit_stripped.bsp"), PathBuf::from);
    let mut selectors = arguments.map(|text| Selector::parse(&text)).collect::<Result<Vec<_>, _>>()?;
    if selectors.is_empty() {
        selectors.push(Selector::parse("item_*")?);
    }

    let map = Bsp::open(from)?;
    let mut draft = map.draft();
    let entities = draft.entities()?;
    let before = (entities.len(), entities.to_bytes().len());

    let matches = entities.iter().filter(|entity| selectors.iter().any(|selector| selector.matches(entity)));
    let chosen: Vec<usize> = matches.map(|entity| entity.index()).collect();
    // In one call, so that the indices stay valid; it fails if worldspawn is among them.
    entities.remove_all(&chosen)?;
    let bytes = before.1 - entities.to_bytes().len();
    println!("removed {} of {} entities, {bytes} bytes", chosen.len(), before.0);

    draft.plan(Layout::Keep)?.save(&to)?;
    println!("saved to {}", to.display());
    Ok(())
}
