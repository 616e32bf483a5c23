//! Queries for records: against an evaluator that goes by the printed records, on maps of all families; changes and
//! what takes them back; what is refused.

mod naive;

use crate::{corpus, random};
use bspkit::query::{FieldChange, Query};
use bspkit::record::FlagNames;
use bspkit::{Bsp, Draft, ErrorKind, Hint, Layout};
use bspkit_text::records::{parse_value, value_text};
use naive::Naive;
use proptest::prelude::*;
use random::config;
use std::path::Path;

fn open(name: &str) -> Bsp<'static> {
    Bsp::open(Path::new("tests/maps").join(name).with_extension("bsp")).unwrap()
}

fn names(map: &Bsp<'_>) -> FlagNames {
    map.dialect().game(map.version()).flags
}

#[track_caller]
fn found(map: &Bsp<'_>, query: &str) -> Vec<usize> {
    Query::parse(query).unwrap().find(map, names(map)).unwrap_or_else(|error| panic!("{query}: {error:?}"))
}

fn values(map: &Bsp<'_>, query: &str) -> Vec<String> {
    let mut values = Vec::new();
    let query = Query::parse(query).unwrap();
    let each = query.each(map, names(map), |_, value| {
        values.push(value_text(value, names(map)).unwrap_or_else(|| "nowhere".into()));
        Ok::<_, bspkit::Error>(true)
    });
    each.unwrap();
    values
}

fn set(draft: &mut Draft<'_>, change: &str) -> bspkit::Result<usize> {
    let names = names(draft.bsp());
    FieldChange::parse(change)?.apply_with(draft, names, parse_value)
}

/// Every query that the evaluator makes up for a map, and what it finds.
fn compare(map: &Bsp<'_>, name: &str) -> usize {
    let naive = Naive::new(map, names(map));
    let cases = naive.cases();
    for (query, expected) in &cases {
        assert!(found(map, query) == *expected, "{name}: {query}");
    }
    cases.len()
}

