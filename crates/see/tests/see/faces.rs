//! Triangles and their areas for each texture, the boxes of models, and which way faces look.

use std::collections::BTreeMap;

use bspkit::Bsp;
use bspkit_see::{Format, Options, Scene, export};

use crate::glb::{Glb, Mesh};
use crate::raw::{Raw, area};
use crate::{FIXTURES, exported, path};

/// The triangles of a file, and their area in square units, for each texture; without those of curved faces.
fn areas(glb: &Glb, raw: &Raw) -> BTreeMap<String, (usize, f64)> {
    let mut found: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for part in glb.parts() {
        for triangle in part.triangles.iter().filter(|triangle| !raw.faces[part.faces[triangle[0]]].is_curved) {
            let entry = found.entry(part.texture.to_ascii_lowercase()).or_default();
            entry.0 += 1;
            entry.1 += area(&triangle.map(|corner| part.points[corner]));
        }
    }
    found
}

/// Whether a file has the triangles of the map, with their areas, texture by texture.
pub(crate) fn check_areas(glb: &Glb, raw: &Raw) -> Result<(), String> {
    let (found, wanted) = (areas(glb, raw), raw.areas());
    let names = |of: &BTreeMap<String, (usize, f64)>| of.keys().cloned().collect::<Vec<_>>();
    if names(&found) != names(&wanted) {
        return Err(format!("textures {:?}, not {:?}", names(&found), names(&wanted)));
    }
    let counts_hold = !raw.faces.iter().any(|face| face.has_primitives);
    for (name, (triangles, area)) in &wanted {
        let (count, own) = found[name];
        if counts_hold && count != *triangles {
            return Err(format!("{name}: {count} triangles, not {triangles}"));
        }
        if (own - area).abs() > 1e-4 * area + 0.1 {
            return Err(format!("{name}: {own} square units, not {area}"));
        }
    }
    Ok(())
}

/// Whether the box of a mesh is that of its model; that of the world, of which only the inside has faces, is within it.
fn check_bounds(mesh: &Mesh, [least, most]: [[f64; 3]; 2], is_world: bool) -> Result<(), String> {
    // Compilers of Quake make boxes larger by a unit, and some smaller.
    const SLACK: f64 = 1.01;
    let found = mesh.bounds();
    for axis in 0..3 {
        let (low, high) = (found[0][axis] - least[axis], most[axis] - found[1][axis]);
        let is_good = |gap: f64| gap >= -SLACK && (is_world || gap <= SLACK);
        if !is_good(low) || !is_good(high) {
            return Err(format!(
                "axis {axis} is from {} to {}, not {} to {}",
                found[0][axis], found[1][axis], least[axis], most[axis]
            ));
        }
    }
    Ok(())
}

/// The mesh of each model of the map, as the file numbers them: models without faces have none.
fn meshes<'g>(glb: &'g Glb, raw: &Raw) -> Vec<(usize, &'g Mesh)> {
    let filled = raw.models.iter().enumerate().filter(|(_, (_, faces))| !faces.is_empty()).map(|(model, _)| model);
    filled.zip(&glb.meshes).collect()
}

fn check_models(glb: &Glb, raw: &Raw) -> Result<(), String> {
    for (model, mesh) in meshes(glb, raw) {
        check_bounds(mesh, raw.models[model].0, model == 0).map_err(|error| format!("model {model}: {error}"))?;
    }
    Ok(())
}

/// Whether the corners of each triangle run counterclockwise as seen from where its normals point.
fn check_facing(glb: &Glb) -> Result<(), String> {
    for part in glb.parts() {
        for triangle in &part.triangles {
            let [a, b, c] = triangle.map(|corner| part.points[corner]);
            let side = |to: [f64; 3]| [0, 1, 2].map(|axis| to[axis] - a[axis]);
            let (one, other) = (side(b), side(c));
            let cross = |axis: usize| {
                let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
                one[next] * other[last] - one[last] * other[next]
            };
            let normal = part.normals[triangle[0]];
            let along: f64 = (0..3).map(|axis| cross(axis) * normal[axis]).sum();
            if along < -1e-3 {
                return Err(format!("a triangle of face {} shows its back", part.faces[triangle[0]]));
            }
        }
        for normal in &part.normals {
            let length = normal.iter().map(|part| part * part).sum::<f64>().sqrt();
            if (length - 1.0).abs() > 1e-3 {
                return Err(format!("a normal of length {length}"));
            }
        }
    }
    Ok(())
}

fn both(name: &str) -> (Glb, Raw) {
    let bytes = std::fs::read(path(name)).unwrap();
    let glb = Glb::read(&exported(&Bsp::parse(&bytes).unwrap(), &Options::default()));
    (glb, Raw::read(&bytes).unwrap())
}

#[test]
fn every_face_is_there_once() {
    for name in FIXTURES {
        let (glb, raw) = both(name);
        assert!(!raw.areas().is_empty(), "{name}");
        assert_eq!(check_areas(&glb, &raw), Ok(()), "{name}");
        assert_eq!(check_models(&glb, &raw), Ok(()), "{name}");
        assert_eq!(check_facing(&glb), Ok(()), "{name}");
    }
}

