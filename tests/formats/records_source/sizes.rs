//! What the format says of sizes, against the rows; and that no record loses a bit.

use std::collections::BTreeSet;

use proptest::prelude::*;

use bspkit::Bsp;

use super::{DIALECTS, random, records_of};

const ROOMS: [&str; 5] = ["room_v19", "room_v20", "room_v21", "room_l4d2", "room_strata"];

/// A lump, a list in it, the size of its records, the map versions and the lump versions it is for, where not for all.
type Line = (&'static str, &'static str, usize, &'static [i32], &'static [i32]);

const fn line(lump: &'static str, size: usize) -> Line {
    (lump, "", size, &[], &[])
}

/// What all dialects have.
const ALL: &[Line] = &[
    line("PLANES", 20),
    line("TEXDATA", 32),
    line("VERTEXES", 12),
    line("NODES", 32),
    line("TEXINFO", 72),
    line("FACES", 56),
    ("FACES", "", 72, &[18], &[]),
    line("LIGHTING", 4),
    ("OCCLUSION", "occluders", 40, &[], &[2]),
    ("OCCLUSION", "polygons", 12, &[], &[2]),
    ("OCCLUSION", "vertexes", 4, &[], &[2]),
    ("LEAFS", "", 32, &[], &[1]),
    ("LEAFS", "", 56, &[], &[0]),
    line("FACEIDS", 2),
    line("EDGES", 4),
    line("SURFEDGES", 4),
    line("MODELS", 48),
    ("WORLDLIGHTS", "", 88, &[], &[0]),
    ("WORLDLIGHTS", "", 100, &[], &[1]),
    line("LEAFFACES", 2),
    line("LEAFBRUSHES", 2),
    line("BRUSHES", 12),
    line("BRUSHSIDES", 8),
    line("AREAS", 8),
    line("AREAPORTALS", 12),
    line("DISPINFO", 176),
    line("ORIGINALFACES", 56),
    ("ORIGINALFACES", "", 72, &[18], &[]),
    line("VERTNORMALS", 12),
    line("VERTNORMALINDICES", 2),
    line("DISP_LIGHTMAP_ALPHAS", 1),
    line("DISP_VERTS", 20),
    line("LEAFWATERDATA", 12),
    line("PRIMITIVES", 10),
    line("PRIMVERTS", 12),
    line("PRIMINDICES", 2),
    line("CLIPPORTALVERTS", 12),
    line("CUBEMAPS", 16),
    line("TEXDATA_STRING_TABLE", 4),
    line("OVERLAYS", 352),
    line("LEAFMINDISTTOWATER", 2),
    line("FACE_MACRO_TEXTURE_INFO", 2),
    line("DISP_TRIS", 2),
    line("WATEROVERLAYS", 1120),
    line("LEAF_AMBIENT_INDEX_HDR", 4),
    line("LEAF_AMBIENT_INDEX", 4),
    line("LIGHTING_HDR", 4),
    ("WORLDLIGHTS_HDR", "", 88, &[], &[0]),
    ("WORLDLIGHTS_HDR", "", 100, &[], &[1]),
    line("LEAF_AMBIENT_LIGHTING_HDR", 28),
    line("LEAF_AMBIENT_LIGHTING_HDR", 24),
    line("LEAF_AMBIENT_LIGHTING", 28),
    line("LEAF_AMBIENT_LIGHTING", 24),
    line("FACES_HDR", 56),
    line("MAP_FLAGS", 4),
    line("OVERLAY_FADES", 8),
    line("DISP_MULTIBLEND", 80),
    ("game:dprp", "names", 128, &[], &[4]),
    ("game:dprp", "sprites", 32, &[], &[4]),
    ("game:dprp", "objects", 52, &[], &[4]),
    ("game:dplt", "lights", 5, &[], &[0]),
    ("game:dplh", "lights", 5, &[], &[0]),
];

/// Versions of static props: of the member, and the sizes of a prop and of a leaf.
const PROPS: &[(&[i32], usize, usize)] = &[
    (&[4], 56, 2),
    (&[5], 60, 2),
    (&[6], 64, 2),
    (&[7], 68, 2),
    (&[8], 68, 2),
    (&[9], 72, 2),
    (&[7, 10], 72, 2),
    (&[10], 76, 2),
    (&[11], 80, 2),
    (&[12], 80, 4),
    (&[13], 88, 4),
];

