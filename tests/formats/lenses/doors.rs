//! The one door: whatever two lenses, tables or bytes are edited one after the other, in either order, the saved map has
//! both edits; also where both read or change the same slot.

use bspkit::content::lightmap::{Adjustment, Image};
use bspkit::content::texture_names::Renaming;
use bspkit::content::textures::Textures;
use bspkit::content::visibility::VisSet;
use bspkit::dialect::{self, goldsrc, quake2, quake3};
use bspkit::{Bsp, Builder, Draft, ErrorKind, Layout, Result, SlotId};

use super::own_maps;

/// An edit through one door, and whether a map has it. `edit` gives false where the map has nothing of that kind.
struct Edit {
    name: &'static str,
    edit: fn(&mut Draft<'static>) -> Result<bool>,
    is_there: fn(&Bsp<'_>) -> bool,
}

const FIRST: Image = Image { set: 0, block: 0, style: 0, plane: 0 };

const EDITS: [Edit; 13] = [
    Edit {
        name: "entities",
        edit: |draft| draft.entities()?.first_class("worldspawn")?.set("message", "a door").map(|()| true),
        is_there: |map| map.entities().unwrap().get(0).unwrap().get("message") == Some(b"a door"),
    },
    Edit {
        name: "pak",
        edit: |draft| draft.pak()?.add("a/door.txt", &b"open"[..]).map(|_| true),
        is_there: |map| map.pak().unwrap().find("a/door.txt").len() == 1,
    },
    Edit {
        name: "light",
        edit: |draft| {
            let black = Adjustment { gain: 0.0, ..Adjustment::default() };
            let light = draft.light()?;
            light.adjust(&black, |_, _, style| style == 0)?;
            Ok(light.images().next().is_some())
        },
        is_there: |map| map.light().unwrap().luxel(FIRST, [0, 0]).unwrap().linear() == [0.0; 3],
    },
    Edit {
        name: "light_grid",
        edit: |draft| draft.light_grid()?.set(0, [77; 8]).map(|()| true),
        is_there: |map| map.light_grid().unwrap().get(0).unwrap() == [77; 8],
    },
    Edit {
        name: "visibility",
        edit: |draft| {
            let visibility = draft.visibility()?;
            let last = visibility.len().saturating_sub(1);
            visibility.set_row(VisSet::Pvs, last, visibility.plain(false)).map(|()| true)
        },
        is_there: |map| {
            let visibility = map.visibility().unwrap();
            visibility.row(VisSet::Pvs, visibility.len() - 1).unwrap() == Some(visibility.plain(false))
        },
    },
    Edit {
        name: "textures",
        edit: |draft| {
            let textures = draft.textures()?;
            let size = textures.get(1)?.map_or(0, |texture| texture.pixels(3).map_or(0, <[u8]>::len));
            textures.set_level(1, 3, &vec![9; size]).map(|()| true)
        },
        is_there: |map| {
            let textures = map.textures().unwrap();
            textures.get(1).unwrap().unwrap().pixels(3).unwrap().iter().all(|pixel| *pixel == 9)
        },
    },
    Edit {
        name: "texture_names",
        edit: |draft| Ok(draft.texture_names()?.rename(&Renaming::new("**", "{1}x")?)?.count > 0),
        is_there: |map| map.texture_names().unwrap().iter().last().unwrap().name.ends_with(b"x"),
    },
    Edit {
        name: "texture_strings",
        edit: |draft| draft.texture_strings()?.rename(0, "own/a_much_longer_door").map(|()| true),
        is_there: |map| map.texture_strings().unwrap().get(0).unwrap().starts_with(b"own/a_much_longer_door"),
    },
    Edit {
        name: "static_props",
        edit: |draft| draft.static_props()?.update(1, |prop| prop.skin = 77).map(|()| true),
        is_there: |map| map.static_props().unwrap().get(1).unwrap().skin == 77,
    },
    Edit {
        name: "detail_props",
        edit: |draft| draft.detail_props()?.update(1, |prop| prop.origin[2] = 77.0).map(|()| true),
        is_there: |map| map.detail_props().unwrap().get(1).unwrap().origin[2] == 77.0,
    },
    Edit {
        // Quake II's have the names, and the light reads them.
        name: "table TEXINFO",
        edit: |draft| draft.update(quake2::TEXINFO, 0, |texinfo| texinfo.value = 77).map(|()| true),
        is_there: |map| map.table(quake2::TEXINFO).unwrap().get(0).unwrap().value == 77,
    },
    Edit {
        // The visibility changes GoldSrc's leafs and reads its models; the light grid reads Quake III's.
        name: "tables LEAFS and MODELS",
        edit: |draft| match draft.update(quake3::MODELS, 0, |model| model.brush_count += 77) {
            Ok(()) => Ok(true),
            Err(_) => {
                draft.update(goldsrc::MODELS, 0, |model| model.origin[2] = 77.0)?;
                draft.update(goldsrc::LEAFS, 1, |leaf| leaf.ambient_levels[3] = 77).map(|()| true)
            }
        },
        is_there: |map| match map.table(quake3::MODELS) {
            Ok(models) => models.get(0).unwrap().brush_count >= 77,
            Err(_) => {
                let leaf = map.table(goldsrc::LEAFS).unwrap().get(1).unwrap();
                leaf.ambient_levels[3] == 77 && map.table(goldsrc::MODELS).unwrap().get(0).unwrap().origin[2] == 77.0
            }
        },
    },
    Edit {
        name: "bytes of the textures",
        edit: |draft| {
            draft.bsp().textures()?;
            let slot = draft.bsp().slot("TEXTURES")?.id;
            let bytes = [&draft.bytes(slot)?[..], b"door"].concat();
            draft.set(slot, bytes).map(|()| true)
        },
        is_there: |map| map.bytes(map.slot("TEXTURES").unwrap().id).unwrap().ends_with(b"door"),
    },
];

/// Makes two edits, the first one once more, and saves; nothing where the map has not both kinds.
fn both(map: &Bsp<'static>, first: &Edit, second: &Edit) -> Option<Bsp<'static>> {
    let mut draft = map.draft();
    let mut make = |edit: &Edit| (edit.edit)(&mut draft).is_ok_and(|is_made| is_made);
    (make(first) && make(second) && make(first))
        .then(|| Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap())
}

#[test]
fn of_two_edits_none_is_lost() {
    let mut pairs = std::collections::BTreeSet::new();
    for path in own_maps() {
        let map = Bsp::open(&path).unwrap();
        for (first, second) in EDITS.iter().flat_map(|first| EDITS.iter().map(move |second| (first, second))) {
            let Some(saved) = both(&map, first, second).filter(|_| first.name != second.name) else { continue };
            for edit in [first, second] {
                let message = format!("{}: {} is lost", path.display(), edit.name);
                assert!((edit.is_there)(&saved), "{message}: {} and then {}", first.name, second.name);
            }
            pairs.insert((first.name, second.name));
        }
    }
    // Those that share a slot, each way.
    for (one, other) in [
        ("entities", "light_grid"),
        ("light", "table TEXINFO"),
        ("light", "texture_names"),
        ("light_grid", "tables LEAFS and MODELS"),
        ("visibility", "tables LEAFS and MODELS"),
        ("textures", "texture_names"),
        ("textures", "bytes of the textures"),
        ("texture_names", "texture_strings"),
        ("texture_names", "table TEXINFO"),
        ("texture_names", "bytes of the textures"),
    ] {
        assert!(pairs.contains(&(one, other)) && pairs.contains(&(other, one)), "{one} and {other} were not tried");
    }
}

/// All edits that a map takes, one after the other, and then again: every lens was closed and opened in between.
#[test]
fn of_many_edits_none_is_lost() {
    for path in own_maps() {
        let map = Bsp::open(&path).unwrap();
        let mut draft = map.draft();
        let made: Vec<_> = EDITS.iter().filter(|edit| (edit.edit)(&mut draft).unwrap_or(false)).collect();
        let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        for edit in &made {
            assert!((edit.is_there)(&saved), "{}: {} is lost", path.display(), edit.name);
        }
        // What the draft says of its slots is what is saved.
        for slot in draft.changes().unwrap() {
            let name = &map.container().slot(slot).unwrap().name;
            let saved_slot = saved.slots().iter().find(|other| other.name == *name).unwrap();
            assert!(*saved.bytes(saved_slot.id).unwrap() == *draft.bytes(slot).unwrap(), "{}: {name}", path.display());
        }
    }
}

/// The fault of the doors that there were before: an older state is put over a later edit.
#[test]
fn an_older_state_over_a_later_edit_breaks_the_law() {
    let map = Bsp::open("tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    let old = Textures::clone(draft.textures().unwrap());
    let names = EDITS.iter().find(|edit| edit.name == "texture_names").unwrap();
    assert!((names.edit)(&mut draft).unwrap());
    *draft.textures().unwrap() = old;
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    assert!((names.is_there)(&saved), "a lens without an edit says nothing of the slot");

    let mut draft = map.draft();
    let textures = EDITS.iter().find(|edit| edit.name == "textures").unwrap();
    assert!((textures.edit)(&mut draft).unwrap());
    let old = Textures::clone(draft.textures().unwrap());
    assert!((names.edit)(&mut draft).unwrap());
    *draft.textures().unwrap() = old;
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    assert!((textures.is_there)(&saved) && !(names.is_there)(&saved));
}

/// A lens that cannot be written stays open, so that nothing of it is lost and the draft says why.
#[test]
fn a_lens_that_cannot_be_written_stays_open() {
    // Two damaged textures that share bytes.
    let words = [2, 12, 28].map(i32::to_le_bytes).concat();
    let lump = [&words[..], b"one\0            two\0            ", &[9; 60]].concat();
    let bytes = Builder::new(&dialect::GOLDSRC).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0").lump(2, lump);
    let map = Bsp::from_vec(bytes.build().unwrap()).unwrap();
    let mut draft = map.draft();
    draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", "kept").unwrap();
    draft.textures().unwrap().rename(0, b"x").unwrap();
    let before = draft.clone();
    for error in [
        draft.texture_names().map(|_| ()).unwrap_err(),
        draft.changes().unwrap_err(),
        draft.bytes(SlotId::Lump(2)).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    }
    assert_eq!(draft.textures().unwrap().name(0), Some(&b"x"[..]));
    draft.textures().unwrap().rename(0, b"one").unwrap();
    assert_eq!(draft.changes().unwrap(), [SlotId::Lump(0)]);
    // Bytes take the place of all that the lens says, and so does taking the slot back.
    let mut draft = before.clone();
    draft.set(SlotId::Lump(2), Vec::new()).unwrap();
    assert_eq!(draft.changes().unwrap(), [SlotId::Lump(0), SlotId::Lump(2)]);
    let mut draft = before;
    draft.revert(SlotId::Lump(2));
    assert_eq!(draft.changes().unwrap(), [SlotId::Lump(0)]);
}