/// Whether the texture coordinates are what the vectors of the map give.
fn check_textures(glb: &Glb, raw: &Raw) -> Result<(), String> {
    for part in glb.parts() {
        for (at, (point, face)) in part.points.iter().zip(&part.faces).enumerate() {
            let Some(size) = raw.faces[*face].size.filter(|_| !raw.faces[*face].is_curved) else { continue };
            let texels = raw.faces[*face].vectors.map(|[x, y, z, w]| x * point[0] + y * point[1] + z * point[2] + w);
            for axis in 0..2 {
                let found = part.texture_at[at][axis] * size[axis];
                if (found - texels[axis]).abs() > 0.05 {
                    return Err(format!("face {face}: texel {found} along axis {axis}, not {}", texels[axis]));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn textures_lie_as_the_vectors_say() {
    for name in ["q1/own_rooms", "bsp2/own_rooms", "goldsrc/own_rooms", "source/room_v20"] {
        let (mut glb, raw) = both(name);
        assert_eq!(check_textures(&glb, &raw), Ok(()), "{name}");
        glb.parts_mut().flat_map(|part| &mut part.texture_at).for_each(|at| at.swap(0, 1));
        assert!(check_textures(&glb, &raw).is_err(), "{name}: exchanged axes");
    }
}

/// A change of what was exported, which a check must see.
fn planted(change: impl FnOnce(&mut Glb), check: impl Fn(&Glb, &Raw) -> Result<(), String>) {
    let (mut glb, raw) = both("q2/own_rooms");
    assert_eq!(check(&glb, &raw), Ok(()));
    change(&mut glb);
    assert!(check(&glb, &raw).is_err());
}

#[test]
fn a_missing_face_would_be_seen() {
    planted(
        |glb| {
            glb.meshes[0].parts[0].triangles.pop();
        },
        check_areas,
    );
}

#[test]
fn a_face_of_another_texture_would_be_seen() {
    planted(
        |glb| {
            let moved = glb.meshes[0].parts[0].triangles[0];
            let points = moved.map(|corner| glb.meshes[0].parts[0].points[corner]);
            let other = &mut glb.meshes[0].parts[1];
            other.triangles[0] = other.triangles[0].map(|corner| corner);
            for (corner, point) in other.triangles[0].into_iter().zip(points) {
                other.points[corner] = point;
            }
        },
        check_areas,
    );
}

#[test]
fn an_exchanged_axis_would_be_seen() {
    planted(|glb| glb.parts_mut().flat_map(|part| &mut part.points).for_each(|point| point.swap(0, 1)), check_models);
    planted(|glb| glb.parts_mut().flat_map(|part| &mut part.points).for_each(|point| point[1] *= -1.0), check_models);
}

#[test]
fn a_larger_unit_would_be_seen() {
    planted(|glb| glb.parts_mut().flat_map(|part| &mut part.points).for_each(|point| point[2] *= 1.05), check_areas);
}

#[test]
fn a_face_that_shows_its_back_would_be_seen() {
    planted(|glb| glb.meshes[1].parts[0].triangles[0].swap(0, 1), |glb, _| check_facing(glb));
}

/// Maps of consoles, and those that were lit for high dynamic range alone, have their faces in the other list.
#[test]
fn faces_for_high_dynamic_range_alone_are_shown() {
    let bytes = std::fs::read(path("source/room_v20")).unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let mut draft = map.draft();
    for lump in ["FACES", "LIGHTING"] {
        draft.set(map.slot(lump).unwrap().id, Vec::new()).unwrap();
    }
    let other = draft.plan(bspkit::Layout::Keep).unwrap().to_vec();
    let other = Bsp::parse(&other).unwrap();
    assert_eq!((map.drawn_faces().unwrap().name(), other.drawn_faces().unwrap().name()), ("FACES", "FACES_HDR"));
    let scene = |map: &Bsp<'_>| Scene::read(map, &Options { hdr: true, ..Options::default() }).unwrap();
    let (whole, alone) = (scene(&map), scene(&other));
    assert!(alone.light.is_some() && alone.models[0].triangles() > 10, "{:?}", alone.findings);
    assert_eq!(export(&whole, Format::Glb, "a.glb").unwrap(), export(&alone, Format::Glb, "a.glb").unwrap());
}

/// Faces name a texture by its index. Another one of the same name, or of one that differs in its case, has other pixels.
#[test]
fn textures_of_one_name_are_not_one() {
    let map = Bsp::open(path("goldsrc/own_rooms")).unwrap();
    let pictures = |map: &Bsp<'_>| {
        let scene = Scene::read(map, &Options::default()).unwrap();
        let all = scene.models.iter().flat_map(|model| &model.parts).flat_map(|part| {
            let picture = scene.textures[part.texture].picture.as_ref().map(|picture| picture.png.clone());
            part.vertices.iter().map(move |vertex| (vertex.face, picture.clone()))
        });
        all.collect::<BTreeMap<u32, _>>()
    };
    for name in ["OWN_FLOOR", "own_floor"] {
        let mut draft = map.draft();
        let textures = draft.textures().unwrap();
        let wall = (0..textures.len())
            .find(|at| textures.get(*at).unwrap().is_some_and(|own| own.name() == b"OWN_WALL"))
            .unwrap();
        textures.rename(wall, name.as_bytes()).unwrap();
        let new = Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
        assert!(pictures(&new) == pictures(&map), "{name}");
    }
}
