//! Static and detail props: on the fixtures, on every Source map of the corpus (`BSPKIT_CORPUS`), on lists of every
//! struct that a row has, and on noise.

use crate::{corpus, random};
use std::path::{Path, PathBuf};

use bspkit::content::props::StaticProp;
use bspkit::dialect::{Form, List, Row, SOURCE, SOURCE17};
use bspkit::{Bsp, Builder, Draft, ErrorKind, Layout};
use proptest::collection::vec;
use proptest::prelude::*;

fn rooms() -> Vec<PathBuf> {
    corpus::under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/source"))
}

/// A draft of a map with this member.
fn built(name: &str, version: i32, member: &[u8]) -> Draft<'static> {
    let dialect = if (name, version) == ("dprp", 2) { &SOURCE17 } else { &SOURCE };
    let (name, version) = (name.as_bytes().try_into().unwrap(), version.try_into().unwrap());
    Bsp::from_vec(Builder::new(dialect).game_lump(name, version, member).build().unwrap()).unwrap().draft()
}

/// The static props as a draft has them.
fn edited(draft: &Draft<'_>) -> Vec<u8> {
    draft.bytes(draft.bsp().slot("game:sprp").unwrap().id).unwrap().to_vec()
}

/// A version of static props, and the lists that it has.
type Variant = (i32, &'static [List]);

/// All versions of static props that have a row with records.
fn variants() -> Vec<Variant> {
    let lists = |row: &'static Row| match row.form {
        Form::Lists(lists) => row.versions.iter().map(|version| (*version, lists)).collect(),
        _ => Vec::new(),
    };
    SOURCE.rows_of("game:sprp").flat_map(lists).collect()
}

/// A member of the game lump with this number of records in each list, all of whose bytes are `noise`.
fn member(lists: &[List], counts: [usize; 3], noise: u8) -> Vec<u8> {
    let list = |(list, count): (&List, usize)| {
        [&u32::try_from(count).unwrap().to_le_bytes()[..], &vec![noise; count * list.record.size]].concat()
    };
    lists.iter().zip(counts).flat_map(list).collect()
}

/// Where a field of the last prop is.
fn last(bytes: &[u8], lists: &[List], field: &str) -> std::ops::Range<usize> {
    let record = lists.last().unwrap().record;
    let field = record.field(field).unwrap();
    let start = bytes.len() - record.size + field.offset;
    start..start + field.shape.size()
}

#[test]
fn the_rooms_hold_what_was_put_into_them() {
    assert_eq!(rooms().len(), 6);
    for room in rooms() {
        let (map, name) = (Bsp::open(&room).unwrap(), room.display());
        let props = map.static_props().unwrap();
        assert_eq!(props.names().collect::<Vec<_>>(), [&b"models/own/crate.mdl"[..], b"models/own/lamp.mdl"], "{name}");
        assert_eq!((props.leafs().collect::<Vec<_>>(), props.len()), (vec![8, 7, 8], 3), "{name}");
        let second = props.get(1).unwrap();
        assert_eq!((second.origin, second.fade_min, second.fade_max), ([0.0, 64.0, -64.0], 600.0, 800.0), "{name}");
        assert_eq!((second.first_leaf, second.leaf_count, second.solid), (1, 2, 6), "{name}");
        assert_eq!([0, 1, 2].map(|prop| props.get(prop).unwrap().flags), [0, 1, 0], "{name}");
        assert_eq!([0, 1, 2].map(|prop| props.get(prop).unwrap().skin), [0, 0, 1], "{name}");
        assert_eq!(props.get(3), None, "{name}");

        let details = map.detail_props().unwrap();
        assert_eq!((details.len(), details.sprite_count(), details.get(2)), (2, 1, None), "{name}");
        assert_eq!(details.names().collect::<Vec<_>>(), [b"models/own/grass.mdl"], "{name}");
        let objects = map.table(bspkit::dialect::source::DETAIL_OBJECTS).unwrap().get(1).unwrap();
        let second = details.get(1).unwrap();
        assert_eq!((second.origin, second.model, second.leaf), (objects.origin, objects.model, objects.leaf), "{name}");
    }
}

