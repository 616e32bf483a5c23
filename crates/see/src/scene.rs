//! A scene: everything of a map that is drawn, in the axes and units of the map.

use std::collections::BTreeMap;
use std::ops::Range;

use bspkit::content::outlines::Outlines;
use bspkit::content::select::Selector;
use bspkit::dialect::{LightModel, Role};
use bspkit::finding::Finding;
use bspkit::{Bsp, Error, ErrorKind, Result};
use bspkit_game::assets::Files;

use crate::builder::{Builder, Findings, Key};
use crate::chosen::{Chosen, Entities, Only};
use crate::light::{self, Lighting};
use crate::picture::Picture;
use crate::placed::Placed;
use crate::textures::Textures;
use crate::{entities, rings, surfaces};

/// What is read of a map, and how finely.
///
/// ```
/// use bspkit_see::{Options, Scene};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let dark = Scene::read(&map, &Options { light: false, ..Options::default() })?;
/// assert!(dark.light.is_none());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone)]
#[allow(clippy::exhaustive_structs)]
pub struct Options<'o> {
    /// How many straight pieces each curve of a patch becomes, 1 to 32.
    pub detail: usize,
    /// Whether light is read.
    pub light: bool,
    /// Whether the light is that for high dynamic range, where a map has both; its exact luxels are images too.
    pub hdr: bool,
    /// What of the map; all of it if nothing is chosen.
    pub only: Option<Only>,
    /// Whether all models become one.
    pub merge: bool,
    /// Files of the game beside the map: textures and palettes.
    pub files: Option<&'o dyn Files>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut options = f.debug_struct("Options");
        options.field("detail", &self.detail).field("light", &self.light).field("hdr", &self.hdr);
        options.field("only", &self.only).field("merge", &self.merge).finish_non_exhaustive()
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { detail: 6, light: true, hdr: false, only: None, merge: false, files: None }
    }
}

impl Options<'_> {
    /// The most straight pieces of a curve.
    pub const MOST_DETAIL: usize = 32;
}

/// Everything of a map that is drawn.
///
/// ```
/// use bspkit_see::{Options, Scene};
/// let map = bspkit::Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp")?;
/// let scene = Scene::read(&map, &Options::default())?;
/// assert_eq!(scene.models.len(), map.records("models")?.len());
/// assert!(scene.textures.iter().any(|texture| texture.picture.is_some()));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Scene {
    /// The dialect of the map.
    pub dialect: &'static str,
    /// What surfaces look like.
    pub textures: Vec<Texture>,
    /// The light of all surfaces; `None` if the map has none, or if it is left out.
    pub light: Option<LightPages>,
    /// The world and the brush models, by their numbers. Those that are left out have no parts.
    pub models: Vec<Model>,
    /// Entities and props.
    pub placed: Vec<Placed>,
    /// What is not shown, and why.
    pub findings: Vec<Finding>,
}

/// The surfaces of a brush model; model 0 is the world.
///
/// ```
/// use bspkit_see::{Options, Scene};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let scene = Scene::read(&map, &Options::default())?;
/// let door = &scene.models[1];
/// assert_eq!((door.triangles(), door.faces), (12, 6));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Model {
    /// Triangles, by what they look like.
    pub parts: Vec<Part>,
    /// How many faces of the map are in them.
    pub faces: usize,
}

impl Model {
    /// How many triangles it has.
    pub fn triangles(&self) -> usize {
        self.parts.iter().map(|part| part.triangles.len()).sum()
    }

    /// How many vertices it has.
    pub fn vertices(&self) -> usize {
        self.parts.iter().map(|part| part.vertices.len()).sum()
    }

    /// The box around its vertices, in units; `None` if it has none.
    pub fn bounds(&self) -> Option<[[f32; 3]; 2]> {
        let points = || self.parts.iter().flat_map(|part| &part.vertices).map(|vertex| vertex.point);
        points().next()?;
        let edge = |start: f32, choose: fn(f32, f32) -> f32| {
            std::array::from_fn(|axis| points().map(|point| point[axis]).fold(start, choose))
        };
        Some([edge(f32::INFINITY, f32::min), edge(f32::NEG_INFINITY, f32::max)])
    }
}

