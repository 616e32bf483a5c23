//! `check`: a planted fault for every code, no alarm on maps that are whole, and an end on maps of nothing but faults.

mod edited;
mod making;
mod physics;
mod planted;
mod planted_bspx;
mod strata;

use crate::{corpus, random};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bspkit::finding::{Finding, Severity};
use bspkit::verify::{self, Verdict};
use bspkit::{Bsp, Builder, Layout, dialect};
use bspkit_ops::check::{self, CODES, Options};
use proptest::prelude::*;

fn findings(map: &[u8]) -> Vec<Finding> {
    // A reference that is broken leaves a record to which nothing refers.
    let options = Options::default().allow("unused-records").unwrap();
    let mut found = check::run(&Bsp::parse(map).unwrap(), &options).unwrap();
    // q3map2 takes lights out of the text, also those that an entity names: `lamp` of q3/own_rooms.
    found.retain(|finding| finding.code.name != "entity-target" || !finding.message.contains("`lamp`"));
    found
}

/// Records to which nothing refers: a note for each lump, with their number.
#[test]
fn records_that_nothing_needs_are_noted() {
    let unused = |map: &[u8]| {
        let found = check::run(&Bsp::parse(map).unwrap(), &Options::default()).unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (_, fault) = planted::UNUSED;
    let note = "note[unused-records] VERTEXES: nothing refers to 2 of 130 records; `prune` removes them";
    assert_eq!(unused(&fault()), [note]);
    assert!(unused(&planted::own("q2")).is_empty());
}

/// The codes that are found.
fn codes(map: &[u8]) -> BTreeSet<&'static str> {
    findings(map).iter().map(|finding| finding.code.name).collect()
}

