//! The boxes of models, and the library's tree.

use bspkit::Bsp;
pub(crate) use bspkit::content::tree::{LeafBrushes, Tree, owners, planes, range, ranges};
use bspkit::dialect::Role;

/// The boxes of the models.
pub(crate) fn boxes(map: &Bsp<'_>) -> Vec<[[f32; 3]; 2]> {
    let Ok(models) = map.records(Role::Models) else { return Vec::new() };
    let Ok([mins, maxs]) = models.columns(["mins", "maxs"]) else { return Vec::new() };
    (0..models.len()).map(|at| [mins.floats(at, 0), maxs.floats(at, 0)]).collect()
}
