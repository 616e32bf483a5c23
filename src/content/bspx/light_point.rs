//! The light at a point of a grid.

/// The number of styles of a point within something solid, which has no light.
const OCCLUDED: u8 = 255;

/// The light at a point of a grid.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms_bspx.bsp")?;
/// let octree = &map.light_octrees()?[0];
/// let points = (0..octree.len()).flat_map(|leaf| octree.leaf_points(leaf));
/// assert!(points.filter(|point| point.is_occluded()).count() > 0);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LightPoint<'p> {
    bytes: &'p [u8],
    has_sides: bool,
}

/// The light of a style at a point.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms_bspx.bsp")?;
/// let octree = &map.light_octrees()?[0];
/// let point = octree.at([3, 2, 1])?.expect("it is in the room");
/// assert!(point.samples().all(|sample| sample.colors[0] == sample.colors[5]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightSample {
    /// The style.
    pub style: u8,
    /// Red, green and blue of the light from +x, -x, +y, -y, +z and -z. All six are equal if the grid has one light for
    /// all sides.
    pub colors: [Option<[u8; 3]>; 6],
}

impl<'p> LightPoint<'p> {
    /// Reads the point at the start of the bytes: a number of styles, then each style and its light. The error is the
    /// reason.
    pub(super) fn read(bytes: &'p [u8], has_sides: bool) -> Result<Self, &'static str> {
        const CUT: &str = "it ends before the end of a point";
        let styles = match *bytes.first().ok_or(CUT)? {
            OCCLUDED => 0,
            styles => styles,
        };
        let mut len = 1;
        for _ in 0..styles {
            len += match has_sides {
                false => 4,
                true => {
                    let count = sides(*bytes.get(len + 1).ok_or(CUT)?);
                    2 + 3 * count.ok_or("a point has light for a side other than the six")?
                }
            };
        }
        Ok(LightPoint { bytes: bytes.get(..len).ok_or(CUT)?, has_sides })
    }

    /// How many bytes it has.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it lies within something solid, where there is no light.
    pub fn is_occluded(&self) -> bool {
        self.bytes.first() == Some(&OCCLUDED)
    }

    /// Its light, style by style.
    pub fn samples(&self) -> impl Iterator<Item = LightSample> {
        let (mut rest, has_sides) = (self.bytes.get(1..).unwrap_or_default(), self.has_sides);
        std::iter::from_fn(move || {
            let color = |at: usize| rest.get(at..).and_then(|rest| rest.first_chunk::<3>().copied());
            let style = *rest.first()?;
            let (colors, len) = match has_sides {
                false => ([color(1); 6], 4),
                true => {
                    let (flags, mut at) = (*rest.get(1)?, 2);
                    let colors = [0, 1, 2, 3, 4, 5].map(|side| {
                        let color = color(at).filter(|_| flags >> side & 1 != 0);
                        at += if color.is_some() { 3 } else { 0 };
                        color
                    });
                    (colors, at)
                }
            };
            rest = rest.get(len..)?;
            Some(LightSample { style, colors })
        })
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        let count = bytes.len();
        bytes.push(if self.is_occluded() { OCCLUDED } else { 0 });
        for LightSample { style, colors } in self.samples() {
            bytes[count] += 1;
            bytes.push(style);
            match self.has_sides {
                false => bytes.extend(colors[0].unwrap_or_default()),
                true => {
                    bytes.push((0..6).filter(|side| colors[*side].is_some()).fold(0, |flags, side| flags | 1 << side));
                    bytes.extend(colors.into_iter().flatten().flatten());
                }
            }
        }
    }
}

/// How many sides the bits select.
fn sides(flags: u8) -> Option<usize> {
    (flags < 1 << 6).then(|| (0..6).filter(|side| flags >> side & 1 != 0).count())
}
