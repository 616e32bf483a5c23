//! Merging two edits of a map: the laws, on maps of every family, and what is a conflict.

mod doubts;
mod forms;
mod gone;
mod header;
mod law;
mod models;
mod textures;
mod values;

use crate::{facts, maps, shuffle, walk};
use std::fs;
use std::path::Path;

use bspkit::dialect::{Role, quake2, source};
use bspkit::{Bsp, Data, Draft, ErrorKind, Layout};
use bspkit_ops::merge::{Side, merge, merge_with};
use bspkit_ops::models::Removal;

const MAPS: [&str; 8] = [
    "q1/own_rooms_bspx",
    "bsp2/own_rooms",
    "goldsrc/own_rooms",
    "q2/own_rooms_bspx",
    "q3/own_rooms",
    "qbism/own_rooms_qbism",
    "source/room_v20",
    "source/room_v21",
];

fn open(name: &str) -> Bsp<'static> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps").join(name).with_extension("bsp");
    Bsp::from_vec(fs::read(path).unwrap()).unwrap()
}

/// The map after an edit.
fn edited(base: &Bsp<'static>, layout: Layout, edit: impl FnOnce(&mut Draft<'static>)) -> Bsp<'static> {
    let mut draft = base.draft();
    edit(&mut draft);
    Bsp::from_data(Data::from(draft.plan(layout).unwrap().to_vec()), Some(base.dialect())).unwrap()
}

fn set(draft: &mut Draft<'_>, index: usize, key: &str, value: &str) {
    draft.entities().unwrap().get_mut(index).unwrap().set(key, value).unwrap();
}

/// The merged map, and the conflicts as lines.
fn merged(base: &Bsp<'static>, ours: &Bsp<'static>, theirs: &Bsp<'static>) -> (Bsp<'static>, Vec<String>) {
    let merged = merge(base, ours, theirs).unwrap();
    let bytes = merged.draft.plan(Layout::Keep).unwrap().to_vec();
    let map = Bsp::from_data(Data::from(bytes), Some(base.dialect())).unwrap();
    (map, merged.conflicts.iter().map(ToString::to_string).collect())
}

fn bytes<'b>(bsp: &'b Bsp<'_>) -> &'b [u8] {
    bsp.container().bytes()
}

/// Every slot has the same content.
#[track_caller]
fn assert_same_content(one: &Bsp<'_>, other: &Bsp<'_>, what: &str) {
    assert_eq!(one.slots().len(), other.slots().len(), "{what}");
    for (slot, twin) in one.slots().iter().zip(other.slots()) {
        // The list of members of the game lump has offsets in it.
        if one.role_of(slot.id) != Some(Role::GameLump) {
            assert!(one.bytes(slot.id).unwrap() == other.bytes(twin.id).unwrap(), "{what}: {}", slot.name);
        }
    }
}

