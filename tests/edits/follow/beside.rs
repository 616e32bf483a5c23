//! What belongs to records by its order, or by their number in content that is not an array.

use std::collections::HashMap;

use bspkit::Bsp;
use bspkit::record::RecordInfo;

use super::facts::BESIDE;
use super::walk::{hash, places};

type Named = (usize, Vec<i64>, bool);

/// Adds what belongs to the records of a list.
pub(crate) fn beside<'l>(
    map: &Bsp<'_>,
    name: &str,
    index: &HashMap<&str, usize>,
    lists: impl Iterator<Item = (&'l str, &'l [u8], &'static RecordInfo)>,
    colors: &mut [u64],
    named: &mut [Vec<Named>],
) {
    let lists: HashMap<&str, (&[u8], &RecordInfo)> = lists.map(|(name, bytes, info)| (name, (bytes, info))).collect();
    let Some((bytes, info)) = lists.get(name).copied() else { return };
    for (other, of, field) in BESIDE.iter().filter(|(_, of, _)| *of == name) {
        let Some((to, (theirs, their))) = index.get(other).zip(lists.get(other)) else { continue };
        let len = theirs.len() / their.size;
        let even = len / colors.len().max(1);
        let mut next = 0;
        for (record, own) in bytes.chunks_exact(info.size).enumerate() {
            let count = match field {
                None => even,
                Some(field) => {
                    let (at, shape) = places(info.fields, field)[0];
                    let bspkit::record::Shape::Number(number) = shape else { unreachable!("{of}") };
                    usize::try_from(number.integer(&own[at..]).unwrap()).unwrap()
                }
            };
            named[record].push((*to, (next..next + count).map(|at| at as i64).collect(), false));
            next += count;
        }
    }
    match name {
        "DISPINFO" => {
            let Ok(solids) = map.phys_disp() else { return };
            colors.iter_mut().enumerate().for_each(|(disp, color)| {
                if disp < solids.len() {
                    *color = hash((*color, solids.get(disp)));
                }
            });
        }
        "MODELS" => blocks(map, index.get("BRUSHES").copied(), colors, named),
        _ => {}
    }
}

fn blocks(map: &Bsp<'_>, brushes: Option<usize>, colors: &mut [u64], named: &mut [Vec<Named>]) {
    if let Ok(physics) = map.physics() {
        for block in 0..physics.len() {
            let (Ok(model), Ok(solids), Ok(text)) = (physics.model(block), physics.solids(block), physics.text(block))
            else {
                continue;
            };
            let Some(model) = usize::try_from(model).ok().filter(|model| *model < colors.len()) else { continue };
            let mut solids: Vec<Vec<u8>> = solids.map(<[u8]>::to_vec).collect();
            let pieces: Vec<i64> = solids.iter_mut().flat_map(|solid| brushes_of(solid)).collect();
            colors[model] = hash((colors[model], solids, text));
            named[model].extend(brushes.map(|to| (to, pieces, false)));
        }
    }
    if let Ok(list) = map.brush_list() {
        for block in 0..list.len() {
            let Some(model) = list.model(block) else { continue };
            let brushes: Vec<String> = list.brushes(block).map(|brush| format!("{brush:?}")).collect();
            if let Some(color) = colors.get_mut(model.model as usize) {
                *color = hash((*color, brushes));
            }
        }
    }
}

/// Takes the numbers of brushes out of a solid: they are in the convex pieces, the leafs of a tree.
fn brushes_of(solid: &mut [u8]) -> Vec<i64> {
    let number = |solid: &[u8], at: usize| {
        i32::from_le_bytes(solid.get(at..at + 4).and_then(|four| four.try_into().ok()).unwrap_or([0; 4]))
    };
    let surface = if solid.starts_with(b"VPHY") { 28 } else { 0 };
    if solid.get(surface + 44..surface + 48) != Some(b"IVPS") || surface == 28 && solid[6] == 1 {
        return Vec::new();
    }
    let (mut open, mut found) = (vec![surface + number(solid, surface + 32) as usize], Vec::new());
    while let Some(node) = open.pop() {
        // Another layout.
        if solid.get(node..node.saturating_add(8)).is_none() || found.len() > solid.len() {
            return Vec::new();
        }
        match number(solid, node) {
            0 => found.push((node as i64 + i64::from(number(solid, node + 4))) as usize + 4),
            right => open.extend([node + right as usize, node + 28]),
        }
    }
    if found.iter().any(|at| solid.get(*at..at.saturating_add(4)).is_none()) {
        return Vec::new();
    }
    let brushes = found.iter().map(|at| i64::from(number(solid, *at))).collect();
    found.into_iter().for_each(|at| solid[at..at + 4].fill(0));
    brushes
}