/// What dialects add.
const OF_ONE: &[(&str, &[Line])] = &[
    (
        "source17",
        &[
            line("FACES", 104),
            line("ORIGINALFACES", 104),
            line("PORTALS", 16),
            line("CLUSTERS", 8),
            line("PORTALVERTS", 2),
            line("CLUSTERPORTALS", 2),
            ("game:dprp", "names", 128, &[], &[2]),
            ("game:dprp", "objects", 40, &[], &[2]),
        ],
    ),
    ("source", &[]),
    ("source21", VERSION_21),
    ("l4d2", VERSION_21),
    ("contagion", VERSION_21),
    ("vitamin", VERSION_21),
    (
        "source22",
        &[
            line("BRUSHSIDES", 8),
            line("FACEBRUSHES", 2),
            line("FACEBRUSHLIST", 4),
            line("OVERLAY_SYSTEM_LEVELS", 4),
            ("DISPINFO", "", 180, &[22], &[]),
            ("DISPINFO", "", 184, &[23], &[]),
            ("PRIMITIVES", "", 16, &[22], &[]),
            line("OVERLAYS", 356),
        ],
    ),
];

/// What Strata has, the lumps that it lays out anew first: none of them has a struct of before but its overlays.
const STRATA: &[Line] = &[
    line("NODES", 48),
    line("FACES", 72),
    line("ORIGINALFACES", 72),
    line("FACES_HDR", 72),
    line("LEAFS", 56),
    line("FACEIDS", 4),
    line("EDGES", 8),
    line("LEAFFACES", 4),
    line("LEAFBRUSHES", 4),
    line("BRUSHSIDES", 16),
    line("AREAPORTALS", 20),
    line("FACEBRUSHES", 4),
    line("FACEBRUSHLIST", 8),
    line("DISPINFO", 232),
    line("VERTNORMALINDICES", 4),
    line("LEAFWATERDATA", 12),
    line("PRIMITIVES", 20),
    line("PRIMINDICES", 4),
    ("OVERLAYS", "", 352, &[], &[0]),
    ("OVERLAYS", "", 356, &[], &[1]),
    ("OVERLAYS", "", 360, &[], &[2]),
    ("OVERLAYS", "faces", 4, &[], &[3]),
    ("OVERLAYS", "overlays", 108, &[], &[3]),
    line("WATEROVERLAYS", 1124),
    line("LEAF_AMBIENT_INDEX_HDR", 8),
    line("LEAF_AMBIENT_INDEX", 8),
    line("LEAF_AMBIENT_LIGHTING_HDR", 28),
    line("LEAF_AMBIENT_LIGHTING", 28),
    line("OVERLAY_FADES", 8),
    line("OVERLAY_SYSTEM_LEVELS", 4),
    ("game:clvr", "names", 64, &[], &[0]),
];

const VERSION_21: &[Line] =
    &[line("BRUSHSIDES", 8), line("FACEBRUSHES", 2), line("FACEBRUSHLIST", 4), line("OVERLAY_SYSTEM_LEVELS", 4)];

fn wanted(dialect: &str) -> BTreeSet<Line> {
    let own = if dialect == "strata" { STRATA } else { OF_ONE.iter().find(|(name, _)| *name == dialect).unwrap().1 };
    let is_anew = |lump: &str| dialect == "strata" && STRATA.iter().any(|(own, ..)| *own == lump);
    let props = PROPS.iter().flat_map(|(versions, prop, leaf)| {
        [("names", 128), ("leafs", *leaf), ("props", *prop)]
            .map(|(list, size)| ("game:sprp", list, size, &[][..], *versions))
    });
    ALL.iter().filter(|(lump, ..)| !is_anew(lump)).chain(own).copied().chain(props).collect()
}

#[test]
fn every_struct_of_the_format_has_a_row_and_its_size() {
    for dialect in DIALECTS {
        let rows = dialect.rows.iter().copied().flatten();
        let there: BTreeSet<Line> = rows
            .flat_map(|row| records_of(row).into_iter().map(move |record| (row, record)))
            .map(|(row, (list, record))| (row.lump, list, record.size, row.maps, row.versions))
            .collect();
        let wanted = wanted(dialect.name);
        let missing: Vec<_> = wanted.difference(&there).collect();
        let beyond: Vec<_> = there.difference(&wanted).collect();
        assert!(missing.is_empty() && beyond.is_empty(), "{}: missing {missing:?}, beyond {beyond:?}", dialect.name);
        for lump in dialect.lumps {
            assert!(dialect.rows_of(lump.name).next().is_some(), "{} says nothing of {}", dialect.name, lump.name);
        }
    }
}

