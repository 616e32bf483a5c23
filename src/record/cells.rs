//! The cells of records: all numbers and names of their fields, or those of some meanings.

use super::{Cell, FieldInfo, Meaning, Shape};

/// The cells of a meaning for which the function is true.
pub(super) fn of(fields: &[FieldInfo], is_wanted: fn(Meaning) -> bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for field in fields.iter().filter(|field| has(field.shape, field.meaning, is_wanted)) {
        collect(field.name.to_owned(), field.offset, field.shape, field.meaning, is_wanted, &mut cells);
    }
    cells
}

fn has(shape: Shape, meaning: Meaning, is_wanted: fn(Meaning) -> bool) -> bool {
    match shape {
        Shape::Number(_) | Shape::Name(_) => is_wanted(meaning),
        Shape::Array(item, _) => has(*item, meaning, is_wanted),
        Shape::Record(fields) => fields.iter().any(|field| has(field.shape, field.meaning, is_wanted)),
    }
}

fn collect(
    path: String,
    offset: usize,
    shape: Shape,
    meaning: Meaning,
    is_wanted: fn(Meaning) -> bool,
    cells: &mut Vec<Cell>,
) {
    match shape {
        Shape::Number(_) | Shape::Name(_) => {
            cells.push(Cell { path, place: offset..offset + shape.size(), shape, meaning });
        }
        Shape::Array(item, count) => {
            let size = item.size();
            for index in 0..count {
                collect(format!("{path}[{index}]"), offset + index * size, *item, meaning, is_wanted, cells);
            }
        }
        Shape::Record(fields) => {
            for field in fields.iter().filter(|field| has(field.shape, field.meaning, is_wanted)) {
                let (path, offset) = (format!("{path}.{}", field.name), offset + field.offset);
                collect(path, offset, field.shape, field.meaning, is_wanted, cells);
            }
        }
    }
}
