//! The maps of this repository whose sources are beside them: brush for brush, pair for pair.

use bspkit::query::FieldChange;
use bspkit::{Bsp, Layout};
use bspkit_decompile::source::{Alignment, Brush, Entity, Format, Source, read};
use bspkit_decompile::{Options, decompile};

/// The planes of a brush as rounded numbers with their textures, in any order.
fn sides(brush: &Brush) -> Vec<String> {
    let mut all: Vec<String> = brush
        .sides
        .iter()
        .map(|side| {
            let [a, b, c] = side.points;
            let minus = |one: [f64; 3], other: [f64; 3]| [one[0] - other[0], one[1] - other[1], one[2] - other[2]];
            let ([a, b, c], [x, y, z]) = (minus(a, b), minus(c, b));
            let normal = [b * z - c * y, c * x - a * z, a * y - b * x];
            let long = normal.iter().map(|part| part * part).sum::<f64>().sqrt();
            let normal = normal.map(|part| part / long);
            let distance: f64 = normal.iter().zip(side.points[0]).map(|(one, other)| one * other).sum();
            let texture = String::from_utf8_lossy(&side.texture).to_ascii_lowercase();
            let plane = [normal[0], normal[1], normal[2], distance].map(|part| (part * 1000.0).round() / 1000.0 + 0.0);
            format!("{plane:?} {texture}")
        })
        .collect();
    all.sort();
    all
}

pub(crate) fn brushes(entity: &Entity) -> Vec<Vec<String>> {
    let mut all: Vec<_> = entity.brushes.iter().map(sides).collect();
    all.sort();
    all
}

pub(crate) fn pairs(entity: &Entity) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut all: Vec<_> = entity.pairs.iter().map(|(key, value)| (text(key), text(value))).collect();
    all.retain(|(key, _)| key != "mapversion");
    all.sort();
    all
}

/// Compares a map with its source.
pub(crate) fn is_its_source(map: &str, own: &str, format: Option<Format>) -> Source {
    let root = "../../tests/maps";
    let map = Bsp::open(format!("{root}/{map}")).unwrap();
    let own = read(&std::fs::read(format!("{root}/{own}")).unwrap(), Format::Quake).unwrap();
    let found = decompile(&map, &Options { format, ..Options::default() }).unwrap();
    assert_eq!(found.report.left_out, []);
    assert_eq!(read(&found.text(), found.format).unwrap(), found.source);
    // q3map2 takes lights away that nothing names.
    let is_gone = |entity: &Entity| found.report.dialect == "quake3" && entity.class() == b"light";
    let own: Vec<Entity> = own.entities.into_iter().filter(|entity| !is_gone(entity)).collect();
    assert_eq!(found.source.entities.len(), own.len());
    for (found, own) in found.source.entities.iter().zip(&own) {
        assert_eq!(pairs(found), pairs(own));
        assert_eq!(brushes(found), brushes(own), "{}", String::from_utf8_lossy(own.class()));
        let patches =
            |entity: &Entity| entity.patches.iter().map(|patch| (patch.texture.clone(), patch.size)).collect();
        let all: [Vec<_>; 2] = [patches(found), patches(own)];
        assert_eq!(all[0], all[1]);
        for (found, own) in found.patches.iter().zip(&own.patches) {
            let is_near = |one: &f64, other: &f64| (one - other).abs() < 1e-4;
            assert!(
                found.points.iter().flatten().zip(own.points.iter().flatten()).all(|(one, other)| is_near(one, other))
            );
        }
    }
    assert_eq!(found.report.planes.whole, found.report.planes.total);
    found.source
}

#[test]
fn maps_of_quake_ii_are_their_sources() {
    for format in [None, Some(Format::Quake), Some(Format::BrushDef)] {
        for map in ["q2/own_box", "q2/own_rooms"] {
            is_its_source(&format!("{map}.bsp"), &format!("{map}.map"), format);
        }
        is_its_source("q2/own_rooms_bspx.bsp", "q2/own_rooms.map", format);
        is_its_source("qbism/own_rooms_qbism.bsp", "q2/own_rooms.map", format);
    }
}

#[test]
fn maps_of_quake_iii_are_their_sources() {
    for format in [None, Some(Format::Quake3), Some(Format::Valve)] {
        for map in ["q3/own_box", "q3/own_rooms"] {
            is_its_source(&format!("{map}.bsp"), &format!("{map}.map"), format);
        }
    }
}

