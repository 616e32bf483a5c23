//! Light, textures and visibility as bytes; the Python side makes arrays of them.

use std::sync::Arc;

use bspkit::content::lightmap::{Image, Luxel};
use bspkit::content::palette::Palette;
use bspkit::content::textures::Image as Picture;
use bspkit::content::visibility::VisSet;
use bspkit::dialect::LuxelForm;
use bspkit::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Res;
use crate::shared::{Shared, State};
use crate::text::shown;

/// The light of faces or pages.
#[pyclass(frozen, module = "bspkit", name = "_Light")]
pub(crate) struct Light {
    shared: Arc<Shared>,
}

/// Name, lump, form, whether its blocks are pages, and the set that it is a copy of.
type Set = (&'static str, &'static str, &'static str, bool, Option<usize>);
/// Index of the face or page, columns, rows, styles, planes, and the place in the lump.
type Block = (usize, usize, usize, Vec<u16>, usize, usize);

/// An image as Python has it: set, block, style, plane; and the face and the place that the block had. Edits of faces and
/// of light may put another one there.
#[derive(Clone, Copy, FromPyObject)]
struct Held(usize, usize, usize, usize, usize, usize);

impl Held {
    fn image(self, light: &bspkit::content::lightmap::Light<'_>) -> Res<Image> {
        let Held(set, block, style, plane, index, place) = self;
        let image = Image { set, block, style, plane };
        match light.block(image) {
            Some(found) if (found.index(), found.bytes().start) == (index, place) => Ok(image),
            _ => {
                let message = format!("an edit moved light or faces: take the light of {index} from map.light again");
                Err(Error::new(ErrorKind::NotFound, message).into())
            }
        }
    }
}

fn argument(message: impl Into<String>) -> crate::errors::Failure {
    Error::new(ErrorKind::Argument, message).into()
}

fn no_image() -> crate::errors::Failure {
    Error::new(ErrorKind::NotFound, "there is no such light").into()
}

/// The luxels of these bytes.
fn luxels(form: LuxelForm, bytes: &[u8]) -> Vec<Luxel> {
    match form {
        LuxelForm::Grey => bytes.iter().map(|grey| Luxel::Grey(*grey)).collect(),
        LuxelForm::Rgb => bytes.as_chunks::<3>().0.iter().map(|color| Luxel::Rgb(*color)).collect(),
        _ => {
            let luxel = |[red, green, blue, exponent]: &[u8; 4]| {
                Luxel::Rgbe([*red, *green, *blue], i8::from_le_bytes([*exponent]))
            };
            bytes.as_chunks::<4>().0.iter().map(luxel).collect()
        }
    }
}

impl Light {
    /// What Python has of it.
    pub(crate) fn open<'py>(py: Python<'py>, shared: &Arc<Shared>) -> Res<Bound<'py, PyAny>> {
        shared.with(|state| Ok(state.draft()?.light().map(drop)?))?;
        let native = Light { shared: shared.clone() };
        Ok(py.import("bspkit._light")?.call_method1("Light", (native,))?)
    }
}

#[pymethods]
impl Light {
    fn sets(&self) -> Res<Vec<Set>> {
        self.shared.with(|state| {
            let light = state.draft()?.light()?;
            let sets = light.sets().iter();
            Ok(sets.map(|set| (set.name(), set.lump(), set.form().name(), set.is_pages(), set.copy_of())).collect())
        })
    }

    fn blocks(&self, set: usize) -> Res<Vec<Block>> {
        self.shared.with(|state| {
            let light = state.draft()?.light()?;
            let set = light.sets().get(set).ok_or_else(no_image)?;
            let block = |block: &bspkit::content::lightmap::Block| {
                let [columns, rows] = block.size();
                (block.index(), columns, rows, block.styles().to_vec(), block.planes(), block.bytes().start)
            };
            Ok(set.blocks().iter().map(block).collect())
        })
    }