type Edit = fn(&mut Draft<'static>);

/// Edits of everything that is merged in its own way; each is on another entity, file or lump than the others.
fn edits() -> Vec<(&'static str, Edit)> {
    vec![
        ("message", |draft| set(draft, 0, "message", "The Place")),
        ("key", |draft| set(draft, 0, "own_key", "1")),
        ("last", |draft| {
            let last = draft.entities().unwrap().len() - 1;
            set(draft, last, "spawnflags", "7");
        }),
        ("add", |draft| {
            draft.entities().unwrap().add([("classname", "info_null"), ("origin", "1 2 3")]).unwrap();
        }),
        ("remove", |draft| draft.entities().unwrap().remove(1).unwrap()),
        ("lump", |draft| {
            let Some(slot) = draft.bsp().role(Role::Lighting).map(|slot| slot.id) else { return };
            let mut light = draft.bytes(slot).unwrap().to_vec();
            light.iter_mut().take(9).for_each(|byte| *byte ^= 0x55);
            draft.set(slot, light).unwrap();
        }),
        ("file", |draft| {
            if draft.bsp().role(Role::Pak).is_some() {
                draft.pak().unwrap().add("own/new.txt", &b"new"[..]).unwrap();
            }
        }),
        ("old file", |draft| {
            if draft.bsp().role(Role::Pak).is_some() {
                draft.pak().unwrap().replace(0, &b"replaced"[..]).unwrap();
            }
        }),
    ]
}

/// What only one side changed is as that side has it, byte for byte where it is ours.
#[test]
fn one_side_alone() {
    for name in MAPS {
        let base = open(name);
        for (what, edit) in edits() {
            for layout in [Layout::Keep, Layout::Append] {
                let side = edited(&base, layout, edit);
                let what = format!("{name}: {what}, {layout:?}");
                for (ours, theirs) in [(&side, &base), (&side, &side)] {
                    let (map, conflicts) = merged(&base, ours, theirs);
                    assert_eq!(conflicts, Vec::<String>::new(), "{what}");
                    assert!(bytes(&map) == bytes(&side), "{what}");
                }
                let (map, conflicts) = merged(&base, &base, &side);
                assert_eq!(conflicts, Vec::<String>::new(), "{what}");
                assert_same_content(&map, &side, &what);
            }
        }
    }
}

/// Two edits of different things give what both edits one after the other give.
#[test]
fn two_sides_are_both_edits() {
    for name in MAPS {
        let base = open(name);
        for (first, (what, one)) in edits().into_iter().enumerate() {
            for (second, (other_what, other)) in edits().into_iter().enumerate().filter(|(second, _)| *second != first)
            {
                let (ours, theirs) = (edited(&base, Layout::Keep, one), edited(&base, Layout::Keep, other));
                // An edit by index comes before one that moves the others.
                let both = match (what, second > first) {
                    ("remove", _) => edited(&theirs, Layout::Keep, one),
                    _ => edited(&ours, Layout::Keep, other),
                };
                let (map, conflicts) = merged(&base, &ours, &theirs);
                let what = format!("{name}: {what} and {other_what}");
                assert_eq!(conflicts, Vec::<String>::new(), "{what}");
                if what.contains("add") && what.contains("last") {
                    // "last" is another entity after "add".
                    continue;
                }
                assert_same_content(&map, &both, &what);
            }
        }
    }
}

/// The model of the last entity that has one of its own: `*3`.
fn last_model(draft: &Draft<'_>) -> String {
    let models = draft.bsp().slot("models").unwrap();
    format!("*{}", models.stored.len() / 48 - 1)
}

/// Many additions in a map of many entities are additions, and not another text.
#[test]
fn sides_that_add_thousands_of_entities_are_merged() {
    let light = |index: usize| format!("{{\n\"classname\" \"light\"\n\"targetname\" \"l{index}\"\n}}\n");
    let text = format!("{{\n\"classname\" \"worldspawn\"\n}}\n{}\0", (0..30_000).map(light).collect::<String>());
    let built = bspkit::Builder::new(&bspkit::dialect::QUAKE).lump(0, text).build().unwrap();
    let base = Bsp::from_vec(built).unwrap();
    let side = |name: &str, touched: usize| {
        edited(&base, Layout::Keep, |draft| {
            let all = draft.entities().unwrap();
            all.get_mut(touched).unwrap().set("light", "1").unwrap();
            for index in 0..3000 {
                all.add([("classname", "light"), ("n", &format!("{name}{index}"))]).unwrap();
            }
        })
    };
    let (merged, conflicts) = merged(&base, &side("a", 5), &side("b", 9));
    assert_eq!(conflicts, [""; 0]);
    assert_eq!(merged.entities().unwrap().len(), 36_001);
}

/// What one side moves stays as it has it, whichever side it is.
#[test]
fn an_order_is_merged_as_a_whole() {
    let light = |index: usize| format!("{{\n\"classname\" \"light\"\n\"targetname\" \"l{index}\"\n}}\n");
    let text = |order: &[usize]| {
        let lights: String = order.iter().map(|index| light(*index)).collect();
        format!("{{\n\"classname\" \"worldspawn\"\n}}\n{lights}\0")
    };
    let map = |order: &[usize]| {
        Bsp::from_vec(bspkit::Builder::new(&bspkit::dialect::QUAKE).lump(0, text(order)).build().unwrap()).unwrap()
    };
    let count = 60;
    let base = map(&(0..count).collect::<Vec<_>>());
    let turned: Vec<usize> = (0..count).rev().collect();
    let mixed: Vec<usize> = (0..count).map(|at| at * 37 % count).collect();
    for order in [turned, mixed] {
        let moved = map(&order);
        for (what, edit) in [("message", 0), ("light", 5)] {
            let changed = edited(&base, Layout::Keep, |draft| set(draft, edit, what, "1"));
            for (ours, theirs) in [(&moved, &changed), (&changed, &moved)] {
                let (map, conflicts) = merged(&base, ours, theirs);
                assert_eq!(conflicts, [""; 0]);
                let entities = map.entities().unwrap();
                let names: Vec<String> = entities
                    .iter()
                    .skip(1)
                    .map(|entity| String::from_utf8(entity.get("targetname").unwrap().to_vec()).unwrap())
                    .collect();
                let expected: Vec<String> = order.iter().map(|index| format!("l{index}")).collect();
                assert_eq!(names, expected);
            }
        }
    }
}

#[test]
fn what_both_change_is_a_conflict() {
    type Edit = fn(&mut Draft<'static>);
    let remove: Edit = |draft| draft.entities().unwrap().remove(7).unwrap();
    let cases: [(Edit, Edit, &[&str]); 12] = [
        (
            |draft| set(draft, 6, "light", "1"),
            |draft| {
                set(draft, 6, "LIGHT", "2");
                set(draft, 6, "style", "3");
            },
            &["ENTITIES: #6 light: both sides change `light`"],
        ),
        (|draft| set(draft, 6, "light", "1"), |draft| set(draft, 6, "light", "1"), &[]),
        (
            |draft| set(draft, 7, "light", "1"),
            remove,
            &["ENTITIES: #7 light: our side changes it, and theirs removes it"],
        ),
        (
            remove,
            |draft| set(draft, 7, "light", "1"),
            &["ENTITIES: #7 light: our side removes it, and theirs changes or moves it"],
        ),
        (remove, remove, &[]),
        (
            |draft| {
                draft.entities().unwrap().add([("classname", "a"), ("origin", "1 2 3"), ("x", "1")]).unwrap();
            },
            |draft| {
                draft.entities().unwrap().add([("classname", "a"), ("origin", "1 2 3"), ("x", "2")]).unwrap();
            },
            &["ENTITIES: both sides add a with origin `1 2 3`, with other pairs"],
        ),
        // Two names are two entities.
        (
            |draft| {
                draft.entities().unwrap().add([("classname", "a"), ("targetname", "n1"), ("origin", "1 2 3")]).unwrap();
            },
            |draft| {
                draft.entities().unwrap().add([("classname", "a"), ("targetname", "n2"), ("origin", "1 2 3")]).unwrap();
            },
            &[],
        ),
        // Which of the two is the light that has a name now?
        (
            |draft| {
                let place = draft.entities().unwrap().get(6).unwrap().get("origin").unwrap().to_vec();
                set(draft, 6, "origin", "1 2 3");
                let place = String::from_utf8(place).unwrap();
                let new = [("classname", "light"), ("origin", &*place), ("_color", "1 0 0")];
                draft.entities().unwrap().add(new).unwrap();
            },
            |draft| set(draft, 6, "targetname", "alarm"),
            &["ENTITIES: #6 light: both sides change it, and one of them has two that could be it: one at its place \
               with other pairs, and one with its pairs at another place"],
        ),
        (
            |draft| draft.update(quake2::FACES, 3, |face| face.side ^= 1).unwrap(),
            |draft| draft.update(quake2::FACES, 4, |face| face.side ^= 1).unwrap(),
            &[],
        ),
        (
            |draft| draft.update(quake2::FACES, 3, |face| face.side += 1).unwrap(),
            |draft| draft.update(quake2::FACES, 3, |face| face.side += 2).unwrap(),
            &["FACES[3]: both sides change `side`"],
        ),
        // Planes that are added give no other plane another number.
        (
            |draft| draft.update(quake2::FACES, 3, |face| face.side ^= 1).unwrap(),
            |draft| {
                let planes = draft.bsp().slot("planes").unwrap().id;
                let bytes = draft.bytes(planes).unwrap().repeat(2);
                draft.set(planes, bytes).unwrap();
            },
            &[],
        ),
        // Each map is good, and the merged one would not be.
        (
            |draft| {
                let model = last_model(draft);
                let wall = [("classname", "func_wall"), ("model", &*model)];
                draft.entities().unwrap().add(wall).unwrap();
            },
            |draft| {
                let model = last_model(draft);
                let entities = draft.entities().unwrap();
                let its = entities.select(&format!("[model={model}]")).unwrap();
                entities.remove(its[0]).unwrap();
                let models = draft.bsp().slot("models").unwrap().id;
                let bytes = draft.bytes(models).unwrap();
                draft.set(models, bytes[..bytes.len() - 48].to_vec()).unwrap();
            },
            &["ENTITIES: #19 func_wall: `model` names a record that the other side removes or replaces"],
        ),
    ];
    let base = open("q2/own_rooms");
    for (ours, theirs, expected) in cases {
        let (ours, theirs) = (edited(&base, Layout::Keep, ours), edited(&base, Layout::Keep, theirs));
        let (map, conflicts) = merged(&base, &ours, &theirs);
        assert_eq!(conflicts, expected);
        // The merged map has our side of each conflict, and the rest of theirs.
        if expected.first().is_some_and(|first| first.contains("both sides change `light`")) {
            let light = map.entities().unwrap();
            let light = light.get(6).unwrap();
            assert_eq!((light.get("light"), light.get("style")), (Some(&b"1"[..]), Some(&b"3"[..])));
        }
    }
}

/// Numbers of one side that name records are those of the same records as the other side has them.
#[test]
fn numbers_follow_records_that_the_other_side_moves() {
    let base = open("q2/own_rooms");
    let ours = edited(&base, Layout::Keep, |draft| {
        Removal::default().run(draft, &[2]).unwrap();
    });
    let theirs = edited(&base, Layout::Keep, |draft| {
        draft.entities().unwrap().add([("classname", "func_wall"), ("model", "*4")]).unwrap();
    });
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        let entities = map.entities().unwrap();
        assert_eq!(entities.iter().next_back().unwrap().get("model"), Some(&b"*3"[..]));
    }
    // The model that the other side removed.
    let theirs = edited(&base, Layout::Keep, |draft| {
        draft.entities().unwrap().add([("classname", "func_wall"), ("model", "*2")]).unwrap();
    });
    let expected = "names a record that the other side removes";
    assert!(merged(&base, &ours, &theirs).1[0].contains(expected), "{:?}", merged(&base, &ours, &theirs).1);
    assert!(merged(&base, &theirs, &ours).1[0].contains(expected));
}

/// Of entities that are alike, each side edits its own.
#[test]
fn alike_entities_are_told_apart_by_their_places() {
    let base = edited(&open("q2/own_rooms"), Layout::Keep, |draft| {
        for _ in 0..2 {
            draft.entities().unwrap().add([("classname", "info_null"), ("origin", "1 2 3")]).unwrap();
        }
    });
    let last = base.entities().unwrap().len() - 1;
    let ours = edited(&base, Layout::Keep, |draft| set(draft, last - 1, "own", "ours"));
    let theirs = edited(&base, Layout::Keep, |draft| set(draft, last, "own", "theirs"));
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        let entities = map.entities().unwrap();
        let own = |index: usize| entities.get(index).unwrap().get("own").map(<[u8]>::to_vec);
        assert_eq!((own(last - 1), own(last)), (Some(b"ours".to_vec()), Some(b"theirs".to_vec())));
    }
    let found = bspkit_ops::compare::maps(&base, &ours, 10).unwrap();
    assert_eq!(found.lumps[0].hows.to_string(), "1 changed");
}

