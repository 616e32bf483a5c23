//! How many luxels a face has in each direction, as engines compute it from its corners.

use crate::bytes::{integer, rounded};

/// The precision of a compiler's sums. It decides the result for a corner on the edge between two luxels.
///
/// ```
/// use bspkit::content::lightmap::{Precision, extents};
/// let corners = [[0.0; 3], [40.0, 0.0, 0.0], [40.0, 16.0, 0.0]];
/// let vectors = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
/// let found = extents(corners, &vectors, Precision::Double).unwrap();
/// assert_eq!((found.luxel_mins, found.luxels), ([0, 0], [4, 2]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Sums in double precision, rounded to single: the original compilers and engines, whose processors had no
    /// registers of single precision.
    Double,
    /// Sums in single precision throughout: a few later compilers.
    Single,
}

/// The part of its texture that a face shows, in luxels of 16 texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extents {
    /// The first luxel in each direction (`texturemins` in luxels).
    pub luxel_mins: [i32; 2],
    /// The number of luxels in each direction: the number of steps plus one.
    pub luxels: [usize; 2],
}

/// Computes the extents of a face from its corners and the vectors of its texinfo (`CalcSurfaceExtents`); `None` if an
/// engine could not compute with them.
pub fn extents(
    corners: impl IntoIterator<Item = [f32; 3]>,
    vectors: &[[f32; 4]; 2],
    precision: Precision,
) -> Option<Extents> {
    const STEP: f32 = 16.0;
    // The engines' start values: engines ignore corners beyond them too.
    let (mut mins, mut maxs) = ([999_999.0_f32; 2], [-99_999.0_f32; 2]);
    for corner in corners {
        for axis in 0..2 {
            let value = precision.sum(corner, vectors[axis]);
            if value < mins[axis] {
                mins[axis] = value;
            }
            if value > maxs[axis] {
                maxs[axis] = value;
            }
        }
    }
    let mut found = Extents { luxel_mins: [0; 2], luxels: [0; 2] };
    for axis in 0..2 {
        let (first, last) = (integer((mins[axis] / STEP).floor())?, integer((maxs[axis] / STEP).ceil())?);
        found.luxel_mins[axis] = first;
        found.luxels[axis] =
            usize::try_from(last.checked_sub(first)?.checked_add(1)?).ok().filter(|count| *count > 0)?;
    }
    Some(found)
}

impl Precision {
    fn sum(self, [x, y, z]: [f32; 3], [s, t, u, offset]: [f32; 4]) -> f32 {
        match self {
            Precision::Single => x * s + y * t + z * u + offset,
            Precision::Double => {
                let product = |a: f32, b: f32| f64::from(a) * f64::from(b);
                rounded(product(x, s) + product(y, t) + product(z, u) + f64::from(offset))
            }
        }
    }
}
