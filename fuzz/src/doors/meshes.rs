//! What is drawn of maps.

use bspkit::Bsp;
use bspkit_see::{Format, Options, Scene, export};

/// Every form of a map's meshes: the numbers of all vertices are finite, and triangles name vertices that are there.
pub fn meshes(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let detail = 1 + bytes.len() % 3;
    let options = Options {
        detail,
        hdr: bytes.len().is_multiple_of(2),
        spaces: bytes.len().is_multiple_of(2),
        merge: bytes.len().is_multiple_of(5),
        ..Options::default()
    };
    let Ok(scene) = Scene::read(&map, &options) else { return };
    for part in scene.models.iter().flat_map(|model| &model.parts) {
        for vertex in &part.vertices {
            let floats = vertex.point.iter().chain(&vertex.normal).chain(&vertex.texture).chain(&vertex.light);
            assert!(floats.into_iter().all(|number| number.is_finite()), "{vertex:?}");
        }
        let count = part.vertices.len();
        assert!(part.triangles.iter().flatten().all(|corner| (*corner as usize) < count), "a corner is not there");
        assert!(part.texture < scene.textures.len(), "a texture is not there");
    }
    for format in Format::ALL {
        let files = export(&scene, format, "map").expect("bounded scenes can be written");
        assert!(!files.is_empty());
    }
}