/// Names of materials: one side moves the first one, the other gives a texture another name.
#[test]
fn names_follow_a_table_in_another_order() {
    let base = open("source/room_v20");
    let names = base.table(source::TEXDATA_STRING_TABLE).unwrap().len();
    let of = |map: &Bsp<'_>, texture: usize| {
        let name = map.table(source::TEXDATA).unwrap().get(texture).unwrap().name;
        map.table(source::TEXDATA_STRING_TABLE).unwrap().get(usize::try_from(name).unwrap()).unwrap().offset
    };
    let ours = edited(&base, Layout::Keep, |draft| {
        let order: Vec<usize> = (1..names).chain([0]).collect();
        draft.reorder(source::TEXDATA_STRING_TABLE, &order).unwrap();
    });
    let theirs = edited(&base, Layout::Keep, |draft| {
        let last = i32::try_from(names - 1).unwrap();
        draft.update(source::TEXDATA, 1, |texture| texture.name = last).unwrap();
    });
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        assert_eq!(of(&map, 1), of(theirs_of(ours, theirs, &base), 1));
        assert_eq!((of(&map, 0), of(&map, 2)), (of(&base, 0), of(&base, 2)));
    }
}

/// The side that has the order of the base.
fn theirs_of<'m>(one: &'m Bsp<'static>, other: &'m Bsp<'static>, base: &Bsp<'_>) -> &'m Bsp<'static> {
    let table = |map: &Bsp<'_>| map.bytes(map.slot("TEXDATA_STRING_TABLE").unwrap().id).unwrap().to_vec();
    if table(one) == table(base) { one } else { other }
}

