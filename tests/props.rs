//! Static and detail props: on the fixtures, on every Source map of the corpus (`BSPKIT_CORPUS`), on lists of every
//! variant, and on noise.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/corpus.rs"]
mod corpus;
#[path = "common/random.rs"]
mod random;

use std::path::{Path, PathBuf};

use bspkit::content::props::{DetailProps, ExtraList, StaticProp, StaticProps, VARIANTS, Variant};
use bspkit::dialect::SOURCE;
use bspkit::record::{Field, Record};
use bspkit::{Bsp, Builder, Draft, ErrorKind, Layout};
use proptest::collection::vec;
use proptest::prelude::*;

fn rooms() -> Vec<PathBuf> {
    corpus::under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/source"))
}

/// A draft of a map with these static props.
fn built(props: &[u8], version: u16) -> Draft<'static> {
    let map = Builder::new(&SOURCE).game_lump(*b"sprp", version, props).build().unwrap();
    Bsp::from_vec(map).unwrap().draft()
}

/// The static props as a draft has them.
fn edited(draft: &Draft<'_>) -> Vec<u8> {
    draft.bytes(draft.bsp().slot("game:sprp").unwrap().id).unwrap().to_vec()
}

/// A member of the game lump with props of one variant. All that can be garbage is.
fn list(variant: &Variant, names: &[&str], leafs: usize, props: usize, noise: u8) -> Vec<u8> {
    let name = |name: &&str| {
        let mut field = [noise; 128];
        field[..name.len()].copy_from_slice(name.as_bytes());
        field[name.len()] = 0;
        field
    };
    let count = |count: usize| u32::try_from(count).unwrap().to_le_bytes().to_vec();
    let extra = |list: ExtraList, size: usize| match variant.list {
        Some(own) if own == list => [count(2), vec![noise; 2 * size]].concat(),
        _ => Vec::new(),
    };
    let leaf = if variant.version < 12 { 2 } else { 4 };
    [
        count(names.len()),
        names.iter().flat_map(name).collect(),
        extra(ExtraList::Names, 128),
        count(leafs),
        vec![noise; leafs * leaf],
        extra(ExtraList::Scales, 16),
        count(props),
        vec![noise; props * variant.size],
    ]
    .concat()
}

#[test]
fn the_rooms_hold_what_was_put_into_them() {
    assert_eq!(rooms().len(), 6);
    for room in rooms() {
        let (map, name) = (Bsp::open(&room).unwrap(), room.display());
        let props = map.static_props().unwrap();
        let expected = match map.version() {
            19 => (5, 60),
            20 => (6, 64),
            25 => (13, 88),
            _ => (9, 72),
        };
        let variant = props.variant().unwrap();
        assert_eq!((variant.version, variant.size), expected, "{name}");
        assert_eq!(props.names().collect::<Vec<_>>(), [&b"models/own/crate.mdl"[..], b"models/own/lamp.mdl"], "{name}");
        assert_eq!(props.leafs().collect::<Vec<_>>(), [8, 7, 8], "{name}");
        assert_eq!((props.len(), props.rest().len()), (3, 0), "{name}");
        let second = props.get(1).unwrap();
        assert_eq!((second.origin, second.fade_min, second.fade_max), ([0.0, 64.0, -64.0], 600.0, 800.0), "{name}");
        assert_eq!((second.first_leaf, second.leaf_count, second.solid), (1, 2, 6), "{name}");
        assert_eq!([0, 1, 2].map(|prop| props.flags(prop).unwrap()), [0, 1, 0], "{name}");
        assert_eq!([0, 1, 2].map(|prop| props.get(prop).unwrap().skin), [0, 0, 1], "{name}");

        let details = map.detail_props().unwrap();
        assert_eq!((details.version(), details.len(), details.sprite_count()), (4, 2, 1), "{name}");
        assert_eq!(details.names().collect::<Vec<_>>(), [b"models/own/grass.mdl"], "{name}");
        assert_eq!((details.record(1).unwrap()[44], details.record(2), details.rest()), (1, None, &[][..]), "{name}");
    }
}

