//! Builds a Quake II map from records: a world of one brush.
//!
//! ```sh
//! cargo run --example build_map -- box.bsp
//! ```

use std::error::Error;

use bspkit::dialect::quake2::{self, Brush, BrushSide, Plane};
use bspkit::dialect::{QUAKE2, Role};
use bspkit::{Bsp, Builder};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: build_map FILE")?;
    let plane = |axis: usize, sign: f32| {
        let mut normal = [0.0; 3];
        normal[axis] = sign;
        Plane { normal, distance: 64.0, kind: [0, 1, 2][axis] }
    };
    let planes: Vec<Plane> = (0..3).flat_map(|axis| [plane(axis, 1.0), plane(axis, -1.0)]).collect();
    let sides: Vec<BrushSide> = (0..6).map(|plane| BrushSide { plane, texinfo: -1 }).collect();
    let bytes = Builder::new(&QUAKE2)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")?
        .table(quake2::PLANES, &planes)?
        .table(quake2::BRUSHES, &[Brush { first_side: 0, side_count: 6, contents: 1 }])?
        .table(quake2::BRUSHSIDES, &sides)?
        .build()?;
    println!("{} brush sides", Bsp::parse(&bytes)?.table(quake2::BRUSHSIDES)?.len());
    std::fs::write(path, bytes)?;
    Ok(())
}