#[test]
fn files_that_both_change_are_conflicts() {
    let base = open("source/room_v20");
    let name = base.pak().unwrap().get(0).unwrap().name().to_vec();
    let shown = String::from_utf8(name).unwrap();
    let replace = |draft: &mut Draft<'static>, text: &'static [u8]| draft.pak().unwrap().replace(0, text).unwrap();
    let one = edited(&base, Layout::Keep, |draft| replace(draft, b"one"));
    let two = edited(&base, Layout::Keep, |draft| replace(draft, b"two"));
    let none = edited(&base, Layout::Keep, |draft| draft.pak().unwrap().remove(&[0]).unwrap());
    for (ours, theirs, expected) in [
        (&one, &two, format!("PAKFILE: both sides change `{shown}`")),
        (&one, &none, format!("PAKFILE: our side changes `{shown}`, and theirs removes it")),
        (&none, &two, format!("PAKFILE: our side removes `{shown}`, and theirs changes it")),
    ] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, [expected]);
        assert!(
            map.bytes(map.role(Role::Pak).unwrap().id).unwrap()
                == ours.bytes(ours.role(Role::Pak).unwrap().id).unwrap()
        );
    }
}

#[test]
fn what_is_outside_of_lumps_is_from_the_side_that_changed_it() {
    let base = open("q3/own_rooms");
    let with_tail = |tail: &[u8]| Bsp::from_vec([bytes(&base), tail].concat()).unwrap();
    let light =
        edited(&base, Layout::Keep, |draft| set(draft, 0, "message", "long enough to move what follows, or not"));
    let (zip, other) = (with_tail(b"PK\x05\x06 an archive"), with_tail(b"PK\x05\x06 another"));
    for (ours, theirs) in [(&light, &zip), (&zip, &light)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        assert!(bytes(&map).ends_with(b"PK\x05\x06 an archive"));
        assert!(bytes(&map).windows(12).any(|text| text == b"or not\"\n\"_au" || text.starts_with(b"long enough")));
    }
    let (map, conflicts) = merged(&base, &zip, &other);
    assert_eq!(conflicts.len(), 1);
    assert!(conflicts[0].starts_with("both sides change what is outside of all lumps"), "{conflicts:?}");
    assert!(bytes(&map) == bytes(&zip));
}

