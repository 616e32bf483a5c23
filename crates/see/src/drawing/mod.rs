//! Pictures of a scene, drawn by the processor: from the place of a player, from above, or from any place.

mod camera;
mod canvas;
mod looks;

use bspkit::{Error, ErrorKind, Result};

use crate::parts::{Part, Surface};
use crate::picture::Picture;
use crate::points::{minus, plus};
use crate::scene::Scene;
use camera::Camera;
pub use camera::View;
use canvas::{Canvas, Corner, Shade};
use looks::{Looks, Raster};

/// The most pixels of a picture.
const MOST_PIXELS: u32 = 1 << 22;

/// Each pixel is the mean of this many, squared.
const FINER: u32 = 2;

/// The color where nothing is: red, green, blue.
const NOTHING: [u8; 3] = [26, 26, 30];

/// The color of the sky.
const SKY: [u8; 3] = [118, 150, 190];

/// How much brighter than its bytes light is shown, as the engines of Quake do it.
const BRIGHTER: f32 = 2.0;

/// Draws a picture of a scene with this many columns and rows.
///
/// It shows the surfaces of the world and of brush models with their textures and the light of style 0, from the front
/// alone. Sky is a plain color, and left out from above. Tool surfaces are not drawn, and neither are props and other
/// entities without a brush model. The same scene gives the same bytes.
///
/// ```
/// use bspkit_see::{Options, Scene, View, draw};
/// let map = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
/// let scene = Scene::read(&map, &Options::default())?;
/// let picture = draw(&scene, View::Start, [320, 200])?;
/// assert!(picture.size == [320, 200] && picture.png.starts_with(b"\x89PNG"));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] for a picture without pixels or of more than 4,194,304; [`ErrorKind::NotFound`] for a scene
/// without surfaces; [`ErrorKind::TooLarge`] if more surfaces lie one over the other than can be drawn in time.
pub fn draw(scene: &Scene, view: View, [columns, rows]: [u32; 2]) -> Result<Picture> {
    if columns.checked_mul(rows).is_none_or(|pixels| pixels == 0 || pixels > MOST_PIXELS) {
        let message = format!("a picture of {columns} by {rows} pixels, not 1 to {MOST_PIXELS} of them");
        return Err(Error::new(ErrorKind::Argument, message));
    }
    let size = [columns, rows].map(|side| bspkit::bytes::index(side * FINER));
    let camera = Camera::new(scene, view, size)
        .ok_or_else(|| Error::new(ErrorKind::NotFound, "the map has no surfaces to draw"))?;
    let (looks, mut canvas) = (Looks::read(scene), Canvas::new(size, NOTHING));
    let mut clear = Vec::new();
    let mut is_empty = true;
    for (model, offset) in scene.places() {
        for part in &scene.models[model].parts {
            let is_clear = match scene.textures[part.texture].surface {
                Surface::Tool => continue,
                // The sky would hide what is under it.
                Surface::Sky if view == View::Above => continue,
                Surface::Liquid | Surface::Glass => true,
                Surface::Solid | Surface::Sky | Surface::Fence => false,
            };
            is_empty = false;
            let look = Look::new(scene, &looks, part);
            for corners in triangles(part, offset) {
                if is_clear {
                    clear.push((camera.distance(corners.map(|corner| corner.0)), look.clone(), corners));
                } else {
                    look.draw(&camera, corners, &mut canvas)?;
                }
            }
        }
    }
    if is_empty {
        return Err(Error::new(ErrorKind::NotFound, "the map has no surfaces to draw: all are of tools"));
    }
    // What one sees through is drawn from back to front, over all else.
    clear.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (_, look, corners) in clear {
        look.draw(&camera, corners, &mut canvas)?;
    }
    Picture::rgb([columns, rows], &canvas.smaller(bspkit::bytes::index(FINER)))
}

/// A corner of a triangle: its place, and columns and rows of its texture, of its light, and its color.
type Point = ([f32; 3], [f32; 7]);

