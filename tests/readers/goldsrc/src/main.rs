//! Prints how many records of each lump the crate goldsrc-rs reads in maps of GoldSrc, and the sum of a field of each: it
//! gives views of the file, so that a program which does not look at them has read nothing.

use std::fmt::Debug;

fn main() {
    for path in std::env::args().skip(1) {
        println!("READ map");
        match read(&path) {
            Ok(()) => println!("READ end"),
            Err(error) => println!("READ failed map {}", error.replace('\n', " ")),
        }
    }
}

fn read(path: &str) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let map = goldsrc_rs::bsp::level(&bytes).map_err(|error| error.to_string())?;
    println!("TEXTURES {}", map.textures.len());
    print("PLANES", map.planes, |plane| f64::from(plane.distance.get()));
    print("NODES", map.nodes, |node| f64::from(node.plane_id.get()));
    print("TEXINFO", map.texture_infos, |texinfo| f64::from(texinfo.texture_id.get()));
    print("FACES", map.faces, |face| f64::from(face.first_surfedge_id.get()));
    print("CLIPNODES", map.clip_nodes, |node| f64::from(node.plane_id.get()));
    print("LEAFS", map.leaves, |leaf| f64::from(leaf.contents.get()));
    print("MARKSURFACES", map.mark_surfaces, |face| f64::from(face.get()));
    print("EDGES", map.edges, |edge| f64::from(edge[1].get()));
    print("SURFEDGES", map.surfedges, |edge| f64::from(edge.get()));
    print("MODELS", map.models, |model| f64::from(model.faces_num.get()));
    Ok(())
}

fn print<R: Debug>(lump: &str, records: &[R], field: impl Fn(&R) -> f64) {
    println!("{lump} {} {}", records.len(), records.iter().map(field).sum::<f64>());
}
