//! What a source of Hammer has besides brushes.

use bspkit::Bsp;
use bspkit_decompile::source::{Alignment, Entity, Format, Source, read};
use bspkit_decompile::{Effort, Options, decompile, prove};

const ROOT: &str = "../../tests/maps/source";
const MAPS: [&str; 6] = ["room_v19", "room_v20", "room_v20_lzma", "room_v21", "room_l4d2", "room_strata"];

fn room(name: &str) -> (Bsp<'static>, Source) {
    let map = Bsp::open(format!("{ROOT}/{name}.bsp")).unwrap();
    let found = decompile(&map, &Options::default()).unwrap();
    assert_eq!(found.format, Format::Vmf);
    let source = read(&found.text(), Format::Vmf).unwrap();
    assert_eq!(source, found.source);
    (map, source)
}

fn of_class<'s>(source: &'s Source, class: &str) -> Vec<&'s Entity> {
    source.entities.iter().filter(|entity| entity.class() == class.as_bytes()).collect()
}

#[test]
fn rooms_are_proven() {
    for name in MAPS {
        let (map, source) = room(name);
        let text = bspkit_decompile::source::write(&source, Format::Vmf);
        let proof = prove(&map, &text, Format::Vmf, &Effort::default()).unwrap();
        assert!(proof.is_whole(), "{name}: {proof:?}");
        assert!(proof.points.judged > 10_000);
    }
}

#[test]
fn props_and_cube_maps_are_entities_again() {
    for name in MAPS {
        let (map, source) = room(name);
        let props = of_class(&source, "prop_static");
        let lens = map.static_props().unwrap();
        assert_eq!(props.len(), lens.len(), "{name}");
        for (at, prop) in props.iter().enumerate() {
            let own = lens.get(at).unwrap();
            let text = |key: &[u8]| String::from_utf8(prop.get(key).unwrap().to_vec()).unwrap();
            assert_eq!(text(b"skin"), own.skin.to_string());
            assert_eq!(text(b"solid"), own.solid.to_string());
            let numbers: Vec<f32> = text(b"origin").split(' ').map(|part| part.parse().unwrap()).collect();
            assert_eq!(numbers, own.origin);
            assert!(text(b"model").ends_with(".mdl"));
        }
        assert_eq!(of_class(&source, "env_cubemap").len(), map.records("CUBEMAPS").unwrap().len());
    }
}

#[test]
fn outputs_stand_in_blocks() {
    for name in MAPS {
        let (map, source) = room(name);
        let entities = map.entities().unwrap();
        let outputs = entities.iter().flat_map(|entity| entity.pairs());
        let outputs = outputs.filter(|pair| bspkit::content::entities::Output::parse(pair.value).is_some()).count();
        let found: usize = source.entities.iter().map(|entity| entity.connections.len()).sum();
        assert!(found == outputs && found >= 4, "{name}: {found} of {outputs}");
    }
}

#[test]
fn numbers_are_unique_and_sides_have_axes() {
    for name in MAPS {
        let (_, source) = room(name);
        let brushes = || source.entities.iter().flat_map(|entity| &entity.brushes);
        let mut ids: Vec<u32> = source.entities.iter().map(|entity| entity.id).collect();
        ids.extend(brushes().map(|brush| brush.id));
        ids.extend(brushes().flat_map(|brush| &brush.sides).map(|side| side.id));
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert!(ids.len() == count && ids[0] > 0, "{name}");
        assert!(brushes().flat_map(|brush| &brush.sides).all(|side| matches!(side.alignment, Alignment::Axes { .. })));
        assert!(source.entities.iter().all(|entity| entity.get(b"hammerid").is_none()));
    }
}
