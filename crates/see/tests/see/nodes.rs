//! Nodes: entities with their pairs, props, models in their places; parts of a map, and all in one.

use bspkit::Bsp;
use bspkit_see::{Format, Options, Scene, export};
use serde_json::{Value, json};

use crate::glb::Glb;
use crate::{FIXTURES, exported, path};

fn glb(name: &str, options: &Options<'_>) -> Glb {
    Glb::read(&exported(&Bsp::open(path(name)).unwrap(), options))
}

fn only(text: &str) -> Options<'static> {
    Options { only: Some(text.parse().unwrap()), ..Options::default() }
}

/// Text stays text: only bytes of no text are escaped.
#[test]
fn values_are_as_the_map_has_them() {
    let mut draft = Bsp::open(path(FIXTURES[0])).unwrap().draft();
    let values: [(&[u8], &str); 3] = [
        (br"..\valve\own.wad", r"..\valve\own.wad"),
        (b"lamp\x1bTurnOn", "lamp\u{1b}TurnOn"),
        (b"\x80odd", r"\x80odd"),
    ];
    for (value, shown) in values {
        draft.entities().unwrap().get_mut(0).unwrap().set("own_value", value).unwrap();
        let map = Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
        let glb = Glb::read(&exported(&map, &Options::default()));
        let nodes = glb.nodes();
        let world = nodes.iter().find(|node| node["extras"]["entity"] == 0).unwrap();
        assert_eq!(world["extras"]["pairs"]["own_value"], shown);
    }
}