/// A size after decompression of a lump that is not compressed: no edit can set it.
#[test]
fn words_of_the_directory_are_from_the_side_that_changed_them() {
    let base = open("source/room_v20");
    let slot = base.slot("PLANES").unwrap().id;
    let with = |size: u8| {
        let mut bytes = bytes(&base).to_vec();
        bytes[8 + 16 + 12] = size;
        Bsp::from_vec(bytes).unwrap()
    };
    let light = edited(&base, Layout::Keep, |draft| set(draft, 0, "message", "x"));
    for (ours, theirs) in [(&light, &with(16)), (&with(16), &light)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        assert_eq!(map.container().slot(slot).unwrap().unpacked, Some(16));
        assert_eq!(map.entities().unwrap().get(0).unwrap().get("message"), Some(&b"x"[..]));
    }
    assert_eq!(merged(&base, &with(16), &with(17)).1.len(), 1);
    // A lump that the file does not have in whole.
    let mut cut = bytes(&base).to_vec();
    let last = base.slots().iter().max_by_key(|slot| slot.stored.end).unwrap();
    let word =
        cut.windows(8).position(|words| words == [last.offset, last.length].map(i32::to_le_bytes).concat()).unwrap();
    cut[word + 5] += 16;
    let (map, conflicts) = merged(&base, &light, &Bsp::from_vec(cut).unwrap());
    assert_eq!(conflicts, Vec::<String>::new());
    assert_eq!(map.container().slot(last.id).unwrap().length, last.length + 4096);
}

