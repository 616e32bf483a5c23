//! Records: every struct is as large as the references say, covers its bytes and loses none of them, names lumps and
//! fields that are there, and can be edited and taken back like anything else in a draft.

use crate::{corpus, random};
use std::collections::BTreeMap;

use bspkit::dialect::{
    self, BLUE_SHIFT, BREAKTHROUGH, BSP2, DAIKATANA, Dialect, FAKK, Form, GOLDSRC, MOHAA, MOHAA_BETA, PSB2, QBISM,
    QFUSION, QUAKE, QUAKE2, QUAKE3, QUAKE64, RAVEN, Row, goldsrc, quake2, quake3,
};
use bspkit::record::{Cell, FieldInfo, Meaning, Part, RecordInfo, Shape};
use bspkit::{Bsp, Builder, Error, ErrorKind, Layout, SlotId};
use proptest::prelude::*;

/// The sizes of the structs by lump (bspfile.h of the Half-Life SDK, qfiles.h of Quake II and of Quake III Arena).
const GOLDSRC_SIZES: &[(&str, usize)] = &[
    ("PLANES", 20),
    ("VERTEXES", 12),
    ("NODES", 24),
    ("TEXINFO", 40),
    ("FACES", 20),
    ("CLIPNODES", 8),
    ("LEAFS", 28),
    ("MARKSURFACES", 2),
    ("EDGES", 4),
    ("SURFEDGES", 4),
    ("MODELS", 64),
];

/// Xash3D's, on maps with its extra header.
const XASH_SIZES: &[(&str, usize)] = &[("TEXINFO", 40), ("TEXINFO", 40), ("CLIPNODES", 8), ("CLIPNODES", 12)];

const QUAKE2_SIZES: &[(&str, usize)] = &[
    ("PLANES", 20),
    ("VERTEXES", 12),
    ("NODES", 28),
    ("TEXINFO", 76),
    ("FACES", 20),
    ("LEAFS", 28),
    ("LEAFFACES", 2),
    ("LEAFBRUSHES", 2),
    ("EDGES", 4),
    ("SURFEDGES", 4),
    ("MODELS", 48),
    ("BRUSHES", 12),
    ("BRUSHSIDES", 4),
    ("AREAS", 8),
    ("AREAPORTALS", 8),
];

const QUAKE3_SIZES: &[(&str, usize)] = &[
    ("SHADERS", 72),
    ("PLANES", 16),
    ("NODES", 36),
    ("LEAFS", 48),
    ("LEAFSURFACES", 4),
    ("LEAFBRUSHES", 4),
    ("MODELS", 40),
    ("BRUSHES", 12),
    ("BRUSHSIDES", 8),
    ("DRAWVERTS", 44),
    ("DRAWINDEXES", 4),
    ("FOGS", 72),
    ("SURFACES", 104),
    ("LIGHTGRID", 8),
    ("ADVERTISEMENTS", 128),
];

/// What differs from the table of the base (idTech's relatives: bspfile.hh of ericw-tools, qfiles.h of q2tools-220 and of
/// Daikatana, rd-common of OpenJK).
const BSP2_SIZES: &[(&str, usize)] =
    &[("NODES", 44), ("FACES", 28), ("CLIPNODES", 12), ("LEAFS", 44), ("MARKSURFACES", 4), ("EDGES", 8)];
const PSB2_SIZES: &[(&str, usize)] =
    &[("NODES", 32), ("FACES", 28), ("CLIPNODES", 12), ("LEAFS", 32), ("MARKSURFACES", 4), ("EDGES", 8)];
const QBISM_SIZES: &[(&str, usize)] = &[
    ("NODES", 44),
    ("FACES", 28),
    ("LEAFS", 52),
    ("LEAFFACES", 4),
    ("LEAFBRUSHES", 4),
    ("EDGES", 8),
    ("BRUSHSIDES", 8),
];
const DAIKATANA_SIZES: &[(&str, usize)] = &[("LEAFS", 28), ("LEAFS", 32), ("PLANEPOLYS", 4), ("EXTSURFINFO", 12)];
const RAVEN_SIZES: &[(&str, usize)] = &[
    ("BRUSHSIDES", 12),
    ("DRAWVERTS", 80),
    ("SURFACES", 148),
    ("LIGHTGRID", 30),
    ("LIGHTARRAY", 2),
    // Quake Live's alone.
    ("ADVERTISEMENTS", 0),
];

