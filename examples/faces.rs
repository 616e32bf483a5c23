//! Lists the faces of a map with the texture and the corners of each.
//!
//! ```sh
//! cargo run --example faces -- maps/q2dm1.bsp
//! ```

use std::error::Error;

use bspkit::dialect::{QUAKE2, quake2};
use bspkit::{Bsp, content::polygons::Polygons};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: faces MAP")?;
    let map = Bsp::open(path)?;
    let polygons: Polygons<'_> = map.polygons()?;
    for (index, corners) in polygons.iter().enumerate() {
        println!("face {index}: {:?}", corners?);
    }
    // The other fields of a face are in its record, which is different in each dialect.
    if map.dialect() == &QUAKE2 {
        let (faces, texinfo) = (map.table(quake2::FACES)?, map.table(quake2::TEXINFO)?);
        for (index, face) in faces.iter().enumerate() {
            let texture = texinfo.get(usize::try_from(face.texinfo)?)?.texture;
            println!("face {index}: {}", texture);
        }
    }
    Ok(())
}
