//! `BRUSHLIST`: the brushes from which the map's models were compiled.

use super::{BRUSHES, malformed, read};
use crate::bytes::{Data, index};
use crate::dialect::bspx::{BrushListBrush, BrushListModel, BrushListPlane};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Field, Record};

/// The only known version.
const VERSION: u32 = 1;

/// The brushes of all models.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q1/own_rooms_bspx.bsp")?;
/// let list = map.brush_list()?;
/// assert_eq!((list.len(), list.model(0).unwrap().brush_count), (5, 16));
/// let first = list.brushes(0).next().unwrap();
/// assert_eq!((first.head.contents, first.planes.len()), (-2, 0)); // solid, and nothing but its box
/// assert_eq!(list.to_bytes(), *map.bytes(map.slot("bspx:BRUSHLIST")?.id)?);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BrushList<'a> {
    bytes: Data<'a>,
    models: Vec<Model>,
    /// Where the brushes of all models begin.
    brushes: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Model {
    head: BrushListModel,
    /// The first of its brushes.
    first: usize,
}

/// A brush: its box, and the planes that are not sides of the box.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q1/own_rooms_bspx.bsp")?;
/// let list = map.brush_list()?;
/// assert!((0..list.len()).flat_map(|model| list.brushes(model)).all(|brush| brush.head.mins[0] < brush.head.maxs[0]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Brush {
    /// Its box, contents and number of planes.
    pub head: BrushListBrush,
    /// Its planes.
    pub planes: Vec<BrushListPlane>,
}

impl<'a> BrushList<'a> {
    /// Reads an entry to its last byte.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it ends before all that it claims to have, [`ErrorKind::Unsupported`] for another
    /// version.
    pub fn parse(bytes: impl Into<Data<'a>>) -> Result<Self> {
        let bytes = bytes.into();
        let (mut models, mut brushes, mut at) = (Vec::new(), Vec::new(), 0);
        while at < bytes.len() {
            let head: BrushListModel = read(&bytes, &mut at, BRUSHES, "the end of a model")?;
            if head.version != VERSION {
                let message = format!("brushes of version {} are not known; only version {VERSION} is", head.version);
                let place = Place::default().lump(BRUSHES).record(models.len());
                return Err(Error::new(ErrorKind::Unsupported, message).at(place));
            }
            models.push(Model { head, first: brushes.len() });
            for _ in 0..head.brush_count {
                brushes.push(at);
                let brush: BrushListBrush = read(&bytes, &mut at, BRUSHES, "the end of a brush")?;
                let planes = usize::from(brush.plane_count) * BrushListPlane::SIZE;
                if bytes.len() - at < planes {
                    let message = format!("there is no room for the {} planes of a brush", brush.plane_count);
                    return Err(malformed(BRUSHES, at, message));
                }
                at += planes;
            }
        }
        Ok(BrushList { bytes, models, brushes })
    }

    /// How many models have brushes here.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// The head of a model. `place` is its position in the list, not the model's number.
    pub fn model(&self, place: usize) -> Option<&BrushListModel> {
        self.models.get(place).map(|model| &model.head)
    }

    /// The brushes of a model; `place` is its position in the list. Empty if there is no such model.
    pub fn brushes(&self, place: usize) -> impl Iterator<Item = Brush> {
        let model = self.models.get(place);
        let range = model.map_or(0..0, |model| model.first..model.first + index(model.head.brush_count));
        self.brushes.get(range).unwrap_or_default().iter().filter_map(|at| self.brush(*at))
    }

    fn brush(&self, at: usize) -> Option<Brush> {
        let bytes = self.bytes.get(at..)?;
        let head = BrushListBrush::decode(bytes)?;
        let planes = bytes.get(BrushListBrush::SIZE..)?.chunks_exact(BrushListPlane::SIZE);
        let planes = planes.take(usize::from(head.plane_count)).filter_map(BrushListPlane::decode);
        Some(Brush { head, planes: planes.collect() })
    }

    /// The bytes of the entry, encoded from the decoded structs.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        for (place, model) in self.models.iter().enumerate() {
            bytes.extend(model.head.encode());
            for brush in self.brushes(place) {
                bytes.extend(brush.head.encode());
                brush.planes.iter().for_each(|plane| bytes.extend(plane.encode()));
            }
        }
        bytes
    }
}