/// A map that was cut short: that its file is so is no error of the merged map alone.
#[test]
fn what_a_side_has_not_is_its_own_error() {
    let base = open("q1/own_rooms");
    let cut = Bsp::from_vec(bytes(&base)[..bytes(&base).len() - 100].to_vec()).unwrap();
    let ours = edited(&base, Layout::Keep, |draft| set(draft, 0, "message", &"long".repeat(200)));
    for (ours, theirs) in [(&ours, &cut), (&cut, &ours)] {
        let conflicts = merged(&base, ours, theirs).1;
        assert!(conflicts.iter().all(|line| !line.contains("neither side has: the file")), "{conflicts:?}");
    }
}

/// Bytes after the records of a lump are in the merged map, or are a conflict, from whichever side one looks.
#[test]
fn bytes_after_records_are_not_lost() {
    let base = open("q2/own_rooms_bspx");
    let slot = base.slot("VERTEXES").unwrap().id;
    let len = base.records("VERTEXES").unwrap().len();
    let tail = edited(&base, Layout::Keep, |draft| {
        let bytes = [&*draft.bytes(slot).unwrap(), b"xyz"].concat();
        draft.set(slot, bytes).unwrap();
    });
    let rotated = edited(&base, Layout::Keep, |draft| {
        let order: Vec<usize> = (1..len).chain([0]).collect();
        draft.structure().reorder_list("VERTEXES", &order).unwrap();
    });
    let valued = edited(&base, Layout::Keep, |draft| {
        draft.update(quake2::VERTEXES, 0, |vertex| vertex.point[0] += 1.0).unwrap();
    });
    for (other, may_merge) in [(&rotated, false), (&valued, true)] {
        for [ours, theirs] in [[&tail, other], [other, &tail]] {
            let (map, conflicts) = merged(&base, ours, theirs);
            let has_tail = map.bytes(slot).unwrap().ends_with(b"xyz");
            assert_eq!((conflicts.is_empty(), has_tail || !conflicts.is_empty()), (may_merge, true), "{conflicts:?}");
            assert!(conflicts.iter().all(|conflict| conflict.contains("the other one moves these")), "{conflicts:?}");
        }
    }
}

/// Lumps that shrink or move leave zeros beside bytes of no lump; that is not a change of these.
#[test]
fn holes_are_not_content() {
    let map = open("q2/own_rooms");
    let (mut bytes, mut words) = (bytes(&map).to_vec(), Vec::new());
    for (word, lump) in [(8, "entities"), (16, "planes")] {
        words.push((word, u32::try_from(bytes.len()).unwrap()));
        bytes.extend_from_slice(&map.bytes(map.slot(lump).unwrap().id).unwrap());
        bytes.extend_from_slice(b"\0\0old text\0\0");
    }
    words.iter().for_each(|(word, at)| bytes[*word..word + 4].copy_from_slice(&at.to_le_bytes()));
    let base = Bsp::from_vec(bytes).unwrap();
    let ours = edited(&base, Layout::Keep, |draft| set(draft, 0, "message", &"long".repeat(20)));
    let theirs = edited(&base, Layout::Keep, |draft| draft.entities().unwrap().remove(7).unwrap());
    let both = edited(&ours, Layout::Keep, |draft| draft.entities().unwrap().remove(7).unwrap());
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        assert_same_content(&map, &both, "holes");
    }
}