#[test]
fn queries_find_what_the_evaluator_finds() {
    let mut count = 0;
    for path in corpus::under(Path::new("tests/maps")) {
        count += compare(&Bsp::open(&path).unwrap(), &path.display().to_string());
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn queries_find_the_same_on_real_maps() {
    for path in corpus::maps() {
        if let Ok(map) = Bsp::open(&path) {
            compare(&map, &path.display().to_string());
        }
    }
}

/// In each family the faces of a texture are those that the evaluator's own reading of names finds.
#[test]
fn textures_are_found_by_name_in_every_family() {
    for (name, texture, texinfo) in [
        ("q1/own_rooms", "sky_own", true),
        ("goldsrc/own_rooms", "sky", true),
        ("bsp2/own_rooms", "sky_own", true),
        ("q2/own_rooms", "own/sky", true),
        ("qbism/own_rooms_qbism", "own/sky", true),
        ("q3/own_rooms", "textures/own/sky", false),
        ("source/room_v20", "own/floor", true),
        ("source/room_strata", "own/floor", true),
    ] {
        let map = open(name);
        let faces = found(&map, &format!("faces[texture={texture}]"));
        assert!(!faces.is_empty(), "{name}");
        let upper = texture.to_uppercase();
        assert_eq!(faces, found(&map, &format!("faces[texture~/^{}$/i]", upper.replace('/', r"\/"))), "{name}");
        if texinfo {
            assert_eq!(faces, found(&map, &format!("faces[texinfo.texture={texture}]")), "{name}");
        }
        let indices: Vec<String> = faces.iter().map(ToString::to_string).collect();
        assert_eq!(values(&map, &format!("faces[{}].texture", indices[0])), [texture], "{name}");
    }
}

#[test]
fn parts_of_a_query_combine() {
    let map = open("q2/own_rooms");
    let len = map.spans(map.slot("planes").unwrap()).unwrap()[0].count();
    let all: Vec<usize> = (0..len).collect();
    assert_eq!(found(&map, "planes[*]"), all);
    assert_eq!(found(&map, "PLANES[3..6]"), [3, 4, 5]);
    assert_eq!(found(&map, "1[..2]"), [0, 1]);
    assert_eq!(found(&map, &format!("planes[{}..]", len - 1)), [len - 1]);
    assert_eq!(found(&map, "planes[5..2]"), [0; 0]);
    assert_eq!(found(&map, &format!("planes[{len}..99999]")), [0; 0]);
    assert_eq!(found(&map, "planes[2..9][4..]:not([5],[7])"), [4, 6, 8]);
    assert_eq!(found(&map, "planes[7],[2] , [2..4]"), [2, 3, 7]);
    let kind: Vec<usize> = found(&map, "planes[type=0]");
    assert_eq!(kind, found(&map, "planes[kind<1]"));
    assert_eq!(kind, found(&map, "planes:not([kind>0])"));
    assert_eq!(kind, found(&map, "planes[kind=0x0]"));
    assert_eq!(found(&map, "planes[distance=0]"), found(&map, "planes[distance=-0.0]"));
    assert_eq!(found(&map, "texinfo[flags&SKY]"), found(&map, r"texinfo[flags*=SKY]"));
    assert_eq!(found(&map, "texinfo[flags&SKY|WARP]"), found(&map, "texinfo[flags&SKY],[flags&WARP]"));
    assert_eq!(found(&map, "faces[styles=255]"), found(&map, "faces[*]"));
    assert_eq!(found(&map, "brushsides[texinfo]"), found(&map, "brushsides:not([texinfo=-1])"));
    assert_eq!(
        values(&map, "brushsides[texinfo=-1].texinfo.flags").iter().filter(|text| **text != "nowhere").count(),
        0
    );
    assert!(found(&map, "texinfo[next.next.next]").is_empty());
}

#[test]
fn changes_are_made_once_and_taken_back() {
    for (name, there, back, changed) in [
        ("q2/own_rooms", "models[1..].origin+=0 0 8", "models[1..].origin-=0 0 8", "models[1].origin[2]"),
        ("q2/own_rooms", "faces[*].texinfo.value*=2", "faces[*].texinfo.value/=2", ""),
        (
            "q2/own_rooms",
            "texinfo[flags&SKY].flags^=WARP|NODRAW",
            "texinfo[flags&SKY].flags^=WARP|NODRAW",
            "texinfo[1].flags",
        ),
        ("q2/own_rooms", "planes[*].normal*=-1", "planes[*].normal*=-1", "planes[0].normal"),
        (
            "goldsrc/own_rooms",
            "faces[texture=sky].styles=[1,2,3,4]",
            "faces[texture=sky].styles=[255,255,255,255]",
            "faces[0].styles",
        ),
        ("source/room_v20_lzma", "planes[*].distance-=0.5", "planes[*].distance+=0.5", "planes[0].distance"),
        (
            "q3/own_rooms",
            "shaders[name^=textures/].content_flags|=0x40",
            "shaders[name^=textures/].content_flags&=~0x40",
            "shaders[0].content_flags",
        ),
    ] {
        let map = open(name);
        let mut draft = map.draft();
        assert!(set(&mut draft, there).unwrap() > 0, "{there}");
        if !changed.is_empty() {
            let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
            assert_ne!(values(&saved, changed), values(&map, changed), "{there}");
        }
        set(&mut draft, back).unwrap();
        assert!(draft.changes().unwrap().is_empty(), "{there}");
    }
}

#[test]
fn a_change_sees_those_before_it() {
    let map = open("q2/own_rooms");
    let mut draft = map.draft();
    assert_eq!(set(&mut draft, "planes[0].kind=5").unwrap(), 1);
    assert_eq!(set(&mut draft, "planes[kind=5].distance=7").unwrap(), 1);
    assert_eq!(set(&mut draft, "planes[kind=5]={\"normal\":[1,2,3],\"distance\":8,\"kind\":5}").unwrap(), 1);
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    assert_eq!(values(&saved, "planes[0]"), ["{\"normal\":[1,2,3],\"distance\":8,\"kind\":5}"]);
    // A float that does not change keeps its bits, zeros their signs.
    let mut same = map.draft();
    assert!(set(&mut same, "planes[distance=0].distance*=-1").unwrap() > 0);
    assert!(same.changes().unwrap().is_empty());
    // Many faces lead to one texinfo, which changes once.
    let before: i32 = values(&map, "faces[0].texinfo.value")[0].parse().unwrap();
    assert!(set(&mut draft, "faces[*].texinfo.value+=3").unwrap() < found(&map, "faces[*]").len());
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    assert_eq!(values(&saved, "faces[0].texinfo.value"), [(before + 3).to_string()]);
}

#[test]
fn what_cannot_be_done_changes_nothing() {
    let map = open("q2/own_rooms");
    for (change, kind, why) in [
        ("planes[0].kind=x", ErrorKind::Argument, "`x` is not a whole number"),
        ("planes[*].kind*=1.3", ErrorKind::Argument, "is not a whole number"),
        ("planes[*].kind*=2e9", ErrorKind::Argument, "is not a whole number"),
        ("planes[2..].distance*=1e37", ErrorKind::Argument, "too large for a 32-bit float"),
        ("planes[0].normal+=1 2", ErrorKind::Argument, "it has 3 numbers, and the operand 2"),
        ("planes[0].normal=1", ErrorKind::Argument, "there is 1 word, but 3 are needed"),
        ("planes[0]+=1", ErrorKind::Argument, "it is a struct"),
        ("planes[0].distance^=1", ErrorKind::Argument, "it is a float"),
        ("texinfo[0].flags+=1", ErrorKind::Argument, "flags are combined"),
        ("texinfo[0].texture+=1", ErrorKind::Argument, "it is a name"),
        ("faces[0].texture=x", ErrorKind::NotFound, ""),
        ("planes[99999].kind=1", ErrorKind::NotFound, "has no record 99999"),
        ("nope[0].kind=1", ErrorKind::NotFound, "no lump nope"),
        ("entities[0].kind=1", ErrorKind::Unsupported, "has no records"),
        (
            "texinfo[next.next.next.next.next.next.next.next.next.next=1].value=1",
            ErrorKind::Argument,
            "more than 8 records",
        ),
    ] {
        let mut draft = map.draft();
        match set(&mut draft, change) {
            Err(error) => {
                assert_eq!(error.kind(), kind, "{change}: {error}");
                assert!(error.to_string().contains(why), "{change}: {error}");
            }
            // Texinfo of Quake II has the name itself.
            Ok(_) => assert!(why.is_empty(), "{change}"),
        }
        assert!(why.is_empty() || draft.changes().unwrap().is_empty(), "{change}");
    }
    let map = open("source/room_v20");
    let error = set(&mut map.draft(), "faces[0].texture=x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn what_cannot_be_read_is_pointed_at() {
    for (text, at, why) in [
        ("planes", 6, "a record is missing"),
        ("planes[", 7, "an index, a range"),
        ("planes[]", 7, "an index, a range"),
        ("planes[0", 8, "a `]` is missing"),
        ("planes[0].", 10, "it ends too early"),
        ("planes[0].", 10, "it ends too early"),
        ("planes[0],", 10, "a query is missing"),
        ("planes[0],.x", 10, "a query is missing"),
        ("planes:not([0]", 6, "this `:not(` has no `)`"),
        ("planes[0])", 9, "this `)` has no `:not(`"),
        ("planes[kind!=1]", 11, "`!=` is written"),
        ("planes[kind~1]", 11, "between slashes"),
        ("planes[kind~/(/]", 13, "unclosed group"),
        ("planes[kind>x]", 12, "compares with a number"),
        ("planes[0].kind=1", 14, "there is no value here"),
    ] {
        let error = Query::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert_eq!(error.hint(), Some(&Hint::Text(format!("{text}\n{}^", " ".repeat(at)))), "{text}");
    }
    let deep = format!("planes{}[0]{}", ":not(".repeat(100_000), ")".repeat(100_000));
    assert!(Query::parse(&deep).unwrap_err().to_string().contains("nested deeper than 32"));
    assert!(Query::parse(&format!("planes{}", "[kind~/1/]".repeat(65))).is_err());
    for text in ["planes[0]", "planes[0].kind", "planes[0].kind:=1", "planes[0].kind+=", "planes[0].kind/=0"] {
        assert_eq!(FieldChange::parse(text).unwrap_err().kind(), ErrorKind::Argument, "{text}");
    }
}

/// The number of a comparison is rounded to the float that a field can hold, as that of `=` is.
#[test]
fn a_float_that_is_equal_is_neither_less_nor_greater() {
    let map = open("q2/own_box");
    let mut draft = map.draft();
    set(&mut draft, "planes[0].distance=0.1").unwrap();
    let bytes = draft.plan(Layout::Keep).unwrap().to_vec();
    let map = Bsp::parse(&bytes).unwrap();
    for number in ["0.1", "0.100000001490116", "0.10000000149"] {
        let holds = |order: &str| found(&map, &format!("planes[0][distance{order}{number}]")).len() == 1;
        assert_eq!(["=", "<=", ">=", "<", ">"].map(holds), [true, true, true, false, false], "{number}");
    }
    assert_eq!(found(&map, "planes[0][distance<0.11][distance>0.09]"), [0]);
}

proptest! {
    #![proptest_config(config(3000, "tests/proptest-regressions/query.txt"))]

    #[test]
    fn no_text_makes_it_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        "planes", "faces", "texinfo", "[", "]", "[0]", "[*]", "[1..3]", "[kind=1]", "[texture~/a/i]", "[texinfo.flags&SKY]",
        ":not(", ")", ",", ".", ".texinfo", ".texture", ".normal", "[99]", "=", "+=1", "|=SKY", "=x", "*=2 3 4", " ", "\u{e9}",
    ]), 1..9)) {
        let text = pieces.concat();
        let map = open("q2/own_box");
        if let Ok(query) = Query::parse(&text) {
            prop_assert_eq!(query.to_string(), text.clone());
            let _ = query.each(&map, names(&map), |_, _| Ok::<_, bspkit::Error>(true));
        }
        if let Ok(change) = FieldChange::parse(&text) {
            let mut draft = map.draft();
            let _ = change.apply(&mut draft, names(&map));
            prop_assert!(draft.plan(Layout::Keep).is_ok());
        }
    }
}
