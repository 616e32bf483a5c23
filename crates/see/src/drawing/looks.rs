//! The pixels of textures and of pages of light.

use bspkit::bytes::{amount, whole_part};

use crate::picture::Picture;
use crate::points::{cross, minus, single};
use crate::scene::Scene;

/// Pixels of a picture, and of its halves.
pub(super) struct Raster {
    size: [usize; 2],
    levels: Vec<Level>,
}

struct Level {
    size: [usize; 2],
    pixels: Vec<[u8; 4]>,
}

/// All pictures of a scene.
pub(super) struct Looks {
    pub(super) textures: Vec<Raster>,
    /// The light that is shown, by page.
    pub(super) pages: Vec<Option<Raster>>,
}

impl Looks {
    pub(super) fn read(scene: &Scene) -> Self {
        let textures = scene.textures.iter().map(|texture| {
            let pixels = texture.picture.as_ref().and_then(Raster::read);
            pixels.map(Raster::halved).unwrap_or_else(|| Raster::plain(texture.color))
        });
        let mut pages = Vec::new();
        if let Some(light) = &scene.light {
            pages.resize_with(light.pages.len(), || None);
            for image in light.images.iter().filter(|image| image.style == light.base_style() && !image.is_exact) {
                if let Some(page) = pages.get_mut(image.page) {
                    *page = Raster::read(&image.picture);
                }
            }
        }
        Looks { textures: textures.collect(), pages }
    }
}

impl Raster {
    fn read(picture: &Picture) -> Option<Self> {
        let image = image::load_from_memory_with_format(&picture.png, image::ImageFormat::Png).ok()?.into_rgba8();
        let size = picture.size.map(bspkit::bytes::index);
        let pixels = image.into_raw().as_chunks::<4>().0.to_vec();
        (size[0] > 0 && pixels.len() == size[0] * size[1])
            .then(|| Raster { size, levels: vec![Level { size, pixels }] })
    }

    /// One color of linear light.
    fn plain(color: [f32; 3]) -> Self {
        let byte = |part: f32| bspkit::bytes::nearest_byte(f64::from(part.clamp(0.0, 1.0)).powf(1.0 / 2.2) * 255.0);
        let [red, green, blue] = color.map(byte);
        Raster { size: [1, 1], levels: vec![Level { size: [1, 1], pixels: vec![[red, green, blue, u8::MAX]] }] }
    }

    /// With the halves of the picture, down to one pixel.
    fn halved(mut self) -> Self {
        while let Some(last) = self.levels.last().filter(|last| last.size != [1, 1]) {
            let size = last.size.map(|side| (side / 2).max(1));
            let pixel =
                |x: usize, y: usize| last.pixels[y.min(last.size[1] - 1) * last.size[0] + x.min(last.size[0] - 1)];
            let mean = |at: usize| {
                let (x, y) = (at % size[0] * 2, at / size[0] * 2);
                let four = [pixel(x, y), pixel(x + 1, y), pixel(x, y + 1), pixel(x + 1, y + 1)];
                std::array::from_fn(|part| {
                    let sum: u16 = four.iter().map(|one| u16::from(one[part])).sum();
                    u8::try_from(sum / 4).unwrap_or(u8::MAX)
                })
            };
            let pixels = (0..size[0] * size[1]).map(mean).collect();
            self.levels.push(Level { size, pixels });
        }
        self
    }

    /// How many pixels lie on a unit of a triangle, along a side.
    pub(super) fn density(&self, [a, b, c]: [([f32; 3], [f32; 2]); 3]) -> f32 {
        let sides = [minus(b.0, a.0), minus(c.0, a.0)];
        let area = cross(sides[0], sides[1]).iter().map(|part| part * part).sum::<f32>().sqrt();
        let [u, v] = [0, 1].map(|axis| [b.1[axis] - a.1[axis], c.1[axis] - a.1[axis]]);
        let own = (u[0] * v[1] - u[1] * v[0]).abs() * single(self.size[0]) * single(self.size[1]);
        let density = (own / area).sqrt();
        if density.is_finite() { density } else { 0.0 }
    }

    /// The pixel at a place of a picture that repeats, from that half of it that has about one pixel for each of the
    /// canvas.
    pub(super) fn repeated(&self, place: [f32; 2], texels: f32) -> [f32; 4] {
        let mut level = 0;
        let mut left = texels;
        while left > 1.5 && level + 1 < self.levels.len() {
            (level, left) = (level + 1, left / 2.0);
        }
        let Level { size, pixels } = &self.levels[level];
        let [x, y] = [0, 1].map(|axis| {
            let share = f64::from(place[axis]).rem_euclid(1.0);
            whole_part(share * amount(size[axis])).min(size[axis] - 1)
        });
        pixels[y * size[0] + x].map(f32::from)
    }

    /// The color at a place of a page, between its pixels.
    pub(super) fn between(&self, place: [f32; 2]) -> [f32; 3] {
        let Some(Level { size, pixels }) = self.levels.first() else { return [0.0; 3] };
        let [x, y] = [0, 1].map(|axis| {
            let last = amount(size[axis] - 1);
            (f64::from(place[axis]) * amount(size[axis]) - 0.5).clamp(0.0, last)
        });
        let (left, top) = (whole_part(x), whole_part(y));
        let (right, bottom) = ((left + 1).min(size[0] - 1), (top + 1).min(size[1] - 1));
        let [over, down] = [x - amount(left), y - amount(top)].map(bspkit::bytes::rounded);
        let pixel = |x: usize, y: usize| pixels[y * size[0] + x].map(f32::from);
        let four = [pixel(left, top), pixel(right, top), pixel(left, bottom), pixel(right, bottom)];
        std::array::from_fn(|part| {
            let [first, second] =
                [[0, 1], [2, 3]].map(|[one, other]| four[one][part] + (four[other][part] - four[one][part]) * over);
            first + (second - first) * down
        })
    }
}
