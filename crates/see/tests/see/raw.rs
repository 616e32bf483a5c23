//! Faces of maps by their bytes alone. Nothing here knows a dialect of the library.

use std::collections::BTreeMap;

/// A face: the name of its texture, its polygons, and what its light depends on.
#[derive(Clone, Debug)]
pub(crate) struct Face {
    pub(crate) texture: String,
    /// Whether it is one polygon; if not, it is triangles.
    pub(crate) is_ring: bool,
    /// One polygon, or the triangles of a surface.
    pub(crate) polygons: Vec<Vec<[f64; 3]>>,
    /// Columns and rows of the texture, if the map has them.
    pub(crate) size: Option<[f64; 2]>,
    /// The vectors of the texture, of rings.
    pub(crate) vectors: [[f64; 4]; 2],
    /// The offset of its light, and its first style.
    pub(crate) light: Option<(usize, u8)>,
    /// Whether it is a patch or a displacement: its polygons are not what is drawn.
    pub(crate) is_curved: bool,
    /// Whether triangles that its edges do not give are stored for it.
    pub(crate) has_primitives: bool,
}

pub(crate) struct Raw {
    pub(crate) faces: Vec<Face>,
    /// For each model its box and its faces.
    pub(crate) models: Vec<([[f64; 3]; 2], std::ops::Range<usize>)>,
    /// The luxels, and the bytes of each.
    pub(crate) light: (Vec<u8>, usize),
}

struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn i32(&self, at: usize) -> i32 {
        i32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }

    fn u16(&self, at: usize) -> usize {
        u16::from_le_bytes(self.0[at..at + 2].try_into().unwrap()).into()
    }

    fn at(&self, at: usize) -> usize {
        self.i32(at).try_into().unwrap()
    }

    fn f32(&self, at: usize) -> f64 {
        f32::from_le_bytes(self.0[at..at + 4].try_into().unwrap()).into()
    }

    fn point(&self, at: usize) -> [f64; 3] {
        [0, 4, 8].map(|axis| self.f32(at + axis))
    }

    fn vectors(&self, at: usize) -> [[f64; 4]; 2] {
        [0, 16].map(|row| [0, 4, 8, 12].map(|column| self.f32(at + row + column)))
    }

    fn name(&self, at: usize, most: usize) -> String {
        let bytes = &self.0[at..(at + most).min(self.0.len())];
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }
}

/// Where a family has the lumps of faces, and how large its structs are.
struct Family {
    first_entry: usize,
    entry: usize,
    vertexes: usize,
    edges: usize,
    surf_edges: usize,
    faces: usize,
    texinfo: usize,
    models: usize,
    light: usize,
    is_wide: bool,
    face: usize,
    info: usize,
    /// The size of a model, and the offset of its faces in it.
    model: [usize; 2],
    luxel: usize,
}

const QUAKE: Family = Family {
    first_entry: 4,
    entry: 8,
    vertexes: 3,
    edges: 12,
    surf_edges: 13,
    faces: 7,
    texinfo: 6,
    models: 14,
    light: 8,
    is_wide: false,
    face: 20,
    info: 40,
    model: [64, 56],
    luxel: 1,
};
const QUAKE2: Family = Family {
    first_entry: 8,
    entry: 8,
    vertexes: 2,
    edges: 11,
    surf_edges: 12,
    faces: 6,
    texinfo: 5,
    models: 13,
    light: 7,
    is_wide: false,
    face: 20,
    info: 76,
    model: [48, 40],
    luxel: 3,
};
const SOURCE: Family = Family {
    first_entry: 8,
    entry: 16,
    vertexes: 3,
    edges: 12,
    surf_edges: 13,
    faces: 7,
    texinfo: 6,
    models: 14,
    light: 8,
    is_wide: false,
    face: 56,
    info: 72,
    model: [48, 40],
    luxel: 4,
};

impl Raw {
    /// Reads the faces of a map; `None` for families that the walk does not know.
    pub(crate) fn read(bytes: &[u8]) -> Option<Raw> {
        let head = Bytes(bytes);
        match (&bytes[..4], head.i32(4)) {
            (b"IBSP", 46 | 47) => Some(Raw::surfaces(bytes)),
            (b"IBSP", 38) => Some(Raw::rings(bytes, &QUAKE2)),
            (b"QBSP", 38) => Some(Raw::rings(bytes, &Family { is_wide: true, face: 28, ..QUAKE2 })),
            (b"VBSP", 19 | 20) => Some(Raw::rings(bytes, &SOURCE)),
            (b"BSP2", _) => Some(Raw::rings(bytes, &Family { is_wide: true, face: 28, ..QUAKE })),
            ([29, 0, 0, 0], _) => Some(Raw::rings(bytes, &QUAKE)),
            ([30, 0, 0, 0], _) => Some(Raw::rings(bytes, &Family { luxel: 3, ..QUAKE })),
            _ => None,
        }
    }

