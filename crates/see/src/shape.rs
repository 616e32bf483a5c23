//! What all points of a face have in common: its direction, its texture, its light.

use bspkit::bytes::{rounded, short};

use crate::light::Spread;
use crate::parts::Vertex;
use crate::points::{Point, along, single};

/// How a texture lies on a face.
pub(crate) struct Mapping {
    pub(crate) vectors: [[f32; 4]; 2],
    pub(crate) size: [f64; 2],
}

impl Mapping {
    fn of(&self, point: Point) -> [f32; 2] {
        std::array::from_fn(|axis| {
            let place = rounded(along(self.vectors[axis], point) / self.size[axis]);
            if place.is_finite() { place } else { 0.0 }
        })
    }
}

/// What all points of a face have in common.
pub(crate) struct Shape<'s> {
    pub(crate) face: usize,
    pub(crate) facing: Point,
    pub(crate) mapping: &'s Mapping,
    pub(crate) spread: Option<&'s Spread>,
}

impl Shape<'_> {
    /// The vertices of corners, with normals of their own if they have such.
    pub(crate) fn vertices(&self, corners: &[Point], normals: Option<&[Point]>) -> Vec<Vertex> {
        let normal = |corner: usize| normals.and_then(|normals| normals.get(corner)).copied().unwrap_or(self.facing);
        corners.iter().enumerate().map(|(corner, point)| self.vertex(*point, normal(corner))).collect()
    }

    /// The vertex of a point on the face.
    pub(crate) fn vertex(&self, point: Point, normal: Point) -> Vertex {
        Vertex {
            point,
            normal,
            texture: self.mapping.of(point),
            light: self.spread.map_or([0.0; 2], |spread| spread.of(point)),
            color: [255; 4],
            face: short(self.face),
        }
    }
}

/// Where on a grid a point is, 0 to 1.
pub(crate) fn share(step: usize, steps: usize) -> f32 {
    single(step) / single(steps.max(1))
}
