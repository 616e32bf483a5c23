//! Doubles the light of all faces of a map.
//!
//! ```sh
//! cargo run --example double_light -- maps/dm4.bsp bright.bsp
//! ```

use std::error::Error;

use bspkit::content::lightmap::Adjustment;
use bspkit::{Bsp, Layout};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("usage: double_light MAP FILE".into());
    };
    let mut draft = Bsp::open(from)?.draft();
    // Doubles linear light, not the stored numbers; all sets, faces and styles.
    let double = Adjustment { gain: 2.0, ..Adjustment::default() };
    let count = draft.light()?.adjust(&double, |_, _, _| true)?;
    draft.save(to, Layout::Keep)?;
    println!("{count} luxels are brighter");
    Ok(())
}