/// Each of the planted faults has its code found, and no other.
#[test]
fn a_planted_fault_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    for (code, fault) in planted::FAULTS.iter().chain(planted_bspx::FAULTS) {
        let mut found = codes(&fault());
        // What does not fit keeps others from being known.
        if *code == "lump-misfit" {
            found.remove("lump-unknown");
        }
        if found != BTreeSet::from([*code]) {
            wrong.push(format!("{code}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A fault elsewhere does not keep the others from being found, and each is named for what it is.
#[test]
fn a_misfit_hides_nothing() {
    let mut wrong = Vec::new();
    for (expected, fault) in planted::TOGETHER {
        let found = codes(&fault());
        if found != expected.iter().copied().collect() {
            wrong.push(format!("{expected:?}: {found:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}",
        wrong.join(
            "
"
        )
    );
}

#[test]
fn every_code_has_a_planted_fault() {
    let faults = planted::FAULTS.iter().chain(planted_bspx::FAULTS).chain([&planted::UNUSED]);
    let mut planted: BTreeSet<_> = faults.map(|(code, _)| *code).collect();
    // What only edits have: tests/formats/light/faults.rs, `physics`, and `edited`.
    planted.extend(["light-moved", "phys-moved", "entity-no-world"]);
    // What only FGD files show: crates/cli/tests/cli/collection.rs.
    planted.extend(["class-unknown", "key-unknown"]);
    let known: BTreeSet<_> = CODES.iter().map(|code| code.name).collect();
    assert_eq!(planted, known);
    assert_eq!(known.len(), CODES.len(), "a code is there twice");
}

/// The table in the documentation has every code with its severity.
#[test]
fn every_code_is_documented() {
    let table = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md")).unwrap();
    for code in CODES {
        let row = format!("| `{}` | {} |", code.name, code.severity);
        assert!(table.contains(&row), "docs/checks.md has no row beginning {row}");
    }
    assert_eq!(table.matches("\n| `").count(), CODES.len(), "a row of a code that is not there");
}

/// So does its table of engines.
#[test]
fn every_engine_is_documented() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md")).unwrap();
    for engine in dialect::ALL.iter().flat_map(|dialect| dialect.checks.engines) {
        assert!(text.contains(&format!("`{}`", engine.name)), "docs/checks.md does not name {}", engine.name);
    }
}

#[test]
fn the_own_maps_have_nothing_wrong() {
    for path in corpus::under("../../tests/maps".as_ref()) {
        let found = findings(&std::fs::read(&path).unwrap());
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}

/// What is legal however odd: each of these has been taken for a fault by some tool.
#[test]
fn legal_patterns_are_no_findings() {
    let mut wrong = Vec::new();
    for (name, map) in planted::legal().into_iter().chain(planted_bspx::legal()) {
        wrong.extend(findings(&map).iter().map(|finding| format!("{name}: {finding}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One wrong offset is not a file that was cut short: the lump begins within another one, or there is room for it
/// elsewhere.
#[test]
fn one_wrong_offset_is_not_a_cut_file() {
    let (source, quake2) = (planted::source(), planted::own("q2"));
    // Where the offset of the vertexes is, and of the brush sides.
    for (map, at, offset) in [
        (&source, 8 + 16 * 3, source.len() - 100),
        (&quake2, 8 + 8 * 15, quake2.len() + 4),
        (&quake2, 8 + 8 * 15, quake2.len()),
    ] {
        let mut map = map.clone();
        map[at..at + 4].copy_from_slice(&u32::try_from(offset).unwrap().to_le_bytes());
        let found = findings(&map);
        let names: Vec<&str> = found.iter().map(|finding| finding.code.name).collect();
        assert!(names.contains(&"lump-outside") && !names.contains(&"file-cut"), "{at} {offset}: {names:?}");
    }
}

/// A file that was cut short says so first, and each of its lumps does not say it again.
#[test]
fn a_cut_is_said_first_and_once() {
    for map in [planted::own("q2"), planted::own("goldsrc"), planted::own("q3"), planted::source()] {
        let found = findings(&planted::cut(map.clone(), map.len() / 2));
        assert_eq!(found[0].code.name, "file-cut");
        assert!(
            found[0].message.starts_with(&format!("the file was cut short: it ends at {},", map.len().div_ceil(2)))
        );
        assert!(found.iter().all(|finding| finding.code.name != "lump-outside"), "{found:?}");
        assert_eq!(found.iter().filter(|finding| finding.code.name == "file-cut").count(), 1);
    }
}

/// Engines of these maps take more than those that they came from.
#[test]
fn limits_are_those_of_the_engines() {
    let is_over = |dialect, lump, size, engine: Option<&str>| {
        let map = Builder::new(dialect).lump(0, "{}\n\0").lump(lump, vec![0; size]).build().unwrap();
        let options = engine.map_or_else(Options::default, |engine| Options::default().engine(engine));
        let map = Bsp::from_data(map.into(), Some(dialect)).unwrap();
        check::run(&map, &options).unwrap().iter().any(|finding| finding.code.name == "limit")
    };
    for lump in [3, 7] {
        assert!(
            !is_over(&dialect::DAIKATANA, lump, 0x60_0000, None) && is_over(&dialect::DAIKATANA, lump, 0x60_0001, None)
        );
    }
    // Real maps have more light than any limit that was documented for q3map2.
    assert!(!is_over(&dialect::QUAKE3, 14, 0x200_0008, Some("q3map2")));
    assert!(is_over(&dialect::QUAKE3, 14, 0x80_0001, Some("quake3")));
}

/// Maps that are damaged or were made to be: by name, with the reason.
const DAMAGED: [(&str, &str); 7] = [
    ("goldsrc/world-trade-center.bsp", "a quote is missing in its entities, and engines stop"),
    ("q3/fixture_lump_in_header.bsp", "made to have a lump over its header"),
    ("q3/fixture_oob_drawverts.bsp", "made to have a lump past its end"),
    ("q3/fixture_oob_malformed.bsp", "made to have a lump past its end"),
    ("source/damaged_crlf_sdk_vehicles.bsp", "line ends were converted in it"),
    ("source/damaged_truncated_pak_background4.bsp", "its end is missing"),
    ("source/fixture_map_nozip.bsp", "made of random bytes"),
];

#[test]
fn no_error_is_found_in_real_maps() {
    let folder = corpus::folder();
    let mut errors = Vec::new();
    let mut warnings: BTreeMap<&str, (usize, BTreeSet<String>)> = BTreeMap::new();
    for path in corpus::maps() {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        let bytes = std::fs::read(&path).unwrap();
        let is_damaged = DAMAGED.iter().any(|(damaged, _)| *damaged == name);
        let Ok(bsp) = Bsp::parse(&bytes) else { continue };
        let found = check::run(&bsp, &Options::default()).unwrap();
        if is_damaged {
            assert!(found.iter().any(|finding| finding.code.severity == Severity::Error), "{name} is damaged");
            continue;
        }
        for finding in found {
            match finding.code.severity {
                Severity::Error => errors.push(format!("{name}: {finding}")),
                _ => {
                    let (count, maps) = warnings.entry(finding.code.name).or_default();
                    *count += finding.count;
                    maps.insert(name.clone());
                }
            }
        }
    }
    for (code, (count, maps)) in &warnings {
        let first: Vec<_> = maps.iter().take(5).map(String::as_str).collect();
        println!("{code}: {count} in {} maps: {}", maps.len(), first.join(", "));
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn what_is_allowed_is_not_found_and_engines_differ() {
    let map = planted::own("q2");
    let text = planted::pair(&map, "message", &"x".repeat(300));
    let found = |options: &Options| {
        let found = check::run(&Bsp::parse(&text).unwrap(), options).unwrap();
        found.iter().map(|finding| finding.code.name).collect::<Vec<_>>()
    };
    assert_eq!(found(&Options::default()), <[&str; 0]>::default());
    let old = Options::default().engine("quake2-3.21");
    assert_eq!(found(&old), ["entity-token"], "it reads 127 bytes");
    assert_eq!(found(&old.allow("entity-token").unwrap()), <[&str; 0]>::default());
    let unknown = check::run(&Bsp::parse(&map).unwrap(), &Options::default().engine("halflife")).unwrap_err();
    assert!(unknown.hint().unwrap().to_string().contains("q2pro"), "{unknown}");
    assert!(Options::default().allow("nonsense").is_err());
}

/// Ten of a kind are listed and the others counted.
#[test]
fn many_findings_of_a_kind_are_summed_up() {
    let map = planted::edited(&planted::own("q2"), "FACES", |bytes| {
        for face in bytes.chunks_exact_mut(20) {
            face[10..12].copy_from_slice(&900_i16.to_le_bytes());
        }
    });
    let found = findings(&map);
    assert_eq!(found.len(), 11);
    assert_eq!(found[10].message, "and 106 more");
    assert_eq!(found.iter().map(|finding| finding.count).sum::<usize>(), 116);
    assert_eq!(found[3].to_string(), "error[index-range] FACES, record 3: texinfo is 900, and TEXINFO has 27");
    assert_eq!(found[3].place.field.as_deref(), Some("texinfo"));
    assert_eq!(found[3].place.offset, Some(70));
}

/// Any bytes in any lumps of any dialect end in a list of findings, of which there are not many.
fn is_bounded(map: &[u8]) {
    let Ok(bsp) = Bsp::parse(map) else { return };
    let found = check::run(&bsp, &Options::default()).unwrap();
    assert!(found.len() <= 11 * CODES.len() * (bsp.slots().len() + 1), "{}", found.len());
}

proptest! {
    #![proptest_config(random::config(200, "tests/proptest-regressions/check.txt"))]

    #[test]
    fn lumps_of_noise_are_checked(
        dialect in 0..dialect::ALL.len(),
        lumps in proptest::collection::btree_map(0..64_usize, proptest::collection::vec(0..4_u8, 0..600), 0..20),
        noise in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let dialect = dialect::ALL[dialect];
        let count = dialect.shapes[0].count;
        let mut builder = Builder::new(dialect);
        for (index, mut bytes) in lumps {
            bytes.iter_mut().zip(&noise).step_by(7).for_each(|(byte, noise)| *byte = *noise);
            builder = builder.lump(index % count, bytes);
        }
        is_bounded(&builder.build().unwrap());
    }

    #[test]
    fn mutated_maps_are_checked(at in proptest::collection::vec((0..200_000_usize, any::<u8>()), 1..40), map in 0..6_usize) {
        let names = ["q2/own_rooms", "q3/own_rooms", "goldsrc/own_rooms", "source/room_v20", "source/room_l4d2", "source/room_v20_lzma"];
        let mut bytes = planted::fixture(names[map]);
        let len = bytes.len();
        for (index, (at, byte)) in at.into_iter().enumerate() {
            // Every other one in the header, where it does most.
            let at = if index % 2 == 0 { at % len } else { at % 300 };
            bytes[at] = byte;
        }
        is_bounded(&bytes);
    }
}

/// Faults everywhere cost no more time than the map is long.
#[test]
fn hostile_maps_are_checked_in_time() {
    let start = std::time::Instant::now();
    // Every node the parent of all; every surface with all indexes; every row of visibility the whole lump.
    let nodes: Vec<u8> =
        (0..20_000).flat_map(|node: i32| [0, node % 7, 0, 0, 0, 0, 0, 0, 0]).flat_map(i32::to_le_bytes).collect();
    let surface: Vec<u8> =
        [0_i32, -1, 1, 0, 9, 0, 200_000, -1].into_iter().chain([0; 18]).flat_map(i32::to_le_bytes).collect();
    let map = Builder::new(&dialect::QUAKE3)
        .lump(3, nodes)
        .lump(7, [0; 40])
        .lump(11, vec![0xFF; 800_000])
        .lump(13, surface.repeat(20_000))
        .build()
        .unwrap();
    is_bounded(&map);
    // Every face with all edges.
    let face: Vec<u8> = [0_i16, 0, 0, 0, 32_767, 0, 0, 255, 0, 0].into_iter().flat_map(i16::to_le_bytes).collect();
    let map = Builder::new(&dialect::QUAKE2)
        .lump(2, [0; 12])
        .lump(5, [0; 76])
        .lump(6, face.repeat(200_000))
        .lump(7, [0; 12])
        .lump(11, [0; 4])
        .lump(12, vec![0; 40_000 * 4])
        .build()
        .unwrap();
    is_bounded(&map);
    let clusters = 50_000_i32;
    let offsets = (0..clusters * 2).map(|index| 4 + clusters * 8 + index);
    let mut rows: Vec<u8> = std::iter::once(clusters).chain(offsets).flat_map(i32::to_le_bytes).collect();
    rows.extend(vec![1; 200_000]);
    is_bounded(&Builder::new(&dialect::QUAKE2).lump(3, rows).build().unwrap());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Lumps that unpack to much more than the map is large cost no more time than a large map.
#[test]
fn bombs_are_left_out_in_time() {
    let most: Vec<usize> = (1..64).filter(|lump| *lump != 35).collect();
    let map = planted::bombs(&most);
    let map = Bsp::parse(&map).unwrap();
    let start = std::time::Instant::now();
    check::run(&map, &Options::default()).unwrap();
    let outcome = verify::run(&map);
    assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
    assert!(matches!(outcome.law("records"), Some(Verdict::Skipped(why)) if why.contains("too much")));
    assert_eq!(outcome.law("keep"), Some(&Verdict::Pass));
}

/// A lump that states more bytes than are ever decompressed is an error, and keeps nothing else from being read.
#[test]
fn a_size_that_no_lump_has_is_an_error_of_that_lump() {
    for size in [60_000_000, 70_000_000, i32::MAX] {
        let map = planted::stating(7, size);
        let found = findings(&map);
        let errors: Vec<_> = found.iter().filter(|finding| finding.is_error()).map(ToString::to_string).collect();
        assert!(errors.iter().any(|text| text.contains("lump-decompress] FACES")), "{size}: {errors:?}");
        assert!(found.iter().all(|finding| finding.code.name != "lump-unchecked"), "{size}: {found:?}");
        let map = Bsp::parse(&map).unwrap();
        map.check_total_size().unwrap();
        assert!(map.entities().unwrap().len() > 1);
    }
}

/// Among lumps that state too much together, one that states too much for itself has its own reason.
#[test]
fn a_size_that_no_lump_has_is_said_among_others() {
    let mut map = planted::stating(0, 40 << 20);
    let parsed = Bsp::parse(&map).unwrap();
    let is_packed = |lump: &usize| map[parsed.slots()[*lump].stored.clone()].starts_with(b"LZMA");
    let packed: Vec<usize> = (1..64).filter(is_packed).take(3).collect();
    drop(parsed);
    for lump in packed {
        map = planted::stated(map, lump, 31 << 20);
    }
    let errors: Vec<_> = findings(&map).into_iter().filter(|finding| finding.is_error()).collect();
    let said = |lump: Option<&str>| -> Vec<&str> {
        let of_lump = errors.iter().filter(|error| error.place.lump.as_deref() == lump);
        of_lump.map(|error| error.message.as_str()).collect()
    };
    let (own, total) = (said(Some("ENTITIES")), said(None));
    assert!(own.len() == 1 && own[0].contains("41943040 bytes, more than 33554432"), "{errors:?}");
    assert!(total.len() == 1 && total[0].contains("the lumps would take 97536328 bytes"), "{errors:?}");
}

/// Engines refuse a lump that is no whole number of records ("funny lump size"). An edit that makes one is refused,
/// however much of the lump is gone.
#[test]
fn a_lump_of_no_whole_records_is_an_error() {
    let bytes = planted::source();
    let map = Bsp::parse(&bytes).unwrap();
    for lump in ["FACES", "LEAFS", "BRUSHSIDES", "NODES", "EDGES", "PLANES"] {
        let slot = map.slot(lump).unwrap().id;
        let whole = map.bytes(slot).unwrap();
        for len in [5, 41, (whole.len() / 2) | 1, whole.len() - 1, whole.len() + 1, 3 * whole.len() + 1] {
            let mut draft = map.draft();
            let new: Vec<u8> = whole.iter().copied().cycle().take(len).collect();
            draft.set(slot, new).unwrap();
            let plan = draft.plan(Layout::Keep).unwrap();
            let error = check::admit(&draft, &plan, false).map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), bspkit::ErrorKind::Refused, "{lump} {len}: {error}");
            let found = findings(&plan.to_vec());
            let is_ragged = |finding: &bspkit::finding::Finding| {
                finding.code.name == "lump-ragged" && finding.to_string().contains(lump)
            };
            assert!(found.iter().any(is_ragged), "{lump} {len}: {found:?}");
        }
    }
}

/// What is not looked at because it would take too long is said.
#[test]
fn what_is_left_out_is_said() {
    let map = planted::edited(&planted::own("q2"), "FACES", |bytes| {
        let face = [0_i16, 0, 0, 0, 100, 0, 0, 255, 0, 0].into_iter().flat_map(i16::to_le_bytes);
        *bytes = face.collect::<Vec<u8>>().repeat(10_000);
    });
    assert!(codes(&map).contains("lump-unchecked"));
    let map = planted::edited(&planted::own("q2"), "VISIBILITY", |bytes| {
        let offsets = (0..4000).map(|index| 4 + 16_000 + index);
        *bytes = std::iter::once(2000).chain(offsets).flat_map(i32::to_le_bytes).collect();
        bytes.extend([1; 5000]);
    });
    assert!(codes(&map).contains("lump-unchecked"));
}

/// How long the largest maps take; a figure for people, which no machine fails by.
#[test]
fn the_time_of_the_largest_maps() {
    let mut maps: Vec<_> =
        corpus::maps().into_iter().map(|path| (std::fs::metadata(&path).unwrap().len(), path)).collect();
    maps.sort();
    for (size, path) in maps.into_iter().rev().take(8) {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(bsp) = Bsp::parse(&bytes) else { continue };
        let times = (0..5).map(|_| {
            let start = std::time::Instant::now();
            check::run(&bsp, &Options::default()).unwrap();
            start.elapsed()
        });
        println!("{} ({size} bytes): {:?}", path.display(), times.min().unwrap());
    }
}

/// An edit that only moves lumps gives no new findings.
#[test]
fn layouts_do_not_matter() {
    for name in ["q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
        let bytes = planted::fixture(name);
        let map = Bsp::parse(&bytes).unwrap();
        for layout in [Layout::Append, Layout::Repack] {
            let mut draft = map.draft();
            draft.entities().unwrap().get_mut(0).unwrap().set("message", "x".repeat(90)).unwrap();
            assert_eq!(codes(&draft.plan(layout).unwrap().to_vec()), BTreeSet::new(), "{name}");
        }
    }
}
