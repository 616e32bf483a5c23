//! Pictures: what a camera has to see, found without the code that draws.

use bspkit::content::palette::Palette;
use bspkit::dialect::Role;
use bspkit::{Bsp, ErrorKind};
use bspkit_see::{Options, Scene, Surface, View, draw};

use super::{FIXTURES, path};

/// The color where nothing is.
const NOTHING: [u8; 3] = [26, 26, 30];

fn scene(map: &Bsp<'_>, light: bool) -> Scene {
    Scene::read(map, &Options { light, ..Options::default() }).unwrap()
}

/// The pixels of a picture.
fn pixels(scene: &Scene, view: View, size: [u32; 2]) -> Vec<[u8; 3]> {
    let picture = draw(scene, view, size).unwrap();
    let image = image::load_from_memory(&picture.png).unwrap().into_rgb8();
    assert_eq!([image.width(), image.height()], size);
    image.pixels().map(|pixel| pixel.0).collect()
}

/// The first place where players begin is looked from also if it is left out, and that of a camera is no such place.
/// Eyes are where each family has them.
#[test]
fn pictures_are_taken_from_where_players_begin() {
    let eyes = [("q1", 22.0), ("goldsrc", 28.0), ("q2", 22.0), ("q3", 26.0)];
    for (name, height) in eyes.map(|(folder, height)| (format!("{folder}/own_rooms"), height)) {
        let map = Bsp::open(path(&name)).unwrap();
        let entities = map.entities().unwrap();
        let start = entities.iter().find(|entity| entity.class() == Some(b"info_player_start")).unwrap();
        let [x, y, z] = start.vector("origin").unwrap().map(|part| part as f32);
        let only = Some("*0".parse().unwrap());
        let scene = Scene::read(&map, &Options { only, ..Options::default() }).unwrap();
        assert_eq!(scene.start.map(|[x, y, z, _]| [x, y, z]), Some([x, y, z + height]), "{name}");
        assert!(!scene.placed.iter().any(|placed| placed.name == "info_player_start"));
    }
    let map = Bsp::open(path("source/room_v20")).unwrap();
    assert_eq!(scene(&map, false).start.map(|[_, _, z, _]| z), Some(-60.0 + 64.0));

    let map = Bsp::open(path("q3/own_rooms")).unwrap();
    let mut draft = map.draft();
    let starts: &[&[u8]] = &[b"info_player_start", b"info_player_deathmatch"];
    let entities = draft.entities().unwrap();
    for index in (0..entities.len()).rev() {
        if entities.get(index).unwrap().class().is_some_and(|class| starts.contains(&class)) {
            entities.remove(index).unwrap();
        }
    }
    let map = Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
    let scene = scene(&map, false);
    assert!(scene.placed.iter().any(|placed| placed.name == "info_player_intermission"));
    assert_eq!(scene.start, None);
    let size = [64, 48];
    assert_eq!(pixels(&scene, View::Start, size), pixels(&scene, View::Above, size));
}

/// Whoever stands in a sealed map sees surfaces wherever he looks.
#[test]
fn a_sealed_map_has_no_gaps_from_within() {
    for name in FIXTURES {
        let map = Bsp::open(path(name)).unwrap();
        let scene = scene(&map, true);
        let start = scene.placed.iter().find(|placed| placed.name.starts_with("info_player")).unwrap();
        let [x, y, z] = start.origin;
        for (yaw, pitch) in [(0.0, 0.0), (90.0, 30.0), (200.0, -40.0), (315.0, 89.0), (45.0, -90.0)] {
            let all = pixels(&scene, View::From { at: [x, y, z + 24.0], yaw, pitch }, [160, 120]);
            let gaps = all.iter().filter(|pixel| **pixel == NOTHING).count();
            assert_eq!(gaps, 0, "{name}, yaw {yaw}, pitch {pitch}");
        }
        let plan = pixels(&scene, View::Above, [160, 120]);
        let shown = plan.iter().filter(|pixel| **pixel != NOTHING).count();
        assert!(shown > plan.len() / 10, "{name}: {shown}");
        assert_eq!(draw(&scene, View::Start, [64, 64]).unwrap(), draw(&scene, View::Start, [64, 64]).unwrap());
    }
}

