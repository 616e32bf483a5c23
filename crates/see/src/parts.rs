//! What a scene is made of: models with triangles, textures, pages of light.

use crate::picture::Picture;

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

impl LightPages {
    /// The style whose light is shown where one is: 0, the light that is always on, or the lowest if no face has that.
    pub fn base_style(&self) -> u16 {
        self.images.first().map_or(0, |image| image.style)
    }
}

/// An image of light.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LightImage {
    /// The number of the style; the light of style 0 is always on.
    pub style: u16,
    /// The page.
    pub page: usize,
    /// Whether its four channels are the luxels of the map: red, green, blue, and the exponent plus 128.
    pub is_exact: bool,
    /// The pixels.
    pub picture: Picture,
}
