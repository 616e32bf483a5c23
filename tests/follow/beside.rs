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
        "MODELS" => blocks(map, colors),
        _ => {}
    }
}

fn blocks(map: &Bsp<'_>, colors: &mut [u64]) {
    if let Ok(physics) = map.physics() {
        for block in 0..physics.len() {
            let (Ok(model), Ok(solids), Ok(text)) = (physics.model(block), physics.solids(block), physics.text(block))
            else {
                continue;
            };
            if let Some(color) = usize::try_from(model).ok().and_then(|model| colors.get_mut(model)) {
                *color = hash((*color, solids.map(<[u8]>::to_vec).collect::<Vec<_>>(), text));
            }
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
