//! Relatives that share magic and version with others, or whose structs the sizes of lumps tell.

use bspkit::dialect::{
    self, BREAKTHROUGH, BSP2, DAIKATANA, Dialect, FAKK, MOHAA, MOHAA_BETA, PSB2, QBISM, QFUSION, QUAKE, QUAKE64, RAVEN,
    Role, daikatana, fakk, mohaa, mohaa_beta, quake, quake3,
};
use bspkit::{Bsp, Builder, ErrorKind, Layout};

const TEXT: &[u8] = b"{\n\"classname\" \"worldspawn\"\n}\n\0";

/// A map with zeros for lumps.
fn map(dialect: &'static Dialect, lumps: &[(usize, usize)]) -> Vec<u8> {
    let empty = Builder::new(dialect).lump(dialect.role(Role::Entities).unwrap(), TEXT);
    lumps.iter().fold(empty, |map, (lump, len)| map.lump(*lump, vec![0; *len])).build().unwrap()
}

#[test]
fn each_is_told_from_the_others() {
    let relatives = [
        &QUAKE,
        &QUAKE64,
        &BSP2,
        &PSB2,
        &QBISM,
        &DAIKATANA,
        &RAVEN,
        &QFUSION,
        &FAKK,
        &MOHAA,
        &MOHAA_BETA,
        &BREAKTHROUGH,
    ];
    for dialect in relatives {
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
    assert_eq!((error.kind(), error.hint().is_some()), (ErrorKind::Unsupported, false));
    assert!(error.to_string().ends_with("a map of another game, such as SiN"), "{error}");
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

/// A map of Ritual's kind, with a model that has two surfaces and a brush of six sides.
fn ritual(dialect: &'static Dialect, side_size: usize, leaf_size: usize) -> Vec<u8> {
    let at = |role| dialect.role(role).unwrap();
    let word = |number: i32| number.to_le_bytes();
    let model = [&[0; 24][..], &word(0), &word(2), &word(0), &word(1)].concat();
    let brush = [word(0), word(6), word(0)].concat();
    let lumps = [
        (at(Role::Planes), vec![0; 32]),
        (at(Role::Faces), vec![0; 216]),
        (at(Role::Leafs), vec![0; 2 * leaf_size]),
        (at(Role::Models), model),
        (at(Role::Brushes), brush),
        (at(Role::BrushSides), vec![0; 6 * side_size]),
    ];
    let empty = Builder::new(dialect).lump(at(Role::Entities), TEXT);
    lumps.into_iter().fold(empty, |map, (lump, bytes)| map.lump(lump, bytes)).build().unwrap()
}

#[test]
fn lumps_of_ritual_are_told_by_what_the_models_share_out() {
    let maps = [(&FAKK, 8, 48), (&MOHAA, 12, 64), (&BREAKTHROUGH, 12, 64), (&MOHAA_BETA, 12, 56)];
    for (dialect, side, leaf) in maps {
        let bytes = ritual(dialect, side, leaf);
        let map = Bsp::parse(&bytes).unwrap();
        assert_eq!(map.dialect().name, dialect.name);
        assert_eq!(map.table(fakk::SURFACES).unwrap().len(), 2);
        assert_eq!(map.table(quake3::MODELS).unwrap().get(0).unwrap().brush_count, 1);
        let sides = match side {
            8 => map.table(quake3::BRUSHSIDES).unwrap().len(),
            _ => map.table(mohaa::BRUSHSIDES).unwrap().len(),
        };
        let leafs = match leaf {
            48 => map.table(quake3::LEAFS).unwrap().len(),
            56 => map.table(mohaa_beta::LEAFS).unwrap().len(),
            _ => map.table(mohaa::LEAFS).unwrap().len(),
        };
        assert_eq!((sides, leafs), (6, 2), "{}", dialect.name);
        // Sides of another size are another struct, and then nothing is believed.
        let bytes = ritual(dialect, side + 4, leaf);
        let map = Bsp::parse(&bytes).unwrap();
        let why = map.row(map.slot("SURFACES").unwrap()).unwrap_err().to_string();
        assert!(why.contains("BRUSHSIDES is"), "{why}");
        // Nor is such a map told that it is broken, as another game's would be: no lump is read as what it is not proved to be.
        let findings = bspkit_ops::check::run(&map, &bspkit_ops::check::Options::default()).unwrap();
        let read: Vec<_> =
            findings.iter().filter(|it| it.code.name == "index-range" || it.code.name == "count-misfit").collect();
        assert!(read.is_empty(), "{}: {read:?}", dialect.name);
    }
    // The same lumps have one number more where there were fogs still.
    assert_eq!(MOHAA_BETA.lump_name(13), "FOGS");
    assert_eq!((MOHAA.lump_name(14), MOHAA_BETA.lump_name(15)), ("ENTITIES".to_owned(), "ENTITIES".to_owned()));
    assert_eq!(
        (MOHAA.lump_name(26), MOHAA_BETA.lump_name(27)),
        ("STATICMODELINDEXES".to_owned(), "STATICMODELINDEXES".to_owned())
    );
}

#[test]
fn the_checksum_in_the_header_stays() {
    for dialect in [&FAKK, &MOHAA, &MOHAA_BETA, &BREAKTHROUGH] {
        let mut bytes = map(dialect, &[(1, 64)]);
        bytes[8..12].copy_from_slice(b"\xde\xad\xbe\xef");
        let map = Bsp::parse(&bytes).unwrap();
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            let mut draft = map.draft();
            draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", "somewhere else").unwrap();
            let saved = draft.plan(layout).unwrap().to_vec();
            assert_eq!(saved[8..12], bytes[8..12], "{} {layout:?}", dialect.name);
            let again = Bsp::parse(&saved).unwrap();
            assert!(
                again
                    .bytes(again.role(Role::Entities).unwrap().id)
                    .unwrap()
                    .windows(14)
                    .any(|it| it == b"somewhere else")
            );
        }
    }
}

#[test]
fn textures_of_quake_64_stay_bytes() {
    let bytes = map(&QUAKE64, &[(2, 100), (14, 64)]);
    let map = Bsp::parse(&bytes).unwrap();
    assert_eq!((&bytes[..4], map.dialect().version_name(map.version())), (&b" 46Q"[..], "46Q".to_owned()));
    assert!(map.row(map.slot("TEXTURES").unwrap()).unwrap_err().to_string().contains("44 bytes"));
    assert!(map.textures().unwrap_err().to_string().contains("44 bytes"));
    assert!(map.texture_names().is_err());
    assert_eq!(map.table(quake::MODELS).unwrap().len(), 1);
}

/// Else text forms could not say which of them a lump has.
#[test]
fn structs_of_one_lump_differ_in_name_or_size() {
    for dialect in dialect::ALL {
        for lump in dialect.lumps {
            let mut seen: Vec<&bspkit::record::RecordInfo> = Vec::new();
            for record in dialect.rows_of(lump.name).filter_map(bspkit::dialect::Row::record) {
                let is_twin = |other: &&&bspkit::record::RecordInfo| {
                    other.name == record.name && other.size == record.size && (other.type_id)() != (record.type_id)()
                };
                assert!(!seen.iter().any(|other| is_twin(&other)), "{}: {} {}", dialect.name, lump.name, record.name);
                seen.push(record);
            }
        }
    }
}

#[test]
fn planepolys_of_daikatana_go_by_planes() {
    let words = |numbers: &[i32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
    let row = |polys: &[u8]| {
        let bytes = Builder::new(&DAIKATANA).lump(1, [0; 60]).lump(20, polys.to_vec()).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        map.row(map.slot("PLANEPOLYS").unwrap()).map(|row| row.record().unwrap().size)
    };
    assert_eq!(row(&words(&[2, 7, 8, 0, 1, 9])).unwrap(), 4);
    assert!(row(&words(&[2, 7, 8, 0])).unwrap_err().to_string().contains("each of 3 planes"));
    assert!(row(&words(&[2, 7, 8, 0, 1, 9, 4])).is_err());
    assert!(row(&words(&[-1, 7, 8])).is_err());
    assert!(row(&words(&[i32::MAX, 7, 8])).is_err());
}

/// Light of Counter-Strike: Global Offensive is not an array of colors where alphas are between.
#[test]
fn light_with_alphas_is_not_listed_as_colors() {
    let form = |flags: u8| {
        let bytes = Builder::new(&dialect::SOURCE21).lump(8, [7; 40]).lump(53, [7; 40]).lump(59, [flags, 0, 0, 0]);
        let bytes = bytes.build().unwrap();
        let map = Bsp::from_data(bytes.into(), Some(&dialect::SOURCE21)).unwrap();
        let [one, other] =
            ["LIGHTING", "LIGHTING_HDR"].map(|lump| map.row(map.slot(lump).unwrap()).map(|row| row.form));
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
        match one {
            Ok(bspkit::dialect::Form::Array(record)) => record.name,
            Ok(bspkit::dialect::Form::Lens(what)) => what,
            _ => "bytes",
        }
    };
    assert_eq!([0, 3, 4, 0x7D, 0x7F].map(form)[..3], ["ColorRgbExp32", "ColorRgbExp32", "light with alphas"]);
    assert_eq!(
        [0x7C, 0x7D, 0x7E, 0x08].map(form),
        ["light with alphas", "light with alphas", "light with alphas", "bytes"]
    );
}

/// The world is the first model, and its tree begins with the first node, in every family.
#[test]
fn the_world_and_the_first_node_stay() {
    for dialect in dialect::ALL {
        let rows = ["MODELS", "NODES"].into_iter().flat_map(|lump| dialect.rows_of(lump).map(move |row| (lump, row)));
        for (lump, row) in rows.filter(|(_, row)| row.record().is_some()) {
            assert_eq!(row.order.fixed, 1, "{} {lump}", dialect.name);
        }
    }
}

/// A text that begins with more blank lines than one looks at first is a text.
#[test]
fn blue_shift_is_told_by_any_text() {
    for lead in [&b""[..], &[b'\n'; 64], b"\xEF\xBB\xBF", b"// \x01 \n", &[b' '; 5000]] {
        let text = [lead, b"{\n\"classname\" \"worldspawn\"\n}\n\0"].concat();
        for dialect in [&dialect::BLUE_SHIFT, &dialect::GOLDSRC] {
            let builder = Builder::new(dialect).role(dialect::Role::Entities, text.clone()).unwrap();
            let builder = builder.role(dialect::Role::Planes, vec![7; 1000]).unwrap();
            let map = Bsp::from_vec(builder.build().unwrap()).unwrap();
            assert_eq!(map.dialect().name, dialect.name, "{}", lead.escape_ascii());
        }
    }
}

/// Engines read a text up to its NUL, also one that is the first of its map.
#[test]
fn the_first_entity_of_a_map_comes_with_a_nul() {
    for dialect in [&QUAKE, &dialect::QUAKE3, &dialect::SOURCE] {
        let map = Bsp::from_data(Builder::new(dialect).build().unwrap().into(), Some(dialect)).unwrap();
        let mut draft = map.draft();
        draft.entities().unwrap().add([("classname", "worldspawn")]).unwrap();
        let slot = map.role(dialect::Role::Entities).unwrap().id;
        assert_eq!(*draft.bytes(slot).unwrap(), b"{\n\"classname\" \"worldspawn\"\n}\n\0"[..]);
    }
}
