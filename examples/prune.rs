//! Removes the records that nothing refers to. All numbers that name records follow.
//!
//! ```sh
//! cargo run --example prune -- tests/maps/q3/own_rooms.bsp smaller.bsp
//! ```

use std::error::Error;

use bspkit::{Bsp, Layout};
use bspkit_ops::prune::{Options, prune};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("usage: prune MAP FILE".into());
    };
    let mut draft = Bsp::open(from)?.draft();
    let pruned = prune(&mut draft, &Options::default().light(true))?;
    for list in &pruned.lumps {
        println!("{}: {} -> {} {}", list.lump, list.before, list.after, list.unit);
    }
    draft.save(to, Layout::Keep)?;
    Ok(())
}