/// Identity on real maps, and a change that reaches nothing else.
fn check(map: &Bsp<'_>, name: &str) -> usize {
    if let Ok(details) = map.detail_props() {
        assert_eq!((0..details.len()).filter_map(|index| details.record(index)).count(), details.len(), "{name}");
    }
    let Ok(slot) = map.slot("game:sprp") else { return 0 };
    let mut draft = map.draft();
    let props = draft.static_props().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(props.variant().is_some(), !props.is_empty(), "{name}: props of {} bytes", props.size());
    for index in 0..props.len() {
        let prop = props.get(index).unwrap();
        let (first, count) = (usize::from(prop.first_leaf), usize::from(prop.leaf_count));
        assert!(usize::from(prop.model) < props.names().len(), "{name}: prop {index}");
        assert!(first + count <= props.leafs().len(), "{name}: prop {index}");
        // Where light is taken is garbage in props without the flag for it.
        let all = [prop.origin, prop.angles].concat();
        assert!(all.iter().all(|number| number.abs() < 70_000.0), "{name}: prop {index}: {prop:?}");
        props.update(index, |_| ()).unwrap();
    }
    let names: Vec<_> = props.names().map(<[u8]>::to_vec).collect();
    for (index, same) in names.into_iter().enumerate() {
        props.set_name(index, same).unwrap();
    }
    let len = props.len();
    assert!(draft.changes().unwrap().is_empty(), "{name}");
    assert_eq!(*draft.bytes(slot.id).unwrap(), *map.bytes(slot.id).unwrap(), "{name}");
    len
}

#[test]
fn identity_on_the_rooms() {
    for room in rooms() {
        assert_eq!(check(&Bsp::open(&room).unwrap(), &room.display().to_string()), 3);
    }
}

#[test]
fn identity_on_the_corpus() {
    let maps = corpus::maps();
    if maps.is_empty() {
        return;
    }
    let opened = maps.iter().filter_map(|path| Some((Bsp::open(path).ok()?, path.display().to_string())));
    let counts: Vec<usize> = opened.map(|(map, name)| check(&map, &name)).collect();
    let (with, props) = (counts.iter().filter(|count| **count > 0).count(), counts.iter().sum::<usize>());
    println!("{props} static props in {with} of {} maps", counts.len());
}

#[test]
fn every_variant_is_told_by_version_and_size() {
    for variant in VARIANTS {
        let bytes = list(variant, &["models/a.mdl", "models/b.mdl"], 3, 4, 0x5A);
        let props = StaticProps::parse(&bytes[..], variant.version).unwrap();
        assert_eq!(props.variant(), Some(variant), "{variant:?}");
        assert_eq!((props.len(), props.size(), props.leafs().len()), (4, variant.size, 3), "{variant:?}");
        assert_eq!(props.record(3), Some(&vec![0x5A; variant.size][..]), "{variant:?}");
        assert_eq!(props.get(4), None, "{variant:?}");
    }
    let mut all: Vec<_> =
        VARIANTS.iter().map(|variant| (variant.version, variant.size, variant.list.is_some())).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), VARIANTS.len(), "two variants that nothing tells apart");
}

#[test]
fn without_props_nothing_is_decided() {
    let empty = [0; 12];
    for version in 4..=13 {
        let mut props = StaticProps::parse(&empty[..], version).unwrap();
        assert_eq!((props.variant(), props.len(), props.size(), props.get(0)), (None, 0, 0, None));
        assert_eq!(props.update(0, |_| ()).unwrap_err().kind(), ErrorKind::NotFound);
    }
    // What stands behind is kept.
    let bytes = [&empty[..], b"rest"].concat();
    let props = StaticProps::parse(&bytes[..], 6).unwrap();
    assert_eq!(props.rest(), b"rest");
}

