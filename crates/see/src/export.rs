//! Files of other programs: glTF and OBJ.

use std::str::FromStr;

use bspkit::finding::Finding;
use bspkit::{Error, Result, near};
use serde::Serialize;

use crate::files::File;
use crate::parts::{LightImage, Model};
use crate::placed::What;
use crate::scene::Scene;
use crate::{gltf, obj};

/// What is written.
///
/// ```
/// use bspkit_see::Format;
/// assert_eq!("gltf".parse::<Format>()?, Format::Gltf);
/// assert_eq!(Format::of_name("rooms.GLB"), Some(Format::Glb));
/// assert_eq!("fbx".parse::<Format>().unwrap_err().hint().unwrap().to_string(), "the formats are glb, gltf, obj");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// glTF 2.0 in one file.
    Glb,
    /// glTF 2.0 as a text, with a file of numbers and one for each picture.
    Gltf,
    /// An OBJ with its MTL and a file for each picture. It has no light and no entities.
    Obj,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 3] = [Format::Glb, Format::Gltf, Format::Obj];

    /// Its name, which files end in.
    pub fn name(self) -> &'static str {
        match self {
            Format::Glb => "glb",
            Format::Gltf => "gltf",
            Format::Obj => "obj",
        }
    }

    /// The format of a file by the end of its name.
    pub fn of_name(name: &str) -> Option<Self> {
        name.rsplit_once('.').and_then(|(_, end)| end.parse().ok())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = Format::ALL.map(|format| (format.name(), format));
        near::one_of(text, all, "a format of meshes", "the formats are")
    }
}

/// Writes a scene. The first file has the given name; pictures and numbers in files of their own are beside it, with
/// names that begin with its name.
///
/// The same scene gives the same bytes.
///
/// # Errors
/// [`bspkit::ErrorKind::TooLarge`] if the files would be larger than the format can say.
pub fn export(scene: &Scene, format: Format, name: &str) -> Result<Vec<File>> {
    match format {
        Format::Glb => gltf::binary(scene, name),
        Format::Gltf => gltf::text(scene, name),
        Format::Obj => obj::write(scene, name),
    }
}

/// What an export holds, in numbers.
///
/// ```
/// use bspkit_see::{Options, Scene, Summary};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let scene = Scene::read(&map, &Options::default())?;
/// let summary = Summary::of(&scene);
/// assert_eq!((summary.model_count, summary.style_count), (scene.models.len(), 3));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The dialect of the map.
    pub dialect: &'static str,
    /// Models with surfaces.
    pub model_count: usize,
    /// Faces of the map that are shown.
    pub face_count: usize,
    /// Triangles.
    pub triangle_count: usize,
    /// Vertices.
    pub vertex_count: usize,
    /// Textures.
    pub texture_count: usize,
    /// Textures with pixels.
    pub picture_count: usize,
    /// Pages of light.
    pub page_count: usize,
    /// Styles of the light.
    pub style_count: usize,
    /// Entities.
    pub entity_count: usize,
    /// Props.
    pub prop_count: usize,
    /// What is not shown.
    pub findings: Vec<Finding>,
}

impl Summary {
    /// The numbers of a scene.
    pub fn of(scene: &Scene) -> Self {
        let sum = |count: fn(&Model) -> usize| scene.models.iter().map(count).sum();
        let count = |what: What| scene.placed.iter().filter(|placed| placed.what == what).count();
        let light = scene.light.as_ref();
        Summary {
            dialect: scene.dialect,
            model_count: scene.models.iter().filter(|model| !model.parts.is_empty()).count(),
            face_count: sum(|model| model.faces),
            triangle_count: sum(Model::triangles),
            vertex_count: sum(Model::vertices),
            texture_count: scene.textures.len(),
            picture_count: scene.textures.iter().filter(|texture| texture.picture.is_some()).count(),
            page_count: light.map_or(0, |light| light.pages.len()),
            style_count: light.map_or(0, |light| {
                let first = |image: &&LightImage| image.page == 0 && !image.is_exact;
                light.images.iter().filter(first).count()
            }),
            entity_count: count(What::Entity),
            prop_count: count(What::Prop),
            findings: scene.findings.clone(),
        }
    }
}
