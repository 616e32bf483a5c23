//! Puts records of a mod's own into a lump that engines ignore, and reads them back: bspkit does not know their struct.
//!
//! ```sh
//! cargo run --example own_lump -- tests/maps/q2/own_rooms.bsp areas.bsp
//! ```

use std::error::Error;

use bspkit::record::{Record, Table};
use bspkit::{Bsp, Layout};

bspkit::records! {
    /// An area where a team may spawn.
    pub struct Area(16) {
        /// A corner, in units of the map.
        pub corner: [f32; 3],
        /// The team, from 1.
        pub team: i32,
    }
}

/// The slot of Quake II that no engine reads.
const LUMP: &str = "POP";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("usage: own_lump MAP FILE".into());
    };
    let map = Bsp::open(from)?;
    let slot = map.slot(LUMP)?.id;
    let areas = [Area { corner: [64.0, 0.0, 8.0], team: 1 }, Area { corner: [-64.0, 0.0, 8.0], team: 2 }];
    let mut draft = map.draft();
    draft.set(slot, areas.iter().flat_map(Record::encode).collect::<Vec<u8>>())?;
    draft.save(&to, Layout::Keep)?;

    let saved = Bsp::open(to)?;
    for area in Table::<Area>::of(saved.bytes(slot)?).iter() {
        println!("team {} at {:?}", area.team, area.corner);
    }
    Ok(())
}
