//! Left 4 Dead 2, a relative of Source 21: the fields of a directory entry are in another order, which nothing in the
//! header says. The reading under which more entries could be true is taken.

use super::{Dialect, Lump, Row, SOURCE, SOURCE21, source, source21};
use crate::file::directory::{DirectoryShape, EntryShape};

/// Left 4 Dead 2.
pub static L4D2: Dialect = Dialect {
    name: "l4d2",
    title: "Source (Left 4 Dead 2)",
    versions: &[21],
    shapes: &[DirectoryShape { first: 8, count: 64, entry: EntryShape::Left4Dead2, trailing: 4 }],
    lumps: &LUMPS,
    rows: &ALL_ROWS,
    preferred_to: Some(&SOURCE21),
    probe: |bytes, dialect| {
        let reads_better = source::plausible(bytes, dialect.shapes[0]) > source::plausible(bytes, SOURCE21.shapes[0]);
        reads_better.then_some(dialect.shapes[0])
    },
    checksums: SOURCE.checksums,
    ..SOURCE21
};

const LUMPS: [Lump; 64] = source::renamed([
    (22, "PROPCOLLISION"),
    (23, "PROPHULLS"),
    (24, "PROPHULLVERTS"),
    (25, "PROPTRIS"),
    (49, "PROP_BLOB"),
]);

const ROWS: &[Row] = &[
    Row::opaque("PROPCOLLISION", PROPS),
    Row::opaque("PROPHULLS", PROPS),
    Row::opaque("PROPHULLVERTS", PROPS),
    Row::opaque("PROPTRIS", PROPS),
    Row::opaque("PROP_BLOB", PROPS),
];

const PROPS: &str = "no known map has the collisions of props";

const ALL_ROWS: [&[Row]; 11] = source::rows_behind(&[ROWS, source21::ROWS]);
