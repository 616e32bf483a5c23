//! The light of faces.

use rhai::{Array, Dynamic};

use super::api::{Api, Res, wrong};
use super::entities::signed;
use super::map::{Map, State};
use super::vector::{Vector, number};
use crate::content::lightmap::{Adjustment, Image, Light, LightSet, Luxel};
use crate::{Error, ErrorKind, Result};

/// The light of a map.
#[derive(Clone)]
pub(super) struct Lights(pub(super) Map);

/// The light of a face, or a page of light.
#[derive(Clone)]
struct Face {
    map: Map,
    set: usize,
    block: usize,
    index: usize,
}

impl State {
    fn light(&mut self) -> Result<&mut Light<'static>> {
        self.settle()?;
        self.draft()?.light()
    }

    /// The light for an edit: the first edit keeps the light as it was, for the copies of sets.
    fn edited_light(&mut self) -> Result<&mut Light<'static>> {
        if self.light_before.is_none() && self.light()?.sets().iter().any(|set| set.copy_of().is_some()) {
            self.light_before = Some(self.light()?.clone());
        }
        self.light()
    }

    /// Edits the copies of edited light.
    pub(super) fn carry_light(&mut self) -> Result<()> {
        if let Some(before) = self.light_before.take() {
            self.light()?.carry(&before);
        }
        Ok(())
    }
}

/// The factors of a value: a number for all colors, or a vector.
fn adjustment(value: &Dynamic) -> Res<Adjustment> {
    let tint = value.read_lock::<Vector>().map(|vector| vector.0);
    let tint = tint.map_or_else(|| number(value).map(|factor| [factor; 3]), Ok)?;
    match tint.iter().all(|factor| (0.0..=1e6).contains(factor)) {
        true => Ok(Adjustment { tint, ..Adjustment::default() }),
        false => Err(wrong("a factor for light is from 0 to 1000000")),
    }
}

impl Lights {
    fn set(light: &Light<'_>, name: &str) -> Result<usize> {
        light.sets().iter().position(|set| set.name() == name).ok_or_else(|| {
            let names: Vec<_> = light.sets().iter().map(LightSet::name).collect();
            let error = Error::new(ErrorKind::NotFound, format!("the map has no light called {name}"));
            if names.is_empty() { error } else { error.with_hint(format!("it has {}", names.join(", "))) }
        })
    }

    fn names(&self) -> Res<Array> {
        self.0.look(|state| Ok(state.light()?.sets().iter().map(|set| set.name().into()).collect()))
    }

    fn faces(&self, set: Option<&str>) -> Res<Vec<Face>> {
        self.0.look(|state| {
            let light = state.light()?;
            let set = set.map_or(Ok(0), |name| Lights::set(light, name))?;
            let blocks = light.sets().get(set).map(LightSet::blocks).unwrap_or_default();
            let face = |(block, index)| Face { map: self.0.clone(), set, block, index };
            Ok(blocks.iter().map(|block| block.index()).enumerate().map(face).collect())
        })
    }

    fn face(&self, index: i64, set: Option<&str>) -> Res<Dynamic> {
        self.0.look(|state| {
            let light = state.light()?;
            let set = set.map_or(Ok(0), |name| Lights::set(light, name))?;
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            let block = light.sets().get(set).and_then(|found| found.block_of(index));
            let face = |block| Dynamic::from(Face { map: self.0.clone(), set, block, index });
            Ok(block.map_or(Dynamic::UNIT, face))
        })
    }

    fn scale(&self, factor: &Dynamic) -> Res<i64> {
        let adjustment = adjustment(factor)?;
        self.0.edit(|state| Ok(signed(state.edited_light()?.adjust(&adjustment, |_, _, _| true))))
    }
}

impl Face {
    fn look<T>(&self, work: impl FnOnce(&crate::content::lightmap::Block) -> T) -> Res<T> {
        self.map.look(|state| {
            let image = self.image(0);
            state.light()?.block(image).map(work).ok_or_else(gone)
        })
    }

    fn image(&self, style: usize) -> Image {
        Image { set: self.set, block: self.block, style, plane: 0 }
    }

    fn get(&self, x: i64, y: i64, style: i64) -> Res<Vector> {
        let [x, y, style] = [x, y, style].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        self.map.look(|state| {
            let luxel = state.light()?.luxel(self.image(style), [x, y]);
            luxel.map(|luxel| Vector(luxel.linear())).ok_or_else(outside)
        })
    }

