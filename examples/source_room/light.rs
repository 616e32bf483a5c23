//! Light: of faces, of leafs, of the lamps themselves.

use bspkit::dialect::source::{ColorRgbExp32, Face, Leaf, LeafAmbientIndex, LeafAmbientSample, WorldLight};
use bspkit::record::Record;

use crate::geometry::{Geometry, HALVES};
use crate::records::{bytes, zeros};

const BUMP_LIGHT: i32 = 0x800;

/// Whether light is for screens with a high range.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Range {
    Low,
    High,
}

/// The light of faces in their order, without gaps, and the faces with their places in it.
///
/// A block is: the average of each style, last style first; then, where the face says it begins, for each style the
/// luxels row by row, four times over where the material has a bump map.
pub(crate) fn lightmaps(geometry: &Geometry, range: Range) -> (Vec<u8>, Vec<Face>) {
    let mut light = Vec::new();
    let mut faces = geometry.faces.clone();
    for face in &mut faces {
        if range == Range::High {
            // Styles are a matter of each range: here only the low one has the lamp with a name.
            face.styles = [0, 255, 255, 255];
        }
        let styles = face.styles.iter().take_while(|style| **style != 255).count();
        let is_bumped = geometry.tex_infos[face.texinfo as usize].flags & BUMP_LIGHT != 0;
        let maps = if is_bumped { 4 } else { 1 };
        let [width, height] = face.luxel_size.map(|size| size + 1);
        let lit = *face;
        let luxels = |style: usize, map: usize| -> Vec<ColorRgbExp32> {
            let places = (0..height).flat_map(|t| (0..width).map(move |s| (s, t)));
            places.map(|(s, t)| luxel(&lit, style, map, s, t, range)).collect()
        };
        for style in (0..styles).rev() {
            light.extend(average(&luxels(style, 0)).encode());
        }
        face.light_offset = light.len() as i32;
        for (style, map) in (0..styles).flat_map(|style| (0..maps).map(move |map| (style, map))) {
            light.extend(bytes(&luxels(style, map)));
        }
    }
    (light, faces)
}

/// Brightest in the middle of the world.
fn luxel(face: &Face, style: usize, map: usize, s: i32, t: i32, range: Range) -> ColorRgbExp32 {
    let (s, t) = (s + face.luxel_mins[0], t + face.luxel_mins[1]);
    let bright = 160 - 4 * (s.abs() + t.abs()) - 8 * map as i32;
    let [red, green, blue] = if style == 0 { [bright, bright - 8, bright - 24] } else { [bright / 4, bright / 8, 0] };
    let exponent = if range == Range::High { 1 } else { 0 };
    ColorRgbExp32 { red: red as u8, green: green as u8, blue: blue as u8, exponent }
}

fn average(luxels: &[ColorRgbExp32]) -> ColorRgbExp32 {
    let mean = |part: fn(&ColorRgbExp32) -> u8| {
        (luxels.iter().map(|light| usize::from(part(light))).sum::<usize>() / luxels.len()) as u8
    };
    let (red, green, blue) = (mean(|light| light.red), mean(|light| light.green), mean(|light| light.blue));
    ColorRgbExp32 { red, green, blue, exponent: luxels[0].exponent }
}

/// What is known of the light in a leaf, seen in six directions.
pub(crate) fn cube(leaf: usize) -> [ColorRgbExp32; 6] {
    if HALVES.iter().any(|half| usize::from(*half) == leaf) {
        std::array::from_fn(|side| ColorRgbExp32 {
            red: 40 + 8 * side as u8,
            green: 40,
            blue: 32 + leaf as u8,
            exponent: 0,
        })
    } else {
        [zeros(); 6]
    }
}

/// The index and the samples of the leafs' light. A leaf without any names another leaf.
pub(crate) fn ambient(leafs: &[Leaf]) -> (Vec<u8>, Vec<u8>) {
    let (mut indices, mut samples) = (Vec::new(), Vec::new());
    for (leaf, _) in leafs.iter().enumerate() {
        if cube(leaf) == [zeros(); 6] {
            indices.push(LeafAmbientIndex { count: 0, first: HALVES[0] });
            continue;
        }
        indices.push(LeafAmbientIndex { count: 1, first: samples.len() as u16 });
        samples.push(LeafAmbientSample { cube: cube(leaf), position: [127, 128, 64], padding: 0xF3 });
    }
    (bytes(&indices), bytes(&samples))
}

/// The lamps: one steady, one that can be switched. Version 1 of the lump knows where a lamp's shadow is cast from.
pub(crate) fn lamps(version: i32) -> Vec<u8> {
    let point = |x: f32, style: i32, cluster: i32| {
        let light = WorldLight {
            origin: [x, 0.0, 48.0],
            intensity: [200.0, 190.0, 160.0],
            cluster,
            kind: 1,
            style,
            quadratic: 1.0,
            flags: 1,
            texinfo: -1,
            ..zeros()
        };
        let mut bytes = light.encode();
        if version == 1 {
            bytes.splice(36..36, [0; 12]);
        }
        bytes
    };
    [point(-128.0, 0, 1), point(128.0, 32, 0)].concat()
}