#[test]
fn props_of_no_known_game_are_kept_and_not_understood() {
    let mut unknown = VARIANTS[1];
    unknown.size = 61;
    let bytes = list(&unknown, &["models/a.mdl"], 1, 2, 7);
    let mut draft = built(&bytes, 5);
    let props = draft.static_props().unwrap();
    assert_eq!((props.variant(), props.len(), props.size()), (None, 2, 61));
    assert_eq!((props.get(0), props.flags(0), props.record(1)), (None, None, Some(&[7; 61][..])));
    let error = props.update(1, |prop| prop.skin = 1).unwrap_err();
    assert_eq!(error.to_string(), "no known game has static props of version 5 with 61 bytes (game:sprp, record 1)");
    assert_eq!(edited(&draft), bytes);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let good = list(&VARIANTS[1], &["models/a.mdl"], 3, 2, 7);
    let message = |at: usize, word: i32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        let error = StaticProps::parse(&bytes[..], 5).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
        error.to_string()
    };
    assert_eq!(message(0, -1), "it says it has -1 model names (game:sprp, offset 0)");
    assert_eq!(message(0, i32::MAX), "there is no room for 2147483647 model names of 128 bytes (game:sprp, offset 0)");
    assert_eq!(message(132, 200), "there is no room for 200 leafs of 2 bytes (game:sprp, offset 132)");
    assert_eq!(message(142, 7), "120 bytes cannot be divided into 7 props of one size (game:sprp, offset 146)");
    assert_eq!(message(142, 3), "120 bytes cannot be divided into 3 props of one size (game:sprp, offset 146)");
    let short = StaticProps::parse(&good[..144], 5).unwrap_err();
    assert_eq!(short.to_string(), "it ends before the number of props (game:sprp, offset 142)");
    let version = StaticProps::parse(&good[..], 14).unwrap_err();
    assert_eq!(version.kind(), ErrorKind::Unsupported);
    let details = DetailProps::parse(&[0; 12][..], 3).unwrap_err();
    assert_eq!(details.to_string(), "detail props of version 3 are not known, only versions 2 and 4 (game:dprp)");
    assert_eq!(Bsp::open("tests/maps/q2/own_box.bsp").unwrap().static_props().unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn flags_are_where_the_variant_has_them() {
    let early = VARIANTS.iter().find(|variant| (variant.version, variant.size) == (9, 72)).unwrap();
    let late = VARIANTS.iter().find(|variant| (variant.version, variant.size) == (10, 72)).unwrap();
    for (variant, flags, changed) in [(early, 0x84, 31..32), (late, 0x0102_0304, 64..68)] {
        let bytes = list(variant, &["models/a.mdl"], 1, 2, 0xCD);
        let mut draft = built(&bytes, variant.version);
        let props = draft.static_props().unwrap();
        props.set_flags(1, flags).unwrap();
        assert_eq!(props.flags(1), Some(flags));
        let start = bytes.len() - variant.size;
        let others = |bytes: &[u8]| [&bytes[..start + changed.start], &bytes[start + changed.end..]].concat();
        assert_eq!(others(&edited(&draft)), others(&bytes));
    }
    let bytes = list(early, &[], 0, 1, 0);
    let mut props = StaticProps::parse(&bytes[..], 9).unwrap();
    assert_eq!(props.set_flags(0, 0x100).unwrap_err().kind(), ErrorKind::Refused);
}

#[test]
fn details_of_bloodlines_keep_what_is_behind_them() {
    let name = [b'm'; 128];
    let bytes = [&1_i32.to_le_bytes()[..], &name, &2_i32.to_le_bytes(), &[9; 80], b"junk"].concat();
    let details = DetailProps::parse(&bytes[..], 2).unwrap();
    assert_eq!((details.len(), details.sprite_count(), details.rest()), (2, 0, &b"junk"[..]));
    assert_eq!(details.names().next(), Some(&name[..]), "a name without an end");
    assert_eq!(details.record(1), Some(&[9; 40][..]));
}

/// A prop saved in a room is the only thing that is new there.
#[test]
fn a_prop_changed_in_a_map_is_the_only_change() {
    for room in rooms() {
        let (map, name) = (Bsp::open(&room).unwrap(), room.display());
        let slot = map.slot("game:sprp").unwrap().id;
        let mut draft = map.draft();
        let props = draft.static_props().unwrap();
        props.update(2, |prop| prop.origin[0] = f32::from_bits(0x7FC1_2345)).unwrap();
        props.set_name(1, "models/own/lamps.mdl").unwrap();
        let edited = draft.bytes(slot).unwrap();
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            let saved = Bsp::from_vec(draft.plan(layout).unwrap().to_vec()).unwrap();
            let again = saved.static_props().unwrap();
            assert_eq!(*saved.bytes(slot).unwrap(), *edited, "{name}");
            assert_eq!(again.get(2).unwrap().origin[0].to_bits(), 0x7FC1_2345, "{name}");
            for other in map.slots().iter().filter(|other| other.id != slot && other.name != "GAME_LUMP") {
                assert_eq!(*map.stored(other.id), *saved.stored(other.id), "{name}: {}", other.name);
            }
        }
    }
}

