//! Records as fields of structs of the crate binrw, read from any stream, and a struct of a format that bspkit does not know.
//!
//! ```sh
//! cargo run --example binrw_streams -- tests/maps/q2/own_rooms.bsp
//! ```

use std::error::Error;
use std::io::{Cursor, Seek};

use binrw::{BinRead, BinWrite};
use bspkit::dialect::quake2::{Model, Plane};
use bspkit::record::{Record, Table};

/// The head of a file of our own, which holds records of Quake II.
#[binrw::binrw]
#[brw(little, magic = b"OWN1")]
#[derive(Debug, PartialEq)]
struct Shape {
    model: Model,
    #[bw(calc = planes.len() as u32)]
    count: u32,
    #[br(count = count)]
    planes: Vec<Plane>,
}

bspkit::records! {
    /// A place that our own tool writes behind the planes.
    pub struct Spot(16) {
        /// In units of the map.
        pub origin: [f32; 3],
        /// The team that starts there.
        pub team: i32,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a map of Quake II")?;
    let map = bspkit::Bsp::open(path)?;
    let model = map.table(bspkit::dialect::quake2::MODELS)?.get(0)?;
    let planes: Vec<Plane> = map.table(bspkit::dialect::quake2::PLANES)?.iter().collect();

    let shape = Shape { model, planes };
    let mut stream = Cursor::new(Vec::new());
    shape.write(&mut stream)?;
    stream.rewind()?;
    let again = Shape::read(&mut stream)?;
    println!("{} planes, equal: {}", again.planes.len(), again == shape);

    let spots: Vec<u8> = (0..3).flat_map(|team| Spot { origin: shape.model.mins, team }.encode()).collect();
    let teams: Vec<i32> = Table::<Spot>::of(&spots[..]).iter().map(|spot| spot.team).collect();
    println!("teams {teams:?}");
    Ok(())
}