/// Comments of the entity text stand before their entities; a `.vmf` has none, and says so.
#[test]
fn comments_of_entities_come_back() {
    let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
    let id = map.role(bspkit::dialect::Role::Entities).unwrap().id;
    let text = String::from_utf8(map.bytes(id).unwrap().to_vec()).unwrap();
    let (first, rest) = text.split_once("}\n").unwrap();
    let text = format!("// one\n{first}// in it\n}}\n//two\n// entity of mine\n{rest}").replace('\0', "// last\n\0");
    let mut draft = map.draft();
    draft.set(id, text.into_bytes()).unwrap();
    let map = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Append).unwrap().to_vec()).unwrap();
    let found = decompile(&map, &Options::default()).unwrap();
    assert!(found.report.left_out.is_empty(), "{:?}", found.report.left_out);
    let source = read(&found.text(), found.format).unwrap();
    assert_eq!(source, found.source);
    let comments = |at: usize| -> Vec<&[u8]> { source.entities[at].comments.iter().map(|line| &line[..]).collect() };
    assert_eq!(comments(0), [&b"one"[..], b"in it"]);
    assert_eq!(comments(1), [&b"two"[..], b"entity of mine"]);
    assert_eq!(comments(source.entities.len() - 1), [b"last"]);
    let options = Options { format: Some(Format::Vmf), ..Options::default() };
    let left = decompile(&map, &options).unwrap().report.left_out;
    assert_eq!((left[0].kind, left[0].count), ("comment", 5));
}

/// The form of a `.map` is named as compilers look for it, whatever the map was made of.
#[test]
fn the_form_is_named_by_the_key_that_compilers_read() {
    for (format, named) in [
        (Format::Valve, Some(&b"220"[..])),
        (Format::Quake, None),
        (Format::Quake3, None),
        (Format::BrushDef, None),
        (Format::Vmf, Some(b"7")),
    ] {
        let mut draft = Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp").unwrap().draft();
        draft.entities().unwrap().first_class("worldspawn").unwrap().set("mapversion", "7").unwrap();
        let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let found = decompile(&map, &Options { format: Some(format), ..Options::default() }).unwrap();
        assert_eq!(found.source.entities[0].get(b"mapversion"), named, "{format:?}");
    }
}

/// Sides in shares of a texture have those of its size in the map: `OWN_FLOOR` has 32 columns, `own/floor` 512.
#[test]
fn shares_of_a_texture_are_of_its_size() {
    for (map, texture, columns) in [("goldsrc/own_rooms", "OWN_FLOOR", 32.0), ("source/room_v20", "own/floor", 512.0)] {
        let map = Bsp::open(format!("../../tests/maps/{map}.bsp")).unwrap();
        let [shares, texels] = [Format::BrushDef, Format::Valve].map(|format| {
            let found = decompile(&map, &Options { format: Some(format), ..Options::default() }).unwrap();
            assert!(!found.report.notes.iter().any(|note| note.why == bspkit_decompile::UNKNOWN_SIZE));
            let sides = found.source.entities.into_iter().flat_map(|entity| entity.brushes);
            let sides = sides.flat_map(|brush| brush.sides);
            let is_it = |name: &[u8]| name.eq_ignore_ascii_case(texture.as_bytes());
            sides.filter(|side| is_it(&side.texture)).map(|side| side.alignment).collect::<Vec<_>>()
        });
        assert!(!shares.is_empty() && shares.len() == texels.len(), "{texture}");
        for pair in shares.iter().zip(&texels) {
            let (Alignment::Matrix([row, _]), Alignment::Axes { axes: [[x, y, z, _], _], scale: [wide, _], .. }) = pair
            else {
                panic!("{pair:?}")
            };
            let [share, texel] = [[row[0], row[1], 0.0], [x / wide, y / wide, z / wide]]
                .map(|slope| slope.iter().map(|part| part * part).sum::<f64>().sqrt());
            assert!((share * columns - texel).abs() < 1e-6, "{texture}: {pair:?}");
        }
    }
}

/// Brushes that the map has for details and ladders are those of entities in every form.
#[test]
fn details_of_source_are_entities_in_every_form() {
    let mut draft = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap().draft();
    for change in ["brushes[1].contents|=134217728", "brushes[2].contents|=671088640"] {
        FieldChange::parse(change).unwrap().apply(&mut draft, &[]).unwrap();
    }
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    for format in [Format::Vmf, Format::Valve, Format::BrushDef] {
        let found = decompile(&map, &Options { format: Some(format), ..Options::default() }).unwrap();
        let count = |class: &[u8]| found.source.entities.iter().filter(|entity| entity.class() == class).count();
        assert_eq!([count(b"func_detail"), count(b"func_ladder")], [1, 1], "{format:?}");
    }
}
