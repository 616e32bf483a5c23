//! Renames textures in a map of any game. A name that would be too long is refused, and nothing is written.
//!
//! ```sh
//! cargo run --example rename_textures -- tests/maps/q2/own_rooms.bsp 'own/**' 'mine/{1}' renamed.bsp
//! ```

use std::error::Error;

use bspkit::content::texture_names::Renaming;
use bspkit::{Bsp, Layout};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, old, new, to] = &arguments[..] else {
        return Err("usage: rename_textures MAP OLD NEW FILE".into());
    };
    let mut draft = Bsp::open(from)?.draft();
    let renamed = draft.texture_names()?.rename(&Renaming::new(old, new)?)?;
    println!("{} names", renamed.count);
    renamed.unmatched.iter().for_each(|why| println!("{why}"));
    draft.save(to, Layout::Keep)?;
    Ok(())
}