/// Triangles that look alike.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Part {
    /// The index of the texture.
    pub texture: usize,
    /// The page of the light; `None` for a scene without light.
    pub page: Option<usize>,
    /// Whether the colors of the vertices have a meaning.
    pub has_colors: bool,
    /// The corners.
    pub vertices: Vec<Vertex>,
    /// Indices of vertices, counterclockwise as seen from the front.
    pub triangles: Vec<[u32; 3]>,
}

/// A corner of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Vertex {
    /// Where it is, in units.
    pub point: [f32; 3],
    /// The direction it faces, of length 1.
    pub normal: [f32; 3],
    /// Where in the texture: columns and rows, 1 for the whole width and height, from the upper left corner.
    pub texture: [f32; 2],
    /// Where on the page of light: 0 to 1, from the upper left corner.
    pub light: [f32; 2],
    /// Light by vertex (Quake III): red, green, blue. On displacements the opacity says how much of the second texture
    /// shows.
    pub color: [u8; 4],
    /// The face or surface of the map.
    pub face: u32,
}

/// What a surface looks like.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Texture {
    /// The name that the map has for it; it may be empty.
    pub name: String,
    /// What it is.
    pub surface: Surface,
    /// Columns and rows, if they are known.
    pub size: Option<[u32; 2]>,
    /// Its pixels, if they were found.
    pub picture: Option<Picture>,
    /// The color for a texture without pixels: red, green, blue of linear light, 0 to 1.
    pub color: [f32; 3],
    /// How opaque it is, 0 to 1.
    pub opacity: f32,
}

/// What kind of surface a texture is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Surface {
    /// Walls, floors and everything else.
    Solid,
    /// The sky is drawn in its place.
    Sky,
    /// Water, slime and lava.
    Liquid,
    /// Glass and other surfaces that one sees through.
    Glass,
    /// A surface with holes.
    Fence,
    /// Not drawn by the game: triggers, clips, hints.
    Tool,
}

impl Surface {
    /// Its name in files: lower case.
    pub fn name(self) -> &'static str {
        match self {
            Surface::Solid => "solid",
            Surface::Sky => "sky",
            Surface::Liquid => "liquid",
            Surface::Glass => "glass",
            Surface::Fence => "fence",
            Surface::Tool => "tool",
        }
    }
}

/// The luxels of the faces on pages: for each style the pages with its light.
///
/// ```
/// use bspkit_see::{Options, Scene};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let light = Scene::read(&map, &Options::default())?.light.unwrap();
/// assert_eq!(light.images.iter().map(|image| image.style).collect::<Vec<_>>(), [0, 2, 32]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LightPages {
    /// The name of the set, if the map has several: `ldr`, `hdr`, `decoupled`, `rgb`.
    pub set: &'static str,
    /// Columns and rows of each page.
    pub pages: Vec<[usize; 2]>,
    /// The light that the brightest color of an image means; 1 shows a texture unchanged.
    pub brightest: f32,
    /// The images: of each style that faces have, by its number. Light of a style is added to that of the others.
    pub images: Vec<LightImage>,
}

/// An image of light.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LightImage {
    /// The number of the style; the light of style 0 is always on.
    pub style: u8,
    /// The page.
    pub page: usize,
    /// Whether its four channels are the luxels of the map: red, green, blue, and the exponent plus 128.
    pub is_exact: bool,
    /// The pixels.
    pub picture: Picture,
}

/// A map that is being read.
pub(crate) struct Reading<'r, 'a> {
    pub(crate) map: &'r Bsp<'a>,
    pub(crate) options: &'r Options<'r>,
    pub(crate) textures: Textures,
    pub(crate) lighting: Option<Lighting<'a>>,
    pub(crate) chosen: Chosen,
    /// The faces of each model.
    pub(crate) models: Vec<Range<usize>>,
    pub(crate) builder: Builder,
}