#[test]
fn other_dialects_are_refused() {
    let error = merge(&open("q2/own_rooms"), &open("q2/own_rooms"), &open("q3/own_rooms")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    let expected = "maps of different dialects cannot be merged: the base is quake2 version 38, ours is quake2 version 38, \
                    theirs is quake3 version 46";
    assert_eq!(error.to_string(), expected);
    assert!(merge(&open("source/room_v20"), &open("source/room_v20"), &open("source/room_v21")).is_err());
}

/// Both sides add records at one place of a list: the conflict has the number of records in each map.
#[test]
fn a_list_that_both_sides_change_states_its_lengths() {
    let base = open("q2/own_rooms");
    let with = |times: usize| {
        edited(&base, Layout::Keep, |draft| {
            for _ in 0..times {
                draft.structure().duplicate_list("TEXINFO", 1..2).unwrap();
            }
        })
    };
    let merged = merge(&base, &with(1), &with(2)).unwrap();
    let conflict = merged.conflicts.iter().find(|conflict| conflict.name() == "TEXINFO").unwrap();
    let count = base.table(quake2::TEXINFO).unwrap().len();
    let values = conflict.values.clone().unwrap().map(|value| String::from_utf8(value.unwrap()).unwrap());
    assert_eq!(values, [count, count + 1, count + 2].map(|count| format!("{count} records")));
    assert!(!conflict.can_settle);
}

/// One side changes all light in place, the other removes that of a model.
#[test]
fn light_goes_where_its_face_goes() {
    let base = open("q2/own_rooms");
    let brighter = |draft: &mut Draft<'static>| {
        let slot = draft.bsp().role(Role::Lighting).unwrap().id;
        let light: Vec<u8> = draft.bytes(slot).unwrap().iter().map(|byte| byte ^ 1).collect();
        draft.set(slot, light).unwrap();
    };
    let ours = edited(&base, Layout::Keep, brighter);
    let theirs = edited(&base, Layout::Keep, |draft| drop(Removal::default().run(draft, &[2]).unwrap()));
    let both = edited(&theirs, Layout::Keep, brighter);
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        assert_same_content(&map, &both, "light");
    }
}

/// Textures by number, with their pixels or without, and names of materials.
#[test]
fn two_sides_rename_a_texture_each() {
    for name in ["q1/own_rooms_bspx", "goldsrc/own_rooms", "source/room_v20"] {
        let base = open(name);
        let rename = |map: &Bsp<'static>, index: usize, new: &'static str| {
            edited(map, Layout::Keep, |draft| match draft.bsp().has_textures() {
                true => draft.textures().unwrap().rename(index, new.as_bytes()).unwrap(),
                false => draft.texture_strings().unwrap().rename(index, new).unwrap(),
            })
        };
        let (ours, theirs) = (rename(&base, 1, "own_longer_name"), rename(&base, 2, "o"));
        let both = rename(&ours, 2, "o");
        for (one, other) in [(&ours, &theirs), (&theirs, &ours)] {
            let (map, conflicts) = merged(&base, one, other);
            assert_eq!(conflicts, Vec::<String>::new(), "{name}");
            assert_same_content(&map, &both, name);
        }
        let (_, conflicts) = merged(&base, &ours, &rename(&base, 1, "other"));
        assert!(conflicts.len() == 1 && conflicts[0].contains("both sides change "), "{name}: {conflicts:?}");
    }
}