#[test]
fn flags_have_the_names_of_their_time() {
    use bspkit::dialect::{SOURCE, SOURCE17, STRATA};
    use bspkit::record::{FlagKind, flag_names};
    let names = |dialect: &bspkit::dialect::Dialect, version, kind, bit| {
        let names = flag_names(dialect.game(version).flags, kind);
        assert!(names.iter().all(|(bit, _)| bit.is_power_of_two()));
        names.iter().find(|(of, _)| *of == bit).map(|(_, name)| *name)
    };
    for (kind, bit, early, usual, late) in [
        (FlagKind::Contents, 0x40, Some("MIST"), Some("BLOCKLOS"), Some("BLOCKLOS")),
        (FlagKind::Contents, 0x400, None, None, Some("BLOCKLIGHT")),
        (FlagKind::Contents, 0x800_0000, Some("DETAIL"), Some("DETAIL"), Some("DETAIL")),
        (FlagKind::Surface, 2, Some("SLICK"), Some("SKY2D"), Some("SKY2D")),
        (FlagKind::Surface, 0x20, Some("WET"), Some("NOPORTAL"), Some("NOPORTAL")),
        (FlagKind::Surface, 0x40, Some("FLOWING"), Some("TRIGGER"), Some("TRIGGER")),
        (FlagKind::Surface, 0x2000, Some("NODECALS"), Some("NODECALS"), Some("NOPAINT")),
        (FlagKind::Triangle, 0x20, Some("REMOVE"), Some("REMOVE"), Some("REMOVE")),
        (FlagKind::Prop, 0x10, Some("NO_SHADOW"), Some("NO_SHADOW"), Some("NO_SHADOW")),
        (FlagKind::Leaf, 4, Some("SKY2D"), Some("SKY2D"), Some("SKY2D")),
        (FlagKind::Light, 1, Some("INAMBIENTCUBE"), Some("INAMBIENTCUBE"), Some("INAMBIENTCUBE")),
    ] {
        let all = [(&SOURCE17, 17), (&SOURCE, 18), (&SOURCE, 19)]
            .map(|(dialect, version)| names(dialect, version, kind, bit));
        assert_eq!(all, [early; 3], "{kind} {bit:#x}");
        assert_eq!(names(&SOURCE, 20, kind, bit), usual, "{kind} {bit:#x}");
        assert_eq!(names(&STRATA, 25, kind, bit), late, "{kind} {bit:#x}");
    }
}

proptest! {
    #![proptest_config(random::config(64, "tests/proptest-regressions/records_source.txt"))]

    #[test]
    fn every_record_keeps_any_bytes(seed in prop::collection::vec(any::<u8>(), 2 * 1124)) {
        for dialect in DIALECTS {
            for row in dialect.rows.iter().copied().flatten() {
                for (_, record) in records_of(row) {
                    let bytes = &seed[..2 * record.size];
                    prop_assert_eq!(&(record.reencode)(bytes)[..], bytes, "{} of {}", record.name, row.lump);
                    let fields: usize = record.fields.iter().map(|field| field.shape.size()).sum();
                    prop_assert_eq!(fields, record.size);
                }
            }
        }
    }
    /// Rows look at other lumps, whatever is in them.
    #[test]
    fn no_map_makes_a_row_panic(
        room in 0..ROOMS.len(),
        numbers in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(i32::MAX), Just(-1), 0..99, any::<i32>()]), 1..40),
    ) {
        let mut bytes = std::fs::read(format!("tests/maps/source/{}.bsp", ROOMS[room])).unwrap();
        for (at, number) in numbers {
            let at = 1036 + at.index(bytes.len() - 1040);
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        let map = Bsp::from_vec(bytes).unwrap();
        for slot in map.slots() {
            if map.row(slot).is_ok() {
                let _ = map.spans(slot);
            }
        }
    }
}
