//! What is drawn of maps.

use bspkit::bytes::Data;
use bspkit::{Bsp, Result};
use bspkit_game::assets::Files;
use bspkit_see::{Format, Options, Scene, View, draw, export};

use super::map;
use crate::mutate::Random;

/// Every form of a map's meshes: the numbers of all vertices are finite, and triangles name vertices that are there.
pub fn meshes(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let mut random = Random::of(bytes);
    let options = Options {
        detail: 1 + random.below(3),
        hdr: random.below(2) == 0,
        spaces: random.below(2) == 0,
        merge: random.below(5) == 0,
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

/// A picture of a map, from any place.
pub fn drawn(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let Ok(scene) = Scene::read(&map, &Options::default()) else { return };
    picture(&scene, &mut Random::of(bytes));
}

fn picture(scene: &Scene, random: &mut Random) {
    let mut number = |most: usize| f32::from(u16::try_from(random.below(most)).unwrap_or(0));
    let view = match number(4) {
        0.0 => View::Start,
        1.0 => View::Above,
        _ => {
            let at = std::array::from_fn(|_| number(4096) - 2048.0);
            View::From { at, yaw: number(720) - 360.0, pitch: number(360) - 180.0 }
        }
    };
    let size = [1 + random.below(64), 1 + random.below(64)].map(|side| u32::try_from(side).unwrap_or(1));
    let Ok(picture) = draw(scene, view, size) else { return };
    assert!(picture.size == size && picture.png.starts_with(b"\x89PNG"));
}

/// A game in which every file has these bytes, but for materials, which name a texture.
struct Same<'b>(&'b [u8]);

impl Files for Same<'_> {
    fn has(&self, _: &[u8]) -> bool {
        true
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        const MATERIAL: &[u8] = b"LightmappedGeneric\n{\n$basetexture own/wall\n$alphatest 1\n}\n";
        let bytes = if name.ends_with(b".vmt") { MATERIAL } else { self.0 };
        Ok(Some(Data::from(bytes.to_vec())).filter(|_| bytes.len() <= most))
    }

    fn names_in(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        vec![[folder, b"/own.shader"].concat()]
    }
}

/// Textures in the files of a game: of Quake II, GoldSrc, Quake III with its shaders, and Source.
pub fn textures(bytes: &[u8]) {
    let mut random = Random::of(bytes);
    let files = Same(bytes);
    let options = Options { files: Some(&files), name: Some("room"), ..Options::default() };
    let Ok(scene) = Scene::read(map(random.below(64)), &options) else { return };
    picture(&scene, &mut random);
}

/// A script of shaders, and images that are as small as they can be.
pub fn images() -> Vec<Vec<u8>> {
    let shaders = "textures/own/wall\n{\n\tqer_editorimage textures/own/other.tga\n\tsurfaceparm trans\n\tcull none\n\t{\n\t\tmap \
                   $lightmap\n\t}\n\t{\n\t\tclampmap textures/own/third.tga\n\t\talphaFunc GE128\n\t}\n\t{\n\t\tanimMap 4 a.tga \
                   b.jpg\n\t}\n}\n";
    let head = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 32, 8];
    let packed = [0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0, 24, 0, 0x8F, 1, 2, 3];
    vec![shaders.as_bytes().to_vec(), [&head[..], &[200; 16]].concat(), packed.to_vec()]
}
