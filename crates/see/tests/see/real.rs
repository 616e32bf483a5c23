//! Real maps, where `BSPKIT_CORPUS` points: all can be exported, and what is exported is what the bytes say.

use bspkit::Bsp;
use bspkit::content::disp::SamplePositions;
use bspkit_see::{Format, Options, Scene, export};

use crate::corpus;
use crate::faces::check_areas;
use crate::glb::Glb;
use crate::raw::Raw;

#[test]
fn real_maps_have_every_face() {
    let (mut shown, mut walked) = (0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let scene = match Scene::read(&map, &Options::default()) {
            Ok(scene) => scene,
            Err(error) => {
                println!("{}: {error}", path.display());
                continue;
            }
        };
        shown += 1;
        let is_whole = !scene.findings.iter().any(|finding| finding.code.name == "see-face");
        let bytes = std::fs::read(&path).unwrap();
        let is_packed = bytes.windows(4).any(|four| four == b"LZMA");
        if !is_whole || is_packed || map.container().damaged().next().is_some() {
            continue;
        }
        // The walk over the bytes knows the usual families.
        let Ok(Some(raw)) = std::panic::catch_unwind(|| Raw::read(&bytes)) else { continue };
        let glb = Glb::read(&export(&scene, Format::Glb, "map.glb").unwrap()[0].bytes);
        if let Err(error) = check_areas(&glb, &raw) {
            panic!("{}: {error}", path.display());
        }
        walked += 1;
    }
    println!("{shown} maps shown, {walked} compared");
}

/// The corners of a triangle as sample positions number them: nodes of two by two squares, each divided into four down
/// to the smallest; eight triangles of a node around its middle (`disp_powerinfo.cpp` of the Source SDK 2013).
fn corners_of(triangle: usize, power: u32) -> [[usize; 2]; 3] {
    const CHILDREN: [[usize; 2]; 4] = [[1, 1], [0, 1], [0, 0], [1, 0]];
    const AROUND: [[usize; 2]; 8] = [[2, 0], [1, 0], [0, 0], [0, 1], [0, 2], [1, 2], [2, 2], [2, 1]];
    let (mut low, mut side) = ([0, 0], 1 << power);
    for level in (0..power - 1).rev() {
        side /= 2;
        let child = CHILDREN[((triangle / 8) >> (2 * level)) & 3];
        low = [low[0] + child[0] * side, low[1] + child[1] * side];
    }
    let step = triangle % 8;
    [AROUND[step], AROUND[(step + 1) % 8], [1, 1]].map(|at| [low[0] + at[0] * side / 2, low[1] + at[1] * side / 2])
}

/// Source stores for each luxel of a displacement the triangle that it is on: the light coordinates of that triangle's
/// corners lead to the luxel.
#[test]
fn luxels_of_displacements_are_where_their_samples_are() {
    let mut seen = 0;
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let (Ok(infos), Ok(samples)) = (map.records("DISPINFO"), map.lens::<SamplePositions<'_>>()) else { continue };
        if infos.is_empty() || map.container().damaged().next().is_some() {
            continue;
        }
        let Ok(scene) = Scene::read(&map, &Options::default()) else { continue };
        let Some(light) = &scene.light else { continue };
        // Maps of consoles have none.
        if map.slot("DISP_LIGHTMAP_SAMPLE_POSITIONS").is_ok_and(|slot| slot.length == 0) {
            continue;
        }
        let faces = map.drawn_faces().unwrap();
        let [face, first, power] = infos.columns(["face", "first_sample_position", "power"]).unwrap();
        let [size] = faces.columns(["luxel_size"]).unwrap();
        for disp in 0..infos.len() {
            let (face, power) = (face.get(disp) as usize, power.get(disp) as u32);
            let [wide, high] = [0, 1].map(|axis| size.item(face, axis) as usize + 1);
            let find = |part: &bspkit_see::Part| part.vertices.iter().position(|vertex| vertex.face as usize == face);
            let mut parts = scene.models[0].parts.iter().filter(|part| part.has_colors);
            let Some((part, start)) = parts.find_map(|part| Some((part, find(part)?))) else { continue };
            let page = light.pages[part.page.unwrap()].map(|side| side as f64);
            let side = (1 << power) + 1;
            let at = |[x, y]: [usize; 2]| {
                let light = part.vertices[start + y * side + x].light.map(f64::from);
                [0, 1].map(|axis| light[axis] * page[axis] - 0.5)
            };
            let corner = at([0, 0]);
            // Without light all are at one place.
            if corner == at([side - 1, side - 1]) {
                continue;
            }
            for (index, sample) in samples.block(first.get(disp) as usize, wide * high).enumerate() {
                let sample = sample.unwrap();
                // The last triangle of all does not fit its two bytes.
                if sample.triangle == 255 && power == 4 {
                    continue;
                }
                let weights = sample.weights.map(|weight| f64::from(weight) / 255.9);
                let sum: f64 = weights.iter().sum();
                for (axis, wanted) in [index % wide, index / wide].into_iter().enumerate() {
                    let of = corners_of(sample.triangle.into(), power).map(|of| at(of)[axis]);
                    let found = of.iter().zip(weights).map(|(of, weight)| of * weight / sum).sum::<f64>();
                    let off = (found - corner[axis] - wanted as f64).abs();
                    assert!(off < 0.2, "{}: displacement {disp}, luxel {index}: {off}", path.display());
                }
            }
            seen += 1;
        }
    }
    println!("{seen} displacements");
}
