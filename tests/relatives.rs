//! Relatives that share magic and version with others, or whose structs the sizes of lumps tell.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use bspkit::dialect::{self, BSP2, DAIKATANA, Dialect, PSB2, QBISM, QFUSION, QUAKE, RAVEN, daikatana, quake};
use bspkit::{Bsp, Builder, ErrorKind};

const TEXT: &[u8] = b"{\n\"classname\" \"worldspawn\"\n}\n\0";

/// A map with zeros for lumps.
fn map(dialect: &'static Dialect, lumps: &[(usize, usize)]) -> Vec<u8> {
    let empty = Builder::new(dialect).lump(0, TEXT);
    lumps.iter().fold(empty, |map, (lump, len)| map.lump(*lump, vec![0; *len])).build().unwrap()
}

#[test]
fn each_is_told_from_the_others() {
    for dialect in [&QUAKE, &BSP2, &PSB2, &QBISM, &DAIKATANA, &RAVEN, &QFUSION] {
        let bytes = map(dialect, &[(1, 720)]);
        assert_eq!(Bsp::parse(&bytes).unwrap().dialect().name, dialect.name);
    }
    assert_eq!(&map(&BSP2, &[])[..4], b"BSP2");
    assert_eq!(&map(&PSB2, &[])[..4], b"2PSB");
    assert_eq!(BSP2.version_name(BSP2.versions[0]), "BSP2");
    assert_eq!(QUAKE.version_name(29), "29");
    // The letters of Quake II before the version of Quake are neither.
    let error = Bsp::parse(&[&b"IBSP\x1d\0\0\0"[..], &[0; 200]].concat()).unwrap_err();
    assert!(error.to_string().contains("version 29, which is not known"), "{error}");
    for other in [*b"RBSP\x02\0\0\0", *b"FBSP\x02\0\0\0", *b"QBSP\x27\0\0\0"] {
        assert_eq!(Bsp::parse(&[&other[..], &[0; 200]].concat()).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

/// Models of Quake, with faces one behind the other.
fn models(count: usize, size: usize) -> Vec<u8> {
    let model = |index: usize| {
        let mut model = vec![0; size];
        model[..4].copy_from_slice(&(-16.0_f32).to_le_bytes());
        model[size - 8..size - 4].copy_from_slice(&u32::try_from(index).unwrap().to_le_bytes());
        model[size - 4] = 1;
        model
    };
    (0..count).flat_map(model).collect()
}

#[test]
fn models_of_hexen_stay_bytes_and_nothing_else_does() {
    let open = |models: Vec<u8>, faces: usize| {
        let faces = vec![0; 20 * faces];
        let map = Builder::new(&QUAKE).lump(0, TEXT).lump(1, vec![0; 40]).lump(7, faces).lump(14, models);
        Bsp::from_vec(map.build().unwrap()).unwrap()
    };
    // 320 bytes are five models of the one or four of the other.
    for (count, size, are_known) in [(1, 64, true), (3, 64, true), (5, 64, true), (1, 80, false), (4, 80, false)] {
        let map = open(models(count, size), count);
        assert_eq!(map.table(quake::PLANES).unwrap().len(), 2);
        match are_known {
            true => assert_eq!(map.table(quake::MODELS).unwrap().len(), count),
            false => {
                let error = map.table(quake::MODELS).unwrap_err();
                assert!(error.to_string().contains("Hexen II"), "{error}");
                let error = map.visibility().unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Unsupported);
                assert!(error.to_string().contains("Hexen II"), "{error}");
            }
        }
    }
    // A lump of neither size is Quake's with a rest.
    let map = open(vec![0; 70], 0);
    assert_eq!((map.table(quake::MODELS).unwrap().len(), map.table(quake::MODELS).unwrap().tail().len()), (1, 6));
}

#[test]
fn leafs_of_daikatana_have_28_bytes_or_32() {
    for (leafs, nodes, is_long) in [(28, 0, false), (32, 0, true), (224, 6, false), (224, 5, true), (224, 1, false)] {
        let bytes = map(&DAIKATANA, &[(8, leafs), (4, nodes * 28), (13, 48)]);
        let map = Bsp::parse(&bytes).unwrap();
        match is_long {
            true => assert_eq!(map.table(daikatana::LEAFS_OF_32).unwrap().len(), leafs / 32, "{leafs} {nodes}"),
            false => assert_eq!(map.table(daikatana::LEAFS).unwrap().len(), leafs / 28, "{leafs} {nodes}"),
        }
    }
}

#[test]
fn a_map_of_sin_is_not_taken_for_ravens() {
    // Lumps of Quake II's sizes under Raven's ident.
    let sin = map(&RAVEN, &[(1, 100), (2, 36), (4, 84), (8, 84), (11, 20), (13, 96), (14, 24)]);
    let error = Bsp::parse(&sin).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous);
    // One lump that is not of whole structs makes no other game.
    let damaged = map(&RAVEN, &[(1, 71), (2, 32), (4, 96), (7, 40), (13, 296)]);
    assert_eq!(Bsp::parse(&damaged).unwrap().dialect().name, "raven");
    assert_eq!(dialect::by_name("raven").unwrap().name, "raven");
}

/// `COM_Parse` of Quake ends an unquoted word at some letters, and takes each for a word of its own.
#[test]
fn some_letters_are_words_in_quake() {
    let text: &[u8] = b"{\nclassname worldspawn\nmessage:\n\"(a)\" 'b'c\n}\n\0";
    let pairs = |dialect| {
        let map = Bsp::from_vec(Builder::new(dialect).lump(0, text).build().unwrap()).unwrap();
        let entities = map.entities().unwrap();
        let all: Vec<_> =
            entities.get(0).unwrap().pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        all.iter().map(|(key, value)| format!("{}={}", text(key), text(value))).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&QUAKE), ["classname=worldspawn", "message=:", "(a)='", "b='"]);
    assert_eq!(pairs(&QBISM), ["classname=worldspawn", "message:=(a)"]);
}