/// bsp_tool, which cites qfiles.h of the F.A.K.K.2 SDK; qfiles.h of OpenMoHAA.
const FAKK_SIZES: &[(&str, usize)] = &[("SHADERS", 76), ("SURFACES", 108), ("LIGHTGRID", 0), ("ADVERTISEMENTS", 0)];
const MOHAA_SIZES: &[(&str, usize)] = &[
    ("SHADERS", 140),
    ("SURFACES", 108),
    ("LEAFS", 64),
    ("BRUSHSIDES", 12),
    ("SIDEEQUATIONS", 32),
    ("TERRAININDEXES", 2),
    ("STATICMODELDEF", 164),
    ("STATICMODELINDEXES", 2),
    ("FOGS", 0),
    ("LIGHTGRID", 0),
    ("ADVERTISEMENTS", 0),
];
const MOHAA_BETA_SIZES: &[(&str, usize)] = &[("LEAFS", 56), ("LEAFS", 64), ("FOGS", 72)];

type Sizes = Vec<(&'static str, usize)>;

fn typed() -> Vec<(&'static Dialect, Sizes)> {
    let over = |base: &[(&'static str, usize)], own: &[(&'static str, usize)]| -> Sizes {
        let is_own = |(name, _): &&(&str, usize)| own.iter().any(|(other, _)| other == name);
        base.iter().filter(|row| !is_own(row)).chain(own).filter(|(_, size)| *size > 0).copied().collect()
    };
    vec![
        (&GOLDSRC, over(GOLDSRC_SIZES, XASH_SIZES)),
        (&BLUE_SHIFT, over(GOLDSRC_SIZES, XASH_SIZES)),
        (&QUAKE, GOLDSRC_SIZES.to_vec()),
        (&QUAKE64, GOLDSRC_SIZES.to_vec()),
        (&BSP2, over(GOLDSRC_SIZES, BSP2_SIZES)),
        (&PSB2, over(GOLDSRC_SIZES, PSB2_SIZES)),
        (&QUAKE2, QUAKE2_SIZES.to_vec()),
        (&QBISM, over(QUAKE2_SIZES, QBISM_SIZES)),
        (&DAIKATANA, over(QUAKE2_SIZES, DAIKATANA_SIZES)),
        (&QUAKE3, QUAKE3_SIZES.to_vec()),
        (&RAVEN, over(QUAKE3_SIZES, RAVEN_SIZES)),
        (&QFUSION, over(QUAKE3_SIZES, RAVEN_SIZES)),
        (&FAKK, over(QUAKE3_SIZES, FAKK_SIZES)),
        (&MOHAA, over(QUAKE3_SIZES, MOHAA_SIZES)),
        (&MOHAA_BETA, over(&over(QUAKE3_SIZES, MOHAA_SIZES), MOHAA_BETA_SIZES)),
        (&BREAKTHROUGH, over(QUAKE3_SIZES, MOHAA_SIZES)),
    ]
}

/// What a dialect's table says otherwise than a list of sizes.
fn wrong_sizes(dialect: &Dialect, sizes: &[(&str, usize)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for lump in dialect.lumps {
        let found: Vec<usize> = dialect.rows_of(lump.name).filter_map(Row::record).map(|record| record.size).collect();
        let wanted: Vec<usize> = sizes.iter().filter(|(name, _)| *name == lump.name).map(|(_, size)| *size).collect();
        if found != wanted {
            wrong.push(format!("{} {}: {found:?}, not {wanted:?}", dialect.name, lump.name));
        }
    }
    wrong
}

#[test]
fn every_struct_has_the_size_that_the_references_say() {
    for (dialect, sizes) in typed() {
        assert_eq!(wrong_sizes(dialect, &sizes), <[String; 0]>::default());
        assert!(sizes.iter().all(|(name, _)| dialect.lumps.iter().any(|lump| lump.name == *name)), "{}", dialect.name);
    }
    // Of another game's table almost every lump is wrong.
    assert!(wrong_sizes(&QUAKE3, QUAKE2_SIZES).len() > 10);
}

#[test]
fn every_lump_has_a_row() {
    for (dialect, _) in typed() {
        for lump in dialect.lumps {
            assert!(dialect.rows_of(lump.name).next().is_some(), "{} {}", dialect.name, lump.name);
        }
    }
}

/// The records of a row: one of an array, those of all lists.
fn records(row: &Row) -> Vec<&'static RecordInfo> {
    match row.form {
        Form::Array(record) => vec![record],
        Form::Lists(lists) => lists.iter().map(|list| list.record).collect(),
        _ => Vec::new(),
    }
}

/// Every record of every dialect's rows, with where it is from.
fn all_records() -> Vec<(&'static Dialect, &'static Row, &'static RecordInfo)> {
    let rows =
        dialect::ALL.iter().flat_map(|dialect| dialect.rows.iter().copied().flatten().map(|row| (*dialect, row)));
    rows.flat_map(|(dialect, row)| records(row).into_iter().map(move |record| (dialect, row, record))).collect()
}

/// What the meanings of fields name that is not there.
fn dangling(dialect: &Dialect, fields: &[FieldInfo]) -> Vec<String> {
    let has_records = |lump: &str| {
        let (lump, list) = lump.split_once('.').unwrap_or((lump, ""));
        dialect.rows_of(lump).any(|row| match row.form {
            Form::Lists(lists) if !list.is_empty() => lists.iter().any(|other| other.name == list),
            _ => !records(row).is_empty(),
        })
    };
    // Textures of Quake and GoldSrc have numbers, and no records. The structs of some lumps are not known.
    let is_other = |row: &Row| matches!(row.form, Form::Lens(_) | Form::Opaque(_));
    let has_numbers = |lump: &str| has_records(lump) || dialect.rows_of(lump).any(is_other);
    let mut missing = Vec::new();
    for field in fields {
        match field.meaning {
            Meaning::Index { lump, .. }
            | Meaning::Perhaps { lump, .. }
            | Meaning::Signed { lump }
            | Meaning::Bits { lump, .. }
            | Meaning::Branch { lump }
            | Meaning::Share { lump, .. }
            | Meaning::Starred { lump }
            | Meaning::Offset { lump }
                if !has_numbers(lump) =>
            {
                missing.push(format!("{}: {lump}", field.name))
            }
            Meaning::Run { lump, count, .. } | Meaning::RunOr { lump, count, .. } | Meaning::Items { lump, count } => {
                if !has_records(lump) {
                    missing.push(format!("{}: {lump}", field.name));
                }
                if !fields.iter().any(|other| other.name == count.field && matches!(other.shape, Shape::Number(_))) {
                    missing.push(format!("{}: {}", field.name, count.field));
                }
            }
            Meaning::Child if !has_records("NODES") || !has_records("LEAFS") => {
                missing.push(format!("{}: no tree", field.name));
            }
            _ => {}
        }
        if let Shape::Record(within) = field.shape {
            missing.extend(dangling(dialect, within));
        }
    }
    missing
}

#[test]
fn meanings_name_what_is_there() {
    for (dialect, row, record) in all_records() {
        assert_eq!(dangling(dialect, record.fields), <[String; 0]>::default(), "{} {}", dialect.name, row.lump);
    }
    // Quake III calls its faces surfaces, and has no surfedges.
    let face = quake2::FACES.lump();
    let fields = QUAKE2.rows_of(face).next().and_then(Row::record).unwrap().fields;
    assert_eq!(dangling(&QUAKE3, fields), ["first_edge: SURFEDGES", "texinfo: TEXINFO", "light_offset: LIGHTING"]);
}

/// Where fields leave a gap or lie over each other.
fn gaps(size: usize, fields: &[FieldInfo]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut at = 0;
    for field in fields {
        if field.offset != at {
            wrong.push(format!("{} at {}, not {at}", field.name, field.offset));
        }
        at = field.offset + field.shape.size();
        if let Shape::Record(within) = field.shape {
            wrong.extend(gaps(field.shape.size(), within));
        }
    }
    if at != size {
        wrong.push(format!("{at} bytes of {size}"));
    }
    wrong
}

#[test]
fn fields_cover_their_record() {
    for (dialect, row, record) in all_records() {
        let name = format!("{} {} {}", dialect.name, row.lump, record.name);
        assert_eq!(gaps(record.size, record.fields), <[String; 0]>::default(), "{name}");
        let mut covered = vec![0; record.size];
        for cell in Cell::all(record.fields) {
            covered[cell.place].iter_mut().for_each(|times| *times += 1);
        }
        assert!(covered.iter().all(|times| *times == 1), "{name}: {covered:?}");
    }
    let plane = QUAKE2.rows_of("PLANES").next().and_then(Row::record).unwrap();
    assert_eq!(gaps(plane.size, &plane.fields[1..]), ["distance at 12, not 0"]);
    assert_eq!(gaps(plane.size, &plane.fields[..2]), ["16 bytes of 20"]);
}

/// Names that do not mean one field, or one item of it.
fn unclear(fields: &'static [FieldInfo]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut taken: Vec<String> = fields.iter().map(|field| field.name.to_ascii_lowercase()).collect();
    for field in fields.iter().filter(|field| !field.engine.is_empty()) {
        let names: Vec<&str> = field.engine.split(", ").collect();
        for (item, name) in names.iter().enumerate() {
            let meant = if names.len() == 1 { field.name.to_owned() } else { format!("{}[{item}]", field.name) };
            if taken.contains(&name.to_ascii_lowercase())
                || Part::find(fields, name).ok() != Part::find(fields, &meant).ok()
            {
                wrong.push(format!("{name} is not {meant}"));
            }
            taken.push(name.to_ascii_lowercase());
        }
        if names.len() > 1 && !matches!(field.shape, Shape::Array(_, count) if count == names.len()) {
            wrong.push(format!("{} has not {} items", field.name, names.len()));
        }
    }
    wrong
}

#[test]
fn names_of_the_engine_mean_one_field() {
    for (dialect, row, record) in all_records() {
        assert_eq!(unclear(record.fields), <[String; 0]>::default(), "{} {} {}", dialect.name, row.lump, record.name);
    }
    let plane = QUAKE2.rows_of("PLANES").next().and_then(Row::record).unwrap();
    assert_eq!(plane.field("DIST"), plane.field("distance"));
    assert_eq!((plane.field(""), plane.field("planenum")), (None, None));
    // A name that another field has, and two names for one number.
    let fields = plane.fields.to_vec().leak();
    (fields[0].engine, fields[1].engine) = ("kind", "dist, far");
    assert_eq!(unclear(fields), ["kind is not normal", "distance has not 2 items"]);
}

proptest! {
    #![proptest_config(random::config(256, "tests/proptest-regressions/records.txt"))]

    /// Any bytes, of which the smallest and the largest struct get several records and a rest.
    #[test]
    fn any_bytes_decode_and_encode_to_themselves(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
        for (dialect, row, record) in all_records() {
            let whole = bytes.len() / record.size * record.size;
            prop_assert_eq!(&(record.reencode)(&bytes), &bytes[..whole], "{} {}", dialect.name, row.lump);
        }
    }
}

#[test]
fn every_lump_of_every_map_encodes_to_its_bytes() {
    let mut counts: BTreeMap<(&str, String), (usize, usize, usize)> = BTreeMap::new();
    let mut fixtures = corpus::under("tests/maps".as_ref());
    fixtures.extend(corpus::maps());
    for path in fixtures {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(map) = Bsp::parse(&bytes) else { continue };
        for slot in map.slots() {
            let (Ok(parts), Ok(bytes)) = (map.spans(slot), map.bytes(slot.id)) else { continue };
            for part in parts {
                let bytes = &bytes[part.range.clone()];
                let whole = &bytes[..part.count() * part.record.size];
                assert!((part.record.reencode)(bytes) == whole, "{} {}", path.display(), slot.name);
                let (maps, records, ragged) = counts.entry((map.dialect().name, slot.name.clone())).or_default();
                *maps += 1;
                *records += part.count();
                *ragged += usize::from(whole.len() < bytes.len());
            }
        }
    }
    for ((dialect, lump), (maps, records, ragged)) in &counts {
        println!("{dialect} {lump}: {records} records of {maps} maps, {ragged} ragged");
    }
    let seen_in_fixtures = ["goldsrc", "quake", "bsp2", "2psb", "quake2", "qbism", "quake3"];
    for (dialect, sizes) in typed().into_iter().filter(|(dialect, _)| seen_in_fixtures.contains(&dialect.name)) {
        // Fixtures have neither fogs nor advertisements.
        let seen = counts.keys().filter(|(name, _)| *name == dialect.name).count();
        assert!(seen + 2 >= sizes.len(), "{}: {seen} lumps", dialect.name);
    }
}

/// A Quake II map with four planes and a bit of a fifth.
fn ragged() -> Vec<u8> {
    let planes: Vec<u8> = (0..87).collect();
    Builder::new(&QUAKE2).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0").lump(1, planes).build().unwrap()
}

const PLANES: SlotId = SlotId::Lump(1);

fn is_identity(draft: &bspkit::Draft<'_>) -> bool {
    draft.changes().unwrap().is_empty() && draft.plan(Layout::Keep).unwrap().is_identity()
}

#[test]
fn a_ragged_lump_keeps_its_tail() {
    let bytes = ragged();
    let map = Bsp::parse(&bytes).unwrap();
    let table = map.table(quake2::PLANES).unwrap();
    assert_eq!((table.len(), table.tail()), (4, &[80, 81, 82, 83, 84, 85, 86][..]));
    let mut draft = map.draft();
    let mut planes = draft.table(quake2::PLANES).unwrap();
    let mut plane = planes.get(1).unwrap();
    plane.kind = 3;
    planes.push_without_following(plane);
    assert_eq!(planes.len(), 5);
    let saved = draft.plan(Layout::Keep).unwrap().to_vec();
    let saved = Bsp::parse(&saved).unwrap();
    let table = saved.table(quake2::PLANES).unwrap();
    assert_eq!((table.len(), table.tail()), (5, &[80, 81, 82, 83, 84, 85, 86][..]));
    assert_eq!(table.get(4).unwrap().kind, 3);
    assert_eq!(table.bytes()[..80], (0..80).collect::<Vec<u8>>());

    draft.table(quake2::PLANES).unwrap().truncate_without_following(4);
    assert!(is_identity(&draft), "what was added is gone");
    draft.table(quake2::PLANES).unwrap().truncate_without_following(1);
    let left: Vec<u8> = (0..20).chain(80..87).collect();
    assert_eq!(*draft.bytes(PLANES).unwrap(), left);
}

#[test]
fn an_index_out_of_range_is_told_the_range() {
    let bytes = ragged();
    let map = Bsp::parse(&bytes).unwrap();
    let message = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        error.to_string()
    };
    let range = "PLANES has the records 0 to 3, and no record 4";
    assert!(message(map.table(quake2::PLANES).unwrap().get(4).unwrap_err()).starts_with(range));
    assert!(map.table(quake2::PLANES).unwrap().get(usize::MAX).is_err());
    assert!(message(map.table(quake2::FACES).unwrap().get(0).unwrap_err()).starts_with("FACES has no records"));
    let mut draft = map.draft();
    let mut planes = draft.table(quake2::PLANES).unwrap();
    let plane = planes.get(3).unwrap();
    for error in [planes.get(4).unwrap_err(), planes.set(4, plane).unwrap_err(), planes.update(4, |_| ()).unwrap_err()]
    {
        assert!(message(error).starts_with(range));
    }
    assert!(planes.set(usize::MAX / 10, plane).is_err());
    assert!(is_identity(&draft));
    let error = map.table(quake3::PLANES).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().starts_with("PLANES of this map holds other records of that name"), "{error}");
    assert_eq!(map.table(goldsrc::CLIPNODES).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn what_is_set_back_is_no_edit() {
    let bytes = ragged();
    let map = Bsp::parse(&bytes).unwrap();
    let mut draft = map.draft();
    let mut planes = draft.table(quake2::PLANES).unwrap();
    let old = planes.get(2).unwrap();
    planes.set(2, old).unwrap();
    assert!(is_identity(&draft), "it was the same");
    draft.update(quake2::PLANES, 2, |plane| plane.kind = -1).unwrap();
    assert_eq!(draft.changes().unwrap(), [PLANES]);
    assert_eq!(draft.table(quake2::PLANES).unwrap().get(2).unwrap().kind, -1);
    assert_eq!(map.table(quake2::PLANES).unwrap().get(2).unwrap(), old, "the map is as it was");
    draft.update(quake2::PLANES, 2, |plane| *plane = old).unwrap();
    assert!(is_identity(&draft));
}

#[test]
fn a_table_goes_by_what_the_draft_has() {
    let bytes = ragged();
    let map = Bsp::parse(&bytes).unwrap();
    let mut draft = map.draft();
    draft.update(quake2::PLANES, 0, |plane| plane.kind = 1).unwrap();
    // Bytes that are set take the place of what the table had.
    draft.set(PLANES, vec![7; 40]).unwrap();
    let mut planes = draft.table(quake2::PLANES).unwrap();
    assert_eq!((planes.len(), planes.get(0).unwrap().kind), (2, 0x0707_0707));
    planes.update(1, |plane| plane.kind = 2).unwrap();
    assert_eq!(draft.bytes(PLANES).unwrap()[36..], [2, 0, 0, 0]);
    // Back to what was set, which still is an edit; then to what the map has.
    draft.update(quake2::PLANES, 1, |plane| plane.kind = 0x0707_0707).unwrap();
    assert_eq!(draft.changes().unwrap(), [PLANES]);
    assert_eq!(*draft.bytes(PLANES).unwrap(), [7; 40]);
    draft.set(PLANES, map.bytes(PLANES).unwrap()).unwrap();
    assert!(is_identity(&draft));

    // By the table itself, from bytes that were set to those of the map.
    let mut other = map.bytes(PLANES).unwrap().to_vec();
    other[16] = 99;
    draft.set(PLANES, other).unwrap();
    draft.update(quake2::PLANES, 0, |plane| plane.kind = i32::from_le_bytes([16, 17, 18, 19])).unwrap();
    assert!(is_identity(&draft));
}

#[test]
fn a_table_is_taken_back_like_any_edit() {
    let bytes = ragged();
    let map = Bsp::parse(&bytes).unwrap();
    let mut draft = map.draft();
    draft.update(quake2::PLANES, 0, |plane| plane.kind = 1).unwrap();
    draft.revert(PLANES);
    assert!(is_identity(&draft));
    assert_eq!(
        draft.table(quake2::PLANES).unwrap().get(0).unwrap(),
        map.table(quake2::PLANES).unwrap().get(0).unwrap()
    );

    draft.update(quake2::PLANES, 0, |plane| plane.kind = 1).unwrap();
    let before = draft.plan(Layout::Keep).unwrap().to_vec();
    let failed = draft.transaction(|draft| {
        let mut planes = draft.table(quake2::PLANES)?;
        planes.truncate_without_following(1);
        planes.update(0, |plane| plane.kind = 2)?;
        planes.update(1, |plane| plane.kind = 3)
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(draft.plan(Layout::Keep).unwrap().to_vec(), before);
    draft.revert_all();
    assert!(is_identity(&draft));
}
