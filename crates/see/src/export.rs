//! Files of other programs: glTF and OBJ.

use std::str::FromStr;

use bspkit::bytes::rounded;
use bspkit::finding::Finding;
use bspkit::{Error, ErrorKind, Result, near};
use serde::Serialize;

use crate::placed::What;
use crate::scene::Scene;
use crate::{gltf, obj};

/// How long a unit of the map is in files: an inch, in metres. A player of Half-Life is then 1.83 metres tall, and one
/// of Quake 1.42.
pub const METRES: f64 = 0.0254;

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
        let found = Format::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| {
            let names = Format::ALL.map(Format::name);
            Error::new(ErrorKind::Argument, format!("`{text}` is not a format of meshes")).with_hint(near::or_all(
                text,
                &names,
                "the formats are",
            ))
        })
    }
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Its name: that of the export, or a path below its folder.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl File {
    pub(crate) fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        File { name: name.into(), bytes }
    }
}

/// Writes a scene. The first file has the given name; pictures and numbers in files of their own are beside it, with
/// names that begin with its name.
///
/// The same scene gives the same bytes.
///
/// # Errors
/// [`ErrorKind::TooLarge`] if the files would be larger than the format can say.
pub fn export(scene: &Scene, format: Format, name: &str) -> Result<Vec<File>> {
    match format {
        Format::Glb => gltf::binary(scene, name),
        Format::Gltf => gltf::text(scene, name),
        Format::Obj => obj::write(scene, name),
    }
}

/// A point of the map in the axes and the unit of files.
pub(crate) fn placed_at([x, y, z]: [f32; 3]) -> [f32; 3] {
    in_axes([x, y, z]).map(|part| rounded(f64::from(part) * METRES))
}

/// A direction of the map in the axes of files: z of the map is y, and y is -z. What is 0 has no sign.
pub(crate) fn in_axes([x, y, z]: [f32; 3]) -> [f32; 3] {
    [x, z, -y].map(|part| part + 0.0)
}

/// A name for files of the export: the part before the last dot.
pub(crate) fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The name of the file of a texture's picture.
pub(crate) fn file_of_texture(name: &str, index: usize, texture: &str) -> String {
    const MOST: usize = 48;
    let letters =
        texture.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' });
    let letters: String = letters.take(MOST).collect();
    format!("{}.textures/{index:03}_{letters}.png", stem(name))
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
        let sum = |count: fn(&crate::Model) -> usize| scene.models.iter().map(count).sum();
        let count = |what: What| scene.placed.iter().filter(|placed| placed.what == what).count();
        let light = scene.light.as_ref();
        Summary {
            dialect: scene.dialect,
            model_count: scene.models.iter().filter(|model| !model.parts.is_empty()).count(),
            face_count: sum(|model| model.faces),
            triangle_count: sum(crate::Model::triangles),
            vertex_count: sum(crate::Model::vertices),
            texture_count: scene.textures.len(),
            picture_count: scene.textures.iter().filter(|texture| texture.picture.is_some()).count(),
            page_count: light.map_or(0, |light| light.pages.len()),
            style_count: light.map_or(0, |light| {
                let first = |image: &&crate::LightImage| image.page == 0 && !image.is_exact;
                light.images.iter().filter(first).count()
            }),
            entity_count: count(What::Entity),
            prop_count: count(What::Prop),
            findings: scene.findings.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_is_y_in_files() {
        assert_eq!(in_axes([1.0, 2.0, 3.0]), [1.0, 3.0, -2.0]);
        assert_eq!(placed_at([1000.0, 0.0, 0.0]), [25.4, 0.0, 0.0]);
        assert!(in_axes([0.0; 3]).iter().all(|part| part.is_sign_positive()));
    }

    #[test]
    fn names_of_files_are_plain() {
        let odd = file_of_texture("a b.gltf", 7, "../e1u1/../wall\u{202e}\0.png");
        assert_eq!(odd, "a b.textures/007____e1u1____wall___png.png");
        assert!(file_of_texture("x.obj", 1, &"w".repeat(500)).len() < 80);
    }
}
