//! A map that is being read, for all that read surfaces.

use std::ops::Range;

use bspkit::Bsp;

use crate::builder::{Builder, Key};
use crate::chosen::Chosen;
use crate::light::Lighting;
use crate::options::Options;
use crate::parts::Vertex;
use crate::textures::Textures;

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