    fn read<'py>(&self, py: Python<'py>, image: Held) -> Res<Bound<'py, PyBytes>> {
        self.shared.with(|state| {
            let light = state.draft()?.light()?;
            let bytes = light.bytes(image.image(light)?).ok_or_else(no_image)?;
            Ok(PyBytes::new(py, bytes))
        })
    }

    /// The light that the luxels mean: three doubles for each.
    fn linear<'py>(&self, py: Python<'py>, image: Held) -> Res<Bound<'py, PyBytes>> {
        let numbers: Vec<u8> = self.shared.with(|state| {
            let light = state.draft()?.light()?;
            let image = image.image(light)?;
            let form = light.sets().get(image.set).ok_or_else(no_image)?.form();
            let bytes = light.bytes(image).ok_or_else(no_image)?;
            Ok(luxels(form, bytes).into_iter().flat_map(Luxel::linear).flat_map(f64::to_ne_bytes).collect())
        })?;
        Ok(PyBytes::new(py, &numbers))
    }

    /// Sets the luxels; returns how many changed.
    fn write(&self, image: Held, bytes: Vec<u8>) -> Res<usize> {
        edit(&self.shared, image, |form| luxels(form, &bytes), |_, new| *new)
    }

    /// Sets the luxels to the light of three doubles for each; returns how many changed.
    fn write_linear(&self, image: Held, bytes: Vec<u8>) -> Res<usize> {
        let all: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|number| f64::from_ne_bytes(*number)).collect();
        // Some light has several forms: what means the same keeps its bytes.
        let new = |old: Luxel, light: &[f64; 3]| if old.linear() == *light { old } else { old.with_linear(*light) };
        edit(&self.shared, image, |_| all.as_chunks::<3>().0.to_vec(), new)
    }
}

/// Changes an image of light, and the copy that a map may have of it.
fn edit<T>(
    shared: &Arc<Shared>,
    image: Held,
    all: impl FnOnce(LuxelForm) -> Vec<T>,
    new: impl Fn(Luxel, &T) -> Luxel,
) -> Res<usize> {
    shared.change(|state| {
        let light = state.draft()?.light()?;
        let image = image.image(light)?;
        let form = light.sets().get(image.set).ok_or_else(no_image)?.form();
        let [columns, rows] = light.block(image).ok_or_else(no_image)?.size();
        let all = all(form);
        if all.len() != columns * rows {
            return Err(argument(format!("{} luxels were given, but {columns} by {rows} are expected", all.len())));
        }
        let before = light.clone();
        let changed =
            light.update(image, |[x, y], old| all.get(y * columns + x).map_or(old, |luxel| new(old, luxel)))?;
        light.carry(&before)?;
        Ok(changed)
    })
}

/// The textures in a Quake or GoldSrc map.
#[pyclass(frozen, module = "bspkit", name = "_Textures")]
pub(crate) struct Textures {
    shared: Arc<Shared>,
}

/// Name, columns, rows, and whether its pixels are in the map.
type Texture<'py> = (Bound<'py, PyAny>, u32, u32, bool);

impl Textures {
    /// What Python has of it.
    pub(crate) fn open<'py>(py: Python<'py>, shared: &Arc<Shared>) -> Res<Bound<'py, PyAny>> {
        shared.with(|state| Ok(state.draft()?.textures().map(drop)?))?;
        let native = Textures { shared: shared.clone() };
        Ok(py.import("bspkit._light")?.call_method1("Textures", (native,))?)
    }

    fn with<T>(&self, work: impl FnOnce(&mut bspkit::content::textures::Textures<'static>) -> Res<T>) -> Res<T> {
        self.shared.with(|state: &mut State| work(state.draft()?.textures()?))
    }
}

fn no_texture(index: usize) -> crate::errors::Failure {
    Error::new(ErrorKind::NotFound, format!("the map has no texture {index}")).into()
}

#[pymethods]
impl Textures {
    fn __len__(&self) -> Res<usize> {
        self.with(|textures| Ok(textures.len()))
    }

    fn describe<'py>(&self, py: Python<'py>, index: usize) -> Res<Option<Texture<'py>>> {
        let found = self.with(|textures| {
            let found = textures.get(index)?;
            Ok(found.map(|it| (it.name().to_vec(), it.width(), it.height(), it.is_embedded())))
        })?;
        let Some((name, width, height, is_embedded)) = found else { return Ok(None) };
        Ok(Some((shown(py, &name)?.into_any(), width, height, is_embedded)))
    }

    fn pixels<'py>(&self, py: Python<'py>, index: usize, level: usize) -> Res<Option<Bound<'py, PyBytes>>> {
        self.with(|textures| {
            let texture = textures.get(index)?.ok_or_else(|| no_texture(index))?;
            Ok(texture.pixels(level).map(|pixels| PyBytes::new(py, pixels)))
        })
    }

    fn palette<'py>(&self, py: Python<'py>, index: usize) -> Res<Option<Bound<'py, PyBytes>>> {
        self.with(|textures| {
            let texture = textures.get(index)?.ok_or_else(|| no_texture(index))?;
            Ok(texture.palette().map(|palette| PyBytes::new(py, &palette.0)))
        })
    }

    #[pyo3(signature = (index, width, height, pixels, palette))]
    fn set_image(&self, index: usize, width: u32, height: u32, pixels: Vec<u8>, palette: Option<Vec<u8>>) -> Res<()> {
        let image = Picture::new(width, height, pixels);
        let image = image.ok_or_else(|| argument(format!("the pixels are not {width} by {height}")))?;
        let palette = palette.map(|palette| Palette::read(&palette)).transpose()?;
        self.with(|textures| Ok(textures.set_image(index, &image, palette.as_ref())?))
    }

    fn rename(&self, index: usize, name: crate::text::Text) -> Res<()> {
        self.with(|textures| Ok(textures.rename(index, name.as_ref())?))
    }
}

