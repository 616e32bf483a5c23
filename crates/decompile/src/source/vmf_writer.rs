//! `.vmf` texts, as Hammer writes them.

use std::io::Write as _;

use super::numbers::{numbers, quoted, writable};
use super::{Alignment, Brush, Displacement, Entity, Side, Source};

const HEAD: &str = "versioninfo\n{\n\t\"editorversion\" \"400\"\n\t\"editorbuild\" \"8870\"\n\t\"mapversion\" \"1\"\n\t\
    \"formatversion\" \"100\"\n\t\"prefab\" \"0\"\n}\nvisgroups\n{\n}\nviewsettings\n{\n\t\"bSnapToGrid\" \"1\"\n\t\
    \"bShowGrid\" \"1\"\n\t\"bShowLogicalGrid\" \"0\"\n\t\"nGridSpacing\" \"16\"\n\t\"bShow3DGrid\" \"0\"\n}\n";

const TAIL: &str = "cameras\n{\n\t\"activecamera\" \"-1\"\n}\ncordon\n{\n\t\"mins\" \"(-1024 -1024 -1024)\"\n\t\
    \"maxs\" \"(1024 1024 1024)\"\n\t\"active\" \"0\"\n}\n";

pub(super) fn write(source: &Source) -> Vec<u8> {
    let mut writer = Writer { out: HEAD.as_bytes().to_vec(), depth: 0 };
    for (at, entity) in source.entities.iter().enumerate() {
        writer.block(if at == 0 { "world" } else { "entity" }, |writer| writer.entity(entity));
    }
    writer.out.extend(TAIL.as_bytes());
    writer.out
}

struct Writer {
    out: Vec<u8>,
    depth: usize,
}

impl Writer {
    fn tabs(&mut self) {
        self.out.resize(self.out.len() + self.depth, b'\t');
    }

    fn block(&mut self, name: &str, fill: impl FnOnce(&mut Self)) {
        self.tabs();
        self.out.extend(name.as_bytes());
        self.out.push(b'\n');
        self.tabs();
        self.out.extend(b"{\n");
        self.depth += 1;
        fill(self);
        self.depth -= 1;
        self.tabs();
        self.out.extend(b"}\n");
    }

    fn pair(&mut self, key: &[u8], value: &[u8]) {
        self.tabs();
        quoted(&mut self.out, key);
        self.out.push(b' ');
        quoted(&mut self.out, value);
        self.out.push(b'\n');
    }

    /// A pair whose value is written in place; it has no quotes.
    fn pair_by(&mut self, key: &str, fill: impl FnOnce(&mut Vec<u8>)) {
        self.tabs();
        quoted(&mut self.out, key.as_bytes());
        self.out.extend(b" \"");
        fill(&mut self.out);
        self.out.extend(b"\"\n");
    }

    fn whole(&mut self, key: &str, value: impl std::fmt::Display) {
        // Writing to a vector does not fail.
        self.pair_by(key, |out| drop(write!(out, "{value}")));
    }

    fn id(&mut self, id: u32) {
        if id != 0 {
            self.whole("id", id);
        }
    }

    fn entity(&mut self, entity: &Entity) {
        self.id(entity.id);
        entity.pairs.iter().for_each(|(key, value)| self.pair(key, value));
        if !entity.connections.is_empty() {
            self.block("connections", |writer| {
                entity.connections.iter().for_each(|(key, value)| writer.pair(key, value));
            });
        }
        entity.brushes.iter().for_each(|brush| self.brush(brush));
    }

    fn brush(&mut self, brush: &Brush) {
        self.block("solid", |writer| {
            writer.id(brush.id);
            brush.sides.iter().for_each(|side| writer.block("side", |writer| writer.side(side)));
        });
    }

    fn side(&mut self, side: &Side) {
        self.id(side.id);
        self.pair_by("plane", |out| {
            for (at, point) in side.points.into_iter().enumerate() {
                out.extend(if at > 0 { &b" ("[..] } else { b"(" });
                numbers(out, point);
                out.push(b')');
            }
        });
        self.pair(b"material", &writable(&side.texture));
        match side.alignment {
            Alignment::Axes { axes, rotation, scale } => {
                for ((key, axis), scale) in ["uaxis", "vaxis"].into_iter().zip(axes).zip(scale) {
                    self.pair_by(key, |out| {
                        out.push(b'[');
                        numbers(out, axis);
                        out.extend(b"] ");
                        numbers(out, [scale]);
                    });
                }
                self.pair_by("rotation", |out| numbers(out, [rotation]));
            }
            // Hammer has one form alone.
            Alignment::Standard { .. } | Alignment::Matrix(_) => {}
        }
        if let Some(scale) = side.lightmap_scale {
            self.pair_by("lightmapscale", |out| numbers(out, [scale]));
        }
        self.whole("smoothing_groups", side.smoothing_groups);
        if let Some(displacement) = &side.displacement {
            self.block("dispinfo", |writer| writer.displacement(displacement));
        }
    }

    fn displacement(&mut self, displacement: &Displacement) {
        self.whole("power", displacement.power);
        self.pair_by("startposition", |out| {
            out.push(b'[');
            numbers(out, displacement.start);
            out.push(b']');
        });
        self.whole("flags", displacement.flags);
        self.pair_by("elevation", |out| numbers(out, [displacement.elevation]));
        self.whole("subdiv", u8::from(displacement.is_subdivided));
        let side = displacement.side();
        self.rows("normals", &displacement.normals, side, |point| point.to_vec());
        self.rows("distances", &displacement.distances, side, |distance| vec![*distance]);
        self.rows("offsets", &displacement.offsets, side, |point| point.to_vec());
        self.rows("offset_normals", &displacement.offset_normals, side, |point| point.to_vec());
        self.rows("alphas", &displacement.alphas, side, |alpha| vec![*alpha]);
        let tags = |tag: &u32| vec![f64::from(*tag)];
        self.rows("triangle_tags", &displacement.triangle_tags, 2 * side.saturating_sub(1), tags);
        self.block("allowed_verts", |writer| {
            let all = displacement.allowed_vertexes.map(f64::from);
            writer.pair_by("10", |out| numbers(out, all));
        });
    }

    fn rows<T>(&mut self, name: &str, all: &[T], row: usize, numbers_of: impl Fn(&T) -> Vec<f64>) {
        self.block(name, |writer| {
            for (at, row) in all.chunks(row.max(1)).enumerate() {
                writer.pair_by(&format!("row{at}"), |out| numbers(out, row.iter().flat_map(&numbers_of)));
            }
        });
    }
}
