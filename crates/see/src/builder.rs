//! Parts of models while they grow, within a bound of vertices, and what is left out.

use std::collections::BTreeMap;

use bspkit::Place;
use bspkit::finding::{Code, Finding, Severity};

use crate::parts::{Model, Part, Vertex};
use crate::points::plus;

/// The most vertices of a scene. The largest known maps have a tenth of it.
const MOST_VERTICES: usize = 1 << 23;

/// The most triangles of a scene.
const MOST_TRIANGLES: usize = 1 << 24;

/// The most findings of a code; the others are counted.
const MOST_OF_A_CODE: usize = 100;

pub(crate) static FACE: Code = Code::new("see-face", Severity::Error, "a face cannot be read, and is not shown");
pub(crate) static LUMP: Code =
    Code::new("see-lump", Severity::Error, "a lump is not, or not whole, in the file; what it lost is not shown");
pub(crate) static LIGHT: Code = Code::new("see-light", Severity::Error, "light cannot be read, and is not shown");
pub(crate) static TEXTURE: Code =
    Code::new("see-texture", Severity::Error, "a texture cannot be read; a color is shown in its place");
pub(crate) static ENTITY: Code = Code::new("see-entity", Severity::Error, "entities or props cannot be read");
pub(crate) static SPACE: Code =
    Code::new("see-space", Severity::Error, "visibility cannot be read; all is visible there");
pub(crate) static LIMIT: Code = Code::new("see-limit", Severity::Error, "more than is shown");
pub(crate) static OVERLAY: Code = Code::new("see-overlay", Severity::Note, "overlays are not shown");
pub(crate) static OUTSIDE: Code =
    Code::new("see-outside", Severity::Note, "something is not in the map, and is not shown");

/// What is not shown.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Finding>,
    counts: BTreeMap<&'static str, usize>,
}

impl Findings {
    /// Findings that are there already.
    pub(crate) fn of(all: Vec<Finding>) -> Self {
        let mut counts = BTreeMap::new();
        all.iter().for_each(|finding| *counts.entry(finding.code.name).or_default() += 1);
        Findings { all, counts }
    }

    pub(crate) fn add(&mut self, code: &'static Code, place: Place, message: impl Into<String>) {
        let count = self.counts.entry(code.name).or_default();
        *count += 1;
        if *count <= MOST_OF_A_CODE {
            self.all.push(Finding::new(code, place, message));
        } else if let Some(last) = self.all.iter_mut().rev().find(|finding| finding.code == code) {
            last.count += 1;
        }
    }

    /// An error of the library.
    pub(crate) fn fail(&mut self, code: &'static Code, error: &bspkit::Error) {
        let place = error.place().cloned().unwrap_or_default();
        let mut text = sentence(error);
        let mut cause = std::error::Error::source(error);
        while let Some(next) = cause {
            text.push_str(&format!(": {next}"));
            cause = next.source();
        }
        self.add(code, place, text);
    }

    pub(crate) fn finish(self) -> Vec<Finding> {
        self.all
    }
}

/// The text of an error without its place.
pub(crate) fn sentence(error: &bspkit::Error) -> String {
    let text = error.to_string();
    let place = error.place().map(|place| format!(" ({place})")).unwrap_or_default();
    text.strip_suffix(&place).map(str::to_owned).unwrap_or(text)
}

/// What the triangles of a part have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) texture: usize,
    pub(crate) page: Option<usize>,
    pub(crate) has_colors: bool,
}

/// The parts of all models.
#[derive(Debug)]
pub(crate) struct Builder {
    models: Vec<(BTreeMap<Key, Part>, usize)>,
    vertices: usize,
    triangles: usize,
    is_full: bool,
    pub(crate) findings: Findings,
}

impl Builder {
    pub(crate) fn new(models: usize, findings: Findings) -> Self {
        let models = (0..models).map(|_| (BTreeMap::new(), 0)).collect();
        Builder { models, vertices: MOST_VERTICES, triangles: MOST_TRIANGLES, is_full: false, findings }
    }

    /// Adds triangles; `false` if there is no room for more.
    pub(crate) fn add(&mut self, model: usize, key: Key, vertices: &[Vertex], triangles: &[[u32; 3]]) -> bool {
        if vertices.len() > self.vertices || triangles.len() > self.triangles {
            if !self.is_full {
                self.is_full = true;
                let message = format!("at most {MOST_VERTICES} vertices are shown; the other surfaces are left out");
                self.findings.add(&LIMIT, Place::default(), message);
            }
            return false;
        }
        let Some((parts, faces)) = self.models.get_mut(model).filter(|_| !triangles.is_empty()) else { return true };
        self.vertices -= vertices.len();
        self.triangles -= triangles.len();
        *faces += 1;
        let part = parts.entry(key).or_insert_with(|| Part {
            texture: key.texture,
            page: key.page,
            has_colors: key.has_colors,
            vertices: Vec::new(),
            triangles: Vec::new(),
        });
        // No part has more vertices than `MOST_VERTICES`.
        let first = bspkit::bytes::short(part.vertices.len());
        part.vertices.extend_from_slice(vertices);
        part.triangles.extend(triangles.iter().map(|triangle| triangle.map(|corner| first + corner)));
        true
    }

    /// Adds all parts of a model to the first one, moved.
    pub(crate) fn add_model(&mut self, model: &Model, offset: [f32; 3]) {
        for part in &model.parts {
            let key = Key { texture: part.texture, page: part.page, has_colors: part.has_colors };
            let moved = |vertex: &Vertex| Vertex { point: plus(vertex.point, offset), ..*vertex };
            let vertices: Vec<Vertex> = part.vertices.iter().map(moved).collect();
            if !self.add(0, key, &vertices, &part.triangles) {
                return;
            }
        }
        // Faces are counted, not parts.
        let added = model.parts.len();
        if let Some((_, faces)) = self.models.first_mut() {
            *faces = *faces - added + model.faces;
        }
    }

    pub(crate) fn finish(self) -> (Vec<Model>, Findings) {
        let models =
            self.models.into_iter().map(|(parts, faces)| Model { parts: parts.into_values().collect(), faces });
        (models.collect(), self.findings)
    }
}