/// What is visible from where.
#[pyclass(frozen, module = "bspkit", name = "_Visibility")]
pub(crate) struct Visibility {
    shared: Arc<Shared>,
}

impl Visibility {
    /// What Python has of it.
    pub(crate) fn open<'py>(py: Python<'py>, shared: &Arc<Shared>) -> Res<Bound<'py, PyAny>> {
        shared.with(|state| Ok(state.draft()?.visibility().map(drop)?))?;
        let native = Visibility { shared: shared.clone() };
        Ok(py.import("bspkit._light")?.call_method1("Visibility", (native,))?)
    }

    fn with<T>(&self, work: impl FnOnce(&mut bspkit::content::visibility::Visibility<'static>) -> Res<T>) -> Res<T> {
        self.shared.with(|state: &mut State| work(state.draft()?.visibility()?))
    }
}

fn set_named(name: &str) -> Res<VisSet> {
    VisSet::ALL
        .into_iter()
        .find(|set| set.name().eq_ignore_ascii_case(name))
        .ok_or_else(|| argument(format!("`{name}` is not a set: they are pvs and phs")))
}

#[pymethods]
impl Visibility {
    /// The number of clusters or leafs.
    fn __len__(&self) -> Res<usize> {
        self.with(|visibility| Ok(visibility.len()))
    }

    fn sets(&self) -> Res<Vec<&'static str>> {
        self.with(|visibility| Ok(visibility.sets().iter().map(|set| set.name()).collect()))
    }

    fn sees(&self, set: &str, from_: usize, to: usize) -> Res<bool> {
        let set = set_named(set)?;
        self.with(|visibility| match set {
            VisSet::Phs => Ok(visibility.hears(from_, to)?),
            _ => Ok(visibility.sees(from_, to)?),
        })
    }

    fn set(&self, set: &str, from_: usize, to: usize, sees: bool) -> Res<()> {
        let set = set_named(set)?;
        self.with(|visibility| Ok(visibility.set(set, from_, to, sees)?))
    }

    /// A byte for each pair, row by row: 1 for visible.
    fn matrix<'py>(&self, py: Python<'py>, set: &str) -> Res<Bound<'py, PyBytes>> {
        let set = set_named(set)?;
        self.with(|visibility| {
            let len = visibility.len();
            if len.checked_mul(len).is_none_or(|size| size > 1 << 31) {
                return Err(Error::new(ErrorKind::TooLarge, format!("a matrix of {len} by {len} is too large")).into());
            }
            let mut bytes = vec![0; len * len];
            if len > 0 {
                for (index, line) in bytes.chunks_exact_mut(len).enumerate() {
                    let row = visibility.row(set, index)?.unwrap_or_else(|| visibility.plain(true));
                    line.iter_mut().enumerate().for_each(|(to, cell)| *cell = u8::from(row.sees(to)));
                }
            }
            Ok(PyBytes::new(py, &bytes))
        })
    }

    /// Sets all pairs; returns how many rows changed. After an error nothing is changed.
    fn set_matrix(&self, set: &str, bytes: Vec<u8>) -> Res<usize> {
        let set = set_named(set)?;
        self.with(|visibility| {
            let len = visibility.len();
            if len.checked_mul(len) != Some(bytes.len()) {
                return Err(argument(format!("the matrix must be {len} by {len}")));
            }
            let mut rows = Vec::new();
            for (index, line) in bytes.chunks_exact(len.max(1)).enumerate() {
                let old = visibility.row(set, index)?.unwrap_or_else(|| visibility.plain(true));
                let mut new = old.clone();
                for (to, cell) in line.iter().enumerate() {
                    if old.sees(to) != (*cell != 0) {
                        new.set(to, *cell != 0)?;
                    }
                }
                if new != old {
                    rows.push((index, new));
                }
            }
            let changed = rows.len();
            rows.into_iter().try_for_each(|(index, new)| visibility.set_row(set, index, new))?;
            Ok(changed)
        })
    }
}