/// Identity on real maps.
fn check(map: &Bsp<'_>, name: &str) -> usize {
    let mut draft = map.draft();
    if map.slot("game:dprp").is_ok_and(|slot| map.row(slot).is_ok()) {
        let details = draft.detail_props().unwrap();
        (0..details.len()).for_each(|index| details.update(index, |_| ()).unwrap());
    }
    let Ok(slot) = map.slot("game:sprp") else { return 0 };
    let props = draft.static_props().unwrap_or_else(|error| panic!("{name}: {error}"));
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
fn without_props_there_is_nothing_to_edit() {
    for (version, lists) in variants() {
        for bytes in [member(lists, [0, 0, 0], 0), Vec::new()] {
            let mut draft = built("sprp", version, &bytes);
            let props = draft.static_props().unwrap();
            assert_eq!((props.len(), props.names().len(), props.leafs().len(), props.get(0)), (0, 0, 0, None));
            let error = props.update(0, |_| ()).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (ErrorKind::NotFound, "props has no record 0, only 0 records")
            );
        }
    }
}

#[test]
fn flags_are_where_the_struct_has_them() {
    for ((version, size), flags, place) in [((9, 72), 0x84, 31..32), ((10, 72), 0x0102_0304, 64..68)] {
        let is_it = |variant: &Variant| (variant.0, variant.1[2].record.size) == (version, size);
        let (_, lists) = variants().into_iter().find(is_it).unwrap();
        let bytes = member(lists, [1, 1, 2], 0xCD);
        let mut draft = built("sprp", version, &bytes);
        let props = draft.static_props().unwrap();
        props.update(1, |prop| prop.flags = flags).unwrap();
        assert_eq!(props.get(1).unwrap().flags, flags);
        let mut expected = bytes.clone();
        let start = bytes.len() - size + place.start;
        expected[start..start + place.len()].copy_from_slice(&flags.to_le_bytes()[..place.len()]);
        assert_eq!(edited(&draft), expected);
    }
    let (version, lists) = variants()[0];
    let mut draft = built("sprp", version, &member(lists, [0, 0, 1], 0));
    let error = draft.static_props().unwrap().update(0, |prop| (prop.skin, prop.flags) = (1, 0x100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.to_string(), "the value of flags does not fit: the field of these props has 1 bytes");
    assert!(draft.changes().unwrap().is_empty(), "a part of the edit");
}

#[test]
fn details_of_bloodlines_keep_what_is_after_them() {
    let name = [b'm'; 128];
    let bytes = [&1_i32.to_le_bytes()[..], &name, &2_i32.to_le_bytes(), &[9; 80], b"junk"].concat();
    let mut draft = built("dprp", 2, &bytes);
    let details = draft.detail_props().unwrap();
    assert_eq!((details.len(), details.sprite_count()), (2, 0));
    assert_eq!(details.names().next(), Some(&name[..]), "a name without an end");
    details.update(1, |prop| prop.leaf = 3).unwrap();
    let (end, mut expected) = (bytes.len() - 4, bytes);
    expected[end - 40 + 26..end - 40 + 28].copy_from_slice(&[3, 0]);
    assert_eq!(*draft.bytes(draft.bsp().slot("game:dprp").unwrap().id).unwrap(), *expected);
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
    prop::sample::select(variants())
}

proptest! {
    #![proptest_config(random::config(256, "tests/proptest-regressions/props.txt"))]

    /// Each field of the lens is that of the row's struct, and an edit of it changes no other byte.
    #[test]
    fn a_field_changes_its_bytes_alone(
        (version, lists) in any_variant(), count in 1_usize..5, leafs in 0_usize..5, noise in 1_u8..0x70, new: u8,
    ) {
        let bytes = member(lists, [1, leafs, count], noise);
        let mut draft = built("sprp", version, &bytes);
        let (float, short) = (f32::from_le_bytes([new; 4]), u16::from_le_bytes([new; 2]));
        for (field, width, edit) in [
            ("origin", 12, Box::new(|prop: &mut StaticProp| prop.origin = [float; 3]) as Box<dyn Fn(&mut StaticProp)>),
            ("angles", 12, Box::new(|prop| prop.angles = [float; 3])),
            ("model", 2, Box::new(|prop| prop.model = short)),
            ("first_leaf", 2, Box::new(|prop| prop.first_leaf = short)),
            ("leaf_count", 2, Box::new(|prop| prop.leaf_count = short)),
            ("solid", 1, Box::new(|prop| prop.solid = new)),
            ("flags", 1, Box::new(|prop| prop.flags = new.into())),
            ("skin", 4, Box::new(|prop| prop.skin = i32::from_le_bytes([new; 4]))),
            ("fade_min", 4, Box::new(|prop| prop.fade_min = float)),
            ("fade_max", 4, Box::new(|prop| prop.fade_max = float)),
            ("lighting_origin", 12, Box::new(|prop| prop.lighting_origin = [float; 3])),
        ] {
            draft.static_props().unwrap().update(count - 1, edit).unwrap();
            let (place, mut expected) = (last(&bytes, lists, field), bytes.clone());
            expected[place.clone()].fill(if field == "flags" { 0 } else { new });
            expected[place.start] = new;
            prop_assert!(place.len() == width || field == "flags");
            prop_assert_eq!(edited(&draft), expected, "{}", field);
            draft.revert_all();
        }
    }

    #[test]
    fn a_name_changes_its_bytes_alone(
        (version, lists) in any_variant(), name in "[a-z/]{0,127}", index in 0_usize..3, noise in 1_u8..0x70,
    ) {
        let mut bytes = member(lists, [3, 1, 2], noise);
        bytes[4 + 128 * index + 5] = 0;
        let mut draft = built("sprp", version, &bytes);
        let props = draft.static_props().unwrap();
        props.set_name(index, &name).unwrap();
        prop_assert_eq!(props.names().nth(index).unwrap(), name.as_bytes());
        let (start, mut expected) = (4 + 128 * index, bytes.clone());
        expected[start..start + 6].fill(0);
        expected[start..start + name.len()].copy_from_slice(name.as_bytes());
        expected[start + name.len()] = 0;
        prop_assert!(props.set_name(3, "x").is_err() && props.set_name(0, "a\0b").is_err());
        prop_assert!(props.set_name(0, "x".repeat(128)).is_err());
        prop_assert_eq!(edited(&draft), expected);
    }

    #[test]
    fn noise_never_panics(version in 0..20, noise in vec(prop_oneof![Just(0), any::<u8>()], 0..600)) {
        let mut draft = built("sprp", version, &noise);
        if let Ok(props) = draft.static_props() {
            let _ = (props.names().count(), props.leafs().count(), props.get(0), props.update(0, |prop| prop.skin = 1));
        }
        let mut draft = built("dprp", version, &noise);
        if let Ok(details) = draft.detail_props() {
            let _ = (details.names().count(), details.get(0), details.get(usize::MAX), details.set_name(0, "x"));
        }
    }

    /// Lists of the right form with one number wrong, cut off anywhere.
    #[test]
    fn damage_never_panics(
        (version, lists) in any_variant(), at in any::<prop::sample::Index>(), word: i32, end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = member(lists, [1, 3, 2], 1);
        let at = at.index(bytes.len() - 3);
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        bytes.truncate(end.index(bytes.len() + 1));
        let mut draft = built("sprp", version, &bytes);
        if let Ok(props) = draft.static_props() {
            let _ = (props.update(0, |prop| prop.skin = 1), props.update(1, |prop| prop.flags = 3), props.set_name(0, "x"));
        }
    }
}