    fn rings(bytes: &[u8], family: &Family) -> Raw {
        let head = Bytes(bytes);
        let lump = |index: usize| {
            let at = family.first_entry + index * family.entry;
            Bytes(&bytes[head.at(at)..head.at(at) + head.at(at + 4)])
        };
        let [vertexes, edges, surf_edges] = [family.vertexes, family.edges, family.surf_edges].map(lump);
        let (faces, infos) = (lump(family.faces), lump(family.texinfo));
        let corner = |surf_edge: usize| {
            let edge = surf_edges.i32(surf_edge * 4);
            let (index, end) = (edge.unsigned_abs() as usize, usize::from(edge < 0));
            let vertex = match family.is_wide {
                true => edges.at(index * 8 + end * 4),
                false => edges.u16(index * 4 + end * 2),
            };
            vertexes.point(vertex * 12)
        };
        let is_source = family.entry == 16;
        let mut found = Vec::new();
        for face in (0..faces.0.len() / family.face).map(|face| face * family.face) {
            let (first, count, info) = match (family.is_wide, is_source) {
                (true, _) => (faces.at(face + 8), faces.at(face + 12), faces.at(face + 16)),
                _ => (faces.at(face + 4), faces.u16(face + 8), faces.u16(face + 10)),
            };
            let info = info * family.info;
            let (texture, size) = match family.info {
                40 => {
                    let textures = lump(2);
                    let at = textures.at(4 + 4 * infos.at(info + 32));
                    (textures.name(at, 16), Some([16, 20].map(|field| f64::from(textures.i32(at + field)))))
                }
                76 => (infos.name(info + 40, 32), None),
                _ => {
                    let (texdata, table, strings) = (lump(2), lump(44), lump(43));
                    let at = 32 * infos.at(info + 68);
                    let size = [16, 20].map(|field| f64::from(texdata.i32(at + field)));
                    (strings.name(table.at(4 * texdata.at(at + 12)), 128), Some(size))
                }
            };
            let styles = if family.is_wide {
                face + 20
            } else if is_source {
                face + 16
            } else {
                face + 12
            };
            let style = faces.0[styles];
            let offset = usize::try_from(faces.i32(styles + 4)).ok().filter(|_| style != 255);
            found.push(Face {
                texture,
                is_ring: true,
                polygons: vec![(first..first + count).map(corner).collect()],
                size,
                vectors: infos.vectors(info),
                light: offset.map(|at| (at, style)),
                is_curved: is_source && faces.u16(face + 12) != 0xFFFF,
                has_primitives: is_source && faces.u16(face + 48) & 0x7FFF > 0,
            });
        }
        let models = lump(family.models);
        let [size, first] = family.model;
        let model = |at: usize| {
            let start = models.at(at + first);
            ([models.point(at), models.point(at + 12)], start..start + models.at(at + first + 4))
        };
        let models = (0..models.0.len() / size).map(|index| model(index * size)).collect();
        Raw { faces: found, models, light: (lump(family.light).0.to_vec(), family.luxel) }
    }

    fn surfaces(bytes: &[u8]) -> Raw {
        let head = Bytes(bytes);
        let lump = |index: usize| Bytes(&bytes[head.at(8 + index * 8)..][..head.at(12 + index * 8)]);
        let (shaders, surfaces, corners, indexes) = (lump(1), lump(13), lump(10), lump(11));
        let surface = |at: usize| {
            let (first, start, count) = (surfaces.at(at + 12), surfaces.at(at + 20), surfaces.at(at + 24));
            let corner = |at: usize| corners.point(44 * (first + indexes.at(4 * at)));
            let triangle = |at: usize| (start + 3 * at..start + 3 * at + 3).map(corner).collect();
            Face {
                texture: shaders.name(72 * surfaces.at(at), 64),
                is_ring: false,
                polygons: (0..count / 3).map(triangle).collect(),
                size: None,
                vectors: [[0.0; 4]; 2],
                light: None,
                is_curved: surfaces.i32(at + 8) == 2,
                has_primitives: false,
            }
        };
        let faces = (0..surfaces.0.len() / 104).map(|index| surface(index * 104)).collect();
        let models = lump(7);
        let model = |at: usize| {
            let start = models.at(at + 24);
            ([models.point(at), models.point(at + 12)], start..start + models.at(at + 28))
        };
        let models = (0..models.0.len() / 40).map(|index| model(index * 40)).collect();
        Raw { faces, models, light: (lump(14).0.to_vec(), 3) }
    }

    /// For each texture its triangles and their area, of all flat faces of the models.
    pub(crate) fn areas(&self) -> BTreeMap<String, (usize, f64)> {
        let mut found: BTreeMap<String, (usize, f64)> = BTreeMap::new();
        let faces = self.models.iter().flat_map(|(_, faces)| &self.faces[faces.clone()]);
        for face in faces.filter(|face| !face.is_curved) {
            for polygon in &face.polygons {
                let entry = found.entry(face.texture.to_ascii_lowercase()).or_default();
                // A polygon without an area is not drawn.
                if !face.is_ring || area(polygon) > 5e-7 {
                    entry.0 += polygon.len() - 2;
                    // Damaged faces may be hollow: engines draw a fan.
                    let fan = polygon[1..].windows(2).map(|pair| area(&[polygon[0], pair[0], pair[1]]));
                    entry.1 += fan.sum::<f64>();
                }
            }
        }
        found
    }
}

/// The area of a polygon, by the length of the sum of its cross products.
pub(crate) fn area(corners: &[[f64; 3]]) -> f64 {
    let mut sum = [0.0; 3];
    for (one, other) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        for (axis, sum) in sum.iter_mut().enumerate() {
            let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
            let side = |corner: &[f64; 3], axis: usize| corner[axis] - corners[0][axis];
            *sum += side(one, next) * side(other, last) - side(one, last) * side(other, next);
        }
    }
    sum.iter().map(|part| part * part).sum::<f64>().sqrt() / 2.0
}
