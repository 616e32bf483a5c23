//! Damaged and hostile files: named, skipped, never fatal.

use bspkit::{Bsp, ErrorKind};
use bspkit_game::assets::{fgd::Fgd, model::Model, particles::Particles};
use bspkit_game::needs::Found;

use super::{Memory, find, keys_of, room};

#[test]
fn damaged_files_are_named_and_skipped() {
    let game = Memory::of_folder("../../tests/game")
        .with("models/own/crate.mdl", "IDST")
        .with("models/own/lamp.mdl", b"IDST\xFF\0\0\0")
        .with("materials/own/floor.vmt", "a {")
        .with("particles/own_fire.pcf", "<!-- dmx encoding binary 2 format pcf 1 -->\n\0\x7F\x7F")
        .with("models/own/plank.phy", "short");
    let map =
        room(&["classname x\nmodel models/own/plank.mdl", "classname info_particle_system\neffect_name own_fire"], &[]);
    let needs = find(&map, &game);
    let mut faults: Vec<_> = needs.faults.iter().map(|fault| String::from_utf8_lossy(&fault.name)).collect();
    faults.sort();
    let expected = [
        "materials/own/floor.vmt",
        "models/own/crate.mdl",
        "models/own/lamp.mdl",
        "models/own/plank.phy",
        "particles/own_fire.pcf",
    ];
    assert_eq!(faults, expected);
    assert_eq!(needs.get("materials/own/ceiling.vmt").unwrap().found, Found::Game);
}

/// `textureindex` is at 208 (`studio.h`).
#[test]
fn a_model_whose_materials_are_outside_of_the_file_is_refused() {
    let mut bytes = std::fs::read("../../tests/game/models/own/crate.mdl").unwrap();
    assert!(!Model::parse(&bytes[..]).unwrap().textures.is_empty());
    bytes[208..212].copy_from_slice(&(1_i32 << 29).to_le_bytes());
    assert_eq!(Model::parse(&bytes[..]).unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let game = Memory::default().with("materials/own/floor.vmt", vec![b' '; (1 << 20) + 1]);
    let needs = find(&room(&[], &[]), &game);
    assert_eq!((needs.faults.len(), &needs.faults[0].name[..]), (1, &b"materials/own/floor.vmt"[..]));
}

/// Models with every word of the header replaced by numbers that lead out of the file or are too many.
#[test]
fn no_number_in_a_model_or_particle_file_is_trusted() {
    let names = ["models/own/crate.mdl", "models/own/lamp.mdl", "particles/own_fire.pcf", "particles/own_extra.pcf"];
    for name in names {
        let whole = std::fs::read(format!("../../tests/game/{name}")).unwrap();
        for at in 0..whole.len() {
            for value in [0, 1, -1, 0x7FFF_FFFF, 0x1_0000, -2i32] {
                let mut bytes = whole.clone();
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
                drop((Model::parse(&bytes[..]), Particles::parse(&bytes[..])));
            }
            drop((Model::parse(&whole[..at]), Particles::parse(&whole[..at])));
        }
    }
}

#[test]
fn both_encodings_of_particles_give_the_same() {
    let text = "<!-- dmx encoding keyvalues2 1 format pcf 1 -->\n\"DmElement\" { \"id\" \"elementid\" \"1\"\n\
        \"particleSystemDefinitions\" \"element_array\" [ \"DmeParticleSystemDefinition\" { \"id\" \"elementid\" \"2\"\n\
        \"name\" \"string\" \"own_fire\" \"max_particles\" \"int\" \"8\" \"material\" \"string\" \"own/fire.vmt\"\n\
        \"children\" \"element_array\" [ \"DmeParticleChild\" { \"name\" \"string\" \"own_smoke\" \"child\" \"element\" \"3\" } ] },\n\
        \"element\" \"3\" ] }\n\"DmeParticleSystemDefinition\" { \"id\" \"elementid\" \"3\" \"name\" \"string\" \"own_smoke\"\n\
        \"material\" \"string\" \"own\\smoke.vmt\" }";
    let binary = Particles::parse(std::fs::read("../../tests/game/particles/own_fire.pcf").unwrap()).unwrap();
    assert_eq!(Particles::parse(text).unwrap().systems, binary.systems);
    assert_eq!(binary.systems[0].children, [b"own_smoke"]);
}

#[test]
fn an_fgd_file_is_bounded() {
    let keys =
        keys_of("@BaseClass base(A) = A [ x(sound) ] @BaseClass base(A) = B [ @PointClass base(B, A) = c [ y(sound");
    assert!(keys.get(b"c", b"x").is_none());
    let mut fgd = Fgd::default();
    fgd.read(b"@BaseClass base(B) = A [ x(sound) ] @BaseClass base(A) = B [ y(sprite) ] @PointClass base(A) = c []")
        .unwrap();
    assert_eq!(fgd.typed_keys().count(), 2);
    let many = format!("@PointClass = a [ {} z(sound) ]", "k(sound) ".repeat(1 << 20));
    assert_eq!(fgd.read(many.as_bytes()).unwrap_err().kind(), ErrorKind::TooLarge);
}

#[test]
fn a_map_that_is_not_of_source_is_refused_by_name() {
    let map = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    let error = bspkit_game::needs::find(&map, &bspkit_game::needs::Options::new("own_rooms")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