impl Scene {
    /// Reads what is drawn of a map.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`], [`ErrorKind::NotFound`] or [`ErrorKind::Malformed`] if the faces cannot be read at
    /// all; [`ErrorKind::NotFound`] if nothing is what was chosen; [`ErrorKind::Argument`] for a detail that is out of
    /// range.
    pub fn read(map: &Bsp<'_>, options: &Options<'_>) -> Result<Self> {
        if !(1..=Options::MOST_DETAIL).contains(&options.detail) {
            let message = format!("the detail is {}, not 1 to {}", options.detail, Options::MOST_DETAIL);
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let mut findings = Findings::default();
        let models = models(map);
        let (placed, entities) = entities::read(map, models.len(), &mut findings);
        let select = |selector: &Selector| entities.as_ref().map_or_else(Vec::new, |all| all.matching(selector));
        let entities = Entities { placed: &placed, select: &select };
        let chosen = Chosen::new(options.only.as_ref(), entities, models.len())?;
        let is_face = chosen.faces(&models);
        let lighting = match options.light {
            true => light::read(map, options.hdr, &is_face, &mut findings),
            false => None,
        };
        let textures = Textures::read(map, options.files, &mut findings);
        let builder = Builder::new(models.len(), findings);
        let mut reading = Reading { map, options, textures, lighting, chosen, models, builder };
        match map.dialect().light {
            LightModel::Pages(_) => surfaces::read(&mut reading)?,
            _ => rings::read(&mut reading)?,
        }
        let Reading { textures, lighting, chosen, builder, .. } = reading;
        let (models, mut findings) = builder.finish();
        let light = lighting.and_then(|lighting| lighting.draw(options.hdr, &mut findings));
        let placed = placed.into_iter().filter(|placed| chosen.has(placed)).collect();
        let textures = textures.finish();
        let scene = Scene { dialect: map.dialect().name, textures, light, models, placed, findings: findings.finish() };
        Ok(if options.merge { scene.merged() } else { scene.without_unused() })
    }

    /// The scene with all models in one, where the entities have them. Models that no entity has are in it too.
    #[must_use]
    pub fn merged(mut self) -> Self {
        let mut builder = Builder::new(1, Findings::of(std::mem::take(&mut self.findings)));
        for (model, offset) in self.places() {
            builder.add_model(&self.models[model], offset);
        }
        let (models, findings) = builder.finish();
        (self.models, self.findings) = (models, findings.finish());
        for placed in &mut self.placed {
            placed.model = placed.model.filter(|model| *model == 0);
        }
        self.without_unused()
    }

    /// Every place of every model with surfaces: where entities have it, or at its origin if none has it.
    pub fn places(&self) -> Vec<(usize, [f32; 3])> {
        let mut found: BTreeMap<usize, Vec<[f32; 3]>> = BTreeMap::new();
        for placed in &self.placed {
            let Some(model) = placed.model else { continue };
            // The world does not move.
            found.entry(model).or_default().push(if model == 0 { [0.0; 3] } else { placed.origin });
        }
        let mut places = Vec::new();
        let filled = self.models.iter().enumerate().filter(|(_, model)| !model.parts.is_empty());
        for (index, _) in filled {
            let own = found.remove(&index).unwrap_or_else(|| vec![[0.0; 3]]);
            places.extend(own.into_iter().map(|origin| (index, origin)));
        }
        places
    }

    /// The scene without textures that no part has.
    fn without_unused(mut self) -> Self {
        let mut numbers = vec![None; self.textures.len()];
        for part in self.models.iter().flat_map(|model| &model.parts) {
            numbers[part.texture] = Some(0);
        }
        numbers.iter_mut().flatten().enumerate().for_each(|(next, number)| *number = next);
        let mut index = 0;
        self.textures.retain(|_| {
            index += 1;
            numbers[index - 1].is_some()
        });
        for part in self.models.iter_mut().flat_map(|model| &mut model.parts) {
            part.texture = numbers[part.texture].unwrap_or(0);
        }
        self
    }
}

/// The faces of each model. If the models cannot be read, one has all faces.
fn models(map: &Bsp<'_>) -> Vec<Range<usize>> {
    let outlines = Outlines::read(map);
    match map.records(Role::Models).map_or(0, |models| models.len()) {
        0 => vec![outlines.world()],
        count => (0..count).map(|model| outlines.model(model)).collect(),
    }
}

impl Reading<'_, '_> {
    /// Adds a face: the corners, and triangles of their indices, counterclockwise.
    pub(crate) fn add(&mut self, model: usize, key: Key, vertices: &[Vertex], triangles: &[[u32; 3]]) -> bool {
        self.builder.add(model, key, vertices, triangles)
    }

    /// The models that are shown, with the faces of each.
    pub(crate) fn shown(&self) -> Vec<(usize, Range<usize>)> {
        let shown = self.models.iter().enumerate().filter(|(model, _)| self.chosen.has_model(*model));
        shown.map(|(model, faces)| (model, faces.clone())).collect()
    }
}