#[test]
fn every_entity_is_a_node_with_its_pairs() {
    for name in FIXTURES {
        let map = Bsp::open(path(name)).unwrap();
        let glb = glb(name, &Options::default());
        let nodes = glb.nodes();
        for entity in map.entities().unwrap().iter() {
            let own: Vec<_> = nodes.iter().filter(|node| node["extras"]["entity"] == entity.index()).collect();
            assert_eq!(own.len(), 1, "{name}: entity {}", entity.index());
            assert_eq!(own[0]["name"], *String::from_utf8_lossy(entity.class().unwrap()));
            let pairs = own[0]["extras"]["pairs"].as_object().unwrap();
            for pair in entity.pairs() {
                let value = &pairs[&*String::from_utf8_lossy(pair.key)];
                let is_it = |value: &Value| value == &*String::from_utf8_lossy(pair.value);
                assert!(is_it(value) || value.as_array().is_some_and(|all| all.iter().any(is_it)), "{value}");
            }
            let origin = entity.vector("origin").filter(|origin| *origin != [0.0; 3]);
            if let Some([x, y, z]) = origin {
                let found: Vec<f64> =
                    own[0]["translation"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
                for (found, wanted) in found.into_iter().zip([x, z, -y]) {
                    assert!((found - wanted * 0.0254).abs() < 1e-4, "{name}: entity {}", entity.index());
                }
            }
        }
    }
}

#[test]
fn props_stand_where_the_map_has_them() {
    let map = Bsp::open(path("source/room_v20")).unwrap();
    let glb = glb("source/room_v20", &Options::default());
    let props = map.static_props().unwrap();
    for index in 0..props.len() {
        let nodes = glb.nodes();
        let node = nodes.iter().find(|node| node["extras"]["prop"] == index).unwrap();
        let prop = props.get(index).unwrap();
        assert_eq!(node["name"], *String::from_utf8_lossy(props.names().nth(prop.model.into()).unwrap()));
        let at: Vec<f64> = node["translation"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
        let [x, y, z] = prop.origin.map(f64::from);
        assert!([x, z, -y].iter().zip(&at).all(|(wanted, found)| (wanted * 0.0254 - found).abs() < 1e-4));
        let [pitch, yaw, roll] = prop.angles;
        if pitch == 0.0 && roll == 0.0 && yaw != 0.0 {
            let turn: Vec<f64> = node["rotation"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
            let half = f64::from(yaw).to_radians() / 2.0;
            assert!((turn[1].abs() - half.sin().abs()).abs() < 1e-6 && turn[0] == 0.0 && turn[2] == 0.0, "{turn:?}");
        }
    }
}

/// The sizes of props, read from the bytes of the lump: three numbers at the end of each.
#[test]
fn props_are_as_large_as_the_map_says() {
    let map = Bsp::open(path("source/room_strata")).unwrap();
    let lump = map.bytes(map.slot("game:sprp").unwrap().id).unwrap().to_vec();
    let float = |at: usize| f32::from_le_bytes(lump[at..at + 4].try_into().unwrap());
    let glb = glb("source/room_strata", &Options::default());
    let mut found = 0;
    for node in glb.nodes().iter().filter(|node| !node["extras"]["prop"].is_null()) {
        let fromend = 3 - node["extras"]["prop"].as_u64().unwrap() as usize;
        let at = lump.len() - fromend * 88 + 76;
        let [x, y, z] = [0, 4, 8].map(|axis| float(at + axis));
        assert_eq!(node["scale"], json!([x, z, y]));
        assert!([x, y, z] != [1.0; 3]);
        found += 1;
    }
    assert_eq!(found, 3);
}

/// Without light no surface has the light of its vertices.
#[test]
fn light_of_vertices_is_left_out_with_the_light() {
    let mut draft = Bsp::open(path("q3/own_rooms")).unwrap().draft();
    // LIGHTMAP_BY_VERTEX.
    bspkit::query::FieldChange::parse("surfaces[*].lightmap=-3").unwrap().apply(&mut draft, &[]).unwrap();
    let map = Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
    for light in [true, false] {
        let glb = Glb::read(&super::exported(&map, &Options { light, ..Options::default() }));
        assert_eq!(glb.json["meshes"].to_string().contains("COLOR_0"), light);
    }
}

#[test]
fn a_part_of_a_map_is_that_part() {
    let all = glb("q2/own_rooms", &Options::default());
    let door = glb("q2/own_rooms", &only("*1"));
    assert_eq!(door.meshes.len(), 1);
    assert_eq!(door.meshes[0].bounds(), all.meshes[1].bounds());
    assert!(door.json["images"].as_array().unwrap().len() < all.json["images"].as_array().unwrap().len() + 1);
    let world = glb("q2/own_rooms", &only("worldspawn"));
    assert_eq!(world.meshes[0].bounds(), all.meshes[0].bounds());
    let lights = glb("q2/own_rooms", &only("light"));
    assert!(lights.meshes.is_empty() && lights.nodes().len() > 3);

    let map = Bsp::open(path("q2/own_rooms")).unwrap();
    let none = |text: &str| Scene::read(&map, &only(text)).unwrap_err().to_string();
    assert_eq!(none("*99"), "the map has no model *99, but 5 models");
    assert_eq!(none("no_such_class"), "no entity is selected");
}

#[test]
fn merged_models_are_where_the_entities_have_them() {
    for name in ["q2/own_rooms", "goldsrc/own_rooms", "q3/own_rooms"] {
        let map = Bsp::open(path(name)).unwrap();
        let apart = Scene::read(&map, &Options::default()).unwrap();
        let merged = Scene::read(&map, &Options { merge: true, ..Options::default() }).unwrap();
        assert_eq!(merged.models.len(), 1);
        let places = apart.places();
        let sum: usize = places.iter().map(|(model, _)| apart.models[*model].triangles()).sum();
        assert_eq!(merged.models[0].triangles(), sum, "{name}");
        let faces: usize = places.iter().map(|(model, _)| apart.models[*model].faces).sum();
        assert_eq!(merged.models[0].faces, faces, "{name}");
        // A door in the middle of a room does not make the world larger.
        assert_eq!(merged.models[0].bounds(), apart.models[0].bounds(), "{name}");
        let same = apart.merged();
        assert_eq!(export(&same, Format::Glb, "a.glb").unwrap(), export(&merged, Format::Glb, "a.glb").unwrap());
    }
}

#[test]
fn the_same_map_gives_the_same_bytes() {
    for name in FIXTURES {
        let map = Bsp::open(path(name)).unwrap();
        for format in Format::ALL {
            let files = || export(&Scene::read(&map, &Options::default()).unwrap(), format, "map").unwrap();
            assert!(files() == files(), "{name}");
        }
    }
}

#[test]
fn a_text_names_its_files() {
    let map = Bsp::open(path("goldsrc/own_rooms")).unwrap();
    let scene = Scene::read(&map, &Options::default()).unwrap();
    let files = export(&scene, Format::Gltf, "out/a b.gltf").unwrap();
    let text: Value = serde_json::from_slice(&files[0].bytes).unwrap();
    assert_eq!(text["buffers"][0]["uri"], "a%20b.bin");
    assert_eq!(
        (&*files[1].name, files[1].bytes.len()),
        ("out/a b.bin", text["buffers"][0]["byteLength"].as_u64().unwrap() as usize)
    );
    let images = text["images"].as_array().unwrap();
    assert_eq!(images.len(), files.len() - 2);
    for (image, file) in images.iter().zip(&files[2..]) {
        assert_eq!(image["uri"].as_str().unwrap().replace("%20", " "), file.name.strip_prefix("out/").unwrap());
        assert!(file.bytes.starts_with(b"\x89PNG"));
    }
}

#[test]
fn an_obj_has_the_same_triangles() {
    let map = Bsp::open(path("q3/own_rooms")).unwrap();
    let scene = Scene::read(&map, &Options::default()).unwrap();
    let files = export(&scene, Format::Obj, "a.obj").unwrap();
    let obj = String::from_utf8(files[0].bytes.clone()).unwrap();
    let count = |start: &str| obj.lines().filter(|line| line.starts_with(start)).count();
    let places = scene.places();
    let sum =
        |of: fn(&bspkit_see::Model) -> usize| places.iter().map(|(model, _)| of(&scene.models[*model])).sum::<usize>();
    assert_eq!(count("f "), sum(|model| model.triangles()));
    assert_eq!([count("v "), count("vt "), count("vn ")], [sum(|model| model.vertices()); 3]);
    let last = count("v ");
    let indices = obj.lines().filter(|line| line.starts_with("f ")).flat_map(|line| line[2..].split(['/', ' ']));
    assert!(indices.map(|index| index.parse::<usize>().unwrap()).all(|index| (1..=last).contains(&index)));
    let mtl = String::from_utf8(files[1].bytes.clone()).unwrap();
    assert_eq!(mtl.matches("newmtl ").count(), scene.textures.len());
}

/// Curves are finer with more detail, and stay within their control points.
#[test]
fn detail_makes_curves_finer() {
    let map = Bsp::open(path("q3/own_rooms")).unwrap();
    let triangles = |detail: usize| {
        let scene = Scene::read(&map, &Options { detail, ..Options::default() }).unwrap();
        scene.models.iter().map(|model| model.triangles()).sum::<usize>()
    };
    assert!(triangles(1) <= triangles(6) && triangles(6) <= triangles(20));
    assert!(Scene::read(&map, &Options { detail: 0, ..Options::default() }).is_err());
    assert!(Scene::read(&map, &Options { detail: 33, ..Options::default() }).is_err());
}

#[test]
fn the_node_of_the_map_says_what_it_is() {
    let glb = glb("q1/own_rooms", &Options::default());
    let scene = glb.json["scene"].as_u64().unwrap() as usize;
    let root = &glb.json["nodes"][glb.json["scenes"][scene]["nodes"][0].as_u64().unwrap() as usize];
    assert_eq!(root["name"], "map");
    assert_eq!((&root["extras"]["dialect"], &root["extras"]["metres_per_unit"]), (&json!("quake"), &json!(0.0254)));
}
