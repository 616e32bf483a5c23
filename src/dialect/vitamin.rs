//! VitaminSource as it began, version 42: Desolation, a relative of Source 21 whose directory has 128 entries (srctools
//! reads it so, and a map of its tests has the structs of version 21). Later maps begin with other letters and are not
//! opened.

use super::{Dialect, Lump, Row, SOURCE21, only, source};
use crate::file::directory::DirectoryShape;

/// VitaminSource.
pub static VITAMIN: Dialect = Dialect {
    name: "vitamin",
    title: "Source (VitaminSource, version 42)",
    versions: &[42],
    shapes: &[SHAPE],
    lumps: &LUMPS,
    rows: &ROWS,
    compression_caveats: &[(42, source::NEVER_COMPRESSED)],
    revision_at: Some(SHAPE.entry_offset(SHAPE.count)),
    ..SOURCE21
};

const SHAPE: DirectoryShape = DirectoryShape { count: 128, ..SOURCE21.shapes[0] };

/// The lumps that it adds, which have no other names, and why their bytes are bytes.
macro_rules! numbered {
    ($($number:literal)*) => {
        const MORE: [Lump; 64] = [$(only(concat!("LUMP_", $number)),)*];
        const OPAQUE: [Row; 64] = [$(Row::opaque(concat!("LUMP_", $number), WHY),)*];
    };
}

numbered! {
    64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
    96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120
    121 122 123 124 125 126 127
}

const WHY: &str = "what VitaminSource's further lumps hold is not published, and no known map has any";

const LUMPS: [Lump; 128] = {
    let mut lumps = [SOURCE21.lumps[0]; 128];
    let mut at = 0;
    while at < 128 {
        lumps[at] = if at < 64 { SOURCE21.lumps[at] } else { MORE[at - 64] };
        at += 1;
    }
    lumps
};

const ROWS: [&[Row]; SOURCE21.rows.len() + 1] = {
    let mut rows = [&OPAQUE as &[Row]; SOURCE21.rows.len() + 1];
    let mut at = 0;
    while at < SOURCE21.rows.len() {
        rows[at] = SOURCE21.rows[at];
        at += 1;
    }
    rows
};
