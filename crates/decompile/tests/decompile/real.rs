//! Real maps, where `BSPKIT_CORPUS` points: each is decompiled, its text is read and written as the same text, and
//! proven. It prints the table of docs/decompile.md.

use std::collections::BTreeMap;
use std::time::Instant;

use bspkit::Bsp;
use bspkit_decompile::source::{read, write};
use bspkit_decompile::{Effort, Options, decompile, prove};

use crate::corpus;

/// The least shares of points and of area that a map may have. What is missing was looked at: places at which a compiler
/// lost a brush or made solid of a gap, and coordinates of terrain; in Quake faces of fences that hold nothing.
const LEAST_POINTS: f64 = 0.985;
const LEAST_AREA: f64 = 0.9;

#[derive(Default)]
struct Row {
    maps: usize,
    whole: usize,
    least: Option<f64>,
    area: f64,
    covered: f64,
    brushes: usize,
    seconds: f64,
}

#[test]
fn real_maps_are_proven() {
    let mut rows: BTreeMap<&'static str, Row> = BTreeMap::new();
    let effort = Effort { random_points: 3000, faces: 1500, ..Effort::default() };
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let start = Instant::now();
        let Ok(found) = decompile(&map, &Options::default()) else { continue };
        let text = found.text();
        let seconds = start.elapsed().as_secs_f64();
        // Values with quotes, which a text cannot have, are not equal.
        let back = read(&text, found.format).unwrap();
        assert!(write(&back, found.format) == text, "{}", path.display());
        let proof = prove(&map, &text, found.format, &effort).unwrap();
        let (points, area) = (proof.points.share(), proof.faces.share());
        let is_damaged = path.to_string_lossy().contains("damaged");
        if is_damaged {
            continue;
        }
        let row = rows.entry(map.dialect().name).or_default();
        row.maps += 1;
        row.whole += usize::from(proof.points.agreeing == proof.points.judged);
        row.least = Some(row.least.unwrap_or(1.0).min(points));
        row.area += proof.faces.area;
        row.covered += proof.faces.covered;
        row.brushes += found.report.brush_count;
        row.seconds += seconds;
        assert!(points >= LEAST_POINTS && area >= LEAST_AREA, "{}: {points} {area}", path.display());
    }
    for (dialect, row) in rows {
        println!(
            "| `{dialect}` | {} | {} | {:.2} % | {:.2} % | {:.0} |",
            row.maps,
            row.whole,
            row.least.unwrap_or(1.0) * 100.0,
            if row.area > 0.0 { row.covered / row.area * 100.0 } else { 100.0 },
            bspkit::bytes::amount(row.brushes) / row.seconds.max(1e-9),
        );
    }
}
