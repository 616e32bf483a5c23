//! Faults of the light of a face.

use std::fmt;

/// A face whose light cannot be read.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit::dialect::quake2;
/// let mut draft = Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.update(quake2::FACES, 3, |face| face.light_offset = 1 << 30)?;
/// let map = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
/// let fault = map.light()?.sets()[0].faults()[0];
/// assert!(fault.to_string().starts_with("face 3: its light begins at 1073741824"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightFault {
    /// The face.
    pub face: usize,
    /// What is wrong.
    pub kind: LightFaultKind,
}

/// A fault of the light of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LightFaultKind {
    /// The face's texinfo index is out of range.
    Texinfo(i32),
    /// Its edges do not exist or lead to no corners.
    Edges,
    /// No size can be computed from its corners or its record.
    Size,
    /// The faces before it name too many edges, so it was not looked at: faces have edges of their own, and a map whose
    /// faces share thousands was made to take long.
    Shared,
    /// Not all of its light is in the lump.
    Range {
        /// The offset of the light.
        offset: i32,
        /// Columns and rows.
        size: [usize; 2],
        /// How many images it has.
        images: usize,
        /// Bytes of the lump.
        lump: usize,
    },
    /// Its page does not exist.
    Page {
        /// The page's number.
        page: i32,
        /// The number of pages.
        pages: usize,
    },
}

impl fmt::Display for LightFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "face {}: {}", self.face, self.kind)
    }
}

impl fmt::Display for LightFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LightFaultKind::Texinfo(index) => write!(f, "its texinfo {index} does not exist"),
            LightFaultKind::Edges => f.write_str("its edges lead to no corners, so the size of its light is not known"),
            LightFaultKind::Size => f.write_str("the size of its light cannot be computed"),
            LightFaultKind::Shared => f.write_str("the faces before it share too many edges, so it was not looked at"),
            LightFaultKind::Range { offset, size: [wide, high], images, lump } => write!(
                f,
                "its light begins at {offset}, {wide} by {high} luxels in {images} images, and the lump has \
                 {lump} bytes"
            ),
            LightFaultKind::Page { page, pages } => {
                write!(f, "its light is on page {page}, and there are {pages} pages")
            }
        }
    }
}
