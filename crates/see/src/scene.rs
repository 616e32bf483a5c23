//! A scene: everything of a map that is drawn, in the axes and units of the map.

use std::collections::BTreeMap;
use std::ops::Range;

use bspkit::content::outlines::Outlines;
use bspkit::content::select::Selector;
use bspkit::dialect::{LightModel, Role};
use bspkit::finding::Finding;
use bspkit::{Bsp, Error, ErrorKind, Place, Result};

use crate::builder::{Builder, Findings, LUMP};
use crate::chosen::{Chosen, Entities};
use crate::light;
use crate::options::Options;
use crate::parts::{LightPages, Model, Texture};
use crate::placed::Placed;
use crate::reading::Reading;
use crate::spaces::{self, Spaces};
use crate::textures::Textures;
use crate::{entities, rings, surfaces};

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
    /// Where the eyes of a player are at the first place where players begin, in units, and how far they look to the
    /// left of east, in degrees; `None` if the map has none. It is also of a scene that leaves the entity out.
    pub start: Option<[f32; 4]>,
    /// The tree and what is visible, if that was asked for and the map has it.
    pub spaces: Option<Spaces>,
    /// What is not shown, and why.
    pub findings: Vec<Finding>,
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
        name_lost(map, &mut findings);
        let models = models(map);
        let (placed, entities) = entities::read(map, models.len(), &mut findings);
        let select = |selector: &Selector| entities.as_ref().map_or_else(Vec::new, |all| all.matching(selector));
        let entities = Entities { placed: &placed, select: &select };
        let chosen = Chosen::new(options.only.as_ref(), entities, models.len())?;
        let is_face = chosen.faces(&models);
        let lighting = match options.light {
            true => light::read(map, options, &is_face, &mut findings),
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
        let spaces = options.spaces.then(|| spaces::read(map, &placed, &mut findings)).flatten();
        let start = entities::start(map, &placed);
        let placed = placed.into_iter().filter(|placed| chosen.has(placed)).collect();
        let textures = textures.finish();
        let (dialect, findings) = (map.dialect().name, findings.finish());
        let scene = Scene { dialect, textures, light, models, placed, start, spaces, findings };
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

/// The lumps that a scene is made of. Light says itself what it lacks.
const SHOWN: [Role; 9] = [
    Role::Entities,
    Role::Models,
    Role::Faces,
    Role::Edges,
    Role::SurfEdges,
    Role::Vertexes,
    Role::DrawIndexes,
    Role::TexInfo,
    Role::Textures,
];

/// Names the lumps that the file has not, or not whole.
fn name_lost(map: &Bsp<'_>, findings: &mut Findings) {
    for slot in SHOWN.into_iter().filter_map(|role| map.role(role)).filter(|slot| slot.bounds.is_damaged()) {
        findings.add(&LUMP, Place::default().lump(slot.name.as_str()), slot.bounds.to_string());
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
