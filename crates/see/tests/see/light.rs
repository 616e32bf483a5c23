//! Light: where each luxel of the map is on the pages, and where each corner of a face is among them.

use std::collections::BTreeMap;

use bspkit::{Bsp, Data, Layout};
use bspkit_game::assets::Files;
use bspkit_see::{Format, Options, Scene, export};
use serde_json::Value;

use crate::glb::{Glb, Part};
use crate::raw::{Face, Raw};
use crate::{exported, path};

/// The light of a file: what the node of the map says of it.
fn about(glb: &Glb) -> &Value {
    let scene = &glb.json["scenes"][glb.json["scene"].as_u64().unwrap() as usize];
    &glb.json["nodes"][scene["nodes"][0].as_u64().unwrap() as usize]["extras"]["light"]
}

/// The image of a style on the first page.
fn page(glb: &Glb, style: u64) -> (usize, usize, Vec<Vec<u8>>) {
    let images = about(glb)["images"].as_array().unwrap();
    let own = images.iter().find(|image| image["style"] == style && image["page"] == 0 && image["form"].is_null());
    glb.image(own.unwrap()["image"].as_u64().unwrap() as usize)
}

/// Columns and rows of a face's light, and its first luxel, as engines compute them from its corners.
fn extents(face: &Face) -> ([f64; 2], [usize; 2]) {
    let (mut first, mut size) = ([0.0; 2], [0; 2]);
    for axis in 0..2 {
        let [x, y, z, w] = face.vectors[axis];
        let along = face.polygons[0].iter().map(|at| f64::from((x * at[0] + y * at[1] + z * at[2] + w) as f32));
        let (least, most) = along.fold((f64::MAX, f64::MIN), |(least, most), it| (least.min(it), most.max(it)));
        first[axis] = (least / 16.0).floor();
        size[axis] = ((most / 16.0).ceil() - first[axis]) as usize + 1;
    }
    (first, size)
}

/// The vertices of a face in a part.
fn of_face(part: &Part, face: usize) -> impl Iterator<Item = usize> {
    (0..part.points.len()).filter(move |at| part.faces[*at] == face)
}

/// Whether each lit face is at its luxels: all corners are where their place on the face is, and around them are the
/// bytes of the map.
fn check(glb: &Glb, raw: &Raw) -> Result<usize, String> {
    let (lump, luxel) = &raw.light;
    let mut pages = BTreeMap::new();
    let mut seen = 0;
    for part in glb.parts() {
        let mut faces = part.faces.clone();
        faces.dedup();
        for index in faces {
            let face = &raw.faces[index];
            let Some((offset, style)) = face.light else { continue };
            let (wide, high, pixels) = pages.entry(style).or_insert_with(|| page(glb, style.into()));
            let size = [*wide as f64, *high as f64];
            let (first, [columns, rows]) = extents(face);
            if ["sky", "water", "*"].iter().any(|name| face.texture.to_ascii_lowercase().contains(name)) {
                continue;
            }
            let mut corner = None;
            for at in of_face(part, index) {
                let point = part.points[at];
                let own = [0, 1].map(|axis| {
                    let [x, y, z, w] = face.vectors[axis];
                    let luxel = (x * point[0] + y * point[1] + z * point[2] + w) / 16.0 - first[axis];
                    part.light_at[at][axis] * size[axis] - 0.5 - luxel
                });
                let start: [f64; 2] = *corner.get_or_insert(own);
                if (0..2)
                    .any(|axis| (start[axis] - own[axis]).abs() > 0.02 || (own[axis] - own[axis].round()).abs() > 0.02)
                {
                    return Err(format!("face {index}: luxel {own:?}, and {start:?} before"));
                }
            }
            let start = corner.unwrap().map(|at| at.round() as usize);
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let at = offset + (row * columns + column) * luxel;
                let wanted: Vec<u8> = lump[at..at + luxel].iter().copied().cycle().take(3).collect();
                let found = &pixels[(start[1] + row) * *wide + start[0] + column];
                if found[..3] != wanted[..] {
                    return Err(format!("face {index}: luxel {column}, {row} is {found:?}, not {wanted:?}"));
                }
            }
            seen += 1;
        }
    }
    Ok(seen)
}

fn both(name: &str) -> (Glb, Raw) {
    let bytes = std::fs::read(path(name)).unwrap();
    (Glb::read(&exported(&Bsp::parse(&bytes).unwrap(), &Options::default())), Raw::read(&bytes).unwrap())
}

