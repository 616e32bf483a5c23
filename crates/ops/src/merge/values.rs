//! Which numbers of a record are one value: those of a vector, a color or a plane. If each side changes a part of one,
//! the parts together are what neither side has.

use std::collections::{BTreeMap, HashSet};

use bspkit::record::Cell;

/// Fields that are one value where a record, or a part of it, has all of the first ones: their name, and the others.
const TOGETHER: [(&str, &[&str], &[&str]); 2] =
    [("color", &["red", "green", "blue"], &["alpha", "exponent"]), ("plane", &["normal", "distance"], &["kind"])];

/// Numbers that are one value.
pub(super) struct Value {
    /// Its name in conflicts.
    pub(super) name: String,
    pub(super) cells: Vec<Cell>,
}

impl Value {
    /// All values of the cells of a record, in the order of the first cell of each.
    pub(super) fn all(cells: &[Cell]) -> Vec<Value> {
        let fields: HashSet<&str> = cells.iter().map(|cell| field(&cell.path)).collect();
        let (mut values, mut places) = (Vec::<Value>::new(), BTreeMap::new());
        for cell in cells {
            let name = name(&fields, field(&cell.path));
            let place = *places.entry(name.clone()).or_insert(values.len());
            if place == values.len() {
                values.push(Value { name, cells: Vec::new() });
            }
            values[place].cells.push(cell.clone());
        }
        for value in &mut values {
            if let [cell] = &value.cells[..] {
                value.name.clone_from(&cell.path);
            }
        }
        values
    }

    pub(super) fn differs(&self, one: &[u8], other: &[u8]) -> bool {
        self.cells.iter().any(|cell| one[cell.place.clone()] != other[cell.place.clone()])
    }

    /// Gives one record the value of another.
    pub(super) fn copy(&self, from: &[u8], to: &mut [u8]) {
        for cell in &self.cells {
            to[cell.place.clone()].copy_from_slice(&from[cell.place.clone()]);
        }
    }
}

/// The field of a cell, without the indices within it: `normal` of `normal[2]`.
fn field(path: &str) -> &str {
    let mut field = path;
    while let Some((before, _)) = field.strip_suffix(']').and_then(|field| field.rsplit_once('[')) {
        field = before;
    }
    field
}

/// The name of the value that a field belongs to.
fn name(fields: &HashSet<&str>, field: &str) -> String {
    let start = field.rfind('.').map_or(0, |dot| dot + 1);
    let (parent, own) = field.split_at(start);
    let has_all = |needed: &[&str]| needed.iter().all(|name| fields.contains(&*format!("{parent}{name}")));
    let is_of = |(_, needed, others): &&(&str, &[&str], &[&str])| needed.contains(&own) || others.contains(&own);
    let value = TOGETHER.iter().find(is_of).filter(|(_, needed, _)| has_all(needed));
    value.map_or_else(|| field.to_owned(), |(name, ..)| format!("{parent}{name}"))
}