fn any_variant() -> impl Strategy<Value = Variant> {
    prop::sample::select(VARIANTS)
}

proptest! {
    #![proptest_config(random::config(256, "tests/props.proptest-regressions"))]

    #[test]
    fn every_record_is_honest(noise in vec(any::<u8>(), 64)) {
        let bytes = &noise[..StaticProp::SIZE];
        prop_assert_eq!((StaticProp::INFO.reencode)(bytes), bytes);
    }

    #[test]
    fn a_field_changes_its_bytes_alone(
        variant in any_variant(),
        (count, index) in (1_usize..5).prop_flat_map(|count| (Just(count), 0..count)),
        (leafs, noise) in (0_usize..5, any::<u8>()),
        new in vec(any::<u8>(), StaticProp::SIZE),
    ) {
        let bytes = list(&variant, &["models/a.mdl"], leafs, count, noise);
        let mut draft = built(&bytes, variant.version);
        let props = draft.static_props().unwrap();
        props.update(index, |prop| *prop = StaticProp::decode(&new).unwrap()).unwrap();
        prop_assert_eq!(props.get(index).unwrap().encode(), &new[..]);
        let start = bytes.len() - (count - index) * variant.size;
        let mut expected = bytes.clone();
        expected[start..start + StaticProp::SIZE].copy_from_slice(&new);
        prop_assert_eq!(edited(&draft), expected);
    }

    #[test]
    fn a_name_changes_its_bytes_alone(
        variant in any_variant(), name in "[a-z/]{0,127}", index in 0_usize..3, noise in 1_u8..,
    ) {
        let bytes = list(&variant, &["models/a.mdl", "models/b.mdl", ""], 1, 2, noise);
        let mut draft = built(&bytes, variant.version);
        let props = draft.static_props().unwrap();
        props.set_name(index, &name).unwrap();
        prop_assert_eq!(props.names().nth(index).unwrap(), name.as_bytes());
        let (start, mut expected) = (4 + 128 * index, bytes.clone());
        expected[start..start + name.len()].copy_from_slice(name.as_bytes());
        expected[start + name.len()] = 0;
        prop_assert!(props.set_name(3, "x").is_err() && props.set_name(0, "a\0b").is_err());
        prop_assert!(props.set_name(0, "x".repeat(128)).is_err());
        prop_assert_eq!(edited(&draft), expected);
    }

    #[test]
    fn noise_never_panics_and_stays(version in 0_u16..20, noise in vec(prop_oneof![Just(0), any::<u8>()], 0..600)) {
        if let Ok(props) = StaticProps::parse(&noise[..], version) {
            prop_assert!((0..props.len()).all(|index| props.record(index).is_some()));
            prop_assert_eq!(props.record(props.len()), None);
            let _ = (props.names().count(), props.leafs().count(), props.get(0), props.flags(0), props.rest().len());
        }
        if let Ok(details) = DetailProps::parse(&noise[..], version) {
            let _ = (details.names().count(), details.record(0), details.record(usize::MAX), details.rest().len());
        }
    }

    /// Lists of the right form with one number wrong, cut off anywhere.
    #[test]
    fn damage_never_panics(
        variant in any_variant(), at in any::<prop::sample::Index>(), word: i32, end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = list(&variant, &["models/a.mdl"], 3, 2, 1);
        let at = at.index(bytes.len() - 3);
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        bytes.truncate(end.index(bytes.len() + 1));
        if let Ok(mut props) = StaticProps::parse(&bytes[..], variant.version) {
            let _ = (props.update(0, |prop| prop.skin = 1), props.set_flags(1, 3), props.set_name(0, "x"));
        }
    }
}
