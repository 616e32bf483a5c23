//! Decompiles maps, proves each source, and prints a row for each: `cargo run --release -p bspkit-decompile --example
//! decompile_all -- [-v] MAP…`. With `-v` it prints what does not agree and what is left out.

use std::time::Instant;

use bspkit::Bsp;
use bspkit_decompile::{Decompiled, Effort, LeftOut, Options, Proof, decompile, prove};

fn main() {
    let (words, maps): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word == "-v");
    println!(
        "{:30} {:9} {:>7} {:>7} {:>6} {:>6} {:>9} {:>9} {:>6} {:>6} {:>8}",
        "map", "dialect", "brushes", "sides", "exact", "near", "points", "area", "left", "notes", "brush/s"
    );
    for path in &maps {
        let name = path.rsplit('/').next().unwrap_or(path);
        match one(path) {
            Ok((found, proof, seconds)) => row(name, &found, &proof, seconds, !words.is_empty()),
            Err(error) => println!("{name:30} {error}"),
        }
    }
}

fn one(path: &str) -> bspkit::Result<(Decompiled, Proof, f64)> {
    let map = Bsp::open(path)?;
    let start = Instant::now();
    let found = decompile(&map, &Options::default())?;
    let text = found.text();
    let seconds = start.elapsed().as_secs_f64();
    let proof = prove(&map, &text, found.format, &Effort::default())?;
    Ok((found, proof, seconds))
}

fn row(name: &str, found: &Decompiled, proof: &Proof, seconds: f64, is_long: bool) {
    let report = &found.report;
    let count = |all: &[LeftOut]| all.iter().map(|one| one.count).sum::<usize>();
    let planes = &report.planes;
    println!(
        "{name:30} {:9} {:>7} {:>7} {:>6.4} {:>6.4} {:>9.6} {:>9.6} {:>6} {:>6} {:>8.0}",
        report.dialect,
        report.brush_count,
        report.side_count,
        share(planes.same, planes.total),
        share(planes.near, planes.total),
        proof.points.share(),
        proof.faces.share(),
        count(&report.left_out),
        count(&report.notes),
        bspkit::bytes::amount(report.brush_count) / seconds,
    );
    if is_long {
        println!("  {:?} {:?} models {}", proof.points, proof.faces, proof.models_left_out);
        report.left_out.iter().for_each(|one| println!("  left {one:?}"));
        report.notes.iter().for_each(|one| println!("  note {one:?}"));
        proof.worst_points.iter().take(6).for_each(|one| println!("  {one:x?}"));
        proof.worst_faces.iter().take(6).for_each(|one| println!("  {one:?}"));
    }
}

fn share(part: usize, all: usize) -> f64 {
    bspkit::bytes::amount(part) / bspkit::bytes::amount(all.max(1))
}