/// A look straight at the middle of each wall shows the pixel of the texture that the texture vectors name there.
#[test]
fn textures_lie_where_their_vectors_say() {
    let map = Bsp::open(path("goldsrc/own_rooms")).unwrap();
    let scene = scene(&map, false);
    let (polygons, textures) = (map.polygons().unwrap(), map.textures().unwrap());
    let faces = map.records(Role::Faces).unwrap();
    let infos = map.records(Role::TexInfo).unwrap();
    let [texinfo] = faces.columns(["texinfo"]).unwrap();
    let world = map.records(Role::Models).unwrap().columns(["face_count"]).unwrap()[0].get(0);
    let mut seen = 0;
    for number in 0..usize::try_from(world).unwrap() {
        let corners = polygons.get(number).unwrap();
        let info = usize::try_from(texinfo.get(number)).unwrap();
        let [vectors, miptex] = infos.columns(["vectors", "texture"]).unwrap();
        let index = usize::try_from(miptex.get(info)).unwrap();
        let (Some(texture), Some(name)) = (textures.get(index).unwrap(), textures.name(index)) else { continue };
        let is_plain = |name: &[u8]| name.iter().all(|letter| letter.is_ascii_alphanumeric() || *letter == b'_');
        let (Some(indices), Some(palette)) = (texture.pixels(0), texture.palette()) else { continue };
        if !is_plain(name) || name.starts_with(b"sky") {
            continue;
        }
        let middle: [f32; 3] =
            std::array::from_fn(|axis| corners.iter().map(|corner| corner[axis]).sum::<f32>() / corners.len() as f32);
        // Off the middle, so that no place is on the border of two pixels of the texture.
        let middle = middle.map(|part| part + 0.37);
        let [a, b, c] = [corners[0], corners[1], corners[2]];
        let [u, v]: [[f32; 3]; 2] = [[b, a], [c, a]].map(|[one, other]| std::array::from_fn(|at| one[at] - other[at]));
        let normal = [v[1] * u[2] - v[2] * u[1], v[2] * u[0] - v[0] * u[2], v[0] * u[1] - v[1] * u[0]];
        let long = normal.iter().map(|part| part * part).sum::<f32>().sqrt();
        let normal = normal.map(|part| part / long);
        // Axes alone: there the middle of the picture is the place itself.
        let Some(axis) = (0..3).find(|axis| normal[*axis].abs() > 0.999) else { continue };
        let mut place = middle;
        place[axis] = a[axis];
        let at: [f32; 3] = std::array::from_fn(|part| place[part] + normal[part] * 4.0);
        let yaw = (-normal[1]).atan2(-normal[0]).to_degrees();
        let pitch = normal[2].asin().to_degrees();
        let all = pixels(&scene, View::From { at, yaw, pitch }, [81, 81]);
        let along = |first: usize| -> f32 {
            let vector: [f32; 4] = vectors.floats(info, first);
            (0..3).map(|part| vector[part] * place[part]).sum::<f32>() + vector[3]
        };
        let size = [texture.width(), texture.height()];
        let [x, y] = [along(0), along(4)];
        let column = x.rem_euclid(size[0] as f32) as usize;
        let row = y.rem_euclid(size[1] as f32) as usize;
        let wanted = color(&palette, indices[row * size[0] as usize + column]);
        let own = scene.textures.iter().find(|texture| texture.name.as_bytes() == name).unwrap();
        assert_eq!(own.surface, Surface::Solid);
        let found = all[40 * 81 + 40];
        // Without light a surface is darker by its direction, all colors alike.
        let shade = 0.72 + 0.16 * normal[2] + 0.08 * normal[0] + 0.04 * normal[1];
        let is_near = |(one, other): (&u8, &u8)| (f32::from(*one) - f32::from(*other) * shade).abs() < 3.0;
        assert!(found.iter().zip(&wanted).all(is_near), "face {number}: {found:?}, not {wanted:?} by {shade}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

fn color(palette: &Palette, index: u8) -> [u8; 3] {
    let at = usize::from(index) * 3;
    [palette.0[at], palette.0[at + 1], palette.0[at + 2]]
}

/// Light of a map is what its picture shows: without it no place is darker than the texture makes it.
#[test]
fn light_darkens_what_it_does_not_reach() {
    let map = Bsp::open(path("q3/own_rooms")).unwrap();
    let [dark, bright] = [true, false].map(|light| pixels(&scene(&map, light), View::Start, [120, 90]));
    assert_ne!(dark, bright);
}

/// Water has no luxels: it is as bright as its texture, whatever the light around it is.
#[test]
fn what_no_light_reaches_keeps_its_color() {
    let map = Bsp::open(path("q3/own_rooms")).unwrap();
    let at = View::From { at: [545.0, -60.0, 100.0], yaw: 30.0, pitch: 40.0 };
    let [lit, plain] = [true, false].map(|light| pixels(&scene(&map, light), at, [81, 61])[30 * 81 + 40]);
    assert!(lit.iter().all(|part| *part < 250), "{lit:?}");
    // The blue of the water without light is in the picture with light, over a floor that is lit.
    assert!(lit[2] > lit[0] + 10 && plain[2] > plain[0] + 10, "{lit:?} {plain:?}");
}

#[test]
fn sizes_and_views_that_do_not_exist_are_refused() {
    let map = Bsp::open(path("q2/own_box")).unwrap();
    let scene = scene(&map, false);
    for size in [[0, 9], [9, 0], [1 << 16, 1 << 16], [4096, 1025]] {
        assert_eq!(draw(&scene, View::Above, size).unwrap_err().kind(), ErrorKind::Argument);
    }
    for text in ["", "below", "1,2", "1,2,3,4,5,6", "1,2,nan"] {
        assert!(text.parse::<View>().is_err(), "{text}");
    }
    let none = Scene::default();
    assert_eq!(draw(&none, View::Start, [9, 9]).unwrap_err().kind(), ErrorKind::NotFound);
    // A place outside of the map, and one that is no place.
    for at in [[1e9, 0.0, 0.0], [f32::MAX; 3]] {
        draw(&scene, View::From { at, yaw: 1e30, pitch: -7.0 }, [9, 9]).unwrap();
    }
}
