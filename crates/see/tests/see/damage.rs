//! Damaged maps: what can be read is shown, and the rest is said.

use bspkit::dialect::{quake2, source};
use bspkit::{Bsp, Draft, Layout};
use bspkit_see::{Format, Options, Scene, export};
use proptest::prelude::*;

use crate::path;

fn damaged(name: &str, change: impl FnOnce(&mut Draft<'_>)) -> Scene {
    let map = Bsp::open(path(name)).unwrap();
    let mut draft = map.draft();
    change(&mut draft);
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    Scene::read(&map, &Options { spaces: true, ..Options::default() }).unwrap()
}

fn said(scene: &Scene) -> Vec<String> {
    scene.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_face_that_cannot_be_read_is_left_out_alone() {
    let whole = Scene::read(&Bsp::open(path("q2/own_rooms")).unwrap(), &Options::default()).unwrap();
    let scene =
        damaged("q2/own_rooms", |draft| draft.update(quake2::FACES, 3, |face| face.first_edge = 1 << 30).unwrap());
    assert_eq!(scene.models[0].faces, whole.models[0].faces - 1);
    let text = "error[see-face] FACES, record 3: the face names edges or vertexes that the map does not have";
    assert!(said(&scene).iter().any(|said| said == text), "{:?}", said(&scene));
}

#[test]
fn points_that_are_not_numbers_are_left_out() {
    let scene =
        damaged("q2/own_rooms", |draft| draft.update(quake2::VERTEXES, 9, |at| at.point[1] = f32::NAN).unwrap());
    assert!(said(&scene).iter().any(|text| text.contains("a corner is outside of every world")), "{:?}", said(&scene));
    let all = scene.models.iter().flat_map(|model| &model.parts).flat_map(|part| &part.vertices);
    assert!(all.into_iter().all(|vertex| vertex.point.iter().chain(&vertex.normal).all(|part| part.is_finite())));
}

#[test]
fn light_outside_of_the_lump_is_said() {
    let scene =
        damaged("q2/own_rooms", |draft| draft.update(quake2::FACES, 3, |face| face.light_offset = 1 << 30).unwrap());
    assert!(said(&scene).iter().any(|text| text.contains("see-light") && text.contains("its light begins at")));
}

/// The light for high dynamic range, which the map has too, is no reason to say nothing.
#[test]
fn light_of_which_no_face_can_be_read_is_said() {
    let with = |count: usize| {
        let scene = damaged("source/room_v20", |draft| {
            let mut faces = draft.table(source::FACES).unwrap();
            let count = count.min(faces.len());
            (0..count).for_each(|face| faces.update(face, |face| face.luxel_size[0] = 1_000_000).unwrap());
        });
        let is_light = |text: &&String| text.contains("see-light") && text.contains("1000001 by");
        let faces = said(&scene).iter().filter(is_light).count();
        (faces, scene.light.unwrap().set)
    };
    assert_eq!(with(2), (2, "ldr"));
    assert_eq!(with(usize::MAX), (16, "hdr"));
}

/// A map of Quake III whose lump of this number is somewhere else; the others are as they were, or empty.
fn moved(bytes: &[u8], lump: usize, offset: u32, length: u32) -> Vec<String> {
    let mut bytes = bytes.to_vec();
    bytes[8 + 8 * lump..][..4].copy_from_slice(&offset.to_le_bytes());
    bytes[12 + 8 * lump..][..4].copy_from_slice(&length.to_le_bytes());
    said(&Scene::read(&Bsp::parse(&bytes).unwrap(), &Options::default()).unwrap())
}

#[test]
fn lumps_that_the_file_does_not_have_are_said() {
    let whole = std::fs::read(path("q3/own_rooms")).unwrap();
    let mut empty = [&b"IBSP"[..], &46_u32.to_le_bytes()].concat();
    empty.resize(200, 0);
    for bytes in [&whole, &empty] {
        let (past, over) = (moved(bytes, 10, 1 << 30, 176), moved(bytes, 11, 144, 1 << 30));
        assert!(past.contains(&"error[see-lump] DRAWVERTS: lies past the end of the file".to_owned()), "{past:?}");
        assert!(over.contains(&"error[see-lump] DRAWINDEXES: runs past the end of the file".to_owned()), "{over:?}");
        // What is not drawn is not missed.
        assert_eq!(moved(bytes, 8, 1 << 30, 12), [""; 0]);
    }
}

#[test]
fn a_texinfo_that_does_not_exist_is_said() {
    let scene = damaged("q2/own_rooms", |draft| draft.update(quake2::FACES, 3, |face| face.texinfo = 999).unwrap());
    assert!(said(&scene).iter().any(|text| text.contains("its texinfo 999 does not exist")), "{:?}", said(&scene));
}

#[test]
fn many_findings_are_counted() {
    let scene = damaged("q2/own_rooms", |draft| {
        let mut faces = draft.table(quake2::FACES).unwrap();
        for index in 0..faces.len() {
            faces.update(index, |face| face.edge_count = 2).unwrap();
        }
    });
    let sum: usize =
        scene.findings.iter().filter(|finding| finding.code.name == "see-face").map(|finding| finding.count).sum();
    assert!(scene.findings.len() <= 250 && sum > 100, "{sum} in {}", scene.findings.len());
}

/// No byte of a map makes it panic, and what is shown has numbers everywhere.
fn survives(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let options = Options { detail: 2, hdr: true, spaces: true, ..Options::default() };
    let Ok(scene) = Scene::read(&map, &options) else { return };
    for vertex in scene.models.iter().flat_map(|model| &model.parts).flat_map(|part| &part.vertices) {
        let floats = vertex.point.iter().chain(&vertex.normal).chain(&vertex.texture).chain(&vertex.light);
        assert!(floats.into_iter().all(|part| part.is_finite()));
        assert!(vertex.light.iter().all(|part| scene.light.is_none() || part.abs() < 100.0));
    }
    for part in scene.models.iter().flat_map(|model| &model.parts) {
        let count = u32::try_from(part.vertices.len()).unwrap();
        assert!(part.triangles.iter().flatten().all(|corner| *corner < count) && part.texture < scene.textures.len());
    }
    export(&scene, Format::Glb, "x.glb").unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_are_survived(
        which in 0_usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..60),
    ) {
        let names =
            ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms_bspx", "q3/own_rooms", "source/room_v20", "bsp2/own_rooms"];
        let mut bytes = std::fs::read(path(names[which])).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survives(&bytes);
    }

    #[test]
    fn cut_maps_are_survived(which in 0_usize..3, end in any::<prop::sample::Index>()) {
        let bytes = std::fs::read(path(["q1/own_rooms", "q3/own_rooms", "source/room_v20"][which])).unwrap();
        survives(&bytes[..end.index(bytes.len())]);
    }
}