    fn set(&self, x: i64, y: i64, style: i64, color: Vector) -> Res<()> {
        let [x, y, style] = [x, y, style].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        if !color.0.iter().all(|part| part.is_finite() && *part >= 0.0) {
            return Err(wrong("light is three numbers that are not negative"));
        }
        self.map.edit(|state| {
            let (light, image) = (state.edited_light()?, self.image(style));
            let old = light.luxel(image, [x, y]).ok_or_else(outside)?;
            if old.linear() != color.0 {
                light.set(image, [x, y], old.with_linear(color.0));
            }
            Ok(())
        })
    }

    fn scale(&self, factor: &Dynamic) -> Res<i64> {
        let adjustment = adjustment(factor)?;
        self.map.edit(|state| {
            let light = state.edited_light()?;
            let (styles, planes) = {
                let block = light.block(self.image(0)).ok_or_else(gone)?;
                (block.styles().len(), block.planes())
            };
            let mut changed = 0;
            for style in 0..styles {
                for plane in 0..planes {
                    let image = Image { plane, ..self.image(style) };
                    changed += light.update(image, |_, luxel: Luxel| adjustment.of(luxel));
                }
            }
            Ok(signed(changed))
        })
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::NotFound, "the light of the face is not there any more")
}

fn outside() -> Error {
    Error::new(ErrorKind::NotFound, "the face has no such luxel or style")
}

pub(super) fn register(api: &mut Api) {
    api.group("Light of faces");
    api.name::<Lights>("light");
    api.name::<Face>("face_light");
    api.get("map.light", "The light of a map; `light` is that of the edited map.", |map: &mut Map| Lights(map.clone()));
    api.call(
        "light.sets()",
        "The names of the sets of light: one empty name for most maps, such as `ldr` and `hdr` for others. An edit of \
         one set is carried over to a set that is a copy of it.",
        |light: &mut Lights| light.names(),
    );
    api.call(
        "light.face(index)",
        "The light of a face (of a page in Quake III), `()` if it has none. `light.face(index, set)` for another set \
         than the first.",
        |light: &mut Lights, index: i64| light.face(index, None),
    );
    api.also("face", |light: &mut Lights, index: i64, set: &str| light.face(index, Some(set)));
    api.call("light.faces()", "An array of the light of all lit faces; `light.faces(set)` for another set.", {
        |light: &mut Lights| light.faces(None).map(as_array)
    });
    api.also("faces", |light: &mut Lights, set: &str| light.faces(Some(set)).map(as_array));
    api.call(
        "light.scale(factor)",
        "Multiplies all light by a number or by a vector of factors for red, green and blue, in linear light, each \
         luxel once. Returns how many luxels changed.",
        |light: &mut Lights, factor: Dynamic| light.scale(&factor),
    );
    face(api);
}

fn face(api: &mut Api) {
    api.get("face.index", "The number of the face, or of the page.", |face: &mut Face| signed(face.index));
    api.get("face.width", "Columns of luxels.", |face: &mut Face| face.look(|block| signed(block.size()[0])));
    api.get("face.height", "Rows of luxels.", |face: &mut Face| face.look(|block| signed(block.size()[1])));
    api.get("face.styles", "The numbers of its light styles, in their order.", |face: &mut Face| {
        face.look(|block| block.styles().iter().map(|style| i64::from(*style).into()).collect::<Array>())
    });
    api.call(
        "face.get(x, y)",
        "A luxel as a vector of linear light, where 1 shows a texture unchanged. `face.get(x, y, style)` for the \
         style of this position in `face.styles`.",
        |face: &mut Face, x: i64, y: i64| face.get(x, y, 0),
    );
    api.also("get", |face: &mut Face, x: i64, y: i64, style: i64| face.get(x, y, style));
    api.call(
        "face.set(x, y, light)",
        "Sets a luxel; `face.set(x, y, style, light)` for another style than the first. Light that is too bright for \
         the format is clamped.",
        |face: &mut Face, x: i64, y: i64, color: Vector| face.set(x, y, 0, color),
    );
    api.also("set", |face: &mut Face, x: i64, y: i64, style: i64, color: Vector| face.set(x, y, style, color));
    api.call(
        "face.scale(factor)",
        "Multiplies the light of one face, with all its styles. Luxels that faces share change for all of them.",
        |face: &mut Face, factor: Dynamic| face.scale(&factor),
    );
}

fn as_array(faces: Vec<Face>) -> Array {
    faces.into_iter().map(Dynamic::from).collect()
}
