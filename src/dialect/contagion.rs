//! Contagion, version 27, a relative of Source 21: a number is between the version and the directory, so everything
//! after it is four bytes later (bspsrc and sourcepp read it so; no map was available).

use super::{Dialect, SOURCE21, source};
use crate::file::directory::DirectoryShape;

/// Contagion.
pub static CONTAGION: Dialect = Dialect {
    name: "contagion",
    title: "Source (Contagion, version 27)",
    versions: &[27],
    shapes: &[SHAPE],
    compression_caveats: &[(27, source::NEVER_COMPRESSED)],
    revision_at: Some(SHAPE.entry_offset(SHAPE.count)),
    ..SOURCE21
};

const SHAPE: DirectoryShape = DirectoryShape { first: 12, ..SOURCE21.shapes[0] };