fn triangles(part: &Part, offset: [f32; 3]) -> impl Iterator<Item = [Point; 3]> {
    part.triangles.iter().filter_map(move |triangle| {
        let mut corners = [([0.0; 3], [0.0; 7]); 3];
        for (corner, index) in corners.iter_mut().zip(triangle) {
            let vertex = part.vertices.get(bspkit::bytes::index(*index))?;
            let [u, v] = vertex.texture;
            let [s, t] = vertex.light;
            let [red, green, blue, _] = vertex.color.map(|part| f32::from(part) / 255.0);
            *corner = (plus(vertex.point, offset), [u, v, s, t, red, green, blue]);
        }
        Some(corners)
    })
}

/// How the triangles of a part are drawn.
#[derive(Clone)]
struct Look<'s> {
    surface: Surface,
    texture: &'s Raster,
    light: Option<&'s Raster>,
    /// Whether light is by vertex.
    has_colors: bool,
    /// Whether the scene has light at all.
    is_lit: bool,
    opacity: f32,
    /// What light is multiplied by.
    brighter: f32,
}

impl<'s> Look<'s> {
    fn new(scene: &Scene, looks: &'s Looks, part: &Part) -> Self {
        let texture = &scene.textures[part.texture];
        let brightest = scene.light.as_ref().map_or(1.0, |light| light.brightest);
        // Surfaces without luxels share one place of a page: they are dark, or as bright as their texture.
        let is_unlit = part.vertices.windows(2).all(|pair| pair[0].light == pair[1].light);
        let has_colors = part.has_colors && is_unlit && scene.light.is_some();
        Look {
            surface: texture.surface,
            texture: &looks.textures[part.texture],
            light: part.page.filter(|_| !has_colors).and_then(|page| looks.pages.get(page)?.as_ref()),
            has_colors,
            is_lit: scene.light.is_some(),
            opacity: texture.opacity,
            // Bytes are shares of light by the usual curve, of exponent 2.2.
            brighter: match () {
                () if is_unlit => 1.0,
                () if brightest > 1.0 => (BRIGHTER * brightest).powf(1.0 / 2.2),
                () => BRIGHTER,
            },
        }
    }

    fn draw(&self, camera: &Camera, corners: [Point; 3], canvas: &mut Canvas) -> Result<()> {
        let has_back = !matches!(self.surface, Surface::Solid | Surface::Sky);
        let plain = if self.is_lit { 1.0 } else { by_direction(&corners) };
        let density = self.texture.density(corners.map(|(point, rest)| (point, [rest[0], rest[1]])));
        for fan in camera.seen(corners) {
            canvas.triangle(fan, has_back, &|at: &Shade| self.color(at, plain, density * camera.footprint(at.near)))?;
        }
        Ok(())
    }

    /// The color of a place, and how opaque it is; `None` for a hole. `texels` says how many pixels of the texture
    /// lie on one of the picture along a side.
    fn color(&self, at: &Shade, plain: f32, texels: f32) -> Option<([f32; 3], f32)> {
        if self.surface == Surface::Sky {
            return Some((SKY.map(f32::from), 1.0));
        }
        let [u, v, s, t, red, green, blue] = at.rest;
        let [r, g, b, alpha] = self.texture.repeated([u, v], texels);
        if alpha < 128.0 && self.surface == Surface::Fence {
            return None;
        }
        let light = match self.light {
            Some(page) => page.between([s, t]).map(|part| part * self.brighter / 255.0),
            // The brightest color shows the texture unchanged: surfaces that light does not reach have it.
            None if self.has_colors => [red, green, blue].map(|part| (part * BRIGHTER).min(1.0)),
            None => [plain; 3],
        };
        let color = [r * light[0], g * light[1], b * light[2]].map(|part| part.min(255.0));
        let is_clear = matches!(self.surface, Surface::Liquid | Surface::Glass);
        Some((color, if is_clear { self.opacity * alpha / 255.0 } else { 1.0 }))
    }
}

/// The brightness of a surface without light: by its direction, such that edges are seen.
fn by_direction(corners: &[Point; 3]) -> f32 {
    let [a, b, c] = corners.map(|corner| corner.0);
    let normal = crate::points::unit(crate::points::cross(minus(b, a), minus(c, a))).unwrap_or([0.0, 0.0, 1.0]);
    0.72 + 0.16 * normal[2] + 0.08 * normal[0] + 0.04 * normal[1]
}

/// A corner on the canvas.
fn corner(place: [f64; 2], near: f64, weight: f64, rest: [f32; 7]) -> Corner {
    Corner { place, near, weight, rest: rest.map(|part| f64::from(part) * weight) }
}