#[test]
fn every_corner_is_at_its_luxel() {
    for name in ["q1/own_rooms", "bsp2/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "qbism/own_rooms_qbism"] {
        let (glb, raw) = both(name);
        let seen = check(&glb, &raw).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(seen > 20, "{name}: {seen} lit faces");
    }
}

#[test]
fn light_coordinates_that_are_off_would_be_seen() {
    for axis in 0..2 {
        let (mut glb, raw) = both("q2/own_rooms");
        let size = page(&glb, 0);
        let step = 1.0 / [size.0 as f64, size.1 as f64][axis];
        glb.parts_mut().flat_map(|part| &mut part.light_at).for_each(|at| at[axis] += step);
        assert!(check(&glb, &raw).is_err(), "one luxel");
        let (mut glb, raw) = both("q2/own_rooms");
        glb.parts_mut().flat_map(|part| &mut part.light_at).for_each(|at| at[axis] += step / 2.0);
        assert!(check(&glb, &raw).is_err(), "half a luxel");
    }
    let (mut glb, raw) = both("q2/own_rooms");
    glb.parts_mut().flat_map(|part| &mut part.light_at).for_each(|at| at.swap(0, 1));
    assert!(check(&glb, &raw).is_err(), "exchanged axes");
}

/// Quake III: the pages of the map as they are, and each corner at its place on its page.
#[test]
fn pages_of_the_map_are_whole() {
    let name = "q3/own_rooms";
    let bytes = std::fs::read(path(name)).unwrap();
    let (glb, raw) = both(name);
    let (wide, high, pixels) = page(&glb, 0);
    let count = raw.light.0.len() / 49152;
    // Each page begins where its first row is.
    let rows = |start: usize, lump: usize| {
        (0..128).all(|row| {
            let line = &pixels[start + row * wide..start + row * wide + 128];
            line.concat() == raw.light.0[lump + row * 384..lump + (row + 1) * 384]
        })
    };
    let at = |page: usize| {
        let places = (0..=high - 128).flat_map(|row| (0..=wide - 128).map(move |column| row * wide + column));
        places.into_iter().find(|start| rows(*start, page * 49152))
    };
    let places: Vec<usize> = (0..count).map(|page| at(page).unwrap()).collect();
    let number = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let float = |at: usize| f64::from(f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
    let lump = |index: usize| number(8 + 8 * index) as usize;
    let mut seen = 0;
    for part in glb.parts() {
        for (at, face) in part.faces.iter().enumerate() {
            let surface = lump(13) + 104 * face;
            let (page, kind) = (number(surface + 28), number(surface + 8));
            let Some(start) = usize::try_from(page).ok().map(|page| places[page]).filter(|_| kind != 2) else {
                continue;
            };
            let first = part.faces.iter().position(|other| other == face).unwrap();
            let corner = lump(10) + 44 * (number(surface + 12) as usize + at - first);
            for (axis, side) in [wide, high].into_iter().enumerate() {
                let begin = if axis == 0 { start % wide } else { start / wide } as f64;
                let wanted = (begin + float(corner + 20 + 4 * axis) * 128.0) / side as f64;
                assert!((part.light_at[at][axis] - wanted).abs() < 1e-4, "surface {face}, vertex {at}");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn light_of_source_is_shown_and_exact() {
    let map = Bsp::open(path("source/room_v20")).unwrap();
    let glb = Glb::read(&exported(&map, &Options { hdr: true, ..Options::default() }));
    assert_eq!(about(&glb)["brightest"], 2.0);
    let images = about(&glb)["images"].as_array().unwrap();
    let exact = images.iter().find(|image| image["form"] == "rgbe").unwrap();
    let (wide, _, pixels) = glb.image(exact["image"].as_u64().unwrap() as usize);
    let (other, _, shown) = page(&glb, 0);
    assert_eq!(wide, other);
    let mut seen = 0;
    for (exact, shown) in pixels.iter().zip(&shown) {
        let [red, _, _, exponent] = exact[..] else { panic!() };
        let light = f64::from(red) / 255.0 * f64::from(i32::from(exponent) - 128).exp2();
        let wanted = 255.0 * (light / 2.0).min(1.0).powf(1.0 / 2.2);
        if *exact != [0; 4] {
            assert!((f64::from(shown[0]) - wanted).abs() <= 1.0, "{exact:?} {shown:?}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

/// Where no face has the light that is always on, materials have that of the lowest style.
#[test]
fn light_of_the_lowest_style_is_shown() {
    let mut draft = Bsp::open(path("q2/own_rooms")).unwrap().draft();
    for slot in 0..4 {
        let change = format!("faces[styles[{slot}]=0].styles[{slot}]=5");
        bspkit::query::FieldChange::parse(&change).unwrap().apply(&mut draft, &[]).unwrap();
    }
    let map = Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
    let glb = Glb::read(&exported(&map, &Options::default()));
    let images = about(&glb)["images"].as_array().unwrap();
    let styles: Vec<u64> = images.iter().map(|image| image["style"].as_u64().unwrap()).collect();
    assert_eq!(styles, [2, 5, 32]);
    let named = &glb.json["materials"].as_array().unwrap().iter().find_map(|material| {
        let texture = material["extensions"]["MOZ_lightmap"]["index"].as_u64()?;
        glb.json["textures"][texture as usize]["source"].as_u64()
    });
    assert_eq!(images[0]["image"].as_u64(), *named);
}

#[test]
fn a_scene_without_light_has_no_coordinates_of_it() {
    let map = Bsp::open(path("q2/own_rooms")).unwrap();
    let glb = Glb::read(&exported(&map, &Options { light: false, ..Options::default() }));
    assert!(about(&glb).is_null() && glb.json["extensionsUsed"].as_array().unwrap().len() == 1);
    assert!(glb.parts().all(|part| part.light_at.is_empty() && !part.points.is_empty()));
}

/// The files of a game: pages of light.
struct Pages(BTreeMap<Vec<u8>, Vec<u8>>);

impl Files for Pages {
    fn has(&self, name: &[u8]) -> bool {
        self.0.contains_key(name)
    }

    fn read(&self, name: &[u8], _: usize) -> bspkit::Result<Option<Data<'_>>> {
        Ok(self.0.get(name).map(|bytes| bytes[..].into()))
    }
}

/// A page of 128 x 128 luxels as a TGA file, whose first row is the first or the last one.
fn tga(luxels: &[u8], is_first: bool) -> Vec<u8> {
    let mut file = vec![0; 18];
    (file[2], file[12], file[14], file[16], file[17]) = (2, 128, 128, 24, if is_first { 0x20 } else { 0 });
    let rows = luxels.chunks(128 * 3);
    let rows: Vec<&[u8]> = if is_first { rows.collect() } else { rows.rev().collect() };
    rows.concat().chunks(3).for_each(|luxel| file.extend([luxel[2], luxel[1], luxel[0]]));
    file
}

/// Light that is moved out of a map into files is shown as it was. A page that is not there is said.
#[test]
fn light_in_files_beside_the_map_is_shown() {
    for name in ["q3/own_rooms", "q3/own_box"] {
        let bytes = std::fs::read(path(name)).unwrap();
        let old = Bsp::parse(&bytes).unwrap();
        let slot = old.slot("LIGHTMAPS").unwrap().id;
        let pages = old.bytes(slot).unwrap();
        let files = pages.chunks(128 * 128 * 3).enumerate();
        let files = files.map(|(at, page)| (format!("maps/rooms/lm_{at:04}.tga").into_bytes(), tga(page, at % 2 == 1)));
        let mut files = Pages(files.collect());
        assert!(!files.0.is_empty(), "{name}");
        let mut draft = old.draft();
        draft.set(slot, Vec::new()).unwrap();
        let new = draft.plan(Layout::Keep).unwrap().to_vec();
        let new = Bsp::parse(&new).unwrap();
        let scene = |map: &Bsp<'_>, files: &Pages, name| {
            let options = Options { name: Some(name), files: Some(files), ..Options::default() };
            Scene::read(map, &options).unwrap()
        };
        let (shown, moved) = (scene(&old, &files, "rooms"), scene(&new, &files, "rooms"));
        assert_eq!(moved.findings, []);
        let file = |scene| export(scene, Format::Glb, "map.glb").unwrap();
        assert!(moved.light.is_some());
        assert_eq!(file(&shown), file(&moved));
        // Another map has other files.
        let other = scene(&new, &files, "other");
        assert!(other.light.is_none() && other.findings[0].message.contains("are not found"), "{:?}", other.findings);
        files.0.values_mut().for_each(|file| file.truncate(100));
        let damaged = scene(&new, &files, "rooms");
        assert!(damaged.findings[0].message.contains("lm_0000.tga"), "{:?}", damaged.findings);
    }
}
