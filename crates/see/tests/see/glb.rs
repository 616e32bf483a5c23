//! A reader of binary glTF, as the specification says it.

use serde_json::Value;

/// A file that was read.
#[derive(Clone, Debug)]
pub(crate) struct Glb {
    pub(crate) json: Value,
    pub(crate) meshes: Vec<Mesh>,
    bytes: Vec<u8>,
}

/// The primitives of a mesh, in the units and axes of the map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mesh {
    pub(crate) parts: Vec<Part>,
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) texture: String,
    pub(crate) points: Vec<[f64; 3]>,
    pub(crate) normals: Vec<[f64; 3]>,
    pub(crate) texture_at: Vec<[f64; 2]>,
    pub(crate) light_at: Vec<[f64; 2]>,
    pub(crate) faces: Vec<usize>,
    pub(crate) triangles: Vec<[usize; 3]>,
}

const METRES: f64 = 0.0254;

impl Glb {
    pub(crate) fn read(file: &[u8]) -> Glb {
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&file[..4], number(4), number(8)), (&b"glTF"[..], 2, file.len()));
        let text = number(12);
        assert_eq!(&file[16..20], b"JSON");
        let json: Value = serde_json::from_slice(&file[20..20 + text]).unwrap();
        assert_eq!(&file[24 + text..28 + text], b"BIN\0");
        let bytes = file[28 + text..].to_vec();
        assert_eq!(bytes.len(), number(20 + text));
        let mut glb = Glb { json, meshes: Vec::new(), bytes };
        let count = glb.json["meshes"].as_array().map_or(0, Vec::len);
        glb.meshes = (0..count).map(|mesh| glb.mesh(mesh)).collect();
        glb
    }

    fn mesh(&self, index: usize) -> Mesh {
        let primitives = self.json["meshes"][index]["primitives"].as_array().unwrap();
        let part = |primitive: &Value| {
            let material = &self.json["materials"][primitive["material"].as_u64().unwrap() as usize];
            let of = |name: &str| &primitive["attributes"][name];
            let floats =
                |name: &str| -> Vec<Vec<f64>> { if of(name).is_null() { Vec::new() } else { self.numbers(of(name)) } };
            // y is up, and z is to the south.
            let turned = |all: Vec<Vec<f64>>, unit: f64| {
                all.into_iter().map(|at| [at[0] / unit, -at[2] / unit, at[1] / unit]).collect()
            };
            let pairs = |all: Vec<Vec<f64>>| all.into_iter().map(|at| [at[0], at[1]]).collect();
            let indices = self.numbers(&primitive["indices"]);
            let corners: Vec<usize> = indices.into_iter().map(|index| index[0] as usize).collect();
            Part {
                texture: material["name"].as_str().unwrap().to_owned(),
                points: turned(floats("POSITION"), METRES),
                normals: turned(floats("NORMAL"), 1.0),
                texture_at: pairs(floats("TEXCOORD_0")),
                light_at: pairs(floats("TEXCOORD_1")),
                faces: floats("_FACE").into_iter().map(|at| at[0] as usize).collect(),
                triangles: corners.as_chunks::<3>().0.to_vec(),
            }
        };
        Mesh { parts: primitives.iter().map(part).collect() }
    }

    /// The numbers of an accessor.
    fn numbers(&self, accessor: &Value) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &self.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
        let size = match number(&accessor["componentType"]) {
            5121 => 1,
            5123 => 2,
            5125 | 5126 => 4,
            other => panic!("component {other}"),
        };
        let items = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            other => panic!("type {other}"),
        };
        let stride = view["byteStride"].as_u64().map_or(size * items, |stride| stride as usize);
        let start = number(&view["byteOffset"]) + number(&accessor["byteOffset"]);
        let one = |at: usize| {
            let bytes = &self.bytes[at..at + size];
            match number(&accessor["componentType"]) {
                5126 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
                _ => bytes.iter().rev().fold(0.0, |sum, byte| sum * 256.0 + f64::from(*byte)),
            }
        };
        let all = 0..number(&accessor["count"]);
        all.map(|index| (0..items).map(|item| one(start + index * stride + item * size)).collect()).collect()
    }

    /// An image: its columns, its rows, and the channels of its pixels.
    pub(crate) fn image(&self, index: usize) -> (usize, usize, Vec<Vec<u8>>) {
        let view = self.json["images"][index]["bufferView"].as_u64().unwrap() as usize;
        let view = &self.json["bufferViews"][view];
        let start = view["byteOffset"].as_u64().unwrap() as usize;
        let png = &self.bytes[start..start + view["byteLength"].as_u64().unwrap() as usize];
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        let channels = frame.color_type.samples();
        (frame.width as usize, frame.height as usize, pixels.chunks(channels).map(<[u8]>::to_vec).collect())
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.meshes.iter().flat_map(|mesh| &mesh.parts)
    }

    pub(crate) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        self.meshes.iter_mut().flat_map(|mesh| &mut mesh.parts)
    }

    /// The mesh of each model by its number, as the nodes have them.
    pub(crate) fn nodes(&self) -> Vec<&Value> {
        self.json["nodes"].as_array().unwrap().iter().collect()
    }
}

impl Mesh {
    pub(crate) fn bounds(&self) -> [[f64; 3]; 2] {
        let points = || self.parts.iter().flat_map(|part| &part.points);
        let edge = |start: f64, choose: fn(f64, f64) -> f64| {
            [0, 1, 2].map(|axis| points().map(|point| point[axis]).fold(start, choose))
        };
        [edge(f64::INFINITY, f64::min), edge(f64::NEG_INFINITY, f64::max)]
    }
}