/// What both sides do to the name of one file.
#[test]
fn a_file_that_one_side_moves_and_the_other_removes_or_changes_is_a_conflict() {
    let base = open("source/room_v20");
    let old = String::from_utf8(base.pak().unwrap().get(0).unwrap().name().to_vec()).unwrap();
    let pak = |edit: &dyn Fn(&mut bspkit::content::pak::Pak<'static>)| {
        edited(&base, Layout::Keep, |draft| edit(draft.pak().unwrap()))
    };
    let moved = |name: &str| {
        pak(&|pak| {
            let bytes = pak.get(0).unwrap().data().unwrap().to_vec();
            pak.remove(&[0]).unwrap();
            pak.add(name, bytes).unwrap();
        })
    };
    let (one, two, none) = (moved("own/one.txt"), moved("own/two.txt"), pak(&|pak| pak.remove(&[0]).unwrap()));
    let new = pak(&|pak| pak.replace(0, b"new".to_vec()).unwrap());
    for (ours, theirs, expected) in [
        (&one, &two, format!("PAKFILE: our side moves `{old}` to `own/one.txt`, and theirs to `own/two.txt`")),
        (&one, &none, format!("PAKFILE: our side moves `{old}` to `own/one.txt`, and theirs removes it")),
        (&none, &two, format!("PAKFILE: our side removes `{old}`, and theirs moves it to `own/two.txt`")),
        (&one, &new, format!("PAKFILE: our side moves `{old}` to `own/one.txt`, and theirs changes it")),
        (&new, &two, format!("PAKFILE: our side changes `{old}`, and theirs moves it to `own/two.txt`")),
        (&one, &one, String::new()),
    ] {
        let conflicts = merged(&base, ours, theirs).1;
        assert_eq!(conflicts.join(", "), expected);
        // What a conflict shows of each side is its file.
        let shown = merge(&base, ours, theirs).unwrap().conflicts.first().and_then(|one| one.values.clone());
        for (value, map) in shown.into_iter().flatten().zip([&base, ours, theirs]) {
            let files = map.pak().unwrap().len();
            assert_eq!(value.is_some(), files == base.pak().unwrap().len(), "{expected}: {value:?}");
        }
        for (side, map) in [(Side::Base, &base), (Side::Ours, ours), (Side::Theirs, theirs)] {
            let settled = merge_with(&base, ours, theirs, &mut |_| Some(side)).unwrap();
            let settled = Bsp::from_vec(settled.draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
            let names = |map: &Bsp<'_>| {
                let pak = map.pak().unwrap();
                let mut names: Vec<_> = pak.iter().map(|file| (file.name().to_vec(), file.crc())).collect();
                names.sort();
                names
            };
            let map = if expected.is_empty() { ours } else { map };
            assert_eq!(names(&settled), names(map), "{side:?}: {expected}");
        }
    }
}

/// Of records with the same content, those that moved are told apart by the numbers that name them.
#[test]
fn alike_records_follow_by_what_names_them() {
    let base = edited(&open("q2/own_rooms"), Layout::Keep, |draft| {
        // Four textures that are alike, each with faces of its own.
        let one = draft.table(quake2::TEXINFO).unwrap().get(0).unwrap();
        (0..4).for_each(|index| draft.update(quake2::TEXINFO, index, |record| *record = one).unwrap());
    });
    let len = base.table(quake2::TEXINFO).unwrap().len();
    let texture = |map: &Bsp<'_>, face: usize| {
        let face = map.table(quake2::FACES).unwrap().get(face).unwrap();
        map.table(quake2::TEXINFO).unwrap().get(usize::try_from(face.texinfo).unwrap()).unwrap()
    };
    let order: Vec<usize> = (1..len).chain([0]).collect();
    let ours = edited(&base, Layout::Keep, |draft| drop(draft.reorder(quake2::TEXINFO, &order).unwrap()));
    let theirs = edited(&base, Layout::Keep, |draft| {
        draft.update(quake2::TEXINFO, 2, |record| record.value = 77).unwrap();
    });
    let faces = base.table(quake2::FACES).unwrap();
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        for face in 0..faces.len() {
            let is_it = faces.get(face).unwrap().texinfo == 2;
            assert_eq!(texture(&map, face).value == 77, is_it, "face {face}");
        }
    }
}
